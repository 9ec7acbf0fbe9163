"""leyden.average() where it is hardest to be right: against sums over all waves, in double precision."""
import numpy as np
import pytest

import judge
import leyden
from conftest import Topology

DIMS = (12, 10, 11)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def check(engine, x, charges, box, tol, sigma=2.83, **options):
    """The error at the map's points, as a share of the root mean square: it is within the tolerance."""
    x, charges = np.atleast_3d(np.asarray(x, np.float32)).reshape(-1, len(charges), 3), np.asarray(charges, float)
    made = leyden.average(Topology(charges, [(frame, np.array(box, float)) for frame in x]), dims=DIMS, smooth=sigma, tol=tol,
                          engine=engine, **options)
    right = np.mean([judge.on_grid(frame, charges, judge.vectors(box)[0], DIMS, sigma) for frame in x], axis=0)
    assert rms(made.mean.values - right) < tol * rms(right)
    return made


def turned(random):
    return np.linalg.qr(random.normal(size=(3, 3)))[0]


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_charges_that_cancel(engine, tol):
    """Eight charges at the corners of a cube: their potential is far weaker than that of as many elsewhere."""
    random, corners = np.random.default_rng(2), np.array(list(np.ndindex(2, 2, 2)))
    for _ in range(3):
        x = random.uniform(0, 60, 3) + corners @ turned(random)
        made = check(engine, x, (-1.0) ** corners.sum(axis=1), [60, 60, 60, 90, 90, 90], tol)
        assert made.report["expected_error"] <= tol


def test_molecules_on_a_lattice(engine, tmp_path):
    """Short waves of a crystal, which the mesh of other matter would take for long ones."""
    random, n, spacing = np.random.default_rng(1), 14, 1.35
    at = np.array(list(np.ndindex(n, n, n))) * spacing + random.uniform(-0.25, 0.25, (n ** 3, 3))
    along, across = random.normal(size=(2, n ** 3, 3))
    along /= np.linalg.norm(along, axis=1)[:, None]
    across -= (along * across).sum(axis=1)[:, None] * along
    across /= np.linalg.norm(across, axis=1)[:, None]
    x = np.stack([at, at + 0.586 * along + 0.757 * across, at + 0.586 * along - 0.757 * across], axis=1).reshape(-1, 3)
    charges, box, kept = np.tile([-0.834, 0.417, 0.417], n ** 3), [n * spacing] * 3 + [90, 90, 90], tmp_path / "sums"
    made = check(engine, x, charges, box, 1e-4, checkpoint=kept)
    again = check(engine, x, charges, box, 1e-4, checkpoint=kept)
    assert made.report["checked_frames"] == 1 and again.report["resumed_frames"] == 1
    assert np.array_equal(made.mean.values, again.mean.values)
    salt = np.array(list(np.ndindex(8, 8, 8)))
    with pytest.raises(leyden.WrongResult, match="frame 1: the potential is off"):  # floats do not hold what is left of it
        check(engine, 1.4 * salt, (-1.0) ** salt.sum(axis=1), [11.2] * 3 + [90, 90, 90], 1e-4)


@pytest.mark.parametrize("box", [[3, 2.5, 60, 90, 90, 90], [30, 25, 3, 90, 90, 90], [2, 2, 2, 90, 90, 90],
                                 [20, 21, 22, 25, 27, 30], [20, 21, 22, 100, 110, 140]], ids=str)
@pytest.mark.parametrize("kind", ["one", "pair", "many"])
def test_cells(engine, box, kind):
    """Needles, plates, cells shorter than a spline, skewed ones; a charge, two of opposite sign side by side."""
    random = np.random.default_rng(4)
    x, charges = random.uniform(-1, 2, (30, 3)) @ judge.vectors(box)[0], random.uniform(-1, 1, 30)
    if kind == "one":
        x, charges = x[:1], np.ones(1)
    if kind == "pair":
        x, charges = x[0] + np.array([[0, 0, 0], [0.05, 0.03, 0.02]]), np.array([1.0, -1])
    check(engine, x, charges, box, 1e-4)
    check(engine, x, charges, box, 1e-5)


def test_digits_of_negative_sums(engine):
    """Two charges side by side, which leave little of each other, to the last digits."""
    random, box = np.random.default_rng(3), [15, 17, 19, 70, 80, 95]
    for _ in range(3):
        x = random.uniform(0, 1, (1, 3)) @ judge.vectors(box)[0] + np.array([[0, 0, 0], [0.05, 0.03, 0.02]])
        check(engine, x, [1, -1], box, 1e-6)


@pytest.mark.parametrize("edges", [(11.85, 11.6, 11.6), (9, 9.1, 9.2), (20, 20, 20)])
@pytest.mark.parametrize("exact", [False, True])
def test_gaussians_as_wide_as_cells(engine, edges, exact):
    """Little is left of all waves, and most of the longest ones: these are the potential."""
    random = np.random.default_rng(6)
    check(engine, random.uniform(0, 11, (9, 3)), random.uniform(-1, 1, 9), [*edges, 90, 90, 90], 1e-4, sigma=10.0,
          exact_cells=exact)


@pytest.mark.parametrize("amplitude, most", [(1e-2, 1e-3), (1e-3, 1e-2)])
def test_deviation_of_atoms_that_hardly_move(engine, amplitude, most):
    """It is a small difference of large sums: none of their digits is lost."""
    random = np.random.default_rng(8)
    charges, box = random.uniform(-1, 1, 100), np.array([20.0, 21, 22, 90, 90, 90])
    x = (random.uniform(0, 20, (100, 3)) + random.normal(size=(3, 100, 3)) * amplitude).astype(np.float32)
    made = leyden.average(Topology(charges, [(frame, box) for frame in x]), dims=DIMS, deviation=True, engine=engine)
    frames = [judge.on_grid(frame, charges, judge.vectors(box)[0], DIMS, 2.83) for frame in x]
    right = np.std(frames, axis=0, ddof=1)
    assert rms(right) < amplitude * rms(frames)
    assert rms(made.deviation.values - right) < most * rms(right)


def test_cells_that_outgrow_the_mesh(engine):
    """The first frame's cell chooses it: frames whose cells are much larger are verified, and not taken where it shows."""
    random = np.random.default_rng(1)
    charges, s = random.uniform(-1, 1, 80), random.uniform(0, 1, (4, 80, 3))
    charges -= charges.mean()

    def universe(growth):
        boxes = [np.array([20.0, 21, 22, 90, 90, 90]) * ([1 if t == 0 else growth] * 3 + [1] * 3) for t in range(4)]
        return Topology(charges, [((part * box[:3]).astype(np.float32), box) for part, box in zip(s, boxes)])

    made = leyden.average(universe(1.05), dims=DIMS, exact_cells=True, engine=engine)
    assert made.report["checked_frames"] == 1 and made.report["expected_error"] < 1e-4
    grown = leyden.average(universe(1.3), dims=DIMS, exact_cells=True, engine=engine)
    assert grown.report["checked_frames"] == 4 and grown.report["expected_error"] > made.report["expected_error"]
    with pytest.raises(leyden.WrongResult, match="frame 2: the potential is off"):
        leyden.average(universe(2.2), dims=DIMS, exact_cells=True, engine=engine)


def test_a_first_frame_that_is_not_taken(engine):
    """It chooses no mesh."""
    random = np.random.default_rng(5)
    charges, box = random.uniform(-1, 1, 30), np.array([20.0, 21, 22, 90, 90, 90])
    x = random.uniform(0, 20, (3, 30, 3)).astype(np.float32)
    plain = leyden.average(Topology(charges, [(frame, box) for frame in x[1:]]), dims=DIMS, engine=engine)
    x[0, 7] = np.nan
    made = leyden.average(Topology(charges, [(frame, box) for frame in x]), dims=DIMS, skip_bad=True, engine=engine)
    assert made.skipped == 1 and made.report["mesh"] == plain.report["mesh"]
    assert np.array_equal(made.mean.values, plain.mean.values)
