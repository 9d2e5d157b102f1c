/* main.c - dparetoctl: finds the command and runs it. */
#include "config.h"

#include "ctl/command.h"
#include "ctl/output.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A closed standard stream would hand its number to the next file opened, and
 * output would go there. */
static void open_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) != fd)
			_exit(1);
}

/* Is standard output of this command line meant for a program, even if its options
 * cannot be read? */
static enum ctl_format guess_format(int argc, char **argv)
{
	const char *value = getenv("DPARETO_OUTPUT");

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if ((!strcmp(argv[i], "-o") || !strcmp(argv[i], "--output")) &&
		    i + 1 < argc)
			value = argv[i + 1];
		else if (strncmp(argv[i], "--output=", 9) == 0)
			value = argv[i] + 9;
		else if (strncmp(argv[i], "-o", 2) == 0 && argv[i][2])
			value = argv[i] + 2;
	}
	return value && strncmp(value, "json", 4) == 0 ? CTL_JSON : CTL_TABLE;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .out = stdout, .talk = stderr };
	struct dp_err err = { 0 }, write_err;
	int code;

	open_standard_streams();
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "");
	ctl.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* texts are UTF-8 whatever the terminal is, and are measured as such */
	setlocale(LC_CTYPE, "C.UTF-8");
	ctl.format = guess_format(argc, argv);

	code = ctl_dispatch(&ctl, argc, argv, &err);
	if (code != DP_OK && !ctl.told)
		ctl_put_error(&ctl, &err);
	if (ctl_flush(&ctl, &write_err) != DP_OK && code == DP_OK) {
		code = write_err.code;
		ctl.format = CTL_TABLE; /* standard output is the one that failed */
		ctl_put_error(&ctl, &write_err);
	}
	dp_client_close(ctl.client);
	free(ctl.given);
	return dp_code_exit(code);
}
