"""test_compare.py - `dparetoctl compare`: groups of studies, parts of one, and tests."""
import json
import math
import os
import statistics
import unittest

from harness import Case, volume

STUDY = """study: %(name)s
seed: %(seed)d
data: public
trainer: {command: [%(command)s]%(trainer)s}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: %(mechanism)s}}
  %(utility)s
anti_ideal: {epsilon: %(box)s}
search: {method: random, evaluations: %(n)d, parallel: 4}
%(more)s"""
SVT = "svt, cutoff: C, scale: b"
ERROR = 'error: {metric: f1, of: "1 - f1"}'
F1 = "f1: {metric: f1, goal: maximize}"
# Each step of a training is a result.
WALK = """
for run in request["runs"]:
    for at in request["path"]["values"]:
        out({"run": run["run"], "at": at, "metrics": {"f1": at / 40}})
    report(f1=params["C"] / 40)
"""


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def made(self, name, seed=1, n=6, mechanism=SVT, utility=ERROR, box="10, error: 1",
             command="dpareto-train, svt", trainer="", more=""):
        self.submit(self.client, STUDY % locals())
        self.finish(self.client, name)

    def compare(self, *arguments, code=0):
        """The process's JSON and what it said."""
        done = self.ctl("--socket", self.d.socket, "compare", *arguments, "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout), done.stderr

    def refused(self, *arguments, code=1):
        return self.compare(*arguments, code=code)[0]["error"]["message"]

    def rows(self, study):
        """(trial, epsilon, other) of all results that count."""
        return [(t["trial"], *t["objectives"].values())
                for t in self.client.every("trials", study=study) if t["feasible"]]

    def check_sample(self, sample):
        values = sample["values"]
        self.assertAlmostEqual(sample["mean"], statistics.mean(values), 12)
        self.assertAlmostEqual(sample["sd"], statistics.stdev(values), 12)
        self.assertLess(sample["low"], sample["mean"])
        self.assertGreater(sample["high"], sample["mean"])


class Groups(Compare):
    def test_the_whole_study_has_the_daemons_hypervolume(self):
        self.made("plain", n=12)
        self.made("strict", n=12, more='constraints: {f1: ">= 0.2"}\n')
        self.made("most", n=12, utility=F1, box="10, f1: 0")
        self.trainer(WALK)
        self.made("walk", n=3, command="./trainer", trainer=", path: {parameter: C, points: 6}")
        known = {}
        for name in ("plain", "strict", "most", "walk"):
            answer, _ = self.compare(name)
            known[name] = self.client("front", study=name, denoised=False)["hypervolume"]
            self.assertEqual(answer["groups"], [{"name": name, "studies": [name], "hypervolume": {
                "values": [known[name]], "mean": known[name], "sd": None, "low": None,
                "high": None}}])
            self.assertEqual((answer["version"], answer["tests"], answer["at"]), (1, [], []))
        self.assertGreater(known["walk"], 0)
        # the constraint tells: some of the same results miss it
        feasible = [t["feasible"] for t in self.client.every("trials", study="strict")]
        self.assertIn(False, feasible)
        self.assertIn(True, feasible)
        self.assertLess(known["strict"], known["plain"])
        denoised, _ = self.compare("plain", "--by", "denoised")
        self.assertAlmostEqual(
            denoised["groups"][0]["hypervolume"]["mean"],
            self.client("front", study="plain", denoised=True)["hypervolume_denoised"], 12)

    def test_parts_of_a_study_against_one_that_is_fixed(self):
        self.trainer(WALK)
        walk = {"command": "./trainer", "trainer": ", path: {parameter: C, points: 4}"}
        self.made("one", seed=2, n=4, **walk)
        self.made("long", seed=3, n=10, **walk)
        answer, said = self.compare("one", "--group", "parts=long/4", "--at", "epsilon=1,50",
                                    "--at", "error=0.5")
        self.assertIn("2 parts of 4; the last 2 trials are left out", said)
        one, parts = answer["groups"]
        self.assertEqual(parts["studies"], ["long/4#1", "long/4#2"])
        rows = self.rows("long")
        self.assertGreater(len(rows), 10)  # waypoints are among them
        split = [[r[1:] for r in rows if r[0] // 4 == k] for k in (0, 1)]
        for value, points in zip(parts["hypervolume"]["values"], split):
            self.assertAlmostEqual(value, volume(points, (10, 1)), 12)
        self.check_sample(parts["hypervolume"])
        test, = answer["tests"]
        self.assertEqual((test["a"], test["b"], test["kind"], test["df"], test["why"]),
                         ("one", "parts", "one-sample", 1, None))
        difference = one["hypervolume"]["mean"] - parts["hypervolume"]["mean"]
        error = parts["hypervolume"]["sd"] / math.sqrt(2)
        self.assertAlmostEqual(test["difference"], difference, 12)
        self.assertAlmostEqual(test["t"], difference / error, 9)
        # of one degree of freedom: Cauchy's distribution
        self.assertAlmostEqual(test["p"], 1 - 2 / math.pi * math.atan(abs(test["t"])), 9)
        self.assertAlmostEqual(test["low"], difference - 12.706204736174705 * error, 8)
        self.check_at(answer["at"], split)

    def check_at(self, at, split):
        """Of `parts`: the best there, by hand."""
        self.assertEqual([(a.get("epsilon"), a.get("error"), a["objective"]) for a in at],
                         [(1, None, "error"), (50, None, "error"), (None, 0.5, "epsilon")])
        for answer, keep in zip(at, (lambda e, u: (e <= 1, u), lambda e, u: (e <= 50, u),
                                     lambda e, u: (u <= 0.5, e))):
            best = [min((keep(*p)[1] for p in points if keep(*p)[0]), default=None)
                    for points in split]
            name, values = answer["groups"][1]["name"], answer["groups"][1]["values"]
            self.assertEqual((name, values), ("parts", best))
            self.assertEqual(answer["groups"][1]["mean"] is None, None in best)
            self.assertEqual([t["b"] for t in answer["tests"]], ["parts"])

    def test_seeds_against_seeds(self):
        for k in (1, 2, 3):
            self.made("a%d" % k, seed=k)
            self.made("b%d" % k, seed=10 + k)
        answer, said = self.compare("--group", "a=a1,a2,a3", "--group", "b=b1,b2", "--group", "b3",
                                    "--at", "epsilon=1e-9")
        self.assertEqual(said, "")
        self.assertEqual([g["name"] for g in answer["groups"]], ["a", "b", "b3"])
        welch, fixed = answer["tests"]
        a, b = (g["hypervolume"] for g in answer["groups"][:2])
        u, v = a["sd"] ** 2 / 3, b["sd"] ** 2 / 2
        self.assertEqual((welch["kind"], fixed["kind"], fixed["df"]), ("welch", "one-sample", 2))
        self.assertAlmostEqual(welch["t"], (a["mean"] - b["mean"]) / math.sqrt(u + v), 9)
        self.assertAlmostEqual(welch["df"], (u + v) ** 2 / (u ** 2 / 2 + v ** 2), 9)
        self.assertAlmostEqual(fixed["difference"],
                               a["mean"] - answer["groups"][2]["hypervolume"]["mean"], 12)
        nothing = answer["at"][0]
        self.assertEqual(nothing["groups"][0], {"name": "a", "values": [None] * 3, "mean": None,
                                                "sd": None, "low": None, "high": None})
        self.assertEqual([(t["p"], t["kind"]) for t in nothing["tests"]], [(None, None)] * 2)

    def test_what_has_no_spread_is_not_tested(self):
        for name, seed in (("a", 1), ("again", 1), ("b", 2)):
            self.made(name, seed=seed)
        single, _ = self.compare("a", "b")
        equal, _ = self.compare("b", "--group", "same=a,again")
        for answer, why in ((single, "one value on each side"), (equal, "do not differ")):
            test, = answer["tests"]
            self.assertEqual([test[k] for k in ("low", "high", "t", "df", "p", "kind")],
                             [None] * 6)
            self.assertIn(why, test["why"])
            self.assertNotEqual(test["difference"], 0)
        self.assertEqual(equal["groups"][1]["hypervolume"]["sd"], 0)
        _, said = self.compare("a", "--group", "both=a,b")
        self.assertIn("study 'a' is named twice", said)


class Told(Case):
    """By a daemon that answers what the test says: numbers of which all is known."""

    def compare(self, trials, *arguments, code=0, page=3):
        """`trials` by study: (epsilon, error) of each, or a whole row; in pages."""
        def row(i, t):
            return t if isinstance(t, dict) else {
                "trial": i, "at": None, "state": "ok",
                "objectives": {"epsilon": t[0], "error": t[1]}, "feasible": True}

        def answer(request):
            name, at = request["study"], request.get("from", 0)
            rows = [row(i, t) for i, t in enumerate(trials[name])]
            if request["do"] == "trials":
                return {"ok": {"trials": rows[at:at + page],
                               "next": at + page if at + page < len(rows) else None}}
            if request["do"] == "front":
                return {"ok": {"study": name, "front": rows}}
            return {"ok": {"study": {
                "name": name, "state": "finished", "objectives": ["epsilon", "error"],
                "goals": ["minimize", "minimize"], "anti_ideal": {"epsilon": 10, "error": 1},
                "evaluations": len(rows), "deltas": {"epsilon": 1e-5}}}}
        listener = self.fake(answer)
        done = self.ctl("--socket", self.path("sock"), "compare", *arguments, "-o", "json")
        listener.close()
        os.unlink(self.path("sock"))
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_a_row_of_the_paper(self):
        """Table 2: 0.158 (0.053, 0.264) between a study and 19 parts of 256 trials, of
        which one each counts here."""
        spread = 0.1055 / 2.1009220402410385 * math.sqrt(19) / math.sqrt(190 / 6)
        dead = {"at": None, "state": "failed", "objectives": None, "feasible": None}
        long = []
        for k in range(19):
            hypervolume = 8.35 - 0.158 + (k - 9) * spread
            long += [{**dead, "trial": 256 * k + i} for i in range(255)]
            long.append({"trial": len(long), "at": None, "state": "ok", "feasible": True,
                         "objectives": {"epsilon": 10 - hypervolume, "error": 0}})
        long += [{**dead, "trial": len(long) + i} for i in range(5000 - len(long))]
        answer = self.compare({"one": [(10 - 8.35, 0)], "long": long}, "one", "--group",
                              "random=long/256", page=250)
        test, = answer["tests"]
        self.assertEqual((test["kind"], test["df"]), ("one-sample", 18))
        for key, known in (("difference", 0.158), ("low", 0.0525), ("high", 0.2635)):
            self.assertAlmostEqual(test[key], known, 9)
        self.assertEqual(round(test["p"], 3), 0.006)

    def test_a_part_ends_where_a_trial_has_not(self):
        rows = [(1, 0.5), (2, 0.25), (1, 0.5), (1, 0.5)]
        rows[2] = {"trial": 2, "at": None, "state": "running", "objectives": None,
                   "feasible": None}
        answer = self.compare({"s": rows}, "s/2")
        self.assertEqual(answer["groups"][0]["studies"], ["s/2#1"])
        whole = self.compare({"s": rows}, "s")["groups"][0]["hypervolume"]["values"]
        self.assertEqual(answer["groups"][0]["hypervolume"]["values"], whole)

    def test_what_was_measured_again(self):
        """The front is followed as it was chosen: that the first of both turned out better
        than the second is luck that nobody could have known of."""
        rows = [{"trial": i, "at": None, "parameters": {}, "objectives": {
                    "epsilon": e, "error": 0.2}, "remeasured": again and {
                        "runs": 50, "objectives": {"epsilon": e, "error": again}}}
                for i, (e, again) in enumerate(((0.5, None), (1, 0.5), (2, 0.75)))]
        answer = self.compare({"s": rows}, "s", "--by", "remeasured", "--at", "epsilon=1,3")
        self.assertEqual(answer["groups"][0]["hypervolume"]["values"], [1 * 0.5 + 8 * 0.25])
        self.assertEqual([at["groups"][0]["values"] for at in answer["at"]], [[0.5], [0.75]])
        error = self.compare({"s": rows[:1]}, "s", "--by", "remeasured", code=1)["error"]
        self.assertEqual(error["message"], "nothing on the front of study 's' was measured again")


class People(Compare):
    def test_tables_and_sentences(self):
        for k in (1, 2, 3, 5, 6, 7):
            self.made("s%d" % k, seed=k, n=10)
        self.made("worse", seed=4, n=1, more='constraints: {f1: ">= 2"}\n')
        done = self.ctl("--socket", self.d.socket, "compare", "worse", "--group", "s=s1,s2,s3",
                        "--at", "epsilon=1e-9,10", "--at", "error=0.999")
        self.assertEqual(done.returncode, 0)
        for text in ("WHAT", "hypervolume", "epsilon at error <= 0.999", "one-sample"):
            self.assertIn(text, done.stdout)
        self.assertRegex(done.stderr, r"hypervolume: worse is below s by [0-9.]+ \(95 %: -?[0-9.]+"
                                      r" to [0-9.]+\), p (= [0-9.]+|< 0.0001)[:\n]")
        self.assertIn("error at epsilon <= 1e-09: 3 of 3 in s have no such result", done.stderr)
        self.assertIn("error at epsilon <= 10: 1 of 1 in worse has no such result", done.stderr)
        # a difference whose interval holds none is not told as if it were sure
        for one, sure in ("worse", True), ("s1", False):
            answer, _ = self.compare(one, "--group", "s=s1,s2,s3,s5,s6,s7")
            test = answer["tests"][0]
            self.assertIs(test["low"] > 0 or test["high"] < 0, sure)
            said = self.ctl("--socket", self.d.socket, "compare", one, "--group",
                            "s=s1,s2,s3,s5,s6,s7").stderr
            self.assertIs(said.endswith(": that may be chance\n"), not sure)
        # an epsilon that is a result is never shown below what it is
        answer, _ = self.compare("s1", "--at", "error=0.999")
        table = self.ctl("--socket", self.d.socket, "compare", "s1", "--at", "error=0.999")
        shown = [line.split()[-4] for line in table.stdout.splitlines() if "epsilon at" in line]
        self.assertGreaterEqual(float(shown[0]), answer["at"][0]["groups"][0]["values"][0])

    def test_what_cannot_be_compared_is_refused(self):
        self.made("a", n=2)
        self.made("other", n=2, utility=F1, box="10, f1: 0")
        self.made("far", n=2, box="20, error: 1")
        laplace = "laplace, scale: b, delta: %s"
        self.made("some", n=2, mechanism=laplace % "1e-5")
        self.made("few", n=2, mechanism=laplace % "1e-6")
        self.assertIn("their objectives differ (minimize epsilon, minimize error; minimize "
                      "epsilon, maximize f1)", self.refused("a", "other"))
        self.assertIn("their anti-ideals differ (epsilon 10, error 1; epsilon 20, error 1)",
                      self.refused("a", "far"))
        self.assertIn("epsilon is at delta 1e-05 and 1e-06", self.refused("some", "few"))
        answer, _ = self.compare("a", "far", "--anti-ideal", "error=0.9,epsilon=5")
        self.assertEqual(answer["anti_ideal"], {"epsilon": 5, "error": 0.9})
        rows = self.rows("far")
        self.assertAlmostEqual(answer["groups"][1]["hypervolume"]["mean"],
                               volume([r[1:] for r in rows], (5, 0.9)), 12)
        for arguments, why in ((["a", "--anti-ideal", "epsilon=5"], "leaves out 'error'"),
                               (["a", "--anti-ideal", "epsilon=5,error=x"], "--anti-ideal takes"),
                               (["a", "--at", "nothing=1"], "no objective 'nothing'"),
                               (["a", "--at", "epsilon"], "--at takes"),
                               (["a", "--at", "epsilon=1,x"], "--at takes"),
                               (["a", "a"], "two groups are called 'a'"),
                               (["--group", "g=a,a"], "is in group 'g' twice"),
                               (["--group", "=a"], "a group without a name"),
                               (["--group", "g=a,"], "a study without a name"),
                               (["a/0"], "neither a study nor parts"),
                               (["a/2", "--by", "denoised"], "parts of a study can only be compared by observed"),
                               ([], "which studies?")):
            self.assertIn(why, self.refused(*arguments, code=2))
        self.assertIn("no part of 3 trials", self.refused("a/3"))
        self.assertIn("there is no study", self.refused("a", "nobody", code=5))


if __name__ == "__main__":
    unittest.main()
