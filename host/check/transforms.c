/* Fourier transforms by every library of a device: each size against its known answer, there and
 * back. */
#include "check/transforms.h"

#include "check/internal.h"
#include "error.h"
#include "fft.h"
#include "quirks.h"

#include <stdio.h>
#include <string.h>

typedef struct transform_case {
    size_t n[3], filled[3];
    bool in_place;
    const char *library;
} transform_case;

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const transform_case *c = context;
    fft_wish wish = {.in_place = c->in_place, .library = c->library, .is_fresh = true, .most_error = FFT_USUAL_ERROR};
    dev_fft fft = {.device = run->device};
    (void)size;
    memcpy(wish.n, c->n, sizeof wish.n);
    memcpy(wish.filled, c->filled, sizeof wish.filled);
    const ley_status status = fft_create(run->device, &wish, &fft, error);
    if (status != LEY_OK) /* there is such a library: that it does not pass is no lack of a device */
        return status == LEY_ERROR_NO_DEVICE ? LEY_ERROR_WRONG_RESULT : status;
    f->has_error = true;
    f->error = fft.error;
    f->tolerance = FFT_USUAL_ERROR;
    f->ulps = fft.error / 0x1p-23;
    snprintf(f->text, sizeof f->text, "%zu x %zu x %zu%s", c->n[0], c->n[1], c->n[2], c->in_place ? ", in place" : "");
    fft_destroy(&fft);
    return LEY_OK;
}

void check_transforms(check_run *run, const check_row *row)
{
    const transform_sizes *sizes = row->subject;
    dev_fft_library library;
    bool any = false;
    for (size_t i = 0; fft_library(run->device->info, i, &library); i++) {
        transform_case c = {.in_place = sizes->in_place, .library = library.name};
        memcpy(c.n, sizes->n, sizeof c.n);
        memcpy(c.filled, sizes->filled, sizeof c.filled);
        const char *known = quirks_of_fft(run->device->info, &library, c.n);
        if (run->quick && any && !sizes->quick_all)
            return;
        if (library.unusable[0] != '\0' || known != NULL) {
            char why[2 * DEV_TEXT];
            snprintf(why, sizeof why, "%s%s", known != NULL ? "known: " : "", known != NULL ? known : library.unusable);
            if (check_wants(run, row, library.name))
                check_skip(run, row, library.name, why);
            continue;
        }
        any = true;
        check_try(run, row, &(check_case){.variant = library.name, .attempt = attempt, .context = &c});
    }
}
