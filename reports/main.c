/* main.c - dpareto-report: read options and write the files of one report. */
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

/* Creates the directory and waits until no other process writes a report there. The lock lasts
 * until the process exits. *path: the absolute path. */
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

static int write_report_file(const char *folder, const char *name, const struct dp_buf *bytes,
			     struct dp_err *err)
{
	char *path = dp_path_join(folder, name);
	int code = dp_write_file(path, bytes->data, bytes->len, false, err);

	free(path);
	return code;
}

static void remove_file(const char *folder, const char *name)
{
	char *path = dp_path_join(folder, name);

	unlink(path);
	free(path);
}

/* Writes the files of the figures. `stale`: removes files of an earlier report that this one does
 * not have. */
static int update_figure_files(const struct report_model *report, const char *folder, bool stale,
			       struct dp_err *err)
{
	/* drawn by earlier versions only */
	static const struct figure removed = { .name = "front-log" };
	static const struct rendered_figure nothing;
	struct rendered_file files[RENDERED_FILE_COUNT];
	char name[FIGURE_FILENAME_LEN];
	int code = DP_OK;

	for (size_t i = 0; i == 0 || report_figures[i - 1]; i++) {
		const struct figure *figure = report_figures[i] ? report_figures[i] : &removed;
		const struct rendered_figure *drawn = &nothing;

		for (size_t k = 0; k < report->nfigures; k++)
			if (report->figures[k].figure == figure)
				drawn = &report->figures[k];
		rendered_figure_files(drawn, files);
		for (size_t k = 0; code == DP_OK && k < RENDERED_FILE_COUNT; k++) {
			figure_format_filename(figure, files[k].extension, name);
			if (files[k].bytes->len && !stale)
				code = write_report_file(folder, name, files[k].bytes, err);
			else if (!files[k].bytes->len && stale)
				remove_file(folder, name);
		}
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

/* Sets the mtime of report.html to the time of the last journal record that it shows. A report with
 * the mtime of the journal is complete and up to date. */
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

/* Replaces each file atomically, report.html last. */
static int write_report(const struct report_model *report, const char *folder, struct dp_err *err)
{
	const struct report_data *r = report->data;
	int64_t updated = r->studies[0].state->updated_us;
	int code = update_figure_files(report, folder, false, err);

	if (code == DP_OK)
		code = write_texts(folder, report, err);
	if (code == DP_OK)
		code = update_figure_files(report, folder, true, err);
	if (code != DP_OK)
		return code;
	for (size_t i = 1; r->groups && i < r->nstudies; i++)
		if (r->studies[i].state->updated_us > updated)
			updated = r->studies[i].state->updated_us;
	set_html_mtime(folder, updated);
	return DP_OK;
}

/* Prints one line of JSON. Takes the reference. */
static void print_json(json_t *answer)
{
	struct dp_buf out = DP_BUF_INIT;

	dp_json_dump(&out, answer, 0);
	puts(dp_buf_text(&out));
	dp_buf_free(&out);
	json_decref(answer);
}

static void print_report_result(const struct report_options *o, const char *folder,
				const json_t *json)
{
	char *html = dp_path_join(folder, "report.html");
	json_t *answer;

	if (o->json) {
		answer = json_object();
		json_object_set(answer, "study", json_object_get(json, "study"));
		put_text(answer, "folder", folder);
		put_text(answer, "html", html);
		json_object_set(answer, "figures", json_object_get(json, "figures"));
		print_json(answer);
	} else {
		puts(html);
	}
	free(html);
}

/* STATE/studies/STUDY/report, or STATE/reports/A-B for groups. */
static char *default_report_dir(const struct report_data *r, const char *state)
{
	/* other characters become '-', and so does a leading dot: ".." would be another
	 * directory */
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *end = r->is_public ? "-public" : "";
	struct dp_buf names = DP_BUF_INIT;
	char *folder;

	if (!r->groups)
		return dp_asprintf("%s/studies/%s/report%s", state, r->studies[0].state->spec->name,
				   end);
	for (size_t i = 0; i < r->groups->contests[0].n; i++) {
		const char *c = r->groups->contests[0].groups[i].name;

		dp_buf_puts(&names, i ? "-" : "");
		for (; *c && names.len < 120; c++)
			dp_buf_putc(&names,
				    strchr(plain, *c) && (names.len || *c != '.') ? *c : '-');
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
	char *state = NULL, *journal, *real;
	int code;

	if (!o->journal_path)
		state = o->state_dir ? dp_strdup(o->state_dir) : dp_default_state_dir();
	if (!o->journal_path && !state)
		return dp_fail(err, DP_E_USAGE,
			       "no home folder is known; name the state folder with --state");
	journal = state ? dp_path_join(state, "journal") : dp_strdup(o->journal_path);
	real = realpath(journal, NULL);
	if (real) { /* as the report prints it; otherwise the open fails and reports the name */
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

int main(int argc, char **argv)
{
	struct report_options o = { 0 };
	struct report_data r = { 0 };
	struct dp_err err = { 0 };
	int code;

	dp_alloc_init();
	code = report_parse_options(&o, &r, argc, argv, &err);
	dp_linalg_set_single_thread(); /* same bits on every machine of one type */
	if (code == DP_OK && o.help)
		report_help();
	else if (code == DP_OK && o.version)
		printf("dpareto-report %s\n", PACKAGE_VERSION);
	else if (code == DP_OK)
		code = run_report(&o, &r, &err);
	if (code != DP_OK && o.json) {
		print_json(json_pack("{s:o}", "error", dp_json_from_error(&err)));
	} else if (code != DP_OK) {
		fprintf(stderr, "dpareto-report: %s\n", err.msg);
		if (err.hint[0])
			fprintf(stderr, "hint: %s\n", err.hint);
	}
	report_data_free(&r);
	plot_shutdown();
	return dp_code_exit(code);
}
