/* Boxes of water, and the files that atoms are kept in: the binary form, PQR as it is written. */
#include "support.h"

#include "io/atoms_file.h"
#include "io/digits.h"
#include "io/waterbox.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFERENCE_ATOMS = 1534539, SOME_ATOMS = 30000, HEADER_BYTES = 24, WORD = 8 };

static const double volume_A3 = 1.5e7;

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", support_directory(), name);
    return path;
}

static unsigned char *bytes_of(const char *name, size_t *size)
{
    return (unsigned char *)support_read_file(path_of(name), size);
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool same_files(const char *a, const char *b)
{
    size_t size_a, size_b;
    unsigned char *bytes_a = bytes_of(a, &size_a), *bytes_b = bytes_of(b, &size_b);
    const bool same = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
    free(bytes_a);
    free(bytes_b);
    return same;
}

static void write_box(int64_t atoms, uint64_t seed, const char *name)
{
    ley_error error = {0};
    assert_ok(ley_waterbox_write(atoms, seed, 0, path_of(name), NULL, &error));
}

static ley_atoms *read_atoms(const char *name)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    assert_ok(ley_atoms_read(path_of(name), &atoms, &error));
    return atoms;
}

static ley_atoms *make_box(int64_t atoms, uint64_t seed)
{
    ley_error error = {0};
    ley_atoms *box = NULL;
    assert_ok(ley_waterbox_create(atoms, seed, 0, &box, &error));
    return box;
}

/* To the last bit, bounds and total charge included. */
static void assert_same_atoms(const ley_atoms *a, const ley_atoms *b)
{
    const size_t n = ley_atoms_count(a);
    double bounds_a[6], bounds_b[6];
    assert_int_equal(n, ley_atoms_count(b));
    assert_memory_equal(ley_atoms_positions_A(a), ley_atoms_positions_A(b), 3 * n * sizeof(double));
    assert_memory_equal(ley_atoms_charges_e(a), ley_atoms_charges_e(b), n * sizeof(double));
    assert_memory_equal(ley_atoms_radii_A(a), ley_atoms_radii_A(b), n * sizeof(double));
    ley_atoms_bounds_A(a, bounds_a, bounds_a + 3);
    ley_atoms_bounds_A(b, bounds_b, bounds_b + 3);
    assert_memory_equal(bounds_a, bounds_b, sizeof bounds_a);
    assert_true(ley_atoms_total_charge_e(a) == ley_atoms_total_charge_e(b));
}

static double distance_A(const double *a, const double *b)
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* ---- The box --------------------------------------------------------------------------------- */

static void test_the_reference_box(void **state)
{
    static const uint64_t seeds[] = {0, 1, 2, 12345, UINT64_MAX};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        ley_error error = {0};
        ley_grid grid;
        ley_atoms *box = make_box(REFERENCE_ATOMS, seeds[s]);
        double low_A[3], high_A[3];
        ley_atoms_bounds_A(box, low_A, high_A);
        assert_int_equal(ley_atoms_count(box), REFERENCE_ATOMS);
        assert_ok(ley_grid_around(box, 0.5, 0.25, &grid, &error));
        for (int axis = 0; axis < 3; axis++) {
            assert_int_equal(grid.n[axis], 494);
            assert_true(high_A[axis] - low_A[axis] > 245.0 && high_A[axis] - low_A[axis] <= 245.5);
        }
        ley_atoms_destroy(box);
    }
}

/* Molecules leave the grid's places, as far as is asked for, but not the box. */
static void test_disorder(void **state)
{
    static const double disorders_A[] = {0.05, 0.25, 1};
    ley_error error = {0};
    ley_atoms *grid = make_box(SOME_ATOMS, 3), *none = NULL;
    const double *place_A = ley_atoms_positions_A(grid), side_A = ley_waterbox_side_A(SOME_ATOMS);
    for (size_t d = 0; d < sizeof disorders_A / sizeof *disorders_A; d++) {
        ley_atoms *box = NULL;
        assert_ok(ley_waterbox_create(SOME_ATOMS, 3, disorders_A[d], &box, &error));
        const double *position_A = ley_atoms_positions_A(box);
        double square_A2 = 0, largest_A = 0;
        for (size_t i = 0; i < ley_atoms_count(box); i++) {
            for (int axis = 0; axis < 3; axis++)
                assert_true(position_A[3 * i + (size_t)axis] >= 0.57 &&
                            position_A[3 * i + (size_t)axis] <= side_A - 0.57 + 1e-4);
            if (i % 3 != 0)
                continue;
            const double moved_A = distance_A(position_A + 3 * i, place_A + 3 * i);
            square_A2 += moved_A * moved_A;
            largest_A = fmax(largest_A, moved_A);
        }
        const double rms_A = sqrt(square_A2 / (double)(ley_atoms_count(box) / 3 * 3));
        if (!(rms_A > 0.9 * disorders_A[d] && rms_A < 1.25 * disorders_A[d] && largest_A > 3 * disorders_A[d]))
            fail_msg("disorder %g A: %g A root mean square along an axis, %g A at most", disorders_A[d], rms_A,
                     largest_A);
        ley_atoms_destroy(box);
    }
    assert_int_equal(ley_waterbox_create(SOME_ATOMS, 3, -0.1, &none, &error), LEY_ERROR_USAGE);
    assert_int_equal(ley_waterbox_create(SOME_ATOMS, 3, NAN, &none, &error), LEY_ERROR_USAGE);
    assert_int_equal(ley_waterbox_write(SOME_ATOMS, 3, 11, path_of("a.pqr"), NULL, &error), LEY_ERROR_USAGE);
    ley_atoms_destroy(grid);
}

static void test_density_and_charge(void **state)
{
    const double side_A = ley_waterbox_side_A(REFERENCE_ATOMS), half_A = side_A / 2;
    assert_true(fabs(side_A * side_A * side_A / volume_A3 - 1) < 1e-12);
    assert_true(fabs(ley_waterbox_side_A(SOME_ATOMS) - cbrt(SOME_ATOMS * volume_A3 / REFERENCE_ATOMS)) < 1e-9);
    assert_true(ley_waterbox_side_A(SOME_ATOMS + 2) == ley_waterbox_side_A(SOME_ATOMS));
    ley_atoms *box = make_box(REFERENCE_ATOMS, 7);
    const double *position_A = ley_atoms_positions_A(box);
    size_t octant[8] = {0};
    for (size_t i = 0; i < REFERENCE_ATOMS; i++, position_A += 3) {
        for (int axis = 0; axis < 3; axis++)
            assert_true(position_A[axis] >= 0.57 && position_A[axis] <= side_A - 0.57);
        octant[(position_A[0] > half_A) + 2 * (position_A[1] > half_A) + 4 * (position_A[2] > half_A)]++;
    }
    for (int i = 0; i < 8; i++)
        assert_true(fabs((double)octant[i] / (REFERENCE_ATOMS / 8.0) - 1) < 0.01);
    assert_true(fabs(ley_atoms_total_charge_e(box)) < 1e-6);
    ley_atoms_destroy(box);
}

/* Coordinates are rounded to 1e-4 A. */
static void test_geometry(void **state)
{
    const double bond_A = 0.9572, across_A = 2 * bond_A * sin(104.52 / 360 * 3.14159265358979323846);
    ley_atoms *box = make_box(SOME_ATOMS, 3);
    const double *charge_e = ley_atoms_charges_e(box), *radius_A = ley_atoms_radii_A(box);
    for (size_t i = 0; i < SOME_ATOMS; i += 3) {
        const double *o = ley_atoms_positions_A(box) + 3 * i, *h1 = o + 3, *h2 = o + 6;
        assert_true(fabs(distance_A(o, h1) - bond_A) < 2e-4);
        assert_true(fabs(distance_A(o, h2) - bond_A) < 2e-4);
        assert_true(fabs(distance_A(h1, h2) - across_A) < 2e-4);
        assert_true(charge_e[i] == -0.834 && charge_e[i + 1] == 0.417 && charge_e[i + 2] == 0.417);
        assert_true(radius_A[i] == 1.7683 && radius_A[i + 1] == 0.2245 && radius_A[i + 2] == 0.2245);
        for (int k = 0; k < 9; k++)
            assert_true(o[k] == round(o[k] * 1e4) / 1e4);
    }
    ley_atoms_destroy(box);
}

/* Two axes of the molecule: their means are zero, their second moments a third of the unit matrix,
 * neighbours know nothing of each other. */
static void test_orientations_are_uniform(void **state)
{
    const size_t atoms = 300000, molecules = atoms / 3;
    ley_atoms *box = make_box((int64_t)atoms, 11);
    double mean[6] = {0}, moment[2][9] = {{0}}, last[2][3] = {{0}}, neighbours[2] = {0};
    for (size_t m = 0; m < molecules; m++) {
        const double *o = ley_atoms_positions_A(box) + 9 * m;
        double axis[2][3], length[2] = {0};
        for (int k = 0; k < 3; k++) {
            axis[0][k] = o[3 + k] + o[6 + k] - 2 * o[k];
            axis[1][k] = o[3 + k] - o[6 + k];
            length[0] += axis[0][k] * axis[0][k];
            length[1] += axis[1][k] * axis[1][k];
        }
        for (int a = 0; a < 2; a++)
            for (int k = 0; k < 3; k++) {
                const double along = axis[a][k] / sqrt(length[a]);
                mean[3 * a + k] += along / (double)molecules;
                neighbours[a] += along * last[a][k] / (double)molecules;
                last[a][k] = along;
                for (int l = 0; l < 3; l++)
                    moment[a][3 * k + l] += axis[a][k] * axis[a][l] / length[a] / (double)molecules;
            }
    }
    assert_true(fabs(neighbours[0]) < 0.01 && fabs(neighbours[1]) < 0.01);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(mean[i]) < 0.01); /* five standard deviations */
    for (int i = 0; i < 18; i++)
        assert_true(fabs(moment[i / 9][i % 9] - (i % 9 % 4 == 0 ? 1 / 3.0 : 0)) < 0.005);
    ley_atoms_destroy(box);
}

/* The nearest two atoms of different molecules, by a list of the atoms in cells no narrower than
 * 1.5 A. */
static double nearest_A(const ley_atoms *box, double side_A)
{
    const double *position_A = ley_atoms_positions_A(box);
    const size_t n = ley_atoms_count(box);
    const int64_t cells = side_A > 1.5 ? (int64_t)(side_A / 1.5) : 1;
    int64_t *first = malloc((size_t)(cells * cells * cells) * sizeof *first), *next = malloc(n * sizeof *next);
    double nearest = 1.5;
    assert_true(first != NULL && next != NULL);
    for (int64_t c = 0; c < cells * cells * cells; c++)
        first[c] = -1;
    for (size_t i = 0; i < n; i++) {
        int64_t at[3];
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = (int64_t)(position_A[3 * i + (size_t)axis] / side_A * (double)cells);
            assert_true(at[axis] >= 0 && at[axis] < cells);
        }
        for (int64_t near = 0; near < 27; near++) { /* whoever is in the list already */
            const int64_t x = at[0] + near % 3 - 1, y = at[1] + near / 3 % 3 - 1, z = at[2] + near / 9 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= cells || y >= cells || z >= cells)
                continue;
            for (int64_t j = first[(z * cells + y) * cells + x]; j >= 0; j = next[j])
                if ((size_t)j / 3 != i / 3)
                    nearest = fmin(nearest, distance_A(position_A + 3 * i, position_A + 3 * j));
        }
        const int64_t own = (at[2] * cells + at[1]) * cells + at[0];
        next[i] = first[own];
        first[own] = (int64_t)i;
    }
    free(first);
    free(next);
    return nearest;
}

static void test_nothing_overlaps(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        ley_atoms *box = make_box(SOME_ATOMS, seed);
        const double nearest = nearest_A(box, ley_waterbox_side_A(SOME_ATOMS));
        assert_true(nearest >= 1 && nearest < 1.4); /* the search finds something */
        ley_atoms_destroy(box);
    }
    /* Few molecules leave the narrowest cells. */
    for (int64_t molecules = 1; molecules <= 700; molecules++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            ley_atoms *box = make_box(3 * molecules, seed);
            assert_true(nearest_A(box, ley_waterbox_side_A(3 * molecules)) >= 1);
            ley_atoms_destroy(box);
        }
}

static void test_a_molecule_depends_on_its_number(void **state)
{
    waterbox box, other;
    ley_atoms *all = make_box(SOME_ATOMS, 9);
    waterbox_prepare(&box, SOME_ATOMS / 3, 9, 0);
    waterbox_prepare(&other, SOME_ATOMS / 3, 10, 0);
    size_t same = 0;
    for (int64_t k = SOME_ATOMS / 3 - 1; k >= 0; k -= 7) {
        double position_A[9];
        waterbox_molecule(&box, k, position_A);
        assert_memory_equal(position_A, ley_atoms_positions_A(all) + 9 * k, sizeof position_A);
        waterbox_molecule(&other, k, position_A);
        same += memcmp(position_A, ley_atoms_positions_A(all) + 9 * k, sizeof position_A) == 0;
    }
    assert_int_equal(same, 0);
    assert_true(box.grid[0] * box.grid[1] * box.grid[2] >= box.molecules);
    ley_atoms_destroy(all);
}

/* ---- Boxes in files -------------------------------------------------------------------------- */

static void test_files_of_a_box(void **state)
{
    static const char *const suffixes[] = {"pqr", "pqr.gz", "atoms"};
    ley_atoms *box = make_box(SOME_ATOMS, 4);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[3][32];
        for (int k = 0; k < 3; k++) {
            snprintf(name[k], sizeof name[k], "%c.%s", 'a' + k, suffixes[i]);
            write_box(SOME_ATOMS + k, k < 2 ? 4 : 5, name[k]); /* one atom more makes no molecule more */
        }
        assert_true(same_files(name[0], name[1]));
        assert_false(same_files(name[0], name[2]));
        ley_atoms *read = read_atoms(name[0]);
        assert_same_atoms(box, read);
        ley_atoms_destroy(read);
        for (int k = 0; k < 3; k++)
            unlink(path_of(name[k]));
    }
    ley_atoms_destroy(box);
}

static void test_text_of_a_box(void **state)
{
    size_t size;
    write_box(7, 1, "a.pqr");
    char *text = (char *)bytes_of("a.pqr", &size), *line = text, *end = text + size;
    for (int i = 1; i <= 6; i++, line = strchr(line, '\n') + 1) {
        static const char *const names[] = {"H2", "O", "H1"};
        char atom[8], name[8], residue[8], rest[8] = "";
        int serial, number;
        double x, y, z, q, r;
        *end = '\0';
        assert_int_equal(sscanf(line, "%7s %d %7s %7s %d %lf %lf %lf %lf %lf%7[^\n]", atom, &serial, name, residue,
                                &number, &x, &y, &z, &q, &r, rest),
                         10);
        assert_string_equal(atom, "ATOM");
        assert_string_equal(name, names[i % 3]);
        assert_string_equal(residue, "HOH");
        assert_true(serial == i && number == (i + 2) / 3);
    }
    assert_ptr_equal(line, end);
    free(text);
    unlink(path_of("a.pqr"));
}

static void test_memory_is_bounded(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it keeps a record of all memory that threads touch, and of each thread */
#endif
    if (getenv("TEST_EMULATED") != NULL)
        skip(); /* the emulator's own memory is counted, too */
    static const char *const names[] = {"a.pqr", "a.pqr.gz", "a.atoms"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rusage before, after;
        write_box(300, 1, names[i]);
        getrusage(RUSAGE_SELF, &before);
        write_box(i == 1 ? 600000 : 3000000, 1, names[i]);
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss < 4 * 1024); /* 24 MB and more would be the atoms */
        unlink(path_of(names[i]));
    }
}

static void expect_usage(int64_t atoms, const char *name, const char *what)
{
    ley_error error = {0};
    assert_error(ley_waterbox_write(atoms, 1, 0, path_of(name), NULL, &error), LEY_ERROR_USAGE, what);
    ley_error_clear(&error);
}

static void test_boxes_that_cannot_be(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    expect_usage(2, "a.pqr", "a box of 2 atoms: must be 3 to 2147483647");
    expect_usage(-1, "a.pqr", "a box of -1 atoms");
    expect_usage(INT64_C(1) << 31, "a.atoms", "a box of 2147483648 atoms");
    expect_usage(300, "a.dx", "a.dx: must end in .pqr, .pqr.gz or .atoms");
    expect_usage(300, "pqr", "must end in");
    assert_int_equal(ley_waterbox_create(2, 1, 0, &atoms, &error), LEY_ERROR_USAGE);
    assert_null(atoms);
    assert_int_equal(ley_waterbox_write(300, 1, 0, path_of("none/a.pqr"), NULL, NULL), LEY_ERROR_FILE);
    assert_int_equal(ley_waterbox_write(300, 1, 0, path_of("none/a.atoms"), NULL, NULL), LEY_ERROR_FILE);
}

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(support_directory());
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static void test_cancelled_writers_leave_nothing(void **state)
{
    static const char *const names[] = {"x.pqr", "x.pqr.gz", "x.atoms"};
    const volatile bool cancel = true;
    const int before = count_files();
    ley_atoms *box = make_box(300, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ley_waterbox_write(SOME_ATOMS, 1, 0, path_of(names[i]), &cancel, NULL), LEY_CANCELLED);
        assert_int_equal(ley_atoms_write(box, path_of(names[i]), &cancel, NULL), LEY_CANCELLED);
    }
    assert_int_equal(count_files(), before);
    ley_atoms_destroy(box);
}

/* ---- Atoms in files -------------------------------------------------------------------------- */

/* Numbers that lose something in most formats. */
static ley_atoms *awkward_atoms(void)
{
    static const double numbers[] = {0.0,
                                     -0.0,
                                     0.1,
                                     0.1 + 0.2,
                                     1e8,
                                     -1e8,
                                     -12345.6789,
                                     1e-4,
                                     -1e-9,
                                     1.0 / 3,
                                     99999999.99999999,
                                     -0.00005,
                                     1e6,
                                     999999.9999999999,
                                     1e-300,
                                     4.9e-324,
                                     123.456789012,
                                     -99.9999999995,
                                     0.30000000000000004,
                                     -2.2250738585072014e-308};
    enum { N = sizeof numbers / sizeof *numbers };
    double position_A[3 * N], charge_e[N], radius_A[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            position_A[3 * i + axis] = numbers[(i + 7 * axis) % N];
        charge_e[i] = fabs(numbers[i]) <= 1e6 ? numbers[i] : -0.25;
        radius_A[i] = fabs(numbers[(i + 5) % N]);
    }
    return support_make_atoms(N, position_A, charge_e, radius_A);
}

static void test_nothing_is_lost_in_files(void **state)
{
    static const char *const names[] = {"a.pqr", "a.pqr.gz", "a.atoms", "A.PQR", "A.ATOMS"};
    ley_atoms *awkward = awkward_atoms(), *random = support_atoms(10007, -50, 50, 8);
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        const char *name = names[i / 2];
        ley_error error = {0};
        const ley_atoms *atoms = i % 2 == 0 ? awkward : random;
        assert_ok(ley_atoms_write(atoms, path_of(name), NULL, &error));
        ley_atoms *read = read_atoms(name);
        assert_same_atoms(atoms, read);
        ley_atoms_destroy(read);
        unlink(path_of(name));
    }
    assert_int_equal(ley_atoms_write(awkward, path_of("a.txt"), NULL, NULL), LEY_ERROR_USAGE);
    ley_atoms_destroy(awkward);
    ley_atoms_destroy(random);
}

static void test_layout(void **state)
{
    const double position_A[] = {1, 2, 3, -4.5, 5.25, 6}, charge_e[] = {1, -0.5}, radius_A[] = {0, 1.5};
    static const unsigned char start[HEADER_BYTES] = {0x89, 'L', 'E', 'Y', '\r', '\n', 0x1a, '\n', 1,
                                                      0,    0,   0,   0,   0,    0,    0,    2};
    ley_error error = {0};
    size_t size;
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, radius_A);
    assert_ok(ley_atoms_write_binary(atoms, path_of("a.atoms"), NULL, &error));
    unsigned char *bytes = bytes_of("a.atoms", &size);
    assert_int_equal(size, HEADER_BYTES + 2 * 40 + WORD);
    assert_memory_equal(bytes, start, sizeof start);
    assert_memory_equal(bytes + HEADER_BYTES, "\0\0\0\0\0\0\xf0\x3f", WORD); /* 1.0 */
    assert_memory_equal(bytes + HEADER_BYTES + 3 * WORD, "\0\0\0\0\0\0\x12\xc0", WORD);
    assert_memory_equal(bytes + HEADER_BYTES + 7 * WORD, "\0\0\0\0\0\0\xe0\xbf", WORD);
    assert_memory_equal(bytes + HEADER_BYTES + 9 * WORD, "\0\0\0\0\0\0\xf8\x3f", WORD);
    free(bytes);
    ley_atoms_destroy(atoms);
}

static uint64_t checksum_of(const unsigned char *bytes, size_t words, size_t part)
{
    ley_checksum sum;
    ley_checksum_start(&sum);
    for (size_t done = 0; done < words; done += part)
        ley_checksum_add(&sum, bytes + WORD * done, words - done < part ? words - done : part);
    return ley_checksum_end(&sum);
}

/* XXH64 of 0, 1, 2, ... by another implementation; in whatever parts the words come. */
static void test_checksum(void **state)
{
    static const struct {
        size_t words;
        uint64_t hash;
    } known[] = {{0, UINT64_C(0xef46db3751d8e999)}, {1, UINT64_C(0x884a173614b81b8d)},
                 {3, UINT64_C(0xdd14a0292632be9b)}, {4, UINT64_C(0xcbf59c5116ff32b4)},
                 {8, UINT64_C(0xf7c67301db6713f0)}, {11, UINT64_C(0xa6c906bd646a7f46)}};
    unsigned char bytes[88];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t part = 1; part <= 11; part++)
            assert_true(checksum_of(bytes, known[i].words, part) == known[i].hash);
}

/* ---- Files that are not what they should be -------------------------------------------------- */

static void expect_refusal(const char *name, const char *what)
{
    char message[512];
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    assert_int_equal(ley_atoms_read_binary(path_of(name), &atoms, &error), LEY_ERROR_INPUT);
    assert_null(atoms);
    snprintf(message, sizeof message, "%s: %s", path_of(name), what);
    assert_string_equal(error.message, message);
    assert_int_equal(ley_atoms_read_binary(path_of(name), &atoms, NULL), LEY_ERROR_INPUT);
    ley_error_clear(&error);
}

static void seal(unsigned char *bytes, size_t size)
{
    uint64_t hash = checksum_of(bytes, size / WORD - 1, size);
    for (int i = 0; i < WORD; i++)
        bytes[size - WORD + (size_t)i] = (unsigned char)(hash >> 8 * i);
}

static void test_damaged_files(void **state)
{
    size_t size;
    write_box(6, 1, "a.atoms");
    unsigned char *good = bytes_of("a.atoms", &size), bad[1024];
    assert_int_equal(size, HEADER_BYTES + 6 * 40 + WORD);
#define EXPECT(change, what) \
    do { \
        memcpy(bad, good, size); \
        change; \
        write_bytes("bad.atoms", bad, size); \
        expect_refusal("bad.atoms", what); \
    } while (0)
    EXPECT(bad[1] = 'l', "not a binary file of atoms");
    EXPECT(bad[4] = '\n', "damaged: its line ends were converted as if it were text");
    EXPECT(bad[8] = 2, "version 2 of the format; only version 1 can be read");
    EXPECT(bad[15] = 1, "version 72057594037927937 of the format; only version 1 can be read");
    EXPECT(bad[16] = 0, "0 atoms, must be 1 to 2147483647");
    EXPECT(bad[20] = 1, "4294967302 atoms, must be 1 to 2147483647");
    EXPECT(bad[23] = 0xff, "18374686479671623686 atoms, must be 1 to 2147483647");
    EXPECT(bad[16] = 7, "cut short: 272 bytes, but its 7 atoms take 312");
    EXPECT(bad[19] = 0x7f, "cut short: 272 bytes, but its 2130706438 atoms take 85228257552");
    EXPECT(bad[16] = 5, "too long: 272 bytes, but its 5 atoms take 232");
    EXPECT(bad[100] ^= 1, "damaged: its checksum is wrong");
    EXPECT(bad[size - 1] ^= 1, "damaged: its checksum is wrong");
    /* Sealed, but no atoms that ley_atoms_create() would take. */
    EXPECT((memcpy(bad + HEADER_BYTES + 4 * WORD, "\0\0\0\0\0\0\xf8\x7f", WORD), seal(bad, size)),
           "atom 2: y = nan A is not within 1e8 A");
    EXPECT((memcpy(bad + HEADER_BYTES + 18 * WORD, "\0\0\0\0\0\0\xf0\x7f", WORD), seal(bad, size)),
           "atom 1: charge inf e is not within 1e6 e");
    EXPECT((memcpy(bad + HEADER_BYTES + 29 * WORD, "\0\0\0\0\0\0\xf0\xbf", WORD), seal(bad, size)),
           "atom 6: radius -1 A is not a length");
#undef EXPECT
    write_bytes("bad.atoms", good, 0);
    expect_refusal("bad.atoms", "not a binary file of atoms");
    write_bytes("bad.atoms", good, 20);
    expect_refusal("bad.atoms", "cut short: 20 bytes");
    write_bytes("bad.atoms", "ATOM 1 C ALA 1 1.5 -2.5 3.25 0.25 3\n", 36);
    expect_refusal("bad.atoms", "not a binary file of atoms");
    memcpy(bad, good, size);
    write_bytes("bad.atoms", bad, size + 1);
    expect_refusal("bad.atoms", "too long: 273 bytes, but its 6 atoms take 272");
    free(good);
}

/* Whatever bit is turned, wherever the file is cut. */
static void test_every_damage_is_found(void **state)
{
    size_t size;
    write_box(6, 2, "a.atoms");
    unsigned char *good = bytes_of("a.atoms", &size);
    ley_atoms *atoms = NULL;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        good[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_bytes("bad.atoms", good, size);
        good[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(ley_atoms_read_binary(path_of("bad.atoms"), &atoms, NULL), LEY_ERROR_INPUT);
        assert_int_equal(ley_atoms_read(path_of("bad.atoms"), &atoms, NULL), LEY_ERROR_INPUT);
    }
    for (size_t length = 0; length < size; length++) {
        write_bytes("bad.atoms", good, length);
        assert_int_equal(ley_atoms_read_binary(path_of("bad.atoms"), &atoms, NULL), LEY_ERROR_INPUT);
        assert_int_equal(ley_atoms_read(path_of("bad.atoms"), &atoms, NULL), LEY_ERROR_INPUT);
    }
    assert_null(atoms);
    free(good);
}

static void expect_no_file(const char *path, const char *what)
{
    char message[512];
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    assert_int_equal(ley_atoms_read_binary(path, &atoms, &error), LEY_ERROR_FILE);
    snprintf(message, sizeof message, "%s: %s", path, what);
    assert_string_equal(error.message, message);
    ley_error_clear(&error);
}

static void test_files_that_cannot_be_read(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    expect_no_file(path_of("none.atoms"), "No such file or directory");
    expect_no_file("/tmp", "Is a directory");
    expect_no_file("/dev/null", "a binary file of atoms must be a regular file");
    assert_int_equal(ley_atoms_read(path_of("none.atoms"), &atoms, NULL), LEY_ERROR_FILE);
    assert_int_equal(ley_atoms_read("/tmp", &atoms, NULL), LEY_ERROR_FILE);
    assert_error_is(
        ley_atoms_read("/dev/null", &atoms, &error), LEY_ERROR_INPUT,
        "/dev/null: no ATOM or HETATM record: pdb2pqr --ff AMBER NAME.pdb NEW.pqr makes a PQR file of a PDB file");
}

/* ---- Digits ---------------------------------------------------------------------------------- */

static void test_fixed_point(void **state)
{
    uint64_t seed = 5;
    for (int i = 0; i < 200000; i++) {
        char text[64], expected[64];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t value = i < 4 ? (uint64_t)i - 1 : (seed ^ seed >> 29) >> i % 64;
        const int decimals = i % 19;
        uint64_t unit = 1;
        for (int k = 0; k < decimals; k++)
            unit *= 10;
        if (decimals == 0)
            snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        else
            snprintf(expected, sizeof expected, "%llu.%0*llu", (unsigned long long)(value / unit), decimals,
                     (unsigned long long)(value % unit));
        text[63] = '\0';
        const char *start = ley_digits_write_fixed(value, decimals, text + 63);
        assert_string_equal(start, expected);
        assert_true(strlen(start) <= LEY_DIGITS_FIXED_MAX);
    }
}

int main(void)
{
    return RUN_TESTS(test_memory_is_bounded, test_the_reference_box, test_disorder, test_density_and_charge,
                     test_geometry, test_orientations_are_uniform, test_nothing_overlaps,
                     test_a_molecule_depends_on_its_number, test_files_of_a_box, test_text_of_a_box,
                     test_boxes_that_cannot_be, test_cancelled_writers_leave_nothing, test_nothing_is_lost_in_files,
                     test_layout, test_checksum, test_damaged_files, test_every_damage_is_found,
                     test_files_that_cannot_be_read, test_fixed_point);
}
