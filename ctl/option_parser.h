/* option_parser.h - a command line, read by the command's own option table.
 *
 * What was given is kept in struct ctl and points into argv. */
#ifndef DP_CTL_OPTION_PARSER_H
#define DP_CTL_OPTION_PARSER_H
#include "ctl/ctl_command.h"

/* Reads a whole command line and runs its command. */
DP_MUSTCHECK int ctl_dispatch(struct ctl *ctl, int argc, char **argv, struct dp_err *err);
/* Reads the options of `command` (NULL: those before a command, stops at the first
 * word) and leaves the other arguments in ctl->argv. */
DP_MUSTCHECK int ctl_parse_options(struct ctl *ctl, const struct ctl_command *command, int argc,
				   char **argv, struct dp_err *err);
/* The numbers of a list like "3,5-8": appends to *list (the caller frees it). */
DP_MUSTCHECK int ctl_parse_trial_ranges(const char *text, uint32_t **list, size_t *count,
					struct dp_err *err);
/* The format of -o for a name, or -1. */
int ctl_parse_format_name(const char *name);

#endif
