/* What compilers say, and what they give back. */
#include "check/internal.h"

#include "error.h"
#include "source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static structs_spec spec_of(int echo)
{
    return (structs_spec){.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .echo = echo};
}

/* ---- Logs ------------------------------------------------------------------------------------ */

static const char nobody[] = "leyden_knows_nobody_of_this_name";

/* Some compilers also print how many errors there were, on standard error. What they say of a
 * kernel that is broken on purpose is nothing for whoever looks at the checks. */
static struct {
    pthread_mutex_t mutex;
    int kept; /* the real standard error; -1: it is where it belongs */
} speech = {.mutex = PTHREAD_MUTEX_INITIALIZER, .kept = -1};

static void silence_compilers(void)
{
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pthread_mutex_lock(&speech.mutex);
    if (nothing >= 0 && speech.kept < 0 && (speech.kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
        dup2(nothing, STDERR_FILENO);
    pthread_mutex_unlock(&speech.mutex);
    if (nothing >= 0)
        close(nothing);
}

void check_let_speak(void)
{
    pthread_mutex_lock(&speech.mutex);
    if (speech.kept >= 0) {
        dup2(speech.kept, STDERR_FILENO);
        close(speech.kept);
    }
    speech.kept = -1;
    pthread_mutex_unlock(&speech.mutex);
}

/* A kernel with a name in it that nobody has declared: no program may come of it, and what the
 * compiler says has that name. */
static ley_status attempt_log(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const dev_backend *backend = run->device->backend;
    const structs_spec spec = spec_of(1);
    char options[KERNEL_OPTIONS], *text = NULL, *broken = NULL;
    dev_program *program = NULL;
    ley_error said = {.status = LEY_OK};
    (void)context, (void)size, (void)f;
    ley_status status = source_load(structs_kind.name, backend->source_suffix, &text, error);
    if (status != LEY_OK)
        return status;
    kernel_options(&structs_kind, &spec, options, sizeof options);
    char *at = strstr(text, "int at = 0;");
    if (at == NULL ||
        asprintf(&broken, "%.*sint at = %s;%s", (int)(at - text), text, nobody, at + strlen("int at = 0;")) < 0) {
        free(text);
        return ley_fail_memory(error, 0, "a check");
    }
    const dev_source source = {.kind = &structs_kind, .spec = &spec.sum, .text = broken, .options = options};
    silence_compilers();
    status = backend->build(run->device, &source, NULL, 0, &program, &said);
    check_let_speak();
    if (status == LEY_OK) {
        backend->program_destroy(run->device, program);
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "a kernel with an undeclared name in it compiles");
    } else if (said.log == NULL || strstr(said.log, nobody) == NULL) {
        status =
            ley_fail(error, LEY_ERROR_WRONG_RESULT, "the log of a broken kernel does not name what is wrong: %.300s",
                     said.log != NULL ? said.log : "there is none");
    } else {
        status = LEY_OK;
    }
    ley_error_clear(&said);
    free(broken);
    free(text);
    return status;
}

void check_logs(check_run *run, const check_row *row)
{
    check_try(run, row, &(check_case){.variant = "", .attempt = attempt_log});
}

/* ---- Binaries -------------------------------------------------------------------------------- */

enum { BINARIES = 3 };

typedef struct binary_trial {
    char *text, options[BINARIES][KERNEL_OPTIONS];
    void *binary[BINARIES];
    size_t size[BINARIES];
    structs_spec spec[BINARIES];
} binary_trial;

static ley_status make_binaries(binary_trial *t, dev *device, ley_error *error)
{
    const dev_backend *backend = device->backend;
    ley_status status = source_load(structs_kind.name, backend->source_suffix, &t->text, error);
    for (int i = 0; i < BINARIES && status == LEY_OK; i++) {
        dev_program *program = NULL;
        t->spec[i] = spec_of(1001 + i);
        kernel_options(&structs_kind, &t->spec[i], t->options[i], sizeof t->options[i]);
        const dev_source source = {
            .kind = &structs_kind, .spec = &t->spec[i].sum, .text = t->text, .options = t->options[i]};
        status = backend->build(device, &source, NULL, 0, &program, error);
        if (status != LEY_OK)
            return status;
        status = backend->program_binary(device, program, &t->binary[i], &t->size[i], error);
        backend->program_destroy(device, program);
    }
    return status;
}

/* What the kernel of a binary gives back first is its own number. */
static ley_status run_binary(binary_trial *t, int i, dev *device, check_finding *f, ley_error *error)
{
    const dev_source source = {
        .kind = &structs_kind, .spec = &t->spec[i].sum, .text = t->text, .options = t->options[i]};
    dev_kernel kernel = {.device = device, .kind = &structs_kind, .group_size = {1, 1, 1}};
    static const float row[4];
    const size_t bytes = STRUCTS_WORDS * sizeof(int32_t);
    check_bench b;
    dev_buffer *in = NULL;
    results sizes = {NULL, NULL}, values = {NULL, NULL};
    check_bench_begin(&b, device);
    ley_status status = device->backend->build(device, &source, t->binary[i], t->size[i], &kernel.program, error);
    if (status != LEY_OK)
        kernel.program = NULL;
    if (status == LEY_OK)
        status = arena_upload(&b.arena, row, sizeof row, &in, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &sizes, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &values, error);
    if (status == LEY_OK) {
        sequence_launch(&b.command_sequence, &kernel, (const size_t[]){1, 1, 1},
                        KERNEL_ARGUMENTS(structs, .gm_row = {in}, .number = 1, .gm_sizes = {sizes.buffer},
                                         .gm_values = {values.buffer}),
                        0);
        sequence_read(&b.command_sequence, sizes.buffer, 0, sizes.staging, bytes);
        status = check_bench_finish(&b, error);
    }
    if (status == LEY_OK) {
        const int32_t found = *(const int32_t *)sizes.staging->bytes;
        if (found != t->spec[i].echo)
            status = check_wrong(f, found, t->spec[i].echo, error,
                                 "of the binary of a kernel that gives %d back comes a program that gives %d",
                                 t->spec[i].echo, found);
    }
    check_bench_end(&b);
    kernel_destroy(&kernel);
    return status;
}

static ley_status attempt_binaries(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    binary_trial t = {.text = NULL};
    (void)context, (void)size;
    ley_status status = make_binaries(&t, run->device, error);
    for (int i = 0; i < BINARIES && status == LEY_OK; i++)
        status = run_binary(&t, i, run->device, f, error);
    if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%s", ley_size((double)t.size[0]).s);
    for (int i = 0; i < BINARIES; i++)
        free(t.binary[i]);
    free(t.text);
    return status;
}

void check_binaries(check_run *run, const check_row *row)
{
    check_try(run, row, &(check_case){.variant = "", .attempt = attempt_binaries});
}
