"""tables.py - the tables of the results beside the claims: Table 2, what was measured again, what
each step adds, MNIST, overhead, extensions, and the study behind each number. A row of a table is
(part, key, cells): an entry of kept.py."""
from . import claims, measure, plan, student
from .kept import NOT_YET
from .progress import duration

PAPER_MNIST_EPOCHS = 272 * 10 * 200  # of a study: evaluations, runs, epochs on average
EPOCHS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)  # at which hypervolumes are told


def table_two(m, scale):
    """The paper's row beside ours: one seed as in the paper, then all of them."""
    head = ("pair", "paper: difference (95 %)", "t and p that this implies", "ours, one seed", "t", "p",
            "ours, %d seeds" % scale.seeds, "p")
    rows = []
    for p, (title, paper) in plan.PAIRS.items():
        drawn = ("Random", claims.random_parts(scale, p))
        one = m.test(("DPareto", claims.one_seed(scale, p)), drawn)
        every = m.test(("DPareto", plan.seeds(p + "-dpareto", scale.seeds)), drawn)
        rows.append((p, "table 2", (
            title, "%.3f (%.3f, %.3f)" % paper, "%.2f, %.2g" % claims.implied(paper),
            *((claims.interval(one[1]), "%.3g" % one[1]["t"], "%.2g" % one[1]["p"])
              if one else (NOT_YET, "", "")),
            *((claims.interval(every[1]), "%.2g" % every[1]["p"]) if every else (NOT_YET, "")))))
    return head, rows


def measured_again(m, scale):
    """Seeds of DPareto against seeds of random: as observed, and with fresh seeds."""
    head = ("pair", "values", "DPareto", "random", "difference (95 %)", "p")
    rows = []
    for p, (title, _) in plan.PAIRS.items():
        groups = [("DPareto", plan.seeds(p + "-dpareto", scale.seeds)),
                  ("Random", plan.seeds(p + "-random", scale.seeds))]
        for by, words in (("observed", "as observed"), ("remeasured", "measured again")):
            found = m.test(*groups, by=by)
            rows.append((p, by, (title, words, *compared(found))))
    return head, rows


def compared(found):
    if not found:
        return NOT_YET, "", "", ""
    groups, test = found
    return (*("%.4f" % g["hypervolume"]["mean"] for g in groups), claims.interval(test, 4),
            claims.p_text(test["p"]) if test["p"] is not None else test["why"])


def volumes(m, scale):
    """Of each step: the hypervolume as observed and measured again, and what it took."""
    head = ("step", "seeds", "hypervolume, as observed", "measured again", "evaluations",
            "epochs trained", "core minutes")
    rows = []
    for step, words in (("paper", "the paper's settings"), *((s, w) for s, w, _ in plan.STEPS)):
        names = plan.step_studies(scale, step)
        rows.append(("beyond", step, (words, str(scale.seeds), *(
            (mean_volume(m, names), mean_again(m, names), mean_time(m, names, "evaluations", 1),
             mean_epochs(m, names), mean_time(m, names, "cpu", 60)) if m.finished(*names)
            else (NOT_YET, "", "", "", "")))))
    return head, rows


def steps(m, scale):
    """What each step changes, by values as observed and measured again."""
    head = ("step", "against", "as observed (95 %)", "p", "measured again (95 %)", "p")
    rows = []
    for step, words, base in plan.STEPS:
        ours, theirs = plan.step_studies(scale, step), plan.step_studies(scale, base)
        found = [m.test((step, ours), (base, theirs), by=by) for by in ("observed", "remeasured")]
        cells = []
        for f in found:
            cells += [claims.interval(f[1], 4), "%.2g" % f[1]["p"] if f[1]["p"] is not None else ""] \
                if f else [NOT_YET, ""]
        rows.append(("beyond", step, (words, base, *cells)))
    return head, rows


def growth(m, scale):
    """The hypervolume of each step, a mean over seeds, when so many epochs had been trained."""
    head = ("step", *("%d epochs" % e for e in EPOCHS))
    rows = []
    for step, words in (("paper", "the paper's settings"), *((s, w) for s, w, _ in plan.STEPS)):
        names = plan.step_studies(scale, step)
        rows.append(("beyond", step, (words, *(growth_cells(m, names) if m.finished(*names)
                                               else (NOT_YET, *[""] * (len(EPOCHS) - 1))))))
    return head, rows


def growth_cells(m, names):
    """Empty once all seeds have ended."""
    last = max(p[2] for n in names for p in m.points(n))
    before = [0, *EPOCHS]
    return ["%.3f" % mean([measure.volume_after(m.points(n), e) for n in names])
            if before[i] < last else "" for i, e in enumerate(EPOCHS)]


def steps_in_words(m, scale):
    """What each step does to the hypervolume as measured again; where it does not help, that."""
    said = []
    for step, words, base in plan.STEPS:
        found = m.test((step, plan.step_studies(scale, step)),
                       (base, plan.step_studies(scale, base)), by="remeasured")
        if not found:
            said.append("%s: %s" % (words, NOT_YET))
            continue
        said.append("%s: %s" % (words, verdict(found[1])))
    return "Measured again, by 95 %% intervals: %s." % "; ".join(said)


def verdict(test):
    """By the 95 % interval of a difference."""
    if test["low"] is None or test["low"] <= 0 <= test["high"]:
        return "no difference can be shown"
    return "it helps" if test["low"] > 0 else "it does not help: the hypervolume is smaller"


def mean(values):
    return sum(values) / len(values)


def mean_volume(m, names):
    return "%.4f" % mean([m.seen[n]["hypervolume"] for n in names])


def mean_again(m, names):
    return "%.4f" % mean([m.export(n)["study"]["hypervolume_remeasured"] for n in names])


def mean_epochs(m, names):
    return "%.0f" % mean([max(p[2] for p in m.points(n)) for n in names])


def mean_time(m, names, what, unit):
    return "%.3g" % mean([m.times(n)[what] / unit for n in names])


def epochs_sentence(m, scale):
    """How many epochs paths need for the hypervolume that plain trainings end with."""
    plain, paths = plan.step_studies(scale, "pld"), plan.step_studies(scale, "path")
    if not m.finished(*plain, *paths):
        return "Epochs that paths need for the hypervolume of plain trainings: %s." % NOT_YET
    said = []
    for a, b in zip(plain, paths):
        volume = measure.hypervolume(m.points(a))
        for share in (1, 0.999):
            said.append((share, measure.epochs_to_reach(m.points(b), share * volume),
                         measure.epochs_to_reach(m.points(a), share * volume)))
    out = []
    for share in (1, 0.999):
        some = [(b, a) for s, b, a in said if s == share]
        reached = [(b, a) for b, a in some if b is not None]
        out.append("%s of it: %d of %d seeds, %s" % (
            claims.percent(share), len(reached), len(some),
            "with %.0f epochs against %.0f on average" % tuple(
                sum(x) / len(x) for x in zip(*reached)) if reached else "none"))
    return "Paths reach the hypervolume that plain trainings of the same seed end with: %s." % \
        "; ".join(out)


def spent(m, names):
    """Evaluations, runs, epochs and core hours of studies that have finished."""
    head = ("study", "evaluations", "runs", "epochs", "core hours", "optimiser, s", "hypervolume")
    rows = []
    for name in names:
        found = m.times(name)
        if not found:
            rows.append(("mnist", name, (name, NOT_YET, "", "", "", "", "")))
            continue
        epochs = sum(t["parameters"].get("epochs", 0) for t in m.export(name)["trials"]
                     if t["at"] is None)
        rows.append(("mnist", name, (
            name, "%d" % found["evaluations"], "%d" % found["runs"], "%d" % epochs,
            "%.3g" % (found["cpu"] / 3600), claims.seconds(found["sought"]),
            "%.4f" % m.seen[name]["hypervolume"])))
    return head, rows


def spent_in_all(m, scale):
    """What MNIST took, and what the paper's number of runs would take at that speed."""
    names = {n: [plan.network(scale, n, kind) for kind in ("dpareto", "random")]
             for n in plan.NETWORKS}
    every = [s for pair in names.values() for s in pair]
    if not m.finished(*every):
        return "Together: %s." % NOT_YET
    found = {s: m.times(s) for s in every}
    said = "Together: %d evaluations, %d runs, %.3g core hours." % (
        *(sum(t[k] for t in found.values()) for k in ("evaluations", "runs")),
        sum(t["cpu"] for t in found.values()) / 3600)
    for s in every:
        if s.endswith("-random") and found[s]["evaluations"] <= scale.initial:
            said += " %s ended with its initial points: its next training would have exceeded its epochs." % s
    if scale.mnist_plain:
        return said
    hours = []
    for network, pair in names.items():
        random = m.export(pair[1])["trials"]
        epochs = scale.mnist_runs * sum(t["parameters"]["epochs"] for t in random if t["at"] is None)
        hours.append("%s hours of one core for %s" % (
            claims.figures(PAPER_MNIST_EPOCHS * found[pair[1]]["cpu"] / epochs / 3600),
            plan.NETWORKS[network]))
    return said + " With as much processor time for an epoch as random sampling took here, 272 random points " \
        "of 10 runs each, 200 epochs on average, would take %s." % " and ".join(hours)


def overhead(m, scale, times):
    """Where the time goes, of every study with the paper's settings."""
    head = ("study", "evaluations", "optimiser, s", "trainings, s", "share of the optimiser",
            "wall-clock, submit to report", "against the paper's %g h" % plan.PAPER_ADULT_HOURS)
    names = [("overhead", "overhead-paper"), ("overhead", "overhead-shipped")] + \
        [(p, s) for p in plan.PAIRS for s in claims.one_seed(scale, p)]
    rows = []
    for part, name in names:
        found = m.times(name)
        if not found:
            rows.append((part, "time of " + name, (name, NOT_YET, "", "", "", "", "")))
            continue
        wall = times.get(name)
        rows.append((part, "time of " + name, (
            name, "%d" % found["evaluations"], claims.seconds(found["sought"]),
            claims.seconds(found["trained"]),
            claims.percent(found["sought"] / (found["sought"] + found["trained"])),
            duration(wall) if wall else "",
            "1/%s" % claims.figures(plan.PAPER_ADULT_HOURS * 3600 / wall) if wall else "")))
    return head, rows


def times(m, parts, seconds):
    """How long each part took; that of all pairs is their sum."""
    head = ("part", "wall-clock", "trainings")
    return head, [
        (p.name, "time", (p.title, duration(seconds[p.name]), duration(m.processor(p.names())))
         if p.name in seconds and m.finished(*p.names()) else (p.title, NOT_YET, ""))
        for p in parts.values() if p.name != "adult"]


def adult_time(m, parts, seconds):
    pairs, names = [seconds.get(p) for p in plan.PAIRS], parts["adult"].names()
    if not all(pairs) or not m.finished(*names):
        return "All of Adult's comparison: %s." % NOT_YET
    return "All of Adult's comparison: %s, with %s of trainings." % (
        duration(sum(pairs)), duration(m.processor(names)))


def choice(m, scale):
    """One study that also chooses model and optimiser against three, with as many evaluations."""
    one = plan.seeds("choice", scale.choices)
    three = [plan.seeds("third-" + p[len("adult-"):], scale.choices) for p in plan.PAIRS]
    if not m.finished(*one, *(s for names in three for s in names)):
        return "One study over model and optimiser against three studies: %s." % NOT_YET
    ours = [measure.hypervolume(m.points(s)) for s in one]
    theirs = [measure.hypervolume([p for s in names for p in m.points(s)]) for names in zip(*three)]
    test = student.welch(ours, theirs)
    chosen = {}
    for s in one:
        for t in m.front(s)["front"]:
            pair = "%s+%s" % (t["parameters"]["model"], t["parameters"]["optimizer"])
            chosen[pair] = chosen.get(pair, 0) + 1
    total = sum(chosen.values())
    return "One study of %d evaluations over model and optimiser (four pairs, SVM+Adam too) has a " \
        "hypervolume of %.4f on average over %d seeds; the union of three studies with %d each, " \
        "%.4f%s. On the fronts of the one study are: %s." % (
            scale.total, mean(ours), len(ours), scale.third, mean(theirs),
            "; difference %s, %s: %s" % (claims.interval(test, 4), claims.p_text(test["p"]),
                                         verdict(test)) if test else "", ", ".join("%s %s" % (k, claims.percent(v / total, 0))
                                       for k, v in sorted(chosen.items(), key=lambda x: -x[1])))


def third_objective(m, name, unit):
    """What the least of a third objective costs, at an epsilon of at most 1."""
    if not m.finished(name):
        return "A third objective, %s: %s." % (unit, NOT_YET)
    points = [t for t in m.export(name)["trials"] if t["state"] == "ok" and
              t["objectives"]["epsilon"] <= 1]
    if not points:
        return "A third objective, %s: no result has an epsilon of 1 or less." % unit
    front = m.front(name)["front"]
    best = min(points, key=lambda t: t["objectives"]["error"])
    near = [t for t in points if t["objectives"]["error"] <= best["objectives"]["error"] + 0.01]
    least = min(near, key=lambda t: t["objectives"][name])
    return "A third objective, %s: the front has %d points. With an epsilon of at most 1 the least " \
        "error is %s, with a third objective of %.3g (trial %d); within one percentage point of that " \
        "error this goes down to %.3g, with an error of %s (trial %d). These are the best of %d observed means." % (
            unit, len(front), claims.percent(best["objectives"]["error"], 2),
            best["objectives"][name], best["trial"], least["objectives"][name],
            claims.percent(least["objectives"]["error"], 2), least["trial"], len(points))


def studies(m, parts):
    """The study file and seed behind each number."""
    head = ("study", "file of examples/paper", "seed", "search", "edits", "evaluations", "hypervolume",
            "measured again")
    rows, seen = [], set()
    for part in parts:
        for s in part.studies:
            if s.name not in seen:
                seen.add(s.name)
                rows.append((part.name, s.name, study_row(m, s)))
    return head, rows


def study_row(m, s):
    there = m.finished(s.name)
    again = m.export(s.name)["study"].get("hypervolume_remeasured") \
        if there and "remeasure" in dict(s.search) else None
    return (s.name, s.source, str(s.seed), ", ".join("%s: %s" % pair for pair in s.search),
            ", ".join(s.edits), "%d" % m.seen[s.name]["ended"] if there else NOT_YET,
            "%.4f" % m.seen[s.name]["hypervolume"] if there else "",
            "%.4f" % again if again is not None else "")
