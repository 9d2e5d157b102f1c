/* utf8.c - decodes and validates UTF-8. */
#include "base/utf8.h"

#include <string.h>

size_t dp_utf8_decode(const char *text, size_t n, uint32_t *number)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;
	size_t k;

	if (n == 0)
		return 0;
	if (p[0] < 0x80) {
		*number = p[0];
		return 1;
	}
	k = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || k > n)
		return 0;
	c = p[0] & (0x7fu >> k);
	for (size_t i = 1; i < k; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[k] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*number = c;
	return k;
}

bool dp_utf8_is_valid(const char *text)
{
	size_t n = strlen(text), k;
	uint32_t number;

	for (; n > 0; text += k, n -= k) {
		k = dp_utf8_decode(text, n, &number);
		if (k == 0)
			return false;
	}
	return true;
}

bool dp_utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       (c & 0xfffe) == 0xfffe;
}
