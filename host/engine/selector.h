/* Which devices a user means: the --device LIST. */
#ifndef LEY_ENGINE_SELECTOR_H
#define LEY_ENGINE_SELECTOR_H

#include "engine/discovery.h"

/* Writes the indices of the chosen devices to chosen[list->count] in order, each once. `selector`
 * NULL: all usable devices, the fastest first, by calibration when there is more than one; behind
 * the fastest known one come `*joining` devices that are not known yet, and may be faster. `*first`
 * is the first one, where it is open already: the caller's. Errors: LEY_ERROR_USAGE,
 * LEY_ERROR_NO_DEVICE. */
ley_status selector_choose(const dev_list *list, const char *selector, size_t *chosen, size_t *count, size_t *joining,
                           discovered *first, ley_error *error);

/* What selects this device of the list and no other: "cuda:0". */
void selector_of(const dev_list *list, size_t device, char *text, size_t size);

/* Whether this machine had no device when somebody asked for one. */
bool selector_found_none(void);

#endif
