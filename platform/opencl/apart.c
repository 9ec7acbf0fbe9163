/* Builds in a child process each, for drivers that compile one kernel at a time. A child has the
 * driver as it is when the child begins, and none of its threads: it compiles, hands over the
 * binary, and ends. */
#include "../child.h"
#include "../clock.h"
#include "../error.h"
#include "../kernel_kind.h"
#include "../log.h"
#include "../parallel.h"
#include "internal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child may wait forever for a lock that a thread held when it began. */
static const double longest_s = 30;
static atomic_bool has_hung;

/* In memory that both have. */
typedef struct handed {
    volatile bool is_whole;
    size_t size;
} handed;

typedef struct builder {
    pid_t child; /* 0: it has not begun; -1: not any more */
    int binary;  /* a file in memory */
    double start_s, took_s;
    handed *handed;
} builder;

/* Children of a process that is looked after like this wait for what its threads held. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool can_fork = false;
#else
static const bool can_fork = true;
#endif

static _Noreturn void compile(dev *device, const dev_source *source, const builder *b)
{
    dev_program *program = NULL;
    void *bytes = NULL;
    child_begin(-1);
    if (cl_build(device, source, NULL, 0, &program, NULL) == LEY_OK &&
        cl_program_binary(device, program, &bytes, &b->handed->size, NULL) == LEY_OK)
        b->handed->is_whole = write(b->binary, bytes, b->handed->size) == (ssize_t)b->handed->size;
    _exit(0);
}

static void begin(builder *b, dev *device, const dev_source *source)
{
    b->start_s = ley_clock_s();
    b->child = -1;
    b->binary = memfd_create("binary", MFD_CLOEXEC);
    void *shared = mmap(NULL, sizeof *b->handed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b->binary < 0 || shared == MAP_FAILED)
        return;
    b->handed = shared;
    b->child = fork();
    if (b->child == 0)
        compile(device, source, b);
}

/* One look; a child that takes too long is ended. */
static bool has_ended(builder *b)
{
    if (b->child <= 0)
        return true;
    if (waitpid(b->child, NULL, WNOHANG) == 0) {
        if (ley_clock_s() - b->start_s < longest_s)
            return false;
        atomic_store(&has_hung, true);
        kill(b->child, SIGKILL);
        waitpid(b->child, NULL, 0);
    }
    b->child = -1;
    b->took_s = ley_clock_s() - b->start_s;
    return true;
}

/* Takes over what a child has made. */
static void take(const builder *b, dev *device, dev_build *build)
{
    if (b->handed == NULL || !b->handed->is_whole) {
        ley_fail(&build->error, LEY_ERROR_DEVICE, "a process of its own did not build %s", build->source.kind->name);
        return;
    }
    void *bytes = mmap(NULL, b->handed->size, PROT_READ, MAP_PRIVATE, b->binary, 0);
    if (bytes == MAP_FAILED)
        return;
    build->status = cl_build(device, &build->source, bytes, b->handed->size, &build->program, &build->error);
    munmap(bytes, b->handed->size);
    build->seconds = b->took_s;
}

static void clear(builder *b)
{
    if (b->handed != NULL)
        munmap(b->handed, sizeof *b->handed);
    if (b->binary >= 0)
        close(b->binary);
}

void cl_build_apart(dev *device, dev_build *builds, size_t count)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    builder *builders = calloc(count, sizeof *builders);
    const size_t side_by_side = (size_t)parallel_cores();
    for (size_t i = 0; i < count; i++)
        builds[i].status = LEY_ERROR_DEVICE;
    if (builders == NULL || !can_fork || atomic_load(&has_hung)) {
        free(builders);
        return;
    }
    for (size_t begun = 0, ended = 0; ended < count;) {
        const size_t before = ended;
        for (; begun < count && begun < ended + side_by_side; begun++)
            begin(&builders[begun], device, &builds[begun].source);
        ended = 0;
        for (size_t i = 0; i < begun; i++)
            ended += has_ended(&builders[i]);
        if (ended == before)
            nanosleep(&moment, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        take(&builders[i], device, &builds[i]);
        clear(&builders[i]);
    }
    if (atomic_load(&has_hung))
        log_say(LEY_LOG_NOTE, "%s: a child process did not end that was to build a kernel: none is begun any more",
                device->info->name);
    free(builders);
}
