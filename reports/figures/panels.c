/* panels.c - figure: several studies on equal axes, with values attained by the best, mean and
 * worst run. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include <math.h>

enum {
	STUDY_PANELS_MAX = 9,
	STUDY_PANEL_COLUMNS = 3,
};

struct study_panel {
	const struct study_data *s;
	struct fig_points all;
	struct fig_band band;
	bool runs_differ; /* runs of a point differ */
};

struct panels_data {
	struct study_panel *list; /* (n) */
	size_t n;
	double lo[2], hi[2]; /* limits of x and y over all studies */
	enum plot_scale scale[2];
	struct fig_reference_front reference;
};

static void extend_panel_limits(struct panels_data *d, enum plot_side side, const double *v,
				size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (d->scale[side] == PLOT_LOG && v[i] <= 0)
			continue;
		d->lo[side] = fmin(d->lo[side], v[i]);
		d->hi[side] = fmax(d->hi[side], v[i]);
	}
}

/* Axes for the attained values; single points may lie outside. */
static void find_panel_axes(struct panels_data *d)
{
	for (size_t i = 0; i < d->n; i++)
		fig_widen_scales(d->scale, d->list[i].s, d->list[i].band.x, d->list[i].band.mid,
				 d->list[i].band.n);
	for (int side = PLOT_X; side <= PLOT_Y; side++) {
		d->lo[side] = INFINITY;
		d->hi[side] = -INFINITY;
	}
	for (size_t i = 0; i < d->n; i++) {
		const struct fig_band *b = &d->list[i].band;

		extend_panel_limits(d, PLOT_X, b->x, b->n);
		extend_panel_limits(d, PLOT_Y, b->from, b->n);
		extend_panel_limits(d, PLOT_Y, b->to, b->n);
	}
	for (int side = PLOT_X; side <= PLOT_Y; side++) {
		double by = 0.04 * (d->hi[side] - d->lo[side]);

		if (d->scale[side] == PLOT_LOG) {
			d->lo[side] /= 1.15;
			d->hi[side] *= 1.15;
		} else {
			d->lo[side] -= by;
			d->hi[side] += by;
		}
	}
}

static void draw_study_panel(struct plot_panel *a, const struct panels_data *d,
			     const struct study_panel *p)
{
	struct plot_style cloud = fig_faint_dot_style(plot_palette(PLOT_GREY), p->all.n);
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.3 };
	struct plot_style mean = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	const struct fig_band *b = &p->band;
	char name[FIG_STUDY_NAME_LEN];

	cloud.size = 3;
	panel_title(a, fig_format_study_name(p->s, name));
	fig_plane_axes(a, p->s, d->scale);
	panel_limits(a, PLOT_X, d->lo[PLOT_X], d->hi[PLOT_X]);
	panel_limits(a, PLOT_Y, d->lo[PLOT_Y], d->hi[PLOT_Y]);
	fig_reference_front_draw(a, &d->reference);
	panel_points(a, &cloud, "evaluated", p->all.x, p->all.y, p->all.n);
	if (p->runs_differ)
		panel_band(a, &area, "spread of the runs", b->x, b->from, b->to, b->n, false);
	panel_line(a, &mean, "front of the means", b->x, b->mid, b->n);
}

static int panels_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct panels_data d = { 0 };
	const struct study_data *first;
	char name[FIG_STUDY_NAME_LEN], value[FIG_NUMBER_LEN];
	int across, rows, code = fig_main_study(r, &first, err);
	bool walks = false;

	if (code != DP_OK)
		return code;
	d.list = arena_calloc(&f->mem, r->nstudies, sizeof *d.list);
	for (size_t i = 0; i < r->nstudies; i++) {
		struct study_panel *p = &d.list[d.n];

		if (d.n == STUDY_PANELS_MAX || !fig_same_plane(first, &r->studies[i]))
			continue;
		p->s = &r->studies[i];
		p->all = fig_collect_points(&f->mem, p->s);
		p->band = fig_compute_run_band(&f->mem, p->s);
		for (size_t k = 0; k < p->band.n; k++)
			p->runs_differ |= p->band.from[k] != p->band.to[k];
		walks |= study_data_has_checkpoints(p->s);
		d.n++;
	}
	find_panel_axes(&d);
	if (d.n < 2)
		return fig_nothing(err, "there are no two studies with the same objectives");
	if (!(d.lo[PLOT_X] <= d.hi[PLOT_X]))
		return fig_nothing(err, "no study has a point better than the anti-ideal");
	d.reference = fig_reference_front_load(&f->mem, r, d.hi[PLOT_X], NULL);

	/* 2 x 2 fills the grid */
	across = d.n == 4 ? 2 : d.n < STUDY_PANEL_COLUMNS ? (int)d.n : STUDY_PANEL_COLUMNS;
	rows = ((int)d.n + across - 1) / across;
	f->plot = fig_new(NULL, figure_panels.title, 60 + 310 * across, 80 + 290 * rows);
	plot_grid(f->plot, rows, across);
	for (size_t i = 0; i < d.n; i++)
		draw_study_panel(plot_panel(f->plot, (int)i / across, (int)i % across), &d,
				 &d.list[i]);
	if (d.n < r->nstudies)
		plot_note(f->plot, "Studies with other objectives, and more than nine, are not "
				   "shown.");

	dp_buf_printf(&f->caption,
		      "Every study on the same axes: its points, what the means of the "
		      "runs reach and, as a band, what the best and the worst runs do%s. "
		      "Best mean %s: ",
		      walks ? ", or, of trainings with waypoints, one standard deviation "
			      "better and worse"
			    : "",
		      first->state->spec->objectives[first->y_obj].name);
	for (size_t i = 0, told = 0; i < d.n; i++) {
		const struct fig_band *b = &d.list[i].band;
		bool left = fig_is_maximised(first, first->x_obj);

		if (b->n)
			dp_buf_printf(
				&f->caption, "%s%s %s", told++ ? ", " : "",
				fig_format_study_name(d.list[i].s, name),
				fig_value(first, first->y_obj, b->mid[left ? 0 : b->n - 1], value));
	}
	dp_buf_putc(&f->caption, '.');
	return DP_OK;
}

const struct figure figure_panels = {
	.name = "panels",
	.title = "Studies side by side",
	.chapter = FIGURE_CHAPTER_FRONT,
	.make = panels_make,
};
