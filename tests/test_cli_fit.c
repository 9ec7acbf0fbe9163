/* leyden density-map and leyden fit-score: what they say and write, and what is refused. */
#include "cli_support.h"

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

static void test_refuses(void **state)
{
    write_molecule();
    cli_run(0, NULL, NULL, "density-map row.pqr -o a.mrc --resolution 4 --spacing 1 --device host -q");
    static const cli_failing cases[] = {
        {"density-map row.pqr -o out/b.mrc --resolution 1 --spacing 2", 2, "finer than the grid"},
        {"density-map row.pqr -o out/b.mrc --like a.mrc --spacing 2", 1, "--like and --spacing exclude each other"},
        {"density-map row.pdb -o out/b.mrc", 2, "for files without charges type: python3 -c 'import leyden; "},
        {"fit-score a.mrc row.pdb", 2, "for files without charges type: python3 -m leyden fit-score MAP STRUCTURE"},
        {"fit-score a.mrc row.pqr run.dcd", 1, "frames of trajectories are for Python, python3 -m leyden --help"},
        {"fit-score a.mrc row.pqr --window-radius 2", 1,
         "--window-radius is for local correlations: --by residue asks for them"},
        {"fit-score a.mrc row.pqr --by residue", 1, "--by writes a table: add -o FILE.csv"},
    };
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_a_structure_fits_its_own_density,
                     test_refuses);
}
