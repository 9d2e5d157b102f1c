"""test_report_first.py - what a report recommends: the point that `front --one-se` names, and
commands that work when they are pasted; colours that can be read."""
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import BIN, LIMIT
from test_report import Reports, SEED, SVT



def contrast(a, b):
    """Of two colours, as WCAG 2 has it."""
    def light(colour):
        if len(colour) == 4:
            colour = "#" + "".join(2 * c for c in colour[1:])
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class First(Reports):
    def ask(self, *words):
        done = self.run_tool("dparetoctl", "front", "s", "--state", self.path("state"), "-o",
                             "json", *words)
        (point,) = json.loads(done.stdout)["front"]
        return point

    def agree(self, text, *words):
        shutil.rmtree(self.path("state"), ignore_errors=True)
        self.run_study(text)
        facts = self.facts()
        taken = facts["recommendation"]
        if taken["limit"] is not None:
            words += ("--max", "epsilon=%g" % taken["limit"])
        point = self.ask(*words)
        for key in ("trial", "at", "parameters", "objectives"):
            self.assertEqual(taken[key], point[key])
        self.assertEqual(taken["ask"], "dparetoctl front s %s --state %s"
                         % (" ".join(words), self.path("state")))
        self.assertLessEqual(taken["objectives"]["epsilon"], facts["anti_ideal"]["epsilon"])
        self.assertFalse(taken["meaningless"])
        return taken

    def test_it_is_that_of_the_front(self):
        taken = self.agree(SVT, "--one-se")
        self.assertEqual(taken["rule"], "one-se")
        models = SVT.replace("method: random, evaluations: 12", "method: dpareto, initial: 8, "
                             "evaluations: 12, front: denoised")
        self.agree(models, "--one-se")
        self.agree(models.replace("runs: 5", "runs: 1"), "--one-se")
        taken = self.agree(SVT.replace("runs: 5", "runs: 1"), "--knee")
        self.assertIn("the front's knee", taken["sentence"])
        self.agree(SVT.replace('of: "1 - f1"', "goal: maximize").replace("error: 1}", "error: 0}"),
                   "--one-se")

    def test_pasted_commands_train(self):
        self.run_study(SVT + "data: public\n")
        rows = self.facts()["rows"]
        self.assertLessEqual({"strict", "recommended", "loose"}, {r["name"] for r in rows})
        env = dict(self.env, PATH=BIN + ":" + os.environ["PATH"])
        for row in rows:
            done = subprocess.run(["sh", "-c", row["command"]], capture_output=True, text=True,
                                  timeout=LIMIT, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"f1"', done.stdout)
            for name, value in row["parameters"].items():
                self.assertIn("%s=%s" % (name, json.dumps(value)), row["command"])

    def test_pasted_commands_of_other_trainers(self):
        self.trainer("report(a=params['x'], b=1 - params['x'] / 2)\n")
        self.run_study(self.study(search="method: random, evaluations: 4"))
        command = self.facts()["recommendation"]["command"]
        self.assertTrue(command.startswith("dparetoctl remeasure s --points "), command)
        env = dict(self.env, PATH=BIN + ":" + os.environ["PATH"])
        done = subprocess.run(["sh", "-c", command + " --runs 2"], capture_output=True,
                              text=True, timeout=LIMIT, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_public_report_has_no_command_of_the_trainer(self):
        self.run_study(SVT.replace("dpareto-train, svt", "dpareto-train, svt, --queries, '%s'"
                                   % SEED[:3]) + "data: public\n")
        self.assertIn("--queries", self.facts()["recommendation"]["command"])
        self.run_tool("dpareto-report", "--state", self.path("state"), "--public", "s")
        with open(self.path("state/studies/s/report-public/report.json")) as f:
            self.assertEqual({r["command"].split()[1] for r in json.load(f)["rows"]},
                             {"remeasure"})

    def test_colours_can_be_read(self):
        self.run_study()
        page = self.read("report.html")
        schemes = re.findall(r":root\{([^}]*)\}", page)
        self.assertEqual(len(schemes), 3)  # light, dark, paper
        for scheme in schemes:
            colours = dict(re.findall(r"--(\w+):(#\w+)", scheme))
            for ink in ("ink", "soft", "link", "warn", "good"):
                for ground in ("ground", "tint"):
                    self.assertGreaterEqual(contrast(colours[ink], colours[ground]), 4.5,
                                            (ink, ground, scheme))

    def test_landmarks(self):
        self.run_study()
        page = self.read("report.html")
        self.assertIn('<html lang="en">', page)
        self.assertEqual(page.count("<h1>"), 1)
        self.assertIn('<a class="skip" href="#main">', page)
        self.assertIn('<main id="main">', page)
        levels = [int(n) for n in re.findall(r"<h([1-6])>", page)]
        for before, after in zip(levels, levels[1:]):
            self.assertLessEqual(after, before + 1)
        for target in re.findall(r'href="#([^"]*)"', page):
            self.assertIn(' id="%s"' % target, page)
        for point in self.facts()["front"]:
            self.assertIn('<tr id="trial-%d">' % point["trial"], page)


if __name__ == "__main__":
    unittest.main()
