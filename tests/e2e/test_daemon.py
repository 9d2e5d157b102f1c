"""test_daemon.py - slots, studies, requests, signals, configuration, and refusals to
start: what dparetod promises beside surviving kill -9."""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

from harness import (BIN, Case, Client, Refused, asker, program, trainers_below, unhurried,
                     wait_for)

SHELL = ("#!/bin/sh\necho '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> \"$DPARETO_RESULT\"\n")
# waits at a gate of its own: go-STUDY-TRIAL
GATED = """
gate("go-%s-%d" % (request["study"], request["trial"]))
report(a=params["x"], b=1 - params["x"])
"""


class DaemonCase(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, *options, **more):
        self.d = self.daemon(*options, **more).start()
        self.client = self.d.connect()
        return self.client

    def add(self, name="s", evaluations=4, search="", **study):
        return self.submit(self.client, self.study(
            name, search="method: random, evaluations: %d%s" % (evaluations, search), **study))

    def summary(self, name="s"):
        return self.client("status", study=name)["study"]

    def states(self, name="s"):
        return [t["state"] for t in self.client("trials", study=name)["trials"]]

    def at(self, study, trial):
        """Waits until the trial stands at its gate."""
        wait_for(lambda: self.has("at-go-%s-%d" % (study, trial)))

    def open(self, study, *trials):
        for trial in trials:
            self.touch("go-%s-%d" % (study, trial))

    def refused(self, verb, **fields):
        """The error that this request gets."""
        with self.assertRaises(Refused) as caught:
            self.client(verb, **fields)
        error = caught.exception.error
        self.assertGreater(len(error["message"]), 10)
        return error

    def restart(self, *more, how=signal.SIGTERM):
        self.assertEqual((self.d.end(how), self.d.said), (0 if how == signal.SIGTERM else -how, ""))
        self.client = self.d.start(*more).connect()


class Slots(DaemonCase):
    def test_two_studies_share_fairly(self):
        self.trainer(GATED)
        self.begin("--slots", "2")
        self.add("one", search=", parallel: 2")
        self.at("one", 0)
        self.at("one", 1)
        self.add("two", search=", parallel: 2")
        wait_for(lambda: self.summary("two")["waiting"] == "all 2 slots are taken")
        # whoever ends, the free slot goes to the study that has fewer running
        for ended, starts in ((("one", 0), ("two", 0)), (("two", 0), ("two", 1)),
                              (("one", 1), ("one", 2)), (("one", 2), ("one", 3))):
            self.open(*ended)
            self.at(*starts)
            self.assertEqual([s["running"] for s in self.client("list")["studies"]], [1, 1])
        self.open("one", 3)
        self.open("two", 1, 2, 3)
        for name in ("one", "two"):
            self.assertEqual(self.finish(self.client, name)["study"]["ok"], 4)

    def test_higher_priority_goes_first(self):
        self.trainer("note(request['study'])\n" + GATED)
        self.begin("--slots", "1")
        self.add("low", 2)
        self.at("low", 0)
        self.add("middle", 1)
        self.add("high", 2, more="priority: 5\n")
        self.client("set", study="middle", priority=9)
        self.open("low", 0, 1)
        self.open("middle", 0)
        self.open("high", 0, 1)
        for name in ("low", "middle", "high"):
            self.finish(self.client, name)
        self.assertEqual(self.notes(), ["low", "middle", "high", "high", "low"])

    def most_at_once(self, prefix=""):
        now = most = 0
        for line in self.notes():
            if line[1:].startswith(prefix):
                now += 1 if line[0] == "+" else -1
                most = max(most, now)
        return most

    def test_parallel_and_slots_are_never_exceeded(self):
        self.trainer("note('+' + request['study'])\ntime.sleep(0.03)\n"
                     "note('-' + request['study'])\nreport(a=1, b=1)")
        self.begin("--slots", "3")
        self.add("two", 8, ", parallel: 2")
        self.add("one", 4, ", parallel: 1")
        self.add("many", 8, ", parallel: 9")
        for name in ("two", "one", "many"):
            self.assertEqual(self.finish(self.client, name)["study"]["ok"],
                             4 if name == "one" else 8)
        self.assertLessEqual(self.most_at_once(), 3)
        self.assertLessEqual(self.most_at_once("two"), 2)
        self.assertEqual(self.most_at_once("one"), 1)

    def test_twenty_studies_at_once(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--slots", "4")
        for i in range(20):
            self.add("tiny%d" % i, 3)
        for i in range(20):
            study = self.finish(self.client, "tiny%d" % i)["study"]
            self.assertEqual((study["state"], study["ok"], study["id"]), ("finished", 3, i + 1))
        hello = self.client("hello")
        self.assertEqual((hello["studies"], hello["busy"], hello["slots"]), (20, 0, 4))


class Steering(DaemonCase):
    def test_pause_and_resume(self):
        self.trainer(GATED)
        self.begin()
        self.add(evaluations=2)
        self.at("s", 0)
        self.assertEqual(self.client("pause", study="s")["study"]["state"], "paused")
        self.client("pause", study="s")  # again is no mistake
        self.open("s", 0, 1)
        status = self.finish(self.client, "s")
        self.assertEqual((status["study"]["ok"], status["study"]["reason"]),
                         (1, "paused by " + asker()))
        self.assertFalse(self.has("at-go-s-1"))
        self.assertFalse(status["study"]["by_failures"])
        self.client("resume", study="s")
        self.client("resume", study="s")
        self.assertEqual(self.finish(self.client, "s")["study"]["state"], "finished")
        self.assertIn("finished", self.refused("pause", study="s")["message"])
        self.assertIn("evaluations=N", self.refused("resume", study="s")["hint"])

    def test_stop_lets_trials_finish(self):
        self.trainer(GATED)
        self.begin()
        self.add()
        self.at("s", 0)
        self.assertEqual(self.client("stop", study="s")["study"]["state"], "stopped")
        self.open("s", 0, 1, 2, 3)
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 1)
        self.client("resume", study="s")  # a stopped study can go on
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 4)

    def test_stop_now_cancels(self):
        self.trainer(GATED)
        self.begin("--slots", "2")
        self.add(search=", parallel: 2", extra_trainer=", grace: 100ms")
        self.at("s", 0)
        self.at("s", 1)
        self.client("stop", study="s", now=True)
        self.assertEqual(self.finish(self.client, "s")["study"]["state"], "stopped")
        self.assertEqual(self.states(), ["cancelled", "cancelled"])
        self.assertEqual(trainers_below(self.folder), [])

    def test_set_more_evaluations_goes_on_with_the_same_numbering(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        self.add("whole", 5)
        self.add("grown", 2)
        self.finish(self.client, "whole")
        self.assertEqual(self.finish(self.client, "grown")["study"]["ok"], 2)
        self.client("set", study="grown", evaluations=5)
        study = self.finish(self.client, "grown")["study"]
        self.assertEqual((study["state"], study["evaluations"], study["ok"]), ("finished", 5, 5))
        points = [[(t["trial"], t["parameters"]) for t in
                   self.client("trials", study=name)["trials"]] for name in ("whole", "grown")]
        self.assertEqual(points[0], points[1])
        self.assertEqual([n for n, _ in points[0]], [0, 1, 2, 3, 4])

    def test_set_fewer_evaluations_ends_earlier(self):
        self.trainer(GATED)
        self.begin()
        self.add(evaluations=9)
        self.at("s", 0)
        self.client("set", study="s", evaluations=2)
        self.open("s", 0, 1, 2)
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ended"]), ("finished", 2))
        self.client("set", study="s", evaluations=1)  # below what is done: stays so
        study = self.summary()
        self.assertEqual((study["state"], study["ended"], study["evaluations"]),
                         ("finished", 2, 1))

    def test_set_parallel(self):
        self.trainer(GATED)
        self.begin("--slots", "3")
        self.add()
        self.at("s", 0)
        self.assertFalse(self.has("at-go-s-1"))
        self.client("set", study="s", parallel=3)
        self.at("s", 1)
        self.at("s", 2)
        self.client("set", study="s", parallel=1)  # nothing is killed
        self.open("s", 0)
        wait_for(lambda: self.summary()["ok"] == 1)
        self.assertEqual(self.summary()["running"], 2)
        self.open("s", 1, 2, 3)
        self.finish(self.client, "s")

    def test_set_refuses_nonsense(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        self.add()
        for fields in ({}, {"evaluations": 0}, {"parallel": 0}, {"parallel": 10 ** 9},
                       {"priority": 1.5}, {"evaluations": "8"}, {"priority": None}):
            with self.subTest(fields):
                self.refused("set", study="s", **fields)
        self.finish(self.client, "s")

    def test_cancel_and_retry_of_a_trial(self):
        self.trainer("if request['attempt'] == 0: gate('go')\nreport(a=1, b=1)")
        self.begin()
        self.add(evaluations=1, extra_trainer=", grace: 100ms")
        wait_for(lambda: self.has("at-go"))
        self.client("cancel", study="s", trial=0)
        study = self.finish(self.client, "s")["study"]
        self.assertEqual(self.states(), ["cancelled"])
        self.assertEqual((study["state"], study["failed"]), ("failed", 1))
        self.refused("cancel", study="s", trial=0)
        self.client("retry", study="s", trial=0)
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ok"], study["failed"]), ("finished", 1, 0))
        self.assertIn("is ok", self.refused("retry", study="s", trial=0)["message"])
        self.assertEqual(self.refused("retry", study="s", trial=1)["kind"], "not-found")
        self.restart()
        self.assertEqual(self.states(), ["ok"])

    def test_cancel_one_of_many(self):
        self.trainer(GATED)
        self.begin("--slots", "2")
        self.add(evaluations=3, search=", parallel: 2", extra_trainer=", grace: 100ms")
        self.at("s", 0)
        self.at("s", 1)
        self.client("cancel", study="s", trial=0)
        self.at("s", 2)
        self.open("s", 1, 2)
        self.finish(self.client, "s")
        self.assertEqual(self.states(), ["cancelled", "ok", "ok"])

    def test_delete(self):
        self.trainer(GATED)
        self.begin()
        self.add(evaluations=1, extra_trainer=", grace: 100ms")
        folder = self.summary()["directory"]
        self.at("s", 0)
        error = self.refused("delete", study="s")
        self.assertEqual(error["kind"], "busy")
        self.assertIn("--now", error["hint"])
        self.assertEqual(self.client("delete", study="s", now=True), {"deleted": "s"})
        self.assertEqual(self.client("list")["studies"], [])
        self.assertFalse(os.path.exists(folder))
        self.assertEqual(trainers_below(self.folder), [])
        self.open("s", 0)
        again = self.add(evaluations=1)  # the name is free, the number is not used again
        self.assertEqual(again["id"], 2)
        self.finish(self.client, "s")
        self.client("delete", study="s")
        self.restart()
        self.assertEqual(self.client("list")["studies"], [])
        self.assertEqual(os.listdir(self.path("state/studies")), [])

    def test_two_clients_delete_the_same_study(self):
        self.trainer(GATED)
        self.begin()
        self.add(evaluations=1, extra_trainer=", grace: 300ms")
        self.at("s", 0)
        clients = [self.client, self.d.connect()]
        for c in clients:
            c.socket.settimeout(10)
            c.file.write(b'{"v":1,"do":"delete","study":"s","now":true}\n')
            c.file.flush()
        replies = [json.loads(c.file.readline()) for c in clients]
        self.assertEqual(sorted("ok" in r for r in replies), [False, True])
        self.assertEqual([r["error"]["kind"] for r in replies if "error" in r], ["not-found"])

    def test_a_waiting_client_hears_of_the_deletion(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        self.add(evaluations=1)
        version = self.finish(self.client, "s")["study"]["version"]
        other = self.d.connect()
        other.file.write(json.dumps({"v": 1, "do": "changes", "study": "s", "since": version,
                                     "timeout_ms": 50000}).encode() + b"\n")
        other.file.flush()
        self.client("delete", study="s")
        self.assertEqual(json.loads(other.file.readline())["error"]["kind"], "not-found")

    def test_old_files_under_a_name_are_not_taken_for_results(self):
        """The journal was lost or thrown away, but the folders of attempts are there."""
        self.trainer("report(a=1, b=1)")
        self.begin()
        self.add(evaluations=1)
        self.finish(self.client, "s")
        self.assertEqual(self.d.end(), 0)
        shutil.rmtree(self.path("state/journal"))
        self.trainer("report(a=0.5, b=0.5)")
        self.client = self.d.start().connect()
        self.add(evaluations=1)
        self.finish(self.client, "s")
        self.assertEqual(self.client("trial", study="s", trial=0)["trial"]["objectives"],
                         {"a": 0.5, "b": 0.5})

    def test_selectors(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        for name in ("alpha-one", "alpha-two", "beta", "2"):
            self.add(name, 1)
        for selector, name in (("alpha-one", "alpha-one"), ("1", "alpha-one"), ("3", "beta"),
                               ("alpha-o", "alpha-one"), ("b", "beta"), ("2", "2")):
            with self.subTest(selector):
                self.assertEqual(self.summary(selector)["name"], name)
        error = self.refused("status", study="alpha")
        self.assertIn("alpha-one, alpha-two", error["message"])
        error = self.refused("status", study="alpha-oen")
        self.assertEqual((error["kind"], error["code"]), ("not-found", 5))
        self.assertIn("'alpha-one'", error["hint"])
        for selector in ("", "99", "../beta", "x" * 100000):
            self.assertEqual(self.refused("status", study=selector)["kind"], "not-found")
        for name in ("alpha-one", "alpha-two", "beta", "2"):
            self.finish(self.client, name)


class Submit(DaemonCase):
    def test_again_and_changed(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        text = self.study(search="method: random, evaluations: 1")
        fields = {"path": self.path("s.yaml"), "dir": self.folder}
        self.assertTrue(self.client("submit", text=text, **fields)["new"])
        self.assertFalse(self.client("submit", text=text, **fields)["new"])
        error = self.refused("submit", text=text.replace("seed: 7", "seed: 8"), **fields)
        self.assertEqual(error["kind"], "exists")
        self.assertIn("delete s", error["hint"])
        self.assertEqual(len(self.client("list")["studies"]), 1)
        self.finish(self.client, "s")

    def test_refused_texts(self):
        self.begin()
        good = self.study()
        cases = {
            "empty": ("", "invalid"), "no yaml": ("}{", "invalid"),
            "unknown key": (good + "sede: 1\n", "invalid"),
            "path in name": (good.replace("study: s", "study: ../../s"), "invalid"),
            "space in name": (good.replace("study: s", "study: a b"), "invalid"),
            "long name": (good.replace("study: s", "study: " + "s" * 300), "invalid"),
            "method": (good.replace("method: random", "method: clever"), "invalid"),
            "large": (good + "#" + "x" * (1 << 20) + "\n", None),
        }
        for name, (text, kind) in cases.items():
            with self.subTest(name):
                error = self.refused("submit", text=text, path="/x/s.yaml", dir=self.folder)
                if kind:
                    self.assertEqual(error["kind"], kind)
        self.assertIn("validate", self.refused("submit", text=cases["method"][0], path="s",
                                               dir="/")["hint"])
        self.assertEqual(self.refused("submit", text=good, dir="relative")["kind"], "protocol")
        self.assertEqual(self.client("list")["studies"], [])
        self.assertFalse(os.listdir(self.path("state/studies"))
                         if self.has("state/studies") else [])


class StrangeFiles(Case):
    """What a trainer leaves in its folder hangs nobody."""

    def tearDown(self):
        self.tidy()

    def test_what_is_no_plain_file(self):
        self.trainer("""
os.unlink(os.environ["DPARETO_RESULT"]) if os.path.exists(os.environ["DPARETO_RESULT"]) else None
kind = request["trial"] - 1  # the first one works: three failures would pause the study
folder = os.path.dirname(os.environ["DPARETO_RESULT"])
if kind == 0:
    for name in ("result.jsonl", "exit.json", "exit.json.tmp"):
        os.mkfifo(os.path.join(folder, name))
    os.unlink(os.path.join(folder, "stderr"))
    os.mkfifo(os.path.join(folder, "stderr"))
elif kind == 1:
    os.symlink("/dev/zero", os.environ["DPARETO_RESULT"])
elif kind == 2:
    os.mkdir(os.environ["DPARETO_RESULT"])
else:
    report(a=1, b=1)
""")
        client = self.daemon().start().connect()
        self.submit(client, self.study(search="method: random, evaluations: 4"))
        self.finish(client, "s")
        trials = client("trials", study="s")["trials"]
        self.assertEqual([t["state"] for t in trials], ["ok"] + ["failed"] * 3)
        for t, words in zip(trials[1:], ("not a plain file", "a link", "not a plain file")):
            self.assertIn("bad-output: its result file cannot be read: it is " + words, t["reason"])
        client.close()


class Stopping(DaemonCase):
    def running(self, *options, trainer=GATED, **study):
        self.trainer(trainer)
        self.begin(*options)
        self.add(evaluations=1, **study)
        self.at("s", 0)

    def attempts(self):
        return [a["end"] for a in self.client("trial", study="s", trial=0)["trial"]["attempts"]]

    def test_leave(self):
        self.running()
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.assertEqual(len(trainers_below(self.folder)), 2)  # shim and trainer go on
        self.assertFalse(os.path.exists(self.d.socket))
        self.client = self.d.start().connect()
        self.open("s", 0)
        self.finish(self.client, "s")
        self.assertEqual(self.attempts(), ["ok"])

    def test_finish(self):
        self.running("--stop-policy", "finish")
        self.d.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not os.path.exists(self.d.socket))
        self.assertEqual(self.summary()["running"], 1)  # who is connected stays connected
        self.open("s", 0)
        self.assertEqual(self.d.ends(), (0, ""))
        self.assertEqual(trainers_below(self.folder), [])
        self.client = self.d.start().connect()
        self.finish(self.client, "s")
        self.assertEqual(self.attempts(), ["ok"])

    def test_a_second_signal_does_not_wait(self):
        self.running("--stop-policy", "finish")
        self.d.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not os.path.exists(self.d.socket))
        self.assertEqual((self.d.end(signal.SIGINT), self.d.said), (0, ""))
        self.client = self.d.start().connect()
        self.open("s", 0)
        self.finish(self.client, "s")
        self.assertEqual(self.attempts(), ["ok"])

    def test_a_burst_of_signals_ends_it_cleanly(self):
        self.begin()
        while self.d.process.poll() is None:
            self.d.process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        self.assertEqual(self.d.ends(), (0, ""))

    def test_an_abort_stays_one(self):
        """A watchdog's SIGABRT is not explained away: the core dump is its purpose."""
        d = self.daemon().start(preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CORE, (0, 0)))
        d.connect().close()
        self.assertEqual((d.end(signal.SIGABRT), d.said), (-signal.SIGABRT, ""))

    def test_without_standard_files(self):
        """No file of its own gets the number that messages are written to."""
        d = self.daemon().start(preexec_fn=lambda: os.closerange(0, 3))
        d.connect().close()
        for fd in range(3):
            self.assertEqual(os.readlink("/proc/%d/fd/%d" % (d.process.pid, fd)), "/dev/null")

    def test_kill_uses_no_retry(self):
        self.running("--stop-policy", "kill", extra_trainer=", retries: 0, grace: 200ms")
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.assertEqual(trainers_below(self.folder), [])
        self.open("s", 0)
        self.client = self.d.start().connect()
        self.finish(self.client, "s")
        self.assertEqual(self.attempts(), ["cancelled", "ok"])
        self.assertEqual(self.states(), ["ok"])

    def test_kill_of_one_that_ignores_term(self):
        self.running("--stop-policy", "kill", extra_trainer=", grace: 100ms",
                     trainer="signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + GATED)
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.assertEqual(trainers_below(self.folder), [])

    def test_shutdown_request(self):
        self.running(extra_trainer=", grace: 100ms")
        error = self.refused("shutdown", policy="explode")
        self.assertIn("leave, finish or kill", error["message"])
        self.assertEqual(self.client("shutdown", policy="kill"), {"policy": "kill"})
        self.assertEqual(self.d.ends(), (0, ""))
        self.assertEqual(trainers_below(self.folder), [])

    def lifeline(self):
        ours, theirs = socket.socketpair()
        self.d = self.daemon("--control-fd", str(theirs.fileno()))
        self.d.start(pass_fds=[theirs.fileno()])
        theirs.close()
        self.client = Client.__new__(Client)
        self.client.socket, self.client.file = ours, ours.makefile("rwb")
        ours.settimeout(30)

    def test_control_fd_is_a_lifeline(self):
        self.trainer(GATED)
        self.lifeline()
        self.assertEqual(self.client("hello")["pid"], self.d.process.pid)
        self.add(evaluations=1, extra_trainer=", grace: 100ms")
        self.at("s", 0)
        self.client.close()
        self.assertEqual(self.d.ends(), (0, ""))
        self.assertEqual(trainers_below(self.folder), [])
        self.open("s", 0)
        self.lifeline()  # the next one goes on where this one stopped
        self.finish(self.client, "s")
        self.assertEqual(self.attempts(), ["cancelled", "ok"])
        self.client.close()
        self.assertEqual(self.d.ends(), (0, ""))


class Configuration(DaemonCase):
    def test_reload_by_signal_and_by_request(self):
        config = self.write("c.yaml", "slots: 1\nlog_level: warn\n")
        self.begin("--config", config)
        self.assertEqual(self.client("hello")["slots"], 1)
        self.write("c.yaml", "slots: 3\nlog_level: debug\nretention: 2d\nstop_policy: kill\n"
                   "max_clients: 7\ndisk_watermark: 1K\nsocket_group: root\n")
        self.d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: self.client("hello")["slots"] == 3)
        self.assertEqual(self.client("hello")["stop_policy"], "kill")
        self.assertIn("7 options changed", open(self.d.log).read())
        self.write("c.yaml", "slots: 4\nstop_policy: kill\n")
        reply = self.client("reload")
        self.assertEqual(sorted(reply["changed"]), ["disk_watermark", "log_level", "max_clients",
                                                    "retention", "slots", "socket_group"])
        self.assertEqual(self.client("hello")["slots"], 4)

    def test_log_level_changes(self):
        self.write("trainer", SHELL, 0o755)
        config = self.write("c.yaml", "log_level: error\n")
        self.begin("--config", config)
        self.add("quiet", 1)
        self.finish(self.client, "quiet")
        self.assertEqual(open(self.d.log).read(), "")
        self.write("c.yaml", "log_level: debug\n")
        self.client("reload")
        self.add("loud", 1)
        self.finish(self.client, "loud")
        log = open(self.d.log).read()
        self.assertRegex(log, r"(?m)^\S+T\S+Z debug loud/0: attempt 0 started")
        self.assertRegex(log, r"(?m)^\S+ info +loud/0: ok")

    def test_more_slots_start_more(self):
        self.trainer(GATED)
        config = self.write("c.yaml", "slots: 1\n")
        self.begin("--config", config)
        self.add(evaluations=3, search=", parallel: 3")
        self.at("s", 0)
        self.write("c.yaml", "slots: 2\n")
        self.client("reload")
        self.at("s", 1)
        self.assertFalse(self.has("at-go-s-2"))
        self.open("s", 0, 1, 2)
        self.finish(self.client, "s")

    def test_command_line_wins_over_the_file(self):
        config = self.write("c.yaml", "slots: 1\n")
        self.begin("--config", config, "--slots", "5")
        self.write("c.yaml", "slots: 2\n")
        self.assertEqual(self.client("reload")["changed"], [])
        self.assertEqual(self.client("hello")["slots"], 5)

    def test_a_bad_file_at_reload_changes_nothing(self):
        config = self.write("c.yaml", "slots: 2\n")
        self.begin("--config", config)
        for text in ("slots: 3\nlog_level: loud\n", "slots: -1\n", "slotz: 3\n", "[", "- a\n",
                     "slots: [1, 2]\n", "slots:\n", "\0\1\2"):
            with self.subTest(text):
                self.write("c.yaml", text)
                error = self.refused("reload")
                self.assertIn("c.yaml", error["message"])
                self.assertEqual(self.client("hello")["slots"], 2)
        os.remove(config)
        self.d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "not reloaded" in open(self.d.log).read())
        self.assertEqual(self.client("hello")["slots"], 2)

    def test_bad_file_at_start(self):
        config = self.write("c.yaml", "slots: 0\nslotz: 3\n")
        code, said = self.daemon("--config", config).start().ends()
        self.assertEqual(code, 1)
        self.assertIn("c.yaml:1:1: error: slots cannot be '0'", said)
        self.assertIn("c.yaml:2:1: error: unknown option 'slotz'; did you mean 'slots'?", said)
        code, said = self.daemon("--config", self.path("none.yaml")).start().ends()
        self.assertEqual(code, 5)
        self.assertIn("none.yaml", said)

    def test_bad_options(self):
        for options, code in ((["--slots", "many"], 2), (["--slots", "0"], 2), (["--nonsense"], 2),
                              (["study.yaml"], 2), (["--control-fd", "1"], 2),
                              (["--control-fd", "999"], 2), (["--retention", "soon"], 2),
                              (["--disk-watermark", "-1"], 2)):
            with self.subTest(options):
                d = self.daemon(*options).start()
                self.assertEqual(d.ends()[0], code)
                self.assertTrue(d.said.strip())
                self.assertNotIn("Sanitizer", d.said)

    def test_help_and_version(self):
        for option, words in (("--help", "--disk-watermark"), ("--version", "journal format")):
            p = subprocess.run([program("dparetod"), option], capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertIn(words, p.stdout)

    def test_every_program_says_its_version(self):
        number = self.ctl_version()
        for name in ("dparetod", "dpareto-shim", "dpareto-train", "dpareto-report", "dpareto-serve"):
            p = subprocess.run([program(name), "--version"], capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stderr), (0, ""), name)
            self.assertEqual(p.stdout.split()[:2], [name, number])

    def ctl_version(self):
        p = subprocess.run([program("dparetoctl"), "--version"], capture_output=True, text=True)
        return p.stdout.split()[1]

    def test_retention_removes_folders_and_keeps_numbers(self):
        self.trainer("report(a=1, b=1)\n")
        self.begin("--retention", "1ms")
        self.submit(self.client, self.study(search="method: random, evaluations: 2"))
        self.finish(self.client, "s")
        attempt = self.client("trial", study="s", trial=0)["trial"]["attempts"][0]
        wait_for(lambda: not os.path.exists(attempt["directory"]), 20)
        self.assertEqual(self.client("trial", study="s", trial=0)["trial"]["objectives"],
                         {"a": 1, "b": 1})
        wait_for(lambda: "by retention" in open(self.d.log).read())


class RefusalsToStart(DaemonCase):
    def refuses(self, d, code, *words):
        code_, said = d.start().ends()
        self.assertEqual(code_, code, said)
        self.assertTrue(said.startswith("dparetod: "), said)
        self.assertNotIn("Sanitizer", said)
        for word in words:
            self.assertIn(word, said)

    def test_second_daemon_on_one_state_folder(self):
        self.begin()
        other = self.daemon()
        other.socket = self.path("sock2")
        self.refuses(other, 1, "written by another process", str(self.d.process.pid))
        self.client("hello")  # the first one is unharmed

    def test_socket_of_another_daemon(self):
        self.begin()
        other = self.daemon()
        other.state = self.path("state2")
        self.refuses(other, 1, "another daemon listens", "hint:")
        self.assertEqual(Client(self.d.socket)("hello")["pid"], self.d.process.pid)

    def test_socket_of_a_daemon_that_was_just_killed(self):
        """A child of it that is between fork and exec holds the socket for a moment."""
        with socket.socket(socket.AF_UNIX) as held:
            held.bind(self.path("sock"))
            held.listen()
            d = self.daemon().start()
            held.accept()[0].close()  # it has probed once
        d.connect()("hello")

    def test_socket_with_a_full_backlog(self):
        with socket.socket(socket.AF_UNIX) as held, socket.socket(socket.AF_UNIX) as waits:
            held.bind(self.path("sock"))
            held.listen(0)
            waits.connect(self.path("sock"))
            self.refuses(self.daemon(), 1, "another daemon listens")

    def test_stale_socket_is_replaced(self):
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(self.path("sock"))
        stale.close()
        self.begin()

    def test_socket_path_that_is_another_file_is_left_alone(self):
        self.write("sock", "precious")
        self.refuses(self.daemon(), 1, "not a socket")
        with open(self.path("sock")) as f:
            self.assertEqual(f.read(), "precious")

    def test_too_long_socket_path(self):
        d = self.daemon()
        d.socket = self.path("s" * 108)
        self.refuses(d, 1, "107", "--socket")
        d.socket = self.path("s" * (107 - len(self.folder) - 1))  # the longest there is
        self.assertEqual(len(d.socket), 107)
        d.start().connect()("hello")

    def test_state_folder_that_cannot_be(self):
        self.write("file", "")
        d = self.daemon()
        d.state = self.path("file/state")
        self.refuses(d, 5, "state folder", "file")
        d.state = self.path("file")
        self.refuses(d, 1, "not a directory")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, setpriv")
    def test_state_folder_of_another_user(self):
        os.chmod(self.folder, 0o755)
        before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*before, program("dparetod"), "--version"],
                          capture_output=True).returncode:
            self.skipTest("another user cannot start dparetod where it lies")
        d = self.daemon()
        d.log = "/dev/null"
        d.start(before=before)
        self.assertEqual(d.ends()[0], 4)
        self.assertIn("Permission denied", d.said)

    def test_missing_shim(self):
        os.mkdir(self.path("bin"))
        shutil.copy(os.path.join(BIN, "dparetod"), self.path("bin/dparetod"))
        p = subprocess.run([self.path("bin/dparetod"), "--state", self.path("state")],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 5)
        self.assertIn("dpareto-shim", p.stderr)


class Results(DaemonCase):
    def brute_front(self, study, goals):
        """Numbers of the non-dominated ok trials, from their objectives alone."""
        trials = [t for t in self.client("trials", study=study)["trials"] if t["state"] == "ok"]
        points = [(t["trial"], [g * t["objectives"][k] for k, g in goals.items()])
                  for t in trials]
        return [n for n, y in points if not any(
            all(u <= v for u, v in zip(z, y)) and (z != y or m < n) for m, z in points if m != n)]

    def check_front(self, study, goals):
        front = self.client("front", study=study)["front"]
        self.assertEqual(sorted(p["trial"] for p in front), self.brute_front(study, goals))
        first, goal = next(iter(goals.items()))
        keys = [(goal * p["objectives"][first], p["trial"]) for p in front]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual({t["trial"] for t in self.client("trials", study=study)["trials"]
                          if t["on_front"]}, {p["trial"] for p in front})
        return front

    def test_same_seed_same_bytes(self):
        text = ("study: svt\nseed: 3\ndata: public\ntrainer: {command: [dpareto-train, svt], runs: 5%s}\n"
                "parameters:\n  C: {type: int, range: [1, 30]}\n"
                "  b: {type: float, range: [0.01, 100], scale: log}\nobjectives:\n"
                "  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
                "  error: {metric: f1, of: '1 - f1'}\nanti_ideal: {epsilon: 10, error: 1}\n"
                "search: {method: random, evaluations: 12, parallel: %d}\n")
        replies = []
        for extra, parallel, slots in (("", 1, 1), ("", 4, 4), (", runs_per_process: 1", 3, 2)):
            self.begin("--slots", str(slots))
            self.submit(self.client, text % (extra, parallel))
            self.finish(self.client, "svt")
            self.client.file.write(b'{"v":1,"do":"front","study":"svt"}\n')
            self.client.file.flush()
            replies.append(self.client.file.readline())
            self.check_front("svt", {"epsilon": 1, "error": 1})
            self.assertEqual((self.d.end(), self.d.said), (0, ""))
            shutil.rmtree(self.path("state"))
        self.assertEqual(replies[0], replies[1])
        self.assertEqual(replies[0], replies[2])
        self.assertGreater(len(json.loads(replies[0])["ok"]["front"]), 1)

    def test_restarts_need_no_more_memory(self):
        def anonymous():
            self.client("hello")
            with open("/proc/%d/status" % self.d.process.pid) as f:
                return int(next(x for x in f if x.startswith("RssAnon")).split()[1])

        with open(self.path("trainer"), "w") as f:
            f.write(SHELL)
        os.chmod(self.path("trainer"), 0o755)
        self.begin("--slots", "4")
        self.add(evaluations=60, search=", parallel: 4", trainer=self.path("trainer"))
        self.finish(self.client, "s")
        before, after = anonymous(), []
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGTERM):
            self.restart(how=how)
            after.append(anonymous())
        self.assertLess(max(after), 1.1 * before + 4096, (before, after))
        self.assertLess(max(after), 1.1 * min(after) + 4096, (before, after))

    def test_restart_shows_the_same(self):
        self.trainer("""
if params["x"] > 0.7: sys.exit(1)
report(a=None if params["x"] < 0.1 else params["x"], b=1 - params["x"], extra=7)
""")
        self.begin("--slots", "2")
        self.add("finished", 10, ", parallel: 2", extra_trainer=", runs: 2")
        self.add("paused", 10, extra_trainer=", max_failures: 1")
        self.add("unstarted", 3, trainer="./absent")
        self.add("stopped", 3)
        self.client("stop", study="stopped")
        self.client("set", study="stopped", priority=4, parallel=2, evaluations=8)
        names = ("finished", "paused", "unstarted", "stopped")
        for name in names:
            self.finish(self.client, name)

        def everything():
            shown = [self.client("list"), [self.client("status", study=n) for n in names],
                     [self.client("front", study=n) for n in names],
                     [self.client("trials", study=n, full=True) for n in names]]
            for s in shown[0]["studies"] + [status["study"] for status in shown[1]]:
                for key in ("hypervolume_denoised", "denoised_results", "denoised_current"):
                    s.pop(key)  # found anew when somebody looks
            return json.dumps(shown, indent=1)
        wait_for(lambda: all(self.client("status", study=n)["study"]["report"]
                             for n in names), 60)
        before = everything()
        self.assertIn('"diverged"', before)
        self.assertIn('"paused"', before)
        self.restart()
        self.assertEqual(before, everything())
        self.restart(how=signal.SIGKILL)
        self.assertEqual(before, everything())

    def test_constraints_keep_points_off_the_front(self):
        self.trainer("report(a=params['x'], b=1 - params['x'], seconds=100 * params['x'],"
                     " quality=1 if params['x'] > 0.2 else 0)")
        self.begin()
        self.add(evaluations=12, search=", parallel: 2",
                 more="constraints: {seconds: '<= 60', quality: '>= 0.5'}\n")
        self.finish(self.client, "s")
        xs = {t["trial"]: t["parameters"]["x"] for t in
              self.client("trials", study="s")["trials"]}
        front = {p["trial"] for p in self.client("front", study="s")["front"]}
        self.assertEqual(front, {n for n, x in xs.items() if 0.2 < x <= 0.6})
        self.assertTrue(0 < len(front) < 12)

    def test_a_constraint_on_a_metric_that_is_not_reported(self):
        self.trainer("report(a=1, b=1, **({'seconds': 1} if request['trial'] else {}))")
        self.begin()
        self.add(evaluations=2, more="constraints: {seconds: '<= 60'}\n")
        self.finish(self.client, "s")
        self.assertEqual([p["trial"] for p in self.client("front", study="s")["front"]], [1])

    def test_maximize_and_three_objectives(self):
        self.trainer("x, y = params['x'], params['y']\n"
                     "report(a=x, c=round(4 * y) / 4, b=x * (1 - y))")
        self.begin("--slots", "2")
        self.submit(self.client,
                    "study: three\nseed: 2\ndata: public\ntrainer: {command: [./trainer]}\n"
                    "parameters:\n"
                    "  x: {type: float, range: [0, 1]}\n  y: {type: float, range: [0, 1]}\n"
                    "objectives:\n  a: {metric: a, goal: maximize}\n  b: {metric: b}\n"
                    "  c: {metric: c, of: '1 - c', goal: maximize}\n"
                    "anti_ideal: {a: 0, b: 1, c: 0}\n"
                    "search: {method: random, evaluations: 24, parallel: 2}\n")
        self.finish(self.client, "three")
        front = self.check_front("three", {"a": -1, "b": 1, "c": -1})
        self.assertTrue(1 < len(front) < 24)
        self.assertEqual(list(front[0]["objectives"]), ["a", "b", "c"])

    def test_of_equal_points_the_first_is_shown(self):
        self.trainer("report(a=request['trial'] // 2, b=5 - request['trial'] // 2)")
        self.begin()
        self.add(evaluations=6)
        self.finish(self.client, "s")
        self.assertEqual([p["trial"] for p in self.client("front", study="s")["front"]],
                         [0, 2, 4])

    def test_infinite_epsilon_is_shown_and_harmless(self):
        self.trainer("report(f1=0.5)")
        self.begin()
        self.submit(self.client,
                    "study: inf\ntrainer: {command: [./trainer]}\nparameters:\n"
                    "  C: {fixed: 3}\n  b: {type: float, range: [1e-310, 1], grid: 2}\n"
                    "objectives:\n  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
                    "  error: {metric: f1, of: '1 - f1'}\nanti_ideal: {epsilon: 9, error: 1}\n"
                    "search: {method: grid}\n")
        study = self.finish(self.client, "inf")["study"]
        self.assertEqual((study["state"], study["ended"]), ("finished", 2))
        self.assertEqual([p["trial"] for p in self.client("front", study="inf")["front"]], [1])

    def test_grid_order_and_end(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--slots", "2")
        self.submit(self.client, self.study(
            "g", parameters="x: {type: float, range: [0, 1], grid: 3}\n"
            "  k: {type: categorical, values: [p, q]}", search="method: grid, parallel: 2"))
        study = self.finish(self.client, "g")["study"]
        self.assertEqual((study["state"], study["ok"], study["reason"]), ("finished", 6, None))
        points = [tuple(t["parameters"].values())
                  for t in self.client("trials", study="g")["trials"]]
        self.assertEqual(points, [(0, "p"), (0, "q"), (0.5, "p"), (0.5, "q"), (1, "p"),
                                  (1, "q")])
        self.client("set", study="g", evaluations=9)
        study = self.finish(self.client, "g")["study"]
        self.assertEqual((study["state"], study["ended"]), ("finished", 6))
        self.assertIn("only 6 points", study["reason"])

    def test_max_time(self):
        self.trainer("time.sleep(0.05)\nreport(a=1, b=1)")
        self.begin()
        self.add(evaluations=100000, search=", max_time: %gs" % unhurried(1.5))
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["reason"]),
                         ("finished", "search.max_time was over"))
        self.assertTrue(0 < study["ok"] < 1000)

    def test_max_time_while_a_retry_is_due(self):
        """The attempt that failed is not tried again, and the study still ends."""
        self.trainer("report(a=1, b=1) if request['trial'] == 0 else os.kill(os.getpid(), 9)")
        self.begin()
        self.add(evaluations=2, search=", max_time: 2s", extra_trainer=", retries: 9")
        study = self.finish(self.client, "s", 20)["study"]
        self.assertEqual((study["state"], study["ok"]), ("finished", 1))
        self.assertEqual(self.states(), ["ok", "cancelled"])

    def test_pages_of_trials(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--slots", "4")
        self.add(evaluations=30, search=", parallel: 4")
        self.finish(self.client, "s")
        seen, at = [], 0
        while at is not None:
            page = self.client("trials", study="s", limit=7, **{"from": at})
            self.assertLessEqual(len(page["trials"]), 7)
            seen += [t["trial"] for t in page["trials"]]
            at = page["next"]
        self.assertEqual(seen, list(range(30)))
        self.assertEqual(self.client("trials", study="s", state="failed")["trials"], [])


if __name__ == "__main__":
    unittest.main()
