"""Points that are measured again: by request, at the end of a study, after kills."""
import csv
import io
import json
import os
import signal
import subprocess
import unittest

import harness

# a noisy utility: what a run reports follows from its seed and its point
NOISY = """
for run in request["runs"]:
    noise = (run["seed"] % 1000) / 1000 - 0.5
    out({"run": run["run"], "metrics": {"a": params["x"], "b": 1 - params["x"] + 0.2 * noise}})
"""


def expected(request, name="b"):
    """The metrics of a request's runs, as NOISY reports them."""
    x = request["parameters"]["x"]
    values = []
    for run in request["runs"]:
        noise = (run["seed"] % 1000) / 1000 - 0.5
        values.append(1 - x + 0.2 * noise)
    return values


class Case(harness.Case):
    def tearDown(self):
        self.tidy()

    def begin(self, trainer=NOISY, options=(), **study):
        self.trainer(trainer)
        study.setdefault("extra_trainer", ", runs: 2")
        study.setdefault("search", "method: random, evaluations: 4, parallel: 2")
        self.text = self.study(**study)
        self.d = self.daemon(*options).start()
        self.client = self.d.connect()
        self.submit(self.client, self.text)
        return self.client

    def requests(self):
        """All request.json of trials that measure, by number."""
        folder = os.path.join(self.d.state, "studies", "s", "trials")
        found = {}
        for trial in os.listdir(folder):
            for attempt in os.listdir(os.path.join(folder, trial)):
                if int(trial) >= 10 ** 9:
                    with open(os.path.join(folder, trial, attempt, "request.json")) as f:
                        found[int(trial)] = json.load(f)
        return found

    def measures(self):
        return self.client("measures", study="s")["measures"]

    def dump(self):
        done = self.ctl("journal", "dump", "--state", self.d.state)
        return [json.loads(line) for line in done.stdout.splitlines()]


class Measure(Case):
    def test_a_finished_study(self):
        client = self.begin()
        before = self.finish(client, "s")
        searched = client.every("trials", study="s")
        told = client("measure", study="s", runs=5)
        front = client("front", study="s")
        self.assertEqual(told["measurements"], list(range(len(front["front"]))))
        self.assertEqual(told["new"], len(front["front"]))
        self.assertEqual(told["study"]["state"], "running")
        self.assertEqual(told["study"]["measuring"]["runs"], 5 * len(front["front"]))
        after = self.finish(client, "s")
        for key in ("state", "reason", "evaluations", "ended", "ok", "failed", "hypervolume"):
            self.assertEqual(after["study"][key], before["study"][key], key)
        self.assertIsNone(after["study"]["measuring"])
        self.compare_with_requests(client("front", study="s"), 5)
        # what was searched is as it was
        again = client.every("trials", study="s")
        for one in again:
            one["remeasured"] = None
        self.assertEqual(again, searched)

    def compare_with_requests(self, result, runs):
        """Every point of the front has what its requests' seeds come to."""
        requests = self.requests()
        seeds = [run["seed"] for r in requests.values() for run in r["runs"]]
        self.assertEqual(len(set(seeds)), len(seeds))
        for measure, point in zip(self.measures(), result["front"]):
            first, last = measure["trials"]
            self.assertEqual(last - first + 1, (runs + 1) // 2)
            values = [v for n in range(first, last + 1) for v in expected(requests[n])]
            self.assertEqual(len(values), runs)
            self.assertEqual(measure["trial"], point["trial"])
            self.assertEqual(measure["state"], "ok")
            self.assertEqual(point["remeasured"]["runs"], runs)
            mean = sum(values) / runs
            sd = (sum((v - mean) ** 2 for v in values) / (runs - 1)) ** 0.5
            self.assertAlmostEqual(point["remeasured"]["objectives"]["b"], mean, 12)
            self.assertEqual(point["remeasured"]["objectives"]["a"],
                             point["objectives"]["a"])
            self.assertAlmostEqual(measure["sd"]["b"], sd, 12)
            wide = 2.7764451 * sd / runs ** 0.5  # t of 4 degrees of freedom
            self.assertAlmostEqual(point["remeasured"]["high"]["b"], mean + wide, 4)
            self.assertAlmostEqual(point["remeasured"]["low"]["b"], mean - wide, 4)
            self.assertNotEqual(point["objectives"]["b"], mean)
        self.assertIn("hypervolume_remeasured", result)

    def test_named_points(self):
        """Any results, each as often as asked; what is none is refused with the reason."""
        client = self.begin(search="method: random, evaluations: 3")
        self.finish(client, "s")
        told = client("measure", study="s", runs=3, points=[[2, None], [0, None]])
        self.assertEqual(told["measurements"], [0, 1])
        self.finish(client, "s")
        self.assertEqual([(m["trial"], m["at"], m["runs"], m["done"]) for m in self.measures()],
                         [(2, None, 3, 3), (0, None, 3, 3)])
        again = client("measure", study="s", runs=4, points=[[2, None]])
        self.assertEqual((again["measurements"], again["new"]), ([2], 1))
        self.finish(client, "s")
        rows = {t["trial"]: t["remeasured"] for t in client.every("trials", study="s")}
        self.assertEqual((rows[0]["runs"], rows[1], rows[2]["runs"]), (3, None, 7))
        # the pooled mean is that of all runs
        both = [m for m in self.measures() if m["trial"] == 2]
        pooled = (3 * both[0]["objectives"]["b"] + 4 * both[1]["objectives"]["b"]) / 7
        self.assertAlmostEqual(rows[2]["objectives"]["b"], pooled, 12)
        for fields, kind, words in (
                ({"points": [[7, None]], "runs": 1}, "not-found", "no trial 7"),
                ({"points": [[0, 4]], "runs": 1}, "not-found", "no waypoints"),
                ({"points": [], "runs": 1}, "invalid", "names no point"),
                ({"points": [[10 ** 9, None]], "runs": 1}, "invalid", "m0 measures"),
                ({"runs": 100000, "points": 4 * [[0, None]]}, "limit", "100000 trials"),
                ({"runs": 0}, "invalid", "from 1 to"), ({}, "invalid", "from 1 to"),
                ({"runs": 1, "parameters": {"x": 2}}, "invalid", "from 0 to 1"),
                ({"runs": 1, "points": [[0, None]], "parameters": {"x": 1}}, "protocol",
                 "either")):
            with self.assertRaises(harness.Refused) as refused:
                client("measure", study="s", **fields)
            self.assertEqual(refused.exception.error["kind"], kind, fields)
            self.assertIn(words, refused.exception.error["message"])

    def test_any_point(self):
        """A point of the space that nobody tested, as `recommend --verify` asks for it."""
        client = self.begin()
        self.finish(client, "s")
        told = client("measure", study="s", runs=5, parameters={"x": 0.25})
        self.assertEqual(told["new"], 1)
        self.finish(client, "s")
        one, = self.measures()
        self.assertEqual((one["why"], one["trial"], one["at"], one["state"], one["done"]),
                         ("verify", None, None, "ok", 5))
        self.assertEqual(one["parameters"], {"x": 0.25})
        self.assertAlmostEqual(one["objectives"]["a"], 0.25, 12)
        self.assertNotIn("hypervolume_remeasured", client("front", study="s"))

    def test_a_process_for_each_run(self):
        """Seeds and values do not depend on how the runs are spread over processes."""
        both = []
        for name, processes in (("s", "all"), ("t", "1")):
            self.trainer(NOISY)
            if not both:
                self.d = self.daemon("--slots", "2").start()
                self.client = self.d.connect()
            self.submit(self.client, self.study(
                name, extra_trainer=", runs: 2, runs_per_process: " + processes,
                search="method: random, evaluations: 2, parallel: 2"))
            self.finish(self.client, name)
            self.client("measure", study=name, runs=3, points=[[1, None]])
            self.finish(self.client, name)
            both.append(self.client("measures", study=name)["measures"])
        self.assertEqual(both[0], both[1])
        folder = os.path.join(self.d.state, "studies", "t", "trials")
        self.assertEqual(sorted(os.listdir(os.path.join(folder, "1000000000"))), ["0-0", "1-0"])
        self.assertEqual(sorted(os.listdir(os.path.join(folder, "1000000001"))), ["0-0"])

    def test_a_waypoint(self):
        """Where a training was on its way is measured by trainings that end there."""
        walk = """
def b(n, seed):
    return 1 / n + (seed % 1000) * 1e-6
for run in request["runs"]:
    for at in request.get("path", {"values": []})["values"]:
        out({"run": run["run"], "at": at, "metrics": {"b": b(at, run["seed"])}})
    out({"run": run["run"], "metrics": {"b": b(params["n"], run["seed"])}})
"""
        client = self.begin(
            walk, extra_trainer=", runs: 2, path: {parameter: n, points: 4}",
            parameters="n: {fixed: 16}",
            objectives="a: {privacy: {mechanism: svt, cutoff: n, scale: 100}}\n  b: {metric: b}",
            search="method: random, evaluations: 1")
        self.finish(client, "s")
        client("measure", study="s", runs=3, points=[[0, 4], [0, None]])
        self.finish(client, "s")
        requests = self.requests()
        self.assertEqual([requests[n]["parameters"]["n"] for n in sorted(requests)],
                         [4, 4, 16, 16])
        self.assertEqual([requests[n]["privacy"]["a"]["cutoff"] for n in sorted(requests)],
                         [4, 4, 16, 16])
        self.assertTrue(all("path" not in r for r in requests.values()))
        at4, own = self.measures()
        self.assertEqual((at4["trial"], at4["at"], at4["parameters"]), (0, 4, {"n": 4}))
        point = client("trial", study="s", trial=0, at=4)["trial"]
        self.assertEqual(point["remeasured"]["objectives"], at4["objectives"])
        self.assertEqual(at4["objectives"]["a"], point["objectives"]["a"])
        self.assertLess(at4["objectives"]["a"], own["objectives"]["a"])
        self.assertAlmostEqual(at4["objectives"]["b"], 0.25, 2)

    def test_failures(self):
        """Which fail is told, the others go on; three in a row are a person's matter."""
        client = self.begin(NOISY.replace("\n", """
if request["trial"] >= 10 ** 9 and (request["trial"] % 10 ** 9 == 1 or os.path.exists(beside("bad"))):
    sys.exit(3)
""", 1), search="method: random, evaluations: 2", options=("--slots", "1"))
        before = self.finish(client, "s")
        client("measure", study="s", runs=6, points=[[0, None]])
        after = self.finish(client, "s")
        one, = self.measures()
        self.assertEqual((one["state"], one["done"], one["failed"]), ("failed", 4, 2))
        self.assertIn("exit-code", one["reason"])
        self.assertEqual([after["study"][k] for k in ("state", "failed", "ok", "ended")],
                         [before["study"][k] for k in ("state", "failed", "ok", "ended")])
        self.assertEqual([f["trial"] for f in after["failures"]], [10 ** 9 + 1])
        self.touch("bad")
        client("measure", study="s", runs=8, points=[[1, None]])
        status = self.finish(client, "s")["study"]
        self.assertEqual((status["state"], status["by_failures"]), ("paused", True))
        self.assertIn("measure points again failed; trial m5: exit-code", status["reason"])
        os.remove(self.path("bad"))
        client("resume", study="s")
        self.assertEqual(self.finish(client, "s")["study"]["state"], "finished")
        self.assertEqual(self.measures()[1]["done"], 2)
        # what failed can be tried again, and the study goes back to where it was
        client("retry", study="s", trial=10 ** 9 + 3)
        self.assertEqual(self.finish(client, "s")["study"]["state"], "finished")
        self.assertEqual(self.measures()[1]["done"], 4)

    def test_stopped_paused_cancelled(self):
        client = self.begin(NOISY.replace("\n", """
if request["trial"] >= 10 ** 9:
    gate("go%d" % (request["trial"] % 10 ** 9))
""", 1), search="method: random, evaluations: 2", options=("--slots", "1"))
        self.finish(client, "s")
        client("measure", study="s", runs=8, points=[[0, None]])
        harness.wait_for(lambda: self.has("at-go0"))
        looked = self.ctl("status", "s", "--state", self.d.state, "-o", "json")
        self.assertEqual([a["trial"] for a in json.loads(looked.stdout)["running"]], [10 ** 9])
        client("pause", study="s")
        self.touch("go0")
        harness.wait_for(lambda: self.measures()[0]["done"] == 2)
        self.assertEqual(client("status", study="s")["study"]["state"], "paused")
        # asked again: it is the same, which goes on once the study is resumed
        self.assertEqual(client("measure", study="s", runs=8, points=[[0, None]])["new"], 0)
        client("resume", study="s")
        harness.wait_for(lambda: self.has("at-go1"))
        client("cancel", study="s", trial=10 ** 9 + 1)
        harness.wait_for(lambda: self.has("at-go2"))
        client("stop", study="s")  # m2 may end, m3 does not begin
        self.touch("go2")
        status = self.finish(client, "s")["study"]
        self.assertEqual((status["state"], status["reason"]), ("finished", None))
        one, = self.measures()
        self.assertEqual((one["state"], one["done"], one["failed"]), ("failed", 4, 4))
        self.assertFalse(self.has("at-go3"))
        # of one that waits nothing runs: it is over at once
        client("measure", study="s", runs=6, points=[[1, None]])
        harness.wait_for(lambda: self.has("at-go4"))
        client("pause", study="s")
        self.touch("go4")
        harness.wait_for(lambda: self.measures()[1]["done"] == 2)
        self.assertEqual(client("stop", study="s")["study"]["state"], "finished")
        self.assertEqual(self.measures()[1]["failed"], 4)
        # a study that was stopped is stopped again afterwards, and can be resumed meanwhile
        self.submit(client, self.study("t", search="method: random, evaluations: 3",
                                       extra_trainer=", runs: 2"), "t.yaml")
        harness.wait_for(lambda: client("status", study="t")["study"]["ok"] >= 1)
        client("stop", study="t")
        stopped = self.finish(client, "t")["study"]
        os.remove(self.path("go0"))
        os.remove(self.path("at-go0"))
        client("measure", study="t", runs=2, points=[[0, None]])
        harness.wait_for(lambda: self.has("at-go0"))
        self.touch("go0")
        again = self.finish(client, "t")["study"]
        for key in ("state", "reason", "ended"):
            self.assertEqual(again[key], stopped[key])

    def test_stopped_while_both_go_on(self):
        """A search that is stopped while it measures, too, does not keep what is asked for
        again from being measured."""
        client = self.begin(NOISY.replace("\n", """
gate("go%d" % request["trial"])
""", 1), search="method: random, evaluations: 4, parallel: 2", options=("--slots", "2"))
        self.touch("go0")
        harness.wait_for(lambda: self.has("at-go2"))
        client("measure", study="s", runs=4, points=[[0, None]])
        self.touch("go1")
        harness.wait_for(lambda: self.has("at-go1000000000"))
        client("stop", study="s")
        for number in (2, 10 ** 9):
            self.touch("go%d" % number)
        stopped = self.finish(client, "s")["study"]
        self.assertEqual(stopped["state"], "stopped")
        one, = self.measures()  # m0 could end, m1 does not begin
        self.assertEqual((one["state"], one["done"], one["failed"]), ("failed", 2, 2))
        for number in (1, 2, 3):
            self.touch("go%d" % (10 ** 9 + number))
        told = client("measure", study="s", runs=4, points=[[0, None], [0, None]])
        self.assertEqual((told["measurements"], told["new"]), ([1, 1], 1))
        self.assertEqual(told["study"]["state"], "running")
        again = self.finish(client, "s")["study"]
        self.assertEqual((again["state"], again["ended"]), ("stopped", stopped["ended"]))
        self.assertEqual(self.measures()[1]["done"], 4)

    def test_stopped_between_runs(self):
        """Whoever waits for a point of a study that is stopped before its next run is told."""
        client = self.begin("""
gate("go%d-%d" % (request["trial"], request["runs"][0]["run"]))
""" + NOISY, search="method: random, evaluations: 3, parallel: 2", options=("--slots", "2"),
                            extra_trainer=", runs: 2, runs_per_process: 1")
        self.touch("go0-0")
        self.touch("go0-1")
        harness.wait_for(lambda: self.has("at-go1-1"))
        p = subprocess.Popen([harness.program("dparetoctl"), "remeasure", "s", "--points", "0",
                              "--runs", "2", "--socket", self.d.socket],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        harness.wait_for(self.measures)
        self.touch("go1-0")
        harness.wait_for(lambda: self.has("at-go1000000000-0"))
        client("stop", study="s")
        self.touch("go1-1")
        self.touch("go1000000000-0")
        err = p.communicate(timeout=harness.LIMIT)[1]
        self.assertEqual(p.returncode, 6)
        self.assertIn("study 's' is stopped", err)

    def test_kills(self):
        """kill -9 of the daemon and of trainers: the same values as without."""
        slow = NOISY.replace("\n", "\ntime.sleep(0.05)\n", 1)

        def measured(kill):
            client = self.begin(slow, options=("--slots", "2"))
            self.finish(client, "s")
            client("measure", study="s", runs=9)
            if kill:
                for _ in range(4):
                    harness.wait_for(lambda: harness.trainers_below(self.folder))
                    self.d.end(signal.SIGKILL)
                    for pid in harness.trainers_below(self.folder)[:1]:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    self.client = client = self.d.start().connect()
                    if client("status", study="s")["study"]["state"] != "running":
                        break
            self.finish(client, "s")
            result = client("front", study="s"), self.measures()
            self.assertEqual(self.d.end(), 0)
            os.rename(self.path("state"), self.path("state-%s" % kill))
            return result

        self.assertEqual(measured(False), measured(True))

    def test_at_the_end(self):
        """search.remeasure: the front is measured before the study is finished."""
        client = self.begin(search="method: random, evaluations: 4, remeasure: 3")
        status = self.finish(client, "s")["study"]
        self.assertEqual((status["state"], status["reason"], status["ended"]),
                         ("finished", None, 4))
        front = client("front", study="s")
        self.assertTrue(all(p["remeasured"]["runs"] == 3 for p in front["front"]))
        self.assertEqual({m["why"] for m in self.measures()}, {"end"})
        types = [r["type"] for r in self.dump()]
        self.assertEqual(types.count("measure-asked"), len(front["front"]) + 1)
        self.assertEqual(types[-1], "study-moved")
        self.assertEqual(types.count("study-moved"), 1)
        # more is searched, and only what is new of the front is measured then
        client("set", study="s", evaluations=12)
        self.finish(client, "s")
        front = client("front", study="s")
        self.assertTrue(all(p["remeasured"]["runs"] == 3 for p in front["front"]))
        measured = [m["trial"] for m in self.measures()]
        self.assertEqual(len(set(measured)), len(measured))

    def test_the_end_of_models(self):
        """The same of a front that models choose."""
        search = ("method: dpareto, evaluations: 9, initial: 6, remeasure: 2, "
                  "order: deterministic")
        client = self.begin(search=search, options=("--slots", "2"))
        self.finish(client, "s")
        front = client("front", study="s")
        self.assertIn("hypervolume_denoised", front)
        self.assertIn("hypervolume_remeasured", front)
        self.assertTrue(all(p["remeasured"]["runs"] == 2 for p in front["front"]))
        self.assertEqual([m["trial"] for m in self.measures()],
                         [p["trial"] for p in front["front"]])

    def test_while_it_searches(self):
        """A search in which points are measured proposes the same points as one without."""
        search = "method: dpareto, evaluations: 7, initial: 4, parallel: %d, order: %s"
        for parallel, order in ((1, "asap"), (2, "deterministic")):
            both = []
            for measures in (False, True):
                name = "s%d%d" % (parallel, measures)
                if not hasattr(self, "d"):
                    self.begin(NOISY, name=name, search=search % (parallel, order),
                               options=("--slots", "2"))
                else:
                    self.submit(self.client, self.study(
                        name, extra_trainer=", runs: 2", search=search % (parallel, order)))
                if measures:
                    harness.wait_for(lambda: [
                        t for t in self.client.every("trials", study=name)
                        if (t["trial"], t["state"]) == (0, "ok")])
                    self.client("measure", study=name, runs=7, points=[[0, None]])
                self.finish(self.client, name)
                rows = self.client.every("trials", study=name)
                both.append([(t["trial"], t["parameters"], t["objectives"]) for t in rows])
                if measures:
                    one, = self.client("measures", study=name)["measures"]
                    self.assertEqual((one["state"], one["done"]), ("ok", 7))
            self.assertEqual(both[0], both[1], order)

    def test_budget(self):
        """What does not fit search.budget is refused, with what would; all of it counts."""
        client = self.begin(
            "report(b=params['sigma'])", extra_trainer=", retries: 0, runs: 20",
            parameters="sigma: {type: float, range: [3, 12], scale: log}",
            objectives="a: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1.0e-5}}\n"
                       "  b: {metric: b}",
            search="method: random, evaluations: 2, budget: {epsilon: 12, delta: 1.0e-5}")
        before = self.finish(client, "s")["study"]
        with self.assertRaises(harness.Refused) as refused:
            client("measure", study="s", runs=5000, points=[[0, None]])
        error = refused.exception.error
        self.assertEqual(error["kind"], "limit")
        self.assertIn("search.budget: epsilon 12", error["message"])
        fits = int(error["hint"].split("room for ")[1].split(" ")[0])
        self.assertGreater(fits, 0)
        # a run may be tried as often as it may now
        client("set", study="s", keys={"retries": "1"})
        with self.assertRaises(harness.Refused) as refused:
            client("measure", study="s", runs=fits, points=[[0, None]])
        self.assertIn("room for %d " % (fits // 2), refused.exception.error["hint"])
        client("set", study="s", keys={"retries": "0"})
        with self.assertRaises(harness.Refused):
            client("measure", study="s", runs=fits + 1, points=[[0, None]])
        client("measure", study="s", runs=fits, points=[[0, None]])
        after = self.finish(client, "s")["study"]
        self.assertEqual(self.measures()[0]["done"], fits)
        self.assertGreater(after["budget"]["spent"], before["budget"]["spent"])
        self.assertLessEqual(after["budget"]["spent"], after["budget"]["most"])
        with self.assertRaises(harness.Refused):
            client("measure", study="s", runs=1, points=[[0, None]])

    def test_budget_at_the_end(self):
        """What search.remeasure has no budget for is left out, and the study says so."""
        client = self.begin(
            "report(b=params['sigma'])", extra_trainer=", retries: 0, runs: 20",
            parameters="sigma: {type: float, range: [3, 12], scale: log}",
            objectives="a: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1.0e-5}}\n"
                       "  b: {metric: b}",
            search="method: random, evaluations: 2, remeasure: 5000, "
                   "budget: {epsilon: 12, delta: 1.0e-5}")
        status = self.finish(client, "s")["study"]
        self.assertEqual((status["state"], status["ended"]), ("finished", 2))
        self.assertIn("search.remeasure left out 2 of the front's 2 points: search.budget",
                      status["reason"])
        self.assertEqual(self.measures(), [])

    def test_the_whole_cost(self):
        """Random points that were measured again are not fixed beforehand any more."""
        client = self.begin(
            "report(b=params['sigma'])", extra_trainer="",
            parameters="sigma: {type: float, range: [3, 12], scale: log}",
            objectives="a: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1.0e-5}}\n"
                       "  b: {metric: b}",
            search="method: random, evaluations: 2")
        self.finish(client, "s")

        def whole(proof, trainings):
            def found():
                one = client("status", study="s")["study"]["whole"]
                return one and one["a"]["trainings"] == trainings and one["a"]
            one = harness.wait_for(found)
            self.assertEqual(one["proof"], proof)
            return one["epsilon"]

        fixed = whole("fixed", 2)
        client("measure", study="s", runs=3, points=[[0, None]])
        self.finish(client, "s")
        self.assertGreater(whole("odometer", 5), fixed)

    def test_what_is_refused(self):
        """Nothing more may be learned of what is published with noise, or selected."""
        self.trainer("report(b=0.5)")
        self.d = self.daemon().start()
        self.client = client = self.d.connect()
        objectives = ("a: {privacy: {mechanism: gaussian, sigma: s, delta: 1.0e-5}}\n"
                      "  b: {metric: b, release: {records: 1000, sigma: 1}}")
        parameters = "s: {type: float, range: [10, 12], scale: log}"
        for search, words in (("method: random, evaluations: 1", "one more release"),
                              ("method: select, rounds: {geometric: 2}", "private selection")):
            text = self.study(parameters=parameters, objectives=objectives, search=search,
                              name="s" if "random" in search else "t")
            name = "s" if "random" in search else "t"
            if name == "t":  # its draws are secret
                text = text.replace("seed: 7\n", "")
            self.submit(client, text)
            with self.assertRaises(harness.Refused) as refused:
                client("measure", study=name, runs=1)
            self.assertIn(words, str(refused.exception))
            with self.assertRaises(harness.Refused) as refused:
                self.submit(client, text.replace("method", "remeasure: 2, method"))
            self.assertIn("'remeasure' cannot stand beside", str(refused.exception))
        for name in "st":
            client("delete", study=name, now=True)


class Command(Case):
    """dparetoctl remeasure, and where else it shows."""

    def cli(self, *arguments, code=0):
        p = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p

    def test_all_that_shows_it(self):
        client = self.begin()
        self.finish(client, "s")
        p = self.cli("remeasure", "s", "--runs", "4")
        points = client("front", study="s")["front"]
        lines = p.stdout.splitlines()
        self.assertEqual(len(lines), 1 + len(points))
        self.assertIn("searched b", lines[0])
        self.assertIn("measured again", lines[0])
        self.assertIn("measured again: %d of %d points, %d of %d runs"
                      % (len(points), len(points), 4 * len(points), 4 * len(points)), p.stderr)
        self.assertRegex(p.stderr, "hypervolume [0-9.]+ as observed, [0-9.]+ measured again")
        self.assertRegex(p.stderr, "measured again it is [0-9.]+ % (larger|smaller) than observed")
        front = self.cli("front", "s").stdout.splitlines()
        self.assertIn("remeasured b", front[0])
        rows = list(csv.DictReader(io.StringIO(self.cli("front", "s", "-o", "csv").stdout)))
        self.assertEqual([r["remeasured.b"] for r in rows],
                         [repr(p["remeasured"]["objectives"]["b"]) for p in points])
        rows = list(csv.DictReader(io.StringIO(self.cli("export", "s").stdout)))
        again = {str(p["trial"]): p["remeasured"] for p in points}
        self.assertEqual(len(rows), 4)
        for row in rows:
            p = again.get(row["trial"])
            self.assertEqual(row["remeasured.runs"], "4" if p else "")
            self.assertEqual(row["remeasured_low.b"], repr(p["low"]["b"]) if p else "")
            self.assertEqual(row["remeasured_high.b"], repr(p["high"]["b"]) if p else "")
        exported = json.loads(self.cli("export", "s", "--format", "json").stdout)
        self.assertEqual(exported["study"]["hypervolume_remeasured"],
                         json.loads(self.cli("front", "s", "-o", "json").stdout)[
                             "hypervolume_remeasured"])
        self.assertEqual([t["remeasured"] for t in exported["trials"]],
                         [again.get(str(t["trial"])) for t in exported["trials"]])
        self.assertIn("remeasured  a=", self.cli("trial", "s", str(points[0]["trial"])).stdout)
        # a trial that measures, by its name
        self.assertIn("trial m0 of 's': ok", self.cli("trial", "s", "m0").stdout)
        self.cli("logs", "s", "m1")
        self.assertIn("trial m0 has ended", self.cli("cancel", "s", "m0-m1", code=1).stderr)
        self.cli("trial", "s", "m99", code=5)

    def test_one_run_of_one_point(self):
        client = self.begin(search="method: random, evaluations: 12")
        self.finish(client, "s")
        points = client("front", study="s")["front"]
        self.assertGreater(len(points), 1)
        p = self.cli("remeasure", "s", "--runs", "1", "--points", str(points[0]["trial"]))
        self.assertRegex(p.stdout.splitlines()[1], r" -  +1$")  # no interval
        self.assertNotIn("- to -", p.stdout)
        self.assertIn("only 1 of the front's %d points is measured again" % len(points), p.stderr)
        said = self.cli("front", "s").stderr
        self.assertIn("%d points (1 measured again) on the front" % len(points), said)
        # a line of its own only where there is something
        for point, said in zip(points[:2], (True, False)):
            text = self.cli("trial", "s", str(point["trial"])).stdout
            self.assertIs("remeasured" in text, said)

    def test_report(self):
        client = self.begin(search="method: random, evaluations: 3, remeasure: 4")
        self.finish(client, "s")
        done = lambda: client("status", study="s")["study"]["report"]
        folder = os.path.dirname(harness.wait_for(done))
        with open(os.path.join(folder, "report.json")) as f:
            report = json.load(f)
        front = client("front", study="s")
        self.assertEqual(report["hypervolume_remeasured"], front["hypervolume_remeasured"])
        self.assertEqual([p["remeasured"] for p in report["front"]],
                         [p["remeasured"] for p in front["front"]])
        with open(os.path.join(folder, "report.md")) as f:
            text = f.read()
        self.assertIn("measured again with fresh seeds", text)
        self.assertIn("| measured again | 95 % of that |", text)
        # and how far that is from what was searched
        trust = report["optimism"]["objectives"]
        for o in trust:
            name, again = o["objective"], o["again"]
            worse = [p["remeasured"]["objectives"][name] - p["objectives"][name]
                     for p in front["front"]]
            self.assertEqual(again["points"], len(worse))
            self.assertAlmostEqual(again["than_observed"], sum(worse) / len(worse))
            self.assertRegex(text, r"%s: measured again with fresh seeds, %d points? of the front "
                                   r"(is|are) \S+ (better|worse) than observed on average\."
                             % (name, len(worse)))
        self.assertGreater(len(trust), 0)

    def test_no_wait_and_progress(self):
        client = self.begin(NOISY.replace("\n", """
if request["trial"] >= 10 ** 9:
    gate("go")
""", 1), options=("--slots", "1"))
        self.finish(client, "s")
        told = json.loads(self.cli("-o", "json", "remeasure", "s", "--runs", "3", "--points",
                                   "1,0", "--no-wait").stdout)
        self.assertEqual((told["measurements"], told["new"]), ([0, 1], 2))
        harness.wait_for(lambda: self.has("at-go"))
        status = self.cli("status", "s").stdout
        self.assertIn("0 of 2 points again, 0 of 6 runs (0 %)", status)
        self.assertIn("trial m0", status)
        looked = self.ctl("status", "s", "--state", self.d.state, "-o", "json").stdout
        self.assertEqual([r["trial"] for r in json.loads(looked)["running"]], [10 ** 9])
        self.touch("go")
        out = json.loads(self.cli("-o", "json", "remeasure", "s", "--runs", "3", "--points",
                                  "1,0").stdout)  # the same: followed, not asked again
        self.assertEqual([m["trial"] for m in out["measures"]], [1, 0])
        self.assertEqual({m["done"] for m in out["measures"]}, {3})
        self.assertEqual(len(self.measures()), 2)
        self.cli("remeasure", "s", "--runs", "0", code=2)
        self.cli("remeasure", "s", "--points", "x", code=2)
        self.cli("remeasure", "s", "--points", "9", code=5)
        self.cli("remeasure", "s", "--state", self.folder, "--no-wait", code=2)
        # as a report of a folder says it, while a daemon serves that
        again = self.cli("remeasure", "s", "--runs", "3", "--points", "1", "--state", self.d.state)
        self.assertNotIn("another daemon", again.stderr)
        self.cli("status", "s")

    def test_failed(self):
        client = self.begin(NOISY.replace("\n", """
if request["trial"] >= 10 ** 9:
    sys.exit(3)
""", 1), options=("--slots", "1"))
        self.finish(client, "s")
        p = self.cli("remeasure", "s", "--runs", "2", "--points", "0", "-o", "json", code=6)
        self.assertEqual(json.loads(p.stdout)["study"], "s")  # one object, the reason beside
        self.assertIn("2 of 2 runs that measure trial 0 failed: exit-code", p.stderr)
        p = self.cli("remeasure", "s", "--runs", "20", "--points", "0", code=6)
        self.assertIn("3 trials in a row that measure points again failed", p.stderr)

    def test_a_folder(self):
        """Of a study that `run` made; killed in the middle, the same command goes on."""
        self.trainer(NOISY)
        file, state = self.write("s.yaml", self.study(extra_trainer=", runs: 2")), self.path("st")
        run = self.ctl("run", file, "--state", state, "-o", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        before = json.loads(run.stdout)
        self.assertNotIn("hypervolume_remeasured", before)
        self.trainer(NOISY.replace("\n", """
note(request["trial"])
gate("go")
""", 1))
        command = ["remeasure", "s", "--state", state, "--runs", "3", "-o", "json"]
        p = subprocess.Popen([harness.program("dparetoctl"), *command],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        harness.wait_for(lambda: self.has("at-go"))
        p.kill()
        p.communicate()
        harness.wait_for(lambda: not harness.trainers_below(self.folder))
        self.touch("go")
        done = self.ctl(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("going on with it", done.stderr)
        after = json.loads(done.stdout)
        self.assertEqual(len(after["measures"]), len(before["front"]))
        self.assertTrue(all(p["remeasured"]["runs"] == 3 for p in after["front"]))
        # and `run` shows the study as it was, with what was measured
        shown = json.loads(self.ctl("run", file, "--state", state, "-o", "json").stdout)
        for point in shown["front"]:
            self.assertIsNotNone(point["remeasured"])
            point["remeasured"] = None
        del shown["hypervolume_remeasured"]
        self.assertEqual(shown, before)
        self.assertEqual(self.ctl("remeasure", "s", "--state", self.path("none")).returncode, 5)


if __name__ == "__main__":
    unittest.main()
