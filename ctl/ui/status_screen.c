/* status_screen.c - formats one study for `status` and `watch`. */
#include "ctl/ui/status_screen.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/ui/elastic_layout.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/ascii_plot.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/study_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LABEL_WIDTH = 13,
	NARROW_COLUMNS = 40, /* below this width, labels are not padded */
	MAX_PLOT_ROWS = 16,
	UNLIMITED_COLUMNS = 100000,
	TRIAL_BAR_WIDTH = 12,
	MAX_FAILURES_SHOWN = 3,
	MAX_LATEST_SHOWN = 5,
	TALL_SCREEN_ROWS = 40, /* a screen with this many rows has space for all latest results */
};

/* Order of importance. The first row of each list is at RANK_FIRST_ROWS. The others interleave from
 * RANK_LISTS: second running trial, second of the latest results, second failure, ... */
enum line_rank {
	RANK_STUDY,
	RANK_STATE,
	RANK_PROGRESS,
	RANK_VOLUME,
	RANK_WAITING,
	RANK_COUNTS,
	RANK_FIRST_ROWS, /* and two more: one for each list */
	RANK_FRONT = RANK_FIRST_ROWS + 3,
	RANK_LISTS,
	RANK_TIME = RANK_LISTS + 9,
	RANK_PRIVACY,
	RANK_HEADING,
	RANK_TRAINED,
	RANK_DIRECTORY,
	RANK_BLANK,
};

enum status_list {
	LIST_RUNNING,
	LIST_LATEST,
	LIST_FAILURES,
	N_STATUS_LISTS
};

struct status_screen {
	struct ctl_layout layout;
	int columns;
	int rows;            /* 0: no limit */
	bool truncate_lines; /* truncate lines instead of wrapping them */
	bool color, utf8;
};

/* Adds one line: a label and as much of the text as fits. */
static void screen_add_line(struct status_screen *v, enum line_rank rank, enum ctl_style style,
			    const char *label, const char *text)
{
	bool narrow = v->columns < NARROW_COLUMNS;
	int indent = !*text   ? ctl_text_width(label)
		     : narrow ? ctl_text_width(label) + 1
			      : LABEL_WIDTH;
	struct dp_buf line = DP_BUF_INIT;

	if (indent > v->columns) {
		ctl_text_truncate(&line, label, v->columns, v->utf8);
	} else {
		dp_buf_printf(&line, "%s%-*s%s%s", ctl_style_on(CTL_DIM, v->color), indent, label,
			      ctl_style_off(CTL_DIM, v->color), ctl_style_on(style, v->color));
		ctl_text_truncate(&line, text, v->columns - indent, v->utf8);
		dp_buf_puts(&line, ctl_style_off(style, v->color));
	}
	ctl_layout_add_line(&v->layout, (int)rank, dp_buf_text(&line));
	dp_buf_free(&line);
}

/* Adds wrapped text; in a fitted view, at most half of the screen. */
static void screen_add_wrapped(struct status_screen *v, enum line_rank rank, enum ctl_style style,
			       const char *label, const char *text)
{
	int most = v->truncate_lines && v->rows > 0 ? v->rows / 2 : INT_MAX, lines = 0;
	int room = v->columns < NARROW_COLUMNS ? v->columns - ctl_text_width(label) - 1
					       : v->columns - LABEL_WIDTH;

	do {
		size_t n = ++lines < most ? ctl_text_line_len(text, room > 1 ? room : 1)
					  : strlen(text);
		char *part = dp_strndup(text, n);

		screen_add_line(v, rank, style, label, part);
		free(part);
		text += n + strspn(text + n, " ");
		label = "";
	} while (*text);
}

/* Adds a line, truncated or wrapped as set. */
DP_PRINTF(5, 6)
static void screen_printf(struct status_screen *v, enum line_rank rank, enum ctl_style style,
			  const char *label, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = dp_vasprintf(format, ap);
	va_end(ap);
	(v->truncate_lines ? screen_add_line : screen_add_wrapped)(v, rank, style, label, text);
	free(text);
}

void ctl_format_reference_point(const json_t *summary, struct dp_buf *out)
{
	char text[CTL_TEXT_LEN];
	const char *name, *sep = "";
	json_t *value;

	json_object_foreach (json_object_get(summary, "anti_ideal"), name, value) {
		dp_buf_printf(out, "%s%s %s", sep, name, ctl_format_value(value, text));
		sep = ", ";
	}
}

void ctl_format_hypervolume(const json_t *study, struct dp_buf *out)
{
	const json_t *denoised = json_object_get(study, "hypervolume_denoised"),
		     *current = json_object_get(study, "denoised_current"),
		     *again = json_object_get(study, "hypervolume_remeasured");
	char text[CTL_TEXT_LEN];

	dp_buf_puts(out, ctl_format_value(json_object_get(study, "hypervolume"), text));
	if (json_is_number(denoised) || again)
		dp_buf_puts(out, " as observed");
	if (json_is_number(denoised))
		dp_buf_printf(out, ", %s denoised", ctl_format_value(denoised, text));
	if (json_is_number(denoised) && json_is_false(current))
		dp_buf_printf(out, " after %" PRId64 " results",
			      dp_json_int(study, "denoised_results", 0));
	if (again)
		dp_buf_printf(out, ", %s measured again", ctl_format_value(again, text));
	dp_buf_puts(out, " (anti-ideal: ");
	ctl_format_reference_point(study, out);
	dp_buf_putc(out, ')');
}

/* "14 points of 9 trainings: epsilon 0.1 to 3.4, error 0.05 to 0.4" */
static void format_front_range(const json_t *summary, const json_t *front, struct dp_buf *out)
{
	const json_t *name, *point;
	const char *sep = ": ";
	size_t i, k;

	ctl_format_point_count(front, out);
	if (strcmp(dp_json_str(summary, "front_of", ""), "denoised") == 0)
		dp_buf_puts(out, " as observed");
	json_array_foreach (json_object_get(summary, "objectives"), i, name) {
		double lo = INFINITY, hi = -INFINITY, x;
		bool privacy = ctl_json_array_has(json_object_get(summary, "privacy"),
						  json_string_value(name));
		char from[CTL_TEXT_LEN], to[CTL_TEXT_LEN];

		json_array_foreach (front, k, point) {
			json_t *values = json_object_get(point, "objectives");

			if (!dp_json_to_real(json_object_get(values, json_string_value(name)), &x))
				continue;
			lo = fmin(lo, x);
			hi = fmax(hi, x);
		}
		if (lo > hi)
			continue;
		dp_buf_printf(out, "%s%s %s to %s", sep, json_string_value(name),
			      ctl_format_number(lo, 4, privacy, from),
			      ctl_format_number(hi, 4, privacy, to));
		sep = ", ";
	}
}

static void screen_add_progress(struct status_screen *v, const json_t *s)
{
	struct dp_buf bar = DP_BUF_INIT;
	char eta[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];
	double part;
	bool by_cost = ctl_study_progress(s, &part);
	int width = v->columns - LABEL_WIDTH - (by_cost ? 50 : 34);

	if (width > 40)
		width = 40;
	if (width >= 8) {
		ctl_format_progress_bar(&bar, part, width, v->utf8);
		dp_buf_puts(&bar, "  ");
	}
	dp_buf_printf(&bar, "%s (%d%%)", ctl_format_progress(s, dp_json_int(s, "ended", 0), ended),
		      (int)(part * 100));
	ctl_format_duration(json_object_get(s, "eta"), eta);
	if (strcmp(eta, "-") != 0 && part < 1)
		dp_buf_printf(&bar, ", %s left", eta);
	screen_printf(v, RANK_PROGRESS, CTL_NORMAL, "progress", "%s", dp_buf_text(&bar));
	dp_buf_free(&bar);
}

/* Adds the total privacy loss of each privacy objective. */
static void screen_add_total_privacy(struct status_screen *v, const json_t *s)
{
	const json_t *budget = json_object_get(s, "budget");
	char epsilon[CTL_TEXT_LEN], delta[CTL_TEXT_LEN], fixed[CTL_TEXT_LEN],
		trainings[DP_PLURAL_LEN];
	const char *name;
	json_t *w;

	if (json_is_object(budget))
		screen_printf(v, RANK_PRIVACY, CTL_NORMAL, "budget",
			      "epsilon %s at delta %s for all trainings together",
			      ctl_format_value(json_object_get(budget, "epsilon"), epsilon),
			      ctl_format_value(json_object_get(budget, "delta"), delta));
	json_object_foreach (json_object_get(s, "whole"), name, w) {
		const char *proof = dp_json_str(w, "proof", "unknown");
		bool compared = strcmp(proof, "fixed") != 0;

		if (strcmp(proof, "unknown") == 0)
			continue;
		screen_printf(
			v, RANK_PRIVACY, CTL_NORMAL, "whole search",
			"%s %s at delta %s (%s%s%s) after %s", name,
			ctl_format_upper_bound(json_object_get(w, "epsilon"), epsilon),
			ctl_format_value(json_object_get(w, "delta"), delta), proof,
			compared ? "; had all settings been fixed: " : "",
			compared ? ctl_format_upper_bound(json_object_get(w, "if_fixed"), fixed)
				 : "",
			ctl_format_count(w, "trainings", "training", trainings));
	}
}

static void screen_add_summary(struct status_screen *v, const json_t *status)
{
	const json_t *s = json_object_get(status, "study");
	const char *state = dp_json_str(s, "state", "?");
	const char *waiting = dp_json_str(s, "waiting", NULL);
	const char *reason = dp_json_str(s, "reason", NULL);
	const char *seeds_warning = dp_json_str(s, "seeds_warning", NULL), *name;
	bool hidden = ctl_study_hides_trials(s);
	char elapsed[CTL_TEXT_LEN], age[CTL_TEXT_LEN], created[CTL_TEXT_LEN];
	struct dp_buf text = DP_BUF_INIT;
	json_t *command;

	screen_printf(v, RANK_STUDY, CTL_BOLD, "study",
		      "%s (number %" PRId64 ", %s search, priority %" PRId64 ")",
		      dp_json_str(s, "name", "?"), dp_json_int(s, "id", 0),
		      dp_json_str(s, "method", "?"), dp_json_int(s, "priority", 0));
	if (!reason || strncmp(reason, state, strlen(state)) != 0)
		dp_buf_printf(&text, "%s%s", state, reason ? ": " : "");
	dp_buf_puts(&text, reason ? reason : ""); /* "paused by request" needs no more detail */
	screen_add_wrapped(v, RANK_STATE, ctl_state_style(state), "state", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (seeds_warning)
		screen_add_wrapped(v, RANK_STATE, CTL_WARN, "warning", seeds_warning);
	if (hidden) {
		screen_printf(v, RANK_PROGRESS, CTL_NORMAL, "trials",
			      "secret, all but the selected one");
	} else {
		screen_add_progress(v, s);
		if (ctl_format_reevaluation(s, &text))
			screen_printf(v, RANK_PROGRESS, CTL_NORMAL, "measuring", "%s",
				      dp_buf_text(&text));
		dp_buf_clear(&text);
		screen_printf(v, RANK_COUNTS, CTL_NORMAL, "trials",
			      "%" PRId64 " ok, %" PRId64 " diverged, %" PRId64 " failed; %" PRId64
			      " running (at most %" PRId64 ")",
			      dp_json_int(s, "ok", 0), dp_json_int(s, "diverged", 0),
			      dp_json_int(s, "failed", 0), dp_json_int(s, "running", 0),
			      dp_json_int(s, "parallel", 0));
	}
	ctl_format_pairs(json_object_get(s, "trained"), &text);
	if (text.len)
		screen_printf(v, RANK_TRAINED, CTL_NORMAL, "trained", "%s in all",
			      dp_buf_text(&text));
	dp_buf_clear(&text);
	screen_add_total_privacy(v, s);
	/* name external accountants */
	json_object_foreach (json_object_get(s, "programs"), name, command)
		screen_printf(v, RANK_PRIVACY, CTL_NORMAL, "oracle", "%s is the answer of %s", name,
			      json_string_value(command));
	if (waiting)
		screen_add_wrapped(v, RANK_WAITING, CTL_WARN, "waiting", waiting);
	ctl_format_hypervolume(s, &text);
	screen_printf(v, RANK_VOLUME, CTL_NORMAL, "hypervolume", "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	format_front_range(s, json_object_get(status, "front"), &text);
	screen_printf(v, RANK_FRONT, CTL_NORMAL, "front", "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (ctl_format_selection_cost(json_object_get(s, "selection"), &text))
		screen_add_wrapped(v, RANK_PRIVACY, CTL_NORMAL, "selection", dp_buf_text(&text));
	dp_buf_free(&text);
	ctl_format_local_time(dp_json_str(s, "created", NULL), created);
	if (hidden)
		screen_printf(v, RANK_TIME, CTL_NORMAL, "time", "submitted %s", created);
	else
		screen_printf(v, RANK_TIME, CTL_NORMAL, "time",
			      "%s%s; submitted %s, last change %s",
			      ctl_format_duration(json_object_get(s, "elapsed"), elapsed),
			      strcmp(state, "running") == 0 ? " so far" : "", created,
			      ctl_format_age(dp_json_str(s, "updated", NULL), age));
	screen_printf(v, RANK_DIRECTORY, CTL_NORMAL, "folder", "%s",
		      dp_json_str(s, "directory", "-"));
}

static void screen_add_running(struct status_screen *v, enum line_rank rank, const json_t *r)
{
	const json_t *run = json_object_get(r, "run");
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], value[CTL_TEXT_LEN];
	double part;

	if (dp_json_to_real(json_object_get(r, "progress"), &part)) {
		ctl_format_progress_bar(&text, part, TRIAL_BAR_WIDTH, v->utf8);
		dp_buf_printf(&text, " %3d%%", (int)(part * 100));
	} else {
		dp_buf_printf(&text, "%-*s", TRIAL_BAR_WIDTH + 5, "running");
	}
	dp_buf_printf(&text, "  %6s  ", ctl_format_duration(json_object_get(r, "seconds"), value));
	if (json_is_integer(run))
		dp_buf_printf(&text, "run %s  ", ctl_format_value(run, value));
	if (dp_json_int(r, "attempt", 0) > 0)
		dp_buf_printf(&text, "attempt %" PRId64 "  ", dp_json_int(r, "attempt", 0));
	if (dp_json_str(r, "where", NULL))
		dp_buf_printf(&text, "%s  ", dp_json_str(r, "where", ""));
	ctl_format_pairs(json_object_get(r, "parameters"), &text);
	snprintf(label, sizeof label, "  trial %s", ctl_format_result_id(r, value));
	screen_add_line(v, rank, CTL_NORMAL, label, dp_buf_text(&text));
	dp_buf_free(&text);
}

/* Adds an ended trial: its result and time. */
static void screen_add_latest(struct status_screen *v, enum line_rank rank, const json_t *t)
{
	const char *state = dp_json_str(t, "state", "?");
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], age[CTL_TEXT_LEN];

	dp_buf_printf(&text, "%s, %s", state, ctl_format_age(dp_json_str(t, "ended", NULL), age));
	if (json_is_object(json_object_get(t, "objectives")))
		dp_buf_puts(&text, ": ");
	ctl_format_objectives(t, json_object_get(t, "objectives"), &text);
	dp_buf_puts(&text, dp_json_bool(t, "on_front", false) ? ", on the front" : "");
	snprintf(label, sizeof label, "  trial %s", ctl_format_result_id(t, age));
	screen_add_line(v, rank, ctl_state_style(state), label, dp_buf_text(&text));
	dp_buf_free(&text);
}

static void screen_add_failure(struct status_screen *v, enum line_rank rank, const json_t *f)
{
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], age[CTL_TEXT_LEN];

	snprintf(label, sizeof label, "  trial %s", ctl_format_result_id(f, age));
	dp_buf_printf(&text, "%s, %s: %s", dp_json_str(f, "end", "?"),
		      ctl_format_age(dp_json_str(f, "time", NULL), age),
		      dp_json_str(f, "message", "no message"));
	screen_add_line(v, rank, CTL_BAD, label, dp_buf_text(&text));
	dp_buf_free(&text);
}

/* The i-th rows of the lists interleave. */
static enum line_rank list_row_rank(enum status_list which, size_t i)
{
	return i == 0 ? RANK_FIRST_ROWS + which
		      : RANK_LISTS + (enum line_rank)(N_STATUS_LISTS * (i - 1) + which);
}

static void screen_add_list(struct status_screen *v, enum status_list which, const json_t *rows,
			    size_t most)
{
	static const struct {
		const char *heading;
		void (*put)(struct status_screen *v, enum line_rank rank, const json_t *row);
	} lists[] = {
		[LIST_RUNNING] = { "running", screen_add_running },
		[LIST_LATEST] = { "latest", screen_add_latest },
		[LIST_FAILURES] = { "failures", screen_add_failure },
	};
	size_t n = json_array_size(rows), shown = n > most ? most : n;
	bool cut = which == LIST_RUNNING && shown < n; /* the others have only the newest */
	struct dp_buf more = DP_BUF_INIT;

	if (n == 0)
		return;
	ctl_layout_add_line(&v->layout, RANK_BLANK, "");
	screen_add_line(v, RANK_HEADING, CTL_NORMAL, lists[which].heading, "");
	shown -= cut && shown > 1; /* this line gives the number of hidden rows */
	for (size_t i = 0; i < shown; i++)
		lists[which].put(v, list_row_rank(which, i), json_array_get(rows, i));
	if (!cut)
		return;
	dp_buf_printf(&more, "and %zu more", n - shown);
	screen_add_line(v, list_row_rank(which, shown), CTL_DIM, "", dp_buf_text(&more));
	dp_buf_free(&more);
}

/* ---- plot ---- */

static void set_plot_axis(const json_t *summary, size_t k, struct ctl_ascii_plot_axis *out)
{
	const char *scale =
		json_string_value(json_array_get(json_object_get(summary, "transforms"), k));

	out->name = json_string_value(json_array_get(json_object_get(summary, "objectives"), k));
	out->is_log = scale && strcmp(scale, "log") == 0;
	out->round_up =
		out->name && ctl_json_array_has(json_object_get(summary, "privacy"), out->name);
}

static bool beats_reference_point(const json_t *summary, size_t k, const char *name, double x)
{
	const char *goal = json_string_value(json_array_get(json_object_get(summary, "goals"), k));
	double worst;

	if (!dp_json_to_real(json_object_get(json_object_get(summary, "anti_ideal"), name), &worst))
		return true;
	return goal && strcmp(goal, "maximize") == 0 ? x > worst : x < worst;
}

/* Draws the front in its first two objectives, as far as it is better than the reference point, in
 * the remaining rows before line i. */
static void screen_add_plot(struct status_screen *v, const json_t *status, size_t i)
{
	const json_t *summary = json_object_get(status, "study"),
		     *front = json_object_get(status, "front"), *point;
	double *points = dp_calloc(2 * json_array_size(front) + 2, sizeof *points);
	struct dp_buf drawn = DP_BUF_INIT;
	struct ctl_ascii_plot s = { .points = points,
				    .columns = v->columns,
				    .rows = v->rows - (int)v->layout.n_lines - 1,
				    .utf8 = v->utf8 };
	size_t k;

	set_plot_axis(summary, 0, &s.x);
	set_plot_axis(summary, 1, &s.y);
	json_array_foreach (front, k, point) {
		const json_t *y = json_object_get(point, "objectives");
		double *p = points + 2 * s.n_points;

		if (s.x.name && s.y.name && dp_json_to_real(json_object_get(y, s.x.name), &p[0]) &&
		    dp_json_to_real(json_object_get(y, s.y.name), &p[1]) &&
		    beats_reference_point(summary, 0, s.x.name, p[0]) &&
		    beats_reference_point(summary, 1, s.y.name, p[1]))
			s.n_points++;
	}
	s.rows = s.rows > MAX_PLOT_ROWS ? MAX_PLOT_ROWS : s.rows;
	dp_buf_putc(&drawn, '\n');
	if (ctl_ascii_plot_draw(&s, &drawn))
		ctl_layout_insert_lines(&v->layout, i, RANK_BLANK, dp_buf_text(&drawn));
	dp_buf_free(&drawn);
	free(points);
}

/* watch: fit the screen; otherwise wrap lines and show everything. */
static void render_screen(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen,
			  bool watch)
{
	struct status_screen v = { .columns = screen->columns > 0 ? screen->columns
								  : UNLIMITED_COLUMNS,
				   .rows = screen->rows,
				   .truncate_lines = watch,
				   .color = screen->color,
				   .utf8 = screen->utf8 };
	/* limit running trials so that they do not fill the screen */
	size_t max_running = v.rows == 0   ? SIZE_MAX
			     : v.rows >= 6 ? (size_t)v.rows / 3
					   : 1,
	       n_summary;

	screen_add_summary(&v, status);
	n_summary = v.layout.n_lines;
	screen_add_list(&v, LIST_RUNNING, json_object_get(status, "running"), max_running);
	if (watch)
		screen_add_list(&v, LIST_LATEST, json_object_get(status, "latest"),
				v.rows >= TALL_SCREEN_ROWS ? SIZE_MAX : MAX_LATEST_SHOWN);
	screen_add_list(&v, LIST_FAILURES, json_object_get(status, "failures"),
			watch || v.rows > 0 ? MAX_FAILURES_SHOWN : SIZE_MAX);
	if (watch)
		screen_add_plot(&v, status, n_summary);
	if (watch && v.rows > 0)
		ctl_layout_fit_rows(&v.layout, (size_t)v.rows);
	ctl_layout_format(&v.layout, out);
	ctl_layout_free(&v.layout);
}

void ctl_render_status(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen)
{
	render_screen(out, status, screen, false);
}

void ctl_render_watch(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen)
{
	render_screen(out, status, screen, true);
}
