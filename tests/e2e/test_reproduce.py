"""test_reproduce.py - scripts/reproduce --quick: everything in small, stopped and killed on the way;
it goes on, runs nothing twice, and its page has every row."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from harness import BIN, LIMIT, TOP, Case, wait_for

sys.path.insert(0, os.path.join(TOP, "scripts"))
from reproduction import (claims, contents, drawing, kept, measure, page, plan, progress,  # noqa: E402
                          student, studies)
from reproduction.service import Programs  # noqa: E402

SCRIPT = os.path.join(TOP, "scripts/reproduce")
EXAMPLES = os.path.join(TOP, "examples/paper")


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(p) for p in f.read().split()]


def program(pid):
    """Of a process, which may have ended."""
    try:
        return os.readlink("/proc/%d/exe" % pid)
    except OSError:
        return ""


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Numbers(unittest.TestCase):
    def test_student(self):
        """Against mpmath, as lib/base/t_distribution.c is (tests/ref/student.py); t up to a million."""
        rows = 0
        with open(os.path.join(TOP, "tests/ref/student.tsv")) as f:
            for line in f:
                if line.startswith("#") or not line.strip():
                    continue
                t, df, p = map(float, line.split()[:3])
                if abs(t) > 1e6:
                    continue
                self.assertLess(abs(student.p_value(t, df) / p - 1), 1e-8, line)
                rows += 1
        self.assertGreater(rows, 100)
        self.assertAlmostEqual(student.p_value(student.quantile(18), 18), 0.05, 12)

    def test_welch(self):
        """By hand: means 2 and 5, standard error sqrt(1/3 + 1/3), four degrees of freedom."""
        test = student.welch([1, 2, 3], [4, 5, 6])
        self.assertAlmostEqual(test["t"], -3 / (2 / 3) ** 0.5)
        self.assertAlmostEqual(test["df"], 4)
        self.assertAlmostEqual(test["high"], -3 + student.quantile(4) * (2 / 3) ** 0.5)
        self.assertIsNone(student.welch([1], [2, 3]))

    def test_what_the_paper_s_interval_implies(self):
        t, p = claims.implied(plan.PAIRS["adult-logreg-sgd"][1])
        self.assertTrue(3.1 < t < 3.2 and 0.005 < p < 0.006, (t, p))

    def test_volumes(self):
        points = [(1, 0.5, 10), (2, 0.25, 30), (3, 0.75, 20), (20, 0, 40)]
        self.assertEqual(measure.hypervolume(points), 9 * 0.5 + 8 * 0.25)
        self.assertEqual(measure.front_of(points), [points[0], points[1], points[3]])
        self.assertEqual(measure.best_within(points, 2), 0.25)
        self.assertIsNone(measure.best_within(points, 0.5))
        self.assertEqual(measure.epochs_to_reach(points, 6.5), 30)
        self.assertEqual([measure.volume_after(points, e) for e in (9, 10, 29, 30)], [0, 4.5, 4.5, 6.5])
        self.assertIsNone(measure.epochs_to_reach(points, 7))
        self.assertEqual(measure.near(points, points, 0.1), 2 / 3)

    def test_epsilon_is_rounded_up(self):
        self.assertEqual([claims.up(x) for x in (0.121, 0.12, 147.2, 10, 0.0000131)],
                         ["0.13", "0.12", "150", "10", "0.000014"])


class Progress(unittest.TestCase):
    def test_points_measured_again_count(self):
        """50 runs of a point are five evaluations of ten."""
        study = plan.Study("s", "x", 1, plan.dpareto(plan.USUAL))
        seen = {"state": "running", "evaluations": 272, "ended": 100, "front": 20, "measuring": None}
        self.assertEqual(progress.done(study, seen), (100, 272 + 20 * 5))
        seen.update(ended=272, measuring={"points": 30, "runs_done": 700})
        self.assertEqual(progress.done(study, seen), (272 + 70, 272 + 30 * 5))
        seen.update(state="finished")
        self.assertEqual(progress.done(study, seen), (272, 272))


class Found:
    """Measured by nobody: every test of two groups has this result."""

    def __init__(self, low, high):
        values = {"hypervolume": {"values": [8.3, 8.4], "mean": 8.35, "sd": 0.01}}
        test = {"difference": (low + high) / 2, "low": low, "high": high, "t": 3, "df": 18,
                "p": 0.01}
        self.answer = ([values, values], test)

    def test(self, a, b, by="observed"):
        return self.answer


class Verdicts(unittest.TestCase):
    """Whether something is the same as in the paper follows from numbers alone."""

    def test_table_two(self):
        for low, high, same in ((0.1, 0.2, claims.SAME), (0.05, 0.06, claims.SAME),
                                (0.01, 0.04, claims.PARTLY), (0.3, 0.4, claims.PARTLY),
                                (-0.1, 0.3, claims.NOT), (-0.3, -0.1, claims.NOT)):
            row = claims.against_random(Found(low, high), plan.USUAL, "adult-logreg-sgd")
            self.assertEqual(row.same, same, (low, high))
            self.assertEqual(bool(row.reason), same == claims.PARTLY)

    def test_uniform_sampling(self):
        for low, high, same in ((-0.2, -0.1, claims.SAME), (-0.2, 0.1, claims.NOT)):
            self.assertEqual(claims.distributions(Found(low, high), plan.USUAL).same, same)

    def test_parallel_work(self):
        """Less than half a percent of the hypervolume is no price."""
        for low, high, same in ((-0.04, -0.02, claims.NOT), (-0.12, -0.1, claims.SAME)):
            self.assertEqual(claims.sequential(Found(low, high), plan.USUAL).same, same)


class Kept(Case):
    """What an earlier run measured, in a file."""

    def results(self, finished, run="b", digest="1"):
        parts = {p: plan.Part(p, p, [plan.Study(p + str(i), "x", i, ()) for i in (1, 2)], [])
                 for p in "pq"}
        m = measure.Measured(Nothing())
        m.seen = {n: {"state": "finished"} for n in finished}
        return kept.Results(m, parts, {"id": run, "from": "", "to": "", "machine": "", "commit": ""},
                            kept.Kept(self.path("kept.json")), {p: {"s": digest} for p in parts})

    def test_which_run_an_entry_is_of(self):
        """The one that has all of its part, else the earlier one."""
        first = self.results(("p1", "p2", "q1"), run="a")
        for part in "pq":
            for key in "xy":
                first.entry(part, key, ("a", key))
        first.entry("q", "z", ("q", kept.NOT_YET))
        self.assertEqual(first.keep(), [])

        second = self.results(("p1", "q1", "q2"))
        self.assertEqual(second.entry("p", "x", ("b", "x")), ["a", "x"])
        self.assertEqual(second.entry("p", "y", ("b", kept.NOT_YET)), ["a", "y"])
        self.assertEqual(second.entry("p", "new", ("b", "new")), ("b", "new"))
        self.assertEqual(second.entry("q", "x", ("b", "x")), ("b", "x"))
        self.assertEqual(second.entry("q", "z", ("q", kept.NOT_YET)), ("q", kept.NOT_YET))
        self.assertEqual(second.runs_of("p"), {"a": 2, "b": 1})
        self.assertEqual([second.run_id("q", k) for k in "xz"], ["b", ""])
        self.assertEqual(second.keep(), [])
        again = self.results(("p1", "q1", "q2"))
        self.assertEqual(again.entry("p", "new", ("b", "newer")), ("b", "newer"))
        with self.assertRaises(ValueError):
            self.results(()).entry("p", "x", ("another", "number of", kept.NOT_YET))

    def test_other_studies(self):
        """What was measured with other study files says nothing about these; it stays in the file."""
        first = self.results(("p1", "p2"), run="a")
        first.entry("p", "x", ("a",))
        first.keep()
        second = self.results((), digest="2")
        self.assertEqual(second.entry("p", "x", (kept.NOT_YET,)), (kept.NOT_YET,))
        self.assertEqual(second.keep(), ["p"])
        self.assertEqual(self.results(()).entry("p", "x", (kept.NOT_YET,)), ["a"])

    def test_comments_make_no_other_study(self):
        part = plan.parts(plan.USUAL)["svt"]
        once = [kept.digest(s, EXAMPLES, plan.USUAL) for s in part.studies]
        os.makedirs(self.path("x"))
        for name in os.listdir(EXAMPLES):
            with open(os.path.join(EXAMPLES, name)) as f, open(self.path("x/" + name), "w") as out:
                out.write(re.sub(r"(?m)^(  .*\S)$", r"\1  # more", f.read()))
        self.assertEqual([kept.digest(s, self.path("x"), plan.USUAL) for s in part.studies], once)

    def test_the_page_in_docs(self):
        """It is what the file beside it says, and the file is of studies that are still the same."""
        parts, docs = plan.parts(plan.USUAL), os.path.join(TOP, "docs")
        file = kept.Kept(os.path.join(docs, "results/measured.json"))
        run = {"id": "none", "from": "", "to": "", "machine": "", "commit": ""}
        digests = kept.digests(parts, EXAMPLES, plan.USUAL)
        self.assertEqual(file.stale(digests), [])
        results = kept.Results(measure.Measured(Nothing()), parts, run, file, digests)
        page.write_docs(self.path("docs"), contents.sections(results, plan.USUAL, {}, {}), plan.USUAL)
        with open(self.path("docs/results.md")) as a, open(os.path.join(docs, "results.md")) as b:
            self.assertEqual(a.read(), b.read())
        for entry in (k for p in file.parts.values() for k in p["entries"]):
            if entry.startswith("figure "):
                self.assertTrue(os.path.exists(os.path.join(docs, "results", entry[7:] + ".png")))

    def test_names_of_studies(self):
        self.assertEqual(contents.behind(("a-s1", "a-s2", "b", "a-s3", "c-s1")),
                         "`a-s1` to `s3`, `b`, `c-s1`")


class Plan(Case):
    def test_files(self):
        """Every study is valid, has its own name, and no two of one pair share a seed."""
        made = {}  # both can be in one folder
        for scale in (plan.USUAL, plan.FULL):
            os.makedirs(self.path(scale.name))
            for part in plan.parts(scale).values():
                for s in part.studies:
                    self.assertEqual(made.setdefault(s.name, s), s)
                for figure in part.figures:
                    self.assertLessEqual(set(figure.needs()), set(part.names()))
            files = [studies.write(s, os.path.join(TOP, "examples/paper"), self.path(scale.name),
                                   scale) for s in made.values()]
            for path in files:
                done = self.ctl("validate", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        usual = plan.parts(plan.USUAL)
        for p in plan.PAIRS:
            seeds = [s.seed for s in usual[p].studies if "grid" not in s.name]
            self.assertEqual(len(seeds), len(set(seeds)))

    def test_the_paper_s_settings(self):
        """16 + 256, HVPoI, a model of epsilon; 19 parts of 256; grids of 243 and 1,024."""
        part = plan.parts(plan.USUAL)["adult-logreg-sgd"]
        search = {s.name: dict(s.search) for s in part.studies}
        first = search["adult-logreg-sgd-dpareto-s1"]
        self.assertEqual([first[k] for k in ("initial", "evaluations", "acquisition",
                                             "privacy_model")], [16, 272, "hvpoi", "gp"])
        self.assertEqual(search["adult-logreg-sgd-random-long"]["evaluations"], 5000)
        self.assertEqual(plan.USUAL.parts, 19)
        self.assertEqual([search["adult-logreg-sgd-grid%d" % n]["grid"] for n in (3, 4)], [3, 4])

    def test_an_edit_that_finds_nothing(self):
        with self.assertRaises(ValueError):
            studies.edit("study: s\n", "pld")


class Quick(Case):
    def start(self):
        return subprocess.Popen([SCRIPT, "--quick", "--bin", BIN, "--dir", self.path("r")],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def listed(self):
        """{study: trials ended}"""
        if not self.has("r/state/journal/data.mdb"):
            return {}
        done = self.ctl("list", "--state", self.path("r/state"), "-o", "json")
        return {s["name"]: s["ended"] for s in json.loads(done.stdout)} \
            if done.returncode == 0 else {}

    def journal(self):
        done = self.ctl("journal", "dump", "--state", self.path("r/state"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def started_until(self, study, ended):
        """A run that has come so far, and its daemon."""
        process = self.start()
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        wait_for(lambda: self.listed().get(study, 0) >= ended or process.poll() is not None)
        self.assertIsNone(process.poll())
        daemons = [p for p in children(process.pid) if program(p).endswith("dparetod")]
        self.assertEqual(len(daemons), 1)
        return process, daemons[0]

    def test_stopped_killed_and_finished(self):
        process, daemon = self.started_until("output-perturbation-start", 1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 130)
        self.assertIn("the same command goes on", process.stderr.read())
        self.assertFalse(alive(daemon))

        process, daemon = self.started_until("adult-logreg-sgd-random-long", 5)
        os.kill(daemon, signal.SIGKILL)
        self.assertEqual(process.wait(LIMIT), 1)
        self.assertIn("dparetod has ended", process.stderr.read())

        process, daemon = self.started_until("adult-logreg-adam-random-long", 5)
        process.kill()
        process.wait(LIMIT)
        wait_for(lambda: not alive(daemon))
        before = self.journal()
        self.assertNotIn("mnist-mlp1-sgd-random", self.listed())

        process = self.start()
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.strip(), self.path("r/index.html"))
        self.check_nothing_ran_twice(before, self.journal())
        self.check_files()
        self.check_shared()
        self.check_page()
        self.check_results()
        self.check_docs()

    def check_nothing_ran_twice(self, before, after):
        """What was journaled is still there, and every trial has one end of one training."""
        self.assertLessEqual(set(before), set(after))
        ended = {}
        for event in map(json.loads, after):
            if event["type"] == "attempt-ended" and event["counted"]:
                key = (event["study"], event["trial"], event["run"])
                ended.setdefault(key, []).append(event["end"])
        killed = [ends for ends in ended.values() if ends[-1:] != ["ok"] or "ok" in ends[:-1]]
        self.assertEqual(killed, [])
        self.assertEqual(self.listed()["adult-svm-sgd-random-long"], plan.QUICK.long)

    def check_files(self):
        """The study file and seed behind each number."""
        for part in plan.parts(plan.QUICK).values():
            for s in part.studies:
                with open(self.path("r/studies/%s.yaml" % s.name)) as f:
                    text = f.read()
                self.assertIn("\nstudy: %s\nseed: %d\n" % (s.name, s.seed), text)
                self.assertIn("examples/paper/%s.yaml" % s.source, text)

    def check_shared(self):
        """Random sampling of MNIST begins with DPareto's initial points, and learns the same."""
        programs = Programs(BIN, self.path("r/state"))
        n = plan.QUICK.initial
        for s in plan.parts(plan.QUICK)["mnist"].studies:
            if s.shares:
                pair = [[(t["parameters"], t["objectives"]) for t in programs.trials(x)]
                        for x in (s.shares, s.name)]
                self.assertEqual(pair[0][:n], pair[1][:n])
                self.assertNotEqual(pair[0][n:], pair[1][n:])

    def check_page(self):
        with open(self.path("r/index.html")) as f:
            page = f.read()
        self.assertNotIn("<script", page)
        for part in plan.parts(plan.QUICK).values():
            self.assertIn(part.title, page)
            for figure in part.figures:
                self.assertIn('<figure id="%s">' % figure.name, page)
        links = re.findall(r'(?:src|href)="([^"#][^"]*)"', page)
        self.assertGreater(len(links), 50)
        for link in links:
            self.assertTrue(self.has("r/" + link), link)
        for name in re.findall(r'href="#([^"]*)"', page):
            self.assertIn('id="%s"' % name, page)
        for tag in ("table", "tr", "td", "figure", "p", "h2"):
            self.assertEqual(len(re.findall("<%s[ >]" % tag, page)), page.count("</%s>" % tag))

    def check_results(self):
        with open(self.path("r/results.md")) as f:
            text = f.read()
        self.assertIn("quick run", text)
        self.assertNotIn("not measured yet", text)
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        nothing = claims.rows(measure.Measured(Nothing()), plan.QUICK)
        for row in nothing:
            self.assertEqual(row.same, "")  # says nothing of what was not measured
            self.assertEqual(sum(r.startswith("| %s | %s |" % (row.where, row.words))
                                 for r in rows), 1, row.words)
        for part in plan.parts(plan.QUICK).values():
            for s in part.studies:
                self.assertEqual(sum(r.startswith("| %s | %s | %d |" % (s.name, s.source, s.seed))
                                     for r in rows), 1, s.name)
        for picture in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text):
            self.assertTrue(self.has("r/" + picture), picture)

    def write_docs(self, run, parts, figure):
        """docs/ as a run makes it that has measured these parts only; returns the page."""
        every = plan.parts(plan.QUICK)
        programs = Some(Programs(BIN, self.path("r/state")),
                        {n for p in parts for n in every[p].names()})
        results = kept.Results(measure.Measured(programs), every, run,
                               kept.Kept(self.path("docs/results/measured.json")),
                               kept.digests(every, EXAMPLES, plan.QUICK))
        drawn = {figure.name: drawing.draw(figure, programs, self.path("r"))}
        page.write_docs(self.path("docs"), contents.sections(results, plan.QUICK, drawn, {}),
                        plan.QUICK)
        self.assertEqual(results.keep(), [])
        with open(self.path("docs/results.md")) as f:
            return f.read()

    def check_docs(self):
        """docs/results.md has its pictures beside it, and keeps what other runs measured."""
        svt, beyond = (plan.parts(plan.QUICK)[p].figures for p in ("svt", "beyond"))
        first = {"id": "a", "machine": "a slow one", "commit": "", "from": "2001-01-01",
                 "to": "2001-01-02"}
        text = self.write_docs(first, ("svt", "adult-logreg-sgd"), svt[0])
        self.assertIn("](results/figure-2.png)", text)
        self.assertTrue(self.has("docs/results/figure-2.png"))
        self.assertIn("Figure 4, Sparse vector technique: models, fronts and the next point: not "
                      "measured yet.", text)
        before = measured_lines(text)

        second = dict(first, id="b", machine="a fast one")
        text = self.write_docs(second, ("beyond", "mnist"), beyond[0])
        for line in before:
            self.assertIn(line, text)
        self.assertIn("](results/figure-2.png)", text)
        self.assertIn("Measured by [run 1](#how-long-it-took) (2001-01-01 to 2001-01-02, a slow one).", text)
        self.assertIn("Measured by [run 2](#how-long-it-took) (2001-01-01 to 2001-01-02, a fast one).", text)
        self.assertIn("Run 2 measured 2 studies again that an earlier run had measured, with the same "
                      "seeds: `adult-logreg-sgd-dpareto-s1` to `s2`. Evaluations and hypervolumes, as "
                      "observed and measured again, are the same to every digit shown.", text)
        self.assertGreater(len(measured_lines(text)), len(before))
        self.assertEqual(self.write_docs(second, ("beyond", "mnist"), beyond[0]), text)


def measured_lines(text):
    """Rows and sentences that somebody measured."""
    return [line for line in text.splitlines()
            if line.startswith(("| ", "!", "Figure")) and "not measured yet" not in line]


class Some:
    """A state folder of which only some studies are seen."""

    def __init__(self, programs, names):
        self.programs, self.names, self.state = programs, names, programs.state
        self.ask, self.call = programs.ask, programs.call

    def list(self):
        return {k: v for k, v in self.programs.list().items() if k in self.names}


class Nothing:
    """A state folder in which nothing was done."""

    def list(self):
        return {}


if __name__ == "__main__":
    unittest.main()
