/* made_studies.c - studies made in memory, for the tests of figures. */
#include "tests/unit/support/made_studies.h"
#include "reports/model/report_data.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct report_data made_report;
struct arena made_mem;
static uint32_t seq[8]; /* by study */
double made_now;        /* seconds, of the next event */

void made_apply(uint32_t study, struct dp_event e)
{
	struct dp_err err = { .msg = "" };

	e.study = study;
	e.seq = seq[study]++;
	e.time_us = (int64_t)((1000 + made_now) * 1e6);
	if (dp_state_apply(&made_report.state, &e, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static uint32_t made_study_of(const char *name, const char *path, const char *q,
			      const char *objectives)
{
	uint32_t study = made_report.state.nstudies + 1;
	char text[2000];

	snprintf(text, sizeof text,
		 "study: %s\ntrainer: {command: [x], runs: 2%s}\n"
		 "parameters: {p: {type: float, range: [0, 1]}, q: %s}\n%s\n"
		 "search: {method: dpareto, initial: 2, evaluations: 100}\n",
		 name, path, q, objectives);
	seq[study] = 0;
	made_apply(study, (struct dp_event){
				  .type = DP_EV_STUDY_CREATED,
				  .study_created = {
					  .name = name, .text = text, .path = "f", .dir = "/" } });
	return study;
}

uint32_t made_study(const char *name, const char *objectives)
{
	return made_study_of(name, "", "{type: float, range: [0, 1]}", objectives);
}

uint32_t made_walk(const char *name, const char *objectives)
{
	return made_study_of(name, ", path: q", "{type: int, range: [1, 16]}", objectives);
}

struct dp_study_state *made_state(uint32_t study)
{
	return dp_state_get_study(&made_report.state, study);
}

uint32_t made_trial_by(uint32_t study, const char *source, double p, double q)
{
	double x[] = { p, q };
	uint32_t trial = made_state(study)->ntrials;

	made_apply(study, (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
					     .trial = trial,
					     .trial_proposed = { .point = { .source = source,
									    .params = x,
									    .nparams = 2 } } });
	return trial;
}

uint32_t made_trial(uint32_t study, double p, double q)
{
	return made_trial_by(study, "random", p, q);
}

void made_attempt(uint32_t study, uint32_t trial, uint32_t attempt)
{
	made_apply(study, (struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
					     .trial = trial,
					     .run = DP_RUN_ALL,
					     .attempt = attempt });
}

void made_end(uint32_t study, uint32_t trial, uint32_t attempt, enum dp_end_class end, double start,
	      const double metrics[4])
{
	static const char *const names[] = { "a", "b" };
	static const char *const shares[] = { "accuracy", "majority_accuracy" };
	static const uint32_t runs[] = { 0, 1 };
	const char *second = made_state(study)->spec->objectives[1].metric;

	made_apply(study,
		   (struct dp_event){
			   .type = DP_EV_ATTEMPT_ENDED,
			   .trial = trial,
			   .run = DP_RUN_ALL,
			   .attempt = attempt,
			   .attempt_ended = { .end_class = end,
					      .charged = true,
					      .metric_names =
						      strcmp(second, "accuracy") ? names : shares,
					      .nmetrics = metrics ? 2 : 0,
					      .runs = runs,
					      .nruns = metrics ? 2 : 0,
					      .metrics = metrics,
					      .exit = { .start_seconds = 1000 + start,
							.end_seconds = 1000 + made_now } } });
}

void made_trial_end(uint32_t study, uint32_t trial, const char *how, const double *y, uint32_t n)
{
	made_apply(study,
		   (struct dp_event){
			   .type = DP_EV_TRIAL_ENDED,
			   .trial = trial,
			   .trial_ended = { .status = how, .objectives = y, .nobjectives = n } });
}

void made_result3(uint32_t study, double a, double b, double c, double spread)
{
	double y[] = { a, b, c }, metrics[] = { a, b - spread, a, b + spread };
	uint32_t trial = made_trial(study, a, b);

	made_attempt(study, trial, 0);
	made_now += 1;
	made_end(study, trial, 0, DP_END_OK, made_now - 1, metrics);
	made_trial_end(study, trial, "ok", y, (uint32_t)made_state(study)->spec->nobjectives);
}

void made_result(uint32_t study, double a, double b)
{
	made_result3(study, a, b, 0, 0);
}

void made_walked(uint32_t study, double q, const double way[2][2], const double *end, double spread)
{
	static const char *const names[] = { "a", "b" };
	static const double at[] = { 1, 4 };
	static const uint32_t runs[] = { 0, 1 };
	double ways[8], own[4] = { NAN, NAN, NAN, NAN };
	uint32_t trial = made_trial(study, 0.5, q);

	for (int i = 0; i < 4; i++) { /* two waypoints, two runs of each */
		double apart = i % 2 ? spread : -spread;

		ways[2 * i] = way[i / 2][0];
		ways[2 * i + 1] = way[i / 2][1] + apart;
		if (end && i < 2) {
			own[2 * i] = end[0];
			own[2 * i + 1] = end[1] + apart;
		}
	}
	made_attempt(study, trial, 0);
	made_now += q;
	made_apply(study,
		   (struct dp_event){
			   .type = DP_EV_ATTEMPT_ENDED,
			   .trial = trial,
			   .run = DP_RUN_ALL,
			   .attempt_ended = { .end_class = end ? DP_END_OK : DP_END_TIMEOUT,
					      .charged = true,
					      .metric_names = names,
					      .nmetrics = 2,
					      .runs = runs,
					      .nruns = 2,
					      .metrics = own,
					      .checkpoints = at,
					      .ncheckpoints = 2,
					      .checkpoint_metrics = ways,
					      .ncheckpoint_metrics = 8,
					      .exit = { .start_seconds = 1000 + made_now - q,
							.end_seconds = 1000 + made_now } } });
	made_trial_end(study, trial, end ? "ok" : "failed", end, end ? 2 : 0);
}

void made_failure(uint32_t study)
{
	uint32_t trial = made_trial(study, 0.5, 0.5);

	made_attempt(study, trial, 0);
	made_now += 1;
	made_end(study, trial, 0, DP_END_SIGNAL, made_now - 0.5, NULL);
	made_trial_end(study, trial, "failed", NULL, 0);
}

struct study_data *made_subjects(void)
{
	struct dp_err err;

	made_report.nstudies = made_report.state.nstudies;
	made_report.studies = calloc(made_report.nstudies, sizeof *made_report.studies);
	assert_non_null(made_report.studies);
	for (size_t i = 0; i < made_report.nstudies; i++) {
		struct dp_study_state *st = made_report.state.studies[i];

		dp_state_update_front(st);
		made_report.studies[i] = (struct study_data){
			.view = dp_state_public_view(st), .state = st, .privacy_obj = -1, .y_obj = 1
		};
		study_data_load_results(&made_report.studies[i]);
		assert_int_equal(study_data_assess_surrogates(&made_report.studies[i], &err),
				 DP_OK);
	}
	return made_report.studies;
}

int made_begin(void **s)
{
	(void)s;
	made_report = (struct report_data){ .figure_output.formats = FIGURE_PNG };
	made_now = 0;
	return 0;
}

int made_free(void **s)
{
	(void)s;
	report_data_free(&made_report);
	arena_free(&made_mem);
	return 0;
}

int made_forget_fonts(void **s)
{
	(void)s;
	plot_shutdown();
	return 0;
}
