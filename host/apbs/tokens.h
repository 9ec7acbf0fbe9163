/* Words of an APBS input file, as APBS sees them. */
#ifndef LEY_APBS_TOKENS_H
#define LEY_APBS_TOKENS_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>

/* APBS reads through a buffer of this many bytes, refilled only when a word begins behind its
 * middle. A word that then does not end inside it is, to APBS, the end of the file. */
enum { LEY_APBS_BUFFER_BYTES = 8192 };

typedef struct ley_apbs_token {
    size_t start, length; /* in the text */
    int line;             /* from 1 */
} ley_apbs_token;

typedef struct ley_apbs_tokens {
    size_t n, capacity;
    ley_apbs_token *token;
    size_t lost;     /* first word that APBS's buffer does not hold; n when there is none */
    size_t lost_gap; /* bytes of white space and comments in front of it */
    int last_line;
} ley_apbs_tokens;

/* Cuts `text`, which must end with a NUL behind its `size` bytes. White space is blank, tab, CR, LF
 * and "=,;"; a '#' or '%', also inside a word, begins a comment up to the end of the line. Errors:
 * LEY_ERROR_INPUT, "path:line: what", for a NUL byte; LEY_ERROR_MEMORY. */
ley_status ley_apbs_tokenise(const char *path, const char *text, size_t size, ley_apbs_tokens *tokens,
                             ley_error *error);
void ley_apbs_tokens_free(ley_apbs_tokens *tokens);

bool ley_apbs_is_white(char c);
bool ley_apbs_is_comment(char c);

#endif
