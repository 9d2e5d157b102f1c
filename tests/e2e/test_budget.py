"""test_budget.py - search.budget: a filter is chosen and journaled before the first
training, a training starts only if it fits, and nothing that happens to a daemon changes
what is spent."""
import json
import signal
import unittest

from harness import Case, Refused, wait_for

PARAMETERS = ("sigma: {type: float, range: [3, 12], scale: log}\n"
              "  x: {type: float, range: [0, 1]}")
OBJECTIVES = ("a: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1.0e-5}}\n"
              "  b: {metric: b}")
REPORT = "report(b=params['x'] ** 2 + 0.1 + 0.01 * params['sigma'])\n"
BUDGET = "budget: {epsilon: 2, delta: 1.0e-5}"


def k(sigma, order):
    """K of one Gaussian mechanism (Mironov 2017, Proposition 7)."""
    return order * (order - 1) / (2 * sigma ** 2)


class Budget(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, trainer=REPORT, retries=0, **more):
        self.trainer(trainer)
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()
        self.extra = ", retries: %d" % retries

    def run_study(self, name, search, extra=""):
        self.submit(self.client, self.study(
            name, extra_trainer=self.extra + extra, search=search + ", " + BUDGET,
            parameters=PARAMETERS, objectives=OBJECTIVES))

    def journal(self, name="s"):
        """The study's records."""
        lines = self.ctl("journal", "dump", "--state", self.d.state,
                         "--study", name).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def filter(self, records):
        fixed = [r for r in records if r["type"] == "accounting-fixed"]
        self.assertEqual(len(fixed), 1)
        self.assertEqual(len(fixed[0]["orders"]), len(fixed[0]["weights"]))
        first = next(r["seq"] for r in records if r["type"] == "trial-proposed")
        self.assertLess(fixed[0]["seq"], first)
        return fixed[0]["filter"]

    def spent(self, records, order):
        """K of every attempt that was begun, from the settings alone."""
        sigma = {r["trial"]: r["params"][0] for r in records if r["type"] == "trial-proposed"}
        return sum(k(sigma[r["trial"]], order) for r in records
                   if r["type"] == "attempt-planned")

    def test_spends_all_and_ends(self):
        """Each method ends with that reason, within the budget; the search has used nearly
        all of it, with ever cheaper trainings."""
        self.begin()
        for name, search in ("dpareto", "method: dpareto, initial: 3, cost: privacy"), \
                            ("random", "method: random, parallel: 3"), \
                            ("few", "method: dpareto, initial: 2, evaluations: 4"):
            self.run_study(name, search)
            study = self.finish(self.client, name)["study"]
            records = self.journal(name)
            found = self.filter(records)
            spent = self.spent(records, found["order"])
            self.assertEqual(study["state"], "finished")
            self.assertLessEqual(spent, found["limit"])
            for r in records:
                if r["type"] == "trial-proposed":
                    self.assertAlmostEqual(r["renyi"][0], k(r["params"][0], found["order"]),
                                           delta=1e-8)
            if name == "few":
                self.assertIsNone(study["reason"])
                continue
            self.assertRegex(study["reason"], "^search.budget: ")
            self.assertEqual(study["budget"]["epsilon"], 2)
            self.assertAlmostEqual(study["budget"]["spent"], spent / (found["order"] - 1), 6)
            self.assertAlmostEqual(study["budget"]["most"],
                                   found["limit"] / (found["order"] - 1), 6)
            if name == "dpareto":
                self.assertGreater(spent, found["limit"] - k(12, found["order"]))

    def test_killed(self):
        """A study whose daemon is killed proposes the same points, bit for bit, and what
        the killed attempt may have cost stays spent."""
        points = {}
        for name, gated in ("whole", ""), ("s", "if request['trial'] == 2:\n    gate('go')\n"):
            self.begin(gated + REPORT) if not points else self.trainer(gated + REPORT)
            self.run_study(name, "method: dpareto, initial: 3, cost: privacy, evaluations: 6, "
                           "parallel: 2, order: deterministic")
            if gated:
                wait_for(lambda: self.has("at-go"))
                self.d.end(signal.SIGKILL)
                self.touch("go")
                self.d.start()
                self.client = self.d.connect()
            self.finish(self.client, name)
            records = self.journal(name)
            points[name] = [(r["params"], r["renyi"]) for r in records
                            if r["type"] == "trial-proposed"]
            self.filter(records)
        self.assertEqual(points["whole"], points["s"])
        self.assertEqual(len(points["s"]), 6)

    def test_refused_beyond(self):
        """What a person asks for goes through the same gate; trainings that run count, with
        the retries that they may need."""
        self.begin("if params['x'] < 0.25:\n    sys.exit(1)\ngate('on')\n" + REPORT, retries=1)
        self.run_study("s", "method: random, parallel: 2, evaluations: 9")
        wait_for(lambda: self.has("at-on"))
        records = self.journal()
        found = self.filter(records)
        order = found["order"]

        def reserved():
            """Everything begun, and what it may be tried again."""
            trials = self.client("trials", study="s")["trials"]
            return sum(k(t["parameters"]["sigma"], order) *
                       (1 if t["state"] == "failed" else 2) for t in trials)
        self.client("pause", study="s")
        fits = lambda sigma: reserved() + 2 * k(sigma, order) < found["limit"]
        sigma = 12
        while fits(sigma * 0.9):  # the dearest that fits
            sigma *= 0.9
        with self.assertRaises(Refused) as refused:
            self.client("enqueue", study="s", parameters={"sigma": sigma * 0.8, "x": 0})
        self.assertIn("search.budget: epsilon 2 at delta 1e-05 would be exceeded",
                      str(refused.exception))
        self.client("enqueue", study="s", parameters={"sigma": sigma, "x": 0})
        self.client("resume", study="s")
        self.touch("on")
        study = self.finish(self.client, "s")["study"]
        self.assertRegex(study["reason"], "^search.budget: ")
        for verb, more in ("set", {"evaluations": 50}), \
                          ("enqueue", {"parameters": {"sigma": 3.0, "x": 1}}):
            with self.assertRaises(Refused) as refused:
                self.client(verb, study="s", **more)
            self.assertIn("search.budget", str(refused.exception))
        self.assertLessEqual(self.spent(self.journal(), order), found["limit"])

    def test_unaffordable(self):
        """A budget that pays for nothing is told before anything is trained."""
        self.begin()
        self.submit(self.client, self.study(
            "s", parameters="sigma: {type: float, range: [0.1, 0.2]}", objectives=OBJECTIVES,
            search="method: dpareto, " + BUDGET))
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ended"]), ("failed", 0))
        self.assertIn("search.budget: a budget of epsilon 2 at delta 1e-05 pays for no training",
                      study["reason"])

    def test_odometer(self):
        """A search without a budget has its odometer fixed before the first trial; its
        status says what the whole search has cost, and by which proof."""
        self.begin()
        text = self.study("s", parameters=PARAMETERS, objectives=OBJECTIVES,
                          search="method: dpareto, initial: 2, evaluations: 4")
        self.submit(self.client, text)
        self.finish(self.client, "s")
        types = [r["type"] for r in self.journal()]
        self.assertEqual(types[:2], ["study-created", "accounting-fixed"])
        self.assertEqual(types.count("accounting-fixed"), 1)
        whole = wait_for(lambda: self.client("status", study="s")["study"]["whole"])["a"]
        self.assertEqual((whole["proof"], whole["delta"], whole["trainings"]),
                         ("odometer", 1e-5, 4))
        self.assertGreater(whole["epsilon"], whole["if_fixed"])
        shown = self.ctl("--socket", self.d.socket, "status", "s").stdout
        self.assertRegex(shown, r"whole search +a [0-9.]+ at delta 1e-05 \(odometer; had all "
                                r"settings been fixed: [0-9.]+\) after 4 trainings")


if __name__ == "__main__":
    unittest.main()
