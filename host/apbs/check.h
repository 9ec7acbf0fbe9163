/* What APBS insists on in an ELEC section. */
#ifndef LEY_APBS_CHECK_H
#define LEY_APBS_CHECK_H

#include "apbs/input.h"

/* Whether everything is there that APBS insists on for this type of calculation. */
ley_status ley_apbs_check_elec(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error);

#endif
