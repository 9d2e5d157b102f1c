#!/usr/bin/env python3
"""slurm.py - evaluations per minute through a Slurm of three nodes on this machine.

  bench/slurm.py BIN [--evaluations 60] [--queue 12] [--seconds 0.2] [--rounds 1] [--accounting]

The same small job each time: dpareto-shim of the folder BIN, and below it a trainer that sleeps
for so many seconds and reports. WAYS says by whom it is submitted; each makes all evaluations and
answers when the last exit.json is there. `queue` keeps so many jobs in Slurm's queue, as a study
with `parallel` does, and learns of their ends from their files alone, looked at every 50 ms: what
one gets who does nothing else. `at once` submits everything first, `array` by one call of sbatch.
`dparetod` is a study with `parallel` of that many, proposals at random, and the CPU that the daemon
itself took for an evaluation, without the commands of Slurm's that it ran.
The cluster has 12 CPUs, and every job takes one: 12 / seconds is the most that there can be."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TOP, "tests", folder) for folder in ("cluster", "e2e")]
from harness import Client  # noqa: E402
from slurm import CPUS, NODES, Slurm, wait_for  # noqa: E402

TRAINER = """#!/bin/sh
sleep %g
echo '{"run":0,"metrics":{"a":1,"b":1}}' >>"$DPARETO_RESULT"
echo '{"done":true}' >>"$DPARETO_RESULT"
"""
REQUEST = ('{"version":1,"study":"s","trial":0,"attempt":0,"parameters":{},'
           '"runs":[{"run":0,"seed":1}]}\n')
# $1 is the folder of all evaluations, $2 the number of this one, unless Slurm has numbered it.
JOB = """#!/bin/sh
dir=$1/${SLURM_ARRAY_TASK_ID:-$2}/0
export DPARETO_REQUEST="$dir/request.json" DPARETO_RESULT="$dir/result.jsonl"
exec %s/dpareto-shim --dir "$dir" --grace 10 --log-limit 16777216 -- %s/trainer
"""


class Bare:
    """sbatch and nothing else."""

    def __init__(self, slurm, options, folder):
        self.slurm, self.options, self.folder = slurm, options, folder
        self.n = options.evaluations
        self.write("trainer", TRAINER % options.seconds)
        self.write("job", JOB % (os.path.abspath(options.bin), folder))
        for i in range(self.n):
            os.makedirs("%s/%d/0" % (folder, i))
            with open("%s/%d/0/request.json" % (folder, i), "w") as f:
                f.write(REQUEST)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def sbatch(self, *options, number=""):
        subprocess.run(
            ["sbatch", "--parsable", "--no-requeue", "--output=/dev/null", *options,
             self.folder + "/job", self.folder, str(number)],
            env={**os.environ, **self.slurm.env()}, check=True, stdout=subprocess.DEVNULL)

    def ended(self, numbers):
        return {i for i in numbers if os.path.exists("%s/%d/0/exit.json" % (self.folder, i))}

    def wait(self, numbers):
        while numbers:
            numbers -= self.ended(numbers)
            time.sleep(0.05)

    def queue(self):
        waiting, inside = list(range(self.n)), set()
        while waiting or inside:
            while waiting and len(inside) < self.options.queue:
                inside.add(waiting[0])
                self.sbatch(number=waiting.pop(0))
            inside -= self.ended(inside)
            time.sleep(0.05)

    def at_once(self):
        for i in range(self.n):
            self.sbatch(number=i)
        self.wait(set(range(self.n)))

    def array(self):
        self.sbatch("--array=0-%d" % (self.n - 1))
        self.wait(set(range(self.n)))


STUDY = """study: s
data: public
trainer: {command: [./trainer], executor: slurm}
parameters: {x: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 2, b: 2}
search: {method: random, evaluations: %d, parallel: %d}
"""


def cpu_seconds(pid):
    """Of a process and its threads, not of its children."""
    with open("/proc/%d/stat" % pid) as f:
        user, system = f.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Daemon:
    """dparetod with a study."""

    def __init__(self, slurm, options, folder):
        self.options, self.folder = options, folder
        with open(folder + "/trainer", "w") as f:
            f.write(TRAINER % options.seconds)
        os.chmod(folder + "/trainer", 0o755)
        self.process = subprocess.Popen(
            [os.path.join(options.bin, "dparetod"), "--state", folder + "/state", "--socket",
             folder + "/sock", "--log-file", folder + "/log", "--slurm",
             '{"jobs": %d}' % options.queue], env={**os.environ, **slurm.env()})

    def connect(self):
        try:
            return Client(self.folder + "/sock")
        except OSError:
            return None

    def study(self):
        """The CPU of one evaluation, in milliseconds."""
        try:
            client = wait_for(self.connect)
            client("submit", text=STUDY % (self.options.evaluations, self.options.queue),
                   path=self.folder + "/study.yaml", dir=self.folder)
            status, version = {"state": "running"}, 0
            while status["state"] == "running":
                status = client("changes", study="s", since=version, timeout_ms=1000)["study"]
                version = status["version"]
            if status["ok"] != self.options.evaluations:
                raise SystemExit("the study did not end well: %s" % status)
            return "daemon CPU %.1f ms an evaluation" % (
                1000 * cpu_seconds(self.process.pid) / self.options.evaluations)
        finally:
            self.process.terminate()
            self.process.wait()


# What is measured, a function of (slurm, options, folder) each, which may tell more.
WAYS = {
    "dparetod": lambda *place: Daemon(*place).study(),
    "sbatch, queue": lambda *place: Bare(*place).queue(),
    "sbatch, at once": lambda *place: Bare(*place).at_once(),
    "sbatch, array": lambda *place: Bare(*place).array(),
}


def measure(way, slurm, options, top):
    folder = tempfile.mkdtemp(dir=top)
    began = time.monotonic()
    more = WAYS[way](slurm, options, folder)
    rate = 60 * options.evaluations / (time.monotonic() - began)
    slurm.wait_idle()
    return rate, more or ""


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0][11:])
    a.add_argument("bin")
    a.add_argument("--evaluations", type=int, default=60)
    a.add_argument("--queue", type=int, default=len(NODES) * CPUS, help="jobs in it at most")
    a.add_argument("--seconds", type=float, default=0.2, help="that a trainer takes")
    a.add_argument("--rounds", type=int, default=1)
    a.add_argument("--accounting", action="store_true")
    options = a.parse_args()
    rates, top = {way: [] for way in WAYS}, tempfile.mkdtemp(prefix="dpareto-bench-")
    with Slurm(options.accounting) as slurm:
        for _ in range(options.rounds):
            for way, seen in rates.items():
                seen.append(measure(way, slurm, options, top))
    shutil.rmtree(top)
    for way, seen in rates.items():
        print("%-16s %6.0f evaluations/min   (rounds: %s) %s" % (
            way, statistics.median(r for r, _ in seen), ", ".join("%.0f" % r for r, _ in seen),
            ", ".join(filter(None, (more for _, more in seen)))))


if __name__ == "__main__":
    main()
