#!/usr/bin/env python3
"""whole.py > whole.tsv - reference values for lib/privacy/composition/adaptive_composition.h.

From the published formulas with mpmath (python3-mpmath) at 50 digits, in ways of its own:
sums over binomials and quadratures for curves, roots for laws, and no logarithmic tricks.
"""
from mpmath import mp, mpf, exp, log, expm1, quad, binomial, erfc, sqrt, findroot, nsum, inf, pi

mp.dps = 50


def standard():
    """The orders and weights that new studies get, as odometer.c describes them."""
    rows = []
    for i in range(-40, 49):
        gap = mpf(2) ** (mpf(i) / 4)
        gap = gap if i < 0 else mpf(int(gap + mpf(1) / 2))
        if not rows or rows[-1][0] < 1 + gap:
            rows.append((1 + gap, (1 + abs(log(gap / 8, 2))) ** (-mpf(3) / 2)))
    total = sum(w for _, w in rows)
    return [(a, w / total) for a, w in rows]


ORDERS = standard()


def bound(epsilon, delta, a):
    return epsilon - log(1 - 1 / a) + (log(delta) + log(a)) / (a - 1)


def improved(curve, delta):
    return min(curve(a) / (a - 1) + log((a - 1) / a) - (log(delta) + log(a)) / (a - 1)
               for a, _ in ORDERS)


def odometer(curve, delta):
    return min((curve(a) + log(1 / (w * delta))) / (a - 1) for a, w in ORDERS)


def gaussian(mu):
    return lambda a: a * (a - 1) * mu * mu / 2


def laplace(b):
    return lambda a: log(a / (2 * a - 1) * exp((a - 1) / b)
                         + (a - 1) / (2 * a - 1) * exp(-a / b))


def poisson_lot(q, sigma, steps, a):
    """(a - 1) x the divergence of a Poisson-sampled Gaussian, the worse direction."""
    if a == int(a):
        a = int(a)
        total = sum(binomial(a, j) * (1 - q) ** (a - j) * q ** j
                    * exp(mpf(j * (j - 1)) / (2 * sigma ** 2)) for j in range(a + 1))
    else:
        def density(x):
            return exp(-x * x / (2 * sigma ** 2)) / (sigma * sqrt(2 * pi))

        def term(x):
            return density(x) * (1 - q + q * exp((2 * x - 1) / (2 * sigma ** 2))) ** a
        ends = [k * sigma for k in range(-16, 17, 2)] + [a + k * sigma for k in range(-16, 17, 2)]
        total = quad(term, sorted(set(ends)))
    return steps * log(total)


def fixed_lot(q, sigma, steps, a):
    """(a - 1) x the divergence that the profile of a lot without replacement allows."""
    def cdf(x):
        return erfc(-x / sqrt(2)) / 2

    def hockey_stick(y):
        u = 1 + (y - 1) / q
        return q * (cdf(1 / (2 * sigma) - sigma * log(u)) - u * cdf(-1 / (2 * sigma) - sigma * log(u)))

    def term(x):
        return (exp((a - 1) * x) + exp(-a * x)) * hockey_stick(exp(x))
    # nearly all of it lies where the Gaussian's own ratio is small, or near order / sigma^2
    ratios = [0] + [mpf(2) ** k for k in range(-9, 12)]
    ends = [log(1 + q * expm1(r)) for r in ratios]
    return steps * log(1 + a * (a - 1) * quad(term, ends))


def mean_of(eta, gamma):
    if eta == 0:
        return (1 / gamma - 1) / log(1 / gamma)
    return eta * (1 - gamma) / (gamma * (1 - gamma ** eta))


def gamma_of(eta, mean):
    lo, hi = mpf(10) ** -8, 1 - mpf(10) ** -20
    for _ in range(200):
        mid = sqrt(lo * hi)
        lo, hi = (mid, hi) if mean_of(eta, mid) > mean else (lo, mid)
    return (lo + hi) / 2


def binomial_mass(eta, gamma, k):
    """The k-th probability of the truncated negative binomial law."""
    p = (1 - gamma) ** k / (log(1 / gamma) if eta == 0 else gamma ** -eta - 1)
    for j in range(k):
        if eta == 0:
            p *= mpf(j) / (j + 1) if j else 1
        else:
            p *= (j + eta) / (j + 1)
    return p


def poisson_mass(mean, k):
    return exp(-mean) * mean ** k / mp.factorial(k)


def by_binomial(curve, eta, mean):
    gamma = gamma_of(eta, mean)
    least = min([log(1 / gamma)] + [(1 - 1 / b) * curve(b) / (b - 1) + log(1 / gamma) / b
                                    for b, _ in ORDERS])
    return lambda a: curve(a) + (a - 1) * (1 + eta) * least + log(mean)


def by_poisson(curve, mean):
    """Theorem 6, and the probability of no training at all."""
    def k(a):
        hat = log(1 + 1 / (a - 1))
        d = min([mpf(1)] + [exp((b - 1) * (curve(b) / (b - 1) - hat)) * (1 - 1 / b) ** (b - 1) / b
                            for b, _ in ORDERS])
        return log(exp(-mean) + mean * exp(curve(a) + (a - 1) * mean * d))
    return k


def gaussian_epsilon(mu, delta):
    def cdf(x):
        return erfc(-x / sqrt(2)) / 2

    def miss(e):
        return log(cdf(mu / 2 - e / mu) - exp(e) * cdf(-mu / 2 - e / mu)) - log(delta)
    lo, hi = mpf(0), mpf(1)
    if miss(lo) <= 0:
        return lo
    while miss(hi) > 0:
        hi *= 2
    return findroot(miss, (lo, hi), solver='anderson', tol=mpf(10) ** -60)


def row(family, *numbers):
    print(family, *(mp.nstr(mpf(x), 20) for x in numbers), sep='\t')


def main():
    print("# Reference values of lib/privacy/composition/adaptive_composition.h: family, what is given, the value.")
    print("# Made by whole.py with mpmath at 50 digits; what each row means is there.")
    for e, d, a in [(8, '1e-5', 4), (1, '1e-5', 20), ('0.1', '1e-6', 300), (100, '1e-5', '1.25'),
                    (3, '1e-3', 2), (5000, '1e-8', '1.0009765625'), (2, '0.1', 50)]:
        row('bound', e, d, a, bound(mpf(e), mpf(d), mpf(a)))
    for mu in ['0.003', '0.2', 1, 5, 40]:
        for d in ['1e-3', '1e-5', '1e-9']:
            row('improved', mu, d, improved(gaussian(mpf(mu)), mpf(d)))
            row('odometer', mu, d, odometer(gaussian(mpf(mu)), mpf(d)))
    for b in ['0.5', 3, 100]:
        row('laplace', b, '1e-5', odometer(laplace(mpf(b)), mpf('1e-5')))
    for q, s, steps, a in [('0.01', 1, 1000, 2), ('0.01', 1, 1000, 9), ('0.004', '0.7', 500, 3),
                           ('0.02', 4, 100, 65), ('0.5', 2, 10, 6), ('0.01', 1, 1000, '1.5'),
                           ('0.1', 2, 50, '1.0625'), ('0.3', '0.8', 5, '1.25')]:
        row('poisson_lot', q, s, steps, a, poisson_lot(mpf(q), mpf(s), steps, mpf(a)))
    for q, s, steps, a in [('0.004', '1.5', 1, 2), ('0.004', '1.5', 7000, 9), ('0.016', 4, 100, 33),
                           ('0.001', '0.7', 10, 3), ('0.05', '0.5', 10, '1.25'), (1, 2, 5, 6),
                           ('0.3', 1, 1, '1.0625'), ('0.016', 2, 60, 129)]:
        row('fixed_lot', q, s, steps, a, fixed_lot(mpf(q), mpf(s), steps, mpf(a)))
    for eta in [0, 1, '-0.5', 2, '0.25']:
        for mean in ['1.5', 20, 1000]:
            gamma = gamma_of(mpf(eta), mpf(mean))
            row('gamma', eta, mean, log(gamma))
            for k in [1, 2, 7]:
                row('mass', eta, mean, k, binomial_mass(mpf(eta), gamma, k))
    for mean in ['0.5', 20, 400]:
        for k in [0, 3, 20, 410]:
            row('poisson_mass', mean, k, poisson_mass(mpf(mean), k))
    for mu in ['0.05', '0.2', 1]:
        for mean in [5, 20, 300]:
            for eta in [0, 1]:
                row('select', mu, eta, mean, '1e-5',
                    improved(by_binomial(gaussian(mpf(mu)), mpf(eta), mpf(mean)), mpf('1e-5')))
            row('select_poisson', mu, mean, '1e-5',
                improved(by_poisson(gaussian(mpf(mu)), mpf(mean)), mpf('1e-5')))
    for n, s, records, d in [(250, '0.005', 10000, '1e-5'), (1, '0.01', 1605, '1e-5'),
                             (272, '0.01', 1605, '1e-6'), (10, '0.001', 100, '1e-3')]:
        row('release', n, s, records, d,
            gaussian_epsilon(sqrt(mpf(n)) / (mpf(s) * records), mpf(d)))


main()
