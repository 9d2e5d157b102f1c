#!/usr/bin/env python3
# The trainer of gaussian.yaml, standard library only: the median of 2,000 incomes by noisy
# gradient descent. One record more or less changes the sum of a step's gradients by 1/2, and
# its noise is sigma / 2: a Gaussian mechanism of sensitivity 1 with noise `sigma`. It walks up `steps`, and is a result at each waypoint.
import json
import os
import random

with open(os.environ["DPARETO_REQUEST"]) as f:
    request = json.load(f)
parameters = request["parameters"]
waypoints = set(request.get("path", {}).get("values", []))
made = random.Random(1)
incomes = [made.lognormvariate(0, 0.5) for _ in range(2000)]  # median 1

with open(os.environ["DPARETO_RESULT"], "a") as result:

    def report(line):
        result.write(json.dumps(line) + "\n")

    for run in request["runs"]:
        rng = random.Random(run["seed"])
        guess = 3.0
        for step in range(1, parameters["steps"] + 1):
            signs = sum(0.5 if income < guess else -0.5 for income in incomes)
            noisy = signs + 0.5 * rng.gauss(0, parameters["sigma"])
            guess -= parameters["rate"] * noisy / len(incomes)
            if step in waypoints:
                report({"run": run["run"], "at": step,
                        "metrics": {"error": abs(guess - 1)}})
        report({"run": run["run"], "metrics": {"error": abs(guess - 1)}})
    report({"done": True})
