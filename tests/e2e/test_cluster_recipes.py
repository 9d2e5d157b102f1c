"""test_cluster_recipes.py - the recipes of docs/cluster.md, as examples/cluster has them.

Each study comes to its end; and what it started elsewhere, in a container or behind an sshd,
ends when the trial is cancelled, its time is over, or whoever should end it was killed. The other
machine is an sshd of our own on this one: no process below it is known to dparetod. What is not
installed is skipped by name. DPARETO_TEST_ENGINE is the command of Podman or Docker (default: the
first that works), for one that needs options."""
import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import TOP, Case, Refused, unhurried, wait_for

RECIPES = os.path.join(TOP, "examples/cluster")
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
MODULES = "/usr/share/modules/init/sh"
BUSYBOX = "/bin/busybox"
IMAGE = "dpareto-recipes"
LONG = "1234.5"  # seconds that no trainer here is given
SSHD_CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
"""
SSH_CONFIG = """Host node1
HostName 127.0.0.1
Port {port}
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
StrictHostKeyChecking accept-new
"""


def environment_has(entry):
    """Processes that were started with this in their environment."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        with contextlib.suppress(OSError), open(path, "rb") as f:
            if entry.encode() in f.read().split(b"\0"):
                found.append(int(path.split("/")[2]))
    return found


class RecipeCase(Case):
    def setUp(self):
        super().setUp()
        for path in glob.glob(RECIPES + "/*"):
            shutil.copy(path, self.folder)
        os.chmod(self.folder, 0o755)
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        self.addCleanup(self.end_elsewhere)
        self.client = self.daemon(env=self.environment()).start().connect()

    def tearDown(self):
        self.tidy()

    def environment(self):
        return {"PATH": self.bin + ":" + os.environ["PATH"], "TMPDIR": self.folder}

    def command(self, name, line):
        """What the recipe finds under this name."""
        self.write("bin/" + name, "#!/bin/sh\nexec %s \"$@\"\n" % line, 0o755)

    def elsewhere(self):
        """The trainers themselves, wherever they run on this machine."""
        return environment_has("DPARETO_STUDY_DIR=" + self.folder)

    def sleepers(self):
        """Trainers that are at what takes them so long."""
        found = []
        for pid in self.elsewhere():
            with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid, "rb") as f:
                if f.read().split(b"\0")[:-1] == [b"sleep", LONG.encode()]:
                    found.append(pid)
        return found

    def end_elsewhere(self):
        for pid in self.elsewhere():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def begin(self, recipe, *changes):
        """Submits a recipe's study with some of its text replaced."""
        with open(self.path(recipe + ".yaml")) as f:
            text = f.read()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.submit(self.client, text, recipe + ".yaml")
        self.study_name = recipe

    def begin_long(self, recipe, *changes):
        """One trial that takes its time; returns when it is at it, or is over already because
        the machine took its time, too."""
        self.begin(recipe, ("seconds: {fixed: 0.1}", "seconds: {fixed: %s}" % LONG),
                   ("evaluations: 4, parallel: 2", "evaluations: 1"), *changes)
        return wait_for(lambda: self.sleepers() or self.ends() and [0])

    def attempts(self):
        """None before there is a trial."""
        with contextlib.suppress(Refused):
            return self.client("trial", study=self.study_name, trial=0)["trial"]["attempts"]
        return []

    def ends(self):
        return [a["end"] for a in self.attempts() if a["end"]]

    def is_good(self, *begin):
        self.begin(*begin)
        study = self.finish(self.client, self.study_name)["study"]
        self.assertEqual((study["state"], study["ok"]), ("finished", 4), study)

    def is_ended(self, how, *begin):
        """The trial ends like this, and with it all that it has started."""
        self.begin_long(*begin)
        if how == "cancelled":
            self.client("cancel", study=self.study_name, trial=0)
        self.finish(self.client, self.study_name)
        self.assertEqual(self.ends(), [how])
        wait_for(lambda: not self.elsewhere(), 5)  # sooner than by force, after 8 s

    def kill_shim(self):
        with open(self.path("state/studies/%s/trials/0/0/claim" % self.study_name)) as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)

    def is_tried_again(self, before):
        """The trainers of before have ended, and there are new ones."""
        def again():
            now = self.sleepers()
            return now and not set(now) & set(before)
        wait_for(again)
        self.client("stop", study=self.study_name, now=True)
        self.finish(self.client, self.study_name)


@unittest.skipUnless(os.path.exists(SSHD) and shutil.which("ssh"), "skipped: no ssh, no sshd")
class Ssh(RecipeCase):
    """Another machine, as far as our processes can tell."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("sshd"))
        at = {"folder": self.path("sshd"), "port": self.free_port()}
        self.write("sshd/sshd_config", SSHD_CONFIG.format(**at))
        self.write("sshd/ssh_config", SSH_CONFIG.format(**at))
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                            self.path("sshd/" + key)], check=True)
        with contextlib.suppress(FileExistsError, PermissionError):
            os.mkdir("/run/sshd")  # it insists
        self.sshd = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", SSHD, "-D", "-e", "-f",
             self.path("sshd/sshd_config")], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.path("sshd/log"), "w"),
            start_new_session=True)
        self.addCleanup(self.sshd.wait)
        self.addCleanup(self.sshd.kill)
        self.command("ssh", "%s -F %s" % (shutil.which("ssh"), self.path("sshd/ssh_config")))
        wait_for(lambda: subprocess.run([self.bin + "/ssh", "-o", "BatchMode=yes", "node1", "true"],
                                        stderr=subprocess.DEVNULL).returncode == 0, 30)

    @staticmethod
    def free_port():
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def there(self):
        """The trainer's place on a machine that shares nothing."""
        return ("/opt/dpareto", self.folder)

    def cut(self):
        """Ends the connections, as a network does that fails for good."""
        for path in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError), open(path) as f:
                name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
                if name == "sshd" and int(rest.split()[1]) == self.sshd.pid:
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)

    def test_shared_folder(self):
        self.is_good("ssh")
        with open(self.path("state/studies/ssh/trials/0/0/stdout")) as f:
            self.assertEqual(f.read(), "run 0 of trial 0\nrun 1 of trial 0\n")

    def test_nothing_shared(self):
        before = set(glob.glob("/tmp/tmp.*/request.json"))
        self.is_good("ssh-copy", self.there())
        self.assertEqual(set(glob.glob("/tmp/tmp.*/request.json")) - before, set())

    def test_cancel(self):
        self.is_ended("cancelled", "ssh")

    def test_cancel_nothing_shared(self):
        self.is_ended("cancelled", "ssh-copy", self.there())

    def test_timeout(self):
        self.is_ended("timeout", "ssh", ("timeout: 1h", "timeout: %gs" % unhurried(4)))

    def test_killed(self):
        before = self.begin_long("ssh")
        self.kill_shim()
        self.is_tried_again(before)

    def test_connection_lost(self):
        before = self.begin_long("ssh")
        self.cut()
        self.is_tried_again(before)
        self.assertEqual(self.attempts()[0]["end"], "signal")

    def test_not_to_be_reached(self):
        """Three times, then it says so and pauses."""
        self.sshd.kill()
        self.begin("ssh", ("runs: 2", "runs: 2\n  retries: 0"))
        study = self.finish(self.client, "ssh")["study"]
        self.assertEqual(study["state"], "paused")
        self.assertIn("Connection refused", study["reason"])

    def test_awkward_words(self):
        """No shell on the way takes them apart."""
        self.write("say.sh", "#!/bin/sh\nprintf '<%s>' \"$@\"\n. ./train.sh\n".replace(
            "./train.sh", self.path("train.sh")), 0o755)
        self.is_good("ssh", ("./train.sh]", "./say.sh, \"it's $HOME\", 'a  \"b\"', '*']"))
        with open(self.path("state/studies/ssh/trials/0/0/stdout")) as f:
            self.assertTrue(f.read().startswith("<it's $HOME><a  \"b\"><*>run 0"))


def engine_command():
    """Podman or Docker, with what runs the image; or why there is none."""
    for engine in filter(None, (os.environ.get("DPARETO_TEST_ENGINE"), "podman", "docker")):
        if shutil.which(engine.split()[0]) and import_image(engine) and subprocess.run(
                [*engine.split(), "run", "--rm", "--network", "none", IMAGE, "true"],
                capture_output=True).returncode == 0:
            return engine
    return None


def import_image(engine):
    """An image of busybox alone."""
    if not os.path.exists(BUSYBOX):
        return False
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(root + "/bin")
        os.mkdir(root + "/tmp")
        shutil.copy(BUSYBOX, root + "/bin/busybox")
        for name in ("sh", "sed", "tr", "awk", "sleep", "dirname", "true"):
            os.symlink("busybox", root + "/bin/" + name)
        tar = subprocess.run(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE, check=True)
        return subprocess.run([*engine.split(), "import", "-", IMAGE], input=tar.stdout,
                              capture_output=True).returncode == 0


ENGINE = engine_command()


@unittest.skipUnless(ENGINE, "skipped: no Podman or Docker that works, or no static busybox")
class Container(RecipeCase):
    def setUp(self):
        super().setUp()
        program, *options = ENGINE.split()
        name = "docker" if "docker" in os.path.basename(program) else "podman"
        self.command(name, " ".join([shutil.which(program), *options]))
        self.changes = [("my-image", IMAGE), ("ENGINE: podman", "ENGINE: " + name)]

    def left(self):
        return subprocess.run([*ENGINE.split(), "ps", "-a", "-q", "--filter", "name=dpareto-"],
                              capture_output=True, text=True).stdout

    def test_study(self):
        self.is_good("container", *self.changes)
        self.assertEqual(self.left(), "")

    def test_cancel(self):
        self.is_ended("cancelled", "container", *self.changes)
        wait_for(lambda: not self.left(), 30)

    def test_timeout(self):
        self.is_ended("timeout", "container", ("timeout: 1h", "timeout: %gs" % unhurried(6)),
                      *self.changes)

    def test_killed(self):
        before = self.begin_long("container", *self.changes)
        self.kill_shim()
        self.is_tried_again(before)


class Here(RecipeCase):
    """On this machine, with something around the trainer."""

    def test_scratch(self):
        self.write("where.sh", "#!/bin/sh\npwd\nls \"$SCRATCH/data\"\n. %s\n" % self.path(
            "train.sh"), 0o755)
        self.is_good("scratch", ("./train.sh]", "./where.sh]"))
        with open(self.path("state/studies/scratch/trials/0/0/stdout")) as f:
            self.assertTrue(f.read().startswith(self.path("dpareto-")))
        self.assertEqual(os.listdir(glob.glob(self.path("dpareto-*"))[0]), ["data"])

    def test_scratch_cancelled(self):
        self.is_ended("cancelled", "scratch")
        self.assertEqual(os.listdir(glob.glob(self.path("dpareto-*"))[0]), ["data"])

    def make_venv(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.path("venv")],
                       check=True)

    def test_interpreter_of_a_virtual_environment(self):
        self.make_venv()
        self.trainer("print(sys.prefix)\nreport(cost=1, error=0.5)\n", "train.py")
        self.is_good("environment", ("./environment.sh, ./train.sh", "./venv/bin/python, train.py"))
        with open(self.path("state/studies/environment/trials/0/0/stdout")) as f:
            self.assertEqual(f.read(), self.path("venv") + "\n")

    def test_virtual_environment(self):
        self.make_venv()
        self.write("which.sh", "#!/bin/sh\nwhich python3\npython3 -c 'import sys; print("
                   "sys.prefix)'\n. %s\n" % self.path("train.sh"), 0o755)
        self.is_good("environment", ("VENV: \"\"", "VENV: ./venv"),
                     ("./train.sh]", "./which.sh]"))
        with open(self.path("state/studies/environment/trials/0/0/stdout")) as f:
            self.assertEqual(f.read().splitlines()[:2],
                             [self.path("venv/bin/python3"), self.path("venv")])

    @unittest.skipUnless(os.path.exists(MODULES), "skipped: no environment-modules")
    def test_modules(self):
        os.makedirs(self.path("modulefiles/solver"))
        self.write("modulefiles/solver/1.0", "#%Module1.0\nsetenv SOLVER one\n")
        self.write("say.sh", "#!/bin/sh\necho \"$SOLVER\"\n. %s\n" % self.path("train.sh"), 0o755)
        self.is_good("environment", ("MODULES: \"\"", "MODULES: solver/1.0, MODULEPATH: %s" %
                                     self.path("modulefiles")), ("./train.sh]", "./say.sh]"))
        with open(self.path("state/studies/environment/trials/0/0/stdout")) as f:
            self.assertEqual(f.readline(), "one\n")


if __name__ == "__main__":
    unittest.main()
