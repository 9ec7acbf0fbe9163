/* leyden density-map and fit-score, by the host: tables, a picture, and what is refused. */
#include "cli_support.h"

#include <math.h>

/* Two chains with a water of the first behind them; and the same with the second one moved. */
static void write_molecules(void)
{
    for (int moved = 0; moved < 2; moved++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "ATOM 1 N ALA A 1 0 0 0 0.1 1.7\nATOM 2 CA ALA A 1 1.5 0 0 0.1 1.7\nATOM 3 C ALA A 2 3 1 0 0.1 1.7\n"
                 "ATOM 4 N GLY B 1 9 %d 2 0.1 1.7\nATOM 5 CA GLY B 1 10 %d 3 0.1 1.7\nATOM 6 O HOH A 9 3 8 0 0.1 1.7\n",
                 3 + moved, 3 + moved);
        cli_write_text(moved ? "moved.pqr" : "molecule.pqr", text);
    }
}

static void write_molecule(void)
{
    static const char *const names[] = {"N", "CA", "C", "O", "CB"};
    static char text[4096];
    size_t used = 0;
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "ATOM %d %s ALA A %d %.3f %.3f %.3f 0.1 1.7\n", i + 1,
                                 names[i % 5], i / 5 + 1, 1.3 * i, 2.0 * (i % 3), 1.5 * (i % 4));
    cli_write_text("row.pqr", text);
    cli_write_text("row.pdb", "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n");
    cli_write_text("run.dcd", "none");
}

static void test_a_structure_fits_its_own_density(void **state)
{
    write_molecule();
    cli_run(0, "density: molmap at 4 A, weights: atomic numbers, of 20 atoms\n", "",
            "density-map row.pqr -o out/a.mrc --resolution 4 --spacing 1 --device host");
    cli_expect(0, " nodes, spacing 1 A, values from 0 to ", NULL);
    cli_run(0, "pearson: 1.000000\noverlap: 1.000000\n", "",
            "fit-score out/a.mrc row.pqr --resolution 4 --by residue --gradient -o out/s.csv --device host");
    static const struct {
        const char *file, *begin;
    } tables[] = {{"out/s.csv", "frame,pearson,overlap,mean,deviation\n0,1,1,"},
                  {"out/s_residues.csv", "residue,first_atom,pearson\n1,1,1\n2,6,1\n3,11,1\n4,16,1\n"},
                  {"out/s_gradient.csv", "atom,x,y,z\n1,"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *text = cli_read(tables[i].file, NULL);
        if (strncmp(text, tables[i].begin, strlen(tables[i].begin)) != 0)
            fail_msg("%s: %s", tables[i].file, text);
        free(text);
    }
    cli_run(0, "masked: 1.000000\nthresholded: nan\n", "thresholded is undefined: none of the map's nodes count for it",
            "fit-score out/a.mrc row.pqr --resolution 4 --mask out/a.mrc --threshold 99 --device host");
}

static void test_tables(void **state)
{
    (void)state;
    write_molecules();
    cli_run(0, "written: out/map.mrc", NULL, "density-map molecule.pqr -o out/map.mrc --resolution 4 --device host");
    cli_run(0, "pearson: 1.000000", NULL, "fit-score out/map.mrc molecule.pqr --resolution 4 --device host");
    cli_run(
        0, "pearson: 0.9", NULL,
        "fit-score out/map.mrc moved.pqr --resolution 4 --device host --by segment -o out/s.csv --picture out/s.png");
    char *table = cli_read("out/s_segments.csv", NULL), chain;
    double found[2];
    int first[2];
    assert_int_equal(sscanf(table, "segment,first_atom,pearson\nA,%d,%lf\n%c,%d,%lf\n", &first[0], &found[0], &chain,
                            &first[1], &found[1]),
                     5);
    assert_true(chain == 'B' && first[0] == 1 && first[1] == 4 && found[0] > 0.99 && found[1] < 0.9);
    free(table);
    size_t size;
    char *png = cli_read("out/s.png", &size);
    assert_true(size > 1000 && memcmp(png, "\x89PNG", 4) == 0);
    free(png);
    cli_run(0, "\"by\": \"residue\"", NULL,
            "fit-score out/map.mrc moved.pqr --resolution 4 --device host --by residue --gradient -o out/r.csv "
            "--threshold 0.05 --json -");
    int lines = 0;
    table = cli_read("out/r_residues.csv", NULL);
    for (const char *at = table; *at != '\0'; at++)
        lines += *at == '\n' ? 1 : 0;
    assert_int_equal(lines, 5); /* four residues */
    free(table);
    table = cli_read("out/r_gradient.csv", NULL);
    assert_has(table, "\n6,");
    free(table);
}

/* Atoms without a radius have that of their element. */
static void test_voltool_has_radii(void **state)
{
    static const char *const atoms = "ATOM 1 N ALA A 1 0 0 0 0.1 %s\nATOM 2 HO ALA A 1 1 0 0 0.1 %s\n";
    static const char *const radii[2][2] = {{"0", "0"}, {"1.55", "1.2"}};
    char *made[2], text[256];
    size_t size[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, atoms, radii[i][0], radii[i][1]);
        cli_write_text("radii.pqr", text);
        cli_run(0, "density: voltool at 5 A", "",
                "density-map radii.pqr -o out/r.dx --convention voltool --device host");
        made[i] = cli_read("out/r.dx", &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(made[0], made[1], size[0]);
    cli_run(0, "pearson: 1.000000", "", "fit-score out/r.dx radii.pqr --convention voltool --device host");
    free(made[0]);
    free(made[1]);
    cli_write_text("radii.pqr", "ATOM 1 X ALA A 1 0 0 0 0.1 0\n");
    cli_run(2, "", "its name tells no element that has one: the convention molmap needs none",
            "density-map radii.pqr -o out/r.dx --convention voltool --weights charge --device host");
}

static void test_refusals(void **state)
{
    static const cli_failing cases[] = {
        {"density-map row.pqr -o out/b.mrc --resolution 1 --spacing 2", 2, "finer than the grid"},
        {"density-map row.pqr -o out/b.mrc --like a.mrc --spacing 2", 1, "--like and --spacing exclude each other"},
        {"density-map row.pdb -o out/b.mrc", 2, "type python3 -m leyden density-map row.pdb -o out/b.mrc"},
        {"fit-score a.mrc row.pdb", 2, "type python3 -m leyden fit-score a.mrc row.pdb -o score.csv"},
        {"fit-score a.mrc row.pqr run.dcd", 1, "frames of trajectories are for Python, python3 -m leyden --help"},
        {"fit-score a.mrc row.pqr --window-radius 2", 1,
         "--window-radius is for local correlations: --by residue asks for them"},
        {"fit-score a.mrc row.pqr --by residue", 1, "--by writes a table: add -o FILE.csv"},
        {"fit-score map.mrc moved.pqr --picture out/s.png", 1, "--picture draws what --by gives"},
        {"fit-score map.mrc moved.pqr --by residue", 1, "--by writes a table"},
        {"fit-score map.mrc moved.pqr --by residue -o out/s.csv --picture out/s.jpg", 1, "must end in .png"},
        {"fit-score map.mrc moved.pqr --by segment -o out/s.csv --picture out/s.csv", 1, "must end in .png"},
        {"fit-score map.mrc moved.pqr --resolution 0.5", 2, "finer than the grid"},
    };
    (void)state;
    write_molecule();
    write_molecules();
    cli_run(0, NULL, NULL, "density-map row.pqr -o a.mrc --resolution 4 --spacing 1 --device host -q");
    cli_run(0, NULL, NULL, "density-map molecule.pqr -o map.mrc --resolution 4 --device host");
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_a_structure_fits_its_own_density,
                     test_tables, test_voltool_has_radii, test_refusals);
}
