/* section_figures.c - sections: the figures, by the question that they answer. */
#include "reports/text/sections.h"

void write_figure(struct doc *d, const struct rendered_figure *p)
{
	char file[FIGURE_FILENAME_LEN];

	if (p->has_nothing_to_show)
		doc_paragraph(d, "Not shown: %s.", p->reason);
	else if (!rendered_figure_is_drawn(p))
		doc_paragraph(d, "This figure could not be drawn: %s.", p->reason);
	else
		doc_figure(d, figure_format_filename(p->figure, rendered_figure_extension(p), file),
			   dp_buf_text(&p->alt), dp_buf_text(&p->caption), &p->page_svg);
}

/* Whether the chapter includes the figure. Excludes figures of the first screen, and empty planes
 * of a study without a front. */
static bool figure_in_chapter(const struct rendered_figure *p, enum figure_chapter chapter)
{
	return p->figure->chapter == chapter &&
	       !(p->figure->on_first_screen && rendered_figure_is_drawn(p));
}

static size_t count_chapter_figures(const struct report_model *report, enum figure_chapter chapter)
{
	size_t n = 0;

	for (size_t i = 0; i < report->nfigures; i++)
		n += figure_in_chapter(&report->figures[i], chapter);
	return n;
}

static void write_titled(struct doc *d, const struct rendered_figure *p)
{
	doc_box(d, p->is_single_row ? "figure wide flat" : p->is_wide ? "figure wide" : "figure");
	doc_heading(d, p->figure->title);
	write_figure(d, p);
	doc_box_end(d);
}

/* Figures stand side by side where the page is wide enough. */
void write_chapter(struct doc *d, const struct report_model *report, enum figure_chapter chapter)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < report->nfigures; i++)
		if (figure_in_chapter(&report->figures[i], chapter))
			write_titled(d, &report->figures[i]);
	doc_box_end(d);
}

void write_all_figures(struct doc *d, const struct report_model *report)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < report->nfigures; i++)
		write_titled(d, &report->figures[i]);
	doc_box_end(d);
}

void write_figures(struct doc *d, const struct report_model *report)
{
	static const struct {
		enum figure_chapter chapter;
		const char *id, *title, *brief, *about;
	} folds[] = {
		{ FIGURE_CHAPTER_PARAMETERS, "parameters", "Which parameters matter", "Parameters",
		  "their shares, and how they change along the front" },
		{ FIGURE_CHAPTER_SURROGATES, "models", "How far to trust the models", "Models",
		  "what they foretell, and what they believe" },
		{ FIGURE_CHAPTER_SEARCH, "search", "How the search went", "Search",
		  "progress and time" },
	};

	/* without a front these have no fold */
	if (json_array_size(get_json(report->json, "front")) == 0 &&
	    count_chapter_figures(report, FIGURE_CHAPTER_FRONT)) {
		doc_folded_section(d, "figures", "Figures", "Figures", "what there is to see");
		write_chapter(d, report, FIGURE_CHAPTER_FRONT);
	}
	for (size_t i = 0; i < DP_COUNT(folds); i++) {
		if (count_chapter_figures(report, folds[i].chapter) == 0)
			continue;
		doc_folded_section(d, folds[i].id, folds[i].title, folds[i].brief, folds[i].about);
		write_chapter(d, report, folds[i].chapter);
	}
}
