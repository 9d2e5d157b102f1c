/* cmd-recommend.c - `recommend`: parameters for a point of the front, tested or not. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/reevaluation.h"
#include "ctl/support/study_queries.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the members of a re-evaluation that were also predicted. */
static json_t *select_predicted_members(const json_t *row, const char *key, const json_t *found)
{
	json_t *part = json_object(), *predicted;
	const char *name;

	json_object_foreach (json_object_get(found, "predicted"), name, predicted) {
		json_t *v = json_object_get(json_object_get(row, key), name);

		if (v)
			json_object_set(part, name, v);
	}
	return part;
}

/* Builds the documented "verified" object of a finished re-evaluation. */
static json_t *verified_json(const json_t *row, const json_t *found)
{
	return json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)dp_json_int(row, "done", 0),
			 "objectives", select_predicted_members(row, "objectives", found), "low",
			 select_predicted_members(row, "low", found), "high",
			 select_predicted_members(row, "high", found));
}

/* Evaluates all recommended points at once and adds the results. */
static int verify_recommendations(struct ctl *ctl, const char *study, json_t *list, int64_t runs,
				  struct dp_err *err)
{
	json_t *numbers = json_array(), *rows = NULL, *found, *row, *fields, *ok;
	int code = DP_OK;
	size_t i, k;

	json_array_foreach (list, i, found) {
		if (code != DP_OK || json_object_get(found, "error"))
			continue;
		code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:O}", "study", study, "runs",
				       (json_int_t)runs, "parameters",
				       json_object_get(found, "parameters"));
		if (code == DP_OK)
			code = ctl_call(ctl, "measure", fields, &ok, err);
		if (code == DP_OK) {
			json_t *number = json_array_get(json_object_get(ok, "measurements"), 0);

			json_array_append(numbers, number);
			json_object_set(found, "measure", number);
			json_decref(ok);
		}
	}
	if (code == DP_OK && json_array_size(numbers) > 0)
		code = ctl_reevaluation_follow(ctl, study, numbers, &rows, err);
	json_array_foreach (list, i, found) {
		json_array_foreach (rows, k, row)
			if (code == DP_OK && json_is_object(json_object_get(row, "objectives")) &&
			    json_equal(json_object_get(row, "measure"),
				       json_object_get(found, "measure")))
				json_object_set_new(found, "verified", verified_json(row, found));
		json_object_del(found, "measure");
	}
	if (code == DP_OK)
		code = ctl_reevaluation_check_success(rows, err);
	json_decref(rows);
	json_decref(numbers);
	return code;
}

static void add_predicted_rows(struct ctl_table *t, const json_t *found, const char *which)
{
	const json_t *tested = json_object_get(json_object_get(found, "tested"), "objectives");
	const char *name;
	json_t *q;

	json_object_foreach (json_object_get(found, which), name, q) {
		ctl_table_add_text(t, name);
		ctl_table_add_value(t, json_object_get(q, "value"));
		ctl_table_add_value(t, json_object_get(q, "low"));
		ctl_table_add_value(t, json_object_get(q, "high"));
		ctl_table_add_value(t, json_object_get(tested, name));
	}
}

/* Prints the distance to the nearest tested point and how reliable the model is there. */
static void print_model_trust(struct ctl *ctl, const json_t *found)
{
	const json_t *nearest = json_object_get(found, "nearest");
	const json_t *trust = json_object_get(found, "trust");
	char away[CTL_TEXT_LEN], off[CTL_TEXT_LEN], trial[CTL_TEXT_LEN];
	double coverage = NAN, distance = NAN, error = NAN;

	if (dp_json_to_real(json_object_get(nearest, "distance"), &distance))
		ctl_printf(ctl, "nearest tested point: trial %s, %s of the space away\n",
			   ctl_format_result_id(nearest, trial),
			   ctl_format_number(distance, 2, false, away));
	if (dp_json_int(trust, "neighbours", 0) == 0 ||
	    !dp_json_to_real(json_object_get(trust, "coverage"), &coverage) ||
	    !dp_json_to_real(json_object_get(trust, "leave_one_out"), &error))
		return;
	ctl_print_wrapped(ctl,
			  "the model of %s %s: left out, the %lld results nearest to it are "
			  "predicted to within %s (rms), %.0f %% of them within their 95 %% "
			  "interval",
			  dp_json_str(trust, "of", "?"),
			  dp_json_bool(trust, "trusted", false) ? "can be trusted there"
								: "is doubtful there",
			  (long long)dp_json_int(trust, "neighbours", 0),
			  ctl_format_number(error, 2, false, off), 100 * coverage);
	if (dp_json_str(trust, "why", NULL))
		ctl_print_wrapped(ctl, "because %s", dp_json_str(trust, "why", ""));
}

static void print_verification(struct ctl *ctl, const json_t *found)
{
	const json_t *v = json_object_get(found, "verified");
	const char *name;
	json_t *q;

	json_object_foreach (json_object_get(found, "predicted"), name, q) {
		const json_t *measured = json_object_get(json_object_get(v, "objectives"), name);
		char text[CTL_TEXT_LEN], lo[CTL_TEXT_LEN], hi[CTL_TEXT_LEN];
		double x, low, high;

		if (!dp_json_to_real(measured, &x) ||
		    !dp_json_to_real(json_object_get(q, "low"), &low) ||
		    !dp_json_to_real(json_object_get(q, "high"), &high))
			continue;
		ctl_print_wrapped(
			ctl,
			"measured with %lld fresh runs: %s %s (95 %% from %s to %s), "
			"%s the predicted interval",
			(long long)dp_json_int(v, "runs", 0), name,
			ctl_format_value(measured, text),
			ctl_format_value(json_object_get(json_object_get(v, "low"), name), lo),
			ctl_format_value(json_object_get(json_object_get(v, "high"), name), hi),
			x < low    ? "below"
			: x > high ? "above"
				   : "within");
	}
}

/* Prints the best tested point. It is subject to selection bias, so the expected result of fresh
 * runs is printed too. */
static void print_best_tested_point(struct ctl *ctl, const json_t *found, const char *level)
{
	const json_t *tested = json_object_get(found, "tested");
	const json_t *expected = json_object_get(found, "expected");
	const char *name, *between = "; by the model fresh runs of it would give";
	struct dp_buf out = DP_BUF_INIT;
	char text[CTL_TEXT_LEN], lo[CTL_TEXT_LEN], hi[CTL_TEXT_LEN];
	json_t *q;

	if (!json_is_object(tested)) {
		ctl_printf(ctl, "no tested point has %s\n", level);
		return;
	}
	dp_buf_printf(&out, "trial %s is the best tested point with %s, as observed",
		      ctl_format_result_id(tested, text), level);
	json_object_foreach (json_object_get(expected, "predicted"), name, q) {
		dp_buf_printf(&out, "%s %s %s (95 %% from %s to %s)", between, name,
			      ctl_format_value(json_object_get(q, "value"), text),
			      ctl_format_value(json_object_get(q, "low"), lo),
			      ctl_format_value(json_object_get(q, "high"), hi));
		between = ",";
	}
	if (dp_json_bool(expected, "as_good", false))
		dp_buf_puts(&out, ": at least as good as what is recommended");
	ctl_print_wrapped(ctl, "%s", dp_buf_text(&out));
	dp_buf_free(&out);
}

static void print_recommendation(struct ctl *ctl, const json_t *found)
{
	const json_t *tested = json_object_get(found, "tested"),
		     *before = json_object_get(tested, "objectives");
	struct dp_buf level = DP_BUF_INIT, text = DP_BUF_INIT;
	struct ctl_table *t = ctl_table_new("OBJECTIVE|RECOMMENDED>|95% FROM>|TO>");
	char value[CTL_TEXT_LEN], title[CTL_TEXT_LEN + 16] = "TESTED";
	const char *name;
	json_t *v;

	json_object_foreach (json_object_get(found, "at"), name, v)
		dp_buf_printf(&level, "%s %s %s", name, dp_json_str(found, "holds", "at most"),
			      ctl_format_value(v, value));
	ctl_format_pairs(json_object_get(found, "parameters"), &text);
	ctl_print_wrapped(ctl, "%s: %s", dp_buf_text(&level), dp_buf_text(&text));
	if (json_is_object(tested))
		snprintf(title, sizeof title, "TRIAL %s", ctl_format_result_id(tested, value));
	ctl_table_add_column(t, title, CTL_RIGHT);
	/* round up computed values */
	json_object_foreach (json_object_get(found, "objectives"), name, v) {
		ctl_table_add_text(t, name);
		ctl_table_add_text(t, ctl_format_upper_bound(v, value));
		ctl_table_add_text(t, "computed");
		ctl_table_add_text(t, "");
		ctl_table_add_text(t, ctl_format_upper_bound(json_object_get(before, name), value));
	}
	add_predicted_rows(t, found, "predicted");
	add_predicted_rows(t, found, "constraints");
	ctl_table_print(ctl, t);
	print_best_tested_point(ctl, found, dp_buf_text(&level));
	print_verification(ctl, found);
	print_model_trust(ctl, found);
	/* all digits: a rounded parameter could exceed the requested epsilon */
	dp_buf_clear(&text);
	dp_buf_puts(&text, "in full:");
	json_object_foreach (json_object_get(found, "parameters"), name, v) {
		dp_buf_printf(&text, " %s=", name);
		ctl_format_exact_value(v, &text);
	}
	dp_buf_puts(&text, "\n");
	ctl_print_buf(ctl, &text);
	dp_buf_free(&level);
}

static int recommend_print(struct ctl *ctl, const json_t *ok, struct dp_err *err)
{
	const json_t *list = json_object_get(ok, "recommendations"), *found;
	int code = ctl_recommendations_error(ok, err);
	size_t i;

	if (code != DP_OK && json_array_size(list) == 1)
		return code;
	if (ctl->format == CTL_JSON) {
		json_t *all = ctl_recommendations_json(ok, ctl->argv[0]);

		ctl_print_json(ctl, all);
		json_decref(all);
	} else {
		json_array_foreach (list, i, found) {
			const json_t *error = json_object_get(found, "error");

			if (i > 0)
				ctl_printf(ctl, "\n");
			if (error)
				ctl_printf(ctl, "%s\n", dp_json_str(error, "message", "?"));
			else
				print_recommendation(ctl, found);
		}
		if (code == DP_OK && !ctl_get_option(ctl, "verify"))
			ctl_print_message(ctl, "predicted, not measured: --verify 50 runs it 50 "
					       "times");
	}
	ctl->error_reported = code != DP_OK; /* already reported with the answers */
	return code;
}

/* The requested levels, and the number of verification runs. */
struct recommend_request {
	json_t *levels;
	int64_t verify_runs; /* 0: do not verify */
};

static int recommend_and_verify(struct ctl *ctl, void *arg, struct dp_err *err)
{
	const struct recommend_request *w = arg;
	struct dp_err trouble = { 0 };
	json_t *ok;
	int code = ctl_query_recommendations(ctl, ctl->argv[0], w->levels, &ok, err);

	if (code != DP_OK)
		return code;
	if (w->verify_runs)
		code = verify_recommendations(ctl, dp_json_str(ok, "study", ctl->argv[0]),
					      json_object_get(ok, "recommendations"),
					      w->verify_runs, &trouble);
	/* a failed verification does not invalidate the recommendation */
	if (code == DP_OK || code == DP_E_STUDY) {
		int shown = recommend_print(ctl, ok, err);

		ctl->json_printed = shown == DP_OK;
		code = shown != DP_OK ? shown : code;
	}
	if (trouble.code == code)
		*err = trouble;
	json_decref(ok);
	return code;
}

static int cmd_recommend_run(struct ctl *ctl, struct dp_err *err)
{
	const char *text = ctl_get_option(ctl, "verify");
	struct recommend_request w = { 0 };
	int code = ctl_parse_levels(ctl, ctl->argv[0], &w.levels, err);

	if (code != DP_OK)
		return code;
	if (text && (!dp_int_parse(text, &w.verify_runs) || w.verify_runs < 1))
		code = dp_fail(err, DP_E_USAGE, "--verify takes a number of runs from 1, not '%s'",
			       text);
	if (code == DP_OK)
		code = w.verify_runs
			       ? ctl_reevaluation_with_daemon(ctl, recommend_and_verify, &w, err)
			       : recommend_and_verify(ctl, &w, err);
	json_decref(w.levels);
	return code;
}

static const struct ctl_option options[] = {
	{ "at", 0, "OBJECTIVE=X",
	  "the point of the front: this objective, or constraint's metric, at most X (at "
	  "least X if it is to be large); several: X,X,... or --at again" },
	{ "verify", 0, "RUNS",
	  "run what is recommended so often, with fresh seeds, and show what came out" },
	CTL_STATE_DIR_OPTION,
	CTL_PATIENCE_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_recommend = {
	.name = "recommend",
	.summary = "settings for a point of the front, tested or not",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Fits the models to what is known and looks for the settings with the best "
		"predicted other objective where OBJECTIVE is at most X. An epsilon that is "
		"computed is never above X, and noise is tuned until it comes as close as it "
		"can: within 0.1 % where the noise is a continuous parameter. Other settings are "
		"chosen by the models' means with half a standard deviation of doubt added, not "
		"by the luckiest result. Of several other objectives the hypervolume between "
		"them and the anti-ideal point counts.\n\n"
		"Shown are the predicted values with 95 % intervals of what the mean of 200 "
		"fresh runs would be, the best tested point beside them and what fresh runs of "
		"it would give, how far the nearest tested point is (1: from corner to corner of "
		"the parameter space), and how well the model predicts the results around when "
		"they are left out. With -o json, `parameters` is an object as trainers get "
		"it.\n\n"
		"Nothing is run and nothing is journaled, unless --verify is given: that runs "
		"the point with seeds that the search has not used, as 'remeasure' does, and "
		"shows predicted beside measured. The runs count in what the whole search costs, "
		"and no later proposal depends on them. With --state a daemon of its own does "
		"it.",
	.examples = "dparetoctl recommend adult --at epsilon=1\n"
		    "dparetoctl recommend adult --at error=0.16\n"
		    "  the least epsilon for that\n"
		    "dparetoctl recommend adult --at epsilon=0.1,0.5,1,2,5\n"
		    "dparetoctl recommend adult --at epsilon=1 --verify 50\n"
		    "dparetoctl recommend adult --at epsilon=1 --state ~/studies -o json",
	.run = cmd_recommend_run,
};
