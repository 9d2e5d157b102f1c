"""test_report_browser.py - report.html in a real browser: every picture is there, nothing
is wider than the screen, and the console stays empty. Skipped where there is no chromium."""
import html
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import LIMIT
from test_report import Reports

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (400, 1280)

# Looks at the page from inside and tells the page around it.
PROBE = """<script>
addEventListener("load", () => {
  const root = document.documentElement, pictures = [...document.querySelectorAll("figure > svg")];
  const first = document.querySelector(".first figure");
  const top = first ? first.getBoundingClientRect().top : null;
  const closed = document.querySelectorAll("details[open]").length;
  const link = document.querySelector("nav a");
  link.click();
  const opened = document.querySelector(link.hash).closest("details").open;
  document.querySelectorAll("details").forEach(d => d.open = true);
  parent.postMessage({
    top, closed, opened,
    client: root.clientWidth, scroll: root.scrollWidth, pictures: pictures.length,
    pixels: document.images.length,
    flat: pictures.filter(p => p.getBoundingClientRect().height < 50).length,
    wordless: pictures.filter(p => !p.querySelector("text")).length,
    wide: [...document.querySelectorAll("body *")].filter(e => !e.closest(".table, svg *") &&
      e.getBoundingClientRect().right > root.clientWidth + 1).map(e => e.tagName),
  }, "*");
});
</script></body>"""
FRAME = """<!DOCTYPE html><html><body><iframe width="%d" height="900" style="border:0"
src="probed.html"></iframe><script>
addEventListener("message", e => {
  const p = document.createElement("pre");
  p.id = "seen";
  p.textContent = JSON.stringify(e.data);
  document.body.append(p);
});
</script></body></html>"""


@unittest.skipUnless(CHROMIUM, "skipped: there is no chromium")
class Browser(Reports):
    def chromium(self, *arguments):
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--user-data-dir=" + self.path("profile"),
             "--allow-file-access-from-files", "--enable-logging=stderr",
             "--virtual-time-budget=10000", *arguments],
            capture_output=True, text=True, timeout=2 * LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def look(self, width):
        """What the probe sees in a frame of this width: windows cannot be as narrow as a
        phone."""
        page = self.read("report.html")
        page = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page)
        self.write("probed.html", page.replace("</body>", PROBE))
        self.write("frame.html", FRAME % width)
        done = self.chromium("--window-size=1600,1000", "--dump-dom",
                             "file://" + self.path("frame.html"))
        seen = re.search(r"<pre id=\"seen\">(.*?)</pre>", done.stdout, re.S)
        self.assertTrue(seen, done.stdout[-2000:] + done.stderr[-2000:])
        return json.loads(html.unescape(seen[1]))

    def check(self, figures):
        for width in WIDTHS:
            seen = self.look(width)
            self.assertEqual(seen["client"], width)
            self.assertLessEqual(seen["scroll"], width)
            self.assertEqual(seen["wide"], [])
            self.assertEqual((seen["pictures"], seen["pixels"]), (figures, 0))
            self.assertEqual((seen["flat"], seen["wordless"]), (0, 0))
            self.assertEqual((seen["closed"], seen["opened"]), (0, True))
            if width == 1280 and seen["top"] is not None:
                self.assertLess(seen["top"], 350)
        done = self.chromium("--dump-dom", "file://" + self.report("report.html"))
        self.assertNotIn("CONSOLE", done.stderr)

    def test_a_study(self):
        self.run_study()
        self.check(len(self.facts()["figures"]))

    def test_long_names_and_many_columns(self):
        names = ["p" * 60 + "%02d" % i for i in range(12)]
        self.trainer("report(a=%s, b=1 - %s)\n" % (("params[%r]" % names[0],) * 2))
        text = self.study(name="n" * 64, parameters="\n  ".join(
            "%s: {type: float, range: [0, 1]}" % n for n in names),
            search="method: random, evaluations: 10")
        self.write("study.yaml", text)
        self.run_tool("dparetoctl", "run", self.path("study.yaml"), "--state",
                      self.path("state"), "-q")
        os.rename(self.path("state/studies/" + "n" * 64), self.path("state/studies/s"))
        self.check(len(self.facts()["figures"]))

    def test_nothing_to_show(self):
        self.trainer("print('x' * 300, file=sys.stderr)\nsys.exit(3)\n")
        self.run_study(self.study(search="method: random, evaluations: 2"), code=6)
        self.check(len([f for f in self.facts()["figures"] if f["file"]]))

    @unittest.skipUnless(shutil.which("pdftotext"), "skipped: there is no pdftotext")
    def test_folds_are_open_on_paper(self):
        self.run_study()
        self.chromium("--no-pdf-header-footer", "--print-to-pdf=" + self.path("report.pdf"),
                      "file://" + self.report("report.html"))
        done = subprocess.run(["pdftotext", self.path("report.pdf"), "-"], capture_output=True,
                              text=True, check=True, timeout=LIMIT)
        for words in ("Every point", "Unit of privacy: one training record", "How to do it again",
                      "Commands that train the others", "method: random"):
            self.assertIn(words, done.stdout)
        self.assertLessEqual(done.stdout.count("\f"), 10)  # pages
        first = done.stdout.split("\f")[0]  # what is to be decided is on one of them
        for words in ("trust: ", "recommended", "The search made", "dpareto-train svt"):
            self.assertIn(words, first)
        self.assertLess(os.path.getsize(self.report("report.html")), 1.5e6)


if __name__ == "__main__":
    unittest.main()
