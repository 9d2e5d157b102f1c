/* options.h - a command line, read by the command's own option table.
 *
 * Owns the options that every command has. What was given is kept in struct ctl and
 * points into argv. */
#ifndef DP_CTL_OPTION_PARSER_H
#define DP_CTL_OPTION_PARSER_H
#include "ctl/ctl_command.h"

extern const struct ctl_option ctl_global_options[];

/* Reads the options of `command` (NULL: those before a command, stops at the first
 * word) and leaves the other arguments in ctl->argv. */
DP_MUSTCHECK int ctl_parse_options(struct ctl *ctl, const struct ctl_command *command, int argc,
				   char **argv, struct dp_err *err);
/* The last value given for an option, "" for a flag, NULL if not given. */
const char *ctl_get_option(const struct ctl *ctl, const char *name);
bool ctl_has_option(const struct ctl *ctl, const char *name);
/* The numbers of a list like "3,5-8": appends to *list (the caller frees it). */
DP_MUSTCHECK int ctl_parse_trial_ranges(const char *text, uint32_t **list, size_t *count,
					struct dp_err *err);
/* The format of -o for a name, or -1. */
int ctl_parse_format_name(const char *name);

#endif
