/* class_labels.c - numbers the class labels of a data set. */
#include "base/units.h"
#include "trainers/data/dataset_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True for an integer in the spelling of dp_num_text(). Most labels are, and need no conversion. */
static bool is_plain_integer(const char *s, size_t len)
{
	size_t digits = len - (*s == '-');

	if (*s == '-')
		s++;
	if (digits == 0 || digits > 9 || *s == '0')
		return digits == 1 && *s == '0' && len == 1;
	for (size_t i = 0; i < digits; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

int class_labels_find(const struct class_labels *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strcmp(c->name[i], name) == 0)
			return (int)i;
	return -1;
}

int class_labels_intern(struct class_labels *c, const char *text, size_t len, uint8_t *number,
			struct dp_err *err)
{
	char name[CLASS_NAME_LEN], shown[SPAN_PRINTABLE_LEN];
	double x;
	int found;

	if (len > 1 && *text == '+' && isdigit((unsigned char)text[1])) {
		text++;
		len--;
	}
	if (len == 0)
		return dp_fail(err, DP_E_INVALID, "the label is empty");
	if (len >= sizeof name)
		return dp_fail(err, DP_E_INVALID, "the label '%s' is longer than %d bytes",
			       span_printable((struct text_span){ text, len }, shown),
			       CLASS_NAME_LEN - 1);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ')
			return dp_fail(err, DP_E_INVALID, "the label '%s' has an unprintable byte",
				       span_printable((struct text_span){ text, len }, shown));
	memcpy(name, text, len);
	name[len] = '\0';
	/* one spelling per number, without minus zero */
	if (!is_plain_integer(name, len) && dp_num_parse(name, &x) && isfinite(x))
		dp_num_text(x == 0 ? 0 : x, name);
	found = class_labels_find(c, name);
	if (found < 0) {
		if (c->n == CLASSES_MAX)
			return dp_fail(err, DP_E_INVALID,
				       "'%s' is one more than %d different labels: these "
				       "are not classes",
				       span_printable((struct text_span){ text, len }, shown),
				       CLASSES_MAX);
		found = (int)c->n++;
		strcpy(c->name[found], name); /* zero-filled, since caches store all of it */
	}
	*number = (uint8_t)found;
	return DP_OK;
}

/* A class with its old number, for sorting. */
struct sorted_class {
	const char *name;
	double value;
	uint32_t old_number;
};

static int compare_class_values(const void *a, const void *b)
{
	double x = ((const struct sorted_class *)a)->value,
	       y = ((const struct sorted_class *)b)->value;

	return (x > y) - (x < y);
}

static int compare_class_names(const void *a, const void *b)
{
	return strcmp(((const struct sorted_class *)a)->name,
		      ((const struct sorted_class *)b)->name);
}

void class_labels_sort(struct class_labels *c, uint8_t *label, size_t count)
{
	struct class_labels old = *c;
	struct sorted_class order[CLASSES_MAX];
	uint8_t now[CLASSES_MAX] = { 0 };
	bool numbers = true;

	for (uint32_t i = 0; i < c->n; i++) {
		order[i] = (struct sorted_class){ .name = old.name[i], .old_number = i };
		numbers = numbers && dp_num_parse(old.name[i], &order[i].value) &&
			  isfinite(order[i].value);
	}
	qsort(order, c->n, sizeof order[0], numbers ? compare_class_values : compare_class_names);
	for (uint32_t i = 0; i < c->n; i++) {
		memcpy(c->name[i], order[i].name, CLASS_NAME_LEN);
		now[order[i].old_number] = (uint8_t)i;
	}
	for (size_t i = 0; i < count; i++)
		label[i] = now[label[i]];
}
