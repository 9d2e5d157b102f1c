"""What systemd asks of the daemon, without systemd as the first process: the units are
checked by its own tools, and the test plays its part for readiness, watchdog,
stopping and the socket."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

from harness import LIMIT, TOP, Case, Client, program, wait_for

UNITS = os.path.join(TOP, "systemd")
# Exposure in tenths, as systemd-analyze counts; a bare unit has 96. Versions of systemd
# differ a little.
EXPOSURE, EXPOSURE_STRICT, EXPOSURE_SERVE = 58, 15, 12
# Nothing of these may reach a trainer.
PRIVATE = re.compile(r"NOTIFY_SOCKET$|LISTEN_|WATCHDOG_")
# A trainer that tells what it was given: variables, and where its descriptors lead.
SPY = """
def leads(fd):
    try:
        return os.readlink("/proc/self/fd/" + fd)
    except OSError:
        return ""
with open(os.environ["DPARETO_STUDY_DIR"] + "/seen", "w") as f:
    json.dump([dict(os.environ), [leads(fd) for fd in os.listdir("/proc/self/fd")]], f)
report(a=1, b=1)
"""


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), "skipped: no " + tool)


class Units(Case):
    def setUp(self):
        super().setUp()
        # systemd-analyze asks for programs that can be executed, whatever they do
        os.mkdir(self.path("bin"))
        for name in ("dparetod", "dparetoctl", "dpareto-serve"):
            self.write(os.path.join("bin", name), "#!/bin/sh\n", 0o755)
        for folder, source, name in (("system", "dparetod.service.in", "dparetod.service"),
                                     ("system", "dparetod.socket", "dparetod.socket"),
                                     ("system", "dpareto-serve.service.in",
                                      "dpareto-serve.service"),
                                     ("user", "dparetod-user.service.in", "dparetod.service")):
            os.makedirs(self.path(folder), exist_ok=True)
            with open(os.path.join(UNITS, source)) as f:
                text = re.sub("@(bindir|pkglibexecdir)@", self.path("bin"), f.read())
            self.assertNotRegex(text, r"@\w+@")
            self.write(os.path.join(folder, name), text)

    def strict(self):
        drop = self.path("system/dparetod.service.d")
        os.makedirs(drop)
        shutil.copy(os.path.join(UNITS, "strict.conf"), drop)

    def analyze(self, *arguments):
        # a user manager asks for these two
        env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, HOME=self.folder)
        return subprocess.run(["systemd-analyze", *arguments], env=env, text=True,
                              capture_output=True, timeout=LIMIT)

    def verify(self, *files, options=()):
        # an unknown key is only a line on stderr, so the exit code is not enough; the
        # manuals may not be installed yet
        r = self.analyze(*options, "verify", "--man=no", *map(self.path, files))
        self.assertEqual((r.stderr, r.returncode), ("", 0))

    @needs("systemd-analyze")
    def test_system_units_are_correct(self):
        self.verify("system/dparetod.service", "system/dparetod.socket",
                    "system/dpareto-serve.service")

    @needs("systemd-analyze")
    def test_strict_drop_in_is_correct(self):
        self.strict()
        self.verify("system/dparetod.service")

    @needs("systemd-analyze")
    def test_user_unit_is_correct(self):
        self.verify("user/dparetod.service", options=["--user"])

    @needs("systemd-analyze")
    def test_a_wrong_key_is_found(self):
        path = self.path("system/dparetod.service")
        with open(path, "a") as f:
            f.write("\n[Service]\nKilMode=process\n")
        r = self.analyze("verify", "--man=no", path)
        self.assertIn("KilMode", r.stderr)

    def exposure(self, threshold, unit="dparetod.service"):
        return self.analyze("security", "--offline=true", "--no-pager",
                            "--threshold=%d" % threshold, self.path("system/" + unit))

    @needs("systemd-analyze")
    def test_exposure(self):
        r = self.exposure(EXPOSURE)
        self.assertEqual(r.returncode, 0, r.stdout[-300:] + r.stderr)
        self.assertNotEqual(self.exposure(EXPOSURE_STRICT).returncode, 0)
        self.strict()
        for r in (self.exposure(EXPOSURE_STRICT),
                  self.exposure(EXPOSURE_SERVE, "dpareto-serve.service")):
            self.assertEqual(r.returncode, 0, r.stdout[-300:] + r.stderr)

    def keys(self, name):
        """The settings of a unit; none may stand in it twice."""
        with open(os.path.join(UNITS, name)) as f:
            lines = [line.rstrip("\n") for line in f if "=" in line and line[0] not in "#["]
        keys = dict(line.split("=", 1) for line in lines)
        self.assertEqual(len(keys), len(lines) if name != "strict.conf" else len(keys))
        return keys

    def test_trainers_outlive_the_daemon(self):
        """Neither unit nor drop-in has a setting that takes something from a trainer that
        is left running, or its control group from the daemon."""
        for name in ("dparetod.service.in", "dparetod-user.service.in", "strict.conf"):
            keys = self.keys(name)
            for key in ("PrivateTmp", "RemoveIPC", "DynamicUser", "PrivateUsers",
                        "ProtectControlGroups"):
                self.assertNotIn(key, keys, name)
            if name != "strict.conf":
                self.assertEqual(keys["KillMode"], "process")
                self.assertEqual(keys["OOMPolicy"], "continue")
                self.assertEqual(keys["Delegate"], "yes")

    def test_a_month_unattended(self):
        """Both daemons come back whatever happened, and are never given up; a person's has
        what the system's has, where a person's manager can do it."""
        system, user = self.keys("dparetod.service.in"), self.keys("dparetod-user.service.in")
        self.assertEqual(system["StartLimitIntervalSec"], "0")
        self.assertEqual(system["Restart"], "on-failure")
        self.assertNotIn("RestartPreventExitStatus", system)
        self.assertIn("WatchdogSec", system)
        not_for_persons = {"User", "Group", "StateDirectory", "StateDirectoryMode",
                           "RuntimeDirectory", "RuntimeDirectoryPreserve",
                           "After", "Wants", "Also", "CapabilityBoundingSet", "ProtectSystem",
                           "ProtectKernelTunables", "ProtectKernelModules",
                           "ProtectKernelLogs", "ProtectHostname"}
        self.assertEqual(set(system) - set(user), not_for_persons)
        own = {"Environment", "ExecStart", "OOMScoreAdjust", "WantedBy"}
        differ = {key for key in set(system) & set(user) if system[key] != user[key]}
        self.assertEqual(differ, own)

    @needs("systemd-sysusers")
    def test_sysusers(self):
        os.makedirs(self.path("root/etc"))
        r = subprocess.run(["systemd-sysusers", "--root=" + self.path("root"),
                            os.path.join(UNITS, "sysusers.d", "dpareto.conf")],
                           capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(self.path("root/etc/passwd")) as f:
            users = f.read()
        self.assertRegex(users, r"(?m)^dpareto:.*:/var/lib/dpareto:")
        self.assertRegex(users, r"(?m)^dpareto-web:.*:/:.*nologin$")
        with open(self.path("root/etc/group")) as f:
            self.assertRegex(f.read(), r"(?m)^dpareto:[^:]*:\d+:$")  # no member by itself


class Manager(Case):
    """The test as service manager: a notification socket and what it hears."""

    def setUp(self):
        super().setUp()
        self.heard = []
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.bind(self.path("notify"))
        self.notify.settimeout(LIMIT)
        self.environment = {"NOTIFY_SOCKET": self.path("notify")}
        if not self.speaks():
            self.skipTest("skipped: dparetod was built without libsystemd")

    def speaks(self):
        with open(program("dparetod"), "rb") as f:
            return b"libsystemd" in f.read()

    def hear(self):
        """The next notification, as a dictionary."""
        text = self.notify.recv(4096).decode()
        self.heard.append(text)
        return dict(line.split("=", 1) for line in text.split("\n") if line)

    def hear_until(self, key):
        while True:
            message = self.hear()
            if key in message:
                return message[key]

    def silent(self, seconds):
        self.notify.settimeout(seconds)
        try:
            self.notify.recv(4096)
            return False
        except socket.timeout:
            return True
        finally:
            self.notify.settimeout(LIMIT)

    def spied(self):
        """The variables that SPY saw; fails on what is not for trainers."""
        with open(self.path("seen")) as f:
            variables, files = json.load(f)
        self.assertEqual([name for name in variables if PRIVATE.match(name)], [])
        self.assertEqual([name for name in files if name.startswith("socket:")], [])
        return variables

    def log_text(self, d):
        with open(d.log) as f:
            return f.read()


class Notify(Manager):
    def test_ready_when_everything_is(self):
        """After replay and adoption, and when the socket answers."""
        self.trainer("while not os.path.exists('../../../../../../go'): time.sleep(0.01)\n"
                     "report(a=1, b=1)\n")
        d = self.daemon("--slots", "1", env=self.environment).start()
        self.assertEqual(self.hear_until("READY"), "1")
        c = Client(d.socket)  # no polling: it is ready
        self.submit(c, self.study(search="method: random, evaluations: 2"))
        wait_for(lambda: c("status", study="s")["running"])
        c.close()
        d.end(signal.SIGKILL)
        d.start()
        self.assertEqual(self.hear_until("READY"), "1")
        log = self.log_text(d)
        self.assertIn("replayed 1 study", log)
        self.assertIn("adopted", log)
        c = Client(d.socket)
        self.assertEqual(c("hello")["studies"], 1)
        self.write("go", "")
        self.assertEqual(self.finish(c, "s")["study"]["ok"], 2)
        c.close()
        self.assertEqual(d.end(), 0)

    def test_not_ready_when_it_fails(self):
        first = self.daemon().start()
        first.connect().close()
        second = self.daemon(env=self.environment).start("--socket", self.path("other"))
        self.assertEqual(second.end(0), 1)
        self.assertTrue(self.silent(0.05))
        self.assertEqual(first.end(), 0)

    def test_stopping(self):
        d = self.daemon(env=self.environment).start()
        self.hear_until("READY")
        self.assertEqual(d.end(), 0)
        self.assertEqual(self.hear_until("STOPPING"), "1")

    def test_stopping_is_told_before_the_wait(self):
        """With the policy `finish` the end may be hours away."""
        self.trainer("while not os.path.exists('../../../../../../go'): time.sleep(0.01)\n"
                     "report(a=1, b=1)\n")
        d = self.daemon("--stop-policy", "finish", env=self.environment).start()
        self.hear_until("READY")
        c = Client(d.socket)
        self.submit(c, self.study(search="method: random, evaluations: 1"))
        wait_for(lambda: c("status", study="s")["running"])
        d.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.hear_until("STOPPING"), "1")
        self.assertIsNone(d.process.poll())
        self.write("go", "")
        self.assertEqual(d.process.wait(LIMIT), 0)
        c.close()
        d.end()

    def test_reload(self):
        config = self.write("config.yaml", "slots: 1\n")
        d = self.daemon("--config", config, env=self.environment).start()
        self.hear_until("READY")
        for text, slots in (("slots: 3\n", 3), ("slots: none\n", 3), ("slots: 2\n", 2)):
            self.write("config.yaml", text)
            d.process.send_signal(signal.SIGHUP)
            self.assertEqual(self.hear_until("RELOADING"), "1")
            self.assertEqual(self.hear_until("READY"), "1")
            c = Client(d.socket)
            self.assertEqual(c("hello")["slots"], slots)
            c.close()
        self.assertIn("configuration not reloaded", self.log_text(d))
        self.assertEqual(d.end(), 0)

    def test_watchdog(self):
        env = {**self.environment, "WATCHDOG_USEC": "200000"}
        d = self.daemon(env=env).start()
        self.hear_until("READY")
        for _ in range(5):  # each within the limit, else systemd would have killed it
            self.notify.settimeout(2)
            self.assertEqual(self.hear(), {"WATCHDOG": "1"})
        d.process.send_signal(signal.SIGSTOP)  # it hangs: nobody else feeds for it
        while not self.silent(0.4):
            pass
        d.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.hear_until("WATCHDOG"), "1")
        self.assertEqual(d.end(), 0)

    def test_watchdog_of_another_process(self):
        """A variable that was meant for somebody else is left alone."""
        env = {**self.environment, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"}
        d = self.daemon(env=env).start()
        self.hear_until("READY")
        self.assertTrue(self.silent(0.3))
        self.assertEqual(d.end(), 0)

    def test_trainers_see_nothing_of_it(self):
        self.trainer(SPY)
        env = {**self.environment, "WATCHDOG_USEC": "30000000", "LISTEN_PID": "1",
               "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "KEPT": "yes"}
        d = self.daemon(env=env).start()
        self.hear_until("READY")
        c = Client(d.socket)
        self.submit(c, self.study(search="method: random, evaluations: 1"))
        self.assertEqual(self.finish(c, "s")["study"]["ok"], 1)
        c.close()
        self.assertEqual(d.end(), 0)
        seen = self.spied()
        self.assertEqual(seen["KEPT"], "yes")


class Memory(Case):
    def test_trainers_are_killed_first(self):
        """When memory runs out the kernel takes a trainer, not the daemon or a shim."""
        self.trainer("with open('/proc/self/oom_score_adj') as own, \\\n"
                     "        open('/proc/%d/oom_score_adj' % os.getppid()) as shim:\n"
                     "    report(a=int(own.read()), b=int(shim.read()))\n")
        d = self.daemon().start()
        c = d.connect()
        with open("/proc/%d/oom_score_adj" % d.process.pid) as f:
            score = int(f.read())
        self.submit(c, self.study(search="method: random, evaluations: 1"))
        self.finish(c, "s")
        got = c("trials", study="s")["trials"][0]["objectives"]
        self.assertEqual((got["a"], got["b"]), (min(score + 300, 1000), score))
        c.close()
        self.assertEqual(d.end(), 0)


class Journal(Case):
    """Lines for systemd's journal have a priority and no time, and only if stderr really
    leads there: the variable is inherited by terminals too."""

    def first_line(self, stream):
        ours, theirs = os.pipe()
        st = os.fstat(theirs)
        env = dict(os.environ, JOURNAL_STREAM=stream % (st.st_dev, st.st_ino))
        p = subprocess.Popen([program("dparetod"), "--state", self.path("state"),
                              "--socket", "none"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=theirs, env=env)
        os.close(theirs)
        with os.fdopen(ours) as f:
            lines = [f.readline()]
            while " ready: " not in lines[-1]:  # before that it has no ear for signals
                lines.append(f.readline())
            p.send_signal(signal.SIGTERM)
            f.read()
        self.assertEqual(p.wait(LIMIT), 0)
        return lines[0]

    def test_the_journal(self):
        self.assertRegex(self.first_line("%d:%d"), r"^<6>replayed 0 studies")

    def test_not_the_journal(self):
        for stream in ("1%d:1%d", "x%.0s%.0s", "%.0s%.0s"):
            self.assertRegex(self.first_line(stream), r"^\d{4}-\d\d-\d\dT.*Z info  replayed")


class Activation(Manager):
    """The socket as systemd opens it."""

    def activate(self, *options):
        """Listens for a daemon that is not there yet."""
        path = self.path("sock")
        p = subprocess.Popen(
            ["systemd-socket-activate", "-l", path, program("dparetod"),
             "--state", self.path("state"), "--socket", path,
             "--log-file", self.path("log"), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.kill)
        wait_for(lambda: os.path.exists(path))
        return path, p

    def end(self, p):
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(LIMIT), 0)

    @needs("systemd-socket-activate")
    def test_first_connection_starts_it(self):
        self.trainer(SPY)
        path, p = self.activate()
        c = wait_for(lambda: self.try_connect(path))
        hello = c("hello")
        self.assertEqual(hello["pid"], p.pid)  # it was executed in its place
        self.assertEqual(hello["socket"], path)
        self.submit(c, self.study(search="method: random, evaluations: 1"))
        self.assertEqual(self.finish(c, "s")["study"]["ok"], 1)
        self.spied()
        other = Client(path)
        self.assertEqual(other("hello")["studies"], 1)
        c.close()
        other.close()
        self.end(p)
        self.assertTrue(os.path.exists(path), "the socket is systemd's to remove")

    def test_over_a_restart(self):
        """Who connects while no daemon runs is served by the next one: the test holds the
        socket, as systemd does."""
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path("sock"))
        listener.listen()
        first = self.inherit(listener)
        c = Client(self.path("sock"))
        self.assertEqual(c("hello")["pid"], first.pid)
        c.close()
        self.end(first)
        waiting = Client(self.path("sock"))
        second = self.inherit(listener)
        self.assertEqual(waiting("hello")["pid"], second.pid)
        waiting.close()
        self.end(second)

    def inherit(self, listener):
        """A daemon that finds the listener at descriptor 3, as sd_listen_fds(3) has it."""
        p = subprocess.Popen(
            ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&0 </dev/null', "sh",
             program("dparetod"), "--state", self.path("state"),
             "--socket", self.path("sock"), "--log-file", self.path("log")],
            stdin=listener)
        self.addCleanup(p.kill)
        return p

    def try_connect(self, path):
        try:
            return Client(path)
        except OSError:
            return None


if __name__ == "__main__":
    unittest.main()
