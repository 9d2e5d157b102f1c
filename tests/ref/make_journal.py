#!/usr/bin/env python3
"""make_journal.py - makes a reference journal of this version for the tests of the next.

  make_journal.py --build DIR NAME       e.g. journal-0.2, below tests/ref

A daemon is killed in the middle of three studies (one ended, one with trials that failed,
diverged and were tried again, one of models); its journal is kept, compact and packed, and
then the studies are ended by the same version: their fronts are what a later version has
to come to. test_upgrade.py reads such a folder. Nothing of this machine is in it: studies
are submitted as from /srv/old."""
import argparse
import json
import lzma
import os
import shutil
import signal
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/e2e"))

MIXED = r"""study: %s
seed: 7
trainer:
  command: [sh, -c, 't=$DPARETO_TRIAL; a=$DPARETO_ATTEMPT; [ $t = 2 ] && exit 3; [ $t = 3 ] && [ $a = 0 ] && kill -9 $$; sleep 0.3; for r in $(grep -o "\"run\":[0-9]*" "$DPARETO_REQUEST" | cut -d: -f2); do if [ $t = 4 ]; then v=NaN; else v=0.$((t + 10)); fi; echo "{\"run\":$r,\"metrics\":{\"f1\":$v,\"seconds\":$r}}" >>"$DPARETO_RESULT"; done']
  runs: 2
  runs_per_process: %s
parameters:
  C: {type: int, range: [1, 30]}
  b: {type: float, range: [0.01, 100], scale: log}
  kind: {type: categorical, values: [x, y]}
objectives:
  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}
  error: {metric: f1, of: "1 - f1"}
anti_ideal: {epsilon: 10, error: 1}
constraints: {seconds: "<= 5"}
search: {method: random, evaluations: %d, parallel: 2}
"""
SGD = r"""study: sgd
seed: 3
trainer:
  command: [sh, -c, 'sleep 0.4; x=$(sed "s/.*\"sigma\":\([-0-9.e+]*\).*/\1/" "$DPARETO_REQUEST"); awk "BEGIN{printf \"{\\\"run\\\":0,\\\"metrics\\\":{\\\"accuracy\\\":%.6f}}\\n\", 1/(1+$x)}" >>"$DPARETO_RESULT"']
parameters:
  sigma: {type: float, range: [0.5, 8], scale: log}
  lot: {type: int, range: [16, 256], scale: log}
objectives:
  epsilon: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 10000, lot: lot, epochs: 5, noise_multiplier: sigma, delta: 1.0e-5}}
  error: {metric: accuracy, of: "1 - accuracy"}
anti_ideal: {epsilon: 10, error: 1}
search: {method: dpareto, evaluations: 24, initial: 8, parallel: 2, order: deterministic}
"""
STUDIES = {"idle": MIXED % ("idle", "all", 3), "mixed": MIXED % ("mixed", "1", 30), "sgd": SGD}


def ended(client, name):
    return client("status", study=name)["study"]["ended"]


def make(harness, folder, out):
    d = harness.Daemon(folder, "--slots", "4").start()
    client = d.connect()
    for name, text in STUDIES.items():
        client("submit", text=text, path="/srv/old/%s.yaml" % name, dir="/")
    # past the initial design of the models, and with everything that can happen to a trial
    harness.wait_for(lambda: ended(client, "sgd") >= 14 and ended(client, "mixed") >= 12)
    d.end(signal.SIGKILL)
    copy = os.path.join(folder, "copy.mdb")
    p = harness.subprocess.run([harness.program("dparetoctl"), "journal", "backup", copy,
                                "--state", d.state], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    with open(copy, "rb") as f, lzma.open(os.path.join(out, "data.mdb.xz"), "wb") as to:
        to.write(f.read())
    client = d.start().connect()
    for name in STUDIES:
        harness.wait_for(lambda: client("status", study=name)["study"]["state"] == "finished")
        with open(os.path.join(out, name + ".json"), "w") as f:
            json.dump(client("front", study=name), f)
            f.write("\n")
    client.close()
    assert d.end() == 0, d.said


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("name")
    args = p.parse_args()
    os.environ["DPARETO_BIN"] = os.path.abspath(args.build)
    import harness  # reads the variable
    out = os.path.join(TOP, "tests/ref", args.name)
    os.makedirs(out)
    folder = tempfile.mkdtemp(prefix="dpareto-ref-")
    try:
        make(harness, folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(sorted(os.listdir(out))))


if __name__ == "__main__":
    main()
