/* model_fit.c - figure: observed results against leave-one-out predictions, to judge the models. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include "optimize/recommend/recommend.h"

#include <math.h>

enum {
	FIT_PANELS_MAX = 3,
	WITHIN_INTERVAL = 0,
	OUTSIDE_INTERVAL = 1
};

struct fit_panel {
	size_t objective;
	/* Predicted over observed, by WITHIN_INTERVAL and OUTSIDE_INTERVAL. */
	struct fig_band predictions[2];
	struct dp_result_id *results[2];
	double least, most; /* range of observed and predicted values */
};

static int gather_loo_predictions(struct arena *mem, const struct study_data *s,
				  struct fit_panel *p, struct dp_err *err)
{
	struct dp_loo_prediction *all = arena_calloc(mem, s->history.n, sizeof *all);
	size_t n = 0;
	int code = dp_surrogate_leave_one_out(s->surrogates, p->objective, all, &n, err);

	if (code != DP_OK)
		return code;
	p->least = INFINITY;
	p->most = -INFINITY;
	for (int k = WITHIN_INTERVAL; k <= OUTSIDE_INTERVAL; k++) {
		p->predictions[k] = fig_band_new(mem, n);
		p->results[k] = arena_calloc(mem, n, sizeof *p->results[k]);
	}
	for (size_t i = 0; i < n; i++) {
		const struct dp_loo_prediction *r = &all[i];
		bool inside = fabs(r->observed_in_model - r->predicted.model_mean) <=
			      1.959964 * r->predicted.model_sd;
		int k = inside ? WITHIN_INTERVAL : OUTSIDE_INTERVAL;

		if (!isfinite(r->observed) || !isfinite(r->predicted.value))
			continue;
		p->results[k][p->predictions[k].n] = study_data_model_result(s, r->observation);
		fig_band_add(&p->predictions[k], r->observed, r->predicted.value, r->predicted.lo,
			     r->predicted.hi);
		p->least = fmin(p->least, fmin(r->observed, r->predicted.value));
		p->most = fmax(p->most, fmax(r->observed, r->predicted.value));
	}
	return DP_OK;
}

static void draw_loo_predictions(struct plot_panel *a, const struct study_data *s,
				 const struct fit_panel *p, int which,
				 const struct plot_style *dots, const char *name)
{
	const struct fig_band *f = &p->predictions[which];
	bool many = p->predictions[0].n + p->predictions[1].n > 100;
	struct plot_style bars = {
		.colour = dots->colour, .width = 1, .size = 1, .opacity = many ? 0.2 : 0.4
	};

	panel_add_error_bars(a, &bars, NULL, f->x, f->from, f->to, f->n);
	panel_points(a, dots, name, f->x, f->mid, f->n);
	fig_add_tooltips(a, s, &(struct fig_points){ .results = p->results[which], .n = f->n },
			 FIG_TOOLTIP_OTHER_AXES);
}

static void draw_fit(struct plot_panel *a, const struct study_data *s, const struct fit_panel *p)
{
	const struct dp_objective *o = &s->state->spec->objectives[p->objective];
	bool by_log = p->least > 0 &&
		      (o->privacy || (o->transform == DP_TRANSFORM_LOG && p->most > 10 * p->least));
	enum plot_scale scale = by_log ? PLOT_LOG : PLOT_LINEAR;
	size_t all = p->predictions[0].n + p->predictions[1].n;
	struct plot_style line = { .colour = plot_palette(PLOT_GREY),
				   .width = 1.2,
				   .dash = PLOT_DASHED };
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE),
				   .size = fig_marker_size(all) };
	struct plot_style red = { .colour = plot_palette(PLOT_VERMILLION),
				  .marker = PLOT_DIAMOND,
				  .size = fig_marker_size(all) + 1 };
	struct dp_buf label = DP_BUF_INIT;
	double ends[2] = { p->least, p->most };

	fig_label(s, p->objective, &label);
	panel_title(a, dp_buf_text(&label));
	dp_buf_free(&label);
	panel_axis(a, PLOT_X, "observed", scale);
	panel_axis(a, PLOT_Y, "predicted without it", scale);
	panel_line(a, &line, "as observed", ends, ends, 2);
	draw_loo_predictions(a, s, p, WITHIN_INTERVAL, &blue, "within its 95 % interval");
	draw_loo_predictions(a, s, p, OUTSIDE_INTERVAL, &red, "outside");
}

static void append_fit_quality(const struct study_data *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	const struct surrogate_fit *fit = &s->fit[objective];
	char text[FIG_NUMBER_LEN];

	dp_buf_printf(out,
		      " Of %s %.0f %% are within theirs, where 95 %% should be; the "
		      "model explains %.0f %% of what varies",
		      o->name, 100 * fit->coverage, 100 * fmax(fit->variance_explained, 0));
	/* over decades only the largest values would count */
	if (o->transform != DP_TRANSFORM_LOG)
		dp_buf_printf(out, " and is off by %s (root mean square)",
			      fig_difference(s, objective, fit->rmse, text));
	dp_buf_putc(out, '.');
}

static int fit_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct fit_panel panels[FIT_PANELS_MAX];
	const struct surrogate_fit *doubtful;
	const struct study_data *s;
	int n = 0, code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	for (size_t k = 0; s->surrogates && k < s->state->spec->nobjectives; k++) {
		if (!s->fit[k].n_left_out || n == FIT_PANELS_MAX)
			continue;
		panels[n].objective = k;
		code = gather_loo_predictions(&f->mem, s, &panels[n++], err);
		if (code != DP_OK)
			return code;
	}
	if (n == 0)
		return fig_nothing(err, "there are no models");

	f->plot = fig_new(s, figure_fit.title, n == 1 ? FIG_WIDTH : n * 460, 430);
	plot_grid(f->plot, 1, n);
	for (int i = 0; i < n; i++)
		draw_fit(plot_panel(f->plot, 0, i), s, &panels[i]);

	dp_buf_puts(&f->caption, "Each of ");
	fig_count(&f->caption, s->fit[panels[0].objective].n_left_out, "result");
	dp_buf_puts(&f->caption, ", left out once, against what the model of all others says of "
				 "it; bars are 95 % intervals of a result.");
	for (int i = 0; i < n; i++)
		append_fit_quality(s, panels[i].objective, &f->caption);
	if (study_data_has_checkpoints(s))
		dp_buf_puts(&f->caption, " Of a training with waypoints the others stay in, "
					 "which makes it easier.");
	doubtful = study_data_find_untrusted(s);
	if (doubtful)
		dp_buf_printf(&f->caption, " What the models believe is not shown: %s.",
			      doubtful->reason);
	return DP_OK;
}

const struct figure figure_fit = {
	.name = "fit",
	.title = "How far to trust the models",
	.chapter = FIGURE_CHAPTER_SURROGATES,
	.make = fit_make,
};
