#!/usr/bin/python3
"""train_peer.py - private training of networks here, against PyTorch without privacy.

    train_peer.py BUILD [ROUNDS]

One core and one thread each, taking turns: bench/train_mlp of the folder BUILD, then
plain SGD of PyTorch with the same widths and lots, in memory, on slices of a shuffled
copy. Seconds an epoch of 60,000 records, the best block of steps in CPU time. Ratios
above 1 mean that PyTorch takes longer. Needs numpy and PyTorch (Debian's: python3-torch)."""
import json
import os
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
try:
    import torch
except ImportError:
    sys.exit("train_peer.py: there is no PyTorch for this Python; try /usr/bin/python3")

RECORDS, BLOCK, BLOCKS = 60000, 0.0025, 20
WIDTHS = {"mlp1": (784, 1000, 10), "mlp2": (784, 128, 64, 10)}
LOTS = (16, 64, 128, 600, 4000)


class Peer:
    """Plain SGD; the share of zeros does not matter to it."""

    def __init__(self, widths, lot):
        layers = []
        for n, m in zip(widths, widths[1:]):
            layers += [torch.nn.Linear(n, m), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers[:-1])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.rand(max(8192, 2 * lot), widths[0])
        self.y = torch.randint(widths[-1], (len(self.x),))
        self.lot, self.at, self.best = lot, 0, float("inf")

    def step(self):
        if self.at + self.lot > len(self.x):
            self.at = 0
        part = slice(self.at, self.at + self.lot)
        self.at += self.lot
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(self.x[part]), self.y[part])
        loss.backward()
        self.optimizer.step()

    def block(self):
        self.step()  # brings the weights back into the cache
        start, n = time.process_time(), 0
        while True:
            self.step()
            n += 1
            taken = time.process_time() - start
            if taken >= BLOCK:
                break
        self.best = min(self.best, taken / n * RECORDS / self.lot)


def here(build, model, lot):
    out = subprocess.run([os.path.join(build, "bench", "train_mlp"), "-j", "-m", model,
                          "-l", str(lot), "-r", str(BLOCKS)],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    torch.set_num_threads(1)
    print("model   lot   dense  sparse    open   torch  torch/dense  torch/sparse  torch/open")
    for model, widths in WIDTHS.items():
        for lot in LOTS:
            peer, best = Peer(widths, lot), {}
            for _ in range(rounds):
                for name, value in here(sys.argv[1], model, lot).items():
                    if name in ("dense", "sparse", "open"):
                        best[name] = min(best.get(name, value), value)
                for _ in range(BLOCKS):
                    peer.block()
            print("%s %6d %7.3f %7.3f %7.3f %7.3f %12.2f %13.2f %11.2f" % (
                model, lot, best["dense"], best["sparse"], best["open"], peer.best,
                *(peer.best / best[name] for name in ("dense", "sparse", "open"))), flush=True)


if __name__ == "__main__":
    main()
