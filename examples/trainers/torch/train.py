#!/usr/bin/env python3
"""DP-SGD in PyTorch, with the Python kit: any nn.Module, the gradient of every record by itself.

Lots are Poisson: every record is in a lot with probability lot_size / records, on its own, so
that lot_size is an average and may be a fraction. What is done here is the same algorithm as
'dpareto-train mlp --sampling poisson', with the same start weights, so that both can be compared
(tests/e2e/test_torch.py does). Runs with Debian's python3-torch 1.13 and with PyTorch 2.

    python3 train.py                        by hand, on made-up records
    dparetoctl run study.yaml               a study with MNIST

Your own model goes into network(), your own records into load().
"""
import argparse
import csv
import gzip
import os
import struct

import torch
from torch import nn

try:
    from torch.func import functional_call, grad, vmap
except ImportError:  # before PyTorch 2
    from functorch import grad, vmap
    from torch.nn.utils.stateless import functional_call

import dpareto

CHUNK = 32  # records whose gradients are held at once


def network(sizes, generator):
    """Fully connected layers with ReLU; weights as He et al. 2015, of the last layer half that."""
    layers = []
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        last = i == len(sizes) - 2
        layer = nn.Linear(inputs, outputs)
        with torch.no_grad():
            layer.weight.normal_(0, ((1 if last else 2) / inputs) ** 0.5, generator=generator)
            layer.bias.zero_()
        layers += [layer] if last else [layer, nn.ReLU()]
    return nn.Sequential(*layers)


def per_record_gradients(model):
    """A function of (weights, inputs, labels): for each weight a gradient of every record."""

    def loss(weights, x, label):
        scores = functional_call(model, weights, (x.unsqueeze(0),))
        return nn.functional.cross_entropy(scores, label.unsqueeze(0))

    return vmap(grad(loss), in_dims=(None, 0, 0))


def clipped_sum(gradients, weights, x, labels, clip):
    """The sum of the records' gradients, each scaled down to norm `clip` where it is longer."""
    total = {name: torch.zeros_like(w) for name, w in weights.items()}
    for x_part, label_part in zip(x.split(CHUNK), labels.split(CHUNK)):
        if len(x_part) == 0:
            break  # an empty lot is a step of noise alone
        each = gradients(weights, x_part, label_part)
        squares = sum(g.flatten(1).square().sum(1) for g in each.values())
        scale = (clip / squares.sqrt().clamp(min=1e-30)).clamp(max=1)
        for name, g in each.items():
            total[name] += torch.tensordot(scale, g, dims=1)
    return total


def train_step(weights, gradients, x, labels, how, generator):
    """One step; the size of a lot is not public, so that its mean divides."""
    # in double precision: single precision knows probabilities to 2^-24 only
    chosen = torch.rand(len(x), generator=generator, dtype=torch.float64) < how["rate"]
    total = clipped_sum(gradients, weights, x[chosen], labels[chosen], how["clip"])
    for name, w in weights.items():
        noise = torch.empty_like(w).normal_(0, how["clip"] * how["noise"], generator=generator)
        w -= how["learning_rate"] / how["lot"] * (total[name] + noise)


@torch.no_grad()
def score(model, weights, x, labels):
    scores = functional_call(model, weights, (x,))
    loss = nn.functional.cross_entropy(scores, labels)
    if not torch.isfinite(loss):
        return {"accuracy": float("nan"), "loss": float("nan")}  # diverged: a result, too
    return {"accuracy": (scores.argmax(1) == labels).double().mean(), "loss": loss}


# ---- records ----


def read_idx(path):
    """A file of MNIST's."""
    with gzip.open(path) as f:
        data = f.read()
    sizes = struct.unpack(">%dI" % data[3], data[4:4 + 4 * data[3]])
    return torch.frombuffer(bytearray(data[4 + 4 * data[3]:]), dtype=torch.uint8).reshape(sizes)


def mnist():
    folder = os.environ.get("DPARETO_DATA") or os.path.expanduser("~/.local/share/dpareto")
    if os.path.isdir(os.path.join(folder, "mnist")):
        folder = os.path.join(folder, "mnist")
    sets = []
    for part in ("train", "t10k"):
        images = read_idx(os.path.join(folder, part + "-images-idx3-ubyte.gz"))
        labels = read_idx(os.path.join(folder, part + "-labels-idx1-ubyte.gz"))
        sets.append((images.flatten(1).float() / 255, labels.long()))
    return sets


def read_csv(path):
    """Numbers, the label last; one line of names before them."""
    with open(path, newline="") as f:
        rows = [[float(v) for v in row] for row in list(csv.reader(f))[1:]]
    table = torch.tensor(rows, dtype=torch.float64)
    return table[:, :-1].float(), table[:, -1].long()


def made_up():
    """Records of four classes, for a first try."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(4, 20, generator=generator)
    sets = []
    for n in (2000, 1000):
        labels = torch.randint(4, (n,), generator=generator)
        sets.append((centres[labels] + torch.randn(n, 20, generator=generator), labels))
    return sets


def load(name):
    """[(inputs, labels) to train on, (inputs, labels) to test on]"""
    if name == "made-up":
        return made_up()
    if name == "mnist":
        return mnist()
    return [read_csv(name), read_csv(name + ".t")]


# ---- a trial ----


def train_run(run, t, train, test, hidden):
    x, labels = train
    # all that is random comes from here, step by step: the training with fewer epochs is the
    # beginning of the one with more, which is what a path needs
    generator = torch.Generator().manual_seed(run.seed)
    model = network([x.shape[1], *hidden, int(labels.max()) + 1], generator)
    weights = {name: w.detach().clone() for name, w in model.named_parameters()}
    gradients = per_record_gradients(model)
    how = {"rate": t["lot_size"] / len(x), "lot": t["lot_size"], "clip": t["clip"],
           "noise": t["noise_multiplier"], "learning_rate": t["learning_rate"]}
    steps = round(len(x) / t["lot_size"])  # in an epoch, as epsilon counts them
    for epoch in run.path("epochs"):
        for step in range(steps):
            train_step(weights, gradients, x, labels, how, generator)
            run.progress((epoch - 1 + (step + 1) / steps) / t["epochs"])
        if epoch in run.waypoints:
            run.at(epoch, **score(model, weights, *test))
    run.result(**score(model, weights, *test))
    return t["epochs"] * steps


def main():
    options = argparse.ArgumentParser(description="DP-SGD in PyTorch, for a study of DPareto")
    options.add_argument("--data", default="made-up", help="mnist, made-up, or a CSV file with "
                         "the label last and FILE.t beside it for the test")
    options.add_argument("--hidden", default="128,64", help="sizes of the hidden layers")
    given = options.parse_args()
    hidden = [int(n) for n in given.hidden.split(",")]
    train, test = load(given.data)
    with dpareto.trial(epochs=2, lot_size=100, learning_rate=0.5, clip=1.0,
                       noise_multiplier=1.0) as t:
        for run in t.runs:
            steps = train_run(run, t, train, test, hidden)
        t.declare(sampling="poisson", records=len(train[0]), lot=t["lot_size"], steps=steps,
                  noise_over_clip=t["noise_multiplier"])


if __name__ == "__main__":
    main()
