/* Texts that are lists, cut at commas. */
#ifndef LEYDEN_PIECES_H
#define LEYDEN_PIECES_H

/* A copy, the caller's, to be cut. */
char *copy_of(const char *text);

/* The word without the blanks around it, which are cut off in place. */
char *trimmed(char *word);

/* Cuts the text behind the next comma; the piece is trimmed. NULL behind the last piece. */
char *next_piece(char **rest);

#endif
