#include "average/assistant.h"

#include "average/structure.h"
#include "average/sums.h"
#include "average/verify.h"
#include "error.h"
#include "parallel.h"

#include <math.h>

/* ---- What devices have made ------------------------------------------------------------------ */

static ley_status verify(device_part *p, ley_error *error)
{
    ley_average *a = p->average;
    const chunk *c = p->check.chunk;
    const int f = p->check.frame;
    const float *position_A = c->position_A + (size_t)f * a->problem.atoms * 3;
    return a->problem.by_frame
               ? verify_potential(a, c->first + f, &c->place[f], c->cell_A[f], position_A,
                                  p->potential.values_back->bytes, error)
               : verify_density(a, c->first + f, &c->place[f], position_A, p->single_back->bytes, error);
}

/* Whether sums are those of the frames that were handed over, each of them once: of charges, or of
 * potentials. */
static ley_status check_structure(const device_part *p, int64_t frames, const int64_t *phi, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    double found[2], right[2] = {0}, square = 0, responses = 0, off = 0;
    for (const chunk *c = p->handed.first; c != NULL; c = c->next)
        for (int f = 0; f < c->frames; f++) {
            const double response = phi != NULL ? structure_response(o, c->cell_A[f]) : 1;
            responses += response;
            for (int part = 0; part < 2; part++) {
                right[part] += response * c->structure[f][part];
                square += pow(response * c->structure[f][part], 2);
            }
        }
    if (phi != NULL)
        structure_of_potentials(o, phi, found);
    else
        structure_of_quanta(&o->mesh, p->back->bytes, o->exponent, found);
    return structure_is_right(o, found, right, square, responses, &off)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "frames %lld on: a structure factor of %lld frames together is off by %.2g of its root mean "
                          "square",
                          (long long)p->handed.first->first + 1, (long long)frames, off);
}

static ley_status add_sums(device_part *p, ley_error *error)
{
    ley_average *a = p->average;
    const average_problem *o = &a->problem;
    part_sums part = {.first = p->handed.first->first,
                      .is_partial = p->handed.first->is_partial,
                      .charge = p->back->bytes,
                      .phi = o->by_frame ? p->potential.phi_back->bytes : NULL,
                      .square = o->options.deviation ? p->potential.square_back->bytes : NULL};
    for (const chunk *c = p->handed.first; c != NULL; c = c->next)
        part.frames += c->frames;
    ley_status status = o->by_frame ? frame_potential_check(&p->potential, error) : LEY_OK;
    if (status == LEY_OK && o->options.verify_every > 0)
        status = check_structure(p, part.frames, NULL, error);
    if (status == LEY_OK && o->options.verify_every > 0 && o->by_frame)
        status = check_structure(p, part.frames, part.phi, error);
    return status == LEY_OK ? sums_add(a, &part, error) : status;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* What was handed over counts, or is dealt again. The caller holds the mutex. */
static void release(ley_average *a, device_part *p, bool counts)
{
    if (!counts)
        chunk_join(&a->waiting, &p->handed);
    for (chunk *c = chunk_take(&p->handed); c != NULL; c = chunk_take(&p->handed)) {
        a->pending -= c->frames;
        p->frames += c->is_partial ? 0 : c->frames;
        chunk_append(&a->spare, c);
    }
}

/* The caller holds the mutex; not while it is at it. A frame comes before the sums that it is in:
 * those of a device that has been wrong do not count. */
static void take(ley_average *a, device_part *p)
{
    const bool is_check = p->check.has_come, was_wrong = p->wrong.status != LEY_OK;
    ley_error error = {.status = LEY_OK};
    ley_status status = p->wrong.status;
    p->are_sums_in_hand = !is_check;
    pthread_mutex_unlock(&a->mutex);
    if (!was_wrong)
        status = is_check ? verify(p, &error) : add_sums(p, &error);
    pthread_mutex_lock(&a->mutex);
    p->are_sums_in_hand = false;
    if (!was_wrong && status != LEY_OK)
        ley_error_copy(&p->wrong, &error);
    if (is_check)
        p->check = (frame_check){.chunk = NULL};
    else
        release(a, p, status == LEY_OK);
    pthread_cond_broadcast(&a->changed);
    ley_error_clear(&error);
}

static void *assist(void *context)
{
    ley_average *a = context;
    const size_t count = a->engine->candidate_count;
    size_t next = 0, idle = 0; /* parts are asked in turn; so many have had nothing */
    pthread_mutex_lock(&a->mutex);
    while (!a->assistant_ends) {
        device_part *p = a->parts[next];
        next = (next + 1) % count;
        idle++;
        if (p->check.has_come || p->handed.count > 0) {
            take(a, p);
            idle = 0;
        }
        if (idle == count) {
            if (!a->assistant_ends)
                pthread_cond_wait(&a->changed, &a->mutex);
            idle = 0;
        }
    }
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

int assistant_start(ley_average *a)
{
    return parallel_start(&a->assistant, assist, a);
}

void assistant_end(ley_average *a)
{
    pthread_mutex_lock(&a->mutex);
    a->assistant_ends = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->assistant, NULL);
}

void assistant_await_check(device_part *p)
{
    ley_average *a = p->average;
    pthread_mutex_lock(&a->mutex);
    while (p->check.has_come)
        pthread_cond_wait(&a->changed, &a->mutex);
    pthread_mutex_unlock(&a->mutex);
}

void assistant_await(device_part *p)
{
    ley_average *a = p->average;
    pthread_mutex_lock(&a->mutex);
    while (p->check.has_come || p->handed.count > 0)
        pthread_cond_wait(&a->changed, &a->mutex);
    pthread_mutex_unlock(&a->mutex);
}
