#!/usr/bin/env python3
"""throughput.py - evaluations per second, everything durable, against a bare loop.

  bench/throughput.py BIN BENCH [EVALUATIONS] [ROUNDS]

BIN holds dparetod and dpareto-shim, BENCH the programs `noop` and `bare`. Rounds of
both alternate; the ratio of medians is what counts, machines are noisy."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
os.environ["DPARETO_BIN"] = sys.argv[1]
import harness  # noqa: E402

BIN, BENCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
N = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3
STUDY = """study: bench
data: public
trainer: {command: [%s/noop]}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 1, b: 1}
search: {method: random, evaluations: %d, parallel: 2}
""" % (BENCH, N)


def daemon(folder):
    d = harness.Daemon(folder, "--slots", "2", "--log-level", "warn").start()
    client = d.connect()
    began = time.monotonic()
    study = client("submit", text=STUDY, path="/bench.yaml", dir="/")["study"]
    while study["state"] == "running":
        time.sleep(0.02)  # asking costs, too
        study = client("list")["studies"][0]
    rate = N / (time.monotonic() - began)
    assert study["ok"] == N, study
    client.close()
    d.end()
    return rate


def bare(folder):
    return float(subprocess.check_output(
        [BENCH + "/bare", BIN + "/dpareto-shim", BENCH + "/noop", folder + "/bare", str(N), "2"]))


# Nothing is removed between rounds: ext4 makes new files slowly for a while after many
# were deleted, and that would be measured instead.
rates, top = {"bare loop": [], "dparetod": []}, tempfile.mkdtemp(prefix="dpareto-bench-")
for _ in range(ROUNDS):
    for name, run in (("bare loop", bare), ("dparetod", daemon)):
        rates[name].append(run(tempfile.mkdtemp(dir=top)))
shutil.rmtree(top)
for name, seen in rates.items():
    print("%-10s %7.0f evaluations/s   (rounds: %s)" %
          (name, statistics.median(seen), ", ".join("%.0f" % r for r in seen)))
print("ratio      %7.2f" % (statistics.median(rates["dparetod"]) /
                            statistics.median(rates["bare loop"])))
