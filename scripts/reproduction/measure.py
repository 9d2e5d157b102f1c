"""measure.py - numbers from the journal: `dparetoctl compare`, exports and times. A number of
studies that have not all finished is None: not measured yet."""
import json
import math
import time

MEASURED_AGAIN = 10 ** 9  # trials from here on measure points again


class Measured:
    def __init__(self, programs):
        self.programs = programs
        self.seen = programs.list()
        self.kept = {}

    def finished(self, *names):
        return all(n in self.seen and self.seen[n]["state"] == "finished" for n in names)

    def once(self, key, make):
        """Asked for once."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def compare(self, groups, by="observed", at=()):
        """The answer of `compare` for (name, members) pairs."""
        members = [m.split("/")[0] for _, names in groups for m in names]
        if not self.finished(*members):
            return None
        words = [w for name, names in groups for w in ("--group", name + "=" + ",".join(names))]
        if at:
            words += ["--at", "epsilon=" + ",".join("%g" % x for x in at)]
        return self.once(("compare", by, *words),
                         lambda: self.programs.ask("compare", *words, "--by", by, fails=False))

    def test(self, a, b, by="observed"):
        """The first group against the second: (answer's groups, its test), or None."""
        found = self.compare((a, b), by)
        return found and (found["groups"], found["tests"][0])

    def export(self, name):
        if not self.finished(name):
            return None
        return self.once(("export", name), lambda: self.programs.ask("export", name))

    def points(self, name):
        """All results, waypoints too, as (epsilon, error, epochs trained when it was known)."""
        def find():
            known, walked = [], 0
            for t in self.export(name)["trials"]:
                epochs = t["parameters"].get("epochs", 0)
                if t["at"] is None:
                    walked += epochs
                o = t["objectives"]
                if o and t["state"] == "ok" and None not in o.values() and \
                        all(isinstance(v, (int, float)) for v in o.values()):
                    known.append((o["epsilon"], o["error"], walked if t["at"] is None
                                  else walked + epochs))
            return known
        return self.once(("points", name), find) if self.finished(name) else None

    def front(self, name, *words):
        return self.finished(name) and self.once(
            ("front", name, *words), lambda: self.programs.ask("front", name, *words, fails=False))

    def proposed(self, name):
        """The point that the study would evaluate next."""
        return self.finished(name) and self.once(
            ("propose", name), lambda: self.programs.ask("propose", name, fails=False))

    def times(self, name):
        """Of the search itself: seconds of the optimiser, of trainings (wall-clock and processor),
        evaluations and runs; the processor time of what was measured again; and when its first
        training began and its last ended."""
        if not self.finished(name):
            return None

        def find():
            out = {"sought": 0.0, "trained": 0.0, "cpu": 0.0, "evaluations": 0, "runs": 0,
                   "cpu_again": 0.0, "began": math.inf, "ended": 0.0}
            text = self.programs.call("journal", "dump", "--state", self.programs.state,
                                      "--study", name)
            for line in text.splitlines():
                event = json.loads(line)
                if event.get("trial") is None:
                    continue
                if event["type"] == "attempt-ended" and "exit" not in event:
                    continue  # it never started, or nobody saw its end
                if event["type"] == "attempt-ended":
                    out["began"] = min(out["began"], event["exit"]["start"])
                    out["ended"] = max(out["ended"], event["exit"]["end"])
                if event["trial"] >= MEASURED_AGAIN:
                    if event["type"] == "attempt-ended":
                        out["cpu_again"] += event["exit"]["cpu"]
                    continue
                if event["type"] == "trial-proposed":
                    out["sought"] += event.get("sought") or 0
                elif event["type"] == "attempt-ended":
                    out["trained"] += event["exit"]["end"] - event["exit"]["start"]
                    out["cpu"] += event["exit"]["cpu"]
                    if event["counted"]:  # one that was stopped took time, and is done again
                        out["evaluations"] += 1
                        out["runs"] += len(event.get("runs") or ())
            return out
        return self.once(("times", name), find)

    def processor(self, names):
        """Seconds of processor time that trainings took, with those that measured again."""
        found = [self.times(n) for n in names]
        return sum(t["cpu"] + t["cpu_again"] for t in found)


    def days(self):
        """The first and the last day on which something was trained."""
        found = [self.times(n) for n in self.seen if self.finished(n)]
        return [time.strftime("%Y-%m-%d", time.gmtime(x)) for x in (
            min((t["began"] for t in found), default=time.time()),
            max((t["ended"] for t in found), default=time.time()))]


def front_of(points):
    """What no other point dominates, by rising epsilon."""
    out, least = [], math.inf
    for p in sorted(points, key=lambda p: p[:2]):
        if p[1] < least:
            out.append(p)
            least = p[1]
    return out


def hypervolume(points, anti_ideal=(10.0, 1.0)):
    total, least = 0.0, anti_ideal[1]
    for p in front_of(points):
        if p[0] < anti_ideal[0] and p[1] < least:
            total += (anti_ideal[0] - p[0]) * (least - p[1])
            least = p[1]
    return total


def best_within(points, epsilon):
    """The least error with at most this epsilon; None if there is none."""
    errors = [p[1] for p in points if p[0] <= epsilon]
    return min(errors) if errors else None


def near(points, front, margin, epsilon=10.0):
    """The share of the points up to `epsilon` whose error is at most `margin` above what the
    front has at their epsilon."""
    inside = [p for p in points if p[0] <= epsilon]
    if not inside:
        return None
    close = 0
    for p in inside:
        best = best_within(front, p[0])
        close += best is None or p[1] <= best + margin
    return close / len(inside)


def volume_after(points, epochs):
    """The hypervolume when so many epochs had been trained."""
    return hypervolume([p for p in points if p[2] <= epochs])


def epochs_to_reach(points, volume):
    """Epochs trained when the hypervolume first was as large; None if it never was."""
    known = []
    for p in sorted(points, key=lambda p: p[2]):
        known.append(p)
        if hypervolume(known) >= volume:
            return p[2]
    return None
