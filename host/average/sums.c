#include "average/sums.h"

#include "error.h"

#include <stdlib.h>

int64_t sums_block(const average_problem *p, int64_t frame)
{
    return p->options.block_frames > 0 ? frame / p->options.block_frames : 0;
}

int64_t sums_block_end(const average_problem *p, int64_t frame)
{
    return p->options.block_frames > 0 ? (sums_block(p, frame) + 1) * p->options.block_frames : INT64_MAX;
}

static ley_status find_open(average_sums *s, int64_t number, size_t nodes, block_sum **found, ley_error *error)
{
    for (block_sum *b = s->open; b != NULL; b = b->next)
        if (b->number == number) {
            *found = b;
            return LEY_OK;
        }
    block_sum *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a block");
    const ley_status status = density_create(nodes, &b->density, error);
    if (status != LEY_OK) {
        free(b);
        return status;
    }
    b->number = number;
    b->next = s->open;
    s->open = b;
    *found = b;
    return LEY_OK;
}

static void end_block(average_sums *s, block_sum *b)
{
    block_sum **link = &s->open;
    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    density_destroy(&b->density);
    free(b);
}

ley_status sums_add(ley_average *a, int64_t block, int64_t frames, const int64_t *part, ley_error *error)
{
    average_sums *s = &a->sums;
    block_sum *b = NULL;
    pthread_mutex_lock(&a->sum_mutex);
    ley_status status = find_open(s, block, (size_t)average_mesh_nodes(&a->problem.mesh), &b, error);
    if (status == LEY_OK) {
        density_add(&b->density, part);
        b->frames += frames;
        s->frames += frames;
    }
    pthread_mutex_unlock(&a->sum_mutex);
    return status;
}

ley_status sums_set_extra(ley_average *a, int64_t first, int64_t frames, const int64_t *part, ley_error *error)
{
    pthread_mutex_lock(&a->sum_mutex);
    density_destroy(&a->extra);
    const ley_status status = density_create((size_t)average_mesh_nodes(&a->problem.mesh), &a->extra, error);
    if (status == LEY_OK) {
        density_add(&a->extra, part);
        a->extra_first = first;
        a->extra_frames = frames;
    }
    pthread_mutex_unlock(&a->sum_mutex);
    return status;
}

ley_status sums_density(ley_average *a, double *value, int64_t *frames, ley_error *error)
{
    density all;
    ley_status status = density_create((size_t)average_mesh_nodes(&a->problem.mesh), &all, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&a->sum_mutex);
    *frames = a->sums.frames;
    if (a->sums.in_density > 0)
        density_add_all(&all, &a->sums.density);
    for (const block_sum *b = a->sums.open; b != NULL; b = b->next)
        density_add_all(&all, &b->density);
    if (a->extra_frames > 0 && a->filling != NULL && a->extra_first == a->filling->first) {
        density_add_all(&all, &a->extra);
        *frames += a->extra_frames;
    }
    pthread_mutex_unlock(&a->sum_mutex);
    density_values(&all, 1, value);
    density_destroy(&all);
    return LEY_OK;
}

void sums_destroy(ley_average *a)
{
    while (a->sums.open != NULL)
        end_block(&a->sums, a->sums.open);
    density_destroy(&a->sums.density);
    density_destroy(&a->extra);
    free(a->response);
}
