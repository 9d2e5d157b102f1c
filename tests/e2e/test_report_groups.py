"""test_report_groups.py - reports of groups of seeds: the numbers of `dparetoctl compare`, bit
for bit; where they are written; what is refused; the true front of another study."""
import json
import os
import subprocess
import unittest

from harness import Case, LIMIT, program

STUDY = """study: %(name)s
seed: %(seed)d
data: public
trainer: {command: [dpareto-train, svt], runs: 2}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  %(utility)s
anti_ideal: {epsilon: 10, %(box)s}
search: {method: %(method)s, evaluations: %(n)d, parallel: 4}
"""
ERROR = 'error: {metric: f1, of: "1 - f1"}'


class Groups(Case):
    def setUp(self):
        super().setUp()
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def made(self, name, seed=1, n=8, method="random", utility=ERROR, box="error: 1"):
        self.submit(self.client, STUDY % locals())
        self.finish(self.client, name)

    def told(self, tool, *arguments, code=0):
        done = subprocess.run([program(tool), *arguments, "-o", "json"], capture_output=True,
                              timeout=LIMIT, env=dict(os.environ, DPARETO_SOCKET=self.d.socket))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def report(self, *arguments, **options):
        """report.json, and the folder."""
        told = self.told("dpareto-report", "--state", self.d.state, *arguments, **options)
        with open(os.path.join(told["folder"], "report.json")) as f:
            return json.load(f), told["folder"]

    def refused(self, *arguments, code=1):
        return self.told("dpareto-report", "--state", self.d.state, *arguments,
                         code=code)["error"]["message"]

    def test_the_numbers_are_those_of_compare(self):
        for i in range(3):
            self.made("d%d" % i, seed=i, n=9, method="dpareto")
            self.made("r%d" % i, seed=10 + i, n=9)
        self.made("long", seed=20, n=22)
        seeds = ("--group", "DPareto=d0,d1,d2", "--group", "At random=r0,r1,r2")
        parts = ("d0", "--group", "parts=long/5", "--at", "error=0.9,1")
        for groups, at in ((seeds, ("--at", "epsilon=0.1,1,10")), (parts, ())):
            compared = self.told("dparetoctl", "compare", *groups, *at)
            facts, folder = self.report(*groups)
            for key, value in compared.items():
                self.assertEqual(facts[key], value, key)
        self.assertEqual(folder, os.path.join(os.path.realpath(self.d.state), "reports",
                                              "d0-parts"))
        self.assertIsNone(facts["denoised"])  # of parts
        self.assertTrue([w for w in facts["warnings"] if "last 2 trials of long" in w])
        self.check_denoised(seeds)
        self.check_page(seeds)

    def check_denoised(self, seeds):
        compared = self.told("dparetoctl", "compare", *seeds, "--by", "denoised")
        facts, folder = self.report(*seeds)
        self.assertEqual(os.path.basename(folder), "DPareto-At-random")
        for key in ("groups", "tests"):
            self.assertEqual(facts["denoised"][key], compared[key])
        self.assertEqual(facts["settings_that_differ"]["search.method"],
                         {"DPareto": "dpareto", "At random": "random"})
        self.assertEqual(facts["warnings"], [])
        self.assertEqual(facts["study"], None)

    def check_page(self, seeds):
        again = self.path("again")
        told = self.told("dparetoctl", "report", *seeds, "--dir", again)
        _, folder = self.report(*seeds)
        for name in ("report.html", "report.md", "report.json", "hypervolume-groups.png",
                     "attainment.png", "seeds.png"):
            with open(os.path.join(told["folder"], name), "rb") as one, \
                    open(os.path.join(folder, name), "rb") as two:
                self.assertEqual(one.read(), two.read())
        self.assertFalse(os.path.exists(os.path.join(folder, "front.png")))
        with open(os.path.join(folder, "report.md")) as f:
            text = f.read()
        self.assertTrue(text.startswith("# DPareto and At random compared\n"))
        first = text.split("\n\n")[2]
        self.assertRegex(first, r"hypervolume.*\(95 %: .* p (= |< )0\.\d+, Welch's t-test, "
                                r"3 against 3\)\.$")

    def test_groups_measured_again(self):
        for name, seed in (("a", 1), ("b", 2)):
            self.made(name, seed=seed)
            self.ctl("--socket", self.d.socket, "remeasure", name, "--runs", "3")
            self.finish(self.client, name)
        compared = self.told("dparetoctl", "compare", "a", "b", "--by", "remeasured")
        facts, _ = self.report("--group", "a=a", "--group", "b=b")
        self.assertEqual(facts["remeasured"]["groups"], compared["groups"])

    def test_what_is_refused(self):
        self.made("a")
        self.made("f", utility="f1: {metric: f1, goal: maximize}", box="f1: 0")
        self.assertIn("cannot be compared", self.refused("--group", "g=a,f"))
        self.assertIn("cannot be the true one", self.refused("a", "--truth", "f"))
        self.assertIn("no part of 9", self.refused("--group", "g=a/9"))
        self.assertIn("--at is for groups", self.refused("a", "--at", "epsilon=1", code=2))
        self.assertIn("'a' is in group 'g' twice", self.refused("--group", "g=a,a", code=2))
        self.assertIn("no objective 'loss'",
                      self.refused("--group", "g=a", "--at", "loss=1", code=2))
        self.assertIn("which study", self.told("dparetoctl", "report", code=2)["error"]["message"])
        for option in ("--group", "--label", "--baseline"):
            self.assertIn("not UTF-8",
                          self.refused("-o", "json", "a", option, b"\xff=1", code=2))
        # names are names: neither another folder nor markup
        hostile = "..<script>alert(1)</script>]]>&#0;"
        facts, folder = self.report("--group", hostile + "=a")
        self.assertEqual(os.path.dirname(folder),
                         os.path.join(os.path.realpath(self.d.state), "reports"))
        self.assertEqual(facts["groups"][0]["name"], hostile)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as f:
                text = f.read()
            if name.endswith((".html", ".svg")):
                self.assertNotIn(b"<script", text, name)
        with open(os.path.join(folder, "report.md")) as f:
            self.assertNotIn("Without the noise, by models", f.read())  # of one group
        _, folder = self.report("--group", "..=a")
        self.assertEqual(folder, os.path.join(os.path.realpath(self.d.state), "reports", "-."))

    def test_the_true_front_and_all_denoised(self):
        for name, n in (("a", 9), ("b", 9), ("grid", 12)):
            self.made(name, seed=n, n=n, method="random")
        told = self.told("dpareto-report", "--state", self.d.state, "--truth", "grid",
                         "--dir", self.path("out"), "a", "b")
        with open(os.path.join(told["folder"], "report.json")) as f:
            facts = json.load(f)
        captions = {g["file"]: g["caption"] for g in facts["figures"]}
        for name in ("front.png", "comparison.png"):
            self.assertIn("true front, as far as study grid knows it", captions[name])
        self.assertIn("panels.png", captions)
        # every compared study has its hypervolume without the noise
        one = self.told("dparetoctl", "compare", "b", "--by", "denoised")
        self.assertEqual(facts["compared"][0]["hypervolume_denoised"],
                         one["groups"][0]["hypervolume"]["mean"])


if __name__ == "__main__":
    unittest.main()
