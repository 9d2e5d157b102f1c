/* report_data.c - load studies and groups from the journal. */
#include "reports/model/report_data.h"

#include "reports/model/study_groups.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_MODELLED_STUDIES = 60 /* each takes a fraction of a second */
};

/* Reads only the records that name studies. */
static int load_created_record(void *arg, uint32_t study, uint32_t seq, const void *bytes,
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
	/* the damaged record may belong to a study that was not requested */
	return code == DP_E_CORRUPT || code == DP_E_PROTOCOL ? DP_OK : code;
}

/* Replays each study that the selectors name, once. */
static int replay_selected_studies(struct report_data *r, const char *folder,
				   const char *const *studies, size_t n, uint32_t *ids,
				   struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true };
	struct dp_state names = { 0 };
	struct dp_study_state *found;
	struct dp_journal *j;
	int code = dp_journal_open(folder, &options, &j, err);

	if (code != DP_OK)
		return code;
	code = dp_journal_for_each(j, 0, load_created_record, &names, err);
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		code = dp_state_find_study(&names, studies[i], &found, err);
		if (code == DP_OK)
			ids[i] = found->id;
	}
	dp_state_free(&names);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		if (!dp_state_get_study(&r->state, ids[i]))
			code = dp_state_replay(&r->state, j, ids[i], err);
	dp_journal_close(j);
	return code;
}

static int report_data_init_studies(struct report_data *r, const uint32_t *ids, size_t n,
				    struct dp_err *err)
{
	enum surrogate_detail others =
		n <= MAX_MODELLED_STUDIES ? SURROGATES_FRONT_ONLY : SURROGATES_NONE;
	int code = DP_OK;

	/* parts of a study have no models, so groups with parts are compared without them */
	for (size_t i = 0; i < r->ngroup_specs; i++)
		for (size_t k = 0; k < r->group_specs[i].n; k++)
			if (r->group_specs[i].list[k].part_size > 0)
				others = SURROGATES_NONE;
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		struct dp_public_state view =
			dp_state_public_view(dp_state_get_study(&r->state, ids[i]));
		enum surrogate_detail models =
			i == 0 && r->ngroup_specs == 0 ? SURROGATES_ALL : others;
		bool twice = false;

		for (size_t k = 0; k < i; k++)
			twice |= ids[k] == ids[i];
		if (!twice)
			code = study_data_init(&r->studies[r->nstudies++], view, models, err);
	}
	return code;
}

int report_data_load(struct report_data *r, const char *journal, const char *const *studies,
		     size_t n, struct dp_err *err)
{
	size_t named = n + (r->reference_name != NULL);
	const char **names = dp_calloc(named + 1, sizeof *names);
	uint32_t *ids = dp_calloc(named + 1, sizeof *ids);
	int code;

	r->journal_path = journal;
	r->studies = dp_calloc(n + 1, sizeof *r->studies);
	for (size_t i = 0; i < named; i++)
		names[i] = i < n ? studies[i] : r->reference_name;
	code = replay_selected_studies(r, journal, names, named, ids, err);
	if (code == DP_OK)
		code = report_data_init_studies(r, ids, n, err);
	if (code == DP_OK && r->reference_name) {
		struct dp_public_state view =
			dp_state_public_view(dp_state_get_study(&r->state, ids[n]));

		r->reference = dp_calloc(1, sizeof *r->reference);
		code = study_data_init(r->reference, view,
				       dp_study_uses_smoothed_front(view.state->spec)
					       ? SURROGATES_FRONT_ONLY
					       : SURROGATES_NONE,
				       err);
	}
	free(names);
	free(ids);
	return code == DP_OK ? report_data_apply_labels(r, err) : code;
}

int report_data_apply_labels(struct report_data *r, struct dp_err *err)
{
	for (size_t i = 0; i < r->nlabels; i++) {
		bool known = false;

		for (size_t k = 0; k < r->nstudies; k++) {
			if (strcmp(r->studies[k].state->spec->name, r->labels[i].study) != 0)
				continue;
			r->studies[k].label = r->labels[i].label;
			known = true;
		}
		if (!known) {
			dp_fail(err, DP_E_USAGE,
				"--label names the study '%.80s', which is not in this report",
				r->labels[i].study);
			return dp_hint(err, "a label takes the whole name of a study "
					    "that the report is about or compares");
		}
	}
	return DP_OK;
}

int report_data_load_groups(struct report_data *r, const char *journal, const char *const *studies,
			    size_t n, struct dp_err *err)
{
	struct dp_group_spec *all = dp_calloc(n + r->ngroup_specs + 1, sizeof *all);
	const char **names;
	size_t members = 0;
	int code = DP_OK;

	/* plain studies come before the requested groups */
	memcpy(all + n, r->group_specs, r->ngroup_specs * sizeof *all);
	free(r->group_specs);
	r->group_specs = all;
	r->ngroup_specs += n;
	for (size_t i = 0; i < n && code == DP_OK; i++)
		code = dp_group_spec_parse(studies[i], &all[i], err);
	if (code != DP_OK)
		return code;
	for (size_t i = 0; i < r->ngroup_specs; i++)
		members += all[i].n;
	names = dp_calloc(members + 1, sizeof *names);
	members = 0;
	for (size_t i = 0; i < r->ngroup_specs; i++)
		for (size_t k = 0; k < all[i].n; k++)
			names[members++] = all[i].list[k].study;
	code = report_data_load(r, journal, names, members, err);
	free(names);
	return code == DP_OK ? study_groups_build(r, err) : code;
}

void report_data_free(struct report_data *r)
{
	study_groups_free(r->groups);
	for (size_t i = 0; i < r->ngroup_specs; i++)
		dp_group_spec_free(&r->group_specs[i]);
	free(r->group_specs);
	for (size_t i = 0; i < r->nstudies; i++)
		study_data_free(&r->studies[i]);
	free(r->studies);
	if (r->reference)
		study_data_free(r->reference);
	free(r->reference);
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
