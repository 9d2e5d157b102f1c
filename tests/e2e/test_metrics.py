"""test_metrics.py - what Prometheus is told, and what it makes of it: examples/prometheus by
promtool."""
import os
import shutil
import subprocess
import unittest

from harness import LIMIT, TOP

RULES = os.path.join(TOP, "examples/prometheus")


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True,
                          timeout=LIMIT, cwd=RULES)


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


if __name__ == "__main__":
    unittest.main()
