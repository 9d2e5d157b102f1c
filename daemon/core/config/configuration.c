/* configuration.c - the table of options, for the command line, the file, --help and reloads. */
#include "daemon/core/config/configuration.h"

#include "base/fs.h"
#include "base/units.h"
#include "daemon/core/config/config_hooks.h"
#include "daemon/core/config/config_slot_env.h"
#include "daemon/core/config/config_slurm.h"
#include "study/config_file.h"
#include "study/diagnostics.h"
#include "study/study.h"

#include <grp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CONFIG_FILE_MAX = 1 << 16
}; /* of a configuration file */

/* The syntax of an option and the type of its field. */
enum config_kind {
	KIND_COUNT,               /* unsigned, between the row's limits */
	KIND_SIZE,                /* uint64_t, bytes */
	KIND_DURATION,            /* double, seconds */
	KIND_DURATION_OR_FOREVER, /* double, seconds or INFINITY */
	KIND_WORD,                /* an enum: an index of the row's words */
	KIND_GROUP,               /* struct config_group */
	KIND_TREE,                /* json_t *, made by `parse` */
};

struct config_option {
	const char *name;
	size_t offset; /* of its field in struct config */
	enum config_kind kind;
	const char *default_value; /* NULL: config_set_defaults() sets it */
	const char *help;
	const char *default_text; /* used instead if the value reads badly */
	unsigned min, max;
	const char *const *choices; /* NULL-terminated */
	/* for trees: checks the JSON text and returns the tree, or an error */
	int (*parse)(const char *text, json_t **out, struct dp_err *err);
	const char *type_text; /* for trees: a description of the type */
};

static const char *const executor_words[] = { "local", "slurm", NULL };
static const char *const stop_policy_words[] = { "leave", "finish", "kill", NULL };

/* An option's name and field. Compilation fails if the field has another type. */
#define FIELD(type, field)                                                                         \
	.name = #field, .offset = offsetof(struct config, field) +                                 \
				  0 * sizeof((type *)0 == &((struct config *)0)->field)

static const struct config_option options[] = {
	{ FIELD(unsigned, slots), KIND_COUNT, .min = 1, .max = CONFIG_SLOTS_MAX,
	  .default_text = "number of cores",
	  .help = "Trainers that run at once, over all studies." },
	{ FIELD(struct config_group, socket_group), KIND_GROUP, .default_value = "",
	  .default_text = "none",
	  .help = "Members of this group may use the socket too; otherwise only the "
		  "daemon's own user and root." },
	{ FIELD(enum log_level, log_level), KIND_WORD, .choices = log_level_words,
	  .default_value = "info", .help = "How much is written to the log." },
	{ FIELD(double, retention), KIND_DURATION_OR_FOREVER, .default_value = "forever",
	  .help = "How long the folders of ended attempts (logs, results as the trainer "
		  "wrote them) are kept. The journal keeps every number for good." },
	{ FIELD(uint64_t, disk_watermark), KIND_SIZE, .default_value = "64M",
	  .help = "With less than this free below the state folder, nothing new is "
		  "started." },
	{ FIELD(enum stop_policy, stop_policy), KIND_WORD, .choices = stop_policy_words,
	  .default_value = "leave",
	  .help = "What SIGTERM does with running trainers: leave them to be adopted by "
		  "the next daemon, finish them first, or kill them (their trials start "
		  "again)." },
	{ FIELD(unsigned, max_clients), KIND_COUNT, .min = 1, .max = 65536, .default_value = "1024",
	  .help = "Connections to the socket at once; fewer where the limit of open "
		  "files leaves no more." },
	{ FIELD(double, client_idle), KIND_DURATION_OR_FOREVER, .default_value = "10m",
	  .help = "A connection that asks nothing for so long is closed." },
	{ FIELD(double, client_patience), KIND_DURATION_OR_FOREVER, .default_value = "1m",
	  .help = "A connection that leaves a request half sent or a reply untaken for "
		  "so long is closed." },
	{ FIELD(uint64_t, client_memory), KIND_SIZE, .default_value = "64M",
	  .help = "What requests and replies on their way may take over all connections; "
		  "the one that holds most is closed beyond it. Less than 16M counts as "
		  "16M." },
	{ FIELD(double, report_interval), KIND_DURATION, .default_value = "10m",
	  .help = "How often the report of a running study is written again, if "
		  "something has changed; 0: only at its end." },
	{ FIELD(enum config_executor, executor), KIND_WORD, .choices = executor_words,
	  .default_value = "local",
	  .help = "Who runs the trainers of studies that do not say: this machine, or a "
		  "Slurm cluster." },
	{ FIELD(json_t *, slurm), KIND_TREE, .default_value = "{}", .parse = slurm_config_parse,
	  .type_text = "map of partition, account, time, options, poll, jobs",
	  .default_text = "10s between polls, 64 jobs",
	  .help = "What Slurm jobs ask for where a study does not say, how long Slurm is "
		  "left alone between two questions at most, and how many jobs of ours "
		  "are in its queue at once. On the command line as JSON." },
	{ FIELD(json_t *, hooks), KIND_TREE, .default_value = "[]", .default_text = "none",
	  .parse = config_hooks_parse, .type_text = "list of {on, command, timeout}",
	  .help = "Programs that are told of what happens: studies that finish, fail or "
		  "pause, failing trials, a full disk. On the command line as JSON." },
	{ FIELD(json_t *, slot_env), KIND_TREE, .default_value = "{}", .default_text = "none",
	  .parse = slot_env_parse, .type_text = "map of names to lists of values",
	  .help = "Environment variables of trainers with one value for each slot, such "
		  "as {\"CUDA_VISIBLE_DEVICES\": [\"0\", \"1\"]}. On the command line as "
		  "JSON." },
};
#undef FIELD
_Static_assert(sizeof(enum log_level) == sizeof(unsigned), "a word is kept as unsigned");
_Static_assert(sizeof(enum stop_policy) == sizeof(unsigned) &&
		       sizeof(enum config_executor) == sizeof(unsigned),
	       "a word is kept as unsigned");

/* ---- kinds: parsing, comparing, describing ---- */

static int config_find_word(const char *const *words, const char *s)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], s) == 0)
			return i;
	return -1;
}

static bool config_read_group(const char *text, struct config_group *group)
{
	struct group *known = *text ? getgrnam(text) : NULL;

	if (*text && !known)
		return false;
	free(group->name);
	group->name = dp_strdup(text);
	group->gid = known ? known->gr_gid : (gid_t)-1;
	return true;
}

/* Parses a value. Returns false and leaves the field unchanged if the text does not match; for
 * trees *err says why. */
static bool config_read_value(const struct config_option *o, const char *text, void *field,
			      struct dp_err *err)
{
	json_t *tree;
	int64_t v;
	int word;

	switch (o->kind) {
	case KIND_COUNT:
		if (!dp_int_parse(text, &v) || v < o->min || v > o->max)
			return false;
		*(unsigned *)field = (unsigned)v;
		return true;
	case KIND_SIZE:
		return dp_size_parse(text, field);
	case KIND_DURATION_OR_FOREVER:
		if (strcmp(text, "forever") == 0) {
			*(double *)field = INFINITY;
			return true;
		}
		return dp_duration_parse(text, field);
	case KIND_DURATION:
		return dp_duration_parse(text, field);
	case KIND_WORD:
		word = config_find_word(o->choices, text);
		if (word >= 0)
			*(unsigned *)field = (unsigned)word;
		return word >= 0;
	case KIND_GROUP:
		return config_read_group(text, field);
	case KIND_TREE:
		if (o->parse(text, &tree, err) != DP_OK)
			return false;
		json_decref(*(json_t **)field);
		*(json_t **)field = tree;
		return true;
	}
	return false;
}

static bool config_same_value(const struct config_option *o, const void *a, const void *b)
{
	const struct config_group *x = a, *y = b;

	switch (o->kind) {
	case KIND_COUNT:
	case KIND_WORD:
		return *(const unsigned *)a == *(const unsigned *)b;
	case KIND_SIZE:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	case KIND_DURATION:
	case KIND_DURATION_OR_FOREVER:
		return *(const double *)a == *(const double *)b;
	case KIND_GROUP:
		return strcmp(x->name ? x->name : "", y->name ? y->name : "") == 0;
	case KIND_TREE:
		return json_equal(*(json_t *const *)a, *(json_t *const *)b);
	}
	return false;
}

static void config_describe_kind(const struct config_option *o, char *out, size_t room)
{
	size_t n = 0;

	switch (o->kind) {
	case KIND_COUNT:
		snprintf(out, room, "int, %u to %u", o->min, o->max);
		break;
	case KIND_SIZE:
		snprintf(out, room, "size");
		break;
	case KIND_DURATION:
		snprintf(out, room, "duration");
		break;
	case KIND_DURATION_OR_FOREVER:
		snprintf(out, room, "duration or forever");
		break;
	case KIND_WORD:
		for (int i = 0; o->choices[i]; i++)
			n += (size_t)snprintf(out + n, room - n, "%s%s", i ? " | " : "",
					      o->choices[i]);
		break;
	case KIND_GROUP:
		snprintf(out, room, "name of a group that exists");
		break;
	case KIND_TREE:
		snprintf(out, room, "%s", o->type_text);
		break;
	}
}

/* ---- the table ---- */

static void *option_field(const struct config_option *o, struct config *c)
{
	return (char *)c + o->offset;
}

static const void *option_value(const struct config_option *o, const struct config *c)
{
	return (const char *)c + o->offset;
}

void config_set_defaults(struct config *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct dp_err err;

	*c = (struct config){ .slots = cores > 0 ? (unsigned)cores : 1 };
	for (size_t i = 0; i < DP_COUNT(options); i++)
		if (options[i].default_value)
			config_read_value(&options[i], options[i].default_value,
					  option_field(&options[i], c), &err);
}

void config_clear(struct config *c)
{
	free(c->socket_group.name);
	c->socket_group = (struct config_group){ .gid = (gid_t)-1 };
	for (size_t i = 0; i < DP_COUNT(options); i++)
		if (options[i].kind == KIND_TREE) {
			json_t **tree = option_field(&options[i], c);

			json_decref(*tree);
			*tree = NULL;
		}
}

bool config_get_doc(size_t i, struct config_option_doc *doc)
{
	const struct config_option *o = &options[i];

	if (i >= DP_COUNT(options))
		return false;
	*doc = (struct config_option_doc){ .name = o->name,
					   .default_text = o->default_text ? o->default_text
									   : o->default_value,
					   .help = o->help };
	config_describe_kind(o, doc->type, sizeof doc->type);
	return true;
}

int config_set(struct config *c, const char *name, const char *value, struct dp_err *err)
{
	const char *names[DP_COUNT(options) + 1] = { 0 }, *near;
	struct config_option_doc doc;

	for (size_t i = 0; i < DP_COUNT(options); i++) {
		const struct config_option *o = &options[i];

		names[i] = o->name;
		if (strcmp(o->name, name) != 0)
			continue;
		if (config_read_value(o, value, option_field(o, c), err))
			return DP_OK;
		if (o->kind == KIND_TREE)
			return err->code;
		config_get_doc(i, &doc);
		return dp_fail(err, DP_E_USAGE, "%s cannot be '%.80s'; it is %s", name, value,
			       doc.type);
	}
	near = dp_nearest_word(name, names);
	return dp_fail(err, DP_E_USAGE, "unknown option '%.80s'%s%s%s", name,
		       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

void config_list_changes(const struct config *before, const struct config *after, json_t *names)
{
	for (size_t i = 0; i < DP_COUNT(options); i++) {
		const struct config_option *o = &options[i];

		if (!config_same_value(o, option_value(o, before), option_value(o, after)))
			json_array_append_new(names, json_string(o->name));
	}
}

/* ---- sources ---- */

static int on_config_file_option(void *config, const char *name, const char *value,
				 struct dp_err *err)
{
	return config_set(config, name, value, err);
}

static int on_config_file_tree(void *config, const char *name, const char *json, struct dp_err *err)
{
	for (size_t i = 0; i < DP_COUNT(options); i++)
		if (strcmp(options[i].name, name) == 0 && options[i].kind != KIND_TREE)
			return dp_fail(err, DP_E_USAGE, "an option has one value");
	return config_set(config, name, json, err);
}

int config_read_file(struct config *c, const char *path, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT, message = DP_BUF_INIT;
	struct dp_diagnostics problems = { 0 };
	int code = DP_OK;

	if (strcmp(path, "/dev/null") != 0) /* conventional name of an empty file */
		code = dp_read_regular(path, CONFIG_FILE_MAX, &text, err);
	if (code == DP_E_INVALID)
		dp_hint(err, "the file is read again on SIGHUP: write it to the disk");
	if (code == DP_OK)
		code = dp_config_parse(dp_buf_text(&text), text.len, path, on_config_file_option,
				       on_config_file_tree, c, &problems, err);
	if (problems.count) {
		dp_diagnostics_format(&problems, path, dp_buf_text(&text), text.len, &message);
		while (message.len && message.data[message.len - 1] == '\n')
			message.data[--message.len] = '\0';
		code = dp_fail(err, DP_E_INVALID, "%s", dp_buf_text(&message));
		dp_hint(err, "dparetod(8) lists the options");
	}
	dp_diagnostics_free(&problems);
	dp_buf_free(&message);
	dp_buf_free(&text);
	return code;
}

int config_load(struct config *c, const struct config_source *from, struct dp_err *err)
{
	int code;

	config_set_defaults(c);
	code = from->path ? config_read_file(c, from->path, err) : DP_OK;
	for (int i = 0; i < from->count && code == DP_OK; i++) {
		code = config_set(c, from->names[i], from->values[i], err);
		if (code != DP_OK)
			dp_err_prefix(err, "command line");
	}
	if (code == DP_OK)
		code = slot_env_check_count(c->slot_env, c->slots, err);
	return code;
}

/* ---- words also used by requests ---- */

const char *stop_policy_text(enum stop_policy p)
{
	return stop_policy_words[p];
}

bool stop_policy_parse(const char *s, enum stop_policy *p)
{
	int i = config_find_word(stop_policy_words, s);

	if (i < 0)
		return false;
	*p = (enum stop_policy)i;
	return true;
}
