#!/usr/bin/env python3
"""kills.py - kill -9 of daemon, shims and trainers, at random moments, thousands of times.

  tests/storm/kills.py [--build DIR] [--kills N] [--workers N] [--seed N] [--work DIR]

Rounds of many small studies at once: every search method, parallel 1 and 4, order
deterministic, several runs, a process for each run. Each round runs once undisturbed and then
under kills, also while the daemon starts, replays and is handed studies. Checked:
  nothing lost       submits and results that were acknowledged are there and unchanged
  nothing repeated   no attempt starts twice, no trial whose trainer finished starts again
  nothing twice      trainers hold a lock for their trial; whoever finds it taken says so
  no orphans         when all is over no shim and no trainer is left
  the same journal   in all but times and killed attempts, wherever the order is given
Every third round has secret seeds: it is compared with a copy of its own state directory, made when
the studies were accepted.
A round that shows a violation is kept. Ends with a table, a line of JSON and a verdict."""
import collections
import concurrent.futures
import json
import os
import random
import shutil
import signal
import sys
import threading
import time

import storm
import harness

STUDY = """study: %(name)s
seed: %(seed)d
seeds: %(seeds)s
trainer: {command: [%(trainer)s, "%(ms)d"%(tree)s], retries: 1000%(extra)s}
parameters:
  x: {type: float, range: [0, 1]}
  y: {type: float, range: [0, 1]}
  b: {type: float, range: [0.5, 5]}%(walked)s
objectives:
  %(objectives)s
anti_ideal: {%(anti)s}
search: {method: %(method)s, parallel: %(parallel)d%(more)s}
"""
PLAIN = ("a: {metric: a}\n  b: {metric: b}", "a: 2, b: 2")
PRIVATE = ("epsilon: {privacy: {mechanism: svt, cutoff: 3, scale: b}}\n"
           "  error: {metric: f1, of: \"1 - f1\"}", "epsilon: 20, error: 1")
GRID = ", grid: 3"
MODEL = ", initial: 6"
RUNS = ", runs: 3"
EACH = ", runs: 3, runs_per_process: 1"
WALK = ", path: n"
WALKED = "\n  n: {type: int, range: [1, 30]}"
ON_THE_WAY = ("epsilon: {privacy: {mechanism: svt, cutoff: n, scale: b}}\n"
              "  error: {metric: f1, of: \"1 - f1\"}", "epsilon: 200, error: 1")

# name: method, parallel, more of search, more of trainer, objectives
SCENARIOS = {
    "random-1": ("random", 1, "", "", PLAIN),
    "random-4": ("random", 4, "", "", PLAIN),
    "random-4-runs": ("random", 4, "", RUNS, PLAIN),
    "random-4-each": ("random", 4, "", EACH, PRIVATE),
    "grid-1": ("grid", 1, GRID, "", PLAIN),
    "grid-4-each": ("grid", 4, GRID, EACH, PLAIN),
    "ehvi-1": ("dpareto", 1, MODEL + ", acquisition: ehvi", "", PRIVATE),
    "hvpoi-1-runs": ("dpareto", 1, MODEL + ", acquisition: hvpoi", RUNS, PLAIN),
    "poi-1": ("dpareto", 1, MODEL + ", acquisition: poi, design: sobol", "", PRIVATE),
    "chance-1": ("dpareto", 1, MODEL + ", acquisition: random", "", PLAIN),
    "gp-1-each": ("dpareto", 1, MODEL + ", privacy_model: gp", EACH, PRIVATE),
    "front-1": ("dpareto", 1, MODEL + ", reference: front, gain: model", "", PLAIN),
    "ordered-4": ("dpareto", 4, MODEL + ", order: deterministic", "", PRIVATE),
    "ordered-4-each": ("dpareto", 4, MODEL + ", order: deterministic", EACH, PLAIN),
    "path-1-runs": ("dpareto", 1, MODEL, RUNS + WALK, ON_THE_WAY),
    "path-4-each": ("random", 4, "", EACH + WALK, ON_THE_WAY),
    "asap-4": ("dpareto", 4, MODEL, "", PLAIN),
}
ANY_ORDER = {"asap-4"}        # its points depend on who ends first
LEAVE_ALONE = 2               # attempts from this one on are not killed: they back off for long


def in_order(name):
    """Must all records come in the same order? Retries of single runs may overtake."""
    return name.split("-")[1] == "1" and not name.endswith("each")


def in_trees(s, seed):
    """Do trainers of this set work in a child with a session of its own?"""
    return s.args.tree and seed % 2 == 1


def texts(s, seed, seeds="fixed"):
    """The study files of a round, by name."""
    out = {}
    for name, (method, parallel, more, extra, (objectives, anti)) in SCENARIOS.items():
        if s.args.only and s.args.only not in name:
            continue
        n = s.args.evaluations
        out[name] = STUDY % dict(
            name=name, seed=seed, seeds=seeds, trainer=s.trainer, ms=s.args.milliseconds, extra=extra,
            tree=", tree" if in_trees(s, seed) else "", walked=WALKED if WALK in extra else "",
            objectives=objectives, anti=anti, method=method, parallel=parallel,
            more=("" if method == "grid" else ", evaluations: %d" % n) + more)
    return out


def finished(client, studies):
    shown = {x["name"]: x for x in client.every("list")}
    bad = [x for x in shown.values() if x["state"] not in ("running", "finished")]
    if bad:
        raise AssertionError("study %s is %s: %s" % (bad[0]["name"], bad[0]["state"],
                                                     bad[0]["reason"]))
    return all(shown[n]["state"] == "finished" and not shown[n]["running"] for n in studies)


def submit(client, folder, text, **more):
    return client("submit", text=text, path=folder + "/study.yaml", dir=folder, **more)


class References:
    """Journals of undisturbed rounds, made once for each seed."""

    def __init__(self, s):
        self.s, self.lock, self.known = s, threading.Lock(), {}

    def of(self, seed):
        with self.lock:
            if seed not in self.known:
                self.known[seed] = self.make(seed)
            return self.known[seed]

    def make(self, seed):
        folder = os.path.join(self.s.folder, "undisturbed-%d" % seed)
        os.mkdir(folder)
        d = harness.Daemon(folder, "--slots", "8", "--log-level", "warn").start()
        try:
            client, studies = d.connect(), texts(self.s, seed)
            for text in studies.values():
                submit(client, folder, text)
            harness.wait_for(lambda: finished(client, studies), pause=0.05)
            client.close()
        finally:
            d.end()
        journal = storm.timeless(storm.dump(d.state), in_order)
        shutil.rmtree(folder)
        return journal


class Round:
    """One set of studies under kills."""

    def __init__(self, s, references, number):
        self.s, self.number = s, number
        self.rng = random.Random("%d %d" % (s.args.seed, number))
        self.seed = number % s.args.seeds
        self.tree = in_trees(s, self.seed)
        self.secret = number % 3 == 1
        self.reference = None if self.secret else references.of(self.seed)
        self.folder = os.path.join(s.folder, "round-%d" % number)
        os.mkdir(self.folder)
        self.studies = texts(s, self.seed, "secret" if self.secret else "fixed")
        self.daemon = harness.Daemon(self.folder, "--slots", "8", "--log-level", "warn")
        self.kills, self.refused = collections.Counter(), 0
        self.submitted, self.acknowledged = set(), {}
        self.killed = set()      # pids that got KILL, so that their attempt may run again
        self.noted = 0           # bytes of notes that were read
        self.alive = {}          # (study, key): (pid, shim)

    def fault(self, what):
        self.s.violation("round %d: %s" % (self.number, what), self.folder)
        return what

    # ---- secret seeds ----

    def resume_all(self):
        client = self.daemon.start().connect()
        for name in self.studies:
            client("resume", study=name)
        return client

    def accept(self):
        """Has the studies accepted, runs them undisturbed, and goes back to where they were
        accepted: no other state directory has their seeds."""
        state, accepted = self.daemon.state, self.folder + ".accepted"
        client = self.daemon.start().connect()
        for text in self.studies.values():
            submit(client, self.folder, text, paused=True)
        client.close()
        self.daemon.end()
        shutil.copytree(state, accepted)
        client = self.resume_all()
        harness.wait_for(lambda: finished(client, self.studies), pause=0.05)
        client.close()
        self.daemon.end()
        self.reference = storm.timeless(storm.dump(state), in_order)
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        os.rename(accepted, state)
        self.resume_all().close()
        self.daemon.end(signal.SIGKILL)
        self.kills["daemon"] += 1
        self.submitted = set(self.studies)

    # ---- victims ----

    def read_notes(self):
        try:
            with open(self.folder + "/notes", "rb") as f:
                f.seek(self.noted)
                data = f.read()
        except FileNotFoundError:
            return
        whole = data[:data.rfind(b"\n") + 1]
        self.noted += len(whole)
        for line in whole.decode().splitlines():
            what, study, key, pid, shim, _, _ = line.split()
            if what == "start":
                self.alive[study, key] = (int(pid), int(shim))
            elif what == "end":
                self.alive.pop((study, key), None)

    def strike(self, pid, folder):
        """KILL, unless the number belongs to somebody else by now."""
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        try:
            with open("/proc/%d/environ" % pid, "rb") as f:
                if folder.encode() not in f.read():
                    return False
            signal.pidfd_send_signal(fd, signal.SIGKILL)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def newborn_shims(self):
        """Shims that the daemon has just started, whose trainers may not run yet."""
        pid = self.daemon.process.pid
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                return [int(x) for x in f.read().split()]
        except OSError:
            return []

    def kill_one(self):
        """A shim or a trainer."""
        self.read_notes()
        mine = "DPARETO_REQUEST=" + self.folder
        newborn = self.newborn_shims() if self.rng.random() < 0.25 else []
        if newborn:
            return self.kill_shim(self.rng.choice(newborn), mine)
        young = [k for k in self.alive if int(k[1].split("/")[1].split("-")[-1]) < LEAVE_ALONE]
        if not young:
            return
        key = self.rng.choice(young)
        pid, shim = self.alive.pop(key)
        if self.rng.random() < 0.5:
            if self.strike(pid, mine):
                self.killed.add(pid)
                self.kills["trainer"] += 1
        else:
            self.kill_shim(shim, mine)

    def kill_shim(self, pid, mine):
        if self.strike(pid, mine):
            self.kills["shim"] += 1
            if self.tree:  # what the trainer left may finish although the attempt is lost
                self.killed.add(pid)

    # ---- the daemon's lives ----

    def start(self):
        """Starts it; it may be killed at once. A start that is refused is a fault."""
        self.daemon.start()

    def connect(self):
        """A connection, or None if the daemon would not start."""
        def attempt():
            if self.daemon.process.poll() is not None:
                return "ended"
            try:  # whom it reaches may be a child of the dead one, just before its exec
                client = harness.Client(self.daemon.socket)
                client("hello")
                return client
            except OSError:
                return None
        client = harness.wait_for(attempt, pause=0.001)
        if client != "ended":
            return client
        self.refused += 1
        code = self.daemon.end(0)
        self.fault("the daemon would not start (%d): %s" % (code, self.daemon.said))
        if self.refused > 5:
            raise AssertionError("the daemon does not start any more")
        return None

    def submit_some(self, client):
        """Hands over what is not acknowledged yet; may leave without the answers."""
        missing = [n for n in self.studies if n not in self.submitted]
        self.rng.shuffle(missing)
        for name in missing[:self.rng.randint(1, 4)]:
            if self.rng.random() < 0.3:
                client.file.write(json.dumps({
                    "v": 1, "do": "submit", "text": self.studies[name], "dir": self.folder,
                    "path": self.folder + "/study.yaml"}).encode() + b"\n")
                client.file.flush()
                return False  # the answer is still to come
            submit(client, self.folder, self.studies[name])
            self.submitted.add(name)
        return True

    def look(self, client):
        """Notes results that the daemon shows: from now on they are acknowledged."""
        shown = {x["name"] for x in client.every("list")}
        lost = self.submitted - shown
        if lost:
            self.fault("submitted and gone: %s" % ", ".join(sorted(lost)))
        if self.submitted:
            name = self.rng.choice(sorted(self.submitted))
            for t in client.every("trials", study=name, full=True):
                if t["state"] in ("ok", "diverged", "failed"):
                    self.remember(name, t)

    def remember(self, name, t):
        seen = {k: t.get(k) for k in ("state", "parameters", "objectives", "runs", "waypoints")}
        before = self.acknowledged.setdefault((name, t["trial"], t.get("at")), seen)
        if before != seen:
            self.fault("%s/%d has changed: %s, before: %s" % (name, t["trial"], seen, before))

    def one_life(self):
        """From a start to a kill; true if all studies are over."""
        rng = self.rng
        self.start()
        if rng.random() < 0.35:  # while it starts, replays, adopts
            time.sleep(rng.uniform(0, 0.04))
        else:
            client = self.connect()
            if client is None:
                return False
            if len(self.submitted) < len(self.studies) and not self.submit_some(client):
                time.sleep(rng.uniform(0, 0.004))
            else:
                self.look(client)
                if len(self.submitted) == len(self.studies) and \
                        finished(client, self.studies):
                    client.close()
                    return True
                for _ in range(rng.randint(0, 8)):
                    time.sleep(rng.uniform(0, 0.03))
                    self.kill_one()
            time.sleep(10 ** rng.uniform(-4, -1))
            client.close()
        code = self.daemon.end(signal.SIGKILL)
        if code != -signal.SIGKILL:
            self.fault("the daemon had ended with %d: %s" % (code, self.daemon.said))
        else:
            self.kills["daemon"] += 1
        return False

    def run(self, enough):
        """Kills until the round's share is done, then lets the studies finish."""
        try:
            if self.secret:
                self.accept()
            while sum(self.kills.values()) < self.s.args.kills_per_round and not enough():
                if self.one_life():
                    break
            else:
                self.start()
            self.finish()
            self.check()
        except AssertionError as e:
            self.fault(str(e))
        except (ConnectionError, OSError, harness.Refused) as e:
            time.sleep(0.2)  # for a daemon that is on its way out
            self.fault("%s: %s; the daemon %s" % (
                type(e).__name__, e, "lives" if self.daemon.process.poll() is None
                else "ended with %d: %s" % (self.daemon.end(), self.daemon.said)))
        finally:
            if self.daemon.process and self.daemon.process.poll() is None:
                self.daemon.end(signal.SIGKILL)
            for pid in harness.trainers_below(self.folder):
                self.strike(pid, "DPARETO_REQUEST=" + self.folder)

    def finish(self):
        client = self.connect()
        if client is None:
            raise AssertionError("no daemon to finish with")
        for name, text in self.studies.items():
            submit(client, self.folder, text)
        harness.wait_for(lambda: finished(client, self.studies), pause=0.05)
        for name in self.studies:
            for t in client.every("trials", study=name, full=True):
                self.remember(name, t)
        client.close()
        code = self.daemon.end()
        if code != 0 or self.daemon.said:
            self.fault("the last daemon ended with %d: %s" % (code, self.daemon.said))

    # ---- checks ----

    def check(self):
        state = self.daemon.state
        code, said = storm.verify(state)
        if code != 0:
            self.fault("journal verify: " + said)
        records = storm.dump(state)
        self.check_attempts(records)
        self.check_notes()
        now = storm.timeless(records, in_order)
        for name in self.studies:
            if name not in ANY_ORDER and now[name] != self.reference[name]:
                self.fault("%s is not as undisturbed: %s" % (
                    name, storm.first_difference(now[name], self.reference[name])))
        try:
            harness.wait_for(lambda: not harness.trainers_below(self.folder), 15)
        except AssertionError:
            self.fault("processes left: %s" % harness.trainers_below(self.folder))

    def check_attempts(self, records):
        """The journal alone: numbers without gaps, one result for each run, nothing after."""
        nexts, ended, results, names = collections.Counter(), set(), set(), {}
        for r in records:
            study = r["study"]
            names.setdefault(study, r.get("name"))
            if r["seq"] != nexts[study]:
                self.fault("study %d: record %d where %d comes" % (study, r["seq"],
                                                                   nexts[study]))
            nexts[study] = r["seq"] + 1
            about = (names[study], r.get("trial"))
            if r["type"].startswith("attempt-") and about in ended:
                self.fault("%s/%s: %s after its end" % (*about, r["type"]))
            if r["type"] == "trial-ended":
                ended.add(about)
                if r["state"] != "ok":
                    self.fault("%s/%s ended %s: %s" % (*about, r["state"], r.get("reason")))
            if r["type"] == "attempt-ended" and r["end"] == "ok":
                what = (*about, r.get("run"))
                if what in results:
                    self.fault("two results of %s/%s, run %s" % what)
                results.add(what)
            elif r["type"] == "attempt-ended" and r["end"] not in ("lost", "signal"):
                self.fault("%s/%s: an attempt ended %s: %s" % (
                    *about, r["end"], r.get("message")))
        self.evaluations = len(ended)

    def check_notes(self):
        """The trainers' own word."""
        started, ended = {}, {}
        with open(self.folder + "/notes") as f:
            for line in f:
                what, study, key, pid, shim, us, _ = line.split()
                trial, attempt = key.split("/")
                run, _, number = attempt.rpartition("-")
                if what == "twice":
                    self.fault("%s %s ran twice at once (pid %s)" % (study, key, pid))
                elif what == "start":
                    if (study, key) in started:
                        self.fault("%s %s started twice" % (study, key))
                    started[study, key] = int(us)
                    last = ended.get((study, trial, run))
                    if last and last[0] < int(number) and not last[1] & self.killed:
                        self.fault("%s %s ran again after attempt %d had finished" %
                                   (study, key, last[0]))
                elif what == "end":
                    ended[study, trial, run] = (int(number), {int(pid), int(shim)})
        self.trainings = len(started)


def main():
    parser = storm.options(__doc__)
    parser.add_argument("--kills", type=int, default=10000)
    parser.add_argument("--kills-per-round", type=int, default=300)
    parser.add_argument("--workers", type=int, default=4, help="daemons side by side")
    parser.add_argument("--evaluations", type=int, default=20, help="of each study")
    parser.add_argument("--milliseconds", type=int, default=12, help="a training takes about")
    parser.add_argument("--seeds", type=int, default=3, help="different sets of studies")
    parser.add_argument("--only", help="studies with this in their name")
    parser.add_argument("--tree", action="store_true",
                        help="in every second set a trainer works in a child of its own session")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a violation")
    args = parser.parse_args()
    s = storm.Storm("kills", args)
    references, lock = References(s), threading.Lock()
    kills, totals, numbers = collections.Counter(), collections.Counter(), iter(range(10 ** 9))
    running = {}

    def enough():
        with lock:
            done = sum(kills.values()) + sum(sum(r.kills.values()) for r in running.values())
        return done >= args.kills or bool(s.violations) and not args.keep_going

    def worker(_):
        while not enough():
            with lock:
                number = next(numbers)
            r = Round(s, references, number)
            with lock:
                running[number] = r
            before = len(s.violations)
            r.run(enough)
            with lock:
                del running[number]
                kills.update(r.kills)
                totals.update(rounds=1, evaluations=getattr(r, "evaluations", 0),
                              trainings=getattr(r, "trainings", 0), refused=r.refused,
                              acknowledged=len(r.acknowledged))
                print("round %3d: %s kills, %d so far after %.0f s" % (
                    number, dict(r.kills), sum(kills.values()), s.seconds()), flush=True)
            if len(s.violations) == before:
                shutil.rmtree(r.folder, ignore_errors=True)

    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        list(pool.map(worker, range(args.workers)))
    storm.table(["kill -9 of", "times"], [[k, kills[k]] for k in ("daemon", "shim", "trainer")] +
                [["all", sum(kills.values())]])
    storm.table(["seen", "number"], sorted(totals.items()))
    if sum(kills.values()) < args.kills and not s.violations:
        s.violation("only %d kills" % sum(kills.values()))
    return s.end(kills=dict(kills), all_kills=sum(kills.values()), **totals)


if __name__ == "__main__":
    sys.exit(main())
