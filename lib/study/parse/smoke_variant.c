/* smoke_variant.c - the smoke variant of a study: one trial with one run.
 *
 * Writes the tree as JSON, which is YAML, with other values in a few places. */
#include "study/parse/study_parse_internal.h"

#include "base/json.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <string.h>

/* The replaced values, as JSON. The whole section `search` is replaced. */
static const struct {
	const char *key, *value;
} once_trainer[] = {
	{ "runs", "1" },
	{ "retries", "0" },
};
static const char once_search[] = "{\"method\":\"random\",\"evaluations\":1}";

static void smoke_write_string(struct dp_buf *out, const char *text)
{
	json_t *v = json_string(text);

	dp_json_dump(out, v, 0);
	json_decref(v);
}

static void smoke_write_node(struct dp_buf *out, const struct dp__node *v);

static void smoke_write_key(struct dp_buf *out, const char *key, bool *first)
{
	dp_buf_puts(out, *first ? "" : ",");
	*first = false;
	smoke_write_string(out, key);
	dp_buf_putc(out, ':');
	dp_buf_putc(out, ' '); /* YAML needs the space before a plain value */
}

static void smoke_write_children(struct dp_buf *out, const struct dp__node *v)
{
	bool first = true;

	for (const struct dp__node *m = v->first_child; m; m = m->next_sibling) {
		if (v->kind == DP__NODE_MAP)
			smoke_write_key(out, m->key, &first);
		else if (m != v->first_child)
			dp_buf_putc(out, ',');
		smoke_write_node(out, m);
	}
}

/* Writes plain numbers and the like as they are and quotes other texts. */
static void smoke_write_node(struct dp_buf *out, const struct dp__node *v)
{
	if (v->kind == DP__NODE_SCALAR) {
		if (dp__scalar_type_of(v) == DP__SCALAR_STRING || !*v->text)
			smoke_write_string(out, v->text);
		else
			dp_buf_puts(out, v->text);
		return;
	}
	dp_buf_putc(out, v->kind == DP__NODE_LIST ? '[' : '{');
	smoke_write_children(out, v);
	dp_buf_putc(out, v->kind == DP__NODE_LIST ? ']' : '}');
}

static void smoke_write_trainer(struct dp_buf *out, const struct dp__node *trainer)
{
	bool first = true, ours;

	dp_buf_putc(out, '{');
	for (const struct dp__node *m = trainer->first_child; m; m = m->next_sibling) {
		ours = false;
		for (size_t i = 0; i < DP_COUNT(once_trainer); i++)
			ours |= strcmp(m->key, once_trainer[i].key) == 0;
		if (ours)
			continue;
		smoke_write_key(out, m->key, &first);
		smoke_write_node(out, m);
	}
	for (size_t i = 0; i < DP_COUNT(once_trainer); i++) {
		smoke_write_key(out, once_trainer[i].key, &first);
		dp_buf_puts(out, once_trainer[i].value);
	}
	dp_buf_putc(out, '}');
}

int dp_study_smoke_variant(const char *text, size_t len, struct dp_buf *out, struct dp_err *err)
{
	struct dp_diagnostics diagnostics = { 0 };
	struct dp__study_parser r = { .text = text, .len = len, .diagnostics = &diagnostics };
	const struct dp__node *top = dp__tree_parse(&r);
	bool first = true;

	dp_buf_putc(out, '{');
	for (const struct dp__node *m = top ? top->first_child : NULL; m; m = m->next_sibling) {
		smoke_write_key(out, m->key, &first);
		if (strcmp(m->key, "trainer") == 0)
			smoke_write_trainer(out, m);
		else if (strcmp(m->key, "search") == 0)
			dp_buf_puts(out, once_search);
		else
			smoke_write_node(out, m);
	}
	dp_buf_puts(out, "}\n");
	dp__tree_free(&r);
	dp_diagnostics_free(&diagnostics);
	return top ? DP_OK : dp_fail(err, DP_E_INVALID, "the study file cannot be read");
}
