#include "fit/store.h"

#include "error.h"
#include "fit/verify.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Of a device ----------------------------------------------------------------------------- */

typedef struct storing {
    ley_fit *fit;
    const fit_part *part;
    const fit_batch *b;
    bool *is_bad; /* [frames] */
} storing;

/* Sums over the bricks of a frame, in their order. */
static void add_parts(const storing *s, size_t frame, fit_sums *to)
{
    const fit_problem *p = s->part->problem;
    const size_t count = (size_t)LEY_FIT_SUMS(s->part->sets), bricks = s->part->bricks.brick_count;
    const float *parts = (const float *)s->b->parts.staging->bytes + frame * bricks * count;
    double sums[LEY_FIT_SUMS(LEY_FIT_ALL | LEY_FIT_MASKED | LEY_FIT_ABOVE)] = {0};
    const double *at = sums;
    for (size_t i = 0; i < bricks; i++)
        for (size_t k = 0; k < count; k++)
            sums[k] += (double)parts[i * count + k];
    *to = (fit_sums){.all = p->all, .masked = p->masked};
    for (int set = 0; set < (p->mask != NULL ? 2 : 1); set++, at += 3) {
        density_sums *own = set == 0 ? &to->all : &to->masked;
        own->a = at[0];
        own->aa = at[1];
        own->ab = at[2];
    }
    if (p->has_threshold)
        memcpy(&to->above, at, sizeof to->above);
}

static bool store_windows(const storing *s, size_t frame, double *window)
{
    const size_t windows = (size_t)s->part->problem->windows;
    const float *sums = (const float *)s->b->windows.staging->bytes + frame * windows * LEY_FIT_WINDOW_SUMS;
    float nothing = 0; /* as long as all are numbers */
    for (size_t w = 0; w < windows; w++, sums += LEY_FIT_WINDOW_SUMS) {
        const density_sums own = {(double)sums[0], (double)sums[1], (double)sums[2],
                                  (double)sums[3], (double)sums[4], (double)sums[5]};
        for (int k = 0; k < LEY_FIT_WINDOW_SUMS; k++)
            nothing += 0 * sums[k];
        window[w] = density_correlation(&own);
    }
    return nothing == 0;
}

static bool store_gradient(const storing *s, size_t frame, const fit_sums *sums, float *gradient)
{
    const fit_problem *p = s->part->problem;
    const size_t n = p->model.count;
    const fit_slopes slopes = fit_slopes_of(&sums->all);
    const float *from = (const float *)s->b->gradient.staging->bytes + frame * n * LEY_FIT_ATOM_SUMS;
    float nothing = 0;
    for (size_t atom = 0; atom < n; atom++, from += LEY_FIT_ATOM_SUMS) {
        double own[LEY_FIT_ATOM_SUMS];
        for (int k = 0; k < LEY_FIT_ATOM_SUMS; k++) {
            own[k] = (double)from[k];
            nothing += 0 * from[k];
        }
        fit_atom_gradient(p, &slopes, atom, own, gradient + 3 * atom);
    }
    return nothing == 0;
}

static bool store_density(const storing *s, size_t frame, float *density)
{
    const fit_bricks *b = &s->part->bricks;
    const int64_t *n = s->part->problem->model.grid.n;
    const float *from = (const float *)s->b->density_back->bytes + frame * b->node_count;
    float nothing = 0;
    for (int64_t row = 0; row < n[1] * n[2]; row++) {
        const float *own = from + (row / n[1] * b->nodes[1] + row % n[1]) * b->nodes[0];
        memcpy(density + row * n[0], own, (size_t)n[0] * sizeof *own);
        for (int64_t i = 0; i < n[0]; i++)
            nothing += 0 * own[i];
    }
    return nothing == 0;
}

static void store_frames(void *context, size_t first, size_t last)
{
    const storing *s = context;
    for (size_t f = first; f < last; f++) {
        const ley_fit_results r = fit_results_of(s->fit, s->b->first + (int64_t)f);
        fit_sums sums = {.all = {.n = 0}};
        double score[LEY_FIT_SCORES] = {0};
        bool is_good = true;
        if (s->part->sets != 0) {
            add_parts(s, f, &sums);
            fit_score(s->part->problem, &sums, score);
            is_good = isfinite(sums.all.a) && isfinite(sums.all.aa) && isfinite(sums.all.ab);
        }
        if (r.score != NULL)
            memcpy(r.score, score, sizeof score);
        if (r.window != NULL)
            is_good = store_windows(s, f, r.window) && is_good;
        if (r.gradient != NULL)
            is_good = store_gradient(s, f, &sums, r.gradient) && is_good;
        if (r.density != NULL)
            is_good = store_density(s, f, r.density) && is_good;
        s->is_bad[f] = !is_good;
    }
}

ley_status fit_store_batch(ley_fit *fit, frame_device *d, const fit_part *part, const fit_batch *b, ley_error *error)
{
    storing s = {fit, part, b, malloc((size_t)b->frames * sizeof *s.is_bad)};
    ley_status status = LEY_OK;
    if (s.is_bad == NULL)
        return ley_fail_memory(error, (size_t)b->frames, "a batch of frames");
    parallel_ranges((size_t)b->frames, store_frames, &s);
    for (int f = 0; f < b->frames && status == LEY_OK; f++) {
        if (s.is_bad[f])
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "frame %lld: a sum is no number",
                              frame_number(&fit->queue, b->first + f));
        else if (frame_is_verified(d, b->first + f, fit->problem.options.verify_every)) {
            status = fit_verify(fit, part, b, f, error);
            d->has_passed = status == LEY_OK;
        }
    }
    free(s.is_bad);
    return status;
}

/* ---- By the host ----------------------------------------------------------------------------- */

/* A frame's density at all nodes. */
typedef struct host_frame {
    const ley_fit *fit;
    const float *position_A;
    double *rho;
    fit_sums sums;
    ley_fit_results results;
    atomic_bool is_out_of_memory;
} host_frame;

static void host_windows(void *context, size_t first, size_t last)
{
    static const int64_t origin[3] = {0, 0, 0};
    host_frame *h = context;
    const fit_problem *p = &h->fit->problem;
    unsigned char *mark = malloc((size_t)p->nodes);
    if (mark == NULL)
        atomic_store(&h->is_out_of_memory, true);
    for (size_t w = first; w < last && mark != NULL; w++) {
        memset(mark, 0, (size_t)p->nodes);
        const density_sums s =
            fit_law_window(p, h->position_A, h->rho, origin, p->model.grid.n, (int32_t)w, fit_window_A(p), mark);
        h->results.window[w] = density_correlation(&s);
    }
    free(mark);
}

static void host_gradient(void *context, size_t first, size_t last)
{
    const host_frame *h = context;
    static const int64_t origin[3] = {0, 0, 0};
    const fit_problem *p = &h->fit->problem;
    const fit_slopes slopes = fit_slopes_of(&h->sums.all);
    for (size_t i = first; i < last; i++) {
        double sums[LEY_FIT_ATOM_SUMS], absolute[LEY_FIT_ATOM_SUMS];
        fit_law_atom(p, h->position_A, i, h->rho, origin, p->model.grid.n, sums, absolute);
        fit_atom_gradient(p, &slopes, i, sums, h->results.gradient + 3 * i);
    }
}

ley_status fit_store_host(ley_fit *fit, int64_t frame, ley_error *error)
{
    static const int64_t origin[3] = {0, 0, 0};
    const fit_problem *p = &fit->problem;
    host_frame h = {.fit = fit, .position_A = fit_positions(fit, frame), .results = fit_results_of(fit, frame)};
    double score[LEY_FIT_SCORES] = {0};
    ley_status status = fit_check_frame(fit, frame, error);
    if (status != LEY_OK)
        return status;
    h.rho = malloc((size_t)p->nodes * sizeof *h.rho);
    if (h.rho == NULL)
        return ley_fail_memory(error, (size_t)p->nodes * sizeof *h.rho, "a density");
    density_law_box(&p->model, h.position_A, origin, p->model.grid.n, h.rho, NULL);
    for (int64_t i = 0; i < p->nodes && p->map != NULL; i++)
        fit_add_node(p, i, h.rho[i], fit_threshold(fit, frame), &h.sums);
    if (p->map != NULL)
        fit_score(p, &h.sums, score);
    if (h.results.score != NULL)
        memcpy(h.results.score, score, sizeof score);
    if (h.results.window != NULL)
        parallel_ranges((size_t)p->windows, host_windows, &h);
    if (h.results.gradient != NULL)
        parallel_ranges(p->model.count, host_gradient, &h);
    for (int64_t i = 0; i < p->nodes && h.results.density != NULL; i++)
        h.results.density[i] = (float)h.rho[i];
    free(h.rho);
    return h.is_out_of_memory ? ley_fail_memory(error, (size_t)p->nodes, "windows") : status;
}

ley_status fit_check_frame(const ley_fit *fit, int64_t frame, ley_error *error)
{
    static const float most_A = 1e6F;
    const float *x = fit_positions(fit, frame);
    for (size_t i = 0; i < fit->problem.model.count; i++, x += 3)
        if (!(fabsf(x[0]) <= most_A && fabsf(x[1]) <= most_A && fabsf(x[2]) <= most_A))
            return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: atom %zu is at (%g, %g, %g) A, must be within 1e6 A",
                            frame_number(&fit->queue, frame), i + 1, (double)x[0], (double)x[1], (double)x[2]);
    return LEY_OK;
}
