"""Journals that earlier versions wrote, killed in the middle of their work: this version
opens them and goes on. tests/ref/journal-VERSION holds the one file, and what that version
itself made of it in the end (make_journal.py there)."""
import json
import lzma
import os
import unittest

from harness import Case, TOP


class Journal:
    """The studies of every such journal."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("state/journal"))
        with lzma.open(os.path.join(self.ref(), "data.mdb.xz")) as f, \
                open(self.path("state/journal/data.mdb"), "wb") as out:
            out.write(f.read())
        self.client = self.daemon("--slots", "4").start().connect()

    def ref(self):
        return os.path.join(TOP, "tests/ref", self.journal)

    def tearDown(self):
        self.client.close()
        self.tidy()

    def ended(self, name):
        self.finish(self.client, name)
        result = self.client("front", study=name)
        with open(os.path.join(self.ref(), name + ".json")) as f:
            before = json.load(f)
        for p in before["front"]:
            p["at"] = None  # which stands beside every trial since
        for p in result["front"]:  # and so does this
            self.assertIsNone(p.pop("remeasured"))
        return result, before

    def test_an_ended_study_is_as_it_was(self):
        result, before = self.ended("idle")
        self.assertEqual(result, before)

    def test_random_search_ends_as_it_would_have(self):
        """One run a process; two attempts were under way; one trial had failed, one been
        retried, one diverged."""
        result, before = self.ended("mixed")
        self.assertEqual(result, before)
        trials = self.client("trials", study="mixed", full=True)["trials"]
        self.assertEqual([t["trial"] for t in trials if t["state"] == "failed"], [2])
        self.assertEqual([t["trial"] for t in trials if t["state"] == "diverged"], [4])

    def searched(self, known):
        """The model-based study has ended; what was found before is there bit for bit: the
        trials that are `known`. Its file names no search.front: it has the default."""
        result, before = self.ended("sgd")
        self.assertEqual((result["state"], result["evaluations"], result["failed"]),
                         ("finished", 24, 0))
        old = {p["trial"]: p for p in before["front"]}
        for p in result["front"]:
            self.assertTrue(p.pop("denoised"))
            if p["trial"] in known and p["trial"] in old:
                self.assertEqual(p, old[p["trial"]])

    def records(self, study):
        text = self.ctl("journal", "dump", "--state", self.path("state"),
                            "--study", study).stdout
        return [json.loads(line) for line in text.splitlines()]


class FromVersion01(Journal, Case):
    journal = "journal-0.1"

    def test_model_based_search_goes_on(self):
        """Trials that 0.1 proposed have no epsilon in the journal until they end. What was
        found stays bit for bit; new points depend on this machine's linear algebra, and
        the epsilon of trial 14 is of this version's accountant."""
        self.searched(range(14))
        dump = self.records("sgd")
        accounted = [r["trial"] for r in dump if r["type"] == "trial-accounted"]
        self.assertEqual(accounted, [14])  # proposed by 0.1, ended by this version
        for r in dump:
            if r["type"] == "trial-proposed":
                self.assertEqual("objectives" in r, r["trial"] > 14)


class FromVersion02(Journal, Case):
    journal = "journal-0.2"

    def test_model_based_search_goes_on(self):
        """What was found stays; every proposal has its epsilon."""
        ended = {r["trial"]: r for r in self.records("sgd") if r["type"] == "trial-ended"}
        self.assertGreater(len(ended), 4)
        self.searched(ended)
        for r in self.records("sgd"):
            if r["type"] == "trial-proposed":
                self.assertIn("objectives", r)
            if r["type"] == "trial-ended" and r["trial"] in ended:
                self.assertEqual(r, ended[r["trial"]])


if __name__ == "__main__":
    unittest.main()
