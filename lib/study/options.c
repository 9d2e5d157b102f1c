/* options.c - flat files of `option: value`, read as strictly as study files are. */
#include "study/study_internal.h"

#include <string.h>

/* Nothing but white space and comments? */
static bool option_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '#')
			while (i < len && text[i] != '\n')
				i++;
		else if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
			return false;
	}
	return true;
}

int dp_options_parse(const char *text, size_t len, const char *path, dp_option_fn *set,
		     void *arg, struct dp_problems *problems, struct dp_err *err)
{
	struct dp__read r = { .text = text, .len = len, .problems = problems };
	struct dp__node *root = option_blank(text, len) ? NULL : dp__tree(&r);
	struct dp_err why;

	if (root && root->kind != DP__MAP)
		dp__problem(&r, root->pos, NULL, "each line is 'option: value'");
	for (const struct dp__node *n = root && root->kind == DP__MAP ? root->first
								      : NULL;
	     n; n = n->next) {
		if (n->kind == DP__UNREADABLE)
			continue;
		if (n->kind != DP__SCALAR)
			dp__problem(&r, n->pos, NULL, "an option has one value");
		else if (set(arg, n->key, n->text, &why) != DP_OK)
			dp__problem(&r, n->key_pos, NULL, "%s", why.msg);
	}
	dp__tree_free(&r);
	dp__problems_sort(problems);
	if (r.nomem)
		dp_problems_free(problems); /* what was read is not whole */
	if (r.nomem)
		return dp_fail(err, DP_E_NOMEM, "no memory to read %s", path);
	if (problems->errors)
		return dp_fail(err, DP_E_INVALID, "%s has %zu mistake%s", path,
			       problems->errors, problems->errors == 1 ? "" : "s");
	return DP_OK;
}
