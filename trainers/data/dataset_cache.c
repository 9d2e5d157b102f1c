/* dataset_cache.c - caches parsed data sets in files that trainers map.
 *
 * Trainers start in milliseconds and share pages.
 *
 * A cache is a header, then start, value (unless all are 1), index and label as in memory. It is
 * validated completely when it is opened: a damaged cache is ignored, and no content can lead a
 * trainer outside its arrays. */
#include "base/fs.h"
#include "trainers/data/dataset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	VERSION = 2, /* of this layout and of the parsers' output */
	BYTE_ORDER_MARK = 0x01020304,
	NAME_LEN = 256,
};
static const char magic[8] = "DPDATA\r\n";

struct cache_source_file {
	uint64_t size;
	int64_t seconds, nanoseconds;
	char name[NAME_LEN]; /* without directory */
};

struct cache_header {
	char magic[8];
	uint32_t version, byte_order;
	uint32_t n, nfeatures, nclasses, max_row_entries;
	uint64_t nentries;
	uint32_t has_value, column_checksum, can_widen, n_sources;
	struct cache_source_file sources[2];
	char label_column[NAME_LEN]; /* empty: none was given */
	char class_name[CLASSES_MAX][CLASS_NAME_LEN];
	uint64_t content_checksum;
	uint32_t header_checksum; /* crc32 of the header with this field 0 */
	uint32_t unused;
};
_Static_assert(sizeof(struct cache_header) % 8 == 0, "the arrays behind it are aligned");

/* ---- format ---- */

/* A sum of 8-byte words in four lanes, as fast as memory. It detects damage, not forgery. */
static uint64_t checksum64(const void *p, size_t len)
{
	static const uint64_t odd = 0x9e3779b97f4a7c15;
	uint64_t lane[4] = { 1, 2, 3, 4 }, word[4], sum = len;
	const char *at = p;

	for (; len >= sizeof word; at += sizeof word, len -= sizeof word) {
		memcpy(word, at, sizeof word);
		for (int i = 0; i < 4; i++)
			lane[i] = (lane[i] ^ word[i]) * odd;
	}
	memset(word, 0, sizeof word);
	memcpy(word, at, len);
	for (int i = 0; i < 4; i++) {
		lane[i] = (lane[i] ^ word[i]) * odd;
		sum = (sum ^ lane[i] ^ lane[i] >> 32) * odd;
	}
	return sum;
}

static uint32_t cache_header_checksum(const struct cache_header *h)
{
	struct cache_header copy = *h;

	copy.header_checksum = 0;
	return (uint32_t)crc32(0, (const Bytef *)&copy, sizeof copy);
}

static bool cache_header_is_valid(const struct cache_header *h, size_t len)
{
	uint64_t each = sizeof(uint16_t) + (h->has_value ? sizeof(float) : 0);

	if (memcmp(h->magic, magic, sizeof magic) != 0 || h->version != VERSION ||
	    h->byte_order != BYTE_ORDER_MARK || h->header_checksum != cache_header_checksum(h))
		return false;
	if (h->n == 0 || h->nfeatures == 0 || h->nfeatures > FEATURES_MAX || h->nclasses == 0 ||
	    h->nclasses > CLASSES_MAX || h->has_value > 1 || h->can_widen > 1 ||
	    h->n_sources == 0 || h->n_sources > DP_COUNT(h->sources))
		return false;
	for (uint32_t i = 0; i < h->nclasses; i++)
		if (!memchr(h->class_name[i], '\0', CLASS_NAME_LEN))
			return false;
	for (uint32_t i = 0; i < h->n_sources; i++)
		if (!memchr(h->sources[i].name, '\0', NAME_LEN) || strchr(h->sources[i].name, '/'))
			return false;
	if (!memchr(h->label_column, '\0', NAME_LEN))
		return false;
	return h->nentries <= len &&
	       len == sizeof *h + 8 * ((uint64_t)h->n + 1) + each * h->nentries + h->n;
}

/* Number of indices that do not exceed their predecessor. In blocks, which compilers vectorise. */
static uint64_t count_non_increasing(const uint16_t *index, uint64_t n)
{
	enum {
		BLOCK = 64
	};
	uint64_t falls = 0, k = 1;

	for (; k + BLOCK <= n; k += BLOCK) {
		uint16_t block = 0;

		for (int j = 0; j < BLOCK; j++)
			block = (uint16_t)(block +
					   (index[k - 1 + (uint64_t)j] >= index[k + (uint64_t)j]));
		falls += block;
	}
	for (; k < n; k++)
		falls += index[k - 1] >= index[k];
	return falls;
}

/* True if rows lie within the arrays, indices ascend below nfeatures, and labels are classes. */
static bool cached_rows_are_valid(const struct sparse_rows *r, uint64_t nentries)
{
	uint64_t fullest = 0, falls = 0;
	uint8_t highest = 0;

	if (r->start[0] != 0 || r->start[r->n] != nentries)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t from = r->start[i], to = r->start[i + 1];

		if (to < from || to > nentries)
			return false;
		if (to == from)
			continue;
		if (to - from > fullest)
			fullest = to - from;
		if (r->index[to - 1] >= r->nfeatures)
			return false;
		/* indices may fall only from one row to the next */
		falls += from > 0 && r->index[from - 1] >= r->index[from];
	}
	for (uint32_t i = 0; i < r->n; i++)
		highest = r->label[i] > highest ? r->label[i] : highest;
	return fullest == r->max_row_entries && highest < r->nclasses &&
	       falls == count_non_increasing(r->index, nentries);
}

bool dataset_cache_decode(const void *p, size_t len, struct dataset *s)
{
	const struct cache_header *h = p;
	const char *at = (const char *)p + sizeof *h;
	struct sparse_rows *r = &s->rows;

	if (len < sizeof *h || !cache_header_is_valid(h, len) ||
	    checksum64(at, len - sizeof *h) != h->content_checksum)
		return false;
	r->n = h->n;
	r->nfeatures = h->nfeatures;
	r->nclasses = h->nclasses;
	r->max_row_entries = h->max_row_entries;
	r->start = (const uint64_t *)at;
	at += ((size_t)h->n + 1) * sizeof *r->start;
	r->value = h->has_value ? (const float *)at : NULL;
	at += h->has_value ? h->nentries * sizeof *r->value : 0;
	r->index = (const uint16_t *)at;
	at += h->nentries * sizeof *r->index;
	r->label = (const uint8_t *)at;
	if (!cached_rows_are_valid(r, h->nentries))
		return false;
	s->classes.n = h->nclasses;
	memcpy(s->classes.name, h->class_name, sizeof h->class_name);
	s->column_checksum = h->column_checksum;
	s->can_widen = h->can_widen != 0;
	return true;
}

/* ---- paths ---- */

static char *cache_path_beside(const char *path)
{
	const char *base = path_basename(path);

	return dp_asprintf("%.*s.%s.dpcache", (int)(base - path), path, base);
}

/* Includes a checksum of the directory, since the user's cache holds files of many directories. */
static char *cache_path_in_user_dir(const char *path)
{
	char *folder = dp_user_dir("XDG_CACHE_HOME", ".cache");
	char *real = dp_path_dir_absolute(path), *cache = NULL;

	if (folder && real)
		cache = dp_asprintf("%s/%s-%016llx.dpcache", folder, path_basename(path),
				    (unsigned long long)checksum64(real, strlen(real)));
	free(folder);
	free(real);
	return cache;
}

/* ---- reading ---- */

int file_stamp_read(const char *path, struct file_stamp *t, struct dp_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return dp_fail_errno(err, errno, "cannot open %s", path);
	t->size = (uint64_t)st.st_size;
	t->seconds = st.st_mtim.tv_sec;
	t->nanoseconds = st.st_mtim.tv_nsec;
	t->mode = st.st_mode;
	return DP_OK;
}

/* True if the files are unchanged since the cache was written. */
static bool cache_is_current(const struct cache_header *h, const char *path,
			     const char *label_column)
{
	if (strcmp(h->sources[0].name, path_basename(path)) != 0 ||
	    strcmp(h->label_column, label_column ? label_column : "") != 0)
		return false;
	for (uint32_t i = 0; i < h->n_sources; i++) {
		const struct cache_source_file *was = &h->sources[i];
		char *full =
			dp_asprintf("%.*s%s", (int)(path_basename(path) - path), path, was->name);
		struct file_stamp now;
		bool same = file_stamp_read(full, &now, NULL) == DP_OK && now.size == was->size &&
			    now.seconds == was->seconds && now.nanoseconds == was->nanoseconds;

		free(full);
		if (!same)
			return false;
	}
	return true;
}

static bool cache_map_file(const char *cache, const char *path, const char *label_column,
			   struct dataset *s)
{
	int fd = open(cache, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	size_t len = 0;
	void *p = MAP_FAILED;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= (off_t)sizeof(struct cache_header)) {
		len = (size_t)st.st_size;
		/* populate: it is read completely for validation */
		p = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	}
	close(fd);
	if (p == MAP_FAILED)
		return false;
	if (!dataset_cache_decode(p, len, s) || !cache_is_current(p, path, label_column)) {
		memset(s, 0, sizeof *s);
		munmap(p, len);
		return false;
	}
	s->map = p;
	s->map_len = len;
	return true;
}

bool dataset_cache_open(const char *path, const char *label_column, struct dataset *s)
{
	char *places[] = { cache_path_beside(path), cache_path_in_user_dir(path) };
	bool found = false;

	for (size_t i = 0; i < DP_COUNT(places); i++) {
		found = found || (places[i] && cache_map_file(places[i], path, label_column, s));
		free(places[i]);
	}
	return found;
}

/* ---- writing ---- */

/* False if a name is too long for the header: then there is no cache. */
static bool cache_header_set_name(char to[NAME_LEN], const char *from)
{
	size_t len = strlen(from);

	if (len >= NAME_LEN)
		return false;
	memcpy(to, from, len + 1);
	return true;
}

static bool fill_header(struct cache_header *h, const struct cache_source *from,
			const struct file_stamp stamps[2], const struct dataset *s)
{
	const struct sparse_rows *r = &s->rows;
	const char *const paths[] = { from->path, from->labels };

	memcpy(h->magic, magic, sizeof magic);
	h->version = VERSION;
	h->byte_order = BYTE_ORDER_MARK;
	h->n = r->n;
	h->nfeatures = r->nfeatures;
	h->nclasses = r->nclasses;
	h->max_row_entries = r->max_row_entries;
	h->nentries = r->start[r->n];
	h->has_value = r->value != NULL;
	h->column_checksum = s->column_checksum;
	h->can_widen = s->can_widen;
	h->n_sources = from->labels ? 2 : 1;
	for (uint32_t i = 0; i < h->n_sources; i++) {
		h->sources[i].size = stamps[i].size;
		h->sources[i].seconds = stamps[i].seconds;
		h->sources[i].nanoseconds = stamps[i].nanoseconds;
		if (!cache_header_set_name(h->sources[i].name, path_basename(paths[i])))
			return false;
	}
	memcpy(h->class_name, s->classes.name, sizeof h->class_name);
	return cache_header_set_name(h->label_column, from->label_column ? from->label_column : "");
}

bool dataset_cache_encode(const struct cache_source *from, const struct file_stamp stamps[2],
			  const struct dataset *s, struct dp_buf *out)
{
	const struct sparse_rows *r = &s->rows;
	struct cache_header *h = dp_calloc(1, sizeof *h);
	uint64_t nentries = r->start[r->n];

	if (!fill_header(h, from, stamps, s)) {
		free(h);
		return false;
	}
	dp_buf_add(out, h, sizeof *h);
	dp_buf_add(out, r->start, ((size_t)r->n + 1) * sizeof *r->start);
	if (r->value)
		dp_buf_add(out, r->value, nentries * sizeof *r->value);
	dp_buf_add(out, r->index, nentries * sizeof *r->index);
	dp_buf_add(out, r->label, r->n);
	h->content_checksum = checksum64(out->data + sizeof *h, out->len - sizeof *h);
	h->header_checksum = cache_header_checksum(h);
	memcpy(out->data, h, sizeof *h);
	free(h);
	return true;
}

/* Writes to a temporary file first, so that trainers that start together do not write into the same
 * file; the last rename wins, and all wrote the same content. Readable by users who can read the
 * data. Not synced: a cache damaged by a crash is rebuilt. */
static bool cache_write_file(const char *cache, const struct dp_buf *content, uint32_t mode)
{
	char *tmp = dp_asprintf("%s.XXXXXX", cache);
	int fd = mkostemp(tmp, O_CLOEXEC);
	bool done = false;

	if (fd >= 0) {
		done = dp_write_all(fd, content->data, content->len) == 0 &&
		       fchmod(fd, mode & 0666) == 0;
		done = close(fd) == 0 && done && rename(tmp, cache) == 0;
		if (!done)
			unlink(tmp);
	}
	free(tmp);
	return done;
}

/* A directory without write permission bits is respected by root, too. */
static bool is_directory_writable(const char *path)
{
	char *folder = dp_path_dir_absolute(path);
	struct stat st;
	bool may = folder && stat(folder, &st) == 0 && (st.st_mode & 0222) != 0 &&
		   access(folder, W_OK) == 0;

	free(folder);
	return may;
}

bool dataset_cache_write(const struct cache_source *from, const struct file_stamp stamps[2],
			 const struct dataset *s)
{
	char *beside = cache_path_beside(from->path), *own = cache_path_in_user_dir(from->path);
	char *folder = dp_user_dir("XDG_CACHE_HOME", ".cache");
	struct dp_buf content = DP_BUF_INIT;
	uint32_t mode = stamps[0].mode;
	bool done = false;

	if (from->labels)
		mode &= stamps[1].mode;
	if (dataset_cache_encode(from, stamps, s, &content))
		done = (is_directory_writable(from->path) &&
			cache_write_file(beside, &content, mode)) ||
		       (folder && own && dp_mkdirs(folder, 0700, NULL) == DP_OK &&
			cache_write_file(own, &content, mode));
	dp_buf_free(&content);
	free(beside);
	free(own);
	free(folder);
	return done;
}
