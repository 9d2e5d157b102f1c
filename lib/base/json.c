/* json.c - JSON on top of jansson: shortest doubles, non-finite numbers, strict parsing. */
#include "base/json.h"

#include "base/fs.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

json_t *dp_json_real(double x)
{
	char text[DP_NUM_LEN];

	return isfinite(x) ? json_real(x) : json_string(dp_num_text(x, text));
}

bool dp_json_to_real(const json_t *v, double *x)
{
	if (json_is_number(v)) {
		*x = json_number_value(v);
		return true;
	}
	if (json_is_string(v) && dp_num_parse(json_string_value(v), x))
		return !isfinite(*x);
	return false;
}

int dp_json_parse(const char *text, size_t len, json_t **out, struct dp_err *err)
{
	json_error_t e;
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

	if (!v)
		return dp_fail(err, DP_E_INVALID, "not JSON: %s at line %d, column %d", e.text,
			       e.line, e.column);
	*out = v;
	return DP_OK;
}

int dp_json_read_file(const char *path, size_t max, json_t **out, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	int code = dp_read_untrusted(path, max, &text, err);

	if (code == DP_OK)
		code = dp_json_parse(dp_buf_text(&text), text.len, out, err);
	dp_buf_free(&text);
	return code;
}

static void dump_newline(struct dp_buf *out, int indent, int depth)
{
	if (!indent)
		return;
	dp_buf_putc(out, '\n');
	for (int i = 0; i < indent * depth; i++)
		dp_buf_putc(out, ' ');
}

static bool json_char_is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

/* Faster than "%lld". */
static void dump_integer(struct dp_buf *out, json_int_t v)
{
	char text[24], *p = text + sizeof text;
	unsigned long long left = v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v;

	do
		*--p = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--p = '-';
	dp_buf_add(out, p, (size_t)(text + sizeof text - p));
}

static void dump_string(struct dp_buf *out, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;

	dp_buf_putc(out, '"');
	for (size_t i = 0, plain = 0; i < len; i++) {
		while (i + plain < len && json_char_is_plain(p[i + plain]))
			plain++;
		dp_buf_add(out, p + i, plain);
		i += plain;
		plain = 0;
		if (i == len)
			break;
		switch (p[i]) {
		case '"':
			dp_buf_puts(out, "\\\"");
			break;
		case '\\':
			dp_buf_puts(out, "\\\\");
			break;
		case '\n':
			dp_buf_puts(out, "\\n");
			break;
		case '\t':
			dp_buf_puts(out, "\\t");
			break;
		default:
			dp_buf_printf(out, "\\u%04x", p[i]);
		}
	}
	dp_buf_putc(out, '"');
}

static void dump_value(struct dp_buf *out, const json_t *v, int indent, int depth)
{
	char text[DP_NUM_LEN];
	const char *key, *sep = "";
	json_t *member;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		dp_buf_putc(out, '{');
		json_object_foreach ((json_t *)v, key, member) {
			dp_buf_puts(out, sep);
			dump_newline(out, indent, depth + 1);
			dump_string(out, key, strlen(key));
			dp_buf_puts(out, indent ? ": " : ":");
			dump_value(out, member, indent, depth + 1);
			sep = ",";
		}
		if (*sep)
			dump_newline(out, indent, depth);
		dp_buf_putc(out, '}');
		break;
	case JSON_ARRAY:
		dp_buf_putc(out, '[');
		json_array_foreach (v, i, member) {
			dp_buf_puts(out, sep);
			dump_newline(out, indent, depth + 1);
			dump_value(out, member, indent, depth + 1);
			sep = ",";
		}
		if (*sep)
			dump_newline(out, indent, depth);
		dp_buf_putc(out, ']');
		break;
	case JSON_STRING:
		dump_string(out, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		dump_integer(out, json_integer_value(v));
		break;
	case JSON_REAL:
		dp_buf_puts(out, dp_num_text(json_real_value(v), text));
		break;
	case JSON_TRUE:
		dp_buf_puts(out, "true");
		break;
	case JSON_FALSE:
		dp_buf_puts(out, "false");
		break;
	case JSON_NULL:
		dp_buf_puts(out, "null");
		break;
	}
}

void dp_json_dump(struct dp_buf *out, const json_t *v, int indent)
{
	dump_value(out, v, indent, 0);
}

json_t *dp_json_from_error(const struct dp_err *err)
{
	/* a message with foreign bytes may not be valid UTF-8 */
	json_t *message = json_string(err->msg);

	if (!message)
		message = json_string(dp_code_text(err->code));
	return json_pack("{s:i, s:s, s:o, s:s?}", "code", dp_code_exit(err->code), "kind",
			 dp_code_kind(err->code), "message", message, "hint",
			 err->hint[0] ? err->hint : NULL);
}

void dp_json_to_error(const json_t *v, struct dp_err *err)
{
	dp_fail(err, dp_code_from_kind(dp_json_str(v, "kind", NULL)), "%s",
		dp_json_str(v, "message", "an error without a message"));
	dp_hint(err, "%s", dp_json_str(v, "hint", ""));
}

const char *dp_json_str(const json_t *object, const char *key, const char *default_value)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : default_value;
}

int64_t dp_json_int(const json_t *object, const char *key, int64_t default_value)
{
	const json_t *v = json_object_get(object, key);

	return json_is_integer(v) ? json_integer_value(v) : default_value;
}

bool dp_json_bool(const json_t *object, const char *key, bool otherwise)
{
	const json_t *v = json_object_get(object, key);

	return json_is_boolean(v) ? json_is_true(v) : otherwise;
}
