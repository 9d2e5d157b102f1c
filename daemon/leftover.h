/* leftover.h - what an attempt left running when its shim was killed, on this machine. */
#ifndef DPARETOD_LEFTOVER_H
#define DPARETOD_LEFTOVER_H
#include "base/base.h"

/* Ends every process of an attempt, whose shim has ended. False if something does not
 * end, or cannot be looked at, and what in `why`, which is "" otherwise: to be asked
 * again. Any thread; it may take half a second. */
bool leftovers_end(const char *folder, char *why, size_t room);

#endif
