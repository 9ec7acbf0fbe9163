/* The command line as it was typed, and what to type instead. */
#ifndef LEYDEN_TYPED_H
#define LEYDEN_TYPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct typed_text {
    char s[1024];
} typed_text;

typedef struct typed_swap {
    const char *word, *instead;
} typed_swap;

/* Takes the words of the command line, so that the following can hold them again. */
void typed_begin(int argc, char **argv);

/* "; type: leyden map ...": the command once more, with other words in place of n of its words.
 * Nothing where it has none of them. */
typed_text typed_instead(const typed_swap *swaps, size_t n);

/* The same with an option before one of its words, or at its end, where that is NULL. */
typed_text typed_with(const char *option, const char *word);

/* The same with one of its words behind "--", at its end. */
typed_text typed_passed_on(const char *word);

/* The word of the command line behind this one, which is itself one of them; NULL: none is. */
const char *typed_behind(const char *word);

/* Whether it has this word; and parts of texts: a word, and "ype: leyden map ..." as above. */
bool typed_has(const char *word);
void typed_put(typed_text *text, const char *word);
void typed_put_command(typed_text *text, const typed_swap *swaps, size_t n);

#endif
