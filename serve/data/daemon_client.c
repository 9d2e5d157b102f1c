/* daemon_client.c - requests to the daemon through the client functions of ctl/. */
#include "serve/data/daemon_client.h"

#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/study_queries.h"
#include "protocol/control/control_protocol.h"

enum {
	MAX_CONCURRENT_SESSIONS = 8 /* leaves capacity for the daemon's other clients */
};

void daemon_client_init(struct daemon_client *daemon, const char *socket)
{
	*daemon = (struct daemon_client){ .socket = socket };
	pthread_mutex_init(&daemon->lock, NULL);
	pthread_cond_init(&daemon->slot_free, NULL);
}

void daemon_client_free(struct daemon_client *daemon)
{
	pthread_cond_destroy(&daemon->slot_free);
	pthread_mutex_destroy(&daemon->lock);
}

int daemon_session_acquire(struct daemon_session *s, struct daemon_client *daemon,
			   struct dp_err *err)
{
	int code = DP_OK;

	pthread_mutex_lock(&daemon->lock);
	while (daemon->n_running >= MAX_CONCURRENT_SESSIONS)
		pthread_cond_wait(&daemon->slot_free, &daemon->lock);
	daemon->n_running++;
	pthread_mutex_unlock(&daemon->lock);
	*s = (struct daemon_session){ .daemon = daemon,
				      .ctl = { .format = CTL_JSON,
					       .quiet = true,
					       .exact_names = true,
					       .socket = daemon->socket } };
	if (daemon->open_client)
		code = daemon->open_client(daemon->open_client_arg, &s->ctl.client, err);
	if (code != DP_OK)
		daemon_session_release(s);
	return code;
}

void daemon_session_release(struct daemon_session *s)
{
	dp_client_close(s->ctl.client);
	json_decref(s->ctl.readonly_info);
	pthread_mutex_lock(&s->daemon->lock);
	s->daemon->n_running--;
	pthread_cond_signal(&s->daemon->slot_free);
	pthread_mutex_unlock(&s->daemon->lock);
}

static int call_once(struct daemon_client *daemon, bool all_pages, const char *verb, json_t *fields,
		     json_t **ok, struct dp_err *err)
{
	struct daemon_session s;
	int code = daemon_session_acquire(&s, daemon, err);

	if (code != DP_OK) {
		json_decref(fields);
		return code;
	}
	code = (all_pages ? ctl_call : ctl_call_first_page)(&s.ctl, verb, fields, ok, err);
	daemon_session_release(&s);
	return code;
}

int daemon_call(struct daemon_client *daemon, const char *verb, json_t *fields, json_t **ok,
		struct dp_err *err)
{
	return call_once(daemon, true, verb, fields, ok, err);
}

struct row_collector {
	struct trial_rows *rows;
	size_t max_bytes;
};

static int on_trial_append_row(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct row_collector *kept = arg;

	(void)ctl;
	trial_rows_append(kept->rows, trial);
	if (trial_rows_memory_bytes(kept->rows) <= kept->max_bytes)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT,
		"the study's trials take more than %zu MiB, too much for this page",
		kept->max_bytes >> 20);
	return dp_hint(err, "'dparetoctl trials' lists all of them, and 'dparetoctl "
			    "report' draws them");
}

int daemon_fetch_trials(struct daemon_client *daemon, const char *study, size_t max_bytes,
			struct trial_rows **rows, struct dp_err *err)
{
	struct ctl_trial_query which = { .study = study };
	struct row_collector kept = { .max_bytes = max_bytes };
	struct daemon_session s;
	int code = daemon_session_acquire(&s, daemon, err);

	if (code != DP_OK)
		return code;
	kept.rows = trial_rows_new();
	code = ctl_for_each_trial(&s.ctl, &which, on_trial_append_row, &kept, err);
	daemon_session_release(&s);
	if (code != DP_OK) {
		trial_rows_unref(kept.rows);
		return code;
	}
	trial_rows_trim(kept.rows);
	*rows = kept.rows;
	return DP_OK;
}

struct text_collector {
	const json_t *marks;
	struct dp_buf *out;
	size_t n_rows;
};

static int on_trial_append_text(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct text_collector *kept = arg;

	(void)ctl;
	(void)err;
	ctl_trial_set_on_front((json_t *)trial, kept->marks);
	dp_buf_putc(kept->out, kept->n_rows++ ? ',' : '[');
	dp_json_dump(kept->out, trial, 0);
	return DP_OK;
}

int daemon_append_trials(struct daemon_client *daemon, const char *study, struct dp_buf *out,
			 struct dp_err *err)
{
	struct ctl_trial_query which = { .study = study };
	struct text_collector kept = { .out = out };
	json_t *summary, *marks;
	struct daemon_session s;
	int code = daemon_session_acquire(&s, daemon, err);

	if (code != DP_OK)
		return code;
	code = ctl_query_summary(&s.ctl, study, &summary, &marks, err);
	if (code == DP_OK) {
		kept.marks = marks;
		code = ctl_for_each_trial(&s.ctl, &which, on_trial_append_text, &kept, err);
		json_decref(marks);
		json_decref(summary);
	}
	daemon_session_release(&s);
	dp_buf_puts(out, kept.n_rows ? "]\n" : "[]\n");
	return code;
}

/* Appends the rows from *from to `end`, over several replies. */
static int append_trial_range(struct ctl *ctl, const char *study, int64_t from, int64_t end,
			      json_t *list, int64_t *total, struct dp_err *err)
{
	while (from < end) {
		json_t *fields, *ok;
		size_t n;
		int code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:I}", "study", study, "from",
					   (json_int_t)from, "limit", (json_int_t)(end - from));

		if (code == DP_OK)
			code = ctl_call(ctl, "trials", fields, &ok, err);
		if (code != DP_OK)
			return code;
		n = json_array_size(json_object_get(ok, "trials"));
		*total = dp_json_int(ok, "total", -1);
		json_array_extend(list, json_object_get(ok, "trials"));
		json_decref(ok);
		if (n == 0)
			break;
		from += (int64_t)n;
	}
	return DP_OK;
}

int daemon_fetch_trial_page(struct daemon_client *daemon, const char *study,
			    const struct trial_page *part, json_t **rows, int64_t *total,
			    struct dp_err *err)
{
	int64_t first, end;
	json_t *list = json_array();
	struct daemon_session s;
	int code = daemon_session_acquire(&s, daemon, err);

	*rows = NULL;
	if (code == DP_OK) { /* fetch the first row to learn the number of rows */
		code = append_trial_range(&s.ctl, study, 0, 1, list, total, err);
		if (code == DP_OK && *total >= 0) {
			json_array_clear(list);
			first = part->newest_first ? *total - part->from - part->limit : part->from;
			end = part->newest_first ? *total - part->from : part->from + part->limit;
			code = append_trial_range(&s.ctl, study, first < 0 ? 0 : first,
						  end < *total ? end : *total, list,
						  &(int64_t){ 0 }, err);
			*rows = code == DP_OK ? json_array() : NULL;
		}
		daemon_session_release(&s);
	}
	for (size_t i = 0, n = json_array_size(list); *rows && i < n; i++)
		json_array_append(*rows, json_array_get(list, part->newest_first ? n - 1 - i : i));
	json_decref(list);
	return code;
}

int daemon_fetch_front_head(struct daemon_client *daemon, const char *study, json_t **front,
			    struct dp_err *err)
{
	return call_once(daemon, false, "front",
			 json_pack("{s:s, s:b}", "study", study, "denoised", 0), front, err);
}

int daemon_fetch_front_points(struct daemon_client *daemon, const char *study, json_t *pairs,
			      json_t **points, struct dp_err *err)
{
	json_t *page;
	int code = call_once(daemon, false, "front",
			     json_pack("{s:s, s:o}", "study", study, "points", pairs), &page, err);

	if (code == DP_OK) {
		*points = json_incref(json_object_get(page, "front"));
		json_decref(page);
	}
	return code;
}

int daemon_fetch_study(struct daemon_client *daemon, const char *study, json_t **status,
		       const json_t **summary, struct dp_err *err)
{
	int code =
		call_once(daemon, false, "status", json_pack("{s:s}", "study", study), status, err);

	if (code == DP_OK)
		*summary = json_object_get(*status, "study");
	return code;
}

int daemon_wait_changes(struct daemon_client *daemon, int64_t since, int ms, json_t **answer,
			struct dp_err *err)
{
	struct ctl ctl = { .socket = daemon->socket };
	json_t *fields = json_pack("{s:I, s:i}", "since", (json_int_t)since, "timeout_ms", ms);
	int code = daemon->open_client
			   ? daemon->open_client(daemon->open_client_arg, &ctl.client, err)
			   : ctl_connect(&ctl, err);

	if (code == DP_OK)
		code = dp_client_call(ctl.client, "changes", fields, ms + 60000, answer, err);
	else
		json_decref(fields);
	dp_client_close(ctl.client);
	return code;
}
