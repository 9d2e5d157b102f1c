"""A few damaged journals, one of each kind; tests/storm/damage.py makes thousands."""
import os
import sys
import unittest

import harness

sys.path.insert(0, os.path.join(harness.TOP, "tests/storm"))
import damage  # noqa: E402


class Damage(harness.Case):
    def test_every_kind(self):
        images = damage.Images(harness, self.path("x"))
        for i, kind in enumerate(damage.KINDS):
            images.check(kind, 1000 + i)
        self.assertEqual(images.wrong, [])
        self.assertEqual(images.figures["images"], len(damage.KINDS))
        self.assertGreater(images.figures["repaired"], 2)


if __name__ == "__main__":
    unittest.main()
