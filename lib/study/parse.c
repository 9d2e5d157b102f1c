/* parse.c - the text of a study file as a tree that knows where everything stands.
 *
 * libfyaml's events are used, not its documents: anchors, tags, duplicate keys and
 * depth are then refused while reading, before they cost anything. */
#include "study/study_internal.h"

#include "base/num.h"
#include "base/utf8.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH_MAX = 16,     /* the deepest key lies five deep */
	MEMBERS_MAX = 1024, /* of one list or map */
	CHUNK = 8192
};

struct dp__chunk {
	struct dp__chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

/* Memory that lives as long as the tree. */
static void *tree_take(struct dp__read *r, size_t n)
{
	struct dp__chunk *c = r->chunks;
	size_t size;
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (!c || c->size - c->used < n) {
		size = n > CHUNK ? n : CHUNK;
		c = malloc(sizeof *c + size);
		if (!c) {
			r->nomem = true;
			return NULL;
		}
		*c = (struct dp__chunk){ r->chunks, 0, size };
		r->chunks = c;
	}
	p = c->data + c->used;
	c->used += n;
	return p;
}

void dp__tree_free(struct dp__read *r)
{
	while (r->chunks) {
		struct dp__chunk *next = r->chunks->next;

		free(r->chunks);
		r->chunks = next;
	}
}

const struct dp__node *dp__get(const struct dp__node *map, const char *key)
{
	const struct dp__node *m = NULL;

	if (map && map->kind == DP__MAP)
		for (m = map->first; m && strcmp(m->key, key) != 0;)
			m = m->next;
	return m;
}

/* ---- scalars ---- */

static bool one_of(const char *s, const char *const *list)
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
static bool is_real(const char *s)
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

enum dp__type dp__type_of(const struct dp__node *v)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const bools[] = {
		"true", "True", "TRUE", "false", "False", "FALSE", NULL
	};
	static const char *const specials[] = { ".inf",  ".Inf",  ".INF",  "-.inf", "-.Inf",
						"-.INF", "+.inf", "+.Inf", "+.INF", ".nan",
						".NaN",  ".NAN",  NULL };
	const char *s = v->text;

	if (!v->plain)
		return DP__STRING;
	if (one_of(s, nulls))
		return DP__NULL;
	if (one_of(s, bools))
		return DP__BOOL;
	if (all_digits(s + (*s == '-' || *s == '+')))
		return DP__INT;
	return is_real(s) || one_of(s, specials) ? DP__REAL : DP__STRING;
}

/* ---- what may not even reach libfyaml ---- */

size_t dp__utf8(const char *text, size_t n)
{
	uint32_t c;
	size_t k = dp_utf8(text, n, &c);

	if (k == 0 || c == '\t' || c == '\n' || c == '\r')
		return k;
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ? 0 : k;
}

static bool text_ok(struct dp__read *r)
{
	char have[DP_NUM_LEN], max[DP_NUM_LEN];

	if (r->len > DP_STUDY_TEXT_MAX) {
		dp__problem_at(r, 0, 0,
			       "the file is too large: %s, but a study file has "
			       "at most %s",
			       dp_size_text(r->len, have), dp_size_text(DP_STUDY_TEXT_MAX, max));
		return false;
	}
	for (size_t i = 0, n; i < r->len; i += n) {
		n = dp__utf8(r->text + i, r->len - i);
		if (n)
			continue;
		dp__problem(r, i, "UTF-8 text without control characters",
			    "this is not text: byte 0x%02x", (unsigned)(unsigned char)r->text[i]);
		return false;
	}
	return true;
}

/* ---- the tree ---- */

struct builder {
	struct dp__read *r;
	struct fy_parser *parser;
	struct dp__node *root;
	struct dp__node *open[DEPTH_MAX], *last[DEPTH_MAX];
	const char *key[DEPTH_MAX]; /* read, and waiting for its value */
	size_t key_pos[DEPTH_MAX];
	size_t depth, documents;
	struct dp_buf scratch;
	bool stop;
};

static size_t token_pos(struct fy_token *t, size_t otherwise)
{
	const struct fy_mark *m = t ? fy_token_start_mark(t) : NULL;

	return m ? m->input_pos : otherwise;
}

static size_t event_pos(struct builder *b, struct fy_event *e)
{
	const struct fy_mark *m = fy_event_start_mark(e);

	if (m)
		return m->input_pos;
	return b->depth ? b->open[b->depth - 1]->pos : 0;
}

static void refuse_properties(struct builder *b, struct fy_token *anchor, struct fy_token *tag)
{
	if (anchor) /* the mark is behind the sign */
		dp__problem(b->r, token_pos(anchor, 1) - 1, NULL,
			    "anchors (&name), aliases (*name) and merge keys (<<) are not "
			    "used in study files; write the value out");
	if (tag)
		dp__problem(b->r, token_pos(tag, 0), NULL,
			    "tags (!name) are not used in study files; quote a value to "
			    "make it a text");
}

/* The text of a scalar until the next call; NULL: no memory. libfyaml 0.7.12's
 * fy_token_get_text() leaks where a quoted text has many escapes; going through its
 * pieces does not. */
static const char *token_text(struct builder *b, struct fy_token *t, size_t *len)
{
	const struct fy_iter_chunk *piece = NULL;
	struct fy_token_iter *iter;
	int failed = 0;

	if (fy_token_scalar_style(t) == FYSS_PLAIN)
		return fy_token_get_text(t, len);
	iter = fy_token_iter_create(t);
	if (!iter)
		return NULL;
	dp_buf_clear(&b->scratch);
	while ((piece = fy_token_iter_chunk_next(iter, piece, &failed)) != NULL)
		dp_buf_add(&b->scratch, piece->str, piece->len);
	fy_token_iter_destroy(iter);
	*len = b->scratch.len;
	return failed || b->scratch.failed ? NULL : dp_buf_text(&b->scratch);
}

/* The text of a scalar in the tree's memory, or NULL with a problem. */
static const char *copy_text(struct builder *b, struct fy_token *t, size_t pos)
{
	size_t len = 0;
	const char *text = t ? token_text(b, t, &len) : "";
	char *copy;

	if (!text) {
		b->r->nomem = true;
		return NULL;
	}
	for (size_t i = 0; i < len;) {
		size_t n = dp__utf8(text + i, len - i);

		/* an escape such as "\0" or "\ud800" makes what no program can be given;
		 * other control characters are the trainer's affair */
		if (n == 0 && (text[i] == '\0' || (unsigned char)text[i] >= 0x80)) {
			dp__problem(b->r, pos, NULL, "this text holds a NUL or a broken character");
			return NULL;
		}
		i += n ? n : 1;
	}
	copy = tree_take(b->r, len + 1);
	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}

static int by_key(const void *a, const void *b)
{
	const struct dp__node *x = *(struct dp__node *const *)a;
	const struct dp__node *y = *(struct dp__node *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->key_pos > y->key_pos) - (x->key_pos < y->key_pos);
}

/* Reports keys given twice and takes the later ones out of the map. */
static void drop_duplicates(struct builder *b, struct dp__node *map)
{
	struct dp__node **all = malloc((map->count + 1) * sizeof *all), *m, **link;
	char shown[DP__SHOWN];
	size_t n = 0, first = 0;
	int line = 0, column;

	if (!all) {
		b->r->nomem = true;
		return;
	}
	for (m = map->first; m; m = m->next)
		all[n++] = m;
	qsort(all, n, sizeof *all, by_key);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(all[i]->key, all[first]->key) != 0) {
			first = i;
			continue;
		}
		if (!dp__problems_full(b->r))
			dp__place(b->r->text, b->r->len, all[first]->key_pos, &line, &column);
		dp__problem(b->r, all[i]->key_pos, NULL,
			    "key '%s' is given twice; the first is in line %d",
			    dp__shown(all[i]->key, shown), line);
		all[i]->dropped = true;
	}
	free(all);
	for (link = &map->first; *link;) {
		if ((*link)->dropped) {
			*link = (*link)->next;
			map->count--;
		} else {
			link = &(*link)->next;
		}
	}
}

/* Hangs a new value into the open list or map; NULL: no memory. */
static struct dp__node *node_hang(struct builder *b, enum dp__kind kind, size_t pos)
{
	struct dp__node *v = tree_take(b->r, sizeof *v), *parent;
	size_t top = b->depth - 1;

	if (!v)
		return NULL;
	*v = (struct dp__node){ .kind = kind, .pos = pos, .text = "", .key = "" };
	if (b->depth == 0) {
		b->root = v;
		return v;
	}
	parent = b->open[top];
	if (parent->kind == DP__MAP) {
		v->key = b->key[top];
		v->key_pos = b->key_pos[top];
		b->key[top] = NULL;
	}
	*(b->last[top] ? &b->last[top]->next : &parent->first) = v;
	b->last[top] = v;
	if (++parent->count > MEMBERS_MAX) {
		dp__problem(b->r, pos, NULL,
			    "this list or map is too long; none in a study file has more "
			    "than %d entries",
			    MEMBERS_MAX);
		b->stop = true;
	}
	return v;
}

static bool wants_key(const struct builder *b)
{
	return b->depth && b->open[b->depth - 1]->kind == DP__MAP && !b->key[b->depth - 1];
}

static void node_start(struct builder *b, struct fy_event *e, enum dp__kind kind)
{
	size_t pos = event_pos(b, e);
	struct dp__node *v;

	if (wants_key(b)) {
		dp__problem(b->r, pos, "a word", "a key cannot be a list or a map");
		b->stop = true;
		return;
	}
	if (b->depth == DEPTH_MAX) {
		dp__problem(b->r, pos, NULL,
			    "this is nested too deeply; no key of a study file lies more "
			    "than %d levels deep",
			    DEPTH_MAX);
		b->stop = true;
		return;
	}
	v = node_hang(b, kind, pos);
	if (!v)
		return;
	b->open[b->depth] = v;
	b->last[b->depth] = NULL;
	b->key[b->depth] = NULL;
	b->depth++;
}

static void node_scalar(struct builder *b, struct fy_event *e)
{
	struct fy_token *t = e->scalar.value;
	enum fy_scalar_style style = t ? fy_token_scalar_style(t) : FYSS_PLAIN;
	size_t pos = event_pos(b, e);
	const char *text;
	struct dp__node *v;

	/* the mark is behind the quote */
	if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && pos > 0)
		pos--;
	refuse_properties(b, e->scalar.anchor, e->scalar.tag);
	text = copy_text(b, t, pos);
	if (wants_key(b)) {
		b->key[b->depth - 1] = text ? text : "";
		b->key_pos[b->depth - 1] = pos;
		return;
	}
	v = node_hang(b, text ? DP__SCALAR : DP__UNREADABLE, pos);
	if (v && text) {
		v->text = text;
		v->plain = style == FYSS_PLAIN;
	}
}

static void node_alias(struct builder *b, struct fy_event *e)
{
	refuse_properties(b, e->alias.anchor, NULL);
	if (wants_key(b))
		b->stop = true;
	else
		node_hang(b, DP__UNREADABLE, event_pos(b, e));
}

static void node_finish(struct builder *b)
{
	struct dp__node *v = b->depth ? b->open[--b->depth] : NULL;

	if (v && v->kind == DP__MAP && v->count > 1)
		drop_duplicates(b, v);
}

static void take_event(struct builder *b, struct fy_event *e)
{
	switch (e->type) {
	case FYET_DOCUMENT_START:
		if (++b->documents > 1) {
			dp__problem(b->r, event_pos(b, e), NULL,
				    "a second document starts here; a study file holds "
				    "one study");
			b->stop = true;
		}
		break;
	case FYET_MAPPING_START:
		refuse_properties(b, e->mapping_start.anchor, e->mapping_start.tag);
		node_start(b, e, DP__MAP);
		break;
	case FYET_SEQUENCE_START:
		refuse_properties(b, e->sequence_start.anchor, e->sequence_start.tag);
		node_start(b, e, DP__LIST);
		break;
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		node_finish(b);
		break;
	case FYET_SCALAR:
		node_scalar(b, e);
		break;
	case FYET_ALIAS:
		node_alias(b, e);
		break;
	default:
		break;
	}
}

/* libfyaml's own complaints. */
static void syntax_problems(struct builder *b, struct fy_diag *diag)
{
	struct fy_diag_error *e;
	void *iter = NULL;
	bool any = false;

	while ((e = fy_diag_errors_iterate(diag, &iter)) != NULL) {
		any = true;
		if (e->line > 0 && e->column > 0)
			dp__problem_at(b->r, e->line, e->column, "this is not YAML: %s", e->msg);
		else
			dp__problem(b->r, token_pos(e->fyt, 0), NULL, "this is not YAML: %s",
				    e->msg);
	}
	if (!any)
		dp__problem_at(b->r, 0, 0, "the file could not be read as YAML");
}

static void read_events(struct builder *b, struct fy_diag *diag)
{
	struct fy_event *e;

	while (!b->stop && !b->r->nomem) {
		e = fy_parser_parse(b->parser);
		if (!e) {
			if (fy_parser_get_stream_error(b->parser)) {
				syntax_problems(b, diag);
				b->stop = true;
			}
			break;
		}
		take_event(b, e);
		fy_parser_event_free(b->parser, e);
	}
}

/* Gives the parser the text with a newline at its end: libfyaml 0.7.12 reads beyond a
 * block that has none. */
static bool parser_set_text(struct builder *b, struct dp_buf *whole)
{
	dp_buf_add(whole, b->r->text, b->r->len);
	if (b->r->len && b->r->text[b->r->len - 1] != '\n')
		dp_buf_puts(whole, "\n");
	return !whole->failed &&
	       fy_parser_set_string(b->parser, dp_buf_text(whole), whole->len) == 0;
}

struct dp__node *dp__tree(struct dp__read *r)
{
	struct fy_diag_cfg output; /* nowhere: errors are collected */
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
					     FYPCF_JSON_NONE };
	struct dp_buf whole = DP_BUF_INIT;
	struct builder b = { .r = r };

	if (!text_ok(r))
		return NULL;
	fy_diag_cfg_default(&output);
	output.fp = NULL;
	output.output_fn = NULL;
	cfg.diag = fy_diag_create(&output);
	if (cfg.diag) {
		fy_diag_set_collect_errors(cfg.diag, true);
		b.parser = fy_parser_create(&cfg);
	}
	if (b.parser && parser_set_text(&b, &whole))
		read_events(&b, cfg.diag);
	else
		r->nomem = true;
	dp_buf_free(&b.scratch);
	fy_parser_destroy(b.parser);
	fy_diag_destroy(cfg.diag);
	dp_buf_free(&whole);
	if (b.stop || r->nomem)
		return NULL;
	if (!b.root)
		dp__problem_at(r, 0, 0, "the file is empty");
	return b.root;
}
