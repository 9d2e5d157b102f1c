#!/usr/bin/env python3
"""fuzz.py - all fuzzers of a build, until so many executions are done in all.

  tests/storm/fuzz.py --build DIR [--executions N | --seconds S] [--workers N] [--slice S]
                      [--corpora DIR] [--merge]

DIR is configured with CC=clang --enable-fuzzers and built by `make fuzzers`. The fuzzers take
turns, a slice each, the one with the fewest executions for its turn first, so that slow
parsers are not left out; at nice 10. Corpora and counts are kept in --corpora (default:
DIR/tests/fuzz), so that a second call goes on where the first ended, and inputs that broke
something are kept there, too: work-SUBJECT/crash-..., leak-..., timeout-..., oom-....
--merge ends with a minimal corpus of each, minimal-SUBJECT, and says how large it is.
--executions counts what all calls together have done."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time

import storm

SEEDS = os.path.join(storm.TOP, "tests/fuzz/corpus")
FINDINGS = ("crash-*", "leak-*", "timeout-*", "oom-*")


class Fuzzer:
    def __init__(self, program, corpora):
        self.program, self.name = program, os.path.basename(program)[len("fuzz_"):]
        self.work = os.path.join(corpora, "work-" + self.name)
        self.minimal = os.path.join(corpora, "minimal-" + self.name)
        self.counts = os.path.join(corpora, "executions-%s.json" % self.name)
        os.makedirs(self.work, exist_ok=True)
        self.seeds = os.path.join(corpora, "seeds-" + self.name)
        packed = os.path.join(SEEDS, self.name + ".tar.xz")
        if os.path.exists(packed):
            with tarfile.open(packed) as seeds:
                seeds.extractall(self.seeds)
        self.executions, self.seconds, self.turns, self.broken = 0, 0.0, 0, None
        if os.path.exists(self.counts):
            with open(self.counts) as f:
                self.executions, self.seconds = json.load(f)
        self.before = self.executions

    def corpora(self):
        return [self.work] + ([self.seeds] if os.path.isdir(self.seeds) else [])

    def findings(self):
        return sorted(x for kind in FINDINGS for x in glob.glob(os.path.join(self.work, kind)))

    def turn(self, seconds):
        """Some seconds of it; what it printed if something broke."""
        began = time.monotonic()
        p = subprocess.run(
            [self.program, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048",
             "-print_final_stats=1", "-verbosity=1", "-artifact_prefix=%s/" % self.work,
             *self.corpora()],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            cwd=self.work, timeout=seconds + 900, preexec_fn=lambda: os.nice(10))
        text = p.stderr.decode(errors="replace")
        found = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
        if not found:  # it died: the last progress line has the count
            found = re.findall(r"^#(\d+)\s", text, re.M)
        self.executions += int(found[-1]) if found else 0
        self.seconds += time.monotonic() - began
        self.turns += 1
        with open(self.counts + ".new", "w") as f:
            json.dump([self.executions, self.seconds], f)
        os.rename(self.counts + ".new", self.counts)
        if p.returncode:
            self.broken = text[-3000:]
            with open(os.path.join(self.work, "finding.log"), "a") as f:
                f.write(text[-20000:])
        return self.broken

    def merge(self):
        """A corpus that reaches as much with as little; (files, bytes)."""
        shutil.rmtree(self.minimal, ignore_errors=True)
        os.makedirs(self.minimal)
        subprocess.run([self.program, "-merge=1", self.minimal, *reversed(self.corpora())],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.work)
        files = [e.stat().st_size for e in os.scandir(self.minimal)]
        return len(files), sum(files)


def find(build, corpora):
    return [Fuzzer(p, corpora) for p in sorted(glob.glob(os.path.join(
        build, "tests/fuzz/fuzz_*"))) if os.access(p, os.X_OK) and "." not in
        os.path.basename(p)]


def main():
    parser = storm.options(__doc__)
    parser.add_argument("--executions", type=float, default=None, help="in all, e.g. 1e8")
    parser.add_argument("--seconds", type=float, default=None, help="for all of them together")
    parser.add_argument("--slice", type=int, default=60, help="seconds of one turn")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--corpora", default=None)
    parser.add_argument("--only", help="fuzzers with this in their name")
    parser.add_argument("--merge", action="store_true")
    args = parser.parse_args()
    corpora = os.path.abspath(args.corpora or os.path.join(args.build, "tests/fuzz"))
    fuzzers = [f for f in find(args.build, corpora) if not args.only or args.only in f.name]
    if not fuzzers:
        sys.exit("no fuzzers in %s/tests/fuzz: configure with CC=clang --enable-fuzzers, then "
                 "make fuzzers" % args.build)
    if args.executions is None and args.seconds is None:
        args.seconds = 60.0 * len(fuzzers)
    s, lock, busy = storm.Figures("fuzz", args), threading.Lock(), set()

    def next_one():
        """Who has had the fewest turns, then the fewest executions; None when all is done."""
        with lock:
            done = sum(f.executions for f in fuzzers)
            free = [f for f in fuzzers if not f.broken and f not in busy]
            if args.executions is not None and done >= args.executions or not free or \
                    args.seconds is not None and s.seconds() >= args.seconds:
                return None
            f = min(free, key=lambda f: (f.turns, f.executions))
            busy.add(f)
            return f

    def worker(_):
        f = next_one()
        while f:
            seconds = args.slice if args.seconds is None else \
                max(1, min(args.slice, args.seconds - s.seconds()))
            if f.turn(int(seconds)):
                s.violation("fuzz_%s: %s" % (f.name, f.broken), f.work)
            with lock:
                busy.discard(f)
                print("%-14s %12d executions, all: %d after %.0f s" % (
                    f.name, f.executions, sum(x.executions for x in fuzzers), s.seconds()),
                    flush=True)
            f = next_one()

    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        list(pool.map(worker, range(args.workers)))
    rows = []
    for f in fuzzers:
        size = f.merge() if args.merge else ("-", "-")
        rows.append([f.name, f.executions - f.before, f.executions, round(f.seconds),
                     len(os.listdir(f.work)), *size, len(f.findings())])
    total = sum(f.executions for f in fuzzers)
    storm.table(["fuzzer", "executions now", "in all", "seconds", "corpus", "minimal", "bytes",
                 "findings"], [*rows, ["all", sum(r[1] for r in rows), total,
                                       sum(r[3] for r in rows), "", "", "",
                                       sum(r[7] for r in rows)]])
    for f in fuzzers:
        if f.findings() and not f.broken:
            s.violation("fuzz_%s: found before: %s" % (f.name, f.findings()[0]), f.work)
    if not total:
        s.violation("nothing was executed")
    return s.end(executions=total, fuzzers={f.name: f.executions for f in fuzzers})


if __name__ == "__main__":
    sys.exit(main())
