/* pages.c - the pages of an LMDB file, read without trusting one of them. */
#include "journal/pages.h"

#include "base/fs.h"
#include "journal/journal_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC    0xbeefc0deu
#define NO_PAGE  UINT64_MAX
#define MAP_MOST ((uint64_t)1 << 46)

enum {
	HEADER = 16, /* of a page: number, flags, bounds */
	NODE = 8,    /* of a node, before its key */
	META_SIZE = 136,
	TREE_SIZE = 48, /* a tree's own description */
	DEPTH_MAX = 32,
	PAGE_LEAST = 512,
	PAGE_MOST = 65536,
	FIRST_PAGE = 2, /* behind the headers */
	FREE_FLAGS = 0x08,
	/* flags of pages and of nodes */
	BRANCH = 1,
	LEAF = 2,
	OVERFLOW = 4,
	META = 8,
	IS_BIG = 1,
	IS_TREE = 2,
	/* what a page is for */
	USED = 1,
	FREE = 2,
};

struct tree {
	const char *name;
	uint16_t flags, depth;
	uint64_t branches, leaves, overflows, entries, root;
	bool numbers; /* keys are numbers of this machine */
	/* what to do with an entry */
	void (*entry)(struct dp__pages *p, struct tree *t, uint64_t page,
		      const unsigned char *node);
	/* found so far */
	uint64_t saw_branches, saw_leaves, saw_overflows, saw_entries;
	struct tree *below; /* of the tree of trees: the two that it names */
};

/* A key inside a page. */
struct key {
	const unsigned char *at;
	size_t len;
};

/* ---- numbers ---- */

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

static uint32_t node_size(const unsigned char *node)
{
	return get16(node) | (uint32_t)get16(node + 2) << 16;
}

static uint64_t node_child(const unsigned char *node)
{
	return node_size(node) | (uint64_t)get16(node + 4) << 32;
}

static struct key node_key(const unsigned char *node)
{
	return (struct key){ node + NODE, get16(node + 6) };
}

/* ---- reading and telling ---- */

DP_PRINTF(2, 3)
static void page_fault(struct dp__pages *p, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	p->faults++;
	if (p->visitor->fault)
		p->visitor->fault(p->visitor->arg, text);
}

static bool page_read(struct dp__pages *p, uint64_t offset, void *to, size_t len)
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

/* Notes what a page is for; false if it is outside, or for something else already. */
static bool page_claim(struct dp__pages *p, uint64_t page, uint64_t count, int use,
		       const char *whose)
{
	if (page < FIRST_PAGE || page > p->last || count > p->last - page + 1) {
		page_fault(p, "%s: it names page %llu, which does not exist", whose,
			   (unsigned long long)page);
		return false;
	}
	for (uint64_t i = page; i < page + count; i++) {
		if (p->seen[i]) {
			page_fault(p, "%s: page %llu is used twice%s", whose, (unsigned long long)i,
				   (p->seen[i] | use) & FREE ? ", once as a free one" : "");
			return false;
		}
		p->seen[i] = (unsigned char)use;
	}
	return true;
}

static void *page_memory(struct dp__pages *p, size_t size)
{
	void *m = malloc(size ? size : 1);

	if (!m)
		p->stopped = DP_E_NOMEM;
	return m;
}

/* ---- entries ---- */

/* The value of a leaf's node: within the page, or on pages of its own, which are then
 * in *own. NULL if it cannot be had, which was told. */
static const unsigned char *node_value(struct dp__pages *p, struct tree *t,
				       const unsigned char *node, bool wanted, unsigned char **own)
{
	size_t len = node_size(node), pages = (HEADER + len + p->size - 1) / p->size;
	const unsigned char *inside = node + NODE + get16(node + 6);
	unsigned char head[HEADER];
	uint64_t at;

	*own = NULL;
	if (!(get16(node + 4) & IS_BIG))
		return inside;
	at = get64(inside);
	if (!page_claim(p, at, pages, USED, t->name))
		return NULL;
	t->saw_overflows += pages;
	if (!page_read(p, at * p->size, head, sizeof head)) {
		page_fault(p, "page %llu cannot be read", (unsigned long long)at);
		return NULL;
	}
	if (get64(head) != at || get16(head + 10) != OVERFLOW || get32(head + 12) != pages) {
		page_fault(p, "page %llu of %s is not the long value it should be",
			   (unsigned long long)at, t->name);
		return NULL;
	}
	if (!wanted)
		return NULL;
	*own = page_memory(p, len);
	if (*own && !page_read(p, at * p->size + HEADER, *own, len)) {
		page_fault(p, "page %llu cannot be read", (unsigned long long)at);
		free(*own);
		*own = NULL;
	}
	return *own;
}

static void entry_record(struct dp__pages *p, struct tree *t, uint64_t page,
			 const unsigned char *node)
{
	struct key k = node_key(node);
	MDB_val key = { k.len, (void *)k.at };
	uint32_t study, seq;
	unsigned char *own;
	const unsigned char *value = node_value(p, t, node, p->visitor->record != NULL, &own);

	if (!dp__key_read(&key, &study, &seq))
		page_fault(p, "page %llu: a record has a key of %zu bytes",
			   (unsigned long long)page, k.len);
	else if (value && p->visitor->record)
		p->stopped =
			p->visitor->record(p->visitor->arg, study, seq, value, node_size(node));
	free(own);
}

static void entry_fact(struct dp__pages *p, struct tree *t, uint64_t page,
		       const unsigned char *node)
{
	struct key k = node_key(node);
	unsigned char *own;
	const unsigned char *value = node_value(p, t, node, p->visitor->fact != NULL, &own);

	(void)page;
	if (value && p->visitor->fact)
		p->stopped = p->visitor->fact(p->visitor->arg, k.at, k.len, value, node_size(node));
	free(own);
}

/* A list of pages that were given back: its length, then the pages, highest first. */
static void entry_free(struct dp__pages *p, struct tree *t, uint64_t page,
		       const unsigned char *node)
{
	unsigned char *own;
	const unsigned char *list = node_value(p, t, node, true, &own);
	size_t room = node_size(node) / 8;
	uint64_t n = list && room ? get64(list) : 0, before = NO_PAGE;

	if (list && (room == 0 || n > room - 1))
		page_fault(p, "page %llu: a list of free pages is longer than its room",
			   (unsigned long long)page);
	else
		for (uint64_t i = 1; i <= n; i++) {
			uint64_t free_page = get64(list + 8 * i);

			if (free_page >= before) {
				page_fault(p,
					   "page %llu: a list of free pages is out of "
					   "order",
					   (unsigned long long)page);
				break;
			}
			before = free_page;
			if (!page_claim(p, free_page, 1, FREE, "the list of free pages"))
				break;
		}
	free(own);
}

/* ---- trees ---- */

static int key_order(const struct tree *t, struct key a, struct key b)
{
	size_t least = a.len < b.len ? a.len : b.len;
	int order;

	if (t->numbers) {
		uint64_t x = get64(a.at), y = get64(b.at);

		return x < y ? -1 : x > y;
	}
	order = memcmp(a.at, b.at, least);
	return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* Is the i-th node inside its page, and its key one of this tree? */
static bool node_sound(const struct dp__pages *p, const struct tree *t, const unsigned char *page,
		       size_t i, size_t *length)
{
	size_t upper = get16(page + 14), at = get16(page + HEADER + 2 * i), len;
	bool leaf = get16(page + 10) == LEAF;
	const unsigned char *node = page + at;

	if (at < upper || at % 2 || at + NODE > p->size)
		return false;
	len = NODE + (size_t)get16(node + 6);
	if (leaf) {
		uint16_t flags = get16(node + 4);

		if (flags & ~(t->below ? IS_TREE : IS_BIG))
			return false;
		len += flags & IS_BIG ? 8 : (size_t)node_size(node);
	}
	*length = len + len % 2;
	if (at + len > p->size)
		return false;
	/* the first key of a branch is not looked at */
	return (!leaf && i == 0) || (t->numbers ? get16(node + 6) == 8 : get16(node + 6) > 0);
}

static bool page_sound(struct dp__pages *p, const struct tree *t, const unsigned char *page,
		       uint64_t number, bool leaf)
{
	size_t lower = get16(page + 12), upper = get16(page + 14), used = 0, length;
	size_t n = (lower - HEADER) / 2;

	if (get64(page) != number || get16(page + 10) != (leaf ? LEAF : BRANCH)) {
		page_fault(p, "page %llu of %s is not the page it should be",
			   (unsigned long long)number, t->name);
		return false;
	}
	if (lower < HEADER + 2 || lower > upper || lower % 2 || upper > p->size) {
		page_fault(p, "page %llu of %s: its bounds are wrong", (unsigned long long)number,
			   t->name);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (!node_sound(p, t, page, i, &length)) {
			page_fault(p, "page %llu of %s: entry %zu is damaged",
				   (unsigned long long)number, t->name, i);
			return false;
		}
		used += length;
	}
	if (used != p->size - upper) {
		page_fault(p, "page %llu of %s: its entries overlap", (unsigned long long)number,
			   t->name);
		return false;
	}
	return true;
}

/* The keys of a page rise, and lie between those that the page above says. */
static bool keys_sound(struct dp__pages *p, const struct tree *t, const unsigned char *page,
		       const struct key *low, const struct key *high)
{
	size_t n = (get16(page + 12) - (size_t)HEADER) / 2;
	size_t first = get16(page + 10) == LEAF ? 0 : 1;

	for (size_t i = first; i < n; i++) {
		struct key k = node_key(page + get16(page + HEADER + 2 * i));

		if (i == first && low && key_order(t, k, *low) < 0)
			return false;
		if (i > first &&
		    key_order(t, node_key(page + get16(page + HEADER + 2 * i - 2)), k) >= 0)
			return false;
		if (high && key_order(t, k, *high) >= 0)
			return false;
	}
	(void)p;
	return true;
}

static void tree_page(struct dp__pages *p, struct tree *t, uint64_t number, unsigned depth,
		      const struct key *low, const struct key *high);

static void tree_nodes(struct dp__pages *p, struct tree *t, const unsigned char *page,
		       uint64_t number, unsigned depth, const struct key *low,
		       const struct key *high)
{
	size_t n = (get16(page + 12) - (size_t)HEADER) / 2;

	for (size_t i = 0; i < n && !p->stopped; i++) {
		const unsigned char *node = page + get16(page + HEADER + 2 * i);
		struct key from = node_key(node), to;

		if (depth == t->depth) {
			t->saw_entries++;
			t->entry(p, t, number, node);
			continue;
		}
		if (i + 1 < n)
			to = node_key(page + get16(page + HEADER + 2 * i + 2));
		tree_page(p, t, node_child(node), depth + 1, i ? &from : low,
			  i + 1 < n ? &to : high);
	}
}

/* A page that is not sound is told and left out with all below it. */
static void tree_page(struct dp__pages *p, struct tree *t, uint64_t number, unsigned depth,
		      const struct key *low, const struct key *high)
{
	unsigned char *page;
	bool leaf = depth == t->depth;

	if (!page_claim(p, number, 1, USED, t->name))
		return;
	page = page_memory(p, p->size);
	if (!page)
		return;
	if (!page_read(p, number * p->size, page, p->size)) {
		page_fault(p,
			   "page %llu of %s cannot be read: the file is shorter, or "
			   "the disk refuses",
			   (unsigned long long)number, t->name);
	} else if (page_sound(p, t, page, number, leaf)) {
		*(leaf ? &t->saw_leaves : &t->saw_branches) += 1;
		if (!keys_sound(p, t, page, low, high))
			page_fault(p, "page %llu of %s: its keys are out of order",
				   (unsigned long long)number, t->name);
		tree_nodes(p, t, page, number, depth, low, high);
	}
	free(page);
}

static void tree_read(struct tree *t, const unsigned char *at)
{
	t->flags = get16(at + 4);
	t->depth = get16(at + 6);
	t->branches = get64(at + 8);
	t->leaves = get64(at + 16);
	t->overflows = get64(at + 24);
	t->entries = get64(at + 32);
	t->root = get64(at + 40);
}

static void tree_walk(struct dp__pages *p, struct tree *t)
{
	uint64_t before = p->faults;

	if (t->flags & ~(t->numbers ? FREE_FLAGS | 0x4000 : 0)) {
		page_fault(p, "%s: unknown flags", t->name);
		return;
	}
	if (t->root == NO_PAGE && t->depth == 0 && t->entries == 0)
		return;
	if (t->depth == 0 || t->depth > DEPTH_MAX) {
		page_fault(p, "%s: a depth of %u", t->name, t->depth);
		return;
	}
	tree_page(p, t, t->root, 1, NULL, NULL);
	if (p->stopped || p->faults > before)
		return;
	if (t->saw_entries != t->entries || t->saw_branches != t->branches ||
	    t->saw_leaves != t->leaves || t->saw_overflows != t->overflows)
		page_fault(p, "%s: %llu entries are there, of %llu, or pages are missing", t->name,
			   (unsigned long long)t->saw_entries, (unsigned long long)t->entries);
}

/* The tree of trees: "events" and "meta". */
static void entry_tree(struct dp__pages *p, struct tree *t, uint64_t page,
		       const unsigned char *node)
{
	struct key k = node_key(node);
	struct tree *named = k.len == 6 && memcmp(k.at, "events", 6) == 0 ? &t->below[0]
			     : k.len == 4 && memcmp(k.at, "meta", 4) == 0 ? &t->below[1]
									  : NULL;

	if (!named || get16(node + 4) != IS_TREE || node_size(node) != TREE_SIZE) {
		page_fault(p, "page %llu: it names a database that is none of a journal",
			   (unsigned long long)page);
		return;
	}
	tree_read(named, node + NODE + k.len);
	tree_walk(p, named);
}

/* ---- the headers ---- */

static bool meta_read(struct dp__pages *p, unsigned i, unsigned char meta[META_SIZE])
{
	unsigned char page[HEADER + META_SIZE];

	if (!page_read(p, i * p->size, page, sizeof page) || get16(page + 10) != META ||
	    get32(page + HEADER) != MAGIC || get32(page + HEADER + 4) != 1)
		return false;
	memcpy(meta, page + HEADER, META_SIZE);
	return true;
}

static bool size_ok(uint32_t size)
{
	return size >= PAGE_LEAST && size <= PAGE_MOST && (size & (size - 1)) == 0;
}

bool dp__pages_have_headers(int fd)
{
	struct dp__pages p = { .fd = fd, .size = 4096 };
	unsigned char meta[META_SIZE];

	if (!meta_read(&p, 0, meta) || !size_ok(get32(meta + 24)))
		return false;
	p.size = get32(meta + 24);
	return meta_read(&p, 1, meta) && get32(meta + 24) == p.size;
}

/* The header of the state that is looked at; false if there is none. */
static bool pick_meta(struct dp__pages *p, unsigned char meta[META_SIZE])
{
	unsigned char both[2][META_SIZE];
	uint64_t number[2];
	bool sound[2];
	unsigned at;

	p->size = 4096;
	sound[0] = meta_read(p, 0, both[0]);
	if (sound[0] && size_ok(get32(both[0] + 24)))
		p->size = get32(both[0] + 24);
	sound[1] = meta_read(p, 1, both[1]);
	for (unsigned i = 0; i < 2; i++) {
		if (sound[i] && get32(both[i] + 24) != p->size)
			sound[i] = false;
		if (!sound[i])
			page_fault(p, "page %u, a header of the file, is damaged", i);
	}
	if (!sound[0] && !sound[1])
		return false;
	for (unsigned i = 0; i < 2; i++)
		number[i] = sound[i] ? get64(both[i] + 128) : 0;
	at = !sound[0] || (sound[1] && number[1] > number[0]);
	/* LMDB looks for each state in its own header, by its number */
	if (sound[0] && sound[1] && number[0] == number[1])
		at = number[0] % 2;
	if (p->txn && sound[p->txn % 2] && number[p->txn % 2] == p->txn)
		at = p->txn % 2;
	memcpy(meta, both[at], META_SIZE);
	if (p->txn && get64(meta + 128) != p->txn)
		return false; /* the writer was faster: not a fault */
	p->txn = get64(meta + 128);
	if (p->txn % 2 != at)
		page_fault(p, "page %u, a header of the file, is the other one's", at);
	return true;
}

/* The pages of the file, and whether the header speaks of no others. */
static int pages_begin(struct dp__pages *p, const unsigned char *meta, struct dp_err *err)
{
	struct stat st;

	if (fstat(p->fd, &st) != 0)
		return dp_fail_errno(err, errno, "cannot look at the journal's file");
	p->count = (uint64_t)st.st_size / p->size;
	p->last = get64(meta + 120);
	if (get64(meta + 16) > MAP_MOST)
		page_fault(p, "the header tells of a map of %llu bytes",
			   (unsigned long long)get64(meta + 16));
	if (p->last >= p->count) {
		page_fault(p, "the file is cut short: it has %llu of %llu pages",
			   (unsigned long long)p->count, (unsigned long long)p->last + 1);
		p->last = p->count ? p->count - 1 : 0;
	}
	p->seen = calloc(p->last + 1, 1);
	return p->seen ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory to check a journal");
}

int dp__pages_walk(struct dp__pages *p, int fd, uint64_t txn, const struct dp__visitor *visitor,
		   struct dp_err *err)
{
	struct tree below[2] = { { .name = "the records", .entry = entry_record },
				 { .name = "the facts", .entry = entry_fact } };
	struct tree trees = { .name = "the list of databases",
			      .entry = entry_tree,
			      .below = below };
	struct tree given = { .name = "the free pages", .entry = entry_free, .numbers = true };
	unsigned char meta[META_SIZE];
	int code;

	*p = (struct dp__pages){ .fd = fd, .visitor = visitor, .txn = txn };
	if (!pick_meta(p, meta))
		return txn && p->faults == 0
			       ? dp_fail(err, DP_E_BUSY, "the journal changed meanwhile")
			       : pages_begin(p, (unsigned char[META_SIZE]){ 0 }, err);
	code = pages_begin(p, meta, err);
	if (code != DP_OK)
		return code;
	tree_read(&trees, meta + 24 + TREE_SIZE);
	tree_read(&given, meta + 24);
	tree_walk(p, &trees);
	if (!p->stopped)
		tree_walk(p, &given);
	if (p->stopped == DP_E_NOMEM)
		return dp_fail(err, DP_E_NOMEM, "no memory to check a journal");
	return p->stopped;
}

/* ---- what lies about ---- */

/* One node of any page, if it looks like that of a record. */
static void scan_node(struct dp__pages *p, const unsigned char *page, size_t at)
{
	const unsigned char *node = page + at;
	unsigned char *own = NULL;
	const unsigned char *value;
	uint32_t study, seq;
	MDB_val key;
	size_t len;
	uint64_t big;

	if (at < HEADER || at + NODE + DP__KEY_SIZE + 8 > p->size ||
	    get16(node + 6) != DP__KEY_SIZE)
		return;
	len = node_size(node);
	value = node + NODE + DP__KEY_SIZE;
	if (get16(node + 4) & IS_BIG) {
		big = get64(value);
		if (big < FIRST_PAGE || big >= p->count ||
		    len > (p->count - big) * p->size - HEADER)
			return;
		value = own = page_memory(p, len);
		if (own && !page_read(p, big * p->size + HEADER, own, len))
			value = NULL;
	} else if (at + NODE + DP__KEY_SIZE + len > p->size) {
		return;
	}
	key = (MDB_val){ DP__KEY_SIZE, (void *)(node + NODE) };
	if (value && dp__key_read(&key, &study, &seq))
		p->stopped = p->visitor->record(p->visitor->arg, study, seq, value, len);
	free(own);
}

int dp__pages_scan(struct dp__pages *p, bool free_too, struct dp_err *err)
{
	unsigned char *page = page_memory(p, p->size);

	for (uint64_t i = FIRST_PAGE; page && i < p->count && !p->stopped; i++) {
		if (!free_too && i <= p->last && p->seen[i] == FREE)
			continue;
		if (!page_read(p, i * p->size, page, p->size))
			continue; /* the walk has told it */
		for (size_t k = HEADER; k + 2 <= get16(page + 12) && k + 2 <= p->size; k += 2)
			scan_node(p, page, get16(page + k));
	}
	free(page);
	return p->stopped == DP_E_NOMEM ? dp_fail(err, DP_E_NOMEM, "no memory to read a journal")
					: p->stopped;
}

void dp__pages_clear(struct dp__pages *p)
{
	free(p->seen);
	p->seen = NULL;
}
