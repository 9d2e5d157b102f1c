/* client_connection.c - client connections: request lines, replies, timeouts and memory limits. */
#include "daemon/api/client_connection.h"

#include "base/json.h"
#include "base/units.h"
#include "daemon/api/requests.h"
#include "daemon/api/status_cache.h"
#include "protocol/control/control_protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_BUFFER_SIZE = 64 << 10,
	CLIENT_MEMORY_MIN = 16 << 20, /* one whole request with its text and its reply */
	LONG_REQUESTS_US = 4000,      /* for long replies in one round of the loop */
	SHORT_REQUESTS_US = 4000, /* for short ones, at most CLIENT_REQUESTS_PER_ROUND of them */
};

static void client_process_lines(struct client *c);

static struct client *client_find(struct daemon *d, uint64_t id)
{
	for (struct client *c = d->clients->buckets[id % CLIENT_BUCKETS]; c; c = c->next_in_bucket)
		if (c->id == id && !c->closing)
			return c;
	return NULL;
}

/* ---- opening and closing ---- */

static void client_update_memory(struct client *c)
{
	size_t now = c->closing ? 0 : c->input.cap + c->reply_bytes;

	c->daemon->clients->bytes += now - c->counted_bytes;
	c->counted_bytes = now;
}

static void on_client_closed(uv_handle_t *h)
{
	struct client *c = h->data;
	struct daemon *d = c->daemon;

	for (struct client **p = &d->clients->buckets[c->id % CLIENT_BUCKETS]; *p;
	     p = &(*p)->next_in_bucket) {
		if (*p == c) {
			*p = c->next_in_bucket;
			break;
		}
	}
	for (struct client **p = &d->clients->list; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			d->clients->n--;
			break;
		}
	}
	if (c->lifeline && !d->loop_ended && !d->stopping)
		d->ops->stop(d, STOP_KILL, "whoever started it has gone");
	dp_buf_free(&c->input);
	free(c);
	if (d->clients->on_closed)
		d->clients->on_closed(d);
}

void client_close(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	client_update_memory(c);
	uv_close((uv_handle_t *)&c->pipe, on_client_closed);
}

struct client *client_open(struct daemon *d, int fd)
{
	struct client *c = dp_calloc(1, sizeof *c);
	struct ucred peer;
	socklen_t len = sizeof peer;

	c->daemon = d;
	c->id = ++d->clients->last_id;
	c->last_active_us = dp_monotonic_us();
	c->uid = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.uid : (uid_t)-1;
	uv_pipe_init(&d->loop, &c->pipe, 0);
	c->pipe.data = c;
	c->next = d->clients->list;
	d->clients->list = c;
	c->next_in_bucket = d->clients->buckets[c->id % CLIENT_BUCKETS];
	d->clients->buckets[c->id % CLIENT_BUCKETS] = c;
	d->clients->n++;
	if (uv_pipe_open(&c->pipe, fd) == 0)
		return c;
	close(fd);
	client_close(c);
	return NULL;
}

void clients_close_all(struct daemon *d)
{
	if (!d->clients)
		return;
	for (struct client *c = d->clients->list; c; c = c->next)
		client_close(c);
}

/* ---- replies ---- */

struct reply {
	uint64_t client_id;
	uint64_t ticket; /* the newest record that the reply may show */
	struct dp_buf text;
	uv_write_t write;
	struct daemon *daemon;
};

static void reply_free(struct reply *r)
{
	dp_buf_free(&r->text);
	free(r);
}

static void on_reply_written(uv_write_t *w, int status)
{
	struct reply *r = w->data;
	struct client *c = client_find(r->daemon, r->client_id);

	reply_free(r);
	if (!c)
		return;
	c->awaiting_reply = false;
	c->reply_since_us = 0;
	c->reply_bytes = 0;
	c->last_active_us = dp_monotonic_us();
	client_update_memory(c);
	if (status < 0 || c->close_after_reply)
		client_close(c);
	else
		client_process_lines(c);
}

static void send_reply(struct daemon *d, void *arg)
{
	struct reply *r = arg;
	struct client *c = client_find(d, r->client_id);
	uv_buf_t b;
	bool is_whole = !r->text.over_limit && r->text.len; /* else building the JSON failed */

	if (c && is_whole && r->ticket > dp_journal_durable_ticket(d->journal))
		dp_control_mark_unsaved(&r->text, commit_queue_wait_seconds(d));
	b = uv_buf_init(r->text.data, (unsigned)r->text.len);
	if (!c || !is_whole ||
	    uv_write(&r->write, (uv_stream_t *)&c->pipe, &b, 1, on_reply_written) != 0) {
		if (c)
			client_close(c);
		reply_free(r);
		return;
	}
	c->reply_since_us = dp_monotonic_us();
}

/* Takes ownership of the text. */
static struct reply *reply_new(struct client *c, struct dp_buf *text)
{
	struct reply *r = dp_calloc(1, sizeof *r);

	*r = (struct reply){ .client_id = c->id, .text = *text, .daemon = c->daemon };
	r->write.data = r;
	c->reply_bytes = r->text.cap;
	client_update_memory(c);
	return r;
}

static void client_reply_after_commit(struct client *c, struct dp_buf *text, bool is_read_only)
{
	struct reply *r = reply_new(c, text);

	r->ticket = c->daemon->commits->last_ticket;
	if (is_read_only)
		after_commit_read_only(c->daemon, send_reply, r);
	else
		after_commit(c->daemon, send_reply, r);
}

static void clients_enforce_memory(struct daemon *d);

static void client_reply_ok(struct daemon *d, uint64_t client_id, json_t *ok)
{
	struct dp_buf text = { .max = DP_CONTROL_REPLY_MAX };
	struct client *c = client_find(d, client_id);

	if (!c) {
		json_decref(ok);
		return;
	}
	dp_control_format_ok(&text, ok);
	client_reply_after_commit(c, &text, c->is_read_only);
	clients_enforce_memory(d);
}

static void client_reply_error(struct daemon *d, uint64_t client_id, const struct dp_err *err)
{
	struct dp_buf text = { .max = DP_CONTROL_REPLY_MAX };
	struct client *c = client_find(d, client_id);

	if (!c)
		return;
	dp_control_format_error(&text, err);
	client_reply_after_commit(c, &text, true); /* nothing was changed */
}

static const struct reply_ops client_reply_ops = { client_reply_ok, client_reply_error };

/* Replies to `status` of a study without secrets, from the cache. */
static void client_reply_status(struct client *c, struct study *study)
{
	struct dp_buf text = { .max = DP_CONTROL_REPLY_MAX };
	uint64_t ticket = status_cache_reply(study, false, request_status_json, &text);
	struct reply *r = reply_new(c, &text);

	r->ticket = ticket;
	after_ticket_read_only(c->daemon, ticket, send_reply, r);
	clients_enforce_memory(c->daemon);
}

/* Sends at once: the error does not depend on the journal, and the client holds a descriptor. */
void client_reject(struct client *c, int code, const char *why, const char *hint)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;

	dp_fail(&err, code, "%s", why);
	dp_hint(&err, "%s", hint);
	c->close_after_reply = c->awaiting_reply = true;
	dp_control_format_error(&text, &err);
	send_reply(c->daemon, reply_new(c, &text));
}

/* ---- memory of all clients ---- */

static void client_free_input(struct client *c)
{
	dp_buf_free(&c->input);
	c->scanned = 0;
	client_update_memory(c);
}

static struct client *clients_find_largest(struct daemon *d)
{
	struct client *most = NULL;

	for (struct client *c = d->clients->list; c; c = c->next)
		if (!c->closing && !c->close_after_reply &&
		    (!most || c->counted_bytes > most->counted_bytes))
			most = c;
	return most;
}

static void clients_enforce_memory(struct daemon *d)
{
	uint64_t room = d->config.client_memory;
	struct client *c;

	if (room < CLIENT_MEMORY_MIN)
		room = CLIENT_MEMORY_MIN;
	while (d->clients->bytes > room && (c = clients_find_largest(d)) != NULL) {
		log_line(&d->log, LOG_DEBUG, "",
			 "client %llu holds %zu bytes and gives way (client_memory)",
			 (unsigned long long)c->id, c->counted_bytes);
		if (c->awaiting_reply) {
			client_close(c);
			continue;
		}
		client_free_input(c);
		client_reject(c, DP_E_BUSY, "too much is on its way to the daemon (client_memory)",
			      "try again later");
	}
}

/* ---- long polls ---- */

/* A change is reported once it is durable. While the journal does not answer, only polls whose time
 * is over are answered. */
static bool long_poll_is_due(const struct client *c, int64_t now)
{
	const struct study *study;

	if (!c->long_polling || c->closing)
		return false;
	if (now >= c->poll_deadline_us)
		return true;
	if (c->study_id == 0)
		return c->since != c->daemon->studies->change_feed.current_revision &&
		       !commit_queue_is_stalled(c->daemon);
	study = study_by_id(c->daemon, c->study_id);
	return !study || (study_public_view(study).state->next_seq != c->since &&
			  !commit_queue_is_stalled(c->daemon));
}

static void long_poll_format(struct daemon *d, uint32_t study_id, int64_t since,
			     struct dp_buf *text)
{
	struct study *study = study_by_id(d, study_id);
	struct dp_err err;

	if (study_id == 0) {
		dp_control_format_ok(text, change_feed_json(&d->studies->change_feed, since));
	} else if (study && !dp_state_is_private_selection(study->state)) {
		status_cache_reply(study, true, request_status_json, text);
	} else if (study) {
		dp_control_format_ok(text, request_status_json(study));
	} else {
		dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted");
		dp_control_format_error(text, &err);
	}
}

/* Answers all due polls for the same study and `since`, which determine the reply. */
static void long_poll_reply(struct daemon *d, uint32_t study_id, int64_t since, int64_t now)
{
	struct dp_buf text = { .max = DP_CONTROL_REPLY_MAX };

	long_poll_format(d, study_id, since, &text);
	for (struct client *c = d->clients->list; c; c = c->next) {
		struct dp_buf copy = { .over_limit = text.over_limit };

		if (c->study_id != study_id || !long_poll_is_due(c, now) ||
		    (study_id == 0 && c->since != since))
			continue;
		c->long_polling = false;
		dp_buf_add(&copy, text.data, text.len);
		client_reply_after_commit(c, &copy, true);
	}
	dp_buf_free(&text);
	clients_enforce_memory(d);
}

void clients_answer_long_polls(struct daemon *d)
{
	int64_t now = dp_monotonic_us();

	for (struct client *c = d->clients->list; c; c = c->next)
		if (long_poll_is_due(c, now))
			long_poll_reply(d, c->study_id, c->since, now);
}

/* ---- requests ---- */

/* A request that waits for its turn. Requests with long replies have their own queue, so that a
 * short one waits for one of them at most. */
struct queued_request {
	struct queued_request *next;
	uint64_t client_id;
	json_t *request;
};

static struct queued_request *request_queue_pop(struct request_queue *l)
{
	struct queued_request *t = l->first;

	if (t)
		l->first = t->next;
	if (!l->first)
		l->last = &l->first;
	return t;
}

static void queued_request_free(struct queued_request *t)
{
	json_decref(t->request);
	free(t);
}

static void client_handle_request(struct client *c, const json_t *json)
{
	const char *verb = dp_json_str(json, "do", "");
	struct request r = {
		.daemon = c->daemon, .client_id = c->id, .user_name = c->user_name, .json = json
	};

	if (!request_is_read_only(verb) && !c->user_name[0])
		peer_name_format(c->uid, c->user_name);
	switch (request_handle(&r, verb)) {
	case REQUEST_ANSWERED:
		break;
	case REQUEST_WANTS_STATUS:
		client_reply_status(c, r.study);
		break;
	case REQUEST_WANTS_CHANGES:
		c->long_polling = true;
		c->study_id = r.study ? r.study->state->id : 0;
		c->since = r.since;
		c->poll_deadline_us = dp_monotonic_us() + r.timeout_us;
		clients_answer_long_polls(c->daemon);
		break;
	}
}

/* Handles queued requests up to a number and a time limit. */
static void request_queue_run(struct daemon *d, struct request_queue *l, unsigned most, int64_t us)
{
	int64_t until = dp_monotonic_us() + us;
	struct queued_request *t;

	while (most-- > 0 && dp_monotonic_us() < until && (t = request_queue_pop(l)) != NULL) {
		struct client *c = client_find(d, t->client_id);

		d->clients->n_requests++;
		if (c)
			client_handle_request(c, t->request);
		queued_request_free(t);
	}
}

static void on_request_queue_idle(uv_idle_t *idle)
{
	struct daemon *d = idle->data;
	struct clients *all = d->clients;

	request_queue_run(d, &all->short_requests, CLIENT_REQUESTS_PER_ROUND, SHORT_REQUESTS_US);
	request_queue_run(d, &all->long_requests, CLIENT_REQUESTS_PER_ROUND, LONG_REQUESTS_US);
	if (!all->short_requests.first && !all->long_requests.first)
		uv_idle_stop(idle);
}

void clients_init(struct daemon *d)
{
	struct clients *all = d->clients = dp_calloc(1, sizeof *all);

	all->short_requests.last = &all->short_requests.first;
	all->long_requests.last = &all->long_requests.first;
	uv_idle_init(&d->loop, &all->requests_idle);
	all->requests_idle.data = d;
	status_cache_init(d);
	d->replies = &client_reply_ops;
}

void clients_free(struct daemon *d)
{
	struct queued_request *t;

	if (!d->clients)
		return;
	while ((t = request_queue_pop(&d->clients->short_requests)) ||
	       (t = request_queue_pop(&d->clients->long_requests)))
		queued_request_free(t);
	free(d->clients);
	status_cache_free(d);
}

static void client_handle_line(struct client *c, const char *line, size_t len)
{
	struct clients *all = c->daemon->clients;
	struct request_queue *queue;
	struct queued_request *t;
	json_t *request = NULL;
	const char *verb;
	struct dp_err err;

	c->awaiting_reply = true;
	if (dp_control_parse_request(line, len, &request, &verb, &err) != DP_OK) {
		/* not a client of this protocol: reply once, then close */
		c->close_after_reply = true;
		client_reply_error(c->daemon, c->id, &err);
		return;
	}
	c->is_read_only = request_is_read_only(verb);
	queue = request_is_long(verb, request) ? &all->long_requests : &all->short_requests;
	t = dp_malloc(sizeof *t);
	*t = (struct queued_request){ .client_id = c->id, .request = request };
	*queue->last = t;
	queue->last = &t->next;
	uv_idle_start(&all->requests_idle, on_request_queue_idle);
}

static void client_process_lines(struct client *c)
{
	if (c->processing_lines)
		return; /* the loop below continues */
	c->processing_lines = true;
	while (!c->closing && !c->awaiting_reply && !c->close_after_reply &&
	       c->input.len > c->scanned) {
		char *end = memchr(c->input.data + c->scanned, '\n', c->input.len - c->scanned);
		size_t len;

		if (!end) {
			c->scanned = c->input.len;
			break;
		}
		len = (size_t)(end - c->input.data);
		client_handle_line(c, c->input.data, len);
		dp_buf_consume(&c->input, len + 1);
		c->scanned = 0;
		c->input_since_us = dp_monotonic_us();
		if (c->input.len == 0 && c->input.cap > READ_BUFFER_SIZE)
			dp_buf_free(&c->input);
		client_update_memory(c);
	}
	c->processing_lines = false;
	if (c->close_after_reply)
		client_free_input(c); /* no more requests are read from it */
	if (c->closing || c->close_after_reply || c->awaiting_reply)
		return;
	if (c->scanned > DP_CONTROL_REQUEST_MAX) {
		struct dp_err err;

		dp_fail(&err, DP_E_LIMIT, "a request may have at most %d bytes",
			DP_CONTROL_REQUEST_MAX);
		c->close_after_reply = c->awaiting_reply = true;
		client_free_input(c);
		client_reply_error(c->daemon, c->id, &err);
	} else if (c->at_eof) {
		client_close(c);
	} else if (c->reading_paused) {
		c->reading_paused = false;
		client_start_reading(c);
	}
}

static void on_client_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	(void)h;
	(void)suggested;
	buf->base = dp_malloc(READ_BUFFER_SIZE);
	buf->len = READ_BUFFER_SIZE;
}

static void on_client_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = stream->data;

	if (n > 0 && !c->close_after_reply) {
		if (c->input.len == 0)
			c->input_since_us = dp_monotonic_us();
		dp_buf_add(&c->input, buf->base, (size_t)n);
		client_update_memory(c);
		client_process_lines(c);
		if (c->input.len > DP_CONTROL_REQUEST_MAX && c->awaiting_reply && !c->closing) {
			c->reading_paused = true;
			uv_read_stop(stream);
		}
		clients_enforce_memory(c->daemon);
	}
	free(buf->base);
	if (n >= 0)
		return;
	c->at_eof = true;
	/* a client that closed only its sending side still gets its reply */
	if (n != UV_EOF || !c->awaiting_reply || c->long_polling || c->lifeline)
		client_close(c);
}

void client_start_reading(struct client *c)
{
	if (uv_read_start((uv_stream_t *)&c->pipe, on_client_alloc, on_client_read) != 0)
		client_close(c);
}

/* ---- timeouts ---- */

/* Why the client should be closed; NULL: keep it. */
static const char *client_timeout_reason(const struct client *c, int64_t now)
{
	const struct config *config = &c->daemon->config;
	double idle = (double)(now - c->last_active_us) / 1e6;
	double half = (double)(now - (c->input_since_us > c->last_active_us ? c->input_since_us
									    : c->last_active_us)) /
		      1e6;
	double untaken = (double)(now - c->reply_since_us) / 1e6;

	if (c->lifeline || c->closing)
		return NULL;
	if (c->reply_since_us)
		return untaken > config->client_patience ? "did not take its reply" : NULL;
	if (c->awaiting_reply)
		return NULL;
	if (c->input.len > 0 && half > config->client_patience)
		return "left a request half sent";
	return idle > config->client_idle ? "asked nothing" : NULL;
}

void clients_close_timed_out(struct daemon *d)
{
	int64_t now = dp_monotonic_us();

	for (struct client *c = d->clients->list; c; c = c->next) {
		const char *why = client_timeout_reason(c, now);

		if (!why)
			continue;
		log_line(&d->log, LOG_DEBUG, "", "client %llu %s for too long: closed",
			 (unsigned long long)c->id, why);
		client_close(c);
	}
}
