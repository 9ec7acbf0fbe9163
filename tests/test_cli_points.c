/* `leyden map --points` from end to end: tables of potentials, what is refused, devices that
 * fail. */
#include "cli_support.h"

#include "parallel.h"

#include <unistd.h>

#define AT "map ion.pqr --points p.csv -o out/a.csv "

static void write_points(void)
{
    cli_write_text("p.csv", "x,y,z\n2.5,3,4\n# far\n-15.5 1e1 0\n30,30,30\n0.1, 0.2, 0.30000000000000004\n1e8 0 0\n");
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_wrong_options(void **state)
{
    write_points();
    cli_write_text("few.txt", "# none\n-\n");
    cli_write_text("word.txt", "1,2\n3 0\n-\n-\n-\n");
    cli_write_text("beyond.txt", "1 2\n\n-\n-\n-\n50 # of 40\n");
    static const cli_failing cases[] = {
        {AT "--dims 9,9,9", 1, "--points and --dims exclude each other"},
        {AT "--spacing 1", 1, "--points and --spacing exclude each other"},
        {AT "--padding 5", 1, "--points and --padding exclude each other"},
        {AT "--like a.dx", 1, "--points and --like exclude each other"},
        {AT "--exclude nosuch.txt", 2, "nosuch.txt: No such file or directory"},
        {AT "--exclude few.txt", 2,
         "few.txt: 1 line for 5 points: each point has a line, a - where it excludes no atom"},
        {AT "--exclude word.txt", 2, "word.txt:2: '0' is no atom's number: they count from 1"},
        {AT "--exclude beyond.txt", 2, "beyond.txt:6: there is no atom number '50': the molecule has 40 atoms"},
        {AT "--origin 1,2,3", 1, "--points and --origin exclude each other"},
        {AT "--slab 4", 1, "--points and --slab exclude each other"},
        {AT "--method cutoff --binning host", 1, "--points and --binning exclude each other"},
        {AT "--method cutoff --transposition host", 1, "--points and --transposition exclude each other"},
        {AT "--method cutoff --variant halves16", 1, "--variant: 'halves16' is none of group64, vector4"},
        {AT "--method msm", 2, "which are too many: take a wider mesh spacing"},
        {AT "--method msm --mesh-spacing 13", 1, "mesh spacing 13 A, must be above 0"},
        {AT "--method msm --periodic x --cell 10,10,10 --kappa 1e-6", 2, "take at least 4e-06 / A"},
        {AT "--cutoff 5", 1, "--cutoff"},
        {AT "--variant unroll8", 1, "--variant: 'unroll8' is none of simple, tiled8"},
        {AT "--json out/a.csv", 1, "--json: 'out/a.csv' is the file of the "},
        {"map ion.pqr --points p.csv -o out/a.dx", 1,
         "--output: 'out/a.dx' must end in .csv or .npy, as --points is given"},
        {"map ion.pqr --points p.csv", 1, "--output MAP is missing"},
        {"map ion.pqr --points -o out/a.csv", 1, ""},
        {"map ion.pqr -o out/a.csv", 1, "'out/a.csv' must end in .dx, .raw"},
        {"map ion.pqr --points p.csv -o p.csv", 1, "--output: 'p.csv' is the file of the points"},
        {"map ion.pqr --points ion.pqr -o out/a.csv --exclude nosuch", 2, "nosuch: No such file or directory"},
        {"map ion.pqr --points nosuch.csv -o out/a.csv", 2, "nosuch.csv: No such file or directory"},
        {"map ion.pqr --points p.csv -o nodir/a.csv", 2, "nodir/a.csv: No such file or directory"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* One charge and a point on it, beside one more: a warning, until it is excluded. */
static void test_exclusions(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --pair coulomb --cutoff 9",
                                          "msm --periodic xyz --cell 12,12,12 --cutoff 5 --mesh-spacing 1"};
    static const double right[] = {-112.09, -112.09, -133.74};
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    cli_write_text("on.csv", "1,1,1.005\n3.5,1,1\n");
    cli_write_text("lists.txt", "1\n-\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map two.pqr --points on.csv -o out/a.csv --json out/a.json --method %s", methods[i]);
        cli_expect(0, NULL,
                   "on.csv: 1 point is within 0.01 A of charges, whose own potential dominates there; the first one "
                   "is point 1 at (1, 1, 1.005) A, beside atom 1: --exclude self leaves such charges out");
        cli_python("import json\nassert json.load(open('out/a.json'))['points_on_charges'] == 1\n"
                   "assert float(open('out/a.csv').read().split()[-2].split(',')[3]) > 1e4\n");
        cli("map two.pqr --points on.csv -o out/self.csv --json out/a.json --exclude self --method %s", methods[i]);
        cli_expect(0, NULL, "");
        cli("map two.pqr --points on.csv -o out/file.csv --exclude lists.txt --method %s", methods[i]);
        cli_expect(0, NULL, "");
        char script[500];
        snprintf(script, sizeof script,
                 "import json\nassert json.load(open('out/a.json'))['points_on_charges'] == 0\n"
                 "rows = [open('out/%%s.csv' %% w).read().split()[-2] for w in ('self', 'file')]\n"
                 "assert '# excluded: the atoms at each point\\n' in open('out/self.csv').read()\n"
                 "assert rows[0] == rows[1] and abs(float(rows[0].split(',')[3]) - %g) < 0.2, rows\n",
                 right[i]);
        cli_python(script);
    }
}

/* The command's own tables, as text and as an array, are lists of points again. */
static void test_own_tables(void **state)
{
    write_points();
    static const char *const tables[] = {"a.csv", "a.npy"};
    cli_run(0, NULL, "", "map ion.pqr --points p.csv -o out/first.csv --field --device host");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        cli_run(0, NULL, "", "map ion.pqr --points p.csv -o out/%s --field --device host", tables[i]);
        cli_run(0, NULL, "", "map ion.pqr --points out/%s -o out/again.csv --field --device host", tables[i]);
        cli_python("assert open('out/again.csv').read() == open('out/first.csv').read()\n"
                   "assert open('out/a.csv').read() == open('out/first.csv').read()\n");
    }
    cli_python("import struct\nbytes = open('out/a.npy', 'rb').read()\n"
               "assert b\"'descr': '<f8', 'fortran_order': False, 'shape': (5, 7), \" in bytes[:128]\n"
               "rows = list(struct.iter_unpack('<7d', bytes[128:]))\n"
               "text = [row.split(',') for row in open('out/first.csv') if row[0] not in '#x']\n"
               "assert rows == [tuple(float(word) for word in row) for row in text] and len(rows) == 5\n");
    cli_run(0, NULL, NULL, "boundary ion.pqr --points out/a.csv -o out/b.csv --bcfl sdh");
}

/* Points that are atoms, of the same molecule and of another one with the same residues. */
static void test_residues(void **state)
{
    cli_write_text("res.pqr", "ATOM 1 N ALA A 1 0 0 0 0.5 1.5\nATOM 2 C ALA A 1 1.5 0 0 -0.2 1.5\n"
                              "ATOM 3 N GLY A 1B 5 0 0 1 1.5\nATOM 4 N GLY B 1 0 6 0 -1 1.5\n");
    cli_write_text("beside.pqr", "ATOM 1 X ALA A 1 0 0 2 0 0\nATOM 2 X XXX C 7 0 0 2 0 0\n");
    cli_write_text("list.csv", "1.5,0,0.001\n9,9,9\n");
    cli_write_text("none.pqr", "ATOM 1 X XXX C 7 0 0 2 0 0\n");
    static const struct {
        const char *points, *right; /* sums of q/r of the atoms that are left */
    } cases[] = {
        {"res.pqr", "[1/5 - 1/6, 1/3.5 - 1/38.25**.5, .5/5 - .2/3.5 - 1/61**.5, .5/6 - .2/38.25**.5 + 1/61**.5]"},
        {"beside.pqr", "[1/29**.5 - 1/40**.5, .5/2 - .2/6.25**.5 + 1/29**.5 - 1/40**.5]"},
        {"list.csv", "[1/(3.5**2 + 1e-6)**.5 - 1/(38.25 + 1e-6)**.5, .5/243**.5 - .2/(7.5**2 + 162)**.5 + 1/178**.5 "
                     "- 1/171**.5]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[900];
        cli_run(0, NULL, "", "map res.pqr --points %s --exclude residue -o out/a.csv", cases[i].points);
        snprintf(script, sizeof script,
                 "text = open('out/a.csv').read()\nassert '# excluded: the atoms of each point' in text\n"
                 "rows = [float(row.split(',')[3]) for row in text.split('phi\\n')[1].split()]\n"
                 "right = %s\nassert len(rows) == len(right)\n"
                 "assert all(abs(a / rows[0] - b / right[0]) < 2e-5 for a, b in zip(rows, right)), (rows, right)\n",
                 cases[i].right);
        cli_python(script);
    }
    cli("map res.pqr --points none.pqr --exclude residue -o out/a.csv");
    cli_expect(2, NULL, "--exclude residue: no residue of the points is among those of the atoms");
    cli("convert res.pqr -o res.atoms");
    cli_expect(0, NULL, NULL);
    cli("map res.atoms --points res.pqr --exclude residue -o out/a.csv");
    cli_expect(2, NULL, "--exclude residue: the atoms' residues are unknown");
}

/* Grids by points and padding, by edges and centre, in the other command's words, of a cell and
 * of another map. */
static void test_said_meshes(void **state)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"--dims 6,5,5 --padding 4", "spacing (2.6, 2, 2) A, box 13 x 8 x 8 A from (-3, -3, -3)"},
        {"--dims 5,5,3 --glen 8,8,8 --gcent 1,2,3", "spacing (2, 2, 4) A, box 8 x 8 x 8 A from (-3, -2, -1)"},
        {"--dims 3,3,3 --grid 2 --fgcent mol", "spacing 2 A, box 4 x 4 x 4 A from (1.5, -1, -1)"},
        {"--dims 4,5,8 --method cutoff --periodic xyz --box 20,20,20 --epsilon 2", "spacing (5, 4, 2.5) A"},
        {"--dims 1,1,1 --origin=-0,-0.0,0", "1 x 1 x 1 = 1 point, spacing 0.5 A, box 0 x 0 x 0 A from (0, 0, 0)\n"},
        {"--like out/first.dx", "6 x 5 x 5 = 150 points, spacing (2.6, 2, 2) A, box 13 x 8 x 8 A from (-3, -3, -3)"},
    };
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(0, cases[i].says, NULL, "map two.pqr -o out/%s.dx %s", i == 0 ? "first" : "a", cases[i].options);
    }
    cli("map two.pqr -o out/a.dx --dims 4,5,8 --method cutoff --periodic xyz --cell 20,20,20,70,80,90");
    cli_expect(0, "spacing (5, 4, 2.5) A, box 15 x 16 x 17.5 A at 70, 80, 90 degrees from (0, 0, 0)\n", NULL);
    cli("map two.pqr -o out/b.mrc --like out/a.dx");
    cli_expect(0, "spacing (5, 4, 2.5) A, box 15 x 16 x 17.5 A at 70, 80, 90 degrees from (0, 0, 0)\n", NULL);
}

/* The host does small sums alone, and says so, unless a device is named. */
static void test_by_host(void **state)
{
    static const struct {
        const char *options, *how;
    } cases[] = {
        {"--points on.csv -o out/a.csv", "direct summation"},
        {"--points on.csv -o out/a.csv --exclude self --field", "direct summation"},
        {"--spacing 2 --padding 4 -o out/a.dx", "direct summation"},
        {"--spacing 2 --padding 4 -o out/a.raw --method cutoff --periodic x --cell 15,15,15", "direct summation"},
        {"--dims 5,5,5 -o out/a.mrc --periodic xyz --cell 15,15,15", "Ewald's summation"},
    };
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    cli_write_text("on.csv", "1,1,1.005\n3.4,1,1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[200];
        snprintf(said, sizeof said, "computed by: the host, %s in double precision", cases[i].how);
        cli("LEYDEN_KERNEL_DIR= LEYDEN_CACHE_DIR=nothing map two.pqr --json out/host.json %s -v", cases[i].options);
        cli_expect(0, said, NULL);
        cli_python("import json\nreport = json.load(open('out/host.json'))\n"
                   "assert report['host'] and report['host_check'] and report['devices'] == [], report\n"
                   "assert report['sum'] == 'double' and 0 < report['accuracy']['compared'], report\n"
                   "import os\nassert not any(files for _, _, files in os.walk('nothing'))\n");
        cli("map two.pqr --json out/device.json %s -v", cases[i].options); /* by kernels that are tried */
        cli_expect(0, "device 0: ", NULL);
    }
    cli_run(0, NULL, "", "LEYDEN_KERNEL_DIR= map two.pqr --points on.csv -o out/a.csv --exclude self");
    cli_python("text = open('out/a.csv').read()\n"
               "assert '# computed by: the host, direct summation in double precision\\n' in text, text\n"
               "assert '# verified against: a second sum in extended precision\\n' in text, text\n"
               "first, second = [float(row.split(',')[3]) for row in text.split()[-2:]]\n"
               "assert abs(first / second - (-1 / (25 + .005 ** 2) ** .5) / (1 / 2.4 - 1 / 2.6)) < 1e-12\n");
    cli("LEYDEN_KERNEL_DIR= map two.pqr --dims 5,5,5 -o out/a.mrc -v");
    cli_expect(0, "verified against: a second sum in extended precision\n", NULL);
    cli_python("label = open('out/a.mrc', 'rb').read()[944:1024]\n" /* the last one, which has no more room */
               "assert label.rstrip() == b'verified against: a second sum in extended precision', label\n");
    cli("LEYDEN_KERNEL_DIR= map two.pqr --points on.csv -o out/a.csv --device 0 --exclude self -v");
    cli_expect(0, "device 0: ", NULL);
    cli("LEYDEN_KERNEL_DIR= map two.pqr --points on.csv -o out/a.csv --dry-run --json out/dry.json");
    cli_expect(0, "\nthe host alone, direct summation in double precision of 2 atoms at 2 points: about ", NULL);
    static const char *const dry[] = {"\nplan: method dcs; target points; computed_by host\n",
                                      "\npredicted: host: direct summation ", NULL};
    cli_expect_all(dry);
    cli_python("import json\nreport = json.load(open('out/dry.json'))\n"
               "assert report['by_host'] is True and report['forecast']['devices'] == [], report\n"
               "assert report['forecast']['total_s'] > 0 and report['plan']['computed_by'] == 'host', report\n");
    cli("LEYDEN_KERNEL_DIR= map two.pqr --points on.csv -o out/a.csv --verify 0 --exclude self -v");
    cli_expect(0, "computed by: the host", NULL);
}

/* What is for devices is refused where the host is asked for, in one sentence. */
static void test_not_by_host(void **state)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"--variant simple --method dcs", "the host is to do the job alone, and a kernel's variant is for devices"},
        {"--math native", "and a recipe of roots (math) is for devices"},
        {"--slab 2", "and a limit of slabs is for devices"},
        {"--sum compensated", "and a compensated sum is for devices"},
        {"--method msm --cutoff 10", "the host is to do the job alone, and meshes are for devices"},
        {"--method cutoff --pair q*exp(-r)/r", "and method cutoff does it on devices only where a user's function"},
    };
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(1, NULL, cases[i].says, "map two.pqr -o out/a.dx --spacing 2 --device host %s", cases[i].options);
        cli_assert_nothing_left();
    }
}

/* What stands on the terminal while it is done: no word of devices, of which none is opened. */
static void test_progress_by_host(void **state)
{
    char own[4096] = "", script[8192];
    assert_true(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    *strrchr(own, '/') = '\0'; /* the folder of tests, beside which the command is */
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    snprintf(
        script, sizeof script,
        "import os, pty\nos.environ.pop('LEYDEN_KERNEL_DIR', None)\nsaid = b''\n"
        "def keep(fd):\n    global said\n    data = os.read(fd, 4096)\n    said += data\n    return data\n"
        "pty.spawn(['%s/../leyden', 'map', 'two.pqr', '-o', 'out/a.dx', '--spacing', '2', '--device', 'host'], keep)\n"
        "assert b'computing on the host' in said and b'devices' not in said, said\n",
        own);
    cli_python(script);
}

/* A job that devices do sooner, once their kernels are built, is the host's where there is none. */
static void test_without_devices(void **state)
{
    static const char nothing[] = "LEYDEN_KERNEL_DIR= OCL_ICD_VENDORS=/nonexistent CUDA_VISIBLE_DEVICES=-1";
    static const char job[] = "map molecule.pqr -o out/a.raw --dims 64,64,64 --spacing 1 --json out/a.json";
    /* Half a second on the host, however many cores it has: longer than a device takes to open. */
    cli_write_molecule("molecule.pqr", 2000 * (size_t)parallel_cores(), 20, 5);
    cli_run(0, "device 0: ", NULL, "LEYDEN_KERNEL_DIR= %s --device 0 -v", job);
    cli_run(0, "device 0: ", NULL, "LEYDEN_KERNEL_DIR= %s -v", job);
    cli_run(0, "the host alone, direct summation in double precision of ", NULL, "%s %s --dry-run", nothing, job);
    cli_run(0, "computed by: the host, direct summation", NULL, "%s %s -v", nothing, job);
    /* The plan of it, and the option, have the host do it again, where a device would be sooner. */
    cli("LEYDEN_KERNEL_DIR= map molecule.pqr -o out/b.raw --dims 64,64,64 --spacing 1 --plan out/a.json -v");
    cli_expect(0, "computed by: the host, direct summation", NULL);
    cli_assert_same_files("out/a.raw", "out/b.raw");
    cli("map molecule.pqr -o out/b.raw --dims 64,64,64 --spacing 1 --device host -v");
    cli_expect(0, "computed by: the host, direct summation in double precision\n", NULL);
    cli_assert_same_files("out/a.raw", "out/b.raw");
    cli("map molecule.pqr -o out/b.raw --dims 9,9,9 --device 0 --plan out/a.json");
    cli_expect(1, NULL, "a.json: plan: the host did that job alone, and --device names others");
    cli("%s %s --device 0", nothing, job); /* the report says why it has no results */
    cli_expect(3, NULL, "there is no device");
    char *report = cli_read("out/a.json", NULL);
    assert_non_null(strstr(report, "\"status\": \"LEY_ERROR_NO_DEVICE\""));
    assert_non_null(strstr(report, "\"exit_code\": 3"));
    free(report);
}

/* Points, and what they exclude, from standard input, which is read once. */
static void test_standard_input(void **state)
{
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    cli_write_text("in.txt", "5 5 5\n6 5 5\n");
    cli_write_text("none.txt", "1\n-\n");
    cli("map two.pqr --points in.txt -o out/a.csv -q");
    cli_run(0, NULL, "", "map two.pqr --points - -o out/b.csv -q <%s", cli_path("in.txt"));
    char *right = cli_read("out/a.csv", NULL), *found = cli_read("out/b.csv", NULL);
    assert_string_equal(strstr(right, "x,y,z,phi"), strstr(found, "x,y,z,phi"));
    free(right);
    free(found);
    cli_run(0, NULL, "", "map two.pqr --points in.txt --exclude - -o out/b.csv <%s", cli_path("none.txt"));
    cli("map two.pqr --points - --exclude - -o out/b.csv <%s", cli_path("in.txt"));
    cli_expect(1, NULL, "standard input can be read once: --points and --exclude are both taken from it");
    cli("map - --points - -o out/b.csv <%s", cli_path("in.txt"));
    cli_expect(1, NULL, "standard input can be read once: ATOMS and --points are both taken from it");
}

/* A tolerance is that of the potential, and a field that is off by more is told of: where a point
 * within r_min of a charge has most of the potential's root mean square, and no field. */
static void test_field_beyond_tolerance(void **state)
{
    static const char job[] = "map two.pqr --points near.csv -o out/a.csv --method msm --device 0 --tol 1e-3 "
                              "--splitting optimal --window bspline4 --solver fourier --cutoff 10.5 "
                              "--mesh-spacing 6.01 --periodic xyz --cell 10,11,12 --field";
    cli_write_text("two.pqr", "ATOM 1 X UNK 1 1 1 1 1 1.5\nATOM 2 Y UNK 2 6 1 1 -1 1.5\n");
    cli_write_text("near.csv", "1.02 1 1\n3.5 8 4\n4 9 5\n");
    cli("%s -v", job);
    cli_expect(0, "accuracy of the field",
               "warning: --tol 0.001 applies to the potential; the relative RMS error of the field is 0.0");
    cli("%s -q", job);
    cli_expect(0, NULL, "");
}

/* Its plan is that of the run, and it writes nothing. */
static void test_dry_run(void **state)
{
    cli_write_text("near.csv", "1 2 3\n2.5,3,4\n0 0 0\n");
    static const char *const methods[] = {"dcs", "cutoff --cutoff 9 --field", "msm --field",
                                          "msm --window bspline6 --solver fourier"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map ion.pqr --points near.csv -o out/a.csv --math standard --method %s --dry-run --json out/dry.json",
            methods[i]);
        static const char *const said[] = {"points: 3 of near.csv",
                                           "points' order in space ",
                                           "1 slab of at most 3 points, variant ",
                                           "\npredicted: ",
                                           "\nmemory of device 0, ",
                                           "; target points; math standard",
                                           NULL};
        cli_expect(0, "dry run: nothing is computed, and no file is written\nmemory of the host: ", NULL);
        cli_expect_all(said);
        assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
        cli("map ion.pqr --points near.csv -o out/a.csv --math standard --method %s --json out/run.json -q",
            methods[i]);
        cli_expect(0, NULL, NULL);
        cli_python("import json\n"
                   "dry, run = json.load(open('out/dry.json')), json.load(open('out/run.json'))\n"
                   "for d in dry['plan']['devices'] + run['plan']['devices']:\n"
                   "    d['fft'] = d.get('fft', '').split('-')[0] # tables or none are measured against each other\n"
                   "assert dry['plan'] == run['plan'], (dry['plan'], run['plan'])\n"
                   "d = dry['forecast']['devices'][0]\n"
                   "assert d['slabs'] == 1 == len(run['slabs']) and d['steps_s']['kernels'] > 0, d\n"
                   "assert dry['file_bytes'] is None and dry['points'] == 3, dry\n"
                   "print('fine')\n");
        cli_expect(0, "fine", NULL);
        cli_empty(NULL);
        cli_write_text("near.csv", "1 2 3\n2.5,3,4\n0 0 0\n");
    }
}

static void test_bad_points(void **state)
{
    cli_write_text("short.txt", "1 2 3\n\n4 5\n");
    cli_write_text("far.txt", "1 2 3\n4 1.1e8 6\n");
    cli_write_text("none.txt", "# nothing\n");
    static const cli_failing cases[] = {
        {"map ion.pqr -o out/a.csv --points short.txt", 2, "short.txt:3: no z"},
        {"map ion.pqr -o out/a.csv --points far.txt", 2, "far.txt:2: y '1.1e8' is not within 1e8 A"},
        {"map ion.pqr -o out/a.csv --points none.txt", 2, "none.txt: no points"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- Values ---------------------------------------------------------------------------------- */

#define PYTHON_DCS \
    "import json, math\n" \
    "molecule = [[float(w) for w in line.split()[6:10]] for line in open('ion.pqr')]\n" \
    "points = [(2.5, 3, 4), (-15.5, 10, 0), (30, 30, 30), (0.1, 0.2, 0.30000000000000004), (1e8, 0, 0)]\n" \
    "def lines(name): return open(name).read().split('\\n')\n" \
    "def check(name, C, r_min, tolerance):\n" \
    "    rows = [line for line in lines(name) if not line.startswith('#')]\n" \
    "    assert rows[0] == 'x,y,z,phi' and rows[-1] == '' and len(rows) == 7, rows\n" \
    "    for p, row in zip(points, rows[1:]):\n" \
    "        row = [float(word) for word in row.split(',')]\n" \
    "        assert tuple(row[:3]) == p, (row, p)\n" \
    "        terms = [C*a[3]/max(math.dist(p, a[:3]), r_min) for a in molecule]\n" \
    "        assert abs(row[3]-math.fsum(terms)) <= tolerance*sum(map(abs, terms)), (row, math.fsum(terms))\n"

static void test_values(void **state)
{
    static const char *const said[] = {"points: 5 of p.csv", "in vacuum (dielectric 1); relative RMS error ",
                                       "written: out/a.csv", NULL};
    write_points();
    cli_run(0, NULL, "", AT);
    cli_expect_all(said);
    cli("map ion.pqr --points p.csv -o out/b.csv --method dcs --sum double --units V --dielectric 4 --r-min 3 --json "
        "out/b.json -v");
    cli_expect(0, "limit 1e-12", NULL);
    cli_python(PYTHON_DCS "volt = 14.399645478\n"
                          "check('out/a.csv', volt/(8.617333262e-5*298.15), 0.05, 6e-6)\n"
                          "check('out/b.csv', volt/4, 3, 1e-9)\n"
                          "head = [line for line in lines('out/b.csv') if line.startswith('#')]\n"
                          "assert head[0] == '# method: dcs, direct Coulomb summation', head\n"
                          "assert head[1].startswith('# molecule: ion.pqr, 40 atoms'), head\n"
                          "assert head[2] == '# units: V, dielectric 4, temperature 298.15 K, r_min 3 A', head\n"
                          "assert head[3] == '# math: auto, sum: double', head\n"
                          "assert head[4].startswith('# device: ') and ', variant ' in head[4], head\n"
                          "assert head[5].startswith('# accuracy: error at most '), head\n"
                          "r = json.load(open('out/b.json'))\n"
                          "assert r['points'] == 5 and r['grid'] is None and r['options']['points'] == 'p.csv'\n"
                          "assert r['plan']['method'] == 'dcs' and r['accuracy']['passed']\n"
                          "assert r['accuracy']['points'] == 5 and r['sum'] == 'double'\n");
    /* By its own plan the same bytes; a map's plan is another one. */
    cli("map ion.pqr --points p.csv -o out/c.csv --method dcs --units V --dielectric 4 --r-min 3 --plan out/b.json");
    cli_expect(0, NULL, NULL);
    cli_assert_same_files("out/b.csv", "out/c.csv");
    cli("map ion.pqr -o out/d.dx --dims 5,5,5 --plan out/b.json");
    cli_expect(1, NULL, "plan: it is one for target points, not for grid");
}

/* The field beside the potentials, of all atoms and of pairs. */
static void test_field(void **state)
{
    static const char *const said[] = {"points: 5 of p.csv", ", of the field ", NULL};
    static const char *const methods[] = {"--method dcs", "--sum double",
                                          "--method cutoff --pair coulomb --cutoff 200"};
    write_points();
    for (size_t i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, AT "--field --units kcal/mol/e --r-min 4 --json out/a.json %s", methods[i]);
        cli_run(0, NULL, "", line);
        cli_expect_all(said);
        cli_python(PYTHON_DCS "C = 332.06371\n"
                              "rows = [line for line in lines('out/a.csv') if line and line[0] != '#']\n"
                              "head = [line for line in lines('out/a.csv') if line.startswith('# ')]\n"
                              "assert rows[0] == 'x,y,z,phi,ex,ey,ez' and len(rows) == 6, rows\n"
                              "assert '# field: ex, ey, ez, minus the gradient of phi, in kcal/mol/e/A' in head, head\n"
                              "assert head[-1].startswith('# accuracy of the field: relative RMS '), head\n"
                              "for p, row in zip(points, rows[1:]):\n"
                              "    if p[0] > 1e7: continue\n"
                              "    field, size = [0]*3, 0\n"
                              "    for a in molecule:\n"
                              "        r = math.dist(p, a[:3])\n"
                              "        if r < 4: continue\n"
                              "        field = [f+C*a[3]*(x-y)/r**3 for f, x, y in zip(field, p, a)]\n"
                              "        size += abs(C*a[3])/r**2\n"
                              "    for f, word in zip(field, row.split(',')[4:]):\n"
                              "        assert abs(f-float(word)) <= 6e-6*size, (f, word)\n"
                              "r = json.load(open('out/a.json'))\n"
                              "assert r['field_accuracy']['passed'] and r['field_accuracy']['points'] == 5\n"
                              "assert r['options']['field'] is True\n");
    }
    cli("map ion.pqr --points p.csv -o out/b.csv --field --json out/b.json --plan out/a.json --method cutoff --pair "
        "coulomb --cutoff 200 --units kcal/mol/e --r-min 4");
    cli_expect(0, NULL, NULL);
    cli_assert_same_files("out/a.csv", "out/b.csv");
}

/* By grids: as direct summation, by whatever is chosen, and what is said of it. */
static void test_meshes(void **state)
{
    static const char *const said[] = {
        "points: 400 of many.csv", "long range: ", "; meshes: ", "steps: ", "of the root of the squared terms", NULL};
    static const struct {
        const char *options;
        double most;
    } cases[] = {{"--method msm", 2e-3},
                 {"--method msm --preset papers", 2e-2},
                 {"--method msm --solver fourier --window bspline6 --splitting pswf", 2e-4},
                 {"--method msm --tol 1e-4", 1e-4},
                 {"--method msm --tol 1e-5 --solver multilevel", 1e-5},
                 {"--tol 1e-4", 1e-4}};
    cli_write_molecule("many.pqr", 900, 25, 7);
    cli_python("import random\n"
               "random.seed(5)\n"
               "with open('many.csv', 'w') as f:\n"
               "    for i in range(400): f.write('%g %g %g\\n' % tuple(random.uniform(-4, 29) for _ in range(3)))\n");
    cli_run(0, NULL, NULL, "map many.pqr --points many.csv -o right.csv --method dcs --sum double --field");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[700];
        cli("map many.pqr --points many.csv -o out/a.csv --json out/a.json --field %s -v", cases[i].options);
        cli_expect(0, "accuracy of the field: error at most ", NULL);
        if (i < 5)
            cli_expect_all(said);
        snprintf(script, sizeof script,
                 "a, b = ([[float(w) for w in line.split(',')] for line in open(name) if line[0] not in '#x']\n"
                 "        for name in ('out/a.csv', 'right.csv'))\n"
                 "for k in range(3, 7):\n"
                 "    off = sum((x[k]-y[k])**2 for x, y in zip(a, b))/sum(y[k]*y[k] for y in b)\n"
                 "    assert len(a) == 400 and off**0.5 <= %g*(1 if k == 3 else 5), (k, off**0.5)\n",
                 cases[i].most);
        cli_python(script);
        cli("map many.pqr --points many.csv -o out/b.csv --plan out/a.json --field %s", cases[i].options);
        cli_expect(0, NULL, NULL);
        cli_assert_same_files("out/a.csv", "out/b.csv");
    }
    cli_run(0, "long range: ", NULL, "map many.pqr --points many.csv -o out/a.csv --periodic xyz --cell 25,25,25 -v");
}

/* Of pairs within a cutoff, with images. */
static void test_values_of_cutoff(void **state)
{
    static const char *const said[] = {"points: 5 of p.csv",
                                       "pair function yukawa within 7 A, in vacuum (dielectric 1), kappa 0.1/A, "
                                       "periodic along xyz; relative RMS error ",
                                       NULL};
    write_points();
    cli("map ion.pqr --points p.csv -o out/a.csv --method cutoff --pair yukawa --kappa 0.1 --cutoff 7 --periodic xyz "
        "--cell 10,11,12 --json out/a.json");
    cli_expect(0, NULL, "");
    cli_expect_all(said);
    cli_python(PYTHON_DCS "rows = [line for line in lines('out/a.csv') if line and line[0] not in '#x']\n"
                          "C = 14.399645478/(8.617333262e-5*298.15)\n"
                          "for p, row in zip(points, rows):\n"
                          "    total = size = 0\n"
                          "    for a in molecule:\n"
                          "        d = [x-y for x, y in zip(p, a)]\n"
                          "        near = [[x-l*(round(x/l)+k) for k in (-1, 0, 1)] for x, l in zip(d, (10, 11, 12))]\n"
                          "        for x in near[0]:\n"
                          "            for y in near[1]:\n"
                          "                for z in near[2]:\n"
                          "                    r = max(math.hypot(x, y, z), 0.05)\n"
                          "                    if r < 7: total += C*a[3]*math.exp(-.1*r)/r; size += abs(C*a[3]/r)\n"
                          "    assert abs(float(row.split(',')[3])-total) <= 2e-5*size, (row, total)\n"
                          "r = json.load(open('out/a.json'))\n"
                          "assert r['plan']['method'] == 'cutoff' and r['points'] == 5\n"
                          "assert r['short_range']['pair'] == 'yukawa' and r['short_range']['report']['bins'] > 0\n");
    cli("map ion.pqr --points p.csv -o out/b.csv --method cutoff --pair q*exp(-r/5)/r --cutoff 7");
    cli_expect(0, "q*exp(-r/5)/r within 7 A", NULL);
}

/* Far from a molecule whose charges cancel, where floats have too few digits for the tolerance that
 * is asked for by default. */
static void test_tolerance(void **state)
{
    cli_write_text("far.csv", "10000 0 0\n9000 100 0\n11000 0 300\n12000 50 50\n8000 7 7\n9500 0 20\n10500 3 40\n");
    cli_write_text("pair.pqr", "ATOM 1 A UNK 1 0.3 0.1 0.2 1 1\nATOM 2 A UNK 1 1.5 0 0 -1 1\n");
    cli("map pair.pqr --points far.csv -o out/a.csv --sum float -v"); /* no worse than its terms allow */
    cli_expect(0, "the scale of the terms, which nearly cancel or are screened", NULL);
    cli("map pair.pqr --points far.csv -o out/a.csv -v"); /* which is what auto takes */
    cli_expect(0, "sum: double, since terms nearly cancel", NULL);
    cli_run(0, "long range: ", NULL, "map pair.pqr --points far.csv -o out/a.csv --periodic xyz --cell 9,9,9 -v");
}

/* ---- Devices that fail ----------------------------------------------------------------------- */

/* Enough of them that both devices have a part. */
static void write_many(void)
{
    unsigned seed = 3;
    FILE *file = fopen(cli_path("many.txt"), "w");
    assert_non_null(file);
    for (int i = 0; i < 20000; i++)
        for (int axis = 0; axis < 3; axis++)
            fprintf(file, "%g%c", (double)(rand_r(&seed) % 20000) * 1e-3 - 5, axis < 2 ? ' ' : '\n');
    assert_int_equal(fclose(file), 0);
}

/* Launches or reads that fail, or results that are not right: of one of two devices, and the other
 * one does it all; of the only one, and there is no file. */
static void test_a_device_that_fails(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --cutoff 4"};
    static const struct {
        const char *faults;
        int code;
    } cases[] = {{"call=clEnqueueNDRangeKernel,at=1,fault=fail,ever=1", 4},
                 {"call=clEnqueueReadBuffer,at=1,fault=fail,ever=1", 4},
                 {"call=clEnqueueReadBuffer,at=1,fault=garbage,ever=1", 5}}; /* twice a 0 would be right */
    char faults[200];
    write_many();
    for (size_t k = 0; k < sizeof cases / sizeof *cases * 2; k++) {
        const size_t i = k / 2;
        const char *method = methods[k % 2];
        cli("map ion.pqr -o right.csv --points many.txt --device all --method %s", method); /* fills the cache, too */
        cli_expect(0, NULL, NULL);
        snprintf(faults, sizeof faults, "%s,device=0", cases[i].faults);
        unlink(cli_path("struck"));
        cli("%smap ion.pqr -o out/a.csv --points many.txt --device all --method %s", cli_faulty(faults), method);
        if (access(cli_path("struck"), F_OK) == 0)
            cli_expect(0, "written: ", "left the job");
        else
            cli_expect(0, "written: ", NULL); /* the other one was done before it began */
        cli_python("a, b = ([float(line.split(',')[3]) for line in open(name) if line[0] not in '#x']\n"
                   "        for name in ('out/a.csv', 'right.csv'))\n"
                   "assert len(a) == len(b) == 20000\n"
                   "for x, y in zip(a, b): assert abs(x-y) <= 1e-4*max(abs(y), 10), (x, y)\n");
        cli_empty(NULL);
        cli("%smap ion.pqr -o out/a.csv --points many.txt --device 0 --method %s", cli_faulty(cases[i].faults), method);
        cli_expect(cases[i].code, "", "leyden: ");
        cli_assert_nothing_left();
    }
}

int main(void)
{
    support_pocl_alone("pthread pthread");
    return RUN_GROUP(SUPPORT_GROUP(.name = "potentials at points", .each = cli_empty, .begin = cli_prepare),
                     test_wrong_options, test_own_tables, test_exclusions, test_residues, test_said_meshes,
                     test_by_host, test_not_by_host, test_progress_by_host, test_without_devices, test_standard_input,
                     test_field_beyond_tolerance, test_dry_run, test_bad_points, test_values, test_values_of_cutoff,
                     test_field, test_meshes, test_tolerance, test_a_device_that_fails);
}
