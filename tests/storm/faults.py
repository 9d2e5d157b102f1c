#!/usr/bin/env python3
"""faults.py - every system call of a list fails once: at its 1st, 2nd, ... n-th call.

  tests/storm/faults.py [--build DIR] [--only CALL[,CALL...]] [--program dparetod|dpareto-shim]
                        [--count K] [--from N] [--limit N] [--step N] [--workers N]

faulty.so is loaded into the daemon, or into its shims, and makes the n-th call of a group fail
with a plausible error, or K calls from the n-th on (--count). A study of one
evaluation comes and is deleted, one of three (the last proposed by a model) runs until the fault no longer happens, SQLite's way.
What may come of it:
  right     the study ends with the numbers of an undisturbed one
  told      something stopped - the daemon's start, a request, the study - and said why; once
            the fault is gone (the daemon started again without it) the study ends right
Anything else is a violation: an end by signal (but for an abort of libuv's after the sentence
that explains it, which a service manager starts again), a hang, silence, another number, a trial that
failed for good, a process left behind. 'again' counts evaluations that ran more than once.
One point again:  faults.py --only open --errno EIO --from 17 --limit 1 --keep"""
import collections
import concurrent.futures
import errno
import json
import os
import re
import shutil
import signal
import sys
import time

import storm
import harness

PATIENCE = 40.0  # seconds a point may take before it counts as hung
LONG = 8.0       # seconds after which a study that says what it waits for need not go on

CALLS = {
    "open": "EMFILE ENOSPC EROFS EIO EINTR", "read": "EIO EINTR", "write": "ENOSPC EROFS EIO EINTR",
    "recv": "ECONNRESET EINTR ENOMEM", "send": "EPIPE EINTR ENOBUFS",
    "pipe_read": "EINTR", "pipe_write": "EINTR",
    "pwrite": "ENOSPC EROFS EIO EINTR", "sync": "EIO ENOSPC EROFS", "rename": "ENOSPC EROFS EIO",
    "mkdir": "ENOSPC EROFS EIO", "unlink": "EROFS EIO EACCES", "ftruncate": "ENOSPC EROFS EIO",
    "flock": "EINTR ENOLCK", "statvfs": "EIO", "mmap": "ENOMEM EAGAIN",
    "clone": "EAGAIN ENOMEM", "thread": "EAGAIN", "pidfd_open": "EMFILE ENOMEM",
    "epoll_create": "EMFILE ENOMEM", "epoll_ctl": "ENOMEM ENOSPC", "epoll_wait": "EINTR",
    "accept": "EMFILE ENFILE ECONNABORTED EINTR", "socket": "EMFILE ENOMEM",
    "pipe": "EMFILE ENFILE", "getrandom": "EINTR EAGAIN",
}
STUDY = """study: %s
seed: 7
data: public
trainer: {command: [%s, "2"], runs: 2}
parameters: {x: {type: float, range: [0, 1]}, y: {type: float, range: [0, 1]}}
objectives: {a: {metric: a}, b: {metric: b}}
anti_ideal: {a: 2, b: 2}
search: {method: dpareto, evaluations: %d, initial: 2}
"""


class Hung(Exception):
    pass


class Wrong(Exception):
    pass


class Point:
    """One fault at one call."""

    def __init__(self, s, folder, fault=None, program="dparetod"):
        self.s, self.folder = s, folder
        self.note = folder + "/fired"
        os.makedirs(folder)
        env = {}
        if fault:
            call, error, nth, count = fault
            env = {**storm.preload(s.tools, "faulty.so"),
                   "FAULTY": "%s %d %d %d" % (call, nth, getattr(errno, error), count),
                   "FAULTY_PROGRAM": program, "FAULTY_NOTE": self.note}
        self.daemon = harness.Daemon(folder, "--slots", "1", env=env)
        self.client, self.told, self.deadline, self.first = None, [], 0, "no"

    def fired(self):
        return os.path.exists(self.note)

    # ---- talking, although it may fail ----

    def connected(self):
        """A connection that does not wait for ever; None if there is none now."""
        if not self.client:
            try:
                self.client = harness.Client(self.daemon.socket)
                self.client.socket.settimeout(5)
            except OSError:
                self.client = None
        return self.client

    def ask(self, verb, **fields):
        """The answer; None if there is none or it is a refusal, which is noted."""
        client = self.connected()
        if not client:
            return None
        try:
            return client(verb, **fields)
        except harness.Refused as e:
            self.told.append("refused: %s" % e)
            if not str(e).strip():
                raise Wrong("refused without a word")
        except (OSError, ValueError):  # hung up, too slow, or half an answer
            self.hang_up()
        return None

    def hang_up(self):
        if self.client:
            try:
                self.client.close()
            except OSError:
                pass
        self.client = None

    # ---- the study ----

    def submit(self, name, evaluations):
        return self.ask("submit", text=STUDY % (name, self.s.trainer, evaluations),
                        path=self.folder + "/s.yaml", dir=self.folder) is not None

    def before(self):
        """A first study comes, runs and is deleted; then the one that counts is submitted."""
        answer = self.ask("list")
        if answer is None:
            return time.sleep(0.02)
        here = {x["name"]: x for x in answer["studies"]}
        if self.first == "submitted" and not here:
            raise Wrong("the first study was submitted and is gone")
        self.submitted = "s" in here or self.first == "deleted" and "first" not in here and \
            self.submit("s", 3)
        if self.submitted or "first" in here and here["first"]["state"] == "running":
            self.waiting = None if self.submitted else here["first"]["waiting"]
            return time.sleep(0.01)
        if "first" in here:
            self.resume_if_stuck(here["first"])
            self.first = "deleted"  # though the answer may not reach us
            self.ask("delete", study="first", now=True)
        elif self.first == "no":
            self.first = "submitted" if self.submit("first", 1) else "no"
        else:  # it is gone although nobody was told so
            self.first = "deleted"

    def resume_if_stuck(self, study):
        self.waiting = study["waiting"]
        if study["state"] in ("paused", "failed") and not study["running"]:
            if not study["reason"]:
                raise Wrong("%s without a reason" % study["state"])
            self.told.append("%s: %s" % (study["state"], study["reason"]))
            self.ask("resume", study=study["name"])

    def step(self):
        """One look; the study's summary once it is over."""
        if not self.submitted:
            return self.before()
        answer = self.ask("changes", study="s", since=self.version, timeout_ms=2000)
        if answer is None:
            return time.sleep(0.02)
        study = answer["study"]
        self.version = study["version"]
        self.resume_if_stuck(study)
        return study if study["state"] == "finished" and not study["running"] else None

    def says_why(self):
        """Does it name the trouble that holds it up?"""
        answer = self.ask("hello") or {}
        why = answer.get("trouble") or self.waiting
        if not self.fired() or not why or not re.search("cannot|could not|again|full", why):
            return False
        self.told.append("waiting: " + why)
        return True

    def study_ends(self):
        """Until the study is over (true) or the daemon has ended (false)."""
        self.version, self.submitted, self.waiting = 0, False, None
        began = time.monotonic()
        while self.daemon.process.poll() is None:
            if self.step():
                return True
            if time.monotonic() > began + LONG and self.says_why():
                return False  # it would try again later
            if time.monotonic() > self.deadline:
                raise Hung("the study did not end: %s" % (self.told[-3:],))
        return False

    def stop(self):
        """TERM, and an end that is not by a signal, but for an abort that was explained."""
        self.hang_up()
        asked = self.daemon.process.poll() is None
        if asked:
            self.daemon.process.send_signal(signal.SIGTERM)
        while self.daemon.process.poll() is None:
            if time.monotonic() > self.deadline:
                raise Hung("it did not stop after TERM")
            time.sleep(0.002)
        code = self.daemon.end(0)
        explained = code == -signal.SIGABRT and "a library gave up" in self.daemon.said
        if code < 0 and not explained:
            raise Wrong("ended by signal %d: %s" % (-code, self.daemon.said[-400:]))
        if code > 0 and not self.daemon.said.strip() and not self.complaints():
            raise Wrong("exit code %d without a word" % code)
        if "Sanitizer" in self.daemon.said:
            raise Wrong(self.daemon.said[-3000:])
        if code:
            self.told.append("exit code %d: %s" % (code, self.daemon.said.strip()))
        return code

    def complaints(self):
        try:
            with open(self.daemon.log, errors="replace") as f:
                return [x for x in f if " error " in x or " warn " in x]
        except OSError:
            return []

    def results(self):
        trials = self.ask("trials", study="s", full=True)
        if trials is None:
            return None
        for t in trials["trials"]:
            if t["state"] != "ok":
                raise Wrong("trial %d ended %s: %s" % (t["trial"], t["state"], t["reason"]))
        self.again = sum(len(t["attempts"]) > 1 for t in trials["trials"])
        return [{k: t[k] for k in ("trial", "state", "parameters", "objectives", "runs",
                                   "source")} for t in trials["trials"]]

    def live(self):
        """One life of the daemon; the results, or None if it ended before."""
        self.deadline = time.monotonic() + PATIENCE
        self.daemon.start()
        results = None
        if self.study_ends():
            while results is None and self.daemon.process.poll() is None:
                results = self.results()
                if time.monotonic() > self.deadline:
                    raise Hung("no answer about the results")
        self.stop()
        return results

    def run(self, expected):
        """The verdict: unfired, right, told or violation, and why."""
        self.again = 0
        try:
            results = self.live()
            if not self.fired():
                return "unfired", ""
            if results is not None and results != expected:
                raise Wrong("other results: %s" % json.dumps(results)[:600])
            self.daemon.env = {}
            if self.live() != expected:
                raise Wrong("other results without the fault")
            code, said = storm.verify(self.daemon.state)
            if code:
                raise Wrong("journal verify: " + said)
            harness.wait_for(lambda: not harness.trainers_below(self.folder), 15)
            return ("right" if results is not None and not self.told else "told",
                    "; ".join(self.told))
        except (Hung, Wrong, AssertionError) as e:
            return "violation", "%s: %s" % (type(e).__name__, e)
        finally:
            if self.daemon.process.poll() is None:
                self.daemon.end(signal.SIGKILL)
            for pid in harness.trainers_below(self.folder):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def undisturbed(s):
    p = Point(s, s.folder + "/undisturbed")
    try:
        results = p.live()
    except (Hung, Wrong) as e:
        sys.exit("the undisturbed study went wrong: %s" % e)
    finally:
        if p.daemon.process.poll() is None:
            p.daemon.end(signal.SIGKILL)
    if not results or len(results) != 3 or results[2]["source"] == "random":
        sys.exit("the undisturbed study went wrong: %s" % results)
    return results


def row(s, expected, program, call, error):
    """All points of one call and errno."""
    args, counts, seconds = s.args, collections.Counter(), time.monotonic()
    nth, points = args.first, 0
    while not args.limit or points < args.limit:
        folder = "%s/%s-%s-%s-%d" % (s.folder, program, call, error, nth)
        p = Point(s, folder, (call, error, nth, args.count), program)
        verdict, why = p.run(expected)
        if verdict == "unfired":
            shutil.rmtree(folder, ignore_errors=True)
            break
        points += 1
        counts[verdict] += 1
        counts["again"] += p.again
        if verdict == "violation":
            s.violation("%s: call %d of %s fails with %s: %s" % (program, nth, call, error, why),
                        folder)
        elif args.verbose:
            print("%s %s %s %d: %s %s" % (program, call, error, nth, verdict, why), flush=True)
        if verdict != "violation" and not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
        if counts["violation"] >= args.give_up:
            break
        nth += args.step
    return [program, call, error, points, counts["right"], counts["told"], counts["again"],
            counts["violation"], round(time.monotonic() - seconds, 1)]


def main():
    parser = storm.options(__doc__)
    parser.add_argument("--only", help="these calls, with commas")
    parser.add_argument("--errno", help="these errors, with commas")
    parser.add_argument("--program", help="dparetod or dpareto-shim (default: both)")
    parser.add_argument("--count", type=int, default=1, help="so many calls fail in a row")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--limit", type=int, default=0, help="points for each call and errno")
    parser.add_argument("--step", type=int, default=1, help="every so many calls")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--give-up", type=int, default=30,
                        help="leave a call and errno after so many violations")
    parser.add_argument("--keep", action="store_true", help="keep the folder of each point")
    parser.add_argument("--reports", action="store_true",
                        help="the daemon writes reports, too; slower")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    unknown = set(args.only.split(",") if args.only else ()) - set(CALLS)
    if unknown:
        parser.error("--only: no %s; there are %s" % (", ".join(unknown), ", ".join(CALLS)))
    s = storm.Storm("faults", args)
    if args.program != "dparetod":
        s.take(s.tools + "/shim", "dpareto-shim")  # one that can be given faulty.so
    if args.reports:
        s.take("dpareto-report", "dpareto-report")
    expected = undisturbed(s)
    work = [(program, call, error)
            for program in ("dparetod", "dpareto-shim")
            if args.program in (None, program)
            for call, errors in CALLS.items() if not args.only or call in args.only.split(",")
            for error in errors.split() if not args.errno or error in args.errno.split(",")]
    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        rows = list(pool.map(lambda w: row(s, expected, *w), work))
    rows = [r for r in rows if r[3]]
    storm.table(["program", "call", "errno", "points", "right", "told", "again", "violations",
                 "seconds"], rows)
    total = {name: sum(r[i] for r in rows) for i, name in
             ((3, "points"), (4, "right"), (5, "told"), (6, "again"))}
    if not total["points"]:
        s.violation("no fault has happened: nothing was tried")
    return s.end(calls=len({r[1] for r in rows}), **total)


if __name__ == "__main__":
    sys.exit(main())
