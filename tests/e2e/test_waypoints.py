"""test_waypoints.py - trainings that are paths, as people and programs see them: waypoints in
every list, and "at" beside every "trial"."""
import csv
import io
import json
import os
import unittest

from harness import Case, Refused, wait_for

# Better from step to step, and each step costs: all of a training is on the front. The
# trial number tells trainings apart.
WALK = """
def metrics(n):
    return {"b": 1 / n, "v": n + request["trial"] / 16, "w": -n - request["trial"] / 16}
for run in request["runs"]:
    for at in request.get("path", {"values": []})["values"]:
        out({"run": run["run"], "at": at, "metrics": metrics(at)})
    out({"run": run["run"], "metrics": metrics(params["n"])})
"""
PATH = ", path: {parameter: n, points: 6}"
INT = "n: {type: int, range: [1, 64]}"
SVT = "a: {privacy: {mechanism: svt, cutoff: n, scale: 100}}\n  b: {metric: b}"


def objects(value):
    """Every object of a JSON value that names a trial."""
    if isinstance(value, dict):
        if isinstance(value.get("trial"), int):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from objects(v)


def point(row):
    return row["trial"], row["at"]


class Waypoints(Case):
    def setUp(self):
        super().setUp()
        self.trainer(WALK)
        self.d = self.daemon("--slots", "2").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def cli(self, *arguments, code=0):
        p = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout if code == 0 else p.stderr

    def json(self, *arguments):
        """All JSON values that a command prints."""
        text, values, decoder = self.cli("-o", "json", *arguments).strip(), [], json.JSONDecoder()
        while text:
            value, end = decoder.raw_decode(text)
            values.append(value)
            text = text[end:].strip()
        return values

    def walked(self, name="s", search="method: random, evaluations: 3", trainer=PATH, **other):
        other = {"parameters": INT, "objectives": SVT, **other}
        self.submit(self.client, self.study(name, extra_trainer=trainer, search=search, **other))
        return self.finish(self.client, name)


class EveryJson(Waypoints):
    def check(self, study, waypoints, *ways):
        """Each of these has "at" beside "trial", and waypoints among them if there are any."""
        for what, value in ways:
            found = list(objects(value))
            with self.subTest(study, what=what):
                self.assertTrue(found)
                for o in found:
                    self.assertIn("at", o)
                    self.assertEqual(list(o).index("at"), list(o).index("trial") + 1)
                self.assertEqual(any(o["at"] is not None for o in found),
                                 waypoints and what in self.LISTS)

    LISTS = {"status", "changes", "front", "some of a front", "trials", "trials in full",
             "a waypoint", "json front", "json trials", "jsonl", "json export", "json waypoint",
             "json status", "json run", "logs of a waypoint"}

    def check_wire(self, study, waypoints):
        c = self.client
        some = [[o["trial"], o["at"]] for o in c("front", study=study)["front"]]
        self.check(
            study, waypoints,
            ("status", c("status", study=study)),
            ("changes", c("changes", study=study, since=0)),
            ("front", c("front", study=study)),
            ("some of a front", c("front", study=study, points=some)),
            ("trials", c("trials", study=study)),
            ("trials in full", c("trials", study=study, full=True)),
            ("own trials", c("trials", study=study, own=True)),
            ("trial", c("trial", study=study, trial=0)),
            ("a waypoint", c("trial", study=study, trial=some[0][0], at=some[0][1])),
            ("propose", c("propose", study=study)))

    def check_ctl(self, study, waypoints):
        path = self.path("state/studies/%s/%s.json" % (study, study))
        first = next(o for o in self.client("front", study=study)["front"])
        name = "%d@%d" % point(first) if waypoints else str(first["trial"])
        self.cli("export", study, "--format", "json", "--file", path)
        with open(path) as f:
            exported = json.load(f)
        lines = self.cli("-o", "jsonl", "trials", study).splitlines()
        again = self.json("run", "--state", self.path(study + "-run"), self.path(study + ".yaml"))
        self.check(
            study, waypoints,
            ("json front", self.json("front", study)),
            ("json trials", self.json("trials", study)),
            ("jsonl", [json.loads(line) for line in lines]),
            ("json own trials", self.json("trials", study, "--own")),
            ("json export", exported),
            ("json trial", self.json("trial", study, "0")),
            ("json waypoint", self.json("trial", study, name)),
            ("json status", self.json("status", study)),
            ("json propose", self.json("propose", study)),
            ("json logs", self.json("logs", study, "0")),
            ("logs of a waypoint", self.json("logs", study, name)),
            ("json run", again))

    def steer(self, study):
        """A trial that failed, one that runs, and what the commands say that change them."""
        failures = self.client("status", study=study)["failures"]
        retried = self.json("retry", study, "2")
        self.finish(self.client, study)
        self.touch("hold")
        self.client("set", study=study, evaluations=4)
        running = wait_for(lambda: self.client("status", study=study)["running"])
        self.client("pause", study=study)
        self.client("set", study=study, evaluations=5)
        queued = self.json("enqueue", study, "n=7")
        self.client("resume", study=study)
        cancelled = self.json("cancel", study, "3")
        os.unlink(self.path("hold"))
        self.finish(self.client, study)
        self.check(study, False, ("failures", failures), ("running", running), ("retry", retried),
                   ("cancel", cancelled), ("enqueue", queued))

    def test_every_json(self):
        self.trainer("while os.path.exists(beside('hold')):\n    time.sleep(0.01)\n" + WALK +
                     "if request['trial'] == 2 and request['attempt'] == 0:\n    out('nonsense')\n")
        for study, path in ("walked", PATH), ("plain", ""):
            text = self.study(study, extra_trainer=path, parameters=INT, objectives=SVT,
                              search="method: random, evaluations: 3")
            self.write(study + ".yaml", text)
            self.submit(self.client, text)
            self.finish(self.client, study)
            self.steer(study)
            self.check_wire(study, bool(path))
            self.check_ctl(study, bool(path))


class Lists(Waypoints):
    def test_rows(self):
        """By trial and value, the trial's own last; only its own row has what is the training's."""
        status = self.walked()
        rows = self.client.every("trials", study="s")
        trained = {r["trial"]: r for r in rows if r["at"] is None}
        self.assertEqual([point(r) for r in rows], sorted(
            (point(r) for r in rows), key=lambda p: (p[0], p[1] is None, p[1])))
        for r in rows:
            own = trained[r["trial"]]
            if r["at"] is None:
                self.assertEqual(r["attempts"], 1)
                continue
            self.assertLess(r["at"], own["parameters"]["n"])
            self.assertEqual(r["parameters"], {"n": r["at"]})
            self.assertEqual(r["objectives"]["b"], 1 / r["at"])
            self.assertEqual((r["state"], r["source"]), ("ok", own["source"]))
            self.assertEqual([r[k] for k in ("attempts", "started", "ended", "seconds", "reason")],
                             [None] * 5)
        self.assertGreater(len(rows), len(trained))
        front = self.client("front", study="s", denoised=False)["front"]
        self.assertEqual({point(r) for r in rows if r["on_front"]}, {point(r) for r in front})
        self.assertEqual(status["study"]["trained"],
                         {"n": sum(r["parameters"]["n"] for r in trained.values())})

    def test_which_rows(self):
        self.trainer(WALK + "if request['trial'] == 1:\n    out('nonsense')\n")
        self.walked(trainer=PATH + ", runs: 2")
        c = self.client
        rows = c.every("trials", study="s")
        self.assertEqual(c.every("trials", study="s", limit=1), rows)
        own = c.every("trials", study="s", own=True)
        self.assertEqual([point(r) for r in own], [(0, None), (1, None), (2, None)])
        self.assertEqual([r for r in rows if r["at"] is None], own)
        self.assertEqual([point(r) for r in c.every("trials", study="s", state="failed")],
                         [(1, None)])
        self.assertEqual(c.every("trials", study="s", state="ok"),
                         [r for r in rows if r["state"] == "ok"])
        full = [r for r in c.every("trials", study="s", full=True) if r["at"] == 1]
        self.assertEqual([(r["attempts"], r["runs"], r["metrics"]["b"]) for r in full], [([], [], 1)] * 2)
        self.assertEqual(full[0]["spread"], {"b": {"runs": 2, "sd": 0, "low": 1, "high": 1}})

    def test_tables(self):
        self.walked()
        rows = self.client.every("trials", study="s")
        names = ["%d" % r["trial"] if r["at"] is None else "%d@%d" % point(r) for r in rows]
        lines = self.cli("trials", "s").splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]], names)
        self.assertEqual([line.split()[0] for line in self.cli("trials", "s", "--own").splitlines()],
                         ["TRIAL", "0", "1", "2"])
        table = list(csv.DictReader(io.StringIO(self.cli("export", "s"))))
        self.assertEqual([(int(r["trial"]), int(r["at"]) if r["at"] else None) for r in table],
                         [point(r) for r in rows])
        self.assertEqual([r["n"] for r in table], [str(r["parameters"]["n"]) for r in rows])
        self.assertEqual(len(self.cli("export", "s", "--own").splitlines()), 4)
        front = self.cli("front", "s")
        count = "%d points of" % sum(r["on_front"] for r in rows)
        self.assertIn(" 0@1 ", self.cli("front", "s", "--best", "a"))
        self.assertEqual(len(front.splitlines()) - 1, sum(r["on_front"] for r in rows))
        self.assertIn(count, self.cli("status", "s"))

    def test_one_waypoint(self):
        self.trainer(WALK + "if request['trial'] == 1:\n    out('nonsense')\n")
        self.walked(search="method: random, evaluations: 2", parameters="n: {fixed: 64}",
                    trainer=", runs: 3, path: {parameter: n, points: 3}")
        shown = self.cli("trial", "s", "0@4")
        self.assertIn("waypoint 0@4 of 's': ok, on the front", shown)
        self.assertIn("parameters  n=4\n", shown)
        self.assertRegex(shown, r"metrics +b=0.25 v=4 w=-4\n")
        self.assertRegex(shown, r"\nb +3 +0 +0.25 +0.25\n")
        self.assertRegex(self.cli("trial", "s", "0"), r"\nAT +OBJECTIVES +MEAN METRICS\n +1 +a=")
        for name, sentence in (
                ("0@5", "trial 0 has no waypoint 5 that is a result; it has 1, 4, 16"),
                ("0@64", "its own result, at 64, is just 0"),
                ("1@4", "trial 1 came to no waypoint that is a result"),
                ("9@4", "study 's' has no trial 9")):
            self.assertIn(sentence, self.cli("trial", "s", name, code=5))
        self.assertIn("like 7@4", self.cli("trial", "s", "0@", code=2))
        for verb in "retry", "cancel":
            self.assertIn("only a whole training can be retried or cancelled: 1",
                          self.cli(verb, "s", "1@4", code=2))
            with self.assertRaisesRegex(Refused, "a waypoint is part of its training"):
                self.client(verb, study="s", trial=1, at=4)
        self.walked("plain", "method: random, evaluations: 1", "")
        self.assertIn("study 'plain' has no trainer.path", self.cli("trial", "plain", "0@4", code=5))

    def test_a_front_of_many_pages(self):
        """All is on the front: 7 trainings with some 60 points each."""
        self.walked(search="method: random, evaluations: 7",
                    trainer=", path: {parameter: n, points: 64}", parameters="n: {fixed: 1000000}",
                    objectives="a: {metric: v}\n  b: {metric: w}")
        rows = self.client.every("trials", study="s")
        self.assertTrue(all(r["on_front"] for r in rows))
        first = self.client("front", study="s")
        self.assertEqual(len(first["front"]) + len(first["more"]), len(rows))
        self.assertGreater(len(first["more"]), 100)
        front, = self.json("front", "s")
        self.assertNotIn("more", front)
        self.assertEqual(front["front"], [
            {k: r[k] for k in ("trial", "at", "parameters", "objectives", "remeasured")}
            for r in sorted(rows, key=lambda r: r["objectives"]["a"])])
        status, = self.json("status", "s")
        self.assertEqual(status["front"], front["front"])
        for points, sentence in (
                ([3], "must be a pair"), ([[3]], "must be a pair"), ([[3, "1"]], "must be a pair"),
                ([[9, None]], "has no trial 9"), ([[3, 1000000]], "has no waypoint 1000000")):
            with self.assertRaisesRegex(Refused, sentence):
                self.client("front", study="s", points=points)


class Origins(Waypoints):
    def imported(self, study):
        dump = self.ctl("journal", "dump", "--state", self.d.state).stdout.splitlines()
        number = self.client("status", study=study)["study"]["id"]
        return [(r["trial"], r["params"]) for r in map(json.loads, dump)
                if r["type"] == "result-imported" and r["study"] == number]

    def test_waypoints_of_another_study(self):
        """They come along as results like any other, but not where they cannot be."""
        self.walked("old")
        rows = self.client.every("trials", study="old")
        self.walked("new", "method: dpareto, evaluations: 1, initial: 1, initial_from: old", "")
        self.assertEqual(self.imported("new"), [(r["trial"], [r["parameters"]["n"]]) for r in rows])
        self.walked("short", "method: random, evaluations: 1", parameters="n: {fixed: 64}",
                    trainer=", path: {parameter: n, points: 3}")
        self.walked("shorter", "method: dpareto, evaluations: 1, initial: 1, initial_from: short",
                    "", parameters="n: {fixed: 4}")
        self.assertEqual([x for _, x in self.imported("shorter")], [[4]])


if __name__ == "__main__":
    unittest.main()
