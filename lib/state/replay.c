/* replay.c - replays a journal into the state: strictly, or skipping damaged studies. */
#include "state/state_internal.h"

#include <stdlib.h>
#include <string.h>

struct replay {
	struct dp_state *state;
	struct dp_event event;      /* its memory is reused for each record */
	uint32_t quarantined_study; /* the last one; 0: none */
};

static int replay_one(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
		      struct dp_err *err)
{
	struct replay *r = arg;
	int code = dp_event_decode(bytes, len, &r->event, err);

	if (code == DP_OK) {
		r->event.study = study;
		r->event.seq = seq;
		code = dp_state_apply(r->state, &r->event, err);
	}
	return code;
}

static int replay_strict(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			 struct dp_err *err)
{
	int code = replay_one(arg, study, seq, bytes, len, err);

	if (code != DP_OK)
		dp_err_prefix(err, "journal record %u of study %u", seq, study);
	return code;
}

static int replay_records(struct dp_state *s, struct dp_journal *j, uint32_t study,
			  dp_journal_record_fn *fn, struct dp_err *err)
{
	struct replay r = { .state = s };
	int code = dp_journal_for_each(j, study, fn, &r, err);

	dp_event_clear(&r.event);
	return code;
}

int dp_state_replay(struct dp_state *s, struct dp_journal *j, uint32_t study, struct dp_err *err)
{
	return replay_records(s, j, study, replay_strict, err);
}

/* ---- skipping damaged studies ---- */

static int note_unreadable(struct dp_state *s, uint32_t study, char *why)
{
	struct dp_unreadable_study *grown =
		dp_realloc(s->unreadable, (s->nunreadable + 1) * sizeof *grown);

	s->unreadable = grown;
	grown[s->nunreadable++] = (struct dp_unreadable_study){ study, why };
	return DP_OK;
}

static int quarantine_study(struct dp_state *s, uint32_t study, uint32_t seq, int code,
			    const struct dp_err *fault, struct dp_err *err)
{
	struct dp_study_state *st = dp_state_get_study(s, study);
	struct dp_buf why = DP_BUF_INIT;
	char *text;

	dp_buf_printf(&why, "its record %u cannot be used (%s); ", seq, fault->msg);
	dp_buf_puts(&why, code == DP_E_PROTOCOL
				  ? "use the version that wrote it"
				  : "stop the daemon and run 'dparetoctl journal repair'");
	text = dp_buf_detach(&why);
	if (!text || (!st && note_unreadable(s, study, text) != DP_OK)) {
		free(text);
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	}
	if (!st)
		return DP_OK;
	free(st->reason);
	free(st->moved_by);
	st->moved_by = NULL;
	st->reason = text;
	st->status = DP_STUDY_PAUSED;
	st->moved_by_failures = true; /* not by request, so waiting clients are notified */
	st->quarantined = true;
	st->changes++;
	return DP_OK;
}

static int replay_record_tolerant(void *arg, uint32_t study, uint32_t seq, const void *bytes,
				  size_t len, struct dp_err *err)
{
	struct replay *r = arg;
	struct dp_err fault;
	int code;

	if (study == r->quarantined_study)
		return DP_OK;
	code = replay_one(arg, study, seq, bytes, len, &fault);
	if (code == DP_E_CORRUPT || code == DP_E_PROTOCOL) {
		r->quarantined_study = study;
		return quarantine_study(r->state, study, seq, code, &fault, err);
	}
	if (code != DP_OK && err)
		*err = fault;
	return code;
}

int dp_state_replay_tolerant(struct dp_state *s, struct dp_journal *j, struct dp_err *err)
{
	return replay_records(s, j, 0, replay_record_tolerant, err);
}
