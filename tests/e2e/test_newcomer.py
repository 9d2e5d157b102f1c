"""test_newcomer.py - the first hour: a script beside the study file, programs that cannot be
started, a trainer that is tried once, results in the wrong place, metrics under another name, and
what a trainer is told of the accounting and tells of itself."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from harness import LIMIT, TOP, Case, program, trainers_below, wait_for

PYTHON = """import json, os, sys
request = json.load(open(os.environ["DPARETO_REQUEST"]))
with open(os.environ["DPARETO_RESULT"], "a") as result:
    for run in request["runs"]:
        metrics = {"a": request["parameters"]["x"], "b": 1}
        print(json.dumps({"run": run["run"], "metrics": metrics}), file=result)
with open(os.path.join(os.environ["DPARETO_STUDY_DIR"], "notes"), "a") as notes:
    print(json.dumps(sys.argv), file=notes)
"""


class Newcomer(Case):
    tearDown = Case.tidy

    def run_study(self, client, name, trainer, **options):
        """Submits a study of this command, which ends; its status and its first attempt."""
        self.submit(client, self.study(name, trainer, **options))
        status = self.finish(client, name)
        return status, client("trial", study=name, trial=0)["trial"]["attempts"][0]

    # ---- words that are files ----

    def test_a_script_beside_the_study_is_found(self):
        self.write("train.py", PYTHON)
        os.mkdir(self.path("data"))
        client = self.daemon().start().connect()
        status, _ = self.run_study(client, "s", "python3, train.py, data, later.py, ./train.py",
                                   search="method: random, evaluations: 1")
        self.assertEqual(status["study"]["state"], "finished")
        script = self.path("train.py")
        self.assertEqual([json.loads(n) for n in self.notes()],
                         [[script, "data", "later.py", script]])

    def test_what_becomes_of_the_files_changes_nothing(self):
        """Which words are files is found out once, when the study is submitted, and journaled."""
        self.write("train.py", PYTHON)
        daemon = self.daemon()
        client = daemon.start().connect()
        self.submit(client, self.study(trainer="python3, train.py, later.py"))
        self.finish(client, "s")
        daemon.end(signal.SIGKILL)
        self.write("later.py", "")  # a file now, but not when it was submitted
        os.rename(self.path("train.py"), self.path("moved.py"))
        client = daemon.start().connect()
        client("set", study="s", evaluations=5)
        self.finish(client, "s")
        attempt = client("trial", study="s", trial=4)["trial"]["attempts"][0]
        self.assertEqual(attempt["end"], "exit-code")
        self.assertRegex(attempt["message"], "its last line on stderr: .*can't open file '%s'" %
                         re.escape(self.path("train.py")))
        os.rename(self.path("moved.py"), self.path("train.py"))
        client("retry", study="s", trial=4)
        self.finish(client, "s")
        self.assertEqual([json.loads(n) for n in self.notes()],
                         5 * [[self.path("train.py"), "later.py"]])
        dump = self.ctl("journal", "dump", "--state", daemon.state).stdout
        self.assertEqual(json.loads(dump.splitlines()[0])["files"], [self.path("train.py")])

    # ---- programs that do not start ----

    def test_what_cannot_be_started_is_named_with_its_path(self):
        self.write("crlf.sh", "#!/bin/sh\r\nexit 0\r\n", 0o755)
        self.write("gone.py", "#!/opt/none/python\n", 0o755)
        self.write("envcrlf.py", "#!/usr/bin/env python3\r\n", 0o755)
        self.write("bare.py", "import os\n", 0o755)
        self.write("plain.py", "#!/usr/bin/env python3\n")
        os.mkdir(self.path("folder"))
        client = self.daemon().start().connect()
        here = re.escape(self.folder)
        for trainer, end, why in [
                ("./nothere", "not-started", here + "/nothere does not exist"),
                ("nosuchprogram", "not-started", r"'nosuchprogram' is neither beside dparetod \(/.*\) "
                                                 r"nor in PATH \(/.*\)"),
                ("./crlf.sh", "not-started", here + r"/crlf.sh: its first line ends with a carriage "
                                                    r"return \(CRLF\); convert it: sed -i 's/\\r\$//'"),
                ("./gone.py", "not-started", here + "/gone.py exists, but its interpreter "
                                                    "/opt/none/python does not"),
                ("./folder", "not-started", here + "/folder is a folder, not a program"),
                ("./plain.py", "not-started", here + "/plain.py is not executable; chmod"),
                ("./envcrlf.py", "exit-code", here + r"/envcrlf.py: .*\(CRLF\)"),
                ("./bare.py", "exit-code", here + r"/bare.py has no #! line: .*; its last line on "
                                                  "stderr: .*import")]:
            name = re.sub(r"\W", "", trainer)
            with self.subTest(trainer):
                text = self.study(name, trainer, search="method: random, evaluations: 1")
                warnings = client("submit", text=text, path=self.path("f.yaml"),
                                  dir=self.folder)["warnings"]
                self.assertEqual(len(warnings), 1)
                status = self.finish(client, name)
                attempt = client("trial", study=name, trial=0)["trial"]["attempts"][0]
                self.assertEqual(attempt["end"], end)
                self.assertRegex(attempt["message"], why)
                self.assertRegex(status["study"]["reason"], why)
                path = self.write("f.yaml", text)
                done = self.ctl("validate", path)
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stdout, r"f.yaml:3:20: warning: " + why.split("; its last")[0])

    def test_a_working_folder_that_is_not_there(self):
        client = self.daemon().start().connect()
        status, attempt = self.run_study(client, "s", "sh", extra_trainer=", cwd: nowhere")
        self.assertEqual(attempt["end"], "not-started")
        self.assertIn("its working folder (trainer.cwd) is %s: No such file" % self.path("nowhere"),
                      attempt["message"])
        self.assertIn("nowhere", status["study"]["reason"])

    # ---- results in the wrong place, or under another name ----

    def test_results_that_are_printed(self):
        self.trainer("print('epoch 1')\nprint(json.dumps({'run': 0, 'metrics': {'a': 1, 'b': 2}}))")
        client = self.daemon().start().connect()
        _, attempt = self.run_study(client, "s", "./trainer")
        self.assertEqual(attempt["end"], "bad-output")
        self.assertEqual(attempt["message"],
                         "run 0 was asked but not reported; its standard output has lines like "
                         "results: append them to the file that $DPARETO_RESULT names")

    def test_a_metric_under_another_name(self):
        self.trainer("report(aa=1, b=2, acc=3)")
        client = self.daemon().start().connect()
        _, attempt = self.run_study(client, "s", "./trainer")
        self.assertEqual(attempt["end"], "bad-output")
        self.assertEqual(attempt["message"], "no metric 'a' in run 0, which an objective needs; "
                                             "reported were: aa, b, acc; did you mean 'aa'?")
        # where only noisy values may be seen, nothing is quoted
        release = "release: {records: 100, sigma: 0.1}"
        _, attempt = self.run_study(client, "quiet", "./trainer", objectives=(
            "a: {metric: a, %s}\n  b: {metric: b, %s}" % (release, release)))
        self.assertEqual(attempt["end"], "bad-output")
        self.assertNotIn("acc", attempt["message"])

    # ---- what is accounted for ----

    def test_the_request_says_what_is_accounted_for(self):
        self.write("acc.py", "import json, sys\nfor line in sys.stdin:\n    q = json.loads(line)\n"
                             "    print(json.dumps({'id': q['id'], 'epsilon': 0.25}), flush=True)\n")
        self.trainer("note(json.dumps(request))\nreport(b=0.5)")
        client = self.daemon().start().connect()
        sgd = ("mechanism: dp-sgd, sampling: without-replacement, records: 30956, lot: 64, "
               "epochs: e, noise_multiplier: n, delta: 1e-5")
        for name, privacy, parameters in [
                ("sgd", sgd, "e: {fixed: 3}\n  n: {fixed: 2}"),
                ("calibrated", sgd, "e: {fixed: 3}\n  n: {calibrate: {epsilon: 1, %s}}" %
                 sgd.replace(" noise_multiplier: n,", "")),
                ("composed", "compose: [{mechanism: laplace, scale: s, times: 2}, {mechanism: "
                 "gaussian, sigma: 5}], delta: 1e-6", "s: {fixed: 10}"),
                ("program", "command: [python3, acc.py], delta: 1e-6", "s: {fixed: 10}"),
                ("none", None, "s: {fixed: 10}")]:
            self.submit(client, self.study(
                name, parameters=parameters, search="method: random, evaluations: 1",
                objectives="a: {%s}\n  b: {metric: b}" %
                ("privacy: {%s}" % privacy if privacy else "metric: b")))
            self.assertEqual(self.finish(client, name)["study"]["state"], "finished")
            result = client("trial", study=name, trial=0)["trial"]["objectives"]
            told = json.loads(self.notes()[-1]).get("privacy")
            if name == "none":
                self.assertIsNone(told)
                continue
            self.assertEqual(list(told), ["a"])
            self.assertEqual(told["a"]["epsilon"], result["a"])
            if name == "program":
                self.assertEqual(told["a"], {"command": ["python3", self.path("acc.py")],
                                             "delta": 1e-6, "epsilon": 0.25})
                continue
            if name == "sgd":
                self.assertEqual({k: told["a"][k] for k in (
                    "mechanism", "sampling", "records", "lot", "steps", "noise_multiplier", "delta")},
                    {"mechanism": "dp-sgd", "sampling": "without-replacement", "records": 30956,
                     "lot": 64, "steps": 1452, "noise_multiplier": 2, "delta": 1e-05})
                self.assertNotIn("epochs", told["a"])
            # it is a question, too, with the same answer
            answer = self.ctl("epsilon", "--batch", input=json.dumps(told["a"]) + "\n").stdout
            self.assertEqual(json.loads(answer)["epsilon"], result["a"])

    def test_the_report_says_what_was_declared(self):
        self.trainer("p = request['privacy']['a']\n"
                     "out({'declare': {'steps': p['steps'], 'sampling': p['sampling']}})\n"
                     "report(b=0.5)", "telling")
        self.trainer("out({'declare': {'sampling': 'shuffle'}})\nreport(b=0.5)", "shuffling")
        self.trainer("report(b=0.5)", "silent")
        sgd = ("mechanism: dp-sgd, sampling: poisson, records: 1000, lot: 10, epochs: 2, "
               "noise_multiplier: x, delta: 1e-5")
        noisy = "metric: b, release: {records: 100, sigma: 0.1}"
        for name, trainer, privacy, metric, sentence, declared in [
                ("telling", "telling", sgd, "metric: b",
                 "sampling, steps, which agree with what epsilon is computed from. Not declared: "
                 "records, lot, noise_over_clip; nothing checks", {"sampling": 2, "steps": 2}),
                ("silent", "silent", sgd, "metric: b",
                 "nothing (of sampling, records, lot, steps, noise_over_clip): nothing checks that "
                 "it samples and adds noise as accounted for.", {}),
                ("shuffling", "shuffling", sgd, "metric: b",
                 "In 2 of 2 attempts the trainer declared that it shuffles the records. Epsilon is "
                 "not proven for that.", {"sampling": 2, "shuffled": 2}),
                ("released", "telling", sgd, noisy,
                 "What the trainer declared was compared with what epsilon is computed from, and "
                 "not kept", {"kept": False}),
                ("other", "silent", "mechanism: laplace, scale: x", "metric: b",
                 "No mechanism of this study knows a declaration of the trainer to be compared "
                 "with", {"compared": False})]:
            path = self.write(name + ".yaml", self.study(
                name, "./" + trainer, parameters="x: {type: float, range: [1, 2]}",
                objectives="a: {privacy: {%s}}\n  b: {%s}" % (privacy, metric),
                search="method: random, evaluations: 2"))
            state = self.path("state-" + name)
            done = self.ctl("run", path, "--state", state, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            folder = os.path.join(state, "studies", name, "report")
            with open(os.path.join(folder, "report.md")) as f:
                self.assertIn(sentence, f.read().replace("\\", ""))
            with open(os.path.join(folder, "report.json")) as f:
                self.assertEqual(json.load(f)["declared"], {
                    "compared": True, "kept": True, "attempts": 2, "sampling": 0, "records": 0,
                    "lot": 0, "steps": 0, "noise_over_clip": 0, "shuffled": 0, **declared})


class Tried(Case):
    """validate --try, without a daemon."""

    def tearDown(self):
        wait_for(lambda: not trainers_below(self.folder), 10)

    def validate(self, text, *options, code=0):
        os.makedirs(self.path("tmp"), exist_ok=True)
        path = self.write("s.yaml", text)
        done = self.ctl("validate", "--try", path, *options,
                        env={**os.environ, "TMPDIR": self.path("tmp")})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def tried(self, text, code=0):
        return json.loads(self.validate(text, "-o", "json", code=code))["try"]

    def test_what_came_back(self):
        self.trainer("note(request['runs'])\np = request['privacy']['a']\n"
                     "out({'declare': {'steps': p['steps'], 'records': p['records']}})\n"
                     "for at in request['path']['values']:\n"
                     "    out({'run': 0, 'at': at, 'metrics': {'b': 0.6}})\n"
                     "report(b=0.5, extra=7)")
        text = self.study(
            parameters="e: {type: int, range: [4, 9]}\n  n: {type: float, range: [1, 2]}",
            extra_trainer=", runs: 5, path: e, timeout: 1m", more="constraints: {seconds: '<= 60'}\n",
            objectives="a: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 1000, lot: 10, "
            "epochs: e, noise_multiplier: n, delta: 1e-5}}\n  b: {metric: b}",
            search="method: dpareto, evaluations: 200")
        got = self.tried(text)
        self.assertTrue(got["ok"])
        self.assertEqual(got["end"], "ok")
        self.assertEqual(got["metrics"], {"b": 0.5, "extra": 7})
        self.assertEqual(got["missing"], ["seconds"])
        self.assertEqual(got["declared"]["steps"], 100 * got["parameters"]["e"])
        self.assertEqual(got["accounted"]["a"]["steps"], 100 * got["parameters"]["e"])
        self.assertEqual(got["accounted"]["a"]["epsilon"], got["objectives"]["a"])
        self.assertEqual([w["at"] for w in got["waypoints"]], got["path"])
        self.assertGreater(len(got["path"]), 0)
        self.assertGreater(got["seconds"], 0)
        self.assertIsNone(got["directory"])
        self.assertEqual(os.listdir(self.path("tmp")), [])  # nothing is left
        self.assertEqual(len(self.notes()), 1)  # one training
        self.assertIn("'run': 0", self.notes()[0])
        self.assertNotIn("'run': 1", self.notes()[0])
        again = self.tried(text)  # the study's seed gives the point
        self.assertEqual(again["parameters"], got["parameters"])
        shown = self.validate(text)
        self.assertIn("tried once, with one run at a random point: ok, took", shown)
        self.assertRegex(shown, r"metrics +b=0.5 extra=7\n")
        self.assertRegex(shown, r"missing +seconds, which a constraint is on\n")
        self.assertRegex(shown, r"waypoints +(\d+) of the \1 that were asked for\n")
        self.assertRegex(shown, r"declared +steps=\d+ records=1000\n")
        self.assertRegex(shown, r'accounted +a: \{"mechanism":"dp-sgd",')

    def test_a_trainer_that_fails(self):
        self.trainer("print('hello')\nfor i in range(20):\n    print('line', i, file=sys.stderr)\n"
                     "sys.exit(3)")
        got = self.tried(self.study(), code=1)
        self.assertFalse(got["ok"])
        self.assertEqual(got["end"], "exit-code")
        self.assertIn("exit code 3; its last line on stderr: line 19", got["message"])
        self.assertEqual(got["stdout"], "hello\n")
        self.assertEqual(got["stderr"], "".join("line %d\n" % i for i in range(10, 20)))
        self.assertTrue(os.path.exists(os.path.join(got["directory"], "request.json")))
        shown = self.validate(self.study(), code=1)
        self.assertIn("the end of its stderr:\nline 10\n", shown)
        self.assertRegex(shown, "folder +%s/tmp/dpareto-try-" % re.escape(self.folder))

    def test_one_that_does_not_end(self):
        self.trainer("time.sleep(1000)")
        got = self.tried(self.study(extra_trainer=", timeout: 200ms"), code=1)
        self.assertEqual(got["end"], "timeout")

    def test_a_program_without_an_answer(self):
        self.trainer("report(b=1)")
        got = self.tried(self.study(objectives="a: {privacy: {command: [./none], delta: 1e-5}}\n"
                                               "  b: {metric: b}"), code=1)
        self.assertIsNone(got["end"])
        self.assertIn("/none", got["message"])
        self.assertTrue(os.path.isdir(got["directory"]))

        self.write("none", "#!/bin/sh\r\n", 0o755)
        got = self.tried(self.study(objectives="a: {privacy: {command: [./none], delta: 1e-5}}\n"
                                               "  b: {metric: b}"), code=1)
        self.assertIn("/none: its first line ends with a carriage return (CRLF)", got["message"])
        shown = self.validate(self.study(objectives="a: {privacy: {command: [./none], delta: "
                                                    "1e-5}}\n  b: {metric: b}"), code=1)
        self.assertIn("at a random point: nothing was trained\n", shown)  # and took no time

    def test_what_diverges_is_a_result(self):
        self.trainer("report(a='nan', b=1)")
        got = self.tried(self.study())
        self.assertEqual(got["end"], "diverged")
        self.assertIn("metric 'a' of run 0 is nan", got["message"])

    def test_a_file_that_is_not_valid_is_not_tried(self):
        path = self.write("s.yaml", self.study(search="method: random"))
        done = self.ctl("validate", "--try", path, "-o", "json")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("try", json.loads(done.stdout))

    def test_ctrl_c(self):
        self.trainer("gate('go')")
        os.mkdir(self.path("tmp"))
        path = self.write("s.yaml", self.study())
        with subprocess.Popen([program("dparetoctl"), "validate", "--try", path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "TMPDIR": self.path("tmp")}) as p:
            wait_for(lambda: self.has("at-go"))
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(LIMIT), 130)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_what_it_waits_for(self):
        """A job's folder is where nodes see it, and a Slurm that is not there is told."""
        os.mkdir(self.path("study"))
        path = self.write("study/s.yaml", self.study(trainer=sys.executable,
                                                     extra_trainer=", executor: slurm"))
        with subprocess.Popen([program("dparetoctl"), "validate", "--try", path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PATH": self.folder}) as p:
            self.assertRegex(p.stderr.readline(), "^waiting: .*sbatch is not found")
            self.assertTrue(any(n.startswith("dpareto-try-")
                                for n in os.listdir(self.path("study"))))
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(LIMIT), 130)
        self.assertEqual(os.listdir(self.path("study")), ["s.yaml"])


class Documents(Case):
    def test_the_python_way_of_the_readme(self):
        """The study and the script of the README's 'Your own trainer' run as they stand."""
        with open(os.path.join(TOP, "README.md")) as f:
            chapter = f.read().split("## Your own trainer")[1].split("\n## ")[0]
        blocks = dict(re.findall(r"```(\w+)\n(.*?)```", chapter, re.S))
        self.write("train.py", blocks["python"])
        path = self.write("own.yaml", blocks["yaml"])
        done = self.ctl("run", path, "--state", self.path("state"), "-q", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["failed"], 0)

    def test_the_examples_run(self):
        examples = os.path.join(TOP, "examples", "trainers")
        for name in ("py", "sh", "path"):
            with self.subTest(name):
                done = self.ctl("validate", "--try", os.path.join(examples, name + ".yaml"))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
