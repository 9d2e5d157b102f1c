/* config.c - the daemon's options: one row each, for the command line, the
 * configuration file, --help and the manual's test. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"
#include "study/study.h"

#include <grp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CONFIG_MAX = 1 << 16
}; /* bytes of a configuration file */

static const char *const level_words[] = { "error", "warn", "info", "debug", NULL };
static const char *const policy_words[] = { "leave", "finish", "kill", NULL };

static int word_index(const char *const *words, const char *s)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], s) == 0)
			return i;
	return -1;
}

const char *stop_policy_text(enum stop_policy p)
{
	return policy_words[p];
}

bool stop_policy_parse(const char *s, enum stop_policy *p)
{
	int i = word_index(policy_words, s);

	if (i < 0)
		return false;
	*p = (enum stop_policy)i;
	return true;
}

static bool set_count(const char *s, int64_t lo, int64_t hi, unsigned *out)
{
	int64_t v;

	if (!dp_int_parse(s, &v) || v < lo || v > hi)
		return false;
	*out = (unsigned)v;
	return true;
}

static bool set_slots(struct config *c, const char *s)
{
	return set_count(s, 1, 4096, &c->slots);
}

static bool set_max_clients(struct config *c, const char *s)
{
	return set_count(s, 1, 65536, &c->max_clients);
}

static bool set_socket_group(struct config *c, const char *s)
{
	struct group *g = *s ? getgrnam(s) : NULL;
	char *copy = g || !*s ? strdup(s) : NULL;

	if (!copy)
		return false;
	free(c->socket_group);
	c->socket_group = copy;
	c->socket_gid = g ? g->gr_gid : (gid_t)-1;
	return true;
}

static bool set_log_level(struct config *c, const char *s)
{
	int i = word_index(level_words, s);

	if (i < 0)
		return false;
	c->log_level = (enum log_level)i;
	return true;
}

static bool set_retention(struct config *c, const char *s)
{
	if (strcmp(s, "forever") == 0) {
		c->retention = INFINITY;
		return true;
	}
	return dp_duration_parse(s, &c->retention);
}

static bool set_disk_watermark(struct config *c, const char *s)
{
	return dp_size_parse(s, &c->disk_watermark);
}

static bool set_stop_policy(struct config *c, const char *s)
{
	return stop_policy_parse(s, &c->stop_policy);
}

static bool set_report_interval(struct config *c, const char *s)
{
	return dp_duration_parse(s, &c->report_interval);
}

static const struct config_doc docs[] = {
	{ "slots", "int, 1 to 4096", "number of cores",
	  "Trainers that run at once, over all studies." },
	{ "socket_group", "name of a group that exists", "none",
	  "Members of this group may use the socket too; otherwise only the daemon's own "
	  "user and root." },
	{ "log_level", "error | warn | info | debug", "info",
	  "How much is written to the log." },
	{ "retention", "duration or forever", "forever",
	  "How long the folders of ended attempts (logs, results as the trainer wrote "
	  "them) "
	  "are kept. The journal keeps every number for good." },
	{ "disk_watermark", "size", "64M",
	  "With less than this free below the state folder, nothing new is started." },
	{ "stop_policy", "leave | finish | kill", "leave",
	  "What SIGTERM does with running trainers: leave them to be adopted by the next "
	  "daemon, finish them first, or kill them (their trials start again)." },
	{ "max_clients", "int, 1 to 65536", "1024",
	  "Connections to the socket at once." },
	{ "report_interval", "duration", "10m",
	  "How often the report of a running study is written again, if something has "
	  "changed; 0: only at its end." },
};

/* In the order of docs[]. */
static bool (*const setters[])(struct config *c, const char *value) = {
	set_slots,          set_socket_group, set_log_level,   set_retention,
	set_disk_watermark, set_stop_policy,  set_max_clients, set_report_interval,
};
_Static_assert(DP_COUNT(docs) == DP_COUNT(setters), "a setter a row");

const struct config_doc *config_docs(size_t *count)
{
	*count = DP_COUNT(docs);
	return docs;
}

void config_defaults(struct config *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	*c = (struct config){ .slots = cores > 0 ? (unsigned)cores : 1,
			      .socket_gid = (gid_t)-1,
			      .log_level = LOG_INFO,
			      .retention = INFINITY,
			      .disk_watermark = 64u << 20,
			      .stop_policy = STOP_LEAVE,
			      .max_clients = 1024,
			      .report_interval = 600 };
}

void config_clear(struct config *c)
{
	free(c->socket_group);
	c->socket_group = NULL;
}

int config_set(struct config *c, const char *name, const char *value, struct dp_err *err)
{
	const char *names[DP_COUNT(docs) + 1] = { 0 }, *near;

	for (size_t i = 0; i < DP_COUNT(docs); i++) {
		names[i] = docs[i].name;
		if (strcmp(docs[i].name, name) != 0)
			continue;
		if (setters[i](c, value))
			return DP_OK;
		return dp_fail(err, DP_E_USAGE, "%s cannot be '%.80s'; it is %s", name,
			       value, docs[i].type);
	}
	near = dp_nearest(name, names);
	return dp_fail(err, DP_E_USAGE, "unknown option '%.80s'%s%s%s", name,
		       near ? "; did you mean '" : "", near ? near : "",
		       near ? "'?" : "");
}

static int set_option(void *config, const char *name, const char *value,
		      struct dp_err *err)
{
	return config_set(config, name, value, err);
}

int config_read(struct config *c, const char *path, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT, told = DP_BUF_INIT;
	struct dp_problems problems = { 0 };
	int code = dp_read_file(path, CONFIG_MAX, &text, err);

	if (code == DP_OK)
		code = dp_options_parse(dp_buf_text(&text), text.len, path, set_option, c,
					&problems, err);
	if (problems.count) {
		dp_problems_text(&problems, path, dp_buf_text(&text), text.len, &told);
		while (told.len && told.data[told.len - 1] == '\n')
			told.data[--told.len] = '\0';
		code = dp_fail(err, DP_E_INVALID, "%s", dp_buf_text(&told));
		dp_hint(err, "dparetod(8) lists the options");
	}
	dp_problems_free(&problems);
	dp_buf_free(&told);
	dp_buf_free(&text);
	return code;
}
