/* A trainer in plain C: nothing of DPareto is needed to write one.
 *
 * It reads one parameter, `noise`, and reports two made-up metrics for every run it is
 * asked for: `error`, which grows with the noise, and `cost`, which falls with it.
 * c.yaml beside it is a study that uses it. Build: cc -o trainer trainer.c
 *
 * For one number a search in the text will do; for more use a JSON library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char request[1 << 20];

static FILE *open_named(const char *variable, const char *mode)
{
	const char *path = getenv(variable);
	FILE *f = path ? fopen(path, mode) : NULL;

	if (!f) {
		fprintf(stderr, "trainer: cannot open the file that %s names\n", variable);
		exit(1);
	}
	return f;
}

int main(void)
{
	FILE *in = open_named("DPARETO_REQUEST", "r");
	FILE *out = open_named("DPARETO_RESULT", "a");
	const char *p;
	unsigned run;
	long long seed;
	double noise;

	request[fread(request, 1, sizeof request - 1, in)] = '\0';
	p = strstr(request, "\"parameters\":"); /* 'privacy' has names of its own */
	p = p ? strstr(p, "\"noise\":") : NULL;
	if (!p || sscanf(p, "\"noise\":%lf", &noise) != 1 || !(noise > 0)) {
		fprintf(stderr, "trainer: the parameter 'noise' must be a number above 0\n");
		return 1;
	}
	p = strstr(request, "\"runs\":");
	while (p && (p = strstr(p, "{\"run\":")) != NULL) {
		if (sscanf(p, "{\"run\":%u,\"seed\":%lld", &run, &seed) != 2)
			return 1;
		srand((unsigned)seed); /* same seed, same result, in every retry */
		fprintf(out, "{\"run\":%u,\"metrics\":{\"error\":%.17g,\"cost\":%.17g}}\n", run,
			noise / (1 + noise) + 0.01 * rand() / RAND_MAX, 1 / noise);
		fflush(out);
		p++;
	}
	fprintf(out, "{\"done\":true}\n");
	return fclose(out) == 0 ? 0 : 1;
}
