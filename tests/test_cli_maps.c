/* Files of maps from end to end: OpenDX and raw, and the commands that read them. */
#include "cli_support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL "--dims 20,9,5 --spacing 0.75 --device 0 "
/* Whose last bits are no question of which variant is measured as the fastest. */
#define DIRECT SMALL "--method dcs --variant tiled8 --math standard "

static void test_raw(void **state)
{
    size_t size;
    cli_run(0, "written: out/a.raw, 3.5 KiB\n", NULL, "map ion.pqr -o out/a.raw " DIRECT);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 2);
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx " DIRECT "-q");
    ley_map *raw = cli_read_map("out/a.raw"), *dx = cli_read_map("out/a.dx");
    assert_memory_equal(ley_map_grid(raw), ley_map_grid(dx), sizeof(ley_grid));
    assert_string_equal(ley_map_units(raw), "kT/e");
    assert_true(support_difference(dx, raw) < 1e-6);
    char *bytes = cli_read("out/a.raw", &size);
    assert_int_equal(size, 20 * 9 * 5 * sizeof(float));
    assert_memory_equal(bytes, ley_map_read_values(raw), size);
    free(bytes);
    ley_map_destroy(raw);
    ley_map_destroy(dx);
    /* The same command, the same bytes. */
    char *header = cli_read("out/a.raw.json", NULL);
    cli("map ion.pqr -o out/a.raw " DIRECT "-q");
    char *again = cli_read("out/a.raw.json", NULL);
    assert_string_equal(header, again);
    free(header);
    free(again);
}

/* A streamed map of another format: the same values, a file alone, and other commands read it. */
static void test_mrc(void **state)
{
    size_t size;
    cli_run(0, "written: out/a.mrc, 4.5 KiB\n", NULL, "map ion.pqr -o out/a.mrc " DIRECT);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    cli("map ion.pqr -o out/a.raw " DIRECT "-q");
    cli_run(0, NULL, NULL, "convert out/a.raw -o out/B.MAP -q");
    ley_map *raw = cli_read_map("out/a.raw"), *mrc = cli_read_map("out/a.mrc"), *map = cli_read_map("out/B.MAP");
    assert_memory_equal(ley_map_grid(raw), ley_map_grid(mrc), sizeof(ley_grid));
    assert_true(support_difference(mrc, raw) == 0 && support_difference(map, raw) == 0);
    assert_string_equal(ley_map_units(mrc), "kT/e");
    char *bytes = cli_read("out/a.mrc", &size);
    assert_memory_equal(bytes + 224 + 80, "method: dcs, direct Coulomb summation  ", 39);
    free(bytes);
    ley_map_destroy(raw);
    ley_map_destroy(mrc);
    ley_map_destroy(map);
    cli("slice out/a.mrc -o out/a.png --title t -q");
    cli_run(0, NULL, NULL, "slice out/a.raw -o out/b.png --title t -q");
    cli_assert_same_files("out/a.png", "out/b.png");
    cli_empty(NULL);
    cli_run(0, "\nfile: out/a.mrc, 4.5 KiB\n", NULL, "map ion.pqr -o out/a.mrc --dry-run --json out/dry.json " SMALL);
    cli_python(
        "import json\nd = json.load(open('out/dry.json'))\n"
        "assert d['file_bytes'] == 4624 and 'the map' not in d['forecast']['host']['needs_bytes'], d\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.mrc --field -q " SMALL);
    cli_run(0, NULL, NULL, "convert out/a_Ez.mrc -o out/z.dx -q");
}

/* A cube file has the molecule, and kT/e of the map's own temperature; so have those of a field. */
/* Streamed maps that are packed when all planes are there hold the bytes of those that are not; one
 * that is read is found by its content. */
static void test_packed(void **state)
{
    static const char *const endings[] = {".mrc", ".ccp4", ".raw", ".npy", ".dx", ".dxbin", ".cube"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        cli("map ion.pqr -o out/a%s -q " DIRECT, endings[i]);
        cli_run(0, NULL, NULL, "map ion.pqr -o out/b%s.gz -q " DIRECT, endings[i]);
    }
    cli_python(
        "import gzip\n"
        "for e in '.mrc', '.ccp4', '.raw', '.npy', '.dx', '.dxbin', '.cube':\n"
        "    assert gzip.open('out/b' + e + '.gz').read() == open('out/a' + e, 'rb').read(), e\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
    cli("convert - -o out/c.dx -q <%s", cli_path("out/b.mrc.gz"));
    cli("convert out/b.cube.gz -o - >%s", cli_path("out/d.dx"));
    cli_run(0, NULL, NULL, "compare out/c.dx out/b.dxbin.gz --tol 1e-6 -q");
    cli_run(0, NULL, NULL, "compare out/c.dx out/d.dx --tol 1e-6 -q");
    rename(cli_path("out/b.ccp4.gz"), cli_path("out/nothing"));
    cli("slice out/nothing -o out/a.png --title t -q");
    cli("slice out/a.mrc -o out/b.png --title t -q");
    cli_assert_same_files("out/a.png", "out/b.png");
    cli("convert out/nothing -o out/e.mrc -q");
    cli_run(0, NULL, NULL, "compare out/e.mrc out/a.mrc --tol 0 -q");
    cli("map ion.pqr -o out/f.mrc.gz --dry-run --json out/dry.json " SMALL);
    cli_expect(0, "\nfile: out/f.mrc.gz, 4.5 KiB before it is packed\n", NULL);
    cli_python("import json\nassert json.load(open('out/dry.json'))['file_bytes'] is None\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
    cli("map ion.pqr -o out/f.mrc.gz --field -q " SMALL);
    cli_run(0, NULL, NULL, "compare out/f_Ez.mrc.gz out/f_Ez.mrc.gz --tol 0 -q");
}

/* What may be meant otherwise in a file is said, once, and not where it shall be quiet. */
static void test_remarks(void **state)
{
    size_t size;
    cli("map ion.pqr -o out/a.mrc -q " SMALL);
    char *bytes = cli_read("out/a.mrc", &size);
    bytes[16] = 99;
    cli_write("two.mrc", bytes, size);
    free(bytes);
    cli("convert two.mrc -o out/b.mrc");
    cli_expect(0, NULL,
               "leyden: warning: two.mrc: ORIGIN (words 50 to 52) and NSTART (words 5 to 7) tell two places, ");
    cli("compare out/a.mrc two.mrc --tol 0");
    cli_expect(0, NULL, "leyden: warning: two.mrc: ORIGIN");
    cli_run(0, NULL, "leyden: warning: two.mrc: ORIGIN", "slice two.mrc -o out/a.png --title t -q");
    const cli_result *quiet = cli("convert two.mrc -o out/b.mrc -q");
    assert_string_equal(quiet->err, "");
}

static void test_cube(void **state)
{
    cli("map ion.pqr -o out/a.cube " SMALL "--temperature 400 -q");
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx " SMALL "--temperature 400 -q");
    ley_map *cube = cli_read_map("out/a.cube"), *dx = cli_read_map("out/a.dx");
    assert_memory_equal(ley_map_grid(cube), ley_map_grid(dx), sizeof(ley_grid));
    assert_string_equal(ley_map_units(cube), "kT/e");
    assert_true(support_difference(dx, cube) < 1.5e-6);
    ley_map_destroy(cube);
    ley_map_destroy(dx);
    cli_run(0, NULL, NULL, "compare out/a.cube out/a.dx --tol 1e-6 -q");
    char *text = cli_read("out/a.cube", NULL);
    assert_non_null(
        strstr(text, " kT/e at 400 K\nmolecule: ion.pqr, dielectric 1; method: dcs, direct Coulomb summation\n   40 "));
    free(text);
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.cub --field -q " SMALL);
    text = cli_read("out/a_Ez.cub", NULL);
    assert_non_null(strstr(text, ": FIELD ALONG Z (kT/e/A)\nmolecule: ion.pqr, dielectric 1; field along z, "));
    assert_non_null(strstr(text, "\n   40 "));
    free(text);
    cli_run(0, NULL, NULL, "slice out/a.cub -o out/a.png -q");
}

/* Killed while planes go to the file, no map is there under its name; the next run clears up. */
static void test_killed(void **state)
{
    pid_t child = cli_start("map ion.pqr -o out/a.mrc --dims 500,500,2000 --spacing 0.01 --device 0");
    for (int ms = 0; ms < 300000 && cli_each_file(CLI_OUT, NULL) == 0; ms++)
        usleep(1000);
    kill(child, SIGKILL);
    assert_int_equal(cli_wait(child)->code, -SIGKILL);
    assert_int_equal(access(cli_path("out/a.mrc"), F_OK), -1);
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.mrc -q " SMALL);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

/* What a program finds in the header, and that the OpenDX header has it, too. */
static void test_header(void **state)
{
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.raw " SMALL "--dielectric 2 --units V --json out/r.json -q");
    cli("map ion.pqr -o out/a.dx " SMALL "--dielectric 2 --units V -q");
    cli_python("import array, json\n"
               "h, r = json.load(open('out/a.raw.json')), json.load(open('out/r.json'))\n"
               "v = array.array('f', open('out/a.raw', 'rb').read())\n"
               "assert len(v) == h['n'][0] * h['n'][1] * h['n'][2] == 900, h\n"
               "assert h['origin_A'] == r['grid']['origin_A'] and h['units'] == 'V', h\n"
               "assert [h['step_A'][i][i] for i in range(3)] == r['grid']['spacing_A'], h\n"
               "comments = [l[2:-1] for l in open('out/a.dx') if l.startswith('# ')][3:]\n"
               "assert comments[1:] == h['comment'] or comments == h['comment'], (comments, h['comment'])\n"
               "f = h['facts']\n"
               "assert f['method'] == 'dcs' and f['dielectric'] == 2 and f['sum'] == 'float', f\n"
               "assert f['molecule']['atoms'] == 40 and f['molecule']['file'] == 'ion.pqr', f\n"
               "a = f['accuracy']\n"
               "assert a['points'] == 256 and 0 < a['max_error'] < 1e-5 and a['relative_rms'] < 1e-5, a\n"
               "assert 'error at most %.2g of %s' % (a['max_error'], a['error_scale']) in h['comment'][-1], h\n"
               "print('fine')\n");
    cli_expect(0, "fine", NULL);
    cli("map ion.pqr -o out/a.raw " SMALL "--verify 0 -q");
    cli_python("import json\nassert json.load(open('out/a.raw.json'))['facts']['accuracy'] is None\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
}

static void test_readers(void **state)
{
    cli("map ion.pqr -o out/a.raw " SMALL "-q");
    cli("convert out/a.raw -o out/b.dx.gz");
    cli_expect(0, "map: a.raw, 20 x 9 x 5 = 900 points, spacing 0.75 A\ntime: ", NULL);
    cli_expect(0, "\nwritten: out/b.dx.gz, ", NULL);
    cli("convert out/b.dx.gz -o out/c.raw -q");
    cli_run(0, NULL, NULL, "convert out/c.raw -o out/d.dx -q");
    ley_map *a = cli_read_map("out/a.raw"), *c = cli_read_map("out/c.raw"), *d = cli_read_map("out/d.dx");
    assert_true(support_difference(c, a) < 1e-6 && support_difference(d, a) < 1e-6);
    assert_string_equal(ley_map_units(d), "kT/e");
    ley_map_destroy(a);
    ley_map_destroy(c);
    ley_map_destroy(d);
    cli("convert out/a.raw -o out/a.raw.gz -q"); /* header and all beside the plain one */
    cli_run(0, NULL, NULL, "compare out/a.raw.gz out/a.raw --tol 0 -q");
    cli_run(0, NULL, NULL, "slice out/c.raw -o out/c.png --title t -q");
    cli_run(0, NULL, NULL, "slice out/d.dx -o out/d.png --title t -q");
    cli_assert_same_files("out/c.png", "out/d.png");
}

static void test_refusals(void **state)
{
    cli("map ion.pqr -o out/a.raw " SMALL "-q");
    char *header = cli_read("out/a.raw.json", NULL);
    cli_write("good.raw", "1234", 4);
    cli_write_text("good.raw.json", header);
    *strstr(header, "float32") = 'F';
    cli_write_text("bad.raw.json", header);
    cli_write("bad.raw", "1234", 4);
    cli_write("none.raw", "1234", 4);
    free(header);
    mkdir(cli_path("out/full.raw.json"), 0700);
    rmdir(cli_path("out/full.raw.json"));
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"map ion.pqr -o out/a.raw.zip " SMALL, 1, "--output: 'out/a.raw.zip' must end in .dx, .raw"},
        {"map ion.pqr -o out/a.raw --json out/a.raw.json " SMALL, 1,
         "--json: 'out/a.raw.json' is the file of the header"},
        {"map ion.pqr -o none/a.raw " SMALL, 2, "none/a.raw: No such file or directory"},
        {"slice good.raw -o out/a.png", 2,
         "good.raw: cut short: 4 bytes, but the 900 points that good.raw.json says take 3600"},
        {"slice bad.raw -o out/a.png", 2, "bad.raw.json:5: values: 'Float32'; only 'float32' can be read"},
        {"slice none.raw -o out/a.png", 2, "none.raw.json: No such file or directory"},
        {"slice good.raw -o out/a.png --json good.raw.json", 1,
         "--json: 'good.raw.json' is the file of the map's header"},
        {"convert bad.raw -o out/a.dx", 2, "bad.raw.json:5: values: 'Float32'"},
        {"convert good.raw -o out/a.pqr", 1, "'out/a.pqr' is to be of atoms, and 'good.raw' is a map"},
        {"convert ion.pqr -o out/a.raw", 1, "'out/a.raw' is to be a map, and 'ion.pqr' is none"},
        {"convert good.raw -o good.raw", 1, "--output: 'good.raw' is the file of the map"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* Standard output, and names that say nothing of the format: the bytes that files have. */
static void test_standard_output(void **state)
{
    static const char *const formats[] = {"dx", "mrc", "dxbin", "cube"};
    char name[40];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *format = formats[i];
        snprintf(name, sizeof name, "out/a.%s", format);
        cli("map ion.pqr -o %s -q " DIRECT, name);
        cli_run(0, NULL, NULL, "map ion.pqr -o - --format %s " DIRECT ">%s", format, cli_path("out/straight"));
        cli_assert_same_files(name, "out/straight");
        cli("map ion.pqr -o out/named --format %s -q " DIRECT, format);
        cli_assert_same_files(name, "out/named");
        cli("convert out/a.dx -o out/copy.%s -q", format);
        cli("convert /dev/stdin -o /dev/stdout --format %s <%s >%s", format, cli_path("out/a.dx"),
            cli_path("out/straight"));
        snprintf(name, sizeof name, "out/copy.%s", format);
        cli_assert_same_files(name, "out/straight");
    }
    for (size_t i = 0; ley_map_format_at(i) != NULL; i++) { /* --format has a word for each */
        cli_run(0, NULL, NULL, "convert out/a.dx -o out/named --format %s -q", ley_map_format_at(i)->endings[0] + 1);
    }
    cli_run(0, NULL, NULL, "map - -o out/b.dx -q " DIRECT "<%s", cli_path("ion.pqr"));
    cli_run(0, NULL, NULL, "compare - out/a.dx --tol 0 -q <%s", cli_path("out/b.dx"));
    cli("slice - -o out/b.png --title t -q <%s", cli_path("out/b.dx"));
    cli("slice out/a.dx -o out/a.png --title t -q");
    cli_assert_same_files("out/a.png", "out/b.png");
    cli("convert - -o out/b.raw -q <%s", cli_path("out/b.dx"));
    cli("convert out/a.dx -o out/a.raw -q");
    cli_assert_same_files("out/a.raw", "out/b.raw");
    cli("convert - -o out/b.pqr -q <%s", cli_path("ion.pqr"));
    cli("convert ion.pqr -o out/a.pqr -q");
    cli_assert_same_files("out/a.pqr", "out/b.pqr");
    cli("map ion.pqr -o - " DIRECT ">%s", cli_path("out/straight"));
    cli_assert_same_files("out/a.dx", "out/straight");
    cli("map ion.pqr -o out/named --format npy -q " DIRECT);
    cli("map ion.pqr -o out/a.npy -q " DIRECT);
    cli_assert_same_files("out/a.npy", "out/named");
    cli_assert_same_files("out/a.npy.json", "out/named.json");
    cli_write_text("p.csv", "1 2 3\n");
    cli("map ion.pqr --points p.csv --method dcs --variant tiled8 --math standard -o out/p.csv -q");
    cli("map ion.pqr --points p.csv --method dcs --variant tiled8 --math standard -o - >%s", cli_path("out/straight"));
    cli_assert_same_files("out/p.csv", "out/straight");
    cli("convert ion.pqr -o out/p.pqr -q");
    cli("convert ion.pqr -o - >%s", cli_path("out/straight"));
    cli_assert_same_files("out/p.pqr", "out/straight");
    cli("generate waterbox --atoms 30 -o out/w.pqr -q");
    cli("generate waterbox --atoms 30 -o - >%s", cli_path("out/straight"));
    cli_assert_same_files("out/w.pqr", "out/straight");
    cli("boundary ion.pqr --dims 5,5,5 --glen 99,99,99 -o out/b.dx -q");
    cli("boundary ion.pqr --dims 5,5,5 --glen 99,99,99 -o - >%s", cli_path("out/straight"));
    cli_assert_same_files("out/b.dx", "out/straight");
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"map ion.pqr -o - --format raw " SMALL, 1, "--format raw: its header is a second file"},
        {"convert out/../map.dx -o - --format npy", 1, "--format npy: its header is a second file"},
        {"map ion.pqr -o - --field " SMALL, 1, "--field writes four files, which are named after --output"},
        {"map ion.pqr -o out/a.dx --format mrc --field " SMALL, 1, "--field writes four files"},
        {"map ion.pqr ion.pqr -o - " SMALL, 1, "'-' needs a {}"},
        {"map ion.pqr -o - --json - " SMALL, 1, "--json: '-' is the file of the map"},
        {"map ion.pqr -o out/named " SMALL, 1, "or name its --format"},
        {"map ion.pqr -o /dev/full --format mrc " SMALL, 2, "/dev/full: No space left on device"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* A header that cannot be written is found before anything is computed. */
static void test_header_in_the_way(void **state)
{
    assert_int_equal(mkdir(cli_path("out/a.raw.json"), 0700), 0);
    cli_run(2, NULL, "out/a.raw.json: Is a directory", "map ion.pqr -o out/a.raw " SMALL);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    assert_int_equal(rmdir(cli_path("out/a.raw.json")), 0);
}

/* A signal while planes go to the file leaves nothing of it. */
static void test_interrupted(void **state)
{
    cli_write_text("out/a.raw", "old");
    pid_t child = cli_start("map ion.pqr -o out/a.raw --dims 500,500,2000 --spacing 0.01 --device 0");
    for (int ms = 0; ms < 300000 && cli_each_file(CLI_OUT, NULL) == 1; ms++)
        usleep(1000);
    kill(child, SIGINT);
    cli_wait(child);
    cli_expect(130, NULL, "cancelled");
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    char *old = cli_read("out/a.raw", NULL);
    assert_string_equal(old, "old");
    free(old);
}

/* ---- Dry runs -------------------------------------------------------------------------------- */

/* Its plan is that of the run, but for what the first slab decides; and it writes nothing. Roots
 * are the standard's: which ones are fastest may be measured anew in between, by another program
 * that shares the cache. */
static void test_dry_run(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --cutoff 9", "msm", "msm --window bspline6 --solver fourier"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map ion.pqr -o out/a.raw " SMALL "--math standard --method %s --dry-run --json out/dry.json", methods[i]);
        cli_expect(0, "dry run: nothing is computed, and no file is written\nmemory of the host: ", NULL);
        static const char *const said[] = {"molecule: ion.pqr",
                                           "grid: 20 x 9 x 5 = 900 points",
                                           "slabs of the map ",
                                           "\nmemory of device 0, ",
                                           "\nplan: ",
                                           "\npredicted: ",
                                           "kernels ",
                                           "\nfile: out/a.raw, 3.5 KiB\n",
                                           NULL};
        cli_expect_all(said);
        assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
        cli("map ion.pqr -o out/a.raw " SMALL "--math standard --method %s --json out/run.json -q", methods[i]);
        cli_expect(0, NULL, NULL);
        cli_python("import json\n"
                   "dry, run = json.load(open('out/dry.json')), json.load(open('out/run.json'))\n"
                   "for d in dry['plan']['devices'] + run['plan']['devices']:\n"
                   "    d.pop('launch_atoms', None)\n"
                   "    d['fft'] = d.get('fft', '').split('-')[0] # tables or none are measured against each other\n"
                   "assert dry['plan'] == run['plan'], (dry['plan'], run['plan'])\n"
                   "f = dry['forecast']\n"
                   "assert 'the map' not in f['host']['needs_bytes'] and dry['file_bytes'] == 3600, f\n"
                   "d = f['devices'][0]\n"
                   "assert d['bytes'] == sum(d['needs_bytes'].values()) and d['steps_s']['kernels'] > 0, d\n"
                   "assert d['slabs'] == len(run['slabs']), (d, run['slabs'])\n"
                   "assert f['total_s'] > 0 and dry['status'] == 'LEY_OK' and dry['exit_code'] == 0, f\n"
                   "print('fine')\n");
        cli_expect(0, "fine", NULL);
        cli_empty(NULL);
    }
}

/* Of ranks: pieces are whole, and what each does for itself stays. */
static void test_dry_run_on_ranks(void **state)
{
    (void)state;
    cli_run(0, "\n  limit: ", NULL,
            "map ion.pqr -o out/a.dx " SMALL "--method dcs --dry-run --ranks 3 --link 1e9,1e-6 "
            "--json out/dry.json");
    cli_python("import json\nd = json.load(open('out/dry.json'))\nr, f = d['ranks'], d['forecast']\n"
               "parts = [r[k] for k in ('own_s', 'exchange_s', 'dealt_s', 'counter_s', 'gather_s')]\n"
               "assert abs(sum(parts) - r['total_s']) < 1e-12 and r['all_pieces'] == 5 and r['pieces'] == 2, r\n"
               "assert abs(r['dealt_s'] / f['devices_s'] - 2 / 5) < 1e-6 and r['gathered_bytes'] == 2400, (r, f)\n"
               "assert abs(r['gather_s'] - (3e-6 + 2400e-9)) < 1e-12 and r['written_bytes'] == 0, r\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
    cli_run(1, NULL, "--ranks needs --dry-run, which says what ranks would take; mpirun starts them",
            "map ion.pqr -o out/a.dx " SMALL "--ranks 3");
    cli_run(1, NULL, "--link needs --ranks", "map ion.pqr -o out/a.dx " SMALL "--dry-run --link 1e9,1e-6");
    cli_run(1, NULL, "not '2.5'; type: --ranks 2\n", "map ion.pqr -o out/a.dx " SMALL "--dry-run --ranks 2.5");
    cli_run(1, NULL, "not '1e9'; type: --link 25e9,2e-6\n",
            "map ion.pqr -o out/a.dx " SMALL "--dry-run --ranks 4 --link 1e9");
    cli_run(1, NULL, "come first, then seconds; type: --link 1e+09,2e-06\n",
            "map ion.pqr -o out/a.dx " SMALL "--dry-run --ranks 4 --link 2e-6,1e9");
}

/* Two drivers for one processor: what both take is the host's. And of the plan each thing is said
 * once. */
static void test_dry_run_on_several(void **state)
{
    cli("RUSTICL_ENABLE=llvmpipe map ion.pqr -o out/a.raw --dims 20,9,5 --spacing 0.75 --method msm --device all "
        "--dry-run --json out/dry.json");
    cli_expect(0, "dry run: nothing is computed", NULL);
    cli_python(
        "import json\n"
        "f = json.load(open('out/dry.json'))['forecast']\n"
        "needs, cpus = f['host']['needs_bytes'], [d['bytes'] for d in f['devices'] if d['device']['class'] == 'cpu']\n"
        "assert abs(sum(needs.values()) - f['host']['bytes']) < 1, f\n"
        "assert abs(needs['the processor as a device'] - sum(cpus)) < 1 and len(cpus) > 0, f\n"
        "assert all(b == int(b) for b in list(needs.values()) + cpus), f\n"
        "print(len(cpus), 'processors')\n");
    cli_expect(0, "processors", NULL);
    const cli_result *r = cli("map ion.pqr -o out/a.raw " SMALL "--method msm --dry-run");
    const char *plan = strstr(r->out, "\nplan: "), *first = plan != NULL ? strstr(plan, "window ") : NULL;
    assert_non_null(first);
    assert_null(strstr(first + 1, "window "));
}

/* Transforms are predicted, whatever their size: making one of this size takes minutes and
 * gigabytes. */
static void test_dry_run_of_a_transform(void **state)
{
    const cli_result *r =
        cli("map ion.pqr -o out/a.raw --method msm --solver fourier --window bspline6 --dims 1300,1300,1300 "
            "--spacing 0.5 --device 0 --dry-run");
    static const char *const said[] = {"transforms of ", "plans of transforms ", "file: out/a.raw, 8.2 GiB", NULL};
    cli_expect(0, "dry run: nothing is computed", NULL);
    cli_expect_all(said);
    assert_true(r->cpu_s < 60);
}

/* What is too large says so as a run would, and has its figures all the same. */
static void test_dry_run_of_too_much(void **state)
{
    cli("map ion.pqr -o out/a.dx --method msm --dims 100000,100000,100000 --spacing 0.01 --device 0 --dry-run "
        "--json out/dry.json");
    cli_expect(4, "the map 3.6 PiB", "not enough memory: the job would take 3");
    cli_expect(4, "\npredicted: ", "what helps: a coarser spacing, or a smaller box");
    cli_python("import json\nd = json.load(open('out/dry.json'))\n"
               "assert d['exit_code'] == 4 and d['forecast']['host']['needs_bytes']['the map'] == 4e15, d\n"
               "assert 'not enough memory' in d['error']\nprint('fine')\n");
    cli_expect(0, "fine", NULL);
    cli_empty(NULL);
    /* And of a device. */
    cli("POCL_MEMORY_LIMIT=1 map ion.pqr -o out/a.raw --method cutoff --dims 8000,8000,8 --spacing 0.01 --device pocl "
        "--dry-run");
    cli_expect(3, "would not be used: ", "8 planes of the grid need 1.9 GiB, there is room for");
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 0);
}

/* A disk that is too small, as far as a process is told so: the file is named, once, and no device,
 * however many of them had a part. */
static void test_full_disk(void **state)
{
    static const char *const devices[] = {"--device 0", "--device all"};
    static const char said[] = "leyden: out/a.raw: File too large\n";
    const struct rlimit little = {4 << 20, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0); /* the command inherits both */
        const cli_result *r = cli("RUSTICL_ENABLE=llvmpipe map ion.pqr -o out/a.raw --dims 128,128,128 --spacing 0.25 "
                                  "--method dcs %s",
                                  devices[i]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &much), 0);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(r->code, 2);
        assert_string_equal(r->err, said);
        cli_assert_nothing_left();
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, cli_empty)
    support_leave_out_second_driver();
    const struct CMUnitTest tests[] = {TEST(test_raw),
                                       TEST(test_mrc),
                                       TEST(test_packed),
                                       TEST(test_remarks),
                                       TEST(test_cube),
                                       TEST(test_killed),
                                       TEST(test_header),
                                       TEST(test_readers),
                                       TEST(test_refusals),
                                       TEST(test_standard_output),
                                       TEST(test_header_in_the_way),
                                       TEST(test_interrupted),
                                       TEST(test_full_disk),
                                       TEST(test_dry_run),
                                       TEST(test_dry_run_on_several),
                                       TEST(test_dry_run_on_ranks),
                                       TEST(test_dry_run_of_a_transform),
                                       TEST(test_dry_run_of_too_much)};
    return cmocka_run_group_tests(tests, cli_prepare, NULL);
}
