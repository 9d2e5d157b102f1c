"""test_questions.py - questions to a front: how sure its points are, which are within limits,
and which one to take."""
import csv
import io
import json
import math
import re
import unittest

from harness import Case, wait_for

# How many standard errors hold 95 % of the mean of four runs (Student's t).
T95 = 3.182446305284263
# Every run has luck of its own, and tells of more than objectives need. The times differ from
# one run of the study to the next, as they do in life.
LUCK = """
import random
for run in request["runs"]:
    luck = random.Random(run["seed"]).uniform(-1, 1) * 0.02
    out({"run": run["run"], "metrics": {
        "accuracy": 1 - 0.5 / (1 + params["x"]) + luck, "cost": params["x"],
        "seconds": time.time() % 1}})
"""
STUDY = """study: %(name)s
seed: 3
data: public
trainer: {command: [./trainer], runs: %(runs)d}
parameters:
  x: {type: float, range: [0.1, 30], scale: log}
objectives:
  epsilon: {privacy: {mechanism: gaussian, sigma: 1, sensitivity: x, delta: 1e-5}}
  error: {metric: accuracy, of: "1 - accuracy"%(error)s}
anti_ideal: {epsilon: %(worst)s, error: 1}
search: {%(search)s}
"""


def knee(points, transform, worst):
    """The point farthest below the line between the ends inside the box, by geometry."""
    inside = [p for p in points if p[0] <= worst[0] and p[1] <= worst[1]]
    rows = [(math.log(e), transform(y)) for e, y in inside]
    (x0, y0), (x1, y1) = rows[0], rows[-1]

    def below(row):
        return ((y1 - y0) * (row[0] - x0) - (x1 - x0) * (row[1] - y0)) / \
            math.hypot(x1 - x0, y1 - y0)
    return inside[max(range(len(rows)), key=lambda i: below(rows[i]))]


class Questions(Case):
    def setUp(self):
        super().setUp()
        self.trainer(LUCK)
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def made(self, name="s", runs=4, search="method: random, evaluations: 14, parallel: 4",
             error="", worst="20"):
        self.submit(self.client, STUDY % {"name": name, "runs": runs, "search": search,
                                          "error": error, "worst": worst})
        self.finish(self.client, name)

    def cli(self, *arguments, code=0):
        done = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def front(self, *arguments):
        return json.loads(self.cli("front", *arguments, "-o", "json").stdout)["front"]

    def test_spread(self):
        """Of every point, wherever it is shown: from the runs, by hand."""
        self.made()
        points = self.front("s")
        trials = {t["trial"]: t for t in
                  self.client.every("trials", study="s", full=True)}
        self.assertGreater(len(points), 3)
        for p in points:
            errors = [1 - r["metrics"]["accuracy"] for r in trials[p["trial"]]["runs"]]
            mean = sum(errors) / 4
            sd = math.sqrt(sum((e - mean) ** 2 for e in errors) / 3)
            said = p["spread"]["error"]
            self.assertEqual((list(p["spread"]), said["runs"]), (["error"], 4))
            self.assertAlmostEqual(said["sd"], sd, places=12)
            self.assertAlmostEqual(said["low"], mean - T95 * sd / 2, places=5)
            self.assertAlmostEqual(said["high"], mean + T95 * sd / 2, places=5)
            self.assertIsNone(p["remeasured"])
            self.assertEqual(trials[p["trial"]]["spread"], p["spread"])
        self.assertEqual(self.client("status", study="s")["front"], points)
        for command in (["front", "s", "-o", "csv"], ["trials", "s", "-o", "csv"],
                        ["export", "s"]):
            rows = {int(r["trial"]): r for r in
                    csv.DictReader(io.StringIO(self.cli(*command).stdout))}
            for p in points:
                self.assertEqual(
                    [float(rows[p["trial"]]["error." + k]) for k in ("runs", "sd", "low", "high")],
                    list(p["spread"]["error"].values()))
        self.assertIn("4 runs each", self.cli("front", "s").stderr)

    def test_one_run_and_noise_have_no_spread(self):
        self.made(runs=1)
        for p in self.front("s"):
            self.assertEqual(p["spread"], {"error": {"runs": 1, "sd": None, "low": None,
                                                     "high": None}})
        self.assertNotIn("95%", self.cli("front", "s").stdout)
        refused = self.cli("front", "s", "--one-se", code=1).stderr
        self.assertIn("the standard error of 'error' at its best is not known", refused)
        self.assertIn("--denoised", refused)
        self.made("noisy", runs=3, error=", release: {records: 1000, sigma: 0.01}")
        for p in self.front("noisy"):
            self.assertEqual(p["spread"], {"error": {"runs": 3, "sd": None, "low": None,
                                                     "high": None}})

    def test_equal_runs_print_equal_bytes(self):
        """The times that a trainer reports are not among what a run prints."""
        text = STUDY % {"name": "s", "runs": 3, "search": "method: dpareto, evaluations: 12",
                        "error": "", "worst": "20"}
        said = [self.ctl("run", self.write("run.yaml", text), "--state", self.path(state), "-q",
                         "-o", "json").stdout for state in ("one", "two")]
        self.assertEqual(said[0], said[1])
        self.assertNotIn("seconds", said[0])
        point = json.loads(said[0])["front"][0]
        self.assertEqual(list(point), ["trial", "at", "parameters", "objectives", "spread",
                                       "remeasured", "denoised", "denoised_low",
                                       "denoised_high"])

    def test_denoised_with_intervals(self):
        self.made(search="method: dpareto, evaluations: 16, parallel: 2")
        for p in self.front("s"):
            low, value, high = (p[k]["error"] for k in ("denoised_low", "denoised",
                                                        "denoised_high"))
            self.assertLess(low, value)
            self.assertLess(value, high)
            self.assertLess(high - low, 0.2)
            self.assertEqual({p[k]["epsilon"] for k in ("denoised_low", "objectives",
                                                        "denoised_high")},
                             {p["objectives"]["epsilon"]})
        table = self.cli("front", "s").stdout.splitlines()
        self.assertEqual(table[0].split()[:6], ["TRIAL", "epsilon", "error", "denoised", "error",
                                                "95%"])
        self.assertRegex(table[1], r"(±|\+-)0\.\d")
        # with two results there is no model, and nothing to say how sure it is
        self.made("two", search="method: random, evaluations: 1")
        (p,) = self.front("two", "--denoised")
        self.assertEqual((p["denoised"], p["denoised_low"], p["denoised_high"]),
                         (p["objectives"], None, None))

    def test_limits_on_metrics(self):
        self.made()
        points = self.front("s")
        means = {t["trial"]: {k: sum(r["metrics"][k] for r in t["runs"]) / 4
                              for k in ("accuracy", "cost", "seconds")}
                 for t in self.client.every("trials", study="s", full=True)}

        def within(key, bound):
            return [p["trial"] for p in points if bound(means[p["trial"]][key])]
        good = self.front("s", "--min", "accuracy=0.8")
        self.assertEqual([p["trial"] for p in good], within("accuracy", lambda v: v >= 0.8))
        self.assertTrue(0 < len(good) < len(points))
        for p in good:
            for key, value in means[p["trial"]].items():
                self.assertAlmostEqual(p["metrics"][key], value, places=12)
        self.assertEqual([p["trial"] for p in
                          self.front("s", "--max", "cost=10", "--min", "accuracy=0.8")],
                         [t for t in within("accuracy", lambda v: v >= 0.8)
                          if means[t]["cost"] <= 10])
        self.assertNotIn("metrics", points[0])
        table = self.cli("front", "s", "--min", "accuracy=0.8").stdout.splitlines()
        self.assertEqual(table[0].split(), ["TRIAL", "epsilon", "error", "95%", "accuracy", "x"])
        # the error is 1 - accuracy, to be small: so the accuracy is to be large
        self.assertEqual(self.front("s", "--best", "accuracy")[0]["trial"], points[-1]["trial"])
        self.assertIn("to be large or small is not known",
                      self.cli("front", "s", "--best", "cost", code=2).stderr)
        said = self.cli("front", "s", "--min", "accurcy=0.8", code=2).stderr
        self.assertIn("no objective or metric 'accurcy'; did you mean 'accuracy'?", said)
        self.assertIn("its objectives are epsilon, error; its trainers reported accuracy, cost, "
                      "seconds", said)
        self.assertIn("takes NAME=NUMBER", self.cli("front", "s", "--min", "accuracy",
                                                    code=2).stderr)
        # a metric has no model, which is told where objectives have one
        for options, told in ((), False), (("--denoised",), True):
            said = self.cli("front", "s", "--min", "accuracy=0.8", *options).stderr
            self.assertIs("accuracy goes by what was observed" in said, told)
        # from the folder, too
        folder = json.loads(self.ctl("front", "s", "--state", self.d.state, "--min",
                                     "accuracy=0.8", "-o", "json").stdout)["front"]
        self.assertEqual(folder, good)

    def test_knee(self):
        for name, error, transform in (
                ("plain", "", lambda y: y),
                ("logit", ", transform: logit", lambda y: math.log(y / (1 - y)))):
            self.made(name, error=error)
            points = [tuple(p["objectives"].values()) for p in self.front(name)]
            self.assertTrue(any(e > 20 for e, _ in points))  # some are beyond the box
            (found,) = self.front(name, "--knee")
            self.assertEqual(tuple(found["objectives"].values()),
                             knee(points, transform, (20, 1)))
            # what limits leave has other ends
            some = [p for p in points if p[0] <= 5]
            (found,) = self.front(name, "--knee", "--max", "epsilon=5")
            self.assertEqual(tuple(found["objectives"].values()), knee(some, transform, (20, 1)))
        self.assertEqual(self.front("plain", "--knee", "--min", "epsilon=21"), [])
        self.assertIn("within these limits and the anti-ideal box",
                      self.cli("front", "plain", "--knee", "--min", "epsilon=21").stderr)
        self.assertIn("two different points",
                      self.cli("front", "plain", "--knee", "--one-se", code=2).stderr)
        self.assertIn("two different points",
                      self.cli("front", "plain", "--knee", "--best", "error", code=2).stderr)

    def test_one_standard_error(self):
        self.made(search="method: dpareto, evaluations: 20, parallel: 2", worst="1000")
        observed = self.front("s", "--observed")
        best = min(observed, key=lambda p: p["objectives"]["error"])
        limit = best["objectives"]["error"] + best["spread"]["error"]["sd"] / 2
        (found,) = self.front("s", "--observed", "--one-se")
        self.assertEqual(found, next(p for p in observed if p["objectives"]["error"] <= limit))
        denoised = self.front("s")
        best = min(denoised, key=lambda p: p["denoised"]["error"])
        limit = best["denoised"]["error"] + best["spread"]["error"]["sd"] / 2
        (found,) = self.front("s", "--one-se")
        self.assertEqual(found, next(p for p in denoised if p["denoised"]["error"] <= limit))
        self.assertEqual(self.front("s", "--one-se", "--best", "error"), [found])
        self.cli("front", "s", "--one-se", "--best", "epsilon", code=2)
        self.assertEqual(self.front("s", "--one-se", "--max", "epsilon=-1"), [])

    def test_epsilon_is_never_shown_below_what_it_is(self):
        """In no table and no sentence; what is measured is rounded as usual."""
        self.made()
        shown = [self.cli(*c).stdout for c in (["front", "s"], ["trials", "s"])]
        for text in shown:
            rows = text.splitlines()
            at = rows[0].split().index("epsilon")
            for row in rows[1:]:
                cells = row.split()
                trial = json.loads(self.cli("trial", "s", cells[0], "-o", "json").stdout)
                exact = trial["objectives"]["epsilon"]
                self.assertGreaterEqual(float(cells[at]), exact)
                self.assertLess(float(cells[at]), exact * 1.001)
                said = re.search("objectives +epsilon=(\\S+)",
                                 self.cli("trial", "s", cells[0]).stdout).group(1)
                self.assertEqual(said, cells[at])
        epsilons = [p["objectives"]["epsilon"] for p in self.front("s")]
        low, high = re.search("front .*epsilon (\\S+) to (\\S+),",
                              self.cli("status", "s").stdout).groups()
        self.assertGreaterEqual(float(low), min(epsilons))
        self.assertGreaterEqual(float(high), max(epsilons))

    def test_hypervolume_without_the_noise(self):
        """Of any method, found when somebody looks, and kept."""
        self.made()
        # one that was found while the study ran is of fewer results
        study = wait_for(lambda: (lambda s: s if s["denoised_current"] else None)(
            self.client("status", study="s")["study"]))
        denoised = self.client("front", study="s", denoised=True)
        self.assertEqual(study["hypervolume_denoised"], denoised["hypervolume_denoised"])
        self.assertEqual((study["denoised_results"], study["denoised_current"]), (14, True))
        self.assertEqual(self.client("list")["studies"][0]["hypervolume_denoised"],
                         study["hypervolume_denoised"])
        self.assertRegex(self.cli("status", "s").stdout,
                         r"hypervolume  \S+ as observed, \S+ denoised \(anti-ideal")
        self.assertEqual((study["transforms"], study["privacy"], study["metrics"]),
                         (["log", "none"], ["epsilon"],
                          {"accuracy": "maximize", "cost": None, "seconds": None}))
        # too little for models: there is none, however often one looks
        self.made("one", search="method: random, evaluations: 1")
        for _ in range(3):
            said = self.client("status", study="one")["study"]
            self.assertEqual((said["hypervolume_denoised"], said["denoised_current"]),
                             (None, False))
        # a study may go while its models are fitted
        self.made("gone")
        self.client("status", study="gone")
        self.client("delete", study="gone")


if __name__ == "__main__":
    unittest.main()
