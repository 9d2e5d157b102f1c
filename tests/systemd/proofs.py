"""proofs.py - what the units promise, one method each, on one booted machine."""
import json
import os
import shutil
import time

from lab import LAB, SERVICE, STATE, Daemon, expect
from machine import wait_for

DROP_IN = "/etc/systemd/system/%s.d/%s.conf"
# A daemon that moves itself into a control group below the service's, as it has to where it
# wants to give each attempt one: a group has processes or groups.
IN_SUBGROUP = """[Service]
ExecStart=
ExecStart=/bin/sh -c 'own=/sys/fs/cgroup$$(sed -n s/^0:://p /proc/self/cgroup) && \\
  mkdir -p "$$own/daemon" && echo $$$$ >"$$own/daemon/cgroup.procs" && \\
  exec /usr/local/bin/dparetod --state %S/dpareto --socket %t/dpareto/dparetod.sock $DPARETOD_OPTIONS'
"""
# As docs/service.md has it.
DYNAMIC = """[Service]
DynamicUser=yes
RuntimeDirectory=
Environment=DPARETOD_OPTIONS=--socket-group=lab
"""
DYNAMIC_SOCKET = """[Socket]
SocketUser=root
SocketGroup=lab
"""
SERVE = "dpareto-serve.service"
# As docs/service.md has it.
SERVE_TOKEN = """[Service]
LoadCredential=token:/etc/dpareto/serve.token
Environment="DPARETO_SERVE_OPTIONS=--listen 0.0.0.0:8410 --token-file %d/token"
IPAddressAllow=any
"""
# The machine has no curl. What it prints begins with the status line.
GET = """exec 3<>/dev/tcp/127.0.0.1/8410 &&
printf 'GET %s HTTP/1.0\\r\\nHost: localhost\\r\\nX-DPareto-Token: %s\\r\\n\\r\\n' "$0" "$1" >&3 && cat <&3"""
# In this order; a proof may use what those before it have left, which ALWAYS are run.
NAMES = ("sysusers", "start", "modes", "member", "levels", "kill", "stop", "stop_kill", "stop_finish",
         "reload", "socket", "socketless", "watchdog", "never_given_up", "groups", "trees", "strict",
         "serve", "serve_token", "user", "logout", "power_off", "power_cut", "dynamic_user")
ALWAYS = ("sysusers", "start")


class Proofs:
    """In the order in which they run, on one machine."""

    def __init__(self, machine):
        self.m = machine
        self.d = Daemon(machine, user="alice")

    def stat(self, path):
        return self.m.run("stat", "-c", "%a %U %G", path).strip()

    def drop_in(self, name, text, unit=SERVICE):
        self.m.write(DROP_IN % (unit, name), text)
        self.d.systemctl("daemon-reload")

    def no_drop_in(self, name, unit=SERVICE):
        os.unlink(self.m.path(DROP_IN % (unit, name)))
        self.d.systemctl("daemon-reload")

    def tidy(self):
        """After a failed proof: nothing of it shall be in the way of the next."""
        for d in (self.d, self.own()):
            folder = self.m.path(d.state + "/studies")
            for study in os.listdir(folder) if os.path.isdir(folder) else []:
                d.allow(study, 1000)
        for unit in (SERVICE, "dparetod.socket", SERVE):
            shutil.rmtree(self.m.path("/etc/systemd/system/%s.d" % unit), ignore_errors=True)
        self.d.systemctl("daemon-reload")
        self.d.systemctl("restart", SERVICE, check=False)

    def sysusers(self):
        self.m.run("systemd-sysusers")
        entry = self.m.run("getent", "passwd", "dpareto").strip().split(":")
        expect(entry[5] == STATE, "the home is %s" % entry[5])
        self.m.run("getent", "group", "dpareto")
        self.m.run("useradd", "-m", "-u", "1000", "-G", "dpareto", "alice")
        self.m.run("useradd", "-m", "bob")

    def start(self):
        """systemctl returns when the daemon serves."""
        self.d.systemctl("daemon-reload")
        self.d.systemctl("enable", "--now", SERVICE)
        expect(self.d.show("Type") == "notify", "not Type=notify")
        self.d.pid()
        expect(self.d.show("ActiveState", "dparetod.socket") == "active", "no socket unit")
        expect(self.d.show("NRestarts") == "0", "it had to be restarted")

    def modes(self):
        for path, wanted in ((STATE, "750 dpareto dpareto"),
                             (STATE + "/journal/data.mdb", "600 dpareto dpareto"),
                             ("/run/dpareto/dparetod.sock", "660 dpareto dpareto")):
            expect(self.stat(path) == wanted, "%s: %s, not %s" % (path, self.stat(path), wanted))

    def member(self):
        """A member of the group runs a study to its report; others are refused."""
        self.m.run("dparetoctl", "submit",
                   "/usr/local/share/doc/dpareto/examples/svt-quick.yaml", user="alice")
        self.d.ctl("wait", "svt-quick")
        got = self.d.ask("status", "svt-quick")["study"]
        expect((got["state"], got["ok"]) == ("finished", 24), str(got))
        report = "%s/studies/svt-quick/report/report.html" % STATE
        wait_for(lambda: os.path.exists(self.m.path(report)), "the report is written")
        expect(self.stat(report).endswith("dpareto dpareto"), "the report is somebody else's")
        code = self.m.code("dparetoctl", "status", user="bob")
        expect(code == 4, "bob is not refused with 4 but has %d" % code)

    def levels(self):
        """Lines in systemd's journal have the daemon's levels."""
        self.m.write(LAB + "/bad.sh", "#!/bin/sh\nexit 3\n", 0o755)
        self.d.submit("bad", 1, trainer="bad.sh")
        self.d.ctl("wait", "bad", check=False)
        lines = [json.loads(line) for line in self.d.log("-o", "json").strip().split("\n")]
        own = [line for line in lines if line["_COMM"] == "dparetod"]
        found = {line["PRIORITY"] for line in own}
        expect({"4", "6"} <= found, "levels are %s" % sorted(found))
        expect(all(not line["MESSAGE"].startswith("<") for line in own), "a level is text")
        expect("exit-code" in self.d.log("-p", "warning"), "no warning of the failed attempt")

    def kill(self):
        """kill -9: restarted, trainers live on and are adopted."""
        self.d.submit("kill", 4)
        attempts = self.d.running("kill", 2)
        before, restarts = self.d.pid(), int(self.d.show("NRestarts"))
        self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        self.d.restarted(before)
        expect(int(self.d.show("NRestarts")) == restarts + 1, "not restarted by systemd")
        expect(self.d.alive(attempts), "a trainer died with the daemon")
        expect("adopted" in self.d.log(), "nothing was adopted")
        self.oom_scores(self.d, attempts, -200)
        self.d.finish("kill", 4)
        self.d.once("kill", 4)

    def stop(self):
        """A stop leaves trainers and is quick; a person's stop is not undone by Restart=."""
        self.d.submit("stop", 4)
        attempts = self.d.running("stop", 2)
        began = time.monotonic()
        self.d.systemctl("stop", "dparetod.socket", SERVICE)
        expect(time.monotonic() - began < 30, "the stop took long")
        expect(self.d.show("ActiveState") == "inactive", "it is " + self.d.show("ActiveState"))
        expect(self.d.alive(attempts), "a trainer was stopped, too")
        expect(self.m.code("dparetoctl", "status", user="alice") == 3, "somebody answers")
        self.d.systemctl("start", SERVICE)
        expect(self.d.show("ActiveState", "dparetod.socket") == "active", "no socket unit")
        self.d.finish("stop", 4)
        self.d.once("stop", 4)

    def stop_kill(self):
        """The other policy: trainers end, and their trials start again, uncounted."""
        self.d.submit("stop-kill", 2)
        attempts = self.d.running("stop-kill", 2)
        self.d.ctl("daemon", "stop", "--policy", "kill")
        wait_for(lambda: self.d.show("ActiveState") == "inactive", "it has stopped")
        expect(self.d.show("Result") == "success", "Result=" + self.d.show("Result"))
        expect(not self.d.alive(attempts[:1]), "a trainer goes on")
        self.d.systemctl("start", SERVICE)
        self.d.running("stop-kill", 2, since=2)
        self.d.finish("stop-kill", 2)

    def stop_finish(self):
        """And the third: the stop takes as long as the trainers do."""
        self.drop_in("finish", "[Service]\nTimeoutStopSec=infinity\n"
                     "Environment=\"DPARETOD_OPTIONS=--socket-group=dpareto --stop-policy=finish\"\n")
        self.d.systemctl("restart", SERVICE)
        self.d.submit("stop-finish", 4)
        self.d.running("stop-finish", 2)
        self.d.systemctl("stop", "--no-block", SERVICE, "dparetod.socket")
        wait_for(lambda: self.d.show("ActiveState") == "deactivating", "it stops")
        self.d.allow("stop-finish", 4)
        wait_for(lambda: self.d.show("ActiveState") == "inactive", "it has stopped")
        expect(len(self.d.course("stop-finish", "start")) == 2, "new trials were started")
        self.no_drop_in("finish")
        self.d.systemctl("start", SERVICE)
        self.d.finish("stop-finish", 4)
        self.d.once("stop-finish", 4)

    def reload(self):
        """A configuration file is read again; a mistake fails the reload and changes nothing."""
        self.m.write("/etc/dpareto/dparetod.yaml", "socket_group: dpareto\nslots: 3\n")
        self.drop_in("config", "[Service]\nEnvironment=\"DPARETOD_OPTIONS="
                     "--config /etc/dpareto/dparetod.yaml\"\n")
        self.d.systemctl("restart", SERVICE)
        pid = self.d.pid()
        for text, slots, code in (("slots: 5\n", 5, 0), ("slots: none\n", 5, 1),
                                  ("slots: 4\n", 4, 0)):
            self.m.write("/etc/dpareto/dparetod.yaml", "socket_group: dpareto\n" + text)
            got = self.m.code("systemctl", "reload", SERVICE)
            expect((got != 0) == (code != 0), "reload of %r ended with %d" % (text, got))
            expect(self.d.ask("daemon", "status")["slots"] == slots, "after %r" % text)
        expect(self.d.pid() == pid, "the reload was a restart")
        self.no_drop_in("config")
        self.d.systemctl("restart", SERVICE)

    def socket(self):
        """The first connection starts the daemon, and who comes during a restart waits."""
        self.d.systemctl("stop", SERVICE)
        expect(self.d.show("ActiveState") == "inactive", "it still runs")
        pid = self.d.ask("daemon", "status")["pid"]
        expect(self.d.pid() == pid, "not the service was started")
        self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        expect(self.d.ask("daemon", "status")["pid"] != pid, "the dead one answers")
        expect(self.stat("/run/dpareto/dparetod.sock") == "660 dpareto dpareto", "the socket")

    def socketless(self):
        """Without the socket unit the daemon makes the same socket."""
        self.d.systemctl("stop", SERVICE, "dparetod.socket")
        self.d.systemctl("mask", "--runtime", "dparetod.socket")
        self.d.systemctl("start", SERVICE)
        self.d.pid()
        expect(self.stat("/run/dpareto/dparetod.sock") == "660 dpareto dpareto", "the socket")
        self.d.systemctl("unmask", "--runtime", "dparetod.socket")
        self.d.systemctl("stop", SERVICE)
        self.d.systemctl("start", SERVICE)
        expect(self.d.show("ActiveState", "dparetod.socket") == "active", "no socket unit")

    def watchdog(self):
        """A daemon that hangs is ended and replaced, and nothing is lost."""
        self.d.submit("watchdog", 4)
        attempts = self.d.running("watchdog", 2)
        before = self.d.pid()
        self.m.run("kill", "-STOP", str(before))
        self.d.restarted(before)
        expect("watchdog" in self.d.log().lower(), "the watchdog is not mentioned")
        expect(self.d.alive(attempts), "a trainer died with the daemon")
        self.d.finish("watchdog", 4)
        self.d.once("watchdog", 4)

    def never_given_up(self):
        """A daemon that cannot start is tried until it can, however often that is."""
        shim = self.m.path("/usr/local/libexec/dpareto/dpareto-shim")
        self.drop_in("soon", "[Service]\nRestartSec=100ms\n")
        os.rename(shim, shim + ".away")
        try:
            before = self.d.pid()
            self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
            start = int(self.d.show("NRestarts"))
            wait_for(lambda: int(self.d.show("NRestarts")) >= start + 12, "it was tried often")
            expect(self.d.show("ActiveState") != "failed", "systemd gave up")
        finally:
            os.rename(shim + ".away", shim)
        self.d.restarted(before)
        self.no_drop_in("soon")

    def groups(self):
        """A control group for an attempt: it can be made, lives through restarts of the service
        and ends whatever is in it."""
        self.drop_in("group", IN_SUBGROUP)
        self.d.systemctl("restart", SERVICE)
        self.d.submit("groups", 2, trainer="in-group.sh")
        attempts = self.d.running("groups", 2)
        own = self.d.show("ControlGroup")
        expect(self.group_of(self.d.pid()) == own + "/daemon", "the daemon has not moved")
        groups = [self.group_of(process) for _, _, process in attempts]
        for (trial, attempt, _), group in zip(attempts, groups):
            expect(group.startswith(own + "/") and
                   group.endswith("/attempt-%d-%d" % (trial, attempt)), "one is in " + group)
        before = self.d.pid()
        self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        self.d.restarted(before)
        self.d.systemctl("stop", SERVICE)
        self.d.systemctl("restart", SERVICE)
        expect(self.d.alive(attempts), "a trainer died with the daemon")
        self.m.run("sh", "-c", "echo 1 >/sys/fs/cgroup%s/cgroup.kill" % groups[0], user="dpareto")
        wait_for(lambda: not self.d.alive(attempts[:1]), "cgroup.kill has ended the trainer")
        self.d.running("groups", 1, since=2)  # ended by a signal, so tried again
        self.d.finish("groups", 2)
        self.no_drop_in("group")
        self.d.systemctl("restart", SERVICE)

    def trees(self):
        """The daemon itself gives each attempt a control group. What a killed shim leaves is
        ended before the next attempt starts, wherever it hides."""
        self.d.submit("trees", 2, trainer="in-tree.sh")
        attempts = self.d.running("trees", 2)
        wait_for(lambda: len(self.d.course("trees", "child")) == 2, "there are children")
        children, own = self.d.course("trees", "child"), self.d.show("ControlGroup")
        groups = {self.group_of(process) for _, _, process in attempts}
        expect(len(groups) == 2 and all(group.startswith(own + "/") for group in groups),
               "trainers are in %s" % groups)
        before = self.d.pid()
        self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        self.d.restarted(before)
        expect(self.d.alive(attempts + children), "something died with the daemon")
        for _, _, process in attempts:
            shim = self.m.run("ps", "-o", "ppid=", "-p", str(process)).strip()
            self.m.run("kill", "-KILL", shim)
        self.d.running("trees", 2, since=2)
        for child in children:
            expect(not self.d.alive([child]), "two attempts run at once")
        self.d.finish("trees", 2)
        wait_for(lambda: not any(self.d.alive([child]) for child in
                                 self.d.course("trees", "child")), "all have ended")

    def group_of(self, process):
        return self.m.run("sed", "-n", "s/^0:://p", "/proc/%d/cgroup" % process).strip()

    def strict(self):
        """The strict drop-in, as it is installed; adopted trainers and new ones."""
        text = open(self.m.path("/usr/local/share/doc/dpareto/strict.conf")).read()
        self.d.submit("strict", 4)
        attempts = self.d.running("strict", 2)
        self.drop_in("strict", text)
        self.d.systemctl("restart", SERVICE)
        self.d.pid()
        expect(self.d.alive(attempts), "a trainer died with the daemon")
        self.d.finish("strict", 4)
        self.d.once("strict", 4)
        self.d.submit("cage", 4, trainer="in-cage.sh")
        self.d.running("cage", 2)
        self.d.finish("cage", 4)
        self.d.once("cage", 4)
        expect(self.stat(STATE) == "700 dpareto dpareto", "the state: " + self.stat(STATE))
        self.no_drop_in("strict")
        self.d.systemctl("restart", SERVICE)

    def get(self, path, token="none", user="root"):
        """(status, all of the answer); status 0 while nobody listens."""
        said = self.m.run("runuser", "-u", user, "--", "bash", "-c", GET, path, token, check=False)
        return int(said.split()[1]) if said.startswith("HTTP/") else 0, said

    def serve(self):
        """The page's unit: it answers on the loopback, sees logs and reports, and can neither write
        nor execute."""
        self.d.submit("shown", 2)
        self.d.running("shown", 2)
        self.d.finish("shown", 2)
        report = "%s/studies/shown/report/report.html" % STATE
        wait_for(lambda: os.path.exists(self.m.path(report)), "the report is written")
        self.d.systemctl("enable", "--now", SERVE)
        wait_for(lambda: self.get("/")[0] == 200, "it answers")
        for path, part in (("/api/studies/shown", "finished"), ("/studies/shown/report", "<html"),
                           ("/api/studies/shown/trials/0/log?stream=stdout", '"text"'),
                           ("/metrics", "dpareto_up 1\n")):
            status, said = self.get(path)
            expect(status == 200 and part in said, "%s: %s" % (path, said[:300]))
        self.serve_readers()
        pid = int(self.d.show("MainPID", SERVE))
        status = self.m.run("cat", "/proc/%d/status" % pid)
        user = self.m.run("id", "-u", "dpareto-web").strip()
        expect("\nUid:\t%s\t" % user in status, "it runs as somebody else")
        expect("\nNoNewPrivs:\t1" in status and "\nSeccomp:\t2" in status, "no sandbox")
        # its own view of the file system, where even root may do no more
        root = "/proc/%d/root" % pid
        for folder in (STATE, STATE + "/studies/shown", "/etc", "/usr/local"):
            expect(self.m.code("test", "-d", root + folder) == 0, folder + " is not there")
            expect(self.m.code("touch", "%s%s/x" % (root, folder)) != 0, "it writes to " + folder)
        expect(self.m.code(root + "/bin/true") != 0, "it executes other programs")
        as_it = ("setpriv", "--reuid", "dpareto-web", "--regid", "dpareto-web", "--groups", "dpareto")
        expect(self.m.code(*as_it, "touch", STATE + "/x") != 0, "the group writes to the state")
        self.serve_restarts(pid)

    def serve_readers(self):
        """On the loopback it is for those who may use the daemon's socket: alice is in the group, bob
        is not. Inside of the sandbox it has to find out who asks, and in which groups they are."""
        for user, wanted in (("root", 200), ("alice", 200), ("dpareto", 200), ("dpareto-web", 200),
                             ("bob", 403), ("nobody", 403)):
            for path in ("/", "/api/studies/shown", "/studies/shown/report", "/metrics"):
                status, said = self.get(path, user=user)
                expect(status == wanted, "%s asks for %s: %s" % (user, path, said[:300]))

    def serve_restarts(self, pid):
        """It comes back, and outlives the daemon."""
        self.d.systemctl("kill", "--signal=KILL", SERVE)
        wait_for(lambda: int(self.d.show("MainPID", SERVE)) not in (0, pid), "it was restarted")
        self.d.systemctl("stop", "dparetod.socket", SERVICE)
        wait_for(lambda: "dpareto_up 0\n" in self.get("/metrics")[1], "it says that the daemon is away")
        self.d.systemctl("start", SERVICE)
        wait_for(lambda: "dpareto_up 1\n" in self.get("/metrics")[1], "it says that it is back")

    def serve_token(self):
        """Beyond the loopback, with a token that only the unit may read."""
        self.m.write("/etc/dpareto/serve.token", "a-token-of-a-test-0123456789\n", 0o600)
        self.drop_in("token", SERVE_TOKEN, SERVE)
        self.d.systemctl("restart", SERVE)
        wait_for(lambda: self.get("/metrics")[0] == 401, "it asks for the token")
        status, said = self.get("/metrics", "a-token-of-a-test-0123456789")
        expect(status == 200 and "dpareto_up 1\n" in said, said[:300])
        log = self.m.run("journalctl", "--no-pager", "-u", SERVE)
        expect("0.0.0.0:8410" in log, "it does not say where it listens")
        expect("a-token" not in log, "the token is in the log")
        self.no_drop_in("token", SERVE)
        self.d.systemctl("disable", "--now", SERVE)

    def dynamic_user(self):
        """The strict drop-in with a user that exists only while the service runs."""
        self.d.systemctl("stop", "dparetod.socket", SERVICE)
        self.m.run("groupadd", "lab")
        self.m.run("usermod", "-aG", "lab", "alice")
        for command in (("userdel", "dpareto"), ("groupdel", "-f", "dpareto")):
            self.m.run(*command, check=False)
        text = open(self.m.path("/usr/local/share/doc/dpareto/strict.conf")).read()
        self.drop_in("strict", text)
        self.drop_in("dynamic", DYNAMIC)
        self.drop_in("dynamic", DYNAMIC_SOCKET, "dparetod.socket")
        self.d.systemctl("start", SERVICE)
        self.dynamic_study()
        for name in ("strict", "dynamic"):
            self.no_drop_in(name)
        self.no_drop_in("dynamic", "dparetod.socket")
        self.d.systemctl("stop", "dparetod.socket", SERVICE)
        self.m.run("systemd-sysusers")
        self.m.run("usermod", "-aG", "dpareto", "alice")
        self.d.systemctl("start", SERVICE)
        expect(self.stat(STATE) == "750 dpareto dpareto", "not given back: " + self.stat(STATE))
        expect(self.d.ask("status", "dynamic")["study"]["ok"] == 4, "the study is lost")

    def dynamic_study(self):
        expect(self.m.code("grep", "-q", "^dpareto:", "/etc/passwd") != 0, "the user is static")
        expect(os.path.islink(self.m.path(STATE)), "the state is not that of a dynamic user")
        known = len(self.d.ask("list"))
        expect(known > 0, "the studies of before are gone")
        self.d.submit("dynamic", 4, trainer="in-cage.sh")
        attempts = self.d.running("dynamic", 2)
        before = self.d.pid()
        self.d.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        self.d.restarted(before)
        self.d.systemctl("restart", SERVICE)
        expect(self.d.alive(attempts), "a trainer died with the daemon")
        self.d.finish("dynamic", 4)
        self.d.once("dynamic", 4)
        expect(len(self.d.ask("list")) == known + 1, "a study is lost")

    def user(self):
        """A person's own daemon, for good: a study, kill -9, adoption, and its protections."""
        self.m.run("loginctl", "enable-linger", "alice")
        wait_for(lambda: os.path.exists(self.m.path("/var/lib/systemd/linger/alice")) and
                 self.m.code("systemctl", "is-active", "user@1000.service") == 0,
                 "alice's manager runs")
        own = self.own()
        own.systemctl("enable", "--now", SERVICE)
        pid = own.pid()
        expect(own.show("ControlGroup").startswith("/user.slice"), "not a person's daemon")
        self.protections(pid)
        own.submit("mine", 4, trainer="in-group.sh")
        attempts = own.running("mine", 2)
        own.systemctl("kill", "--signal=KILL", "--kill-whom=main", SERVICE)
        own.restarted(pid)
        expect(own.alive(attempts), "a trainer died with the daemon")
        self.oom_scores(own, attempts, 100)
        own.finish("mine", 4)
        own.once("mine", 4)
        expect("adopted" in own.log(), "nothing was adopted")

    def logout(self):
        """A person's trainers end with their manager, in good order, and begin again."""
        own = self.own()
        own.submit("logout", 2)
        attempts = own.running("logout", 2)
        own.systemctl("restart", SERVICE)  # that is no logout
        expect(own.alive(attempts), "a trainer died with the daemon")
        self.m.run("systemctl", "stop", "user@1000.service")
        expect(not own.alive(attempts[:1]), "a trainer goes on")
        self.m.run("systemctl", "start", "user@1000.service")
        own.running("logout", 2, since=2)
        own.finish("logout", 2)
        for trial in ("0", "1"):
            got = [a["end"] for a in own.ask("trial", "logout", trial)["attempts"]]
            expect(got == ["cancelled", "ok"], "trial %s ended with %s" % (trial, got))

    def own(self):
        return Daemon(self.m, "alice", "/home/alice/.local/state/dpareto", ("--user",))

    def protections(self, pid):
        status = dict(line.split(":\t", 1) for line in
                      self.m.run("cat", "/proc/%d/status" % pid).strip().split("\n"))
        expect(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", "no sandbox")
        expect(status["Umask"] == "0027", "umask " + status["Umask"])
        limits = self.m.run("cat", "/proc/%d/limits" % pid)
        files = next(line.split() for line in limits.split("\n") if "open files" in line)
        expect(int(files[3]) >= 8192, "%s descriptors" % files[3])

    def oom_scores(self, d, attempts, wanted):
        """The daemon is to live when memory runs out, at the cost of trainers."""
        pids = [d.pid()] + [process for _, _, process in attempts]
        daemon, *trainers = [int(self.m.run("cat", "/proc/%d/oom_score_adj" % pid))
                             for pid in pids]
        # a container without CAP_SYS_RESOURCE has to leave scores below its own alone
        expect(daemon in (wanted, max(wanted, 0)), "the daemon's score is %d" % daemon)
        expect(trainers == [daemon + 300] * len(attempts), "scores are %s" % trainers)

    def power_off(self):
        """Shutdown while studies run: after the boot they go on, finished trials are not
        repeated, and the others have lost no retry."""
        self.over_a_boot("off", self.m.power_off, "cancelled")

    def power_cut(self):
        """The same without any warning."""
        self.over_a_boot("cut", self.m.cut_power, "lost")

    def over_a_boot(self, study, end, how):
        daemons = [self.d] + ([self.own()] if os.path.exists(
            self.m.path("/var/lib/systemd/linger/alice")) else [])
        for d in daemons:
            d.submit(study, 6)
            d.running(study, 2)
            d.allow(study, 2)
            d.running(study, 2, since=2)
        end()
        self.m.boot()
        for d in daemons:
            wait_for(lambda: d.show("ActiveState") == "active", "it started at boot")
            again = d.running(study, 2, since=4)
            expect(sorted(t for t, _, _ in again) == [2, 3], "started again: %s" % again)
            d.finish(study, 6)
            ends = sorted(trial for trial, _, _ in d.course(study, "end"))
            expect(ends == list(range(6)), "ends: %s" % ends)
            for trial in ("2", "3"):
                got = [a["end"] for a in d.ask("trial", study, trial)["attempts"]]
                expect(got == [how, "ok"], "trial %s of %s ended with %s" % (trial, study, got))
