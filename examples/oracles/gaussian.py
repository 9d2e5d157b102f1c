#!/usr/bin/env python3
# An oracle program in Python, standard library only: the epsilon of `steps` Gaussian
# mechanisms of sensitivity 1 with noise of standard deviation `sigma` each, on the same
# data. gaussian.yaml beside it is a study that uses it.
#
# Together they are one Gaussian mechanism with noise sigma / sqrt(steps), for which delta at
# a given epsilon is known exactly (Balle and Wang 2018, Theorem 8); epsilon is found by
# bisection, and the upper end of the last interval is the answer, so that it never claims
# more privacy than there is.
import json
import math
import sys


def normal(x):
    "The standard normal distribution function."
    return 0.5 * math.erfc(-x / math.sqrt(2))


def delta_at(epsilon, s):
    "delta of the Gaussian mechanism with noise s at this epsilon, or something above it."
    lost = normal(-0.5 / s - epsilon * s)
    # below the smallest number it is left out, which makes delta larger, not smaller
    lost = math.exp(epsilon + math.log(lost)) if lost > 0 else 0
    return normal(0.5 / s - epsilon * s) - lost


def epsilon_of(s, delta):
    low, high = 0.0, 1.0
    while delta_at(high, s) > delta:
        low, high = high, 2 * high
        if high > 1e6:
            return math.inf  # no privacy worth the name
    for _ in range(80):
        middle = 0.5 * (low + high)
        if delta_at(middle, s) > delta:
            low = middle
        else:
            high = middle
    return high * (1 + 1e-9)  # more than the functions above can be wrong by


def answer(question):
    p, delta = question["parameters"], question["delta"]
    if not (p["sigma"] > 0 and p["steps"] >= 1 and delta > 0):
        return {"error": "sigma and delta must be above 0, and steps at least 1"}
    epsilon = epsilon_of(p["sigma"] / math.sqrt(p["steps"]), delta)
    return {"epsilon": epsilon if math.isfinite(epsilon) else "inf"}


# One line for each line, at once; the end of stdin is the end of the study.
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **answer(question)}), flush=True)
