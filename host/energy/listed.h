/* Sums over a device's lists: energies and forces of pairs within the cutoff. */
#ifndef LEY_ENERGY_LISTED_H
#define LEY_ENERGY_LISTED_H

#include "energy/lists.h"
#include "energy/module.h"
#include "energy/pair_numbers.h"

typedef struct listed_pairs_spec {
    LEY_LISTED_PAIRS_KEYS(KERNEL_KEY_FIELD)
} listed_pairs_spec;
typedef struct listed_gather_spec {
    LEY_LISTED_GATHER_KEYS(KERNEL_KEY_FIELD)
} listed_gather_spec;

extern const kernel_kind listed_pairs_kind, listed_gather_kind;
KERNEL_ARGUMENTS_STRUCT(listed_pairs, LEY_LISTED_PAIRS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(listed_gather, LEY_LISTED_GATHER_ARGUMENTS);

/* Of lists with `tiles`, and of so many types. */
listed_pairs_spec listed_spec_for(const dev_info *info, const list_tiles_spec *tiles, const ley_energy_options *options,
                                  size_t types);

/* Sums of 64 bits: quanta in a kcal/mol, and in a kcal/mol/A; and the most of them of one
 * summand. */
#define LISTED_QUANTA 0x1p24
#define LISTED_MOST 0x1p60

/* What is added to the cutoff: as much as positions differ by rounding; and where a list serves
 * several frames, so much more. */
#define LISTED_SLACK_A 1e-3
#define LISTED_BUFFER_A 1.0

/* Whether frames may share a list: of processors, that have batches of one frame. */
bool energy_listed_shares(const energy_part *part);

extern const energy_module energy_listed;

#endif
