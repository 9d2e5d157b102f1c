#!/usr/bin/env python3
"""damage.py - damages journals in many ways and looks what becomes of them.

  damage.py --build DIR [--images N] [--seed N]

Makes one real journal (five studies, trials that failed, were retried and deleted, free
pages), then N damaged copies of it, and checks for each:
- `journal verify` ends by itself with 0 or 1, and finds a fault whenever the daemon cannot
  start or write;
- a daemon comes up, or says why in a sentence and exits with 1; never a signal;
- `journal repair` gives a journal that verifies clean, or says that nothing can be read;
  what it kept is what was written, every study that it calls whole is whole, and a study
  that lost nothing to the damage is;
- a daemon starts on what was repaired.
Prints a line for each kind of damage; exit status 1 if anything went wrong."""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/e2e"))
PAGE = 4096
SHELL = ("#!/bin/sh\n"
         "case $DPARETO_STUDY in bad*) [ $((DPARETO_TRIAL % 4)) = 1 ] && exit 3 ;; esac\n"
         "echo '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> \"$DPARETO_RESULT\"\n")


# ---- ways to damage a file: each takes the bytes, the number of pages in use and a random
# generator, and returns other bytes ----

def flip_bits(data, used, rng):
    for _ in range(rng.choice((1, 1, 4, 60))):
        data[rng.randrange(used * PAGE)] ^= 1 << rng.randrange(8)


def flip_in_headers(data, used, rng):
    for _ in range(rng.choice((1, 2, 10))):
        data[rng.randrange(used) * PAGE + rng.randrange(64)] ^= 1 << rng.randrange(8)


def flip_in_meta(data, used, rng):
    data[rng.randrange(2) * PAGE + rng.randrange(160)] ^= 1 << rng.randrange(8)


def zero_pages(data, used, rng):
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.randrange(2, used) * PAGE
        data[at:at + PAGE] = bytes(PAGE)


def random_pages(data, used, rng):
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.randrange(2, used) * PAGE
        data[at:at + PAGE] = rng.randbytes(PAGE)


def swap_pages(data, used, rng):
    a, b = (rng.randrange(2, used) * PAGE for _ in range(2))
    data[a:a + PAGE], data[b:b + PAGE] = data[b:b + PAGE], data[a:a + PAGE]


def stale_page(data, used, rng):
    """A write that went to the wrong place: one page holds another's bytes, with a right
    number."""
    a, b = (rng.randrange(2, used) * PAGE for _ in range(2))
    data[a + 8:a + PAGE] = data[b + 8:b + PAGE]


def cut(data, used, rng):
    del data[rng.randrange(used * PAGE):]


def stale_meta(data, used, rng):
    """The newer header is lost: the older one is used, or its state is mixed in."""
    a = rng.randrange(2) * PAGE
    data[a:a + PAGE] = bytearray(data[PAGE - a:2 * PAGE - a]) if rng.random() < 0.5 else \
        bytes(PAGE)


def tear_sector(data, used, rng):
    at = rng.randrange(2 * 8, used * 8) * 512
    data[at:at + 512] = rng.choice((bytes(512), rng.randbytes(512)))


KINDS = (flip_bits, flip_in_headers, flip_in_meta, zero_pages, random_pages, swap_pages,
         stale_page, cut, stale_meta, tear_sector)


class Images:
    """A journal, and what becomes of damaged copies of it."""

    def __init__(self, harness, folder):
        self.h, self.folder = harness, folder
        self.wrong = []
        self.figures = collections.Counter()
        os.makedirs(folder, exist_ok=True)
        self.make()

    # ---- the journal as it was ----

    def daemon(self):
        return self.h.Daemon(self.folder, "--slots", "2")

    def submit(self, client, name, evaluations, more=""):
        client("submit", path="x", dir=self.folder, text=(
            "study: %s\nseed: 7\ndata: public\ntrainer: {command: [./trainer]}\n"
            "parameters: {x: {type: float, range: [0, 1]}}\n"
            "objectives: {a: {metric: a}, b: {metric: b}}\nanti_ideal: {a: 2, b: 2}\n"
            "search: {method: random, evaluations: %d}\n%s" % (name, evaluations, more)))

    def finish(self, client, name):
        self.h.wait_for(lambda: client("status", study=name)["study"]["state"] != "running")

    def make(self):
        path = os.path.join(self.folder, "trainer")
        with open(path, "w") as f:
            f.write(SHELL)
        os.chmod(path, 0o755)
        d = self.daemon().start()
        client = d.connect()
        for name, n in (("one", 8), ("gone", 6), ("bad", 6), ("two", 10), ("long", 3)):
            self.submit(client, name, n, "# " + "x" * 9000 + "\n" if name == "long" else "")
            self.finish(client, name)
            if name == "bad":
                client("delete", study="gone")
        client.close()
        assert d.end() == 0, d.said
        self.data = os.path.join(self.folder, "state/journal/data.mdb")
        with open(self.data, "rb") as f:
            self.bytes = f.read()
        newest = max((PAGE * i + 16 for i in range(2)), key=lambda at: self.number(at + 128))
        self.used = self.number(newest + 120) + 1
        self.records = self.dump()
        # the folders of attempts as they were, too
        shutil.copytree(os.path.join(self.folder, "state"),
                        os.path.join(self.folder, "whole"))

    def number(self, at):
        return int.from_bytes(self.bytes[at:at + 8], "little")

    def ctl(self, *arguments):
        try:
            p = subprocess.run(
                [self.h.program("dparetoctl"), *arguments, "--state",
                 os.path.join(self.folder, "state")], capture_output=True, text=True,
                timeout=300, errors="replace")
            return p.returncode, p.stdout, p.stderr
        except subprocess.TimeoutExpired:
            return "hang", "", ""

    def dump(self):
        """{study: [record as JSON text]}"""
        code, out, said = self.ctl("journal", "dump")
        assert code == 0, said
        studies = collections.defaultdict(list)
        for line in out.splitlines():
            studies[json.loads(line)["study"]].append(line)
        return studies

    # ---- one image ----

    def put(self, data):
        state = os.path.join(self.folder, "state")
        shutil.rmtree(state)
        shutil.copytree(os.path.join(self.folder, "whole"), state)
        with open(self.data, "wb") as f:
            f.write(data)

    def complain(self, *words):
        self.wrong.append(" ".join(str(w) for w in (self.name, *words)))

    def start(self):
        """None if a daemon came up, wrote and stopped; else its exit code and words."""
        d = self.daemon().start()
        try:
            client = d.connect()
        except AssertionError as e:  # which has what it said
            return d.ends()[0], str(e).partition("dparetod ended: ")[2].split("\n20")[0]
        try:
            self.submit(client, "new", 1)
            self.finish(client, "new")
            client.close()
        except (OSError, ValueError) as e:  # it died under the question
            return d.end(), "it came up, then: %s %s" % (e, d.said)
        code = d.end()
        return None if code == 0 else (code, d.said)

    def check_start(self, faults):
        ended = self.start()
        if ended is None:
            self.figures["daemon came up"] += 1
            return
        self.figures["daemon said why"] += 1
        code, said = ended
        if code != 1 or not said.startswith("dparetod: "):
            self.complain("the daemon ended with", code, said[-300:])
        if not faults:
            self.complain("verify found nothing, the daemon says", said)

    def check_verify(self):
        code, out, said = self.ctl("journal", "verify", "-o", "json")
        if code not in (0, 1):
            self.complain("verify ended with", code, said)
            return []
        faults = json.loads(out)["faults"]
        if (code == 1) != bool(faults):
            self.complain("verify ended with", code, "and", len(faults), "faults")
        self.figures["verify found faults" if faults else "verify found none"] += 1
        return faults

    def check_kept(self, report):
        """What is there now is what was there, but for what the repair says."""
        now = self.dump()
        for s in report["studies"]:
            was, have = self.records.get(s["study"], []), now.get(s["study"], [])
            if not was:  # repair looks on free pages too; the manual says so
                self.figures["deleted studies that are back"] += 1
                continue
            if s["whole"] and have != was[:len(have)]:
                self.complain("study", s["study"], "is called whole and is not")
            self.figures["studies whole" if s["whole"] else "studies not whole"] += 1
            self.figures["records kept"] += sum(a == b for a, b in zip(was, have))
            self.figures["records of them"] += len(was)
            for a, b in zip(was, have):
                made = json.loads(b)
                if a != b and made["type"] == "attempt-ended" and "metrics" in made:
                    self.complain("a result was made up:", b)

    def check_repair(self, faults):
        code, out, said = self.ctl("journal", "repair", "-o", "json")
        if code != 0:
            self.figures["repair: nothing can be read"] += 1
            if code != 1 or ("nothing can be read" not in out + said):
                self.complain("repair ended with", code, out, said)
            return
        report = json.loads(out)
        if report["repaired"] != bool(faults):
            self.complain("verify found", len(faults), "faults, repair says", out)
        self.figures["repaired" if report["repaired"] else "nothing to repair"] += 1
        code, out, said = self.ctl("journal", "verify")
        if code != 0:
            self.complain("after the repair verify says", out, said)
        if report["repaired"]:
            self.check_kept(report)
        ended = self.start()
        if ended:
            self.complain("after the repair the daemon ended with", *ended)

    def check(self, kind, seed):
        rng = random.Random(seed)
        data = bytearray(self.bytes)
        kind(data, self.used, rng)
        self.name = "%s %d:" % (kind.__name__, seed)
        self.figures["images"] += 1
        self.put(data)
        faults = self.check_verify()
        self.check_start(faults)
        self.put(data)
        self.check_repair(faults)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("--images", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    os.environ["DPARETO_BIN"] = os.path.abspath(args.build)
    import harness  # reads the variable
    # in memory, if there is such a place: nothing here is about the disk
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="dpareto-damage-", dir=shm)
    try:
        images = Images(harness, os.path.join(folder, "x"))
        for i in range(args.images):
            images.check(KINDS[i % len(KINDS)], args.seed * 1000000 + i)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, n in sorted(images.figures.items()):
        print("%-32s %d" % (name, n))
    for line in images.wrong:
        print("WRONG", line)
    return 1 if images.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
