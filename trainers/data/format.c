/* format.c - tells the format of a file by how it begins. */
#include "trainers/data/data_internal.h"

/* The first line that says something. */
static bool first_line(const char *p, size_t len, struct word *line)
{
	struct text text;

	text_init(&text, p, len);
	while (text_read_line(&text, line)) {
		*line = word_trim(*line);
		if (line->len > 0 && *line->p != '#' && *line->p != '|')
			return true;
	}
	return false;
}

/* A number, then nothing or a word with a colon. */
static bool looks_libsvm(struct word line)
{
	struct word label, entry, index;
	float x;

	if (!word_next(&line, &label) || !word_float(label, &x))
		return false;
	return !word_next(&line, &entry) || (word_cut(&entry, ':', &index) && entry.p);
}

/* 15 fields, of which the last is Adult's label. */
static bool looks_adult(struct word line)
{
	struct word field = { NULL, 0 };
	int n = 0;

	while (word_cut(&line, ',', &field))
		n++;
	field = word_trim(field);
	return n == 15 && (word_is(field, "<=50K") || word_is(field, ">50K") ||
			   word_is(field, "<=50K.") || word_is(field, ">50K."));
}

enum format format_of(const char *p, size_t len)
{
	struct word line, field;

	if (len >= 4 && p[0] == 0 && p[1] == 0)
		return FORMAT_IDX;
	if (!first_line(p, len, &line))
		return FORMAT_UNKNOWN;
	if (looks_libsvm(line))
		return FORMAT_LIBSVM;
	if (looks_adult(line))
		return FORMAT_ADULT;
	if (*line.p == '"')
		return FORMAT_CSV;
	(void)word_cut(&line, ',', &field);
	return line.p ? FORMAT_CSV : FORMAT_UNKNOWN;
}
