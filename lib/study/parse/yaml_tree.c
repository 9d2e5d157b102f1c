/* yaml_tree.c - parses the text of a study file into a tree of nodes with positions.
 *
 * Uses libfyaml's events, not its documents. So anchors, tags, duplicate keys and deep nesting are
 * refused while reading, before they cost memory. */
#include "study/parse/study_parse_internal.h"

#include "base/units.h"
#include "base/utf8.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

enum {
	TREE_DEPTH_MAX = 16,      /* the deepest key has depth five */
	NODE_CHILDREN_MAX = 1024, /* of one list or map */
	ARENA_CHUNK_SIZE = 8192
};

struct dp__arena_chunk {
	struct dp__arena_chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

/* Memory with the lifetime of the tree. */
static void *arena_alloc(struct dp__study_parser *r, size_t n)
{
	struct dp__arena_chunk *c = r->arena;
	size_t size;
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (!c || c->size - c->used < n) {
		size = n > ARENA_CHUNK_SIZE ? n : ARENA_CHUNK_SIZE;
		c = dp_malloc(sizeof *c + size);
		*c = (struct dp__arena_chunk){ r->arena, 0, size };
		r->arena = c;
	}
	p = c->data + c->used;
	c->used += n;
	return p;
}

void dp__tree_free(struct dp__study_parser *r)
{
	while (r->arena) {
		struct dp__arena_chunk *next = r->arena->next;

		free(r->arena);
		r->arena = next;
	}
}

const struct dp__node *dp__map_get(const struct dp__node *map, const char *key)
{
	const struct dp__node *m = NULL;

	if (map && map->kind == DP__NODE_MAP)
		for (m = map->first_child; m && strcmp(m->key, key) != 0;)
			m = m->next_sibling;
	return m;
}

/* ---- scalars ---- */

static bool is_one_of(const char *s, const char *const *list)
{
	while (*list && strcmp(*list, s) != 0)
		list++;
	return *list != NULL;
}

static bool all_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0';
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_real_text(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-' || *s == '+';
	whole = strspn(s, "0123456789");
	s += whole;
	if (*s == '.') {
		part = strspn(++s, "0123456789");
		s += part;
	}
	if (whole + part == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		return all_digits(s);
	}
	return *s == '\0';
}

enum dp__scalar_type dp__scalar_type_of(const struct dp__node *v)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const bools[] = {
		"true", "True", "TRUE", "false", "False", "FALSE", NULL
	};
	static const char *const specials[] = { ".inf",  ".Inf",  ".INF",  "-.inf", "-.Inf",
						"-.INF", "+.inf", "+.Inf", "+.INF", ".nan",
						".NaN",  ".NAN",  NULL };
	const char *s = v->text;

	if (!v->is_plain)
		return DP__SCALAR_STRING;
	if (is_one_of(s, nulls))
		return DP__SCALAR_NULL;
	if (is_one_of(s, bools))
		return DP__SCALAR_BOOL;
	if (all_digits(s + (*s == '-' || *s == '+')))
		return DP__SCALAR_INT;
	return is_real_text(s) || is_one_of(s, specials) ? DP__SCALAR_REAL : DP__SCALAR_STRING;
}

/* ---- checks before libfyaml sees the text ---- */

size_t dp__utf8_printable_len(const char *text, size_t n)
{
	uint32_t c;
	size_t k = dp_utf8_decode(text, n, &c);

	if (k == 0 || c == '\t' || c == '\n' || c == '\r')
		return k;
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ? 0 : k;
}

static bool check_text_encoding(struct dp__study_parser *r)
{
	char have[DP_NUM_LEN], max[DP_NUM_LEN];

	if (r->len > DP_STUDY_TEXT_MAX) {
		dp__report_error_at(r, 0, 0,
				    "the file is too large: %s, but a study file has "
				    "at most %s",
				    dp_size_text(r->len, have),
				    dp_size_text(DP_STUDY_TEXT_MAX, max));
		return false;
	}
	for (size_t i = 0, n; i < r->len; i += n) {
		n = dp__utf8_printable_len(r->text + i, r->len - i);
		if (n)
			continue;
		dp__report_error(r, i, "UTF-8 text without control characters",
				 "this is not text: byte 0x%02x",
				 (unsigned)(unsigned char)r->text[i]);
		return false;
	}
	return true;
}

/* ---- the tree ---- */

struct tree_builder {
	struct dp__study_parser *parser_state;
	struct fy_parser *parser;
	struct dp__node *root;
	struct dp__node *open_nodes[TREE_DEPTH_MAX], *last_children[TREE_DEPTH_MAX];
	const char *pending_keys[TREE_DEPTH_MAX]; /* read, waiting for its value */
	size_t pending_key_pos[TREE_DEPTH_MAX];
	size_t depth, documents;
	struct dp_buf scratch;
	bool stop;
};

static size_t yaml_token_pos(struct fy_token *t, size_t default_pos)
{
	const struct fy_mark *m = t ? fy_token_start_mark(t) : NULL;

	return m ? m->input_pos : default_pos;
}

static size_t yaml_event_pos(struct tree_builder *b, struct fy_event *e)
{
	const struct fy_mark *m = fy_event_start_mark(e);

	if (m)
		return m->input_pos;
	return b->depth ? b->open_nodes[b->depth - 1]->pos : 0;
}

static void refuse_anchor_and_tag(struct tree_builder *b, struct fy_token *anchor,
				  struct fy_token *tag)
{
	if (anchor) /* the mark follows the sign */
		dp__report_error(b->parser_state, yaml_token_pos(anchor, 1) - 1, NULL,
				 "anchors (&name), aliases (*name) and merge keys (<<) are not "
				 "used in study files; write the value out");
	if (tag)
		dp__report_error(b->parser_state, yaml_token_pos(tag, 0), NULL,
				 "tags (!name) are not used in study files; quote a value to "
				 "make it a text");
}

/* The text of a scalar, valid until the next call. fy_token_get_text() of libfyaml 0.7.12 leaks for
 * quoted text with many escapes; iterating over its pieces does not. */
static const char *yaml_token_text(struct tree_builder *b, struct fy_token *t, size_t *len)
{
	const struct fy_iter_chunk *piece = NULL;
	struct fy_token_iter *iter;
	int failed = 0;

	if (fy_token_scalar_style(t) == FYSS_PLAIN) {
		const char *text = fy_token_get_text(t, len);

		if (!text)
			dp_out_of_memory();
		return text;
	}
	iter = fy_token_iter_create(t);
	if (!iter)
		dp_out_of_memory();
	dp_buf_clear(&b->scratch);
	while ((piece = fy_token_iter_chunk_next(iter, piece, &failed)) != NULL)
		dp_buf_add(&b->scratch, piece->str, piece->len);
	fy_token_iter_destroy(iter);
	*len = b->scratch.len;
	if (failed)
		dp_out_of_memory();
	return dp_buf_text(&b->scratch);
}

/* The text of a scalar, copied into the tree's memory. NULL with a diagnostic. */
static const char *tree_copy_text(struct tree_builder *b, struct fy_token *t, size_t pos)
{
	size_t len = 0;
	const char *text = t ? yaml_token_text(b, t, &len) : "";
	char *copy;

	for (size_t i = 0; i < len;) {
		size_t n = dp__utf8_printable_len(text + i, len - i);

		/* an escape such as "\0" or "\ud800" cannot be an argument of a program; other
		 * control characters are left to the trainer */
		if (n == 0 && (text[i] == '\0' || (unsigned char)text[i] >= 0x80)) {
			dp__report_error(b->parser_state, pos, NULL,
					 "this text holds a NUL or a broken character");
			return NULL;
		}
		i += n ? n : 1;
	}
	copy = arena_alloc(b->parser_state, len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static int compare_node_keys(const void *a, const void *b)
{
	const struct dp__node *x = *(struct dp__node *const *)a;
	const struct dp__node *y = *(struct dp__node *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->key_pos > y->key_pos) - (x->key_pos < y->key_pos);
}

/* Reports duplicate keys and removes the later ones. */
static void drop_duplicate_keys(struct tree_builder *b, struct dp__node *map)
{
	struct dp__node **all = dp_malloc((map->count + 1) * sizeof *all), *m, **link;
	char shown[DP__PRINTABLE_SIZE];
	size_t n = 0, first = 0;
	int line = 0, column;

	for (m = map->first_child; m; m = m->next_sibling)
		all[n++] = m;
	qsort(all, n, sizeof *all, compare_node_keys);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(all[i]->key, all[first]->key) != 0) {
			first = i;
			continue;
		}
		if (!dp__diagnostics_full(b->parser_state))
			dp__line_and_column(b->parser_state->text, b->parser_state->len,
					    all[first]->key_pos, &line, &column);
		dp__report_error(b->parser_state, all[i]->key_pos, NULL,
				 "key '%s' is given twice; the first is in line %d",
				 dp__printable(all[i]->key, shown), line);
		all[i]->is_duplicate = true;
	}
	free(all);
	for (link = &map->first_child; *link;) {
		if ((*link)->is_duplicate) {
			*link = (*link)->next_sibling;
			map->count--;
		} else {
			link = &(*link)->next_sibling;
		}
	}
}

static struct dp__node *node_attach(struct tree_builder *b, enum dp__node_kind kind, size_t pos)
{
	struct dp__node *v = arena_alloc(b->parser_state, sizeof *v), *parent;
	size_t top = b->depth - 1;

	*v = (struct dp__node){ .kind = kind, .pos = pos, .text = "", .key = "" };
	if (b->depth == 0) {
		b->root = v;
		return v;
	}
	parent = b->open_nodes[top];
	if (parent->kind == DP__NODE_MAP) {
		v->key = b->pending_keys[top];
		v->key_pos = b->pending_key_pos[top];
		b->pending_keys[top] = NULL;
	}
	*(b->last_children[top] ? &b->last_children[top]->next_sibling : &parent->first_child) = v;
	b->last_children[top] = v;
	if (++parent->count > NODE_CHILDREN_MAX) {
		dp__report_error(b->parser_state, pos, NULL,
				 "this list or map is too long; none in a study file has more "
				 "than %d entries",
				 NODE_CHILDREN_MAX);
		b->stop = true;
	}
	return v;
}

static bool builder_expects_key(const struct tree_builder *b)
{
	return b->depth && b->open_nodes[b->depth - 1]->kind == DP__NODE_MAP &&
	       !b->pending_keys[b->depth - 1];
}

static void node_start(struct tree_builder *b, struct fy_event *e, enum dp__node_kind kind)
{
	size_t pos = yaml_event_pos(b, e);
	struct dp__node *v;

	if (builder_expects_key(b)) {
		dp__report_error(b->parser_state, pos, "a word", "a key cannot be a list or a map");
		b->stop = true;
		return;
	}
	if (b->depth == TREE_DEPTH_MAX) {
		dp__report_error(b->parser_state, pos, NULL,
				 "this is nested too deeply; no key of a study file lies more "
				 "than %d levels deep",
				 TREE_DEPTH_MAX);
		b->stop = true;
		return;
	}
	v = node_attach(b, kind, pos);
	b->open_nodes[b->depth] = v;
	b->last_children[b->depth] = NULL;
	b->pending_keys[b->depth] = NULL;
	b->depth++;
}

static void node_add_scalar(struct tree_builder *b, struct fy_event *e)
{
	struct fy_token *t = e->scalar.value;
	enum fy_scalar_style style = t ? fy_token_scalar_style(t) : FYSS_PLAIN;
	size_t pos = yaml_event_pos(b, e);
	const char *text;
	struct dp__node *v;

	/* the mark follows the quote */
	if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && pos > 0)
		pos--;
	refuse_anchor_and_tag(b, e->scalar.anchor, e->scalar.tag);
	text = tree_copy_text(b, t, pos);
	if (builder_expects_key(b)) {
		b->pending_keys[b->depth - 1] = text ? text : "";
		b->pending_key_pos[b->depth - 1] = pos;
		return;
	}
	v = node_attach(b, text ? DP__NODE_SCALAR : DP__NODE_INVALID, pos);
	if (text) {
		v->text = text;
		v->is_plain = style == FYSS_PLAIN;
	}
}

static void node_refuse_alias(struct tree_builder *b, struct fy_event *e)
{
	refuse_anchor_and_tag(b, e->alias.anchor, NULL);
	if (builder_expects_key(b))
		b->stop = true;
	else
		node_attach(b, DP__NODE_INVALID, yaml_event_pos(b, e));
}

static void node_finish(struct tree_builder *b)
{
	struct dp__node *v = b->depth ? b->open_nodes[--b->depth] : NULL;

	if (v && v->kind == DP__NODE_MAP && v->count > 1)
		drop_duplicate_keys(b, v);
}

static void tree_on_event(struct tree_builder *b, struct fy_event *e)
{
	switch (e->type) {
	case FYET_DOCUMENT_START:
		if (++b->documents > 1) {
			dp__report_error(b->parser_state, yaml_event_pos(b, e), NULL,
					 "a second document starts here; a study file holds "
					 "one study");
			b->stop = true;
		}
		break;
	case FYET_MAPPING_START:
		refuse_anchor_and_tag(b, e->mapping_start.anchor, e->mapping_start.tag);
		node_start(b, e, DP__NODE_MAP);
		break;
	case FYET_SEQUENCE_START:
		refuse_anchor_and_tag(b, e->sequence_start.anchor, e->sequence_start.tag);
		node_start(b, e, DP__NODE_LIST);
		break;
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		node_finish(b);
		break;
	case FYET_SCALAR:
		node_add_scalar(b, e);
		break;
	case FYET_ALIAS:
		node_refuse_alias(b, e);
		break;
	default:
		break;
	}
}

/* Reports libfyaml's syntax errors. */
static void report_syntax_errors(struct tree_builder *b, struct fy_diag *diag)
{
	struct fy_diag_error *e;
	void *iter = NULL;
	bool any = false;

	while ((e = fy_diag_errors_iterate(diag, &iter)) != NULL) {
		any = true;
		if (e->line > 0 && e->column > 0)
			dp__report_error_at(b->parser_state, e->line, e->column,
					    "this is not YAML: %s", e->msg);
		else
			dp__report_error(b->parser_state, yaml_token_pos(e->fyt, 0), NULL,
					 "this is not YAML: %s", e->msg);
	}
	if (!any)
		dp__report_error_at(b->parser_state, 0, 0, "the file could not be read as YAML");
}

static void tree_read_events(struct tree_builder *b, struct fy_diag *diag)
{
	struct fy_event *e;

	while (!b->stop) {
		e = fy_parser_parse(b->parser);
		if (!e) {
			if (fy_parser_get_stream_error(b->parser)) {
				report_syntax_errors(b, diag);
				b->stop = true;
			}
			break;
		}
		tree_on_event(b, e);
		fy_parser_event_free(b->parser, e);
	}
}

struct dp__node *dp__tree_parse(struct dp__study_parser *r)
{
	struct fy_diag_cfg output; /* none: errors are collected */
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
					     FYPCF_JSON_NONE };
	struct dp_buf whole = DP_BUF_INIT;
	struct tree_builder b = { .parser_state = r };

	if (!check_text_encoding(r))
		return NULL;
	fy_diag_cfg_default(&output);
	output.fp = NULL;
	output.output_fn = NULL;
	cfg.diag = fy_diag_create(&output);
	if (!cfg.diag)
		dp_out_of_memory();
	fy_diag_set_collect_errors(cfg.diag, true);
	b.parser = fy_parser_create(&cfg);
	/* with a newline at the end: libfyaml 0.7.12 reads past a block without one */
	dp_buf_add(&whole, r->text, r->len);
	if (r->len && r->text[r->len - 1] != '\n')
		dp_buf_puts(&whole, "\n");
	if (!b.parser || fy_parser_set_string(b.parser, dp_buf_text(&whole), whole.len) != 0)
		dp_out_of_memory();
	tree_read_events(&b, cfg.diag);
	dp_buf_free(&b.scratch);
	fy_parser_destroy(b.parser);
	fy_diag_destroy(cfg.diag);
	dp_buf_free(&whole);
	if (b.stop)
		return NULL;
	if (!b.root)
		dp__report_error_at(r, 0, 0, "the file is empty");
	return b.root;
}
