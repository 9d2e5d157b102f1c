/* read_value.c - reads single values: names, numbers, words, durations, sizes. */
#include "study/parse/study_parse_internal.h"

#include "base/fs.h"
#include "base/units.h"
#include "study/warm_start_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *node_kind_text(const struct dp__node *v)
{
	return v->kind == DP__NODE_LIST ? "a list" : "a map";
}

const char *dp__expect_scalar(struct dp__study_parser *r, const struct dp__node *v,
			      const char *name, const char *allowed)
{
	if (v->kind == DP__NODE_SCALAR)
		return v->text;
	if (v->kind != DP__NODE_INVALID)
		dp__report_error(r, v->pos, allowed, "'%s' cannot be %s", name, node_kind_text(v));
	return NULL;
}

static bool expect_node_kind(struct dp__study_parser *r, const struct dp__node *v,
			     enum dp__node_kind kind, const char *name, const char *allowed,
			     size_t max)
{
	char shown[DP__PRINTABLE_SIZE];

	if (v->kind == DP__NODE_INVALID)
		return false;
	if (v->kind == kind && v->count >= 1 && v->count <= max)
		return true;
	if (v->kind == kind && v->count == 0)
		dp__report_error(r, v->pos, allowed, "'%s' is empty", name);
	else if (v->kind == kind)
		dp__report_error(r, v->pos, allowed,
				 "'%s' has %zu entries, but at most %zu are "
				 "possible",
				 name, v->count, max);
	else if (v->kind == DP__NODE_SCALAR)
		dp__report_error(r, v->pos, allowed, "'%s' cannot be '%s'", name,
				 dp__printable(v->text, shown));
	else
		dp__report_error(r, v->pos, allowed, "'%s' cannot be %s", name, node_kind_text(v));
	return false;
}

bool dp__expect_list(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		     const char *allowed, size_t max)
{
	return expect_node_kind(r, v, DP__NODE_LIST, name, allowed, max);
}

bool dp__expect_map(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		    const char *allowed, size_t max)
{
	return expect_node_kind(r, v, DP__NODE_MAP, name, allowed, max);
}

bool dp__expect_number(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		       const char *allowed, double *out)
{
	const char *text = dp__expect_scalar(r, v, name, allowed);
	char shown[DP__PRINTABLE_SIZE];
	enum dp__scalar_type type;
	double x;

	if (!text)
		return false;
	type = dp__scalar_type_of(v);
	if ((type == DP__SCALAR_INT || type == DP__SCALAR_REAL) && dp_num_parse(text, &x) &&
	    isfinite(x)) {
		*out = x;
		return true;
	}
	dp__printable(text, shown);
	if (!v->is_plain && dp_num_parse(text, &x))
		dp__report_error(r, v->pos, allowed,
				 "'%s' is the text \"%s\", not a number; remove the quotes", name,
				 shown);
	else
		dp__report_error(r, v->pos, allowed, "'%s' cannot be '%s'", name, shown);
	return false;
}

void dp__read_name(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	const char *text = dp__expect_scalar(r, v, k->name, k->doc->type);
	char shown[DP__PRINTABLE_SIZE];

	if (!text)
		return;
	if (!dp_name_ok(text))
		dp__report_error(r, v->pos, DP_NAME_RULE, "'%s' cannot be '%s'", k->name,
				 dp__printable(text, shown));
	*(char **)to = dp_strdup(text);
}

/* A study's name, DIRECTORY or DIRECTORY#NAME; makes the directory absolute. */
void dp__read_warm_start(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
{
	const char *text = dp__expect_scalar(r, v, k->name, k->doc->type), *name;
	char shown[DP__PRINTABLE_SIZE];

	if (!text)
		return;
	if (dp_warm_start_parse(text, &name) == 0) {
		dp__read_name(r, k, v, to);
		return;
	}
	if (name && !dp_name_ok(name))
		dp__report_error(r, v->pos, DP_NAME_RULE,
				 "'%s' cannot be '%s': what follows '#' is no name of a study",
				 k->name, dp__printable(text, shown));
	dp__read_file_path(r, k, v, to);
}

/* Checks only the kind of the value: `of` is compared with its metric later. */
void dp__read_text(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	(void)to;
	(void)dp__expect_scalar(r, v, k->name, k->doc->type);
}

void dp__read_file_path(struct dp__study_parser *r, const struct dp__key *k,
			const struct dp__node *v, void *to)
{
	const char *text = dp__expect_scalar(r, v, k->name, k->doc->type);

	if (!text)
		return;
	if (!*text) {
		dp__report_error(r, v->pos, k->doc->type, "'%s' is empty", k->name);
		return;
	}
	*(char **)to = *text == '/' ? dp_strdup(text) : dp_path_join(r->dir, text);
}

/* An integer within the row's bounds. 5.0 and 1e3 count as integers. */
static bool read_integer_in_range(struct dp__study_parser *r, const struct dp__key *k,
				  const struct dp__node *v, double *out)
{
	char shown[DP__PRINTABLE_SIZE];

	if (!dp__expect_number(r, v, k->name, k->doc->type, out))
		return false;
	if (*out == floor(*out) && *out >= k->lo && *out <= k->hi)
		return true;
	dp__report_error(r, v->pos, k->doc->type, "'%s' cannot be %s", k->name,
			 dp__printable(v->text, shown));
	return false;
}

void dp__read_int(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		  void *to)
{
	double x;

	if (read_integer_in_range(r, k, v, &x))
		*(int *)to = (int)x;
}

void dp__read_u32(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		  void *to)
{
	double x;

	if (read_integer_in_range(r, k, v, &x))
		*(uint32_t *)to = (uint32_t)x;
}

void dp__read_seed(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	double x;

	if (read_integer_in_range(r, k, v, &x))
		*(uint64_t *)to = (uint64_t)x;
}

void dp__read_number(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	double x;

	if (dp__expect_number(r, v, k->name, k->doc->type, &x))
		*(double *)to = x;
}

void dp__read_positive(struct dp__study_parser *r, const struct dp__key *k,
		       const struct dp__node *v, void *to)
{
	char shown[DP__PRINTABLE_SIZE];
	double x;

	if (!dp__expect_number(r, v, k->name, k->doc->type, &x))
		return;
	if (x > 0)
		*(double *)to = x;
	else
		dp__report_error(r, v->pos, k->doc->type, "'%s' cannot be %s", k->name,
				 dp__printable(v->text, shown));
}

void dp__read_duration(struct dp__study_parser *r, const struct dp__key *k,
		       const struct dp__node *v, void *to)
{
	static const char forms[] = "a number of seconds, or such as 250ms, 30s, 15m, "
				    "2h30m, 1d";
	const char *text = dp__expect_scalar(r, v, k->name, forms);
	char shown[DP__PRINTABLE_SIZE];
	double x;

	if (!text)
		return;
	if (!dp_duration_parse(text, &x))
		dp__report_error(r, v->pos, forms, "'%s' cannot be '%s'", k->name,
				 dp__printable(text, shown));
	else if (x < k->lo || x > k->hi)
		dp__report_error(r, v->pos, k->doc->type, "'%s' cannot be %s", k->name,
				 dp__printable(text, shown));
	else
		*(double *)to = x;
}

void dp__read_size(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	const char *text = dp__expect_scalar(r, v, k->name, k->doc->type);
	char shown[DP__PRINTABLE_SIZE];
	uint64_t bytes;

	if (text && dp_size_parse(text, &bytes) && (double)bytes >= k->lo)
		*(uint64_t *)to = bytes;
	else if (text)
		dp__report_error(r, v->pos, k->doc->type, "'%s' cannot be '%s'", k->name,
				 dp__printable(text, shown));
}

int dp__expect_word(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		    const char *const *words)
{
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	const char *text;

	for (int i = 0; v->kind == DP__NODE_SCALAR && words[i]; i++)
		if (strcmp(words[i], v->text) == 0)
			return i;
	for (int i = 0; words[i]; i++)
		dp_buf_printf(&allowed, "%s%s", i ? " | " : "", words[i]);
	text = dp__expect_scalar(r, v, name, dp_buf_text(&allowed));
	if (text)
		dp__report_error(r, v->pos, dp_buf_text(&allowed), "'%s' cannot be '%s'%s", name,
				 dp__printable(text, shown), dp__did_you_mean(text, words, guess));
	dp_buf_free(&allowed);
	return -1;
}

void dp__read_enum(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	int i = dp__expect_word(r, v, k->name, k->words);

	/* enums in these structs have the size of an int (asserted in keys.c) */
	if (i >= 0)
		*(int *)to = (int)k->lo + i;
}

void dp__read_bool(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		   void *to)
{
	int i = dp__expect_word(r, v, k->name, k->words);

	if (i >= 0)
		*(bool *)to = i == 1;
}

/* Reads [lo, hi] into two adjacent doubles. Leaves both alone on error. */
void dp__read_bounds(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	double lo, hi, *pair = to;
	bool lo_ok, hi_ok;

	if (!dp__expect_list(r, v, k->name, k->doc->type, 2))
		return;
	if (v->count != 2) {
		dp__report_error(r, v->pos, k->doc->type, "'%s' has only one number", k->name);
		return;
	}
	/* reads both, to report errors in both */
	lo_ok = dp__expect_number(r, v->first_child, k->name, k->doc->type, &lo);
	hi_ok = dp__expect_number(r, v->first_child->next_sibling, k->name, k->doc->type, &hi);
	if (!lo_ok || !hi_ok)
		return;
	if (!(lo < hi)) {
		dp__report_error(r, v->pos, k->doc->type,
				 lo == hi ? "'%s' is empty: both ends are the same; for a single "
					    "value use `fixed`"
					  : "'%s' is reversed: the first number must be the lower",
				 k->name);
		return;
	}
	if (!isfinite(hi - lo)) {
		dp__report_error(r, v->pos, k->doc->type, "'%s' is too wide", k->name);
		return;
	}
	pair[0] = lo;
	pair[1] = hi;
}
