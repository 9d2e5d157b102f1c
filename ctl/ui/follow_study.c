/* follow_study.c - follows a study: a redrawn view on a terminal, one line per change elsewhere. */
#include "ctl/ui/follow_study.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"
#include "ctl/study_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
	REDRAW_MS = 250, /* poll interval for progress and keyboard */
	LINE_POLL_MS = 1000,
	HINT_MIN_ROWS = 8 /* smaller screens have no space for hints */
};

struct follow_state {
	struct ctl *ctl;
	FILE *stream;
	json_t *status;
	bool has_quit;                  /* q was pressed while the daemon was away */
	int drawn_lines, columns, rows; /* of the current drawing */
	unsigned n_reconnects;
	bool keyboard_raw;
	struct termios saved_termios;
	int64_t n_ended;           /* ended trials, reported or ended before the start */
	uint32_t first_unreported; /* all trials before this one are reported */
	bool *reported;            /* (capacity), by trial number */
	size_t capacity;
	char *reported_state;                /* the last one reported */
	struct dp_buf reported_reevaluation; /* the same for re-evaluations */
};

/* ---- on a terminal ---- */

static bool keyboard_quit_pressed(const struct follow_state *f)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	while (f->keyboard_raw && poll(&p, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		if (key == 'q' || key == 'Q')
			return true;
	return false;
}

/* Renders the view in few enough rows that the cursor's line below it is on the screen too, so that
 * nothing scrolls. With one row, the cursor stays in it. The last view leaves space for a message
 * and the prompt. */
static void follow_render(struct follow_state *f, bool last, struct dp_buf *out)
{
	const char *hint =
		f->keyboard_raw ? "q leaves the view; the study goes on" : "Ctrl-C stops";
	bool hinted = !last && f->rows > HINT_MIN_ROWS;
	struct ctl_screen screen = { .columns = f->columns,
				     .rows = f->rows - 1 - (hinted || last ? 2 : 0),
				     .color = ctl_use_color(f->ctl, f->stream),
				     .utf8 = f->ctl->utf8 };

	screen.rows = screen.rows > 0 ? screen.rows : 1;
	ctl_render_watch(out, f->status, &screen);
	if (!hinted)
		return;
	dp_buf_putc(out, '\n');
	ctl_text_truncate(out, hint, f->columns, f->ctl->utf8);
	dp_buf_putc(out, '\n');
}

/* Redraws in place: moves to the top, rewrites and clears each line, clears the rest. One write
 * avoids flicker. */
static void follow_redraw(struct follow_state *f, bool last)
{
	struct dp_buf view = DP_BUF_INIT, frame = DP_BUF_INIT;
	int columns, rows;

	ctl_terminal_size(f->stream, &columns, &rows);
	if (f->drawn_lines > 0 && (columns != f->columns || rows != f->rows)) {
		/* after a resize lines may have been wrapped, so their count is useless; clear from
		 * line 2, because some terminals save a screen that is cleared as a whole */
		dp_buf_puts(&frame, "\033[2;1H\033[J\033[H");
		f->drawn_lines = 0;
	}
	if (f->n_reconnects != f->ctl->n_reconnects) /* a message was printed below the view */
		f->drawn_lines = 0;
	f->n_reconnects = f->ctl->n_reconnects;
	f->columns = columns;
	f->rows = rows;
	follow_render(f, last, &view);
	if (f->drawn_lines > 0)
		dp_buf_printf(&frame, "\r\033[%dA", f->drawn_lines);
	else if (rows == 1)
		dp_buf_putc(&frame, '\r');
	/* clear before writing: after a full-width line the cursor is still on its last
	 * character */
	for (char *line = view.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		dp_buf_printf(&frame, "\033[K%.*s%s", (int)(end - line), line,
			      rows > 1 || last ? "\n" : "");
	}
	dp_buf_puts(&frame, rows > 1 || last ? "\033[J" : "");
	f->drawn_lines = 0;
	for (size_t i = 0; rows > 1 && i < view.len; i++)
		f->drawn_lines += view.data[i] == '\n';
	fwrite(dp_buf_text(&frame), 1, frame.len, f->stream);
	fflush(f->stream);
	dp_buf_free(&view);
	dp_buf_free(&frame);
}

/* ---- elsewhere ---- */

DP_PRINTF(2, 3)
static void follow_print_line(struct follow_state *f, const char *format, ...)
{
	struct dp_buf line = DP_BUF_INIT;
	char when[16], *text;
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	va_start(ap, format);
	text = dp_vasprintf(format, ap);
	va_end(ap);
	strftime(when, sizeof when, "%H:%M:%S", localtime_r(&now, &tm));
	dp_buf_printf(&line, "%s ", when);
	ctl_text_sanitize(&line, text);
	dp_buf_putc(&line, '\n');
	free(text);
	if (f->stream == f->ctl->out)
		ctl_print_bytes(f->ctl, line.data, line.len);
	else if (!f->ctl->quiet)
		fputs(line.data, f->stream);
	dp_buf_free(&line);
}

static bool follow_mark_reported(struct follow_state *f, uint32_t trial)
{
	size_t room = f->capacity ? f->capacity : 256;
	bool was;

	if (trial >= f->capacity) {
		while (trial >= room)
			room *= 2;
		f->reported = dp_realloc(f->reported, room * sizeof *f->reported);
		memset(f->reported + f->capacity, 0, (room - f->capacity) * sizeof *f->reported);
		f->capacity = room;
	}
	was = f->reported[trial];
	f->reported[trial] = true;
	return !was;
}

static int on_trial_print_ended(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct follow_state *f = arg;
	const json_t *s = json_object_get(f->status, "study");
	uint32_t number = (uint32_t)dp_json_int(trial, "trial", 0);
	const char *state = dp_json_str(trial, "state", "?");
	const char *reason = dp_json_str(trial, "reason", NULL);
	struct dp_buf text = DP_BUF_INIT;
	char took[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];

	(void)ctl, (void)err;
	if (!ctl_trial_has_ended(trial) || !follow_mark_reported(f, number))
		return DP_OK;
	f->n_ended++;
	if (!f->reported_state)
		return DP_OK;
	if (strcmp(state, "ok") == 0)
		ctl_format_objectives(trial, json_object_get(trial, "objectives"), &text);
	else if (reason)
		dp_buf_puts(&text, reason);
	follow_print_line(f, "%s: trial %u %s in %s%s%s (%s)", dp_json_str(s, "name", "?"), number,
			  state, ctl_format_duration(json_object_get(trial, "seconds"), took),
			  text.len ? ": " : "", dp_buf_text(&text),
			  ctl_format_progress(s, f->n_ended, ended));
	dp_buf_free(&text);
	return DP_OK;
}

/* Reports changes since the last call: ended trials, then re-evaluations and the state. The first
 * call only marks trials before it takes the state, so that later ends are reported. */
static int follow_print_changes(struct follow_state *f, struct dp_err *err)
{
	const json_t *s = json_object_get(f->status, "study");
	const char *name = dp_json_str(s, "name", "?"), *state = dp_json_str(s, "state", "?");
	const char *reason = dp_json_str(s, "reason", NULL);
	struct ctl_trial_query which = {
		.study = dp_json_str(s, "name", ""),
		.from = f->first_unreported,
		.own_results_only = true,
	};
	char volume[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];
	struct dp_buf text = DP_BUF_INIT;
	int code = ctl_for_each_trial(f->ctl, &which, on_trial_print_ended, f, err);

	while (f->first_unreported < f->capacity && f->reported[f->first_unreported])
		f->first_unreported++;
	if (ctl_format_reevaluation(s, &text) &&
	    strcmp(dp_buf_text(&text), dp_buf_text(&f->reported_reevaluation)) != 0)
		follow_print_line(f, "%s: measured %s", name, dp_buf_text(&text));
	dp_buf_free(&f->reported_reevaluation);
	f->reported_reevaluation = text;
	if (!f->reported_state || strcmp(f->reported_state, state) != 0) {
		free(f->reported_state);
		f->reported_state = dp_strdup(state);
		follow_print_line(f, "%s: %s%s%s (%s ended, hypervolume %s)", name, state,
				  reason ? ": " : "", reason ? reason : "",
				  ctl_format_progress(s, dp_json_int(s, "ended", 0), ended),
				  ctl_format_value(json_object_get(s, "hypervolume"), volume));
	}
	fflush(f->stream);
	return code;
}

static int follow_loop(struct follow_state *f, enum ctl_follow_result *how, struct dp_err *err)
{
	int64_t version = -1, now;
	int code = DP_OK;

	for (;;) {
		const json_t *s = json_object_get(f->status, "study");
		bool saved = ctl_status_is_durable(f->status);
		bool ended = saved && ctl_study_has_ended(s);
		json_t *next;

		now = dp_json_int(s, "version", 0);
		if (f->columns)
			follow_redraw(f, ended);
		else if (saved && now != version)
			code = follow_print_changes(f, err);
		if (saved)
			version = now;
		*how = ended ? CTL_FOLLOW_ENDED : CTL_FOLLOW_QUIT;
		if (ended || code != DP_OK || f->has_quit || keyboard_quit_pressed(f) ||
		    f->ctl->out_closed)
			return code;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		code = ctl_call_changes(f->ctl, dp_json_str(s, "name", ""),
					ctl_status_version(f->status),
					f->columns ? REDRAW_MS : LINE_POLL_MS, &next, err);
		if (code == DP_OK) {
			json_decref(f->status);
			f->status = next;
		} else if (code != DP_E_INTERRUPTED || (!f->has_quit && ctl_interrupted)) {
			return code;
		}
		code = DP_OK; /* otherwise the window was resized or the process stopped */
	}
}

/* Reads the keyboard while the daemon is away. */
static int follow_on_daemon_away(void *arg, struct dp_err *err)
{
	struct follow_state *f = arg;

	f->has_quit = keyboard_quit_pressed(f);
	return f->has_quit ? dp_fail(err, DP_E_INTERRUPTED, "left") : DP_OK;
}

int ctl_follow_study(struct ctl *ctl, const char *study, FILE *stream,
		     struct ctl_reconnect *reconnect, enum ctl_follow_result *how, json_t **summary,
		     struct dp_err *err)
{
	struct follow_state f = { .ctl = ctl,
				  .stream = stream,
				  .reported_reevaluation = DP_BUF_INIT };
	int code = ctl_call_study(ctl, "status", study, &f.status, err);

	if (code != DP_OK)
		return code;
	if (reconnect) {
		reconnect->on_waiting = follow_on_daemon_away;
		reconnect->on_waiting_arg = &f;
		ctl_reconnect_enable(ctl, reconnect);
	}
	f.n_reconnects = ctl->n_reconnects;
	if (!(stream == ctl->err_stream && ctl->quiet))
		ctl_terminal_size(stream, &f.columns, &f.rows);
	/* read single keys without echo, keep Ctrl-C as a signal; only in the foreground, since a
	 * background process that changes the terminal is stopped */
	if (f.columns && stream == ctl->out && isatty(STDIN_FILENO) &&
	    tcgetpgrp(STDIN_FILENO) == getpgrp() &&
	    tcgetattr(STDIN_FILENO, &f.saved_termios) == 0) {
		struct termios raw = f.saved_termios;

		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		f.keyboard_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	code = follow_loop(&f, how, err);
	/* leave the last view without the hint, unless a message was printed below it */
	if ((f.drawn_lines > 0 || f.rows == 1) && f.n_reconnects == ctl->n_reconnects &&
	    !(code == DP_OK && *how == CTL_FOLLOW_ENDED))
		follow_redraw(&f, true);
	if (f.keyboard_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &f.saved_termios);
	if (reconnect)
		reconnect->on_waiting = NULL;
	if (code == DP_OK)
		*summary = json_incref(json_object_get(f.status, "study"));
	json_decref(f.status);
	free(f.reported);
	dp_buf_free(&f.reported_reevaluation);
	free(f.reported_state);
	return code;
}
