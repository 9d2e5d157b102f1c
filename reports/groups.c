/* groups.c - the groups of a report, from its studies. */
#include "reports/groups.h"

#include <stdlib.h>
#include <string.h>

struct group_rows {
	const struct subject *s;
	double *y;
	uint32_t *trial;
	struct dp_rated of;
};

static int groups_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for the groups of a report");
}

const char *groups_by_name(enum groups_by by)
{
	static const char *const names[] = { [GROUPS_OBSERVED] = "observed",
					     [GROUPS_DENOISED] = "denoised",
					     [GROUPS_REMEASURED] = "remeasured" };

	return names[by];
}

void report_groups_free(struct groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->list && i < g->by[0].n; i++)
		free(g->list[i].of);
	for (int by = 0; by < GROUPS_BY; by++) {
		for (size_t i = 0; g->rows[by] && i < g->nstudies; i++) {
			free(g->rows[by][i].y);
			free(g->rows[by][i].trial);
		}
		free(g->rows[by]);
		dp_contest_free(&g->by[by]);
	}
	free(g->list);
	free(g);
}

/* ---- results ---- */

size_t groups_ended(const struct groups *g, size_t group, size_t member)
{
	const struct dp_rival *r = &g->by[GROUPS_OBSERVED].group[group].list[member];
	const struct dp_study_state *s = g->list[group].of[member]->s;
	size_t n = 0;

	for (uint32_t i = r->from; i < r->end && i < s->ntrials; i++)
		n += s->trials[i]->status >= DP_TRIAL_OK;
	return n;
}

const struct dp_rated *groups_rated(const struct groups *g, const struct dp_study_state *s)
{
	for (size_t i = 0; i < g->nstudies; i++)
		if (g->rows[GROUPS_OBSERVED][i].s->s->id == s->id)
			return &g->rows[GROUPS_OBSERVED][i].of;
	return NULL;
}

static bool rows_room(struct group_rows *r, const struct subject *s, size_t room)
{
	*r = (struct group_rows){
		.s = s,
		.y = malloc(room * s->s->spec->nobjectives * sizeof *r->y + 1),
		.trial = malloc(room * sizeof *r->trial + 1),
		.of = { .name = s->s->spec->name, .trials = s->s->ntrials },
	};
	r->of.y = r->y;
	r->of.trial = r->trial;
	while (r->of.ended < s->s->ntrials && s->s->trials[r->of.ended]->status >= DP_TRIAL_OK)
		r->of.ended++;
	return r->y && r->trial;
}

static void rows_add(struct group_rows *r, uint32_t trial, const double *y)
{
	const struct dp_study *spec = r->s->s->spec;

	for (size_t k = 0; k < spec->nobjectives; k++)
		r->y[r->of.n * spec->nobjectives + k] =
			(spec->objectives[k].maximize ? -1 : 1) * y[k];
	r->trial[r->of.n++] = trial;
}

static bool rows_observed(struct group_rows *r, const struct subject *s)
{
	if (!rows_room(r, s, s->npoints))
		return false;
	for (size_t i = 0; i < s->npoints; i++)
		if (dp_point_feasible(s->s, s->points[i]))
			rows_add(r, s->points[i].trial, dp_point_objectives(s->s, s->points[i]));
	return true;
}

static bool rows_denoised(struct group_rows *r, const struct subject *s)
{
	if (!rows_room(r, s, s->denoised.n))
		return false;
	for (size_t i = 0; i < s->denoised.n; i++)
		rows_add(r, subject_known(s, s->denoised.index[i]).trial,
			 s->denoised.y + i * s->s->spec->nobjectives);
	return true;
}

static bool rows_remeasured(struct group_rows *r, const struct subject *s)
{
	if (!rows_room(r, s, subject_front(s)))
		return false;
	for (size_t i = 0; i < subject_front(s); i++) {
		struct dp_point p = subject_front_point(s, i);
		struct dp_measured again;

		if (dp_point_remeasured(s->s, p, &again))
			rows_add(r, p.trial, again.objectives);
	}
	return true;
}

/* Of every study of the report, each way; what one has not is unknown of all. */
static int rate_studies(struct groups *g, const struct report *r, struct dp_err *err)
{
	static bool (*const rate[])(struct group_rows *, const struct subject *) = {
		[GROUPS_OBSERVED] = rows_observed,
		[GROUPS_DENOISED] = rows_denoised,
		[GROUPS_REMEASURED] = rows_remeasured,
	};

	g->nstudies = r->nsubjects;
	for (int by = 0; by < GROUPS_BY; by++) {
		g->rows[by] = calloc(r->nsubjects + 1, sizeof *g->rows[by]);
		g->known[by] = true;
		for (size_t i = 0; i < r->nsubjects; i++) {
			const struct subject *s = &r->subjects[i];

			if (!g->rows[by] || !rate[by](&g->rows[by][i], s))
				return groups_nomem(err);
			g->known[by] &= by == GROUPS_OBSERVED ||
					(by == GROUPS_DENOISED && s->denoised.modelled) ||
					(by == GROUPS_REMEASURED && g->rows[by][i].of.n > 0);
		}
	}
	return DP_OK;
}

/* ---- may they be compared? ---- */

static bool same_objective_for_all(const struct dp_objective *a, const struct dp_objective *b)
{
	double of_a = a->privacy ? dp_oracle_delta(a->privacy) : 0;
	double of_b = b->privacy ? dp_oracle_delta(b->privacy) : 0;

	/* as dparetoctl compare decides: a delta that is not known stands for any */
	return strcmp(a->name, b->name) == 0 && a->maximize == b->maximize &&
	       a->anti_ideal == b->anti_ideal && !(of_a < of_b || of_a > of_b);
}

static int check_comparable(const struct report *r, struct dp_err *err)
{
	const struct dp_study *first = r->subjects[0].s->spec;

	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct dp_study *other = r->subjects[i].s->spec;
		bool alike = other->nobjectives == first->nobjectives;

		if (dp_study_hides(r->subjects[i].s))
			return dp_fail(err, DP_E_INVALID,
				       "study '%s' is a private selection, of which "
				       "nothing but the result may be compared",
				       other->name);
		for (size_t k = 0; alike && k < first->nobjectives; k++)
			alike = same_objective_for_all(&first->objectives[k],
						       &other->objectives[k]);
		if (alike)
			continue;
		dp_fail(err, DP_E_INVALID,
			"'%s' and '%s' cannot be compared: their objectives, deltas or "
			"anti-ideals differ",
			first->name, other->name);
		return dp_hint(err, "groups need studies of the same measure; a report "
				    "of plain studies, without --group, shows others "
				    "beside each other");
	}
	return DP_OK;
}

/* ---- groups ---- */

static int adopt_measure(struct dp_contest *c, const struct dp_study *spec, struct dp_err *err)
{
	for (size_t k = 0; k < spec->nobjectives; k++) {
		c->objectives[k] = strdup(spec->objectives[k].name);
		if (!c->objectives[k])
			return groups_nomem(err);
		c->sign[k] = spec->objectives[k].maximize ? -1 : 1;
		c->anti_ideal[k] = spec->objectives[k].anti_ideal;
		c->nobjectives++;
	}
	return DP_OK;
}

/* The place among the subjects of the study that is named so. */
static int find_member(const struct report *r, const char *named, size_t *place, struct dp_err *err)
{
	struct dp_study_state *found = NULL;
	int code = dp_state_find(&r->state, named, &found, err);

	if (code != DP_OK)
		return code;
	for (*place = 0; *place + 1 < r->nsubjects; ++*place)
		if (r->subjects[*place].s->id == found->id)
			break;
	return DP_OK;
}

/* A member for the newest group of each contest. */
static int add_member(struct groups *g, const struct report *r, const struct dp_member *m,
		      struct dp_err *err)
{
	size_t place;
	int code = find_member(r, m->study, &place, err);

	for (int by = 0; by < GROUPS_BY && code == DP_OK; by++) {
		g->known[by] &= by == GROUPS_OBSERVED || m->size == 0;
		code = dp_contest_add(&g->by[by], &g->rows[by][place].of,
				      by == GROUPS_OBSERVED ? m->size : 0, err);
	}
	return code;
}

static int groups_add_one(struct groups *g, const struct report *r, const struct dp_members *asked,
			  struct dp_err *err)
{
	int code = DP_OK;

	for (int by = 0; by < GROUPS_BY && code == DP_OK; by++)
		code = dp_contest_group(&g->by[by], asked->name, err);
	for (size_t i = 0; i < asked->n && code == DP_OK; i++)
		code = add_member(g, r, &asked->list[i], err);
	return code;
}

/* ---- looks ---- */

/* Do two studies train the same model? */
static bool same_trainer(const struct subject *a, const struct subject *b)
{
	char *const *x = a->s->spec->trainer.argv, *const *y = b->s->spec->trainer.argv;

	for (; *x && *y; x++, y++)
		if (strcmp(*x, *y) != 0)
			return false;
	return !*x && !*y;
}

/* The study that a rival is, or is a part of: "a", "a/256#1". */
static const struct subject *rival_study(const struct groups *g, const struct dp_rival *r)
{
	size_t len = strcspn(r->name, "/");

	for (size_t i = 0; i < g->nstudies; i++) {
		const struct dp_rated *of = &g->rows[GROUPS_OBSERVED][i].of;

		if (strlen(of->name) == len && strncmp(of->name, r->name, len) == 0)
			return g->rows[GROUPS_OBSERVED][i].s;
	}
	return NULL;
}

static int find_studies_of(struct groups *g, size_t i, struct dp_err *err)
{
	const struct dp_rivals *rivals = &g->by[GROUPS_OBSERVED].group[i];
	struct group *group = &g->list[i];

	group->of = calloc(rivals->n + 1, sizeof *group->of);
	if (!group->of)
		return groups_nomem(err);
	for (size_t k = 0; k < rivals->n; k++)
		group->of[k] = rival_study(g, &rivals->list[k]);
	return DP_OK;
}

/* One method of all members, or -1. */
static int method_of(const struct groups *g, size_t i)
{
	const struct group *group = &g->list[i];

	for (size_t k = 0; k < g->by[0].group[i].n; k++)
		if (group->of[k]->s->spec->search.method != group->of[0]->s->spec->search.method)
			return -1;
	return (int)group->of[0]->s->spec->search.method;
}

/* The same trainer in all members, as in those of an earlier group? Else a new model. */
static size_t model_of(struct groups *g, size_t i)
{
	const struct group *group = &g->list[i];
	bool one = true;

	for (size_t k = 0; k < g->by[0].group[i].n; k++)
		one &= same_trainer(group->of[0], group->of[k]);
	for (size_t k = 0; one && k < i; k++)
		if (same_trainer(group->of[0], g->list[k].of[0]))
			return g->list[k].model;
	return g->nmodels++;
}

int groups_make(struct report *r, struct dp_err *err)
{
	struct groups *g = r->groups = calloc(1, sizeof *g);
	int code = g ? check_comparable(r, err) : groups_nomem(err);

	if (code == DP_OK)
		code = rate_studies(g, r, err);
	for (int by = 0; by < GROUPS_BY && code == DP_OK; by++) {
		code = adopt_measure(&g->by[by], r->subjects[0].s->spec, err);
		g->by[by].followed = by == GROUPS_REMEASURED && g->by[by].nobjectives == 2 &&
				     r->subjects[0].s->spec->objectives[0].privacy;
	}
	for (size_t i = 0; i < r->nasked && code == DP_OK; i++)
		code = groups_add_one(g, r, &r->asked[i], err);
	if (code != DP_OK)
		return code;
	g->list = calloc(g->by[0].n + 1, sizeof *g->list);
	if (!g->list)
		return groups_nomem(err);
	for (size_t i = 0; i < g->by[0].n && code == DP_OK; i++) {
		code = find_studies_of(g, i, err);
		if (code == DP_OK) {
			g->list[i].method = method_of(g, i);
			g->list[i].model = model_of(g, i);
		}
	}
	return code;
}

/* ---- from the journal ---- */

/* Plain studies before the groups that were asked for. */
static int ask_plain(struct report *r, const char *const *studies, size_t n, struct dp_err *err)
{
	struct dp_members *all = calloc(n + r->nasked + 1, sizeof *all);
	size_t have = 0;
	int code = all ? DP_OK : groups_nomem(err);

	if (code != DP_OK)
		return code;
	while (have < n && code == DP_OK) {
		code = dp_members_read(studies[have], &all[have], err);
		have++;
	}
	memcpy(all + have, r->asked, r->nasked * sizeof *all);
	free(r->asked);
	r->asked = all;
	r->nasked += have;
	return code;
}

int report_load_groups(struct report *r, const char *journal, const char *const *studies, size_t n,
		       struct dp_err *err)
{
	const char **names;
	size_t members = 0, have = 0;
	int code = ask_plain(r, studies, n, err);

	for (size_t i = 0; i < r->nasked; i++)
		members += r->asked[i].n;
	names = calloc(members + 1, sizeof *names);
	if (code == DP_OK && !names)
		code = groups_nomem(err);
	for (size_t i = 0; i < r->nasked && code == DP_OK; i++)
		for (size_t k = 0; k < r->asked[i].n; k++)
			names[have++] = r->asked[i].list[k].study;
	if (code == DP_OK)
		code = report_load(r, journal, names, have, err);
	free(names);
	return code == DP_OK ? groups_make(r, err) : code;
}
