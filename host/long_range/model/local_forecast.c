#include "long_range/model/local_forecast.h"

#include "fft.h"
#include "long_range/fourier/spectral.h"
#include "long_range/model/memory_limits.h"
#include "long_range/multilevel/v_cycle.h"

#include <math.h>

/* ---- Seconds --------------------------------------------------------------------------------- */

/* All pairs within the cutoff; of a level that is the top one of multilevel summation, of all. */
static double cutoff_s(const hierarchy *h, int level, const device_view *d)
{
    int64_t reach[3];
    const double nodes = (double)hierarchy_nodes(&h->level[level]);
    double pairs = M_PI / 6;
    hierarchy_reach(h, reach);
    for (int axis = 0; axis < 3; axis++)
        pairs *= 2.0 * (double)reach[axis] + 1;
    const bool is_top = level == h->levels - 1;
    return d->is_known ? nodes * (is_top ? nodes : pairs) / d->facts.fma_per_s : 0;
}

/* There and back, and the product. */
static double transform_s(const hierarchy *top, const device_view *d)
{
    int64_t n[3];
    fft_wish wish = {.in_place = true};
    fft_prediction predicted;
    spectral_extent(d->info, top, n);
    for (int axis = 0; axis < 3; axis++) {
        wish.n[axis] = (size_t)n[axis];
        wish.filled[axis] = (size_t)top->level[0].n[axis];
    }
    return fft_predict(d->info, &wish, &predicted) ? 3 * predicted.transform_s : INFINITY;
}

static double levels_s(const hierarchy *h, const device_view *d)
{
    const int cut = h->solver == HIERARCHY_MULTILEVEL ? h->levels : h->levels - 1;
    double sum_s = transfer_foresee_levels_s(d->info, d->is_known ? &d->facts : NULL, h);
    for (int k = 0; k < cut; k++)
        sum_s += cutoff_s(h, k, d);
    if (h->solver == HIERARCHY_FOURIER || h->solver == HIERARCHY_MIXED) {
        hierarchy top;
        hierarchy_top(h, &top);
        sum_s += transform_s(&top, d);
    }
    return sum_s;
}

/* ---- All of it ------------------------------------------------------------------------------- */

local_forecast local_forecast_of(const local_levels *l, const local_ranks *r, size_t atoms, const device_view *d)
{
    const double all_bytes = (double)local_levels_upper_numbers(l) * sizeof(float);
    local_forecast f = {.levels = l->count, .moved_bytes = all_bytes * (1 - 1.0 / r->ranks)};
    double largest;
    f.exchange_s = r->link.latency_s * r->ranks + f.moved_bytes / r->link.bytes_per_s;
    f.device_s = transfer_foresee_anterpolation_s(d->info, d->is_known ? &d->facts : NULL, l->upper.window, atoms) +
                 levels_s(&l->upper, d);
    f.device_bytes = memory_limits_bytes(&l->upper, &f.largest_bytes);
    f.host_bytes = all_bytes;
    if (l->count == 0)
        return f;
    f.device_s += levels_s(&l->lower, d);
    f.device_bytes += memory_limits_bytes(&l->lower, &largest);
    f.largest_bytes = fmax(f.largest_bytes, largest);
    f.host_bytes += all_bytes + (double)local_levels_lower_numbers(l) * sizeof(float);
    return f;
}

bool local_forecast_fits(const local_levels *l, const local_forecast *f, const device_view *d)
{
    const bool can_number =
        (l->upper.solver == HIERARCHY_FOURIER ? spectral_can_number(&l->upper) : v_cycle_can_number(&l->upper)) &&
        (l->count == 0 || v_cycle_can_number(&l->lower));
    return can_number && memory_limits_has_room(f->device_bytes, f->largest_bytes, (double)d->info->global_bytes,
                                                (double)d->info->max_allocation_bytes);
}

bool local_forecast_choose(const hierarchy *h, const local_ranks *r, size_t atoms, const device_view *d,
                           local_forecast *made)
{
    bool is_there = false;
    const int64_t planes = h->level[0].n[2], first = h->level[0].first[2];
    const int ranks = r->ranks, own = ranks / 2;
    for (int count = 0; count < h->levels; count++) {
        hierarchy upper;
        local_levels l;
        hierarchy_upper(h, count, &upper);
        const int64_t layers = spread_layers_of(&upper);
        const hierarchy_planes wanted = {first + planes * own / ranks, first + planes * (own + 1) / ranks};
        if (!local_levels_make(h, count, wanted, (spread_layers){layers * own / ranks, layers * (own + 1) / ranks}, &l))
            continue;
        const double share = count > 0 ? (double)l.lower.level[0].n[2] / (double)planes : 1.0 / ranks;
        const local_forecast f = local_forecast_of(&l, r, (size_t)(share * (double)atoms), d);
        if (local_forecast_fits(&l, &f, d) &&
            (!is_there || f.device_s + f.exchange_s < made->device_s + made->exchange_s)) {
            *made = f;
            is_there = true;
        }
    }
    return is_there;
}

/* ---- Atoms beyond the planes ----------------------------------------------------------------- */

/* In nodes of the finest level, as hierarchy_part() finds them: where potentials are wanted of each
 * level, and then charges; own layers of the first common level begin within half a layer of the
 * map's planes. */
static double halo_nodes(const hierarchy *h, int levels)
{
    const int points = h->window->points;
    double wanted[HIERARCHY_MOST_LEVELS] = {points / 2 + 1}, charges = HIERARCHY_EDGE / 2 + 1;
    int64_t reach[3];
    hierarchy_reach(h, reach);
    for (int k = 1; k < levels; k++)
        wanted[k] = (wanted[k - 1] + points - 1) / 2 + 1;
    for (int k = levels - 1; k >= 0; k--)
        charges = fmax(wanted[k] + (double)reach[2], 2 * charges + points - 1);
    return charges + points / 2 + 1;
}

double local_halo_A(const hierarchy *h, int levels)
{
    return halo_nodes(h, levels) / cell_length(h->inverse_per_A[2]);
}

int local_halo_levels(const hierarchy *h, int ranks)
{
    const double planes = (double)h->level[0].n[2];
    double least = 1;
    int best = 0;
    for (int levels = 1; levels < h->levels; levels++) {
        const double own = (planes / ranks + 2 * (halo_nodes(h, levels) + h->window->points + HIERARCHY_EDGE)) / planes,
                     nodes = own + ldexp(1, -3 * levels);
        if (own < 1 && nodes < least) {
            least = nodes;
            best = levels;
        }
    }
    return best;
}
