/* control_message.c - framing of the control protocol: one JSON object per line. */
#include "protocol/control/control_protocol.h"

#include "base/json.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* Appends {"v":1, key: value, ...more} as a line; takes both references. Keys in `more` cannot
 * override the others. Appends nothing if `value` is NULL because a text was not UTF-8. */
static void append_message(struct dp_buf *out, const char *key, json_t *value, json_t *more)
{
	json_t *message = json_object();

	json_object_set_new(message, "v", json_integer(DP_CONTROL_VERSION));
	if (value && json_object_set_new(message, key, value) == 0 &&
	    (!more || json_object_update_missing(message, more) == 0)) {
		dp_json_dump(out, message, 0);
		dp_buf_putc(out, '\n');
	}
	json_decref(more);
	json_decref(message);
}

void dp_control_format_request(struct dp_buf *out, const char *verb, json_t *fields)
{
	append_message(out, "do", json_string(verb), fields);
}

void dp_control_format_ok(struct dp_buf *out, json_t *ok)
{
	append_message(out, "ok", ok, NULL);
}

void dp_control_format_error(struct dp_buf *out, const struct dp_err *err)
{
	struct dp_err plain;
	json_t *object = dp_json_from_error(err);

	if (!object) {
		/* the hint is not UTF-8, for example cut within a character */
		plain = *err;
		plain.hint[0] = '\0';
		object = dp_json_from_error(&plain);
	}
	append_message(out, "error", object, NULL);
}

void dp_control_mark_unsaved(struct dp_buf *reply, double seconds)
{
	char number[DP_NUM_LEN];

	if (reply->over_limit || !reply->len)
		return;
	reply->len -= strlen("}\n");
	dp_buf_printf(reply, ",\"unsaved\":%s}\n", dp_num_text(seconds, number));
}

/* Parses a line as an object of this protocol version. `newer`: the hint for another version. */
static int parse_control_message(const char *line, size_t len, size_t max, const char *what,
				 const char *newer, json_t **out, struct dp_err *err)
{
	struct dp_err why;
	json_t *message, *version;
	int code;

	if (len > max)
		return dp_fail(err, DP_E_PROTOCOL, "%s is longer than %zu bytes", what, max);
	code = dp_json_parse(line, len, &message, &why);
	if (code != DP_OK)
		return dp_fail(err, DP_E_PROTOCOL, "%s is %s", what, why.msg);
	version = json_object_get(message, "v");
	if (!json_is_object(message))
		code = dp_fail(err, DP_E_PROTOCOL, "%s is not a JSON object", what);
	else if (!json_is_integer(version))
		code = dp_fail(err, DP_E_PROTOCOL, "%s has no protocol version \"v\"", what);
	else if (json_integer_value(version) != DP_CONTROL_VERSION) {
		dp_fail(err, DP_E_PROTOCOL,
			"%s is of protocol version %" JSON_INTEGER_FORMAT
			", this program speaks version %d",
			what, json_integer_value(version), DP_CONTROL_VERSION);
		dp_hint(err, "%s", newer);
		code = DP_E_PROTOCOL;
	} else {
		*out = message;
		return DP_OK;
	}
	json_decref(message);
	return code;
}

int dp_control_parse_request(const char *line, size_t len, json_t **request, const char **verb,
			     struct dp_err *err)
{
	json_t *message;
	const char *word;
	int code;

	code = parse_control_message(line, len, DP_CONTROL_REQUEST_MAX, "the request",
				     "use the dparetoctl that was installed with this dparetod",
				     &message, err);
	if (code != DP_OK)
		return code;
	word = dp_json_str(message, "do", NULL);
	if (!word || !*word) {
		json_decref(message);
		return dp_fail(err, DP_E_PROTOCOL, "the request has no verb \"do\"");
	}
	*request = message;
	*verb = word;
	return DP_OK;
}

int dp_control_parse_reply(const char *line, size_t len, json_t **ok, struct dp_err *err)
{
	struct dp_err sent;
	json_t *message, *result, *error;
	int code;

	code = parse_control_message(line, len, DP_CONTROL_REPLY_MAX, "the daemon's reply",
				     "restart the daemon after an upgrade, or use the dparetoctl "
				     "that was installed with it",
				     &message, err);
	if (code != DP_OK)
		return code;
	result = json_object_get(message, "ok");
	error = json_object_get(message, "error");
	if (json_is_object(result) && !error) {
		if (json_is_number(json_object_get(message, "unsaved")))
			json_object_set(result, "unsaved", json_object_get(message, "unsaved"));
		*ok = json_incref(result);
	} else if (json_is_object(error) && !result) {
		dp_json_to_error(error, &sent);
		if (sent.code == DP_OK) /* an error of kind "ok" is not valid */
			sent.code = DP_E_PROTOCOL;
		if (!sent.msg[0])
			snprintf(sent.msg, sizeof sent.msg, "%s", dp_code_text(sent.code));
		code = sent.code;
		if (err)
			*err = sent;
	} else {
		code = dp_fail(err, DP_E_PROTOCOL,
			       "the daemon's reply has neither a result nor an error");
	}
	json_decref(message);
	return code;
}
