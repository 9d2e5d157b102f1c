/* peer_user.c - finds the user at the other end of a local connection. */
#include "serve/http/peer_user.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PROC_ADDRESS_LEN = 48, /* "0100007F:20DA", longer for IPv6 */
	GROUPS_MAX = 1024
};

/* Formats an address as in /proc/net/tcp: each 32 bits as a number. */
static void format_proc_address(const struct sockaddr *a, char out[PROC_ADDRESS_LEN])
{
	const struct sockaddr_in6 *v6 = (const void *)a;
	const struct sockaddr_in *v4 = (const void *)a;
	uint32_t part[4];

	if (a->sa_family == AF_INET) {
		snprintf(out, PROC_ADDRESS_LEN, "%08X:%04X", v4->sin_addr.s_addr,
			 ntohs(v4->sin_port));
		return;
	}
	memcpy(part, &v6->sin6_addr, sizeof part);
	snprintf(out, PROC_ADDRESS_LEN, "%08X%08X%08X%08X:%04X", part[0], part[1], part[2], part[3],
		 ntohs(v6->sin6_port));
}

static void set_diag_address(const struct sockaddr *a, __be16 *port, __be32 address[4])
{
	const struct sockaddr_in6 *v6 = (const void *)a;
	const struct sockaddr_in *v4 = (const void *)a;

	if (a->sa_family == AF_INET) {
		*port = v4->sin_port;
		memcpy(address, &v4->sin_addr, sizeof v4->sin_addr);
	} else {
		*port = v6->sin6_port;
		memcpy(address, &v6->sin6_addr, sizeof v6->sin6_addr);
	}
}

static bool send_diag_request(int fd, const struct sockaddr *ours, const struct sockaddr *theirs)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 query;
	} q = { .head = { .nlmsg_len = sizeof q,
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.query = { .sdiag_family = (unsigned char)ours->sa_family,
			   .sdiag_protocol = IPPROTO_TCP,
			   .idiag_states = ~0U } };
	struct inet_diag_sockid *id = &q.query.id;

	set_diag_address(theirs, &id->idiag_sport, id->idiag_src);
	set_diag_address(ours, &id->idiag_dport, id->idiag_dst);
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return send(fd, &q, sizeof q, 0) == (ssize_t)sizeof q;
}

enum diag_result {
	DIAG_FOUND,
	DIAG_NONE,
	DIAG_UNSUPPORTED /* not available in this kernel or sandbox */
};

/* Asks the kernel about this one socket. Reading the whole table takes longer with more
 * connections, and any user can open many. */
static enum diag_result query_diag_user(const struct sockaddr *ours, const struct sockaddr *theirs,
					uid_t *user)
{
	_Alignas(struct nlmsghdr) char reply[4096];
	const struct nlmsghdr *head = (const void *)reply;
	const struct inet_diag_msg *found = NLMSG_DATA(head);
	const struct nlmsgerr *failed = NLMSG_DATA(head);
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t n = -1;

	if (fd < 0)
		return DIAG_UNSUPPORTED;
	if (send_diag_request(fd, ours, theirs)) /* the kernel answers before send() returns */
		n = recv(fd, reply, sizeof reply, MSG_DONTWAIT);
	close(fd);
	if (n >= (ssize_t)NLMSG_LENGTH(sizeof *failed) && head->nlmsg_type == NLMSG_ERROR)
		return failed->error == -ENOENT ? DIAG_NONE : DIAG_UNSUPPORTED;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof *found) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return DIAG_UNSUPPORTED;
	*user = found->idiag_uid;
	/* not a listening socket that reuses the port, and not a socket that its process has
	 * closed */
	return found->idiag_state != TCP_LISTEN && found->idiag_inode ? DIAG_FOUND : DIAG_NONE;
}

/* Finds the user in the kernel's table of all connections. */
static bool read_proc_tcp_user(const struct sockaddr *ours, const struct sockaddr *theirs,
			       uid_t *user)
{
	bool v4 = ours->sa_family == AF_INET, found = false;
	FILE *table = fopen(v4 ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "re");
	char here[PROC_ADDRESS_LEN], there[PROC_ADDRESS_LEN], line[512];

	format_proc_address(ours, here);
	format_proc_address(theirs, there);
	while (table && !found && fgets(line, sizeof line, table)) {
		char local[PROC_ADDRESS_LEN], remote[PROC_ADDRESS_LEN];
		unsigned number;
		unsigned long inode;

		/* sl local remote state queues timer retransmits uid timeout inode */
		if (sscanf(line, "%*d: %47s %47s %*x %*x:%*x %*x:%*x %*x %u %*d %lu", local, remote,
			   &number, &inode) != 4)
			continue;
		/* a socket closed by its process is listed with root and inode 0 */
		found = inode != 0 && strcmp(local, there) == 0 && strcmp(remote, here) == 0;
		*user = number;
	}
	if (table)
		fclose(table);
	return found;
}

bool peer_find_user(const struct sockaddr *ours, const struct sockaddr *theirs, uid_t *user)
{
	enum diag_result d = query_diag_user(ours, theirs, user);

	return d == DIAG_UNSUPPORTED ? read_proc_tcp_user(ours, theirs, user) : d == DIAG_FOUND;
}

char *peer_format_user(uid_t user, char out[PEER_NAME_LEN])
{
	struct passwd entry, *known = NULL;
	char room[4096];

	if (getpwuid_r(user, &entry, room, sizeof room, &known) == 0 && known)
		snprintf(out, PEER_NAME_LEN, "%.40s (%u)", known->pw_name, (unsigned)user);
	else
		snprintf(out, PEER_NAME_LEN, "user %u", (unsigned)user);
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
	groups = dp_malloc(GROUPS_MAX * sizeof *groups);
	if (groups && getgrouplist(known->pw_name, known->pw_gid, groups, &n) >= 0)
		for (int i = 0; i < n; i++)
			in |= groups[i] == group;
	free(groups);
	return in;
}

enum peer_access peer_access_by_mode(uid_t user, const char *socket)
{
	struct stat st;

	if (user == 0 || user == geteuid())
		return PEER_ALLOWED;
	if (stat(socket, &st) != 0)
		return PEER_DENIED;
	if (user == st.st_uid || (st.st_mode & 02))
		return PEER_ALLOWED;
	return (st.st_mode & 020) ? PEER_BY_GROUP : PEER_DENIED;
}

bool peer_may_use_socket(uid_t user, const char *socket)
{
	enum peer_access access = peer_access_by_mode(user, socket);
	struct stat st;

	if (access != PEER_BY_GROUP)
		return access == PEER_ALLOWED;
	return stat(socket, &st) == 0 && user_in_group(user, st.st_gid);
}
