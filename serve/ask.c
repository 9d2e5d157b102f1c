/* ask.c - runs commands of dparetoctl inside this process. */
#include "serve/ask.h"

#include "base/json.h"
#include "ctl/choose.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ASKS_MAX = 8 /* at a time: the daemon has other clients, too */
};

void asking_init(struct asking *k, const char *socket)
{
	*k = (struct asking){ .socket = socket };
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->free, NULL);
}

void asking_free(struct asking *k)
{
	pthread_cond_destroy(&k->free);
	pthread_mutex_destroy(&k->lock);
}

static void asking_enter(struct asking *k)
{
	pthread_mutex_lock(&k->lock);
	while (k->busy >= ASKS_MAX)
		pthread_cond_wait(&k->free, &k->lock);
	k->busy++;
	pthread_mutex_unlock(&k->lock);
}

static void asking_leave(struct asking *k)
{
	pthread_mutex_lock(&k->lock);
	k->busy--;
	pthread_cond_signal(&k->free);
	pthread_mutex_unlock(&k->lock);
}

/* ---- one invocation ---- */

/* The state of dparetoctl for one question, and where it writes. */
struct invocation {
	struct ctl ctl;
	struct ctl_given given[ASK_OPTIONS];
	char *argv[ASK_ARGS + 1];
	char *out, *talk;
	size_t nout, ntalk;
};

/* Takes its turn, which invocation_end() gives back. */
static int invocation_begin(struct invocation *v, struct asking *k, struct dp_err *err)
{
	asking_enter(k);
	*v = (struct invocation){
		.ctl = { .format = CTL_JSON, .quiet = true, .exact = true, .socket = k->socket }
	};
	v->ctl.given = v->given;
	v->ctl.argv = v->argv;
	v->ctl.out = open_memstream(&v->out, &v->nout);
	v->ctl.talk = open_memstream(&v->talk, &v->ntalk);
	if (!v->ctl.out || !v->ctl.talk)
		return dp_fail(err, DP_E_NOMEM, "no memory for a question");
	return k->open ? k->open(k->arg, &v->ctl.client, err) : DP_OK;
}

static void invocation_end(struct invocation *v, struct asking *k)
{
	dp_client_close(v->ctl.client);
	if (v->ctl.out)
		fclose(v->ctl.out);
	if (v->ctl.talk)
		fclose(v->ctl.talk);
	json_decref(v->ctl.looked);
	free(v->out);
	free(v->talk);
	asking_leave(k);
}

static const struct ctl_option *option_of(const struct ctl_command *c, const char *name)
{
	for (const struct ctl_option *o = c->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

/* Is the value one of "a|b|c", where the table has such a list? */
static bool word_allowed(const struct ctl_option *o, const char *value)
{
	size_t n = strlen(value);

	if (!o->arg || !strchr(o->arg, '|'))
		return true;
	for (const char *word = o->arg; word; word = strchr(word, '|')) {
		word += *word == '|';
		if (strncmp(word, value, n) == 0 && (!word[n] || word[n] == '|'))
			return n > 0;
	}
	return false;
}

int ask_add(struct ask *a, const char *name, const char *value, struct dp_err *err)
{
	const struct ctl_option *o = option_of(ctl_command_find(a->command), name);

	/* a state folder is none of a visitor's business */
	if (!o || strcmp(name, "state") == 0)
		return dp_fail(err, DP_E_USAGE, "there is nothing to ask for by '%.80s'", name);
	if (!word_allowed(o, value))
		return dp_fail(err, DP_E_USAGE, "'%s' must be one of %s", name, o->arg);
	if (o->arg && !*value)
		return dp_fail(err, DP_E_USAGE, "'%s' needs a value: %s", name, o->arg);
	if (a->noptions == ASK_OPTIONS)
		return dp_fail(err, DP_E_USAGE, "that is too much to ask at once");
	a->option[a->noptions++] = (struct ask_option){ name, value };
	return DP_OK;
}

/* Puts the command line where its command looks for it. */
static void invocation_set(struct invocation *v, const struct ask *a)
{
	struct ctl *ctl = &v->ctl;

	ctl->command = ctl_command_find(a->command);
	ctl->via = a->via;
	while (ctl->argc < ASK_ARGS && a->arg[ctl->argc]) {
		v->argv[ctl->argc] = (char *)a->arg[ctl->argc];
		ctl->argc++;
	}
	for (size_t i = 0; i < a->noptions; i++)
		v->given[ctl->ngiven++] =
			(struct ctl_given){ option_of(ctl->command, a->option[i].name),
					    a->option[i].value };
}

int ask_command(struct asking *k, const struct ask *a, struct dp_buf *out, struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, k, err);

	if (code == DP_OK) {
		invocation_set(&v, a);
		code = v.ctl.command->run(&v.ctl, err);
	}
	if (code == DP_OK && (fflush(v.ctl.out) != 0 || ferror(v.ctl.out)))
		code = dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	if (code == DP_OK)
		dp_buf_add(out, v.out, v.nout);
	invocation_end(&v, k);
	return code;
}

int ask_value(struct asking *k, const struct ask *a, json_t **out, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	int code = ask_command(k, a, &text, err);

	if (code == DP_OK)
		code = dp_json_parse(dp_buf_text(&text), text.len, out, err);
	dp_buf_free(&text);
	return code;
}

int ask_verb(struct asking *k, const char *verb, json_t *fields, const char *via, json_t **ok,
	     struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, k, err);

	v.ctl.via = via;
	if (code == DP_OK)
		code = ctl_call(&v.ctl, verb, fields, ok, err);
	else
		json_decref(fields);
	invocation_end(&v, k);
	return code;
}

struct kept_rows {
	struct rows *rows;
	size_t most; /* bytes */
};

static int keep_row(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct kept_rows *kept = arg;

	(void)ctl;
	if (!rows_append(kept->rows, trial))
		return dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	if (rows_bytes(kept->rows) <= kept->most)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT,
		"the study's trials take more than %zu MiB, too much for this page",
		kept->most >> 20);
	return dp_hint(err, "'dparetoctl trials' lists all of them, and 'dparetoctl "
			    "report' draws them");
}

int ask_trials(struct asking *k, const char *study, size_t most, struct rows **rows,
	       struct dp_err *err)
{
	struct ctl_trials which = { .study = study };
	struct kept_rows kept = { .most = most };
	struct invocation v;
	int code = invocation_begin(&v, k, err);

	*rows = kept.rows = rows_new();
	if (code == DP_OK && !*rows)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	if (code == DP_OK)
		code = ctl_each_trial(&v.ctl, &which, keep_row, &kept, err);
	if (code == DP_OK) {
		rows_trim(*rows);
	} else {
		rows_unref(*rows);
		*rows = NULL;
	}
	invocation_end(&v, k);
	return code;
}

/* Appends up to `n` rows from position *from on, as many as the reply has. */
static int part_add(struct ctl *ctl, const char *study, int64_t *from, int64_t n, json_t *list,
		    int64_t *total, struct dp_err *err)
{
	json_t *fields, *ok, *rows;
	int code = ctl_pack(&fields, err, "{s:s, s:I, s:I}", "study", study, "from",
			    (json_int_t)*from, "limit", (json_int_t)n);

	if (code == DP_OK)
		code = ctl_call(ctl, "trials", fields, &ok, err);
	if (code != DP_OK)
		return code;
	rows = json_object_get(ok, "trials");
	*total = dp_json_int(ok, "total", -1);
	*from += (int64_t)json_array_size(rows);
	if (json_array_extend(list, rows) != 0)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	json_decref(ok);
	return code;
}

/* The rows from `from` up to `end`. */
static int part_rows(struct ctl *ctl, const char *study, int64_t from, int64_t end, json_t *list,
		     struct dp_err *err)
{
	int64_t before = -1, total;
	int code = DP_OK;

	while (from < end && from > before && code == DP_OK) {
		before = from;
		code = part_add(ctl, study, &from, end - from, list, &total, err);
	}
	return code;
}

/* In the opposite order; NULL without memory. */
static json_t *rows_turned(const json_t *list)
{
	json_t *out = json_array();

	for (size_t i = json_array_size(list); out && i-- > 0;)
		if (json_array_append(out, json_array_get(list, i)) != 0) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

int ask_trials_part(struct asking *k, const char *study, const struct ask_part *part, json_t **rows,
		    int64_t *total, struct dp_err *err)
{
	int64_t first = 0, end;
	json_t *list = json_array();
	struct invocation v;
	int code = invocation_begin(&v, k, err);

	*rows = NULL;
	if (code == DP_OK) /* the first row, for their number */
		code = part_add(&v.ctl, study, &first, 1, list, total, err);
	if (code == DP_OK && *total >= 0) {
		json_array_clear(list);
		first = part->newest ? *total - part->from - part->limit : part->from;
		end = part->newest ? *total - part->from : part->from + part->limit;
		code = part_rows(&v.ctl, study, first < 0 ? 0 : first, end < *total ? end : *total,
				 list, err);
		if (code == DP_OK)
			*rows = part->newest ? rows_turned(list) : json_incref(list);
		if (code == DP_OK && !*rows)
			code = dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	}
	json_decref(list);
	invocation_end(&v, k);
	return code;
}

/* A verb's first reply, without what follows on other pages. Takes the reference. */
static int ask_first_reply(struct asking *k, const char *verb, json_t *fields, json_t **ok,
			   struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, k, err);

	if (code == DP_OK)
		code = ctl_call_once(&v.ctl, verb, fields, ok, err);
	else
		json_decref(fields);
	invocation_end(&v, k);
	return code;
}

int ask_front_head(struct asking *k, const char *study, json_t **front, struct dp_err *err)
{
	return ask_first_reply(k, "front", json_pack("{s:s, s:b}", "study", study, "denoised", 0),
			       front, err);
}

int ask_front_points(struct asking *k, const char *study, json_t *pairs, json_t **points,
		     struct dp_err *err)
{
	json_t *page;
	int code = ask_first_reply(
		k, "front", json_pack("{s:s, s:o}", "study", study, "points", pairs), &page, err);

	if (code == DP_OK) {
		*points = json_incref(json_object_get(page, "front"));
		json_decref(page);
	}
	return code;
}

int ask_study(struct asking *k, const char *study, json_t **status, const json_t **summary,
	      struct dp_err *err)
{
	int code = ask_first_reply(k, "status", json_pack("{s:s}", "study", study), status, err);

	if (code == DP_OK)
		*summary = json_object_get(*status, "study");
	return code;
}

int ask_front_for(const struct ask *a, json_t *front, const json_t *summary, struct dp_err *err)
{
	struct invocation v = { .ctl = { .quiet = true } };

	v.ctl.given = v.given;
	v.ctl.argv = v.argv;
	invocation_set(&v, a);
	return ctl_choose(&v.ctl, front, summary, err);
}

int ask_changes(struct asking *k, int64_t since, int ms, json_t **answer, struct dp_err *err)
{
	struct ctl ctl = { .socket = k->socket };
	json_t *fields = json_pack("{s:I, s:i}", "since", (json_int_t)since, "timeout_ms", ms);
	int code = k->open ? k->open(k->arg, &ctl.client, err) : ctl_connect(&ctl, err);

	if (code == DP_OK)
		code = dp_client_call(ctl.client, "changes", fields, ms + 60000, answer, err);
	else
		json_decref(fields);
	dp_client_close(ctl.client);
	return code;
}
