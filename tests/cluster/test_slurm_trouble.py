"""test_slurm_trouble.py - what dies: the daemon, the controller, nodes, steps, shims. All jobs are
found again, none runs twice, none is lost, and of two that live on one is read."""
import os
import random
import shutil
import signal
import time
import unittest

from slurm_case import COMPUTES, STARTS, WAITS, SlurmCase, long, trainers_below, wait_for

SIX = "method: random, evaluations: 6, parallel: 6"
# Waits in its first attempt only.
FIRST_WAITS = STARTS + """
if request["attempt"] == 0:
    stop("go")
note("result of %d" % request["attempt"])
report(a=request["attempt"], b=1)
out({"done": True})
note("wrote %d" % request["attempt"])
"""


class Killed(SlurmCase):
    def found_again(self, number):
        """After kill -9 of the daemon: all that runs is adopted."""
        self.d.end(signal.SIGKILL)
        self.go()
        wait_for(lambda: self.log().count("still runs (Slurm job") >= number, 60, 0.1)

    def test_daemon(self):
        """What runs, what waits and what has ended meanwhile."""
        self.trainer(WAITS)
        self.begin("--slots", "1")
        self.put("s", "retries: 0", SIX)
        self.put("q", "retries: 0, slurm: {options: [--hold]}")
        self.comes("go", 6)
        held = self.job("PENDING", "q")
        self.found_again(7)
        self.d.end(signal.SIGKILL)
        self.touch("go")
        self.slurm.release(held)
        wait_for(lambda: not self.jobs(living=True), 60, 0.1)
        self.go()
        self.done("s")
        self.done("q")
        self.assertEqual(self.starts(), ["q/0/0/0"] + ["s/%d/0/0" % i for i in range(6)])

    @long
    def test_many_kills(self):
        """At any moment: every trial runs once, and what it reports is read."""
        self.trainer(STARTS + "time.sleep(0.2)" + COMPUTES[len(STARTS):])
        self.begin()
        self.put("s", "retries: 0", "method: random, evaluations: 30, parallel: 6")
        rng = random.Random(os.environ.get("DPARETO_KILL_SEED", "3"))
        for _ in range(15):
            time.sleep(rng.uniform(0, 1.2))  # any moment will do
            self.d.end(signal.SIGKILL)
            self.go()
        self.done()
        for trial in range(30):
            self.assertEqual(self.ends(trial).count("ok"), 1)
            self.assertLessEqual(set(self.ends(trial)), {"ok", "lost"})
        self.assertEqual(len(self.starts()), 30)

    def test_daemon_while_it_submits(self):
        """sbatch goes on alone, or is ended with its daemon: it is sought by its name, and
        starts once."""
        self.trainer(COMPUTES)
        self.begin()
        self.lie("sbatch", 'echo >>%s; sleep 2; exec $REAL "$@"' % self.path("asked"))
        self.put("s", "retries: 0", "method: random, evaluations: 4, parallel: 2")
        wait_for(lambda: self.has("asked"))
        self.d.end(signal.SIGKILL)
        self.go()
        wait_for(lambda: len(open(self.path("asked")).read()) > 2, 60, 0.1)
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        self.lie("sbatch", "")
        self.go()
        self.done()
        for trial in range(4):
            self.assertEqual(self.ends(trial).count("ok"), 1)
        self.assertEqual(len({s.rsplit("/", 1)[0] for s in self.starts()}), len(self.starts()))

    def test_journal_of_yesterday(self):
        """Numbers of attempts are given again: what runs under them ends first."""
        self.trainer(WAITS)
        self.begin()
        self.put("s", search="method: random, evaluations: 1")
        self.put("s2", search="method: random, evaluations: 2", trainer="")
        self.comes("go", 2)
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        shutil.copytree(self.path("state/journal"), self.path("yesterday"))
        self.go()
        self.client("set", study="s2", parallel=2)
        self.comes("go", 3)
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        shutil.rmtree(self.path("state/journal"))
        os.rename(self.path("yesterday"), self.path("state/journal"))
        self.go()
        self.client("set", study="s2", parallel=2)
        self.comes("go", 4)
        running = [j["name"] for j in self.jobs(living=True).values()
                   if j["state"] == "RUNNING"]
        self.assertEqual(len(running), len(set(running)), running)
        self.touch("go")
        self.done("s")
        self.done("s2")
        self.assertEqual(len(set(self.notes())), 4)  # the lost one ran again, and alone

    @long
    def test_controller(self):
        """kill -9 of slurmctld: nothing is counted as failed."""
        self.trainer(WAITS)
        self.begin()
        self.put("s", "retries: 0", SIX)
        self.comes("go", 6)
        time.sleep(6)  # until the controller has saved what it knows
        self.slurm.restart("slurmctld")
        self.slurm.wait_answer()
        self.touch("go")
        self.done()
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(6)])

    @long
    def test_shim(self):
        """A job whose shim is killed is lost, and tried again: its trainer ends with it."""
        self.trainer(FIRST_WAITS)
        self.begin()
        self.put()
        self.comes("go")
        job = self.job("RUNNING")
        shims = [p for p in self.slurm.processes(job) if "--elsewhere" in command(p)]
        os.kill(shims[0], signal.SIGKILL)
        self.done()
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual(self.starts(), ["s/0/0/0", "s/0/0/1"])
        self.assertNotIn("result of 0", self.notes())

    @long
    def test_stop_while_slurm_is_silent(self):
        """A daemon that cannot end its jobs leaves them after a while."""
        self.trainer(WAITS)
        self.begin("--stop-policy", "kill")
        self.put()
        self.comes("go")
        self.lie("squeue", "exit 1")
        self.lie("scancel", "exit 1")
        self.wait_waiting("Slurm does not answer")
        self.client.close()
        self.client = None
        self.assertEqual(self.d.end(), 0)
        self.assertIn("left to the next daemon", self.log())
        self.lie("squeue", "")
        self.touch("go")
        self.go()
        self.done()
        self.assertEqual(self.starts(), ["s/0/0/0"])

    @long
    def test_controller_is_away(self):
        """For 20 s, while jobs run and are to be submitted."""
        self.trainer(WAITS)
        self.begin()
        self.put("s", "retries: 0", SIX)
        self.comes("go", 6)
        self.slurm.stop_controller()
        away = time.monotonic()
        self.put("t", "retries: 0", SIX)
        self.wait_waiting("Slurm does not answer")
        self.wait_waiting("sbatch|Slurm does not answer", "t")
        self.touch("go")
        wait_for(lambda: time.monotonic() > away + 20, 60, 0.1)
        self.slurm.start_controller()
        self.done("s")
        self.done("t")
        self.assertEqual([s for s in self.starts() if s[0] == "s"],
                         ["s/%d/0/0" % i for i in range(6)])
        self.assertEqual(len(self.starts()), 12)
        for trial in range(6):
            self.assertLessEqual(set(self.ends(trial, "t")), {"lost", "ok"})

    @long
    def test_lost_number(self):
        """A controller with its state of before: an id that sbatch gave is not known."""
        self.trainer(WAITS)
        self.begin()
        self.slurm.stop_controller()
        shutil.copytree(self.slurm.path("state"), self.slurm.path("before"))
        self.slurm.start_controller()
        self.put("s", "retries: 0, slurm: {options: [--hold]}")
        lost = self.job("PENDING")
        self.slurm.kill("slurmctld")
        shutil.rmtree(self.slurm.path("state"))
        os.rename(self.slurm.path("before"), self.slurm.path("state"))
        self.slurm.start_controller()
        # its number goes to somebody else
        other = self.slurm.submit("sleep 300")
        self.assertEqual(int(lost), other)
        wait_for(lambda: self.jobs(living=True), 60, 0.1)
        self.slurm.release(self.job("PENDING"))
        self.touch("go")
        self.done()
        self.assertEqual(self.starts(), ["s/0/0/1"])
        self.assertEqual(self.slurm.state(other), "RUNNING")
        self.slurm.cancel(other)

    @long
    def test_step(self):
        """A step daemon that is killed: its shim and trainer live on, and are read once."""
        self.trainer(FIRST_WAITS)
        self.begin()
        self.put()
        self.comes("go")
        job = self.job("RUNNING")
        left = self.slurm.processes(job)
        os.kill(self.slurm.step_daemons(job)[0], signal.SIGKILL)
        wait_for(lambda: len(self.ends()) == 2, 120, 0.2)
        self.touch("go")
        self.done()
        self.assertEqual(self.ends(), ["lost", "ok"])
        wait_for(lambda: not any(os.path.exists("/proc/%d" % p) for p in left), 60, 0.1)


@long
class Nodes(SlurmCase):
    settings = {"SlurmdTimeout": 5}

    def test_split_brain(self):
        """Slurm gave the job up, its trainer writes to the end: what it wrote is not read."""
        self.trainer(FIRST_WAITS)
        self.begin()
        self.put()
        self.comes("go")
        job = self.job("RUNNING")
        node = self.slurm.node_of(job)
        self.slurm.kill(node)
        wait_for(lambda: self.slurm.state(job) == "NODE_FAIL", 120, 0.5)
        self.done()  # the second attempt, on another node, while the first still runs
        self.assertTrue(trainers_below(self.folder))
        self.touch("go")
        wait_for(lambda: "wrote 0" in self.notes(), 60, 0.1)
        wait_for(lambda: not trainers_below(self.folder), 60, 0.1)
        self.assertTrue(self.has("state/studies/s/trials/0/0/exit.json"))
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        self.go()  # not by a daemon that comes later, either
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertIn("its node failed", self.attempts()[0]["message"])
        trial = self.client("trial", study="s", trial=0)["trial"]
        self.assertEqual(trial["objectives"]["a"], 1)
        self.assertEqual(self.starts(), ["s/0/0/0", "s/0/0/1"])
        self.slurm.start_part(node)
        self.slurm.wait_idle()

    def test_slurmd_restarts(self):
        """A slurmd that comes back in time loses nothing."""
        self.trainer(WAITS)
        self.begin()
        self.put("s", "retries: 0", SIX)
        self.comes("go", 6)
        for node in ("n1", "n2", "n3"):
            self.slurm.restart(node)
        self.touch("go")
        self.done()
        self.assertEqual(self.starts(), ["s/%d/0/0" % i for i in range(6)])
        self.slurm.wait_idle()


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid) as f:
            return f.read()
    except OSError:
        return ""


if __name__ == "__main__":
    unittest.main()
