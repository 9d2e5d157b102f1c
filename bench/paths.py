#!/usr/bin/env python3
"""paths.py - does a study get further when each of its trainings is a path?

  bench/paths.py BIN FOLDER [--study adult-logreg-adam] [--seeds 0:10] [options]

A study of examples/paper by search.method dpareto on the data that DPARETO_DATA names, for
each seed twice: plain (a training is its end) and with trainer.path: epochs, which may train
as many epochs in all as the plain one did (--budget epochs, search.max_cost) or as many times
(--budget trainings). Everything else is the same in both. Prints hypervolumes (reference: the
study's anti_ideal) against the epochs trained so far; and again with the points of each front
trained anew with fresh seeds, so that a lucky measurement is not taken for a good one. That is
done for the plain front in the end, and for the one with paths at three places: where its
hypervolume is that of the plain one, at a quarter of its epochs, and at all of them.

Results are kept in FOLDER/STUDY, a file for each variant and seed, and not made twice: --name
is the variant's, such as that of a branch. `plain` is shared by all variants."""
import argparse
import concurrent.futures
import json
import math
import os
import re
import statistics
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICE = ["nice", "-n", "10"]
FRESH = 990000  # seeds of trainings made anew begin here


def options():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0][11:])
    a.add_argument("bin")
    a.add_argument("folder")
    a.add_argument("--study", default="adult-logreg-adam")
    a.add_argument("--seeds", default="0:10", help="first and last but one")
    a.add_argument("--name", default="path", help="the variant's, for its files")
    a.add_argument("--evaluations", type=int, default=48, help="of the plain search")
    a.add_argument("--runs", type=int, default=10)
    a.add_argument("--initial", type=int, default=16)
    a.add_argument("--path-initial", type=int, help="with paths, if it is to differ")
    a.add_argument("--path-evaluations", type=int, help="with paths, if they are to differ")
    a.add_argument("--budget", choices=("epochs", "trainings"), default="epochs")
    a.add_argument("--points", type=int, default=12, help="of a path")
    a.add_argument("--search", default="", help="keys of the variant: 'cost: none'")
    a.add_argument("--again", type=int, default=20, help="fresh runs of each front point")
    a.add_argument("--jobs", type=int, default=2, help="studies at once")
    a.add_argument("--only-plain", action="store_true")
    return a.parse_args()


# ---- studies ----

def study_text(o, seed, path, budget):
    """The paper's file with our settings; every change must find its place."""
    with open("%s/examples/paper/%s-dpareto.yaml" % (TOP, o.study)) as f:
        text = f.read()
    initial, evaluations, more = o.initial, o.evaluations, ""
    if path:
        initial = o.path_initial or o.initial
        evaluations = o.path_evaluations or evaluations
        more = "".join("\n  %s" % key for key in o.search.split(";") if key)
        if budget:
            more += "\n  max_cost: %d" % budget
            evaluations *= 20
    walk = "\n  path: {parameter: epochs, points: %d}" % o.points if path else ""
    for old, new in ((r"seed: 1\b", "seed: %d" % seed),
                     (r"runs: 10\b", "runs: %d" % o.runs + walk),
                     (r"initial: 16\b", "initial: %d" % initial),
                     (r"evaluations: 272\b", "evaluations: %d" % evaluations),
                     (r"parallel: 2\b", "parallel: 1" + more)):
        text, n = re.subn(old, new, text)
        if n != 1:
            raise SystemExit("%s: %s is there %d times" % (o.study, old, n))
    return text


def command_and_names(text):
    """What the study file says of its trainer, and its parameters in their order."""
    words = re.search(r"command: \[dpareto-train, (.*)\]", text).group(1)
    parameters = re.search(r"^parameters:\n(.*?)^\S", text, re.M | re.S).group(1)
    return ([w.strip('"') for w in re.findall(r'"[^"]*"|[^, ]+', words)],
            re.findall(r"^  (\w+):", parameters, re.M))


def number(x):
    return float(x) if x is not None else math.nan


def trainings(records, names):
    """A study's journal as its trainings in the order of their ends: parameters, CPU
    seconds, and points [epochs, epsilon, error], the training's own last."""
    params, ways, out = {}, {}, []
    for r in records:
        if r["type"] == "trial-proposed":
            params[r["trial"]] = dict(zip(names, r["params"]))
        elif r["type"] == "attempt-ended":
            ways[r["trial"]] = r
        elif r["type"] == "trial-ended":
            p, w = params[r["trial"]], ways[r["trial"]]
            points = way_points(w)
            if r["state"] == "ok":
                epsilon, error = map(number, r["objectives"])
                points.append([p["epochs"], epsilon, error])
            out.append({"parameters": p, "cpu": w["exit"]["cpu"], "points": points})
    return out


def way_points(record):
    at, runs, names = record.get("at", []), len(record.get("runs", [])), record.get("metrics", {})
    column, width = list(names).index("accuracy") if at else 0, len(names)
    points = []
    for i, (n, epsilon) in enumerate(zip(at, record.get("epsilons", []))):
        values = [number(record["ways"][(i * runs + r) * width + column]) for r in range(runs)]
        error = 1 - sum(values) / runs
        if math.isfinite(error) and math.isfinite(number(epsilon)):
            points.append([n, number(epsilon), error])
    return points


def run_study(o, text):
    with tempfile.TemporaryDirectory(prefix="dpareto-", dir="/dev/shm") as work:
        with open(work + "/study.yaml", "w") as f:
            f.write(text)
        state = work + "/state"
        subprocess.check_call(NICE + [o.bin + "/dparetoctl", "run", work + "/study.yaml", "-q",
                                      "--state", state, "--slots", "1", "-o", "json"],
                              stdout=subprocess.DEVNULL)
        dump = subprocess.check_output([o.bin + "/dparetoctl", "journal", "dump", "--state",
                                        state], text=True)
    return trainings(map(json.loads, dump.splitlines()), command_and_names(text)[1])


# ---- what they came to ----

def anti_ideal(text):
    return [float(x) for x in
            re.search(r"anti_ideal: \{epsilon: (\S+), error: (\S+)\}", text).groups()]


def front(points):
    """Of points (epsilon, error, ...): those that none dominates, by epsilon."""
    best, out = math.inf, []
    for p in sorted(points):
        if p[1] < best:
            best = p[1]
            out.append(p)
    return out


def hypervolume(points, ref):
    volume, last = 0, ref[1]
    for p in front(points):
        if p[0] < ref[0] and p[1] < last:
            volume += (ref[0] - p[0]) * (last - p[1])
            last = p[1]
    return volume


class Course:
    """A study's hypervolume after each training, with the epochs until then."""

    def __init__(self, result, ref, ways):
        self.epochs, self.volumes, self.fronts, points, sum_ = [], [], [], [], 0
        for i, t in enumerate(result):
            sum_ += t["parameters"]["epochs"]
            points += [(epsilon, error, i, n) for n, epsilon, error in t["points"]
                       if ways or n == t["parameters"]["epochs"]]
            points = front(points)
            self.epochs.append(sum_)
            self.volumes.append(hypervolume(points, ref))
            self.fronts.append(points)

    def at(self, epochs):
        """The last training within so many epochs; None before the first one."""
        return max((i for i, e in enumerate(self.epochs) if e <= epochs), default=None)

    def reaches(self, volume):
        return next((i for i, v in enumerate(self.volumes) if v >= volume), None)


def train_again(o, command, parameters, at):
    """Fresh runs of one training; its mean error at each of these epochs. They share the
    training: results on the way are, to the bit, those of trainings that end there."""
    words = [w for key, value in {**parameters, "epochs": at[-1]}.items()
             for w in ("--set", "%s=%r" % (key, value))]
    if at[:-1]:
        words += ["--path", ",".join(map(str, at[:-1]))]
    text = subprocess.check_output(NICE + [o.bin + "/dpareto-train", *command, "--runs",
                                           str(o.again), "--seed", str(FRESH), *words])
    sums = dict.fromkeys(at, 0)
    for line in map(json.loads, text.splitlines()):
        if "run" in line:
            sums[line.get("at", at[-1])] += 1 - number(line["metrics"]["accuracy"])
    return {n: value / o.again for n, value in sums.items()}


def measured_again(o, command, result, points, known):
    """The points with errors of fresh trainings; `known` ("TRAINING@EPOCHS") grows."""
    missing = {}
    for _, _, i, n in points:
        if "%d@%d" % (i, n) not in known:
            missing.setdefault(i, []).append(n)
    for i, at in missing.items():
        errors = train_again(o, command, result[i]["parameters"], sorted(at))
        known.update({"%d@%d" % (i, n): error for n, error in errors.items()})
    return [(epsilon, known["%d@%d" % (i, n)]) for epsilon, _, i, n in points]


# ---- one seed ----

class Kept:
    """A file with the result of one variant and seed, and its points measured again."""

    def __init__(self, o, name, seed):
        os.makedirs(os.path.join(o.folder, o.study), exist_ok=True)
        self.path = os.path.join(o.folder, o.study, "%s-%d.json" % (name, seed))
        self.o, self.all = o, {}
        if os.path.exists(self.path):
            with open(self.path) as f:
                self.all = json.load(f)

    def result(self, text):
        if self.all.get("text", text) != text:
            raise SystemExit("%s is of other settings; remove it or take another --name"
                             % self.path)
        if "result" not in self.all:
            self.all = {"text": text, "result": run_study(self.o, text)}
            self.save()
        return self.all["result"]

    def again(self, points):
        known = self.all.setdefault("again%d" % self.o.again, {})
        before = len(known)
        command = command_and_names(self.all["text"])[0]
        out = measured_again(self.o, command, self.all["result"], points, known)
        if len(known) > before:
            self.save()
        return out

    def save(self):
        with open(self.path + "~", "w") as f:
            json.dump(self.all, f)
        os.rename(self.path + "~", self.path)


def one_seed(o, seed):
    """A row of the table: a number for each column."""
    text = study_text(o, seed, False, None)
    ref, kept = anti_ideal(text), Kept(o, "plain", seed)
    plain = Course(kept.result(text), ref, False)
    row = {"seed": seed, "plain": plain.volumes[-1], "epochs": plain.epochs[-1],
           "cpu": sum(t["cpu"] for t in kept.all["result"]),
           "plain again": hypervolume(kept.again(plain.fronts[-1]), ref)}
    if o.only_plain:
        return row
    budget = plain.epochs[-1] if o.budget == "epochs" else None
    kept = Kept(o, o.name, seed)
    result = kept.result(study_text(o, seed, True, budget))
    path, ends = Course(result, ref, True), Course(result, ref, False)
    reached = path.reaches(plain.volumes[-1])
    row["path cpu"] = sum(t["cpu"] for t in result)
    row["trainings"], row["path epochs"] = len(result), path.epochs[-1]
    row["reached"] = math.inf if reached is None else path.epochs[reached]
    row["ratio"] = row["reached"] / row["epochs"]
    for name, i in (("reached", reached), ("quarter", path.at(row["epochs"] / 4)),
                    ("equal", path.at(row["epochs"]))):
        row["path " + name] = 0 if i is None else path.volumes[i]
        row["ends " + name] = 0 if i is None else ends.volumes[i]
        row["again " + name] = (0 if i is None
                                else hypervolume(kept.again(path.fronts[i]), ref))
    return row


# ---- tables ----

def mean(values):
    values = list(values)
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else math.nan
    return "%.4f +- %.4f" % (statistics.mean(values), error)


def versus(rows, name, other):
    """Mean difference, wins and losses of a column against another."""
    gains = [row[name] - row[other] for row in rows]
    return "%s, %d better, %d worse" % (mean(gains), sum(g > 0 for g in gains),
                                        sum(g < 0 for g in gains))


def show(o, rows):
    print("# %s, %d runs, variant %s\n" % (o.study, o.runs, o.name))
    print("| seed | plain | epochs | reached after | share | at a quarter | at equal epochs | "
          "its ends alone | trainings | epochs |\n" + "| --- " * 10 + "|")
    for r in rows:
        print("| %d | %.4f | %d | %g | %.2f | %.4f | %.4f | %.4f | %d | %d |" % (
            r["seed"], r["plain"], r["epochs"], r["reached"], r["ratio"], r["path quarter"],
            r["path equal"], r["ends equal"], r["trainings"], r["path epochs"]))
    ratios = sorted(r["ratio"] for r in rows)
    print("\nplain after %d trainings: %s, %.0f epochs" % (
        o.evaluations, mean(r["plain"] for r in rows),
        statistics.mean(r["epochs"] for r in rows)))
    print("paths come to that with this share of its epochs: median %.2f, worst %.2f, "
          "within a quarter %d of %d" % (statistics.median(ratios), ratios[-1],
                                         sum(r <= 0.25 for r in ratios), len(ratios)))
    for what, place in (("at a quarter of its epochs", "quarter"), ("at its epochs", "equal")):
        print("paths %s (or at their end, if that is before): %s; against plain %s" % (
            what, mean(r["path " + place] for r in rows), versus(rows, "path " + place, "plain")))
    print("ends of paths alone, at its epochs: %s; against plain %s" % (
        mean(r["ends equal"] for r in rows), versus(rows, "ends equal", "plain")))
    print("measured again, %d fresh runs: plain %s" % (
        o.again, mean(r["plain again"] for r in rows)))
    for what, place in (("at a quarter", "quarter"), ("at equal epochs", "equal")):
        print("measured again, paths %s: %s; against plain %s" % (
            what, mean(r["again " + place] for r in rows),
            versus(rows, "again " + place, "plain again")))
    there = [r for r in rows if r["path reached"]]
    if there:
        print("measured again, paths where they came to plain's: %s; against plain %s" % (
            mean(r["again reached"] for r in there),
            versus(there, "again reached", "plain again")))
    print("core hours of trainers: plain %.3f, paths %.3f" % (
        sum(r["cpu"] for r in rows) / 3600, sum(r["path cpu"] for r in rows) / 3600))


def main():
    o = options()
    o.bin = os.path.abspath(o.bin)
    first, end = map(int, o.seeds.split(":"))
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        rows = list(pool.map(lambda seed: one_seed(o, seed), range(first, end)))
    if o.only_plain:
        print("%s: plain %s, again %s, %.0f epochs, %.3f core hours" % (
            o.study, mean(r["plain"] for r in rows), mean(r["plain again"] for r in rows),
            statistics.mean(r["epochs"] for r in rows), sum(r["cpu"] for r in rows) / 3600))
    else:
        show(o, rows)


if __name__ == "__main__":
    main()
