/* Kernel sources inside the binary; the table is written at build time by embed.c. */
#ifndef LEY_EMBEDDED_H
#define LEY_EMBEDDED_H

typedef struct embedded_kernel {
    const char *file, *text;
} embedded_kernel;

extern const embedded_kernel embedded_kernels[]; /* ends with a NULL file */

#endif
