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

static void test_refusals(void **state)
{
    static const cli_failing cases[] = {
        {"fit-score map.mrc moved.pqr --picture out/s.png", 1, "--picture draws what --by gives"},
        {"fit-score map.mrc moved.pqr --by residue", 1, "--by writes a table"},
        {"fit-score map.mrc moved.pqr --by residue -o out/s.csv --picture out/s.jpg", 1, "must end in .png"},
        {"fit-score map.mrc moved.pqr --by segment -o out/s.csv --picture out/s.csv", 1, "must end in .png"},
        {"fit-score map.mrc moved.pqr --resolution 0.5", 2, "finer than the grid"},
    };
    (void)state;
    write_molecules();
    cli_run(0, NULL, NULL, "density-map molecule.pqr -o map.mrc --resolution 4 --device host");
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_tables, test_refusals);
}
