/* Doubles as printf("%.17g") writes them, or with fewer digits, ten times as fast. */
#ifndef LEY_IO_SIGNIFICANT_H
#define LEY_IO_SIGNIFICANT_H

enum { SIGNIFICANT_ROOM = 25 }; /* of a number: -1.2345678901234567e-308 and a NUL */

/* Writes the text of printf("%.*g", digits, value) in the "C" locale, without a NUL; returns its
 * end. There must be SIGNIFICANT_ROOM. Digits: 1 to 17. */
char *significant_write(double value, int digits, char *text);

/* Writes nine digits of a float, which tell it from its neighbours, else 17. */
char *significant_write_value(double value, char *text);

/* Writes 15 digits where they are read back as the same number, else 17, which always are. */
char *significant_write_exact(double value, char *text);

#endif
