/* peer_name.c - formats the name of a client for the journal and for users. */
#include "daemon/core/peer_name.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

enum {
	PASSWD_LINES_MAX = 10000, /* read at most: a millisecond or two */
	PASSWD_LINE_MAX = 4096
};

/* Names are shown unescaped, so only plain ones are accepted. */
static bool peer_name_is_plain(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] >= 0x7f)
			return false;
	return n > 0 && n <= 32;
}

void peer_name_format(uid_t user, char out[REQUESTER_NAME_LEN])
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd entry, *found;
	char line[PASSWD_LINE_MAX];

	snprintf(out, REQUESTER_NAME_LEN, "user %u", (unsigned)user);
	for (int i = 0; f && i < PASSWD_LINES_MAX; i++) {
		if (fgetpwent_r(f, &entry, line, sizeof line, &found) != 0)
			break;
		if (found->pw_uid == user && peer_name_is_plain(found->pw_name)) {
			snprintf(out, REQUESTER_NAME_LEN, "%s (%u)", found->pw_name,
				 (unsigned)user);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* Characters that move a terminal's cursor or start a new line. */
static bool peer_text_has_controls(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
			return true;
	return false;
}

int peer_format_requester(const char *name, const char *via, char out[REQUESTER_LEN],
			  struct dp_err *err)
{
	if (via && strlen(via) > REQUESTER_VIA_MAX)
		return dp_fail(err, DP_E_PROTOCOL, "'via' may have at most %d bytes",
			       REQUESTER_VIA_MAX);
	if (via && peer_text_has_controls(via))
		return dp_fail(err, DP_E_PROTOCOL, "'via' has control characters");
	snprintf(out, REQUESTER_LEN, "%s%s%s", name, via && *via ? ", " : "", via ? via : "");
	return DP_OK;
}
