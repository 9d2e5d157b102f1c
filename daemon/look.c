/* look.c - a daemon that only looks at a state folder. */
#include "daemon/look.h"

#include "base/buf.h"
#include "base/fs.h"
#include "daemon/executor.h"
#include "daemon/hook.h"
#include "daemon/report.h"
#include "daemon/sched.h"
#include "daemon/server.h"
#include "journal/view.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define FOLDER_HINT                                                                                \
	"a state folder is what 'dparetod --state' or 'dparetoctl run --state' was "               \
	"given; it has a folder 'journal'"

/* ---- starting ---- */

int look_folder(const char *state, struct dp_err *err)
{
	struct stat st;

	if (stat(state, &st) != 0) {
		dp_fail_errno(err, errno, "cannot look at %s", state);
	} else if (!S_ISDIR(st.st_mode)) {
		dp_fail(err, DP_E_NOT_FOUND, "%s is no folder", state);
	} else {
		return DP_OK;
	}
	return dp_hint(err, FOLDER_HINT);
}

static void look_at_writer(struct dpd *d)
{
	char *folder = dp_path_join(d->at.state_dir, "journal");

	if (folder) /* without memory it looks like nobody's */
		d->written = dp_journal_is_written(folder, &d->writer);
	free(folder);
}

int look_start(struct dpd *d, const struct settings *s, struct dp_err *err)
{
	static const struct executor *const none[] = { NULL };
	int code;

	sched_init(d);
	look_at_writer(d); /* before: what is read then is no older */
	code = executors_open(d, none, err);
	if (code == DP_OK && (!hooks_start(d) || !report_start(d)))
		code = dp_fail(err, DP_E_NOMEM, "no memory to look at the studies");
	if (code == DP_OK)
		code = daemon_read_journal(d, err);
	if (code == DP_E_NOT_FOUND)
		dp_hint(err, FOLDER_HINT);
	free(d->at.socket_path);
	d->at.socket_path = NULL;
	if (code == DP_OK)
		code = server_start(d, -1, err);
	return code == DP_OK ? server_add_fd(d, s->control_fd, true, err) : code;
}

void look_refuse(const struct settings *s, const struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_wire_error(&text, err);
	if (!text.failed &&
	    send(s->control_fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* nobody listens; stderr has it, too */
	}
	dp_buf_free(&text);
}

/* ---- answers ---- */

int look_only(const struct dpd *d, const char *verb, struct dp_err *err)
{
	dp_fail(err, DP_E_INVALID, "this only looks at %s: it does not %s", d->at.state_dir, verb);
	return dp_hint(err, "ask the daemon of that folder, or start one with 'dparetod "
			    "--state DIR'");
}

int look_unknown(const struct dpd *d, struct dp_err *err)
{
	return dp_hint(err, "'dparetoctl list --state %s' shows the studies there are",
		       d->at.state_dir);
}

bool look_is_still(const struct dpd *d)
{
	return d->looking && !d->written;
}

const char *look_why_not(const struct dpd *d)
{
	return d->written ? NULL : "no daemon works on it";
}

json_t *look_json(const struct dpd *d)
{
	if (!d->looking)
		return NULL;
	return json_pack("{s:b, s:o}", "written", d->written, "writer",
			 d->writer ? json_integer(d->writer) : json_null());
}

static json_t *open_attempt_json(const struct dpd *d, const struct dp_study_state *s,
				 const struct dp_trial *t, const struct dp_attempt *a)
{
	double seconds = (double)(clock_now(d) - a->planned) / 1e6;

	return json_pack("{s:I, s:n, s:I, s:o, s:o, s:o, s:o, s:n, s:o}", "trial",
			 (json_int_t)t->number, "at", "attempt", (json_int_t)a->number, "slot",
			 a->slot < 0 ? json_null() : json_integer(a->slot), "run",
			 a->run == DP_RUN_ALL ? json_null() : json_integer(a->run), "started",
			 dp_view_time(a->planned), "seconds",
			 d->written ? json_real(seconds) : json_null(), "progress", "parameters",
			 dp_space_json_at(s->spec, t->x, t->at));
}

static void add_open(const struct dpd *d, const struct dp_study_state *s, const struct dp_trial *t,
		     json_t *list)
{
	for (uint32_t k = 0; k < t->nattempts; k++)
		if (t->attempts[k].end == DP_END_NONE)
			json_array_append_new(list, open_attempt_json(d, s, t, &t->attempts[k]));
}

void look_running(const struct dpd *d, const struct dp_study_state *s, json_t *list)
{
	const struct dp_measures *m = &s->measured;

	if (dp_study_hides(s))
		return;
	for (uint32_t i = s->first_live; i < s->ntrials; i++)
		add_open(d, s, s->trials[i], list);
	for (uint32_t i = m->first_live; i < m->ntrials; i++)
		add_open(d, s, m->trials[i], list);
}
