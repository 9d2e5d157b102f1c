"""page.py - the results as Markdown and as a page: one description, written twice."""
import html
import os
import re
import shutil

from . import contents, plan
from .kept import save

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


def introduction(out, scale, titles):
    out.heading(1, "The paper, reproduced")
    out.text("Avent et al., \"Automatic Discovery of Privacy-Utility Pareto Fronts\" (PoPETs 2020): its "
             "claims beside what `scripts/reproduce` measured. This page is made by that command "
             "from the journals of its studies, and says nothing that was not measured; "
             "[how to make it again](#how-to-make-it-again).")
    out.text("Sections: %s." % ", ".join("[%s](#%s)" % (t, anchor(t)) for t in titles))
    if scale.embedded:
        out.text("**This is a quick run: made-up records, short trainings and few points. It shows that "
                 "everything works and says nothing about the paper.**")
        return
    out.text("Settings are the paper's: the anti-ideal (10, 1), the domains of Table 1, the sampling "
             "distributions of appendix C, %d runs an evaluation, its moments accountant with delta "
             "1e-5. Where it contradicts itself or its published code: Adult is the split of that code, "
             "30,956 records to train on and 1,605 to test with (the paper: 40k and 1.6k); noise is a "
             "variance, as in Table 1; learning rates of Adult go up to 0.1 for random sampling and "
             "grids (appendix C) and to 0.05 for DPareto (Table 1)." % plan.RUNS)
    if not scale.mnist_plain:
        out.text("MNIST is done as far as it fits: paths, %d runs a point and %s epochs a study of %s; "
                 "`--full` has the paper's own." % (
                     scale.mnist_runs, " and ".join("%d" % n for n in scale.mnist_cost.values()),
                     " and ".join(plan.NETWORKS[n] for n in scale.mnist_cost)))


def closing(out, parts, docs):
    out.heading(2, "How to make it again")
    out.text("`scripts/fetch-data all`, then `scripts/reproduce --dir DIR`; `--only NAME` for one part (%s). "
             "It can be stopped and killed at any time: the same command goes on, and nothing that "
             "has ended runs twice." % ", ".join("`%s`" % p for p in parts))
    if docs:
        out.text("With `--write-docs` it makes this page, of what it has measured and of what "
                 "`docs/results/measured.json` keeps of earlier runs: these are replaced part by part, "
                 "by a run that has measured all of a part, and left out if the study files of the part "
                 "have changed since.")


def write(out, sections, scale, docs=False):
    introduction(out, scale, [title for title, _ in sections])
    for title, blocks in sections:
        out.heading(2, title)
        for kind, *what in blocks:
            getattr(out, kind)(*what)
    closing(out, plan.parts(scale), docs)
    return out.done()


def write_folder(folder, sections, scale):
    """DIR/index.html and DIR/results.md: all that was measured in this folder."""
    save(os.path.join(folder, "index.html"), write(Page(), sections, scale))
    save(os.path.join(folder, "results.md"), write(
        Markdown(lambda d: "reports/%s/%s" % (d.figure.name, os.path.basename(d.png_path))),
        sections, scale))


def write_docs(docs, sections, scale):
    """docs/results.md, with its pictures beside it."""
    pictures = os.path.join(docs, "results")
    os.makedirs(pictures, exist_ok=True)
    for d in [what[0] for _, blocks in sections for kind, *what in blocks if kind == "figure"]:
        if d.png_path:
            shutil.copy(d.png_path, os.path.join(pictures, d.figure.name + ".png"))
    save(os.path.join(docs, "results.md"),
         write(Markdown(lambda d: "results/%s.png" % d.figure.name), sections, scale, docs=True))
