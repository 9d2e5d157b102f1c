#!/usr/bin/env python3
"""The same as train.py by Opacus 1.x, which Debian does not have: it is needed when this is run.

Opacus' conventions are those of 'sampling: poisson' (docs/privacy.md, "Opacus and TensorFlow
Privacy"), but for two things that would make a training differ from what a study accounts for:
make_private() samples with the rate 1 / len(data_loader) whatever mean lot was meant, and an epoch
has int(1 / rate) steps. Here the loader has the study's own rate, and steps are counted. Opacus'
own accountant is not asked: epsilon is DPareto's.

study.yaml with 'command: [python3, opacus_train.py, --data, mnist, --hidden, "32"]' uses it.
Opacus cannot be installed where this project is tested: its calls were held against its
documentation and source, and the tests run this file with a stand-in that has the same names.
"""
import argparse
import itertools

import torch
from opacus import PrivacyEngine
from opacus.data_loader import DPDataLoader
from torch import nn
from torch.utils.data import TensorDataset

import dpareto
from train import load, network


def endless(loader):
    while True:
        yield from loader


@torch.no_grad()
def score(model, x, labels):
    scores = model(x)
    if not torch.isfinite(scores).all():
        return {"accuracy": float("nan")}
    return {"accuracy": (scores.argmax(1) == labels).double().mean()}


def train_run(run, t, train, test, hidden):
    """Trains; returns how many steps an epoch had."""
    x, labels = train
    start, lots, noise = (torch.Generator().manual_seed(run.seed + i) for i in range(3))
    plain = network([x.shape[1], *hidden, int(labels.max()) + 1], start)
    loader = DPDataLoader(TensorDataset(x, labels), sample_rate=t["lot_size"] / len(x),
                          generator=lots)
    # sums, not means: the mean lot divides as the rate of learning, and is not rounded
    model, optimizer, loader = PrivacyEngine().make_private(
        module=plain,
        optimizer=torch.optim.SGD(plain.parameters(), lr=t["learning_rate"] / t["lot_size"]),
        data_loader=loader,
        noise_multiplier=t["noise_multiplier"],
        max_grad_norm=t["clip"],
        loss_reduction="sum",
        poisson_sampling=False,  # the loader does that already, with the rate that is meant
        noise_generator=noise,
    )
    stream = endless(loader)
    steps = round(len(x) / t["lot_size"])
    for epoch in run.path("epochs"):
        model.train()
        for x_lot, label_lot in itertools.islice(stream, steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x_lot), label_lot, reduction="sum").backward()
            optimizer.step()
        model.eval()
        run.progress(epoch / t["epochs"])
        if epoch in run.waypoints:
            run.at(epoch, **score(model, *test))
    run.result(**score(model, *test))
    return steps


def main():
    options = argparse.ArgumentParser(description="DP-SGD by Opacus, for a study of DPareto")
    options.add_argument("--data", default="made-up", help="as train.py's")
    options.add_argument("--hidden", default="128,64", help="sizes of the hidden layers")
    given = options.parse_args()
    hidden = [int(n) for n in given.hidden.split(",")]
    train, test = load(given.data)
    with dpareto.trial(epochs=2, lot_size=100, learning_rate=0.5, clip=1.0,
                       noise_multiplier=1.0) as t:
        for run in t.runs:
            steps = train_run(run, t, train, test, hidden)
        t.declare(sampling="poisson", records=len(train[0]), lot=t["lot_size"],
                  steps=t["epochs"] * steps, noise_over_clip=t["noise_multiplier"])


if __name__ == "__main__":
    main()
