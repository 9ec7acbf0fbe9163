/* FOR_THIS_CPU before a static function, in which loops over vectors are inlined: it is compiled
 * once for each generation of processors, and the program takes what the one at hand can do. All
 * of them compute the same bytes, as products and sums are not contracted. Sanitizers start too
 * late for it. Without static, compilers would export its forms from the library. */
#ifndef LEY_FOR_THIS_CPU_H
#define LEY_FOR_THIS_CPU_H

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_THIS_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_THIS_CPU
#endif

#endif
