#!/usr/bin/env python3
"""budget.py - what is left of a front when all of the search has one privacy budget?

  bench/budget.py BIN FOLDER [--seeds 0:10] [options]

LogReg+Adam on Adult (DPARETO_DATA names the data), every training a path, one run a point,
for each seed three times: with search.budget over all trainings, noise on the utilities
(release) that keeps the test records' epsilon, and search.cost: privacy; the same without
the noise; and without a budget, as many trainings as the free search has evaluations. The
points of each front are then trained anew with fresh seeds and without noise, for this
evaluation only: a hypervolume of noisy values says little. Results are kept in FOLDER, a
file for each variant and seed, and not made twice."""
import argparse
import concurrent.futures
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paths  # noqa: E402

TEST_RECORDS = 1605  # of Adult, as dpareto-train reads it


def options():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0][12:])
    a.add_argument("bin")
    a.add_argument("folder")
    a.add_argument("--study", default="adult-logreg-adam")
    a.add_argument("--seeds", default="0:10", help="first and last but one")
    a.add_argument("--epsilon", type=float, default=4, help="of the search, and of the test set")
    a.add_argument("--delta", type=float, default=1e-5)
    a.add_argument("--evaluations", type=int, default=48, help="of the free search")
    a.add_argument("--trainings", type=int, default=16, help="of a budget, at most")
    a.add_argument("--points", type=int, default=8, help="of a path")
    a.add_argument("--initial", type=int, default=6)
    a.add_argument("--again", type=int, default=20, help="fresh runs of each front point")
    a.add_argument("--jobs", type=int, default=2, help="studies at once")
    a.add_argument("--budget-search", default="", help="more keys of search, with a budget")
    return a.parse_args()


def release_sigma(o):
    """The least noise that keeps the test records' epsilon: mu of that many releases."""
    answer = subprocess.check_output([o.bin + "/dparetoctl", "noise", "--mechanism", "gaussian",
                                      "--delta", repr(o.delta), "--epsilon", repr(o.epsilon),
                                      "-o", "json"], text=True)
    releases = o.trainings * (o.points + 1)
    return json.loads(answer)["sigma"] * math.sqrt(releases) / TEST_RECORDS


def study_text(o, seed, variant):
    with open("%s/examples/paper/%s-dpareto.yaml" % (paths.TOP, o.study)) as f:
        text = f.read()
    bounded = variant != "free"
    keys = "parallel: 1\n  front: denoised"
    if bounded:
        keys += "\n  budget: {epsilon: %r, delta: %r}\n  cost: privacy" % (o.epsilon, o.delta)
        keys += "".join("\n  %s" % key for key in o.budget_search.split(";") if key)
    noise = ", release: {records: %d, sigma: %r}" % (TEST_RECORDS, release_sigma(o))
    for old, new in ((r"seed: 1\b", "seed: %d" % seed),
                     (r"runs: 10\b.*", "runs: 1\n  retries: 0\n  path: {parameter: epochs, "
                                       "points: %d}" % o.points),
                     (r"initial: 16\b", "initial: %d" % (o.initial if bounded else 16)),
                     (r"evaluations: 272\b",
                      "evaluations: %d" % (o.trainings if bounded else o.evaluations)),
                     (r"\n *accountant: rdp\n *bound: tight\n *conversion: classic", ""),
                     (r"transform: logit", "transform: logit"
                      + (noise if variant == "released" else "")),
                     (r"parallel: 2\b", keys)):
        text, n = re.subn(old, new, text)
        if n != 1:
            raise SystemExit("%s: %s is there %d times" % (o.study, old, n))
    return text


def run_study(o, text):
    """The front as (epsilon, error, parameters), the number of trainings, the reason."""
    with tempfile.TemporaryDirectory(prefix="dpareto-", dir="/dev/shm") as work:
        with open(work + "/study.yaml", "w") as f:
            f.write(text)
        out = subprocess.check_output(
            paths.NICE + [o.bin + "/dparetoctl", "run", work + "/study.yaml", "-q", "--state",
                          work + "/state", "--slots", "1", "-o", "json"], text=True)
    answer = json.loads(out)
    return {"trainings": answer["evaluations"], "reason": answer["reason"],
            "front": [[p["objectives"]["epsilon"], p["objectives"]["error"], p["parameters"]]
                      for p in answer["front"]]}


def one(o, seed, variant):
    path = os.path.join(o.folder, "%s-%d.json" % (variant, seed))
    text = study_text(o, seed, variant)
    if os.path.exists(path):
        with open(path) as f:
            kept = json.load(f)
        if kept["text"] != text:
            raise SystemExit("%s is of other settings; remove it or take another folder" % path)
        return kept
    command, ref = paths.command_and_names(text)[0], paths.anti_ideal(text)
    result = run_study(o, text)
    again = []
    for epsilon, _, parameters in result["front"]:
        if epsilon < ref[0]:
            error = paths.train_again(o, command, parameters, [parameters["epochs"]])
            again.append((epsilon, error[parameters["epochs"]]))
    result["volume"] = paths.hypervolume([p[:2] for p in result["front"]], ref)
    result["again"] = paths.hypervolume(again, ref)
    result["text"] = text
    os.makedirs(o.folder, exist_ok=True)
    with open(path + "~", "w") as f:
        json.dump(result, f)
    os.rename(path + "~", path)
    return result


def main():
    o = options()
    o.bin = os.path.abspath(o.bin)
    first, end = map(int, o.seeds.split(":"))
    variants = ("released", "bounded", "free")
    jobs = [(seed, v) for seed in range(first, end) for v in variants]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        done = dict(zip(jobs, pool.map(lambda j: one(o, *j), jobs)))
    print("# %s, one run a point, budget (%g, %g), utility noise sigma %.4g\n" % (
        o.study, o.epsilon, o.delta, release_sigma(o)))
    print("| seed | " + " | ".join("%s | trainings" % v for v in variants) + " |\n"
          + "| --- " * (2 * len(variants) + 1) + "|")
    for seed in range(first, end):
        print("| %d | %s |" % (seed, " | ".join("%.4f | %d" % (
            done[seed, v]["again"], done[seed, v]["trainings"]) for v in variants)))
    print()
    for v in variants:
        rows = [done[seed, v] for seed in range(first, end)]
        print("%s: %s measured again (%s as published), %.1f trainings" % (
            v, paths.mean(r["again"] for r in rows), paths.mean(r["volume"] for r in rows),
            statistics.mean(r["trainings"] for r in rows)))
    print("reasons: %s" % sorted({done[j]["reason"] or "none" for j in jobs if j[1] != "free"}))


if __name__ == "__main__":
    main()
