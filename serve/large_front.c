/* large_front.c - draws and filters fronts of many thousand points. */
#include "serve/large_front.h"

#include "base/json.h"
#include "ctl/support/front_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	GRID_CELLS = 4000 /* initial grid per axis: several cells per pixel */
};

bool large_front_applies(const json_t *summary)
{
	return dp_json_int(summary, "front", 0) > LARGE_FRONT_MIN_POINTS &&
	       strcmp(dp_json_str(summary, "front_of", ""), "denoised") != 0;
}

void large_front_free(struct large_front *f)
{
	json_decref(f->head);
	trial_rows_unref(f->rows);
	free(f->member_rows);
}

/* Adds the row of a point if it exists. When a trial is retried, the rows of its checkpoints are
 * removed. */
static void large_front_add_member(struct large_front *f, int trial, int at, const json_t *number,
				   const json_t *checkpoint)
{
	double n = json_number_value(number);
	size_t lo = 0, hi = trial_rows_count(f->rows);

	/* binary search: first row of this trial or a later one */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (trial_rows_get_cell(f->rows, mid, trial).number < n)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo;
	     i < trial_rows_count(f->rows) && trial_rows_get_cell(f->rows, i, trial).number == n;
	     i++) {
		struct trial_cell c = trial_rows_get_cell(f->rows, i, at);

		if (json_is_number(checkpoint) ? c.number == json_number_value(checkpoint)
					       : c.kind == CELL_NONE) {
			f->member_rows[f->n_members++] = i;
			return;
		}
	}
}

static void large_front_collect_members(struct large_front *f)
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
}

int large_front_load(struct trial_cache *cache, const char *study, struct large_front *out,
		     struct dp_err *err)
{
	int64_t version;
	int code;

	*out = (struct large_front){ 0 };
	code = daemon_fetch_front_head(cache->daemon, study, &out->head, err);
	if (code == DP_OK)
		code = trial_cache_get(cache, study, TRIAL_CACHE_NEWEST, &out->rows, &version, err);
	if (code == DP_OK)
		large_front_collect_members(out);
	return code;
}

static json_t *front_with_points(const struct large_front *f, json_t *points)
{
	json_t *front = json_copy(f->head);

	json_object_set_new(front, "front", points);
	return front;
}

static json_t *large_front_member_json(const struct large_front *f, size_t member)
{
	size_t len;
	const char *text = trial_rows_get_text(f->rows, f->member_rows[member], &len);
	struct dp_err ignored; /* the text was written from JSON, so it parses */
	json_t *row;

	return dp_json_parse(text, len, &row, &ignored) == DP_OK ? row : NULL;
}

/* The range of a column and the members with its lowest and highest values. */
struct sample_axis {
	int column;
	bool is_log;
	double lo, hi;
	size_t lowest, highest;
};

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

/* Returns which of `cells` parts of the axis a member is in. */
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

/* Marks the last member in each cell of a cells x cells grid, and the ends of the axes. Coarsens
 * the grid until at most LARGE_FRONT_MAX_DRAWN are marked. */
static void mark_visible_points(const struct large_front *f, const struct sample_axis axis[2],
				bool *keep)
{
	struct sample_spot *spot = dp_malloc(f->n_members * sizeof *spot + 1);
	size_t count = SIZE_MAX;

	for (uint32_t cells = GRID_CELLS; count > LARGE_FRONT_MAX_DRAWN; cells /= 2) {
		for (size_t i = 0; i < f->n_members; i++)
			spot[i] = (struct sample_spot){
				(uint64_t)sample_axis_cell(f, &axis[0], i, cells) << 32 |
					sample_axis_cell(f, &axis[1], i, cells),
				i
			};
		qsort(spot, f->n_members, sizeof *spot, compare_spots);
		count = 0;
		for (size_t i = 0; i < f->n_members; i++) {
			bool last = i + 1 == f->n_members || spot[i + 1].cell != spot[i].cell;

			keep[spot[i].member] = last;
			count += last;
		}
	}
	for (int k = 0; k < 2 && f->n_members > 0; k++)
		keep[axis[k].lowest] = keep[axis[k].highest] = true;
	free(spot);
}

json_t *large_front_downsample(const struct large_front *f, const struct figure_axis *x,
			       const struct figure_axis *y)
{
	bool *keep = dp_calloc(f->n_members + 1, sizeof *keep);
	json_t *list = json_array();
	struct sample_axis axis[2];

	sample_axis_init(f, x, &axis[0]);
	sample_axis_init(f, y, &axis[1]);
	mark_visible_points(f, axis, keep);
	for (size_t i = 0; i < f->n_members; i++)
		if (keep[i])
			json_array_append_new(list, large_front_member_json(f, i));
	free(keep);
	return front_with_points(f, list);
}

/* Builds all points with what the rules need: the objectives and, for the points with the smallest
 * or largest value of an objective, the spread of the runs for the standard error. */
static json_t *minimal_front_json(const struct large_front *f, const json_t *summary)
{
	const json_t *names = json_object_get(summary, "objectives"), *name;
	struct sample_axis *axis = dp_calloc(json_array_size(names) + 1, sizeof *axis);
	json_t *list = json_array();
	size_t k;

	json_array_foreach (names, k, name)
		sample_axis_init(f, &(struct figure_axis){ json_string_value(name), false },
				 &axis[k]);
	for (size_t i = 0; i < f->n_members; i++) {
		json_t *values = json_object(), *slim = json_pack("{s:o, s:I}", "objectives",
								  values, "member", (json_int_t)i);
		bool extreme = false;

		json_array_foreach (names, k, name) {
			double v = sample_axis_position(f, &axis[k], i);

			json_object_set_new(
				values, json_string_value(name),
				dp_json_real(trial_rows_get_cell(f->rows, f->member_rows[i],
								 axis[k].column)
						     .number));
			extreme |= v == axis[k].lo || v == axis[k].hi;
		}
		if (extreme) {
			json_t *full = large_front_member_json(f, i);

			json_object_set(slim, "spread", json_object_get(full, "spread"));
			json_decref(full);
		}
		json_array_append_new(list, slim);
	}
	free(axis);
	return front_with_points(f, list);
}

json_t *large_front_recommend_row(const struct large_front *f, const json_t *summary,
				  size_t *member)
{
	json_t *slim = minimal_front_json(f, summary);
	json_t *choice = ctl_front_recommend(slim, summary);
	const json_t *point = json_array_get(json_object_get(choice, "front"), 0);

	*member = point ? (size_t)dp_json_int(point, "member", 0) : SIZE_MAX;
	json_decref(slim);
	return choice;
}

int large_front_fetch_recommended(struct daemon_client *daemon, const struct large_front *f,
				  const char *study, const json_t *summary, json_t **choice,
				  struct dp_err *err)
{
	json_t *picked, *row, *points;
	size_t member;
	int code = DP_OK;

	picked = large_front_recommend_row(f, summary, &member);
	if (member != SIZE_MAX) {
		row = large_front_member_json(f, member);
		code = daemon_fetch_front_points(daemon, study,
						 json_pack("[[O, O]]",
							   json_object_get(row, "trial"),
							   json_object_get(row, "at")),
						 &points, err);
		json_decref(row);
		if (code == DP_OK)
			json_object_set_new(picked, "front", points);
	}
	*choice = code == DP_OK ? json_incref(picked) : NULL;
	json_decref(picked);
	return code;
}
