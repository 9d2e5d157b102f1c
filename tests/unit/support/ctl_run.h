/* ctl_run.h - dparetoctl inside a test: one command line, what it printed, how it ended.
 * A test that includes this has <setjmp.h> and cmocka's headers after it. */
#ifndef TEST_CTL_RUN_H
#define TEST_CTL_RUN_H
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/option_parser.h"
#include "protocol/control/control_protocol.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ctl_run {
	struct ctl ctl;
	struct dp_err err;
	int code;         /* of enum dp_code */
	char *out, *talk; /* what was printed; after ctl_run_end() */
	size_t out_len, talk_len;
};

static inline void ctl_run_begin(struct ctl_run *r)
{
	*r = (struct ctl_run){ .code = DP_OK };
	/* as main() does: widths are counted in UTF-8 */
	setlocale(LC_CTYPE, "C.UTF-8");
	r->ctl.out = open_memstream(&r->out, &r->out_len);
	r->ctl.err_stream = open_memstream(&r->talk, &r->talk_len);
	r->ctl.utf8 = true;
}

static inline void ctl_run_end(struct ctl_run *r)
{
	fclose(r->ctl.out);
	fclose(r->ctl.err_stream);
	dp_client_close(r->ctl.client);
	free(r->ctl.given_options);
	free(r->ctl.mechanism_options);
}

static inline void ctl_run_free(struct ctl_run *r)
{
	free(r->out);
	free(r->talk);
}

/* Runs "dparetoctl" with the words that follow; the last is NULL. Errors are told as
 * main() tells them. */
static inline struct ctl_run ctl_run(const char *word, ...)
{
	char *argv[64] = { (char *)"dparetoctl" };
	struct ctl_run r;
	va_list ap;
	int argc = 1;

	va_start(ap, word);
	for (; word && argc < 63; word = va_arg(ap, const char *))
		argv[argc++] = (char *)word;
	va_end(ap);
	ctl_run_begin(&r);
	r.code = ctl_dispatch(&r.ctl, argc, argv, &r.err);
	if (r.code != DP_OK && !r.ctl.error_reported)
		ctl_print_error(&r.ctl, &r.err);
	ctl_run_end(&r);
	return r;
}

#endif
