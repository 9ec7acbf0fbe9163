"""Surfaces: arrays, formulas, values and files."""
import base64
import math
import struct
import zlib

import numpy as np
import pytest

import leyden


def sphere(radius=2.0):
    return leyden.Atoms.from_arrays([[0.1, 0.2, 0.3]], [1.0], [radius])


def test_sphere(tmp_path):
    made = leyden.surface(sphere(), spacing=0.25, engine="host")
    assert made.area == pytest.approx(16 * math.pi, rel=1e-3) and made.volume == pytest.approx(32 / 3 * math.pi, rel=1e-3)
    assert made.vertices.shape == made.normals.shape and made.values.shape == made.vertices.shape[:1]
    assert made.is_closed and made.units == "kT/e"
    assert np.allclose(made.normals, (made.vertices - [0.1, 0.2, 0.3]) / 2, atol=2e-3)
    charge = leyden.points(sphere(), [[2.1, 0.2, 0.3]], dielectric=78.54, engine="host").values[0]
    assert np.allclose(made.values, charge, rtol=2e-3)
    corners = made.vertices[made.triangles]
    assert np.linalg.det(corners - [0.1, 0.2, 0.3]).sum() / 6 == pytest.approx(made.volume, rel=0.02)
    for ending in ("ply", "obj", "stl", "glb", "pml"):
        made.save(tmp_path / f"a.{ending}", limits=3)
        assert (tmp_path / f"a.{ending}").stat().st_size > 100
    keeps = made.vertices
    del made
    assert np.isfinite(keeps).all()


def test_map():
    grid = leyden.Grid((-4, -4, -4), n=(17, 17, 17), spacing=0.5)
    z, y, x = np.meshgrid(*[np.arange(-4, 4.1, 0.5)] * 3, indexing="ij")
    field = leyden.Map.from_array(9 - x**2 - y**2 - z**2, grid, "V")
    made = leyden.surface(field, level=[0])
    assert made.volume == pytest.approx(36 * math.pi, rel=1e-3) and made.units == "V"
    assert made.levels == [(0, made.area, made.volume)]
    nested = leyden.surface(field, level=[0, 5, 0])
    assert [level for level, _, _ in nested.levels] == [0, 5] and nested.levels[0] == made.levels[0]
    assert nested.levels[1][2] == pytest.approx(32 / 3 * math.pi, rel=1e-2) and math.isnan(nested.volume)
    assert nested.area == pytest.approx(sum(area for _, area, _ in nested.levels))
    taken = leyden.surface(sphere(), map=field)
    assert not taken.levels
    assert np.allclose(taken.values, 9 - (taken.vertices**2).sum(axis=1), atol=0.2)


def test_usual_colours(tmp_path):
    """5 kT/e in the units of the values."""
    made = leyden.surface(sphere(), engine="host")
    made.values[:] = np.linspace(-4, 4, len(made.values))
    made.save(tmp_path / "a.ply")
    made.save(tmp_path / "b.ply", limits=5)
    assert (tmp_path / "a.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()
    grid = leyden.Grid((-4, -4, -4), n=(17, 17, 17), spacing=0.5)
    field = leyden.Map.from_array(np.random.default_rng(1).normal(size=(17, 17, 17)), grid, "V")
    taken = leyden.surface(sphere(), map=field)
    taken.save(tmp_path / "a.ply")
    taken.save(tmp_path / "b.ply", limits=5 * 1.380649e-23 * 298.15 / 1.602176634e-19)
    a, b = ((tmp_path / name).read_bytes() for name in ("a.ply", "b.ply"))
    assert sum(x != y for x, y in zip(a, b)) < 10  # a colour may be rounded to the next one


def test_refusals(tmp_path):
    with pytest.raises(leyden.InputError, match="no atom has a radius"):
        leyden.surface(sphere(0))
    with pytest.raises(leyden.UsageError, match="spacing"):
        leyden.surface(sphere(), spacing=-1)
    with pytest.raises(leyden.UsageError, match="level is for maps"):
        leyden.surface(sphere(), level=1)
    made = leyden.surface(sphere(), engine="host")
    with pytest.raises(leyden.UsageError, match=".ply, .obj, .stl or .glb"):
        made.save(tmp_path / "a.vtk")
    with pytest.raises(leyden.UsageError, match="limits"):
        made.save(tmp_path / "a.ply", limits=(2, 1))


class Topology:
    """As much of a Universe, and of its AtomGroup, as is asked for."""

    def __init__(self, atoms):
        self.positions, self.charges, self.radii, self.atoms = atoms.positions, atoms.charges, atoms.radii, self

    def __len__(self):
        return len(self.positions)


def test_what_surfaces_are_of(tmp_path):
    """What map() takes, and files of maps."""
    sphere().write(tmp_path / "a.pqr")
    right = leyden.surface(sphere(), engine="host")
    for source in (str(tmp_path / "a.pqr"), tmp_path / "a.pqr", Topology(sphere())):
        made = leyden.surface(source, engine="host")
        assert np.array_equal(made.vertices, right.vertices) and np.array_equal(made.values, right.values)
    potential = leyden.map(sphere(), spacing=1, padding=4, engine="host")
    potential.save(tmp_path / "a.dx")
    assert leyden.surface(tmp_path / "a.dx", level=200).area == pytest.approx(leyden.surface(potential, level=200).area)
    assert leyden.surface(sphere(), map=tmp_path / "a.dx").units == "kT/e"


def test_sources_that_are_none(tmp_path):
    for source, level, says in ((7, None, "a PQR file's name, a Universe .* is needed, not int"),
                                ("x.dx", None, r"needs a level: leyden.surface\('x.dx', level=1\)"),
                                ("x.pqr", 1, "level is for maps"), (None, 1, "not NoneType")):
        with pytest.raises(leyden.UsageError, match=says):
            leyden.surface(source, level=level)
    with pytest.raises(leyden.UsageError, match="map: a leyden.Map .* not int"):
        leyden.surface(sphere(), map=3)


def picture_of(png):
    """(height, width, 3) of a PNG whose lines are less those above them."""
    width, height = struct.unpack_from(">II", png, 16)
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(png[at + 4:at + 8 + size])
        packed, at = packed + (png[at + 8:at + 8 + size] if kind == b"IDAT" else b""), at + 12 + size
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    assert np.all(lines[:, 0] == 2)
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3).astype(int)


def test_notebooks():
    """Spheres as seen along z: discs of their radii, blue left, red right with a blue one before it, white around."""
    atoms = leyden.Atoms.from_arrays([[-6.0, 0, 0], [6, 0, 5], [6, 0, 11]], [1.0, -4, 1], [2.0, 4, 1.5])
    made = leyden.surface(atoms, dielectric=1, engine="host")
    page = made._repr_html_()
    picture = picture_of(made._repr_png_())
    assert base64.b64encode(made._repr_png_()).decode() in page and "5 kT/e" in page and f"{made.area:.6g}" in page
    (low, _, _), (high, _, _) = made.vertices.min(axis=0), made.vertices.max(axis=0)
    scale = 0.94 * 400 / (high - low)  # pixels to an A
    y, x = np.mgrid[:300, :400] + 0.5
    x, y = (x - 200) / scale + (low + high) / 2, (150 - y) / scale
    for middle, least, radius, strong, weak in ((-6, 0, 2, 2, 0), (6, 1.5, 4, 0, 2), (6, 0, 1.15, 2, 0)):  # its back is red
        far = np.hypot(x - middle, y)
        inside, outside = (far >= least + 0.15 * (least > 0)) & (far < radius - 0.15), (far > radius + 0.15) & (far < radius + 1)
        assert np.all(picture[inside][:, strong] > picture[inside][:, weak] + 20)
        assert radius < 2 or np.all(picture[outside] == 255)
    assert np.all(picture[:60] == 255) and 1000 < len(made._repr_png_()) < 60_000


def test_colours_of_levels(tmp_path):
    """As the command has them: full at the largest level, in any unit."""
    grid = leyden.Grid((-4, -4, -4), n=(17, 17, 17), spacing=0.5)
    x = np.linspace(-4, 4, 17)
    field = leyden.Map.from_array(np.broadcast_to(0.01 * x, (17, 17, 17)), grid, "V")
    made = leyden.surface(field, level=[-0.02, 0.01])
    made.save(tmp_path / "a.ply")
    made.save(tmp_path / "b.ply", limits=0.02)
    assert (tmp_path / "a.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()
    assert "red -0.02 to blue 0.02 V" in made._repr_html_() and "-0.02, 0.01 V" in made._repr_html_()


def test_pictures_are_of_the_command(tmp_path):
    sphere().write(tmp_path / "a.pqr")
    made = leyden.surface(tmp_path / "a.pqr", engine="host")
    with pytest.raises(leyden.UsageError, match=f"leyden surface {tmp_path}/a.pqr -o q.png"):
        made.save("q.png", size=800)
    with pytest.raises(leyden.UsageError, match="leyden surface molecule.pqr -o q.png"):
        leyden.surface(sphere(), engine="host").save("q.jpg")
    with pytest.raises(leyden.UsageError, match="no option 'limit' .did you mean 'limits'"):
        made.save("q.ply", limit=3)
