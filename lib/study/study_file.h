/* study_file.h - from the text of a study file to a study, and the table of its keys. */
#ifndef DP_STUDY_STUDY_FILE_H
#define DP_STUDY_STUDY_FILE_H
#include "base/buf.h"
#include "study/diagnostics.h"

struct dp_study;

/* Reads and checks a study file's text. `path` names it in messages; `dir` is the
 * absolute folder that relative paths start from. All mistakes are collected in
 * *problems (the caller frees them in every case). DP_OK with *out owned by the
 * caller, or DP_E_INVALID with a summary sentence in *err. */
DP_MUSTCHECK int dp_study_parse(const char *text, size_t len, const char *path, const char *dir,
				struct dp_study **out, struct dp_diagnostics *diagnostics,
				struct dp_err *err);
/* Words of a command after its program that name files beside the study file. */
struct dp_command_files {
	const char **list; /* (n) absolute paths, in the study; the caller frees the list */
	uint32_t n;
};
/* When a study is submitted: makes such words of its commands absolute, those of files
 * that are there now (plain files, and links to them), and tells which they are. */
void dp_study_resolve_files(struct dp_study *s, const char *dir, struct dp_command_files *found);
/* The same without a look at any file: `known` was found when it was submitted. */
void dp_study_restore_files(struct dp_study *s, const char *dir,
			    const struct dp_command_files *known);
/* Adds warnings where the programs of a study that was parsed from `text` could not be
 * started here: they, their interpreters and scripts are looked for. `beside`: the folder
 * that programs without a path are looked for in before PATH, dparetod's. */
void dp_study_preflight(const struct dp_study *s, const char *dir, const char *beside,
			const char *text, size_t len, struct dp_diagnostics *diagnostics);
/* Appends the text of the same study with a single random point and a single run, of a
 * text that is valid. */
DP_MUSTCHECK int dp_study_smoke_variant(const char *text, size_t len, struct dp_buf *out,
					struct dp_err *err);
enum dp_key_mutability {
	DP_KEY_IMMUTABLE,     /* with another value it is another study */
	DP_KEY_LIVE,          /* may change while the study goes on */
	DP_KEY_SET_AT_SUBMIT, /* is decided when the study is submitted, if not in its file */
};
struct dp_key_doc {
	const char *path;         /* "trainer.timeout", "parameters.NAME.range" */
	const char *type;         /* "duration", "int >= 1", "random | grid | dpareto" */
	const char *default_text; /* default as written, or "needed", or "none" */
	const char *help;         /* a sentence or two */
	const char *example;      /* a line of YAML */
	enum dp_key_mutability mutability;
};
const struct dp_key_doc *dp_study_keys(size_t *count);
/* Can it be the name of a partition or an account? */
bool dp_slurm_name_ok(const char *word);
/* Why sbatch must not be given this word, behind that one (NULL: none); NULL: it may. */
const char *dp_slurm_option_error(const char *word, const char *before);

#endif
