#!/usr/bin/env python3
"""load.py - evaluations per second and the time of answers while many clients ask.

  bench/load.py BENCH CLIENTS[,CLIENTS...] SECONDS BIN [BIN...]

A study of a trainer that does nothing runs in 8 slots. CLIENTS connections ask `status` of
it, each as soon as it has the answer to its last question and 250 ms have passed since then
(bench/status.c); a further client connects, asks `hello` and hangs up, ten times a second.
Several BINs are measured in turn within one run: compare the rows of one run, machines are
noisy. CPU is that of the daemon's process alone, all threads; shims, trainers and the
clients compete with it for the same cores."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
import harness  # noqa: E402

BENCH = os.path.abspath(sys.argv[1])
CLIENTS = [int(n) for n in sys.argv[2].split(",")]
SECONDS = float(sys.argv[3])
BINS = [os.path.abspath(b) for b in sys.argv[4:]]
STUDY = """study: load
data: public
trainer: {command: [%s/noop]}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 1, b: 1}
search: {method: random, evaluations: 1000000, parallel: 8}
""" % BENCH


def cpu(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def say_hello(d, seen, over):
    while not over.wait(0.1):
        began = time.monotonic()
        client = None
        while not client:  # a full backlog refuses: part of what a client waits for
            try:
                client = harness.Client(d.socket)
            except BlockingIOError:
                time.sleep(0.001)
        client("hello")
        client.close()
        seen.append(time.monotonic() - began)


def load(d, binaries, clients):
    client = d.connect()
    client("submit", text=STUDY, path="/load.yaml", dir="/")
    harness.wait_for(lambda: client("status", study="load")["study"]["ok"] > 50)
    hellos, over = [], threading.Event()
    greeter = threading.Thread(target=say_hello, args=(d, hellos, over), daemon=True)
    greeter.start()
    before = client("status", study="load")["study"]["ok"]
    began, used = time.monotonic(), cpu(d.process.pid)
    answers = subprocess.check_output(
        [BENCH + "/status", d.socket, "load", str(clients), str(SECONDS)], text=True).strip()
    seconds, used = time.monotonic() - began, cpu(d.process.pid) - used
    made = client("status", study="load")["study"]["ok"] - before
    over.set()
    greeter.join()
    hellos.sort()
    print("%-24s %4d clients: %5.0f evaluations/s, status: %s; hello p50 %.1f ms, max %.1f ms; "
          "daemon %.0f %% CPU" %
          (os.path.basename(os.path.dirname(binaries + "/")), clients, made / seconds, answers,
           1e3 * hellos[len(hellos) // 2], 1e3 * hellos[-1], 100 * used / seconds), flush=True)
    client("stop", study="load", now=True)
    client.close()


def measure(binaries, clients, folder):
    harness.BIN = binaries
    d = harness.Daemon(folder, "--slots", "8", "--log-level", "warn").start()
    try:
        load(d, binaries, clients)
    finally:  # no daemon is left, whatever went wrong
        d.end()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
top = tempfile.mkdtemp(prefix="dpareto-bench-")
try:
    for n in CLIENTS:
        for b in BINS:
            measure(b, n, tempfile.mkdtemp(dir=top))
finally:
    shutil.rmtree(top)
