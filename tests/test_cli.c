/* The command from end to end: what it prints, writes and returns, on good days and bad. */
#include "cli_support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define SMALL "--dims 20,9,5 --spacing 0.75"

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_help_and_version(void **state)
{
    cli_run(0, "Usage: leyden COMMAND", NULL, "--help");
    for (const char *const *name = (const char *const[]){"devices", "map", "slice", "bench", NULL}; *name != NULL;
         name++) {
        assert_non_null(strstr(cli("help")->out, *name));
        char *help = strdup(cli("help %s", *name)->out);
        cli_expect(0, "Usage: leyden", NULL);
        assert_string_equal(cli("%s --help", *name)->out, help);
        assert_string_equal(cli("%s -h", *name)->out, help);
        cli_expect(0, NULL, NULL);
        free(help);
    }
    char *overview = strdup(cli("help")->out);
    for (const char *const *plea = (const char *const[]){"help help", "help --help", "help -h", "-h", NULL};
         *plea != NULL; plea++)
        assert_string_equal(cli("%s", *plea)->out, overview);
    cli_expect(0, NULL, NULL);
    free(overview);
    for (const char *const *word = (const char *const[]){"--version", "-V", "version", NULL}; *word != NULL; word++) {
        assert_string_equal(cli("%s", *word)->out, "leyden " LEY_VERSION "\n");
        cli_expect(0, NULL, NULL);
    }
    cli_run(2, NULL, "standard output", "--help >/dev/full");
}

/* The text with single blanks between its words. */
static char *in_one_line(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++)
        if (*from != '\n' && *from != ' ')
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
    return text;
}

/* Every status stands behind its exit code, and before the next one. */
static void assert_exit_codes(const char *where, const char *text)
{
    static const struct {
        int exit_code;
        const char *meaning;
    } rows[] = {
#define ROW(name, exit_code, meaning) {exit_code, meaning},
        LEY_STATUS_TABLE(ROW)
#undef ROW
    };
    const char *list = strstr(text, "Exit codes: ");
    assert_non_null(list);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char code[16], next[16];
        snprintf(code, sizeof code, " %d ", rows[i].exit_code);
        snprintf(next, sizeof next, ", %d ", rows[i].exit_code + 1);
        const char *at = strstr(list, code), *end = at != NULL ? strstr(at, next) : NULL;
        const char *meaning = at != NULL && rows[i].exit_code < 100 ? strstr(at, rows[i].meaning) : at;
        if (meaning == NULL || (end != NULL && meaning > end))
            fail_msg("%s does not say that exit code %d is '%s'", where, rows[i].exit_code, rows[i].meaning);
    }
}

static void test_exit_codes_are_documented(void **state)
{
    size_t size;
    char *help = in_one_line(strdup(cli("help")->out));
    char *page = in_one_line(support_read_file("docs/command.md", &size));
    assert_exit_codes("the help", help);
    assert_exit_codes("docs/command.md", page);
    assert_non_null(
        strstr(help, ", 5 wrong results, a check that failed, a map that is off by more than --tol, "
                     "maps that differ by more, or a benchmark that is slower than --compare --fail allows, 128 + N"));
    free(help);
    free(page);
}

static void test_wrong_commands(void **state)
{
    static const cli_failing cases[] = {
        {"mapp", 1, "unknown command 'mapp' (did you mean 'map'?)"},
        {"frobnicate", 1, "unknown command 'frobnicate'\n"},
        {"--verison", 1, "unknown option '--verison' (did you mean '--version'?)"},
        {"help nothing", 1, "unknown command 'nothing'"},
        {"help map map", 1, "too many"},
        /* Words that only share some letters are no misspellings. */
        {"bend", 1, "unknown command 'bend'\n"},
        {"cover", 1, "unknown command 'cover'\n"},
        {"de", 1, "unknown command 'de'\n"},
        {"dev", 1, "unknown command 'dev' (did you mean 'devices'?)"},
        {"mpa", 1, "unknown command 'mpa' (did you mean 'map'?)"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void test_wrong_options(void **state)
{
#define MAP "map ion.pqr -o out/a.dx "
    static const cli_failing cases[] = {
        {"map", 1,
         "ATOMS is missing, as in: leyden map protein.pqr -o protein.dx --dielectric 78.54\nTry 'leyden map "
         "--help'.\n"},
        {"map ion.pqr", 1,
         "--output MAP is missing, as in: leyden map protein.pqr -o protein.dx --dielectric 78.54\nTry 'leyden map "
         "--help'.\n"},
        {"map ion.pqr ion.pqr -o out/a.dx", 1, "each of the 2 molecules has a file of its own"},
        {"map \"\" -o out/a.dx", 1, "ATOMS is empty: molecule"},
        {MAP "--spcing 1", 1, "unknown option '--spcing' (did you mean '--spacing'?)"},
        {MAP "-x", 1, "unknown option '-x'"},
        {MAP "--spacing", 1, "--spacing lacks its value"},
        {MAP "--spacing --quiet", 1, "--spacing lacks its value (H|HX,HY,HZ) before --quiet"},
        {MAP "--quiet=yes", 1, "--quiet takes no value"},
        {MAP "-qv", 1, "-q takes no value, 'v': single-letter options are given separately, as in -q -v"},
        {MAP "--spacing 1 --spacing 1", 1, "--spacing is given twice"},
        {MAP "--spacing nan", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not 'nan'"},
        {MAP "--spacing inf", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not 'inf'"},
        {MAP "--spacing 1e999", 1, "--spacing: 1e999 is out of range"},
        {MAP "--spacing 0.5x", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not '0.5x'"},
        {MAP "--spacing 0x1", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not '0x1'"},
        {MAP "--spacing 1,5", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not '1,5'"},
        {MAP "--spacing=", 1, "--spacing takes one or 3 numbers separated by commas (H|HX,HY,HZ), not ''"},
        {MAP "--spacing 0", 1, "--spacing: 0 is out of range"},
        {MAP "--spacing -1", 1, "--spacing: -1 is out of range"},
        {MAP "--padding -1", 1, "--padding: -1 is out of range"},
        {MAP "--dims 3,3", 1, "--dims takes 3 whole numbers"},
        {MAP "--dims 3,3,3,3", 1, "--dims takes 3 whole numbers"},
        {MAP "--dims 3,3,1.5", 1, "--dims takes 3 whole numbers"},
        {MAP "--dims 3,0,3", 1, "--dims: 0 is out of range"},
        {MAP "--dims 99999999999999999999,1,1", 1, "--dims"},
        {MAP "--dielectric 0", 1, "--dielectric: 0 is out of range"},
        {MAP "--temperature 0", 1, "--temperature: 0 is out of range"},
        {MAP "--r-min 0", 1, "--r-min: 0 is out of range"},
        {MAP "--verify -1", 1, "--verify: -1 is out of range"},
        {MAP "--units ev", 1,
         "--units: unknown value 'ev', it must be one of kT/e, V, kcal/mol/e, kJ/mol/e; type: --units V\n"},
        {MAP "--sum half", 1, "--sum"},
        {MAP "--math fast", 1, "--math"},
        {MAP "--method pme", 1, "--method"},
        {MAP "--variant tiled", 1, "--variant: 'tiled' is none of simple"},
        {MAP "--dims 3,3,3 --padding 1 --spacing 1", 1, "--dims, --padding and --spacing: two of them"},
        {MAP "--glen 3,3,3", 1, "--glen needs --dims"},
        {MAP "--gcent 3,3,3", 1, "--gcent needs --dims"},
        {MAP "--spacing 1,2,3", 1, "--spacing: three different numbers need --dims"},
        {MAP "--like b.dx --padding 1", 1, "--like and --padding exclude each other"},
        {MAP "--exclude self", 1, "--exclude needs --points"},
        {MAP "--origin 0,0,0", 1, "--origin needs --dims"},
        {"map ion.pqr -o out/a.maps", 1, "--output: 'out/a.maps' must end in .dx"},
        {"map ion.pqr -o out/.dx", 1, "--output: 'out/.dx' must end in .dx"},
        {"map ion.pqr -o a.dx --json out/../a.dx", 1, "--json: 'out/../a.dx' is the file of the map"},
        {MAP "--json ion.pqr", 1, "--json: 'ion.pqr' is the file of the atoms"},
        {MAP "--device nosuch", 1, "no device matches \"nosuch\""},
        {MAP "--device 99", 1, "no device matches \"99\""},
        {MAP "--device ,", 1, "the list of devices is empty"},
        {"bench --repeats 0", 1, "--repeats: 0 is out of range"},
        {"bench --kernel dcs --variant nosuch", 1, "--variant: 'nosuch' is none of simple"},
        {"bench out", 2, "out"},
        {"devices --jsno", 1, "unknown option '--jsno' (did you mean '--json'?)"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- Files that are not what they should be -------------------------------------------------- */

static void write_bad_molecules(void)
{
    static const char good[] = "ATOM      1  NA  ION A   1       1.000   2.000   3.000  1.0000 1.8000\n";
    char text[512];
    unsigned char noise[4096];
    unsigned random = 1;
    cli_write("empty.pqr", "", 0);
    cli_write_text("none.pqr", "REMARK no atom\nEND\n");
    snprintf(text, sizeof text, "REMARK\n%sATOM      2  NA  ION A   1       1.000     two   3.000  1.0000 1.8000\n",
             good);
    cli_write_text("word.pqr", text);
    snprintf(text, sizeof text, "%sATOM      2  NA  ION A   1       1.000   2.000   3.000  1.0000\n", good);
    cli_write_text("short.pqr", text);
    snprintf(text, sizeof text, "%sATOM      2  NA  ION A   1       1.000   2.000   3.000     nan 1.8000\n", good);
    cli_write_text("nan.pqr", text);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)rand_r(&random);
    memcpy(noise, "\n\n", 2); /* not the magic number of gzip by chance */
    cli_write("noise.pqr", noise, sizeof noise);
    gzFile packed = gzopen(cli_path("whole.pqr.gz"), "wb");
    for (int i = 0; i < 1000; i++)
        gzprintf(packed, "ATOM %6d  C   MOL A %4d    %8.3f %8.3f %8.3f  1.0000  1.7000\n", i, i, 0.1 * i, 0.3 * i,
                 0.7 * i);
    gzclose(packed);
    size_t size;
    char *bytes = cli_read("whole.pqr.gz", &size);
    cli_write("cut.pqr.gz", bytes, size / 2);
    bytes[size / 2] ^= 0x40;
    cli_write("bent.pqr.gz", bytes, size);
    bytes[size / 2] ^= 0x40;
    bytes[size - 6] ^= 1; /* its checksum */
    cli_write("sum.pqr.gz", bytes, size);
    free(bytes);
}

static void test_bad_molecules(void **state)
{
    write_bad_molecules();
    static const cli_failing cases[] = {
        {"map nosuch.pqr -o out/a.dx", 2, "nosuch.pqr: No such file or directory"},
        {"map . -o out/a.dx", 2, ".: Is a directory"},
        {"map empty.pqr -o out/a.dx", 2, "empty.pqr: no ATOM or HETATM record"},
        {"map none.pqr -o out/a.dx", 2, "none.pqr: no ATOM or HETATM record"},
        {"map word.pqr -o out/a.dx", 2, "word.pqr:3: y 'two' is not a number"},
        {"map short.pqr -o out/a.dx", 2, "short.pqr:2: truncated record"},
        {"map nan.pqr -o out/a.dx", 2, "nan.pqr:2: charge 'nan'"},
        {"map noise.pqr -o out/a.dx", 2, "noise.pqr"},
        {"map cut.pqr.gz -o out/a.dx", 2, "cut.pqr.gz:"},
        {"map bent.pqr.gz -o out/a.dx", 2, "bent.pqr.gz:"},
        {"map sum.pqr.gz -o out/a.dx", 2, "the gzip file is damaged: incorrect data check\n"},
        {"map ion.pqr -o nodir/a.dx", 2, "nodir/a.dx: No such file or directory"},
        {"map ion.pqr -o out/a.dx --json nodir/a.json", 2, "nodir/a.json: No such file or directory"},
    };
    CLI_CHECK_FAILURES(cases);
    cli_run(0, "1,000 atoms", NULL, "map whole.pqr.gz -o out/a.dx " SMALL);
}

/* The commonest mistake: the structure itself in place of what pdb2pqr makes of it. */
static void test_pdb_files(void **state)
{
    cli_write_text("protein.pdb", "HEADER    HYDROLASE                               08-JUN-93   1LYZ\n"
                                  "ATOM      1  N   LYS A   1       3.287  10.092  10.329  1.00  5.89           N  \n"
                                  "ATOM      2  CA  LYS A   1       2.445  10.457   9.182  1.00  8.16           C  \n");
    static const char complaint[] = "protein.pdb:2: this is a PDB file, not a PQR file: ";
    static const cli_failing cases[] = {
        {"map protein.pdb -o out/a.dx " SMALL, 2, complaint},
        {"map protein.pdb -o out/a.dx " SMALL, 2,
         "pdb2pqr --ff AMBER 'protein.pdb' NEW.pqr makes a PQR file of it; --pqr-anyway reads it as it is\n"},
        {"boundary protein.pdb -o out/a.dx --dims 5,5,5 --glen 60,60,60", 2, complaint},
        {"convert protein.pdb -o out/a.atoms", 2, complaint},
    };
    CLI_CHECK_FAILURES(cases);
    cli_write_text("nearly.pqr", "ATOM 1 C MOL 1 0 0 0 -1.00001 1\nATOM 2 C MOL 1 9 0 0 1 1\n");
    cli_run(0, "2 atoms, total charge +0.0000 e", NULL, "map nearly.pqr -o out/a.dx " SMALL);
    cli_run(0, "2 atoms, total charge +2.0000 e", NULL, "map protein.pdb --pqr-anyway -o out/a.dx " SMALL);
    cli("boundary protein.pdb --pqr-anyway -o out/a.dx --dims 5,5,5 --glen 60,60,60");
    cli_expect(0, "2 atoms", NULL);
    cli_run(0, "2 atoms", NULL, "convert protein.pdb --pqr-anyway -o out/a.atoms");
    cli_write_text("zero.pqr", "ATOM 1 N LYS 1 3.287 10.092 10.329 0.0000 0.0000\n");
    cli_run(0, NULL, "warning: zero.pqr: every charge of its 1 atom is 0", "map zero.pqr -o out/a.dx " SMALL);
}

/* Atoms that come through a pipe and make no sense: it is not opened a second time to see whether
 * they would with other options, since nobody may ever write to it again. */
static void test_wrong_atoms_through_a_pipe(void **state)
{
    static const char atoms[] = "ATOM 1 N LYS 1 3.287 10.092\n";
    assert_int_equal(mkfifo(cli_path("pipe.pqr"), 0600), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        const int to = open(cli_path("pipe.pqr"), O_WRONLY);
        _exit(write(to, atoms, sizeof atoms - 1) == (ssize_t)sizeof atoms - 1 ? 0 : 1);
    }
    const pid_t child = cli_start("convert pipe.pqr -o out/a.atoms");
    bool is_waiting = true;
    for (int i = 0; i < 3000 && is_waiting; i++) {
        siginfo_t ended = {.si_pid = 0};
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT);
        is_waiting = ended.si_pid == 0;
        usleep(10000);
    }
    if (is_waiting)
        close(open(cli_path("pipe.pqr"), O_WRONLY | O_NONBLOCK));
    cli_wait(child);
    cli_expect(2, NULL, "pipe.pqr:1: ");
    assert_false(is_waiting);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    unlink(cli_path("pipe.pqr"));
}

static void test_meshes_too_large(void **state)
{
    static const cli_failing cases[] = {
        {MAP "--spacing 1e-6", 2, "points overflow 64 bits"},
        {MAP "--dims 2000000000,1,1", 2, "2000000000 points along x"},
        {MAP "--dims 1000000000,1000000000,1000000000", 2, "points overflow 64 bits"},
        {MAP "--dims 100000,100000,100000", 4, "the job would take 3725402 GiB (the map 3725290 GiB), and "},
        {MAP "--dims 100000,100000,100000 --device nowhere", 4, "the job would take 3725402 GiB (the map "},
        {MAP "--dims 10,10,10 --device nowhere", 1, "no device matches \"nowhere\""},
        {MAP "--dims 30,3,3 --origin 0,0,0 --spacing 1e8", 2, "grid: longer than 1e9 A along x"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void test_a_map_that_exists_survives_a_failure(void **state)
{
    cli_write_text("out/a.dx", "precious");
    cli_run(2, NULL, "none.pqr", "map none.pqr -o out/a.dx");
    cli_run(1, NULL, "nosuch", "map ion.pqr -o out/a.dx --device nosuch");
    char *text = cli_read("out/a.dx", NULL);
    assert_string_equal(text, "precious");
    free(text);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

/* ---- Devices that are missing or wrong ------------------------------------------------------- */

static void test_no_device(void **state)
{
    cli_run(3, NULL, "no platform is installed", CLI_NO_DEVICE "map ion.pqr -o out/a.dx");
    cli_assert_nothing_left();
    cli_run(3, NULL, "no platform is installed", CLI_NO_DEVICE "bench");
    cli_run(3, "no platform is installed", "no device found", CLI_NO_DEVICE "devices");
    cli_run(3, "\"devices\": []", "no device found", CLI_NO_DEVICE "devices --json");
    /* Drivers that find no place for their own cache may hide their device. */
    if (strstr(cli("HOME=/proc/nowhere devices")->err, "no device found") != NULL)
        cli_expect(3, "HOME or XDG_CACHE_HOME must name a folder", "no device found");
}

/* A platform that shows its devices only when told to is there, and empty: the remark says how. */
static void test_a_platform_that_waits_to_be_told(void **state)
{
    const char *note = strstr(cli("RUSTICL_ENABLE=nothing devices")->out, "rusticl: no device");
    if (note == NULL) {
        print_message("there is no platform 'rusticl'\n");
        skip();
    }
    assert_non_null(strstr(note, "RUSTICL_ENABLE"));
    assert_true(strstr(note, "RUSTICL_ENABLE") < strchr(note, '\n'));
}

/* Compilers print their warnings past us, so there must be none, even where nothing is in any
 * cache. */
static void test_quiet_first_runs_say_nothing(void **state)
{
    static const char *const lines[] = {
        "map ion.pqr -o out/a.dx -q --spacing 2",
        "map ion.pqr -o out/b.dx -q --spacing 2 --sum double",
        "map ion.pqr -o out/c.dx -q --spacing 2 --method cutoff",
        "boundary ion.pqr -o out/d.dx -q --dims 9,9,9 --glen 50,50,50 --ion 0.1,1,2 --ion 0.1,-1,2",
    };
    for (size_t i = 0; i < (support_is_quick() ? 1 : sizeof lines / sizeof *lines); i++) {
        const char *cold = cli_path("cold");
        const cli_result *result = cli("LEYDEN_CACHE_DIR=%s POCL_CACHE_DIR=%s %s", cold, cold, lines[i]);
        cli_expect(0, NULL, NULL);
        assert_string_equal(result->err, "");
        assert_string_equal(result->out, "");
    }
}

/* Is this platform's device here? Else the test is skipped. */
static void need_device(const char *settings, const char *name)
{
    if (strstr(cli("%s devices", settings)->out, name) != NULL)
        return;
    print_message("there is no device '%s'\n", name);
    skip();
}

static void test_a_device_without_double(void **state)
{
    need_device("RUSTICL_ENABLE=llvmpipe", "llvmpipe");
    cli_run(3, NULL, "has no double precision", "RUSTICL_ENABLE=llvmpipe " MAP SMALL " --device llvmpipe --sum double");
    cli_assert_nothing_left();
}

static void test_devices(void **state)
{
    need_device("", "Portable Computing Language");
    const cli_result *r = cli("devices");
    cli_expect(0, "pthread", NULL); /* platforms without a device, as Clover's, are a remark and no error */
    assert_string_equal(r->err, "");
    cli_run(0, "\"platform\": \"Portable Computing Language\"", NULL, "devices --json");
}

static void test_a_kernel_that_does_not_compile(void **state)
{
    support_copy_kernels("cl", cli_path("broken_cl"), "dcs.cl", "LEY_KERNEL", "this_is_no_type x; LEY_KERNEL");
    const cli_result *r = cli("LEYDEN_KERNEL_DIR=%s " MAP SMALL " --device 0", cli_path("broken_cl"));
    cli_expect(4, NULL, "this_is_no_type"); /* the driver's log quotes the line */
    const char *said = strstr(r->err, "leyden: "), *error = said != NULL ? strstr(said, "error:") : NULL;
    assert_true(error != NULL && error < strchr(said, '\n')); /* in the message's own line */
    assert_string_equal(r->out, "");
    cli_assert_nothing_left();
    cli_run(4, NULL, "cannot be read (LEYDEN_KERNEL_DIR)", "LEYDEN_KERNEL_DIR=/nonexistent " MAP SMALL " --device 0");
    cli_assert_nothing_left();
}

static int dcs_files;

static void count_dcs(const char *path)
{
    dcs_files += strstr(path, "/dcs-") != NULL;
}

/* LEYDEN_DUMP on a real device: what it compiled, also from the cache; and what it said of what it
 * could not. */
static void test_dumped_kernels(void **state)
{
    cli("LEYDEN_DUMP=%s LEYDEN_CACHE_DIR=%s " MAP SMALL " --device 0", cli_path("dump"), cli_path("dump_cache"));
    cli_expect(0, NULL, NULL);
    const int files = cli_each_file("dump", NULL);
    assert_true(files >= 3); /* dcs; so few pairs measure nothing of the device */
    cli("LEYDEN_DUMP=%s LEYDEN_CACHE_DIR=%s " MAP SMALL " --device 0 --verify 0 -v", cli_path("again"),
        cli_path("dump_cache")); /* a judge's kernel is built where there is time */
    cli_expect(0, "(its summing kernel from the cache)", NULL);
    dcs_files = 0; /* where others keep the processor busy, it is calibrated once more */
    cli_each_file("again", count_dcs);
    assert_int_equal(dcs_files, 3);
    cli("LEYDEN_DUMP=/dev/null/x " MAP SMALL " --device 0 --verbose");
    cli_expect(0, NULL, "warning: LEYDEN_DUMP: /dev/null/x/dcs-opencl0-");
    cli("LEYDEN_DUMP=/dev/null/x " MAP SMALL " --device 0");
    cli_expect(0, NULL, "LEYDEN_DUMP: /dev/null/x/dcs-opencl0-");
    cli_expect(0, NULL, ".cl: Not a directory\n");
    const cli_result *r = cli_run(0, NULL, NULL, "LEYDEN_DUMP=/dev/null/x " MAP SMALL " --device 0 --quiet");
    assert_string_equal(r->err, "");
    r = cli("LEYDEN_DUMP=%s " MAP SMALL " --device 0", cli_path("deep/er/still")); /* all levels are made */
    cli_expect(0, NULL, NULL);
    assert_string_equal(r->err, "");
    assert_true(cli_each_file("deep/er/still", NULL) >= 3);
}

/* The self-test must find each of these faults in each kind of kernel. */
static void test_a_kernel_that_is_wrong(void **state)
{
    static const struct {
        const char *directory, *from, *to;
        const char *not_in; /* a variant that has nothing of it */
    } faults[] = {
        {"far_cl", "LEY_ROOT_SCALE", "(1.01f * LEY_ROOT_SCALE)", NULL}, /* 1 % too much */
        {"near_cl", "a.w * LEY_RSQRT(", "a.w * 1.01f * LEY_RSQRT(",
         "simple"}, /* the same within r_min, where atoms are staged */
        {"clamp_cl", ": ley_clamped_r2(dx2[u] + dyz2,", ": ley_clamped_r2(1.02f * (dx2[u] + dyz2),",
         "tiled16"},                                                /* where not */
        {"batch_cl", "accumulate || block > 0", "block > 0", NULL}, /* the last launch wins */
        {"row_cl", "v * LEY_WG_Y * row_vectors", "v * LEY_WG_Y * 0",
         "simple"}, /* rows on top of each other; it has one */
    };
    static const char *const kinds[] = {"", "--variant simple", "--variant tiled16"};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f += support_is_quick() ? 4 : 1) {
        support_copy_kernels("cl", cli_path(faults[f].directory), "dcs", faults[f].from, faults[f].to);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const bool usual = kinds[k][0] == '\0'; /* stages its atoms like tiled16 */
            if (support_is_quick() && k != f / 2)   /* of each fault one kind */
                continue;
            if (faults[f].not_in != NULL &&
                (strstr(kinds[k], faults[f].not_in) != NULL || (usual && strcmp(faults[f].not_in, "tiled16") == 0)))
                continue;
            const cli_result *r =
                cli("LEYDEN_KERNEL_DIR=%s " MAP SMALL " --device 0 %s", cli_path(faults[f].directory), kinds[k]);
            cli_expect(5, NULL, "self-test of dcs failed");
            assert_string_equal(r->out, "");
            cli_assert_nothing_left();
        }
    }
    cli(MAP SMALL " --device 0"); /* nothing wrong was kept for later */
    cli_expect(0, NULL, NULL);
}

/* ---- Good maps ------------------------------------------------------------------------------- */

static ley_atoms *read_molecule(const char *path)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    assert_ok(ley_atoms_read_pqr(path, &atoms, &error));
    return atoms;
}

/* The map in this file is that of this molecule, times a constant. */
static void assert_right_map(const char *molecule, const char *name, double scale, double r_min_A)
{
    ley_atoms *atoms = read_molecule(molecule);
    ley_map *map = cli_read_map(name);
    ley_map *reference = support_reference_map(atoms, ley_map_grid(map), r_min_A);
    const int64_t n = ley_grid_points(ley_map_grid(map));
    for (int64_t i = 0; i < n; i++)
        ley_map_values(reference)[i] *= (float)scale;
    assert_true(support_difference(map, reference) < 1e-5);
    ley_map_destroy(reference);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_a_map_by_padding(void **state)
{
    const cli_result *r = cli("map ion.pqr -o out/a.dx --spacing 1.25 --padding 4 --verify 100");
    cli_expect(0, "written: out/a.dx", NULL);
    assert_has(r->out, "\nmethod: dcs, direct Coulomb summation, in vacuum (dielectric 1); relative RMS error ");
    assert_non_null(strstr(r->out, "40 atoms"));
    assert_string_equal(r->err, "");
    assert_right_map(cli_path("ion.pqr"), "out/a.dx", 1, 0.05);
    char *text = cli_read("out/a.dx", NULL);
    assert_non_null(strstr(text, "# accuracy: error at most"));
    assert_non_null(strstr(text, "at 100 points")); /* the seed decides all: a tolerance is held at up to 256 */
    free(text);
    ley_map *map = cli_read_map("out/a.dx");
    assert_string_equal(ley_map_units(map), "kT/e");
    assert_true(ley_map_grid(map)->step_A[1][1] == 1.25);
    ley_map_destroy(map);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

static void test_dims_origin_and_units(void **state)
{
    cli("map ion.pqr -o out/a.dx.gz --dims 21,10,7 --origin -1.5,2,3.25 --spacing 0.75 --units V --dielectric 4 "
        "--r-min 1");
    cli_expect(0, "21 x 10 x 7 = 1,470 points", NULL);
    const double scale =
        ley_coulomb_constant(LEY_UNITS_VOLT, 4, 298.15) / ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    assert_right_map(cli_path("ion.pqr"), "out/a.dx.gz", scale, 1);
    ley_map *map = cli_read_map("out/a.dx.gz");
    const ley_grid *grid = ley_map_grid(map), wanted = {{-1.5, 2, 3.25}, LEY_STEPS(0.75, 0.75, 0.75), {21, 10, 7}};
    assert_memory_equal(grid, &wanted, sizeof wanted);
    assert_string_equal(ley_map_units(map), "V");
    ley_map_destroy(map);
    char *bytes = cli_read("out/a.dx.gz", NULL);
    assert_memory_equal(bytes, "\x1f\x8b", 2);
    free(bytes);
}

/* Far from the origin, too, the values belong to the points that the header names. */
static void test_maps_far_from_the_origin(void **state)
{
    static const double places_A[] = {1.2e4, -1e6};
    for (size_t i = 0; i < sizeof places_A / sizeof *places_A; i++) {
        const double x_A = places_A[i] + 1.234567;
        char text[512];
        snprintf(text, sizeof text,
                 "ATOM 1 C MOL A 1 %.9f %.9f %.9f 1.0 1.7\nATOM 2 C MOL A 1 %.9f %.9f %.9f -0.7 1.7\n", x_A, x_A + 0.1,
                 -x_A, x_A + 2.3, x_A, 1.1 - x_A);
        cli_write_text("far.pqr", text);
        cli_run(0, "written:", NULL, "map far.pqr -o out/a.dx --spacing 0.4 --padding 3");
        assert_right_map(cli_path("far.pqr"), "out/a.dx", 1, 0.05);
        cli("map far.pqr -o out/b.dx --dims 12,10,9 --spacing 0.3333333333333333 --origin %.9f,%.9f,%.9f", x_A - 1.3333,
            x_A - 2.20717, -x_A - 1.1);
        cli_expect(0, "written:", NULL);
        assert_right_map(cli_path("far.pqr"), "out/b.dx", 1, 0.05);
        cli_run(0, "written:", NULL, "map far.pqr -o out/c.dx --dims 12,10,9 --spacing 0.3");
        assert_right_map(cli_path("far.pqr"), "out/c.dx", 1, 0.05);
        ley_map *map = cli_read_map("out/c.dx");
        for (int axis = 0; axis < 3; axis++) {
            const double origin_A = ley_map_grid(map)->origin_A[axis];
            assert_true(origin_A == 0.3 * round(origin_A / 0.3));
        }
        ley_map_destroy(map);
    }
}

static void test_a_protein(void **state)
{
    static const char protein[] = "/usr/share/apbs/examples/misc/fas2.pqr";
    if (access(protein, R_OK) != 0) {
        print_message("there is no %s\n", protein);
        skip();
    }
    cli_run(0, "906 atoms", NULL, "map %s -o out/a.dx --dims 30,30,30 --spacing 1.5 --verify 200", protein);
    assert_right_map(protein, "out/a.dx", 1, 0.05);
}

static void test_quiet(void **state)
{
    const cli_result *r = cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx " SMALL " --verify 10 --quiet");
    assert_string_equal(r->out, "");
    assert_string_equal(r->err, "");
}

static void test_the_same_command_makes_the_same_bytes(void **state)
{
    static const char *const kinds[] = {"", "--sum compensated", "--variant tiled16", "--slab 1"}; /* quick: ends */
#define RUN "map ion.pqr --dims 40,30,20 --verify 50 --device 0 "
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k += support_is_quick() ? 3 : 1) {
        cli_run(0, NULL, NULL, RUN "-o out/a.dx %s", kinds[k]);
        cli_run(0, NULL, NULL, RUN "-o out/b.dx %s", kinds[k]);
        cli_assert_same_files("out/a.dx", "out/b.dx");
    }
}

/* ---- The report ------------------------------------------------------------------------------ */

static void test_the_json_report(void **state)
{
    const cli_result *r = cli("map ion.pqr -o out/a.dx " SMALL " --verify 100 --json out/a.json");
    cli_expect(0, "written:", NULL);
    cli_python(
        "import json\n"
        "r = json.load(open('out/a.json'))\n"
        "assert (r['program'], r['command'], r['operand']) == ('leyden', 'map', 'ion.pqr')\n"
        "o = r['options']\n"
        "for name in '''output method spacing dims origin padding dielectric temperature units r-min device math sum\n"
        "variant verify seed slab json quiet'''.split(): assert name in o, name\n"
        "assert o['spacing'] == 0.75 and o['dims'] == [20, 9, 5] and o['origin'] is None and o['units'] == 'kT/e'\n"
        "assert r['status'] == 'LEY_OK' and r['exit_code'] == 0\n"
        "assert r['molecule']['atoms'] == 40 and r['grid']['points'] == 900\n"
        "d, = r['devices']\n"
        "assert d['device']['name'] and d['device']['driver'] and d['variant'] and d['root'] and d['share'] == 1\n"
        "assert d['points'] == 900 and d['evaluations_per_s'] > 0 and '-DLEY_WIDTH=' in d['specification']\n"
        "assert r['evaluations'] == 36000 and r['evaluations_per_s'] > 0\n"
        "for phase in 'reading preparing computing verifying writing total'.split(): assert r['seconds'][phase] >= 0\n"
        "a = r['accuracy']\n"
        "assert a['points'] == 100 and a['passed'] and 0 <= a['max_error'] < a['tolerance'] <= 1e-5\n"
        "assert sum(s['count'] for s in r['slabs']) == 5\n"
        "import os\n"
        "assert r['bytes_written'] == os.path.getsize('out/a.dx')\n");
    r = cli_run(0, "\"program\": \"leyden\"", NULL, "map ion.pqr -o out/a.dx " SMALL " --json -");
    assert_int_equal(r->out[0], '{'); /* in place of the text */
    assert_string_equal(r->err, "");
}

/* A job that fails also leaves its report, but no map. */
static void test_the_json_report_of_a_failure(void **state)
{
    cli("LEYDEN_KERNEL_DIR=%s map ion.pqr -o out/a.dx " SMALL " --device 0 --json -", cli_path("far_cl"));
    cli_expect(5, "\"status\": \"LEY_ERROR_WRONG_RESULT\"", "self-test");
    cli_assert_nothing_left();
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* In the midst of its work, whatever that is: at once, with a report, and nothing else is left. */
static void test_interrupted_while_computing(void **state)
{
    static const struct {
        const char *line;
        double work_s, most_s; /* of processors: before the signal, and after it; the whole takes minutes */
    } cases[] = {
        {"map large.pqr -o out/a.dx --method dcs --dims 256,256,256", 1, 20},
        {"map large.pqr -o out/a.dx --method cutoff --cutoff 60 --dims 256,256,256", 1.5, 15},
        {"boundary large.pqr -o out/a.dx --dime 513,513,513 --glen 200,200,200", 1.5, 20},
        {"map water.atoms -o out/a.raw --spacing 0.4 --method msm --cutoff 10 --mesh-spacing 0.9", 0.05, 5},
        {"map water.atoms -o out/a.raw --spacing 0.4 --method msm --cutoff 10 --mesh-spacing 0.9 --solver mixed", 0.6,
         5},
        {"map water.atoms -o out/a.raw --spacing 0.4 --method msm --solver fourier --window bspline6 --splitting pswf",
         2, 5},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    cli_write_molecule("large.pqr", 100000, 90, 5);
    cli_run(0, NULL, NULL, "generate waterbox --atoms 300000 --disorder 0.3 -o water.atoms --quiet");
    for (size_t i = 0; i < CASES * (support_is_quick() ? 1 : 2); i++) {
        const int code = 128 + ((i + i / CASES) % 2 == 0 ? SIGINT : SIGTERM);
        char script[512];
        unlink(cli_path("out/a.json"));
        pid_t child = cli_start("%s --device pocl --json out/a.json --quiet", cases[i % CASES].line);
        const double before_s = cli_wait_for_work(child, cases[i % CASES].work_s);
        kill(child, code - 128);
        const cli_result *r = cli_wait(child);
        cli_expect(code, "", NULL);
        assert_string_equal(r->out, "");
        assert_true(r->cpu_s < before_s + cases[i % CASES].most_s); /* compilers in the background are not waited for */
        snprintf(script, sizeof script,
                 "import json, os\nif os.path.exists('out/a.json'): # that of a signal before the work is not there\n"
                 "    report = json.load(open('out/a.json'))\n"
                 "    assert report['status'] == 'LEY_CANCELLED' and report['error'] == 'cancelled', report\n"
                 "    assert report['exit_code'] == %d and report['bytes_written'] is None, report\n",
                 code);
        cli_python(script);
        unlink(cli_path("out/a.json"));
        cli_assert_nothing_left();
    }
}

static void test_an_interrupted_bench_says_so(void **state)
{
    pid_t child = cli_start("bench --kernel dcs --device 0 --dims 64,64,64 --atoms 2000 --repeats 100");
    cli_wait_for_work(child, 0.7);
    kill(child, SIGINT);
    cli_wait(child);
    cli_expect(130, "", "cancelled");
}

static void test_interrupted_while_writing(void **state)
{
    pid_t child = cli_start("map ion.pqr -o out/a.dx.gz --dims 300,250,120 --device 0");
    for (int ms = 0; ms < 300000 && cli_each_file(CLI_OUT, NULL) == 0; ms++)
        usleep(1000);
    kill(child, SIGINT);
    cli_wait(child);
    cli_expect(130, NULL, NULL);
    cli_assert_nothing_left();
}

/* ---- The build cache ------------------------------------------------------------------------- */

static const char *reported_cache_use(const char *settings)
{
    const cli_result *r = cli("%s map ion.pqr -o out/a.dx " SMALL " --device 0 --json -", settings);
    cli_expect(0, "\"from_cache\": ", NULL);
    return strstr(r->out, "\"from_cache\": true") != NULL ? "hit" : "miss";
}

static void cut(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size / 2), 0);
}

static void clear(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void flip(const char *path)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -1, SEEK_END);
    int last = fgetc(file);
    fseek(file, -1, SEEK_END);
    fputc(last ^ 1, file);
    fclose(file);
}

static void scribble(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "no cache %d\n", i);
    fclose(file);
}

static void test_a_damaged_cache_is_a_miss(void **state)
{
    static void (*const damages[])(const char *) = {cut, clear, flip, scribble};
    static const char own[] = "LEYDEN_CACHE_DIR=deep/er/cache2", *directory = "deep/er/cache2/leyden";
    struct stat status;
    assert_string_equal(reported_cache_use(own), "miss");
    assert_int_equal(stat(cli_path(directory), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_true(cli_each_file(directory, NULL) > 0);
    assert_string_equal(reported_cache_use(own), "hit");
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i += support_is_quick() ? 2 : 1) {
        cli_each_file(directory, damages[i]);
        assert_string_equal(reported_cache_use(own), "miss");
        assert_string_equal(reported_cache_use(own), "hit");
    }
}

static void test_a_cache_that_cannot_be(void **state)
{
    cli_write_text("file", "not a directory");
    assert_string_equal(reported_cache_use("LEYDEN_CACHE_DIR=file"), "miss");
    assert_string_equal(reported_cache_use("LEYDEN_CACHE_DIR=file/below"), "miss");
    assert_string_equal(reported_cache_use("LEYDEN_CACHE_DIR=/proc/none"), "miss");
    assert_string_equal(reported_cache_use("LEYDEN_CACHE_DIR=/proc/none"), "miss");
}

/* It is said once, whatever could not be kept, and by every command. */
static void test_a_cache_that_cannot_be_is_said(void **state)
{
    static const char warning[] = "leyden: warning: the build cache cannot be written";
    cli_write_text("file", "not a directory");
    const cli_result *r = cli("LEYDEN_CACHE_DIR=file map ion.pqr -o out/a.dx " SMALL " --device 0");
    cli_expect(0, "written:", "file/leyden: Not a directory\n");
    assert_memory_equal(r->err, warning, strlen(warning));
    assert_true(strchr(r->err, '\n') == r->err + strlen(r->err) - 1); /* one line */
    r = cli("LEYDEN_CACHE_DIR=/proc/none boundary ion.pqr -o out/a.dx --dims 5,5,5 --glen 90,90,90 --device 0");
    cli_expect(0, "written:", warning);
    r = cli("LEYDEN_CACHE_DIR=file map ion.pqr -o out/a.dx " SMALL " --device 0 --quiet");
    cli_expect(0, NULL, NULL);
    assert_string_equal(r->err, "");
    assert_int_equal(mkdir(cli_path("open"), 0755), 0);
    assert_int_equal(mkdir(cli_path("open/leyden"), 0755), 0);
    assert_int_equal(chmod(cli_path("open/leyden"), 0755), 0);
    cli("LEYDEN_CACHE_DIR=open map ion.pqr -o out/a.dx " SMALL " --device 0");
    cli_expect(0, "written:", "open/leyden: it is not this user's alone (mode 0700)\n");
    r = cli("map ion.pqr -o out/a.dx " SMALL " --device 0");
    cli_expect(0, "written:", NULL);
    assert_string_equal(r->err, "");
}

/* ---- The other commands ---------------------------------------------------------------------- */

/* On standard error, each line with its seconds; results are those of a silent run. */
static void test_verbose(void **state)
{
    const cli_result *r = cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx " SMALL " --device 0");
    assert_string_equal(r->err, "");
    r = cli("map ion.pqr -o out/b.dx " SMALL " --device 0 -v");
    cli_expect(0, "written: out/b.dx", "note: device 0 by opencl: ");
    cli_expect(0, NULL, "took dcs from the cache in ");
    cli_expect(0, NULL, ": variant ");
    cli_expect(0, NULL, "detail: ");
    double last_s = 0;
    for (const char *line = r->err; *line != '\0'; line = strchr(line, '\n') + 1) {
        double at_s;
        assert_int_equal(sscanf(line, "leyden: [%lf s] ", &at_s), 1);
        assert_true(at_s >= last_s && at_s <= r->seconds);
        last_s = at_s;
    }
    assert_null(strstr(r->out, "note: "));
    cli_assert_same_files("out/a.dx", "out/b.dx");
    cli_run(0, NULL, "note: device 0 by opencl: ", "devices --verbose");
    cli_run(0, "  -v, --verbose ", NULL, "map --help");
    cli_run(0, "  -v, --verbose ", NULL, "map --help -o x.dx");
    cli_run(1, NULL, "map: --help: unknown value 'alll' (did you mean '--help-all'?)", "map --help alll");
    cli_run(1, NULL, "map: --help: unknown value '' (did you mean '--help-all'?)", "map --help=");
    cli_run(1, NULL, "map: --help: unknown value 'al' (did you mean '--help-all'?)", "map -h al");
    cli_run(1, NULL, "(did you mean 'leyden help map all'?)", "help map al");
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"map ion.pqr -o out/a.dx -v -q", 1, "map: --quiet and --verbose exclude each other"},
        {"map ion.pqr -o out/a.dx --verbos", 1, "unknown option '--verbos' (did you mean '--verbose'?)"},
        {"map ion.pqr -o out/a.dx --verbose=1", 1, "--verbose takes no value"},
        {"map ion.pqr -o out/a.dx -vq", 1, "-v takes no value, 'q'"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void expect_in_file(const char *name, const char *part)
{
    char *text = cli_read(name, NULL);
    assert_non_null(strstr(text, part));
    free(text);
}

static void test_bench(void **state)
{
    const char *only = support_is_quick() ? "tiled8" : NULL; /* else all variants */
    const cli_result *r =
        cli("bench --kernel dcs --dims 64,64,2 --atoms 500 --repeats 2 --device 0%s%s --json out/a.json",
            only != NULL ? " --variant " : "", only != NULL ? only : "");
    cli_expect(0, " FMA/s\n", NULL);
    assert_null(strstr(r->out, "WRONG"));
    assert_null(strstr(r->out, "failed"));
    const char *name;
    for (size_t i = 0; (name = ley_variant_name("dcs", LEY_TARGET_GRID, i)) != NULL; i++) {
        char row[64];
        snprintf(row, sizeof row, "\n%s ", name);
        assert_true((strstr(r->out, row) != NULL) == (only == NULL || strcmp(name, only) == 0));
    }
    expect_in_file("out/a.json", "\"evaluations_per_s\": ");
}

static void test_bench_of_transforms(void **state)
{
    const cli_result *r =
        cli("bench --kernel fft --fft vkfft --dims 16,12,10 --repeats 2 --device 0 --json out/a.json");
    cli_expect(0, "bytes/s of its memory, read and written by a kernel that copies", NULL);
    assert_non_null(strstr(r->out, "16 x 12 x 10 points, transformed in place, there and back"));
    assert_non_null(strstr(r->out, "\nvkfft"));
    assert_non_null(strstr(r->out, "\nvkfft-tables"));
    assert_null(strstr(r->out, "\nclfft"));
    expect_in_file("out/a.json", "\"memory_share\": ");
    cli("bench --kernel fft --fft cufft --dims 16,12,10 --device opencl:0");
    cli_expect(3,
               "there is no cufft for devices by opencl: take fftw, vkfft, clfft, or a device by cuda (leyden devices",
               "nothing was measured: ");
    cli("bench --kernel msm --preset fft --fft cufft --atoms 300 --repeats 1 --device opencl:0");
    cli_expect(3,
               "there is no cufft for devices by opencl: take fftw, vkfft, clfft, or a device by cuda (leyden devices",
               "nothing was measured: ");
    cli("bench --kernel fft --dims 10000,10000,10000 --device 0");
    cli_expect(1, NULL, "10000 x 10000 x 10000 values takes 3.6 TiB, and the devices' largest buffer is ");
    cli("bench --kernel fft --fft fftz");
    cli_expect(1, NULL, "unknown value 'fftz', it must be one of auto, fftw, vkfft, clfft, cufft");
}

/* On a device whose transforms are all wrong. */
static void test_bench_of_wrong_transforms(void **state)
{
    cli("%sbench --kernel fft --fft vkfft --dims 16,12,10 --repeats 2 --device 0",
        cli_faulty("call=clEnqueueReadBuffer,at=1,fault=slight,ever=1"));
    cli_expect(5, "WRONG: no transform of 16 x 12 x 10: vkfft: of the known answer",
               "a variant computes wrong results");
}

int main(void)
{
    return RUN_GROUP(
        SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_help_and_version, test_exit_codes_are_documented,
        test_wrong_commands, test_wrong_options, test_bad_molecules, test_pdb_files, test_wrong_atoms_through_a_pipe,
        test_meshes_too_large, test_a_map_that_exists_survives_a_failure, test_no_device,
        test_a_platform_that_waits_to_be_told, test_quiet_first_runs_say_nothing, test_a_device_without_double,
        test_devices, test_a_kernel_that_does_not_compile, test_dumped_kernels, test_a_kernel_that_is_wrong,
        test_a_map_by_padding, test_dims_origin_and_units, test_maps_far_from_the_origin, test_a_protein, test_quiet,
        test_the_same_command_makes_the_same_bytes, test_the_json_report, test_the_json_report_of_a_failure,
        test_interrupted_while_computing, test_an_interrupted_bench_says_so, test_interrupted_while_writing,
        test_a_damaged_cache_is_a_miss, test_a_cache_that_cannot_be, test_a_cache_that_cannot_be_is_said, test_verbose,
        test_bench, test_bench_of_transforms, test_bench_of_wrong_transforms);
}
