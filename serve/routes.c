/* routes.c - which path is answered by what: routes[] has all of them. */
#include "serve/serve.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/command.h"
#include "reports/plot/plot.h"
#include "serve/choice.h"
#include "serve/figures.h"
#include "serve/large_front.h"
#include "serve/log.h"
#include "serve/metrics.h"
#include "serve/shell.h"
#include "serve/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REPORT_MAX = 64 << 20,
	WIDTH_LEAST = 280,
	WIDTH = 760,
	WIDTH_MOST = 1600,
};

/* A picture alone may have a style of its own, and nothing else. */
#define PICTURE_POLICY "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
#define REPORT_POLICY                                                                              \
	"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri "                  \
	"'none'; "                                                                                 \
	"form-action 'none'; frame-ancestors 'none'"

/* A request on its way to its answer. */
struct visit {
	struct serve *s;
	const struct http_request *q;
	const char *study, *trial; /* of the path; NULL where it has none */
	const char *last;          /* its last part */
	struct http_reply *a;
};

typedef int route_fn(struct visit *v, struct dp_err *err);

void serve_init(struct serve *s, const char *socket)
{
	memset(s, 0, sizeof *s);
	asking_init(&s->asking, socket);
	shelf_init(&s->shelf);
	pthread_mutex_init(&s->drawing, NULL);
	pthread_mutex_init(&s->listing, NULL);
}

void serve_free(struct serve *s)
{
	pthread_mutex_destroy(&s->drawing);
	pthread_mutex_destroy(&s->listing);
	shelf_free(&s->shelf);
	asking_free(&s->asking);
}

/* ---- the page and its files ---- */

static int route_page(struct visit *v, struct dp_err *err)
{
	bool closed = v->s->guard.closed && !guard_knows(&v->s->guard, v->q, true);

	return shell_page(&v->s->asking, v->study, closed, v->a, err);
}

static int route_file(struct visit *v, struct dp_err *err)
{
	if (shell_file(v->last, v->q->known, v->a))
		return DP_OK;
	return dp_fail(err, DP_E_NOT_FOUND, "there is no such page");
}

static int route_report(struct visit *v, struct dp_err *err)
{
	const json_t *summary;
	json_t *status;
	char *path;
	int code = ask_study(&v->s->asking, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	path = dp_path_join(dp_json_str(summary, "directory", ""), "report/report.html");
	code = path ? dp_read_plain(path, REPORT_MAX, &v->a->body, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (code == DP_E_NOT_FOUND) {
		const char *why = dp_json_str(summary, "report_error", NULL);

		dp_fail(err, code, "study '%s' has no report yet%s%s", v->study, why ? ": " : "",
			why ? why : "");
		dp_hint(err, "'dparetoctl report %s' makes one now", v->study);
	}
	v->a->type = "text/html; charset=utf-8";
	v->a->policy = REPORT_POLICY;
	free(path);
	json_decref(status);
	return code;
}

/* ---- what commands of dparetoctl answer ---- */

static int answer_command(struct visit *v, const struct ask *ask, struct dp_err *err)
{
	v->a->type = "application/json";
	return ask_command(&v->s->asking, ask, &v->a->body, err);
}

enum {
	HELD_MAX = 256 << 20
};

/* An answer that grows with the study. Memory is bounded: one is written at a time, and
 * none while peers read too much of earlier ones. */
static int answer_long(struct visit *v, const struct ask *ask, struct dp_err *err)
{
	int code;

	pthread_mutex_lock(&v->s->listing);
	if (atomic_load(&v->s->held) > (size_t)HELD_MAX) {
		dp_fail(err, DP_E_BUSY, "too many long answers are being sent");
		code = dp_hint(err, "try again, or ask for a part (limit=...)");
	} else {
		code = answer_command(v, ask, err);
		v->a->held = v->a->body.len;
		atomic_fetch_add(&v->s->held, v->a->held);
	}
	pthread_mutex_unlock(&v->s->listing);
	return code;
}

static int route_session(struct visit *v, struct dp_err *err)
{
	const struct guard *g = &v->s->guard;

	return http_reply_json(v->a,
			       json_pack("{s:s, s:b, s:b, s:b}", "version", ctl_version(),
					 "control", g->control, "token", g->closed, "signed_in",
					 !g->closed || guard_knows(g, v->q, true)),
			       err);
}

static int route_daemon(struct visit *v, struct dp_err *err)
{
	json_t *hello;
	int code = ask_verb(&v->s->asking, "hello", NULL, NULL, &hello, err);

	return code == DP_OK ? http_reply_json(v->a, hello, err) : code;
}

static int route_studies(struct visit *v, struct dp_err *err)
{
	const struct ask ask = { .command = "list" };

	return answer_command(v, &ask, err);
}

/* With front=first, of a long front only its first points. */
static int route_study(struct visit *v, struct dp_err *err)
{
	const struct ask ask = { .command = "status", .arg = { v->study } };
	const char *front = http_query(v->q, "front");
	const json_t *summary;
	json_t *status;
	int code;

	if (!front || strcmp(front, "first") != 0)
		return answer_command(v, &ask, err);
	code = ask_study(&v->s->asking, v->study, &status, &summary, err);
	if (code != DP_OK)
		return code;
	json_object_del(status, "more");
	return http_reply_json(v->a, status, err);
}

/* The query's fields are the command's options. */
static int answer_options(struct visit *v, struct ask *ask, struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; i < v->q->nquery && code == DP_OK; i++)
		code = ask_add(ask, v->q->query[i].name, v->q->query[i].value, err);
	return code == DP_OK ? answer_command(v, ask, err) : code;
}

static int route_front(struct visit *v, struct dp_err *err)
{
	struct ask ask = { .command = "front", .arg = { v->study } };

	return answer_options(v, &ask, err);
}

/* What of a large front can be seen and, if `choice` is not NULL, the point to take. */
static int large_front_get(struct serve *s, const char *study, const json_t *summary,
			   json_t **front, json_t **choice, struct dp_err *err)
{
	struct figure_axis x, y;
	struct large_front large;
	int code = large_front_find(s, study, &large, err);

	if (code == DP_OK && figures_axes(summary, &x, &y))
		code = large_front_thin(&large, &x, &y, front, err);
	if (code == DP_OK && choice)
		code = large_front_choose(s, &large, study, summary, choice, err);
	large_front_free(&large);
	return code;
}

/* A front to draw, and the point to take unless `choice` is NULL. The caller owns both,
 * whatever is returned. */
static int front_get(struct serve *s, const char *study, const json_t *summary, json_t **front,
		     json_t **choice, struct dp_err *err)
{
	const struct ask ask = { .command = "front", .arg = { study } };
	int code;

	*front = NULL;
	if (choice)
		*choice = NULL;
	if (large_front_is(summary))
		return large_front_get(s, study, summary, front, choice, err);
	code = ask_value(&s->asking, &ask, front, err);
	if (code == DP_OK && choice)
		code = choice_find(summary, *front, choice, err);
	return code;
}

static int route_choice(struct visit *v, struct dp_err *err)
{
	const json_t *summary;
	json_t *status, *front, *choice;
	int code = ask_study(&v->s->asking, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	code = front_get(v->s, v->study, summary, &front, &choice, err);
	json_decref(front);
	json_decref(status);
	return code == DP_OK ? http_reply_json(v->a, choice, err) : code;
}

/* Only what models say: a point that is verified would be trained. */
static int route_recommend(struct visit *v, struct dp_err *err)
{
	struct ask ask = { .command = "recommend", .arg = { v->study } };
	int code = DP_OK;

	for (size_t i = 0; i < v->q->nquery && code == DP_OK; i++)
		code = strcmp(v->q->query[i].name, "at") == 0
			       ? ask_add(&ask, "at", v->q->query[i].value, err)
			       : dp_fail(err, DP_E_USAGE,
					 "a recommendation is asked for by 'at' alone");
	return code == DP_OK ? answer_command(v, &ask, err) : code;
}

static int route_trial(struct visit *v, struct dp_err *err)
{
	const struct ask ask = { .command = "trial", .arg = { v->study, v->trial } };

	return answer_command(v, &ask, err);
}

/* A part in the order of numbers, fetched alone. *done is false if there is none: all
 * rows are needed then. */
static int answer_plain_trials(struct visit *v, bool *done, struct dp_err *err)
{
	struct hub *h = v->s->hub;
	int64_t version = h ? hub_last(h, v->study).version : -1, total;
	struct ask_part part;
	json_t *rows = NULL;
	int code = table_plain_part(v->q, &part, err);

	if (code == DP_OK)
		code = ask_trials_part(&v->s->asking, v->study, &part, &rows, &total, err);
	*done = code != DP_OK || rows;
	if (rows)
		code = table_put_plain(rows, &part, total, version, &v->a->body, err);
	json_decref(rows);
	return code;
}

static int route_trials(struct visit *v, struct dp_err *err)
{
	const struct ask all = { .command = "trials", .arg = { v->study } };
	int64_t version;
	struct rows *rows;
	bool done = false;
	int code = DP_OK;

	if (!table_asked(v->q))
		return answer_long(v, &all, err);
	v->a->type = "application/json";
	if (table_is_plain(v->q))
		code = answer_plain_trials(v, &done, err);
	if (done)
		return code;
	/* its answer says what version it has: who reads on can ask again */
	code = shelf_rows(&v->s->shelf, &v->s->asking, v->s->hub, v->study, SHELF_AT_ONCE, &rows,
			  &version, err);
	if (code != DP_OK)
		return code;
	code = table_part(rows, v->q, version, &v->a->body, err);
	rows_unref(rows);
	return code;
}

static int route_log(struct visit *v, struct dp_err *err)
{
	json_t *part;
	int code = log_part(&v->s->asking, v->study, v->trial, v->q, &part, err);

	return code == DP_OK ? http_reply_json(v->a, part, err) : code;
}

/* ---- pictures ---- */

static int form_read(const struct http_request *q, struct figure_form *f, struct dp_err *err)
{
	int64_t width;
	int code = http_query_int(q, "width", WIDTH_LEAST, WIDTH_MOST, WIDTH, &width, err);

	f->width = (int)width;
	f->inlined = http_query(q, "inline") != NULL;
	return code;
}

/* What pictures are of; the caller lets go of it by album_free(). */
struct album {
	struct pictured study[FIGURES_STUDIES];
	json_t *owned[4 * FIGURES_STUDIES];
	struct rows *rows[FIGURES_STUDIES];
	size_t n, nowned;
};

static const json_t *album_keep(struct album *al, json_t *v)
{
	return al->owned[al->nowned++] = v;
}

static void album_free(struct album *al)
{
	for (size_t i = 0; i < al->nowned; i++)
		json_decref(al->owned[i]);
	for (size_t i = 0; i < FIGURES_STUDIES; i++)
		rows_unref(al->rows[i]);
}

enum {
	ALBUM_FRONT = 1,
	ALBUM_ROWS = 2,
	ALBUM_NEWEST = 4, /* rows: nobody asks again for a picture that is out of date */
	ALBUM_CHOSEN = 8
};

static int album_add(struct visit *v, struct album *al, const char *study, unsigned what,
		     struct dp_err *err)
{
	struct asking *k = &v->s->asking;
	struct pictured *p = &al->study[al->n++];
	json_t *value, *chosen = NULL;
	int64_t version;
	int code = ask_study(k, study, &value, &p->summary, err);

	if (code == DP_OK)
		album_keep(al, value);
	if (code == DP_OK && (what & ALBUM_FRONT)) {
		code = front_get(v->s, study, p->summary, &value,
				 what & ALBUM_CHOSEN ? &chosen : NULL, err);
		p->front = album_keep(al, value);
		p->chosen = album_keep(al, chosen);
	}
	if (code == DP_OK && (what & ALBUM_ROWS)) {
		code = shelf_rows(&v->s->shelf, k, v->s->hub, study,
				  what & ALBUM_NEWEST ? SHELF_NEWEST : SHELF_AT_ONCE,
				  &al->rows[al->n - 1], &version, err);
		p->rows = al->rows[al->n - 1];
	}
	return code;
}

/* What each picture needs. A list has many sparks, none of which may hold it up. */
static unsigned figure_needs(const char *name)
{
	if (strcmp(name, "front.svg") == 0)
		return ALBUM_FRONT | ALBUM_ROWS | ALBUM_NEWEST | ALBUM_CHOSEN;
	return strcmp(name, "hypervolume.svg") == 0 ? ALBUM_ROWS | ALBUM_NEWEST : ALBUM_ROWS;
}

static int route_figure(struct visit *v, struct dp_err *err)
{
	struct album al = { .n = 0 };
	struct figure_form form;
	int code = form_read(v->q, &form, err);

	if (code == DP_OK)
		code = album_add(v, &al, v->study, figure_needs(v->last), err);
	pthread_mutex_lock(&v->s->drawing);
	if (code == DP_OK && strcmp(v->last, "front.svg") == 0)
		code = figures_front(al.study, 1, &form, &v->a->body, err);
	else if (code == DP_OK && strcmp(v->last, "hypervolume.svg") == 0)
		code = figures_hypervolume(&al.study[0], &form, &v->a->body, err);
	else if (code == DP_OK)
		code = figures_spark(&al.study[0], &v->a->body, err);
	pthread_mutex_unlock(&v->s->drawing);
	v->a->type = "image/svg+xml";
	v->a->policy = PICTURE_POLICY;
	album_free(&al);
	return code;
}

static int route_compare(struct visit *v, struct dp_err *err)
{
	struct album al = { .n = 0 };
	struct figure_form form;
	int code = form_read(v->q, &form, err);

	for (size_t i = 0; i < v->q->nquery && code == DP_OK; i++) {
		const char *study = v->q->query[i].value;

		if (strcmp(v->q->query[i].name, "study") != 0)
			continue;
		if (al.n == FIGURES_STUDIES)
			code = dp_fail(err, DP_E_USAGE, "at most %d studies go into one picture",
				       FIGURES_STUDIES);
		else if (!dp_name_ok(study))
			code = dp_fail(err, DP_E_NOT_FOUND, "there is no such study");
		else
			code = album_add(v, &al, study, ALBUM_FRONT, err);
	}
	if (code == DP_OK && al.n == 0)
		code = dp_fail(err, DP_E_USAGE, "name the studies: study=A&study=B");
	pthread_mutex_lock(&v->s->drawing);
	if (code == DP_OK)
		code = figures_front(al.study, al.n, &form, &v->a->body, err);
	pthread_mutex_unlock(&v->s->drawing);
	v->a->type = "image/svg+xml";
	v->a->policy = PICTURE_POLICY;
	album_free(&al);
	return code;
}

/* The colours of pictures in a dark page. */
static int route_figure_style(struct visit *v, struct dp_err *err)
{
	(void)err;
	v->a->type = "text/css; charset=utf-8";
	dp_buf_puts(&v->a->body, "@media screen and (prefers-color-scheme:dark){");
	plot_dark_style(&v->a->body);
	dp_buf_puts(&v->a->body, "}\n");
	return DP_OK;
}

/* ---- the others ---- */

static int route_events(struct visit *v, struct dp_err *err)
{
	if (!v->s->hub)
		return dp_fail(err, DP_E_BUSY, "there are no events here");
	v->a->type = "text/event-stream";
	v->a->events = true;
	return DP_OK;
}

static int route_metrics(struct visit *v, struct dp_err *err)
{
	(void)err;
	v->a->type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_put(&v->s->asking, &v->a->body);
	return DP_OK;
}

enum {
	VIA = 200 /* as much as the protocol takes, with its end */
};

/* By which way somebody steers, and who it is, for the journal: the daemon itself sees
 * nothing but this server's user. */
static void via_text(const struct visit *v, char out[VIA])
{
	snprintf(out, VIA, "web page, %s%sfrom %.64s", v->q->who ? v->q->who : "",
		 v->q->who ? " " : "", v->q->peer ? v->q->peer : "?");
}

static int route_steer(struct visit *v, struct dp_err *err)
{
	char via[VIA];
	const struct ask ask = { .command = v->last, .arg = { v->study }, .via = via };

	via_text(v, via);
	return answer_command(v, &ask, err);
}

static int route_enqueue(struct visit *v, struct dp_err *err)
{
	json_t *body, *parameters, *ok;
	char via[VIA];
	int code = dp_json_parse(v->q->body ? v->q->body : "", v->q->len, &body, err);

	if (code != DP_OK)
		return dp_fail(err, DP_E_USAGE, "the point is not JSON");
	parameters = json_object_get(body, "parameters");
	via_text(v, via);
	code = json_is_object(parameters)
		       ? ask_verb(&v->s->asking, "enqueue",
				  json_pack("{s:s, s:O}", "study", v->study, "parameters",
					    parameters),
				  via, &ok, err)
		       : dp_fail(err, DP_E_USAGE, "name the point: {\"parameters\":{...}}");
	json_decref(body);
	return code == DP_OK ? http_reply_json(v->a, ok, err) : code;
}

/* A browser that shows the token once is known by a cookie from then on. */
static int route_login(struct visit *v, struct dp_err *err)
{
	const struct guard *g = &v->s->guard;
	char *token = http_form_value(v->q->body, v->q->len, "token");

	(void)err;
	if (!token || !token_is(&g->token, token)) {
		guard_refuse(v->a);
		free(token);
		return DP_OK;
	}
	free(token);
	snprintf(v->a->cookie, sizeof v->a->cookie,
		 "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", g->cookie,
		 g->token.cookie);
	v->a->status = 303;
	v->a->location = "/";
	return DP_OK;
}

/* ---- the table ---- */

enum route_need {
	OPEN,    /* anybody's: it shows nothing of a study */
	READ,    /* who may read */
	CONTROL, /* who has the token, where things may be changed */
};

static const struct route {
	enum http_method method;
	enum route_need need;
	const char *path; /* ":study", ":trial" and ":file" stand for any */
	route_fn *fn;
} routes[] = {
	{ HTTP_GET, OPEN, "", route_page },
	{ HTTP_GET, OPEN, "compare", route_page },
	{ HTTP_GET, OPEN, "studies/:study", route_page },
	{ HTTP_GET, OPEN, "studies/:study/trials/:trial", route_page },
	{ HTTP_GET, READ, "studies/:study/report", route_report },
	{ HTTP_GET, OPEN, "api/session", route_session },
	{ HTTP_GET, OPEN, "api/figures.css", route_figure_style },
	{ HTTP_GET, READ, "api/daemon", route_daemon },
	{ HTTP_GET, READ, "api/events", route_events },
	{ HTTP_GET, READ, "api/studies", route_studies },
	{ HTTP_GET, READ, "api/compare/front.svg", route_compare },
	{ HTTP_GET, READ, "api/studies/:study", route_study },
	{ HTTP_GET, READ, "api/studies/:study/front", route_front },
	{ HTTP_GET, READ, "api/studies/:study/choice", route_choice },
	{ HTTP_GET, READ, "api/studies/:study/recommend", route_recommend },
	{ HTTP_GET, READ, "api/studies/:study/trials", route_trials },
	{ HTTP_GET, READ, "api/studies/:study/trials/:trial", route_trial },
	{ HTTP_GET, READ, "api/studies/:study/trials/:trial/log", route_log },
	{ HTTP_GET, READ, "api/studies/:study/figures/front.svg", route_figure },
	{ HTTP_GET, READ, "api/studies/:study/figures/hypervolume.svg", route_figure },
	{ HTTP_GET, READ, "api/studies/:study/figures/spark.svg", route_figure },
	{ HTTP_GET, READ, "metrics", route_metrics },
	{ HTTP_POST, CONTROL, "api/studies/:study/pause", route_steer },
	{ HTTP_POST, CONTROL, "api/studies/:study/resume", route_steer },
	{ HTTP_POST, CONTROL, "api/studies/:study/stop", route_steer },
	{ HTTP_POST, CONTROL, "api/studies/:study/enqueue", route_enqueue },
	{ HTTP_POST, OPEN, "login", route_login },
	{ HTTP_GET, OPEN, ":file", route_file },
};

/* Is the part what the path has there? */
static bool segment_matches(const char *pattern, size_t n, const char *part, struct visit *v)
{
	if (n == 6 && strncmp(pattern, ":study", n) == 0) {
		v->study = part;
		return dp_name_ok(part);
	}
	if (n == 6 && strncmp(pattern, ":trial", n) == 0) {
		v->trial = part;
		return true;
	}
	return (n == 5 && strncmp(pattern, ":file", n) == 0) ||
	       (strlen(part) == n && strncmp(pattern, part, n) == 0);
}

static bool route_matches(const struct route *r, struct visit *v)
{
	const char *pattern = r->path;

	v->study = v->trial = NULL;
	for (size_t i = 0; i < v->q->nparts; i++) {
		size_t n = strcspn(pattern, "/");

		if (!*pattern || !segment_matches(pattern, n, v->q->part[i], v))
			return false;
		pattern += n;
		pattern += *pattern == '/';
	}
	return *pattern == '\0';
}

/* The row for a request; NULL: none, and *other says whether the path is there for
 * another method. */
static const struct route *route_find(struct visit *v, bool *other)
{
	*other = false;
	for (size_t i = 0; i < DP_COUNT(routes); i++) {
		if (!route_matches(&routes[i], v))
			continue;
		if (routes[i].method == v->q->method)
			return &routes[i];
		*other = true;
	}
	return NULL;
}

/* Who may take this way; if not, the answer is written. */
static bool route_admits(const struct route *r, const struct visit *v)
{
	const struct guard *g = &v->s->guard;

	if (r->need == OPEN)
		return true;
	if (!guard_admits_reader(v->q, v->a))
		return false;
	if (r->need == READ && !g->closed)
		return true;
	/* what changes something needs the header, which no other site can send */
	if (guard_knows(g, v->q, r->need == READ))
		return true;
	guard_refuse(v->a);
	return false;
}

static void refuse_path(struct visit *v, bool other)
{
	struct dp_err err;

	if (!other) {
		dp_fail(&err, DP_E_NOT_FOUND, "there is no such page");
		http_reply_error(v->a, &err);
		return;
	}
	v->a->allow = v->q->method == HTTP_POST ? "GET, HEAD" : "POST";
	dp_fail(&err, DP_E_USAGE, "this page does not take that method");
	http_reply_status(v->a, 405, &err);
}

/* Without --control nothing is changed by anybody: as if those rows were not there. */
static bool route_offered(const struct serve *s, const struct route *r)
{
	return r->need != CONTROL || s->guard.control;
}

/* The row that answers, or NULL and the refusal is written. */
static const struct route *visit_route(struct visit *v)
{
	const struct route *r;
	bool other;

	v->a->status = 200;
	v->last = v->q->nparts ? v->q->part[v->q->nparts - 1] : "";
	if (!guard_admits(&v->s->guard, v->q, v->a))
		return NULL;
	r = route_find(v, &other);
	if (r && !route_offered(v->s, r)) {
		r = NULL;
		other = true;
	}
	if (!r)
		refuse_path(v, other || v->q->method == HTTP_POST);
	return r && route_admits(r, v) ? r : NULL;
}

bool serve_admits(struct serve *s, const struct http_request *q, struct http_reply *a)
{
	struct visit v = { .s = s, .q = q, .a = a };

	return visit_route(&v) != NULL;
}

static void reply_sentence(struct http_reply *a, const struct dp_err *err)
{
	dp_buf_clear(&a->body);
	dp_buf_printf(&a->body, "%s\n%s%s", err->msg, err->hint, *err->hint ? "\n" : "");
	a->type = "text/plain; charset=utf-8";
}

void serve_answer(struct serve *s, const struct http_request *q, struct http_reply *a)
{
	struct visit v = { .s = s, .q = q, .a = a };
	const struct route *r = visit_route(&v);
	struct dp_err err = { 0 };
	int code;

	if (!r)
		return;
	code = r->fn(&v, &err);
	if (code == DP_OK && a->body.failed)
		code = dp_fail(&err, DP_E_NOMEM, "no memory for the answer");
	if (code != DP_OK) {
		err.code = code;
		a->policy = NULL;
		http_reply_error(a, &err);
	}
	/* who followed a link to a report reads a sentence, not JSON */
	if (code != DP_OK && q->nparts > 0 && strcmp(q->part[0], "api") != 0)
		reply_sentence(a, &err);
}
