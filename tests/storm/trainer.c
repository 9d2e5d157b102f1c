/* trainer.c - the trainer of tests/storm: tiny, deterministic, and a witness.
 *
 *   trainer MILLISECONDS [tree]
 *
 * Its metrics are a function of parameters and seeds alone. It notes its start and its
 * end in `notes` beside the study file, and takes a lock that belongs to this trial (or
 * this run of it) alone: if somebody has it, two trainers do the same work at once, and
 * that is noted. With `tree` the work is done by a child in a session of its own, as
 * behind a wrapper script; left alone it takes its time. Static, so that starting it
 * costs little. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of "/state/studies/s/trials/7/1-0/request.json": the end, from the trial on. */
static char key[64];
static int shim;    /* our parent, or that of the wrapper */
static int wrapper; /* our parent, with `tree`; else 0 */

static const char *need(const char *name)
{
	const char *value = getenv(name);

	if (!value) {
		fprintf(stderr, "%s is not set\n", name);
		exit(9);
	}
	return value;
}

/* One line, with the length of recorder.so's log, and with one write, so that lines of
 * many trainers do not mix. */
static void note(const char *what)
{
	const char *log = getenv("RECORDER_LOG");
	char path[4096], line[512];
	struct stat st = { 0 };
	struct timespec t;
	int fd, n;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (log && stat(log, &st) != 0)
		exit(9);
	snprintf(path, sizeof path, "%s/notes", need("DPARETO_STUDY_DIR"));
	n = snprintf(line, sizeof line, "%s %s %s %d %d %lld %lld\n", what, need("DPARETO_STUDY"),
		     key, (int)getpid(), shim, (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000,
		     (long long)st.st_size);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		exit(9);
	close(fd);
}

/* The lock is held until this process, or the child that does its work, has ended. */
static void take_lock(void)
{
	char path[4200], name[64];
	char *dash, *slash;
	int fd;

	snprintf(name, sizeof name, "%s", key);
	slash = strchr(name, '/');
	*slash = '.';
	dash = strchr(name, '-'); /* "7.1-0" is run 1 of trial 7, "7.0" all of it */
	*(dash ? dash : slash) = '\0';
	snprintf(path, sizeof path, "%s/locks", need("DPARETO_STUDY_DIR"));
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		exit(9);
	snprintf(path, sizeof path, "%s/locks/%s.%s", need("DPARETO_STUDY_DIR"),
		 need("DPARETO_STUDY"), name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		exit(9);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		note("twice");
}

static char *read_request(void)
{
	static char text[1 << 20];
	int fd = open(need("DPARETO_REQUEST"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		exit(8);
	text[n] = '\0';
	close(fd);
	return text;
}

static double parameter(const char *request, const char *quoted)
{
	const char *p = strstr(request, quoted);

	return p ? strtod(p + strlen(quoted), NULL) : 0;
}

static void rest(double milliseconds)
{
	struct timespec t = { (time_t)(milliseconds / 1e3), 0 };

	t.tv_nsec = (long)((milliseconds - 1e3 * (double)t.tv_sec) * 1e6);
	nanosleep(&t, NULL);
}

/* Has the wrapper, and so the shim, died before us? */
static bool orphaned(void)
{
	return wrapper && (int)getppid() != wrapper;
}

/* A line for each value of the request's path, worse than the run's own. */
static void walk(const char *request, int fd, long run, const double *own)
{
	const char *p = strstr(request, "\"values\":[");
	char line[256], *end;

	for (p = p ? p + 10 : NULL; p && *p != ']'; p = *end == ',' ? end + 1 : end) {
		double at = strtod(p, &end);
		int n = snprintf(line, sizeof line,
				 "{\"run\":%ld,\"at\":%.17g,\"metrics\":{\"a\":%.17g,"
				 "\"b\":%.17g,\"f1\":%.17g}}\n",
				 run, at, own[0] + 1 / at, own[1] + 1 / at, own[2] - 0.1 / at);

		if (write(fd, line, (size_t)n) != n)
			exit(7);
	}
}

/* The runs that the request asks for, a line each and those of its path, with rests
 * between them. */
static void train(const char *request, double milliseconds)
{
	double x = parameter(request, "\"x\":"), y = parameter(request, "\"y\":");
	const char *p = strstr(request, "\"runs\":[");
	int fd = open(need("DPARETO_RESULT"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	static const char done[] = "{\"done\":true}\n";
	char line[256];

	if (fd < 0)
		exit(7);
	while (p && (p = strstr(p, "\"run\":")) != NULL) {
		long run = strtol(p + 6, NULL, 10);
		const char *s = strstr(p, "\"seed\":");
		double noise = s ? (double)(strtoull(s + 7, NULL, 10) % 10007) / 1e6 : 0;
		const double own[] = { x * x + y / 4 + noise, (1 - x) * (1 - x) + y / 4 + noise,
				       0.5 + (x - noise) / 4 };
		int n = snprintf(line, sizeof line,
				 "{\"run\":%ld,\"metrics\":{\"a\":%.17g,\"b\":%.17g,"
				 "\"f1\":%.17g}}\n",
				 run, own[0], own[1], own[2]);

		walk(request, fd, run, own);
		rest(milliseconds * (0.25 + 75 * noise));
		if (write(fd, line, (size_t)n) != n)
			exit(7);
		p += 6;
	}
	if (orphaned()) /* longer than the daemon waits before it tries again */
		rest(1500);
	if (write(fd, done, sizeof done - 1) != (ssize_t)sizeof done - 1)
		exit(7);
	close(fd);
	note("end");
}

static void find_key(void)
{
	const char *path = need("DPARETO_REQUEST"), *end = strrchr(path, '/');
	const char *from = end;

	for (int slashes = 0; from > path && slashes < 2;)
		slashes += *--from == '/';
	if (!end || from == path)
		exit(9);
	snprintf(key, sizeof key, "%.*s", (int)(end - from - 1), from + 1);
}

int main(int argc, char **argv)
{
	double milliseconds = argc > 1 ? strtod(argv[1], NULL) : 0;
	pid_t child = 0;
	int status = 0;

	find_key();
	shim = (int)getppid();
	wrapper = argc > 2 ? (int)getpid() : 0;
	if (argc > 2 && strcmp(argv[2], "tree") == 0)
		child = fork();
	if (child < 0)
		return 6;
	if (child > 0) {
		if (waitpid(child, &status, 0) != child)
			return 5;
		if (WIFSIGNALED(status)) /* as it ended, so do we */
			raise(WTERMSIG(status));
		return WEXITSTATUS(status);
	}
	if (argc > 2)
		setsid();
	take_lock();
	note("start");
	train(read_request(), milliseconds);
	return 0;
}
