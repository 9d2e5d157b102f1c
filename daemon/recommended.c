/* recommended.c - settings that clients ask for, by levels of an objective. */
#include "daemon/recommended.h"

#include "daemon/ask.h"
#include "daemon/requests.h"
#include "daemon/server.h"

#include <stdlib.h>

struct recommended {
	struct recommended *next;
	uint64_t client;
	struct dp_asked_levels levels;
	int code;
	struct dp_err err;
	json_t *answer;
};

void recommended_free(struct recommended **list)
{
	while (*list) {
		struct recommended *one = *list;

		*list = one->next;
		json_decref(one->answer);
		free(one);
	}
}

int recommended_add(struct recommended **list, struct study *h, uint64_t client,
		    const json_t *levels, struct dp_err *err)
{
	struct recommended *one = calloc(1, sizeof *one), **end = list;
	int code;

	if (!one)
		return dp_fail(err, DP_E_NOMEM, "no memory for the question");
	one->client = client;
	code = dp_asked_read(h->state->spec, levels, &one->levels, err);
	if (code != DP_OK) {
		free(one);
		return code;
	}
	while (*end)
		end = &(*end)->next;
	*end = one;
	return DP_OK;
}

int recommended_look(struct recommended *list, const struct dp_study_state *s, struct dp_err *err)
{
	int code = DP_OK;

	for (struct recommended *r = list; r && code == DP_OK; r = r->next)
		code = dp_asked_look(s, &r->levels, err);
	return code;
}

void recommended_find(struct recommended *list, struct dp_proposer *p, const struct dp_study *spec,
		      const struct dp_results *results, const struct dp_oracle_asker *programs,
		      const atomic_bool *cancel)
{
	for (struct recommended *r = list; r; r = r->next)
		r->code = dp_recommended_find(p, spec, results, programs, &r->levels, cancel,
					      &r->answer, &r->err);
}

void recommended_tell(struct recommended **list, struct study *h, const struct dp_err *why)
{
	struct recommended *told = *list;

	*list = NULL; /* whoever comes now waits for the next answer */
	for (struct recommended *r = told; r; r = r->next) {
		json_t *ok = why || r->code != DP_OK
				     ? NULL
				     : json_pack("{s:s, s:O}", "study", h->state->spec->name,
						 "recommendations", r->answer);

		if (!why && r->code == DP_OK && !ok)
			dp_fail(&r->err, DP_E_NOMEM, "no memory for the answer");
		if (ok)
			client_ok(h->d, r->client, ok);
		else
			client_error(h->d, r->client, why ? why : &r->err);
	}
	recommended_free(&told);
}

int request_recommend(struct request *r, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = r->home->state;
	const json_t *levels = json_object_get(r->json, "levels");

	(void)ok;
	if (dp_study_hides(s)) /* models would be of all that is hidden */
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: it publishes one "
			       "setting, and nothing can be recommended beside it",
			       s->spec->name);
	if (!levels)
		return dp_fail(err, DP_E_PROTOCOL, "'recommend' needs 'levels'");
	r->later = true; /* ask_recommend() answers */
	return ask_recommend(r->home, r->client, levels, err);
}
