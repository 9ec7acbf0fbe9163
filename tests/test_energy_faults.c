/* Energies where a run is cancelled at any of its launches, a launch is left out, or memory is
 * refused: no wrong values, and the next run is right. The same of densities and their scores. */
#include "some_energies.h"
#include "support.h"

#include "engine/command_sequence.h"
#include "error.h"
#include "kernel_kind.h"
#include "memory/arena.h"

static ley_engine *engine;

/* ---- What goes wrong ------------------------------------------------------------------------- */

static struct {
    ley_energy *cancelled;      /* at launch number `at`; NULL: none is */
    int at, left_out, launches; /* a launch that is left out; so far */
    const char *name;           /* of the kernel that was left out */
    size_t most_bytes;          /* of a buffer, above which it is refused; 0: any */
    ley_status refusal;
    int refused;
} fault;

void right_launch(command_sequence *w, const dev_kernel *kernel, const size_t groups[3], const void *arguments,
                  double predicted_s) __asm__("__real_sequence_launch");
void some_launch(command_sequence *w, const dev_kernel *kernel, const size_t groups[3], const void *arguments,
                 double predicted_s) __asm__("__wrap_sequence_launch");
void some_launch(command_sequence *w, const dev_kernel *kernel, const size_t groups[3], const void *arguments,
                 double predicted_s)
{
    if (++fault.launches == fault.at && fault.cancelled != NULL)
        ley_energy_cancel(fault.cancelled);
    if (fault.launches == fault.left_out)
        fault.name = kernel->kind->name;
    else
        right_launch(w, kernel, groups, arguments, predicted_s);
}

/* Kernels stay in the cache of a device that is wrong. */
void keep_kernels(dev *device) __asm__("__wrap_kernels_distrust");
void keep_kernels(dev *device)
{
    (void)device;
}

ley_status right_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer,
                        ley_error *error) __asm__("__real_arena_buffer");
ley_status some_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer,
                       ley_error *error) __asm__("__wrap_arena_buffer");
ley_status some_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    if (fault.most_bytes == 0 || bytes <= fault.most_bytes)
        return right_buffer(r, bytes, access, buffer, error);
    fault.refused++;
    return ley_fail(error, fault.refusal, "a buffer of %zu bytes is refused", bytes);
}

/* ---- What is computed ------------------------------------------------------------------------ */

enum { COUNT = 150, FRAMES = 6, GROUPS = 3 };
enum { PAIRS, MESH, BORN, KINDS };
enum { OF_ONE_MESH = 10 }; /* the launch from which on they are of meshes */
static const double spacing_A = 2.6;

typedef struct values {
    double terms[FRAMES][LEY_ENERGY_TERMS], matrix[FRAMES][LEY_ENERGY_TERMS][GROUPS][GROUPS];
    float forces[FRAMES][COUNT][3];
} values;

typedef struct problem {
    ley_particles *particles;
    float *position_A;
    double cell_A[FRAMES][9];
    int32_t group[COUNT];
    int kind;
    ley_energy *energy;
    values right, found;
} problem;

static problem *make_problem(ley_engine *on, int kind, int64_t verify_every)
{
    problem *p = calloc(1, sizeof *p);
    ley_error error = {0};
    ley_energy_options o;
    ley_energy_options_default(&o);
    p->kind = kind;
    p->particles = some_particles(COUNT, 5, 3);
    p->position_A = some_positions(COUNT, FRAMES, spacing_A, 5);
    for (int i = 0; i < COUNT; i++)
        p->group[i] = i % GROUPS;
    for (int i = 0; i < 3 * FRAMES; i++)
        p->cell_A[i / 3][4 * (i % 3)] = some_width_A(COUNT, spacing_A) + 1;
    o.forces = true;
    o.verify_every = verify_every;
    o.group = p->group;
    o.groups = kind == PAIRS ? GROUPS : 0;
    if (kind == MESH) {
        o.coulomb = LEY_COULOMB_EWALD;
        o.cutoff_A = 6.5;
    } else if (kind == BORN) {
        o.born = LEY_BORN_OBC2;
        o.surface = LEY_SURFACE_LCPO;
    }
    assert_ok(ley_energy_create(on, p->particles, &o, &p->energy, &error));
    return p;
}

static ley_status run(problem *p, values *v, ley_error *error)
{
    ley_energy_results r = {.size = sizeof r,
                            .terms = v->terms[0],
                            .matrix = p->kind == PAIRS ? v->matrix[0][0][0] : NULL,
                            .forces = v->forces[0][0]};
    return ley_energy_run(p->energy, FRAMES, p->position_A, p->kind == MESH ? p->cell_A[0] : NULL, &r, error);
}

static void end_problem(problem *p)
{
    ley_energy_destroy(p->energy);
    ley_particles_destroy(p->particles);
    free(p->position_A);
    free(p);
}

static int failed_devices(const problem *p)
{
    ley_energy_totals totals;
    ley_energy_get_totals(p->energy, &totals);
    return totals.failed;
}

/* Of others, such as the host, too. */
static bool is_right(const problem *p)
{
    const double share = p->kind == MESH ? 1e-3 : 1e-4;
    double square = 0, worst = 0;
    for (int i = 0; i < FRAMES * LEY_ENERGY_TERMS; i++) {
        const int f = i / LEY_ENERGY_TERMS, t = i % LEY_ENERGY_TERMS;
        const double right = p->right.terms[f][t], found = p->found.terms[f][t];
        if (!(fabs(found - right) <= share * fabs(right) + 1e-3))
            return false;
    }
    for (int i = 0; i < 3 * FRAMES * COUNT; i++) {
        const int f = i / (3 * COUNT), k = i / 3 % COUNT;
        const double right = (double)p->right.forces[f][k][i % 3];
        square += right * right;
        worst = fmax(worst, fabs((double)p->found.forces[f][k][i % 3] - right));
    }
    return worst <= 10 * share * sqrt(square / (FRAMES * COUNT));
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void runs_may_be_cancelled_anywhere(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ley_error error = {0};
        problem *p = make_problem(engine, kind, 256);
        assert_ok(run(p, &p->right, &error));
        fault.launches = 0;
        assert_ok(run(p, &p->found, &error));
        const int launches = fault.launches;
        int cancelled = 0;
        for (int at = 1; at <= launches; at += support_is_quick() ? 1 + launches / 8 : 1) {
            fault.launches = 0;
            fault.at = at;
            fault.cancelled = p->energy;
            const ley_status status = run(p, &p->found, &error);
            fault.cancelled = NULL;
            assert_true(status == LEY_OK || status == LEY_CANCELLED);
            cancelled += status == LEY_CANCELLED;
            ley_error_clear(&error);
            memset(&p->found, 0xff, sizeof p->found);
            if (p->kind != PAIRS)
                memset(p->found.matrix, 0, sizeof p->found.matrix);
            assert_ok(run(p, &p->found, &error));
            assert_memory_equal(&p->found, &p->right, sizeof p->found);
        }
        print_message("kind %d: %d launches, %d of the runs were cancelled\n", kind, launches, cancelled);
        assert_true(cancelled > 0);
        assert_int_equal(failed_devices(p), 0);
        end_problem(p);
    }
}

/* ---- Launches that are left out -------------------------------------------------------------- */

/* The frames in the opposite order: what a run before has left is wrong for this one. */
static void turn_round(problem *p)
{
    float kept[3 * COUNT];
    for (int f = 0; f < FRAMES / 2; f++) {
        float *one = p->position_A + 3 * COUNT * f, *other = p->position_A + 3 * COUNT * (FRAMES - 1 - f);
        memcpy(kept, one, sizeof kept);
        memcpy(one, other, sizeof kept);
        memcpy(other, kept, sizeof kept);
    }
}

/* A second run, none of whose frames is verified, without its launch number `at`; 0: with all. */
static problem *run_without(int kind, int at)
{
    ley_error error = {0};
    problem *p = make_problem(engine, kind, 0);
    turn_round(p);
    assert_ok(run(p, &p->found, &error));
    turn_round(p);
    fault.launches = 0;
    fault.left_out = at;
    assert_ok(run(p, at == 0 ? &p->right : &p->found, &error));
    fault.left_out = 0;
    return p;
}

static void launches_that_are_left_out_are_noticed(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        problem *whole = run_without(kind, 0);
        const int launches = fault.launches;
        for (int at = 1; at <= launches; at++) {
            /* The frames' meshes follow one another. */
            if (kind == MESH && (at >= OF_ONE_MESH && at < launches))
                continue;
            problem *p = run_without(kind, at);
            p->right = whole->right;
            if (failed_devices(p) != 1 || !is_right(p))
                fail_msg("kind %d, launch %d, of %s, was left out: %d devices failed, values are %s", kind, at,
                         fault.name, failed_devices(p), is_right(p) ? "right" : "wrong");
            end_problem(p);
        }
        end_problem(whole);
    }
}

/* ---- Memory that is refused ------------------------------------------------------------------ */

/* A device takes fewer frames at a time; where there is too little for one, the host is left. */
static void refused_memory_ends_nothing(void **state)
{
    (void)state;
    static const ley_status refusals[] = {LEY_ERROR_NO_DEVICE, LEY_ERROR_MEMORY, LEY_ERROR_DEVICE};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 6; k++) {
            ley_error error = {0};
            problem *p = make_problem(engine, kind, 256);
            assert_ok(run(p, &p->right, &error));
            ley_energy *whole = p->energy;
            problem *again = make_problem(engine, kind, 256);
            p->energy = again->energy;
            again->energy = whole;
            fault.most_bytes = k < 3 ? 300000 : 100;
            fault.refusal = refusals[k % 3];
            fault.refused = 0;
            assert_ok(run(p, &p->found, &error));
            fault.most_bytes = 0;
            assert_true(fault.refused > 0);
            assert_int_equal(failed_devices(p), k < 3 ? 0 : 1);
            assert_true(is_right(p));
            if (k < 3)
                assert_memory_equal(&p->found, &p->right, sizeof p->found);
            end_problem(p);
            end_problem(again);
        }
}

/* ---- Densities ------------------------------------------------------------------------------- */

enum { ATOMS = 40, FITS = 4 };

typedef struct fitting {
    ley_map *map;
    ley_fit *fit;
    float position_A[3 * ATOMS * FITS], gradient[3 * ATOMS * FITS];
    double score[FITS][LEY_FIT_SCORES];
} fitting;

static fitting *make_fitting(void)
{
    static const ley_grid grid = {{0, 0, 0}, LEY_STEPS(1.2, 1.2, 1.2), {18, 17, 16}};
    ley_density_options o;
    ley_error error = {0};
    unsigned seed = 3;
    double weight[ATOMS];
    fitting *f = calloc(1, sizeof *f);
    f->map = support_make_map(&grid);
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        ley_map_values(f->map)[i] = (float)support_uniform(&seed);
    for (int i = 0; i < 3 * ATOMS * FITS; i++)
        f->position_A[i] = (float)(20 * support_uniform(&seed));
    for (int i = 0; i < ATOMS; i++)
        weight[i] = 6;
    const ley_fit_target target = {.size = sizeof target, .map = f->map, .has_gradient = true};
    ley_density_options_default(&o);
    o.verify_every = 0;
    assert_ok(ley_fit_create(engine, &target, ATOMS, weight, NULL, &o, &f->fit, &error));
    return f;
}

/* Computes the frames, or those of the other half instead. */
static int run_fitting(fitting *f, bool is_turned)
{
    ley_fit_results r = {.size = sizeof r, .score = f->score[0], .gradient = f->gradient};
    ley_fit_totals totals;
    ley_error error = {0};
    assert_ok(ley_fit_run(f->fit, FITS / 2, f->position_A + (is_turned ? 3 * ATOMS * FITS / 2 : 0), NULL, &r, &error));
    ley_fit_get_totals(f->fit, &totals);
    return totals.failed;
}

static void end_fitting(fitting *f)
{
    ley_fit_destroy(f->fit);
    ley_map_destroy(f->map);
    free(f);
}

static bool are_same(const fitting *a, const fitting *b)
{
    double off = 0, most = 0;
    for (int i = 0; i < 3 * ATOMS * FITS / 2; i++) {
        off = fmax(off, fabs((double)a->gradient[i] - (double)b->gradient[i]));
        most = fmax(most, fabs((double)b->gradient[i]));
    }
    return fabs(a->score[0][0] - b->score[0][0]) < 1e-5 && fabs(a->score[1][0] - b->score[1][0]) < 1e-5 &&
           off < 1e-4 * most;
}

static void densities_without_launches_or_memory(void **state)
{
    (void)state;
    static const ley_status refusals[] = {LEY_ERROR_NO_DEVICE, LEY_ERROR_MEMORY, LEY_ERROR_DEVICE};
    fitting *right = make_fitting();
    assert_int_equal(run_fitting(right, true), 0); /* kernels that are built launch their tests */
    fault.launches = 0;
    assert_int_equal(run_fitting(right, false), 0);
    const int launches = fault.launches;
    assert_true(launches >= 2);
    for (int at = 1; at <= launches; at++) {
        fitting *f = make_fitting();
        assert_int_equal(run_fitting(f, true), 0);
        fault.launches = 0;
        fault.left_out = at;
        const int failed = run_fitting(f, false);
        if (failed != 1 || !are_same(f, right))
            fail_msg("launch %d, of %s, was left out: %d devices failed, values are %s", at, fault.name, failed,
                     are_same(f, right) ? "right" : "wrong");
        fault.left_out = 0;
        end_fitting(f);
    }
    for (int k = 0; k < 6; k++) { /* there is room for some frames at a time, or for none */
        fitting *f = make_fitting();
        fault.most_bytes = k < 3 ? 200000 : 100;
        fault.refusal = refusals[k % 3];
        fault.refused = 0;
        assert_int_equal(run_fitting(f, false), k < 3 ? 0 : 1);
        fault.most_bytes = 0;
        assert_true(fault.refused > 0);
        assert_true(are_same(f, right));
        end_fitting(f);
    }
    end_fitting(right);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "faults of energies", .opened = &engine), runs_may_be_cancelled_anywhere,
                     launches_that_are_left_out_are_noticed, refused_memory_ends_nothing,
                     densities_without_launches_or_memory);
}
