"""test_storm.py - short versions of the attacks in tests/storm, and that they can fail."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import harness

STORM = os.path.join(harness.TOP, "tests/storm")


class Storm(unittest.TestCase):
    def storm(self, program, *options, code=0):
        """Runs it in a folder of its own; the figures of its last but one line."""
        with tempfile.TemporaryDirectory(prefix="dpareto-") as work:
            p = subprocess.run(
                [sys.executable, os.path.join(STORM, program + ".py"), "--build", harness.BIN,
                 "--work", work, *options], capture_output=True, text=True,
                timeout=harness.LIMIT * 4, env={**os.environ, "PYTHONPATH": ""})
        self.assertEqual(p.returncode, code, p.stdout[-6000:] + p.stderr[-3000:])
        return json.loads(p.stdout.splitlines()[-2])

    def test_kills(self):
        seen = self.storm("kills", "--kills", "50", "--workers", "2", "--seeds", "1",
                          "--evaluations", "8", "--kills-per-round", "25")
        self.assertGreaterEqual(seen["all_kills"], 50)
        self.assertEqual(set(seen["kills"]), {"daemon", "shim", "trainer"})

    def test_power_cuts(self):
        seen = self.storm("powercut", "--images", "40", "--starts", "2", "--evaluations", "16")
        self.assertGreater(seen["images with records"], 25)
        self.assertEqual(seen["daemons went on"], 2)

    def test_a_disk_that_lies_is_noticed(self):
        self.storm("powercut", "--images", "20", "--starts", "0", "--evaluations", "8",
                   "--lie", code=1)

    def test_faults(self):
        seen = self.storm("faults", "--workers", "4", "--only", "pwrite,sync,clone,mmap",
                          "--errno", "EIO,EAGAIN", "--step", "3")
        self.assertEqual(seen["calls"], 4)
        self.assertGreaterEqual(seen["points"], 10)
        self.assertEqual(seen["points"], seen["right"] + seen["told"])

    def test_soak(self):
        seen = self.storm("soak", "--evaluations", "300", "--studies", "10", "--models", "1",
                          "--clients", "20", "--pause", "0.2", "--restart", "0.7",
                          "--rows", "2")
        self.assertEqual(seen["evaluations"], 300)
        self.assertGreater(seen["answers"], 20)


if __name__ == "__main__":
    unittest.main()
