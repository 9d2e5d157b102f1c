/* plot_text.c - measure, wrap, shorten and draw text.
 *
 * Text is drawn at image resolution: FreeType already antialiases it. */
#include "reports/plot/plot_internal.h"

#include "base/utf8.h"

#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	double size, print; /* CSS pixels, on screen and on paper (times 3/4 gives points) */
	bool bold;
} fonts[] = {
	[FONT_TITLE] = { 15, 12, true },     [FONT_PANEL] = { 13, 11, true },
	[FONT_AXIS] = { 12, 10.5, false },   [FONT_LEGEND] = { 11, 10, false },
	[FONT_TICK] = { 10.5, 9.5, false },  [FONT_NOTE] = { 10, 9.5, false },
	[FONT_SMALL] = { 9.5, 9.34, false },
};

/* Text is measured at this zoom for every format, so that all have the same layout. */
static const double measured_zoom = 2;

#define ELLIPSIS         "\xe2\x80\xa6"
#define REPLACEMENT_CHAR "\xef\xbf\xbd" /* U+FFFD */

/* Height of capitals, relative to the font size. */
static const double cap_height = 0.73;

/* The file that fontconfig finds; one lookup for each picture. */
static char *find_font(const char *name, const char **why)
{
	gdFTStringExtra extra = { .flags = gdFTEX_FONTCONFIG | gdFTEX_RETURNFONTPATHNAME };
	char font[64], text[] = "x", *path;
	int box[8];

	strcpy(font, name);
	*why = gdImageStringFTEx(NULL, box, 0, font, 12, 0, 0, 0, text, &extra);
	if (*why || !extra.fontpath) {
		gdFree(extra.fontpath);
		return NULL;
	}
	path = dp_strdup(extra.fontpath);
	gdFree(extra.fontpath);
	return path;
}

int text_load_fonts(struct canvas *c, struct dp_err *err)
{
	static const char *const names[] = { "DejaVu Sans", "DejaVu Sans:bold" };
	const char *why;

	for (size_t i = 0; i < DP_COUNT(names); i++) {
		c->fonts[i] = find_font(names[i], &why);
		if (c->fonts[i])
			continue;
		if (!why)
			dp_out_of_memory();
		dp_fail(err, DP_E_FAILED, "no font for the labels of figures: %s", why);
		return dp_hint(err, "install the package fonts-dejavu-core");
	}
	return 0;
}

void text_unload_fonts(struct canvas *c)
{
	free(c->fonts[0]);
	free(c->fonts[1]);
	for (size_t i = 0; i < c->text_cache_len; i++)
		free(c->text_cache[i].text);
	free(c->text_cache);
}

void plot_shutdown(void)
{
	gdFontCacheShutdown();
	pdf_shutdown();
	FcFini();
}

double text_size(const struct canvas *c, enum font f)
{
	return c->for_print ? fonts[f].print : fonts[f].size;
}

bool text_is_bold(enum font f)
{
	return fonts[f].bold;
}

double text_line_height(const struct canvas *c, enum font f)
{
	return ceil(text_size(c, f) * 1.3);
}

static void text_draw_or_measure(struct canvas *c, gdImagePtr im, double zoom, enum font f,
				 struct point at, double angle, const char *text,
				 plot_colour colour, int box[8])
{
	gdFTStringExtra extra = { .flags = gdFTEX_FONTPATHNAME };
	char plain[PLOT_TEXT_LEN * 5], *to = plain;

	memset(box, 0, 8 * sizeof *box);
	/* libgd expands "&amp;" and the like: escape each ampersand */
	for (; *text; text++)
		if (*text == '&')
			to = stpcpy(to, "&amp;");
		else
			*to++ = *text;
	*to = '\0';
	/* libgd takes points of 1/72 inch, at 96 pixels per inch */
	if (gdImageStringFTEx(im, box, (int)colour, c->fonts[fonts[f].bold],
			      text_size(c, f) * zoom * 0.75, angle * M_PI / 180,
			      (int)lrint(at.x * zoom), (int)lrint(at.y * zoom), plain, &extra))
		dp_out_of_memory(); /* font and text are valid, so memory ran out */
}

void text_draw_on_image(struct canvas *c, gdImagePtr im, double zoom, enum font f, struct point pen,
			double angle, const char *text, plot_colour colour)
{
	int box[8];

	text_draw_or_measure(c, im, zoom, f, pen, angle, text, colour, box);
}

static const struct text_extent *text_measure(struct canvas *c, enum font f, const char *text)
{
	uint32_t hash = 2166136261U;
	struct text_extent *m;
	int box[8];

	for (const char *s = text; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619U;
	for (size_t i = 0; i < c->text_cache_len; i++) {
		m = &c->text_cache[i];
		if (m->hash == hash && m->font == (int)f && strcmp(m->text, text) == 0)
			return m;
	}
	m = grow_array(c->text_cache, &c->text_cache_cap, c->text_cache_len + 1, sizeof *m);
	c->text_cache = m;
	m = &c->text_cache[c->text_cache_len];
	m->text = dp_strdup(text);
	text_draw_or_measure(c, NULL, measured_zoom, f, (struct point){ 0, 0 }, 0, text, 0, box);
	m->hash = hash;
	m->font = (int)f;
	m->left = (double)box[0] / measured_zoom;
	m->right = (double)box[2] / measured_zoom;
	c->text_cache_len++;
	return m;
}

double text_width(struct canvas *c, enum font f, const char *text)
{
	const struct text_extent *m = text_measure(c, f, text);

	return m->right - m->left;
}

/* Moves along and below the line of the text. Angles are counter-clockwise, while y grows
 * downwards. */
static struct point text_offset_point(struct point at, double angle, double x, double y)
{
	double turn = angle * M_PI / 180;

	return (struct point){ at.x + (x * cos(turn) + y * sin(turn)),
			       at.y + (-x * sin(turn) + y * cos(turn)) };
}

struct point text_baseline(const struct canvas *c, enum font f, struct point at, double angle)
{
	return text_offset_point(at, angle, 0, text_size(c, f) * cap_height / 2);
}

struct point text_pen_start(struct canvas *c, enum font f, struct point at, double across,
			    double angle, const char *text)
{
	const struct text_extent *m = text_measure(c, f, text);

	return text_offset_point(at, angle, -m->left - across * (m->right - m->left),
				 text_size(c, f) * cap_height / 2);
}

void text_draw(struct canvas *c, enum font f, struct point at, double across, double angle,
	       const char *text, plot_colour colour)
{
	if (*text)
		c->backend->text(c, f, at, across, angle, text, colour);
}

/* Bytes of the character at s, or of an invalid sequence (*good false). */
static size_t text_char_length(const char *s, bool *good)
{
	unsigned char lead = (unsigned char)s[0];
	size_t most = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	uint32_t number;
	size_t n = dp_utf8_decode(s, strnlen(s, 4), &number);

	*good = n > 0 && (number < 0x80 || !dp_utf8_is_control(number));
	if (n > 0 || lead < 0xc2 || lead > 0xf4)
		return n ? n : 1;
	for (n = 1; n < most && (s[n] & 0xc0) == 0x80; n++)
		;
	return n;
}

char *text_sanitized_copy(const char *text)
{
	struct dp_buf b = DP_BUF_INIT;
	size_t n;
	bool good;

	dp_buf_puts(&b, "");
	for (; *text; text += n) {
		n = text_char_length(text, &good);
		if (b.len + sizeof ELLIPSIS >= PLOT_TEXT_LEN) {
			dp_buf_puts(&b, ELLIPSIS);
			break;
		}
		if (!good)
			dp_buf_puts(&b, REPLACEMENT_CHAR);
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			dp_buf_putc(&b, ' ');
		else
			dp_buf_add(&b, text, n);
	}
	return dp_buf_detach(&b);
}

/* Length of the longest prefix of `text` that fits together with `tail`. */
static size_t text_fitting_length(struct canvas *c, enum font f, const char *text, const char *tail,
				  double width)
{
	size_t lo = 0, hi = strlen(text), mid;
	char part[PLOT_TEXT_LEN + 8];

	while (lo < hi) {
		mid = (lo + hi + 1) / 2;
		while (mid < hi && (text[mid] & 0xc0) == 0x80)
			mid++;
		memcpy(part, text, mid);
		strcpy(part + mid, tail);
		if (text_width(c, f, part) <= width) {
			lo = mid;
		} else {
			for (hi = (lo + hi + 1) / 2 - 1; hi > lo && (text[hi] & 0xc0) == 0x80; hi--)
				;
		}
	}
	return lo;
}

void text_ellipsize(struct canvas *c, enum font f, const char *text, double width,
		    char out[PLOT_TEXT_LEN])
{
	size_t n = strlen(text);

	if (text_width(c, f, text) <= width) {
		memmove(out, text, n + 1);
		return;
	}
	n = text_fitting_length(c, f, text, ELLIPSIS, width);
	if (n + 4 > PLOT_TEXT_LEN)
		n = PLOT_TEXT_LEN - 4;
	while (n && text[n - 1] == ' ')
		n--;
	memmove(out, text, n);
	strcpy(out + n, n ? ELLIPSIS : "");
}

void text_wrap(struct canvas *c, enum font f, const char *text, double width, size_t most,
	       struct wrapped_text *out)
{
	size_t end;

	out->n = 0;
	while (text && *text && out->n < most) {
		char *line = out->line[out->n++];

		if (out->n == most || text_width(c, f, text) <= width) {
			text_ellipsize(c, f, text, width, line);
			return;
		}
		end = text_fitting_length(c, f, text, "", width);
		while (end && text[end] != ' ')
			end--;
		if (!end) { /* a single long word */
			end = strcspn(text, " ");
			memcpy(line, text, end);
			line[end] = '\0';
			text_ellipsize(c, f, line, width, line);
		} else {
			memcpy(line, text, end);
			line[end] = '\0';
		}
		text += end;
		text += strspn(text, " ");
	}
}

void text_draw_lines(struct canvas *c, enum font f, struct point at, double across,
		     const struct wrapped_text *l, plot_colour colour)
{
	double step = text_line_height(c, f);

	for (size_t i = 0; i < l->n; i++) {
		struct point middle = { at.x, at.y + step * ((double)i + 0.5) };

		text_draw(c, f, middle, across, 0, l->line[i], colour);
	}
}
