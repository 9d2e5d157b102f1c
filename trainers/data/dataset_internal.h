/* dataset_internal.h - declarations shared by the files of trainers/data.
 *
 * Parsers are pure functions on memory. Their errors name line or offset and reason; the caller
 * adds the file. */
#ifndef DP_TRAINERS_DATA_DATASET_INTERNAL_H
#define DP_TRAINERS_DATA_DATASET_INTERNAL_H
#include "base/base.h"
#include "base/buf.h"
#include "trainers/data/data_splits.h"

enum {
	FEATURES_MAX = 65535, /* an index is 16 bits */
	CLASSES_MAX = 256,    /* a label is 8 bits */
	CLASS_NAME_LEN = 64,
	FILE_CONTENT_MAX = 1 << 30, /* bytes, uncompressed */
};
/* Values are clipped to +-3.5e13, because models multiply and square them in single precision. The
 * bound is a constant, and exceeding it is no error: a bound from the data, or a failure, would
 * reveal something about a single record. */
#define VALUE_MAX 0x1p45f

/* ---- class_labels.c ---- */

/* Class names, with one spelling per number: "+1" and "1.0" become "1". */
struct class_labels {
	uint32_t n;
	char name[CLASSES_MAX][CLASS_NAME_LEN];
};
/* Returns the number of a label, adding a class if it is new. Classes are numbered in order of
 * appearance until class_labels_sort(). */
DP_MUSTCHECK int class_labels_intern(struct class_labels *c, const char *text, size_t len,
				     uint8_t *number, struct dp_err *err);
/* Sorts the classes, by value if all are numbers, else by bytes, and renumbers `count` labels. */
void class_labels_sort(struct class_labels *c, uint8_t *label, size_t count);
/* The number of the class `name`, or -1. */
int class_labels_find(const struct class_labels *c, const char *name);

/* ---- dataset.c ---- */

struct dataset {
	struct sparse_rows rows;
	struct class_labels classes;
	uint32_t column_checksum; /* of the feature names; 0: no names */
	bool can_widen;           /* the file may not use all features (LIBSVM) */
	void *map;                /* file mapping that contains the arrays; NULL: malloc() */
	size_t map_len;
};
void dataset_free(struct dataset *s); /* also resets it to an empty set */

/* Builds a data set row by row. Zero-initialise it. */
struct dataset_builder {
	uint64_t *start;
	uint16_t *index;
	float *value; /* NULL while every entry is 1 */
	uint8_t *label;
	size_t nrows, row_capacity, nentries, entry_capacity;
};
/* Adds an entry to the current row, clipped to +-VALUE_MAX; zeros are skipped. */
void dataset_builder_add_entry(struct dataset_builder *b, uint32_t index, float value);
void dataset_builder_end_row(struct dataset_builder *b, uint8_t label);
/* Moves all rows to s->rows and sorts s->classes. Fails if there are no rows. */
DP_MUSTCHECK int dataset_builder_finish(struct dataset_builder *b, uint32_t nfeatures,
					struct dataset *s, struct dp_err *err);
void dataset_builder_free(struct dataset_builder *b);

/* ---- text_scanner.c ---- */

struct text_scanner {
	const char *pos, *end;
	size_t line; /* line read last, from 1 */
};
struct text_span {
	const char *p;
	size_t len;
};
void text_scanner_init(struct text_scanner *t, const char *p,
		       size_t len); /* skips a UTF-8 byte order mark */
/* Reads the next line without its end. False at the end of the text. */
bool text_scanner_read_line(struct text_scanner *t, struct text_span *line);
/* Calls `read_row` for each line, which adds at most one record. Errors get the line number. */
DP_MUSTCHECK int text_parse_rows(const char *p, size_t len,
				 int (*read_row)(struct text_span line, struct dataset_builder *b,
						 struct dataset *s, struct dp_err *err),
				 struct dataset_builder *b, struct dataset *s, struct dp_err *err);
/* Moves the part before `separator` from *rest to *part. False if nothing is left. */
bool span_split_at(struct text_span *rest, char separator, struct text_span *part);
/* Moves the next word, up to a space or tab, from *rest to *part. False if none is left. */
bool span_next_word(struct text_span *rest, struct text_span *part);
/* Removes leading and trailing spaces and tabs. */
struct text_span span_trim(struct text_span w);
bool span_equals(struct text_span w, const char *text);
/* Makes a span fit for a message: short, without unprintable bytes. Returns `out`. */
enum {
	SPAN_PRINTABLE_LEN = 48
};
const char *span_printable(struct text_span w, char out[SPAN_PRINTABLE_LEN]);
/* False if it is not a finite number. A number beyond the range of float becomes +-FLT_MAX. */
DP_MUSTCHECK bool span_parse_float(struct text_span w, float *x);
/* An integer of at most 9 digits. */
DP_MUSTCHECK bool span_parse_uint(struct text_span w, uint32_t *x);

/* ---- parsers ---- */

DP_MUSTCHECK int libsvm_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err);
DP_MUSTCHECK int adult_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err);
DP_MUSTCHECK int csv_parse(const char *p, size_t len, const char *label_column, struct dataset *s,
			   struct dp_err *err);
/* Images and labels are two files; errors say which one they are about. */
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

/* ---- dataset_files.c ---- */

struct dataset_files {
	char *train;
	char *test; /* NULL: split the training file */
};
DP_MUSTCHECK int dataset_files_find(const struct data_options *o, struct dataset_files *f,
				    struct dp_err *err);
void dataset_files_free(struct dataset_files *f);
/* The path of `name` in the directory of `path`, plain or with ".gz"; NULL if it does not exist. */
char *find_sibling_file(const char *path, const char *name);
/* True for a built-in name, false for a path. */
bool is_named_dataset(const char *name);
const char *path_basename(const char *path);

/* ---- dataset_load.c: loads one file (IDX: two), from the cache if it is current ---- */

DP_MUSTCHECK int dataset_load(const char *path, const struct data_options *o, struct dataset *s,
			      struct dp_err *err);

/* ---- dataset_cache.c ---- */

/* What a set was parsed from. Any change invalidates the cache. */
struct cache_source {
	const char *path, *labels; /* labels: of IDX images, in the same directory; or NULL */
	const char *label_column;  /* or NULL */
};
/* Maps the cache of `path`. False if there is none that is valid and current. */
bool dataset_cache_open(const char *path, const char *label_column, struct dataset *s);
/* State of a source file, taken before it is read. */
struct file_stamp {
	uint64_t size;
	int64_t seconds, nanoseconds; /* of the last change */
	uint32_t mode;
};
DP_MUSTCHECK int file_stamp_read(const char *path, struct file_stamp *t, struct dp_err *err);
/* Writes a cache to the file's directory, or else to the user's cache. False on failure. */
bool dataset_cache_write(const struct cache_source *from, const struct file_stamp stamps[2],
			 const struct dataset *s);
/* Serialises a cache. False if the header cannot hold a name. */
DP_MUSTCHECK bool dataset_cache_encode(const struct cache_source *from,
				       const struct file_stamp stamps[2], const struct dataset *s,
				       struct dp_buf *out);
/* Checks a serialised cache; if it is consistent, *s points into it. */
bool dataset_cache_decode(const void *p, size_t len, struct dataset *s);

/* ---- open_dataset.c ---- */

/* Random stream that selects the records. */
enum split_purpose {
	SPLIT_TEST = 1,
	SPLIT_HOLDOUT = 2,
};
/* Copies rint(share * n) records, at least one and not all, to `part`, others to `rest`, in
 * order. */
DP_MUSTCHECK int sparse_rows_split(const struct sparse_rows *all, double share, uint64_t seed,
				   enum split_purpose use, struct dataset *rest,
				   struct dataset *part, struct dp_err *err);

#endif
