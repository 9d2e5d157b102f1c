"""test_cost.py - what trainings cost: search.max_cost ends a study before the training that
would exceed it, and search.cost: seconds learns from what trainings took."""
import signal
import unittest

from harness import Case, Refused, wait_for

WALKED = ", path: {parameter: n, points: 3}"
# Many trainings in little time.
QUICK = """#!/bin/sh
echo '{"run": 0, "metrics": {"a": 1, "b": 1}}' > "$DPARETO_RESULT"
"""
REPORT = "report(a=1 / params['n'], b=params['n'] / 10)\n"


class Cost(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, trainer):
        if trainer is QUICK:
            self.write("trainer", trainer, 0o755)
        else:
            self.trainer(trainer)
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def run_study(self, name, search, path=WALKED):
        """Starts a study of trainings that cost 1 to 9."""
        self.submit(self.client, self.study(
            name, extra_trainer=path, search=search,
            parameters="n: {type: int, range: [1, 9]}\n  x: {type: float, range: [0, 1]}"))

    def costs(self, name):
        return [t["parameters"]["n"] for t in self.client("trials", study=name)["trials"]]

    def reason(self, most, whole):
        return ("search.max_cost: %g n would be %g with the next training" % (most, whole))

    METHODS = {"random": "method: random", "grid": "method: grid, grid: 4",
               "dpareto": "method: dpareto, initial: 3, order: deterministic"}

    def test_exact(self):
        """Without a limit, with one that is met exactly, and with one that is not."""
        self.begin(QUICK)
        for method, search in self.METHODS.items():
            search += ", parallel: 3"
            self.run_study(method, search + ", evaluations: 7")
            self.finish(self.client, method)
            costs = self.costs(method)
            self.assertEqual(len(costs), 7)
            for most, trials in (sum(costs[:5]), 5), (sum(costs[:5]) - 0.5, 4):
                name = "%s-%d" % (method, trials)
                self.run_study(name, search + ", max_cost: %g" % most)
                study = self.finish(self.client, name)["study"]
                self.assertEqual(self.costs(name), costs[:trials])
                self.assertEqual((study["state"], study["reason"]),
                                 ("finished", self.reason(most, sum(costs[:trials + 1]))))

    def test_killed_and_woken(self):
        """A daemon that is killed comes to the same end, and so does a study whose
        evaluations are raised."""
        self.begin("if request['trial'] == 2:\n    gate('on')\n" + REPORT)
        search = "method: random, parallel: 2"
        self.run_study("whole", search + ", evaluations: 7")
        wait_for(lambda: self.has("at-on"))
        self.touch("on")
        self.finish(self.client, "whole")
        costs = self.costs("whole")
        most = sum(costs[:5])
        self.trainer("if request['trial'] == 2:\n    gate('go')\n" + REPORT)
        self.run_study("s", search + ", max_cost: %g" % most)
        wait_for(lambda: self.has("at-go"))
        self.d.end(signal.SIGKILL)
        self.touch("go")
        self.d.start()
        self.client = self.d.connect()
        for woken in False, True:
            if woken:
                self.client("set", study="s", evaluations=100)
            study = self.finish(self.client, "s")["study"]
            self.assertEqual((study["state"], study["reason"], study["evaluations"]),
                             ("finished", self.reason(most, sum(costs[:6])), 5))
            self.assertEqual(self.costs("s"), costs[:5])
        refused = self.ctl("--socket", self.d.socket, "resume", "s")
        self.assertIn(self.reason(most, sum(costs[:6])), refused.stderr)
        self.assertEqual(refused.returncode, 1)

    def test_enqueued(self):
        """A point that a person asks for has to fit, too."""
        self.begin("gate('on')\n" + REPORT)
        self.run_study("s", "method: random, max_cost: 20")
        wait_for(lambda: self.has("at-on"))
        spent, = self.costs("s")
        self.client("enqueue", study="s", parameters={"n": 9, "x": 0})
        with self.assertRaises(Refused) as refused:
            self.client("enqueue", study="s", parameters={"n": 21 - 9 - spent, "x": 1})
        self.assertIn(self.reason(20, 21), str(refused.exception))
        self.client("enqueue", study="s", parameters={"n": 20 - 9 - spent, "x": 1})
        self.touch("on")
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], sum(self.costs("s"))), ("finished", 20))

    def test_seconds(self):
        """Trainings that sleep: the study ends by what they took, and the next one's time
        is known about."""
        self.begin("time.sleep(0.02 * params['n'])\n" + REPORT)
        self.run_study("s", "method: dpareto, initial: 4, cost: seconds, max_cost: 1.5", "")
        study = self.finish(self.client, "s")["study"]
        self.assertEqual(study["state"], "finished")
        self.assertRegex(study["reason"],
                         r"^search.max_cost: 1.5 seconds would be [0-9.]+ with the next")
        trials = self.client("trials", study="s")["trials"]
        slept = sum(0.02 * t["parameters"]["n"] for t in trials)
        self.assertLess(slept, 1.5)
        self.assertGreater(self.client("propose", study="s")["cost"], 0.02)

    def test_how_far(self):
        """A study without `evaluations` is as far as its max_cost is spent."""
        self.begin("if request['trial'] == 2:\n    gate('on')\n" + REPORT)
        self.run_study("s", "method: random, max_cost: 1000, cost: seconds", "")
        wait_for(lambda: self.has("at-on"))
        study = self.client("status", study="s")["study"]
        self.assertEqual((study["ended"], study["cost"]["most"]), (2, 1000))
        self.assertGreater(study["cost"]["spent"], 0)
        self.assertLess(study["eta"], 1e5)
        for words, text in (["status", "s"], r"  2, cost [0-9.]+ of 1000 \([0-9]+%\), .* left"), \
                           (["list"], r" 2 \([0-9]+%\) "):
            self.assertRegex(self.ctl("--socket", self.d.socket, *words).stdout, text)
        self.client("stop", study="s", now=True)


if __name__ == "__main__":
    unittest.main()
