#include "kernel_wishes.h"

static _Thread_local kernel_wishes *noted;

void kernels_note(kernel_wishes *wishes)
{
    noted = wishes;
}

kernel_wishes *kernels_noted(void)
{
    return noted;
}
