/* Which splitting, window, solver, cutoff and mesh reach a tolerance in the least predicted
 * time. What meshes are off by is known beforehand (numerics/error_table.h): a charge q's error
 * is random, and its square, summed over space, is 8 pi a (epsilon q)^2. */
#ifndef LEY_LONG_RANGE_ESTIMATE_PARAMETER_SEARCH_H
#define LEY_LONG_RANGE_ESTIMATE_PARAMETER_SEARCH_H

#include "calibration.h"
#include "device.h"
#include "long_range/model/short_range_part.h"
#include "plan/charge_statistics.h"

/* Cutoffs, in distances of the map's points, for which it is known how many pairs a second devices
 * do: the shorter a cutoff is, the fewer of the distances count that kernels compute. */
enum { SEARCH_REACHES = 8 };
extern const double search_reaches[SEARCH_REACHES];

/* A device as a plan sees it: what steps take on it, in seconds. */
typedef struct search_device {
    const dev_info *info; /* NULL: of no kernel is it known whether it is there */
    bool is_cpu;
    double memory_bytes, largest_bytes; /* and of a single buffer; 0: nobody knows */
    double host_bytes;                  /* what the host may still take; 0: nobody knows */
    double most_values;                 /* padding included, that it has transforms of; 0: unknown */
    double pairs_per_s[SEARCH_REACHES]; /* within a cutoff, with Taylor's splittings */
    double fma_per_s;                   /* multiply-adds */
    double long_wave_s;                 /* an atom for long waves; 0: the host does it */
    double transform_byte_s;            /* one way, a byte of fft_least_bytes(); infinite: it has no transforms */
    size_t last_transform[3];           /* the size of the last one; 0: there was none */
    double last_cutoff_A, transform_building_s; /* and its cutoff; to prepare one of another size */
    struct {
        double building_s;                    /* of its kernels, where these have to be built first */
        double levels_building_s;             /* the same of levels' */
        double anterpolation_s;               /* an atom */
        double restriction_s, prolongation_s; /* a node that is written */
    } window[LEY_WINDOW_COUNT];
    bool builds_for_nothing;                /* search_forget_building() */
    double pairs_building_s[PAIRS_KERNELS]; /* the same of the pairs' kernel, by pairs_kernel() */
} search_device;

/* What is known of a device, or usual; `facts` NULL: nothing has been measured. */
void search_look_at(const dev_info *info, const calibration *facts, const double pairs_per_s[SEARCH_REACHES],
                    search_device *device);

/* What is built and prepared counts for nothing, as of what runs again and again. */
void search_forget_building(search_device *device);

/* A job has had the pairs that go with these meshes on a map: their kernel is there now. */
void search_note_pairs(const dev_info *info, const ley_long_range *range, const splitting *meshes, ley_sum sum);

/* A job has had the lattice cutoff with this window. */
void search_note_levels(const dev_info *info, ley_window w);

/* A job has had a transform of this size, with this cutoff. */
void search_note_transform(const dev_info *info, const size_t n[3], double cutoff_A);

typedef struct search_figures {
    double seconds;      /* kernels of meshes and pairs, on all devices */
    double building_s;   /* before, where kernels are not there, those that many maps share in part */
    double relative_rms; /* of the map, without what follows */
    double rounding;     /* what floats are expected to leave in addition, of the potential; 0: next to nothing */
    ley_sum sum;         /* of the pairs: compensated where that is left open, and floats would leave too much */
} search_figures;

/* Fills in what is not `fixed` (LEY_FIX_...) of the options, whose units, medium, cell and
 * screening are taken as they are, so that the map's relative RMS error is expected to be at most
 * `aim`, and what floats leave at most half as much again. Where that takes long waves in double
 * precision, there are such. `sum`: of the pairs; LEY_SUM_AUTO leaves it open. The meshes are on
 * the fastest device, the pairs on all. LEY_ERROR_USAGE: nothing is expected to reach it, or
 * nothing with what is fixed. */
ley_status search_make(const charge_statistics *s, size_t device_count, const search_device *devices, double aim,
                       unsigned fixed, ley_sum sum, ley_long_range *range, search_figures *figures, ley_error *error);

/* What floats are expected to leave, of the potential, beside what they always do: in the charges
 * and transforms of meshes, and in the sums of pairs. */
double search_mesh_rounding(const charge_statistics *s, const ley_long_range *range);
double search_place_rounding(const charge_statistics *s);
double search_net_rounding(const charge_statistics *s, const ley_long_range *range);
double search_pair_rounding(const charge_statistics *s, const ley_long_range *range, ley_sum sum);

/* What one choice is expected to come to, on one device. */
double search_error(const charge_statistics *s, const ley_long_range *range);
double search_seconds(const charge_statistics *s, size_t device_count, const search_device *devices,
                      const ley_long_range *range);

#endif
