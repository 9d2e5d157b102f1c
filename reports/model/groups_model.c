/* groups_model.c - what a report of groups says. */
#include "reports/model/groups_model.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_groups_free_answers(struct report_groups *f)
{
	if (!f)
		return;
	for (int by = 0; by < BASIS_COUNT; by++)
		dp_compare_answer_free(&f->hypervolumes[by]);
	dp_compare_answers_free(&f->level_answers);
}

/* ---- values and tests ---- */

/* Where groups are compared if nobody says where. */
static const char *default_at_option(const struct report_data *r, struct report_arena *arena)
{
	const struct study_data *s = &r->studies[0];
	struct dp_buf text = DP_BUF_INIT;
	const char *kept;

	if (s->privacy_obj < 0 || s->utility_obj < 0)
		return NULL;
	dp_buf_printf(&text, "%s=0.1,1,10", s->state->spec->objectives[s->privacy_obj].name);
	kept = report_arena_strdup(arena, dp_buf_text(&text));
	dp_buf_free(&text);
	return kept;
}

static int compute_group_answers(const struct report_data *r, struct report_groups *f,
				 struct dp_err *err)
{
	const struct dp_compare_query volume = { .is_hypervolume = true };
	const struct study_groups *g = r->groups;
	int code = DP_OK;

	for (int by = 0; by < BASIS_COUNT; by++)
		if (g->has_basis[by])
			f->hypervolumes[by] = dp_comparison_answer(&g->contests[by], &volume);
	if (f->at_option)
		code = dp_comparison_answer_at(&g->contests[BASIS_OBSERVED], f->at_option,
					       &f->level_answers, err);
	return code;
}

static void add_pair(struct report_groups *f, size_t a, size_t b)
{
	struct report_group_pair *p = &f->pairs[f->npairs++];

	*p = (struct report_group_pair){ .a = a, .b = b };
	for (int by = 0; by < BASIS_COUNT; by++)
		if (f->groups->has_basis[by])
			p->tests[by] = dp_t_test_means(&f->hypervolumes[by].samples[a],
						       &f->hypervolumes[by].samples[b]);
}

static void find_pairs(struct report_groups *f, struct report_arena *arena)
{
	size_t n = f->groups->contests[0].n;

	f->pairs = report_arena_alloc(arena, n, sizeof *f->pairs);
	for (size_t i = 1; f->pairs && i < n; i++) {
		size_t a = 0;

		while (f->groups->list[a].trainer_id != f->groups->list[i].trainer_id)
			a++;
		if (a != i)
			add_pair(f, a, i);
	}
	if (f->pairs && f->npairs == 0)
		for (size_t i = 1; i < n; i++)
			add_pair(f, 0, i);
}

/* ---- members ---- */

static void find_members(struct report_groups *f, struct report_arena *arena)
{
	const struct dp_comparison *c = &f->groups->contests[BASIS_OBSERVED];
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->groups[i].n;
	f->members = report_arena_alloc(arena, n, sizeof *f->members);
	for (size_t i = 0; f->members && i < c->n; i++)
		for (size_t k = 0; k < c->groups[i].n; k++) {
			const struct dp_compare_member *r = &c->groups[i].members[k];
			const struct dp_study_state *s = f->groups->list[i].studies[k]->state;
			struct report_group_member *out = &f->members[f->nmembers];

			*out = (struct report_group_member){
				.group = c->groups[i].name,
				.name = r->name,
				.study = s->spec->name,
				.state = dp_study_status_text(s->status),
				.evaluations = (int64_t)study_groups_count_ended(f->groups, i, k),
				.planned = strchr(r->name, '/') ? r->end_trial - r->first_trial
								: s->evaluations,
			};
			for (int by = 0; by < BASIS_COUNT; by++)
				out->hypervolume[by] =
					f->groups->has_basis[by]
						? f->hypervolumes[by].values[f->nmembers]
						: NAN;
			f->nmembers++;
		}
}

/* ---- warnings ---- */

static void groups_add_warning(struct report_groups *f, struct report_arena *arena, const char *fmt,
			       ...) DP_PRINTF(3, 4);
static void groups_add_warning(struct report_groups *f, struct report_arena *arena, const char *fmt,
			       ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->warnings[f->nwarnings++] = report_arena_strdup(arena, text);
}

/* Studies that have not ended are compared by what they have by now. */
static void warn_unfinished(struct report_groups *f, struct report_arena *arena)
{
	const struct report_group_member *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < f->nmembers; i++)
		if (f->members[i].evaluations < f->members[i].planned) {
			first = first ? first : &f->members[i];
			n++;
		}
	if (n)
		groups_add_warning(f, arena,
				   "%zu of %zu members have not made all their evaluations, "
				   "such as %.100s (%s, %lld of %lld): what they have by now is "
				   "compared.",
				   n, f->nmembers, first->name, first->state,
				   (long long)first->evaluations, (long long)first->planned);
}

static void warn_sizes(struct report_groups *f, struct report_arena *arena)
{
	int64_t least = INT64_MAX, most = 0;

	for (size_t i = 0; i < f->nmembers; i++) {
		int64_t n = f->members[i].evaluations;

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	if (f->nmembers && least < most)
		groups_add_warning(f, arena,
				   "Members have from %lld to %lld evaluations: more of them "
				   "are more chances for a large hypervolume.",
				   (long long)least, (long long)most);
}

/* The first study that stands in two groups, or NULL. */
static const char *find_shared_study(const struct report_groups *f)
{
	for (size_t i = 0; i < f->nmembers; i++)
		for (size_t k = 0; k < i; k++)
			if (f->members[i].group != f->members[k].group &&
			    strcmp(f->members[i].study, f->members[k].study) == 0)
				return f->members[i].study;
	return NULL;
}

/* A member of a group whose seed is that of this study, or NULL. */
static const struct study_data *find_same_seed(const struct study_groups *g, size_t group,
					       const struct study_data *s)
{
	for (size_t i = 0; i < g->contests[0].groups[group].n; i++) {
		const struct study_data *other = g->list[group].studies[i];

		if (other != s && other->state->spec->seed == s->state->spec->seed &&
		    dp_study_seed_mode(other->state->spec) == DP_SEEDS_FIXED &&
		    dp_study_seed_mode(s->state->spec) == DP_SEEDS_FIXED)
			return other;
	}
	return NULL;
}

/* With the same seed two searches share their random points. */
static void warn_seeds(struct report_groups *f, struct report_arena *arena)
{
	const struct study_groups *g = f->groups;

	for (size_t i = 0; i < f->npairs; i++)
		for (size_t k = 0; k < g->contests[0].groups[f->pairs[i].a].n; k++) {
			const struct study_data *s = g->list[f->pairs[i].a].studies[k];
			const struct study_data *other = find_same_seed(g, f->pairs[i].b, s);

			if (!other)
				continue;
			groups_add_warning(f, arena,
					   "%.100s and %.100s have the same seed and so may "
					   "share random points; tests take groups for "
					   "independent of each other.",
					   s->state->spec->name, other->state->spec->name);
			return;
		}
}

static void warn_fixed_seeds(const struct report_data *r, struct report_groups *f,
			     struct report_arena *arena)
{
	for (size_t i = 0; i < r->nstudies; i++) {
		const struct dp_study_state *s = r->studies[i].state;
		const char *warning = dp_state_seeds_warning(s);

		if (!warning)
			continue;
		groups_add_warning(f, arena, "Study %.100s: %s", s->current_spec->name, warning);
		return;
	}
}

/* What is left out of parts, and parts that are no draws of their own. */
static void warn_partial_studies(const struct report_data *r, struct report_groups *f,
				 struct report_arena *arena, const struct dp_group_entry *member)
{
	struct dp_study_state *s;
	struct dp_err err;
	uint32_t left;

	if (member->part_size == 0 ||
	    dp_state_find_study(&r->state, member->study, &s, &err) != DP_OK)
		return;
	left = dp_compare_count_leftover_trials(study_groups_find_results(f->groups, s),
						member->part_size);
	if (left)
		groups_add_warning(f, arena,
				   "The last %u trials of %.100s are in no part of %u and are "
				   "left out.",
				   left, s->spec->name, member->part_size);
	if (s->spec->search.method != DP_METHOD_RANDOM)
		groups_add_warning(f, arena,
				   "Parts of %.100s are not like seeds: only the trials of a "
				   "random search do not depend on what came before them.",
				   s->spec->name);
}

static void find_warnings(const struct report_data *r, struct report_groups *f,
			  struct report_arena *arena)
{
	size_t most = 6;

	for (size_t i = 0; i < r->ngroup_specs; i++)
		most += 2 * r->group_specs[i].n;
	f->warnings = report_arena_alloc(arena, most, sizeof *f->warnings);
	if (!f->warnings)
		return;
	warn_fixed_seeds(r, f, arena);
	warn_unfinished(f, arena);
	warn_sizes(f, arena);
	for (size_t i = 0; i < r->ngroup_specs; i++)
		for (size_t k = 0; k < r->group_specs[i].n; k++)
			warn_partial_studies(r, f, arena, &r->group_specs[i].list[k]);
	if (!r->is_public)
		warn_seeds(f, arena);
	if (find_shared_study(f))
		groups_add_warning(f, arena,
				   "Study %.100s stands in more than one group; tests take "
				   "groups for independent of each other.",
				   find_shared_study(f));
}

/* ---- settings ---- */

/* Of no interest, or known to differ. */
static bool is_ignored_setting(const char *key, bool public)
{
	return strcmp(key, "study") == 0 || strcmp(key, "seed") == 0 || strcmp(key, "seeds") == 0 ||
	       (public && strncmp(key, "trainer.", 8) == 0);
}

/* What the files of all studies mean, in their order. */
struct canonical_studies {
	const struct study_data *first;
	json_t **list; /* (n) */
	size_t n;
};

static void canonical_studies_load(const struct report_data *r, struct canonical_studies *all,
				   struct report_arena *arena)
{
	*all = (struct canonical_studies){ r->studies, dp_calloc(r->nstudies + 1, sizeof(json_t *)),
					   0 };
	arena->failed |= !all->list;
	while (all->list && all->n < r->nstudies) {
		json_t *one = dp_study_canonical_json(r->studies[all->n].state->spec);

		arena->failed |= !one;
		all->list[all->n++] = one;
	}
}

static void canonical_studies_free(struct canonical_studies *all)
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
static bool setting_differs(const struct report_groups *f, const struct canonical_studies *all,
			    const char *key, const char **of, bool *mixed)
{
	const struct dp_comparison *c = &f->groups->contests[0];
	bool differs = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct study_data *const *members = f->groups->list[i].studies;

		of[i] = dp_json_str(all->list[members[0] - all->first], key, NULL);
		for (size_t k = 1; k < c->groups[i].n; k++)
			mixed[i] |= !same_text(
				dp_json_str(all->list[members[k] - all->first], key, NULL), of[i]);
		differs |= mixed[i] || !same_text(of[i], of[0]);
	}
	return differs;
}

static void add_differing_setting(struct report_groups *f, const struct canonical_studies *all,
				  const char *key, struct report_arena *arena)
{
	size_t n = f->groups->contests[0].n;
	const char **of;
	bool *mixed;

	for (size_t i = 0; i < f->nsettings; i++)
		if (strcmp(f->settings[i].key, key) == 0)
			return;
	of = report_arena_alloc(arena, n, sizeof *of);
	mixed = report_arena_alloc(arena, n, sizeof *mixed);
	if (!of || !mixed || !setting_differs(f, all, key, of, mixed))
		return;
	for (size_t i = 0; i < n; i++)
		of[i] = report_arena_strdup(arena, of[i]);
	f->settings[f->nsettings] =
		(struct report_group_setting){ report_arena_strdup(arena, key), of, mixed };
	f->nsettings += f->settings[f->nsettings].key != NULL;
}

static void find_differing_settings(const struct report_data *r, struct report_groups *f,
				    struct report_arena *arena)
{
	struct canonical_studies all;
	size_t keys = 0;
	const char *key;
	json_t *value;

	canonical_studies_load(r, &all, arena);
	for (size_t i = 0; i < all.n; i++)
		keys += json_object_size(all.list[i]);
	f->settings = report_arena_alloc(arena, keys, sizeof *f->settings);
	for (size_t i = 0; i < all.n; i++) {
		json_object_foreach (all.list[i], key, value)
			if (!arena->failed && !is_ignored_setting(key, r->is_public))
				add_differing_setting(f, &all, key, arena);
	}
	canonical_studies_free(&all);
}

/* ---- all of it ---- */

/* "NAME=a,b/256", as it was asked for. */
static void format_group_option(struct dp_buf *out, const struct dp_group_spec *asked)
{
	dp_buf_printf(out, "%s=", asked->name);
	for (size_t k = 0; k < asked->n; k++) {
		dp_buf_printf(out, "%s%s", k ? "," : "", asked->list[k].study);
		if (asked->list[k].part_size)
			dp_buf_printf(out, "/%u", asked->list[k].part_size);
	}
}

/* dparetoctl compare --group ... --at ... */
static const char *compare_command(const struct report_data *r, const struct report_groups *f,
				   struct report_arena *arena)
{
	struct dp_buf text = DP_BUF_INIT, word = DP_BUF_INIT;
	const char *kept;

	dp_buf_puts(&text, "dparetoctl compare");
	for (size_t i = 0; i < r->ngroup_specs; i++) {
		dp_buf_clear(&word);
		format_group_option(&word, &r->group_specs[i]);
		command_append_word(&text, "--group");
		command_append_word(&text, dp_buf_text(&word));
	}
	if (f->at_option) {
		command_append_word(&text, "--at");
		command_append_word(&text, f->at_option);
	}
	command_append_state_dir(&text, r->is_public ? NULL : r->journal_path);
	kept = report_arena_strdup(arena, dp_buf_text(&text));
	dp_buf_free(&word);
	dp_buf_free(&text);
	return kept;
}

int report_model_build_groups(const struct report_data *r, struct report_model *report,
			      struct dp_err *err)
{
	struct report_arena *arena = &report->arena;
	struct report_groups *out = report_arena_alloc(arena, 1, sizeof *out);
	int code;

	if (!out)
		return dp_fail(err, DP_E_NOMEM, "no memory for the report");
	report->groups = out;
	out->groups = r->groups;
	out->at_option = r->at_option ? r->at_option : default_at_option(r, arena);
	code = compute_group_answers(r, out, err);
	if (code != DP_OK)
		return code;
	find_pairs(out, arena);
	find_members(out, arena);
	find_warnings(r, out, arena);
	find_differing_settings(r, out, arena);
	out->command = compare_command(r, out, arena);
	for (size_t i = 0; i < r->nstudies; i++) {
		const struct dp_study_state *s = r->studies[i].state;

		out->updated = s->updated_us > out->updated ? s->updated_us : out->updated;
		out->has_private_data |= !s->current_spec->public_data;
	}
	return DP_OK;
}
