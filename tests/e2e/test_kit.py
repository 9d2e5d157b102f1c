"""test_kit.py - trainers by the Python kit under a real daemon, 'python3 -m dpareto check', and
where 'dparetoctl kit' finds the kit."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from harness import BIN, LIMIT, TOP, Case, program, wait_for

KIT = os.path.join(TOP, "trainers", "python")
ENV = {"PYTHONPATH": KIT, "PYTHONDONTWRITEBYTECODE": "1"}
ONE = "method: random, evaluations: 1"
HEAD = """import os, random, time
import dpareto
def beside(name):
    return os.path.join(os.environ["DPARETO_STUDY_DIR"], name)
"""

# Noisy steps to the mean of made-up records, which declares what it does.
WALK = """
RECORDS, LOT = 1000, 62.5
with dpareto.trial() as t:
    account = t.privacy["a"]
    for run in t.runs:
        rng = random.Random(run.seed)
        weight = 0.0
        for epoch in run.path("epochs"):
            for _ in range(account["steps"] // t["epochs"]):
                weight -= 0.01 * (weight - 1 + rng.gauss(0, t["noise"] / LOT))
            run.at(epoch, b=abs(weight - 1))
            run.progress(epoch / t["epochs"])
        run.result(b=abs(weight - 1))
    t.declare(sampling="poisson", records=RECORDS, lot=LOT, steps=t["epochs"] * 16,
              noise_over_clip=t["noise"])
"""
PARAMETERS = ("epochs: {type: int, range: [8, 20]}\n"
              "  noise: {type: float, range: [0.5, 4], scale: log}")
OBJECTIVES = ("a: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 1000, lot: %s, "
              "epochs: epochs, noise_multiplier: noise, delta: 1e-5}}\n  b: {metric: b}")


class KitCase(Case):
    tearDown = Case.tidy

    def begin(self, text, **study):
        self.write("train.py", HEAD + text)
        self.client = self.daemon("--slots", "2", env=ENV).start().connect()
        self.submit(self.client, self.study(trainer="python3, train.py",
                                            **{"search": ONE, **study}))

    def ended(self, text, **study):
        """Runs a study to its end; the first trial."""
        self.begin(text, **study)
        self.finish(self.client, "s")
        return self.trial()

    def trial(self):
        return self.client("trial", study="s", trial=0)["trial"]

    def attempt(self, name, attempt="0"):
        with open(self.path("state/studies/s/trials/0/%s/%s" % (attempt, name))) as f:
            return f.read()

    def result(self):
        return [json.loads(line) for line in self.attempt("result.jsonl").splitlines()]


class Studies(KitCase):
    def test_a_path_with_what_is_accounted_for(self):
        for processes in ("all", "1"):
            with self.subTest(processes):
                trial = self.ended(
                    WALK, parameters=PARAMETERS, objectives=OBJECTIVES % 62.5, extra_trainer=", runs: 2, path: "
                    "{parameter: epochs, points: 5}, runs_per_process: " + processes)
                self.assertEqual(trial["state"], "ok", trial)
                asked = json.loads(self.attempt("request.json", "0" if processes == "all"
                                                else "1-0"))["path"]["values"]
                self.assertGreater(len(asked), 2)
                self.assertEqual([(w["at"], w["dropped"]) for w in trial["waypoints"]],
                                 [(value, False) for value in asked])
                self.assertLess(trial["waypoints"][0]["objectives"]["a"], trial["objectives"]["a"])
                if processes == "all":
                    together = trial["objectives"]
                    self.assertEqual(self.result()[-1], {"done": True})
                self.assertEqual(trial["objectives"], together)
            self.tidy()
            shutil.rmtree(self.path("state"))

    def test_a_contradiction_is_refused(self):
        trial = self.ended(WALK, parameters=PARAMETERS, objectives=OBJECTIVES % 64)
        self.assertEqual(trial["attempts"][0]["end"], "bad-output")
        self.assertRegex(trial["reason"], r"declares lot .*62\.5")

    def test_an_exception(self):
        trial = self.ended("with dpareto.trial() as t:\n"
                           "    raise RuntimeError('shapes differ:\\n  (3, 4)\\n  (4, 4)')")
        self.assertEqual((trial["state"], trial["attempts"][0]["end"]), ("failed", "exit-code"))
        self.assertIn("exit code 1", trial["reason"])
        self.assertIn("RuntimeError: shapes differ: (3, 4) (4, 4)", trial["reason"])
        self.assertIn("Traceback", self.attempt("stderr"))

    def test_an_exception_with_a_very_long_text(self):
        trial = self.ended("with dpareto.trial() as t:\n    raise RuntimeError(5000 * 'x')")
        self.assertIn("stderr: RuntimeError: xxx", trial["reason"])

    def test_a_kit_that_is_not_found(self):
        self.write("train.py", "import dpareto")
        self.client = self.daemon(env={"PYTHONPATH": ""}).start().connect()
        self.submit(self.client, self.study(trainer="python3, -S, -E, train.py", search=ONE))
        self.finish(self.client, "s")
        self.assertIn("No module named 'dpareto'; 'dparetoctl kit' says how",
                      self.trial()["reason"])

    def test_nan_is_diverged(self):
        trial = self.ended("with dpareto.trial() as t:\n"
                           "    t.runs[0].result(a=float('nan'), b=float('-inf'))")
        self.assertEqual((trial["state"], trial["attempts"][0]["end"]), ("diverged", "diverged"))

    def test_a_run_left_out(self):
        trial = self.ended("with dpareto.trial() as t:\n    t.runs[0].result(a=1, b=1)",
                           extra_trainer=", runs: 2")
        self.assertEqual(trial["attempts"][0]["end"], "bad-output")

    def test_progress_is_seen(self):
        self.begin("""
with dpareto.trial() as t:
    first, second = t.runs
    first.result(a=1, b=1)
    while not os.path.exists(beside("go")):
        second.progress(0.5)
        time.sleep(0.01)
    second.result(a=1, b=1)
""", extra_trainer=", runs: 2")
        wait_for(lambda: [r for r in self.client("status", study="s")["running"]
                          if r["progress"] == 0.75])
        self.touch("go")
        self.finish(self.client, "s")
        self.assertEqual(self.trial()["state"], "ok")

    def test_cancelled_is_told_by_term(self):
        self.begin("""
with dpareto.trial() as t:
    try:
        t.runs[0].result(a=1, b=1)
        open(beside("up"), "w").close()
        time.sleep(1000)
    finally:
        open(beside("tidied"), "w").close()
""", extra_trainer=", runs: 2, grace: 100s")
        wait_for(lambda: self.has("up"))
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.assertEqual(self.trial()["attempts"][0]["end"], "cancelled")
        self.assertTrue(self.has("tidied"))
        self.assertEqual(json.loads(self.attempt("exit.json"))["code"], 128 + signal.SIGTERM)
        self.assertNotIn({"done": True}, self.result())
        self.assertTrue(self.attempt("result.jsonl").endswith("}\n"))

    def test_term_from_elsewhere_is_tried_again(self):
        """A preempted or shut down machine is nobody's fault."""
        self.begin("""
with dpareto.trial() as t:
    if t.request["attempt"] == 0:
        with open(beside("pid"), "w") as f:
            print(os.getpid(), file=f)
        time.sleep(1000)
    t.runs[0].result(a=1, b=1)
""")
        pid = wait_for(lambda: self.has("pid") and open(self.path("pid")).read().strip())
        os.kill(int(pid), signal.SIGTERM)
        self.finish(self.client, "s")
        self.assertEqual([a["end"] for a in self.trial()["attempts"]], ["signal", "ok"])


class Check(Case):
    """python3 -m dpareto check."""
    tearDown = Case.tidy

    def check(self, text, *arguments, command="python3, train.py", path=BIN, code=0, **study):
        self.write("train.py", HEAD + text)
        self.write("study.yaml", self.study(trainer=command, **study))
        done = subprocess.run(
            [sys.executable, "-m", "dpareto", "check", *(arguments or ("train.py", "study.yaml"))],
            cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
            env={**os.environ, **ENV, "TMPDIR": self.folder,
                 "PATH": path + ":" + os.environ["PATH"] if path else "/usr/bin:/bin"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("dpareto-check")], [])
        return done.stdout + done.stderr

    def test_good(self):
        said = self.check(WALK, parameters=PARAMETERS, objectives=OBJECTIVES % 62.5,
                          extra_trainer=", path: epochs")
        self.assertRegex(said, r"study.yaml: tried once, .* ok, took")
        self.assertRegex(said, r"declared +sampling=poisson records=1000 lot=62.5")
        self.assertIn("equal requests give equal results", said)
        self.assertIn("at epochs=8 it is what a training with epochs=8 is", said)

    def test_a_schedule_that_knows_its_end(self):
        said = self.check("""
with dpareto.trial() as t:
    run, weight = t.runs[0], 0.0
    for epoch in run.path("epochs"):
        weight += 1 - epoch / t["epochs"]
        run.at(epoch, a=weight, b=1)
    run.result(a=weight, b=1)
""", parameters="epochs: {fixed: 20}", extra_trainer=", path: epochs")
        self.assertIn("a training with epochs=1 has other values of a than", said)

    def test_waypoints_that_are_left_out(self):
        said = self.check("with dpareto.trial() as t:\n    t.runs[0].result(a=1, b=1)",
                          parameters="epochs: {fixed: 20}", extra_trainer=", path: epochs")
        self.assertIn("nothing was reported at the waypoint epochs=1", said)

    def test_not_seeded(self):
        said = self.check("with dpareto.trial() as t:\n"
                          "    t.runs[0].result(a=random.random(), b=t.runs[0].seed)")
        self.assertIn("equal requests gave different values of a.", said)

    def test_a_trainer_that_fails(self):
        said = self.check("with dpareto.trial() as t:\n    t['lr']", code=1)
        self.assertIn("there is no parameter 'lr' (there is: x)", said)

    def test_another_trainer(self):
        good = "with dpareto.trial() as t:\n    t.runs[0].result(a=1, b=1)"
        self.write("other.py", HEAD + good)
        said = self.check(good, command="python3, other.py", code=1)
        self.assertRegex(said, r"study.yaml runs \S+/other.py, not train.py: mend trainer.command")
        said = self.check("import json\nwith open(os.environ['DPARETO_RESULT'], 'a') as f:\n"
                          "    f.write('{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}\\n')", code=1)
        self.assertIn("does not call dpareto.trial()", said)

    def test_mistakes(self):
        self.assertIn("none.py is not a file", self.check("", "none.py", "study.yaml", code=1))
        self.assertIn("usage: python3 -m dpareto check", self.check("", "train.py", code=2))
        if not os.path.exists("/usr/bin/dparetoctl"):
            self.assertIn("there is no dparetoctl in PATH", self.check("", path=None, code=1))


class Place(Case):
    """dparetoctl kit."""

    def test_in_a_build_tree(self):
        real = os.path.realpath(KIT)
        self.assertEqual(self.ctl("kit", "--path").stdout, real + "\n")
        self.assertEqual(json.loads(self.ctl("kit", "-o", "json").stdout), {"path": real})
        said = self.ctl("kit").stdout
        self.assertIn(real + "/dpareto.py\n", said)
        self.assertIn('export PYTHONPATH="$(dparetoctl kit --path)"', said)

    def test_installed_elsewhere(self):
        """A tree that was moved, or unpacked under another root, has its own kit."""
        bin_folder, kit = self.path("root/bin"), self.path("root/share/dpareto/python")
        os.makedirs(bin_folder)
        os.makedirs(kit)
        shutil.copy(program("dparetoctl"), bin_folder)
        command = [os.path.join(bin_folder, "dparetoctl"), "kit", "--path"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        if done.returncode != 0:  # else it is installed where this build belongs
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr, r"it is not in \S+/share/dpareto/python")
        shutil.copy(os.path.join(KIT, "dpareto.py"), kit)
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.stdout, os.path.realpath(kit) + "\n")


class Page(Case):
    """docs/python.md: what it shows runs."""
    tearDown = Case.tidy

    def test_the_example(self):
        with open(os.path.join(TOP, "docs", "python.md")) as f:
            page = f.read()
        for language, name in (("python", "train.py"), ("yaml", "study.yaml")):
            blocks = re.findall(r"`%s`[^`]*```%s\n(.*?)```" % (re.escape(name), language), page, re.S)
            self.assertEqual(len(blocks), 1, name)
            self.write(name, blocks[0])
        done = self.ctl("run", self.path("study.yaml"), "--state", self.path("state"), "-o", "json",
                        env={**os.environ, **ENV})
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["state"], result["failed"]), ("finished", 0))
        by_hand = subprocess.run([sys.executable, self.path("train.py")], capture_output=True,
                                 text=True, timeout=LIMIT, env={**os.environ, **ENV})
        self.assertRegex(by_hand.stdout, r"(?m)^dpareto: run 0: error=")


if __name__ == "__main__":
    unittest.main()
