/* One function, of floats or doubles: gm_out[i] = f(gm_x[i], gm_y[i], gm_z[i]), f by `which`,
 * LEY_FUNCTION_... What a compiler knows of the numbers beforehand is nothing. */
#include "dialect.h"

LEY_KERNEL functions(LEY_PARAMETERS(LEY_FUNCTIONS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    const real x = gm_x[i], y = gm_y[i], z = gm_z[i];
    real f = x;
    switch (which) {
    case LEY_FUNCTION_RSQRT: f = LEY_RSQRT(x); break;
    case LEY_FUNCTION_SQRT: f = sqrt(x); break;
    case LEY_FUNCTION_EXP: f = exp(x); break;
    case LEY_FUNCTION_EXP2: f = LEY_EXP2(x); break;
    case LEY_FUNCTION_LOG: f = log(x); break;
    case LEY_FUNCTION_DIVIDE: f = x / y; break;
    case LEY_FUNCTION_FMA: f = LEY_FMA(x, y, z); break;
    case LEY_FUNCTION_PRODUCT: f = x * y; break;
    case LEY_FUNCTION_SUM: f = x + y; break;
    case LEY_FUNCTION_MAX: f = LEY_MAX(x, y); break;
    case LEY_FUNCTION_MIN: f = LEY_MIN(x, y); break;
    case LEY_FUNCTION_ERF: f = erf(x); break;
    case LEY_FUNCTION_ERFC: f = erfc(x); break;
    case LEY_FUNCTION_SIN: f = sin(x); break;
    case LEY_FUNCTION_COS: f = cos(x); break;
    case LEY_FUNCTION_TANH: f = tanh(x); break;
    case LEY_FUNCTION_POW: f = pow(x, y); break;
#if LEY_SUM != LEY_SPEC_SUM_DOUBLE
    case LEY_FUNCTION_NATIVE_RSQRT: f = LEY_NATIVE_RSQRT(x); break;
    case LEY_FUNCTION_NATIVE_SQRT: f = LEY_NATIVE_SQRT(x); break;
    case LEY_FUNCTION_NATIVE_EXP: f = LEY_NATIVE_EXP(x); break;
    case LEY_FUNCTION_NATIVE_EXP2: f = LEY_NATIVE_EXP2(x); break;
    case LEY_FUNCTION_NATIVE_DIVIDE: f = LEY_NATIVE_DIVIDE(x, y); break;
    case LEY_FUNCTION_NATIVE_RECIP: f = LEY_NATIVE_RECIP(x); break;
#endif
    }
    gm_out[i] = f;
}
