"""proofs_package.py - what is proven of the packages on a booted machine, one after the other."""
import os
import re
import time

from lab import SERVICE, STATE, Daemon, expect
from machine import wait_for

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# In this order, since each stands on those before it.
NAMES = ("installed", "first_study", "own_trainer", "kit", "debian_tests", "service", "documents",
         "removed", "purged", "upgraded", "removed_while_running", "back_again")
APT_LIMIT = 900.0  # seconds; apt writes a lot
KIT_TRAINER = """import random
import dpareto

with dpareto.trial() as t:
    for run in t.runs:
        noise = random.Random(run.seed).gauss(0, t["sigma"])
        run.result(error=abs(noise))
"""


def blocks():
    """The examples of README.md, complete files: (language, text) each."""
    with open(os.path.join(TOP, "README.md")) as f:
        return re.findall(r"^```(\w+)\n(.*?)^```$", f.read(), re.M | re.S)


def example(language, word):
    found = [text for kind, text in blocks() if kind == language and word in text]
    expect(len(found) == 1, "README.md has %d examples with %r" % (len(found), word))
    return found[0]


class Proofs:
    def __init__(self, machine):
        self.m = machine
        self.d = Daemon(machine)  # as root
        self.began = None

    def apt(self, *words):
        return self.m.run("apt-get", "-y", "-o", "APT::Sandbox::User=root", *words,
                          limit=APT_LIMIT, DEBIAN_FRONTEND="noninteractive",
                          HOME="/root")

    def version(self):
        return self.d.ask("daemon", "status")["version"]

    def active(self):
        return [self.m.run("systemctl", "is-active", unit, check=False).strip()
                for unit in (SERVICE, "dparetod.socket")]

    def alice_runs(self, study):
        """As README.md says, in her home, which has nothing else; the report that came of it."""
        home = "/home/alice"
        self.m.run("sh", "-c", "cd && dparetoctl run %s.yaml" % study, user="alice", HOME=home)
        report = "%s/.local/state/dpareto/run/%s/studies/%s/report/report.html" % (
            home, study, study)
        expect(os.path.getsize(self.m.path(report)) > 10000, "no report at " + report)

    def alice_has(self, name, text):
        self.m.write("/home/alice/" + name, text)

    # ---- a new machine ----

    def installed(self):
        """By apt, with what it depends on. The service runs then."""
        self.began = time.monotonic()
        self.apt("install", "/packages/dpareto.deb")
        expect(self.active() == ["active", "active"], "the units are %s" % self.active())
        expect(self.m.run("stat", "-c", "%a %U %G", STATE).split() == ["750", "dpareto", "dpareto"],
               "the state folder")
        expect(self.d.show("UnitFileState") == "enabled", "it does not start at boot")
        failed = self.m.run("systemctl", "--failed", "--plain", "--no-legend").strip()
        expect("dpareto" not in failed, failed)

    def first_study(self):
        self.alice_has("first.yaml", example("yaml", "study: first"))
        self.alice_runs("first")

    def own_trainer(self):
        """The trainer of README.md. This is the path of a newcomer, timed from the package on."""
        self.alice_has("train.py", example("python", "DPARETO_REQUEST"))
        self.alice_has("own.yaml", example("yaml", "study: own"))
        self.alice_runs("own")
        return "%.0f s since the package was at hand, without reading and writing" % (
            time.monotonic() - self.began)

    def kit(self):
        """A trainer by the Python kit, wherever the package has that."""
        where = self.m.run("dparetoctl", "kit", "--path").strip()
        self.alice_has("kit.py", KIT_TRAINER)
        self.alice_has("kit.yaml", example("yaml", "study: own")
                       .replace("study: own", "study: kit").replace("train.py", "kit.py")
                       .replace("runs: 10", "runs: 10, env: {PYTHONPATH: %s}" % where))
        self.alice_runs("kit")

    def debian_tests(self):
        """Those of debian/tests that need no root, as autopkgtest would run them."""
        for name in ("study", "python-kit"):
            folder = self.m.run("mktemp", "-d", user="alice").strip()
            self.m.run(self.debian_test(name), user="alice", AUTOPKGTEST_TMP=folder)

    def debian_test(self, name):
        """Puts one into the machine; its path there."""
        with open(os.path.join(TOP, "packaging/debian/tests", name)) as f:
            self.m.write("/packages/" + name, f.read(), 0o755)
        return "/packages/" + name

    def service(self):
        """debian/tests/service, and who may use the socket."""
        self.m.run(self.debian_test("service"))
        expect(self.m.code("dparetoctl", "daemon", "status", user="alice") == 4,
               "alice may use it, though she is in no group")
        self.m.run("usermod", "-aG", "dpareto", "alice")
        self.m.run("dparetoctl", "daemon", "status", user="alice")

    def documents(self):
        """Links between the two packages work."""
        self.apt("install", "/packages/dpareto-doc.deb")
        folder = self.m.path("/usr/share/doc/dpareto")
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".md"):
                    self.links(os.path.join(place, name))

    def links(self, page):
        with open(page) as f:
            for link in re.findall(r"\]\(([^)#: ]+)", f.read()):
                expect(os.path.exists(os.path.join(os.path.dirname(page), link)),
                       "%s leads to %s, which is not there" % (page, link))

    def removed(self):
        self.apt("remove", "dpareto", "dpareto-doc")
        expect(not os.path.exists(self.m.path("/usr/bin/dparetod")), "dparetod is still there")
        expect(self.m.code("pgrep", "-u", "dpareto") == 1, "something of it runs")
        expect(os.path.exists(self.m.path(STATE + "/journal/data.mdb")), "the journal is gone")

    def purged(self):
        """The results of studies are nobody's to remove but the users'."""
        said = self.apt("purge", "dpareto", "dpareto-doc")
        expect("results of studies are kept in " + STATE in said, "nothing is said of the state")
        expect(os.path.exists(self.m.path(STATE + "/journal/data.mdb")), "the journal is gone")
        left = self.m.run("sh", "-c", "dpkg -l | grep dpareto || true").strip()
        expect(not left, left)
        for place in ("/etc", "/usr", "/lib/systemd", "/run/dpareto"):
            found = self.m.run("find", place, "-name", "*dpareto*", check=False).strip()
            # what systemd-sysusers wrote into the files of users has other names
            expect(not found, "left behind: " + found)
        self.m.run("rm", "-r", STATE)

    # ---- a machine with an older version ----

    def upgraded(self):
        """Trainers run on, the new daemon adopts them, and every trial is done once."""
        self.apt("install", "/packages/old.deb")
        expect(self.active() == ["active", "active"], "the older one is %s" % self.active())
        old = os.path.exists(self.m.path("/usr/bin/dpareto-shim"))
        self.d.submit("over", 6)
        attempts = self.d.running("over", 2)
        before, was = self.d.pid(), self.m.run("dpkg-query", "-W", "dpareto").split()[1]
        began = time.monotonic()
        self.apt("install", "/packages/dpareto.deb")
        took = time.monotonic() - began
        now = self.m.run("dpkg-query", "-W", "dpareto").split()[1]
        expect(was != now, "it was not upgraded: %s" % now)
        expect(self.active() == ["active", "active"], "the units are %s" % self.active())
        expect(self.d.pid() != before, "the old daemon runs on")
        expect(self.version() in now, "the daemon says that it is %s" % self.version())
        expect(self.d.alive(attempts), "a trainer died with the old daemon")
        if old:
            expect(not os.path.exists(self.m.path("/usr/bin/dpareto-shim")), "two shims")
        self.d.allow("over", 2)
        self.d.running("over", 2, since=2)  # the first of the new version
        self.d.finish("over", 6)
        self.d.once("over", 6)
        expect("adopted" in self.d.log(), "nothing was adopted")
        return "from %s to %s in %.1f s" % (was, now, took)

    def removed_while_running(self):
        """Trainers of a daemon that is removed end in good order."""
        self.d.submit("away", 4)
        self.d.running("away", 2)
        self.apt("remove", "dpareto")
        expect(self.m.code("pgrep", "-u", "dpareto") == 1, "a trainer goes on")

    def back_again(self):
        """Studies go on, and trials that the removal ended have lost no retry."""
        self.apt("install", "/packages/dpareto.deb")
        again = self.d.running("away", 2, since=2)
        expect(sorted(trial for trial, _, _ in again) == [0, 1], "started again: %s" % again)
        self.d.finish("away", 4)
        for trial in ("0", "1"):
            got = [a["end"] for a in self.d.ask("trial", "away", trial)["attempts"]]
            expect(got == ["cancelled", "ok"], "trial %s ended with %s" % (trial, got))
        wait_for(lambda: self.d.ask("status", "over")["study"]["state"] == "finished",
                 "the study of before is there")
