#!/usr/bin/env python3
# A trainer in Python, standard library only. It reads one parameter, `noise`, and
# reports two made-up metrics for every run it is asked for: `error`, which grows with
# the noise, and `cost`, which falls with it. py.yaml beside it is a study that uses it.
import json
import os
import random

with open(os.environ["DPARETO_REQUEST"]) as f:
    request = json.load(f)
noise = request["parameters"]["noise"]

with open(os.environ["DPARETO_RESULT"], "a") as result:

    def report(line):
        result.write(json.dumps(line) + "\n")
        result.flush()  # so that progress is seen, and kept if something goes wrong

    for done, run in enumerate(request["runs"]):
        rng = random.Random(run["seed"])  # same seed, same result, in every retry
        metrics = {"error": noise / (1 + noise) + 0.01 * rng.random(), "cost": 1 / noise}
        report({"run": run["run"], "metrics": metrics})
        report({"progress": (done + 1) / len(request["runs"])})
    report({"done": True})
