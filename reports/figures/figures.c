/* figures.c - all figures, in the order of a report. */
#include "reports/figures/figures.h"

const struct figure *const report_figures[] = {
	&figure_front,           &figure_front_log,   &figure_comparison,
	&figure_clouds,          &figure_variability, &figure_hypervolume,
	&figure_oracles,         &figure_surrogates,  &figure_pairs,
	&figure_hyperparameters, &figure_parallel,    &figure_relevance,
	&figure_timeline,        &figure_time_spent,  NULL,
};
