#include "energy/device_part.h"

#include "energy/batch.h"
#include "energy/module.h"
#include "watch.h"

/* ---- Memory and modules ---------------------------------------------------------------------- */

static ley_status make_modules(energy_part *part, command_sequence *w, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; energy_modules[i] != NULL && status == LEY_OK; i++)
        if (energy_modules[i]->wanted(part->problem, part->is_periodic))
            status = energy_modules[i]->create(part, w, &part->own[i], error);
    return status;
}

ley_status energy_part_begin(energy_part *part, const energy_problem *problem, dev *device, bool is_periodic,
                             int64_t frames, ley_error *error)
{
    size_t frame_bytes = 0;
    for (size_t i = 0; energy_modules[i] != NULL; i++)
        if (energy_modules[i]->frame_bytes != NULL && energy_modules[i]->wanted(problem, is_periodic))
            frame_bytes += energy_modules[i]->frame_bytes(problem);
    command_sequence *w = &part->batch[0].sequence;
    watch_expect(0);
    ley_status status = energy_memory_make(part, problem, device, is_periodic, frames, frame_bytes, error);
    sequence_begin(w, &part->flight, NULL);
    if (status == LEY_OK)
        status = make_modules(part, w, error);
    const ley_status done = sequence_finish(w, status == LEY_OK ? error : NULL);
    return status == LEY_OK ? done : status;
}

void energy_part_end(energy_part *part)
{
    for (int i = 0; i < FRAME_BATCHES; i++)
        sequence_finish(&part->batch[i].sequence, NULL);
    for (size_t i = 0; energy_modules[i] != NULL; i++) {
        energy_modules[i]->destroy(part, part->own[i]);
        part->own[i] = NULL;
    }
    energy_memory_end(part);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void launch_all(energy_part *part, energy_batch *b)
{
    energy_batch_poison(part, b);
    for (size_t i = 0; energy_modules[i] != NULL; i++)
        if (energy_modules[i]->wanted(part->problem, part->is_periodic))
            energy_modules[i]->launch(part, part->own[i], b);
    energy_batch_read(part, b);
}

ley_status energy_part_start(energy_part *part, energy_batch *b, int64_t first, int frames, const float *position_A,
                             const double *cell_A, ley_error *error)
{
    energy_batch_begin(part, b, first, frames, position_A, cell_A);
    launch_all(part, b);
    return sequence_status(&b->sequence, error);
}

static ley_status settle(energy_part *part, energy_batch *b, bool *again, ley_error *error)
{
    ley_status status = LEY_OK;
    *again = false;
    for (size_t i = 0; energy_modules[i] != NULL && status == LEY_OK; i++) {
        bool own = false;
        if (energy_modules[i]->settle != NULL && part->own[i] != NULL)
            status = energy_modules[i]->settle(part, part->own[i], b, &own, error);
        *again = *again || own;
    }
    return status;
}

ley_status energy_part_finish(energy_part *part, energy_batch *b, ley_error *error)
{
    bool again = true;
    ley_status status = sequence_finish(&b->sequence, error);
    while (status == LEY_OK) {
        status = settle(part, b, &again, error);
        if (status != LEY_OK || !again)
            break;
        sequence_begin(&b->sequence, &part->flight, part->cancelled);
        launch_all(part, b);
        status = sequence_finish(&b->sequence, error);
    }
    return status;
}
