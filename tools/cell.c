#include "cell.h"
#include "console.h"
#include "pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Exact where the cosine is a short number: a cell with right angles has axes along x, y and z. */
static double cos_degrees(double angle)
{
    return angle == 90 ? 0 : angle == 60 ? 0.5 : angle == 120 ? -0.5 : cos(angle * acos(-1) / 180);
}

/* a along x, b in the xy plane, as in PDB files. */
static int set_triclinic(const subcommand *command, const double number[6], double vector_A[3][3])
{
    const double *length_A = number;
    for (int i = 0; i < 3; i++)
        if (!(number[3 + i] > 0 && number[3 + i] < 180))
            return fail_usage(command, "--cell: an angle of %.15g degrees, it must be between 0 and 180",
                              number[3 + i]);
    const double cos_a = cos_degrees(number[3]), cos_b = cos_degrees(number[4]), cos_c = cos_degrees(number[5]);
    const double sin_c = sqrt(1 - cos_c * cos_c), along_b = (cos_a - cos_b * cos_c) / sin_c;
    const double height2 = 1 - cos_b * cos_b - along_b * along_b;
    if (!(height2 > 1e-12))
        return fail_usage(command, "--cell: no cell has the angles %.15g, %.15g and %.15g degrees", number[3],
                          number[4], number[5]);
    const double cell[3][3] = {{length_A[0], 0, 0},
                               {length_A[1] * cos_c, length_A[1] * sin_c, 0},
                               {length_A[2] * cos_b, length_A[2] * along_b, length_A[2] * sqrt(height2)}};
    memcpy(vector_A, cell, sizeof cell);
    return 0;
}

int cell_parse(const subcommand *command, const char *text, double vector_A[3][3])
{
    double number[9];
    int n = 0;
    char *copy = copy_of(text), *rest = copy;
    bool good = true;
    for (char *piece; good && (piece = next_piece(&rest)) != NULL; n++)
        good = n < 9 && read_real(piece, &number[n]) && fabs(number[n]) <= 1e8;
    free(copy);
    if (!good || (n != 3 && n != 6 && n != 9))
        return fail_usage(command,
                          "--cell takes 3 numbers separated by commas (a,b,c), 6 (a,b,c,alpha,beta,gamma) or 9 (three "
                          "vectors), up to 1e8, "
                          "not '%.200s'",
                          text);
    for (int i = 0; i < 3 && n < 9; i++)
        if (!(number[i] > 0))
            return fail_usage(command, "--cell: a length of %.15g A, it must be above 0", number[i]);
    memset(vector_A, 0, 9 * sizeof **vector_A);
    if (n == 6)
        return set_triclinic(command, number, vector_A);
    for (int i = 0; i < n; i++) {
        if (n == 9)
            vector_A[i / 3][i % 3] = number[i];
        else
            vector_A[i][i] = number[i];
    }
    return 0;
}

bool cell_is_periodic(const periodic_cell *cell)
{
    return cell->periodic[0] || cell->periodic[1] || cell->periodic[2];
}

double cell_volume_A3(const periodic_cell *cell)
{
    const double(*v)[3] = cell->vector_A;
    double volume = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        volume += v[0][i] * (v[1][j] * v[2][k] - v[1][k] * v[2][j]);
        if (!cell->periodic[i])
            return INFINITY;
    }
    return fabs(volume);
}

char *cell_from_nm(const char *text)
{
    int numbers = 1, n = 0;
    for (const char *c = text; *c != '\0'; c++)
        numbers += *c == ',';
    char *copy = copy_of(text), *rest = copy, *scaled = allocate(32 * (size_t)numbers, 1);
    for (char *piece; (piece = next_piece(&rest)) != NULL; n++) {
        const bool is_angle = numbers == 6 && n >= 3;
        sprintf(scaled + strlen(scaled), "%s%.12g", n > 0 ? "," : "", (is_angle ? 1 : 10) * strtod(piece, NULL));
    }
    free(copy);
    return scaled;
}

void cell_put(FILE *to, const periodic_cell *cell)
{
    if (!cell_is_periodic(cell))
        return;
    fputs("cell:", to);
    for (int i = 0; i < 3; i++)
        fprintf(to, "%s %c (%.15g, %.15g, %.15g)", i > 0 ? "," : "", 'a' + i, cell->vector_A[i][0],
                cell->vector_A[i][1], cell->vector_A[i][2]);
    fputs(" A, periodic along", to);
    for (int i = 0; i < 3; i++)
        if (cell->periodic[i])
            fprintf(to, " %c", 'a' + i);
    fputc('\n', to);
}

json_t *cell_json(const periodic_cell *cell)
{
    json_t *vectors = json_array();
    for (int i = 0; i < 3; i++)
        json_add(vectors, json_numbers(cell->vector_A[i], 3));
    return vectors;
}
