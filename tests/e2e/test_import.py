"""Results of a study in another state folder: search.initial_from, and `import`."""
import json
import os
import shutil
import tempfile
import unittest

from harness import Case, Refused, wait_for

SPACE = "x: {type: float, range: [0, 1]}"
RANDOM = "method: random, evaluations: %d"
MODELS = "method: dpareto, evaluations: %d, initial: 1"


class Import(Case):
    def setUp(self):
        super().setUp()
        self.trainer("report(a=params['x'], b=1 - params['x'])\n")

    def tearDown(self):
        self.tidy()

    made = None  # a state folder that is made once for all tests

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made or "", ignore_errors=True)

    def old(self):
        """Puts the folder of a study that was run by `dparetoctl run` in place; its
        trials."""
        if not Import.made:
            Import.made = tempfile.mkdtemp(prefix="dpareto-")
            text = self.study(name="old", search=RANDOM % 5)
            done = self.ctl("run", self.write("old.yaml", text), "--state", Import.made, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
        folder = shutil.copytree(Import.made, self.path("runs/old"))
        return json.loads(self.ctl("trials", "old", "--state", folder, "-o", "json").stdout)

    def imported(self, folder="state"):
        """What the journal says that studies took over."""
        lines = self.ctl("journal", "dump", "--state", self.path(folder)).stdout.splitlines()
        return [e for e in map(json.loads, lines) if e["type"] == "result-imported"]

    def new(self, origin, name="new", n=2):
        return self.study(name=name, search=(MODELS % n) + ", initial_from: '%s'" % origin)

    def test_a_run_starts_from_another(self):
        trials = self.old()
        text = self.new("./runs/old")  # relative to the study file
        run = ["run", self.write("new.yaml", text), "--state", self.path("state")]
        done = self.ctl(*run, "-q", cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        taken = self.imported()
        self.assertEqual([e["name"] for e in taken], ["old"] * 5)
        self.assertEqual([e["objectives"] for e in taken],
                         [[t["objectives"]["a"], t["objectives"]["b"]] for t in trials])
        # nothing depends on the folder any more
        shutil.rmtree(self.path("runs"))
        self.assertEqual(self.ctl(*run, "-q").returncode, 0)
        point = self.ctl("propose", "new", "--state", self.path("state"), "-o", "json")
        self.assertIsNotNone(json.loads(point.stdout)["predicted"])
        with open(self.path("state/studies/new/report/report.md")) as f:
            self.assertNotIn(self.path("runs"), f.read())

    def test_of_a_daemon(self):
        """Of another daemon that runs, of its own folder, and of one of several studies."""
        self.old()
        client = self.daemon().start().connect()
        self.submit(client, self.study(name="one", search=RANDOM % 3))
        self.submit(client, self.study(name="two", search=RANDOM % 4))
        self.finish(client, "one")
        self.finish(client, "two")
        self.submit(client, self.new("./runs/old#old"))
        self.submit(client, self.new("./state#two", name="own"))
        for name in ("new", "own"):
            self.finish(client, name)
        names = [e["name"] for e in self.imported()]
        self.assertEqual(names, ["old"] * 5 + ["two"] * 4)
        # beside that daemon, from outside
        done = self.ctl("run", self.write("n.yaml", self.new("./state#one")), "--state",
                        self.path("other"), "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.imported("other")), 3)

    def test_refusals(self):
        self.old()
        os.mkdir(self.path("empty"))
        client = self.daemon().start().connect()
        self.submit(client, self.study(name="one", search=RANDOM % 1))
        self.submit(client, self.study(name="two", search=RANDOM % 1))
        for origin, kind, words in (
                ("./none", "not-found", "there is no journal in"),
                ("./empty", "not-found", "there is no journal in"),
                ("./runs/old#none", "not-found", "there is no study 'none'"),
                ("./state", "invalid", "there are 2 studies in")):
            with self.subTest(origin):
                with self.assertRaises(Refused) as refused:
                    self.submit(client, self.new(origin))
                error = refused.exception.error
                self.assertEqual(error["kind"], kind)
                self.assertTrue(error["message"].startswith("search.initial_from: "), error)
                self.assertIn(words, error["message"])
                self.assertTrue(error["hint"])
        with self.assertRaises(Refused) as refused:
            self.submit(client, self.new("./runs/old").replace("  x:", "  y:"))
        self.assertIn("has other parameters", str(refused.exception))
        with open(self.path("runs/old/journal/data.mdb"), "r+b") as f:
            f.write(b"\xff" * 9000)
        with self.assertRaises(Refused) as refused:
            self.submit(client, self.new("./runs/old"))
        self.assertEqual(refused.exception.error["kind"], "corrupt")
        self.assertEqual({s["name"] for s in client.every("list")}, {"one", "two"})

    def test_many_at_once(self):
        """They read the same folder one after the other, and each has all of it."""
        self.old()
        d = self.daemon().start()
        clients = [d.connect() for _ in range(8)]
        for i, c in enumerate(clients):
            text = self.new("./runs/old", name="new%d" % i)
            c.file.write(json.dumps({"v": 1, "do": "submit", "text": text, "path": "f",
                                     "dir": self.folder}).encode() + b"\n")
            c.file.flush()
        for c in clients:
            self.assertTrue(json.loads(c.file.readline())["ok"]["new"])
            c.close()
        wait_for(lambda: len(self.imported()) == 40)

    def test_while_it_runs(self):
        trials = self.old()
        self.trainer("""
if request["study"] == "s" and request["trial"] == 1:
    gate("go")
report(a=params['x'], b=1 - params['x'])
""")
        d = self.daemon().start()
        client, ctl = d.connect(), ["--socket", d.socket]
        self.submit(client, self.study(search=MODELS % 4))
        wait_for(lambda: self.has("at-go"))
        first = client("propose", study="s")
        said = self.ctl("import", "s", "--from", "./runs/old", *ctl, cwd=self.folder)
        self.assertEqual((said.returncode, said.stderr),
                         (0, "study 's' knows 5 more results, of 'old'\n"))
        self.assertNotEqual(client("propose", study="s")["parameters"], first["parameters"])
        self.assertEqual([e["objectives"] for e in self.imported()],
                         [[t["objectives"]["a"], t["objectives"]["b"]] for t in trials])
        # not twice; and of a study of the same daemon
        again = json.loads(self.ctl("import", "s", "--from", self.path("runs/old#old"), "-o",
                                    "json", *ctl).stdout)
        self.assertEqual((again["imported"], again["origin"]), (0, "old"))
        two = self.study(name="two", search=RANDOM % 2).replace("seed: 7", "seed: 8")
        self.submit(client, two)
        self.finish(client, "two")
        self.assertIn("knows 2 more results", self.ctl("import", "s", "--from", "two",
                                                       *ctl).stderr)
        # what is known is known to the next daemon, too
        before = client("propose", study="s")
        client.close()
        d.end()
        client = d.start().connect()
        self.assertEqual(client("propose", study="s"), before)
        self.touch("go")
        self.finish(client, "s")
        noisy = self.study(name="noisy", search=MODELS % 1, objectives=(
            "a: {privacy: {mechanism: laplace, scale: x}}\n"
            "  b: {metric: b, release: {records: 200, sigma: 0.1}}"))
        self.submit(client, noisy.replace("[0, 1]", "[1, 2]"))
        for study, origin, words in (
                ("noisy", "s", "study 'noisy' releases noisy values"),
                ("two", "s", "study 'two' searches by 'random'"),
                ("s", "s", "study 's' knows its own results"),
                ("s", "none", "there is no study 'none'"),
                ("s", "./none", "import: there is no journal in")):
            said = self.ctl("import", study, "--from", origin, *ctl, cwd=self.folder)
            self.assertNotEqual(said.returncode, 0)
            self.assertIn(words, said.stderr)
        self.assertIn("whose results?", self.ctl("import", "s", *ctl).stderr)
        with self.assertRaises(Refused) as refused:
            client("import", study="s", origin="./runs/old")
        self.assertEqual(refused.exception.error["kind"], "protocol")


if __name__ == "__main__":
    unittest.main()
