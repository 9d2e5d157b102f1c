/* group_looks.c - how groups of studies look in figures. */
#include "reports/figures/series.h"

#include <stdio.h>
#include <string.h>

/* Would two groups of one model look the same? */
static bool looks_clash(const struct groups *g)
{
	for (size_t i = 0; i < g->by[0].n; i++)
		for (size_t k = 0; k < i; k++)
			if (g->list[i].model == g->list[k].model &&
			    g->list[i].method == g->list[k].method)
				return true;
	return false;
}

static enum plot_dash method_dash(int method)
{
	return method == DP_METHOD_RANDOM ? PLOT_DASHED
	       : method == DP_METHOD_GRID ? PLOT_DOTTED
					  : PLOT_SOLID;
}

struct plot_style fig_group_style(const struct groups *g, size_t group)
{
	bool by_group = g->nmodels == 1 || looks_clash(g);
	struct plot_style style = fig_style(by_group ? group : g->list[group].model);

	style.dash = method_dash(g->list[group].method);
	style.width = 2;
	return style;
}

char *fig_group_name(const struct groups *g, size_t group, char out[FIG_NAME_LEN])
{
	const char *name = g->by[0].group[group].name;
	size_t len = strlen(name);

	/* cut between characters */
	if (len >= FIG_NAME_LEN - 4)
		for (len = FIG_NAME_LEN - 4; len > 0 && (name[len] & 0xc0) == 0x80;)
			len--;
	snprintf(out, FIG_NAME_LEN, "%.*s%s", (int)len, name, name[len] ? "…" : "");
	return out;
}
