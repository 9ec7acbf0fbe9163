/* `leyden generate` and `leyden convert` from end to end, and the commands that read what they
 * write. */
#include "cli_support.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static ley_atoms *read_atoms(const char *name)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    assert_ok(ley_atoms_read(cli_path(name), &atoms, &error));
    return atoms;
}

/* ---- generate -------------------------------------------------------------------------------- */

static void test_generate(void **state)
{
    cli_run(0, "box: 30,000 atoms of water, side 66.4372 A, seed 1\ntime: ", NULL, "generate waterbox -o out/a.pqr");
    cli_expect(0, "\nwritten: out/a.pqr, 2.1 MiB\n", NULL);
    cli_run(0, "written: ", NULL, "generate waterbox -o out/b.pqr --seed 1 --atoms 30000");
    cli_assert_same_files("out/a.pqr", "out/b.pqr");
    cli_run(0, "seed 2\n", NULL, "generate waterbox -o out/c.pqr --seed 2");
    assert_false(cli_same_files("out/a.pqr", "out/c.pqr"));
    ley_atoms *atoms = read_atoms("out/a.pqr");
    assert_int_equal(ley_atoms_count(atoms), 30000);
    ley_atoms_destroy(atoms);
    const cli_result *r = cli_run(0, "box: 300 atoms of water", NULL, "generate waterbox -o out/d.atoms --atoms 302");
    cli_expect(0, "\nrounded down: 302 atoms are no whole molecules\n", NULL);
    assert_string_equal(r->err, "");
    r = cli_run(0, NULL, NULL, "generate waterbox --quiet -o out/e.pqr.gz --atoms 302");
    assert_string_equal(r->out, "");
    assert_string_equal(r->err, "");
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 5);
}

/* The grid that measurements are quoted for. */
static void test_the_reference_box(void **state)
{
    ley_error error = {0};
    ley_grid grid;
    cli("generate waterbox --atoms 1534539 --seed 1 -o out/box.pqr");
    cli_expect(0, "box: 1,534,539 atoms of water, side 246.6212 A, seed 1", NULL);
    ley_atoms *atoms = read_atoms("out/box.pqr");
    assert_ok(ley_grid_around(atoms, 0.5, 0.25, &grid, &error));
    for (int axis = 0; axis < 3; axis++)
        assert_int_equal(grid.n[axis], 494);
    ley_atoms_destroy(atoms);
}

static void test_generate_refuses(void **state)
{
#define GENERATE "generate waterbox -o out/a.pqr "
    static const cli_failing cases[] = {
        {"generate", 1, "KIND is missing"},
        {"generate waterbox", 1, "--output ATOMS is missing"},
        {"generate waterbx -o out/a.pqr", 1,
         "unknown kind of atoms 'waterbx' (did you mean 'waterbox'?); there is waterbox"},
        {"generate gold -o out/a.pqr", 1, "unknown kind of atoms 'gold'; there is waterbox"},
        {GENERATE "--atoms 2", 1, "--atoms: 2 is out of range"},
        {GENERATE "--atoms -3", 1, "--atoms: -3 is out of range"},
        {GENERATE "--atoms 1e6", 1, "--atoms takes a whole number"},
        {GENERATE "--atoms 2147483648", 1, "--atoms: 2147483648 is out of range"},
        {GENERATE "--seed -1", 1, "--seed: -1 is out of range"},
        {GENERATE "--seeed 1", 1, "unknown option '--seeed' (did you mean '--seed'?)"},
        {"generate waterbox -o out/a.xyz", 1, "--output: 'out/a.xyz' must end in .pqr, .pqr.gz or .atoms"},
        {"generate waterbox -o out/a.atoms.gz", 1, "must end in .pqr, .pqr.gz or .atoms"},
        {"generate waterbox -o out/.pqr", 1, "must end in"},
        {"generate waterbox -o none/a.pqr", 2, "none/a.pqr: No such file or directory"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void interrupt_writing(const char *name, int signal_number, int code)
{
    pid_t child = cli_start("generate waterbox --atoms 100000000 -o out/%s", name);
    for (int ms = 0; ms < 300000 && cli_each_file(CLI_OUT, NULL) == 0; ms++)
        usleep(1000);
    kill(child, signal_number);
    const cli_result *r = cli_wait(child);
    cli_expect(code, NULL, "cancelled");
    assert_string_equal(r->out, "");
    cli_assert_nothing_left();
}

static void test_interrupted(void **state)
{
    interrupt_writing("a.pqr", SIGINT, 130);
    interrupt_writing("a.pqr.gz", SIGTERM, 143);
    interrupt_writing("a.atoms", SIGINT, 130);
    /* What was there before stays. */
    cli_write_text("out/a.atoms", "old");
    pid_t child = cli_start("generate waterbox --atoms 100000000 -o out/a.atoms");
    cli_wait_for_work(child, 0.2);
    kill(child, SIGINT);
    cli_wait(child);
    cli_expect(130, NULL, NULL);
    char *text = cli_read("out/a.atoms", NULL);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

/* ---- convert --------------------------------------------------------------------------------- */

static void test_convert(void **state)
{
    cli_run(0, "molecule: ion.pqr, 40 atoms, total charge ", NULL, "convert ion.pqr -o out/a.atoms");
    cli_expect(0, "written: out/a.atoms, 1.6 KiB, ", NULL);
    cli_run(0, "molecule: a.atoms, 40 atoms", NULL, "convert out/a.atoms -o out/b.pqr.gz");
    cli_run(0, "molecule: b.pqr.gz, 40 atoms", NULL, "convert out/b.pqr.gz -o out/c.pqr");
    const cli_result *r = cli_run(0, NULL, NULL, "convert out/c.pqr -o out/d.atoms -q");
    assert_string_equal(r->out, "");
    cli_assert_same_files("out/a.atoms", "out/d.atoms");
    char *packed = cli_read("out/b.pqr.gz", NULL);
    assert_memory_equal(packed, "\x1f\x8b", 2);
    free(packed);
    /* The name of what is read does not matter. */
    cli("convert out/a.atoms -o out/e.pqr");
    assert_int_equal(rename(cli_path("out/a.atoms"), cli_path("out/f.pqr")), 0);
    cli_run(0, NULL, NULL, "convert out/f.pqr -o out/g.pqr");
    cli_assert_same_files("out/e.pqr", "out/g.pqr");
    cli_assert_same_files("out/e.pqr", "out/c.pqr");
}

static void write_bad_files(void)
{
    size_t size;
    cli("convert ion.pqr -o out/a.atoms");
    char *bytes = cli_read("out/a.atoms", &size);
    cli_write("good.atoms", bytes, size);
    cli_write("cut.atoms", bytes, size / 2);
    bytes[1000] ^= 1;
    cli_write("bent.atoms", bytes, size);
    cli_write("empty.atoms", "", 0);
    gzFile packed = gzopen(cli_path("packed.atoms"), "wb");
    gzwrite(packed, bytes, (unsigned)size);
    gzclose(packed);
    free(bytes);
    cli_empty(NULL);
}

static void test_convert_refuses(void **state)
{
    write_bad_files();
    static const cli_failing cases[] = {
        {"convert", 1, "IN is missing"},
        {"convert ion.pqr", 1, "--output OUT is missing"},
        {"convert ion.pqr -o out/a.pdb", 1, "--output: 'out/a.pdb' must end in .pqr, .pqr.gz or .atoms"},
        {"convert ion.pqr -o out/../ion.pqr", 1, "--output: 'out/../ion.pqr' is the file of the atoms"},
        {"convert none.pqr -o out/a.pqr", 2, "none.pqr: No such file or directory"},
        {"convert . -o out/a.pqr", 2, ".: Is a directory"},
        {"convert ion.pqr -o none/a.pqr", 2, "none/a.pqr: No such file or directory"},
        {"convert cut.atoms -o out/a.pqr", 2, "cut.atoms: cut short: 816 bytes, but its 40 atoms take 1632"},
        {"convert bent.atoms -o out/a.pqr", 2, "bent.atoms: damaged: its checksum is wrong"},
        {"convert empty.atoms -o out/a.pqr", 2, "empty.atoms: no ATOM or HETATM record"},
        {"convert packed.atoms -o out/a.pqr", 2, "packed.atoms:"},
        {"map bent.atoms -o out/a.dx", 2, "bent.atoms: damaged: its checksum is wrong"},
        {"boundary cut.atoms -o out/a.dx --dims 9,9,9 --glen 20,20,20", 2, "cut.atoms: cut short"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- Others ---------------------------------------------------------------------------------- */

static void assert_same_values(const char *a, const char *b)
{
    ley_map *map_a = cli_read_map(a), *map_b = cli_read_map(b);
    const int64_t n = ley_grid_points(ley_map_grid(map_a));
    assert_int_equal(n, ley_grid_points(ley_map_grid(map_b)));
    assert_memory_equal(ley_map_read_values(map_a), ley_map_read_values(map_b), (size_t)n * sizeof(float));
    ley_map_destroy(map_a);
    ley_map_destroy(map_b);
}

static void test_map_and_boundary_read_both_forms(void **state)
{
    cli_run(0, NULL, NULL, "convert ion.pqr -o out/ion.atoms");
    for (int i = 0; i < 2; i++) {
        const char *input = i == 0 ? "ion.pqr" : "out/ion.atoms";
        cli("map %s -o out/map%d.dx --dims 20,9,5 --spacing 0.75 --device 0 --variant tiled8 --math standard", input,
            i);
        cli_expect(0, "written: ", NULL);
        cli("boundary %s -o out/boundary%d.dx --dims 9,8,7 --glen 30,28,33 --bcfl sdh", input, i);
        cli_expect(0, "written: ", NULL);
    }
    assert_same_values("out/map0.dx", "out/map1.dx");
    assert_same_values("out/boundary0.dx", "out/boundary1.dx");
}

static void test_help(void **state)
{
    static const char *const names[] = {"generate", "convert"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_non_null(strstr(cli("help")->out, names[i]));
        cli_run(0, "--output", NULL, "help %s", names[i]);
    }
    cli_run(0, "or .atoms; - is PQR", NULL, "help map");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_generate, test_the_reference_box,
                     test_generate_refuses, test_interrupted, test_convert, test_convert_refuses,
                     test_map_and_boundary_read_both_forms, test_help);
}
