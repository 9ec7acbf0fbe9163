/* Calls of the OpenCL driver, and what they say when they fail. */
#ifndef LEY_CL_CHECK_H
#define LEY_CL_CHECK_H

#define CL_TARGET_OPENCL_VERSION 120
#include "../error.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>

/* On POWER these include <altivec.h>, which makes vectors' keywords of C's words. */
#ifdef __ALTIVEC__
#undef bool
#undef vector
#undef pixel
#define bool _Bool
#endif

/* No driver's code. */
enum { CL_NOTHING_MADE = -9999 };

/* "CL_OUT_OF_RESOURCES" for -5, ...; "unknown OpenCL error" else. */
const char *cl_error_name(cl_int code);

/* Fills in "call: CL_NAME (code) at file:line". */
ley_status cl_fail(ley_error *error, cl_int code, const char *call, const char *file, int line);

/* Every driver call goes through here: returns from the calling function when it fails. */
#define CL_TRY(error, call) \
    do { \
        const cl_int cl_code_ = (call); \
        if (cl_code_ != CL_SUCCESS) \
            return cl_fail(error, cl_code_, #call, __FILE__, __LINE__); \
    } while (0)

/* For calls that return an object and store their code in `code`: status of `object = call`, in an
 * expression. A driver that says success and makes nothing has failed, too. */
#define CL_MADE(error, code, object, call) \
    ((object) = (call), \
     (code) == CL_SUCCESS && (object) != NULL \
         ? LEY_OK \
         : cl_fail(error, (code) == CL_SUCCESS ? CL_NOTHING_MADE : (code), #call, __FILE__, __LINE__))

#endif
