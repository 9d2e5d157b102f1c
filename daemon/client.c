/* client.c - the connections to the daemon: lines in, replies out, and what one that is
 * idle, slow or greedy may cost the others. */
#include "daemon/client.h"

#include "base/json.h"
#include "base/num.h"
#include "daemon/record.h"
#include "daemon/requests.h"
#include "daemon/server.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_ROOM = 64 << 10,
	MEMORY_LEAST = 16 << 20, /* a whole request, its text and its reply */
	LONG_US = 4000,          /* for long answers in one round of the loop; then the others */
	SHORT_US = 4000,         /* likewise, and at most CLIENT_REQUESTS_A_ROUND of them */
};

static void client_take_lines(struct client *c);

static struct client *client_by_id(struct dpd *d, uint64_t id)
{
	for (struct client *c = d->client_by_id[id % CLIENT_BUCKETS]; c; c = c->next_same)
		if (c->id == id && !c->closing)
			return c;
	return NULL;
}

/* ---- coming and going ---- */

/* Counts what the client holds of memory now. */
static void client_count(struct client *c)
{
	size_t now = c->closing ? 0 : c->in.cap + c->reply_bytes;

	c->d->client_bytes += now - c->held;
	c->held = now;
}

static void client_unlist(struct client *c)
{
	struct client **p = &c->d->client_by_id[c->id % CLIENT_BUCKETS];

	while (*p != c)
		p = &(*p)->next_same;
	*p = c->next_same;
}

static void on_client_closed(uv_handle_t *h)
{
	struct client *c = h->data;
	struct dpd *d = c->d;

	client_unlist(c);
	for (struct client **p = &d->clients; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			d->nclients--;
			break;
		}
	}
	if (c->lifeline && !d->closed && !d->stopping)
		daemon_stop(d, STOP_KILL, "whoever started it has gone");
	dp_buf_free(&c->in);
	free(c);
	server_listen_again(d); /* there is a descriptor free */
}

const char *client_name(struct dpd *d, uint64_t client)
{
	struct client *c = client_by_id(d, client);

	if (c && !c->name[0])
		who_named(c->user, c->name);
	return c ? c->name : "somebody who has gone";
}

void client_close(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	client_count(c);
	uv_close((uv_handle_t *)&c->pipe, on_client_closed);
}

struct client *client_open(struct dpd *d, int fd)
{
	struct client *c = calloc(1, sizeof *c);
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (!c) {
		close(fd);
		return NULL;
	}
	c->d = d;
	c->id = ++d->last_client;
	c->spoken = dp_mono_us();
	c->user = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.uid : (uid_t)-1;
	uv_pipe_init(&d->loop, &c->pipe, 0);
	c->pipe.data = c;
	c->next = d->clients;
	d->clients = c;
	c->next_same = d->client_by_id[c->id % CLIENT_BUCKETS];
	d->client_by_id[c->id % CLIENT_BUCKETS] = c;
	d->nclients++;
	if (uv_pipe_open(&c->pipe, fd) == 0)
		return c;
	close(fd);
	client_close(c);
	return NULL;
}

void server_drop_clients(struct dpd *d)
{
	for (struct client *c = d->clients; c; c = c->next)
		client_close(c);
}

/* ---- replies ---- */

struct reply {
	uint64_t client;
	uint64_t ticket; /* the newest record that it may show */
	struct dp_buf text;
	uv_write_t write;
	struct dpd *d;
};

static void reply_free(struct reply *r)
{
	dp_buf_free(&r->text);
	free(r);
}

static void on_written(uv_write_t *w, int status)
{
	struct reply *r = w->data;
	struct client *c = client_by_id(r->d, r->client);

	reply_free(r);
	if (!c)
		return;
	c->answering = false;
	c->writing = 0;
	c->reply_bytes = 0;
	c->spoken = dp_mono_us();
	client_count(c);
	if (status < 0 || c->hang_up)
		client_close(c);
	else
		client_take_lines(c);
}

static void send_reply(struct dpd *d, void *arg)
{
	struct reply *r = arg;
	struct client *c = client_by_id(d, r->client);
	uv_buf_t b;

	if (c && r->ticket > dp_journal_durable(d->journal))
		dp_wire_unsaved(&r->text, record_silence(d));
	b = uv_buf_init(r->text.data, (unsigned)r->text.len);
	if (!c || r->text.failed ||
	    uv_write(&r->write, (uv_stream_t *)&c->pipe, &b, 1, on_written) != 0) {
		if (c)
			client_close(c);
		reply_free(r);
		return;
	}
	c->writing = dp_mono_us();
}

/* Takes the text over, which is empty afterwards; NULL without memory. */
static struct reply *reply_new(struct client *c, struct dp_buf *text)
{
	struct reply *r = calloc(1, sizeof *r);

	if (!r || text->failed) {
		free(r);
		dp_buf_free(text);
		client_close(c);
		return NULL;
	}
	*r = (struct reply){ .client = c->id, .text = *text, .d = c->d };
	*text = (struct dp_buf)DP_BUF_INIT;
	r->write.data = r;
	c->reply_bytes = r->text.cap;
	client_count(c);
	return r;
}

static void client_reply(struct client *c, struct dp_buf *text, bool looks)
{
	struct reply *r = reply_new(c, text);

	if (!r)
		return;
	r->ticket = c->d->last_ticket;
	if (looks)
		after_commit_look(c->d, send_reply, r);
	else
		after_commit(c->d, send_reply, r);
}

/* The same to one that looks, of a text that shows nothing newer than the ticket. */
static void client_reply_as_of(struct client *c, struct dp_buf *text, uint64_t ticket)
{
	struct reply *r = reply_new(c, text);

	if (!r)
		return;
	r->ticket = ticket;
	after_ticket_look(c->d, ticket, send_reply, r);
}

static void clients_make_room(struct dpd *d);

void client_ok(struct dpd *d, uint64_t client, json_t *ok)
{
	struct dp_buf text = { .max = DP_WIRE_REPLY_MAX };
	struct client *c = client_by_id(d, client);

	if (!c) {
		json_decref(ok);
		return;
	}
	dp_wire_ok(&text, ok);
	client_reply(c, &text, c->looks);
	clients_make_room(d);
}

void client_status(struct dpd *d, uint64_t client, struct study *h)
{
	struct dp_buf text = { .max = DP_WIRE_REPLY_MAX };
	struct client *c = client_by_id(d, client);
	uint64_t ticket;

	if (!c)
		return;
	ticket = status_cache_reply(h, false, &text);
	client_reply_as_of(c, &text, ticket);
	clients_make_room(d);
}

void client_error(struct dpd *d, uint64_t client, const struct dp_err *err)
{
	struct dp_buf text = { .max = DP_WIRE_REPLY_MAX };
	struct client *c = client_by_id(d, client);

	if (!c)
		return;
	dp_wire_error(&text, err);
	client_reply(c, &text, true); /* nothing was changed */
}

/* At once: it has nothing to do with the journal, and holds a descriptor. */
void client_refuse(struct client *c, int code, const char *why, const char *hint)
{
	struct dp_buf text = DP_BUF_INIT;
	struct reply *r;
	struct dp_err err;

	dp_fail(&err, code, "%s", why);
	dp_hint(&err, "%s", hint);
	c->hang_up = c->answering = true;
	dp_wire_error(&text, &err);
	r = reply_new(c, &text);
	if (r)
		send_reply(c->d, r);
}

/* ---- memory: what all of them hold together ---- */

static void client_forget_input(struct client *c)
{
	dp_buf_free(&c->in);
	c->scanned = 0;
	client_count(c);
}

static struct client *client_that_holds_most(struct dpd *d)
{
	struct client *most = NULL;

	for (struct client *c = d->clients; c; c = c->next)
		if (!c->closing && !c->hang_up && (!most || c->held > most->held))
			most = c;
	return most;
}

static void clients_make_room(struct dpd *d)
{
	uint64_t room = d->config.client_memory;
	struct client *c;

	if (room < MEMORY_LEAST)
		room = MEMORY_LEAST;
	while (d->client_bytes > room && (c = client_that_holds_most(d)) != NULL) {
		log_line(&d->log, LOG_DEBUG, "",
			 "client %llu holds %zu bytes and gives way (client_memory)",
			 (unsigned long long)c->id, c->held);
		if (c->answering) {
			client_close(c);
			continue;
		}
		client_forget_input(c);
		client_refuse(c, DP_E_BUSY, "too much is on its way to the daemon (client_memory)",
			      "try again later");
	}
}

/* ---- long polls ---- */

void client_wait(struct dpd *d, uint64_t client, uint32_t study, int64_t since, int64_t timeout_us)
{
	struct client *c = client_by_id(d, client);

	if (!c)
		return;
	c->waiting = true;
	c->study = study;
	c->since = since;
	c->until = dp_mono_us() + timeout_us;
	client_poll_changes(d);
}

/* A change is told once it is on the disk; while the journal is silent only those are
 * answered whose time is over. */
static bool client_is_due(const struct client *c, int64_t now)
{
	const struct study *h;

	if (!c->waiting || c->closing)
		return false;
	if (now >= c->until)
		return true;
	if (c->study == CLIENT_ANY_STUDY)
		return revision_differs(c->d, c->since) && !record_is_silent(c->d);
	h = study_by_id(c->d, c->study);
	return !h || (study_shown(h)->seq != c->since && !record_is_silent(c->d));
}

static void poll_text(struct dpd *d, uint32_t study, int64_t since, struct dp_buf *text)
{
	struct study *h = study_by_id(d, study);
	struct dp_err err;

	if (study == CLIENT_ANY_STUDY) {
		dp_wire_ok(text, revision_json(d, since));
	} else if (h && !dp_study_hides(h->state)) {
		status_cache_reply(h, true, text);
	} else if (h) {
		dp_wire_ok(text, request_status_json(h));
	} else {
		dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted");
		dp_wire_error(text, &err);
	}
}

/* Answers all that wait for the same and are due, with one text. What is told of one
 * study is the same for everybody; of all of them it is what each does not know yet, but
 * those who wait know the same. */
static void poll_answer(struct dpd *d, uint32_t study, int64_t since, int64_t now)
{
	struct dp_buf text = { .max = DP_WIRE_REPLY_MAX };

	poll_text(d, study, since, &text);
	for (struct client *c = d->clients; c; c = c->next) {
		struct dp_buf copy = { .failed = text.failed };

		if (c->study != study || !client_is_due(c, now) ||
		    (study == CLIENT_ANY_STUDY && c->since != since))
			continue;
		c->waiting = false;
		dp_buf_add(&copy, text.data, text.len);
		client_reply(c, &copy, true);
	}
	dp_buf_free(&text);
	clients_make_room(d);
}

void client_poll_changes(struct dpd *d)
{
	int64_t now = dp_mono_us();

	for (struct client *c = d->clients; c; c = c->next)
		if (client_is_due(c, now))
			poll_answer(d, c->study, c->since, now);
}

/* ---- requests ---- */

/* A request that waits for its turn. Those with long answers are a queue of their own, so
 * that a short one never waits for more than one of them. */
struct todo {
	struct todo *next;
	uint64_t client;
	json_t *request;
};

static struct todo *todo_take(struct todo_list *l)
{
	struct todo *t = l->first;

	if (t)
		l->first = t->next;
	if (!l->first)
		l->last = &l->first;
	return t;
}

static void todo_free(struct todo *t)
{
	json_decref(t->request);
	free(t);
}

/* Handles what waits in the list, up to a number and until a time. */
static void todo_handle(struct dpd *d, struct todo_list *l, unsigned most, int64_t us)
{
	int64_t until = dp_mono_us() + us;
	struct todo *t;

	while (most-- > 0 && dp_mono_us() < until && (t = todo_take(l)) != NULL) {
		d->requests++;
		if (client_by_id(d, t->client))
			request_handle(d, t->client, dp_json_str(t->request, "do", ""), t->request);
		todo_free(t);
	}
}

static void on_todo(uv_idle_t *idle)
{
	struct dpd *d = idle->data;

	todo_handle(d, &d->todo_short, CLIENT_REQUESTS_A_ROUND, SHORT_US);
	todo_handle(d, &d->todo_long, CLIENT_REQUESTS_A_ROUND, LONG_US);
	if (!d->todo_short.first && !d->todo_long.first)
		uv_idle_stop(idle);
}

/* Takes the reference. */
static void client_do_later(struct client *c, struct todo_list *l, json_t *request)
{
	struct todo *t = malloc(sizeof *t);

	if (!t) {
		json_decref(request);
		client_close(c);
		return;
	}
	*t = (struct todo){ .client = c->id, .request = request };
	*l->last = t;
	l->last = &t->next;
	uv_idle_start(&c->d->todo_idle, on_todo);
}

void clients_init(struct dpd *d)
{
	d->todo_short.last = &d->todo_short.first;
	d->todo_long.last = &d->todo_long.first;
	uv_idle_init(&d->loop, &d->todo_idle);
	d->todo_idle.data = d;
}

void clients_free(struct dpd *d)
{
	struct todo *t;

	while ((t = todo_take(&d->todo_short)) || (t = todo_take(&d->todo_long)))
		todo_free(t);
	status_cache_free(d);
}

static void client_handle_line(struct client *c, const char *line, size_t len)
{
	json_t *request = NULL;
	const char *verb;
	struct dp_err err;

	c->answering = true;
	if (dp_wire_read_request(line, len, &request, &verb, &err) != DP_OK) {
		/* a stranger: tell it once, then hang up */
		c->hang_up = true;
		client_error(c->d, c->id, &err);
		return;
	}
	c->looks = request_looks(verb);
	client_do_later(c, request_is_long(verb, request) ? &c->d->todo_long : &c->d->todo_short,
			request);
}

/* Takes the first `n` bytes of what it sent away, and room that is large and empty. */
static void client_drop_input(struct client *c, size_t n)
{
	dp_buf_drop(&c->in, n);
	c->scanned = 0;
	c->begun = dp_mono_us();
	if (c->in.len == 0 && c->in.cap > READ_ROOM)
		dp_buf_free(&c->in);
	client_count(c);
}

static void client_take_lines(struct client *c)
{
	if (c->handling)
		return; /* the loop below goes on */
	c->handling = true;
	while (!c->closing && !c->answering && !c->hang_up && c->in.len > c->scanned) {
		char *end = memchr(c->in.data + c->scanned, '\n', c->in.len - c->scanned);
		size_t len;

		if (!end) {
			c->scanned = c->in.len;
			break;
		}
		len = (size_t)(end - c->in.data);
		client_handle_line(c, c->in.data, len);
		client_drop_input(c, len + 1);
	}
	c->handling = false;
	if (c->hang_up)
		client_forget_input(c); /* nothing more is taken from it */
	if (c->closing || c->hang_up || c->answering)
		return;
	if (c->scanned > DP_WIRE_REQUEST_MAX) {
		struct dp_err err;

		dp_fail(&err, DP_E_LIMIT, "a request may have at most %d bytes",
			DP_WIRE_REQUEST_MAX);
		c->hang_up = c->answering = true;
		client_forget_input(c);
		client_error(c->d, c->id, &err);
	} else if (c->ended) {
		client_close(c);
	} else if (c->paused) {
		c->paused = false;
		client_read_on(c);
	}
}

static void on_client_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	(void)h;
	(void)suggested;
	buf->base = malloc(READ_ROOM);
	buf->len = buf->base ? READ_ROOM : 0;
}

static void client_take_bytes(struct client *c, const char *bytes, size_t n)
{
	if (c->in.len == 0)
		c->begun = dp_mono_us();
	dp_buf_add(&c->in, bytes, n);
	client_count(c);
	if (c->in.failed) {
		/* no memory: bytes were lost, and with them where requests begin */
		client_close(c);
		return;
	}
	client_take_lines(c);
	if (c->in.len > DP_WIRE_REQUEST_MAX && c->answering && !c->closing) {
		c->paused = true;
		uv_read_stop((uv_stream_t *)&c->pipe);
	}
	clients_make_room(c->d);
}

static void on_client_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = stream->data;

	if (n > 0 && !c->hang_up)
		client_take_bytes(c, buf->base, (size_t)n);
	free(buf->base);
	if (n >= 0)
		return;
	c->ended = true;
	/* one that closed only its own side still gets the answers it asked for */
	if (n != UV_EOF || !c->answering || c->waiting || c->lifeline)
		client_close(c);
}

void client_read_on(struct client *c)
{
	if (uv_read_start((uv_stream_t *)&c->pipe, on_client_alloc, on_client_read) != 0)
		client_close(c);
}

/* ---- time ---- */

/* Why it is of no use to keep this one; NULL if it is. */
static const char *client_overdue(const struct client *c, int64_t now)
{
	const struct config *config = &c->d->config;
	double idle = (double)(now - c->spoken) / 1e6;
	double half = (double)(now - (c->begun > c->spoken ? c->begun : c->spoken)) / 1e6;
	double untaken = (double)(now - c->writing) / 1e6;

	if (c->lifeline || c->closing)
		return NULL;
	if (c->writing)
		return untaken > config->client_patience ? "did not take its reply" : NULL;
	if (c->answering)
		return NULL;
	if (c->in.len > 0 && half > config->client_patience)
		return "left a request half sent";
	return idle > config->client_idle ? "asked nothing" : NULL;
}

void clients_drop_overdue(struct dpd *d)
{
	int64_t now = dp_mono_us();

	for (struct client *c = d->clients; c; c = c->next) {
		const char *why = client_overdue(c, now);

		if (!why)
			continue;
		log_line(&d->log, LOG_DEBUG, "", "client %llu %s for too long: closed",
			 (unsigned long long)c->id, why);
		client_close(c);
	}
}
