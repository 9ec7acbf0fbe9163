/* Plain text files in pieces, which all cores read side by side. */
#ifndef LEY_IO_TEXT_PIECES_H
#define LEY_IO_TEXT_PIECES_H

#include "io/text.h"

typedef enum text_piece_put {
    TEXT_PIECE_TAKEN,
    TEXT_PIECE_IS_LAST, /* nothing that follows it matters */
    TEXT_PIECE_REFUSED
} text_piece_put;

/* A file is cut at line ends. A worker reads one piece at a time. */
typedef struct text_pieces {
    const char *path;
    int64_t size, piece_bytes; /* of the file, as ley_text_plain_size() says it, and of a piece */
    size_t workers;
    void *context;
    /* Reads the lines that begin in front of `end`, by ley_text_position(). False: refused. */
    bool (*read)(void *context, size_t piece, ley_text *text, int64_t end, size_t worker);
    /* Takes what a worker has read, piece by piece in their order. `lines`: in front of it. */
    text_piece_put (*put)(void *context, int64_t lines, size_t worker);
} text_pieces;

/* True: all pieces were taken. False: the file is too small to be cut, or a piece was refused, as
 * it is not as it should be or depends on what another one holds: it is left to one core, which
 * reads the file from its start and says what is wrong. */
bool text_pieces_read(const text_pieces *pieces);

#endif
