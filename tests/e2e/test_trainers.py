"""test_trainers.py - how trainers end, what they are given, and what they may do to us.

The classes of ends are those of the trainer protocol; each is brought about by a real
trainer under the real daemon and shim."""
import json
import os
import signal
import unittest

from harness import Case, trainers_below, unhurried, wait_for

ONE = "method: random, evaluations: 1"


class TrainerCase(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, *options, **more):
        self.d = self.daemon(*options, **more).start()
        self.client = self.d.connect()
        return self.client

    def run_study(self, text="report(a=1, b=1)", search=ONE, options=(), env=None, **study):
        """Runs one study with this trainer to its end; returns its status."""
        self.trainer(text)
        self.begin(*options, env=env)
        self.submit(self.client, self.study(search=search, **study))
        return self.finish(self.client, "s")

    def trial(self, number=0, study="s"):
        return self.client("trial", study=study, trial=number)["trial"]

    def ends(self, number=0, study="s"):
        """How each attempt of the trial ended."""
        return [a["end"] for a in self.trial(number, study)["attempts"]]

    def attempt_file(self, name, attempt="0", trial=0, study="s"):
        return self.path("state/studies/%s/trials/%s/%s/%s" % (study, trial, attempt, name))

    def read(self, *args, **kw):
        with open(self.attempt_file(*args, **kw)) as f:
            return f.read()


class Ends(TrainerCase):
    """Every class of end."""

    def test_ok(self):
        status = self.run_study("report(a=0.25, b=1)")
        self.assertEqual(status["study"]["state"], "finished")
        trial = self.trial()
        self.assertEqual(trial["state"], "ok")
        self.assertEqual(trial["objectives"], {"a": 0.25, "b": 1})
        attempt = trial["attempts"][0]
        self.assertEqual((attempt["end"], attempt["exit_code"], attempt["signal"]),
                         ("ok", 0, None))
        self.assertGreater(attempt["cpu_seconds"], 0)
        self.assertGreater(attempt["peak_memory"], 1 << 20)

    def test_exit_code_is_not_retried(self):
        self.run_study("report(a=1, b=1)\nprint('the reason', file=sys.stderr)\nsys.exit(3)")
        trial = self.trial()
        self.assertEqual(trial["state"], "failed")
        self.assertEqual([(a["end"], a["exit_code"]) for a in trial["attempts"]],
                         [("exit-code", 3)])
        self.assertIn("exit code 3", trial["reason"])
        self.assertEqual(self.read("stderr"), "the reason\n")

    def test_signal_is_retried_three_times_with_the_same_seeds(self):
        status = self.run_study("os.kill(os.getpid(), signal.SIGSEGV)", extra_trainer=", runs: 2")
        trial = self.trial()
        self.assertEqual(trial["state"], "failed")
        self.assertEqual([(a["end"], a["signal"]) for a in trial["attempts"]],
                         [("signal", signal.SIGSEGV)] * 4)
        requests = [json.loads(self.read("request.json", str(i))) for i in range(4)]
        self.assertEqual([r.pop("attempt") for r in requests], [0, 1, 2, 3])
        self.assertEqual(requests, [requests[0]] * 4)
        self.assertEqual(status["study"]["ended"], 1)
        self.assertEqual(status["study"]["state"], "failed")

    def test_no_retries_on_request(self):
        self.run_study("os.kill(os.getpid(), signal.SIGKILL)", extra_trainer=", retries: 0")
        self.assertEqual(self.ends(), ["signal"])
        self.assertIn("memory", self.trial()["reason"])  # what KILL usually means

    def test_a_retry_can_succeed(self):
        status = self.run_study("if request['attempt'] == 0: os.kill(os.getpid(), 11)\n"
                                "report(a=1, b=1)")
        self.assertEqual(self.ends(), ["signal", "ok"])
        self.assertEqual(self.trial()["state"], "ok")
        self.assertEqual(status["study"]["failed"], 0)

    def test_timeout_by_term(self):
        self.run_study("signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
                       "report(a=1, b=1)\ntime.sleep(100)",
                       extra_trainer=", timeout: %gs, grace: 50s" % unhurried(0.5))
        self.assertEqual(self.ends(), ["timeout"])
        self.assertEqual(self.trial()["state"], "failed")
        self.assertEqual(json.loads(self.read("exit.json"))["code"], 0)

    def test_timeout_by_kill_for_one_that_ignores_term(self):
        self.run_study("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nnote('up')\n"
                       "time.sleep(100)",
                       extra_trainer=", timeout: %gs, grace: 100ms" % unhurried(1.5))
        self.assertEqual(self.notes(), ["up"])
        self.assertEqual(self.ends(), ["timeout"])
        self.assertEqual(json.loads(self.read("exit.json"))["signal"], signal.SIGKILL)

    def test_stalled(self):
        self.run_study("out({'progress': 0.5})\ntime.sleep(100)",
                       extra_trainer=", stall: 700ms, grace: 100ms")
        self.assertEqual(self.ends(), ["stalled"])

    def test_progress_keeps_a_trainer_from_stalling(self):
        stall = unhurried(1.2)
        self.run_study("for i in range(8):\n  out({'progress': i / 8})\n  time.sleep(%g)\n"
                       "report(a=1, b=1)" % (stall / 6), extra_trainer=", stall: %gs" % stall)
        self.assertEqual(self.ends(), ["ok"])

    def test_progress_is_shown(self):
        self.trainer("out({'progress': 0.4})\ngate('go')\nreport(a=1, b=1)")
        self.begin()
        self.submit(self.client, self.study(search=ONE))
        running = lambda: self.client("status", study="s")["running"]
        shown = wait_for(lambda: [r for r in running() if r["progress"] == 0.4])[0]
        self.assertEqual((shown["trial"], shown["attempt"], shown["run"]), (0, 0, None))
        self.assertEqual(list(shown["parameters"]), ["x"])
        self.touch("go")
        self.finish(self.client, "s")

    def test_cancelled(self):
        self.trainer("gate('go')")
        self.begin()
        self.submit(self.client, self.study(search=ONE, extra_trainer=", grace: 100ms"))
        wait_for(lambda: self.has("at-go"))
        self.client("cancel", study="s", trial=0)
        self.finish(self.client, "s")
        self.assertEqual(self.ends(), ["cancelled"])
        self.assertEqual(self.trial()["state"], "cancelled")


class NotStarted(TrainerCase):
    def test_pauses_at_once_and_goes_on_after_resume(self):
        self.begin()
        self.submit(self.client, self.study(search="method: random, evaluations: 3",
                                            trainer="./later"))
        status = self.finish(self.client, "s")
        self.assertEqual(status["study"]["state"], "paused")
        self.assertTrue(status["study"]["by_failures"])
        self.assertIn("ENOENT", status["study"]["reason"])
        self.assertIn("resume", status["study"]["reason"])
        self.assertEqual(self.ends(), ["not-started"])
        self.assertEqual(status["study"]["ended"], 0)  # nothing is used up
        self.trainer("report(a=1, b=1)", "later")
        self.client("resume", study="s")
        status = self.finish(self.client, "s")
        self.assertEqual((status["study"]["state"], status["study"]["ok"]), ("finished", 3))
        self.assertEqual(self.ends(), ["not-started", "ok"])

    def test_reasons(self):
        """Each way of not starting is told; none uses up a trial."""
        self.write("plain", "#!/bin/sh\n", 0o644)
        self.write("no-interpreter", "#!/nowhere/sh\n", 0o755)
        os.mkdir(self.path("folder"))
        self.trainer("", "good")
        cases = {"plain": ("./plain", "", "EACCES"), "dir": ("./folder", "", "EACCES"),
                 "interp": ("./no-interpreter", "", "ENOENT"),
                 "bare": ("no-such-trainer", "", "ENOENT"),
                 "cwd": ("./good", ", cwd: ./nowhere", "ENOENT")}
        self.begin("--slots", "4")
        for name, (command, extra, _) in cases.items():
            self.submit(self.client, self.study(name, command, extra, search=ONE))
        for name, (_, _, errno) in cases.items():
            with self.subTest(name):
                study = self.finish(self.client, name)["study"]
                self.assertEqual((study["state"], study["ended"]), ("paused", 0))
                self.assertIn(errno, study["reason"])

    def test_parallel_attempts_pause_once(self):
        self.begin("--slots", "4")
        self.submit(self.client, self.study(
            trainer="./none", search="method: random, evaluations: 9, parallel: 4"))
        status = self.finish(self.client, "s")
        self.assertEqual(status["study"]["state"], "paused")
        self.trainer("report(a=1, b=1)", "none")
        self.client("resume", study="s")
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 9)


class BadOutput(TrainerCase):
    """Each mistake in a result file is a classified failure with a sentence."""

    CASES = {
        "nothing": ("pass", "run 0 was asked but not reported"),
        "garbage": ("out('loss is 3\\n')", "line 1 of the result file: it is not JSON"),
        "binary": ("open(os.environ['DPARETO_RESULT'], 'wb').write(bytes(range(256)))",
                   "line 1"),
        "not_object": ("out('[1, 2]\\n')", "it must be a JSON object, not an array"),
        "no_form": ("out({'accuracy': 1})", "none of"),
        "two_forms": ("out({'progress': 0.1, 'done': True})", "more than one of"),
        "missing_run": ("out({'run': 1, 'metrics': {'a': 1, 'b': 1}})",
                        "run 0 was asked but not reported"),
        "missing_metric": ("report(a=1)", "no metric 'b' in run 0"),
        "wrong_type": ("report(a='0.5', b=1)", "metric 'a' of run 0 must be a number"),
        "bool_metric": ("report(a=True, b=1)", "must be a number, not true or false"),
        "list_metric": ("report(a=[1], b=1)", "must be a number, not an array"),
        "metrics_list": ("out({'run': 0, 'metrics': [1]})", "'metrics' must be an object"),
        "not_asked": ("out({'run': 2, 'metrics': {'a': 1, 'b': 1}})", "run 2 was not asked"),
        "negative_run": ("out({'run': -1, 'metrics': {'a': 1}})", "'run' must be the number"),
        "twice": ("report(a=1, b=1)\nreport(a=1, b=1)", "run 0 was reported before"),
        "duplicate_key": ("out('{\"run\":0,\"run\":0,\"metrics\":{}}\\n')", "not JSON"),
        "bad_name": ("report(**{'a': 1, 'b': 1, 'no good': 1})", "cannot name a metric"),
        "progress_high": ("out({'progress': 1.5})", "'progress' must be from 0 to 1"),
        "progress_low": ("out({'progress': -0.1})", "'progress' must be from 0 to 1"),
        "progress_text": ("out({'progress': '50%'})", "not a string"),
        "after_done": ("out({'done': True})\nreport(a=1, b=1)", "must be last"),
        "bad_declare": ("out({'declare': {'sampling': 'magic'}})", "'sampling' must be"),
        "declare_twice": ("out({'declare': {'lot': 1}})\nout({'declare': {'lot': 2}})",
                          "declared as 2, but before as 1"),
        "many_metrics": ("report(**{'m%d' % i: 1 for i in range(300)})", "more than 256"),
        "long_line": ("out('{\"progress\": 0.1' + ' ' * 10000000 + '}\\n')",
                      "longer than 65536 bytes"),
        "a_byte_too_long": ("out('{\"progress\": 0.1' + ' ' * (65537 - 17) + '}\\n')",
                            "longer than 65536 bytes"),
        "long_file": ("for i in range(270):\n  out('{\"progress\": 0.1' + ' ' * 64000 + '}\\n')",
                      "the result file is longer than 16777216 bytes"),
        "unterminated": ("out('{\"run\": 0, \"metr')", "not JSON"),
        "fifo": ("os.mkfifo(os.environ['DPARETO_RESULT'])", "cannot be read"),
        "endless": ("os.symlink('/dev/zero', os.environ['DPARETO_RESULT'])", "cannot be read: it is a link"),
        "folder": ("os.mkdir(os.environ['DPARETO_RESULT'])", "cannot be read"),
    }

    def test_every_mistake(self):
        self.begin("--slots", "4")
        for name, (text, _) in self.CASES.items():
            self.trainer(text, name)
            self.submit(self.client, self.study(name, "./" + name, ", runs: 2, retries: 0",
                                                search=ONE))
        for name, (_, sentence) in self.CASES.items():
            with self.subTest(name):
                status = self.finish(self.client, name)
                trial = self.trial(0, name)
                self.assertEqual(trial["state"], "failed")
                self.assertEqual(self.ends(0, name), ["bad-output"])
                self.assertIn(sentence, trial["reason"])
                self.assertEqual(status["failures"][0]["message"],
                                 trial["attempts"][0]["message"])

    def test_whole_files_in_unusual_shapes(self):
        """What is allowed although few write it."""
        cases = {
            "unterminated": "out('{\"run\": 0, \"metrics\": {\"a\": 1, \"b\": 1}}')",
            "blank_lines": "out('\\n  \\n')\nreport(a=1, b=1)\nout('\\r\\n')",
            "crlf": "out('{\"run\": 0, \"metrics\": {\"a\": 1, \"b\": 1}}\\r\\n')",
            "pieces": "for c in '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}\\n': out(c)",
            "unknown_field": "out({'run': 0, 'metrics': {'a': 1, 'b': 1}, 'note': 'x'})",
            "longest_line": "out('{\"progress\": 0.1' + ' ' * (65536 - 17) + '}\\n')\n"
                            "report(a=1, b=1)",
            "real_run": "out({'run': 0.0, 'metrics': {'a': 1, 'b': 1}})",
            "integer": "out('{\"run\": 0, \"metrics\": {\"a\": 1, \"b\": 1, \"n\": 1%s}}\\n'"
                       " % ('0' * 30))",
            "declare": "out({'declare': {'sampling': 'poisson', 'records': 100, 'lot': 10,"
                       " 'steps': 7, 'noise_over_clip': 4.0}})\n"
                       "out({'progress': 0})\nreport(a=1, b=1)\nout({'progress': 1})\n"
                       "out({'done': True})",
        }
        self.begin("--slots", "4")
        for name, text in cases.items():
            self.trainer(text, name)
            self.submit(self.client, self.study(name, "./" + name, search=ONE))
        for name in cases:
            with self.subTest(name):
                self.finish(self.client, name)
                self.assertEqual(self.ends(0, name), ["ok"])
                self.assertEqual(self.trial(0, name)["objectives"], {"a": 1, "b": 1})

    def test_metrics_beyond_the_objectives_are_kept(self):
        self.run_study("for run in request['runs']:\n"
                       "  out({'run': run['run'], 'metrics': {'a': run['run'], 'b': 1,"
                       " 'seconds': 0.1 + run['run'], 'gap': float('nan')}})",
                       extra_trainer=", runs: 2")
        trial = self.trial()
        self.assertEqual(trial["state"], "ok")  # a NaN that no objective uses is no harm
        self.assertEqual(trial["objectives"], {"a": 0.5, "b": 1})
        self.assertEqual([r["metrics"] for r in trial["runs"]],
                         [{"a": 0, "b": 1, "seconds": 0.1, "gap": "nan"},
                          {"a": 1, "b": 1, "seconds": 1.1, "gap": "nan"}])

    def test_diverged(self):
        cases = {"bare": "out('{\"run\":0,\"metrics\":{\"a\":NaN,\"b\":1}}\\n')",
                 "bare_inf": "report(a=float('-inf'), b=1)",
                 "inf_text": "report(a='inf', b=1)",
                 "nan_text": "report(a='nan', b=1)",
                 "none": "report(a=None, b=1)"}
        self.begin("--slots", "4")
        for name, text in cases.items():
            self.trainer(text, name)
            self.submit(self.client, self.study(name, "./" + name, search=ONE))
        for name in cases:
            with self.subTest(name):
                study = self.finish(self.client, name)["study"]
                trial = self.trial(0, name)
                self.assertEqual(trial["state"], "diverged")
                self.assertEqual(self.ends(0, name), ["diverged"])
                self.assertFalse(trial["on_front"])
                self.assertEqual((study["state"], study["diverged"], study["ended"]),
                                 ("failed", 1, 1))  # nothing came of it
                self.assertIn("all 1 diverged; trial 0: diverged: ", study["reason"])
                self.assertTrue(study["by_failures"])
                self.assertEqual(self.client("front", study=name)["front"], [])

    def test_one_diverged_run_is_enough(self):
        self.run_study("report(a=1, b=1) if params['x'] < 0 else [\n"
                       "  out({'run': r['run'], 'metrics': {'a': 1 if r['run'] else None, 'b': 1}})"
                       " for r in request['runs']]", extra_trainer=", runs: 3")
        self.assertEqual(self.trial()["state"], "diverged")

    def test_huge_but_finite_metrics_are_no_nan(self):
        """The mean of 1e308 and 1e308 is 1e308; 1 - 1e308 is finite too."""
        self.run_study("report(a=1e308, b=-1e308)", extra_trainer=", runs: 4")
        trial = self.trial()
        self.assertEqual((trial["state"], trial["objectives"]), ("ok", {"a": 1e308, "b": -1e308}))


class Behaviour(TrainerCase):
    """What trainers may do without harm to others."""

    def test_endless_output_is_capped(self):
        self.write("noisy", "#!/bin/sh\nhead -c 300000000 /dev/zero\n"
                   "head -c 3000000 /dev/zero >&2\n"
                   "echo '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> $DPARETO_RESULT\n", 0o755)
        self.begin()
        self.submit(self.client, self.study(trainer="./noisy", extra_trainer=", log_limit: 1M",
                                            search=ONE))
        self.finish(self.client, "s")
        self.assertEqual(self.ends(), ["ok"])
        record = json.loads(self.read("exit.json"))
        self.assertEqual((record["stdout_bytes"], record["stderr_bytes"]), (300000000, 3000000))
        for name in ("stdout", "stderr"):
            with open(self.attempt_file(name), "rb") as f:
                text = f.read()
            self.assertLess(len(text), (1 << 20) + 200)
            self.assertIn(b"dropped", text[1 << 20:])

    def test_a_line_of_ten_megabytes_on_stdout(self):
        self.run_study("print('x' * 10000000)\nreport(a=1, b=1)")
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual(os.path.getsize(self.attempt_file("stdout")), 10000001)

    def test_closes_its_files(self):
        self.run_study("os.closerange(0, 100)\ntime.sleep(0.2)\nreport(a=1, b=1)")
        self.assertEqual(self.ends(), ["ok"])

    def test_grandchildren_die_with_it(self):
        self.trainer("""
import subprocess
subprocess.Popen(["sleep", "301"])                           # in its group
subprocess.Popen(["sleep", "302"], start_new_session=True)   # in a session of its own
if os.fork() == 0:                                           # ignores TERM, twice removed
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(beside("deep"), "w").close()
        time.sleep(303)
    os._exit(0)
while not os.path.exists(beside("deep")):
    time.sleep(0.01)
note(os.getpid())
gate("go")
report(a=1, b=1)
""")
        self.begin()
        self.submit(self.client, self.study(search=ONE))
        wait_for(lambda: self.has("at-go"))
        self.assertEqual(len(trainers_below(self.folder)), 5)  # and the shim
        self.touch("go")
        self.finish(self.client, "s")
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual(trainers_below(self.folder), [])

    def test_a_stopped_trainer_can_be_cancelled(self):
        self.trainer("note(os.getpid())\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(100)")
        self.begin()
        self.submit(self.client, self.study(search=ONE, extra_trainer=", grace: 200ms"))
        wait_for(self.notes)
        self.client("stop", study="s", now=True)
        self.finish(self.client, "s")
        self.assertEqual(self.ends(), ["cancelled"])

    def test_removes_its_own_folder(self):
        self.run_study("import shutil\nreport(a=1, b=1)\n"
                       "if request['attempt'] == 0:\n"
                       "  shutil.rmtree(os.path.dirname(os.environ['DPARETO_RESULT']))")
        self.assertEqual(self.ends(), ["lost", "ok"])

    def test_failures_in_a_row_pause_the_study(self):
        status = self.run_study("sys.exit(1)", "method: random, evaluations: 8",
                                extra_trainer=", max_failures: 3")
        study = status["study"]
        self.assertEqual((study["state"], study["failed"], study["by_failures"]),
                         ("paused", 3, True))
        self.assertIn("3 trials failed in a row", study["reason"])
        self.client("resume", study="s")
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["failed"]), ("paused", 6))

    def test_first_failures_pause_the_study_early(self):
        """Three, whatever max_failures says; --failed tries them again, and it goes on."""
        self.trainer("import sys\nsys.stderr.write('no data')\n"
                     "sys.exit(7) if not os.path.exists(beside('mended')) else report(a=1, b=1)")
        self.begin()
        self.submit(self.client, self.study(search="method: random, evaluations: 8"))
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["failed"], study["by_failures"]),
                         ("paused", 3, True))
        for words in ("the first trials all failed", "exit code 7", "dparetoctl logs s 2",
                      "dparetoctl retry s --failed", "dparetoctl resume s"):
            self.assertIn(words, study["reason"])
        self.client("resume", study="s")  # three more
        self.assertEqual(self.finish(self.client, "s")["study"]["failed"], 6)
        self.touch("mended")
        answer = self.client("retry", study="s", failed=True)
        self.assertEqual((answer["trials"], answer["study"]["state"]),
                         ([0, 1, 2, 3, 4, 5], "running"))
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ok"]), ("finished", 8))

    def test_a_success_between_failures_keeps_it_running(self):
        status = self.run_study("report(a=1, b=1) if request['trial'] % 2 else sys.exit(1)",
                                "method: random, evaluations: 8",
                                extra_trainer=", max_failures: 2")
        study = status["study"]
        self.assertEqual((study["state"], study["failed"], study["ok"]), ("finished", 4, 4))

    def test_many_retries_show_ten_failures(self):
        """status tells the newest ten, however many attempts one trial has had."""
        self.trainer("gate('go')\nreport(a=1, b=1)")
        self.begin()
        self.submit(self.client, self.study(search=ONE, trainer="./absent"))
        for _ in range(12):
            self.assertEqual(self.finish(self.client, "s")["study"]["state"], "paused")
            self.client("resume", study="s")
        failures = self.finish(self.client, "s")["failures"]
        self.assertEqual([f["attempt"] for f in failures], list(range(12, 2, -1)))


class Declarations(TrainerCase):
    """What a trainer says of its sampler must fit the study's mechanism."""

    OBJECTIVES = ("epsilon: {privacy: {mechanism: dp-sgd, sampling: without-replacement, "
                  "records: 1000, lot: 100, steps: 50, noise_multiplier: 2, delta: 1e-5, "
                  "accountant: rdp}}\n  a: {metric: a}")

    def end_with(self, declared):
        self.trainer("report(a=1)\nout({'declare': %r})\n" % declared)
        client = self.daemon().start().connect()
        text = self.study(objectives=self.OBJECTIVES, search="method: random, evaluations: 1")
        self.submit(client, text.replace("{a: 2, b: 2}", "{epsilon: 10, a: 2}"))
        self.finish(client, "s")
        return client("trial", study="s", trial=0)["trial"]

    def test_fitting(self):
        trial = self.end_with({"sampling": "without-replacement", "records": 1000, "lot": 100,
                               "steps": 50, "noise_over_clip": 4.0})
        self.assertEqual(trial["state"], "ok")
        self.assertGreater(trial["objectives"]["epsilon"], 0)

    def test_contradicting(self):
        trial = self.end_with({"sampling": "poisson"})
        self.assertEqual((trial["state"], trial["attempts"][0]["end"]), ("failed", "bad-output"))
        self.assertIn("poisson", trial["reason"])

    def test_wrong_noise(self):
        trial = self.end_with({"noise_over_clip": 2.0})
        self.assertEqual(trial["attempts"][0]["end"], "bad-output")

    def test_shuffle_is_let_through_with_a_warning(self):
        trial = self.end_with({"sampling": "shuffle"})
        self.assertEqual(trial["state"], "ok")
        self.assertIn("shuffle", open(self.path("log")).read())


class Surroundings(TrainerCase):
    """What a trainer is given: environment, folder, command, request."""

    DUMP = """
note(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv,
                 "stdin": os.readlink("/proc/self/fd/0"), "group": os.getpgrp() == os.getpid(),
                 "fds": sorted(int(f) for f in os.listdir("/proc/self/fd"))}))
report(a=1, b=1)
"""

    def test_environment(self):
        self.run_study(self.DUMP, extra_trainer=", env: {FROM_STUDY: yes, REPLACED: new}", env={
            "NOTIFY_SOCKET": self.path("no-such"), "LISTEN_FDS": "1", "LISTEN_PID": "1",
            "LISTEN_FDNAMES": "x", "WATCHDOG_USEC": "1000000000", "WATCHDOG_PID": "1",
            "FROM_CALLER": "a b=c", "REPLACED": "old", "DPARETO_TRIAL": "77", "DPARETO_SLOT": "77",
            "DPARETO_REQUEST": "/nowhere"})
        seen = json.loads(self.notes()[0])
        env, attempt = seen["env"], os.path.realpath(self.attempt_file(""))
        for name in env:
            self.assertFalse(name.startswith(("NOTIFY_", "LISTEN_", "WATCHDOG_")), name)
        self.assertEqual((env["FROM_STUDY"], env["REPLACED"], env["FROM_CALLER"]),
                         ("yes", "new", "a b=c"))
        self.assertEqual({k: v for k, v in env.items() if k.startswith("DPARETO_S") or
                          k.startswith(("DPARETO_R", "DPARETO_A", "DPARETO_TRI"))}, {
            "DPARETO_REQUEST": attempt + "/request.json",
            "DPARETO_RESULT": attempt + "/result.jsonl", "DPARETO_STUDY": "s",
            "DPARETO_TRIAL": "0", "DPARETO_ATTEMPT": "0", "DPARETO_SLOT": "0",
            "DPARETO_STUDY_DIR": self.folder})
        self.assertEqual(env["OMP_NUM_THREADS"], os.environ.get("OMP_NUM_THREADS", "1"))
        self.assertEqual(seen["cwd"], attempt)
        self.assertEqual(seen["stdin"], "/dev/null")
        self.assertTrue(seen["group"])
        self.assertEqual(seen["fds"][:3], [0, 1, 2])
        self.assertEqual(len(seen["fds"]), 4)  # the fourth lists the folder

    def test_threads_and_folder_as_the_study_says(self):
        os.mkdir(self.path("work"))
        self.run_study(self.DUMP, extra_trainer=", cwd: work, env: {OMP_NUM_THREADS: 3}",
                       env={"OMP_NUM_THREADS": "2"})
        seen = json.loads(self.notes()[0])
        self.assertEqual(seen["env"]["OMP_NUM_THREADS"], "3")
        self.assertEqual(seen["cwd"], self.path("work"))

    def test_threads_as_the_caller_says(self):
        self.run_study(self.DUMP, env={"OMP_NUM_THREADS": "2"})
        self.assertEqual(json.loads(self.notes()[0])["env"]["OMP_NUM_THREADS"], "2")

    def test_arguments_reach_it_as_they_are(self):
        self.run_study(self.DUMP, trainer="./trainer, --flag, 'a b', '$HOME', '', \"q'\"")
        self.assertEqual(json.loads(self.notes()[0])["argv"][1:],
                         ["--flag", "a b", "$HOME", "", "q'"])

    def test_where_programs_are_found(self):
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("sub"))
        self.trainer("note('path')\nreport(a=1, b=1)", "bin/only-in-path")
        self.trainer("note('sub')\nreport(a=1, b=1)", "sub/mine")
        # beside dparetod wins over PATH
        self.write("bin/dpareto-train", "#!/bin/sh\nexit 9\n", 0o755)
        self.begin(env={"PATH": self.path("bin") + ":" + os.environ["PATH"]})
        self.submit(self.client, self.study("bare", "only-in-path", search=ONE))
        self.submit(self.client, self.study("relative", "sub/mine", search=ONE))
        self.submit(self.client, self.study("absolute", self.path("sub/mine"), search=ONE))
        self.submit(self.client,
                    "study: own\ntrainer: {command: [dpareto-train, svt]}\nparameters:\n"
                    "  C: {type: int, range: [1, 30]}\n  b: {type: float, range: [0.1, 10]}\n"
                    "objectives:\n  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
                    "  error: {metric: f1, of: '1 - f1'}\nanti_ideal: {epsilon: 9, error: 1}\n"
                    "search: {method: random, evaluations: 1}\n")
        for name in ("bare", "relative", "absolute", "own"):
            with self.subTest(name):
                self.finish(self.client, name)
                self.assertEqual(self.ends(0, name), ["ok"])
        self.assertEqual(sorted(self.notes()), ["path", "sub", "sub"])

    PARAMETERS = ("lot: {type: int, range: [64, 66], grid: 1}\n"
                  "  rate: {type: float, range: [0, 1]}\n"
                  "  kind: {type: categorical, values: [a, 2, 0.5, true]}\n"
                  "  fixed_int: {fixed: 7}\n  fixed_text: {fixed: relu}\n"
                  "  fixed_real: {fixed: 1.5}")

    def test_request(self):
        self.run_study(parameters=self.PARAMETERS, extra_trainer=", runs: 2",
                       search="method: grid, evaluations: 4, grid: 1")
        values = []
        for number in range(4):
            request = json.loads(self.read("request.json", trial=number))
            seeds = [run["seed"] for run in self.trial(number)["runs"]]
            values.append(request["parameters"].pop("kind"))
            self.assertEqual(request, {
                "version": 1, "study": "s", "trial": number, "attempt": 0,
                "parameters": {"lot": 65, "rate": 0.5, "fixed_int": 7, "fixed_text": "relu",
                               "fixed_real": 1.5},
                "runs": [{"run": i, "seed": seed} for i, seed in enumerate(seeds)]})
            self.assertIs(type(request["parameters"]["lot"]), int)
            self.assertIs(type(request["parameters"]["fixed_int"]), int)
            self.assertTrue(all(type(s) is int and 0 <= s < 1 << 53 for s in seeds))
        self.assertEqual([(type(v), v) for v in values],
                         [(str, "a"), (int, 2), (float, 0.5), (bool, True)])

    def test_seeds_are_the_same_in_both_modes_and_all_different(self):
        """A pure function of (study seed, trial, run)."""
        self.trainer("note(json.dumps([request['study'], request['trial'], request['runs']]))\n"
                     "report(a=1, b=1)")
        self.begin("--slots", "4")
        seeds = {}
        for name, extra in (("all", ""), ("one", ", runs_per_process: 1")):
            self.submit(self.client, self.study(
                name, extra_trainer=", runs: 3" + extra,
                search="method: random, evaluations: 2, parallel: 2"))
        for name in ("all", "one"):
            self.finish(self.client, name)
        for line in self.notes():
            name, trial, runs = json.loads(line)
            self.assertEqual(len(runs), 3 if name == "all" else 1)
            for run in runs:
                seeds.setdefault(name, {})[trial, run["run"]] = run["seed"]
        self.assertEqual(seeds["all"], seeds["one"])
        self.assertEqual(len(set(seeds["all"].values())), 6)

    def test_one_run_per_process(self):
        """A folder RUN-ATTEMPT each, never more processes than `parallel`, each run
        retried on its own, and the mean taken over all."""
        self.run_study("note('+')\ntime.sleep(%g)\nnote('-')\n"
                       "run = request['runs'][0]['run']\n"
                       "if run == 1 and request['attempt'] == 0: os.kill(os.getpid(), 9)\n"
                       "report(a=run, b=1)" % unhurried(0.2),
                       "method: random, evaluations: 2, parallel: 2",
                       extra_trainer=", runs: 4, runs_per_process: 1", options=("--slots", "8"))
        at_once = most = 0
        for line in self.notes():
            at_once += 1 if line == "+" else -1
            most = max(most, at_once)
        self.assertEqual(most, 2)
        for number in range(2):
            trial = self.trial(number)
            self.assertEqual((trial["state"], trial["objectives"]["a"]), ("ok", 1.5))
            self.assertEqual(sorted(os.listdir(self.attempt_file("", "", number))),
                             ["0-0", "1-0", "1-1", "2-0", "3-0"])
            self.assertEqual(sorted((a["run"], a["attempt"], a["end"])
                                    for a in trial["attempts"]),
                             [(0, 0, "ok"), (1, 0, "signal"), (1, 1, "ok"), (2, 0, "ok"),
                              (3, 0, "ok")])
            self.assertEqual(json.loads(self.read("request.json", "1-1", number))["attempt"], 1)

    def test_a_failed_run_ends_its_trial(self):
        self.run_study("sys.exit(1) if request['runs'][0]['run'] == 1 else report(a=1, b=1)",
                       extra_trainer=", runs: 4, runs_per_process: 1")
        self.assertEqual(self.ends(), ["ok", "exit-code"])
        self.assertEqual(self.trial()["state"], "failed")

    def test_retry_of_a_trial_with_a_diverged_run_ends_again(self):
        """One run diverged while another failed: asked again, the trial is diverged."""
        self.diverged_and_failed()
        self.client("retry", study="s", trial=0)
        study = self.finish(self.client, "s", 15)["study"]
        self.assertEqual((study["state"], study["ended"], study["diverged"]),
                         ("failed", 1, 1))

    def diverged_and_failed(self):
        self.trainer("gate('go%d' % request['runs'][0]['run'])\n"
                     "report(a=None, b=1) if request['runs'][0]['run'] else sys.exit(1)")
        self.begin("--slots", "2")
        self.submit(self.client, self.study(
            search="method: random, evaluations: 1, parallel: 2",
            extra_trainer=", runs: 2, runs_per_process: 1"))
        wait_for(lambda: self.has("at-go0") and self.has("at-go1"))
        self.touch("go1")
        self.touch("go0")
        self.finish(self.client, "s")
        self.assertEqual(self.trial()["state"], "failed")


if __name__ == "__main__":
    unittest.main()
