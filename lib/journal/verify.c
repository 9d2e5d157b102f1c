/* verify.c - reads a whole journal and tells every fault. */
#include "journal/journal.h"

#include <stdio.h>

struct verify {
	dp_verify_fn *bad;
	void *arg;
	struct dp_verify_result *result;
	struct dp_event event; /* its memory is used again for each record */
	uint32_t study, next;  /* the key that should come now */
};

static void verify_report(struct verify *v, uint32_t study, uint32_t seq,
			  const char *fault)
{
	v->result->faults++;
	if (v->bad)
		v->bad(v->arg, study, seq, fault);
}

static void check_key(struct verify *v, uint32_t study, uint32_t seq)
{
	char text[128];

	if (study != v->study) {
		v->result->studies++;
		v->study = study;
		v->next = 0;
		if (study == 0)
			verify_report(v, study, seq, "studies are counted from 1");
	}
	if (seq == v->next + 1)
		snprintf(text, sizeof text, "record %u before it is missing", v->next);
	else
		snprintf(text, sizeof text, "records %u to %u before it are missing",
			 v->next, seq - 1);
	if (seq != v->next)
		verify_report(v, study, seq, text);
	v->next = seq + 1;
}

static int verify_one(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		      size_t len, struct dp_err *err)
{
	struct verify *v = arg;
	struct dp_err why;

	v->result->records++;
	v->result->bytes += len;
	check_key(v, study, seq);
	switch (dp_event_decode(bytes, len, &v->event, &why)) {
	case DP_OK:
		return DP_OK;
	case DP_E_CORRUPT:
		verify_report(v, study, seq, why.msg);
		return DP_OK;
	default: /* says nothing about the record */
		if (err)
			*err = why;
		return why.code;
	}
}

int dp_journal_verify(struct dp_journal *j, dp_verify_fn *bad, void *arg,
		      struct dp_verify_result *out, struct dp_err *err)
{
	struct verify v = { .bad = bad, .arg = arg, .result = out, .study = UINT32_MAX };
	int code;

	*out = (struct dp_verify_result){ 0 };
	code = dp_journal_each(j, 0, verify_one, &v, err);
	dp_event_clear(&v.event);
	return code;
}
