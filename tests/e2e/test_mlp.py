"""test_mlp.py - networks on real data where DPARETO_DATA names its folder, and the
numbers that the unit test has from PyTorch where that is installed."""
import os
import subprocess
import sys
import unittest

from harness import LIMIT, TOP
from test_builtin import BuiltIn

REFERENCE = os.path.join(TOP, "tests", "ref", "mlp_torch.")


def python_with_torch():
    """A Python that has PyTorch, or None: the first on PATH may not be the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def numbers(text):
    """[(name, numbers)] of the lines that are not comments."""
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [(name, [float(word) for word in words]) for name, *words in lines]


class Reference(unittest.TestCase):
    def test_torch_still_says_so(self):
        python = python_with_torch()
        if not python:
            self.skipTest("there is no PyTorch")
        made = subprocess.run([python, REFERENCE + "py"], text=True, capture_output=True,
                              timeout=LIMIT, check=True).stdout
        with open(REFERENCE + "tsv") as f:
            kept = f.read()
        for (name, new), (old_name, old) in zip(numbers(made), numbers(kept), strict=True):
            self.assertEqual((name, len(new)), (old_name, len(old)))
            for x, y in zip(new, old):
                self.assertTrue(x == y or abs(x - y) < 1e-7, (name, x, y))


@unittest.skipUnless(os.environ.get("DPARETO_DATA"), "DPARETO_DATA names no folder")
class RealData(BuiltIn):
    """MNIST and 784-128-64-10: the sd of one run is about 0.003 in both."""

    def mean(self, *options, **parameters):
        values = self.accuracies("mlp", "--data", "mnist", "--hidden", "128,64", "--runs",
                                 "3", *options, **parameters)
        return sum(values) / len(values)

    def test_without_privacy(self):
        mean = self.mean("--no-privacy", epochs=5, lot_size=64, learning_rate=0.3)
        self.assertGreater(mean, 0.97)

    def test_private(self):
        """A plain reference in numpy got 0.916."""
        mean = self.mean(epochs=15, lot_size=1000, learning_rate=0.5, clip=1,
                         noise_multiplier=1.5)
        self.assertGreater(mean, 0.905)


if __name__ == "__main__":
    unittest.main()
