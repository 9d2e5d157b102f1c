#!/usr/bin/env python3
"""The values in tests/unit/lib/privacy/test_discrete_mechanisms.c: every outcome and its loss, summed with 40 digits. Needs mpmath; takes a minute."""
from mpmath import binomial, exp, log, mp, mpf, nstr, sqrt

mp.dps = 40


def least_epsilon(outcomes, delta):
    """Least epsilon >= 0 with sum of p (1 - exp(epsilon - loss)) over larger losses <= delta; outcomes: (p, loss)."""
    def at(epsilon):
        return sum(p * (1 - exp(epsilon - loss)) for p, loss in outcomes if loss > epsilon)
    low, high = mpf(0), max(loss for p, loss in outcomes if p > 0)
    if at(low) <= delta:
        return low
    for _ in range(120):
        middle = (low + high) / 2
        if at(middle) > delta:
            low = middle
        else:
            high = middle
    return high


def times(masses, n):
    """Distribution of the sum of n whole numbers with these masses."""
    out = {0: mpf(1)}
    for _ in range(n):
        sums = {}
        for x, p in out.items():
            for y, q in masses.items():
                sums[x + y] = sums.get(x + y, mpf(0)) + p * q
        out = sums
    return out


def discrete_laplace(scale, sensitivity, n=1):
    scale, masses = mpf(scale), {}
    t = exp(-1 / scale)
    reach = int(70 * scale) + sensitivity
    for z in range(-reach, reach + 1):
        loss = abs(z - sensitivity) - abs(z)
        masses[loss] = masses.get(loss, mpf(0)) + (1 - t) / (1 + t) * t ** abs(z)
    return [(p, mpf(loss) / scale) for loss, p in times(masses, n).items()]


def discrete_gaussian(sigma, sensitivity, n=1):
    sigma = mpf(sigma)
    reach = int(16 * sigma) + 2
    weights = {z: exp(-mpf(z) * z / (2 * sigma * sigma)) for z in range(-reach, reach + 1)}
    total = sum(weights.values())
    sums = times({z: w / total for z, w in weights.items()}, n)
    return [(p, (n * mpf(sensitivity) ** 2 + 2 * mpf(z) * sensitivity) / (2 * sigma * sigma)) for z, p in sums.items()]


def randomized_response(flip, categories, n=1):
    other = mpf(flip) / categories
    truth = 1 - mpf(flip) + other
    sums = times({1: truth, -1: other, 0: 1 - truth - other}, n)
    return [(p, z * log(truth / other)) for z, p in sums.items()]


def bounded_range(eta, top, n=1):
    """Losses top and top - eta, n times."""
    eta, top = mpf(eta), mpf(top)
    p = (1 - exp(top - eta)) / (1 - exp(-eta))
    return [(binomial(n, i) * p ** i * (1 - p) ** (n - i), i * top + (n - i) * (top - eta)) for i in range(n + 1)]


def exponential(eta, delta):
    """The most over the place of the range, by golden section at every epsilon."""
    eta, golden = mpf(eta), (sqrt(mpf(5)) - 1) / 2

    def at(epsilon):
        def mass(top):
            return (1 - exp(top - eta)) / (1 - exp(-eta)) * (1 - exp(epsilon - top))
        low, high = epsilon, eta
        for _ in range(150):
            left, right = high - golden * (high - low), low + golden * (high - low)
            if mass(left) > mass(right):
                high = right
            else:
                low = left
        return mass((low + high) / 2)
    low, high = mpf(0), eta
    if at(low) <= delta:
        return low
    for _ in range(110):
        middle = (low + high) / 2
        if at(middle) > delta:
            low = middle
        else:
            high = middle
    return high


def show(name, setting, value):
    print(name, *setting, nstr(value, 20))


for s in ((1, "1e-5"), ("0.1", "1e-6"), (3, "1e-2"), (8, "1e-9"), ("0.1", "0.1")):
    show("exponential", s, exponential(s[0], mpf(s[1])))
for eta, n, delta in (("0.5", 10, "1e-6"), ("0.1", 100, "1e-6"), ("2", 5, "1e-3")):
    tops = [mpf(eta) * i / 200 for i in range(1, 200)]
    show("exponential, at least", (eta, n, delta), max(least_epsilon(bounded_range(eta, t, n), mpf(delta)) for t in tops))
for s in (("0.5", 2, 1, "0"), ("0.5", 2, 1, "0.01"), ("0.25", 10, 1, "0"), ("0.25", 10, 1, "1e-3"), ("0.5", 4, 20, "1e-6"),
          ("0.9", 3, 50, "1e-5")):
    show("randomized-response", s, least_epsilon(randomized_response(*s[:3]), mpf(s[3])))
for s in (("1", 1, 1, "1e-3"), ("2", 3, 1, "1e-5"), ("0.7", 5, 1, "1e-2"), ("10", 1, 1, "1e-6"), ("5.5", 4, 1, "0.05"),
          ("10", 1, 40, "1e-6"), ("3", 2, 12, "1e-5")):
    show("discrete-laplace", s, least_epsilon(discrete_laplace(*s[:3]), mpf(s[3])))
for s in (("1", 1, 1, "1e-5"), ("0.5", 1, 1, "1e-6"), ("2", 3, 1, "1e-9"), ("10", 1, 1, "1e-6"), ("100", 7, 1, "1e-5"),
          ("0.3", 1, 1, "1e-5"), ("3", 1, 10, "1e-6"), ("12.5", 5, 6, "1e-5")):
    show("discrete-gaussian", s, least_epsilon(discrete_gaussian(*s[:3]), mpf(s[3])))
