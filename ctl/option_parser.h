/* option_parser.h - parses a command line by the option table of its command.
 *
 * Parsed options are kept in struct ctl and point into argv. */
#ifndef DP_CTL_OPTION_PARSER_H
#define DP_CTL_OPTION_PARSER_H
#include "ctl/ctl_command.h"

DP_MUSTCHECK int ctl_dispatch(struct ctl *ctl, int argc, char **argv, struct dp_err *err);
/* Parses the options of `command` and leaves the other arguments in ctl->argv. command NULL: the
 * options before a command name; stops at the first word. */
DP_MUSTCHECK int ctl_parse_options(struct ctl *ctl, const struct ctl_command *command, int argc,
				   char **argv, struct dp_err *err);
/* Parses a list like "3,5-8" and appends its numbers to *list, which the caller frees. */
DP_MUSTCHECK int ctl_parse_trial_ranges(const char *text, uint32_t **list, size_t *count,
					struct dp_err *err);
/* Returns the format of an -o name, or -1. */
int ctl_parse_format_name(const char *name);

#endif
