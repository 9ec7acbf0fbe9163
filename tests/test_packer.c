/* gzip by several threads: one member, which unpacks to what went in, and the same bytes on any
 * number of threads. */
#include "io/packer.h"
#include "support.h"

#include <unistd.h>
#include <zlib.h>

enum { KIB = 1024 };

typedef struct packed_file {
    unsigned char *bytes;
    size_t size, calls, fails_at; /* the call that fails; 0: none */
} packed_file;

static ley_status keep(void *to, const void *bytes, size_t size, ley_error *error)
{
    packed_file *file = to;
    if (++file->calls == file->fails_at)
        return LEY_ERROR_FILE;
    file->bytes = realloc(file->bytes, file->size + size + 1);
    assert_non_null(file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    return LEY_OK;
}

/* Words of a few digits; from some place on bytes that nothing can pack. */
static unsigned char *make_text(size_t size, size_t readable)
{
    unsigned char *text = malloc(size + 1);
    uint64_t seed = 1;
    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        text[i] = (unsigned char)(i >= readable ? seed >> 56 : i % 13 == 12 ? ' ' : '0' + (seed >> 60) % 10);
    }
    return text;
}

/* In pieces of odd sizes. */
static ley_status pack(const unsigned char *text, size_t size, int threads, size_t piece, packed_file *file)
{
    ley_packer *packer = NULL;
    assert_int_equal(ley_packer_create(threads, keep, file, &packer, NULL), LEY_OK);
    ley_status status = LEY_OK;
    for (size_t at = 0, n; at < size && status == LEY_OK; at += n) {
        n = size - at < piece ? size - at : piece;
        status = ley_packer_add(packer, text + at, n, NULL);
    }
    if (status == LEY_OK)
        status = ley_packer_end(packer, NULL);
    ley_packer_destroy(packer);
    return status;
}

/* One member and nothing behind it. */
static void check_unpacked(const packed_file *file, const unsigned char *text, size_t size)
{
    unsigned char *back = malloc(size + 1);
    z_stream stream = {
        .next_in = file->bytes, .avail_in = (unsigned)file->size, .next_out = back, .avail_out = (unsigned)size + 1};
    assert_non_null(back);
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, size);
    assert_memory_equal(back, text, size);
    inflateEnd(&stream);
    free(back);
}

static void test_any_number_of_threads(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 128 * KIB - 1, 128 * KIB, 128 * KIB + 1, 512 * KIB, 1700 * KIB + 77};
    static const int threads[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *text = make_text(sizes[i], sizes[i] / 3 * 2);
        packed_file first = {NULL, 0, 0, 0};
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            packed_file file = {NULL, 0, 0, 0};
            assert_int_equal(pack(text, sizes[i], threads[t], 9973 * (t + 1), &file), LEY_OK);
            check_unpacked(&file, text, sizes[i]);
            if (t == 0) {
                first = file;
                continue;
            }
            assert_int_equal(file.size, first.size);
            assert_memory_equal(file.bytes, first.bytes, first.size);
            free(file.bytes);
        }
        free(first.bytes);
        free(text);
    }
}

/* Blocks look back into those in front of them: the same text again and again packs well, across
 * all edges. */
static void test_blocks_look_back(void **state)
{
    enum { PERIOD = 30 * KIB, SIZE = 1200 * KIB };
    unsigned char *text = make_text(SIZE, 0);
    for (size_t i = PERIOD; i < SIZE; i++)
        text[i] = text[i - PERIOD];
    packed_file file = {NULL, 0, 0, 0};
    assert_int_equal(pack(text, SIZE, 2, SIZE, &file), LEY_OK);
    check_unpacked(&file, text, SIZE);
    assert_true(file.size < 2 * PERIOD);
    free(file.bytes);
    free(text);
}

/* Blocks that a caller's threads have packed, between text that is added. */
static void test_packed_elsewhere(void **state)
{
    static const size_t sizes[] = {0, 10, 300 * KIB, 1};
    const size_t size = 900 * KIB, most = 300 * KIB;
    unsigned char *text = make_text(size, size / 2);
    ley_packer *packer = NULL;
    ley_packed packed;
    packed_file file = {NULL, 0, 0, 0};
    assert_int_equal(ley_packer_create(2, keep, &file, &packer, NULL), LEY_OK);
    assert_int_equal(ley_packed_begin(&packed, most, NULL), LEY_OK);
    size_t at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ley_packed_make(&packed, text + at, sizes[i]);
        assert_int_equal(ley_packer_add_packed(packer, &packed, NULL), LEY_OK);
        at += sizes[i];
        assert_int_equal(ley_packer_add(packer, text + at, 140 * KIB, NULL), LEY_OK);
        at += 140 * KIB;
    }
    assert_int_equal(ley_packer_end(packer, NULL), LEY_OK);
    check_unpacked(&file, text, at);
    ley_packed_end(&packed);
    ley_packer_destroy(packer);
    free(file.bytes);
    free(text);
}

static void test_sink_that_fails(void **state)
{
    const size_t size = 1700 * KIB;
    unsigned char *text = make_text(size, size);
    for (size_t call = 1; call <= 1 + 14 + 1; call++) { /* header, blocks, end */
        packed_file file = {NULL, 0, 0, call};
        const ley_status status = pack(text, size, 3, size, &file);
        assert_int_equal(status, LEY_ERROR_FILE);
        assert_true(file.calls == call);
        free(file.bytes);
    }
    free(text);
}

int main(void)
{
    return RUN_TESTS(test_any_number_of_threads, test_blocks_look_back, test_sink_that_fails, test_packed_elsewhere);
}
