/* facts.c - everything a report says, put together. */
#include "config.h"
#include "reports/facts.h"

#include "base/json.h"
#include "journal/view.h"

#include <math.h>
#include <string.h>

json_t *facts_number(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *facts_text(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();

	return v ? v : json_string("(a text that is not UTF-8)");
}

static json_t *objectives_json(const struct subject *s)
{
	const struct dp_study *spec = s->s->spec;
	json_t *list = json_array();

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];
		struct dp_buf label = DP_BUF_INIT;

		subject_label(s, i, &label);
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", o->name,
					"label", dp_buf_text(&label), "goal",
					o->maximize ? "maximize" : "minimize", "kind",
					o->metric ? "metric" : "privacy", "metric",
					facts_text(o->metric), "anti_ideal",
					dp_json_real(o->anti_ideal)));
		dp_buf_free(&label);
	}
	return list;
}

/* The other studies of the report. */
static json_t *compared_json(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 1; i < r->nsubjects; i++) {
		json_t *o = dp_view_result(r->subjects[i].s);

		json_object_set_new(o, "headline", facts_headline(&r->subjects[i]));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *baselines_json(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nbaselines; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o}", "label",
					facts_text(r->baselines[i].label), "value",
					dp_json_real(r->baselines[i].value)));
	return list;
}

static json_t *figures_json(const struct picture *pictures, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct picture *p = &pictures[i];
		char file[FIGURE_FILE_LEN];

		json_array_append_new(
			list, json_pack("{s:o, s:s, s:o, s:o}", "file",
					p->png.len ? facts_text(figure_file(p->figure,
									    "png", file))
						   : json_null(),
					"title", p->figure->title, "caption",
					facts_text(dp_buf_text(&p->caption)), "why_not",
					facts_text(p->png.len ? NULL : p->why)));
	}
	return list;
}

json_t *report_facts(const struct report *r, const struct picture *pictures, size_t n)
{
	const struct subject *s = &r->subjects[0];
	json_t *facts = dp_view_result(s->s); /* what `run` prints, and more */
	const char *utility =
		s->utility >= 0 ? s->s->spec->objectives[s->utility].name : NULL;
	const char *privacy =
		s->privacy >= 0 ? s->s->spec->objectives[s->privacy].name : NULL;

	json_object_set_new(facts, "public", json_boolean(r->public));
	json_object_set_new(facts, "data",
			    json_string(s->s->spec->public_data ? "public" : "private"));
	json_object_set_new(facts, "budget", json_integer(s->s->evaluations));
	json_object_set_new(facts, "privacy_objective", facts_text(privacy));
	json_object_set_new(facts, "utility_objective", facts_text(utility));
	json_object_set_new(facts, "objectives", objectives_json(s));
	json_object_set_new(facts, "headline", facts_headline(s));
	json_object_set_new(facts, "bests", facts_bests(s));
	json_object_set_new(facts, "front", facts_front(s));
	json_object_set_new(facts, "privacy", facts_privacy(s));
	json_object_set_new(facts, "optimism", facts_optimism(s));
	json_object_set_new(facts, "compared", compared_json(r));
	json_object_set_new(facts, "baselines", baselines_json(r));
	json_object_set_new(facts, "figures", figures_json(pictures, n));
	json_object_set_new(facts, "settings", facts_settings(s));
	json_object_set_new(facts, "failures", facts_failures(s, r->public));
	json_object_set_new(facts, "spent", facts_spent(s));
	json_object_set_new(facts, "reproduce", facts_reproduce(r));
	return facts;
}
