/* ask.c - runs commands of dparetoctl inside this process. */
#include "serve/data/command_runner.h"

#include "base/json.h"
#include "ctl/support/front_filter.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "protocol/control/control_protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CONCURRENT_COMMANDS = 8 /* at a time: the daemon has other clients, too */
};

void command_runner_init(struct command_runner *runner, const char *socket)
{
	*runner = (struct command_runner){ .socket = socket };
	pthread_mutex_init(&runner->lock, NULL);
	pthread_cond_init(&runner->slot_free, NULL);
}

void command_runner_free(struct command_runner *runner)
{
	pthread_cond_destroy(&runner->slot_free);
	pthread_mutex_destroy(&runner->lock);
}

static void runner_acquire_slot(struct command_runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	while (runner->n_running >= MAX_CONCURRENT_COMMANDS)
		pthread_cond_wait(&runner->slot_free, &runner->lock);
	runner->n_running++;
	pthread_mutex_unlock(&runner->lock);
}

static void runner_release_slot(struct command_runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	runner->n_running--;
	pthread_cond_signal(&runner->slot_free);
	pthread_mutex_unlock(&runner->lock);
}

/* ---- one invocation ---- */

/* The state of dparetoctl for one question, and where it writes. */
struct invocation {
	struct ctl ctl;
	struct ctl_given_option given[COMMAND_MAX_OPTIONS];
	char *argv[COMMAND_MAX_ARGS + 1];
	char *out_text, *err_text;
	size_t out_len, err_len;
};

/* Takes its turn, which invocation_end() gives back. */
static int invocation_begin(struct invocation *v, struct command_runner *runner, struct dp_err *err)
{
	runner_acquire_slot(runner);
	*v = (struct invocation){ .ctl = { .format = CTL_JSON,
					   .quiet = true,
					   .exact_names = true,
					   .socket = runner->socket } };
	v->ctl.given_options = v->given;
	v->ctl.argv = v->argv;
	v->ctl.out = open_memstream(&v->out_text, &v->out_len);
	v->ctl.err_stream = open_memstream(&v->err_text, &v->err_len);
	if (!v->ctl.out || !v->ctl.err_stream)
		return dp_fail(err, DP_E_NOMEM, "no memory for a question");
	return runner->open_client
		       ? runner->open_client(runner->open_client_arg, &v->ctl.client, err)
		       : DP_OK;
}

static void invocation_end(struct invocation *v, struct command_runner *runner)
{
	dp_client_close(v->ctl.client);
	if (v->ctl.out)
		fclose(v->ctl.out);
	if (v->ctl.err_stream)
		fclose(v->ctl.err_stream);
	json_decref(v->ctl.readonly_info);
	free(v->out_text);
	free(v->err_text);
	runner_release_slot(runner);
}

static const struct ctl_option *find_command_option(const struct ctl_command *c, const char *name)
{
	for (const struct ctl_option *o = c->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

/* Is the value one of "a|b|c", where the table has such a list? */
static bool option_value_allowed(const struct ctl_option *o, const char *value)
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

int command_line_add_option(struct command_line *a, const char *name, const char *value,
			    struct dp_err *err)
{
	const struct ctl_option *o = find_command_option(ctl_command_find(a->command), name);

	/* a state folder is none of a visitor's business */
	if (!o || strcmp(name, "state") == 0)
		return dp_fail(err, DP_E_USAGE, "there is nothing to ask for by '%.80s'", name);
	if (!option_value_allowed(o, value))
		return dp_fail(err, DP_E_USAGE, "'%s' must be one of %s", name, o->arg);
	if (o->arg && !*value)
		return dp_fail(err, DP_E_USAGE, "'%s' needs a value: %s", name, o->arg);
	if (a->n_options == COMMAND_MAX_OPTIONS)
		return dp_fail(err, DP_E_USAGE, "that is too much to ask at once");
	a->options[a->n_options++] = (struct command_option){ name, value };
	return DP_OK;
}

/* Puts the command line where its command looks for it. */
static void invocation_set_command(struct invocation *v, const struct command_line *a)
{
	struct ctl *ctl = &v->ctl;

	ctl->command = ctl_command_find(a->command);
	ctl->via = a->via;
	while (ctl->argc < COMMAND_MAX_ARGS && a->args[ctl->argc]) {
		v->argv[ctl->argc] = (char *)a->args[ctl->argc];
		ctl->argc++;
	}
	for (size_t i = 0; i < a->n_options; i++)
		v->given[ctl->n_given_options++] = (struct ctl_given_option){
			find_command_option(ctl->command, a->options[i].name), a->options[i].value
		};
}

int runner_run_command(struct command_runner *runner, const struct command_line *a,
		       struct dp_buf *out, struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, runner, err);

	if (code == DP_OK) {
		invocation_set_command(&v, a);
		code = v.ctl.command->run(&v.ctl, err);
	}
	if (code == DP_OK && (fflush(v.ctl.out) != 0 || ferror(v.ctl.out)))
		code = dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	if (code == DP_OK)
		dp_buf_add(out, v.out_text, v.out_len);
	invocation_end(&v, runner);
	return code;
}

int runner_run_command_json(struct command_runner *runner, const struct command_line *a,
			    json_t **out, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	int code = runner_run_command(runner, a, &text, err);

	if (code == DP_OK)
		code = dp_json_parse(dp_buf_text(&text), text.len, out, err);
	dp_buf_free(&text);
	return code;
}

int runner_call_verb(struct command_runner *runner, const char *verb, json_t *fields,
		     const char *via, json_t **ok, struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, runner, err);

	v.ctl.via = via;
	if (code == DP_OK)
		code = ctl_call(&v.ctl, verb, fields, ok, err);
	else
		json_decref(fields);
	invocation_end(&v, runner);
	return code;
}

struct row_collector {
	struct trial_rows *rows;
	size_t max_bytes; /* bytes */
};

static int on_trial_append_row(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct row_collector *kept = arg;

	(void)ctl;
	if (!trial_rows_append(kept->rows, trial))
		return dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	if (trial_rows_memory_bytes(kept->rows) <= kept->max_bytes)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT,
		"the study's trials take more than %zu MiB, too much for this page",
		kept->max_bytes >> 20);
	return dp_hint(err, "'dparetoctl trials' lists all of them, and 'dparetoctl "
			    "report' draws them");
}

int runner_fetch_trials(struct command_runner *runner, const char *study, size_t most,
			struct trial_rows **rows, struct dp_err *err)
{
	struct ctl_trial_query which = { .study = study };
	struct row_collector kept = { .max_bytes = most };
	struct invocation v;
	int code = invocation_begin(&v, runner, err);

	*rows = kept.rows = trial_rows_new();
	if (code == DP_OK && !*rows)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	if (code == DP_OK)
		code = ctl_for_each_trial(&v.ctl, &which, on_trial_append_row, &kept, err);
	if (code == DP_OK) {
		trial_rows_trim(*rows);
	} else {
		trial_rows_unref(*rows);
		*rows = NULL;
	}
	invocation_end(&v, runner);
	return code;
}

/* Appends up to `n` rows from position *from on, as many as the reply has. */
static int append_trial_page(struct ctl *ctl, const char *study, int64_t *from, int64_t n,
			     json_t *list, int64_t *total, struct dp_err *err)
{
	json_t *fields, *ok, *rows;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:I}", "study", study, "from",
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
static int fetch_trial_range(struct ctl *ctl, const char *study, int64_t from, int64_t end,
			     json_t *list, struct dp_err *err)
{
	int64_t before = -1, total;
	int code = DP_OK;

	while (from < end && from > before && code == DP_OK) {
		before = from;
		code = append_trial_page(ctl, study, &from, end - from, list, &total, err);
	}
	return code;
}

/* In the opposite order; NULL without memory. */
static json_t *json_array_reversed(const json_t *list)
{
	json_t *out = json_array();

	for (size_t i = json_array_size(list); out && i-- > 0;)
		if (json_array_append(out, json_array_get(list, i)) != 0) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

int runner_fetch_trial_page(struct command_runner *runner, const char *study,
			    const struct trial_page *part, json_t **rows, int64_t *total,
			    struct dp_err *err)
{
	int64_t first = 0, end;
	json_t *list = json_array();
	struct invocation v;
	int code = invocation_begin(&v, runner, err);

	*rows = NULL;
	if (code == DP_OK) /* the first row, for their number */
		code = append_trial_page(&v.ctl, study, &first, 1, list, total, err);
	if (code == DP_OK && *total >= 0) {
		json_array_clear(list);
		first = part->newest_first ? *total - part->from - part->limit : part->from;
		end = part->newest_first ? *total - part->from : part->from + part->limit;
		code = fetch_trial_range(&v.ctl, study, first < 0 ? 0 : first,
					 end < *total ? end : *total, list, err);
		if (code == DP_OK)
			*rows = part->newest_first ? json_array_reversed(list) : json_incref(list);
		if (code == DP_OK && !*rows)
			code = dp_fail(err, DP_E_NOMEM, "no memory for a study's trials");
	}
	json_decref(list);
	invocation_end(&v, runner);
	return code;
}

/* A verb's first reply, without what follows on other pages. Takes the reference. */
static int runner_call_first_page(struct command_runner *runner, const char *verb, json_t *fields,
				  json_t **ok, struct dp_err *err)
{
	struct invocation v;
	int code = invocation_begin(&v, runner, err);

	if (code == DP_OK)
		code = ctl_call_first_page(&v.ctl, verb, fields, ok, err);
	else
		json_decref(fields);
	invocation_end(&v, runner);
	return code;
}

int runner_fetch_front_head(struct command_runner *runner, const char *study, json_t **front,
			    struct dp_err *err)
{
	return runner_call_first_page(runner, "front",
				      json_pack("{s:s, s:b}", "study", study, "denoised", 0), front,
				      err);
}

int runner_fetch_front_points(struct command_runner *runner, const char *study, json_t *pairs,
			      json_t **points, struct dp_err *err)
{
	json_t *page;
	int code = runner_call_first_page(runner, "front",
					  json_pack("{s:s, s:o}", "study", study, "points", pairs),
					  &page, err);

	if (code == DP_OK) {
		*points = json_incref(json_object_get(page, "front"));
		json_decref(page);
	}
	return code;
}

int runner_fetch_study(struct command_runner *runner, const char *study, json_t **status,
		       const json_t **summary, struct dp_err *err)
{
	int code = runner_call_first_page(runner, "status", json_pack("{s:s}", "study", study),
					  status, err);

	if (code == DP_OK)
		*summary = json_object_get(*status, "study");
	return code;
}

int command_line_filter_front(const struct command_line *a, json_t *front, const json_t *summary,
			      struct dp_err *err)
{
	struct invocation v = { .ctl = { .quiet = true } };

	v.ctl.given_options = v.given;
	v.ctl.argv = v.argv;
	invocation_set_command(&v, a);
	return ctl_front_filter_apply(&v.ctl, front, summary, err);
}

int runner_wait_changes(struct command_runner *runner, int64_t since, int ms, json_t **answer,
			struct dp_err *err)
{
	struct ctl ctl = { .socket = runner->socket };
	json_t *fields = json_pack("{s:I, s:i}", "since", (json_int_t)since, "timeout_ms", ms);
	int code = runner->open_client
			   ? runner->open_client(runner->open_client_arg, &ctl.client, err)
			   : ctl_connect(&ctl, err);

	if (code == DP_OK)
		code = dp_client_call(ctl.client, "changes", fields, ms + 60000, answer, err);
	else
		json_decref(fields);
	dp_client_close(ctl.client);
	return code;
}
