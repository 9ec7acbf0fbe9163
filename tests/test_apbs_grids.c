/* Grids of APBS input files against those that APBS itself announces, of our cases and of its own
 * examples; and what is written for APBS, which it takes. */
#include "apbs_run.h"
#include "support.h"

#include "apbs/grid.h"
#include "apbs/rewrite.h"
#include "apbs/sections.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXAMPLES "/usr/share/apbs/examples"

/* ---- Grids, against APBS --------------------------------------------------------------------- */

/* A calculation as APBS announces it. */
typedef struct announced {
    long long n[3];
    double spacing_A[3], length_A[3], center_A[3];
} announced;

/* What APBS prints of each calculation. */
static size_t announcements(const char *output, announced *list, size_t room)
{
    size_t count = 0;
    for (const char *at = output; (at = strstr(at, "Grid dimensions:")) != NULL && count < room; count++) {
        announced *a = &list[count];
        assert_int_equal(sscanf(at, "Grid dimensions: %lld x %lld x %lld", &a->n[0], &a->n[1], &a->n[2]), 3);
        assert_non_null(at = strstr(at, "Grid spacings:"));
        assert_int_equal(
            sscanf(at, "Grid spacings: %lf x %lf x %lf", &a->spacing_A[0], &a->spacing_A[1], &a->spacing_A[2]), 3);
        assert_non_null(at = strstr(at, "Grid lengths:"));
        assert_int_equal(sscanf(at, "Grid lengths: %lf x %lf x %lf", &a->length_A[0], &a->length_A[1], &a->length_A[2]),
                         3);
        assert_non_null(at = strstr(at, "Grid center:"));
        assert_int_equal(sscanf(at, "Grid center: (%lf, %lf, %lf)", &a->center_A[0], &a->center_A[1], &a->center_A[2]),
                         3);
    }
    return count;
}

/* The announced numbers have three decimals. */
static void expect_grid(const char *name, const ley_apbs_elec *elec, const announced *a)
{
    const double tolerance = 0.00051;
    for (int axis = 0; axis < 3; axis++) {
        double length_A = (double)(elec->grid.n[axis] - 1) * elec->grid.step_A[axis][axis];
        if (elec->grid.n[axis] != a->n[axis] || fabs(elec->grid.step_A[axis][axis] - a->spacing_A[axis]) > tolerance ||
            fabs(length_A - a->length_A[axis]) > tolerance ||
            fabs(elec->grid.origin_A[axis] + 0.5 * length_A - a->center_A[axis]) > tolerance)
            fail_msg("%s, ELEC %d, %c: %lld points, %g A apart, %g A from %g A; APBS: %lld, %g, %g, centre %g", name,
                     elec->number, 'x' + axis, (long long)elec->grid.n[axis], elec->grid.step_A[axis][axis], length_A,
                     elec->grid.origin_A[axis], a->n[axis], a->spacing_A[axis], a->length_A[axis], a->center_A[axis]);
    }
}

/* The coarsest grid of each section, and how many grids there are, as APBS has them in `name`. */
static void expect_grids(const char *label, const ley_apbs_input *input, const char *name)
{
    announced list[LEY_APBS_ELECS_MAX + 1];
    char *output = apbs_run(name);
    size_t n = announcements(output, list, LEY_APBS_ELECS_MAX + 1), at = 0;
    for (size_t i = 0; i < ley_apbs_elec_count(input); i++) {
        const ley_apbs_elec *elec = ley_apbs_elec_get(input, i);
        if (at >= n)
            fail_msg("%s: APBS announces only %zu calculations:\n%s", label, n, output);
        if (elec->levels > 0)
            expect_grid(label, elec, &list[at]);
        at += (size_t)elec->levels;
    }
    if (at != n)
        fail_msg("%s: %zu grids, but APBS has %zu", label, at, n);
    free(output);
}

static void grids_of_cases(void **state)
{
    static const char *const rows[] = {
        "mg-manual dime 33 65 97 glen 20 30 40 gcent mol 1",
        "mg-manual dime 66 67 100 grid 0.5 0.25 0.3333 gcent 1.5 -2.25 3",
        "mg-manual dime 70 98 131 glen 20 30 40 gcent mol 2 nlev 4",
        "mg-manual dime 5 9 17 glen 5 6 7 gcent mol 1",
        "mg-manual dime 49 41 33 glen 5 6 7 gcent mol 1",
        "mg-manual dime 65.9 33 33 glen 2e1 0x14 20A gcent mol 1",
        "mg-manual dime 33 33 33 glen 20 20 20 gcent mol 2 gcent 1 2 3",
        "mg-manual dime 33 33 33 glen 20 20 20 gcent 1 2 3 gcent mol 2 gcent 4 5 6 gcent mol 1",
        "mg-dummy dime 34 66 7 glen 5 6 7 gcent mol 1",
        "mg-dummy dime 34 20 100 grid 1 2 3 gcent mol 2 nlev 3",
        "mg-auto dime 33 33 33 cglen 20 20 20 fglen 20 20 20 cgcent mol 1 fgcent mol 1",
        "mg-auto dime 33 65 33 cglen 80 80 80 fglen 20 20 20 cgcent mol 1 fgcent mol 1",
        "mg-auto dime 33 33 33 cglen 81 80 80 fglen 20 20 20 cgcent mol 1 fgcent mol 1",
        "mg-auto dime 33 33 33 cglen 200 20 20 fglen 10 10 10 cgcent 0 0 0 fgcent 0 0 0",
        "mg-auto dime 33 33 66 cglen 100 90 80 fglen 20 18 10 cgcent 0 0 0 fgcent 35 30 -30",
        "mg-auto dime 33 33 33 cglen 400 400 400 fglen 1 1 1 cgcent 0 0 0 fgcent 100 0 0",
        "mg-para dime 33 33 33 cglen 80 80 80 fglen 20 20 20 cgcent mol 1 fgcent mol 1 pdime 2 1 1 ofrac 0.1 async 1",
        "mg-para dime 65 33 33 cglen 80 80 80 fglen 40 70 30 cgcent mol 1 fgcent mol 1 pdime 2 3 1 ofrac 0.25 async 4",
        "mg-para dime 33 33 33 cglen 80 80 80 fglen 20 20 20 cgcent mol 1 fgcent mol 1 pdime 1 1 1 ofrac 0.1 async 0",
    };
    if (!apbs_run_is_there())
        skip();
    apbs_run_write_text("two.pqr", "ATOM 1 C A 1 10.25 20.5 30.125 1 2\nATOM 2 C A 1 -3.5 2 3.0625 1 12\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += support_is_quick() ? 4 : 1) {
        char text[1024];
        snprintf(text, sizeof text,
                 "read mol pqr one.pqr mol pqr two.pqr end elec %s %s bcfl zero etol 1e30 end quit\n", rows[i],
                 PHYSICS);
        ley_apbs_input *input = apbs_run_read_text(text);
        expect_grids(rows[i], input, "in.in");
        ley_apbs_input_destroy(input);
    }
}

/* The example with all that takes long cut short in each section: its grids stay. */
static void write_short(const char *text)
{
    FILE *file = fopen("short.in", "wb");
    assert_non_null(file);
    bool in_elec = false;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n"), begin = strspn(line, " \t\r");
        length += line[length] == '\n';
        if (strncasecmp(line + begin, "elec", 4) == 0)
            in_elec = true;
        if (strncasecmp(line + begin, "end", 3) == 0 && in_elec) {
            fputs(" etol 1e30 bcfl zero srfm spl2 swin 0.3 calcenergy no calcforce no async 0\n", file);
            in_elec = false;
        }
        if (strncasecmp(line + begin, "write", 5) != 0 && strncasecmp(line + begin, "print", 5) != 0 &&
            strncasecmp(line + begin, "apolar", 6) != 0)
            fwrite(line, 1, length, file);
        if (strncasecmp(line + begin, "apolar", 6) == 0)
            break;
        line += length;
    }
    assert_int_equal(fclose(file), 0);
}

/* Every file of an example's folder, seen from here. */
static void link_folder(const char *folder)
{
    char from[600], to[300];
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        snprintf(from, sizeof from, "%s/%s", folder, entry->d_name);
        snprintf(to, sizeof to, "%s", entry->d_name);
        if (*entry->d_name != '.')
            assert_int_equal(symlink(from, to), 0);
    }
    closedir(dir);
}

/* Examples that are refused, and why. */
static const char *refusal_of(const char *name)
{
    static const char *const rows[][2] = {
        {"helix/Apbs_dummy-TEMPLATE.in", "'DIME' is not an integer"},
        {"helix/Apbs_solv-TEMPLATE.in", "'DIME' is not an integer"},
        {"pbsam-gly/gly_energyforce.in", "'pbsam-auto' is no type of calculation"},
        {"pbsam-gly/gly_electrostatic.in", "'pbsam-auto' is no type of calculation"},
        {"pbsam-gly/gly_dynamics.in", "'pbsam-auto' is no type of calculation"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return NULL;
}

/* Whether another example has the same grids. */
static bool is_twin(const char *file)
{
    return strstr(file, "smol") != NULL || strstr(file, "pdiel12") != NULL || strstr(file, "-vdw") != NULL;
}

/* Whether APBS is asked, too: it takes half a second for each. */
static bool is_its_turn(void)
{
    static int examples;
    return examples++ % (support_is_quick() ? 16 : 1) == 0;
}

/* Returns whether the example has a multigrid calculation. */
static bool check_example(const char *folder, const char *file)
{
    char name[600];
    snprintf(name, sizeof name, "%s/%s", folder, file);
    ley_apbs_input *input = NULL;
    ley_error error = {0};
    ley_status status = ley_apbs_input_read(file, &input, &error);
    const char *reason = refusal_of(name);
    if ((status != LEY_OK) != (reason != NULL) || (reason != NULL && strstr(error.message, reason) == NULL))
        fail_msg("%s: %s", name, error.message);
    ley_error_clear(&error);
    if (status != LEY_OK)
        return false;
    bool multigrid = false, placed = true;
    for (size_t i = 0; i < ley_apbs_elec_count(input); i++)
        if (strncmp(ley_apbs_elec_get(input, i)->type, "mg-", 3) == 0) {
            multigrid = true;
            placed = placed && ley_apbs_elec_get(input, i)->grid.n[0] > 0;
        }
    for (size_t i = 0; i < ley_apbs_molecule_count(input); i++) /* PDB files are not read, and some are not there */
        placed = placed && ley_apbs_molecule(input, i) != NULL;
    if (multigrid && placed && apbs_run_is_there() && !is_twin(file) && is_its_turn()) {
        char *text = apbs_run_read_file(file);
        write_short(text);
        expect_grids(name, input, "short.in");
        free(text);
    }
    ley_apbs_input_destroy(input);
    return multigrid;
}

static void grids_of_examples(void **state)
{
    struct dirent **folders = NULL;
    int n = scandir(EXAMPLES, &folders, NULL, alphasort), checked = 0;
    if (n < 0)
        skip();
    char *here = getcwd(NULL, 0);
    for (int i = 0; i < n; i++) {
        char path[300], scratch[300];
        snprintf(path, sizeof path, EXAMPLES "/%.200s", folders[i]->d_name);
        snprintf(scratch, sizeof scratch, "example-%.200s", folders[i]->d_name);
        struct stat info;
        if (*folders[i]->d_name != '.' && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
            assert_int_equal(mkdir(scratch, 0700), 0);
            assert_int_equal(chdir(scratch), 0);
            link_folder(path);
            if (access("Membrane-helix-0.pqr", F_OK) == 0)
                assert_int_equal(symlink("Membrane-helix-0.pqr", "TM.pqr"), 0); /* which its script makes */
            if (access("point-pmf-0.in", F_OK) == 0)
                assert_int_equal(system("cat mol1.pqr mol2.pqr > complex.pqr"), 0); /* so does this one's */
            DIR *dir = opendir(path);
            for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
                size_t length = strlen(entry->d_name);
                if (length > 3 && strcmp(entry->d_name + length - 3, ".in") == 0)
                    checked += check_example(folders[i]->d_name, entry->d_name);
            }
            closedir(dir);
            assert_int_equal(chdir(here), 0);
        }
        free(folders[i]);
    }
    free(folders);
    free(here);
    print_message("%d examples with multigrid calculations\n", checked);
    assert_true(checked >= 30);
    if (!apbs_run_is_there())
        skip();
}

/* ---- APBS takes what is written -------------------------------------------------------------- */

/* A map of the grid with one value everywhere. */
static void write_map(const char *path, const ley_grid *grid, const char *value)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    long long points = ley_grid_points(grid);
    fprintf(file, "object 1 class gridpositions counts %lld %lld %lld\norigin %.17g %.17g %.17g\n",
            (long long)grid->n[0], (long long)grid->n[1], (long long)grid->n[2], grid->origin_A[0], grid->origin_A[1],
            grid->origin_A[2]);
    fprintf(file, "delta %.17g 0 0\ndelta 0 %.17g 0\ndelta 0 0 %.17g\n", grid->step_A[0][0], grid->step_A[1][1],
            grid->step_A[2][2]);
    fprintf(file,
            "object 2 class gridconnections counts %lld %lld %lld\nobject 3 class array type double rank 0 items %lld "
            "data follows\n",
            (long long)grid->n[0], (long long)grid->n[1], (long long)grid->n[2], points);
    for (long long i = 0; i < points; i++)
        fprintf(file, "%s%s", value, i % 3 == 2 || i == points - 1 ? "\n" : " ");
    fputs("attribute \"dep\" string \"positions\"\nobject \"regular positions regular connections\" class field\n"
          "component \"positions\" value 1\ncomponent \"connections\" value 2\ncomponent \"data\" value 3\n",
          file);
    assert_int_equal(fclose(file), 0);
}

/* Energies that APBS prints; NULL-safe sum of them. */
static double energy(const char *output)
{
    double sum = 0;
    int n = 0;
    for (const char *at = output; (at = strstr(at, "Total electrostatic energy = ")) != NULL; at++, n++)
        sum += strtod(at + strlen("Total electrostatic energy = "), NULL);
    assert_true(n > 0);
    return sum;
}

/* A map of zeros in place of `bcfl zero` changes nothing: the rewritten file is understood, and the
 * grid is APBS's own. */
static void taken_by_apbs(void **state)
{
    static const char *const rows[] = {
        "mg-manual dime 33 33 33 glen 17.3 19.7 23.1 gcent mol 1\n",
        "mg-manual dime 34 66 97 grid 0.31 0.37 0.411 gcent 0.1 0.2 0.3 dime 33 66 33\n",
        "mg-auto dime 33 33 33 cglen 31.7 33.9 37.1 fglen 11.3 12.9 13.7 cgcent mol 1 fgcent 0.3 0.1 0\n",
        "mg-para dime 33 33 33 cglen 31.7 33.9 37.1 fglen 11.3 12.9 13.7 cgcent mol 1 fgcent mol 1 pdime 2 2 1 ofrac "
        "0.1 async 3\n",
    };
    if (!apbs_run_is_there())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += support_is_quick() ? 3 : 1) {
        char text[1024];
        ley_error error = {0};
        snprintf(text, sizeof text,
                 "read\n mol pqr one.pqr\nend\nelec %s\n%s bcfl zero\n calcenergy total\nend\nquit\n", rows[i],
                 PHYSICS);
        ley_apbs_input *input = apbs_run_read_text(text);
        const char *map = i % 2 == 0 ? "zero map.dx" : "zero.dx";
        write_map(map, &ley_apbs_elec_get(input, 0)->grid, "0");
        assert_ok(ley_apbs_input_write(input, &map, "out.in", &error));
        char *before = apbs_run("in.in"), *after = apbs_run("out.in");
        if (strstr(after, "Boundary conditions from potential map") == NULL || strstr(after, "fell off") != NULL)
            fail_msg("%s", after);
        if (!(fabs(energy(before) - energy(after)) <= 1e-9 * fabs(energy(before))))
            fail_msg("%s: %.12g and %.12g kJ/mol", rows[i], energy(before), energy(after));
        free(before);
        free(after);
        ley_apbs_input_destroy(input);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = apbs_run_begin), grids_of_cases, taken_by_apbs, grids_of_examples);
}
