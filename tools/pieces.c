#include "pieces.h"
#include "console.h"

#include <string.h>

char *copy_of(const char *text)
{
    return strcpy(allocate(strlen(text) + 1, 1), text);
}

char *trimmed(char *word)
{
    word += strspn(word, " \t\r\n");
    for (size_t length = strlen(word); length > 0 && strchr(" \t\r\n", word[length - 1]) != NULL; length--)
        word[length - 1] = '\0';
    return word;
}

char *next_piece(char **rest)
{
    char *piece = *rest;
    if (piece == NULL)
        return NULL;
    *rest = strchr(piece, ',');
    if (*rest != NULL)
        *(*rest)++ = '\0';
    return trimmed(piece);
}
