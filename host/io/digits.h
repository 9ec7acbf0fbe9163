/* Numbers as printf("%12.6e ") writes them, some forty times as fast; integers and fixed point. */
#ifndef LEY_IO_DIGITS_H
#define LEY_IO_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEY_DIGITS_LEAST = -45, /* decimal exponents of the smallest and the largest float */
    LEY_DIGITS_MOST = 38,
    LEY_DIGITS_LEAST_E = -172, /* binary ones, where significands have 24 bits */
    LEY_DIGITS_MOST_E = 104,
    LEY_DIGITS_MAX = 13,      /* characters of a number: -1.234567e-38 */
    LEY_DIGITS_FIXED_MAX = 22 /* of an integer, with or without a point in it */
};

/* 10^(6 - k) for a decimal exponent k: significand 2^shift with a significand of 64 bits, cut off
 * unless it is exact; and the exponent as it is written. */
typedef struct ley_digits_scale {
    uint64_t significand;
    int shift;
    char exponent[4];
    bool is_exact;
} ley_digits_scale;

/* Tables. A float is m 2^e, with m from 2^23 on below 2^24; `binade`, for each e: the scale of the
 * decimal exponent of its smallest, and the m from which on the next one is the right one. */
typedef struct ley_digits {
    ley_digits_scale scale[LEY_DIGITS_MOST + 1 - LEY_DIGITS_LEAST + 1];
    struct {
        uint32_t next;
        int scale;
    } binade[LEY_DIGITS_MOST_E - LEY_DIGITS_LEAST_E + 1];
} ley_digits;

void ley_digits_prepare(ley_digits *digits);

/* Writes the text of printf("%.6e", value) in the "C" locale, without a NUL; returns its end. The
 * value must be finite; the text is at most LEY_DIGITS_MAX long and at least 12, so that a width of
 * 12 adds nothing. */
char *ley_digits_write(const ley_digits *digits, float value, char *text);

/* Writes value / 10^decimals with that many decimals, 0 to 20, in front of `end`: 12345 with four
 * of them is 1.2345, with none 12345. Returns the text's start, at most LEY_DIGITS_FIXED_MAX in
 * front of its end. */
char *ley_digits_write_fixed(uint64_t value, int decimals, char *end);

#endif
