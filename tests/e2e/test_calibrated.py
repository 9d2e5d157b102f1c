"""test_calibrated.py - noise that follows a searched epsilon: kept at every trial, shown
everywhere, the same bytes after kill -9."""
import csv
import io
import json
import random
import signal
import time
import unittest

from harness import Case, Refused

TRIALS = 12
STUDY = """study: s
seed: 3
data: public
trainer: {command: [dpareto-train, svt], runs: 2}
parameters:
  C: {type: int, range: [1, 30]}
  target: {type: float, range: [0.1, 8], scale: log}
  b: {calibrate: {epsilon: target, mechanism: svt, cutoff: C}}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1"}
anti_ideal: {epsilon: 10, error: 1}
search: {method: dpareto, initial: 6, evaluations: %d, parallel: 2, order: deterministic}
""" % TRIALS


def epsilon(C, b):
    """Of the sparse vector technique, by hand."""
    return (1 + (2 * C) ** (1 / 3)) * (1 + (2 * C) ** (2 / 3)) / b


class Calibrated(Case):
    def tearDown(self):
        self.tidy()

    def run_whole(self, state):
        done = self.ctl("run", self.path("s.yaml"), "--state", self.path(state), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def records(self, state, kind):
        dump = self.ctl("journal", "dump", "--state", self.path(state)).stdout.splitlines()
        return [r for r in map(json.loads, dump) if r["type"] == kind]

    def outcome(self, state):
        """What was proposed and what came of it, bit for bit, by trial."""
        return sorted(json.dumps([r.get(k) for k in ("trial", "type", "params", "objectives")])
                      for kind in ("trial-proposed", "trial-ended")
                      for r in self.records(state, kind))

    def check_kept(self, found, C, asked, b):
        self.assertLessEqual(found, asked)
        self.assertGreater(found, asked * (1 - 1e-5))
        self.assertAlmostEqual(found / epsilon(C, b), 1, 9)

    def check_report(self, folder):
        with open(folder + "/report.json") as f:
            settings = json.load(f)["settings"]
        self.assertEqual(
            [p.get("calibrated") for p in settings["parameters"]],
            [None, None, {"mechanism": "svt", "key": "scale", "epsilon_of": "target"}])
        with open(folder + "/report.md") as f:
            self.assertIn("least scale of svt that keeps epsilon at most target", f.read())

    def check_shown(self, d, front):
        """Both, the target and the noise, wherever parameters are."""
        for point in front:
            self.assertEqual(list(point["parameters"]), ["C", "target", "b"])
        shown = self.ctl("export", "s", "--socket", d.socket).stdout
        rows = list(csv.DictReader(io.StringIO(shown)))
        self.assertEqual(len(rows), TRIALS)
        for number, row in enumerate(rows):
            self.check_kept(*(float(row[k]) for k in ("epsilon", "C", "target", "b")))
            with open(self.path("one/studies/s/trials/%d/0/request.json" % number)) as f:
                asked = json.load(f)["parameters"]
            self.assertEqual(asked["b"], float(row["b"]))  # what the trainer was given

    def test_kept_shown_and_repeated(self):
        self.write("s.yaml", STUDY)
        whole = self.run_whole("one")
        self.assertEqual(self.run_whole("two"), whole)
        proposed = self.records("one", "trial-proposed")
        self.assertEqual(len(proposed), TRIALS)
        for record in proposed:
            self.check_kept(record["objectives"][0], *record["params"])
        self.check_report(self.path("one/studies/s/report"))

        rng, d = random.Random(1), self.daemon("--slots", "2").start()
        self.submit(d.connect(), STUDY)
        for _ in range(4):
            time.sleep(rng.uniform(0, 0.1))  # whenever it is: the outcome is the same
            d.end(signal.SIGKILL)
            d.start()
        client = d.connect()
        self.finish(client, "s")
        self.assertEqual(self.outcome("state"), self.outcome("one"))
        self.check_shown(d, json.loads(whole)["front"])
        self.check_enqueued(client)

    def check_enqueued(self, client):
        """What somebody enqueues is solved for, too; what is given must be just that."""
        client("set", study="s", evaluations=100 * TRIALS)  # which goes on with it
        client("pause", study="s")
        point = client("enqueue", study="s", parameters={"C": 5, "target": 0.5})["trial"]
        record = self.records("state", "trial-proposed")[point["trial"]]
        self.check_kept(record["objectives"][0], *record["params"])
        again = client("enqueue", study="s", parameters=point["parameters"])["trial"]
        self.assertEqual(again["parameters"], point["parameters"])
        with self.assertRaisesRegex(Refused, "'b' is calibrated: it is .*; leave it out"):
            client("enqueue", study="s", parameters={"C": 5, "target": 0.5, "b": 1})


if __name__ == "__main__":
    unittest.main()
