#!/usr/bin/python3
"""mlp_torch.py - makes mlp_torch.tsv: one step of DP-SGD without noise by PyTorch.

Each case is a small network, some records and the weights before and after a step on
all records at once, with the gradient of every record taken by autograd in double
precision, clipped on its own and summed. Runs with PyTorch 1.13."""
import sys

import torch

CASES = [  # widths, records, clip, rate
    ((5, 3), 4, 1.0, 1.0),
    ((6, 9, 4), 7, 0.5, 0.5),
    ((7, 5, 6, 3), 9, 0.9, 0.25),
    ((9, 70, 3), 5, float("inf"), 1.0),
]


def make(widths, records, seed):
    torch.manual_seed(seed)
    layers = []
    for i, (n, m) in enumerate(zip(widths, widths[1:])):
        layers += [torch.nn.Linear(n, m)] + ([torch.nn.ReLU()] if i < len(widths) - 2 else [])
    x = torch.rand(records, widths[0]) * (torch.rand(records, widths[0]) < 0.6)
    y = torch.randint(widths[-1], (records,))
    return torch.nn.Sequential(*layers).double(), x.double(), y


def flat(model):
    """Weights as the trainer has them: from each input to all outputs, then biases."""
    return torch.cat([torch.cat([m.weight.detach().T.reshape(-1), m.bias.detach()])
                      for m in model if isinstance(m, torch.nn.Linear)])


def step(model, x, y, clip, rate):
    total = [torch.zeros_like(p) for p in model.parameters()]
    norms = []
    for i in range(len(x)):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(x[i:i + 1]), y[i:i + 1]).backward()
        norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters())).item()
        norms.append(norm)
        for t, p in zip(total, model.parameters()):
            t += p.grad * min(1, clip / norm)
    with torch.no_grad():
        for t, p in zip(total, model.parameters()):
            p -= rate * t / len(x)
    return norms


def line(name, values):
    print(name, *("%.9g" % v for v in values), sep="\t")


def main():
    print("# Made by tests/ref/mlp_torch.py with PyTorch %s: do not edit." % torch.__version__)
    print("# A case is its widths; records, clip and rate; inputs row by row; labels; weights")
    print("# before and after one step on all records; lengths of the records' gradients.")
    for seed, (widths, records, clip, rate) in enumerate(CASES):
        model, x, y = make(widths, records, seed)
        # as the floats that the trainer starts from
        for p in model.parameters():
            p.data = p.data.float().double()
        line("widths", widths)
        line("how", (records, clip, rate))
        line("inputs", x.float().reshape(-1).tolist())
        line("labels", y.tolist())
        line("before", flat(model).tolist())
        norms = step(model, x, y, clip, rate)
        line("after", flat(model).tolist())
        line("norms", norms)


if __name__ == "__main__":
    sys.exit(main())
