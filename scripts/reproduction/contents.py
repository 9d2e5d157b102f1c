"""contents.py - what the page says, section by section, as blocks that page.py writes in either
format: ("text", words), ("table", head, rows) and ("figure", drawing.Drawn)."""
import re

from . import claims, plan, tables
from .drawing import Drawn
from .kept import NOT_YET, measured
from .progress import duration

CLAIMS = ("in the paper", "its words in short", "what we measured", "same?", "likely reason",
          "studies", "run")


def behind(names):
    """Names of studies in short: seeds of one study as a range."""
    out, seeds = [], {}
    for name in dict.fromkeys(names):
        found = re.fullmatch(r"(.*-s)(\d+)", name)
        if not found:
            out.append("`%s`" % name)
            continue
        if found[1] not in seeds:
            out.append(found[1])
        seeds.setdefault(found[1], []).append(found[2])
    return ", ".join("`%s%s`%s" % (x, seeds[x][0], " to `s%s`" % seeds[x][-1]
                                   if len(seeds[x]) > 1 else "") if x in seeds else x for x in out)


class Contents:
    """Gathers every entry first: only then is it known which runs there are."""

    def __init__(self, results, scale, drawn, times):
        self.results, self.scale, self.m, self.parts = results, scale, results.m, results.parts
        self.claims = [self.claim(r) for r in claims.rows(self.m, scale)]
        self.tables = {name: self.table(name, *made) for name, made in (
            ("table 2", tables.table_two(self.m, scale)),
            ("again", tables.measured_again(self.m, scale)),
            ("overhead", tables.overhead(self.m, scale, times)),
            ("volumes", tables.volumes(self.m, scale)),
            ("steps", tables.steps(self.m, scale)),
            ("growth", tables.growth(self.m, scale)),
            ("spent", tables.spent(self.m, self.parts["mnist"].names())),
            ("times", tables.times(self.m, self.parts, times)),
            ("studies", self.compared(tables.studies(self.m, self.parts.values()))))}
        self.texts = {key: results.entry(part, "text " + key, made) for part, key, made in (
            ("mnist", "spent", tables.spent_in_all(self.m, scale)),
            ("beyond", "steps", tables.steps_in_words(self.m, scale)),
            ("beyond", "epochs", tables.epochs_sentence(self.m, scale)),
            ("extensions", "choice", tables.choice(self.m, scale)),
            ("extensions", "seconds", tables.third_objective(self.m, "seconds", "training seconds")),
            ("extensions", "gap", tables.third_objective(
                self.m, "gap", "the accuracy gap between women and men")),
            ("adult", "time", tables.adult_time(self.m, self.parts, times)))}
        self.figures = {p.name: [self.figure(p.name, f, drawn.get(f.name)) for f in p.figures]
                        for p in self.parts.values()}
        self.runs = results.known_runs()

    def claim(self, row):
        """(part, key, row), with what an earlier run found if this one did not."""
        key = "claim " + row.key
        row.found, row.same, row.reason = self.results.entry(
            row.part, key, (row.found or NOT_YET, row.same, row.reason))
        return row.part, key, row

    def table(self, name, head, rows):
        return head, [(part, "%s: %s" % (name, key),
                       self.results.entry(part, "%s: %s" % (name, key), cells))
                      for part, key, cells in rows]

    def compared(self, made):
        """Notes which studies another run had measured before, and whether they came out the same."""
        for part, key, cells in made[1]:
            old = self.results.earlier(part, "studies: " + key)
            if old and measured(cells):
                self.results.run["again"][key] = list(cells[-3:]) == list(old[-3:])
        return made

    def figure(self, part, figure, d):
        """What is drawn, what was drawn for docs/ by an earlier run, or a sentence."""
        made = (d.alt, d.caption, "shown" if d.svg else "") if d else (NOT_YET, "", "")
        found = self.results.entry(part, "figure " + figure.name, made)
        if found is made and d:
            return d
        if measured(found):
            return Drawn(figure, "", found[2], "", found[0], found[1])
        return "%s%s: %s." % (figure.paper + ", " if figure.paper else "", figure.title, NOT_YET)

    # ---- sections ----

    def number(self, run):
        return "%d" % (list(self.runs).index(run) + 1) if run in self.runs else ""

    def rows(self, name):
        """(head, rows) of a table as it is shown."""
        head, rows = self.tables[name]
        return "table", head, [cells for _, _, cells in rows]

    def with_run(self, name):
        """The same, with the run of each row."""
        head, rows = self.tables[name]
        return "table", (*head, "run"), [(*cells, self.number(self.results.run_id(part, key)))
                                         for part, key, cells in rows]

    def claim_section(self):
        return "Claims", [
            ("text", "\"Same\" is decided by a rule for each row (`scripts/reproduction/claims.py`), "
             "reasons are likely ones, no more. [Runs](#how-long-it-took) say when and where a row "
             "was measured, [studies](#the-study-behind-each-number) from which files and seeds."),
            ("table", CLAIMS, [
                (r.where, r.words, r.found, *(("quick run", "") if self.scale.embedded
                                              else (r.same, r.reason)), behind(r.behind),
                 self.number(self.results.run_id(part, key))) for part, key, r in self.claims])]

    def part_section(self, part):
        blocks = list(self.measured_by(part))
        blocks += getattr(self, "of_" + part.name, lambda: [])()
        blocks += [("text", f) if isinstance(f, str) else ("figure", f)
                   for f in self.figures[part.name]]
        return part.title, blocks

    def measured_by(self, part):
        """Which run the section is of; more than one only if none has all of it."""
        found = self.results.runs_of(part.name)
        if found:
            yield "text", "Measured by %s." % ", and in part by ".join(
                "[run %s](#how-long-it-took) (%s)" % (self.number(run), self.when(run))
                for run in sorted(found, key=lambda r: -found[r]))

    def when(self, run):
        r = self.runs[run]
        return "%s, %s" % (days(r), r["machine"])

    def of_adult(self):
        s = self.scale
        return [
            ("text", "Table 2: mean difference of hypervolume between DPareto (%d + %d points) and %d "
             "parts of %d random points, with 95 %% intervals. One seed is taken as fixed, as in the "
             "paper; of several, Welch's test." % (s.initial, s.total - s.initial, s.parts, s.part)),
            self.rows("table 2"),
            ("text", "Observed hypervolumes are those of lucky runs. Fronts of %d seeds each of DPareto "
             "and of random studies with %d points, each point run %d times again with fresh seeds:"
             % (s.seeds, s.part, s.fresh)),
            self.rows("again")]

    def of_beyond(self):
        s = self.scale
        return [
            ("text", "%s, %d seeds each: means over seeds. Points of fronts were run %d times again with "
             "fresh seeds, those of the paper's settings %d times; what that took is not counted." % (
                 plan.PAIRS[plan.LADDER][0], s.seeds, s.fresh_steps, s.fresh)),
            self.rows("volumes"),
            ("text", "What a step changes against the one named:"),
            self.rows("steps"),
            ("text", self.texts["steps"]),
            ("text", "Loss-distribution accounting proves a smaller epsilon for the same training: what "
             "it adds is proof, not another model. 8 at once is by `order: deterministic`: each point "
             "is chosen without the results of the 7 before it, however many cores there are."),
            ("text", "Hypervolume against epochs trained, means over the seeds (an evaluation counts its "
             "epochs once, however many runs it has; the last number of a row is that of the end):"),
            self.rows("growth"),
            ("text", self.texts["epochs"])]

    def of_overhead(self):
        return [self.rows("overhead")]

    def of_mnist(self):
        how = "The paper's settings; DPareto and random sampling of a network have the same initial points." \
            if self.scale.mnist_plain else \
            "The paper's domain (up to 400 epochs), but not its search: DPareto and random sampling both have " \
            "paths (every training is tested on its way) and %d runs a point, and end by the epochs that " \
            "they have trained; DPareto computes epsilon, and chooses by expected hypervolume improvement " \
            "for epochs. Random sampling begins with DPareto's initial points." % self.scale.mnist_runs
        return [("text", how), self.rows("spent"), ("text", self.texts["spent"])]

    def of_extensions(self):
        return [*(("text", self.texts[x]) for x in ("choice", "seconds", "gap")),
                ("text", "Seconds are those of one training on the machine of the run, with others "
                 "beside it. One seed each of the third objectives.")]

    def times_section(self):
        runs = [(self.number(k), days(r), r["machine"], r["commit"]) for k, r in self.runs.items()]
        return "How long it took", [
            ("text", "Machines may have had other work. A run is a folder of results, filled by one or "
             "several calls of the command; the commit is that of the sources it began with."),
            ("table", ("run", "when", "machine", "commit"), runs),
            ("text", "Wall-clock time by part, over all calls of the command, and the processor time of "
             "its trainings:"),
            self.with_run("times"),
            ("text", self.texts["time"])]

    def studies_section(self):
        again = [("text", words) for words in map(self.again, self.runs) if words]
        return "The study behind each number", [
            ("text", "Each is a file of `examples/paper` with another name, seed and search, and the "
             "edits named here (`scripts/reproduction/studies.py`); the files are in `studies/` of "
             "the folder that the command was given."), *again, self.with_run("studies")]

    def again(self, run):
        """Whether studies that an earlier run had measured came out the same."""
        found = dict(sorted(self.runs[run].get("again", {}).items()))
        if not found:
            return ""
        other = [n for n, same in found.items() if not same]
        return "Run %s measured %d studies again that an earlier run had measured, with the same seeds: " \
            "%s. Evaluations and hypervolumes, as observed and measured again, %s." % (
                self.number(run), len(found), behind(found),
                "are the same to every digit shown" if not other else
                "are the same to every digit shown but for %s" % behind(other))


def days(run):
    return run["from"] if run["from"] == run["to"] else "%s to %s" % (run["from"], run["to"])


def sections(results, scale, drawn, times):
    """[(title, blocks)]"""
    c = Contents(results, scale, drawn, times)
    return [c.claim_section(), *(c.part_section(p) for p in c.parts.values()), c.times_section(),
            c.studies_section()]
