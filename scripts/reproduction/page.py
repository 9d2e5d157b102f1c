"""page.py - the results as Markdown and as a page: one description, written twice."""
import html
import os
import platform
import re
import shutil

from . import claims, plan, tables
from .progress import duration

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --text: #1a1a1a; --line: #ccc; --soft: #f4f4f4; --link: #0645ad }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --text: #e6e6e6; --line: #444; --soft: #1f2329; --link: #8ab4f8 } }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem }
a { color: var(--link) } h1, h2, h3 { line-height: 1.2 } code { font-size: .9em }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0 }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top } th { background: var(--soft) }
figure { border: 1px solid var(--line); margin: 1.5rem 0; padding: .5rem } figure img { max-width: 100%; background: #fff }
figcaption { font-size: .9rem } @media print { :root { --ground: #fff; --text: #000 } figure { break-inside: avoid } }
"""


def anchor(heading):
    """As GitHub names it."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


class Markdown:
    """`pictures` is where pictures are, seen from the page."""

    def __init__(self, pictures):
        self.parts, self.pictures = [], pictures

    def heading(self, level, text):
        self.parts.append("%s %s" % ("#" * level, text))

    def text(self, text):
        self.parts.append(text)

    def table(self, head, rows):
        def line(cells):
            return "| %s |" % " | ".join(c.replace("|", "\\|") for c in cells)
        self.parts.append("\n".join([line(head), line("---" for _ in head), *map(line, rows)]))

    def figure(self, drawn):
        if drawn.svg:
            self.parts.append("![%s](%s)" % (drawn.figure.title, self.pictures(drawn)))
        self.parts.append("%s %s" % (drawn.words(), drawn.caption))

    def done(self):
        return "\n\n".join(self.parts) + "\n"


class Page:
    def __init__(self):
        self.parts = []

    def inline(self, text):
        """Escaped, with `code` and [links](to) as in Markdown."""
        text = html.escape(text)
        text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
        text = re.sub(r"\*\*([^*]*)\*\*", r"<strong>\1</strong>", text)
        return re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r'<a href="\2">\1</a>', text)

    def heading(self, level, text):
        self.parts.append('<h%d id="%s">%s</h%d>' % (level, anchor(text), self.inline(text), level))

    def text(self, text):
        self.parts.append("<p>%s</p>" % self.inline(text))

    def table(self, head, rows):
        def line(cells, tag):
            return "<tr>%s</tr>" % "".join("<%s>%s</%s>" % (tag, self.inline(c), tag)
                                           for c in cells)
        self.parts.append('<div class="wide"><table><thead>%s</thead><tbody>%s</tbody></table></div>'
                          % (line(head, "th"), "\n".join(line(r, "td") for r in rows)))

    def figure(self, drawn):
        report = ' <a href="%s">Report</a>' % drawn.report if drawn.report else ""
        picture = '<a href="%s"><img src="%s" alt="%s" loading="lazy"></a>\n' % (
            drawn.report, drawn.svg, html.escape(drawn.alt, quote=True)) if drawn.svg else ""
        self.parts.append(
            '<figure id="%s">%s<figcaption><strong>%s</strong> %s%s</figcaption></figure>' % (
                drawn.figure.name, picture, self.inline(drawn.words()),
                self.inline(drawn.caption), report))

    def done(self):
        return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "img-src 'self' data: file:; style-src 'unsafe-inline'\">\n"
                "<title>The paper, reproduced</title><style>%s</style></head><body>\n%s\n"
                "</body></html>\n" % (STYLE, "\n".join(self.parts)))


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


def introduction(out, scale):
    out.heading(1, "The paper, reproduced")
    out.text("Avent et al., \"Automatic Discovery of Privacy-Utility Pareto Fronts\" (PoPETs 2020): its "
             "claims beside what `scripts/reproduce` measured. This page is made by that command "
             "from the journals of its studies, and says nothing that was not measured; "
             "[how to make it again](#how-to-make-it-again).")
    out.text("Sections: %s." % ", ".join("[%s](#%s)" % (t, anchor(t)) for t in (
        "Claims", *(p.title for p in plan.parts(scale).values()), "How long it took",
        "The study behind each number")))
    if scale.embedded:
        out.text("**This is a quick run: made-up records, short trainings and few points. It shows that "
                 "everything works and says nothing about the paper.**")
    elif not scale.mnist_plain:
        out.text("Adult's part has the paper's settings; that of MNIST has paths, %d runs a point and "
                 "%s epochs a study of %s, and `--full` has the paper's own." % (
                     scale.mnist_runs, " and ".join("%d" % n for n in scale.mnist_cost.values()),
                     " and ".join(plan.NETWORKS[n] for n in scale.mnist_cost)))


def claim_table(out, m, scale):
    out.heading(2, "Claims")
    out.text("\"Same\" is decided by a rule for each row (`scripts/reproduction/claims.py`), reasons are "
             "likely ones, no more.")
    out.table(("in the paper", "its words in short", "what we measured", "same?", "likely reason"), [
        (r.where, r.words, r.found or tables.NOT_YET,
         *(("quick run", "") if scale.embedded else (r.same, r.reason)))
        for r in claims.rows(m, scale)])


def figures(out, part, drawn):
    for figure in part.figures:
        d = drawn.get(figure.name)
        if d:
            out.figure(d)
        else:
            out.text("%s%s: %s." % (figure.paper + ", " if figure.paper else "", figure.title,
                                    tables.NOT_YET))


def sections(out, m, scale, parts, drawn, times):
    for part in parts.values():
        out.heading(2, part.title)
        if part.name == "adult":
            out.text("Table 2: mean difference of hypervolume between DPareto (%d + %d points) and %d "
                     "parts of %d random points, with 95 %% intervals. One seed is taken as fixed, "
                     "as in the paper; of several, Welch's test." % (
                         scale.initial, scale.total - scale.initial, scale.parts, scale.part))
            out.table(*tables.table_two(m, scale))
            out.text("Observed hypervolumes are those of lucky runs. Fronts of %d seeds each of DPareto and "
                     "of random studies with %d points, each point run %d times again with fresh "
                     "seeds:" % (scale.seeds, scale.part, scale.fresh))
            out.table(*tables.measured_again(m, scale))
        elif part.name == "beyond":
            out.text("%s, %d seeds each; a difference is that to the step named. Points of fronts were run "
                     "%d times again, those of the paper's settings %d times." % (
                         plan.PAIRS[plan.LADDER][0], scale.seeds, scale.fresh_steps, scale.fresh))
            out.table(*tables.steps(m, scale))
            out.text(tables.steps_in_words(m, scale))
            out.text("Loss-distribution accounting proves a smaller epsilon for the same training: what it adds "
                     "is proof, not another model. 8 at once is by `order: deterministic`: each point is "
                     "chosen without the results of the 7 before it, however many cores there are.")
            out.text(tables.epochs_sentence(m, scale))
        elif part.name == "overhead":
            out.table(*tables.overhead(m, scale, times))
        elif part.name == "mnist":
            out.table(*tables.spent(m, part.names()))
        elif part.name == "extensions":
            out.text(tables.choice(m, scale))
            out.text(tables.third_objective(m, "seconds", "training seconds"))
            out.text(tables.third_objective(m, "gap", "the accuracy gap between women and men"))
        figures(out, part, drawn)


def closing(out, m, scale, parts, times):
    out.heading(2, "How long it took")
    out.text("On %s, which may have had other work: wall-clock time by part, over all runs of the "
             "command, and the processor time of its trainings." % machine())
    out.table(("part", "wall-clock", "trainings"), [
        (p.title, duration(times[p.name]), duration(m.processor(p.names())))
        if p.name in times and m.finished(*p.names()) else (p.title, tables.NOT_YET, "")
        for p in parts.values() if p.name != "adult"])
    pairs = [times.get(p) for p in plan.PAIRS]
    if all(pairs) and m.finished(*parts["adult"].names()):
        out.text("All of Adult's comparison: %s, with %s of trainings." % (
            duration(sum(pairs)), duration(m.processor(parts["adult"].names()))))
    out.heading(2, "The study behind each number")
    out.text("Each is a file of `examples/paper` with another name, seed and search, and the edits named "
             "here (`scripts/reproduction/studies.py`); the files are in `studies/` of the folder that "
             "the command was given.")
    out.table(*tables.studies(m, parts.values()))
    out.heading(2, "How to make it again")
    out.text("`scripts/fetch-data all`, then `scripts/reproduce --dir DIR`; `--only NAME` for one part (%s). "
             "It can be stopped and killed at any time: the same command goes on, and nothing that "
             "has ended runs twice." % ", ".join("`%s`" % p for p in parts))


def write(out, m, scale, drawn, times):
    parts = plan.parts(scale)
    introduction(out, scale)
    claim_table(out, m, scale)
    sections(out, m, scale, parts, drawn, times)
    closing(out, m, scale, parts, times)
    return out.done()


def save(path, text):
    with open(path + ".tmp", "w") as f:
        f.write(text)
    os.rename(path + ".tmp", path)


def write_docs(docs, m, scale, drawn, times):
    """docs/results.md, with its pictures beside it."""
    pictures = os.path.join(docs, "results")
    os.makedirs(pictures, exist_ok=True)
    for d in drawn.values():
        if d.svg:
            shutil.copy(d.png_path, os.path.join(pictures, d.figure.name + ".png"))
    save(os.path.join(docs, "results.md"),
         write(Markdown(lambda d: "results/%s.png" % d.figure.name), m, scale, drawn, times))
