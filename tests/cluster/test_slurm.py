"""test_slurm.py - studies whose trainers are jobs of a real Slurm: to their end, limited, named,
asked for what they need, stopped, cancelled and deleted."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from slurm_case import COMPUTES, STARTS, WAITS, SlurmCase, long, program, wait_for

KEYS = ("trial", "state", "parameters", "objectives", "runs")


class Runs(SlurmCase):
    def test_same_study_as_here(self):
        """Every byte of trials and front but for times: a seed is a seed."""
        self.trainer(COMPUTES)
        search = "method: dpareto, evaluations: 14, parallel: 4, order: deterministic, initial: 4"
        self.begin("--slots", "4")
        self.put("s", "runs: 2", search)
        self.submit(self.client, self.study("l", extra_trainer=", runs: 2", search=search))
        outcomes = []
        for name in ("s", "l"):
            self.done(name)
            rows = self.client.every("trials", study=name, full=True)
            outcomes.append(json.dumps([{k: t[k] for k in KEYS} for t in rows]))
            front = self.ctl("front", name, "-o", "json", env={
                **os.environ, "DPARETO_SOCKET": self.d.socket})
            self.assertEqual(front.returncode, 0, front.stderr)
            outcomes[-1] += front.stdout.replace('"l"', '"s"')
        self.assertEqual(outcomes[0], outcomes[1])
        self.assertEqual(len(self.starts()), 28)
        self.assertEqual(len(self.jobs("s")), 14)

    def test_places(self):
        """Slots are for this machine: of jobs there are `parallel` and slurm.jobs."""
        self.trainer(WAITS)
        self.begin("--slots", "1", jobs=7)
        self.put("a", search="method: random, evaluations: 5, parallel: 5")
        self.put("b", search="method: random, evaluations: 5, parallel: 5")
        self.comes("go", 7)
        wait_for(lambda: any("slurm.jobs" in self.waiting(n) for n in "ab"))
        self.assertEqual(len(self.jobs(living=True)), 7)
        self.touch("go")
        self.done("a")
        self.done("b")
        self.assertEqual(len(self.starts()), 10)

    def test_wishes(self):
        """What a job asks for, as Slurm has it; nobody can override how it is found."""
        self.trainer(COMPUTES)
        self.begin(account="daemons", partition="short")
        self.put("s", "gpus: 1, timeout: 10m, slurm: {partition: main, account: ours, "
                 "options: [--hold, --cpus-per-task=2, --requeue, --job-name=x, -c3]}")
        job = self.job("PENDING")
        shown = self.slurm.run("scontrol", "show", "job", job).stdout
        for words in ("Account=ours", "Partition=main", "TimeLimit=00:13:00", "Requeue=0",
                      "CPUs/Task=3", "TresPerNode=gres:gpu:1", "StdOut=%s/state/studies/s/"
                      "trials/0/0/slurm.log" % self.folder,
                      "Comment=dpareto:%s/state:s/0/0" % self.folder):
            self.assertIn(words, shown)
        held = self.wait_waiting("held")
        self.assertIn("'scontrol release %s' lets it go" % job, held)
        running = self.client("status", study="s")["running"]
        self.assertIn("Slurm job %s, waiting (JobHeldUser)" % job, running[0]["where"])
        self.slurm.release(job)
        self.done()
        self.assertEqual(self.ends(), ["ok"])

    def test_paths(self):
        """What Slurm would replace in the path of a state folder, or take out of it."""
        self.trainer(COMPUTES)
        for name, folder in (("a", "100%j %%a 'x' $(id)"), ("b", "back\\slash %j")):
            self.begin("--state", self.path(folder))
            self.put(name, "runs: 2, runs_per_process: 1")
            self.done(name)
            self.d.end()

    def test_forged_record(self):
        """A trainer that writes how it ended has not ended; the shim's word counts."""
        self.trainer(STARTS + """
record = os.environ["DPARETO_REQUEST"].replace("request.json", "exit.json")
if request["study"] == "link":
    os.symlink("/dev/null", record)
else:
    with open(record, "w") as f:
        f.write('{"code":0}')
report(a=params["x"], b=1 - params["x"])
stop("go")
os._exit(3)
""")
        self.begin()
        for name in ("code", "link"):
            self.put(name)
        self.comes("go", 2)
        time.sleep(2)  # the daemon looks for records twice a second
        self.touch("go")
        for name in ("code", "link"):
            self.finish(self.client, name)
            self.assertEqual(self.ends(0, name), ["exit-code"])
        self.assertEqual(len(self.starts()), 2)

    def test_array(self):
        """Runs of a process each are one array; those that fail are tried again alone."""
        self.trainer(STARTS + """
if request["runs"][0]["run"] in (1, 2) and request["attempt"] == 0:
    os.kill(os.getpid(), 9)
report(a=1, b=1)
""")
        self.begin()
        self.lie("sbatch", 'echo "$@" >>%s; exec $REAL "$@"' % self.path("asked"))
        self.put("s", "runs: 4, runs_per_process: 1",
                 "method: random, evaluations: 1, parallel: 4")
        self.done()
        with open(self.path("asked")) as f:
            arrays = re.findall(r"--array=(\S+)", f.read())
        self.assertEqual(arrays[0], "0,1,2,3")
        # two that fail at once may be tried again together
        self.assertEqual(sorted(",".join(arrays[1:]).split(",")), ["1", "2"])
        self.assertEqual(len(self.starts()), 6)
        self.assertEqual(sorted(self.ends()), ["ok"] * 4 + ["signal"] * 2)

    def test_cancel(self):
        """The trainer hears TERM first, through its shim, and has its grace time."""
        self.trainer(STARTS + """
def told(*_):
    note("told")
    time.sleep(0.5)
    note("ends")
    sys.exit(0)
signal.signal(signal.SIGTERM, told if params["x"] < 2 else signal.SIG_IGN)
stop("go")
""")
        self.begin()
        self.put("gentle", "grace: 20s")
        self.put("deaf", parameters="x: {type: float, range: [2, 3]}")
        self.put("waits", "slurm: {partition: small}")
        self.comes("go", 2)
        pending = self.job("PENDING", "waits")
        for name in ("gentle", "deaf", "waits"):
            self.client("cancel", study=name, trial=0)
        for name in ("gentle", "deaf", "waits"):
            self.finish(self.client, name)
            trial = self.client("trial", study=name, trial=0)["trial"]
            self.assertEqual(trial["state"], "cancelled", name)
        self.assertEqual(self.notes().count("ends"), 1)
        self.assertEqual(self.slurm.state(pending), "CANCELLED")
        self.assertEqual(self.starts(), ["deaf/0/0/0", "gentle/0/0/0"])

    def test_timeout(self):
        self.trainer(STARTS + 'time.sleep(600)')
        self.begin()
        self.put("s", "timeout: 1s, max_failures: 1")
        self.finish(self.client, "s")
        self.assertEqual(self.ends(), ["timeout"])

    def test_deleted_and_killed(self):
        """A study that is deleted leaves no job, nor does a daemon that is to end its own."""
        self.trainer(WAITS)
        self.begin("--stop-policy", "kill")
        self.put("gone", search="method: random, evaluations: 2, parallel: 2")
        self.put("queue", "slurm: {partition: small}",
                 "method: random, evaluations: 2, parallel: 2")
        self.put("s", search="method: random, evaluations: 1")
        self.comes("go", 3)
        wait_for(lambda: len(self.jobs("queue", living=True)) == 2)
        for name in ("gone", "queue"):
            self.client("delete", study=name, now=True)
            wait_for(lambda: not self.jobs(name, living=True), 60, 0.1)
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        wait_for(lambda: not self.jobs(living=True))
        self.touch("go")
        self.go()
        self.done()
        self.assertEqual(self.ends(), ["cancelled", "ok"])

    def test_the_daemons_own_executor(self):
        """It is decided when a study is submitted, and stays with it."""
        self.trainer(WAITS)
        self.begin("--executor", "slurm")
        self.submit(self.client, self.study(search="method: random, evaluations: 2"))
        self.comes("go")
        self.client.close()
        self.assertEqual(self.d.end(), 0)  # which leaves it
        self.touch("go")
        self.d.options = (*self.d.options, "--executor", "local")
        self.go()
        self.done()
        self.assertEqual(len(self.jobs("s")), 2)
        self.assertEqual(self.starts(), ["s/0/0/0", "s/1/0/0"])

    @long
    def test_private_daemon(self):
        """dparetoctl run: Ctrl-C ends its jobs, too."""
        self.trainer(WAITS)
        self.write("study.yaml", self.study(extra_trainer=", executor: slurm, grace: 1s"))
        with self.running("run", self.path("study.yaml")) as ctl:
            self.comes("go")
            ctl.send_signal(signal.SIGINT)
            ctl.wait(60)
        wait_for(lambda: not self.jobs(living=True))

    def running(self, *arguments):
        return subprocess.Popen([program("dparetoctl"), *arguments], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, cwd=self.folder, env={
                                    **os.environ, **self.slurm.env(),
                                    "XDG_STATE_HOME": self.folder,
                                    "DPARETO_SOCKET": self.path("none")})

    @long
    def test_slurms_own_limit(self):
        """Its class is timeout, whether the shim was told before or not."""
        self.trainer(STARTS + 'time.sleep(600)')
        self.begin()
        self.put("short", "max_failures: 1, slurm: {partition: short}")
        self.put("time", "max_failures: 1, slurm: {time: 20s}")
        for name in ("short", "time"):
            self.finish(self.client, name)
            self.assertEqual(self.ends(0, name), ["timeout"], name)


@long
class Accounted(SlurmCase):
    """With slurmdbd, and a controller that soon forgets."""
    accounting, settings = True, {"MinJobAge": 2}

    def test_study(self):
        self.trainer(COMPUTES)
        self.begin()
        self.put("s", "runs: 2", "method: random, evaluations: 8, parallel: 4")
        self.done()
        self.assertEqual(len(self.starts()), 8)

    def test_forgotten(self):
        """What squeue does not know any more sacct does."""
        self.trainer(STARTS + """
if request["attempt"] == 0:
    stop("go")
report(a=1, b=1)
""")
        self.begin()
        self.put("s")
        self.comes("go")
        job = self.job("RUNNING")
        self.d.end(signal.SIGKILL)
        for pid in self.slurm.processes(job):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: self.slurm.state(job) is None, 180, 0.5)
        self.go()
        self.done()
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertIn("Slurm job %s: FAILED" % job, self.attempts()[0]["message"])
        self.assertEqual(self.starts(), ["s/0/0/0", "s/0/0/1"])


if __name__ == "__main__":
    unittest.main()
