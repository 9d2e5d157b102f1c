"""test_seeds.py - `seeds: fixed|secret`: whose noise a study has, and what shows of it."""
import glob
import json
import os
import re
import shutil
import signal
import unittest

from harness import Case, Refused, wait_for

# Its result is its seeds: two runs with one noise report the same.
SEEDED = """
for run in request["runs"]:
    out({"run": run["run"], "metrics": {"a": params["x"], "b": run["seed"] / 2**53}})
"""
GATED = """
if request["trial"] == 3:
    gate("third")
""" + SEEDED
PRIVATE = "data: private\n"
EPSILON = ("a: {privacy: {mechanism: gaussian, sigma: s, delta: 1e-5}}\n"
           "  b: {metric: b, release: {records: 100000, sigma: 1e-4}}")


class Seeds(Case):
    def setUp(self):
        super().setUp()
        self.trainer(SEEDED)

    def tearDown(self):
        self.tidy()

    def begin(self, *options):
        self.d = self.daemon("--slots", "2", *options).start()
        self.client = self.d.connect()
        return self.client

    def seeds(self, study="s", state=None):
        """The seeds of all requests, by (trial, run)."""
        found = {}
        for path in glob.glob("%s/studies/%s/trials/*/*/request.json" %
                              (state or self.d.state, study)):
            with open(path) as f:
                request = json.load(f)
            for run in request["runs"]:
                self.assertTrue(0 <= run["seed"] < 2**53)
                before = found.setdefault((request["trial"], run["run"]), run["seed"])
                self.assertEqual(before, run["seed"])  # a retry has the same
        return found

    def points(self, study="s"):
        return [t["parameters"] for t in self.client.every("trials", study=study)]

    def made(self, name="s", **keys):
        self.submit(self.client, self.study(name, extra_trainer=", runs: 2", **keys))
        self.finish(self.client, name)
        return self.seeds(name), self.points(name)

    def run_alone(self, text, state):
        self.write("s.yaml", text)
        done = self.ctl("run", self.path("s.yaml"), "--state", self.path(state), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), self.seeds(state=self.path(state))

    def secret(self, state=None):
        """The 32 bytes of the first study, from the journal's own file."""
        with open(os.path.join(state or self.d.state, "journal/data.mdb"), "rb") as f:
            return re.search(rb"secret\xd9\x40([0-9a-f]{64})", f.read()).group(1)

    # ---- whose seeds ----

    def test_two_studies_do_not_cancel_the_noise(self):
        """2 S1 - S2 is the clipped gradient where one noise of two sizes is on it."""
        self.trainer("""
import random
for run in request["runs"]:
    noise = random.Random(run["seed"]).gauss(0, params["sd"])
    out({"run": run["run"], "metrics": {"a": 0.25 + noise, "b": 0.5}})
""")
        self.begin()
        for more, cancels in ((PRIVATE, False), (PRIVATE + "seeds: fixed\n", True)):
            with self.subTest(more):
                seen = []
                for sd in (10, 20):
                    name = "sd-%d-%s" % (sd, cancels)
                    self.made(name, parameters="sd: {fixed: %d}" % sd, more=more,
                              search="method: random, evaluations: 3")
                    seen.append([t["objectives"]["a"]
                                 for t in self.client.every("trials", study=name)])
                off = [abs(2 * one - two - 0.25) for one, two in zip(*seen)]
                self.assertEqual([x < 1e-6 for x in off], [cancels] * 3, off)

    def test_studies_on_private_data_share_no_noise(self):
        self.begin()
        for search in ("method: random, evaluations: 4, parallel: 2",
                       "method: dpareto, initial: 3, evaluations: 4, design: sobol"):
            with self.subTest(search):
                name = search.split(",")[0][8:]
                one, x = self.made(name + "-1", search=search, more=PRIVATE)
                two, y = self.made(name + "-2", search=search, more=PRIVATE)
                self.assertEqual(one.keys(), two.keys())
                self.assertEqual(set(one.values()) & set(two.values()), set())
                self.assertFalse([p for p in x[:3] if p in y[:3]])  # not chosen by a model
                fixed = [self.made("%s-f%d" % (name, i), search=search,
                                   more=PRIVATE + "seeds: fixed\n") for i in range(2)]
                self.assertEqual(*fixed)
                self.assertEqual(len(set(fixed[0][0].values())), 8)
        one, _ = self.made("public-1")
        self.assertEqual(one, self.made("public-2")[0])
        self.assertNotEqual(one, self.made("public-3", more="data: public\nseeds: secret\n")[0])

    def test_another_state_directory_is_another_study(self):
        text = self.study(search="method: random, evaluations: 4", more=PRIVATE)
        first, seeds = self.run_alone(text, "one")
        again, same = self.run_alone(text, "one")
        self.assertEqual((first, seeds), (again, same))
        other, others = self.run_alone(text, "two")
        self.assertEqual(set(seeds.values()) & set(others.values()), set())
        self.assertNotEqual(first["front"], other["front"])

    def test_retries_and_further_runs(self):
        """A retry has the seed of its run; a point that is run again has fresh ones."""
        self.trainer("if request['attempt'] == 0:\n    os.kill(os.getpid(), signal.SIGKILL)\n" +
                     SEEDED)
        self.begin()
        self.submit(self.client, self.study(
            "s", extra_trainer=", runs: 2, runs_per_process: 1, retries: 5", more=PRIVATE,
            search="method: grid, grid: 2, parallel: 2"))
        self.finish(self.client, "s")
        self.client("measure", study="s", runs=2, points=[[0, None]])
        self.finish(self.client, "s")
        seeds = self.seeds()
        self.assertEqual((len(seeds), len(set(seeds.values()))), (6, 6))
        requests = glob.glob(self.d.state + "/studies/s/trials/*/*/request.json")
        self.assertEqual(len(requests), 12)

    # ---- interrupted ----

    def records(self, state):
        """What the journal says, without times and what a killed daemon adds."""
        lines = self.ctl("journal", "dump", "--state", state).stdout.splitlines()
        return [{k: v for k, v in r.items() if k not in ("time", "seq", "sought", "basis")}
                for r in map(json.loads, lines)
                if r["type"] in ("study-created", "trial-proposed", "trial-ended")]

    def test_killed_and_resumed_as_a_copy_that_was_not(self):
        self.trainer(GATED)
        self.begin()
        search = "method: dpareto, initial: 3, evaluations: 7"
        self.client("submit", text=self.study(search=search, more=PRIVATE, extra_trainer=
                                              ", runs: 2"),
                    path=self.path("study.yaml"), dir=self.folder, paused=True)
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        accepted, undisturbed = self.path("accepted"), self.path("undisturbed")
        os.rename(self.d.state, accepted)
        shutil.copytree(accepted, self.d.state)
        self.begin()
        self.client("resume", study="s")
        wait_for(lambda: self.has("at-third"))
        self.d.end(signal.SIGKILL)
        self.touch("third")
        self.begin()
        self.finish(self.client, "s")
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        seeds = self.seeds()
        os.rename(self.d.state, self.path("killed"))
        shutil.copytree(accepted, self.d.state)
        self.begin()
        self.client("resume", study="s")
        self.finish(self.client, "s")
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        os.rename(self.d.state, undisturbed)
        self.assertEqual(len(seeds), 14)
        self.assertEqual(seeds, self.seeds(state=undisturbed))
        self.assertEqual(self.records(self.path("killed")), self.records(undisturbed))
        self.assertEqual(self.ctl("journal", "verify", "--state", undisturbed).returncode, 0)

    def test_a_restored_backup_goes_on_with_its_seeds(self):
        self.begin()
        search = "method: random, evaluations: %d"
        seeds, _ = self.made(search=search % 2, more=PRIVATE)
        copy = self.path("copy.mdb")
        done = self.ctl("journal", "backup", copy, "--state", self.d.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.client("set", study="s", keys={"evaluations": "4"})
        self.finish(self.client, "s")
        all_of_it = self.seeds()
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        done = self.ctl("journal", "restore", copy, "--state", self.d.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.d.state + "/studies")
        self.begin()
        self.client("set", study="s", keys={"evaluations": "4"})
        self.finish(self.client, "s")
        self.assertEqual({**seeds, **self.seeds()}, all_of_it)

    # ---- the mode is decided once ----

    def test_data_may_change_and_the_mode_stays(self):
        self.begin()
        text = self.study(search="method: random, evaluations: 2")
        self.submit(self.client, text + "\n")
        self.finish(self.client, "s")
        before = self.seeds()
        reply = self.client("set", study="s", keys={"data": "private", "evaluations": "4"})
        self.assertEqual([c["key"] for c in reply["changes"]], ["data", "search.evaluations"])
        status = self.finish(self.client, "s")["study"]
        self.assertEqual((status["data"], status["seeds"]), ("private", "fixed"))
        self.submit(self.client, self.study("t", search="method: random, evaluations: 4"))
        self.finish(self.client, "t")
        self.assertEqual(self.seeds(), self.seeds("t"))
        self.assertEqual(before.items() - self.seeds("t").items(), set())
        # a file that names the mode that the study has is the same study
        self.submit(self.client, text + "seeds: fixed\n")
        with self.assertRaises(Refused) as e:
            self.submit(self.client, text + "seeds: secret\n")
        self.assertIn("seeds: 'fixed' there, 'secret' here", str(e.exception))

    def test_private_made_public_keeps_its_secret_seeds(self):
        self.begin()
        seeds, _ = self.made(search="method: random, evaluations: 2", more=PRIVATE)
        self.client("set", study="s", keys={"data": "public", "evaluations": "3"})
        status = self.finish(self.client, "s")["study"]
        self.assertEqual((status["data"], status["seeds"]), ("public", "secret"))
        fixed, _ = self.made("t", search="method: random, evaluations: 3")
        self.assertEqual(set(self.seeds().values()) & set(fixed.values()), set())
        self.submit(self.client, self.study(search="method: random, evaluations: 3",
                                            extra_trainer=", runs: 2"))  # data: public

    def test_results_of_private_data_stay_private(self):
        """`set data=public` does not lift the refusal of `report --public` for fixed seeds."""
        self.trainer("for run in request['runs']:\n"
                     "    out({'run': run['run'], 'metrics': {'b': params['s'] / 99}})\n")
        keys = {"parameters": "s: {type: float, range: [1, 50]}", "objectives": EPSILON,
                "search": "method: random, evaluations: 2"}
        self.begin()
        for name, more, refused in (("f", PRIVATE + "seeds: fixed\n", True),
                                    ("s", PRIVATE, False), ("p", "", False)):
            self.submit(self.client, self.study(name, more=more, **keys))
            self.finish(self.client, name)
            if more:
                self.client("set", study=name, keys={"data": "public"})
            done = self.ctl("report", name, "--public", "--state", self.d.state, "--dir",
                            self.path(name), "--figures", "front")
            self.assertEqual(done.returncode, int(refused), done.stderr)
            self.assertEqual("data was private when trials were proposed" in done.stderr,
                             refused, done.stderr)
            warning = self.client("status", study=name)["study"]["seeds_warning"]
            self.assertEqual("before the data was declared public" in str(warning), refused)

    # ---- what is said ----

    def test_fixed_seeds_on_private_data_are_said(self):
        self.trainer("for run in request['runs']:\n"
                     "    out({'run': run['run'], 'metrics': {'b': params['s'] / 99}})\n")
        keys = {"parameters": "s: {type: float, range: [1, 50]}", "objectives": EPSILON,
                "search": "method: random, evaluations: 3"}
        words = "Seeds are fixed on private data"
        self.begin()
        for name, more, says in (("f", PRIVATE + "seeds: fixed\n", True), ("s", PRIVATE, False),
                                 ("p", "", False)):
            with self.subTest(name):
                reply = self.client("submit", text=self.study(name, more=more, **keys),
                                    path=self.path("study.yaml"), dir=self.folder)
                self.assertEqual(words in str(reply["warnings"]), says)
                summary = self.finish(self.client, name)["study"]
                self.assertEqual(words in str(summary["seeds_warning"]), says)
                self.assertEqual(summary["seeds_warning"] is None, not says)
                state = ("--state", self.d.state)
                status = " ".join(self.ctl("status", name, *state).stdout.split())
                self.assertEqual(words in status, says)
                done = self.ctl("report", name, *state, "--dir", self.path(name),
                                "--figures", "front")
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.path(name + "/report.md")) as f:
                    text = f.read()
                self.assertEqual(words in text.split("##")[0] + text.split("##")[1], says)
                self.assertEqual("in its own state directory" in text, name == "s")
                with open(self.path(name + "/report.json")) as f:
                    facts = json.load(f)
                self.assertEqual(facts["seeds"], "fixed" if name != "s" else "secret")
                self.assertEqual(facts["seeds_warning"], summary["seeds_warning"])
                statements = [p["statements"]["a"] for p in facts["front"]]
                self.assertEqual([words in s for s in statements], [says] * len(statements))
                done = self.ctl("report", name, "--public", *state, "--dir",
                                self.path(name + "-public"), "--figures", "front")
                self.assertEqual(done.returncode, int(says), done.stderr)
                self.assertEqual("seeds are fixed on private data" in done.stderr, says)
                self.assertEqual("'seeds: secret'" in done.stderr, says)
        done = self.ctl("report", "--group", "g=s,f", *state, "--dir", self.path("groups"),
                        "--figures", "seeds")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("groups/report.json")) as f:
            self.assertIn("Study f: " + words, f.read())

    def test_the_secret_shows_nowhere(self):
        self.begin("--log-level", "debug")
        search = "method: dpareto, initial: 3, evaluations: 5"
        seeds, _ = self.made(search=search, more=PRIVATE)
        secret = self.secret()
        state = ("--state", self.d.state)
        said = []
        for command in (("status", "s"), ("status", "s", "-o", "json"),
                        ("export", "s", "--format", "json"),
                        ("trial", "s", "0"), ("trial", "s", "0", "-o", "json"),
                        ("export", "s", "--format", "csv"), ("logs", "s", "0"),
                        ("propose", "s", "-o", "json"), ("journal", "dump"),
                        ("report", "s", "--dir", self.path("report"))):
            done = self.ctl(*command, *state)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            said += [done.stdout, done.stderr]
        said.append(json.dumps(self.client("trials", study="s", full=True)))
        self.assertIn('"seed": null', said[-1])
        for path in [self.d.log, *glob.glob(self.path("report/*"))]:
            with open(path, "rb") as f:
                said.append(f.read().decode("latin-1"))
        for path in glob.glob(self.d.state + "/studies/s/**", recursive=True):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    text = f.read()
                self.assertNotIn(secret, text, path)
                if not path.endswith(("request.json", "result.jsonl")):
                    said.append(text.decode("latin-1"))
        for text in said:
            self.assertNotIn(secret.decode(), text)
            for seed in seeds.values():
                self.assertNotIn(str(seed), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
