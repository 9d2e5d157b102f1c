"""kept.py - what the page in docs/ says, kept beside it in docs/results/measured.json: a run that
measured only some parts adds to what others measured, perhaps on other machines.

A page consists of entries (a claim, a row of a table, a sentence, a figure), each of one part. An
entry is of one run: this one, if it has measured all of the part; else the run that it was kept
of; else this one again. So no part mixes two runs as long as either has all of it."""
import hashlib
import json
import os
import platform
import re
import subprocess

from . import studies

NOT_YET = "not measured yet"


def measured(value):
    """Whether there is something, and all of it."""
    if value is None:
        return False
    return not any(NOT_YET in x for x in ([value] if isinstance(value, str) else value))


def digest(study, examples, scale):
    """Of all that a study file says; comments may change."""
    text = re.sub(r"(?m)^\s*#.*\n|\s+(#.*)?$", "", studies.text_of(study, examples, scale))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digests(parts, examples, scale):
    """{part: {study: digest}}"""
    return {p.name: {s.name: digest(s, examples, scale) for s in p.studies} for p in parts.values()}


def commit(top):
    """Of a checkout; empty if it is none."""
    done = subprocess.run(["git", "-C", top, "describe", "--always", "--exclude", "*"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def machine():
    """What it ran on, without its name."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            found = re.search(r"^model name\s*:\s*(.*)$", f.read(), re.M)
            model = found.group(1) if found else model
    except OSError:
        pass
    return "%d cores of %s" % (os.cpu_count() or 1, model)


def note_machine(folder, top):
    """Written down when a run begins, so that it tells where it ran, not where somebody looked."""
    path = os.path.join(folder, "run.json")
    if not os.path.exists(path):
        save(path, json.dumps({"machine": machine(), "commit": commit(top)}) + "\n")
    with open(path) as f:
        return json.load(f)


def run_of(folder, top, m):
    """What is known of a folder's run. Its name follows from its first study: a copy of the folder
    is the same run."""
    first = min(((s["created"], n) for n, s in m.seen.items()), default=("", ""))
    began, ended = m.days()
    return {"id": hashlib.sha256(" ".join(first).encode()).hexdigest()[:12], "from": began,
            "to": ended, **note_machine(folder, top)}


def save(path, text):
    with open(path + ".tmp", "w") as f:
        f.write(text)
    os.rename(path + ".tmp", path)


class Kept:
    """The file. An entry counts as long as the studies of its part are what they were."""

    def __init__(self, path=None):
        self.path, self.runs, self.parts = path, {}, {}
        if path and os.path.exists(path):
            with open(path) as f:
                found = json.load(f)
            self.runs, self.parts = found["runs"], found["parts"]

    def entries(self, part, digests):
        found = self.parts.get(part)
        return found["entries"] if found and found["studies"] == digests else {}

    def stale(self, digests):
        """Parts that were measured with other studies than those of the plan."""
        return [p for p in digests if p in self.parts and self.parts[p]["studies"] != digests[p]]

    def write(self):
        """One line for each entry: changes can be read."""
        used = {run for p in self.parts.values() for run, _ in p["entries"].values()}
        runs = {k: line(v) for k, v in self.runs.items() if k in used}
        parts = {name: '{"studies": %s,\n "entries": %s}' % (
            line(p["studies"]), lines({k: line(v) for k, v in p["entries"].items()}))
            for name, p in self.parts.items()}
        save(self.path, '{"runs": %s,\n"parts": %s}\n' % (lines(runs), lines(parts)))


def line(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def lines(members):
    """A JSON object of texts that are JSON, a line for each."""
    return "{\n%s}" % ",\n".join("  %s: %s" % (json.dumps(k), v) for k, v in members.items())


class Results:
    """What a page says: of the run at hand (m, run) and of what was kept before it."""

    def __init__(self, m, parts, run, kept=None, digests=None):
        self.m, self.parts, self.digests = m, parts, digests or {}
        self.kept = kept or Kept()
        known = self.kept.runs.get(run["id"], {})
        self.run = {**run, "again": dict(known.get("again", {})),
                    **{k: known[k] for k in ("machine", "commit") if k in known}}
        self.before = {p: self.kept.entries(p, self.digests.get(p)) for p in parts}
        self.whole = {p.name for p in parts.values() if m.finished(*p.names())}
        self.said = {p: {} for p in parts}   # {part: {key: (run's id, value)}}

    def entry(self, part, key, made):
        """`made` is what this run has to say; returns what the page says."""
        old = self.before[part].get(key)
        if measured(made) and (part in self.whole or not old or old[0] == self.run["id"]):
            self.said[part][key] = (self.run["id"], made)
            return made
        if not old:
            return made
        if isinstance(made, (list, tuple)) and len(made) != len(old[1]):
            raise ValueError("%s: '%s' has %d cells, and %d are wanted" % (
                self.kept.path, key, len(old[1]), len(made)))
        self.said[part][key] = tuple(old)
        return old[1]

    def run_id(self, part, key):
        """Of the run that an entry is of; empty if nobody measured it."""
        return self.said[part].get(key, ("",))[0]

    def runs_of(self, part):
        """{id: entries} of the runs that measured something of a part."""
        out = {}
        for run, _ in self.said[part].values():
            out[run] = out.get(run, 0) + 1
        return out

    def known_runs(self):
        """{id: run} of all that the page is made of."""
        every = {**self.kept.runs, self.run["id"]: self.run}
        used = {run for part in self.said.values() for run, _ in part.values()}
        return {k: v for k, v in every.items() if k in used}

    def earlier(self, part, key):
        """What another run had measured; None if none had."""
        run, value = self.before[part].get(key, ("", None))
        return None if run == self.run["id"] else value

    def keep(self):
        """Writes down what the page says; returns parts that were measured with other studies than
        those of the plan, which the page is silent about."""
        stale = self.kept.stale(self.digests)
        for part, said in self.said.items():
            if said:
                self.kept.parts[part] = {"studies": self.digests[part],
                                         "entries": {k: list(v) for k, v in said.items()}}
        self.kept.runs[self.run["id"]] = {k: v for k, v in self.run.items() if k != "id"}
        self.kept.write()
        return stale
