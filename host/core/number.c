/* Words and numbers of text files. */
#include "core/number.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool ley_word_is(const char *word, size_t length, const char *keyword)
{
    for (size_t i = 0; i < length; i++) {
        char capital = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
        if (capital != keyword[i] || capital == '\0')
            return false;
    }
    return keyword[length] == '\0';
}

bool ley_ends_with(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcasecmp(name + length - tail, ending) == 0;
}

const char *ley_name_to_type(const char *path)
{
    const char *at = path;
    while (*at != '\0' && *at != '\'' && (unsigned char)*at >= ' ' && *at != 0x7f)
        at++;
    return *at == '\0' ? path : "FILE";
}

const char *ley_quote(const char *word, size_t length, char quote[LEY_TEXT_QUOTE])
{
    const size_t room = LEY_TEXT_QUOTE - sizeof "'...'";
    size_t n = length <= room ? length : room, at = 0;
    quote[at++] = '\'';
    for (size_t i = 0; i < n; i++)
        quote[at++] = word[i] >= ' ' && word[i] <= '~' ? word[i] : '?';
    strcpy(quote + at, n < length ? "...'" : "'");
    return quote;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t ley_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

/* What a word says: (-1)^negative mantissa 10^exponent. */
typedef struct decimal {
    bool negative;
    bool exact; /* all digits are in the mantissa */
    uint64_t mantissa;
    int exponent;
} decimal;

/* False when the exponent is no number. One that is too long for an int stays beyond every type's
 * range. */
static bool scan_exponent(const char *at, const char *end, int *exponent)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    int value = 0;
    for (; at < end; at++) {
        if (!ley_is_digit(*at))
            return false;
        if (value < 100000)
            value = 10 * value + (*at - '0');
    }
    *exponent += negative ? -value : value;
    return true;
}

static bool scan_decimal(const char *word, size_t length, decimal *number)
{
    const char *at = word, *end = word + length;
    decimal d = {.exact = true};
    bool any = false, point = false;
    if (at < end && (*at == '-' || *at == '+'))
        d.negative = *at++ == '-';
    for (; at < end; at++) {
        if (*at == '.' && !point) {
            point = true;
        } else if (ley_is_digit(*at)) {
            any = true;
            if (d.mantissa < UINT64_C(1000000000000000000)) {
                d.mantissa = 10 * d.mantissa + (uint64_t)(*at - '0');
                d.exponent -= point;
            } else {
                d.exact = false;
            }
        } else {
            break;
        }
    }
    if (!any || (at < end && ((*at != 'e' && *at != 'E') || !scan_exponent(at + 1, end, &d.exponent))))
        return false;
    *number = d;
    return true;
}

static ley_number not_decimal(const char *word, size_t length)
{
    if (length > 0 && (*word == '-' || *word == '+')) {
        word++;
        length--;
    }
    bool in_letters = ley_word_is(word, length, "INF") || ley_word_is(word, length, "INFINITY") ||
                      (length >= 3 && ley_word_is(word, 3, "NAN") && (length == 3 || word[3] == '('));
    return in_letters ? LEY_NUMBER_NOT_FINITE : LEY_NUMBER_NONE;
}

/* Clinger: a mantissa and a power of ten that are both exact in double make one rounding, hence the
 * nearest double. */
static bool nearest_double(const decimal *d, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!d->exact || d->mantissa > UINT64_C(1) << 53 || d->exponent < -22 || d->exponent > 22) {
        if (d->mantissa != 0 || !d->exact)
            return false;
        *value = d->negative ? -0.0 : 0.0;
        return true;
    }
    double magnitude = (double)d->mantissa;
    magnitude = d->exponent < 0 ? magnitude / powers[-d->exponent] : magnitude * powers[d->exponent];
    *value = d->negative ? -magnitude : magnitude;
    return true;
}

/* A terminated copy for the C library. */
static void copy_word(const char *word, size_t length, char copy[LEY_TEXT_WORD_MAX + 1])
{
    memcpy(copy, word, length);
    copy[length] = '\0';
}

ley_number ley_parse_double(const char *word, size_t length, double *value)
{
    decimal d;
    double result;
    if (length > LEY_TEXT_WORD_MAX || !scan_decimal(word, length, &d))
        return not_decimal(word, length);
    if (!nearest_double(&d, &result)) {
        char copy[LEY_TEXT_WORD_MAX + 1];
        copy_word(word, length, copy);
        result = strtod_l(copy, NULL, ley_c_locale());
        if (!isfinite(result))
            return LEY_NUMBER_TOO_LARGE;
    }
    *value = result;
    return LEY_NUMBER_FINE;
}

/* Rounding twice, to double and then to float, errs only where the double lies exactly between two
 * floats: halves are doubles, so rounding to double never steps over one. */
static bool rounds_once(double value)
{
    double magnitude = fabs(value);
    if (magnitude < (double)FLT_MIN || magnitude > (double)FLT_MAX)
        return magnitude == 0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x1fffffff) != 0x10000000;
}

ley_number ley_parse_float(const char *word, size_t length, float *value)
{
    decimal d;
    double nearest;
    if (length > LEY_TEXT_WORD_MAX || !scan_decimal(word, length, &d))
        return not_decimal(word, length);
    if (nearest_double(&d, &nearest) && rounds_once(nearest)) {
        *value = (float)nearest;
        return LEY_NUMBER_FINE;
    }
    char copy[LEY_TEXT_WORD_MAX + 1];
    copy_word(word, length, copy);
    float result = strtof_l(copy, NULL, ley_c_locale());
    if (!isfinite(result))
        return LEY_NUMBER_TOO_LARGE;
    *value = result;
    return LEY_NUMBER_FINE;
}

ley_number ley_parse_int64(const char *word, size_t length, int64_t *value)
{
    const char *at = word, *end = word + length;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return LEY_NUMBER_NONE;
    int64_t result = 0;
    bool fits = true;
    for (; at < end; at++) {
        if (!ley_is_digit(*at))
            return LEY_NUMBER_NONE;
        int64_t digit = *at - '0';
        fits = fits && !__builtin_mul_overflow(result, 10, &result) &&
               !__builtin_add_overflow(result, negative ? -digit : digit, &result);
    }
    if (!fits)
        return LEY_NUMBER_TOO_LARGE;
    *value = result;
    return LEY_NUMBER_FINE;
}

const char *ley_number_complaint(ley_number number)
{
    switch (number) {
    case LEY_NUMBER_FINE:
        return "is a number";
    case LEY_NUMBER_NOT_FINITE:
        return "is not finite";
    case LEY_NUMBER_TOO_LARGE:
        return "is too large";
    case LEY_NUMBER_NONE:
        break;
    }
    return "is not a number";
}
