/* view.c - one study on the screen: what `status` prints and `watch` redraws. */
#include "ctl/view.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/lines.h"
#include "ctl/memory.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/sketch.h"
#include "ctl/text.h"
#include "ctl/trials.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LABEL = 13,       /* columns of the labels at the left */
	NARROW = 40,      /* on a screen below this, labels are as wide as they are */
	SKETCH_MOST = 16, /* rows */
	WIDE = 100000,    /* where nothing is cut */
	TRIAL_BAR = 12,
	FAILURES_SHOWN = 3,
	LATEST_SHOWN = 5,
	TALL = 40, /* rows of a screen that has room for all of the last results */
};

/* What matters most, from the top. Rows of lists take turns behind RANK_LISTS: the first
 * running trial, the first of the last results, the first failure, the second ... */
enum rank {
	RANK_STUDY,
	RANK_STATE,
	RANK_PROGRESS,
	RANK_VOLUME,
	RANK_WAITING,
	RANK_COUNTS,
	RANK_FIRST_ROWS, /* and two more: of the three lists */
	RANK_FRONT = RANK_FIRST_ROWS + 3,
	RANK_LISTS,
	RANK_TIME = RANK_LISTS + 9,
	RANK_PRIVACY,
	RANK_HEADING,
	RANK_TRAINED,
	RANK_FOLDER,
	RANK_BLANK,
};

enum list {
	LIST_RUNNING,
	LIST_LATEST,
	LIST_FAILURES,
	LISTS
};

struct view {
	struct ctl_lines lines;
	int columns;
	int rows;  /* 0: as many as it takes */
	bool fits; /* lines are cut rather than wrapped */
	bool color, utf8;
};

/* A line of its own: a label, what fits of a text. */
static void view_line(struct view *v, enum rank rank, enum ctl_style style, const char *label,
		      const char *text)
{
	bool narrow = v->columns < NARROW;
	int indent = !*text ? ctl_width(label) : narrow ? ctl_width(label) + 1 : LABEL;
	struct dp_buf line = DP_BUF_INIT;

	if (indent > v->columns) {
		ctl_cut(&line, label, v->columns, v->utf8);
	} else {
		dp_buf_printf(&line, "%s%-*s%s%s", ctl_style_on(CTL_DIM, v->color), indent, label,
			      ctl_style_off(CTL_DIM, v->color), ctl_style_on(style, v->color));
		ctl_cut(&line, text, v->columns - indent, v->utf8);
		dp_buf_puts(&line, ctl_style_off(style, v->color));
	}
	ctl_lines_add(&v->lines, (int)rank, dp_buf_text(&line));
	dp_buf_free(&line);
}

/* As many lines as the text needs, but in a view that fits not more than half of the
 * screen. */
static void view_wrap(struct view *v, enum rank rank, enum ctl_style style, const char *label,
		      const char *text)
{
	int most = v->fits && v->rows > 0 ? v->rows / 2 : INT_MAX, lines = 0;
	int room = v->columns < NARROW ? v->columns - ctl_width(label) - 1 : v->columns - LABEL;

	do {
		size_t n = ++lines < most ? ctl_line(text, room > 1 ? room : 1) : strlen(text);
		char *part = strndup(text, n);

		if (!part)
			ctl_die_nomem();
		view_line(v, rank, style, label, part);
		free(part);
		text += n + strspn(text + n, " ");
		label = "";
	} while (*text);
}

/* A line of the view: cut or wrapped as the view is. */
DP_PRINTF(5, 6)
static void view_put(struct view *v, enum rank rank, enum ctl_style style, const char *label,
		     const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = ctl_vformat(format, ap);
	va_end(ap);
	(v->fits ? view_line : view_wrap)(v, rank, style, label, text);
	free(text);
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

void ctl_hypervolume(const json_t *study, struct dp_buf *out)
{
	const json_t *denoised = json_object_get(study, "hypervolume_denoised"),
		     *current = json_object_get(study, "denoised_current"),
		     *again = json_object_get(study, "hypervolume_remeasured");
	char text[CTL_TEXT_LEN];

	dp_buf_puts(out, ctl_value(json_object_get(study, "hypervolume"), text));
	if (json_is_number(denoised) || again)
		dp_buf_puts(out, " as observed");
	if (json_is_number(denoised))
		dp_buf_printf(out, ", %s denoised", ctl_value(denoised, text));
	if (json_is_number(denoised) && json_is_false(current))
		dp_buf_printf(out, " after %" PRId64 " results",
			      dp_json_int(study, "denoised_results", 0));
	if (again)
		dp_buf_printf(out, ", %s measured again", ctl_value(again, text));
	dp_buf_puts(out, " (anti-ideal: ");
	ctl_anti_ideal(study, out);
	dp_buf_putc(out, ')');
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
		bool privacy =
			ctl_in_array(json_object_get(summary, "privacy"), json_string_value(name));
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
			      ctl_number(lo, 4, privacy, from), ctl_number(hi, 4, privacy, to));
		sep = ", ";
	}
}

static void put_counts(struct view *v, const json_t *s)
{
	view_put(v, RANK_COUNTS, CTL_NORMAL, "trials",
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
	view_put(v, RANK_PROGRESS, CTL_NORMAL, "progress", "%s", dp_buf_text(&bar));
	dp_buf_free(&bar);
}

/* How far the points are that are measured again. */
static void put_measuring(struct view *v, const json_t *s)
{
	struct dp_buf text = DP_BUF_INIT;

	if (ctl_measuring(s, &text))
		view_put(v, RANK_PROGRESS, CTL_NORMAL, "measuring", "%s", dp_buf_text(&text));
	dp_buf_free(&text);
}

static void put_times(struct view *v, const json_t *s)
{
	bool runs = strcmp(dp_json_str(s, "state", ""), "running") == 0;
	char value[CTL_TEXT_LEN], age[CTL_TEXT_LEN], created[CTL_TEXT_LEN];

	ctl_local_time(dp_json_str(s, "created", NULL), created);
	if (ctl_is_hidden(s))
		view_put(v, RANK_TIME, CTL_NORMAL, "time", "submitted %s", created);
	else
		view_put(v, RANK_TIME, CTL_NORMAL, "time", "%s%s; submitted %s, last change %s",
			 ctl_seconds(json_object_get(s, "elapsed"), value), runs ? " so far" : "",
			 created, ctl_age(dp_json_str(s, "updated", NULL), age));
}

/* What all trainings together have cost, of each privacy objective. */
static void put_whole(struct view *v, const json_t *s)
{
	const json_t *budget = json_object_get(s, "budget");
	char epsilon[CTL_TEXT_LEN], delta[CTL_TEXT_LEN], fixed[CTL_TEXT_LEN],
		trainings[DP_COUNT_LEN];
	const char *name;
	json_t *w;

	if (json_is_object(budget))
		view_put(v, RANK_PRIVACY, CTL_NORMAL, "budget",
			 "epsilon %s at delta %s for all trainings together",
			 ctl_value(json_object_get(budget, "epsilon"), epsilon),
			 ctl_value(json_object_get(budget, "delta"), delta));
	json_object_foreach (json_object_get(s, "whole"), name, w) {
		const char *proof = dp_json_str(w, "proof", "unknown");
		bool compared = strcmp(proof, "fixed") != 0;

		if (strcmp(proof, "unknown") == 0)
			continue;
		view_put(v, RANK_PRIVACY, CTL_NORMAL, "whole search",
			 "%s %s at delta %s (%s%s%s) after %s", name,
			 ctl_bound(json_object_get(w, "epsilon"), epsilon),
			 ctl_value(json_object_get(w, "delta"), delta), proof,
			 compared ? "; had all settings been fixed: " : "",
			 compared ? ctl_bound(json_object_get(w, "if_fixed"), fixed) : "",
			 ctl_counted(w, "trainings", "training", trainings));
	}
}

/* What voids all these numbers. */
static void put_exposed(struct view *v, const json_t *s)
{
	const char *warning = dp_json_str(s, "seeds_warning", NULL);

	if (warning)
		view_wrap(v, RANK_STATE, CTL_WARN, "warning", warning);
}

/* Whose numbers they are, where they are not the accountants' of this project. */
static void put_programs(struct view *v, json_t *programs)
{
	const char *name;
	json_t *command;

	json_object_foreach (programs, name, command)
		view_put(v, RANK_PRIVACY, CTL_NORMAL, "oracle", "%s is the answer of %s", name,
			 json_string_value(command));
}

static void put_summary(struct view *v, const json_t *status)
{
	const json_t *s = json_object_get(status, "study");
	const char *state = dp_json_str(s, "state", "?");
	const char *waiting = dp_json_str(s, "waiting", NULL);
	const char *reason = dp_json_str(s, "reason", NULL);
	struct dp_buf text = DP_BUF_INIT;

	view_put(v, RANK_STUDY, CTL_BOLD, "study",
		 "%s (number %" PRId64 ", %s search, priority %" PRId64 ")",
		 dp_json_str(s, "name", "?"), dp_json_int(s, "id", 0),
		 dp_json_str(s, "method", "?"), dp_json_int(s, "priority", 0));
	if (!reason || strncmp(reason, state, strlen(state)) != 0)
		dp_buf_printf(&text, "%s%s", state, reason ? ": " : "");
	dp_buf_puts(&text, reason ? reason : ""); /* "paused by request" says it all */
	view_wrap(v, RANK_STATE, ctl_state_style(state), "state", dp_buf_text(&text));
	dp_buf_clear(&text);
	put_exposed(v, s);
	if (ctl_is_hidden(s)) {
		view_put(v, RANK_PROGRESS, CTL_NORMAL, "trials",
			 "secret, all but the selected one");
	} else {
		put_progress(v, s);
		put_measuring(v, s);
		put_counts(v, s);
	}
	ctl_pairs(json_object_get(s, "trained"), &text);
	if (text.len)
		view_put(v, RANK_TRAINED, CTL_NORMAL, "trained", "%s in all", dp_buf_text(&text));
	dp_buf_clear(&text);
	put_whole(v, s);
	put_programs(v, json_object_get(s, "programs"));
	if (waiting)
		view_wrap(v, RANK_WAITING, CTL_WARN, "waiting", waiting);
	ctl_hypervolume(s, &text);
	view_put(v, RANK_VOLUME, CTL_NORMAL, "hypervolume", "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	front_range(s, json_object_get(status, "front"), &text);
	view_put(v, RANK_FRONT, CTL_NORMAL, "front", "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (ctl_selection(json_object_get(s, "selection"), &text))
		view_wrap(v, RANK_PRIVACY, CTL_NORMAL, "selection", dp_buf_text(&text));
	dp_buf_free(&text);
	put_times(v, s);
	view_put(v, RANK_FOLDER, CTL_NORMAL, "folder", "%s", dp_json_str(s, "directory", "-"));
}

static void put_running(struct view *v, enum rank rank, const json_t *r)
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
	dp_buf_printf(&text, "  %6s  ", ctl_seconds(json_object_get(r, "seconds"), value));
	if (json_is_integer(run))
		dp_buf_printf(&text, "run %s  ", ctl_value(run, value));
	if (dp_json_int(r, "attempt", 0) > 0)
		dp_buf_printf(&text, "attempt %" PRId64 "  ", dp_json_int(r, "attempt", 0));
	if (dp_json_str(r, "where", NULL))
		dp_buf_printf(&text, "%s  ", dp_json_str(r, "where", ""));
	ctl_pairs(json_object_get(r, "parameters"), &text);
	snprintf(label, sizeof label, "  trial %s", ctl_point_text(r, value));
	view_line(v, rank, CTL_NORMAL, label, dp_buf_text(&text));
	dp_buf_free(&text);
}

/* A trial that has ended: what it came to, and when. */
static void put_latest(struct view *v, enum rank rank, const json_t *t)
{
	const char *state = dp_json_str(t, "state", "?");
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], age[CTL_TEXT_LEN];

	dp_buf_printf(&text, "%s, %s", state, ctl_age(dp_json_str(t, "ended", NULL), age));
	if (json_is_object(json_object_get(t, "objectives")))
		dp_buf_puts(&text, ": ");
	ctl_objectives(t, json_object_get(t, "objectives"), &text);
	dp_buf_puts(&text, dp_json_bool(t, "on_front", false) ? ", on the front" : "");
	snprintf(label, sizeof label, "  trial %s", ctl_point_text(t, age));
	view_line(v, rank, ctl_state_style(state), label, dp_buf_text(&text));
	dp_buf_free(&text);
}

/* One line each: `logs` has the rest. */
static void put_failure(struct view *v, enum rank rank, const json_t *f)
{
	struct dp_buf text = DP_BUF_INIT;
	char label[CTL_TEXT_LEN + 8], age[CTL_TEXT_LEN];

	snprintf(label, sizeof label, "  trial %s", ctl_point_text(f, age));
	dp_buf_printf(&text, "%s, %s: %s", dp_json_str(f, "end", "?"),
		      ctl_age(dp_json_str(f, "time", NULL), age),
		      dp_json_str(f, "message", "no message"));
	view_line(v, rank, CTL_BAD, label, dp_buf_text(&text));
	dp_buf_free(&text);
}

/* ---- lists ---- */

/* The i-th rows of the lists take turns. */
static enum rank row_rank(enum list which, size_t i)
{
	return i == 0 ? RANK_FIRST_ROWS + which : RANK_LISTS + (enum rank)(LISTS * (i - 1) + which);
}

static void put_list(struct view *v, enum list which, const json_t *rows, size_t most)
{
	static const struct {
		const char *heading;
		void (*put)(struct view *v, enum rank rank, const json_t *row);
	} lists[] = {
		[LIST_RUNNING] = { "running", put_running },
		[LIST_LATEST] = { "latest", put_latest },
		[LIST_FAILURES] = { "failures", put_failure },
	};
	size_t n = json_array_size(rows), shown = n > most ? most : n;
	bool cut = which == LIST_RUNNING && shown < n; /* others are the newest of many */
	struct dp_buf more = DP_BUF_INIT;

	if (n == 0)
		return;
	ctl_lines_add(&v->lines, RANK_BLANK, "");
	view_line(v, RANK_HEADING, CTL_NORMAL, lists[which].heading, "");
	shown -= cut && shown > 1; /* that line says how many more there are */
	for (size_t i = 0; i < shown; i++)
		lists[which].put(v, row_rank(which, i), json_array_get(rows, i));
	if (!cut)
		return;
	dp_buf_printf(&more, "and %zu more", n - shown);
	view_line(v, row_rank(which, shown), CTL_DIM, "", dp_buf_text(&more));
	dp_buf_free(&more);
}

/* So many rows that lists do not fill the screen. */
static size_t list_share(const struct view *v)
{
	return v->rows == 0 ? SIZE_MAX : v->rows >= 6 ? (size_t)v->rows / 3 : 1;
}

/* ---- the picture ---- */

static void sketch_axis(const json_t *summary, size_t k, struct ctl_sketch_axis *out)
{
	const char *scale =
		json_string_value(json_array_get(json_object_get(summary, "transforms"), k));

	out->name = json_string_value(json_array_get(json_object_get(summary, "objectives"), k));
	out->log = scale && strcmp(scale, "log") == 0;
	out->bound = out->name && ctl_in_array(json_object_get(summary, "privacy"), out->name);
}

/* Is a value better than the anti-ideal? */
static bool is_in_box(const json_t *summary, size_t k, const char *name, double x)
{
	const char *goal = json_string_value(json_array_get(json_object_get(summary, "goals"), k));
	double worst;

	if (!dp_json_to_real(json_object_get(json_object_get(summary, "anti_ideal"), name), &worst))
		return true;
	return goal && strcmp(goal, "maximize") == 0 ? x > worst : x < worst;
}

/* The front in its first two objectives, as far as it is better than the anti-ideal. */
static size_t sketch_points(const json_t *status, const struct ctl_sketch *s, double *points)
{
	const json_t *summary = json_object_get(status, "study"), *point;
	size_t n = 0, i;

	json_array_foreach (json_object_get(status, "front"), i, point) {
		const json_t *y = json_object_get(point, "objectives");
		double *p = points + 2 * n;

		if (dp_json_to_real(json_object_get(y, s->x.name), &p[0]) &&
		    dp_json_to_real(json_object_get(y, s->y.name), &p[1]) &&
		    is_in_box(summary, 0, s->x.name, p[0]) &&
		    is_in_box(summary, 1, s->y.name, p[1]))
			n++;
	}
	return n;
}

/* Draws the front in the rows that are left, before the i-th line. */
static void put_sketch(struct view *v, const json_t *status, size_t i)
{
	const json_t *summary = json_object_get(status, "study");
	size_t n = json_array_size(json_object_get(status, "front"));
	double *points = ctl_alloc(2 * n + 2, sizeof *points);
	struct dp_buf drawn = DP_BUF_INIT;
	struct ctl_sketch s = { .points = points,
				.columns = v->columns,
				.rows = v->rows - (int)v->lines.n - 1,
				.utf8 = v->utf8 };

	sketch_axis(summary, 0, &s.x);
	sketch_axis(summary, 1, &s.y);
	s.n = s.x.name && s.y.name ? sketch_points(status, &s, points) : 0;
	s.rows = s.rows > SKETCH_MOST ? SKETCH_MOST : s.rows;
	dp_buf_putc(&drawn, '\n');
	if (ctl_sketch_draw(&s, &drawn))
		ctl_lines_insert(&v->lines, i, RANK_BLANK, dp_buf_text(&drawn));
	dp_buf_free(&drawn);
	free(points);
}

/* ---- all of it ---- */

static void view_end(struct view *v, struct dp_buf *out)
{
	ctl_lines_text(&v->lines, out);
	ctl_lines_free(&v->lines);
}

void ctl_study_status(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen)
{
	struct view v = { .columns = screen->columns > 0 ? screen->columns : WIDE,
			  .rows = screen->rows,
			  .color = screen->color,
			  .utf8 = screen->utf8 };

	put_summary(&v, status);
	put_list(&v, LIST_RUNNING, json_object_get(status, "running"), list_share(&v));
	put_list(&v, LIST_FAILURES, json_object_get(status, "failures"),
		 v.rows > 0 ? FAILURES_SHOWN : SIZE_MAX);
	view_end(&v, out);
}

void ctl_study_watch(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen)
{
	struct view v = { .columns = screen->columns > 0 ? screen->columns : WIDE,
			  .rows = screen->rows,
			  .fits = true,
			  .color = screen->color,
			  .utf8 = screen->utf8 };
	size_t summary;

	put_summary(&v, status);
	summary = v.lines.n;
	put_list(&v, LIST_RUNNING, json_object_get(status, "running"), list_share(&v));
	put_list(&v, LIST_LATEST, json_object_get(status, "latest"),
		 v.rows >= TALL ? SIZE_MAX : LATEST_SHOWN);
	put_list(&v, LIST_FAILURES, json_object_get(status, "failures"), FAILURES_SHOWN);
	put_sketch(&v, status, summary);
	if (v.rows > 0)
		ctl_lines_fit(&v.lines, (size_t)v.rows);
	view_end(&v, out);
}
