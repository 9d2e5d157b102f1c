"""slurm_case.py - what the tests beside a real Slurm share: one cluster for a module, studies
whose trainers are its jobs, and commands of Slurm that lie.

Those that take more than some seconds, or a cluster of their own, are marked `long` and run with
`tests/run.py --long`, which sets DPARETO_LONG=1."""
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import slurm  # noqa: E402
from harness import Case, program, trainers_below, wait_for  # noqa: E402,F401


def long(test):
    """For a test, or for a class of them: unittest does not see it unless it is asked for."""
    if os.environ.get("DPARETO_LONG"):
        return test
    return type(test.__name__, (), {}) if isinstance(test, type) else None


class SlurmCase(Case):
    """A daemon beside a cluster, which all tests of a class share."""
    accounting, settings, partitions = False, None, slurm.PARTITIONS

    @classmethod
    def setUpClass(cls):
        why = slurm.missing(cls.accounting)
        if why:
            raise unittest.SkipTest("no Slurm here: " + why)
        cls.slurm = slurm.Slurm(cls.accounting, cls.settings, cls.partitions).start()
        cls.addClassCleanup(cls.slurm.stop)

    def setUp(self):
        super().setUp()
        self.client = None
        os.mkdir(self.path("commands"))

    def tearDown(self):
        """The daemon stops cleanly, and nothing of ours is left in the queue."""
        if self.client:
            self.client.close()
        for d in self.daemons:
            if d.process and d.process.poll() is None:
                code = d.end()
                self.assertEqual((code, d.said), (0, ""))
        self.slurm.run("scancel", "--user=%d" % os.getuid(), check=False)
        wait_for(lambda: not self.jobs(living=True), 60, 0.1)

    # ---- the daemon ----

    def begin(self, *options, **slurm_option):
        """A daemon that asks Slurm every second; its commands may be replaced by lie()."""
        option = {"poll": "1s", **slurm_option}
        text = "{%s}" % ", ".join('"%s": %s' % (k, v if isinstance(v, int) else '"%s"' % v)
                                  for k, v in option.items())
        env = {**self.slurm.env(),
               "PATH": "%s:%s" % (self.path("commands"), os.environ["PATH"])}
        self.d = self.daemon("--slurm", text, "--log-level", "debug", *options, env=env)
        return self.go()

    def go(self, *options):
        """Starts it, again."""
        if self.client:
            self.client.close()
        self.d.start(*options)
        self.client = self.d.connect()
        return self.client

    def lie(self, command, text):
        """The daemon finds this shell script instead; $REAL is Slurm's own. "" ends that."""
        path = self.path("commands/" + command)
        if not text:
            os.remove(path)
            return
        self.write("commands/." + command, "#!/bin/sh\nREAL=%s\n%s\n" % (
            shutil.which(command), text), 0o755)
        os.rename(self.path("commands/." + command), path)

    def log(self):
        with open(self.d.log) as f:
            return f.read()

    # ---- studies ----

    def put(self, name="s", trainer="", search="method: random, evaluations: 1", more="",
            **options):
        """Submits a study whose trainers are jobs."""
        text = ", executor: slurm" + (", " + trainer if trainer else "")
        text += "" if "grace:" in trainer else ", grace: 1s"
        return self.submit(self.client, self.study(
            name, extra_trainer=text, search=search, more=more, **options))

    def status(self, name="s"):
        return self.client("status", study=name)["study"]

    def waiting(self, name="s"):
        return self.status(name)["waiting"] or ""

    def wait_waiting(self, words, name="s"):
        return wait_for(lambda: re.search(words, self.waiting(name)) and self.waiting(name),
                        60, 0.1)

    def attempts(self, trial=0, name="s"):
        return self.client("trial", study=name, trial=trial)["trial"]["attempts"]

    def ends(self, trial=0, name="s"):
        return [a["end"] for a in self.attempts(trial, name)]

    def done(self, name="s"):
        """Waits for its end, which must be a good one."""
        status = self.finish(self.client, name)["study"]
        self.assertEqual((status["state"], status["reason"] if status["state"] == "failed"
                          else None), ("finished", None))
        return status

    # ---- jobs ----

    def jobs(self, name=None, living=False):
        """Jobs of a study of this test as Slurm knows them, by their numbers."""
        found = {i: j for i, j in self.slurm.jobs().items()
                 if j["comment"].startswith("dpareto:%s/" % self.folder)
                 and (name is None or "-%s-" % name in j["name"])}
        if living:
            found = {i: j for i, j in found.items() if j["state"] in (
                "PENDING", "RUNNING", "COMPLETING", "CONFIGURING")}
        return found

    def job(self, state, name="s"):
        """The number of the study's only job in that state, once there is one."""
        def found():
            return [i for i, j in self.jobs(name).items() if j["state"] == state]
        return wait_for(found, 60, 0.1)[0]

    def starts(self):
        """What trainers noted when they started: trial and attempt, and each only once."""
        notes = [n[6:] for n in self.notes() if n.startswith("start ")]
        self.assertEqual(len(notes), len(set(notes)), notes)
        return sorted(notes)

    def comes(self, gate, number=1):
        """Waits until so many trainers stand at the gate."""
        wait_for(lambda: self.notes().count("at " + gate) >= number, 60, 0.05)


# Notes its start; waits where it is told to.
STARTS = """
note("start %s/%s/%d/%s" % (os.environ["DPARETO_STUDY"], os.environ["DPARETO_TRIAL"],
                            request["runs"][0]["run"], os.environ["DPARETO_ATTEMPT"]))
def stop(name):
    note("at " + name)
    gate(name)
"""
# A result of its seeds alone.
COMPUTES = STARTS + """
for run in request["runs"]:
    out({"run": run["run"], "metrics": {"a": params["x"] + run["seed"] * 1e-17,
                                        "b": 1 - params["x"]}})
out({"done": True})
"""
# Waits for somebody to open the gate "go".
WAITS = STARTS + """
stop("go")
report(a=params["x"], b=1 - params["x"])
"""
