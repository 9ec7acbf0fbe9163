/* Pairs within the cutoff, as a module. */
#include "energy/listed.h"

#include "calibrate.h"
#include "energy/module.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Choices --------------------------------------------------------------------------------- */

/* What is added to the cutoff: as much as positions differ by rounding. */
#define SLACK_A 1e-3

/* The fastest recipe for roots whose error, twelvefold in 1/r^12, is that of a float's digits. */
static int root_for(const dev_info *info, int width)
{
    return width == 16 && (info->quirks & DEV_QUIRK_AVX512) != 0 ? LEY_ROOT_AVX512
           : width > 1                                             ? LEY_ROOT_RECIPROCAL
                                                                   : LEY_ROOT_STANDARD;
}

listed_pairs_spec listed_spec_for(const dev_info *info, const list_tiles_spec *tiles, const ley_energy_options *options,
                                  size_t types)
{
    return (listed_pairs_spec){.sum = LEY_SPEC_SUM_FLOAT,
                               .width = tiles->width,
                               .root = root_for(info, tiles->width),
                               .cluster = tiles->cluster,
                               .full = tiles->full,
                               .ptx = tiles->ptx,
                               .lennard_jones = (int)options->lennard_jones,
                               .coulomb = (int)options->coulomb,
                               .forces = options->forces,
                               .types = tiles->width == 1 || types > 128 ? 0 : types > 32 ? 128 : 32};
}
