/* look.c - a daemon that only looks at a state folder. */
#include "daemon/core/read_only.h"

#include "base/buf.h"
#include "base/fs.h"
#include "daemon/executors/executor.h"
#include "daemon/notify/hooks.h"
#include "daemon/studies/report_writer.h"
#include "daemon/studies/scheduler.h"
#include "daemon/api/server.h"
#include "state/state_json.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define STATE_DIR_HINT                                                                             \
	"a state folder is what 'dparetod --state' or 'dparetoctl run --state' was "               \
	"given; it has a folder 'journal'"

/* ---- starting ---- */

int read_only_check_directory(const char *state, struct dp_err *err)
{
	struct stat st;

	if (stat(state, &st) != 0) {
		dp_fail_errno(err, errno, "cannot look at %s", state);
	} else if (!S_ISDIR(st.st_mode)) {
		dp_fail(err, DP_E_NOT_FOUND, "%s is no folder", state);
	} else {
		return DP_OK;
	}
	return dp_hint(err, STATE_DIR_HINT);
}

static void read_only_find_writer(struct daemon *d)
{
	char *folder = dp_path_join(d->paths.state_dir, "journal");

	if (folder) /* without memory it looks like nobody's */
		d->has_writer = dp_journal_has_writer(folder, &d->writer_pid);
	free(folder);
}

int read_only_start(struct daemon *d, const struct daemon_options *s, struct dp_err *err)
{
	static const struct executor_ops *const none[] = { NULL };
	int code;

	scheduler_init(d);
	read_only_find_writer(d); /* before: what is read then is no older */
	code = executors_open(d, none, err);
	if (code == DP_OK && (!hooks_start(d) || !report_writer_open(d)))
		code = dp_fail(err, DP_E_NOMEM, "no memory to look at the studies");
	if (code == DP_OK)
		code = daemon_replay_journal(d, err);
	if (code == DP_E_NOT_FOUND)
		dp_hint(err, STATE_DIR_HINT);
	free(d->paths.socket_path);
	d->paths.socket_path = NULL;
	if (code == DP_OK)
		code = server_start(d, -1, err);
	return code == DP_OK ? server_add_fd(d, s->control_fd, true, err) : code;
}

void read_only_report_error(const struct daemon_options *s, const struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_control_format_error(&text, err);
	if (send(s->control_fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* nobody listens; stderr has it, too */
	}
	dp_buf_free(&text);
}

/* ---- answers ---- */

int read_only_refuse_verb(const struct daemon *d, const char *verb, struct dp_err *err)
{
	dp_fail(err, DP_E_INVALID, "this only looks at %s: it does not %s", d->paths.state_dir,
		verb);
	return dp_hint(err, "ask the daemon of that folder, or start one with 'dparetod "
			    "--state DIR'");
}

int read_only_hint_studies(const struct daemon *d, struct dp_err *err)
{
	return dp_hint(err, "'dparetoctl list --state %s' shows the studies there are",
		       d->paths.state_dir);
}

bool read_only_is_idle(const struct daemon *d)
{
	return d->is_read_only && !d->has_writer;
}

const char *read_only_waiting_reason(const struct daemon *d)
{
	return d->has_writer ? NULL : "no daemon works on it";
}

json_t *read_only_json(const struct daemon *d)
{
	if (!d->is_read_only)
		return NULL;
	return json_pack("{s:b, s:o}", "written", d->has_writer, "writer",
			 d->writer_pid ? json_integer(d->writer_pid) : json_null());
}

static json_t *read_only_attempt_json(const struct daemon *d, const struct dp_study_state *s,
				      const struct dp_trial *t, const struct dp_attempt *a)
{
	double seconds = (double)(clock_now(d) - a->planned_us) / 1e6;

	return json_pack("{s:I, s:n, s:I, s:o, s:o, s:o, s:o, s:n, s:o}", "trial",
			 (json_int_t)t->number, "at", "attempt", (json_int_t)a->number, "slot",
			 a->slot < 0 ? json_null() : json_integer(a->slot), "run",
			 a->run == DP_RUN_ALL ? json_null() : json_integer(a->run), "started",
			 dp_time_json(a->planned_us), "seconds",
			 d->has_writer ? json_real(seconds) : json_null(), "progress", "parameters",
			 dp_space_to_json_at(s->spec, t->x, t->stop_at));
}

static void read_only_add_open_attempts(const struct daemon *d, const struct dp_study_state *s,
					const struct dp_trial *t, json_t *list)
{
	for (uint32_t k = 0; k < t->nattempts; k++)
		if (t->attempts[k].end_class == DP_END_NONE)
			json_array_append_new(list,
					      read_only_attempt_json(d, s, t, &t->attempts[k]));
}

void read_only_add_running(const struct daemon *d, const struct dp_study_state *s, json_t *list)
{
	const struct dp_reevals *m = &s->reevals;

	for (uint32_t i = s->first_unfinished; i < s->ntrials; i++)
		read_only_add_open_attempts(d, s, s->trials[i], list);
	for (uint32_t i = m->first_unfinished; i < m->ntrials; i++)
		read_only_add_open_attempts(d, s, m->trials[i], list);
}
