/* figure_render.c - gather and draw all figures of a report; a failed figure does not stop the
 * others. */
#include "reports/figures/figure_list.h"
#include "reports/figures/figure_render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct figure *const report_figures[] = {
	&figure_front,
	&figure_front_linear,
	&figure_objectives,
	&figure_comparison,
	&figure_hypervolume_groups,
	&figure_seeds,
	&figure_attainment,
	&figure_scatter,
	&figure_panels,
	&figure_variability,
	&figure_hypervolume,
	&figure_relevance,
	&figure_objective_maps,
	&figure_fit,
	&figure_surrogates,
	&figure_pairs,
	&figure_hyperparameters,
	&figure_parallel,
	&figure_timeline,
	&figure_time_spent,
	NULL,
};

const struct figure *figure_find(const char *name, size_t n)
{
	for (size_t i = 0; report_figures[i]; i++)
		if (strlen(report_figures[i]->name) == n &&
		    strncmp(report_figures[i]->name, name, n) == 0)
			return report_figures[i];
	return NULL;
}

char *figure_format_filename(const struct figure *f, const char *kind,
			     char out[FIGURE_FILENAME_LEN])
{
	snprintf(out, FIGURE_FILENAME_LEN, "%s.%s", f->name, kind);
	return out;
}

static bool is_figure_requested(const struct figure *f, const char *wanted)
{
	for (const char *w = wanted; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL)
		if (figure_find(w, strcspn(w, ",")) == f)
			return true;
	return !wanted && !f->only_on_request;
}

/* Fails if a name in the list is not a figure. */
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

void figure_render(const struct report_data *r, const struct figure *f, struct rendered_figure *p)
{
	const struct figure_output *look = &r->figure_output;
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
	struct figure_draft draft = { 0 };
	struct dp_err err = { 0 };
	int code = f->make(r, &draft, &err);

	*p = (struct rendered_figure){ .figure = f, .has_nothing_to_show = code == DP_E_NOT_FOUND };
	if (code == DP_OK) {
		p->caption = draft.caption;
		p->is_wide = plot_is_wide(draft.plot);
		p->is_single_row = plot_is_single_row(draft.plot);
		plot_id(draft.plot, f->name);
		if (look->no_title)
			plot_hide_title(draft.plot);
		if (look->width_mm > 0)
			plot_set_print_width(draft.plot, look->width_mm / 25.4 * 96);
		for (size_t i = 0; code == DP_OK && i < DP_COUNT(forms); i++)
			if (forms[i].wanted)
				code = plot_render(draft.plot, forms[i].form, forms[i].bytes, &err);
		plot_csv(draft.plot, &p->csv);
		plot_write_alt_text(draft.plot, &p->alt);
	}
	if (code != DP_OK) {
		rendered_figure_free(p);
		snprintf(p->reason, sizeof p->reason, "%.299s", err.msg);
	}
	plot_free(draft.plot);
	arena_free(&draft.mem);
}

/* Whether the figure shows models that are not trusted. A sentence replaces it. */
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
		const struct figure *f = report_figures[i];
		bool only_times = f == &figure_timeline || f == &figure_time_spent;

		if (!is_figure_requested(f, wanted) || (r->groups && !wanted && !f->for_groups) ||
		    (only_times && !redaction_shows_times(r)))
			continue;
		figure_render(r, f, &(*out)[*n]);
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
	dp_buf_free(&p->page_svg);
	dp_buf_free(&p->png);
	dp_buf_free(&p->svg);
	dp_buf_free(&p->pdf);
	dp_buf_free(&p->csv);
	dp_buf_free(&p->alt);
	dp_buf_free(&p->caption);
}

void rendered_figures_free(struct rendered_figure *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rendered_figure_free(&p[i]);
	free(p);
}
