"""What people type who have not read a word, from the habits of MDAnalysis, GridDataFormats, ASE, NumPy, xarray, OpenMM and
APBS: it works, or ends in a sentence that holds the line to type."""
import base64
import pickle

import numpy as np
import pytest

import leyden
from conftest import Topology

# A line; and what its error says, "" where it works.
GUESSES = [
    ('leyden.Atoms("protein.pqr")', ""),
    ("leyden.Atoms(u)", ""),
    ("leyden.Atoms(u.atoms)", ""),
    ("leyden.Atoms(u.atoms[:5])", ""),
    ("leyden.Atoms(x, q, r)", ""),
    ("leyden.Atoms(positions=x, charges=q, radii=r)", ""),
    ("leyden.Atoms(x, q)", ""),
    ('leyden.read("protein.pqr")', 'leyden.Atoms("molecule.pqr")'),
    ('leyden.load("protein.pqr")', 'leyden.Map("map.dx")'),
    ('leyden.read_pqr("protein.pqr")', 'leyden.Atoms("molecule.pqr"), leyden.Atoms(universe)'),
    ('leyden.Universe("protein.pqr")', 'leyden.Atoms("molecule.pqr"), leyden.Atoms(universe)'),
    ("len(atoms)", ""),
    ("atoms[:10]", ""),
    ("atoms[atoms.charges > 0]", ""),
    ("atoms[[0, 2, 1]]", ""),
    ("atoms[0]", ""),
    ("atoms[:2] + atoms[2:]", ""),
    ("atoms.positions.mean(axis=0)", ""),
    ("atoms.charges.sum()", ""),
    ("atoms.radii.max()", ""),
    ("atoms.n_atoms", "len(atoms)"),
    ("atoms.cell", ""),
    ("atoms.dimensions", "atoms.cell"),
    ("atoms.coords", "atoms.positions"),
    ("atoms.total_charge()", "'float' object is not callable"),
    ("atoms.get_positions()", "atoms.positions"),
    ("atoms.positions += 1.0", "output array is read-only"),
    ('atoms.write("out.pqr")', ""),
    ('atoms.select_atoms("protein")', "atoms[atoms.charges > 0]"),
    ('leyden.map("protein.pqr")', ""),
    ("leyden.map(u)", ""),
    ("leyden.map(u.atoms)", ""),
    ('leyden.map(atoms, device="cpu")', ""),
    ('leyden.map(atoms, device="host")', ""),
    ('leyden.map(atoms, device=["cpu"])', ""),
    ('leyden.map(atoms, device=("cpu", "host"))', '"host" is no device: jobs take it, by itself'),
    ("leyden.map(atoms, device=[])", "'cuda:0', 'gpu', '0,1' or 'host', are needed, not list"),
    ("leyden.map(atoms, box=[40.0, 40.0, 40.0])", ""),
    ("leyden.map(atoms, epsilon=78.54)", ""),
    ("leyden.map(atoms, dielectric=78.54)", ""),
    ("leyden.map(atoms, sdie=78.54)", "dielectric=78.54"),
    ("leyden.map(atoms, spacing=1.0)", ""),
    ("leyden.map(atoms, grid_spacing=1.0)", "'spacing'"),
    ("leyden.map(atoms, shape=(32, 32, 32))", "dims=(nx, ny, nz)"),
    ("leyden.map(atoms, pbc=True)", "periodic=True"),
    ("leyden.map(atoms, ionic_strength=0.15)", "kappa=0.127"),
    ("leyden.map(atoms, temperature=300.0)", ""),
    ("leyden.map(atoms, tol=1e-6)", ""),
    ("leyden.potential(atoms)", "leyden.map(atoms)"),
    ("leyden.potential_map(atoms)", "leyden.map(atoms)"),
    ("leyden.Potential(atoms)", "leyden.map(atoms)"),
    ("leyden.solve(atoms)", "leyden.map(atoms)"),
    ("leyden.points(atoms, x)", ""),
    ("leyden.points(atoms, u.atoms)", ""),
    ("float(leyden.points(atoms, x[0]))", ""),
    ("float(leyden.points(atoms, x))", "these are 20 potentials: points.values has them all"),
    ("leyden.potential_at(atoms, x)", "leyden.points(atoms, positions)"),
    ("m.shape", ""),
    ("m[0, 0, 0]", ""),
    ("m[:, :, 3].max()", ""),
    ("np.asarray(m)", ""),
    ("np.abs(m).max()", ""),
    ("m.max()", "map.values.max"),
    ("m - m", ""),
    ("2 * m", ""),
    ("1 / m", ""),
    ("-m / 2", ""),
    ("m.grid", ""),
    ("m.origin", "map.grid.origin or map.grid.axis('x')"),
    ("m.delta", "map.grid.spacing"),
    ("m.spacing", "map.grid.spacing"),
    ("m.values", ""),
    ("m.data", "map.values"),
    ("m.units", ""),
    ("m.plot()", ""),
    ("m.interpolate(x)", ""),
    ("m.interpolated(x)", "map.interpolate(positions)"),
    ("m.slice(z=0.0)", ""),
    ("m.sel(z=0.0)", 'map.slice("z", at=12.5)'),
    ('m.save("out.dx")', ""),
    ('m.write("out.dx")', ""),
    ('m.export("out.dx")', 'map.save("map.dx")'),
    ('m.to_dx("out.dx")', 'map.save("map.dx")'),
    ('leyden.Map("field.dx")', ""),
    ('leyden.Map.read("field.dx")', ""),
    ('leyden.Map.load("field.dx")', 'leyden.Map("map.dx")'),
    ('leyden.read_dx("field.dx")', 'leyden.Map("map.dx")'),
    ("repr(m)", ""),
    ("m._repr_html_()", ""),
    ("leyden.__version__", ""),
    ("leyden.devices()", ""),
    ('leyden.Engine("cpu")', ""),
    ('leyden.Plan(atoms, engine="host").run()', ""),
    ('leyden.Grid("field.dx")', "leyden.Map('field.dx').grid"),
    ('leyden.Atoms("a.psf", "a.dcd")', "leyden.Atoms(MDAnalysis.Universe('a.psf', 'a.dcd'))"),
    ("leyden.map(atoms, ngrid=(65, 65, 65))", "dims=(nx, ny, nz)"),
    ("leyden.map(atoms, cglen=(64, 64, 64))", "glen=(64, 64, 64), with dims="),
    ("leyden.map(atoms, cgcent=(0, 0, 0))", "gcent=(0, 0, 0), with dims="),
    ('leyden.map(atoms, bcfl="mdh")', "leyden.boundary(atoms, ...)"),
    ("leyden.map(atoms, nthreads=4)", "device='host', which takes all cores"),
    ('leyden.map(u, select="name CA")', 'universe.select_atoms("protein") in place of the universe'),
    ("leyden.map(u, start=0)", "leyden.average(universe, start=0, stop=100)"),
    ('leyden.map(atoms, output="out.dx")', '.save("map.dx")'),
    ("leyden.boundary(atoms, m.grid, ionic_strength=0.15)", "ions=[(0.15, 1, 2), (0.15, -1, 2)]"),
    ("leyden.surface(m, isovalue=1)", "did you mean level=1?"),
    ("leyden.surface(atoms, probe_radius=1.4)", "sharpness=2 of leyden.surface(), whose surface"),
    ("leyden.map(atoms, probe_radius=1.4)", "unexpected keyword argument 'probe_radius'"),
    ("leyden.isosurface(m, 1)", 'leyden.surface("map.dx", level=1)'),
    ("leyden.compare(m, m)", "abs(leyden.Map("),
    ("leyden.plot(m)", '.plot("z", at=12.5)'),
    ("leyden.Merge(atoms, atoms)", "leyden.Atoms(first) + leyden.Atoms(second)"),
    ('leyden.Writer("out.pqr")', '.write("molecule.pqr")'),
    ("atoms.dipole_moment()", "atoms.charges @ atoms.positions"),
    ("atoms.names", "universe.atoms of MDAnalysis"),
    ('m.save("map.png")', "map.plot(\"z\").figure.savefig('map.png')"),
    ('m.savefig("map.png")', 'map.plot().figure.savefig("map.png")'),
    ("m.centers()", "map.grid.points()"),
    ("m.resample(m.grid)", "map.interpolate(grid.points()).reshape(grid.shape)"),
    ("m.metadata", "map.report"),
    ('m.slice("z", transparent=True)', "map.plot('z', at=12.5, transparent=...)"),
    ("m.plot(transparent=True)", ""),
    ("m.plot(levels=[1, 2])", "ax.contour(slice.values, levels"),
    ("m.grid.x", 'grid.axis("x")'),
    ("leyden.surface(atoms).faces", "surface.triangles"),
    ("leyden.surface(atoms).show()", 'surface.save("surface.glb")'),
    ("leyden.surface(atoms)._repr_png_()", ""),
]


class Universe(Topology):
    def __getitem__(self, key):
        return Topology(self.charges[key], [(self.positions[key], self.dimensions)], radii=self.radii[key])


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The names that the lines know, in a folder with their files."""
    random = np.random.default_rng(7)
    x, q, r = random.uniform(-4, 4, (20, 3)).round(3), random.uniform(-1, 1, 20).round(4), random.uniform(1, 2, 20).round(4)
    folder = tmp_path_factory.mktemp("guesses")
    atoms = leyden.Atoms(x, q, r)
    atoms.write(folder / "protein.pqr")
    potential = leyden.map(atoms, spacing=1, padding=2, engine="host")
    potential.save(folder / "field.dx")
    return folder, {"leyden": leyden, "np": np, "atoms": atoms, "m": potential, "x": x + 0.5, "q": q, "r": r,
                    "u": Universe(q, [(x, np.array([20.0, 20, 20, 90, 90, 90]))], radii=r)}


@pytest.mark.filterwarnings("ignore::leyden.PointsWarning")
@pytest.mark.parametrize("line, says", GUESSES, ids=[line for line, _ in GUESSES])
def test_guess(words, monkeypatch, line, says):
    if "plot" in line:
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(words[0])
    scope = dict(words[1])
    if not says:
        exec(line, scope)
        return
    with pytest.raises((AttributeError, TypeError, ValueError)) as caught:
        exec(line, scope)
    assert says in str(caught.value)


@pytest.mark.parametrize("owner, word, says", [
    (leyden, "devises", "did you mean leyden.devices?"), (leyden, "qqq", "no attribute 'qqq'"),
    (leyden.Engine, "platform", "no attribute"), (leyden.Atoms, "chargs", "did you mean leyden.Atoms.charges?"),
    (leyden.Grid((0, 0, 0), spacing=1, n=(2, 2, 2)), "delta", "did you mean grid.spacing?"),
    (leyden.Atoms([[0, 0, 0]], [1]), "chargs", "did you mean atoms.charges?"),
])
def test_other_names(owner, word, says):
    with pytest.raises(AttributeError, match="no attribute") as caught:
        getattr(owner, word)
    assert says in str(caught.value) and hasattr(leyden.Atoms, "positions") and not hasattr(leyden, "_nothing")


@pytest.mark.parametrize("wrong, says", [
    ("leyden.Atoms(3)", "a PQR file's name, a Universe or AtomGroup of MDAnalysis"), ("leyden.map([1, 2])", "not list"),
    ("leyden.Atoms('a.pqr', radii=1)", "radii are those of the file"), ("leyden.Atoms(u, cell=(9, 9, 9))", "cell"),
    ("leyden.Map(np.zeros((2, 2, 2)))", "Map(values, grid)"), ("leyden.Map(3)", "Map(values, grid)"),
    ("m - leyden.Map(m.values[1:], leyden.Grid(m.grid.origin, m.grid.step, (*m.grid.n[:2], m.grid.n[2] - 1)))",
     "different grids"),
    ("m + leyden.Map(m.values, m.grid, 'V')", "kT/e"), ("m + np.zeros((2, 2))", "broadcast"), ("m + 'a'", "unsupported"),
    ("atoms[99]", "a slice, a number, a mask, (20,)"), ("atoms[[True]]", "a mask, (20,)"), ("atoms + 1", "unsupported"),
    ("leyden.Atoms(x, q, cell=(9, 9, 9)) + leyden.Atoms(x, q, cell=(8, 9, 9))", "different cells"),
    ("m.interpolate([[0, 0, 99]])", "points[0]"), ("m.interpolate([0, 0, np.nan])", "outside"),
    ("m.slice(w=3)", "slice('z', at=12.5)"), ("leyden.map(atoms, device=1.5)", "'cuda:0', 'gpu' or 'host'"),
    ("leyden.map(atoms, engine='host', device='host')", "engine twice"),
])
def test_what_is_wanted(words, wrong, says):
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        eval(wrong, dict(words[1]))
    assert says in str(caught.value)


def test_parts_of_atoms(charges):
    x, q, r = charges
    atoms = leyden.Atoms(x, q, r, cell=(20, 20, 20), residues=np.arange(60) // 3)
    for key in (slice(3, 30, 4), q > 0, [5, 2], np.array([7]), -1):
        part, index = atoms[key], np.atleast_1d(np.arange(60)[key])
        assert np.array_equal(part.positions, x[index]) and np.array_equal(part.charges, q[index])
        assert np.array_equal(part.radii, r[index]) and np.array_equal(part.residues, index // 3)
        assert np.array_equal(part.cell, atoms.cell)
    both = atoms[40:] + leyden.Atoms(x, q, r)[:40]
    assert np.array_equal(both.positions, np.concatenate([x[40:], x[:40]])) and both.residues is None
    assert np.array_equal(both.cell, atoms.cell) and len(pickle.loads(pickle.dumps(both))) == 60
    doubled = (atoms + atoms).residues
    assert len(np.unique(doubled)) == 40 and doubled[60] == doubled[59] + 1
    assert sum(len(one) for one in atoms) == 60 and np.array_equal(leyden.Atoms(atoms).x, x)


def test_what_functions_take(words, monkeypatch):
    """Files, universes and Atoms give the same values; a universe without radii is fine where nobody needs them."""
    folder, scope = words
    monkeypatch.chdir(folder)
    atoms, u = scope["atoms"], scope["u"]
    first = leyden.map(atoms, spacing=1, padding=2, engine="host", periodic=False)
    bare = Topology(u.charges, u.frames)
    for source in ("protein.pqr", folder / "protein.pqr", u, bare):
        assert np.array_equal(leyden.map(source, first.grid, engine="host", periodic=False).values, first.values)
    with pytest.warns(leyden.RadiiWarning):
        leyden.map(bare, first.grid, method="cutoff", periodic=False)
    at = leyden.points(u, u.atoms, exclude="self", device="host")
    assert np.array_equal(at.values, leyden.points(atoms, atoms, exclude="self", box=(20, 20, 20), device="host").values)


def test_arithmetic(words):
    m = words[1]["m"]
    v = m.values.copy()
    for found, wanted, units in ((m - m / 2, v - v / 2, "kT/e"), (2 * m, 2 * v, "kT/e"), (np.float64(2) * m, 2 * v, "kT/e"),
                                 (1 - m, 1 - v, "kT/e"), (-m, -v, "kT/e"), (abs(m), abs(v), "kT/e"), (m * m, v * v, ""),
                                 (v + m, v + v, "kT/e"), (m / m, v / v, "")):
        assert isinstance(found, leyden.Map) and np.allclose(found.values, wanted) and found.units == units
        assert found.grid == m.grid
    assert m[1, 2, 3] == v[1, 2, 3] and np.array_equal(m[:, 2], v[:, 2]) and m.shape == v.shape
    changed = 1 * m
    changed[0] = 5
    assert np.all(changed.values[0] == 5) and np.array_equal(m.values, v)


def test_a_map_less_its_file(words):
    """A file has few digits: its grid is the map's all the same, as `leyden compare` has it."""
    folder, scope = words
    grid = leyden.Grid((1 / 3, 0, 0), spacing=1 / 7, n=(3, 4, 5))
    made = leyden.Map(np.ones(grid.shape), grid)
    made.save(folder / "thirds.dx")
    assert not np.any((made - leyden.Map(folder / "thirds.dx")).values)


def test_interpolation():
    """Exact of what is linear in each coordinate, on oblique grids, too."""
    grid = leyden.Grid((1, -2, 0.5), step=[[0.5, 0.1, 0], [0, 0.75, 0.2], [0.1, 0, 1]], n=(4, 5, 6))
    s = np.random.default_rng(1).uniform(0, 1, (50, 3)) * (3, 4, 5)
    values = lambda i, j, k: 1 + i - 2 * j + 3 * k + i * j * k
    k, j, i = np.indices(grid.shape)
    made = leyden.Map(values(i, j, k), grid)
    found = made.interpolate(grid.origin + s @ grid.step)
    assert np.allclose(found, values(*s.T), rtol=1e-5) and np.isclose(made.interpolate(grid.point(3, 4, 5)), made[5, 4, 3])
    assert np.shape(made.interpolate(grid.point(0, 0, 0))) == ()


def test_interpolation_in_a_cell(charges):
    """Beyond its faces a whole period goes on; a map of a part of it ends."""
    atoms = leyden.Atoms(*charges, cell=(16, 16, 16))
    whole = leyden.map(atoms, dims=(8, 8, 8), device="host")
    at = np.random.default_rng(2).uniform(-8, 8, (20, 3))
    assert np.allclose(whole.interpolate(at), whole.interpolate(at + (32, -16, 16)), rtol=1e-5, atol=1e-5)
    assert np.isclose(whole.interpolate(whole.grid.point(8, 3, -1)), whole[7, 3, 0])
    part = leyden.map(atoms, leyden.Grid((0, 0, 0), spacing=2, n=(7, 8, 8)), device="host")
    with pytest.raises(leyden.InputError, match="outside"):
        part.interpolate([13, 0, 0])
    assert np.isclose(part.interpolate([0, 15, 0]), (part[0, 7, 0] + part[0, 0, 0]) / 2, rtol=1e-5)


def test_plans_follow_universes(charges):
    """run(universe) takes the positions and the cell of its frame, and the map goes on as that cell does."""
    x, q, _ = charges
    frames = [(x * scale, np.array([16.0 * scale] * 3 + [90, 90, 90])) for scale in (1, 1.25)]
    u = Topology(q, frames)
    with leyden.Plan(u, dims=(8, 8, 8), engine="host") as plan:
        for _ in u.trajectory:
            values = plan.run(u).values
        assert np.allclose(plan.map.grid.spacing, 2.5) and np.isclose(plan.map.interpolate([21.25, 0, 0]), values[0, 0, :2].mean())
        assert np.allclose(values, leyden.map(u, plan.map.grid, engine="host").values, rtol=1e-4, atol=1e-4)


def test_notebooks(words, monkeypatch):
    m = words[1]["m"]
    pytest.importorskip("matplotlib")
    page = m._repr_html_()
    picture = base64.b64decode(page.split("base64,")[1].split('"')[0])
    assert "kT/e" in page and picture.startswith(b"\x89PNG") and len(picture) < 60_000
    plane = m.slice("x", at=0.3)
    assert plane._repr_html_().startswith('<img src="data:image/png;base64,iVBOR')
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert plane._repr_html_() is None
    nx, ny, nz = m.grid.n
    assert repr(plane) == f"<leyden.Slice: x = {plane.at:g} A, {ny} x {nz} points along y and z, kT/e>"
    assert "<img" not in m._repr_html_() and "<table>" in m._repr_html_()


def test_points_as_text_and_number(words):
    atoms, x = words[1]["atoms"], words[1]["x"]
    one, all_ = leyden.points(atoms, x[3], engine="host"), leyden.points(atoms, x, engine="host")
    assert float(one) == one.values[0] and np.isclose(float(one), all_.values[3], rtol=1e-9)
    assert repr(one) == "<leyden.Points: 1 potential, kT/e>" and repr(all_) == "<leyden.Points: 20 potentials, kT/e>"


def test_devices_by_name(words, monkeypatch):
    """They are opened once; the host alone opens none, and neither does its plan."""
    atoms = words[1]["atoms"]
    grid = leyden.Grid.around(atoms, spacing=2, padding=1)
    leyden.map(atoms, grid, device="cpu", method="dcs")
    kept = leyden._engine._opened["cpu"]
    leyden.points(atoms, grid.points(), engine="cpu", method="dcs")
    assert leyden._engine._opened["cpu"] is kept
    monkeypatch.setattr(leyden._engine, "Engine", None)  # whoever opens one fails
    with leyden.Plan(atoms, grid, engine="host") as plan:
        first = plan.run().values.copy()
        assert np.array_equal(first, leyden.map(atoms, grid, engine="host").values)
        assert not np.array_equal(plan.run(atoms.positions + 0.5).values, first)
        report = plan.report
    assert report["host"] is not None and leyden.Plan(atoms, grid, plan=report).run().values.tolist() == first.tolist()


@pytest.mark.parametrize("line, says", [
    ('leyden.points(atoms, "pts.txt")', "xyz: numbers are needed: positions, (n, 3), A, or Atoms, a Universe or an AtomGroup, "
                                        "not 'pts.txt'; of a file they are np.loadtxt('pts.txt')"),
    ('m.interpolate("a.pqr")', "of a file they are leyden.Atoms('a.pqr').positions"),
    ("leyden.points(atoms, [1, 2])", "xyz has the shape (2,), not (n, 3): positions, A, or Atoms"),
    ("m.interpolate(7)", "points has the shape ("),
    ("leyden.Grid((0, 0, 0), 1, (4, 4, 4))", "spacing=1: Grid(origin, spacing=..., n=...)"),
    ("leyden.Grid((0, 0, 0), n=(4, 4, 4))", "Grid((0, 0, 0), spacing=1, n=(4, 4, 4))"),
    ("leyden.map(atoms, box=10)", "three vectors, (3, 3), are needed: a cube's is cell=(10, 10, 10)"),
    ("leyden.Plan(u, points=x)", "leyden.points(universe, points) in the loop over frames"),
    ("leyden.map(atoms, points=x)", "leyden.points(atoms, points)"),
])
def test_what_is_wanted(words, line, says):
    with pytest.raises((TypeError, ValueError)) as caught:
        exec(line, dict(words[1]))
    assert says in str(caught.value)


def test_one_point_and_atoms(words):
    atoms, m, x = (words[1][name] for name in ("atoms", "m", "x"))
    one = leyden.points(atoms, x[0].tolist(), engine="host")
    assert one.xyz.shape == (1, 3) and one.values.shape == (1,)
    assert np.array_equal(m.interpolate(atoms), m.interpolate(atoms.positions)) and np.ndim(m.interpolate(x[0])) == 0
    assert m.interpolate(atoms[0]).shape == (1,)
