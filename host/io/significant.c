/* A double is m 2^e with m < 2^53. Its first n digits are the integer next to m 2^e 10^p, where p =
 * n - 1 - k and k is the decimal exponent. For p from 0 to 32, m 5^p has 128 bits at most: it is
 * exact, and so is what the shift by e + p bits takes away from it, by which it is rounded. Numbers
 * with other p, which are very large or very small, are left to the C library. */
#include "io/significant.h"

#include "core/number.h"
#include "io/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    FLOAT_DIGITS = 9, /* that are enough for every float, and for every double */
    DOUBLE_DIGITS = 17,
    SHORT_DIGITS = 15, /* numbers with so many are all different doubles */
    MANTISSA_BITS = 53,
    MOST_POWER = 32, /* 5^32 has 75 bits */
    MOST_SHIFT = 127,
    EXACT_POWER = 22, /* 10^22 is a double */
    LEAST_FIXED = -4  /* smaller decimal exponents are written as such */
};

/* The digits as an integer, which is 0 or has as many as were asked for, and the decimal exponent
 * of the first one. */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

static wide power_of_five(int n)
{
    wide power = 1;
    for (wide base = 5; n > 0; n /= 2, base *= base)
        power *= n % 2 != 0 ? base : 1;
    return power;
}

static uint64_t power_of_ten(int n)
{
    return (uint64_t)(power_of_five(n) << n);
}

/* m 2^e 10^p, rounded to the nearest integer, a half to the even one. */
static bool scale(uint64_t m, int e, int p, uint64_t *nearest)
{
    const int shift = -(e + p);
    if (p < 0 || p > MOST_POWER || shift < 1 || shift > MOST_SHIFT)
        return false;
    const wide product = m * power_of_five(p), half = (wide)1 << (shift - 1);
    const uint64_t whole = (uint64_t)(product >> shift);
    const wide rest = product - ((wide)whole << shift);
    *nearest = whole + (rest > half || (rest == half && whole % 2 != 0));
    return true;
}

/* False: the digits are not known exactly. */
static bool find_digits(double magnitude, int n, decimal *d)
{
    int e;
    *d = (decimal){0, 0};
    if (magnitude == 0)
        return true;
    if (!isfinite(magnitude))
        return false;
    const uint64_t m = (uint64_t)ldexp(frexp(magnitude, &e), MANTISSA_BITS);
    d->exponent = (int)floor((e - 1) * 0.30102999566398120); /* log10 2: the decimal exponent, or one less */
    if (!scale(m, e - MANTISSA_BITS, n - 1 - d->exponent, &d->digits))
        return false;
    if (d->digits < power_of_ten(n))
        return true;
    d->exponent++;
    return scale(m, e - MANTISSA_BITS, n - 1 - d->exponent, &d->digits);
}

static char *write_by_library(double value, int digits, char *text)
{
    char buffer[SIGNIFICANT_ROOM];
    locale_t old = uselocale(ley_c_locale());
    const int length = snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    uselocale(old);
    memcpy(text, buffer, (size_t)length);
    return text + length;
}

static char *write_fixed(uint64_t digits, int decimals, char *text)
{
    char buffer[LEY_DIGITS_FIXED_MAX], *end = buffer + sizeof buffer;
    const char *start = ley_digits_write_fixed(digits, decimals, end);
    memcpy(text, start, (size_t)(end - start));
    return text + (end - start);
}

/* As "%g" does: without zeros at the end, and with an exponent where the number is small, or has
 * more digits in front of the point than were asked for. */
static char *write_digits(bool is_negative, decimal d, int n, char *text)
{
    int left = n;
    *text = '-';
    text += is_negative;
    if (d.digits == 0)
        return write_fixed(0, 0, text);
    for (; d.digits % 10 == 0; d.digits /= 10)
        left--;
    if (d.exponent >= LEAST_FIXED && d.exponent < n) {
        const int decimals = left - 1 - d.exponent;
        return decimals >= 0 ? write_fixed(d.digits, decimals, text)
                             : write_fixed(d.digits * power_of_ten(-decimals), 0, text);
    }
    const int exponent = abs(d.exponent);
    text = write_fixed(d.digits, left - 1, text);
    *text++ = 'e';
    *text++ = d.exponent < 0 ? '-' : '+';
    if (exponent < 10)
        *text++ = '0';
    return write_fixed((uint64_t)exponent, 0, text);
}

char *significant_write(double value, int digits, char *text)
{
    decimal d;
    return find_digits(fabs(value), digits, &d) ? write_digits(signbit(value), d, digits, text)
                                                : write_by_library(value, digits, text);
}

/* Integers below 2^53 and small powers of ten are doubles, whose quotient or product is rounded
 * once, as reading is. */
static bool reads_back(const decimal *d, int n, double magnitude)
{
    static const double ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int power = d->exponent - (n - 1);
    return power < 0 ? (double)d->digits / ten[-power] == magnitude : (double)d->digits * ten[power] == magnitude;
}

char *significant_write_value(double value, char *text)
{
    return significant_write(value, (double)(float)value == value ? FLOAT_DIGITS : DOUBLE_DIGITS, text);
}

char *significant_write_exact(double value, char *text)
{
    decimal d;
    if (find_digits(fabs(value), SHORT_DIGITS, &d) && abs(d.exponent - (SHORT_DIGITS - 1)) <= EXACT_POWER)
        return reads_back(&d, SHORT_DIGITS, fabs(value)) ? write_digits(signbit(value), d, SHORT_DIGITS, text)
                                                         : significant_write(value, DOUBLE_DIGITS, text);
    char *end = write_by_library(value, SHORT_DIGITS, text);
    *end = '\0';
    return strtod_l(text, NULL, ley_c_locale()) == value ? end : write_by_library(value, DOUBLE_DIGITS, text);
}
