#!/usr/bin/env python3
"""soak.py - a long life in short: many evaluations, studies, clients and restarts.

  tests/storm/soak.py [--build DIR] [--evaluations N] [--studies N] [--clients N]
                      [--restart SECONDS] [--rows N] [--seed N] [--work DIR]

One daemon's state, all studies at once, a trainer that does next to nothing, and clients that
keep asking (status, list, trials, changes, front). At random moments the daemon gets TERM or
KILL and is started again. Shown against the number of evaluations, and judged:
  memory         resident, and before and after a restart: no more after it, and no less than its share
  descriptors    open in the daemon; files: those that are not connections
  journal        bytes per evaluation
  status         time to an answer, median and 99th percentile, as clients saw it
  CPU            of the daemon, milliseconds per evaluation
Nothing may be lost or repeated on the way. State belongs on a fast file system (--work)."""
import asyncio
import collections
import json
import multiprocessing
import os
import random
import signal
import statistics
import sys
import time

import storm
import harness

STUDY = """study: soak-%(n)d
seed: %(n)d
data: public
trainer: {command: [%(trainer)s, "0"], retries: 10}
parameters: {x: {type: float, range: [0, 1]}, y: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 2, b: 2}
search: {method: %(method)s, evaluations: %(evaluations)d, parallel: 2%(more)s}
"""
VERBS = ("status", "status", "status", "list", "trials", "changes", "front")


# ---- clients, in a process of their own ----

def request(rng, studies):
    verb = rng.choice(VERBS)
    fields = {"v": 1, "do": verb}
    if verb != "list":
        fields["study"] = "soak-%d" % rng.randrange(studies)
    if verb == "trials":
        fields.update({"from": rng.randrange(400), "limit": 50})
    elif verb == "changes":
        fields.update(since=0, timeout_ms=rng.randrange(1000))
    return verb, json.dumps(fields).encode() + b"\n"


async def one_client(path, seed, studies, pause, times):
    rng = random.Random(seed)
    while True:
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 26)
            while True:
                await asyncio.sleep(rng.expovariate(1 / pause))
                verb, line = request(rng, studies)
                began = time.monotonic()
                writer.write(line)
                reply = await reader.readline()
                if not reply:
                    break
                if b'"error"' in reply[:40]:
                    times["refused: " + reply.decode()[:200]].append(0)
                elif verb != "changes":  # which waits because it is asked to
                    times[verb].append(time.monotonic() - began)
            writer.close()
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass
        await asyncio.sleep(rng.uniform(0.05, 0.3))  # the daemon is away


def crowd(path, args, pipe):
    """Clients until the pipe says stop; gives what they measured when asked to."""
    async def main():
        times = collections.defaultdict(list)
        for i in range(args.clients):
            asyncio.ensure_future(one_client(path, "%d %d" % (args.seed, i), args.studies,
                                             args.pause, times))
        while True:
            await asyncio.sleep(0.02)
            while pipe.poll():
                if pipe.recv() == "stop":
                    return
                pipe.send({k: list(v) for k, v in times.items()})
                times.clear()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(main())


# ---- the daemon, measured ----

def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(p * len(values)))] if values else float("nan")


class Soak:
    def __init__(self, s):
        self.s, self.args = s, s.args
        self.rng = random.Random(s.args.seed)
        self.daemon = harness.Daemon(s.folder, "--slots", str(s.args.slots), "--log-level",
                                     "warn", "--retention", s.args.retention,
                                     "--max-clients", str(s.args.clients + 100))
        self.cpu_before = 0.0   # of daemons that have ended
        self.restarts = collections.Counter()
        self.resets = []        # (resident before a restart, after it), MB
        self.rows = []

    def proc(self, name):
        with open("/proc/%d/%s" % (self.daemon.process.pid, name)) as f:
            return f.read()

    def resident(self):
        return int(self.proc("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu(self):
        fields = self.proc("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        """All, and those that are not connections: clients come back when they please."""
        folder, kinds = "/proc/%d/fd" % self.daemon.process.pid, []
        for fd in os.listdir(folder):
            try:
                kinds.append(os.readlink(os.path.join(folder, fd)))
            except OSError:
                pass  # closed meanwhile
        return len(kinds), sum(not k.startswith("socket:") for k in kinds)

    def start(self):
        self.client = self.daemon.start().connect()

    def restart(self):
        """TERM or KILL, at once and anew."""
        how = self.rng.choice((signal.SIGTERM, signal.SIGKILL))
        before = self.resident()
        self.cpu_before += self.cpu()
        self.client.close()
        code = self.daemon.end(how)
        if how == signal.SIGTERM and (code or self.daemon.said):
            self.s.violation("stopped by TERM it ended with %d: %s" % (code, self.daemon.said))
        self.restarts[how.name] += 1
        self.start()
        return before

    def summaries(self):
        return self.client.every("list")

    def submit(self):
        a = self.args
        few = min(40, a.evaluations // a.studies)  # of studies with models
        each = -(-(a.evaluations - few * a.models) // (a.studies - a.models))
        for n in range(a.studies):
            model = n < a.models
            text = STUDY % dict(n=n, trainer=self.s.trainer,
                                method="dpareto" if model else "random",
                                evaluations=few if model else each,
                                more=", initial: 8" if model else "")
            self.client("submit", text=text, path=self.s.folder + "/s.yaml", dir=self.s.folder)

    def measure(self, ended, pipe):
        """A row of the table."""
        pipe.send("tell")
        times = pipe.recv()
        for what in times:
            if what.startswith("refused"):
                self.s.violation("a client was " + what)
        last = self.rows[-1] if self.rows else None
        cpu, now = self.cpu_before + self.cpu(), self.s.seconds()
        more = ended - (last["evaluations"] if last else 0)
        journal = self.client("hello")["journal"]
        seen = sum(len(v) for v in times.values())
        descriptors, files = self.descriptors()
        self.rows.append({
            "evaluations": ended, "seconds": round(now, 1),
            "rate": round(more / max(1e-9, now - (last["seconds"] if last else 0)), 1),
            "resident_mb": round(self.resident(), 1), "descriptors": descriptors,
            "files": files,
            "journal_bytes_per_evaluation": round(journal["bytes"] / max(1, ended), 1),
            "status_p50_ms": round(1e3 * percentile(times.get("status", []), 0.5), 2),
            "status_p99_ms": round(1e3 * percentile(times.get("status", []), 0.99), 2),
            "longest_ms": round(1e3 * max((max(v) for v in times.values() if v), default=0), 1),
            "answers": seen, "cpu": cpu,
            "cpu_ms_per_evaluation": round(1e3 * (cpu - (last["cpu"] if last else 0)) /
                                           max(1, more), 3),
            "restarts": sum(self.restarts.values())})
        r = self.rows[-1]
        print("  ".join("%s %s" % (k, r[k]) for k in r if k != "cpu"), flush=True)

    def run(self):
        self.start()
        self.submit()
        total = sum(x["evaluations"] for x in self.summaries())
        ours, theirs = multiprocessing.Pipe()
        clients = multiprocessing.Process(target=crowd, daemon=True, args=(
            self.daemon.socket, self.args, theirs))
        clients.start()
        step = total / self.args.rows
        due, next_restart, before = step, time.monotonic() + self.args.restart, None
        settled = 0
        try:
            while True:
                time.sleep(0.1)
                studies = self.summaries()
                ended = sum(x["ended"] for x in studies)
                if before and time.monotonic() > settled:
                    self.resets.append((before, self.resident()))
                    before = None
                if ended >= due or ended >= total:
                    self.measure(ended, ours)
                    due = (ended // step + 1) * step
                if ended >= total and all(x["state"] == "finished" for x in studies):
                    break
                stuck = [x for x in studies if x["state"] not in ("running", "finished")]
                if stuck:
                    self.s.violation("study %s is %s: %s" % (
                        stuck[0]["name"], stuck[0]["state"], stuck[0]["reason"]))
                    break
                if self.s.seconds() > self.args.at_most:
                    self.s.violation("%d of %d evaluations after %d s" % (
                        ended, total, self.args.at_most))
                    break
                if time.monotonic() > next_restart:
                    before = self.restart()
                    settled = time.monotonic() + 2  # clients are back
                    next_restart = time.monotonic() + self.rng.uniform(
                        0.5, 1.5) * self.args.restart
        finally:
            ours.send("stop")
            clients.join(10)
            if clients.is_alive():
                clients.kill()
        return total

    # ---- verdicts ----

    def flat(self, name, factor, slack):
        """The last third is not above the first third (the very first row warms up)."""
        rows = self.rows[1:] if len(self.rows) > 6 else self.rows
        third = max(1, len(rows) // 3)
        if len(rows) < 3:
            return [name, rows[0][name], rows[-1][name], "too few rows to tell"]
        first = statistics.median(r[name] for r in rows[:third])
        last = statistics.median(r[name] for r in rows[-third:])
        good = last <= first * factor + slack
        if not good:
            self.s.violation("%s is not flat: %g in the first third, %g in the last" %
                             (name, first, last))
        return [name, first, last, "flat" if good else "GROWS"]

    def judge(self):
        rows = [self.flat("files", 1, 12),
                self.flat("journal_bytes_per_evaluation", 1.1, 0),
                self.flat("status_p50_ms", 2, 1), self.flat("status_p99_ms", 2, 10),
                self.flat("cpu_ms_per_evaluation", 1.5, 0.2)]
        # What is known of each evaluation is in memory: so many bytes and no more.
        a, b = self.rows[0], self.rows[-1]
        each = 1e6 * (b["resident_mb"] - a["resident_mb"]) / max(
            1, b["evaluations"] - a["evaluations"])
        rows.append(["resident bytes per evaluation", a["resident_mb"], b["resident_mb"],
                     "%.0f bytes" % each])
        if each > self.args.bytes_each and b["resident_mb"] > a["resident_mb"] + 20:
            self.s.violation("%.0f bytes of memory for each evaluation" % each)
        if self.resets:
            # Free memory stays with a process until it ends: about as much as is in use.
            before, after = (statistics.median(x) for x in zip(*self.resets))
            rows.append(["resident MB before and after a restart, median", before, after,
                         "%.1f MB set free" % (before - after)])
            if before > 2.5 * after + 8:
                self.s.violation("a restart sets %.1f MB free: a leak" % (before - after))
            if after > 1.1 * before + 8:
                self.s.violation("a restart takes %.1f MB more" % (after - before))
        return rows

    def check(self, total):
        """Each evaluation ran once, and is in the journal once."""
        code = self.daemon.end()
        if code or self.daemon.said:
            self.s.violation("the last daemon ended with %d: %s" % (code, self.daemon.said))
        code, said = storm.verify(self.daemon.state)
        if code:
            self.s.violation("journal verify: " + said)
        starts, ok = collections.Counter(), 0
        with open(self.s.folder + "/notes") as f:
            for line in f:
                what, study, key = line.split()[:3]
                starts[study, key] += what == "start"
                if what == "twice":
                    self.s.violation("twice at once: " + line)
        for r in storm.dump(self.daemon.state):
            ok += r["type"] == "trial-ended" and r["state"] == "ok"
        again = [k for k, n in starts.items() if n > 1]
        if again:
            self.s.violation("started twice: %s" % again[:5])
        if ok != total or len(starts) != total:
            self.s.violation("%d evaluations, %d trainers, of %d" % (ok, len(starts), total))


def main():
    parser = storm.options(__doc__)
    parser.add_argument("--evaluations", type=int, default=50000)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--models", type=int, default=4, help="studies with models, 40 each")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--pause", type=float, default=2.0,
                        help="seconds, on average, between two requests of a client")
    parser.add_argument("--restart", type=float, default=6.0, help="seconds between restarts, on average")
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--retention", default="2m", help="of the daemon")
    parser.add_argument("--rows", type=int, default=20, help="of the table")
    parser.add_argument("--bytes-each", type=float, default=3000,
                        help="memory that an evaluation may take")
    parser.add_argument("--at-most", type=float, default=7200, help="seconds")
    args = parser.parse_args()
    s = storm.Storm("soak", args)
    soak = Soak(s)
    try:
        total = soak.run()
        columns = ["evaluations", "seconds", "rate", "resident_mb", "descriptors", "files",
                   "journal_bytes_per_evaluation", "status_p50_ms", "status_p99_ms",
                   "longest_ms", "cpu_ms_per_evaluation", "restarts"]
        storm.table(columns, [[r[c] for c in columns] for r in soak.rows])
        storm.table(["", "first third", "last third", "verdict"], soak.judge())
        soak.check(total)
    finally:
        if soak.daemon.process and soak.daemon.process.poll() is None:
            soak.daemon.end(signal.SIGKILL)
    return s.end(evaluations=soak.rows[-1]["evaluations"], studies=args.studies,
                 clients=args.clients, restarts=dict(soak.restarts),
                 answers=sum(r["answers"] for r in soak.rows), rows=soak.rows)


if __name__ == "__main__":
    sys.exit(main())
