/* What averages do on cards alone: their meshes are others than those of processors, and point
 * charges are done by two plans in turn. Any device makes believe that it is a card. */
#include "some_averages.h"
#include "support.h"

#include "average/bare.h"
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

/* ---- Two plans ------------------------------------------------------------------------------- */

/* Point charges by one plan, or by two in turn, as on cards; so many frames at once. */
static maps bare_maps(walk *w, const ley_average_options *o, bool in_turn, int at_once)
{
    ley_error error = {0};
    ley_average_totals totals;
    ley_average *a = average_of(engine, w, o);
    a->on_cards = in_turn;
    add_frames(a, w, 0, w->frames, at_once);
    assert_ok(ley_average_finish(a, &totals, &error));
    const bare_counts counts = bare_count(a);
    print_message("%d of %d frames by a second plan, %d prepared, %d checked: %.2g\n", (int)counts.in_turn, w->frames,
                  (int)counts.prepared, (int)totals.checked_frames, totals.relative_rms);
    assert_true(in_turn ? counts.in_turn >= w->frames / 5 : counts.in_turn == 0);
    assert_int_equal(counts.prepared, 3);
    assert_int_equal(totals.frames, w->frames);
    assert_true(totals.checked_frames > 0 && totals.relative_rms < 1e-4);
    return maps_of(a, true);
}

/* The same with all that may come in between: what is cancelled, maps and a checkpoint, from which
 * it goes on. */
static maps interrupted_bare_maps(walk *w, const ley_average_options *o, bool in_turn)
{
    ley_error error = {0};
    char *path = path_of("bare.checkpoint");
    ley_average *a = average_of(engine, w, o);
    a->on_cards = in_turn;
    add_frames(a, w, 0, 12, 1); /* the second plan is at the twelfth */
    ley_average_cancel(a);
    assert_error(ley_average_add(a, 5, frame_of(w, 12), w->cell_A[12], &error), LEY_CANCELLED, "cancelled");
    add_frames(a, w, 12, 16, 1);
    ley_map_destroy(map_of(a, LEY_AVERAGE_MEAN));
    assert_ok(ley_average_save(a, path, &error));
    assert_true((bare_count(a).in_turn > 0) == in_turn);
    ley_average_destroy(a);
    a = average_of(engine, w, o);
    a->on_cards = in_turn;
    assert_ok(ley_average_load(a, path, &error));
    add_frames(a, w, 16, w->frames, 2);
    free(path);
    return maps_of(a, true);
}

/* 32 frames in one cell, as many in another; for some of the latter the charges, of pairs that are
 * close from then on, make a potential so much weaker that it takes a finer mesh. */
static walk *pairs_walk(int close_from)
{
    walk *w = walk_make(60, 64, 0, 9);
    for (int i = 0; i < w->atoms; i++)
        w->charge_e[i] = i % 2 == 0 ? 0.7 : -0.7;
    for (int f = 32; f < w->frames; f++)
        for (int k = 0; k < 9; k++)
            w->cell_A[f][k] *= 1.01;
    for (int f = close_from; f < w->frames; f++)
        for (int i = 3; i < 3 * w->atoms; i++)
            if (i / 3 % 2 == 1)
                frame_of(w, f)[i] = frame_of(w, f)[i - 3] + (i % 3 == 0 ? 0.05F : 0);
    return w;
}

static maps all_maps(walk *w, const ley_average_options *o, bool in_turn, int which)
{
    return which < 2 ? bare_maps(w, o, in_turn, which == 0 ? 1 : w->frames) : interrupted_bare_maps(w, o, in_turn);
}

/* What is prepared anew on the way, for another cell or weaker values, is so for both, whichever
 * plan had the frame. What a machine that is busy has measured may change what is chosen: the runs
 * of one plan before and after have to be the same for once. */
static void two_plans_make_the_same_bytes(void **state)
{
    enum { TRIES = 8 };
    (void)state;
    ley_average_options o = options_of(0);
    o.deviation = true;
    o.block_frames = 10;
    for (int which = 0; which < 3; which++) {
        walk *w = pairs_walk(53 + which % 2);
        maps before = all_maps(w, &o, false, which);
        bool is_steady = false;
        for (int i = 0; i < TRIES && !is_steady; i++) {
            maps in_turn = all_maps(w, &o, true, which), after = all_maps(w, &o, false, which);
            is_steady = are_same_maps(&before, &after);
            if (is_steady)
                assert_true(are_same_maps(&before, &in_turn));
            destroy_maps(&in_turn);
            destroy_maps(&before);
            before = after;
        }
        assert_true(is_steady);
        destroy_maps(&before);
        free(w);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "averages on cards", .opened = &engine),
                     cards_have_meshes_of_fewer_additions, checkpoints_keep_their_meshes,
                     two_plans_make_the_same_bytes);
}
