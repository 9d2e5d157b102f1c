/* help.h - formats help and the COMMANDS section of the man page from the command tables. */
#ifndef DP_CTL_HELP_H
#define DP_CTL_HELP_H
#include "base/buf.h"
#include "ctl/ctl_command.h"

void ctl_help_short(struct ctl *ctl);
void ctl_help_all(struct ctl *ctl);
void ctl_help_command(struct ctl *ctl, const struct ctl_command *command);
/* "dparetoctl submit [options] FILE..." */
void ctl_format_usage(const struct ctl_command *command, struct dp_buf *out);

#endif
