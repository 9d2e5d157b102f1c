/* facts_json.c - report.json: the facts by the names of their fields.
 *
 * A row takes its name and its kind from the field itself, so that neither can be
 * mistaken. Rows stand in the order of the file. */
#include "reports/facts.h"

#include "base/json.h"
#include "journal/view.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum fact_kind {
	KIND_NUMBER, /* double */
	KIND_COUNT,  /* int64_t */
	KIND_FLAG,   /* bool */
	KIND_TEXT,   /* const char * */
	KIND_TEXTS,  /* const char *const *, ends with NULL */
	KIND_JSON,   /* json_t *, which stays the facts' own */
	KIND_PART,   /* a struct */
	KIND_MAYBE,  /* a pointer to one, or NULL */
	KIND_LIST,   /* a pointer to several */
	KIND_MADE,   /* by a function, from the whole part */
};

struct fact_row {
	const char *name;
	enum fact_kind kind;
	bool left_out; /* where it is unknown; else it is null then */
	size_t offset;
	size_t count; /* offset of a list's length */
	const struct fact_shape *shape;
	json_t *(*make)(const void *part);
};

struct fact_shape {
	const struct fact_row *rows;
	size_t n, size;
};

#define FIELD(type, field) (((struct type *)0)->field)
#define KIND_OF(type, field)                                                             \
	_Generic(FIELD(type, field), double                                              \
		 : KIND_NUMBER, int64_t                                                  \
		 : KIND_COUNT, bool                                                      \
		 : KIND_FLAG, const char *                                               \
		 : KIND_TEXT, const char *const *                                        \
		 : KIND_TEXTS, json_t *                                                  \
		 : KIND_JSON)
#define FACT(type, field)                                                                \
	{                                                                                \
		.name = #field, .kind = KIND_OF(type, field),                            \
		.offset = offsetof(struct type, field)                                   \
	}
#define FACT_IF_KNOWN(type, field)                                                       \
	{                                                                                \
		.name = #field, .kind = KIND_OF(type, field), .left_out = true,          \
		.offset = offsetof(struct type, field)                                   \
	}
#define PART(type, field, its_shape)                                                     \
	{                                                                                \
		.name = #field, .kind = KIND_PART,                                       \
		.offset = offsetof(struct type, field), .shape = &its_shape              \
	}
#define MAYBE(type, field, its_shape)                                                    \
	{                                                                                \
		.name = #field, .kind = KIND_MAYBE,                                      \
		.offset = offsetof(struct type, field), .shape = &its_shape              \
	}
#define MAYBE_LEFT_OUT(type, field, its_shape)                                           \
	{                                                                                \
		.name = #field, .kind = KIND_MAYBE, .left_out = true,                    \
		.offset = offsetof(struct type, field), .shape = &its_shape              \
	}
#define LIST(type, field, length, its_shape)                                             \
	{                                                                                \
		.name = #field, .kind = KIND_LIST,                                       \
		.offset = offsetof(struct type, field),                                  \
		.count = offsetof(struct type, length), .shape = &its_shape              \
	}
#define MADE(its_name, function)                                                         \
	{                                                                                \
		.name = its_name, .kind = KIND_MADE, .make = function                    \
	}
#define SHAPE(type, its_rows)                                                            \
	{                                                                                \
		.rows = its_rows, .n = DP_COUNT(its_rows), .size = sizeof(struct type)   \
	}

/* ---- rows to JSON ---- */

/* A number, or null for NaN. */
static json_t *number_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

static json_t *fact_text_json(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();

	return v ? v : json_string("(a text that is not UTF-8)");
}

static json_t *texts_json(const char *const *texts)
{
	json_t *list = texts ? json_array() : json_null();

	for (size_t i = 0; texts && texts[i]; i++)
		json_array_append_new(list, fact_text_json(texts[i]));
	return list;
}

static void add_fact_rows(json_t *to, const struct fact_shape *shape, const void *part);

static json_t *part_json(const struct fact_shape *shape, const void *part)
{
	json_t *o = part ? json_object() : json_null();

	if (part)
		add_fact_rows(o, shape, part);
	return o;
}

static json_t *list_json(const struct fact_shape *shape, const char *list, size_t n)
{
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(out, part_json(shape, list + i * shape->size));
	return out;
}

/* The pointer that stands there, whatever it points to. */
static const void *pointer_at(const void *at)
{
	const void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

static json_t *row_json(const struct fact_row *row, const void *part)
{
	const void *at = (const char *)part + row->offset;
	int64_t count;

	switch (row->kind) {
	case KIND_NUMBER:
		return number_json(*(const double *)at);
	case KIND_COUNT:
		count = *(const int64_t *)at;
		return count < 0 ? json_null() : json_integer(count);
	case KIND_FLAG:
		return json_boolean(*(const bool *)at);
	case KIND_TEXT:
		return fact_text_json(*(const char *const *)at);
	case KIND_TEXTS:
		return texts_json(*(const char *const *const *)at);
	case KIND_JSON:
		return *(json_t *const *)at ? json_incref(*(json_t *const *)at)
					    : json_null();
	case KIND_PART:
		return part_json(row->shape, at);
	case KIND_MAYBE:
		return part_json(row->shape, pointer_at(at));
	case KIND_LIST:
		return list_json(row->shape, pointer_at(at),
				 *(const size_t *)((const char *)part + row->count));
	case KIND_MADE:
		return row->make(part);
	}
	return NULL;
}

static void add_fact_rows(json_t *to, const struct fact_shape *shape, const void *part)
{
	for (size_t i = 0; i < shape->n; i++) {
		json_t *v = row_json(&shape->rows[i], part);

		if (shape->rows[i].left_out && json_is_null(v))
			json_decref(v);
		else
			json_object_set_new(to, shape->rows[i].name, v);
	}
}

/* ---- points ---- */

static const struct fact_row spread_rows[] = {
	FACT(fact_spread, least),          FACT(fact_spread, mean),
	FACT(fact_spread, most),           FACT(fact_spread, sd),
	FACT(fact_spread, standard_error), FACT(fact_spread, runs),
};
static const struct fact_shape spread_shape = SHAPE(fact_spread, spread_rows);

static const struct fact_row headline_rows[] = {
	FACT(fact_headline, epsilon),
	FACT(fact_headline, trial),
	FACT_IF_KNOWN(fact_headline, spent),
	FACT_IF_KNOWN(fact_headline, value),
	MAYBE_LEFT_OUT(fact_headline, runs, spread_shape),
};
static const struct fact_shape headline_shape = SHAPE(fact_headline, headline_rows);

static json_t *headlines_json(const struct fact_headlines *h)
{
	return list_json(&headline_shape, (const char *)h->list, h->n);
}

static const struct fact_row denoised_rows[] = { FACT(fact_denoised, value),
						 FACT(fact_denoised, low),
						 FACT(fact_denoised, high) };
static const struct fact_shape denoised_shape = SHAPE(fact_denoised, denoised_rows);

static const struct fact_row check_rows[] = {
	FACT(fact_check, pld),         FACT(fact_check, rdp_improved),
	FACT(fact_check, rdp_classic), FACT(fact_check, recomputed),
	FACT(fact_check, holds),
};
static const struct fact_shape check_shape = SHAPE(fact_check, check_rows);

static json_t *point_objectives(const void *part)
{
	const struct fact_point *p = part;

	return dp_view_objectives(p->s->s, p->t->objectives);
}

static json_t *point_runs(const void *part)
{
	const struct fact_point *p = part;
	json_t *o = json_object();

	for (size_t i = 0; i < p->s->s->spec->nobjectives; i++)
		if (p->of[i].runs)
			json_object_set_new(o, p->of[i].name,
					    part_json(&spread_shape, p->of[i].runs));
	return o;
}

/* Null where there are no models. */
static json_t *point_denoised(const void *part)
{
	const struct fact_point *p = part;
	json_t *o = p->denoised ? json_object() : json_null();

	for (size_t i = 0; i < p->s->s->spec->nobjectives; i++)
		if (p->of[i].denoised)
			json_object_set_new(
				o, p->of[i].name,
				part_json(&denoised_shape, p->of[i].denoised));
	return o;
}

static json_t *point_metrics(const void *part)
{
	const struct fact_point *p = part;
	const struct dp_study_state *st = p->s->s;
	json_t *o = json_object();

	for (uint32_t i = 0; i < st->nmetrics; i++)
		json_object_set_new(o, st->metrics[i],
				    number_json(dp_trial_mean(st, p->t, (int)i)));
	return o;
}

static json_t *point_checks(const void *part)
{
	const struct fact_point *p = part;
	json_t *o = json_object();

	for (size_t i = 0; i < p->s->s->spec->nobjectives; i++)
		if (p->of[i].check)
			json_object_set_new(o, p->of[i].name,
					    part_json(&check_shape, p->of[i].check));
	return o;
}

static json_t *point_statements(const void *part)
{
	const struct fact_point *p = part;
	json_t *o = json_object();

	for (size_t i = 0; i < p->s->s->spec->nobjectives; i++)
		if (p->of[i].check)
			json_object_set_new(o, p->of[i].name,
					    fact_text_json(p->of[i].statement));
	return o;
}

static const struct fact_row point_rows[] = {
	FACT(fact_point, trial),
	FACT(fact_point, parameters),
	MADE("objectives", point_objectives),
	MADE("runs", point_runs),
	MADE("denoised", point_denoised),
	MADE("metrics", point_metrics),
	MADE("checks", point_checks),
	MADE("statements", point_statements),
};
static const struct fact_shape point_shape = SHAPE(fact_point, point_rows);

static const struct fact_row objective_rows[] = {
	FACT(fact_objective, name),   FACT(fact_objective, label),
	FACT(fact_objective, goal),   FACT(fact_objective, kind),
	FACT(fact_objective, metric), FACT(fact_objective, anti_ideal),
};
static const struct fact_shape objective_shape = SHAPE(fact_objective, objective_rows);

static json_t *best_objectives(const void *part)
{
	const struct fact_best *b = part;

	return dp_view_objectives(b->s, b->t->objectives);
}

static const struct fact_row best_rows[] = {
	FACT(fact_best, objective),
	FACT(fact_best, trial),
	MADE("objectives", best_objectives),
};
static const struct fact_shape best_shape = SHAPE(fact_best, best_rows);

/* ---- trust ---- */

static const struct fact_row shrinkage_rows[] = { FACT(fact_shrinkage, mean),
						  FACT(fact_shrinkage, most) };
static const struct fact_shape shrinkage_shape = SHAPE(fact_shrinkage, shrinkage_rows);

static const struct fact_row holdout_rows[] = { FACT(fact_holdout, metric),
						FACT(fact_holdout, of),
						FACT(fact_holdout, difference) };
static const struct fact_shape holdout_shape = SHAPE(fact_holdout, holdout_rows);

static const struct fact_row sampling_rows[] = {
	FACT(fact_sampling, share),          FACT(fact_sampling, records),
	FACT(fact_sampling, error),          FACT(fact_sampling, error_at_1000),
	FACT(fact_sampling, error_at_10000),
};
static const struct fact_shape sampling_shape = SHAPE(fact_sampling, sampling_rows);

static const struct fact_row trust_rows[] = {
	FACT(fact_trust, objective),
	FACT(fact_trust, standard_error),
	MAYBE(fact_trust, too_good_by, shrinkage_shape),
	MAYBE(fact_trust, holdout, holdout_shape),
	MAYBE(fact_trust, sampling, sampling_shape),
};
static const struct fact_shape trust_shape = SHAPE(fact_trust, trust_rows);

static const struct fact_row optimism_rows[] = {
	FACT(fact_optimism, chosen_from),
	FACT(fact_optimism, runs),
	FACT(fact_optimism, no_models),
	LIST(fact_optimism, objectives, nobjectives, trust_shape),
};
static const struct fact_shape optimism_shape = SHAPE(fact_optimism, optimism_rows);

/* ---- privacy ---- */

static json_t *total_order(const void *part)
{
	const struct fact_total *t = part;

	return t->why ? NULL : number_json(t->order);
}

static const struct fact_row total_rows[] = {
	FACT(fact_total, delta),
	FACT(fact_total, epsilon),
	FACT_IF_KNOWN(fact_total, accountant),
	MADE("order", total_order),
	FACT_IF_KNOWN(fact_total, why),
};
static const struct fact_shape total_shape = SHAPE(fact_total, total_rows);

static const struct fact_row composed_rows[] = {
	FACT(fact_composed, evaluations),
	FACT(fact_composed, trainings),
	FACT(fact_composed, attempts),
	FACT(fact_composed, not_started),
	FACT(fact_composed, imported),
	LIST(fact_composed, totals, ntotals, total_shape),
};
static const struct fact_shape composed_shape = SHAPE(fact_composed, composed_rows);

static json_t *mechanism_keys(const void *part)
{
	const struct fact_mechanism *m = part;
	json_t *keys = json_object();

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct fact_key *k = &m->keys[i];

		json_object_set_new(
			keys, k->name,
			k->parameter ? json_pack("{s:s}", "parameter", k->parameter)
			: k->word    ? json_string(k->word)
				     : number_json(k->number));
	}
	return keys;
}

static const struct fact_row mechanism_rows[] = {
	FACT(fact_mechanism, objective),
	FACT(fact_mechanism, mechanism),
	FACT(fact_mechanism, summary),
	FACT(fact_mechanism, unit),
	FACT(fact_mechanism, relation),
	FACT(fact_mechanism, sampling),
	MADE("keys", mechanism_keys),
	FACT(fact_mechanism, records),
	FACT(fact_mechanism, delta),
	FACT(fact_mechanism, delta_times_records),
	FACT(fact_mechanism, accountant),
	FACT(fact_mechanism, accountant_text),
	FACT(fact_mechanism, theorem),
	FACT(fact_mechanism, source),
	FACT(fact_mechanism, noise),
	FACT(fact_mechanism, warning),
	PART(fact_mechanism, composed, composed_shape),
};
static const struct fact_shape mechanism_shape = SHAPE(fact_mechanism, mechanism_rows);

/* ---- the study ---- */

static const struct fact_row parameter_rows[] = {
	FACT(fact_parameter, name),           FACT(fact_parameter, type),
	FACT_IF_KNOWN(fact_parameter, low),   FACT_IF_KNOWN(fact_parameter, high),
	FACT_IF_KNOWN(fact_parameter, scale), FACT_IF_KNOWN(fact_parameter, values),
};
static const struct fact_shape parameter_shape = SHAPE(fact_parameter, parameter_rows);

static const struct fact_row constraint_rows[] = { FACT(fact_constraint, metric),
						   FACT(fact_constraint, is),
						   FACT(fact_constraint, bound) };
static const struct fact_shape constraint_shape = SHAPE(fact_constraint, constraint_rows);

static const struct fact_row settings_rows[] = {
	FACT(fact_settings, method),
	FACT(fact_settings, acquisition),
	FACT(fact_settings, evaluations),
	FACT(fact_settings, parallel),
	FACT(fact_settings, order),
	FACT(fact_settings, runs),
	FACT(fact_settings, one_run_per_process),
	FACT(fact_settings, initial),
	FACT(fact_settings, initial_from),
	FACT(fact_settings, max_time),
	FACT(fact_settings, timeout),
	FACT(fact_settings, retries),
	LIST(fact_settings, parameters, nparameters, parameter_shape),
	LIST(fact_settings, constraints, nconstraints, constraint_shape),
};
static const struct fact_shape settings_shape = SHAPE(fact_settings, settings_rows);

static const struct fact_row message_rows[] = { FACT(fact_message, trial),
						FACT(fact_message, message) };
static const struct fact_shape message_shape = SHAPE(fact_message, message_rows);

static const struct fact_row failure_rows[] = {
	FACT(fact_failure, end),
	FACT(fact_failure, attempts),
	FACT(fact_failure, trials),
	LIST(fact_failure, messages, nmessages, message_shape),
};
static const struct fact_shape failure_shape = SHAPE(fact_failure, failure_rows);

static const struct fact_row failures_rows[] = {
	FACT(fact_failures, failed),
	FACT(fact_failures, diverged),
	FACT(fact_failures, attempts),
	FACT(fact_failures, messages_left_out),
	LIST(fact_failures, groups, ngroups, failure_shape),
};
static const struct fact_shape failures_shape = SHAPE(fact_failures, failures_rows);

static const struct fact_row spent_rows[] = {
	FACT(fact_spent, evaluations),      FACT(fact_spent, attempts),
	FACT(fact_spent, trainings),        FACT(fact_spent, elapsed_seconds),
	FACT(fact_spent, training_seconds), FACT(fact_spent, cpu_seconds),
	FACT(fact_spent, peak_memory),
};
static const struct fact_shape spent_shape = SHAPE(fact_spent, spent_rows);

static const struct fact_row versions_rows[] = { FACT(fact_versions, dpareto),
						 FACT(fact_versions, journal_format),
						 FACT(fact_versions, compiler) };
static const struct fact_shape versions_shape = SHAPE(fact_versions, versions_rows);

static const struct fact_row host_rows[] = { FACT(fact_host, name),
					     FACT(fact_host, system),
					     FACT(fact_host, release),
					     FACT(fact_host, machine) };
static const struct fact_shape host_shape = SHAPE(fact_host, host_rows);

static json_t *reproduce_seed(const void *part)
{
	const struct fact_reproduce *r = part;

	return r->seed ? json_integer((json_int_t)*r->seed) : json_null();
}

static const struct fact_row reproduce_rows[] = {
	FACT(fact_reproduce, study_file),
	FACT(fact_reproduce, command),
	MADE("seed", reproduce_seed),
	PART(fact_reproduce, versions, versions_shape),
	MAYBE(fact_reproduce, host, host_shape),
	FACT(fact_reproduce, path),
	FACT(fact_reproduce, journal),
	FACT(fact_reproduce, created),
	FACT(fact_reproduce, updated),
};
static const struct fact_shape reproduce_shape = SHAPE(fact_reproduce, reproduce_rows);

/* ---- all of it ---- */

static const struct fact_row baseline_rows[] = { FACT(fact_baseline, label),
						 FACT(fact_baseline, value) };
static const struct fact_shape baseline_shape = SHAPE(fact_baseline, baseline_rows);

static json_t *own_headline(const void *part)
{
	return headlines_json(&((const struct facts *)part)->study.headline);
}

/* What `run` prints of another study, and its headline. */
static json_t *compared_json(const void *part)
{
	const struct facts *f = part;
	json_t *list = json_array();

	for (size_t i = 0; i < f->ncompared; i++) {
		json_t *o = dp_view_result(f->compared[i].s);

		json_object_set_new(o, "headline",
				    headlines_json(&f->compared[i].headline));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *figures_json(const void *part)
{
	const struct facts *f = part;
	json_t *list = json_array();

	for (size_t i = 0; i < f->npictures; i++) {
		const struct picture *p = &f->pictures[i];
		char file[FIGURE_FILE_LEN];
		bool drawn = p->png.len > 0;

		figure_file(p->figure, "png", file);
		json_array_append_new(list,
				      json_pack("{s:o, s:s, s:o, s:o}", "file",
						fact_text_json(drawn ? file : NULL),
						"title", p->figure->title, "caption",
						fact_text_json(dp_buf_text(&p->caption)),
						"why_not",
						fact_text_json(drawn ? NULL : p->why)));
	}
	return list;
}

static const struct fact_row all_rows[] = {
	FACT(facts, public),
	FACT(facts, data),
	FACT(facts, budget),
	FACT(facts, privacy_objective),
	FACT(facts, utility_objective),
	LIST(facts, objectives, nobjectives, objective_shape),
	MADE("headline", own_headline),
	LIST(facts, bests, nbests, best_shape),
	LIST(facts, front, nfront, point_shape),
	LIST(facts, privacy, nprivacy, mechanism_shape),
	PART(facts, optimism, optimism_shape),
	MADE("compared", compared_json),
	LIST(facts, baselines, nbaselines, baseline_shape),
	MADE("figures", figures_json),
	PART(facts, settings, settings_shape),
	PART(facts, failures, failures_shape),
	PART(facts, spent, spent_shape),
	PART(facts, reproduce, reproduce_shape),
};
static const struct fact_shape all_shape = SHAPE(facts, all_rows);

json_t *facts_json(const struct facts *f)
{
	json_t *out = dp_view_result(f->study.s); /* what `run` prints, and more */

	if (out)
		add_fact_rows(out, &all_shape, f);
	return out;
}
