/* How large types are and where the fields of structs lie, as this compiler has them; and what
 * arrives of arguments of every kind. A single work-item writes
 *
 *     gm_sizes   LEY_ECHO; the sizes of scalar, real, atom, sixteen, int2, int4, float2, float4, of
 *                an atom with its cell and where the cell lies, of a segment and of a level; where
 *                the fields of these two lie; `number`; `ints`; the bits of *gm_row; what comes of
 *                each of `ints` and of `number` by the operations on integers that kernels use, and
 *                of each of `four` that becomes an integer
 *     gm_values  `one`; `four`; `many`; a float whose lowest bit was turned over; a number that is
 *                rounded to a float */
#include "dialect.h"
#include "placed.h"

#define FIELD_OF_STRUCT(field) int field;
typedef struct {
    LEY_SEGMENT_FIELDS(FIELD_OF_STRUCT)
} segment;

typedef struct {
    LEY_LEVEL_FIELDS(FIELD_OF_STRUCT)
} level;

#define OFFSET_OF(object, field) ((int)((const char *)&(object).field - (const char *)&(object)))

LEY_KERNEL structs(LEY_PARAMETERS(LEY_STRUCTS_ARGUMENTS))
{
    int at = 0;
    placed p;
    segment s;
    level l;
    gm_sizes[at++] = LEY_ECHO;
    gm_sizes[at++] = (int)sizeof(scalar);
    gm_sizes[at++] = (int)sizeof(real);
    gm_sizes[at++] = (int)sizeof(atom);
    gm_sizes[at++] = (int)sizeof(sixteen);
    gm_sizes[at++] = (int)sizeof(int2);
    gm_sizes[at++] = (int)sizeof(int4);
    gm_sizes[at++] = (int)sizeof(float2);
    gm_sizes[at++] = (int)sizeof(float4);
    gm_sizes[at++] = (int)sizeof(placed);
    gm_sizes[at++] = OFFSET_OF(p, cell);
    gm_sizes[at++] = (int)sizeof(segment);
    gm_sizes[at++] = (int)sizeof(level);
#define TELL_SEGMENT(field) gm_sizes[at++] = OFFSET_OF(s, field);
    LEY_SEGMENT_FIELDS(TELL_SEGMENT)
#define TELL_LEVEL(field) gm_sizes[at++] = OFFSET_OF(l, field);
    LEY_LEVEL_FIELDS(TELL_LEVEL)
    gm_sizes[at++] = number;
    gm_sizes[at++] = ints.x;
    gm_sizes[at++] = ints.y;
    gm_sizes[at++] = ints.z;
    gm_sizes[at++] = ints.w;
    gm_sizes[at++] = LEY_AS_INT(gm_row[0].x);
    gm_sizes[at++] = LEY_AS_INT(gm_row[0].y);
    gm_sizes[at++] = LEY_AS_INT(gm_row[0].z);
    gm_sizes[at++] = LEY_AS_INT(gm_row[0].w);
#define TELL_INTEGERS(i) \
    gm_sizes[at++] = LEY_COUNT_BITS((unsigned)(i)); \
    gm_sizes[at++] = LEY_LOWEST_BIT((unsigned)(i)); \
    gm_sizes[at++] = (int)((unsigned)(i) * (unsigned)number); \
    gm_sizes[at++] = (int)((size_t)(unsigned)(i) * (unsigned)number >> 32); \
    gm_sizes[at++] = (i) / (number / 1000); \
    gm_sizes[at++] = (i) % (number / 1000); \
    gm_sizes[at++] = (i) >> number % 8; \
    gm_sizes[at++] = (int)((unsigned)(i) >> number % 8); \
    gm_sizes[at++] = min(i, number); \
    gm_sizes[at++] = max(i, number);
    TELL_INTEGERS(ints.x)
    TELL_INTEGERS(ints.y)
    TELL_INTEGERS(ints.z)
    TELL_INTEGERS(ints.w)
#define TELL_ROUNDED(x) \
    gm_sizes[at++] = (int)(x); \
    gm_sizes[at++] = (int)floor(x);
    TELL_ROUNDED(four.x)
    TELL_ROUNDED(four.y)
    TELL_ROUNDED(four.z)
    TELL_ROUNDED(four.w)
    LEY_GLOBAL scalar *values = (LEY_GLOBAL scalar *)gm_values;
    values[0] = one;
    values[1] = four.x;
    values[2] = four.y;
    values[3] = four.z;
    values[4] = four.w;
    values[5] = many.s0;
    values[6] = many.s1;
    values[7] = many.s2;
    values[8] = many.s3;
    values[9] = many.s4;
    values[10] = many.s5;
    values[11] = many.s6;
    values[12] = many.s7;
    values[13] = many.s8;
    values[14] = many.s9;
    values[15] = many.sa;
    values[16] = many.sb;
    values[17] = many.sc;
    values[18] = many.sd;
    values[19] = many.se;
    values[20] = many.sf;
    values[21] = LEY_AS_FLOAT(LEY_AS_INT(gm_row[0].y) ^ 1);
    values[22] = (float)(one + (scalar)1.1175870895385742e-8f); /* three quarters of a float's last place */
}
