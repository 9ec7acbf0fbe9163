#include "methods/registry.h"

#include "bandwidth.h"
#include "calibrate.h"
#include "check_kernels.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/fourier/influence_kernel.h"
#include "long_range/mesh/device_spread.h"
#include "long_range/mesh/transfer.h"
#include "long_range/method.h"
#include "long_range/multilevel/lattice_kernel.h"
#include "long_range/points.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/kernel.h"
#include "methods/cutoff/method.h"
#include "methods/cutoff/point_pairs.h"
#include "methods/cutoff/points.h"
#include "methods/dcs/kernel.h"
#include "methods/dcs/method.h"
#include "methods/dcs/points.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/method.h"
#include "verify/reference_kernel.h"

const method *const method_registry[] = {&method_dcs,           &method_dcs_points, &method_mdh,        &method_cutoff,
                                         &method_cutoff_points, &method_msm,        &method_msm_points, NULL};

const kernel_kind *const kernel_registry[] = {
    &roots_kind,         /* what measures devices */
    &exps_kind,          /* */
    &multiply_adds_kind, /* */
    &local_reads_kind,   /* */
    &copies_kind,        /* */
    &functions_kind,     /* what examines drivers */
    &structs_kind,       /* */
    &local_words_kind,   /* */
    &constant_words_kind,
    &work_items_kind,
    &reference_kind,     /* the judge */
    &dcs_kind,           /* methods */
    &mdh_kind,           /* */
    &sum_parts_kind,     /* */
    &cutoff_kind,        /* */
    &point_pairs_kind,   /* */
    &link_atoms_kind,    /* */
    &fill_bins_kind,     /* */
    &lattice_kind,       /* */
    &spread_count_kind,  /* */
    &spread_list_kind,   /* */
    &spread_place_kind,  /* */
    &long_place_kind,    /* */
    &long_spread_kind,   /* */
    &long_gather_kind,   /* */
    &anterpolate_kind,   /* */
    &restriction_kind,   /* */
    &prolongation_kind,  /* */
    &interpolation_kind, /* */
    &interpolation_gather_kind,
    &interpolation_list_kind,
    &influence_kind,
    NULL,
};
