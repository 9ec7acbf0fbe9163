/* The names of standard input and output as files. */
#ifndef LEYDEN_STANDARD_STREAM_H
#define LEYDEN_STANDARD_STREAM_H

#include <stdbool.h>

/* What an --output names: "-" is standard output, "/dev/stdout" for the library. And whether a name
 * is one of those of standard output, which is no place for text as well, then; or of standard
 * input, which can be read once. */
const char *output_path(const char *output);
bool output_takes_stdout(const char *path);
bool input_takes_stdin(const char *path);

#endif
