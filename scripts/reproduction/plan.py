"""plan.py - all experiments, as one table: which studies there are, which part of the paper each
is for, and the figures that are drawn from them. Everything follows from a Scale."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scale:
    """How much is done."""
    name: str
    initial: int = 16          # points before the models, of DPareto
    total: int = 272           # with these: 16 + 256, as in the paper
    part: int = 256            # random points that stand against one study of DPareto
    long: int = 5000           # random points of a pair: 19 parts of 256
    seeds: int = 5             # of DPareto; the paper has one
    fine: dict = field(default_factory=lambda: {"svt": 30, "output-perturbation": 30})
    start: int = 250           # initial points of figures 3 and 4
    grids: tuple = (3, 4)      # points per axis: 243 and 1,024
    grid_limit: int = 0        # 0: all of a grid's points
    fresh: int = 50            # runs of each point of a front that is measured again
    fresh_steps: int = 20      # the same, of the steps beyond the paper
    walk: int = 64             # trainings of a study whose trainings are paths
    mnist_runs: int = 2        # the paper has 10
    mnist_cost: dict = field(  # epochs that a study of MNIST may train; MLP1's take six times as long
        default_factory=lambda: {"mnist-mlp1-sgd": 200, "mnist-mlp2-sgd": 800})
    mnist_plain: bool = False  # the paper's own: 272 evaluations of 10 runs without paths
    third: int = 91            # a third of `total`: of three studies beside one
    choices: int = 3           # seeds of studies that choose model and optimiser
    embedded: bool = False     # made-up records, short trainings

    @property
    def parts(self):
        return self.long // self.part


USUAL = Scale("usual")
FULL = Scale("full", mnist_plain=True, mnist_runs=10)
QUICK = Scale("quick", initial=4, total=7, part=3, long=58, seeds=2, fine={"svt": 5, "output-perturbation": 3},
              start=12, grid_limit=6, fresh=2, fresh_steps=2, walk=5, mnist_runs=2,
              mnist_cost={"mnist-mlp1-sgd": 12, "mnist-mlp2-sgd": 12}, third=6, choices=2,
              embedded=True)


@dataclass(frozen=True)
class Study:
    """One study: a file of examples/paper with another name, seed and search, and edits that
    studies.py knows by name."""
    name: str
    source: str
    seed: int
    search: tuple              # (key, value), in the order of the file
    edits: tuple = ()
    shares: str = ""           # begins with the initial points of this study, in its part


@dataclass(frozen=True)
class Figure:
    name: str                  # of its folder below reports/
    paper: str                 # which figure of the paper; "" for one of our own
    title: str
    says: str                  # what the paper says of it, in short
    figures: tuple             # of dpareto-report, the first is shown
    studies: tuple             # compared studies; of a group report none
    groups: tuple = ()         # (name, (study or study/size, ...))
    truth: str = ""
    labels: tuple = ()         # (study, text)

    def needs(self):
        """All studies that it is drawn from."""
        members = [m.split("/")[0] for _, names in self.groups for m in names]
        return (*self.studies, *members, *((self.truth,) if self.truth else ()))


@dataclass
class Part:
    name: str
    title: str
    studies: list
    figures: list
    data: str = ""             # "adult" or "mnist": what it needs
    alone: bool = False        # one study after the other, to see how long each takes

    def names(self):
        return [s.name for s in self.studies]


# The three pairs of the paper's Table 2 with its row: mean difference and 95 % interval.
PAIRS = {
    "adult-logreg-sgd": ("LogReg+SGD", (0.158, 0.053, 0.264)),
    "adult-logreg-adam": ("LogReg+Adam", (0.439, 0.272, 0.607)),
    "adult-svm-sgd": ("SVM+SGD", (0.282, 0.161, 0.402)),
}
RUNS = 10                             # of an evaluation of Adult
PAPER_PARTS = 19
PAPER_OVERHEAD = 45.0                 # seconds of the optimiser for 16 + 256
PAPER_ADULT_HOURS = 12.5              # 45 s are less than 0.1 % of it
NETWORKS = {"mnist-mlp1-sgd": "MLP1", "mnist-mlp2-sgd": "MLP2"}
FEMALE = 72                           # the column of Adult's 123 (docs/trainers.md)


def dpareto(scale, **other):
    """The paper's own settings, or what differs from them."""
    keys = {"method": "dpareto", "initial": scale.initial, "evaluations": scale.total,
            "parallel": 1, "acquisition": "hvpoi", "privacy_model": "gp", "front": "observed",
            "remeasure": scale.fresh, **other}
    return tuple((k, v) for k, v in keys.items() if v is not None)


def random(evaluations, **other):
    return tuple({"method": "random", "evaluations": evaluations, "parallel": 4, **other}.items())


def grid(scale, points):
    limit = {"evaluations": scale.grid_limit} if scale.grid_limit else {}
    return tuple({"method": "grid", "grid": points, "parallel": 4, **limit}.items())


def seeds(prefix, n):
    return tuple("%s-s%d" % (prefix, i + 1) for i in range(n))


def illustration(scale, name, source, title, numbers):
    """Sections 2.2 and 3.3: oracles over a fine grid, then models of 250 random points."""
    truth, start = name + "-grid", name + "-start"
    studies = [
        Study(truth, source + "-grid", 1, tuple({"method": "grid", "grid": scale.fine[name],
                                                 "parallel": 4}.items())),
        Study(start, source + "-dpareto", 1,
              dpareto(scale, initial=scale.start, evaluations=scale.start, parallel=4,
                      remeasure=None)),
    ]
    figures = [
        Figure("figure-%d" % numbers[0], "Figure %d" % numbers[0], title + ": oracles and front",
               "Values of the privacy and utility oracles; the front and its points.",
               ("oracles",), (truth,), labels=((truth, title),)),
        Figure("figure-%d" % numbers[1], "Figure %d" % numbers[1],
               title + ": models, fronts and the next point",
               "Mean predictions of both models with the sampled points; the empirical front "
               "under the true one; HVPoI and its maximum.", ("surrogates",), (start,),
               truth=truth, labels=((start, title),)),
    ]
    return Part(name, title, studies, figures, "adult" if "adult" in source else "")


def pair(scale, name):
    """A model with an optimiser on Adult: section 4.3."""
    title = PAIRS[name][0]
    number = 100 * list(PAIRS).index(name)
    chosen = seeds(name + "-dpareto", scale.seeds)
    drawn = seeds(name + "-random", scale.seeds)
    studies = [Study(s, name + "-dpareto", number + i + 1, dpareto(scale))
               for i, s in enumerate(chosen)]
    studies += [Study(s, name + "-random", number + i + 21,
                      random(scale.part, remeasure=scale.fresh)) for i, s in enumerate(drawn)]
    studies += [Study(s, name + "-random", number + i + 31, random(scale.part), ("uniform",))
                for i, s in enumerate(seeds(name + "-uniform", scale.seeds))]
    studies += [Study("%s-grid%d" % (name, g), name + "-grid", 1, grid(scale, g))
                for g in scale.grids]
    long = name + "-random-long"
    studies.append(Study(long, name + "-random", number + 11, random(scale.long)))
    grids = tuple("%s-grid%d" % (name, g) for g in scale.grids)
    figures = [
        Figure("figure-5-" + name, "Figure 5, top left",
               title + ": hypervolume, DPareto against random",
               "The hypervolume grows as points are sampled, faster with DPareto.",
               ("hypervolume-groups", "seeds", "attainment"), (),
               groups=(("DPareto", chosen), ("Random", (long + "/%d" % scale.part,)))),
        Figure("figure-5-points-" + name, "Figure 5, bottom right",
               title + ": points of DPareto and of random sampling",
               "Nearly all points of DPareto are close to the front, many random ones nowhere "
               "near it.", ("clouds",), (chosen[0], long),
               labels=((chosen[0], "DPareto"), (long, "Random"))),
        Figure("figure-6-" + name, "Figure 6", title + ": DPareto against grids",
               "DPareto is better than grids of 3 and of 4 points per axis.", ("comparison",),
               (chosen[0], *grids),
               labels=((chosen[0], "DPareto"),
                       *((g, "Grid of %d per axis" % n) for g, n in zip(grids, scale.grids)))),
        Figure("seeds-" + name, "", title + ": seeds of DPareto and of random studies",
               "", ("seeds", "attainment"), (), groups=(("DPareto", chosen), ("Random", drawn))),
    ]
    return Part(name, "Adult, " + title, studies, figures, "adult")


def adult(scale):
    """What the three pairs have in common: figures 5, 7 and 8."""
    first = tuple(seeds(p + "-dpareto", scale.seeds)[0] for p in PAIRS)
    labels = tuple(zip(first, (PAIRS[p][0] for p in PAIRS)))
    groups = []
    for p in PAIRS:
        groups.append((PAIRS[p][0] + " DPareto", seeds(p + "-dpareto", scale.seeds)))
        groups.append((PAIRS[p][0] + " random", ("%s-random-long/%d" % (p, scale.part),)))
    figures = [
        Figure("figure-5-adult", "Figure 5, top left", "Hypervolumes of all pairs",
               "In nearly every experiment DPareto has the greater hypervolume.",
               ("hypervolume-groups", "seeds"), (), groups=tuple(groups)),
        Figure("figure-7", "Figure 7", "Variability of the fronts",
               "Best and worst runs: more variability where epsilon is small.", ("panels",),
               first, labels=labels),
        Figure("figure-8-adult", "Figure 8, left", "Models and optimisers",
               "LogReg+Adam is nearly always the best.", ("comparison",), first, labels=labels),
        Figure("figure-8-adult-seeds", "", "The same, of all seeds", "", ("attainment",), (),
               groups=tuple(groups[0::2])),
    ]
    return Part("adult", "Adult, all pairs", [s for p in PAIRS for s in pair(scale, p).studies],
                figures, "adult")


def network(scale, name, kind):
    """A study of MNIST; those of the full setting have names of their own, in the same folder."""
    return "%s-%s%s" % (name, kind, "-full" if scale.mnist_plain else "")


def mnist(scale):
    """MLP1 and MLP2. Random and DPareto of one network have the same seed, and so the same
    initial points; with paths DPareto's are short trainings, which are given to the other."""
    studies, figures = [], []
    for i, name in enumerate(NETWORKS):
        if scale.mnist_plain:
            kinds = (("dpareto", name + "-dpareto", dpareto(scale, remeasure=None)),
                     ("random", name + "-random", random(scale.total)))
        else:
            cost = scale.mnist_cost[name]
            limit = {"evaluations": None, "max_cost": cost, "cost": "path"}
            kinds = (("dpareto", name + "-dpareto-path",
                      dpareto(scale, acquisition="ehvi", privacy_model="exact", remeasure=None,
                              **limit)),
                     ("random", name + "-dpareto-path",
                      (("method", "random"), ("max_cost", cost), ("cost", "path"),
                       ("parallel", 4))))
        studies += [Study(network(scale, name, kind), source, 301 + i, search,
                          ("runs %d" % scale.mnist_runs,),
                          "" if scale.mnist_plain or kind == "dpareto"
                          else network(scale, name, "dpareto"))
                    for kind, source, search in kinds]
    labels = tuple((network(scale, n, kind), "%s %s" % (NETWORKS[n], words)) for n in NETWORKS
                   for kind, words in (("dpareto", "DPareto"), ("random", "random")))
    all_four = tuple(s for s, _ in labels)
    two, fronts = all_four[2:], all_four[0::2]
    figures = [
        Figure("figure-5-mnist", "Figure 5, top right", "MNIST: hypervolumes",
               "DPareto has the greater hypervolume.", ("hypervolume",), all_four, labels=labels),
        Figure("figure-5-mlp2", "Figure 5, bottom left", "MLP2: DPareto and random",
               "Random sampling only marginally improves on the shared initial points; DPareto "
               "explores small epsilons thoroughly.", ("clouds",), two, labels=labels[2:]),
        Figure("figure-8-mnist", "Figure 8, right", "MNIST: MLP1 and MLP2" if scale.mnist_plain else
               "MNIST: MLP1 within %d epochs and MLP2 within %d" % tuple(scale.mnist_cost.values()),
               "Similar at large epsilon; MLP2 is better at small epsilon.", ("comparison",),
               fronts, labels=((fronts[0], "MLP1"), (fronts[1], "MLP2"))),
    ]
    return Part("mnist", "MNIST", studies, figures, "mnist")


def overhead(scale):
    """One study alone on the machine, sequential as in the paper; and one as it is shipped."""
    studies = [
        Study("overhead-paper", "adult-logreg-sgd-dpareto", 41, dpareto(scale, remeasure=None)),
        Study("overhead-shipped", "adult-logreg-sgd-dpareto", 41,
              (("method", "dpareto"), ("initial", scale.initial), ("evaluations", scale.total),
               ("parallel", 2))),
    ]
    figures = [Figure("overhead", "", "Where the time of one study goes", "",
                      ("time-spent", "timeline"), ("overhead-paper",))]
    return Part("overhead", "Overhead of the optimiser", studies, figures, "adult", alone=True)


# What each step changes of the one before, or of the step named. The pair is LogReg+SGD.
STEPS = (
    ("exact", "epsilon computed instead of learned", "paper"),
    ("ehvi", "and expected hypervolume improvement instead of HVPoI", "exact"),
    ("pld", "and loss-distribution accounting", "ehvi"),
    ("path", "and every training a path, chosen by gain for epochs", "pld"),
    ("parallel", "as before paths, with 8 trainings at once", "pld"),
)
LADDER = "adult-logreg-sgd"


def step_studies(scale, step):
    """The names of a step's seeds."""
    return seeds(LADDER + "-dpareto" if step == "paper" else "beyond-" + step, scale.seeds)


def beyond(scale):
    exact = dict(privacy_model="exact", remeasure=scale.fresh_steps)
    newer = dict(exact, acquisition="ehvi")
    plain = LADDER + "-dpareto"
    ways = {
        "exact": (plain, dpareto(scale, **exact), ()),
        "ehvi": (plain, dpareto(scale, **newer), ()),
        "pld": (plain, dpareto(scale, **newer), ("pld",)),
        "path": (plain + "-path", dpareto(scale, **newer, evaluations=scale.walk), ("pld",)),
        "parallel": (plain, dpareto(scale, **newer, parallel=8, order="deterministic"), ("pld",)),
    }
    studies = [s for s in pair(scale, LADDER).studies if s.name in step_studies(scale, "paper")]
    for step, (source, search, edits) in ways.items():
        studies += [Study(name, source, i + 1, search, edits)
                    for i, name in enumerate(step_studies(scale, step))]
    names = {"paper": "Paper", "exact": "Exact epsilon", "ehvi": "EHVI", "pld": "PLD",
             "path": "Paths", "parallel": "Parallel 8"}
    groups = tuple((names[s], step_studies(scale, s)) for s in names)
    one = tuple(step_studies(scale, s)[0] for s in ("paper", "ehvi", "pld", "path"))
    figures = [
        Figure("beyond-steps", "", "What each step adds", "", ("seeds", "hypervolume-groups",
                                                              "attainment"), (), groups=groups),
        Figure("beyond-epochs", "", "Hypervolume against epochs trained, one seed", "",
               ("hypervolume",), one,
               labels=tuple(zip(one, ("Paper", "EHVI", "PLD", "Paths")))),
    ]
    return Part("beyond", "Beyond the paper", studies, figures, "adult")


def extensions(scale):
    """What the paper names as extensions: model and optimiser searched, a third objective."""
    usual = dict(acquisition="ehvi", privacy_model="exact", parallel=2, remeasure=None)
    studies = [Study(s, LADDER + "-dpareto", 401 + i, dpareto(scale, **usual), ("choice",))
               for i, s in enumerate(seeds("choice", scale.choices))]
    for p in PAIRS:
        studies += [Study(s, p + "-dpareto", 421 + 10 * list(PAIRS).index(p) + i,
                          dpareto(scale, **usual, evaluations=scale.third))
                    for i, s in enumerate(seeds("third-" + p[len("adult-"):], scale.choices))]
    studies += [
        Study("seconds", "adult-logreg-adam-dpareto", 451, dpareto(scale, **usual), ("seconds",)),
        Study("gap", "adult-logreg-adam-dpareto", 452, dpareto(scale, **usual), ("gap",)),
    ]
    choice = seeds("choice", scale.choices)[0]
    figures = [
        Figure("choice", "", "Model and optimiser as parameters of one study", "",
               ("hyperparameters", "front", "relevance"), (choice,)),
        Figure("seconds", "", "A third objective: training seconds", "", ("objectives", "parallel"),
               ("seconds",)),
        Figure("gap", "", "A third objective: the gap between women and men", "",
               ("objectives", "parallel"), ("gap",)),
    ]
    return Part("extensions", "Extensions that the paper names", studies, figures, "adult")


def parts(scale):
    """All parts in the order in which they run: {name: Part}."""
    made = [
        illustration(scale, "output-perturbation", "adult-output-perturbation",
                     "Private logistic regression", (1, 3)),
        illustration(scale, "svt", "svt", "Sparse vector technique", (2, 4)),
        *(pair(scale, p) for p in PAIRS),
        adult(scale), overhead(scale), beyond(scale), extensions(scale), mnist(scale),
    ]
    return {p.name: p for p in made}


def chosen(scale, only):
    """The parts of --only; "adult" stands for its pairs, too."""
    every = parts(scale)
    if not only:
        return list(every.values())
    names = [*PAIRS, "adult"] if only == "adult" else [only]
    return [every[n] for n in names]
