"""test_simulated.py - the daemon's scheduler on a simulated cluster: nodes that die, answers
that are lost, a daemon that is killed. bench/cluster itself fails if an evaluation was lost,
counted twice or ran beside another attempt of its own, or if a study had more at once than
its `parallel`; it looks once more after a replay of the journal."""
import json
import os
import subprocess
import tempfile
import unittest

from harness import program


def run(*options):
    # memory where there is some: a disk would have to sync for every result
    below = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    text = subprocess.check_output([program("bench/cluster"), "-d", below, *options],
                                   text=True, timeout=600)
    return json.loads(text)


class Simulated(unittest.TestCase):
    def test_nothing_is_lost_and_the_same_seed_gives_the_same(self):
        options = ("-n", "200", "-e", "2000", "-s", "2", "-p", "100", "-f", "0.05", "-l", "0.01")
        one, other = run(*options), run(*options)
        self.assertGreater(one["deaths"], 50)
        self.assertGreater(one["lost_answers"], 10)
        self.assertEqual(one["attempts"], 2000 + one["deaths"])
        self.assertEqual(one["most"], 200)
        for key in ("makespan", "attempts", "slot_use", "wasted", "hypervolume"):
            self.assertEqual(one[key], other[key], key)
        self.assertNotEqual(one["makespan"], run(*options, "-S", "2")["makespan"])

    def test_killed_daemons_lose_nothing(self):
        row = run("-n", "50", "-e", "600", "-s", "3", "-p", "20", "-f", "0.1", "-l", "0.1",
                  "-r", "6")
        self.assertEqual(row["attempts"], 600 + row["deaths"])

    def test_order_deterministic(self):
        """Which node takes how long has no say in what is proposed."""
        options = ("-n", "8", "-e", "60", "-s", "1", "-p", "8", "-m", "dpareto", "-o",
                   "deterministic")
        one = run(*options, "-f", "0")
        self.assertEqual(one["hypervolume"], run(*options, "-f", "0.2")["hypervolume"])


if __name__ == "__main__":
    unittest.main()
