"""test_slots.py - DPARETO_SLOT: no two trainers that run have the same one, whatever way trainers
and daemons end; slot_env, the machine's values for each slot."""
import json
import os
import random
import signal
import time
import unittest

from harness import Case, trainers_below, wait_for

# Locks the slot's file for as long as anything of it runs: a child in a session of its own has
# the lock, too, and outlives a trainer that is killed.
LOCKING = """
import fcntl, subprocess
slot = os.environ["DPARETO_SLOT"]
lock = open(beside("slot-" + slot), "a")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    note("shared " + slot)
note("slot %s %s" % (slot, os.environ.get("GPU")))
if request["trial"] % 2:
    subprocess.Popen(["sleep", "100"], pass_fds=[lock.fileno()], start_new_session=True)
time.sleep(params["x"])
report(a=params["x"], b=1)
"""


class Slots(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, *options, env=None):
        self.d = self.daemon(*options, env=env).start()
        self.client = self.d.connect()
        return self.client

    def kill_a_shim(self, rng):
        """Any process of any trainer, often a shim."""
        found = trainers_below(self.folder)
        if found:
            try:
                os.kill(rng.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself

    def configure(self, slots):
        self.write("c.yaml", "slots: %d\nslot_env: {GPU: [g0, g1, g2, g3]}\n" % slots)

    def storm(self, rng):
        what = rng.random()
        if what < 0.35:
            self.d.end(signal.SIGKILL)
            self.d.start()
            if rng.random() < 0.7:  # else it is killed before it has begun
                self.d.connect().close()
        elif what < 0.75:
            self.kill_a_shim(rng)
        else:
            self.configure(rng.choice((1, 2, 3, 4)))
            self.d.process.send_signal(signal.SIGHUP)
        time.sleep(rng.uniform(0, 0.3))

    def test_a_storm(self):
        rng = random.Random(os.environ.get("DPARETO_KILL_SEED", "1"))
        self.trainer(LOCKING)
        self.configure(4)
        client = self.begin("--config", self.path("c.yaml"))
        for name in ("s", "t"):
            self.submit(client, self.study(name, extra_trainer=", retries: 1000, max_failures: 1000",
                                           search="method: random, evaluations: 20, parallel: 4"))
        for _ in range(40):
            self.storm(rng)
        self.configure(4)
        client = self.d.connect()
        client("reload")
        for name in ("s", "t"):
            self.assertEqual(self.finish(client, name)["study"]["ok"], 20)
        notes = self.notes()
        self.assertEqual([n for n in notes if n.startswith("shared")], [])
        self.assertEqual({n for n in notes}, {"slot %d g%d" % (i, i) for i in range(4)})

    def test_shown_and_kept(self):
        """The lowest that is free; the same after a restart of the daemon."""
        self.trainer("note(os.environ['DPARETO_SLOT'])\ngate('go%d' % request['trial'])\nreport(a=1, b=1)")
        client = self.begin("--slots", "2")
        self.submit(client, self.study(search="method: random, evaluations: 3, parallel: 2"))
        wait_for(lambda: self.has("at-go0") and self.has("at-go1"))
        slots = lambda: {r["trial"]: r["slot"] for r in self.client("status", study="s")["running"]}
        self.assertEqual(slots(), {0: 0, 1: 1})
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()
        wait_for(lambda: slots() == {0: 0, 1: 1})
        self.touch("go0")
        wait_for(lambda: self.has("at-go2"))
        self.assertEqual(slots(), {1: 1, 2: 0})
        self.touch("go1")
        self.touch("go2")
        self.finish(self.client, "s")
        self.assertEqual(sorted(self.notes()), ["0", "0", "1"])
        for trial, slot in ((0, 0), (1, 1), (2, 0)):
            attempts = self.client("trial", study="s", trial=trial)["trial"]["attempts"]
            self.assertEqual([a["slot"] for a in attempts], [slot])

    def test_who_wins(self):
        """slot_env over the study's env, that over the daemon's; a reload changes later starts."""
        self.trainer("note(' '.join(os.environ[k] for k in ('GPU', 'OWN', 'REST', 'OMP_NUM_THREADS')))\n"
                     "gate('go%d' % request['trial'])\nreport(a=1, b=1)")
        text = "slots: 1\nslot_env: {GPU: [%s], OMP_NUM_THREADS: [3]}\n"
        self.write("c.yaml", text % "new")
        client = self.begin("--config", self.path("c.yaml"),
                            env={"GPU": "daemon", "OWN": "daemon", "REST": "daemon"})
        self.submit(client, self.study(extra_trainer=", env: {GPU: study, OWN: study}",
                                       search="method: random, evaluations: 2"))
        wait_for(lambda: self.has("at-go0"))
        self.write("c.yaml", text % "newer")
        self.assertEqual(client("reload")["changed"], ["slot_env"])
        self.touch("go0")
        self.touch("go1")
        self.finish(client, "s")
        self.assertEqual(self.notes(), ["new study daemon 3", "newer study daemon 3"])

    def test_too_few_values(self):
        self.write("c.yaml", "slots: 3\nslot_env: {GPU: [0, 1]}\n")
        code, said = self.daemon("--config", self.path("c.yaml")).start().ends()
        self.assertEqual(code, 1)
        self.assertIn("slot_env.GPU has 2 values for 3 slots", said)
        self.write("c.yaml", "slots: 2\nslot_env: {GPU: [0, 1]}\n")
        client = self.begin("--config", self.path("c.yaml"))
        self.write("c.yaml", "slots: 3\nslot_env: {GPU: [0, 1]}\n")
        done = self.ctl("--socket", self.d.socket, "daemon", "reload", "-o", "json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 values for 3 slots", json.loads(done.stdout)["error"]["message"])
        self.assertEqual(client("hello")["slots"], 2)

    def test_run(self):
        """`dparetoctl run` has slots, too, and takes a configuration file."""
        self.trainer("note(os.environ['DPARETO_SLOT'] + ' ' + os.environ.get('GPU', 'none'))\nreport(a=1, b=1)")
        study = self.write("s.yaml", self.study(search="method: random, evaluations: 2"))
        self.write("c.yaml", "slots: 1\nslot_env: {GPU: [x]}\n")
        for more in ([], ["--config", self.path("c.yaml")]):
            done = self.ctl("run", study, "--state", self.path("run%d" % len(more)), *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.notes(), ["0 none"] * 2 + ["0 x"] * 2)


if __name__ == "__main__":
    unittest.main()
