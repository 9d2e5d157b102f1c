/* test_configuration.c - the daemon's options: from text, from a file, by default, and what has
 * changed between two configurations. */
#include "base/buf.h"
#include "daemon/core/config/configuration.h"
#include "daemon/core/config/config_hooks.h"
#include "daemon/core/config/config_slurm.h"

#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"

/* A group of this machine. */
static struct group *any_group(void)
{
	struct group *g = getgrgid(getegid());

	return g ? g : getgrgid(0);
}

static void set_ok(struct config *c, const char *name, const char *value)
{
	struct dp_err err;

	if (config_set(c, name, value, &err) != DP_OK)
		fail_msg("%s: %s", name, err.msg);
}

static void set_bad(struct config *c, const char *name, const char *value, const char *sentence)
{
	struct dp_err err;

	assert_int_equal(config_set(c, name, value, &err), DP_E_USAGE);
	assert_string_equal(err.msg, sentence);
}

static void test_defaults(void **state)
{
	struct config c;

	(void)state;
	config_set_defaults(&c);
	assert_int_equal(c.slots, sysconf(_SC_NPROCESSORS_ONLN));
	assert_string_equal(c.socket_group.name, "");
	assert_true(c.socket_group.gid == (gid_t)-1);
	assert_int_equal(c.log_level, LOG_INFO);
	assert_true(isinf(c.retention));
	assert_int_equal(c.disk_watermark, 64 << 20);
	assert_int_equal(c.stop_policy, STOP_LEAVE);
	assert_int_equal(c.max_clients, 1024);
	assert_true(c.client_idle == 600);
	assert_true(c.client_patience == 60);
	assert_int_equal(c.client_memory, 64 << 20);
	assert_true(c.report_interval == 600);
	assert_int_equal(json_array_size(c.hooks), 0);
	assert_int_equal(json_object_size(c.slot_env), 0);
	assert_int_equal(c.executor, CONFIG_EXECUTOR_LOCAL);
	assert_int_equal(json_object_size(c.slurm), 0);
	config_clear(&c);
}

static void test_numbers(void **state)
{
	struct config c;

	(void)state;
	config_set_defaults(&c);
	set_ok(&c, "slots", "1");
	assert_int_equal(c.slots, 1);
	set_ok(&c, "slots", "4096");
	assert_int_equal(c.slots, 4096);
	set_bad(&c, "slots", "0", "slots cannot be '0'; it is int, 1 to 4096");
	set_bad(&c, "slots", "4097", "slots cannot be '4097'; it is int, 1 to 4096");
	set_bad(&c, "slots", "-1", "slots cannot be '-1'; it is int, 1 to 4096");
	/* would be 1 in 32 bits */
	set_bad(&c, "slots", "4294967297", "slots cannot be '4294967297'; it is int, 1 to 4096");
	set_bad(&c, "slots", "2.5", "slots cannot be '2.5'; it is int, 1 to 4096");
	set_bad(&c, "slots", "", "slots cannot be ''; it is int, 1 to 4096");
	assert_int_equal(c.slots, 4096); /* what is refused changes nothing */
	set_ok(&c, "max_clients", "65536");
	assert_int_equal(c.max_clients, 65536);
	set_bad(&c, "max_clients", "65537", "max_clients cannot be '65537'; it is int, 1 to 65536");
	set_ok(&c, "disk_watermark", "1.5G");
	assert_true(c.disk_watermark == 3ull << 29);
	set_ok(&c, "disk_watermark", "0");
	assert_true(c.disk_watermark == 0);
	set_bad(&c, "disk_watermark", "much", "disk_watermark cannot be 'much'; it is size");
	config_clear(&c);
}

static void test_durations(void **state)
{
	struct config c;

	(void)state;
	config_set_defaults(&c);
	set_ok(&c, "retention", "2h30m");
	assert_true(c.retention == 9000);
	set_ok(&c, "retention", "forever");
	assert_true(isinf(c.retention));
	set_bad(&c, "retention", "ever", "retention cannot be 'ever'; it is duration or forever");
	assert_true(isinf(c.retention));
	set_ok(&c, "report_interval", "0");
	assert_true(c.report_interval == 0);
	/* only retention knows that word */
	set_bad(&c, "report_interval", "forever",
		"report_interval cannot be 'forever'; it is duration");
	set_bad(&c, "report_interval", "-1s", "report_interval cannot be '-1s'; it is duration");
	config_clear(&c);
}

static void test_kind_name(void **state)
{
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	static const char *const policies[] = { "leave", "finish", "kill" };
	enum stop_policy policy = STOP_KILL;
	struct config c;

	(void)state;
	config_set_defaults(&c);
	for (unsigned i = 0; i < DP_COUNT(levels); i++) {
		set_ok(&c, "log_level", levels[i]);
		assert_int_equal(c.log_level, i);
	}
	for (unsigned i = 0; i < DP_COUNT(policies); i++) {
		set_ok(&c, "stop_policy", policies[i]);
		assert_int_equal(c.stop_policy, i);
		assert_string_equal(stop_policy_text(c.stop_policy), policies[i]);
	}
	set_bad(&c, "log_level", "Debug",
		"log_level cannot be 'Debug'; it is error | warn | info | debug");
	set_bad(&c, "stop_policy", "", "stop_policy cannot be ''; it is leave | finish | kill");
	assert_int_equal(c.log_level, LOG_DEBUG);
	assert_false(stop_policy_parse("go", &policy));
	assert_int_equal(policy, STOP_KILL);
	assert_true(stop_policy_parse("finish", &policy));
	assert_int_equal(policy, STOP_FINISH);
	config_clear(&c);
}

static void test_group(void **state)
{
	struct group *g = any_group();
	struct config c;

	(void)state;
	assert_non_null(g);
	config_set_defaults(&c);
	set_ok(&c, "socket_group", g->gr_name);
	assert_string_equal(c.socket_group.name, g->gr_name);
	assert_true(c.socket_group.gid == g->gr_gid);
	set_bad(&c, "socket_group", "no-such-group",
		"socket_group cannot be 'no-such-group'; it is name of a group that "
		"exists");
	assert_true(c.socket_group.gid == g->gr_gid);
	set_ok(&c, "socket_group", "");
	assert_true(c.socket_group.gid == (gid_t)-1);
	config_clear(&c);
	config_clear(&c); /* twice is harmless */
}

static void test_unknown(void **state)
{
	struct config c;

	(void)state;
	config_set_defaults(&c);
	set_bad(&c, "slotz", "3", "unknown option 'slotz'; did you mean 'slots'?");
	set_bad(&c, "stop-policy", "kill",
		"unknown option 'stop-policy'; did you mean 'stop_policy'?");
	set_bad(&c, "colour", "red", "unknown option 'colour'");
	set_bad(&c, "", "", "unknown option ''");
	config_clear(&c);
}

static void test_file(void **state)
{
	struct config c;
	struct dp_err err;

	(void)state;
	config_set_defaults(&c);
	assert_int_equal(config_read_file(&c,
					  file_of("c.yaml", "# ours\n"
							    "slots: 3\n"
							    "socket_group: \"\"\n"
							    "log_level: debug\n"
							    "retention: 7d\n"
							    "disk_watermark: 1M # little\n"
							    "stop_policy: 'kill'\n"
							    "max_clients: 2\n"
							    "report_interval: 30s\n"),
					  &err),
			 DP_OK);
	assert_int_equal(c.slots, 3);
	assert_int_equal(c.log_level, LOG_DEBUG);
	assert_true(c.retention == 7 * 86400);
	assert_int_equal(c.disk_watermark, 1 << 20);
	assert_int_equal(c.stop_policy, STOP_KILL);
	assert_int_equal(c.max_clients, 2);
	assert_true(c.report_interval == 30);
	/* what a file does not name stays as it was; nothing at all is fine */
	assert_int_equal(config_read_file(&c, file_of("c.yaml", "slots: 5\n"), &err), DP_OK);
	assert_int_equal(c.slots, 5);
	assert_int_equal(c.max_clients, 2);
	assert_int_equal(config_read_file(&c, file_of("c.yaml", "# nothing\n"), &err), DP_OK);
	assert_int_equal(config_read_file(&c, file_of("c.yaml", ""), &err), DP_OK);
	assert_int_equal(c.slots, 5);
	config_clear(&c);
}

/* The file is refused with all of these in the sentence. */
static void file_bad(const char *text, const char *const *told)
{
	struct config c;
	struct dp_err err;

	config_set_defaults(&c);
	assert_int_equal(config_read_file(&c, file_of("c.yaml", text), &err), DP_E_INVALID);
	for (; *told; told++)
		if (!strstr(err.msg, *told))
			fail_msg("not told: %s\nbut: %s", *told, err.msg);
	assert_string_equal(err.hint, "dparetod(8) lists the options");
	assert_true(err.msg[strlen(err.msg) - 1] != '\n');
	config_clear(&c);
}

static void test_file_mistakes(void **state)
{
	struct config c;
	struct dp_err err;

	(void)state;
	/* all at once, each with its line and column */
	file_bad("slots: 0\n# so\nslotz: 3\n",
		 (const char *[]){ "c.yaml:1:1: error: slots cannot be '0'",
				   "c.yaml:3:1: error: unknown option 'slotz'; did you "
				   "mean 'slots'?",
				   "\n   3 | slotz: 3\n     | ^", "2 errors", NULL });
	file_bad("slots: [1, 2]\n", (const char *[]){ "c.yaml:1:8: error: an option has "
						      "one value",
						      NULL });
	file_bad("retention: {days: 3}\n", (const char *[]){ "an option has one value", NULL });
	file_bad("- slots\n", (const char *[]){ "each line is 'option: value'", NULL });
	file_bad("slots: 1\nslots: 2\n", (const char *[]){ "c.yaml:2:1: error: ", NULL });
	file_bad("slots: {\n", (const char *[]){ "c.yaml:", NULL });
	config_set_defaults(&c);
	assert_int_equal(config_read_file(&c, "/nowhere/c.yaml", &err), DP_E_NOT_FOUND);
	config_clear(&c);
}

static void test_sources(void **state)
{
	struct config_source from = { .path = file_of("c.yaml", "slots: 2\nmax_clients: 7\n"),
				      .names = { "slots", "slots" },
				      .values = { "4", "6" },
				      .count = 2 };
	struct config c;
	struct dp_err err;

	(void)state;
	assert_int_equal(config_load(&c, &from, &err), DP_OK);
	assert_int_equal(c.slots, 6); /* the command line wins, the last of it */
	assert_int_equal(c.max_clients, 7);
	assert_int_equal(c.stop_policy, STOP_LEAVE);
	config_clear(&c);
	from.values[1] = "none";
	assert_int_equal(config_load(&c, &from, &err), DP_E_USAGE);
	assert_string_equal(err.msg, "command line: slots cannot be 'none'; it is int, 1 to 4096");
	config_clear(&c);
	from = (struct config_source){ 0 };
	assert_int_equal(config_load(&c, &from, &err), DP_OK);
	config_clear(&c);
}

/* The names of what differs, with commas between. */
static void expect_changed(const struct config *a, const struct config *b, const char *names)
{
	json_t *list = json_array(), *name;
	struct dp_buf text = DP_BUF_INIT;
	size_t i;

	config_list_changes(a, b, list);
	json_array_foreach (list, i, name)
		dp_buf_printf(&text, "%s%s", i ? "," : "", json_string_value(name));
	assert_string_equal(dp_buf_text(&text), names);
	dp_buf_free(&text);
	json_decref(list);
}

static void test_hooks(void **state)
{
	struct config a, b;
	struct dp_err err;

	(void)state;
	config_set_defaults(&a);
	config_set_defaults(&b);
	assert_int_equal(config_read_file(&a,
					  file_of("c.yaml", "hooks:\n"
							    "- on: [finished, disk-low]\n"
							    "  command: [tell, \"a b\", 3]\n"
							    "- {on: [failed], command: [x], "
							    "timeout: 2m}\n"),
					  &err),
			 DP_OK);
	assert_int_equal(json_array_size(a.hooks), 2);
	assert_true(hook_wants_event(json_array_get(a.hooks, 0), HOOK_EVENT_DISK_LOW));
	assert_false(hook_wants_event(json_array_get(a.hooks, 0), HOOK_EVENT_FAILED));
	assert_true(hook_timeout_seconds(json_array_get(a.hooks, 0)) == 30);
	assert_true(hook_timeout_seconds(json_array_get(a.hooks, 1)) == 120);
	expect_changed(&a, &b, "hooks");
	/* the command line takes JSON; both are the same then */
	set_ok(&b, "hooks",
	       "[{\"on\":[\"finished\",\"disk-low\"],\"command\":[\"tell\",\"a "
	       "b\",\"3\"]},"
	       "{\"on\":[\"failed\"],\"command\":[\"x\"],\"timeout\":\"2m\"}]");
	expect_changed(&a, &b, "");
	set_bad(&b, "hooks", "none",
		"hooks must be a list of {on: [EVENT...], command: [PROGRAM, "
		"ARGUMENT...], timeout: DURATION}");
	assert_int_equal(json_array_size(b.hooks), 2);
	config_clear(&a);
	config_clear(&b);
}

static void test_slurm(void **state)
{
	struct slurm_config o;
	struct config c;
	struct dp_err err;

	(void)state;
	config_set_defaults(&c);
	o = slurm_config_read(c.slurm);
	assert_true(!o.partition && !o.account && o.time_seconds == 0 && !o.options);
	assert_true(o.max_poll_seconds == 10 && o.max_jobs == 64);
	assert_int_equal(config_read_file(&c,
					  file_of("c.yaml", "executor: slurm\n"
							    "slurm:\n"
							    "  partition: gpu\n"
							    "  account: us\n"
							    "  time: 2h\n"
							    "  options: [--nice, -x, n1]\n"
							    "  poll: 1s\n"
							    "  jobs: 1000\n"),
					  &err),
			 DP_OK);
	assert_int_equal(c.executor, CONFIG_EXECUTOR_SLURM);
	o = slurm_config_read(c.slurm);
	assert_string_equal(o.partition, "gpu");
	assert_string_equal(o.account, "us");
	assert_true(o.time_seconds == 7200 && o.max_poll_seconds == 1 && o.max_jobs == 1000);
	assert_int_equal(json_array_size(o.options), 3);
	set_ok(&c, "slurm", "{\"jobs\": 2, \"poll\": 0.5}");
	o = slurm_config_read(c.slurm);
	assert_true(o.max_jobs == 2 && o.max_poll_seconds == 0.5 && !o.partition);
	set_bad(&c, "slurm", "gpu", "slurm must be a map, such as {partition: gpu, jobs: 32}");
	set_bad(&c, "slurm", "[]", "slurm must be a map, such as {partition: gpu, jobs: 32}");
	assert_true(slurm_config_read(c.slurm).max_jobs == 2);
	config_clear(&c);
}

/* Each is told where it is. */
static void test_slurm_mistakes(void **state)
{
	(void)state;
	file_bad("slurm: {partition: 'a b'}\n",
		 (const char *[]){ "c.yaml:1:20: error: slurm.partition must be a word", NULL });
	file_bad("slurm:\n  jobs: 0\n",
		 (const char *[]){ "c.yaml:2:9: error: slurm.jobs must be a whole number "
				   "from 1 to 100000",
				   NULL });
	file_bad("slurm:\n  poll: 0.1s\n",
		 (const char *[]){ "c.yaml:2:9: error: slurm.poll must be a duration from "
				   "0.5s to 1h",
				   NULL });
	file_bad("slurm:\n  time: soon\n",
		 (const char *[]){ "c.yaml:2:9: error: slurm.time must be a duration", NULL });
	file_bad("slurm:\n  options: -x\n",
		 (const char *[]){ "c.yaml:2:12: error: slurm.options must be a list", NULL });
	file_bad("slurm:\n  options: [script]\n",
		 (const char *[]){ "c.yaml:2:12: error: slurm.options must be a list", NULL });
	file_bad("slurm:\n  job: 3\n",
		 (const char *[]){ "c.yaml:2:8: error: slurm.job is no key; did you mean "
				   "'jobs'?",
				   NULL });
	file_bad("executor: pbs\n",
		 (const char *[]){ "executor cannot be 'pbs'; it is local | slurm", NULL });
}

/* Each is told where in the list it is. */
static void test_hook_mistakes(void **state)
{
	(void)state;
	file_bad("slots: 2\nhooks:\n- on: [failed]\n  command: [x]\n"
		 "- on: [failed, finishd]\n  command: [x]\n",
		 (const char *[]){ "c.yaml:5:16: error: hooks[1].on[1] cannot be 'finishd'; "
				   "did you mean 'finished'?",
				   NULL });
	file_bad("hooks:\n- on: [failed]\n  command: []\n",
		 (const char *[]){ "c.yaml:3:12: error: hooks[0].command must have", NULL });
	file_bad("hooks:\n- on: [failed]\n  command: ['']\n",
		 (const char *[]){ "c.yaml:3:13: error: hooks[0].command[0], the program, is "
				   "empty",
				   NULL });
	file_bad("hooks: [{on: [failed]}]\n",
		 (const char *[]){ "c.yaml:1:9: error: hooks[0].command must be a list", NULL });
	file_bad("hooks: [{on: failed, command: [x]}]\n",
		 (const char *[]){ "c.yaml:1:14: error: hooks[0].on must be a list", NULL });
	file_bad("hooks: [{on: [], command: [x]}]\n",
		 (const char *[]){ "c.yaml:1:14: error: hooks[0].on must be a list", NULL });
	file_bad("hooks: [{on: [failed], command: x}]\n",
		 (const char *[]){ "c.yaml:1:33: error: hooks[0].command must be a list", NULL });
	file_bad("hooks: [{on: [failed], command: [[x]]}]\n",
		 (const char *[]){ "hooks[0].command[0] must be a text", NULL });
	file_bad("hooks: [{on: [failed], command: [x], timeout: 0}]\n",
		 (const char *[]){ "c.yaml:1:47: error: hooks[0].timeout cannot be '0'", NULL });
	file_bad("hooks: [{on: [failed], comand: [x]}]\n",
		 (const char *[]){ "c.yaml:1:32: error: hooks[0].comand is unknown",
				   "did you mean 'command'?", NULL });
	file_bad("hooks: [failed]\n",
		 (const char *[]){ "c.yaml:1:9: error: hooks[0] must be a map", NULL });
	file_bad("hooks: {on: [failed]}\n",
		 (const char *[]){ "c.yaml:1:8: error: hooks must be a list", NULL });
	file_bad("hooks: yes\n",
		 (const char *[]){ "c.yaml:1:1: error: hooks must be a list", NULL });
	file_bad("hooks: [&a {on: [failed], command: [x]}, *a]\n",
		 (const char *[]){ "c.yaml:1:42: error: ", NULL });
}

static void test_slot_env(void **state)
{
	struct config a, b;
	struct dp_err err;
	const json_t *gpus;

	(void)state;
	config_set_defaults(&a);
	config_set_defaults(&b);
	assert_int_equal(
		config_read_file(&a,
				 file_of("c.yaml", "slot_env:\n"
						   "  CUDA_VISIBLE_DEVICES: [0, \"1\", '2,3']\n"
						   "  OMP_NUM_THREADS: [4, 4, 8]\n"),
				 &err),
		DP_OK);
	gpus = json_object_get(a.slot_env, "CUDA_VISIBLE_DEVICES");
	assert_string_equal(json_string_value(json_array_get(gpus, 0)), "0");
	assert_string_equal(json_string_value(json_array_get(gpus, 2)), "2,3");
	expect_changed(&a, &b, "slot_env");
	/* as JSON numbers are taken for their texts, too */
	set_ok(&b, "slot_env",
	       "{\"CUDA_VISIBLE_DEVICES\":[0,1,\"2,3\"],\"OMP_NUM_THREADS\":[4,4,8]}");
	expect_changed(&a, &b, "");
	set_ok(&b, "slot_env", "{}");
	assert_int_equal(json_object_size(b.slot_env), 0);
	config_clear(&a);
	config_clear(&b);
}

static void test_slot_env_mistakes(void **state)
{
	static const char map[] = "slot_env must be a map of names to lists, such as "
				  "{CUDA_VISIBLE_DEVICES: [\"0\", \"1\"]}";
	struct config c;

	(void)state;
	config_set_defaults(&c);
	set_bad(&c, "slot_env", "none", map);
	set_bad(&c, "slot_env", "[]", map);
	set_bad(&c, "slot_env", "{\"GPU\":\"0\"}",
		"slot_env.GPU must be a list of one value for each slot, such as "
		"[\"0\", \"1\"]");
	set_bad(&c, "slot_env", "{\"GPU\":[\"0\",0.5]}", "slot_env.GPU[1] must be a text");
	config_clear(&c);
	file_bad("slots: 2\nslot_env:\n  GPU: []\n",
		 (const char *[]){ "c.yaml:3:8: error: slot_env.GPU must be a list", NULL });
	file_bad("slot_env: {GPU: [0, [1]]}\n",
		 (const char *[]){ "c.yaml:1:21: error: slot_env.GPU[1] must be a text", NULL });
	file_bad("slot_env: {2GPU: [0]}\n",
		 (const char *[]){ "slot_env.2GPU cannot name an environment variable", NULL });
	file_bad("slot_env: {DPARETO_SLOT: [0]}\n",
		 (const char *[]){ "slot_env.DPARETO_SLOT cannot be set: variables that "
				   "start with DPARETO_ are dparetod's own",
				   NULL });
	file_bad("slot_env: {NOTIFY_SOCKET: [0]}\n",
		 (const char *[]){ "slot_env.NOTIFY_SOCKET cannot be set", NULL });
	file_bad("slot_env: 0\n",
		 (const char *[]){ "slot_env must be a map of names to lists", NULL });
}

/* At the start and at every reload: more values than slots are fine, fewer are not. */
static void test_slot_env_for_each(void **state)
{
	struct config_source from = { .names = { "slot_env", "slots" },
				      .values = { "{\"GPU\":[0,1]}", "2" },
				      .count = 2 };
	struct config c;
	struct dp_err err;

	(void)state;
	assert_int_equal(config_load(&c, &from, &err), DP_OK);
	config_clear(&c);
	from.values[1] = "1";
	assert_int_equal(config_load(&c, &from, &err), DP_OK);
	config_clear(&c);
	from.values[1] = "3";
	assert_int_equal(config_load(&c, &from, &err), DP_E_INVALID);
	assert_string_equal(err.msg, "slot_env.GPU has 2 values for 3 slots: there must "
				     "be one for each");
	assert_string_equal(err.hint, "add values, or say slots: 2");
	config_clear(&c);
}

static void test_changed(void **state)
{
	const char *const values[][2] = {
		{ "slots", "7" },
		{ "socket_group", any_group()->gr_name },
		{ "log_level", "error" },
		{ "retention", "1d" },
		{ "disk_watermark", "0" },
		{ "stop_policy", "finish" },
		{ "max_clients", "1" },
		{ "client_idle", "1h" },
		{ "client_patience", "forever" },
		{ "client_memory", "1G" },
		{ "report_interval", "0" },
		{ "hooks", "[{\"on\":[\"failed\"],\"command\":[\"x\"]}]" },
		{ "slot_env", "{\"GPU\":[\"0\",\"1\"]}" },
		{ "executor", "slurm" },
		{ "slurm", "{\"jobs\":1}" },
	};
	struct config a, b;
	struct config_option_doc doc;

	(void)state;
	config_set_defaults(&a);
	set_ok(&a, "slots", "6");
	for (size_t i = 0; i < DP_COUNT(values); i++) {
		config_set_defaults(&b);
		set_ok(&b, "slots", "6");
		expect_changed(&a, &b, "");
		set_ok(&b, values[i][0], values[i][1]);
		expect_changed(&a, &b, values[i][0]);
		expect_changed(&b, &a, values[i][0]);
		config_clear(&b);
	}
	/* an option that is new in the table wants a row above, too */
	assert_false(config_get_doc(DP_COUNT(values), &doc));
	config_set_defaults(&b);
	set_ok(&b, "slots", "8");
	set_ok(&b, "max_clients", "8");
	expect_changed(&a, &b, "slots,max_clients");
	config_clear(&b);
	config_clear(&a);
}

static void test_docs(void **state)
{
	struct config c;
	struct config_option_doc doc;
	struct dp_err err;
	size_t n = 0;

	(void)state;
	config_set_defaults(&c);
	for (; config_get_doc(n, &doc); n++) {
		size_t len = strlen(doc.help);

		assert_true(len > 10 && doc.help[len - 1] == '.');
		assert_true(strlen(doc.type) > 3 && strlen(doc.default_text) > 1);
		/* a type that was cut off would be as long as its room */
		assert_true(strlen(doc.type) < sizeof doc.type - 1);
		/* the default that people are told of is one, where it is no sentence */
		if (!strchr(doc.default_text, ' ') && strcmp(doc.default_text, "none") != 0)
			assert_int_equal(config_set(&c, doc.name, doc.default_text, &err), DP_OK);
	}
	assert_true(n >= 8);
	config_clear(&c);
}

static void test_log_line(void **state)
{
	const char *path = in_folder("log");
	struct logger l = { .level = LOG_INFO };
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;

	(void)state;
	l.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(l.fd >= 0);
	log_line(&l, LOG_WARN, "s/1", "two\nlines %d", 2);
	log_line(&l, LOG_DEBUG, "", "not told");
	l.journald = true;
	log_line(&l, LOG_ERROR, "", "bad");
	close(l.fd);
	assert_int_equal(dp_read_file(path, 4096, &text, &err), DP_OK);
	assert_non_null(strstr(dp_buf_text(&text), "Z warn  s/1: two lines 2\n<3>bad\n"));
	assert_null(strstr(dp_buf_text(&text), "not told"));
	dp_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_kind_name),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_mistakes),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_hook_mistakes),
		cmocka_unit_test(test_slot_env),
		cmocka_unit_test(test_slot_env_mistakes),
		cmocka_unit_test(test_slot_env_for_each),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_slurm),
		cmocka_unit_test(test_slurm_mistakes),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_docs),
		cmocka_unit_test(test_log_line),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
