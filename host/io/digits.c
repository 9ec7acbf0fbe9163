/* A float is m 2^e with m < 2^24; its seven digits are the integer next to m 2^e 10^(6 - k). With
 * the power of ten cut to 64 bits the product falls short by less than m units of its last place,
 * that is, by less than 2^24 of some 2^64 to the digit. Only where the rest comes that close to one
 * half can the rounding be in doubt, and there the C library decides. */
#include "io/digits.h"

#include "io/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static int bits_of(wide value)
{
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low);
}

/* 10^n for 0 <= n <= 51: 5^51 has 119 bits. */
static uint64_t power(int n, int *shift)
{
    wide five = 1;
    for (int i = 0; i < n; i++)
        five *= 5;
    int excess = bits_of(five) - 64;
    *shift = n + excess;
    return (uint64_t)(excess > 0 ? five >> excess : five << -excess);
}

/* 10^-n for 1 <= n <= 32, by long division: 5^32 has 75 bits. */
static uint64_t inverse_power(int n, int *shift)
{
    wide five = 1;
    for (int i = 0; i < n; i++)
        five *= 5;
    int bits = bits_of(five);
    wide rest = (wide)1 << (bits - 1);
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        rest <<= 1;
        quotient = 2 * quotient + (rest >= five);
        rest -= rest >= five ? five : 0;
    }
    *shift = -n - bits - 63;
    return quotient;
}

void ley_digits_prepare(ley_digits *digits)
{
    for (int k = LEY_DIGITS_LEAST; k <= LEY_DIGITS_MOST; k++) {
        int shift, i = k - LEY_DIGITS_LEAST;
        digits->scale[i].significand = k <= 6 ? power(6 - k, &shift) : inverse_power(k - 6, &shift);
        digits->scale[i].shift = shift;
    }
}

static char *write_slowly(float value, char *text)
{
    char buffer[32];
    locale_t old = uselocale(ley_c_locale());
    int length = snprintf(buffer, sizeof buffer, "%.6e", (double)value);
    uselocale(old);
    memcpy(text, buffer, (size_t)length);
    return text + length;
}

static void write_pair(unsigned value, char *text)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    memcpy(text, pairs + 2 * value, 2);
}

/* d.dddddde+xx */
static char *write_parts(unsigned digits, int exponent, char *text)
{
    unsigned first = digits / 1000000, rest = digits % 1000000;
    text[0] = (char)('0' + first);
    text[1] = '.';
    write_pair(rest / 10000, text + 2);
    write_pair(rest / 100 % 100, text + 4);
    write_pair(rest % 100, text + 6);
    text[8] = 'e';
    text[9] = exponent < 0 ? '-' : '+';
    write_pair((unsigned)(exponent < 0 ? -exponent : exponent), text + 10);
    return text + 12;
}

char *ley_digits_write(const ley_digits *digits, float value, char *text)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    char *at = text;
    if (bits >> 31 != 0)
        *at++ = '-';
    uint32_t m = bits & 0x7fffff;
    int e = (int)(bits >> 23 & 0xff);
    if (e != 0)
        m |= 0x800000;
    else if (m == 0)
        return write_parts(0, 0, at);
    e -= e != 0 ? 150 : 149;
    int up = __builtin_clz(m) - 8; /* denormals */
    m <<= up;
    e -= up;

    /* floor(log10 2^(e + 23)): the decimal exponent, or one less. */
    int k = (e + 23) * 1233 >> 12;
    if (k < LEY_DIGITS_LEAST)
        k = LEY_DIGITS_LEAST;
    for (;; k++) {
        int i = k - LEY_DIGITS_LEAST, fraction_bits = -(e + digits->scale[i].shift);
        wide product = (wide)m * digits->scale[i].significand, half = (wide)1 << (fraction_bits - 1);
        uint32_t whole = (uint32_t)(product >> fraction_bits);
        if (whole >= 10000000)
            continue;
        wide fraction = product & (2 * half - 1);
        if (fraction <= half && fraction + m >= half)
            return write_slowly(value, text);
        whole += fraction > half;
        return whole < 10000000 ? write_parts(whole, k, at) : write_parts(1000000, k + 1, at);
    }
}

char *ley_digits_write_fixed(uint64_t value, int decimals, char *end)
{
    char *at = end;
    if (decimals > 0) {
        for (; decimals > 1; decimals -= 2, value /= 100)
            write_pair((unsigned)(value % 100), at -= 2);
        if (decimals == 1) {
            *--at = (char)('0' + value % 10);
            value /= 10;
        }
        *--at = '.';
    }
    for (; value >= 100; value /= 100)
        write_pair((unsigned)(value % 100), at -= 2);
    if (value >= 10)
        write_pair((unsigned)value, at -= 2);
    else
        *--at = (char)('0' + value);
    return at;
}
