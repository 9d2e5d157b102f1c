/* pictures.c - draws the figures of a report; one that fails does not end it. */
#include "reports/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of a figure's name: its file without the ending. */
static size_t name_len(const struct figure *f)
{
	return strcspn(f->file, ".");
}

/* Is the name in the list? */
static bool is_wanted(const struct figure *f, const char *wanted)
{
	size_t n = name_len(f);

	for (const char *w = wanted; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL)
		if (strcspn(w, ",") == n && strncmp(w, f->file, n) == 0)
			return true;
	return !wanted;
}

/* Every name of the list is one of a figure. */
static int check_wanted(const char *wanted, struct dp_err *err)
{
	while (wanted && *wanted) {
		size_t n = strcspn(wanted, ",");
		bool found = false;

		for (size_t i = 0; report_figures[i]; i++)
			found |= name_len(report_figures[i]) == n &&
				 strncmp(wanted, report_figures[i]->file, n) == 0;
		if (!found) {
			dp_fail(err, DP_E_USAGE, "there is no figure '%.*s'", (int)n,
				wanted);
			return dp_hint(err, "'dpareto-report --help' lists them");
		}
		wanted += n + (wanted[n] == ',');
	}
	return DP_OK;
}

static void draw(const struct report *r, const struct figure *f, struct picture *p)
{
	struct plot *plot = NULL;
	struct dp_err err = { 0 };
	int code = f->draw(r, &plot, &err);

	p->figure = f;
	if (code == DP_OK)
		code = plot_png(plot, &p->png, &err);
	plot_free(plot);
	if (code == DP_OK) {
		f->caption(r, &p->caption);
		return;
	}
	dp_buf_free(&p->png);
	snprintf(p->why, sizeof p->why, "%.299s", err.msg);
}

int pictures_draw(const struct report *r, const char *wanted, struct picture **out,
		  size_t *n, struct dp_err *err)
{
	size_t count = 0;
	int code = check_wanted(wanted, err);

	*n = 0;
	if (code != DP_OK)
		return code;
	while (report_figures[count])
		count++;
	*out = calloc(count + 1, sizeof **out);
	if (!*out)
		return dp_fail(err, DP_E_NOMEM, "no memory for the figures");
	for (size_t i = 0; i < count; i++)
		if (is_wanted(report_figures[i], wanted) && report_figures[i]->applies(r))
			draw(r, report_figures[i], &(*out)[(*n)++]);
	return DP_OK;
}

void pictures_free(struct picture *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		dp_buf_free(&p[i].png);
		dp_buf_free(&p[i].caption);
	}
	free(p);
}
