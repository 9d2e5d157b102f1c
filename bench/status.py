#!/usr/bin/env python3
"""status.py - how fast `status` answers over 50 connections while two niced trainers
keep both cores busy and short trials come and go.

  bench/status.py BIN BENCH [SECONDS]

There is no fit to be in progress in this version; two busy trainers stand for it."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
os.environ["DPARETO_BIN"] = sys.argv[1]
import harness  # noqa: E402

BENCH = os.path.abspath(sys.argv[2])
SECONDS = sys.argv[3] if len(sys.argv) > 3 else "10"
BUSY = """study: busy
trainer: {command: [/usr/bin/nice, "-n19", /bin/sh, "-c", "while :; do :; done"], grace: 0}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 1, b: 1}
search: {method: random, evaluations: 2, parallel: 2}
"""
DONE = """study: done
trainer: {command: [%s/noop]}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 1, b: 1}
search: {method: random, evaluations: 200, parallel: 2}
""" % BENCH

folder = tempfile.mkdtemp(prefix="dpareto-bench-")
d = harness.Daemon(folder, "--slots", "2", "--log-level", "warn").start()
client = d.connect()
client("submit", text=DONE, path="/done.yaml", dir="/")
version = 0
while client("status", study="done")["study"]["state"] == "running":
    version = client("changes", study="done", since=version, timeout_ms=1000)["study"]["version"]
client("submit", text=BUSY, path="/busy.yaml", dir="/")
harness.wait_for(lambda: client("status", study="busy")["study"]["running"] == 2)
for study in ("done", "busy"):
    print("%-5s" % study, subprocess.check_output(
        [BENCH + "/status", d.socket, study, "50", SECONDS], text=True).strip())
client("stop", study="busy", now=True)
d.end()
shutil.rmtree(folder)
