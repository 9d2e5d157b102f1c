/* slurm_command.c - runs Slurm's commands and parses their output. */
#include "daemon/executors/slurm/slurm_command.h"

#include "base/units.h"
#include "daemon/core/child_process.h"
#include "daemon/core/argv.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	STDOUT_MAX = 64 << 20, /* enough for more than 100,000 jobs */
	STDERR_MAX = 8 << 10,
	STOP_CHECK_MS = 50 /* interval for checking *stop */
};

/* ---- running a command ---- */

/* Starts it in its own session, so that all its children can be killed. Returns 0 or an errno. */
static int slurm_command_spawn(char *const *argv, char *const *env, const int files[3], pid_t *pid)
{
	/* these make Slurm's commands omit jobs or words */
	static const char *const without[] = { "SQUEUE_", "SACCT_", "SCANCEL_", NULL };
	char **own = env ? NULL : argv_copy_environ(without);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e = ENOMEM;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, files[i], i);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	if (env || own)
		e = posix_spawnp(pid, argv[0], &actions, &attr, argv, env ? env : own);
	free(own);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

/* Reads what a pipe holds and closes it at its end. Drops what exceeds `most`. */
static void slurm_command_read_pipe(int *fd, struct dp_buf *to, size_t most)
{
	char chunk[65536];
	ssize_t n = read(*fd, chunk, sizeof chunk);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return;
	}
	if (to->len < most)
		dp_buf_add(to, chunk, (size_t)n);
}

/* Reads both pipes to their ends, or until the deadline or *stop. */
static void slurm_command_read_output(struct slurm_output *r, int pipes[2], int64_t until,
				      const atomic_bool *stop)
{
	while (pipes[0] >= 0 || pipes[1] >= 0) {
		struct pollfd p[2] = { { .fd = pipes[0], .events = POLLIN },
				       { .fd = pipes[1], .events = POLLIN } };

		if (dp_monotonic_us() >= until || atomic_load(stop)) {
			r->timed_out = true;
			return;
		}
		if (poll(p, 2, STOP_CHECK_MS) <= 0)
			continue;
		if (p[0].revents)
			slurm_command_read_pipe(&pipes[0], &r->out, STDOUT_MAX);
		if (p[1].revents)
			slurm_command_read_pipe(&pipes[1], &r->err, STDERR_MAX);
	}
}

static void slurm_command_run_process(struct slurm_output *r, char *const *argv, char *const *env,
				      int input, int out[2], int err[2], int64_t until,
				      const atomic_bool *stop)
{
	int files[3] = { input, out[1], err[1] }, pipes[2] = { out[0], err[0] };
	pid_t pid = 0;

	r->error = slurm_command_spawn(argv, env, files, &pid);
	close(out[1]);
	close(err[1]);
	if (r->error == 0)
		slurm_command_read_output(r, pipes, until, stop);
	for (int i = 0; i < 2; i++)
		if (pipes[i] >= 0)
			close(pipes[i]);
	if (r->error)
		return;
	if (r->timed_out)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &r->status, 0) < 0 && errno == EINTR)
		;
}

void slurm_command_run(struct slurm_output *r, char *const *argv, char *const *env,
		       const char *input, double seconds, const atomic_bool *stop)
{
	int64_t until = dp_monotonic_us() + (int64_t)(seconds * 1e6);
	int in = child_open_input(input), out[2], err[2];

	*r = (struct slurm_output){ .out = DP_BUF_INIT, .err = DP_BUF_INIT };
	if (in < 0 || pipe2(out, O_CLOEXEC) != 0) {
		r->error = errno;
	} else if (pipe2(err, O_CLOEXEC) != 0) {
		r->error = errno;
		close(out[0]);
		close(out[1]);
	} else {
		slurm_command_run_process(r, argv, env, in, out, err, until, stop);
	}
	if (in >= 0)
		close(in);
}

void slurm_output_free(struct slurm_output *r)
{
	dp_buf_free(&r->out);
	dp_buf_free(&r->err);
}

bool slurm_output_ok(const struct slurm_output *r)
{
	return !r->error && !r->timed_out && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0;
}

/* The last line without control characters. Skips Slurm's advice about options. */
static void slurm_output_last_line(const char *text, char *out, size_t room)
{
	const char *advice = strstr(text, "\nTry \"");
	const char *end = advice ? advice : text + strlen(text), *line;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (line = end; line > text && line[-1] != '\n'; line--)
		;
	snprintf(out, room, "%.*s", (int)(end - line), line);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = ' ';
}

void slurm_output_describe_error(const struct slurm_output *r, const char *command, char *out,
				 size_t room)
{
	char line[300];

	slurm_output_last_line(dp_buf_text(&r->err), line, sizeof line);
	if (r->error == ENOENT)
		snprintf(out, room,
			 "%s is not found: Slurm's commands (Debian's slurm-client) must "
			 "be "
			 "in the daemon's PATH",
			 command);
	else if (r->error == EBADMSG)
		snprintf(out, room, "%s answered, but not with a list of jobs", command);
	else if (r->error)
		snprintf(out, room, "%s cannot be run: %s", command, strerror(r->error));
	else if (r->timed_out)
		snprintf(out, room, "%s did not answer in time%s%s", command,
			 line[0] ? "; it said: " : "", line);
	else if (line[0])
		snprintf(out, room, "%s%s%s",
			 strncmp(line, command, strlen(command)) == 0 ? "" : command,
			 strncmp(line, command, strlen(command)) == 0 ? "" : ": ", line);
	else if (WIFSIGNALED(r->status))
		snprintf(out, room, "%s was killed by signal %d", command, WTERMSIG(r->status));
	else
		snprintf(out, room, "%s ended with code %d", command, WEXITSTATUS(r->status));
}

/* ---- submitting ---- */

bool slurm_id_parse(const char *line, char id[SLURM_ID_LEN])
{
	size_t n = strspn(line, "0123456789");

	if (n == 0 || n >= SLURM_ID_LEN || !strchr(";\n\r", line[n]))
		return false;
	memcpy(id, line, n);
	id[n] = '\0';
	return true;
}

static bool slurm_text_has_phrase(const char *text, const char *const *phrases)
{
	for (; *phrases; phrases++)
		if (strstr(text, *phrases))
			return true;
	return false;
}

/* Slurm's own messages (slurm_errno.c, sbatch). The controller cannot be reached: the effect of the
 * command is unknown. */
static const char *const unreachable_phrases[] = { "Unable to contact",
						   "Socket timed out",
						   "Connection refused",
						   "Connection timed out",
						   "Zero Bytes",
						   "Communication connection failure",
						   "Message receive failure",
						   "Insane message length",
						   "controller not responding",
						   "Transport endpoint",
						   "authentication",
						   "Munge",
						   NULL };
static const char *const busy_phrases[] = { "temporarily unable to accept",
					    "Resource temporarily unavailable",
					    "job submit limit",
					    "MaxSubmit",
					    "Maximum number of jobs",
					    "system is in maintenance",
					    "Slurm backup controller in standby",
					    NULL };

enum slurm_submit_result slurm_submit_parse(const struct slurm_output *r, char id[SLURM_ID_LEN])
{
	const char *said = dp_buf_text(&r->err);

	if (slurm_output_ok(r) && slurm_id_parse(dp_buf_text(&r->out), id))
		return SLURM_SUBMIT_ACCEPTED;
	if (r->error)
		return SLURM_SUBMIT_BUSY; /* sbatch never ran */
	/* sbatch retries by itself when there is no room, so the effect is unknown */
	if (r->timed_out || slurm_output_ok(r) || !WIFEXITED(r->status) ||
	    slurm_text_has_phrase(said, unreachable_phrases))
		return SLURM_SUBMIT_UNKNOWN;
	return slurm_text_has_phrase(said, busy_phrases) ? SLURM_SUBMIT_BUSY : SLURM_SUBMIT_REFUSED;
}

/* ---- states of jobs ---- */

static const struct {
	const char *word;
	enum slurm_state state;
} state_words[] = {
	{ "PENDING", SLURM_PENDING },      { "REQUEUED", SLURM_PENDING },
	{ "REQUEUE_HOLD", SLURM_PENDING }, { "REQUEUE_FED", SLURM_PENDING },
	{ "SPECIAL_EXIT", SLURM_PENDING }, { "RESV_DEL_HOLD", SLURM_PENDING },
	{ "RUNNING", SLURM_RUNNING },      { "CONFIGURING", SLURM_RUNNING },
	{ "COMPLETING", SLURM_RUNNING },   { "SUSPENDED", SLURM_RUNNING },
	{ "STOPPED", SLURM_RUNNING },      { "SIGNALING", SLURM_RUNNING },
	{ "STAGE_OUT", SLURM_RUNNING },    { "RESIZING", SLURM_RUNNING },
	{ "COMPLETED", SLURM_ENDED },      { "FAILED", SLURM_ENDED },
	{ "LAUNCH_FAILED", SLURM_ENDED },  { "CANCELLED", SLURM_CANCELLED },
	{ "REVOKED", SLURM_CANCELLED },    { "TIMEOUT", SLURM_TIMEOUT },
	{ "DEADLINE", SLURM_TIMEOUT },     { "OUT_OF_MEMORY", SLURM_OUT_OF_MEMORY },
	{ "PREEMPTED", SLURM_PREEMPTED },  { "NODE_FAIL", SLURM_NODE_FAIL },
	{ "BOOT_FAIL", SLURM_NODE_FAIL },
};

enum slurm_state slurm_state_parse(const char *word)
{
	size_t n = strcspn(word, " +"); /* "CANCELLED by 1000", "CANCELLED+" */

	for (size_t i = 0; i < DP_COUNT(state_words); i++)
		if (strlen(state_words[i].word) == n && strncmp(state_words[i].word, word, n) == 0)
			return state_words[i].state;
	return SLURM_UNRECOGNISED;
}

bool slurm_state_is_final(enum slurm_state s)
{
	return s >= SLURM_ENDED && s != SLURM_UNRECOGNISED;
}

/* Ends the field at *p and moves *p behind it; NULL: no field. */
static char *slurm_row_next_field(char **p, char until)
{
	char *start = *p, *end = start ? strchr(start, until) : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*p = end + 1;
	return start;
}

static bool slurm_row_parse(char *line, struct slurm_row *row)
{
	const char *task;
	char *end;

	row->id = slurm_row_next_field(&line, '|');
	row->state_word = slurm_row_next_field(&line, '|');
	row->nodes = slurm_row_next_field(&line, '|');
	row->name = slurm_row_next_field(&line, '|');
	row->reason = line;
	if (!row->name || !isdigit((unsigned char)row->id[0]) || strlen(row->id) >= SLURM_ID_LEN)
		return false;
	row->state = slurm_state_parse(row->state_word);
	row->task = -1;
	task = strchr(row->id, '_');
	if (!task)
		return true;
	row->task = strtol(task + 1, &end, 10);
	return end != task + 1 && !*end; /* "314_[2-9]": squeue was not asked with -r */
}

static int slurm_row_compare(const void *a, const void *b)
{
	const struct slurm_row *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	return by_name ? by_name : (x->task > y->task) - (x->task < y->task);
}

int slurm_rows_parse(const struct dp_buf *text, struct slurm_rows *out)
{
	size_t room = 1, len = text->len;
	bool any = false;
	char *line, *rest;

	*out = (struct slurm_rows){ .text = dp_malloc(len + 1) };
	if (!out->text)
		return ENOMEM;
	memcpy(out->text, dp_buf_text(text), len);
	out->text[len] = '\0';
	for (size_t i = 0; i < len; i++)
		room += out->text[i] == '\n';
	out->list = dp_calloc(room, sizeof *out->list);
	if (!out->list) {
		slurm_rows_free(out);
		return ENOMEM;
	}
	for (line = strtok_r(out->text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest), any = true)
		out->n += slurm_row_parse(line, &out->list[out->n]);
	qsort(out->list, out->n, sizeof *out->list, slurm_row_compare);
	return any && out->n == 0 ? EBADMSG : 0;
}

void slurm_rows_free(struct slurm_rows *rows)
{
	free(rows->list);
	free(rows->text);
	*rows = (struct slurm_rows){ 0 };
}

struct slurm_row *slurm_rows_find(const struct slurm_rows *rows, const char *name, long task)
{
	struct slurm_row key = { .name = name, .task = task };
	size_t lo = 0, hi = rows->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (slurm_row_compare(&rows->list[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < rows->n && slurm_row_compare(&rows->list[lo], &key) == 0 ? &rows->list[lo]
									     : NULL;
}

/* ---- quoting ---- */

void slurm_shell_quote(struct dp_buf *out, const char *text)
{
	dp_buf_putc(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			dp_buf_puts(out, "'\\''");
		else
			dp_buf_putc(out, *text);
	dp_buf_putc(out, '\'');
}
