/* Builds in a child process each, for drivers that compile one kernel at a time. A child has the
 * driver as it is when the child begins, and none of its threads: it compiles, hands over the
 * binary, and ends. */
#include "../child.h"
#include "../clock.h"
#include "../error.h"
#include "../kernel_kind.h"
#include "../log.h"
#include "../parallel.h"
#include "../watch.h"
#include "internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A child may wait forever for a lock that a thread held when it began. */
static atomic_bool has_hung;

/* What it hands over beside the binary, which is in the file. */
typedef struct handed {
    volatile bool is_whole;
    size_t size;
} handed;

/* Children of a process that is looked after like this wait for what its threads held. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool can_fork = false;
#else
static const bool can_fork = true;
#endif

typedef struct part {
    dev *device;
    const dev_source *source;
} part;

static void compile(const void *context, void *shared, int file)
{
    const part *p = context;
    handed *h = shared;
    dev_program *program = NULL;
    void *bytes = NULL;
    if (cl_build(p->device, p->source, NULL, 0, &program, NULL) == LEY_OK &&
        cl_program_binary(p->device, program, &bytes, &h->size, NULL) == LEY_OK)
        h->is_whole = write(file, bytes, h->size) == (ssize_t)h->size;
}

static void begin(child *c, dev *device, const dev_source *source)
{
    part p = {device, source};
    child_begin(c, &(child_task){.run = compile,
                                 .context = &p,
                                 .shared_size = sizeof(handed),
                                 .deadline_s = ley_clock_s() + watch_apart_s()});
}

/* One look at those that have begun: how many of them have come to an end. */
static size_t count_ended(child *children, size_t begun)
{
    size_t ended = 0;
    for (size_t i = 0; i < begun; i++) {
        const child_state state = child_look(&children[i]);
        ended += state != CHILD_RUNS;
        if (state == CHILD_HUNG)
            atomic_store(&has_hung, true);
    }
    return ended;
}

/* Takes over what a child has made. */
static void take(const child *c, dev *device, dev_build *build)
{
    const handed *h = c->shared;
    struct stat file;
    if (h == NULL || !h->is_whole || fstat(c->file, &file) != 0 || (size_t)file.st_size != h->size) {
        ley_fail(&build->error, LEY_ERROR_DEVICE, "a process of its own did not build %s", build->source.kind->name);
        return;
    }
    void *bytes = mmap(NULL, h->size, PROT_READ, MAP_PRIVATE, c->file, 0);
    if (bytes == MAP_FAILED)
        return;
    build->status = cl_build(device, &build->source, bytes, h->size, &build->program, &build->error);
    munmap(bytes, h->size);
    build->seconds = c->took_s;
}

void cl_build_apart(dev *device, dev_build *builds, size_t count)
{
    child *children = calloc(count, sizeof *children);
    const size_t side_by_side = (size_t)parallel_cores();
    size_t begun = 0, ended = 0;
    for (size_t i = 0; i < count; i++)
        builds[i].status = LEY_ERROR_DEVICE;
    if (children == NULL || !can_fork || atomic_load(&has_hung)) {
        free(children);
        return;
    }
    while (ended < begun || (begun < count && !atomic_load(&has_hung))) {
        const size_t before = ended;
        for (; begun < count && begun < ended + side_by_side && !atomic_load(&has_hung); begun++)
            begin(&children[begun], device, &builds[begun].source);
        ended = count_ended(children, begun);
        if (ended == before)
            child_wait_a_moment();
    }
    for (size_t i = 0; i < count; i++) {
        take(&children[i], device, &builds[i]);
        child_end(&children[i]);
    }
    if (atomic_load(&has_hung))
        log_say(LEY_LOG_WARNING, "%s: a child process did not end that was to build a kernel: none is begun any more",
                device->info->name);
    free(children);
}
