"""Points that are measured again: by request, at the end of a study, after kills."""
import json
import os
import signal
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


class Measure(harness.Case):
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


if __name__ == "__main__":
    unittest.main()
