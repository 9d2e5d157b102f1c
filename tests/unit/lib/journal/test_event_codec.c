/* test_event_codec.c - journal records: round trips, stored bytes, damage, dumps. */
#include "base/json.h"
#include "base/rng.h"
#include "journal/journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

static const double odd[] = { 0.1,  -0.0,     0.0,   INFINITY, -INFINITY,   64,
			      -7,   5e-324,   1e308, 0x1p53,   0x1p53 + 2,  -0x1p63,
			      1e19, 1.0 / 3., 255.0, -129,     4294967296.0 };
static const char *const names[] = { "f1", "accuracy" };
static const uint32_t runs[] = { 0, 3, 70000 };

static double from_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static void assert_same_doubles(const double *a, const double *b, size_t n)
{
	if (n)
		assert_memory_equal(a, b, n * sizeof *a);
}

static void assert_same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void assert_same_exit(const struct dp_exit_record *a, const struct dp_exit_record *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->value, b->value);
	assert_string_equal(a->exec_errno, b->exec_errno);
	assert_same_doubles(&a->start_seconds, &b->start_seconds, 1);
	assert_same_doubles(&a->end_seconds, &b->end_seconds, 1);
	assert_same_doubles(&a->cpu_seconds, &b->cpu_seconds, 1);
	assert_true(a->peak_memory == b->peak_memory);
	assert_true(a->stdout_bytes == b->stdout_bytes);
	assert_true(a->stderr_bytes == b->stderr_bytes);
}

static void assert_same_point(const struct dp_event_point *a, const struct dp_event_point *b)
{
	assert_same_text(a->source, b->source);
	assert_int_equal(a->nparams, b->nparams);
	assert_same_doubles(a->params, b->params, a->nparams);
	assert_int_equal(a->nprivacy, b->nprivacy);
	assert_same_doubles(a->privacy, b->privacy, a->nprivacy);
	assert_int_equal(a->nrenyi, b->nrenyi);
	assert_same_doubles(a->renyi, b->renyi, a->nrenyi);
}

static void assert_same_end(const struct dp_ev_attempt_ended *a,
			    const struct dp_ev_attempt_ended *b)
{
	assert_int_equal(a->end_class, b->end_class);
	assert_int_equal(a->charged, b->charged);
	assert_int_equal(a->never_ran, b->never_ran);
	assert_same_exit(&a->exit, &b->exit);
	assert_int_equal(a->nmetrics, b->nmetrics);
	for (uint32_t i = 0; i < a->nmetrics; i++)
		assert_string_equal(a->metric_names[i], b->metric_names[i]);
	assert_int_equal(a->nruns, b->nruns);
	for (uint32_t i = 0; i < a->nruns; i++)
		assert_int_equal(a->runs[i], b->runs[i]);
	assert_same_doubles(a->metrics, b->metrics, (size_t)a->nruns * a->nmetrics);
	assert_int_equal(a->ncheckpoints, b->ncheckpoints);
	assert_same_doubles(a->checkpoints, b->checkpoints, a->ncheckpoints);
	assert_int_equal(a->ncheckpoint_metrics, b->ncheckpoint_metrics);
	assert_same_doubles(a->checkpoint_metrics, b->checkpoint_metrics, a->ncheckpoint_metrics);
	assert_int_equal(a->ncheckpoint_epsilons, b->ncheckpoint_epsilons);
	assert_same_doubles(a->checkpoint_epsilons, b->checkpoint_epsilons,
			    a->ncheckpoint_epsilons);
	assert_same_text(a->declaration.sampling, b->declaration.sampling);
	assert_same_doubles(&a->declaration.records, &b->declaration.records, 4);
	assert_same_text(a->result_sha256, b->result_sha256);
}

static void assert_same_study(const struct dp_ev_study_created *a,
			      const struct dp_ev_study_created *b)
{
	assert_same_text(a->name, b->name);
	assert_same_text(a->text, b->text);
	assert_same_text(a->path, b->path);
	assert_same_text(a->dir, b->dir);
	assert_same_text(a->secret, b->secret);
	assert_same_text(a->seeds, b->seeds);
	assert_int_equal(a->nfiles, b->nfiles);
	for (uint32_t i = 0; i < a->nfiles; i++)
		assert_string_equal(a->files[i], b->files[i]);
}

static void assert_same_amendment(const struct dp_ev_study_amended *a,
				  const struct dp_ev_study_amended *b)
{
	assert_same_text(a->text, b->text);
	assert_same_text(a->path, b->path);
	assert_same_text(a->dir, b->dir);
	assert_same_doubles(&a->evaluations, &b->evaluations, 1);
	assert_same_doubles(&a->parallel, &b->parallel, 1);
	assert_same_doubles(&a->priority, &b->priority, 1);
	assert_int_equal(a->nchanges, b->nchanges);
	for (uint32_t i = 0; i < a->nchanges; i++)
		assert_string_equal(a->changes[i], b->changes[i]);
}

static void assert_same_accounting(const struct dp_ev_accounting_fixed *a,
				   const struct dp_ev_accounting_fixed *b)
{
	assert_int_equal(a->norders, b->norders);
	assert_same_doubles(a->orders, b->orders, a->norders);
	assert_int_equal(a->nweights, b->nweights);
	assert_same_doubles(a->weights, b->weights, a->nweights);
	assert_memory_equal(&a->filter, &b->filter, sizeof a->filter);
}

static void assert_same(const struct dp_event *a, const struct dp_event *b)
{
	assert_int_equal(a->type, b->type);
	assert_true(a->time_us == b->time_us);
	assert_int_equal(a->trial, b->trial);
	assert_int_equal(a->run, b->run);
	assert_int_equal(a->attempt, b->attempt);
	assert_same_text(a->reason, b->reason);
	assert_same_text(a->requested_by, b->requested_by);
	switch (a->type) {
	case DP_EV_STUDY_CREATED:
		assert_same_study(&a->study_created, &b->study_created);
		break;
	case DP_EV_STUDY_AMENDED:
		assert_same_amendment(&a->study_amended, &b->study_amended);
		break;
	case DP_EV_STUDY_MOVED:
		assert_same_text(a->study_moved.state, b->study_moved.state);
		assert_int_equal(a->study_moved.by_failures, b->study_moved.by_failures);
		break;
	case DP_EV_TRIAL_PROPOSED:
		assert_same_point(&a->trial_proposed.point, &b->trial_proposed.point);
		assert_int_equal(a->trial_proposed.conditioned_on,
				 b->trial_proposed.conditioned_on);
		assert_same_doubles(&a->trial_proposed.proposal_seconds,
				    &b->trial_proposed.proposal_seconds, 1);
		break;
	case DP_EV_MEASURE_ASKED:
		assert_same_point(&a->measure_asked.point, &b->measure_asked.point);
		assert_same_doubles(&a->measure_asked.result_trial, &b->measure_asked.result_trial,
				    1);
		assert_same_doubles(&a->measure_asked.result_checkpoint,
				    &b->measure_asked.result_checkpoint, 1);
		assert_int_equal(a->measure_asked.runs, b->measure_asked.runs);
		break;
	case DP_EV_ATTEMPT_PLANNED:
		assert_int_equal(a->attempt_planned.slot_plus_one,
				 b->attempt_planned.slot_plus_one);
		break;
	case DP_EV_ATTEMPT_PLACED:
		assert_same_text(a->attempt_placed.job_id, b->attempt_placed.job_id);
		break;
	case DP_EV_ATTEMPT_ENDED:
		assert_same_end(&a->attempt_ended, &b->attempt_ended);
		break;
	case DP_EV_TRIAL_ENDED:
		assert_same_text(a->trial_ended.status, b->trial_ended.status);
		assert_int_equal(a->trial_ended.nobjectives, b->trial_ended.nobjectives);
		assert_same_doubles(a->trial_ended.objectives, b->trial_ended.objectives,
				    a->trial_ended.nobjectives);
		break;
	case DP_EV_RESULT_IMPORTED:
		assert_same_text(a->result_imported.study_name, b->result_imported.study_name);
		assert_int_equal(a->result_imported.nparams, b->result_imported.nparams);
		assert_same_doubles(a->result_imported.params, b->result_imported.params,
				    a->result_imported.nparams);
		assert_int_equal(a->result_imported.nobjectives, b->result_imported.nobjectives);
		assert_same_doubles(a->result_imported.objectives, b->result_imported.objectives,
				    a->result_imported.nobjectives);
		break;
	case DP_EV_TRIAL_ACCOUNTED:
		assert_int_equal(a->trial_accounted.nprivacy, b->trial_accounted.nprivacy);
		assert_same_doubles(a->trial_accounted.privacy, b->trial_accounted.privacy,
				    a->trial_accounted.nprivacy);
		break;
	case DP_EV_TIME_NOTED:
		assert_int_equal(a->time_noted.daemon_ran, b->time_noted.daemon_ran);
		break;
	case DP_EV_ACCOUNTING_FIXED:
		assert_same_accounting(&a->accounting_fixed, &b->accounting_fixed);
		break;
	case DP_EV_ATTEMPT_ADOPTED:
	case DP_EV_TRIAL_CANCEL_ASKED:
	case DP_EV_TRIAL_RETRY_ASKED:
	case DP_EV_RECORD_LOST:
		break;
	}
}

static void round_trip(const struct dp_event *e, struct dp_event *back)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	assert_int_equal(dp_event_encode(e, &bytes, &err), DP_OK);
	assert_int_equal(dp_event_decode(bytes.data, bytes.len, back, &err), DP_OK);
	/* the bytes live no longer than a transaction */
	memset(bytes.data, 0xee, bytes.len);
	dp_buf_free(&bytes);
	assert_same(e, back);
}

/* The end of an attempt, with all that it can carry. */
static void fill_end(struct dp_event *e)
{
	e->trial = 1;
	e->run = 9;
	e->attempt = 300;
	e->attempt_ended.end_class = DP_END_EXIT_CODE;
	e->attempt_ended.charged = true;
	e->attempt_ended.never_ran = true;
	e->attempt_ended.exit = (struct dp_exit_record){ .kind = DP_EXIT_EXEC,
							 .value = -2,
							 .exec_errno = "ENOENT",
							 .start_seconds = 1.7e9,
							 .end_seconds = 1.7e9 + 0.25,
							 .cpu_seconds = 0.125,
							 .peak_memory = UINT64_MAX,
							 .stdout_bytes = 1,
							 .stderr_bytes = 1ull << 40 };
	e->attempt_ended.metric_names = names;
	e->attempt_ended.nmetrics = 2;
	e->attempt_ended.runs = runs;
	e->attempt_ended.nruns = 3;
	e->attempt_ended.metrics = odd;
	e->attempt_ended.checkpoints = odd;
	e->attempt_ended.ncheckpoints = 2;
	e->attempt_ended.checkpoint_metrics = odd + 1;
	e->attempt_ended.ncheckpoint_metrics = 12;
	e->attempt_ended.checkpoint_epsilons = odd + 3;
	e->attempt_ended.ncheckpoint_epsilons = 2;
	e->attempt_ended.declaration = (struct dp_declaration){ "poisson", 30956, 64, 0.5, -0.0 };
	e->attempt_ended.result_sha256 = "e3b0c442";
}

static const char *const changes[] = { "trainer.timeout=30s", "" };
static const char *const files[] = { "/home/ann/train.py", "/home/ann/\xcf\x83" };

/* Does the type follow from what a person asks, or may it? */
static bool can_be_asked(enum dp_event_type type)
{
	return type <= DP_EV_TRIAL_PROPOSED || type == DP_EV_TRIAL_CANCEL_ASKED ||
	       type == DP_EV_TRIAL_RETRY_ASKED || type == DP_EV_RESULT_IMPORTED ||
	       type == DP_EV_MEASURE_ASKED;
}

/* Each type with every field it has. */
static struct dp_event full(enum dp_event_type type)
{
	struct dp_event e = { .type = type, .time_us = 1700000000123456, .reason = "why" };

	switch (type) {
	case DP_EV_STUDY_CREATED:
		e.study_created.name = "svt";
		e.study_created.text = "study: svt\n# \xcf\x83\n";
		e.study_created.path = "/home/ann/svt.yaml";
		e.study_created.dir = "/home/ann";
		e.study_created.secret = "5ec7e7";
		e.study_created.seeds = "secret";
		e.study_created.files = files;
		e.study_created.nfiles = DP_COUNT(files);
		break;
	case DP_EV_STUDY_AMENDED:
		e.study_amended.evaluations = 300;
		e.study_amended.parallel = from_bits(0x7ff8000000000000); /* NAN: unchanged */
		e.study_amended.priority = -0.0;
		e.study_amended.changes = changes;
		e.study_amended.nchanges = DP_COUNT(changes);
		e.study_amended.text = "study: svt\n";
		e.study_amended.path = "svt.yaml";
		e.study_amended.dir = "/home/ann";
		break;
	case DP_EV_TIME_NOTED:
		e.time_noted.daemon_ran = true;
		break;
	case DP_EV_STUDY_MOVED:
		e.study_moved.state = "paused";
		e.study_moved.by_failures = true;
		break;
	case DP_EV_TRIAL_PROPOSED:
		e.trial = 4000000000u;
		e.trial_proposed.point.source = "random";
		e.trial_proposed.conditioned_on = 17;
		e.trial_proposed.proposal_seconds = 0.25;
		e.trial_proposed.point.renyi = odd + 2;
		e.trial_proposed.point.nrenyi = 1;
		e.trial_proposed.point.params = odd;
		e.trial_proposed.point.nparams = DP_COUNT(odd);
		e.trial_proposed.point.privacy = odd + 1;
		e.trial_proposed.point.nprivacy = 3;
		break;
	case DP_EV_ACCOUNTING_FIXED:
		e.accounting_fixed.orders = odd;
		e.accounting_fixed.norders = DP_COUNT(odd);
		e.accounting_fixed.weights = odd + 1;
		e.accounting_fixed.nweights = 3;
		e.accounting_fixed.filter = (struct dp_filter){ 4, 1e-5, 9, 17.25 };
		break;
	case DP_EV_TRIAL_ACCOUNTED:
		e.trial = 3;
		e.trial_accounted.privacy = odd;
		e.trial_accounted.nprivacy = 2;
		break;
	case DP_EV_ATTEMPT_PLANNED:
		e.attempt_planned.slot_plus_one = 4096; /* one more than its number */
							/* fall through */
	case DP_EV_ATTEMPT_ADOPTED:
		e.trial = 1;
		e.run = DP_RUN_ALL;
		e.attempt = 2;
		break;
	case DP_EV_ATTEMPT_PLACED:
		e.trial = 1;
		e.run = 3;
		e.attempt = 2;
		e.attempt_placed.job_id = "314_3";
		break;
	case DP_EV_ATTEMPT_ENDED:
		fill_end(&e);
		break;
	case DP_EV_RESULT_IMPORTED:
		e.result_imported.study_name = "another";
		e.trial = 6;
		e.result_imported.params = odd;
		e.result_imported.nparams = DP_COUNT(odd);
		e.result_imported.objectives = odd;
		e.result_imported.nobjectives = DP_COUNT(odd);
		break;
	case DP_EV_TRIAL_ENDED:
		e.trial = 5;
		e.trial_ended.status = "ok";
		e.trial_ended.objectives = odd + 2;
		e.trial_ended.nobjectives = 2;
		break;
	case DP_EV_TRIAL_CANCEL_ASKED:
	case DP_EV_TRIAL_RETRY_ASKED:
		e.trial = 77;
		break;
	case DP_EV_MEASURE_ASKED:
		e.trial = DP_REEVAL_TRIAL_FIRST + 7;
		e.measure_asked.point.source = "remeasure";
		e.measure_asked.result_trial = 13;
		e.measure_asked.result_checkpoint =
			from_bits(0x7ff8000000000000); /* NAN: its own result */
		e.measure_asked.runs = 50;
		e.measure_asked.point.params = odd;
		e.measure_asked.point.nparams = DP_COUNT(odd);
		e.measure_asked.point.privacy = odd + 1;
		e.measure_asked.point.nprivacy = 3;
		e.measure_asked.point.renyi = odd + 2;
		e.measure_asked.point.nrenyi = 1;
		break;
	case DP_EV_RECORD_LOST: /* the reason is all it has */
		break;
	}
	if (can_be_asked(type))
		e.requested_by = "ann (1000), web page, from 192.0.2.7";
	return e;
}

static const enum dp_event_type all_types[] = {
#define X(name, number, text) DP_EV_##name,
	DP_EVENTS(X)
#undef X
};

static void test_every_type(void **state)
{
	struct dp_event back = { .study = 3, .seq = 4 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(all_types); i++) {
		struct dp_event e = full(all_types[i]);

		round_trip(&e, &back); /* the memory of the one before is reused */
		assert_int_equal(back.study, 3);
		assert_int_equal(back.seq, 4);
	}
	dp_event_clear(&back);
	assert_null(back.arena);
}

/* Nothing set but the type: everything comes back zero, or NaN where that means
 * "not told". */
static void test_empty_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(all_types); i++) {
		struct dp_event e = { .type = all_types[i] }, back = { 0 };

		if (e.type == DP_EV_STUDY_AMENDED)
			e.study_amended.evaluations = e.study_amended.parallel =
				e.study_amended.priority = NAN;
		if (e.type == DP_EV_ATTEMPT_ENDED)
			e.attempt_ended.declaration =
				(struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
		round_trip(&e, &back);
		dp_event_clear(&back);
	}
}

static void test_doubles_bit_for_bit(void **state)
{
	double x[64];
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial_proposed = { .point = { .params = x, .nparams = 64 } } };
	struct dp_event back = { 0 };
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 64; i++)
			x[i] = i % 2 ? from_bits(dp_rng_u64(&rng))
				     : (double)(int64_t)dp_rng_u64(&rng) /
					       (double)(1ull << (dp_rng_u32(&rng) % 63));
		x[0] = from_bits(0x7ff8dead00000000 | dp_rng_u32(&rng)); /* NaN payload */
		x[1] = from_bits(0xfff8000000000000);
		round_trip(&e, &back);
	}
	e = full(DP_EV_STUDY_AMENDED);
	for (size_t i = 0; i < DP_COUNT(odd); i++) {
		e.study_amended.evaluations = odd[i];
		e.study_amended.parallel = from_bits(0xfff8000000000001);
		round_trip(&e, &back);
	}
	dp_event_clear(&back);
}

static void test_texts(void **state)
{
	struct dp_event e = full(DP_EV_STUDY_CREATED), back = { 0 };
	char *large = malloc(300001);

	(void)state;
	assert_non_null(large);
	memset(large, 'x', 300000);
	large[300000] = '\0';
	e.study_created.text = large;
	e.study_created.name = "";
	e.study_created.path = "/odd\xff\xfe";
	round_trip(&e, &back);
	dp_event_clear(&back);
	free(large);
}

/* The stored form byte for byte, so that it cannot change unnoticed. The checksum is
 * zlib.crc32 of Python. */
static void test_stored_bytes(void **state)
{
	static const unsigned char stored[] = "\x94\x03\x01\x00\x81\xa5state\xa6paused"
					      "\xf3\x93\x88\xc4";
	struct dp_event e = { .type = DP_EV_STUDY_MOVED, .study_moved = { .state = "paused" } };
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	(void)state;
	dp_buf_puts(&bytes, "something before");
	assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
	assert_int_equal(bytes.len, sizeof stored - 1);
	assert_memory_equal(bytes.data, stored, bytes.len);
	dp_buf_free(&bytes);
}

/* Wraps MessagePack bytes with a right checksum and reads them. */
static int decode_raw(const void *body, size_t len, struct dp_event *out, struct dp_err *err)
{
	unsigned char *record = malloc(len + 4);
	uint32_t crc = (uint32_t)crc32(0, body, (uInt)len);
	int code;

	assert_non_null(record);
	memcpy(record, body, len);
	for (int i = 0; i < 4; i++)
		record[len + (size_t)i] = (unsigned char)(crc >> (8 * i));
	code = dp_event_decode(record, len + 4, out, err);
	free(record);
	return code;
}
#define RAW(s) s, sizeof(s) - 1

static void assert_refused(const char *body, size_t len, int code, const char *word)
{
	struct dp_event e = { 0 };
	struct dp_err err;

	assert_int_equal(decode_raw(body, len, &e, &err), code);
	assert_null(e.arena);
	if (!strstr(err.msg, word))
		fail_msg("'%s' does not say '%s'", err.msg, word);
	assert_int_equal(decode_raw(body, len, &e, NULL), code);
}

static void assert_corrupt(const char *body, size_t len, const char *word)
{
	assert_refused(body, len, DP_E_CORRUPT, word);
}

/* Sound, but not for this version: nothing is damaged. */
static void assert_newer(const char *body, size_t len)
{
	assert_refused(body, len, DP_E_PROTOCOL, "newer version");
}

static void test_corrupt(void **state)
{
	(void)state;
	assert_newer(RAW("\x94\x63\x01\x00\x80"));                /* type 99 */
	assert_newer(RAW("\x94\x03\x02\x00\x80"));                /* version 2 */
	assert_newer(RAW("\x92\x63\x02"));                        /* other shape */
	assert_corrupt(RAW("\x94\x00\x01\x00\x80"), "no record"); /* type 0 */
	assert_corrupt(RAW("\x93\x03\x01\x00"), "no time or fields");
	assert_corrupt(RAW("\x94\x03\x01\xa1x\x80"), "no time or fields");
	assert_corrupt(RAW("\x94\x03\x01\x00\x90"), "map");
	assert_corrupt(RAW("\x94\x03\x01\x00\x81\x01\x01"), "no name");
	assert_corrupt(RAW("\x94\x03\x01\x00\x81\xa5state\x01"), "'state'");
	assert_corrupt(RAW("\x94\x03\x01\x00\x81\xa5state\xa3o\0k"), "NUL");
	assert_corrupt(RAW("\x94\x03\x01\x00\x82\xa5state\xa1k\xa5state\xa1k"), "twice");
	assert_corrupt(RAW("\x94\x04\x01\x00\x81\xa5trial\xff"), "'trial'");
	assert_corrupt(RAW("\x94\x04\x01\x00\x81\xa5trial\xcf\0\0\0\1\0\0\0\0"), "'trial'");
	assert_corrupt(RAW("\x94\x04\x01\x00\x81\xa6params\x91\xc0"), "'params'");
	assert_corrupt(RAW("\x94\x04\x01\x00\x81\xa6params\x01"), "'params'");
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa3run\xcb\0\0\0\0\0\0\0\0"), "'run'");
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa7"
			   "counted\x01"),
		       "'counted'");
	assert_newer(RAW("\x94\x07\x01\x00\x81\xa3"
			 "end\xa5other")); /* a word */
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa4runs\x91\xff"), "'runs'");
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa5names\x91\x01"), "'names'");
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa7metrics\x91\x01"), "1 values");
	assert_corrupt(RAW("\x94\x07\x01\x00\x82\xa4runs\x91\x00\xa5names\x91\xa1n"), "0 values");
	assert_corrupt(RAW("\x94\x07\x01\x00\x81\xa4"
			   "exit\x81\xa4"
			   "exec\xd9\x20"
			   "01234567890123456789012345678901"),
		       "'exec'");
	assert_corrupt(RAW("\x01"), "no record");
	assert_corrupt(RAW("\x94\x03\x01\x00"), "MessagePack");
	assert_corrupt(RAW("\x94\x03\x01\x00\x80\x80"), "MessagePack");
	assert_corrupt(RAW("\xc1"), "MessagePack");
}

/* Fields from later programs of this version are passed over. */
static void test_unknown_fields(void **state)
{
	struct dp_event e = { 0 };
	struct dp_err err;

	(void)state;
	assert_int_equal(decode_raw(RAW("\x94\x03\x01\x05\x83\xa3new\x93\x01\x02\x81\xa1k"
					"\xc0\xa5state\xa2ok\xa6params\x01"),
				    &e, &err),
			 DP_OK);
	assert_true(e.time_us == 5);
	assert_string_equal(e.study_moved.state, "ok");
	dp_event_clear(&e);
}

/* Every cut and every flipped bit is noticed. */
static void test_damage(void **state)
{
	struct dp_event e = full(DP_EV_ATTEMPT_ENDED), out = { 0 };
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
	for (size_t n = 0; n < bytes.len; n++)
		assert_int_equal(dp_event_decode(bytes.data, n, &out, &err), DP_E_CORRUPT);
	for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
		assert_int_equal(dp_event_decode(bytes.data, bytes.len, &out, &err), DP_E_CORRUPT);
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
	}
	assert_int_equal(dp_event_decode(bytes.data, bytes.len, &out, &err), DP_OK);
	assert_same(&e, &out);
	dp_event_clear(&out);
	dp_buf_free(&bytes);
}

/* Mistakes of the program are refused, not stored. */
static void test_encode_refuses(void **state)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_event e = { .type = 0 };
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_event_encode(&e, &out, &err), DP_E_INVALID);
	e = (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
			       .trial_proposed = { .point = { .nparams = 2 } } };
	assert_int_equal(dp_event_encode(&e, &out, &err), DP_E_INVALID);
	e = (struct dp_event){ .type = DP_EV_ATTEMPT_ENDED, .attempt_ended = { .end_class = 99 } };
	assert_int_equal(dp_event_encode(&e, &out, &err), DP_E_INVALID);
	e = (struct dp_event){ .type = DP_EV_ATTEMPT_ENDED, .attempt_ended = { .exit.kind = 99 } };
	assert_int_equal(dp_event_encode(&e, &out, &err), DP_E_INVALID);
	dp_buf_free(&out);
}

static void assert_dump(struct dp_event *e, const char *expected)
{
	struct dp_buf text = DP_BUF_INIT;
	json_t *v = dp_event_to_json(e);

	dp_json_dump(&text, v, 0);
	assert_string_equal(dp_buf_text(&text), expected);
	json_decref(v);
	dp_buf_free(&text);
}

static void test_json(void **state)
{
	static const double x[] = { 0.5, INFINITY, NAN, -INFINITY };
	static const uint32_t two[] = { 0, 1 };
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED, .study = 1, .seq = 7 };

	(void)state;
	e.time_us = 1700000000123456;
	e.trial_proposed.point =
		(struct dp_event_point){ .source = "random", .params = x, .nparams = 4 };
	assert_dump(&e, "{\"study\":1,\"seq\":7,\"type\":\"trial-proposed\","
			"\"time\":\"2023-11-14T22:13:20.123456Z\",\"trial\":0,"
			"\"source\":\"random\",\"basis\":0,\"sought\":0,"
			"\"params\":[0.5,\"inf\",\"nan\",\"-inf\"]}");
	e = (struct dp_event){ .type = DP_EV_ATTEMPT_ENDED, .study = 2 };
	e.run = DP_RUN_ALL;
	e.attempt_ended.end_class = DP_END_OK;
	e.attempt_ended.charged = true;
	e.attempt_ended.metric_names = names;
	e.attempt_ended.nmetrics = 2;
	e.attempt_ended.runs = two;
	e.attempt_ended.nruns = 2;
	e.attempt_ended.metrics = x;
	e.attempt_ended.exit.kind = DP_EXIT_CODE;
	e.attempt_ended.declaration = (struct dp_declaration){ "poisson", NAN, 64, NAN, NAN };
	assert_dump(&e, "{\"study\":2,\"seq\":0,\"type\":\"attempt-ended\","
			"\"time\":\"1970-01-01T00:00:00.000000Z\",\"trial\":0,\"run\":null,"
			"\"attempt\":0,\"end\":\"ok\",\"counted\":true,\"unbegun\":false,"
			"\"exit\":{\"kind\":"
			"\"code\",\"value\":0,\"start\":0,\"end\":0,\"cpu\":0,"
			"\"memory\":0,\"stdout\":0,\"stderr\":0},\"runs\":[0,1],"
			"\"metrics\":{\"f1\":[0.5,\"nan\"],\"accuracy\":[\"inf\",\"-inf\"]},"
			"\"declared\":{\"sampling\":\"poisson\",\"lot\":64}}");
	e = (struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED, .study = 2 };
	assert_dump(&e, "{\"study\":2,\"seq\":0,\"type\":\"attempt-planned\","
			"\"time\":\"1970-01-01T00:00:00.000000Z\",\"trial\":0,\"run\":0,"
			"\"attempt\":0,\"slot\":null}");
	e.attempt_planned.slot_plus_one = 1; /* slot 0 */
	assert_dump(&e, "{\"study\":2,\"seq\":0,\"type\":\"attempt-planned\","
			"\"time\":\"1970-01-01T00:00:00.000000Z\",\"trial\":0,\"run\":0,"
			"\"attempt\":0,\"slot\":0}");
	e = (struct dp_event){ .type = DP_EV_STUDY_MOVED, .study = 2 };
	e.study_moved.state = "failed";
	e.reason = "odd \xff byte";
	assert_dump(&e, "{\"study\":2,\"seq\":0,\"type\":\"study-moved\","
			"\"time\":\"1970-01-01T00:00:00.000000Z\",\"state\":\"failed\","
			"\"counted\":false,\"reason\":\"odd ? byte\"}");
}

/* Whoever knows it can take the noise off. */
static void secrets_are_not_dumped(void **state)
{
	struct dp_event e = full(DP_EV_STUDY_CREATED);
	json_t *v = dp_event_to_json(&e);
	char *text = json_dumps(v, 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(v, "secret")), "hidden");
	assert_null(strstr(text, "5ec7e7"));
	free(text);
	json_decref(v);
	e.study_created.secret = NULL;
	v = dp_event_to_json(&e);
	assert_null(json_object_get(v, "secret"));
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),          cmocka_unit_test(test_empty_events),
		cmocka_unit_test(test_doubles_bit_for_bit), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_stored_bytes),        cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_unknown_fields),      cmocka_unit_test(test_damage),
		cmocka_unit_test(test_encode_refuses),      cmocka_unit_test(test_json),
		cmocka_unit_test(secrets_are_not_dumped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
