/* text_format.c - formats protocol values for people. */
#include "ctl/text_format.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/study_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

enum {
	DISPLAY_DIGITS = 5 /* digits shown to people */
};

/* A fast path: nearly all text is ASCII. */
static bool is_printable_ascii(char c)
{
	return c >= ' ' && c <= '~';
}

/* Decodes one character and advances *s. Each invalid byte counts as '?'. Needs the UTF-8 LC_CTYPE
 * that main() sets. */
static wchar_t utf8_next_char(const char **s)
{
	mbstate_t state;
	wchar_t w;
	size_t n;

	if (is_printable_ascii(**s))
		return (wchar_t) * (*s)++;
	memset(&state, 0, sizeof state);
	n = mbrtowc(&w, *s, strlen(*s), &state);
	if (n == 0 || n == (size_t)-1 || n == (size_t)-2) {
		(*s)++;
		return L'?';
	}
	*s += n;
	return w;
}

static int char_width(wchar_t w)
{
	int n = w >= L' ' && w <= L'~' ? 1 : wcwidth(w);

	return n < 0 ? 1 : n; /* control characters are shown as '?' */
}

int ctl_text_width(const char *text)
{
	int width = 0;

	while (*text)
		width += char_width(utf8_next_char(&text));
	return width;
}

/* Appends the bytes of a character, or '?' for a control character. */
static void append_safe_char(struct dp_buf *out, wchar_t w, const char *bytes, size_t n)
{
	if (wcwidth(w) < 0 || (w == L'?' && n == 1))
		dp_buf_putc(out, '?');
	else
		dp_buf_add(out, bytes, n);
}

int ctl_text_truncate(struct dp_buf *out, const char *text, int columns, bool utf8)
{
	const char *dots = utf8 ? "…" : "...";
	int whole = ctl_text_width(text), room = columns, used = 0;
	size_t plain = 0;

	while (is_printable_ascii(text[plain]))
		plain++;
	if (!text[plain] && whole <= columns) {
		dp_buf_add(out, text, plain);
		return whole;
	}
	if (whole > columns)
		room -= utf8 ? 1 : 3;
	while (*text) {
		const char *start = text;
		wchar_t w = utf8_next_char(&text);
		int width = char_width(w);

		if (used + width > room)
			break;
		append_safe_char(out, w, start, (size_t)(text - start));
		used += width;
	}
	if (whole > columns && room >= 0) {
		dp_buf_puts(out, dots);
		used += utf8 ? 1 : 3;
	}
	return used;
}

void ctl_text_sanitize(struct dp_buf *out, const char *text)
{
	ctl_text_truncate(out, text, INT_MAX, true);
}

size_t ctl_text_line_len(const char *text, int columns)
{
	const char *at = text, *space = NULL;
	int used = 0;

	while (*at) {
		const char *start = at;
		wchar_t w = utf8_next_char(&at);

		used += char_width(w);
		if (w == L' ')
			space = start;
		if (used > columns && start > text)
			return (size_t)((space && space > text ? space : start) - text);
	}
	return (size_t)(at - text);
}

/* Parses "2026-03-01T12:00:03.123456Z" into seconds since 1970. */
static bool parse_iso_time(const char *iso, time_t *out)
{
	struct tm tm;

	memset(&tm, 0, sizeof tm);
	if (!iso || !strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm))
		return false;
	*out = timegm(&tm);
	return true;
}

char *ctl_format_age(const char *iso, char out[CTL_TEXT_LEN])
{
	long age;
	time_t then;

	if (!parse_iso_time(iso, &then))
		return strcpy(out, "-");
	age = (long)(time(NULL) - then);
	if (age < 1)
		return strcpy(out, "now");
	if (age < 60)
		snprintf(out, CTL_TEXT_LEN, "%lds ago", age);
	else if (age < 3600)
		snprintf(out, CTL_TEXT_LEN, "%ldm ago", age / 60);
	else if (age < 2 * 86400)
		snprintf(out, CTL_TEXT_LEN, "%ldh ago", age / 3600);
	else
		snprintf(out, CTL_TEXT_LEN, "%ldd ago", age / 86400);
	return out;
}

char *ctl_format_local_time(const char *iso, char out[CTL_TEXT_LEN])
{
	struct tm tm;
	time_t then;

	if (!parse_iso_time(iso, &then))
		return strcpy(out, "-");
	localtime_r(&then, &tm);
	strftime(out, CTL_TEXT_LEN, "%Y-%m-%d %H:%M:%S", &tm);
	return out;
}

char *ctl_format_value(const json_t *value, char out[CTL_TEXT_LEN])
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_INTEGER:
		snprintf(out, CTL_TEXT_LEN, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		ctl_format_number(json_real_value(value), DISPLAY_DIGITS, false, out);
		break;
	case JSON_STRING:
		snprintf(out, CTL_TEXT_LEN, "%s", json_string_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		strcpy(out, json_is_true(value) ? "true" : "false");
		break;
	default:
		strcpy(out, "-");
	}
	return out;
}

char *ctl_format_number(double x, int digits, bool bound, char out[CTL_TEXT_LEN])
{
	double unit;

	snprintf(out, CTL_TEXT_LEN, "%.*g", digits, x);
	if (!bound || !(x > 0) || isinf(x) || strtod(out, NULL) >= x)
		return out;
	unit = pow(10, floor(log10(x)) - digits + 1);
	snprintf(out, CTL_TEXT_LEN, "%.*g", digits, (floor(x / unit) + 1) * unit);
	return out;
}

char *ctl_format_upper_bound(const json_t *value, char out[CTL_TEXT_LEN])
{
	return json_is_real(value)
		       ? ctl_format_number(json_real_value(value), DISPLAY_DIGITS, true, out)
		       : ctl_format_value(value, out);
}

void ctl_format_exact_value(const json_t *value, struct dp_buf *out)
{
	if (json_is_string(value))
		dp_buf_puts(out, json_string_value(value));
	else if (value && !json_is_null(value))
		dp_json_dump(out, value, 0);
}

char *ctl_format_count(const json_t *object, const char *key, const char *thing,
		       char out[DP_PLURAL_LEN])
{
	return dp_plural_text((uint64_t)dp_json_int(object, key, 0), thing, out);
}

char *ctl_format_duration(const json_t *value, char out[CTL_TEXT_LEN])
{
	char text[DP_NUM_LEN];
	double s;

	if (!dp_json_to_real(value, &s) || !isfinite(s))
		return strcpy(out, "-");
	return strcpy(out, dp_duration_text(s, text));
}

bool ctl_format_selection_cost(const json_t *selection, struct dp_buf *out)
{
	char epsilon[CTL_TEXT_LEN], delta[CTL_TEXT_LEN], one[CTL_TEXT_LEN], mean[CTL_TEXT_LEN];

	if (!json_is_object(selection))
		return false;
	dp_buf_printf(out,
		      "epsilon %s at delta %s for all that is published, the best of a "
		      "secret number of trainings, %s on average (%s); one training: %s",
		      ctl_format_upper_bound(json_object_get(selection, "epsilon"), epsilon),
		      ctl_format_value(json_object_get(selection, "delta"), delta),
		      ctl_format_value(json_object_get(selection, "mean"), mean),
		      dp_json_str(selection, "theorem", "?"),
		      ctl_format_upper_bound(json_object_get(selection, "one_training"), one));
	return true;
}

/* Returns the planned number of trials. A lowered budget does not remove existing trials. */
static int64_t count_planned_trials(const json_t *summary, int64_t ended)
{
	int64_t evaluations = dp_json_int(summary, "evaluations", 0);

	return evaluations > ended ? evaluations : ended;
}

char *ctl_format_progress(const json_t *summary, int64_t ended, char out[CTL_TEXT_LEN])
{
	const json_t *cost = ctl_study_cost_limit(summary);
	char spent[CTL_TEXT_LEN], most[CTL_TEXT_LEN];
	double part;

	if (ctl_study_hides_trials(summary))
		strcpy(out, "a secret number");
	else if (ctl_study_progress(summary, &part))
		snprintf(out, CTL_TEXT_LEN, "%" PRId64 ", cost %.10s of %.10s", ended,
			 ctl_format_value(json_object_get(cost, "spent"), spent),
			 ctl_format_value(json_object_get(cost, "most"), most));
	else
		snprintf(out, CTL_TEXT_LEN, "%" PRId64 " of %" PRId64, ended,
			 count_planned_trials(summary, ended));
	return out;
}

void ctl_format_progress_sentence(const json_t *summary, struct dp_buf *out)
{
	int64_t ended = dp_json_int(summary, "ended", 0);
	uint64_t all = (uint64_t)dp_json_int(summary, "evaluations", 0);
	const char *verb = ended == 1 || all == 1 ? "has" : "have";
	char text[CTL_TEXT_LEN], trials[DP_PLURAL_LEN];
	double part;

	if (ctl_study_hides_trials(summary))
		dp_buf_puts(out, "a secret number of trials have ended");
	else if (ctl_study_progress(summary, &part))
		dp_buf_printf(out, "%s %s ended%s",
			      dp_plural_text((uint64_t)ended, "trial", trials), verb,
			      strchr(ctl_format_progress(summary, ended, text), ','));
	else
		dp_buf_printf(out, "%" PRId64 " of %s %s ended", ended,
			      dp_plural_text(all, "trial", trials), verb);
}

char *ctl_format_progress_cell(const json_t *summary, char out[CTL_TEXT_LEN])
{
	int64_t ended = dp_json_int(summary, "ended", 0);
	double part;

	if (ctl_study_hides_trials(summary))
		strcpy(out, "-");
	else if (ctl_study_progress(summary, &part))
		snprintf(out, CTL_TEXT_LEN, "%" PRId64 " (%d%%)", ended, (int)(part * 100));
	else
		snprintf(out, CTL_TEXT_LEN, "%" PRId64 "/%" PRId64, ended,
			 count_planned_trials(summary, ended));
	return out;
}

void ctl_format_changes(const json_t *changes, struct dp_buf *out)
{
	const json_t *c;
	size_t i;

	json_array_foreach (changes, i, c) {
		const char *key = dp_json_str(c, "key", "?"), *dot = strrchr(key, '.');

		dp_buf_printf(out, "%s%s %s -> %s", i ? ", " : "", dot ? dot + 1 : key,
			      dp_json_str(c, "from", "none"), dp_json_str(c, "to", "none"));
	}
}

bool ctl_format_reevaluation(const json_t *summary, struct dp_buf *out)
{
	const json_t *m = json_object_get(summary, "measuring");
	int64_t points = dp_json_int(m, "points", 0), runs = dp_json_int(m, "runs", 0),
		made = dp_json_int(m, "runs_done", 0);

	if (points == 0 || runs == 0)
		return false;
	dp_buf_printf(out,
		      "%" PRId64 " of %" PRId64 " point%s again, %" PRId64 " of %" PRId64
		      " run%s (%d %%)",
		      dp_json_int(m, "done", 0), points, points == 1 ? "" : "s", made, runs,
		      runs == 1 ? "" : "s", (int)(100 * made / runs));
	return true;
}

void ctl_format_pairs(const json_t *object, struct dp_buf *out)
{
	char text[CTL_TEXT_LEN];
	const char *key, *sep = "";
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		dp_buf_printf(out, "%s%s=%s", sep, key, ctl_format_value(value, text));
		sep = " ";
	}
}

void ctl_format_progress_bar(struct dp_buf *out, double part, int columns, bool utf8)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int room = utf8 ? columns : columns - 2, full, rest;

	if (!(part > 0))
		part = 0;
	if (part > 1)
		part = 1;
	full = (int)(part * room);
	rest = utf8 ? (int)((part * room - full) * 8) : 0;
	if (!utf8)
		dp_buf_putc(out, '[');
	for (int i = 0; i < full; i++)
		dp_buf_puts(out, utf8 ? "█" : "#");
	dp_buf_puts(out, eighths[rest]);
	for (int i = full + (rest > 0); i < room; i++)
		dp_buf_puts(out, utf8 ? "░" : "-");
	if (!utf8)
		dp_buf_putc(out, ']');
}

enum ctl_style ctl_state_style(const char *state)
{
	static const struct {
		const char *state;
		enum ctl_style style;
	} styles[] = {
		{ "running", CTL_NORMAL }, { "finished", CTL_GOOD }, { "ok", CTL_GOOD },
		{ "paused", CTL_WARN },    { "stopped", CTL_WARN },  { "diverged", CTL_WARN },
		{ "cancelled", CTL_WARN }, { "warn", CTL_WARN },     { "failed", CTL_BAD },
		{ "fail", CTL_BAD },
	};

	for (size_t i = 0; state && i < DP_COUNT(styles); i++)
		if (strcmp(state, styles[i].state) == 0)
			return styles[i].style;
	return CTL_NORMAL;
}

void ctl_text_wrap(struct dp_buf *out, const char *text, int indent, int columns)
{
	int used = 0;

	while (*text) {
		size_t len = strcspn(text, " \n");
		int width;
		char *word;

		word = dp_strndup(text, len);
		width = ctl_text_width(word);
		if (used > 0 && indent + used + 1 + width > columns) {
			dp_buf_putc(out, '\n');
			used = 0;
		}
		if (len > 0) {
			dp_buf_printf(out, "%*s%s", used ? 1 : indent, "", word);
			used += width + (used > 0);
		}
		free(word);
		text += len;
		if (*text == '\n') {
			dp_buf_putc(out, '\n');
			used = 0;
		}
		if (*text)
			text++;
	}
	if (used > 0)
		dp_buf_putc(out, '\n');
}
