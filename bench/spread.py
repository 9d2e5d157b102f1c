#!/usr/bin/env python3
"""spread.py - how much the error of real trainings differs from run to run.

  bench/spread.py BIN [SETTINGS [MNIST-SETTINGS]]

Random settings of the paper's domains on the data that DPARETO_DATA names, RUNS runs each:
logistic regression by Adam and an SVM by SGD on Adult, an MLP by SGD on MNIST with few
epochs. Prints, for each range of the mean error and of epsilon, medians over the settings:
the standard deviation between runs, its share of the error, and that of the logit."""
import json
import math
import os
import random
import statistics
import subprocess
import sys

BIN = os.path.abspath(sys.argv[1])
SETTINGS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
MNIST_SETTINGS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
RUNS = 10
ERRORS = (0, 0.17, 0.2, 0.25, 0.4, 0.6, 1)
EPSILONS = (0, 0.1, 1, 10, math.inf)

# domains: lo, hi, whole number?
LINEAR = {"epochs": (1, 64, True), "lot_size": (8, 512, True),
          "learning_rate": (5e-4, 5e-2, False), "noise_variance": (0.1, 16, False),
          "clip": (0.1, 4, False)}
MLP = {"epochs": (1, 10, True), "lot_size": (100, 4000, True),
       "learning_rate": (1e-3, 0.5, False), "noise_variance": (0.1, 16, False),
       "clip": (0.1, 12, False)}
TRAININGS = (
    ("Adult, logistic regression, Adam", SETTINGS, 30956,
     ["linear", "--data", "adult", "--model", "logistic", "--optimizer", "adam"], LINEAR),
    ("Adult, SVM, SGD", SETTINGS, 30956,
     ["linear", "--data", "adult", "--model", "svm", "--optimizer", "sgd"], LINEAR),
    ("MNIST, MLP 128-64, SGD", MNIST_SETTINGS, 60000,
     ["mlp", "--data", "mnist", "--hidden", "128,64", "--optimizer", "sgd"], MLP),
)


def draw(rng, domains):
    """One setting; every second one is drawn on the logarithm, so that all corners of the
    domains are seen."""
    setting, log = {}, rng.random() < 0.5
    for name, (lo, hi, whole) in domains.items():
        value = (math.exp(rng.uniform(math.log(lo), math.log(hi))) if log
                 else rng.uniform(lo, hi))
        setting[name] = round(value) if whole else value
    return setting


def errors(command, setting):
    options = [word for key, value in setting.items()
               for word in ("--set", "%s=%r" % (key, value))]
    text = subprocess.check_output(["nice", "-n", "10", BIN + "/dpareto-train", *command,
                                    "--runs", str(RUNS), "--seed", "1", *options])
    lines = [json.loads(line) for line in text.splitlines()]
    return [1 - float(line["metrics"]["accuracy"]) for line in lines if "run" in line]


def epsilon(records, setting):
    text = subprocess.check_output([
        BIN + "/dparetoctl", "epsilon", "--mechanism", "dp-sgd", "--sampling",
        "without-replacement", "--records", str(records), "--lot", str(setting["lot_size"]),
        "--epochs", str(setting["epochs"]), "--noise-multiplier",
        repr(setting["noise_variance"] ** 0.5), "--delta", "1e-5", "--accountant", "rdp",
        "-o", "json"])
    return float(json.loads(text)["epsilon"])


def logit(error):
    error = min(max(error, 0.001), 0.999)
    return math.log(error / (1 - error))


def show(name, what, bounds, rows, column):
    """A line for each range of a column of the rows: error, sd, logit sd, epsilon."""
    for lo, hi in zip(bounds, bounds[1:]):
        inside = [row for row in rows if lo <= row[column] < hi]
        if inside:
            sds = sorted(row[1] for row in inside)
            print("| %s | %s %g to %g | %d | %.4f (%.4f to %.4f) | %.3f | %.3f |" % (
                name, what, lo, hi, len(inside), statistics.median(sds), sds[0], sds[-1],
                statistics.median(row[1] / row[0] for row in inside),
                statistics.median(row[2] for row in inside)), flush=True)


print("| training | range | settings | sd of a run (least to most) | sd / error | "
      "sd of the logit |")
print("| --- | --- | --- | --- | --- | --- |")
for name, count, records, command, domains in TRAININGS:
    rng = random.Random(1)
    rows = []
    for _ in range(count):
        setting = draw(rng, domains)
        runs = errors(command, setting)
        if all(map(math.isfinite, runs)):
            rows.append((statistics.mean(runs), statistics.stdev(runs),
                         statistics.stdev(map(logit, runs)), epsilon(records, setting)))
    show(name, "error", ERRORS, rows, 0)
    show(name, "epsilon", EPSILONS, rows, 3)
