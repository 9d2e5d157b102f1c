/* composition_file.c - computes the epsilon or delta of a composition read from a file. */
#include "ctl/support/composition_file.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_output.h"
#include "privacy/privacy.h"
#include "study/config_file.h"
#include "study/diagnostics.h"
#include "study/study.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Converts strings that are numbers, because YAML values arrive as text. */
static json_t *json_parse_number_strings(const json_t *v)
{
	json_t *out, *member;
	const char *key;
	double number;
	size_t i;

	if (json_is_string(v))
		return dp_num_parse(json_string_value(v), &number)
			       ? dp_json_real(number)
			       : json_string(json_string_value(v));
	out = json_is_array(v) ? json_array() : json_object();
	json_array_foreach (v, i, member)
		json_array_append_new(out, json_parse_number_strings(member));
	json_object_foreach ((json_t *)v, key, member)
		json_object_set_new(out, key, json_parse_number_strings(member));
	return out;
}

static int on_composition_scalar(void *arg, const char *name, const char *text, struct dp_err *err)
{
	json_t *value = json_string(text);

	(void)err;
	json_object_set_new(arg, name, json_parse_number_strings(value));
	json_decref(value);
	return DP_OK;
}

static int on_composition_tree(void *arg, const char *name, const char *text, struct dp_err *err)
{
	json_t *tree = NULL;
	int code = dp_json_parse(text, strlen(text), &tree, err);

	if (code == DP_OK)
		json_object_set_new(arg, name, json_parse_number_strings(tree));
	json_decref(tree);
	return code;
}

/* Reads the file as one object. Lists YAML errors with their positions. */
static int composition_read_file(struct ctl *ctl, const char *path, json_t *query,
				 struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT, listing = DP_BUF_INIT;
	struct dp_diagnostics problems = { 0 };
	int code = dp_read_file(path, DP_STUDY_TEXT_MAX, &text, err);

	if (code == DP_OK)
		code = dp_config_parse(dp_buf_text(&text), text.len, path, on_composition_scalar,
				       on_composition_tree, query, &problems, err);
	if (problems.count && ctl->format != CTL_JSON) {
		dp_diagnostics_format(&problems, path, dp_buf_text(&text), text.len, &listing);
		ctl_print_stderr(ctl, dp_buf_text(&listing));
	}
	dp_diagnostics_free(&problems);
	dp_buf_free(&text);
	dp_buf_free(&listing);
	return code;
}

/* Refuses unknown keys: ignoring one would compute the epsilon of another composition. */
static int composition_check_keys(const json_t *query, const struct dp_privacy_composition *c,
				  struct dp_err *err)
{
	const json_t *list = json_object_get(query, "compose");
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)query, name, v) {
		if (strcmp(name, "compose") == 0 || strcmp(name, "delta") == 0 ||
		    strcmp(name, "accountant") == 0)
			continue;
		dp_fail(err, DP_E_INVALID, "a composition has no key '%.64s'", name);
		return dp_hint(err, "its keys are compose, delta and accountant");
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct dp_mechanism *m = c->items[i].mechanism;

		json_object_foreach (json_array_get(list, i), name, v) {
			if (strcmp(name, "mechanism") == 0 || strcmp(name, "times") == 0 ||
			    dp_privacy_key_find(m, name))
				continue;
			dp_fail(err, DP_E_INVALID, "compose[%zu]: mechanism %s has no key '%.64s'",
				i, m->name, name);
			return dp_hint(err,
				       "'dparetoctl explain %s' lists its keys; "
				       "'times' may stand beside them",
				       m->name);
		}
	}
	return DP_OK;
}

static void composition_print_answer(struct ctl *ctl, const struct dp_privacy_composition *c,
				     double at_epsilon, const struct dp_epsilon *e)
{
	char epsilon[DP_NUM_LEN], delta[DP_NUM_LEN], times[DP_NUM_LEN];
	struct dp_privacy_description words;
	json_t *answer;

	if (ctl->format == CTL_JSON) {
		answer = dp_epsilon_to_json(e);
		ctl_print_json(ctl, answer);
		json_decref(answer);
		return;
	}
	dp_num_text(e->delta, delta);
	if (isnan(at_epsilon))
		ctl_printf(ctl, "epsilon %s at delta %s (%s)\n", dp_num_text(e->epsilon, epsilon),
			   delta, e->accountant);
	else
		ctl_printf(ctl, "delta %s at epsilon %s (%s)\n", delta,
			   dp_num_text(at_epsilon, epsilon), e->accountant);
	ctl_printf(ctl, "\nholds for all of these on the same data\n");
	for (size_t i = 0; i < c->n; i++) {
		dp_privacy_describe(c->items[i].mechanism, c->values[i], &words);
		ctl_printf(ctl, "  %s x %s, neighbours: %s\n",
			   dp_num_text(c->items[i].times, times), c->items[i].mechanism->name,
			   words.relation);
	}
}

int ctl_print_composition_file(struct ctl *ctl, const char *path, double at_epsilon,
			       struct dp_err *err)
{
	struct dp_privacy_composition c = { 0 };
	json_t *query = json_object();
	struct dp_epsilon e;
	int code = composition_read_file(ctl, path, query, err);

	/* the delta is the answer, so the file may omit it */
	if (code == DP_OK && !isnan(at_epsilon) && !json_object_get(query, "delta"))
		json_object_set_new(query, "delta", json_real(0));
	if (code == DP_OK) {
		code = dp_privacy_composition_parse(query, &c, err);
		if (code == DP_OK)
			code = composition_check_keys(query, &c, err);
		if (code != DP_OK)
			dp_err_prefix(err, "%s", path);
	}
	if (code == DP_OK)
		code = isnan(at_epsilon) ? dp_privacy_composition_epsilon(&c, &e, err)
					 : dp_privacy_composition_delta(&c, at_epsilon, &e, err);
	if (code == DP_OK)
		composition_print_answer(ctl, &c, at_epsilon, &e);
	dp_privacy_composition_free(&c);
	json_decref(query);
	return code;
}
