/* Energies and forces of particles: pairs within a cutoff and all of them, generalised Born,
 * Ewald's sum on a mesh, each step by itself, in sizes that molecular dynamics is measured with;
 * and MM/GBSA as a caller of ley_energy_run() has it. Every row is judged by the law. */
#include "bandwidth.h"
#include "clock.h"
#include "energy/batch.h"
#include "energy/born.h"
#include "energy/born_kernel.h"
#include "energy/device_part.h"
#include "energy/listed.h"
#include "energy/reciprocal.h"
#include "energy/store.h"
#include "engine/tuning.h"
#include "error.h"
#include "law/energy.h"
#include "law/energy_options.h"
#include "methods/energy_loops.h"
#include "methods/energy_systems.h"
#include "methods/frames.h"
#include "methods/patches.h"
#include "methods/subjects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum energy_row_kind {
    LISTS, /* of a liquid's pairs */
    LISTED_PAIRS,
    PATCHES,
    ALL_PAIRS,
    SPREAD, /* of Ewald's sum */
    TRANSFORMS,
    GATHER,
    EWALD_FRAME,
    RADII, /* of generalised Born */
    BORN_ENERGIES,
    CHAIN,
    BORN_FRAME,
    MMGBSA
} energy_row_kind;

typedef struct energy_way {
    const char *name;
    energy_row_kind kind;
    int64_t atoms;
    double edge_A[3]; /* of a liquid's cell */
    double cutoff_A;
    bool more; /* forces; of MM/GBSA energies between residues */
} energy_way;

/* The papers' systems. Molecules have three atoms, so that one or two fewer are measured. */
#define DHFR \
    23558, \
    { \
        62.2, 62.2, 62.2 \
    }
#define APOA1 \
    92224, \
    { \
        108.9, 108.9, 77.8 \
    }
#define STMV \
    1066628, \
    { \
        216.8, 216.8, 216.8 \
    }

#define OF_PAIRS(name, size, cutoff) \
    {name "-lists", LISTS, size, cutoff, false}, {name "-energies", LISTED_PAIRS, size, cutoff, false}, \
        {name "-forces", LISTED_PAIRS, size, cutoff, true}, \
    { \
        name "-patches", PATCHES, size, cutoff, true \
    }
#define OF_MESH(name, size) \
    {name "-spread", SPREAD, size, 12, true}, {name "-transforms", TRANSFORMS, size, 12, true}, \
        {name "-gather", GATHER, size, 12, true}, \
    { \
        name "-frame", EWALD_FRAME, size, 12, true \
    }
#define OF_BORN(atoms) \
    {#atoms "-integrals", RADII, atoms, {0}, 0, true}, {#atoms "-slopes", BORN_ENERGIES, atoms, {0}, 0, true}, \
        {#atoms "-chain", CHAIN, atoms, {0}, 0, true}, {#atoms "-energies", BORN_FRAME, atoms, {0}, 0, false}, \
    { \
#atoms "-forces", BORN_FRAME, atoms, {0 }, 0, true \
    }

/* clang-format off */
static const energy_way pairs_ways[] = {
    OF_PAIRS("dhfr-9A", DHFR, 9), OF_PAIRS("dhfr-12A", DHFR, 12),
    OF_PAIRS("apoa1-9A", APOA1, 9), OF_PAIRS("apoa1-12A", APOA1, 12),
    OF_PAIRS("stmv-9A", STMV, 9), OF_PAIRS("stmv-12A", STMV, 12),
    {"dhfr-all-energies", ALL_PAIRS, DHFR, 0, false}, {"dhfr-all-forces", ALL_PAIRS, DHFR, 0, true}, {.name = NULL}};
static const energy_way born_ways[] = {
    OF_BORN(4656), OF_BORN(5238), OF_BORN(13386),
    {"mmgbsa", MMGBSA, 5000, {0}, 0, false}, {"mmgbsa-residues", MMGBSA, 5000, {0}, 0, true}, {.name = NULL}};
static const energy_way mesh_ways[] = {
    OF_MESH("dhfr", DHFR), OF_MESH("apoa1", APOA1), OF_MESH("stmv", STMV), {.name = NULL}};
/* clang-format on */

static const char *pairs_named(size_t i)
{
    return i < sizeof pairs_ways / sizeof *pairs_ways ? pairs_ways[i].name : NULL;
}

static const char *born_named(size_t i)
{
    return i < sizeof born_ways / sizeof *born_ways ? born_ways[i].name : NULL;
}

static const char *mesh_named(size_t i)
{
    return i < sizeof mesh_ways / sizeof *mesh_ways ? mesh_ways[i].name : NULL;
}

static const energy_way *find_way(const char *name)
{
    const energy_way *const tables[] = {pairs_ways, born_ways, mesh_ways};
    for (size_t t = 0; t < 3; t++)
        for (const energy_way *way = tables[t]; way->name != NULL; way++)
            if (strcmp(way->name, name) == 0)
                return way;
    return NULL;
}

static bool is_liquid(const energy_way *way)
{
    return way->kind <= EWALD_FRAME;
}

static bool is_of_mesh(const energy_way *way)
{
    return way->kind >= SPREAD && way->kind <= EWALD_FRAME;
}

static const char *on_request(const dev_info *info, const char *name)
{
    enum { LARGE = 500000, LARGE_FOR_PATCHES = 50000 };
    const energy_way *way = find_way(name);
    if (info->quirks & DEV_QUIRK_INTERPRETER)
        return "its kernels are interpreted, and these are many particles: it is measured where its variant is named";
    return way->atoms > (way->kind == PATCHES ? LARGE_FOR_PATCHES : LARGE) && info->device_class != DEV_GPU
               ? "so many particles take long on a processor: it is measured where its variant is named"
               : NULL;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* The particles of the rows before, and of which row. */
typedef struct energy_bench {
    energy_system system;
    const energy_way *of;
} energy_bench;

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    (void)engine;
    return o->atoms == 0 ? LEY_OK : ley_fail(error, LEY_ERROR_USAGE, "the sizes of this benchmark are those of papers");
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const int exp =
        calibrate_fastest_exp(w->info, facts, calibrate_width(w->info), tuning_need((int)o->math, CALIBRATE_FINEST));
    d->exp = calibrate_exp_name(exp);
    d->exps_per_s = facts->exps_per_s[exp];
    d->root = calibrate_root_name(LEY_ROOT_STANDARD);
    d->roots_per_s = facts->roots_per_s[LEY_ROOT_STANDARD];
    d->fma_per_s = facts->fma_per_s;
}

static void choose_for_pairs(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    choose(w, facts, o, d);
    d->exps_per_s = 0;
    d->exp = NULL;
}

static void choose_for_mesh(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    choose_for_pairs(w, facts, o, d);
    d->memory_bytes_per_s = bandwidth_measure(w->device);
}

static void end(void *problem)
{
    energy_bench *p = problem;
    if (p == NULL)
        return;
    energy_system_clear(&p->system);
    free(p);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o, (void)d;
    *problem = calloc(1, sizeof(energy_bench));
    return *problem != NULL ? LEY_OK : ley_fail_memory(error, sizeof(energy_bench), "the benchmark");
}

/* Cards have many frames in a launch where one does not fill them. */
static ley_status make_system(energy_bench *p, const energy_way *way, bool on_card, ley_error *error)
{
    const double fill = is_liquid(way) ? 2e5 : 8e4;
    const int most = on_card ? (int)fmax(1, fill / (double)way->atoms) : 1;
    if (p->of != NULL && p->of->atoms == way->atoms && is_liquid(p->of) == is_liquid(way) && p->system.frames == most)
        return LEY_OK;
    energy_system_clear(&p->system);
    p->of = NULL;
    const ley_status status = is_liquid(way) ? energy_system_liquid(way->atoms, way->edge_A, most, &p->system, error)
                                             : energy_system_protein(way->atoms, most, &p->system, error);
    p->of = status == LEY_OK ? way : NULL;
    return status;
}

/* No force jumps at the cutoff by more than what is left of attraction. */
static ley_energy_options options_of(const energy_way *way)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.forces = way->more;
    o.cutoff_A = way->cutoff_A;
    if (is_of_mesh(way))
        o.coulomb = LEY_COULOMB_EWALD;
    else if (way->cutoff_A > 0)
        o.coulomb = LEY_COULOMB_REACTION_FIELD;
    if (!is_liquid(way)) {
        o.lennard_jones = LEY_LENNARD_JONES_NONE;
        o.coulomb = LEY_COULOMB_NONE;
        o.born = LEY_BORN_OBC2;
    }
    return o;
}

/* ---- What is counted ------------------------------------------------------------------------- */

/* Of each pair of a row, or of all that is done for a frame: counted in the kernels. */
typedef struct work {
    double multiply_adds, roots, exps; /* one at least, or of these a product or a sum */
} work;

/* Pairs within the cutoff, from the neighbours of some particles. */
static double count_pairs(const energy_system *s, double cutoff_A)
{
    enum { SAMPLE = 500 };
    const int64_t step = s->count / SAMPLE + 1;
    double found = 0, looked = 0;
    for (int64_t i = 0; i < s->count; i += step, looked++)
        for (int64_t j = 0; j < s->count; j++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) {
                const double edge = s->cell_A[4 * d],
                             way = (double)s->position_A[3 * i + d] - (double)s->position_A[3 * j + d],
                             near = way - edge * rint(way / edge);
                r2 += near * near;
            }
            found += i != j && r2 < cutoff_A * cutoff_A;
        }
    return found / looked * (double)s->count / 2;
}

/* cl/listed_pairs.cl with cl/pair_terms.h: the distance 6, powers 5, Lennard-Jones 4, Coulomb 4,
 * sums 2; of Ewald's sum a series of 15 more, on cards 9 with a power of 2. Forces: slopes 6,
 * vectors 6, another series, on cards 2 with a power. Where a pair is in one row, it has the other
 * particle's sums as well; elsewhere it is in two. */
static work work_of_listed(const worker *w, bool is_ewald, bool forces)
{
    const list_tiles_spec spec = lists_spec_for(w->info);
    const bool has_powers = is_ewald && spec.width == 1;
    const double value = has_powers ? 9
                         : is_ewald ? 15
                                    : 0,
                 slope = has_powers ? 2
                         : is_ewald ? 14
                                    : 0,
                 each = 19 + value + (forces ? 12 + slope : 0), powers = has_powers ? 1 + (forces ? 1 : 0) : 0;
    return spec.full ? (work){2 * each, 2, 2 * powers} : (work){each + (forces ? 5 : 2), 1, powers};
}

static work work_of_sum(work a, work b)
{
    return (work){a.multiply_adds + b.multiply_adds, a.roots + b.roots, a.exps + b.exps};
}

/* docs/energies.md has these of generalised Born; where each pair is computed for either particle,
 * of both. */
static work work_of_pair(const worker *w, const energy_way *way)
{
    const bool has_columns = way->kind == MMGBSA && way->more,
               is_half = born_is_half(w->info, (size_t)way->atoms, false),
               has_half_energies = born_is_half(w->info, (size_t)way->atoms, has_columns);
    const work radii = is_half ? (work){20, 1, 0} : (work){30, 2, 0},
               chain = is_half ? (work){28, 1, 0} : (work){46, 2, 0},
               energies = has_half_energies ? (work){12, 1, 1} : (work){22, 2, 2},
               with_slopes = is_half ? (work){28, 1, 1} : (work){44, 2, 2}, plain = {32, 2, 0},
               plain_forces = {48, 2, 0}, two_passes = {62, 2, 0};
    switch (way->kind) {
    case LISTED_PAIRS:
        return work_of_listed(w, false, way->more);
    case PATCHES:
        return two_passes;
    case ALL_PAIRS:
        return way->more ? plain_forces : plain;
    case RADII:
        return radii;
    case BORN_ENERGIES:
        return with_slopes;
    case CHAIN:
        return chain;
    case BORN_FRAME:
        return work_of_sum(radii, way->more ? work_of_sum(with_slopes, chain) : energies);
    case MMGBSA:
        return work_of_sum(plain, work_of_sum(radii, energies));
    default:
        return (work){0};
    }
}

/* Of a frame's mesh, of windows of p points along each axis: what a particle adds is a product,
 * what it has is the sums of cl/mesh_gather_group.h; both have windows from polynomials. */
static double work_of_mesh(energy_row_kind kind, double particles, double p, double nodes)
{
    const double spread = particles * (p * p * p + p * p + 3 * p * (p - 1)),
                 gather = particles * (2 * p * p * p + 3 * p * p + 4 * p + 6 * p * (p - 1)),
                 transforms = 2 * 2.5 * nodes * log2(nodes) + 4 * nodes;
    return kind == SPREAD       ? spread
           : kind == GATHER     ? gather
           : kind == TRANSFORMS ? transforms
                                : spread + gather + transforms;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct step_run {
    const energy_way *way;
    const energy_system *system;
    energy_problem problem;
    energy_part *part;
    patches patches; /* of their rows */
    int frames;
    size_t launches;
} step_run;

/* Which steps of a sequence a row is about, a bit each; 0: all. */
static unsigned steps_of(energy_row_kind kind)
{
    switch (kind) {
    case LISTS:
        return 1U << ENERGY_STEP_PLACES | 1U << ENERGY_STEP_LISTS;
    case LISTED_PAIRS:
    case PATCHES:
        return 1U << ENERGY_STEP_PAIRS;
    case SPREAD:
        return 1U << ENERGY_STEP_SPREAD;
    case TRANSFORMS:
        return 1U << ENERGY_STEP_TRANSFORM;
    case GATHER:
        return 1U << ENERGY_STEP_MESH_GATHER;
    case RADII:
        return 1U << BORN_STEP;
    case BORN_ENERGIES:
        return 1U << (BORN_STEP + 1);
    case CHAIN:
        return 1U << (BORN_STEP + 2);
    default:
        return 0;
    }
}

static ley_status start_patches(step_run *r, energy_batch *b, ley_error *error)
{
    energy_batch_begin(r->part, b, 0, r->frames, r->system->position_A, r->system->cell_A);
    energy_batch_poison(r->part, b);
    const ley_status status = patches_launch(&r->patches, r->part, b, error);
    energy_batch_read(r->part, b);
    return status;
}

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    step_run *r = context;
    energy_batch *b = &r->part->batch[0];
    const energy_system *s = r->system;
    const unsigned steps = steps_of(r->way->kind);
    const double *cell_A = r->way->kind == ALL_PAIRS ? NULL : s->cell_A;
    ley_status status = r->way->kind == PATCHES
                            ? start_patches(r, b, error)
                            : energy_part_start(r->part, b, 0, r->frames, s->position_A, cell_A, error);
    if (status == LEY_OK)
        status = energy_part_finish(r->part, b, error);
    const sequence_times *t = &b->sequence.times;
    *seconds = steps == 0 ? t->kernel_s : 0;
    r->launches = 0;
    for (unsigned step = 0; step < WORK_STEPS; step++)
        if (steps == 0 || (steps >> step & 1) != 0) {
            r->launches += t->step_launches[step];
            *seconds += steps != 0 ? t->step_s[step] : 0;
        }
    return status;
}

/* ---- The judge ------------------------------------------------------------------------------- */

enum { JUDGED = 64 };

/* Squares of errors and of what is right. */
typedef struct judgement {
    double error2, right2;
    size_t values;
} judgement;

static void add_value(judgement *j, double found, double right)
{
    j->error2 += (found - right) * (found - right);
    j->right2 += right * right;
    j->values++;
}

static ley_status put_judgement(const judgement *j, double tolerance, bench_row *b)
{
    const double rms = sqrt(j->error2 / j->right2);
    b->row.accuracy = (ley_accuracy){.points = j->values,
                                     .host_points = j->values,
                                     .compared = j->values,
                                     .max_error = rms,
                                     .relative_rms = rms,
                                     .absolute_rms = sqrt(j->error2 / (double)j->values),
                                     .tolerance = tolerance,
                                     .passed = rms <= tolerance};
    return b->row.accuracy.passed
               ? LEY_OK
               : ley_fail(&b->failure, LEY_ERROR_WRONG_RESULT, "off by %.2g, by %.2g at most is right", rms, tolerance);
}

/* What the device has of the first frame's particles. */
static double *by_particle(const step_run *r, const dev_staging *staging)
{
    const energy_problem *p = &r->problem;
    double *made = malloc(p->count * sizeof *made);
    for (size_t i = 0; i < p->count && made != NULL; i++)
        made[i] = (double)((const float *)staging->bytes)[p->place[i]];
    return made;
}

typedef struct sample {
    int64_t particle[JUDGED], count;
    double energy[JUDGED][LEY_ENERGY_TERMS], force[JUDGED][3], radius[JUDGED];
    double *radii, *slopes; /* the device's; NULL: no Born energies */
} sample;

static ley_status find_right(const step_run *r, sample *s, ley_error *error)
{
    const energy_problem *p = &r->problem;
    const bool has_born = p->options.born != LEY_BORN_NONE;
    const energy_batch *b = &r->part->batch[0];
    const energy_frame frame = {.particles = &p->arrays,
                                .options = &p->law_options,
                                .position_A = r->system->position_A,
                                .cell_A = r->way->kind == ALL_PAIRS ? NULL : r->system->cell_A};
    s->count = is_of_mesh(r->way) ? JUDGED / 4 : JUDGED;
    for (int64_t k = 0; k < s->count; k++)
        s->particle[k] = (int64_t)((double)p->count * ((double)k + 0.5) / (double)s->count);
    s->radii = has_born ? by_particle(r, b->radius_back) : NULL;
    s->slopes = has_born && p->options.forces ? by_particle(r, b->slope_back) : NULL;
    if (has_born && (s->radii == NULL || (p->options.forces && s->slopes == NULL)))
        return ley_fail_memory(error, 16 * p->count, "the benchmark");
    if (has_born)
        energy_law_radii(&frame, s->count, s->particle, s->radius);
    return energy_law_particles(&frame, s->radii, s->slopes, s->count, s->particle, s->energy, NULL,
                                p->options.forces ? s->force : NULL, error);
}

/* Radii, forces where there are some, else energies. */
static judgement compare(const step_run *r, const sample *s)
{
    const energy_problem *p = &r->problem;
    const energy_batch *b = &r->part->batch[0];
    judgement j = {0};
    for (int64_t k = 0; k < s->count; k++) {
        const size_t place = (size_t)p->place[s->particle[k]];
        double found = 0, right = 0;
        for (size_t term = 0; term < LEY_ENERGY_TERMS; term++)
            if (energy_has_term(p, (ley_energy_term)term)) {
                found += (double)((const float *)b->energy_back->bytes)[term * p->padded + place];
                right += s->energy[k][term];
            }
        if (r->way->kind == RADII)
            add_value(&j, s->radii[s->particle[k]], s->radius[k]);
        else if (!p->options.forces)
            add_value(&j, found, right);
        for (size_t d = 0; d < 3 && p->options.forces && r->way->kind != RADII; d++)
            add_value(&j, (double)((const float *)b->force_back->bytes)[4 * place + d], s->force[k][d]);
    }
    return j;
}

static ley_status judge(const step_run *r, bench_row *b)
{
    const double by_mesh = is_of_mesh(r->way) ? 2 * r->problem.options.ewald_tolerance : 0;
    sample *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(&b->failure, sizeof *s, "the benchmark");
    ley_status status = find_right(r, s, &b->failure);
    const judgement j = status == LEY_OK ? compare(r, s) : (judgement){0};
    free(s->radii);
    free(s->slopes);
    free(s);
    return status == LEY_OK ? put_judgement(&j, 2e-4 + by_mesh, b) : status;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static void put_shares(const work *all, const ley_bench_device *limits, bench_row *b)
{
    const double exps_s = limits->exps_per_s > 0 ? all->exps / limits->exps_per_s : 0;
    b->row.root = all->roots > 0 ? limits->root : NULL;
    b->row.exp = all->exps > 0 ? limits->exp : NULL;
    b->row.root_share = (all->roots / limits->roots_per_s + exps_s) / b->row.median_s;
    b->row.fma_share = all->multiply_adds / limits->fma_per_s / b->row.median_s;
    bench_put_figure(&b->row, "multiply_adds", all->multiply_adds);
}

static ley_status put_mesh(const step_run *r, const worker *w, double pairs, const ley_bench_device *limits,
                           bench_row *b, work *all)
{
    const bool is_whole = r->way->kind == EWALD_FRAME;
    const work pair = work_of_listed(w, true, true);
    average_mesh mesh;
    const ley_status status = reciprocal_mesh(&r->problem.options, r->system->cell_A, r->problem.count,
                                              w->info->device_class != DEV_CPU, &mesh, &b->failure);
    if (status != LEY_OK)
        return status;
    const double nodes = (double)average_mesh_nodes(&mesh);
    all->multiply_adds = r->frames * work_of_mesh(r->way->kind, (double)r->system->count, mesh.window->points, nodes) +
                         (is_whole ? pairs * pair.multiply_adds : 0);
    all->roots = is_whole ? pairs * pair.roots : 0;
    b->row.bytes = r->way->kind == TRANSFORMS ? r->frames * 16 * nodes : 0; /* read and written, there and back */
    bench_put_figure(&b->row, "memory_share", bench_memory_share(b->row.bytes, b->row.median_s, limits));
    snprintf(b->specification, sizeof b->specification,
             "%lld atoms, mesh of %lld x %lld x %lld, order %d, %.4g ms a frame", (long long)r->system->count,
             (long long)mesh.n[0], (long long)mesh.n[1], (long long)mesh.n[2], mesh.window->points,
             1e3 * b->row.median_s / r->frames);
    return LEY_OK;
}

static ley_status put_figures(const step_run *r, const worker *w, double pairs, const ley_bench_device *limits,
                              bench_row *b)
{
    work all = work_of_pair(w, r->way);
    all.multiply_adds *= pairs;
    all.roots *= pairs;
    all.exps *= pairs;
    const char *what = r->way->kind == PATCHES        ? "patches, two passes: "
                       : r->way->kind == LISTED_PAIRS ? "tile lists, one pass: "
                                                      : "";
    snprintf(b->specification, sizeof b->specification, "%s%lld atoms, %.3g pairs, %.4g ms a frame, %d frame%s at once",
             what, (long long)r->system->count, pairs / r->frames, 1e3 * b->row.median_s / r->frames, r->frames,
             r->frames == 1 ? "" : "s");
    const ley_status status = is_of_mesh(r->way) ? put_mesh(r, w, pairs, limits, b, &all) : LEY_OK;
    put_shares(&all, limits, b);
    bench_put_figure(&b->row, "launches", (double)r->launches);
    bench_put_figure(&b->row, "frame_ms", 1e3 * b->row.median_s / r->frames);
    bench_put_figure(&b->row, "frames_per_s", r->frames / b->row.median_s);
    return status;
}

static double pairs_of(double n)
{
    return n * (n - 1) / 2;
}

static ley_status begin_part(step_run *r, dev *device, ley_error *error)
{
    const energy_system *s = r->system;
    if (r->way->kind != PATCHES)
        return energy_part_begin(r->part, &r->problem, device, r->way->cutoff_A > 0, 2 * s->frames, error);
    const ley_status status =
        energy_memory_make(r->part, &r->problem, device, true, 2 * s->frames, patches_frame_bytes(&r->problem), error);
    return status == LEY_OK ? patches_begin(&r->patches, r->part, s->frames, s->cell_A, error) : status;
}

/* A batch has half of a run's frames at most. */
static ley_status measure_part(worker *w, const ley_bench_options *o, step_run *r, const ley_bench_device *limits,
                               bench_row *b)
{
    const energy_system *s = r->system;
    const bool is_cut = r->way->cutoff_A > 0;
    const double each = is_cut ? count_pairs(s, r->way->cutoff_A) : pairs_of((double)s->count);
    ley_status status = begin_part(r, w->device, &b->failure);
    r->frames = status == LEY_OK && r->part->frames < s->frames ? r->part->frames : s->frames;
    if (status == LEY_OK)
        status = bench_time(o, each * r->frames, run_once, r, b, &b->failure);
    if (status == LEY_OK)
        status = put_figures(r, w, each * r->frames, limits, b);
    if (status == LEY_OK)
        status = judge(r, b);
    patches_end(&r->patches);
    energy_part_end(r->part);
    return status;
}

/* What does not fit into a device's memory is not measured on it. */
static ley_status measure_system(worker *w, const ley_bench_options *o, const energy_way *way, energy_bench *p,
                                 const ley_bench_device *limits, bench_row *b)
{
    const ley_energy_options options = options_of(way);
    step_run r = {.way = way, .system = &p->system, .part = calloc(1, sizeof *r.part)};
    ley_status status = r.part != NULL ? make_system(p, way, w->info->device_class == DEV_GPU, &b->failure)
                                       : ley_fail_memory(&b->failure, sizeof *r.part, "the benchmark");
    if (status == LEY_OK)
        status = energy_problem_make(&r.problem, p->system.particles, &options, &b->failure);
    if (status == LEY_OK)
        status = measure_part(w, o, &r, limits, b);
    energy_problem_destroy(&r.problem);
    free(r.part);
    return status == LEY_ERROR_MEMORY ? LEY_ERROR_NO_DEVICE : status;
}

/* ---- MM/GBSA --------------------------------------------------------------------------------- */

enum { PARTNERS = 3, LIGAND = 40, MOST_FRAMES = 512, FIRST_FRAMES = 4 };

/* A complex, its receptor and its ligand. */
typedef struct mmgbsa_run {
    bool residues;
    energy_system system[PARTNERS];
    ley_energy *energy[PARTNERS];
    int32_t groups[PARTNERS];
    double *terms[PARTNERS], *matrix[PARTNERS]; /* of so many frames: */
    int64_t most, frames;
} mmgbsa_run;

static ley_status run_mmgbsa(void *context, double *seconds, ley_error *error)
{
    mmgbsa_run *r = context;
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    for (int k = 0; k < PARTNERS && status == LEY_OK; k++) {
        ley_energy_results to = {.size = sizeof to, .terms = r->terms[k], .matrix = r->matrix[k]};
        status = ley_energy_run(r->energy[k], r->frames, r->system[k].position_A, NULL, &to, error);
    }
    *seconds = ley_clock_s() - start_s;
    return status;
}

static ley_energy_options options_of_mmgbsa(const mmgbsa_run *r, int k)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.born = LEY_BORN_OBC2;
    o.groups = r->groups[k];
    o.group = r->groups[k] > 0 ? ley_particles_get(r->system[k].particles).residue : NULL;
    return o;
}

static ley_status make_partner(mmgbsa_run *r, ley_engine *engine, int k, ley_error *error)
{
    const energy_system *whole = &r->system[0];
    const int64_t receptor = whole->count - LIGAND;
    ley_status status =
        k == 0 ? LEY_OK
               : energy_system_part(whole, k == 1 ? 0 : receptor, k == 1 ? receptor : LIGAND, &r->system[k], error);
    if (status != LEY_OK)
        return status;
    r->groups[k] = r->residues ? (int32_t)ley_particles_get(r->system[k].particles).residues : 0;
    const size_t values = (size_t)r->most * LEY_ENERGY_TERMS, pairs = (size_t)r->groups[k] * (size_t)r->groups[k];
    const ley_energy_options o = options_of_mmgbsa(r, k);
    r->terms[k] = calloc(values, sizeof(double));
    r->matrix[k] = pairs > 0 ? calloc(values * pairs, sizeof(double)) : NULL;
    if (r->terms[k] == NULL || (pairs > 0 && r->matrix[k] == NULL))
        return ley_fail_memory(error, values * (pairs + 1) * sizeof(double), "the benchmark");
    return ley_energy_create(engine, r->system[k].particles, &o, &r->energy[k], error);
}

static void end_mmgbsa(mmgbsa_run *r)
{
    for (int k = 0; k < PARTNERS; k++) {
        ley_energy_destroy(r->energy[k]);
        energy_system_clear(&r->system[k]);
        free(r->terms[k]);
        free(r->matrix[k]);
    }
}

/* Of the first frame terms, or terms by pairs of residues. */
static ley_status judge_partner(const mmgbsa_run *r, int k, judgement *j, ley_error *error)
{
    const size_t groups = (size_t)r->groups[k], values = LEY_ENERGY_TERMS * (groups > 0 ? groups * groups : 1);
    const ley_particles_arrays arrays = ley_particles_get(r->system[k].particles);
    const ley_energy_options o = options_of_mmgbsa(r, k);
    const energy_frame frame = {.particles = &arrays, .options = &o, .position_A = r->system[k].position_A};
    double terms[LEY_ENERGY_TERMS] = {0}, *right = calloc(values, sizeof *right);
    ley_energy_results to = {.size = sizeof to, .terms = terms, .matrix = groups > 0 ? right : NULL};
    const double *found = groups > 0 ? r->matrix[k] : r->terms[k];
    if (right == NULL)
        return ley_fail_memory(error, values * sizeof *right, "the benchmark");
    const ley_status status = energy_law_frame(&frame, &to, NULL, error);
    for (size_t i = 0; i < values && status == LEY_OK; i++)
        add_value(j, found[i], groups > 0 ? right[i] : terms[i]);
    free(right);
    return status;
}

static void put_mmgbsa(const mmgbsa_run *r, const energy_way *way, const worker *w, const ley_bench_device *limits,
                       double pairs, bench_row *b)
{
    work all = work_of_pair(w, way);
    all.multiply_adds *= pairs;
    all.roots *= pairs;
    all.exps *= pairs;
    put_shares(&all, limits, b);
    const double frames_per_s = (double)r->frames / b->row.median_s;
    bench_put_figure(&b->row, "frame_ms", 1e3 / frames_per_s);
    bench_put_figure(&b->row, "frames_per_s", frames_per_s);
    snprintf(b->specification, sizeof b->specification,
             "%lld atoms, %d of them the ligand's: %.4g frames/s from memory", (long long)r->system[0].count, LIGAND,
             frames_per_s);
}

static ley_status time_mmgbsa(mmgbsa_run *r, const ley_bench_options *o, const energy_way *way, const worker *w,
                              const ley_bench_device *limits, bench_row *b)
{
    static const double run_s = 0.5;
    double seconds = 0, pairs = 0;
    judgement j = {0};
    r->frames = r->most < FIRST_FRAMES ? r->most : FIRST_FRAMES;
    ley_status status = run_mmgbsa(r, &seconds, &b->failure); /* builds */
    if (status == LEY_OK)
        status = run_mmgbsa(r, &seconds, &b->failure);
    r->frames = (int64_t)frames_of_run(run_s, seconds, (size_t)r->frames, 1, (size_t)r->most);
    for (int k = 0; k < PARTNERS; k++)
        pairs += (double)r->frames * pairs_of((double)r->system[k].count);
    if (status == LEY_OK)
        status = bench_time(o, pairs, run_mmgbsa, r, b, &b->failure);
    for (int k = 0; k < PARTNERS && status == LEY_OK; k++)
        status = judge_partner(r, k, &j, &b->failure);
    if (status != LEY_OK)
        return status;
    put_mmgbsa(r, way, w, limits, pairs, b);
    return put_judgement(&j, 1e-5, b);
}

static ley_status measure_mmgbsa(const worker *w, const ley_bench_options *o, const energy_way *way,
                                 const ley_bench_device *limits, bench_row *b)
{
    enum { FEW_FRAMES = 32 }; /* whose matrices fit into the host's memory */
    ley_engine *engine = NULL;
    mmgbsa_run r = {.residues = way->more,
                    .most = way->more || w->info->device_class != DEV_GPU ? FEW_FRAMES : MOST_FRAMES};
    ley_status status = bench_open(w, &engine, &b->failure);
    if (status == LEY_OK)
        status = energy_system_protein(way->atoms, (int)r.most, &r.system[0], &b->failure);
    for (int k = 0; k < PARTNERS && status == LEY_OK; k++)
        status = make_partner(&r, engine, k, &b->failure);
    if (status == LEY_OK)
        status = time_mmgbsa(&r, o, way, w, limits, b);
    end_mmgbsa(&r);
    ley_engine_destroy(engine);
    return status;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const energy_way *way = find_way(name);
    return way->kind == MMGBSA ? measure_mmgbsa(w, o, way, limits, b)
                               : measure_system(w, o, way, (energy_bench *)(uintptr_t)problem, limits, b);
}

/* ---- Plain loops ----------------------------------------------------------------------------- */

static void put_loop(const energy_loop *loop, const char *what, ley_bench_device *d)
{
    d->host_loop = what;
    d->host_threads = 1;
    d->host_runs = 1;
    d->host_spread = NAN;
    d->host_loop_evaluations_per_s = loop->pairs / loop->seconds;
}

static ley_status pairs_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    energy_system s;
    energy_loop loop;
    (void)o, (void)problem;
    ley_status status = energy_system_liquid(pairs_ways->atoms, pairs_ways->edge_A, 1, &s, error);
    if (status == LEY_OK)
        status = energy_loop_liquid(&s, pairs_ways->cutoff_A, &loop, error);
    if (status == LEY_OK)
        put_loop(&loop, "9 A by linked cells, no vectors", d);
    energy_system_clear(&s);
    return status;
}

static ley_status born_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    energy_system s;
    energy_loop loop;
    (void)o, (void)problem;
    ley_status status = energy_system_protein(born_ways->atoms, 1, &s, error);
    if (status == LEY_OK)
        status = energy_loop_protein(&s, &loop, error);
    if (status == LEY_OK)
        put_loop(&loop, "energies of MM/GBSA, double precision, no vectors", d);
    energy_system_clear(&s);
    return status;
}

/* ---- The rows -------------------------------------------------------------------------------- */

/* clang-format off */
#define OF_FRAMES \
    BENCH_LAUNCHES, \
    {.name = "multiply_adds", .sentence = "that it takes, and sums and products, for pairs within the cutoff alone"}, \
    {.name = "frame_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true, \
     .sentence = "of a frame, median"}, \
    {.name = "frames_per_s", .unit = "frames/s", .hangs_on_time = true, .may_be_unknown = true, \
     .sentence = "frames a second, by the median"}
static const ley_bench_figure figures[] = {OF_FRAMES, {.name = NULL}};
static const ley_bench_figure mesh_figures[] = {OF_FRAMES, BENCH_MEMORY_SHARE, {.name = NULL}};
/* clang-format on */

#define BENCH_OF_ENERGY \
    .makes_grid = true, .on_request = on_request, .check = check, .make = make, .end = end, .measure = measure

const bench_subject bench_pairs = {.name = "pairs",
                                   BENCH_OF_ENERGY,
                                   .figures = figures,
                                   .named = pairs_named,
                                   .choose = choose_for_pairs,
                                   .host_loop = pairs_loop};
const bench_subject bench_born = {
    .name = "gb", BENCH_OF_ENERGY, .figures = figures, .named = born_named, .choose = choose, .host_loop = born_loop};
const bench_subject bench_ewald = {
    .name = "pme", BENCH_OF_ENERGY, .figures = mesh_figures, .named = mesh_named, .choose = choose_for_mesh};
