/* figures.c - all figures, in the order of a report. */
#include "reports/figures/figure_list.h"

#include <stdio.h>
#include <string.h>

const struct figure *const report_figures[] = {
	&figure_front,
	&figure_front_linear,
	&figure_objectives,
	&figure_comparison,
	&figure_hypervolume_groups,
	&figure_seeds,
	&figure_attainment,
	&figure_scatter,
	&figure_panels,
	&figure_variability,
	&figure_hypervolume,
	&figure_relevance,
	&figure_objective_maps,
	&figure_fit,
	&figure_surrogates,
	&figure_pairs,
	&figure_hyperparameters,
	&figure_parallel,
	&figure_timeline,
	&figure_time_spent,
	NULL,
};

const struct figure *figure_find(const char *name, size_t n)
{
	for (size_t i = 0; report_figures[i]; i++)
		if (strlen(report_figures[i]->name) == n &&
		    strncmp(report_figures[i]->name, name, n) == 0)
			return report_figures[i];
	return NULL;
}

char *figure_format_filename(const struct figure *f, const char *kind,
			     char out[FIGURE_FILENAME_LEN])
{
	snprintf(out, FIGURE_FILENAME_LEN, "%s.%s", f->name, kind);
	return out;
}
