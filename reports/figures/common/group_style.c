/* group_style.c - how groups of studies look in figures. */
#include "reports/figures/common/figure_data.h"

#include <stdio.h>
#include <string.h>

/* Would two groups of one model look the same? */
static bool group_styles_clash(const struct study_groups *g)
{
	for (size_t i = 0; i < g->contests[0].n; i++)
		for (size_t k = 0; k < i; k++)
			if (g->list[i].trainer_id == g->list[k].trainer_id &&
			    g->list[i].method == g->list[k].method)
				return true;
	return false;
}

static enum plot_dash search_method_dash(int method)
{
	return method == DP_METHOD_RANDOM ? PLOT_DASHED
	       : method == DP_METHOD_GRID ? PLOT_DOTTED
					  : PLOT_SOLID;
}

/* Does each group have a colour of its own, and not that of its model? */
static bool is_coloured_by_group(const struct study_groups *g)
{
	return g->ntrainers == 1 || group_styles_clash(g);
}

void fig_append_group_legend(const struct study_groups *g, struct dp_buf *out)
{
	static const char *const words[] = { [PLOT_SOLID] = "solid: model-based search",
					     [PLOT_DASHED] = "dashed: random search",
					     [PLOT_DOTTED] = "dotted: a grid" };
	bool has[DP_COUNT(words)] = { false }, any = false;

	for (size_t i = 0; i < g->contests[0].n; i++) {
		if (g->list[i].method < 0)
			return; /* its members differ */
		has[search_method_dash(g->list[i].method)] = true;
	}
	if (has[PLOT_SOLID] + has[PLOT_DASHED] + has[PLOT_DOTTED] < 2)
		return;
	dp_buf_puts(out, is_coloured_by_group(g) ? " Lines, " : " Colours: models. Lines, ");
	for (size_t k = 0; k < DP_COUNT(words); k++) {
		if (!has[k])
			continue;
		dp_buf_printf(out, "%s%s", any ? "; " : "", words[k]);
		any = true;
	}
	dp_buf_putc(out, '.');
}

struct plot_style fig_group_style(const struct study_groups *g, size_t group)
{
	struct plot_style style =
		fig_style(is_coloured_by_group(g) ? group : g->list[group].trainer_id);

	style.dash = search_method_dash(g->list[group].method);
	style.width = 2;
	return style;
}

char *fig_format_group_name(const struct study_groups *g, size_t group,
			    char out[FIG_STUDY_NAME_LEN])
{
	const char *name = g->contests[0].groups[group].name;
	size_t len = strlen(name);

	/* cut between characters */
	if (len >= FIG_STUDY_NAME_LEN - 4)
		for (len = FIG_STUDY_NAME_LEN - 4; len > 0 && (name[len] & 0xc0) == 0x80;)
			len--;
	snprintf(out, FIG_STUDY_NAME_LEN, "%.*s%s", (int)len, name, name[len] ? "…" : "");
	return out;
}
