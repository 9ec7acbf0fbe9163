#include "io/mrc.h"

#include "core/number.h"
#include "error.h"
#include "io/binary.h"
#include "io/map_comment.h"
#include "io/stored_map.h"
#include "target/map.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of the header, counted from 0; the format's own description counts from 1. */
enum {
    WORDS = MRC_HEADER_BYTES / 4,
    N = 0,     /* columns, rows, sections */
    MODE = 3,  /* how values lie */
    START = 4, /* of columns, rows and sections, in steps from the cell's corner */
    CELL_N = 7,
    CELL_A = 10, /* edges and, in degrees, angles */
    AXES = 16,   /* the cell's axis of columns, of rows, of sections: 1 to 3 */
    RANGE = 19,  /* least, most, mean */
    SPACE_GROUP = 22,
    EXTENDED = 23, /* bytes of another header behind this one */
    VERSION = 27,
    ORIGIN = 49, /* x, y, z, A */
    TAG = 52,    /* "MAP " */
    STAMP = 53,
    DEVIATION = 54,
    LABELS = 55,
    LABEL_TEXT = 56,
    MOST_LABELS = 10,
    LABEL_BYTES = 80,
    VALUES_MODE = 2, /* float32 */
    MRC2014 = 20141,
    /* A volume of a cell without symmetry. 0 would be a stack of pictures, which have no third axis
     * in space. */
    VOLUME = 1
};

static const unsigned char stamp_little[4] = {0x44, 0x44, 0, 0}, stamp_big[4] = {0x11, 0x11, 0, 0};
static const double of_float32 = 0x1p-24, of_seven_digits = 0x1p-23; /* what is rounded to these is off by */
static const double degrees = 180 / 3.14159265358979323846;

/* ---- The cell -------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double angle_degrees(const double a[3], const double b[3])
{
    const double product = dot(a, b);
    return product == 0 ? 90 : acos(product / sqrt(dot(a, a) * dot(b, b))) * degrees;
}

/* A cell is told by its edges and angles, and then lies with a along x and b in the plane of x and
 * y. */
static ley_status check_grid(const ley_grid *l, const char *path, ley_error *error)
{
    static const double most_aside = 1e-7; /* of the step's length: what a float32 does not tell */
    for (int m = 0; m < 3; m++) {
        const double *step_A = l->step_A[m], length_A = sqrt(dot(step_A, step_A));
        bool is_fine = step_A[m] > 0;
        for (int axis = m + 1; axis < 3; axis++)
            is_fine = is_fine && fabs(step_A[axis]) <= most_aside * length_A;
        if (!is_fine)
            return ley_fail(error, LEY_ERROR_INPUT,
                            "%s: an MRC map's first axis must be along +x, its second in the plane of x and y, towards "
                            "+y, its third towards +z: the step along axis %d is (%.6g, %.6g, %.6g) A; names that end "
                            "in .dx, .cube, .npy or .raw are those of formats that hold any steps",
                            path, m + 1, step_A[0], step_A[1], step_A[2]);
    }
    return LEY_OK;
}

static void place_at(const ley_grid *l, const int64_t start[3], double place_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        place_A[axis] = 0;
        for (int m = 0; m < 3; m++)
            place_A[axis] += (double)start[m] * l->step_A[m][axis];
    }
}

/* Whether the point that is so many steps from (0, 0, 0) is this one, where it, and each way along
 * an axis, may be off by this share of itself. */
static bool is_at(const ley_grid *l, const int64_t start[3], const double place_A[3], double off)
{
    double at_A[3];
    place_at(l, start, at_A);
    for (int axis = 0; axis < 3; axis++) {
        double ways_A = fabs(place_A[axis]);
        for (int m = 0; m < 3; m++)
            ways_A += fabs((double)start[m] * l->step_A[m][axis]);
        if (fabs(at_A[axis] - place_A[axis]) > 1e-6 * fabs(l->step_A[axis][axis]) + off * ways_A)
            return false;
    }
    return true;
}

/* How many steps from (0, 0, 0) the grid begins; false: no whole number. The steps are those of
 * a cell: the third one alone goes along z, it and the second along y. */
static bool find_start(const ley_grid *l, int64_t start[3])
{
    double rest_A[3];
    memcpy(rest_A, l->origin_A, sizeof rest_A);
    for (int m = 2; m >= 0; m--) {
        const double steps = round(rest_A[m] / l->step_A[m][m]);
        if (fabs(steps) > INT32_MAX)
            return false;
        start[m] = (int64_t)steps;
        for (int axis = 0; axis < 3; axis++)
            rest_A[axis] -= steps * l->step_A[m][axis];
    }
    return is_at(l, start, l->origin_A, of_seven_digits);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_bits(unsigned char *header, int word, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        header[4 * word + i] = (unsigned char)(bits >> 8 * i);
}

static void put_int(unsigned char *header, int word, int64_t value)
{
    put_bits(header, word, (uint32_t)value);
}

static void put_float(unsigned char *header, int word, double value)
{
    const float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_bits(header, word, bits);
}

static void put_cell(unsigned char *header, const ley_grid *l, bool by_start)
{
    int64_t start[3];
    by_start = by_start && find_start(l, start);
    for (int m = 0; m < 3; m++) {
        put_int(header, N + m, l->n[m]);
        put_int(header, START + m, by_start ? start[m] : 0);
        put_int(header, CELL_N + m, l->n[m]);
        put_int(header, AXES + m, m + 1);
        put_float(header, CELL_A + m, sqrt(dot(l->step_A[m], l->step_A[m])) * (double)l->n[m]);
        put_float(header, CELL_A + 3 + m, angle_degrees(l->step_A[(m + 1) % 3], l->step_A[(m + 2) % 3]));
        put_float(header, ORIGIN + m, by_start ? 0 : l->origin_A[m]);
    }
}

/* What has no place in the labels is left out. */
static void put_labels(unsigned char *header, const ley_map *map, const char *comment)
{
    char first[LABEL_BYTES + MAP_TITLE], title[MAP_TITLE];
    int labels = 0;
    map_title(map, ley_map_units(map), title);
    snprintf(first, sizeof first, "leyden %s: %s", ley_version(), title);
    memset(header + 4 * LABEL_TEXT, ' ', (size_t)MOST_LABELS * LABEL_BYTES);
    memcpy(header + 4 * LABEL_TEXT, first, strnlen(first, LABEL_BYTES));
    for (const char *at = comment != NULL ? comment : ""; *at != '\0' && labels + 1 < MOST_LABELS;) {
        const size_t line = strcspn(at, "\n"), part = line < LABEL_BYTES ? line : LABEL_BYTES;
        unsigned char *label = header + 4 * LABEL_TEXT + ++labels * LABEL_BYTES;
        for (size_t i = 0; i < part; i++)
            label[i] = at[i] >= ' ' && at[i] < 127 ? (unsigned char)at[i] : (unsigned char)at[i] > 127 ? '?' : ' ';
        at += part + (part == line && at[part] == '\n');
    }
    put_int(header, LABELS, labels + 1);
}

static void make_header(unsigned char header[MRC_HEADER_BYTES], const ley_map *map, const value_range *range,
                        const char *comment, bool by_start)
{
    memset(header, 0, MRC_HEADER_BYTES);
    put_cell(header, ley_map_grid(map), by_start);
    put_int(header, MODE, VALUES_MODE);
    put_float(header, RANGE, range->least);
    put_float(header, RANGE + 1, range->most);
    put_float(header, RANGE + 2, range->mean);
    put_float(header, DEVIATION, range->deviation);
    put_int(header, SPACE_GROUP, VOLUME);
    put_int(header, VERSION, MRC2014);
    memcpy(header + 4 * TAG, "MAP ", 4);
    memcpy(header + 4 * STAMP, stamp_little, sizeof stamp_little);
    put_labels(header, map, comment);
}

static ley_status write_map(const ley_map *map, const char *path, const char *comment, bool by_start,
                            const volatile bool *cancel, ley_error *error)
{
    unsigned char header[MRC_HEADER_BYTES];
    value_range range;
    values_file file;
    ley_status status = check_grid(ley_map_grid(map), path, error);
    if (status == LEY_OK)
        status = values_file_check(map, path, error);
    if (status == LEY_OK)
        status = values_file_measure(map, path, &range, error);
    if (status != LEY_OK)
        return status;
    make_header(header, map, &range, comment, by_start);
    status = values_file_open(&file, map, path, header, sizeof header, cancel, error);
    return status == LEY_OK ? values_file_commit(&file, error) : status;
}

ley_status mrc_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                     const volatile bool *cancel, ley_error *error)
{
    (void)facts;
    return write_map(map, path, comment, false, cancel, error);
}

ley_status ccp4_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                      const volatile bool *cancel, ley_error *error)
{
    (void)facts;
    return write_map(map, path, comment, true, cancel, error);
}

ley_status mrc_create(const ley_grid *grid, const char *path, ley_map **map, ley_error *error)
{
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = check_grid(grid, path, error);
    return status == LEY_OK ? stored_map_create(grid, path, MRC_HEADER_BYTES, true, map, error) : status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct mrc_header {
    const char *path;
    unsigned char bytes[MRC_HEADER_BYTES]; /* as they are in the file */
    char remark[512];                      /* what may be meant otherwise; empty: nothing */
    binary_array array;
    ley_grid grid;
    int64_t offset; /* of the values */
    map_origin origin;
} mrc_header;

static int32_t int_at(const mrc_header *h, int word)
{
    const unsigned char *at = h->bytes + 4 * word;
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)at[h->array.is_big_endian ? 3 - i : i] << 8 * i;
    return (int32_t)bits;
}

static float float_at(const mrc_header *h, int word)
{
    const int32_t bits = int_at(h, word);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The shortest decimal number that times `per` is the float32 of this word: of 6.6 A in 20 steps
 * the writer had no other step in mind than 0.33 A. */
static double shortest_at(const mrc_header *h, int word, double per)
{
    const float value = float_at(h, word);
    double found = (double)value / per;
    locale_t old = uselocale(ley_c_locale());
    for (int digits = 6; digits <= 9 && isfinite(value); digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, (double)value / per);
        const double shorter = strtod(text, NULL);
        if ((float)(shorter * per) == value) {
            found = shorter;
            break;
        }
    }
    uselocale(old);
    return found;
}

static void remark(mrc_header *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void remark(mrc_header *h, const char *format, ...)
{
    const size_t used = strlen(h->remark);
    va_list arguments;
    va_start(arguments, format);
    snprintf(h->remark + used, sizeof h->remark - used, "%s", used > 0 ? "; " : "");
    vsnprintf(h->remark + strlen(h->remark), sizeof h->remark - strlen(h->remark), format, arguments);
    va_end(arguments);
}

/* The axes of columns, rows and sections, in this order of bytes. */
static bool is_axes(mrc_header *h, bool is_big_endian)
{
    int seen = 0;
    h->array.is_big_endian = is_big_endian;
    for (int i = 0; i < 3; i++) {
        const int32_t axis = int_at(h, AXES + i);
        seen |= axis >= 1 && axis <= 3 ? 1 << axis : 0;
    }
    return seen == 14;
}

static bool has_no_axes(const mrc_header *h)
{
    return int_at(h, AXES) == 0 && int_at(h, AXES + 1) == 0 && int_at(h, AXES + 2) == 0;
}

static bool has_tag(const mrc_header *h)
{
    return memcmp(h->bytes + 4 * TAG, "MAP", 3) == 0;
}

static bool is_known_mode(int32_t mode)
{
    return (mode >= 0 && mode <= 6) || mode == 12 || mode == 101;
}

/* Axes make sense in one order of bytes only, and so decide; without them the machine stamp does,
 * and without that the number of columns, which is small. Some programs leave the stamp out, or
 * keep that of a file whose bytes they have turned around. Whether there are axes. */
static bool find_order(mrc_header *h)
{
    const unsigned char *stamp = h->bytes + 4 * STAMP;
    const bool is_stamped = stamp[0] == stamp_big[0] || stamp[0] == stamp_little[0];
    const bool is_big = is_axes(h, true), is_little = is_axes(h, false);
    const bool is_big_by_stamp = stamp[0] == stamp_big[0];
    bool decides = is_big != is_little;
    h->array.is_big_endian = decides ? is_big : is_big_by_stamp;
    if (!decides && !is_stamped) {
        h->array.is_big_endian = true;
        const uint32_t columns = (uint32_t)int_at(h, N);
        h->array.is_big_endian = false;
        h->array.is_big_endian = columns < (uint32_t)int_at(h, N);
    }
    if (decides && is_stamped && is_big != is_big_by_stamp)
        remark(h,
               "the machine stamp (word 54) says %s-endian, but the axes (MAPC, MAPR, MAPS, words 17 to 19) are in "
               "the other order of bytes, which was taken",
               is_big_by_stamp ? "big" : "little");
    return decides;
}

/* A header without its axes has columns along x, rows along y and sections along z; one without the
 * word MAP, as files from before 2000, must have axes. */
static ley_status check_tag(mrc_header *h, bool has_axes, ley_error *error)
{
    if (!has_axes && !(has_tag(h) && has_no_axes(h)))
        return has_tag(h)
                   ? ley_fail(error, LEY_ERROR_INPUT,
                              "%s: the axes of columns, rows and sections (MAPC, MAPR, MAPS, words 17 to 19) are "
                              "%d, %d, %d; they must be 1, 2 and 3 in some order, 1, 2, 3 where x is fastest",
                              h->path, int_at(h, AXES), int_at(h, AXES + 1), int_at(h, AXES + 2))
                   : ley_fail(error, LEY_ERROR_INPUT,
                              "%s: no MRC map: neither is the word MAP (word 53) where it should be, nor are "
                              "axes (MAPC, MAPR, MAPS, words 17 to 19)",
                              h->path);
    if (!has_axes)
        remark(h, "the axes (MAPC, MAPR, MAPS, words 17 to 19) are 0: columns were taken for x, rows for y and "
                  "sections for z");
    if (!has_tag(h))
        remark(h, "the word MAP (word 53) is missing, as in files from before 2000");
    return LEY_OK;
}

static ley_status find_type(mrc_header *h, ley_error *error)
{
    static const struct {
        int mode;
        binary_type type;
    } modes[] = {{0, BINARY_INT8}, {1, BINARY_INT16}, {2, BINARY_FLOAT32}, {6, BINARY_UINT16}, {12, BINARY_FLOAT16}};
    const int32_t mode = int_at(h, MODE);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].mode == mode) {
            h->array.type = modes[i].type;
            return LEY_OK;
        }
    return ley_fail(error, LEY_ERROR_INPUT, "%s: values of mode %d (MODE, word 4); only 0, 1, 2, 6 and 12 can be read",
                    h->path, mode);
}

static ley_status find_extent(mrc_header *h, int64_t start[3], ley_error *error)
{
    static const char *const names[] = {"columns (NX, word 1)", "rows (NY, word 2)", "sections (NZ, word 3)"};
    const bool has_axes = !has_no_axes(h);
    for (int i = 0; i < 3; i++) {
        const int axis = has_axes ? int_at(h, AXES + i) - 1 : i, n = int_at(h, N + i);
        if (n < 1)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %d %s", h->path, n, names[i]);
        h->array.axis[i] = axis;
        h->grid.n[axis] = n;
        start[axis] = int_at(h, START + i);
    }
    return LEY_OK;
}

/* Pictures and several volumes are no map in space. */
static ley_status check_kind(const mrc_header *h, ley_error *error)
{
    enum { VOLUMES = 401, LAST_GROUP = 630 };
    const int32_t group = int_at(h, SPACE_GROUP), sections = int_at(h, N + 2), each = int_at(h, CELL_N + 2);
    if (group == 0 && each == 1 && sections > 1)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: %d pictures and no volume, as ISPG (word 23) is 0 and MZ (word 10) is 1; of a volume they "
                        "must be 1 and %d, and CELLA (word 13) as many times as large",
                        h->path, sections, sections);
    if (group >= VOLUMES && group <= LAST_GROUP && each > 0 && sections != each)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: %d sections of volumes of %d each, as ISPG (word 23) is %d; only one volume can be read: "
                        "save each in a file of its own",
                        h->path, sections, each, group);
    return LEY_OK;
}

/* Without a number of steps some programs divide the edge by the number of points, and others take
 * 1 A for a step. */
static ley_status fail_edge(const mrc_header *h, int m, ley_error *error)
{
    const float edge_A = float_at(h, CELL_A + m);
    const int32_t per = int_at(h, CELL_N + m);
    char name = "XYZ"[m];
    if (per < 1)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: M%c (word %d), in how many steps the cell's edge %c of %g A is divided, is %d: write that "
                        "number there, %lld where the edge is that of the map",
                        h->path, name, CELL_N + m + 1, "abc"[m], (double)edge_A, per, (long long)h -> grid.n[m]);
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s: the cell's edge %c (CELLA, word %d) is %g A in %d steps: write there how long it is, the "
                    "step's length times M%c",
                    h->path, "abc"[m], CELL_A + m + 1, (double)edge_A, per, name);
}

static double cosine(double angle)
{
    return angle == 90 ? 0 : cos(angle / degrees);
}

/* Angles that are all 0 are right ones: programs that know no others leave them out. */
static ley_status find_steps(mrc_header *h, ley_error *error)
{
    double length_A[3], angle[3];
    for (int m = 0; m < 3; m++) {
        const int32_t per = int_at(h, CELL_N + m);
        if (!(float_at(h, CELL_A + m) > 0) || per < 1)
            return fail_edge(h, m, error);
        length_A[m] = shortest_at(h, CELL_A + m, per);
        angle[m] = shortest_at(h, CELL_A + 3 + m, 1);
    }
    const bool is_right = angle[0] == 0 && angle[1] == 0 && angle[2] == 0;
    for (int m = 0; m < 3; m++) {
        angle[m] = is_right ? 90 : angle[m];
        if (!(angle[m] > 0 && angle[m] < 180))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "%s: the cell's angles (CELLB, words 14 to 16) are %g, %g and %g degrees", h->path,
                            angle[0], angle[1], angle[2]);
    }
    const double cos_a = cosine(angle[0]), cos_b = cosine(angle[1]), cos_c = cosine(angle[2]);
    const double sin_c = sqrt(1 - cos_c * cos_c), y = (cos_a - cos_b * cos_c) / sin_c, z2 = 1 - cos_b * cos_b - y * y;
    const double direction[3][3] = {{1, 0, 0}, {cos_c, sin_c, 0}, {cos_b, y, sqrt(fmax(z2, 0))}};
    for (int m = 0; m < 3; m++)
        for (int axis = 0; axis < 3; axis++)
            h->grid.step_A[m][axis] = length_A[m] * direction[m][axis] + 0.0; /* never -0 */
    return LEY_OK;
}

static bool is_zero(const double a[3])
{
    return a[0] == 0 && a[1] == 0 && a[2] == 0;
}

/* Of a file without the word MAP words 50 to 52 may be something else, unless a version that knows
 * ORIGIN is told. */
static bool has_origin(const mrc_header *h)
{
    const int32_t version = int_at(h, VERSION);
    return has_tag(h) || (version >= MRC2014 - 1 && version < MRC2014 + 9);
}

static ley_status fail_origin(const mrc_header *h, const double origin_A[3], const char *why, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s: ORIGIN (words 50 to 52) is (%g, %g, %g) A%s; write there where the first point is, or 0 and "
                    "in NXSTART, NYSTART and NZSTART (words 5 to 7) how many steps it is from (0, 0, 0)",
                    h->path, origin_A[0], origin_A[1], origin_A[2], why);
}

/* ORIGIN or NSTART, whichever is not 0; where both tell the same point it is that, told in whole
 * steps, which is exact. Where they differ it is ORIGIN, as programs of electron microscopy have
 * it, which are those that set both. */
static ley_status find_origin(mrc_header *h, const int64_t start[3], ley_error *error)
{
    double origin_A[3], start_A[3];
    place_at(&h->grid, start, start_A);
    for (int axis = 0; axis < 3; axis++)
        origin_A[axis] = shortest_at(h, ORIGIN + axis, 1);
    const bool is_number = isfinite(origin_A[0]) && isfinite(origin_A[1]) && isfinite(origin_A[2]);
    const bool is_there = has_origin(h) || (is_number && is_zero(origin_A)), is_started = !is_zero(start_A);
    if (!is_started && !is_number)
        return fail_origin(h, origin_A, ", which is no place", error);
    if (!is_started && !is_there)
        return fail_origin(
            h, origin_A, ", if that is what it is: the word MAP (word 53), with which it would be, is missing", error);
    if (!is_number || !is_there)
        remark(h, "ORIGIN (words 50 to 52) is (%g, %g, %g) and was not taken: the map begins at NSTART (words 5 to 7)",
               origin_A[0], origin_A[1], origin_A[2]);
    const bool by_start = !is_number || !is_there || is_zero(origin_A);
    const bool is_same = !by_start && is_at(&h->grid, start, origin_A, of_float32);
    if (is_started && !by_start && !is_same)
        remark(h,
               "ORIGIN (words 50 to 52) and NSTART (words 5 to 7) tell two places, (%g, %g, %g) and (%g, %g, %g) A: "
               "ORIGIN was taken, as programs of electron microscopy do",
               origin_A[0], origin_A[1], origin_A[2], start_A[0], start_A[1], start_A[2]);
    for (int axis = 0; axis < 3; axis++)
        h->grid.origin_A[axis] = (by_start || is_same ? start_A[axis] : origin_A[axis]) + 0.0;
    return LEY_OK;
}

static void find_map_origin(mrc_header *h)
{
    const int32_t labels = int_at(h, LABELS);
    for (int32_t i = 0; i < labels && i < MOST_LABELS; i++) {
        char label[LABEL_BYTES + 1] = "";
        memcpy(label, h->bytes + 4 * LABEL_TEXT + i * LABEL_BYTES, LABEL_BYTES);
        map_comment_read(label, &h->origin);
    }
}

static ley_status find_grid(mrc_header *h, ley_error *error)
{
    int64_t start[3] = {0, 0, 0};
    ley_status status = check_tag(h, find_order(h), error);
    if (status == LEY_OK)
        status = find_type(h, error);
    if (status == LEY_OK)
        status = find_extent(h, start, error);
    if (status == LEY_OK)
        status = check_kind(h, error);
    if (status == LEY_OK)
        status = find_steps(h, error);
    if (status == LEY_OK)
        status = find_origin(h, start, error);
    if (status == LEY_OK && (status = ley_grid_check(&h->grid, error)) != LEY_OK)
        ley_error_prefix(error, "%s", h->path);
    return status;
}

/* Where the values begin, and whether the file may hold them. */
static ley_status find_values(mrc_header *h, const ley_stream *stream, ley_error *error)
{
    const int32_t extended = int_at(h, EXTENDED);
    if (extended < 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: an extended header of %d bytes (NSYMBT, word 24)", h->path,
                        extended);
    const int64_t points = ley_grid_points(&h->grid), each = binary_type_bytes(h->array.type);
    const int64_t size = ley_stream_size(stream);
    h->offset = MRC_HEADER_BYTES + (int64_t)extended;
    if (size < 0 ? ley_stream_may_hold(stream, (double)h->offset + (double)points * (double)each)
                 : (size - h->offset) / each >= points)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s: cut short: %s%lld bytes, but headers of %lld and %lld points of %lld bytes are to be there",
                    h->path, size < 0 ? "packed, less than " : "", (long long)(size < 0 ? h->offset : size),
                    (long long)h->offset, (long long)points, (long long)each);
}

static ley_status make_map(mrc_header *h, ley_stream *stream, ley_map **map, ley_error *error)
{
    char text[sizeof h->remark + 256];
    ley_status status = binary_pass(stream, h->offset - MRC_HEADER_BYTES, error);
    if (status == LEY_OK)
        status = binary_make_map(stream, &h->array, &h->grid, &h->origin, BINARY_GOES_ON, map, error);
    if (status == LEY_OK && h->remark[0] != '\0') {
        snprintf(text, sizeof text, "%s: %s", h->path, h->remark);
        map_set_remark(*map, text);
    }
    return status;
}

ley_status mrc_read(ley_stream *stream, ley_map **map, ley_error *error)
{
    mrc_header h = {.path = ley_stream_path(stream)};
    const int64_t size = ley_stream_size(stream);
    if (size >= 0 && size < MRC_HEADER_BYTES)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: %lld bytes, but a header takes %d", h.path,
                        (long long)size, MRC_HEADER_BYTES);
    ley_status status = binary_read(stream, h.bytes, sizeof h.bytes, error);
    if (status == LEY_OK)
        status = find_grid(&h, error);
    if (status == LEY_OK)
        status = find_values(&h, stream, error);
    if (status != LEY_OK)
        return status;
    find_map_origin(&h);
    return make_map(&h, stream, map, error);
}

/* No text is: its first words would be huge numbers. */
bool mrc_is(const unsigned char *bytes, size_t size)
{
    mrc_header h = {.path = ""};
    if (size < MRC_HEADER_BYTES)
        return false;
    memcpy(h.bytes, bytes, sizeof h.bytes);
    const bool has_axes = find_order(&h);
    const int32_t mode = int_at(&h, MODE);
    return is_known_mode(mode) && (has_axes || has_tag(&h));
}
