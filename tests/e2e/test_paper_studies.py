"""test_paper_studies.py - the studies of examples/paper: each is valid, has the paper's
domains, and runs for a few evaluations on the embedded data."""
import glob
import json
import os
import re
import unittest

from harness import TOP, Case

FILES = sorted(glob.glob(os.path.join(TOP, "examples/paper/*.yaml")))
ALGORITHMS = ("adult-logreg-sgd", "adult-logreg-adam", "adult-svm-sgd", "mnist-mlp1-sgd",
              "mnist-mlp2-sgd", "adult-output-perturbation", "svt")
METHODS = ("random", "grid", "dpareto")
WALKED = ALGORITHMS[:5]  # those that train by epochs have a variant with paths
CENSUS_RECORDS = 30956

# Makes a study small: few evaluations of short trainings on embedded data.
SMALLER = [
    (r"--data, (adult|mnist)", "--data, census"),
    (r'--hidden, (1000|"128,64")', '--hidden, "8,4"'),
    (r"records: \d+", "records: %d" % CENSUS_RECORDS),
    (r"(epochs:\s*\{type: int, range: )\[1, \d+\].*", r"\1[1, 2]}"),
    (r"(lot_size:\s*\{type: int, range: ).*", r"\1[200, 400]}"),
    (r"runs: \d+", "runs: 2"),
    (r"initial: 16", "initial: 2"),
    (r"evaluations: (272|64)", "evaluations: 3"),
    (r"grid: (3|16) ", r"grid: \1\n  evaluations: 3 "),
]


def read(path):
    with open(path) as f:
        return f.read()


class PaperStudies(Case):
    def test_all_are_there(self):
        self.assertEqual({os.path.basename(f) for f in FILES},
                         {"%s-%s.yaml" % (a, m) for a in ALGORITHMS for m in METHODS} |
                         {"%s-dpareto-path.yaml" % a for a in WALKED})

    def test_valid(self):
        for path in FILES:
            with self.subTest(os.path.basename(path)):
                done = self.ctl("validate", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_named_after_their_files(self):
        """No two studies of one name, so that all can be run side by side."""
        for path in FILES:
            name = os.path.basename(path)[:-len(".yaml")]
            self.assertIn("\nstudy: paper-%s\n" % name, read(path))
            self.assertIn("#   dparetoctl run examples/paper/%s.yaml\n" % name, read(path))

    def test_domains(self):
        """Table 1 and the appendix, typed in once more."""
        adult = {"epochs": ([1, 64], [1, 64]), "lot_size": ([8, 512], [8, 512]),
                 "learning_rate": ([5e-4, 5e-2], [1e-3, 1e-1]),
                 "noise_variance": ([0.1, 16], [0.1, 16]), "clip": ([0.1, 4], [0.1, 4])}
        mnist = {"epochs": ([1, 400], [1, 400]), "lot_size": ([16, 4000], [16, 4000]),
                 "learning_rate": ([1e-3, 5e-1], [1e-3, 5e-1]),
                 "noise_variance": ([0.1, 16], [0.1, 16]), "clip": ([0.1, 12], [0.1, 12])}
        for path in FILES:
            text, name = read(path), os.path.basename(path)
            self.assertIn("anti_ideal: {epsilon: 10, error: 1}", text)
            for parameter, limits in (adult if "sgd" in name and "adult" in name or "adam" in name
                                      else mnist if "mnist" in name else {}).items():
                with self.subTest(name, parameter=parameter):
                    block = re.search(r"\n  %s:\s+(\{.*?\})\n(?=  \w|  #|\n)" % parameter, text,
                                      re.S).group(1)
                    found = [json.loads(re.search(key + r": (\[[^]]*\])", block).group(1))
                             for key in ("range", "accept")]
                    self.assertEqual(tuple(found), limits)

    def test_paths_differ_in_two_places(self):
        """What a file with a path says of itself: nothing else of the study is changed."""
        def lines(name):
            text = read(os.path.join(TOP, "examples/paper/%s.yaml" % name))
            return text[text.index("\nseed:"):].splitlines()
        for a in WALKED:
            with self.subTest(a):
                plain, walked = lines(a + "-dpareto"), lines(a + "-dpareto-path")
                self.assertEqual([x.split()[0] for x in plain if x not in walked],
                                 ["evaluations:"])
                self.assertEqual([x.split()[0] for x in walked if x not in plain],
                                 ["path:", "evaluations:"])

    def run_small(self, path):
        text = read(path)
        for pattern, by in SMALLER:
            text = re.sub(pattern, by, text)
        file = self.write(os.path.basename(path), text)
        done = self.ctl("run", file, "--state", self.path("state-" + os.path.basename(path)),
                        "-o", "json", env={**os.environ, "XDG_CACHE_HOME": self.folder})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def check_algorithm(self, algorithm):
        for method in METHODS + (("dpareto-path",) if algorithm in WALKED else ()):
            with self.subTest(method):
                path = os.path.join(TOP, "examples/paper/%s-%s.yaml" % (algorithm, method))
                answer = self.run_small(path)
                self.assertEqual((answer["state"], answer["evaluations"], answer["failed"],
                                  answer["diverged"]), ("finished", 3, 0, 0))
                for point in answer["front"]:
                    self.assertGreater(point["objectives"]["epsilon"], 0)
                    self.assertTrue(0 <= point["objectives"]["error"] <= 1)


def one_algorithm(algorithm):
    return lambda self: self.check_algorithm(algorithm)


for a in ALGORITHMS:
    setattr(PaperStudies, "test_runs_" + a.replace("-", "_"), one_algorithm(a))

if __name__ == "__main__":
    unittest.main()
