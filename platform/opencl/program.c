/* Programs: from source, from a binary, and back. */
#include "../kernel_kind.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole build log, from malloc; NULL when there is none. */
static char *build_log(cl_program program, cl_device_id id)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return NULL;
    char *log = calloc(size + 1, 1);
    if (log != NULL && clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS) {
        free(log);
        return NULL;
    }
    return log;
}

/* The standard's sub-groups are of a later language than all else. */
static const char *language_of(const dev_source *source)
{
    char option[32];
    snprintf(option, sizeof option, "-DLEY_SUB_GROUPS=%d", LEY_SUB_GROUPS_KHR);
    return kernel_has_option(source->options, option) ? "-cl-std=CL3.0" : CL_COMMON_OPTIONS;
}

static ley_status build_program(cl_dev *d, const dev_source *source, cl_program program, ley_error *error)
{
    char options[2048];
    int length = snprintf(options, sizeof options, "%s %s", language_of(source), source->options);
    if (length < 0 || (size_t)length >= sizeof options)
        return ley_fail(error, LEY_ERROR_DEVICE, "build options of %s are too long", source->kind->name);
    cl_int code = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
    if (code == CL_SUCCESS)
        return LEY_OK;
    char *log = build_log(program, d->id);
    ley_status status = ley_fail(error, LEY_ERROR_DEVICE, "clBuildProgram of %s (%s): %s (%d) at program.c:%d",
                                 source->kind->name, options, cl_error_name(code), (int)code, __LINE__);
    ley_error_take_compiler_log(error, log);
    return status;
}

static ley_status create_kernel(cl_dev *d, const dev_source *source, dev_program *program, ley_error *error)
{
    cl_int code;
    ley_status status = build_program(d, source, program->program, error);
    if (status == LEY_OK)
        status = CL_MADE(error, code, program->kernel, clCreateKernel(program->program, source->kind->name, &code));
    return status;
}

ley_status cl_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                    dev_program **program, ley_error *error)
{
    cl_dev *d = (cl_dev *)device;
    dev_program *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "a program");
    const unsigned char *bytes = binary;
    const char *text = source->text;
    cl_int code, binary_code = CL_SUCCESS;
    p->kind = source->kind;
    p->is_double = kernel_is_double(source->kind, source->spec);
    ley_status status = kernel_check_build(source, error);
    if (status == LEY_OK && binary != NULL)
        status = CL_MADE(error, code, p->program,
                         clCreateProgramWithBinary(d->context, 1, &d->id, &binary_size, &bytes, &binary_code, &code));
    else if (status == LEY_OK)
        status = CL_MADE(error, code, p->program, clCreateProgramWithSource(d->context, 1, &text, NULL, &code));
    if (status == LEY_OK)
        status = create_kernel(d, source, p, error);
    if (status != LEY_OK) {
        cl_program_destroy(device, p);
        return status;
    }
    *program = p;
    return LEY_OK;
}

ley_status cl_program_binary(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error)
{
    (void)device;
    size_t bytes = 0;
    CL_TRY(error, clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    if (bytes == 0)
        return ley_fail(error, LEY_ERROR_DEVICE, "the driver hands out no program binary");
    unsigned char *copy = malloc(bytes);
    if (copy == NULL)
        return ley_fail_memory(error, bytes, "a program binary");
    cl_int code = clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, sizeof copy, &copy, NULL);
    if (code != CL_SUCCESS) {
        free(copy);
        return cl_fail(error, code, "clGetProgramInfo(CL_PROGRAM_BINARIES)", __FILE__, __LINE__);
    }
    *binary = copy;
    *size = bytes;
    return LEY_OK;
}

char *cl_program_log(dev *device, dev_program *program)
{
    return build_log(program->program, ((cl_dev *)device)->id);
}

void cl_program_destroy(dev *device, dev_program *program)
{
    if (program == NULL || device->is_lost)
        return;
    if (program->kernel != NULL)
        clReleaseKernel(program->kernel);
    if (program->program != NULL)
        clReleaseProgram(program->program);
    free(program);
}
