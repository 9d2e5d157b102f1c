/* dataset_load.c - loads one data file, or IDX images with their labels, by way of the cache. */
#include "base/fs.h"
#include "trainers/data/dataset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int read_gzip_stream(gzFile in, const char *path, struct dp_buf *out, struct dp_err *err)
{
	static const int chunk = 1 << 18;
	char *bytes = dp_malloc((size_t)chunk);
	const char *why;
	bool too_long = false;
	int n, status;

	while ((n = gzread(in, bytes, (unsigned)chunk)) > 0) {
		too_long = out->len + (size_t)n > FILE_CONTENT_MAX;
		if (too_long)
			break;
		dp_buf_add(out, bytes, (size_t)n);
	}
	free(bytes);
	if (too_long)
		return dp_fail(err, DP_E_LIMIT, "%s: more than %d MiB when unpacked", path,
			       FILE_CONTENT_MAX >> 20);
	why = gzerror(in, &status);
	if (status == Z_ERRNO)
		return dp_fail_errno(err, errno, "cannot read %s", path);
	if (status != Z_OK && status != Z_STREAM_END)
		return dp_fail(err, DP_E_CORRUPT, "%s: the gzip data is %s near offset %lld (%s)",
			       path, status == Z_BUF_ERROR ? "cut off" : "damaged",
			       (long long)gzoffset(in),
			       status == Z_BUF_ERROR ? "unexpected end of file" : why);
	return DP_OK;
}

static int read_data_file(const char *path, struct dp_buf *out, struct dp_err *err)
{
	/* without O_NONBLOCK, opening a FIFO would block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), code;
	struct stat st = { 0 };
	gzFile in;

	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot open %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return dp_fail(err, DP_E_INVALID, "%s is not a file but %s", path,
			       S_ISDIR(st.st_mode) ? "a folder" : "something else");
	}
	in = gzdopen(fd, "rb");
	if (!in)
		dp_out_of_memory();
	gzbuffer(in, 1 << 18);
	code = read_gzip_stream(in, path, out, err);
	gzclose(in);
	if (code == DP_OK && out->len == 0)
		code = dp_fail(err, DP_E_INVALID, "%s is empty", path);
	return code;
}

/* Finds the file of labels for a file of images. */
static int find_label_file(const char *images, char **labels, struct dp_err *err)
{
	static const char *const swap[][2] = { { "images", "labels" }, { "idx3", "idx1" } };
	char *name = dp_strdup(path_basename(images));
	size_t len = strlen(name);

	if (len > 3 && strcmp(name + len - 3, ".gz") == 0)
		name[len - 3] = '\0';
	for (size_t i = 0; i < DP_COUNT(swap); i++) {
		char *at = strstr(name, swap[i][0]);

		if (at)
			memcpy(at, swap[i][1], strlen(swap[i][1]));
	}
	*labels = find_sibling_file(images, name);
	if (!*labels)
		dp_fail(err, DP_E_NOT_FOUND,
			"%s has images, but their labels are not beside it as %s", images, name);
	free(name);
	return *labels ? DP_OK : DP_E_NOT_FOUND;
}

static int parse_idx(const char *path, const struct dp_buf *images, struct cache_source *from,
		     struct file_stamp *stamp, struct dataset *s, struct dp_err *err)
{
	struct dp_buf content = DP_BUF_INIT;
	char *labels;
	int code = find_label_file(path, &labels, err);

	if (code != DP_OK)
		return code;
	from->labels = labels;
	code = file_stamp_read(labels, stamp, err);
	if (code == DP_OK)
		code = read_data_file(labels, &content, err);
	if (code == DP_OK) {
		code = idx_parse(images->data, images->len, content.data, content.len, s, err);
		if (code != DP_OK)
			dp_err_prefix(err, "%s with %s", path, path_basename(labels));
	}
	dp_buf_free(&content);
	return code;
}

/* ---- formats ---- */

/* A number, then nothing or a word with a colon. */
static bool looks_libsvm(struct text_span line)
{
	struct text_span label, entry, index;
	float x;

	if (!span_next_word(&line, &label) || !span_parse_float(label, &x))
		return false;
	return !span_next_word(&line, &entry) || (span_split_at(&entry, ':', &index) && entry.p);
}

/* 15 fields, the last one a label of Adult. */
static bool looks_adult(struct text_span line)
{
	struct text_span field = { NULL, 0 };
	int n = 0;

	while (span_split_at(&line, ',', &field))
		n++;
	field = span_trim(field);
	return n == 15 && (span_equals(field, "<=50K") || span_equals(field, ">50K") ||
			   span_equals(field, "<=50K.") || span_equals(field, ">50K."));
}

enum data_format data_format_detect(const char *p, size_t len)
{
	struct text_span line, field;
	struct text_scanner text;

	if (len >= 4 && p[0] == 0 && p[1] == 0)
		return DATA_FORMAT_IDX;
	text_scanner_init(&text, p, len);
	do { /* skip comments */
		if (!text_scanner_read_line(&text, &line))
			return DATA_FORMAT_UNKNOWN;
		line = span_trim(line);
	} while (line.len == 0 || *line.p == '#' || *line.p == '|');
	if (looks_libsvm(line))
		return DATA_FORMAT_LIBSVM;
	if (looks_adult(line))
		return DATA_FORMAT_ADULT;
	if (*line.p == '"')
		return DATA_FORMAT_CSV;
	(void)span_split_at(&line, ',', &field);
	return line.p ? DATA_FORMAT_CSV : DATA_FORMAT_UNKNOWN;
}

/* Parses the files and records their identity in *from and stamps. The caller frees
 * from->labels. */
static int parse_file(const char *path, const char *label_column, struct cache_source *from,
		      struct file_stamp stamps[2], struct dataset *s, struct dp_err *err)
{
	struct dp_buf content = DP_BUF_INIT;
	enum data_format format = DATA_FORMAT_UNKNOWN;
	int code = file_stamp_read(path, &stamps[0], err);

	if (code == DP_OK)
		code = read_data_file(path, &content, err);
	if (code == DP_OK) {
		format = data_format_detect(content.data, content.len);
		if (label_column && format != DATA_FORMAT_CSV)
			code = dp_fail(err, DP_E_INVALID,
				       "%s: a label column was given, but the file is not CSV",
				       path);
	}
	if (code != DP_OK) {
		dp_buf_free(&content);
		return code;
	}
	switch (format) {
	case DATA_FORMAT_IDX:
		code = parse_idx(path, &content, from, &stamps[1], s, err);
		break;
	case DATA_FORMAT_LIBSVM:
		code = libsvm_parse(content.data, content.len, s, err);
		break;
	case DATA_FORMAT_ADULT:
		code = adult_parse(content.data, content.len, s, err);
		break;
	case DATA_FORMAT_CSV:
		code = csv_parse(content.data, content.len, label_column, s, err);
		break;
	case DATA_FORMAT_UNKNOWN:
		code = dp_fail(err, DP_E_INVALID,
			       "the format is not known: it begins neither like LIBSVM "
			       "text, UCI Adult, CSV nor IDX");
	}
	if (code != DP_OK && format != DATA_FORMAT_IDX)
		dp_err_prefix(err, "%s", path);
	dp_buf_free(&content);
	return code;
}

int dataset_load(const char *path, const struct data_options *o, struct dataset *s,
		 struct dp_err *err)
{
	struct cache_source from = { .path = path, .label_column = o->label_column };
	struct file_stamp stamps[2];
	int code;

	if (!o->no_cache && dataset_cache_open(path, o->label_column, s))
		return DP_OK;
	code = parse_file(path, o->label_column, &from, stamps, s, err);
	if (code == DP_OK && !o->no_cache && dataset_cache_write(&from, stamps, s)) {
		struct dataset *mapped = dp_calloc(1, sizeof *mapped);

		/* so that the first trainer shares its pages, too */
		if (dataset_cache_open(path, o->label_column, mapped)) {
			dataset_free(s);
			*s = *mapped;
		}
		free(mapped);
	}
	free((char *)from.labels);
	return code;
}
