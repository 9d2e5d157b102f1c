"""test_stopped.py - a shim that its trainer has stopped keeps no limits: the daemon continues
it, and kills it where that does not help. Every end is reached, and it is the right one."""
import json
import os
import signal
import unittest

from harness import Case, Refused, trainers_below, unhurried, wait_for

STOPS = """
if request["attempt"] == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    gate("never")
report(a=1, b=1)
"""
# Ignores TERM, and stops its shim again and again, so that it rarely runs.
STOPS_AGAIN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
shim = os.getppid()
os.kill(shim, signal.SIGSTOP)
open(beside("at-%d" % request["trial"]), "w").close()
while True:
    os.kill(shim, signal.SIGSTOP)
"""
# Holds its shim as a debugger does, which no signal but KILL ends.
HOLDS = """
import ctypes
signal.signal(signal.SIGTERM, signal.SIG_IGN)
libc, shim = ctypes.CDLL(None), os.getppid()
SEIZE, INTERRUPT = 0x4206, 0x4207
held = libc.ptrace(SEIZE, shim, None, None) == 0 and libc.ptrace(INTERRUPT, shim, None, None) == 0
note("held" if held else "refused")
open(beside("at-%d" % request["trial"]), "w").close()
time.sleep(600)
"""


class Stopped(Case):
    def tearDown(self):
        self.client.close()
        self.tidy()

    def begin(self, text, *options, evaluations=1, more=""):
        self.trainer(text)
        self.d = self.daemon(*options).start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(
            extra_trainer=more, search="method: random, evaluations: %d, parallel: %d" %
            (evaluations, evaluations)))

    def restart(self):
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()

    def attempts(self, trial=0):
        try:
            return self.client("trial", study="s", trial=trial)["trial"]["attempts"]
        except Refused:
            return []  # it is not proposed yet

    def ends(self, trial=0):
        return [a["end"] for a in self.attempts(trial)]

    def ended(self, *ends, trial=0):
        wait_for(lambda: self.ends(trial) == list(ends))

    def stopped(self):
        wait_for(lambda: self.has("at-never"))

    def test_timeout(self):
        self.begin(STOPS, more=", timeout: %gs, grace: 100ms" % unhurried(1))
        self.ended("timeout")
        self.assertEqual(self.finish(self.client, "s")["study"]["failed"], 1)

    def test_cancel(self):
        self.begin(STOPS)
        self.stopped()
        self.client("cancel", study="s", trial=0)
        self.ended("cancelled")

    def test_stop_now(self):
        self.begin(STOPS)
        self.stopped()
        self.client("stop", study="s", now=True)
        self.ended("cancelled")

    def test_the_daemon_stops(self):
        """With its trainers; the trial costs nothing and starts again."""
        self.begin(STOPS, "--stop-policy", "kill")
        self.stopped()
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        self.assertEqual(trainers_below(self.folder), [])
        self.client = self.d.start().connect()
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 1)
        self.assertEqual(self.ends(), ["cancelled", "ok"])

    def test_a_stopped_shim_is_adopted(self):
        """It goes on, and what its trainer does is seen."""
        self.begin("os.kill(os.getppid(), signal.SIGSTOP)\ngate('go')\nreport(a=1, b=1)\n")
        wait_for(lambda: self.has("at-go"))
        self.restart()
        self.touch("go")
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 1)
        self.assertEqual(self.ends(), ["ok"])

    def test_a_trainer_that_stops_itself(self):
        """Its whole group, and again when it is continued."""
        self.begin("""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCONT, lambda *a: os.kill(0, signal.SIGSTOP))
open(beside("at-never"), "w").close()
os.kill(0, signal.SIGSTOP)
time.sleep(600)
""", more=", grace: 100ms")
        self.stopped()
        self.client("cancel", study="s", trial=0)
        self.ended("cancelled")

    def check_both(self, text):
        """One trial is cancelled, one has its timeout; the daemon is killed on the way."""
        self.begin(text, "--slots", "2", evaluations=2,
                   more=", timeout: %gs, grace: 100ms" % unhurried(1))
        wait_for(lambda: self.has("at-0") and self.has("at-1"))
        if "refused" in self.notes():
            self.end_all()
            self.skipTest("a process may not trace another here")
        self.client("cancel", study="s", trial=0)
        self.restart()
        wait_for(lambda: self.ends(0) == ["cancelled"] and self.ends(1) == ["timeout"])
        self.assertEqual(trainers_below(self.folder), [])

    def test_a_shim_that_is_stopped_again_and_again(self):
        self.check_both(STOPS_AGAIN)

    def test_a_shim_that_cannot_run_at_all(self):
        """It is killed, and its tree with it."""
        self.check_both(HOLDS)
        with open(self.d.log) as f:
            self.assertEqual(f.read().count("did not end its trainer in time and is killed"), 2)

    def test_killed_between_record_and_end(self):
        """A daemon that has killed the shim, and is killed before it journals that."""
        self.begin(STOPS, more=", retries: 0")
        self.stopped()
        claims = self.path("state/studies/s/claims/")
        with open(claims + "0.0.claim") as f:
            shim, _, _, token = f.read().split()[:4]
        self.d.end(signal.SIGKILL)
        with open(claims + "0.0.killed", "w") as f:
            json.dump({"timeout": True, "signal": 9, "start": 1.0, "end": 3.5,
                       "left_behind": True, "token": token}, f, separators=(",", ":"))
        os.kill(int(shim), signal.SIGKILL)
        self.client = self.d.start().connect()
        self.ended("timeout")


if __name__ == "__main__":
    unittest.main()
