/* What a caller does at a device's interface, written down: which buffers it makes, what goes
 * there, which kernels run with which arguments, what comes back. */
#ifndef LEY_RECORDER_H
#define LEY_RECORDER_H

#include "device.h"

typedef enum recorded_kind {
    RECORDED_BUFFER,  /* made, of `size` bytes */
    RECORDED_RELEASE, /* of a buffer */
    RECORDED_WRITE,   /* of `bytes` */
    RECORDED_FILL,    /* with `pattern` */
    RECORDED_COPY,    /* from `other`, at other_offset */
    RECORDED_PROGRAM, /* built: `text`, `options`, `kernel`; from a binary, or not */
    RECORDED_LAUNCH,
    RECORDED_READ, /* in a lane of its own, behind event `after`; `bytes` are what came */
} recorded_kind;

/* Buffers, programs and events are numbers, from 1; 0 is none. */
typedef struct recorded {
    recorded_kind kind;
    int buffer, other, program, event, after;
    bool is_read_only, is_binary;
    size_t offset, other_offset, size;
    uint32_t pattern;
    unsigned char *bytes;
    char *text, *options;
    const char *kernel;
    size_t groups[3], group_size[3], argument_count;
    dev_argument *arguments;
    int *argument_buffers; /* of each argument; 0: a value */
} recorded;

typedef struct recorder {
    dev *device;
    const dev_backend *own; /* the device's own interface */
    size_t count, capacity;
    recorded *all;
    size_t bytes;     /* kept in all */
    bool is_complete; /* nothing was left out, for lack of memory or because it cannot be written down */
    void **objects;   /* what numbers stand for */
    size_t object_count;
    struct recording_wait *waits; /* reads that are under way */
} recorder;

/* From now on the device's interface writes down what the calling thread does there; NULL: no
 * memory. To be ended on the same thread. */
recorder *recorder_begin(dev *device);
void recorder_end(recorder *r);
void recorder_destroy(recorder *r);

/* A value that came back and is wrong, and who is to hear of it. */
typedef enum replay_kind { REPLAY_FLOAT, REPLAY_DOUBLE, REPLAY_INT, REPLAY_KINDS } replay_kind;

typedef struct replay {
    size_t op, offset; /* of the read that brought it, and in there */
    replay_kind kind;
    double right, allowed; /* by how much it may be off */
    const dev_info *info;
    const char *title, *message; /* what is wrong */
} replay;

#endif
