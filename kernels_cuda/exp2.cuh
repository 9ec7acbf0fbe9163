/* ley_exp2(x) = 2^x, by the recipe LEY_EXP, in CUDA C; native is PTX here, too. A dialect header comes first. */
#ifndef LEY_EXP2_CUH
#define LEY_EXP2_CUH

#if LEY_EXP == LEY_EXP_STANDARD
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
LEY_FN real ley_exp2(real x) { return exp2(x); }
#else
LEY_FN real ley_exp2(real x) { return exp2f(x); }
#endif
#elif LEY_EXP == LEY_EXP_NATIVE
LEY_FN real ley_exp2(real x)
{
    real y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif LEY_EXP == LEY_EXP_POLYNOMIAL
#define ley_exp2 ley_polynomial_exp2
#elif LEY_EXP == LEY_EXP_PTX
LEY_FN real ley_exp2(real x)
{
    real y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

#endif
