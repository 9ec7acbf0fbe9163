/* The device interface's operations on memory: on every device of this machine, and on a fake one
 * that fails at each of them. */
#include "support.h"

#include "device_list.h"
#include "fake_device.h"
#include "interface_check.h"
#include "schedule/job.h"

static int check_device(const char *selector, const ley_device_info *info)
{
    ley_engine *engine = NULL;
    ley_error error = {0};
    if (!support_open(selector, info->name, &engine))
        return 0;
    dev *device = engine->workers[0].device; /* its worker thread sleeps meanwhile */
    for (unsigned seed = 1; seed <= 3; seed++)
        assert_ok(interface_check(device, 300, seed, &error));
    ley_engine_destroy(engine);
    return 0;
}

static void test_every_device(void **state)
{
    assert_int_equal(support_on_each_device(check_device), 0);
}

/* A fake device, opened. */
typedef struct opened {
    fake_plan plan;
    dev_list list;
    dev *device;
} opened;

static opened *open_fake(fake_plan plan)
{
    opened *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->plan = plan;
    o->plan.name = "F";
    fake_devices_begin(&o->plan, 1);
    assert_int_equal(dev_list_create(&o->list, NULL), LEY_OK);
    assert_int_equal(o->list.infos[0].backend->open(&o->list.infos[0], &o->device, NULL), LEY_OK);
    return o;
}

static void close_fake(opened *o)
{
    o->device->backend->close(o->device);
    dev_list_clear(&o->list);
    fake_devices_end();
    free(o);
}

static void test_a_fake_device(void **state)
{
    ley_error error = {0};
    opened *o = open_fake((fake_plan){.fail_copy = 0});
    for (unsigned seed = 1; seed <= 20; seed++)
        assert_ok(interface_check(o->device, 300, seed, &error));
    assert_true(o->plan.fills > 0 && o->plan.copies > 0 && o->plan.writes > 0 && o->plan.forgotten > 0);
    assert_int_equal(o->plan.live_objects, 0);
    close_fake(o);
}

/* Each call fails, sooner or later: the error is that call's, and nothing is left. */
static void test_every_call_fails(void **state)
{
    static const char *const says[] = {"fake_fill()", "fake_copy()", "fake_write()",
                                       "fake_read()", "fake_wait()", "fake_staging_create()"};
    for (int at = 1; at <= 2; at++) {
        const fake_plan plans[] = {{.fail_fill = at}, {.fail_copy = at}, {.fail_write = 3 + at},
                                   {.fail_read = at}, {.fail_wait = at}, {.fail_staging = at}};
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
            ley_error error = {0};
            opened *o = open_fake(plans[i]);
            assert_error(interface_check(o->device, 300, 1, &error), LEY_ERROR_DEVICE, says[i]);
            assert_int_equal(o->plan.live_objects, 0);
            ley_error_clear(&error);
            close_fake(o);
        }
    }
}

/* What lies outside of a buffer is refused, and so is what a driver would spoil. */
static void test_bounds(void **state)
{
    opened *o = open_fake((fake_plan){.fail_copy = 0});
    const dev_backend *b = o->device->backend;
    dev_buffer *x = NULL, *y = NULL;
    dev_staging *s = NULL;
    dev_event *done = NULL;
    ley_error error = {0};
    assert_ok(b->buffer_create(o->device, 64, DEV_READ_WRITE, &x, &error));
    assert_ok(b->buffer_create(o->device, 32, DEV_READ_WRITE, &y, &error));
    assert_ok(b->staging_create(o->device, 16, &s, &error));
    assert_int_equal(b->fill(o->device, x, 4, 0, 64, NULL, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->fill(o->device, x, 2, 0, 4, NULL, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->fill(o->device, x, 0, 0, 6, NULL, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->copy(o->device, x, 36, y, 0, 32, NULL, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->copy(o->device, x, 0, y, 4, 32, NULL, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->copy(o->device, x, 0, x, 28, 32, NULL, NULL), LEY_ERROR_DEVICE);
    assert_ok(b->copy(o->device, x, 0, x, 32, 32, NULL, &error));
    assert_int_equal(b->send(o->device, y, 20, s, 0, 16, &done, NULL), LEY_ERROR_DEVICE);
    assert_int_equal(b->send(o->device, y, 0, s, 4, 16, &done, NULL), LEY_ERROR_DEVICE);
    b->staging_destroy(o->device, s);
    b->buffer_destroy(o->device, x);
    b->buffer_destroy(o->device, y);
    assert_int_equal(o->plan.live_objects, 0);
    close_fake(o);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "interface"), test_every_device, test_a_fake_device, test_every_call_fails,
                     test_bounds);
}
