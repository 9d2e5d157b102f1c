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
			dp_fail(err, DP_E_USAGE, "there is no figure '%.*s'", (int)n, wanted);
			return dp_hint(err, "'dpareto-report --help' lists them");
		}
		wanted += n + (wanted[n] == ',');
	}
	return DP_OK;
}

/* Adds the forms that were asked for, and the one of the page. */
static int render_forms(const struct look *look, struct plot *plot, struct picture *p,
			struct dp_err *err)
{
	const struct {
		bool wanted;
		enum plot_form form;
		struct dp_buf *bytes;
	} forms[] = {
		{ true, PLOT_PAGE, &p->page },
		{ look->formats & LOOK_PNG, PLOT_PNG, &p->png },
		{ look->formats & LOOK_SVG, PLOT_SVG, &p->svg },
		{ look->formats & LOOK_PDF, PLOT_PDF, &p->pdf },
	};
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(forms); i++)
		if (forms[i].wanted)
			code = plot_render(plot, forms[i].form, forms[i].bytes, err);
	return code;
}

/* The picture and its words, from what was gathered. */
static int render_picture(const struct look *look, const struct figure *f, const void *data,
			  struct picture *p, struct dp_err *err)
{
	struct plot *plot = f->draw(data);
	int code;

	p->wide = plot_is_wide(plot);
	p->flat = plot_is_flat(plot);
	plot_id(plot, f->name);
	if (look->untitled)
		plot_untitled(plot);
	if (look->width_mm > 0)
		plot_width(plot, look->width_mm / 25.4 * 96);
	code = render_forms(look, plot, p, err);
	if (code == DP_OK)
		code = plot_csv(plot, &p->csv, err);
	if (code == DP_OK) {
		plot_alt(plot, &p->alt);
		f->caption(data, &p->caption);
		if (p->alt.failed || p->caption.failed)
			code = dp_fail(err, DP_E_NOMEM, "no memory for a figure");
	}
	plot_free(plot);
	return code;
}

static void free_forms(struct picture *p)
{
	dp_buf_free(&p->page);
	dp_buf_free(&p->png);
	dp_buf_free(&p->svg);
	dp_buf_free(&p->pdf);
	dp_buf_free(&p->csv);
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
		code = render_picture(&r->look, f, data, p, &err);
	if (data && f->release)
		f->release(data);
	free(data);
	if (code != DP_OK)
		free_forms(p);
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

int pictures_draw(const struct report *r, const char *wanted, struct picture **out, size_t *n,
		  struct dp_err *err)
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
		    (r->groups && !wanted && !report_figures[i]->of_groups) ||
		    (is_timed(report_figures[i]) && !report_shows_times(r)))
			continue;
		picture_draw(r, report_figures[i], &(*out)[*n]);
		*n += wanted || !(*out)[*n].absent || is_replaced(r, &(*out)[*n]);
	}
	return DP_OK;
}

void picture_files(const struct picture *p, struct picture_file out[PICTURE_FILES])
{
	out[0] = (struct picture_file){ "png", &p->png };
	out[1] = (struct picture_file){ "svg", &p->svg };
	out[2] = (struct picture_file){ "pdf", &p->pdf };
	out[3] = (struct picture_file){ "csv", &p->csv };
}

const char *picture_kind(const struct picture *p)
{
	struct picture_file files[PICTURE_FILES];

	picture_files(p, files);
	for (size_t i = 0; i < PICTURE_FILES; i++)
		if (files[i].bytes->len)
			return files[i].kind;
	return NULL;
}

void picture_free(struct picture *p)
{
	free_forms(p);
	dp_buf_free(&p->alt);
	dp_buf_free(&p->caption);
}

void pictures_free(struct picture *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		picture_free(&p[i]);
	free(p);
}
