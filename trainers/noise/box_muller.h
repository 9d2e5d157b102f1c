/* box_muller.h - generates batches of words and normals (a template for the backends).
 *
 * A backend includes it after vector_types.h and after it has defined, as functions or as macros:
 *   cipher(n, stream, counter, word)  the keystream of a batch
 *   fused(a, b, c)                    a * b + c, rounded once if the machine can
 *   root(x)                           the square root
 *   choose(mask, a, b)                a where the mask is -1, b where it is 0
 *   any(mask)                         true if a lane of the mask is -1
 *
 * Normals come from the Box-Muller transform. Pair j of a batch takes its radius from word j and
 * its angle from word 32 + j, and yields the normals j and 32 + j.
 *
 * Radius: sqrt(-2 ln u). The top bit of the word says whether u is in the lower (1) or the upper
 * half (0) of (0, 1). The other 31 bits, with the lowest set, are the distance of u from 0 or from
 * 1 in units of 2^-32. If they are below 2^20, the lowest two units are replaced by an extra word
 * with its top bit cleared and its lowest set, in units of 2^-62: word j of the batch with the same
 * counters in the stream NOISE_EXTRA_STREAM(). So at least 19 random bits follow the leading bit of
 * a distance, and u goes down to 2^-62, which is 9.2 standard deviations.
 *
 * Angle: the word with its lowest bit set, an odd number between -2^31 and 2^31, stands for -90 to
 * 90 degrees; the lowest bit itself negates both normals.
 *
 * Each step is done for all vectors of a batch before the next one, to hide its latency. */
#include <string.h>

enum {
	EXTRA_BITS_BELOW = 1 << 20
};

INLINE vf vec_to_float(vi x)
{
	return __builtin_convertvector(x, vf);
}

/* The number formed by 31 bits, never 0. */
INLINE vf odd_bits_to_float(vi bits)
{
	return vec_to_float((bits & INT32_MAX) | 1);
}

/* x / 2^bits if neither is 0 or subnormal: cheaper than a multiplication. */
INLINE vf divide_by_pow2(vf x, int bits)
{
	return (vf)((vi)x - (bits << 23));
}

/* -2 ln(1 - f) / f on [0, 1/2], relative error 1.6e-7 */
INLINE void log_series(const vf f[RADII], vf p[RADII])
{
	vf y[RADII];

	FOR_ALL(k, RADII, y[k] = f[k] * f[k]);
	FOR_ALL(k, RADII,
		p[k] = fused(vec_broadcast(2.321218967f), f[k], vec_broadcast(-2.072316408f)));
	FOR_ALL(k, RADII,
		p[k] = fused(
			p[k], y[k],
			fused(vec_broadcast(1.503218412f), f[k], vec_broadcast(0.1016525328f))));
	FOR_ALL(k, RADII,
		p[k] = fused(
			p[k], y[k],
			fused(vec_broadcast(0.5393248796f), f[k], vec_broadcast(0.6642585397f))));
	FOR_ALL(k, RADII,
		p[k] = fused(p[k], y[k],
			     fused(vec_broadcast(1.000049233f), f[k], vec_broadcast(2.0f))));
}

/* p = c[0] + c[1] y + ... + c[4] y^4 */
INLINE void quartic(const float c[5], const vf y[RADII], vf p[RADII])
{
	FOR_ALL(k, RADII, p[k] = fused(vec_broadcast(c[4]), y[k], vec_broadcast(c[3])));
	FOR_ALL(k, RADII, p[k] = fused(p[k], y[k], vec_broadcast(c[2])));
	FOR_ALL(k, RADII, p[k] = fused(p[k], y[k], vec_broadcast(c[1])));
	FOR_ALL(k, RADII, p[k] = fused(p[k], y[k], vec_broadcast(c[0])));
}

/* -ln u = e ln 2 - ln(1 - f) with f in (0, 1/2]. In the upper half, f is the distance from 1 and e
 * is 0; in the lower half, (1 - f) 2^-e is the distance from 0. */
INLINE vf log_fraction(vi word, vf distance)
{
	vf mantissa = (vf)(((vi)distance & 0x007fffff) | 0x3f000000);

	return choose(word >> 31, 1.0f - mantissa, divide_by_pow2(distance, 32));
}

/* e 2^23 */
INLINE vf log2_exponent(vi word, vf distance)
{
	return vec_to_float(((158 << 23) - ((vi)distance & 0x7f800000)) & word >> 31);
}

INLINE void box_muller_radii(const vi word[RADII], const vf distance[RADII], vf r[RADII])
{
	const vf two_ln2 = vec_broadcast(1.386294361f * 0x1p-23f);
	vf f[RADII];

	FOR_ALL(k, RADII, f[k] = log_fraction(word[k], distance[k]));
	log_series(f, r);
	FOR_ALL(k, RADII, r[k] = fused(log2_exponent(word[k], distance[k]), two_ln2, f[k] * r[k]));
	FOR_ALL(k, RADII, r[k] = root(r[k]));
}

INLINE void box_muller(const vi word[VECTORS], const vf distance[RADII], vf z[VECTORS])
{
	/* sin(90 degrees * t) / t and cos(90 degrees * t) in powers of t^2 on [0, 1]; errors: 5e-8
	 * relative, 8e-8 absolute */
	static const float sine[] = { 1.570796371f, -0.6459650993f, 0.07969578356f,
				      -0.004682860803f, 0.0001558073564f };
	static const float cosine[] = { 1.0f, -1.233698845f, 0.2536531985f, -0.02081396617f,
					0.0008596897824f };
	const vi *angle = word + RADII;
	vf r[RADII], t[RADII], y[RADII], c[RADII], s[RADII];

	box_muller_radii(word, distance, r);
	FOR_ALL(k, RADII, r[k] = (vf)((vi)r[k] ^ angle[k] << 31));
	FOR_ALL(k, RADII, t[k] = divide_by_pow2(vec_to_float(angle[k] | 1), 31));
	FOR_ALL(k, RADII, y[k] = t[k] * t[k]);
	quartic(cosine, y, c);
	FOR_ALL(k, RADII, z[k] = r[k] * c[k]);
	quartic(sine, y, s);
	FOR_ALL(k, RADII, z[RADII + k] = r[k] * t[k] * s[k]);
}

INLINE bool needs_extra_bits(const vi word[VECTORS])
{
	vi small = { 0 };

	FOR_ALL(k, RADII, small |= (word[k] & INT32_MAX) < EXTRA_BITS_BELOW);
	return any(small);
}

INLINE vf fine_uniform_distance(vi word, vi further)
{
	vi whole = word & (INT32_MAX - 1);

	return choose(whole < EXTRA_BITS_BELOW,
		      vec_to_float(whole) + divide_by_pow2(odd_bits_to_float(further), 30),
		      odd_bits_to_float(word));
}

INLINE void transform_plain(const vi word[VECTORS], vf z[VECTORS])
{
	vf distance[RADII];

	FOR_ALL(k, RADII, distance[k] = odd_bits_to_float(word[k]));
	box_muller(word, distance, z);
}

INLINE void transform_fine(const vi word[VECTORS], const vi further[VECTORS], vf z[VECTORS])
{
	vf distance[RADII];

	FOR_ALL(k, RADII, distance[k] = fine_uniform_distance(word[k], further[k]));
	box_muller(word, distance, z);
}

/* ---- batches ---- */

struct batch_output {
	float *w;
	bool accumulate; /* w += scale z, else w = z */
	float scale;
};

INLINE void store_batch(const struct batch_output *o, size_t batch, const vf z[VECTORS])
{
	float *w = o->w + NOISE_BATCH_WORDS * batch;
	vf value[VECTORS];

	FOR_ALL(k, VECTORS, value[k] = z[k]);
	if (o->accumulate) {
		FOR_ALL(k, VECTORS, memcpy(&value[k], w + LANES * k, sizeof(vf)));
		FOR_ALL(k, VECTORS, value[k] = fused(vec_broadcast(o->scale), z[k], value[k]));
	}
	FOR_ALL(k, VECTORS, memcpy(w + LANES * k, &value[k], sizeof(vf)));
}

INLINE uint64_t counter_of(const struct noise_stream *n, size_t batch)
{
	return n->counter + NOISE_BATCH_BLOCKS * (uint64_t)batch;
}

/* Processes batches b..last until one needs extra words; returns the next batch to do. The cipher
 * of the next batch is interleaved with the transform of this one, since latency bounds each
 * alone. */
INLINE size_t generate_plain_batches(const struct noise_stream *n, const struct batch_output *o,
				     size_t b, size_t last)
{
	vi word[VECTORS], next[VECTORS];
	vf z[VECTORS];

	cipher(n, n->stream_id, counter_of(n, b), word);
	for (; b < last && !needs_extra_bits(word); b++) {
		cipher(n, n->stream_id, counter_of(n, b + 1), next);
		transform_plain(word, z);
		store_batch(o, b, z);
		FOR_ALL(k, VECTORS, word[k] = next[k]);
	}
	if (b < last || needs_extra_bits(word))
		return b;
	transform_plain(word, z);
	store_batch(o, b, z);
	return b + 1;
}

INLINE void generate_fine_batch(const struct noise_stream *n, const struct batch_output *o,
				size_t b)
{
	vi word[VECTORS], further[VECTORS];
	vf z[VECTORS];

	cipher(n, n->stream_id, counter_of(n, b), word);
	cipher(n, NOISE_EXTRA_STREAM(n->stream_id), counter_of(n, b), further);
	transform_fine(word, further, z);
	store_batch(o, b, z);
}

/* One batch in 64 needs extra words. */
INLINE void generate_batches(const struct noise_stream *n, const struct batch_output *o,
			     size_t batches)
{
	for (size_t b = 0; b < batches; b++) {
		b = generate_plain_batches(n, o, b, batches - 1);
		if (b < batches)
			generate_fine_batch(n, o, b);
	}
}

TARGET static void backend_fill_words(const struct noise_stream *n, void *out, size_t batches)
{
	vi word[VECTORS];
	uint32_t *p = out;

	for (size_t b = 0; b < batches; b++, p += NOISE_BATCH_WORDS) {
		cipher(n, n->stream_id, counter_of(n, b), word);
		FOR_ALL(k, VECTORS, memcpy(p + LANES * k, &word[k], sizeof(vi)));
	}
}

TARGET static void backend_fill_normals(const struct noise_stream *n, void *out, size_t batches)
{
	generate_batches(n, &(struct batch_output){ out, false, 0 }, batches);
}

TARGET static void backend_add_normals(const struct noise_stream *n, float scale, float *w,
				       size_t batches)
{
	generate_batches(n, &(struct batch_output){ w, true, scale }, batches);
}

TARGET static void backend_transform(const uint32_t word[NOISE_BATCH_WORDS],
				     const uint32_t further[NOISE_BATCH_WORDS],
				     float out[NOISE_BATCH_WORDS])
{
	vi a[VECTORS], b[VECTORS];
	vf z[VECTORS];

	memcpy(a, word, sizeof a);
	memcpy(b, further, sizeof b);
	if (needs_extra_bits(a))
		transform_fine(a, b, z);
	else
		transform_plain(a, z);
	memcpy(out, z, sizeof z);
}

#define NOISE_BACKEND_INIT(name, usable)                                                           \
	{                                                                                          \
		name, usable, backend_fill_words, backend_fill_normals, backend_add_normals,       \
			backend_transform                                                          \
	}
