#include "bench_papers.h"

#include <math.h>
#include <string.h>

static const char gems[] = "Hardy, Stone, Vandivort, Gohara, Rodrigues, Schulten: Fast Molecular Electrostatics "
                           "Algorithms on GPUs, GPU Computing Gems, 2010",
                  sums[] = "Hardy, Stone, Schulten: Multilevel summation of electrostatic potentials using graphics "
                           "processing units, Parallel Computing 35, 164, 2009",
                  slides[] = "Stone: Programming in CUDA: the Essentials, part 2, slides, 2013",
                  open_power[] = "Stone, Hynninen, Phillips, Schulten: Early Experiences Porting the NAMD and VMD "
                                 "Molecular Simulation and Analysis Software to GPU-Accelerated OpenPOWER Platforms, "
                                 "2016",
                  display[] = "Stone, Saam, Hardy, Vandivort, Hwu, Schulten: High Performance Computation and "
                              "Interactive Display of Molecular Orbitals on GPUs and Multi-core CPUs, 2009";

#define QX6700 "Core 2 QX6700, SSE, one core"
#define X5550 "Xeon X5550, SSE, one core"

/* Of `row` the end of a variant's name; NULL: of the whole table, beside its default. */
typedef struct paper_figure {
    const char *table, *row, *hardware;
    double value;
    const char *unit, *paper;
    double atoms; /* of the box that it is of, on a curve; 0: of none */
} paper_figure;

static const char seconds[] = "s", billions[] = "billion/s";

static const paper_figure figures[] = {
    {"mdh-standard", NULL, QX6700, 7.15, seconds, gems, 0},
    {"mdh-standard", NULL, X5550, 5.59, seconds, gems, 0},
    {"mdh-standard", NULL, "Cell QS21, OpenCL", 1.07, seconds, gems, 0},
    {"mdh-standard", NULL, "Radeon 5870, OpenCL", 0.134, seconds, gems, 0},
    {"mdh-standard", NULL, "GeForce GTX 280, OpenCL", 0.133, seconds, gems, 0},
    {"mdh-standard", NULL, "Tesla C2050, OpenCL", 0.075, seconds, gems, 0},
    {"mdh-standard", NULL, "GeForce GTX 480, OpenCL", 0.058, seconds, gems, 0},
    {"mdh-native", NULL, "Radeon 5870, OpenCL", 0.046, seconds, gems, 0},
    {"mdh-native", NULL, "GeForce GTX 480, OpenCL", 0.043, seconds, gems, 0},
    {"mdh-native", NULL, "GeForce GTX 480, CUDA", 0.040, seconds, gems, 0},
    {"dcs", NULL, QX6700, 0.89, billions, gems, 0},
    {"dcs", NULL, X5550, 1.36, billions, gems, 0},
    {"dcs", NULL, "GeForce 8800 GTX, CUDA", 39.5, billions, gems, 0},
    {"dcs", NULL, "Tesla C1060, CUDA", 70.1, billions, gems, 0},
    {"dcs", NULL, "GeForce GTX 480, CUDA", 82.3, billions, gems, 0},
    {"dcs", NULL, "four Tesla C1060, CUDA", 275.4, billions, gems, 0},
    {"cutoff", NULL, QX6700, 480.07, seconds, gems, 0},
    {"cutoff", NULL, X5550, 353.85, seconds, gems, 0},
    {"cutoff", NULL, "Tesla C870, CUDA", 20.02, seconds, gems, 0},
    {"cutoff", NULL, "GeForce GTX 280, CUDA", 14.86, seconds, gems, 0},
    {"cutoff", NULL, "Tesla C2050, CUDA", 10.06, seconds, gems, 0},
    {"lattice", NULL, QX6700, 49.47, seconds, slides, 0},
    {"lattice", NULL, "GeForce GTX 280, CUDA", 1.36, seconds, slides, 0},
    {"msm", "anterpolation", QX6700, 0.18, seconds, slides, 0},
    {"msm", "restriction", QX6700, 0.16, seconds, slides, 0},
    {"msm", "lattice cutoff", QX6700, 49.47, seconds, slides, 0},
    {"msm", "lattice cutoff", "GeForce GTX 280, CUDA", 1.36, seconds, slides, 0},
    {"msm", "prolongation", QX6700, 0.17, seconds, slides, 0},
    {"msm", "interpolation", QX6700, 3.47, seconds, slides, 0},
    {"msm", "short range", QX6700, 480.07, seconds, slides, 0},
    {"msm", "short range", "GeForce GTX 280, CUDA", 14.87, seconds, slides, 0},
    {"msm", "atoms to map", QX6700, 533.52, seconds, slides, 0},
    {"msm", "atoms to map", "GeForce GTX 280, CUDA", 20.51, seconds, sums, 0},
    {"msm", "task-parallel", "two Tesla C870, a part each, as fast as one", 1.27, "times", sums, 0},
    {"msm", "task- and data-parallel", "three G80 cards, two of them for short-range sums, as fast as one Tesla C870",
     2.33, "times", sums, 0},
    {"msm", NULL, "POWER8, a loop of sums over eight elements, GCC with VSX", 0.571, "s a loop", open_power, 0},
    {"msm", NULL, "POWER8, a loop of sums over eight elements, XLC", 0.548, "s a loop", open_power, 0},
    {"orbital", NULL, "Core 2 QX6700, one core", 46.58, seconds, display, 0},
    {"orbital", NULL, "Core 2 QX6700, four cores", 11.74, seconds, display, 0},
    {"orbital", "tiled", "GeForce GTX 280, CUDA", 0.46, seconds, display, 0},
    {"orbital", "constant", "GeForce GTX 280, CUDA", 0.37, seconds, display, 0},
    {"orbital", "compiled", "GeForce GTX 280, CUDA", 0.27, seconds, display, 0},
    {"orbital", NULL, "Tesla C1060, CUDA", 0.417, seconds, display, 0},
    {"orbital", NULL, "four Tesla C1060, CUDA", 0.113, seconds, display, 0},
    {"orbital", NULL, "Tesla K40, CUDA", 0.190, seconds, open_power, 0},
    {"orbital", NULL, "POWER8, VSX", 0.52, seconds, open_power, 0},
    {"orbital", NULL, "Xeon, SSE", 0.301, seconds, open_power, 0},
    {"curve", NULL, "GeForce GTX 280, 26,247 atoms, part of the peak", 50, "%", sums, 26247},
    {"curve", NULL, "GeForce GTX 280, 167,877 atoms, part of the peak", 77, "%", sums, 167877},
    {"curve", NULL, "GeForce GTX 280, 1,534,539 atoms, faster than one core", 26.4, "times", slides, 1534539},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* The problems that the papers have measured in seconds: atoms, or pairs of atoms and points. */
static const struct {
    const char *table;
    double atoms, pairs; /* 0: the other one counts */
} problems[] = {{"mdh-standard", 0, 5877.0 * 135002},
                {"mdh-native", 0, 5877.0 * 135002},
                {"cutoff", 1534539, 0},
                {"lattice", 1534539, 0},
                {"msm", 1534539, 0},
                {"orbital", 0, 60.0 * 172 * 173 * 169}};

json_t *bench_papers_of(const char *table)
{
    json_t *array = json_array();
    for (size_t i = 0; i < FIGURES; i++) {
        const paper_figure *f = &figures[i];
        if (strcmp(f->table, table) != 0)
            continue;
        json_t *object = json_object();
        json_put(object, "row", json_text(f->row));
        json_put(object, "hardware", json_text(f->hardware));
        json_put(object, "value", json_number(f->value));
        json_put(object, "unit", json_text(f->unit));
        json_put(object, "paper", json_text(f->paper));
        json_put(object, "atoms", json_number(f->atoms > 0 ? f->atoms : NAN));
        json_add(array, object);
    }
    return array;
}

static double scale_of(const char *table, const ley_bench_device *d)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (strcmp(problems[i].table, table) == 0 && d->atoms > 0)
            return problems[i].atoms > 0 ? problems[i].atoms / (double)d->atoms
                                         : problems[i].pairs / ((double)d->atoms * (double)d->points);
    return NAN;
}

void bench_papers_put_device(json_t *object, const char *table, const ley_bench_device *d)
{
    const double scale = scale_of(table, d);
    json_put(object, "papers_scale", json_number(scale));
    for (size_t i = 0; i < d->row_count; i++) {
        const ley_bench_row *row = &d->rows[i];
        const bool is_timed = row->status == LEY_OK && row->run_count > 0 && row->median_s > 0; /* by its clock */
        json_put(json_array_get(json_object_get(object, "rows"), i), "papers_s",
                 json_number(is_timed ? row->median_s * scale : NAN));
    }
}
