/* Child processes: what they hand over where standard streams are closed, which group of processes
 * they are in, what ends them, and that time in which this process stood still does not count. */
#include "support.h"

#include "child.h"
#include "clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 1000 };

/* Writes a file, and says what process and group it is. */
static void hand_over(const void *context, void *shared, int file)
{
    static const char bytes[BYTES] = {1};
    volatile pid_t *said = shared;
    said[0] = getpid();
    said[1] = getpgrp();
    if (write(file, bytes, BYTES) == BYTES)
        said[2] = BYTES;
}

static void sleep_on(const void *context, void *shared, int file)
{
    while (true)
        sleep(100);
}

static child begin(void (*run)(const void *, void *, int), double limit_s)
{
    child c;
    child_begin(&c, &(child_task){.run = run, .shared_size = 4096, .deadline_s = ley_clock_s() + limit_s});
    assert_int_equal(c.state, CHILD_RUNS);
    return c;
}

static child_state wait_for(child *c)
{
    while (child_look(c) == CHILD_RUNS)
        child_wait_a_moment();
    return c->state;
}

static void test_closed_streams(void **state)
{
    for (int closed = 0; closed < 8; closed++) {
        int kept[3];
        for (int i = 0; i < 3; i++) {
            kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
            if (closed >> i & 1)
                close(i);
        }
        child c;
        child_begin(&c, &(child_task){.run = hand_over, .shared_size = 4096, .deadline_s = ley_clock_s() + 60});
        const child_state ended = c.state == CHILD_RUNS ? wait_for(&c) : c.state;
        for (int i = 0; i < 3; i++) {
            if (kept[i] >= 0)
                dup2(kept[i], i);
            close(kept[i]);
        }
        struct stat file;
        assert_int_equal(ended, CHILD_ENDED);
        assert_int_equal(c.code, 0);
        assert_int_equal(((pid_t *)c.shared)[2], BYTES);
        assert_int_equal(fstat(c.file, &file), 0);
        assert_int_equal(file.st_size, BYTES);
        child_end(&c);
    }
}

/* What a terminal sends to this process's group does not reach it. */
static void test_own_group(void **state)
{
    child c = begin(hand_over, 60);
    assert_int_equal(wait_for(&c), CHILD_ENDED);
    const pid_t *said = c.shared;
    assert_int_equal(said[0], said[1]);
    assert_int_not_equal(said[1], getpgrp());
    child_end(&c);
}

static void test_ends(void **state)
{
    child c = begin(sleep_on, 60);
    kill(c.process, SIGTERM);
    assert_int_equal(wait_for(&c), CHILD_ENDED);
    assert_int_equal(c.signal, SIGTERM);
    child_end(&c);
    c = begin(sleep_on, 0.05);
    assert_int_equal(wait_for(&c), CHILD_HUNG);
    assert_true(c.took_s >= 0.05);
    child_end(&c);
    c = begin(sleep_on, 60);
    const pid_t process = c.process;
    child_end(&c);
    assert_int_not_equal(kill(process, 0), 0);
    assert_int_equal(c.state, CHILD_NONE);
}

static void test_standing_still(void **state)
{
    child c = begin(sleep_on, 0.2);
    c.seen_s -= 1000; /* so long this process was stopped */
    c.deadline_s -= 1000;
    assert_int_equal(child_look(&c), CHILD_RUNS);
    assert_int_equal(wait_for(&c), CHILD_HUNG);
    child_end(&c);
}

int main(void)
{
    return RUN_TESTS(test_closed_streams, test_own_group, test_ends, test_standing_still);
}
