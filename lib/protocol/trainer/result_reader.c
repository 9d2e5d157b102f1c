/* result_reader.c - incremental, strict parser of the trainer's result file. */
#include "protocol/trainer/trainer_protocol_internal.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
	uint32_t metric; /* index in names[] */
	double x;
};

/* Metrics of one run, at its end or at a checkpoint. */
struct report {
	bool reported;
	uint32_t nvalues;
	struct value *values;
};

struct dp_result_reader {
	uint32_t nruns, nreported;
	uint32_t *run_numbers;      /* of the requested runs */
	struct report *run_reports; /* in the same order */
	uint32_t ncheckpoints;
	double *checkpoints;               /* requested path values, ascending */
	struct report *checkpoint_reports; /* (nruns x ncheckpoints) */
	size_t nmetrics;
	char *names[DP_METRICS_MAX]; /* in order of first appearance */
	struct dp_declaration declaration;
	double progress;
	bool is_done;
	struct dp_buf partial; /* an incomplete line */
	struct dp_buf scratch; /* a line rewritten for jansson */
	size_t lines, bytes;
	char problem[320]; /* plain ASCII; "": none */
	bool is_truncated; /* the problem is an unterminated last line */
};

#define LINE_FORMS "'progress', 'run' with 'metrics', 'declare' or 'done'"

struct dp_result_reader *dp_result_reader_new(const uint32_t *runs, uint32_t nruns)
{
	struct dp_result_reader *r = dp_calloc(1, sizeof *r);

	r->nruns = nruns;
	r->progress = NAN;
	r->declaration = (struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
	r->run_numbers = dp_memdup(runs, nruns * sizeof *runs);
	r->run_reports = dp_calloc(nruns, sizeof *r->run_reports);
	return r;
}

void dp_result_reader_set_checkpoints(struct dp_result_reader *r, const double *checkpoints,
				      uint32_t ncheckpoints)
{
	r->checkpoints = dp_memdup(checkpoints, ncheckpoints * sizeof *checkpoints);
	r->checkpoint_reports =
		dp_calloc((size_t)r->nruns * ncheckpoints, sizeof *r->checkpoint_reports);
	r->ncheckpoints = ncheckpoints;
}

void dp_result_reader_free(struct dp_result_reader *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nruns; i++)
		free(r->run_reports[i].values);
	for (size_t i = 0; i < (size_t)r->nruns * r->ncheckpoints; i++)
		free(r->checkpoint_reports[i].values);
	free(r->checkpoints);
	free(r->checkpoint_reports);
	for (size_t i = 0; i < r->nmetrics; i++)
		free(r->names[i]);
	free(r->run_numbers);
	free(r->run_reports);
	dp_buf_free(&r->partial);
	dp_buf_free(&r->scratch);
	free(r);
}

/* Keeps the first problem. It may quote bytes of the trainer and goes to terminals and into JSON,
 * so bytes other than printable ASCII are masked. */
static void result_problem(struct dp_result_reader *r, const char *fmt, ...) DP_PRINTF(2, 3);
static void result_problem(struct dp_result_reader *r, const char *fmt, ...)
{
	va_list ap;

	if (r->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(r->problem, sizeof r->problem, fmt, ap);
	va_end(ap);
	for (char *p = r->problem; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
}

#define LINE_PROBLEM(r, fmt, ...)                                                                  \
	result_problem(r, "line %zu of the result file: " fmt, (r)->lines, __VA_ARGS__)

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

/* ---- the four forms of a line ---- */

static void read_progress(struct dp_result_reader *r, const json_t *line)
{
	const json_t *v = json_object_get(line, "progress");
	double x = json_number_value(v);

	if (!json_is_number(v))
		LINE_PROBLEM(r, "'progress' must be a number from 0 to 1, not %s", type_name(v));
	else if (!(x >= 0 && x <= 1))
		LINE_PROBLEM(r, "'progress' must be from 0 to 1, not %g", x);
	else
		r->progress = x;
}

static const struct {
	const char *word;
	double value;
} non_finite[] = {
	{ "nan", NAN },           { "NaN", NAN },        { "inf", INFINITY },
	{ "Infinity", INFINITY }, { "-inf", -INFINITY }, { "-Infinity", -INFINITY },
};

static bool metric_value(const json_t *v, double *x)
{
	if (json_is_number(v)) {
		*x = json_number_value(v);
		return true;
	}
	if (json_is_null(v)) {
		*x = NAN;
		return true;
	}
	for (size_t i = 0; json_is_string(v) && i < DP_COUNT(non_finite); i++) {
		if (strcmp(json_string_value(v), non_finite[i].word) != 0)
			continue;
		*x = non_finite[i].value;
		return true;
	}
	return false;
}

/* Index of a metric, known or new; -1 after a problem. Trainers report the same metrics in the same
 * order in every run, so `guess` is nearly always right. */
static int result_intern(struct dp_result_reader *r, const char *name, size_t guess)
{
	int known;

	if (guess < r->nmetrics && strcmp(r->names[guess], name) == 0)
		return (int)guess;
	known = dp_result_reader_find_metric(r, name);
	if (known >= 0)
		return known;
	if (!dp_name_ok(name)) {
		LINE_PROBLEM(r, "'%.80s' cannot name a metric: " DP_NAME_RULE, name);
		return -1;
	}
	if (r->nmetrics == DP_METRICS_MAX) {
		LINE_PROBLEM(r, "more than %d different metrics were reported", DP_METRICS_MAX);
		return -1;
	}
	r->names[r->nmetrics] = dp_strdup(name);
	return (int)r->nmetrics++;
}

static void read_metrics(struct dp_result_reader *r, uint32_t number, struct report *run,
			 json_t *metrics)
{
	const char *name;
	json_t *v;

	run->values = dp_calloc(json_object_size(metrics) + 1, sizeof *run->values);
	json_object_foreach (metrics, name, v) {
		struct value *value = &run->values[run->nvalues];
		int metric = result_intern(r, name, run->nvalues);

		if (metric < 0)
			return;
		if (!metric_value(v, &value->x)) {
			LINE_PROBLEM(r, "metric '%s' of run %u must be a number, not %s", name,
				     (unsigned)number, type_name(v));
			return;
		}
		value->metric = (uint32_t)metric;
		run->nvalues++;
	}
	run->reported = true;
}

/* Position of a run among the requested ones; nruns: not requested. */
static uint32_t find_run(const struct dp_result_reader *r, double number)
{
	uint32_t i;

	/* runs_per_process: all requests 0..R-1 */
	if (number < r->nruns && r->run_numbers[(uint32_t)number] == number)
		return (uint32_t)number;
	for (i = 0; i < r->nruns; i++)
		if (r->run_numbers[i] == number)
			break;
	return i;
}

static void parse_checkpoint_report(struct dp_result_reader *r, uint32_t i, const json_t *at,
				    json_t *metrics)
{
	unsigned run = r->run_numbers[i];
	double x = json_number_value(at);
	uint32_t w = 0;

	while (w < r->ncheckpoints && r->checkpoints[w] != x)
		w++;
	if (!json_is_number(at))
		LINE_PROBLEM(r, "'at' must be a value of the path, not %s", type_name(at));
	else if (w == r->ncheckpoints)
		LINE_PROBLEM(r,
			     "run %u at %.15g was not asked; 'path' in the request lists "
			     "what is",
			     run, x);
	else if (r->run_reports[i].reported)
		LINE_PROBLEM(r,
			     "run %u at %.15g comes after the run's own line, which must "
			     "be its last",
			     run, x);
	else if (r->checkpoint_reports[(size_t)i * r->ncheckpoints + w].reported)
		LINE_PROBLEM(r,
			     "run %u at %.15g was reported before; each value is "
			     "reported once",
			     run, x);
	else
		read_metrics(r, run, &r->checkpoint_reports[(size_t)i * r->ncheckpoints + w],
			     metrics);
}

static void read_run(struct dp_result_reader *r, const json_t *line)
{
	const json_t *number = json_object_get(line, "run"), *at = json_object_get(line, "at");
	json_t *metrics = json_object_get(line, "metrics");
	double x = json_number_value(number);
	uint32_t i;

	if (!number || !metrics) {
		LINE_PROBLEM(r, "'%s' needs '%s' beside it", number ? "run" : "metrics",
			     number ? "metrics" : "run");
		return;
	}
	if (!json_is_number(number) || !(x >= 0 && x <= UINT32_MAX) || x != floor(x)) {
		LINE_PROBLEM(r, "%s", "'run' must be the number of a run that was asked");
		return;
	}
	if (!json_is_object(metrics)) {
		LINE_PROBLEM(r, "'metrics' must be an object of names and numbers, not %s",
			     type_name(metrics));
		return;
	}
	i = find_run(r, x);
	if (i == r->nruns)
		LINE_PROBLEM(r,
			     "run %.0f was not asked; 'runs' in the request lists "
			     "what is",
			     x);
	else if (at)
		parse_checkpoint_report(r, i, at, metrics);
	else if (r->run_reports[i].reported)
		LINE_PROBLEM(r, "run %u was reported before; each run is reported once",
			     (unsigned)r->run_numbers[i]);
	else {
		read_metrics(r, r->run_numbers[i], &r->run_reports[i], metrics);
		r->nreported += r->run_reports[i].reported;
	}
}

static void declare_sampling(struct dp_result_reader *r, const json_t *v)
{
	static const char *const allowed[] = { "without-replacement", "poisson", "shuffle" };
	const char *word = json_string_value(v);
	const char **kept = &r->declaration.sampling;

	for (size_t i = 0; word && i < DP_COUNT(allowed); i++) {
		if (strcmp(word, allowed[i]) != 0)
			continue;
		if (*kept && strcmp(*kept, word) != 0)
			LINE_PROBLEM(r, "sampling is declared as %s, but before as %s", word,
				     *kept);
		else
			*kept = allowed[i];
		return;
	}
	LINE_PROBLEM(r, "%s", "'sampling' must be without-replacement, poisson or shuffle");
}

static void declare_number(struct dp_result_reader *r, const char *name, const json_t *v,
			   double *kept)
{
	/* 0 is allowed: a training without noise declares it, to contradict any claim of privacy */
	bool zero = strcmp(name, "noise_over_clip") == 0;
	double x = json_number_value(v);

	if (!json_is_number(v) || !(zero ? x >= 0 : x > 0) || !isfinite(x))
		LINE_PROBLEM(r, "'%s' in 'declare' must be a number %s 0", name,
			     zero ? "of at least" : "above");
	else if (!isnan(*kept) && *kept != x)
		LINE_PROBLEM(r, "'%s' is declared as %g, but before as %g", name, x, *kept);
	else
		*kept = x;
}

static void read_declare(struct dp_result_reader *r, const json_t *line)
{
	struct dp_declaration *d = &r->declaration;
	const struct {
		const char *name;
		double *kept;
	} numbers[] = { { "records", &d->records },
			{ "lot", &d->lot },
			{ "steps", &d->steps },
			{ "noise_over_clip", &d->noise_over_clip } };
	const json_t *declared = json_object_get(line, "declare"), *v;

	if (!json_is_object(declared)) {
		LINE_PROBLEM(r, "'declare' must be an object, not %s", type_name(declared));
		return;
	}
	v = json_object_get(declared, "sampling");
	if (v)
		declare_sampling(r, v);
	for (size_t i = 0; i < DP_COUNT(numbers); i++) {
		v = json_object_get(declared, numbers[i].name);
		if (v)
			declare_number(r, numbers[i].name, v, numbers[i].kept);
	}
}

static void read_done(struct dp_result_reader *r, const json_t *line)
{
	if (json_is_true(json_object_get(line, "done")))
		r->is_done = true;
	else
		LINE_PROBLEM(r, "%s", "'done' must be true");
}

/* The two keys of a run are one form, so that a missing one gets its own message. */
static const struct {
	const char *key, *other;
	void (*read)(struct dp_result_reader *r, const json_t *line);
} forms[] = {
	{ "progress", NULL, read_progress },
	{ "run", "metrics", read_run },
	{ "declare", NULL, read_declare },
	{ "done", NULL, read_done },
};

static void read_object(struct dp_result_reader *r, const json_t *line)
{
	size_t found = 0, form = 0;

	for (size_t i = 0; i < DP_COUNT(forms); i++) {
		if (!json_object_get(line, forms[i].key) &&
		    !(forms[i].other && json_object_get(line, forms[i].other)))
			continue;
		found++;
		form = i;
	}
	if (found == 1)
		forms[form].read(r, line);
	else
		LINE_PROBLEM(r, "it has %s of " LINE_FORMS "; exactly one is needed",
			     found ? "more than one" : "none");
}

/* ---- lines ---- */

static size_t skip_blanks(const char *p, size_t n, size_t i)
{
	while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r'))
		i++;
	return i;
}

/* The length of a bare NaN, Infinity or -Infinity at p[i] that ends a value there; 0 if none. */
static size_t bare_word(const char *p, size_t n, size_t i)
{
	static const char *const words[] = { "-Infinity", "Infinity", "NaN" };

	for (size_t w = 0; w < DP_COUNT(words); w++) {
		size_t len = strlen(words[w]), end;

		if (n - i < len || memcmp(p + i, words[w], len) != 0)
			continue;
		end = skip_blanks(p, n, i + len);
		if (end < n && (p[end] == ',' || p[end] == '}' || p[end] == ']'))
			return len;
	}
	return 0;
}

/* Python's json module writes non-finite numbers as bare words. Outside of strings they become
 * strings; jansson judges the rest. */
static void quote_bare_words(const char *p, size_t n, struct dp_buf *out)
{
	bool quoted = false;
	size_t i = 0, len;

	while (i < n) {
		len = quoted ? 0 : bare_word(p, n, i);
		if (len) {
			dp_buf_printf(out, "\"%.*s\"", (int)len, p + i);
			i += len;
			continue;
		}
		if (quoted && p[i] == '\\' && i + 1 < n)
			dp_buf_putc(out, p[i++]);
		else if (p[i] == '"')
			quoted = !quoted;
		dp_buf_putc(out, p[i++]);
	}
}

static json_t *parse_line(struct dp_result_reader *r, const char *p, size_t n)
{
	json_error_t e;
	json_t *v;

	if (memmem(p, n, "NaN", 3) || memmem(p, n, "Infinity", 8)) {
		dp_buf_clear(&r->scratch);
		quote_bare_words(p, n, &r->scratch);
		p = r->scratch.data;
		n = r->scratch.len;
	}
	/* Reads all numbers as doubles: integer metrics such as 2^70 are valid, and run 1.0 is run
	 * 1. */
	v = json_loadb(p, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &e);
	if (!v) {
		LINE_PROBLEM(r, "it is not JSON (%s); each line must be one JSON object", e.text);
		return NULL;
	}
	if (!json_is_object(v)) {
		LINE_PROBLEM(r, "it must be a JSON object, not %s", type_name(v));
		json_decref(v);
		return NULL;
	}
	return v;
}

static void read_line(struct dp_result_reader *r, const char *p, size_t n)
{
	json_t *line;

	r->lines++;
	if (skip_blanks(p, n, 0) == n)
		return;
	if (r->is_done) {
		LINE_PROBLEM(r, "%s", "it comes after {\"done\":true}, which must be last");
		return;
	}
	line = parse_line(r, p, n);
	if (!line)
		return;
	read_object(r, line);
	json_decref(line);
}

/* Adds a piece of a line; whole: the piece ends the line. */
static void result_add_piece(struct dp_result_reader *r, const char *p, size_t n, bool whole)
{
	if (r->partial.len + n > DP_RESULT_LINE_MAX) {
		result_problem(r, "line %zu of the result file: it is longer than %d bytes",
			       r->lines + 1, DP_RESULT_LINE_MAX);
		return;
	}
	if (whole && r->partial.len == 0) {
		read_line(r, p, n);
		return;
	}
	dp_buf_add(&r->partial, p, n);
	if (whole) {
		read_line(r, dp_buf_text(&r->partial), r->partial.len);
		dp_buf_clear(&r->partial);
	}
}

void dp_result_reader_feed(struct dp_result_reader *r, const void *bytes, size_t n)
{
	size_t room = DP_RESULT_FILE_MAX - r->bytes;
	const char *p = bytes;
	bool over = n > room;

	if (over)
		n = room;
	r->bytes += n;
	while (n > 0 && !r->problem[0]) {
		const char *newline = memchr(p, '\n', n);
		size_t len = newline ? (size_t)(newline - p) : n;
		size_t used = len + (newline != NULL);

		result_add_piece(r, p, len, newline != NULL);
		p += used;
		n -= used;
	}
	if (over)
		result_problem(r, "the result file is longer than %d bytes", DP_RESULT_FILE_MAX);
}

void dp_result_reader_finish(struct dp_result_reader *r)
{
	if (r->problem[0] || r->partial.len == 0)
		return;
	read_line(r, dp_buf_text(&r->partial), r->partial.len);
	dp_buf_clear(&r->partial);
	r->is_truncated = r->problem[0] != '\0';
}

bool dp_text_has_result_line(const char *text, size_t n)
{
	while (n > 0) {
		const char *newline = memchr(text, '\n', n);
		size_t len = newline ? (size_t)(newline - text) : n;
		json_t *line =
			memmem(text, len, "\"metrics\"", 9) ? json_loadb(text, len, 0, NULL) : NULL;
		bool found = json_is_object(json_object_get(line, "metrics"));

		json_decref(line);
		if (found)
			return true;
		text += len + (newline != NULL);
		n -= len + (newline != NULL);
	}
	return false;
}

/* ---- access to the result ---- */

double dp_result_reader_progress(const struct dp_result_reader *r)
{
	return r->progress;
}

bool dp_result_reader_is_done(const struct dp_result_reader *r)
{
	return r->is_done;
}

bool dp_result_reader_is_complete(const struct dp_result_reader *r)
{
	return r->nreported == r->nruns;
}

const char *dp_result_reader_problem(const struct dp_result_reader *r)
{
	return r->problem[0] ? r->problem : NULL;
}

const struct dp_declaration *dp_result_reader_declaration(const struct dp_result_reader *r)
{
	return &r->declaration;
}

size_t dp_result_reader_count_metrics(const struct dp_result_reader *r)
{
	return r->nmetrics;
}

const char *dp_result_reader_metric_name(const struct dp_result_reader *r, size_t metric)
{
	return metric < r->nmetrics ? r->names[metric] : NULL;
}

static bool report_value(const struct report *run, size_t metric, double *value)
{
	for (uint32_t k = 0; run->reported && k < run->nvalues; k++) {
		if (run->values[k].metric == metric) {
			*value = run->values[k].x;
			return true;
		}
	}
	return false;
}

bool dp_result_reader_run_value(const struct dp_result_reader *r, size_t i, size_t metric,
				double *value)
{
	return i < r->nruns && report_value(&r->run_reports[i], metric, value);
}

bool dp_result_reader_checkpoint_value(const struct dp_result_reader *r, size_t i, size_t w,
				       size_t metric, double *value)
{
	return i < r->nruns && w < r->ncheckpoints &&
	       report_value(&r->checkpoint_reports[i * r->ncheckpoints + w], metric, value);
}

bool dp_result_reader_has_checkpoint(const struct dp_result_reader *r, size_t w)
{
	for (size_t i = 0; i < r->nruns; i++)
		if (w >= r->ncheckpoints ||
		    !r->checkpoint_reports[i * r->ncheckpoints + w].reported)
			return false;
	return true;
}

bool dp_result_reader_is_usable(const struct dp_result_reader *r)
{
	return !r->problem[0] || r->is_truncated;
}

int dp_result_reader_find_metric(const struct dp_result_reader *r, const char *name)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (strcmp(r->names[i], name) == 0)
			return (int)i;
	return -1;
}

uint32_t dp__result_reader_run_number(const struct dp_result_reader *r, size_t i)
{
	return r->run_numbers[i];
}

bool dp__result_reader_has_run(const struct dp_result_reader *r, size_t i)
{
	return r->run_reports[i].reported;
}

size_t dp__result_reader_count_runs(const struct dp_result_reader *r)
{
	return r->nruns;
}
