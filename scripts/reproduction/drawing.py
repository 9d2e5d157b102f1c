"""drawing.py - the figures of the plan, by `dparetoctl report`."""
import concurrent.futures
import json
import os
from dataclasses import dataclass

from . import plan
from .service import Failed


@dataclass
class Drawn:
    figure: plan.Figure
    report: str     # paths from the folder of results
    svg: str        # empty: there is nothing to show, and the caption says why
    png_path: str
    alt: str
    caption: str

    def words(self):
        f = self.figure
        where = "%s. " % f.paper if f.paper else ""
        says = " In the paper: %s" % f.says if f.says else ""
        return "%s%s.%s" % (where, f.title, says)


def command(figure, folder):
    words = ["report", "--dir", folder, "--figures", ",".join(figure.figures)]
    for name, members in figure.groups:
        words += ["--group", name + "=" + ",".join(members)]
    for study, text in figure.labels:
        words += ["--label", "%s=%s" % (study, text)]
    if figure.truth:
        words += ["--truth", figure.truth]
    return words + list(figure.studies)


def draw(figure, programs, top):
    """Draws it anew. One that cannot be drawn is a sentence, and no harm to the others."""
    folder = os.path.join(top, "reports", figure.name)
    try:
        programs.ask(*command(figure, folder))
    except Failed as e:
        return Drawn(figure, "", "", "", "", "It cannot be drawn: %s" % e)
    with open(os.path.join(folder, "report.json")) as f:
        made = json.load(f)["figures"]
    page, first = "reports/%s/report.html" % figure.name, figure.figures[0]
    shown = [d for d in made if d["file"] and d["file"].startswith(first + ".")]
    if not shown:
        reasons = [d["why_not"] for d in made if d["why_not"]]
        return Drawn(figure, page, "", "", "", "It cannot be drawn: %s." % (reasons or ["?"])[0])
    return Drawn(figure, page, "reports/%s/%s.svg" % (figure.name, first),
                 os.path.join(folder, first + ".png"), shown[0]["alt"], shown[0]["caption"])


def draw_all(parts, m, programs, top):
    """{name: Drawn} of all figures whose studies have finished."""
    ready = [f for p in parts.values() for f in p.figures if m.finished(*f.needs())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        made = pool.map(lambda f: draw(f, programs, top), ready)
        return {d.figure.name: d for d in made}
