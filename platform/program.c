#include "program.h"

#include "build_cache.h"
#include "clock.h"
#include "error.h"
#include "log.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dev_program *take_cached(dev *device, const dev_source *source, const cache_key *key)
{
    size_t size = 0;
    dev_program *program = NULL;
    void *binary = cache_get(key, &size);
    if (binary == NULL)
        return NULL;
    if (device->backend->build(device, source, binary, size, &program, NULL) != LEY_OK) {
        cache_remove(key); /* whole, but the driver will not have it */
        program = NULL;
        log_say(LEY_LOG_NOTE, "%s: the driver does not take %s from the cache: removed there", device->info->name,
                source->kernel);
    }
    free(binary);
    return program;
}

static void put_cached(dev *device, dev_program *program, const cache_key *key)
{
    void *binary = NULL;
    size_t size = 0;
    if (device->backend->program_binary(device, program, &binary, &size, NULL) == LEY_OK)
        cache_put(key, binary, size);
    free(binary);
}

static ley_status build_and_test(dev *device, const dev_source *source, program_test *test, void *context,
                                 dev_program **program, ley_error *error)
{
    dev_program *built = NULL;
    const double start_s = ley_clock_s();
    ley_status status = device->backend->build(device, source, NULL, 0, &built, error);
    const double built_s = ley_clock_s();
    if (status == LEY_OK)
        status = test(device, built, context, error);
    if (status == LEY_OK)
        log_say(LEY_LOG_NOTE, "%s: built %s in %.3f s, tested in %.3f s: %s", device->info->name, source->kernel,
                built_s - start_s, ley_clock_s() - built_s, source->options);
    if (status == LEY_ERROR_WRONG_RESULT && error != NULL && strstr(error->message, "self-test") == NULL)
        ley_error_prefix(error, "self-test of %s failed", source->kernel);
    if (status != LEY_OK) {
        device->backend->program_destroy(device, built);
        return status;
    }
    *program = built;
    return LEY_OK;
}

static ley_status load_source(dev *device, const char *kernel, const char *prelude, char **text, ley_error *error)
{
    char *own = NULL, *whole;
    ley_status status = source_load(kernel, device->backend->source_suffix, &own, error);
    if (status != LEY_OK || prelude == NULL) {
        *text = own;
        return status;
    }
    const int size = asprintf(&whole, "%s\n%s", prelude, own);
    free(own);
    if (size < 0)
        return ley_fail_memory(error, strlen(prelude), "kernel source");
    *text = whole;
    return LEY_OK;
}

ley_status program_get(dev *device, const char *kernel, const char *options, const char *prelude, program_test *test,
                       void *context, dev_program **program, bool *from_cache, ley_error *error)
{
    char *text = NULL;
    ley_status status = load_source(device, kernel, prelude, &text, error);
    if (status != LEY_OK)
        return status;
    const dev_source source = {kernel, text, options};
    const bool cacheable = !(device->info->quirks & DEV_QUIRK_NO_BINARY);
    const cache_key key = cache_key_make(device->info, "kernel", text, options);
    const double start_s = ley_clock_s();
    dev_program *found = cacheable ? take_cached(device, &source, &key) : NULL;
    if (found != NULL)
        log_say(LEY_LOG_NOTE, "%s: took %s from the cache in %.3f s: %s", device->info->name, kernel,
                ley_clock_s() - start_s, options);
    if (from_cache != NULL)
        *from_cache = found != NULL;
    if (found == NULL) {
        status = build_and_test(device, &source, test, context, &found, error);
        if (status == LEY_OK && cacheable)
            put_cached(device, found, &key);
    }
    free(text);
    if (status == LEY_OK)
        *program = found;
    return status;
}
