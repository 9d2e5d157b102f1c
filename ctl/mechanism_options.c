/* mechanism_options.c - an option for every key of every mechanism, from their tables. */
#include "ctl/mechanism_query.h"

#include "base/buf.h"
#include "privacy/privacy.h"

#include <stdlib.h>
#include <string.h>

/* Rows in the making: each has three texts (name, arg, help) one after the other. */
struct option_draft {
	size_t n_rows;
	struct dp_buf text;
};

static void draft_end_text(struct option_draft *d)
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
static bool list_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strcspn(p, "|") == len && memcmp(p, word, len) == 0)
			return true;
	return false;
}

/* "a|b" of all mechanisms that have the key. */
static void draft_add_words(struct option_draft *d, const char *key)
{
	size_t from = d->text.len;

	for (size_t k = 0; dp_mechanisms[k]; k++) {
		const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key);

		for (size_t i = 0; row && row->choices && row->choices[i]; i++) {
			bool first = d->text.len == from;

			if (first || !list_has_word(dp_buf_text(&d->text) + from, row->choices[i]))
				dp_buf_printf(&d->text, "%s%s", first ? "" : "|", row->choices[i]);
		}
	}
}

static void draft_add_arg(struct option_draft *d, const struct dp_privacy_key *key)
{
	switch (key->kind) {
	case DP_PRIVACY_CHOICE:
		draft_add_words(d, key->name);
		break;
	case DP_PRIVACY_INTEGER:
		dp_buf_puts(&d->text, "N");
		break;
	case DP_PRIVACY_NUMBER:
		dp_buf_puts(&d->text, "NUMBER");
		break;
	}
	draft_end_text(d);
}

/* The brief of a key of the k-th mechanism, or NULL. */
static const char *key_brief(size_t k, const char *key)
{
	const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key);

	return row ? row->short_help : NULL;
}

/* Names the mechanisms from the k-th on that say the same of the key; false if one
 * before it has said so. */
static bool draft_add_owners(struct option_draft *d, size_t k, const char *key)
{
	const char *brief = key_brief(k, key), *other;

	for (size_t i = 0; i < k; i++) {
		other = key_brief(i, key);
		if (other && strcmp(other, brief) == 0)
			return false;
	}
	dp_buf_puts(&d->text, key_seen(k, key) ? "; " : "");
	for (size_t i = k; dp_mechanisms[i]; i++) {
		other = key_brief(i, key);
		if (other && strcmp(other, brief) == 0)
			dp_buf_printf(&d->text, "%s%s", i > k ? ", " : "", dp_mechanisms[i]->name);
	}
	return true;
}

/* "gaussian, laplace: of the result", or just the words if all mechanisms have it. */
static void draft_add_help(struct option_draft *d, const char *key)
{
	const char *brief = key_brief(0, key);
	bool alike = brief != NULL;

	for (size_t k = 0; dp_mechanisms[k] && alike; k++)
		alike = key_brief(k, key) && strcmp(key_brief(k, key), brief) == 0;
	if (alike)
		dp_buf_puts(&d->text, brief);
	for (size_t k = 0; dp_mechanisms[k] && !alike; k++)
		if (key_brief(k, key) && draft_add_owners(d, k, key))
			dp_buf_printf(&d->text, ": %s", key_brief(k, key));
	draft_end_text(d);
}

static void draft_add_key(struct option_draft *d, const struct dp_privacy_key *key)
{
	for (const char *p = key->name; *p; p++)
		dp_buf_putc(&d->text, *p == '_' ? '-' : *p);
	draft_end_text(d);
	draft_add_arg(d, key);
	draft_add_help(d, key->name);
	d->n_rows++;
}

static void draft_add_mechanism(struct option_draft *d)
{
	dp_buf_puts(&d->text, "mechanism");
	draft_end_text(d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		dp_buf_printf(&d->text, "%s%s", k ? "|" : "", dp_mechanisms[k]->name);
	draft_end_text(d);
	dp_buf_puts(&d->text, "what is asked about");
	draft_end_text(d);
	d->n_rows++;
}

/* Rows and their texts in one piece of memory. */
static struct ctl_option *draft_build_options(const struct option_draft *d)
{
	size_t rows = (d->n_rows + 1) * sizeof(struct ctl_option);
	struct ctl_option *table = dp_calloc(1, rows + d->text.len);
	const char *text = (char *)table + rows;

	memcpy((char *)table + rows, dp_buf_text(&d->text), d->text.len);
	for (size_t i = 0; i < d->n_rows; i++) {
		const char **to[] = { &table[i].name, &table[i].arg, &table[i].help };

		for (size_t k = 0; k < DP_COUNT(to); k++) {
			*to[k] = text;
			text += strlen(text) + 1;
		}
	}
	return table;
}

const struct ctl_option *ctl_mechanism_options(struct ctl *ctl, const struct ctl_command *c)
{
	struct option_draft d = { 0, DP_BUF_INIT };

	if (!c || !c->has_mechanism_options)
		return NULL;
	if (ctl->mechanism_options)
		return ctl->mechanism_options;
	draft_add_mechanism(&d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++)
			if (!key_seen(k, dp_mechanisms[k]->keys[i].name))
				draft_add_key(&d, &dp_mechanisms[k]->keys[i]);
	ctl->mechanism_options = draft_build_options(&d);
	dp_buf_free(&d.text);
	return ctl->mechanism_options;
}
