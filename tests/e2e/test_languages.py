"""test_languages.py - docs/other-languages.md: each trainer as the page has it, in a study, where
its interpreter is."""
import json
import os
import re
import shutil
import statistics
import subprocess
import unittest

from harness import LIMIT, TOP, Case

EXAMPLES = os.path.join(TOP, "examples", "trainers")
FENCES = {"mean.yaml": "yaml", "mean.R": "r", "mean.jl": "julia", "mean.sh": "sh"}


def page_block(name):
    """The only block of the page in that language."""
    with open(os.path.join(TOP, "docs", "other-languages.md")) as f:
        block, = re.findall(r"^```%s\n(.*?)^```" % FENCES[name], f.read(), re.S | re.M)
    return block


def can(*command):
    return bool(shutil.which(command[0])) and subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Languages(Case):
    tearDown = Case.tidy

    def test_the_page_has_the_examples(self):
        for name in FENCES:
            with open(os.path.join(EXAMPLES, name)) as f:
                self.assertEqual(page_block(name), f.read(), name)

    def tried(self, interpreter, name):
        """Runs the page's study with the page's trainer; then holds a path against a training
        that ends there, and a failure against what is shown of it."""
        self.write(name, page_block(name), 0o755)
        study = page_block("mean.yaml")
        self.assertIn("command: [./mean.sh]", study)
        study = study.replace("[./mean.sh]", json.dumps([*interpreter, "./" + name]))
        client = self.daemon("--slots", "2").start().connect()
        self.submit(client, study)
        status = self.finish(client, "example-mean", 3 * LIMIT)
        self.assertEqual((status["study"]["state"], status["study"]["failed"]), ("finished", 0))
        trials = [client("trial", study="example-mean", trial=i)["trial"] for i in range(10)]
        waypoints = [w for t in trials for w in t.get("waypoints", [])]
        self.assertGreater(len(waypoints), 5)
        self.assertFalse(any(w["dropped"] for w in waypoints))
        # it learns: where noise is least the mean is found
        self.assertLess(min(t["objectives"]["error"] for t in trials), 0.03)
        self.assertGreater(statistics.pstdev(t["objectives"]["error"] for t in trials), 0)
        self.check_path([*interpreter, self.path(name)])
        self.check_failure([*interpreter, self.path(name)])

    def run_by_hand(self, command, request):
        asked, result = self.write("request.json", request), self.path("result.jsonl")
        if os.path.exists(result):
            os.unlink(result)
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                              env={**os.environ, "DPARETO_REQUEST": asked, "DPARETO_RESULT": result})
        if done.returncode != 0:
            return done.returncode, done.stderr
        with open(result) as f:
            return 0, [json.loads(line) for line in f]

    def request(self, epochs, path=()):
        """As the daemon writes it: one line, no spaces."""
        asked = {"version": 1, "study": "s", "trial": 0, "attempt": 0,
                 "parameters": {"epochs": epochs, "lot": 62.5, "noise": 5.25}}
        if path:
            asked["path"] = {"parameter": "epochs", "values": list(path)}
        asked["runs"] = [{"run": 0, "seed": 2**53 - 1}, {"run": 1, "seed": 12345}]
        return json.dumps(asked, separators=(",", ":")) + "\n"

    def check_path(self, command):
        code, lines = self.run_by_hand(command, self.request(4, (1, 2)))
        self.assertEqual(code, 0, lines)
        self.assertEqual([(line.get("run"), line.get("at")) for line in lines if "run" in line],
                         [(0, 1), (0, 2), (0, None), (1, 1), (1, 2), (1, None)])
        self.assertEqual(lines[-2:], [
            {"declare": {"sampling": "poisson", "records": 1000, "lot": 62.5, "steps": 64,
                         "noise_over_clip": 5.25}}, {"done": True}])
        self.assertNotEqual(lines[2]["metrics"], lines[5]["metrics"])
        code, shorter = self.run_by_hand(command, self.request(2))
        self.assertEqual([line["metrics"] for line in shorter if "run" in line],
                         [line["metrics"] for line in lines if line.get("at") == 2])

    def check_failure(self, command):
        """A parameter is missing."""
        code, said = self.run_by_hand(command, self.request(1).replace('"lot"', '"lots"'))
        self.assertNotEqual(code, 0, said)

    def test_shell(self):
        self.tried([], "mean.sh")

    def test_other_awks(self):
        """Those that are there, in the place of the system's awk."""
        for awk in filter(shutil.which, ("mawk", "gawk", "original-awk")):
            with self.subTest(awk):
                os.makedirs(self.path("bin"), exist_ok=True)
                self.write("bin/awk", "#!/bin/sh\nexec %s \"$@\"\n" % awk, 0o755)
                self.write("mean.sh", page_block("mean.sh"), 0o755)
                self.check_path(["env", "PATH=%s:%s" % (self.path("bin"), os.environ["PATH"]),
                                 self.path("mean.sh")])

    def test_r(self):
        if not can("Rscript", "-e", "library(jsonlite)"):
            self.skipTest("there is no R with jsonlite (Debian: r-base-core, r-cran-jsonlite)")
        self.tried(["Rscript"], "mean.R")
        self.write("mean.R", page_block("mean.R").replace("set.seed(1)", "stop('no records')"))
        code, said = self.run_by_hand(["Rscript", self.path("mean.R")], self.request(1))
        self.assertEqual((code, said.splitlines()[-1]), (1, "Error: no records"))
        code, said = self.run_by_hand(["Rscript", os.path.join(EXAMPLES, "mean.R")],
                                      self.request(1).replace('"lot"', '"lots"'))
        self.assertEqual(said.splitlines()[-1], "Error: the request has no parameter 'lot'")

    def test_julia(self):
        if not can("julia", "-e", "using JSON"):
            self.skipTest("there is no Julia with JSON (not in Debian 12)")
        self.tried(["julia"], "mean.jl")


if __name__ == "__main__":
    unittest.main()
