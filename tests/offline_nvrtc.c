/* Compiles kernels with a given NVRTC, without a card: offline_nvrtc LIBRARY LIST DIRECTORY. A line
 * of LIST is "CAPABILITY KERNEL NAME OPTIONS..."; each becomes DIRECTORY/CAPABILITY-NAME.cubin and
 * a line "CAPABILITY NAME REGISTERS SPILLED_BYTES STACK_BYTES". offline_nvrtc LIBRARY prints its
 * version and, where it tells them, its architectures. Exit code 1 and the compiler's log when one
 * does not compile. */
#include "cuda/driver_api.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 40, MAX_LINE = 1024 };

static char *log_of(const cuda_nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (nvrtc->log_size(program, &size) != 0)
        return NULL;
    char *log = calloc(size + 1, 1);
    if (log != NULL)
        nvrtc->log(program, log);
    return log;
}

/* The number right before `word`, "96 registers"; -1: the word is not there. */
static long number_before(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    if (at == NULL)
        return -1;
    while (at > text && at[-1] == ' ')
        at--;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return strtol(at, NULL, 10);
}

static int keep(const cuda_nvrtc *nvrtc, nvrtcProgram program, const char *directory, const char *capability,
                const char *name)
{
    char path[2048];
    size_t size = 0;
    if (nvrtc->cubin_size == NULL || nvrtc->cubin_size(program, &size) != 0 || size == 0)
        return 0;
    char *image = malloc(size);
    snprintf(path, sizeof path, "%s/%s-%s.cubin", directory, capability, name);
    FILE *out = image != NULL && nvrtc->cubin(program, image) == 0 ? fopen(path, "wb") : NULL;
    int ok = out != NULL && fwrite(image, 1, size, out) == size;
    if (out != NULL)
        ok = fclose(out) == 0 && ok;
    free(image);
    return ok;
}

/* Whether a warning is about anything but a function of the shared headers that this kernel has no
 * use for. */
static int warns(const char *log)
{
    for (const char *at = strstr(log, "warning "); at != NULL; at = strstr(at + 1, "warning "))
        if (strncmp(at, "warning #177-", 13) != 0)
            return 1;
    return 0;
}

static int compile(const cuda_nvrtc *nvrtc, char *line, const char *directory)
{
    const char *words[MAX_OPTIONS + 2];
    int count = 0;
    char *rest = NULL, *text = NULL, architecture[64], file[128];
    const char *capability = strtok_r(line, " \n", &rest), *kernel = strtok_r(NULL, " \n", &rest),
               *name = strtok_r(NULL, " \n", &rest);
    if (name == NULL || source_load(kernel, "cu", &text, NULL) != LEY_OK) {
        printf("FAILED: no such kernel in the list's line\n");
        return 0;
    }
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%s", capability);
    snprintf(file, sizeof file, "%s.cu", kernel);
    words[count++] = architecture;
    words[count++] = "--ptxas-options=-v"; /* its log then tells registers and spills */
    for (char *word; count < MAX_OPTIONS && (word = strtok_r(NULL, " \n", &rest)) != NULL;)
        words[count++] = word;
    nvrtcProgram program = NULL;
    int ok = nvrtc->create(&program, text, file, 0, NULL, NULL) == 0;
    ok = ok && nvrtc->compile(program, count, words) == 0;
    char *log = program != NULL ? log_of(nvrtc, program) : NULL;
    const long registers = log != NULL ? number_before(log, "registers") : -1;
    ok = ok && registers > 0 && keep(nvrtc, program, directory, capability, name);
    if (ok)
        printf("%s %s %ld %ld %ld\n", capability, name, registers, number_before(log, "bytes spill stores"),
               number_before(log, "bytes stack frame"));
    else
        printf("FAILED: %s for %s\n%s\n", name, capability, log != NULL ? log : "no log");
    if (ok && warns(log))
        printf("WARNING: %s for %s\n%s\n", name, capability, log);
    fflush(stdout);
    if (program != NULL)
        nvrtc->destroy(&program);
    free(log);
    free(text);
    return ok;
}

static void tell(const cuda_nvrtc *nvrtc)
{
    int major = 0, minor = 0, count = 0, archs[64];
    nvrtc->version(&major, &minor);
    printf("%d.%d", major, minor);
    if (nvrtc->arch_count != NULL && nvrtc->archs != NULL && nvrtc->arch_count(&count) == 0 && count <= 64 &&
        nvrtc->archs(archs) == 0)
        for (int i = 0; i < count; i++)
            printf(" %d", archs[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    char line[MAX_LINE], reason[256];
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: offline_nvrtc LIBRARY [LIST DIRECTORY]\n");
        return 2;
    }
    setenv("LEYDEN_NVRTC", argv[1], 1);
    const cuda_nvrtc *nvrtc = cuda_nvrtc_open(reason, sizeof reason);
    if (nvrtc == NULL) {
        printf("FAILED: %s: %s\n", argv[1], reason);
        return 1;
    }
    if (argc == 2) {
        tell(nvrtc);
        return 0;
    }
    FILE *list = fopen(argv[2], "r");
    int ok = list != NULL;
    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        ok = compile(nvrtc, line, argv[3]) && ok;
    if (list != NULL)
        fclose(list);
    return ok ? 0 : 1;
}
