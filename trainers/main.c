/* main.c - dpareto-train: selects a built-in trainer and runs it.
 *
 * Signals keep their default actions except while a model is trained (training_progress.c): every
 * line of a result is one write, so that TERM leaves only whole lines behind. */
#include "config.h"
#include "trainers/trainers.h"

#include <stdio.h>
#include <string.h>

static const struct trainer *const trainers[] = { &linear_trainer, &mlp_trainer, &output_trainer,
						  &svt_trainer };

static void print_trainers(FILE *to)
{
	fputs("usage: dpareto-train TRAINER [OPTION...]\n"
	      "\n"
	      "The built-in trainers, as `trainer.command` of a study. They speak the\n"
	      "trainer protocol, which docs/trainer-protocol.md describes: the request is\n"
	      "read from $DPARETO_REQUEST, results go to $DPARETO_RESULT.\n"
	      "\n"
	      "Trainers:\n",
	      to);
	for (size_t i = 0; i < DP_COUNT(trainers); i++)
		fprintf(to, "  %-20s %s\n", trainers[i]->name, trainers[i]->summary);
	fputs("\n"
	      "'dpareto-train TRAINER --help' tells its options, parameters and metrics.\n"
	      "Exit codes: 0 done, 1 failed, 2 wrong usage.\n",
	      to);
}

static int report_trainer_error(const struct dp_err *err)
{
	fprintf(stderr, "dpareto-train: %s\n", err->msg);
	if (err->hint[0])
		fprintf(stderr, "%s\n", err->hint);
	return err->code == DP_E_USAGE ? 2 : 1;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static const struct trainer *find_trainer(const char *name, struct dp_err *err)
{
	const char *names[DP_COUNT(trainers) + 1] = { NULL }, *near;

	for (size_t i = 0; i < DP_COUNT(trainers); i++) {
		if (strcmp(trainers[i]->name, name) == 0)
			return trainers[i];
		names[i] = trainers[i]->name;
	}
	dp_fail(err, DP_E_USAGE, "there is no trainer '%s'", name);
	near = dp_nearest_word(name, names);
	if (near)
		dp_hint(err, "Did you mean '%s'?", near);
	else
		dp_hint(err, "'dpareto-train --help' lists them.");
	return NULL;
}

int main(int argc, char **argv)
{
	const struct trainer *t;
	struct dp_err err = { 0 };

	dp_alloc_init();
	if (argc < 2) {
		print_trainers(stderr);
		return 2;
	}
	if (is_help(argv[1])) {
		print_trainers(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("dpareto-train " PACKAGE_VERSION);
		return 0;
	}
	t = find_trainer(argv[1], &err);
	if (!t)
		return report_trainer_error(&err);
	for (int i = 2; i < argc; i++) {
		if (is_help(argv[i])) {
			trainer_options_print_help(t, stdout);
			return 0;
		}
	}
	if (t->run(argc - 1, argv + 1, &err) != DP_OK)
		return report_trainer_error(&err);
	return 0;
}
