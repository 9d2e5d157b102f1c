/* idx_format.c - parses MNIST's IDX format: a file of images and a file of labels.
 *
 * Both contain bytes after a big-endian header. Pixels are scaled to 0..1. */
#include "trainers/data/dataset_internal.h"

#include <stdio.h>
#include <string.h>

enum {
	IDX_TYPE_UBYTE = 8, /* unsigned bytes */
};

struct idx_file {
	const char *content_name; /* for messages */
	uint32_t n;               /* elements along the first dimension */
	uint32_t element_bytes;   /* of one element */
	const uint8_t *data;
};

static uint32_t read_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Header: two zeros, the type, the number of dimensions (one byte each), then the sizes. */
static int idx_read_header(struct idx_file *x, const char *content, size_t len, bool images,
			   struct dp_err *err)
{
	const uint8_t *p = (const uint8_t *)content;
	uint64_t each = 1;
	size_t header;

	if (len < 4)
		return dp_fail(err, DP_E_CORRUPT, "the %s end within their header (%zu bytes)",
			       x->content_name, len);
	if (p[0] != 0 || p[1] != 0)
		return dp_fail(err, DP_E_INVALID, "the %s have no IDX magic number at offset 0",
			       x->content_name);
	if (p[2] != IDX_TYPE_UBYTE)
		return dp_fail(err, DP_E_INVALID,
			       "the %s have elements of type 0x%02x at offset 2; only "
			       "unsigned bytes (0x08) can be read",
			       x->content_name, p[2]);
	if (images && p[3] == 1)
		return dp_fail(err, DP_E_INVALID,
			       "these are labels (1 dimension); name the file of images");
	if (images ? p[3] < 2 || p[3] > 4 : p[3] != 1)
		return dp_fail(err, DP_E_INVALID, "the %s have %d dimensions at offset 3, not %s",
			       x->content_name, p[3], images ? "2 to 4" : "1");
	header = 4 + 4 * (size_t)p[3];
	if (len < header)
		return dp_fail(err, DP_E_CORRUPT, "the %s end within their header (%zu bytes)",
			       x->content_name, len);
	x->n = read_be32(p + 4);
	for (size_t at = 8; at < header; at += 4) {
		each *= read_be32(p + at);
		if (each == 0 || each > FEATURES_MAX)
			return dp_fail(err, DP_E_INVALID,
				       "the %s have 0 or more than %d pixels each, by the "
				       "sizes up to offset %zu",
				       x->content_name, FEATURES_MAX, at);
	}
	if (len - header != x->n * each)
		return dp_fail(err, DP_E_CORRUPT,
			       "the header of the %s promises %u of %u bytes, but %zu "
			       "bytes follow at offset %zu",
			       x->content_name, x->n, (uint32_t)each, len - header, header);
	x->element_bytes = (uint32_t)each;
	x->data = p + header;
	return DP_OK;
}

int idx_parse(const char *images, size_t nimages, const char *labels, size_t nlabels,
	      struct dataset *s, struct dp_err *err)
{
	struct idx_file x = { .content_name = "images" }, y = { .content_name = "labels" };
	uint8_t number[CLASSES_MAX] = { 0 };
	bool met[CLASSES_MAX] = { false };
	float shade[256];
	struct dataset_builder b = { 0 };
	int code;

	if ((code = idx_read_header(&x, images, nimages, true, err)) != DP_OK ||
	    (code = idx_read_header(&y, labels, nlabels, false, err)) != DP_OK)
		return code;
	if (x.n != y.n)
		return dp_fail(err, DP_E_INVALID,
			       "there are %u images but %u labels: the files do not "
			       "belong together",
			       x.n, y.n);
	for (uint32_t i = 0; i < y.n; i++)
		met[y.data[i]] = true;
	for (int v = 0; v < CLASSES_MAX && code == DP_OK; v++) { /* distinct labels are classes */
		char text[8];
		int len = snprintf(text, sizeof text, "%d", v);

		if (met[v])
			code = class_labels_intern(&s->classes, text, (size_t)len, &number[v], err);
	}
	for (int v = 0; v < 256; v++)
		shade[v] = (float)v / 255;
	for (uint32_t i = 0; code == DP_OK && i < x.n; i++) {
		const uint8_t *pixel = x.data + (size_t)i * x.element_bytes;

		for (uint32_t j = 0; j < x.element_bytes; j++)
			if (pixel[j])
				dataset_builder_add_entry(&b, j, shade[pixel[j]]);
		dataset_builder_end_row(&b, number[y.data[i]]);
	}
	if (code == DP_OK)
		code = dataset_builder_finish(&b, x.element_bytes, s, err);
	dataset_builder_free(&b);
	return code;
}
