/* classes.c - labels as written, and their numbers. */
#include "base/num.h"
#include "trainers/data/data_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Is it a whole number written as dp_num_text() would? Most labels are, and then need
 * no conversion. */
static bool plain_whole(const char *s, size_t len)
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

/* One spelling for one number. */
static void respell(char name[CLASS_NAME_LEN])
{
	double x;

	if (!plain_whole(name, strlen(name)) && dp_num_parse(name, &x) && isfinite(x))
		dp_num_text(x == 0 ? 0 : x, name); /* no minus zero */
}

int classes_find(const struct classes *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strcmp(c->name[i], name) == 0)
			return (int)i;
	return -1;
}

int classes_number(struct classes *c, const char *text, size_t len, uint8_t *number,
		   struct dp_err *err)
{
	char name[CLASS_NAME_LEN], shown[SHOWN_LEN];
	int found;

	if (len > 1 && *text == '+' && isdigit((unsigned char)text[1])) {
		text++;
		len--;
	}
	if (len == 0)
		return dp_fail(err, DP_E_INVALID, "the label is empty");
	if (len >= sizeof name)
		return dp_fail(err, DP_E_INVALID, "the label '%s' is longer than %d bytes",
			       word_show((struct word){ text, len }, shown), CLASS_NAME_LEN - 1);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ')
			return dp_fail(err, DP_E_INVALID, "the label '%s' has an unprintable byte",
				       word_show((struct word){ text, len }, shown));
	memcpy(name, text, len);
	name[len] = '\0';
	respell(name);
	found = classes_find(c, name);
	if (found < 0) {
		if (c->n == CLASSES_MAX)
			return dp_fail(err, DP_E_INVALID,
				       "'%s' is one more than %d different labels: these "
				       "are not classes",
				       word_show((struct word){ text, len }, shown), CLASSES_MAX);
		found = (int)c->n++;
		strcpy(c->name[found], name); /* zeros behind it: it is cached whole */
	}
	*number = (uint8_t)found;
	return DP_OK;
}

/* A class with its old number while it is sorted. */
struct entry {
	const char *name;
	double value;
	uint32_t old;
};

static int by_class_value(const void *a, const void *b)
{
	double x = ((const struct entry *)a)->value, y = ((const struct entry *)b)->value;

	return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

void classes_sort(struct classes *c, uint8_t *label, size_t count)
{
	struct classes old = *c;
	struct entry order[CLASSES_MAX];
	uint8_t now[CLASSES_MAX] = { 0 };
	bool numbers = true;

	for (uint32_t i = 0; i < c->n; i++) {
		order[i] = (struct entry){ .name = old.name[i], .old = i };
		numbers = numbers && dp_num_parse(old.name[i], &order[i].value) &&
			  isfinite(order[i].value);
	}
	qsort(order, c->n, sizeof order[0], numbers ? by_class_value : by_name);
	for (uint32_t i = 0; i < c->n; i++) {
		memcpy(c->name[i], order[i].name, CLASS_NAME_LEN);
		now[order[i].old] = (uint8_t)i;
	}
	for (size_t i = 0; i < count; i++)
		label[i] = now[label[i]];
}
