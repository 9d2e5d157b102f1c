#!/usr/bin/env python3
"""Is epsilon of the closed forms an upper bound to the last digit? Asks `dparetoctl epsilon --batch` about random settings and computes
delta at each answer with 60 digits from the very doubles that were asked about: it must not exceed the delta asked for. Needs mpmath.

    tests/ref/rounding.py _b/dparetoctl [settings of each mechanism, 1000] [seed]

Prints what is optimistic, and exits with 1 if there is anything. Also prints the values in tests/unit/lib/privacy/test_rounding.c."""
import json
import math
import random
import subprocess
import sys

from mpmath import ceil, erfc, exp, expm1, floor, mp, mpf, nstr, sqrt

mp.dps = 60


def gaussian_delta(mu, epsilon):
    def cdf(x):
        return erfc(-x / sqrt(mpf(2))) / 2
    a = mu / 2 - epsilon / mu
    return cdf(a) - exp(epsilon) * cdf(a - mu)


def moved(q):
    return mpf(q.get("sensitivity", 1)) * q.get("group", 1)


def laplace(q, epsilon):
    return max(-expm1((epsilon - moved(q) / mpf(q["scale"])) / 2), mpf(0))


def gaussian(q, epsilon):
    return gaussian_delta(moved(q) / mpf(q["sigma"]), epsilon)


def output_perturbation(q, epsilon):
    return gaussian_delta(4 / (mpf(q["regularization"]) * q["records"] * mpf(q["sigma"])), epsilon)


def discrete_laplace(q, epsilon):
    s, h = int(moved(q)), 1 / mpf(q["scale"])
    near = int(ceil((s - epsilon / h) / 2)) - 1
    sets = range(max(near - 3, 0), min(near + 3, s - 1) + 1)
    return max([(-expm1(-((s - m) * h - epsilon)) - exp(-h) * expm1(-m * h)) / (1 + exp(-h)) for m in sets] + [mpf(0)])


def discrete_gaussian(q, epsilon):
    s, sigma = int(moved(q)), mpf(q["sigma"])
    reach = int(40 * sigma) + 2
    weights = [exp(-mpf(z) * z / (2 * sigma * sigma)) for z in range(reach + 1)]
    total = 2 * sum(weights) - 1

    def tail(m):
        return sum(weights[m:]) if m > 0 else total - tail(1 - m)
    m = int(floor(epsilon * sigma * sigma / s - mpf(s) / 2)) + 1
    return (tail(m) - exp(epsilon) * tail(m + s)) / total


def randomized_response(q, epsilon):
    other = mpf(q["flip"]) / q["categories"]
    return max(1 - mpf(q["flip"]) + other - exp(epsilon) * other, mpf(0))


def exponential(q, epsilon):
    eta = (1 if q["scores"] == "monotonic" else 2) * moved(q) / mpf(q["scale"])
    if epsilon >= eta:
        return mpf(0)
    if q["noise"] != "gumbel":
        return -expm1(epsilon - eta) / (1 + exp(-eta))
    return expm1((epsilon - eta) / 2) ** 2 / -expm1(-eta)


def spread(low, high):
    return math.exp(random.uniform(math.log(low), math.log(high)))


def some_delta():
    return 1 - spread(1e-16, 0.1) if random.random() < 0.15 else spread(random.choice([1e-18, 1e-10]), 0.5)


def settings():
    wide = random.choice([1, spread(0.1, 10)])
    return {
        "laplace": (laplace, {"scale": spread(1e-3, 1e6), "sensitivity": wide, "group": random.choice([1, 3])}),
        "gaussian": (gaussian, {"sigma": spread(0.05, random.choice([1e4, 1e12])), "sensitivity": wide, "group": random.choice([1, 3])}),
        "output-perturbation": (output_perturbation, {"sigma": spread(1e-3, 10), "regularization": spread(1e-4, 1),
                                                      "records": random.randint(100, 100000)}),
        "discrete-laplace": (discrete_laplace, {"scale": spread(1e-2, 1e5), "sensitivity": random.choice([1, 2, 7, 1000])}),
        "discrete-gaussian": (discrete_gaussian, {"sigma": spread(0.3, 20), "sensitivity": random.choice([1, 2, 5])}),
        "randomized-response": (randomized_response, {"flip": random.choice([spread(1e-12, 1), 1 - spread(1e-15, 0.1)]),
                                                      "categories": random.choice([2, 3, 10, 10 ** 6])}),
        "exponential": (exponential, {"scale": spread(1e-2, 1e5), "scores": random.choice(["any", "monotonic"]),
                                      "noise": random.choice(["gumbel", "laplace"])}),
    }


def least_gaussian(sigma, delta):
    low, high = mpf(0), 60 / mpf(sigma)
    for _ in range(200):
        middle = (low + high) / 2
        if gaussian_delta(1 / mpf(sigma), middle) > mpf(delta):
            low = middle
        else:
            high = middle
    return high


def main():
    program, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    asked = []
    for _ in range(n):
        for name, (delta_at, values) in settings().items():
            asked.append((delta_at, {"mechanism": name, "delta": some_delta(), **values}))
    asked.append((laplace, {"mechanism": "laplace", "scale": 1.720092492682352, "delta": 6.728e-12}))
    answers = subprocess.run([program, "epsilon", "--batch"], input="".join(json.dumps(q) + "\n" for _, q in asked), text=True,
                             stdout=subprocess.PIPE, check=True).stdout.splitlines()
    worst = {}
    for (delta_at, q), answer in zip(asked, answers):
        epsilon = json.loads(answer)["epsilon"]
        excess = delta_at(q, mpf(epsilon)) / mpf(q["delta"]) - 1 if epsilon != "inf" else mpf(-1)
        if excess > worst.get(q["mechanism"], (0,))[0]:
            worst[q["mechanism"]] = (excess, q, epsilon)
    for name, (excess, q, epsilon) in worst.items():
        print("%s: delta is %s more at epsilon %r: %s" % (name, nstr(excess, 3), epsilon, json.dumps(q)))
    for sigma, delta in ((1e3, 1e-12), (1e5, 1e-30), (1e8, 1e-20), (1e12, 1e-14), (1e12, 1e-40),
                         (9097.618765844825, 1.5573905327395847e-117)):
        print("gaussian, sigma %r, delta %r: epsilon %s" % (sigma, delta, nstr(least_gaussian(sigma, delta), 25)))
    sys.exit(1 if worst else 0)


main()
