/* Numbers as printf("%12.6e ") writes them, some thirty times as fast; integers and fixed point. */
#ifndef LEY_IO_DIGITS_H
#define LEY_IO_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum {
    LEY_DIGITS_LEAST = -45, /* decimal exponents of the smallest and the largest float */
    LEY_DIGITS_MOST = 38,
    LEY_DIGITS_MAX = 13,      /* characters of a number: -1.234567e-38 */
    LEY_DIGITS_FIXED_MAX = 21 /* of an integer, with or without a point in it */
};

/* 10^(6 - k) for the decimal exponents k of float: significand 2^shift with a significand of 64
 * bits, cut off. */
typedef struct ley_digits {
    struct {
        uint64_t significand;
        int shift;
    } scale[LEY_DIGITS_MOST - LEY_DIGITS_LEAST + 1];
} ley_digits;

void ley_digits_prepare(ley_digits *digits);

/* Writes the text of printf("%.6e", value) in the "C" locale, without a NUL; returns its end. The
 * value must be finite; the text is at most LEY_DIGITS_MAX long and at least 12, so that a width of
 * 12 adds nothing. */
char *ley_digits_write(const ley_digits *digits, float value, char *text);

/* Writes value / 10^decimals with that many decimals, 0 to 18, in front of `end`: 12345 with four
 * of them is 1.2345, with none 12345. Returns the text's start, at most LEY_DIGITS_FIXED_MAX in
 * front of its end. */
char *ley_digits_write_fixed(uint64_t value, int decimals, char *end);

#endif
