"""test_ctl.py - dparetoctl as a person or a script uses it: first without a daemon, then
with a real one, then `run`."""
import csv
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from harness import Case, LIMIT, TOP, program, trainers_below, unhurried, wait_for

COMMANDS = """run validate explain submit list status watch wait pause resume stop set delete
front compare remeasure trials trial logs retry cancel export report journal daemon doctor kit completion recommend propose enqueue import epsilon noise
help""".split()

NEED_DAEMON = [["list"], ["status"], ["status", "s"], ["watch", "s"], ["wait", "s"],
               ["pause", "s"], ["resume", "s"], ["stop", "s"], ["set", "s", "parallel=2"],
               ["front", "s"], ["compare", "s"], ["remeasure", "s"], ["trials", "s"], ["trial", "s", "0"], ["logs", "s", "0"],
               ["retry", "s", "0"], ["retry", "s", "--failed"], ["cancel", "s", "0"], ["export", "s"], ["propose", "s"],
               ["recommend", "s", "--at", "epsilon=1"], ["recommend", "s", "--at", "epsilon=1", "--verify", "5"],
               ["enqueue", "s", "x=1"], ["import", "s", "--from", "t"],
               ["delete", "s", "--yes"], ["daemon", "status"], ["daemon", "reload"],
               ["daemon", "stop"]]


def control_codes(text):
    return re.findall(r"[\x00-\x08\x0b-\x1f\x7f]", text)


class Ctl(Case):
    """Runs dparetoctl with an environment of its own."""

    def setUp(self):
        super().setUp()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("DPARETO_SOCKET", "DPARETO_OUTPUT", "XDG_"))}
        self.env.update(HOME=self.folder, DPARETO_SOCKET=self.path("sock"), LC_ALL="C.UTF-8",
                        XDG_STATE_HOME=self.path("xdg"), TZ="UTC")

    def ctl(self, *arguments, code=0, env=None, **options):
        done = subprocess.run([program("dparetoctl"), *arguments], capture_output=True,
                              text=True, timeout=LIMIT, env={**self.env, **(env or {})},
                              stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, code,
                         "%s\n%s\n%s" % (arguments, done.stdout, done.stderr))
        return done

    def json(self, *arguments, **options):
        return json.loads(self.ctl(*arguments, "-o", "json", **options).stdout)


class Privacy(Ctl):
    """epsilon and noise, without a daemon."""

    SGD = {"mechanism": "dp-sgd", "sampling": "without-replacement", "records": 40000,
           "lot": 128, "epochs": 30, "noise_multiplier": 1.5, "delta": 1e-5}
    QUERIES = [
        SGD,
        {**SGD, "accountant": "rdp", "conversion": "classic", "bound": "general",
         "orders": "integer"},
        {"mechanism": "dp-sgd", "sampling": "poisson", "records": 60000, "lot": 600,
         "steps": 1000, "noise_variance": 1.21, "delta": 1e-5, "accountant": "rdp"},
        {"mechanism": "gaussian", "sigma": 4, "delta": 1e-6, "sensitivity": 2},
        {"mechanism": "laplace", "scale": 2, "sensitivity": 3, "delta": 1e-3},
        {"mechanism": "output-perturbation", "regularization": 0.01, "records": 30956,
         "sigma": 0.5, "delta": 1e-6},
        {"mechanism": "svt", "cutoff": 5, "scale": 2},
    ]

    def options(self, query):
        return [x for k, v in query.items() for x in ("--" + k.replace("_", "-"), str(v))]

    def batch(self, lines, code=0):
        done = subprocess.run([program("dparetoctl"), "epsilon", "--batch"], text=True,
                              input="".join(x + "\n" for x in lines), capture_output=True,
                              timeout=LIMIT, env=self.env)
        self.assertEqual(done.returncode, code, done.stderr)
        return [json.loads(x) for x in done.stdout.splitlines()]

    def test_options_and_batch_agree(self):
        answers = self.batch([json.dumps(q) for q in self.QUERIES])
        for query, answer in zip(self.QUERIES, answers):
            self.assertEqual(self.json("epsilon", *self.options(query)), answer)

    def test_batch_answers_a_coprocess(self):
        """A program that writes a line and waits for its answer must not wait for ever."""
        process = subprocess.Popen([program("dparetoctl"), "epsilon", "--batch"], text=True, bufsize=1,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        try:
            for query in ({"mechanism": "laplace", "scale": 2}, {"mechanism": "no such"}):
                process.stdin.write(json.dumps(query) + "\n")
                readable, _, _ = select.select([process.stdout], [], [], LIMIT / 4)
                self.assertTrue(readable, "no answer while standard input is open")
                self.assertEqual("epsilon" in json.loads(process.stdout.readline()), "scale" in query)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=LIMIT), 1)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def test_every_key_has_an_option(self):
        for mechanism in ("dp-sgd", "gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "exponential",
                          "randomized-response", "output-perturbation", "svt"):
            keys = {k["key"] for k in self.json("explain", mechanism)["keys"]}
            text = self.ctl("epsilon", "--help").stdout
            for key in keys:
                self.assertIn("--" + key.replace("_", "-"), text)

    def test_known_values(self):
        """The note's example by three accountants; tests/ref has many more."""
        self.assertAlmostEqual(self.json("epsilon", *self.options(self.SGD))["epsilon"], 1.0634,
                               delta=2e-4)
        rdp = {**self.SGD, "accountant": "rdp"}
        self.assertAlmostEqual(self.json("epsilon", *self.options(rdp))["epsilon"], 2.0196,
                               delta=1e-4)
        rdp["conversion"] = "classic"
        classic = self.json("epsilon", *self.options(rdp))
        self.assertAlmostEqual(classic["epsilon"], 2.3670, delta=1e-4)
        self.assertEqual((classic["order"], classic["accountant"], classic["error_bound"]),
                         (11, "rdp", 0))

    def test_a_bad_line_does_not_stop_the_rest(self):
        answers = self.batch(["nonsense", '{"mechanism":"svt","cutoff":1,"scale":1}', "[]",
                              '{"mechanism":"svt","cutoff":1,"scale":-1}', "",
                              '{"mechanism":"no","x":1}'], code=1)
        self.assertEqual([("error" in a) for a in answers], [True, False, True, True, True, True])
        self.assertIn("scale", answers[3]["error"]["message"])
        self.assertEqual(self.batch([]), [])

    def test_table_says_what_it_holds_for(self):
        text = self.ctl("epsilon", *self.options(self.SGD)).stdout
        for word in ("epsilon 1.06", "delta 1e-05", "replace-one", "40000", "AISTATS",
                     "(default)", "accuracy"):
            self.assertIn(word, text)
        warned = self.ctl("epsilon", *self.options({**self.SGD, "delta": 0.01}))
        self.assertIn("1/records", warned.stderr)

    def test_curve_falls_with_delta(self):
        curve = self.json("epsilon", "--mechanism", "gaussian", "--sigma", "2", "--delta", "0.1",
                          "--curve")
        self.assertEqual(len(curve), 9)
        self.assertEqual([c["epsilon"] for c in curve],
                         sorted((c["epsilon"] for c in curve), reverse=True))

    def test_noise_never_overshoots(self):
        query = {k: v for k, v in self.SGD.items() if k != "noise_multiplier"}
        for target in ("0.5", "3"):
            found = self.json("noise", "--epsilon", target, *self.options(query))
            again = self.json("epsilon", *self.options(
                {**query, "noise_multiplier": repr(found["noise_multiplier"])}))
            self.assertLessEqual(again["epsilon"], float(target))
            self.assertGreater(again["epsilon"], 0.999 * float(target))

    def test_largest_lot(self):
        """A larger lot makes fewer steps of an epoch, so that epsilon falls and rises again."""
        query = ["--solve", "lot", "--mechanism", "dp-sgd", "--sampling", "without-replacement",
                 "--epochs", "1", "--noise-multiplier", "1", "--delta", "1e-5"]
        found = self.json("noise", "--epsilon", "4.6", "--records", "100", *query)
        self.assertEqual((found["lot"], found["largest"]), (100, True))
        self.assertAlmostEqual(found["epsilon"], 4.377178, 5)  # closed form: sigma 1
        query += ["--accountant", "rdp", "--epsilon", "0.8", "--records", "2000"]
        self.assertIs(self.json("noise", *query)["largest"], False)
        self.assertIn("Between both not all were tried", self.ctl("noise", *query).stdout)

    def test_mistakes(self):
        for arguments, code, word in (
                (["epsilon"], 2, "--mechanism"),
                (["epsilon", "--mechanism", "gausian"], 2, "gaussian"),
                (["epsilon", "--mechanism", "gaussian", "--delta", "1e-5"], 1, "sigma"),
                (["epsilon", "--mechanism", "gaussian", "--sigma", "x", "--delta", "0.1"], 1,
                 "sigma"),
                (["epsilon", "--mechanism", "gaussian", "--sigma", "1", "--delta", "0.1",
                  "--lot", "3"], 2, "lot"),
                (["epsilon", *self.options({**self.SGD, "lot": 50000})], 1, "lot"),
                (["epsilon", *self.options({**self.SGD, "steps": 5})], 1, "exclude"),
                (["noise", "--mechanism", "gaussian", "--delta", "0.1"], 2, "--epsilon")):
            self.assertIn(word, self.ctl(*arguments, code=code).stderr)


class Examples(Ctl):
    """The studies in examples/, as a newcomer runs them."""

    def run_example(self, name, evaluations):
        folder = os.path.join(TOP, "examples")
        result = self.json("run", os.path.join(folder, name), "--state", self.path("state"))
        self.assertEqual((result["state"], result["evaluations"], result["failed"]),
                         ("finished", evaluations, 0))
        self.assertGreater(result["hypervolume"], 0)
        return result

    def test_trainers_in_shell_and_python(self):
        shell = self.run_example("trainers/sh.yaml", 20)
        python = self.run_example("trainers/py.yaml", 20)
        self.assertEqual([p["parameters"] for p in shell["front"]],  # same seed, same points
                         [p["parameters"] for p in python["front"]])

    def test_search_beats_chance(self):
        chance = self.run_example("svt-random.yaml", 80)["hypervolume"]
        self.assertGreater(self.run_example("svt-dpareto.yaml", 80)["hypervolume"], chance)


class Alone(Ctl):
    """What needs no daemon."""

    def test_no_arguments(self):
        text = self.ctl().stdout
        for name in ("run", "submit", "status", "watch", "front"):
            self.assertIn("dparetoctl " + name, text)
        self.assertLess(len(text.splitlines()), 20)

    def test_help_of_every_command(self):
        text = self.ctl("--help").stdout
        for name in COMMANDS:
            self.assertRegex(text, r"(?m)^  %s +\S" % name)
            for form in ([name, "--help"], [name, "-h"], ["help", name], ["-h", name]):
                done = self.ctl(*form)
                if form[0] == "-h":
                    continue
                self.assertTrue(done.stdout.startswith("usage: dparetoctl " + name), form)
                self.assertEqual(done.stderr, "")
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 90)
        self.assertNotIn("help-man", text)

    def test_version(self):
        text = self.ctl("--version").stdout
        self.assertRegex(text, r"^dparetoctl \d+\.\d+")
        self.assertIn("protocol 1, journal format 1", text)
        self.assertEqual(self.json("--version")["protocol"], 1)

    def test_usage_mistakes(self):
        for arguments, says in [
                (["sumbit"], "did you mean 'submit'?"),
                (["qqqqqq"], "there is no command 'qqqqqq'"),
                (["list", "--quite"], "did you mean '--quiet'?"),
                (["list", "-Z"], "unknown option '-Z'"),
                (["--sokcet", "x", "list"], "did you mean '--socket'?"),
                (["daemon", "stop", "--policy", "lave"], "did you mean 'leave'?"),
                (["daemon", "stop", "--policy"], "needs a value"),
                (["daemon", "restart"], "status, reload or stop"),
                (["daemon", "status", "--policy", "kill"], "--policy is for"),
                (["delete", "s", "--yes=1"], "takes no value"),
                (["submit"], "needs FILE..."),
                (["list", "extra"], "takes no arguments"),
                (["front", "a", "b"], "'b' is one too many"),
                (["list", "-o", "xml"], "table|json|jsonl|csv|name"),
                (["list", "-o", "csv"], "cannot print csv"),
                (["set", "s", "paralel=2"], "did you mean 'parallel'?"),
                (["set", "s", "parallel"], "KEY=VALUE"),
                (["set", "s", "parallel=two"], "whole number from 1"),
                (["set", "s", "parallel=1", "parallel=2"], "twice"),
                (["wait", "s", "--for", "done"], "ended=N"),
                (["wait", "s", "--timeout", "soon"], "not a duration"),
                (["trial", "s", "x"], "not the number of a trial"),
                (["retry", "s", "3-1"], "range of trials"),
                (["retry", "s", "1,,2"], "is not a trial"),
                (["logs", "s", "0", "--tail", "x"], "takes a number"),
                (["completion", "tcsh"], "bash, zsh and fish"),
                (["run", "x.yaml", "--slots", "0"], "--slots"),
                (["journal", "fix"], "dump, verify, repair"),
                (["journal", "backup"], "needs a file"),
                (["journal", "dump", "x"], "takes no file"),
                (["journal", "verify", "--study", "s"], "--study is for"),
                (["journal", "repair", "--force"], "--force is for")]:
            done = self.ctl(*arguments, code=2)
            self.assertIn(says, done.stderr, arguments)
            self.assertTrue(done.stderr.startswith("dparetoctl: "), done.stderr)
            self.assertEqual(done.stdout, "", arguments)

    def test_errors_as_json(self):
        for arguments, code, kind in [(["nope"], 2, "usage"), (["list", "--x"], 2, "usage"),
                                      (["list"], 3, "no-daemon"),
                                      (["explain", "zzzzzz"], 5, "not-found"),
                                      (["submit", "nowhere.yaml"], 5, "not-found"),
                                      (["journal", "dump"], 5, "not-found")]:
            for form in ([*arguments, "-o", "json"], ["-o", "json", *arguments],
                         [*arguments, "--output=json"], [*arguments, "-ojson"]):
                done = self.ctl(*form, code=code)
                error = json.loads(done.stdout)["error"]
                self.assertEqual((error["code"], error["kind"]), (code, kind), form)
                self.assertTrue(error["message"])
                self.assertIn("hint", error)
                self.assertEqual(done.stderr, "")
        done = self.ctl("list", code=3, env={"DPARETO_OUTPUT": "json"})
        self.assertEqual(json.loads(done.stdout)["error"]["code"], 3)

    def test_no_daemon(self):
        for arguments in NEED_DAEMON:
            done = self.ctl(*arguments, code=3)
            self.assertIn("no daemon is running (no socket at %s)" % self.path("sock"),
                          done.stderr)
            self.assertIn("hint: start one with 'dparetod'", done.stderr)
        self.ctl("list", "--socket", self.path("other"), code=3)
        self.assertIn("108 bytes long",
                      self.ctl("list", "--socket", "/" + 107 * "x", code=1).stderr)

    def test_output_variable(self):
        self.assertIn("DPARETO_OUTPUT", self.ctl("explain", code=2,
                                                 env={"DPARETO_OUTPUT": "xml"}).stderr)
        text = self.ctl("explain", env={"DPARETO_OUTPUT": "name"}).stdout
        self.assertIn("trainer.timeout\n", text)
        # a wish that a command cannot fulfil is no mistake
        self.ctl("completion", "bash", env={"DPARETO_OUTPUT": "csv"})

    def test_validate(self):
        self.trainer("")
        good = self.write("good.yaml", self.study())
        bad = self.write("bad.yaml", self.study(search="method: random, evalutions: 4"))
        self.assertIn("study 's' is valid", self.ctl("validate", good).stdout)
        self.assertEqual(self.ctl("validate", "-q", good).stdout, "")
        text = self.ctl("validate", good, bad, code=1).stdout
        self.assertRegex(text, r"bad\.yaml:\d+:\d+: error: .*'evalutions'; did you mean "
                               "'evaluations'")
        self.assertIn("evalutions: 4", text)
        self.assertIn("study 's' is valid", text)
        self.assertTrue(self.json("validate", good)["valid"])
        answer = self.json("validate", bad, code=1)
        self.assertFalse(answer["valid"])
        self.assertGreaterEqual(len(answer["problems"]), 1)
        self.assertEqual(answer["problems"][0]["severity"], "error")
        self.assertGreater(answer["problems"][0]["line"], 0)
        self.ctl("validate", self.path("none.yaml"), good, code=5)
        self.ctl("validate", self.folder, code=1)
        huge = self.write("huge.yaml", "#" * (1024 * 1024 + 1))
        self.assertIn("1024 KiB", self.ctl("validate", huge, code=1).stderr)

    def test_submit_checks_first(self):
        bad = self.write("bad.yaml", "study: 'a b'\n")
        done = self.ctl("submit", bad, code=1)  # not 3: no daemon is asked
        self.assertIn("bad.yaml:1:8: error:", done.stderr)
        self.assertIn("2 files after it were not submitted",
                      self.ctl("submit", bad, bad, bad, code=1).stderr)
        error = self.json("submit", bad, code=1)["error"]
        self.assertEqual(error["kind"], "invalid")
        self.assertTrue(error["problems"])
        self.json("run", bad, code=1)

    def test_explain(self):
        names = self.ctl("explain", "-o", "name").stdout.split()
        self.assertIn("trainer.timeout", names)
        self.assertEqual([k["key"] for k in self.json("explain")], names)
        for key in names:
            (doc,) = [k for k in self.json("explain", key) if k["key"] == key]
            self.assertTrue(doc["help"] and doc["type"], key)
        self.assertEqual(self.json("explain", "timeout")[0]["key"], "trainer.timeout")
        self.assertEqual(self.json("explain", "parameters.clip.range")[0]["key"],
                         "parameters.NAME.range")
        self.assertIn("timeout", self.ctl("explain", "trainer").stdout)
        self.assertIn("did you mean 'timeout'?", self.ctl("explain", "timeuot", code=5).stderr)

    def test_man_page(self):
        roff = self.ctl("help-man").stdout
        for name in COMMANDS:
            self.assertRegex(roff, r'(?m)^\.SS "%s[ "]' % name.replace("-", r"\\-"))
        self.assertNotRegex(roff, r"(?m)^'")

    def test_doctor(self):
        text = self.ctl("doctor").stdout
        self.assertRegex(text, r"(?m)^warn  daemon +no daemon is running")
        checks = {c["check"]: c for c in self.json("doctor")["checks"]}
        for name in ("dparetod", "dpareto-shim", "dpareto-train", "clock", "open files"):
            self.assertEqual(checks[name]["result"], "ok", checks[name])
        answer = self.json("doctor", "--socket", "/" + 200 * "x", code=1)
        self.assertFalse(answer["ok"])

    def test_standard_output(self):
        # a full disk is an error, a reader that has seen enough is none
        with open("/dev/full", "w") as full:
            done = subprocess.run([program("dparetoctl"), "explain"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, env=self.env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write to standard output", done.stderr)
        for argument in ("help-man", "--version"):  # more and less than a buffer
            ends = os.pipe()
            os.close(ends[0])
            done = subprocess.run([program("dparetoctl"), argument], stdout=ends[1],
                                  stderr=subprocess.PIPE, text=True, env=self.env)
            os.close(ends[1])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        # closed streams do not lend their numbers to sockets
        line = '"%s" list >&- 2>&-; echo $?' % program("dparetoctl")
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=self.env)
        self.assertEqual(done.stdout, "3\n")

    def test_arguments_not_utf8(self):
        listener = self.fake(lambda request: {"ok": {}})
        done = subprocess.run([program("dparetoctl"), "status", b"\xff"], env=self.env,
                              capture_output=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"not UTF-8", done.stderr)
        listener.close()

    def test_strange_daemons(self):
        replies = {"garbage": (b"what?\n", 1, "protocol"),
                   "future": (b'{"v":2,"ok":{}}\n', 1, "protocol"),
                   "denied": ({"error": {"kind": "not-permitted", "message": "no"}}, 4,
                              "not-permitted"),
                   "away": (None, 3, "no-daemon"),
                   "unknown": ({"error": {"kind": "brand-new", "message": "m"}}, 1, "failed")}
        self.fake(lambda request: replies[request["study"]][0])
        for name, (_, code, kind) in replies.items():
            self.assertEqual(self.json("status", name, code=code)["error"]["kind"], kind, name)

    def test_messages_cannot_steer_the_terminal(self):
        self.fake(lambda request: {"error": {"kind": "failed", "message": "a\x1b[31mb\rc\u009bd",
                                             "hint": "e\x07f"}})
        done = self.ctl("status", "x", code=1)
        self.assertEqual(control_codes(done.stderr), [])
        self.assertIn("a?[31mb?c?d", done.stderr)


SLOW = """
while not os.path.exists(%r):
    time.sleep(0.01)
report(a=params["x"], b=1 - params["x"])
"""
QUICK = 'print("hello", request["trial"], flush=True)\n' \
        'report(a=params["x"], b=1 - params["x"], extra=request["trial"])\n'
FAILING = 'print("bad luck", file=sys.stderr, flush=True)\nsys.exit(3)\n'


class WithDaemon(Ctl):
    """Against a real daemon."""

    def setUp(self):
        super().setUp()
        self.d = self.daemon("--slots", "2", "--stop-policy", "kill").start()
        self.client = self.d.connect()
        self.addCleanup(self.client.close)

    def submit_file(self, trainer=QUICK, name="s", **options):
        self.trainer(trainer)
        path = self.write(name + ".yaml", self.study(name=name, **options))
        return self.ctl("submit", path)

    def test_submit(self):
        done = self.submit_file()
        self.assertEqual(done.stdout, "s\n")
        self.assertIn("dparetoctl watch s", done.stderr)
        again = self.json("submit", self.path("s.yaml"))
        self.assertFalse(again["new"])
        self.write("s.yaml", self.study().replace("seed: 7", "seed: 8"))
        error = self.json("submit", self.path("s.yaml"), code=1)["error"]
        self.assertEqual(error["kind"], "exists")
        self.assertEqual(self.ctl("submit", "-q", "-o", "name", self.path("s.yaml"),
                                  code=1).stdout, "")

    def test_whole_life(self):
        self.submit_file(extra_trainer=", runs: 2")
        self.ctl("wait", "s", "--timeout", "60")
        (row,) = self.json("list")
        self.assertEqual((row["state"], row["ended"]), ("finished", 4))
        self.assertEqual(self.ctl("ls", "-o", "name").stdout, "s\n")
        self.assertEqual(json.loads(self.ctl("list", "-o", "jsonl").stdout)["name"], "s")
        self.assertRegex(self.ctl("list").stdout, r"(?m)^NO +NAME.*\n +1  s +finished +4/4")
        self.assertIn("finished", self.ctl("status").stdout)
        self.assertEqual(self.json("status")["daemon"]["pid"], self.d.process.pid)

        # unfiltered, the front is the object of the contract, byte for byte
        front = self.json("front", "s")
        self.assertEqual(front, self.client("front", study="s"))
        self.assertEqual(list(front), ["version", "study", "state", "reason", "evaluations",
                                       "failed", "diverged", "hypervolume", "anti_ideal",
                                       "front"])
        self.assertEqual(len(front["front"]), 4)

        trials = self.json("trials", "s")
        self.assertEqual([t["trial"] for t in trials], [0, 1, 2, 3])
        lines = self.ctl("trials", "s", "-o", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(x) for x in lines], trials)
        self.assertEqual(self.json("trials", "s", "--status", "failed"), [])
        trial = self.json("trial", "s", "2")
        self.assertEqual([r["metrics"]["extra"] for r in trial["runs"]], [2, 2])
        self.assertIn("on the front", self.ctl("trial", "s", "2").stdout)
        self.ctl("trial", "s", "4", code=5)
        self.ctl("status", "nope", code=5)

        rows = list(csv.DictReader(io.StringIO(self.ctl("export", "s").stdout)))
        self.assertEqual([float(r["x"]) for r in rows],
                         [t["parameters"]["x"] for t in trials])
        self.assertEqual([float(r["a"]) for r in rows], [t["objectives"]["a"] for t in trials])
        self.assertEqual(rows, list(csv.DictReader(io.StringIO(
            self.ctl("trials", "s", "-o", "csv").stdout))))
        self.ctl("export", "s", "--format", "json", "--file", self.path("out.json"))
        with open(self.path("out.json")) as f:
            whole = json.load(f)
        self.assertEqual(whole["trials"][2]["runs"], trial["runs"])
        self.assertEqual(self.json("export", "s"), whole)

    def test_front_questions(self):
        self.submit_file(objectives="a: {metric: a}\n  b: {metric: b}",
                         search="method: grid, grid: 5")
        self.ctl("wait", "s", "--timeout", "60")
        points = self.json("front", "s")["front"]
        self.assertEqual([p["objectives"]["a"] for p in points], [0, 0.25, 0.5, 0.75, 1])

        def ask(*questions):
            return [p["objectives"]["a"] for p in
                    self.json("front", "s", *questions)["front"]]
        self.assertEqual(ask("--max", "a=0.5"), [0, 0.25, 0.5])
        self.assertEqual(ask("--max", "a=0.5", "--min", "a=0.1"), [0.25, 0.5])
        self.assertEqual(ask("--best", "a"), [0])
        self.assertEqual(ask("--best", "b"), [1])
        self.assertEqual(ask("--max", "a=0.6", "--best", "b"), [0.5])
        self.assertEqual(ask("--max", "a=-1"), [])
        text = self.ctl("front", "s", "--max", "a=-1", "-o", "csv").stdout
        self.assertEqual(text, "trial,at,a,b,x,a.runs,a.sd,a.low,a.high,b.runs,b.sd,b.low,"
                               "b.high\n")
        done = self.ctl("front", "s", "--max", "c=1", code=2)
        self.assertIn("its objectives are a, b", done.stderr)
        self.ctl("front", "s", "--max", "a", code=2)
        table = self.ctl("front", "s").stdout.splitlines()
        self.assertEqual(table[0].split(), ["TRIAL", "a", "b", "x"])
        self.assertEqual(len(table), 6)

    def test_steering(self):
        go = self.path("go")
        self.submit_file(SLOW % go, search="method: random, evaluations: 6, parallel: 2")
        wait_for(lambda: self.json("status", "s")["study"]["running"] == 2)
        self.ctl("pause", "s")
        self.ctl("pause", "s")
        self.assertIn("paused", self.ctl("status", "s").stdout)
        self.assertEqual(self.json("resume", "s")["state"], "running")
        self.assertEqual(self.json("set", "s", "evaluations=5", "parallel=1",
                                   "priority=-3")["evaluations"], 5)
        self.ctl("set", "s", "parallel=0", code=1)
        self.assertIn("parallel=1 priority=-3", self.ctl("set", "s", "parallel=1").stderr)
        self.ctl("wait", "s", "--timeout", "100ms", code=7)
        error = self.json("wait", "s", "--timeout", "100ms", code=7)["error"]
        self.assertEqual(error["kind"], "timed-out")
        self.ctl("cancel", "s", "0")
        wait_for(lambda: self.json("trial", "s", "0")["state"] == "cancelled")
        self.ctl("cancel", "s", "0", code=1)
        done = self.ctl("cancel", "s", "77,0", code=5)  # the first failure counts
        self.assertEqual(done.stderr.count("dparetoctl: "), 2)
        open(go, "w").close()
        self.ctl("wait", "s", "--for", "ended=5", "--timeout", "60")
        self.ctl("wait", "s", "--for", "hypervolume=0.001")
        self.ctl("wait", "s", "--for", "ended=99", code=6)
        self.ctl("retry", "s", "0")
        self.ctl("wait", "s", "--timeout", "60")
        wait_for(lambda: self.json("trial", "s", "0")["state"] == "ok")
        self.ctl("retry", "s", "0", code=1)

    def test_stop(self):
        self.submit_file(SLOW % self.path("never"))
        wait_for(lambda: self.json("status", "s")["study"]["running"] > 0)
        self.ctl("stop", "s", "--now")
        self.ctl("stop", "s")
        self.assertIn("stopped", self.ctl("wait", "s", "--timeout", "60", code=6).stderr)
        self.assertEqual(trainers_below(self.folder), [])

    def test_failing_study(self):
        self.submit_file(FAILING, extra_trainer=", max_failures: 2")
        done = self.ctl("wait", "s", "--timeout", "60", code=6)
        self.assertIn("paused", done.stderr)
        done = self.ctl("watch", "s", code=6)
        self.assertIn("paused", done.stdout)
        self.assertIn("exit code 3", self.ctl("status", "s").stdout)
        self.assertIn("bad luck", self.ctl("logs", "s", "0").stdout)
        failed = self.json("trials", "s", "--status", "failed")
        self.assertGreaterEqual(len(failed), 2)

    def test_retry_failed(self):
        self.submit_file(FAILING)
        self.ctl("wait", "s", "--timeout", "60", code=6)
        self.trainer(QUICK)  # mended
        failed = [t["trial"] for t in self.json("trials", "s", "--status", "failed")]
        self.assertEqual(len(failed), 3)
        answer = self.json("retry", "s", "--failed")
        self.assertEqual((answer["trials"], answer["study"]["state"]), (failed, "running"))
        self.ctl("wait", "s", "--timeout", "60")
        self.assertEqual(self.json("trials", "s", "--status", "failed"), [])
        done = self.ctl("retry", "s", "--failed", code=1)
        self.assertIn("no failed trial that can be tried again", done.stderr)
        self.assertIn("give trials or --failed", self.ctl("retry", "s", "0", "--failed",
                                                          code=2).stderr)
        self.assertIn("which trials", self.ctl("retry", "s", code=2).stderr)

    def test_logs(self):
        self.submit_file('print("one\\ntwo\\nthree", flush=True)\n'
                         'sys.stderr.buffer.write(b"oops \\xff\\n")\n' + QUICK)
        self.ctl("wait", "s", "--timeout", "60")
        done = subprocess.run([program("dparetoctl"), "logs", "s", "1"], env=self.env,
                              capture_output=True, timeout=LIMIT)
        self.assertIn(b"==> stdout <==\none\ntwo\nthree\nhello 1\n", done.stdout)
        self.assertIn(b"==> stderr <==\noops ", done.stdout)
        self.assertEqual(self.ctl("logs", "s", "1", "--stdout").stdout,
                         "one\ntwo\nthree\nhello 1\n")
        self.assertEqual(self.ctl("logs", "s", "1", "--stdout", "--tail", "2").stdout,
                         "three\nhello 1\n")
        self.assertEqual(self.ctl("logs", "s", "1", "--stdout", "--tail", "0").stdout, "")
        self.assertEqual(self.ctl("logs", "s", "1", "--stdout", "--tail", "9").stdout,
                         "one\ntwo\nthree\nhello 1\n")
        self.assertEqual(self.json("logs", "s", "1", "--stdout")["stdout"],
                         "one\ntwo\nthree\nhello 1\n")
        self.assertIn("\ufffd", self.json("logs", "s", "1")["stderr"])
        self.ctl("logs", "s", "99", code=5)
        self.ctl("logs", "s", "1", "--attempt", "3", code=5)
        self.ctl("logs", "-f", "s", "1", "--stdout")
        self.ctl("logs", "s", "1", "-f", "-o", "json", code=2)

    def test_logs_follow(self):
        go = self.path("go")
        self.submit_file('print("begin", flush=True)\n' + SLOW % go +
                         'print("end", flush=True)\n',
                         search="method: random, evaluations: 2, parallel: 1")
        wait_for(lambda: self.json("status", "s")["study"]["running"] > 0)
        first = self.follow("logs", "-f", "s", "0", "--stdout")
        self.assertEqual(first.stdout.readline(), "begin\n")
        open(go, "w").close()
        self.assertEqual(first.communicate(timeout=LIMIT)[0], "end\n")
        self.assertEqual(first.returncode, 0)

    def test_logs_follow_waits_for_a_trial_to_come(self):
        go = self.path("go")
        self.submit_file(SLOW % go + 'print("end", flush=True)\n',
                         search="method: random, evaluations: 2, parallel: 1")
        second = self.follow("logs", "-f", "s", "1", "--stdout")
        self.assertIn("waits", second.stderr.readline())
        self.ctl("logs", "-f", "s", "2", code=5)     # beyond the budget: it never comes
        open(go, "w").close()
        self.assertEqual(second.communicate(timeout=LIMIT)[0], "end\n")
        self.assertEqual(second.returncode, 0)

    def follow(self, *arguments):
        p = subprocess.Popen([program("dparetoctl"), *arguments], env=self.env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.kill)
        return p

    def restart(self, away):
        """kill -9, what may happen while nobody is there, another daemon."""
        self.client.close()
        self.d.end(signal.SIGKILL)
        away()
        self.d.start()
        self.client = self.d.connect()
        self.addCleanup(self.client.close)

    @staticmethod
    def waits(pid):
        """Has this `wait` asked for changes? It gives the daemon a minute more for them than
        for any other answer."""
        with open("/proc/%d/syscall" % pid) as f:
            call = f.read().split()
        return call[0] == "7" and int(call[3], 16) > 60000  # poll(2)

    def waiter(self, *arguments):
        p = self.follow("wait", *arguments)
        wait_for(lambda: self.waits(p.pid))
        return p

    def test_followers_live_through_a_restart(self):
        self.submit_file('for i in "begin", "middle", "end":\n'
                         '    print(i, flush=True)\n    gate(i)\n' + QUICK,
                         search="method: random, evaluations: 1")
        wait_for(lambda: self.has("at-begin"))
        logs, watch = self.follow("logs", "-f", "s", "0", "--stdout"), self.follow("watch", "s")
        lines, wait = self.follow("watch", "s", "-o", "json"), self.waiter("s")
        self.assertEqual(logs.stdout.readline(), "begin\n")
        for p in watch, lines:
            self.assertTrue(p.stdout.readline())

        def nobody():
            for p in logs, watch, lines, wait:
                self.assertEqual(p.stderr.readline(), "the daemon went away; waiting for it\n")
            self.touch("begin")  # what is written meanwhile is shown meanwhile
            self.assertEqual(logs.stdout.readline(), "middle\n")
        self.restart(nobody)
        for p in logs, watch, lines, wait:
            self.assertRegex(p.stderr.readline(), "^the daemon is back, after .*s\n$")
        self.touch("middle")
        self.ctl("daemon", "stop", "--policy", "leave")
        self.assertEqual(self.d.end(), 0)
        self.assertIn("went away", wait.stderr.readline())
        self.d.start()
        self.assertIn("is back", wait.stderr.readline())
        self.touch("end")
        self.assertEqual(logs.communicate(timeout=LIMIT)[0], "end\nhello 0\n")
        told = watch.communicate(timeout=LIMIT)[0]
        self.assertEqual((told.count("trial 0 ok"), told.count("s: running")), (1, 0))
        objects = [json.loads(x) for x in lines.communicate(timeout=LIMIT)[0].splitlines()]
        self.assertEqual(objects[-1]["study"]["state"], "finished")
        self.assertEqual(wait.communicate(timeout=LIMIT)[0], "")
        self.assertEqual([p.returncode for p in (logs, watch, lines, wait)], [0] * 4)

    def test_followers_give_up(self):
        self.submit_file(SLOW % self.path("go"))
        timed = self.waiter("s", "--timeout", "%gs" % unhurried(1))
        short = self.waiter("s", "--patience", "100ms")
        patient, none = self.waiter("s"), self.waiter("s", "--patience", "0")

        def nobody():
            self.assertEqual((short.wait(LIMIT), timed.wait(LIMIT), none.wait(LIMIT)), (3, 7, 3))
            self.assertIn("not back within 100ms (--patience)", short.stderr.read())
            self.assertIn("did not reach finished within", timed.stderr.read())
            self.assertNotIn("waiting", none.stderr.read())
            self.touch("go")
        self.restart(nobody)
        self.finish(self.client, "s")
        self.assertEqual(patient.wait(LIMIT), 0)
        os.unlink(self.path("go"))
        self.submit_file(SLOW % self.path("go"), name="t")
        self.client("pause", study="t")
        follower = self.waiter("t")
        self.touch("go")
        wait_for(lambda: self.client("status", study="t")["study"]["running"] == 0)
        self.client("delete", study="t")
        # deleting stops it first, which the follower may have seen
        self.assertIn(follower.wait(LIMIT), (5, 6))
        self.assertRegex(follower.stderr.read(), "deleted|no study .t.|is stopped")
        self.ctl("wait", "s", "--patience", "soon", code=2)

    def test_interrupt(self):
        self.submit_file('print("begin", flush=True)\n' + SLOW % self.path("never"))
        wait_for(lambda: self.json("status", "s")["study"]["running"] > 0)
        for arguments in (["watch", "s"], ["watch", "s", "-o", "json"],
                          ["logs", "-f", "s", "0", "--stdout"]):
            p = self.follow(*arguments)
            self.assertTrue(p.stdout.readline(), arguments)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(LIMIT), 130, arguments)
        p = self.follow("wait", "s")
        wait_for(lambda: self.catches(p.pid))
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(LIMIT), 130)
        self.assertEqual(self.json("status", "s")["study"]["state"], "running")

    @staticmethod
    def catches(pid):
        """Does the process handle SIGINT itself by now?"""
        with open("/proc/%d/status" % pid) as f:
            mask = int(re.search(r"SigCgt:\s*(\w+)", f.read()).group(1), 16)
        return mask >> (signal.SIGINT - 1) & 1

    def test_watch_lines(self):
        self.submit_file()
        done = self.ctl("watch", "s")
        self.assertEqual(control_codes(done.stdout), [])
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], r"^\d\d:\d\d:\d\d s: finished \(4 of 4 ended")
        last = json.loads(self.ctl("watch", "s", "-o", "json").stdout.splitlines()[-1])
        self.assertEqual(last["study"]["state"], "finished")

    def terminal(self, *arguments, keys=b"", after=b"trial 0"):
        """Runs a command on a terminal of 80x24; types keys once `after` was shown."""
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(self.env, TERM="xterm", COLUMNS="80", LINES="24")
            os.execv(program("dparetoctl"), ["dparetoctl", *arguments])
        shown, end = b"", time.monotonic() + LIMIT
        while time.monotonic() < end:
            if not select.select([fd], [], [], 0.1)[0]:
                continue
            try:
                more = os.read(fd, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
            if keys and after in shown:
                os.write(fd, keys)
                keys = b""
        else:
            os.kill(pid, signal.SIGKILL)
        os.close(fd)
        return (os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
                shown.decode(errors="replace"))

    def test_watch_on_a_terminal(self):
        go = self.path("go")
        self.submit_file(SLOW % go, name="a" * 60)
        wait_for(lambda: self.json("list")[0]["running"] > 0)
        code, shown = self.terminal("watch", "a", keys=b"xq")
        self.assertEqual(code, 0)
        self.assertIn("q leaves the view", shown)
        self.assertIn("\x1b[J", shown)
        code, shown = self.terminal("watch", "a", keys=b"\x03")
        self.assertEqual(code, 130)
        code, shown = self.terminal("--no-color", "status", "a")
        self.assertEqual(control_codes(shown.replace("\r\n", "\n")), [])
        self.assertLessEqual(max(map(len, shown.split("\r\n"))), 80)
        self.assertLessEqual(len(shown.splitlines()), 24)
        self.assertIn("\x1b[1m", self.terminal("list")[1])
        open(go, "w").close()
        code, shown = self.terminal("watch", "a")
        self.assertEqual(code, 0)
        self.assertIn("finished", shown)

    def test_trainers_cannot_steer_a_terminal(self):
        attack = b"\\x1b]0;owned\\x07\\x1b[2J \\xc2\\x9b31m \\x9b \\x7f \\rover"
        self.submit_file('os.write(1, b"%s \\xc3\\xa9\\n")\nos.write(2, b"%s\\n")\nsys.exit(3)\n' %
                         (attack.decode(), attack.decode()),
                         search="method: random, evaluations: 1", extra_trainer=", retries: 0")
        self.finish(self.client, "s")
        piped = subprocess.run([program("dparetoctl"), "logs", "s", "0", "--stdout"],
                               env=self.env, capture_output=True, timeout=LIMIT)
        self.assertEqual(piped.stdout, eval("b'%s'" % attack.decode()) + b" \xc3\xa9\n")
        for command in (["logs", "s", "0"], ["export", "s"], ["export", "s", "--format", "json"],
                        ["trials", "s"], ["status", "s"], ["trial", "s", "0"], ["watch", "s"],
                        ["status", "s", "-o", "json"], ["trials", "s", "-o", "csv"],
                        ["logs", "s", "0", "-o", "json"]):
            shown = self.terminal("--no-color", *command)[1].replace("\r\n", "\n")
            if command[0] == "watch" and "-o" not in command:
                shown = re.sub("\x1b\\[[JK]", "", shown)  # the view's own
            self.assertEqual(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), [], command)
        shown = self.terminal("logs", "s", "0", "--stdout")[1]
        self.assertEqual(shown, "^[]0;owned^G^[[2J <U+009B>31m \\x9b ^? ^Mover \u00e9\r\n")
        raw = self.terminal("logs", "s", "0", "--raw", "--stdout")[1]
        self.assertIn("\x1b[2J", raw)

    def test_delete(self):
        self.submit_file()
        self.ctl("wait", "s", "--timeout", "60")
        done = self.ctl("delete", "s", code=2)
        self.assertIn("4 ended trials", done.stderr)
        self.assertIn("--yes", done.stderr)
        code, shown = self.terminal("delete", "s", keys=b"no\n", after=b"[yes/no]")
        self.assertEqual(code, 1)
        self.assertIn("nothing was deleted", shown)
        code, shown = self.terminal("delete", "s", keys=b"yes\n", after=b"[yes/no]")
        self.assertEqual(code, 0)
        self.assertEqual(self.json("list"), [])
        self.assertEqual(self.ctl("list").stdout, "")
        self.ctl("delete", "s", "--yes", code=5)
        self.submit_file(SLOW % self.path("never"), name="t")
        wait_for(lambda: self.json("status", "t")["study"]["running"] > 0)
        self.ctl("delete", "t", "--yes", code=1)
        self.assertEqual(self.json("delete", "t", "--yes", "--now"), {"deleted": "t"})

    def test_journal(self):
        self.submit_file()
        self.submit_file(name="t")
        self.ctl("wait", "s", "--timeout", "60")
        self.ctl("wait", "t", "--timeout", "60")
        for running in (True, False):
            if not running:
                self.client.close()
                self.d.end()
            lines = self.ctl("journal", "dump", "--state", self.d.state).stdout.splitlines()
            events = [json.loads(line) for line in lines]
            sought = [e["sought"] for e in events if e["type"] == "trial-proposed"]
            self.assertTrue(sought and all(0 < x < 60 for x in sought), sought)
            one = self.ctl("journal", "dump", "--state", self.d.state, "--study", "t")
            self.assertEqual(one.stdout.splitlines(),
                             [x for x, e in zip(lines, events) if e["study"] == 2])
            self.ctl("journal", "dump", "--state", self.d.state, "--study", "u", code=5)
            text = self.ctl("journal", "verify", "--state", self.d.state).stdout
            self.assertIn("%d records of 2 studies" % len(lines), text)
            answer = self.json("journal", "verify", "--state", self.d.state)
            self.assertEqual((answer["records"], answer["faults"]), (len(lines), []))

    def test_daemon(self):
        self.assertIn(self.d.state, self.ctl("daemon", "status").stdout)
        self.assertEqual(self.json("daemon", "status")["slots"], 2)
        self.assertEqual(self.json("daemon", "reload")["changed"], [])
        checks = {c["check"]: c["result"] for c in self.json("doctor")["checks"]}
        self.assertIn(checks.pop("slurm"), ("ok", "warn"))  # there may be commands and no cluster
        self.assertEqual(set(checks.values()), {"ok"})
        self.ctl("daemon", "stop", "--policy", "finish")
        self.assertEqual(self.d.process.wait(LIMIT), 0)
        self.ctl("list", code=3)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_somebody_else(self):
        os.chmod(self.folder, 0o755)
        done = subprocess.run(
            [program("dparetoctl"), "list"], capture_output=True, text=True, env=self.env,
            preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        self.assertEqual(done.returncode, 4, done.stderr)


class Run(Ctl):
    """dparetoctl run."""

    def file(self, trainer=QUICK, **options):
        self.trainer(trainer)
        return self.write("s.yaml", self.study(**options))

    def test_to_the_end(self):
        path = self.file()
        done = self.ctl("run", path)
        self.assertIn("study 's' is finished: 4 trials", done.stdout)
        self.assertIn("TRIAL", done.stdout)
        folder = self.path("xdg/dpareto/run/s")
        self.assertIn(folder + "/journal", done.stdout)
        self.assertIn("s: trial 3 ok", done.stderr)
        self.assertTrue(os.path.exists(folder + "/studies/s/trials/3/0/stdout"))
        again = self.ctl("run", path)
        self.assertNotIn("trial 3 ok", again.stderr)
        self.assertEqual(again.stdout, done.stdout)

    def test_equal_runs_print_equal_bytes(self):
        path = self.file(search="method: random, evaluations: 6, parallel: 2")
        one = self.ctl("run", path, "--state", self.path("one"), "-o", "json")
        two = self.ctl("run", path, "--state", self.path("two"), "-o", "json", "-q",
                       "--slots", "1")
        self.assertEqual(one.stdout, two.stdout)
        self.assertEqual(two.stderr, "")
        answer = json.loads(one.stdout)
        self.assertEqual(list(answer), ["version", "study", "state", "reason", "evaluations",
                                        "failed", "diverged", "hypervolume", "anti_ideal",
                                        "front"])
        self.assertNotIn(self.folder, one.stdout)
        self.assertEqual(self.ctl("run", path, "--state", self.path("one"), "-o",
                                  "json").stdout, one.stdout)

    def begin(self, path, *more):
        p = subprocess.Popen([program("dparetoctl"), "run", path, "--state",
                              self.path("state"), *more], env=self.env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(self.end_run, p)
        wait_for(lambda: trainers_below(self.folder) or p.poll() is not None)
        return p

    def end_run(self, p):
        """Ends a run that a test has left, with all that belongs to it."""
        if p.poll() is None:
            p.terminate()
            p.wait(LIMIT)
            wait_for(lambda: not trainers_below(self.folder))

    def test_interrupted_and_resumed(self):
        go = self.path("go")
        path = self.file(SLOW % go)
        for number in (signal.SIGINT, signal.SIGTERM):
            p = self.begin(path, "-o", "json")
            p.send_signal(number)
            self.assertEqual(p.wait(LIMIT), 130)
            self.assertEqual(p.stdout.read(), "")
            self.assertIn("the same command goes on", p.stderr.read())
            self.assertEqual(trainers_below(self.folder), [])
        p = self.begin(path)  # the death of dparetoctl stops daemon and trainers, too
        p.kill()
        p.wait(LIMIT)
        open(go, "w").close()  # at once: the next run waits for the old daemon to end
        done = self.ctl("run", path, "--state", self.path("state"), "-o", "json")
        self.assertEqual(json.loads(done.stdout)["evaluations"], 4)
        self.assertEqual(json.loads(done.stdout)["failed"], 0)

    def test_one_daemon_a_folder(self):
        path = self.file(SLOW % self.path("never"))
        self.begin(path)
        others = self.begin(path), self.begin(path, "-o", "json")  # both wait a while for it
        self.assertEqual([p.wait(LIMIT) for p in others], [1, 1])
        self.assertIn("another process", others[0].stderr.read())
        self.assertEqual(json.loads(others[1].stdout.read())["error"]["code"], 1)

    def test_another_file(self):
        path = self.file()
        self.ctl("run", path, "--state", self.path("state"))
        self.file(search="method: grid, grid: 4")
        error = self.json("run", path, "--state", self.path("state"), code=1)["error"]
        self.assertEqual(error["kind"], "exists")
        self.assertIn("--state", error["hint"])

    def test_paused_by_failures(self):
        path = self.file(FAILING, extra_trainer=", max_failures: 2")
        done = self.ctl("run", path, "-o", "json", code=6)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["state"], "paused")
        self.assertTrue(answer["reason"])
        self.assertIn("is paused: ", done.stderr)
        self.assertIn("/trials/", done.stderr)
        self.trainer(QUICK)  # mended: the same command goes on
        self.assertEqual(json.loads(self.ctl("run", path, "-o", "json").stdout)["state"],
                         "finished")

    def test_all_diverged(self):
        path = self.file("report(a=None, b=1)")
        answer = json.loads(self.ctl("run", path, "-o", "json", code=6).stdout)
        self.assertEqual((answer["state"], answer["front"]), ("failed", []))
        self.assertIn("diverged", answer["reason"])

    def test_trainer_missing(self):
        path = self.file(trainer=QUICK)
        os.unlink(self.path("trainer"))
        done = self.ctl("run", path, code=6)
        self.assertIn("could not be started", done.stderr)

    def test_daemon_dies(self):
        path = self.file(SLOW % self.path("never"))
        p = self.begin(path)
        pid = wait_for(lambda: self.daemon_of(p.pid))
        # a Ctrl-C at the terminal must not reach it: dparetoctl tells it what to do
        self.assertNotEqual(os.getsid(pid), os.getsid(p.pid))
        self.assertEqual(os.stat(self.path("state/dparetod.log")).st_mode & 0o077, 0)
        for _ in range(5):  # each time there is another, which adopts the trainers
            trainers = trainers_below(self.folder)
            os.kill(pid, signal.SIGKILL)
            self.until(p, "killed by signal 9; it is started again")
            self.until(p, "is back")
            before, pid = pid, self.daemon_of(p.pid)
            self.assertNotEqual(pid, before)
            self.assertLessEqual(set(trainers), set(trainers_below(self.folder)))
        os.kill(pid, signal.SIGKILL)  # but not for ever
        self.assertEqual(p.wait(LIMIT), 1)
        self.assertIn("killed by signal 9", p.stderr.read())

    def test_goes_on_without_its_daemon(self):
        path = self.file(SLOW % self.path("go"), search="method: random, evaluations: 6, "
                         "parallel: 2")
        p = self.begin(path, "-o", "json")
        self.until(p, "s: running")
        os.kill(wait_for(lambda: self.daemon_of(p.pid)), signal.SIGKILL)
        self.until(p, "started again")
        self.touch("go")
        out, said = p.communicate(timeout=LIMIT)
        self.assertEqual((p.returncode, said.count(" ok in ")), (0, 6), said)
        calm = self.ctl("run", path, "--state", self.path("calm"), "-o", "json")
        self.assertEqual(out, calm.stdout)
        attempts = os.listdir(self.path("state/studies/s/trials/0"))
        self.assertEqual(attempts, ["0"])
        # one that was asked to stop is not started again
        os.unlink(self.path("go"))
        p = self.begin(self.file(SLOW % self.path("go"), name="t"))
        self.ctl("--socket", self.path("state/dparetod.sock"), "daemon", "stop")
        self.assertEqual(p.wait(LIMIT), 1)
        self.assertIn("exit status 0", p.stderr.read())

    def until(self, p, words):
        """Reads what it says up to these words."""
        while words not in (line := p.stderr.readline()):
            self.assertTrue(line, words)

    @staticmethod
    def daemon_of(pid):
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return int((f.read().split() or [0])[0])

    def test_long_state_path(self):
        path = self.file()
        done = self.ctl("run", path, "--state", self.path(120 * "d"), "-q")
        self.assertIn("is finished", done.stdout)

    def test_no_folder(self):
        path = self.file()
        self.ctl("run", path, code=2, env={"HOME": "", "XDG_STATE_HOME": ""})
        self.ctl("run", path, "--state", "/proc/x", code=5)


if __name__ == "__main__":
    unittest.main()
