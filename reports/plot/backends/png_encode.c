/* png_encode.c - encode an image as PNG.
 *
 * Uses libpng directly: libgd tries all five filters on every row, which takes twice the time and
 * makes images of lines and text larger. */
#include "reports/plot/plot_internal.h"

#include <png.h>
#include <stdlib.h>

static void write_bytes(png_structp png, png_bytep data, size_t n)
{
	struct dp_buf *out = png_get_io_ptr(png);

	dp_buf_add(out, data, n);
}

static void no_flush(png_structp png)
{
	(void)png;
}

/* The default handler prints. */
static void ignore_png_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

/* libpng can only fail for lack of memory here. */
static void png_give_up(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
	dp_out_of_memory();
}

static png_structp png_start(struct dp_buf *out, png_infop *info)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, png_give_up,
						  ignore_png_warning);

	*info = png ? png_create_info_struct(png) : NULL;
	if (!*info)
		dp_out_of_memory();
	png_set_write_fn(png, out, write_bytes, no_flush);
	return png;
}

void png_encode_image(const gdImagePtr im, double zoom, struct dp_buf *out)
{
	const png_uint_32 per_metre = (png_uint_32)(96 * zoom / 0.0254 + 0.5);
	unsigned char *row = dp_calloc((size_t)im->sx, 3);
	png_infop info;
	png_structp png = png_start(out, &info);

	png_set_IHDR(png, info, (png_uint_32)im->sx, (png_uint_32)im->sy, 8, PNG_COLOR_TYPE_RGB,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_pHYs(png, info, per_metre, per_metre, PNG_RESOLUTION_METER);
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_set_compression_level(png, 6);
	png_write_info(png, info);
	for (int y = 0; y < im->sy; y++) {
		for (int x = 0; x < im->sx; x++) {
			int pixel = im->tpixels[y][x];

			row[3 * x] = (unsigned char)(pixel >> 16);
			row[3 * x + 1] = (unsigned char)(pixel >> 8);
			row[3 * x + 2] = (unsigned char)pixel;
		}
		png_write_row(png, row);
	}
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	free(row);
}

void png_encode_cells(const struct heat_image *cells, struct dp_buf *out)
{
	unsigned char *row = dp_calloc(cells->width, 4);
	png_infop info;
	png_structp png = png_start(out, &info);

	png_set_IHDR(png, info, (png_uint_32)cells->width, (png_uint_32)cells->height, 8,
		     PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	/* rows of one cell are equal */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
	png_write_info(png, info);
	for (size_t j = 0; j < cells->height; j++) {
		for (size_t i = 0; i < cells->width; i++) {
			plot_colour colour = cells->colour[j * cells->width + i];

			row[4 * i] = (unsigned char)(colour >> 16);
			row[4 * i + 1] = (unsigned char)(colour >> 8);
			row[4 * i + 2] = (unsigned char)colour;
			row[4 * i + 3] = colour == NO_CELL_COLOUR ? 0 : 255;
		}
		png_write_row(png, row);
	}
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	free(row);
}
