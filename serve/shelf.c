/* shelf.c - keeps the trials of a few studies. */
#include "serve/shelf.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>

enum {
	SHELF_REST = 4 /* times as long as fetching took, until it is done again */
};

void shelf_init(struct shelf *s)
{
	memset(s, 0, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
}

static void place_clear(struct shelf_place *p)
{
	json_decref(p->rows);
	*p = (struct shelf_place){ 0 };
}

void shelf_free(struct shelf *s)
{
	for (size_t i = 0; i < SHELF_STUDIES; i++)
		place_clear(&s->place[i]);
	pthread_mutex_destroy(&s->lock);
}

/* The study's place, or the one that was not used for longest. */
static struct shelf_place *shelf_find(struct shelf *s, const char *study)
{
	struct shelf_place *oldest = &s->place[0];

	for (size_t i = 0; i < SHELF_STUDIES; i++) {
		struct shelf_place *p = &s->place[i];

		if (strcmp(p->study, study) == 0)
			return p;
		if (p->used < oldest->used)
			oldest = p;
	}
	return oldest;
}

/* Without a version nobody knows whether the study has changed. */
static bool place_is_fresh(const struct shelf_place *p, const char *study,
			   const struct hub_word *now)
{
	if (!p->rows || strcmp(p->study, study) != 0)
		return false;
	return (now->version >= 0 && p->word.change == now->change) ||
	       dp_mono_us() - p->made < SHELF_REST * p->cost;
}

/* What cannot be fetched leaves the place as it is: somebody else's, perhaps. */
static int place_fill(struct shelf_place *p, struct asking *k, const char *study,
		      const struct hub_word *now, struct dp_err *err)
{
	int64_t begun = dp_mono_us();
	json_t *rows;
	int code = ask_trials(k, study, &rows, err);

	if (code != DP_OK)
		return code;
	place_clear(p);
	snprintf(p->study, sizeof p->study, "%s", study);
	p->rows = rows;
	p->word = *now;
	p->made = dp_mono_us();
	p->cost = p->made - begun;
	return DP_OK;
}

int shelf_rows(struct shelf *s, struct asking *k, struct hub *h, const char *study,
	       json_t **rows, int64_t *version, struct dp_err *err)
{
	struct hub_word now = { .version = -1 };
	struct shelf_place *p;
	int code = DP_OK;

	/* others wait meanwhile: what they ask for is often the same */
	pthread_mutex_lock(&s->lock);
	if (h)
		now = hub_last(h, study);
	p = shelf_find(s, study);
	if (!place_is_fresh(p, study, &now))
		code = place_fill(p, k, study, &now, err);
	if (code == DP_OK) {
		p->used = dp_mono_us();
		*rows = json_incref(p->rows);
		*version = p->word.version;
	}
	pthread_mutex_unlock(&s->lock);
	return code;
}
