"""test_report.py - reports: written at the end of a study and on demand, the same bytes
from the same journal, safe against hostile text, never in the way of a study."""
import csv
import filecmp
import html.parser
import json
import os
import shutil
import signal
import subprocess
import unittest
import xml.etree.ElementTree

from harness import BIN, Case, LIMIT, program, wait_for

SEED = "918273645"
SVT = """study: s
seed: %s
seeds: fixed
trainer: {command: [dpareto-train, svt], runs: 5}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.1, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1"}
anti_ideal: {epsilon: 10, error: 1}
search: {method: random, evaluations: 12, parallel: 2}
""" % SEED
TEXTS = ("report.html", "report.md", "report.json")
TAGS = set("html head meta link title style body nav a main section h1 h2 h3 p ul li strong "
           "blockquote pre code div table caption thead tbody tr th td figure figcaption "
           "details summary span footer".split())
DRAWN = set("svg defs clippath marker g a path rect circle use image text title".split())


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.images = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [a for a, _ in attrs if a.startswith("on")], attrs
        if tag == "svg":
            self.images.append(dict(attrs))


class Reports(Case):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, HOME=self.folder, XDG_STATE_HOME=self.path("xdg"),
                        DPARETO_SOCKET=self.path("sock"))

    def run_tool(self, name, *arguments, code=0, folder=None, env=None):
        done = subprocess.run([os.path.join(folder or BIN, name), *arguments],
                              capture_output=True, text=True, timeout=LIMIT,
                              env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code,
                         "%s\n%s\n%s" % (arguments, done.stdout, done.stderr))
        return done

    def run_study(self, text=SVT, code=0, **options):
        self.write("study.yaml", text)
        return self.run_tool("dparetoctl", "run", self.path("study.yaml"), "--state",
                             self.path("state"), "-o", "json", code=code, **options)

    def report(self, *names, state="state"):
        return os.path.join(self.folder, state, "studies/s/report", *names)

    def read(self, *names):
        with open(self.report(*names)) as f:
            return f.read()

    def facts(self):
        return json.loads(self.read("report.json"))


class Run(Reports):
    def test_run_ends_with_a_report(self):
        done = self.run_study()
        result = json.loads(done.stdout)
        self.assertNotIn("report", done.stdout)  # one object, no paths
        facts = self.facts()
        for name in TEXTS:
            self.assertTrue(os.path.getsize(self.report(name)))
        self.assertEqual([{k: p[k] for k in ("trial", "at", "parameters", "objectives",
                                             "spread", "remeasured")}
                          for p in facts["front"]], result["front"])
        for key in ("study", "state", "evaluations", "failed", "diverged", "hypervolume",
                    "anti_ideal"):
            self.assertEqual(facts[key], result[key])
        for figure in facts["figures"]:
            self.assertIsNone(figure["why_not"], figure)
            with open(self.report(figure["file"]), "rb") as f:
                self.assertEqual(f.read(8), b"\x89PNG\r\n\x1a\n")
        self.assertIn("front.png", [f["file"] for f in facts["figures"]])
        page = Tags(self.read("report.html"))
        self.assertLessEqual(set(page.tags), TAGS | DRAWN)
        self.assertEqual(sorted(i["aria-label"] for i in page.images),  # by chapter there
                         sorted(f["alt"] for f in facts["figures"]))

    def test_same_journal_same_bytes(self):
        self.run_study()
        before = os.stat(self.report("report.html"))
        self.run_study()  # shown again: nothing to do
        self.assertEqual(os.stat(self.report("report.html")).st_ino, before.st_ino)
        self.run_tool("dpareto-report", "--state", self.path("state"), "--dir",
                      self.path("again"), "s")
        names = sorted(os.listdir(self.report()))
        self.assertEqual(sorted(os.listdir(self.path("again"))), names)
        self.assertEqual(filecmp.cmpfiles(self.report(), self.path("again"), names, False),
                         (names, [], []))

    def test_numbers_agree_with_the_journal(self):
        self.run_study()
        facts = self.facts()
        (mechanism,) = facts["privacy"]
        dump = self.run_tool("dparetoctl", "journal", "dump", "--state", self.path("state"))
        trials = [json.loads(line) for line in dump.stdout.splitlines()]
        epsilons = [t["objectives"][0] for t in trials if t["type"] == "trial-ended"]
        self.assertEqual(len(epsilons), 12)
        composed = mechanism["composed"]
        self.assertEqual((composed["evaluations"], composed["trainings"]), (12, 60))
        self.assertAlmostEqual(composed["epsilon"] / (5 * sum(epsilons)), 1)
        self.assertTrue(all(p["checks"]["epsilon"]["holds"] for p in facts["front"]))
        for row in facts["headline"]:
            fit = [t["objectives"] for t in trials if t["type"] == "trial-ended" and
                   t["objectives"][0] <= row["epsilon"]]
            self.assertEqual(row.get("value"), min((e for _, e in fit), default=None))

    def test_all_failed(self):
        self.trainer("print('no luck', file=sys.stderr)\nsys.exit(3)\n")
        self.run_study(self.study(search="method: random, evaluations: 3",
                                  extra_trainer=", max_failures: 5"), code=6)
        facts = self.facts()
        self.assertEqual((facts["state"], facts["front"]), ("failed", []))
        (group,) = facts["failures"]["groups"]
        self.assertEqual((group["end"], group["attempts"]), ("exit-code", 3))
        self.assertIn("no luck", self.read("report.md"))

    def test_odd_studies(self):
        """One point, three objectives, one parameter, none that is free, epsilon without
        end, ten decades, all the same value: each has a whole report."""
        sgd = ("a: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 1000, lot: 10, "
               "epochs: 1, noise_multiplier: x, delta: 1e-5}}\n  b: {metric: b}")
        cases = {
            "one": dict(search="method: random, evaluations: 1"),
            "three": dict(objectives="a: {metric: a}\n  b: {metric: b}\n  c: {metric: c, goal: "
                          "maximize}", anti="a: 2, b: 2, c: 0"),
            "fixed": dict(parameters="x: {fixed: 0.5}", search="method: grid, evaluations: 1"),
            "endless": dict(parameters="x: {fixed: 1e-200}", objectives=sgd,
                            search="method: random, evaluations: 2"),
            "decades": dict(parameters="x: {type: float, range: [1e-5, 1e5], scale: log}",
                            anti="a: 1e12, b: 1e12"),
            "constant": dict(parameters="x: {type: categorical, values: [1, 2, a]}"),
            "dozen": dict(parameters="\n  ".join("%s: {type: float, range: [0, 1]}" % c
                                                 for c in "xyzuvwrstopq")),
        }
        self.trainer("x = params['x'] if isinstance(params['x'], float) else 1\n"
                     "report(a=x ** 2, b=1 / (x + 1), c=x)\n")
        for name, case in cases.items():
            with self.subTest(name):
                shutil.rmtree(self.path("state"), ignore_errors=True)
                anti = case.pop("anti", "a: 2, b: 2")
                text = self.study(**{"search": "method: random, evaluations: 6", **case})
                self.run_study(text.replace("a: 2, b: 2", anti))
                facts = self.facts()
                self.assertEqual(facts["state"], "finished")
                self.assertTrue(facts["front"])
                for figure in facts["figures"]:
                    if figure["why_not"]:  # a figure of a model that explains nothing
                        self.assertTrue(figure["why_not"].startswith("the model of "), figure)
                        self.assertTrue(any(m["why"] == figure["why_not"] and not m["trusted"]
                                            for m in facts["models"]), figure)
                if name == "endless":
                    self.assertEqual(facts["privacy"][0]["composed"]["epsilon"], "inf")

    def test_hostile_text_stays_text(self):
        evil = "</td><script>alert(1)</script> ](javascript:x) `|` ~~~ **b** &lt; -->"
        self.trainer("if params['k'] == 'plain':\n    print(%r, file=sys.stderr)\n"
                     "    sys.exit(3)\nreport(a=0.5, b=0.5)\n" % evil)
        self.run_study(self.study(
            parameters="k: {type: categorical, values: [plain, %s]}\n"
            "  x: {type: float, range: [0, 1]}" % json.dumps(evil),
            search="method: random, evaluations: 8"))
        text = self.read("report.html")
        page = Tags(text)
        self.assertLessEqual(set(page.tags), TAGS | DRAWN)
        self.assertNotIn("<script", text)
        facts = self.facts()
        self.assertTrue(facts["failures"]["groups"])
        self.assertIn(evil, facts["failures"]["groups"][0]["messages"][0]["message"])
        self.assertEqual(facts["front"][0]["parameters"]["k"], evil)
        rows = [line for line in self.read("report.md").splitlines()
                if "script" in line and line.startswith("|")]
        self.assertTrue(rows)
        for row in rows:
            self.assertNotIn("<script", row.replace("\\<", ""))

    def test_public_leaves_the_seed_out(self):
        self.run_study(SVT + "data: public\n")
        self.assertIn(SEED, self.read("report.md"))
        done = self.run_tool("dpareto-report", "--state", self.path("state"), "--public", "s")
        self.assertEqual(done.stderr, "")
        folder = self.path("state/studies/s/report-public")
        self.assertEqual(done.stdout.strip(), os.path.join(folder, "report.html"))
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as f:
                self.assertNotIn(SEED.encode(), f.read(), name)
        with open(os.path.join(folder, "report.md")) as f:
            self.assertIn("seed is left out", f.read())
        self.assertIn(SEED, self.read("report.md"))  # the other one is untouched


class Tool(Reports):
    def test_copied_journal_without_a_daemon(self):
        self.run_study()
        shutil.copytree(self.path("state/journal"), self.path("copy"))
        shutil.rmtree(self.path("state"))
        self.run_tool("dpareto-report", "--journal", self.path("copy"), "--dir",
                      self.path("out/there"), "s")
        self.assertTrue(self.has("out/there/report.html"))

    def test_a_figure_less_takes_its_file_away(self):
        self.run_study()
        for name in ("mine.txt", "front-log.png"):  # the second as an earlier version drew it
            self.touch("state/studies/s/report/" + name)
        self.run_tool("dpareto-report", "--state", self.path("state"), "--figures",
                      "front,timeline", "s")
        self.assertEqual(sorted(os.listdir(self.report())),
                         sorted([*TEXTS, "mine.txt",
                                 *("%s.%s" % (figure, kind) for kind in ("png", "svg", "csv")
                                   for figure in ("front", "timeline"))]))

    def test_formats(self):
        """The files that were asked for and no others, each of its kind; Markdown and JSON
        name files that exist; the page needs none of them."""
        self.run_study()
        magic = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF-", "csv": b"panel,"}
        for formats, shown in (("pdf,png,svg", "png"), ("svg", "svg"), ("pdf", "pdf")):
            self.run_tool("dpareto-report", "--state", self.path("state"), "--figures", "front",
                          "--format", formats, "s")
            kinds = {*formats.split(","), "csv"}
            self.assertEqual(set(os.listdir(self.report())),
                             {*TEXTS, *("front." + kind for kind in kinds)})
            for kind in kinds:
                with open(self.report("front." + kind), "rb") as f:
                    self.assertTrue(f.read(8).startswith(magic[kind]))
            self.assertIn("(front.%s)" % shown, self.read("report.md"))
            (figure,) = self.facts()["figures"]
            self.assertEqual(figure["file"], "front." + shown)
            self.assertEqual(set(figure["files"]), {"front." + kind for kind in kinds})
            page = self.read("report.html")
            self.assertEqual(len(Tags(page).images), 1)
            self.assertNotIn("front." + shown, page)

    def test_figures_for_print(self):
        self.run_study()
        out = self.path("print")
        self.run_tool("dparetoctl", "report", "s", "--state", self.path("state"), "--dir", out,
                      "--figures", "front", "--format", "pdf,svg", "--width", "88mm",
                      "--no-title", "--label", "s=Sparse <vectors> & co")
        with open(out + "/front.svg") as f:
            svg = xml.etree.ElementTree.fromstring(f.read())
        self.assertEqual(svg.attrib["width"], "88mm")
        drawn = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertNotIn("Sparse", " ".join(drawn))
        self.assertIn("\N{GREEK SMALL LETTER EPSILON}", drawn)
        (title,) = [t.text for t in svg if t.tag.endswith("}title")]
        self.assertTrue(title.endswith("Sparse <vectors> & co"), title)
        with open(out + "/report.html") as f:
            self.assertIn("<title>Study Sparse &lt;vectors&gt; &amp; co - ", f.read())
        with open(out + "/report.json") as f:
            self.assertEqual(json.load(f)["label"], "Sparse <vectors> & co")
        if shutil.which("pdftotext"):
            words = subprocess.run(["pdftotext", out + "/front.pdf", "-"], capture_output=True,
                                   text=True, timeout=LIMIT).stdout
            self.assertIn("evaluated", words)
        with open(out + "/front.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        points = [(float(r["x"]), float(r["y"])) for r in rows if r["series"] == "evaluated"]
        shown = [tuple(p["objectives"].values()) for p in self.facts()["front"]]
        self.assertLessEqual(set(shown), set(points))

    def test_mistakes(self):
        self.run_study()
        state = ["--state", self.path("state")]
        for arguments, code, word in (
                ([], 2, "which study"), ([*state, "nope"], 5, "nope"),
                (["--state", self.path("none"), "s"], 5, "none"),
                (["--journal", self.path("state/journal"), "s"], 2, "--dir"),
                ([*state, "--baseline", "x", "s"], 2, "LABEL=NUMBER"),
                ([*state, "--figures", "frnt", "s"], 2, "frnt"),
                ([*state, "--format", "gif", "s"], 2, "gif"),
                ([*state, "--width", "8mm", "s"], 2, "88mm"),
                ([*state, "--label", "other=x", "s"], 2, "other"),
                ([*state, "--label", "s=x", "--label", "s=y", "s"], 2, "two things"),
                ([*state, "--figures", "", "s"], 2, "front,fit"),
                ([*state, "--output", "yaml", "s"], 2, "json"),
                ([*state, "--dir", self.path("study.yaml"), "s"], 1, "study.yaml")):
            with self.subTest(arguments):
                done = self.run_tool("dpareto-report", *arguments, code=code)
                self.assertIn(word, done.stderr)
                self.assertNotIn("report.html", done.stdout)
        done = self.run_tool("dpareto-report", *state, "-o", "json", "nope", code=5)
        self.assertEqual(json.loads(done.stdout)["error"]["kind"], "not-found")

    def test_ctl_report(self):
        self.run_study()
        self.write("other.yaml", SVT.replace("study: s\n", "study: other\n")
                   .replace(SEED, "5"))
        self.run_tool("dparetoctl", "run", self.path("other.yaml"), "--state",
                      self.path("state"), "-q")
        self.write("xdg-open", "#!/bin/sh\necho \"$1\" > %s\n" % self.path("opened"), 0o755)
        done = self.run_tool(
            "dparetoctl", "report", "s", "other", "--state", self.path("state"), "--dir",
            self.path("both"), "--baseline", "a = b=0.25", "--open",
            env={"PATH": self.folder + ":" + os.environ["PATH"]})
        page = self.path("both/report.html")
        self.assertEqual(done.stdout, page + "\n")
        with open(self.path("opened")) as f:
            self.assertEqual(f.read().strip(), page)
        with open(self.path("both/report.json")) as f:
            facts = json.load(f)
        self.assertEqual([o["study"] for o in facts["compared"]], ["other"])
        self.assertEqual(facts["baselines"], [{"label": "a = b", "value": 0.25}])
        self.assertIn("comparison.png", os.listdir(self.path("both")))
        answer = json.loads(self.run_tool("dparetoctl", "report", "s", "--state",
                                          self.path("state"), "-o", "json").stdout)
        self.assertEqual(answer["html"], self.report("report.html"))
        self.run_tool("dparetoctl", "report", "nope", "--state", self.path("state"), code=5)


class Service(Reports):
    def begin(self, *options):
        self.d = self.daemon("--slots", "2", *options).start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def summary(self, study="s"):
        return self.client("status", study=study)["study"]

    def written(self):
        return wait_for(lambda: self.summary()["report"])

    def stand_in(self, script):
        """A folder with the real programs and another dpareto-report."""
        folder = self.path("bin")
        os.mkdir(folder)
        for name in ("dparetod", "dparetoctl", "dpareto-shim", "dpareto-train"):
            shutil.copy(program(name), folder)
        self.write("bin/dpareto-report", "#!/bin/sh\n" + script, 0o755)
        return folder

    def begin_in(self, folder, *options):
        self.d = self.daemon("--slots", "2", *options)
        self.d.process = subprocess.Popen(
            [os.path.join(folder, "dparetod"), "--state", self.d.state, "--socket",
             self.d.socket, "--log-file", self.d.log, *self.d.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.client = self.d.connect()

    def test_written_at_the_end_and_deleted_with_the_study(self):
        self.begin()
        self.submit(self.client, SVT)
        self.finish(self.client, "s")
        self.assertEqual(self.written(), self.report("report.html"))
        self.assertEqual(self.facts()["state"], "finished")
        done = self.run_tool("dparetoctl", "report", "s")  # the state folder is the daemon's
        self.assertEqual(done.stdout.strip(), self.report("report.html"))
        self.client("delete", study="s")
        self.assertFalse(os.path.exists(self.report()))

    def test_a_larger_budget_makes_a_new_one(self):
        self.begin()
        self.submit(self.client, SVT)
        self.finish(self.client, "s")
        self.written()
        self.client("set", study="s", evaluations=14)
        self.finish(self.client, "s")
        self.written()
        self.assertEqual(self.facts()["evaluations"], 14)

    def test_after_a_restart_what_is_missing_is_made(self):
        self.begin()
        self.submit(self.client, SVT)
        self.finish(self.client, "s")
        self.written()
        before = os.stat(self.report("report.html"))
        self.d.end()
        self.begin()
        self.written()
        self.assertEqual(os.stat(self.report("report.html")).st_ino, before.st_ino)
        self.d.end(signal.SIGKILL)
        shutil.rmtree(self.report())
        self.begin()
        self.written()
        self.assertTrue(os.path.exists(self.report("report.html")))

    def test_now_and_then_while_it_runs(self):
        self.trainer("if request['trial'] > 2:\n    gate('open')\nreport(a=0.5, b=0.5)\n")
        self.begin("--report-interval", "100ms")
        self.submit(self.client, self.study(search="method: random, evaluations: 5"))
        wait_for(lambda: os.path.exists(self.report("report.html")) and
                 self.facts()["evaluations"] == 3)
        self.assertEqual(self.facts()["state"], "running")
        self.assertIn("has not ended", self.read("report.md"))
        self.touch("open")
        self.finish(self.client, "s")
        self.written()
        self.assertEqual(self.facts()["state"], "finished")

    def test_only_at_the_end_if_so_configured(self):
        self.trainer("if request['trial'] > 2:\n    gate('open')\nreport(a=0.5, b=0.5)\n")
        self.begin_in(self.stand_in("touch %s\nexit 1\n" % self.path("asked")),
                      "--report-interval", "0")
        self.submit(self.client, self.study(search="method: random, evaluations: 5"))
        wait_for(lambda: self.summary()["ended"] == 3)
        self.assertFalse(self.has("asked"))
        self.touch("open")
        self.finish(self.client, "s")
        wait_for(lambda: self.has("asked"))

    def test_a_failing_report_is_a_line_in_the_log(self):
        self.begin_in(self.stand_in("echo 'dpareto-report: no ink' >&2\nexit 1\n"))
        self.submit(self.client, SVT)
        self.assertEqual(self.finish(self.client, "s")["study"]["state"], "finished")
        wait_for(lambda: self.summary()["report_error"])
        self.assertEqual(self.summary()["report_error"], "no ink")
        with open(self.d.log) as f:
            self.assertEqual(f.read().count("no report: no ink"), 1)  # and not again

    def test_run_without_a_report_warns(self):
        folder = self.stand_in("exit 1\n")
        done = self.run_study(folder=folder)
        self.assertIn("no report", done.stderr)
        self.assertEqual(json.loads(done.stdout)["state"], "finished")
        os.remove(os.path.join(folder, "dpareto-report"))
        self.assertIn("no report", self.run_study(folder=folder).stderr)

    def test_delete_while_a_report_is_written(self):
        self.begin_in(self.stand_in("echo $$ > %s\nexec sleep 600\n" % self.path("writing")))
        self.submit(self.client, SVT)
        self.finish(self.client, "s")
        wait_for(lambda: self.has("writing") and open(self.path("writing")).read())
        pid = int(open(self.path("writing")).read())
        self.client("delete", study="s")
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), 10)
        self.assertFalse(self.has("state/studies/s"))

    def test_a_stop_does_not_wait_for_a_report(self):
        self.begin_in(self.stand_in("echo $$ > %s\nexec sleep 600\n" % self.path("writing")))
        self.submit(self.client, SVT)
        self.finish(self.client, "s")
        wait_for(lambda: self.has("writing") and open(self.path("writing")).read())
        pid = int(open(self.path("writing")).read())
        self.assertEqual(self.d.end(), 0)
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), 10)


if __name__ == "__main__":
    unittest.main()
