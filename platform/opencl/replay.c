/* A program in C and OpenCL C that does what was written down, and needs nothing of ours: for the
 * report of a driver's fault. */
#include "../recorder.h"
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In quotation marks, as C has it. */
static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (const char *c = text; *c != '\0'; c++)
        fprintf(f, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", (unsigned char)*c < ' ' ? ' ' : *c);
    fputc('"', f);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Words; the last one is filled up with zeros. */
static void put_data(FILE *f, const recorder *r, const replay *what)
{
    fprintf(f, "/* What goes to the device, in 32-bit words. */\n");
    for (size_t i = 0; i <= what->op; i++) {
        const recorded *op = &r->all[i];
        if (op->kind != RECORDED_WRITE)
            continue;
        fprintf(f, "static const cl_uint data_%zu[] = {", i);
        for (size_t at = 0; at < op->size; at += 4) {
            uint32_t word = 0;
            memcpy(&word, op->bytes + at, op->size - at < 4 ? op->size - at : 4);
            fprintf(f, "%s0x%x,", at % 32 == 0 ? "\n    " : " ", word);
        }
        fprintf(f, "\n};\n");
    }
}

/* ---- The program ----------------------------------------------------------------------------- */

static const char head[] = "#define CL_TARGET_OPENCL_VERSION 120\n"
                           "#define CL_USE_DEPRECATED_OPENCL_1_2_APIS\n"
                           "#include <CL/cl.h>\n"
                           "\n"
                           "#include <ctype.h>\n"
                           "#include <math.h>\n"
                           "#include <stdio.h>\n"
                           "#include <stdlib.h>\n"
                           "#include <string.h>\n"
                           "\n"
                           "#include \"repro_data.h\"\n"
                           "\n";

static const char choice[] =
    "static cl_device_id device;\n"
    "static cl_context context;\n"
    "static cl_command_queue queues[2]; /* for launches, and for reads */\n"
    "\n"
    "static void check(cl_int code, const char *call)\n"
    "{\n"
    "    if (code == CL_SUCCESS)\n"
    "        return;\n"
    "    printf(\"%s: error %d\\n\", call, (int)code);\n"
    "    exit(2);\n"
    "}\n"
    "\n"
    "/* Whether the text has these words in it, in capitals or not. */\n"
    "static int has(const char *text, const char *words)\n"
    "{\n"
    "    const size_t length = strlen(words);\n"
    "    for (; *text != 0; text++) {\n"
    "        size_t i = 0;\n"
    "        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)words[i]))\n"
    "            i++;\n"
    "        if (i == length)\n"
    "            return 1;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "static int is(const char *text, const char *word)\n"
    "{\n"
    "    return strlen(text) == strlen(word) && has(text, word);\n"
    "}\n"
    "\n"
    "static int says(cl_device_id of, cl_device_info what, const char *words)\n"
    "{\n"
    "    char text[512] = \"\";\n"
    "    clGetDeviceInfo(of, what, sizeof text, text, NULL);\n"
    "    return has(text, words);\n"
    "}\n"
    "\n"
    "/* A number of an OpenCL device, from 0, \"opencl:\" before it or not, as leyden counts them; cpu,\n"
    " * gpu; a part of its name, platform, vendor, driver or version. NULL: that of the report. */\n"
    "static int is_meant(cl_device_id of, unsigned long number, const char *platform, const char *word)\n"
    "{\n"
    "    cl_device_type type = 0;\n"
    "    if (word == NULL)\n"
    "        return says(of, CL_DEVICE_NAME, own_name) && has(platform, own_platform);\n"
    "    if (strlen(word) > 7 && tolower((unsigned char)word[0]) == 'o' && word[6] == ':' && has(word, \"opencl:\"))\n"
    "        word += 7;\n"
    "    if (word[0] != 0 && word[strspn(word, \"0123456789\")] == 0)\n"
    "        return number == strtoul(word, NULL, 10);\n"
    "    clGetDeviceInfo(of, CL_DEVICE_TYPE, sizeof type, &type, NULL);\n"
    "    if (is(word, \"cpu\") || is(word, \"gpu\"))\n"
    "        return (type & (is(word, \"cpu\") ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU)) != 0;\n"
    "    return is(word, \"opencl\") || has(platform, word) || says(of, CL_DEVICE_NAME, word) ||\n"
    "           says(of, CL_DEVICE_VENDOR, word) || says(of, CL_DRIVER_VERSION, word) || says(of, CL_DEVICE_VERSION, "
    "word);\n"
    "}\n"
    "\n"
    "/* The first one that is meant. */\n"
    "static void open_device(const char *word)\n"
    "{\n"
    "    cl_platform_id platforms[64];\n"
    "    cl_device_id devices[64];\n"
    "    cl_uint n_platforms = 0, n_devices;\n"
    "    cl_int code;\n"
    "    unsigned long number = 0;\n"
    "    char name[512] = \"\", platform[512];\n"
    "    static char seen[1 << 14];\n"
    "    size_t used = 0;\n"
    "    clGetPlatformIDs(64, platforms, &n_platforms);\n"
    "    for (cl_uint p = 0; p < n_platforms && p < 64; p++) {\n"
    "        n_devices = 0;\n"
    "        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);\n"
    "        clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &n_devices);\n"
    "        for (cl_uint d = 0; d < n_devices && d < 64 && device == NULL; d++, number++) {\n"
    "            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);\n"
    "            if (is_meant(devices[d], number, platform, word)) {\n"
    "                device = devices[d];\n"
    "                printf(\"%s, %s\\n\", platform, name);\n"
    "            } else if (used < sizeof seen) {\n"
    "                used += (size_t)snprintf(seen + used, sizeof seen - used, \"    %s, %s\\n\", platform, name);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    if (device == NULL) {\n"
    "        printf(\"no device matches '%s'; there %s\\n%s\", word != NULL ? word : own_name,\n"
    "               used > 0 ? \"are:\" : \"are none\", seen);\n"
    "        exit(2);\n"
    "    }\n"
    "    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);\n"
    "    check(code, \"clCreateContext\");\n"
    "    for (int i = 0; i < 2; i++) {\n"
    "        queues[i] = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);\n"
    "        check(code, \"clCreateCommandQueue\");\n"
    "    }\n"
    "}\n"
    "\n";

static const char body[] =
    "static cl_mem buffer(cl_mem_flags flags, size_t size)\n"
    "{\n"
    "    cl_int code;\n"
    "    cl_mem made = clCreateBuffer(context, flags, size, NULL, &code);\n"
    "    check(code, \"clCreateBuffer\");\n"
    "    return made;\n"
    "}\n"
    "\n"
    "/* Of a file's text; `again`: of the binary that this gives. */\n"
    "static cl_kernel kernel(const char *file, const char *name, const char *options, int again)\n"
    "{\n"
    "    static char text[1 << 22];\n"
    "    const char *texts = text;\n"
    "    cl_int code, binary_code;\n"
    "    FILE *f = fopen(file, \"r\");\n"
    "    if (f == NULL) {\n"
    "        perror(file);\n"
    "        exit(2);\n"
    "    }\n"
    "    text[fread(text, 1, sizeof text - 1, f)] = 0;\n"
    "    fclose(f);\n"
    "    cl_program program = clCreateProgramWithSource(context, 1, &texts, NULL, &code);\n"
    "    check(code, \"clCreateProgramWithSource\");\n"
    "    check(clBuildProgram(program, 1, &device, options, NULL, NULL), \"clBuildProgram\");\n"
    "    if (again) {\n"
    "        size_t size = 0;\n"
    "        check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), \"its size\");\n"
    "        unsigned char *binary = malloc(size);\n"
    "        check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), \"its binary\");\n"
    "        program = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary,\n"
    "                                            &binary_code, &code);\n"
    "        check(code, \"clCreateProgramWithBinary\");\n"
    "        check(clBuildProgram(program, 1, &device, options, NULL, NULL), \"clBuildProgram\");\n"
    "    }\n"
    "    cl_kernel made = clCreateKernel(program, name, &code);\n"
    "    check(code, \"clCreateKernel\");\n"
    "    return made;\n"
    "}\n"
    "\n"
    "static unsigned char *read_back(cl_mem memory, size_t offset, size_t size, cl_event after)\n"
    "{\n"
    "    unsigned char *bytes = malloc(size);\n"
    "    check(clEnqueueReadBuffer(queues[after != NULL], memory, CL_TRUE, offset, size, bytes, after != NULL,\n"
    "                              after != NULL ? &after : NULL, NULL),\n"
    "          \"clEnqueueReadBuffer\");\n"
    "    return bytes;\n"
    "}\n"
    "\n"
    "static int judge(double found, double right, double allowed)\n"
    "{\n"
    "    const int is_right = found == right || fabs(found - right) <= allowed || (isnan(found) && isnan(right));\n"
    "    printf(\"read %.17g, right is %.17g, it may be off by %.3g: %s\\n\", found, right, allowed,\n"
    "           is_right ? \"right\" : \"WRONG\");\n"
    "    return !is_right;\n"
    "}\n"
    "\n";

static void put_event(FILE *f, const recorded *op)
{
    if (op->event > 0)
        fprintf(f, "&e%d", op->event);
    else
        fprintf(f, "NULL");
}

static void put_launch(FILE *f, const recorded *op)
{
    for (size_t i = 0; i < op->argument_count; i++) {
        const dev_argument *a = &op->arguments[i];
        if (op->argument_buffers[i] > 0) {
            fprintf(f, "    check(clSetKernelArg(k%d, %zu, sizeof(cl_mem), &b%d), \"clSetKernelArg\");\n", op->program,
                    i, op->argument_buffers[i]);
            continue;
        }
        fprintf(f, "    check(clSetKernelArg(k%d, %zu, %zu, (const unsigned char[]){", op->program, i, a->size);
        for (size_t k = 0; k < a->size; k++)
            fprintf(f, "%s%d", k > 0 ? ", " : "", a->value[k]);
        fprintf(f, "}), \"clSetKernelArg\");\n");
    }
    fprintf(f,
            "    check(clEnqueueNDRangeKernel(queues[0], k%d, 3, NULL, (const size_t[]){%zu, %zu, %zu},\n"
            "                                 (const size_t[]){%zu, %zu, %zu}, 0, NULL, ",
            op->program, op->groups[0] * op->group_size[0], op->groups[1] * op->group_size[1],
            op->groups[2] * op->group_size[2], op->group_size[0], op->group_size[1], op->group_size[2]);
    put_event(f, op);
    fprintf(f, "),\n          \"clEnqueueNDRangeKernel\");\n    clFlush(queues[0]);\n");
}

static void put_step(FILE *f, const recorded *op, size_t i, const recorder *r)
{
    if (op->event > 0)
        fprintf(f, "    cl_event e%d = NULL;\n", op->event);
    switch (op->kind) {
    case RECORDED_BUFFER:
        fprintf(f, "    cl_mem b%d = buffer(%s, %zu);\n", op->buffer,
                op->is_read_only ? "CL_MEM_READ_ONLY" : "CL_MEM_READ_WRITE", op->size);
        return;
    case RECORDED_RELEASE:
        fprintf(f, "    clReleaseMemObject(b%d);\n", op->buffer);
        return;
    case RECORDED_WRITE:
        fprintf(f, "    check(clEnqueueWriteBuffer(queues[0], b%d, CL_TRUE, %zu, %zu, data_%zu, 0, NULL, ", op->buffer,
                op->offset, op->size, i);
        put_event(f, op);
        fprintf(f, "), \"clEnqueueWriteBuffer\");\n");
        return;
    case RECORDED_FILL:
        fprintf(f, "    check(clEnqueueFillBuffer(queues[0], b%d, &(cl_uint){0x%x}, 4, %zu, %zu, 0, NULL, ", op->buffer,
                op->pattern, op->offset, op->size);
        put_event(f, op);
        fprintf(f, "), \"clEnqueueFillBuffer\");\n");
        return;
    case RECORDED_COPY:
        fprintf(f, "    check(clEnqueueCopyBuffer(queues[0], b%d, b%d, %zu, %zu, %zu, 0, NULL, ", op->other, op->buffer,
                op->other_offset, op->offset, op->size);
        put_event(f, op);
        fprintf(f, "), \"clEnqueueCopyBuffer\");\n");
        return;
    case RECORDED_PROGRAM:
        fprintf(f, "    cl_kernel k%d = kernel(\"kernel_%d.cl\", \"%s\", ", op->program, op->program, op->kernel);
        put_quoted(f, r->own->common_options);
        fprintf(f, " \" \" ");
        put_quoted(f, op->options);
        fprintf(f, ", %d);\n", op->is_binary);
        return;
    case RECORDED_LAUNCH:
        put_launch(f, op);
        return;
    case RECORDED_READ:
        fprintf(f, "    unsigned char *r%zu = read_back(b%d, %zu, %zu, ", i, op->buffer, op->offset, op->size);
        if (op->after > 0)
            fprintf(f, "e%d);\n", op->after);
        else
            fprintf(f, "NULL);\n");
        return;
    }
}

/* A number as C has it, also one that is none. */
static void put_number(FILE *f, double value)
{
    if (isnan(value))
        fprintf(f, "NAN");
    else if (isinf(value))
        fprintf(f, "%sINFINITY", value < 0 ? "-" : "");
    else
        fprintf(f, "%.17g", value);
}

static void put_program(FILE *f, const recorder *r, const replay *what)
{
    static const char *const types[] = {[REPLAY_FLOAT] = "float", [REPLAY_DOUBLE] = "double", [REPLAY_INT] = "cl_int"};
    _Static_assert(sizeof types / sizeof *types == REPLAY_KINDS, "a type for each kind");
    fprintf(f, "/* A value that %s computes wrongly (driver %s, %s):\n *\n *     %s\n *\n", what->info->name,
            what->info->driver, what->info->platform, what->message);
    fprintf(f,
            " *     cc repro.c -o repro -lOpenCL -lm && ./repro [DEVICE]\n *\n"
            " * Exit code 0: it is right; 1: it is wrong; 2: something else failed. %s. */\n",
            what->title);
    fputs(head, f);
    fprintf(f, "static const char own_name[] = ");
    put_quoted(f, what->info->name);
    fprintf(f, ", own_platform[] = ");
    put_quoted(f, what->info->platform);
    fprintf(f, ";\n");
    fputs(choice, f);
    fputs(body, f);
    fprintf(f, "int main(int argc, char **argv)\n{\n    open_device(argc > 1 ? argv[1] : NULL);\n");
    for (size_t i = 0; i <= what->op; i++)
        put_step(f, &r->all[i], i, r);
    fprintf(f, "    %s value;\n    memcpy(&value, r%zu + %zu, sizeof value);\n    return judge((double)value, ",
            types[what->kind], what->op, what->offset);
    put_number(f, what->right);
    fprintf(f, ", ");
    put_number(f, what->allowed);
    fprintf(f, ");\n}\n");
}

char *cl_replay(const recorder *r, const replay *what, bool is_data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        return NULL;
    if (is_data)
        put_data(f, r, what);
    else
        put_program(f, r, what);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}
