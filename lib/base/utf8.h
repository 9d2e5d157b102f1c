/* utf8.h - decodes and validates UTF-8. */
#ifndef DP_UTF8_H
#define DP_UTF8_H
#include "base/base.h"

/* The length of the UTF-8 character at the start of n bytes, and its code point. 0 for an empty or
 * invalid sequence, an overlong form or a surrogate. */
size_t dp_utf8_decode(const char *text, size_t n, uint32_t *number);
/* True if all of the text is valid UTF-8. */
bool dp_utf8_is_valid(const char *text);
/* True for unprintable code points: control characters, bidirectional overrides, noncharacters. */
bool dp_utf8_is_control(uint32_t number);

#endif
