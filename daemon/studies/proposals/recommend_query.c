/* recommend_query.c - client queries for recommended settings at given levels of an objective. */
#include "daemon/studies/proposals/recommend_query.h"
#include "study/accounting.h"

#include <stdlib.h>

struct recommend_query {
	struct recommend_query *next;
	uint64_t client_id;
	struct dp_level_queries levels;
	int code;
	struct dp_err err;
	json_t *answer;
};

void recommend_query_free(struct recommend_query **list)
{
	while (*list) {
		struct recommend_query *one = *list;

		*list = one->next;
		json_decref(one->answer);
		free(one);
	}
}

int recommend_query_add(struct recommend_query **list, struct study *study, uint64_t client,
			const json_t *levels, struct dp_err *err)
{
	struct recommend_query *one = dp_calloc(1, sizeof *one), **end = list;
	int code;

	one->client_id = client;
	code = dp_level_queries_parse(study->state->spec, levels, &one->levels, err);
	if (code != DP_OK) {
		free(one);
		return code;
	}
	while (*end)
		end = &(*end)->next;
	*end = one;
	return DP_OK;
}

void recommend_query_snapshot(struct recommend_query *list, const struct dp_study_state *s)
{
	for (struct recommend_query *r = list; r; r = r->next)
		dp_level_queries_find_tested(s, &r->levels);
}

void recommend_query_compute(struct recommend_query *list, struct dp_proposer *p,
			     const struct dp_study *spec, const struct dp_history_subset *results,
			     const struct dp_external_callback *programs, const atomic_bool *cancel)
{
	for (struct recommend_query *r = list; r; r = r->next)
		r->code = dp_level_queries_recommend(p, spec, results, programs, &r->levels, cancel,
						     &r->answer, &r->err);
}

void recommend_query_reply(struct recommend_query **list, struct study *study,
			   const struct dp_err *why)
{
	struct daemon *d = study->daemon;
	struct recommend_query *asked = *list;

	*list = NULL; /* new clients wait for the next answer */
	for (struct recommend_query *r = asked; r; r = r->next)
		if (why || r->code != DP_OK)
			d->replies->error(d, r->client_id, why ? why : &r->err);
		else
			d->replies->ok(d, r->client_id,
				       json_pack("{s:s, s:O}", "study", study->state->spec->name,
						 "recommendations", r->answer));
	recommend_query_free(&asked);
}
