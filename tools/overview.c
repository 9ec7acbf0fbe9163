#include "overview.h"
#include "leyden.h"

#include <stdio.h>
#include <string.h>

const char overview_purpose[] = "Electrostatic potential maps and boundaries of point charges, on any device with "
                                "OpenCL or CUDA.";

exit_codes overview_exit_codes(void)
{
    exit_codes codes = {""};
    for (int status = 0, last = -1; status < LEY_STATUS_COUNT; status++) {
        const int code = ley_status_exit_code((ley_status)status);
        const size_t used = strlen(codes.s);
        if (status == LEY_CANCELLED)
            continue;
        if (code == last)
            snprintf(codes.s + used, sizeof codes.s - used, " or %s", ley_status_text((ley_status)status));
        else
            snprintf(codes.s + used, sizeof codes.s - used, "%s%d %s", last < 0 ? "" : ", ", code,
                     ley_status_text((ley_status)status));
        last = code;
    }
    strncat(
        codes.s,
        ", a check that failed, a map that is off by more than --tol, maps that differ by more, or a benchmark that is "
        "slower than --compare --fail allows, 128 + N ended by signal N: 130 interrupted, 143 terminated.",
        sizeof codes.s - strlen(codes.s) - 1);
    return codes;
}
