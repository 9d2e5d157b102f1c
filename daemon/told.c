/* told.c - the file that says how far hooks were told: {"version":1,"studies":{"3":17}},
 * where 17 is the number of the study's next record to tell. Written whole or not at
 * all; one that cannot be read counts as none. */
#include "daemon/told.h"

#include "base/fs.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	TOLD_MAX = 16 << 20 /* bytes; 100,000 studies need 2 MB */
};

struct told {
	struct dpd *d;
	char *path;
	json_t *studies; /* as the file had it; NULL: there was none */
	uv_work_t work;
	bool busy;
	struct dp_buf text; /* of the file; the worker's while busy */
};

struct told *told_open(struct dpd *d)
{
	struct told *t = calloc(1, sizeof *t);
	struct dp_err ignored;
	json_t *file = NULL;

	if (!t)
		return NULL;
	t->d = d;
	t->work.data = t;
	t->path = dp_path_join(d->at.state_dir, "hooks.told");
	if (!t->path) {
		free(t);
		return NULL;
	}
	if (dp_json_read(t->path, TOLD_MAX, &file, &ignored) == DP_OK)
		t->studies = json_incref(json_object_get(file, "studies"));
	json_decref(file);
	return t;
}

uint32_t told_upto(const struct told *t, uint32_t study)
{
	char key[16];

	if (!json_is_object(t->studies))
		return UINT32_MAX;
	snprintf(key, sizeof key, "%u", study);
	/* a study that the file does not know was created since */
	return (uint32_t)dp_json_int(t->studies, key, 0);
}

static void told_text(struct told *t, json_t *studies)
{
	json_t *file = json_pack("{s:i, s:o}", "version", 1, "studies", studies);

	dp_buf_clear(&t->text);
	if (file)
		dp_json_dump(&t->text, file, 0);
	t->text.failed |= !file;
	json_decref(file);
}

static void told_write(uv_work_t *work)
{
	struct told *t = work->data;

	/* a disk that refuses it has hooks told twice after the next crash, no more */
	if (t->text.failed ||
	    dp_write_file(t->path, t->text.data, t->text.len, true, NULL) != DP_OK)
		return;
}

static void told_remove(uv_work_t *work)
{
	const struct told *t = work->data;

	if (unlink(t->path) != 0) {
		/* there was none */
	}
}

static void told_done(uv_work_t *work, int status)
{
	struct told *t = work->data;

	(void)status;
	t->busy = false;
}

bool told_save(struct told *t, json_t *studies)
{
	if (t->busy) {
		json_decref(studies);
		return false;
	}
	if (studies)
		told_text(t, studies);
	t->busy = true;
	uv_queue_work(&t->d->loop, &t->work, studies ? told_write : told_remove, told_done);
	return true;
}

void told_close(struct told *t, json_t *studies)
{
	if (studies) {
		told_text(t, studies);
		told_write(&t->work);
	}
	json_decref(t->studies);
	dp_buf_free(&t->text);
	free(t->path);
	free(t);
}
