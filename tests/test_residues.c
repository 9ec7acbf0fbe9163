/* Residues of atoms as PQR files have them, and points that exclude those of their own: which atoms
 * these are, by brute force over what the file says, and the potentials without them. */
#include "support.h"

#include "leyden_points.h"

enum { ATOMS = 60, POINTS = ATOMS };

/* What the file says of an atom. */
typedef struct said {
    char chain, code; /* 0: none */
    int number;
    double x_A[3], charge_e;
} said;

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", support_directory(), name);
    return path;
}

static ley_atoms *write_and_read(const char *name, const said *list, size_t n)
{
    ley_error error = {0};
    ley_atoms *atoms;
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++) {
        fprintf(file, "ATOM %zu CA GLY ", i + 1);
        if (list[i].chain != 0)
            fprintf(file, "%c%s", list[i].chain, list[i].number > 999 ? "" : " "); /* grown to the number, too */
        fprintf(file, "%d%.*s %.3f %.3f %.3f %.4f 1.5\n", list[i].number, list[i].code != 0, &list[i].code,
                list[i].x_A[0], list[i].x_A[1], list[i].x_A[2], list[i].charge_e);
    }
    assert_int_equal(fclose(file), 0);
    assert_ok(ley_atoms_read(path_of(name), &atoms, &error));
    return atoms;
}

/* Random residues of one to four atoms, in chains that have the same numbers. */
static void make(said list[ATOMS], bool has_chains)
{
    unsigned seed = 5;
    int left = 0;
    bool has_jumped = false, is_second = false;
    said now = {.chain = has_chains ? 'A' : '\0', .number = -2};
    for (int i = 0; i < ATOMS; i++) {
        if (left-- == 0) {
            left = rand_r(&seed) % 4;
            now.code = now.code == 0 && rand_r(&seed) % 3 == 0 ? 'B' : '\0';
            now.number += now.code == 0;
            if (i >= 20 && !has_jumped) {
                now.number = 9997;
                has_jumped = true;
            }
            if (i >= 40 && !is_second) {
                now = (said){.chain = has_chains ? 'B' : '\0', .number = -1}; /* as in the other chain */
                is_second = true;
            }
        }
        list[i] = now;
        for (int axis = 0; axis < 3; axis++)
            list[i].x_A[axis] = round(1e3 * 20 * (rand_r(&seed) / (RAND_MAX + 1.0))) / 1e3;
        list[i].charge_e = i % 2 == 0 ? 0.5 : -0.25;
    }
}

static bool is_same(const said *a, const said *b)
{
    return a->chain == b->chain && a->number == b->number && a->code == b->code;
}

/* Without chains: neighbouring atoms only. */
static bool is_one_stretch(const said *list, int i, int j)
{
    for (int k = i < j ? i : j; k < (i < j ? j : i); k++)
        if (!is_same(&list[k], &list[k + 1]))
            return false;
    return true;
}

static void test_numbers(void **state)
{
    said list[ATOMS];
    make(list, true);
    ley_atoms *atoms = write_and_read("numbers.pqr", list, ATOMS);
    const int32_t *residue = ley_atoms_residues(atoms);
    assert_non_null(residue);
    for (int i = 0; i < ATOMS; i++)
        for (int j = 0; j < ATOMS; j++)
            assert_int_equal(residue[i] == residue[j], is_same(&list[i], &list[j]));
    ley_atoms_destroy(atoms);
}

/* The same where many threads read pieces of a file; and what has none. */
static void test_large_and_none(void **state)
{
    enum { MANY = 100000 };
    said *list = calloc(MANY, sizeof *list);
    assert_non_null(list);
    for (int i = 0; i < MANY; i++)
        list[i] = (said){.chain = (char)('A' + i / 20000), .number = i / 3 % 9999, .x_A = {i % 100, i / 100, 1}};
    ley_atoms *atoms = write_and_read("large.pqr", list, MANY);
    const int32_t *residue = ley_atoms_residues(atoms);
    assert_non_null(residue);
    for (int i = 1; i < MANY; i++)
        assert_int_equal(residue[i] == residue[i - 1], is_same(&list[i], &list[i - 1]));
    ley_error error = {0};
    ley_atoms *binary;
    assert_ok(ley_atoms_write(atoms, path_of("large.atoms"), NULL, &error));
    assert_ok(ley_atoms_read(path_of("large.atoms"), &binary, &error));
    assert_null(ley_atoms_residues(binary));
    ley_atoms_destroy(binary);
    ley_atoms_destroy(atoms);
    list[7].number = 1 << 20; /* more than 4 bytes hold beside a chain */
    atoms = write_and_read("large.pqr", list, 10);
    assert_null(ley_atoms_residues(atoms));
    ley_atoms_destroy(atoms);
    free(list);
}

/* Of points that are the atoms, by the file or by their places; `shift_A`: beside them. */
static void check(bool has_chains, bool by_file, double shift_A)
{
    said list[ATOMS];
    double point_A[POINTS][3];
    make(list, has_chains);
    ley_error error = {0};
    ley_atoms *atoms = write_and_read("atoms.pqr", list, ATOMS);
    ley_job *job;
    ley_direct direct = support_default_direct();
    ley_run_options options = support_default_run_options();
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = list[i].x_A[axis] + (axis == 1 ? shift_A : 0);
    ley_points *points = support_make_points(POINTS, point_A[0]);
    assert_ok(
        ley_points_exclude_residues(points, atoms, by_file ? ley_atoms_residues(atoms) : NULL, NULL, NULL, &error));
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.points = points}, &direct, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const double constant = ley_coulomb_constant(direct.units, 1, direct.temperature_K);
    int excluded = 0;
    for (int i = 0; i < POINTS; i++) {
        double right = 0;
        for (int j = 0; j < ATOMS; j++) {
            const bool is_out = has_chains ? is_same(&list[i], &list[j]) : is_one_stretch(list, i, j);
            const double r_A = sqrt(pow(point_A[i][0] - list[j].x_A[0], 2) + pow(point_A[i][1] - list[j].x_A[1], 2) +
                                    pow(point_A[i][2] - list[j].x_A[2], 2));
            right += is_out ? 0 : list[j].charge_e / fmax(r_A, direct.r_min_A);
            excluded += is_out;
        }
        assert_true(fabs(ley_points_values(points)[i] - constant * right) < 1e-9 * constant);
    }
    assert_true(excluded > ATOMS);
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

static void test_potentials(void **state)
{
    check(true, true, 0);
    check(true, true, 0.7); /* by what they are called alone */
    check(true, false, 0.005);
    check(false, true, 0.005); /* by names that others have, too, and places */
    check(false, false, 0);
}

static void test_errors(void **state)
{
    said list[ATOMS], other[1] = {{.chain = 'Z', .number = 4}};
    make(list, false);
    ley_error error = {0};
    ley_atoms *atoms = write_and_read("atoms.pqr", list, ATOMS), *far = write_and_read("far.pqr", other, 1), *bare;
    const double x_A[3] = {1, 2, 3}, charge_e[1] = {1};
    double point_A[POINTS][3];
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = list[i].x_A[axis] + 0.5;
    ley_points *points, *one;
    assert_ok(ley_points_create(POINTS, point_A[0], &points, &error));
    assert_ok(ley_points_create(1, x_A, &one, &error));
    assert_ok(ley_atoms_create(1, x_A, charge_e, NULL, &bare, &error));
    assert_null(ley_atoms_residues(bare));
    assert_error(ley_points_exclude_residues(one, bare, NULL, NULL, NULL, &error), LEY_ERROR_INPUT,
                 "the atoms' residues are unknown");
    ley_error_clear(&error);
    assert_int_equal(ley_points_exclude_residues(points, atoms, ley_atoms_residues(atoms), NULL, NULL, &error),
                     LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "there are 2 residues -1 among the atoms, and no atom at the point tells"));
    ley_error_clear(&error);
    assert_int_equal(ley_points_exclude_residues(one, atoms, ley_atoms_residues(far), NULL, NULL, &error),
                     LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "no residue of the points is among those of the atoms"));
    ley_error_clear(&error);
    ley_points_destroy(points);
    ley_points_destroy(one);
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(far);
    ley_atoms_destroy(bare);
}

int main(void)
{
    support_fresh_cache();
    unsetenv("LEYDEN_KERNEL_DIR");
    return RUN_GROUP(SUPPORT_GROUP(.name = "residues"), test_numbers, test_large_and_none, test_potentials,
                     test_errors);
}
