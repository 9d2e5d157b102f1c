/* aes128.c - AES-128 in plain C (FIPS-197).
 *
 * All backends use its key expansion, the portable one its cipher, too. The time of its table
 * look-ups depends on the key, which another process on the machine might observe. The AES
 * instructions of the other backends do not have that weakness. */
#include "trainers/noise/noise_internal.h"

#include <string.h>

/* The S-box as a list from which both tables are made. */
#define ROW(X, a, b, c, d, e, f, g, h) X(a), X(b), X(c), X(d), X(e), X(f), X(g), X(h)
#define SBOX(X)                                                                                    \
	ROW(X, 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5),                                    \
		ROW(X, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76),                            \
		ROW(X, 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0),                            \
		ROW(X, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0),                            \
		ROW(X, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc),                            \
		ROW(X, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15),                            \
		ROW(X, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a),                            \
		ROW(X, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75),                            \
		ROW(X, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0),                            \
		ROW(X, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84),                            \
		ROW(X, 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b),                            \
		ROW(X, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf),                            \
		ROW(X, 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85),                            \
		ROW(X, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8),                            \
		ROW(X, 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5),                            \
		ROW(X, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2),                            \
		ROW(X, 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17),                            \
		ROW(X, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73),                            \
		ROW(X, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88),                            \
		ROW(X, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb),                            \
		ROW(X, 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c),                            \
		ROW(X, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79),                            \
		ROW(X, 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9),                            \
		ROW(X, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08),                            \
		ROW(X, 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6),                            \
		ROW(X, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a),                            \
		ROW(X, 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e),                            \
		ROW(X, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e),                            \
		ROW(X, 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94),                            \
		ROW(X, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf),                            \
		ROW(X, 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68),                            \
		ROW(X, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16)

/* Product of a byte with x in GF(2^8). */
#define TIMES_X(s) (((s) << 1 ^ ((s) >> 7) * 0x1b) & 0xff)
/* Contribution of a byte in the first row to its column after SubBytes and MixColumns. */
#define MIXED(s) (TIMES_X(s) | (s) << 8 | (s) << 16 | (TIMES_X(s) ^ (s)) << 24)
#define BYTE(s)  s

static const uint8_t sbox[256] = { SBOX(BYTE) };
static const uint32_t mixed[256] = { SBOX(MIXED) };

/* A column is four bytes of the state, the first in the lowest bits. */
uint32_t aes128_load_word(const uint8_t p[4])
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void aes128_store_column(uint8_t *p, uint32_t c)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(c >> 8 * i);
}

static uint32_t rotate_right(uint32_t c, int bits)
{
	return c >> bits | c << (32 - bits);
}

/* SubBytes of four bytes, each from the column that ShiftRows selects. */
static uint32_t aes128_sub_bytes(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
	return sbox[c0 & 0xff] | (uint32_t)sbox[c1 >> 8 & 0xff] << 8 |
	       (uint32_t)sbox[c2 >> 16 & 0xff] << 16 | (uint32_t)sbox[c3 >> 24] << 24;
}

static uint32_t aes128_sub_mix_columns(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
	return mixed[c0 & 0xff] ^ rotate_right(mixed[c1 >> 8 & 0xff], 24) ^
	       rotate_right(mixed[c2 >> 16 & 0xff], 16) ^ rotate_right(mixed[c3 >> 24], 8);
}

void aes128_expand_key(uint8_t round_key[11][16], const uint8_t key[16])
{
	uint8_t *p = round_key[0];
	uint32_t constant = 1, last;

	memcpy(p, key, 16);
	for (int i = 4; i < 44; i++) {
		last = aes128_load_word(p + 4 * (i - 1));
		if (i % 4 == 0) {
			last = rotate_right(last, 8);
			last = aes128_sub_bytes(last, last, last, last) ^ constant;
			constant = TIMES_X(constant);
		}
		aes128_store_column(p + 4 * i, aes128_load_word(p + 4 * (i - 4)) ^ last);
	}
}

void aes128_encrypt_block(const uint8_t round_key[11][16], const uint8_t in[16], uint8_t out[16])
{
	uint32_t a, b, c, d, e, f, g, h;
	const uint8_t *key = round_key[0];

	a = aes128_load_word(in) ^ aes128_load_word(key);
	b = aes128_load_word(in + 4) ^ aes128_load_word(key + 4);
	c = aes128_load_word(in + 8) ^ aes128_load_word(key + 8);
	d = aes128_load_word(in + 12) ^ aes128_load_word(key + 12);
	for (int round = 1; round < 10; round++) {
		key += 16;
		e = aes128_sub_mix_columns(a, b, c, d) ^ aes128_load_word(key);
		f = aes128_sub_mix_columns(b, c, d, a) ^ aes128_load_word(key + 4);
		g = aes128_sub_mix_columns(c, d, a, b) ^ aes128_load_word(key + 8);
		h = aes128_sub_mix_columns(d, a, b, c) ^ aes128_load_word(key + 12);
		a = e, b = f, c = g, d = h;
	}
	key += 16;
	aes128_store_column(out, aes128_sub_bytes(a, b, c, d) ^ aes128_load_word(key));
	aes128_store_column(out + 4, aes128_sub_bytes(b, c, d, a) ^ aes128_load_word(key + 4));
	aes128_store_column(out + 8, aes128_sub_bytes(c, d, a, b) ^ aes128_load_word(key + 8));
	aes128_store_column(out + 12, aes128_sub_bytes(d, a, b, c) ^ aes128_load_word(key + 12));
}

void aes128_make_block(uint64_t high, uint64_t low, uint8_t block[16])
{
	for (int i = 0; i < 8; i++) {
		block[i] = (uint8_t)(high >> (56 - 8 * i));
		block[8 + i] = (uint8_t)(low >> (56 - 8 * i));
	}
}
