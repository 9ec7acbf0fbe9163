/* PQR: atoms with charges and radii. docs/formats.md has the rules that are applied here. */
#include "io/pqr.h"
#include "error.h"
#include "io/digits.h"
#include "io/map_format.h"
#include "io/molecule_kind.h"
#include "io/pdb_signs.h"
#include "io/pqr_record.h"
#include "io/text.h"
#include "io/text_pieces.h"
#include "memory.h"
#include "parallel.h"
#include "source/elements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { NUMBERS = PQR_NUMBERS, PIECE_BYTES = 1 << 20 };

typedef struct atom_list {
    size_t n, capacity;
    double *position_A, *charge_e, *radius_A;
    int64_t *line;    /* where each was read, for complaints about it */
    int32_t *residue; /* residue_pack() of each, unless: */
    bool lacks_residues;
    int32_t *element; /* of each, by its name; 0: unknown */
    ley_pdb_signs signs;
    bool may_follow;  /* atoms in front of this piece of a file */
    bool is_complete; /* a model has ended, where there were atoms in front of that */
} atom_list;

static bool grow(void *array, size_t items, size_t item_bytes)
{
    void **at = array, *larger = realloc(*at, items * item_bytes);
    if (larger != NULL)
        *at = larger;
    return larger != NULL;
}

static bool reserve(atom_list *list, size_t atoms)
{
    if (!grow(&list->position_A, atoms, 3 * sizeof(double)) || !grow(&list->charge_e, atoms, sizeof(double)) ||
        !grow(&list->radius_A, atoms, sizeof(double)) || !grow(&list->line, atoms, sizeof(int64_t)) ||
        !grow(&list->residue, atoms, sizeof(int32_t)) || !grow(&list->element, atoms, sizeof(int32_t)))
        return false;
    list->capacity = atoms;
    return true;
}

enum { ATOM_BYTES = NUMBERS * sizeof(double) + sizeof(int64_t) + 2 * sizeof(int32_t) };

static ley_status append(atom_list *list, const double numbers[NUMBERS], const pqr_words *words, const ley_text *text,
                         ley_error *error)
{
    if (list->n == list->capacity) {
        const size_t more = ley_text_room(list->capacity);
        ley_status status = ley_text_check_growth(text, "reading the atoms", (double)(list->capacity * ATOM_BYTES),
                                                  (double)(more * ATOM_BYTES), "fewer atoms", error);
        if (status != LEY_OK)
            return status;
        if (!reserve(list, more))
            return ley_fail_memory(error, more * ATOM_BYTES, "atoms");
    }
    memcpy(list->position_A + 3 * list->n, numbers, 3 * sizeof(double));
    list->charge_e[list->n] = numbers[3];
    list->radius_A[list->n] = numbers[4];
    list->residue[list->n] = words->residue;
    list->element[list->n] = element_of_name(words->name.at, words->name.length, words->is_residue);
    list->lacks_residues = list->lacks_residues || !words->has_residue;
    list->line[list->n++] = ley_text_line_number(text);
    return LEY_OK;
}

static void free_list(atom_list *list)
{
    free(list->position_A);
    free(list->charge_e);
    free(list->radius_A);
    free(list->line);
    free(list->residue);
    free(list->element);
    *list = (atom_list){.n = 0};
}

/* ---- Records --------------------------------------------------------------------------------- */

static ley_status fail_negative(const ley_text *text, const char *line, const pqr_field *charge,
                                const pqr_field *radius, ley_error *error)
{
    const int words[] = {pqr_record_word(line, charge->at), pqr_record_word(line, radius->at)};
    if (!(charge->value > 0) || words[0] == words[1])
        return pqr_record_fail(text, 4, radius, "is negative", error);
    char program[128], complaint[sizeof(pqr_remedy) + 96];
    snprintf(program, sizeof program, "/^(ATOM|HETATM)/ {t = $%d; $%d = $%d; $%d = t} 1", words[0], words[0], words[1],
             words[1]);
    snprintf(complaint, sizeof complaint, "is negative. If radii stand in front of charges: %s exchanges them",
             pqr_record_remedy(text, program).s);
    return pqr_record_fail(text, 4, radius, complaint, error);
}

/* `start`: behind the record's name. */
static ley_status read_atom(const ley_text *text, const char *line, size_t length, const char *start, atom_list *list,
                            ley_error *error)
{
    pqr_words words;
    pqr_field numbers[NUMBERS];
    ley_status status = pqr_record_read(text, line, length, start, &words, numbers, error);
    if (status != LEY_OK)
        return status;
    double values[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        values[i] = numbers[i].value;
    const ley_pdb_word word = {words.name.at, words.name.length, 0};
    const ley_pdb_word charge = {numbers[3].at, numbers[3].length, values[3]};
    const ley_pdb_word radius = {numbers[4].at, numbers[4].length, values[4]};
    ley_pdb_see_atom(&list->signs, line, length, ley_text_line_number(text), &word, &charge, &radius);
    if (values[4] < 0)
        return fail_negative(text, line, &numbers[3], &numbers[4], error);
    return append(list, values, &words, text, error);
}

/* Where the record's name ends when it is ATOM or HETATM, a serial number grown to it or not; else
 * NULL. */
static const char *behind_atom(const char *word, size_t length)
{
    static const char *const names[] = {"ATOM", "HETATM"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);
        if (length >= n && ley_word_is(word, n, names[i]) &&
            (length == n || ley_is_digit(word[n]) || word[n] == '-' || word[n] == '*'))
            return word + n;
    }
    return NULL;
}

/* All records of the first model, of a piece those of the lines that begin in front of `end`. */
static ley_status read_records(ley_text *text, int64_t end_of_piece, atom_list *list, ley_error *error)
{
    while (ley_text_position(text) < end_of_piece) {
        const char *line;
        size_t length;
        ley_status status = ley_text_line(text, &line, &length, error);
        if (status != LEY_OK || line == NULL)
            return status;
        const char *word = line, *end = line + length;
        while (word < end && ley_is_space(*word))
            word++;
        const char *stop = word;
        while (stop < end && !ley_is_space(*stop))
            stop++;
        size_t word_length = (size_t)(stop - word);
        if ((list->n > 0 || list->may_follow) &&
            (ley_word_is(word, word_length, "MODEL") || ley_word_is(word, word_length, "ENDMDL"))) {
            list->is_complete = true;
            return LEY_OK;
        }
        const char *start = behind_atom(word, word_length);
        if (start != NULL)
            status = read_atom(text, line, length, start, list, error);
        else
            ley_pdb_see_record(&list->signs, line, length, ley_text_line_number(text));
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

typedef struct piece_reader {
    atom_list *piece; /* of each worker */
    atom_list *list;
} piece_reader;

static bool read_piece(void *context, size_t i, ley_text *text, int64_t end, size_t worker)
{
    const piece_reader *r = context;
    atom_list *piece = &r->piece[worker];
    piece->n = 0;
    piece->signs = (ley_pdb_signs){.atoms = 0};
    piece->is_complete = false;
    piece->may_follow = i > 0;
    return read_records(text, end, piece, NULL) == LEY_OK;
}

static bool add_piece(atom_list *list, const atom_list *part, int64_t lines)
{
    const size_t n = list->n + part->n;
    if (n > list->capacity) {
        const size_t more = ley_text_room(n);
        if (memory_check_growth("reading the atoms", (double)(list->capacity * ATOM_BYTES), (double)(more * ATOM_BYTES),
                                "fewer atoms", NULL) != LEY_OK ||
            !reserve(list, more))
            return false;
    }
    if (part->n > 0) {
        memcpy(list->position_A + 3 * list->n, part->position_A, part->n * 3 * sizeof(double));
        memcpy(list->charge_e + list->n, part->charge_e, part->n * sizeof(double));
        memcpy(list->radius_A + list->n, part->radius_A, part->n * sizeof(double));
        memcpy(list->residue + list->n, part->residue, part->n * sizeof(int32_t));
        memcpy(list->element + list->n, part->element, part->n * sizeof(int32_t));
    }
    for (size_t i = 0; i < part->n; i++)
        list->line[list->n + i] = part->line[i] + lines;
    list->n = n;
    list->lacks_residues = list->lacks_residues || part->lacks_residues;
    ley_pdb_add_signs(&list->signs, &part->signs, lines);
    return true;
}

/* A model that ends in a piece without atoms may be one that has not begun. */
static text_piece_put put_piece(void *context, int64_t lines, size_t worker)
{
    const piece_reader *r = context;
    const atom_list *piece = &r->piece[worker];
    if (!add_piece(r->list, piece, lines) || (r->list->n == 0 && piece->is_complete))
        return TEXT_PIECE_REFUSED;
    return piece->is_complete ? TEXT_PIECE_IS_LAST : TEXT_PIECE_TAKEN;
}

/* True: the list has all records. `size`: of the file; a piece that finds it shorter cannot say. */
static bool read_pieces(const char *path, int64_t size, int threads, int64_t piece_bytes, atom_list *list)
{
    const size_t workers = (size_t)threads;
    piece_reader r = {.piece = calloc(workers, sizeof *r.piece), .list = list};
    const text_pieces pieces = {.path = path,
                                .size = size,
                                .piece_bytes = piece_bytes,
                                .workers = workers,
                                .context = &r,
                                .read = read_piece,
                                .put = put_piece};
    const bool is_read = r.piece != NULL && text_pieces_read(&pieces);
    for (size_t i = 0; r.piece != NULL && i < workers; i++)
        free_list(&r.piece[i]);
    free(r.piece);
    if (!is_read)
        free_list(list);
    return is_read;
}

/* `size`: that the file had before; or -1. */
static ley_status read_file(const char *path, int64_t size, atom_list *list, ley_error *error)
{
    ley_text *text;
    ley_status status = ley_text_open(path, &text, error);
    if (status != LEY_OK)
        return status;
    ley_text_expect(text, size);
    status = read_records(text, INT64_MAX, list, error);
    ley_text_close(text);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* An atom that is refused is named by its line: each one is asked for again on its own. */
static void prefix_line(const char *path, const atom_list *list, ley_error *error)
{
    for (size_t i = 0; i < list->n; i++) {
        ley_atoms *alone = NULL;
        ley_status status =
            ley_atoms_create(1, list->position_A + 3 * i, list->charge_e + i, list->radius_A + i, &alone, NULL);
        ley_atoms_destroy(alone);
        if (status == LEY_ERROR_INPUT) {
            ley_error_prefix(error, "%s:%lld", path, (long long)list->line[i]);
            return;
        }
    }
    ley_error_prefix(error, "%s", path);
}

/* A PDB file that cannot be read as a PQR file is named for what it is, not for the number that
 * stopped it. */
static ley_status refuse(const char *path, const ley_pdb_finding *f, ley_error *error)
{
    ley_error_clear(error);
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s:%lld: this is %s: %s. Its %s would be taken for charges, its %s for radii. %s%s%s", path,
                    (long long)f->line, f->kind, f->reason, f->as_charges, f->as_radii, f->before,
                    ley_name_to_type(path), f->behind);
}

static bool is_empty_file(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 && S_ISREG(known.st_mode) && known.st_size == 0;
}

static ley_status make_atoms(const char *path, atom_list *list, ley_atoms **atoms, ley_error *error)
{
    if (list->n == 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: no ATOM or HETATM record%s: pdb2pqr --ff AMBER NAME.pdb NEW.pqr makes a PQR file of a PDB "
                        "file",
                        path, is_empty_file(path) ? ", the file is empty" : "");
    ley_status status = ley_atoms_create(list->n, list->position_A, list->charge_e, list->radius_A, atoms, error);
    if (status == LEY_ERROR_INPUT)
        prefix_line(path, list, error);
    if (status == LEY_OK && !list->lacks_residues) { /* in no more memory than they take */
        grow(&list->residue, list->n, sizeof(int32_t));
        ley_atoms_take_residues(*atoms, list->residue);
        list->residue = NULL;
    }
    if (status == LEY_OK) {
        grow(&list->element, list->n, sizeof(int32_t));
        ley_atoms_take_elements(*atoms, list->element);
        list->element = NULL;
    }
    return status;
}

ley_status ley_pqr_read_pieces(const char *path, ley_pdb_policy policy, int threads, int64_t piece_bytes,
                               ley_pdb_finding *finding, ley_atoms **atoms, ley_error *error)
{
    atom_list list = {0};
    const int64_t size = threads > 1 ? ley_text_plain_size(path) : -1;
    const bool is_read = read_pieces(path, size, threads, piece_bytes, &list);
    ley_status status = is_read ? LEY_OK : read_file(path, size, &list, error);
    ley_pdb_judge(&list.signs, path, finding);
    if (finding->is_pdb && policy == LEY_PDB_REFUSED && (status == LEY_OK || status == LEY_ERROR_INPUT))
        status = refuse(path, finding, error);
    else if (status == LEY_OK)
        status = make_atoms(path, &list, atoms, error);
    if (status == LEY_ERROR_INPUT && !finding->is_pdb && !molecule_kind_explain(path, MOLECULE_WANTED, error))
        map_format_explain(path, error);
    free_list(&list);
    return status;
}

ley_status ley_pqr_read(const char *path, ley_pdb_policy policy, ley_pdb_finding *finding, ley_atoms **atoms,
                        ley_error *error)
{
    return ley_pqr_read_pieces(path, policy, parallel_cores(), PIECE_BYTES, finding, atoms, error);
}

ley_status ley_atoms_read_pqr(const char *path, ley_atoms **atoms, ley_error *error)
{
    ley_pdb_finding finding;
    return ley_pqr_read(path, LEY_PDB_REFUSED, &finding, atoms, error);
}

/* ---- Writing --------------------------------------------------------------------------------- */

enum {
    BUFFER_BYTES = 256 * 1024,
    FIELD_BYTES = 32, /* of any number, and the blanks in front of it */
    RECORD_BYTES = (NUMBERS + 2) * FIELD_BYTES + 32
};

/* A number that ends in the middle of the text, between blanks: copies of one length are the
 * fastest, and what is copied from behind the number is overwritten by what follows it. */
typedef struct number_text {
    char text[2 * FIELD_BYTES];
    size_t start;
} number_text;

static void write_integer(uint64_t value, number_text *number)
{
    memset(number->text, ' ', sizeof number->text);
    number->start = (size_t)(ley_digits_write_fixed(value, 0, number->text + FIELD_BYTES) - number->text);
}

/* Four decimals where they say the same number, or nine; else 17 digits, which always do. */
static void write_number(double value, number_text *number)
{
    static const struct {
        double unit, most;
        int decimals;
    } grades[] = {{1e4, 1e11, 4}, {1e9, 1e6, 9}};
    const double magnitude = fabs(value);
    char *const end = number->text + FIELD_BYTES;
    memset(number->text, ' ', sizeof number->text);
    for (size_t i = 0; i < sizeof grades / sizeof *grades; i++) {
        uint64_t whole = magnitude <= grades[i].most ? (uint64_t)(magnitude * grades[i].unit + 0.5) : 0;
        if ((double)whole / grades[i].unit == magnitude) {
            char *start = ley_digits_write_fixed(whole, grades[i].decimals, end);
            if (signbit(value))
                *--start = '-';
            number->start = (size_t)(start - number->text);
            return;
        }
    }
    char digits[FIELD_BYTES];
    locale_t old = uselocale(ley_c_locale());
    const int length = snprintf(digits, sizeof digits, "%.17g", value);
    uselocale(old);
    memcpy(end - length, digits, (size_t)length);
    number->start = (size_t)(FIELD_BYTES - length);
}

/* A blank at least, and more where the number has fewer than `width` characters. There must be room
 * for FIELD_BYTES. */
static char *put(const number_text *number, size_t width, char *at)
{
    const size_t start = FIELD_BYTES - width < number->start ? FIELD_BYTES - width : number->start;
    memcpy(at, number->text + start - 1, FIELD_BYTES);
    return at + FIELD_BYTES - start + 1;
}

static char *put_integer(int64_t value, size_t width, char *at)
{
    number_text number;
    write_integer((uint64_t)value, &number);
    return put(&number, width, at);
}

static char *put_number(double value, size_t width, char *at)
{
    number_text number;
    write_number(value, &number);
    return put(&number, width, at);
}

ley_status ley_pqr_open(ley_pqr_writer *writer, const char *path, const volatile bool *cancel, ley_error *error)
{
    const size_t length = strlen(path);
    const bool gzip = length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
    writer->used = 0;
    writer->text = malloc(BUFFER_BYTES);
    if (writer->text == NULL)
        return ley_fail_memory(error, BUFFER_BYTES, "writing a file");
    ley_status status = ley_output_open(&writer->output, path, gzip, cancel, error);
    if (status != LEY_OK)
        free(writer->text);
    return status;
}

static ley_status flush(ley_pqr_writer *writer, ley_error *error)
{
    const size_t n = writer->used;
    writer->used = 0;
    return ley_output_write(&writer->output, writer->text, n, error);
}

ley_status ley_pqr_put(ley_pqr_writer *writer, const ley_pqr_atom *atom, ley_error *error)
{
    if (writer->used + RECORD_BYTES > BUFFER_BYTES) {
        ley_status status = flush(writer, error);
        if (status != LEY_OK)
            return status;
    }
    char *at = writer->text + writer->used;
    memcpy(at, "ATOM ", 5);
    at = put_integer(atom->serial, 5, at + 5);
    *at++ = ' ';
    memcpy(at, atom->name, 4);
    at[4] = ' ';
    memcpy(at + 5, atom->residue, 3);
    at = put_integer(atom->residue_number, 5, at + 8);
    for (int axis = 0; axis < 3; axis++)
        at = put_number(atom->position_A[axis], 9, at);
    at = put_number(atom->charge_e, 7, at);
    at = put_number(atom->radius_A, 6, at);
    *at++ = '\n';
    writer->used = (size_t)(at - writer->text);
    return LEY_OK;
}

ley_status ley_pqr_close(ley_pqr_writer *writer, ley_status status, ley_error *error)
{
    if (status == LEY_OK)
        status = flush(writer, error);
    if (status == LEY_OK)
        status = ley_output_commit(&writer->output, error);
    else
        ley_output_abandon(&writer->output);
    free(writer->text);
    return status;
}

ley_status ley_atoms_write_pqr(const ley_atoms *atoms, const char *path, const volatile bool *cancel, ley_error *error)
{
    ley_pqr_writer writer;
    ley_status status = ley_pqr_open(&writer, path, cancel, error);
    if (status != LEY_OK)
        return status;
    const size_t n = ley_atoms_count(atoms);
    for (size_t i = 0; i < n && status == LEY_OK; i++) {
        const ley_pqr_atom atom = {.serial = (int64_t)i + 1,
                                   .residue_number = 1,
                                   .name = " X  ",
                                   .residue = "UNK",
                                   .position_A = ley_atoms_positions_A(atoms) + 3 * i,
                                   .charge_e = ley_atoms_charges_e(atoms)[i],
                                   .radius_A = ley_atoms_radii_A(atoms)[i]};
        status = ley_pqr_put(&writer, &atom, error);
    }
    return ley_pqr_close(&writer, status, error);
}
