/* reconnect.c - waits for a lost daemon and reconnects. */
#include "ctl/client/reconnect.h"

#include "base/units.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "protocol/control/control_protocol.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define RETRY_MIN_SECONDS 0.1
#define RETRY_MAX_SECONDS 1.0

enum {
	HELLO_TIMEOUT_MS = 2000
};

int ctl_reconnect_parse_option(struct ctl *ctl, struct ctl_reconnect *reconnect, struct dp_err *err)
{
	const char *text = ctl_get_option(ctl, "patience");

	*reconnect = (struct ctl_reconnect){ .max_seconds = INFINITY };
	if (!text || strcmp(text, "forever") == 0 ||
	    dp_duration_parse(text, &reconnect->max_seconds))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE,
		       "'%s' is not a duration; give one like 90s or 30m, or forever", text);
}

/* Connects and checks that the daemon answers; a starting daemon may take time. */
static bool reconnect_try(struct ctl *ctl)
{
	struct dp_err ignored;
	json_t *ok;

	if (ctl_connect(ctl, &ignored) == DP_OK &&
	    dp_client_call(ctl->client, "hello", NULL, HELLO_TIMEOUT_MS, &ok, &ignored) == DP_OK) {
		json_decref(ok);
		return true;
	}
	dp_client_close(ctl->client);
	ctl->client = NULL;
	return false;
}

static int reconnect_wait(struct ctl *ctl, int why, struct dp_err *err)
{
	struct ctl_reconnect *reconnect = ctl->on_daemon_lost_arg;
	int64_t start = dp_monotonic_us();
	struct timespec pause;
	char text[DP_NUM_LEN];
	double seconds;

	dp_client_close(ctl->client);
	ctl->client = NULL;
	if (reconnect->max_seconds == 0)
		return why;
	ctl_print_message(ctl, "the daemon %s; waiting for it",
			  why == DP_E_TIMEOUT ? "does not answer" : "went away");
	for (double nap = RETRY_MIN_SECONDS;;
	     nap = dp_backoff_next(nap, RETRY_MIN_SECONDS, RETRY_MAX_SECONDS)) {
		double away = (double)(dp_monotonic_us() - start) / 1e6;
		int code = reconnect->on_waiting
				   ? reconnect->on_waiting(reconnect->on_waiting_arg, err)
				   : DP_OK;

		if (code != DP_OK)
			return code;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		if (reconnect_try(ctl)) {
			ctl_print_message(ctl, "the daemon is back, after %s",
					  dp_duration_text(ceil(away), text));
			return DP_OK;
		}
		if (away >= reconnect->max_seconds) {
			dp_fail(err, DP_E_NO_DAEMON,
				"the daemon went away and was not back within %s (--patience)",
				dp_duration_text(reconnect->max_seconds, text));
			return dp_hint(err, "start it again; its studies go on where they were");
		}
		seconds = fmin(nap, reconnect->max_seconds - away);
		pause = (struct timespec){ .tv_sec = (time_t)seconds,
					   .tv_nsec = (long)(fmod(seconds, 1) * 1e9) };
		nanosleep(&pause, NULL);
	}
}

void ctl_reconnect_enable(struct ctl *ctl, struct ctl_reconnect *reconnect)
{
	ctl->on_daemon_lost = reconnect_wait;
	ctl->on_daemon_lost_arg = reconnect;
}
