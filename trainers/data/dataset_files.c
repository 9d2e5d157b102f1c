/* dataset_files.c - finds the files of a data set. */
#include "base/fs.h"
#include "trainers/data/dataset_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Named data sets. A second entry of one name is an alternative source of the same records. */
static const struct named_dataset {
	const char *name, *folder, *train, *test;
} named_datasets[] = {
	{ "adult", "adult", "a1a.t", "a1a" },
	{ "adult-a9a", "adult", "a9a", "a9a.t" },
	{ "adult-a9a", "adult", "adult.data", "adult.test" },
	{ "mnist", "mnist", "train-images-idx3-ubyte", "t10k-images-idx3-ubyte" },
};
static const char *const dataset_names[] = { "adult", "adult-a9a", "mnist", "census", NULL };

/* Names of test files; otherwise ".t" is appended to that of the training file. */
static const struct {
	const char *train, *test;
} test_file_names[] = {
	{ "adult.data", "adult.test" },
	{ "train-images", "t10k-images" },
};

enum {
	DATA_DIRS_MAX = 3,
};

void dataset_files_free(struct dataset_files *f)
{
	free(f->train);
	free(f->test);
	f->train = f->test = NULL;
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* If stat() fails for another reason, assumes that the file exists: opening it reports why. */
static bool file_may_exist(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Returns `path`, or `path`.gz, or NULL if neither exists. Takes ownership of `path`. */
static char *resolve_plain_or_gz(char *path)
{
	char *packed;

	if (file_may_exist(path))
		return path;
	packed = dp_asprintf("%s.gz", path);
	free(path);
	if (file_may_exist(packed))
		return packed;
	free(packed);
	return NULL;
}

char *find_sibling_file(const char *path, const char *name)
{
	return resolve_plain_or_gz(
		dp_asprintf("%.*s%s", (int)(path_basename(path) - path), path, name));
}

static size_t list_data_dirs(const struct data_options *o, char *places[DATA_DIRS_MAX])
{
	const char *env = getenv("DPARETO_DATA");
	size_t n = 0;

	if (o->dir)
		places[n++] = dp_strdup(o->dir);
	if (env && *env)
		places[n++] = dp_strdup(env);
	if ((places[n] = dp_user_dir("XDG_DATA_HOME", ".local/share")) != NULL)
		n++;
	return n;
}

static int fail_dataset_not_found(const struct named_dataset *k, char *const *places, size_t n,
				  struct dp_err *err)
{
	struct dp_buf list = DP_BUF_INIT;

	for (size_t i = 0; i < n; i++)
		dp_buf_printf(&list, "%s%s and %s/%s", i ? ", " : "", places[i], places[i],
			      k->folder);
	dp_fail(err, DP_E_NOT_FOUND, "the data set '%s' was not found: no file %s or %s.gz in %s",
		k->name, k->train, k->train, n ? dp_buf_text(&list) : "any known folder");
	dp_buf_free(&list);
	return dp_hint(err,
		       "Get it with scripts/fetch-data %s, name its folder with --data-dir, "
		       "or use --data census, which needs no file.",
		       k->folder);
}

static int find_named_dataset(const struct named_dataset *k, const struct data_options *o,
			      struct dataset_files *f, struct dp_err *err)
{
	char *places[DATA_DIRS_MAX];
	size_t n = list_data_dirs(o, places);
	int code = DP_OK;

	for (size_t i = 0; i < n && !f->train; i++) {
		char *below = dp_path_join(places[i], k->folder);

		f->train = resolve_plain_or_gz(dp_path_join(below, k->train));
		if (!f->train)
			f->train = resolve_plain_or_gz(dp_path_join(places[i], k->train));
		free(below);
	}
	if (!f->train)
		code = fail_dataset_not_found(k, places, n, err);
	else if (!(f->test = find_sibling_file(f->train, k->test)))
		code = dp_fail(err, DP_E_NOT_FOUND,
			       "%s is there, but the test file %s or %s.gz is not beside it",
			       f->train, k->test, k->test);
	for (size_t i = 0; i < n; i++)
		free(places[i]);
	return code;
}

/* The test file for a training file, by its name, or NULL. */
static char *find_test_file(const char *train)
{
	const char *base = path_basename(train), *at;
	size_t len = strlen(base);
	struct dp_buf name = DP_BUF_INIT;
	char *path;

	if (len > 3 && strcmp(base + len - 3, ".gz") == 0)
		len -= 3;
	for (size_t i = 0; i < DP_COUNT(test_file_names); i++) {
		at = strstr(base, test_file_names[i].train);
		if (!at)
			continue;
		dp_buf_printf(&name, "%.*s%s%.*s", (int)(at - base), base, test_file_names[i].test,
			      (int)(len - (size_t)(at - base) - strlen(test_file_names[i].train)),
			      at + strlen(test_file_names[i].train));
		break;
	}
	if (name.len == 0)
		dp_buf_printf(&name, "%.*s.t", (int)len, base);
	path = find_sibling_file(train, dp_buf_text(&name));
	dp_buf_free(&name);
	return path;
}

static int find_data_file(const char *path, char **found, struct dp_err *err)
{
	const char *meant = dp_nearest_word(path, dataset_names);

	*found = resolve_plain_or_gz(dp_strdup(path));
	if (*found)
		return DP_OK;
	if (strchr(path, '/'))
		return dp_fail(err, DP_E_NOT_FOUND, "there is no file %s", path);
	dp_fail(err, DP_E_NOT_FOUND,
		"'%s' is neither a data set (adult, adult-a9a, mnist, census) nor a file", path);
	return meant ? dp_hint(err, "Was '%s' meant?", meant) : DP_E_NOT_FOUND;
}

bool is_named_dataset(const char *name)
{
	for (size_t i = 0; dataset_names[i]; i++)
		if (strcmp(dataset_names[i], name) == 0)
			return true;
	return false;
}

int dataset_files_find(const struct data_options *o, struct dataset_files *f, struct dp_err *err)
{
	struct dp_err first = { 0 };
	int code = DP_OK;

	for (size_t i = 0; i < DP_COUNT(named_datasets); i++) {
		if (strcmp(named_datasets[i].name, o->name) != 0)
			continue;
		/* of several alternatives, report the error of the first */
		code = find_named_dataset(&named_datasets[i], o, f, first.code ? NULL : &first);
		if (code == DP_OK)
			return DP_OK;
		dataset_files_free(f);
	}
	if (first.code) {
		if (err)
			*err = first;
		return first.code;
	}
	code = find_data_file(o->name, &f->train, err);
	if (code == DP_OK && o->test)
		code = find_data_file(o->test, &f->test, err);
	else if (code == DP_OK)
		f->test = find_test_file(f->train);
	return code;
}
