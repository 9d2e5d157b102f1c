/* simulated.c - a cluster that there is not. */
#include "bench/simulated.h"

#include "base/fs.h"
#include "bench/clock.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds. Waits and runs are log-normal: most are short, some are long. */
static const double queue_median = 2, queue_spread = 0.8;
static const double start_median = 1, start_spread = 0.5;
static const double run_median = 60, run_spread = 0.5;
static const double message_mean = 0.3;   /* exponential */
static const double found_again = 60;     /* an answer that was lost: the next survey */
static const double death_noticed = 30;   /* a node that does not answer is given up */
static const double node_down_mean = 600; /* exponential */

enum {
	SIM_STUDIES_MAX = 1024
};

enum sim_phase {
	SIM_SUBMITTED, /* the queue does not look at it yet */
	SIM_QUEUED,
	SIM_RUNNING, /* a node is its own, until it runs and until it ends */
	SIM_GONE,    /* ended; the daemon may not know */
};

enum sim_event_kind {
	SIM_ELIGIBLE,
	SIM_FINISHED,
	SIM_TELL_START,
	SIM_TELL_END,
	SIM_NODE_UP,
};

/* An attempt, which outlives the daemon that gave it. */
struct sim_attempt {
	struct job *job; /* of the daemon that lives now, or NULL */
	struct sim_attempt *next_queued;
	uint32_t study, trial, attempt;
	enum sim_phase phase;
	unsigned events; /* that are to come and point here, and the queue */
	bool over;       /* the daemon has recorded its end */
	bool told_start, told_end, cancelled;
	char *folder;
	double metrics[BENCH_OBJECTIVES];
	/* drawn */
	double queue, start, run, died_at; /* died_at: seconds of its run; NaN: it lives */
	double down, start_told, end_told;
	bool unknown; /* the first question about it gets no answer */
	int64_t submitted, begun, ended;
};

struct sim_event {
	int64_t when;
	uint64_t number; /* of two at the same time the older one comes first */
	enum sim_event_kind kind;
	struct sim_attempt *a;
};

/* What the cluster knows of a study: its trials' attempts under way. */
struct sim_study {
	struct sim_attempt **of; /* (room) by trial */
	uint32_t room;
	unsigned now, most;
};

static struct {
	struct simulated_options o;
	const struct bench_problem *problem;
	struct simulated_counts counts;
	struct sim_event *heap;
	size_t nheap, heap_room;
	uint64_t numbers;
	unsigned free_nodes, now, unknown;
	struct sim_attempt *first, **last; /* the queue */
	struct sim_study studies[SIM_STUDIES_MAX];
	double cpu;
} sim;

int64_t simulated_now;

static void sim_give_up(const char *what)
{
	fprintf(stderr, "cluster: %s\n", what);
	exit(1);
}

/* ---- what happens when ---- */

static bool sim_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static void sim_swap(size_t i, size_t k)
{
	struct sim_event e = sim.heap[i];

	sim.heap[i] = sim.heap[k];
	sim.heap[k] = e;
}

static void sim_later(double seconds, enum sim_event_kind kind, struct sim_attempt *a)
{
	size_t i = sim.nheap;

	if (i == sim.heap_room) {
		sim.heap_room = 2 * sim.heap_room + 1024;
		sim.heap = realloc(sim.heap, sim.heap_room * sizeof *sim.heap);
		if (!sim.heap)
			sim_give_up("out of memory");
	}
	sim.heap[sim.nheap++] =
		(struct sim_event){ .when = simulated_now + (int64_t)(seconds * 1e6),
				    .number = sim.numbers++,
				    .kind = kind,
				    .a = a };
	if (a)
		a->events++;
	for (; i > 0 && sim_before(&sim.heap[i], &sim.heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim_swap(i, (i - 1) / 2);
}

static struct sim_event sim_take(void)
{
	struct sim_event top = sim.heap[0];
	size_t i = 0, least;

	sim.heap[0] = sim.heap[--sim.nheap];
	for (;; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < sim.nheap; k++)
			if (sim_before(&sim.heap[k], &sim.heap[least]))
				least = k;
		if (least == i)
			return top;
		sim_swap(i, least);
	}
}

int64_t simulated_next(void)
{
	return sim.nheap ? sim.heap[0].when : INT64_MAX;
}

/* ---- attempts ---- */

static void sim_free(struct sim_attempt *a)
{
	if (!a->over || a->events)
		return;
	free(a->folder);
	free(a);
}

static double log_normal(struct dp_rng *r, double median, double spread)
{
	return median * exp(spread * dp_rng_normal(r));
}

/* How long until the daemon hears of something. */
static double draw_message(struct dp_rng *r)
{
	double seconds = message_mean * dp_rng_exponential(r);

	if (dp_rng_uniform(r) >= sim.o.lost)
		return seconds;
	sim.counts.lost++;
	return seconds + found_again;
}

static void sim_draw(struct sim_attempt *a)
{
	struct dp_rng r;

	dp_rng_init(&r, sim.o.seed + ((uint64_t)a->study << 32), DP_RNG_TEST, a->trial, a->attempt);
	a->queue = log_normal(&r, queue_median, queue_spread);
	a->start = log_normal(&r, start_median, start_spread);
	a->run = log_normal(&r, run_median, run_spread);
	a->died_at = dp_rng_uniform(&r) < sim.o.failures ? a->run * dp_rng_uniform(&r) : NAN;
	a->down = node_down_mean * dp_rng_exponential(&r);
	a->start_told = draw_message(&r);
	a->end_told = draw_message(&r);
	a->unknown = dp_rng_uniform(&r) < sim.o.lost;
}

/* The place of a trial's attempt; it is made. */
static struct sim_attempt **sim_slot(uint32_t study, uint32_t trial)
{
	struct sim_study *s = &sim.studies[study % SIM_STUDIES_MAX];

	if (trial >= s->room) {
		uint32_t room = 2 * trial + 1024;

		s->of = realloc(s->of, room * sizeof *s->of);
		if (!s->of)
			sim_give_up("out of memory");
		memset(s->of + s->room, 0, (room - s->room) * sizeof *s->of);
		s->room = room;
	}
	return &s->of[trial];
}

/* What the trainer would measure: it knows the point from its request. */
static void sim_measure(struct sim_attempt *a, const double *x)
{
	double none[BENCH_CONSTRAINTS];

	sim.problem->eval(x, a->metrics, none);
}

static struct sim_attempt *sim_new(struct job *j)
{
	uint32_t study = j->study->state->id;
	struct sim_attempt **slot = sim_slot(study, j->trial), *a = calloc(1, sizeof *a);
	struct sim_study *s = &sim.studies[study % SIM_STUDIES_MAX];

	if (!a || !(a->folder = strdup(j->directory)))
		sim_give_up("out of memory");
	sim.counts.twice += *slot != NULL;
	*slot = a;
	a->study = study;
	a->trial = j->trial;
	a->attempt = j->attempt;
	a->submitted = simulated_now;
	sim_draw(a);
	sim_measure(a, j->x);
	sim.counts.attempts++;
	if (++sim.now > sim.counts.most)
		sim.counts.most = sim.now;
	if (++s->now > s->most)
		s->most = s->now;
	return a;
}

/* The daemon has recorded its end: nobody needs its files any more. */
static void sim_over(struct sim_attempt *a)
{
	a->over = true;
	*sim_slot(a->study, a->trial) = NULL;
	sim.studies[a->study % SIM_STUDIES_MAX].now--;
	sim.now--;
	if (dp_remove_tree(a->folder, NULL) != DP_OK)
		sim_give_up("a folder cannot be removed");
	sim_free(a);
}

/* ---- nodes and their queue ---- */

static bool sim_lives(const struct sim_attempt *a)
{
	return isnan(a->died_at);
}

static void sim_begin(struct sim_attempt *a)
{
	double run = sim_lives(a) ? a->run : a->died_at;

	sim.free_nodes--;
	a->phase = SIM_RUNNING;
	a->begun = simulated_now;
	sim.counts.waited += (double)(a->begun - a->submitted) / 1e6;
	sim_later(a->start + a->start_told, SIM_TELL_START, a);
	sim_later(a->start + run, SIM_FINISHED, a);
}

static void sim_dispatch(void)
{
	struct sim_attempt *a;

	while (sim.free_nodes > 0 && (a = sim.first) != NULL) {
		sim.first = a->next_queued;
		if (!sim.first)
			sim.last = &sim.first;
		a->events--;
		if (a->phase == SIM_QUEUED)
			sim_begin(a);
		sim_free(a);
	}
}

static void sim_enqueue(struct sim_attempt *a)
{
	if (a->phase != SIM_SUBMITTED)
		return; /* it was cancelled */
	a->phase = SIM_QUEUED;
	a->events++; /* the queue points here, too */
	a->next_queued = NULL;
	*sim.last = a;
	sim.last = &a->next_queued;
	sim_dispatch();
}

static void sim_write(const struct sim_attempt *a, const char *name, const char *text)
{
	char path[600];
	ssize_t len = (ssize_t)strlen(text);
	int fd;

	snprintf(path, sizeof path, "%s/%s", a->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)len) != len || close(fd) != 0)
		sim_give_up("a result cannot be written");
}

/* The files that a shim and a trainer leave; a node that dies leaves none. */
static void sim_leave_files(const struct sim_attempt *a)
{
	char line[200];

	if (a->cancelled) {
		sim_write(a, "exit.json", "{\"signal\":15,\"cancelled\":true}");
		return;
	}
	if (!sim_lives(a))
		return;
	snprintf(line, sizeof line,
		 "{\"run\":0,\"metrics\":{\"e\":%.17g,\"u\":%.17g}}\n{\"done\":true}\n",
		 a->metrics[0], a->metrics[1]);
	sim_write(a, "result.jsonl", line);
	sim_write(a, "exit.json", "{\"code\":0}");
}

static void sim_finish(struct sim_attempt *a)
{
	double taken = (double)(simulated_now - a->begun) / 1e6;
	bool died = !sim_lives(a) && !a->cancelled;

	if (a->phase == SIM_GONE)
		return;
	a->phase = SIM_GONE;
	a->ended = simulated_now;
	sim_leave_files(a);
	if (died) {
		sim.counts.deaths++;
		sim.counts.wasted += taken + death_noticed;
		sim_later(a->down, SIM_NODE_UP, NULL);
	} else {
		sim.counts.used += a->cancelled ? 0 : a->run;
		sim.free_nodes++;
		sim_dispatch();
	}
	sim_later(a->end_told + (died ? death_noticed : 0), SIM_TELL_END, a);
}

/* ---- the executor ---- */

/* A daemon begins, and has asked nothing yet. */
static int sim_open(struct executor *b, struct dp_err *err)
{
	(void)b;
	(void)err;
	sim.unknown = 0;
	return DP_OK;
}

static int sim_start(struct executor *b, struct job *j, struct dp_err *err)
{
	int code = launch_prepare(j, err);
	double before = bench_thread_cpu();
	struct sim_attempt *a;

	(void)b;
	if (code != DP_OK)
		return code;
	a = sim_new(j);
	a->job = j;
	j->executor_data = a;
	sim_later(a->queue, SIM_ELIGIBLE, a);
	sim.cpu += bench_thread_cpu() - before;
	return DP_OK;
}

static void sim_tell_start(struct sim_attempt *a)
{
	if (a->told_start || !a->job)
		return;
	a->told_start = true;
	job_on_started(a->job, "a node that there is not");
}

static void sim_tell_end(struct sim_attempt *a)
{
	if (a->told_end)
		return;
	a->told_end = true; /* whoever adopts it later hears of it then */
	if (!a->job)
		return;
	sim_tell_start(a); /* the end is known before the start where that was lost */
	job_on_ended(a->job);
}

static void sim_adopt(struct executor *b, struct job *j)
{
	struct sim_attempt *a = *sim_slot(j->study->state->id, j->trial);

	(void)b;
	if (!a || a->attempt != j->attempt) {
		job_on_never_started(j);
		return;
	}
	if (a->unknown) {
		a->unknown = false;
		sim.unknown++;
		job_on_unknown(j, "no answer");
		return;
	}
	sim.unknown -= j->phase == JOB_UNKNOWN;
	a->job = j;
	j->executor_data = a;
	a->told_start = true;
	if (a->told_end)
		job_on_ended(j);
	else
		job_on_started(j, "a node that there is not");
}

static void sim_cancel(struct executor *b, struct job *j)
{
	struct sim_attempt *a = j->executor_data;

	(void)b;
	if (!a || a->cancelled || a->phase == SIM_GONE)
		return;
	a->cancelled = true;
	if (a->phase == SIM_RUNNING) {
		sim_later(0, SIM_FINISHED, a);
		return;
	}
	a->phase = SIM_GONE; /* it is taken out of the queue */
	sim_leave_files(a);
	sim_later(a->end_told, SIM_TELL_END, a);
}

static void sim_release(struct executor *b, struct job *j)
{
	struct sim_attempt *a = j->executor_data;
	double before = bench_thread_cpu();

	(void)b;
	j->executor_data = NULL;
	a->job = NULL;
	if (j->phase == JOB_OVER) /* else the daemon has ended */
		sim_over(a);
	sim.cpu += bench_thread_cpu() - before;
}

static unsigned sim_places(const struct executor *b)
{
	(void)b;
	return sim.o.nodes + sim.o.queue;
}

static void sim_why_full(const struct executor *b, char *out, size_t room)
{
	snprintf(out, room, "the cluster takes no more than %u", sim_places(b));
}

static void sim_tick(struct executor *b)
{
	(void)b;
}

static const struct executor_ops simulated_executor = {
	.name = "simulated",
	.open = sim_open,
	.capacity = sim_places,
	.explain_full = sim_why_full,
	.start = sim_start,
	.adopt = sim_adopt,
	.cancel = sim_cancel,
	.tick = sim_tick,
	.release_handle = sim_release,
};
const struct executor_ops *const simulated_executors[] = { &simulated_executor, NULL };

/* ---- the whole ---- */

bool simulated_open(const struct simulated_options *o, const struct bench_problem *p, int64_t now)
{
	memset(&sim, 0, sizeof sim);
	sim.o = *o;
	sim.problem = p;
	sim.free_nodes = o->nodes;
	sim.last = &sim.first;
	simulated_now = now;
	return p != NULL;
}

void simulated_close(void)
{
	for (size_t i = 0; i < SIM_STUDIES_MAX; i++)
		free(sim.studies[i].of);
	free(sim.heap);
}

/* What only the cluster knows of. */
static void sim_happen(const struct sim_event *e)
{
	switch (e->kind) {
	case SIM_ELIGIBLE:
		sim_enqueue(e->a);
		break;
	case SIM_FINISHED:
		sim_finish(e->a);
		break;
	case SIM_NODE_UP:
		sim.free_nodes++;
		sim_dispatch();
		break;
	case SIM_TELL_START:
	case SIM_TELL_END:
		break;
	}
}

void simulated_step(void)
{
	double before = bench_thread_cpu();
	struct sim_event e = sim_take();

	if (e.when > simulated_now)
		simulated_now = e.when;
	sim_happen(&e);
	sim.cpu += bench_thread_cpu() - before;
	if (e.kind == SIM_TELL_START)
		sim_tell_start(e.a);
	else if (e.kind == SIM_TELL_END)
		sim_tell_end(e.a);
	if (e.a) {
		e.a->events--;
		sim_free(e.a);
	}
}

unsigned simulated_unknown(void)
{
	return sim.unknown;
}

unsigned simulated_most_of(uint32_t study)
{
	return sim.studies[study % SIM_STUDIES_MAX].most;
}

const struct simulated_counts *simulated_counts(void)
{
	return &sim.counts;
}

double simulated_cpu(void)
{
	return sim.cpu;
}
