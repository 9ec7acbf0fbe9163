/* The binary form of atoms, and which form a file has. docs/formats.md has the layout, byte by
 * byte. */
#include "io/atoms_file.h"
#include "io/pqr.h"
#include "io/target.h"

#include "core/number.h"
#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WORD = 8,
    MAGIC_BYTES = 8,
    FAMILY_BYTES = 4, /* of the magic number: what a copy that took the file for text leaves alone */
    HEADER_BYTES = MAGIC_BYTES + 2 * WORD,
    VERSION = 1,
    BLOCK_WORDS = 8 * 1024,
    READ_WORDS = 64 * 1024 /* 512 KiB: still in the cache when the checksum takes them */
};

static const unsigned char magic[MAGIC_BYTES] = {0x89, 'L', 'E', 'Y', '\r', '\n', 0x1a, '\n'};

_Static_assert(sizeof(double) == WORD, "a number is a word");

/* ---- Words ----------------------------------------------------------------------------------- */

/* Between this machine's order and the file's, little-endian; its own inverse. */
static uint64_t ordered(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static uint64_t load(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return ordered(word);
}

static void store(uint64_t word, unsigned char *bytes)
{
    word = ordered(word);
    memcpy(bytes, &word, sizeof word);
}

/* ---- Checksum -------------------------------------------------------------------------------- */

static const uint64_t prime_1 = UINT64_C(0x9e3779b185ebca87), prime_2 = UINT64_C(0xc2b2ae3d27d4eb4f),
                      prime_3 = UINT64_C(0x165667b19e3779f9), prime_4 = UINT64_C(0x85ebca77c2b2ae63),
                      prime_5 = UINT64_C(0x27d4eb2f165667c5);

static uint64_t rotated(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static uint64_t mixed(uint64_t lane, uint64_t word)
{
    return rotated(lane + word * prime_2, 31) * prime_1;
}

void ley_checksum_start(ley_checksum *sum)
{
    *sum = (ley_checksum){.lane = {prime_1 + prime_2, prime_2, 0, 0 - prime_1}};
}

void ley_checksum_add(ley_checksum *sum, const void *bytes, size_t words)
{
    const unsigned char *at = bytes, *end = at + WORD * words;
    while (at < end && sum->words % 4 != 0) {
        uint64_t word = load(at), place = sum->words++ % 4;
        sum->left[place] = word;
        at += WORD;
        for (int i = 0; place == 3 && i < 4; i++)
            sum->lane[i] = mixed(sum->lane[i], sum->left[i]);
    }
    uint64_t a = sum->lane[0], b = sum->lane[1], c = sum->lane[2], d = sum->lane[3];
    for (; end - at >= 4 * WORD; at += 4 * WORD, sum->words += 4) {
        a = mixed(a, load(at));
        b = mixed(b, load(at + WORD));
        c = mixed(c, load(at + 2 * WORD));
        d = mixed(d, load(at + 3 * WORD));
    }
    sum->lane[0] = a;
    sum->lane[1] = b;
    sum->lane[2] = c;
    sum->lane[3] = d;
    for (; at < end; at += WORD)
        sum->left[sum->words++ % 4] = load(at);
}

/* As words of the file, so many of them; how many these were. */
static size_t store_numbers(const double *numbers, size_t count, unsigned char block[WORD * BLOCK_WORDS])
{
    const size_t part = count < BLOCK_WORDS ? count : BLOCK_WORDS;
    for (size_t i = 0; i < part; i++) {
        uint64_t word;
        memcpy(&word, numbers + i, sizeof word);
        store(word, block + WORD * i);
    }
    return part;
}

void ley_checksum_add_numbers(ley_checksum *sum, const double *numbers, size_t count)
{
    unsigned char block[WORD * BLOCK_WORDS];
    for (size_t part; count > 0; numbers += part, count -= part) {
        part = store_numbers(numbers, count, block);
        ley_checksum_add(sum, block, part);
    }
}

uint64_t ley_checksum_end(const ley_checksum *sum)
{
    const uint64_t *lane = sum->lane;
    uint64_t hash = prime_5;
    if (sum->words >= 4) {
        hash = rotated(lane[0], 1) + rotated(lane[1], 7) + rotated(lane[2], 12) + rotated(lane[3], 18);
        for (int i = 0; i < 4; i++)
            hash = (hash ^ mixed(0, lane[i])) * prime_1 + prime_4;
    }
    hash += WORD * sum->words;
    for (uint64_t i = 0; i < sum->words % 4; i++)
        hash = rotated(hash ^ mixed(0, sum->left[i]), 27) * prime_1 + prime_4;
    hash = (hash ^ hash >> 33) * prime_2;
    hash = (hash ^ hash >> 29) * prime_3;
    return hash ^ hash >> 32;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static ley_status put_words(ley_atoms_writer *writer, const unsigned char *bytes, size_t words, ley_error *error)
{
    ley_checksum_add(&writer->sum, bytes, words);
    return ley_output_write(&writer->output, bytes, WORD * words, error);
}

ley_status ley_atoms_writer_open(ley_atoms_writer *writer, const char *path, size_t n, const volatile bool *cancel,
                                 ley_error *error)
{
    ley_status status = ley_output_open(&writer->output, path, false, cancel, error);
    if (status != LEY_OK)
        return status;
    unsigned char header[HEADER_BYTES];
    memcpy(header, magic, MAGIC_BYTES);
    store(VERSION, header + MAGIC_BYTES);
    store(n, header + MAGIC_BYTES + WORD);
    ley_checksum_start(&writer->sum);
    status = put_words(writer, header, HEADER_BYTES / WORD, error);
    if (status != LEY_OK)
        ley_output_abandon(&writer->output);
    return status;
}

ley_status ley_atoms_writer_put(ley_atoms_writer *writer, const double *numbers, size_t count, ley_error *error)
{
    ley_status status = LEY_OK;
    unsigned char block[WORD * BLOCK_WORDS];
    for (size_t part; count > 0 && status == LEY_OK; numbers += part, count -= part) {
        part = store_numbers(numbers, count, block);
        status = put_words(writer, block, part, error);
    }
    return status;
}

ley_status ley_atoms_writer_close(ley_atoms_writer *writer, ley_status status, ley_error *error)
{
    if (status == LEY_OK) {
        unsigned char checksum[WORD];
        store(ley_checksum_end(&writer->sum), checksum);
        status = ley_output_write(&writer->output, checksum, sizeof checksum, error);
    }
    if (status == LEY_OK)
        return ley_output_commit(&writer->output, error);
    ley_output_abandon(&writer->output);
    return status;
}

ley_status ley_atoms_write_binary(const ley_atoms *atoms, const char *path, const volatile bool *cancel,
                                  ley_error *error)
{
    const size_t n = ley_atoms_count(atoms);
    ley_atoms_writer writer;
    ley_status status = ley_atoms_writer_open(&writer, path, n, cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_atoms_writer_put(&writer, ley_atoms_positions_A(atoms), 3 * n, error);
    if (status == LEY_OK)
        status = ley_atoms_writer_put(&writer, ley_atoms_charges_e(atoms), n, error);
    if (status == LEY_OK)
        status = ley_atoms_writer_put(&writer, ley_atoms_radii_A(atoms), n, error);
    return ley_atoms_writer_close(&writer, status, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* At a place in the file. Fewer bytes than asked for are LEY_ERROR_INPUT: the file was longer when
 * its size was asked for. */
static ley_status read_bytes(int file, const char *path, void *to, size_t size, uint64_t place, ley_error *error)
{
    unsigned char *at = to;
    while (size > 0) {
        ssize_t n = pread(file, at, size, (off_t)place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(errno));
        if (n == 0)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short while it was read", path);
        at += n;
        size -= (size_t)n;
        place += (uint64_t)n;
    }
    return LEY_OK;
}

/* Nothing is believed, or allocated, before the file's own size has confirmed it. */
static ley_status read_header(ley_atoms_file *f, uint64_t file_bytes, ley_checksum *sum, ley_error *error)
{
    const char *path = f->path;
    const uint64_t around = HEADER_BYTES + WORD, atom = LEY_ATOM_NUMBERS * WORD;
    unsigned char header[HEADER_BYTES] = {0}, checksum[WORD];
    size_t there = file_bytes < HEADER_BYTES ? (size_t)file_bytes : HEADER_BYTES;
    ley_status status = read_bytes(f->file, path, header, there, 0, error);
    if (status != LEY_OK)
        return status;
    if (there < MAGIC_BYTES || memcmp(header, magic, FAMILY_BYTES) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: not a binary file of atoms", path);
    if (memcmp(header, magic, MAGIC_BYTES) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: damaged: its line ends were converted as if it were text", path);
    if (there < HEADER_BYTES)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: %zu bytes", path, there);
    uint64_t version = load(header + MAGIC_BYTES), count = load(header + MAGIC_BYTES + WORD);
    if (version != VERSION)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: version %llu of the format; only version %d can be read", path,
                        (unsigned long long)version, VERSION);
    if (count == 0 || count > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %llu atoms, must be 1 to %d", path, (unsigned long long)count,
                        INT32_MAX);
    const uint64_t expected = around + atom * count;
    if (file_bytes != expected)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %llu bytes, but its %llu atoms take %llu", path,
                        file_bytes < expected ? "cut short" : "too long", (unsigned long long)file_bytes,
                        (unsigned long long)count, (unsigned long long)expected);
    ley_checksum_start(sum);
    ley_checksum_add(sum, header, HEADER_BYTES / WORD);
    f->atoms = (size_t)count;
    status = read_bytes(f->file, path, checksum, sizeof checksum, expected - WORD, error);
    if (status == LEY_OK)
        f->checksum = load(checksum);
    return status;
}

ley_status ley_atoms_file_read(const ley_atoms_file *f, size_t first, size_t count, double *numbers, ley_checksum *sum,
                               ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t part; count > 0 && status == LEY_OK; numbers += part, first += part, count -= part) {
        part = count < READ_WORDS ? count : READ_WORDS;
        status = read_bytes(f->file, f->path, numbers, WORD * part, HEADER_BYTES + WORD * (uint64_t)first, error);
        if (status == LEY_OK && sum != NULL)
            ley_checksum_add(sum, numbers, part);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (size_t i = 0; i < part; i++) {
            uint64_t word = load((const unsigned char *)(numbers + i));
            memcpy(numbers + i, &word, sizeof word);
        }
#endif
    }
    return status;
}

ley_status ley_atoms_file_check(const ley_atoms_file *f, const ley_checksum *sum, ley_error *error)
{
    return f->checksum == ley_checksum_end(sum)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "%s: damaged: its checksum is wrong", f->path);
}

ley_status ley_atoms_file_open(const char *path, ley_atoms_file *f, ley_checksum *sum, ley_error *error)
{
    struct stat known;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &known) != 0 || (S_ISDIR(known.st_mode) && (errno = EISDIR))) {
        int reason = errno;
        if (file >= 0)
            close(file);
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(reason));
    }
    *f = (ley_atoms_file){.path = path, .file = file};
    const ley_status status =
        S_ISREG(known.st_mode)
            ? read_header(f, (uint64_t)known.st_size, sum, error)
            : ley_fail(error, LEY_ERROR_FILE, "%s: a binary file of atoms must be a regular file", path);
    if (status != LEY_OK)
        close(file);
    return status;
}

void ley_atoms_file_close(ley_atoms_file *f)
{
    close(f->file);
}

ley_status ley_atoms_read_binary(const char *path, ley_atoms **atoms, ley_error *error)
{
    ley_checksum sum;
    ley_atoms_file f;
    ley_atoms *a = NULL;
    ley_status status = ley_atoms_file_open(path, &f, &sum, error);
    if (status != LEY_OK)
        return status;
    status = ley_atoms_allocate(f.atoms, &a, error);
    if (status == LEY_OK)
        status = ley_atoms_file_read(&f, 0, LEY_ATOM_NUMBERS * f.atoms, ley_atoms_numbers(a), &sum, error);
    if (status == LEY_OK)
        status = ley_atoms_file_check(&f, &sum, error);
    if (status == LEY_OK) {
        status = ley_atoms_complete(a, error);
        if (status != LEY_OK)
            ley_error_prefix(error, "%s", path);
    }
    if (status == LEY_OK)
        *atoms = a;
    else
        ley_atoms_destroy(a);
    ley_atoms_file_close(&f);
    return status;
}

/* ---- Which form ------------------------------------------------------------------------------ */

/* By the first bytes. What comes through a pipe could not be read again, and is text. */
bool ley_atoms_is_binary(const char *path)
{
    struct stat known;
    unsigned char first[FAMILY_BYTES];
    if (stat(path, &known) != 0 || !S_ISREG(known.st_mode))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool binary = file >= 0 && read_bytes(file, path, first, sizeof first, 0, NULL) == LEY_OK &&
                  memcmp(first, magic, sizeof first) == 0;
    if (file >= 0)
        close(file);
    return binary;
}

ley_status ley_atoms_read_unchecked(const char *path, ley_atoms **atoms, ley_error *error)
{
    ley_pdb_finding finding;
    return ley_atoms_is_binary(path) ? ley_atoms_read_binary(path, atoms, error)
                                     : ley_pqr_read(path, LEY_PDB_TAKEN, &finding, atoms, error);
}

ley_status ley_atoms_read(const char *path, ley_atoms **atoms, ley_error *error)
{
    return ley_atoms_is_binary(path) ? ley_atoms_read_binary(path, atoms, error)
                                     : ley_atoms_read_pqr(path, atoms, error);
}

ley_atoms_form ley_atoms_form_of(const char *path)
{
    if (ley_ends_with(path, ".atoms"))
        return LEY_ATOMS_FORM_BINARY;
    return ley_ends_with(path, ".pqr") || ley_ends_with(path, ".pqr.gz") || ley_target_is_descriptor(path)
               ? LEY_ATOMS_FORM_PQR
               : LEY_ATOMS_FORM_NONE;
}

ley_status ley_fail_atoms_form(const char *path, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_USAGE, "%s: must end in .pqr, .pqr.gz or .atoms", path);
}

ley_status ley_atoms_write(const ley_atoms *atoms, const char *path, const volatile bool *cancel, ley_error *error)
{
    switch (ley_atoms_form_of(path)) {
    case LEY_ATOMS_FORM_PQR:
        return ley_atoms_write_pqr(atoms, path, cancel, error);
    case LEY_ATOMS_FORM_BINARY:
        return ley_atoms_write_binary(atoms, path, cancel, error);
    case LEY_ATOMS_FORM_NONE:
        break;
    }
    return ley_fail_atoms_form(path, error);
}
