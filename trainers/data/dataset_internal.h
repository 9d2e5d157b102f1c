/* dataset_internal.h - how a data set is made: files, their formats, parsed sets, caches.
 *
 * Parsers are pure functions on memory. Their errors say line or offset and reason; the caller
 * prefixes the file. */
#ifndef DP_TRAINERS_DATA_DATASET_INTERNAL_H
#define DP_TRAINERS_DATA_DATASET_INTERNAL_H
#include "base/base.h"
#include "base/buf.h"
#include "trainers/data/data_splits.h"

enum {
	FEATURES_MAX = 65535, /* an index is 16 bits */
	CLASSES_MAX = 256,    /* a label is 8 bits */
	CLASS_NAME_LEN = 64,
	FILE_CONTENT_MAX = 1 << 30, /* bytes of a file, unpacked */
};
/* Larger values count as this one (3.5e13), with their sign: models multiply and square values in
 * single precision. A constant, and no error, because both a limit that follows the data and a
 * refusal would tell something about a single record. */
#define VALUE_MAX 0x1p45f

/* ---- class_labels.c: labels as written, and their numbers ---- */

/* Numbers are kept in one spelling: "+1" and "1.0" are "1". */
struct class_labels {
	uint32_t n;
	char name[CLASSES_MAX][CLASS_NAME_LEN];
};
/* The number of a label, which is a new class if it was not met before. Classes are numbered as
 * they come until class_labels_sort(). */
DP_MUSTCHECK int class_labels_intern(struct class_labels *c, const char *text, size_t len,
				     uint8_t *number, struct dp_err *err);
/* Puts the classes in order, by value if all are numbers and by bytes otherwise, and renumbers
 * `count` labels. */
void class_labels_sort(struct class_labels *c, uint8_t *label, size_t count);
/* The number of the class called `name`, or -1. */
int class_labels_find(const struct class_labels *c, const char *name);

/* ---- dataset.c: parsed records that own their memory ---- */

struct dataset {
	struct sparse_rows rows;
	struct class_labels classes;
	uint32_t column_checksum; /* checksum of the features' names; 0: they have none */
	bool can_widen;           /* the file does not say how many features there are: there
				   * may be more than are used in it (LIBSVM) */
	void *map;                /* the arrays are in this mapped file; NULL: each by malloc */
	size_t map_len;
};
void dataset_free(struct dataset *s); /* and makes it empty again */

/* Makes a set row by row. Zero-initialise it. */
struct dataset_builder {
	uint64_t *start;
	uint16_t *index;
	float *value; /* NULL while every entry is 1 */
	uint8_t *label;
	size_t nrows, row_capacity, nentries, entry_capacity;
};
/* An entry of the row being made, within +-VALUE_MAX; zeros are left out. */
void dataset_builder_add_entry(struct dataset_builder *b, uint32_t index, float value);
/* Ends a row. */
void dataset_builder_end_row(struct dataset_builder *b, uint8_t label);
/* Moves all rows to s->rows and sorts s->classes. Fails if there are no rows. */
DP_MUSTCHECK int dataset_builder_finish(struct dataset_builder *b, uint32_t nfeatures,
					struct dataset *s, struct dp_err *err);
void dataset_builder_free(struct dataset_builder *b);

/* ---- text_scanner.c: what the text formats share ---- */

struct text_scanner {
	const char *pos, *end;
	size_t line; /* of what was read last, from 1 */
};
struct text_span {
	const char *p;
	size_t len;
};
void text_scanner_init(struct text_scanner *t, const char *p, size_t len); /* skips a UTF-8 mark */
/* The next line without its end; false at the end of the text. */
bool text_scanner_read_line(struct text_scanner *t, struct text_span *line);
/* Gives each line to `read_row`, which adds a record or none; its errors get the line's number. */
DP_MUSTCHECK int text_parse_rows(const char *p, size_t len,
				 int (*read_row)(struct text_span line, struct dataset_builder *b,
						 struct dataset *s, struct dp_err *err),
				 struct dataset_builder *b, struct dataset *s, struct dp_err *err);
/* Cuts the part before `separator` off *rest; false if nothing is left. */
bool span_split_at(struct text_span *rest, char separator, struct text_span *part);
/* Cuts the next word, which ends at a space or tab, off *rest; false if none is left. */
bool span_next_word(struct text_span *rest, struct text_span *part);
/* Without space around it. */
struct text_span span_trim(struct text_span w);
bool span_equals(struct text_span w, const char *text);
/* Fit for a message: short, without unprintable bytes. Returns `out`. */
enum {
	SPAN_PRINTABLE_LEN = 48
};
const char *span_printable(struct text_span w, char out[SPAN_PRINTABLE_LEN]);
/* False if it is not a finite number. One that a float cannot hold, however large, is the largest
 * or smallest float. */
DP_MUSTCHECK bool span_parse_float(struct text_span w, float *x);
/* A whole number of at most 9 digits. */
DP_MUSTCHECK bool span_parse_uint(struct text_span w, uint32_t *x);

/* ---- the formats ---- */

DP_MUSTCHECK int libsvm_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err);
DP_MUSTCHECK int adult_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err);
DP_MUSTCHECK int csv_parse(const char *p, size_t len, const char *label_column, struct dataset *s,
			   struct dp_err *err);
/* Images and labels are two files; an error says which of them it means. */
DP_MUSTCHECK int idx_parse(const char *images, size_t nimages, const char *labels, size_t nlabels,
			   struct dataset *s, struct dp_err *err);

enum data_format {
	DATA_FORMAT_UNKNOWN,
	DATA_FORMAT_LIBSVM,
	DATA_FORMAT_ADULT,
	DATA_FORMAT_CSV,
	DATA_FORMAT_IDX,
};
enum data_format data_format_detect(const char *p, size_t len);

/* ---- synthetic_census.c ---- */

enum {
	CENSUS_GROUPS = 14,
	CENSUS_FEATURES = 123,
	CENSUS_TRAIN_RECORDS = 30956,
	CENSUS_TEST_RECORDS = 1605,
};
DP_MUSTCHECK int census_generate(struct dataset *train, struct dataset *test, struct dp_err *err);

/* ---- dataset_files.c: which files ---- */

struct dataset_files {
	char *train;
	char *test; /* NULL: a part of the training file has to do */
};
DP_MUSTCHECK int dataset_files_find(const struct data_options *o, struct dataset_files *f,
				    struct dp_err *err);
void dataset_files_free(struct dataset_files *f);
/* `name` in the folder of `path`, plain or with ".gz"; NULL if there is none. */
char *find_sibling_file(const char *path, const char *name);
/* Is it a name of a set that DPareto knows, and not a path? */
bool is_named_dataset(const char *name);
/* The last part of a path. */
const char *path_basename(const char *path);

/* ---- dataset_load.c: one file (IDX: two) to one set, by its cache if that is good ---- */

DP_MUSTCHECK int dataset_load(const char *path, const struct data_options *o, struct dataset *s,
			      struct dp_err *err);

/* ---- dataset_cache.c ---- */

/* What a set was read from. A change of any of it makes a cache old. */
struct cache_source {
	const char *path, *labels; /* labels: IDX, or NULL; in the same folder */
	const char *label_column;  /* or NULL */
};
/* Maps a cache of `path` that is whole and not older than what it was made of; false if there is
 * none. */
bool dataset_cache_open(const char *path, const char *label_column, struct dataset *s);
/* What origin's files are now; taken before they are read. */
struct file_stamp {
	uint64_t size;
	int64_t seconds, nanoseconds; /* of the last change */
	uint32_t mode;
};
DP_MUSTCHECK int file_stamp_read(const char *path, struct file_stamp *t, struct dp_err *err);
/* Writes a cache beside the file, or else in the user's cache folder; true if done. */
bool dataset_cache_write(const struct cache_source *from, const struct file_stamp stamps[2],
			 const struct dataset *s);
/* A whole cache as bytes; false if its header cannot hold the names of the files. */
DP_MUSTCHECK bool dataset_cache_encode(const struct cache_source *from,
				       const struct file_stamp stamps[2], const struct dataset *s,
				       struct dp_buf *out);
/* A cache in memory: true if all in it is consistent; *s then points into it. */
bool dataset_cache_decode(const void *p, size_t len, struct dataset *s);

/* ---- open_dataset.c ---- */

/* Which stream of a seed chooses the records. */
enum split_purpose {
	SPLIT_TEST = 1,
	SPLIT_HOLDOUT = 2,
};
/* Copies rint(share * n) records, at least one and not all, to `part` and the others to `rest`;
 * both keep their order. */
DP_MUSTCHECK int sparse_rows_split(const struct sparse_rows *all, double share, uint64_t seed,
				   enum split_purpose use, struct dataset *rest,
				   struct dataset *part, struct dp_err *err);

#endif
