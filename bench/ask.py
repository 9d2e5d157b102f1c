#!/usr/bin/env python3
"""ask.py - are the answers to questions about a front true?

  bench/ask.py BIN FOLDER STUDY-FILE [--seeds 501:506] [--at 0.1,0.5,1,2,5] [options]

Runs the study for each seed in FOLDER, as far as it is not there, and asks it:

- `recommend --at epsilon=X --verify RUNS`: does the predicted interval hold what is measured,
  and is the recommended point as good as the best tested one, both measured again?
- `remeasure`: how optimistic is the observed hypervolume, and how much of that does the
  denoised one take away?

Everything is journaled in the state folders: what was asked for already is not run again
but for the runs of --verify. Seconds are those of `recommend` without --verify, models
fitted from nothing."""
import argparse
import json
import os
import re
import statistics
import subprocess
import time


def options():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0][9:])
    a.add_argument("bin")
    a.add_argument("folder")
    a.add_argument("file")
    a.add_argument("--seeds", default="501:506", help="first and last but one")
    a.add_argument("--at", default="0.1,0.5,1,2,5", help="epsilons; empty: none")
    a.add_argument("--verify", type=int, default=200, help="runs of a recommended point")
    a.add_argument("--remeasure", type=int, default=0, help="runs of each point of the front")
    return a.parse_args()


def standard_error(measured):
    """From the 95 % interval of a mean of about 200 runs."""
    return (measured["high"]["error"] - measured["low"]["error"]) / 2 / 1.97


class Study:
    """One seed's state folder, and questions to it."""

    def __init__(self, o, seed):
        with open(o.file) as f:
            text = f.read()
        name = re.search(r"(?m)^study: (\S+)", text).group(1)
        self.bin, self.seed = o.bin, seed
        self.name = "%s-%d" % (name, seed)
        self.state = os.path.join(o.folder, self.name)
        self.file = self.state + ".yaml"
        text = re.sub(r"(?m)^study: .*", "study: " + self.name, text)
        text, seeds = re.subn(r"(?m)^seed: .*", "seed: %d" % seed, text)
        if seeds != 1:
            raise SystemExit("%s: no line with its seed" % o.file)
        with open(self.file, "w") as f:
            f.write(re.sub(r"(?m)^(  parallel): .*", r"\1: 1", text))

    def ask(self, *words):
        words = ["nice", "-n", "10", self.bin + "/dparetoctl", *words, "-q", "-o", "json"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit("%s: %s%s" % (" ".join(words), done.stdout, done.stderr))
        return json.loads(done.stdout)

    def about(self, command, *words):
        return self.ask(command, self.name, "--state", self.state, *words)

    def measured(self, trial, at, runs):
        """The mean of a tested point over fresh runs, and its standard error."""
        name = "%d" % trial if at is None else "%d@%d" % (trial, at)
        again = self.about("trial", name)["remeasured"] or {"runs": 0}
        if again["runs"] < runs:
            self.about("remeasure", "--points", name, "--runs", str(runs - again["runs"]))
            again = self.about("trial", name)["remeasured"]
        return again["objectives"]["error"], standard_error(again)


def ask_levels(o, study, rows):
    levels = o.at.split(",")
    began = time.monotonic()
    study.about("recommend", *[w for x in levels for w in ("--at", "epsilon=" + x)])
    seconds = time.monotonic() - began
    for x in levels:
        answer = study.about("recommend", "--at", "epsilon=" + x, "--verify", str(o.verify))
        told, seen = answer["predicted"]["error"], answer["verified"]
        value = seen["objectives"]["error"]
        error = standard_error(seen)
        tested = answer["tested"]
        best, best_error = study.measured(tested["trial"], tested["at"], o.verify)
        rows.append({"seed": study.seed, "level": float(x),
                     "epsilon": answer["objectives"]["epsilon"], "told": told, "value": value,
                     "error": error, "best": best, "best_error": best_error,
                     "tested": tested["objectives"]["epsilon"]})
        r = rows[-1]
        print("| %d | %s | %.6g | %.5f (%.5f to %.5f) | %.5f +- %.5f | %s | %.5f +- %.5f "
              "(epsilon %.3g) | %s |" % (
                  study.seed, x, r["epsilon"], told["value"], told["low"], told["high"], value,
                  error, "yes" if told["low"] <= value <= told["high"] else "no", best,
                  best_error, r["tested"], "yes" if value <= best else "no"), flush=True)
    return seconds


def recommendations(o, studies):
    rows, seconds = [], []
    print("| seed | level | epsilon | predicted (95 %) | measured | inside | best tested, "
          "measured again | as good |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for study in studies:
        seconds.append(ask_levels(o, study, rows))
    inside = sum(r["told"]["low"] <= r["value"] <= r["told"]["high"] for r in rows)
    good = sum(r["value"] <= r["best"] for r in rows)
    clear = sum(r["value"] > r["best"] + 2 * (r["error"] ** 2 + r["best_error"] ** 2) ** 0.5
                for r in rows)
    near = min(r["epsilon"] / r["level"] for r in rows)
    print("inside %d of %d; at least as good %d of %d, worse by more than two standard errors "
          "%d; mean gain %+.5f; epsilon at least %.5f of its level, never above: %s; all levels "
          "of a study asked in %.2f s (median)" % (
              inside, len(rows), good, len(rows), clear,
              statistics.mean(r["best"] - r["value"] for r in rows), near,
              all(r["epsilon"] <= r["level"] for r in rows), statistics.median(seconds)))


def optimism(o, studies):
    print("| seed | observed | denoised | measured again | optimism | left after denoising |\n"
          "| --- | --- | --- | --- | --- | --- |")
    rows = []
    for study in studies:
        front = study.about("front")
        if not all(p["remeasured"] for p in front["front"]):
            study.about("remeasure", "--runs", str(o.remeasure))
            front = study.about("front")
        rows.append([front["hypervolume"], front["hypervolume_denoised"],
                     front["hypervolume_remeasured"]])
        a, b, c = rows[-1]
        print("| %d | %.4f | %.4f | %.4f | %+.4f | %+.4f |" % (study.seed, a, b, c, a - c, b - c),
              flush=True)
    for what, of in (("optimism", 0), ("left after denoising", 1)):
        d = [r[of] - r[2] for r in rows]
        print("%s: %+.4f +- %.4f (standard error), %+.4f to %+.4f" % (
            what, statistics.mean(d), statistics.stdev(d) / len(d) ** 0.5, min(d), max(d)))


def main():
    o = options()
    os.makedirs(o.folder, exist_ok=True)
    first, last = map(int, o.seeds.split(":"))
    studies = [Study(o, seed) for seed in range(first, last)]
    for study in studies:
        study.ask("run", study.file, "--state", study.state)
    if o.remeasure:
        optimism(o, studies)
    if o.at:
        recommendations(o, studies)


main()
