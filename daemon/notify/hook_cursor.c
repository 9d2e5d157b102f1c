/* hook_cursor.c - keeps how far hooks were run in a file: {"version":1,"studies":{"3":17}}, where
 * 17 is the study's next record to report. Replaced atomically; an unreadable file counts as
 * missing. */
#include "daemon/notify/hook_cursor.h"

#include "base/fs.h"
#include "base/json.h"
#include "daemon/core/background_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	HOOK_CURSOR_FILE_MAX = 16 << 20 /* 100,000 studies need 2 MB */
};

struct hook_cursor {
	struct daemon *daemon;
	char *path;
	json_t *studies; /* as in the file; NULL: no file */
	struct background_job job;
	struct dp_buf text; /* new file content; owned by the worker thread while it runs */
};

struct hook_cursor *hook_cursor_open(struct daemon *d)
{
	struct hook_cursor *cursor = dp_calloc(1, sizeof *cursor);
	struct dp_err ignored;
	json_t *file = NULL;

	cursor->daemon = d;
	cursor->path = dp_path_join(d->paths.state_dir, "hooks.told");
	if (dp_json_read_file(cursor->path, HOOK_CURSOR_FILE_MAX, &file, &ignored) == DP_OK)
		cursor->studies = json_incref(json_object_get(file, "studies"));
	json_decref(file);
	return cursor;
}

uint32_t hook_cursor_next_seq(const struct hook_cursor *cursor, uint32_t study_id)
{
	char key[16];

	if (!json_is_object(cursor->studies))
		return UINT32_MAX;
	snprintf(key, sizeof key, "%u", study_id);
	/* a study that is not in the file was created later */
	return (uint32_t)dp_json_int(cursor->studies, key, 0);
}

static void hook_cursor_format(struct hook_cursor *cursor, json_t *studies)
{
	json_t *file = json_pack("{s:i, s:o}", "version", 1, "studies", studies);

	dp_buf_clear(&cursor->text);
	dp_json_dump(&cursor->text, file, 0);
	json_decref(file);
}

static void hook_cursor_write_worker(void *arg)
{
	const struct hook_cursor *cursor = arg;

	if (dp_write_file(cursor->path, cursor->text.data, cursor->text.len, true, NULL) != DP_OK) {
		/* at worst some hooks run twice after a crash */
	}
}

static void hook_cursor_remove_worker(void *arg)
{
	const struct hook_cursor *cursor = arg;

	if (unlink(cursor->path) != 0) {
		/* no file existed */
	}
}

static void on_hook_cursor_saved(void *arg)
{
	(void)arg;
}

bool hook_cursor_save(struct hook_cursor *cursor, json_t *studies)
{
	if (cursor->job.is_running) {
		json_decref(studies);
		return false;
	}
	if (studies)
		hook_cursor_format(cursor, studies);
	background_job_start(cursor->daemon, &cursor->job,
			     studies ? hook_cursor_write_worker : hook_cursor_remove_worker,
			     on_hook_cursor_saved, cursor);
	return true;
}

void hook_cursor_close(struct hook_cursor *cursor, json_t *studies)
{
	if (studies) {
		hook_cursor_format(cursor, studies);
		hook_cursor_write_worker(cursor);
	}
	json_decref(cursor->studies);
	dp_buf_free(&cursor->text);
	free(cursor->path);
	free(cursor);
}
