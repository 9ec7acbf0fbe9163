/* Programs: CUDA C through NVRTC for the card's own architecture, or an image that was kept. */
#include "../kernel_kind.h"
#include "internal.h"
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 40, MAX_ARCHS = 64 };

/* The architecture to compile for: the card's own, as machine code; else the newest one below it,
 * as PTX for the driver to finish. */
typedef struct target {
    char option[48];
    bool is_cubin;
} target;

static ley_status choose_target(const cuda_nvrtc *nvrtc, const dev_info *info, target *t, ley_error *error)
{
    int archs[MAX_ARCHS], count = 0, newest = 0;
    bool own = false;
    if (nvrtc->arch_count == NULL || nvrtc->archs == NULL || nvrtc->arch_count(&count) != 0 || count > MAX_ARCHS ||
        nvrtc->archs(archs) != 0)
        newest = info->capability, count = 0; /* an old NVRTC does not tell: try, its log will */
    for (int i = 0; i < count; i++) {
        own = own || archs[i] == info->capability;
        if (archs[i] <= info->capability && archs[i] > newest)
            newest = archs[i];
    }
    if (newest == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: NVRTC cannot compile for compute capability %d.%d any more",
                        info->name, info->capability / 10, info->capability % 10);
    t->is_cubin = own && nvrtc->cubin != NULL && nvrtc->cubin_size != NULL;
    snprintf(t->option, sizeof t->option, "--gpu-architecture=%s_%d", t->is_cubin ? "sm" : "compute", newest);
    return LEY_OK;
}

static char *compile_log(const cuda_nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (nvrtc->log_size(program, &size) != 0 || size == 0)
        return NULL;
    char *log = calloc(size + 1, 1);
    if (log != NULL && nvrtc->log(program, log) != 0) {
        free(log);
        return NULL;
    }
    return log;
}

static ley_status take_image(const cuda_nvrtc *nvrtc, nvrtcProgram program, const target *t, dev_program *p,
                             ley_error *error)
{
    nvrtcResult code =
        t->is_cubin ? nvrtc->cubin_size(program, &p->image_size) : nvrtc->ptx_size(program, &p->image_size);
    if (code == 0 && (p->image = malloc(p->image_size)) == NULL)
        return ley_fail_memory(error, p->image_size, "a compiled kernel");
    if (code == 0)
        code = t->is_cubin ? nvrtc->cubin(program, p->image) : nvrtc->ptx(program, p->image);
    return code == 0 ? LEY_OK
                     : ley_fail(error, LEY_ERROR_DEVICE, "nvrtcGet%s: error %d at program.c:%d",
                                t->is_cubin ? "CUBIN" : "PTX", code, __LINE__);
}

/* Splits "-DA=1 -DB=2" in place. */
static int split(char *options, const char *words[MAX_OPTIONS], int count)
{
    char *rest = NULL;
    for (char *word = strtok_r(options, " ", &rest); word != NULL && count < MAX_OPTIONS;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return count;
}

static ley_status compile(const cuda_nvrtc *nvrtc, const dev_info *info, const dev_source *source, dev_program *p,
                          ley_error *error)
{
    target t = {.is_cubin = false};
    nvrtcProgram program = NULL;
    char *options = strdup(source->options), name[64];
    const char *words[MAX_OPTIONS] = {t.option};
    ley_status status = options != NULL ? choose_target(nvrtc, info, &t, error)
                                        : ley_fail_memory(error, strlen(source->options), "options");
    snprintf(name, sizeof name, "%s.cu", source->kind->name);
    nvrtcResult code = 0;
    if (status == LEY_OK && (code = nvrtc->create(&program, source->text, name, 0, NULL, NULL)) != 0)
        status = ley_fail(error, LEY_ERROR_DEVICE, "nvrtcCreateProgram of %s: error %d at program.c:%d", name, code,
                          __LINE__);
    if (status == LEY_OK && (code = nvrtc->compile(program, split(options, words, 1), words)) != 0) {
        char *log = compile_log(nvrtc, program);
        status = ley_fail(error, LEY_ERROR_DEVICE, "nvrtcCompileProgram of %s (%s %s): error %d at program.c:%d", name,
                          t.option, source->options, code, __LINE__);
        ley_error_take_compiler_log(error, log);
    }
    if (status == LEY_OK) {
        p->log = compile_log(nvrtc, program);
        status = take_image(nvrtc, program, &t, p, error);
    }
    if (program != NULL)
        nvrtc->destroy(&program);
    free(options);
    return status;
}

/* A kernel specialised to read its first buffer (atoms, or a table of bins) from constant memory
 * has a symbol for it. */
static bool reads_constant(const dev_source *source)
{
    char atoms[32], table[32];
    snprintf(atoms, sizeof atoms, "-DLEY_ATOMS=%d", LEY_ATOMS_CONSTANT);
    snprintf(table, sizeof table, "-DLEY_TABLE=%d", LEY_ATOMS_CONSTANT);
    return kernel_has_option(source->options, atoms) || kernel_has_option(source->options, table);
}

static ley_status load(cuda_dev *d, const dev_source *source, dev_program *p, ley_error *error)
{
    const cuda_driver *api = d->api;
    CUDA_TRY(api, error, api->module_load(&p->module, p->image, 0, NULL, NULL));
    CUDA_TRY(api, error, api->module_function(&p->function, p->module, source->kind->name));
    if (reads_constant(source))
        CUDA_TRY(api, error, api->module_global(&p->constant, &p->constant_bytes, p->module, "cm_first"));
    return LEY_OK;
}

ley_status cuda_build(cuda_dev *d, const dev_source *source, const void *binary, size_t binary_size,
                      dev_program **program, ley_error *error)
{
    char reason[DEV_TEXT];
    dev_program *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "a program");
    p->kind = source->kind;
    p->is_double = kernel_is_double(source->kind, source->spec);
    ley_status status = kernel_check_build(source, error);
    if (status == LEY_OK && binary != NULL) {
        p->image_size = binary_size;
        p->image = calloc(binary_size + 1, 1); /* PTX ends with a NUL, whatever the file said */
        if (p->image != NULL)
            memcpy(p->image, binary, binary_size);
        else
            status = ley_fail_memory(error, binary_size, "a compiled kernel");
    } else if (status == LEY_OK) {
        const cuda_nvrtc *nvrtc = cuda_nvrtc_open(reason, sizeof reason);
        status = nvrtc != NULL ? compile(nvrtc, d->base.info, source, p, error)
                               : ley_fail(error, LEY_ERROR_DEVICE, "%s", reason);
    }
    if (status == LEY_OK)
        status = load(d, source, p, error);
    if (status != LEY_OK) {
        cuda_program_free(d, p);
        return status;
    }
    *program = p;
    return LEY_OK;
}

void cuda_program_free(cuda_dev *d, dev_program *program)
{
    if (program == NULL)
        return;
    if (program->module != NULL)
        d->api->module_unload(program->module);
    free(program->image);
    free(program->log);
    free(program);
}
