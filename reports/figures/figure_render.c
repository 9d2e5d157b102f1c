/* figure_render.c - draws the figures of a report; one that fails does not end it. */
#include "reports/figures/figure_render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the figure in the list? */
static bool is_figure_requested(const struct figure *f, const char *wanted)
{
	for (const char *w = wanted; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL)
		if (figure_find(w, strcspn(w, ",")) == f)
			return true;
	return !wanted && !f->only_on_request;
}

/* Does it show nothing but how long things took? */
static bool figure_shows_only_times(const struct figure *f)
{
	return strcmp(f->name, "timeline") == 0 || strcmp(f->name, "time-spent") == 0;
}

/* Every name of the list is one of a figure. */
static int check_figure_names(const char *wanted, struct dp_err *err)
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
static int render_figure_formats(const struct figure_output *look, struct plot *plot,
				 struct rendered_figure *p, struct dp_err *err)
{
	const struct {
		bool wanted;
		enum plot_format form;
		struct dp_buf *bytes;
	} forms[] = {
		{ true, PLOT_INLINE_SVG, &p->page_svg },
		{ look->formats & FIGURE_PNG, PLOT_PNG, &p->png },
		{ look->formats & FIGURE_SVG, PLOT_SVG, &p->svg },
		{ look->formats & FIGURE_PDF, PLOT_PDF, &p->pdf },
	};
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(forms); i++)
		if (forms[i].wanted)
			code = plot_render(plot, forms[i].form, forms[i].bytes, err);
	return code;
}

/* The picture and its words, from what was gathered. */
static int render_figure_data(const struct figure_output *look, const struct figure *f,
			      const void *data, struct rendered_figure *p, struct dp_err *err)
{
	struct plot *plot = f->draw(data);
	int code;

	p->is_wide = plot_is_wide(plot);
	p->is_single_row = plot_is_single_row(plot);
	plot_id(plot, f->name);
	if (look->no_title)
		plot_hide_title(plot);
	if (look->width_mm > 0)
		plot_set_print_width(plot, look->width_mm / 25.4 * 96);
	code = render_figure_formats(look, plot, p, err);
	if (code == DP_OK)
		code = plot_csv(plot, &p->csv, err);
	if (code == DP_OK) {
		plot_write_alt_text(plot, &p->alt);
		f->caption(data, &p->caption);
	}
	plot_free(plot);
	return code;
}

static void free_figure_formats(struct rendered_figure *p)
{
	dp_buf_free(&p->page_svg);
	dp_buf_free(&p->png);
	dp_buf_free(&p->svg);
	dp_buf_free(&p->pdf);
	dp_buf_free(&p->csv);
}

void figure_render(const struct report_data *r, const struct figure *f, struct rendered_figure *p)
{
	void *data = dp_calloc(1, f->data_size);
	const char *why = NULL;
	struct dp_err err = { 0 };
	int code = data ? f->gather(r, data, &why, &err)
			: dp_fail(&err, DP_E_NOMEM, "no memory for a figure");

	*p = (struct rendered_figure){ .figure = f, .has_nothing_to_show = code == DP_OK && why };
	if (code == DP_OK && !why)
		code = render_figure_data(&r->figure_output, f, data, p, &err);
	if (data && f->free_data)
		f->free_data(data);
	free(data);
	if (code != DP_OK)
		free_figure_formats(p);
	if (code != DP_OK || why)
		snprintf(p->reason, sizeof p->reason, "%.299s", code == DP_OK ? why : err.msg);
}

/* Would it show what models say that are not to be trusted? A sentence stands in its
 * place. */
static bool is_untrusted_model_figure(const struct report_data *r, const struct rendered_figure *p)
{
	const struct study_data *s = r->nstudies ? &r->studies[0] : NULL;

	for (size_t k = 0; s && p->has_nothing_to_show && k < s->state->spec->nobjectives; k++)
		if (s->fit[k].reason[0] && strcmp(s->fit[k].reason, p->reason) == 0)
			return true;
	return false;
}

int figures_render(const struct report_data *r, const char *wanted, struct rendered_figure **out,
		   size_t *n, struct dp_err *err)
{
	size_t count = 0;
	int code = check_figure_names(wanted, err);

	*n = 0;
	if (code != DP_OK)
		return code;
	while (report_figures[count])
		count++;
	*out = dp_calloc(count + 1, sizeof **out);
	for (size_t i = 0; i < count; i++) {
		if (!is_figure_requested(report_figures[i], wanted) ||
		    (r->groups && !wanted && !report_figures[i]->for_groups) ||
		    (figure_shows_only_times(report_figures[i]) && !redaction_shows_times(r)))
			continue;
		figure_render(r, report_figures[i], &(*out)[*n]);
		*n += wanted || !(*out)[*n].has_nothing_to_show ||
		      is_untrusted_model_figure(r, &(*out)[*n]);
	}
	return DP_OK;
}

void rendered_figure_files(const struct rendered_figure *p,
			   struct rendered_file out[RENDERED_FILE_COUNT])
{
	out[0] = (struct rendered_file){ "png", &p->png };
	out[1] = (struct rendered_file){ "svg", &p->svg };
	out[2] = (struct rendered_file){ "pdf", &p->pdf };
	out[3] = (struct rendered_file){ "csv", &p->csv };
}

const char *rendered_figure_extension(const struct rendered_figure *p)
{
	struct rendered_file files[RENDERED_FILE_COUNT];

	rendered_figure_files(p, files);
	for (size_t i = 0; i < RENDERED_FILE_COUNT; i++)
		if (files[i].bytes->len)
			return files[i].extension;
	return NULL;
}

void rendered_figure_free(struct rendered_figure *p)
{
	free_figure_formats(p);
	dp_buf_free(&p->alt);
	dp_buf_free(&p->caption);
}

void rendered_figures_free(struct rendered_figure *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rendered_figure_free(&p[i]);
	free(p);
}
