/* Ways between particles in a cell: x, y, z of float4 rows 0 to 2 are its vectors, and the scalar
 * products of rows 3 to 5 with a way its fractions of them. A dialect header comes first. */
#ifndef LEY_ENERGY_IMAGE_H
#define LEY_ENERGY_IMAGE_H

typedef struct {
    float4 a, b, c, of_a, of_b, of_c;
} image_cell;

LEY_FN image_cell ley_image_cell(LEY_GLOBAL const float4 *gm_cell, size_t frame)
{
    image_cell cell;
    cell.a = gm_cell[6 * frame];
    cell.b = gm_cell[6 * frame + 1];
    cell.c = gm_cell[6 * frame + 2];
    cell.of_a = gm_cell[6 * frame + 3];
    cell.of_b = gm_cell[6 * frame + 4];
    cell.of_c = gm_cell[6 * frame + 5];
    return cell;
}

/* The image whose fractions are within 1/2 of 0: the nearest one of all that are nearer than half
 * of the cell's narrowest width. */
LEY_FN void ley_bring_near(LEY_REFERENCE(image_cell) cell, real *x, real *y, real *z)
{
    const real i = LEY_RINT(*x * cell.of_a.x + *y * cell.of_a.y + *z * cell.of_a.z),
               j = LEY_RINT(*x * cell.of_b.x + *y * cell.of_b.y + *z * cell.of_b.z),
               k = LEY_RINT(*x * cell.of_c.x + *y * cell.of_c.y + *z * cell.of_c.z);
    *x -= i * cell.a.x + j * cell.b.x + k * cell.c.x;
    *y -= i * cell.a.y + j * cell.b.y + k * cell.c.y;
    *z -= i * cell.a.z + j * cell.b.z + k * cell.c.z;
}

/* The nearest of that image and those around it. */
LEY_FN void ley_bring_nearest(LEY_REFERENCE(image_cell) cell, real *x, real *y, real *z)
{
    ley_bring_near(cell, x, y, z);
    const real from_x = *x, from_y = *y, from_z = *z;
    real least = from_x * from_x + from_y * from_y + from_z * from_z;
    ROLLED for (int image = 0; image < 27; image++) {
        const float i = (float)(image % 3 - 1), j = (float)(image / 3 % 3 - 1), k = (float)(image / 9 - 1);
        const real to_x = from_x + (i * cell.a.x + j * cell.b.x + k * cell.c.x),
                   to_y = from_y + (i * cell.a.y + j * cell.b.y + k * cell.c.y),
                   to_z = from_z + (i * cell.a.z + j * cell.b.z + k * cell.c.z),
                   square = to_x * to_x + to_y * to_y + to_z * to_z;
        *x = square < least ? to_x : *x;
        *y = square < least ? to_y : *y;
        *z = square < least ? to_z : *z;
        least = LEY_MIN(least, square);
    }
}

#endif
