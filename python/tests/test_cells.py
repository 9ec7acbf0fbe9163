"""Cells that atoms carry: used, left aside aloud, and looked at."""
import os
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import Topology, Trajectory, coulomb, ewald

import leyden
from leyden._cell import Cell

TRICLINIC = (21.0, 20.0, 22.0, 75.0, 95.0, 110.0)


def inner(n, seed=5):
    """Points in the middle of what the fixture's charges are around."""
    return np.random.default_rng(seed).uniform(-9, 9, (n, 3))


def off_by(found, expected):
    return np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected ** 2))


def test_vectors_of_angles():
    """As the lengths and the angles between them say, a along x and b in the plane of x and y."""
    vectors = leyden.Atoms.from_arrays([[0, 0, 0]], [1], cell=TRICLINIC).cell
    found = np.linalg.norm(vectors, axis=1)
    angles = [np.degrees(np.arccos(vectors[i] @ vectors[k] / (found[i] * found[k]))) for i, k in ((1, 2), (0, 2), (0, 1))]
    assert np.allclose(found, TRICLINIC[:3]) and np.allclose(angles, TRICLINIC[3:])
    assert vectors[0, 1] == vectors[0, 2] == vectors[1, 2] == 0 and np.all(np.diag(vectors) > 0)
    assert not vectors.flags.writeable


def test_atoms_carry_their_cell(charges):
    x, q, r = charges
    assert leyden.Atoms.from_arrays(x, q, r).cell is None
    atoms = leyden.Atoms.from_arrays(x, q, r, cell=(20, 21, 22), residues=np.arange(60) // 3)
    again = pickle.loads(pickle.dumps(atoms))
    for one in (atoms, again):
        assert np.array_equal(one.cell, np.diag([20, 21, 22])) and np.array_equal(one.residues, np.arange(60) // 3)
    assert repr(atoms).endswith("cell of 20 x 21 x 22 A>")
    made = leyden.Atoms.from_mdanalysis(Topology(q, [(x, np.float32([20, 21, 22, 90, 90, 90]))], resindices=np.arange(60)),
                                        radii=r)
    assert np.array_equal(made.cell, atoms.cell) and made.residues[-1] == 59
    for none in (None, np.zeros(6)):
        assert leyden.Atoms.from_mdanalysis(Topology(q, [(x, none)]), radii=r).cell is None
    slab = leyden.Atoms.from_mdanalysis(Topology(q, [(x, [20, 21, 0, 90, 90, 90])]), radii=r)
    assert np.array_equal(slab.cell, np.diag([20, 21, 0]))
    assert Cell.of(None, None, slab.cell).periodic == (True, True, False)
    for wrong in ((20, 0, 20), (20, 20), (20, 20, 20, 30, 30, 90), np.ones((3, 2))):
        with pytest.raises(leyden.Error, match="cell"):
            leyden.Atoms.from_arrays(x, q, r, cell=wrong)
    for residues in (np.arange(59), np.zeros(60)):
        with pytest.raises(leyden.InputError, match="residues: 60 whole numbers"):
            leyden.Atoms.from_arrays(x, q, r, residues=residues)


@pytest.mark.parametrize("periodic, cell, own, axes", [
    (None, None, None, ""), (False, None, None, ""), (None, None, 20, "xyz"), (True, None, 20, "xyz"), (False, None, 20, ""),
    ("xy", None, 20, "xy"), ((True, False, False), None, 20, "x"), (None, 30, 20, "xyz"), ("z", 30, None, "z"),
    (np.array([False, True, False]), 30, None, "y"), (np.False_, 30, None, ""),
])
def test_along_which_axes(periodic, cell, own, axes):
    found = Cell.of(periodic, None if cell is None else (cell,) * 3, None if own is None else own * np.eye(3))
    assert "".join(letter for letter, is_on in zip("xyz", found.periodic) if is_on) == axes
    assert not axes or found.vectors[0, 0] == (cell or own)


@pytest.mark.parametrize("periodic, words", [(True, "needs a cell"), ("x", "needs a cell"), ("w", "letters"), ((True,), "three")])
def test_what_is_no_axis(atoms, periodic, words):
    with pytest.raises(leyden.UsageError, match=words):
        leyden.points(atoms, [[9, 9, 9]], periodic=periodic)


@pytest.mark.parametrize("cell", [(20, 20, 20), TRICLINIC])
def test_the_cell_of_atoms_is_used(charges, engine, cell):
    """Points and maps, against Ewald's sum; and open space only where somebody says so."""
    x, q, r = charges
    atoms, points = leyden.Atoms.from_arrays(x, q, r, cell=cell), inner(40)
    expected = ewald(x, q, atoms.cell, points)
    arguments = dict(tol=1e-3, engine=engine)
    found = leyden.points(atoms, points, **arguments).values
    assert off_by(found, expected) < 1e-3
    # Another plan may be the fastest once devices are measured: it keeps the tolerance, too.
    assert off_by(leyden.points(atoms, points, periodic=True, **arguments).values, expected) < 1e-3
    assert off_by(leyden.points(atoms, points, periodic=False, **arguments).values, coulomb(charges, points)) < 1e-3
    assert off_by(coulomb(charges, points), expected) > 0.1
    bare = leyden.Atoms.from_arrays(x, q, r)
    assert off_by(leyden.points(bare, points, cell=cell, **arguments).values, expected) < 1e-3
    made = leyden.map(atoms, spacing=2.5, **arguments)
    assert off_by(made.values.ravel(), ewald(x, q, atoms.cell, made.grid.points())) < 1e-3
    assert (made.grid.n == (8, 8, 8)) == (len(cell) == 3)  # the box itself


def test_nothing_is_left_aside_in_silence(charges, engine):
    x, q, r = charges
    atoms = leyden.Atoms.from_arrays(x, q, r, cell=(20, 20, 20))
    with pytest.warns(leyden.CellWarning, match="periodic=False says"):
        found = leyden.points(atoms, inner(5), method="dcs", engine=engine).values
    assert off_by(found, coulomb(charges, inner(5))) < 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leyden.points(atoms, inner(5), method="dcs", periodic=False, engine=engine)
        leyden.points(atoms, inner(5), method="cutoff", cutoff=5, engine=engine)
    with pytest.raises(leyden.UsageError, match="neither images"):
        leyden.points(atoms, inner(5), method="dcs", periodic="z", engine=engine)


def test_a_cell_in_nm(charges, engine):
    x, q, r = charges
    atoms = leyden.Atoms.from_arrays(x, q, r, cell=(1.2, 1.2, 1.2))
    with pytest.warns(leyden.CellWarning, match="if its lengths are in nm, give them in A") as said:
        leyden.points(atoms, inner(2), method="cutoff", cutoff=2, engine=engine)
    assert said[0].filename == __file__
    with pytest.warns(leyden.CellWarning, match="wrapped or whole"):
        leyden.map(leyden.Atoms.from_arrays(x, q, r), leyden.Grid((0, 0, 0), spacing=1, n=(2, 2, 2)), method="cutoff",
                   cutoff=2, cell=(3, 30, 30), engine=engine)


# ---- What docs/python.md says of trajectories ----------------------------------------------------


def recipe(universe):
    """Runs it; its mean and its grid."""
    text = (Path(os.environ["LEYDEN_SOURCES"]) / "docs" / "python.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall("```python\n(.*?)```", text, re.S) if "universe.trajectory" in b)
    names = {"universe": universe, "leyden": leyden, "np": np}
    exec(block.replace('"all"', '"cpu"'), names)  # pylint: disable=exec-used
    return names["mean"], names["grid"]


def frames_of(x):
    """Shaken, in cells that change."""
    random = np.random.default_rng(2)
    return [(x + random.normal(scale=0.2, size=x.shape), np.float32([edge, edge + 1, edge, 90, 90, 90]))
            for edge in (14, 15)]


def expected_of(frames, q, points):
    return np.mean([ewald(x, q, np.diag(box[:3].astype(float)), points) for x, box in frames], axis=0)


@pytest.mark.skipif("LEYDEN_SOURCES" not in os.environ, reason="LEYDEN_SOURCES does not name the sources")
def test_the_recipe_for_trajectories(charges):
    x, q, _ = charges
    frames = frames_of(x)
    assert len(Trajectory(Topology(q, frames))) == 2
    mean, grid = recipe(Topology(q, frames))
    points = grid.points()[::7]
    assert off_by(mean.ravel()[::7], expected_of(frames, q, points)) < 2e-4
    assert off_by(np.mean([coulomb((place, q, None), points) for place, _ in frames], axis=0),
                  expected_of(frames, q, points)) > 0.1


@pytest.mark.extra
@pytest.mark.skipif("LEYDEN_SOURCES" not in os.environ, reason="LEYDEN_SOURCES does not name the sources")
def test_the_recipe_with_mdanalysis(charges):
    MDAnalysis = pytest.importorskip("MDAnalysis")
    x, q, _ = charges
    frames = frames_of(x)
    universe = MDAnalysis.Universe.empty(len(q), trajectory=True)
    universe.add_TopologyAttr("charges", q)
    universe.load_new(np.array([place for place, _ in frames]), dimensions=np.array([box for _, box in frames]))
    mean, grid = recipe(universe)
    points = grid.points()[::7]
    assert off_by(mean.ravel()[::7], expected_of(frames, q, points)) < 2e-4


@pytest.mark.extra
def test_triclinic_cells_are_those_of_mdanalysis(charges):
    MDAnalysis = pytest.importorskip("MDAnalysis")
    from MDAnalysis.lib.mdamath import triclinic_vectors
    universe = MDAnalysis.Universe.empty(60, trajectory=True)
    universe.add_TopologyAttr("charges", charges[1])
    for box in (TRICLINIC, (50, 50, 50, 70.53, 109.47, 70.53), (30, 40, 50, 60, 60, 90)):
        universe.dimensions = box
        atoms = leyden.Atoms.from_mdanalysis(universe, radii=0)
        assert np.allclose(atoms.cell, triclinic_vectors(universe.dimensions), atol=1e-4)


@pytest.mark.extra
def test_cobrotoxin():
    """19,385 atoms in a box of 52.8 A: what is left of the box is another potential altogether."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="pip install MDAnalysisTests")
    universe = MDAnalysis.Universe(files.TPR_xvf, files.TRR_xvf)
    mean, grid = recipe(universe)
    points = grid.points()[::1009]
    by_hand, open_space = np.zeros(len(points)), np.zeros(len(points))
    for _ in universe.trajectory:
        bare = leyden.Atoms.from_arrays(universe.atoms.positions, universe.atoms.charges)
        by_hand += leyden.points(bare, points, cell=universe.dimensions, periodic="xyz").values / 3
        open_space += leyden.points(bare, points).values / 3
    assert off_by(mean.ravel()[::1009], by_hand) < 2e-4 and off_by(open_space, by_hand) > 0.1
