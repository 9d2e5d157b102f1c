"""test_front.py - search.front: which values choose a study's front, wherever it is shown."""
import csv
import io
import json
import math
import os
import random
import signal
import time
import unittest

from harness import Case, volume

NOISY = """study: %(name)s
seed: 5
data: public
trainer: {command: [dpareto-train, svt], runs: %(runs)d}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1"}
anti_ideal: {epsilon: 10, error: 1}
search: {evaluations: %(n)d, %(search)s}
"""
# No noise at all, two objectives against each other.
EXACT = "report(a=params['x'] ** 2 + params['y'], b=(1 - params['x']) ** 2 + params['y'])\n"
PLANE = "x: {type: float, range: [0, 1]}\n  y: {type: float, range: [0, 1]}"


def noisy(name="s", runs=1, n=18, search="method: dpareto, initial: 8"):
    return NOISY % {"name": name, "runs": runs, "n": n, "search": search}


def beaten(p, others):
    """Is p beaten by one of the others, all to be minimised?"""
    return any(q != p and all(a <= b for a, b in zip(q, p)) for q in others)


class Front(Case):
    def begin(self):
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def run_study(self, text, name="s", **fields):
        self.submit(self.client, text)
        self.finish(self.client, name)
        return self.client("front", study=name, **fields)

    def run_json(self, text, state):
        """What `dparetoctl run -o json` prints; it ends with 0."""
        done = self.ctl("run", self.write("run.yaml", text), "--state", self.path(state), "-q",
                        "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def cli(self, *arguments, code=0):
        done = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def check(self, front, trials):
        """A front of the models' values of an epsilon and a metric: shape, order, dominance
        and volume, computed here."""
        ref = list(front["anti_ideal"].values())
        names = list(front["anti_ideal"])
        known = {t["trial"]: t for t in trials}
        points = [tuple(p["denoised"].values()) for p in front["front"]]
        self.assertEqual(list(front), ["version", "study", "state", "reason", "evaluations",
                                       "failed", "diverged", "hypervolume",
                                       "hypervolume_denoised", "anti_ideal", "front"])
        for p in front["front"]:
            self.assertEqual(list(p), ["trial", "at", "parameters", "objectives", "spread",
                                       "remeasured", "denoised", "denoised_low",
                                       "denoised_high"])
            self.assertEqual(list(p["denoised"]), names)
            self.assertEqual(p["denoised"]["epsilon"], p["objectives"]["epsilon"])
            self.assertEqual(p["objectives"], known[p["trial"]]["objectives"])
            self.assertEqual(p["parameters"], known[p["trial"]]["parameters"])
        self.assertFalse([p for p in points if beaten(p, points)])
        order = [(p["denoised"]["epsilon"], p["trial"]) for p in front["front"]]
        self.assertEqual(order, sorted(order))
        self.assertTrue(math.isclose(front["hypervolume_denoised"], volume(points, ref),
                                     rel_tol=1e-12))
        observed = [tuple(t["objectives"].values()) for t in trials]
        self.assertTrue(math.isclose(front["hypervolume"], volume(observed, ref),
                                     rel_tol=1e-12))

    def test_models_choose_and_equal_runs_print_equal_bytes(self):
        for runs in (1, 5):
            with self.subTest(runs=runs):
                text = noisy(runs=runs)
                first = self.run_json(text, "one%d" % runs)
                front = json.loads(first)
                self.assertEqual(self.run_json(text, "two%d" % runs), first)
                folder = self.path("one%d/studies/s/report/" % runs)
                with open(folder + "report.json") as f:
                    report = json.load(f)
                with open(folder + "report.md") as f:
                    words = f.read()
                self.assertIn("a front of observed means is a front of lucky runs", words)
                self.assertIn("| trial | epsilon | error, % | as observed |", words)
                self.assertTrue(os.path.exists(folder + "front.png"))
                for p, shown in zip(report["front"], front["front"], strict=True):
                    for key in ("trial", "at", "parameters", "objectives", "spread", "denoised"):
                        self.assertEqual(p[key], shown[key])
                self.assertEqual(report["hypervolume_denoised"], front["hypervolume_denoised"])
                self.assertNotEqual([p["objectives"] for p in front["front"]],
                                    [p["denoised"] for p in front["front"]])
                # without a daemon: the same bytes
                state = ["front", "s", "--state", self.path("one%d" % runs), "-o", "json"]
                self.assertEqual(self.ctl(*state).stdout, first)  # by cold models
                observed = json.loads(self.ctl(*state, "--observed").stdout)
                self.assertNotIn("hypervolume_denoised", observed)
                (best,) = json.loads(self.ctl(*state, "--best", "error").stdout)["front"]
                self.assertEqual(best, front["front"][-1])

    def test_every_way_to_see_it(self):
        self.begin()
        front = self.run_study(noisy(runs=5))
        trials = self.client.every("trials", study="s")
        self.check(front, trials)
        mine = {p["trial"]: p["denoised"] for p in front["front"]}
        self.assertEqual(json.loads(self.cli("front", "s", "-o", "json")), front)
        self.assertEqual(self.client("status", study="s")["study"]["front_of"], "denoised")
        for command in (["front", "s", "-o", "csv"], ["export", "s"], ["trials", "s", "-o", "csv"]):
            rows = list(csv.DictReader(io.StringIO(self.cli(*command))))
            shown = {int(r["trial"]): {"epsilon": float(r["denoised.epsilon"]),
                                       "error": float(r["denoised.error"])}
                     for r in rows if r.get("on_front", "true") == "true"}
            self.assertEqual(shown, mine, command)
            self.assertTrue(all(r["denoised.error"] == "" for r in rows
                                if int(r["trial"]) not in mine))
        for trial in json.loads(self.cli("export", "s", "--format", "json"))["trials"]:
            self.assertEqual((trial["on_front"], trial["denoised"]),
                             (trial["trial"] in mine, mine.get(trial["trial"])))
        table = self.cli("front", "s").splitlines()
        self.assertEqual(table[0].split(), ["TRIAL", "epsilon", "error", "denoised", "error",
                                            "95%", "C", "b"])
        self.assertEqual(len(table), 1 + len(mine))
        least = min(mine)
        self.assertIn("on the front", self.cli("trial", "s", str(least)))
        # questions go by the values that chose it
        middle = sorted(v["error"] for v in mine.values())[len(mine) // 2]
        some = json.loads(self.cli("front", "s", "--max", "error=%r" % middle, "-o", "json"))
        self.assertEqual({p["trial"] for p in some["front"]},
                         {t for t, v in mine.items() if v["error"] <= middle})

    def test_the_other_front_for_one_look(self):
        self.begin()
        self.run_study(noisy(runs=1))
        trials = self.client.every("trials", study="s")
        points = {t["trial"]: tuple(t["objectives"].values()) for t in trials}
        by_hand = [n for n, p in points.items() if not beaten(p, points.values())
                   and not any(q == p and m < n for m, q in points.items())]
        observed = json.loads(self.cli("front", "s", "--observed", "-o", "json"))
        self.assertNotIn("hypervolume_denoised", observed)
        self.assertEqual([p["trial"] for p in observed["front"]],
                         sorted(by_hand, key=lambda n: (points[n][0], n)))
        self.assertTrue(all("denoised" not in p for p in observed["front"]))
        self.assertEqual(self.client("front", study="s", denoised=False), observed)
        self.cli("front", "s", "--observed", "--denoised", code=2)
        # a random study goes by what was observed, unless its file says otherwise
        found = self.run_study(noisy("r", n=12, search="method: random"), "r")
        self.assertNotIn("hypervolume_denoised", found)
        trials = self.client.every("trials", study="r")
        self.check(self.client("front", study="r", denoised=True), trials)
        said = self.run_study(noisy("q", n=12, search="method: random, front: denoised"), "q")
        self.check(said, self.client.every("trials", study="q"))
        kept = self.run_study(noisy("o", n=4, search="method: dpareto, front: observed"), "o")
        self.assertNotIn("hypervolume_denoised", kept)

    def test_killed_and_resumed_is_the_same(self):
        whole = json.dumps(json.loads(self.run_json(noisy(), "alone")))
        self.begin()
        self.submit(self.client, noisy())
        rng = random.Random(8)
        for _ in range(6):
            time.sleep(rng.uniform(0, 0.05))  # anywhere in the study's life
            self.d.end(signal.SIGKILL)
            self.client = self.d.start().connect()
            self.client("front", study="s")
        self.finish(self.client, "s")
        self.assertEqual(json.dumps(self.client("front", study="s")), whole)

    def test_while_it_runs(self):
        """Nobody is turned away while a point is being chosen, and each answer is the front
        of one moment."""
        self.begin()
        other = self.d.connect()
        self.submit(self.client, noisy(n=40, search="method: dpareto, initial: 8, parallel: 3"))
        seen, front = set(), {"state": "running"}
        while front["state"] == "running":
            front = other("front", study="s")
            seen.add(front["evaluations"])
            points = [tuple(p["denoised"].values()) for p in front["front"]]
            self.assertFalse([p for p in points if beaten(p, points)])
            self.assertTrue(math.isclose(front["hypervolume_denoised"],
                                         volume(points, (10, 1)), rel_tol=1e-12))
            self.client("propose", study="s")
        self.assertEqual(front["evaluations"], 40)
        self.assertGreater(len(seen), 2)
        self.check(front, self.client.every("trials", study="s"))

    def test_trials_at_one_place_are_one_point(self):
        self.begin()
        self.submit(self.client, noisy(n=20))
        place = {"C": 1, "b": 100}  # the least epsilon of all: always on the front
        for _ in range(3):
            self.client("enqueue", study="s", parameters=place)
        self.finish(self.client, "s")
        front = self.client("front", study="s")
        trials = self.client.every("trials", study="s")
        again = [t["trial"] for t in trials if t["parameters"] == place]
        self.assertGreaterEqual(len(again), 3)
        self.check(front, trials)
        self.assertEqual([p["trial"] for p in front["front"] if p["parameters"] == place],
                         again[:1])

    def test_results_of_another_study_are_no_points(self):
        self.begin()
        self.run_study(noisy("old", n=20, search="method: random"), "old")
        front = self.run_study(noisy("new", n=4, search="method: dpareto, initial: 4, "
                                     "initial_from: old"), "new")
        trials = self.client.every("trials", study="new")
        self.check(front, trials)
        least = min(trials, key=lambda t: (t["objectives"]["epsilon"], t["trial"]))
        self.assertEqual(front["front"][0]["trial"], least["trial"])

    def test_too_little_for_models(self):
        self.begin()
        self.submit(self.client, noisy(n=1))
        self.client("pause", study="s")
        nothing = self.run_study(noisy("one", n=1), "one")
        (point,) = nothing["front"]
        self.assertEqual(point["denoised"], point["objectives"])
        self.assertEqual(nothing["hypervolume_denoised"], nothing["hypervolume"])
        self.client("resume", study="s")
        self.finish(self.client, "s")
        # no parameter to learn from: as observed, one row for what is equal
        self.trainer("report(a=0.5, b=0.25)\n")
        fixed = self.run_study(self.study("f", parameters="x: {fixed: 1}",
                                          search="method: random, evaluations: 3, "
                                          "front: denoised"), "f")
        self.assertEqual([(p["trial"], p["denoised"]) for p in fixed["front"]],
                         [(0, {"a": 0.5, "b": 0.25})])

    def test_without_noise_it_is_what_was_observed(self):
        self.trainer(EXACT)
        self.begin()
        for name, runs in ("one", ""), ("five", ", runs: 5"):
            with self.subTest(runs=name):
                front = self.run_study(
                    self.study(name, parameters=PLANE, extra_trainer=runs,
                               search="method: dpareto, evaluations: 18, initial: 8"), name)
                self.assertTrue(front["front"])
                for p in front["front"]:
                    self.assertEqual(p["denoised"], p["objectives"])
                self.assertEqual(front["hypervolume_denoised"], front["hypervolume"])
                self.cli("report", name, "--dir", self.path(name))
                with open(self.path(name + "/report.md")) as f:
                    words = f.read()
                self.assertIn("a: the models see no noise in it", words)
                self.assertNotIn("| as observed |", words)

    def test_an_empty_front_says_why(self):
        self.trainer(EXACT.replace("report(", "report(c=1, "))
        text = self.study(parameters=PLANE, more='constraints: {c: "<= 0"}\n')
        run = ["run", self.write("s.yaml", text), "--state", self.path("none")]
        why = "no result meets the constraints with finite values"
        self.assertIn("the front is empty: " + why, self.ctl(*run).stdout)
        with open(self.path("none/studies/s/report/report.md")) as f:
            self.assertIn(why[1:] + ", so there is no front.", f.read())
        shown = self.ctl("front", "s", "--state", self.path("none"), "--denoised")
        self.assertIn("the front is empty: " + why, shown.stderr)


if __name__ == "__main__":
    unittest.main()
