/* large_front.c - draws from and chooses in fronts of many thousand points. */
#include "serve/large_front.h"

#include "base/json.h"
#include "serve/figures/recommended_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	GRID_CELLS = 4000 /* each way at first: several to a pixel */
};

bool large_front_applies(const json_t *summary)
{
	return dp_json_int(summary, "front", 0) > LARGE_FRONT_MIN_POINTS &&
	       strcmp(dp_json_str(summary, "front_of", ""), "denoised") != 0;
}

static int fail_large_front_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for a front");
}

void large_front_free(struct large_front *f)
{
	json_decref(f->head);
	trial_rows_unref(f->rows);
	free(f->member_rows);
}

/* ---- its points ---- */

/* The first row of a trial or of a later one. */
static size_t find_first_trial_row(const struct trial_rows *rows, int trial, double number)
{
	size_t lo = 0, hi = trial_rows_count(rows);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (trial_rows_get_cell(rows, mid, trial).number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Appends the row of a point, if there is one: a training that is made again has left
 * its waypoints out. */
static void large_front_add_member(struct large_front *f, int trial, int at, const json_t *number,
				   const json_t *waypoint)
{
	double n = json_number_value(number);

	for (size_t i = find_first_trial_row(f->rows, trial, n);
	     i < trial_rows_count(f->rows) && trial_rows_get_cell(f->rows, i, trial).number == n;
	     i++) {
		struct trial_cell c = trial_rows_get_cell(f->rows, i, at);

		if (json_is_number(waypoint) ? c.number == json_number_value(waypoint)
					     : c.kind == CELL_NONE) {
			f->member_rows[f->n_members++] = i;
			return;
		}
	}
}

static bool large_front_collect_members(struct large_front *f)
{
	const json_t *first = json_object_get(f->head, "front"),
		     *more = json_object_get(f->head, "more"), *p;
	int trial = trial_rows_find_column(f->rows, NULL, "trial"),
	    at = trial_rows_find_column(f->rows, NULL, "at");
	size_t i;

	f->member_rows = dp_malloc((json_array_size(first) + json_array_size(more) + 1) *
				   sizeof *f->member_rows);
	json_array_foreach (first, i, p)
		large_front_add_member(f, trial, at, json_object_get(p, "trial"),
				       json_object_get(p, "at"));
	json_array_foreach (more, i, p)
		large_front_add_member(f, trial, at, json_array_get(p, 0), json_array_get(p, 1));
	json_object_del(f->head, "more");
	return true;
}

int large_front_load(struct web_app *app, const char *study, struct large_front *out,
		     struct dp_err *err)
{
	int64_t version;
	int code;

	*out = (struct large_front){ 0 };
	code = runner_fetch_front_head(&app->runner, study, &out->head, err);
	if (code == DP_OK)
		code = trial_cache_get(&app->trial_cache, &app->runner, app->broker, study,
				       TRIAL_CACHE_NEWEST, &out->rows, &version, err);
	if (code == DP_OK && !large_front_collect_members(out))
		code = fail_large_front_nomem(err);
	return code;
}

/* The front with other points. Takes the reference. */
static json_t *front_with_points(const struct large_front *f, json_t *points)
{
	json_t *front = json_copy(f->head);

	if (!front || json_object_set_new(front, "front", points) != 0) {
		json_decref(front);
		return NULL;
	}
	return front;
}

/* ---- what can be seen ---- */

/* Where the values of a column lie, and its lowest and highest member. */
struct sample_axis {
	int column;
	bool is_log;
	double lo, hi;
	size_t lowest, highest;
};

/* Its place on the axis; NaN: it has none. */
static double sample_axis_position(const struct large_front *f, const struct sample_axis *a,
				   size_t i)
{
	double v = trial_rows_get_cell(f->rows, f->member_rows[i], a->column).number;

	v = a->is_log ? log(v) : v;
	return isfinite(v) ? v : NAN;
}

static void sample_axis_init(const struct large_front *f, const struct figure_axis *of,
			     struct sample_axis *a)
{
	*a = (struct sample_axis){ .column =
					   trial_rows_find_column(f->rows, "objectives", of->name),
				   .is_log = of->is_log,
				   .lo = INFINITY,
				   .hi = -INFINITY };
	for (size_t i = 0; i < f->n_members; i++) {
		double v = sample_axis_position(f, a, i);

		if (v < a->lo) {
			a->lo = v;
			a->lowest = i;
		}
		if (v > a->hi) {
			a->hi = v;
			a->highest = i;
		}
	}
}

/* Which of so many parts of the axis a member is in. */
static uint32_t sample_axis_cell(const struct large_front *f, const struct sample_axis *a, size_t i,
				 uint32_t cells)
{
	double v = sample_axis_position(f, a, i);

	return isnan(v) || a->hi <= a->lo ? 0 : (uint32_t)((v - a->lo) / (a->hi - a->lo) * cells);
}

struct sample_spot {
	uint64_t cell;
	size_t member;
};

static int compare_spots(const void *a, const void *b)
{
	const struct sample_spot *u = a, *v = b;

	if (u->cell != v->cell)
		return u->cell < v->cell ? -1 : 1;
	return (u->member > v->member) - (u->member < v->member);
}

/* Marks the last member in each of cells x cells spots; how many there are. */
static size_t mark_last_per_cell(const struct large_front *f, const struct sample_axis axis[2],
				 uint32_t cells, struct sample_spot *spot, bool *keep)
{
	size_t count = 0;

	for (size_t i = 0; i < f->n_members; i++)
		spot[i] = (struct sample_spot){ (uint64_t)sample_axis_cell(f, &axis[0], i, cells)
								<< 32 |
							sample_axis_cell(f, &axis[1], i, cells),
						i };
	qsort(spot, f->n_members, sizeof *spot, compare_spots);
	for (size_t i = 0; i < f->n_members; i++) {
		bool last = i + 1 == f->n_members || spot[i + 1].cell != spot[i].cell;

		keep[spot[i].member] = last;
		count += last;
	}
	return count;
}

/* Marks the members that can be seen, LARGE_FRONT_MAX_DRAWN at most, and the axes' ends. */
static bool mark_visible_points(const struct large_front *f, const struct sample_axis axis[2],
				bool *keep)
{
	struct sample_spot *spot = dp_malloc(f->n_members * sizeof *spot + 1);
	uint32_t cells = GRID_CELLS;

	while (mark_last_per_cell(f, axis, cells, spot, keep) > LARGE_FRONT_MAX_DRAWN)
		cells /= 2;
	for (int k = 0; k < 2 && f->n_members > 0; k++)
		keep[axis[k].lowest] = keep[axis[k].highest] = true;
	free(spot);
	return true;
}

int large_front_downsample(const struct large_front *f, const struct figure_axis *x,
			   const struct figure_axis *y, json_t **front, struct dp_err *err)
{
	bool *keep = dp_calloc(f->n_members + 1, sizeof *keep);
	json_t *list = json_array(), *point;
	struct sample_axis axis[2];
	int code = keep && list ? DP_OK : DP_E_NOMEM;

	sample_axis_init(f, x, &axis[0]);
	sample_axis_init(f, y, &axis[1]);
	if (code == DP_OK && !mark_visible_points(f, axis, keep))
		code = DP_E_NOMEM;
	for (size_t i = 0; code == DP_OK && i < f->n_members; i++) {
		size_t len;
		const char *text = trial_rows_get_text(f->rows, f->member_rows[i], &len);

		if (keep[i] && (dp_json_parse(text, len, &point, err) != DP_OK ||
				json_array_append_new(list, point) != 0))
			code = DP_E_NOMEM;
	}
	free(keep);
	*front = code == DP_OK ? front_with_points(f, list) : NULL;
	if (code != DP_OK)
		json_decref(list);
	return *front ? DP_OK : fail_large_front_nomem(err);
}

/* ---- the point to take ---- */

/* Is its objective the least or the greatest of all? The standard error there counts. */
static bool is_axis_extreme(const struct large_front *f, const struct sample_axis *axis, size_t n,
			    size_t i)
{
	for (size_t k = 0; k < n; k++) {
		double v = sample_axis_position(f, &axis[k], i);

		if (v == axis[k].lo || v == axis[k].hi)
			return true;
	}
	return false;
}

/* What rules go by: objectives, and at the ends what runs say of the noise. */
static json_t *minimal_point_json(const struct large_front *f, const struct sample_axis *axis,
				  const json_t *names, size_t i)
{
	json_t *values = json_object(), *slim = json_object(), *full;
	size_t k, len;
	const json_t *name;
	struct dp_err err;
	const char *text = trial_rows_get_text(f->rows, f->member_rows[i], &len);
	bool failed = false;

	json_array_foreach (names, k, name)
		failed |= json_object_set_new(
				  values, json_string_value(name),
				  dp_json_real(trial_rows_get_cell(f->rows, f->member_rows[i],
								   axis[k].column)
						       .number)) != 0;
	failed |= json_object_set_new(slim, "objectives", values) != 0 ||
		  json_object_set_new(slim, "member", json_integer((json_int_t)i)) != 0;
	if (!failed && is_axis_extreme(f, axis, json_array_size(names), i) &&
	    dp_json_parse(text, len, &full, &err) == DP_OK) {
		failed = json_object_set(slim, "spread", json_object_get(full, "spread")) != 0;
		json_decref(full);
	}
	if (!failed)
		return slim;
	json_decref(slim);
	return NULL;
}

/* All points, slim; NULL without memory. */
static json_t *minimal_front_json(const struct large_front *f, const json_t *summary)
{
	const json_t *names = json_object_get(summary, "objectives"), *name;
	struct sample_axis *axis = dp_calloc(json_array_size(names) + 1, sizeof *axis);
	json_t *list = json_array();
	bool whole = axis && list;
	size_t k;

	json_array_foreach (names, k, name)
		if (whole)
			sample_axis_init(f, &(struct figure_axis){ json_string_value(name), false },
					 &axis[k]);
	for (size_t i = 0; whole && i < f->n_members; i++)
		whole = json_array_append_new(list, minimal_point_json(f, axis, names, i)) == 0;
	free(axis);
	if (whole)
		return front_with_points(f, list);
	json_decref(list);
	return NULL;
}

int large_front_recommend_row(const struct large_front *f, const json_t *summary, json_t **choice,
			      size_t *member, struct dp_err *err)
{
	json_t *slim = minimal_front_json(f, summary);
	const json_t *point;
	int code = slim ? recommended_point_find(summary, slim, choice, err)
			: fail_large_front_nomem(err);

	json_decref(slim);
	if (code != DP_OK)
		return code;
	point = json_array_get(json_object_get(*choice, "front"), 0);
	*member = point ? (size_t)dp_json_int(point, "member", 0) : SIZE_MAX;
	return DP_OK;
}

/* A member in full, as the front has it, in a list. */
static int large_front_fetch_member(struct web_app *app, const struct large_front *f,
				    const char *study, size_t member, json_t **points,
				    struct dp_err *err)
{
	size_t len;
	const char *text = trial_rows_get_text(f->rows, f->member_rows[member], &len);
	json_t *row;
	int code = dp_json_parse(text, len, &row, err);

	if (code != DP_OK)
		return code;
	code = runner_fetch_front_points(
		&app->runner, study,
		json_pack("[[O, O]]", json_object_get(row, "trial"), json_object_get(row, "at")),
		points, err);
	json_decref(row);
	return code;
}

int large_front_recommend(struct web_app *app, const struct large_front *f, const char *study,
			  const json_t *summary, json_t **choice, struct dp_err *err)
{
	json_t *picked, *points;
	size_t member;
	int code = large_front_recommend_row(f, summary, &picked, &member, err);

	*choice = NULL;
	if (code != DP_OK)
		return code;
	if (member != SIZE_MAX) {
		code = large_front_fetch_member(app, f, study, member, &points, err);
		if (code == DP_OK && json_object_set_new(picked, "front", points) != 0)
			code = fail_large_front_nomem(err);
	}
	if (code == DP_OK)
		*choice = json_incref(picked);
	json_decref(picked);
	return code;
}
