#!/usr/bin/env python3
# The trainer of laplace.yaml, standard library only: a distribution of 5,000 ages over 20
# years, told by `queries` noisy counts. Each count changes by 1 with one record, and has
# Laplace noise of scale `scale`; few counts say little of the distribution, many drown in
# noise.
import json
import os
import random

with open(os.environ["DPARETO_REQUEST"]) as f:
    request = json.load(f)
queries, scale = request["parameters"]["queries"], request["parameters"]["scale"]
made = random.Random(1)
ages = [min(19.99, made.expovariate(0.2)) for _ in range(5000)]


def share_below(age):
    return sum(a < age for a in ages) / len(ages)


with open(os.environ["DPARETO_RESULT"], "a") as result:
    for run in request["runs"]:
        rng = random.Random(run["seed"])
        told = [0.0]
        for i in range(1, queries + 1):
            noise = rng.expovariate(1 / scale) - rng.expovariate(1 / scale)
            told.append(share_below(20 * i / queries) + noise / len(ages))
        error = 0.0
        for year in range(21):  # between two counts the distribution is a line
            i = min(int(year * queries / 20), queries - 1)
            part = year * queries / 20 - i
            error = max(error, abs(told[i] * (1 - part) + told[i + 1] * part
                                   - share_below(year)))
        result.write(json.dumps({"run": run["run"], "metrics": {"error": error}}) + "\n")
    result.write('{"done":true}\n')
