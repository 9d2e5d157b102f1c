/* group_spec.c - parses group specifications of the command line. */
#include "compare/compare.h"

#include "base/units.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void dp_group_spec_free(struct dp_group_spec *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->list[i].study);
	free(m->list);
	free(m->name);
	*m = (struct dp_group_spec){ 0 };
}

/* STUDY or STUDY/SIZE. */
static int add_entry(struct dp_group_spec *m, char *text, struct dp_err *err)
{
	char *slash = strchr(text, '/');
	int64_t size = 0;

	if (slash && (!dp_int_parse(slash + 1, &size) || size < 1 || size > INT32_MAX))
		return dp_fail(err, DP_E_USAGE,
			       "'%s' is neither a study nor parts of one, like "
			       "random/256",
			       text);
	if (slash)
		*slash = '\0';
	if (!*text)
		return dp_fail(err, DP_E_USAGE, "group '%s' has a study without a name", m->name);
	m->list = dp_realloc(m->list, (m->n + 1) * sizeof *m->list);
	m->list[m->n++] = (struct dp_group_entry){ dp_strdup(text), (uint32_t)size };
	return DP_OK;
}

int dp_group_spec_parse(const char *text, struct dp_group_spec *out, struct dp_err *err)
{
	const char *equals = strchr(text, '=');
	char *copy = dp_strdup(equals ? equals + 1 : text), *rest = copy, *part;
	int code = DP_OK;

	*out = (struct dp_group_spec){ .name = equals ? dp_strndup(text, (size_t)(equals - text))
						      : dp_strdup(text) };
	if (equals == text)
		code = dp_fail(err, DP_E_USAGE, "'%s' is a group without a name", text);
	else if (!dp_utf8_is_valid(out->name)) /* the name becomes JSON text */
		code = dp_fail(err, DP_E_USAGE, "the name of a group is not UTF-8");
	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL)
		code = add_entry(out, part, err);
	free(copy);
	return code;
}
