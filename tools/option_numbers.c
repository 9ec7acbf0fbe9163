#include "option_numbers.h"
#include "console.h"
#include "foreign_options.h"
#include "typed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_numbers(const option_row *option)
{
    return option->kind == OPTION_TRIPLES ? 3 : option->count > 1 ? option->count : 1;
}

static short_text allowed_text(const option_row *option)
{
    bool low = isfinite(option->low), high = isfinite(option->high);
    const char *above = option->above_low ? "above" : "at least";
    if (low && high && !option->above_low)
        return text_of("from %.16g to %.16g", option->low, option->high);
    if (low && high)
        return text_of("%s %.16g and at most %.16g", above, option->low, option->high);
    if (low)
        return text_of("%s %.16g", above, option->low);
    return high ? text_of("at most %.16g", option->high) : text_of("a finite number");
}

/* A decimal number and nothing else. strtod alone would take blanks, hexadecimals, "inf" and "nan";
 * the point is the decimal sign because the command never leaves the "C" locale. */
static bool read_number(const char *word, bool integer, double *real, int64_t *whole)
{
    if (word[0] == '\0' || word[strspn(word, integer ? "+-0123456789" : "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    errno = 0;
    if (integer) {
        *whole = strtoll(word, &end, 10);
        *real = (double)*whole;
        return *end == '\0' && end != word;
    }
    *real = strtod(word, &end);
    return *end == '\0' && end != word;
}

bool read_real(const char *word, double *value)
{
    int64_t whole;
    return read_number(word, false, value, &whole);
}

/* ---- What is meant --------------------------------------------------------------------------- */

typedef struct piece_list {
    int count;
    char text[OPTION_REALS_MAX][32];
} piece_list;

/* The number that a word begins with, less its unit; of one in percent the part of 1. */
static bool take_piece(piece_list *pieces, const char *word)
{
    char *end;
    const double number = strtod(word, &end);
    if (end == word || pieces->count == OPTION_REALS_MAX || !isfinite(number))
        return false;
    if (*end == '%')
        snprintf(pieces->text[pieces->count++], sizeof *pieces->text, "%.6g", number / 100);
    else
        snprintf(pieces->text[pieces->count++], sizeof *pieces->text, "%.*s", (int)(end - word), word);
    return end[strspn(end, "AaKkMmSsXxNnPp\303\205%")] == '\0';
}

/* Numbers separated by anything, with units or behind the option as words of their own; one where
 * three, of the axes, are wanted; the width alone of 1600x1200; a decimal comma. Whether there are
 * as many as are wanted. */
static bool find_pieces(const option_row *option, const char *value, int wanted, piece_list *pieces)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", value);
    for (char *word; (word = strsep(&rest, ",;xX: ")) != NULL;)
        if (word[0] != '\0' && !take_piece(pieces, word))
            return false;
    if (wanted == 1 && pieces->count == 2 && strspn(value, "0123456789,") == strlen(value)) {
        snprintf(copy, sizeof copy, "%s.%s", pieces->text[0], pieces->text[1]);
        snprintf(pieces->text[0], sizeof *pieces->text, "%.31s", copy);
        pieces->count = 1;
    }
    double number;
    for (const char *next = value; pieces->count < wanted && (next = typed_behind(next)) != NULL;)
        if (!read_real(next, &number) || !take_piece(pieces, next))
            break;
    if (wanted == 1 && pieces->count == 2 && option->kind == OPTION_INTEGER && strpbrk(value, "xX") != NULL)
        pieces->count = 1;
    if (pieces->count == 1 && wanted == 3 && option->kind != OPTION_TRIPLES && !option->one_for_all)
        for (; pieces->count < wanted; pieces->count++)
            memcpy(pieces->text[pieces->count], pieces->text[0], sizeof *pieces->text);
    return pieces->count == wanted || (option->one_for_all && pieces->count == 1);
}

/* "; type: --dims 65,65,65"; a usual value where it cannot be told. */
static short_text meant(const option_row *option, const char *value, int wanted)
{
    piece_list pieces = {.count = 0};
    char text[96] = "";
    if (!find_pieces(option, value, wanted, &pieces))
        return text_of("%s", foreign_value(option->name, value).s);
    for (int i = 0; i < pieces.count && strlen(text) + 40 < sizeof text; i++)
        if (option->kind == OPTION_INTEGER)
            snprintf(text + strlen(text), 40, "%s%.0f", i > 0 ? "," : "", floor(strtod(pieces.text[i], NULL)));
        else
            sprintf(text + strlen(text), "%s%s", i > 0 ? "," : "", pieces.text[i]);
    return text_of("; type: --%s %s", option->name, text);
}

static void fail_numbers(const option_row *option, const char *value, int wanted, option_fault *why)
{
    const char *what = option->kind == OPTION_INTEGER ? "whole number" : "number";
    if (option->kind == OPTION_REALS)
        snprintf(why->s, sizeof why->s, "--%s takes numbers separated by commas (%s), %d at most, not '%s'%.200s",
                 option->name, option->value, wanted, value, foreign_value(option->name, value).s);
    else if (wanted > 1)
        snprintf(why->s, sizeof why->s, "--%s takes %s%d %ss separated by commas (%s)%s%s, not '%s'%s", option->name,
                 option->one_for_all ? "one or " : "", wanted, what, option->value, option->word != NULL ? " or " : "",
                 option->word != NULL ? option->word : "", value, meant(option, value, wanted).s);
    else
        snprintf(why->s, sizeof why->s, "--%s takes a %s (%s), not '%s'%s", option->name, what, option->value, value,
                 meant(option, value, wanted).s);
}

/* ---------------------------------------------------------------------------------------------- */

bool option_parse_numbers(const option_row *option, const char *value, void *to, option_fault *why)
{
    const bool is_list = option->kind == OPTION_REALS;
    int wanted = is_list ? OPTION_REALS_MAX : option_numbers(option), found = 0;
    bool integer = option->kind == OPTION_INTEGER;
    const char *rest = value;
    for (;; rest++) {
        char word[64];
        size_t length = strcspn(rest, ",");
        double real = 0;
        int64_t whole = 0;
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), rest);
        const bool one_too_many = found + 1 >= wanted && rest[length] == ','; /* or a comma for a decimal point */
        if (found == wanted || one_too_many || length >= sizeof word || !read_number(word, integer, &real, &whole))
            break;
        /* strtod and strtoll report overflow by their extreme values, which are out of every
         * range. */
        if (!(real >= option->low && real <= option->high) || (option->above_low && !(real > option->low)) ||
            !isfinite(real)) {
            snprintf(why->s, sizeof why->s, "--%s: %s is out of range: it must be %s", option->name, word,
                     allowed_text(option).s);
            return false;
        }
        if (integer && option->bytes == sizeof(int32_t))
            ((int32_t *)to)[found++] = (int32_t)whole;
        else if (integer)
            ((int64_t *)to)[found++] = whole;
        else
            (is_list ? ((option_reals *)to)->value : (double *)to)[found++] = real;
        rest += length;
        if (*rest == '\0')
            break;
    }
    if (is_list)
        ((option_reals *)to)->n = (size_t)found;
    if (option->one_for_all && found == 1 && *rest == '\0')
        for (; found < wanted; found++)
            ((double *)to)[found] = ((double *)to)[0];
    const bool is_whole = found == wanted || (is_list && found > 0 && rest[-1] != ',');
    if (is_whole && *rest == '\0')
        return true;
    fail_numbers(option, value, wanted, why);
    return false;
}
