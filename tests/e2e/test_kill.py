"""test_kill.py - kill -9 is a normal event: nothing is lost, nothing is repeated."""
import json
import os
import random
import signal
import time
import unittest

from harness import Case, TOP, trainers_below, wait_for

# A trainer that takes a moment, notes each start, and computes from its seeds alone.
SLOW = """
with open(os.path.join(os.environ["DPARETO_STUDY_DIR"], "starts"), "a") as f:
    f.write("%s %s\\n" % (os.environ["DPARETO_TRIAL"], os.environ["DPARETO_ATTEMPT"]))
for run in request["runs"]:
    time.sleep(0.02)
    out({"run": run["run"], "metrics": {"a": params["x"] + run["seed"] * 1e-17,
                                        "b": 1 - params["x"], "extra": run["run"]}})
out({"done": True})
"""

# The same as a path, in a process for each run; one of them is killed the first time.
WALKING = """
if os.environ["DPARETO_TRIAL"] == "3" and os.environ["DPARETO_ATTEMPT"] == "0":
    os.kill(os.getpid(), 9)
for run in request["runs"]:
    for at in request["path"]["values"]:
        out({"run": run["run"], "at": at,
             "metrics": {"a": params["x"] + 1 / at + run["seed"] * 1e-17, "b": at}})
    time.sleep(0.02)
    out({"run": run["run"], "metrics": {"a": params["x"] + run["seed"] * 1e-17,
                                        "b": params["n"]}})
out({"done": True})
"""

# A trainer that says it is up and waits to be told to go on.
PATIENT = """
open(os.path.join(os.environ["DPARETO_STUDY_DIR"], "up"), "w").close()
while not os.path.exists(os.path.join(os.environ["DPARETO_STUDY_DIR"], "go")):
    time.sleep(0.01)
report(a=1, b=1)
"""


class Kill(Case):
    def run_study(self, kills, rng):
        """Runs the study with so many kills; returns (front object, trials, starts)."""
        d = self.daemon("--slots", "2").start()
        client = d.connect()
        self.submit(client, self.text)
        for _ in range(kills):
            time.sleep(rng.uniform(0, 0.12))
            d.end(signal.SIGKILL)
            d.start()
            if rng.random() < 0.5:  # half of them before it can answer anything
                client = d.connect()
        client = d.connect()
        self.finish(client, "s")
        front = client("front", study="s")
        trials = client("trials", study="s", full=True)["trials"]
        self.assertEqual(d.end(), 0)
        return front, trials

    def test_fifty_kills(self):
        self.trainer(SLOW)
        self.text = self.study(
            extra_trainer=", runs: 2", search="method: random, evaluations: 60, parallel: 2")
        rng = random.Random(os.environ.get("DPARETO_KILL_SEED", "1"))
        whole = self.run_study(0, rng)
        starts = self.path("starts")
        self.assertEqual(sorted(set(open(starts))), sorted(open(starts)))
        os.remove(starts)
        os.rename(self.path("state"), self.path("whole"))
        broken = self.run_study(50, rng)

        self.assertEqual(json.dumps(whole[0]), json.dumps(broken[0]))
        self.assertEqual(len(broken[1]), 60)
        for a, b in zip(whole[1], broken[1]):
            for key in ("trial", "state", "parameters", "objectives", "runs"):
                self.assertEqual(a[key], b[key], "trial %d" % a["trial"])
            # however often the daemon died, exactly one attempt made the result
            self.assertEqual([x["end"] for x in b["attempts"]].count("ok"), 1)
            self.assertEqual({x["end"] for x in b["attempts"]} - {"ok", "lost"}, set())
        # no attempt ran twice, and no trial ran again after it had a result
        lines = open(starts).read().split("\n")[:-1]
        self.assertEqual(len(lines), len(set(lines)))
        self.assertEqual(len(lines), 60)
        wait_for(lambda: not trainers_below(self.folder), 10)

    def test_fifty_kills_of_paths(self):
        """The same trials, waypoints and front, whatever was killed."""
        self.trainer(WALKING)
        self.text = self.study(
            extra_trainer=", runs: 2, runs_per_process: 1, path: {parameter: n, points: 4}",
            parameters="x: {type: float, range: [0, 1]}\n  n: {type: int, range: [1, 40]}",
            objectives="a: {metric: a}\n  b: {metric: b}",
            search="method: random, evaluations: 30, parallel: 2")
        rng = random.Random(os.environ.get("DPARETO_KILL_SEED", "2"))
        outcomes = []
        for kills in (0, 50):
            front, _ = self.run_study(kills, rng)
            d = self.daemon("--slots", "2").start()
            client = d.connect()
            trials = [client("trial", study="s", trial=i)["trial"] for i in range(30)]
            self.assertEqual(d.end(), 0)
            ends = [x["end"] for x in trials[3]["attempts"]]
            self.assertEqual((ends.count("ok"), "signal" in ends), (2, True))
            outcomes.append([front] + [{key: t[key] for key in (
                "trial", "state", "parameters", "objectives", "runs", "waypoints")}
                for t in trials])
            os.rename(self.path("state"), self.path("state-%d" % kills))
        self.assertEqual(json.dumps(outcomes[0]), json.dumps(outcomes[1]))
        self.assertGreater(sum(not w["dropped"] for t in outcomes[0][1:]
                               for w in t["waypoints"]), 60)

    def test_adopts_a_running_trainer(self):
        self.trainer(PATIENT)
        d = self.daemon().start()
        self.submit(d.connect(), self.study(search="method: random, evaluations: 1"))
        wait_for(lambda: os.path.exists(self.path("up")))
        d.end(signal.SIGKILL)
        client = d.start().connect()
        self.assertEqual(client("status", study="s")["study"]["running"], 1)
        self.assertEqual(len(trainers_below(self.folder)), 2)  # shim and trainer
        open(self.path("go"), "w").close()
        self.finish(client, "s")
        attempts = client("trial", study="s", trial=0)["trial"]["attempts"]
        self.assertEqual([a["end"] for a in attempts], ["ok"])
        self.assertIn("adopted", open(d.log).read())

    def test_collects_what_ended_meanwhile(self):
        self.trainer(PATIENT)
        d = self.daemon().start()
        self.submit(d.connect(), self.study(search="method: random, evaluations: 1"))
        wait_for(lambda: os.path.exists(self.path("up")))
        d.end(signal.SIGKILL)
        open(self.path("go"), "w").close()
        wait_for(lambda: not trainers_below(self.folder))
        client = d.start().connect()
        self.finish(client, "s")
        attempts = client("trial", study="s", trial=0)["trial"]["attempts"]
        self.assertEqual([a["end"] for a in attempts], ["ok"])

    def test_a_killed_shim_is_lost_and_retried(self):
        self.trainer("""
if os.environ["DPARETO_ATTEMPT"] == "0":
    open(os.path.join(os.environ["DPARETO_STUDY_DIR"], "up"), "w").close()
    time.sleep(60)
report(a=1, b=1)
""")
        d = self.daemon().start()
        client = d.connect()
        self.submit(client, self.study(search="method: random, evaluations: 1"))
        wait_for(lambda: os.path.exists(self.path("up")))
        first = trainers_below(self.folder)
        for pid in first:
            with open("/proc/%d/comm" % pid) as f:
                if f.read().startswith("dpareto-shim"):
                    os.kill(pid, signal.SIGKILL)
        self.finish(client, "s")
        attempts = client("trial", study="s", trial=0)["trial"]["attempts"]
        self.assertEqual([a["end"] for a in attempts], ["lost", "ok"])
        wait_for(lambda: not trainers_below(self.folder), 10)  # the orphan is gone too


if __name__ == "__main__":
    unittest.main()
