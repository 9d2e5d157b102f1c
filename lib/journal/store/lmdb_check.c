/* lmdb_check.c - checks the pages of an LMDB file without trusting any of them. */
#include "journal/store/lmdb_check.h"

#include "base/fs.h"
#include "journal/store/journal_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LMDB_MAGIC        0xbeefc0deu
#define LMDB_FORMAT       1u
#define NO_PAGE           UINT64_MAX
#define LMDB_MAP_SIZE_MAX ((uint64_t)1 << 46)

enum {
	PAGE_HEADER_SIZE = 16, /* page number, flags, bounds */
	NODE_HEADER_SIZE = 8,  /* before the key of a node */
	META_SIZE = 136,
	TREE_SIZE = 48, /* descriptor of a tree */
	DEPTH_MAX = 32,
	PAGE_SIZE_LOWEST = 512,
	PAGE_SIZE_HIGHEST = 65536,
	FIRST_DATA_PAGE = 2, /* after the headers */
	FREE_TREE_FLAGS = 0x08,
	/* Flags of pages and nodes. */
	PAGE_IS_BRANCH = 1,
	PAGE_IS_LEAF = 2,
	PAGE_IS_OVERFLOW = 4,
	PAGE_IS_META = 8,
	NODE_IS_OVERFLOW = 1,
	NODE_IS_TREE = 2,
	/* What a page is used for. */
	PAGE_USE_DATA = 1,
	PAGE_USE_FREE = 2,
};

struct lmdb_tree {
	const char *name;
	uint16_t flags, depth;
	uint64_t branches, leaves, overflows, entries, root;
	bool has_integer_keys; /* integers in native byte order */
	void (*visit_entry)(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t page,
			    const unsigned char *node);
	/* Counted so far. */
	uint64_t found_branches, found_leaves, found_overflows, found_entries;
	struct lmdb_tree *subtrees; /* of the root tree: "events" and "meta" */
};

struct lmdb_key {
	const unsigned char *bytes;
	size_t len;
};

static uint16_t get16(const unsigned char *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static uint32_t get32(const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static uint64_t get64(const unsigned char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static uint32_t node_value_size(const unsigned char *node)
{
	return get16(node) | (uint32_t)get16(node + 2) << 16;
}

static struct lmdb_key node_key(const unsigned char *node)
{
	return (struct lmdb_key){ node + NODE_HEADER_SIZE, get16(node + 6) };
}

DP_PRINTF(2, 3)
static void report_page_fault(struct dp__lmdb_file *p, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	p->fault_count++;
	if (p->visitor->on_fault)
		p->visitor->on_fault(p->visitor->arg, text);
}

static bool page_read(struct dp__lmdb_file *p, uint64_t offset, void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(p->fd, (char *)to + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Marks pages as used; false if one does not exist or is used already. */
static bool mark_pages_used(struct dp__lmdb_file *p, uint64_t page, uint64_t count, int use,
			    const char *whose)
{
	if (page < FIRST_DATA_PAGE || page > p->last_page || count > p->last_page - page + 1) {
		report_page_fault(p, "%s: it names page %llu, which does not exist", whose,
				  (unsigned long long)page);
		return false;
	}
	for (uint64_t i = page; i < page + count; i++) {
		if (p->page_uses[i]) {
			report_page_fault(
				p, "%s: page %llu is used twice%s", whose, (unsigned long long)i,
				(p->page_uses[i] | use) & PAGE_USE_FREE ? ", once as a free one"
									: "");
			return false;
		}
		p->page_uses[i] = (unsigned char)use;
	}
	return true;
}

/* The value of a leaf node: in the page, or copied from overflow pages into *own, which the caller
 * frees. NULL if it is damaged, which is reported, or not wanted. */
static const unsigned char *read_node_value(struct dp__lmdb_file *p, struct lmdb_tree *t,
					    const unsigned char *node, bool wanted,
					    unsigned char **own)
{
	size_t len = node_value_size(node),
	       pages = (PAGE_HEADER_SIZE + len + p->page_size - 1) / p->page_size;
	const unsigned char *inside = node + NODE_HEADER_SIZE + get16(node + 6);
	unsigned char head[PAGE_HEADER_SIZE];
	uint64_t at;

	*own = NULL;
	if (!(get16(node + 4) & NODE_IS_OVERFLOW))
		return inside;
	at = get64(inside);
	if (!mark_pages_used(p, at, pages, PAGE_USE_DATA, t->name))
		return NULL;
	t->found_overflows += pages;
	if (!page_read(p, at * p->page_size, head, sizeof head)) {
		report_page_fault(p, "page %llu cannot be read", (unsigned long long)at);
		return NULL;
	}
	if (get64(head) != at || get16(head + 10) != PAGE_IS_OVERFLOW ||
	    get32(head + 12) != pages) {
		report_page_fault(p, "page %llu of %s is not the long value it should be",
				  (unsigned long long)at, t->name);
		return NULL;
	}
	if (!wanted)
		return NULL;
	*own = dp_malloc(len + 1);
	if (!page_read(p, at * p->page_size + PAGE_HEADER_SIZE, *own, len)) {
		report_page_fault(p, "page %llu cannot be read", (unsigned long long)at);
		free(*own);
		*own = NULL;
	}
	return *own;
}

static void visit_record_entry(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t page,
			       const unsigned char *node)
{
	const struct dp__lmdb_visitor *v = p->visitor;
	struct lmdb_key k = node_key(node);
	MDB_val key = { k.len, (void *)k.bytes };
	uint32_t study, seq;
	unsigned char *own;
	const unsigned char *value = read_node_value(p, t, node, v->on_record != NULL, &own);

	if (!dp__key_read(&key, &study, &seq))
		report_page_fault(p, "page %llu: a record has a key of %zu bytes",
				  (unsigned long long)page, k.len);
	else if (value && v->on_record)
		p->stop_code = v->on_record(v->arg, study, seq, value, node_value_size(node));
	free(own);
}

static void visit_meta_entry(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t page,
			     const unsigned char *node)
{
	const struct dp__lmdb_visitor *v = p->visitor;
	struct lmdb_key k = node_key(node);
	unsigned char *own;
	const unsigned char *value = read_node_value(p, t, node, v->on_meta != NULL, &own);

	(void)page;
	if (value && v->on_meta)
		p->stop_code = v->on_meta(v->arg, k.bytes, k.len, value, node_value_size(node));
	free(own);
}

/* A list of freed pages: its length, then the pages, highest first. */
static void visit_free_list_entry(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t page,
				  const unsigned char *node)
{
	unsigned char *own;
	const unsigned char *list = read_node_value(p, t, node, true, &own);
	size_t room = node_value_size(node) / 8;
	uint64_t n = list && room ? get64(list) : 0, before = NO_PAGE;

	if (list && (room == 0 || n > room - 1))
		report_page_fault(p, "page %llu: a list of free pages is longer than its room",
				  (unsigned long long)page);
	else
		for (uint64_t i = 1; i <= n; i++) {
			uint64_t free_page = get64(list + 8 * i);

			if (free_page >= before) {
				report_page_fault(p,
						  "page %llu: a list of free pages is out of "
						  "order",
						  (unsigned long long)page);
				break;
			}
			before = free_page;
			if (!mark_pages_used(p, free_page, 1, PAGE_USE_FREE,
					     "the list of free pages"))
				break;
		}
	free(own);
}

/* ---- trees ---- */

static int compare_lmdb_keys(const struct lmdb_tree *t, struct lmdb_key a, struct lmdb_key b)
{
	size_t least = a.len < b.len ? a.len : b.len;
	int order;

	if (t->has_integer_keys) {
		uint64_t x = get64(a.bytes), y = get64(b.bytes);

		return x < y ? -1 : x > y;
	}
	order = memcmp(a.bytes, b.bytes, least);
	return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* True if node i is inside of its page and its key is valid for this tree. */
static bool is_node_valid(const struct dp__lmdb_file *p, const struct lmdb_tree *t,
			  const unsigned char *page, size_t i, size_t *length)
{
	size_t upper = get16(page + 14), at = get16(page + PAGE_HEADER_SIZE + 2 * i), len;
	bool leaf = get16(page + 10) == PAGE_IS_LEAF;
	const unsigned char *node = page + at;

	if (at < upper || at % 2 || at + NODE_HEADER_SIZE > p->page_size)
		return false;
	len = NODE_HEADER_SIZE + (size_t)get16(node + 6);
	if (leaf) {
		uint16_t flags = get16(node + 4);

		if (flags & ~(t->subtrees ? NODE_IS_TREE : NODE_IS_OVERFLOW))
			return false;
		len += flags & NODE_IS_OVERFLOW ? 8 : (size_t)node_value_size(node);
	}
	*length = len + len % 2;
	if (at + len > p->page_size)
		return false;
	/* the first key of a branch is unused */
	return (!leaf && i == 0) ||
	       (t->has_integer_keys ? get16(node + 6) == 8 : get16(node + 6) > 0);
}

static bool check_page_layout(struct dp__lmdb_file *p, const struct lmdb_tree *t,
			      const unsigned char *page, uint64_t number, bool leaf)
{
	size_t lower = get16(page + 12), upper = get16(page + 14), used = 0, length;
	size_t n = (lower - PAGE_HEADER_SIZE) / 2;

	if (get64(page) != number || get16(page + 10) != (leaf ? PAGE_IS_LEAF : PAGE_IS_BRANCH)) {
		report_page_fault(p, "page %llu of %s is not the page it should be",
				  (unsigned long long)number, t->name);
		return false;
	}
	if (lower < PAGE_HEADER_SIZE + 2 || lower > upper || lower % 2 || upper > p->page_size) {
		report_page_fault(p, "page %llu of %s: its bounds are wrong",
				  (unsigned long long)number, t->name);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_node_valid(p, t, page, i, &length)) {
			report_page_fault(p, "page %llu of %s: entry %zu is damaged",
					  (unsigned long long)number, t->name, i);
			return false;
		}
		used += length;
	}
	if (used != p->page_size - upper) {
		report_page_fault(p, "page %llu of %s: its entries overlap",
				  (unsigned long long)number, t->name);
		return false;
	}
	return true;
}

/* Node i of a page that is_node_valid() has accepted. */
static const unsigned char *page_node(const unsigned char *page, size_t i)
{
	return page + get16(page + PAGE_HEADER_SIZE + 2 * i);
}

/* True if the keys of a page ascend and lie between those of the page above. */
static bool are_page_keys_ordered(const struct lmdb_tree *t, const unsigned char *page,
				  const struct lmdb_key *low, const struct lmdb_key *high)
{
	size_t n = (get16(page + 12) - (size_t)PAGE_HEADER_SIZE) / 2;
	size_t first = get16(page + 10) == PAGE_IS_LEAF ? 0 : 1;

	for (size_t i = first; i < n; i++) {
		struct lmdb_key k = node_key(page_node(page, i));

		if (i == first && low && compare_lmdb_keys(t, k, *low) < 0)
			return false;
		if (i > first && compare_lmdb_keys(t, node_key(page_node(page, i - 1)), k) >= 0)
			return false;
		if (high && compare_lmdb_keys(t, k, *high) >= 0)
			return false;
	}
	return true;
}

static void check_tree_page(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t number,
			    unsigned depth, const struct lmdb_key *low,
			    const struct lmdb_key *high);

static void visit_tree_nodes(struct dp__lmdb_file *p, struct lmdb_tree *t,
			     const unsigned char *page, uint64_t number, unsigned depth,
			     const struct lmdb_key *low, const struct lmdb_key *high)
{
	size_t n = (get16(page + 12) - (size_t)PAGE_HEADER_SIZE) / 2;

	for (size_t i = 0; i < n && !p->stop_code; i++) {
		const unsigned char *node = page_node(page, i);
		struct lmdb_key from = node_key(node), to;

		if (depth == t->depth) {
			t->found_entries++;
			t->visit_entry(p, t, number, node);
			continue;
		}
		if (i + 1 < n)
			to = node_key(page_node(page, i + 1));
		check_tree_page(p, t, node_value_size(node) | (uint64_t)get16(node + 4) << 32,
				depth + 1, i ? &from : low, i + 1 < n ? &to : high);
	}
}

/* Reports a damaged page and skips all pages below it. */
static void check_tree_page(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t number,
			    unsigned depth, const struct lmdb_key *low, const struct lmdb_key *high)
{
	unsigned char *page;
	bool leaf = depth == t->depth;

	if (!mark_pages_used(p, number, 1, PAGE_USE_DATA, t->name))
		return;
	page = dp_malloc(p->page_size);
	if (!page_read(p, number * p->page_size, page, p->page_size)) {
		report_page_fault(p,
				  "page %llu of %s cannot be read: the file is shorter, or "
				  "the disk refuses",
				  (unsigned long long)number, t->name);
	} else if (check_page_layout(p, t, page, number, leaf)) {
		*(leaf ? &t->found_leaves : &t->found_branches) += 1;
		if (!are_page_keys_ordered(t, page, low, high))
			report_page_fault(p, "page %llu of %s: its keys are out of order",
					  (unsigned long long)number, t->name);
		visit_tree_nodes(p, t, page, number, depth, low, high);
	}
	free(page);
}

static void tree_read(struct lmdb_tree *t, const unsigned char *at)
{
	t->flags = get16(at + 4);
	t->depth = get16(at + 6);
	t->branches = get64(at + 8);
	t->leaves = get64(at + 16);
	t->overflows = get64(at + 24);
	t->entries = get64(at + 32);
	t->root = get64(at + 40);
}

static void tree_walk(struct dp__lmdb_file *p, struct lmdb_tree *t)
{
	uint64_t before = p->fault_count;

	if (t->flags & ~(t->has_integer_keys ? FREE_TREE_FLAGS | 0x4000 : 0)) {
		report_page_fault(p, "%s: unknown flags", t->name);
		return;
	}
	if (t->root == NO_PAGE && t->depth == 0 && t->entries == 0)
		return;
	if (t->depth == 0 || t->depth > DEPTH_MAX) {
		report_page_fault(p, "%s: a depth of %u", t->name, t->depth);
		return;
	}
	check_tree_page(p, t, t->root, 1, NULL, NULL);
	if (p->stop_code || p->fault_count > before)
		return;
	if (t->found_entries != t->entries || t->found_branches != t->branches ||
	    t->found_leaves != t->leaves || t->found_overflows != t->overflows)
		report_page_fault(p, "%s: %llu entries are there, of %llu, or pages are missing",
				  t->name, (unsigned long long)t->found_entries,
				  (unsigned long long)t->entries);
}

/* The root tree, which names "events" and "meta". */
static void visit_tree_entry(struct dp__lmdb_file *p, struct lmdb_tree *t, uint64_t page,
			     const unsigned char *node)
{
	struct lmdb_key k = node_key(node);
	struct lmdb_tree *named = k.len == 6 && memcmp(k.bytes, "events", 6) == 0 ? &t->subtrees[0]
				  : k.len == 4 && memcmp(k.bytes, "meta", 4) == 0 ? &t->subtrees[1]
										  : NULL;

	if (!named || get16(node + 4) != NODE_IS_TREE || node_value_size(node) != TREE_SIZE) {
		report_page_fault(p, "page %llu: it names a database that is none of a journal",
				  (unsigned long long)page);
		return;
	}
	tree_read(named, node + NODE_HEADER_SIZE + k.len);
	tree_walk(p, named);
}

/* ---- the headers ---- */

static bool meta_read(struct dp__lmdb_file *p, unsigned i, unsigned char meta[META_SIZE])
{
	unsigned char page[PAGE_HEADER_SIZE + META_SIZE];

	if (!page_read(p, i * p->page_size, page, sizeof page) ||
	    get16(page + 10) != PAGE_IS_META || get32(page + PAGE_HEADER_SIZE) != LMDB_MAGIC ||
	    get32(page + PAGE_HEADER_SIZE + 4) != LMDB_FORMAT)
		return false;
	memcpy(meta, page + PAGE_HEADER_SIZE, META_SIZE);
	return true;
}

static bool is_page_size_valid(uint32_t size)
{
	return size >= PAGE_SIZE_LOWEST && size <= PAGE_SIZE_HIGHEST && (size & (size - 1)) == 0;
}

bool dp__lmdb_format_is_known(int fd)
{
	struct dp__lmdb_file p = { .fd = fd };
	unsigned char page[PAGE_HEADER_SIZE + 8];

	return !page_read(&p, 0, page, sizeof page) || get16(page + 10) != PAGE_IS_META ||
	       get32(page + PAGE_HEADER_SIZE) != LMDB_MAGIC ||
	       get32(page + PAGE_HEADER_SIZE + 4) == LMDB_FORMAT;
}

bool dp__lmdb_has_headers(int fd)
{
	struct dp__lmdb_file p = { .fd = fd, .page_size = 4096 };
	unsigned char meta[META_SIZE];

	if (!meta_read(&p, 0, meta) || !is_page_size_valid(get32(meta + 24)))
		return false;
	p.page_size = get32(meta + 24);
	return meta_read(&p, 1, meta) && get32(meta + 24) == p.page_size;
}

/* Chooses the header of the requested snapshot; false if there is none. */
static bool choose_meta_page(struct dp__lmdb_file *p, unsigned char meta[META_SIZE])
{
	unsigned char both[2][META_SIZE];
	uint64_t number[2];
	bool sound[2];
	unsigned at;

	p->page_size = 4096;
	sound[0] = meta_read(p, 0, both[0]);
	if (sound[0] && is_page_size_valid(get32(both[0] + 24)))
		p->page_size = get32(both[0] + 24);
	sound[1] = meta_read(p, 1, both[1]);
	for (unsigned i = 0; i < 2; i++) {
		if (sound[i] && get32(both[i] + 24) != p->page_size)
			sound[i] = false;
		if (!sound[i])
			report_page_fault(p, "page %u, a header of the file, is damaged", i);
	}
	if (!sound[0] && !sound[1])
		return false;
	for (unsigned i = 0; i < 2; i++)
		number[i] = sound[i] ? get64(both[i] + 128) : 0;
	at = !sound[0] || (sound[1] && number[1] > number[0]);
	/* LMDB finds the header of a transaction by its number modulo 2 */
	if (sound[0] && sound[1] && number[0] == number[1])
		at = number[0] % 2;
	if (p->txn_id && sound[p->txn_id % 2] && number[p->txn_id % 2] == p->txn_id)
		at = p->txn_id % 2;
	memcpy(meta, both[at], META_SIZE);
	if (p->txn_id && get64(meta + 128) != p->txn_id)
		return false; /* the writer has gone on: not a fault */
	p->txn_id = get64(meta + 128);
	if (p->txn_id % 2 != at)
		report_page_fault(p, "page %u, a header of the file, is the other one's", at);
	return true;
}

/* Allocates the table of page uses, and checks that the header fits the file. */
static int init_page_uses(struct dp__lmdb_file *p, const unsigned char *meta, struct dp_err *err)
{
	struct stat st;

	if (fstat(p->fd, &st) != 0)
		return dp_fail_errno(err, errno, "cannot look at the journal's file");
	p->page_count = (uint64_t)st.st_size / p->page_size;
	p->last_page = get64(meta + 120);
	if (get64(meta + 16) > LMDB_MAP_SIZE_MAX)
		report_page_fault(p, "the header tells of a map of %llu bytes",
				  (unsigned long long)get64(meta + 16));
	if (p->last_page >= p->page_count) {
		report_page_fault(p, "the file is cut short: it has %llu of %llu pages",
				  (unsigned long long)p->page_count,
				  (unsigned long long)p->last_page + 1);
		p->last_page = p->page_count ? p->page_count - 1 : 0;
	}
	p->page_uses = dp_calloc(p->last_page + 1, 1);
	return DP_OK;
}

int dp__lmdb_check_pages(struct dp__lmdb_file *p, int fd, uint64_t txn,
			 const struct dp__lmdb_visitor *visitor, struct dp_err *err)
{
	struct lmdb_tree below[2] = { { .name = "the records", .visit_entry = visit_record_entry },
				      { .name = "the facts", .visit_entry = visit_meta_entry } };
	struct lmdb_tree trees = { .name = "the list of databases",
				   .visit_entry = visit_tree_entry,
				   .subtrees = below };
	struct lmdb_tree given = { .name = "the free pages",
				   .visit_entry = visit_free_list_entry,
				   .has_integer_keys = true };
	unsigned char meta[META_SIZE];
	int code;

	*p = (struct dp__lmdb_file){ .fd = fd, .visitor = visitor, .txn_id = txn };
	if (!choose_meta_page(p, meta))
		return txn && p->fault_count == 0
			       ? dp_fail(err, DP_E_BUSY, "the journal changed meanwhile")
			       : init_page_uses(p, (unsigned char[META_SIZE]){ 0 }, err);
	code = init_page_uses(p, meta, err);
	if (code != DP_OK)
		return code;
	tree_read(&trees, meta + 24 + TREE_SIZE);
	tree_read(&given, meta + 24);
	tree_walk(p, &trees);
	if (!p->stop_code)
		tree_walk(p, &given);
	return p->stop_code;
}

/* ---- search for records on any page ---- */

/* Reports a node of any page that looks like a record. */
static void scan_node(struct dp__lmdb_file *p, const unsigned char *page, size_t at)
{
	const unsigned char *node = page + at;
	unsigned char *own = NULL;
	const unsigned char *value;
	uint32_t study, seq;
	MDB_val key;
	size_t len;
	uint64_t big;

	if (at < PAGE_HEADER_SIZE || at + NODE_HEADER_SIZE + DP__KEY_SIZE + 8 > p->page_size ||
	    get16(node + 6) != DP__KEY_SIZE)
		return;
	len = node_value_size(node);
	value = node + NODE_HEADER_SIZE + DP__KEY_SIZE;
	if (get16(node + 4) & NODE_IS_OVERFLOW) {
		big = get64(value);
		if (big < FIRST_DATA_PAGE || big >= p->page_count ||
		    len > (p->page_count - big) * p->page_size - PAGE_HEADER_SIZE)
			return;
		value = own = dp_malloc(len + 1);
		if (!page_read(p, big * p->page_size + PAGE_HEADER_SIZE, own, len))
			value = NULL;
	} else if (at + NODE_HEADER_SIZE + DP__KEY_SIZE + len > p->page_size) {
		return;
	}
	key = (MDB_val){ DP__KEY_SIZE, (void *)(node + NODE_HEADER_SIZE) };
	if (value && dp__key_read(&key, &study, &seq))
		p->stop_code = p->visitor->on_record(p->visitor->arg, study, seq, value, len);
	free(own);
}

int dp__lmdb_scan_records(struct dp__lmdb_file *p, bool free_too)
{
	unsigned char *page = dp_malloc(p->page_size);

	for (uint64_t i = FIRST_DATA_PAGE; i < p->page_count && !p->stop_code; i++) {
		if (!free_too && i <= p->last_page && p->page_uses[i] == PAGE_USE_FREE)
			continue;
		if (!page_read(p, i * p->page_size, page, p->page_size))
			continue; /* reported by the tree walk */
		for (size_t k = PAGE_HEADER_SIZE;
		     k + 2 <= get16(page + 12) && k + 2 <= p->page_size; k += 2)
			scan_node(p, page, get16(page + k));
	}
	free(page);
	return p->stop_code;
}

void dp__lmdb_file_clear(struct dp__lmdb_file *p)
{
	free(p->page_uses);
	p->page_uses = NULL;
}
