/* Constant memory: n_words ints of it, which come back in reverse. A work-item each. */
#include "dialect.h"

#if LEY_TABLE == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE LEY_CONSTANT
LEY_CONSTANT_SYMBOL(int)
#endif

LEY_KERNEL constant_words(LEY_PARAMETERS(LEY_CONSTANT_WORDS_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    if (i < n_words)
        gm_out[i] = LEY_IN_CONSTANT(gm_words)[n_words - 1 - i];
}
