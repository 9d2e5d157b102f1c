/* adult_format.c - parses UCI Adult (adult.data, adult.test) into the 123 columns of LIBSVM's a9a.
 *
 * Each field becomes a block of binary columns, one of which is 1. */
#include "trainers/data/dataset_internal.h"

enum {
	FIELDS = 14, /* followed by the label */
	BIN_EDGES_MAX = 4,
	FIELD_UNKNOWN = -1, /* '?': no column of the block is 1 */
};

static const char *const workclass[] = { "Private",     "Self-emp-not-inc", "Self-emp-inc",
					 "Federal-gov", "Local-gov",        "State-gov",
					 "Without-pay", "Never-worked",     NULL };
static const char *const education[] = { "Bachelors",   "Some-college", "11th",      "HS-grad",
					 "Prof-school", "Assoc-acdm",   "Assoc-voc", "9th",
					 "7th-8th",     "12th",         "Masters",   "1st-4th",
					 "10th",        "Doctorate",    "5th-6th",   "Preschool",
					 NULL };
static const char *const marital[] = { "Married-civ-spouse", "Divorced", "Never-married",
				       "Separated",          "Widowed",  "Married-spouse-absent",
				       "Married-AF-spouse",  NULL };
static const char *const occupation[] = { "Tech-support",
					  "Craft-repair",
					  "Other-service",
					  "Sales",
					  "Exec-managerial",
					  "Prof-specialty",
					  "Handlers-cleaners",
					  "Machine-op-inspct",
					  "Adm-clerical",
					  "Farming-fishing",
					  "Transport-moving",
					  "Priv-house-serv",
					  "Protective-serv",
					  "Armed-Forces",
					  NULL };
static const char *const relationship[] = {
	"Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried", NULL
};
static const char *const race[] = {
	"White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black", NULL
};
static const char *const sex[] = { "Female", "Male", NULL };
static const char *const country[] = { "United-States",
				       "Cambodia",
				       "England",
				       "Puerto-Rico",
				       "Canada",
				       "Germany",
				       "Outlying-US(Guam-USVI-etc)",
				       "India",
				       "Japan",
				       "Greece",
				       "South",
				       "China",
				       "Cuba",
				       "Iran",
				       "Honduras",
				       "Philippines",
				       "Italy",
				       "Poland",
				       "Jamaica",
				       "Vietnam",
				       "Mexico",
				       "Portugal",
				       "Ireland",
				       "France",
				       "Dominican-Republic",
				       "Laos",
				       "Ecuador",
				       "Taiwan",
				       "Haiti",
				       "Columbia",
				       "Hungary",
				       "Guatemala",
				       "Nicaragua",
				       "Scotland",
				       "Thailand",
				       "Yugoslavia",
				       "El-Salvador",
				       "Trinadad&Tobago",
				       "Peru",
				       "Hong",
				       "Holand-Netherlands",
				       NULL };

/* A field is one of `names`, or a number in the column of the first edge not below it, or the
 * last. */
static const struct adult_field {
	const char *name;
	const char *const *names;
	uint32_t n_bin_edges, bin_edges[BIN_EDGES_MAX];
	uint32_t columns;
} fields[FIELDS] = {
	{ "age", NULL, 4, { 25, 32, 40, 49 }, 5 },
	{ "workclass", workclass, 0, { 0 }, 8 },
	{ "fnlwgt", NULL, 4, { 106647, 158661, 196337, 259872 }, 5 },
	{ "education", education, 0, { 0 }, 16 },
	{ "education-num", NULL, 4, { 8, 9, 10, 12 }, 5 },
	{ "marital-status", marital, 0, { 0 }, 7 },
	{ "occupation", occupation, 0, { 0 }, 14 },
	{ "relationship", relationship, 0, { 0 }, 6 },
	{ "race", race, 0, { 0 }, 5 },
	{ "sex", sex, 0, { 0 }, 2 },
	{ "capital-gain", NULL, 1, { 0 }, 2 },
	{ "capital-loss", NULL, 1, { 0 }, 2 },
	{ "hours-per-week", NULL, 4, { 34, 39, 40, 47 }, 5 },
	{ "native-country", country, 0, { 0 }, 41 },
};

static int adult_read_field(const struct adult_field *f, struct text_span w, int *column,
			    struct dp_err *err)
{
	char shown[SPAN_PRINTABLE_LEN];
	uint32_t x;

	*column = FIELD_UNKNOWN;
	if (span_equals(w, "?"))
		return DP_OK;
	if (!f->names) {
		if (!span_parse_uint(w, &x))
			return dp_fail(err, DP_E_INVALID, "%s '%s' is not a whole number", f->name,
				       span_printable(w, shown));
		for (*column = 0; (uint32_t)*column < f->n_bin_edges; ++*column)
			if (x <= f->bin_edges[*column])
				break;
		return DP_OK;
	}
	for (int i = 0; f->names[i]; i++)
		if (span_equals(w, f->names[i])) {
			*column = i;
			return DP_OK;
		}
	return dp_fail(err, DP_E_INVALID, "%s '%s' is none of Adult's", f->name,
		       span_printable(w, shown));
}

static int adult_read_row(struct text_span line, struct dataset_builder *b, struct dataset *s,
			  struct dp_err *err)
{
	char shown[SPAN_PRINTABLE_LEN];
	uint32_t first = 0;
	struct text_span w;
	uint8_t label;
	int column, code;
	bool above;

	/* adult.test begins with a comment */
	if (span_trim(line).len == 0 || *line.p == '|')
		return DP_OK;
	for (int i = 0; i < FIELDS; i++) {
		if (!span_split_at(&line, ',', &w))
			return dp_fail(err, DP_E_INVALID, "%d fields, not %d", i, FIELDS + 1);
		code = adult_read_field(&fields[i], span_trim(w), &column, err);
		if (code != DP_OK)
			return code;
		if (column != FIELD_UNKNOWN)
			dataset_builder_add_entry(b, first + (uint32_t)column, 1);
		first += fields[i].columns;
	}
	if (!span_split_at(&line, ',', &w) || line.p)
		return dp_fail(err, DP_E_INVALID, "%s than %d fields", line.p ? "more" : "fewer",
			       FIELDS + 1);
	/* labels of adult.test end with a full stop; use the spelling of a9a */
	w = span_trim(w);
	above = span_equals(w, ">50K") || span_equals(w, ">50K.");
	if (!above && !span_equals(w, "<=50K") && !span_equals(w, "<=50K."))
		return dp_fail(err, DP_E_INVALID, "the label '%s' is neither <=50K nor >50K",
			       span_printable(w, shown));
	code = class_labels_intern(&s->classes, above ? "1" : "-1", above ? 1 : 2, &label, err);
	if (code == DP_OK)
		dataset_builder_end_row(b, label);
	return code;
}

int adult_parse(const char *p, size_t len, struct dataset *s, struct dp_err *err)
{
	struct dataset_builder b = { 0 };
	uint32_t width = 0;
	int code = text_parse_rows(p, len, adult_read_row, &b, s, err);

	for (int i = 0; i < FIELDS; i++)
		width += fields[i].columns;
	if (code == DP_OK)
		code = dataset_builder_finish(&b, width, s, err);
	dataset_builder_free(&b);
	return code;
}
