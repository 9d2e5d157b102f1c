/* made_space.c - a study made in memory, for the tests of figures of the parameter
 * space. */
#include "tests/unit/support/made_space.h"
#include "reports/model/report_data.h"
#include "study/calibrated_params.h"
#include "study/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct report_data made_report;
struct arena made_mem;
static uint32_t seq;
struct dp_err made_err;

void made_apply(struct dp_event e)
{
	e.study = 1;
	e.seq = seq++;
	e.time_us = 1000000 + seq;
	if (dp_state_apply(&made_report.state, &e, &made_err) != DP_OK)
		fail_msg("%s", made_err.msg);
}

struct dp_study_state *made_study(const char *text)
{
	made_apply((struct dp_event){
		.type = DP_EV_STUDY_CREATED,
		.study_created = { .name = "s", .text = text, .path = "f", .dir = "/" } });
	return dp_state_get_study(&made_report.state, 1);
}

void made_trial(const char *how, const double *x, const double *y)
{
	const struct dp_study_state *st = dp_state_get_study(&made_report.state, 1);

	made_apply((struct dp_event){
		.type = DP_EV_TRIAL_PROPOSED,
		.trial = st->ntrials,
		.trial_proposed = { .point = { .source = "random",
					       .params = x,
					       .nparams = (uint32_t)st->spec->nparams } } });
	made_apply((struct dp_event){
		.type = DP_EV_TRIAL_ENDED,
		.trial = st->ntrials - 1,
		.trial_ended = { .status = how,
				 .objectives = y,
				 .nobjectives = (uint32_t)st->spec->nobjectives } });
}

struct study_data *made_subject(bool models)
{
	struct study_data *s = calloc(1, sizeof *s);

	s->state = dp_state_get_study(&made_report.state, 1);
	s->view = dp_state_public_view(s->state);
	s->privacy_obj = s->state->spec->objectives[0].privacy ? 0 : -1;
	s->utility_obj = s->privacy_obj + 1;
	s->y_obj = 1;
	study_data_load_results(s);
	dp_state_update_front(s->state);
	s->results = dp_history_subset_load(s->state);
	s->history = (struct dp_history){ .observations = s->results.known, .n = s->results.n };
	s->surrogates = models ? dp_proposer_new(s->state->spec) : NULL;
	if (models && dp_surrogate_fit(s->surrogates, &s->history, NULL, &made_err) != DP_OK) {
		dp_proposer_free(s->surrogates);
		s->surrogates = NULL;
	}
	assert_int_equal(study_data_assess_surrogates(s, &made_err), DP_OK);
	made_report.studies = s;
	made_report.nstudies = 1;
	made_report.figure_output.formats = FIGURE_PNG;
	return s;
}

int made_free(void **state)
{
	(void)state;
	report_data_free(&made_report);
	arena_free(&made_mem);
	memset(&made_report, 0, sizeof made_report);
	seq = 0;
	return 0;
}

void made_scatter(uint32_t n, void (*value)(const double *x, double *y))
{
	const struct dp_study *spec = dp_state_get_study(&made_report.state, 1)->spec;

	for (uint32_t i = 0; i < n; i++) {
		double x[DP_PARAMS_MAX], y[DP_OBJECTIVES_MAX];

		dp_space_sample(spec, i, true, x);
		assert_int_equal(dp_space_solve_calibrated(spec, x, &made_err), DP_OK);
		value(x, y);
		made_trial("ok", x, y);
	}
}

double made_svt(double C, double b)
{
	double t = cbrt(2 * C);

	return (1 + t) * (1 + t * t) / b;
}

void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

void nothing_matters(const double *x, double *y)
{
	y[0] = made_svt(x[0], x[1]);
	y[1] = 0.5;
}

void by_a_and_c(const double *x, double *y)
{
	y[0] = 3 + sin(6 * x[0]) + 2 * x[2];
	y[1] = 3 + cos(7 * x[2]) - x[0];
}

int made_forget_fonts(void **state)
{
	(void)state;
	plot_shutdown();
	return 0;
}
