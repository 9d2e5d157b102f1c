/* elastic_layout.c - screen lines with ranks; the least important are dropped if space is short. */
#include "ctl/ui/elastic_layout.h"

#include <stdlib.h>
#include <string.h>

static void layout_insert_line(struct ctl_layout *l, size_t i, int rank, char *text)
{
	if (l->n_lines == l->capacity) {
		l->capacity = l->capacity ? 2 * l->capacity : 32;
		l->lines = dp_realloc(l->lines, l->capacity * sizeof *l->lines);
	}
	memmove(l->lines + i + 1, l->lines + i, (l->n_lines - i) * sizeof *l->lines);
	l->lines[i] = (struct ctl_layout_line){ text, rank };
	l->n_lines++;
}

void ctl_layout_add_line(struct ctl_layout *l, int rank, const char *text)
{
	layout_insert_line(l, l->n_lines, rank, dp_strdup(text));
}

void ctl_layout_insert_lines(struct ctl_layout *l, size_t i, int rank, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = dp_strndup(text, len);

		layout_insert_line(l, i++, rank, line);
		text += len + (text[len] == '\n');
	}
}

void ctl_layout_fit_rows(struct ctl_layout *l, size_t most)
{
	while (l->n_lines > most) {
		size_t least = 0;

		for (size_t i = 1; i < l->n_lines; i++)
			if (l->lines[i].rank >= l->lines[least].rank)
				least = i;
		free(l->lines[least].text);
		l->n_lines--;
		memmove(l->lines + least, l->lines + least + 1,
			(l->n_lines - least) * sizeof *l->lines);
	}
}

void ctl_layout_format(const struct ctl_layout *l, struct dp_buf *out)
{
	for (size_t i = 0; i < l->n_lines; i++)
		dp_buf_printf(out, "%s\n", l->lines[i].text);
}

void ctl_layout_free(struct ctl_layout *l)
{
	for (size_t i = 0; i < l->n_lines; i++)
		free(l->lines[i].text);
	free(l->lines);
	*l = (struct ctl_layout){ 0 };
}
