"""Results of a study in another state folder: search.initial_from."""
import json
import os
import shutil
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

    def old(self, name="old", folder="runs/old", n=5):
        """A study that was run by `dparetoctl run`; its trials."""
        text = self.study(name=name, search=RANDOM % n)
        done = self.ctl("run", self.write(name + ".yaml", text), "--state", self.path(folder),
                        "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.ctl("trials", name, "--state", self.path(folder), "-o",
                                   "json").stdout)

    def imported(self, study, folder="state"):
        """What the journal says that the study took over."""
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
        taken = self.imported("new")
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
        names = [e["name"] for e in self.imported("new")]
        self.assertEqual(names, ["old"] * 5 + ["two"] * 4)
        # beside that daemon, from outside
        done = self.ctl("run", self.write("n.yaml", self.new("./state#one")), "--state",
                        self.path("other"), "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.imported("new", "other")), 3)

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
        wait_for(lambda: len(self.imported("")) == 40)


if __name__ == "__main__":
    unittest.main()
