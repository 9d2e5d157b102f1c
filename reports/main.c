/* main.c - dpareto-report: options, then the files of one report. */
#include "config.h"
#include "reports/model/report_data.h"
#include "reports/model/study_groups.h"
#include "reports/report_options.h"
#include "reports/text/report_document.h"

#include "base/fs.h"
#include "base/json.h"
#include "linalg/linalg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders ---- */

/* The state folder, or NULL where only a journal was named. */
static int find_state_dir(const struct report_options *o, char **state, struct dp_err *err)
{
	*state = NULL;
	if (o->journal_path)
		return DP_OK;
	*state = o->state_dir ? dp_strdup(o->state_dir) : dp_default_state_dir();
	return *state ? DP_OK
		      : dp_fail(err, DP_E_USAGE,
				"no home folder is known; name the state folder with --state");
}

/* Makes the folder and waits for whoever else writes a report there; the lock ends
 * with the program. Its absolute path in *path. */
static int lock_report_dir(const char *dir, char **path, struct dp_err *err)
{
	int fd, code = dp_mkdirs(dir, 0755, err);

	if (code != DP_OK)
		return code;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*path = realpath(dir, NULL);
	if (fd < 0 || !*path || flock(fd, LOCK_EX) != 0)
		return dp_fail_errno(err, errno, "cannot use the folder %s", dir);
	return DP_OK;
}

/* ---- files ---- */

static int write_report_file(const char *folder, const char *name, const struct dp_buf *bytes,
			     struct dp_err *err)
{
	char *path = dp_path_join(folder, name);
	int code = dp_write_file(path, bytes->data, bytes->len, false, err);

	free(path);
	return code;
}

/* The bytes of this file of a figure, of a report with these pictures; NULL: it has none.
 */
static const struct dp_buf *find_figure_bytes(const struct report_model *report,
					      const struct figure *figure, size_t kind)
{
	struct rendered_file files[RENDERED_FILE_COUNT];

	for (size_t i = 0; i < report->nfigures; i++) {
		rendered_figure_files(&report->figures[i], files);
		if (report->figures[i].figure == figure && files[kind].bytes->len)
			return files[kind].bytes;
	}
	return NULL;
}

/* Figures that earlier versions drew and this one does not know. */
static const struct figure removed_figures[] = { { .name = "front-log" } };

static void remove_file(const char *folder, const char *name)
{
	char *path = dp_path_join(folder, name);

	unlink(path);
	free(path);
}

/* Files of figures of an earlier report that this one has not. */
static void remove_stale(const char *folder, const struct report_model *report)
{
	struct rendered_file files[RENDERED_FILE_COUNT];
	char file[FIGURE_FILENAME_LEN];

	rendered_figure_files(&(struct rendered_figure){ 0 }, files);
	for (size_t i = 0; i < DP_COUNT(removed_figures); i++)
		for (size_t k = 0; k < RENDERED_FILE_COUNT; k++)
			remove_file(folder, figure_format_filename(&removed_figures[i],
								   files[k].extension, file));
	for (size_t i = 0; report_figures[i]; i++) {
		for (size_t k = 0; k < RENDERED_FILE_COUNT; k++)
			if (!find_figure_bytes(report, report_figures[i], k))
				remove_file(folder,
					    figure_format_filename(report_figures[i],
								   files[k].extension, file));
	}
}

static int write_figure_files(const struct report_model *report, const char *folder,
			      struct dp_err *err)
{
	struct rendered_file files[RENDERED_FILE_COUNT];
	char file[FIGURE_FILENAME_LEN];
	int code = DP_OK;

	for (size_t i = 0; i < report->nfigures; i++) {
		rendered_figure_files(&report->figures[i], files);
		for (size_t k = 0; code == DP_OK && k < RENDERED_FILE_COUNT; k++)
			if (files[k].bytes->len)
				code = write_report_file(
					folder,
					figure_format_filename(report->figures[i].figure,
							       files[k].extension, file),
					files[k].bytes, err);
	}
	return code;
}

static int write_texts(const char *folder, const struct report_model *report, struct dp_err *err)
{
	struct doc *d = doc_new(DOC_MARKDOWN);
	struct dp_buf out = DP_BUF_INIT;
	int code;

	dp_json_dump(&out, report->json, 2);
	dp_buf_putc(&out, '\n');
	code = write_report_file(folder, "report.json", &out, err);
	dp_buf_clear(&out);
	report_document_write(d, report);
	doc_render(d, &out);
	doc_free(d);
	if (code == DP_OK)
		code = write_report_file(folder, "report.md", &out, err);
	dp_buf_clear(&out);
	report_html_write(report, &out);
	if (code == DP_OK)
		code = write_report_file(folder, "report.html", &out, err);
	dp_buf_free(&out);
	return code;
}

/* report.html gets the time of the last record that it shows: whoever finds that of the
 * journal there knows that the report is whole and up to date. */
static void set_html_mtime(const char *folder, int64_t updated)
{
	struct timespec t = { .tv_sec = (time_t)(updated / 1000000),
			      .tv_nsec = (long)(updated % 1000000) * 1000 };
	struct timespec times[2] = { t, t };
	char *path = dp_path_join(folder, "report.html");

	if (utimensat(AT_FDCWD, path, times, 0) != 0)
		fprintf(stderr, "dpareto-report: cannot set the time of %s: %s\n", path,
			strerror(errno));
	free(path);
}

/* When the last of the studies that it shows changed. */
static int64_t last_change(const struct report_data *r)
{
	int64_t updated = r->studies[0].state->updated_us;

	for (size_t i = 1; r->groups && i < r->nstudies; i++)
		if (r->studies[i].state->updated_us > updated)
			updated = r->studies[i].state->updated_us;
	return updated;
}

/* Each file whole or not at all, report.html last. */
static int write_report(const struct report_model *report, const char *folder, struct dp_err *err)
{
	int code = write_figure_files(report, folder, err);

	if (code == DP_OK)
		code = write_texts(folder, report, err);
	if (code != DP_OK)
		return code;
	remove_stale(folder, report);
	set_html_mtime(folder, last_change(report->data));
	return DP_OK;
}

/* ---- the whole way ---- */

static void print_report_result(const struct report_options *o, const char *folder,
				const json_t *json)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *answer;

	if (!o->json) {
		printf("%s/report.html\n", folder);
		return;
	}
	answer = json_pack("{s:O, s:s, s:o, s:O}", "study", json_object_get(json, "study"),
			   "folder", folder, "html", json_sprintf("%s/report.html", folder),
			   "figures", json_object_get(json, "figures"));
	dp_json_dump(&out, answer, 0);
	puts(dp_buf_text(&out));
	dp_buf_free(&out);
	json_decref(answer);
}

/* Letters, digits and dots of a name; others are a dash, and so is a dot at the
 * beginning:
 * ".." would be another folder. */
static void append_dir_name(struct dp_buf *out, const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (; *name && out->len < 120; name++)
		dp_buf_putc(out, strchr(plain, *name) && (out->len || *name != '.') ? *name : '-');
}

/* STATE/studies/STUDY/report, or of groups STATE/reports/A-B. */
static char *default_report_dir(const struct report_data *r, const char *state)
{
	const char *end = r->is_public ? "-public" : "";
	struct dp_buf names = DP_BUF_INIT;
	char *folder;

	if (!r->groups)
		return dp_asprintf("%s/studies/%s/report%s", state, r->studies[0].state->spec->name,
				   end);
	for (size_t i = 0; i < r->groups->contests[0].n; i++) {
		dp_buf_puts(&names, i ? "-" : "");
		append_dir_name(&names, r->groups->contests[0].groups[i].name);
	}
	folder = dp_asprintf("%s/reports/%s%s", state, dp_buf_text(&names), end);
	dp_buf_free(&names);
	return folder;
}

static int make_report(const struct report_options *o, struct report_data *r, const char *state,
		       struct dp_err *err)
{
	char *dir = o->output_dir ? dp_strdup(o->output_dir) : default_report_dir(r, state);
	struct rendered_figure *pictures = NULL;
	struct report_model model = { 0 };
	char *folder = NULL;
	size_t n = 0;
	int code = lock_report_dir(dir, &folder, err);

	if (code == DP_OK && !r->studies[0].view.hides_search)
		code = figures_render(r, o->figures, &pictures, &n, err);
	if (code == DP_OK)
		code = report_model_build(r, pictures, n, &model, err);
	if (code == DP_OK)
		code = write_report(&model, folder, err);
	if (code == DP_OK)
		print_report_result(o, folder, model.json);
	report_model_free(&model);
	rendered_figures_free(pictures, n);
	free(folder);
	free(dir);
	return code;
}

static int run_report(const struct report_options *o, struct report_data *r, struct dp_err *err)
{
	char *state = NULL, *journal = NULL, *real;
	int code = find_state_dir(o, &state, err);

	if (code != DP_OK)
		return code;
	journal = state ? dp_path_join(state, "journal") : dp_strdup(o->journal_path);
	real = realpath(journal, NULL);
	if (real) { /* as the report names it; what is not there is told by name */
		free(journal);
		journal = real;
	}
	if (r->ngroup_specs)
		code = report_data_load_groups(r, journal, o->studies, o->nstudies, err);
	else
		code = report_data_load(r, journal, o->studies, o->nstudies, err);
	if (code == DP_OK)
		code = report_check_reference_front(r, err);
	if (code == DP_OK && r->is_public)
		code = redaction_check_leaks(r, err);
	if (code == DP_OK && r->is_public)
		redaction_strip_private(r);
	if (code == DP_OK)
		code = make_report(o, r, state, err);
	free(journal);
	free(state);
	return code;
}

static void print_report_error(const struct report_options *o, const struct dp_err *err)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *answer;

	if (!o->json) {
		fprintf(stderr, "dpareto-report: %s\n", err->msg);
		if (err->hint[0])
			fprintf(stderr, "hint: %s\n", err->hint);
		return;
	}
	answer = json_pack("{s:o}", "error", dp_json_from_error(err));
	dp_json_dump(&out, answer, 0);
	puts(dp_buf_text(&out));
	dp_buf_free(&out);
	json_decref(answer);
}

int main(int argc, char **argv)
{
	struct report_options o = { 0 };
	struct report_data r = { 0 };
	struct dp_err err = { 0 };
	int code;

	dp_alloc_init();
	code = report_parse_options(&o, &r, argc, argv, &err);
	dp_linalg_set_single_thread(); /* same bits on every machine of a kind */
	if (code == DP_OK && o.help)
		report_help();
	else if (code == DP_OK && o.version)
		printf("dpareto-report %s\n", PACKAGE_VERSION);
	else if (code == DP_OK)
		code = run_report(&o, &r, &err);
	if (code != DP_OK)
		print_report_error(&o, &err);
	report_data_free(&r);
	plot_shutdown();
	return dp_code_exit(code);
}
