/* mechanism_options.c - builds one option for each key of each mechanism from their tables. */
#include "ctl/mechanism_query.h"

#include "base/buf.h"
#include "privacy/privacy.h"

#include <stdlib.h>
#include <string.h>

/* Option rows under construction: the texts name, arg and help of each, in sequence. */
struct option_draft {
	size_t n_rows;
	struct dp_buf text;
};

static void draft_end_text(struct option_draft *d)
{
	dp_buf_putc(&d->text, '\0');
}

static bool key_seen(size_t k, const char *key)
{
	for (size_t i = 0; i < k; i++)
		if (dp_privacy_key_find(dp_mechanisms[i], key))
			return true;
	return false;
}

/* Adds "N", "NUMBER" or, for a choice, the words "a|b" of all mechanisms with this key. */
static void draft_add_arg(struct option_draft *d, const struct dp_privacy_key *key)
{
	const char *words[64] = { 0 };
	size_t n = 0;

	for (size_t k = 0; key->kind == DP_PRIVACY_CHOICE && dp_mechanisms[k]; k++) {
		const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key->name);

		for (size_t i = 0; row && row->choices && row->choices[i]; i++) {
			size_t same = 0;

			while (same < n && strcmp(words[same], row->choices[i]) != 0)
				same++;
			if (same < n || n == DP_COUNT(words))
				continue;
			words[n++] = row->choices[i];
			dp_buf_printf(&d->text, "%s%s", n > 1 ? "|" : "", row->choices[i]);
		}
	}
	if (key->kind != DP_PRIVACY_CHOICE)
		dp_buf_puts(&d->text, key->kind == DP_PRIVACY_INTEGER ? "N" : "NUMBER");
	draft_end_text(d);
}

static const char *key_brief(size_t k, const char *key)
{
	const struct dp_privacy_key *row = dp_privacy_key_find(dp_mechanisms[k], key);

	return row ? row->short_help : NULL;
}

/* Adds "gaussian, laplace: of the result", or only the text if it is the same for all. */
static void draft_add_help(struct option_draft *d, const char *key)
{
	const char *first = key_brief(0, key);
	bool alike = first != NULL;

	for (size_t k = 0; dp_mechanisms[k] && alike; k++)
		alike = key_brief(k, key) && strcmp(key_brief(k, key), first) == 0;
	if (alike)
		dp_buf_puts(&d->text, first);
	for (size_t k = 0; dp_mechanisms[k] && !alike; k++) {
		const char *brief = key_brief(k, key), *other;
		bool said = false;

		for (size_t i = 0; brief && i < k; i++) {
			other = key_brief(i, key);
			said |= other && strcmp(other, brief) == 0;
		}
		if (!brief || said)
			continue;
		dp_buf_puts(&d->text, key_seen(k, key) ? "; " : "");
		for (size_t i = k; dp_mechanisms[i]; i++) {
			other = key_brief(i, key);
			if (other && strcmp(other, brief) == 0)
				dp_buf_printf(&d->text, "%s%s", i > k ? ", " : "",
					      dp_mechanisms[i]->name);
		}
		dp_buf_printf(&d->text, ": %s", brief);
	}
	draft_end_text(d);
}

const struct ctl_option *ctl_mechanism_options(struct ctl *ctl, const struct ctl_command *c)
{
	struct option_draft d = { 1, DP_BUF_INIT };
	const char *text;
	size_t rows;

	if (!c || !c->has_mechanism_options)
		return NULL;
	if (ctl->mechanism_options)
		return ctl->mechanism_options;
	dp_buf_puts(&d.text, "mechanism");
	draft_end_text(&d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		dp_buf_printf(&d.text, "%s%s", k ? "|" : "", dp_mechanisms[k]->name);
	draft_end_text(&d);
	dp_buf_puts(&d.text, "what is asked about");
	draft_end_text(&d);
	for (size_t k = 0; dp_mechanisms[k]; k++)
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++) {
			const struct dp_privacy_key *key = &dp_mechanisms[k]->keys[i];

			if (key_seen(k, key->name))
				continue;
			for (const char *p = key->name; *p; p++)
				dp_buf_putc(&d.text, *p == '_' ? '-' : *p);
			draft_end_text(&d);
			draft_add_arg(&d, key);
			draft_add_help(&d, key->name);
			d.n_rows++;
		}
	/* one allocation for rows and texts */
	rows = (d.n_rows + 1) * sizeof(struct ctl_option);
	ctl->mechanism_options = dp_calloc(1, rows + d.text.len);
	text = (char *)ctl->mechanism_options + rows;
	memcpy((char *)ctl->mechanism_options + rows, dp_buf_text(&d.text), d.text.len);
	for (size_t i = 0; i < d.n_rows; i++) {
		struct ctl_option *o = &ctl->mechanism_options[i];
		const char **to[] = { &o->name, &o->arg, &o->help };

		for (size_t k = 0; k < DP_COUNT(to); k++) {
			*to[k] = text;
			text += strlen(text) + 1;
		}
	}
	dp_buf_free(&d.text);
	return ctl->mechanism_options;
}
