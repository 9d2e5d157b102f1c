/* studies.c - names of statuses, memory management and lookup of studies and trials. */
#include "state/state_internal.h"

#include "base/units.h"
#include "study/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const study_texts[] = {
#define X(name, text) [DP_STUDY_##name] = text,
	DP_STUDY_STATES(X)
#undef X
};

static const char *const trial_texts[] = {
#define X(name, text) [DP_TRIAL_##name] = text,
	DP_TRIAL_STATES(X)
#undef X
};

const char *dp_study_status_text(enum dp_study_status s)
{
	return study_texts[s];
}

const char *dp_trial_status_text(enum dp_trial_status s)
{
	return trial_texts[s];
}

static int parse_status_text(const char *const *table, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(table[i], text) == 0)
			return (int)i;
	return -1;
}

int dp__study_status_parse(const char *text)
{
	return parse_status_text(study_texts, DP_COUNT(study_texts), text);
}

int dp__trial_status_parse(const char *text)
{
	return parse_status_text(trial_texts, DP_COUNT(trial_texts), text);
}

void dp__trial_free(struct dp_trial *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		free(t->attempts[i].message);
		free(t->attempts[i].job_id);
	}
	free(t->attempts);
	free(t->x);
	free(t->privacy);
	free(t->refusal_reason);
	free(t->objectives);
	free(t->metrics);
	dp__checkpoints_free(t->checkpoints);
	free(t->reason);
	free(t);
}

int dp__replace_string(char **slot, const char *text)
{
	char *copy = text && *text ? dp_strdup(text) : NULL;

	if (text && *text && !copy)
		return DP_E_NOMEM;
	free(*slot);
	*slot = copy;
	return DP_OK;
}

void dp__study_state_free(struct dp_study_state *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->ntrials; i++)
		dp__trial_free(s->trials[i]);
	for (uint32_t i = 0; i < s->nimported; i++) {
		free(s->imported[i].x);
		free(s->imported[i].objectives);
	}
	free(s->imported);
	dp__reevals_free(&s->reevals);
	dp__public_view_free(s->public_view);
	free(s->accounting);
	for (uint32_t i = 0; i < s->nmetrics; i++)
		free(s->metrics[i]);
	free(s->metrics);
	free(s->trials);
	free(s->front);
	free(s->budget_end_reason);
	free(s->reason);
	free(s->moved_by);
	free(s->text);
	free(s->path);
	free(s->dir);
	if (s->secret)
		explicit_bzero(s->secret, strlen(s->secret));
	free(s->secret);
	for (struct dp__spec_version *a; (a = s->spec_versions) != NULL; free(a))
		s->spec_versions = a->previous;
	dp_study_free(s->spec);
	free(s);
}

void dp_state_free(struct dp_state *s)
{
	for (uint32_t i = 0; i < s->nstudies; i++)
		dp__study_state_free(s->studies[i]);
	free(s->studies);
	for (uint32_t i = 0; i < s->nunreadable; i++)
		free(s->unreadable[i].reason);
	free(s->unreadable);
	*s = (struct dp_state){ 0 };
}

uint32_t dp__state_study_index(const struct dp_state *s, uint32_t id)
{
	uint32_t lo = 0, hi = s->nstudies;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->studies[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct dp_study_state *dp_state_get_study(const struct dp_state *s, uint32_t id)
{
	uint32_t i = dp__state_study_index(s, id);

	return i < s->nstudies && s->studies[i]->id == id ? s->studies[i] : NULL;
}

bool dp_state_is_intact(const struct dp_state *s)
{
	for (uint32_t i = 0; i < s->nstudies; i++)
		if (s->studies[i]->quarantined)
			return false;
	return s->nunreadable == 0;
}

void dp_state_remove_study(struct dp_state *s, uint32_t study)
{
	uint32_t i = dp__state_study_index(s, study);

	if (i >= s->nstudies || s->studies[i]->id != study)
		return;
	dp__study_state_free(s->studies[i]);
	memmove(s->studies + i, s->studies + i + 1, (s->nstudies - i - 1) * sizeof s->studies[0]);
	s->nstudies--;
}

static int fail_unknown_study(const struct dp_state *s, const char *selector, struct dp_err *err)
{
	const char **names = dp_calloc(s->nstudies + 1, sizeof *names), *near;

	for (uint32_t i = 0; i < s->nstudies; i++)
		names[i] = s->studies[i]->spec->name;
	near = dp_nearest_word(selector, names);
	dp_fail(err, DP_E_NOT_FOUND, "there is no study '%.80s'", selector);
	if (near)
		dp_hint(err, "did you mean '%s'?", near);
	else
		dp_hint(err, "'dparetoctl list' shows the studies there are");
	free(names);
	return DP_E_NOT_FOUND;
}

int dp_state_find_study(const struct dp_state *s, const char *selector, struct dp_study_state **out,
			struct dp_err *err)
{
	struct dp_study_state *found = NULL;
	size_t len = strlen(selector);
	int64_t id;

	for (uint32_t i = 0; i < s->nstudies; i++) {
		if (strcmp(s->studies[i]->spec->name, selector) == 0) {
			*out = s->studies[i];
			return DP_OK;
		}
	}
	if (dp_int_parse(selector, &id) && id > 0 && id <= UINT32_MAX &&
	    (found = dp_state_get_study(s, (uint32_t)id)) != NULL) {
		*out = found;
		return DP_OK;
	}
	for (uint32_t i = 0; len && i < s->nstudies; i++) {
		if (strncmp(s->studies[i]->spec->name, selector, len) != 0)
			continue;
		if (found) {
			dp_fail(err, DP_E_INVALID, "'%.80s' begins more than one name: %s, %s",
				selector, found->spec->name, s->studies[i]->spec->name);
			return dp_hint(err, "write more of the name, or its number");
		}
		found = s->studies[i];
	}
	if (!found)
		return fail_unknown_study(s, selector, err);
	*out = found;
	return DP_OK;
}

const char *dp_trial_format_name(uint32_t trial, char out[DP_TRIAL_NAME_LEN])
{
	snprintf(out, DP_TRIAL_NAME_LEN, "%s%u",
		 dp_trial_number_kind(trial) == DP_TRIAL_REEVAL ? "m" : "",
		 dp_trial_number_index(trial));
	return out;
}

struct dp_trial *dp_state_find_trial(const struct dp_study_state *s, uint32_t number)
{
	const struct dp_reevals *m = &s->reevals;
	uint32_t lo = 0, hi = m->ntrials;

	if (dp_trial_number_kind(number) == DP_TRIAL_SEARCH)
		return number < s->ntrials ? s->trials[number] : NULL;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->trials[mid]->number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->ntrials && m->trials[lo]->number == number ? m->trials[lo] : NULL;
}

uint32_t dp_state_count_open_attempts(const struct dp_study_state *s)
{
	return s->open_attempts + s->reevals.open_attempts;
}

uint32_t dp_state_count_ended_trials(const struct dp_study_state *s)
{
	return s->ok + s->diverged + s->failed;
}

const char *dp_state_seeds_warning(const struct dp_study_state *s)
{
	if (!s->seeds_exposed || !s->current_spec->public_data)
		return dp_study_seeds_warning(s->current_spec);
	return "Seeds are fixed, and trials were proposed before the data was declared "
	       "public. If it was private then, a reader who knows or guesses the "
	       "study's seed can compute the noise of their runs, and no epsilon holds.";
}
