/* main.c - the main program of dparetoctl: sets up streams and locale, and runs the command. */
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/option_parser.h"
#include "protocol/control/control_protocol.h"

#include <fcntl.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens closed standard streams. Otherwise the next opened file would get their descriptor, and
 * output would go into it. */
static void open_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) != fd)
			_exit(1);
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .out = stdout, .err_stream = stderr };
	struct dp_err err = { 0 }, write_err;
	int code;

	dp_alloc_init();
	open_standard_streams();
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "");
	ctl.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* texts are UTF-8 and measured as such, whatever the terminal's locale */
	setlocale(LC_CTYPE, "C.UTF-8");
	code = ctl_dispatch(&ctl, argc, argv, &err);
	if (code != DP_OK && !ctl.error_reported)
		ctl_print_error(&ctl, &err);
	if (ctl_flush(&ctl, &write_err) != DP_OK && code == DP_OK) {
		code = write_err.code;
		ctl.json_printed = true; /* standard output has failed: report on standard error */
		ctl_print_error(&ctl, &write_err);
	}
	dp_client_close(ctl.client);
	json_decref(ctl.readonly_info);
	free(ctl.given_options);
	free(ctl.mechanism_options);
	return dp_code_exit(code);
}
