"""test_slurm_lies.py - Slurm's commands when they are late, fail, or do not say the truth: nothing
runs twice, nothing is lost, and status names the reason."""
import unittest

from slurm_case import COMPUTES, WAITS, SlurmCase, long, wait_for


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


if __name__ == "__main__":
    unittest.main()
