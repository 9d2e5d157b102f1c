/* daemon.c - calls to the daemon, and loops over studies and trials. */
#include "ctl/daemon.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/command.h"
#include "ctl/look.h"
#include "ctl/memory.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/pages.h"
#include "journal/state.h"
#include "wire/wire.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MODELS_MS = 600000,  /* for one that needs models of many results, or adds up
			      * thousands of trainings */
	PATIENCE_MS = 60000, /* for an answer that the daemon gives at once */
	PAGE = 1000,         /* trials a request; the protocol's most */
	PAGE_FULL = 20       /* each may have 10,000 runs */
};

#define SYSTEM_SOCKET "/run/dpareto/dparetod.sock"

volatile sig_atomic_t ctl_interrupted;

static void note_interrupt(int number)
{
	(void)number;
	ctl_interrupted = 1;
}

void ctl_catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_interrupt }, old;

	/* without SA_RESTART: a wait shall end */
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < DP_COUNT(numbers); i++) {
		sigaction(numbers[i], NULL, &old);
		/* what nohup or a shell's & made deaf stays deaf */
		if (old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

int ctl_pack(json_t **fields, struct dp_err *err, const char *format, ...)
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
	char *path = ctl->socket ? strdup(ctl->socket) : dp_default_socket();

	return path ? path : ctl_strdup(SYSTEM_SOCKET);
}

static bool takes_folder(const struct ctl_command *command)
{
	const struct ctl_option *o = command ? command->options : NULL;

	while (o && o->name && strcmp(o->name, "state") != 0)
		o++;
	return o && o->name;
}

int ctl_connect(struct ctl *ctl, struct dp_err *err)
{
	const char *folder = ctl_opt(ctl, "state");
	char *path;
	int code;

	if (ctl->client)
		return DP_OK;
	if (folder && !ctl->served)
		return ctl_look_open(ctl, folder, err);
	path = ctl_socket_path(ctl);
	code = dp_client_open(path, &ctl->client, err);
	/* without a socket named and without a daemon of one's own, the system's is
	 * meant */
	if (code == DP_E_NO_DAEMON && !ctl->socket && strcmp(path, SYSTEM_SOCKET) != 0) {
		struct dp_err system;
		int other = dp_client_open(SYSTEM_SOCKET, &ctl->client, &system);

		if (other == DP_OK || other == DP_E_DENIED) {
			*err = system;
			code = other;
		}
	}
	free(path);
	if (code == DP_E_NO_DAEMON && takes_folder(ctl->command))
		dp_hint(err, "start one with 'dparetod' or 'systemctl start dparetod', or "
			     "look at a state folder without one: --state DIR");
	return code;
}

/* What goes with every request of this invocation. */
static int add_manner(const struct ctl *ctl, json_t **fields, struct dp_err *err)
{
	if (!ctl->exact && !ctl->via)
		return DP_OK;
	if (!*fields)
		*fields = json_object();
	if ((ctl->exact && json_object_set_new(*fields, "exact", json_true()) != 0) ||
	    (ctl->via && json_object_set_new(*fields, "via", json_string(ctl->via)) != 0))
		return dp_fail(err, DP_E_NOMEM, "no memory for a request");
	return DP_OK;
}

static int call_page(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields, json_t **ok,
		     struct dp_err *err)
{
	int code = add_manner(ctl, &fields, err);

	while (code == DP_OK) {
		code = ctl_connect(ctl, err);
		if (code == DP_OK)
			code = dp_client_call(ctl->client, verb, json_incref(fields), timeout_ms,
					      ok, err);
		if (!ctl->revive || (code != DP_E_NO_DAEMON && code != DP_E_TIMEOUT))
			break;
		ctl->revived++;
		code = ctl->revive(ctl, code, err);
	}
	if (code == DP_E_TIMEOUT)
		dp_hint(err, "what was asked for may still happen; 'dparetoctl status' "
			     "says what holds the daemon up");
	json_decref(fields);
	return code;
}

int ctl_call_once(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
		  struct dp_err *err)
{
	return call_page(ctl, PATIENCE_MS, verb, fields, ok, err);
}

int ctl_call_within(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields, json_t **ok,
		    struct dp_err *err)
{
	json_t *study = json_incref(json_object_get(fields, "study"));
	int code = call_page(ctl, timeout_ms, verb, fields, ok, err);

	if (code == DP_OK) {
		code = ctl_complete(ctl, verb, json_string_value(study), *ok, err);
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
	int code = ctl_call_within(ctl, PATIENCE_MS, verb, fields, ok, err);

	if (code == DP_OK)
		ctl_say_unsaved(ctl, *ok);
	return code;
}

int ctl_call_study(struct ctl *ctl, const char *verb, const char *study, json_t **ok,
		   struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack(&fields, err, "{s:s}", "study", study);

	return code == DP_OK ? ctl_call(ctl, verb, fields, ok, err) : code;
}

int ctl_call_changes(struct ctl *ctl, const char *study, int64_t since, int ms, json_t **status,
		     struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack(&fields, err, "{s:s, s:I, s:i}", "study", study, "since",
			    (json_int_t)since, "timeout_ms", ms);

	return code == DP_OK
		       ? ctl_call_within(ctl, ms + PATIENCE_MS, "changes", fields, status, err)
		       : code;
}

int ctl_call_reckoned(struct ctl *ctl, const char *study, json_t **ok, struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack(&fields, err, "{s:s, s:b}", "study", study, "whole", 1);

	return code == DP_OK ? ctl_call_within(ctl, MODELS_MS, "status", fields, ok, err) : code;
}

int ctl_call_front(struct ctl *ctl, const char *study, const char *choice, json_t **front,
		   struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack(&fields, err, "{s:s}", "study", study);

	if (code == DP_OK && choice)
		json_object_set_new(fields, "denoised",
				    json_boolean(strcmp(choice, "denoised") == 0));
	if (code == DP_OK)
		code = ctl_call_within(ctl, MODELS_MS, "front", fields, front, err);
	if (code == DP_OK)
		ctl_say_unsaved(ctl, *front);
	return code;
}

int ctl_each_study(struct ctl *ctl, const char *verb, json_t *fields, ctl_tell_fn *tell,
		   struct dp_err *err)
{
	json_t *mine, *ok;
	const json_t *summary;
	int code = DP_OK;

	for (int i = 0; i < ctl->argc && code == DP_OK; i++) {
		code = ctl_pack(&mine, err, "{s:s}", "study", ctl->argv[i]);
		if (code != DP_OK)
			break;
		if (fields)
			json_object_update_missing(mine, fields);
		code = ctl_call(ctl, verb, mine, &ok, err);
		if (code != DP_OK)
			break;
		summary = json_object_get(ok, "study");
		if (ctl->format == CTL_JSON)
			ctl_put_json(ctl, summary);
		else if (ctl->format == CTL_NAME)
			ctl_printf(ctl, "%s\n", dp_json_str(summary, "name", "?"));
		else
			tell(ctl, summary);
		json_decref(ok);
	}
	json_decref(fields);
	return code;
}

int ctl_each_trial(struct ctl *ctl, const struct ctl_trials *which, ctl_trial_fn *fn, void *arg,
		   struct dp_err *err)
{
	int64_t next = which->from;

	while (next >= 0) {
		json_t *fields, *ok, *trial;
		size_t i;
		int code;

		code = ctl_pack(&fields, err, "{s:s, s:I, s:i, s:b, s:b, s:s*}", "study",
				which->study, "from", (json_int_t)next, "limit",
				which->full ? PAGE_FULL : PAGE, "full", which->full, "own",
				which->own, "state", which->state);
		if (code == DP_OK)
			code = ctl_call(ctl, "trials", fields, &ok, err);
		if (code != DP_OK)
			return code;
		json_array_foreach (json_object_get(ok, "trials"), i, trial) {
			code = ctl_complete_trial(ctl, which->study, trial, err);
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

int ctl_each_named(struct ctl *ctl, const char *verb, const char *done, struct dp_err *err)
{
	uint32_t *trials = NULL;
	size_t count = 0;
	int code = DP_OK, first = DP_OK;

	for (int i = 1; i < ctl->argc && code == DP_OK; i++)
		code = ctl_ranges(ctl->argv[i], &trials, &count, err);
	for (size_t i = 0; i < count && code == DP_OK; i++) {
		char name[DP_TRIAL_NAME];
		struct dp_err why;
		json_t *fields, *ok = NULL;
		int one = ctl_pack(&fields, &why, "{s:s, s:I}", "study", ctl->argv[0], "trial",
				   (json_int_t)trials[i]);

		if (one == DP_OK)
			one = ctl_call(ctl, verb, fields, &ok, &why);
		if (one == DP_OK && ctl->format == CTL_JSON)
			ctl_put_json(ctl, json_object_get(ok, "trial"));
		else if (one == DP_OK)
			ctl_say(ctl, "trial %s %s", dp_trial_name(trials[i], name), done);
		json_decref(ok);
		if (one == DP_OK)
			continue;
		ctl_put_error(ctl, &why);
		ctl->told = true;
		*err = why;
		first = first == DP_OK ? one : first;
		if (one == DP_E_NO_DAEMON || one == DP_E_DENIED || one == DP_E_TIMEOUT)
			break; /* the next would fare no better */
	}
	free(trials);
	return code != DP_OK ? code : first;
}
