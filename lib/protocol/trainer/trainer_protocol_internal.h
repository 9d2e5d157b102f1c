/* trainer_protocol_internal.h - functions shared by the files of lib/protocol/trainer. */
#ifndef DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_INTERNAL_H
#define DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_INTERNAL_H
#include "protocol/trainer/trainer_protocol.h"

/* The number of the i-th requested run, and whether it was reported. */
uint32_t dp__result_reader_run_number(const struct dp_result_reader *r, size_t i);
bool dp__result_reader_has_run(const struct dp_result_reader *r, size_t i);
size_t dp__result_reader_count_runs(const struct dp_result_reader *r);

#endif
