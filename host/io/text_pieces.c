#include "io/text_pieces.h"

#include "parallel.h"

#include <stdlib.h>

typedef struct piece {
    int64_t lines;
    bool is_fine;
} piece;

typedef struct pieces_run {
    const text_pieces *of;
    piece *piece; /* of each worker */
    int64_t lines;
    text_piece_put last;
} pieces_run;

static void read_piece(parallel_order *order, void *context, size_t i, size_t worker)
{
    (void)order;
    const pieces_run *run = context;
    const text_pieces *of = run->of;
    piece *p = &run->piece[worker];
    const int64_t first = (int64_t)i * of->piece_bytes;
    const int64_t end = of->size - first > of->piece_bytes ? first + of->piece_bytes : of->size;
    ley_text *text = NULL;
    p->is_fine = ley_text_open_piece(of->path, first, &text, NULL) == LEY_OK;
    if (!p->is_fine)
        return;
    p->is_fine = of->read(of->context, i, text, end, worker);
    p->lines = ley_text_line_number(text);
    ley_text_close(text);
}

static bool put_piece(void *context, size_t i, size_t worker)
{
    (void)i;
    pieces_run *run = context;
    const piece *p = &run->piece[worker];
    run->last = p->is_fine ? run->of->put(run->of->context, run->lines, worker) : TEXT_PIECE_REFUSED;
    run->lines += p->lines;
    return run->last == TEXT_PIECE_TAKEN;
}

bool text_pieces_read(const text_pieces *pieces)
{
    pieces_run run = {.of = pieces, .last = TEXT_PIECE_REFUSED};
    if (pieces->size < 2 * pieces->piece_bytes)
        return false;
    const size_t count = (size_t)((pieces->size - 1) / pieces->piece_bytes + 1);
    run.piece = calloc(pieces->workers, sizeof *run.piece);
    if (run.piece != NULL)
        parallel_in_order(count, pieces->workers < count ? pieces->workers : count, read_piece, put_piece, &run);
    free(run.piece);
    /* A file that was cut short meanwhile cannot be told by its pieces. */
    return run.last != TEXT_PIECE_REFUSED && ley_text_plain_size(pieces->path) >= pieces->size;
}
