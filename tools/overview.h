/* What is to be said of the command as a whole. */
#ifndef LEYDEN_OVERVIEW_H
#define LEYDEN_OVERVIEW_H

/* A sentence about what it is for. */
extern const char overview_purpose[];

/* "0 done, 1 wrong usage, ...", of the library's own table, as a sentence's end. */
typedef struct exit_codes {
    char s[640];
} exit_codes;
exit_codes overview_exit_codes(void);

#endif
