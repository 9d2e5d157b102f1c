"""recommend: settings for a point of the front, as people and programs ask for them."""
import json
import shutil
import tempfile
import threading
import unittest

from harness import Case, Refused, wait_for

STUDY = """study: svt
seed: 3
data: public
trainer: {command: [dpareto-train, svt], runs: 10}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
  note: {fixed: plain}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1", transform: logit}
anti_ideal: {epsilon: 10, error: 1}
search: {method: dpareto, evaluations: %d, initial: 10, parallel: 2}
"""
EVALUATIONS = 30
# the contract's keys, and ours
CONTRACT = ["version", "study", "at", "parameters", "objectives", "predicted", "tested",
            "verified"]
MORE = ["holds", "constraints", "expected", "nearest", "trust"]

# both objectives are metrics, and there is a constraint
METRICS = """
x, y = params["x"], params["y"]
for run in request["runs"]:
    noise = (run["seed"] % 1000) / 1e5
    out({"run": run["run"], "metrics": {"a": 4 * (1 - x), "b": x + (y - 0.5) ** 2 + noise,
                                        "seconds": 100 * y}})
"""
METRICS_STUDY = """study: m
seed: 1
data: public
trainer: {command: [%s], runs: 2}
parameters: {x: {type: float, range: [0, 1]}, y: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
constraints: {seconds: "<= 40"}
anti_ideal: {a: 4, b: 2}
search: {method: random, evaluations: %d, parallel: 4}
"""

SELECT = """study: p
trainer: {command: [%s]}
parameters: {x: {type: float, range: [0, 1]}, y: {fixed: 0.5}}
objectives:
  e: {privacy: {mechanism: gaussian, sigma: 5, delta: 1e-5}}
  b: {metric: b, release: {records: 5000, sigma: 1e-3}}
anti_ideal: {e: 10, b: 2}
search: {method: select, rounds: {poisson: 3}}
"""


class Recommend(Case):
    made = None  # the state folder of a study that was run once for all tests

    def tearDown(self):
        self.tidy()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made or "", ignore_errors=True)

    def finished(self):
        """A study that has ended; its folder."""
        if not Recommend.made:
            Recommend.made = tempfile.mkdtemp(prefix="dpareto-")
            path = self.write("svt.yaml", STUDY % EVALUATIONS)
            self.tell("run", path, "--state", Recommend.made, "-q")
        return shutil.copytree(Recommend.made, self.path("state"), symlinks=True)

    def tell(self, *arguments, code=0, **options):
        """A command beside the test's daemon, if there is one, that ends so."""
        if self.daemons and "--state" not in arguments:
            arguments = [*arguments, "--socket", self.daemons[0].socket]
        done = self.ctl(*arguments, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stderr, done.stdout))
        return done

    def ask(self, *arguments, code=0):
        return json.loads(self.tell("recommend", *arguments, "-o", "json",
                                    code=code).stdout)

    def best_tested(self, folder, epsilon):
        rows = json.loads(self.tell("trials", "svt", "--state", folder, "-o", "json").stdout)
        rows = [r for r in rows if r["objectives"] and r["objectives"]["epsilon"] <= epsilon]
        return min(rows, key=lambda r: (r["objectives"]["error"], r["trial"]), default=None)

    def check_answer(self, r, folder, level):
        self.assertEqual([k for k in r if k not in MORE], CONTRACT)
        self.assertEqual((r["version"], r["study"], r["at"]), (1, "svt", {"epsilon": level}))
        self.assertEqual(list(r["parameters"]), ["C", "b", "note"])
        self.assertIsInstance(r["parameters"]["C"], int)
        self.assertEqual(r["parameters"]["note"], "plain")
        self.assertEqual(list(r["objectives"]), ["epsilon"])
        self.assertLessEqual(r["objectives"]["epsilon"], level)
        self.assertGreaterEqual(r["objectives"]["epsilon"], 0.999 * level)
        query = {"mechanism": "svt", "cutoff": r["parameters"]["C"],
                 "scale": r["parameters"]["b"]}
        told = json.loads(self.tell("epsilon", "--batch", input=json.dumps(query) + "\n").stdout)
        self.assertEqual(told["epsilon"], r["objectives"]["epsilon"])
        self.assertEqual(list(r["predicted"]), ["error"])
        predicted = r["predicted"]["error"]
        self.assertLess(predicted["low"], predicted["value"])
        self.assertLess(predicted["value"], predicted["high"])
        best = self.best_tested(folder, level)
        if best is None:
            self.assertIsNone(r["tested"])
        else:
            self.assertEqual(r["tested"], {k: best[k] for k in ("trial", "at", "objectives")})
            self.check_expected(r)
        self.assertEqual(list(r["nearest"]), ["trial", "at", "distance"])
        self.assertEqual(r["trust"]["of"], "error")
        self.assertEqual(r["trust"]["neighbours"], 16)
        self.assertIs(r["trust"]["why"] is None, r["trust"]["trusted"])

    def check_expected(self, r):
        """Of the best tested point, without its luck."""
        expected = r["expected"]["predicted"]["error"]
        self.assertLess(expected["low"], expected["value"])
        self.assertLess(expected["value"], expected["high"])
        self.assertIs(r["expected"]["as_good"],
                      expected["value"] <= r["predicted"]["error"]["value"])

    def test_the_contract(self):
        folder = self.finished()
        r = self.ask("svt", "--state", folder, "--at", "epsilon=1")
        self.check_answer(r, folder, 1)
        self.assertIsNone(r["verified"])
        rows = self.ask("svt", "--state", folder, "--at", "epsilon=0.1,0.5", "--at",
                        "epsilon=5")
        self.assertEqual(list(rows), ["version", "study", "recommendations"])
        self.assertEqual([x["at"]["epsilon"] for x in rows["recommendations"]],
                         [0.1, 0.5, 5])
        for x in rows["recommendations"]:
            self.check_answer(x, folder, x["at"]["epsilon"])
        # an error is held, too
        r = self.ask("svt", "--state", folder, "--at", "error=0.5")
        self.assertLessEqual(r["predicted"]["error"]["value"], 0.5)
        self.assertEqual(r["holds"], "at most")

    def test_what_cannot_be(self):
        folder = self.finished()
        alone = self.ask("svt", "--state", folder, "--at", "epsilon=1e-4", code=1)["error"]
        self.assertEqual(alone["kind"], "limit")
        self.assertRegex(alone["message"],
                         r"^no setting of this study has epsilon at most 0.0001: the least "
                         r"is 0\.05848$")
        self.assertEqual(alone["hint"], "try --at epsilon=0.05848")
        self.check_answer(self.ask("svt", "--state", folder, "--at", "epsilon=0.05848"),
                          folder, 0.05848)
        rows = self.ask("svt", "--state", folder, "--at", "epsilon=1,1e-4", code=1)
        self.check_answer(rows["recommendations"][0], folder, 1)
        self.assertEqual(list(rows["recommendations"][1]), ["at", "error"])
        done = self.tell("recommend", "svt", "--state", folder, "--at", "epsilon=1,1e-4",
                        code=1)
        self.assertIn("epsilon at most 1: C=", done.stdout)
        self.assertIn("the least is 0.05848", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_mistakes(self):
        folder = self.finished()
        for arguments, code, words in (
                ([], 2, "--at is needed"),
                (["--at", "epsilon"], 2, "--at takes NAME=NUMBER"),
                (["--at", "=1"], 2, "--at takes NAME=NUMBER"),
                (["--at", "epsilon=one"], 2, "--at takes NAME=NUMBER"),
                (["--at", "epsilon=nan"], 2, "--at takes NAME=NUMBER"),
                (["--at", "epsilon=1,"], 2, "--at takes NAME=NUMBER"),
                (["--at", "epsilon=1" + 60 * "0"], 2, "--at takes NAME=NUMBER"),
                (["--at", "epsilom=1"], 2, "did you mean 'epsilon'?"),
                (["--at", "f1=1"], 2, "hint: it has epsilon, error (1 - f1)"),
                (["--at", "epsilon=1" + 100 * ",1"], 2, "1 to 100 levels"),
                (["--at", "epsilon=1", "--verify", "0"], 2, "--verify takes a number"),
                (["--at", "epsilon=1", "--state", "/nowhere"], 5, "/nowhere")):
            with self.subTest(arguments):
                done = self.tell("recommend", "svt", "--state", folder, *arguments, code=code)
                self.assertIn(words, done.stderr)
        self.tell("recommend", "other", "--state", folder, "--at", "epsilon=1", code=5)

    def test_what_people_see(self):
        folder = self.finished()
        done = self.tell("recommend", "svt", "--state", folder, "--at", "epsilon=1")
        self.assertEqual(done.stderr,
                         "predicted, not measured: --verify 50 runs it 50 times\n")
        text = done.stdout
        best = self.best_tested(folder, 1)["trial"]
        # rounded up, never to nearest
        self.assertRegex(text, r"(?m)^epsilon +1 +computed")
        self.assertRegex(text, r"(?m)^error +0\.\d+ +0\.\d+ +0\.\d+ +0\.\d+$")
        self.assertRegex(text, r"trial %d is the best tested point with epsilon at most 1, as "
                               r"observed; by the model fresh runs of it would give error "
                               r"0\.\d+ \(95 %% from 0\.\d+ to 0\.\d+\)" % best)
        self.assertRegex(text, r"nearest tested point: trial \d+, 0\.\d+ of the space away")
        self.assertRegex(text, r"left out, the 16 results nearest to it")
        # every digit is there, too: fewer could be too little noise
        offered = [line for line in text.splitlines() if line.startswith("in full: ")][0]
        r = self.ask("svt", "--state", folder, "--at", "epsilon=1")
        self.assertEqual(offered.split()[-3:],
                         ["%s=%s" % (k, v) for k, v in r["parameters"].items()])

    def test_a_daemon_answers_many_at_once(self):
        folder = self.finished()
        levels = [0.2 + 0.3 * i for i in range(8)]
        looked = [self.ask("svt", "--state", folder, "--at", "epsilon=%r" % v)
                  for v in levels[:2]]
        self.daemon().start().connect()
        told = [None] * len(levels)

        def one(i):
            told[i] = self.ask("svt", "--at", "epsilon=%r" % levels[i])

        threads = [threading.Thread(target=one, args=(i,)) for i in range(len(levels))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([x["at"]["epsilon"] for x in told], levels)
        self.assertEqual(told[:2], looked)

    def test_a_protocol_that_is_not_spoken(self):
        self.finished()
        client = self.daemon().start().connect()
        for levels in (None, 1, "x", {}, [], [1], [None], [{}], [{"epsilon": None}],
                       [{"epsilon": "x"}], [{"epsilon": "inf"}], [{"epsilon": 1, "error": 1}],
                       [{"x" * 5000: 1}], [[]], [{"epsilon": 1}] * 101):
            with self.subTest(levels):
                with self.assertRaises(Refused) as refused:
                    client("recommend", study="svt", levels=levels)
                self.assertIn(refused.exception.error["kind"], ("protocol", "usage"))
        answer = client("recommend", study="svt",
                        levels=[{"epsilon": 1e300}, {"epsilon": -1}, {"error": 0},
                                {"error": 1e300}])
        self.assertEqual(len(answer["recommendations"]), 4)

    def test_verified(self):
        folder = self.finished()
        r = self.ask("svt", "--state", folder, "--at", "epsilon=1", "--verify", "20")
        self.check_answer(r, folder, 1)
        v = r["verified"]
        self.assertEqual(list(v), ["runs", "objectives", "low", "high"])
        self.assertEqual(v["runs"], 20)
        for part in ("objectives", "low", "high"):
            self.assertEqual(list(v[part]), ["error"])
        self.assertLess(v["low"]["error"], v["objectives"]["error"])
        # and beside a daemon, in words; what was recommended does not change by it
        self.daemon().start().connect()
        done = self.tell("recommend", "svt", "--at", "epsilon=1", "--verify", "15")
        self.assertRegex(done.stdout, r"measured with 15 fresh runs: error 0\.\d+ \(95 % from "
                                      r"0\.\d+ to [01]\.?\d*\), (within|below|above) the "
                                      r"predicted interval")
        again = self.ask("svt", "--at", "epsilon=1")
        self.assertEqual(again["parameters"], r["parameters"])
        self.assertEqual(again["predicted"], r["predicted"])

    def test_metrics_only(self):
        program = self.trainer(METRICS)
        folder = self.path("m")
        text = METRICS_STUDY % (program, 60)
        self.tell("run", self.write("m.yaml", text), "--state", folder, "-q")
        r = self.ask("m", "--state", folder, "--at", "a=1")
        self.assertEqual(r["objectives"], {})
        self.assertEqual(list(r["predicted"]), ["a", "b"])
        self.assertLessEqual(r["predicted"]["a"]["value"], 1)
        self.assertAlmostEqual(r["parameters"]["x"], 0.75, delta=0.03)
        self.assertAlmostEqual(r["parameters"]["y"], 0.4, delta=0.02)
        self.assertLessEqual(r["constraints"]["seconds"]["value"], 40.01)
        r = self.ask("m", "--state", folder, "--at", "seconds=20")
        self.assertAlmostEqual(r["parameters"]["y"], 0.2, delta=0.03)
        self.assertEqual(r["at"], {"seconds": 20})

    def test_too_little_is_known(self):
        client = self.daemon().start().connect()
        self.finish(client, self.submit(client, STUDY.replace("initial: 10", "initial: 1") % 1)["name"])
        done = self.tell("recommend", "svt", "--at", "epsilon=1", code=1)
        self.assertIn("study 'svt' has 1 result: too few to recommend settings", done.stderr)
        fixed = STUDY.replace("study: svt", "study: still") % 3
        fixed = fixed.replace("{type: int, range: [1, 30]}", "{fixed: 3}")
        fixed = fixed.replace("{type: float, range: [0.01, 100], scale: log}", "{fixed: 9}")
        fixed = fixed.replace("method: dpareto", "method: random").replace(
            ", initial: 10", "")
        self.finish(client, self.submit(client, fixed)["name"])
        done = self.tell("recommend", "still", "--at", "epsilon=1", code=1)
        self.assertIn("searches no parameter", done.stderr)

    def test_a_private_selection_has_nothing_to_recommend(self):
        client = self.daemon().start().connect()
        self.submit(client, SELECT % self.trainer(METRICS))
        done = self.tell("recommend", "p", "--at", "e=1", code=1)
        self.assertIn("study 'p' is a private selection", done.stderr)

    def test_while_it_runs(self):
        client = self.daemon().start().connect()
        self.submit(client, STUDY.replace("initial: 10", "initial: 4") % 2000)
        wait_for(lambda: client("status", study="svt")["study"]["ok"] > 20)
        r = self.ask("svt", "--at", "epsilon=1")
        self.assertLessEqual(r["objectives"]["epsilon"], 1)
        self.assertGreaterEqual(r["objectives"]["epsilon"], 0.999)
        self.tell("stop", "svt", "--now")


if __name__ == "__main__":
    unittest.main()
