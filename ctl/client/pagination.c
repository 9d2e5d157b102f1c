/* pages.c - long answers of the daemon, which come in pages, put together. */
#include "ctl/client/pagination.h"

#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <math.h>
#include <string.h>

enum {
	POINTS_PER_REQUEST = 200 /* of a front, in a request; the protocol's most are 250 */
};

static int fail_page_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for the daemon's answer");
}

/* A list that a verb gives from a position on. */
struct paged_list {
	const char *verb, *study; /* study: NULL for none */
	const char *list_key;     /* of the list in the answer */
};

/* The next page; *next is the one after it, -1 if there is none. */
static int fetch_list_page(struct ctl *ctl, const struct paged_list *p, json_t *list, int64_t *next,
			   struct dp_err *err)
{
	json_t *fields, *page;
	int code = ctl_pack_fields(&fields, err, "{s:s*, s:I}", "study", p->study, "from",
				   (json_int_t)*next);

	if (code == DP_OK)
		code = ctl_call_first_page(ctl, p->verb, fields, &page, err);
	if (code != DP_OK)
		return code;
	*next = dp_json_int(page, "next", -1);
	if (json_array_extend(list, json_object_get(page, p->list_key)) != 0)
		code = fail_page_nomem(err);
	json_decref(page);
	return code;
}

static int fetch_remaining_list(struct ctl *ctl, const struct paged_list *p, json_t *ok,
				struct dp_err *err)
{
	int64_t next = dp_json_int(ok, "next", -1);
	int code = DP_OK;

	while (next >= 0 && code == DP_OK)
		code = fetch_list_page(ctl, p, json_object_get(ok, p->list_key), &next, err);
	json_object_del(ok, "next");
	return code;
}

/* The points from position *at of the list `more` on, as many as fit a request. */
static int fetch_front_points(struct ctl *ctl, const char *study, json_t *front, const json_t *more,
			      size_t *at, struct dp_err *err)
{
	json_t *some = json_array(), *fields, *page;
	int code;

	while (*at < json_array_size(more) && json_array_size(some) < POINTS_PER_REQUEST) {
		if (json_array_append(some, json_array_get(more, *at)) != 0) {
			json_decref(some);
			return fail_page_nomem(err);
		}
		*at += 1;
	}
	code = ctl_pack_fields(&fields, err, "{s:s, s:o}", "study", study, "points", some);
	if (code == DP_OK)
		code = ctl_call_first_page(ctl, "front", fields, &page, err);
	if (code != DP_OK)
		return code;
	if (json_array_extend(front, json_object_get(page, "front")) != 0)
		code = fail_page_nomem(err);
	json_decref(page);
	return code;
}

static int fetch_remaining_front(struct ctl *ctl, const char *study, json_t *ok, struct dp_err *err)
{
	const json_t *more = json_object_get(ok, "more");
	size_t at = 0;
	int code = DP_OK;

	while (at < json_array_size(more) && code == DP_OK)
		code = fetch_front_points(ctl, study, json_object_get(ok, "front"), more, &at, err);
	json_object_del(ok, "more");
	return code;
}

/* Adds the runs and attempts from the position *next on. */
static int fetch_run_page(struct ctl *ctl, const char *study, json_t *trial, int64_t *next,
			  struct dp_err *err)
{
	const json_t *part;
	json_t *fields, *page;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:I}", "study", study, "trial",
				   (json_int_t)dp_json_int(trial, "trial", -1), "from",
				   (json_int_t)*next);

	if (code == DP_OK)
		code = ctl_call_first_page(ctl, "trial", fields, &page, err);
	if (code != DP_OK)
		return code;
	part = json_object_get(page, "trial");
	*next = dp_json_int(part, "next", -1);
	if (json_array_extend(json_object_get(trial, "runs"), json_object_get(part, "runs")) != 0 ||
	    json_array_extend(json_object_get(trial, "attempts"),
			      json_object_get(part, "attempts")) != 0)
		code = fail_page_nomem(err);
	json_decref(page);
	return code;
}

int ctl_fetch_remaining_runs(struct ctl *ctl, const char *study, json_t *trial, struct dp_err *err)
{
	int64_t next = dp_json_int(trial, "next", -1);
	int code = DP_OK;

	while (next >= 0 && code == DP_OK)
		code = fetch_run_page(ctl, study, trial, &next, err);
	json_object_del(trial, "next");
	return code;
}

int ctl_fetch_remaining_pages(struct ctl *ctl, const char *verb, const char *study, json_t *ok,
			      struct dp_err *err)
{
	json_t *trial = json_object_get(ok, "trial");

	if (study && json_is_object(trial))
		return ctl_fetch_remaining_runs(ctl, study, trial, err);
	if (study && json_object_get(ok, "more"))
		return fetch_remaining_front(ctl, study, ok, err);
	if (strcmp(verb, "list") == 0 || strcmp(verb, "status") == 0)
		return fetch_remaining_list(ctl, &(struct paged_list){ "list", NULL, "studies" },
					    ok, err);
	if (strcmp(verb, "measures") == 0)
		return fetch_remaining_list(ctl, &(struct paged_list){ verb, study, "measures" },
					    ok, err);
	return DP_OK;
}

void ctl_warn_unsaved(struct ctl *ctl, const json_t *ok)
{
	double seconds;

	if (ctl->unsaved_reported || !dp_json_to_real(json_object_get(ok, "unsaved"), &seconds))
		return;
	ctl->unsaved_reported = true;
	ctl_print_message(ctl,
			  "the journal has not answered for %.0f s: what is shown may not be on "
			  "the disk yet",
			  ceil(seconds));
}
