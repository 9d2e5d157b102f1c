"""claims.py - what sections 2 to 4 of the paper claim, one row each, and what was measured. A rule
decides whether it is the same; where it is not, the row has a likely reason, said to be one."""
import math
from dataclasses import dataclass

from . import measure, plan, student

SAME, PARTLY, NOT = "same", "partly", "not the same"
OPEN = "cannot be told"
LEVELS = (0.1, 0.3, 1, 3, 10)  # of epsilon, where fronts are held against each other


@dataclass
class Row:
    part: str        # of the plan: its studies are behind it
    key: str         # its name in that part, which stays when words change
    where: str       # in the paper
    words: str       # its claim in short
    found: str = ""  # empty: not measured yet
    same: str = ""
    reason: str = ""
    behind: tuple = ()  # studies


def number(x, digits=3):
    return "%.*f" % (digits, x)


def up(epsilon):
    """Two digits, rounded up: epsilon is a bound."""
    if epsilon <= 0:
        return "0"
    place = math.floor(math.log10(epsilon)) - 1
    return "%.*f" % (max(0, -place), math.ceil(epsilon / 10.0 ** place - 1e-9) * 10.0 ** place)


def seconds(x):
    """Three digits, and no more than a tenth."""
    return "%.1f" % x if x >= 10 else "%.3g" % x


def percent(x, digits=1):
    return "%.*f %%" % (digits, 100 * x)


def p_text(p):
    if p is None:
        return "p unknown"
    return "p = %.2g" % p if p >= 1e-300 else "p below 1e-300"


def interval(test, digits=3):
    if test["low"] is None:
        return "%.*f" % (digits, test["difference"])
    return "%.*f (%.*f, %.*f)" % (digits, test["difference"], digits, test["low"], digits,
                                  test["high"])


def implied(row, parts=plan.PAPER_PARTS):
    """t and p that a mean with its 95 % interval over so many parts stand for."""
    mean, low, high = row
    t = mean / ((high - low) / 2 / student.quantile(parts - 1))
    return t, student.p_value(t, parts - 1)


def random_parts(scale, p):
    return ("%s-random-long/%d" % (p, scale.part),)


def one_seed(scale, p):
    return plan.seeds(p + "-dpareto", scale.seeds)[:1]


def every_pair(names):
    """Studies of all pairs."""
    return tuple(s for p in plan.PAIRS for s in names(p))


def seeds_and_parts(scale, p):
    return (*plan.seeds(p + "-dpareto", scale.seeds), p + "-random-long")


# ---- sections 2.2 and 3.3 ----

def oracles(m, scale, name, where, words, expected):
    """`expected` has (parameter, objective, sign): what rises or falls; sign 0: either."""
    row = Row(name, "oracles", where, words, behind=(name + "-grid",))
    found = m.points(name + "-grid")
    if not found:
        return row
    trials = [t for t in m.export(name + "-grid")["trials"] if t["state"] == "ok"]
    front = measure.front_of(found)
    changes = [across(trials, x, objective) for x, objective, _ in expected]
    row.found = "%d settings; the front has %d points from epsilon %s to %s. From the least to the " \
        "largest value, on average: %s." % (
            len(trials), len(front), up(front[0][0]), up(front[-1][0]), "; ".join(
                "%s changes %s %s" % (x, objective, "by a factor of %.3g" % math.exp(c)
                                      if objective == "epsilon" else "by %+.3f" % c)
                for (x, objective, _), c in zip(expected, changes)))
    good = [c * sign > 0 or (sign == 0 and c != 0) for (_, _, sign), c in zip(expected, changes)]
    row.same = SAME if all(good) else PARTLY if any(good) else NOT
    return row


def across(trials, x, objective):
    """How an objective differs between the largest and the least value of a parameter: its mean, or
    that of its logarithm."""
    values = sorted({t["parameters"][x] for t in trials})
    means = []
    for v in (values[0], values[-1]):
        at = [t["objectives"][objective] for t in trials if t["parameters"][x] == v]
        means.append(sum(map(math.log, at) if objective == "epsilon" else at) / len(at))
    return means[1] - means[0]


def models(m, scale, name, where, words, bound):
    """How much of the true front 250 random points have, above and below a small epsilon."""
    row = Row(name, "models", where, words, behind=(name + "-start", name + "-grid"))
    start, truth = m.points(name + "-start"), m.points(name + "-grid")
    if not start or not truth:
        return row
    share = measure.hypervolume(start) / measure.hypervolume(truth)
    gaps, without = {True: [], False: []}, 0
    for epsilon, error, _ in measure.front_of(truth):
        best = measure.best_within(start, epsilon)
        if best is None:
            without += 1
        elif epsilon <= 10:
            gaps[epsilon < bound].append(best - error)
    row.found = "The empirical front of %d points has %s of the true front's hypervolume." % (
        len(start), percent(share))
    mean = {k: sum(v) / len(v) if v else None for k, v in gaps.items()}
    for small, text in ((True, "below"), (False, "above")):
        if mean[small] is not None:
            row.found += " %s epsilon %g it lies %.3f above it on average." % (
                text.capitalize(), bound, mean[small])
    if without:
        row.found += " %d points of the true front have a smaller epsilon than any of these." % without
    row.same = SAME if abs(1 - share) < 0.05 else PARTLY
    if row.same == PARTLY:
        row.reason = "The true front is the best of noisy means, too: luck of either moves the share."
    return row


def next_point(m, scale, name, where, words, wanted):
    """Where in the evaluated values HVPoI's choice is expected: `wanted` has the share of them
    that may lie below it, from and to, for each objective."""
    row = Row(name, "next point", where, words, behind=(name + "-start",))
    points, found = m.points(name + "-start"), m.proposed(name + "-start")
    if not points or not found:
        return row
    places = {}
    for i, objective in enumerate(("epsilon", "error")):
        value = found["predicted"][objective]["value"]
        places[objective] = sum(p[i] < value for p in points) / len(points)
    row.found = "%s: expected epsilon %s and error %s; %s of the evaluated epsilons and %s of the " \
        "errors are smaller." % (
            ", ".join("%s %.3g" % x for x in found["parameters"].items()),
            up(found["predicted"]["epsilon"]["value"]),
            number(found["predicted"]["error"]["value"]), percent(places["epsilon"], 0),
            percent(places["error"], 0))
    good = [low <= places[o] <= high for o, (low, high) in wanted.items()]
    row.same = SAME if all(good) else PARTLY if any(good) else NOT
    if row.same != SAME:
        row.reason = "Only epsilons up to 10, the anti-ideal, count as a gain; which one pays most " \
            "depends on the 250 points drawn."
    return row


# ---- section 4 ----

def distributions(m, scale):
    row = Row("adult", "distributions", "Section 4.1", "Fronts from the constructed sampling distributions "
              "are significantly better than from uniform sampling",
              behind=every_pair(lambda p: (*plan.seeds(p + "-uniform", scale.seeds),
                                           p + "-random-long")))
    said, good = [], []
    for p in plan.PAIRS:
        found = m.test(("Uniform", plan.seeds(p + "-uniform", scale.seeds)),
                       ("Random", random_parts(scale, p)))
        if found:
            groups, test = found
            said.append("%s: hypervolume %s of uniform points (%d seeds) and %s of the paper's, "
                        "difference %s, %s" % (
                            plan.PAIRS[p][0], number(groups[0]["hypervolume"]["mean"]),
                            scale.seeds, number(groups[1]["hypervolume"]["mean"]),
                            interval(test), p_text(test["p"])))
            good.append(test["high"] < 0)
    if len(said) < len(plan.PAIRS):
        return row
    row.found = "; ".join(said) + "."
    row.same = SAME if all(good) else PARTLY if any(good) else NOT
    if row.same != SAME:
        row.reason = "Uniform points are drawn from the ranges of Table 1, which leave out most bad " \
            "settings; the paper does not say from which ranges its own were."
    return row


def alike(m, scale):
    row = Row("adult", "repetitions", "Section 4.3, footnote",
              "Repetitions of DPareto would give nearly identical results",
              behind=every_pair(lambda p: seeds_and_parts(scale, p)))
    said, good = [], []
    for p in plan.PAIRS:
        found = m.test(("DPareto", plan.seeds(p + "-dpareto", scale.seeds)),
                       ("Random", random_parts(scale, p)))
        if found:
            sds = [g["hypervolume"]["sd"] for g in found[0]]
            said.append("%s: standard deviation of the hypervolume %.4f over %d seeds of DPareto, "
                        "%.4f over parts of random sampling" % (plan.PAIRS[p][0], sds[0],
                                                               scale.seeds, sds[1]))
            good.append(sds[0] < 0.02 and sds[0] < sds[1] / 2)
    if len(said) < len(plan.PAIRS):
        return row
    row.found = "; ".join(said) + "."
    row.same = SAME if all(good) else PARTLY if any(good) else NOT
    return row


def sequential(m, scale):
    ours, theirs = plan.step_studies(scale, "parallel"), plan.step_studies(scale, "pld")
    row = Row("beyond", "sequential", "Computational overhead", "DPareto is inherently sequential and "
              "cannot easily be parallelised", behind=(*ours, *theirs))
    found = [m.test(("8 at once", ours), ("one by one", theirs), by=by)
             for by in ("observed", "remeasured")]
    if not all(found):
        return row
    row.found = "With 8 trainings at once the hypervolume differs by %s (%s) as observed, %s (%s) " \
        "measured again, over %d seeds." % (
            interval(found[0][1], 4), p_text(found[0][1]["p"]), interval(found[1][1], 4),
            p_text(found[1][1]["p"]), scale.seeds)
    # what parallel work costs is held against what the whole is worth
    loss = -found[1][1]["difference"] / found[1][0][1]["hypervolume"]["mean"]
    row.same = NOT if loss < 0.005 else SAME
    row.reason = "Points that are being evaluated are taken into account when the next one is chosen." \
        if row.same == NOT else ""
    return row


def against_random(m, scale, p):
    title, paper = plan.PAIRS[p]
    row = Row(p, "table 2", "Table 2",
              "%s: DPareto has %.3f (%.3f, %.3f) more hypervolume than random, p < 0.001" % (title, *paper),
              behind=(*one_seed(scale, p), p + "-random-long"))
    found = m.test(("DPareto", one_seed(scale, p)), ("Random", random_parts(scale, p)))
    if not found:
        return row
    test = found[1]
    row.found = "%s, t = %.3g with %d degrees of freedom, %s" % (
        interval(test), test["t"], test["df"], p_text(test["p"]))
    if test["low"] <= 0:
        row.same = NOT
    elif test["low"] > paper[2] or test["high"] < paper[1]:
        row.same = PARTLY
        row.reason = "The direction is the same, the size is not: %s. Ours is another trainer with " \
            "another seed; the paper does not give its sampled points." % (
                "larger" if test["low"] > paper[2] else "smaller")
    else:
        row.same = SAME
    return row


def implied_p(m, scale):
    """What the paper's own intervals say of its p; nothing is measured for it."""
    words = "All three differences have p < 0.001"
    row = Row("adult", "p", "Table 2", words, behind=every_pair(
        lambda p: (*one_seed(scale, p), p + "-random-long")))
    worst = {plan.PAIRS[p][0]: implied(plan.PAIRS[p][1]) for p in plan.PAIRS}
    row.found = "The paper's intervals with %d parts imply %s." % (
        plan.PAPER_PARTS, ", ".join("t = %.2f and p = %.2g for %s" % (*worst[k], k)
                                    for k in worst))
    ours = [m.test(("DPareto", one_seed(scale, p)), ("Random", random_parts(scale, p)))
            for p in plan.PAIRS]
    if all(ours):
        row.found += " Ours: " + ", ".join(p_text(t["p"]) for _, t in ours) + "."
        row.same = SAME if all(t["p"] < 1e-3 and t["difference"] > 0 for _, t in ours) else NOT
        row.reason = "With 19 parts an interval as wide as the paper's first has p of about 0.006."
    else:
        row.found += " Ours: not measured yet."
    return row


def greater_everywhere(m, scale):
    row = Row("adult", "greater", "Figure 5, top", "In nearly every experiment DPareto yields a greater "
              "hypervolume than random sampling",
              behind=every_pair(lambda p: seeds_and_parts(scale, p)))
    said, good = [], []
    for p in plan.PAIRS:
        found = m.test(("DPareto", plan.seeds(p + "-dpareto", scale.seeds)),
                       ("Random", random_parts(scale, p)))
        if found:
            groups, test = found
            values = [g["hypervolume"]["values"] for g in groups]
            above = sum(a > b for a in values[0] for b in values[1])
            of = len(values[0]) * len(values[1])
            said.append("%s: %s, %s, greater in %d of %d pairs of a seed and a part" % (
                plan.PAIRS[p][0], interval(test), p_text(test["p"]), above, of))
            good.append(above > 0.9 * of)
    if len(said) < len(plan.PAIRS):
        return row
    row.found = "; ".join(said) + "."
    row.same = SAME if all(good) else PARTLY if any(good) else NOT
    return row


def near_the_front(m, scale, p):
    long = p + "-random-long"
    row = Row(p, "near the front", "Figure 5, bottom right", "%s: similar fronts from 256 points and "
              "from many more random ones; nearly all points of DPareto are close to the front, many "
              "random ones are not" % plan.PAIRS[p][0], behind=(*one_seed(scale, p), long))
    chosen, drawn = m.points(one_seed(scale, p)[0]), m.points(long)
    if not chosen or not drawn:
        return row
    front = measure.front_of(chosen + drawn)
    shares = [measure.near(x, front, 0.02) for x in (chosen[scale.initial:], drawn)]
    volumes = [measure.hypervolume(x) for x in (chosen, drawn)]
    row.found = "Within 2 percentage points of the best front of both are %s of DPareto's chosen " \
        "points up to epsilon 10 and %s of %d random ones; hypervolumes %s and %s." % (
            *(percent(s) if s is not None else "none" for s in shares), len(drawn),
            number(volumes[0]), number(volumes[1]))
    row.same = SAME if None not in shares and shares[0] > 0.8 and shares[0] > shares[1] + 0.1 \
        else PARTLY if None not in shares and shares[0] > shares[1] else NOT
    return row


def against_grids(m, scale, p):
    grids = tuple("%s-grid%d" % (p, g) for g in scale.grids)
    chosen = plan.seeds(p + "-dpareto", scale.seeds)
    row = Row(p, "grids", "Figure 6",
              "%s: DPareto is better than grids of 3 and 4 points per axis (243 and 1,024)"
              % plan.PAIRS[p][0], behind=(*chosen, *grids))
    if not m.finished(*chosen, *grids):
        return row
    ours = [measure.hypervolume(m.points(s)) for s in chosen]
    theirs = [measure.hypervolume(m.points(g)) for g in grids]
    row.found = "Hypervolume %s to %s over %d seeds; grids: %s." % (
        number(min(ours)), number(max(ours)), len(ours),
        ", ".join("%s with %d points" % (number(v), m.seen[g]["ended"])
                  for v, g in zip(theirs, grids)))
    row.same = SAME if min(ours) > max(theirs) else PARTLY if max(ours) > min(theirs) else NOT
    return row


def variability(m, scale):
    studies = tuple(s for p in plan.PAIRS for s in one_seed(scale, p))
    row = Row("adult", "variability", "Figure 7",
              "Utility varies more between runs where epsilon is small", behind=studies)
    if not m.finished(*studies):
        return row
    said, good = [], []
    for p, s in zip(plan.PAIRS, studies):
        rows = [(r["objectives"]["epsilon"], r["spread"]["error"]["sd"])
                for r in m.front(s)["front"] if r["spread"]["error"]["sd"] is not None]
        low = [sd for e, sd in rows if e < 0.3]
        high = [sd for e, sd in rows if 1 <= e <= 10]
        if low and high:
            a, b = sum(low) / len(low), sum(high) / len(high)
            said.append("%s: standard deviation over runs %.4f below epsilon 0.3 (%d points), "
                        "%.4f from 1 to 10 (%d)" % (plan.PAIRS[p][0], a, len(low), b, len(high)))
            good.append(a > b)
    row.found = "; ".join(said) + "." if said else "No front has points on both sides."
    row.same = OPEN if not good else SAME if all(good) else PARTLY if any(good) else NOT
    return row


def best_pair(m, scale):
    groups = tuple((plan.PAIRS[p][0], plan.seeds(p + "-dpareto", scale.seeds))
                   for p in ("adult-logreg-adam", "adult-logreg-sgd", "adult-svm-sgd"))
    row = Row("adult", "best pair", "Figure 8, left",
              "LogReg+Adam is nearly always better than the other pairs",
              behind=tuple(s for _, names in groups for s in names))
    found = m.compare(groups, at=LEVELS)
    if not found:
        return row
    said, good = [], []
    for level in found["at"]:
        means = {g["name"]: g["mean"] for g in level["groups"]}
        told = ", ".join("%s %s" % (k, "none" if v is None else percent(v, 2))
                         for k, v in means.items())
        said.append("error at epsilon %g: %s" % (level["epsilon"], told))
        known = [v for v in means.values() if v is not None]
        if known and means["LogReg+Adam"] is not None:
            good.append(means["LogReg+Adam"] == min(known))
    row.found = "Means over %d seeds; %s." % (scale.seeds, "; ".join(said))
    share = sum(good) / len(good) if good else 0
    row.same = SAME if share >= 0.8 else PARTLY if share > 0 else NOT
    if row.same != SAME:
        row.reason = "Within tenths of a percentage point the pairs are level, and one run differs from " \
            "another by more (Figure 7); by hypervolume see the first figure of all pairs."
    return row


# ---- MNIST ----

BOTH_HAD_PATHS = " Both had paths: random sampling sees small epsilons on the way of every training, " \
    "which the paper's did not."


def against_sampling(m, scale, network):
    """DPareto and random sampling of a network, both as they were when the one with fewer epochs
    ended: (epochs, DPareto's points, random ones, those they began with), or None if random
    sampling had no epochs left after these."""
    ours, theirs = (m.points(plan.network(scale, network, k)) for k in ("dpareto", "random"))
    trials = [t for t in m.export(plan.network(scale, network, "random"))["trials"]
              if t["at"] is None]
    if len(trials) <= scale.initial:
        return None
    epochs = min(max(p[2] for p in points) for points in (ours, theirs))
    began = sum(t["parameters"]["epochs"] for t in trials[:scale.initial])
    within = [[p for p in points if p[2] <= e]
              for points, e in ((ours, epochs), (theirs, epochs), (theirs, began))]
    return (epochs, *within)


def greater_networks(m, scale):
    row = Row("mnist", "greater", "Figure 5, top right", "MNIST: DPareto has the greater hypervolume; the "
              "differences are visually even clearer than for Adult", behind=tuple(
                  plan.network(scale, n, kind) for n in plan.NETWORKS for kind in ("dpareto", "random")))
    if not m.finished(*row.behind):
        return row
    said, gains = [], []
    for network, title in plan.NETWORKS.items():
        found = against_sampling(m, scale, network)
        if not found:
            said.append("%s: cannot be told, the first random training after the initial points would "
                        "have exceeded the epochs of its study" % title)
            continue
        ours, theirs = (measure.hypervolume(x) for x in found[1:3])
        gains.append(ours - theirs)
        said.append("%s: within %d epochs of each %s against %s of random sampling, difference %+.3f"
                    % (title, found[0], number(ours), number(theirs), gains[-1]))
    row.found = "%s. One seed each." % "; ".join(said)
    clearer = max(paper[0] for _, paper in plan.PAIRS.values())
    row.same = OPEN if not gains else NOT if max(gains) <= 0 else \
        SAME if min(gains) > clearer and len(gains) == len(plan.NETWORKS) else PARTLY
    if row.same == PARTLY:
        row.reason = "Clearer is more than %.3f, the paper's largest difference for Adult, for both." % clearer
    return row


def high_privacy(m, scale):
    names = tuple(plan.network(scale, "mnist-mlp2-sgd", k) for k in ("dpareto", "random"))
    row = Row("mnist", "high privacy", "Figure 5, bottom left", "MLP2: random sampling only marginally "
              "improves on the initial points; DPareto explores the high-privacy regime", behind=names)
    if not m.finished(*names):
        return row
    found = against_sampling(m, scale, "mnist-mlp2-sgd")
    if not found:
        row.found, row.same = "Random sampling had no epochs left after the initial points.", OPEN
        return row
    epochs, ours, theirs, began = found
    least = [min(p[0] for p in measure.front_of(x)) for x in (ours, theirs)]
    first, *volumes = (measure.hypervolume(x) for x in (began, ours, theirs))
    row.found = "Within %d epochs of each, from the same %d initial points: hypervolume %s at first, then " \
        "%s (DPareto) and %s (random); points with epsilon up to 1: %d and %d, the least epsilon of a " \
        "front %s and %s. %s. One seed each." % (
            epochs, scale.initial, *(number(v) for v in (first, *volumes)),
            *(sum(p[0] <= 1 for p in x) for x in (ours, theirs)), up(least[0]), up(least[1]),
            at_levels(("DPareto", ours), ("random", theirs)))
    explores = wins(ours, theirs, (0.1, 0.3, 1)) == 1
    marginal = volumes[1] - first < (volumes[0] - first) / 4
    row.same = SAME if explores and marginal else PARTLY if explores or marginal else NOT
    if row.same != SAME:
        row.reason = "Marginal is less than a quarter of what DPareto gains; explored is a smaller error " \
            "at epsilon 0.1, 0.3 and 1." + (BOTH_HAD_PATHS if not scale.mnist_plain else "")
    return row


def at_levels(*named):
    return "; ".join("error at epsilon %g: %s" % (e, ", ".join(
        "%s %s" % (name, "none" if measure.best_within(x, e) is None
                   else percent(measure.best_within(x, e), 2)) for name, x in named))
        for e in LEVELS)


def wins(a, b, levels):
    """The share of levels at which a is better than b."""
    pairs = [(measure.best_within(a, e), measure.best_within(b, e)) for e in levels]
    pairs = [(1 if x is None else x, 1 if y is None else y) for x, y in pairs]
    return sum(x < y for x, y in pairs) / len(pairs)


def networks(m, scale):
    names = tuple(plan.network(scale, "mnist-%s-sgd" % n, "dpareto") for n in ("mlp2", "mlp1"))
    row = Row("mnist", "networks", "Figure 8, right", "MLP1 and MLP2 are similar at large "
              "epsilon; MLP2 is significantly better at small epsilon", behind=names)
    if not m.finished(*names):
        return row
    every = [m.points(n) for n in names]
    epochs = min(max(p[2] for p in points) for points in every)
    two, one = ([p for p in points if p[2] <= epochs] for points in every)
    row.found = "Within %d epochs of each: %s. With all that they trained, %d and %d epochs: %s. One seed " \
        "each." % (epochs, at_levels(("MLP2", two), ("MLP1", one)), *(max(p[2] for p in x) for x in every),
                   at_levels(*zip(("MLP2", "MLP1"), every)))
    apart = [abs((measure.best_within(one, e) or 1) - (measure.best_within(two, e) or 1))
             for e in (3, 10)]
    similar, better = max(apart) < 0.02, wins(two, one, (0.1, 0.3, 1)) == 1
    row.same = SAME if similar and better else PARTLY if similar or better else NOT
    if row.same != SAME:
        row.reason = "Judged within the same epochs: similar is within 2 percentage points at epsilon 3 and " \
            "10, better is at 0.1, 0.3 and 1. " + (
                "Few epochs and %d runs a point leave much to luck at small epsilon."
                % scale.mnist_runs if not scale.mnist_plain else "One seed each leaves much to luck.")
    return row


# ---- overhead ----

def overhead(m, scale):
    row = Row("overhead", "Adult", "Computational overhead", "The optimiser takes about %g s for "
              "16 + 256, less than 0.1 %% of the time for Adult" % plan.PAPER_OVERHEAD,
              behind=("overhead-paper",))
    found = m.times("overhead-paper")
    if not found:
        return row
    share = found["sought"] / (found["sought"] + found["trained"])
    row.found = "%s s for %d evaluations, %s of optimiser and trainings together (%s s of " \
        "trainings, one at a time)." % (seconds(found["sought"]), found["evaluations"],
                                        percent(share), seconds(found["trained"]))
    row.same = SAME if found["sought"] <= plan.PAPER_OVERHEAD and share < 1e-3 else \
        PARTLY if found["sought"] <= plan.PAPER_OVERHEAD else NOT
    if share >= 1e-3:
        row.reason = "The share is of a total that is %s times smaller than the paper's more than " \
            "%g hours." % (figures(plan.PAPER_ADULT_HOURS * 3600 /
                                   (found["sought"] + found["trained"])), plan.PAPER_ADULT_HOURS)
    return row


def overhead_mnist(m, scale):
    name = plan.network(scale, "mnist-mlp2-sgd", "dpareto")
    row = Row("mnist", "overhead", "Computational overhead",
              "For MNIST as much, less than 0.01 % of the time", behind=(name,))
    found = m.times(name)
    if not found:
        return row
    share = found["sought"] / (found["sought"] + found["trained"])
    row.found = "%s s for %d evaluations with %d runs, %s of optimiser and trainings together." % (
        seconds(found["sought"]), found["evaluations"], found["runs"], percent(share, 3))
    row.same = SAME if share < 1e-4 and found["sought"] <= plan.PAPER_OVERHEAD else \
        PARTLY if share < 1e-4 or found["sought"] <= plan.PAPER_OVERHEAD else NOT
    if row.same != SAME:
        row.reason = "Trainings are faster here than the paper's." if scale.mnist_plain else \
            "An evaluation is %d runs of %.0f epochs on average here, not 10 of about 200, and with paths the " \
            "models have more results to learn from." % (
                scale.mnist_runs, max(p[2] for p in m.points(name)) / found["evaluations"])
    return row


def figures(x):
    """Two digits."""
    return "%.2g" % x if x < 100 else "%d" % round(x, 1 - int(math.log10(x)))


def rows(m, scale):
    """All claims, in the order of the paper."""
    return [
        oracles(m, scale, "output-perturbation", "Figure 1",
                "Output perturbation: both hyperparameters affect both privacy and accuracy",
                (("regularization", "epsilon", 0), ("sigma", "epsilon", 0),
                 ("regularization", "error", 0), ("sigma", "error", 0))),
        oracles(m, scale, "svt", "Figure 2",
                "Sparse vector technique: increasing b or decreasing C is more private and less "
                "accurate",
                (("C", "epsilon", 1), ("b", "epsilon", -1), ("C", "error", -1),
                 ("b", "error", 1))),
        models(m, scale, "output-perturbation", "Figure 3", "The empirical front of 250 random points "
               "sits almost exactly on the true one, except below epsilon 0.01", 0.01),
        next_point(m, scale, "output-perturbation", "Figure 3", "HVPoI's next point has a relatively "
                   "low epsilon and a relatively low error", {"epsilon": (0, 0.5), "error": (0, 0.5)}),
        models(m, scale, "svt", "Figure 4", "The empirical front of 250 random points sits close to "
               "the true one", 1),
        next_point(m, scale, "svt", "Figure 4", "HVPoI's next point has a medium epsilon and a low "
                   "error", {"epsilon": (0.25, 0.75), "error": (0, 0.5)}),
        distributions(m, scale),
        greater_everywhere(m, scale),
        *(against_random(m, scale, p) for p in plan.PAIRS),
        implied_p(m, scale),
        alike(m, scale),
        *(near_the_front(m, scale, p) for p in plan.PAIRS),
        *(against_grids(m, scale, p) for p in plan.PAIRS),
        variability(m, scale),
        best_pair(m, scale),
        greater_networks(m, scale),
        high_privacy(m, scale),
        networks(m, scale),
        overhead(m, scale),
        overhead_mnist(m, scale),
        sequential(m, scale),
    ]
