#!/usr/bin/env python3
"""status.py - how fast `status` answers over 50 connections while two niced trainers
keep both cores busy and models are being fitted all the time.

  bench/status.py BIN BENCH [SECONDS]"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
os.environ["DPARETO_BIN"] = sys.argv[1]
import harness  # noqa: E402

BENCH = os.path.abspath(sys.argv[2])
SECONDS = sys.argv[3] if len(sys.argv) > 3 else "10"
BUSY = """study: busy
data: public
trainer: {command: [/usr/bin/nice, "-n19", /bin/sh, "-c", "while :; do :; done"], grace: 0}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 1, b: 1}
search: {method: random, evaluations: 2, parallel: 2}
"""
DONE = """study: done
data: public
trainer: {command: [dpareto-train, svt], runs: 10}
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1", transform: logit}
anti_ideal: {epsilon: 10, error: 1}
search: {method: dpareto, evaluations: 200, parallel: 2}
"""

folder = tempfile.mkdtemp(prefix="dpareto-bench-")
d = harness.Daemon(folder, "--slots", "2", "--log-level", "warn").start()
client = d.connect()
client("submit", text=DONE, path="/done.yaml", dir="/")
version = 0
while client("status", study="done")["study"]["state"] == "running":
    version = client("changes", study="done", since=version, timeout_ms=1000)["study"]["version"]
client("submit", text=BUSY, path="/busy.yaml", dir="/")
harness.wait_for(lambda: client("status", study="busy")["study"]["running"] == 2)
proposals, going = 0, True


def keep_fitting():
    global proposals
    mine = d.connect()
    while going:
        mine("propose", study="done")
        proposals += 1


fitter = threading.Thread(target=keep_fitting)
fitter.start()
for study in ("done", "busy"):
    print("%-5s" % study, subprocess.check_output(
        [BENCH + "/status", d.socket, study, "50", SECONDS], text=True).strip())
going = False
fitter.join()
print("meanwhile %d proposals were computed" % proposals)
client("stop", study="busy", now=True)
d.end()
shutil.rmtree(folder)
