"""test_torch.py - examples/trainers/torch where PyTorch is: its gradients, its paths, a study,
and that it is the same algorithm as dpareto-train mlp."""
import json
import math
import os
import random
import statistics
import subprocess
import unittest

from harness import LIMIT, TOP, Case, program
from test_mlp import python_with_torch

EXAMPLE = os.path.join(TOP, "examples", "trainers", "torch")
ENV = {"PYTHONPATH": os.path.join(TOP, "trainers", "python") + ":" + EXAMPLE,
       "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
PYTHON = python_with_torch()
SETTING = {"epochs": 6, "lot_size": 50, "learning_rate": 0.6, "clip": 1, "noise_multiplier": 4}


@unittest.skipUnless(PYTHON, "there is no PyTorch (Debian: python3-torch)")
class TorchCase(Case):
    tearDown = Case.tidy

    def python(self, text):
        done = subprocess.run([PYTHON, "-c", text], env={**os.environ, **ENV}, text=True,
                              capture_output=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def made_up(self, name="made.csv", classes=5, features=12):
        """Overlapping classes, as CSV files that both trainers read."""
        rng = random.Random(5)
        centres = [[rng.gauss(0, 0.6) for _ in range(features)] for _ in range(classes)]
        for path, n in ((name, 1000), (name + ".t", 4000)):
            with open(self.path(path), "w") as f:
                f.write(",".join("x%d" % i for i in range(features)) + ",label\n")
                for _ in range(n):
                    label = rng.randrange(classes)
                    row = ["%.4f" % rng.gauss(m, 1) for m in centres[label]]
                    f.write(",".join(row) + ",%d\n" % label)
        return self.path(name)

    def torch_lines(self, runs, *options, path=None, **parameters):
        """What train.py reports for a request with these runs."""
        request = {"version": 1, "study": "s", "trial": 0, "attempt": 0, "parameters": parameters,
                   "runs": [{"run": i, "seed": 1000 + i} for i in range(runs)]}
        if path:
            request["path"] = {"parameter": "epochs", "values": path}
        asked = self.write("request.json", json.dumps(request))
        result = self.path("result.jsonl")
        if os.path.exists(result):
            os.unlink(result)
        done = subprocess.run(
            [PYTHON, os.path.join(EXAMPLE, "train.py"), *options], text=True, capture_output=True,
            timeout=6 * LIMIT,
            env={**os.environ, **ENV, "DPARETO_REQUEST": asked, "DPARETO_RESULT": result})
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(result) as f:
            return [json.loads(line) for line in f]

    def torch_accuracies(self, runs, *options, **parameters):
        return [line["metrics"]["accuracy"]
                for line in self.torch_lines(runs, *options, **parameters) if "metrics" in line]

    def own_accuracies(self, runs, *options, **parameters):
        """The same of dpareto-train mlp."""
        done = subprocess.run(
            [program("dpareto-train"), "mlp", *options, "--sampling", "poisson", "--runs",
             str(runs), "--seed", "3", "--no-cache",
             *(word for name, x in parameters.items() for word in ("--set", "%s=%s" % (name, x)))],
            capture_output=True, text=True, timeout=6 * LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line["metrics"]["accuracy"] for line in map(json.loads, done.stdout.splitlines())
                if "metrics" in line]

    def errors_apart(self, a, b):
        """How many standard errors the means are apart, if both samples are of one law."""
        squares = sum(statistics.variance(s) * (len(s) - 1) for s in (a, b))
        error = math.sqrt(squares / (len(a) + len(b) - 2) * (1 / len(a) + 1 / len(b)))
        return abs(statistics.mean(a) - statistics.mean(b)) / error


class Example(TorchCase):
    def test_gradients(self):
        """Each record's gradient is autograd's of that record alone, clipped by its whole norm;
        an empty lot has none."""
        self.python("""
import torch, train
from torch import nn
CLIP = 1.7
g = torch.Generator().manual_seed(1)
model = train.network([6, 5, 3], g)
weights = {n: w.detach().clone() for n, w in model.named_parameters()}
x, labels = torch.randn(70, 6, generator=g), torch.randint(3, (70,), generator=g)
total = train.clipped_sum(train.per_record_gradients(model), weights, x, labels, CLIP)
expected = {n: torch.zeros_like(w) for n, w in weights.items()}
clipped = 0
for i in range(70):
    model.zero_grad()
    nn.functional.cross_entropy(model(x[i:i + 1]), labels[i:i + 1]).backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    clipped += int(norm > CLIP)
    for n, p in model.named_parameters():
        expected[n] += p.grad * min(1, CLIP / norm)
assert 5 < clipped < 65, clipped
for n in weights:
    assert torch.allclose(total[n], expected[n], atol=1e-5), n
none = train.clipped_sum(train.per_record_gradients(model), weights, x[:0], labels[:0], CLIP)
assert all(not v.any() for v in none.values())
""")

    def test_lots_and_noise(self):
        """A fractional mean lot, and noise of clip times the multiplier."""
        self.python("""
import torch, train
g = torch.Generator().manual_seed(1)
weights = {"w": torch.zeros(200, 50)}
sizes = []
def none(weights, x, labels):
    sizes.append(len(x))
    return {"w": torch.zeros(len(x), 200, 50)}
train.CHUNK = 10**6
how = {"rate": 12.5 / 400, "lot": 12.5, "clip": 0.5, "noise": 3.0, "learning_rate": 2.0}
for _ in range(40):
    train.train_step(weights, none, torch.zeros(400, 3), torch.zeros(400), how, g)
mean = sum(sizes) / 40
assert abs(mean - 12.5) < 4 * (12.5 / 40) ** 0.5, mean
sd = 40 ** 0.5 * 2.0 / 12.5 * 0.5 * 3.0
assert abs(weights["w"].std().item() / sd - 1) < 4 / (2 * 1e4) ** 0.5
""")

    def test_a_path_is_the_shorter_training(self):
        options = ("--data", self.made_up(), "--hidden", "8")
        lines = self.torch_lines(1, *options, path=[1, 2], **SETTING)
        way = {line["at"]: line["metrics"] for line in lines if "at" in line}
        self.assertEqual(sorted(way), [1, 2])
        for epochs in (1, 2):
            shorter = self.torch_lines(1, *options, **{**SETTING, "epochs": epochs})
            own, = [line["metrics"] for line in shorter if "metrics" in line]
            self.assertEqual(own, way[epochs])

    def test_a_study(self):
        """The example's own study, smaller and without its data."""
        self.made_up()
        with open(os.path.join(EXAMPLE, "study.yaml")) as f:
            text = f.read()
        for old, new in (("[python3, train.py, --data, mnist, --hidden, \"32\"]",
                          "[%s, %s/train.py, --data, %s, --hidden, \"8\"]"
                          % (PYTHON, EXAMPLE, self.path("made.csv"))),
                         ("records: 60000", "records: 1000"), ("[100, 2000]", "[30.5, 200]"),
                         ("[1, 10]", "[1, 5]"), ("1e-6", "1e-4"),
                         ("method: dpareto, evaluations: 40", "method: random, evaluations: 3")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        client = self.daemon("--slots", "2", env=ENV).start().connect()
        self.submit(client, text)
        self.finish(client, "torch-mnist", 4 * LIMIT)
        waypoints = []
        for number in range(3):
            trial = client("trial", study="torch-mnist", trial=number)["trial"]
            self.assertEqual(trial["state"], "ok", trial["reason"])
            self.assertNotEqual(trial["parameters"]["lot_size"] % 1, 0)
            waypoints += trial.get("waypoints", [])
        self.assertGreater(len(waypoints), 0)
        self.assertFalse(any(w["dropped"] for w in waypoints))


# What opacus_train.py calls, under the names and with the keywords of Opacus 1.5; without any
# privacy. It shows that the file's own lines work, and nothing about Opacus.
OPACUS = {"__init__.py": """
class PrivacyEngine:
    def __init__(self, *, accountant="prv", secure_mode=False):
        pass
    def make_private(self, *, module, optimizer, criterion=None, data_loader, noise_multiplier,
                     max_grad_norm, batch_first=True, loss_reduction="mean", poisson_sampling=True,
                     clipping="flat", noise_generator=None, grad_sample_mode="hooks", **kwargs):
        assert loss_reduction == "sum" and not poisson_sampling
        return module, optimizer, data_loader
""", "data_loader.py": """
import torch
class DPDataLoader:
    def __init__(self, dataset, *, sample_rate, collate_fn=None, drop_last=False, generator=None,
                 distributed=False, **kwargs):
        self.dataset, self.rate, self.generator = dataset, sample_rate, generator
    def __iter__(self):
        for _ in range(int(1 / self.rate)):
            yield self.dataset[torch.rand(len(self.dataset), generator=self.generator) < self.rate]
"""}


class Others(TorchCase):
    def test_opacus_by_a_stand_in(self):
        os.mkdir(self.path("opacus"))
        for name, text in OPACUS.items():
            self.write("opacus/" + name, text)
        done = subprocess.run(
            [PYTHON, os.path.join(EXAMPLE, "opacus_train.py"), "--hidden", "8"], text=True,
            capture_output=True, timeout=LIMIT,
            env={**os.environ, **ENV, "PYTHONPATH": self.folder + ":" + ENV["PYTHONPATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"run 0: accuracy=0\.[5-9]")
        self.assertIn("declared: sampling=poisson records=2000 lot=100 steps=40", done.stdout)

    def test_the_sketch_is_python(self):
        with open(os.path.join(EXAMPLE, "jax_sketch.py")) as f:
            compile(f.read(), "jax_sketch.py", "exec")


class SameAlgorithm(TorchCase):
    """The mean accuracies of both trainers at the same settings are as far apart as chance has
    it: seeds are fixed, and four standard errors are allowed for. That this can fail is seen by
    the same comparison with other noise, which must fail it."""

    def test_made_up(self):
        options = ("--data", self.made_up(), "--hidden", "16")
        own = self.own_accuracies(10, *options, "--test", self.path("made.csv.t"), **SETTING)
        ours = self.torch_accuracies(10, *options, **SETTING)
        self.assertGreater(statistics.mean(ours), 0.5)  # of five classes
        self.assertLess(self.errors_apart(own, ours), 4, (own, ours))
        other = self.torch_accuracies(10, *options, **{**SETTING, "noise_multiplier": 8})
        self.assertGreater(self.errors_apart(own, other), 4, (own, other))

    @unittest.skipUnless(os.environ.get("DPARETO_DATA"), "DPARETO_DATA names no folder")
    def test_mnist(self):
        setting = {"epochs": 1, "lot_size": 600, "learning_rate": 0.5, "clip": 1,
                   "noise_multiplier": 2}
        options = ("--data", "mnist", "--hidden", "16")
        own = self.own_accuracies(20, *options, **setting)
        ours = self.torch_accuracies(6, *options, **setting)
        self.assertGreater(statistics.mean(ours), 0.7)
        self.assertLess(self.errors_apart(own, ours), 4, (own, ours))


if __name__ == "__main__":
    unittest.main()
