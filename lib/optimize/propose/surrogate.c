/* surrogate.c - keeps surrogate models of objectives and constraints up to date with the history.
 *
 * A reused proposer gives the same bits as a new one. Hyperparameters depend only on the first m
 * results, where m is the largest number of the sequence next_fit_size() that the history reaches,
 * and on the previous fit of the sequence. The factor is built for these m results and then grows
 * by one row per result. A kept model is used exactly as far as the new history agrees with the old
 * one. The hyperparameters of each fit of the sequence are kept, too: with many concurrent trials,
 * the result of a long one is inserted between older ones, and only the fits that include it are
 * repeated. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "study/metric_release.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIT_POINTS_MAX = 400,        /* points in one likelihood */
	COLD_FIT_TRAININGS = 24,     /* up to here, a fit starts without the previous fit */
	RESTART_FIT_TRAININGS = 130, /* up to here, it also starts from other points */
	LARGE_FIT_POINTS = 160,      /* beyond, one step is expensive */
	LARGE_FIT_EVALUATIONS = 12,
	FULL_CURVE_TRAININGS = 16, /* up to here, all checkpoints are modelled */
	HALF_CURVE_TRAININGS = 48  /* up to here, half of them; beyond, a quarter */
};

/* Numbers of trainings at which hyperparameters are fitted. */
static size_t next_fit_size(size_t n)
{
	return n + (n < 16 ? 1 : n / 7);
}

/* ---- results in model space ---- */

bool dp__observation_is_informative(const struct dp_observation *k)
{
	return k->status == DP_OBSERVATION_OK || k->status == DP_OBSERVATION_DIVERGED;
}

/* All checkpoints of the first trainings are modelled, of later ones a half or a quarter with an
 * offset by trial: the points of a learning curve add little, and the work grows with the square of
 * their number. The choice depends on the trial alone, so that models can be kept. */
bool dp__observation_is_modelled(const struct dp_proposer *p, const struct dp_observation *k)
{
	size_t step = k->trial < FULL_CURVE_TRAININGS   ? 1
		      : k->trial < HALF_CURVE_TRAININGS ? 2
							: 4,
	       at = 0;

	if (k->status == DP_OBSERVATION_FAILED)
		return false;
	while (at < p->encoding.n_checkpoints && p->encoding.checkpoints[at] < k->checkpoint)
		at++;
	return k->checkpoint == 0 || (at + k->trial) % step == 0;
}

static double output_value(const struct dp_study *s, size_t o, const struct dp_observation *k)
{
	const struct dp_constraint *c;

	if (o < s->nobjectives)
		return dp__objective_to_model(&s->objectives[o], k->y[o]);
	c = &s->constraints[o - s->nobjectives];
	return c->at_least ? -k->metrics[o - s->nobjectives] : k->metrics[o - s->nobjectives];
}

double dp__output_bound(const struct dp_study *s, size_t o)
{
	const struct dp_constraint *c;

	if (o < s->nobjectives)
		return dp__objective_to_model(&s->objectives[o], s->objectives[o].anti_ideal);
	c = &s->constraints[o - s->nobjectives];
	return c->at_least ? -c->bound : c->bound;
}

/* Model-space values of the first n results. A value that is not finite counts as the worst known
 * one, or as the bound if none is known. */
static void output_values(const struct dp_proposer *p, size_t o, size_t n, double *z)
{
	double worst = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		z[i] = output_value(p->study, o, &p->observed[i]);
		if (p->observed[i].status == DP_OBSERVATION_OK && isfinite(z[i]))
			worst = fmax(worst, z[i]);
	}
	if (isinf(worst))
		worst = dp__output_bound(p->study, o);
	for (size_t i = 0; i < n; i++)
		if (!isfinite(z[i]))
			z[i] = worst;
}

/* ---- fitting ---- */

/* The points of one training run share part of their noise. Modelling that helps with one run per
 * trial, but not if several runs measure the noise (docs/optimizer.md). */
static bool has_correlated_noise(const struct dp_proposer *p)
{
	return p->encoding.n_checkpoints > 0 && p->study->trainer.runs == 1 &&
	       !dp_study_has_metric_release(p->study); /* each release has independent noise */
}

/* Noise group of a result or pending point. */
static struct dp_gp_noise_group get_noise_group(const struct dp_proposer *p,
						const struct dp_observation *k)
{
	struct dp_gp_noise_group run = { k->trial, 1 };

	if (p->encoding.n_checkpoints > 0)
		run.position = k->x[p->encoding.inputs[p->encoding.path_input].param];
	return run;
}

struct fit_data {
	double *u, *y, *noise, *known_noise, *log_noise_scale, *all_y, *smoothed;
	struct dp_gp_noise_group *noise_group;
	struct dp_gp_data data;
};

static void fit_data_free(struct fit_data *f)
{
	free(f->u);
	free(f->y);
	free(f->noise);
	free(f->known_noise);
	free(f->log_noise_scale);
	free(f->all_y);
	free(f->smoothed);
	free(f->noise_group);
}

/* Collects the first n results, or FIT_POINTS_MAX of them at even steps, standardised. The caller
 * calls fit_data_free(), also after an error. */
static int fit_data_new(struct fit_data *f, struct dp_proposer *p, size_t o, size_t n)
{
	struct dp__surrogate_output *out = &p->output[o];
	size_t d = p->spec.d, m = n < FIT_POINTS_MAX ? n : FIT_POINTS_MAX;
	double mean = 0, var = 0;
	int code;

	f->u = dp_vec_new(d * m);
	f->y = dp_vec_new(m);
	f->noise = dp_vec_new(m);
	f->known_noise = dp_vec_new(m);
	f->log_noise_scale = dp_vec_new(m);
	f->all_y = dp_vec_new(n);
	f->smoothed = dp_vec_new(n);
	f->noise_group = dp_calloc(m, sizeof *f->noise_group);
	output_values(p, o, n, f->all_y);
	for (size_t i = 0; i < n; i++)
		mean += f->all_y[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		var += (f->all_y[i] - mean) * (f->all_y[i] - mean) / (double)n;
	out->shift = mean;
	out->scale = sqrt(var);
	if (!(out->scale > 1e-12 * fabs(mean)) || !isfinite(out->scale))
		out->scale = 1;
	for (size_t i = 0; i < n; i++)
		f->all_y[i] = (f->all_y[i] - out->shift) / out->scale;
	for (size_t i = 0; i < m; i++) {
		size_t from = m == n ? i : i * n / m;

		for (size_t k = 0; k < d; k++)
			f->u[k * m + i] = p->u[k * p->ldu + from];
		f->y[i] = f->all_y[from];
		f->noise_group[i] = p->noise_group[from];
	}
	f->data = (struct dp_gp_data){ f->u,
				       m,
				       m,
				       f->y,
				       f->noise,
				       f->log_noise_scale,
				       has_correlated_noise(p) ? f->noise_group : NULL,
				       f->known_noise };
	code = dp__noise_model_fit(p, o, &f->data, n, f->smoothed);
	mean = 0;
	for (size_t i = 0; i < m && code == DP_OK; i++) {
		size_t from = m == n ? i : i * n / m;

		f->noise[i] =
			dp__noise_measured_variance(p, o, &p->observed[from], f->smoothed[from]);
		f->known_noise[i] = dp__noise_release_variance(p, o, f->smoothed[from]);
		f->log_noise_scale[i] = dp__noise_log_scale(p, o, f->smoothed[from]);
		mean += f->log_noise_scale[i] / (double)m;
	}
	for (size_t i = 0; i < m; i++)
		f->log_noise_scale[i] -= mean;
	out->log_noise_scale_mean = mean;
	return code;
}

/* Starts of a fit, in order. A start that stays behind earlier ones is dropped. */
static const struct fit_start {
	enum {
		START_LAST_FIT,  /* the last fit */
		START_SHORTENED, /* the last fit, shortened */
		START_COLD
	} from;
	enum dp_gp_fit_start cold_start; /* of START_COLD */
	int evaluations;
} fit_starts[] = {
	{ START_LAST_FIT, 0, 20 },
	{ START_SHORTENED, 0, 35 },
	{ START_COLD, DP_GP_START_PRIOR_MEAN, 50 },
	{ START_COLD, DP_GP_START_ALT_WARPS, 50 },
	{ START_COLD, DP_GP_START_SHORT_LENGTHS, 50 },
	{ START_COLD, DP_GP_START_ADDITIVE, 50 },
};

/* Sets *h to a start. False if the start is not used for n trainings. A fit can mistake a rapid
 * change along one input for noise and stay there. START_SHORTENED is the last fit with a much
 * shorter shortest length scale and hardly any noise. */
static bool init_start_hyper(const struct dp_gp_spec *spec, const struct dp__surrogate_output *out,
			     const struct fit_start *start, size_t n, struct dp_gp_hyper *h)
{
	bool fresh = n <= COLD_FIT_TRAININGS || !out->is_fitted;
	size_t shortest = 0;

	if (start->from == START_COLD) {
		dp_gp_init_hyper(spec, start->cold_start, h);
		return fresh || n <= RESTART_FIT_TRAININGS;
	}
	*h = out->hyper;
	if (start->from == START_SHORTENED) {
		for (size_t k = 1; k < spec->d; k++)
			if (!spec->input[k].categorical && h->length[k] < h->length[shortest])
				shortest = k;
		h->length[shortest] *= 0.25;
		h->noise = 1e-6;
	}
	return !fresh && (start->from == START_LAST_FIT || n <= RESTART_FIT_TRAININGS);
}

/* The best result of all starts; *most stays -INFINITY if all fail. */
static int fit_multistart(const struct dp_proposer *p, size_t o, size_t trainings,
			  const struct dp_gp_data *data, const atomic_bool *cancel,
			  struct dp_gp_hyper *best, double *most)
{
	*most = -INFINITY;
	for (size_t k = 0; k < DP_COUNT(fit_starts); k++) {
		struct dp_gp_fit_options effort = { fit_starts[k].evaluations, cancel,
						    isfinite(*most), *most };
		struct dp_gp_hyper h;
		double value;
		int code;

		if (!init_start_hyper(&p->spec, &p->output[o], &fit_starts[k], trainings, &h))
			continue;
		if (data->n > LARGE_FIT_POINTS)
			effort.max_evaluations = LARGE_FIT_EVALUATIONS;
		code = dp_gp_fit(&p->spec, data, &effort, &h, &value);
		if (code == DP_OK && value > *most) {
			*most = value;
			*best = h;
		}
		if (code != DP_OK && code != DP_E_FAILED)
			return code;
	}
	return DP_OK;
}

static int fit_output(struct dp_proposer *p, size_t o, size_t n, size_t trainings,
		      const atomic_bool *cancel)
{
	struct dp__surrogate_output *out = &p->output[o];
	struct dp_gp_hyper best;
	double most = -INFINITY;
	struct fit_data f;
	int code = fit_data_new(&f, p, o, n);

	if (code == DP_OK)
		code = fit_multistart(p, o, trainings, &f.data, cancel, &best, &most);
	if (code != DP_OK) {
		fit_data_free(&f);
		return code;
	}
	if (isinf(most)) {
		dp_gp_init_hyper(&p->spec, DP_GP_START_PRIOR_MEAN, &best);
		if (p->note)
			snprintf(p->note, sizeof((struct dp_proposal *)0)->note,
				 "a fit failed; the model uses its prior's length scales");
	}
	out->hyper = best;
	out->is_fitted = true;
	for (size_t i = 0; i < n; i++)
		out->noise[i] = dp__noise_variance(p, o, &p->observed[i], f.smoothed[i]);
	fit_data_free(&f);
	return DP_OK;
}

bool dp__output_is_modelled(const struct dp__surrogate_output *out)
{
	return !out->is_exact || out->is_costly;
}

/* ---- synchronisation with the history ---- */

static void reserve_observed(struct dp_proposer *p, size_t n)
{
	size_t room = n + n / 2 + 64, d = p->spec.d;
	double *u;

	if (n <= p->observed_capacity)
		return;
	p->observed = dp_realloc(p->observed, room * sizeof *p->observed);
	p->noise_group = dp_realloc(p->noise_group, room * sizeof *p->noise_group);
	for (size_t o = 0; o < p->n_outputs; o++)
		p->output[o].noise =
			dp_realloc(p->output[o].noise, room * sizeof *p->output[o].noise);
	u = dp_vec_new(d * room);
	for (size_t k = 0; k < d && p->u; k++)
		memcpy(u + k * room, p->u + k * p->ldu, p->n_observed * sizeof *u);
	free(p->u);
	p->u = u;
	p->ldu = room;
	p->observed_capacity = room;
}

static void discard_fit(struct dp_proposer *p)
{
	p->n_fitted = 0;
	for (size_t o = 0; o < p->n_outputs; o++) {
		p->output[o].is_fitted = false;
		dp_gp_truncate(&p->output[o].gp, 0);
	}
}

static void truncate_observed(struct dp_proposer *p, size_t n)
{
	if (n < p->n_fitted)
		discard_fit(p);
	while (p->n_fits > 0 && p->fits[p->n_fits - 1].n_results > n)
		p->n_fits--;
	p->n_observed = n;
	for (size_t o = 0; o < p->n_outputs; o++)
		dp_gp_truncate(&p->output[o].gp, p->n_fitted ? n : 0);
}

static bool is_modelled_result(const struct dp_proposer *p, const struct dp_observation *k)
{
	return dp__observation_is_informative(k) && dp__observation_is_modelled(p, k);
}

/* Copies the results. Keeps the models as far as the history is unchanged. */
static void sync_with_history(struct dp_proposer *p, const struct dp_history *h)
{
	const struct dp_study *s = p->study;
	size_t n = 0, results = 0;
	bool differs = false;

	for (size_t i = 0; i < h->n; i++)
		results += is_modelled_result(p, &h->observations[i]);
	reserve_observed(p, results);
	for (size_t i = 0; i < h->n; i++) {
		const struct dp_observation *from = &h->observations[i];
		struct dp_observation k;
		double u[DP_PARAMS_MAX];

		if (!is_modelled_result(p, from))
			continue;
		/* copy only what the study defines: the rest of the caller's arrays is undefined */
		memset(&k, 0, sizeof k);
		k.trial = from->trial;
		k.status = from->status;
		k.checkpoint = from->checkpoint;
		k.seconds = from->seconds;
		memcpy(k.x, from->x, s->nparams * sizeof *k.x);
		memcpy(k.y, from->y, s->nobjectives * sizeof *k.y);
		memcpy(k.var, from->var, s->nobjectives * sizeof *k.var);
		memcpy(k.metrics, from->metrics, s->nconstraints * sizeof *k.metrics);
		if (!differs && n < p->n_observed && !memcmp(&k, &p->observed[n], sizeof k)) {
			n++;
			continue;
		}
		if (!differs)
			truncate_observed(p, n);
		differs = true;
		p->observed[n] = k;
		p->noise_group[n] = get_noise_group(p, &k);
		dp__encoding_encode(&p->encoding, k.x, u);
		for (size_t j = 0; j < p->spec.d; j++)
			p->u[j * p->ldu + n] = u[j];
		p->n_observed = ++n;
	}
	if (n < p->n_observed)
		truncate_observed(p, n);
}

/* True if result i is the last of its training run. */
static bool is_last_of_training(const struct dp_proposer *p, size_t i)
{
	return p->observed[i].checkpoint == 0 || i + 1 == p->n_observed ||
	       p->observed[i + 1].trial != p->observed[i].trial;
}

size_t dp__surrogate_count_trainings(const struct dp_proposer *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_observed; i++)
		n += is_last_of_training(p, i);
	return n;
}

/* Number of results of the first `trainings` training runs. */
static size_t count_results_of_trainings(const struct dp_proposer *p, size_t trainings)
{
	size_t i = 0;

	for (size_t n = 0; n < trainings; i++)
		n += is_last_of_training(p, i);
	return i;
}

/* ---- the sequence of fits ---- */

static struct dp_gp_hyper *get_saved_hyper(const struct dp_proposer *p, size_t fit)
{
	return p->fit_hypers + fit * p->n_outputs;
}

/* Appends the current fit and drops saved fits of the same or a later size. */
static void save_fit(struct dp_proposer *p)
{
	while (p->n_fits > 0 && p->fits[p->n_fits - 1].n_trainings >= p->n_fitted_trainings)
		p->n_fits--;
	if (p->n_fits == p->fits_capacity) {
		p->fits_capacity = 2 * p->fits_capacity + 16;
		p->fits = dp_realloc(p->fits, p->fits_capacity * sizeof *p->fits);
		p->fit_hypers = dp_realloc(p->fit_hypers,
					   p->fits_capacity * p->n_outputs * sizeof *p->fit_hypers);
	}
	p->fits[p->n_fits] = (struct dp__fit_record){ p->n_fitted_trainings, p->n_fitted };
	for (size_t o = 0; o < p->n_outputs; o++)
		get_saved_hyper(p, p->n_fits)[o] = p->output[o].hyper;
	p->n_fits++;
}

/* True if a saved fit covers the first trainings, at most n, as they are now. */
static bool is_saved_fit_valid(const struct dp_proposer *p, const struct dp__fit_record *fit,
			       size_t n)
{
	return fit->n_trainings <= n && fit->n_results <= p->n_observed &&
	       is_last_of_training(p, fit->n_results - 1) &&
	       count_results_of_trainings(p, fit->n_trainings) == fit->n_results;
}

/* Call without a current fit: restores the newest saved fit whose successor in the sequence is
 * needed for n trainings. Returns the size of that successor, or 0 without saved fits. */
static size_t resume_fit_sequence(struct dp_proposer *p, size_t n)
{
	while (p->n_fits > 0 && !is_saved_fit_valid(p, &p->fits[p->n_fits - 1], n))
		p->n_fits--;
	for (size_t i = p->n_fits; i-- > 0;) {
		size_t next = next_fit_size(p->fits[i].n_trainings);

		if (next > n)
			continue; /* only hyperparameters are saved: this fit must run again */
		for (size_t o = 0; o < p->n_outputs; o++) {
			p->output[o].hyper = get_saved_hyper(p, i)[o];
			p->output[o].is_fitted = dp__output_is_modelled(&p->output[o]);
		}
		return next;
	}
	return 0;
}

/* Runs the fits of the sequence up to n trainings. */
static int run_fit_sequence(struct dp_proposer *p, size_t n, const atomic_bool *cancel)
{
	struct dp_gp_data data = { .u = p->u,
				   .ldu = p->ldu,
				   .noise_group = has_correlated_noise(p) ? p->noise_group : NULL };
	bool fresh = false;
	size_t at = p->n_fitted ? p->n_fitted_trainings : resume_fit_sequence(p, n);
	int code = DP_OK;

	if (at == 0) /* earlier fits would have no effect */
		at = n < COLD_FIT_TRAININGS ? 2 : 16;
	for (; at <= n && code == DP_OK; at = next_fit_size(at)) {
		size_t results = count_results_of_trainings(p, at);

		if ((p->n_fitted && at == p->n_fitted_trainings) ||
		    (next_fit_size(at) <= n && next_fit_size(at) <= COLD_FIT_TRAININGS))
			continue;
		for (size_t o = 0; o < p->n_outputs && code == DP_OK; o++)
			if (dp__output_is_modelled(&p->output[o]))
				code = fit_output(p, o, results, at, cancel);
		if (code == DP_OK) {
			p->n_fitted = results;
			p->n_fitted_trainings = at;
			save_fit(p);
			fresh = true;
		}
	}
	data.n = p->n_fitted;
	for (size_t o = 0; o < p->n_outputs && code == DP_OK && fresh; o++) {
		struct dp__surrogate_output *out = &p->output[o];

		if (!dp__output_is_modelled(out))
			continue;
		data.noise = out->noise;
		dp_gp_free(&out->gp);
		code = dp_gp_build(&out->gp, &p->spec, &out->hyper, &data,
				   next_fit_size(data.n) + 16);
	}
	if (code != DP_OK)
		p->n_fitted = 0;
	return code;
}

/* Appends the results since the fit, then the pending points, and sets the outputs. */
static void extend_output_gp(struct dp_proposer *p, size_t o, const struct dp_history *h)
{
	struct dp__surrogate_output *out = &p->output[o];
	struct dp_gp_noise_group group;
	double u[DP_PARAMS_MAX], smoothed;

	for (size_t i = out->gp.n; i < p->n_observed; i++) {
		const struct dp_observation *k = &p->observed[i];

		dp__encoding_encode(&p->encoding, k->x, u);
		smoothed = dp__noise_smoothed_value(p, o, u, output_value(p->study, o, k));
		out->noise[i] = dp__noise_variance(p, o, k, smoothed);
		group = get_noise_group(p, k);
		dp_gp_append_point(&out->gp, u, out->noise[i], &group);
	}
	for (size_t i = 0; i < h->n; i++) {
		const struct dp_observation *k = &h->observations[i];

		if (k->status != DP_OBSERVATION_PENDING || !dp__observation_is_modelled(p, k))
			continue;
		dp__encoding_encode(&p->encoding, k->x, u);
		smoothed = dp__noise_smoothed_value(p, o, u, NAN);
		group = get_noise_group(p, k);
		dp_gp_append_point(&out->gp, u, dp__noise_variance(p, o, NULL, smoothed), &group);
	}
	free(out->y);
	out->y = dp_vec_new(p->n_observed);
	output_values(p, o, p->n_observed, out->y);
	for (size_t i = 0; i < p->n_observed; i++)
		out->y[i] = (out->y[i] - out->shift) / out->scale;
	dp_gp_set_outputs(&out->gp, out->y, p->n_observed);
}

int dp__surrogate_update(struct dp_proposer *p, const struct dp_history *h,
			 const atomic_bool *cancel)
{
	int code;

	p->history = h;
	for (size_t o = 0; o < p->n_outputs; o++) {
		if (p->output[o].is_exact != dp__objective_is_exact(p, o))
			truncate_observed(p, 0); /* invalidates saved fits, too */
		p->output[o].is_exact = dp__objective_is_exact(p, o);
		p->output[o].is_costly = dp__objective_is_costly(p, o);
		/* drop the pending points of the last call */
		dp_gp_truncate(&p->output[o].gp, p->n_observed);
	}
	sync_with_history(p, h);
	/* the last run of the fit was interrupted and now continues */
	if (p->n_fitted && !is_last_of_training(p, p->n_fitted - 1))
		discard_fit(p);
	if (dp__surrogate_count_trainings(p) < 2 || p->spec.d == 0)
		return DP_E_FAILED;
	code = run_fit_sequence(p, dp__surrogate_count_trainings(p), cancel);
	for (size_t o = 0; o < p->n_outputs && code == DP_OK; o++)
		if (dp__output_is_modelled(&p->output[o]))
			extend_output_gp(p, o, h);
	return code;
}

double dp__surrogate_posterior_mean(const struct dp_proposer *p, size_t o, size_t i)
{
	const struct dp__surrogate_output *out = &p->output[o];

	if (out->is_exact)
		return output_value(p->study, o, &p->observed[i]);
	return out->shift + out->scale * (out->y[i] - dp_gp_residual(&out->gp, i));
}
