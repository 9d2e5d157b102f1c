#!/usr/bin/env python3
# A trainer that walks a path: one training with 20 epochs is asked what it was after 1,
# 2, 3, ... epochs, too. It learns the mean of made-up numbers by noisy gradient steps.
# The rate is constant and the noise is drawn step by step, so after 4 epochs it is, to
# the bit, what a training with `epochs: 4` and the same seed ends with. path.yaml beside
# it is a study that uses it.
import json
import os
import random

STEPS = 10  # in an epoch

with open(os.environ["DPARETO_REQUEST"]) as f:
    request = json.load(f)
epochs = request["parameters"]["epochs"]
noise = request["parameters"]["noise"]
waypoints = request.get("path", {}).get("values", [])

with open(os.environ["DPARETO_RESULT"], "a") as result:

    def report(line):
        result.write(json.dumps(line) + "\n")
        result.flush()

    for run in request["runs"]:
        rng = random.Random(run["seed"])
        weight = 0.0
        for epoch in range(1, epochs + 1):
            for _ in range(STEPS):
                weight -= 0.05 * (weight - 1 + rng.gauss(0, noise))
            metrics = {"error": abs(weight - 1), "cost": epoch / noise**2}
            if epoch in waypoints:
                report({"run": run["run"], "at": epoch, "metrics": metrics})
        report({"run": run["run"], "metrics": metrics})
    report({"done": True})
