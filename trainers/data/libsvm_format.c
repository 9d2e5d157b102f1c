/* libsvm_format.c - parses LIBSVM's text format: "label index:value index:value ...". */
#include "trainers/data/dataset_internal.h"

/* "index:value"; indices ascend from 1. */
static int libsvm_parse_entry(struct text_span w, uint32_t last, uint32_t *index, float *value,
			      struct dp_err *err)
{
	struct text_span rest = w, number;
	char shown[SPAN_PRINTABLE_LEN];

	if (!span_split_at(&rest, ':', &number) || !rest.p || !span_parse_uint(number, index))
		return dp_fail(err, DP_E_INVALID, "'%s' is not index:value",
			       span_printable(w, shown));
	if (*index == 0)
		return dp_fail(err, DP_E_INVALID, "'%s': indices count from 1",
			       span_printable(w, shown));
	if (*index > FEATURES_MAX)
		return dp_fail(err, DP_E_INVALID, "'%s': the index is above %d",
			       span_printable(w, shown), FEATURES_MAX);
	if (*index <= last)
		return dp_fail(err, DP_E_INVALID, "'%s' comes after index %u: indices must rise",
			       span_printable(w, shown), last);
	if (!span_parse_float(rest, value))
		return dp_fail(err, DP_E_INVALID, "'%s': the value is not a finite number",
			       span_printable(w, shown));
	return DP_OK;
}

static int libsvm_read_row(struct text_span line, struct dataset_builder *b, struct dataset *s,
			   struct dp_err *err)
{
	uint32_t last = 0;
	struct text_span w;
	uint8_t label;
	float number;
	char shown[SPAN_PRINTABLE_LEN];
	int code;

	(void)span_split_at(&line, '#', &w); /* the rest is a comment */
	line = w;
	if (!span_next_word(&line, &w))
		return DP_OK;
	if (!span_parse_float(w, &number))
		return dp_fail(err, DP_E_INVALID, "the label '%s' is not a finite number",
			       span_printable(w, shown));
	code = class_labels_intern(&s->classes, w.p, w.len, &label, err);
	while (code == DP_OK && span_next_word(&line, &w)) {
		float value = 0;
		uint32_t index = 0;

		code = libsvm_parse_entry(w, last, &index, &value, err);
		if (code == DP_OK)
			dataset_builder_add_entry(b, index - 1, value);
		last = index;
	}
	if (code == DP_OK)
		dataset_builder_end_row(b, label);
	if (last > s->rows.nfeatures)
		s->rows.nfeatures = last;
	return code;
}

int libsvm_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err)
{
	struct dataset_builder b = { 0 };
	int code = text_parse_rows(p, len, libsvm_read_row, &b, s, err);

	if (code == DP_OK && b.nrows > 0 && s->rows.nfeatures == 0)
		code = dp_fail(err, DP_E_INVALID, "no record has a feature");
	if (code == DP_OK)
		code = dataset_builder_finish(&b, s->rows.nfeatures, s, err);
	s->can_widen = true;
	dataset_builder_free(&b);
	return code;
}
