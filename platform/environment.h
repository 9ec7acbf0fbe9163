/* The one place that reads the process's environment. */
#ifndef LEY_ENVIRONMENT_H
#define LEY_ENVIRONMENT_H

#include <stdint.h>

/* Directory whose kernel sources replace the embedded ones while developing (LEYDEN_KERNEL_DIR), or
 * NULL. */
const char *environment_kernel_dir(void);

/* The NVRTC library to open in place of the first one found (LEYDEN_NVRTC), or NULL. */
const char *environment_nvrtc(void);

/* The NVML library to open in place of the usual one (LEYDEN_NVML), or NULL. */
const char *environment_nvml(void);

/* The cuFFT, clFFT and FFTW libraries to open in place of those that are found (LEYDEN_CUFFT,
 * LEYDEN_CLFFT, LEYDEN_FFTW), or NULL. */
const char *environment_cufft(void);
const char *environment_clfft(void);
const char *environment_fftw(void);

/* Directory for the sources, options and build logs of all kernels (LEYDEN_DUMP), or NULL. */
const char *environment_dump_dir(void);

/* Directory for what is kept between runs: leyden/ in LEYDEN_CACHE_DIR, else in XDG_CACHE_HOME,
 * else in ~/.cache. Written to `path`; returns NULL when none is known or the path is too long. */
const char *environment_cache_dir(char *path, unsigned size);

/* How much that may become: LEYDEN_CACHE_MB times 2^20, or 256 times where it is not set or no
 * whole number. 0: nothing is kept. */
uint64_t environment_cache_bytes(void);

/* A variable of OpenCL's loader or of drivers; NULL where it is empty or not set. */
const char *environment_of(const char *name);

/* How many processes a launcher (mpirun, srun) says that it has started of this program, and which
 * one this is; 1 and 0 where none says so. */
int environment_launched_ranks(int *rank);

/* Sets a variable that the user has not set, under the same condition as the next function. */
void environment_set_unless_there(const char *name, const char *value);

/* Sets a variable, or with NULL takes it away; returns what it was, from malloc, or NULL. Nobody
 * else of the process should read the environment at that time. */
char *environment_replace(const char *name, const char *value);

#endif
