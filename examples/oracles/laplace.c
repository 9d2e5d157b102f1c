/* An oracle program in plain C: the epsilon of `queries` Laplace mechanisms of
 * sensitivity 1 with noise of scale `scale` each, on the same data.
 *
 * Each is (1/scale, 0)-private. Together they are so with the sum of these and, by
 * advanced composition (Dwork, Rothblum and Vadhan 2010; Dwork and Roth 2014,
 * Theorem 3.20), with another number that is smaller for many queries: the answer is the
 * smaller of the two. laplace.yaml beside it is a study that uses it. Build: cc -o
 * laplace laplace.c -lm
 *
 * For three numbers a search in the line will do; for more use a JSON library. */
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The number after "name": in the line; false if there is none. */
static int number_of(const char *line, const char *name, double *x)
{
	const char *p = strstr(line, name);

	return p && sscanf(p + strlen(name), ":%lf", x) == 1;
}

static double together(double queries, double scale, double delta)
{
	double one = 1 / scale, sum = queries * one, advanced = INFINITY;

	if (delta > 0)
		advanced = sqrt(2 * queries * log(1 / delta)) * one + sum * expm1(one);
	/* more than the functions above can be wrong by */
	return fmin(sum, advanced) * (1 + 1e-12);
}

int main(void)
{
	static char line[1 << 16];
	double id, queries, scale, delta, epsilon;

	while (fgets(line, sizeof line, stdin)) { /* until the study needs no more */
		if (!number_of(line, "\"id\"", &id)) {
			fprintf(stderr, "laplace: no question: %s", line);
			return 1;
		}
		if (!number_of(line, "\"queries\"", &queries) ||
		    !number_of(line, "\"scale\"", &scale) ||
		    !number_of(line, "\"delta\"", &delta) || !(queries >= 1) || !(scale > 0)) {
			printf("{\"id\":%.0f,\"error\":\"queries must be 1 or more, and "
			       "scale above 0\"}\n",
			       id);
		} else {
			epsilon = together(queries, scale, delta);
			if (isfinite(epsilon))
				printf("{\"id\":%.0f,\"epsilon\":%.17g}\n", id, epsilon);
			else
				printf("{\"id\":%.0f,\"epsilon\":\"inf\"}\n", id);
		}
		fflush(stdout); /* the answer is waited for */
	}
	return 0;
}
