/* leyden ions: what it says, files, what is refused, devices that fail. */
#include "cli_support.h"

#include <unistd.h>

/* Ten charges in a row, and two waters, the second of which has its oxygen last. */
static void write_molecule(void)
{
    static char text[4096];
    size_t used = 0;
    for (int i = 0; i < 10; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "ATOM %d CA ALA A %d %.3f %.3f 0.500 %.4f 1.7\n",
                                 i + 1, i + 1, 1.5 * i, 0.3 * (i % 3), i % 2 == 0 ? 0.9 : -0.3);
    snprintf(text + used, sizeof text - used,
             "ATOM 11 OW SOL W 11 3.0 11.0 0.0 -0.834 1.7\nATOM 12 HW1 SOL W 11 3.7 11.5 0.0 0.417 0.2\n"
             "ATOM 13 HW2 SOL W 11 2.3 11.5 0.0 0.417 0.2\nATOM 14 H1 HOH W 12 9.7 -11.5 0.0 0.417 0.2\n"
             "ATOM 15 H2 HOH W 12 8.3 -11.5 0.0 0.417 0.2\nATOM 16 O HOH W 12 9.0 -11.0 0.0 -0.834 1.7\nTER\nEND\n");
    cli_write_text("row.pqr", text);
}

static void assert_in_file(const char *name, const char *part, bool is_there)
{
    char *text = cli_read(name, NULL);
    if ((strstr(text, part) != NULL) != is_there)
        fail_msg("%s: '%s' is %sthere", name, part, is_there ? "not " : "");
    free(text);
}

static void test_files(void **state)
{
    write_molecule();
    cli_run(0, "ions: 1 NA, 4 CL", NULL,
            "ions row.pqr -o out/a.pqr --ion NA,+1,1 --ion CL --neutralise --spacing 1 --device host");
    cli_expect(0, "charge: +3 e before, +0 e with the ions", NULL);
    assert_in_file("out/a.pqr", "ATOM 16 O HOH W 12 9.0 -11.0 0.0 -0.834 1.7\nTER\nHETATM   17 CL   CL     13    ",
                   true);
    assert_in_file("out/a.pqr", "\nEND\n", true);
    cli_run(0, NULL, NULL, "map out/a.pqr -o out/a.dx --spacing 4 --device host");
    /* Charges of single precision, written to all digits. */
    cli_write_text("noise.pqr", "ATOM 1 C ALA A 1 0 0 0 0.30000001192092896 1.7\nATOM 2 C ALA A 1 3 0 0 -0.3 1.7\n");
    cli_run(0, "charge: +0 e before, -1 e with the ions", NULL,
            "ions noise.pqr -o out/n.pqr --ion CL,-1,1 --spacing 1 --device host");
}

static void test_outputs(void **state)
{
    write_molecule();
    cli_run(0, NULL, NULL, "ions row.pqr -o out/b.pdb --ion CL,-1,3 --spacing 1 --device host --json out/b.json");
    assert_in_file("out/b.pdb", "ATOM      1  CA  ALA A   1       0.000   0.000   0.500  1.00  0.00\n", true);
    assert_in_file("out/b.pdb", "HETATM   17 CL   CL     13    ", true);
    cli_run(0, NULL, NULL, "ions row.pqr -o out/c.pqr --ions-only --ion CL,-1,3 --spacing 1 --device host -q");
    assert_in_file("out/c.pqr", "ATOM", false);
    cli_python("import json\n"
               "d = json.load(open('out/b.json'))\n"
               "assert [i['order'] for i in d['ions']] == [1, 2, 3] and d['options']['ion'] == ['CL,-1,3']\n"
               "e = [i['energy_kcal_mol'] for i in d['ions']]\n"
               "assert d['units'] == 'kT/e e' and abs(d['ions'][0]['energy'] / e[0] - 1.6878) < 1e-3\n"
               "lines = [l.split() for l in open('out/c.pqr')]\n"
               "assert len(lines) == 3\n"
               "for l, i in zip(lines, d['ions']):\n"
               "    assert all(abs(float(a) - b) < 1e-4 for a, b in zip(l[5:8], i['position_A'])), (l, i)\n"
               "    assert l[2] == l[3] == 'CL' and float(l[8]) == -1\n");
}

/* The first water is 10.5 A away from the positive end, the second one nearer to the negative. */
static void test_waters(void **state)
{
    write_molecule();
    cli_run(0, "waters: 2, 2 of them more than 6 A from the solute, 1 replaced", NULL,
            "ions row.pqr -o out/w.pqr --ion CL,-1,1 --replace-waters --device host");
    assert_in_file("out/w.pqr", "HW1", false);
    assert_in_file("out/w.pqr", "H1 HOH", true);
    assert_in_file("out/w.pqr", "HETATM   14 CL   CL     13    3.0000 11.0000 0.0000 -1.0000 2.2700\nEND\n", true);
    cli_run(2, NULL,
            "there is no room for ion 3 of 3, CL: all waters are within 6 A of the solute or 10 A of ions, of "
            "which 2 were placed",
            "ions row.pqr -o out/x.pqr --ion CL,-1,3 --replace-waters --device host");
    cli_run(2, NULL, "no residue is a water", "ions ion.pqr -o out/x.pqr --ion CL,-1,3 --replace-waters --device host");
    /* One of them at 6 A is too near; the other one takes its charge with it. */
    cli_write_text("edge.pqr", "ATOM 1 C LIG 1 0 0 0 1 1.7\nATOM 2 O HOH 2 6 0 0 -0.8 1.5\n"
                               "ATOM 3 O HOH 3 0 6.01 0 -0.8 1.5\nATOM 4 H HOH 3 0 7 0 0.3 1\n");
    cli_run(0,
            "waters: 2, 1 of them more than 6 A from the solute, 1 replaced\nions: 1 CL\n"
            "charge: -0.3 e before, -0.8 e with the ions",
            "no whole number", "ions edge.pqr -o out/e.pqr --ion CL,-1,1 --replace-waters --device host");
}

/* A cell by its lengths and angles, and by its vectors. */
static void test_oblique_cells(void **state)
{
    write_molecule();
    cli_run(
        0, "placing", NULL,
        "ions row.pqr -o out/six.pqr --ion CL,-1,2 --spacing 2 --periodic xyz --cell 60,60,60,90,90,60 --device host");
    cli_run(0, "placing", NULL,
            "ions row.pqr -o out/nine.pqr --ion CL,-1,2 --spacing 2 --periodic xyz --cell "
            "60,0,0,30,51.96152422706632,0,0,0,60 --device host");
    char *six = cli_read("out/six.pqr", NULL);
    assert_in_file("out/nine.pqr", six, true);
    free(six);
}

static void test_refuses(void **state)
{
    write_molecule();
    static const cli_failing cases[] = {
        {"ions row.pqr -o out/a.pqr", 1, "--ion"},
        {"ions row.pqr -o out/a.pqr --ion CL", 1,
         "add --neutralise or --concentration 0.15, or a count: --ion CL,-1,6"},
        {"ions row.pqr -o out/a.pqr --ion XX --neutralise", 1, "no ion 'XX' is known, so say its charge: --ion XX,+1"},
        {"ions row.pqr -o out/a.pqr --ion XX,0,3", 1, "has a charge of 0, and an ion has one: --ion XX,+1"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,-3", 1, "no count of ions at its end"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,2.5", 1, "no count of ions at its end"},
        {"ions row.pqr -o out/a.pqr --ion CL,a", 1, "has no charge in e behind the name: --ion CL,+1,6"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3,9", 1, "more than name, charge and count"},
        {"ions row.pqr -o out/a.pqr --ion LONGER,-1,3", 1, "no name of 1 to 4 letters"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --ion CL,-1,2", 1, "--ion CL is given twice"},
        {"ions row.pqr -o out/a.pqr --ion NA,1 --concentration 0.1", 1, "there is no anion: add --ion CL,-1"},
        {"ions row.pqr -o out/a.pqr --ion NA,1 --neutralise --device host --spacing 2", 1, "no anion is named"},
        {"ions row.pqr -o out/a.xyz --ion CL,-1,3", 1, "must end in .pqr or .pdb"},
        {"ions row.pqr -o row.pqr --ion CL,-1,3", 1, "row.pqr"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --cell 30,30,30", 1, "--cell needs --periodic"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --periodic xyz", 1, "--periodic needs --cell"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --periodic xyz --cell 60,60,60 --padding 5", 1, "exclude each other"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --periodic xyz --cell 60,60,60,90,90", 1, "--cell takes 3 numbers"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --periodic xyz --cell 60,60,60 --distance-dielectric", 1,
         "open space"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --replace-waters --spacing 1", 1, "there is no grid"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --spacing 1,2,1", 1, "three different numbers need --dims"},
        {"ions - -o out/a.pqr --ion CL,-1,3", 1, "standard input is read once"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3000 --spacing 2 --device host", 2, "there is no room for ion"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --spacing 2 --from-solute 60 --device host", 2, "ion 1 of 3, CL"},
        {"ions row.pqr -o out/a.pqr --ion CL,-1,3 --from-solute 0", 1, "from-solute"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void test_remarks(void **state)
{
    write_molecule();
    cli_write_text("half.pqr", "ATOM 1 C LIG 1 0 0 0 0.5 1.7\n");
    cli_run(0, NULL, "a charge of +0.5000 e is no whole number",
            "ions half.pqr -o out/h.pqr --ion CL,-1,1 --spacing 2 --device host");
    /* A model's number comes before its atoms; half of an ion's charge may be left; of equals the
     * first named comes first. */
    cli_write_text("model.pqr",
                   "MODEL 1\nATOM 1 C LIG 1 0 0 0 -1 1.7\nENDMDL\nMODEL 2\nATOM 1 C LIG 1 9 0 0 3 1.7\nENDMDL\n");
    cli_run(0, "ions: none", "no ion is needed",
            "ions model.pqr -o out/m.pqr --ion CA --neutralise --spacing 2 --device host");
    cli_run(0, NULL, NULL,
            "ions model.pqr -o out/o.pqr --ions-only --ion K,1,1 --ion NA,1,1 --spacing 2 --device host");
    char *order = cli_read("out/o.pqr", NULL);
    assert_true(strstr(order, "NA") != NULL && strstr(order, " K ") != NULL &&
                strstr(order, " K ") < strstr(order, "NA"));
    free(order);
    cli_write_text("none.pqr", "ATOM 1 C LIG 1 0 0 0 0.5 1.7\nATOM 2 C LIG 1 2 0 0 -0.5 1.7\n");
    cli_run(0, "ions: none", "no ion is needed",
            "ions none.pqr -o out/n.pqr --ion CL --ion NA --neutralise --spacing 2 --device host");
}

/* The n-th call fails, or values are wrong: where that is while ions are placed, the host places
 * them where they belong; where the potential fails, so does the command, and leaves no file. */
static void test_faulty_devices(void **state)
{
    static const char *const faults[] = {
        "call=clEnqueueNDRangeKernel,fault=fail,ever=1", "call=clEnqueueReadBuffer,fault=scale,ever=1",
        "call=clEnqueueReadBuffer,fault=nan,ever=1",     "call=clCreateBuffer,fault=fail,ever=1",
        "call=clEnqueueNDRangeKernel,fault=skip",        "call=clEnqueueWriteBuffer,fault=fail,ever=1",
    };
    const int most = support_is_quick() ? 12 : 40, step = support_is_quick() ? 2 : 1;
    write_molecule();
    cli_run(0, "placing", NULL, "ions row.pqr -o out/right.pqr --ion CL,-1,4 --spacing 1 --device host");
    char *right = cli_read("out/right.pqr", NULL);
    cli_run(0, NULL, NULL, "ions row.pqr -o out/d.pqr --ion CL,-1,4 --spacing 1 --device opencl:0");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int survived = 0;
        for (int at = 2; at <= most; at += step) {
            char words[256];
            snprintf(words, sizeof words, "%s,at=%d", faults[i], at);
            unlink(cli_path("struck"));
            unlink(cli_path("out/d.pqr"));
            const cli_result *r =
                cli("%sions row.pqr -o out/d.pqr --ion CL,-1,4 --spacing 1 --device opencl:0 -v", cli_faulty(words));
            const bool has_struck = access(cli_path("struck"), F_OK) == 0;
            if (r->code != 0) {
                assert_true(has_struck && r->code >= 3 && r->code <= 5);
                assert_int_not_equal(access(cli_path("out/d.pqr"), F_OK), 0);
                continue;
            }
            survived += has_struck && strstr(r->err, "ions are placed without") != NULL;
            char *found = cli_read("out/d.pqr", NULL);
            assert_string_equal(found, right);
            free(found);
        }
        if (survived == 0)
            fail_msg("%s: never while ions were placed", faults[i]);
    }
    free(right);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_files, test_outputs, test_waters,
                     test_oblique_cells, test_refuses, test_remarks, test_faulty_devices);
}
