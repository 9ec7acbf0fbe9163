/* What to type next where a file is missing, or is a folder. */
#ifndef LEYDEN_ADVICE_H
#define LEYDEN_ADVICE_H

#include <stddef.h>

/* Takes the words of the command line, and gives advice behind messages from then on. */
void advice_begin(int argc, char **argv);

/* The end of a sentence behind a message "PATH: No such file or directory" or "PATH: Is a
 * directory"; nothing behind others. */
void advice_behind(const char *message, char *text, size_t size);

#endif
