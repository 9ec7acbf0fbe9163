/* PQR records in the style of each program that writes them, with numbers that touch and that are
 * too long for their columns: read right or refused, never read wrong. */
#include "io/pqr_record.h"
#include "support.h"

enum { NUMBERS = 5, LINE_BYTES = 640 };

typedef struct atom {
    int serial, residue_number;
    const char *name, *residue;
    char chain, insertion;
    double number[NUMBERS];
} atom;

static uint64_t seed = 20;

static unsigned below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* From -largest to largest, most often small, with eight decimals. */
static double some(double largest)
{
    static const double sizes[] = {1, 10, 100, 1000, 10000, 1e5, 1e6, 1e7};
    double size = sizes[below(sizeof sizes / sizeof *sizes)];
    size = size < largest ? size : largest;
    return size * ((double)below(2000000001) / 1e9 - 1);
}

static atom some_atom(void)
{
    static const char *const names[] = {"N", "CA", "HD21", "1HB", "C 1", "O5'", "FE"};
    static const char *const residues[] = {"ALA", "DC5", "004", "NALA", "K", "LIG"};
    static const char chains[] = "   AB1";
    atom a = {.serial = (int)below(4) == 0 ? (int)below(3000000) : (int)below(9999),
              .residue_number = below(4) == 0 ? (int)below(200000) - 1000 : (int)below(999),
              .name = names[below(7)],
              .residue = residues[below(6)],
              .chain = chains[below(6)],
              .insertion = below(8) == 0 ? 'A' : ' '};
    const double largest = below(3) == 0 ? 1e7 : 2000;
    for (int axis = 0; axis < 3; axis++)
        a.number[axis] = some(largest);
    a.number[3] = some(below(5) == 0 ? 1000 : 2);
    a.number[4] = fabs(some(below(5) == 0 ? 1000 : 5));
    return a;
}

/* ---- Writers --------------------------------------------------------------------------------- */

/* A line of the writer; each prints a number's own text into texts, which is what it can mean. */
typedef void writer(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64]);

static void print_numbers(const atom *a, int coordinate_decimals, int decimals, char texts[NUMBERS][64])
{
    for (int i = 0; i < NUMBERS; i++)
        snprintf(texts[i], 64, "%.*f", i < 3 ? coordinate_decimals : decimals, a->number[i]);
}

/* As text.ljust(width)[:width] of Python: what is too long is cut off. */
static void cut(char text[64], int width)
{
    if ((int)strlen(text) > width)
        text[width] = '\0';
}

static void name_in_columns(const char *name, char text[8])
{
    snprintf(text, 8, strlen(name) == 4 ? "%-4s" : " %-3s", name);
}

static void pdb2pqr(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    char name[8], residue[8], serial[64], number[64];
    name_in_columns(a->name, name);
    name_in_columns(a->residue, residue);
    snprintf(serial, sizeof serial, "%5d", a->serial);
    snprintf(number, sizeof number, "%4d", a->residue_number);
    cut(serial, 5);
    cut(number, 4);
    print_numbers(a, 3, 4, texts);
    for (int i = 0; i < NUMBERS; i++)
        cut(texts[i], i < 4 ? 8 : 7);
    snprintf(line, LINE_BYTES, "ATOM  %s %s%s %c%s%c   %8s%8s%8s%8s%7s\n", serial, name, residue, a->chain, number,
             a->insertion, texts[0], texts[1], texts[2], texts[3], texts[4]);
}

static void pdb2pqr_whitespace(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    char fixed[LINE_BYTES];
    pdb2pqr(a, fixed, texts);
    snprintf(line, LINE_BYTES, "%.6s %.10s %.22s %.8s %.300s", fixed, fixed + 6, fixed + 16, fixed + 38, fixed + 46);
}

static void apbs(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 3, texts);
    snprintf(line, LINE_BYTES, "ATOM  %5d  %-4s %s %5d    %s %s %s %s %s\n", a->serial,
             strchr(a->name, ' ') != NULL ? "C1" : a->name, a->residue, a->residue_number, texts[0], texts[1], texts[2],
             texts[3], texts[4]);
}

static void in_columns(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64], int charge, int radius,
                       const char *behind)
{
    char name[8];
    name_in_columns(a->name, name);
    snprintf(line, LINE_BYTES, "ATOM  %5d %s %-4.4s%c%4d%c   %8s%8s%8s%*s%*s%s\n", a->serial, name, a->residue,
             a->chain, a->residue_number, a->insertion, texts[0], texts[1], texts[2], charge, texts[3], radius,
             texts[4], behind);
}

static void ambpqr(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 4, texts);
    in_columns(a, line, texts, 8, 8, "      N   ");
}

static void narrow(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 4, texts);
    in_columns(a, line, texts, 7, 6, "");
}

static void schrodinger(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 4, texts);
    in_columns(a, line, texts, 8, 7, "       N  ");
}

static void g_mmpbsa(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 3, texts);
    snprintf(line, LINE_BYTES, "ATOM  %5d  %-4.4s %-4.4s%6d    %8s%8s%8s%8s%8s\n", a->serial, a->name, a->residue,
             a->residue_number, texts[0], texts[1], texts[2], texts[3], texts[4]);
}

static void editconf(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 2, texts);
    snprintf(line, LINE_BYTES, "ATOM  %5d %-4.4s%4.4s%c%4d %8s %8s %8s %6s %6s\n", a->serial % 100000, a->name,
             a->residue, a->chain, abs(a->residue_number) % 10000, texts[0], texts[1], texts[2], texts[3], texts[4]);
}

static void mdanalysis(const atom *a, char line[LINE_BYTES], char texts[NUMBERS][64])
{
    print_numbers(a, 3, 4, texts);
    snprintf(line, LINE_BYTES, "ATOM %6d %-4s %-3s %c %4d   %8s %8s %8s %7s %6s\n", a->serial, a->name, a->residue,
             a->chain, a->residue_number, texts[0], texts[1], texts[2], texts[3], texts[4]);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct writer_row {
    const char *name;
    writer *write;
    int least_right; /* of 100 */
} writer_row;

static ley_text *place; /* for complaints */

/* What fits into the columns of every writer: no excuse to refuse it. */
static bool is_usual(const atom *a)
{
    bool fits = a->serial < 100000 && a->residue_number > 0 && a->residue_number < 1000 && strchr(a->name, ' ') == NULL;
    for (int i = 0; i < 3; i++)
        fits = fits && a->number[i] > -999 && a->number[i] < 9999;
    return fits && a->number[3] > -9 && a->number[3] < 9 && a->number[4] < 9;
}

/* Whether it was read; a wrong number ends the test. */
static bool judge(const writer_row *row, const atom *a)
{
    char line[LINE_BYTES], texts[NUMBERS][64];
    pqr_words words;
    pqr_field numbers[NUMBERS];
    ley_error error = {0};
    row->write(a, line, texts);
    line[strcspn(line, "\n")] = '\0';
    const ley_status status = pqr_record_read(place, line, strlen(line), line + 4, &words, numbers, &error);
    if (status != LEY_OK) {
        if (is_usual(a))
            fail_msg("%s: \"%s\" is refused: %s", row->name, line, error.message);
        assert_int_equal(status, LEY_ERROR_INPUT);
        return false;
    }
    for (int i = 0; i < NUMBERS; i++)
        if (fabs(numbers[i].value) > (i == 3 ? 1e6 : 1e8)) /* ley_atoms_create() refuses it */
            return false;
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i].value != strtod(texts[i], NULL))
            fail_msg("%s: \"%s\": number %d is %.9g, not %s", row->name, line, i, numbers[i].value, texts[i]);
    return true;
}

static void no_number_is_wrong(void **state)
{
    static const writer_row rows[] = {
        {"PDB2PQR", pdb2pqr, 65},
        {"PDB2PQR --whitespace", pdb2pqr_whitespace, 70},
        {"APBS", apbs, 100},
        {"ambpqr", ambpqr, 94},
        {"7 and 6 columns", narrow, 74},
        {"Schrodinger", schrodinger, 94},
        {"g_mmpbsa", g_mmpbsa, 100},
        {"editconf -mead", editconf, 100},
        {"MDAnalysis", mdanalysis, 90},
    };
    const int rounds = support_is_quick() ? 20000 : 500000;
    for (size_t w = 0; w < sizeof rows / sizeof *rows; w++) {
        int right = 0;
        for (int i = 0; i < rounds; i++) {
            const atom a = some_atom();
            right += judge(&rows[w], &a);
        }
        print_message("%s: %.1f %% read\n", rows[w].name, 100.0 * right / rounds);
        if (right < rounds / 100 * rows[w].least_right)
            fail_msg("%s: only %d of %d lines are read", rows[w].name, right, rounds);
    }
}

/* ---- Lines by hand --------------------------------------------------------------------------- */

static void expect_line(const char *line, const double expected[NUMBERS])
{
    pqr_words words;
    pqr_field numbers[NUMBERS];
    ley_error error = {0};
    if (pqr_record_read(place, line, strlen(line), line + 4, &words, numbers, &error) != LEY_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i].value != expected[i])
            fail_msg("%s: number %d is %.9g, not %.9g", line, i, numbers[i].value, expected[i]);
}

static void touching_numbers_are_cut_where_that_is_proved(void **state)
{
    expect_line("ATOM      1  O   WAT A   1    10000.12310000.45610000.789  0.5000 1.5000",
                (double[]){10000.123, 10000.456, 10000.789, 0.5, 1.5});
    expect_line("ATOM      1  O   WAT A   1      12.345  12.345-112.345-0.83401.7683",
                (double[]){12.345, 12.345, -112.345, -0.834, 1.7683});
    expect_line("ATOM      1  N    NALA   192     -51.730-160.850  81.990   0.141   1.550",
                (double[]){-51.73, -160.85, 81.99, 0.141, 1.55});
    expect_line("ATOM      1  BB  BEA A   1    -1000.500-1002.250-1003.125 -0.5000 1.0000",
                (double[]){-1000.5, -1002.25, -1003.125, -0.5, 1});
    expect_line("ATOM      1  N    NALA   192    1151.7301160.850  81.990   0.141   1.550",
                (double[]){1151.73, 1160.85, 81.99, 0.141, 1.55});
    expect_line("ATOM      1  O   WAT A   1    1234.5671234.5671234.567 0.5 2",
                (double[]){1234.567, 1234.567, 1234.567, 0.5, 2});
    expect_line("ATOM 1 O WAT 1 1.0-2.0-3.0-0.5 1.5", (double[]){1, -2, -3, -0.5, 1.5});
}

static void touching_numbers_of_several_meanings_are_refused(void **state)
{
    static const char *const lines[] = {
        /* Cut off at its columns: 10000.12 and 1234.567. */
        "ATOM      1  O   WAT A   1    10000.121234.567  12.345  0.5000 1.5000",
        "ATOM      1  O   WAT A   1    10000.1212345.67123456.7  0.5000 1.5000",
        "ATOM 1 O WAT 1 12.34512.345 12.345 0.5 1.5",
        "ATOM      1  O   WAT A   1      12.345  12.345-112.345-0.834011.76",
        "ATOM      1  O   WAT A   1      12.345  12.345  12.345-100.12310.8240",
        "ATOM      1  O   WAT A   1      12.345  12.345  12.345-10.1234100.123",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        pqr_words words;
        pqr_field numbers[NUMBERS];
        ley_error error = {0};
        if (pqr_record_read(place, lines[i], strlen(lines[i]), lines[i] + 4, &words, numbers, &error) == LEY_OK)
            fail_msg("%s: %g %g %g %g %g", lines[i], numbers[0].value, numbers[1].value, numbers[2].value,
                     numbers[3].value, numbers[4].value);
        assert_non_null(strstr(error.message, "a.pqr:1: "));
        assert_non_null(strstr(error.message, "may be cut in more than one way"));
        assert_non_null(strstr(error.message, "--whitespace"));
    }
}

static int set_up(void **state)
{
    const char *line;
    size_t length;
    static char path[256];
    snprintf(path, sizeof path, "%s/a.pqr", support_directory());
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs("\n", file) < 0 || fclose(file) != 0 || ley_text_open(path, &place, NULL) != LEY_OK)
        return -1;
    return ley_text_line(place, &line, &length, NULL) == LEY_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    ley_text_close(place);
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = set_up, .end = tear_down), no_number_is_wrong,
                     touching_numbers_are_cut_where_that_is_proved, touching_numbers_of_several_meanings_are_refused);
}
