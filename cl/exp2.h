/* ley_exp2(x) = 2^x, by the recipe LEY_EXP, in OpenCL C. A dialect header comes first. */
#ifndef LEY_EXP2_H
#define LEY_EXP2_H

#if LEY_EXP == LEY_EXP_STANDARD
LEY_FN real ley_exp2(real x) { return exp2(x); }
#elif LEY_EXP == LEY_EXP_NATIVE
LEY_FN real ley_exp2(real x) { return native_exp2(x); }
#elif LEY_EXP == LEY_EXP_POLYNOMIAL
#define ley_exp2 ley_polynomial_exp2
#elif LEY_EXP == LEY_EXP_PTX
LEY_FN real ley_exp2(real x)
{
    real y;
    __asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

#endif
