/* external_query.c - queries external accountants: one at a time, cached, some verified. */
#include "privacy/external/external_internal.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "base/program.h"
#include "base/sha256.h"
#include "study/space.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_TIMEOUT_SECONDS 60.0 /* if trainer.timeout is not set */

enum {
	STARTS_MAX = 3, /* for one query */
	CACHED_ANSWERS_MAX = 2048,
	VERIFY_ONE_IN = 8,      /* verifies one in so many points */
	RETRY_MS = 100,         /* after a failed start */
	COMMAND_TEXT_SIZE = 100 /* characters of its command in a message */
};

struct external_program {
	struct dp__external_process process;
	bool is_new; /* this process has had no query yet */
};

struct dp_external_accountants {
	const struct dp_study *study;
	const struct dp_external_command *commands;
	double timeout_seconds; /* for an answer */
	atomic_bool closed;
	pthread_mutex_t query_lock;        /* protects what follows */
	struct external_program *programs; /* (nobjectives) */
	uint64_t last_query_id;            /* of the last query */
	int64_t last_answer_us;            /* dp_monotonic_us() of the last answer */
	pthread_mutex_t cache_lock;        /* protects what follows; held briefly */
	json_t *answer_cache;              /* by objective and parameters, as text */
};

/* ---- creation and shutdown ---- */

struct dp_external_accountants *dp_external_new(const struct dp_study *s,
						const struct dp_external_command *command,
						atomic_uint *running)
{
	struct dp_external_accountants *p = dp_calloc(1, sizeof *p);

	p->study = s;
	p->commands = command;
	p->timeout_seconds = s->trainer.timeout > 0 ? s->trainer.timeout : DEFAULT_TIMEOUT_SECONDS;
	p->programs = dp_calloc(s->nobjectives, sizeof *p->programs);
	p->answer_cache = json_object();
	for (size_t i = 0; i < s->nobjectives; i++)
		p->programs[i].process.running_count = running;
	pthread_mutex_init(&p->query_lock, NULL);
	pthread_mutex_init(&p->cache_lock, NULL);
	return p;
}

static void external_stop_processes(struct dp_external_accountants *p, bool now)
{
	for (size_t i = 0; i < p->study->nobjectives; i++)
		dp__external_process_stop(&p->programs[i].process, now);
}

/* False if a stopped process is not gone yet. */
static bool external_reap_processes(struct dp_external_accountants *p, bool wait)
{
	bool gone = true;

	for (size_t i = 0; i < p->study->nobjectives; i++)
		gone = dp__external_process_reap(&p->programs[i].process, wait) && gone;
	return gone;
}

void dp_external_free(struct dp_external_accountants *p)
{
	if (!p)
		return;
	external_stop_processes(p, true);
	external_reap_processes(p, true);
	for (size_t i = 0; i < p->study->nobjectives; i++)
		dp_buf_free(&p->programs[i].process.reply);
	pthread_mutex_destroy(&p->query_lock);
	pthread_mutex_destroy(&p->cache_lock);
	json_decref(p->answer_cache);
	free(p->programs);
	free(p);
}

void dp_external_cancel_all(struct dp_external_accountants *p)
{
	atomic_store(&p->closed, true);
}

bool dp_external_stop(struct dp_external_accountants *p)
{
	bool gone;

	if (pthread_mutex_trylock(&p->query_lock) != 0)
		return false;
	external_stop_processes(p, false);
	gone = external_reap_processes(p, false);
	pthread_mutex_unlock(&p->query_lock);
	pthread_mutex_lock(&p->cache_lock);
	json_object_clear(p->answer_cache);
	pthread_mutex_unlock(&p->cache_lock);
	return gone;
}

void dp_external_stop_idle(struct dp_external_accountants *p, double seconds)
{
	if (pthread_mutex_trylock(&p->query_lock) != 0)
		return;
	if ((double)(dp_monotonic_us() - p->last_answer_us) >= seconds * 1e6)
		external_stop_processes(p, false);
	external_reap_processes(p, false);
	pthread_mutex_unlock(&p->query_lock);
}

/* ---- messages ---- */

static int external_fail_cancelled(struct dp_err *err)
{
	return dp_fail(err, DP_E_INTERRUPTED, "the question to the oracle was given up");
}

static void external_command_text(const struct dp_external_accountants *p, size_t objective,
				  char out[COMMAND_TEXT_SIZE])
{
	size_t n = 0;

	out[0] = '\0';
	for (char **a = p->study->objectives[objective].privacy->argv; *a; a++) {
		int more = snprintf(out + n, COMMAND_TEXT_SIZE - n, "%s%s", n ? " " : "", *a);

		if (more < 0 || n + (size_t)more >= COMMAND_TEXT_SIZE)
			break;
		n += (size_t)more;
	}
}

/* Explains from its files why it cannot start, in place of its stderr. */
static void external_explain_no_start(const struct dp_external_command *command, char *words,
				      size_t room)
{
	struct dp_program_search places = { NULL, dp_program_path_env(command->env) };
	char **program = command->argv;
	struct dp_err why;

	while (*program && strcmp(*program, "--") != 0) /* the shim's program argument */
		program++;
	if (*program && dp_program_check(program[1], &places, &why) != DP_OK)
		snprintf(words, room, "%.*s", (int)room - 1, why.msg);
}

/* Fails with "the oracle program 'NAME' WHAT (WHY); ..." and a hint. Stops the process, because its
 * next output cannot be trusted. */
static int external_fail_and_stop(struct dp_external_accountants *p, size_t objective,
				  const char *what, bool ended, struct dp_err *err)
{
	struct dp__external_process *process = &p->programs[objective].process;
	char command[COMMAND_TEXT_SIZE], words[300];

	dp__external_process_stop(process, true);
	external_command_text(p, objective, command);
	dp__external_process_end_text(process, ended, words, sizeof words);
	if (ended)
		external_explain_no_start(&p->commands[objective], words, sizeof words);
	return dp_fail(err, DP_E_ORACLE,
		       "the oracle program '%s' %s%s%.220s%s; mend it and resume the study",
		       command, what, words[0] ? " (" : "", words, words[0] ? ")" : "");
}

static int external_fail_reply(struct dp_external_accountants *p, size_t objective,
			       enum dp__external_reply reply, struct dp_err *err)
{
	char what[120];

	if (reply == DP__REPLY_EXITED)
		snprintf(what, sizeof what, "ended %d times without an answer", STARTS_MAX);
	else if (reply == DP__REPLY_TOO_LONG)
		snprintf(what, sizeof what, "answered with a line of more than %d bytes",
			 DP_EXTERNAL_LINE_MAX);
	else if (reply == DP__REPLY_UNEXPECTED)
		snprintf(what, sizeof what,
			 "answered more than it was asked: one line is due for each "
			 "question");
	else
		snprintf(what, sizeof what, "gave no answer within %g s and was ended",
			 p->timeout_seconds);
	return external_fail_and_stop(p, objective, what, reply == DP__REPLY_EXITED, err);
}

/* ---- one query ---- */

/* Starts the process. Retries while the machine lacks resources. */
static int external_start_program(struct dp_external_accountants *p, size_t objective,
				  const struct dp__external_wait *wait_limit, struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
	struct external_program *program = &p->programs[objective];
	char command[COMMAND_TEXT_SIZE];
	int e;

	while ((e = dp__external_process_start(&program->process, &p->commands[objective])) != 0) {
		if (dp__external_is_cancelled(wait_limit))
			return external_fail_cancelled(err);
		if (!dp_errno_is_transient(e) || dp_monotonic_us() >= wait_limit->deadline_us)
			break;
		nanosleep(&pause, NULL);
	}
	program->is_new = true;
	external_command_text(p, objective, command);
	return e == 0 ? DP_OK
		      : dp_fail(err, DP_E_ORACLE,
				"the oracle program '%s' could not be started: %s; mend "
				"that and resume the study",
				command, strerror(e));
}

static void external_format_query(const struct dp_external_accountants *p, size_t objective,
				  uint64_t id, const char *parameters, struct dp_buf *out)
{
	char delta[DP_NUM_LEN];

	dp_buf_clear(out);
	dp_buf_printf(out, "{\"id\":%llu,\"parameters\":%s,\"delta\":%s}\n", (unsigned long long)id,
		      parameters,
		      dp_num_text(p->study->objectives[objective].privacy->delta, delta));
}

/* Queries once. Restarts a process that died and repeats the query, a few times. */
static int external_query_once(struct dp_external_accountants *p, size_t objective,
			       const char *parameters, struct dp__external_wait wait_limit,
			       double *epsilon, struct dp_err *err)
{
	struct dp__external_process *process = &p->programs[objective].process;
	enum dp__external_reply reply = DP__REPLY_EXITED;
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err answer;
	int code = DP_OK, starts = 0;

	wait_limit.deadline_us = dp_monotonic_us() + (int64_t)(p->timeout_seconds * 1e6);
	external_format_query(p, objective, ++p->last_query_id, parameters, &text);
	while (reply == DP__REPLY_EXITED && code == DP_OK) {
		if (process->pid == 0 && starts++ == STARTS_MAX)
			break;
		if (process->pid == 0)
			code = external_start_program(p, objective, &wait_limit, err);
		if (code == DP_OK)
			reply = dp__external_process_query(process, &text, &wait_limit);
	}
	dp_buf_free(&text);
	if (code != DP_OK)
		return code;
	if (reply == DP__REPLY_CANCELLED) {
		dp__external_process_stop(process, true); /* the answer is no longer wanted */
		return external_fail_cancelled(err);
	}
	if (reply != DP__REPLY_LINE)
		return external_fail_reply(p, objective, reply, err);
	p->last_answer_us = dp_monotonic_us();
	code = dp_external_answer_parse(process->reply.data, process->reply.len, p->last_query_id,
					epsilon, &answer);
	if (code == DP_E_ORACLE)
		return external_fail_and_stop(p, objective, answer.msg, false, err);
	if (code != DP_OK && err)
		*err = answer;
	return code;
}

/* Sends some points twice, always the same, and first queries, to check that answers are pure. */
static bool external_needs_verifying(const struct external_program *program, const char *parameters)
{
	char digest[DP_SHA256_HEX_SIZE];
	struct dp_sha256 sum;

	if (program->is_new)
		return true;
	dp_sha256_init(&sum);
	dp_sha256_update(&sum, parameters, strlen(parameters));
	dp_sha256_hex(&sum, digest);
	digest[2] = '\0';
	return strtoul(digest, NULL, 16) % VERIFY_ONE_IN == 0;
}

static int external_fail_not_pure(struct dp_external_accountants *p, size_t objective,
				  const char *parameters, const char *one, const char *two,
				  struct dp_err *err)
{
	char what[300];

	snprintf(what, sizeof what,
		 "gave two answers for one point, %.40s and %.40s at %.80s: it must be a "
		 "pure function of the parameters",
		 one, two, parameters);
	return external_fail_and_stop(p, objective, what, false, err);
}

static int external_query_verified(struct dp_external_accountants *p, size_t objective,
				   const char *parameters, struct dp__external_wait wait_limit,
				   double *epsilon, struct dp_err *err)
{
	struct external_program *program = &p->programs[objective];
	int code = external_query_once(p, objective, parameters, wait_limit, epsilon, err), again;
	char one[DP_NUM_LEN], two[DP_NUM_LEN];
	double second = NAN;
	struct dp_err other;

	if ((code != DP_OK && code != DP_E_INVALID) ||
	    !external_needs_verifying(program, parameters))
		return code;
	again = external_query_once(p, objective, parameters, wait_limit, &second, &other);
	if (again != DP_OK && again != DP_E_INVALID) {
		if (err)
			*err = other;
		return again;
	}
	program->is_new = false;
	if (again == code && (code == DP_E_INVALID || second == *epsilon))
		return code;
	return external_fail_not_pure(p, objective, parameters,
				      code == DP_OK ? dp_num_text(*epsilon, one) : "an error",
				      again == DP_OK ? dp_num_text(second, two) : "an error", err);
}

/* ---- the cache ---- */

static bool external_cache_find(struct dp_external_accountants *p, const char *key, double *epsilon)
{
	bool found;

	pthread_mutex_lock(&p->cache_lock);
	found = dp_json_to_real(json_object_get(p->answer_cache, key), epsilon);
	pthread_mutex_unlock(&p->cache_lock);
	return found;
}

static void external_cache_add(struct dp_external_accountants *p, const char *key, double epsilon)
{
	pthread_mutex_lock(&p->cache_lock);
	if (json_object_size(p->answer_cache) >= CACHED_ANSWERS_MAX)
		json_object_clear(p->answer_cache);
	json_object_set_new(p->answer_cache, key, dp_json_real(epsilon));
	pthread_mutex_unlock(&p->cache_lock);
}

/* ---- the public query ---- */

/* Takes query_lock, or fails with DP_E_BUSY or DP_E_INTERRUPTED. */
static int external_lock_queries(const struct dp_external_caller *caller,
				 const struct dp__external_wait *wait_limit, struct dp_err *err)
{
	pthread_mutex_t *lock = &caller->accountants->query_lock;

	while (!dp__external_is_cancelled(wait_limit)) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += RETRY_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		if (caller->no_wait ? pthread_mutex_trylock(lock) == 0
				    : pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0)
			return DP_OK;
		if (caller->no_wait)
			return dp_fail(err, DP_E_BUSY,
				       "the oracle program is being asked something "
				       "else");
	}
	return external_fail_cancelled(err);
}

/* `key`: the objective's number, a space, and the parameters. */
static int external_query_locked(const struct dp_external_caller *caller, size_t objective,
				 const char *key, double *epsilon, struct dp_err *err)
{
	struct dp_external_accountants *p = caller->accountants;
	struct dp__external_wait wait_limit = { 0, caller->cancel, &p->closed };
	int code = external_lock_queries(caller, &wait_limit, err);

	if (code != DP_OK)
		return code;
	if (!external_cache_find(p, key, epsilon)) /* another thread may have stored it meanwhile */
		code = external_query_verified(p, objective, strchr(key, ' ') + 1, wait_limit,
					       epsilon, err);
	pthread_mutex_unlock(&p->query_lock);
	if (code == DP_OK)
		external_cache_add(p, key, *epsilon);
	return code;
}

int dp_external_epsilon(void *arg, size_t objective, const double *x, double at, double *epsilon,
			struct dp_err *err)
{
	const struct dp_external_caller *caller = arg;
	struct dp_external_accountants *p = caller->accountants;
	json_t *parameters = dp_space_to_json_at(p->study, x, at);
	struct dp_buf key = DP_BUF_INIT;
	int code = DP_OK;

	dp_buf_printf(&key, "%zu ", objective);
	dp_json_dump(&key, parameters, 0);
	if (!external_cache_find(p, key.data, epsilon))
		code = external_query_locked(caller, objective, key.data, epsilon, err);
	json_decref(parameters);
	dp_buf_free(&key);
	return code;
}
