"""test_oracles.py - oracle programs: privacy objectives that another program answers for. What
they can do wrong, and that nothing is lost by it."""
import json
import math
import os
import shutil
import signal
import subprocess
import unittest

from harness import LIMIT, TOP, Case, Refused, asker, wait_for

# Answers 1 / (1 + x) * n; what it does wrong is in a file of its study's name, read when it
# starts, so that a test can mend it.
ORACLE = """#!/usr/bin/env -S python3 -S -E
import json, os, sys, time
study = os.environ["DPARETO_STUDY"]
def note(what):
    with open("asked-" + study, "a") as f:
        f.write(what + "\\n")
def mode():
    try:
        return open("mode-" + study).read()
    except OSError:
        return ""
def say(**fields):
    print(json.dumps(fields), flush=True)
wrong = mode()
note("start %d" % os.getpid())
count = 0
for line in sys.stdin:
    q = json.loads(line)
    note(json.dumps(q["parameters"]))
    p = q["parameters"]
    right = p.get("n", 1) / (1 + p["x"])
    count += 1
    if wrong == "crash":
        print("no such accountant", file=sys.stderr)
        sys.exit(3)
    elif wrong == "crashes":
        if count % 4 == 3:
            os.kill(os.getpid(), 9)
        say(id=q["id"], epsilon=right)
        if count % 4 == 1:
            sys.exit(0)
    elif wrong == "hang":
        time.sleep(1000)
    elif wrong == "gate" and count == 7:
        open("at-gate", "w").close()
        while not os.path.exists("gate"):
            time.sleep(0.01)
        say(id=q["id"], epsilon=right)
    elif wrong == "slow":
        if count == 1:
            time.sleep(0.3)
        say(id=q["id"], epsilon=right)
    elif wrong == "garbage":
        print("epsilon is about 3", flush=True)
    elif wrong == "id":
        say(id=q["id"] + 1, epsilon=right)
    elif wrong == "nan":
        say(id=q["id"], epsilon="nan")
    elif wrong == "bare":
        say(id=q["id"], epsilon=float("nan"))
    elif wrong == "negative":
        say(id=q["id"], epsilon=-0.5)
    elif wrong == "missing":
        say(id=q["id"], eps=right)
    elif wrong == "impure":
        say(id=q["id"], epsilon=right + count)
    elif wrong == "twice":
        os.write(1, 2 * (json.dumps({"id": q["id"], "epsilon": right}) + "\\n").encode())
    elif wrong == "huge":
        print("9" * 200000, flush=True)
    elif wrong == "refuse":
        say(id=q["id"], error="x must not be %g" % p["x"])
    else:
        say(id=q["id"], epsilon=right)
"""

# What each fault is called in the reason of the pause.
FAULTS = {
    "crash": r"ended 3 times without an answer \(exit code 3; its last line on stderr: "
             r"no such accountant\)",
    "hang": r"gave no answer within 1 s and was ended",
    "garbage": r"no JSON object: 'epsilon is about 3'",
    "id": r"answered with id 2 to question 1\b",
    "nan": r"epsilon nan, which no accountant can mean",
    "bare": r"no JSON object",
    "negative": r"epsilon -0\.5, which no accountant can mean",
    "missing": r"neither an epsilon nor an error",
    "impure": r"two answers for one point.* pure function of the parameters",
    "twice": r"answered more than it was asked",
    "huge": r"a line of more than 65536 bytes",
    "gone": r"without an answer .*/no-such-oracle does not exist",
}

TRAINER = """#!/bin/sh
if [ -e "$DPARETO_STUDY_DIR/wait-$DPARETO_STUDY" ]; then
    : > "$DPARETO_STUDY_DIR/waits"
    while [ ! -e "$DPARETO_STUDY_DIR/go" ]; do sleep 0.02; done
fi
sed -n 's/.*"path":{[^}]*"values":\\[\\([^]]*\\)\\].*/\\1/p' "$DPARETO_REQUEST" | tr , '\\n' |
while read -r at; do
    [ -z "$at" ] || echo '{"run":0,"at":'$at',"metrics":{"b":0.5}}'
done >> "$DPARETO_RESULT"
echo '{"run":0,"metrics":{"b":0.'$(($DPARETO_TRIAL * 7919 % 97 + 100))'}}' >> "$DPARETO_RESULT"
"""
DPARETO = "method: dpareto, evaluations: 7, initial: 4, order: deterministic"


class Oracles(Case):
    def setUp(self):
        super().setUp()
        self.write("oracle", ORACLE, 0o755)
        self.write("trainer", TRAINER, 0o755)
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()
        wait_for(lambda: not self.programs(), 20)

    def start(self, name, wrong="", command="./oracle", search="method: random, evaluations: 1",
              extra="", parameters="x: {type: float, range: [0, 1]}"):
        self.write("mode-" + name, wrong)
        return self.submit(self.client, self.study(
            name=name, search=search, parameters=parameters, extra_trainer=extra,
            objectives="a: {privacy: {command: [%s], delta: 1e-5}}\n  b: {metric: b}" % command),
            name + ".yaml")

    def programs(self, study=None):
        """The processes of oracle programs, without their shims."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    words = f.read().split(b"\0")
                with open("/proc/%s/environ" % pid, "rb") as f:
                    env = f.read()
            except OSError:
                continue
            if (self.path("oracle").encode() in words and b"--oracle" not in words and
                    (study is None or b"DPARETO_STUDY=%s\0" % study.encode() in env)):
                found.append(int(pid))
        return found

    def asked(self, study):
        if not self.has("asked-" + study):
            return []
        with open(self.path("asked-" + study)) as f:
            return f.read().splitlines()

    def rows(self, study):
        return [(t["parameters"], t["at"], t["objectives"]) for t in
                self.client.every("trials", study=study)]

    def restart(self):
        self.assertEqual(self.d.end(signal.SIGKILL), -signal.SIGKILL)
        self.d.start()
        self.client = self.d.connect()

    def test_each_fault_is_a_sentence_and_nothing_is_lost(self):
        for fault in FAULTS:
            self.start(fault, fault, extra=", timeout: 1" if fault == "hang" else "",
                       command="./no-such-oracle" if fault == "gone" else "./oracle")
        for fault, sentence in FAULTS.items():
            status = self.finish(self.client, fault)["study"]
            self.assertEqual(status["state"], "paused", (fault, status))
            self.assertEqual(self.rows(fault), [])
            reason = status["reason"]
            self.assertRegex(reason, sentence)
            self.assertRegex(reason, r"^objective 'a': the oracle program '.*/(no-such-)?oracle' ")
            self.assertTrue(reason.endswith("; mend it and resume the study"), reason)
        self.assertEqual(sum(line.startswith("start") for line in self.asked("crash")), 3)
        os.symlink("oracle", self.path("no-such-oracle"))
        for fault in FAULTS:
            self.write("mode-" + fault, "")
            self.client("resume", study=fault)
        for fault in FAULTS:
            self.assertEqual(self.finish(self.client, fault)["study"]["state"], "finished")
            (parameters, at, objectives), = self.rows(fault)
            self.assertEqual(objectives["a"], 1 / (1 + parameters["x"]))

    def test_a_point_that_is_refused_fails_alone(self):
        self.start("s", "refuse", search="method: random, evaluations: 2")
        status = self.finish(self.client, "s")["study"]
        self.assertEqual((status["state"], status["failed"]), ("failed", 2))
        trial = self.client("trial", study="s", trial=0)
        self.assertRegex(str(trial), "x must not be")

    def test_enqueue_tells_what_is_wrong(self):
        self.start("s", search="method: random, evaluations: 3")
        self.finish(self.client, "s")
        self.start("t", search="method: random, evaluations: 2")
        self.client("pause", study="t")
        wait_for(lambda: not self.programs("t"))
        self.write("mode-t", "negative")
        with self.assertRaisesRegex(Refused, "epsilon -0.5, which no accountant can mean") as e:
            self.client("enqueue", study="t", parameters={"x": 0.25})
        self.assertEqual(e.exception.error["kind"], "oracle")
        with self.assertRaisesRegex(Refused, "epsilon -0.5, which no accountant can mean"):
            self.client("propose", study="t")
        self.assertEqual(self.client("status", study="t")["study"]["reason"],
                         "paused by " + asker())
        wait_for(lambda: not self.programs("t"))
        self.write("mode-t", "")
        ok = self.client("enqueue", study="t", parameters={"x": 0.25})
        self.assertEqual(ok["trial"]["parameters"], {"x": 0.25})
        self.client("resume", study="t")
        self.finish(self.client, "t")

    def test_crashes_and_a_killed_daemon_change_no_bit(self):
        self.start("calm", search=DPARETO)
        self.start("crashes", "crashes", search=DPARETO)
        self.start("gate", "gate", search=DPARETO)
        wait_for(lambda: self.has("at-gate"))
        self.assertEqual(len(self.programs("gate")), 1)
        asking = self.programs("gate")
        self.restart()  # while the program computes
        wait_for(lambda: not set(asking) & set(self.programs()), 20)
        self.touch("gate")
        for name in ("calm", "crashes", "gate"):
            status = self.finish(self.client, name)["study"]
            self.assertEqual((status["state"], status["ended"]), ("finished", 7), status)
        self.assertEqual(self.rows("crashes"), self.rows("calm"))
        self.assertEqual(self.rows("gate"), self.rows("calm"))
        for parameters, _, objectives in self.rows("calm"):
            self.assertEqual(objectives["a"], 1 / (1 + parameters["x"]))
        starts = [line for line in self.asked("crashes") if line.startswith("start")]
        self.assertGreater(len(starts), 3)

    def test_waypoints_have_the_programs_epsilon_and_wait_for_it(self):
        self.touch("wait-s")
        self.start("s", "slow", extra=", path: {parameter: n, points: 4}",
                   parameters="x: {type: float, range: [0, 1]}\n  n: {type: int, range: [20, 32]}")
        wait_for(lambda: self.has("waits"))
        # at every waypoint it was asked before anything was trained
        asked = {line for line in self.asked("s") if not line.startswith("start")}
        self.assertGreaterEqual(len(asked), 3)
        self.write("mode-s", "crash")
        self.restart()  # what it answered is forgotten
        self.touch("go")
        status = wait_for(lambda: [s for s in [self.client("status", study="s")["study"]]
                                   if s["state"] == "paused"])[0]
        self.assertRegex(status["reason"], FAULTS["crash"])
        self.assertEqual((status["running"], status["ended"]), (1, 0))
        self.write("mode-s", "")
        self.client("resume", study="s")
        self.assertEqual(self.finish(self.client, "s")["study"]["state"], "finished")
        rows = self.rows("s")
        self.assertGreater(len(rows), 2)
        for parameters, _, objectives in rows:
            self.assertEqual(objectives["a"], parameters["n"] / (1 + parameters["x"]))
        attempts = self.client("trial", study="s", trial=0)["trial"]["attempts"]
        self.assertEqual(len(attempts), 1)

    def test_a_trial_that_is_cancelled_waits_for_no_program(self):
        self.touch("wait-s")
        self.start("s", extra=", path: {parameter: n, points: 4}",
                   parameters="x: {type: float, range: [0, 1]}\n  n: {type: int, range: [20, 32]}")
        wait_for(lambda: self.has("waits"))
        self.write("mode-s", "crash")
        self.restart()
        self.touch("go")
        wait_for(lambda: self.client("status", study="s")["study"]["state"] == "paused")
        self.client("delete", study="s", now=True)
        self.assertEqual(self.client("list")["studies"], [])

    def test_one_program_a_study_while_it_is_needed(self):
        self.touch("wait-s")
        self.start("s", search="method: random, evaluations: 4, parallel: 2")
        wait_for(lambda: self.has("waits"))
        self.assertEqual(len(self.programs("s")), 1)
        self.assertEqual(self.client("status", study="s")["study"]["programs"],
                         {"a": self.path("oracle")})
        self.assertIn("a is the answer of " + self.path("oracle"),
                      self.ctl("--socket", self.d.socket, "status", "s").stdout)
        self.client("pause", study="s")
        wait_for(lambda: not self.programs("s"), 20)
        self.client("resume", study="s")
        self.touch("go")
        self.finish(self.client, "s")
        wait_for(lambda: not self.programs("s"), 20)
        self.start("hang", "hang")
        wait_for(lambda: len(self.asked("hang")) > 1)
        self.client("pause", study="hang")  # a minute before its limit
        wait_for(lambda: not self.programs("hang"), 20)
        self.client("resume", study="hang")
        wait_for(lambda: self.programs("hang"))
        # tearDown: nor does the daemon wait for it, and leaves nothing


class Examples(Case):
    """Those of docs/oracles.md."""

    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(TOP, "examples/oracles"), self.path("o"))
        subprocess.run(["cc", "-o", self.path("o/laplace"), self.path("o/laplace.c"), "-lm"],
                       check=True)

    def answers(self, *command, questions):
        lines = "".join(json.dumps({"id": i, "parameters": p, "delta": 1e-5}) + "\n"
                        for i, p in enumerate(questions))
        p = subprocess.run(command, input=lines, capture_output=True, text=True, check=True,
                           cwd=self.path("o"), timeout=LIMIT)
        found = [json.loads(line) for line in p.stdout.splitlines()]
        self.assertEqual([a["id"] for a in found], list(range(len(questions))))
        return found

    def test_they_are_upper_bounds(self):
        sigmas = (0.3, 1, 7.5, 40)
        ours = self.ctl("epsilon", "--batch", input="".join(
            json.dumps({"mechanism": "gaussian", "sigma": s, "delta": 1e-5}) + "\n"
            for s in sigmas)).stdout.splitlines()
        theirs = self.answers("python3", "gaussian.py", questions=[
            {"sigma": 3 * s, "steps": 9} for s in sigmas] + [{"sigma": 0, "steps": 1}])
        for one, two in zip(ours, theirs):
            exact = json.loads(one)["epsilon"]
            self.assertGreaterEqual(two["epsilon"], exact * (1 - 1e-12))
            self.assertLess(two["epsilon"], exact * (1 + 1e-8))
        self.assertIn("error", theirs[-1])
        few, many, none = self.answers("./laplace", questions=[
            {"queries": 2, "scale": 4}, {"queries": 400, "scale": 100}, {"queries": 0}])
        self.assertAlmostEqual(few["epsilon"], 0.5, 9)
        self.assertAlmostEqual(many["epsilon"], (800 * math.log(1e5)) ** 0.5 / 100
                               + 4 * math.expm1(0.01), 9)
        self.assertIn("error", none)

    def test_their_studies_run(self):
        for name in ("gaussian", "laplace"):
            with open(self.path("o/%s.yaml" % name)) as f:
                text = f.read().replace("evaluations: 12", "evaluations: 3")
            path = self.write("o/short.yaml", text.replace("initial: 6", "initial: 2"))
            p = self.ctl("run", path, "--state", self.path("state-" + name), "-o", "json")
            self.assertEqual(p.returncode, 0, p.stderr)
            result = json.loads(p.stdout)
            self.assertEqual((result["state"], result["evaluations"], result["failed"]),
                             ("finished", 3, 0))
            p = self.ctl("validate", path)
            self.assertNotIn("warning", p.stdout)
        os.unlink(self.path("o/laplace"))
        p = self.ctl("validate", path)
        self.assertEqual(p.returncode, 0)
        self.assertRegex(p.stdout, "warning: .*/o/laplace does not exist")


if __name__ == "__main__":
    unittest.main()
