/* study_parse_internal.h - the YAML tree, the table of keys and the readers of a study file. */
#ifndef DP_STUDY_PARSE_STUDY_PARSE_INTERNAL_H
#define DP_STUDY_PARSE_STUDY_PARSE_INTERNAL_H
#include "study/diagnostics.h"
#include "study/study.h"
#include "study/study_file.h"

/* ---- the tree (yaml_tree.c) ---- */

enum dp__node_kind {
	DP__NODE_SCALAR,
	DP__NODE_LIST,
	DP__NODE_MAP,
	DP__NODE_INVALID, /* an alias, already reported */
};

struct dp__node {
	enum dp__node_kind kind;
	bool is_plain;     /* an unquoted scalar */
	bool is_duplicate; /* a duplicate key; only while building */
	size_t pos;        /* byte offset in the file */
	const char *text;  /* of a scalar */
	const char *key;   /* of a member of a map */
	size_t key_pos;
	struct dp__node *first_child, *next_sibling; /* members or items; the next sibling */
	size_t count;
};

enum dp__scalar_type {
	DP__SCALAR_NULL,
	DP__SCALAR_BOOL,
	DP__SCALAR_INT,
	DP__SCALAR_REAL,
	DP__SCALAR_STRING,
};

struct dp__arena_chunk;

/* The parse of one file. The tree lives in its chunks. */
struct dp__study_parser {
	const char *text;
	size_t len;
	const char *dir;
	struct dp_study *study;
	struct dp_diagnostics *diagnostics;
	struct dp__arena_chunk *arena;
	/* for checks across keys; NULL: not in the file */
	const struct dp__node *trainer_node, *search_node, *anti_ideal_node, *learning_curve_node,
		*constraints_node;
	const struct dp__node *param_nodes[DP_PARAMS_MAX];
	bool param_invalid[DP_PARAMS_MAX]; /* has errors: report no more about it */
	const struct dp__node *objective_nodes[DP_OBJECTIVES_MAX];
};

/* The tree of r->text, or NULL with a diagnostic. */
struct dp__node *dp__tree_parse(struct dp__study_parser *r);
void dp__tree_free(struct dp__study_parser *r);
/* The member of a map, or NULL. */
const struct dp__node *dp__map_get(const struct dp__node *map, const char *key);
/* The type of a scalar in YAML 1.2's core schema. */
enum dp__scalar_type dp__scalar_type_of(const struct dp__node *v);
/* Length of the valid, printable UTF-8 character at p, or 0. */
size_t dp__utf8_printable_len(const char *p, size_t n);

/* ---- diagnostics (diagnostics.c); copies `allowed`, which may be NULL ---- */

void dp__report_error(struct dp__study_parser *r, size_t pos, const char *allowed, const char *fmt,
		      ...) DP_PRINTF(4, 5);
void dp__report_warning(struct dp__study_parser *r, size_t pos, const char *allowed,
			const char *fmt, ...) DP_PRINTF(4, 5);
/* An error of the whole file (line 0), or at a line and column. */
void dp__report_error_at(struct dp__study_parser *r, int line, int column, const char *fmt, ...)
	DP_PRINTF(4, 5);
/* True if further diagnostics will not be shown. */
bool dp__diagnostics_full(const struct dp__study_parser *r);
void dp__line_and_column(const char *text, size_t len, size_t pos, int *line, int *column);
void dp__diagnostics_sort(struct dp_diagnostics *p);
/* Text from the file for a message: short and printable. */
enum {
	DP__PRINTABLE_SIZE = 64
};
char *dp__printable(const char *word, char out[DP__PRINTABLE_SIZE]);
/* "; did you mean 'x'?" with the nearest of `list` (ends with NULL), or "". */
enum {
	DP__DID_YOU_MEAN_SIZE = 128
};
char *dp__did_you_mean(const char *word, const char *const *list, char out[DP__DID_YOU_MEAN_SIZE]);

/* ---- the table (keys.c) ---- */

enum dp__section {
	DP__TOP,     /* struct dp_study */
	DP__TRAINER, /* struct dp_trainer */
	DP__WALK,    /* struct dp_learning_curve */
	DP__SLURM,   /* struct dp_slurm */
	DP__PARAM,   /* struct dp_param, as the next three */
	DP__SAMPLE,
	DP__NORMAL,
	DP__EXPONENTIAL,
	DP__CALIBRATE, /* struct dp_calibration */
	DP__OBJECTIVE, /* struct dp_objective */
	DP__PRIVACY,   /* struct dp_accounting_spec */
	DP__USE,       /* documentation only: dp__read_mechanism_use() */
	DP__RELEASE,   /* struct dp_metric_release */
	DP__SEARCH,    /* struct dp_search */
	DP__ROUNDS,    /* struct dp_rounds */
	DP__BUDGET,    /* struct dp_budget */
};

struct dp__key;
/* Parses the value v of key k into the member `to` of the section's struct. */
typedef void dp__read_fn(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to);

/* Appends the value at `at` as text that the reader parses back. False if there is none. */
typedef bool dp__format_fn(struct dp_buf *out, const struct dp__key *k, const void *at);

struct dp__key {
	enum dp__section section;
	const char *name; /* the last word of the path */
	const struct dp_key_doc *doc;
	dp__read_fn *read;
	dp__format_fn *format;
	size_t offset; /* of the member in the section's struct */
	double lo, hi; /* of numbers; for words, lo is the number of the first */
	const char *const *words;
};

/* Row i of the table, which has dp_study_keys() rows. */
struct dp__key dp__key_at(size_t i);
/* The word for a number, or a sentence if it has none. */
const char *dp__word_at(const char *const *words, size_t i);

/* Fills *base with the defaults of the section's keys, then from the map. Reports unknown and
 * missing keys, the latter at `pos`. */
void dp__read_section(struct dp__study_parser *r, enum dp__section section, size_t pos,
		      const struct dp__node *map, void *base);

/* The names of a section's keys, then NULL. */
enum {
	DP__KEY_NAMES_MAX = 32
};
void dp__section_key_names(enum dp__section section, const char *names[DP__KEY_NAMES_MAX]);
/* True if an unknown key was reported with `name` as the guess for it. */
bool dp__is_misspelt_key(const struct dp__node *map, const char *name, const char *const *known);

/* ---- readers (read_value.c) ---- */

dp__read_fn dp__read_name, dp__read_warm_start, dp__read_text, dp__read_file_path, dp__read_int,
	dp__read_u32, dp__read_seed, dp__read_number, dp__read_positive, dp__read_duration,
	dp__read_size, dp__read_enum, dp__read_bool, dp__read_bounds;
/* A finite number. False, with a diagnostic, for anything else. */
bool dp__expect_number(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		       const char *allowed, double *out);
/* A scalar's text. NULL, with a diagnostic, for anything else. */
const char *dp__expect_scalar(struct dp__study_parser *r, const struct dp__node *v,
			      const char *name, const char *allowed);
/* True if v is a list (map) of 1 to max members. Else reports an error. */
bool dp__expect_list(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		     const char *allowed, size_t max);
bool dp__expect_map(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		    const char *allowed, size_t max);
/* The number of v in words, or -1 with a diagnostic. */
int dp__expect_word(struct dp__study_parser *r, const struct dp__node *v, const char *name,
		    const char *const *words);

/* ---- formatters (canonical.c); dp__format_part for sections, which have none ---- */

dp__format_fn dp__format_int, dp__format_u32, dp__format_seed, dp__format_number,
	dp__format_duration, dp__format_size, dp__format_enum, dp__format_bool, dp__format_list,
	dp__format_word, dp__format_bounds, dp__format_text, dp__format_part;

/* ---- readers of sections ---- */

dp__read_fn dp__read_trainer, dp__read_command, dp__read_env;            /* read_trainer.c */
dp__read_fn dp__read_slurm, dp__read_slurm_word, dp__read_slurm_options; /* read_slurm.c */
dp__read_fn dp__read_learning_curve;                                     /* learning_curve.c */
dp__read_fn dp__read_parameters, dp__read_sample, dp__read_uniform_dist, dp__read_normal_dist,
	dp__read_exponential_dist, dp__read_values, dp__read_fixed; /* read_param.c */
dp__read_fn dp__read_calibrate;                                     /* calibrated_params.c */
dp__read_fn dp__read_objectives, dp__read_anti_ideal, dp__read_constraints; /* read_objective.c */
/* read_privacy.c; dp__read_deferred() leaves a key to dp__check_privacy() */
dp__read_fn dp__read_privacy, dp__read_deferred;
dp__read_fn dp__read_release; /* metric_release.c */
dp__read_fn dp__read_search;  /* read_search.c */
dp__read_fn dp__read_rounds;  /* selection_method.c */
dp__read_fn dp__read_budget;  /* search_budget.c */

/* ---- command_files.c ---- */

/* A path relative to the study file's directory, made absolute. The caller frees it. */
char *dp__resolve_path(const char *dir, const char *word);

/* ---- checks across keys, after all is read ---- */

void dp__check_calibrations(
	struct dp__study_parser *r);                   /* calibrated_params.c; before objectives */
void dp__check_objectives(struct dp__study_parser *r); /* read_objective.c */
void dp__check_search(struct dp__study_parser *r);     /* read_search.c */
void dp__check_learning_curve(struct dp__study_parser *r); /* learning_curve.c */
void dp__check_budget(struct dp__study_parser *r);         /* search_budget.c */
void dp__check_cost(struct dp__study_parser *r);           /* search_cost.c */
void dp__check_release(struct dp__study_parser *r);        /* metric_release.c */
void dp__check_selection(struct dp__study_parser *r);      /* selection_method.c */
/* seeds.c; of the whole file */
void dp__check_seeds(struct dp__study_parser *r, const struct dp__node *top);

/* ---- selection_method.c ---- */

/* Why method select does not allow this key. NULL if it does. */
const char *dp__selection_forbids(const char *path);

/* ---- read_privacy.c ---- */

/* Where a mechanism use stands. */
struct dp__mechanism_use_rules {
	const char *place;               /* for messages */
	const char *const *sibling_keys; /* keys next to it, `mechanism` first; or NULL */
	bool in_composition;             /* delta and accountant belong to the composition */
	bool solves_noise;               /* the noise is computed */
};
/* Reads a map of `mechanism` and its keys, after all parameters. False if it names no mechanism. */
bool dp__read_mechanism_use(struct dp__study_parser *r, const struct dp__node *map,
			    const struct dp__mechanism_use_rules *rules,
			    struct dp_mechanism_use *u);
/* True if this key sets the mechanism's noise, under any of its names. */
bool dp__key_is_noise(const struct dp_mechanism *m, const struct dp_privacy_key *k);
/* Reads a value: a number, or a parameter's name, with its index in *param. */
void dp__read_number_or_param(struct dp__study_parser *r, const struct dp_privacy_key *k,
			      const struct dp__node *v, double *value, int *param);
/* Reads and checks the `privacy` of objective v. */
void dp__check_privacy(struct dp__study_parser *r, struct dp_objective *o, const struct dp__node *v,
		       const struct dp__node *privacy);

/* ---- calibrated_params.c ---- */

/* An arbitrary point, for checks that do not depend on sizes: calibrated parameters are 1. */
void dp__space_any_point(const struct dp_study *s, double *x);
/* Refuses calibrations that depend on the path parameter. */
void dp__check_calibrated_curve(struct dp__study_parser *r, size_t walked);

/* ---- learning_curve.c ---- */

/* The range of trainer.path's parameter in the search: random points and grids lie within `accept`;
 * a fixed parameter starts at 1. */
void dp__learning_curve_range(const struct dp_study *s, double *first, double *last);

/* ---- space.c ---- */

/* The probability that one draw falls into [lo, hi]. */
double dp__accept_probability(const struct dp_param *p, double lo, double hi);
/* The number of grid points, also above DP_GRID_MAX. */
double dp__grid_point_count(const struct dp_study *s);

#endif
