#include "foreign_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Words, for commands that have the option, or for all where that is NULL; what to type, or NULL:
 * that option with the value that was given. The first row of a word counts. */
typedef struct other_name {
    const char *words, *option, *type;
} other_name;

#define POISSON_BOLTZMANN "leyden apbs INPUT.in (for the Poisson-Boltzmann equation, which APBS solves)"
#define FRAMES "python3 -m leyden average TOPOLOGY TRAJECTORY -o MEAN.dx (this command takes one molecule)"
#define CORES "taskset -c 0-3 leyden map MOLECULE -o MAP.dx (for four cores; else all are used)"
#define CHARGES "pdb2pqr --ff AMBER NAME.pdb NEW.pqr (charges and radii are those of the PQR file)"
#define COLOURS "python3 -c 'import leyden; leyden.Map(\"MAP.dx\").plot(cmap=\"bwr\").figure.savefig(\"MAP.png\")'"

static const other_name names[] = {
    {"ngrid npoints grid-points gridpoints", "dims", NULL},
    {"resolution grid-spacing gridspacing delta", "spacing", NULL},
    {"cglen lengths extent", "glen", NULL},
    {"cgcent gridcenter grid-center center centre", "gcent", NULL},
    {"margin buffer pad border", "padding", NULL},
    {"pbc", "periodic", NULL},
    {"unitcell pbcbox box-vectors lattice", "cell", NULL},
    {"eps die permittivity relative-permittivity solvent-dielectric", "dielectric", NULL},
    {"T", "temperature", NULL},
    {"rtol accuracy precision error tolerance", "tol", NULL},
    {"rc rcut rcoulomb cutoff-distance", "cutoff", NULL},
    {"gpu", "device", "--device gpu"},
    {"cpu", "device", "--device cpu"},
    {"cuda", "device", "--device cuda"},
    {"opencl", "device", "--device opencl"},
    {"host", "device", "--device host"},
    {"gpus gpu-id platform", "device", NULL},
    {"axis normal", "plane", NULL},
    {"isovalue iso isolevel isosurface contour threshold value", "level", NULL},
    {"vmax clim colour-range color-range", "limits", NULL},
    {"vmin", "limits", "--limits -5,5 (both ends)"},
    {"width pixels", "size", NULL},
    {"bg background no-background alpha", "transparent", "--transparent"},
    {"cmap colormap colourmap palette colors", "plane", COLOURS},
    {"coordinates positions xyz at probe-points", "points", NULL},
    {"ionic-strength salt saltconc ions conc concentration", "kappa",
     "--kappa 0.127 (1/A, of 0.15 mol/l of monovalent salt in water, --dielectric 78.54)"},
    {"ionic-strength salt saltconc ions conc concentration", "bcfl",
     "--ion 0.15,1,2 --ion 0.15,-1,2 (each: mol/l, charge, radius in A)"},
    {"ionic-strength salt saltconc conc", "replace-waters", "--ion NA --ion CL --concentration 0.15"},
    {"debye debye-length lambda", "screening-length", NULL},
    {"pdie lpbe npbe bcfl srfm chgm swin srad sdens mg-auto mg-manual", NULL, POISSON_BOLTZMANN},
    {"ff forcefield charges radii ph", NULL, CHARGES},
    {"threads nt ntomp ncpus np nproc cores omp j", NULL, CORES},
    {"trajectory traj frames dcd xtc begin first last skip stride b e dt", "kappa", FRAMES},
    {"mo mos orbitals molecular-orbital", "orbital", NULL},
    {"homo", "orbital", "--orbital homo"},
    {"lumo", "orbital", "--orbital lumo"},
    {"occ occupation", "occupations", NULL},
    {"report log", "json", NULL},
    {"debug", NULL, "--verbose"},
    {"silent", "quiet", "--quiet"},
};

/* Values by other words. */
static const struct {
    const char *option, *words, *value, *remark;
} values[] = {
    {"plane", "xy yx", "z", " (the axis normal to it)"},
    {"plane", "xz zx", "y", " (the axis normal to it)"},
    {"plane", "yz zy", "x", " (the axis normal to it)"},
    {"periodic", "true yes on all 3d abc", "xyz", ""},
    {"periodic", "2d", "xy", ""},
    {"units", "mV eV volt volts", "V", ""},
    {"method", "pme ewald spme pppm p3m fft multigrid", "msm", " (sums over meshes, to --tol)"},
    {"method", "direct exact coulomb", "dcs", ""},
    {"dielectric", "water", "78.54", ""},
    {"dielectric", "vacuum air gas 0", "1", ""},
    {"temperature", "room 25C 25", "298.15", ""},
    {"temperature", "body 37C 37", "310.15", ""},
};

/* Of options whose value was left out, or is none. */
static const char *const samples[][2] = {
    {"dims", "65,65,65"},   {"glen", "64,64,64"},    {"gcent", "0,0,0"},      {"origin", "0,0,0"},
    {"spacing", "0.5"},     {"padding", "10"},       {"periodic", "xyz"},     {"cell", "90,90,90"},
    {"kappa", "0.127"},     {"dielectric", "78.54"}, {"temperature", "300"},  {"tol", "1e-4"},
    {"cutoff", "12"},       {"device", "gpu"},       {"plane", "z"},          {"at", "12.5"},
    {"limits", "5"},        {"limit", "5"},          {"range", "-3,7"},       {"level", "-1,1"},
    {"angles", "0,90,180"}, {"size", "1600"},        {"dpi", "300"},          {"units", "V"},
    {"ion", "0.15,1,2"},    {"method", "auto"},      {"json", "report.json"}, {"link", "25e9,2e-6"},
    {"probe", "1.7,0.1"},
};

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, size_t length, const char *words)
{
    for (size_t n; *words != '\0'; words += n, words += *words == ' ') {
        n = strcspn(words, " ");
        if (n == length && strncasecmp(word, words, n) == 0)
            return true;
    }
    return false;
}

static const char *find_name(option_names *name, const void *context, const char *word, size_t length, bool begins)
{
    const char *known;
    for (size_t i = 0; (known = name(context, i)) != NULL; i++)
        if (strncmp(known, word, length) == 0 && (begins || known[length] == '\0'))
            return known;
    return NULL;
}

static typed_text to_type(const char *option, const char *value, const char *remark)
{
    typed_text text = {"; type: "};
    typed_put(&text, option);
    typed_put(&text, value[0] == '-' ? "=" : value[0] != '\0' ? " " : "");
    typed_put(&text, value);
    typed_put(&text, remark);
    return text;
}

/* The command with an option of this name in place of a word, or the option alone where its value
 * is missing. */
static typed_text renamed(const char *word, const char *name)
{
    char option[512];
    const char *value = strchr(word, '='), *next = typed_behind(word);
    const bool lacks = value == NULL && (next == NULL || (next[0] == '-' && !isdigit((unsigned char)next[1])));
    const typed_text usual = foreign_value(name, NULL);
    if (lacks && usual.s[0] != '\0')
        return usual;
    snprintf(option, sizeof option, "--%s%s", name, value != NULL ? value : "");
    return typed_instead(&(typed_swap){word, option}, 1);
}

typed_text foreign_option(const char *word, option_names *name, const void *context)
{
    const char *begin = word + strspn(word, "-");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const other_name *row = &names[i];
        if (is_one_of(begin, strcspn(begin, "="), row->words) &&
            (row->option == NULL || find_name(name, context, row->option, strlen(row->option), false) != NULL))
            return row->type != NULL ? to_type(row->type, "", "") : renamed(word, row->option);
    }
    return (typed_text){""};
}

typed_text foreign_dashes(const char *word, option_names *name, const void *context)
{
    const size_t length = strcspn(word + 1, "=");
    const char *known = length > 2 ? find_name(name, context, word + 1, length, true) : NULL;
    return known != NULL ? renamed(word, known) : (typed_text){""};
}

typed_text foreign_value(const char *name, const char *value)
{
    char option[64];
    snprintf(option, sizeof option, "--%s", name);
    for (size_t i = 0; value != NULL && i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].option, name) == 0 && is_one_of(value, strlen(value), values[i].words))
            return to_type(option, values[i].value, values[i].remark);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcmp(samples[i][0], name) == 0)
            return to_type(option, samples[i][1], "");
    return (typed_text){""};
}
