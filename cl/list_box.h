/* Boxes of pair lists while they are made. */
#ifndef LEY_LIST_BOX_H
#define LEY_LIST_BOX_H

typedef struct {
    float4 low, high;
} list_box;

LEY_FN void ley_box_clear(list_box *b)
{
    const float far = 1e30f;
    b->low = LEY_FLOAT4(far, far, far, 0);
    b->high = LEY_FLOAT4(-far, -far, -far, 0);
}

/* What is from x - hx to x + hx, and so on, is within. */
LEY_FN void ley_box_add(list_box *b, float x, float y, float z, float hx, float hy, float hz)
{
    b->low = LEY_FLOAT4(LEY_MIN(b->low.x, x - hx), LEY_MIN(b->low.y, y - hy), LEY_MIN(b->low.z, z - hz), 0);
    b->high = LEY_FLOAT4(LEY_MAX(b->high.x, x + hx), LEY_MAX(b->high.y, y + hy), LEY_MAX(b->high.z, z + hz), 0);
}

/* Half of a length, and what rounding may have taken from it. */
LEY_FN float ley_box_half(float low, float high)
{
    return 0.5f * (high - low) + 2.4e-7f * LEY_MAX(LEY_ABS(low), LEY_ABS(high));
}

/* To [6][pitch], as list_boxes.cl has them. */
LEY_FN void ley_box_store(const list_box *b, LEY_GLOBAL float *gm_to, size_t pitch)
{
    const float4 low = b->low, high = b->high;
    gm_to[0] = low.x > high.x ? LEY_AS_FLOAT(0x7fc00000) : 0.5f * (low.x + high.x);
    gm_to[pitch] = 0.5f * (low.y + high.y);
    gm_to[2 * pitch] = 0.5f * (low.z + high.z);
    gm_to[3 * pitch] = ley_box_half(low.x, high.x);
    gm_to[4 * pitch] = ley_box_half(low.y, high.y);
    gm_to[5 * pitch] = ley_box_half(low.z, high.z);
}

#endif
