/* trainer_options.c - parses the command lines of all trainers and prints their help. */
#include "trainers/trainers.h"

#include "base/json.h"
#include "base/units.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum option_kind {
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_NUMBER,  /* between lo and hi, exclusive */
	OPTION_INTEGER, /* from lo to hi */
	OPTION_WORD,
	OPTION_SET_PARAM,
};

struct option_spec {
	const char *name, *value_hint, *help;
	unsigned groups; /* OPTIONS_* */
	enum option_kind kind;
	size_t offset; /* in struct trainer_options */
	double lo, hi;
	const char *const *words;
};

const char *const optimizer_words[] = { "sgd", "adam", NULL };
const char *const model_words[] = { "logistic", "svm", NULL };
static const char *const samplings[] = { "without-replacement", "poisson", NULL };

#define AT(member) offsetof(struct trainer_options, member)
#define FLAG(member, groups, name, help)                                                           \
	{                                                                                          \
		name, NULL, help, groups, OPTION_FLAG, AT(member), 0, 0, NULL                      \
	}
#define TEXT(member, groups, name, hint, help)                                                     \
	{                                                                                          \
		name, hint, help, groups, OPTION_TEXT, AT(member), 0, 0, NULL                      \
	}
#define WORD(member, words, groups, name, help)                                                    \
	{                                                                                          \
		name, "WORD", help, groups, OPTION_WORD, AT(member), 0, 0, words                   \
	}
#define NUMBER(member, lo, hi, groups, name, hint, help)                                           \
	{                                                                                          \
		name, hint, help, groups, OPTION_NUMBER, AT(member), lo, hi, NULL                  \
	}
#define INTEGER(member, lo, hi, groups, name, help)                                                \
	{                                                                                          \
		name, "N", help, groups, OPTION_INTEGER, AT(member), lo, hi, NULL                  \
	}

static const struct option_spec option_specs[] = {
	TEXT(data.name, OPTIONS_DATA, "data", "NAME|PATH",
	     "adult, adult-a9a, mnist, census, or a file; needed"),
	TEXT(data.test, OPTIONS_DATA, "test", "PATH", "the test file, where --data is a file"),
	TEXT(data.dir, OPTIONS_DATA, "data-dir", "PATH",
	     "where named data sets are looked for first"),
	TEXT(data.label_column, OPTIONS_DATA, "label-column", "COLUMN",
	     "CSV: its name or number (default: the last)"),
	FLAG(data.no_cache, OPTIONS_DATA, "no-cache",
	     "neither read nor write the cache of parsed data"),
	NUMBER(data.holdout, 0, 1, OPTIONS_DATA, "holdout", "SHARE",
	       "score on this share of the training records"),
	INTEGER(data.split_seed, 0, 0x1p53 - 1, OPTIONS_DATA, "split-seed",
		"which records are held out (default 0)"),
	WORD(model, model_words, OPTIONS_LINEAR, "model", "logistic (default) or svm"),
	TEXT(report, OPTIONS_LINEAR, "report", "gap:FEATURE",
	     "also tell how accuracies differ by this feature"),
	TEXT(hidden, OPTIONS_MLP, "hidden", "N,N...",
	     "sizes of the hidden layers (default 128,64)"),
	WORD(optimizer, optimizer_words, OPTIONS_SGD, "optimizer", "sgd (default) or adam"),
	WORD(sampling, samplings, OPTIONS_SGD, "sampling",
	     "without-replacement (default) or poisson"),
	FLAG(no_clip, OPTIONS_SGD, "no-clip", "do not clip gradients: no privacy"),
	FLAG(no_noise, OPTIONS_SGD, "no-noise", "add no noise: no privacy"),
	FLAG(no_privacy, OPTIONS_SGD, "no-privacy", "both of these"),
	NUMBER(norm_bound, 0, INFINITY, OPTIONS_OUTPUT, "norm-bound", "NUMBER",
	       "public bound on the norm of rows, bias included"),
	INTEGER(passes, 1, 1000000, OPTIONS_OUTPUT, "passes",
		"passes over the records (default 10)"),
	FLAG(secure, OPTIONS_DATA, "secure", "noise that nobody can repeat, keyed by the system"),
	INTEGER(queries, 1, 10000000, OPTIONS_SVT, "queries", "how many queries (default 100)"),
	INTEGER(ones, 0, 10000000, OPTIONS_SVT, "ones", "how many of them are one (default 10)"),
	{ "set", "NAME=VALUE", "by hand: a parameter, without a study", OPTIONS_ALL,
	  OPTION_SET_PARAM, AT(set_params), 0, 0, NULL },
	TEXT(checkpoints, OPTIONS_SGD, "path", "N,N...",
	     "by hand: epochs whose results are told on the way"),
	INTEGER(runs, 1, 10000, OPTIONS_ALL, "runs", "by hand: how many runs (default 1)"),
	INTEGER(seed, 0, 0x1p53 - 1, OPTIONS_ALL, "seed", "by hand: the seed (default 0)"),
};

static bool option_applies_to_trainer(const struct trainer *t, const struct option_spec *k)
{
	return (t->option_groups | OPTIONS_ALL) & k->groups;
}

/* ---- values ---- */

static int option_parse_number(const struct option_spec *k, const char *text, double *out,
			       struct dp_err *err)
{
	char lo[DP_NUM_LEN], hi[DP_NUM_LEN];
	double x;

	if (dp_num_parse(text, &x) && x > k->lo && x < k->hi) {
		*out = x;
		return DP_OK;
	}
	if (isinf(k->hi))
		return dp_fail(err, DP_E_USAGE, "--%s must be a number above %s, not '%s'", k->name,
			       dp_num_text(k->lo, lo), text);
	return dp_fail(err, DP_E_USAGE, "--%s must be between %s and %s, not '%s'", k->name,
		       dp_num_text(k->lo, lo), dp_num_text(k->hi, hi), text);
}

static int option_parse_integer(const struct option_spec *k, const char *text, int64_t *out,
				struct dp_err *err)
{
	int64_t lo = (int64_t)k->lo, hi = (int64_t)k->hi, x;

	if (!dp_int_parse(text, &x) || x < lo || x > hi)
		return dp_fail(err, DP_E_USAGE,
			       "--%s must be a whole number from %lld to %lld, not '%s'", k->name,
			       (long long)lo, (long long)hi, text);
	*out = x;
	return DP_OK;
}

/* Adds NAME=VALUE to the object, as a number if it is one. */
static int option_parse_set(const char *text, json_t **set, struct dp_err *err)
{
	const char *equals = strchr(text, '=');
	char name[DP_NAME_MAX + 1] = "";
	int64_t whole;
	double real;
	json_t *value;

	if (equals && equals - text <= DP_NAME_MAX)
		memcpy(name, text, (size_t)(equals - text));
	if (!dp_name_ok(name))
		return dp_fail(err, DP_E_USAGE, "--set needs NAME=VALUE, not '%s'", text);
	if (dp_int_parse(equals + 1, &whole))
		value = json_integer(whole);
	else if (dp_num_parse(equals + 1, &real) && isfinite(real))
		value = json_real(real);
	else
		value = json_string(equals + 1);
	if (!value)
		return dp_fail(err, DP_E_USAGE, "the value of --set %s is not UTF-8", name);
	if (!*set)
		*set = json_object();
	json_object_set_new(*set, name, value);
	return DP_OK;
}

static int option_parse_value(const struct option_spec *k, const char *text,
			      struct trainer_options *o, struct dp_err *err)
{
	void *at = (char *)o + k->offset;
	int *word = at;

	switch (k->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		return DP_OK;
	case OPTION_TEXT:
		*(const char **)at = text;
		return DP_OK;
	case OPTION_NUMBER:
		return option_parse_number(k, text, at, err);
	case OPTION_INTEGER:
		return option_parse_integer(k, text, at, err);
	case OPTION_WORD:
		for (*word = 0; k->words[*word]; ++*word)
			if (strcmp(k->words[*word], text) == 0)
				return DP_OK;
		return dp_fail(err, DP_E_USAGE, "--%s is %s, not '%s'", k->name, k->help, text);
	default:
		return option_parse_set(text, at, err);
	}
}

/* ---- the command line ---- */

int trainer_options_parse(const struct trainer *t, int argc, char **argv, struct trainer_options *o,
			  struct dp_err *err)
{
	struct option list[DP_COUNT(option_specs) + 1] = { 0 };
	size_t n = 0;
	int i, code = DP_OK;

	*o = (struct trainer_options){ .hidden = "128,64",
				       .norm_bound = NAN,
				       .passes = 10,
				       .queries = 100,
				       .ones = 10,
				       .runs = 1 };
	/* the value of a getopt option is its index in option_specs */
	for (size_t k = 0; k < DP_COUNT(option_specs); k++)
		if (option_applies_to_trainer(t, &option_specs[k]))
			list[n++] = (struct option){ option_specs[k].name,
						     option_specs[k].kind == OPTION_FLAG
							     ? no_argument
							     : required_argument,
						     NULL, (int)k };
	optind = 0; /* restart getopt */
	opterr = 0;
	while (code == DP_OK && (i = getopt_long(argc, argv, "", list, NULL)) != -1) {
		if (i == '?')
			return dp_fail(err, DP_E_USAGE,
				       "'%s' is not an option of %s, or lacks its value",
				       argv[optind - 1], t->name);
		code = option_parse_value(&option_specs[i], optarg, o, err);
	}
	if (code != DP_OK)
		return code;
	if (optind < argc)
		return dp_fail(err, DP_E_USAGE, "%s takes no argument such as '%s'", t->name,
			       argv[optind]);
	if ((t->option_groups & OPTIONS_DATA) && !o->data.name) {
		dp_fail(err, DP_E_USAGE, "%s needs --data", t->name);
		return dp_hint(err, "'--data census' needs no file.");
	}
	if (o->ones > o->queries)
		return dp_fail(err, DP_E_USAGE, "--ones %lld is more than --queries %lld",
			       (long long)o->ones, (long long)o->queries);
	return DP_OK;
}

void trainer_options_clear(struct trainer_options *o)
{
	json_decref(o->set_params);
	o->set_params = NULL;
}

void trainer_options_print_help(const struct trainer *t, FILE *to)
{
	fprintf(to, "usage: dpareto-train %s [OPTION...]\n\n%s\n", t->name, t->about);
	for (size_t i = 0; i < DP_COUNT(option_specs); i++) {
		char left[40];

		if (!option_applies_to_trainer(t, &option_specs[i]))
			continue;
		snprintf(left, sizeof left, "--%s%s%s", option_specs[i].name,
			 option_specs[i].value_hint ? " " : "",
			 option_specs[i].value_hint ? option_specs[i].value_hint : "");
		fprintf(to, "  %-22s  %s\n", left, option_specs[i].help);
	}
	fprintf(to, "\n%s", t->params_help);
}
