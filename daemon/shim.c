/* shim.c - dpareto-shim, the resident parent of one trainer.
 *
 * It claims the attempt's folder, starts the trainer, caps what it prints, enforces
 * its limits, kills what it leaves behind and records how it ended. It is a program
 * of its own, linked statically and knowing nothing but libc, because it must outlive
 * the daemon, run on cluster nodes, and start thousands of times cheaply.
 *
 * What it leaves in the folder is described in docs/trainer-protocol.md. */
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

enum {
	EXIT_NOT_RECORDED = 1, /* also: failed before anything was claimed */
	EXIT_USAGE = 2,
	EXIT_CLAIMED = 75, /* somebody else has this attempt */
};

#define SYNC_FROM_SECONDS  1.0 /* trainers that ran longer are worth a disk sync */
#define LEFTOVER_SECONDS   5.0 /* how long to hunt what the trainer left behind */
#define DRAIN_SECONDS      1.0 /* how long to empty a pipe that is still written to */
#define RECORD_SECONDS     3.0 /* how long to try to write exit.json */
#define START_SECONDS      2.0 /* how long to retry a start that may soon succeed */
#define STALL_LOOK_SECONDS 1.0 /* at most this long between two looks for growth */

enum {
	REAP_BATCH = 1024
};

enum reaped {
	REAPED_LAST,  /* there is no child any more */
	REAPED_ENDED, /* all that had ended; others live */
	REAPED_SOME,  /* there may be more to reap */
};

struct options {
	const char *dir, *cwd;
	double timeout, stall; /* seconds; 0: none */
	double grace;          /* seconds between TERM and KILL */
	uint64_t log_limit;    /* bytes kept of stdout, and of stderr */
	uint64_t open_files;   /* the trainer's soft limit; 0: as it is */
	char **argv;
};

/* One of the trainer's two outputs: read from a pipe, kept in a file. */
struct output {
	int in, file;        /* -1: closed, or could not be opened */
	uint64_t seen, kept; /* bytes */
	bool cut;            /* the limit was passed and the file says so */
	int error; /* errno of the first failed write; nothing is kept after it */
};

struct shim {
	struct options opt;
	pid_t self, trainer; /* the trainer's process group has the trainer's number */
	int signals;         /* signalfd */
	struct output out[2];

	double started;             /* monotonic */
	struct timespec start, end; /* wall clock, for people */
	bool timed_out, stalled, cancelled;
	bool stopping, killed;   /* TERM was sent; KILL was sent */
	double kill_at;          /* monotonic, when stopping */
	double look_at, grew_at; /* monotonic: next look at result.jsonl, last growth */
	off_t size;              /* of result.jsonl at the last look */

	bool ended;       /* the trainer was reaped */
	int status;       /* as of waitpid */
	int start_error;  /* errno: it could not be started at all */
	bool left_behind; /* gave up on descendants that would not die */
};

static double monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* ---- the command line ---- */

static const char usage_text[] =
	"usage: dpareto-shim --dir DIR [options] -- PROGRAM [ARGUMENT...]\n"
	"\n"
	"Runs one trainer in the attempt folder DIR and records its end in exit.json.\n"
	"dparetod starts it; there is rarely a reason to start it by hand.\n"
	"\n"
	"  --dir DIR          the attempt's folder; DIR/claim must not exist\n"
	"  --timeout SECONDS  end the trainer after this time (0: never; default 0)\n"
	"  --grace SECONDS    time between TERM and KILL (default 10)\n"
	"  --stall SECONDS    end it when DIR/result.jsonl has not grown for this long\n"
	"                     (0: never; default 0)\n"
	"  --log-limit BYTES  keep this much of stdout and of stderr (default 16 MiB)\n"
	"  --open-files N     the trainer's soft limit of open files (default: "
	"unchanged)\n"
	"  --cwd DIR          working folder of the trainer (default: the attempt's)\n"
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

static void shim_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "timeout", required_argument, NULL, 't' },
		{ "grace", required_argument, NULL, 'g' },
		{ "stall", required_argument, NULL, 's' },
		{ "log-limit", required_argument, NULL, 'l' },
		{ "open-files", required_argument, NULL, 'n' },
		{ "cwd", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	o->grace = 10;
	o->log_limit = 16 << 20;
	while ((c = getopt_long(argc, argv, "+h", known, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->dir = optarg;
			break;
		case 't':
			o->timeout = parse_seconds("--timeout is not a time in seconds",
						   optarg);
			break;
		case 'g':
			o->grace =
				parse_seconds("--grace is not a time in seconds", optarg);
			break;
		case 's':
			o->stall =
				parse_seconds("--stall is not a time in seconds", optarg);
			break;
		case 'l':
			o->log_limit = parse_bytes("--log-limit is not a number of bytes",
						   optarg);
			break;
		case 'n':
			o->open_files =
				parse_bytes("--open-files is not a number", optarg);
			break;
		case 'c':
			o->cwd = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs("Try 'dpareto-shim --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (!o->dir)
		usage_error("--dir is missing", NULL);
	if (optind >= argc)
		usage_error("no program was given", NULL);
	o->argv = argv + optind;
}

/* ---- taking the attempt ---- */

static void die(const char *what, const char *name)
{
	fprintf(stderr, "dpareto-shim: %s %s: %s\n", what, name, strerror(errno));
	exit(EXIT_NOT_RECORDED);
}

/* When this process started, in clock ticks since boot: with its number that is an
 * identity, which the number alone is not. 0 without /proc. */
static unsigned long long own_start_time(void)
{
	unsigned long long ticks = 0;
	char text[1024], *p;
	ssize_t n;
	int fd;

	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* the second field is the program's name, which may hold spaces and ')' */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p, "%llu", &ticks);
	return ticks;
}

/* Creates `claim` or ends the program. The file is written and locked under another
 * name first, so that nobody ever sees a claim that is empty or not locked by a
 * living owner; link() refuses an existing name as O_EXCL does. The descriptor is
 * kept until this process dies, and the lock with it. */
static void claim_attempt(pid_t self)
{
	unsigned long long start = own_start_time();
	char name[64], text[64];
	int fd, n;

	snprintf(name, sizeof name, "claim.%d.%llu", (int)self, start);
	n = snprintf(text, sizeof text, "%d %llu\n", (int)self, start);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		die("cannot create", name);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || write(fd, text, (size_t)n) != n) {
		int e = errno;

		unlink(name);
		errno = e;
		die("cannot write", name);
	}
	if (link(name, "claim") != 0) {
		int e = errno;

		unlink(name);
		if (e == EEXIST)
			exit(EXIT_CLAIMED);
		errno = e;
		die("cannot create", "claim");
	}
	unlink(name);
}

/* Leaves the caller's terminal, signals and files, and enters the folder. */
static void detach(struct shim *s)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t all, watched;
	int null;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* inherited as ignored it would reap children behind our back */
	sigaction(SIGCHLD, &normal, NULL);
	closefrom(3);
	/* Fails for a group leader, which is somebody trying it from a shell: then the
	 * terminal may cancel it as it may any other command. */
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (chdir(s->opt.dir) != 0)
		die("cannot enter", s->opt.dir);
	do /* also fills 0 to 2 if the caller closed them, so that no file lands there */
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	if (null < 0)
		die("cannot open", "/dev/null");
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGINT);
	s->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		die("cannot watch", "signals");
	s->self = getpid();
	claim_attempt(s->self);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close(null);
}

/* ---- the trainer's output ---- */

static void write_all(struct output *o, const char *p, size_t n)
{
	while (n > 0 && o->file >= 0 && !o->error) {
		ssize_t written = write(o->file, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			o->error = errno;
			return;
		}
		p += written;
		n -= (size_t)written;
		o->kept += (uint64_t)written;
	}
}

/* Moves what the pipe holds now, at most one buffer. A full disk or a passed limit
 * never stops the reading: a trainer must not block on what it prints. */
static void copy_output(struct output *o, uint64_t limit)
{
	static char buffer[64 << 10];
	char note[80];
	uint64_t room;
	ssize_t n;

	n = read(o->in, buffer, sizeof buffer);
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(o->in);
		o->in = -1;
		return;
	}
	room = limit > o->seen ? limit - o->seen : 0;
	o->seen += (uint64_t)n;
	write_all(o, buffer, room < (uint64_t)n ? (size_t)room : (size_t)n);
	if ((uint64_t)n > room && !o->cut) {
		o->cut = true;
		snprintf(note, sizeof note,
			 "\n[dpareto: output beyond %llu bytes was dropped]\n",
			 (unsigned long long)limit);
		write_all(o, note, strlen(note));
	}
}

/* Takes what is left in the pipe without waiting for its end: a process that escaped
 * may hold the other side for ever. */
static void finish_output(struct output *o, uint64_t limit)
{
	double give_up = monotonic() + DRAIN_SECONDS;
	char note[160];

	while (o->in >= 0 && monotonic() < give_up) {
		struct pollfd p = { .fd = o->in, .events = POLLIN };

		if (poll(&p, 1, 0) != 1)
			break;
		copy_output(o, limit);
	}
	if (o->error) {
		snprintf(note, sizeof note,
			 "\n[dpareto: output after %llu bytes was lost: %s]\n",
			 (unsigned long long)o->kept, strerror(o->error));
		o->error = 0; /* there may be room again */
		write_all(o, note, strlen(note));
	}
}

/* ---- starting it ---- */

/* The child's side. It shares this process's memory until exec (vfork), so it only
 * makes system calls and leaves the reason of a failure in *error. */
static void become_trainer(const struct shim *s, const int *pipes, volatile int *error)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	struct rlimit files;
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &normal, NULL);
	setpgid(0, 0);
	/* If the shim is killed its lock is gone and the attempt may be tried again:
	 * the trainer must not go on beside that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->self)
		_exit(127);
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

/* One try. `pipes` are the ends that the trainer writes to. Returns 0 or errno. */
static int spawn_once(struct shim *s, const int *pipes)
{
	volatile int error = 0;
	pid_t pid;

	pid = vfork();
	if (pid < 0)
		return errno;
	if (pid == 0)
		become_trainer(s, pipes, &error);
	if (error) {
		waitpid(pid, NULL, 0);
		return error;
	}
	s->trainer = pid;
	return 0;
}

/* A machine out of processes or memory, or a program that is just being written,
 * may be able to start it a moment later. */
static int spawn(struct shim *s, const int *pipes)
{
	double give_up = monotonic() + START_SECONDS;
	int error;

	for (;;) {
		error = spawn_once(s, pipes);
		if (error != EAGAIN && error != ENOMEM && error != ETXTBSY)
			return error;
		if (monotonic() >= give_up)
			return error;
		sleep_ms(50);
	}
}

static void shim_start(struct shim *s)
{
	static const char *const names[2] = { "stdout", "stderr" };
	int writers[2] = { -1, -1 };

	clock_gettime(CLOCK_REALTIME, &s->start);
	s->started = s->grew_at = s->look_at = monotonic();
	for (int i = 0; i < 2; i++) {
		int ends[2];

		s->out[i].file =
			open(names[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		s->out[i].in = -1;
		if (pipe2(ends, O_CLOEXEC) != 0) {
			s->start_error = errno;
			continue;
		}
		s->out[i].in = ends[0];
		writers[i] = ends[1];
	}
	if (!s->start_error)
		s->start_error = spawn(s, writers);
	for (int i = 0; i < 2; i++)
		close(writers[i]);
	if (s->start_error && s->out[1].file >= 0)
		dprintf(s->out[1].file, "[dpareto: cannot start %s%s%s: %s]\n",
			s->opt.argv[0], s->opt.cwd ? " in " : "",
			s->opt.cwd ? s->opt.cwd : "", strerror(s->start_error));
}

/* ---- watching it ---- */

static void signal_trainer(const struct shim *s, int sig)
{
	kill(-s->trainer, sig);
	/* it may have left its group */
	kill(s->trainer, sig);
}

/* TERM now, KILL after the grace time. */
static void stop_trainer(struct shim *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	s->kill_at = monotonic() + s->opt.grace;
	signal_trainer(s, SIGTERM);
	/* a stopped process sees no TERM before it runs again */
	signal_trainer(s, SIGCONT);
}

static void look_for_growth(struct shim *s, double now)
{
	double pause = s->opt.stall / 4;
	struct stat st;
	off_t size = stat("result.jsonl", &st) == 0 ? st.st_size : 0;

	if (size != s->size) {
		s->size = size;
		s->grew_at = now;
	} else if (now - s->grew_at >= s->opt.stall) {
		s->stalled = true;
		stop_trainer(s);
	}
	s->look_at = now + (pause < STALL_LOOK_SECONDS ? pause : STALL_LOOK_SECONDS);
}

/* Does what is due, and returns the time until something can be due next, in
 * milliseconds for poll(). */
static int enforce_limits(struct shim *s)
{
	double now = monotonic(), next = INFINITY;

	if (!s->stopping && s->opt.timeout > 0) {
		next = s->started + s->opt.timeout;
		if (now >= next) {
			s->timed_out = true;
			stop_trainer(s);
		}
	}
	if (!s->stopping && s->opt.stall > 0) {
		if (now >= s->look_at)
			look_for_growth(s, now);
		if (s->look_at < next)
			next = s->look_at;
	}
	if (s->stopping && !s->killed && now >= s->kill_at) {
		s->killed = true;
		signal_trainer(s, SIGKILL);
	}
	if (s->stopping)
		next = s->killed ? INFINITY : s->kill_at;
	if (next == INFINITY)
		return -1;
	if (next - now > INT_MAX / 1000)
		return INT_MAX;
	/* rounded up, or the last millisecond would be spent spinning */
	return next > now ? (int)((next - now) * 1e3) + 1 : 0;
}

/* Reaps what has ended, a batch at a time: a tree that forks and dies faster than it
 * can be reaped must not keep this process from its other duties. */
static enum reaped reap(struct shim *s)
{
	int status;
	pid_t pid;

	for (int n = 0; n < REAP_BATCH; n++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return REAPED_LAST;
		if (pid == 0)
			return REAPED_ENDED;
		if (pid != s->trainer || s->ended)
			continue;
		clock_gettime(CLOCK_REALTIME, &s->end);
		s->status = status;
		s->ended = true;
	}
	return REAPED_SOME;
}

static void read_signals(struct shim *s)
{
	struct signalfd_siginfo info[8];
	ssize_t n = read(s->signals, info, sizeof info);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof info[0]; i++) {
		if (info[i].ssi_signo == SIGCHLD || s->ended)
			continue;
		s->cancelled = true;
		stop_trainer(s);
	}
}

static void watch(struct shim *s)
{
	enum reaped reaped = REAPED_ENDED;

	while (!s->ended) {
		struct pollfd p[3] = {
			{ .fd = s->signals, .events = POLLIN },
			{ .fd = s->out[0].in, .events = POLLIN },
			{ .fd = s->out[1].in, .events = POLLIN },
		};
		int wait = enforce_limits(s);

		if (poll(p, 3, reaped == REAPED_SOME ? 0 : wait) < 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (p[i + 1].revents)
				copy_output(&s->out[i], s->opt.log_limit);
		if (p[0].revents)
			read_signals(s);
		if (p[0].revents || reaped == REAPED_SOME)
			reaped = reap(s);
	}
}

/* ---- afterwards ---- */

/* KILL to every child, by groups: a group is killed whole, which a process that keeps
 * forking cannot outrun. A child pins its group's number until it is reaped, so no
 * stranger can be hit. */
static void kill_children(void)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	pid_t own = getpgrp();
	int pid;

	if (!list)
		return;
	while (fscanf(list, "%d", &pid) == 1) {
		pid_t group = getpgid(pid);

		kill(group > 1 && group != own ? -group : pid, SIGKILL);
	}
	fclose(list);
}

/* The trainer has ended; what descends from it has lost its purpose. Orphans of any
 * depth come to this process as their subreaper, so when it has no child there is
 * nothing left. */
static void kill_leftovers(struct shim *s)
{
	double give_up = monotonic() + LEFTOVER_SECONDS;
	enum reaped reaped;

	while ((reaped = reap(s)) != REAPED_LAST) {
		struct pollfd p = { .fd = s->signals, .events = POLLIN };

		if (monotonic() >= give_up) {
			s->left_behind = true;
			return;
		}
		kill_children();
		if (reaped == REAPED_ENDED && poll(&p, 1, 5) > 0)
			read_signals(s);
	}
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* exit.json as one line; returns its length. */
static int describe_end(const struct shim *s, char *text, size_t room)
{
	struct rusage used;
	char how[64];

	if (s->start_error) {
		const char *name = strerrorname_np(s->start_error);

		snprintf(how, sizeof how, "\"exec\":\"%s\"", name ? name : "EUNKNOWN");
	} else if (WIFSIGNALED(s->status)) {
		snprintf(how, sizeof how, "\"signal\":%d", WTERMSIG(s->status));
	} else {
		snprintf(how, sizeof how, "\"code\":%d", WEXITSTATUS(s->status));
	}
	getrusage(RUSAGE_CHILDREN, &used);
	return snprintf(text, room,
			"{%s%s%s%s,\"start\":%lld.%06ld,\"end\":%lld.%06ld,"
			"\"cpu_seconds\":%.6f,\"peak_memory\":%lld,"
			"\"stdout_bytes\":%llu,\"stderr_bytes\":%llu%s}\n",
			s->timed_out ? "\"timeout\":true," : "",
			s->stalled ? "\"stalled\":true," : "",
			s->cancelled ? "\"cancelled\":true," : "", how,
			(long long)s->start.tv_sec, s->start.tv_nsec / 1000,
			(long long)s->end.tv_sec, s->end.tv_nsec / 1000,
			seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
			(long long)used.ru_maxrss * 1024,
			(unsigned long long)s->out[0].seen,
			(unsigned long long)s->out[1].seen,
			s->left_behind ? ",\"left_behind\":true" : "");
}

/* Gives the record its name; a folder that a trainer put there goes out of the way. */
static bool publish(const char *temporary)
{
	return rename(temporary, "exit.json") == 0 ||
	       (rename("exit.json", "exit.json.moved") == 0 &&
		rename(temporary, "exit.json") == 0);
}

/* The temporary file is a new one, whatever a trainer has left under its name: opening a
 * FIFO would hang us for ever. */
static bool write_record(const char *text, size_t len, bool sync)
{
	char name[64];
	bool ok;
	int fd;

	snprintf(name, sizeof name, "exit.json.%d.tmp", (int)getpid());
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	ok = write(fd, text, len) == (ssize_t)len && (!sync || fdatasync(fd) == 0);
	return close(fd) == 0 && ok && publish(name);
}

/* Records the end; the daemon learns of it by this file alone. */
static bool record_end(const struct shim *s)
{
	double give_up = monotonic() + RECORD_SECONDS;
	bool sync = monotonic() - s->started > SYNC_FROM_SECONDS;
	char text[512];
	int len = describe_end(s, text, sizeof text);

	/* A short training is cheap to repeat after a power cut, a long one is worth the
	 * milliseconds that a sync costs. */
	if (sync) {
		int fd = open("result.jsonl",
			      O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0) {
			fdatasync(fd);
			close(fd);
		}
	}
	while (!write_record(text, (size_t)len, sync)) {
		if (monotonic() >= give_up)
			return false;
		sleep_ms(100);
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct shim s;

	shim_options(&s.opt, argc, argv);
	detach(&s);
	shim_start(&s);
	if (s.start_error) {
		clock_gettime(CLOCK_REALTIME, &s.end);
	} else {
		watch(&s);
		kill_leftovers(&s);
		for (int i = 0; i < 2; i++)
			finish_output(&s.out[i], s.opt.log_limit);
	}
	return record_end(&s) ? 0 : EXIT_NOT_RECORDED;
}
