/* routes.c - maps paths to handlers: routes[] lists all of them. */
#include "serve/routes.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/support/front_filter.h"
#include "ctl/support/study_queries.h"
#include "reports/plot/plot.h"
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
	HELD_MAX_BYTES = 256 << 20, /* of long replies being sent */
	MAX_QUERY_OPTIONS = 24,
};

/* A figure by itself may use its own style, and nothing else. */
#define FIGURE_SECURITY_POLICY                                                                     \
	"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
#define REPORT_SECURITY_POLICY                                                                     \
	"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri "                  \
	"'none'; "                                                                                 \
	"form-action 'none'; frame-ancestors 'none'"

struct route_context {
	struct web_app *app;
	const struct http_request *request;
	const char *study, *trial;
	const char *last_segment;
	struct http_reply *reply;
};

typedef int route_fn(struct route_context *v, struct dp_err *err);

void web_app_init(struct web_app *app, const char *socket)
{
	memset(app, 0, sizeof *app);
	daemon_client_init(&app->daemon, socket);
	trial_cache_init(&app->trial_cache, &app->daemon);
	pthread_mutex_init(&app->plot_lock, NULL);
	pthread_mutex_init(&app->listing, NULL);
}

void web_app_free(struct web_app *app)
{
	pthread_mutex_destroy(&app->plot_lock);
	pthread_mutex_destroy(&app->listing);
	trial_cache_free(&app->trial_cache);
	daemon_client_free(&app->daemon);
}

static int route_page(struct route_context *v, struct dp_err *err)
{
	bool closed =
		v->app->auth.token_required && !auth_has_token(&v->app->auth, v->request, true);

	(void)err;
	page_reply_html(&v->app->daemon, v->study, closed, v->reply);
	return DP_OK;
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
	int code = daemon_fetch_study(&v->app->daemon, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	path = dp_path_join(dp_json_str(summary, "directory", ""), "report/report.html");
	code = dp_read_untrusted(path, REPORT_MAX_BYTES, &v->reply->body, err);
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

/* Replies with all trials, which grows with the study. To bound memory, only one such reply is
 * written at a time, and none while slow peers still hold too much of earlier ones. */
static int reply_all_trials(struct route_context *v, struct dp_err *err)
{
	int code;

	pthread_mutex_lock(&v->app->listing);
	if (atomic_load(&v->app->held) > (size_t)HELD_MAX_BYTES) {
		dp_fail(err, DP_E_BUSY, "too many long answers are being sent");
		code = dp_hint(err, "try again, or ask for a part (limit=...)");
	} else {
		code = daemon_append_trials(&v->app->daemon, v->study, &v->reply->body, err);
		v->reply->held = v->reply->body.len;
		atomic_fetch_add(&v->app->held, v->reply->held);
	}
	pthread_mutex_unlock(&v->app->listing);
	return code;
}

/* Calls the daemon and replies with its answer or with one member of it. Takes the reference
 * `fields`. */
static int reply_call(struct route_context *v, const char *verb, json_t *fields, const char *member,
		      struct dp_err *err)
{
	json_t *ok, *shown;
	int code = daemon_call(&v->app->daemon, verb, fields, &ok, err);

	if (code != DP_OK)
		return code;
	shown = json_incref(member ? json_object_get(ok, member) : ok);
	json_decref(ok);
	return http_reply_json(v->reply, shown, err);
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

/* With front=first, a long front has only its first points. */
static int route_study(struct route_context *v, struct dp_err *err)
{
	const char *front = http_query_get(v->request, "front");
	const json_t *summary;
	json_t *status;
	int code;

	if (!front || strcmp(front, "first") != 0)
		return reply_call(v, "status", json_pack("{s:s}", "study", v->study), NULL, err);
	code = daemon_fetch_study(&v->app->daemon, v->study, &status, &summary, err);
	if (code != DP_OK)
		return code;
	json_object_del(status, "more");
	return http_reply_json(v->reply, status, err);
}

/* The query's fields as dparetoctl options. */
struct query_options {
	struct ctl_given_option given[MAX_QUERY_OPTIONS];
	size_t n;
};

static int parse_query_options(const struct http_request *q, const struct ctl_command *command,
			       struct query_options *options, struct dp_err *err)
{
	options->n = 0;
	for (size_t i = 0; i < q->n_query; i++) {
		const char *name = q->query[i].name, *value = q->query[i].value;
		const struct ctl_option *o = command->options;

		while (o->name && strcmp(o->name, name) != 0)
			o++;
		/* clients must not choose a state directory */
		if (!o->name || strcmp(name, "state") == 0)
			return dp_fail(err, DP_E_USAGE, "there is nothing to ask for by '%.80s'",
				       name);
		if (o->arg && !*value)
			return dp_fail(err, DP_E_USAGE, "'%s' needs a value: %s", name, o->arg);
		if (options->n == MAX_QUERY_OPTIONS)
			return dp_fail(err, DP_E_USAGE, "that is too much to ask at once");
		options->given[options->n++] = (struct ctl_given_option){ o, value };
	}
	return DP_OK;
}

/* Returns a front like ctl_query_front(). options may be NULL. */
static int fetch_front(struct daemon_client *daemon, const char *study,
		       struct query_options *options, json_t **front, struct dp_err *err)
{
	struct daemon_session s;
	int code = daemon_session_acquire(&s, daemon, err);

	if (code != DP_OK)
		return code;
	if (options) {
		s.ctl.given_options = options->given;
		s.ctl.n_given_options = options->n;
	}
	code = ctl_query_front(&s.ctl, study, front, NULL, err);
	daemon_session_release(&s);
	return code;
}

static int route_front(struct route_context *v, struct dp_err *err)
{
	struct query_options options;
	json_t *front;
	int code = parse_query_options(v->request, &ctl_cmd_front, &options, err);

	if (code == DP_OK)
		code = fetch_front(&v->app->daemon, v->study, &options, &front, err);
	return code == DP_OK ? http_reply_json(v->reply, front, err) : code;
}

/* Loads a front to draw, reduced to visible points if large, and the recommended point unless
 * `choice` is NULL. The caller always frees both. */
static int load_front(struct web_app *app, const char *study, const json_t *summary, json_t **front,
		      json_t **choice, struct dp_err *err)
{
	struct figure_axis x, y;
	struct large_front large;
	int code;

	*front = NULL;
	if (choice)
		*choice = NULL;
	if (!large_front_applies(summary)) {
		code = fetch_front(&app->daemon, study, NULL, front, err);
		if (code == DP_OK && choice)
			*choice = ctl_front_recommend(*front, summary);
		return code;
	}
	code = large_front_load(&app->trial_cache, study, &large, err);
	if (code == DP_OK && study_figure_choose_axes(summary, &x, &y))
		*front = large_front_downsample(&large, &x, &y);
	if (code == DP_OK && choice)
		code = large_front_fetch_recommended(&app->daemon, &large, study, summary, choice,
						     err);
	large_front_free(&large);
	return code;
}

static int route_choice(struct route_context *v, struct dp_err *err)
{
	const json_t *summary;
	json_t *status, *front, *choice;
	int code = daemon_fetch_study(&v->app->daemon, v->study, &status, &summary, err);

	if (code != DP_OK)
		return code;
	code = load_front(v->app, v->study, summary, &front, &choice, err);
	json_decref(front);
	json_decref(status);
	return code == DP_OK ? http_reply_json(v->reply, choice, err) : code;
}

/* Uses only predictions: verifying a point would train it. */
static int route_recommend(struct route_context *v, struct dp_err *err)
{
	struct query_options options;
	struct daemon_session s;
	json_t *levels, *answer;
	int code = DP_OK;

	for (size_t i = 0; i < v->request->n_query && code == DP_OK; i++)
		if (strcmp(v->request->query[i].name, "at") != 0)
			code = dp_fail(err, DP_E_USAGE,
				       "a recommendation is asked for by 'at' alone");
	if (code == DP_OK)
		code = parse_query_options(v->request, &ctl_cmd_recommend, &options, err);
	if (code == DP_OK)
		code = daemon_session_acquire(&s, &v->app->daemon, err);
	if (code != DP_OK)
		return code;
	s.ctl.given_options = options.given;
	s.ctl.n_given_options = options.n;
	code = ctl_parse_levels(&s.ctl, v->study, &levels, err);
	if (code == DP_OK) {
		code = ctl_query_recommendations(&s.ctl, v->study, levels, &answer, err);
		json_decref(levels);
	}
	daemon_session_release(&s);
	if (code != DP_OK)
		return code;
	code = ctl_recommendations_error(answer, err);
	if (code == DP_OK)
		code = http_reply_json(v->reply, ctl_recommendations_json(answer, v->study), err);
	json_decref(answer);
	return code;
}

static int route_trial(struct route_context *v, struct dp_err *err)
{
	struct daemon_session s;
	json_t *trial;
	int code = daemon_session_acquire(&s, &v->app->daemon, err);

	if (code != DP_OK)
		return code;
	code = ctl_query_trial(&s.ctl, v->study, v->trial, &trial, err);
	daemon_session_release(&s);
	return code == DP_OK ? http_reply_json(v->reply, trial, err) : code;
}

/* Replies with a range in trial order, fetched without other rows. *done is false if that is not
 * possible; the caller then needs all rows. */
static int reply_trial_page(struct route_context *v, bool *done, struct dp_err *err)
{
	struct event_broker *broker = v->app->broker;
	int64_t version = broker ? event_broker_study_version(broker, v->study).version : -1, total;
	struct trial_page part;
	json_t *rows = NULL;
	int code = trial_table_parse_page(v->request, &part, err);

	if (code == DP_OK)
		code = daemon_fetch_trial_page(&v->app->daemon, v->study, &part, &rows, &total,
					       err);
	*done = code != DP_OK || rows;
	if (rows)
		trial_table_write_page(rows, &part, total, version, &v->reply->body);
	json_decref(rows);
	return code;
}

static int route_trials(struct route_context *v, struct dp_err *err)
{
	int64_t version;
	struct trial_rows *rows;
	bool done = false;
	int code = DP_OK;

	v->reply->content_type = "application/json";
	if (v->request->n_query == 0)
		return reply_all_trials(v, err);
	if (trial_table_is_unfiltered(v->request))
		code = reply_trial_page(v, &done, err);
	if (done)
		return code;
	/* the reply states its version, so the client can ask again */
	code = trial_cache_get(&v->app->trial_cache, v->study, TRIAL_CACHE_STALE_OK, &rows,
			       &version, err);
	if (code != DP_OK)
		return code;
	code = trial_table_write_query(rows, v->request, version, &v->reply->body, err);
	trial_rows_unref(rows);
	return code;
}

static int route_log(struct route_context *v, struct dp_err *err)
{
	json_t *part;
	int code = trial_log_read_part(&v->app->daemon, v->study, v->trial, v->request, &part, err);

	return code == DP_OK ? http_reply_json(v->reply, part, err) : code;
}

struct figure_request {
	struct figure_options options;
	struct figure_study studies[FIGURE_MAX_STUDIES];
	size_t n_studies;
};

enum {
	FIGURE_NEEDS_FRONT = 1,
	FIGURE_NEEDS_ROWS = 2,
	FIGURE_NEEDS_NEWEST_ROWS = 4, /* for figures that are not requested again when outdated */
	FIGURE_NEEDS_RECOMMENDED = 8
};

static int figure_request_parse(const struct http_request *q, struct figure_request *f,
				struct dp_err *err)
{
	int64_t width;
	int code = http_query_get_int(q, "width", MIN_FIGURE_WIDTH, MAX_FIGURE_WIDTH,
				      DEFAULT_FIGURE_WIDTH, &width, err);

	*f = (struct figure_request){ .options = { .width = (int)width,
						   .is_inline = http_query_get(q, "inline") } };
	return code;
}

static int figure_request_add(struct web_app *app, struct figure_request *f, const char *study,
			      unsigned needs, struct dp_err *err)
{
	struct figure_study *s = &f->studies[f->n_studies++];
	int64_t version;
	int code = daemon_fetch_study(&app->daemon, study, &s->status, &s->summary, err);

	if (code == DP_OK && (needs & FIGURE_NEEDS_FRONT))
		code = load_front(app, study, s->summary, &s->front,
				  needs & FIGURE_NEEDS_RECOMMENDED ? &s->recommended : NULL, err);
	if (code == DP_OK && (needs & FIGURE_NEEDS_ROWS))
		code = trial_cache_get(&app->trial_cache, study,
				       needs & FIGURE_NEEDS_NEWEST_ROWS ? TRIAL_CACHE_NEWEST
									: TRIAL_CACHE_STALE_OK,
				       &s->rows, &version, err);
	return code;
}

/* Finishes a figure request: draws it unless `code` is an error, and frees the data. */
static int reply_figure(struct route_context *v, struct figure_request *f, int code,
			struct dp_err *err)
{
	struct dp_buf *out = &v->reply->body;

	pthread_mutex_lock(&v->app->plot_lock);
	if (code == DP_OK && strcmp(v->last_segment, "front.svg") == 0)
		code = study_figure_render_front(f->studies, f->n_studies, &f->options, out, err);
	else if (code == DP_OK && strcmp(v->last_segment, "hypervolume.svg") == 0)
		code = study_figure_render_hypervolume(&f->studies[0], &f->options, out, err);
	else if (code == DP_OK)
		study_figure_render_sparkline(&f->studies[0], out);
	pthread_mutex_unlock(&v->app->plot_lock);
	v->reply->content_type = "image/svg+xml";
	v->reply->security_policy = FIGURE_SECURITY_POLICY;
	for (size_t i = 0; i < f->n_studies; i++) {
		json_decref(f->studies[i].status);
		json_decref(f->studies[i].front);
		json_decref(f->studies[i].recommended);
		trial_rows_unref(f->studies[i].rows);
	}
	return code;
}

static int route_figure(struct route_context *v, struct dp_err *err)
{
	struct figure_request f;
	int code = figure_request_parse(v->request, &f, err);
	/* a list has many sparklines: do not wait for new rows */
	unsigned needs = FIGURE_NEEDS_ROWS;

	if (strcmp(v->last_segment, "front.svg") == 0)
		needs |= FIGURE_NEEDS_FRONT | FIGURE_NEEDS_NEWEST_ROWS | FIGURE_NEEDS_RECOMMENDED;
	else if (strcmp(v->last_segment, "hypervolume.svg") == 0)
		needs |= FIGURE_NEEDS_NEWEST_ROWS;
	if (code == DP_OK)
		code = figure_request_add(v->app, &f, v->study, needs, err);
	return reply_figure(v, &f, code, err);
}

static int route_compare(struct route_context *v, struct dp_err *err)
{
	struct figure_request f;
	int code = figure_request_parse(v->request, &f, err);

	for (size_t i = 0; i < v->request->n_query && code == DP_OK; i++) {
		const char *study = v->request->query[i].value;

		if (strcmp(v->request->query[i].name, "study") != 0)
			continue;
		if (f.n_studies == FIGURE_MAX_STUDIES)
			code = dp_fail(err, DP_E_USAGE, "at most %d studies go into one picture",
				       FIGURE_MAX_STUDIES);
		else if (!dp_name_ok(study))
			code = dp_fail(err, DP_E_NOT_FOUND, "there is no such study");
		else
			code = figure_request_add(v->app, &f, study, FIGURE_NEEDS_FRONT, err);
	}
	if (code == DP_OK && f.n_studies == 0)
		code = dp_fail(err, DP_E_USAGE, "name the studies: study=A&study=B");
	return reply_figure(v, &f, code, err);
}

static int route_figure_style(struct route_context *v, struct dp_err *err)
{
	(void)err;
	v->reply->content_type = "text/css; charset=utf-8";
	dp_buf_puts(&v->reply->body, "@media screen and (prefers-color-scheme:dark){");
	plot_write_dark_css(&v->reply->body);
	dp_buf_puts(&v->reply->body, "}\n");
	return DP_OK;
}

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
	metrics_write(&v->app->daemon, &v->reply->body);
	return DP_OK;
}

enum {
	REQUEST_ORIGIN_LEN = 200 /* the protocol's limit, with the NUL */
};

/* Calls the daemon with the user and address of the request for the journal, because the daemon
 * only sees this server's user. Takes the reference `fields`. */
static int call_with_origin(struct route_context *v, const char *verb, json_t *fields,
			    const char *member, struct dp_err *err)
{
	char text[REQUEST_ORIGIN_LEN];
	json_t *via;

	snprintf(text, sizeof text, "web page, %s%sfrom %.64s",
		 v->request->user_name ? v->request->user_name : "",
		 v->request->user_name ? " " : "",
		 v->request->peer_address ? v->request->peer_address : "?");
	via = json_string(text);
	if (!via) {
		json_decref(fields);
		return dp_fail(err, DP_E_INVALID, "the name of your user is not UTF-8 text");
	}
	json_object_set_new(fields, "via", via);
	return reply_call(v, verb, fields, member, err);
}

static int route_overview(struct route_context *v, struct dp_err *err)
{
	if (strcmp(v->last_segment, "studies") == 0)
		return reply_call(v, "list", NULL, "studies", err);
	return reply_call(v, "hello", NULL, NULL, err);
}

static int route_control(struct route_context *v, struct dp_err *err)
{
	json_t *fields = json_pack("{s:s}", "study", v->study);

	if (strcmp(v->last_segment, "stop") == 0)
		json_object_set_new(fields, "now", json_false());
	return call_with_origin(v, v->last_segment, fields, "study", err);
}

static int route_enqueue(struct route_context *v, struct dp_err *err)
{
	json_t *body, *parameters;
	int code = dp_json_parse(v->request->body ? v->request->body : "", v->request->body_len,
				 &body, err);

	if (code != DP_OK)
		return dp_fail(err, DP_E_USAGE, "the point is not JSON");
	parameters = json_object_get(body, "parameters");
	code = json_is_object(parameters)
		       ? call_with_origin(v, "enqueue",
					  json_pack("{s:s, s:O}", "study", v->study, "parameters",
						    parameters),
					  NULL, err)
		       : dp_fail(err, DP_E_USAGE, "name the point: {\"parameters\":{...}}");
	json_decref(body);
	return code;
}

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

enum route_access {
	ACCESS_PUBLIC, /* shows no study data */
	ACCESS_READ,
	ACCESS_CONTROL, /* holders of the token, with --control */
};

static const struct route {
	enum http_method method;
	enum route_access access;
	const char *path; /* ":study", ":trial" and ":file" match any segment */
	route_fn *handler;
} routes[] = {
	{ HTTP_GET, ACCESS_PUBLIC, "", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "compare", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "studies/:study", route_page },
	{ HTTP_GET, ACCESS_PUBLIC, "studies/:study/trials/:trial", route_page },
	{ HTTP_GET, ACCESS_READ, "studies/:study/report", route_report },
	{ HTTP_GET, ACCESS_PUBLIC, "api/session", route_session },
	{ HTTP_GET, ACCESS_PUBLIC, "api/figures.css", route_figure_style },
	{ HTTP_GET, ACCESS_READ, "api/daemon", route_overview },
	{ HTTP_GET, ACCESS_READ, "api/events", route_events },
	{ HTTP_GET, ACCESS_READ, "api/studies", route_overview },
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

/* Does the path match the row's pattern? Records study and trial. */
static bool route_matches(const struct route *r, struct route_context *v)
{
	const char *pattern = r->path;

	v->study = v->trial = NULL;
	for (size_t i = 0; i < v->request->n_segments; i++) {
		const char *part = v->request->segments[i];
		size_t n = strcspn(pattern, "/");

		if (n == 6 && strncmp(pattern, ":study", n) == 0) {
			v->study = part;
			if (!dp_name_ok(part))
				return false;
		} else if (n == 6 && strncmp(pattern, ":trial", n) == 0) {
			v->trial = part;
		} else if ((n != 5 || strncmp(pattern, ":file", n) != 0) &&
			   (n == 0 || strlen(part) != n || strncmp(pattern, part, n) != 0)) {
			return false;
		}
		pattern += n;
		pattern += *pattern == '/';
	}
	return *pattern == '\0';
}

/* May this request use this row? If not, writes the refusal. */
static bool route_authorize(const struct route *r, const struct route_context *v)
{
	const struct auth *auth = &v->app->auth;

	if (r->access == ACCESS_PUBLIC)
		return true;
	if (!auth_check_reader(v->request, v->reply))
		return false;
	if (r->access == ACCESS_READ && !auth->token_required)
		return true;
	/* changes need the header, which other sites cannot send */
	if (auth_has_token(auth, v->request, r->access == ACCESS_READ))
		return true;
	auth_reply_token_required(v->reply);
	return false;
}

/* Returns the row for the request; NULL: the refusal is written. */
static const struct route *find_authorized_route(struct route_context *v)
{
	bool other_method = v->request->method == HTTP_POST;
	struct dp_err err;

	v->reply->status = 200;
	v->last_segment =
		v->request->n_segments ? v->request->segments[v->request->n_segments - 1] : "";
	if (!auth_check_request(&v->app->auth, v->request, v->reply))
		return NULL;
	for (size_t i = 0; i < DP_COUNT(routes); i++) {
		const struct route *r = &routes[i];

		if (!route_matches(r, v))
			continue;
		/* without --control, control rows count as a wrong method */
		if (r->method == v->request->method &&
		    (r->access != ACCESS_CONTROL || v->app->auth.allow_control))
			return route_authorize(r, v) ? r : NULL;
		other_method = true;
	}
	if (other_method) {
		v->reply->allow = v->request->method == HTTP_POST ? "GET, HEAD" : "POST";
		dp_fail(&err, DP_E_USAGE, "this page does not take that method");
		http_reply_error_status(v->reply, 405, &err);
	} else {
		dp_fail(&err, DP_E_NOT_FOUND, "there is no such page");
		http_reply_error(v->reply, &err);
	}
	return NULL;
}

bool web_app_authorize(struct web_app *app, const struct http_request *q, struct http_reply *a)
{
	struct route_context v = { .app = app, .request = q, .reply = a };

	return find_authorized_route(&v) != NULL;
}

void web_app_handle_request(struct web_app *app, const struct http_request *q, struct http_reply *a)
{
	struct route_context v = { .app = app, .request = q, .reply = a };
	const struct route *r = find_authorized_route(&v);
	struct dp_err err = { 0 };
	int code = r ? r->handler(&v, &err) : DP_OK;

	if (code == DP_OK)
		return;
	err.code = code;
	a->security_policy = NULL;
	http_reply_error(a, &err);
	if (q->n_segments > 0 && strcmp(q->segments[0], "api") != 0) {
		/* a reader who followed a link to a report gets text instead of JSON */
		dp_buf_clear(&a->body);
		dp_buf_printf(&a->body, "%s\n%s%s", err.msg, err.hint, *err.hint ? "\n" : "");
		a->content_type = "text/plain; charset=utf-8";
	}
}
