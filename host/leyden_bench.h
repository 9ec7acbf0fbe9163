/* leyden: benchmarks. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_BENCH_H)
#define LEYDEN_BENCH_H

#include "leyden_long_range.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ley_bench_options {
    size_t size;        /* sizeof(ley_bench_options): ley_bench_options_default() sets it */
    const char *method; /* by its name: whose kernels: of MDH, screening and faces or a list of points; of CUTOFF,
                          Taylor's C2 function in a box of water; or "lattice": the cutoff part of multilevel summation
                          between nodes of grids as large as a box of water; or "fft": Fourier transforms of a
                          grid, whose libraries are the variants; of MSM, each step of long-range potentials of a
                          box of water, whose steps are the rows; or "frontier": what a map of such a box takes by what
                          it may be off by, each tolerance a row, and direct summation the last one; or "io": files of
                          atoms and maps, written and read, beside plain ones of the same disk; or "average":
                          frames in memory that are averaged, each way a row, beside PMEPot's algorithm in C; or
                          "series": potential and field frame after frame, on the host, each number of points
                          a row; or "ions": the steps of placing ions around a box, each a row; or "orbital": an
                          orbital of C60 by each variant, densities and new coefficients, each a row; or "pairs", "gb",
                          "pme": energies and forces of particles, each step of each size a row; or "fit":
                          frames in memory whose densities are compared with a map, each size a row */
    int64_t n[3];       /* grid of the test problem, 0: by device speed; CUTOFF: 0, it follows from the atoms */
    int64_t points;     /* MDH: a list of so many points rather than the faces of a grid; 0: faces */
    double salt_M;      /* MDH: concentration of a 1:1 salt; 0: no screening */
    double cutoff_A;    /* CUTOFF, MSM: 0: 12 A, of CUTOFF less where kernels are interpreted */
    bool linear;        /* CUTOFF: one variant (NULL: the default) on ever larger boxes, up to `atoms`, rather than all
                           variants on one; MSM: one preset (NULL: the papers'), against one core */
    int64_t atoms;      /* 0: by device speed */
    int repeats;        /* timed launches per variant, the median counts */
    ley_math math;
    ley_sum sum;
    const char *variant;             /* one variant only, of ley_variant_name(); or NULL. MSM: NULL */
    void (*row_done)(void *context); /* called after each row, or NULL */
    void *context;
    const volatile bool *cancel; /* or NULL */
    const char *fft;             /* FFT, MSM: one library only, "fftw", "vkfft", "clfft" or "cufft"; NULL: all */
    const char *preset; /* MSM: one choice only, "papers", "default", "fft" or, with what follows, "chosen"; NULL: all
                           but the last */
    const double *tolerances; /* FRONTIER: relative root mean square errors, [1e-6, 1e-1]; MSM: one, for what is not
                                 `fixed` of the range; NULL: of FRONTIER 1e-2 to 1e-6, of MSM none */
    size_t tolerance_count;   /* 16 at most */
    ley_long_range range;     /* MSM: preset "chosen" */
    unsigned fixed;           /* MSM: LEY_FIX_... */
    double most_s;    /* launches of a row end after so many seconds, once there are three; 0: 3. After four times as
                         long they end in any case */
    bool usual_only;  /* what a job would take only: no other variants, no loops on the host; not with `variant` */
    bool papers_size; /* MDH: 151 x 151 x 151 nodes and 5,877 atoms where n and atoms are 0, if kernels are compiled */
    const struct ley_bench *limits_of; /* of the same engine: whose limits count, unless it has none; or NULL */
    int limit_rounds;                  /* how often limits are measured, the best of which counts; 0: 3 */
    const char *folder;                /* IO: where files are made, which do not stay; NULL: the current one */
} ley_bench_options;

LEY_API void ley_bench_options_default(ley_bench_options *options);

/* A figure that the rows of some methods have, and others have not. */
typedef struct ley_bench_figure {
    const char *name;     /* "hit_rate", as in reports */
    const char *unit;     /* "s"; NULL: a plain number, or a share */
    const char *sentence; /* what it is */
    bool is_count;        /* a whole number */
    bool hangs_on_time;   /* 0 where nothing is timed */
    bool may_be_unknown;  /* which 0 says */
} ley_bench_figure;

enum { LEY_BENCH_MOST_FIGURES = 8 };

typedef struct ley_bench_row {
    const char *variant, *root;
    const char *exp; /* 2^x recipe; NULL where none is needed */
    const char *specification;
    double evaluations_per_s; /* atom-point pairs per second, in the kernel; median; CUTOFF: pairs within the cutoff;
                                 FFT: values of the grid, there and back; IO: bytes; AVERAGE: charges; IONS: nodes,
                                 all of them for each ion; ORBITAL: points times Gaussians */
    double spread;            /* (slowest - fastest) / median of the timed launches; not a number where there is one */
    double root_share;    /* of the rate at which the device computes the special functions of a pair: a root, or a root
                             and 2^x */
    bool has_other_roots; /* part of its special functions are made of multiply-adds: its share may be more than all */
    double fma_share;     /* of its measured multiply-add rate: a pair of DCS counts as two, of MDH as four, without
                             screening as two, a distance that CUTOFF computes as six */
    double kernel_s;      /* CUTOFF: of the whole map, median; FRONTIER: of all kernels; 0 with other methods */
    double bytes;         /* that must move at least between the device's memory and its cores; IO: of the file */
    ley_accuracy accuracy; /* MSM, FRONTIER: of the map that is made */
    bool is_default;       /* what a job would take */
    ley_status status;
    const char *failure;
    double tolerance;              /* FRONTIER: what was asked for; 0: direct summation, and other methods */
    double whole_s;                /* FRONTIER: from atoms to a map in the host's memory, median */
    size_t run_count, runs_wanted; /* launches that were timed, of a step or a map whole jobs; and asked for: fewer are
                                      timed where they take long (ley_bench_options.most_s) */
    const double *runs_s;          /* [run_count] seconds of each, in their order */
    double median_s;               /* of these */
    double joules;                 /* of one launch, by a counter of the device (energy_counter); not a number: none */
    size_t figure_count;           /* what the method measures beside: */
    const ley_bench_figure *figures;
    double figure[LEY_BENCH_MOST_FIGURES]; /* of each */
} ley_bench_row;

/* The figure of this name; 0 where the row has none. */
LEY_API double ley_bench_row_figure(const ley_bench_row *row, const char *name);

/* One of the boxes of ley_bench_options.linear. */
typedef struct ley_bench_size {
    int64_t n[3], atoms;
    double pairs;    /* within the cutoff */
    double kernel_s; /* of the whole map, median */
    ley_accuracy accuracy;
    double whole_s; /* MSM: from atoms to a map in the host's memory, median; and one core by a loop in C: */
    double core_s, core_mesh_s; /* all of it, and of that the meshes' part */
    size_t run_count;           /* whole jobs that were timed, of CUTOFF launches; and their spread, as of a row: */
    double spread;
    bool is_core_scaled;  /* not measured: the time per pair, node, atom and point of the largest box that was */
    const double *runs_s; /* [run_count] seconds of each, in their order */
} ley_bench_size;

/* What else the machine did, on all of its processors. */
typedef struct ley_bench_load {
    double before, after; /* average number of programs that ran or waited in the last minute; negative: unknown */
    double others;        /* processors that others kept busy meanwhile, on average; negative: unknown */
    int processors;       /* of the machine; 0: unknown */
} ley_bench_load;

typedef struct ley_bench_device {
    const ley_device_info *device;
    double roots_per_s, fma_per_s; /* the device's own limits, measured in this run; FFT: 0 */
    double memory_bytes_per_s; /* FFT, MSM: of its memory, read and written, by a kernel that copies; 0: with others,
                                  and where it cannot be measured */
    double exps_per_s;         /* 0 where none are needed */
    const char *root, *exp;    /* recipes behind roots_per_s and exps_per_s */
    int64_t n[3], atoms;       /* n: 0 for a list */
    int64_t points;            /* where the potential is computed */
    double cutoff_A;           /* of CUTOFF, and what follows; 0 with other methods */
    double local_bytes_per_s;  /* read from local memory, measured in this run; 0: could not be */
    double pairs;              /* within the cutoff, counted by the device */
    const char *whole_variant; /* the default one, or NULL: nothing was measured */
    double whole_s;    /* from atoms to a map in the host's memory, median: bins, transfers, the map's rows; kernels are
                          built and the slabs' buffers made before */
    size_t whole_runs; /* how often it was timed; and their spread, as of a row: */
    double whole_spread;
    size_t size_count;
    const ley_bench_size *sizes; /* of ley_bench_options.linear */
    double exponent;             /* p of kernel_s = c atoms^p, by least squares of the logarithms; of pairs: */
    double pairs_exponent;
    size_t row_count;
    ley_bench_row *rows;
    double host_loop_evaluations_per_s; /* a hand-vectorised C loop on all host cores, with CUTOFF the papers'
                                           sequential one on one; 0 for devices that are no CPU */
    const char *host_loop;              /* what it was vectorised for */
    int host_threads;
    size_t host_runs; /* how often that was timed; and their spread, as of a row: */
    double host_spread;
    ley_status status;
    const char *failure;
    bool is_interpreter;     /* its kernels are interpreted: it has no rates, no limits and no seconds, all 0 */
    int limit_rounds;        /* how often its limits were measured */
    double limit_spread;     /* (best - worst) / best rate of multiply-adds among these; not a number: one, or none */
    double peak_fma_per_s;   /* clock x units x width x multiply-adds per clock, as far as they are known; 0: not */
    const char *peak_text;   /* "2 units x 2,600 MHz x 16 x 2"; NULL: unknown */
    const char *limit_doubt; /* why the limits are not plausible; NULL: nothing speaks against them */
    const char *energy_counter;                        /* where joules are from; NULL: nowhere */
    double clock_MHz, memory_clock_MHz, power_limit_W; /* when it had been measured; 0: unknown */
    ley_bench_load load;
} ley_bench_device;

typedef struct ley_bench ley_bench;

/* Measures the limits of every device of the engine and the rate of every variant of the method's
 * kernel on it, kernels only; of CUTOFF also the default variant's whole way from atoms to map.
 * Rows and texts live as long as the benchmark. Errors: those of the engine; a variant that fails
 * or is wrong says so in its row. */
LEY_API ley_status ley_bench_run(ley_engine *engine, const ley_bench_options *options, ley_bench **bench,
                                 ley_error *error);
LEY_API void ley_bench_destroy(ley_bench *bench);
LEY_API size_t ley_bench_device_count(const ley_bench *bench);
LEY_API const ley_bench_device *ley_bench_get(const ley_bench *bench, size_t i);

/* What several devices gain over the fastest of them: whole jobs, from atoms to a map in the host's
 * memory, whose slabs all devices share (data-parallel), and the same jobs on one device. */
typedef struct ley_bench_gain {
    const char *name;      /* "papers: data-parallel" */
    size_t device_count;   /* of the benchmark; where it is 1, nothing is measured, and run_count is 0 */
    size_t fastest;        /* of ley_bench_get(): whose row of whole jobs is the fastest; and of its jobs alone: */
    double fastest_s;      /* median */
    double fastest_spread; /* as of a row */
    size_t fastest_runs;
    double median_s, spread; /* of all devices together */
    size_t run_count, runs_wanted;
    const double *runs_s;  /* [run_count] seconds of each, in their order */
    double gain;           /* fastest_s / median_s; not a number: not measured */
    size_t devices_used;   /* that had a part in the last of these jobs */
    ley_accuracy accuracy; /* of a map that all devices together have made */
    ley_status status;
    const char *failure;
} ley_bench_gain;

/* MSM, where the papers' choice, the default one or that by transforms is measured on one box; of
 * others there are none. */
LEY_API size_t ley_bench_gain_count(const ley_bench *bench);
LEY_API const ley_bench_gain *ley_bench_gain_get(const ley_bench *bench, size_t i);

/* The machine that leyden runs on. */
typedef struct ley_host_info {
    char processor[256]; /* its name, as its maker has it; else its architecture */
    char system[256];    /* "Linux 6.1.0 x86_64, Debian GNU/Linux 12 (bookworm)" */
    int processors;      /* that this process may use */
} ley_host_info;

LEY_API void ley_host_describe(ley_host_info *host);

#ifdef __cplusplus
}
#endif
#endif
