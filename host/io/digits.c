/* A float is m 2^e with 2^23 <= m < 2^24; its seven digits are the integer next to m 2^e 10^(6 -
 * k). With the power of ten cut to 64 bits, and the product to its upper 64, the product falls
 * short by less than two units of the last of these, of which there are some 2^40 to the digit.
 * Only where the rest comes that close to one half can the rounding be in doubt: where the power is
 * exact, the product's lower half decides, elsewhere the C library. */
#include "io/digits.h"

#include "io/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    LEAST_M = 1 << 23,
    MOST_M = 1 << 24,
    ALL_DIGITS = 10000000,
    EXACT_POWER = 27 /* 5^27 has 63 bits */
};

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

/* 10^-n for 1 <= n <= 33, by long division: 5^33 has 77 bits. */
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

static void write_pair(unsigned value, char *text)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    memcpy(text, pairs + 2 * value, 2);
}

/* The smallest m of 24 bits for which m 2^e has the decimal exponent k + 1; 2^24: none. A power of
 * ten that is cut off may be missed by one, which then is rounded up to. */
static uint32_t first_of_next(const ley_digits_scale *scale, int e)
{
    uint32_t least = LEAST_M, most = MOST_M;
    while (least < most) {
        const uint32_t middle = (least + most) / 2;
        if ((wide)middle * scale->significand >> -(e + scale->shift) >= ALL_DIGITS)
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

static void put_exponent(int k, char text[4])
{
    text[0] = 'e';
    text[1] = k < 0 ? '-' : '+';
    write_pair((unsigned)(k < 0 ? -k : k), text + 2);
}

void ley_digits_prepare(ley_digits *digits)
{
    for (int k = LEY_DIGITS_LEAST; k <= LEY_DIGITS_MOST + 1; k++) {
        ley_digits_scale *scale = &digits->scale[k - LEY_DIGITS_LEAST];
        scale->significand = k <= 6 ? power(6 - k, &scale->shift) : inverse_power(k - 6, &scale->shift);
        scale->is_exact = k <= 6 && 6 - k <= EXACT_POWER;
        put_exponent(k, scale->exponent);
    }
    for (int e = LEY_DIGITS_LEAST_E; e <= LEY_DIGITS_MOST_E; e++) {
        /* floor(log10 2^(e + 23)): the decimal exponent, or one less. */
        const int scaled = (e + 23) * 1233, k = (scaled - (scaled < 0 ? 4095 : 0)) / 4096,
                  i = k < LEY_DIGITS_LEAST ? 0 : k - LEY_DIGITS_LEAST;
        digits->binade[e - LEY_DIGITS_LEAST_E].scale = i;
        digits->binade[e - LEY_DIGITS_LEAST_E].next = first_of_next(&digits->scale[i], e);
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

/* Eight bytes whose first in memory is the lowest of `value`. */
static void put_bytes(uint64_t value, char *text)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        value = __builtin_bswap64(value);
    memcpy(text, &value, sizeof value);
}

/* d.dddddde+xx: the digits side by side in one number, four, then two, then one to a lane. */
static char *write_parts(uint32_t seven, const char exponent[4], char *text)
{
    const uint32_t eight = 10 * seven;
    uint64_t lanes = eight / 10000 | (uint64_t)(eight % 10000) << 32;
    uint64_t tens = (lanes * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    lanes = tens | (lanes - 100 * tens) << 16;
    tens = (lanes * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    lanes = (tens | (lanes - 10 * tens) << 8) + UINT64_C(0x3030303030303030);
    text[0] = (char)(lanes & 0xff);
    text[1] = '.';
    put_bytes(lanes >> 8, text + 2);
    memcpy(text + 8, exponent, 4);
    return text + 12;
}

char *ley_digits_write(const ley_digits *digits, float value, char *text)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    char *at = text;
    *at = '-';
    at += bits >> 31;
    uint32_t m = bits & 0x7fffff;
    int e = (int)(bits >> 23 & 0xff) - 150;
    if (e > -150) {
        m |= LEAST_M;
    } else if (m == 0) {
        return write_parts(0, digits->scale[-LEY_DIGITS_LEAST].exponent, at);
    } else { /* denormals */
        const int up = __builtin_clz(m) - 8;
        m <<= up;
        e = -149 - up;
    }
    const int binade = e - LEY_DIGITS_LEAST_E;
    const ley_digits_scale *scale = &digits->scale[digits->binade[binade].scale];
    scale += m >= digits->binade[binade].next;
    const wide product = (wide)((uint64_t)m << 40) * scale->significand;
    const uint64_t high = (uint64_t)(product >> 64);
    const int fraction_bits = -(24 + e + scale->shift);
    const uint64_t half = UINT64_C(1) << (fraction_bits - 1), fraction = high & (2 * half - 1);
    uint32_t whole = (uint32_t)(high >> fraction_bits);
    bool up = fraction > half;
    if (fraction + 1 - half <= 1) {
        if (!scale->is_exact)
            return write_slowly(value, text);
        up = fraction == half && ((uint64_t)product != 0 || whole % 2 != 0);
    }
    whole += up;
    if (whole >= ALL_DIGITS) {
        whole = ALL_DIGITS / 10;
        scale++;
    }
    return write_parts(whole, scale->exponent, at);
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
