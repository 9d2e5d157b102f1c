/* table.h - text tables and CSV fields.
 *
 * A struct ctl_table owns copies of its titles and cells. */
#ifndef DP_CTL_UI_TABLE_H
#define DP_CTL_UI_TABLE_H
#include "base/buf.h"
#include "ctl/ctl_output.h"

struct ctl_table;
enum ctl_align {
	CTL_LEFT,
	CTL_RIGHT,
	CTL_FLEX, /* left; shortened first when the line is too long */
};
/* Columns as in "TRIAL>|STATE|MESSAGE*": '>' right-aligned, '*' flexible. "" for none. */
struct ctl_table *ctl_table_new(const char *columns);
void ctl_table_free(struct ctl_table *t);
void ctl_table_add_column(struct ctl_table *t, const char *title, enum ctl_align align);
void ctl_table_add_cell(struct ctl_table *t, enum ctl_style style, const char *format, ...)
	DP_PRINTF(3, 4);
/* Add a cell: plain text, or a protocol value in short form. */
void ctl_table_add_text(struct ctl_table *t, const char *text);
void ctl_table_add_value(struct ctl_table *t, const json_t *value);
size_t ctl_table_count_rows(const struct ctl_table *t);
/* Appends the table. columns 0: no limit. */
void ctl_table_format(const struct ctl_table *t, struct dp_buf *out, int columns, bool color,
		      bool utf8);
/* Prints the table to ctl->out at the terminal's width and frees it. */
void ctl_table_print(struct ctl *ctl, struct ctl_table *t);

/* Appends a CSV field, quoted where RFC 4180 requires it. */
void ctl_append_csv_field(struct dp_buf *out, const char *text, bool first);

#endif
