"""test_metrics.py - what Prometheus is told of a real daemon, beside what `status` says, and what it
makes of it: examples/prometheus by promtool."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import LIMIT, TOP, Case, wait_for
from serving import Serving

RULES = os.path.join(TOP, "examples/prometheus")
TOKEN = "a-token-of-a-test-0123456789"
TRAINER = """
if request["trial"] < int(os.environ.get("BAD", "0")):
    sys.exit(3)
if os.environ.get("WAIT"):
    gate("go")
report(a=float("nan") if request["trial"] == int(os.environ.get("NAN", "-1")) else params["x"], b=0.5)
"""
SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True,
                          timeout=LIMIT, cwd=RULES)


def samples(text):
    """{(name, label values...): number}"""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, number = SAMPLE.fullmatch(line).groups()
            key = (name, *(value for _, value in LABEL.findall(labels or "")))
            assert key not in found, line
            found[key] = float(number)
    return found


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), "skipped: no " + tool)


@needs("promtool")
class Examples(unittest.TestCase):
    def good(self, *arguments):
        done = promtool(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_they_are_correct(self):
        self.good("check", "rules", "--lint-fatal", "dpareto.rules.yml")
        self.good("check", "config", "--lint-fatal", "prometheus.yml")

    def test_alerts_come_when_they_should(self):
        self.good("test", "rules", "dpareto.rules.test.yml")

    def test_each_alert_is_tested(self):
        """As one that comes, and as one that does not."""
        def words(name, start):
            with open(os.path.join(RULES, name)) as f:
                return [line.split(start)[1].strip(" }\n") for line in f if start in line]
        alerts = words("dpareto.rules.yml", "- alert: ")
        tested = words("dpareto.rules.test.yml", "alertname: ")
        self.assertEqual(len(alerts), 9)
        self.assertEqual(set(tested), set(alerts))
        for name in set(alerts) - {"DParetoTrialsFail"}:  # here both at the same time
            self.assertGreaterEqual(tested.count(name), 2, name)


class Metrics(Case):
    def setUp(self):
        super().setUp()
        self.trainer(TRAINER)
        self.d = self.daemon("--slots", "3").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.client.close()
        self.touch("go")
        self.tidy()

    def serve(self, *options):
        serving = Serving(self.d.socket, *options)
        self.addCleanup(serving.process.kill)
        return serving

    def scrape(self, serving):
        status, headers, text = serving.get("/metrics")
        self.assertEqual(status, 200)
        self.assertRegex(headers["Content-Type"], r"^text/plain; *version=0\.0\.4")
        if shutil.which("promtool"):
            done = promtool("check", "metrics", text=text)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        return samples(text)

    def run_studies(self):
        """One of each kind: finished, paused by failures and by a person, running."""
        for name, more, n in (("good", ", env: {NAN: 2}", 4),
                              ("bad", ", retries: 0, max_failures: 2, env: {BAD: 9}", 6),
                              ("resting", ", env: {WAIT: 1}", 2), ("busy", ", env: {WAIT: 1}", 2)):
            self.submit(self.client, self.study(name, extra_trainer=more,
                                                search="method: random, evaluations: %d" % n))
            if name in ("good", "bad"):
                self.finish(self.client, name)
        for name in "resting", "busy":
            wait_for(lambda: self.client("status", study=name)["study"]["running"] == 1)
        self.client("pause", study="resting")

    def status(self):
        done = self.ctl("--socket", self.d.socket, "status", "-o", "json")
        return json.loads(done.stdout)

    def test_as_status_says(self):
        self.run_studies()
        serving = self.serve()
        got, after = self.scrape(serving), self.status()
        self.assertEqual({s["name"]: s["state"] for s in after["studies"]},
                         {"good": "finished", "bad": "paused", "resting": "paused",
                          "busy": "running"})
        for one in after["studies"]:
            name = one["name"]
            for end in "ok", "diverged", "failed":
                self.assertEqual(got["dpareto_trials_total", name, end], one[end])
            self.assertEqual(got["dpareto_trials_running", name], one["running"])
            self.assertEqual(got["dpareto_hypervolume", name], one["hypervolume"])
            self.assertEqual(got["dpareto_study_by_failures", name], one["by_failures"])
            for state in "running", "paused", "finished", "failed", "stopped":
                self.assertEqual(got["dpareto_study_state", name, state], one["state"] == state)
        self.assertEqual(got["dpareto_trials_total", "good", "diverged"], 1)
        self.assertEqual(got["dpareto_study_by_failures", "bad"], 1)
        self.assertEqual({k[1]: v for k, v in got.items() if k[0] == "dpareto_studies"},
                         {"running": 1, "paused": 2, "finished": 1, "failed": 0, "stopped": 0})
        daemon = after["daemon"]
        self.assertEqual((got["dpareto_up",], got["dpareto_slots",], got["dpareto_slots_busy",]),
                         (1, daemon["slots"], daemon["busy"]))
        self.assertGreater(got["dpareto_disk_free_bytes",], 0)
        self.assertEqual(got["dpareto_build_info", daemon["version"]], 1)
        self.assertEqual(got["dpareto_journal_silent_seconds",], 0)
        self.assertEqual(serving.end(), (0, ""))

    def test_commits(self):
        self.run_studies()
        serving = self.serve()
        before, got, after = (look() for look in (
            self.commits, lambda: self.scrape(serving), self.commits))
        name = "dpareto_journal_commit_seconds"
        self.assertGreater(before["count"], 0)
        self.assertLessEqual(before["count"], got[name + "_count",])
        self.assertLessEqual(got[name + "_count",], after["count"])
        self.assertLessEqual(before["seconds"], got[name + "_sum",])
        self.assertLessEqual(got[name + "_sum",], after["seconds"])
        quantiles = [got[name, q] for q in ("0.5", "0.9", "0.99")]
        self.assertEqual(quantiles, sorted(quantiles))
        self.assertGreater(quantiles[0], 0)

    def commits(self):
        return self.status()["daemon"]["journal"]["commits"]

    def test_rules_and_docs_know_the_names(self):
        """What alerts look at and documentation lists is what there is."""
        self.run_studies()
        names = {key[0] for key in self.scrape(self.serve())}
        for path in "examples/prometheus/dpareto.rules.yml", "docs/service.md":
            with open(os.path.join(TOP, path)) as f:
                told = set(re.findall(r"\bdpareto_[a-z_]+[a-z]", f.read()))
            self.assertLessEqual(told, names, path)
        names -= {"dpareto_journal_commit_seconds_sum", "dpareto_journal_commit_seconds_count"}
        self.assertLessEqual(names, told)

    def test_the_daemon_is_away(self):
        serving = self.serve()
        self.assertEqual(self.scrape(serving)["dpareto_up",], 1)
        self.client.close()
        self.d.end(signal.SIGKILL)
        got = self.scrape(serving)
        self.assertEqual({key[0] for key in got}, {"dpareto_up", "dpareto_build_info"})
        self.assertEqual(got["dpareto_up",], 0)
        self.d.start()
        self.client = self.d.connect()
        wait_for(lambda: self.scrape(serving)["dpareto_up",] == 1)

    def test_a_token_as_prometheus_sends_it(self):
        serving = self.serve("--token-file", self.write("token", TOKEN + "\n", 0o600))
        for headers, status in (({}, 401), ({"Authorization": "Bearer " + TOKEN}, 200),
                                ({"X_DPareto_Token": TOKEN}, 200),
                                ({"Authorization": "Bearer " + TOKEN[:-1]}, 401),
                                ({"Authorization": "Basic " + TOKEN}, 401)):
            self.assertEqual(serving.get("/metrics", **headers)[0], status, headers)


if __name__ == "__main__":
    unittest.main()
