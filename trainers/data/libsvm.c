/* libsvm.c - LIBSVM's text format: "label index:value index:value ...". */
#include "trainers/data/data_internal.h"

/* "index:value"; indices rise and count from 1. */
static int read_entry(struct word w, uint32_t last, uint32_t *index, float *value,
		      struct dp_err *err)
{
	struct word rest = w, number;
	char shown[SHOWN_LEN];

	if (!word_cut(&rest, ':', &number) || !rest.p || !word_whole(number, index))
		return dp_fail(err, DP_E_INVALID, "'%s' is not index:value", word_show(w, shown));
	if (*index == 0)
		return dp_fail(err, DP_E_INVALID, "'%s': indices count from 1",
			       word_show(w, shown));
	if (*index > FEATURES_MAX)
		return dp_fail(err, DP_E_INVALID, "'%s': the index is above %d",
			       word_show(w, shown), FEATURES_MAX);
	if (*index <= last)
		return dp_fail(err, DP_E_INVALID, "'%s' comes after index %u: indices must rise",
			       word_show(w, shown), last);
	if (!word_float(rest, value))
		return dp_fail(err, DP_E_INVALID, "'%s': the value is not a finite number",
			       word_show(w, shown));
	return DP_OK;
}

static int libsvm_read_row(struct word line, struct builder *b, struct set *s, struct dp_err *err)
{
	uint32_t last = 0;
	struct word w;
	uint8_t label;
	float number;
	char shown[SHOWN_LEN];
	int code;

	(void)word_cut(&line, '#', &w); /* what follows is a comment */
	line = w;
	if (!word_next(&line, &w))
		return DP_OK;
	if (!word_float(w, &number))
		return dp_fail(err, DP_E_INVALID, "the label '%s' is not a finite number",
			       word_show(w, shown));
	code = classes_number(&s->classes, w.p, w.len, &label, err);
	while (code == DP_OK && word_next(&line, &w)) {
		float value = 0;
		uint32_t index = 0;

		code = read_entry(w, last, &index, &value, err);
		if (code == DP_OK)
			builder_entry(b, index - 1, value);
		last = index;
	}
	if (code == DP_OK)
		builder_row(b, label);
	if (last > s->rows.nfeatures)
		s->rows.nfeatures = last;
	return code;
}

int libsvm_parse(const char *p, size_t len, struct set *s, struct dp_err *err)
{
	struct builder b = { 0 };
	int code = text_rows(p, len, libsvm_read_row, &b, s, err);

	if (code == DP_OK && b.nrows > 0 && s->rows.nfeatures == 0)
		code = dp_fail(err, DP_E_INVALID, "no record has a feature");
	if (code == DP_OK)
		code = builder_finish(&b, s->rows.nfeatures, s, err);
	s->widens = true;
	builder_free(&b);
	return code;
}
