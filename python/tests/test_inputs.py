"""Atoms and grids, and their refusals."""
import pickle

import numpy as np
import pytest

import leyden
from leyden._radii import Labels, radii_for


def test_arrays_are_views_of_the_library(charges, atoms):
    x, q, r = charges
    for found, given in ((atoms.x, x), (atoms.q, q), (atoms.r, r)):
        assert np.array_equal(found, given) and found.dtype == np.float64
        assert not found.flags.writeable and not found.flags.owndata
        with pytest.raises(ValueError):
            found[0] = 1
    assert np.shares_memory(atoms.x, atoms.x)
    assert not np.shares_memory(atoms.x, x)
    assert len(atoms) == len(q) and atoms.total_charge == pytest.approx(q.sum())
    assert repr(atoms).startswith("<leyden.Atoms: 60 atoms, total charge ")
    assert np.array_equal(atoms.bounds, [x.min(axis=0), x.max(axis=0)])


def test_views_keep_what_they_are_of(charges):
    x = leyden.Atoms.from_arrays(*charges).x
    rest = [leyden.Atoms.from_arrays(charges[0] + i, charges[1]) for i in range(50)]
    assert np.array_equal(x, charges[0]) and len(rest) == 50


@pytest.mark.parametrize("ending", [".pqr", ".pqr.gz", ".atoms"])
def test_files_of_atoms(tmp_path, atoms, ending):
    atoms.write(tmp_path / f"a{ending}")
    again = leyden.Atoms.read(tmp_path / f"a{ending}")
    assert np.array_equal(again.x, atoms.x) and np.array_equal(again.q, atoms.q) and np.array_equal(again.r, atoms.r)


def test_pickles(atoms, grid):
    assert np.array_equal(pickle.loads(pickle.dumps(atoms)).x, atoms.x)
    assert pickle.loads(pickle.dumps(grid)) == grid
    error = pickle.loads(pickle.dumps(leyden.DeviceError("what", "log")))
    assert (error.message, error.log, error.status) == ("what", "log", "LEY_ERROR_DEVICE")


@pytest.mark.parametrize("x, q, r, words", [
    (np.zeros((0, 3)), [], None, "atom"),
    (np.zeros((2, 2)), [1, 1], None, r"shape \(2, 2\), not \(n, 3\)"),
    (np.zeros((2, 3)), [1], None, "shape"),
    (np.zeros((2, 3)), [1, np.nan], None, "atom 2"),
    (np.zeros((1, 3)), [1], [-1], "atom 1"),
    ([["a", "b", "c"]], [1], None, "positions"),
    ([[1, 2, 3]], [1 + 2j], None, "^charges: real numbers"),
    (np.ma.masked_less([[1.0, 2.0, 3.0]], 2), [1], None, "^positions: real numbers are needed, and none that is masked"),
])
def test_atoms_that_are_none(x, q, r, words):
    with pytest.raises(leyden.InputError, match=words) as caught:
        leyden.Atoms.from_arrays(x, q, r)
    assert caught.value.status == "LEY_ERROR_INPUT" and isinstance(caught.value, ValueError)


@pytest.mark.parametrize("words, n, spacing", [
    ("n: three", (2, 2, 2 ** 70), 1), ("n: three", (2, 2, float("nan")), 1), ("n: three", None, 1),
    ("n: three", (2, 2), 1), ("spacing", (2, 2, 2), "a"), ("spacing has the shape", (2, 2, 2), (1, 2)),
])
def test_grids_of_wrong_numbers(words, n, spacing):
    with pytest.raises(leyden.InputError, match=words):
        leyden.Grid((0, 0, 0), spacing=spacing, n=n)


def test_a_name_is_not_cut(tmp_path, atoms, grid):
    """C takes what stands in front of a NUL for the whole name."""
    for call in (atoms.write, leyden.Atoms.read, leyden.Map.read, leyden.Map.from_array(
            np.zeros(grid.shape), grid).save):
        with pytest.raises(leyden.UsageError, match="NUL"):
            call(f"{tmp_path}/a.atoms\0.dx")
    assert not list(tmp_path.iterdir())


def test_maps_of_what_is_no_array(grid):
    for values in ([["a"]], np.zeros(grid.shape, complex)):
        with pytest.raises(leyden.InputError, match="values"):
            leyden.Map.from_array(values, grid)
    with pytest.raises(leyden.UsageError, match="at: nan is out of range"):
        leyden.Map.from_array(np.zeros(grid.shape), grid).slice("z", at=float("nan"))


BEADS = Labels(names=["BB", "SC1", "BB", "CA", "NA"], types=["P5", "C5", "P5", "CT1", "SOD"],
               elements=["", "", "", "C", "Na"])


@pytest.mark.parametrize("radii, expected", [
    ({"BB": 2.35, "SC1": 2, "CA": 1.9, "NA": 2.2}, [2.35, 2, 2.35, 1.9, 2.2]),  # names
    ({"P5": 2.35, "SC1": 2, "C5": 9, "C": 1.9, "SOD": 2.2}, [2.35, 2, 2.35, 1.9, 2.2]),  # before types, before elements
    ({"BB": 1, "P5": 9, "C5": 2, "CT1": 3, "Na": 4}, [1, 2, 1, 3, 4]),
    ({"BB": 1, "SC1": 2, "c": 3, "na": 4}, [1, 2, 1, 3, 4]),  # a symbol in other letters
    (1.5, [1.5] * 5), (range(5), range(5)),
])
def test_radii_by_names_types_and_elements(radii, expected):
    assert radii_for(5, radii, [9] * 5, BEADS).tolist() == list(expected)


@pytest.mark.parametrize("radii, words", [
    ([1.5, 1.6], r"radii has the shape \(2,\), not \(5,\)"), (["a"] * 5, "^radii: "), ({"C": "x"}, "^radii: C: "),
    ("wide", "radii: numbers"),
    ({"BB": 1, "SC1": 2, "CA": 3, "NA": 4, "SC2": 5}, "no atom has the name, the type or the element 'SC2'"),
    ({"BB": 1, "CA": 3, "NA": 4}, "atom 2 with the name SC1 and the type C5 and the element S: none of these has a"),
    ({}, "atom 1 with the name BB"),
])
def test_radii_that_are_none(radii, words):
    with pytest.raises(leyden.InputError, match=words):
        radii_for(5, radii, None, BEADS)


def test_radii_that_nobody_says():
    with pytest.warns(leyden.RadiiWarning, match="all are 0, which changes no potential") as said:
        assert radii_for(5, None, None, BEADS).tolist() == [0] * 5
    assert len(said) == 1
    assert radii_for(2, None, [0, 1.5], Labels()).tolist() == [0, 1.5]
    water = Labels(names=["OW", "HW1", "MW"], masses=[16, 1, 0])
    assert radii_for(3, "element", None, water).tolist() == [1.52, 1.2, 0]
    assert radii_for(3, {"OW": 1.7, "H": 0}, None, water).tolist() == [1.7, 0, 0]
    with pytest.raises(leyden.InputError, match="atom 1 with the name XX and the element X: no van der Waals radius"):
        radii_for(1, "element", None, Labels(names=["XX"]))


def test_a_line_that_is_wrong(tmp_path):
    (tmp_path / "a.pqr").write_text("ATOM 1 C MOL 1 0 0 0 1 1.5\nATOM 2 C MOL 1 0 0 zero 1 1.5\n")
    with pytest.raises(leyden.InputError, match="a.pqr:2: "):
        leyden.Atoms.read(tmp_path / "a.pqr")
    with pytest.raises(leyden.FileError) as caught:
        leyden.Atoms.read(tmp_path / "none.pqr")
    assert caught.value.status == "LEY_ERROR_FILE" and isinstance(caught.value, OSError)
    with pytest.raises(leyden.UsageError):
        leyden.Atoms.from_arrays([[0, 0, 0]], [1]).write(tmp_path / "a.xyz")


def test_grids_that_are_none(atoms, grid):
    for wrong in (lambda: leyden.map(atoms, (1, 2, 3)), lambda: leyden.map(atoms, grid.points()),
                  lambda: leyden.Map.from_array(np.zeros((3, 3, 3)), 3)):
        with pytest.raises(leyden.UsageError, match="grid: a leyden.Grid is needed, not "):
            wrong()
    with pytest.raises(leyden.UsageError, match="grid says where the points are: spacing is"):
        leyden.map(atoms, grid, spacing=1)
    with pytest.raises(leyden.InputError, match="three whole numbers are needed, not 3"):
        leyden.Grid((0, 0, 0), spacing=1, n=3)


def test_grids(atoms, grid):
    assert grid.n == (17, 19, 23) and grid.shape == (23, 19, 17) and grid.size == 17 * 19 * 23
    points = grid.points()
    assert np.allclose(points[1] - points[0], [0.75, 0, 0])
    assert np.allclose(points[-1], grid.point(16, 18, 22)) and np.allclose(grid.axis("z")[-1], points[-1][2])
    around = leyden.Grid.around(atoms, spacing=0.5, padding=3)
    low, high = around.points()[[0, -1]]
    assert np.all(low <= atoms.bounds[0] - 3) and np.all(high >= atoms.bounds[1] + 3)
    oblique = leyden.Grid((0, 0, 0), step=[[1, 0, 0], [0.5, 1, 0], [0, 0, 1]], n=(2, 2, 2))
    assert not oblique.is_orthogonal and np.allclose(oblique.point(1, 1, 1), [1.5, 1, 1])
    for wrong in (dict(spacing=0, n=(2, 2, 2)), dict(spacing=1, n=(2, 2)), dict(spacing=1, n=(0, 2, 2)),
                  dict(step=np.ones((3, 3)), n=(2, 2, 2)), dict(n=(2, 2, 2))):
        with pytest.raises(leyden.Error):
            leyden.Grid((0, 0, 0), **wrong)
    with pytest.raises(leyden.InputError):
        oblique.axis("x")


WRONG_TYPES = [
    ("map(a, g, method='cutoff', pair=3)", "pair: a text is needed, not int"),
    ("map(a, g, method=[])", "method: one of auto, dcs, msm, cutoff is needed, not []"),
    ("map(a, g, method='cutoff', pair='k*q/r', constants=[1])", "constants: a dict from names to numbers is needed, not list"),
    ("map(a, g, method='cutoff', pair='k*q/r', constants={'k': 'x'})", "constants: k: a number is needed, not 'x'"),
    ("map(a, g, cell={})", "cell: numbers are needed: "),
    ("map(a, g, field='x')", "field: True or False is needed, not 'x'"),
    ("points(a, [[0, 0, 9]], field=np.zeros(3))", "field: True or False is needed, not array("),
    ("points(a, [[0, 0, 9]], exclude=3)", "exclude: 'self', 'residue' or a list for each point is needed, not 3"),
    ("points(a, 'x')", "xyz: numbers are needed: "),
    ("Plan(a, g, keep=3)", "keep: some of 'mean', 'variance', 'minimum', 'planes' are needed, not 3"),
    ("Plan(a, g, field=None)", "field: True or False is needed, not None"),
    ("Plan(None)", "Structure of ParmEd, leyden.Atoms, or positions, charges and radii are needed, not NoneType"),
    ("Plan(a, g, method='dcs').run(cell='x')", "cell: numbers are needed: "),
    ("Atoms.read(None)", "path: a file's name is needed, not NoneType"),
    ("Atoms.from_mdanalysis(3)", "source: a Universe or AtomGroup of MDAnalysis is needed, not int"),
    ("Atoms.from_parmed(None)", "structure: a Structure of ParmEd is needed, not NoneType"),
    ("Map(3)", "Map(): a file's name is needed, or values and their grid: Map(values, grid)"),
    ("Map.read([1])", "path: a file's name is needed, not list"),
    ("Map.from_array(np.zeros(g.shape), g, units=3)", "units: a text is needed, not int"),
    ("Map.from_array(np.zeros(g.shape), g).save('a.dx', 3)", "comment: a text is needed, not int"),
    ("Map.from_array(np.zeros(g.shape), g).slice(at='x')", "at: a number is needed, not 'x'"),
    ("Grid.around(3)", "atoms: a PQR file's name, a Universe or AtomGroup of MDAnalysis, "),
    ("Grid.around(a, 'x')", "spacing: a number is needed, not 'x'"),
    ("boundary(a, g, ions=3)", "ions: a list of species is needed, not 3"),
    ("boundary(a, g, ions=[3])", "ions: each has a concentration, a charge and, if you like, a radius"),
]


@pytest.mark.parametrize("call, words", WRONG_TYPES, ids=[call for call, _ in WRONG_TYPES])
def test_wrong_types_are_said(atoms, grid, call, words):
    with pytest.raises(leyden.Error) as raised:
        eval("leyden." + call, {"leyden": leyden, "np": np, "a": atoms, "g": grid})
    assert isinstance(raised.value, ValueError) and words in raised.value.message
