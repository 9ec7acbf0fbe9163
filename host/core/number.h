/* Words of a text, and the numbers that they are, without regard to the locale. */
#ifndef LEY_CORE_NUMBER_H
#define LEY_CORE_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEY_TEXT_WORD_MAX = 255, /* bytes of a word, and of anything that is to be a number */
    LEY_TEXT_QUOTE = 48      /* what a quotation in a message needs */
};

/* ---- Words ----------------------------------------------------------------------------------- */

/* Blank, tab, CR, LF, vertical tab, form feed; never the locale's. */
static inline bool ley_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool ley_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the word is `keyword` (capitals), in any case. */
bool ley_word_is(const char *word, size_t length, const char *keyword);

/* Whether a file's name has this ending, in any case, and something in front of it. */
bool ley_ends_with(const char *path, const char *ending);

/* The word in quotation marks, unprintable bytes as '?', cut with "..." when long. Returns
 * `quote`. */
const char *ley_quote(const char *word, size_t length, char quote[LEY_TEXT_QUOTE]);

/* A file's name for a command that a message proposes, between single quotation marks: FILE in
 * place of one that would end these, or that would not be seen as it is. */
const char *ley_name_to_type(const char *path);

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef enum ley_number {
    LEY_NUMBER_FINE,
    LEY_NUMBER_NOT_FINITE, /* a nan or inf in letters */
    LEY_NUMBER_TOO_LARGE,
    LEY_NUMBER_NONE
} ley_number;

/* The whole word must be a decimal number, [+-] digits [. digits] [e [+-] digits] with at least one
 * digit in front of the e; hexadecimal is none. Rounded to nearest; what is too small for the type
 * becomes 0. *value is set for LEY_NUMBER_FINE only. */
ley_number ley_parse_double(const char *word, size_t length, double *value);
ley_number ley_parse_float(const char *word, size_t length, float *value);

/* [+-] digits. */
ley_number ley_parse_int64(const char *word, size_t length, int64_t *value);

/* "is not a number", ... */
const char *ley_number_complaint(ley_number number);

/* The "C" locale, for the C library's own parsing and printing. */
locale_t ley_c_locale(void);

#endif
