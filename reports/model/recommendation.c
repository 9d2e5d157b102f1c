/* recommendation.c - the points that a report proposes, and the utility gained by more epsilon. */
#include "reports/model/report_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct report_choice make_choice(const struct report_model *report, const char *name,
					size_t i, const struct estimate *known)
{
	const struct study_data *s = report->study;
	const json_t *majority = get_json(report->json, "majority");
	const char *x_name = s->state->spec->objectives[s->x_obj].name;
	json_t *point = json_array_get(get_json(report->json, "front"), i);
	struct report_choice c = {
		.name = name,
		.point = point,
		.cost = get_number(get_json(point, "objectives"), x_name),
		.value = known[i].value,
		.low = known[i].low,
		.high = known[i].high,
		.source = known[i].source == ESTIMATE_SMOOTHED ? "models"
			  : known[i].source == ESTIMATE_RUNS   ? "runs"
							       : NULL,
		.std_error = study_data_front_std_error(s, i, s->y_obj),
	};

	c.no_better = majority && s->y_obj == (size_t)s->utility_obj &&
		      !beats_majority_class(s, s->y_obj, c.value, c.std_error,
					    get_number(majority, "value"));
	c.meaningless =
		s->state->spec->objectives[s->x_obj].privacy && c.cost > DP_MAX_MEANINGFUL_EPSILON;
	return c;
}

static const struct report_choice *choice_named(const struct report_recommendation *r,
						const char *name)
{
	for (size_t i = 0; i < r->nchoices; i++)
		if (strcmp(r->choices[i].name, name) == 0)
			return &r->choices[i];
	return NULL;
}

/* The gain of b over a, and whether noise can explain it. */
static struct report_utility_gain compute_utility_gain(const struct report_model *report,
						       const struct report_choice *a,
						       const struct report_choice *b)
{
	const struct study_data *s = report->study;
	const struct dp_objective *y = &s->state->spec->objectives[s->y_obj];
	const json_t *trust = find_by_text(
		get_json(get_json(report->json, "optimism"), "objectives"), "objective", y->name);
	/* NULL: not a share of records */
	const json_t *sampling =
		trust && study_data_is_percent(s, s->y_obj) ? get_json(trust, "sampling") : NULL;
	struct report_utility_gain step = {
		.gain = y->maximize ? b->value - a->value : a->value - b->value,
		.noise = 2 * hypot(a->std_error, b->std_error),
		.sampling = sampling ? 2 * get_number(sampling, "error") : NAN,
		.records = sampling ? get_number(sampling, "records") : NAN,
	};

	step.resolved = step.gain > 0 && !isnan(step.noise) && step.gain > step.noise &&
			!(step.gain <= step.sampling);
	return step;
}

/* The cheapest point that the runs cannot distinguish from the recommended one. */
static void find_cheaper_equivalent(const struct report_model *report,
				    struct report_recommendation *r, const struct estimate *known)
{
	const struct study_data *s = report->study;
	double sign = s->state->spec->objectives[s->x_obj].maximize ? -1 : 1;
	double least = sign * r->recommended->cost, error = r->recommended->std_error;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct report_choice c = make_choice(report, "enough", i, known);
		struct report_utility_gain step = compute_utility_gain(report, &c, r->recommended);

		/* The threshold assumes a point as noisy as the recommended one: a noisier point
		 * may be no worse, but is not known to be as good. */
		if (!(sign * c.cost < least) ||
		    !(step.gain <= fmin(step.noise, 2 * hypot(error, error))))
			continue;
		least = sign * c.cost;
		r->enough = c;
		r->cheaper_equivalent = &r->enough;
		r->gain_from_cheaper = step;
	}
}

/* If the recommended point is also the best-utility point, inserts the cheaper equivalent before
 * it. */
static void insert_cheaper_equivalent(struct report_recommendation *r)
{
	size_t i = (size_t)(r->recommended - r->choices);

	if (!r->cheaper_equivalent || !r->best_utility ||
	    r->recommended->point != r->best_utility->point)
		return;
	memmove(&r->choices[i + 1], &r->choices[i], (r->nchoices - i) * sizeof *r->choices);
	r->choices[i] = *r->cheaper_equivalent;
	r->nchoices++;
	r->recommended = choice_named(r, "recommended");
	r->best_utility = choice_named(r, "loose");
}

static void find_recommendation(const struct report_model *report, struct report_recommendation *r)
{
	const struct study_data *s = report->study;
	struct estimate *known = dp_calloc(study_data_front_size(s) + 1, sizeof *known);
	struct choices chosen;

	choices_find(s, &chosen);
	study_data_estimate_front(s, s->y_obj, known);
	r->rule = chosen.rule;
	r->max_cost = chosen.max_cost;
	if (chosen.high_privacy != SIZE_MAX)
		r->choices[r->nchoices++] =
			make_choice(report, "strict", chosen.high_privacy, known);
	if (chosen.recommended != SIZE_MAX)
		r->choices[r->nchoices++] =
			make_choice(report, "recommended", chosen.recommended, known);
	if (chosen.best_utility != SIZE_MAX)
		r->choices[r->nchoices++] =
			make_choice(report, "loose", chosen.best_utility, known);
	r->recommended = choice_named(r, "recommended");
	r->best_utility = choice_named(r, "loose");
	if (r->recommended)
		find_cheaper_equivalent(report, r, known);
	if (r->recommended && r->best_utility && r->best_utility->point != r->recommended->point) {
		r->has_better_utility = true;
		r->gain_to_best = compute_utility_gain(report, r->recommended, r->best_utility);
	}
	if (r->recommended && r->best_utility && chosen.best_over_limit != SIZE_MAX) {
		r->beyond = make_choice(report, "beyond", chosen.best_over_limit, known);
		if (compute_utility_gain(report, r->best_utility, &r->beyond).gain > 0)
			r->best_over_limit = &r->beyond;
	}
	if (r->recommended)
		insert_cheaper_equivalent(r);
	free(known);
}

static json_t *choice_json(const struct report_model *report, const struct report_choice *c)
{
	static const char *const of_point[] = { "trial", "at", "parameters", "objectives" };
	struct dp_buf command = DP_BUF_INIT;
	json_t *o;

	if (!c)
		return NULL;
	o = json_object();
	put_text(o, "name", c->name);
	for (size_t i = 0; i < DP_COUNT(of_point); i++)
		json_object_set(o, of_point[i], json_object_get(c->point, of_point[i]));
	put_json(o, "interval",
		 c->source ? json_pack("{s:o, s:o, s:o, s:s}", "value", number_json(c->value),
				       "low", number_json(c->low), "high", number_json(c->high),
				       "source", c->source)
			   : NULL);
	put_bool(o, "no_better", c->no_better);
	put_bool(o, "meaningless", c->meaningless);
	append_retrain_command(&command, report, c->point);
	put_buf(o, "command", &command);
	return o;
}

static json_t *utility_gain_json(const struct report_utility_gain *gain)
{
	json_t *o = json_object();

	put_number(o, "gain", gain->gain);
	put_number(o, "noise", gain->noise);
	put_number(o, "sampling", gain->sampling);
	put_number(o, "records", gain->records);
	put_bool(o, "resolved", gain->resolved);
	return o;
}

/* Appends the `dparetoctl front` query that returns the same point; nothing if there is none. */
static void append_front_query(struct dp_buf *out, const struct report_model *report,
			       const struct report_recommendation *r)
{
	const struct study_data *s = report->study;
	const struct dp_objective *x = &s->state->spec->objectives[s->x_obj];
	char limit[DP_NUM_LEN];

	if (r->rule == DP_POINT_BEST || (r->rule == DP_POINT_ONE_SE && s->x_obj != 0))
		return;
	dp_buf_printf(out, "dparetoctl front %s --%s", s->state->spec->name,
		      r->rule == DP_POINT_KNEE ? "knee" : "one-se");
	if (r->rule == DP_POINT_ONE_SE && s->y_obj != 1)
		dp_buf_printf(out, " --best %s", s->state->spec->objectives[s->y_obj].name);
	if (!isnan(r->max_cost))
		dp_buf_printf(out, " --%s %s=%s", x->maximize ? "min" : "max", x->name,
			      dp_num_text(r->max_cost, limit));
	command_append_state_dir(out, report->data);
}

static json_t *recommendation_json(const struct report_model *report,
				   const struct report_recommendation *r)
{
	struct dp_buf query = DP_BUF_INIT, sentence = DP_BUF_INIT;
	json_t *o;

	if (!r->recommended)
		return NULL;
	o = choice_json(report, r->recommended);
	append_front_query(&query, report, r);
	put_text(o, "rule", dp_point_rule_name(r->rule));
	put_text(o, "ask", query.len ? dp_buf_text(&query) : NULL);
	put_number(o, "limit", r->max_cost);
	put_json(o, "beyond", choice_json(report, r->best_over_limit));
	put_json(o, "to_loose", r->has_better_utility ? utility_gain_json(&r->gain_to_best) : NULL);
	put_json(o, "enough", choice_json(report, r->cheaper_equivalent));
	put_json(o, "from_enough",
		 r->cheaper_equivalent ? utility_gain_json(&r->gain_from_cheaper) : NULL);
	append_recommendation_sentence(&sentence, report, r);
	put_buf(o, "sentence", &sentence);
	dp_buf_free(&query);
	return o;
}

void report_model_recommend(struct report_model *report)
{
	struct report_recommendation *r;
	json_t *rows = json_array();

	if (study_data_front_size(report->study) == 0) {
		put_json(report->json, "rows", rows);
		return;
	}
	r = report->recommendation = dp_calloc(1, sizeof *r);
	find_recommendation(report, r);
	put_json(report->json, "recommendation", recommendation_json(report, r));
	for (size_t i = 0; i < r->nchoices; i++)
		json_array_append_new(rows, choice_json(report, &r->choices[i]));
	put_json(report->json, "rows", rows);
}
