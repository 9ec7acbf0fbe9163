#include "device_list.h"

#include "cuda/cuda.h"
#include "error.h"
#include "log.h"
#include "opencl/known_drivers.h"
#include "opencl/opencl.h"
#include "quirks.h"
#include "watch.h"

#include <string.h>

/* The back-end table: one row per device interface. */
static const dev_backend *const backend_table[] = {&dev_opencl, &dev_cuda, NULL};
static const dev_backend *const *backends = backend_table;

void dev_backends_replace(const dev_backend *const *replacement)
{
    backends = replacement != NULL ? replacement : backend_table;
}

/* Numbers the cards: two paths to one card share its number. */
static void number_cards(dev_list *list)
{
    int next = 0;
    for (size_t i = 0; i < list->count; i++) {
        list->infos[i].index = -1;
        for (size_t k = 0; k < i && list->infos[i].index < 0; k++)
            if (list->infos[i].card[0] != '\0' && strcmp(list->infos[i].card, list->infos[k].card) == 0)
                list->infos[i].index = list->infos[k].index;
        if (list->infos[i].index < 0)
            list->infos[i].index = next++;
    }
}

static void log_found(const dev_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const dev_info *d = &list->infos[i];
        log_say(LEY_LOG_NOTE, "device %d by %s: %s, %s, driver %s, %d compute units, %s%s%s%s%s", d->index,
                d->backend->name, d->name, d->platform, d->driver, d->compute_units,
                ley_size((double)d->global_bytes).s, d->quirks_text[0] != '\0' ? "; quirks: " : "", d->quirks_text,
                d->unusable[0] != '\0' ? "; cannot be used: " : "", d->unusable);
    }
    for (size_t i = 0; i < list->note_count; i++)
        log_say(LEY_LOG_NOTE, "%s", list->notes[i]);
    if (list->count == 0)
        log_say(LEY_LOG_NOTE, "no device found");
}

static ley_status create(dev_list *list, bool afresh, ley_error *error)
{
    *list = (dev_list){.afresh = afresh};
    for (size_t b = 0; backends[b] != NULL; b++) {
        size_t first = list->count;
        watch_enter(NULL, WATCH_OPEN, "probe");
        ley_status status = backends[b]->probe(list, error);
        watch_come_back(NULL, NULL);
        if (status != LEY_OK) {
            dev_list_clear(list);
            return status;
        }
        for (size_t i = first; i < list->count; i++) {
            list->infos[i].backend = watched_interface(backends[b]);
            quirks_apply(&list->infos[i]);
        }
    }
    number_cards(list);
    log_found(list);
    return LEY_OK;
}

ley_status dev_list_create(dev_list *list, ley_error *error)
{
    return create(list, false, error);
}

ley_status dev_list_create_afresh(dev_list *list, ley_error *error)
{
    return create(list, true, error);
}

const char *dev_driver_complaint(void)
{
    return cl_driver_complaint();
}
