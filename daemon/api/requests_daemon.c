/* requests_daemon.c - verbs about the daemon itself: hello, reload, shutdown. */
#include "config.h"
#include "daemon/api/requests.h"

#include "base/json.h"
#include "base/units.h"
#include "daemon/api/client_connection.h"
#include "state/state_json.h"
#include "protocol/control/control_protocol.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The process whose stale reader keeps the journal from reusing pages, or null. */
static json_t *reader_json(const struct dp_journal_stale_reader *r)
{
	if (!dp_journal_reader_is_stale(r))
		return json_null();
	return json_pack("{s:i, s:o, s:I, s:f}", "pid", r->pid, "program",
			 dp_text_json(r->program[0] ? r->program : NULL), "commits",
			 (json_int_t)r->commits_behind, "seconds",
			 (double)(dp_monotonic_us() - r->lagging_since_us) / 1e6);
}

/* Studies without even a readable name. */
static json_t *unreadable_json(const struct dp_state *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->nunreadable; i++)
		json_array_append_new(list, json_pack("{s:I, s:o}", "study",
						      (json_int_t)s->unreadable[i].study, "reason",
						      dp_text_json(s->unreadable[i].reason)));
	return list;
}

static json_t *seconds_json(double seconds)
{
	return isnan(seconds) ? json_null() : json_real(seconds);
}

static json_t *commits_json(struct dp_journal *j)
{
	struct dp_journal_commit_stats c;

	dp_journal_get_commit_stats(j, &c);
	return json_pack("{s:I, s:f, s:o, s:o, s:o}", "count", (json_int_t)c.count, "seconds",
			 c.total_seconds, "median", seconds_json(c.median), "p90",
			 seconds_json(c.p90), "p99", seconds_json(c.p99));
}

json_t *request_hello_json(struct daemon *d)
{
	const struct read_only_mode *mode = &d->read_only;
	struct dp_journal_stat st = { 0 };
	json_t *looking = NULL; /* read-only mode: the journal's writer */
	char why[700];

	if (dp_journal_stat(d->journal, &st, NULL) != DP_OK)
		st = (struct dp_journal_stat){ 0 };
	if (mode->enabled)
		looking =
			json_pack("{s:b, s:o}", "written", mode->has_writer, "writer",
				  mode->writer_pid ? json_integer(mode->writer_pid) : json_null());
	return json_pack(
		"{s:s, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:o, s:I, "
		"s:{s:I, s:I, s:f, s:o, s:o, s:o}, s:o, s:s, s:I, s:i, s:i, s:o*}",
		"version", PACKAGE_VERSION, "protocol", DP_CONTROL_VERSION, "journal_format",
		DP_JOURNAL_FORMAT, "pid", (int)getpid(), "state_dir",
		dp_text_json(d->paths.state_dir), "socket", dp_text_json(d->paths.socket_path),
		"slots", (int)d->config.slots, "busy", (int)d->attempts->count(d), "started",
		dp_time_json(d->started_us), "studies", (json_int_t)d->state.nstudies, "journal",
		"records", (json_int_t)st.records, "bytes", (json_int_t)st.bytes, "silent",
		commit_queue_wait_seconds(d), "commits", commits_json(d->journal), "reader",
		reader_json(&st.stale_reader), "unreadable", unreadable_json(&d->state), "trouble",
		dp_text_json(commit_queue_describe_trouble(d, why, sizeof why)), "stop_policy",
		stop_policy_text(d->config.stop_policy), "disk_free",
		(json_int_t)d->disk.free_bytes, "clients", (int)d->clients->n, "max_clients",
		(int)fd_limits_max_clients(&d->fd_limits, &d->config), "looking", looking);
}

int request_hello(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	*ok = request_hello_json(r->daemon);
	return DP_OK;
}

int request_reload(struct request *r, json_t **ok, struct dp_err *err)
{
	json_t *changed = json_array();
	int code = r->daemon->ops->reload(r->daemon, changed, err);

	if (code == DP_OK)
		*ok = json_pack("{s:O}", "changed", changed);
	json_decref(changed);
	return code;
}

static void stop_after_reply(struct daemon *d, void *arg)
{
	enum stop_policy *p = arg;

	if (!d->loop_ended)
		d->ops->stop(d, *p, "asked by dparetoctl");
	free(p);
}

int request_shutdown(struct request *r, json_t **ok, struct dp_err *err)
{
	const char *text =
		dp_json_str(r->json, "policy", stop_policy_text(r->daemon->config.stop_policy));
	enum stop_policy *p = dp_malloc(sizeof *p);

	(void)ok;
	if (!stop_policy_parse(text, p)) {
		free(p);
		return dp_fail(err, DP_E_INVALID, "policy is leave, finish or kill, not '%.40s'",
			       text);
	}
	r->daemon->replies->ok(r->daemon, r->client_id, json_pack("{s:s}", "policy", text));
	/* a failing journal must not prevent a stop */
	after_commit_read_only(r->daemon, stop_after_reply, p);
	r->replies_later = true;
	return DP_OK;
}
