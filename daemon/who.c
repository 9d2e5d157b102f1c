/* who.c - who asks, as the journal and people are told. */
#include "daemon/who.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

enum {
	USERS_MAX = 10000, /* lines that are looked at: a millisecond or two */
	LINE_MAX_BYTES = 4096
};

/* Names are shown as they are, so that no odd one can pretend to be more than a name. */
static bool who_is_plain(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] >= 0x7f)
			return false;
	return n > 0 && n <= 32;
}

void who_named(uid_t user, char out[WHO_NAME])
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd entry, *found;
	char line[LINE_MAX_BYTES];

	snprintf(out, WHO_NAME, "user %u", (unsigned)user);
	for (int i = 0; f && i < USERS_MAX; i++) {
		if (fgetpwent_r(f, &entry, line, sizeof line, &found) != 0)
			break;
		if (found->pw_uid == user && who_is_plain(found->pw_name)) {
			snprintf(out, WHO_NAME, "%s (%u)", found->pw_name, (unsigned)user);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* What would move the cursor of who reads it, or begin a line of its own. */
static bool who_has_controls(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
			return true;
	return false;
}

int who_asks(const char *name, const char *via, char out[WHO_LEN], struct dp_err *err)
{
	if (via && strlen(via) > WHO_VIA_MAX)
		return dp_fail(err, DP_E_PROTOCOL, "'via' may have at most %d bytes", WHO_VIA_MAX);
	if (via && who_has_controls(via))
		return dp_fail(err, DP_E_PROTOCOL, "'via' has control characters");
	snprintf(out, WHO_LEN, "%s%s%s", name, via && *via ? ", " : "", via ? via : "");
	return DP_OK;
}
