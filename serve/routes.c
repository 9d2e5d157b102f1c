/* routes.c - which path is answered by what: routes[] has all of them. */
#include "serve/routes.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "reports/plot/plot.h"
#include "serve/figures/recommended_point.h"
#include "serve/figures/study_figures.h"
#include "serve/large_front.h"
#include "serve/trial_log.h"
#include "serve/metrics.h"
#include "serve/html_page.h"
#include "serve/trial_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REPORT_MAX_BYTES = 64 << 20,
	MIN_FIGURE_WIDTH = 280,
	DEFAULT_FIGURE_WIDTH = 760,
	MAX_FIGURE_WIDTH = 1600,
};

/* A picture alone may have a style of its own, and nothing else. */
#define FIGURE_SECURITY_POLICY                                                                     \
	"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
#define REPORT_SECURITY_POLICY                                                                     \
	"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri "                  \
	"'none'; "                                                                                 \
	"form-action 'none'; frame-ancestors 'none'"

/* A request on its way to its answer. */
struct route_context {
	struct web_app *app;
	const struct http_request *request;
	const char *study, *trial; /* of the path; NULL where it has none */
	const char *last_segment;  /* its last part */
	struct http_reply *reply;
};

typedef int route_fn(struct route_context *v, struct dp_err *err);

void web_app_init(struct web_app *app, const char *socket)
{
	memset(app, 0, sizeof *app);
	command_runner_init(&app->runner, socket);
	trial_cache_init(&app->trial_cache);
	pthread_mutex_init(&app->plot_lock, NULL);
	pthread_mutex_init(&app->listing, NULL);
}

void web_app_free(struct web_app *app)
{
	pthread_mutex_destroy(&app->plot_lock);
	pthread_mutex_destroy(&app->listing);
	trial_cache_free(&app->trial_cache);
	command_runner_free(&app->runner);
}

/* ---- the page and its files ---- */

static int route_page(struct route_context *v, struct dp_err *err)
{
	bool closed =
		v->app->auth.token_required && !auth_has_token(&v->app->auth, v->request, true);

	return page_reply_html(&v->app->runner, v->study, closed, v->reply, err);
}

static int route_file(struct route_context *v, struct dp_err *err)
{
	if (page_reply_file(v->last_segment, v->request->if_none_match, v->reply))
		return DP_OK;
	return dp_fail(err, DP_E_NOT_FOUND, "there is no such page");
}

static int route_report(struct route_context *v, struct dp_err *err)
{
	const json_t *summary;
	json_t *status;
	char *path;
	int code = runner_fetch_study(&v->app->runner, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	path = dp_path_join(dp_json_str(summary, "directory", ""), "report/report.html");
	code = path ? dp_read_untrusted(path, REPORT_MAX_BYTES, &v->reply->body, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (code == DP_E_NOT_FOUND) {
		const char *why = dp_json_str(summary, "report_error", NULL);

		dp_fail(err, code, "study '%s' has no report yet%s%s", v->study, why ? ": " : "",
			why ? why : "");
		dp_hint(err, "'dparetoctl report %s' makes one now", v->study);
	}
	v->reply->content_type = "text/html; charset=utf-8";
	v->reply->security_policy = REPORT_SECURITY_POLICY;
	free(path);
	json_decref(status);
	return code;
}

/* ---- what commands of dparetoctl answer ---- */

static int reply_command(struct route_context *v, const struct command_line *ask,
			 struct dp_err *err)
{
	v->reply->content_type = "application/json";
	return runner_run_command(&v->app->runner, ask, &v->reply->body, err);
}

enum {
	HELD_MAX = 256 << 20
};

/* An answer that grows with the study. Memory is bounded: one is written at a time, and
 * none while peers read too much of earlier ones. */
static int answer_long(struct route_context *v, const struct command_line *ask, struct dp_err *err)
{
	int code;

	pthread_mutex_lock(&v->app->listing);
	if (atomic_load(&v->app->held) > (size_t)HELD_MAX) {
		dp_fail(err, DP_E_BUSY, "too many long answers are being sent");
		code = dp_hint(err, "try again, or ask for a part (limit=...)");
	} else {
		code = reply_command(v, ask, err);
		v->reply->held = v->reply->body.len;
		atomic_fetch_add(&v->app->held, v->reply->held);
	}
	pthread_mutex_unlock(&v->app->listing);
	return code;
}

static int route_session(struct route_context *v, struct dp_err *err)
{
	const struct auth *auth = &v->app->auth;

	return http_reply_json(
		v->reply,
		json_pack("{s:s, s:b, s:b, s:b}", "version", ctl_version(), "control",
			  auth->allow_control, "token", auth->token_required, "signed_in",
			  !auth->token_required || auth_has_token(auth, v->request, true)),
		err);
}

static int route_daemon(struct route_context *v, struct dp_err *err)
{
	json_t *hello;
	int code = runner_call_verb(&v->app->runner, "hello", NULL, NULL, &hello, err);

	return code == DP_OK ? http_reply_json(v->reply, hello, err) : code;
}

static int route_studies(struct route_context *v, struct dp_err *err)
{
	const struct command_line ask = { .command = "list" };

	return reply_command(v, &ask, err);
}

/* With front=first, of a long front only its first points. */
static int route_study(struct route_context *v, struct dp_err *err)
{
	const struct command_line ask = { .command = "status", .args = { v->study } };
	const char *front = http_query_get(v->request, "front");
	const json_t *summary;
	json_t *status;
	int code;

	if (!front || strcmp(front, "first") != 0)
		return reply_command(v, &ask, err);
	code = runner_fetch_study(&v->app->runner, v->study, &status, &summary, err);
	if (code != DP_OK)
		return code;
	json_object_del(status, "more");
	return http_reply_json(v->reply, status, err);
}

/* The query's fields are the command's options. */
static int reply_command_with_query(struct route_context *v, struct command_line *ask,
				    struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; i < v->request->n_query && code == DP_OK; i++)
		code = command_line_add_option(ask, v->request->query[i].name,
					       v->request->query[i].value, err);
	return code == DP_OK ? reply_command(v, ask, err) : code;
}

static int route_front(struct route_context *v, struct dp_err *err)
{
	struct command_line ask = { .command = "front", .args = { v->study } };

	return reply_command_with_query(v, &ask, err);
}

/* What of a large front can be seen and, if `choice` is not NULL, the point to take. */
static int load_large_front(struct web_app *app, const char *study, const json_t *summary,
			    json_t **front, json_t **choice, struct dp_err *err)
{
	struct figure_axis x, y;
	struct large_front large;
	int code = large_front_load(app, study, &large, err);

	if (code == DP_OK && study_figure_choose_axes(summary, &x, &y))
		code = large_front_downsample(&large, &x, &y, front, err);
	if (code == DP_OK && choice)
		code = large_front_recommend(app, &large, study, summary, choice, err);
	large_front_free(&large);
	return code;
}

/* A front to draw, and the point to take unless `choice` is NULL. The caller owns both,
 * whatever is returned. */
static int load_front(struct web_app *app, const char *study, const json_t *summary, json_t **front,
		      json_t **choice, struct dp_err *err)
{
	const struct command_line ask = { .command = "front", .args = { study } };
	int code;

	*front = NULL;
	if (choice)
		*choice = NULL;
	if (large_front_applies(summary))
		return load_large_front(app, study, summary, front, choice, err);
	code = runner_run_command_json(&app->runner, &ask, front, err);
	if (code == DP_OK && choice)
		code = recommended_point_find(summary, *front, choice, err);
	return code;
}

static int route_choice(struct route_context *v, struct dp_err *err)
{
	const json_t *summary;
	json_t *status, *front, *choice;
	int code = runner_fetch_study(&v->app->runner, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	code = load_front(v->app, v->study, summary, &front, &choice, err);
	json_decref(front);
	json_decref(status);
	return code == DP_OK ? http_reply_json(v->reply, choice, err) : code;
}

/* Only what models say: a point that is verified would be trained. */
static int route_recommend(struct route_context *v, struct dp_err *err)
{
	struct command_line ask = { .command = "recommend", .args = { v->study } };
	int code = DP_OK;

	for (size_t i = 0; i < v->request->n_query && code == DP_OK; i++)
		code = strcmp(v->request->query[i].name, "at") == 0
			       ? command_line_add_option(&ask, "at", v->request->query[i].value,
							 err)
			       : dp_fail(err, DP_E_USAGE,
					 "a recommendation is asked for by 'at' alone");
	return code == DP_OK ? reply_command(v, &ask, err) : code;
}

static int route_trial(struct route_context *v, struct dp_err *err)
{
	const struct command_line ask = { .command = "trial", .args = { v->study, v->trial } };

	return reply_command(v, &ask, err);
}

/* A part in the order of numbers, fetched alone. *done is false if there is none: all
 * rows are needed then. */
static int reply_trial_page(struct route_context *v, bool *done, struct dp_err *err)
{
	struct event_broker *broker = v->app->broker;
	int64_t version = broker ? event_broker_study_version(broker, v->study).version : -1, total;
	struct trial_page part;
	json_t *rows = NULL;
	int code = trial_table_parse_page(v->request, &part, err);

	if (code == DP_OK)
		code = runner_fetch_trial_page(&v->app->runner, v->study, &part, &rows, &total,
					       err);
	*done = code != DP_OK || rows;
	if (rows)
		trial_table_write_page(rows, &part, total, version, &v->reply->body);
	json_decref(rows);
	return code;
}

static int route_trials(struct route_context *v, struct dp_err *err)
{
	const struct command_line all = { .command = "trials", .args = { v->study } };
	int64_t version;
	struct trial_rows *rows;
	bool done = false;
	int code = DP_OK;

	if (!trial_table_requested(v->request))
		return answer_long(v, &all, err);
	v->reply->content_type = "application/json";
	if (trial_table_is_unfiltered(v->request))
		code = reply_trial_page(v, &done, err);
	if (done)
		return code;
	/* its answer says what version it has: who reads on can ask again */
	code = trial_cache_get(&v->app->trial_cache, &v->app->runner, v->app->broker, v->study,
			       TRIAL_CACHE_STALE_OK, &rows, &version, err);
	if (code != DP_OK)
		return code;
	code = trial_table_write_query(rows, v->request, version, &v->reply->body, err);
	trial_rows_unref(rows);
	return code;
}

static int route_log(struct route_context *v, struct dp_err *err)
{
	json_t *part;
	int code = trial_log_read_part(&v->app->runner, v->study, v->trial, v->request, &part, err);

	return code == DP_OK ? http_reply_json(v->reply, part, err) : code;
}

/* ---- pictures ---- */

static int parse_figure_options(const struct http_request *q, struct figure_options *f,
				struct dp_err *err)
{
	int64_t width;
	int code = http_query_get_int(q, "width", MIN_FIGURE_WIDTH, MAX_FIGURE_WIDTH,
				      DEFAULT_FIGURE_WIDTH, &width, err);

	f->width = (int)width;
	f->is_inline = http_query_get(q, "inline") != NULL;
	return code;
}

/* What pictures are of; the caller lets go of it by figure_inputs_free(). */
struct figure_inputs {
	struct figure_study studies[FIGURE_MAX_STUDIES];
	json_t *owned[4 * FIGURE_MAX_STUDIES];
	struct trial_rows *rows[FIGURE_MAX_STUDIES];
	size_t n_studies, n_owned;
};

static const json_t *figure_inputs_own(struct figure_inputs *al, json_t *v)
{
	return al->owned[al->n_owned++] = v;
}

static void figure_inputs_free(struct figure_inputs *al)
{
	for (size_t i = 0; i < al->n_owned; i++)
		json_decref(al->owned[i]);
	for (size_t i = 0; i < FIGURE_MAX_STUDIES; i++)
		trial_rows_unref(al->rows[i]);
}

enum {
	FIGURE_NEEDS_FRONT = 1,
	FIGURE_NEEDS_ROWS = 2,
	FIGURE_NEEDS_NEWEST_ROWS =
		4, /* rows: nobody asks again for a picture that is out of date */
	FIGURE_NEEDS_RECOMMENDED = 8
};

static int figure_inputs_add(struct route_context *v, struct figure_inputs *al, const char *study,
			     unsigned what, struct dp_err *err)
{
	struct command_runner *runner = &v->app->runner;
	struct figure_study *p = &al->studies[al->n_studies++];
	json_t *value, *chosen = NULL;
	int64_t version;
	int code = runner_fetch_study(runner, study, &value, &p->summary, err);

	if (code == DP_OK)
		figure_inputs_own(al, value);
	if (code == DP_OK && (what & FIGURE_NEEDS_FRONT)) {
		code = load_front(v->app, study, p->summary, &value,
				  what & FIGURE_NEEDS_RECOMMENDED ? &chosen : NULL, err);
		p->front = figure_inputs_own(al, value);
		p->recommended = figure_inputs_own(al, chosen);
	}
	if (code == DP_OK && (what & FIGURE_NEEDS_ROWS)) {
		code = trial_cache_get(&v->app->trial_cache, runner, v->app->broker, study,
				       what & FIGURE_NEEDS_NEWEST_ROWS ? TRIAL_CACHE_NEWEST
								       : TRIAL_CACHE_STALE_OK,
				       &al->rows[al->n_studies - 1], &version, err);
		p->rows = al->rows[al->n_studies - 1];
	}
	return code;
}

/* What each picture needs. A list has many sparks, none of which may hold it up. */
static unsigned figure_required_inputs(const char *name)
{
	if (strcmp(name, "front.svg") == 0)
		return FIGURE_NEEDS_FRONT | FIGURE_NEEDS_ROWS | FIGURE_NEEDS_NEWEST_ROWS |
		       FIGURE_NEEDS_RECOMMENDED;
	return strcmp(name, "hypervolume.svg") == 0 ? FIGURE_NEEDS_ROWS | FIGURE_NEEDS_NEWEST_ROWS
						    : FIGURE_NEEDS_ROWS;
}

static int route_figure(struct route_context *v, struct dp_err *err)
{
	struct figure_inputs al = { .n_studies = 0 };
	struct figure_options form;
	int code = parse_figure_options(v->request, &form, err);

	if (code == DP_OK)
		code = figure_inputs_add(v, &al, v->study, figure_required_inputs(v->last_segment),
					 err);
	pthread_mutex_lock(&v->app->plot_lock);
	if (code == DP_OK && strcmp(v->last_segment, "front.svg") == 0)
		code = study_figure_render_front(al.studies, 1, &form, &v->reply->body, err);
	else if (code == DP_OK && strcmp(v->last_segment, "hypervolume.svg") == 0)
		code = study_figure_render_hypervolume(&al.studies[0], &form, &v->reply->body, err);
	else if (code == DP_OK)
		study_figure_render_sparkline(&al.studies[0], &v->reply->body);
	pthread_mutex_unlock(&v->app->plot_lock);
	v->reply->content_type = "image/svg+xml";
	v->reply->security_policy = FIGURE_SECURITY_POLICY;
	figure_inputs_free(&al);
	return code;
}

static int route_compare(struct route_context *v, struct dp_err *err)
{
	struct figure_inputs al = { .n_studies = 0 };
	struct figure_options form;
	int code = parse_figure_options(v->request, &form, err);

	for (size_t i = 0; i < v->request->n_query && code == DP_OK; i++) {
		const char *study = v->request->query[i].value;

		if (strcmp(v->request->query[i].name, "study") != 0)
			continue;
		if (al.n_studies == FIGURE_MAX_STUDIES)
			code = dp_fail(err, DP_E_USAGE, "at most %d studies go into one picture",
				       FIGURE_MAX_STUDIES);
		else if (!dp_name_ok(study))
			code = dp_fail(err, DP_E_NOT_FOUND, "there is no such study");
		else
			code = figure_inputs_add(v, &al, study, FIGURE_NEEDS_FRONT, err);
	}
	if (code == DP_OK && al.n_studies == 0)
		code = dp_fail(err, DP_E_USAGE, "name the studies: study=A&study=B");
	pthread_mutex_lock(&v->app->plot_lock);
	if (code == DP_OK)
		code = study_figure_render_front(al.studies, al.n_studies, &form, &v->reply->body,
						 err);
	pthread_mutex_unlock(&v->app->plot_lock);
	v->reply->content_type = "image/svg+xml";
	v->reply->security_policy = FIGURE_SECURITY_POLICY;
	figure_inputs_free(&al);
	return code;
}

/* The colours of pictures in a dark page. */
static int route_figure_style(struct route_context *v, struct dp_err *err)
{
	(void)err;
	v->reply->content_type = "text/css; charset=utf-8";
	dp_buf_puts(&v->reply->body, "@media screen and (prefers-color-scheme:dark){");
	plot_write_dark_css(&v->reply->body);
	dp_buf_puts(&v->reply->body, "}\n");
	return DP_OK;
}

/* ---- the others ---- */

static int route_events(struct route_context *v, struct dp_err *err)
{
	if (!v->app->broker)
		return dp_fail(err, DP_E_BUSY, "there are no events here");
	v->reply->content_type = "text/event-stream";
	v->reply->is_event_stream = true;
	return DP_OK;
}

static int route_metrics(struct route_context *v, struct dp_err *err)
{
	(void)err;
	v->reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_write(&v->app->runner, &v->reply->body);
	return DP_OK;
}

enum {
	REQUEST_ORIGIN_LEN = 200 /* as much as the protocol takes, with its end */
};

/* By which way somebody steers, and who it is, for the journal: the daemon itself sees
 * nothing but this server's user. */
static void format_request_origin(const struct route_context *v, char out[REQUEST_ORIGIN_LEN])
{
	snprintf(out, REQUEST_ORIGIN_LEN, "web page, %s%sfrom %.64s",
		 v->request->user_name ? v->request->user_name : "",
		 v->request->user_name ? " " : "",
		 v->request->peer_address ? v->request->peer_address : "?");
}

static int route_control(struct route_context *v, struct dp_err *err)
{
	char via[REQUEST_ORIGIN_LEN];
	const struct command_line ask = { .command = v->last_segment,
					  .args = { v->study },
					  .via = via };

	format_request_origin(v, via);
	return reply_command(v, &ask, err);
}

static int route_enqueue(struct route_context *v, struct dp_err *err)
{
	json_t *body, *parameters, *ok;
	char via[REQUEST_ORIGIN_LEN];
	int code = dp_json_parse(v->request->body ? v->request->body : "", v->request->body_len,
				 &body, err);

	if (code != DP_OK)
		return dp_fail(err, DP_E_USAGE, "the point is not JSON");
	parameters = json_object_get(body, "parameters");
	format_request_origin(v, via);
	code = json_is_object(parameters)
		       ? runner_call_verb(&v->app->runner, "enqueue",
					  json_pack("{s:s, s:O}", "study", v->study, "parameters",
						    parameters),
					  via, &ok, err)
		       : dp_fail(err, DP_E_USAGE, "name the point: {\"parameters\":{...}}");
	json_decref(body);
	return code == DP_OK ? http_reply_json(v->reply, ok, err) : code;
}

/* A browser that shows the token once is known by a cookie from then on. */
static int route_login(struct route_context *v, struct dp_err *err)
{
	const struct auth *auth = &v->app->auth;
	char *token = http_form_get(v->request->body, v->request->body_len, "token");

	(void)err;
	if (!token || !token_matches(&auth->token, token)) {
		auth_reply_token_required(v->reply);
		free(token);
		return DP_OK;
	}
	free(token);
	snprintf(v->reply->cookie, sizeof v->reply->cookie,
		 "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", auth->cookie_name,
		 auth->token.cookie_value);
	v->reply->status = 303;
	v->reply->location = "/";
	return DP_OK;
}

/* ---- the table ---- */

enum route_access {
	ACCESS_PUBLIC,  /* anybody's: it shows nothing of a study */
	ACCESS_READ,    /* who may read */
	ACCESS_CONTROL, /* who has the token, where things may be changed */
};

static const struct route {
	enum http_method method;
	enum route_access access;
	const char *path; /* ":study", ":trial" and ":file" stand for any */
	route_fn *handler;
} routes[] = {
	{ HTTP_GET, ACCESS_PUBLIC, "", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "compare", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "studies/:study", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "studies/:study/trials/:trial", route_page },
	{ HTTP_GET, ACCESS_READ, "studies/:study/report", route_report },
	{ HTTP_GET, ACCESS_PUBLIC, "api/session", route_session },
	{ HTTP_GET, ACCESS_PUBLIC, "api/figures.css", route_figure_style },
	{ HTTP_GET, ACCESS_READ, "api/daemon", route_daemon },
	{ HTTP_GET, ACCESS_READ, "api/events", route_events },
	{ HTTP_GET, ACCESS_READ, "api/studies", route_studies },
	{ HTTP_GET, ACCESS_READ, "api/compare/front.svg", route_compare },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study", route_study },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/front", route_front },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/choice", route_choice },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/recommend", route_recommend },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/trials", route_trials },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/trials/:trial", route_trial },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/trials/:trial/log", route_log },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/figures/front.svg", route_figure },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/figures/hypervolume.svg", route_figure },
	{ HTTP_GET, ACCESS_READ, "api/studies/:study/figures/spark.svg", route_figure },
	{ HTTP_GET, ACCESS_READ, "metrics", route_metrics },
	{ HTTP_POST, ACCESS_CONTROL, "api/studies/:study/pause", route_control },
	{ HTTP_POST, ACCESS_CONTROL, "api/studies/:study/resume", route_control },
	{ HTTP_POST, ACCESS_CONTROL, "api/studies/:study/stop", route_control },
	{ HTTP_POST, ACCESS_CONTROL, "api/studies/:study/enqueue", route_enqueue },
	{ HTTP_POST, ACCESS_PUBLIC, "login", route_login },
	{ HTTP_GET, ACCESS_PUBLIC, ":file", route_file },
};

/* Is the part what the path has there? */
static bool segment_matches(const char *pattern, size_t n, const char *part,
			    struct route_context *v)
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

static bool route_matches(const struct route *r, struct route_context *v)
{
	const char *pattern = r->path;

	v->study = v->trial = NULL;
	for (size_t i = 0; i < v->request->n_segments; i++) {
		size_t n = strcspn(pattern, "/");

		if (!*pattern || !segment_matches(pattern, n, v->request->segments[i], v))
			return false;
		pattern += n;
		pattern += *pattern == '/';
	}
	return *pattern == '\0';
}

/* The row for a request; NULL: none, and *other says whether the path is there for
 * another method. */
static const struct route *route_find(struct route_context *v, bool *other)
{
	*other = false;
	for (size_t i = 0; i < DP_COUNT(routes); i++) {
		if (!route_matches(&routes[i], v))
			continue;
		if (routes[i].method == v->request->method)
			return &routes[i];
		*other = true;
	}
	return NULL;
}

/* Who may take this way; if not, the answer is written. */
static bool route_authorize(const struct route *r, const struct route_context *v)
{
	const struct auth *auth = &v->app->auth;

	if (r->access == ACCESS_PUBLIC)
		return true;
	if (!auth_check_reader(v->request, v->reply))
		return false;
	if (r->access == ACCESS_READ && !auth->token_required)
		return true;
	/* what changes something needs the header, which no other site can send */
	if (auth_has_token(auth, v->request, r->access == ACCESS_READ))
		return true;
	auth_reply_token_required(v->reply);
	return false;
}

static void reply_no_such_route(struct route_context *v, bool other)
{
	struct dp_err err;

	if (!other) {
		dp_fail(&err, DP_E_NOT_FOUND, "there is no such page");
		http_reply_error(v->reply, &err);
		return;
	}
	v->reply->allow = v->request->method == HTTP_POST ? "GET, HEAD" : "POST";
	dp_fail(&err, DP_E_USAGE, "this page does not take that method");
	http_reply_error_status(v->reply, 405, &err);
}

/* Without --control nothing is changed by anybody: as if those rows were not there. */
static bool route_is_enabled(const struct web_app *app, const struct route *r)
{
	return r->access != ACCESS_CONTROL || app->auth.allow_control;
}

/* The row that answers, or NULL and the refusal is written. */
static const struct route *find_authorized_route(struct route_context *v)
{
	const struct route *r;
	bool other;

	v->reply->status = 200;
	v->last_segment =
		v->request->n_segments ? v->request->segments[v->request->n_segments - 1] : "";
	if (!auth_check_request(&v->app->auth, v->request, v->reply))
		return NULL;
	r = route_find(v, &other);
	if (r && !route_is_enabled(v->app, r)) {
		r = NULL;
		other = true;
	}
	if (!r)
		reply_no_such_route(v, other || v->request->method == HTTP_POST);
	return r && route_authorize(r, v) ? r : NULL;
}

bool web_app_authorize(struct web_app *app, const struct http_request *q, struct http_reply *a)
{
	struct route_context v = { .app = app, .request = q, .reply = a };

	return find_authorized_route(&v) != NULL;
}

static void reply_plain_text_error(struct http_reply *a, const struct dp_err *err)
{
	dp_buf_clear(&a->body);
	dp_buf_printf(&a->body, "%s\n%s%s", err->msg, err->hint, *err->hint ? "\n" : "");
	a->content_type = "text/plain; charset=utf-8";
}

void web_app_handle_request(struct web_app *app, const struct http_request *q, struct http_reply *a)
{
	struct route_context v = { .app = app, .request = q, .reply = a };
	const struct route *r = find_authorized_route(&v);
	struct dp_err err = { 0 };
	int code;

	if (!r)
		return;
	code = r->handler(&v, &err);
	if (code != DP_OK) {
		err.code = code;
		a->security_policy = NULL;
		http_reply_error(a, &err);
	}
	/* who followed a link to a report reads a sentence, not JSON */
	if (code != DP_OK && q->n_segments > 0 && strcmp(q->segments[0], "api") != 0)
		reply_plain_text_error(a, &err);
}
