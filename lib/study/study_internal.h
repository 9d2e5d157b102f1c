/* study_internal.h - what the files that read a study share: the tree that YAML
 * becomes, the table of keys, the readers that the table names. */
#ifndef DP_STUDY_INTERNAL_H
#define DP_STUDY_INTERNAL_H
#include "study/study.h"

/* ---- the tree (parse.c) ---- */

enum dp__kind {
	DP__SCALAR,
	DP__LIST,
	DP__MAP,
	DP__UNREADABLE, /* an alias: its mistake is reported already */
};

struct dp__node {
	enum dp__kind kind;
	bool plain;       /* a scalar without quotes */
	bool dropped;     /* a key given twice; only used while building */
	size_t pos;       /* byte offset in the file */
	const char *text; /* of a scalar */
	const char *key;  /* of a map's member */
	size_t key_pos;
	struct dp__node *first, *next; /* members or items; the neighbour to the right */
	size_t count;
};

enum dp__type {
	DP__NULL,
	DP__BOOL,
	DP__INT,
	DP__REAL,
	DP__STRING,
};

struct dp__chunk;

/* One reading of one file. The tree lives in the chunks and ends with it. */
struct dp__read {
	const char *text;
	size_t len;
	const char *dir;
	struct dp_study *s;
	struct dp_problems *problems;
	struct dp__chunk *chunks;
	bool nomem;
	/* where the cross checks find what was written; NULL: not in the file */
	const struct dp__node *trainer, *search, *anti_ideal, *walk, *constraints;
	const struct dp__node *param[DP_PARAMS_MAX];
	bool param_bad[DP_PARAMS_MAX]; /* has mistakes: say no more about it */
	const struct dp__node *objective[DP_OBJECTIVES_MAX];
};

/* The tree of r->text; NULL when it could not be built, with the reason among the
 * problems (or r->nomem set). */
struct dp__node *dp__tree(struct dp__read *r);
void dp__tree_free(struct dp__read *r);
/* The member of a map, or NULL. */
const struct dp__node *dp__get(const struct dp__node *map, const char *key);
/* The type of a scalar by YAML 1.2's core schema. */
enum dp__type dp__type_of(const struct dp__node *v);
/* Length of the valid, printable UTF-8 character at p, or 0. */
size_t dp__utf8(const char *p, size_t n);

/* ---- problems (problems.c); `allowed` is copied and may be NULL ---- */

void dp__problem(struct dp__read *r, size_t pos, const char *allowed, const char *fmt, ...)
	DP_PRINTF(4, 5);
void dp__warning(struct dp__read *r, size_t pos, const char *allowed, const char *fmt, ...)
	DP_PRINTF(4, 5);
/* A mistake of the whole file (line 0), or at a place known as line and column. */
void dp__problem_at(struct dp__read *r, int line, int column, const char *fmt, ...) DP_PRINTF(4, 5);
/* So many already that no further one will be shown? */
bool dp__problems_full(const struct dp__read *r);
void dp__place(const char *text, size_t len, size_t pos, int *line, int *column);
void dp__problems_sort(struct dp_problems *p);
/* A foreign word as it may stand in a message: short, printable. */
enum {
	DP__SHOWN = 64
};
char *dp__shown(const char *word, char out[DP__SHOWN]);
/* The same with the nearest of `list` (ends with NULL): "; did you mean 'x'?" or "". */
enum {
	DP__GUESS = 128
};
char *dp__guess(const char *word, const char *const *list, char out[DP__GUESS]);

/* ---- the table (keys.c) ---- */

enum dp__section {
	DP__TOP,     /* of struct dp_study */
	DP__TRAINER, /* struct dp_trainer */
	DP__WALK,    /* struct dp_path */
	DP__SLURM,   /* struct dp_slurm */
	DP__PARAM,   /* struct dp_param, as the next three */
	DP__SAMPLE,
	DP__NORMAL,
	DP__EXPONENTIAL,
	DP__CALIBRATE, /* struct dp_calibration */
	DP__OBJECTIVE, /* struct dp_objective */
	DP__PRIVACY,   /* struct dp_oracle */
	DP__USE,       /* only documented here: dp__read_use() */
	DP__RELEASE,   /* struct dp_release */
	DP__SEARCH,    /* struct dp_search */
	DP__ROUNDS,    /* struct dp_rounds */
	DP__BUDGET,    /* struct dp_budget */
};

struct dp__key;
/* Reads the value v of key k into the member `to` of the section's struct. */
typedef void dp__reader(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			void *to);

struct dp__key {
	enum dp__section section;
	const char *name; /* the last word of the path */
	const struct dp_key_doc *doc;
	dp__reader *read;
	size_t offset; /* of the member in the section's struct */
	double lo, hi; /* of numbers; for words lo is the number of the first */
	const char *const *words;
};

/* The i-th row of the table, which has dp_study_keys() of them. */
struct dp__key dp__key_row(size_t i);
/* The word of a number, or a sentence for one that has none. */
const char *dp__word_at(const char *const *words, size_t i);

/* Fills *base from the defaults of the section's keys, then from the map; reports
 * unknown and missing keys. `pos` is the place for what is missing. */
void dp__read_section(struct dp__read *r, enum dp__section section, size_t pos,
		      const struct dp__node *map, void *base);

/* The names of a section's keys, then NULL. */
enum {
	DP__NAMES = 32
};
void dp__section_names(enum dp__section section, const char *names[DP__NAMES]);
/* Is the absent member `name` there after all, as an unknown key that was reported
 * with the guess that `name` is meant? */
bool dp__misspelt(const struct dp__node *map, const char *name, const char *const *known);

/* ---- readers (read_value.c) ---- */

dp__reader dp__read_name, dp__read_origin, dp__read_text, dp__read_path, dp__read_int, dp__read_u32,
	dp__read_seed, dp__read_number, dp__read_positive, dp__read_duration, dp__read_size,
	dp__read_word, dp__read_flag, dp__read_bounds;
/* A finite number or false, then with a problem. */
bool dp__number(struct dp__read *r, const struct dp__node *v, const char *name, const char *allowed,
		double *out);
/* A scalar's text or NULL, then with a problem. */
const char *dp__scalar(struct dp__read *r, const struct dp__node *v, const char *name,
		       const char *allowed);
/* Is v a list (map) of 1 to max members? If not, a problem. */
bool dp__is_list(struct dp__read *r, const struct dp__node *v, const char *name,
		 const char *allowed, size_t max);
bool dp__is_map(struct dp__read *r, const struct dp__node *v, const char *name, const char *allowed,
		size_t max);
/* Number of v in words, or -1 with a problem. */
int dp__word(struct dp__read *r, const struct dp__node *v, const char *name,
	     const char *const *words);
/* Copies that note a lack of memory in r. */
char *dp__strdup(struct dp__read *r, const char *s);
void *dp__calloc(struct dp__read *r, size_t n, size_t size);

/* ---- readers of the larger parts ---- */

dp__reader dp__read_trainer, dp__read_command, dp__read_env;            /* read_trainer.c */
dp__reader dp__read_slurm, dp__read_slurm_word, dp__read_slurm_options; /* slurm.c */
dp__reader dp__read_walk;                                               /* path.c */
dp__reader dp__read_parameters, dp__read_sample, dp__read_uniform, dp__read_normal,
	dp__read_exponential, dp__read_values, dp__read_fixed;             /* read_param.c */
dp__reader dp__read_calibrate;                                             /* calibrated.c */
dp__reader dp__read_objectives, dp__read_anti_ideal, dp__read_constraints; /* read_objective.c */
/* read_privacy.c; dp__read_later() leaves a key to dp__check_privacy() */
dp__reader dp__read_privacy, dp__read_later;
dp__reader dp__read_release; /* release.c */
dp__reader dp__read_search;  /* check.c */
dp__reader dp__read_rounds;  /* select.c */
dp__reader dp__read_budget;  /* budget.c */

/* ---- command.c ---- */

/* A relative path from the study file's folder on. The caller frees it; NULL without
 * memory. */
char *dp__path_beside(const char *dir, const char *word);

/* ---- checks across keys, once all is read ---- */

void dp__check_calibrated(struct dp__read *r); /* calibrated.c; before objectives */
void dp__check_objectives(struct dp__read *r); /* read_objective.c */
void dp__check_search(struct dp__read *r);     /* check.c */
void dp__check_walk(struct dp__read *r);       /* path.c */
void dp__check_budget(struct dp__read *r);     /* budget.c */
void dp__check_cost(struct dp__read *r);       /* cost.c */
void dp__check_release(struct dp__read *r);    /* release.c */
void dp__check_select(struct dp__read *r);     /* select.c */
/* seeds.c; of the whole file */
void dp__check_seeds(struct dp__read *r, const struct dp__node *top);

/* ---- select.c ---- */

/* Why method select has no such key; NULL: it has. */
const char *dp__select_bans(const char *path);

/* ---- read_privacy.c ---- */

/* Where a mechanism with its keys stands. */
struct dp__use_rules {
	const char *place;         /* for messages */
	const char *const *beside; /* keys of the place itself, `mechanism` first; NULL */
	bool composed;             /* delta and accountant are the composition's */
	bool solved;               /* the noise is what is looked for */
};
/* Reads a map of `mechanism` and its keys, once all parameters are known; false, with
 * problems, where no mechanism is named. */
bool dp__read_use(struct dp__read *r, const struct dp__node *map, const struct dp__use_rules *rules,
		  struct dp_use *u);
/* Is this the mechanism's noise, under whichever name? */
bool dp__is_noise(const struct dp_mechanism *m, const struct dp_privacy_key *k);
/* A value of such a key: a number, or the name of a parameter, of which *param gets the
 * index. */
void dp__read_amount(struct dp__read *r, const struct dp_privacy_key *k, const struct dp__node *v,
		     double *value, int *param);
/* Reads and checks the oracle of objective v: its `privacy`. */
void dp__check_privacy(struct dp__read *r, struct dp_objective *o, const struct dp__node *v,
		       const struct dp__node *privacy);

/* ---- calibrated.c ---- */

/* Some point of the space, for what does not depend on how large values are: nothing is
 * solved for, calibrated parameters are 1. */
void dp__space_any(const struct dp_study *s, double *x);
/* What is calibrated by trainer.path's parameter is refused. */
void dp__check_calibrated_walk(struct dp__read *r, size_t walked);

/* ---- path.c ---- */

/* The smallest and the largest value that the search gives trainer.path's parameter:
 * random points and grids lie within `accept`, a fixed parameter can be had from 1 on. */
void dp__path_ends(const struct dp_study *s, double *first, double *last);

/* ---- space.c ---- */

/* The probability that one draw falls into [lo, hi]. */
double dp__accept_probability(const struct dp_param *p, double lo, double hi);
/* Points of the whole grid, also where there are more than DP_GRID_MAX. */
double dp__grid_points(const struct dp_study *s);

#endif
