/* A bin of the coarse mesh is LEY_LONG_EDGE nodes wide. The kernels of device_lists.h put the
 * atoms' numbers into bins; long_place puts the atoms there, in the order of their numbers;
 * long_spread adds up what each bin's atoms bring to the nodes that they reach, a work-group for
 * each bin; long_gather adds up what the bins bring to each node. So no two write to the same node,
 * and the bytes are the same each time. */
#include "long_range/fourier/device_long_wavelengths.h"

#include "calibrate.h"
#include "core/sizes.h"
#include "costs.h"
#include "error.h"
#include "long_range/mesh/step_costs.h"
#include "parallel.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)LEY_LONG_POINTS == (int)KAISER_POINTS && (int)LEY_LONG_COEFFICIENTS == (int)KAISER_COEFFICIENTS,
               "kernels have the window of the host");

enum {
    PER_BIN = LEY_LONG_ACROSS * LEY_LONG_ACROSS * LEY_LONG_ACROSS,
    WINDOW = LEY_LONG_COEFFICIENTS * LEY_LONG_POINTS
};

/* An atom looks at all others in its bin: on average at so many at most. */
static const double most_looks = 16384;

/* Of launches: shorter than what drivers and cancelling ask for. */
static const double most_launch_s = 0.1;

static const char step_name[] = "long waves";

typedef struct putting {
    const device_long *kernels;
    const hierarchy *h;
    long_charges *made;
    device_lists lists; /* their arena is the caller's */
    int32_t *sums;      /* [bins + 1], of the host; and there: */
    buffer_of_int first;
    buffer_of_atom atoms;
    buffer_of_double window, parts, values;
    dev_staging *back;
    size_t nodes, listed;
    double atom_s;
} putting;

/* The mesh's first node is the origin; along periodic axes a place is within the period. */
static lists_frame frame_of(const hierarchy *h, const long_charges *c)
{
    lists_frame f = {.nodes = {0, 0, 0, LEY_LONG_EDGE}, .bins = {0, 0, 0, 1}};
    memcpy(f.origin, h->origin_A, sizeof h->origin_A);
    for (int axis = 0; axis < 3; axis++) {
        const hierarchy_level *level = &h->level[0];
        const int64_t cells = c->n[axis] - LEY_LONG_POINTS + 1;
        const double first = h->cell.periodic[axis] ? 0 : (double)level->first[axis];
        for (int i = 0; i < 3; i++) {
            f.along[axis][i] = h->inverse_per_A[axis][i] / c->apart[axis];
            f.origin[i] += first * h->step_A[axis][i];
        }
        f.whole[axis] = h->cell.periodic[axis] ? round((double)level->n[axis] / c->apart[axis]) : 0;
        f.nodes[axis] = (int32_t)cells;
        f.bins[axis] = (int32_t)(ley_round_up(cells, LEY_LONG_EDGE) / LEY_LONG_EDGE);
        f.bins[3] *= f.bins[axis];
    }
    return f;
}

static putting putting_of(const device_long *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                          long_charges *made)
{
    long_charges_lay_out(h, made);
    putting p = {
        .kernels = kernels,
        .h = h,
        .made = made,
        .lists = {.arena = memory, .atoms = atoms, .frame = frame_of(h, made), .flight = {.device = memory->device}},
        .nodes = (size_t)(made->n[0] * made->n[1] * made->n[2]),
        .atom_s = device_long_atom_s(memory->device->info, NULL)};
    p.lists.bins = (size_t)p.lists.frame.bins[3];
    return p;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool can_number(const hierarchy *h)
{
    long_charges c;
    double nodes = 1;
    long_charges_lay_out(h, &c);
    for (int axis = 0; axis < 3; axis++)
        nodes *= (double)c.n[axis];
    return nodes <= INT32_MAX;
}

static bool fits(const putting *p)
{
    const double n = (double)p->lists.atoms->n, bins = (double)p->lists.bins, nodes = (double)p->nodes,
                 parts = sizeof(double) * PER_BIN * bins;
    return fmax(32 * n, fmax(parts, 8 * nodes)) <= (double)arena_largest(p->lists.arena) &&
           (3 * 4 + 32) * n + parts + 8 * nodes + 8 * bins <= (double)arena_left(p->lists.arena);
}

static bool make(const putting *p, size_t bytes, dev_buffer **buffer)
{
    return arena_buffer(p->lists.arena, bytes, DEV_READ_WRITE, buffer, NULL) == LEY_OK;
}

static bool make_buffers(putting *p)
{
    p->sums = malloc((p->lists.bins + 1) * sizeof *p->sums);
    return p->sums != NULL && device_lists_make(&p->lists) && make(p, 4 * (p->lists.bins + 1), &p->first.buffer) &&
           make(p, 32 * p->lists.atoms->n, &p->atoms.buffer) && make(p, WINDOW * sizeof(double), &p->window.buffer) &&
           make(p, sizeof(double) * PER_BIN * p->lists.bins, &p->parts.buffer) &&
           make(p, sizeof(double) * p->nodes, &p->values.buffer) &&
           arena_staging(p->lists.arena, sizeof(double) * p->nodes, &p->back, NULL) == LEY_OK;
}

static void clear(putting *p)
{
    dev_buffer **const buffers[] = {&p->first.buffer, &p->atoms.buffer, &p->window.buffer, &p->parts.buffer,
                                    &p->values.buffer};
    device_lists_clear(&p->lists);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        arena_free_buffer(p->lists.arena, buffers[i]);
    arena_free_staging(p->lists.arena, &p->back);
    free(p->sums);
    p->sums = NULL;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void launch_place(putting *p)
{
    long_place_arguments a = {.kind = &long_place_kind,
                              .gm_position = p->lists.atoms->position,
                              .gm_charge = p->lists.atoms->charge,
                              .n_atoms = (int32_t)p->lists.atoms->n,
                              .gm_bin = p->lists.bin,
                              .gm_first = p->first,
                              .gm_list = p->lists.list,
                              .gm_atoms = p->atoms};
    LISTS_PUT_FRAME(&a, &p->lists.frame);
    device_lists_for_each(&p->lists, &p->kernels->place, &a);
}

/* In so many launches, of as many bins each. */
static void launch_spread(putting *p, size_t launches)
{
    const size_t bins = p->lists.bins;
    for (size_t i = 0; i < launches; i++) {
        const size_t from = bins * i / launches, to = bins * (i + 1) / launches, groups[3] = {to - from, 1, 1};
        if (to > from)
            sequence_launch(&p->lists.command_sequence, &p->kernels->spread, groups,
                            KERNEL_ARGUMENTS(long_spread, .gm_atoms = p->atoms, .gm_first = p->first,
                                             .gm_window = p->window, .first_bin = (int32_t)from, .gm_parts = p->parts),
                            p->atom_s * (double)p->listed / (double)launches);
    }
}

static void launch_gather(putting *p)
{
    const size_t groups[3] = {(p->nodes + LISTS_GROUP - 1) / LISTS_GROUP, 1, 1};
    const int64_t *n = p->made->n;
    const int32_t *bins = p->lists.frame.bins;
    sequence_launch(&p->lists.command_sequence, &p->kernels->gather, groups,
                    KERNEL_ARGUMENTS(long_gather, .gm_parts = p->parts,
                                     .nodes = {(int32_t)n[0], (int32_t)n[1], (int32_t)n[2], (int32_t)p->nodes},
                                     .bins = {bins[0], bins[1], bins[2], bins[3]}, .gm_values = p->values),
                    0);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static ley_status count_atoms(putting *p, double *looks, ley_error *error)
{
    const ley_status status = device_lists_count(&p->lists, &p->kernels->lists->count, error);
    return status == LEY_OK ? device_lists_add_up(&p->lists, p->sums, &p->listed, looks, error) : status;
}

/* Begins the sequence; what nobody writes are no numbers. */
static void begin(putting *p)
{
    kaiser_window weights;
    long_charges_window(&weights);
    sequence_begin(&p->lists.command_sequence, &p->lists.flight, NULL);
    sequence_write(&p->lists.command_sequence, p->first.buffer, 0, p->sums, 4 * (p->lists.bins + 1));
    sequence_write(&p->lists.command_sequence, p->window.buffer, 0, weights.c, sizeof weights.c);
    sequence_fill(&p->lists.command_sequence, p->atoms.buffer, 0, DEV_NO_NUMBERS, 32 * p->lists.atoms->n);
    sequence_fill(&p->lists.command_sequence, p->parts.buffer, 0, DEV_NO_NUMBERS,
                  sizeof(double) * PER_BIN * p->lists.bins);
    sequence_fill(&p->lists.command_sequence, p->values.buffer, 0, DEV_NO_NUMBERS, sizeof(double) * p->nodes);
    device_lists_launch(&p->lists, &p->kernels->lists->list, p->first);
    launch_place(p);
}

static size_t count_launches(const putting *p)
{
    const size_t most = p->lists.arena->device->info->max_groups[0];
    double launches = p->atom_s * (double)p->listed / most_launch_s;
    if (most > 0)
        launches = fmax(launches, (double)p->lists.bins / (double)most);
    return (size_t)ceil(fmin(fmax(launches, 1), (double)p->lists.bins));
}

static ley_status put_atoms(putting *p, ley_error *error)
{
    command_sequence *w = &p->lists.command_sequence;
    begin(p);
    launch_spread(p, count_launches(p));
    launch_gather(p);
    sequence_read(w, p->values.buffer, 0, p->back, sizeof(double) * p->nodes);
    const ley_status status = sequence_finish(w, error);
    if (status != LEY_OK)
        return status;
    const double *values_e = p->back->bytes;
    for (size_t i = 0; i < p->nodes; i++)
        if (!isfinite(values_e[i]))
            return sequence_no_number(error);
    step_cost_learn(p->lists.arena->device->info, step_name, "", p->atom_s, p->atom_s * (double)p->listed,
                    w->times.kernel_s);
    p->made->values_e = malloc(sizeof(double) * p->nodes);
    if (p->made->values_e == NULL)
        return ley_fail_memory(error, sizeof(double) * p->nodes, "charges of long waves");
    memcpy(p->made->values_e, values_e, sizeof(double) * p->nodes);
    return LEY_OK;
}

ley_status device_long_run(const device_long *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                           long_charges *made, const char **declined, ley_error *error)
{
    double looks = 0;
    ley_status status = LEY_OK;
    *made = (long_charges){.values_e = NULL};
    *declined = NULL;
    if (!memory->device->info->has_double)
        *declined = "it has no double precision";
    else if (!kernels->works)
        *declined = "its kernels do not build or are wrong there";
    else if (!can_number(h))
        *declined = "its mesh has too many nodes";
    if (*declined != NULL)
        return LEY_OK;
    putting p = putting_of(kernels, memory, h, atoms, made);
    if (atoms->n == 0 || atoms->n > INT32_MAX || !device_lists_can_launch(&p.lists))
        *declined = "its launches are too small";
    else if (!fits(&p) || !make_buffers(&p))
        *declined = "its memory is too small";
    if (*declined == NULL)
        status = count_atoms(&p, &looks, error);
    if (status == LEY_OK && looks > most_looks * (double)atoms->n)
        *declined = "bins hold too many atoms";
    if (*declined == NULL && status == LEY_OK)
        status = put_atoms(&p, error);
    clear(&p);
    return status;
}

/* ---- Where it is done ------------------------------------------------------------------------ */

/* Multiply-adds of floats a second, as measured for this plan, or ever; or as cards have them. */
static double fma_per_s(const dev_info *info, const calibration *facts)
{
    const double usual_per_s = 8e12;
    calibration ever;
    if (facts != NULL && facts->fma_per_s > 0)
        return facts->fma_per_s;
    calibrate_known(NULL, info, CALIBRATE_MULTIPLY_ADDS, &ever);
    return ever.fma_per_s > 0 ? ever.fma_per_s : usual_per_s;
}

double device_long_atom_s(const dev_info *info, const calibration *facts)
{
    const double doubles = 1.0 / 64; /* of the rate of floats */
    if (!info->has_double || (info->quirks & DEV_QUIRK_INTERPRETER) != 0)
        return 0;
    const double shown_s = step_cost(info, step_name, "", 0);
    return shown_s > 0 ? shown_s : PER_BIN / (doubles * fma_per_s(info, facts));
}

/* What else a device takes: the atoms' way there, and a count that the host waits for. */
static double device_s(const device_view *d, double atoms, bool are_there)
{
    const double atom_s = device_long_atom_s(d->info, d->is_known ? &d->facts : NULL);
    double bus[COSTS_MOST];
    if (atom_s == 0 || d->info->device_class == DEV_CPU)
        return INFINITY;
    costs_known(&bus_costs, d->info, bus);
    return atoms * (atom_s + (are_there ? 0 : sizeof(double[4]) * bus[COST_TO_DEVICE])) + 2 * bus[COST_START];
}

ley_place device_long_plan(const job_view *job, size_t atoms, bool are_there)
{
    const double safety = 0.7, host_s = (double)atoms * LONG_WAVES_ATOM_S / parallel_cores();
    double slowest_s = job->device_count > 0 ? 0 : INFINITY;
    for (size_t i = 0; i < job->device_count; i++)
        slowest_s = fmax(slowest_s, device_s(&job->devices[i], (double)atoms, are_there));
    return slowest_s < safety * host_s ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

/* ---- Self-test ------------------------------------------------------------------------------- */

enum { TRIAL_ATOMS = 5000, FEW_ATOMS = 300, CLUSTERED = 600, LAUNCHES = 3, TRIALS = 2 };

/* A skewed cell, its atoms also some periods away, of which some have no charge and many are close
 * together; and what the host makes of it. It is periodic along one axis, where its first node
 * along the others is not the origin and the first and the last nodes have nothing; and along all,
 * where these have as much as others do, and so have the last bins. */
typedef struct trial {
    hierarchy h;
    size_t n;
    double (*position_A)[3], *charge_e;
    long_charges right, made;
    arena arena;
    device_atoms atoms;
    device_long kernels;
    putting steps;
} trial;

static void put_trial_atoms(trial *t)
{
    static const double size_A[3] = {31, 150, 27};
    uint32_t state = 1801;
    for (size_t i = 0; i < t->n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double u = self_test_fraction(&state);
            t->position_A[i][axis] = i < CLUSTERED && i % 3 == 0 ? 7 + 0.5 * u : size_A[axis] * u;
        }
        t->charge_e[i] = i % 13 == 5 ? 0 : (2 * self_test_fraction(&state) - 1) / 3; /* no float */
    }
}

static ley_status make_trial_mesh(trial *t, bool is_periodic, ley_error *error)
{
    const hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                                 .window = WINDOW_BSPLINE6,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = 6,
                                 .spacing_A = 1.5,
                                 .long_waves_per_A = 0.6,
                                 .periodic = {is_periodic, true, is_periodic},
                                 .cell_A = {{20, 0, 0}, {3, 35, 0}, {1, 2, 20}}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    cell c;
    const ley_status status = cell_make(o.periodic, o.cell_A, &c, error);
    if (status != LEY_OK)
        return status;
    hierarchy_box(&c, t->n, t->position_A[0], low, high);
    return hierarchy_make(&o, low, high, &t->h, error);
}

static ley_status trial_create(trial *t, dev *device, bool is_periodic, ley_error *error)
{
    *t = (trial){.n = (device->info->quirks & DEV_QUIRK_INTERPRETER) != 0 ? FEW_ATOMS : TRIAL_ATOMS,
                 .arena = {.device = device}};
    t->position_A = calloc(t->n, sizeof *t->position_A);
    t->charge_e = calloc(t->n, sizeof *t->charge_e);
    if (t->position_A == NULL || t->charge_e == NULL)
        return ley_fail_memory(error, t->n * sizeof *t->position_A, "the self-test");
    put_trial_atoms(t);
    ley_status status = make_trial_mesh(t, is_periodic, error);
    if (status == LEY_OK)
        status = long_charges_make(&t->h, t->n, t->position_A[0], t->charge_e, NULL, &t->right, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, t->position_A, t->n * sizeof *t->position_A, &t->atoms.position.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, t->charge_e, t->n * sizeof *t->charge_e, &t->atoms.charge.buffer, error);
    t->atoms.n = t->n;
    if (status != LEY_OK)
        return status;
    t->steps = putting_of(&t->kernels, &t->arena, &t->h, &t->atoms, &t->made);
    return make_buffers(&t->steps) ? LEY_OK : ley_fail_memory(error, t->n * 32, "the self-test");
}

static void trial_end(trial *t)
{
    if (t->steps.lists.arena != NULL)
        clear(&t->steps);
    arena_clear(&t->arena);
    long_charges_clear(&t->right);
    free(t->position_A);
    free(t->charge_e);
}

/* What cl/spread.h says, operation by operation: the bin, and the place in it. */
static size_t find_bin(const lists_frame *f, const double position_A[3], double place[3])
{
    size_t bin = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const double *along = f->along[axis], x = position_A[0] - f->origin[0], y = position_A[1] - f->origin[1],
                     z = position_A[2] - f->origin[2], index = along[0] * x + along[1] * y + along[2] * z,
                     below = floor(index);
        const double whole = f->whole[axis];
        const int64_t wrapped = (int64_t)(whole > 0 ? below - whole * floor(below / whole) : below);
        place[axis] = (double)(wrapped % LEY_LONG_EDGE) + ((index - below - 0.5) + 0.5);
        bin = bin * (size_t)f->bins[axis] + (size_t)(wrapped / LEY_LONG_EDGE);
    }
    return bin;
}

/* Of each bin, the charged atoms in the order of their numbers, [n]; *first is [bins + 1]. */
static void sort_atoms(const trial *t, int32_t *first, double (*sorted)[4])
{
    const size_t bins = t->steps.lists.bins;
    double place[3];
    memset(first, 0, (bins + 2) * sizeof *first);
    for (size_t i = 0; i < t->n; i++)
        if (t->charge_e[i] != 0)
            first[find_bin(&t->steps.lists.frame, t->position_A[i], place) + 2]++;
    for (size_t bin = 0; bin < bins; bin++)
        first[bin + 2] += first[bin + 1];
    for (size_t i = 0; i < t->n; i++)
        if (t->charge_e[i] != 0) {
            double *to = sorted[first[find_bin(&t->steps.lists.frame, t->position_A[i], place) + 1]++];
            memcpy(to, place, sizeof place);
            to[3] = t->charge_e[i];
        }
}

/* The chain up to `launches` of long_spread, and on to the nodes; 0: to long_place. Then `bytes` of
 * `from`. */
static ley_status run_trial(trial *t, size_t launches, bool to_nodes, dev_buffer *const *from, size_t bytes,
                            void **read, ley_error *error)
{
    double looks;
    dev_staging *back = NULL;
    command_sequence *w = &t->steps.lists.command_sequence;
    ley_status status = count_atoms(&t->steps, &looks, error);
    if (status == LEY_OK)
        status = arena_staging(&t->arena, bytes, &back, error);
    if (status != LEY_OK)
        return status;
    begin(&t->steps);
    if (launches > 0)
        launch_spread(&t->steps, launches);
    if (to_nodes)
        launch_gather(&t->steps);
    sequence_read(w, *from, 0, back, bytes);
    *read = back->bytes;
    return sequence_finish(w, error);
}

/* What a fault may be seen in, and what is right. */
typedef struct verdict {
    int32_t *first;
    double (*sorted)[4];
    void *read;
} verdict;

static ley_status verdict_create(trial *t, verdict *v, ley_error *error)
{
    *v = (verdict){.first = malloc((t->steps.lists.bins + 2) * sizeof *v->first),
                   .sorted = malloc(t->n * sizeof *v->sorted)};
    if (v->first == NULL || v->sorted == NULL)
        return ley_fail_memory(error, t->n * sizeof *v->sorted, "the self-test");
    sort_atoms(t, v->first, v->sorted);
    return LEY_OK;
}

static void verdict_end(verdict *v)
{
    free(v->first);
    free(v->sorted);
}

static ley_status judge_places(const trial *t, const verdict *v, ley_error *error)
{
    const double(*found)[4] = v->read;
    for (size_t i = 0; i < t->steps.listed; i++)
        if (memcmp(found[i], v->sorted[i], sizeof *found) != 0)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "the atom in place %zu is not the host's", i);
    return LEY_OK;
}

static void add_atom(const kaiser_window *of, const double atom[4], double *sum)
{
    double weight[3][LEY_LONG_POINTS];
    int node[3];
    for (int axis = 0; axis < 3; axis++) {
        node[axis] = (int)fmin(atom[axis], LEY_LONG_EDGE - 1);
        for (int i = 0; i < LEY_LONG_POINTS; i++) {
            const double u = atom[axis] - node[axis] - 0.5;
            weight[axis][i] = 0;
            for (int k = LEY_LONG_COEFFICIENTS - 1; k >= 0; k--)
                weight[axis][i] = weight[axis][i] * u + of->c[k][i];
        }
    }
    for (int z = 0; z < LEY_LONG_POINTS; z++)
        for (int y = 0; y < LEY_LONG_POINTS; y++)
            for (int x = 0; x < LEY_LONG_POINTS; x++)
                sum[((node[2] + z) * LEY_LONG_ACROSS + node[1] + y) * LEY_LONG_ACROSS + node[0] + x] +=
                    atom[3] * weight[0][x] * weight[1][y] * weight[2][z];
}

/* Sums of doubles in another order. */
static const double sum_share = 1e-13;

static ley_status judge_parts(const trial *t, const verdict *v, ley_error *error)
{
    kaiser_window weights;
    const double *found = v->read;
    size_t atom = 0;
    long_charges_window(&weights);
    for (size_t bin = 0; bin < t->steps.lists.bins; bin++) {
        double right[PER_BIN] = {0}, charge_e = 0;
        for (; atom < (size_t)t->steps.sums[bin + 1]; atom++) {
            add_atom(&weights, v->sorted[atom], right);
            charge_e += fabs(v->sorted[atom][3]);
        }
        for (int i = 0; i < PER_BIN; i++, found++)
            if (!(fabs(*found - right[i]) <= sum_share * charge_e))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node %d of bin %zu has %.17g, not %.17g", i, bin,
                                *found, right[i]);
    }
    return LEY_OK;
}

static ley_status judge_nodes(const trial *t, const verdict *v, ley_error *error)
{
    const double *found = v->read;
    double charge_e = 0;
    for (size_t i = 0; i < t->n; i++)
        charge_e += fabs(t->charge_e[i]);
    for (size_t i = 0; i < t->steps.nodes; i++)
        if (!(fabs(found[i] - t->right.values_e[i]) <= sum_share * charge_e))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node %zu has %.17g, not %.17g", i, found[i],
                            t->right.values_e[i]);
    return LEY_OK;
}

static ley_status try_step(const dev_kernel *built, const device_long *kernels, int step, bool is_periodic,
                           ley_error *error)
{
    trial t;
    verdict v = {.first = NULL};
    ley_status status = trial_create(&t, built->device, is_periodic, error);
    if (status == LEY_OK)
        status = verdict_create(&t, &v, error);
    t.kernels = *kernels;
    *(step == 0 ? &t.kernels.place : step == 1 ? &t.kernels.spread : &t.kernels.gather) = *built;
    dev_buffer *const *from[] = {&t.steps.atoms.buffer, &t.steps.parts.buffer, &t.steps.values.buffer};
    const size_t bytes[] = {32 * t.n, sizeof(double) * PER_BIN * t.steps.lists.bins, sizeof(double) * t.steps.nodes};
    if (status == LEY_OK)
        status = run_trial(&t, step == 0 ? 0 : LAUNCHES, step == 2, from[step], bytes[step], &v.read, error);
    if (status == LEY_OK)
        status = (step == 0 ? judge_places : step == 1 ? judge_parts : judge_nodes)(&t, &v, error);
    verdict_end(&v);
    trial_end(&t);
    return status;
}

/* Of a kernel, when those before it have passed. */
static ley_status test_step(const dev_kernel *built, void *context, int step, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < TRIALS && status == LEY_OK; i++)
        status = try_step(built, context, step, i > 0, error);
    return status;
}

static ley_status test_place(const dev_kernel *built, void *context, ley_error *error)
{
    return test_step(built, context, 0, error);
}

static ley_status test_spread(const dev_kernel *built, void *context, ley_error *error)
{
    return test_step(built, context, 1, error);
}

static ley_status test_gather(const dev_kernel *built, void *context, ley_error *error)
{
    return test_step(built, context, 2, error);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = LISTS_GROUP; /* at least a bin's columns */
    size[1] = size[2] = 1;
}
_Static_assert(LEY_LONG_ACROSS *LEY_LONG_ACROSS <= (int)LISTS_GROUP, "a work-item for each column");

static const kernel_dialect own_spec = {.sum = LEY_SPEC_SUM_DOUBLE, .width = 1, .root = LEY_ROOT_STANDARD};

static void place_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "long_place", &own_spec);
}

static void spread_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "long_spread", &own_spec);
}

static void gather_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "long_gather", &own_spec);
}

static size_t spread_local_bytes(const dev_info *info, const void *spec)
{
    enum { BATCH = 32 };
    (void)info, (void)spec;
    return sizeof(double) * (WINDOW + 3 * BATCH * LEY_LONG_ACROSS);
}

KERNEL_DESCRIBE_ARGUMENTS(long_place, LEY_LONG_PLACE_ARGUMENTS)
const kernel_kind long_place_kind = {
    KERNEL_DESCRIPTION(long_place, LEY_DIALECT_KEYS, long_place),
    .group = group_of,
    .test = test_place,
    .specs = place_specs,
};

KERNEL_DESCRIBE_ARGUMENTS(long_spread, LEY_LONG_SPREAD_ARGUMENTS)
const kernel_kind long_spread_kind = {
    KERNEL_DESCRIPTION(long_spread, LEY_DIALECT_KEYS, long_spread),
    .group = group_of,
    .local_bytes = spread_local_bytes,
    .test = test_spread,
    .specs = spread_specs,
};

KERNEL_DESCRIBE_ARGUMENTS(long_gather, LEY_LONG_GATHER_ARGUMENTS)
const kernel_kind long_gather_kind = {
    KERNEL_DESCRIPTION(long_gather, LEY_DIALECT_KEYS, long_gather),
    .group = group_of,
    .test = test_gather,
    .specs = gather_specs,
};

void device_long_create(dev *device, const device_spread *lists, device_long *k)
{
    *k = (device_long){.lists = lists};
    k->works = device->info->has_double && lists->works &&
               kernel_create(device, &long_place_kind, &own_spec, NULL, k, &k->place, NULL) == LEY_OK &&
               kernel_create(device, &long_spread_kind, &own_spec, NULL, k, &k->spread, NULL) == LEY_OK &&
               kernel_create(device, &long_gather_kind, &own_spec, NULL, k, &k->gather, NULL) == LEY_OK;
}

void device_long_destroy(device_long *k)
{
    kernel_destroy(&k->place);
    kernel_destroy(&k->spread);
    kernel_destroy(&k->gather);
    k->works = false;
}
