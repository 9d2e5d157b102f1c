/* model.c - surrogate models of a study's objectives and constraints.
 *
 * How a warm proposer gives the bits of a cold one: hyperparameters depend only on the
 * first m results, where m is the largest number of the sequence next_fit() that the
 * history reaches, and on the fit before that in the sequence. The factor is made for
 * these m results and then grows by one row per result. A kept model is used exactly
 * as far as the new history begins like the old one. What each fit of the sequence came
 * to is kept as well: where many run at once, a result of a trial that took long comes
 * between older ones, and only the fits that know of it are made again. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIT_POINTS_MAX = 400, /* the likelihood sees no more than that */
	FRESH_FITS = 24,      /* up to so many results a fit knows no fit before it */
	RESTART_FITS = 130,   /* up to so many it also starts from elsewhere */
	LARGE_FIT = 160,      /* from so many on a step is dear */
	LARGE_EVALUATIONS = 12,
	WHOLE_PATHS = 16, /* so many trainings show all of their waypoints */
	HALF_PATHS = 48   /* and up to here half of them */
};

/* The numbers of results at which hyperparameters are fitted. */
static size_t next_fit(size_t n)
{
	return n + (n < 16 ? 1 : n / 7);
}

/* ---- results in the form of the models ---- */

bool dp__is_result(const struct dp_known *k)
{
	return k->status == DP_KNOWN_OK || k->status == DP_KNOWN_DIVERGED;
}

/* The first trainings show their whole paths. Later ones leave out every second waypoint
 * or more, each others: along a path little is new, and the work grows with the square of
 * what models hold. It depends on the trial alone, so that what is kept stays as it is.
 */
bool dp__is_seen(const struct dp_proposer *p, const struct dp_known *k)
{
	size_t step = k->trial < WHOLE_PATHS ? 1 : k->trial < HALF_PATHS ? 2 : 4, at = 0;

	if (k->status == DP_KNOWN_FAILED)
		return false;
	while (at < p->inputs.nwaypoints && p->inputs.waypoint[at] < k->at)
		at++;
	return k->at == 0 || (at + k->trial) % step == 0;
}

/* Only what the study has: the rest of a caller's arrays may hold anything. */
static void copy_known(const struct dp_study *s, const struct dp_known *from, struct dp_known *to)
{
	memset(to, 0, sizeof *to);
	to->trial = from->trial;
	to->status = from->status;
	to->at = from->at;
	to->seconds = from->seconds;
	memcpy(to->x, from->x, s->nparams * sizeof *to->x);
	memcpy(to->y, from->y, s->nobjectives * sizeof *to->y);
	memcpy(to->var, from->var, s->nobjectives * sizeof *to->var);
	memcpy(to->metric, from->metric, s->nconstraints * sizeof *to->metric);
}

static double output_value(const struct dp_study *s, size_t o, const struct dp_known *k)
{
	const struct dp_constraint *c;

	if (o < s->nobjectives)
		return dp__forward(&s->objectives[o], k->y[o]);
	c = &s->constraints[o - s->nobjectives];
	return c->at_least ? -k->metric[o - s->nobjectives] : k->metric[o - s->nobjectives];
}

double dp__output_limit(const struct dp_study *s, size_t o)
{
	const struct dp_constraint *c;

	if (o < s->nobjectives)
		return dp__forward(&s->objectives[o], s->objectives[o].anti_ideal);
	c = &s->constraints[o - s->nobjectives];
	return c->at_least ? -c->bound : c->bound;
}

/* Model-space values of the first n results; what is not finite counts as the worst
 * that is known, or the limit if nothing is. */
static void output_values(const struct dp_proposer *p, size_t o, size_t n, double *z)
{
	double worst = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		z[i] = output_value(p->study, o, &p->seen[i]);
		if (p->seen[i].status == DP_KNOWN_OK && isfinite(z[i]))
			worst = fmax(worst, z[i]);
	}
	if (isinf(worst))
		worst = dp__output_limit(p->study, o);
	for (size_t i = 0; i < n; i++)
		if (!isfinite(z[i]))
			z[i] = worst;
}

/* ---- fitting ---- */

static void standardise_output(struct dp__output *out, double *z, size_t n)
{
	double mean = 0, var = 0;

	for (size_t i = 0; i < n; i++)
		mean += z[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		var += (z[i] - mean) * (z[i] - mean) / (double)n;
	out->shift = mean;
	out->scale = sqrt(var);
	if (!(out->scale > 1e-12 * fabs(mean)) || !isfinite(out->scale))
		out->scale = 1;
	for (size_t i = 0; i < n; i++)
		z[i] = (z[i] - out->shift) / out->scale;
}

/* The points of a training share its luck. To reckon with that helps where there is one
 * run, and not where several tell how large it is (docs/optimizer.md). */
static bool noise_is_shared(const struct dp_proposer *p)
{
	return p->inputs.nwaypoints > 0 && p->study->trainer.runs == 1 &&
	       !dp_study_releases(p->study); /* each release has its own */
}

/* Whose noise a result or pending point has. */
static struct dp_gp_run run_of(const struct dp_proposer *p, const struct dp_known *k)
{
	struct dp_gp_run run = { k->trial, 1 };

	if (p->inputs.nwaypoints > 0)
		run.at = k->x[p->inputs.in[p->inputs.path].param];
	return run;
}

struct fit_data {
	double *u, *y, *noise, *known, *lean, *all, *around;
	struct dp_gp_run *run;
	struct dp_gp_data data;
};

static void fit_data_free(struct fit_data *f)
{
	free(f->u);
	free(f->y);
	free(f->noise);
	free(f->known);
	free(f->lean);
	free(f->all);
	free(f->around);
	free(f->run);
}

/* The first n results, or FIT_POINTS_MAX of them at even steps. fit_data_free() it,
 * also without memory. */
static int fit_data_new(struct fit_data *f, struct dp_proposer *p, size_t o, size_t n)
{
	size_t d = p->spec.d, m = n < FIT_POINTS_MAX ? n : FIT_POINTS_MAX;
	double mean = 0;
	int code;

	memset(f, 0, sizeof *f);
	f->u = dp_vec_new(d * m);
	f->y = dp_vec_new(m);
	f->noise = dp_vec_new(m);
	f->known = dp_vec_new(m);
	f->lean = dp_vec_new(m);
	f->all = dp_vec_new(n);
	f->around = dp_vec_new(n);
	f->run = calloc(m, sizeof *f->run);
	if (!f->u || !f->y || !f->noise || !f->known || !f->lean || !f->all || !f->around ||
	    !f->run)
		return DP_E_NOMEM;
	output_values(p, o, n, f->all);
	standardise_output(&p->output[o], f->all, n);
	for (size_t i = 0; i < m; i++) {
		size_t from = m == n ? i : i * n / m;

		for (size_t k = 0; k < d; k++)
			f->u[k * m + i] = p->u[k * p->ldu + from];
		f->y[i] = f->all[from];
		f->run[i] = p->run[from];
	}
	f->data = (struct dp_gp_data){
		f->u, m, m, f->y, f->noise, f->lean, noise_is_shared(p) ? f->run : NULL, f->known
	};
	code = dp__noise_learn(p, o, &f->data, n, f->around);
	for (size_t i = 0; i < m && code == DP_OK; i++) {
		size_t from = m == n ? i : i * n / m;

		f->noise[i] = dp__noise_of(p, o, &p->seen[from], f->around[from]);
		f->known[i] = dp__noise_released(p, o, f->around[from]);
		f->lean[i] = dp__noise_lean(p, o, f->around[from]);
		mean += f->lean[i] / (double)m;
	}
	for (size_t i = 0; i < m; i++)
		f->lean[i] -= mean;
	p->output[o].lean_mean = mean;
	return code;
}

/* A rapid change along one input can pass for noise, and a search that starts there
 * stays there: the shortest length scale is tried much shorter, without noise. */
static void shorten_length(const struct dp_gp_spec *spec, struct dp_gp_hyper *h)
{
	size_t least = 0;

	for (size_t k = 1; k < spec->d; k++)
		if (!spec->input[k].categorical && h->length[k] < h->length[least])
			least = k;
	h->length[least] *= 0.25;
	h->noise = 1e-6;
}

/* Where a fit starts, in the order of trying: one that stays behind those before it is
 * soon dropped. */
static const struct fit_start {
	enum {
		FROM_BEFORE,    /* the last fit */
		FROM_SHORTENED, /* that with a shorter length */
		FROM_NOTHING
	} from;
	enum dp_gp_start where; /* from nothing */
	int evaluations;
} fit_starts[] = {
	{ FROM_BEFORE, 0, 20 },
	{ FROM_SHORTENED, 0, 35 },
	{ FROM_NOTHING, DP_GP_CENTRE, 50 },
	{ FROM_NOTHING, DP_GP_OTHER_WARPS, 50 },
	{ FROM_NOTHING, DP_GP_SHORT, 50 },
	{ FROM_NOTHING, DP_GP_ADDITIVE, 50 },
};

/* False if the start is not one for n trainings. */
static bool begin_fit(const struct dp_gp_spec *spec, const struct dp__output *out,
		      const struct fit_start *start, size_t n, struct dp_gp_hyper *h)
{
	bool fresh = n <= FRESH_FITS || !out->fitted;

	if (start->from == FROM_NOTHING) {
		dp_gp_start(spec, start->where, h);
		return fresh || n <= RESTART_FITS;
	}
	*h = out->hyper;
	if (start->from == FROM_SHORTENED)
		shorten_length(spec, h);
	return !fresh && (start->from == FROM_BEFORE || n <= RESTART_FITS);
}

/* The best that all starts reach; *most stays -inf if none reaches anything. */
static int fit_from_starts(const struct dp_proposer *p, size_t o, size_t trainings,
			   const struct dp_gp_data *data, const atomic_bool *cancel,
			   struct dp_gp_hyper *best, double *most)
{
	*most = -INFINITY;
	for (size_t k = 0; k < DP_COUNT(fit_starts); k++) {
		struct dp_gp_effort effort = { fit_starts[k].evaluations, cancel, isfinite(*most),
					       *most };
		struct dp_gp_hyper h;
		double value;
		int code;

		if (!begin_fit(&p->spec, &p->output[o], &fit_starts[k], trainings, &h))
			continue;
		if (data->n > LARGE_FIT)
			effort.evaluations = LARGE_EVALUATIONS;
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
	struct dp__output *out = &p->output[o];
	struct dp_gp_hyper best;
	double most = -INFINITY;
	struct fit_data f;
	int code = fit_data_new(&f, p, o, n);

	if (code == DP_OK)
		code = fit_from_starts(p, o, trainings, &f.data, cancel, &best, &most);
	if (code != DP_OK) {
		fit_data_free(&f);
		return code;
	}
	if (isinf(most)) {
		dp_gp_start(&p->spec, DP_GP_CENTRE, &best);
		if (p->note)
			snprintf(p->note, sizeof((struct dp_proposal *)0)->note,
				 "a fit failed; the model uses its prior's length scales");
	}
	out->hyper = best;
	out->fitted = true;
	for (size_t i = 0; i < n; i++)
		out->noise[i] = dp__noise_at(p, o, &p->seen[i], f.around[i]);
	fit_data_free(&f);
	return DP_OK;
}

static int build_output(struct dp_proposer *p, size_t o, size_t n)
{
	struct dp__output *out = &p->output[o];
	struct dp_gp_data data = { .u = p->u, .ldu = p->ldu, .n = n, .noise = out->noise };

	if (noise_is_shared(p))
		data.run = p->run;
	dp_gp_free(&out->gp);
	return dp_gp_build(&out->gp, &p->spec, &out->hyper, &data, next_fit(n) + 16);
}

bool dp__is_modelled(const struct dp__output *out)
{
	return !out->exact || out->costly;
}

/* ---- following the history ---- */

static int seen_room(struct dp_proposer *p, size_t n)
{
	size_t room = n + n / 2 + 64, d = p->spec.d;
	struct dp_known *seen;
	struct dp_gp_run *run;
	double *u;

	if (n <= p->seen_room)
		return DP_OK;
	seen = realloc(p->seen, room * sizeof *seen);
	if (!seen)
		return DP_E_NOMEM;
	p->seen = seen;
	run = realloc(p->run, room * sizeof *run);
	if (!run)
		return DP_E_NOMEM;
	p->run = run;
	for (size_t o = 0; o < p->noutputs; o++) {
		double *noise = realloc(p->output[o].noise, room * sizeof *noise);

		if (!noise)
			return DP_E_NOMEM;
		p->output[o].noise = noise;
	}
	u = dp_vec_new(d * room);
	if (!u)
		return DP_E_NOMEM;
	for (size_t k = 0; k < d && p->u; k++)
		memcpy(u + k * room, p->u + k * p->ldu, p->nseen * sizeof *u);
	free(p->u);
	p->u = u;
	p->ldu = room;
	p->seen_room = room;
	return DP_OK;
}

static void see_result(struct dp_proposer *p, const struct dp_known *k)
{
	double u[DP_PARAMS_MAX];

	p->seen[p->nseen] = *k;
	p->run[p->nseen] = run_of(p, k);
	dp__to_u(&p->inputs, k->x, u);
	for (size_t i = 0; i < p->spec.d; i++)
		p->u[i * p->ldu + p->nseen] = u[i];
	p->nseen++;
}

static void forget_fit(struct dp_proposer *p)
{
	p->fit_n = 0;
	for (size_t o = 0; o < p->noutputs; o++) {
		p->output[o].fitted = false;
		dp_gp_truncate(&p->output[o].gp, 0);
	}
}

static void forget_results(struct dp_proposer *p, size_t n)
{
	if (n < p->fit_n)
		forget_fit(p);
	while (p->nfits > 0 && p->fits[p->nfits - 1].results > n)
		p->nfits--;
	p->nseen = n;
	for (size_t o = 0; o < p->noutputs; o++)
		dp_gp_truncate(&p->output[o].gp, p->fit_n ? n : 0);
}

static bool is_seen_result(const struct dp_proposer *p, const struct dp_known *k)
{
	return dp__is_result(k) && dp__is_seen(p, k);
}

/* Copies the results; keeps what was there as far as it is the same. */
static int follow_history(struct dp_proposer *p, const struct dp_history *h)
{
	size_t n = 0, same = 0, results = 0;
	bool differs = false;
	int code;

	for (size_t i = 0; i < h->n; i++)
		results += is_seen_result(p, &h->known[i]);
	code = seen_room(p, results);
	if (code != DP_OK)
		return code;
	for (size_t i = 0; i < h->n; i++) {
		struct dp_known k;

		if (!is_seen_result(p, &h->known[i]))
			continue;
		copy_known(p->study, &h->known[i], &k);
		if (!differs && n < p->nseen && !memcmp(&k, &p->seen[n], sizeof k)) {
			same = ++n;
			continue;
		}
		if (!differs) {
			forget_results(p, same);
			differs = true;
		}
		see_result(p, &k);
		n++;
	}
	if (n < p->nseen)
		forget_results(p, n);
	return DP_OK;
}

/* Is the i-th result the last of its training? */
static bool ends_training(const struct dp_proposer *p, size_t i)
{
	return p->seen[i].at == 0 || i + 1 == p->nseen || p->seen[i + 1].trial != p->seen[i].trial;
}

size_t dp__trainings(const struct dp_proposer *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nseen; i++)
		n += ends_training(p, i);
	return n;
}

/* How many results the first so many trainings have. */
static size_t results_of(const struct dp_proposer *p, size_t trainings)
{
	size_t i = 0;

	for (size_t n = 0; n < trainings; i++)
		n += ends_training(p, i);
	return i;
}

/* ---- the sequence of fits ---- */

static struct dp_gp_hyper *kept_hyper(const struct dp_proposer *p, size_t fit)
{
	return p->fit_hypers + fit * p->noutputs;
}

/* Room for one fit more; false without memory, which costs time and nothing else. */
static bool fits_room(struct dp_proposer *p)
{
	size_t room = 2 * p->fits_room + 16;
	struct dp__fit *fits;
	struct dp_gp_hyper *hypers;

	if (p->nfits < p->fits_room)
		return true;
	fits = realloc(p->fits, room * sizeof *fits);
	if (fits)
		p->fits = fits;
	hypers = realloc(p->fit_hypers, room * p->noutputs * sizeof *hypers);
	if (hypers)
		p->fit_hypers = hypers;
	if (!fits || !hypers)
		return false;
	p->fits_room = room;
	return true;
}

/* The fit that was just made, which comes after all that are kept. */
static void keep_fit(struct dp_proposer *p)
{
	while (p->nfits > 0 && p->fits[p->nfits - 1].trainings >= p->fit_trainings)
		p->nfits--;
	if (!fits_room(p))
		return;
	p->fits[p->nfits] = (struct dp__fit){ p->fit_trainings, p->fit_n };
	for (size_t o = 0; o < p->noutputs; o++)
		kept_hyper(p, p->nfits)[o] = p->output[o].hyper;
	p->nfits++;
}

/* Was it made of what are so many trainings now, too? */
static bool fit_stands(const struct dp_proposer *p, const struct dp__fit *fit)
{
	return fit->results <= p->nseen && ends_training(p, fit->results - 1) &&
	       results_of(p, fit->trainings) == fit->results;
}

/* Nothing is fitted at present: begins where the newest kept fit leads to that has to be
 * made in any case, for n trainings. Where that is, or 0 if no fit is kept. */
static size_t resume_fits(struct dp_proposer *p, size_t n)
{
	while (p->nfits > 0 &&
	       (p->fits[p->nfits - 1].trainings > n || !fit_stands(p, &p->fits[p->nfits - 1])))
		p->nfits--;
	for (size_t i = p->nfits; i-- > 0;) {
		size_t next = next_fit(p->fits[i].trainings);

		if (next > n)
			continue; /* all but its length scales is lost: made again */
		for (size_t o = 0; o < p->noutputs; o++) {
			p->output[o].hyper = kept_hyper(p, i)[o];
			p->output[o].fitted = dp__is_modelled(&p->output[o]);
		}
		return next;
	}
	return 0;
}

/* Runs through the sequence of fits up to n trainings, each of which is a result if it is
 * no path. */
static int fit_to(struct dp_proposer *p, size_t n, const atomic_bool *cancel)
{
	bool fresh = false;
	size_t at = p->fit_n ? p->fit_trainings : resume_fits(p, n);
	int code = DP_OK;

	if (at == 0) /* fits before this one would leave no trace */
		at = n < FRESH_FITS ? 2 : 16;
	for (; at <= n && code == DP_OK; at = next_fit(at)) {
		size_t results = results_of(p, at);

		if ((p->fit_n && at == p->fit_trainings) ||
		    (next_fit(at) <= n && next_fit(at) <= FRESH_FITS))
			continue;
		for (size_t o = 0; o < p->noutputs && code == DP_OK; o++)
			if (dp__is_modelled(&p->output[o]))
				code = fit_output(p, o, results, at, cancel);
		if (code == DP_OK) {
			p->fit_n = results;
			p->fit_trainings = at;
			keep_fit(p);
			fresh = true;
		}
	}
	for (size_t o = 0; o < p->noutputs && code == DP_OK && fresh; o++)
		if (dp__is_modelled(&p->output[o]))
			code = build_output(p, o, p->fit_n);
	if (code != DP_OK)
		p->fit_n = 0;
	return code;
}

static int append_point(struct dp_proposer *p, size_t o, const struct dp_known *k, const double *u,
			double noise)
{
	struct dp_gp_run run = run_of(p, k);

	return dp_gp_append(&p->output[o].gp, u, noise, &run);
}

/* Adds the results since the fit, then the pending points. */
static int grow_output(struct dp_proposer *p, size_t o, const struct dp_history *h)
{
	struct dp__output *out = &p->output[o];
	double u[DP_PARAMS_MAX], around;
	int code = DP_OK;

	for (size_t i = out->gp.n; i < p->nseen && code == DP_OK; i++) {
		double z = output_value(p->study, o, &p->seen[i]);

		dp__to_u(&p->inputs, p->seen[i].x, u);
		code = dp__noise_around(p, o, u, z, &around);
		if (code != DP_OK)
			break;
		out->noise[i] = dp__noise_at(p, o, &p->seen[i], around);
		code = append_point(p, o, &p->seen[i], u, out->noise[i]);
	}
	for (size_t i = 0; i < h->n && code == DP_OK; i++) {
		if (h->known[i].status != DP_KNOWN_PENDING || !dp__is_seen(p, &h->known[i]))
			continue;
		dp__to_u(&p->inputs, h->known[i].x, u);
		code = dp__noise_around(p, o, u, NAN, &around);
		if (code == DP_OK)
			code = append_point(p, o, &h->known[i], u,
					    dp__noise_at(p, o, NULL, around));
	}
	return code;
}

static int observe_output(struct dp_proposer *p, size_t o)
{
	struct dp__output *out = &p->output[o];

	free(out->y);
	out->y = dp_vec_new(p->nseen);
	if (!out->y)
		return DP_E_NOMEM;
	output_values(p, o, p->nseen, out->y);
	for (size_t i = 0; i < p->nseen; i++)
		out->y[i] = (out->y[i] - out->shift) / out->scale;
	dp_gp_observe(&out->gp, out->y, p->nseen);
	return DP_OK;
}

int dp__model_update(struct dp_proposer *p, const struct dp_history *h, const atomic_bool *cancel)
{
	int code;

	p->history = h;
	for (size_t o = 0; o < p->noutputs; o++) {
		if (p->output[o].exact != dp__oracle_exact(p, o))
			forget_results(p, 0); /* nor are fits kept then */
		p->output[o].exact = dp__oracle_exact(p, o);
		p->output[o].costly = dp__oracle_costly(p, o);
		/* pending points of the last call go */
		dp_gp_truncate(&p->output[o].gp, p->nseen);
	}
	code = follow_history(p, h);
	if (code != DP_OK)
		return code;
	/* the last training of the fit was cut short, and now goes on: it was retried */
	if (p->fit_n && !ends_training(p, p->fit_n - 1))
		forget_fit(p);
	if (dp__trainings(p) < 2 || p->spec.d == 0)
		return DP_E_FAILED;
	code = fit_to(p, dp__trainings(p), cancel);
	for (size_t o = 0; o < p->noutputs && code == DP_OK; o++) {
		if (!dp__is_modelled(&p->output[o]))
			continue;
		code = grow_output(p, o, h);
		if (code == DP_OK)
			code = observe_output(p, o);
	}
	return code;
}

double dp__model_posterior(const struct dp_proposer *p, size_t o, size_t i)
{
	const struct dp__output *out = &p->output[o];

	if (out->exact)
		return output_value(p->study, o, &p->seen[i]);
	return out->shift + out->scale * (out->y[i] - dp_gp_deviation(&out->gp, i));
}
