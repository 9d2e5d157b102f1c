/* study_file.h - parses a study file; the table of its keys. */
#ifndef DP_STUDY_STUDY_FILE_H
#define DP_STUDY_STUDY_FILE_H
#include "base/buf.h"
#include "study/diagnostics.h"

struct dp_study;

/* Parses and checks a study file. Messages name `path`; relative paths start from the absolute
 * directory `dir`. Collects all mistakes in *problems, which the caller always frees. DP_OK with
 * *out owned by the caller, or DP_E_INVALID with a summary in *err. */
DP_MUSTCHECK int dp_study_parse(const char *text, size_t len, const char *path, const char *dir,
				struct dp_study **out, struct dp_diagnostics *diagnostics,
				struct dp_err *err);
/* Arguments of commands that name files next to the study file. */
struct dp_command_files {
	const char **list; /* (n) absolute paths, owned by the study; the caller frees the list */
	uint32_t n;
};
/* At submit: makes arguments absolute that name regular files or links to them; lists them. */
void dp_study_resolve_files(struct dp_study *s, const char *dir, struct dp_command_files *found);
/* The same without access to files: `known` was found at submit. */
void dp_study_restore_files(struct dp_study *s, const char *dir,
			    const struct dp_command_files *known);
/* Warns about programs, interpreters and scripts of the study parsed from `text` that cannot start
 * here. Searches `beside`, dparetod's directory, before PATH for programs without a path. */
void dp_study_preflight(const struct dp_study *s, const char *dir, const char *beside,
			const char *text, size_t len, struct dp_diagnostics *diagnostics);
/* Appends the smoke variant of a valid study: one random point, one run. */
DP_MUSTCHECK int dp_study_smoke_variant(const char *text, size_t len, struct dp_buf *out,
					struct dp_err *err);
enum dp_key_mutability {
	DP_KEY_IMMUTABLE,     /* a new value makes another study */
	DP_KEY_LIVE,          /* may change while the study runs */
	DP_KEY_SET_AT_SUBMIT, /* decided at submit if not in the file */
};
struct dp_key_doc {
	const char *path;         /* "trainer.timeout", "parameters.NAME.range" */
	const char *type;         /* "duration", "int >= 1", "random | grid | dpareto" */
	const char *default_text; /* default as written, "needed" or "none" */
	const char *help;         /* a sentence or two */
	const char *example;      /* a line of YAML */
	enum dp_key_mutability mutability;
};
const struct dp_key_doc *dp_study_keys(size_t *count);
/* A valid name of a partition or account. */
bool dp_slurm_name_ok(const char *word);
/* Why sbatch must not get this word after the word `before` (may be NULL). NULL if it may. */
const char *dp_slurm_option_error(const char *word, const char *before);

#endif
