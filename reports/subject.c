/* subject.c - from the journal to the studies that a report is about. */
#include "reports/groups.h"

#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Only the records that name studies. */
static int subject_fold_created(void *arg, uint32_t study, uint32_t seq, const void *bytes,
				size_t len, struct dp_err *err)
{
	struct dp_event e = { 0 };
	int code;

	if (seq != 0)
		return DP_OK;
	code = dp_event_decode(bytes, len, &e, err);
	if (code == DP_OK) {
		e.study = study;
		code = dp_state_apply(arg, &e, err);
		dp_event_clear(&e);
	}
	/* of a study that nobody may have asked for */
	return code == DP_E_CORRUPT || code == DP_E_PROTOCOL ? DP_OK : code;
}

/* The numbers of the studies that the selectors name. */
static int find_studies(struct dp_journal *j, const char *const *studies, size_t n, uint32_t *ids,
			struct dp_err *err)
{
	struct dp_state names = { 0 };
	struct dp_study_state *found;
	int code = dp_journal_each(j, 0, subject_fold_created, &names, err);

	for (size_t i = 0; code == DP_OK && i < n; i++) {
		code = dp_state_find(&names, studies[i], &found, err);
		if (code == DP_OK)
			ids[i] = found->id;
	}
	dp_state_free(&names);
	return code;
}

/* Reads the records of the chosen studies, each once. */
static int replay_studies(struct report *r, const char *folder, const char *const *studies,
			  size_t n, uint32_t *ids, struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true };
	struct dp_journal *j;
	int code = dp_journal_open(folder, &options, &j, err);

	if (code != DP_OK)
		return code;
	code = find_studies(j, studies, n, ids, err);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		if (!dp_state_by_id(&r->state, ids[i]))
			code = dp_state_replay(&r->state, j, ids[i], err);
	dp_journal_close(j);
	return code;
}

/* ---- models ---- */

/* The front that models choose. The proposer is the caller's then. */
static int find_denoised(struct subject *s, struct dp_proposer **models, struct dp_err *err)
{
	int code = dp_results_recall(s->s, &s->results, err);

	*models = code == DP_OK ? dp_proposer_new(s->s->spec) : NULL;
	if (code == DP_OK && !*models)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (code == DP_OK)
		code = dp_denoised_find(*models, s->s->spec, &s->results, NULL, &s->denoised, err);
	s->denoises = code == DP_OK && dp_study_denoises(s->s->spec);
	return code;
}

static int fit_models(struct subject *s, struct dp_err *err)
{
	struct dp_err why;
	int code = find_denoised(s, &s->models, err);

	if (code != DP_OK)
		return code;
	s->history = (struct dp_history){ .known = s->results.known, .n = s->results.n };
	if (dp_surrogate_fit(s->models, &s->history, NULL, &why) ==
	    DP_OK) /* for the figures: they are fitted by now */
		return DP_OK;
	snprintf(s->no_models, sizeof s->no_models, "%.255s", why.msg);
	dp_proposer_free(s->models);
	s->models = NULL;
	return DP_OK;
}

/* What a study beside others needs of its models: how large its front is without the
 * noise. */
static int measure_denoised(struct subject *s, struct dp_err *err)
{
	struct dp_proposer *models = NULL;
	int code = find_denoised(s, &models, err);

	dp_proposer_free(models);
	return code;
}

size_t subject_front(const struct subject *s)
{
	return s->denoises ? s->denoised.n : s->s->nfront;
}

struct dp_point subject_known(const struct subject *s, size_t i)
{
	const struct dp_known *k = &s->results.known[i];
	const struct dp_way *way = s->s->trials[k->trial]->way;
	struct dp_point p = { k->trial, DP_OWN };

	for (uint32_t w = 0; k->at > 0 && way && w < way->n; w++)
		if (way->at[w] == k->at)
			p.way = (int32_t)w;
	return p;
}

struct dp_point subject_front_point(const struct subject *s, size_t i)
{
	return s->denoises ? subject_known(s, s->denoised.index[i]) : s->s->front[i];
}

double subject_front_value(const struct subject *s, size_t i, size_t objective)
{
	return s->denoises ? s->denoised.y[i * s->s->spec->nobjectives + objective]
			   : dp_point_objectives(s->s, s->s->front[i])[objective];
}

/* ---- subjects ---- */

bool subject_find_points(struct subject *s)
{
	s->points = dp_study_points(s->s, &s->npoints);
	if (s->points)
		subject_find_shares(s);
	return s->points != NULL;
}

static void choose_objectives(struct subject *s)
{
	const struct dp_study *spec = s->s->spec;

	s->privacy = s->utility = -1;
	for (int i = (int)spec->nobjectives; i-- > 0;)
		*(spec->objectives[i].privacy ? &s->privacy : &s->utility) = i;
	s->x = s->privacy >= 0 && s->utility >= 0 ? (size_t)s->privacy : 0;
	s->y = s->privacy >= 0 && s->utility >= 0 ? (size_t)s->utility : 1;
}

/* How much a report asks of a study's models. */
enum subject_models {
	MODELS_NONE,
	MODELS_VOLUME, /* the front that they choose */
	MODELS_ALL
};
enum {
	MODELLED_MOST = 60 /* studies; each takes a part of a second */
};

static int make_subject(struct subject *s, struct dp_study_state *state, enum subject_models models,
			struct dp_err *err)
{
	int code;

	s->s = state;
	choose_objectives(s);
	if (!subject_find_points(s))
		return dp_fail(err, DP_E_NOMEM, "no memory for a report");
	code = dp_study_front(state, err);
	if (code != DP_OK)
		return code;
	if (models != MODELS_ALL) {
		strcpy(s->no_models, "models are shown of the study alone that a report is about");
		return models == MODELS_NONE ? DP_OK : measure_denoised(s, err);
	}
	code = fit_models(s, err);
	return code == DP_OK ? subject_judge(s, err) : code;
}

/* Parts of a study have no models, and groups with parts are compared without. */
static bool has_parts(const struct report *r)
{
	for (size_t i = 0; i < r->nasked; i++)
		for (size_t k = 0; k < r->asked[i].n; k++)
			if (r->asked[i].list[k].size > 0)
				return true;
	return false;
}

/* The studies, each once. */
static int make_subjects(struct report *r, const uint32_t *ids, size_t n, struct dp_err *err)
{
	enum subject_models others =
		n <= MODELLED_MOST && !has_parts(r) ? MODELS_VOLUME : MODELS_NONE;
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < n; i++) {
		struct dp_study_state *s = dp_study_shown(dp_state_by_id(&r->state, ids[i]));
		enum subject_models models = i == 0 && r->nasked == 0 ? MODELS_ALL : others;
		bool twice = false;

		for (size_t k = 0; k < i; k++)
			twice |= ids[k] == ids[i];
		if (!twice)
			code = make_subject(&r->subjects[r->nsubjects++], s, models, err);
	}
	return code;
}

/* The study whose front stands for the true one. */
static int make_truth(struct report *r, uint32_t id, struct dp_err *err)
{
	struct dp_study_state *s = dp_study_shown(dp_state_by_id(&r->state, id));

	r->truth = calloc(1, sizeof *r->truth);
	return r->truth
		       ? make_subject(r->truth, s,
				      dp_study_denoises(s->spec) ? MODELS_VOLUME : MODELS_NONE, err)
		       : dp_fail(err, DP_E_NOMEM, "no memory for a report");
}

int report_load(struct report *r, const char *journal, const char *const *studies, size_t n,
		struct dp_err *err)
{
	size_t named = n + (r->truth_named != NULL);
	const char **names = calloc(named + 1, sizeof *names);
	uint32_t *ids = calloc(named + 1, sizeof *ids);
	int code = DP_OK;

	r->journal = journal;
	r->subjects = calloc(n + 1, sizeof *r->subjects);
	if (!names || !ids || !r->subjects)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a report");
	for (size_t i = 0; code == DP_OK && i < named; i++)
		names[i] = i < n ? studies[i] : r->truth_named;
	if (code == DP_OK)
		code = replay_studies(r, journal, names, named, ids, err);
	if (code == DP_OK)
		code = make_subjects(r, ids, n, err);
	if (code == DP_OK && r->truth_named)
		code = make_truth(r, ids[n], err);
	free(names);
	free(ids);
	return code == DP_OK ? report_apply_labels(r, err) : code;
}

const char *subject_name(const struct subject *s)
{
	return s->label ? s->label : s->s->spec->name;
}

int report_apply_labels(struct report *r, struct dp_err *err)
{
	for (size_t i = 0; i < r->nlabels; i++) {
		bool known = false;

		for (size_t k = 0; k < r->nsubjects; k++) {
			if (strcmp(r->subjects[k].s->spec->name, r->labels[i].study) != 0)
				continue;
			r->subjects[k].label = r->labels[i].label;
			known = true;
		}
		if (!known) {
			dp_fail(err, DP_E_USAGE,
				"--label names the study '%.80s', which is not in this "
				"report",
				r->labels[i].study);
			return dp_hint(err, "a label takes the whole name of a study "
					    "that the report is about or compares");
		}
	}
	return DP_OK;
}

static void subject_free(struct subject *s)
{
	free(s->points);
	dp_proposer_free(s->models);
	dp_results_free(&s->results);
	dp_denoised_free(&s->denoised);
}

void report_free(struct report *r)
{
	report_groups_free(r->groups);
	for (size_t i = 0; i < r->nasked; i++)
		dp_members_free(&r->asked[i]);
	free(r->asked);
	for (size_t i = 0; i < r->nsubjects; i++)
		subject_free(&r->subjects[i]);
	free(r->subjects);
	if (r->truth)
		subject_free(r->truth);
	free(r->truth);
	dp_state_free(&r->state);
	for (size_t i = 0; i < r->nbaselines; i++)
		free(r->baselines[i].label);
	free(r->baselines);
	for (size_t i = 0; i < r->nlabels; i++) {
		free(r->labels[i].study);
		free(r->labels[i].label);
	}
	free(r->labels);
}

/* ---- questions ---- */

size_t subject_trainings(const struct subject *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->npoints; i++)
		n += i == 0 || s->points[i].trial != s->points[i - 1].trial;
	return n;
}

void subject_label(const struct subject *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	double delta = o->privacy ? dp_oracle_delta(o->privacy) : 0;
	char text[DP_NUM_LEN];

	dp_buf_puts(out, o->name);
	if (o->privacy && delta > 0)
		dp_buf_printf(out, " (δ = %s)", dp_num_text(delta, text));
	else if (o->metric && o->one_minus)
		dp_buf_printf(out, " (1 - %s)", o->metric);
	else if (o->metric && strcmp(o->metric, o->name) != 0)
		dp_buf_printf(out, " (%s)", o->metric);
}

bool subject_walks(const struct subject *s)
{
	return s->s->spec->trainer.path.points > 0;
}

int64_t subject_point_at(const struct subject *s, struct dp_point p)
{
	return p.way == DP_OWN ? -1 : (int64_t)dp_point_at(s->s, p);
}

char *point_text(int64_t trial, int64_t at, char out[POINT_TEXT_LEN])
{
	if (at < 0)
		snprintf(out, POINT_TEXT_LEN, "%" PRId64, trial);
	else
		snprintf(out, POINT_TEXT_LEN, "%" PRId64 "@%" PRId64, trial, at);
	return out;
}

char *point_row(int64_t trial, int64_t at, char out[POINT_ROW_LEN])
{
	if (at < 0)
		snprintf(out, POINT_ROW_LEN, "trial-%" PRId64, trial);
	else
		snprintf(out, POINT_ROW_LEN, "trial-%" PRId64 "-%" PRId64, trial, at);
	return out;
}

/* The value of an objective in one run; NaN: unknown. */
static double run_value(const struct subject *s, struct dp_point p, size_t objective, uint32_t run)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	const struct dp_trial *t = s->s->trials[p.trial];
	int column = o->metric ? dp_study_metric(s->s, o->metric) : -1;

	/* with a single run it is the result */
	if (!o->metric || (p.way != DP_OWN && dp_study_told_runs(s->s->spec) == 1))
		return dp_point_objectives(s->s, p)[objective];
	if (p.way != DP_OWN || column < 0 || !t->metrics || (uint32_t)column >= t->nmetrics)
		return NAN;
	return dp_objective_metric(o, t->metrics[run * t->nmetrics + (uint32_t)column]);
}

double subject_run_sd(const struct subject *s, struct dp_point p, size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];

	return o->metric ? sqrt(dp_point_mean_variance(s->s, p, dp_study_metric(s->s, o->metric)) *
				dp_study_told_runs(s->s->spec))
			 : NAN;
}

bool subject_spread(const struct subject *s, struct dp_point p, size_t objective, double *lo,
		    double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (uint32_t i = 0; i < (uint32_t)dp_study_told_runs(s->s->spec); i++) {
		double v = run_value(s, p, objective, i);

		if (isnan(v))
			return false;
		*lo = fmin(*lo, v);
		*hi = fmax(*hi, v);
	}
	return true;
}

double subject_majority(const struct subject *s, size_t objective)
{
	const struct dp_study_state *st = s->s;
	int column = dp_study_metric(st, "majority_accuracy");
	const struct dp_objective *o = &st->spec->objectives[objective];
	double sum = 0, accuracy;
	size_t n = 0;

	for (size_t i = 0; i < s->npoints; i++) {
		double mean = dp_point_mean(st, s->points[i], column);

		if (isfinite(mean)) {
			sum += mean;
			n++;
		}
	}
	if (n == 0 || !o->metric)
		return NAN;
	accuracy = sum / (double)n;
	if (strstr(o->metric, "accuracy"))
		return dp_objective_metric(o, accuracy);
	if (strstr(o->metric, "error"))
		return dp_objective_metric(o, 1 - accuracy);
	return NAN; /* a loss or the like, which an accuracy says nothing about */
}
