#include "io/json_text.h"

#include "core/number.h"
#include "error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 }; /* values within values that may be passed over */

ley_status ley_json_fail(const ley_json *json, ley_error *error, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ley_fail(error, LEY_ERROR_INPUT, "%s:%lld: %s", json->path, (long long)json->line, message);
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* Bytes of the character at the beginning, at most `left`; 0: it is none, or too long a form of
 * one, or half of a pair. */
static size_t utf8_length(const char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*text;
    const size_t length = first < 0x80             ? 1
                          : (first & 0xe0) == 0xc0 ? 2
                          : (first & 0xf0) == 0xe0 ? 3
                          : (first & 0xf8) == 0xf0 ? 4
                                                   : 0;
    if (length < 2 || length > left)
        return length == 1 ? 1 : 0;
    uint32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

static size_t utf8_write(uint32_t code, char to[4])
{
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (length == 1) {
        to[0] = (char)code;
        return 1;
    }
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00u >> length & 0xff) | code);
    return length;
}

/* ---- What comes next ------------------------------------------------------------------------- */

static void pass_blanks(ley_json *json)
{
    for (; json->at < json->end && strchr(" \t\r\n", *json->at) != NULL && *json->at != '\0'; json->at++)
        json->line += *json->at == '\n';
}

/* The word, or the single character, that stands where something else should. */
static ley_status fail_here(const ley_json *json, const char *what, const char *should, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    size_t length = 0;
    while (json->at + length < json->end && strchr(" \t\r\n,:[]{}", json->at[length]) == NULL)
        length++;
    if (json->at == json->end)
        return ley_json_fail(json, error, "%s: the file ends where %s should be", what, should);
    return ley_json_fail(json, error, "%s: %s where %s should be", what,
                         ley_quote(json->at, length > 0 ? length : 1, quote), should);
}

static bool take(ley_json *json, char wanted)
{
    pass_blanks(json);
    if (json->at == json->end || *json->at != wanted)
        return false;
    json->at++;
    return true;
}

ley_status ley_json_enter(ley_json *json, char bracket, const char *what, ley_error *error)
{
    return take(json, bracket) ? LEY_OK : fail_here(json, what, bracket == '{' ? "an object" : "an array", error);
}

ley_status ley_json_item(ley_json *json, bool *is_first, bool *is_there, ley_error *error)
{
    *is_there = !take(json, ']');
    if (*is_there && !*is_first && !take(json, ','))
        return fail_here(json, "an array", "',' or ']'", error);
    *is_first = false;
    return LEY_OK;
}

/* ---- Strings --------------------------------------------------------------------------------- */

static bool read_hex(ley_json *json, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, json->at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = json->at < json->end && *json->at != '\0' ? strchr(digits, *json->at) : NULL;
        if (digit == NULL)
            digit = json->at < json->end && *json->at != '\0' ? strchr(digits + 16, *json->at) : NULL;
        if (digit == NULL)
            return false;
        *code = *code << 4 | (uint32_t)((digit - digits) % 16);
    }
    return true;
}

/* What follows a backslash: bytes of UTF-8; 0: it is no escape. */
static size_t read_escape(ley_json *json, char to[4])
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    uint32_t code, low;
    if (json->at == json->end)
        return 0;
    const char name = *json->at++;
    if (name != 'u') {
        const char *at = name != '\0' ? strchr(names, name) : NULL;
        to[0] = at != NULL ? meant[at - names] : '\0';
        return at != NULL;
    }
    if (!read_hex(json, &code) || (code >= 0xdc00 && code <= 0xdfff))
        return 0;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
            return 0;
        json->at += 2;
        if (!read_hex(json, &low) || low < 0xdc00 || low > 0xdfff)
            return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return utf8_write(code, to);
}

/* A character of a string, as it is or as an escape says it; 0: an error. */
static size_t read_character(ley_json *json, const char *what, char to[4], ley_error *error)
{
    if (json->at == json->end) {
        ley_json_fail(json, error, "%s: the file ends within a string", what);
        return 0;
    }
    if ((unsigned char)*json->at < ' ') {
        ley_json_fail(json, error, "%s: a control character within a string", what);
        return 0;
    }
    if (*json->at == '\\') {
        json->at++;
        const size_t length = read_escape(json, to);
        if (length == 0)
            ley_json_fail(json, error, "%s: an unknown escape within a string", what);
        return length;
    }
    const size_t length = utf8_length(json->at, (size_t)(json->end - json->at));
    if (length == 0)
        ley_json_fail(json, error, "%s: a string that is no UTF-8", what);
    memcpy(to, json->at, length);
    json->at += length;
    return length;
}

/* Keeps what fits, with a NUL behind it; *is_cut: not all did. */
static ley_status read_string(ley_json *json, const char *what, char *text, size_t size, bool *is_cut, ley_error *error)
{
    size_t used = 0;
    *is_cut = false;
    if (!take(json, '"'))
        return fail_here(json, what, "a string", error);
    while (json->at == json->end || *json->at != '"') {
        char bytes[4];
        const size_t length = read_character(json, what, bytes, error);
        if (length == 0)
            return LEY_ERROR_INPUT;
        *is_cut = *is_cut || used + length >= size;
        if (!*is_cut) {
            memcpy(text + used, bytes, length);
            used += length;
        }
    }
    json->at++;
    if (size > 0)
        text[used] = '\0';
    return LEY_OK;
}

ley_status ley_json_text(ley_json *json, const char *what, char *text, size_t size, ley_error *error)
{
    bool is_cut;
    const ley_status status = read_string(json, what, text, size, &is_cut, error);
    if (status == LEY_OK && is_cut)
        return ley_json_fail(json, error, "%s: longer than %zu bytes", what, size - 1);
    return status;
}

ley_status ley_json_member(ley_json *json, bool *is_first, char key[LEY_JSON_KEY], bool *is_there, ley_error *error)
{
    bool is_cut;
    *is_there = !take(json, '}');
    if (!*is_there)
        return LEY_OK;
    if (!*is_first && !take(json, ','))
        return fail_here(json, "an object", "',' or '}'", error);
    *is_first = false;
    ley_status status = read_string(json, "a member's name", key, LEY_JSON_KEY, &is_cut, error);
    if (status == LEY_OK && !take(json, ':'))
        status = fail_here(json, key, "':'", error);
    return status;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && ley_is_digit(*at))
        at++;
    return at;
}

/* Behind the number at the beginning, as JSON has them: without a '+' or a zero in front, with
 * digits on both sides of a point. NULL: it is none. */
static const char *number_end(const char *at, const char *end, bool *is_whole)
{
    const char *digits = at + (at < end && *at == '-'), *behind = pass_digits(digits, end);
    if (behind == digits || (*digits == '0' && behind > digits + 1))
        return NULL;
    *is_whole = true;
    if (behind < end && *behind == '.') {
        digits = behind + 1;
        behind = pass_digits(digits, end);
        *is_whole = false;
        if (behind == digits)
            return NULL;
    }
    if (behind < end && (*behind == 'e' || *behind == 'E')) {
        digits = behind + 1 + (behind + 1 < end && (behind[1] == '-' || behind[1] == '+'));
        behind = pass_digits(digits, end);
        *is_whole = false;
        if (behind == digits)
            return NULL;
    }
    return behind;
}

static ley_status read_number(ley_json *json, const char *what, const char **word, size_t *length, bool *is_whole,
                              ley_error *error)
{
    pass_blanks(json);
    const char *behind = number_end(json->at, json->end, is_whole);
    *word = json->at;
    *length = behind != NULL ? (size_t)(behind - json->at) : 0;
    if (behind == NULL)
        return fail_here(json, what, "a number", error);
    json->at = behind;
    return LEY_OK;
}

static ley_status fail_number(const ley_json *json, const char *what, const char *word, size_t length,
                              const char *complaint, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    return ley_json_fail(json, error, "%s: %s %s", what, ley_quote(word, length, quote), complaint);
}

ley_status ley_json_double(ley_json *json, const char *what, double *value, ley_error *error)
{
    const char *word;
    size_t length;
    bool is_whole;
    const ley_status status = read_number(json, what, &word, &length, &is_whole, error);
    if (status != LEY_OK)
        return status;
    const ley_number kind = length <= LEY_TEXT_WORD_MAX ? ley_parse_double(word, length, value) : LEY_NUMBER_NONE;
    return kind == LEY_NUMBER_FINE ? LEY_OK : fail_number(json, what, word, length, ley_number_complaint(kind), error);
}

ley_status ley_json_int64(ley_json *json, const char *what, int64_t *value, ley_error *error)
{
    const char *word;
    size_t length;
    bool is_whole;
    const ley_status status = read_number(json, what, &word, &length, &is_whole, error);
    if (status != LEY_OK)
        return status;
    if (!is_whole)
        return fail_number(json, what, word, length, "is not a whole number", error);
    const ley_number kind = length <= LEY_TEXT_WORD_MAX ? ley_parse_int64(word, length, value) : LEY_NUMBER_TOO_LARGE;
    return kind == LEY_NUMBER_FINE ? LEY_OK : fail_number(json, what, word, length, ley_number_complaint(kind), error);
}

/* ---- Any value ------------------------------------------------------------------------------- */

static bool take_word(ley_json *json, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return false;
    json->at += length;
    return true;
}

static ley_status skip_below(ley_json *json, int depth, ley_error *error);

static ley_status skip_object(ley_json *json, int depth, ley_error *error)
{
    char key[LEY_JSON_KEY];
    bool is_first = true, is_there;
    ley_status status;
    do {
        status = ley_json_member(json, &is_first, key, &is_there, error);
        if (status == LEY_OK && is_there)
            status = skip_below(json, depth, error);
    } while (status == LEY_OK && is_there);
    return status;
}

static ley_status skip_array(ley_json *json, int depth, ley_error *error)
{
    bool is_first = true, is_there;
    ley_status status;
    do {
        status = ley_json_item(json, &is_first, &is_there, error);
        if (status == LEY_OK && is_there)
            status = skip_below(json, depth, error);
    } while (status == LEY_OK && is_there);
    return status;
}

static ley_status skip_below(ley_json *json, int depth, ley_error *error)
{
    const char *word;
    size_t length;
    bool is_whole, is_cut;
    if (depth == DEEPEST)
        return ley_json_fail(json, error, "values within values, more than %d deep", DEEPEST);
    if (take(json, '{'))
        return skip_object(json, depth + 1, error);
    if (take(json, '['))
        return skip_array(json, depth + 1, error);
    if (json->at < json->end && *json->at == '"')
        return read_string(json, "a value", NULL, 0, &is_cut, error);
    if (take_word(json, "true") || take_word(json, "false") || take_word(json, "null"))
        return LEY_OK;
    return number_end(json->at, json->end, &is_whole) == NULL
               ? fail_here(json, "a value", "one", error)
               : read_number(json, "a value", &word, &length, &is_whole, error);
}

ley_status ley_json_skip(ley_json *json, ley_error *error)
{
    return skip_below(json, 0, error);
}

ley_status ley_json_end(ley_json *json, ley_error *error)
{
    pass_blanks(json);
    return json->at == json->end ? LEY_OK : fail_here(json, "behind the last value", "nothing", error);
}

/* ---- Writing --------------------------------------------------------------------------------- */

const char *ley_json_number(double value, char text[LEY_JSON_NUMBER])
{
    locale_t old = uselocale(ley_c_locale());
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, LEY_JSON_NUMBER, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uselocale(old);
    return text;
}

char *ley_json_string(const char *text, size_t length)
{
    char *string = malloc(2 * length + 3), *to = string;
    if (string == NULL)
        return NULL;
    *to++ = '"';
    for (size_t i = 0, bytes; i < length; i += bytes) {
        const size_t character = utf8_length(text + i, length - i);
        bytes = character > 0 ? character : 1;
        if (text[i] == '"' || text[i] == '\\')
            *to++ = '\\';
        memcpy(to, text + i, bytes);
        if (bytes == 1)
            *to = character == 0 ? '?' : (unsigned char)*to < ' ' || *to == 127 ? ' ' : *to;
        to += bytes;
    }
    *to++ = '"';
    *to = '\0';
    return string;
}
