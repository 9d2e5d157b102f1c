/* patience.c - waits for a daemon that went away. */
#include "ctl/patience.h"

#include "base/num.h"
#include "ctl/daemon.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "wire/wire.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Seconds between two tries. */
#define NAP_FIRST 0.1
#define NAP_MOST  1.0

enum {
	HELLO_MS = 2000
};

int ctl_patience_read(struct ctl *ctl, struct ctl_patience *p, struct dp_err *err)
{
	const char *text = ctl_opt(ctl, "patience");

	*p = (struct ctl_patience){ .seconds = INFINITY };
	if (!text || strcmp(text, "forever") == 0 || dp_duration_parse(text, &p->seconds))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE,
		       "'%s' is not a duration; give one like 90s or 30m, or forever", text);
}

static void patience_nap(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds,
			      .tv_nsec = (long)(fmod(seconds, 1) * 1e9) };

	nanosleep(&t, NULL);
}

/* Connected, and somebody answers: one that starts may take its time. */
static bool patience_try(struct ctl *ctl)
{
	struct dp_err ignored;
	json_t *ok;

	if (ctl_connect(ctl, &ignored) == DP_OK &&
	    dp_client_call(ctl->client, "hello", NULL, HELLO_MS, &ok, &ignored) == DP_OK) {
		json_decref(ok);
		return true;
	}
	dp_client_close(ctl->client);
	ctl->client = NULL;
	return false;
}

static int fail_impatient(const struct ctl_patience *p, struct dp_err *err)
{
	char text[DP_NUM_LEN];

	dp_fail(err, DP_E_NO_DAEMON, "the daemon went away and was not back within %s (--patience)",
		dp_duration_text(p->seconds, text));
	return dp_hint(err, "start it again; its studies go on where they were");
}

static int patience_wait(struct ctl *ctl, int why, struct dp_err *err)
{
	struct ctl_patience *p = ctl->revive_arg;
	int64_t start = dp_mono_us();
	char text[DP_NUM_LEN];

	dp_client_close(ctl->client);
	ctl->client = NULL;
	if (p->seconds == 0)
		return why;
	ctl_say(ctl, "the daemon %s; waiting for it",
		why == DP_E_TIMEOUT ? "does not answer" : "went away");
	for (double nap = NAP_FIRST;; nap = dp_next_wait(nap, NAP_FIRST, NAP_MOST)) {
		double away = (double)(dp_mono_us() - start) / 1e6;
		int code = p->meanwhile ? p->meanwhile(p->arg, err) : DP_OK;

		if (code != DP_OK)
			return code;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		if (patience_try(ctl)) {
			ctl_say(ctl, "the daemon is back, after %s",
				dp_duration_text(ceil(away), text));
			return DP_OK;
		}
		if (away >= p->seconds)
			return fail_impatient(p, err);
		patience_nap(fmin(nap, p->seconds - away));
	}
}

void ctl_be_patient(struct ctl *ctl, struct ctl_patience *p)
{
	ctl->revive = patience_wait;
	ctl->revive_arg = p;
}
