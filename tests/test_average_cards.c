/* What averages do on cards alone: their meshes are others than those of processors, and point
 * charges are done by two plans in turn. Any device makes believe that it is a card. */
#include "some_averages.h"
#include "support.h"

#include "average/state.h"

static ley_engine *engine;

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* Additions of an atom on the mesh that is chosen for a cube of water. */
static double additions(double edge_A, double atoms, bool by_cards)
{
    ley_error error = {0};
    average_mesh m;
    const double cell_A[3][3] = {{edge_A, 0, 0}, {0, edge_A, 0}, {0, 0, edge_A}};
    const mesh_wish wish = {.cell_A = cell_A,
                            .sigma_A = 2.83,
                            .error = 5e-5,
                            .least_k = 2 * M_PI / edge_A,
                            .signal = 1,
                            .atoms = atoms,
                            .by_cards = by_cards};
    assert_ok(average_mesh_choose(&wish, &m, &error));
    print_message("%g A, %s: order %d, %d nodes along each axis, error %.2g\n", edge_A,
                  by_cards ? "cards" : "processors", m.window->points, (int)m.n[0], m.expected_error);
    assert_true(m.expected_error <= wish.error);
    if (by_cards)
        assert_true(8 * average_mesh_nodes(&m) <= 40000000);
    return pow(m.window->points, 3);
}

/* An H100 makes so many additions a second: 400 frames a second of a million atoms and 5,000 of a
 * tenth of it are asked. */
static void cards_have_meshes_of_fewer_additions(void **state)
{
    (void)state;
    const double per_s = 1.75e11;
    assert_true(additions(216, 1.07e6, true) * 1.07e6 < per_s / 400);
    assert_true(additions(108, 92001, true) * 92001 < per_s / 5000);
    assert_true(additions(216, 1.07e6, false) * 1.07e6 > per_s / 400); /* which is why they are others */
}

/* What was begun for devices of one kind goes on by those of another on its own mesh. */
static void checkpoints_keep_their_meshes(void **state)
{
    (void)state;
    ley_error error = {0};
    char *path = path_of("cards.checkpoint");
    walk *w = walk_make(120, 18, 0, 25);
    ley_average_options o = options_of(2);
    o.block_frames = 5;
    ley_average_totals own, other;
    for (int by_cards = 0; by_cards < 2; by_cards++) {
        ley_average *a = average_of(engine, w, &o), *b = average_of(engine, w, &o), *c = average_of(engine, w, &o);
        a->problem.by_cards = by_cards;
        b->problem.by_cards = c->problem.by_cards = !by_cards;
        add_frames(a, w, 0, 10, 10);
        assert_ok(ley_average_save(a, path, &error));
        assert_ok(ley_average_load(b, path, &error));
        add_frames(a, w, 10, 18, 8);
        add_frames(b, w, 10, 18, 8);
        add_frames(c, w, 0, 1, 1);
        assert_ok(ley_average_finish(a, &own, &error));
        assert_ok(ley_average_finish(c, &other, &error));
        assert_true(own.order != other.order && own.mesh[0] != other.mesh[0]);
        assert_ok(ley_average_finish(b, &other, &error));
        assert_true(own.order == other.order && own.mesh[0] == other.mesh[0]);
        const maps right = maps_of(a, false);
        assert_same_maps(&right, maps_of(b, false));
        destroy_maps(&right);
        ley_average_destroy(c);
    }
    free(path);
    free(w);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "averages on cards", .opened = &engine),
                     cards_have_meshes_of_fewer_additions, checkpoints_keep_their_meshes);
}
