"""test_slurm_outside.py - what people and Slurm do to jobs of ours: nothing runs twice, nothing is
lost, it costs a trial nothing, and status names the reason."""
import shutil
import unittest

import slurm
from slurm_case import COMPUTES, STARTS, SlurmCase, long, wait_for

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


@long
class Full(SlurmCase):
    """A controller that takes four jobs and no more."""
    settings = {"MaxJobCount": 4, "MinJobAge": 2}

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


@long
class Preempted(SlurmCase):
    """Jobs that make room for others."""
    settings = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    partitions = LOW_AND_HIGH % "requeue"

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


@long
class PreemptedAtOnce(Preempted):
    settings = {"PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL"}
    partitions = LOW_AND_HIGH % "cancel"


if __name__ == "__main__":
    unittest.main()
