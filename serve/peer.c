/* peer.c - finds the user at the other end of a local connection. */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	END_TEXT = 48, /* "0100007F:20DA", or as much of an IPv6 address */
	GROUPS_MAX = 1024
};

/* One end as the kernel's table has it: each 32 bits of the address as a number. */
static void end_text(const struct sockaddr *a, char out[END_TEXT])
{
	const struct sockaddr_in6 *v6 = (const void *)a;
	const struct sockaddr_in *v4 = (const void *)a;
	uint32_t part[4];

	if (a->sa_family == AF_INET) {
		snprintf(out, END_TEXT, "%08X:%04X", v4->sin_addr.s_addr,
			 ntohs(v4->sin_port));
		return;
	}
	memcpy(part, &v6->sin6_addr, sizeof part);
	snprintf(out, END_TEXT, "%08X%08X%08X%08X:%04X", part[0], part[1], part[2],
		 part[3], ntohs(v6->sin6_port));
}

bool peer_user(const struct sockaddr *ours, const struct sockaddr *theirs, uid_t *user)
{
	bool v4 = ours->sa_family == AF_INET, found = false;
	FILE *table = fopen(v4 ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "re");
	char here[END_TEXT], there[END_TEXT], line[512];

	end_text(ours, here);
	end_text(theirs, there);
	while (table && !found && fgets(line, sizeof line, table)) {
		char local[END_TEXT], remote[END_TEXT];
		unsigned number;
		unsigned long inode;

		/* sl local remote state queues timer retransmits uid timeout inode */
		if (sscanf(line, "%*d: %47s %47s %*x %*x:%*x %*x:%*x %*x %u %*d %lu",
			   local, remote, &number, &inode) != 4)
			continue;
		/* an end that its process has closed is nobody's any more: the table
		 * says root's then, and no inode */
		found = inode != 0 && strcmp(local, there) == 0 &&
			strcmp(remote, here) == 0;
		*user = number;
	}
	if (table)
		fclose(table);
	return found;
}

char *peer_name(uid_t user, char out[PEER_NAME])
{
	struct passwd entry, *known = NULL;
	char room[4096];

	if (getpwuid_r(user, &entry, room, sizeof room, &known) == 0 && known)
		snprintf(out, PEER_NAME, "%.40s (%u)", known->pw_name, (unsigned)user);
	else
		snprintf(out, PEER_NAME, "user %u", (unsigned)user);
	return out;
}

static bool user_in_group(uid_t user, gid_t group)
{
	char room[4096];
	struct passwd entry, *known = NULL;
	gid_t *groups;
	int n = GROUPS_MAX;
	bool in = false;

	if (getpwuid_r(user, &entry, room, sizeof room, &known) != 0 || !known)
		return false;
	groups = malloc(GROUPS_MAX * sizeof *groups);
	if (groups && getgrouplist(known->pw_name, known->pw_gid, groups, &n) >= 0)
		for (int i = 0; i < n; i++)
			in |= groups[i] == group;
	free(groups);
	return in;
}

bool peer_may_use(uid_t user, const char *socket)
{
	struct stat st;

	if (user == 0 || user == geteuid())
		return true;
	if (stat(socket, &st) != 0)
		return false;
	if (user == st.st_uid || (st.st_mode & 02))
		return true;
	return (st.st_mode & 020) && user_in_group(user, st.st_gid);
}
