/* data_internal.h - how a data set comes to be: files, their formats, parsed sets,
 * caches.
 *
 * Parsers are pure functions on memory. Their errors say line or offset and reason; who
 * knows the file puts its name before them. */
#ifndef DP_DATA_INTERNAL_H
#define DP_DATA_INTERNAL_H
#include "base/base.h"
#include "base/buf.h"
#include "trainers/data/data.h"

enum {
	FEATURES_MAX = 65535, /* an index is 16 bits */
	CLASSES_MAX = 256,    /* a label is 8 bits */
	CLASS_NAME_LEN = 64,
	CONTENT_MAX = 1 << 30, /* bytes of a file, unpacked */
};
/* Larger values count as this one (3.5e13), with their sign: models multiply and square
 * values in single precision. A constant, and no error, because both a limit that
 * follows the data and a refusal would tell something about a single record. */
#define VALUE_MAX 0x1p45f

/* ---- classes.c: labels as written, and their numbers ---- */

/* Numbers are kept in one spelling: "+1" and "1.0" are "1". */
struct classes {
	uint32_t n;
	char name[CLASSES_MAX][CLASS_NAME_LEN];
};
/* The number of a label, which is a new class if it was not met before. Classes are
 * numbered as they come until classes_sort(). */
DP_MUSTCHECK int classes_number(struct classes *c, const char *text, size_t len, uint8_t *number,
				struct dp_err *err);
/* Puts the classes in order, by value if all are numbers and by bytes otherwise, and
 * renumbers `count` labels. */
void classes_sort(struct classes *c, uint8_t *label, size_t count);
/* The number of the class called `name`, or -1. */
int classes_find(const struct classes *c, const char *name);

/* ---- set.c: parsed records that own their memory ---- */

struct set {
	struct rows rows;
	struct classes classes;
	uint32_t columns; /* checksum of the features' names; 0: they have none */
	bool widens;      /* the file does not say how many features there are: there
			   * may be more than are used in it (LIBSVM) */
	void *map;        /* the arrays are in this mapped file; NULL: each by malloc */
	size_t map_len;
};
void set_free(struct set *s); /* and makes it empty again */

/* Makes a set row by row. Zero-initialise it. When memory ends, additions do nothing
 * and builder_finish() fails. */
struct builder {
	uint64_t *start;
	uint16_t *index;
	float *value; /* NULL while every entry is 1 */
	uint8_t *label;
	size_t nrows, row_room, nentries, entry_room;
	bool failed;
};
/* An entry of the row being made, within +-VALUE_MAX; zeros are left out. */
void builder_entry(struct builder *b, uint32_t index, float value);
/* Ends a row. */
void builder_row(struct builder *b, uint8_t label);
/* Moves all rows to s->rows and sorts s->classes. Fails if there are no rows. */
DP_MUSTCHECK int builder_finish(struct builder *b, uint32_t nfeatures, struct set *s,
				struct dp_err *err);
void builder_free(struct builder *b);

/* ---- text.c: what the text formats share ---- */

struct text {
	const char *at, *end;
	size_t line; /* of what was read last, from 1 */
};
struct word {
	const char *p;
	size_t len;
};
void text_init(struct text *t, const char *p, size_t len); /* skips a UTF-8 mark */
/* The next line without its end; false at the end of the text. */
bool text_read_line(struct text *t, struct word *line);
/* Gives each line to `read_row`, which adds a record or none; its errors get the line's
 * number. */
DP_MUSTCHECK int text_rows(const char *p, size_t len,
			   int (*read_row)(struct word line, struct builder *b, struct set *s,
					   struct dp_err *err),
			   struct builder *b, struct set *s, struct dp_err *err);
/* Cuts the part before `separator` off *rest; false if nothing is left. */
bool word_cut(struct word *rest, char separator, struct word *part);
/* Cuts the next word, which ends at a space or tab, off *rest; false if none is left. */
bool word_next(struct word *rest, struct word *part);
/* Without space around it. */
struct word word_trim(struct word w);
bool word_is(struct word w, const char *text);
/* Fit for a message: short, without unprintable bytes. Returns `out`. */
enum {
	SHOWN_LEN = 48
};
const char *word_show(struct word w, char out[SHOWN_LEN]);
/* False if it is not a finite number. One that a float cannot hold, however large, is
 * the largest or smallest float. */
DP_MUSTCHECK bool word_float(struct word w, float *x);
/* A whole number of at most 9 digits. */
DP_MUSTCHECK bool word_whole(struct word w, uint32_t *x);

/* ---- the formats ---- */

DP_MUSTCHECK int libsvm_parse(const char *p, size_t len, struct set *s, struct dp_err *err);
DP_MUSTCHECK int adult_parse(const char *p, size_t len, struct set *s, struct dp_err *err);
DP_MUSTCHECK int csv_parse(const char *p, size_t len, const char *label_column, struct set *s,
			   struct dp_err *err);
/* Images and labels are two files; an error says which of them it means. */
DP_MUSTCHECK int idx_parse(const char *images, size_t nimages, const char *labels, size_t nlabels,
			   struct set *s, struct dp_err *err);

enum format {
	FORMAT_UNKNOWN,
	FORMAT_LIBSVM,
	FORMAT_ADULT,
	FORMAT_CSV,
	FORMAT_IDX,
};
enum format format_of(const char *p, size_t len);

/* ---- census.c ---- */

enum {
	CENSUS_GROUPS = 14,
	CENSUS_FEATURES = 123,
	CENSUS_TRAIN = 30956,
	CENSUS_TEST = 1605,
};
DP_MUSTCHECK int census_make(struct set *train, struct set *test, struct dp_err *err);

/* ---- find.c: which files ---- */

struct files {
	char *train;
	char *test; /* NULL: a part of the training file has to do */
};
DP_MUSTCHECK int find_files(const struct data_options *o, struct files *f, struct dp_err *err);
void files_free(struct files *f);
/* `name` in the folder of `path`, plain or with ".gz"; NULL if there is none. */
char *find_beside(const char *path, const char *name);
/* Is it a name of a set that DPareto knows, and not a path? */
bool is_known_set(const char *name);
/* The last part of a path. */
const char *path_base(const char *path);

/* ---- load.c: one file (IDX: two) to one set, by its cache if that is good ---- */

DP_MUSTCHECK int load_set(const char *path, const struct data_options *o, struct set *s,
			  struct dp_err *err);

/* ---- cache.c ---- */

/* What a set was read from. A change of any of it makes a cache old. */
struct origin {
	const char *path, *labels; /* labels: IDX, or NULL; in the same folder */
	const char *label_column;  /* or NULL */
};
/* Maps a cache of `path` that is whole and not older than what it was made of; false
 * if there is none. */
bool cache_open(const char *path, const char *label_column, struct set *s);
/* What origin's files are now; taken before they are read. */
struct stamp {
	uint64_t size;
	int64_t seconds, nanoseconds; /* of the last change */
	uint32_t mode;
};
DP_MUSTCHECK int stamp_take(const char *path, struct stamp *t, struct dp_err *err);
/* Writes a cache beside the file, or else in the user's cache folder; true if done. */
bool cache_write(const struct origin *from, const struct stamp stamps[2], const struct set *s);
/* A whole cache as bytes; out->failed if that could not be. */
void cache_encode(const struct origin *from, const struct stamp stamps[2], const struct set *s,
		  struct dp_buf *out);
/* A cache in memory: true if all in it is consistent; *s then points into it. */
bool cache_decode(const void *p, size_t len, struct set *s);

/* ---- split.c ---- */

/* Which stream of a seed chooses the records. */
enum split_use {
	SPLIT_TEST = 1,
	SPLIT_HOLDOUT = 2,
};
/* Copies rint(share * n) records, at least one and not all, to `part` and the others
 * to `rest`; both keep their order. */
DP_MUSTCHECK int split_rows(const struct rows *all, double share, uint64_t seed, enum split_use use,
			    struct set *rest, struct set *part, struct dp_err *err);

#endif
