/* Surfaces as files of other programs. Numbers are little-endian, or text in the "C" locale. */
#include "core/number.h"
#include "error.h"
#include "io/significant.h"
#include "parallel.h"
#include "surface/triangles.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vertices and triangles are made into bytes by all cores, block by block, and written in order. */
enum { BLOCK_ITEMS = 4096, ITEM_BYTES = 256 };

typedef struct block {
    size_t used;
    char bytes[BLOCK_ITEMS * ITEM_BYTES];
} block;

/* What is written, and where to. A file that fails remembers it until it is committed. */
typedef struct writing {
    const ley_surface *surface;
    const ley_colours *colours;
    const char *comment; /* or NULL */
    ley_file *file;
    block *block; /* takes what is put, at most ITEM_BYTES for each item; NULL: the file does */
} writing;

/* ---- Pieces of files ------------------------------------------------------------------------- */

static void put(writing *w, const void *bytes, size_t size)
{
    if (w->block == NULL) {
        ley_file_write(w->file, bytes, size, NULL);
        return;
    }
    memcpy(w->block->bytes + w->block->used, bytes, size);
    w->block->used += size;
}

static void put_text(writing *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_whole(writing *w, uint64_t value, int bytes)
{
    uint8_t little[8];
    for (int i = 0; i < bytes; i++)
        little[i] = (uint8_t)(value >> 8 * i);
    put(w, little, (size_t)bytes);
}

static void put_float(writing *w, double value)
{
    const float as_float = (float)value;
    uint32_t bits;
    memcpy(&bits, &as_float, sizeof bits);
    put_whole(w, bits, 4);
}

/* Numbers of a line, each behind a blank or what else comes before it. */
static void put_numbers(writing *w, const char *before, const double *value, int n, int digits)
{
    char text[2 + SIGNIFICANT_ROOM];
    for (int i = 0; i < n; i++) {
        char *end = text;
        for (const char *c = i == 0 ? before : " "; *c != '\0'; c++)
            *end++ = *c;
        put(w, text, (size_t)(significant_write(value[i], digits, end) - text));
    }
}

/* The lines of the comment, each behind `before`. */
static void put_comment(writing *w, const char *before)
{
    for (const char *line = w->comment; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        put_text(w, before);
        put(w, line, length);
        put_text(w, "\n");
        line += length + (line[length] == '\n');
    }
}

typedef struct corner {
    double place_A[3], normal[3], value;
    int red, green, blue;
} corner;

static corner corner_at(const writing *w, int64_t i)
{
    const ley_surface *s = w->surface;
    corner c = {.value = (double)s->value[i]};
    const uint32_t colour = w->colours != NULL ? ley_colours_at(w->colours, c.value) : 0xffffff;
    for (int x = 0; x < 3; x++) {
        c.place_A[x] = s->vertex_A[3 * i + x];
        c.normal[x] = (double)s->normal[3 * i + x];
    }
    c.red = colour >> 16 & 255;
    c.green = colour >> 8 & 255;
    c.blue = colour & 255;
    return c;
}

/* ---- Block by block -------------------------------------------------------------------------- */

typedef void put_item(writing *w, int64_t i);

typedef struct blocks {
    writing *to;
    put_item *item;
    int64_t n;
    block *block; /* of each worker */
} blocks;

static void make_block(parallel_order *order, void *context, size_t number, size_t worker)
{
    (void)order;
    const blocks *b = context;
    const int64_t first = (int64_t)number * BLOCK_ITEMS, rest = b->n - first,
                  last = rest < BLOCK_ITEMS ? b->n : first + BLOCK_ITEMS;
    writing w = *b->to;
    w.block = &b->block[worker];
    w.block->used = 0;
    for (int64_t i = first; i < last; i++)
        b->item(&w, i);
}

static bool put_block(void *context, size_t number, size_t worker)
{
    (void)number;
    const blocks *b = context;
    const block *made = &b->block[worker];
    return ley_file_write(b->to->file, made->bytes, made->used, NULL) == LEY_OK;
}

/* All n items. Without memory for blocks one core does it, byte for byte the same. */
static void put_each(writing *w, int64_t n, put_item *item)
{
    const size_t count = (size_t)(n + BLOCK_ITEMS - 1) / BLOCK_ITEMS, cores = (size_t)parallel_cores();
    const size_t workers = cores < count ? cores : count;
    blocks b = {w, item, n, workers > 1 ? malloc(workers * sizeof *b.block) : NULL};
    if (b.block != NULL)
        parallel_in_order(count, workers, make_block, put_block, &b);
    for (int64_t i = 0; b.block == NULL && i < n; i++)
        item(w, i);
    free(b.block);
}

/* ---- PLY ------------------------------------------------------------------------------------- */

/* Programs without a value get 0. */
static double finite_value(const corner *c)
{
    return isfinite(c->value) ? c->value : 0;
}

static void put_ply_header(writing *w, const char *format)
{
    char text[512];
    put_text(w, "ply\nformat ");
    put_text(w, format);
    put_text(w, " 1.0\n");
    put_comment(w, "comment ");
    snprintf(text, sizeof text,
             "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\n"
             "property float ny\nproperty float nz\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
             "property float value\nelement face %lld\nproperty list uchar int vertex_indices\nend_header\n",
             (long long)w->surface->vertices, (long long)w->surface->triangles);
    put_text(w, text);
}

static void put_ply_vertex(writing *w, int64_t i)
{
    const corner c = corner_at(w, i);
    for (int x = 0; x < 3; x++)
        put_float(w, c.place_A[x]);
    for (int x = 0; x < 3; x++)
        put_float(w, c.normal[x]);
    put_whole(w, (uint64_t)(c.red | c.green << 8 | c.blue << 16), 3);
    put_float(w, finite_value(&c));
}

static void put_indices(writing *w, int64_t i)
{
    for (int64_t k = 3 * i; k < 3 * i + 3; k++)
        put_whole(w, (uint64_t)w->surface->triangle[k], 4);
}

static void put_ply_face(writing *w, int64_t i)
{
    put_whole(w, 3, 1);
    put_indices(w, i);
}

static void write_ply(writing *w)
{
    put_ply_header(w, "binary_little_endian");
    put_each(w, w->surface->vertices, put_ply_vertex);
    put_each(w, w->surface->triangles, put_ply_face);
}

static void put_text_vertex(writing *w, int64_t i)
{
    const corner c = corner_at(w, i);
    const double value = finite_value(&c);
    char colour[32];
    put_numbers(w, "", c.place_A, 3, 8);
    put_numbers(w, " ", c.normal, 3, 5);
    snprintf(colour, sizeof colour, " %d %d %d", c.red, c.green, c.blue);
    put_text(w, colour);
    put_numbers(w, " ", &value, 1, 6);
    put_text(w, "\n");
}

static void put_text_face(writing *w, int64_t i)
{
    const int32_t *t = w->surface->triangle + 3 * i;
    char text[64];
    snprintf(text, sizeof text, "3 %d %d %d\n", t[0], t[1], t[2]);
    put_text(w, text);
}

/* PyMOL reads nothing but text. */
static void write_ply_as_text(writing *w)
{
    put_ply_header(w, "ascii");
    put_each(w, w->surface->vertices, put_text_vertex);
    put_each(w, w->surface->triangles, put_text_face);
}

/* ---- OBJ, STL -------------------------------------------------------------------------------- */

static void put_obj_vertex(writing *w, int64_t i)
{
    const corner c = corner_at(w, i);
    const double colour[3] = {c.red / 255.0, c.green / 255.0, c.blue / 255.0};
    put_numbers(w, "v ", c.place_A, 3, 8);
    put_numbers(w, " ", colour, 3, 4);
    put_text(w, "\n");
}

static void put_obj_normal(writing *w, int64_t i)
{
    put_numbers(w, "vn ", corner_at(w, i).normal, 3, 5);
    put_text(w, "\n");
}

static void put_obj_face(writing *w, int64_t i)
{
    const int32_t *t = w->surface->triangle + 3 * i;
    char text[96];
    snprintf(text, sizeof text, "f %d//%d %d//%d %d//%d\n", t[0] + 1, t[0] + 1, t[1] + 1, t[1] + 1, t[2] + 1, t[2] + 1);
    put_text(w, text);
}

static void write_obj(writing *w)
{
    put_comment(w, "# ");
    put_each(w, w->surface->vertices, put_obj_vertex);
    put_each(w, w->surface->vertices, put_obj_normal);
    put_each(w, w->surface->triangles, put_obj_face);
}

static void put_facet(writing *w, int64_t i)
{
    const int32_t *t = w->surface->triangle + 3 * i;
    const corner c[3] = {corner_at(w, t[0]), corner_at(w, t[1]), corner_at(w, t[2])};
    double u[3], v[3], normal[3], length2 = 0;
    for (int x = 0; x < 3; x++) {
        u[x] = c[1].place_A[x] - c[0].place_A[x];
        v[x] = c[2].place_A[x] - c[0].place_A[x];
    }
    for (int x = 0; x < 3; x++) {
        normal[x] = u[(x + 1) % 3] * v[(x + 2) % 3] - u[(x + 2) % 3] * v[(x + 1) % 3];
        length2 += normal[x] * normal[x];
    }
    for (int x = 0; x < 3; x++)
        put_float(w, length2 > 0 ? normal[x] / sqrt(length2) : 0);
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < 3; x++)
            put_float(w, c[k].place_A[x]);
    put_whole(w, 0, 2);
}

static void write_stl(writing *w)
{
    char header[80] = "leyden surface, in Angstrom";
    put(w, header, sizeof header);
    put_whole(w, (uint64_t)w->surface->triangles, 4);
    put_each(w, w->surface->triangles, put_facet);
}

/* ---- glTF ------------------------------------------------------------------------------------ */

/* Colours of glTF are amounts of light. */
static double light_of(int srgb)
{
    const double c = srgb / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

enum { GLB_TEXT = 2048, GLB_VERTEX_BYTES = 4 * 10 };

/* The description of what follows it, of a multiple of four bytes. */
static void describe(const ley_surface *s, char text[GLB_TEXT])
{
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    char bounds[2][3][SIGNIFICANT_ROOM];
    const long long n = s->vertices, corners = 3 * s->triangles;
    for (int64_t i = 0; i < 3 * s->vertices; i++) {
        low[i % 3] = fmin(low[i % 3], (double)(float)s->vertex_A[i]);
        high[i % 3] = fmax(high[i % 3], (double)(float)s->vertex_A[i]);
    }
    for (int x = 0; x < 3; x++) {
        *significant_write(low[x], 9, bounds[0][x]) = '\0';
        *significant_write(high[x], 9, bounds[1][x]) = '\0';
    }
    const int used = snprintf(
        text, GLB_TEXT - 4,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"leyden " LEY_VERSION "\"},\"scene\":0,"
        "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"materials\":[{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.7}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1,\"COLOR_0\":2,\"_VALUE\":3},"
        "\"indices\":4,\"material\":0}]}],\"buffers\":[{\"byteLength\":%lld}],\"bufferViews\":["
        "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":%lld,\"byteStride\":%d,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":34963}],\"accessors\":["
        "{\"bufferView\":0,\"byteOffset\":0,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\","
        "\"min\":[%s,%s,%s],\"max\":[%s,%s,%s]},"
        "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":24,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":36,\"componentType\":5126,\"count\":%lld,\"type\":\"SCALAR\"},"
        "{\"bufferView\":1,\"byteOffset\":0,\"componentType\":5125,\"count\":%lld,\"type\":\"SCALAR\"}]}",
        n * GLB_VERTEX_BYTES + 4 * corners, n * GLB_VERTEX_BYTES, GLB_VERTEX_BYTES, n * GLB_VERTEX_BYTES, 4 * corners,
        n, bounds[0][0], bounds[0][1], bounds[0][2], bounds[1][0], bounds[1][1], bounds[1][2], n, n, n, corners);
    int length = used;
    while (length % 4 != 0)
        text[length++] = ' ';
    text[length] = '\0';
}

static void put_glb_vertex(writing *w, int64_t i)
{
    const corner c = corner_at(w, i);
    for (int x = 0; x < 3; x++)
        put_float(w, c.place_A[x]);
    for (int x = 0; x < 3; x++)
        put_float(w, c.normal[x]);
    put_float(w, light_of(c.red));
    put_float(w, light_of(c.green));
    put_float(w, light_of(c.blue));
    put_float(w, finite_value(&c));
}

static void write_glb(writing *w)
{
    const ley_surface *s = w->surface;
    const uint64_t bytes = (uint64_t)(GLB_VERTEX_BYTES * s->vertices + 12 * s->triangles);
    char text[GLB_TEXT];
    describe(s, text);
    put_text(w, "glTF");
    put_whole(w, 2, 4);
    put_whole(w, 12 + 8 + strlen(text) + 8 + bytes, 4);
    put_whole(w, strlen(text), 4);
    put_text(w, "JSON");
    put_text(w, text);
    put_whole(w, bytes, 4);
    put(w, "BIN", 4);
    put_each(w, s->vertices, put_glb_vertex);
    put_each(w, s->triangles, put_indices);
}

/* ---- Scripts --------------------------------------------------------------------------------- */

static const char cxc_text[] = "open \"%s\"\nset bgColor white\nlighting soft\ngraphics silhouettes true\n";
static const char cmd_text[] = "open stl:%s\nbackground solid white\n";
static const char pml_text[] =
    "bg_color white\n"
    "/import os, pymol\n"
    "/cmd.load(os.path.join(os.path.dirname(getattr(pymol, '__script__', None) or ''), '%s'))\n"
    "zoom\n";

/* ---- All of them ----------------------------------------------------------------------------- */

static const struct {
    const char *ending;
    void (*write)(writing *w); /* of the surface; of a script that of the file beside it */
    const char *script, *beside;
} formats[] = {{".ply", write_ply, NULL, NULL},
               {".obj", write_obj, NULL, NULL},
               {".stl", write_stl, NULL, NULL},
               {".glb", write_glb, NULL, NULL},
               {".cxc", write_glb, cxc_text, ".glb"},
               {".cmd", write_stl, cmd_text, ".stl"},
               {".pml", write_ply_as_text, pml_text, ".ply"}};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const char *ley_surface_ending(size_t i)
{
    return i < FORMAT_COUNT ? formats[i].ending : NULL;
}

static size_t format_of(const char *path)
{
    size_t i = 0;
    while (i < FORMAT_COUNT && !ley_ends_with(path, formats[i].ending))
        i++;
    return i;
}

char *ley_surface_beside(const char *path)
{
    const size_t i = format_of(path), length = strlen(path);
    if (i == FORMAT_COUNT || formats[i].beside == NULL)
        return NULL;
    char *beside = malloc(length + 1);
    if (beside != NULL)
        snprintf(beside, length + 1, "%.*s%s", (int)(length - strlen(formats[i].ending)), path, formats[i].beside);
    return beside;
}

static ley_status write_script(const char *path, const char *script, const char *beside, const volatile bool *cancel,
                               ley_error *error)
{
    writing w = {0};
    const char *folder_end = strrchr(beside, '/'), *name = folder_end != NULL ? folder_end + 1 : beside;
    const char *place = strstr(script, "%s");
    const ley_status status = ley_file_create(path, cancel, &w.file, error);
    if (status != LEY_OK)
        return status;
    put(&w, script, (size_t)(place - script));
    put_text(&w, name);
    put_text(&w, place + 2);
    return ley_file_commit(w.file, error);
}

/* A script names the file beside it, in a language that has no way to say every name. */
static ley_status check_name(const char *path, const char *beside, ley_error *error)
{
    const char *folder_end = beside != NULL ? strrchr(beside, '/') : NULL,
               *name = folder_end != NULL ? folder_end + 1 : beside;
    for (const char *at = name; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || strchr("'\"\\;%$`", *at) != NULL)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "%s: a script cannot load a file of this name; use letters, digits, '.', '-' and '_'",
                            path);
    return LEY_OK;
}

ley_status ley_surface_write(const ley_surface *surface, const char *path, const ley_colours *colours,
                             const char *comment, const volatile bool *cancel, ley_error *error)
{
    const size_t format = format_of(path);
    writing w = {.surface = surface, .colours = colours, .comment = comment};
    if (format == FORMAT_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "%s: surfaces are written as .ply, .obj, .stl or .glb, and with a script as .cxc, .cmd or .pml",
                        path);
    const uint64_t most = (uint64_t)UINT32_MAX - GLB_TEXT - 64;
    if (formats[format].write == write_glb &&
        (uint64_t)(GLB_VERTEX_BYTES * surface->vertices + 12 * surface->triangles) > most)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: a .glb file has less than 4 GiB; .ply holds this surface", path);
    char *beside = ley_surface_beside(path);
    if (beside == NULL && formats[format].beside != NULL)
        return ley_fail_memory(error, strlen(path) + 1, "a file's name");
    ley_status status = check_name(path, beside, error);
    if (status == LEY_OK)
        status = ley_file_create(beside != NULL ? beside : path, cancel, &w.file, error);
    if (status == LEY_OK) {
        formats[format].write(&w);
        status = ley_file_commit(w.file, error);
    }
    if (status == LEY_OK && beside != NULL)
        status = write_script(path, formats[format].script, beside, cancel, error);
    free(beside);
    return status;
}
