/* lot_sampler.c - draws the records of a step: fixed-size lots or Poisson samples.
 *
 * Both distributions are exact if the words of the stream are uniform: nothing is rounded, so that
 * the accountants' assumptions about sampling hold exactly. */
#include "trainers/learn/learn.h"

#include <stdlib.h>

int lot_sampler_init(struct lot_sampler *l, const struct noise_stream *stream, uint32_t n,
		     const struct sgd *s, struct dp_err *err)
{
	l->order = NULL;
	if (s->lot_size < 1 || s->lot_size > n)
		return dp_fail(err, DP_E_INVALID,
			       "a lot of %u cannot be drawn from %u training records",
			       (unsigned)s->lot_size, (unsigned)n);
	l->stream = *stream;
	l->n = n;
	l->lot_size = s->lot_size;
	l->is_poisson = s->is_poisson;
	l->n_words_used = DP_COUNT(l->words);
	l->order = dp_malloc(n * sizeof *l->order);
	for (uint32_t i = 0; i < n; i++)
		l->order[i] = i;
	return DP_OK;
}

void lot_sampler_free(struct lot_sampler *l)
{
	free(l->order);
	l->order = NULL;
}

static inline uint32_t lots_word(struct lot_sampler *l)
{
	if (__builtin_expect(l->n_words_used == DP_COUNT(l->words), 0)) {
		noise_fill_words(&l->stream, l->words, DP_COUNT(l->words));
		l->n_words_used = 0;
	}
	return l->words[l->n_words_used++];
}

/* Uniform on 0..n-1, exactly (Lemire 2019): the high half of a product is the result; the few low
 * halves that would favour some results are rejected. */
static inline uint32_t lots_below(struct lot_sampler *l, uint32_t n)
{
	uint64_t product = (uint64_t)lots_word(l) * n;

	if (__builtin_expect((uint32_t)product < n, 0)) {
		uint32_t reject = -n % n; /* 2^32 mod n */

		while ((uint32_t)product < reject)
			product = (uint64_t)lots_word(l) * n;
	}
	return (uint32_t)(product >> 32);
}

/* Each bit is 1 with probability 2^-halvings, independently. */
static uint64_t draw_sparse_bits(struct lot_sampler *l, unsigned halvings)
{
	uint64_t bits = ~UINT64_C(0);

	for (unsigned i = 0; i < halvings && bits; i++) {
		uint64_t high = lots_word(l);

		bits &= high << 32 | lots_word(l);
	}
	return bits;
}

/* Each record joins with probability lot / n, in two exact steps: it becomes a candidate with the
 * next higher power of two (one bit of many at once), and a candidate is accepted with the
 * remaining fraction. Skipping ahead by logarithms of uniforms is faster, but its rounding changes
 * the probabilities, which the proofs do not cover. */
static uint32_t draw_poisson(struct lot_sampler *l)
{
	unsigned halvings = 31 - (unsigned)__builtin_clz(l->n / l->lot_size);
	uint32_t keep = l->lot_size << halvings, count = 0;

	for (uint64_t base = 0; base < l->n; base += 64) {
		uint64_t bits = draw_sparse_bits(l, halvings);

		if (l->n - base < 64)
			bits &= (UINT64_C(1) << (l->n - base)) - 1;
		for (; bits; bits &= bits - 1)
			if (lots_below(l, l->n) < keep)
				l->order[count++] =
					(uint32_t)base + (uint32_t)__builtin_ctzll(bits);
	}
	return count;
}

const uint32_t *lot_sampler_next(struct lot_sampler *l, uint32_t *count)
{
	uint32_t *order = l->order;

	*count = l->is_poisson ? draw_poisson(l) : l->lot_size;
	/* The first steps of a Fisher-Yates shuffle: the first lot_size positions are a uniform set
	 * of distinct records for any earlier order. */
	for (uint32_t i = 0; i < l->lot_size && !l->is_poisson; i++) {
		uint32_t j = i + lots_below(l, l->n - i), drawn = order[j];

		order[j] = order[i];
		order[i] = drawn;
	}
	return order;
}
