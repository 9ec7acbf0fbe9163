/* What to type next where a file is missing, or is a folder. */
#ifndef LEYDEN_ADVICE_H
#define LEYDEN_ADVICE_H

typedef struct advice_text {
    char s[1024];
} advice_text;

/* The words of the command line, so that the advice can hold them again. */
void advice_begin(int argc, char **argv);

/* "; type: leyden map ...": the command once more, with another word in place of one of its
 * words. */
advice_text advice_instead(const char *word, const char *instead);

/* The end of a sentence behind a message "PATH: No such file or directory" or "PATH: Is a
 * directory"; nothing behind others. */
advice_text advice_behind(const char *message);

#endif
