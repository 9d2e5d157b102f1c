/* recommendation.c - the points that a report proposes, and what more epsilon buys. */
#include "reports/model/report_model.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *source_name(enum estimate_source source)
{
	return source == ESTIMATE_SMOOTHED ? "models" : source == ESTIMATE_RUNS ? "runs" : NULL;
}

/* Is the value better than that of the commonest class by more than its noise? */
static bool choice_beats_majority(const struct study_data *s, const struct report_choice *c,
				  double majority)
{
	double by = s->state->spec->objectives[s->y_obj].maximize ? c->value - majority
								  : majority - c->value;

	return by > 2 * (isnan(c->std_error) ? 0 : c->std_error);
}

static struct report_choice make_choice(const struct study_data *s, struct report_model *report,
					const char *name, size_t i, const struct estimate *known)
{
	const struct report_point *p = &report->front[i];
	struct report_choice c = {
		.name = name,
		.point = p,
		.trial = p->trial,
		.at = p->at,
		.cost = p->objectives[s->x_obj].value,
		.value = known->value,
		.low = known->low,
		.high = known->high,
		.source = source_name(known->source),
		.std_error = study_data_front_std_error(s, i, s->y_obj),
		.command = format_retrain_command(s, report, p),
	};

	c.no_better = report->majority && s->y_obj == (size_t)s->utility_obj &&
		      !choice_beats_majority(s, &c, report->majority->value);
	c.meaningless = s->state->spec->objectives[s->x_obj].privacy &&
			c.cost > REPORT_MAX_MEANINGFUL_EPSILON;
	return c;
}

static void add_choice(const struct study_data *s, struct report_model *report, const char *name,
		       size_t i, const struct estimate *known)
{
	struct report_recommendation *r = report->recommendation;

	if (r->choices && i != SIZE_MAX)
		r->choices[r->nchoices++] = make_choice(s, report, name, i, &known[i]);
}

static const struct report_choice *choice_named(const struct report_recommendation *r,
						const char *name)
{
	for (size_t i = 0; i < r->nchoices; i++)
		if (strcmp(r->choices[i].name, name) == 0)
			return &r->choices[i];
	return NULL;
}

/* The sampling error of the objective that is bought; NULL: it is no share of records. */
static const struct report_sampling_error *find_sampling_error(const struct study_data *s,
							       const struct report_model *report)
{
	for (size_t i = 0; i < report->optimism.nobjectives; i++) {
		const struct report_utility_trust *t = &report->optimism.objectives[i];

		if (strcmp(t->objective, report->objectives[s->y_obj].name) == 0 &&
		    report->objectives[s->y_obj].share)
			return t->sampling;
	}
	return NULL;
}

/* What b has over a, and what of that can be seen. */
static struct report_utility_gain compute_utility_gain(const struct study_data *s,
						       const struct report_model *report,
						       const struct report_choice *a,
						       const struct report_choice *b)
{
	const struct report_sampling_error *sampling = find_sampling_error(s, report);
	bool up = s->state->spec->objectives[s->y_obj].maximize;
	struct report_utility_gain step = {
		.gain = up ? b->value - a->value : a->value - b->value,
		.noise = 2 * hypot(a->std_error, b->std_error),
		.sampling = sampling ? 2 * sampling->error : NAN,
		.records = sampling ? sampling->records : NAN,
	};

	step.resolved = step.gain > 0 && !isnan(step.noise) && step.gain > step.noise &&
			!(step.gain <= step.sampling);
	return step;
}

/* Two standard errors of the difference to a point as noisy as that: a noisier one may be
 * no worse, but is not known to be as good. */
static double min_resolved_gain(const struct report_choice *c, double noise)
{
	return fmin(noise, 2 * hypot(c->std_error, c->std_error));
}

/* The least price whose difference from what is taken the runs cannot show. */
static void find_cheaper_equivalent(const struct study_data *s, struct report_model *report,
				    const struct estimate *known)
{
	struct report_recommendation *r = report->recommendation;
	double sign = s->state->spec->objectives[s->x_obj].maximize ? -1 : 1;
	double least = sign * r->recommended->cost;

	for (size_t i = 0; i < report->nfront; i++) {
		struct report_choice c;
		struct report_utility_gain step;

		if (!(sign * report->front[i].objectives[s->x_obj].value < least))
			continue;
		c = make_choice(s, report, "enough", i, &known[i]);
		step = compute_utility_gain(s, report, &c, r->recommended);
		if (!(step.gain <= min_resolved_gain(r->recommended, step.noise)))
			continue;
		least = sign * c.cost;
		r->cheaper_equivalent = report_arena_dup(&report->arena, &c, sizeof c);
		r->gain_from_cheaper = report_arena_dup(&report->arena, &step, sizeof step);
	}
}

static void find_utility_gains(const struct study_data *s, struct report_model *report,
			       const struct estimate *known)
{
	struct report_recommendation *r = report->recommendation;
	struct report_utility_gain step;

	find_cheaper_equivalent(s, report, known);
	if (!r->best_utility || r->best_utility->point == r->recommended->point)
		return;
	step = compute_utility_gain(s, report, r->recommended, r->best_utility);
	r->gain_to_best = report_arena_dup(&report->arena, &step, sizeof step);
}

/* What is better, but costs more than is taken. */
static void find_best_over_limit(const struct study_data *s, struct report_model *report, size_t i,
				 const struct estimate *known)
{
	struct report_recommendation *r = report->recommendation;
	struct report_choice c;

	if (i == SIZE_MAX || !r->best_utility)
		return;
	c = make_choice(s, report, "beyond", i, &known[i]);
	if (compute_utility_gain(s, report, r->best_utility, &c).gain > 0)
		r->best_over_limit = report_arena_dup(&report->arena, &c, sizeof c);
}

/* Where the recommended point is the loose one, too, the row before it is the least price
 * that cannot be told from it. */
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

/* The question whose answer is the same point; NULL: there is none. */
static const char *format_front_query(const struct study_data *s, const struct choices *chosen,
				      struct report_model *report)
{
	const struct dp_study *spec = s->state->spec;
	enum choice_rule rule = chosen->rule;
	struct dp_buf out = DP_BUF_INIT;
	char limit[DP_NUM_LEN];
	const char *text;

	if (rule == CHOICE_BEST || (rule == CHOICE_ONE_SE && s->x_obj != 0))
		return NULL;
	dp_buf_printf(&out, "dparetoctl front %s --%s", spec->name,
		      rule == CHOICE_KNEE ? "knee" : "one-se");
	if (rule == CHOICE_ONE_SE && s->y_obj != 1)
		dp_buf_printf(&out, " --best %s", spec->objectives[s->y_obj].name);
	if (!isnan(chosen->max_cost))
		dp_buf_printf(
			&out, " --%s %s=%s", spec->objectives[s->x_obj].maximize ? "min" : "max",
			spec->objectives[s->x_obj].name, dp_num_text(chosen->max_cost, limit));
	command_append_state_dir(&out, report->reproduce.journal);
	text = report_arena_strdup(&report->arena, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

static void build_recommendation(const struct study_data *s, struct report_model *report,
				 const struct choices *chosen, const struct estimate *known)
{
	static const char *const rules[] = { [CHOICE_NONE] = NULL,
					     [CHOICE_ONE_SE] = "one-se",
					     [CHOICE_KNEE] = "knee",
					     [CHOICE_BEST] = "best" };
	struct report_recommendation *r;
	struct dp_buf words = DP_BUF_INIT;

	r = report->recommendation = report_arena_alloc(&report->arena, 1, sizeof *r);
	if (!r)
		return;
	r->x_obj = s->x_obj;
	r->y_obj = s->y_obj;
	r->choices = report_arena_alloc(&report->arena, 4, sizeof *r->choices);
	add_choice(s, report, "strict", chosen->high_privacy, known);
	add_choice(s, report, "recommended", chosen->recommended, known);
	add_choice(s, report, "loose", chosen->best_utility, known);
	r->recommended = choice_named(r, "recommended");
	r->best_utility = choice_named(r, "loose");
	r->rule = rules[chosen->rule];
	r->query_command = format_front_query(s, chosen, report);
	r->max_cost = chosen->max_cost;
	if (r->recommended) {
		find_utility_gains(s, report, known);
		find_best_over_limit(s, report, chosen->best_over_limit, known);
		insert_cheaper_equivalent(r);
		summary_write_recommendation(report, &words);
	}
	r->sentence = report_arena_strdup(&report->arena, dp_buf_text(&words));
	dp_buf_free(&words);
}

int report_model_add_recommendation(const struct study_data *s, struct report_model *report,
				    struct dp_err *err)
{
	size_t n = study_data_front_size(s);
	struct estimate *known = dp_calloc(n + 1, sizeof *known);
	struct choices chosen;
	int code = study_data_estimate_front(s, s->y_obj, known, err);

	choices_find(s, &chosen);
	if (code == DP_OK && n > 0 && report->front)
		build_recommendation(s, report, &chosen, known);
	free(known);
	return code;
}
