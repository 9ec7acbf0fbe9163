"""leyden.series(): against Ewald sums written from their formula, by NumPy, and against what is known without a sum."""
import itertools
import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import leyden

mda = pytest.importorskip("MDAnalysis")
SOURCES = Path(os.environ.get("LEYDEN_SOURCES", Path(__file__).parents[2]))
VOLT_A = 1.602176634e-19 / (4e-10 * np.pi * 8.8541878128e-12)  # of a charge e at 1 A
TRICLINIC = np.array([[21.0, 0, 0], [6.0, 19.0, 0], [-5.0, 4.0, 23.0]])
erfc = np.vectorize(math.erfc)


def judge(x, q, vectors, point, excluded=(), alpha=0.35, r_min=0.05):
    """Potential (V) and field (V/A) at a point: all waves and images, of excluded atoms without the nearest image."""
    dual, volume = 2 * np.pi * np.linalg.inv(vectors).T, abs(np.linalg.det(vectors))
    most = [int(np.ceil(np.linalg.norm(row) * 12 * alpha / (2 * np.pi))) for row in vectors]
    k = np.array(list(itertools.product(*(range(-n, n + 1) for n in most)))) @ dual
    k2 = (k ** 2).sum(axis=1)
    k, k2 = k[k2 > 0], k2[k2 > 0]
    wave = np.exp(1j * (point - x) @ k.T) * q[:, None]  # (N, K)
    weight = 4 * np.pi / volume * np.exp(-k2 / (4 * alpha ** 2)) / k2
    potential = (wave.real * weight).sum() - np.pi * q.sum() / (alpha ** 2 * volume)
    field = (wave.imag.sum(axis=0) * weight) @ k
    reach = [int(np.ceil(6 / alpha * np.linalg.norm(row) / (2 * np.pi))) + 1 for row in dual]
    images = np.array(list(itertools.product(*(range(-n, n + 1) for n in reach)))) @ vectors
    for j in range(len(q)):
        d = point - x[j]
        d = d - np.round(d @ np.linalg.inv(vectors)) @ vectors - images
        r = np.linalg.norm(d, axis=1)
        nearest = np.argmin(r)
        for i in np.flatnonzero(r < 6 / alpha):
            smooth = math.erf(alpha * r[i]) / r[i] if r[i] > 1e-9 else 2 * alpha / math.sqrt(math.pi)
            whole = 0 if i == nearest and j in excluded else 1 / max(r[i], r_min)
            potential += q[j] * (whole - smooth)
            if r[i] > 1e-9:
                slope = -smooth / r[i] ** 2 + 2 * alpha / math.sqrt(math.pi) * math.exp(-(alpha * r[i]) ** 2) / r[i] ** 2
                slope += 1 / r[i] ** 3 if whole and r[i] >= r_min else 0
                field = field + q[j] * slope * d[i]
    return VOLT_A * potential, VOLT_A * field


def direct(x, q, point, excluded=()):
    keep = np.array([j not in excluded for j in range(len(q))])
    d = point - x[keep]
    r = np.linalg.norm(d, axis=1)
    return VOLT_A * (q[keep] / r).sum(), VOLT_A * ((q[keep] / r ** 3)[:, None] * d).sum(axis=0)


def box_of(vectors):
    return None if vectors is None else mda.lib.mdamath.triclinic_box(*vectors)


def make_universe(frames, q, vectors=None, residues=None):
    residues = np.arange(len(q)) // 3 if residues is None else residues
    universe = mda.Universe.empty(len(q), n_residues=residues.max() + 1, atom_resindex=residues, trajectory=True)
    universe.add_TopologyAttr("charges", q)
    universe.add_TopologyAttr("names", ["C"] * len(q))
    universe.add_TopologyAttr("resnames", ["SOL"] * (residues.max() + 1))
    universe.load_new(np.asarray(frames, np.float32), order="fac")
    if vectors is not None:
        cells = [vectors] * len(frames) if np.ndim(vectors) == 2 else vectors
        universe.load_new(np.asarray(frames, np.float32), order="fac", dimensions=np.array([box_of(v) for v in cells]))
    return universe


@pytest.fixture(scope="module")
def liquid():
    """Random charges with a net one, in two frames, in an oblique cell and one that is 3 % larger."""
    random = np.random.default_rng(3)
    s, q = random.uniform(0, 1, (2, 36, 3)), random.uniform(-1, 1, 36)
    cells = np.array([TRICLINIC, 1.03 * TRICLINIC])
    x = (s @ cells).astype(np.float32)
    universe = make_universe(x, q, cells)
    cells = [mda.lib.mdamath.triclinic_vectors(t.dimensions, dtype=np.float64) for t in universe.trajectory]  # of floats
    universe.trajectory[0]
    return x, q, np.array(cells), universe


def off(found, right):
    return np.sqrt(((found - right) ** 2).sum() / (right ** 2).sum())


def test_the_judge_does_not_depend_on_its_splitting(liquid):
    x, q, cells, _ = liquid
    a, b = (judge(x[0].astype(float), q, cells[0], x[0][4].astype(float), (4, 5), alpha) for alpha in (0.28, 0.4))
    assert abs(a[0] - b[0]) < 1e-9 and np.abs(a[1] - b[1]).max() < 1e-9


@pytest.mark.parametrize("exclude, lists", [("self", lambda i: [i]), ("residue", lambda i: range(i // 3 * 3, i // 3 * 3 + 3)),
                                            ("index 0:9", lambda i: {*range(10), i})])
def test_atoms(liquid, exclude, lists):
    x, q, cells, universe = liquid
    which = [4, 17, 35]
    made = leyden.series(universe, universe.atoms[which], exclude=exclude, units="V", tol=1e-6)
    right = [[judge(x[f].astype(float), q, cells[f], x[f][i].astype(float), lists(i)) for i in which] for f in (0, 1)]
    assert made.report["method"] == "ewald"
    assert off(made.potential, np.array([[p for p, _ in row] for row in right])) < 2e-6
    assert off(made.field, np.array([[e for _, e in row] for row in right])) < 2e-6


def test_fixed_points_outside_the_cell_and_tolerance(liquid):
    x, q, cells, universe = liquid
    points = np.array([[1.0, 2, 3], [-50.0, 70, 33], [200.0, -300, 5]])
    right = [judge(x[0].astype(float), q, cells[0], point) for point in points]
    for tol in (1e-3, 1e-6):
        made = leyden.series(universe, points, stop=1, units="V", tol=tol)
        assert off(made.potential[0], np.array([p for p, _ in right])) < tol
        assert off(made.field[0], np.array([e for _, e in right])) < tol
    assert made.field_MV_cm == pytest.approx(100 * made.field)
    kt = leyden.series(universe, points, stop=1, temperature=310)
    assert kt.field_MV_cm == pytest.approx(made.field_MV_cm, rel=1e-3)
    assert kt.MV_per_cm == pytest.approx(100 * 1.380649e-23 * 310 / 1.602176634e-19)


def test_bonds_over_the_face(liquid):
    """A bond that is broken by the cell's face has its middle in between, and its direction."""
    x, q, cells, _ = liquid
    x = x.copy()
    x[:, 1] = (np.array([0.02, 0.5, 0.5]) @ cells).astype(np.float32)
    x[:, 2] = (np.array([0.98, 0.5, 0.5]) @ cells).astype(np.float32)
    universe = make_universe(x, q, cells)
    made = leyden.series(universe, [(1, 2)], units="V", tol=1e-6)
    for f in (0, 1):
        first, way = x[f][1].astype(float), x[f][2].astype(float) - x[f][1] - cells[f][0]
        assert np.linalg.norm(way) < 2
        p, e = judge(x[f].astype(float), q, cells[f], first + way / 2, (1, 2))
        assert made.potential[f, 0] == pytest.approx(p, abs=2e-5)
        assert made.projected[f, 0] == pytest.approx(e @ way / np.linalg.norm(way), abs=2e-5)
        assert made.stark_shift(1.5)[f, 0] == pytest.approx(-150 * made.projected[f, 0])
    same = leyden.series(universe, (universe.atoms[[1]], universe.atoms[[2]]), units="V", tol=1e-6)
    assert np.array_equal(same.projected, made.projected)
    turned = leyden.series(universe, [(2, 1)], units="V", tol=1e-6)
    assert turned.projected == pytest.approx(-made.projected)


def test_an_ion_among_its_images():
    """In a cube of edge a, -2.837297 q / a of them and of the background."""
    made = leyden.series(make_universe([[[1.0, 2, 3]]], np.array([2.0]), np.diag([30.0] * 3)), "index 0", units="V", tol=1e-6)
    assert made.potential[0, 0] == pytest.approx(-2.837297 * 2 * VOLT_A / 30, rel=2e-6)
    assert np.abs(made.field).max() < 1e-9


@pytest.mark.parametrize("cell, reduced", [
    (np.diag([8.0, 9, 60]), np.diag([8.0, 9, 60])), (np.diag([90.0, 7, 6]), np.diag([90.0, 7, 6])),
    ([[20.0, 0, 0], [4, 15, 0], [43, -35, 18]], [[20.0, 0, 0], [4, 15, 0], [-9, -5, 18]])])
def test_cells_of_any_shape(cell, reduced):
    """Thin ones, long ones, and one that is more oblique than its lattice."""
    random, cell, reduced = np.random.default_rng(6), np.array(cell), np.array(reduced)
    x, q = (random.uniform(0, 1, (20, 3)) @ cell).astype(np.float32), random.uniform(-1, 1, 20)
    universe = make_universe([x], q)
    made = leyden.series(universe, universe.atoms[:3], cell=cell, units="V", tol=1e-6)
    right = [judge(x.astype(float), q, reduced, x[i].astype(float), [i]) for i in range(3)]
    assert off(made.potential[0], np.array([p for p, _ in right])) < 1e-6
    assert off(made.field[0], np.array([e for _, e in right])) < 1e-6


def test_bonds_in_each_form(liquid):
    _, q, cells, _ = liquid
    universe = make_universe(liquid[0], q, cells)
    universe.add_TopologyAttr("bonds", [(0, 1), (4, 9)])
    right = leyden.series(universe, [(0, 1), (4, 9)])
    atoms = universe.atoms
    for bonds in (universe.bonds, list(universe.bonds), [(atoms[0], atoms[1]), (atoms[4], atoms[9])],
                  np.array([[0, 1], [4, 9]]), (atoms[[0, 4]], atoms[[1, 9]])):
        assert np.array_equal(leyden.series(universe, bonds).projected, right.projected)
    molecule = leyden.series(universe, "index 0", exclude="molecule")
    assert molecule.potential == pytest.approx(leyden.series(universe, "index 0", exclude="index 1").potential, rel=1e-12)


def test_source(liquid):
    x, q, cells, universe = liquid
    made = leyden.series(universe, universe.atoms[[4]], source="index 12:35", units="V", tol=1e-6)
    p, e = judge(x[1][12:].astype(float), q[12:], cells[1], x[1][4].astype(float))
    assert made.potential[1, 0] == pytest.approx(p, abs=1e-5) and made.field[1, 0] == pytest.approx(e, abs=1e-5)
    few = leyden.series(universe, universe.atoms[[31, 15]], source="index 12:20", exclude="residue", units="V", tol=1e-6)
    for k, i in enumerate((31, 15)):  # of which the first has no part in the source
        p, e = judge(x[1][12:21].astype(float), q[12:21], cells[1], x[1][i].astype(float), (3, 4, 5) if i == 15 else ())
        assert few.potential[1, k] == pytest.approx(p, abs=1e-5) and few.field[1, k] == pytest.approx(e, abs=1e-5)
    group = leyden.series(universe.atoms[12:], universe.atoms[[4]], units="V", tol=1e-6)
    assert np.array_equal(group.potential, made.potential)


def test_an_ion_that_passes_in_open_space():
    """1/r, r away; and the field along the way between two atoms, which have no charge."""
    way = np.linspace(-8, 8, 33)
    frames = [[[z, 0, 0], [0, 3, 0], [0, 4, 0]] for z in way]
    universe = make_universe(frames, np.array([1.0, 0, 0]))
    made = leyden.series(universe, "index 1", project=[(1, 2)], periodic=False, units="V")
    r = np.hypot(way, 3)
    assert made.report["method"] == "direct"
    assert made.potential[:, 0] == pytest.approx(VOLT_A / r, rel=1e-6)
    assert made.projected[:, 0] == pytest.approx(VOLT_A * 3 / r ** 3, rel=1e-6)
    assert made.field[:, 0, 0] == pytest.approx(-VOLT_A * way / r ** 3, rel=1e-5, abs=1e-6)
    with pytest.raises(leyden.InputError, match="periodic=False"):
        leyden.series(universe, "index 1")


def test_open_space_with_exclusions(liquid):
    x, q, _, universe = liquid
    made = leyden.series(universe, universe.atoms[[4, 9]], exclude="residue", periodic=False, units="V")
    for k, i in enumerate((4, 9)):
        p, e = direct(x[1].astype(float), q, x[1][i].astype(float), range(i // 3 * 3, i // 3 * 3 + 3))
        assert made.potential[1, k] == pytest.approx(p, abs=1e-9) and made.field[1, k] == pytest.approx(e, abs=1e-9)


def test_attached_points_turn_with_their_atoms(liquid):
    """A frame that is another one turned has the same potentials there, and fields turned as it."""
    x, q, _, _ = liquid
    angle = 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]]) @ \
        np.array([[1, 0, 0], [0, math.cos(2), -math.sin(2)], [0, math.sin(2), math.cos(2)]])
    universe = make_universe([x[0], x[0] @ turn.T + 3], q)
    points = leyden.Attached(universe.atoms[[3, 8, 11]], [(0.5, 0.2, 0.9), (0, 0, -1.2), (0, 0, 0)])
    made = leyden.series(universe, points, periodic=False, units="V")
    assert made.potential[1] == pytest.approx(made.potential[0], abs=1e-4)
    assert made.field[1] == pytest.approx(made.field[0] @ turn.T, abs=1e-4)
    a, b, c = (x[0][i].astype(float) for i in (3, 8, 11))
    first = (b - a) / np.linalg.norm(b - a)
    third = np.cross(first, c - a) / np.linalg.norm(np.cross(first, c - a))
    p, _ = direct(x[0].astype(float), q, a + 0.5 * first + 0.2 * np.cross(third, first) + 0.9 * third, (3, 8, 11))
    assert made.potential[0, 0] == pytest.approx(p, abs=1e-9)


def test_mesh_agrees(liquid):
    _, _, _, universe = liquid
    plain = leyden.series(universe, universe.atoms[:6], exclude="residue", stop=1)
    mesh = leyden.series(universe, universe.atoms[:6], exclude="residue", stop=1, method="mesh", engine="host")
    assert mesh.report["method"] == "mesh"
    assert off(mesh.potential, plain.potential) < 2e-5 and off(mesh.field, plain.field) < 2e-5


def test_points_on_charges_are_told(liquid):
    _, _, _, universe = liquid
    with pytest.warns(leyden.PointsWarning, match="exclude"):
        leyden.series(universe, universe.atoms[:2], exclude=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leyden.series(universe, universe.atoms[:2])


@pytest.mark.parametrize("arguments, error, words", [
    (dict(points="name NONE"), leyden.UsageError, "no such atom"),
    (dict(points="index 0", source="name NONE"), leyden.UsageError, "source"),
    (dict(points="index 0", exclude="molecule"), leyden.UsageError, "bonds"),
    (dict(points="index 0", exclude="rest"), leyden.UsageError, "exclude"),
    (dict(points=[[0.0, 1.0]]), leyden.InputError, "shape"),
    (dict(points=[[np.nan, 0, 0]]), leyden.InputError, "finite"),
    (dict(points=[[0.0, 1, 2]], exclude="residue"), leyden.UsageError, "fixed"),
    (dict(points="index 0", project=True), leyden.UsageError, "bonds"),
    (dict(points="index 0", method="msm"), leyden.UsageError, "method"),
    (dict(points="index 0", method="direct"), leyden.UsageError, "open space"),
    (dict(points="index 0", tol=1e-9), leyden.UsageError, "tolerance"),
    (dict(points=[(0, 99)]), leyden.UsageError, "99"),
    (dict(points="index 0", start=7), leyden.UsageError, "no frame"),
])
def test_what_is_refused(liquid, arguments, error, words):
    arguments = dict(arguments)
    with pytest.raises(error, match=words):
        leyden.series(liquid[3], arguments.pop("points"), **arguments)


def test_bad_frames(liquid):
    x, q, cells, _ = liquid
    frames = np.stack([x[0], x[1], x[0]])
    frames[1, 7] = np.nan
    universe = make_universe(frames, q, np.array([cells[0]] * 3))
    with pytest.raises(leyden.InputError, match="frame 1 .*7"):
        leyden.series(universe, "index 0")
    made = leyden.series(universe, "index 0", skip_bad=True)
    assert made.frames.tolist() == [0, 2] and made.report["skipped"] == 1 and made.time == pytest.approx([0, 2])
    assert made.potential[0] == pytest.approx(made.potential[1], rel=1e-12)
    with pytest.raises(leyden.InputError, match="charge"):
        leyden.series(make_universe(x, np.zeros(36), cells), "index 0")


def test_files(liquid, tmp_path):
    _, _, _, universe = liquid
    made = leyden.series(universe, [(0, 1), (5, 9)], units="V")
    made.save(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text().splitlines()
    rows = [line for line in text if not line.startswith("#")]
    assert rows[0].startswith("frame,time_ps,phi_1,ex_1,ey_1,ez_1,projected_1_MV_cm,phi_2") and len(rows) == 3
    table = np.loadtxt(rows[1:], delimiter=",")
    assert table[:, 2] == pytest.approx(made.potential[:, 0]) and table[:, 6] == pytest.approx(made.projected_MV_cm[:, 0])
    made.save(tmp_path / "a.npy")
    assert np.load(tmp_path / "a.npy") == pytest.approx(table, rel=1e-7)
    made.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as kept:
        assert np.array_equal(kept["field"], made.field) and str(kept["units"]) == "V"
    with pytest.raises(leyden.UsageError, match="csv"):
        made.save(tmp_path / "a.txt")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.npy", "a.npz"]
    assert "2 frames, 2 points" in repr(made)
    pytest.importorskip("matplotlib").use("Agg")
    assert len(made.plot()) == 2 and made.plot(quantity="potential")[0].axes.get_ylabel() == "potential (V)"


# ---- The command, and trajectories of others -----------------------------------------------------


def run(*words):
    return subprocess.run([sys.executable, "-m", "leyden", "series", *map(str, words)], capture_output=True, text=True,
                          check=False)


@pytest.fixture(scope="module")
def files():
    return pytest.importorskip("MDAnalysisTests.datafiles")


def lines_of(path):
    return [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]


@pytest.mark.extra
def test_command_in_open_space(files, tmp_path):
    """At fixed points and at bonds, against the plain sum."""
    universe = mda.Universe(files.PSF, files.DCD)
    q, out = universe.atoms.charges, tmp_path / "a.csv"
    (tmp_path / "points.txt").write_text("# where\n1, 2, 3\n-20 5 7\n")
    done = run(files.PSF, files.DCD, "--points", tmp_path / "points.txt", "--open", "--start", 3, "--stop", 9, "--step", 5,
               "--units", "V", "-o", out)
    assert done.returncode == 0 and "2 frames, 2 points" in done.stdout, done.stderr
    table = np.loadtxt(lines_of(out)[1:], delimiter=",")
    assert table[:, 0].tolist() == [3, 8] and table[:, 1] == pytest.approx([4, 9], abs=1e-3)
    universe.trajectory[8]
    p, e = direct(universe.atoms.positions.astype(float), q, np.array([-20.0, 5, 7]))
    assert table[1, 6] == pytest.approx(p, rel=1e-6) and table[1, 7:] == pytest.approx(e, rel=1e-5)
    done = run(files.PSF, files.DCD, "--bonds", "name C", "name O", "--open", "--stop", 1, "--units", "V", "-o", out)
    assert done.returncode == 1 and "partner" in done.stderr
    select = "name C and resid 1:20", "name O and resid 1:20"
    done = run(files.PSF, files.DCD, "--bonds", *select, "--exclude", "residue", "--open", "--stop", 1, "--units", "V", "-o",
               out, "--picture", tmp_path / "a.png")
    assert done.returncode == 0 and (tmp_path / "a.png").stat().st_size > 1000, done.stderr
    universe.trajectory[0]
    x = universe.atoms.positions.astype(float)
    c, o = (universe.select_atoms(words) for words in select)
    way = x[o.indices[4]] - x[c.indices[4]]
    p, e = direct(x, q, x[c.indices[4]] + way / 2, set(c[4].residue.atoms.indices))
    row = dict(zip(lines_of(out)[0].split(","), map(float, lines_of(out)[1].split(","))))
    assert row["phi_5"] == pytest.approx(p, rel=1e-6)
    label = f"bond {c.indices[4]}-{o.indices[4]}, {c[4].resname} {c[4].resid} C-O"
    assert f"# 5: {label}\n" in out.read_text() and f"{label}: field along it " in done.stdout
    assert row["projected_5_MV_cm"] == pytest.approx(100 * e @ way / np.linalg.norm(way), rel=1e-5)
    done = run(files.PSF, files.DCD, "--atoms", "name CA", "-o", out)
    assert done.returncode == 2 and "--open" in done.stderr
    assert run(files.PSF, files.DCD, "--atoms", "name CA", "--open", "-o", tmp_path / "a.txt").returncode == 1
    np.save(tmp_path / "p.npy", np.zeros((1, 3)))
    done = run(files.PSF, files.DCD, "--points", tmp_path / "p.npy", "--open", "-o", tmp_path / "p.npy")
    assert done.returncode == 1 and "p.npy is read as well" in done.stderr and np.load(tmp_path / "p.npy").shape == (1, 3)


@pytest.mark.extra
def test_a_protein_in_water(files, tmp_path):
    """47,681 atoms in a rhombic dodecahedron: against leyden.points() by meshes; cut files."""
    universe = mda.Universe(files.TPR, files.XTC)
    group = universe.select_atoms("resid 22 and name CA CB N")
    made = leyden.series(universe, group, exclude="residue", stop=2)
    universe.trajectory[1]
    exclude = [group.residues[0].atoms.indices.tolist()] * 3
    right = leyden.points(leyden.Atoms(universe, radii=0), group.positions, exclude=exclude, field=True, engine="cpu", tol=1e-5)
    assert off(made.potential[1], right.values) < 2e-5 and off(made.field[1], right.field) < 2e-5
    molecule = leyden.series(universe, group, exclude="molecule", stop=1)
    solvent = leyden.series(universe, group, source="not protein", stop=1)
    # What is left are the protein's images and background: nearly the same at neighbouring atoms.
    assert np.std(molecule.potential - solvent.potential) < 0.02 * np.abs(molecule.potential).max()
    cut = tmp_path / "cut.xtc"
    cut.write_bytes(Path(files.XTC).read_bytes()[:Path(files.XTC).stat().st_size * 2 // 3])
    done = run(files.TPR, cut, "--atoms", "bynum 1:2", "-o", tmp_path / "a.csv", "--quiet")
    assert done.returncode == 2 and "cut.xtc: frame " in done.stderr and not (tmp_path / "a.csv").exists()


@pytest.mark.extra
def test_page(files, tmp_path, monkeypatch):
    """The page's Python runs, piece after piece."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    whole = mda.Universe(files.TPR, files.XTC)
    monkeypatch.setattr(mda, "Universe", lambda *names: whole)
    blocks = re.findall(r"^```python\n(.*?)^```", (SOURCES / "docs" / "series.md").read_text(encoding="utf-8"),
                        re.DOTALL | re.MULTILINE)
    assert len(blocks) > 3
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/series.md", "exec"), scope)


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_fields_of_meshes_are_within_the_tolerance(engine, tol):
    """Also in a needle, where the potential is off by far less."""
    random, cell = np.random.default_rng(4), np.diag([3.0, 3.3, 50.0])
    universe = make_universe(random.uniform(0, 1, (2, 20, 3)) @ cell, random.uniform(-1, 1, 20), cell)
    points = random.uniform(0, 1, (6, 3)) @ cell
    mesh = leyden.series(universe, points, exclude=None, method="mesh", engine=engine, tol=tol)
    plain = leyden.series(universe, points, exclude=None, tol=1e-6)
    assert mesh.report["method"] == "mesh" and off(mesh.potential, plain.potential) < tol
    assert off(mesh.field, plain.field) < tol and mesh.report["field_error"] <= tol
