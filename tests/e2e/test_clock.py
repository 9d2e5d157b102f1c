"""A machine whose clock is wrong, or was switched off for long: a daemon restarted under
another wall clock ends no study, removes no folder and shows no negative time."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from harness import Case, program, wait_for

DAY = 86400
HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@unittest.skipUnless(COMPILER, "no compiler for the preload")
class AnotherClock(Case):
    def setUp(self):
        super().setUp()
        self.preload = self.path("wall_clock.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", self.preload,
                        os.path.join(HERE, "wall_clock.c")], check=True)

    def clock(self, offset):
        """What makes a program see another time."""
        return {"LD_PRELOAD": self.preload, "WALL_CLOCK_OFFSET": str(offset),
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                ":verify_asan_link_order=0"}

    def restart(self, offset, how=signal.SIGKILL):
        """Ends the daemon, as a power cut would, and starts it under another clock."""
        self.d.end(how)
        self.d.env = self.clock(offset)
        self.client = self.d.start().connect()

    def summary(self):
        return self.client("status", study="s")["study"]

    def negative(self, value, path=""):
        """Paths of all negative numbers in an answer, objectives and parameters apart."""
        if isinstance(value, dict):
            return [p for k, v in value.items() for p in self.negative(v, path + "/" + k)]
        if isinstance(value, list):
            return [p for v in value for p in self.negative(v, path)]
        return [path] if isinstance(value, (int, float)) and value < 0 else []

    def more(self, n):
        """Lets n more trials run."""
        ended = self.summary()["ended"]
        for i in range(ended, ended + n):
            self.touch("go%d" % i)
        wait_for(lambda: self.summary()["ended"] >= ended + n)

    def test_month_year_and_back(self):
        self.trainer("gate('go%d' % request['trial'])\nreport(a=1, b=1)")
        self.d = self.daemon("--retention", "90d")
        self.client = self.d.start().connect()
        self.submit(self.client, self.study(
            search="method: random, evaluations: 50, max_time: 1h"))
        self.more(1)
        folder = self.client("trial", study="s", trial=0)["trial"]["attempts"][0]["directory"]
        for offset in (30 * DAY, 365 * DAY, -365 * DAY, 0):
            # the first one notes the time, as every one does after three seconds
            self.restart(offset, signal.SIGTERM if offset == 30 * DAY else signal.SIGKILL)
            wait_for(lambda: self.summary()["running"] > 0)
            self.more(1)
            study = self.summary()
            self.assertEqual((study["state"], study["failed"]), ("running", 0), study)
            self.assertLess(study["active"], 600)
            if offset == 365 * DAY:  # the first sweep is three seconds after the start
                wait_for(lambda: "but stay" in open(self.d.log).read(), 30)
            self.assertTrue(os.path.isdir(folder))
            for verb in ("status", "trials"):
                answer = self.client(verb, study="s", **({"full": True}
                                                         if verb == "trials" else {}))
                self.assertEqual([p for p in self.negative(answer)
                                  if "/parameters" not in p], [])
            for command in ("status", "list", "trials"):
                done = subprocess.run(
                    [program("dparetoctl"), command] + (["s"] if command != "list" else []),
                    env={**os.environ, **self.clock(offset),
                         "DPARETO_SOCKET": self.d.socket},
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotRegex(done.stdout, r"(^|\s)-\d+(\.\d+)?\s?(s|m|h|d)\b")
        log = open(self.d.log).read()
        self.assertIn("or the clock was set", log)
        self.assertNotIn("by retention", log)

    def test_report_under_a_clock_set_back(self):
        self.trainer("report(a=request['trial'], b=1)")
        self.d = self.daemon()
        self.client = self.d.start().connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 2"))
        self.finish(self.client, "s")
        self.restart(-365 * DAY)
        self.client("set", study="s", evaluations=4)
        self.finish(self.client, "s")
        report = os.path.join(self.d.state, "studies/s/report/report.json")
        wait_for(lambda: os.path.exists(report) and
                 json.load(open(report))["evaluations"] == 4, 60)
        self.assertEqual([p for p in self.negative(json.load(open(report)))
                          if "seconds" in p or "elapsed" in p], [])


if __name__ == "__main__":
    unittest.main()
