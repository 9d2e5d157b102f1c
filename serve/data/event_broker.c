/* event_broker.c - waits for the daemon's changes and serves them to all event streams. */
#include "serve/data/event_broker.h"

#include "base/json.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	CHANGES_TIMEOUT_MS = 1000, /* wait for changes; also the longest delay of a stop */
	RECONNECT_DELAY_MS = 500
};

struct broker_study {
	char name[DP_NAME_MAX + 1];
	int64_t version; /* -1: deleted */
	uint64_t change_number;
	bool is_listed; /* in the answer that lists all studies */
};

struct event_broker {
	struct daemon_client *daemon;
	pthread_t thread;
	pthread_mutex_t lock; /* protects all members below */
	pthread_cond_t changed;
	struct broker_study *studies;
	size_t n_studies, capacity;
	uint64_t n_changes;        /* number of study changes, */
	uint64_t n_daemon_changes; /* and of daemon starts and losses */
	bool daemon_up, is_closed;
	bool is_listing_all;   /* the daemon is listing all studies, in pages */
	char down_reason[512]; /* why the daemon is unreachable */
};

static struct broker_study *broker_find_study(struct event_broker *broker, const char *name)
{
	for (size_t i = 0; i < broker->n_studies; i++)
		if (strcmp(broker->studies[i].name, name) == 0)
			return &broker->studies[i];
	return NULL;
}

static void broker_set_version(struct event_broker *broker, const char *name, int64_t version)
{
	struct broker_study *s = broker_find_study(broker, name);

	if (!s && version < 0)
		return;
	if (!s) {
		if (broker->n_studies == broker->capacity) {
			broker->capacity = broker->capacity ? 2 * broker->capacity : 64;
			broker->studies = dp_reallocarray(broker->studies, broker->capacity,
							  sizeof *broker->studies);
		}
		s = &broker->studies[broker->n_studies++];
		*s = (struct broker_study){ .version = -1 };
		snprintf(s->name, sizeof s->name, "%s", name);
	}
	s->is_listed = true;
	if (s->version == version && s->change_number)
		return;
	s->version = version;
	s->change_number = ++broker->n_changes;
}

/* Handles an answer that lists all studies. At the end of the list, studies that it did not name
 * are deleted. */
static void broker_sweep_deleted(struct event_broker *broker, const json_t *answer, bool before)
{
	size_t i;

	if (before && dp_json_bool(answer, "whole", false)) {
		broker->is_listing_all = true;
		for (i = 0; i < broker->n_studies; i++)
			broker->studies[i].is_listed = false;
	}
	if (before || !broker->is_listing_all || dp_json_bool(answer, "more", false))
		return;
	broker->is_listing_all = false;
	for (i = 0; i < broker->n_studies; i++)
		if (!broker->studies[i].is_listed)
			broker_set_version(broker, broker->studies[i].name, -1);
}

static void broker_apply_changes(struct event_broker *broker, const json_t *answer)
{
	const json_t *one;
	size_t i;

	pthread_mutex_lock(&broker->lock);
	broker_sweep_deleted(broker, answer, true);
	json_array_foreach (json_object_get(answer, "studies"), i, one)
		broker_set_version(broker, dp_json_str(one, "study", ""),
				   dp_json_int(one, "version", -1));
	broker_sweep_deleted(broker, answer, false);
	if (!broker->daemon_up) {
		broker->daemon_up = true;
		broker->n_daemon_changes++;
	}
	pthread_cond_broadcast(&broker->changed);
	pthread_mutex_unlock(&broker->lock);
}

static void broker_set_daemon_down(struct event_broker *broker, const struct dp_err *err)
{
	pthread_mutex_lock(&broker->lock);
	if (broker->daemon_up || !broker->n_daemon_changes) {
		broker->daemon_up = false;
		broker->n_daemon_changes++;
		snprintf(broker->down_reason, sizeof broker->down_reason, "%s", err->msg);
	}
	pthread_cond_broadcast(&broker->changed);
	pthread_mutex_unlock(&broker->lock);
}

static bool broker_sleep(struct event_broker *broker, int ms)
{
	struct timespec until;
	bool open;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (ms % 1000) * 1000000L;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&broker->lock);
	while (!broker->is_closed &&
	       pthread_cond_timedwait(&broker->changed, &broker->lock, &until) == 0)
		;
	open = !broker->is_closed;
	pthread_mutex_unlock(&broker->lock);
	return open;
}

static void *broker_thread_main(void *arg)
{
	struct event_broker *broker = arg;
	int64_t revision = 0;

	while (broker_sleep(broker, 0)) {
		struct dp_err err;
		json_t *answer;
		int code = daemon_wait_changes(broker->daemon, revision, CHANGES_TIMEOUT_MS,
					       &answer, &err);

		if (code != DP_OK) {
			broker_set_daemon_down(broker, &err);
			revision = 0; /* the daemon may be a new one with other revisions */
			(void)broker_sleep(broker, RECONNECT_DELAY_MS);
			continue;
		}
		revision = dp_json_int(answer, "revision", 0);
		broker_apply_changes(broker, answer);
		json_decref(answer);
	}
	return NULL;
}

int event_broker_start(struct daemon_client *daemon, struct event_broker **out, struct dp_err *err)
{
	struct event_broker *broker = dp_calloc(1, sizeof *broker);
	pthread_condattr_t monotonic;

	broker->daemon = daemon;
	pthread_mutex_init(&broker->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&broker->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&broker->thread, NULL, broker_thread_main, broker) != 0) {
		pthread_cond_destroy(&broker->changed);
		pthread_mutex_destroy(&broker->lock);
		free(broker);
		return dp_fail(err, DP_E_FAILED,
			       "no thread can be started to listen to the daemon");
	}
	*out = broker;
	return DP_OK;
}

void event_broker_close(struct event_broker *broker)
{
	pthread_mutex_lock(&broker->lock);
	broker->is_closed = true;
	pthread_cond_broadcast(&broker->changed);
	pthread_mutex_unlock(&broker->lock);
}

void event_broker_stop(struct event_broker *broker)
{
	event_broker_close(broker);
	pthread_join(broker->thread, NULL);
	pthread_cond_destroy(&broker->changed);
	pthread_mutex_destroy(&broker->lock);
	free(broker->studies);
	free(broker);
}

static void append_sse_event(struct dp_buf *out, const char *name, json_t *data)
{
	dp_buf_printf(out, "event: %s\ndata: ", name);
	dp_json_dump(out, data, 0);
	dp_buf_puts(out, "\n\n");
	json_decref(data);
}

bool event_broker_next(struct event_broker *broker, struct event_cursor *at, int ms,
		       struct dp_buf *out)
{
	struct timespec until;
	bool open;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	pthread_mutex_lock(&broker->lock);
	while (!broker->is_closed && at->last_change == broker->n_changes &&
	       at->last_daemon_change == broker->n_daemon_changes)
		if (pthread_cond_timedwait(&broker->changed, &broker->lock, &until) != 0)
			break;
	open = !broker->is_closed;
	if (at->last_daemon_change != broker->n_daemon_changes)
		append_sse_event(out, "daemon",
				 broker->daemon_up ? json_pack("{s:b}", "there", 1)
						   : json_pack("{s:b, s:s}", "there", 0, "message",
							       broker->down_reason));
	for (size_t i = 0; i < broker->n_studies; i++) {
		const struct broker_study *s = &broker->studies[i];

		if (s->change_number <= at->last_change || (s->version < 0 && at->last_change == 0))
			continue;
		append_sse_event(
			out, "study",
			json_pack("{s:s, s:o}", "study", s->name, "version",
				  s->version < 0 ? json_null() : json_integer(s->version)));
	}
	at->last_daemon_change = broker->n_daemon_changes;
	at->last_change = broker->n_changes;
	pthread_mutex_unlock(&broker->lock);
	return open;
}

struct study_version event_broker_study_version(struct event_broker *broker, const char *study)
{
	struct study_version word = { .version = -1 };
	const struct broker_study *s;

	pthread_mutex_lock(&broker->lock);
	s = broker->daemon_up ? broker_find_study(broker, study) : NULL;
	if (s)
		word = (struct study_version){ s->version, s->change_number };
	pthread_mutex_unlock(&broker->lock);
	return word;
}
