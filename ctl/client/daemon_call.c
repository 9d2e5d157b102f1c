/* daemon_call.c - sends requests to the daemon and fetches all pages of long answers. */
#include "ctl/client/daemon_call.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "state/state.h"
#include "protocol/control/control_protocol.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MODEL_TIMEOUT_MS = 600000, /* answers that need surrogates or compositions */
	REPLY_TIMEOUT_MS = 60000,
	TRIALS_PER_PAGE = 1000,    /* the protocol's maximum */
	FULL_TRIALS_PER_PAGE = 20, /* each may have 10,000 runs */
	POINTS_PER_REQUEST = 200   /* the protocol's maximum is 250 */
};

#define SYSTEM_SOCKET_PATH "/run/dpareto/dparetod.sock"

int ctl_pack_fields(json_t **fields, struct dp_err *err, const char *format, ...)
{
	json_error_t why;
	va_list ap;

	va_start(ap, format);
	*fields = json_vpack_ex(&why, 0, format, ap);
	va_end(ap);
	if (*fields)
		return DP_OK;
	return dp_fail(err, DP_E_INVALID,
		       "an argument is not UTF-8 text, which names and paths sent to the "
		       "daemon must be");
}

char *ctl_socket_path(const struct ctl *ctl)
{
	char *path = ctl->socket ? dp_strdup(ctl->socket) : dp_default_socket_path();

	return path ? path : dp_strdup(SYSTEM_SOCKET_PATH);
}

static bool command_has_state_option(const struct ctl_command *command)
{
	const struct ctl_option *o = command ? command->options : NULL;

	while (o && o->name && strcmp(o->name, "state") != 0)
		o++;
	return o && o->name;
}

int ctl_connect(struct ctl *ctl, struct dp_err *err)
{
	const char *folder = ctl_get_option(ctl, "state");
	char *path;
	int code;

	if (ctl->client)
		return DP_OK;
	if (folder && !ctl->socket_serves_state)
		return ctl_readonly_daemon_open(ctl, folder, err);
	path = ctl_socket_path(ctl);
	code = dp_client_open(path, &ctl->client, err);
	/* without --socket and a user daemon, try the system daemon */
	if (code == DP_E_NO_DAEMON && !ctl->socket && strcmp(path, SYSTEM_SOCKET_PATH) != 0) {
		struct dp_err system;
		int other = dp_client_open(SYSTEM_SOCKET_PATH, &ctl->client, &system);

		if (other == DP_OK || other == DP_E_DENIED) {
			*err = system;
			code = other;
		}
	}
	free(path);
	if (code == DP_E_NO_DAEMON && command_has_state_option(ctl->command))
		dp_hint(err, "start one with 'dparetod' or 'systemctl start dparetod', or "
			     "look at a state folder without one: --state DIR");
	return code;
}

static int call_with_reconnect(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields,
			       json_t **ok, struct dp_err *err)
{
	int code;

	if (ctl->exact_names) {
		fields = fields ? fields : json_object();
		json_object_set_new(fields, "exact", json_true());
	}
	do {
		code = ctl_connect(ctl, err);
		if (code == DP_OK)
			code = dp_client_call(ctl->client, verb, json_incref(fields), timeout_ms,
					      ok, err);
		if (!ctl->on_daemon_lost || (code != DP_E_NO_DAEMON && code != DP_E_TIMEOUT))
			break;
		ctl->n_reconnects++;
		code = ctl->on_daemon_lost(ctl, code, err);
	} while (code == DP_OK);
	if (code == DP_E_TIMEOUT)
		dp_hint(err, "what was asked for may still happen; 'dparetoctl status' "
			     "says what holds the daemon up");
	json_decref(fields);
	return code;
}

int ctl_call_first_page(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
			struct dp_err *err)
{
	return call_with_reconnect(ctl, REPLY_TIMEOUT_MS, verb, fields, ok, err);
}

/* ---- paged answers (docs/protocol.md) ---- */

/* Fetches the studies or re-evaluations from position "next". */
static int fetch_remaining_list(struct ctl *ctl, const char *verb, const char *study,
				const char *key, json_t *ok, struct dp_err *err)
{
	int64_t next = dp_json_int(ok, "next", -1);
	json_t *fields, *page;

	while (next >= 0) {
		int code = ctl_pack_fields(&fields, err, "{s:s*, s:I}", "study", study, "from",
					   (json_int_t)next);

		if (code == DP_OK)
			code = ctl_call_first_page(ctl, verb, fields, &page, err);
		if (code != DP_OK)
			return code;
		next = dp_json_int(page, "next", -1);
		json_array_extend(json_object_get(ok, key), json_object_get(page, key));
		json_decref(page);
	}
	json_object_del(ok, "next");
	return DP_OK;
}

/* Fetches the front points listed in "more", in batches. */
static int fetch_remaining_front(struct ctl *ctl, const char *study, json_t *ok, struct dp_err *err)
{
	const json_t *more = json_object_get(ok, "more");
	size_t at = 0;
	json_t *fields, *page;

	while (at < json_array_size(more)) {
		json_t *points = json_array();
		int code;

		while (at < json_array_size(more) && json_array_size(points) < POINTS_PER_REQUEST)
			json_array_append(points, json_array_get(more, at++));
		code = ctl_pack_fields(&fields, err, "{s:s, s:o}", "study", study, "points",
				       points);
		if (code == DP_OK)
			code = ctl_call_first_page(ctl, "front", fields, &page, err);
		if (code != DP_OK)
			return code;
		json_array_extend(json_object_get(ok, "front"), json_object_get(page, "front"));
		json_decref(page);
	}
	json_object_del(ok, "more");
	return DP_OK;
}

/* Fetches the runs and attempts of a full trial from position "next". */
static int fetch_remaining_runs(struct ctl *ctl, const char *study, json_t *trial,
				struct dp_err *err)
{
	int64_t next = dp_json_int(trial, "next", -1);
	json_t *fields, *page;

	while (next >= 0) {
		const json_t *part;
		int code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:I}", "study", study, "trial",
					   (json_int_t)dp_json_int(trial, "trial", -1), "from",
					   (json_int_t)next);

		if (code == DP_OK)
			code = ctl_call_first_page(ctl, "trial", fields, &page, err);
		if (code != DP_OK)
			return code;
		part = json_object_get(page, "trial");
		next = dp_json_int(part, "next", -1);
		json_array_extend(json_object_get(trial, "runs"), json_object_get(part, "runs"));
		json_array_extend(json_object_get(trial, "attempts"),
				  json_object_get(part, "attempts"));
		json_decref(page);
	}
	json_object_del(trial, "next");
	return DP_OK;
}

enum paging {
	PAGES_NOTHING,
	PAGES_STUDIES,
	PAGES_FRONT,
	PAGES_RUNS,
	PAGES_REEVALUATIONS,
};

/* Verbs not listed here have one page. ctl_for_each_trial() handles `trials`. */
static const struct paged_verb {
	const char *name;
	enum paging of_study, of_all;
} paged_verbs[] = {
	{ "list", PAGES_NOTHING, PAGES_STUDIES },
	{ "status", PAGES_FRONT, PAGES_STUDIES },
	{ "changes", PAGES_FRONT, PAGES_NOTHING },
	{ "front", PAGES_FRONT, PAGES_NOTHING },
	{ "trial", PAGES_RUNS, PAGES_NOTHING },
	{ "measures", PAGES_REEVALUATIONS, PAGES_NOTHING },
};

/* Completes a first page and removes "next" and "more". */
static int fetch_remaining_pages(struct ctl *ctl, const char *verb, const char *study, json_t *ok,
				 struct dp_err *err)
{
	enum paging paging = PAGES_NOTHING;

	for (size_t i = 0; i < DP_COUNT(paged_verbs); i++)
		if (strcmp(paged_verbs[i].name, verb) == 0)
			paging = study ? paged_verbs[i].of_study : paged_verbs[i].of_all;
	switch (paging) {
	case PAGES_STUDIES:
		return fetch_remaining_list(ctl, "list", NULL, "studies", ok, err);
	case PAGES_FRONT:
		return fetch_remaining_front(ctl, study, ok, err);
	case PAGES_RUNS:
		return fetch_remaining_runs(ctl, study, json_object_get(ok, "trial"), err);
	case PAGES_REEVALUATIONS:
		return fetch_remaining_list(ctl, verb, study, "measures", ok, err);
	case PAGES_NOTHING:
		break;
	}
	return DP_OK;
}

/* Warns once if the answer shows changes that are not on disk yet. */
static void warn_unsaved(struct ctl *ctl, const json_t *ok)
{
	double seconds;

	if (ctl->unsaved_reported || !dp_json_to_real(json_object_get(ok, "unsaved"), &seconds))
		return;
	ctl->unsaved_reported = true;
	ctl_print_message(ctl,
			  "the journal has not answered for %.0f s: what is shown may not be on "
			  "the disk yet",
			  ceil(seconds));
}

int ctl_call_timeout(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields, json_t **ok,
		     struct dp_err *err)
{
	json_t *study = json_incref(json_object_get(fields, "study"));
	int code = call_with_reconnect(ctl, timeout_ms, verb, fields, ok, err);

	if (code == DP_OK) {
		code = fetch_remaining_pages(ctl, verb, json_string_value(study), *ok, err);
		if (code != DP_OK) {
			json_decref(*ok);
			*ok = NULL;
		}
	}
	json_decref(study);
	return code;
}

int ctl_call(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok, struct dp_err *err)
{
	int code = ctl_call_timeout(ctl, REPLY_TIMEOUT_MS, verb, fields, ok, err);

	if (code == DP_OK)
		warn_unsaved(ctl, *ok);
	return code;
}

int ctl_call_study(struct ctl *ctl, const char *verb, const char *study, json_t **ok,
		   struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s}", "study", study);

	return code == DP_OK ? ctl_call(ctl, verb, fields, ok, err) : code;
}

int ctl_call_changes(struct ctl *ctl, const char *study, int64_t since, int ms, json_t **status,
		     struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:i}", "study", study, "since",
				   (json_int_t)since, "timeout_ms", ms);

	return code == DP_OK ? ctl_call_timeout(ctl, ms + REPLY_TIMEOUT_MS, "changes", fields,
						status, err)
			     : code;
}

int ctl_call_complete_status(struct ctl *ctl, const char *study, json_t **ok, struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:b}", "study", study, "whole", 1);

	return code == DP_OK ? ctl_call_timeout(ctl, MODEL_TIMEOUT_MS, "status", fields, ok, err)
			     : code;
}

int ctl_call_front(struct ctl *ctl, const char *study, const char *choice, json_t **front,
		   struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s}", "study", study);

	if (code == DP_OK && choice)
		json_object_set_new(fields, "denoised",
				    json_boolean(strcmp(choice, "denoised") == 0));
	if (code == DP_OK)
		code = ctl_call_timeout(ctl, MODEL_TIMEOUT_MS, "front", fields, front, err);
	if (code == DP_OK)
		warn_unsaved(ctl, *front);
	return code;
}

int ctl_call_print(struct ctl *ctl, const char *verb, json_t *fields, ctl_print_summary_fn *print,
		   struct dp_err *err)
{
	json_t *ok;
	int code = ctl_call(ctl, verb, fields, &ok, err);

	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, ok);
	else
		print(ctl, ok);
	json_decref(ok);
	return DP_OK;
}

int ctl_call_each_study(struct ctl *ctl, const char *verb, json_t *fields,
			ctl_print_summary_fn *tell, struct dp_err *err)
{
	json_t *mine, *ok;
	const json_t *summary;
	int code = DP_OK;

	for (int i = 0; i < ctl->argc && code == DP_OK; i++) {
		code = ctl_pack_fields(&mine, err, "{s:s}", "study", ctl->argv[i]);
		if (code != DP_OK)
			break;
		if (fields)
			json_object_update_missing(mine, fields);
		code = ctl_call(ctl, verb, mine, &ok, err);
		if (code != DP_OK)
			break;
		summary = json_object_get(ok, "study");
		if (ctl->format == CTL_JSON)
			ctl_print_json(ctl, summary);
		else if (ctl->format == CTL_NAME)
			ctl_printf(ctl, "%s\n", dp_json_str(summary, "name", "?"));
		else
			tell(ctl, summary);
		json_decref(ok);
	}
	json_decref(fields);
	return code;
}

int ctl_for_each_trial(struct ctl *ctl, const struct ctl_trial_query *which, ctl_trial_fn *fn,
		       void *arg, struct dp_err *err)
{
	int64_t next = which->from;

	while (next >= 0) {
		json_t *fields, *ok, *trial;
		size_t i;
		int code;

		code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:i, s:b, s:b, s:s*}", "study",
				       which->study, "from", (json_int_t)next, "limit",
				       which->full ? FULL_TRIALS_PER_PAGE : TRIALS_PER_PAGE, "full",
				       which->full, "own", which->own_results_only, "state",
				       which->state);
		if (code == DP_OK)
			code = ctl_call(ctl, "trials", fields, &ok, err);
		if (code != DP_OK)
			return code;
		json_array_foreach (json_object_get(ok, "trials"), i, trial) {
			code = fetch_remaining_runs(ctl, which->study, trial, err);
			if (code == DP_OK)
				code = fn(ctl, trial, arg, err);
			if (code != DP_OK)
				break;
		}
		next = dp_json_int(ok, "next", -1);
		json_decref(ok);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

int ctl_call_each_trial_arg(struct ctl *ctl, const char *verb, const char *done, struct dp_err *err)
{
	uint32_t *trials = NULL;
	size_t count = 0;
	int code = DP_OK, first = DP_OK;

	for (int i = 1; i < ctl->argc && code == DP_OK; i++)
		code = ctl_parse_trial_ranges(ctl->argv[i], &trials, &count, err);
	for (size_t i = 0; i < count && code == DP_OK; i++) {
		char name[DP_TRIAL_NAME_LEN];
		struct dp_err why;
		json_t *fields, *ok = NULL;
		int one = ctl_pack_fields(&fields, &why, "{s:s, s:I}", "study", ctl->argv[0],
					  "trial", (json_int_t)trials[i]);

		if (one == DP_OK)
			one = ctl_call(ctl, verb, fields, &ok, &why);
		if (one == DP_OK && ctl->format == CTL_JSON)
			ctl_print_json(ctl, json_object_get(ok, "trial"));
		else if (one == DP_OK)
			ctl_print_message(ctl, "trial %s %s", dp_trial_format_name(trials[i], name),
					  done);
		json_decref(ok);
		if (one == DP_OK)
			continue;
		ctl_print_error(ctl, &why);
		ctl->error_reported = true;
		*err = why;
		first = first == DP_OK ? one : first;
		if (one == DP_E_NO_DAEMON || one == DP_E_DENIED || one == DP_E_TIMEOUT)
			break; /* the next one would fail too */
	}
	free(trials);
	return code != DP_OK ? code : first;
}
