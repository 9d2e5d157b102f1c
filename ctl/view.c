/* view.c - one study on the screen: what `status` prints and `watch` redraws. */
#include "ctl/view.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/memory.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LABEL = 13,    /* columns of the labels at the left */
	WIDE = 100000, /* where nothing is cut */
	TRIAL_BAR = 12,
	FAILURES_SHOWN = 3
};

struct view {
	struct dp_buf *out;
	int columns;
	int rows;  /* 0: as many as it takes */
	int lines; /* written so far */
	bool color, utf8;
};

/* A line: the label, then what fits of the text. */
DP_PRINTF(4, 5)
static void view_put(struct view *v, enum ctl_style style, const char *label,
		     const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = ctl_vformat(format, ap);
	va_end(ap);
	dp_buf_printf(v->out, "%s%-*s%s%s", ctl_style_on(CTL_DIM, v->color),
		      *text ? LABEL : 0, label, ctl_style_off(CTL_DIM, v->color),
		      ctl_style_on(style, v->color));
	ctl_cut(v->out, text, v->columns - LABEL, v->utf8);
	dp_buf_printf(v->out, "%s\n", ctl_style_off(style, v->color));
	v->lines++;
	free(text);
}

/* A text whose end matters, because it says what to do: as many lines as it needs, but
 * not more than half of the screen. */
static void view_put_whole(struct view *v, enum ctl_style style, const char *label,
			   const char *text)
{
	int last = v->rows > 0 ? v->lines + v->rows / 2 : INT_MAX;

	do {
		size_t n = v->lines + 1 < last ? ctl_line(text, v->columns - LABEL)
					       : strlen(text);

		view_put(v, style, label, "%.*s", (int)n, text);
		text += n + strspn(text + n, " ");
		label = "";
	} while (*text);
}

static void view_blank(struct view *v)
{
	dp_buf_putc(v->out, '\n');
	v->lines++;
}

void ctl_anti_ideal(const json_t *summary, struct dp_buf *out)
{
	char text[CTL_TEXT_LEN];
	const char *name, *sep = "";
	json_t *value;

	json_object_foreach (json_object_get(summary, "anti_ideal"), name, value) {
		dp_buf_printf(out, "%s%s %s", sep, name, ctl_value(value, text));
		sep = ", ";
	}
}

/* "14 points of 9 trainings: epsilon 0.1 to 3.4, error 0.05 to 0.4" */
static void front_range(const json_t *summary, const json_t *front, struct dp_buf *out)
{
	const json_t *name, *point;
	const char *sep = ": ";
	size_t i, k;

	ctl_point_count(front, out);
	if (strcmp(dp_json_str(summary, "front_of", ""), "denoised") == 0)
		dp_buf_puts(out, " as observed");
	json_array_foreach (json_object_get(summary, "objectives"), i, name) {
		double lo = INFINITY, hi = -INFINITY, x;

		json_array_foreach (front, k, point) {
			json_t *values = json_object_get(point, "objectives");

			if (!dp_json_to_real(
				    json_object_get(values, json_string_value(name)), &x))
				continue;
			lo = fmin(lo, x);
			hi = fmax(hi, x);
		}
		if (lo > hi)
			continue;
		dp_buf_printf(out, "%s%s %.4g to %.4g", sep, json_string_value(name), lo,
			      hi);
		sep = ", ";
	}
}

static void put_counts(struct view *v, const json_t *s)
{
	view_put(v, CTL_NORMAL, "trials",
		 "%" PRId64 " ok, %" PRId64 " diverged, %" PRId64 " failed; %" PRId64
		 " running (at most %" PRId64 ")",
		 dp_json_int(s, "ok", 0), dp_json_int(s, "diverged", 0),
		 dp_json_int(s, "failed", 0), dp_json_int(s, "running", 0),
		 dp_json_int(s, "parallel", 0));
}

static void put_progress(struct view *v, const json_t *s)
{
	struct dp_buf bar = DP_BUF_INIT;
	char eta[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];
	double part;
	bool by_cost = ctl_progress(s, &part);
	int width = v->columns - LABEL - (by_cost ? 50 : 34);

	if (width > 40)
		width = 40;
	if (width >= 8) {
		ctl_bar(&bar, part, width, v->utf8);
		dp_buf_puts(&bar, "  ");
	}
	dp_buf_printf(&bar, "%s (%d%%)", ctl_ended(s, dp_json_int(s, "ended", 0), ended),
		      (int)(part * 100));
	ctl_seconds(json_object_get(s, "eta"), eta);
	if (strcmp(eta, "-") != 0 && part < 1)
		dp_buf_printf(&bar, ", %s left", eta);
	view_put(v, CTL_NORMAL, "progress", "%s", dp_buf_text(&bar));
	dp_buf_free(&bar);
}

/* How far the points are that are measured again. */
static void put_measuring(struct view *v, const json_t *s)
{
	struct dp_buf text = DP_BUF_INIT;

	if (ctl_measuring(s, &text))
		view_put(v, CTL_NORMAL, "measuring", "%s", dp_buf_text(&text));
	dp_buf_free(&text);
}

static void put_times(struct view *v, const json_t *s)
{
	bool runs = strcmp(dp_json_str(s, "state", ""), "running") == 0;
	char value[CTL_TEXT_LEN], age[CTL_TEXT_LEN], created[CTL_TEXT_LEN];

	ctl_local_time(dp_json_str(s, "created", NULL), created);
	if (ctl_is_hidden(s))
		view_put(v, CTL_NORMAL, "time", "submitted %s", created);
	else
		view_put(v, CTL_NORMAL, "time", "%s%s; submitted %s, last change %s",
			 ctl_seconds(json_object_get(s, "elapsed"), value),
			 runs ? " so far" : "", created,
			 ctl_age(dp_json_str(s, "updated", NULL), age));
}

/* What all trainings together have cost, of each privacy objective. */
static void put_whole(struct view *v, const json_t *s)
{
	const json_t *budget = json_object_get(s, "budget");
	char epsilon[CTL_TEXT_LEN], delta[CTL_TEXT_LEN], fixed[CTL_TEXT_LEN];
	const char *name;
	json_t *w;

	if (json_is_object(budget))
		view_put(v, CTL_NORMAL, "budget",
			 "epsilon %s at delta %s for all trainings together",
			 ctl_value(json_object_get(budget, "epsilon"), epsilon),
			 ctl_value(json_object_get(budget, "delta"), delta));
	json_object_foreach (json_object_get(s, "whole"), name, w) {
		const char *proof = dp_json_str(w, "proof", "unknown");
		bool compared = strcmp(proof, "fixed") != 0;

		if (strcmp(proof, "unknown") == 0)
			continue;
		view_put(v, CTL_NORMAL, "whole search",
			 "%s %s at delta %s (%s%s%s) after %" PRId64 " training%s", name,
			 ctl_bound(json_object_get(w, "epsilon"), epsilon),
			 ctl_value(json_object_get(w, "delta"), delta), proof,
			 compared ? "; had all settings been fixed: " : "",
			 compared ? ctl_bound(json_object_get(w, "if_fixed"), fixed) : "",
			 dp_json_int(w, "trainings", 0),
			 dp_json_int(w, "trainings", 0) == 1 ? "" : "s");
	}
}

/* Whose numbers they are, where they are not the accountants' of this project. */
static void put_programs(struct view *v, json_t *programs)
{
	const char *name;
	json_t *command;

	json_object_foreach (programs, name, command)
		view_put(v, CTL_NORMAL, "oracle", "%s is the answer of %s", name,
			 json_string_value(command));
}

static void put_summary(struct view *v, const json_t *status)
{
	const json_t *s = json_object_get(status, "study");
	const char *state = dp_json_str(s, "state", "?");
	const char *waiting = dp_json_str(s, "waiting", NULL);
	const char *reason = dp_json_str(s, "reason", NULL);
	struct dp_buf text = DP_BUF_INIT;
	char value[CTL_TEXT_LEN];

	view_put(v, CTL_BOLD, "study",
		 "%s (number %" PRId64 ", %s search, priority %" PRId64 ")",
		 dp_json_str(s, "name", "?"), dp_json_int(s, "id", 0),
		 dp_json_str(s, "method", "?"), dp_json_int(s, "priority", 0));
	if (!reason || strncmp(reason, state, strlen(state)) != 0)
		dp_buf_printf(&text, "%s%s", state, reason ? ": " : "");
	dp_buf_puts(&text, reason ? reason : ""); /* "paused by request" says it all */
	view_put_whole(v, ctl_state_style(state), "state", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (ctl_is_hidden(s)) {
		view_put(v, CTL_NORMAL, "trials", "secret, all but the selected one");
	} else {
		put_progress(v, s);
		put_measuring(v, s);
		put_counts(v, s);
	}
	ctl_pairs(json_object_get(s, "trained"), &text);
	if (text.len)
		view_put(v, CTL_NORMAL, "trained", "%s in all", dp_buf_text(&text));
	dp_buf_clear(&text);
	put_whole(v, s);
	put_programs(v, json_object_get(s, "programs"));
	if (waiting)
		view_put_whole(v, CTL_WARN, "waiting", waiting);
	ctl_anti_ideal(s, &text);
	view_put(v, CTL_NORMAL, "hypervolume", "%s (anti-ideal: %s)",
		 ctl_value(json_object_get(s, "hypervolume"), value), dp_buf_text(&text));
	dp_buf_clear(&text);
	front_range(s, json_object_get(status, "front"), &text);
	view_put(v, CTL_NORMAL, "front", "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (ctl_selection(json_object_get(s, "selection"), &text))
		view_put_whole(v, CTL_NORMAL, "selection", dp_buf_text(&text));
	dp_buf_free(&text);
	put_times(v, s);
	view_put(v, CTL_NORMAL, "folder", "%s", dp_json_str(s, "directory", "-"));
}

static void put_running(struct view *v, const json_t *r)
{
	const json_t *run = json_object_get(r, "run");
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], value[CTL_TEXT_LEN];
	double part;

	if (dp_json_to_real(json_object_get(r, "progress"), &part)) {
		ctl_bar(&text, part, TRIAL_BAR, v->utf8);
		dp_buf_printf(&text, " %3d%%", (int)(part * 100));
	} else {
		dp_buf_printf(&text, "%-*s", TRIAL_BAR + 5, "running");
	}
	dp_buf_printf(&text, "  %6s  ",
		      ctl_seconds(json_object_get(r, "seconds"), value));
	if (json_is_integer(run))
		dp_buf_printf(&text, "run %s  ", ctl_value(run, value));
	if (dp_json_int(r, "attempt", 0) > 0)
		dp_buf_printf(&text, "attempt %" PRId64 "  ",
			      dp_json_int(r, "attempt", 0));
	ctl_pairs(json_object_get(r, "parameters"), &text);
	snprintf(label, sizeof label, "  trial %s", ctl_point_text(r, value));
	view_put(v, CTL_NORMAL, label, "%s", dp_buf_text(&text));
	dp_buf_free(&text);
}

static void put_failure(struct view *v, const json_t *f)
{
	char label[CTL_TEXT_LEN + 8], age[CTL_TEXT_LEN];

	snprintf(label, sizeof label, "  trial %s", ctl_point_text(f, age));
	view_put(v, CTL_BAD, label, "%s, %s: %s", dp_json_str(f, "end", "?"),
		 ctl_age(dp_json_str(f, "time", NULL), age),
		 dp_json_str(f, "message", "no message"));
}

void ctl_study_view(struct dp_buf *out, const json_t *status, int columns, int rows,
		    bool color, bool utf8)
{
	struct view v = { .out = out,
			  .columns = columns > LABEL + 8 ? columns : WIDE,
			  .rows = rows,
			  .color = color,
			  .utf8 = utf8 };
	const json_t *running = json_object_get(status, "running");
	const json_t *failures = json_object_get(status, "failures");
	size_t nrunning = json_array_size(running), nfailures = json_array_size(failures);
	size_t shown = nrunning, i;
	int room;

	put_summary(&v, status);
	if (rows > 0 && nfailures > FAILURES_SHOWN)
		nfailures = FAILURES_SHOWN;
	while (rows > 0 && nfailures > 1 && v.lines + 2 + (int)nfailures > rows)
		nfailures--;
	/* what failures leave: two lines of headings each, one for "and more" */
	room = rows - v.lines - 3 - (nfailures ? (int)nfailures + 2 : 0);
	if (rows > 0 && shown > (size_t)(room > 1 ? room : 1))
		shown = (size_t)(room > 1 ? room : 1);
	if (nrunning > 0) {
		view_blank(&v);
		view_put(&v, CTL_BOLD, "running", "%s", "");
	}
	for (i = 0; i < shown; i++)
		put_running(&v, json_array_get(running, i));
	if (shown < nrunning)
		view_put(&v, CTL_DIM, "", "and %zu more", nrunning - shown);
	if (nfailures > 0) {
		view_blank(&v);
		view_put(&v, CTL_BOLD, "failures", "%s", "");
	}
	for (i = 0; i < nfailures; i++)
		put_failure(&v, json_array_get(failures, i));
}
