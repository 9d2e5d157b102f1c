/* made_space.c - a study made in memory, for the tests of figures of the parameter
 * space. */
#include "made_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct report made_report;
static uint32_t seq;
struct dp_err made_err;

void made_apply(struct dp_event e)
{
	e.study = 1;
	e.seq = seq++;
	e.time = 1000000 + seq;
	if (dp_state_apply(&made_report.state, &e, &made_err) != DP_OK)
		fail_msg("%s", made_err.msg);
}

struct dp_study_state *made_study(const char *text)
{
	made_apply((struct dp_event){
		.type = DP_EV_STUDY_CREATED, .name = "s", .text = text, .path = "f", .dir = "/" });
	return dp_state_by_id(&made_report.state, 1);
}

void made_trial(const char *how, const double *x, const double *y)
{
	const struct dp_study_state *st = dp_state_by_id(&made_report.state, 1);

	made_apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				      .trial = st->ntrials,
				      .source = "random",
				      .params = x,
				      .nparams = (uint32_t)st->spec->nparams });
	made_apply((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
				      .trial = st->ntrials - 1,
				      .state = how,
				      .objectives = y,
				      .nobjectives = (uint32_t)st->spec->nobjectives });
}

struct subject *made_subject(bool models)
{
	struct subject *s = calloc(1, sizeof *s);

	s->s = dp_state_by_id(&made_report.state, 1);
	s->privacy = s->s->spec->objectives[0].privacy ? 0 : -1;
	s->utility = s->privacy + 1;
	s->y = 1;
	assert_true(subject_find_points(s));
	assert_int_equal(dp_study_front(s->s, &made_err), DP_OK);
	assert_int_equal(dp_results_recall(s->s, &s->results, &made_err), DP_OK);
	s->history = (struct dp_history){ .known = s->results.known, .n = s->results.n };
	s->models = models ? dp_proposer_new(s->s->spec) : NULL;
	if (models && dp_surrogate_fit(s->models, &s->history, NULL, &made_err) != DP_OK) {
		dp_proposer_free(s->models);
		s->models = NULL;
	}
	assert_int_equal(subject_judge(s, &made_err), DP_OK);
	made_report.subjects = s;
	made_report.nsubjects = 1;
	made_report.look.formats = LOOK_PNG;
	return s;
}

int made_free(void **state)
{
	(void)state;
	report_free(&made_report);
	memset(&made_report, 0, sizeof made_report);
	seq = 0;
	return 0;
}

void made_scatter(uint32_t n, void (*value)(const double *x, double *y))
{
	const struct dp_study *spec = dp_state_by_id(&made_report.state, 1)->spec;

	for (uint32_t i = 0; i < n; i++) {
		double x[DP_PARAMS_MAX], y[DP_OBJECTIVES_MAX];

		dp_space_sample(spec, i, true, x);
		assert_int_equal(dp_space_derive(spec, x, &made_err), DP_OK);
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
