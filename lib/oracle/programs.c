/* programs.c - the oracle programs of a study: one question at a time, answers that are
 * kept, some questions asked twice, and a sentence for whatever goes wrong. */
#include "oracle/oracle_internal.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"
#include "base/program.h"
#include "base/sha256.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OTHERWISE_SECONDS 60.0 /* for an answer, if trainer.timeout is not set */

enum {
	STARTS = 3,         /* for one question */
	ANSWERS_MAX = 2048, /* that are kept */
	ASK_TWICE = 8,      /* one of so many points is asked twice */
	TRY_AGAIN_MS = 100, /* where the machine could not start it */
	COMMAND_SHOWN = 100 /* characters of its command in a sentence */
};

struct program {
	struct dp__process process;
	bool is_new; /* nothing was asked of this process yet */
};

struct dp_programs {
	const struct dp_study *study;
	const struct dp_program_command *command;
	double seconds; /* for an answer */
	atomic_bool over;
	pthread_mutex_t asking;  /* has what follows */
	struct program *program; /* (nobjectives) */
	uint64_t asked;          /* the number of the last question */
	int64_t last;            /* dp_mono_us() of the last answer */
	pthread_mutex_t keeping; /* has what follows; taken for moments only */
	json_t *answers;         /* by objective and parameters, as text */
};

/* ---- making and ending ---- */

struct dp_programs *dp_programs_new(const struct dp_study *s,
				    const struct dp_program_command *command, atomic_uint *running)
{
	struct dp_programs *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->study = s;
	p->command = command;
	p->seconds = s->trainer.timeout > 0 ? s->trainer.timeout : OTHERWISE_SECONDS;
	p->program = calloc(s->nobjectives, sizeof *p->program);
	p->answers = json_object();
	if (!p->program || !p->answers) {
		free(p->program);
		json_decref(p->answers);
		free(p);
		return NULL;
	}
	for (size_t i = 0; i < s->nobjectives; i++)
		p->program[i].process.running = running;
	pthread_mutex_init(&p->asking, NULL);
	pthread_mutex_init(&p->keeping, NULL);
	return p;
}

static void end_all(struct dp_programs *p, bool now)
{
	for (size_t i = 0; i < p->study->nobjectives; i++)
		dp__process_end(&p->program[i].process, now);
}

/* False: one that was told to end is not gone yet. */
static bool reap_all(struct dp_programs *p, bool wait)
{
	bool gone = true;

	for (size_t i = 0; i < p->study->nobjectives; i++)
		gone = dp__process_reap(&p->program[i].process, wait) && gone;
	return gone;
}

void dp_programs_free(struct dp_programs *p)
{
	if (!p)
		return;
	end_all(p, true);
	reap_all(p, true);
	for (size_t i = 0; i < p->study->nobjectives; i++)
		dp_buf_free(&p->program[i].process.heard);
	pthread_mutex_destroy(&p->asking);
	pthread_mutex_destroy(&p->keeping);
	json_decref(p->answers);
	free(p->program);
	free(p);
}

void dp_programs_close(struct dp_programs *p)
{
	atomic_store(&p->over, true);
}

bool dp_programs_rest(struct dp_programs *p)
{
	bool gone;

	if (pthread_mutex_trylock(&p->asking) != 0)
		return false;
	end_all(p, false);
	gone = reap_all(p, false);
	pthread_mutex_unlock(&p->asking);
	pthread_mutex_lock(&p->keeping);
	json_object_clear(p->answers);
	pthread_mutex_unlock(&p->keeping);
	return gone;
}

void dp_programs_rest_idle(struct dp_programs *p, double seconds)
{
	if (pthread_mutex_trylock(&p->asking) != 0)
		return;
	if ((double)(dp_mono_us() - p->last) >= seconds * 1e6)
		end_all(p, false);
	reap_all(p, false);
	pthread_mutex_unlock(&p->asking);
}

/* ---- sentences ---- */

static int oracle_given_up(struct dp_err *err)
{
	return dp_fail(err, DP_E_INTERRUPTED, "the question to the oracle was given up");
}

static int oracle_no_memory(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory to ask the oracle program");
}

/* The words of its command, as far as they fit. */
static void command_text(const struct dp_programs *p, size_t objective, char out[COMMAND_SHOWN])
{
	size_t n = 0;

	out[0] = '\0';
	for (char **a = p->study->objectives[objective].privacy->argv; *a; a++) {
		int more = snprintf(out + n, COMMAND_SHOWN - n, "%s%s", n ? " " : "", *a);

		if (more < 0 || n + (size_t)more >= COMMAND_SHOWN)
			break;
		n += (size_t)more;
	}
}

/* Why it cannot even be started, as far as its files tell: in place of its last words. */
static void cannot_start(const struct dp_program_command *command, char *words, size_t room)
{
	struct dp_program_places places = { NULL, dp_program_path(command->env) };
	char **program = command->argv;
	struct dp_err why;

	while (*program && strcmp(*program, "--") != 0) /* what the shim is to run */
		program++;
	if (*program && dp_program_check(program[1], &places, &why) != DP_OK)
		snprintf(words, room, "%.*s", (int)room - 1, why.msg);
}

/* What is wrong with it, why, and what to do: "the oracle program 'NAME' WHAT (WHY);
 * ...". It is ended: whatever it says next cannot be trusted. */
static int distrust(struct dp_programs *p, size_t objective, const char *what, bool ended,
		    struct dp_err *err)
{
	struct dp__process *process = &p->program[objective].process;
	char command[COMMAND_SHOWN], words[300];

	dp__process_end(process, true);
	command_text(p, objective, command);
	dp__process_words(process, ended, words, sizeof words);
	if (ended)
		cannot_start(&p->command[objective], words, sizeof words);
	return dp_fail(err, DP_E_ORACLE,
		       "the oracle program '%s' %s%s%.220s%s; mend it and resume the study",
		       command, what, words[0] ? " (" : "", words, words[0] ? ")" : "");
}

static int distrust_heard(struct dp_programs *p, size_t objective, enum dp__heard heard,
			  struct dp_err *err)
{
	char what[120];

	if (heard == DP__HEARD_END)
		snprintf(what, sizeof what, "ended %d times without an answer", STARTS);
	else if (heard == DP__HEARD_LONG)
		snprintf(what, sizeof what, "answered with a line of more than %d bytes",
			 DP_ANSWER_LINE_MAX);
	else if (heard == DP__HEARD_MORE)
		snprintf(what, sizeof what,
			 "answered more than it was asked: one line is due for each "
			 "question");
	else
		snprintf(what, sizeof what, "gave no answer within %g s and was ended", p->seconds);
	return distrust(p, objective, what, heard == DP__HEARD_END, err);
}

/* ---- one question ---- */

/* Starts it, and waits while the machine has no room for it. */
static int start_program(struct dp_programs *p, size_t objective,
			 const struct dp__patience *patience, struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = TRY_AGAIN_MS * 1000000L };
	struct program *program = &p->program[objective];
	char command[COMMAND_SHOWN];
	int e;

	while ((e = dp__process_start(&program->process, &p->command[objective])) != 0) {
		if (dp__given_up(patience))
			return oracle_given_up(err);
		if (!dp_errno_passes(e) || dp_mono_us() >= patience->until)
			break;
		nanosleep(&pause, NULL);
	}
	program->is_new = true;
	command_text(p, objective, command);
	return e == 0 ? DP_OK
		      : dp_fail(err, DP_E_ORACLE,
				"the oracle program '%s' could not be started: %s; mend "
				"that and resume the study",
				command, strerror(e));
}

static void question_text(const struct dp_programs *p, size_t objective, uint64_t id,
			  const char *parameters, struct dp_buf *out)
{
	char delta[DP_NUM_LEN];

	dp_buf_clear(out);
	dp_buf_printf(out, "{\"id\":%llu,\"parameters\":%s,\"delta\":%s}\n", (unsigned long long)id,
		      parameters,
		      dp_num_text(p->study->objectives[objective].privacy->delta, delta));
}

/* Asks once; one that dies is started again and asked again, a few times. */
static int ask_once(struct dp_programs *p, size_t objective, const char *parameters,
		    struct dp__patience patience, double *epsilon, struct dp_err *err)
{
	struct dp__process *process = &p->program[objective].process;
	enum dp__heard heard = DP__HEARD_END;
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err answer;
	int code = DP_OK, starts = 0;

	patience.until = dp_mono_us() + (int64_t)(p->seconds * 1e6);
	question_text(p, objective, ++p->asked, parameters, &text);
	if (text.failed)
		return oracle_no_memory(err);
	while (heard == DP__HEARD_END && code == DP_OK) {
		if (process->pid == 0 && starts++ == STARTS)
			break;
		if (process->pid == 0)
			code = start_program(p, objective, &patience, err);
		if (code == DP_OK)
			heard = dp__process_ask(process, &text, &patience);
	}
	dp_buf_free(&text);
	if (code != DP_OK)
		return code;
	if (heard == DP__HEARD_GIVEN_UP || heard == DP__HEARD_NO_MEMORY) {
		dp__process_end(process, true); /* nobody waits for this answer */
		return heard == DP__HEARD_GIVEN_UP ? oracle_given_up(err) : oracle_no_memory(err);
	}
	if (heard != DP__HEARD_LINE)
		return distrust_heard(p, objective, heard, err);
	p->last = dp_mono_us();
	code = dp_answer_read(process->heard.data, process->heard.len, p->asked, epsilon, &answer);
	if (code == DP_E_ORACLE)
		return distrust(p, objective, answer.msg, false, err);
	if (code != DP_OK && err)
		*err = answer;
	return code;
}

/* Some points are asked twice, always the same ones, and what is asked first of a new
 * process. */
static bool is_asked_twice(const struct program *program, const char *parameters)
{
	char digest[DP_SHA256_TEXT];
	struct dp_sha256 sum;

	if (program->is_new)
		return true;
	dp_sha256_init(&sum);
	dp_sha256_add(&sum, parameters, strlen(parameters));
	dp_sha256_text(&sum, digest);
	digest[2] = '\0';
	return strtoul(digest, NULL, 16) % ASK_TWICE == 0;
}

static int not_pure(struct dp_programs *p, size_t objective, const char *parameters,
		    const char *one, const char *two, struct dp_err *err)
{
	char what[300];

	snprintf(what, sizeof what,
		 "gave two answers for one point, %.40s and %.40s at %.80s: it must be a "
		 "pure function of the parameters",
		 one, two, parameters);
	return distrust(p, objective, what, false, err);
}

static int ask_and_check(struct dp_programs *p, size_t objective, const char *parameters,
			 struct dp__patience patience, double *epsilon, struct dp_err *err)
{
	struct program *program = &p->program[objective];
	int code = ask_once(p, objective, parameters, patience, epsilon, err), again;
	char one[DP_NUM_LEN], two[DP_NUM_LEN];
	double second = NAN;
	struct dp_err other;

	if ((code != DP_OK && code != DP_E_INVALID) || !is_asked_twice(program, parameters))
		return code;
	again = ask_once(p, objective, parameters, patience, &second, &other);
	if (again != DP_OK && again != DP_E_INVALID) {
		if (err)
			*err = other;
		return again;
	}
	program->is_new = false;
	if (again == code && (code == DP_E_INVALID || second == *epsilon))
		return code;
	return not_pure(p, objective, parameters,
			code == DP_OK ? dp_num_text(*epsilon, one) : "an error",
			again == DP_OK ? dp_num_text(second, two) : "an error", err);
}

/* ---- answers that are kept ---- */

static bool find_answer(struct dp_programs *p, const char *key, double *epsilon)
{
	bool found;

	pthread_mutex_lock(&p->keeping);
	found = dp_json_to_real(json_object_get(p->answers, key), epsilon);
	pthread_mutex_unlock(&p->keeping);
	return found;
}

/* Without memory it is asked again. */
static void keep_answer(struct dp_programs *p, const char *key, double epsilon)
{
	pthread_mutex_lock(&p->keeping);
	if (json_object_size(p->answers) >= ANSWERS_MAX)
		json_object_clear(p->answers);
	json_object_set_new(p->answers, key, dp_json_real(epsilon));
	pthread_mutex_unlock(&p->keeping);
}

/* ---- asking ---- */

/* The lock of questions; DP_E_BUSY or DP_E_INTERRUPTED without it. */
static int take_turn(const struct dp_programs_turn *turn, const struct dp__patience *patience,
		     struct dp_err *err)
{
	pthread_mutex_t *lock = &turn->programs->asking;

	while (!dp__given_up(patience)) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += TRY_AGAIN_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		if (turn->at_once ? pthread_mutex_trylock(lock) == 0
				  : pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0)
			return DP_OK;
		if (turn->at_once)
			return dp_fail(err, DP_E_BUSY,
				       "the oracle program is being asked something "
				       "else");
	}
	return oracle_given_up(err);
}

/* `key` is the number of the objective, a blank, and the parameters. */
static int ask_in_turn(const struct dp_programs_turn *turn, size_t objective, const char *key,
		       double *epsilon, struct dp_err *err)
{
	struct dp_programs *p = turn->programs;
	struct dp__patience patience = { 0, turn->cancel, &p->over };
	int code = take_turn(turn, &patience, err);

	if (code != DP_OK)
		return code;
	if (!find_answer(p, key, epsilon)) /* another one may just have asked */
		code = ask_and_check(p, objective, strchr(key, ' ') + 1, patience, epsilon, err);
	pthread_mutex_unlock(&p->asking);
	if (code == DP_OK)
		keep_answer(p, key, *epsilon);
	return code;
}

int dp_programs_ask(void *arg, size_t objective, const double *x, double at, double *epsilon,
		    struct dp_err *err)
{
	const struct dp_programs_turn *turn = arg;
	struct dp_programs *p = turn->programs;
	json_t *parameters = dp_space_json_at(p->study, x, at);
	struct dp_buf key = DP_BUF_INIT;
	int code = DP_OK;

	dp_buf_printf(&key, "%zu ", objective);
	if (parameters)
		dp_json_dump(&key, parameters, 0);
	if (!parameters || key.failed)
		code = oracle_no_memory(err);
	else if (!find_answer(p, key.data, epsilon))
		code = ask_in_turn(turn, objective, key.data, epsilon, err);
	json_decref(parameters);
	dp_buf_free(&key);
	return code;
}
