/* group_facts.c - what a report of groups says. */
#include "reports/group_facts.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void group_facts_free(struct fact_groups *f)
{
	if (!f)
		return;
	for (int by = 0; by < GROUPS_BY; by++)
		dp_answer_free(&f->volumes[by]);
	dp_answers_free(&f->at);
}

/* ---- values and tests ---- */

/* Where groups are compared if nobody says where. */
static const char *usual_places(const struct report *r, struct facts_memory *m)
{
	const struct subject *s = &r->subjects[0];
	struct dp_buf text = DP_BUF_INIT;
	const char *kept;

	if (s->privacy < 0 || s->utility < 0)
		return NULL;
	dp_buf_printf(&text, "%s=0.1,1,10", s->s->spec->objectives[s->privacy].name);
	m->failed |= text.failed;
	kept = text.failed ? NULL : facts_text(m, dp_buf_text(&text));
	dp_buf_free(&text);
	return kept;
}

static int ask_groups(const struct report *r, struct fact_groups *f, struct dp_err *err)
{
	const struct dp_question volume = { .volume = true };
	const struct groups *g = r->groups;
	int code = DP_OK;

	for (int by = 0; by < GROUPS_BY && code == DP_OK; by++)
		if (g->known[by])
			code = dp_contest_ask(&g->by[by], &volume, &f->volumes[by], err);
	if (code == DP_OK && f->at_text)
		code = dp_contest_ask_at(&g->by[GROUPS_OBSERVED], f->at_text, &f->at, err);
	return code;
}

static void add_pair(struct fact_groups *f, size_t a, size_t b)
{
	struct fact_pair *p = &f->pairs[f->npairs++];

	*p = (struct fact_pair){ .a = a, .b = b };
	for (int by = 0; by < GROUPS_BY; by++)
		if (f->g->known[by])
			p->test[by] = dp_test_means(&f->volumes[by].samples[a],
						    &f->volumes[by].samples[b]);
}

static void find_pairs(struct fact_groups *f, struct facts_memory *m)
{
	size_t n = f->g->by[0].n;

	f->pairs = facts_room(m, n, sizeof *f->pairs);
	for (size_t i = 1; f->pairs && i < n; i++) {
		size_t a = 0;

		while (f->g->list[a].model != f->g->list[i].model)
			a++;
		if (a != i)
			add_pair(f, a, i);
	}
	if (f->pairs && f->npairs == 0)
		for (size_t i = 1; i < n; i++)
			add_pair(f, 0, i);
}

/* ---- members ---- */

static void find_members(struct fact_groups *f, struct facts_memory *m)
{
	const struct dp_contest *c = &f->g->by[GROUPS_OBSERVED];
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->group[i].n;
	f->members = facts_room(m, n, sizeof *f->members);
	for (size_t i = 0; f->members && i < c->n; i++)
		for (size_t k = 0; k < c->group[i].n; k++) {
			const struct dp_rival *r = &c->group[i].list[k];
			const struct dp_study_state *s = f->g->list[i].of[k]->s;
			struct fact_member *out = &f->members[f->nmembers];

			*out = (struct fact_member){
				.group = c->group[i].name,
				.name = r->name,
				.study = s->spec->name,
				.state = dp_study_status_text(s->status),
				.evaluations = (int64_t)groups_ended(f->g, i, k),
				.asked = strchr(r->name, '/') ? r->end - r->from : s->evaluations,
			};
			for (int by = 0; by < GROUPS_BY; by++)
				out->volume[by] =
					f->g->known[by] ? f->volumes[by].values[f->nmembers] : NAN;
			f->nmembers++;
		}
}

/* ---- warnings ---- */

static void warn_groups(struct fact_groups *f, struct facts_memory *m, const char *fmt, ...)
	DP_PRINTF(3, 4);
static void warn_groups(struct fact_groups *f, struct facts_memory *m, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->warnings[f->nwarnings++] = facts_text(m, text);
}

/* Studies that have not ended are compared by what they have by now. */
static void warn_unfinished(struct fact_groups *f, struct facts_memory *m)
{
	const struct fact_member *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < f->nmembers; i++)
		if (f->members[i].evaluations < f->members[i].asked) {
			first = first ? first : &f->members[i];
			n++;
		}
	if (n)
		warn_groups(f, m,
			    "%zu of %zu members have not made all their evaluations, "
			    "such as %.100s (%s, %lld of %lld): what they have by now is "
			    "compared.",
			    n, f->nmembers, first->name, first->state,
			    (long long)first->evaluations, (long long)first->asked);
}

static void warn_sizes(struct fact_groups *f, struct facts_memory *m)
{
	int64_t least = INT64_MAX, most = 0;

	for (size_t i = 0; i < f->nmembers; i++) {
		int64_t n = f->members[i].evaluations;

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	if (f->nmembers && least < most)
		warn_groups(f, m,
			    "Members have from %lld to %lld evaluations: more of them "
			    "are more chances for a large hypervolume.",
			    (long long)least, (long long)most);
}

/* The first study that stands in two groups, or NULL. */
static const char *find_shared(const struct fact_groups *f)
{
	for (size_t i = 0; i < f->nmembers; i++)
		for (size_t k = 0; k < i; k++)
			if (f->members[i].group != f->members[k].group &&
			    strcmp(f->members[i].study, f->members[k].study) == 0)
				return f->members[i].study;
	return NULL;
}

/* A member of a group whose seed is that of this study, or NULL. */
static const struct subject *same_seed(const struct groups *g, size_t group,
				       const struct subject *s)
{
	for (size_t i = 0; i < g->by[0].group[group].n; i++) {
		const struct subject *other = g->list[group].of[i];

		if (other != s && other->s->spec->seed == s->s->spec->seed &&
		    dp_study_seeds(other->s->spec) == DP_SEEDS_FIXED &&
		    dp_study_seeds(s->s->spec) == DP_SEEDS_FIXED)
			return other;
	}
	return NULL;
}

/* With the same seed two searches share their random points. */
static void warn_seeds(struct fact_groups *f, struct facts_memory *m)
{
	const struct groups *g = f->g;

	for (size_t i = 0; i < f->npairs; i++)
		for (size_t k = 0; k < g->by[0].group[f->pairs[i].a].n; k++) {
			const struct subject *s = g->list[f->pairs[i].a].of[k];
			const struct subject *other = same_seed(g, f->pairs[i].b, s);

			if (!other)
				continue;
			warn_groups(f, m,
				    "%.100s and %.100s have the same seed and so may "
				    "share random points; tests take groups for "
				    "independent of each other.",
				    s->s->spec->name, other->s->spec->name);
			return;
		}
}

static void warn_exposed(const struct report *r, struct fact_groups *f, struct facts_memory *m)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct dp_study_state *s = r->subjects[i].s;
		const char *warning = dp_state_seeds_warning(s);

		if (!warning)
			continue;
		warn_groups(f, m, "Study %.100s: %s", s->now->name, warning);
		return;
	}
}

/* What is left out of parts, and parts that are no draws of their own. */
static void warn_parts(const struct report *r, struct fact_groups *f, struct facts_memory *m,
		       const struct dp_member *member)
{
	struct dp_study_state *s;
	struct dp_err err;
	uint32_t left;

	if (member->size == 0 || dp_state_find(&r->state, member->study, &s, &err) != DP_OK)
		return;
	left = dp_rated_left(groups_rated(f->g, s), member->size);
	if (left)
		warn_groups(f, m,
			    "The last %u trials of %.100s are in no part of %u and are "
			    "left out.",
			    left, s->spec->name, member->size);
	if (s->spec->search.method != DP_METHOD_RANDOM)
		warn_groups(f, m,
			    "Parts of %.100s are not like seeds: only the trials of a "
			    "random search do not depend on what came before them.",
			    s->spec->name);
}

static void find_warnings(const struct report *r, struct fact_groups *f, struct facts_memory *m)
{
	size_t most = 6;

	for (size_t i = 0; i < r->nasked; i++)
		most += 2 * r->asked[i].n;
	f->warnings = facts_room(m, most, sizeof *f->warnings);
	if (!f->warnings)
		return;
	warn_exposed(r, f, m);
	warn_unfinished(f, m);
	warn_sizes(f, m);
	for (size_t i = 0; i < r->nasked; i++)
		for (size_t k = 0; k < r->asked[i].n; k++)
			warn_parts(r, f, m, &r->asked[i].list[k]);
	if (!r->public)
		warn_seeds(f, m);
	if (find_shared(f))
		warn_groups(f, m,
			    "Study %.100s stands in more than one group; tests take "
			    "groups for independent of each other.",
			    find_shared(f));
}

/* ---- settings ---- */

/* Of no interest, or known to differ. */
static bool is_told_elsewhere(const char *key, bool public)
{
	return strcmp(key, "study") == 0 || strcmp(key, "seed") == 0 || strcmp(key, "seeds") == 0 ||
	       (public && strncmp(key, "trainer.", 8) == 0);
}

/* What the files of all studies mean, in their order. */
struct meanings {
	const struct subject *first;
	json_t **list; /* (n) */
	size_t n;
};

static void meanings_find(const struct report *r, struct meanings *all, struct facts_memory *m)
{
	*all = (struct meanings){ r->subjects, calloc(r->nsubjects + 1, sizeof(json_t *)), 0 };
	m->failed |= !all->list;
	while (all->list && all->n < r->nsubjects) {
		json_t *one = dp_study_meaning(r->subjects[all->n].s->spec);

		m->failed |= !one;
		all->list[all->n++] = one;
	}
}

static void meanings_free(struct meanings *all)
{
	for (size_t i = 0; i < all->n; i++)
		json_decref(all->list[i]);
	free(all->list);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The value of a key in each group; false: it is the same in all members. */
static bool setting_of(const struct fact_groups *f, const struct meanings *all, const char *key,
		       const char **of, bool *mixed)
{
	const struct dp_contest *c = &f->g->by[0];
	bool differs = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct subject *const *members = f->g->list[i].of;

		of[i] = dp_json_str(all->list[members[0] - all->first], key, NULL);
		for (size_t k = 1; k < c->group[i].n; k++)
			mixed[i] |= !same_text(
				dp_json_str(all->list[members[k] - all->first], key, NULL), of[i]);
		differs |= mixed[i] || !same_text(of[i], of[0]);
	}
	return differs;
}

static void keep_setting(struct fact_groups *f, const struct meanings *all, const char *key,
			 struct facts_memory *m)
{
	size_t n = f->g->by[0].n;
	const char **of;
	bool *mixed;

	for (size_t i = 0; i < f->nsettings; i++)
		if (strcmp(f->settings[i].key, key) == 0)
			return;
	of = facts_room(m, n, sizeof *of);
	mixed = facts_room(m, n, sizeof *mixed);
	if (!of || !mixed || !setting_of(f, all, key, of, mixed))
		return;
	for (size_t i = 0; i < n; i++)
		of[i] = facts_text(m, of[i]);
	f->settings[f->nsettings] = (struct fact_setting){ facts_text(m, key), of, mixed };
	f->nsettings += f->settings[f->nsettings].key != NULL;
}

static void find_settings(const struct report *r, struct fact_groups *f, struct facts_memory *m)
{
	struct meanings all;
	size_t keys = 0;
	const char *key;
	json_t *value;

	meanings_find(r, &all, m);
	for (size_t i = 0; i < all.n; i++)
		keys += json_object_size(all.list[i]);
	f->settings = facts_room(m, keys, sizeof *f->settings);
	for (size_t i = 0; i < all.n; i++) {
		json_object_foreach (all.list[i], key, value)
			if (!m->failed && !is_told_elsewhere(key, r->public))
				keep_setting(f, &all, key, m);
	}
	meanings_free(&all);
}

/* ---- all of it ---- */

/* "NAME=a,b/256", as it was asked for. */
static void group_word(struct dp_buf *out, const struct dp_members *asked)
{
	dp_buf_printf(out, "%s=", asked->name);
	for (size_t k = 0; k < asked->n; k++) {
		dp_buf_printf(out, "%s%s", k ? "," : "", asked->list[k].study);
		if (asked->list[k].size)
			dp_buf_printf(out, "/%u", asked->list[k].size);
	}
}

/* dparetoctl compare --group ... --at ... */
static const char *compare_command(const struct report *r, const struct fact_groups *f,
				   struct facts_memory *m)
{
	struct dp_buf text = DP_BUF_INIT, word = DP_BUF_INIT;
	const char *kept;

	dp_buf_puts(&text, "dparetoctl compare");
	for (size_t i = 0; i < r->nasked; i++) {
		dp_buf_clear(&word);
		group_word(&word, &r->asked[i]);
		m->failed |= word.failed;
		facts_command_word(&text, "--group");
		facts_command_word(&text, dp_buf_text(&word));
	}
	if (f->at_text) {
		facts_command_word(&text, "--at");
		facts_command_word(&text, f->at_text);
	}
	facts_command_state(&text, r->public ? NULL : r->journal);
	m->failed |= text.failed;
	kept = facts_text(m, dp_buf_text(&text));
	dp_buf_free(&word);
	dp_buf_free(&text);
	return kept;
}

int facts_groups(const struct report *r, struct facts *f, struct dp_err *err)
{
	struct facts_memory *m = &f->memory;
	struct fact_groups *out = facts_room(m, 1, sizeof *out);
	int code;

	if (!out)
		return dp_fail(err, DP_E_NOMEM, "no memory for the report");
	f->groups = out;
	out->g = r->groups;
	out->at_text = r->at ? r->at : usual_places(r, m);
	code = ask_groups(r, out, err);
	if (code != DP_OK)
		return code;
	find_pairs(out, m);
	find_members(out, m);
	find_warnings(r, out, m);
	find_settings(r, out, m);
	out->command = compare_command(r, out, m);
	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct dp_study_state *s = r->subjects[i].s;

		out->updated = s->updated > out->updated ? s->updated : out->updated;
		out->private |= !s->now->public_data;
	}
	return DP_OK;
}
