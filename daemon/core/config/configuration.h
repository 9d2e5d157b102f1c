/* configuration.h - the daemon's options, from its file and its command line.
 *
 * An option is a field of struct config and a row of the table in configuration.c;
 * reading, defaults, --help and what a reload has changed all follow from the row. A
 * struct config owns the memory that its fields point to, until config_clear().
 *
 * Called on the loop thread and before the loop runs. Worker threads get what they need
 * of it copied: a reload puts another configuration in its place.
 *
 * (Not config.h: that is what configure writes, and files here include it.) */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIGURATION_H
#define DP_DAEMON_CORE_CONFIG_CONFIGURATION_H
#include "base/base.h"
#include "daemon/core/daemon_log.h"

#include <jansson.h>
#include <sys/types.h>

enum stop_policy {
	STOP_LEAVE,
	STOP_FINISH,
	STOP_KILL
};

enum config_executor {
	CONFIG_EXECUTOR_LOCAL,
	CONFIG_EXECUTOR_SLURM
};

enum {
	CONFIG_SLOTS_MAX = 4096
};

struct config_group {
	char *name; /* "" or NULL: none */
	gid_t gid;  /* (gid_t)-1: none */
};

struct config {
	unsigned slots;                   /* trainers at once */
	struct config_group socket_group; /* its members may use the socket, too */
	enum log_level log_level;
	double retention;        /* seconds that folders of ended attempts are kept; INFINITY */
	uint64_t disk_watermark; /* bytes free below which nothing starts */
	enum stop_policy stop_policy;
	unsigned max_clients;
	double client_idle;            /* seconds that a client may ask nothing; INFINITY */
	double client_patience;        /* seconds for half a request, and to take a reply */
	uint64_t client_memory;        /* bytes that requests and replies may take in all */
	double report_interval;        /* seconds between reports of a running study; 0: none */
	enum config_executor executor; /* of studies that name none */
	json_t *slurm;                 /* config_slurm.h; never NULL */
	json_t *hooks;                 /* config_hooks.h; never NULL */
	json_t *slot_env;              /* config_slot_env.h; never NULL */
};

/* Where a configuration comes from. A later source wins: defaults, then the file, then
 * what the command line said. */
struct config_source {
	const char *path; /* of the file; NULL: none */
	const char *names[32], *values[32];
	int count; /* of names and values */
};

/* Fills *c. On failure, too, *c is the caller's to clear. */
DP_MUSTCHECK int config_load(struct config *c, const struct config_source *from,
			     struct dp_err *err);
void config_set_defaults(struct config *c);
void config_clear(struct config *c);
/* Sets one option from text, as the command line gives it; a value that is refused
 * leaves the old one. */
DP_MUSTCHECK int config_set(struct config *c, const char *name, const char *value,
			    struct dp_err *err);
/* Reads a configuration file over what *c holds; all mistakes are reported at once. */
DP_MUSTCHECK int config_read_file(struct config *c, const char *path, struct dp_err *err);
/* Appends the names of the options whose values differ. */
void config_list_changes(const struct config *before, const struct config *after, json_t *names);

/* What --help says about an option. */
struct config_option_doc {
	const char *name, *default_text, *help;
	char type[80];
};
/* The option at position i; false past the last one. */
bool config_get_doc(size_t i, struct config_option_doc *doc);

const char *stop_policy_text(enum stop_policy p);
bool stop_policy_parse(const char *s, enum stop_policy *p);

#endif
