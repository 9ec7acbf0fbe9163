/* Cells that look too small for their atoms: most often their lengths are in nm. */
#include "leyden.h"
#include "numerics/cell.h"
#include "source/atoms.h"

#include <math.h>
#include <stdio.h>

/* Atoms that are wrapped into a cell reach over one edge, molecules that are kept whole over less
 * than two. */
static const double most_edges = 2, edges_of_nm = 5;

/* What the atoms, or of a part the whole molecule's sample, reach over along the cell's vectors, in
 * edges; 0 where it is not periodic. */
static void reaches(const ley_atoms *atoms, const cell *c, double reach[3])
{
    const bool is_part = ley_atoms_part(atoms) != NULL;
    const atoms_sample known = ley_atoms_sample(atoms);
    const double *position_A = is_part ? known.position_A : ley_atoms_positions_A(atoms);
    const size_t n = is_part ? known.count : ley_atoms_count(atoms);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        double at[3];
        cell_components(c, position_A + 3 * i, at);
        for (int m = 0; m < 3; m++) {
            low[m] = fmin(low[m], at[m]);
            high[m] = fmax(high[m], at[m]);
        }
    }
    for (int m = 0; m < 3; m++)
        reach[m] = c->periodic[m] ? high[m] - low[m] : 0;
}

bool ley_atoms_cell_remark(const ley_atoms *atoms, const bool periodic[3], const double cell_A[3][3], char *text,
                           size_t size)
{
    cell c;
    double reach[3];
    bool is_nm = true;
    int widest = 0;
    snprintf(text, size, "%s", "");
    if (cell_make(periodic, cell_A, &c, NULL) != LEY_OK || c.dimensions == 0)
        return false;
    reaches(atoms, &c, reach);
    for (int m = 0; m < 3; m++) {
        is_nm = is_nm && (!c.periodic[m] || reach[m] > edges_of_nm);
        widest = reach[m] > reach[widest] ? m : widest;
    }
    const double edge_A = cell_length(c.vector_A[widest]);
    if (!(reach[widest] > most_edges))
        return false;
    snprintf(text, size,
             "the cell's edge %c is %.6g A, and the atoms reach over %.3g A along it, %.2g times as far; %s",
             'a' + widest, edge_A, reach[widest] * edge_A, reach[widest],
             is_nm ? "if its lengths are in nm, give them in A, 10 times as many"
                   : "molecules that are wrapped or whole stay within two edges: are cell and atoms of one system, "
                     "both in A?");
    return true;
}
