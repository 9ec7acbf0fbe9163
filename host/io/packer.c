/* Blocks of the text are packed side by side, each by what stands in front of it as if it were one
 * stream, and ended at a byte's edge: laid end to end they are one. So that all cores have
 * something to do, text is gathered until there are several blocks for each of them. */
#define ZLIB_CONST /* deflate() only reads its input */
#include "io/packer.h"

#include "error.h"
#include "parallel.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LEVEL = 1,
    BLOCK = 128 * 1024,
    WINDOW = 32 * 1024, /* deflate looks back so far */
    BLOCKS_PER_THREAD = 4
};

/* ---- A block --------------------------------------------------------------------------------- */

ley_status ley_packed_begin(ley_packed *packed, size_t most, ley_error *error)
{
    *packed = (ley_packed){.room = most + most / 16 + 64}; /* of what cannot be packed, and how it is ended */
    packed->stream = calloc(1, sizeof *packed->stream);
    packed->bytes = malloc(packed->room);
    if (packed->stream == NULL || packed->bytes == NULL ||
        deflateInit2(packed->stream, LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        ley_packed_end(packed);
        return ley_fail_memory(error, packed->room, "packing a file");
    }
    return LEY_OK;
}

void ley_packed_end(ley_packed *packed)
{
    if (packed->stream != NULL)
        deflateEnd(packed->stream);
    free(packed->stream);
    free(packed->bytes);
    *packed = (ley_packed){.stream = NULL};
}

/* `known`: bytes in front of the text that it is packed by. */
static void make_block(ley_packed *packed, const unsigned char *text, size_t size, size_t known, bool ends)
{
    z_stream *stream = packed->stream;
    packed->is_whole = deflateReset(stream) == Z_OK &&
                       (known == 0 || deflateSetDictionary(stream, text - known, (unsigned)known) == Z_OK);
    stream->next_in = text;
    stream->avail_in = (unsigned)size;
    stream->next_out = packed->bytes;
    stream->avail_out = (unsigned)packed->room;
    const int code = deflate(stream, ends ? Z_FINISH : Z_SYNC_FLUSH);
    packed->is_whole = packed->is_whole && code == (ends ? Z_STREAM_END : Z_OK) && stream->avail_out > 0;
    packed->size = packed->room - stream->avail_out;
    packed->text_size = size;
    packed->checksum = (uint32_t)crc32(0, text, (unsigned)size);
}

void ley_packed_make(ley_packed *packed, const void *text, size_t size)
{
    make_block(packed, text, size, 0, false);
}

/* ---- The file -------------------------------------------------------------------------------- */

struct ley_packer {
    ley_packer_sink sink;
    void *to;
    size_t threads, room, used; /* bytes of text: there is room for, there are */
    size_t before;              /* of what lies in front of it, at most a window */
    bool is_begun, is_last;
    uint32_t checksum, size; /* of all the text, as the file's end has them */
    ley_packed *blocks;      /* of each thread; begun with its first block */
    unsigned char *text;     /* [WINDOW + room]: the end of what was before, then the text */
    ley_status status;
    ley_error *error;
};

ley_status ley_packer_create(int threads, ley_packer_sink sink, void *to, ley_packer **packer, ley_error *error)
{
    const size_t room = (size_t)threads * BLOCKS_PER_THREAD * BLOCK;
    ley_packer *made = calloc(1, sizeof *made);
    if (made != NULL) {
        *made = (ley_packer){.sink = sink, .to = to, .threads = (size_t)threads, .room = room};
        made->text = malloc(WINDOW + room);
        made->blocks = calloc(made->threads, sizeof *made->blocks);
    }
    if (made == NULL || made->text == NULL || made->blocks == NULL) {
        ley_packer_destroy(made);
        return ley_fail_memory(error, room, "packing a file");
    }
    *packer = made;
    return LEY_OK;
}

void ley_packer_destroy(ley_packer *packer)
{
    if (packer == NULL)
        return;
    for (size_t i = 0; packer->blocks != NULL && i < packer->threads; i++)
        ley_packed_end(&packer->blocks[i]);
    free(packer->blocks);
    free(packer->text);
    free(packer);
}

static void pack_block(parallel_order *order, void *context, size_t i, size_t worker)
{
    (void)order;
    const ley_packer *packer = context;
    const size_t first = i * BLOCK, size = packer->used - first < BLOCK ? packer->used - first : BLOCK;
    const size_t known = packer->before + first < WINDOW ? packer->before + first : WINDOW;
    ley_packed *block = &packer->blocks[worker];
    block->is_whole = false;
    if (block->stream != NULL || ley_packed_begin(block, BLOCK, NULL) == LEY_OK)
        make_block(block, packer->text + WINDOW + first, size, known, packer->is_last && first + size == packer->used);
}

static ley_status put(ley_packer *packer, const ley_packed *block, ley_error *error)
{
    if (!block->is_whole)
        return ley_fail_memory(error, block->room, "packing a file");
    packer->checksum = (uint32_t)crc32_combine(packer->checksum, block->checksum, (z_off_t)block->text_size);
    packer->size += (uint32_t)block->text_size;
    return packer->sink(packer->to, block->bytes, block->size, error);
}

static bool put_block(void *context, size_t i, size_t worker)
{
    (void)i;
    ley_packer *packer = context;
    packer->status = put(packer, &packer->blocks[worker], packer->error);
    return packer->status == LEY_OK;
}

static ley_status begin(ley_packer *packer, ley_error *error)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4 /* fast */, 3 /* Unix */};
    const bool was_begun = packer->is_begun;
    packer->is_begun = true;
    return was_begun ? LEY_OK : packer->sink(packer->to, header, sizeof header, error);
}

static ley_status pack(ley_packer *packer, bool is_last, ley_error *error)
{
    packer->status = begin(packer, error);
    if (packer->status != LEY_OK)
        return packer->status;
    const size_t blocks = packer->used == 0 ? 1 : (packer->used - 1) / BLOCK + 1;
    packer->is_last = is_last;
    packer->error = error;
    parallel_in_order(blocks, packer->threads < blocks ? packer->threads : blocks, pack_block, put_block, packer);
    packer->before = packer->used < WINDOW ? packer->used : WINDOW;
    memmove(packer->text + WINDOW - packer->before, packer->text + WINDOW + packer->used - packer->before,
            packer->before);
    packer->used = 0;
    return packer->status;
}

ley_status ley_packer_add_packed(ley_packer *packer, const ley_packed *packed, ley_error *error)
{
    ley_status status = packer->used > 0 ? pack(packer, false, error) : begin(packer, error);
    packer->before = 0;
    return status == LEY_OK ? put(packer, packed, error) : status;
}

ley_status ley_packer_add(ley_packer *packer, const void *text, size_t size, ley_error *error)
{
    const unsigned char *at = text;
    while (size > 0) {
        /* Not before there is more: the last block holds the text's end, however much is
         * gathered. */
        ley_status status = packer->used == packer->room ? pack(packer, false, error) : LEY_OK;
        if (status != LEY_OK)
            return status;
        const size_t room = packer->room - packer->used, part = size < room ? size : room;
        memcpy(packer->text + WINDOW + packer->used, at, part);
        packer->used += part;
        at += part;
        size -= part;
    }
    return LEY_OK;
}

ley_status ley_packer_end(ley_packer *packer, ley_error *error)
{
    ley_status status = pack(packer, true, error);
    unsigned char end[8];
    for (int i = 0; i < 4; i++) {
        end[i] = (unsigned char)(packer->checksum >> 8 * i);
        end[4 + i] = (unsigned char)(packer->size >> 8 * i);
    }
    return status == LEY_OK ? packer->sink(packer->to, end, sizeof end, error) : status;
}
