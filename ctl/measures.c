/* measures.c - points that are measured again: followed, and shown beside what was
 * searched. */
#include "ctl/measures.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "ctl/daemon.h"
#include "ctl/follow.h"
#include "ctl/memory.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/patience.h"
#include "ctl/point.h"
#include "ctl/private.h"
#include "ctl/table.h"
#include "ctl/text.h"
#include "ctl/trials.h"
#include "wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	POLL_MS = 1000
};

/* ---- following ---- */

/* Those of the study's measurements that are asked for. */
static int measures_look(struct ctl *ctl, const char *study, const json_t *numbers, json_t **rows,
			 struct dp_err *err)
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
			if (json_equal(number, json_object_get(row, "measure")) &&
			    json_array_append(*rows, row) != 0)
				ctl_die_nomem();
	json_decref(ok);
	return DP_OK;
}

/* Tells how far they are whenever another one is over; how many are. */
static size_t measures_tell(struct ctl *ctl, const json_t *rows, size_t told)
{
	size_t i, over = 0, all = json_array_size(rows);
	int64_t runs = 0, made = 0;
	const json_t *row;

	json_array_foreach (rows, i, row) {
		over += ctl_trial_over(row);
		runs += dp_json_int(row, "runs", 0);
		made += dp_json_int(row, "done", 0) + dp_json_int(row, "failed", 0);
	}
	if (over != told)
		ctl_say(ctl, "measured again: %zu of %zu point%s, %" PRId64 " of %" PRId64 " run%s",
			over, all, all == 1 ? "" : "s", made, runs, runs == 1 ? "" : "s");
	return over;
}

/* Waits for a change; a study that cannot go on without a person is an error. */
static int measures_wait(struct ctl *ctl, const char *study, int64_t *version, struct dp_err *err)
{
	const json_t *summary;
	json_t *status;
	int code = ctl_call_changes(ctl, study, *version, POLL_MS, &status, err);

	if (code != DP_OK)
		return code;
	*version = ctl_status_version(status);
	summary = json_object_get(status, "study");
	if (ctl_status_saved(status) && ctl_study_ended(summary) &&
	    json_is_object(json_object_get(summary, "measuring")))
		code = ctl_study_verdict(summary, err);
	json_decref(status);
	return code;
}

int ctl_measures_follow(struct ctl *ctl, const char *study, const json_t *numbers, json_t **rows,
			struct dp_err *err)
{
	size_t over = SIZE_MAX;
	int64_t version = 0;
	int code;

	*rows = NULL;
	for (;;) {
		json_decref(*rows);
		code = measures_look(ctl, study, numbers, rows, err);
		if (code != DP_OK)
			break;
		over = measures_tell(ctl, *rows, over);
		if (over == json_array_size(*rows))
			break;
		if (ctl_interrupted)
			code = dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		else
			code = measures_wait(ctl, study, &version, err);
		if (code != DP_OK)
			break;
	}
	return code;
}

/* ---- where ---- */

static int measures_daemon(struct ctl *ctl, ctl_measures_fn *fn, void *arg, struct dp_err *err)
{
	struct ctl_patience patience;
	int code = ctl_patience_read(ctl, &patience, err);

	if (code == DP_OK)
		code = ctl_connect(ctl, err);
	if (code != DP_OK)
		return code;
	ctl_be_patient(ctl, &patience);
	code = fn(ctl, arg, err);
	if (code == DP_E_INTERRUPTED) {
		ctl_say(ctl,
			"the daemon goes on with it; the same command follows it "
			"again, 'dparetoctl stop %s' gives it up",
			ctl->argv[0]);
		ctl->told = true;
	}
	return code;
}

/* A study that waits for a person is set going: that is what this person wants. */
static int measures_wake(struct ctl *ctl, struct dp_err *err)
{
	json_t *status, *ok;
	int code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);
	bool paused;

	if (code != DP_OK)
		return code;
	paused = strcmp(dp_json_str(json_object_get(status, "study"), "state", ""), "paused") == 0;
	json_decref(status);
	if (!paused)
		return DP_OK;
	code = ctl_call_study(ctl, "resume", ctl->argv[0], &ok, err);
	if (code == DP_OK)
		json_decref(ok);
	return code;
}

static int measures_private(struct ctl *ctl, const char *folder, ctl_measures_fn *fn, void *arg,
			    struct dp_err *err)
{
	struct ctl_private p = { .ctl = ctl, .dir = realpath(folder, NULL) };
	json_t *summary = NULL;
	int code;

	if (!p.dir)
		return dp_fail_errno(err, errno, "cannot use the folder %s", folder);
	p.log = dp_path_join(p.dir, "dparetod.log");
	if (!p.log)
		ctl_die_nomem();
	code = ctl_private_open(&p, err);
	if (code == DP_OK)
		code = measures_wake(ctl, err);
	if (code == DP_OK)
		code = fn(ctl, arg, err);
	if (code == DP_OK && !ctl_flag(ctl, "no-wait"))
		code = ctl_private_report(&p, ctl->argv[0], &summary, err);
	json_decref(summary);
	if (code == DP_E_INTERRUPTED) {
		ctl_say(ctl, "stopping its trainers; the same command goes on where this "
			     "stops");
		ctl->told = true;
	}
	ctl_private_stop(&p);
	free(p.dir);
	free(p.log);
	return code;
}

/* Does the daemon that answers serve this folder? Then no other can, and it is the one to
 * ask. Else there is no connection. */
static bool measures_served(struct ctl *ctl, const char *folder)
{
	char *ours = realpath(folder, NULL), *served = NULL;
	json_t *hello = NULL;
	struct dp_err ignored;

	ctl->served = true;
	if (ours && ctl_call(ctl, "hello", NULL, &hello, &ignored) == DP_OK)
		served = realpath(dp_json_str(hello, "state_dir", ""), NULL);
	ctl->served = served && strcmp(ours, served) == 0;
	if (!ctl->served) {
		dp_client_close(ctl->client);
		ctl->client = NULL;
	}
	json_decref(hello);
	free(served);
	free(ours);
	return ctl->served;
}

int ctl_measures_beside(struct ctl *ctl, ctl_measures_fn *fn, void *arg, struct dp_err *err)
{
	const char *folder = ctl_opt(ctl, "state");

	ctl_catch_signals();
	return folder && !measures_served(ctl, folder) ? measures_private(ctl, folder, fn, arg, err)
						       : measures_daemon(ctl, fn, arg, err);
}

/* ---- showing ---- */

/* What was searched of each result: the trial as it stands. */
static json_t *searched(struct ctl *ctl, const char *study, const json_t *row)
{
	json_t *fields, *ok, *objectives = NULL;
	const json_t *at = json_object_get(row, "at");
	struct dp_err ignored;

	if (!json_is_integer(json_object_get(row, "trial")) ||
	    ctl_pack(&fields, &ignored, "{s:s, s:I, s:o*}", "study", study, "trial",
		     (json_int_t)dp_json_int(row, "trial", 0), "at",
		     json_is_integer(at) ? json_incref((json_t *)at) : NULL) != DP_OK ||
	    ctl_call(ctl, "trial", fields, &ok, &ignored) != DP_OK)
		return NULL;
	objectives = json_incref(json_object_get(json_object_get(ok, "trial"), "objectives"));
	json_decref(ok);
	return objectives;
}

/* A row that came to something; NULL: none did. */
static const json_t *measured_row(const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (json_is_object(json_object_get(row, "objectives")))
			return row;
	return NULL;
}

/* Is the objective a metric? What is computed from the settings is not measured. */
static bool is_measured(const json_t *row, const char *objective)
{
	return json_object_get(json_object_get(row, "low"), objective) != NULL;
}

static void measures_columns(struct ctl_table *t, const json_t *example)
{
	struct dp_buf head = DP_BUF_INIT;
	const char *key;
	json_t *value;

	ctl_table_column(t, "TRIAL", CTL_RIGHT);
	json_object_foreach (json_object_get(example, "objectives"), key, value) {
		if (!is_measured(example, key)) {
			ctl_table_column(t, key, CTL_RIGHT);
			continue;
		}
		dp_buf_clear(&head);
		dp_buf_printf(&head, "searched %s", key);
		ctl_table_column(t, dp_buf_text(&head), CTL_RIGHT);
		ctl_table_column(t, "measured again", CTL_RIGHT);
		ctl_table_column(t, "95 %", CTL_LEFT);
	}
	ctl_table_column(t, "RUNS", CTL_RIGHT);
	dp_buf_free(&head);
}

/* A member of a member: null where there is none. */
static const json_t *member(const json_t *object, const char *key, const char *name)
{
	return json_object_get(json_object_get(object, key), name);
}

static void measures_cells(struct ctl_table *t, const json_t *example, const json_t *row,
			   const json_t *before)
{
	char text[CTL_TEXT_LEN], more[CTL_TEXT_LEN];
	const char *key;
	json_t *value;

	ctl_cell(t, CTL_NORMAL, "%s",
		 json_is_integer(json_object_get(row, "trial")) ? ctl_point_text(row, text) : "-");
	json_object_foreach (json_object_get(example, "objectives"), key, value) {
		if (!is_measured(example, key)) { /* an epsilon: rounded up */
			ctl_cell(t, CTL_NORMAL, "%s",
				 ctl_bound(json_object_get(before, key), text));
			continue;
		}
		ctl_cell(t, CTL_NORMAL, "%s", ctl_value(json_object_get(before, key), text));
		ctl_cell(t, CTL_BOLD, "%s", ctl_value(member(row, "objectives", key), text));
		if (!member(row, "low", key) || json_is_null(member(row, "low", key)))
			ctl_cell(t, CTL_NORMAL, "-"); /* one run, or none */
		else
			ctl_cell(t, CTL_NORMAL, "%s to %s",
				 ctl_value(member(row, "low", key), text),
				 ctl_value(member(row, "high", key), more));
	}
	ctl_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(row, "done", 0));
}

void ctl_measures_table(struct ctl *ctl, const json_t *rows)
{
	const json_t *example = measured_row(rows), *row;
	struct ctl_table *t = ctl_table_new();
	size_t i;

	measures_columns(t, example);
	json_array_foreach (rows, i, row) {
		json_t *before = searched(ctl, ctl->argv[0], row);

		measures_cells(t, example, row, before);
		json_decref(before);
	}
	ctl_table_print(ctl, t);
}

int ctl_measures_verdict(const json_t *rows, struct dp_err *err)
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
			json_is_integer(json_object_get(row, "trial")) ? ctl_point_text(row, text)
								       : "",
			dp_json_str(row, "reason", "no reason is known"));
		return dp_hint(err, "'dparetoctl status STUDY' names the trials that failed "
				    "(m0, m1, ...), 'dparetoctl logs STUDY m0' shows what one "
				    "said, 'dparetoctl retry STUDY m0' tries it again");
	}
	return DP_OK;
}
