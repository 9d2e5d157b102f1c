/* main.c - dpareto-report: options, then the files of one report. */
#include "config.h"
#include "reports/group_facts.h"
#include "reports/options.h"
#include "reports/text.h"

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
static int find_state_folder(const struct options *o, char **state, struct dp_err *err)
{
	*state = NULL;
	if (o->journal)
		return DP_OK;
	*state = o->state ? strdup(o->state) : dp_default_state_dir();
	return *state ? DP_OK
		      : dp_fail(err, DP_E_USAGE,
				"no home folder is known; name the state folder with "
				"--state");
}

static char *print_text(const char *fmt, ...) DP_PRINTF(1, 2);
static char *print_text(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

/* Makes the folder and waits for whoever else writes a report there; the lock ends
 * with the program. Its absolute path in *path. */
static int take_folder(const char *dir, char **path, struct dp_err *err)
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

static int write_in(const char *folder, const char *name, const struct dp_buf *bytes,
		    struct dp_err *err)
{
	char *path = dp_path_join(folder, name);
	int code = path && !bytes->failed ? dp_write_file(path, bytes->data, bytes->len, false, err)
					  : dp_fail(err, DP_E_NOMEM, "no memory for %s", name);

	free(path);
	return code;
}

/* The bytes of this file of a figure, of a report with these pictures; NULL: it has none.
 */
static const struct dp_buf *find_file(const struct facts *f, const struct figure *figure,
				      size_t kind)
{
	struct picture_file files[PICTURE_FILES];

	for (size_t i = 0; i < f->npictures; i++) {
		picture_files(&f->pictures[i], files);
		if (f->pictures[i].figure == figure && files[kind].bytes->len)
			return files[kind].bytes;
	}
	return NULL;
}

/* Figures that earlier versions drew and this one does not know. */
static const struct figure gone_figures[] = { { .name = "front-log" } };

static void remove_file(const char *folder, const char *name)
{
	char *path = dp_path_join(folder, name);

	if (path)
		unlink(path);
	free(path);
}

/* Files of figures of an earlier report that this one has not. */
static void remove_stale(const char *folder, const struct facts *f)
{
	struct picture_file files[PICTURE_FILES];
	char file[FIGURE_FILE_LEN];

	picture_files(&(struct picture){ 0 }, files);
	for (size_t i = 0; i < DP_COUNT(gone_figures); i++)
		for (size_t k = 0; k < PICTURE_FILES; k++)
			remove_file(folder, figure_file(&gone_figures[i], files[k].kind, file));
	for (size_t i = 0; report_figures[i]; i++) {
		for (size_t k = 0; k < PICTURE_FILES; k++)
			if (!find_file(f, report_figures[i], k))
				remove_file(folder,
					    figure_file(report_figures[i], files[k].kind, file));
	}
}

static int write_pictures(const struct facts *f, const char *folder, struct dp_err *err)
{
	struct picture_file files[PICTURE_FILES];
	char file[FIGURE_FILE_LEN];
	int code = DP_OK;

	for (size_t i = 0; i < f->npictures; i++) {
		picture_files(&f->pictures[i], files);
		for (size_t k = 0; code == DP_OK && k < PICTURE_FILES; k++)
			if (files[k].bytes->len)
				code = write_in(
					folder,
					figure_file(f->pictures[i].figure, files[k].kind, file),
					files[k].bytes, err);
	}
	return code;
}

static int write_texts(const char *folder, const struct facts *f, const json_t *facts,
		       struct dp_err *err)
{
	struct doc *d = doc_new(DOC_MARKDOWN);
	struct dp_buf out = DP_BUF_INIT;
	int code;

	dp_json_dump(&out, facts, 2);
	dp_buf_putc(&out, '\n');
	code = write_in(folder, "report.json", &out, err);
	dp_buf_clear(&out);
	report_text(d, f);
	doc_render(d, &out);
	doc_free(d);
	if (code == DP_OK)
		code = write_in(folder, "report.md", &out, err);
	dp_buf_clear(&out);
	report_html(f, &out);
	if (code == DP_OK)
		code = write_in(folder, "report.html", &out, err);
	dp_buf_free(&out);
	return code;
}

/* report.html gets the time of the last record that it shows: whoever finds that of the
 * journal there knows that the report is whole and up to date. */
static void stamp_page(const char *folder, int64_t updated)
{
	struct timespec t = { .tv_sec = (time_t)(updated / 1000000),
			      .tv_nsec = (long)(updated % 1000000) * 1000 };
	struct timespec times[2] = { t, t };
	char *path = dp_path_join(folder, "report.html");

	if (path && utimensat(AT_FDCWD, path, times, 0) != 0)
		fprintf(stderr, "dpareto-report: cannot set the time of %s: %s\n", path,
			strerror(errno));
	free(path);
}

/* Each file whole or not at all, report.html last. */
static int write_report(const struct facts *f, const char *folder, const json_t *facts,
			struct dp_err *err)
{
	int code = write_pictures(f, folder, err);

	if (code == DP_OK)
		code = write_texts(folder, f, facts, err);
	if (code != DP_OK)
		return code;
	remove_stale(folder, f);
	stamp_page(folder, f->groups ? f->groups->updated : f->study.s->updated);
	return DP_OK;
}

/* ---- the whole way ---- */

static void tell_result(const struct options *o, const char *folder, const json_t *facts)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *answer;

	if (!o->json) {
		printf("%s/report.html\n", folder);
		return;
	}
	answer = json_pack("{s:O, s:s, s:o, s:O}", "study", json_object_get(facts, "study"),
			   "folder", folder, "html", json_sprintf("%s/report.html", folder),
			   "figures", json_object_get(facts, "figures"));
	dp_json_dump(&out, answer, 0);
	puts(dp_buf_text(&out));
	dp_buf_free(&out);
	json_decref(answer);
}

/* Writes and tells what is known. */
static int give_report(const struct options *o, const struct facts *f, const char *folder,
		       struct dp_err *err)
{
	json_t *facts = facts_json(f);
	int code = facts ? write_report(f, folder, facts, err)
			 : dp_fail(err, DP_E_NOMEM, "no memory for the report");

	if (code == DP_OK)
		tell_result(o, folder, facts);
	json_decref(facts);
	return code;
}

/* Letters, digits and dots of a name; others are a dash, and so is a dot at the
 * beginning:
 * ".." would be another folder. */
static void folder_part(struct dp_buf *out, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (; *name && out->len < 120; name++)
		dp_buf_putc(out, strchr(plain, *name) && (out->len || *name != '.') ? *name : '-');
}

/* STATE/studies/STUDY/report, or of groups STATE/reports/A-B. */
static char *default_folder(const struct report *r, const char *state)
{
	const char *end = r->public ? "-public" : "";
	struct dp_buf names = DP_BUF_INIT;
	char *folder;

	if (!r->groups)
		return print_text("%s/studies/%s/report%s", state, r->subjects[0].s->spec->name,
				  end);
	for (size_t i = 0; i < r->groups->by[0].n; i++) {
		dp_buf_puts(&names, i ? "-" : "");
		folder_part(&names, r->groups->by[0].group[i].name);
	}
	folder = names.failed ? NULL
			      : print_text("%s/reports/%s%s", state, dp_buf_text(&names), end);
	dp_buf_free(&names);
	return folder;
}

static int make_report(const struct options *o, struct report *r, const char *state,
		       struct dp_err *err)
{
	char *dir = o->dir ? strdup(o->dir) : default_folder(r, state);
	struct picture *pictures = NULL;
	struct facts facts = { 0 };
	char *folder = NULL;
	size_t n = 0;
	int code = dir ? take_folder(dir, &folder, err) : dp_fail(err, DP_E_NOMEM, "out of memory");

	if (code == DP_OK && !dp_study_hides(r->subjects[0].s))
		code = pictures_draw(r, o->figures, &pictures, &n, err);
	if (code == DP_OK)
		code = report_facts(r, pictures, n, &facts, err);
	if (code == DP_OK)
		code = give_report(o, &facts, folder, err);
	facts_free(&facts);
	pictures_free(pictures, n);
	free(folder);
	free(dir);
	return code;
}

static int run_report(const struct options *o, struct report *r, struct dp_err *err)
{
	char *state = NULL, *journal = NULL, *real;
	int code = find_state_folder(o, &state, err);

	if (code != DP_OK)
		return code;
	journal = state ? dp_path_join(state, "journal") : strdup(o->journal);
	real = journal ? realpath(journal, NULL) : NULL;
	if (real) { /* as the report names it; what is not there is told by name */
		free(journal);
		journal = real;
	}
	if (!journal)
		code = dp_fail(err, DP_E_NOMEM, "out of memory");
	else if (r->nasked)
		code = report_load_groups(r, journal, o->studies, o->nstudies, err);
	else
		code = report_load(r, journal, o->studies, o->nstudies, err);
	if (code == DP_OK)
		code = report_truth_check(r, err);
	if (code == DP_OK && r->public)
		code = report_public_check(r, err);
	if (code == DP_OK && r->public)
		report_public_strip(r);
	if (code == DP_OK)
		code = make_report(o, r, state, err);
	free(journal);
	free(state);
	return code;
}

static void tell_error(const struct options *o, const struct dp_err *err)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *answer;

	if (!o->json) {
		fprintf(stderr, "dpareto-report: %s\n", err->msg);
		if (err->hint[0])
			fprintf(stderr, "hint: %s\n", err->hint);
		return;
	}
	answer = json_pack("{s:o}", "error", dp_json_error(err));
	dp_json_dump(&out, answer, 0);
	puts(dp_buf_text(&out));
	dp_buf_free(&out);
	json_decref(answer);
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct report r = { 0 };
	struct dp_err err = { 0 };
	int code;

	dp_alloc_init();
	code = report_options(&o, &r, argc, argv, &err);
	dp_linalg_single_thread(); /* same bits on every machine of a kind */
	if (code == DP_OK && o.help)
		report_help();
	else if (code == DP_OK && o.version)
		printf("dpareto-report %s\n", PACKAGE_VERSION);
	else if (code == DP_OK)
		code = run_report(&o, &r, &err);
	if (code != DP_OK)
		tell_error(&o, &err);
	report_free(&r);
	plot_shutdown();
	return dp_code_exit(code);
}
