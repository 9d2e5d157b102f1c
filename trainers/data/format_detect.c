/* format_detect.c - tells the format of a file by how it begins. */
#include "trainers/data/dataset_internal.h"

/* The first line that says something. */
static bool first_line(const char *p, size_t len, struct text_span *line)
{
	struct text_scanner text;

	text_scanner_init(&text, p, len);
	while (text_scanner_read_line(&text, line)) {
		*line = span_trim(*line);
		if (line->len > 0 && *line->p != '#' && *line->p != '|')
			return true;
	}
	return false;
}

/* A number, then nothing or a word with a colon. */
static bool looks_libsvm(struct text_span line)
{
	struct text_span label, entry, index;
	float x;

	if (!span_next_word(&line, &label) || !span_parse_float(label, &x))
		return false;
	return !span_next_word(&line, &entry) || (span_split_at(&entry, ':', &index) && entry.p);
}

/* 15 fields, of which the last is Adult's label. */
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

	if (len >= 4 && p[0] == 0 && p[1] == 0)
		return DATA_FORMAT_IDX;
	if (!first_line(p, len, &line))
		return DATA_FORMAT_UNKNOWN;
	if (looks_libsvm(line))
		return DATA_FORMAT_LIBSVM;
	if (looks_adult(line))
		return DATA_FORMAT_ADULT;
	if (*line.p == '"')
		return DATA_FORMAT_CSV;
	(void)span_split_at(&line, ',', &field);
	return line.p ? DATA_FORMAT_CSV : DATA_FORMAT_UNKNOWN;
}
