/* fit.c - whether the models can be trusted: every result beside what the model of the
 * others says of it. */
#include "reports/figures/space_internal.h"

#include "propose/recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PANELS_MAX = 3,
	INSIDE = 0,
	OUTSIDE = 1
};

/* Results by whether they are within their intervals: observed, predicted. */
struct foretold {
	size_t n;
	double *observed, *predicted, *lo, *hi; /* (n) one block of memory */
	struct dp_point *of;                    /* (n) */
};

struct fit_data {
	const struct subject *s;
	size_t n; /* panels */
	struct fit_panel {
		size_t objective;
		struct foretold of[2]; /* INSIDE, OUTSIDE */
		double least, most;    /* of what is observed and predicted */
	} panel[PANELS_MAX];
};

static bool foretold_room(struct foretold *f, size_t n)
{
	f->observed = malloc(4 * n * sizeof *f->observed + 1);
	f->of = malloc(n * sizeof *f->of + 1);
	if (!f->observed || !f->of)
		return false;
	f->predicted = f->observed + n;
	f->lo = f->predicted + n;
	f->hi = f->lo + n;
	return true;
}

static void add_foretold(const struct subject *s, struct fit_panel *p, const struct dp_left_out *r)
{
	bool inside = fabs(r->z - r->predicted.mean) <= 1.959964 * r->predicted.sd;
	struct foretold *f = &p->of[inside ? INSIDE : OUTSIDE];

	if (!isfinite(r->observed) || !isfinite(r->predicted.value))
		return;
	f->of[f->n] = subject_known(s, r->known);
	f->observed[f->n] = r->observed;
	f->predicted[f->n] = r->predicted.value;
	f->lo[f->n] = r->predicted.lo;
	f->hi[f->n++] = r->predicted.hi;
	p->least = fmin(p->least, fmin(r->observed, r->predicted.value));
	p->most = fmax(p->most, fmax(r->observed, r->predicted.value));
}

static int gather_foretold(const struct subject *s, struct fit_panel *p, struct dp_err *err)
{
	struct dp_left_out *all = calloc(s->history.n + 1, sizeof *all);
	size_t n = 0;
	int code =
		all ? dp_surrogate_left_out(s->models, p->objective, all, &n, err) : fig_nomem(err);

	p->least = INFINITY;
	p->most = -INFINITY;
	if (code == DP_OK &&
	    (!foretold_room(&p->of[INSIDE], n) || !foretold_room(&p->of[OUTSIDE], n)))
		code = fig_nomem(err);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		add_foretold(s, p, &all[i]);
	free(all);
	return code;
}

static int fit_gather(const struct report *r, void *data, const char **why, struct dp_err *err)
{
	struct fit_data *d = data;
	int code = DP_OK;

	d->s = fig_first(r, why);
	if (!d->s)
		return DP_OK;
	for (size_t k = 0; d->s->models && k < d->s->s->spec->nobjectives; k++)
		if (d->s->fit[k].results && d->n < PANELS_MAX)
			d->panel[d->n++].objective = k;
	if (d->n == 0)
		*why = "there are no models";
	for (size_t i = 0; i < d->n && code == DP_OK; i++)
		code = gather_foretold(d->s, &d->panel[i], err);
	return code;
}

static void fit_release(void *data)
{
	struct fit_data *d = data;

	for (size_t i = 0; i < d->n; i++) {
		for (int k = INSIDE; k <= OUTSIDE; k++) {
			free(d->panel[i].of[k].observed);
			free(d->panel[i].of[k].of);
		}
	}
}

/* ---- the picture ---- */

static void draw_foretold(struct plot_panel *a, const struct subject *s, const struct foretold *f,
			  size_t all, const struct plot_style *dots, const char *name)
{
	struct plot_style bars = {
		.colour = dots->colour, .width = 1, .size = 1, .opacity = all > 100 ? 0.2 : 0.4
	};

	panel_bars(a, &bars, NULL, f->observed, f->lo, f->hi, f->n);
	panel_points(a, dots, name, f->observed, f->predicted, f->n);
	fig_tips(a, s, &(struct fig_points){ .of = f->of, .n = f->n }, FIG_TIP_ELSEWHERE);
}

static void draw_fit(struct plot_panel *a, const struct subject *s, const struct fit_panel *p)
{
	const struct dp_objective *o = &s->s->spec->objectives[p->objective];
	const struct foretold *in = &p->of[INSIDE], *out = &p->of[OUTSIDE];
	bool by_log = p->least > 0 &&
		      (o->privacy || (o->transform == DP_TRANSFORM_LOG && p->most > 10 * p->least));
	enum plot_scale scale = by_log ? PLOT_LOG : PLOT_LINEAR;
	size_t all = in->n + out->n;
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
	panel_title(a, panel_words(a, &label));
	dp_buf_free(&label);
	panel_axis(a, PLOT_X, "observed", scale);
	panel_axis(a, PLOT_Y, "predicted without it", scale);
	panel_line(a, &line, "as observed", ends, ends, 2);
	draw_foretold(a, s, in, all, &blue, "within its 95 % interval");
	draw_foretold(a, s, out, all, &red, "outside");
}

static struct plot *fit_draw(const void *data)
{
	const struct fit_data *d = data;
	struct plot *p =
		fig_new(d->s, figure_fit.title, d->n == 1 ? FIG_WIDTH : (int)d->n * 460, 430);

	plot_grid(p, 1, (int)d->n);
	for (int i = 0; i < (int)d->n; i++)
		draw_fit(plot_panel(p, 0, i), d->s, &d->panel[i]);
	return p;
}

/* ---- in words ---- */

static void say_fit(const struct subject *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	const struct model_fit *fit = &s->fit[objective];
	char text[FIG_TEXT_LEN];

	dp_buf_printf(out,
		      " Of %s %.0f %% are within theirs, where 95 %% should be; the "
		      "model explains %.0f %% of what varies",
		      o->name, 100 * fit->coverage, 100 * fmax(fit->explained, 0));
	/* over decades it would be that of the largest values alone */
	if (o->transform != DP_TRANSFORM_LOG)
		dp_buf_printf(out, " and is off by %s (root mean square)",
			      fig_difference(s, objective, fit->error, text));
	dp_buf_putc(out, '.');
}

static void fit_caption(const void *data, struct dp_buf *out)
{
	const struct fit_data *d = data;
	const struct model_fit *doubtful = subject_distrust(d->s);

	dp_buf_puts(out, "Each of ");
	fig_count(out, d->s->fit[d->panel[0].objective].results, "result");
	dp_buf_puts(out, ", left out once, against what the model of all others says of "
			 "it; bars are 95 % intervals of a result.");
	for (size_t i = 0; i < d->n; i++)
		say_fit(d->s, d->panel[i].objective, out);
	if (subject_walks(d->s))
		dp_buf_puts(out, " Of a training with waypoints the others stay in, "
				 "which makes it easier.");
	if (doubtful)
		dp_buf_printf(out, " What the models believe is not shown: %s.", doubtful->why);
}

const struct figure figure_fit = {
	.name = "fit",
	.title = "How far to trust the models",
	.chapter = FIGURE_OF_MODELS,
	.size = sizeof(struct fit_data),
	.gather = fit_gather,
	.draw = fit_draw,
	.caption = fit_caption,
	.release = fit_release,
};
