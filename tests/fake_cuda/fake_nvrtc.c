/* NVRTC that compiles nothing: an image is the architecture, the kernel's name and its -D options,
 * which fake_cuda.c reads. FAKE_NVRTC: "archs=90" the one architecture it knows; "count=1" how many
 * it says it knows; "hide=1" it fails to list them; "fail=1" no dcs compiles; "remark=1" it has
 * something to say of each kernel. */
#include "../../platform/cuda/driver_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#define DECLARE(field, symbol, needed, arguments) nvrtcResult symbol arguments;
CUDA_NVRTC_TABLE(DECLARE)
int fake_nvrtc_live(void);
#pragma GCC visibility pop

enum { INVALID_INPUT = 3, INVALID_OPTION = 5, COMPILATION = 6, LOG_LINES = 400 };

struct _nvrtcProgram {
    char kernel[32], architecture[32];
    char options[1024];
    char log[LOG_LINES * 32];
};

static int live; /* atomic: two devices compile at once */

int fake_nvrtc_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

static int number(const char *key, int fallback)
{
    const char *all = getenv("FAKE_NVRTC"), *at = all != NULL ? strstr(all, key) : NULL;
    return at != NULL ? atoi(at + strlen(key) + 1) : fallback;
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = 12;
    *minor = 4;
    return 0;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headers,
                               const char *const *header_texts, const char *const *header_names)
{
    (void)headers, (void)header_texts, (void)header_names;
    nvrtcProgram p = calloc(1, sizeof *p);
    snprintf(p->kernel, sizeof p->kernel, "%.*s", (int)strcspn(name, "."), name);
    if (strstr(source, "__global__") == NULL || strstr(source, p->kernel) == NULL ||
        strstr(source, "#include") != NULL) {
        free(p);
        return INVALID_INPUT;
    }
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    *program = p;
    return 0;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    free(*program);
    *program = NULL;
    return 0;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    static const char prefix[] = "--gpu-architecture=";
    size_t used = 0, logged = 0;
    for (int i = 0; i < count; i++)
        if (strncmp(options[i], prefix, sizeof prefix - 1) == 0)
            snprintf(program->architecture, sizeof program->architecture, "%s", options[i] + sizeof prefix - 1);
        else
            used += (size_t)snprintf(program->options + used, sizeof program->options - used, " %s", options[i]);
    for (int line = 1; number("fail", 0) && strcmp(program->kernel, "dcs") == 0 && line <= LOG_LINES; line++)
        logged +=
            (size_t)snprintf(program->log + logged, sizeof program->log - logged, "line %d: the fake compiler\n", line);
    if (logged > 0)
        return COMPILATION;
    if (number("remark", 0))
        snprintf(program->log, sizeof program->log, "a remark on %s\n", program->kernel);
    return strchr(program->architecture, '_') != NULL &&
                   atoi(strchr(program->architecture, '_') + 1) >= number("archs", 90)
               ? 0
               : INVALID_OPTION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return 0;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    strcpy(log, program->log);
    return 0;
}

static int print(nvrtcProgram program, char *image, size_t size)
{
    return snprintf(image, size, "fake image\n%s\n%s\n%s\n", program->architecture, program->kernel, program->options) +
           1;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
    *size = (size_t)print(program, NULL, 0);
    return 0;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    print(program, ptx, (size_t)print(program, NULL, 0));
    return 0;
}

/* 0 bytes for an architecture that is not a card's own, as NVRTC has it. */
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    *size = strncmp(program->architecture, "sm_", 3) == 0 ? (size_t)print(program, NULL, 0) : 0;
    return 0;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
    if (strncmp(program->architecture, "sm_", 3) == 0)
        print(program, cubin, (size_t)print(program, NULL, 0));
    return 0;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = number("count", 1);
    return 0;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
    if (number("hide", 0))
        return INVALID_INPUT;
    for (int i = 0; i < number("count", 1); i++)
        archs[i] = number("archs", 90);
    return 0;
}
