"""student.py - Student's t distribution: what t and its degrees of freedom say."""
import math


def _fraction(a, b, x):
    """The continued fraction of the incomplete beta function (Lentz)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    total = d
    for m in range(1, 1000):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 + step * d
            c = 1.0 + step / c
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return total


def _beta(a, b, x):
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) +
                     a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def p_value(t, df):
    """Two-sided."""
    return _beta(df / 2, 0.5, df / (df + t * t))


def quantile(df, level=0.95):
    """t that is exceeded on both sides with probability 1 - level."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, df) > 1 - level else (low, middle)
    return (low + high) / 2


def welch(a, b):
    """Difference of the means of two samples, its 95 % interval, and p; None without spread."""
    def moments(x):
        mean = sum(x) / len(x)
        return mean, sum((v - mean) ** 2 for v in x) / (len(x) - 1) / len(x)
    if len(a) < 2 or len(b) < 2:
        return None
    (ma, va), (mb, vb) = moments(a), moments(b)
    if va + vb == 0:
        return None
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    error = math.sqrt(va + vb)
    half = quantile(df) * error
    return {"difference": ma - mb, "low": ma - mb - half, "high": ma - mb + half,
            "t": (ma - mb) / error, "df": df, "p": p_value((ma - mb) / error, df)}
