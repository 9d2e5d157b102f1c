/* pictures.c - draws the figures of a report; one that fails does not end it. */
#include "reports/pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the figure in the list? */
static bool is_wanted(const struct figure *f, const char *wanted)
{
	for (const char *w = wanted; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL)
		if (figure_find(w, strcspn(w, ",")) == f)
			return true;
	return !wanted && !f->on_order;
}

/* Does it show nothing but how long things took? */
static bool is_timed(const struct figure *f)
{
	return strcmp(f->name, "timeline") == 0 || strcmp(f->name, "time-spent") == 0;
}

/* Every name of the list is one of a figure. */
static int check_wanted(const char *wanted, struct dp_err *err)
{
	while (wanted && *wanted) {
		size_t n = strcspn(wanted, ",");

		if (!figure_find(wanted, n)) {
			dp_fail(err, DP_E_USAGE, "there is no figure '%.*s'", (int)n,
				wanted);
			return dp_hint(err, "'dpareto-report --help' lists them");
		}
		wanted += n + (wanted[n] == ',');
	}
	return DP_OK;
}

/* The picture and its caption, from what was gathered. */
static int render_picture(const struct figure *f, const void *data, struct picture *p,
			  struct dp_err *err)
{
	struct plot *plot = f->draw(data);
	int code = plot_png(plot, &p->png, err);

	plot_free(plot);
	if (code == DP_OK)
		f->caption(data, &p->caption);
	return code;
}

void picture_draw(const struct report *r, const struct figure *f, struct picture *p)
{
	void *data = calloc(1, f->size);
	const char *why = NULL;
	struct dp_err err = { 0 };
	int code = data ? f->gather(r, data, &why, &err)
			: dp_fail(&err, DP_E_NOMEM, "no memory for a figure");

	*p = (struct picture){ .figure = f, .absent = code == DP_OK && why };
	if (code == DP_OK && !why)
		code = render_picture(f, data, p, &err);
	if (data && f->release)
		f->release(data);
	free(data);
	if (code != DP_OK)
		dp_buf_free(&p->png);
	if (code != DP_OK || why)
		snprintf(p->why, sizeof p->why, "%.299s", code == DP_OK ? why : err.msg);
}

/* Would it show what models say that are not to be trusted? A sentence stands in its
 * place. */
static bool is_replaced(const struct report *r, const struct picture *p)
{
	const struct subject *s = r->nsubjects ? &r->subjects[0] : NULL;

	for (size_t k = 0; s && p->absent && k < s->s->spec->nobjectives; k++)
		if (s->fit[k].why[0] && strcmp(s->fit[k].why, p->why) == 0)
			return true;
	return false;
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
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(report_figures[i], wanted) ||
		    (is_timed(report_figures[i]) && !report_shows_times(r)))
			continue;
		picture_draw(r, report_figures[i], &(*out)[*n]);
		*n += wanted || !(*out)[*n].absent || is_replaced(r, &(*out)[*n]);
	}
	return DP_OK;
}

void picture_free(struct picture *p)
{
	dp_buf_free(&p->png);
	dp_buf_free(&p->caption);
}

void pictures_free(struct picture *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		picture_free(&p[i]);
	free(p);
}
