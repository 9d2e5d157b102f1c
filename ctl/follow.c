/* follow.c - follows a study to its end: redrawn in place on a terminal, line by line
 * elsewhere. */
#include "ctl/follow.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/daemon.h"
#include "ctl/memory.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/text.h"
#include "ctl/trials.h"
#include "ctl/view.h"

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
	REDRAW_MS = 250, /* between looks at progress and keyboard */
	PLAIN_MS = 1000,
	HINT_ROWS = 8 /* a screen with fewer has no room for hints */
};

struct follow {
	struct ctl *ctl;
	FILE *stream;
	json_t *status; /* the last */
	bool left;      /* q was pressed while the daemon was away */
	/* on a terminal: */
	int lines, columns, rows; /* of what stands there now */
	unsigned revived;         /* ctl's at that time */
	bool keyboard;
	struct termios saved;
	/* elsewhere: */
	int64_t ended; /* trials told and ended before */
	uint32_t live; /* every trial before this one was told or had ended before */
	bool *told;    /* (room), by number from 0 */
	size_t room;
	char *state;             /* as last told */
	struct dp_buf measuring; /* likewise, how far points are that are measured again */
};

bool ctl_status_saved(const json_t *status)
{
	return !json_object_get(status, "unsaved");
}

int64_t ctl_status_version(const json_t *status)
{
	return ctl_status_saved(status)
		       ? dp_json_int(json_object_get(status, "study"), "version", 0)
		       : 0;
}

bool ctl_study_ended(const json_t *summary)
{
	const char *state = dp_json_str(summary, "state", "");
	bool idle = dp_json_int(summary, "running", 0) == 0;

	if (strcmp(state, "finished") == 0 || strcmp(state, "failed") == 0)
		return true;
	if (strcmp(state, "stopped") == 0)
		return idle;
	return strcmp(state, "paused") == 0 && idle && dp_json_bool(summary, "by_failures", false);
}

int ctl_study_verdict(const json_t *summary, struct dp_err *err)
{
	const char *state = dp_json_str(summary, "state", "");
	const char *reason = dp_json_str(summary, "reason", NULL);
	const char *name = dp_json_str(summary, "name", "?");

	if (strcmp(state, "finished") == 0)
		return DP_OK;
	dp_fail(err, DP_E_STUDY, "study '%s' %s%s%s%s", name,
		strcmp(state, "failed") == 0 ? "" : "is ", state, reason ? ": " : "",
		reason ? reason : "");
	if (ctl_is_hidden(summary))
		dp_hint(err, "what its trainers said is in the study's folder, which is "
			     "as secret as they are");
	else if (strcmp(state, "stopped") == 0)
		dp_hint(err, "'dparetoctl resume %s' takes it up again", name);
	else if (strcmp(state, "failed") == 0 && dp_json_int(summary, "failed", 0) == 0)
		dp_hint(err,
			"'dparetoctl trials %s' lists where it was tried; other ranges "
			"or another trainer are another study",
			name);
	else
		dp_hint(err,
			"'dparetoctl status %s' names the failures, 'dparetoctl logs %s "
			"TRIAL' shows what the trainer said; then 'dparetoctl retry %s "
			"--failed'",
			name, name, name);
	return DP_E_STUDY;
}

/* ---- on a terminal ---- */

/* Keys are read one by one and not shown; Ctrl-C stays a signal. Only in the
 * foreground: changing the terminal from behind would stop us. */
static void keyboard_on(struct follow *f)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &f->saved) != 0)
		return;
	raw = f->saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	f->keyboard = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void keyboard_off(struct follow *f)
{
	if (f->keyboard)
		tcsetattr(STDIN_FILENO, TCSANOW, &f->saved);
}

static bool quit_pressed(const struct follow *f)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	while (f->keyboard && poll(&p, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		if (key == 'q' || key == 'Q')
			return true;
	return false;
}

static int count_lines(const struct dp_buf *b)
{
	int n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

/* The view, in so many rows that the line below it, where the cursor rests, is on the
 * screen, too: nothing ever scrolls. On a screen of one row it rests in that. The last
 * one leaves room for what is said then, and for the prompt. */
static void follow_view(struct follow *f, bool last, struct dp_buf *out)
{
	const char *hint = f->keyboard ? "q leaves the view; the study goes on" : "Ctrl-C stops";
	bool hinted = !last && f->rows > HINT_ROWS;
	struct ctl_screen screen = { .columns = f->columns,
				     .rows = f->rows - 1 - (hinted || last ? 2 : 0),
				     .color = ctl_colored(f->ctl, f->stream),
				     .utf8 = f->ctl->utf8 };

	screen.rows = screen.rows > 0 ? screen.rows : 1;
	ctl_study_watch(out, f->status, &screen);
	if (!hinted)
		return;
	dp_buf_putc(out, '\n');
	ctl_cut(out, hint, f->columns, f->ctl->utf8);
	dp_buf_putc(out, '\n');
}

/* Draws over what stood there: to the top, each line and its end cleared, then the
 * rest; in one write, so that nothing flickers. */
static void follow_draw(struct follow *f, bool last)
{
	struct dp_buf view = DP_BUF_INIT, frame = DP_BUF_INIT;
	int columns, rows;

	ctl_terminal_size(f->stream, &columns, &rows);
	if (f->lines > 0 && (columns != f->columns || rows != f->rows)) {
		/* lines may have been wrapped: their count is of no use any more. All but
		 * the first line is cleared, because some terminals keep a screen that is
		 * cleared whole */
		dp_buf_puts(&frame, "\033[2;1H\033[J\033[H");
		f->lines = 0;
	}
	if (f->revived != f->ctl->revived) /* something was said below it */
		f->lines = 0;
	f->revived = f->ctl->revived;
	f->columns = columns;
	f->rows = rows;
	follow_view(f, last, &view);
	if (f->lines > 0)
		dp_buf_printf(&frame, "\r\033[%dA", f->lines);
	else if (rows == 1)
		dp_buf_putc(&frame, '\r');
	/* cleared before it is written: behind a line as wide as the screen the cursor
	 * still stands on its last character */
	for (char *line = view.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		dp_buf_printf(&frame, "\033[K%.*s%s", (int)(end - line), line,
			      rows > 1 || last ? "\n" : "");
	}
	dp_buf_puts(&frame, rows > 1 || last ? "\033[J" : "");
	f->lines = rows > 1 ? count_lines(&view) : 0;
	fwrite(dp_buf_text(&frame), 1, frame.len, f->stream);
	fflush(f->stream);
	dp_buf_free(&view);
	dp_buf_free(&frame);
}

/* ---- elsewhere ---- */

DP_PRINTF(2, 3)
static void follow_say(struct follow *f, const char *format, ...)
{
	struct dp_buf line = DP_BUF_INIT;
	char when[16], *text;
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	va_start(ap, format);
	text = ctl_vformat(format, ap);
	va_end(ap);
	strftime(when, sizeof when, "%H:%M:%S", localtime_r(&now, &tm));
	dp_buf_printf(&line, "%s ", when);
	ctl_clean(&line, text);
	dp_buf_putc(&line, '\n');
	free(text);
	if (f->stream == f->ctl->out)
		ctl_put(f->ctl, line.data, line.len);
	else if (!f->ctl->quiet)
		fputs(line.data, f->stream);
	dp_buf_free(&line);
}

/* Marks a trial as told; true if it was not. */
static bool follow_mark(struct follow *f, uint32_t trial)
{
	size_t room = f->room ? f->room : 256;
	bool was;

	if (trial >= f->room) {
		while (trial >= room)
			room *= 2;
		f->told = realloc(f->told, room * sizeof *f->told);
		if (!f->told)
			ctl_die_nomem();
		memset(f->told + f->room, 0, (room - f->room) * sizeof *f->told);
		f->room = room;
	}
	was = f->told[trial];
	f->told[trial] = true;
	return !was;
}

static int mark_ended(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct follow *f = arg;

	(void)ctl, (void)err;
	if (ctl_trial_over(trial) && follow_mark(f, (uint32_t)dp_json_int(trial, "trial", 0)))
		f->ended++;
	return DP_OK;
}

static int tell_ended(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct follow *f = arg;
	const json_t *s = json_object_get(f->status, "study");
	uint32_t number = (uint32_t)dp_json_int(trial, "trial", 0);
	const char *state = dp_json_str(trial, "state", "?");
	const char *reason = dp_json_str(trial, "reason", NULL);
	struct dp_buf text = DP_BUF_INIT;
	char took[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];

	(void)ctl, (void)err;
	if (!ctl_trial_over(trial) || !follow_mark(f, number))
		return DP_OK;
	if (strcmp(state, "ok") == 0)
		ctl_objectives(trial, json_object_get(trial, "objectives"), &text);
	else if (reason)
		dp_buf_puts(&text, reason);
	f->ended++;
	follow_say(f, "%s: trial %u %s in %s%s%s (%s)", dp_json_str(s, "name", "?"), number, state,
		   ctl_seconds(json_object_get(trial, "seconds"), took), text.len ? ": " : "",
		   dp_buf_text(&text), ctl_ended(s, f->ended, ended));
	dp_buf_free(&text);
	return DP_OK;
}

static void tell_state(struct follow *f)
{
	const json_t *s = json_object_get(f->status, "study");
	const char *state = dp_json_str(s, "state", "?");
	const char *reason = dp_json_str(s, "reason", NULL);
	char volume[CTL_TEXT_LEN], ended[CTL_TEXT_LEN];

	if (f->state && strcmp(f->state, state) == 0)
		return;
	free(f->state);
	f->state = ctl_strdup(state);
	follow_say(f, "%s: %s%s%s (%s ended, hypervolume %s)", dp_json_str(s, "name", "?"), state,
		   reason ? ": " : "", reason ? reason : "",
		   ctl_ended(s, dp_json_int(s, "ended", 0), ended),
		   ctl_value(json_object_get(s, "hypervolume"), volume));
}

static void tell_measuring(struct follow *f)
{
	const json_t *s = json_object_get(f->status, "study");
	struct dp_buf text = DP_BUF_INIT;

	if (ctl_measuring(s, &text) && strcmp(dp_buf_text(&text), dp_buf_text(&f->measuring)) != 0)
		follow_say(f, "%s: measured %s", dp_json_str(s, "name", "?"), dp_buf_text(&text));
	dp_buf_free(&f->measuring);
	f->measuring = text;
}

/* Tells what is new since the last time: ended trials, then the state. The first time
 * trials are only marked, and the state comes after that: what ends later is told. */
static int tell_news(struct follow *f, bool first, struct dp_err *err)
{
	struct ctl_trials which = {
		.study = dp_json_str(json_object_get(f->status, "study"), "name", ""),
		.from = f->live,
		.own = true,
	};
	int code;

	code = ctl_each_trial(f->ctl, &which, first ? mark_ended : tell_ended, f, err);
	while (f->live < f->room && f->told[f->live])
		f->live++;
	tell_measuring(f);
	tell_state(f);
	fflush(f->stream);
	return code;
}

/* ---- both ---- */

static int follow_next(struct follow *f, struct dp_err *err)
{
	const json_t *s = json_object_get(f->status, "study");
	json_t *ok;
	int code =
		ctl_call_changes(f->ctl, dp_json_str(s, "name", ""), ctl_status_version(f->status),
				 f->columns ? REDRAW_MS : PLAIN_MS, &ok, err);

	if (code == DP_E_INTERRUPTED && (f->left || !ctl_interrupted))
		return DP_OK; /* the window's size changed, or we were stopped */
	if (code != DP_OK)
		return code;
	json_decref(f->status);
	f->status = ok;
	return DP_OK;
}

static int follow_loop(struct follow *f, enum ctl_followed *how, struct dp_err *err)
{
	int64_t version = -1, now;
	int code = DP_OK;

	for (;;) {
		const json_t *s = json_object_get(f->status, "study");
		bool saved = ctl_status_saved(f->status);
		bool ended = saved && ctl_study_ended(s);

		now = dp_json_int(s, "version", 0);
		if (f->columns)
			follow_draw(f, ended);
		else if (saved && now != version)
			code = tell_news(f, version < 0, err);
		if (saved)
			version = now;
		*how = ended ? CTL_FOLLOW_ENDED : CTL_FOLLOW_LEFT;
		if (ended || code != DP_OK || f->left || quit_pressed(f) || f->ctl->out_closed)
			return code;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		code = follow_next(f, err);
		if (code != DP_OK)
			return code;
	}
}

/* The keyboard is heard while the daemon is away. */
static int follow_meanwhile(void *arg, struct dp_err *err)
{
	struct follow *f = arg;

	f->left = quit_pressed(f);
	return f->left ? dp_fail(err, DP_E_INTERRUPTED, "left") : DP_OK;
}

int ctl_follow(struct ctl *ctl, const char *study, FILE *stream, struct ctl_patience *patience,
	       enum ctl_followed *how, json_t **summary, struct dp_err *err)
{
	struct follow f = { .ctl = ctl, .stream = stream, .measuring = DP_BUF_INIT };
	int code = ctl_call_study(ctl, "status", study, &f.status, err);

	if (code != DP_OK)
		return code;
	if (patience) {
		patience->meanwhile = follow_meanwhile;
		patience->arg = &f;
		ctl_be_patient(ctl, patience);
	}
	f.revived = ctl->revived;
	if (!(stream == ctl->talk && ctl->quiet))
		ctl_terminal_size(stream, &f.columns, &f.rows);
	if (f.columns && stream == ctl->out)
		keyboard_on(&f);
	code = follow_loop(&f, how, err);
	/* what was last seen stays, without the hint, if nothing was said below it */
	if ((f.lines > 0 || f.rows == 1) && f.revived == ctl->revived &&
	    !(code == DP_OK && *how == CTL_FOLLOW_ENDED))
		follow_draw(&f, true);
	keyboard_off(&f);
	if (patience)
		patience->meanwhile = NULL;
	if (code == DP_OK)
		*summary = json_incref(json_object_get(f.status, "study"));
	json_decref(f.status);
	free(f.told);
	dp_buf_free(&f.measuring);
	free(f.state);
	return code;
}
