/* Reading PQR files: every layout, every complaint. */
#include "support.h"

#include "io/pqr.h"
#include "io/text.h"
#include "leyden.h"

#include <glob.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char path[128];

static void write_bytes(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_gzip(const char *text)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static ley_atoms *read_fine(void)
{
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    ley_status status = ley_atoms_read_pqr(path, &atoms, &error);
    if (status != LEY_OK)
        fail_msg("%s", error.message);
    return atoms;
}

/* The file has one atom with these numbers. */
static void expect_numbers(const char *text, double x, double y, double z, double q, double r)
{
    write_bytes(text, strlen(text));
    ley_atoms *atoms = read_fine();
    const double *p = ley_atoms_positions_A(atoms);
    if (ley_atoms_count(atoms) != 1 || p[0] != x || p[1] != y || p[2] != z || ley_atoms_charges_e(atoms)[0] != q ||
        ley_atoms_radii_A(atoms)[0] != r)
        fail_msg("%s: %zu atoms, %g %g %g %g %g", text, ley_atoms_count(atoms), p[0], p[1], p[2],
                 ley_atoms_charges_e(atoms)[0], ley_atoms_radii_A(atoms)[0]);
    ley_atoms_destroy(atoms);
}

#define PDB2PQR ": pdb2pqr --ff AMBER NAME.pdb NEW.pqr makes a PQR file of a PDB file"

/* The file at `path` is refused with "path" + what. */
static void expect_refusal(ley_status expected, const char *what)
{
    char message[512];
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    ley_status status = ley_atoms_read_pqr(path, &atoms, &error);
    snprintf(message, sizeof message, "%s%s", path, what);
    assert_null(atoms);
    assert_int_equal(status, expected);
    assert_string_equal(error.message, message);
    assert_int_equal(ley_atoms_read_pqr(path, &atoms, NULL), expected);
    ley_error_clear(&error);
}

static void expect_bad(const char *text, const char *what)
{
    write_bytes(text, strlen(text));
    expect_refusal(LEY_ERROR_INPUT, what);
}

static void layouts_between_white_space(void **state)
{
    static const char *const texts[] = {
        "ATOM      1  I   ION     1       1.500  -2.500  3.250  0.25  3.00\n",
        "ATOM  1 C A 1 1.5 -2.5 3.25 0.25 3\n",
        "ATOM       1    C   A  0        1.500   -2.500   3.250  0.2500 3.0000   \n",
        "ATOM      0  C   CHG A0          1.500  -2.500  3.250  0.2500  3.0\n",
        "ATOM   1700  N    ALA B   1       1.500   -2.500  3.250   0.2500  3.0 \n",
        "ATOM 1 H5T DC5 1 1.5 -2.5 3.25 0.25 3\r\n",
        "ATOM\t1\tH5T\tDC5\tA\t100A\t1.5\t-2.5\t3.25\t0.25\t3",
        "HETATM12345 HD21ALEU  12 1.5 -2.5 3.25 0.25 3\n",
        "HETATM12345 N NTERA1000 1.5 -2.5 3.25 0.25 3\n",
        "ATOM  ***** HD21AMEOHA-100B 1.5 -2.5 3.25 0.25 3\n",
        "ATOM 1 C 004 1 1.5 -2.5 3.25 0.25 3 C\n",
        "ATOM 1 C ALA 1 5 1.5 -2.5 3.25 0.25 3\n",
        "ATOM 1 C ALA A1 5 1.5 -2.5 3.25 0.25 3 7\n",
        "ATOM 1 C ALA -3 1.5 -2.5 3.25 0.25 3 C 12\n",
        "  atom 1 C INF A 3 1.5 -2.5 .325e1 +2.5E-1 3. N3+ 12 13 14 15 16 17 18\n",
        "ATOM 1 C ALA 1 1.5 -2.5 3.25 0.25 3 7\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_numbers(texts[i], 1.5, -2.5, 3.25, 0.25, 3);
    expect_numbers("ATOM 1 C ALA 1 5 -2 3 1 2", 5, -2, 3, 1, 2);
    expect_numbers("\xef\xbb\xbf"
                   "ATOM 1 C ALA 1 5 -2 3 1 2",
                   5, -2, 3, 1, 2);
    expect_numbers("ATOM 1 C ALA A 7 5 -2 3 1 2", 5, -2, 3, 1, 2);
    expect_numbers("ATOM 1 C ALA 7 5 -2.0 3.0 1.0 2.0\nATOMS\n", 5, -2, 3, 1, 2);
}

static void layouts_in_columns(void **state)
{
    expect_numbers("ATOM      1  N   NTERA1000     -36.576-112.088-113.641  0.1850 1.8240      N\n", -36.576, -112.088,
                   -113.641, 0.185, 1.824);
    expect_numbers("ATOM  12345 HD21ALEU A 100A     36.5761112.0881113.641-10.185010.8240\n", 36.576, 1112.088,
                   1113.641, -10.185, 10.824);
    expect_numbers("ATOM      1  N   GLY A1000    -999.999-999.999-999.999 -0.5 1.5", -999.999, -999.999, -999.999,
                   -0.5, 1.5);
    expect_numbers("HETATM    1  C 1 LIG A   5       1.000   2.000   3.000  0.5000 1.5000\r\n", 1, 2, 3, 0.5, 1.5);
}

static void other_records_and_models(void **state)
{
    static const char atom[] = "ATOM 1 C ALA 1 1.0 2.0 3.0 0.5 1.5\n";
    char text[2048];
    snprintf(text, sizeof text,
             "REMARK ATOM 1\n# c\n\nHEADER\nCRYST1 1 2 3\nMODEL 1\n%sTER\nEND\n%sCONECT 1 2\nENDMDL\nMODEL 2\nATOM x\n",
             atom, atom);
    write_bytes(text, strlen(text));
    ley_atoms *atoms = read_fine();
    assert_int_equal(ley_atoms_count(atoms), 2);
    ley_atoms_destroy(atoms);
    snprintf(text, sizeof text, "ENDMDL\nMODEL\n%sMODEL\n%s", atom, atom);
    expect_numbers(text, 1, 2, 3, 0.5, 1.5);
}

static void bad_records(void **state)
{
    expect_bad("", ": no ATOM or HETATM record, the file is empty" PDB2PQR);
    expect_bad("\n\nREMARK\n", ": no ATOM or HETATM record" PDB2PQR);
    expect_bad("\x7f\x45LF \x01\x02\xff\xfe binary\n", ": no ATOM or HETATM record" PDB2PQR);
    expect_bad("ATOM", ":1: truncated record: 0 fields and no coordinates");
    expect_bad("\nATOM 1 C ALA", ":2: truncated record: 3 fields and no coordinates");
    expect_bad("ATOM 1 C ALA 1 1.0 2.0", ":1: truncated record: no z");
    expect_bad("ATOM 1 C ALA 1 1.0 2.0 3.0", ":1: truncated record: no charge");
    expect_bad("ATOM 1 C ALA A 1 1.0 2.0 3.0 0.5", ":1: truncated record: no radius");
    expect_bad("ATOM 1 H5T DC5 1 1.0 2.0 3.0 0.5", ":1: truncated record: no radius");
    expect_bad("ATOM 1 C 004 1 1.0 2.0 3.0 0.5", ":1: truncated record: no radius");
    expect_bad("ATOM      1  N   NTERA1000     -36.576-112.088-113.641  0.1850", ":1: truncated record: no x");
    expect_bad("ATOM 1 C ALA A0 5 -2.0 3.0 1.0 2.0",
               ":1: 'A0' is no residue number, so that the coordinates cannot be told");
    expect_bad("ATOM 1 C ALA 1 1.0 two 3.0 0.5 1", ":1: y 'two' is not a number");
    expect_bad("ATOM 1 C ALA 1 0x10 2.0 3.0 0.5 1", ":1: x '0x10' is not a number");
    expect_bad("ATOM 1 C ALA 1 1,5 2.0 3.0 0.5 1", ":1: x '1,5' is not a number");
    expect_bad("ATOM 1 C ALA 1 1.0 2.0 nan 0.5 1", ":1: z 'nan' is not finite");
    expect_bad("ATOM 1 C ALA A 1 1.0 2.0 3.0 -Infinity 1", ":1: charge '-Infinity' is not finite");
    expect_bad("ATOM 1 C ALA 1 1e999 2.0 3.0 0.5 1", ":1: x '1e999' is too large");
    char remedy[400];
    snprintf(remedy, sizeof remedy,
             ":1: radius '-1' is negative. If radii stand in front of charges: awk '/^(ATOM|HETATM)/ {t = $9; $9 = "
             "$10; $10 = t} 1' '%s' > NEW.pqr exchanges them",
             path);
    expect_bad("ATOM 1 C ALA 1 1.0 2.0 3.0 0.5 -1", remedy);
    expect_bad("ATOM 1 C ALA 1 1.0 2.0 3.0 -0.5 -1", ":1: radius '-1' is negative");
    expect_bad("ATOM 1 C ALA 1 1.0 2.0 3.0 0.5 1\nATOM 1 C ALA 1 1.0 2e9 3.0 0.5 1",
               ":2: atom 2: y = 2e+09 A is not within 1e8 A");
    expect_bad("ATOM 1 C ALA one 1.0 2.0 3.0 0.5 1",
               ":1: 'one' is no residue number, so that the coordinates cannot be told");
    expect_bad("ATOM 1 C ALA A one 1.0 2.0 3.0 0.5 1",
               ":1: 'one' is no residue number, so that the coordinates cannot be told");
}

static void bad_files(void **state)
{
    write_bytes("REMARK\nATOM 1 C\0ALA", 20);
    expect_refusal(LEY_ERROR_INPUT, ":2: a NUL byte: this is not a text file");
    size_t size = 5 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'A', size);
    memcpy(text, "REMARK\n", 7);
    write_bytes(text, size);
    expect_refusal(LEY_ERROR_INPUT, ":2: line longer than 65536 bytes");
    memset(text, 'A', size);
    text[65536] = '\n';
    write_bytes(text, 65537);
    expect_refusal(LEY_ERROR_INPUT, ": no ATOM or HETATM record" PDB2PQR);
    memcpy(text + 65536, "\r\n", 2);
    write_bytes(text, 65538);
    expect_refusal(LEY_ERROR_INPUT, ": no ATOM or HETATM record" PDB2PQR);
    memcpy(text + 65536, "A\n", 2);
    write_bytes(text, 65538);
    expect_refusal(LEY_ERROR_INPUT, ":1: line longer than 65536 bytes");
    free(text);
    unlink(path);
    expect_refusal(LEY_ERROR_FILE, ": No such file or directory");
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refusal(LEY_ERROR_FILE, ": Is a directory");
    assert_int_equal(rmdir(path), 0);
}

static void random_bytes(void **state)
{
    uint64_t seed = 12345;
    for (int round = 0; round < 200; round++) {
        unsigned char bytes[3000];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[i] = (unsigned char)(seed >> 56);
        }
        if (round % 2 != 0)
            memcpy(bytes, "ATOM 1 ", 7);
        write_bytes(bytes, sizeof bytes);
        ley_atoms *atoms = NULL;
        ley_error error = {0};
        assert_int_equal(ley_atoms_read_pqr(path, &atoms, &error), LEY_ERROR_INPUT);
        assert_memory_equal(error.message, path, strlen(path));
    }
}

static void gzip_files(void **state)
{
    char text[20000] = "";
    for (int i = 0; i < 300; i++)
        sprintf(text + strlen(text), "ATOM %d C ALA %d %d.25 2.0 3.0 0.5 1.5\r\n", i, i, i * i % 97);
    write_gzip(text);
    ley_atoms *atoms = read_fine();
    assert_int_equal(ley_atoms_count(atoms), 300);
    assert_true(ley_atoms_positions_A(atoms)[3 * 299] == 299 * 299 % 97 + 0.25);
    ley_atoms_destroy(atoms);

    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 20), 0);
    ley_error error = {0};
    assert_error(ley_atoms_read_pqr(path, &atoms, &error), LEY_ERROR_INPUT, ": the gzip file is cut short");
    assert_int_equal(error.message[strlen(path)], ':');

    write_gzip(text);
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, status.st_size - 6, SEEK_SET), 0);
    fputc(0x55, file); /* checksum */
    fclose(file);
    assert_error(ley_atoms_read_pqr(path, &atoms, &error), LEY_ERROR_INPUT,
                 ": the gzip file is damaged: incorrect data check");
}

/* 200 MB of one line and of blank lines pack into some 200 KB; reading them must not take their
 * size. */
static void gzip_bombs(void **state)
{
    static char block[1 << 20];
    for (int blanks = 0; blanks < 2; blanks++) {
        memset(block, blanks ? '\n' : 'x', sizeof block);
        gzFile file = gzopen(path, "wb1");
        for (int i = 0; i < 48; i++) /* six times what it may take */
            assert_int_equal(gzwrite(file, block, sizeof block), sizeof block);
        assert_int_equal(gzclose(file), Z_OK);
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        expect_refusal(LEY_ERROR_INPUT,
                       blanks ? ": no ATOM or HETATM record" PDB2PQR : ":1: line longer than 65536 bytes");
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024);
    }
}

static void numbers(void **state)
{
    static const char *const fine[] = {"0",
                                       "-0",
                                       "+1.5",
                                       ".5",
                                       "5.",
                                       "1e5",
                                       "1E-5",
                                       "123456789012345678901234567890",
                                       "9007199254740993",
                                       "1e23",
                                       "4.9e-324",
                                       "1.7976931348623157e308",
                                       "1e-999",
                                       "0.30000000000000004",
                                       "8.5e22",
                                       "0e999999999999"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        double value = NAN;
        float single = NAN;
        assert_int_equal(ley_parse_double(fine[i], strlen(fine[i]), &value), LEY_NUMBER_FINE);
        double expected = strtod(fine[i], NULL);
        assert_memory_equal(&value, &expected, sizeof value);
        if (fabs(expected) < 1e38) {
            float short_expected = strtof(fine[i], NULL);
            assert_int_equal(ley_parse_float(fine[i], strlen(fine[i]), &single), LEY_NUMBER_FINE);
            assert_memory_equal(&single, &short_expected, sizeof single);
        }
    }
    static const char *const bad[] = {"",     "+",     "-",    ".",   "e5", "1e", "1e+",
                                      "1.5x", "0x1p3", "1..2", "--1", "1 ", "1_0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        assert_int_equal(ley_parse_double(bad[i], strlen(bad[i]), &value), LEY_NUMBER_NONE);
    }
    double value;
    float single;
    int64_t whole;
    assert_int_equal(ley_parse_double("-nan(0x1)", 9, &value), LEY_NUMBER_NOT_FINITE);
    assert_int_equal(ley_parse_double("1.8e308", 7, &value), LEY_NUMBER_TOO_LARGE);
    assert_int_equal(ley_parse_float("3.4028236e38", 12, &single), LEY_NUMBER_TOO_LARGE);
    assert_int_equal(ley_parse_float("-INF", 4, &single), LEY_NUMBER_NOT_FINITE);
    assert_int_equal(ley_parse_int64("-9223372036854775808", 20, &whole), LEY_NUMBER_FINE);
    assert_true(whole == INT64_MIN);
    assert_int_equal(ley_parse_int64("9223372036854775808", 19, &whole), LEY_NUMBER_TOO_LARGE);
    assert_int_equal(ley_parse_int64("1.0", 3, &whole), LEY_NUMBER_NONE);
    assert_int_equal(ley_parse_int64("-", 1, &whole), LEY_NUMBER_NONE);
}

/* Digits chosen to lie next to the halves between two floats, where rounding twice would show. */
static void floats_round_once(void **state)
{
    uint64_t seed = 99;
    for (int i = 0; i < 300000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t bits = (uint32_t)(seed >> 33) % 0x7f000000;
        float low, value = NAN;
        memcpy(&low, &bits, sizeof low);
        double half = 0.5 * ((double)low + (double)nextafterf(low, INFINITY));
        char word[64];
        snprintf(word, sizeof word, "%.*e", 6 + i % 20, i % 3 != 0 ? half : (double)low);
        assert_int_equal(ley_parse_float(word, strlen(word), &value), LEY_NUMBER_FINE);
        float expected = strtof(word, NULL);
        if (value != expected)
            fail_msg("%s: %a, not %a", word, (double)value, (double)expected);
    }
}

static void other_locales(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < 3 && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found)
        skip();
    expect_numbers("ATOM 1 C ALA 1 1.5 2.123456789012345678901 3.0 0.5 1.5", 1.5, 2.123456789012345678901, 3, 0.5, 1.5);
    setlocale(LC_ALL, "C");
}

/* ---- PDB files that pass for PQR files ------------------------------------------------------- */

#define CRYSTAL(serial, name, letter, factor) \
    "ATOM  " serial "  " name " LYS A   1       3.287  10.092  10.329  1.00" factor "           " letter "  \n"
#define CHAIN \
    CRYSTAL("    1", "N  ", "N", "  5.89") CRYSTAL("    2", "CA ", "C", " 10.02") CRYSTAL("    3", "O  ", "O", "100.02")

typedef struct molecule_file {
    const char *name, *text, *complaint; /* behind the path; NULL: a PQR file */
} molecule_file;

/* Under its own name. */
static void check_file(const molecule_file *file)
{
    char usual[sizeof path], message[512];
    strcpy(usual, path);
    snprintf(path, sizeof path, "%s/%s", support_directory(), file->name);
    write_bytes(file->text, strlen(file->text));
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    ley_status status = ley_atoms_read_pqr(path, &atoms, &error);
    if (status != (file->complaint != NULL ? LEY_ERROR_INPUT : LEY_OK))
        fail_msg("%s, %s: status %d, %s", file->name, file->text, (int)status, error.message);
    if (file->complaint != NULL) {
        snprintf(message, sizeof message, "%s:%s", path, file->complaint);
        assert_memory_equal(error.message, message, strlen(message));
        assert_non_null(strstr(error.message, "pdb2pqr --ff AMBER"));
        assert_null(atoms);
        assert_int_equal(ley_atoms_read(path, &atoms, NULL), LEY_ERROR_INPUT);
        assert_int_equal(ley_atoms_read_unchecked(path, &atoms, NULL), LEY_OK);
    }
    assert_true(ley_atoms_count(atoms) > 0);
    ley_atoms_destroy(atoms);
    unlink(path);
    strcpy(path, usual);
}

static void pdb_files_are_refused(void **state)
{
#define PDB ": this is a PDB file, not a PQR file: "
    static const molecule_file files[] = {
        {"a.txt", "REMARK x\n" CHAIN, "2" PDB "an element's symbol stands in columns 77-78."},
        {"a.pqr", CHAIN, "1" PDB "an element's symbol stands"},
        {"a.pqr",
         "HEADER    HYDROLASE                               08-JUN-93   1LYZ\nATOM 1 X LYS 1 1.0 2.0 3.0 0.50 8.00\n",
         "1" PDB "it has a record HEADER."},
        {"a.pqr",
         "TITLE x\nSEQRES   1 A  129  LYS VAL PHE\nATOM      1  N   LYS A   1       3.287  10.092  10.329  1.00  "
         "5.89\n",
         "2" PDB "it has a record SEQRES."},
        {"a.pqr",
         "ATOM      1  N   LYS A   1       3.287  10.092  10.329  0.40  5.89\n"
         "ANISOU    1  N   LYS A   1      800    700    900      0      0      0\n",
         "2" PDB "it has a record ANISOU."},
        {"a.pdb", "ATOM 1 N LYS 1 3.287 10.092 10.329 1.00 5.89\n",
         "1" PDB "its name says so, and every charge would be 1."},
        {"a.PDB", "ATOM 1 N LYS 1 3.287 10.092 10.329 1 5\n", "1" PDB "its name says so, and every charge would be 1."},
        {"a.ent", "ATOM 1 N LYS 1 3.287 10.092 10.329 0.50 5.89\n",
         "1" PDB "its name says so, and every charge would be 0 to 1 with"},
        {"a.pdb.gz", "ATOM 1 N LYS 1 3.287 10.092 10.329 0.50 5.89\n", "1" PDB "its name says so"},
        {"a.pqr",
         "ATOM 1 N LYS 1 3.2 1.0 1.3 1.00 0.00\nATOM 2 CA LYS 1 3.2 1.0 1.3 1.00 0.00\nATOM 3 O LYS 1 3.2 1.0 1.3 1.00 "
         "0.00\n",
         "1" PDB "carbon, nitrogen and oxygen would all have the charge 1."},
        /* A file that cannot be read as a PQR file: a B factor below 0. */
        {"a.pdb", CHAIN CRYSTAL("    4", "CB ", "C", " -1.00"), NULL},
    };
    const size_t readable = sizeof files / sizeof *files - 1;
    for (size_t i = 0; i < readable; i++)
        check_file(&files[i]);
    write_bytes(files[readable].text, strlen(files[readable].text));
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    assert_error(ley_atoms_read_pqr(path, &atoms, &error), LEY_ERROR_INPUT, ":1" PDB "an element's symbol");
    assert_error(ley_atoms_read_unchecked(path, &atoms, &error), LEY_ERROR_INPUT, ":4: radius '-1.00' is negative");
    /* No name, no symbols, no records, no occupancies of 1 throughout: B factors above what a
     * radius is. */
    char text[4096] = "";
    for (int i = 0; i < 12; i++)
        sprintf(text + strlen(text), "ATOM  %5d  CA  LYS A%4d       3.287  10.092  10.329  %.2f %5.2f\n", i, i,
                i % 3 != 0 ? 1.0 : 0.5, 3.5 + 2 * i);
    check_file(&(molecule_file){"a.pqr", text, "1" PDB "most radii would be larger than 5 A."});
}

/* Numbers like occupancies are not enough, nor is a name or a header. */
static void pqr_files_are_taken(void **state)
{
    static const molecule_file files[] = {
        /* Ions, whose charges are 1. */
        {"a.pqr", "ATOM      1  I   ION     1      -1.000    0.000   0.000  1.00 0.00\n", NULL},
        {"a.pqr",
         "ATOM      1  NA  NA  A   1       1.000   2.000   3.000  1.00  1.87\n"
         "ATOM      2  K   K   A   2       4.000   2.000   3.000  1.00  2.17\n",
         NULL},
        {"a.pqr",
         "HEADER ions\nTITLE sodium\nCRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1           1\nMODEL 1\n"
         "ATOM 5 C PRO 1 0.00 0.00 0.00 1.00 2.00\n",
         NULL},
        {"a.pqr", "ATOM 1 C BIG 1 0.00 0.00 0.00 1.00 50.00\n", NULL},
        {"a.pqr",
         "ATOM 1 N A 1 0.0 0.0 0.0 1.0000 1.5\nATOM 2 C A 1 0.0 2.0 0.0 1.0000 1.5\nATOM 3 O A 1 0.0 0.0 9.0 1.0000 "
         "1.5\n",
         NULL},
        /* A PDB file's columns and element symbols, with charges and radii in place of occupancies
         * and B factors. */
        {"a.pqr",
         "HEADER    HYDROLASE                               08-JUN-93   1LYZ\n"
         "ATOM      1  N   LYS A   1       3.287  10.092  10.329 -0.30  1.85           N  \n"
         "ATOM      2  CA  LYS A   1       3.287  10.092  12.329  0.21  2.27           C  \n",
         NULL},
        /* What pdb2pqr writes, with a header and without, in columns and between blanks, with and
         * without a chain. */
        {"a.pqr",
         "REMARK   1 PQR file generated by PDB2PQR\nSEQRES   1 A  129  LYS VAL PHE\n"
         "ATOM      1  N   MET     1       9.805  -1.280   1.817  0.1592 1.8240\n",
         NULL},
        {"a.pqr", "ATOM       1  N    MET     1       9.805   -1.280    1.817  0.1592 1.8240\n", NULL},
        {"a.pqr", "ATOM      1  N   MET A   1       9.805  -1.280   1.817  0.1592 1.8240\n", NULL},
        {"a.pqr", "ATOM       1  N    MET A   1       9.805   -1.280    1.817  0.1592 1.8240\n", NULL},
        /* A PQR file that somebody named so: APBS's own examples have these. */
        {"a.pdb", "ATOM      1  C   ALK     1       2.142   1.395  -8.932 0.000 1.908\n", NULL},
        {"a.pdb", "ATOM 1 N A 1 0.0 0.0 0.0 -0.50 1.50\nATOM 2 C A 1 0.0 2.0 0.0 1.00 1.50\n", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_file(&files[i]);
}

/* ---- Other kinds of files -------------------------------------------------------------------- */

/* Each is named by what is in it, with what to type next; its name says nothing. */
static void other_kinds_are_named(void **state)
{
#define CONVERT "python3 -m leyden convert "
    static const struct {
        const char *text, *kind, *next;
    } files[] = {
        {"PSF CMAP\n\n       1 !NTITLE\n REMARKS x\n\n       2 !NATOM\n", ":1: this is a PSF,",
         CONVERT "'%s' COORDINATES "},
        {"%VERSION  VERSION_STAMP = V0001.000  DATE = 05/22/06\n%FLAG TITLE\n", ":1: this is a topology of Amber",
         CONVERT "'%s' COORDINATES "},
        {"# x\n@<TRIPOS>MOLECULE\nLIG\n", ":2: this is a mol2 file", CONVERT "'%s' -o "},
        {"data_X\nloop_\n_atom_site.group_PDB\n_atom_site.Cartn_x\nATOM 1 N N . MET A 1 1 ? 27.340 24.430 2.614 1.00 "
         "9.67 ? 1 MET A N 1\n",
         ":3: this is an mmCIF file", "pdb2pqr --ff AMBER '%s' NEW.pqr"},
        /* A table whose records are those of a PQR file. */
        {"loop_\n_atom_site.group_PDB\n_atom_site.id\nATOM 1 N MET 1 27.340 24.430 2.614 1.00 9.67\n",
         ":2: this is an mmCIF file", "pdb2pqr --ff AMBER '%s' NEW.pqr"},
        {"; x\n[ moleculetype ]\n", ":2: this is a topology of GROMACS", CONVERT "'%s' COORDINATES "},
        {"LAMMPS data file: NaCl pair, atom_style full\n\n2 atoms\n2 atom types\n\n0.0 20.0 xlo xhi\n",
         ":4: this is a data file of LAMMPS", CONVERT "'%s' -o "},
        {"Water\n    3\n    1SOL     OW    1   0.230   0.628   0.113\n", ":3: this is a gro file",
         CONVERT "TOPOLOGY '%s' -o "},
        {"2\nwater\nO 0.0 0.0 0.0\nH 0.0 0.0 1.0\n", ":3: this is an XYZ file", CONVERT "TOPOLOGY '%s' -o "},
        {"benzene\n  x\n\n  6  6  0  0  0  0  0  0  0  0999 V2000\n", ":4: this is an SDF or MOL file",
         CONVERT "NEW.mol2 -o "},
        {"# x\nobject 1 class gridpositions counts 2 2 2\n", ": this is a map (OpenDX), not a PQR file",
         "leyden slice '%s'"},
        {"<!DOCTYPE html>\n<html>\n", ":1: this is a web page", "saved in place of"},
        /* AutoDock's, with a tree and without one, as a receptor has none. */
        {"REMARK  Name = lig\nROOT\n"
         "ATOM      1  C   LIG A   1       1.000   2.000   3.000  1.00  0.00     0.123 A \n"
         "ATOM      2  O   LIG A   1       2.000   2.000   3.000  1.00  0.00    -0.250 OA\nENDROOT\nTORSDOF 0\n",
         ":2: this is a PDBQT file", CONVERT "'%s' -o "},
        {"REMARK  Name = benzyl-ether\nROOT\n"
         "ATOM      1  C   UNL     1       1.433   0.052   0.001  0.00  0.00    +0.003 A \nENDROOT\nTORSDOF 0\n",
         ":2: this is a PDBQT file", CONVERT "'%s' -o "},
        {"ATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67    -0.346 N \n"
         "ATOM      2  HN  MET A   1      27.340  25.430   2.614  1.00 19.67     0.163 HD\n",
         ":1: this is a PDBQT file of AutoDock, not a PQR file: charges and AutoDock's types", CONVERT "'%s' -o "},
        /* Energies in place of occupancies, as AutoDock's results have them. */
        {"ROOT\nATOM      1  C   LIG A   1       1.000   2.000   3.000 -0.25 +0.03     0.123 A \n",
         ":1: this is a PDBQT file", CONVERT "'%s' -o "},
        {"REMARK  atom radii in columns 55-62\nREMARK  atom charges in columns 63-70\n"
         "ATOM      1  N   ALA     1       1.000   2.000   3.000  1.8240 -0.4157\n"
         "ATOM      2  H   ALA     1       1.000   2.000   4.000  0.6000  0.2719\n",
         ":1: this is a PQR file with radii in front of charges", "' > NEW.pqr exchanges them"},
        {"ATOM\t1\tC1\tGLY\t1.000\t2.000\t3.000\t0.155\t1.85\n", ":1: no residue number between 'GLY' and x",
         "awk '/^(ATOM|HETATM)/ {$4 = $4 \" 1\"} 1' '%s' > NEW.pqr puts"},
        {"ATOM 1 C1 GLY A 1.000 2.000 3.000 0.155 1.85\n", ":1: no residue number between 'A' and x",
         "awk '/^(ATOM|HETATM)/ {$5 = $5 \" 1\"} 1' '%s' > NEW.pqr puts"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char message[512], next[512];
        ley_atoms *atoms = NULL;
        ley_error error = {0};
        write_bytes(files[i].text, strlen(files[i].text));
        assert_int_equal(ley_atoms_read(path, &atoms, &error), LEY_ERROR_INPUT);
        snprintf(message, sizeof message, "%s%s", path, files[i].kind);
        const char *hole = strstr(files[i].next, "%s");
        snprintf(next, sizeof next, "%.*s%s%s", hole != NULL ? (int)(hole - files[i].next) : 0, files[i].next,
                 hole != NULL ? path : files[i].next, hole != NULL ? hole + 2 : "");
        if (strncmp(error.message, message, strlen(message)) != 0 || strstr(error.message, next) == NULL)
            fail_msg("\"%s\", not \"%s ... %s\"", error.message, message, next);
        assert_int_equal(ley_atoms_read(path, &atoms, NULL), LEY_ERROR_INPUT);
        ley_error_clear(&error);
    }
    static const char tpr[] = "\0\0\0\x0d\0\0\0\x0cVERSION 2021\0\0\0\4";
    write_bytes(tpr, sizeof tpr);
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    assert_error(ley_atoms_read(path, &atoms, &error), LEY_ERROR_INPUT,
                 ": this is a run input file of GROMACS (tpr), not a PQR file: " CONVERT);
    ley_error_clear(&error);
}

/* The commands that messages hold do what they say. */
static void commands_of_messages_make_files_that_are_read(void **state)
{
    static const char missing[] = "ATOM 1 C1 GLY 1.0 2.0 3.0 0.155 1.85\n";
    static const char swapped[] = "REMARK  atom radii in columns 55-62\nREMARK  atom charges in columns 63-70\n"
                                  "ATOM      1  N   ALA     1       1.000   2.000   3.000  1.8500  0.1550      N\n";
    static const char negative[] = "ATOM 1 N ALA 1 1.0 2.0 3.0 1.85 -0.155\n";
    static const struct {
        const char *text;
        double charge;
    } files[] = {{missing, 0.155}, {swapped, 0.155}, {negative, -0.155}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char command[1400], repaired[sizeof path + 8];
        ley_atoms *atoms = NULL;
        ley_error error = {0};
        write_bytes(files[i].text, strlen(files[i].text));
        assert_int_equal(ley_atoms_read(path, &atoms, &error), LEY_ERROR_INPUT);
        const char *awk = strstr(error.message, "awk "), *end = strstr(error.message, " > NEW");
        assert_true(awk != NULL && end > awk);
        snprintf(command, sizeof command, "%.*s", (int)(end - awk), awk);
        char *file = strstr(command, " FILE");
        if (file != NULL)
            *file = '\0';
        snprintf(repaired, sizeof repaired, "%s.new", path);
        snprintf(command + strlen(command), sizeof command - strlen(command), " %s > %s", file != NULL ? path : "",
                 repaired);
        assert_int_equal(system(command), 0);
        assert_int_equal(rename(repaired, path), 0);
        atoms = read_fine();
        assert_true(ley_atoms_charges_e(atoms)[0] == files[i].charge && ley_atoms_radii_A(atoms)[0] == 1.85);
        assert_true(ley_atoms_positions_A(atoms)[2] == 3);
        ley_atoms_destroy(atoms);
        ley_error_clear(&error);
    }
}

static void files_without_charges_are_remarked_upon(void **state)
{
    static const char zero[] = "ATOM      1  N   MET A   1      27.340  24.430   2.614  0.0000 0.0000\n"
                               "ATOM      2  C   MET A   1      27.340  25.430   2.614  0.0000 0.0000\n";
    static const char charged[] = "ATOM 1 N MET 1 1.0 2.0 3.0 1 1\nATOM 2 N MET 1 1.0 2.0 3.0 -1 1\n";
    char text[256];
    write_bytes(zero, strlen(zero));
    ley_atoms *atoms = read_fine();
    assert_true(ley_atoms_charge_remark(atoms, text, sizeof text));
    assert_non_null(strstr(text, "every charge of its 2 atoms is 0"));
    ley_atoms_destroy(atoms);
    write_bytes(charged, strlen(charged));
    atoms = read_fine();
    assert_false(ley_atoms_charge_remark(atoms, text, sizeof text));
    assert_string_equal(text, "");
    ley_atoms_destroy(atoms);
}

/* Every PQR file of APBS's examples. */
static void apbs_examples_are_taken(void **state)
{
    glob_t files = {0};
    glob("/usr/share/apbs/examples/*/*.pqr", 0, NULL, &files);
    glob("/usr/share/apbs/examples/*/*/*.pqr", GLOB_APPEND, NULL, &files);
    if (files.gl_pathc == 0) {
        print_message("APBS's examples are not installed\n");
        skip();
    }
    for (size_t i = 0; i < files.gl_pathc; i++) {
        ley_atoms *atoms = NULL;
        ley_error error = {0};
        if (ley_atoms_read_pqr(files.gl_pathv[i], &atoms, &error) != LEY_OK)
            fail_msg("%s", error.message);
        ley_atoms_destroy(atoms);
    }
    globfree(&files);
}

/* Time must grow with the size: a second would be a hundred times too much. */
static void many_atoms(void **state)
{
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "ATOM %6d  C   ALA A%4d    %8.3f%8.3f%8.3f 0.5000 1.5000\n", i, i % 10000, i * 0.001, 2.0, 3.0);
    fclose(file);
    ley_atoms *atoms = read_fine();
    assert_int_equal(ley_atoms_count(atoms), 200000);
    assert_true(ley_atoms_total_charge_e(atoms) == 100000);
    ley_atoms_destroy(atoms);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

typedef struct outcome {
    ley_status status;
    ley_error error;
    ley_pdb_finding finding;
    ley_atoms *atoms;
} outcome;

static outcome read_by(int threads, int64_t piece_bytes)
{
    outcome o = {LEY_OK, {0}, {0}, NULL};
    o.status = ley_pqr_read_pieces(path, LEY_PDB_REFUSED, threads, piece_bytes, &o.finding, &o.atoms, &o.error);
    return o;
}

static void expect_same(const outcome *one, const outcome *other, int64_t piece_bytes)
{
    const bool same = one->status == other->status && strcmp(one->error.message, other->error.message) == 0 &&
                      one->finding.is_pdb == other->finding.is_pdb && one->finding.line == other->finding.line;
    if (!same)
        fail_msg("pieces of %d bytes: \"%s\", not \"%s\"", (int)piece_bytes, other->error.message, one->error.message);
    if (one->status != LEY_OK)
        return;
    const size_t n = ley_atoms_count(one->atoms);
    assert_int_equal(ley_atoms_count(other->atoms), n);
    assert_memory_equal(ley_atoms_positions_A(other->atoms), ley_atoms_positions_A(one->atoms), 24 * n);
    assert_memory_equal(ley_atoms_charges_e(other->atoms), ley_atoms_charges_e(one->atoms), 8 * n);
    assert_memory_equal(ley_atoms_radii_A(other->atoms), ley_atoms_radii_A(one->atoms), 8 * n);
}

/* Cut anywhere, a file says what it says in one piece: its atoms, its first bad line, the line that
 * shows that it is a PDB file, where its first model ends. */
/* ---- Files that become shorter --------------------------------------------------------------- */

enum { SHORTENED = 200000, RECORD_BYTES = 40 };

static void write_long(void)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < SHORTENED; i++)
        assert_int_equal(fprintf(file, "ATOM %6d A UNK 1 %7.3f 1 2 0.5 1.5\n", i + 1, i * 0.001), RECORD_BYTES);
    assert_int_equal(fclose(file), 0);
}

static void a_text_that_becomes_shorter_is_refused(void **state)
{
    const char *line;
    size_t length;
    ley_text *text;
    ley_error error = {0};
    write_long();
    assert_int_equal(ley_text_open(path, &text, NULL), LEY_OK);
    assert_int_equal(ley_text_line(text, &line, &length, NULL), LEY_OK);
    assert_int_equal(truncate(path, RECORD_BYTES * (SHORTENED / 2)), 0); /* where a record ends */
    ley_status status = LEY_OK;
    while (status == LEY_OK && line != NULL)
        status = ley_text_line(text, &line, &length, &error);
    assert_int_equal(status, LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, ": cut short while it was read"));
    ley_error_clear(&error);
    ley_text_close(text);
}

/* Shortens the file as soon as this process has opened it: by then its size is known. */
static void *shorten(void *is_over)
{
    char link[64], target[sizeof path];
    while (!__atomic_load_n((bool *)is_over, __ATOMIC_ACQUIRE))
        for (int fd = 3; fd < 32; fd++) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            const ssize_t n = readlink(link, target, sizeof target);
            if (n == (ssize_t)strlen(path) && memcmp(target, path, (size_t)n) == 0)
                return truncate(path, RECORD_BYTES * (SHORTENED / 8)) == 0 ? NULL : is_over;
        }
    return NULL;
}

/* All of them where the file was read before the thread came. */
static void atoms_of_a_file_that_becomes_shorter_are_not_fewer(void **state)
{
    for (int round = 0; round < 6; round++) {
        pthread_t thread;
        bool is_over = false;
        void *failure;
        write_long();
        assert_int_equal(pthread_create(&thread, NULL, shorten, &is_over), 0);
        outcome o = read_by(2, 1 << 20);
        __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
        pthread_join(thread, &failure);
        assert_null(failure);
        if (o.status == LEY_OK)
            assert_int_equal(ley_atoms_count(o.atoms), SHORTENED);
        else
            assert_non_null(strstr(o.error.message, "cut short while it was read"));
        ley_atoms_destroy(o.atoms);
        ley_error_clear(&o.error);
    }
}

static void pieces_say_the_same(void **state)
{
    static const char *const lines[] = {
        "ATOM 1 C ALA 1 1.25 2.0 3.0 0.5 1.5\n",
        "ATOM 2 N ALA 1 1.125 -2.0 3e1 -0.25 1.5\r\n",
        "HETATM    1  C 1 LIG A   5       1.000   2.000   3.000  0.5000 1.5000\n",
        "REMARK of some length, so that pieces begin in it and end in it as well\n",
        "\n",
        "TER\n",
        /* from here on rare ones */
        "MODEL 1\n",
        "ENDMDL\n",
        "ATOM 1 C ALA 1 1.25 2.0 x 0.5 1.5\n",
        "ATOM 1 C ALA 1 1.25 2.0 3.0 0.5 -1.5\n",
        "ATOM 1 C ALA 1 1.25 2.0 3.0 0.5 1e300\n",
        "ATOM      1  N   GLY A   1      11.104  13.207   2.100  1.00 20.00           N\n",
        "SEQRES   1 A   21  GLY ILE VAL GLU GLN CYS CYS THR SER ILE CYS SER LEU\n",
    };
    enum { KINDS = sizeof lines / sizeof *lines, FREQUENT = 6, LINES = 60 };
    static const int64_t sizes[] = {1, 7, 40, 97, 300, 1000};
    uint64_t seed = 5;
    int fine = 0, wrong = 0;
    for (int file = 0; file < 100; file++) {
        char text[LINES * 90] = "";
        size_t used = 0;
        const unsigned one_kind = file % 3 == 0 ? 11 : KINDS; /* of PDB files every atom is one */
        for (int i = 0; i < LINES; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            const unsigned r = (unsigned)(seed >> 33);
            unsigned kind = r % 25 == 0 ? r / 25 % KINDS : file % 2 == 0 ? r % FREQUENT : 3 + r % 3;
            kind = one_kind == 11 && kind < 3 ? 11 : kind;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", lines[kind]);
        }
        write_bytes(text, used - (file % 4 == 0));
        outcome whole = read_by(1, 1 << 20);
        fine += whole.status == LEY_OK;
        wrong += whole.status == LEY_ERROR_INPUT;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            outcome cut = read_by(2 + (file + (int)i) % 3, sizes[i]);
            expect_same(&whole, &cut, sizes[i]);
            ley_atoms_destroy(cut.atoms);
        }
        ley_atoms_destroy(whole.atoms);
    }
    assert_true(fine > 12 && wrong > 12);
}

static int set_up(void **state)
{
    snprintf(path, sizeof path, "%s/a.pqr", support_directory());
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = set_up), layouts_between_white_space, layouts_in_columns,
                     other_records_and_models, bad_records, bad_files, random_bytes, gzip_files, gzip_bombs, numbers,
                     floats_round_once, other_locales, pdb_files_are_refused, pqr_files_are_taken,
                     other_kinds_are_named, commands_of_messages_make_files_that_are_read,
                     files_without_charges_are_remarked_upon, apbs_examples_are_taken, many_atoms,
                     a_text_that_becomes_shorter_is_refused, atoms_of_a_file_that_becomes_shorter_are_not_fewer,
                     pieces_say_the_same);
}
