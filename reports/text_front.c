/* text_front.c - the front in tables, and the figures by the questions that they answer.
 */
#include "reports/words.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- searched, without the noise, measured again ---- */

static void front_kind(struct doc *d, const char *name, size_t points, double volume,
		       const char *what)
{
	char v[SHORT_LEN];

	doc_cell(d, "%s", name);
	doc_cell(d, "%zu", points);
	doc_cell(d, "%s", short_text(volume, v));
	doc_cell(d, "%s", what);
}

/* Three fronts that are easily taken for each other. */
static void kinds_table(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;

	doc_table(d);
	doc_caption(d, "Fronts: searched, denoised, measured again");
	doc_column(d, "front", false);
	doc_column(d, "points", true);
	doc_column(d, "hypervolume", true);
	doc_column(d, "what it is", false);
	front_kind(d, s->denoises ? "searched" : "searched (shown)", s->searched, s->hypervolume,
		   "the best of what was observed, with the luck of the runs");
	if (s->modelled)
		front_kind(d, s->denoises ? "denoised (shown)" : "denoised", s->modelled,
			   s->hypervolume_denoised,
			   "the best by models of all results, which take the noise out");
	if (s->remeasured)
		front_kind(d, "measured again", s->remeasured, s->hypervolume_remeasured,
			   "points of the front shown, run again with fresh seeds: "
			   "neither luck nor a model");
	doc_table_end(d);
}

/* ---- every point ---- */

/* A text without quotes, else four digits. */
static void value_cell(struct doc *d, const json_t *v)
{
	char s[SHORT_LEN];
	double x;

	if (json_is_string(v))
		doc_cell(d, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		doc_cell(d, "%s", json_is_true(v) ? "true" : "false");
	else
		doc_cell(d, "%s", dp_json_to_real(v, &x) ? short_text(x, s) : "-");
}

/* Is what was observed of an objective another value than the one that is shown? */
static bool shows_observed(const struct facts *f, size_t objective)
{
	for (size_t i = 0; f->study.denoises && i < f->nfront; i++)
		if (f->front[i].of[objective].denoised != f->front[i].of[objective].value)
			return true;
	return false;
}

static void front_columns(struct doc *d, const struct facts *f)
{
	const struct fact_point *first = &f->front[0];
	const char *name;
	json_t *v;

	doc_caption(d, "Every point of the front");
	doc_column(d, "trial", true);
	for (size_t i = 0; i < f->nobjectives; i++) {
		value_column(d, &f->objectives[i], f->objectives[i].name);
		if (first->of[i].runs) {
			if (shows_observed(f, i))
				doc_column(d, "as observed", true);
			doc_column(d, "least to most of the runs", true);
			doc_column(d, "sd", true);
			if (!f->study.denoises)
				doc_column(d, "model says", true);
			if (f->study.remeasured) {
				doc_column(d, "measured again", true);
				doc_column(d, "95 % of that", true);
			}
		}
	}
	json_object_foreach (first->parameters, name, v)
		doc_column(d, name, !json_is_string(v));
}

/* The mean of the runs that measured a point again, and where it lies. */
static void remeasured_cells(struct doc *d, const struct fact_objective *o,
			     const struct dp_measured *again, size_t objective)
{
	char a[SHORT_LEN], b[SHORT_LEN];
	double error;

	if (!again) {
		doc_cell(d, "-");
		doc_cell(d, "-");
		return;
	}
	error = (again->high[objective] - again->low[objective]) / 4;
	doc_cell(d, "%s", amount_text(o, again->objectives[objective], error, a));
	if (again->runs > 1)
		doc_cell(d, "%s to %s", amount_text(o, again->low[objective], error, a),
			 amount_text(o, again->high[objective], error, b));
	else
		doc_cell(d, "-");
}

/* What is known of a measured objective at a point. */
static void measured_cells(struct doc *d, const struct facts *f, const struct fact_point *p,
			   size_t objective)
{
	const struct fact_objective *o = &f->objectives[objective];
	const struct fact_point_objective *at = &p->of[objective];
	bool denoises = f->study.denoises;
	double error = at->runs->standard_error;
	char a[SHORT_LEN];

	doc_cell(d, "%s", amount_text(o, denoises ? at->denoised : at->value, error, a));
	if (shows_observed(f, objective))
		doc_cell(d, "%s", amount_text(o, at->value, error, a));
	spread_cell(d, o, at->runs);
	doc_cell(d, "%s", error_text(o->share ? 100 * at->runs->sd : at->runs->sd, a));
	if (!denoises)
		doc_cell(d, "%s", amount_text(o, at->denoised, error, a));
	if (f->study.remeasured)
		remeasured_cells(d, o, p->remeasured, objective);
}

static void front_row(struct doc *d, const struct facts *f, const struct fact_point *p)
{
	char a[SHORT_LEN], point[POINT_TEXT_LEN], row[POINT_ROW_LEN];
	const char *name;
	json_t *v;

	doc_row(d, point_row(p->trial, p->at, row));
	doc_cell(d, "%s", point_text(p->trial, p->at, point));
	for (size_t i = 0; i < f->nobjectives; i++) {
		if (p->of[i].runs)
			measured_cells(d, f, p, i);
		else
			doc_cell(d, "%s", up_text(p->of[i].value, a));
	}
	json_object_foreach (p->parameters, name, v)
		value_cell(d, v);
}

/* What 7@4 is, where there is one. */
static void say_waypoints(struct doc *d, const struct facts *f)
{
	const struct fact_path *path = f->settings.path;
	const struct fact_point *found = NULL;
	char point[POINT_TEXT_LEN];

	for (size_t i = 0; !found && i < f->nfront; i++)
		if (f->front[i].at >= 0)
			found = &f->front[i];
	if (!path || !found)
		return;
	doc_paragraph(d,
		      "%s is what the training of trial %lld was at %s = %lld, on its "
		      "way to more: a training in its own right, which cost no other. Of "
		      "the runs at such a waypoint the mean and the standard deviation "
		      "(sd) are kept.",
		      point_text(found->trial, found->at, point), (long long)found->trial,
		      path->parameter, (long long)found->at);
}

/* What the table has. */
static void say_values(struct doc *d, const struct facts *f)
{
	const char *each =
		f->settings.path ? "Every trial, and every waypoint of one," : "Every trial";

	if (f->study.denoises)
		doc_paragraph(d,
			      "%s that, by models of all results, no other "
			      "one beats in all objectives; of those with the same "
			      "parameters the first. Values are what the models leave "
			      "when the noise is taken out, beside the means over the "
			      "runs as observed; epsilon is computed, and rounded up.",
			      each);
	else
		doc_paragraph(d,
			      "%s that no other one beats in all objectives. "
			      "Values are means over the runs of a trial%s; epsilon is "
			      "rounded up.",
			      each,
			      f->optimism.no_models ? ""
						    : "; \"model says\" is what is left "
						      "when the models take the noise "
						      "out");
}

/* ---- figures ---- */

void write_figure(struct doc *d, const struct picture *p)
{
	char file[FIGURE_FILE_LEN];

	if (p->absent)
		doc_paragraph(d, "Not shown: %s.", p->why);
	else if (!picture_drawn(p))
		doc_paragraph(d, "This figure could not be drawn: %s.", p->why);
	else
		doc_figure(d, figure_file(p->figure, picture_kind(p), file), dp_buf_text(&p->alt),
			   dp_buf_text(&p->caption), &p->page);
}

/* Does it belong to the chapter? What is on the first screen does not; of a study without
 * a front that shows an empty plane, which nobody needs to see. */
static bool in_chapter(const struct picture *p, enum figure_chapter chapter)
{
	return p->figure->chapter == chapter && !(p->figure->leads && picture_drawn(p));
}

static size_t chapter_size(const struct facts *f, enum figure_chapter chapter)
{
	size_t n = 0;

	for (size_t i = 0; i < f->npictures; i++)
		n += in_chapter(&f->pictures[i], chapter);
	return n;
}

static void write_titled(struct doc *d, const struct picture *p)
{
	doc_box(d, p->flat ? "figure wide flat" : p->wide ? "figure wide" : "figure");
	doc_heading(d, p->figure->title);
	write_figure(d, p);
	doc_box_end(d);
}

/* Side by side where there is room. */
static void write_chapter(struct doc *d, const struct facts *f, enum figure_chapter chapter)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < f->npictures; i++)
		if (in_chapter(&f->pictures[i], chapter))
			write_titled(d, &f->pictures[i]);
	doc_box_end(d);
}

void write_all_figures(struct doc *d, const struct facts *f)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < f->npictures; i++)
		write_titled(d, &f->pictures[i]);
	doc_box_end(d);
}

/* ---- the chapters ---- */

/* "21 points, what each level of epsilon buys" */
static void about_front(const struct facts *f, char out[SHORT_LEN * 2])
{
	snprintf(out, SHORT_LEN * 2, "%zu point%s%s", f->nfront, plural_end((int64_t)f->nfront),
		 f->study.headline.n ? "; what each level of epsilon buys" : "");
}

void write_front(struct doc *d, const struct facts *f)
{
	const char *why = f->optimism.no_models;
	char about[SHORT_LEN * 2];

	if (f->nfront == 0)
		return;
	about_front(f, about);
	doc_fold(d, "front", "The front", "Front", about);
	write_headline(d, f);
	kinds_table(d, f);
	if (why)
		doc_paragraph(d, "There are no models: %s.", why);
	write_chapter(d, f, FIGURE_OF_FRONT);
	doc_heading(d, "Every point");
	say_values(d, f);
	say_waypoints(d, f);
	doc_table(d);
	front_columns(d, f);
	for (size_t i = 0; i < f->nfront; i++)
		front_row(d, f, &f->front[i]);
	doc_table_end(d);
}

void write_figures(struct doc *d, const struct facts *f)
{
	static const struct {
		enum figure_chapter chapter;
		const char *id, *title, *brief, *about;
	} folds[] = {
		{ FIGURE_OF_PARAMETERS, "parameters", "Which parameters matter", "Parameters",
		  "their shares, and how they change along the front" },
		{ FIGURE_OF_MODELS, "models", "How far to trust the models", "Models",
		  "what they foretell, and what they believe" },
		{ FIGURE_OF_SEARCH, "search", "How the search went", "Search",
		  "progress and time" },
	};

	/* without a front there is no fold for these */
	if (f->nfront == 0 && chapter_size(f, FIGURE_OF_FRONT)) {
		doc_fold(d, "figures", "Figures", "Figures", "what there is to see");
		write_chapter(d, f, FIGURE_OF_FRONT);
	}
	for (size_t i = 0; i < DP_COUNT(folds); i++) {
		if (chapter_size(f, folds[i].chapter) == 0)
			continue;
		doc_fold(d, folds[i].id, folds[i].title, folds[i].brief, folds[i].about);
		write_chapter(d, f, folds[i].chapter);
	}
}
