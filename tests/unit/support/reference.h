/* reference.h - reads tests/ref/accounting.tsv for the tests of the accountants. */
#ifndef DP_TEST_REFERENCE_H
#define DP_TEST_REFERENCE_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line; NaN where the table says "-". */
struct reference {
	char id[64], family[64];
	double records, lot, epochs, steps, noise, sensitivity, delta, epsilon, tolerance, order,
		extrapolated;
};

static inline FILE *reference_open(void)
{
	const char *dir = getenv("srcdir");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/ref/accounting.tsv", dir ? dir : ".");
	f = fopen(path, "r");
	if (!f)
		fprintf(stderr, "cannot open %s\n", path);
	return f;
}

/* The next line whose family begins with `family`; false at the end. */
static inline int reference_next(FILE *f, const char *family, struct reference *r)
{
	double *fields[] = { &r->records,   &r->lot,         &r->epochs,      &r->steps,
			     &r->noise,     &r->sensitivity, &r->delta,       &r->epsilon,
			     &r->tolerance, &r->order,       &r->extrapolated };
	char line[1024], *p, *field;

	while (fgets(line, sizeof line, f)) {
		p = line;
		if (*p == '#')
			continue;
		snprintf(r->id, sizeof r->id, "%s", strsep(&p, "\t"));
		snprintf(r->family, sizeof r->family, "%s", strsep(&p, "\t"));
		if (strncmp(r->family, family, strlen(family)) != 0)
			continue;
		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
			field = strsep(&p, "\t\n");
			*fields[i] = field && strcmp(field, "-") ? strtod(field, NULL) : NAN;
		}
		return 1;
	}
	return 0;
}

#endif
