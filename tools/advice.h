/* What to type next where a file is missing, or is a folder. */
#ifndef LEYDEN_ADVICE_H
#define LEYDEN_ADVICE_H

#include <stddef.h>

typedef struct advice_text {
    char s[1024];
} advice_text;

/* Takes the words of the command line, so that the advice can hold them again, and gives advice
 * behind messages from then on. */
void advice_begin(int argc, char **argv);

typedef struct advice_swap {
    const char *word, *instead;
} advice_swap;

/* "; type: leyden map ...": the command once more, with other words in place of n of its words.
 * Nothing where it has none of them. */
advice_text advice_instead(const advice_swap *swaps, size_t n);

/* The end of a sentence behind a message "PATH: No such file or directory" or "PATH: Is a
 * directory"; nothing behind others. */
void advice_behind(const char *message, char *text, size_t size);

#endif
