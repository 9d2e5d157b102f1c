/* utf8.h - characters of a text that may be broken. */
#ifndef DP_UTF8_H
#define DP_UTF8_H
#include "base/base.h"

/* The length of the UTF-8 character at the start of n bytes, and its number; 0 where
 * there is none: no bytes, a broken one, a longer form than needed, a surrogate. */
size_t dp_utf8_decode(const char *text, size_t n, uint32_t *number);
/* Is it whole characters to its end? */
bool dp_utf8_is_valid(const char *text);
/* Is it no character to be read: a control, one that turns the direction of writing, or
 * one that no text may have? */
bool dp_utf8_is_control(uint32_t number);

#endif
