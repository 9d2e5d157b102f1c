/* learning_curve.c - trainer.path: its key, and the checkpoints of a run.
 *
 * A run that increases one parameter passes through the results of every smaller value. */
#include "study/parse/study_parse_internal.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/space.h"
#include "study/objective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the key ---- */

/* `path: epochs` is short for `path: {parameter: epochs}`. */
void dp__read_learning_curve(struct dp__study_parser *r, const struct dp__key *k,
			     const struct dp__node *v, void *to)
{
	struct dp__node name = *v, map = { .kind = DP__NODE_MAP, .first_child = &name, .count = 1 };

	r->learning_curve_node = v;
	if (v->kind == DP__NODE_SCALAR) {
		name.key = "parameter";
		name.next_sibling = NULL;
		dp__read_section(r, DP__WALK, v->key_pos, &map, to);
	} else if (dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX)) {
		dp__read_section(r, DP__WALK, v->key_pos, v, to);
	}
}

void dp__learning_curve_range(const struct dp_study *s, double *first, double *last)
{
	const struct dp_param *p = &s->params[s->trainer.learning_curve.param];
	bool ranged = s->search.method == DP_METHOD_DPARETO;

	if (p->kind == DP_PARAM_FIXED) {
		*first = 1;
		*last = json_number_value(p->values);
	} else {
		*first = ranged ? p->lo : ceil(p->accept_lo);
		*last = ranged ? p->hi : floor(p->accept_hi);
	}
}

static void check_learning_curve_param(struct dp__study_parser *r, const struct dp_param *p,
				       size_t pos)
{
	static const char form[] = "an int parameter above 0";
	double first, last;

	if (p->kind != DP_PARAM_INT && p->kind != DP_PARAM_FIXED) {
		dp__report_error(r, pos, form,
				 "a training cannot walk up '%s', which is %s parameter", p->name,
				 p->kind == DP_PARAM_FLOAT         ? "a float"
				 : p->kind == DP_PARAM_CATEGORICAL ? "a categorical"
								   : "a calibrated");
		return;
	}
	dp__learning_curve_range(r->study, &first, &last);
	if (p->kind == DP_PARAM_FIXED && !(last > 1 && last == floor(last)))
		dp__report_error(r, pos, "a parameter that is a whole number above 1",
				 "a training cannot walk up '%s': on the way to its fixed "
				 "value there is no other",
				 p->name);
	else if (first < 1)
		dp__report_error(r, pos, form,
				 "a training cannot walk up '%s': its values lie evenly on "
				 "the log scale, so they cannot begin at %.0f",
				 p->name, first);
}

/* If no privacy objective depends on the parameter, every checkpoint gets the epsilon of the whole
 * run. That is a valid bound, but not tight. */
static void warn_curve_unaccounted(struct dp__study_parser *r, size_t param, size_t pos)
{
	const struct dp_study *s = r->study;

	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].privacy &&
		    dp_accounting_depends_on(s->objectives[i].privacy, param))
			return;
	if (dp_study_has_privacy(s) && r->diagnostics->error_count == 0)
		dp__report_warning(r, pos, NULL,
				   "no privacy objective depends on '%s', so each waypoint "
				   "counts with the epsilon of its whole training, which is an "
				   "upper bound; its steps or epochs should come from '%s'",
				   s->params[param].name, s->params[param].name);
}

void dp__check_learning_curve(struct dp__study_parser *r)
{
	const char *names[DP_PARAMS_MAX + 1] = { NULL };
	const struct dp__node *v = r->learning_curve_node;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	struct dp_study *s = r->study;

	if (v && v->kind == DP__NODE_MAP)
		v = dp__map_get(v, "parameter");
	if (!v || v->kind != DP__NODE_SCALAR || s->nparams == 0)
		return; /* none, or already reported */
	for (size_t i = 0; i < s->nparams; i++) {
		names[i] = s->params[i].name;
		if (strcmp(names[i], v->text) != 0)
			continue;
		s->trainer.learning_curve.param = i;
		s->trainer.learning_curve.pos = v->pos;
		if (!r->param_invalid[i]) {
			check_learning_curve_param(r, &s->params[i], v->pos);
			warn_curve_unaccounted(r, i, v->pos);
			dp__check_calibrated_curve(r, i);
		}
		return;
	}
	dp__report_error(r, v->pos, NULL, "'path' names no parameter '%s'%s",
			 dp__printable(v->text, shown), dp__did_you_mean(v->text, names, guess));
}

/* ---- its values ---- */

double dp_learning_curve_end(const struct dp_study *s, const double *x)
{
	return dp_space_value(s, s->trainer.learning_curve.param, x);
}

size_t dp_learning_curve_checkpoints(const struct dp_study *s, const double *x,
				     double values[DP_CHECKPOINTS_MAX])
{
	const struct dp_learning_curve *path = &s->trainer.learning_curve;
	double first, last, own;
	size_t n = 0;

	if (path->points == 0)
		return 0;
	dp__learning_curve_range(s, &first, &last);
	own = dp_learning_curve_end(s, x);
	for (int k = 0; k < path->points; k++) {
		double v = rint(first * pow(last / first, (double)k / path->points));

		if (v >= own)
			break;
		if (n == 0 || v > values[n - 1])
			values[n++] = v;
	}
	return n;
}

/* ---- is it a learning curve? ---- */

/* The first key that the parameter sets and whose larger values may be more private, or NULL.
 * Larger `times` never are. */
static const struct dp_privacy_key *find_nonmonotone_key(const struct dp_mechanism_use *u,
							 size_t param)
{
	for (size_t k = 0; k < u->mechanism->nkeys; k++)
		if (u->param[k] == (int)param && u->mechanism->keys[k].epsilon_trend <= 0)
			return &u->mechanism->keys[k];
	return NULL;
}

static bool epsilon_rises_along_curve(const struct dp_accounting_spec *o, size_t param)
{
	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		return false;
	for (size_t i = 0; i < o->nuses; i++)
		if (find_nonmonotone_key(&o->uses[i], param))
			return false;
	return true;
}

size_t dp_learning_curve_costlier(const struct dp_study *s, size_t objective, const double *x,
				  double at, double values[DP_CHECKPOINTS_MAX])
{
	const struct dp_learning_curve *path = &s->trainer.learning_curve;
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	size_t n;

	if (path->points == 0 || !o || epsilon_rises_along_curve(o, path->param))
		return 0;
	n = dp_learning_curve_checkpoints(s, x, values);
	while (n > 0 && values[n - 1] >= at) /* false for NaN */
		n--;
	return n;
}

int dp_study_check_learning_curve(const struct dp_study *s, const char *text, size_t len,
				  struct dp_diagnostics *diagnostics, struct dp_err *err)
{
	struct dp__study_parser r = { .text = text, .len = len, .diagnostics = diagnostics };
	const struct dp_learning_curve *path = &s->trainer.learning_curve;
	const char *name = path->points ? s->params[path->param].name : NULL;
	char why[400];

	for (size_t i = 0; name && i < s->nobjectives; i++) {
		const struct dp_accounting_spec *o = s->objectives[i].privacy;

		for (size_t k = 0; o && k < o->nuses; k++) {
			const struct dp_mechanism_use *u = &o->uses[k];
			const struct dp_privacy_key *key = find_nonmonotone_key(u, path->param);

			if (!key)
				continue;
			snprintf(why, sizeof why,
				 "'%s' makes no learning curve: it sets '%s' of %s, and "
				 "epsilon may fall as that grows, so a run with a "
				 "smaller value may cost more than the whole run",
				 name, key->name, u->mechanism->name);
			dp__report_error(&r, path->pos, NULL, "%s", why);
			dp__diagnostics_sort(diagnostics);
			dp_fail(err, DP_E_INVALID, "trainer.path: %s", why);
			return dp_hint(err, "name a parameter that sets epochs, steps or "
					    "times, or leave trainer.path out");
		}
	}
	return DP_OK;
}
