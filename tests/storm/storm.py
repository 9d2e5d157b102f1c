"""storm.py - what the programs of tests/storm share: programs of a build set apart, journals
without their times, tables, and the verdict."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/e2e"))
import harness  # noqa: E402

# Nothing here computes for long: one thread each leaves the cores to the storm.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def options(doc, **defaults):
    """An argument parser with what all programs take."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("DPARETO_BIN", "_b"),
                        help="folder of the build (default: $DPARETO_BIN, else _b)")
    parser.add_argument("--tools", default=None, metavar="DIR",
                        help="build whose tests/storm is used (default: the same)")
    parser.add_argument("--seed", type=int, default=defaults.get("seed", 1))
    parser.add_argument("--work", default=None,
                        help="folder for state and evidence (default: a new one in $TMPDIR; "
                        "/dev/shm is fast)")
    parser.add_argument("--json", default=None, metavar="FILE",
                        help="append the figures as one line of JSON to FILE")
    return parser


class Figures:
    """One run: its violations, its figures and its verdict."""

    folder = None  # where the evidence is

    def __init__(self, name, args):
        self.name, self.args, self.began = name, args, time.monotonic()
        self.violations, self.figures = [], {"program": name, "seed": args.seed}

    def seconds(self):
        return time.monotonic() - self.began

    def violation(self, what, evidence=None):
        """Something that must never be seen. `evidence` is a folder that is kept."""
        self.violations.append(what)
        print("VIOLATION: %s%s" % (what, "\n  evidence: " + evidence if evidence else ""),
              flush=True)

    def end(self, **figures):
        """Prints the verdict, leaves the evidence or tidies up; the exit code."""
        self.figures.update(figures)
        self.figures.update(seconds=round(self.seconds(), 1), violations=len(self.violations))
        line = json.dumps(self.figures)
        print(line)
        if self.args.json:
            with open(self.args.json, "a") as f:
                f.write(line + "\n")
        if self.violations:
            print("%s: %d VIOLATIONS (seed %d)%s" % (
                self.name, len(self.violations), self.args.seed,
                "; the evidence is in " + self.folder if self.folder else ""))
            return 1
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        print("%s: no violation in %.0f s (seed %d)" %
              (self.name, self.seconds(), self.args.seed))
        return 0


class Storm(Figures):
    """A run with a folder, and programs in it that daemons are started of."""

    def __init__(self, name, args):
        super().__init__(name, args)
        self.build = os.path.abspath(args.build)
        self.tools = os.path.join(os.path.abspath(args.tools or args.build), "tests/storm")
        if args.work:
            os.makedirs(args.work, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix="dpareto-%s-" % name, dir=args.work)
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        self.trainer = os.path.join(self.tools, "trainer")
        for path in (self.trainer, os.path.join(self.build, "dparetod")):
            if not os.access(path, os.X_OK):
                sys.exit("%s is missing: make -C %s all && make -C %s tests" %
                         (path, args.build, args.build))
        # Without dpareto-report: its pictures would take most of the time.
        for program in ("dparetod", "dpareto-shim", "dparetoctl"):
            self.take(program, program)
        harness.BIN = self.bin

    def take(self, program, name):
        source, target = os.path.join(self.build, program), os.path.join(self.bin, name)
        if os.path.exists(target):
            os.remove(target)
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)


def preload(tools, name):
    """Environment in which this library comes first; sanitizers would rather be it."""
    return {"LD_PRELOAD": os.path.join(tools, name),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def table(head, rows):
    """Columns as wide as they need to be; numbers to the right."""
    rows = [[("%.3g" % c if isinstance(c, float) else str(c)) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip(), flush=True)


def dump(state):
    """All records of a journal; raises if they cannot be read."""
    p = subprocess.run([harness.program("dparetoctl"), "journal", "dump", "--state", state],
                       capture_output=True, text=True, timeout=harness.LIMIT)
    if p.returncode:
        raise AssertionError("journal dump ended with %d: %s" % (p.returncode, p.stderr))
    return [json.loads(line) for line in p.stdout.splitlines()]


def verify(state):
    p = subprocess.run([harness.program("dparetoctl"), "journal", "verify", "--state", state],
                       capture_output=True, text=True, timeout=harness.LIMIT)
    return p.returncode, (p.stdout + p.stderr).strip()


# Fields that are times, or follow from them or from the number of attempts.
PASSING = ("time", "seq", "study", "basis", "path", "dir", "attempt", "exit", "sought")


def timeless(records, in_order):
    """What a study's journal says, without times and without attempts that made no result:
    {name: [record...]}, by trial unless the order of all of it must be the same."""
    studies, told = {}, {}
    for r in records:
        if r["seq"] == 0:
            studies[r["study"]] = (r["name"], [])
        name, kept = studies[r["study"]]
        if r["type"] in ("attempt-planned", "attempt-adopted") or \
                r["type"] == "attempt-ended" and r["end"] not in ("ok", "diverged"):
            continue
        r = {k: v for k, v in r.items() if k not in PASSING}
        if not in_order(name):  # whichever run of a trial ends first tells its epsilons
            key = name, r.get("trial")
            if "epsilons" in r:
                told[key] = r.pop("epsilons")
            if r["type"] == "trial-ended":
                r["told"] = told.get(key)
        kept.append(r)
    return {name: kept if in_order(name) else
            sorted(kept, key=lambda r: (r.get("trial", -1), -1 if r.get("run") is None
                                        else r["run"]))
            for name, kept in studies.values()}


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return "record %d: %s, undisturbed: %s" % (i, json.dumps(x)[:300],
                                                       json.dumps(y)[:300])
    return "%d records, undisturbed: %d" % (len(a), len(b))
