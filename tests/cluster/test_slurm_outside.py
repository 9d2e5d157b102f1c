"""test_slurm_outside.py - what people and Slurm do to jobs of ours, and what Slurm's commands say
when they do not say the truth: nothing runs twice, nothing is lost, and status names the reason."""
import shutil
import unittest

import slurm
from slurm_case import COMPUTES, STARTS, WAITS, SlurmCase, long, wait_for

# Counts how often it was started; the first time it stops at the gate.
ONCE = STARTS + """
if request["attempt"] == 0:
    stop("go")
report(a=1, b=1)
"""
LOW_AND_HIGH = slurm.PARTITIONS + """
PartitionName=low Nodes=n1 PriorityTier=1 PreemptMode=%s
PartitionName=high Nodes=n1 PriorityTier=10 PreemptMode=off
"""


class Outside(SlurmCase):
    def test_refused(self):
        """A sentence, and the study pauses; it goes on when that is mended."""
        self.trainer(COMPUTES)
        self.begin()
        self.put("s", "slurm: {partition: nowhere}",
                 "method: random, evaluations: 3, parallel: 3")
        self.put("t", "slurm: {options: [--no-such-option]}")
        for name, words in (("s", "nvalid partition"), ("t", "unrecognized option")):
            status = self.finish(self.client, name)["study"]
            self.assertEqual(status["state"], "paused")
            self.assertRegex(status["reason"], "Slurm refused the job: .*" + words)
        self.client("set", study="s", keys={"partition": "main"})
        self.client("resume", study="s")
        self.done()
        self.assertEqual(self.starts(), ["s/%d/0/1" % i for i in range(3)])

    def test_cancelled(self):
        """scancel of what waits and of what runs: it starts again, and costs nothing."""
        self.trainer(ONCE)
        self.begin()
        self.put("s", "retries: 0")
        self.put("held", "retries: 0, slurm: {options: [--hold]}")
        self.comes("go")
        self.slurm.cancel(self.job("RUNNING"))
        first = self.job("PENDING", "held")
        self.slurm.cancel(first)
        self.done()
        self.assertEqual(self.ends(), ["cancelled", "ok"])
        second = wait_for(lambda: [j for j in self.jobs("held", living=True) if j != first],
                          60, 0.1)[0]
        self.slurm.release(second)
        self.done("held")
        self.assertEqual(self.ends(0, "held"), ["lost", "ok"])
        self.assertIn("cancelled from outside before it began", self.log())

    def test_requeued(self):
        """What somebody puts back into the queue is a new attempt; the old job goes."""
        self.trainer(ONCE)
        self.begin()
        self.put("s", "retries: 0")
        self.comes("go")
        job = self.job("RUNNING")
        done = self.slurm.run("scontrol", "requeue", job, check=False)
        self.assertNotEqual(done.returncode, 0)  # we said --no-requeue
        self.slurm.run("scontrol", "update", "jobid=" + job, "requeue=1")
        self.slurm.requeue(job)
        self.done()
        self.assertEqual(self.ends(), ["cancelled", "ok"])
        wait_for(lambda: self.slurm.state(job) == "CANCELLED", 60, 0.1)
        self.assertEqual(self.starts(), ["s/0/0/0", "s/0/0/1"])

    def test_node_without_our_files(self):
        """A clear sentence, and the study pauses; once that is mended it goes on."""
        self.trainer(COMPUTES)
        self.begin()
        self.put("first")
        self.done("first")
        shutil.rmtree(self.path("state/bin"))
        self.put("s")
        status = self.finish(self.client, "s")["study"]
        self.assertEqual(status["state"], "paused")
        self.assertRegex(status["reason"], "before dpareto-shim could claim .*not found.*the node "
                         "must see %s/state under the same path" % self.folder)
        self.client("resume", study="s")
        self.done()


class Lies(SlurmCase):
    """The daemon's sbatch and squeue are not Slurm's own."""

    def one(self, command, text, parallel=1):
        self.trainer(COMPUTES)
        self.begin()
        self.lie(command, text)
        self.put("s", "retries: 0", "method: random, evaluations: %d, parallel: %d" % (
            3 * parallel, parallel))
        self.done()

    @long
    def test_late(self):
        self.one("sbatch", 'sleep 1; exec $REAL "$@"')
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])

    def test_submits_and_fails(self):
        """It is found by its name."""
        self.one("sbatch", '$REAL "$@" >/dev/null; echo "sbatch: error: Socket timed out" >&2; '
                 'exit 1')
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])

    @long
    def test_says_something_else(self):
        self.one("sbatch", '$REAL "$@" >/dev/null; echo "Submitted it"')
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])

    def test_submits_twice(self):
        """One of them claims the attempt."""
        self.one("sbatch", 'cp /dev/stdin %s; $REAL "$@" <%s >/dev/null; exec $REAL "$@" <%s' %
                 ((self.path("script.$$"),) * 3))
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])

    def test_fails_without_a_trace(self):
        """Nothing was submitted though it may have been: tried again, and costs nothing."""
        mark = self.path("failed")
        self.one("sbatch", '[ -e %s ] || { touch %s; echo "sbatch: error: Unable to contact '
                 'slurm controller" >&2; exit 1; }; exec $REAL "$@"' % (mark, mark))
        self.assertEqual(self.starts()[0], "s/0/0/1")
        self.assertEqual(self.ends(), ["lost", "ok"])

    def test_full(self):
        """Without room in the queue it waits, and says so."""
        self.trainer(COMPUTES)
        self.begin()
        self.lie("sbatch", '[ -e %s ] || { echo "sbatch: error: Batch job submission failed: Job '
                 'violates accounting/QOS policy (job submit limit, user\'s size and/or time '
                 'limits)" >&2; exit 1; }; exec $REAL "$@"' % self.path("room"))
        self.put("s", "retries: 0")
        self.wait_waiting("job submit limit")
        self.touch("room")
        self.done()
        self.assertEqual(set(self.ends()), {"lost", "ok"})

    def test_squeue(self):
        """Rubbish, errors and nothing at all tell nothing: what runs goes on."""
        self.trainer(WAITS)
        self.begin()
        self.put("s", "retries: 0", "method: random, evaluations: 3, parallel: 3")
        self.comes("go", 3)
        self.lie("squeue", "echo asked >>%s; echo 'rubbish, but|not much'" % self.path("asked"))
        self.wait_waiting("Slurm does not answer .squeue answered, but not with a list of jobs")
        self.lie("squeue", 'echo "slurm_load_jobs error: Unable to contact" >&2; exit 1')
        self.wait_waiting("Slurm does not answer .*Unable to contact")
        self.lie("squeue", "echo nothing >>%s" % self.path("asked"))
        wait_for(lambda: "nothing" in open(self.path("asked")).read(), 60, 0.1)
        self.lie("squeue", "")
        wait_for(lambda: "Slurm answers again" in self.log(), 60, 0.1)
        wait_for(lambda: not self.waiting(), 60, 0.1)
        self.touch("go")
        self.done()
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])

    def test_somebody_elses_number(self):
        """The number of an attempt is not enough to have its job cancelled."""
        self.trainer(WAITS)
        self.begin()
        other = str(self.slurm.submit("sleep 300"))
        self.lie("sbatch", '$REAL "$@" >/dev/null; echo %s' % other)
        self.put("s")
        self.comes("go")
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.assertIn(self.slurm.state(other), ("PENDING", "RUNNING"))
        self.slurm.cancel(other)

    @long
    def test_never_answers(self):
        """It is ended after 30 s; what it submitted is found, what it did not is tried again."""
        mark = self.path("failed")
        self.one("sbatch", '[ -e %s ] || { touch %s; $REAL "$@"; sleep 600; }; exec $REAL "$@"' %
                 (mark, mark))
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(3)])


class Full(SlurmCase):
    """A controller that takes four jobs and no more."""
    settings = {"MaxJobCount": 4, "MinJobAge": 2}

    @long
    def test_full(self):
        self.trainer(COMPUTES)
        self.begin()
        others = [self.slurm.submit("sleep 300", "--hold") for _ in range(3)]
        self.put("s", "retries: 0", "method: random, evaluations: 3, parallel: 3")
        self.wait_waiting("sbatch has not answered|temporarily unable")
        for job in others:
            self.slurm.cancel(job)
        self.done()
        self.assertEqual(len(self.starts()), 3)


class Preempted(SlurmCase):
    """Jobs that make room for others."""
    settings = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    partitions = LOW_AND_HIGH % "requeue"

    @long
    def test_preempted(self):
        self.trainer(ONCE)
        self.begin()
        self.put("s", "retries: 0, slurm: {partition: low}")
        self.comes("go")
        job = self.job("RUNNING")
        other = self.slurm.submit("true", "--partition=high", "--cpus-per-task=4")
        self.slurm.wait_state(other, "COMPLETED")
        self.done()
        self.assertEqual(self.ends(), ["cancelled", "ok"])
        self.assertIn(self.slurm.state(job), ("PREEMPTED", "CANCELLED"))
        self.assertEqual(self.starts(), ["s/0/0/0", "s/0/0/1"])


class PreemptedAtOnce(Preempted):
    settings = {"PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL"}
    partitions = LOW_AND_HIGH % "cancel"


if __name__ == "__main__":
    unittest.main()
