/* report_options.c - parse the command line of dpareto-report. */
#include "reports/report_options.h"

#include "base/units.h"
#include "base/utf8.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct option table[] = {
	{ "state", required_argument, NULL, 's' },  { "journal", required_argument, NULL, 'j' },
	{ "dir", required_argument, NULL, 'd' },    { "baseline", required_argument, NULL, 'b' },
	{ "public", no_argument, NULL, 'p' },       { "figures", required_argument, NULL, 'f' },
	{ "format", required_argument, NULL, 'F' }, { "width", required_argument, NULL, 'w' },
	{ "no-title", no_argument, NULL, 't' },     { "label", required_argument, NULL, 'l' },
	{ "group", required_argument, NULL, 'g' },  { "at", required_argument, NULL, 'a' },
	{ "truth", required_argument, NULL, 'T' },  { "nice", no_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },      { 0 },
};

void report_help(void)
{
	puts("usage: dpareto-report [options] STUDY [OTHER...]\n"
	     "       dpareto-report [options] --group NAME=STUDY,... [--group ...]\n\n"
	     "Writes the report of a study from its journal: report.html, report.md,\n"
	     "report.json and figures. OTHER studies are compared with it. A daemon is\n"
	     "not needed, and not disturbed if one runs.\n\n"
	     "  --state DIR          the daemon's state folder (default: as dparetod's)\n"
	     "  --journal DIR        a journal, such as a copy of one; needs --dir\n"
	     "  --dir DIR            where to write (default: studies/STUDY/report in the\n"
	     "                       state folder; report-public with --public)\n"
	     "  --baseline LABEL=VALUE\n"
	     "                       a utility to compare with, such as non-private=0.15;\n"
	     "                       may be given several times\n"
	     "  --label STUDY=TEXT   call a study this in figures and words; may be given\n"
	     "                       several times\n"
	     "  --group NAME=STUDY,STUDY,...\n"
	     "                       a report of groups of seeds instead: their means and how\n"
	     "                       sure a difference is, as dparetoctl compare; STUDY/256\n"
	     "                       stands for each 256 trials of one, a plain STUDY is a\n"
	     "                       group of its own\n"
	     "  --at OBJECTIVE=X,... where groups are compared beside their hypervolume\n"
	     "                       (default: epsilon at 0.1, 1 and 10)\n"
	     "  --truth STUDY        draw the front of this study, such as a fine grid, under\n"
	     "                       the others, as the true one\n"
	     "  --public             leave out the seed and the host,\n"
	     "                       paths, times and messages of failures; refused, with the\n"
	     "                       reasons, where something exact would leak\n"
	     "  --figures A,B        only these figures\n"
	     "  --format A,B         files of each figure: png, svg, pdf (default: png,svg)\n"
	     "  --width LENGTH       of figures for print, such as 88mm or 180mm\n"
	     "  --no-title           figures without their titles\n"
	     "  --nice               give way to other programs\n"
	     "  -o, --output FORMAT  text or json: what is printed at the end\n"
	     "  -h, --help           this text\n"
	     "  -V, --version        the version\n\n"
	     "Figures:");
	for (size_t i = 0; report_figures[i]; i++)
		printf(" %s", report_figures[i]->name);
	puts("\n\nExamples:\n"
	     "  dpareto-report adult\n"
	     "  dpareto-report --state /backup --dir out adult adult-random\n"
	     "  dpareto-report --baseline non-private=0.152 adult\n"
	     "  dpareto-report --figures front --format pdf --width 88mm --no-title adult\n"
	     "  dpareto-report --group DPareto=a1,a2,a3 --group Random=long/256\n"
	     "  dpareto-report --truth svt-grid svt-dpareto\n"
	     "  dpareto-report --public adult-released");
}

/* Grows the array by one zeroed item. */
static void *grow_array_by_one(void *array, size_t n, size_t size)
{
	char *grown = dp_reallocarray(array, n + 1, size);

	memset(grown + n * size, 0, size);
	return grown;
}

static int add_baseline(struct report_data *r, const char *given, struct dp_err *err)
{
	const char *equals = strrchr(given, '=');
	double value;

	if (!equals || equals == given || !dp_num_parse(equals + 1, &value) || !isfinite(value))
		return dp_fail(err, DP_E_USAGE, "--baseline takes LABEL=NUMBER, not '%.80s'",
			       given);
	r->baselines = grow_array_by_one(r->baselines, r->nbaselines, sizeof *r->baselines);
	r->baselines[r->nbaselines++] =
		(struct baseline){ dp_strndup(given, (size_t)(equals - given)), value };
	return DP_OK;
}

static int add_label(struct report_data *r, const char *given, struct dp_err *err)
{
	const char *equals = strchr(given, '=');
	size_t n = equals ? (size_t)(equals - given) : 0;

	if (n == 0 || !equals[1])
		return dp_fail(err, DP_E_USAGE, "--label takes STUDY=TEXT, not '%.80s'", given);
	for (size_t i = 0; i < r->nlabels; i++)
		if (strlen(r->labels[i].study) == n && strncmp(r->labels[i].study, given, n) == 0)
			return dp_fail(err, DP_E_USAGE, "--label calls the study '%s' two things",
				       r->labels[i].study);
	r->labels = grow_array_by_one(r->labels, r->nlabels, sizeof *r->labels);
	r->labels[r->nlabels++] =
		(struct study_label){ dp_strndup(given, n), dp_strdup(equals + 1) };
	return DP_OK;
}

static int set_formats(struct figure_output *look, const char *given, struct dp_err *err)
{
	static const char *const names[] = { "png", "svg", "pdf" };

	look->formats = 0;
	for (const char *w = given; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL) {
		size_t n = strcspn(w, ","), k = 0;

		while (k < DP_COUNT(names) &&
		       (strlen(names[k]) != n || strncmp(names[k], w, n) != 0))
			k++;
		if (k == DP_COUNT(names))
			return dp_fail(err, DP_E_USAGE,
				       "--format takes png, svg and pdf, with commas "
				       "between them, not '%.80s'",
				       given);
		look->formats |= 1U << k;
	}
	return DP_OK;
}

/* Parses "88mm", "18cm". Limits keep figures readable and memory bounded. */
static int set_width(struct figure_output *look, const char *given, struct dp_err *err)
{
	size_t n = strlen(given);
	double unit = n > 2 && strcmp(given + n - 2, "cm") == 0 ? 10 : 1;
	char number[32] = "";

	if (n > 2 && n < sizeof number && (unit == 10 || strcmp(given + n - 2, "mm") == 0))
		memcpy(number, given, n - 2);
	if (dp_num_parse(number, &look->width_mm)) {
		look->width_mm *= unit;
		if (look->width_mm >= 50 && look->width_mm <= 500)
			return DP_OK;
	}
	return dp_fail(err, DP_E_USAGE,
		       "--width takes a length from 50mm to 500mm, such as 88mm, not '%.40s'",
		       given);
}

static int report_parse_option(struct report_options *o, struct report_data *r, int c,
			       struct dp_err *err)
{
	/* user-supplied names are shown and written to JSON */
	if (strchr("blg", c) && !dp_utf8_is_valid(optarg))
		return dp_fail(err, DP_E_USAGE,
			       "a name of --baseline, --label or --group is not UTF-8");
	switch (c) {
	case 's':
		o->state_dir = optarg;
		return DP_OK;
	case 'j':
		o->journal_path = optarg;
		return DP_OK;
	case 'd':
		o->output_dir = optarg;
		return DP_OK;
	case 'b':
		return add_baseline(r, optarg, err);
	case 'l':
		return add_label(r, optarg, err);
	case 'g':
		r->group_specs =
			grow_array_by_one(r->group_specs, r->ngroup_specs, sizeof *r->group_specs);
		return dp_group_spec_parse(optarg, &r->group_specs[r->ngroup_specs++], err);
	case 'a':
		r->at_option = optarg;
		return DP_OK;
	case 'T':
		r->reference_name = optarg;
		return DP_OK;
	case 'p':
		r->is_public = true;
		return DP_OK;
	case 'f':
		o->figures = optarg;
		return *optarg ? DP_OK
			       : dp_fail(err, DP_E_USAGE,
					 "--figures takes names of figures, such as "
					 "front,fit, not ''");
	case 'F':
		return set_formats(&r->figure_output, optarg, err);
	case 'w':
		return set_width(&r->figure_output, optarg, err);
	case 't':
		r->figure_output.no_title = true;
		return DP_OK;
	case 'n':
		setpriority(PRIO_PROCESS, 0, 10);
		return DP_OK;
	case 'o':
		o->json = strcmp(optarg, "json") == 0;
		return o->json || strcmp(optarg, "text") == 0
			       ? DP_OK
			       : dp_fail(err, DP_E_USAGE,
					 "--output takes text or json, not '%.40s'", optarg);
	case 'h':
		o->help = true;
		return DP_OK;
	case 'V':
		o->version = true;
		return DP_OK;
	default:
		return dp_fail(err, DP_E_USAGE, "wrong usage");
	}
}

int report_parse_options(struct report_options *o, struct report_data *r, int argc, char **argv,
			 struct dp_err *err)
{
	int c, code = DP_OK;

	r->figure_output.formats = FIGURE_PNG | FIGURE_SVG;
	while (code == DP_OK && !o->help && !o->version &&
	       (c = getopt_long(argc, argv, "o:hV", table, NULL)) != -1)
		code = report_parse_option(o, r, c, err);
	if (code == DP_OK && (o->help || o->version))
		return DP_OK;
	o->studies = (const char *const *)argv + optind;
	o->nstudies = (size_t)(argc - optind);
	if (code == DP_OK && o->nstudies == 0 && r->ngroup_specs == 0)
		code = dp_fail(err, DP_E_USAGE, "which study?");
	if (code == DP_OK && r->at_option && r->ngroup_specs == 0)
		code = dp_fail(err, DP_E_USAGE, "--at is for groups: there is no --group");
	if (code == DP_OK && o->journal_path && !o->output_dir)
		code = dp_fail(err, DP_E_USAGE, "with --journal, --dir says where to write");
	if (code == DP_E_USAGE)
		dp_hint(err, "'dpareto-report --help' explains the options");
	return code;
}
