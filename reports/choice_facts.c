/* choice_facts.c - the points that a report proposes, and what more epsilon buys. */
#include "reports/facts.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *source_name(enum estimate_source source)
{
	return source == ESTIMATE_MODELS ? "models" : source == ESTIMATE_RUNS ? "runs" : NULL;
}

/* Is the value better than that of the commonest class by more than its noise? */
static bool beats_guessing(const struct subject *s, const struct fact_choice *c, double majority)
{
	double by =
		s->s->spec->objectives[s->y].maximize ? c->value - majority : majority - c->value;

	return by > 2 * (isnan(c->error) ? 0 : c->error);
}

static struct fact_choice fact_choice_of(const struct subject *s, struct facts *f, const char *name,
					 size_t i, const struct estimate *known)
{
	const struct fact_point *p = &f->front[i];
	struct fact_choice c = {
		.name = name,
		.point = p,
		.trial = p->trial,
		.at = p->at,
		.price = p->of[s->x].value,
		.value = known->value,
		.low = known->low,
		.high = known->high,
		.source = source_name(known->source),
		.error = subject_front_error(s, i, s->y),
		.command = facts_command(s, f, p),
	};

	c.no_better = f->majority && s->y == (size_t)s->utility &&
		      !beats_guessing(s, &c, f->majority->value);
	c.meaningless = s->s->spec->objectives[s->x].privacy && c.price > FACTS_MEANINGLESS;
	return c;
}

static void add_choice(const struct subject *s, struct facts *f, const char *name, size_t i,
		       const struct estimate *known)
{
	struct fact_recommendation *r = f->recommendation;

	if (r->rows && i != SIZE_MAX)
		r->rows[r->nrows++] = fact_choice_of(s, f, name, i, &known[i]);
}

static const struct fact_choice *choice_named(const struct fact_recommendation *r, const char *name)
{
	for (size_t i = 0; i < r->nrows; i++)
		if (strcmp(r->rows[i].name, name) == 0)
			return &r->rows[i];
	return NULL;
}

/* The sampling error of the objective that is bought; NULL: it is no share of records. */
static const struct fact_sampling *bought_sampling(const struct subject *s, const struct facts *f)
{
	for (size_t i = 0; i < f->optimism.nobjectives; i++) {
		const struct fact_trust *t = &f->optimism.objectives[i];

		if (strcmp(t->objective, f->objectives[s->y].name) == 0 &&
		    f->objectives[s->y].share)
			return t->sampling;
	}
	return NULL;
}

/* What b has over a, and what of that can be seen. */
static struct fact_step step_between(const struct subject *s, const struct facts *f,
				     const struct fact_choice *a, const struct fact_choice *b)
{
	const struct fact_sampling *sampling = bought_sampling(s, f);
	bool up = s->s->spec->objectives[s->y].maximize;
	struct fact_step step = {
		.gain = up ? b->value - a->value : a->value - b->value,
		.noise = 2 * hypot(a->error, b->error),
		.sampling = sampling ? 2 * sampling->error : NAN,
		.records = sampling ? sampling->records : NAN,
	};

	step.resolved = step.gain > 0 && !isnan(step.noise) && step.gain > step.noise &&
			!(step.gain <= step.sampling);
	return step;
}

/* Two standard errors of the difference to a point as noisy as that: a noisier one may be
 * no worse, but is not known to be as good. */
static double least_resolved(const struct fact_choice *c, double noise)
{
	return fmin(noise, 2 * hypot(c->error, c->error));
}

/* The least price whose difference from what is taken the runs cannot show. */
static void find_enough(const struct subject *s, struct facts *f, const struct estimate *known)
{
	struct fact_recommendation *r = f->recommendation;
	double sign = s->s->spec->objectives[s->x].maximize ? -1 : 1;
	double least = sign * r->taken->price;

	for (size_t i = 0; i < f->nfront; i++) {
		struct fact_choice c;
		struct fact_step step;

		if (!(sign * f->front[i].of[s->x].value < least))
			continue;
		c = fact_choice_of(s, f, "enough", i, &known[i]);
		step = step_between(s, f, &c, r->taken);
		if (!(step.gain <= least_resolved(r->taken, step.noise)))
			continue;
		least = sign * c.price;
		r->enough = facts_keep(&f->memory, &c, sizeof c);
		r->from_enough = facts_keep(&f->memory, &step, sizeof step);
	}
}

static void find_steps(const struct subject *s, struct facts *f, const struct estimate *known)
{
	struct fact_recommendation *r = f->recommendation;
	struct fact_step step;

	find_enough(s, f, known);
	if (!r->loose || r->loose->point == r->taken->point)
		return;
	step = step_between(s, f, r->taken, r->loose);
	r->to_loose = facts_keep(&f->memory, &step, sizeof step);
}

/* What is better, but costs more than is taken. */
static void find_beyond(const struct subject *s, struct facts *f, size_t i,
			const struct estimate *known)
{
	struct fact_recommendation *r = f->recommendation;
	struct fact_choice c;

	if (i == SIZE_MAX || !r->loose)
		return;
	c = fact_choice_of(s, f, "beyond", i, &known[i]);
	if (step_between(s, f, r->loose, &c).gain > 0)
		r->beyond = facts_keep(&f->memory, &c, sizeof c);
}

/* Where the recommended point is the loose one, too, the row before it is the least price
 * that cannot be told from it. */
static void add_enough(struct fact_recommendation *r)
{
	size_t i = (size_t)(r->taken - r->rows);

	if (!r->enough || !r->loose || r->taken->point != r->loose->point)
		return;
	memmove(&r->rows[i + 1], &r->rows[i], (r->nrows - i) * sizeof *r->rows);
	r->rows[i] = *r->enough;
	r->nrows++;
	r->taken = choice_named(r, "recommended");
	r->loose = choice_named(r, "loose");
}

/* The question whose answer is the same point; NULL: there is none. */
static const char *find_question(const struct subject *s, const struct choices *chosen,
				 struct facts *f)
{
	const struct dp_study *spec = s->s->spec;
	enum choice_rule rule = chosen->rule;
	struct dp_buf out = DP_BUF_INIT;
	char limit[DP_NUM_LEN];
	const char *text;

	if (rule == CHOICE_BEST || (rule == CHOICE_ONE_SE && s->x != 0))
		return NULL;
	dp_buf_printf(&out, "dparetoctl front %s --%s", spec->name,
		      rule == CHOICE_KNEE ? "knee" : "one-se");
	if (rule == CHOICE_ONE_SE && s->y != 1)
		dp_buf_printf(&out, " --best %s", spec->objectives[s->y].name);
	if (!isnan(chosen->limit))
		dp_buf_printf(&out, " --%s %s=%s", spec->objectives[s->x].maximize ? "min" : "max",
			      spec->objectives[s->x].name, dp_num_text(chosen->limit, limit));
	facts_command_state(&out, f->reproduce.journal);
	f->memory.failed |= out.failed;
	text = facts_text(&f->memory, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

static void keep_choices(const struct subject *s, struct facts *f, const struct choices *chosen,
			 const struct estimate *known)
{
	static const char *const rules[] = { [CHOICE_NONE] = NULL,
					     [CHOICE_ONE_SE] = "one-se",
					     [CHOICE_KNEE] = "knee",
					     [CHOICE_BEST] = "best" };
	struct fact_recommendation *r;
	struct dp_buf words = DP_BUF_INIT;

	r = f->recommendation = facts_room(&f->memory, 1, sizeof *r);
	if (!r)
		return;
	r->x = s->x;
	r->y = s->y;
	r->rows = facts_room(&f->memory, 4, sizeof *r->rows);
	add_choice(s, f, "strict", chosen->strict, known);
	add_choice(s, f, "recommended", chosen->recommended, known);
	add_choice(s, f, "loose", chosen->loose, known);
	r->taken = choice_named(r, "recommended");
	r->loose = choice_named(r, "loose");
	r->rule = rules[chosen->rule];
	r->ask = find_question(s, chosen, f);
	r->limit = chosen->limit;
	if (r->taken) {
		find_steps(s, f, known);
		find_beyond(s, f, chosen->beyond, known);
		add_enough(r);
		say_recommendation(f, &words);
	}
	f->memory.failed |= words.failed;
	r->sentence = facts_text(&f->memory, dp_buf_text(&words));
	dp_buf_free(&words);
}

int facts_choices(const struct subject *s, struct facts *f, struct dp_err *err)
{
	size_t n = subject_front(s);
	struct estimate *known = calloc(n + 1, sizeof *known);
	struct choices chosen;
	int code = known ? subject_choose(s, &chosen, err)
			 : dp_fail(err, DP_E_NOMEM, "no memory for the report");

	if (code == DP_OK)
		code = subject_estimates(s, s->y, known, err);
	if (code == DP_OK && n > 0 && f->front)
		keep_choices(s, f, &chosen, known);
	free(known);
	return code;
}
