/* numeric.c - one-dimensional roots and minima, and the tail of the normal distribution. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

#define SQRT_2PI 2.50662827463100050242

double dp__normal_cdf(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Mills' ratio (1 - Phi(t)) / phi(t). Past 25 its factors underflow and overflow, and twenty levels
 * of Laplace's continued fraction give every digit. */
double dp__mills_ratio(double t)
{
	double r = t;

	if (t < 25)
		return 0.5 * SQRT_2PI * erfc(t * M_SQRT1_2) * exp(0.5 * t * t);
	for (int i = 20; i > 0; i--)
		r = t + i / r;
	return 1 / r;
}

double dp__log_add(double a, double b)
{
	double big = fmax(a, b), small = fmin(a, b);

	return isinf(big) ? big : big + log1p(exp(small - big));
}

/* The error from fma() is exact unless it underflows; then the result may be slightly larger. */
double dp__multiply_up(double a, double b)
{
	double p = a * b;

	return isfinite(p) && (p < 1e-280 || fma(a, b, -p) > 0) ? nextafter(p, INFINITY) : p;
}

double dp__divide_up(double a, double b)
{
	double q = a / b;
	bool below = a < 1e-280 || q < 1e-280 || fma(-q, b, a) > 0;

	return isfinite(q) && below ? nextafter(q, INFINITY) : q;
}

/* Brent's method. f(lo) and f(hi) differ in sign. Finds a sign change to the last few digits. */
double dp__find_root(double (*f)(void *ctx, double x), void *ctx, double lo, double hi)
{
	double a = lo, b = hi, fa = f(ctx, a), fb = f(ctx, b), c = a, fc = fa, d = b - a, e = d;

	for (int i = 0; i < 200; i++) {
		double tol, m, p, q, r, s;

		if ((fb > 0) == (fc > 0)) {
			c = a, fc = fa;
			d = e = b - a;
		}
		if (fabs(fc) < fabs(fb)) {
			a = b, b = c, c = a;
			fa = fb, fb = fc, fc = fa;
		}
		tol = 2 * DBL_EPSILON * fabs(b);
		m = 0.5 * (c - b);
		if (fabs(m) <= tol || fb == 0)
			break;
		if (fabs(e) >= tol && fabs(fa) > fabs(fb)) {
			s = fb / fa;
			q = a == c ? 1 - s : (fa / fc - 1) * (fb / fc - 1) * (s - 1);
			r = fb / fc;
			p = a == c ? 2 * m * s
				   : s * (2 * m * fa / fc * (fa / fc - r) - (b - a) * (r - 1));
			q = p > 0 ? -q : q;
			p = fabs(p);
			if (2 * p < fmin(3 * m * q - fabs(tol * q), fabs(e * q)))
				e = d, d = p / q;
			else
				d = e = m;
		} else {
			d = e = m;
		}
		a = b, fa = fb;
		b += fabs(d) > tol ? d : copysign(tol, m);
		fb = f(ctx, b);
	}
	return b;
}

/* Golden-section and parabolic steps (Brent 1973, ch. 5). A function is flat near its minimum, so
 * 1e-8 in x is the best precision. */
double dp__minimize(double (*f)(void *ctx, double x), void *ctx, double lo, double hi, double *at)
{
	const double gold = 0.3819660112501051;
	double a = lo, b = hi, x = a + gold * (b - a), w = x, v = x, d = 0, e = 0;
	double fx = f(ctx, x), fw = fx, fv = fx;

	for (int i = 0; i < 80; i++) {
		double m = 0.5 * (a + b), tol = 1e-8 * fabs(x) + 1e-12, u, fu;
		double r = (x - w) * (fx - fv), q = (x - v) * (fx - fw);
		double p = (x - v) * q - (x - w) * r, old = e;

		if (fabs(x - m) <= 2 * tol - 0.5 * (b - a))
			break;
		q = 2 * (q - r);
		p = q > 0 ? -p : p;
		q = fabs(q);
		e = d;
		if (fabs(p) < fabs(0.5 * q * old) && p > q * (a - x) && p < q * (b - x))
			d = p / q;
		else
			e = x < m ? b - x : a - x, d = gold * e;
		u = x + (fabs(d) >= tol ? d : copysign(tol, d));
		fu = f(ctx, u);
		if (fu <= fx) {
			*(u < x ? &b : &a) = x;
			v = w, fv = fw;
			w = x, fw = fx;
			x = u, fx = fu;
			continue;
		}
		*(u < x ? &a : &b) = u;
		if (fu <= fw || w == x)
			v = w, fv = fw, w = u, fw = fu;
		else if (fu <= fv || v == x || v == w)
			v = u, fv = fu;
	}
	*at = x;
	return fx;
}
