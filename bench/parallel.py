#!/usr/bin/env python3
"""parallel.py - what it costs to search with many evaluations at once: hypervolume for the
same number of evaluations and for the same time, and CPU of a proposal.

  bench/parallel.py BENCH [--all]

Every training takes the same time here, so that with PARALLEL at once a time of ROUNDS
trainings is ROUNDS * PARALLEL evaluations. `+-` is half of a 95 % interval of the mean over
seeds (Student's t). --all: the tables of docs/cluster.md, which take half an hour; without
it, fewer problems, seeds and results, within two minutes."""
import json
import math
import os
import subprocess
import sys

BENCH = os.path.abspath(sys.argv[1])
ALL = "--all" in sys.argv[2:]
PARALLEL = (1, 8, 32, 64)
FIRST_SEED = 200  # no part in tuning
T95 = {3: 4.303, 5: 2.776, 10: 2.262}  # by the number of seeds
# evaluations or rounds, problems, seeds
if ALL:
    SAME_NUMBER = (272, ("dplike", "dplike2", "dplike3", "kursawe", "fonseca4"), 5)
    SAME_TIME = (8, ("dplike", "dplike3", "kursawe"), 5)
    RESULTS = (500, 1000, 2000, 5000)
else:
    SAME_NUMBER = (144, ("dplike", "dplike3"), 3)
    SAME_TIME = (6, ("dplike", "dplike3"), 3)
    RESULTS = (500, 1000)


def optimizer(*options):
    command = [BENCH + "/optimizer", *map(str, options)]
    return json.loads(subprocess.check_output(command, text=True))


def volume(problem, parallel, evaluations, seeds):
    row = optimizer("-p", problem, "-q", parallel, "-n", evaluations, "-s", seeds,
                    "-f", FIRST_SEED)
    half = T95[seeds] * row["sd"] / math.sqrt(seeds - 1)
    return "%.4g +- %.2g" % (row["hypervolume"], half)


def table(title, problems, seeds, evaluations):
    print(title)
    for problem in problems:
        cells = []
        for parallel in PARALLEL:
            cells.append(volume(problem, parallel, evaluations(parallel), seeds))
        print("  %-10s" % problem, *("%20s" % c for c in cells), flush=True)


number, problems, seeds = SAME_NUMBER
heads = " ".join("%20d" % p for p in PARALLEL)
table("hypervolume of %d evaluations, %d seeds, by parallel\n%13s%s" % (number, seeds, "", heads[2:]),
      problems, seeds, lambda parallel: number)
rounds, problems, seeds = SAME_TIME
table("hypervolume after the time of %d trainings, %d seeds, by parallel" % (rounds, seeds),
      problems, seeds, lambda parallel: rounds * parallel)
print("CPU milliseconds of a proposal by known results: none pending, 63 pending")
for results in RESULTS:
    alone, many = (optimizer("-N", results, "-q", q)["proposal_ms"] for q in (1, 64))
    print("  %5d %8.1f %8.1f" % (results, alone, many), flush=True)
