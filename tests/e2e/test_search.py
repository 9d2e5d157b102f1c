"""test_search.py - the Gaussian-process search through the real daemon: better than
random, the same however it is interrupted, and steerable."""
import json
import os
import random
import signal
import time
import unittest

from harness import Case, Refused, wait_for

SVT = """study: %(name)s
seed: 3
data: public
trainer: {command: [dpareto-train, svt], runs: 20}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1", transform: logit}
anti_ideal: {epsilon: 10, error: 1}
search: {method: %(method)s, evaluations: %(n)d, parallel: %(parallel)d%(more)s}
"""
PEER = "report(a=params['x'] ** 2 + params['y'], b=(1 - params['x']) ** 2 + params['y'])\n"
PLANE = "x: {type: float, range: [0, 1]}\n  y: {type: float, range: [0, 1]}"


def svt(name="s", method="dpareto", n=36, parallel=1, more=", initial: 12"):
    return SVT % {"name": name, "method": method, "n": n, "parallel": parallel, "more": more}


class Search(Case):
    def begin(self, *options):
        self.d = self.daemon("--slots", "4", *options).start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def run_study(self, text, name="s"):
        self.submit(self.client, text)
        self.finish(self.client, name)
        return self.client("front", study=name)

    def trials(self, name="s"):
        return self.client.every("trials", study=name, full=True)

    def test_better_than_random(self):
        self.begin()
        found = self.run_study(svt("d", n=60), "d")
        self.assertEqual(found["state"], "finished")
        chance = self.run_study(svt("r", "random", 60, more=""), "r")["hypervolume"]
        self.assertGreater(self.client("front", study="d")["hypervolume"], 1.03 * chance)
        sources = [t["source"] for t in self.trials("d")]
        self.assertEqual(len(sources), 60)
        self.assertNotEqual(sources[0], sources[-1])  # a design first, then the model

    def test_killed_and_resumed_is_the_same(self):
        self.begin()
        whole = json.dumps(self.run_study(svt()))
        self.client("delete", study="s")
        self.submit(self.client, svt())
        rng = random.Random(5)
        for _ in range(15):
            time.sleep(rng.uniform(0, 0.05))
            self.d.end(signal.SIGKILL)
            self.client = self.d.start().connect()
        self.finish(self.client, "s")
        self.assertEqual(json.dumps(self.client("front", study="s")), whole)

    def test_deterministic_order_repeats_in_parallel(self):
        self.begin()
        text = svt(parallel=4, more=", initial: 12, order: deterministic")
        first = json.dumps(self.run_study(text))
        points = [t["parameters"] for t in self.trials()]
        self.client("delete", study="s")
        self.assertEqual(json.dumps(self.run_study(text)), first)
        self.assertEqual([t["parameters"] for t in self.trials()], points)

    def test_no_point_twice(self):
        self.begin()
        self.run_study(svt(n=40, parallel=4))
        points = [json.dumps(t["parameters"]) for t in self.trials()]
        self.assertEqual(len(points), len(set(points)))

    def test_a_small_space_ends_early(self):
        self.trainer(PEER.replace("params['y']", "0"))
        self.begin()
        text = self.study(parameters="x: {type: int, range: [0, 4]}",
                          search="method: dpareto, evaluations: 20, initial: 3")
        front = self.run_study(text)
        self.assertEqual((front["state"], front["evaluations"]), ("finished", 5))
        self.assertIn("5 points", front["reason"])

    def test_propose_shows_and_runs_nothing(self):
        self.begin()
        self.run_study(svt(n=20))
        seen = self.client("propose", study="s")
        self.assertIsNone(seen["cost"])  # nothing is counted
        self.assertEqual(seen["trial"], 20)
        self.assertEqual(set(seen["predicted"]), {"epsilon", "error"})
        for p in seen["predicted"].values():
            self.assertLessEqual(p["low"], p["value"])
            self.assertLessEqual(p["value"], p["high"])
        self.assertEqual(self.client("propose", study="s"), seen)
        self.assertEqual(len(self.trials()), 20)
        self.client("set", study="s", evaluations=21)
        self.finish(self.client, "s")
        self.assertEqual(self.trials()[20]["parameters"], seen["parameters"])

    def test_enqueued_points_come_next(self):
        self.trainer(PEER)
        self.begin()
        self.submit(self.client, self.study(parameters=PLANE, search="method: dpareto, "
                                            "evaluations: 8, initial: 4"))
        self.client("enqueue", study="s", parameters={"x": 0.25, "y": 0})
        self.finish(self.client, "s")
        mine = [t for t in self.trials() if t["source"] == "enqueued"]
        self.assertEqual([t["parameters"] for t in mine], [{"x": 0.25, "y": 0}])
        for bad, word in (({"x": 2, "y": 0}, "from 0 to 1"), ({"x": 0.5}, "'y' is missing"),
                          ({"x": 0.5, "y": 0, "yy": 1}, "did you mean 'y'")):
            with self.assertRaises(Refused) as refused:
                self.client("enqueue", study="s", parameters=bad)
            self.assertIn(word, str(refused.exception))

    def test_starts_from_another_study(self):
        self.begin()
        self.run_study(svt("old", "random", 30, more=""), "old")
        text = svt("new", n=6, more=", initial: 1, initial_from: old")
        self.submit(self.client, text)
        self.finish(self.client, "new")
        self.assertEqual(len(self.trials("new")), 6)
        self.assertIsNotNone(self.client("propose", study="new")["predicted"])
        with self.assertRaises(Refused) as refused:
            self.submit(self.client, svt("newer", more=", initial_from: none"))
        self.assertIn("initial_from", str(refused.exception))
        self.client("delete", study="old")  # what was taken over stays
        before = self.client("propose", study="new")
        self.d.end()
        self.client = self.d.start().connect()
        self.assertEqual(self.client("propose", study="new"), before)

    def test_constraints_goals_and_three_objectives(self):
        self.trainer("x, y = params['x'], params['y']\n"
                     "report(a=x, b=1 - x + y, c=y, seconds=10 * x)\n")
        self.begin()
        text = self.study(
            parameters=PLANE, search="method: dpareto, evaluations: 24, initial: 8",
            objectives="a: {metric: a}\n  b: {metric: b}\n  c: {metric: c, goal: maximize}",
            more='constraints: {seconds: "<= 5"}\n')
        front = self.run_study(text.replace("{a: 2, b: 2}", "{a: 2, b: 3, c: -1}"))
        self.assertEqual(front["evaluations"], 24)
        self.assertTrue(front["front"])
        for point in front["front"]:
            self.assertLessEqual(point["parameters"]["x"], 0.5)

    def test_all_failed_or_diverged_still_proposes(self):
        self.trainer("out({'run': 0, 'metrics': {'a': 'nan', 'b': 1}})\n")
        self.begin()
        self.submit(self.client, self.study(
            parameters=PLANE, search="method: dpareto, evaluations: 10, initial: 3"))
        self.finish(self.client, "s")
        self.assertEqual([t["state"] for t in self.trials()], ["diverged"] * 10)

    def test_delete_while_choosing(self):
        self.begin()
        self.submit(self.client, svt(n=300, parallel=4))
        wait_for(lambda: self.client("status", study="s")["study"]["ended"] > 40)
        self.assertEqual(self.client("delete", study="s", now=True), {"deleted": "s"})


if __name__ == "__main__":
    unittest.main()
