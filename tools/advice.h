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

/* "; type: leyden map ...": the command once more, with another word in place of one of its
 * words. */
advice_text advice_instead(const char *word, const char *instead);

/* The end of a sentence behind a message "PATH: No such file or directory" or "PATH: Is a
 * directory"; nothing behind others. */
void advice_behind(const char *message, char *text, size_t size);

#endif
