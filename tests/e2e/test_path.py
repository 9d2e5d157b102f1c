"""test_path.py - trainings that are paths: what a trainer is asked for on its way, and what
of it the daemon journals."""
import json
import os
import signal
import unittest

from harness import Case, unhurried, wait_for

# What a training has come to at a value of its path: better from step to step.
WALK = """
def walk(run, upto):
    for at in request["path"]["values"]:
        if at <= upto:
            out({"run": run, "at": at, "metrics": {"a": 1 / at + run, "b": at}})
def runs():
    return [r["run"] for r in request["runs"]]
"""
ALL = WALK + """
for run in runs():
    walk(run, 64)
    out({"run": run, "metrics": {"a": 0, "b": 64}})
"""


class Paths(Case):
    def tearDown(self):
        self.tidy()

    def run_path(self, trainer, extra="", objectives=None):
        self.trainer(trainer)
        self.d = self.daemon("--slots", "2").start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(
            extra_trainer=", runs: 2, path: {parameter: n, points: 3}" + extra,
            parameters="n: {fixed: 64}", objectives=objectives,
            search="method: random, evaluations: 1, parallel: 2"))

    def ended(self):
        """The records of attempts that have ended."""
        dump = self.ctl("journal", "dump", "--state", self.d.state).stdout.splitlines()
        return [r for r in map(json.loads, dump) if r["type"] == "attempt-ended"]

    def request(self, attempt):
        with open(self.path("state/studies/s/trials/0/%s/request.json" % attempt)) as f:
            return json.load(f)

    def trial(self):
        return self.client("trial", study="s", trial=0)["trial"]

    def test_asked_and_journaled(self):
        self.run_path(ALL, objectives="a: {privacy: {mechanism: svt, cutoff: n, scale: 100}}\n"
                                      "  b: {metric: b}")
        self.finish(self.client, "s")
        self.assertEqual(self.request("0")["path"], {"parameter": "n", "values": [1, 4, 16]})
        record, = self.ended()
        self.assertEqual(record["at"], [1, 4, 16])
        # by waypoint, run and metric
        self.assertEqual(record["ways"], [1, 1, 2, 1, 0.25, 4, 1.25, 4, 0.0625, 16, 1.0625, 16])
        self.assertEqual(len(record["epsilons"]), 3)
        for n, epsilon in zip(record["at"], record["epsilons"]):
            self.assertAlmostEqual(
                epsilon, (1 + (2 * n) ** (1 / 3)) * (1 + (2 * n) ** (2 / 3)) / 100)
        self.assertEqual(self.trial()["objectives"]["b"], 64)
        self.assertEqual(self.trial()["waypoints"], [
            {"at": n, "dropped": False, "objectives": {"a": epsilon, "b": n},
             "spread": {"b": {"runs": 2, "sd": 0, "low": n, "high": n}},
             "metrics": {"a": 1 / n + 0.5, "b": n}}
            for n, epsilon in zip(record["at"], record["epsilons"])])

    def test_no_learning_curve(self):
        """Epsilon falls as n grows, so that a checkpoint costs more than the end."""
        self.trainer(ALL)
        client = self.daemon("--slots", "1").start().connect()
        for privacy in ("mechanism: gaussian, sigma: n, delta: 1e-5",
                        "mechanism: output-perturbation, regularization: 0.1, records: n, "
                        "sigma: 1, delta: 1e-5"):
            text = self.study(extra_trainer=", path: {parameter: n, points: 3}",
                              parameters="n: {fixed: 64}",
                              objectives="a: {privacy: {%s}}\n  b: {metric: b}" % privacy)
            path = self.write("falling.yaml", text)
            checked = self.ctl("validate", path)
            self.assertEqual(checked.returncode, 1)
            self.assertRegex(checked.stderr + checked.stdout,
                             r"falling.yaml:3:\d+: error: 'n' makes no learning curve")
            run = self.ctl("run", path, "--state", self.path("alone"))
            self.assertEqual(run.returncode, 1)
            self.assertIn("'n' makes no learning curve", run.stderr)
            with self.assertRaisesRegex(Exception, "makes no learning curve"):
                self.submit(client, text)
        self.assertEqual(client("list")["studies"], [])

    def test_external_accountant_that_falls(self):
        """The cost of a run is the maximum over its checkpoints and its end."""
        self.write("accountant", "#!/usr/bin/env python3\nimport json, sys\n"
                   "for line in sys.stdin:\n"
                   "    q = json.loads(line)\n"
                   "    print(json.dumps({'id': q['id'], 'epsilon':\n"
                   "          {1: 3, 4: 5, 16: 2}.get(q['parameters']['n'], 1)}), flush=True)\n",
                   0o755)
        self.run_path(ALL, objectives="a: {privacy: {command: [./accountant], delta: 1e-5}}\n"
                                      "  b: {metric: b}")
        self.finish(self.client, "s")
        record, = self.ended()
        self.assertEqual(record["epsilons"], [3, 5, 5])
        self.assertEqual(self.trial()["objectives"]["a"], 5)

    def test_one_run_per_process(self):
        self.run_path(ALL, ", runs_per_process: 1")
        self.finish(self.client, "s")
        for run in range(2):
            self.assertEqual(self.request("%d-0" % run)["path"]["values"], [1, 4, 16])
        ways = {r["run"]: r["ways"] for r in self.ended()}
        self.assertEqual(ways, {0: [1, 1, 0.25, 4, 0.0625, 16], 1: [2, 1, 1.25, 4, 1.0625, 16]})

    def test_not_asked(self):
        self.run_path("out({'run': 0, 'at': 2, 'metrics': {'a': 1, 'b': 1}})\nreport(a=1, b=1)")
        self.finish(self.client, "s")
        trial = self.trial()
        self.assertEqual(trial["attempts"][0]["end"], "bad-output")
        self.assertIn("run 0 at 2 was not asked", trial["reason"])
        self.assertNotIn("at", self.ended()[0])

    def test_any_order_and_gaps(self):
        """Waypoints come as they like; one that a run left out, or where it has no number,
        is dropped alone."""
        self.run_path(WALK + """
def at(run, value, a):
    out({"run": run, "at": value, "metrics": {"a": a, "b": value}})
at(1, 4, float("nan"))
at(0, 16, 1)
at(0, 1, 2)
at(1, 1, 4)
at(0, 4, 8)
for run in (1, 0):
    out({"run": run, "metrics": {"a": 0, "b": 64}})
""")
        self.finish(self.client, "s")
        trial = self.trial()
        self.assertEqual(trial["state"], "ok")
        self.assertEqual([(w["at"], w["dropped"]) for w in trial["waypoints"]],
                         [(1, False), (4, True), (16, True)])
        self.assertEqual(trial["waypoints"][0]["metrics"]["a"], 3)

    def test_bad_lines(self):
        """What is told twice, or after its run, spoils the attempt, and nothing of it stays."""
        for said, lines in (("run 0 at 4 was reported before", (4, 4, None)),
                            ("run 0 at 4 comes after the run's own line", (1, None, 4))):
            self.run_path("for at in %r:\n    line = {'run': 0, 'metrics': {'a': 1, 'b': 1}}\n"
                          "    out({**line, 'at': at} if at else line)\n" % (lines,))
            self.finish(self.client, "s")
            trial = self.trial()
            self.assertEqual(trial["attempts"][0]["end"], "bad-output")
            self.assertIn(said, trial["reason"])
            self.assertNotIn("at", self.ended()[0])
            self.assertEqual(self.d.end(), 0)
            os.rename(self.path("state"), self.path("state-%d" % lines[0]))

    CUT = WALK + """
walk(0, 16)
walk(1, 4)
out('{"run":1,"at":16,"metr')
gate("never")
"""

    def check_cut(self, end):
        record, = self.ended()
        self.assertEqual((record["end"], record["at"]), (end, [1, 4, 16]))
        self.assertEqual([(w["at"], w["dropped"]) for w in self.trial()["waypoints"]],
                         [(1, False), (4, False), (16, True)])
        self.assertEqual(record["ways"][:10], [1, 1, 2, 1, 0.25, 4, 1.25, 4, 0.0625, 16])
        self.assertEqual(record["ways"][10:], ["nan", "nan"])

    def test_cancelled(self):
        self.run_path(self.CUT)
        wait_for(lambda: self.has("at-never"))
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.check_cut("cancelled")

    def test_timeout(self):
        self.run_path(self.CUT, ", grace: 100ms, timeout: %gs" % unhurried(1))
        self.finish(self.client, "s")
        self.check_cut("timeout")

    def test_stalled(self):
        self.run_path(self.CUT, ", grace: 100ms, stall: %gs" % unhurried(1))
        status = self.finish(self.client, "s")
        self.check_cut("stalled")
        # nothing ended well, and yet there is something to show
        self.assertEqual((status["study"]["state"], status["study"]["front"]), ("finished", 2))
        self.assertIn("no training came to its end", status["study"]["reason"])

    CUT_EACH = WALK + """
run, = runs()
walk(run, (16, 4)[run])
gate("never-%d" % run)
"""

    def check_cut_each(self, end):
        self.assertEqual([r["end"] for r in self.ended()], [end, end])
        self.assertEqual([(w["at"], w["dropped"], w["metrics"]["a"])
                          for w in self.trial()["waypoints"] if not w["dropped"]],
                         [(1, False, 1.5), (4, False, 0.75)])

    def test_cancelled_runs_of_their_own(self):
        self.run_path(self.CUT_EACH, ", runs_per_process: 1")
        wait_for(lambda: self.has("at-never-0") and self.has("at-never-1"))
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.check_cut_each("cancelled")

    def test_timeout_of_runs_of_their_own(self):
        self.run_path(self.CUT_EACH, ", runs_per_process: 1, grace: 100ms, timeout: %gs"
                      % unhurried(1))
        self.finish(self.client, "s")
        self.check_cut_each("timeout")

    def test_retried_runs_of_their_own(self):
        """Only what is missing is made again; what a known run told on its way stays."""
        self.run_path(WALK + """
run, = runs()
if run == 1 and request["attempt"] == 0:
    walk(run, 4)
    gate("never")
if run == 1:
    gate("again")
walk(run, 64)
out({"run": run, "metrics": {"a": 0, "b": 64}})
""", ", runs_per_process: 1", "a: {privacy: {mechanism: svt, cutoff: n, scale: 100}}\n"
                      "  b: {metric: b}")
        wait_for(lambda: self.has("at-never") and len(self.ended()) == 1)
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.assertEqual([w["dropped"] for w in self.trial()["waypoints"]], [False, False, True])
        self.assertEqual(len(self.client("front", study="s", points=[[0, 4]])["front"]), 1)
        self.client("retry", study="s", trial=0)
        wait_for(lambda: self.has("at-again"))
        # somebody who had its number before the retry
        self.assertEqual(self.client("front", study="s", points=[[0, 4]]), {"front": []})
        self.touch("again")
        wait_for(lambda: self.trial()["state"] == "ok")
        self.assertEqual([(r["run"], r["end"]) for r in self.ended()],
                         [(0, "ok"), (1, "cancelled"), (1, "ok")])
        self.assertEqual([(w["at"], w["dropped"], w["metrics"]["b"])
                          for w in self.trial()["waypoints"]],
                         [(1, False, 1), (4, False, 4), (16, False, 16)])

    def test_adopted_on_its_way(self):
        self.run_path(WALK + """
walk(0, 4)
gate("mid")
out({"run": 0, "at": 16, "metrics": {"a": 0.0625, "b": 16}})
out({"run": 0, "metrics": {"a": 0, "b": 64}})
walk(1, 64)
out({"run": 1, "metrics": {"a": 0, "b": 64}})
""")
        wait_for(lambda: self.has("at-mid"))
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()
        self.assertEqual(self.client("status", study="s")["study"]["running"], 1)
        self.touch("mid")
        self.finish(self.client, "s")
        record, = self.ended()
        self.assertEqual(record["ways"], [1, 1, 2, 1, 0.25, 4, 1.25, 4, 0.0625, 16, 1.0625, 16])

    def test_a_new_daemon_reads_it(self):
        """A daemon that was killed comes back to a training that has walked on."""
        self.run_path(WALK + "gate('first')\n" + ALL)
        wait_for(lambda: self.has("at-first"))
        self.d.end(signal.SIGKILL)
        self.touch("first")
        self.d.start()
        self.client = self.d.connect()
        self.finish(self.client, "s")
        record, = self.ended()
        self.assertEqual(record["ways"], [1, 1, 2, 1, 0.25, 4, 1.25, 4, 0.0625, 16, 1.0625, 16])

    def test_a_daemon_that_stops_keeps_nothing(self):
        """Stopped from outside: the trial starts again, and only that counts."""
        self.run_path(WALK + "if request['attempt'] == 0:\n    walk(0, 4)\n    gate('never')\n"
                      + ALL)
        wait_for(lambda: self.has("at-never"))
        self.client("shutdown", policy="kill")
        self.assertEqual(self.d.ends(), (0, ""))
        self.d.start()
        self.client = self.d.connect()
        self.finish(self.client, "s")
        self.assertEqual(["at" in r for r in self.ended()], [False, True])


if __name__ == "__main__":
    unittest.main()
