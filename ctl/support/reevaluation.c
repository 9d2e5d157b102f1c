/* reevaluation.c - waits for re-evaluations and compares them with the searched values. */
#include "ctl/support/reevaluation.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/ui/result_id.h"
#include "ctl/client/embedded_daemon.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "protocol/control/control_protocol.h"
#include "ctl/study_status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	POLL_MS = 1000
};

static int reevaluation_fetch_rows(struct ctl *ctl, const char *study, const json_t *numbers,
				   json_t **rows, struct dp_err *err)
{
	json_t *ok, *row, *number;
	size_t i, k;
	int code = ctl_call_study(ctl, "measures", study, &ok, err);

	*rows = NULL;
	if (code != DP_OK)
		return code;
	*rows = json_array();
	json_array_foreach (json_object_get(ok, "measures"), i, row)
		json_array_foreach (numbers, k, number)
			if (json_equal(number, json_object_get(row, "measure")))
				json_array_append(*rows, row);
	json_decref(ok);
	return DP_OK;
}

int ctl_reevaluation_follow(struct ctl *ctl, const char *study, const json_t *numbers,
			    json_t **rows, struct dp_err *err)
{
	size_t last_over = SIZE_MAX, i;
	int64_t version = 0;

	*rows = NULL;
	for (;;) {
		size_t over = 0, all;
		int64_t runs = 0, made = 0;
		const json_t *row, *summary;
		json_t *status;
		int code;

		json_decref(*rows);
		code = reevaluation_fetch_rows(ctl, study, numbers, rows, err);
		if (code != DP_OK)
			return code;
		all = json_array_size(*rows);
		json_array_foreach (*rows, i, row) {
			over += ctl_trial_has_ended(row);
			runs += dp_json_int(row, "runs", 0);
			made += dp_json_int(row, "done", 0) + dp_json_int(row, "failed", 0);
		}
		if (over != last_over)
			ctl_print_message(ctl,
					  "measured again: %zu of %zu point%s, %" PRId64
					  " of %" PRId64 " run%s",
					  over, all, all == 1 ? "" : "s", made, runs,
					  runs == 1 ? "" : "s");
		last_over = over;
		if (over == all)
			return DP_OK;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		code = ctl_call_changes(ctl, study, version, POLL_MS, &status, err);
		if (code != DP_OK)
			return code;
		version = ctl_status_version(status);
		summary = json_object_get(status, "study");
		/* fail if the study cannot continue without a person */
		if (ctl_status_is_durable(status) && ctl_study_has_ended(summary) &&
		    json_is_object(json_object_get(summary, "measuring")))
			code = ctl_study_check_finished(summary, err);
		json_decref(status);
		if (code != DP_OK)
			return code;
	}
}

static int reevaluation_use_daemon(struct ctl *ctl, ctl_reevaluation_fn *fn, void *arg,
				   struct dp_err *err)
{
	struct ctl_reconnect reconnect;
	int code = ctl_reconnect_parse_option(ctl, &reconnect, err);

	if (code == DP_OK)
		code = ctl_connect(ctl, err);
	if (code != DP_OK)
		return code;
	ctl_reconnect_enable(ctl, &reconnect);
	code = fn(ctl, arg, err);
	if (code == DP_E_INTERRUPTED) {
		ctl_print_message(ctl,
				  "the daemon goes on with it; the same command follows it "
				  "again, 'dparetoctl stop %s' gives it up",
				  ctl->argv[0]);
		ctl->error_reported = true;
	}
	return code;
}

static int reevaluation_use_embedded(struct ctl *ctl, const char *folder, ctl_reevaluation_fn *fn,
				     void *arg, struct dp_err *err)
{
	struct ctl_embedded_daemon p = { .ctl = ctl, .state_dir = realpath(folder, NULL) };
	json_t *summary = NULL, *status = NULL, *resumed = NULL;
	int code;

	if (!p.state_dir)
		return dp_fail_errno(err, errno, "cannot use the folder %s", folder);
	p.log_path = dp_path_join(p.state_dir, "dparetod.log");
	code = ctl_embedded_open(&p, err);
	if (code == DP_OK)
		code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);
	/* resume a paused study: the user wants it to run */
	if (code == DP_OK &&
	    strcmp(dp_json_str(json_object_get(status, "study"), "state", ""), "paused") == 0)
		code = ctl_call_study(ctl, "resume", ctl->argv[0], &resumed, err);
	json_decref(status);
	json_decref(resumed);
	if (code == DP_OK)
		code = fn(ctl, arg, err);
	if (code == DP_OK && !ctl_has_option(ctl, "no-wait"))
		code = ctl_embedded_wait_report(&p, ctl->argv[0], &summary, err);
	json_decref(summary);
	if (code == DP_E_INTERRUPTED) {
		ctl_print_message(ctl, "stopping its trainers; the same command goes on where this "
				       "stops");
		ctl->error_reported = true;
	}
	ctl_embedded_stop(&p);
	free(p.state_dir);
	free(p.log_path);
	return code;
}

/* Does the daemon at the socket serve this directory? Then only it can. Otherwise the connection is
 * closed. */
static bool socket_daemon_serves_dir(struct ctl *ctl, const char *folder)
{
	char *ours = realpath(folder, NULL), *served = NULL;
	json_t *hello = NULL;
	struct dp_err ignored;

	ctl->socket_serves_state = true;
	if (ours && ctl_call(ctl, "hello", NULL, &hello, &ignored) == DP_OK)
		served = realpath(dp_json_str(hello, "state_dir", ""), NULL);
	ctl->socket_serves_state = served && strcmp(ours, served) == 0;
	if (!ctl->socket_serves_state) {
		dp_client_close(ctl->client);
		ctl->client = NULL;
	}
	json_decref(hello);
	free(served);
	free(ours);
	return ctl->socket_serves_state;
}

int ctl_reevaluation_with_daemon(struct ctl *ctl, ctl_reevaluation_fn *fn, void *arg,
				 struct dp_err *err)
{
	const char *folder = ctl_get_option(ctl, "state");

	ctl_catch_signals();
	return folder && !socket_daemon_serves_dir(ctl, folder)
		       ? reevaluation_use_embedded(ctl, folder, fn, arg, err)
		       : reevaluation_use_daemon(ctl, fn, arg, err);
}

static const json_t *json_get_nested(const json_t *object, const char *key, const char *name)
{
	return json_object_get(json_object_get(object, key), name);
}

/* Fetches the searched objectives of a result: the trial's current values. */
static json_t *fetch_searched_objectives(struct ctl *ctl, const char *study, const json_t *row)
{
	json_t *fields, *ok, *objectives;
	const json_t *at = json_object_get(row, "at");
	struct dp_err ignored;

	if (!json_is_integer(json_object_get(row, "trial")) ||
	    ctl_pack_fields(&fields, &ignored, "{s:s, s:I, s:o*}", "study", study, "trial",
			    (json_int_t)dp_json_int(row, "trial", 0), "at",
			    json_is_integer(at) ? json_incref((json_t *)at) : NULL) != DP_OK ||
	    ctl_call(ctl, "trial", fields, &ok, &ignored) != DP_OK)
		return NULL;
	objectives = json_incref(json_object_get(json_object_get(ok, "trial"), "objectives"));
	json_decref(ok);
	return objectives;
}

void ctl_reevaluation_print_table(struct ctl *ctl, const json_t *rows)
{
	const json_t *example = NULL, *row;
	struct ctl_table *t = ctl_table_new("TRIAL>");
	char text[CTL_TEXT_LEN], more[CTL_TEXT_LEN];
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach (rows, i, row) /* take the columns from a row with a result */
		if (!example && json_is_object(json_object_get(row, "objectives")))
			example = row;
	json_object_foreach (json_object_get(example, "objectives"), key, value) {
		struct dp_buf title = DP_BUF_INIT;
		bool measured = json_get_nested(example, "low", key) != NULL;

		dp_buf_printf(&title, "%s%s", measured ? "searched " : "", key);
		ctl_table_add_column(t, dp_buf_text(&title), CTL_RIGHT);
		dp_buf_free(&title);
		if (!measured) /* computed from the parameters */
			continue;
		ctl_table_add_column(t, "measured again", CTL_RIGHT);
		ctl_table_add_column(t, "95 %", CTL_LEFT);
	}
	ctl_table_add_column(t, "RUNS", CTL_RIGHT);
	json_array_foreach (rows, i, row) {
		json_t *before = fetch_searched_objectives(ctl, ctl->argv[0], row);

		ctl_table_add_text(t, json_is_integer(json_object_get(row, "trial"))
					      ? ctl_format_result_id(row, text)
					      : "-");
		json_object_foreach (json_object_get(example, "objectives"), key, value) {
			const json_t *searched = json_object_get(before, key),
				     *low = json_get_nested(row, "low", key);

			if (!json_get_nested(example, "low", key)) { /* an epsilon: round up */
				ctl_table_add_text(t, ctl_format_upper_bound(searched, text));
				continue;
			}
			ctl_table_add_value(t, searched);
			ctl_table_add_cell(
				t, CTL_BOLD, "%s",
				ctl_format_value(json_get_nested(row, "objectives", key), text));
			if (!low || json_is_null(low))
				ctl_table_add_text(t, "-"); /* fewer than two runs */
			else
				ctl_table_add_cell(
					t, CTL_NORMAL, "%s to %s", ctl_format_value(low, text),
					ctl_format_value(json_get_nested(row, "high", key), more));
		}
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(row, "done", 0));
		json_decref(before);
	}
	ctl_table_print(ctl, t);
}

int ctl_reevaluation_check_success(const json_t *rows, struct dp_err *err)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		char text[CTL_TEXT_LEN];

		if (strcmp(dp_json_str(row, "state", ""), "failed") != 0)
			continue;
		dp_fail(err, DP_E_STUDY,
			"%" PRId64 " of %" PRId64 " runs that measure %s%s failed: %s",
			dp_json_int(row, "failed", 0), dp_json_int(row, "runs", 0),
			json_is_integer(json_object_get(row, "trial")) ? "trial " : "it",
			json_is_integer(json_object_get(row, "trial"))
				? ctl_format_result_id(row, text)
				: "",
			dp_json_str(row, "reason", "no reason is known"));
		return dp_hint(err, "'dparetoctl status STUDY' names the trials that failed "
				    "(m0, m1, ...), 'dparetoctl logs STUDY m0' shows what one "
				    "said, 'dparetoctl retry STUDY m0' tries it again");
	}
	return DP_OK;
}
