/* cmd-complete.c - `complete-words`: lists the words for shell completion at the cursor.
 *
 * All words come from the option and command tables, where arguments have names such as "STUDY",
 * "FILE", "OBJECTIVE=X" or "a|b|c" (see kinds[]). Names in a study are requested from the daemon,
 * which has one second to answer. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/mechanism_query.h"
#include "ctl/text_format.h"
#include "study/study_file.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COMPLETE_TIMEOUT_MS = 1000,
};

struct completion_line {
	struct ctl *ctl;
	const struct ctl_command *command; /* NULL: not given yet */
	bool unknown_command;
	bool options_ended;
	int n_arguments;
	char *study;                             /* first study named, or NULL */
	const struct ctl_option *pending_option; /* option whose value is at the cursor */
	const char *word;
	size_t fixed_len; /* length of the prefix that is kept */
	struct dp_buf out;
};

/* Offers a word with a description, which may be NULL. */
static void offer_word(struct completion_line *l, const char *text, const char *end,
		       const char *about)
{
	const char *begun = l->word + l->fixed_len;
	size_t len = strlen(begun), most = strlen(text) + strlen(end);
	char *whole = dp_calloc(most + 1, 1);

	strcat(strcpy(whole, text), end);
	if (strncmp(whole, begun, len) == 0)
		dp_buf_printf(&l->out, "%.*s%s%s%s\n", (int)l->fixed_len, l->word, whole,
			      about ? "\t" : "", about ? about : "");
	free(whole);
}

static void offer_names(struct completion_line *l, const json_t *names, const char *end)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		if (json_is_string(name))
			offer_word(l, json_string_value(name), end, NULL);
}

static void offer_keys(struct completion_line *l, json_t *object, const char *end)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value)
		offer_word(l, key, end, NULL);
}

/* Returns an answer of the daemon; NULL: no words to offer. */
static json_t *complete_call_daemon(struct completion_line *l, const char *verb, json_t *fields)
{
	struct dp_err err;
	json_t *ok;

	if (!fields)
		return NULL;
	return ctl_call_timeout(l->ctl, COMPLETE_TIMEOUT_MS, verb, fields, &ok, &err) == DP_OK
		       ? ok
		       : NULL;
}

static json_t *complete_call_study(struct completion_line *l, const char *verb)
{
	return l->study ? complete_call_daemon(l, verb, json_pack("{s:s}", "study", l->study))
			: NULL;
}

static void offer_studies(struct completion_line *l, const char *spec)
{
	json_t *ok = complete_call_daemon(l, "list", json_object());
	const json_t *s;
	size_t i;

	(void)spec;
	json_array_foreach (json_object_get(ok, "studies"), i, s)
		offer_word(l, dp_json_str(s, "name", ""), "", dp_json_str(s, "state", NULL));
	json_decref(ok);
}

/* Leaves file names to the shell. */
static void offer_files(struct completion_line *l, const char *spec)
{
	(void)spec;
	dp_buf_puts(&l->out, ":files\n");
}

static void offer_commands(struct completion_line *l, const char *spec)
{
	(void)spec;
	for (size_t i = 0; ctl_commands[i]; i++)
		if (!ctl_commands[i]->hidden)
			offer_word(l, ctl_commands[i]->name, "", ctl_commands[i]->summary);
}

static void offer_study_keys(struct completion_line *l, const char *spec)
{
	size_t count;
	const struct dp_key_doc *keys = dp_study_keys(&count);

	(void)spec;
	for (size_t i = 0; i < count; i++)
		offer_word(l, keys[i].path, "", keys[i].type);
}

/* Offers the keys that `set` changes, without their section. */
static void offer_live_keys(struct completion_line *l, const char *spec)
{
	size_t count;
	const struct dp_key_doc *keys = dp_study_keys(&count);

	(void)spec;
	for (size_t i = 0; i < count; i++) {
		const char *dot = strrchr(keys[i].path, '.');

		if (keys[i].mutability == DP_KEY_LIVE)
			offer_word(l, dot ? dot + 1 : keys[i].path, "=", keys[i].type);
	}
}

static void offer_trials(struct completion_line *l, const char *spec)
{
	int64_t next = 0;

	while (l->study && next >= 0) {
		json_t *ok = complete_call_daemon(l, "trials",
						  json_pack("{s:s, s:I, s:b}", "study", l->study,
							    "from", (json_int_t)next, "own",
							    strstr(spec, "@AT") == NULL));
		const json_t *trial;
		char name[CTL_TEXT_LEN];
		size_t i;

		json_array_foreach (json_object_get(ok, "trials"), i, trial)
			offer_word(l, ctl_format_result_id(trial, name), "",
				   dp_json_str(trial, "state", NULL));
		next = dp_json_int(ok, "next", -1);
		json_decref(ok);
	}
}

/* Returns "=" if a value follows the name. */
static const char *name_suffix(const char *spec)
{
	return strchr(spec, '=') ? "=" : "";
}

static void offer_objectives(struct completion_line *l, const char *spec)
{
	json_t *ok = complete_call_study(l, "status");

	offer_names(l, json_object_get(json_object_get(ok, "study"), "objectives"),
		    name_suffix(spec));
	json_decref(ok);
}

static void offer_metrics(struct completion_line *l, const char *spec)
{
	json_t *ok = complete_call_study(l, "status"), *study = json_object_get(ok, "study");

	offer_names(l, json_object_get(study, "objectives"), name_suffix(spec));
	offer_keys(l, json_object_get(study, "metrics"), name_suffix(spec));
	json_decref(ok);
}

static void offer_parameters(struct completion_line *l, const char *spec)
{
	json_t *ok = NULL;

	if (l->study)
		ok = complete_call_daemon(l, "trials",
					  json_pack("{s:s, s:i}", "study", l->study, "limit", 1));
	offer_keys(l,
		   json_object_get(json_array_get(json_object_get(ok, "trials"), 0), "parameters"),
		   name_suffix(spec));
	json_decref(ok);
}

/* The first prefix of a table word that matches decides its kind. */
static const struct {
	const char *prefix;
	void (*offer)(struct completion_line *l, const char *spec);
} kinds[] = {
	{ "STUDY", offer_studies },
	{ "FILE", offer_files },
	{ "PATH", offer_files },
	{ "DIR", offer_files },
	{ "COMMAND", offer_commands },
	{ "TRIAL", offer_trials },
	{ "KEY]", offer_study_keys },
	{ "KEY=VALUE", offer_live_keys },
	{ "OBJECTIVE", offer_objectives },
	{ "NAME=STUDY", offer_studies },
	{ "NAME=VALUE", offer_parameters },
	{ "NAME", offer_metrics },
};

/* Offers words for a table word such as "a|b|TRIAL". Completes the last element of a list, and the
 * study in a group. */
static void offer_arg_spec(struct completion_line *l, const char *spec)
{
	char *copy = dp_strdup(spec + strspn(spec, "[")), *rest = copy, *choice;
	bool several = strchr(copy, '|') != NULL, named = strstr(copy, "=STUDY") != NULL;

	if (strchr(copy, ','))
		for (const char *c = l->word + l->fixed_len; *c; c++)
			if (*c == ',' || (named && *c == '='))
				l->fixed_len = (size_t)(c - l->word) + 1;
	while ((choice = strsep(&rest, "|")) != NULL) {
		bool literal = !isupper((unsigned char)*choice);
		size_t i = 0;

		while (i < DP_COUNT(kinds) &&
		       strncmp(choice, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
			i++;
		if (!several && literal)
			continue;
		if (i < DP_COUNT(kinds))
			kinds[i].offer(l, choice);
		else if (literal)
			offer_word(l, choice, "", NULL);
	}
	free(copy);
}

static const struct ctl_option *find_option_row(const struct ctl_option *o, const char *name,
						size_t len, char letter)
{
	for (; o && o->name; o++)
		if (letter ? o->letter == letter
			   : strncmp(o->name, name, len) == 0 && !o->name[len])
			return o;
	return NULL;
}

/* Finds the option of a word like "--max" or "-o". */
static const struct ctl_option *line_find_option(struct completion_line *l, const char *word)
{
	bool is_long = word[1] == '-';
	const char *name = is_long ? word + 2 : "";
	size_t len = strcspn(name, "=");
	const struct ctl_option *o = NULL;

	if (l->command)
		o = find_option_row(l->command->options, name, len, is_long ? 0 : word[1]);
	if (!o && l->command)
		o = find_option_row(ctl_mechanism_options(l->ctl, l->command), name, len,
				    is_long ? 0 : word[1]);
	return o ? o : find_option_row(ctl_global_options, name, len, is_long ? 0 : word[1]);
}

/* Records the study a of "a", "a/256" or a group "g=a,b". */
static void line_set_study(struct completion_line *l, const char *text)
{
	const char *equals = strchr(text, '=');

	if (l->study)
		return;
	l->study = dp_strdup(equals ? equals + 1 : text);
	l->study[strcspn(l->study, ",/")] = '\0';
}

static void line_parse_word(struct completion_line *l, const char *word)
{
	const struct ctl_option *o = NULL;
	const char *value = NULL, *equals = strchr(word, '=');
	struct ctl *ctl = l->ctl;

	if (l->pending_option) {
		o = l->pending_option;
		value = word;
		l->pending_option = NULL;
	} else if (!l->options_ended && strcmp(word, "--") == 0) {
		l->options_ended = true;
	} else if (!l->options_ended && word[0] == '-' && word[1]) {
		o = line_find_option(l, word);
		if (!o || !o->arg)
			return;
		if (word[1] == '-')
			value = equals ? equals + 1 : NULL;
		else
			value = word[2] ? word + 2 : NULL;
		if (!value)
			l->pending_option = o;
	} else if (!l->command) {
		l->command = ctl_command_find(word);
		l->unknown_command = l->command == NULL;
	} else if (l->n_arguments++ == 0) {
		line_set_study(l, word);
	}
	if (!value)
		return;
	/* use options on the line too: they name the socket and the state directory */
	ctl->given_options = dp_reallocarray(ctl->given_options, ctl->n_given_options + 1,
					     sizeof *ctl->given_options);
	ctl->given_options[ctl->n_given_options++] = (struct ctl_given_option){ o, value };
	if (strcmp(o->name, "socket") == 0)
		ctl->socket = value;
	if (strcmp(o->name, "group") == 0)
		line_set_study(l, value);
}

static void offer_option_value(struct completion_line *l, const struct ctl_option *o)
{
	char *copy, *rest, *word;

	if (strcmp(o->name, "output") != 0 || !l->command) {
		offer_arg_spec(l, o->arg);
		return;
	}
	copy = rest = dp_strdup(o->arg);
	while ((word = strsep(&rest, "|")) != NULL)
		if (l->command->formats & 1u << ctl_parse_format_name(word))
			offer_word(l, word, "", NULL);
	free(copy);
}

static void offer_options(struct completion_line *l, const struct ctl_option *o)
{
	char name[80];

	for (; o && o->name; o++) {
		snprintf(name, sizeof name, "--%s", o->name);
		offer_word(l, name, "", o->help);
		snprintf(name, sizeof name, "-%c", o->letter);
		if (o->letter)
			offer_word(l, name, "", o->help);
	}
}

static void line_offer_completions(struct completion_line *l)
{
	const struct ctl_option *o;
	char *copy, *rest, *spec, *last = NULL;
	int place = 0;

	if (l->unknown_command)
		return;
	if (l->pending_option) {
		offer_option_value(l, l->pending_option);
	} else if (!l->options_ended && l->word[0] == '-') {
		o = strchr(l->word, '=') ? line_find_option(l, l->word) : NULL;
		if (o && o->arg) {
			l->fixed_len = (size_t)(strchr(l->word, '=') - l->word) + 1;
			offer_option_value(l, o);
			return;
		}
		if (l->command) {
			offer_options(l, l->command->options);
			offer_options(l, ctl_mechanism_options(l->ctl, l->command));
		}
		offer_options(l, ctl_global_options);
	} else if (!l->command) {
		offer_commands(l, NULL);
	} else {
		/* the word of "STUDY TRIAL..." at the cursor's position */
		copy = rest = dp_strdup(l->command->args);
		while ((spec = strsep(&rest, " ")) != NULL && place++ < l->n_arguments)
			last = spec;
		if (!spec && last && strstr(last, "..."))
			spec = last;
		if (spec)
			offer_arg_spec(l, spec);
		free(copy);
	}
}

static int cmd_complete_run(struct ctl *ctl, struct dp_err *err)
{
	struct completion_line l = { .ctl = ctl, .out = DP_BUF_INIT };

	(void)err;
	for (int i = 0; i + 1 < ctl->argc; i++)
		line_parse_word(&l, ctl->argv[i]);
	l.word = ctl->argv[ctl->argc - 1];
	line_offer_completions(&l);
	free(l.study);
	ctl_print_buf(ctl, &l.out);
	return DP_OK;
}

const struct ctl_command ctl_cmd_complete = {
	.name = "complete-words",
	.summary = "what can stand at the end of a command line",
	.args = "-- WORD...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.hidden = true,
	.help = "For the completion of shells: a word a line, with a tab before what it "
		"is. ':files' stands for the names of files.",
	.run = cmd_complete_run,
};
