/* query_options.c - an option for every key of every mechanism, from their tables. */
#include "ctl/query.h"

#include "base/buf.h"
#include "ctl/memory.h"
#include "privacy/privacy.h"

#include <stdlib.h>
#include <string.h>

/* Rows in the making: each has three texts (name, arg, help) one after the other. */
struct query_draft {
	size_t rows;
	struct dp_buf text;
};

static void text_end(struct query_draft *d)
{
	dp_buf_putc(&d->text, '\0');
}

/* Has a mechanism before the k-th this key, too? */
static bool key_seen(size_t k, const char *key)
{
	for (size_t i = 0; i < k; i++)
		if (dp_privacy_key_find(dp_mechanisms[i], key))
			return true;
	return false;
}

/* Is `word` among those of "a|b" that begin at `list`? */
static bool word_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strcspn(p, "|") == len && memcmp(p, word, len) == 0)
			return true;
	return false;
}

/* "a|b" of all mechanisms that have the key. */
static void put_words(struct query_draft *d, const char *key)
{
	size_t from = d->text.len;

	for (size_t k = 0; dp_mechanisms[k]; k++) {
		const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key);

		for (size_t i = 0; row && row->words && row->words[i]; i++) {
			bool first = d->text.len == from;

			if (first || !word_listed(dp_buf_text(&d->text) + from, row->words[i]))
				dp_buf_printf(&d->text, "%s%s", first ? "" : "|", row->words[i]);
		}
	}
}

static void put_arg(struct query_draft *d, const struct dp_privacy_key *key)
{
	switch (key->kind) {
	case DP_PRIVACY_WORD:
		put_words(d, key->name);
		break;
	case DP_PRIVACY_INTEGER:
		dp_buf_puts(&d->text, "N");
		break;
	case DP_PRIVACY_NUMBER:
		dp_buf_puts(&d->text, "NUMBER");
		break;
	}
	text_end(d);
}

/* The brief of a key of the k-th mechanism, or NULL. */
static const char *brief_of(size_t k, const char *key)
{
	const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key);

	return row ? row->brief : NULL;
}

/* Names the mechanisms from the k-th on that say the same of the key; false if one
 * before it has said so. */
static bool put_owners(struct query_draft *d, size_t k, const char *key)
{
	const char *brief = brief_of(k, key), *other;

	for (size_t i = 0; i < k; i++) {
		other = brief_of(i, key);
		if (other && strcmp(other, brief) == 0)
			return false;
	}
	dp_buf_puts(&d->text, key_seen(k, key) ? "; " : "");
	for (size_t i = k; dp_mechanisms[i]; i++) {
		other = brief_of(i, key);
		if (other && strcmp(other, brief) == 0)
			dp_buf_printf(&d->text, "%s%s", i > k ? ", " : "", dp_mechanisms[i]->name);
	}
	return true;
}

/* "gaussian, laplace: of the result", or just the words if all mechanisms have it. */
static void put_meaning(struct query_draft *d, const char *key)
{
	const char *brief = brief_of(0, key);
	bool alike = brief != NULL;

	for (size_t k = 0; dp_mechanisms[k] && alike; k++)
		alike = brief_of(k, key) && strcmp(brief_of(k, key), brief) == 0;
	if (alike)
		dp_buf_puts(&d->text, brief);
	for (size_t k = 0; dp_mechanisms[k] && !alike; k++)
		if (brief_of(k, key) && put_owners(d, k, key))
			dp_buf_printf(&d->text, ": %s", brief_of(k, key));
	text_end(d);
}

static void draft_key(struct query_draft *d, const struct dp_privacy_key *key)
{
	for (const char *p = key->name; *p; p++)
		dp_buf_putc(&d->text, *p == '_' ? '-' : *p);
	text_end(d);
	put_arg(d, key);
	put_meaning(d, key->name);
	d->rows++;
}

static void draft_mechanism(struct query_draft *d)
{
	dp_buf_puts(&d->text, "mechanism");
	text_end(d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		dp_buf_printf(&d->text, "%s%s", k ? "|" : "", dp_mechanisms[k]->name);
	text_end(d);
	dp_buf_puts(&d->text, "what is asked about");
	text_end(d);
	d->rows++;
}

/* Rows and their texts in one piece of memory. */
static struct ctl_option *draft_rows(const struct query_draft *d)
{
	size_t rows = (d->rows + 1) * sizeof(struct ctl_option);
	struct ctl_option *table = ctl_alloc(1, rows + d->text.len);
	const char *text = (char *)table + rows;

	memcpy((char *)table + rows, dp_buf_text(&d->text), d->text.len);
	for (size_t i = 0; i < d->rows; i++) {
		const char **to[] = { &table[i].name, &table[i].arg, &table[i].help };

		for (size_t k = 0; k < DP_COUNT(to); k++) {
			*to[k] = text;
			text += strlen(text) + 1;
		}
	}
	return table;
}

const struct ctl_option *ctl_more_options(struct ctl *ctl, const struct ctl_command *c)
{
	struct query_draft d = { 0, DP_BUF_INIT };

	if (!c || !c->asks_oracles)
		return NULL;
	if (ctl->query_options)
		return ctl->query_options;
	draft_mechanism(&d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++)
			if (!key_seen(k, dp_mechanisms[k]->keys[i].name))
				draft_key(&d, &dp_mechanisms[k]->keys[i]);
	if (d.text.failed)
		ctl_die_nomem();
	ctl->query_options = draft_rows(&d);
	dp_buf_free(&d.text);
	return ctl->query_options;
}
