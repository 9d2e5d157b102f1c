/* options.c - files of `option: value`, read as strictly as study files are. */
#include "study/study_internal.h"

#include "base/json.h"

#include <stdlib.h>
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

/* The value as JSON, every scalar a text; NULL without memory. */
static json_t *option_json(const struct dp__node *v)
{
	json_t *out, *member;
	bool whole = true;

	if (v->kind == DP__SCALAR)
		return json_string(v->text);
	out = v->kind == DP__LIST ? json_array() : json_object();
	for (const struct dp__node *n = v->first; out && whole && n; n = n->next) {
		member = option_json(n);
		whole = (v->kind == DP__LIST ? json_array_append_new(out, member)
					     : json_object_set_new(out, n->key, member)) == 0;
	}
	if (whole)
		return out;
	json_decref(out);
	return NULL;
}

/* The member that "[1]" or ".on" at the beginning of *path names, and *path moved behind
 * it; NULL if there is none. */
static const struct dp__node *option_member(const struct dp__node *v, const char **path)
{
	const struct dp__node *n = v->first;
	size_t len = strcspn(*path + 1, ".[] ");
	char *end = NULL;

	if (**path == '[' && v->kind == DP__LIST) {
		for (unsigned long i = strtoul(*path + 1, &end, 10); n && i > 0; i--)
			n = n->next;
		*path = end + (*end == ']');
		return n;
	}
	if (**path != '.' || v->kind != DP__MAP)
		return NULL;
	while (n && (strncmp(n->key, *path + 1, len) != 0 || n->key[len]))
		n = n->next;
	*path += 1 + len;
	return n;
}

/* Where a sentence belongs that begins with a path into the value, "hooks[1].on ...". */
static size_t option_place(const struct dp__node *v, const char *sentence)
{
	size_t len = strlen(v->key);
	const struct dp__node *n;

	if (strncmp(sentence, v->key, len) != 0)
		return v->pos;
	sentence += len;
	while ((n = option_member(v, &sentence)) != NULL)
		v = n;
	return v->pos;
}

/* An option whose value is a list or a map. */
static void option_tree(struct dp__read *r, const struct dp__node *v, dp_option_fn *set_tree,
			void *arg)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err why;
	json_t *tree = option_json(v);

	if (tree)
		dp_json_dump(&text, tree, 0);
	if (!tree || text.failed)
		r->nomem = true;
	else if (set_tree(arg, v->key, dp_buf_text(&text), &why) != DP_OK)
		dp__problem(r, option_place(v, why.msg), NULL, "%s", why.msg);
	json_decref(tree);
	dp_buf_free(&text);
}

int dp_options_parse(const char *text, size_t len, const char *path, dp_option_fn *set,
		     dp_option_fn *set_tree, void *arg, struct dp_problems *problems,
		     struct dp_err *err)
{
	struct dp__read r = { .text = text, .len = len, .problems = problems };
	struct dp__node *root = option_blank(text, len) ? NULL : dp__tree(&r);
	struct dp_err why;

	if (root && root->kind != DP__MAP)
		dp__problem(&r, root->pos, NULL, "each line is 'option: value'");
	for (const struct dp__node *n = root && root->kind == DP__MAP ? root->first : NULL; n;
	     n = n->next) {
		if (n->kind == DP__UNREADABLE)
			continue;
		if (n->kind != DP__SCALAR)
			option_tree(&r, n, set_tree, arg);
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
		return dp_fail(err, DP_E_INVALID, "%s has %zu mistake%s", path, problems->errors,
			       problems->errors == 1 ? "" : "s");
	return DP_OK;
}
