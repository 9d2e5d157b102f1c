/* keystream_vaes.h - generates the keystream of a batch with VAES.
 *
 * The backend must have defined
 *   wide           a register of LANES / 4 blocks
 *   spread(block)  a register with copies of a block
 *   numbers(i)     the offsets of the blocks from i on
 *   encrypt(s, key), encrypt_last(s, key)  the rounds */
INLINE void cipher_vaes(const struct noise_stream *n, uint64_t stream, uint64_t counter,
			vi word[VECTORS])
{
	wide key = spread(load_round_key(n, 0)), s[VECTORS];
	wide first = spread(counter_block(stream, counter)) ^ key;

	FOR_ALL(k, VECTORS, s[k] = first ^ numbers(LANES / 4 * k));
	UNROLL
	for (int round = 1; round < 10; round++) {
		key = spread(load_round_key(n, round));
		FOR_ALL(k, VECTORS, s[k] = encrypt(s[k], key));
	}
	key = spread(load_round_key(n, 10));
	FOR_ALL(k, VECTORS, word[k] = (vi)encrypt_last(s[k], key));
}

#define cipher cipher_vaes
