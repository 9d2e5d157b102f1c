/* figure_style.c - titles, labels, numbers and colours of the figures. */
#include "reports/model/report_model.h"
#include "reports/figures/common/figures_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	OUTLINED_POINTS_MAX = 60 /* that are told apart */
};

int fig_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for a figure");
}

const struct study_data *fig_main_study(const struct report_data *r, const char **why)
{
	if (r->nstudies)
		return &r->studies[0];
	*why = "the report has no study";
	return NULL;
}

struct plot *fig_new(const struct study_data *s, const char *title, int width, int height)
{
	char name[FIG_STUDY_NAME_LEN], text[FIG_STUDY_NAME_LEN + 100];

	snprintf(text, sizeof text, "%s%s%s", title, s ? " · " : "",
		 s ? fig_format_study_name(s, name) : "");
	return plot_new(width, height, text);
}

void fig_label(const struct study_data *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	double delta = o->privacy ? dp_accounting_delta(o->privacy) : 0;
	char text[FIG_NUMBER_LEN];

	if (!o->privacy)
		study_data_objective_label(s, objective, out);
	else if (delta > 0)
		dp_buf_printf(out, "ε (δ = %s)", fig_number(delta, text));
	else
		dp_buf_puts(out, "ε");
}

void fig_axis(struct plot_panel *a, enum plot_side side, const struct study_data *s,
	      size_t objective, enum plot_scale scale)
{
	struct dp_buf label = DP_BUF_INIT;

	fig_label(s, objective, &label);
	panel_axis(a, side, panel_buf_text(a, &label), scale);
	dp_buf_free(&label);
}

enum plot_scale fig_scale(const double *v, size_t n)
{
	double lo = INFINITY, hi = 0;
	size_t finite = 0, low = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		if (v[i] <= 0)
			return PLOT_LINEAR;
		lo = fmin(lo, v[i]);
		hi = fmax(hi, v[i]);
		finite++;
	}
	for (size_t i = 0; i < n; i++)
		low += v[i] < hi / 5;
	return hi > 100 * lo && 2 * low >= finite ? PLOT_LOG : PLOT_LINEAR;
}

enum plot_scale fig_objective_scale(const struct study_data *s, size_t objective, const double *v,
				    size_t n)
{
	bool finite = false;

	if (!s->state->spec->objectives[objective].privacy)
		return fig_scale(v, n);
	for (size_t i = 0; i < n; i++) {
		if (v[i] <= 0)
			return PLOT_LINEAR;
		finite |= isfinite(v[i]);
	}
	return finite ? PLOT_LOG : PLOT_LINEAR;
}

/* "3.2e-07" to "3.2e-7", "2.5e+09" to "2.5e9". */
static void tidy_exponent(char *text)
{
	char *to = strchr(text, 'e'), *from;

	if (!to)
		return;
	from = ++to;
	if (*from == '-')
		to++;
	from++;
	while (*from == '0')
		from++;
	memmove(to, from, strlen(from) + 1);
}

char *fig_number(double v, char out[FIG_NUMBER_LEN])
{
	double size = fabs(v);

	if (size >= 999.5 && size < 1e6)
		snprintf(out, FIG_NUMBER_LEN, "%.0f", v);
	else if (size < 1e-4)
		snprintf(out, FIG_NUMBER_LEN, "%.2g", v);
	else
		snprintf(out, FIG_NUMBER_LEN, "%.3g", v);
	tidy_exponent(out);
	return out;
}

/* Never below what it is. */
static void epsilon_text(double v, char out[FIG_NUMBER_LEN])
{
	char number[DP_NUM_LEN];

	snprintf(out, FIG_NUMBER_LEN, "ε %s", number_format_rounded_up(v, 3, number));
	tidy_exponent(out);
}

char *fig_value(const struct study_data *s, size_t objective, double v, char out[FIG_NUMBER_LEN])
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];

	if (o->privacy)
		epsilon_text(v, out);
	else if (study_data_is_percent(s, objective) && v <= 1 &&
		 (v >= 0.0005 || v == 0)) /* a share */
		snprintf(out, FIG_NUMBER_LEN, "%.1f %%", 100 * v);
	else
		fig_number(v, out);
	return out;
}

/* "0.0012", "3.4", "56" */
static char *two_digits(double v, char out[FIG_NUMBER_LEN])
{
	snprintf(out, FIG_NUMBER_LEN, fabs(v) >= 9.95 ? "%.0f" : "%.2g", v);
	tidy_exponent(out);
	return out;
}

char *fig_percent(double share, char out[FIG_NUMBER_LEN])
{
	return two_digits(100 * share, out);
}

char *fig_difference(const struct study_data *s, size_t objective, double v,
		     char out[FIG_NUMBER_LEN])
{
	bool share = study_data_is_percent(s, objective);
	char number[FIG_NUMBER_LEN];

	two_digits(share ? 100 * v : v, number);
	snprintf(out, FIG_NUMBER_LEN, "%.24s%s", number, share ? " percentage points" : "");
	return out;
}

void fig_append_value(const struct study_data *s, size_t objective, double v, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	char text[FIG_NUMBER_LEN];

	if (!o->privacy)
		dp_buf_printf(out, "%s ", o->name);
	dp_buf_puts(out, fig_value(s, objective, v, text));
	if (o->privacy && v > REPORT_MAX_MEANINGFUL_EPSILON)
		dp_buf_puts(out, ", no meaningful guarantee");
}

char *fig_format_study_name(const struct study_data *s, char out[FIG_STUDY_NAME_LEN])
{
	enum {
		SHOWN = 36,
		TAIL = 14
	};
	const char *name = study_data_name(s), *tail = name + strlen(name);
	int head = SHOWN - TAIL - 1;

	if (tail - name <= SHOWN) {
		snprintf(out, FIG_STUDY_NAME_LEN, "%s", name);
		return out;
	}
	/* a label may have characters of several bytes */
	for (tail -= TAIL; (*tail & 0xc0) == 0x80; tail++)
		;
	while (head > 0 && (name[head] & 0xc0) == 0x80)
		head--;
	snprintf(out, FIG_STUDY_NAME_LEN, "%.*s…%s", head, name, tail);
	return out;
}

double fig_marker_size(size_t points)
{
	return points > OUTLINED_POINTS_MAX ? 4.5 : points > 30 ? 5.5 : 7;
}

bool fig_outlined(size_t points)
{
	return points <= OUTLINED_POINTS_MAX;
}

struct plot_style fig_dots(plot_colour colour, size_t points)
{
	return (struct plot_style){
		.colour = colour,
		.size = fig_marker_size(points),
		.outline = fig_outlined(points),
	};
}

struct plot_style fig_faint_dot_style(plot_colour colour, size_t points)
{
	bool many = points > 2000;

	return (struct plot_style){
		.colour = colour,
		.size = many ? 3 : 5,
		.opacity = many ? 0.25 : 0.5,
	};
}

struct plot_style fig_style(size_t i)
{
	/* vermillion is kept for what failed, yellow is too pale for lines */
	static const unsigned roles[] = { PLOT_BLUE,   PLOT_ORANGE, PLOT_GREEN,
					  PLOT_PURPLE, PLOT_SKY,    PLOT_BLACK };
	static const enum plot_dash dashes[] = { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED };

	return (struct plot_style){
		.colour = plot_palette(roles[i % DP_COUNT(roles)]),
		.dash = dashes[i / DP_COUNT(roles) % DP_COUNT(dashes)],
	};
}

enum plot_marker fig_marker(size_t i)
{
	static const enum plot_marker markers[] = { PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE,
						    PLOT_DIAMOND };

	return markers[i % DP_COUNT(markers)];
}

void fig_append_front_name(const struct study_data *s, struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;

	dp_buf_puts(out, "of the front");
	if (spec->nobjectives > 2)
		dp_buf_printf(out, " of %s and %s alone", spec->objectives[s->x_obj].name,
			      spec->objectives[s->y_obj].name);
}

void fig_count(struct dp_buf *out, size_t n, const char *thing)
{
	char text[DP_PLURAL_LEN];

	dp_buf_puts(out, dp_plural_text(n, thing, text));
}

void fig_count_results(struct dp_buf *out, const struct study_data *s)
{
	if (study_data_has_checkpoints(s)) {
		fig_count(out, s->npoints, "result");
		dp_buf_puts(out, " of ");
		fig_count(out, study_data_count_trials(s), "evaluation");
	} else {
		fig_count(out, s->npoints, "evaluation");
	}
}
