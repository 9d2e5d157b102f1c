/* figure_list.h - declarations of all figures. */
#ifndef DP_REPORTS_FIGURES_FIGURE_LIST_H
#define DP_REPORTS_FIGURES_FIGURE_LIST_H
#include "reports/model/study_data.h"

extern const struct figure figure_front;              /* log epsilon axis */
extern const struct figure figure_front_linear;       /* linear, up to the reference point */
extern const struct figure figure_objectives;         /* pairs of three and more */
extern const struct figure figure_hypervolume;        /* against evaluations */
extern const struct figure figure_variability;        /* best, mean and worst runs */
extern const struct figure figure_objective_maps;     /* objectives over parameters */
extern const struct figure figure_surrogates;         /* their models */
extern const struct figure figure_fit;                /* model quality */
extern const struct figure figure_pairs;              /* a model over pairs of parameters */
extern const struct figure figure_scatter;            /* points of two studies */
extern const struct figure figure_comparison;         /* fronts of several studies */
extern const struct figure figure_panels;             /* studies side by side */
extern const struct figure figure_hypervolume_groups; /* means over seeds */
extern const struct figure figure_seeds;              /* each member of a group */
extern const struct figure figure_attainment;         /* fronts of groups */
extern const struct figure figure_hyperparameters;    /* along the front */
extern const struct figure figure_parallel;           /* parallel coordinates */
extern const struct figure figure_relevance;          /* of each parameter */
extern const struct figure figure_timeline;           /* evaluations by slot */
extern const struct figure figure_time_spent;         /* slot usage */

#endif
