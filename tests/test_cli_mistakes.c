/* What people type wrongly, and the command that each message holds for them to type next; what an
 * ordinary run prints. */
#include "cli_support.h"

#include <sys/stat.h>
#include <unistd.h>

static int prepare(void **state)
{
    const int code = cli_prepare(state);
    cli_write_text("adk.psf", "PSF\n\n       1 !NTITLE\n REMARKS none\n");
    cli_write_text("adk_dims.dcd", "none");
    cli_write_text("a.gro", "one atom\n    1\nnothing\n");
    cli_write_text("run.tpr", "nothing");
    cli_write_text("lone.prmtop", "%VERSION  VERSION_STAMP = V0001.000\n");
    cli_write_text("ligand.mol2", "@<TRIPOS>MOLECULE\n");
    cli_write_text("protein.pdb", "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n");
    cli_write_text("empty.pdb", "");
    cli_write_text("protein.cif", "data_1ABC\nloop_\n_atom_site.id\n");
    cli_write_text("empty.pqr", "");
    cli_write_molecule("box.pqr", 3000, 30, 1);
    cli_write_molecule("in_nm.pqr", 3000, 3, 1);
    cli_write_text("sparse.pqr", "ATOM 1 C MOL 1 0 0 0 1 1\nATOM 2 C MOL 1 20 20 20 -1 1\n");
    cli_write_text("x';y.psf", "PSF\n\n       1 !NTITLE\n REMARKS none\n");
    mkdir(cli_path("folder"), 0777);
    mkdir(cli_path("hollow"), 0777);
    mkdir(cli_path("packed"), 0777);
    mkdir(cli_path("gromacs"), 0777);
    mkdir(cli_path("alone"), 0777);
    cli_write_text("gromacs/a.tpr", "");
    cli_write_text("gromacs/md.tpr", "");
    cli_write_text("gromacs/b.gro", "");
    cli_write_text("gromacs/md.gro", "");
    cli_write_text("alone/md.gro", "");
    cli_write_text("packed/A.PQR.GZ", "");
    cli_write_molecule("folder/b.pqr", 3, 5, 1);
    cli_write_molecule("folder/a.pqr", 3, 5, 1);
    cli_write_text("z.dx", "");
    cli_run(0, "", NULL, "map folder/a.pqr -o a.dx --dims 5,5,5 --spacing 1 --device host -q");
    cli_run(0, "", NULL, "map folder/a.pqr -o b.dx --dims 6,5,5 --spacing 1 --device host -q");
    cli_run(0, "", NULL, "map folder/a.pqr -o v.dx --dims 5,5,5 --spacing 1 --units V --device host -q");
    return code;
}

#define CONVERT "python3 -m leyden convert "
#define PACKAGE " (by leyden's Python package)\n"
#define NEXT "; type: leyden map "

static void test_each_mistake_has_its_next_command(void **state)
{
    static const cli_failing cases[] = {
        {"map adk.psf -o out/a.dx", 2, CONVERT "'adk.psf' 'adk_dims.dcd' -o NEW.pqr makes a PQR file of both" PACKAGE},
        {"map a.gro -o out/a.dx", 2,
         "a.gro: this is a gro file, coordinates without charges, not a PQR file: " CONVERT
         "'run.tpr' 'a.gro' -o NEW.pqr makes a PQR file of both" PACKAGE},
        {"map run.tpr -o out/a.dx", 2, CONVERT "'run.tpr' 'a.gro' -o NEW.pqr makes a PQR file of both" PACKAGE},
        {"map gromacs/md.gro -o out/a.dx", 2, CONVERT "'gromacs/md.tpr' 'gromacs/md.gro' -o NEW.pqr makes"},
        {"map gromacs/md.tpr -o out/a.dx", 2, CONVERT "'gromacs/md.tpr' 'gromacs/md.gro' -o NEW.pqr makes"},
        {"map alone/md.gro -o out/a.dx", 2, CONVERT "TOPOLOGY 'alone/md.gro' -o NEW.pqr makes"},
        {"map lone.prmtop -o out/a.dx", 2,
         CONVERT "'lone.prmtop' COORDINATES -o NEW.pqr makes a PQR file of both" PACKAGE},
        {"map x';y.psf -o out/a.dx", 2, CONVERT "'FILE' COORDINATES -o NEW.pqr makes"},
        {"map ligand.mol2 -o out/a.dx", 2, CONVERT "'ligand.mol2' -o NEW.pqr makes a PQR file of it" PACKAGE},
        {"map protein.pdb -o out/a.dx", 2, "pdb2pqr --ff AMBER 'protein.pdb' NEW.pqr makes a PQR file of it"},
        {"map empty.pdb -o out/a.dx", 2, "pdb2pqr --ff AMBER 'empty.pdb' NEW.pqr makes a PQR file of it\n"},
        {"map protein.cif -o out/a.dx", 2, "pdb2pqr --ff AMBER 'protein.cif' NEW.pqr makes a PQR file of it\n"},
        {"map empty.pqr -o out/a.dx", 2,
         "empty.pqr: no ATOM or HETATM record, the file is empty: pdb2pqr --ff AMBER NAME.pdb NEW.pqr makes a PQR "},
        {"map boks.pqr -o out/a.dx", 2,
         "boks.pqr: No such file or directory: did you mean box.pqr? Type: leyden map box.pqr -o out/a.dx\n"},
        {"map folder/c.pqr -o out/a.dx", 2, "did you mean folder/a.pqr? Type: leyden map folder/a.pqr -o out/a.dx\n"},
        {"convert protien.cif -o out/a.pqr", 2, "Type: leyden convert protein.cif -o out/a.pqr\n"},
        {"slice nothing.dx -o out/a.png", 2,
         "nothing.dx: No such file or directory; to see which files there are, type: ls .\n"},
        {"map none/a.pqr -o out/a.dx", 2, "there is no such folder; type: mkdir -p none/\n"},
        {"map box.pqr -o none/a.dx", 2, "there is no such folder; type: mkdir -p none/\n"},
        {"map folder -o out/a.dx", 2,
         "folder: Is a directory: did you mean folder/a.pqr? Type: leyden map folder/a.pqr -o out/a.dx\n"},
        {"map packed -o out/a.dx", 2, "did you mean packed/A.PQR.GZ? Type: leyden map packed/A.PQR.GZ -o out/a.dx\n"},
        {"map hollow -o out/a.dx", 2, "hollow: Is a directory; to see which files it holds, type: ls hollow\n"},
        {"map box.pqr -o out/a.dx --periodic xyz --cell 3,3,3", 2,
         "111 in each cubic A, and water has 0.1, so these lengths may be nm" NEXT
         "box.pqr -o out/a.dx --periodic xyz --cell 30,30,30\n"},
        {"map box.pqr -o out/a.dx --periodic xyz --cell 3.2,3.2,3.2,90,90,60", 2, "--cell 32,32,32,90,90,60\n"},
        {"map in_nm.pqr -o out/a.dx --periodic xyz --cell 3,3,3", 2,
         "so these lengths and the coordinates may be nm; '" CONVERT
         "TOPOLOGY COORDINATES -o NEW.pqr' writes the coordinates in A" NEXT
         "NEW.pqr -o out/a.dx --periodic xyz --cell 30,30,30\n"},
        {"map box.pqr -o out/a.dx --periodic xyz", 1, "as in: --periodic xyz --cell 90,90,90\n"},
        {"map box.pqr -o out/a.dx --cell 30,30,30", 1, "as in: --periodic xyz --cell 30,30,30\n"},
        {"map box.pqr -o out/a.dx --device vodoo", 1,
         "no device matches \"vodoo\"; to see which there are, type: leyden devices\n"},
        {"map box.pqr -o out/a.dx --device all,host", 1,
         "\"host\" is no device: jobs take it, by itself, and then the host does them alone; \"cpu\" names the "
         "processor as a device\n"},
        {"map box.pqr -o out/a.dx --device 0 --device 1", 1,
         "--device is given twice: once is enough, with commas between devices\n"},
        {"map box.pqr -o out/a.dx --spaceing 1", 1, "unknown option '--spaceing' (did you mean '--spacing'?)"},
        {"mapp box.pqr", 1, "unknown command 'mapp' (did you mean 'map'?)"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* Of every command what newcomers type. */
static void test_wrong_command_lines(void **state)
{
    static const cli_failing cases[] = {
        {"map box.pqr out/a.dx", 1, "map: --output is missing; type: leyden map box.pqr -o out/a.dx\n"},
        {"slice a.dx out/a.png", 1, "'out/a.png' is one argument too many; type: leyden slice a.dx -o out/a.png\n"},
        {"convert box.pqr out/a.atoms", 1, "; type: leyden convert box.pqr -o out/a.atoms\n"},
        {"generate waterbox out/w.pqr", 1, "; type: leyden generate waterbox -o out/w.pqr\n"},
        {"surface box.pqr -o out/a.png --angles 0 90", 1,
         "'90' is one argument too many: numbers of an option are separated by commas, as 1,2,3\n"},
        {"map box.pqr -o out/a.dx --dims 65 33 17", 1, "not '65'; type: --dims 65,33,17\n"},
        {"map box.pqr -o out/a.dx --dims 65", 1, "not '65'; type: --dims 65,65,65\n"},
        {"map box.pqr -o out/a.dx --dims 65x65x33", 1, "; type: --dims 65,65,33\n"},
        {"map box.pqr -o out/a.dx --spacing 0.5A", 1, "not '0.5A'; type: --spacing 0.5\n"},
        {"map box.pqr -o out/a.dx --tol 1%", 1, "not '1%'; type: --tol 0.01\n"},
        {"map box.pqr -o out/a.dx --tol 0,001", 1, "not '0,001'; type: --tol 0.001\n"},
        {"map box.pqr -o out/a.dx --temperature 300K", 1, "; type: --temperature 300\n"},
        {"map box.pqr -o out/a.dx --dielectric water", 1,
         "--dielectric takes a number (E), not 'water'; type: --dielectric 78.54\n"},
        {"map box.pqr -o out/a.dx --dielectric vacuum", 1, "; type: --dielectric 1\n"},
        {"map box.pqr -o out/a.dx --temperature warm", 1, "; type: --temperature 300\n"},
        {"map box.pqr -o out/a.dx --salt 0.15", 1, "unknown option '--salt'; type: --kappa 0.127 (1/A, of 0.15 mol/l "},
        {"map box.pqr -o out/a.dx --ionic-strength=0.15", 1, "'--ionic-strength'; type: --kappa 0.127 (1/A, of"},
        {"boundary box.pqr -o out/b.dx --salt 0.15", 1, "; type: --ion 0.15,1,2 --ion 0.15,-1,2 (each: mol/l, "},
        {"ions box.pqr -o out/b.pqr --salt 0.15", 1, "; type: --ion NA --ion CL --concentration 0.15\n"},
        {"map box.pqr -o out/a.dx --ngrid 65,65,65", 1, "; type: leyden map box.pqr -o out/a.dx --dims 65,65,65\n"},
        {"map box.pqr -o out/a.dx --resolution=1", 1, "; type: leyden map box.pqr -o out/a.dx --spacing=1\n"},
        {"map box.pqr -o out/a.dx -spacing 1", 1,
         "'-spacing' has one dash, and options of several letters have two; type: leyden map box.pqr -o out/a.dx "
         "--spacing 1\n"},
        {"map box.pqr -out out/a.dx", 1, "; type: leyden map box.pqr --output out/a.dx\n"},
        {"map -f box.pqr -o out/a.dx", 1, "unknown option '-f'; type: leyden map protein.pqr -o protein.dx"},
        {"map box.pqr -o out/a.dx --periodic", 1, "--periodic lacks its value (AXES); type: --periodic xyz\n"},
        {"map box.pqr -o out/a.dx --periodic --cell 30,30,30", 1, " before --cell; type: --periodic xyz\n"},
        {"map box.pqr -o out/a.dx --pbc", 1, "unknown option '--pbc'; type: --periodic xyz\n"},
        {"map box.pqr -o out/a.dx --periodic true --cell 9,9,9", 1, "; type: --periodic xyz\n"},
        {"map box.pqr -o out/a.dx --periodic xyz --cell", 1, "; type: --cell 90,90,90\n"},
        {"map box.pqr -o", 1, "--output lacks its value (MAP), as in: leyden map protein.pqr -o protein.dx"},
        {"map box.pqr -o out/a.dx --gpu", 1, "unknown option '--gpu'; type: --device gpu\n"},
        {"map box.pqr -o out/a.dx --threads 4", 1, "; type: taskset -c 0-3 leyden map MOLECULE -o MAP.dx (for four "},
        {"map box.pqr -o out/a.dx --pdie 2", 1, "; type: leyden apbs INPUT.in (for the Poisson-Boltzmann "},
        {"map box.pqr -o out/a.dx --units mV", 1, "; type: --units V\n"},
        {"map box.pqr -o out/a.dx --method pme", 1, "; type: --method msm (sums over meshes, to --tol)\n"},
        {"map box.pqr -o out/a.dx --traj adk_dims.dcd", 1, "; type: python3 -m leyden average TOPOLOGY TRAJECTORY -o "},
        {"map box.pqr -o out/a.dx --ff AMBER", 1, "; type: pdb2pqr --ff AMBER NAME.pdb NEW.pqr (charges and radii "},
        {"slice a.dx -o out/a.png --axis z", 1, "; type: leyden slice a.dx -o out/a.png --plane z\n"},
        {"slice a.dx -o out/a.png --plane xy", 1, "x, y, z; type: --plane z (the axis normal to it)\n"},
        {"slice a.dx -o out/a.png --vmax 5", 1, "; type: leyden slice a.dx -o out/a.png --limits 5\n"},
        {"slice a.dx -o out/a.png --limits five", 1, "not 'five'; type: --limits 5\n"},
        {"slice a.dx -o out/a.png --cmap bwr", 1, "; type: python3 -c 'import leyden; leyden.Map("},
        {"slice a.dx b.dx -o out/a.png", 1, "; type: leyden slice a.dx --difference b.dx -o out/a.png\n"},
        {"slice a.dx box.pqr -o out/a.png", 1, "; type: leyden slice a.dx --molecule box.pqr -o out/a.png\n"},
        {"slice a.dx -o out/a.png --size 1600x1200", 1,
         "--size takes a whole number (WIDTH), not '1600x1200'; type: --size 1600\n"},
        {"surface box.pqr -o out/a.png --size 1600x1200", 1,
         "--size takes a whole number (WIDTH), not '1600x1200'; type: --size 1600\n"},
        {"surface --map a.dx -o out/a.png --isovalue 1", 1,
         "; type: leyden surface --map a.dx -o out/a.png --level 1\n"},
        {"surface box.pqr a.dx -o out/a.png", 1, "; type: leyden surface box.pqr --map a.dx -o out/a.png\n"},
        {"surface box.pqr -o out/a.png --background none", 1, "; type: --transparent\n"},
        {"average adk.psf adk_dims.dcd", 1, "; type: python3 -m leyden average TOPOLOGY TRAJECTORY -o MEAN.dx\n"},
        {"genion box.pqr", 1, "; type: leyden ions MOLECULE -o NEW.pqr --ion NA --ion CL --neutralise\n"},
        {"boundary box.pqr -o out/b.dx", 1, "as in: --dims 65,65,65 --glen 64,64,64\n"},
        {"boundary box.pqr -o out/b.dx --dims 65,65,65", 1, "as in: --glen 64,64,64\n"},
        {"boundary box.pqr -o out/b.dx --dims 65,65,65 --glen 64", 1, "; type: --glen 64,64,64\n"},
        {"boundary box.pqr -o out/b.dx --dims 65,65,65 --glen 64,64,64 --ion 0.1 1 2", 1, "; type: --ion 0.1,1,2\n"},
        {"boundary box.pqr -o out/b.dx --dims 65,65,65 --glen 64,64,64 --ion 0.1", 1,
         "(C,Z,R), not '0.1'; type: --ion 0.15,1,2\n"},
        {"apbs box.pqr", 1, "to write one, type: pdb2pqr --ff AMBER --apbs-input NEW.in NAME.pdb NEW.pqr\n"},
        {"apbs run.in --output-file=x", 1, "; type: leyden apbs run.in -- --output-file=x\n"},
        {"points box.pqr places.txt", 1, "type: leyden map MOLECULE --points FILE -o VALUES.csv\n"},
        {"box.pqr", 1, "unknown command 'box.pqr'; type: leyden map box.pqr -o NEW.dx\n"},
        {"z.dx", 1, "; type: leyden slice z.dx -o NEW.png\n"},
        {"run.in", 1, "; type: leyden apbs run.in\n"},
        {"-o out/a.dx box.pqr", 1, "unknown option '-o': a command comes first, as in: leyden map protein.pqr -o "},
        {"surface z.dx -o out/a.png", 1, "; type: leyden surface --map z.dx -o out/a.png --level=-1,1\n"},
        {"surface z.dx -o out/a.png --level 1", 1, "; type: leyden surface --map z.dx -o out/a.png --level 1\n"},
        {"surface box.pqr -o out/a.png --level 1", 1,
         "; type: leyden map box.pqr -o NEW.dx, then: leyden surface --map NEW.dx --level=-1,1 -o out/a.png\n"},
        {"compare a.dx b.dx", 2, "; type: leyden compare a.dx b.dx --interpolate\n"},
        {"compare a.dx v.dx", 2, "; type: leyden compare a.dx v.dx --any-units\n"},
        {"bench map", 1, "chooses what is measured, as in: leyden bench --kernel dcs\n"},
        {"check everything", 1, " (their list has them all); to see it, type: leyden check --list\n"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* What may be right is computed. */
static void test_warnings_have_one_too(void **state)
{
    cli_run(0, NULL, "if its lengths are in nm, give them in A, 10 times as many" NEXT "sparse.pqr -o out/a.dx ",
            "map sparse.pqr -o out/a.dx --spacing 1 --periodic xyz --cell 3,3,3");
    cli_run(0, NULL, "are the coordinates in nm? ", "map in_nm.pqr -o out/a.dx --spacing 4");
    assert_has(cli("map in_nm.pqr -o out/a.dx --spacing 4")->err, CONVERT "TOPOLOGY COORDINATES -o NEW.pqr");
    /* The cell, too, where they leave little of it free; not where it is 10 times as large. */
    cli_run(0, NULL,
            "then --cell may be in nm, too" NEXT "NEW.pqr -o out/a.dx --spacing 1 --periodic xyz --cell 80,80,80\n",
            "map in_nm.pqr -o out/a.dx --spacing 1 --periodic xyz --cell 8,8,8");
    cli_run(0, NULL, "are the coordinates in nm? ",
            "map in_nm.pqr -o out/a.dx --spacing 2 --periodic xyz --cell 30,30,30");
    assert_null(strstr(cli("map in_nm.pqr -o out/a.dx --spacing 2 --periodic xyz --cell 30,30,30")->err, "too"));
}

/* Behind a path's name devices are counted among those of that path: here the card is device 1, the
 * processor device 0. */
static void test_the_first_device_of_a_path(void **state)
{
    char folder[4096];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 16);
    assert_true(length > 0);
    folder[length] = '\0';
    strcpy(strrchr(folder, '/'), "/fake_cuda");
#define FAKE "LD_LIBRARY_PATH=%s LEYDEN_NVRTC=%s/libnvrtc.so "
#define JOB "map folder/a.pqr -o out/a.dx --spacing 4 --device "
    cli(FAKE "devices", folder, folder);
    if (strstr(cli("devices")->out, "\n0 ") == NULL)
        skip();
    cli_run(0, " on device 0 (", NULL, FAKE JOB "opencl:0", folder, folder);
    cli_run(0, " on device 1 (Fake card A, cuda)\n", NULL, FAKE JOB "cuda:0", folder, folder);
    cli_run(0, " on device 1 (Fake card A, cuda)\n", NULL, FAKE JOB "1", folder, folder);
    cli_run(0, " on device 2 (Fake card B, cuda)\n", NULL, FAKE JOB "CUDA:1", folder, folder);
    cli_run(1, NULL, "no device matches \"cuda:2\"", FAKE JOB "cuda:2", folder, folder);
}

/* Where a path has no device it is said why, as `leyden devices` does. */
static void test_paths_without_devices(void **state)
{
    const cli_result *devices = cli("devices");
    const char *line = strstr(devices->out, "\nCUDA: no "), *end = line != NULL ? strchr(line + 1, '\n') : NULL;
    if (end == NULL)
        skip();
    char said[256];
    snprintf(said, sizeof said, "no device matches \"cuda:0\" (%.*s); to see which there are", (int)(end - line - 1),
             line + 1);
    cli_run(1, NULL, said, "map box.pqr -o out/a.dx --device cuda:0");
    cli_run(1, NULL, "no device matches \"cuda\" (CUDA: no ", "map box.pqr -o out/a.dx --device cuda");
    cli_run(1, NULL, "no device matches \"opencl:99\"; to see", "map box.pqr -o out/a.dx --device opencl:99");
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines++;
    return lines;
}

/* The molecule, the places, the method with its error, the time, the files. */
static void test_ordinary_output_is_five_lines(void **state)
{
    static const struct {
        const char *line, *method;
    } cases[] = {
        {"map folder/a.pqr -o out/a.dx --spacing 2",
         "\nmethod: dcs, direct Coulomb summation, in vacuum (dielectric 1); relative RMS error "},
        {"map folder/a.pqr -o out/a.dx --spacing 2 --dielectric 78.54 --field --verify 0",
         "summation, dielectric 78.54; error not measured (--verify 0)\n"},
        {"map folder/a.pqr -o out/a.csv --points folder/b.pqr --method cutoff --cutoff 9",
         "\nmethod: cutoff, sum of pairs within a cutoff, pair function taylor2 within 9 A, in vacuum (dielectric "
         "1); "},
        {"map folder/a.pqr -o out/a.dx --spacing 2 --method msm --tol 1e-2 --kappa 0.1",
         ", in vacuum (dielectric 1), kappa 0.1/A; relative RMS error "},
        {"boundary folder/a.pqr -o out/a.dx --dims 9,9,9 --glen 40,40,40",
         "\nmethod: mdh, Multiple Debye-Hueckel, dielectric 78.54, no ions; relative RMS error "},
        {"boundary folder/a.pqr -o out/a.dx --dims 9,9,9 --glen 40,40,40 --bcfl sdh", ", dielectric 78.54, no ions\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r = cli_run(0, cases[i].method, NULL, "%s", cases[i].line);
        assert_int_equal(lines_of(r->out), 5);
        assert_has(r->out, "\ntime: ");
        assert_has(r->out, strstr(cases[i].line, "--field") != NULL
                               ? "\nwritten: out/a.dx, out/a_Ex.dx, out/a_Ey.dx, out/a_Ez.dx, "
                               : "\nwritten: out/a.");
        assert_null(strstr(r->out, "predicted"));
        assert_true(lines_of(cli("%s -v", cases[i].line)->out) > 5);
    }
}

/* The commands and an example on a screen; of each command two examples first, and all of its
 * options by --help-all alone. */
static void test_help_begins_with_examples(void **state)
{
    static const char *const commands[] = {"devices", "map",      "boundary", "apbs",  "slice",
                                           "compare", "generate", "convert",  "bench", "check"};
    const cli_result *r = cli_run(0, "\nExample: leyden map ", NULL, "%s", "");
    assert_true(lines_of(r->out) <= 24);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char begin[64], usage[64];
        assert_has(cli("%s", "")->out, commands[i]);
        snprintf(begin, sizeof begin, "Examples:\n  leyden %s", commands[i]);
        snprintf(usage, sizeof usage, "\n\nUsage: leyden %s ", commands[i]);
        r = cli_run(0, usage, NULL, "%s --help", commands[i]);
        assert_int_equal(strncmp(r->out, begin, strlen(begin)), 0);
        assert_has(strchr(strchr(r->out, '\n') + 1, '\n') + 1, "  leyden ");
        char *all = strdup(cli_run(0, NULL, NULL, "%s --help-all", commands[i])->out);
        assert_string_equal(cli("%s --help all", commands[i])->out, all);
        assert_string_equal(cli("%s --help=all", commands[i])->out, all);
        assert_string_equal(cli("help %s --help-all", commands[i])->out, all);
        assert_string_equal(cli("help %s all", commands[i])->out, all);
        free(all);
    }
}

/* The list of what bench measures has the same form throughout. */
static void test_help_has_one_form(void **state)
{
    static const char *const kernels[] = {"all", "dcs",     "mdh",    "cutoff", "msm",     "lattice", "fft", "frontier",
                                          "io",  "average", "series", "ions",   "orbital", "pairs",   "gb",  "pme"};
    char *help = strdup(cli("bench --help")->out);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char text[32];
        snprintf(text, sizeof text, " %s:", kernels[i]);
        assert_non_null(strstr(strstr(help, "what to measure; "), text));
    }
    const char *last = strstr(help, " ions:"); /* whose end is there, too */
    assert_true(strstr(last, "(default:") < strstr(last, "--frontier"));
    free(help);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "mistakes", .each = cli_empty, .begin = prepare),
                     test_each_mistake_has_its_next_command, test_wrong_command_lines, test_warnings_have_one_too,
                     test_the_first_device_of_a_path, test_paths_without_devices, test_ordinary_output_is_five_lines,
                     test_help_begins_with_examples, test_help_has_one_form);
}
