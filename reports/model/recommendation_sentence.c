/* recommendation_sentence.c - the recommendation in sentences. */
#include "reports/model/report_model.h"

#include <math.h>
#include <string.h>

double choice_display_error(const struct report_choice *c)
{
	double error = (c->high - c->low) / 2;

	return error > 0 ? error : 2 * c->std_error;
}

const json_t *choice_reevaluation(const struct report_choice *c)
{
	const json_t *again = get_json(c->point, "remeasured");

	return again && get_count(again, "runs") > 1 ? again : NULL;
}

/* The cost of a point: epsilon rounded up, else digits by its standard error. */
static const char *format_choice_cost(const json_t *x, const struct report_choice *c,
				      char out[FORMAT_LEN])
{
	const json_t *runs = json_object_get(get_json(c->point, "runs"), get_text(x, "name"));

	return format_objective_value(x, c->cost, runs ? 2 * get_number(runs, "standard_error") : 0,
				      out);
}

/* "At epsilon 0.42 the error is 15.5 % (95 %: 15.0 to 16.0, by the models; observed 15.6 %)." */
static void append_recommended(struct dp_buf *out, const json_t *x, const json_t *y,
			       const struct report_choice *c)
{
	double error = choice_display_error(c);
	const char *name = get_text(y, "name");
	const json_t *again = choice_reevaluation(c);
	char a[FORMAT_LEN], b[FORMAT_LEN], v[FORMAT_LEN];

	dp_buf_printf(out, "At %s %s the %s is %s", get_text(x, "name"),
		      format_choice_cost(x, c, a), name,
		      format_objective_value(y, c->value, error, b));
	if (c->source) {
		double observed = get_number(get_json(c->point, "objectives"), name);

		dp_buf_printf(out, " (95 %%: %s to %s, by the %s",
			      format_objective_number(y, c->low, error, a),
			      format_objective_number(y, c->high, error, b), c->source);
		if (strcmp(format_objective_value(y, observed, error, a),
			   format_objective_value(y, c->value, error, b)) != 0)
			dp_buf_printf(out, "; observed %s", a);
		dp_buf_putc(out, ')');
	}
	dp_buf_printf(out, "%s%s.",
		      c->no_better ? ", no better than always guessing the commonest class" : "",
		      c->meaningless ? ", but such an epsilon is no meaningful guarantee" : "");
	if (again) {
		double low = optional_number(get_json(again, "low"), name);
		double high = optional_number(get_json(again, "high"), name);

		error = (high - low) / 2;
		dp_buf_printf(out, " Measured again it is %s (%s to %s).",
			      format_objective_value(
				      y, get_number(get_json(again, "objectives"), name), error, v),
			      format_objective_number(y, low, error, a),
			      format_objective_number(y, high, error, b));
	}
}

/* Names the noise that can explain the difference, if any. */
static void append_resolution(struct dp_buf *out, const struct report_model *report,
			      const json_t *y, const struct report_utility_gain *step)
{
	bool runs = step->gain <= step->noise, test = step->gain <= step->sampling;
	double unit = get_bool(y, "share") ? 100 : 1;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (runs)
		dp_buf_printf(out, ", less than the %s can resolve (%s)",
			      get_count(get_json(report->json, "optimism"), "runs") == 1 ? "models"
											 : "runs",
			      format_error(unit * step->noise, a));
	if (test)
		dp_buf_printf(out, "%s less than %.0f test records can (%s)", runs ? " and" : ",",
			      step->records, format_error(unit * step->sampling, b));
	if (!runs && !test)
		dp_buf_puts(out, isnan(step->noise) ? "; whether that is luck is not known"
						    : ", more than the noise");
}

/* "Going up to epsilon 10 buys 0.3 percentage points, less than ..." */
static void append_higher_cost(struct dp_buf *out, const struct report_model *report,
			       const struct report_recommendation *r, const json_t *x,
			       const json_t *y)
{
	bool maximize = strcmp(get_text(x, "goal"), "maximize") == 0;
	const struct report_choice *from = r->recommended, *to = r->best_utility;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	format_choice_cost(x, to, a);
	/* with three objectives the knee may cost more */
	if (maximize ? from->cost < to->cost : from->cost > to->cost) {
		dp_buf_printf(out, " At %s %s it is %s.", get_text(x, "name"), a,
			      format_objective_value(y, to->value, choice_display_error(to), b));
		return;
	}
	dp_buf_printf(out, " Going %sto %s %s buys ", maximize ? "down " : "up ",
		      get_text(x, "name"), a);
	if (r->gain_to_best.gain <= 0) {
		dp_buf_puts(out, "nothing.");
		return;
	}
	dp_buf_puts(out, format_objective_difference(y, r->gain_to_best.gain, 0, b));
	append_resolution(out, report, y, &r->gain_to_best);
	dp_buf_putc(out, '.');
}

/* The recommended point is the best one: say what a cheaper one loses. */
static void append_lower_cost(struct dp_buf *out, const struct report_model *report,
			      const struct report_recommendation *r, const json_t *x,
			      const json_t *y)
{
	const struct report_choice *from = r->cheaper_equivalent;
	char a[FORMAT_LEN], b[FORMAT_LEN], by[FORMAT_LEN];

	if (strcmp(get_text(x, "kind"), "privacy") == 0)
		dp_buf_printf(out, " No larger %s%s%s that was tested is better.",
			      get_text(x, "name"), r->best_over_limit ? " up to " : "",
			      r->best_over_limit ? format_objective_value(x, r->max_cost, 0, a)
						 : "");
	if (!from || !(r->gain_from_cheaper.gain > 0))
		return;
	dp_buf_printf(out, " At %s %s it is %s already: %s apart", get_text(x, "name"),
		      format_choice_cost(x, from, a),
		      format_objective_value(y, from->value, choice_display_error(from), b),
		      format_objective_difference(y, r->gain_from_cheaper.gain, 0, by));
	append_resolution(out, report, y, &r->gain_from_cheaper);
	dp_buf_putc(out, '.');
}

/* Why a better point above the cost limit is not recommended. */
static void append_over_limit(struct dp_buf *out, const struct report_recommendation *r,
			      const json_t *x, const json_t *y)
{
	const struct report_choice *c = r->best_over_limit;
	char a[FORMAT_LEN], b[FORMAT_LEN], limit[FORMAT_LEN];

	dp_buf_printf(out, " Beyond %s %s%s the best is %s, at %s %s%s.", get_text(x, "name"),
		      format_objective_value(x, r->max_cost, 0, limit),
		      r->max_cost == get_number(x, "anti_ideal") ? ", the anti-ideal," : "",
		      format_objective_value(y, c->value, choice_display_error(c), a),
		      get_text(x, "name"), format_choice_cost(x, c, b),
		      c->meaningless ? ": no meaningful guarantee" : "");
}

/* The baselines of the figure: majority class and non-private. */
static void append_baselines(struct dp_buf *out, const struct report_model *report,
			     const struct report_recommendation *r, const json_t *y)
{
	const json_t *majority = get_json(report->json, "majority"), *baseline;
	const json_t *baselines = get_json(report->json, "baselines");
	const json_t *trust =
		find_by_text(get_json(get_json(report->json, "optimism"), "objectives"),
			     "objective", get_text(y, "name"));
	const json_t *sampling = trust ? get_json(trust, "sampling") : NULL;
	bool maximize = strcmp(get_text(y, "goal"), "maximize") == 0;
	/* uncertainty of the difference to a baseline, from runs and test records */
	double noise = isnan(r->recommended->std_error) ? 0 : 2 * r->recommended->std_error;
	char a[FORMAT_LEN], b[FORMAT_LEN];
	size_t i;

	if ((int)report->study->y_obj != report->study->utility_obj)
		return;
	if (majority)
		dp_buf_printf(out, " Always guessing the commonest class: %s.",
			      format_objective_value(y, get_number(majority, "value"), 0, a));
	if (sampling)
		noise = fmax(noise, 2 * get_number(sampling, "error"));
	json_array_foreach (baselines, i, baseline) {
		double line = get_number(baseline, "value"), beyond = 0;

		for (size_t k = 0; k < r->nchoices; k++)
			beyond = fmax(beyond, maximize ? r->choices[k].value - line
						       : line - r->choices[k].value);

		dp_buf_printf(out, " %s: %s", get_text(baseline, "label"),
			      format_objective_value(y, line, 0, a));
		if (beyond > 0)
			dp_buf_printf(out, "; the front is better by %s, %s",
				      format_objective_difference(y, beyond, 0, b),
				      beyond <= noise ? "within the noise of runs and test set"
						      : "more than its noise: was that measured on "
							"the same records, and trained as well?");
		dp_buf_putc(out, '.');
	}
	if (json_array_size(baselines) == 0 && report->study->privacy_obj >= 0)
		dp_buf_puts(out, " Without privacy: not measured.");
}

void append_recommendation_sentence(struct dp_buf *out, const struct report_model *report,
				    const struct report_recommendation *r)
{
	const json_t *x = report_objective(report, report->study->x_obj);
	const json_t *y = report_objective(report, report->study->y_obj);
	size_t nobjectives = report->study->state->spec->nobjectives;

	append_recommended(out, x, y, r->recommended);
	if (r->has_better_utility)
		append_higher_cost(out, report, r, x, y);
	else
		append_lower_cost(out, report, r, x, y);
	if (r->best_over_limit)
		append_over_limit(out, r, x, y);
	append_baselines(out, report, r, y);
	if (r->rule == DP_POINT_KNEE)
		dp_buf_puts(out, " With one run per point the noise of the best is not known, so "
				 "this is the front's knee, where more begins to buy less.");
	if (nobjectives > 2)
		dp_buf_printf(out, " Of %zu objectives this weighs %s and %s only.", nobjectives,
			      get_text(x, "name"), get_text(y, "name"));
}
