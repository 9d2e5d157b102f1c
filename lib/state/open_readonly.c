/* open_readonly.c - opens a journal that another process may write, without changing any file. */
#include "journal/store/journal_internal.h"
#include "state/state.h"

/* Opens and replays once. *again: a daemon began to write, so two states may be mixed. */
static int open_and_replay_once(struct dp_state *s, const char *dir, struct dp_journal **j,
				bool *again, struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true, .no_lock_file = true };
	int code = dp_journal_open(dir, &options, j, err);

	if (code != DP_OK) {
		*j = NULL;
		*again = code == DP_E_CORRUPT && dp_journal_has_writer(dir, NULL);
		return code;
	}
	code = dp_state_replay_tolerant(s, *j, err);
	*again = dp__snapshot_is_stale(*j);
	return code;
}

int dp_state_open_readonly(struct dp_state *s, const char *dir, struct dp_journal **j,
			   struct dp_err *err)
{
	struct dp_journal *opened = NULL;
	bool again = true;
	int code = DP_E_BUSY;

	for (int tries = 0; again && tries < DP__SNAPSHOT_TRIES; tries++) {
		dp_journal_close(opened);
		dp_state_free(s);
		code = open_and_replay_once(s, dir, &opened, &again, err);
	}
	if (code == DP_OK && again)
		code = dp_fail(err, DP_E_BUSY,
			       "the journal in %s is written so often that it cannot be "
			       "read without its lock file",
			       dir);
	if (code == DP_OK && j) {
		*j = opened;
		return DP_OK;
	}
	dp_journal_close(opened);
	if (code != DP_OK)
		dp_state_free(s);
	return code;
}
