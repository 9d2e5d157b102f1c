/* fuzz_slurm.c - any bytes as the answer of squeue, sacct or sbatch: rows that can be
 * found again, a number that is one, or nothing. */
#include "daemon/executors/slurm/slurm_command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static void check_row(const struct slurm_rows *rows, const struct slurm_row *r)
{
	const struct slurm_row *found = slurm_rows_find(rows, r->name, r->task);

	demand(isdigit((unsigned char)r->id[0]) && strlen(r->id) < SLURM_ID_LEN);
	demand(r->state_word && r->nodes && r->name && r->reason);
	demand(found && found <= r && strcmp(found->name, r->name) == 0 && found->task == r->task);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_buf text = DP_BUF_INIT;
	struct slurm_rows rows;
	char id[SLURM_ID_LEN];

	dp_buf_add(&text, data, size);
	slurm_rows_parse(&text, &rows);
	for (size_t i = 0; i < rows.n; i++)
		check_row(&rows, &rows.list[i]);
	slurm_rows_free(&rows);
	if (slurm_id_parse(dp_buf_text(&text), id))
		demand(id[0] && strspn(id, "0123456789") == strlen(id));
	dp_buf_free(&text);
	return 0;
}
