/* requests_daemon.c - verbs about the daemon itself: reload, shutdown. */
#include "daemon/record.h"
#include "daemon/requests.h"
#include "daemon/server.h"

#include "base/json.h"

#include <stdlib.h>

int request_reload(struct request *r, json_t **ok, struct dp_err *err)
{
	json_t *changed = json_array();
	int code = daemon_reload(r->d, changed, err);

	if (code == DP_OK)
		*ok = json_pack("{s:O}", "changed", changed);
	json_decref(changed);
	return code;
}

static void stop_after_reply(struct dpd *d, void *arg)
{
	enum stop_policy *p = arg;

	if (!d->closed)
		daemon_stop(d, *p, "asked by dparetoctl");
	free(p);
}

int request_shutdown(struct request *r, json_t **ok, struct dp_err *err)
{
	const char *text = dp_json_str(r->json, "policy",
				       stop_policy_text(r->d->config.stop_policy));
	enum stop_policy *p = malloc(sizeof *p);

	(void)ok;
	if (!p)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	if (!stop_policy_parse(text, p)) {
		free(p);
		return dp_fail(err, DP_E_INVALID,
			       "policy is leave, finish or kill, not '%.40s'", text);
	}
	client_ok(r->d, r->client, json_pack("{s:s}", "policy", text));
	/* a journal in trouble must not keep the daemon from being stopped */
	after_commit_look(r->d, stop_after_reply, p);
	r->later = true; /* it is answered already */
	return DP_OK;
}
