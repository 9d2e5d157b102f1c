#!/usr/bin/env python3
"""powercut.py - the journal as a power cut could have left it, thousands of times.

  tests/storm/powercut.py [--build DIR] [--images N] [--starts N] [--seed N] [--work DIR]

A daemon runs studies while recorder.so writes down every write, sync and change of length of
its journal. An image is the file at a random moment: all that was synced, and of what was
written since then any part: each sector of 512 bytes as it was or as any of the writes since
made it, the file as long as it was or became. Each image is read by `dparetoctl journal dump`
and `verify`; of some a real daemon is started, which must end all studies as they ended before.
Checked for every image: each record that somebody was told about - a submit, a result, a
deletion, an attempt whose trainer started - is there, and what is there is the beginning of what
was written, nothing else."""
import collections
import concurrent.futures
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys

import storm
import harness

SECTOR = 512
STEP = struct.Struct("<cc6xQQ")
STUDY = """study: %(name)s
seed: %(seed)d
data: public
trainer: {command: [%(trainer)s, "1"], runs: 2, retries: 1000}
parameters: {x: {type: float, range: [0, 1]}, y: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 2, b: 2}
search: {method: random, evaluations: %(n)d, parallel: %(parallel)d}
%(ballast)s"""


def read_log(path):
    """[(what, sync, at, bytes, end in the log)...]"""
    with open(path, "rb") as f:
        log = f.read()
    steps, at = [], 0
    while at < len(log):
        what, sync, where, size = STEP.unpack_from(log, at)
        at += STEP.size
        steps.append((what, sync == b"\1", where, log[at:at + size], at + size))
        at += size
    return steps


class Recording:
    """The daemon's run: steps of its journal, and who was told what when."""

    def __init__(self, s):
        self.s, self.folder = s, s.folder + "/recorded"
        os.mkdir(self.folder)
        self.log = self.folder + "/steps"
        self.told = []   # (length of the log, kind, study, detail)
        self.final = {}  # number of the study: its records
        self.names = {}
        self.daemon = harness.Daemon(
            self.folder, "--slots", "4", "--log-level", "warn",
            env={**storm.preload(s.tools, "recorder.so"), "RECORDER_LOG": self.log})

    def tell(self, kind, study, detail=None):
        self.told.append((os.path.getsize(self.log), kind, study, detail))

    def submit(self, client, name, n, parallel, ballast=0):
        text = STUDY % dict(name=name, seed=len(self.names), trainer=self.s.trainer, n=n,
                            parallel=parallel, ballast="# " + "x" * ballast + "\n")
        number = client("submit", text=text, path=self.folder + "/s.yaml",
                        dir=self.folder)["study"]["id"]
        self.names[name] = number
        self.tell("created", number)

    def watch(self, client):
        """Until all studies are over, noting each result when it is first shown."""
        seen, going = set(), True
        while going:
            going = False
            for x in client.every("list"):
                if x["ended"]:
                    for t in client.every("trials", study=x["name"]):
                        if t["state"] == "ok" and (x["id"], t["trial"]) not in seen:
                            seen.add((x["id"], t["trial"]))
                            self.tell("result", x["id"], (t["trial"],
                                                          list(t["objectives"].values())))
                if x["state"] == "running":
                    going = True
                else:
                    self.tell("moved", x["id"], x["state"])

    def remember(self):
        for r in storm.dump(self.daemon.state):
            self.final.setdefault(r["study"], {})[r["seq"]] = r

    def run(self):
        n, client = self.s.args.evaluations, self.daemon.start().connect()
        self.submit(client, "one", n, 1)
        self.submit(client, "two", n, 4, 30000)   # a record of many pages
        self.submit(client, "gone", n // 4, 2, 9000)
        self.watch(client)
        self.remember()
        client("delete", study="gone")
        self.tell("deleted", self.names["gone"])
        self.submit(client, "three", n, 2)        # takes the free pages
        self.watch(client)
        client.close()
        if self.daemon.end() != 0:
            sys.exit("the recorded daemon went wrong: " + self.daemon.said)
        self.remember()
        with open(self.folder + "/notes") as f:
            for line in f:
                what, study, key, _, _, _, size = line.split()
                if what == "start":
                    self.told.append((int(size), "started", self.names[study],
                                      int(key.split("/")[0])))
        self.told.sort(key=lambda t: t[0])
        self.steps = read_log(self.log)
        return self


class Image:
    """A file of which parts are as they were."""

    def __init__(self):
        self.bytes, self.size = bytearray(), 0

    def put(self, at, data):
        if len(self.bytes) < at + len(data):
            self.bytes.extend(bytes(at + len(data) - len(self.bytes)))
        self.bytes[at:at + len(data)] = data
        self.size = max(self.size, at + len(data))

    def apply(self, step):
        what, _, at, data, _ = step
        if what == b"w":
            self.put(at, data)
        elif what == b"t":
            del self.bytes[at:]
            self.size = at

    def copy(self):
        other = Image()
        other.bytes, other.size = bytearray(self.bytes), self.size
        return other

    def save(self, path):
        with open(path, "wb") as f:
            f.write(self.bytes)
            f.truncate(self.size)


def sectors(step):
    """(place, bytes) of each sector that a write touches."""
    _, _, at, data, _ = step
    while data:
        n = SECTOR - at % SECTOR
        yield at, data[:n]
        at, data = at + n, data[n:]


def tear(durable, pending, rng):
    """The file if the power ends now: of what is pending, any part."""
    image, keep = durable.copy(), rng.choice((0, 0.1, 0.5, 0.9, 1))
    whole = rng.random() < 0.3  # writes reach the disk whole, or sector by sector
    versions = collections.defaultdict(list)
    sizes = [durable.size]
    for step in pending:
        if step[0] == b"t":
            sizes.append(step[2])
        elif whole:
            if rng.random() < keep:
                image.put(step[2], step[3])
        else:
            for at, data in sectors(step):
                versions[at].append(data)
    for at, several in versions.items():
        if rng.random() < keep:
            image.put(at, rng.choice(several))
    image.size = max(image.size, rng.choice(sizes))
    return image


def images(recording, n, rng):
    """(number, image, length of the log) at random moments, in their order."""
    steps = recording.steps
    cuts = sorted(rng.randrange(len(steps) + 1) for _ in range(n))
    durable, pending, at = Image(), [], 0
    for number, cut in enumerate(cuts):
        for step in steps[at:cut]:
            if step[0] == b"s" and recording.s.args.lie:
                continue
            if step[0] == b"s":
                for p in pending:
                    durable.apply(p)
                pending = []
            elif step[1]:
                durable.apply(step)
            else:
                pending.append(step)
        at = max(at, cut)
        flying = steps[cut:cut + 1] if cut < len(steps) and steps[cut][0] != b"s" else []
        yield number, tear(durable, pending + flying, rng), steps[cut - 1][4] if cut else 0


class Checker:
    def __init__(self, s, recording):
        self.s, self.recording = s, recording
        self.counts = collections.Counter()

    def look(self, state):
        """The image's records; a sentence where they cannot be read."""
        p = subprocess.run([harness.program("dparetoctl"), "journal", "dump", "--state", state],
                           capture_output=True, text=True, timeout=harness.LIMIT)
        if p.returncode < 0 or p.returncode and not p.stderr.strip():
            return None, "journal dump ended with %d: %s" % (p.returncode, p.stderr)
        if p.returncode:
            return [], p.stderr.strip()
        return [json.loads(x) for x in p.stdout.splitlines()], None

    def missing(self, records, length):
        """What somebody was told before, and is not there; None if all is."""
        by, found = collections.defaultdict(dict), set()
        for r in records:
            by[r["study"]][r["seq"]] = r
            if r["type"] == "trial-ended":
                found.add(("result", r["study"], r["trial"], tuple(r["objectives"])))
            elif r["type"] == "attempt-planned":
                found.add(("started", r["study"], r["trial"]))
            elif r["type"] == "study-moved":
                found.add(("moved", r["study"], r["state"]))
        for study, seqs in by.items():
            if sorted(seqs) != list(range(len(seqs))):
                return "study %d has gaps" % study
            if any(self.recording.final[study][i] != r for i, r in seqs.items()):
                return "study %d has another record than was written" % study
        gone = {t[2] for t in self.recording.told if t[0] <= length and t[1] == "deleted"}
        going = {t[2] for t in self.recording.told if t[1] == "deleted"}
        for size, kind, study, detail in self.recording.told:
            if size > length:
                break
            if study in going and study not in by:
                continue  # deleted, or about to be: the order to do so may have come through
            if kind == "deleted" and study in by:
                return "study %d was deleted and is there" % study
            if kind == "created" and study not in by and study not in gone:
                return "study %d was submitted" % study
            if kind == "result" and ("result", study, detail[0], tuple(detail[1])) not in found:
                return "the result of %d/%d was shown" % (study, detail[0])
            if kind == "started" and ("started", study, detail) not in found:
                return "a trainer of %d/%d was started" % (study, detail)
            if kind == "moved" and ("moved", study, detail) not in found:
                return "study %d was shown as %s" % (study, detail)
        return None

    def check(self, number, image, length, start):
        folder = "%s/image-%d" % (self.s.folder, number)
        state = folder + "/state"
        os.makedirs(state + "/journal")
        image.save(state + "/journal/data.mdb")
        fault = self.fault_of(folder, state, length, start)
        if fault:
            self.s.violation("image %d (the log at %d): %s" % (number, length, fault), folder)
        else:
            shutil.rmtree(folder)

    def fault_of(self, folder, state, length, start):
        records, why = self.look(state)
        if records is None:
            return why
        told = [t for t in self.recording.told if t[0] <= length]
        if why:
            self.counts["unreadable, nothing told yet"] += not told
            return "%s; told before: %s" % (why, told[-1]) if told else None
        fault = self.missing(records, length)
        if fault:
            return "lost: %s" % fault
        code, said = storm.verify(state)
        if code:
            return "journal verify: " + said
        self.counts["images with records" if records else "empty images"] += 1
        self.counts["records"] += len(records)
        return self.go_on(folder, state, records) if start else None

    def go_on(self, folder, state, records):
        """A real daemon goes on from here, to the same end."""
        here = {r["study"]: r["name"] for r in records if r["seq"] == 0}
        for study in here:  # trainers write beside the study file
            os.makedirs(self.recording.folder + "/locks", exist_ok=True)
        d = harness.Daemon(folder, "--slots", "4", "--log-level", "warn").start()
        try:
            client = d.connect()
            harness.wait_for(lambda: all(x["state"] == "finished" and not x["running"]
                                         for x in client.every("list")), pause=0.02)
            client.close()
            code = d.end()
        except AssertionError as e:
            return "a daemon started of it: %s" % e
        finally:
            if d.process.poll() is None:
                d.end(signal.SIGKILL)
        if code or d.said:
            return "a daemon started of it ended with %d: %s" % (code, d.said)
        now = storm.timeless(storm.dump(state), lambda name: False)
        for study, name in here.items():
            whole = storm.timeless(list(self.recording.final[study].values()),
                                   lambda name: False)
            if now[name] != whole[name]:
                return "%s ended otherwise: %s" % (
                    name, storm.first_difference(now[name], whole[name]))
        self.counts["daemons went on"] += 1
        return None


def main():
    parser = storm.options(__doc__)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--starts", type=int, default=60, help="images a daemon is started of")
    parser.add_argument("--evaluations", type=int, default=60, help="of each of the studies")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--lie", action="store_true",
                        help="the disk does not do what syncs ask for: must show violations")
    args = parser.parse_args()
    s = storm.Storm("powercut", args)
    recording = Recording(s).run()
    kinds = collections.Counter(x[0].decode() + ("+" if x[1] else "") for x in recording.steps)
    print("recorded: %d writes, %d durable at once, %d syncs, %d changes of length; "
          "%d times somebody was told something" % (kinds["w"], kinds["w+"], kinds["s"],
                                                    kinds["t"], len(recording.told)))
    checker, rng = Checker(s, recording), random.Random(args.seed)
    every = max(1, args.images // args.starts) if args.starts else 0
    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        jobs = collections.deque()
        for number, image, length in images(recording, args.images, rng):
            jobs.append(pool.submit(checker.check, number, image, length,
                                    every and number % every == every - 1))
            if len(jobs) > 4 * args.workers:  # images are large
                jobs.popleft().result()
        for job in jobs:
            job.result()
    storm.table(["images", "number"], [["all", args.images], *sorted(checker.counts.items())])
    if not checker.counts["images with records"]:
        s.violation("no image had a record in it")
    return s.end(images=args.images, steps=len(recording.steps), told=len(recording.told),
                 **checker.counts)


if __name__ == "__main__":
    sys.exit(main())
