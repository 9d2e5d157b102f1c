#!/usr/bin/env python3
"""student.py > student.tsv - reference values for lib/base/t_distribution.h.

Two-sided probabilities of Student's t as regularised incomplete beta functions, with mpmath
(python3-mpmath) at 40 digits. scipy.stats agrees where it has digits to agree with.
"""
from mpmath import mp, mpf, betainc, log10, nstr

mp.dps = 40
FREEDOM = ("0.5", "1", "1.5", "2", "3", "7.3", "18", "30.5", "99", "101", "1000", "12345.6", "1e5", "1e6")
T = ("0", "1e-8", "0.1", "1", "1.7", "1.8", "2.5", "3.1", "5", "12", "25", "37", "1e3", "1e10", "1e80", "1e200")

print("# Two-sided probabilities of Student's t: t, degrees of freedom, probability.")
print("# Made by student.py with mpmath at 40 digits.")
for freedom in FREEDOM:
    for t in T:
        a, square = mpf(freedom) / 2, mpf(t) ** 2
        if t != "0" and -a * log10(1 + square / mpf(freedom)) < -300:
            continue  # less than a double can say
        x = mpf(freedom) / (mpf(freedom) + square)
        print(t, freedom, nstr(betainc(a, mpf(1) / 2, 0, x, regularized=True), 20), sep="\t")
