/* config_file.c - reads `option: value` files as strictly as study files. */
#include "study/parse/study_parse_internal.h"

#include "base/json.h"
#include "study/config_file.h"
#include "study/diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* True if it has only white space and comments. */
static bool config_is_blank(const char *text, size_t len)
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

/* The value as JSON with every scalar as text. */
static json_t *config_node_to_json(const struct dp__node *v)
{
	json_t *out;

	if (v->kind == DP__NODE_SCALAR)
		return json_string(v->text);
	out = v->kind == DP__NODE_LIST ? json_array() : json_object();
	for (const struct dp__node *n = v->first_child; n; n = n->next_sibling) {
		if (v->kind == DP__NODE_LIST)
			json_array_append_new(out, config_node_to_json(n));
		else
			json_object_set_new(out, n->key, config_node_to_json(n));
	}
	return out;
}

/* The member that "[1]" or ".on" at the start of *path names, or NULL. Advances *path. */
static const struct dp__node *config_find_member(const struct dp__node *v, const char **path)
{
	const struct dp__node *n = v->first_child;
	size_t len = strcspn(*path + 1, ".[] ");
	char *end = NULL;

	if (**path == '[' && v->kind == DP__NODE_LIST) {
		for (unsigned long i = strtoul(*path + 1, &end, 10); n && i > 0; i--)
			n = n->next_sibling;
		*path = end + (*end == ']');
		return n;
	}
	if (**path != '.' || v->kind != DP__NODE_MAP)
		return NULL;
	while (n && (strncmp(n->key, *path + 1, len) != 0 || n->key[len]))
		n = n->next_sibling;
	*path += 1 + len;
	return n;
}

/* The place of an error that begins with a path into the value, "hooks[1].on ...". */
static size_t config_error_position(const struct dp__node *v, const char *sentence)
{
	size_t len = strlen(v->key);
	const struct dp__node *n;

	if (strncmp(sentence, v->key, len) != 0)
		return v->pos;
	sentence += len;
	while ((n = config_find_member(v, &sentence)) != NULL)
		v = n;
	return v->pos;
}

static void config_set_tree(struct dp__study_parser *r, const struct dp__node *v,
			    dp_config_set_fn *set_tree, void *arg)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err why;
	json_t *tree = config_node_to_json(v);

	dp_json_dump(&text, tree, 0);
	if (set_tree(arg, v->key, dp_buf_text(&text), &why) != DP_OK)
		dp__report_error(r, config_error_position(v, why.msg), NULL, "%s", why.msg);
	json_decref(tree);
	dp_buf_free(&text);
}

int dp_config_parse(const char *text, size_t len, const char *path, dp_config_set_fn *set,
		    dp_config_set_fn *set_tree, void *arg, struct dp_diagnostics *diagnostics,
		    struct dp_err *err)
{
	struct dp__study_parser r = { .text = text, .len = len, .diagnostics = diagnostics };
	struct dp__node *root = config_is_blank(text, len) ? NULL : dp__tree_parse(&r);
	struct dp_err why;

	if (root && root->kind != DP__NODE_MAP)
		dp__report_error(&r, root->pos, NULL, "each line is 'option: value'");
	for (const struct dp__node *n = root && root->kind == DP__NODE_MAP ? root->first_child
									   : NULL;
	     n; n = n->next_sibling) {
		if (n->kind == DP__NODE_INVALID)
			continue;
		if (n->kind != DP__NODE_SCALAR)
			config_set_tree(&r, n, set_tree, arg);
		else if (set(arg, n->key, n->text, &why) != DP_OK)
			dp__report_error(&r, n->key_pos, NULL, "%s", why.msg);
	}
	dp__tree_free(&r);
	dp__diagnostics_sort(diagnostics);
	if (diagnostics->error_count)
		return dp_fail(err, DP_E_INVALID, "%s has %zu mistake%s", path,
			       diagnostics->error_count, diagnostics->error_count == 1 ? "" : "s");
	return DP_OK;
}
