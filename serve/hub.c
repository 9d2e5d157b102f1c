/* hub.c - listens to the daemon for all streams of events. */
#include "serve/hub.h"

#include "base/json.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WAIT_MS = 1000, /* for the daemon's word: as long a stop may take */
	AGAIN_MS = 500  /* until a daemon that is away is looked for again */
};

struct hub_study {
	char name[DP_NAME_MAX + 1];
	int64_t version; /* -1: it is gone */
	uint64_t change; /* when that was told */
	bool listed;     /* in the answer that lists all */
};

struct hub {
	struct asking *asking;
	pthread_t thread;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t news;
	struct hub_study *studies;
	size_t n, room;
	uint64_t change; /* counts what was told of studies, */
	uint64_t daemon; /* and how often a daemon came or went */
	bool there, closed;
	bool sweeping;  /* the daemon lists all that there is, in pages */
	char away[512]; /* why it is not there */
};

static struct hub_study *hub_find(struct hub *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->studies[i].name, name) == 0)
			return &h->studies[i];
	return NULL;
}

/* NULL without memory: then it is told when it changes again. */
static struct hub_study *hub_add(struct hub *h, const char *name)
{
	if (h->n == h->room) {
		size_t room = h->room ? 2 * h->room : 64;
		struct hub_study *more = realloc(h->studies, room * sizeof *more);

		if (!more)
			return NULL;
		h->studies = more;
		h->room = room;
	}
	h->studies[h->n] = (struct hub_study){ .version = -1 };
	snprintf(h->studies[h->n].name, DP_NAME_MAX + 1, "%s", name);
	return &h->studies[h->n++];
}

static void hub_set(struct hub *h, const char *name, int64_t version)
{
	struct hub_study *s = hub_find(h, name);

	if (!s && version >= 0)
		s = hub_add(h, name);
	if (!s)
		return;
	s->listed = true;
	if (s->version == version && s->change)
		return;
	s->version = version;
	s->change = ++h->change;
}

/* An answer that lists all begins, goes on, or ends: what it has not named is gone then.
 */
static void hub_sweep(struct hub *h, const json_t *answer, bool before)
{
	size_t i;

	if (before && dp_json_bool(answer, "whole", false)) {
		h->sweeping = true;
		for (i = 0; i < h->n; i++)
			h->studies[i].listed = false;
	}
	if (before || !h->sweeping || dp_json_bool(answer, "more", false))
		return;
	h->sweeping = false;
	for (i = 0; i < h->n; i++)
		if (!h->studies[i].listed)
			hub_set(h, h->studies[i].name, -1);
}

/* The daemon's answer: what changed. */
static void hub_take(struct hub *h, const json_t *answer)
{
	const json_t *one;
	size_t i;

	pthread_mutex_lock(&h->lock);
	hub_sweep(h, answer, true);
	json_array_foreach (json_object_get(answer, "studies"), i, one)
		hub_set(h, dp_json_str(one, "study", ""), dp_json_int(one, "version", -1));
	hub_sweep(h, answer, false);
	if (!h->there) {
		h->there = true;
		h->daemon++;
	}
	pthread_cond_broadcast(&h->news);
	pthread_mutex_unlock(&h->lock);
}

static void hub_miss(struct hub *h, const struct dp_err *err)
{
	pthread_mutex_lock(&h->lock);
	if (h->there || !h->daemon) {
		h->there = false;
		h->daemon++;
		snprintf(h->away, sizeof h->away, "%s", err->msg);
	}
	pthread_cond_broadcast(&h->news);
	pthread_mutex_unlock(&h->lock);
}

/* Sleeps unless the hub is closed; false: it is. */
static bool hub_rest(struct hub *h, int ms)
{
	struct timespec until;
	bool open;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (ms % 1000) * 1000000L;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&h->lock);
	while (!h->closed && pthread_cond_timedwait(&h->news, &h->lock, &until) == 0)
		;
	open = !h->closed;
	pthread_mutex_unlock(&h->lock);
	return open;
}

static bool hub_is_open(struct hub *h)
{
	bool open;

	pthread_mutex_lock(&h->lock);
	open = !h->closed;
	pthread_mutex_unlock(&h->lock);
	return open;
}

static void *hub_listen(void *arg)
{
	struct hub *h = arg;
	int64_t revision = 0;

	while (hub_is_open(h)) {
		struct dp_err err;
		json_t *answer;
		int code = ask_changes(h->asking, revision, WAIT_MS, &answer, &err);

		if (code != DP_OK) {
			hub_miss(h, &err);
			revision = 0; /* the next one may be another daemon */
			if (!hub_rest(h, AGAIN_MS))
				break;
			continue;
		}
		revision = dp_json_int(answer, "revision", 0);
		hub_take(h, answer);
		json_decref(answer);
	}
	return NULL;
}

int hub_start(struct asking *k, struct hub **out, struct dp_err *err)
{
	struct hub *h = calloc(1, sizeof *h);
	pthread_condattr_t monotonic;

	if (!h)
		return dp_fail(err, DP_E_NOMEM, "no memory to listen to the daemon");
	h->asking = k;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&h->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&h->thread, NULL, hub_listen, h) != 0) {
		pthread_cond_destroy(&h->news);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return dp_fail(err, DP_E_FAILED,
			       "no thread can be started to listen to the daemon");
	}
	*out = h;
	return DP_OK;
}

void hub_close(struct hub *h)
{
	pthread_mutex_lock(&h->lock);
	h->closed = true;
	pthread_cond_broadcast(&h->news);
	pthread_mutex_unlock(&h->lock);
}

void hub_stop(struct hub *h)
{
	hub_close(h);
	pthread_join(h->thread, NULL);
	pthread_cond_destroy(&h->news);
	pthread_mutex_destroy(&h->lock);
	free(h->studies);
	free(h);
}

/* ---- streams ---- */

static void put_event(struct dp_buf *out, const char *name, json_t *data)
{
	dp_buf_printf(out, "event: %s\ndata: ", name);
	dp_json_dump(out, data, 0);
	dp_buf_puts(out, "\n\n");
	json_decref(data);
}

/* Appends what is new after that place. */
static void hub_put(const struct hub *h, struct hub_place *at, struct dp_buf *out)
{
	if (at->daemon != h->daemon)
		put_event(out, "daemon",
			  h->there ? json_pack("{s:b}", "there", 1)
				   : json_pack("{s:b, s:s}", "there", 0, "message", h->away));
	for (size_t i = 0; i < h->n; i++) {
		const struct hub_study *s = &h->studies[i];

		if (s->change <= at->seen || (s->version < 0 && at->seen == 0))
			continue;
		put_event(out, "study",
			  json_pack("{s:s, s:o}", "study", s->name, "version",
				    s->version < 0 ? json_null() : json_integer(s->version)));
	}
	at->daemon = h->daemon;
	at->seen = h->change;
}

bool hub_next(struct hub *h, struct hub_place *at, int ms, struct dp_buf *out)
{
	struct timespec until;
	bool open;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	pthread_mutex_lock(&h->lock);
	while (!h->closed && at->seen == h->change && at->daemon == h->daemon)
		if (pthread_cond_timedwait(&h->news, &h->lock, &until) != 0)
			break;
	open = !h->closed;
	hub_put(h, at, out);
	pthread_mutex_unlock(&h->lock);
	return open;
}

struct hub_word hub_last(struct hub *h, const char *study)
{
	struct hub_word word = { .version = -1 };
	const struct hub_study *s;

	pthread_mutex_lock(&h->lock);
	s = h->there ? hub_find(h, study) : NULL;
	if (s)
		word = (struct hub_word){ s->version, s->change };
	pthread_mutex_unlock(&h->lock);
	return word;
}
