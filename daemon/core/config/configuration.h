/* configuration.h - the daemon's options, from defaults, the configuration file and the command
 * line.
 *
 * An option is a field of struct config and a row of the table in configuration.c. Parsing,
 * defaults, --help and the list of changes at a reload follow from the row. A struct config owns
 * the memory of its fields until config_clear().
 *
 * Loop thread only. Worker threads get copies, because a reload replaces the configuration.
 *
 * The file is not config.h because configure writes a file of that name. */
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
	unsigned slots;
	struct config_group socket_group; /* members may use the socket */
	enum log_level log_level;
	double retention;        /* seconds to keep directories of ended attempts; INFINITY */
	uint64_t disk_watermark; /* free bytes below which nothing starts */
	enum stop_policy stop_policy;
	unsigned max_clients;
	double client_idle;            /* seconds until an idle client is closed; INFINITY */
	double client_patience;        /* seconds for half a request, and to take a reply */
	uint64_t client_memory;        /* bytes for requests and replies of all clients */
	double report_interval;        /* seconds between reports of a running study; 0: none */
	enum config_executor executor; /* default for studies */
	json_t *slurm;                 /* config_slurm.h; never NULL */
	json_t *hooks;                 /* config_hooks.h; never NULL */
	json_t *slot_env;              /* config_slot_env.h; never NULL */
};

/* Where options come from. Later sources win: defaults, the file, the command line. */
struct config_source {
	const char *path;
	const char *names[32], *values[32];
	int count;
};

/* Fills *c. The caller clears *c on failure, too. */
DP_MUSTCHECK int config_load(struct config *c, const struct config_source *from,
			     struct dp_err *err);
void config_set_defaults(struct config *c);
void config_clear(struct config *c);
/* Sets one option from its text on the command line. Keeps the old value on an error. */
DP_MUSTCHECK int config_set(struct config *c, const char *name, const char *value,
			    struct dp_err *err);
/* Reads a file over the values in *c. Reports all mistakes at once. */
DP_MUSTCHECK int config_read_file(struct config *c, const char *path, struct dp_err *err);
/* Appends the names of options whose values differ. */
void config_list_changes(const struct config *before, const struct config *after, json_t *names);

struct config_option_doc {
	const char *name, *default_text, *help;
	char type[80];
};
/* Fills *doc with the option at position i; false past the last. */
bool config_get_doc(size_t i, struct config_option_doc *doc);

const char *stop_policy_text(enum stop_policy p);
bool stop_policy_parse(const char *s, enum stop_policy *p);

#endif
