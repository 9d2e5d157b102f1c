/* shim_main.c - dpareto-shim, the parent process of one trainer. It claims the attempt's directory,
 * starts the trainer, limits its output, enforces its limits, kills what it leaves behind and
 * records how it ended. It is a separate static program that uses only libc, because it must
 * outlive the daemon, run on cluster nodes and start thousands of times cheaply.
 * docs/trainer-protocol.md describes the files that it leaves. */
#include "config.h"
#include "daemon/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_RETRY_SECONDS 2.0 /* time to retry a start after a transient error */
#define STALL_CHECK_SECONDS 1.0 /* longest interval between two checks for growth */

double shim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void sleep_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* ---- the command line ---- */

static const char usage_text[] =
	"usage: dpareto-shim --dir DIR [options] -- PROGRAM [ARGUMENT...]\n"
	"       dpareto-shim --oracle [--cwd DIR] [--open-files N] -- PROGRAM "
	"[ARGUMENT...]\n"
	"\n"
	"Runs one trainer in the attempt folder DIR and records its end in exit.json.\n"
	"dparetod starts it; there is rarely a reason to start it by hand.\n"
	"\n"
	"  --dir DIR          the attempt's folder; DIR/claim must not exist\n"
	"  --beside PATH      an absolute path: the claim and, until it is done, the\n"
	"                     record are PATH.claim and PATH.exit, out of the trainer's "
	"way\n"
	"  --cgroup DIR       the trainer gets a cgroup of its own below this one\n"
	"  --timeout SECONDS  end the trainer after this time (0: never; default 0)\n"
	"  --grace SECONDS    time between TERM and KILL (default 10)\n"
	"  --stall SECONDS    end it when DIR/result.jsonl has not grown for this long\n"
	"                     (0: never; default 0)\n"
	"  --memory BYTES     kill it when all its processes have more than this "
	"together\n"
	"                     (0: no limit; default 0)\n"
	"  --log-limit BYTES  keep this much of stdout and of stderr (default 16 MiB)\n"
	"  --open-files N     the trainer's soft limit of open files (default: "
	"unchanged)\n"
	"  --cwd DIR          working folder of the trainer (default: the attempt's)\n"
	"  --elsewhere        the daemon is on another machine: a disk that knows no "
	"locks\n"
	"                     will do, and USR2 means that the time limit is near\n"
	"  --oracle           run an oracle program with stdin, stdout and stderr as "
	"they\n"
	"                     are: it ends, with all that it has started, when nobody\n"
	"                     can write to its stdin any more; its exit code is ours\n"
	"\n"
	"Exit codes: 0 the end was recorded, 1 it could not be, 2 wrong usage, 75 the\n"
	"attempt is claimed by somebody else.\n";

static void usage_error(const char *what, const char *value)
{
	fprintf(stderr, "dpareto-shim: %s%s%s\nTry 'dpareto-shim --help'.\n", what,
		value ? ": " : "", value ? value : "");
	exit(EXIT_USAGE);
}

static double parse_seconds(const char *option, const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !(x >= 0) || !isfinite(x))
		usage_error(option, text);
	return x;
}

static uint64_t parse_bytes(const char *option, const char *text)
{
	unsigned long long x;
	char *end;

	errno = 0;
	x = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		usage_error(option, text);
	return x;
}

static const struct option known_options[] = {
	{ "dir", required_argument, NULL, 'd' },
	{ "beside", required_argument, NULL, 'b' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "timeout", required_argument, NULL, 't' },
	{ "grace", required_argument, NULL, 'g' },
	{ "stall", required_argument, NULL, 's' },
	{ "memory", required_argument, NULL, 'm' },
	{ "log-limit", required_argument, NULL, 'l' },
	{ "open-files", required_argument, NULL, 'n' },
	{ "cwd", required_argument, NULL, 'c' },
	{ "elsewhere", no_argument, NULL, 'e' },
	{ "oracle", no_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static void shim_check_options(const struct shim_options *o)
{
	if (!o->dir && !o->is_accountant)
		usage_error("--dir is missing", NULL);
	if (o->lease_prefix &&
	    (o->lease_prefix[0] != '/' || strlen(o->lease_prefix) > PATH_MAX - 100))
		usage_error("--beside is not an absolute path", o->lease_prefix);
}

static void shim_parse_options(struct shim_options *o, int argc, char **argv)
{
	int c;

	o->grace = 10;
	o->log_limit = 16 << 20;
	while ((c = getopt_long(argc, argv, "+hV", known_options, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->dir = optarg;
			break;
		case 'b':
			o->lease_prefix = optarg;
			break;
		case 'G':
			o->cgroup = optarg;
			break;
		case 't':
			o->timeout = parse_seconds("--timeout is not a time in seconds", optarg);
			break;
		case 'g':
			o->grace = parse_seconds("--grace is not a time in seconds", optarg);
			break;
		case 's':
			o->stall = parse_seconds("--stall is not a time in seconds", optarg);
			break;
		case 'm':
			o->memory_limit = parse_bytes("--memory is not a number of bytes", optarg);
			break;
		case 'l':
			o->log_limit = parse_bytes("--log-limit is not a number of bytes", optarg);
			break;
		case 'n':
			o->open_files = parse_bytes("--open-files is not a number", optarg);
			break;
		case 'c':
			o->cwd = optarg;
			break;
		case 'e':
			o->is_remote = true;
			break;
		case 'o':
			o->is_accountant = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		case 'V':
			puts("dpareto-shim " PACKAGE_VERSION);
			exit(0);
		default:
			fputs("Try 'dpareto-shim --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	shim_check_options(o);
	if (optind >= argc)
		usage_error("no program was given", NULL);
	o->argv = argv + optind;
}

/* ---- claiming the attempt ---- */

_Noreturn void shim_die(const char *what, const char *name)
{
	fprintf(stderr, "dpareto-shim: %s %s: %s\n", what, name, strerror(errno));
	exit(EXIT_NOT_RECORDED);
}

void shim_open_signalfd(struct shim *s)
{
	sigset_t watched;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGUSR2);
	s->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		shim_die("cannot watch", "signals");
	s->own_pid = getpid();
}

/* Detaches from the caller's terminal, signals and files. */
static void shim_detach_from_caller(void)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* if inherited as ignored, children would be reaped automatically */
	sigaction(SIGCHLD, &normal, NULL);
	closefrom(3);
	/* Fails for a process group leader, started by hand from a shell. The terminal may then
	 * interrupt it like any command. */
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Enters the directory and claims the attempt. */
static void enter_attempt(struct shim *s)
{
	int null;

	if (chdir(s->opt.dir) != 0)
		shim_die("cannot enter", s->opt.dir);
	do /* also fills 0 to 2 if closed, so that no file gets these */
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	if (null < 0)
		shim_die("cannot open", "/dev/null");
	shim_open_signalfd(s);
	shim_lease_acquire(s);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close(null);
}

/* ---- starting the trainer ---- */

#define OOM_SCORE_FILE          "/proc/self/oom_score_adj"
#define OOM_SCORE_TRAINER_DELTA 300 /* added to the score of shim and daemon */
#define OOM_SCORE_MAX           1000

/* Reads the OOM score; the kernel kills the process with the highest one. INT_MAX: unknown. */
static int shim_read_oom_score(void)
{
	int score = INT_MAX;
	FILE *f = fopen(OOM_SCORE_FILE, "re");

	if (f && fscanf(f, "%d", &score) != 1)
		score = INT_MAX;
	if (f)
		fclose(f);
	return score;
}

/* Raising the score, and lowering it back, needs no privilege. */
static void set_oom_score(int score)
{
	int fd = open(OOM_SCORE_FILE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "%d", score < OOM_SCORE_MAX ? score : OOM_SCORE_MAX);
	close(fd);
}

/* Runs in the child, which shares this process's memory until exec (vfork): it only makes system
 * calls, and leaves the errno of a failure in *error. */
static void shim_exec_trainer(const struct shim *s, const int *pipes, volatile int *error)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	struct rlimit files;
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &normal, NULL);
	setpgid(0, 0);
	/* If the shim is killed, its lock is released and the attempt may be retried: the trainer
	 * must not run in parallel. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->own_pid)
		_exit(127);
	if (s->cgroup_procs_fd >= 0 && write(s->cgroup_procs_fd, "0", 1) < 0) {
		/* without a cgroup the subreaper finds orphans */
	}
	if (dup2(pipes[0], STDOUT_FILENO) < 0 || dup2(pipes[1], STDERR_FILENO) < 0 ||
	    (s->opt.cwd && chdir(s->opt.cwd) != 0)) {
		*error = errno;
		_exit(127);
	}
	if (s->opt.open_files && getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = s->opt.open_files;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(s->opt.argv[0], s->opt.argv);
	*error = errno;
	_exit(127);
}

/* Tries once. `pipes` are the trainer's ends. Returns 0 or an errno. */
static int spawn_once(struct shim *s, const int *pipes)
{
	volatile int error = 0;
	pid_t pid;

	pid = vfork();
	if (pid < 0)
		return errno;
	if (pid == 0)
		shim_exec_trainer(s, pipes, &error);
	if (error) {
		waitpid(pid, NULL, 0);
		return error;
	}
	s->trainer_pid = pid;
	return 0;
}

/* Retries while processes or memory are short, or the program's file is being written. */
static int shim_spawn_with_retry(struct shim *s, const int *pipes)
{
	double give_up = shim_now() + START_RETRY_SECONDS;
	int error;

	for (;;) {
		error = spawn_once(s, pipes);
		if (error != EAGAIN && error != ENOMEM && error != ETXTBSY)
			return error;
		if (shim_now() >= give_up)
			return error;
		sleep_ms(50);
	}
}

/* The trainer inherits the score that the shim sets for this moment. */
int shim_spawn_trainer(struct shim *s, const int *pipes)
{
	int own = shim_read_oom_score(), error;

	if (own == INT_MAX)
		return shim_spawn_with_retry(s, pipes);
	set_oom_score(own + OOM_SCORE_TRAINER_DELTA);
	error = shim_spawn_with_retry(s, pipes);
	set_oom_score(own);
	return error;
}

static void shim_start_trainer(struct shim *s)
{
	int writers[2];

	clock_gettime(CLOCK_REALTIME, &s->wall_start);
	s->started = s->last_growth = s->next_stall_check = s->memory.next_check = shim_now();
	shim_memory_init(s);
	s->start_errno = open_outputs(s, writers);
	if (!s->start_errno)
		s->start_errno = shim_spawn_trainer(s, writers);
	for (int i = 0; i < 2; i++)
		if (writers[i] >= 0)
			close(writers[i]);
	if (s->start_errno && s->outputs[1].file_fd >= 0)
		dprintf(s->outputs[1].file_fd, "[dpareto: cannot start %s%s%s: %s]\n",
			s->opt.argv[0], s->opt.cwd ? " in " : "", s->opt.cwd ? s->opt.cwd : "",
			strerror(s->start_errno));
}

/* ---- watching the trainer ---- */

void signal_trainer(const struct shim *s, int sig)
{
	kill(-s->trainer_pid, sig);
	/* the trainer may have left its process group */
	kill(s->trainer_pid, sig);
}

/* Sends TERM now, and KILL after the grace time. */
static void stop_trainer(struct shim *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	s->kill_at = shim_now() + s->opt.grace;
	signal_trainer(s, SIGTERM);
	/* a stopped process receives TERM only when it runs again */
	signal_trainer(s, SIGCONT);
}

static void shim_check_stall(struct shim *s, double now)
{
	double pause = s->opt.stall / 4;
	struct stat st;
	off_t size = stat("result.jsonl", &st) == 0 ? st.st_size : 0;

	if (size != s->result_size) {
		s->result_size = size;
		s->last_growth = now;
	} else if (now - s->last_growth >= s->opt.stall) {
		s->stalled = true;
		stop_trainer(s);
	}
	s->next_stall_check = now + (pause < STALL_CHECK_SECONDS ? pause : STALL_CHECK_SECONDS);
}

/* Kills a tree that exceeds its memory limit at once: in a grace time it could use up all memory.
 * Returns when the next check is due. */
static double shim_enforce_memory(struct shim *s, double now)
{
	if (s->killed || !s->opt.memory_limit)
		return INFINITY;
	if (now >= s->memory.next_check)
		shim_memory_check(s, now);
	if (!s->memory.exceeded)
		return s->memory.next_check;
	s->stopping = s->killed = true;
	kill_tree(s);
	return INFINITY;
}

/* Enforces due limits. Returns milliseconds until the next, as a timeout of poll(). */
static int enforce_limits(struct shim *s)
{
	double now = shim_now(), next = INFINITY, look = shim_enforce_memory(s, now);

	if (!s->stopping && s->opt.timeout > 0) {
		next = s->started + s->opt.timeout;
		if (now >= next) {
			s->timed_out = true;
			stop_trainer(s);
		}
	}
	if (!s->stopping && s->opt.stall > 0) {
		if (now >= s->next_stall_check)
			shim_check_stall(s, now);
		if (s->next_stall_check < next)
			next = s->next_stall_check;
	}
	if (s->stopping && !s->killed && now >= s->kill_at) {
		s->killed = true;
		signal_trainer(s, SIGKILL);
	}
	if (s->stopping)
		next = s->killed ? INFINITY : s->kill_at;
	if (!s->killed && look < next)
		next = look;
	if (next == INFINITY)
		return -1;
	if (next - now > INT_MAX / 1000)
		return INT_MAX;
	/* rounded up, to avoid spinning in the last millisecond */
	return next > now ? (int)((next - now) * 1e3) + 1 : 0;
}

void read_signals(struct shim *s)
{
	struct signalfd_siginfo info[8];
	ssize_t n = read(s->signal_fd, info, sizeof info);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof info[0]; i++) {
		if (info[i].ssi_signo == SIGCHLD || s->trainer_ended)
			continue;
		if (info[i].ssi_signo == SIGUSR2)
			s->timed_out |= !s->stopping;
		else
			s->cancelled = true;
		stop_trainer(s);
	}
}

static void shim_watch_trainer(struct shim *s)
{
	enum reap_result reaped = REAP_OTHERS_LIVE;

	while (!s->trainer_ended) {
		struct pollfd p[3] = {
			{ .fd = s->signal_fd, .events = POLLIN },
			{ .fd = s->outputs[0].pipe_fd, .events = POLLIN },
			{ .fd = s->outputs[1].pipe_fd, .events = POLLIN },
		};
		int wait = enforce_limits(s);

		if (poll(p, 3, reaped == REAP_MAYBE_MORE ? 0 : wait) < 0) {
			/* the shim itself may have been stopped: reap what ended meanwhile before
			 * its limits are checked */
			reaped = shim_reap_children(s);
			continue;
		}
		for (int i = 0; i < 2; i++)
			if (p[i + 1].revents)
				copy_output(&s->outputs[i], s->opt.log_limit);
		if (p[0].revents)
			read_signals(s);
		if (p[0].revents || reaped == REAP_MAYBE_MORE)
			reaped = shim_reap_children(s);
	}
}

int main(int argc, char **argv)
{
	static struct shim s;

	shim_parse_options(&s.opt, argc, argv);
	shim_detach_from_caller();
	if (s.opt.is_accountant)
		return shim_run_accountant(&s);
	enter_attempt(&s);
	shim_start_trainer(&s);
	if (s.start_errno) {
		clock_gettime(CLOCK_REALTIME, &s.wall_end);
	} else {
		shim_watch_trainer(&s);
		shim_memory_finish(&s);
		shim_kill_orphans(&s);
		for (int i = 0; i < 2; i++)
			shim_drain_output(&s.outputs[i], s.opt.log_limit);
	}
	shim_cgroup_remove(&s);
	return shim_record_end(&s) ? 0 : EXIT_NOT_RECORDED;
}
