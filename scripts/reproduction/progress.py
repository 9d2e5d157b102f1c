"""progress.py - waits for the studies of a part, shows how far they are and how long it takes, and
keeps how long it took."""
import json
import os
import sys
import time

from . import plan

PAUSE = 1.0         # seconds between looks
QUIET_PAUSE = 60.0  # seconds between lines where nobody looks at a terminal


class Times:
    """Seconds of wall-clock time that each part took, over all runs of this program."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "times.json")
        self.seconds = {}
        if os.path.exists(self.path):
            with open(self.path) as f:
                self.seconds = json.load(f)
        self.saved = time.monotonic()

    def add(self, name, seconds):
        self.seconds[name] = self.seconds.get(name, 0) + seconds
        if time.monotonic() - self.saved > 10:
            self.save()

    def save(self):
        with open(self.path + ".tmp", "w") as f:
            json.dump(self.seconds, f, indent=1, sort_keys=True)
        os.rename(self.path + ".tmp", self.path)
        self.saved = time.monotonic()


def duration(seconds):
    """In words that are short: 45 s, 12 min, 3 h 20 min."""
    seconds = int(round(seconds))
    if seconds < 90:
        return "%d s" % seconds
    minutes = round(seconds / 60)
    return "%d min" % minutes if minutes < 90 else "%d h %02d min" % divmod(minutes, 60)


def size(study):
    """What a study of the plan has to do: evaluations, or epochs where these are limited."""
    search = dict(study.search)
    if "max_cost" in search:
        return search["max_cost"]
    return search.get("evaluations") or None  # a grid: known once it is submitted


def done(study, seen):
    """(done, of) of one study, in the unit of size()."""
    of = size(study)
    if seen is None:
        return 0, of or 243
    if "max_cost" in dict(study.search):
        walked = sum((seen["trained"] or {}).values())
        return (of if seen["state"] == "finished" else min(walked, of)), of
    of = seen["evaluations"] or of or 1
    again = dict(study.search).get("remeasure")
    if not again or seen["state"] == "finished":
        return seen["ended"], of
    return with_measuring(seen, of, again / plan.RUNS)


def with_measuring(seen, of, again):
    """With the points of its front that are measured again, each worth `again` evaluations; how
    many these will be is not known before the search has ended."""
    measuring = seen["measuring"]
    points = measuring["points"] if measuring else seen["front"] or 0
    return (seen["ended"] + (measuring["runs_done"] / plan.RUNS if measuring else 0),
            of + again * points)


class Line:
    """The line of progress: written over itself on a terminal, else now and then."""

    def __init__(self, out=sys.stderr):
        self.out, self.terminal, self.last = out, out.isatty(), None

    def show(self, text):
        now = time.monotonic()
        if self.terminal:
            self.out.write("\r\033[K" + text)
        elif self.last is None or now - self.last >= QUIET_PAUSE:
            self.last = now
            self.out.write(text + "\n")
        self.out.flush()

    def end(self, text):
        self.out.write(("\r\033[K" if self.terminal else "") + text + "\n")
        self.out.flush()


def count(n):
    return "%d %s" % (n, "study" if n == 1 else "studies")


def told(part, share, ended, of, left):
    return "%s: %d of %s, %.0f %%%s" % (
        part.title, ended, count(of), 100 * share,
        ", about %s left" % duration(left) if left is not None else "")


def wait(part, programs, times, look):
    """Until all studies of the part have ended; returns those that did not finish, with reasons.
    `look` is given what is there every time."""
    line, began, first = Line(), time.monotonic(), None
    last = began
    while True:
        seen = programs.list()
        rows = [seen.get(s.name) for s in part.studies]
        sums = [done(s, r) for s, r in zip(part.studies, rows)]
        # studies count alike by the share of each: their units differ
        share = sum(min(1, d / of) * of for d, of in sums) / sum(of for _, of in sums)
        ended = [r for s, r in zip(part.studies, rows) if r and r["state"] != "running" and
                 not (s.shares and r["state"] == "paused")]
        now = time.monotonic()
        first = share if first is None else first
        times.add(part.name, now - last)
        last = now
        left = (now - began) * (1 - share) / (share - first) if share > first else None
        if len(ended) == len(rows):
            line.end("%s: %s, %s in this run" % (part.title, count(len(rows)),
                                                 duration(now - began)))
            times.save()
            return [(r["name"], r["state"], r["reason"]) for r in rows
                    if r["state"] != "finished"]
        line.show(told(part, share, len(ended), len(rows), left))
        look(seen)
        time.sleep(PAUSE if now - began > 5 else 0.2)
