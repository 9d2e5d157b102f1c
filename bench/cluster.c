/* cluster.c - the daemon on a cluster that there is not: its real scheduler, journal and
 * files, driven through virtual time.
 *
 *   cluster                 rows of 10, 100 and 1,000 nodes, within two minutes
 *   cluster -a              the rows of docs/cluster.md, up to 100,000 evaluations
 *   cluster [-n NODES] [-e EVALUATIONS] [-s STUDIES] [-p PARALLEL] [-f FAILURES]
 *           [-l LOST] [-m METHOD] [-o ORDER] [-r RESTARTS] [-S SEED] [-d FOLDER]
 *
 * EVALUATIONS are of all STUDIES together, each of which has at most PARALLEL at once.
 * FAILURES: the share of attempts whose node dies; LOST: of answers that do not arrive.
 * RESTARTS: how often the daemon is killed and started again. Files go to a new folder
 * below FOLDER (/dev/shm), which is removed.
 *
 * Prints one JSON object a row. Ends with 1 and a sentence if an evaluation was lost,
 * ended twice or ran beside another attempt of its own, or a study had more at once than
 * its `parallel`. */
#include "bench/clock.h"
#include "bench/simulated.h"
#include "base/fs.h"
#include "base/json.h"
#include "daemon/api/client_connection.h"
#include "daemon/api/server.h"
#include "daemon/housekeeping.h"
#include "daemon/lifecycle.h"
#include "daemon/studies/scheduler.h"
#include "linalg/linalg.h"
#include "protocol/control/control_protocol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CLUSTER_STUDIES_MAX = 256,
	LOOKS = 50,       /* how often `status` is asked in a row */
	PATIENCE_S = 120, /* of real time, for the daemon to come to rest */
};

struct row {
	unsigned nodes, evaluations, studies, parallel, restarts;
	double failures, lost;
	const char *method, *order;
	uint64_t seed;
};

static struct daemon cluster_d;
static struct daemon_options cluster_settings;
static uv_timer_t patience; /* runs while the daemon has something to do */
static int cluster_fd = -1;
static char cluster_folder[300];
static double looks[LOOKS + 1];
static unsigned nlooks;
static double cluster_rest; /* CPU of this thread for who looks, and for restarts */

static void fail(const char *fmt, ...) DP_PRINTF(1, 2);
static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "cluster: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	if (cluster_folder[0] && dp_remove_tree(cluster_folder, NULL) != DP_OK)
		fprintf(stderr, "cluster: %s is left\n", cluster_folder);
	exit(1);
}

/* ---- the daemon ---- */

/* Does it wait for nothing but time to pass? */
static bool at_rest(struct daemon *d)
{
	return d->loop.active_reqs.count == 0 && !uv_is_active((uv_handle_t *)&d->turn_idle) &&
	       !uv_is_active((uv_handle_t *)&d->clients->requests_idle) && !d->commits->callbacks &&
	       d->commits->durable_ticket == d->commits->last_ticket;
}

static void on_patience(uv_timer_t *t)
{
	(void)t;
	fail("the daemon does not come to rest");
}

/* Real time passes, virtual time does not. */
static void come_to_rest(struct daemon *d)
{
	uv_timer_start(&patience, on_patience, PATIENCE_S * 1000, 0);
	while (!at_rest(d))
		uv_run(&d->loop, UV_RUN_ONCE);
	uv_timer_stop(&patience);
}

static void start_daemon(struct daemon *d)
{
	struct dp_err err;
	int pair[2];

	if (daemon_open(d, &cluster_settings, &err) != DP_OK)
		fail("%s", err.msg);
	uv_timer_init(&d->loop, &patience);
	uv_timer_stop(
		&d->housekeeping->timer); /* what is due is looked at when its time has come */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
	    server_add_fd(d, pair[1], false, &err) != DP_OK)
		fail("no connection to the daemon");
	cluster_fd = pair[0];
}

/* As if it were killed. */
static void stop_daemon(struct daemon *d)
{
	close(cluster_fd);
	daemon_close(d);
}

/* Asks; CPU seconds of the loop's thread until the answer was there. */
static double ask_daemon(struct daemon *d, const char *verb, json_t *fields)
{
	struct dp_buf line = DP_BUF_INIT;
	double before = bench_thread_cpu(), spent;
	struct dp_err err;
	json_t *ok = NULL;
	char chunk[65536];
	ssize_t n;

	dp_control_format_request(&line, verb, fields);
	if (dp_write_all(cluster_fd, line.data, line.len) != 0)
		fail("%s cannot be asked", verb);
	dp_buf_free(&line);
	do {
		uv_run(&d->loop, UV_RUN_NOWAIT);
		n = recv(cluster_fd, chunk, sizeof chunk, MSG_DONTWAIT);
		if (n > 0)
			dp_buf_add(&line, chunk, (size_t)n);
	} while (line.len == 0 || line.data[line.len - 1] != '\n');
	spent = bench_thread_cpu() - before;
	if (dp_control_parse_reply(line.data, line.len, &ok, &err) != DP_OK)
		fail("%s: %s", verb, err.msg);
	json_decref(ok);
	dp_buf_free(&line);
	return spent;
}

static void submit_studies(struct daemon *d, const struct row *r, const struct bench_problem *p)
{
	for (unsigned i = 0; i < r->studies; i++) {
		char text[4096];

		snprintf(text, sizeof text,
			 "study: s%u\nseed: %llu\ndata: public\ntrainer: {command: "
			 "[none], retries: "
			 "20, max_failures: 1000000}\nparameters:\n%sobjectives:\n%s"
			 "anti_ideal: %s\nsearch: {method: %s, evaluations: %u, "
			 "parallel: %u, order: %s}\n",
			 i, (unsigned long long)(r->seed + i), p->params, p->objectives,
			 p->anti_ideal, r->method, r->evaluations / r->studies, r->parallel,
			 r->order);
		ask_daemon(
			d, "submit",
			json_pack("{s:s, s:s, s:s}", "text", text, "path", "s.yaml", "dir", "/"));
	}
}

/* How long an answer keeps the loop busy, in milliseconds. */
static void open_and_replay_once(struct daemon *d)
{
	double before = bench_thread_cpu();
	double spent = ask_daemon(d, "status", json_pack("{s:s}", "study", "s0"));

	if (nlooks < LOOKS)
		looks[nlooks++] = 1e3 * spent;
	come_to_rest(d);
	cluster_rest += bench_thread_cpu() - before;
}

/* ---- virtual time ---- */

/* When the daemon itself wants to be woken. */
static int64_t daemon_next(const struct daemon *d)
{
	int64_t next = simulated_unknown() ? simulated_now + 500000 : INT64_MAX;

	for (uint32_t i = 0; i < d->studies->n; i++)
		if (d->studies->list[i]->next_step.until_us < next)
			next = d->studies->list[i]->next_step.until_us;
	for (const struct executor *b = d->executors->list; b->ops; b++)
		if (b->hold.until_us && b->hold.until_us < next)
			next = b->hold.until_us;
	return next;
}

static unsigned evaluations_ended(const struct daemon *d)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < d->studies->n; i++)
		n += dp_state_count_ended_trials(d->studies->list[i]->state);
	return n;
}

static bool all_finished(const struct daemon *d)
{
	for (uint32_t i = 0; i < d->studies->n; i++)
		if (d->studies->list[i]->state->status == DP_STUDY_RUNNING)
			return false;
	return true;
}

static void time_goes_on(struct daemon *d)
{
	int64_t due = daemon_next(d), next = simulated_next();

	if (due == INT64_MAX && next == INT64_MAX)
		fail("%u evaluations ended, and nothing will ever happen again",
		     evaluations_ended(d));
	if (next <= due) {
		simulated_step();
		return;
	}
	if (due > simulated_now)
		simulated_now = due;
	jobs_retry_unresolved(d);
	scheduler_wake_due(d);
	executors_wake_due(d);
}

/* Right after it heard of something, before it could note that. */
static void kill_daemon(struct daemon *d)
{
	double before = bench_thread_cpu();

	stop_daemon(d);
	start_daemon(d);
	cluster_rest += bench_thread_cpu() - before;
}

/* From the first evaluation to the last. */
static void run_all(struct daemon *d, const struct row *r)
{
	unsigned kills = 0, looked = 0;

	for (;;) {
		unsigned ended;

		come_to_rest(d);
		ended = evaluations_ended(d);
		if (ended * (uint64_t)LOOKS >= (uint64_t)looked * r->evaluations) {
			looked++;
			open_and_replay_once(d);
		}
		if (all_finished(d))
			return;
		time_goes_on(d);
		if (ended * (uint64_t)(r->restarts + 1) > (uint64_t)r->evaluations * (kills + 1) &&
		    kills < r->restarts) {
			kills++;
			kill_daemon(d);
		}
	}
}

/* ---- what must hold ---- */

static void check_study(const struct study *study, const struct row *r)
{
	const struct dp_study_state *s = study->state;
	unsigned expected = r->evaluations / r->studies;

	if (s->status != DP_STUDY_FINISHED || s->ntrials != expected ||
	    s->ok + s->failed + s->diverged != expected || s->open_attempts || s->waiting_trials)
		fail("study %u: %u trials, %u ok, %u failed, %u open of %u", s->id, s->ntrials,
		     s->ok, s->failed, s->open_attempts, expected);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		unsigned good = 0;

		for (uint32_t k = 0; k < t->nattempts; k++)
			good += t->attempts[k].end_class == DP_END_OK;
		if (good != (t->status == DP_TRIAL_OK))
			fail("trial %u of study %u counts %u results", i, s->id, good);
	}
	if (simulated_most_of(s->id) > r->parallel)
		fail("study %u had %u at once", s->id, simulated_most_of(s->id));
}

static void check_all(const struct daemon *d, const struct row *r)
{
	const struct simulated_counts *c = simulated_counts();

	if (d->studies->n != r->studies)
		fail("%u studies are left", d->studies->n);
	for (uint32_t i = 0; i < d->studies->n; i++)
		check_study(d->studies->list[i], r);
	if (c->twice)
		fail("%llu trials had two attempts at once", (unsigned long long)c->twice);
	if (c->most > r->nodes + r->nodes / 10)
		fail("the cluster had %u attempts at once", c->most);
}

/* ---- what is told ---- */

static int compare_cost_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double journal_bytes(void)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof path, "%s/journal/data.mdb", cluster_folder);
	return stat(path, &st) == 0 ? (double)st.st_size : NAN;
}

static double hypervolume_of(struct dp_study_state *s)
{
	dp_state_update_front(s);
	return s->hypervolume;
}

/* CPU seconds of the loop's thread, of all threads, and real ones. */
struct spent {
	double loop, all, wall;
};

static struct spent spent_now(void)
{
	double others = simulated_cpu() + cluster_rest;

	return (struct spent){ bench_thread_cpu() - others, bench_cpu() - others, bench_wall() };
}

static void print_row(const struct row *r, double makespan, double volume, const struct spent *from,
		      const struct spent *to, double replay)
{
	const struct simulated_counts *c = simulated_counts();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	qsort(looks, nlooks, sizeof *looks, compare_cost_doubles);
	printf("{\"nodes\":%u,\"evaluations\":%u,\"studies\":%u,\"parallel\":%u,"
	       "\"method\":\"%s\",\"order\":\"%s\",\"failures\":%g,\"lost\":%g,"
	       "\"restarts\":"
	       "%u,\"seed\":%llu,\"hypervolume\":%.4f,",
	       r->nodes, r->evaluations, r->studies, r->parallel, r->method, r->order, r->failures,
	       r->lost, r->restarts, (unsigned long long)r->seed, volume);
	printf("\"makespan\":%.3f,\"slot_use\":%.4f,\"wasted\":%.4f,\"attempts\":%llu,"
	       "\"deaths\":%llu,\"lost_answers\":%llu,\"most\":%u,\"queue_seconds\":%."
	       "2f,",
	       makespan, c->used / makespan / r->nodes, c->wasted / (c->used + c->wasted),
	       (unsigned long long)c->attempts, (unsigned long long)c->deaths,
	       (unsigned long long)c->lost, c->most, c->waited / (double)c->attempts);
	printf("\"loop_us_per_evaluation\":%.1f,\"cpu_us_per_evaluation\":%.1f,"
	       "\"journal_bytes_per_evaluation\":%.0f,\"status_ms_p50\":%.3f,\"status_ms_"
	       "p99\":%.3f,\"replay_seconds\":%.3f,\"rss_mb\":%.0f,\"wall_seconds\":%.2f}"
	       "\n",
	       1e6 * (to->loop - from->loop) / r->evaluations,
	       1e6 * (to->all - from->all) / r->evaluations, journal_bytes() / r->evaluations,
	       looks[nlooks / 2], looks[nlooks * 99 / 100], replay, (double)usage.ru_maxrss / 1024,
	       to->wall - from->wall);
	fflush(stdout);
}

/* ---- rows ---- */

static void make_settings(const char *below)
{
	snprintf(cluster_folder, sizeof cluster_folder, "%s/dpareto-clusterXXXXXX", below);
	if (!mkdtemp(cluster_folder)) {
		cluster_folder[0] = '\0';
		fail("no folder can be made below %s: -d names another", below);
	}
	cluster_settings = (struct daemon_options){ .state_dir = cluster_folder,
						    .socket_path = "none",
						    .log_file = "/dev/null",
						    .control_fd = -1,
						    .executors = simulated_executors,
						    .simulated_clock_us = &simulated_now };
	cluster_settings.config_source.names[0] = "log_level";
	cluster_settings.config_source.values[0] = "error";
	cluster_settings.config_source.names[1] = "report_interval";
	cluster_settings.config_source.values[1] = "0";
	cluster_settings.config_source.count = 2;
}

static void run_row(const struct row *r, const char *below)
{
	const struct bench_problem *p = &bench_problems[0]; /* dplike */
	struct simulated_options o = { r->seed, r->nodes, r->nodes / 10, r->failures, r->lost };
	struct daemon *d = &cluster_d;
	struct spent from, to;
	int64_t began = INT64_C(1700000000) * 1000000;
	double makespan, volume, replay;

	make_settings(below);
	if (!simulated_open(&o, p, began))
		fail("there is no such problem");
	start_daemon(d);
	from = spent_now();
	submit_studies(d, r, p);
	run_all(d, r);
	to = spent_now();
	makespan = (double)(simulated_now - began) / 1e6;
	check_all(d, r);
	volume = hypervolume_of(d->studies->list[0]->state);
	stop_daemon(d);
	replay = bench_wall();
	start_daemon(d); /* what the journal has is what there was */
	replay = bench_wall() - replay;
	check_all(d, r);
	stop_daemon(d);
	print_row(r, makespan, volume, &from, &to, replay);
	simulated_close();
	if (dp_remove_tree(cluster_folder, NULL) != DP_OK)
		fail("%s cannot be removed", cluster_folder);
}

/* In a process of its own, so that rows do not share memory. */
static bool run_apart(const struct row *r, const char *below)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0) {
		run_row(r, below);
		exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static const struct row quick_rows[] = {
	{ 10, 1000, 1, 10, 0, 0, 0, "random", "asap", 1 },
	{ 10, 1000, 1, 10, 0, 0.1, 0.01, "random", "asap", 1 },
	{ 100, 5000, 1, 100, 0, 0, 0, "random", "asap", 1 },
	{ 100, 5000, 4, 25, 3, 0.1, 0.01, "random", "asap", 1 },
	{ 1000, 10000, 1, 1000, 0, 0.01, 0.01, "random", "asap", 1 },
	{ 64, 300, 1, 64, 0, 0.01, 0.01, "dpareto", "asap", 1 },
};

static const struct row all_rows[] = {
	{ 10, 1000, 1, 10, 0, 0, 0, "random", "asap", 1 },
	{ 10, 1000, 1, 10, 0, 0.01, 0.01, "random", "asap", 1 },
	{ 10, 1000, 1, 10, 0, 0.1, 0.01, "random", "asap", 1 },
	{ 100, 10000, 1, 100, 0, 0, 0, "random", "asap", 1 },
	{ 100, 10000, 1, 100, 0, 0.01, 0.01, "random", "asap", 1 },
	{ 100, 10000, 1, 100, 0, 0.1, 0.01, "random", "asap", 1 },
	{ 1000, 20000, 1, 1000, 0, 0, 0, "random", "asap", 1 },
	{ 1000, 20000, 1, 1000, 0, 0.1, 0.01, "random", "asap", 1 },
	{ 1000, 20000, 16, 64, 10, 0.01, 0.01, "random", "asap", 1 },
	{ 1000, 100000, 1, 1000, 0, 0.01, 0.01, "random", "asap", 1 },
	{ 64, 300, 1, 64, 0, 0.01, 0.01, "dpareto", "asap", 1 },
	{ 64, 300, 1, 64, 0, 0.01, 0.01, "dpareto", "deterministic", 1 },
	{ 64, 1000, 1, 64, 0, 0.01, 0.01, "dpareto", "asap", 1 },
};

static bool run_rows(const struct row *rows, size_t n, const char *below)
{
	bool good = true;

	for (size_t i = 0; i < n; i++)
		good &= run_apart(&rows[i], below);
	return good;
}

int main(int argc, char **argv)
{
	struct row one = { 200, 2000, 2, 100, 0, 0.05, 0.01, "random", "asap", 1 };
	const char *below = "/dev/shm";
	bool all = false, named = false;
	int c;

	dp_linalg_set_single_thread();
	while ((c = getopt(argc, argv, "n:e:s:p:f:l:m:o:r:S:d:a")) != -1) {
		named |= c != 'd' && c != 'a';
		switch (c) {
		case 'n':
			one.nodes = (unsigned)atoi(optarg);
			break;
		case 'e':
			one.evaluations = (unsigned)atoi(optarg);
			break;
		case 's':
			one.studies = (unsigned)atoi(optarg);
			break;
		case 'p':
			one.parallel = (unsigned)atoi(optarg);
			break;
		case 'f':
			one.failures = atof(optarg);
			break;
		case 'l':
			one.lost = atof(optarg);
			break;
		case 'm':
			one.method = optarg;
			break;
		case 'o':
			one.order = optarg;
			break;
		case 'r':
			one.restarts = (unsigned)atoi(optarg);
			break;
		case 'S':
			one.seed = (uint64_t)atoll(optarg);
			break;
		case 'd':
			below = optarg;
			break;
		case 'a':
			all = true;
			break;
		default:
			return 2;
		}
	}
	if (one.studies == 0 || one.studies > CLUSTER_STUDIES_MAX ||
	    one.evaluations < one.studies || one.nodes == 0)
		return 2;
	one.evaluations -= one.evaluations % one.studies;
	if (named)
		run_row(&one, below);
	else if (!run_rows(all ? all_rows : quick_rows,
			   all ? DP_COUNT(all_rows) : DP_COUNT(quick_rows), below))
		return 1;
	return 0;
}
