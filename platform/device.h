/* The interface to a device: the only one. Everything above it sees devices,
 * buffers, programs and events through these function pointers; no OpenCL or CUDA type crosses it.
 * platform/opencl/ and platform/cuda/ are implementations; a test's fault-injecting device is
 * another. A device is used by one thread at a time. */
#ifndef LEY_DEVICE_H
#define LEY_DEVICE_H

#include "calibration.h"
#include "kept_buffers.h"
#include "kept_programs.h"
#include "leyden_status.h"
#include "staging_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dev_class { DEV_GPU, DEV_CPU, DEV_OTHER, DEV_CLASS_COUNT } dev_class;

/* What the quirks table may say of a device; see quirks.c. */
typedef enum dev_quirk {
    DEV_QUIRK_PTX = 1 << 0,          /* takes inline PTX: the root without denormal handling */
    DEV_QUIRK_AVX512 = 1 << 1,       /* takes clang's names of x86 instructions with AVX-512 */
    DEV_QUIRK_INTERPRETER = 1 << 2,  /* interprets kernels: never time anything on it */
    DEV_QUIRK_NO_BINARY = 1 << 3,    /* its program binaries cannot be trusted: no build cache */
    DEV_QUIRK_ONE_COMPILER = 1 << 4, /* compiles one kernel at a time, whatever threads it is called from */
    DEV_QUIRK_ROUGH_ROOT = 1 << 5,   /* native_rsqrt is one instruction, right to 11 bits at least */
} dev_quirk;

#define DEV_TEXT 256

/* Facts of a device, asked once when it is found. */
typedef struct dev_info {
    const struct dev_backend *backend;
    void *handle; /* the back end's own name for the device */
    dev_class device_class;
    char platform[DEV_TEXT], vendor[DEV_TEXT], name[DEV_TEXT], driver[DEV_TEXT], version[DEV_TEXT];
    int compute_units, clock_MHz;
    int vector_width; /* floats in a native vector */
    int capability;   /* 10 major + minor of a CUDA device; 0 else */
    int sub_groups;   /* LEY_SUB_GROUPS_... of spec.h: what its OpenCL C has for 32 work-items */
    size_t max_work_group, max_work_items[3];
    size_t max_groups[3]; /* work-groups of a launch along x, y, z */
    uint64_t global_bytes, max_allocation_bytes, local_bytes, constant_bytes;
    bool has_double;
    bool has_denormals; /* it says that floats keep them */
    unsigned quirks;    /* of dev_quirk */
    char quirks_text[DEV_TEXT];
    char card[DEV_TEXT]; /* the physical card, "pci 0000:3b:00"; two paths to one card say the same; empty: unknown */
    int index;           /* place in the list of cards: the same for both paths to one */
    char unusable[DEV_TEXT]; /* why it cannot be used; empty when it can */
} dev_info;

/* All devices found, and remarks about platforms that have none. */
typedef struct dev_list {
    size_t count, capacity, note_count;
    dev_info *infos;
    char (*notes)[DEV_TEXT];
    bool afresh; /* drivers that died when they were tried are to be tried again */
} dev_list;

enum { DEV_MOST_CACHED = 32 };

typedef struct dev {
    const struct dev_backend *backend;
    const dev_info *info;
    bool has_timestamps; /* measured when opened: the device stamps its events */
    bool is_lost; /* what was begun on it could not be finished, so that the driver may go on using all that it was
                     given: nothing of the device's is freed, and it is not to be used again */
    staging_pool spare;     /* back ends put staging there, and take it from there */
    kept_buffers kept;      /* of jobs; back ends destroy them when they close it */
    kept_programs programs; /* the same of kernels' programs */
    char lost_by[DEV_TEXT]; /* the driver's call that said so, where no error of anybody's could */
    uint64_t asked;         /* of the facts that calibrate_get() gives: they stay as they are */
    calibration facts;
    double pairs;   /* that the job at hand computes; 0: not known, and as good as many */
    bool has_usual; /* jobs of few pairs were given facts that are usual and not measured: they stay as well */
    calibration usual;
    size_t cached_count; /* kernels that came from the build cache, ever; and the last of them: */
    cache_key cached[DEV_MOST_CACHED];
    unsigned distrusts; /* how often its kernels have proved wrong: none from before is used again */
} dev;

typedef struct dev_buffer dev_buffer;
typedef struct dev_program dev_program;
typedef struct dev_event dev_event;

/* Kernel source and what it is specialised by. Each program holds one kernel, named like its
 * file. */
typedef struct dev_source {
    const struct kernel_kind *kind;
    const int *spec;     /* a value for each of the kind's keys */
    const char *text;    /* flattened source */
    const char *options; /* "-DLEY_UX=4 ..." */
} dev_source;

/* One of several programs that are built at once, and what came of it. */
typedef struct dev_build {
    dev_source source;
    dev_program *program;
    double seconds; /* that it took */
    ley_status status;
    ley_error error;
} dev_build;

/* A kernel argument: a buffer, or bytes of a value. */
typedef struct dev_argument {
    dev_buffer *buffer; /* NULL: value */
    size_t size;
    unsigned char value[128]; /* 16 doubles */
} dev_argument;

typedef struct dev_launch {
    dev_program *program;
    size_t groups[3], group_size[3]; /* work-groups, and work-items in each */
    size_t argument_count;
    const dev_argument *arguments;
} dev_launch;

/* When an operation ran on the device, in seconds of ley_clock_s(). On a device without time stamps
 * it lasts from its submission, or the end of the one before, to the end of the wait for it. */
typedef struct dev_times {
    double start_s, end_s;
} dev_times;

typedef enum dev_access { DEV_READ_ONLY, DEV_READ_WRITE } dev_access;

/* A library of Fourier transforms, as a device sees it. */
typedef struct dev_fft_library {
    const char *name;        /* "vkfft" */
    char version[64];        /* "1.2.26" */
    bool has_tables;         /* it computes its factors on the fly, or takes them from tables, which have more digits */
    bool needs_no_area;      /* its plans in place need no scratch, for the sizes that grids have */
    bool leaves_out;         /* rows that are zero there, or not wanted back, cost it nothing */
    uint64_t most_values;    /* it has no transforms of more values, padding included; 0: of any number */
    char unusable[DEV_TEXT]; /* why it cannot be used; empty when it can */
} dev_fft_library;

/* What is transformed: a real mesh of n[0] x n[1] x n[2] values, x fastest; fft_plan.h has the
 * layout. */
typedef struct dev_fft_shape {
    size_t n[3];
    size_t filled[3]; /* of a library that leaves rows out: as fft_wish has them; else n */
    bool in_place;
    bool tables; /* of a library that has them: to be used */
} dev_fft_shape;

/* A plan; back ends add what is their own. */
typedef struct dev_fft_plan {
    size_t library;
    size_t scratch_bytes; /* that each run needs to be lent; 0: none */
    bool is_compiled;     /* there is nothing left to compile when it runs for the first time */
    size_t zero_planes;   /* from the first: where what is not filled must be zero on the way there; it is not read in
                             others */
} dev_fft_plan;

struct recorder;
struct replay;

/* One implementation of the device interface. Every function that can fail fills `error` with the
 * driver call's text, its symbolic error, file and line. Operations on one device run in two lanes,
 * launches and reads; each in order, both at once. */
typedef struct dev_backend {
    const char *name;
    const char *source_suffix;  /* of its kernels' files: "cl", "cu" */
    const char *common_options; /* what every build adds to dev_source.options; part of the cache's keys */
    bool is_vendors;            /* made by the cards' vendor for them alone: of two paths to a card the default */
    bool builds_at_once;        /* build() may be called from several threads, for the same device */

    /* Appends what it finds to the list. Finding nothing is no error. */
    ley_status (*probe)(dev_list *list, ley_error *error);

    ley_status (*open)(const dev_info *info, dev **device, ley_error *error);
    void (*close)(dev *device);

    ley_status (*buffer_create)(dev *device, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error);
    void (*buffer_destroy)(dev *device, dev_buffer *buffer);

    ley_status (*staging_create)(dev *device, size_t bytes, dev_staging **staging, ley_error *error);
    void (*staging_destroy)(dev *device, dev_staging *staging); /* once nothing is under way to it any more */

    /* Copies to the device, in the launch lane; returns when `bytes` may be reused: also on
     * failure, unless the device is lost by it. */
    ley_status (*write)(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                        ley_error *error);

    /* Starts a copy to the device from bytes of staging, at `from`, in the launch lane. They must
     * stay as they are until the event has ended; on failure, until the device is closed. Staging
     * may be another device's, or describe memory that no driver knows, which is slower and must
     * stay for ever where the device is lost. */
    ley_status (*send)(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                       size_t size, dev_event **done, ley_error *error);

    /* Starts to fill bytes of a buffer with a pattern, in the launch lane: offset and number of
     * bytes are multiples of its four. `done` may be NULL, for nobody will wait. */
    ley_status (*fill)(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes, dev_event **done,
                       ley_error *error);

    /* Starts a copy on the device, in the launch lane, between ranges that do not overlap. `done`
     * may be NULL. */
    ley_status (*copy)(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                       size_t bytes, dev_event **done, ley_error *error);

    /* Starts a copy to the host, in the read lane, when `after` has ended. */
    ley_status (*read)(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                       dev_event *after, dev_event **done, ley_error *error);

    /* Compiles a program from source, or takes one back from the bytes that program_binary()
     * gave. */
    ley_status (*build)(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                        dev_program **program, ley_error *error);

    /* Compiles several programs from source, in a thread each: for back ends and drivers that can.
     * Back ends leave it NULL: the watched interface makes it of build(). */
    void (*build_all)(dev *device, dev_build *builds, size_t count);

    /* The same in a process each, for drivers that compile one at a time; NULL: the back end has
     * none of these. What could not be built so has a status that is not LEY_OK. */
    void (*build_apart)(dev *device, dev_build *builds, size_t count);

    /* The compiled program, from malloc. */
    ley_status (*program_binary)(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error);
    void (*program_destroy)(dev *device, dev_program *program);

    /* What the compiler said of a program that it built, from malloc; NULL: nothing. Not every back
     * end has it. */
    char *(*program_log)(dev *device, dev_program *program);

    /* Starts a kernel in the launch lane. */
    ley_status (*launch)(dev *device, const dev_launch *launch, dev_event **done, ley_error *error);

    /* Waits for an event, says when it ran, and ends it, also on failure. */
    ley_status (*wait)(dev *device, dev_event *event, dev_times *times, ley_error *error);

    /* Ends an event that nobody will wait for; what it stands for goes on. */
    void (*forget)(dev *device, dev_event *event);

    /* A program in C that does at the driver's own functions what was written down (recorder.h), up
     * to the read that brought a wrong value, and judges that: its text, from malloc, or that of
     * repro_data.h, which it includes. Its kernels are kernel_N.cl, by the numbers of programs.
     * NULL: no memory. Not every back end has it. */
    char *(*replay)(const struct recorder *r, const struct replay *what, bool is_data);

    /* Fourier transforms, for fft.h and fft_plan.h alone. All of these are NULL where a back end
     * has none. The i-th library, usable or not; false: there are no more. */
    bool (*fft_library)(const dev_info *info, size_t i, dev_fft_library *library);

    /* Prepares a plan, of what fft_keep() gave of one like it if `kept` is not NULL. */
    ley_status (*fft_plan)(dev *device, size_t library, const dev_fft_shape *shape, const void *kept, size_t kept_size,
                           dev_fft_plan **plan, ley_error *error);

    /* What a plan is prepared of sooner another time, from malloc; NULL: there is nothing. */
    ley_status (*fft_keep)(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error);

    /* Starts a transform in the launch lane: of the mesh `from` to its spectrum `to`, or back.
     * In place they are the same buffer. */
    ley_status (*fft_run)(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                          dev_buffer *scratch, dev_event **done, ley_error *error);
    void (*fft_end)(dev *device, dev_fft_plan *plan); /* once nothing of it is under way any more */
} dev_backend;

/* What a buffer is filled with so that it shows where no kernel writes: as floats and as doubles,
 * not-a-numbers. */
#define DEV_NO_NUMBERS UINT32_MAX

/* Frees what a list has. */
void dev_list_clear(dev_list *list);

/* For a back end's probe: a further, zeroed entry (NULL when memory is out); a further remark. */
dev_info *dev_list_append(dev_list *list);
void dev_list_note(dev_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps memory for ever, on purpose: a driver may still use it. */
void dev_keep(void *memory);

/* Arguments from values. */
dev_argument dev_argument_buffer(dev_buffer *buffer);
dev_argument dev_argument_int(int32_t value);
dev_argument dev_argument_bytes(const void *value, size_t size);

#endif
