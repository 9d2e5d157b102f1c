/* lines.c - lines of a screen, of which the least important give way. */
#include "ctl/lines.h"

#include "ctl/memory.h"

#include <stdlib.h>
#include <string.h>

static void insert_line(struct ctl_lines *l, size_t i, int rank, char *text)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 32;
		l->line = realloc(l->line, l->room * sizeof *l->line);
		if (!l->line)
			ctl_die_nomem();
	}
	memmove(l->line + i + 1, l->line + i, (l->n - i) * sizeof *l->line);
	l->line[i] = (struct ctl_line){ text, rank };
	l->n++;
}

void ctl_lines_add(struct ctl_lines *l, int rank, const char *text)
{
	insert_line(l, l->n, rank, ctl_strdup(text));
}

void ctl_lines_insert(struct ctl_lines *l, size_t i, int rank, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);

		if (!line)
			ctl_die_nomem();
		insert_line(l, i++, rank, line);
		text += len + (text[len] == '\n');
	}
}

void ctl_lines_fit(struct ctl_lines *l, size_t most)
{
	while (l->n > most) {
		size_t least = 0;

		for (size_t i = 1; i < l->n; i++)
			if (l->line[i].rank >= l->line[least].rank)
				least = i;
		free(l->line[least].text);
		l->n--;
		memmove(l->line + least, l->line + least + 1, (l->n - least) * sizeof *l->line);
	}
}

void ctl_lines_text(const struct ctl_lines *l, struct dp_buf *out)
{
	for (size_t i = 0; i < l->n; i++)
		dp_buf_printf(out, "%s\n", l->line[i].text);
}

void ctl_lines_free(struct ctl_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->line[i].text);
	free(l->line);
	*l = (struct ctl_lines){ 0 };
}
