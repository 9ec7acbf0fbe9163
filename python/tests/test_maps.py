"""Maps, points and boundaries: against NumPy, and against the command, byte by byte."""
import inspect
import json
import pickle
import re
import warnings

import numpy as np
import pytest
from conftest import N, ORIGIN, SPACING, coulomb

import leyden


@pytest.fixture(scope="module")
def made(atoms, grid, engine):
    return leyden.map(atoms, grid, method="dcs", engine=engine)


@pytest.fixture(scope="module")
def files(tmp_path_factory, atoms):
    folder = tmp_path_factory.mktemp("files")
    atoms.write(folder / "a.pqr")
    return folder


def on_the_grid(*words):
    return ("--dims", ",".join(map(str, N)), "--origin", ",".join(map(repr, ORIGIN)), "--spacing", SPACING,
            "--device", "cpu", *words)


def body(path):
    """The values of an OpenDX file, as text."""
    return path.read_text().split("follows\n", 1)[1]


def test_what_coulomb_says(made, charges, grid):
    expected = coulomb(charges, grid.points())
    assert made.values.shape == (23, 19, 17) and made.values.dtype == np.float32 and made.units == "kT/e"
    assert np.abs(made.values.ravel() - expected).max() < 1e-5 * np.abs(expected).max()
    assert made.grid == grid and made.report["method"] == "dcs" and made.report["atoms"] == 60
    assert made.report["accuracy"]["passed"] and made.report["devices"][0]["device"]["device_class"] == "cpu"


def test_values_are_no_copy(made):
    assert np.shares_memory(made.values, made.values) and not made.values.flags.owndata
    copy = leyden.Map.from_array(made.values, made.grid, "kT/e")
    assert not np.shares_memory(copy.values, made.values)
    copy.values[0, 0, 0] = 42  # the map's own memory
    assert copy.values[0, 0, 0] == 42 and np.asarray(copy)[0, 0, 0] == 42
    assert np.shares_memory(np.asarray(copy), copy.values)
    values = leyden.Map.from_array(made.values, made.grid).values
    assert np.array_equal(values, made.values)  # though its map has no other name
    with pytest.raises(leyden.InputError, match=r"\(nz, ny, nx\)"):
        leyden.Map.from_array(made.values.T, made.grid)


@pytest.mark.parametrize("field", [False, True])
def test_cube_files_are_the_commands(tmp_path, files, atoms, grid, engine, command, field):
    """kT/e becomes hartree/e at the map's temperature, whoever writes it, and the molecule is in it."""
    command("map", files / "a.pqr", "-o", tmp_path / "c.cube", *on_the_grid("--method", "dcs"), "--temperature", 350,
            "--json", tmp_path / "c.json", *(["--field"] if field else []))
    made = leyden.map(atoms, grid, method="dcs", temperature=350, engine=engine, field=field, plan=tmp_path / "c.json")
    made.save(tmp_path / "p.cube")
    ours, theirs = ((tmp_path / name).read_text().split("\n") for name in ("p.cube", "c.cube"))
    assert ours[0] == theirs[0] and ours[0].endswith(" kT/e at 350 K")
    assert ours[2:] == theirs[2:] and len(ours) > 66  # the second line is the comment's first
    made.save(tmp_path / "p.raw")
    facts = json.loads((tmp_path / "p.raw.json").read_text())["facts"]
    assert (facts["temperature_K"], facts["dielectric"], facts["r_min_A"]) == (350, 1, 0.05)


@pytest.mark.parametrize("ending", [".dx", ".dx.gz", ".raw", ".raw.gz", ".mrc", ".map.gz", ".npy.gz", ".cube.gz",
                                    ".dxbin.gz"])
def test_files_of_maps(tmp_path, made, ending):
    made.save(tmp_path / f"m{ending}")
    again = leyden.Map.read(tmp_path / f"m{ending}")
    assert again.values.shape == made.values.shape and np.allclose(again.grid.origin, made.grid.origin)
    assert np.allclose(again.values, made.values, rtol=1e-6)
    assert "raw" not in ending or (np.array_equal(again.values, made.values) and again.units == "kT/e")
    with pytest.raises(leyden.UsageError):
        made.save(tmp_path / "m.nothing")


def test_what_may_be_meant_otherwise(tmp_path, made):
    """An MRC file whose ORIGIN and NSTART tell two places."""
    made.save(tmp_path / "m.mrc")
    content = bytearray((tmp_path / "m.mrc").read_bytes())
    content[16:28] = np.array([1000, 1000, 1000], "<i4").tobytes()
    (tmp_path / "other").write_bytes(content)
    with pytest.warns(leyden.MapWarning, match="tell two places"):
        again = leyden.Map.read(tmp_path / "other")
    assert np.allclose(again.grid.origin, made.grid.origin) and np.array_equal(again.values, made.values)


@pytest.mark.parametrize("method, words, arguments", [
    ("dcs", (), {}),
    ("dcs", ("--sum", "double", "--units", "V", "--dielectric", 4), dict(sum="double", units="V", dielectric=4)),
    ("auto", (), {}),
    ("msm", (), {}),
    ("cutoff", (), {}),
    ("msm", ("--tol", 1e-3), dict(tol=1e-3)),
    ("msm", ("--cutoff", 8, "--window", "nodal5", "--kappa", 0.1),
     dict(cutoff=8, window="nodal5", kappa=0.1)),
    ("msm", ("--preset", "papers"), dict(preset="papers")),
    ("msm", ("--solver", "fourier", "--levels", 1, "--fft", "fftw"), dict(solver="fourier", levels=1, fft="fftw")),
    ("msm", ("--cell", "20,20,20", "--periodic", "xyz", "--tol", 1e-3), dict(cell=(20, 20, 20), tol=1e-3)),
    ("cutoff", ("--cutoff", 9, "--pair", "yukawa", "--kappa", 0.2), dict(cutoff=9, pair="yukawa", kappa=0.2)),
    ("cutoff", ("--pair", "q*exp(-r/l)/r", "--constants", "l=7"), dict(pair="q*exp(-r/l)/r", constants={"l": 7})),
    ("cutoff", ("--pair", "lennard-jones", "--probe", "1.4,0.2", "--well-depth", 0.3),
     dict(pair="lennard-jones", probe=(1.4, 0.2), well_depth=0.3)),
])
def test_the_bytes_of_the_command(files, atoms, grid, engine, command, method, words, arguments):
    command("map", files / "a.pqr", "-o", files / "c.raw", *on_the_grid("--method", method, *words),
            "--slab", 1, "--json", files / "c.json")
    made = leyden.map(atoms, grid, method=method, engine=engine, slab=1,
                      plan=json.loads((files / "c.json").read_text()), **arguments)
    made.save(files / "p.raw")
    assert (files / "c.raw").read_bytes() == (files / "p.raw").read_bytes()


def defaults_in(text):
    """By the options' names, as their help says them."""
    found = {}
    for option in re.split(r"\n {2,6}(?:-\w, )?--", text)[1:]:
        default = re.search(r"\(default:\s+([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$", option.split("\n\n")[0])
        found[option.split()[0].rstrip(",")] = default and " ".join(default.group(1).split())
    return found


def arguments_of(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if p.default is not p.empty}


# Arguments that have no option, or another type than its.
OTHERS = {"grid", "constants", "cell", "periodic", "plan", "engine", "progress", "field", "ions", "exclude", "probe"}


@pytest.mark.parametrize("function, of, names", [
    (leyden.map, "map", {}), (leyden.points, "map", {}), (leyden.boundary, "boundary", {"method": "bcfl"}),
])
def test_the_defaults_are_the_commands(command, function, of, names):
    """An argument's own default is what the option's help says; None leaves it to the same library."""
    options = defaults_in(command("help", of, "all"))
    told = 0
    for name, default in arguments_of(function).items():
        said = options.get(names.get(name, name.replace("_", "-")))
        if name in OTHERS or default is None:
            continue
        assert said is not None and (said == default if isinstance(default, str) else float(said) == default), name
        told += 1
    assert told >= 5
    # What None stands for here, and is no default of the library's.
    if of == "map":
        assert options["tol"].startswith(f"{leyden._c.lib.LEY_USUAL_TOLERANCE:g}; none with --method msm")
        assert float(options["cutoff"]) == 12 and options["verify"] == "1000"
        assert float(options["spacing"]) == 0.5 and float(options["padding"]) == 10 and options["seed"] == "0"
        assert options["periodic"] == options["cell"] == "none" and float(options["kappa"]) == 0


def test_tolerances_are_of_methods_that_choose(atoms, grid, engine):
    with pytest.raises(leyden.UsageError, match="tol is for methods 'auto' and 'msm'"):
        leyden.map(atoms, grid, method="dcs", tol=1e-3, engine=engine)


def test_meshes_without_a_tolerance_are_the_commands(files, atoms, grid, engine, command):
    """Whatever was measured, and without its plan: 2e-4 off, not the 5e-5 that a tolerance of 1e-4 aims at."""
    command("map", files / "a.pqr", "-o", files / "c.raw", *on_the_grid("--method", "msm"))
    right = leyden.Map.read(files / "c.raw").values
    found = leyden.map(atoms, grid, method="msm", engine=engine).values
    chosen = leyden.map(atoms, grid, method="msm", tol=1e-4, engine=engine).values
    off, other = (np.sqrt(np.mean((v - right) ** 2) / np.mean(right ** 2)) for v in (found, chosen))
    assert off < 1e-6 < 1e-5 < other


def test_the_file_of_the_command(files, atoms, engine, command):
    command("map", files / "a.pqr", "-o", files / "c.dx", "--device", "cpu", "--spacing", 1, "--padding", 4,
            "--slab", 1, "--json", files / "c.json")
    leyden.map(atoms, spacing=1, padding=4, slab=1, engine=engine, plan=files / "c.json").save(files / "p.dx")
    assert body(files / "c.dx") == body(files / "p.dx")
    said, right = ([line for line in (files / name).read_text().split("\n") if line.startswith("#")]
                   for name in ("p.dx", "c.dx"))
    differ = [line for line in right if line not in said]
    assert [line.split(":")[0] for line in differ] == ["# method", "# molecule"], (said, right)
    assert "# atoms: 60" + differ[1][differ[1].index(", total charge"):] in said, said
    assert any(line.startswith("# accuracy: error at most ") for line in said), said


@pytest.mark.parametrize("how", [{"cell": (20, 21, 22), "kappa": 0.125}, {"method": "cutoff", "pair": "yukawa", "kappa": .5}])
def test_the_header_of_the_command(files, atoms, grid, command, how):
    """Of what the host does, of which all is said."""
    words = [word for name, value in how.items() for word in (
        f"--{name}", ",".join(map(str, value)) if name == "cell" else value)]
    command("map", files / "a.pqr", "-o", files / "c.dx", "--device", "host", "--dims", "7,6,5", "--spacing", 2, "--origin", "0,0,0",
            *(["--periodic", "xyz"] if "cell" in how else []), *words)
    leyden.map(files / "a.pqr", leyden.Grid((0, 0, 0), spacing=2, n=(7, 6, 5)), engine="host", **how).save(files / "p.dx")
    assert body(files / "c.dx") == body(files / "p.dx")
    said, right = (set(line for line in (files / name).read_text().split("\n") if line.startswith("#"))
                   for name in ("p.dx", "c.dx"))
    assert sorted(line.split(":")[0] for line in right - said) == ["# method"], (said, right)


def test_the_plan_of_a_report(files, atoms, grid, engine, command):
    first = leyden.map(atoms, grid, method="msm", slab=1, engine=engine)
    assert first.report["plan"]["method"] == "msm"
    again = leyden.map(atoms, grid, method="msm", slab=1, plan=first.report, engine=engine)
    assert np.array_equal(first.values, again.values)
    with pytest.raises(leyden.UsageError, match="plan"):
        leyden.map(atoms, grid, method="dcs", plan=first.report, engine=engine)
    command("map", files / "a.pqr", "-o", files / "m.raw", "--method", "msm", "--slab", 1, "--json",
            files / "r.json", *on_the_grid())
    leyden.map(atoms, grid, method="msm", tol=None, slab=1, plan=files / "r.json",
               engine=engine).save(files / "p.raw")
    assert (files / "m.raw").read_bytes() == (files / "p.raw").read_bytes()
    (files / "r.json").write_text("[]")
    for plan, kind, words in [(files / "r.json", leyden.InputError, "r.json: no report"),
                              (files / "a.pqr", leyden.InputError, "a.pqr: no JSON"),
                              (files / "none", leyden.FileError, "none: No such file"), (3, leyden.UsageError, "not int")]:
        with pytest.raises(kind, match=words):
            leyden.map(atoms, grid, plan=plan, engine=engine)


def test_points_and_fields(files, charges, atoms, engine, command):
    xyz = np.random.default_rng(3).uniform(-9, 9, (100, 3)).round(4)
    found = leyden.points(atoms, xyz, field=True, engine=engine)
    expected = coulomb(charges, xyz)
    assert len(found) == 100 and np.array_equal(found.xyz, xyz) and not found.xyz.flags.writeable
    assert np.abs(found.values - expected).max() < 1e-5 * np.abs(expected).max()
    step = 1e-4
    for axis in range(3):
        by = step * np.eye(3)[axis]
        slope = (coulomb(charges, xyz - by) - coulomb(charges, xyz + by)) / (2 * step)
        far = np.linalg.norm(xyz[:, None] - charges[0][None], axis=2).min(axis=1) > 0.5
        assert np.allclose(found.field[far, axis], slope[far], rtol=1e-3, atol=1e-3 * np.abs(slope[far]).max())
    assert leyden.points(atoms, xyz[:3], engine=engine).field is None
    np.savetxt(files / "xyz", xyz, fmt="%.4f")
    command("map", files / "a.pqr", "-o", files / "c.csv", "--points", files / "xyz", "--field", "--device", "cpu",
            "--json", files / "c.json")
    found = leyden.points(atoms, xyz, field=True, engine=engine, plan=files / "c.json")
    found.save(files / "p.csv")
    rows = [[line for line in (files / name).read_text().splitlines() if not line.startswith("#")]
            for name in ("c.csv", "p.csv")]
    assert rows[0] == rows[1] and len(rows[0]) == 101
    found.save(files / "p.npy")
    table = np.load(files / "p.npy")
    assert np.array_equal(table, np.column_stack((xyz, found.values, found.field)))
    command("map", files / "a.pqr", "-o", files / "d.csv", "--points", files / "p.npy", "--field", "--device", "cpu",
            "--plan", files / "c.json")
    assert (files / "d.csv").read_text() == (files / "c.csv").read_text()


def test_the_field_of_a_map(files, atoms, grid, engine, command):
    command("map", files / "a.pqr", "-o", files / "f.raw", "--field", "--json", files / "f.json", *on_the_grid())
    made = leyden.map(atoms, grid, field=True, engine=engine, plan=files / "f.json")
    for one, path in zip((made, *made.field), ("f.raw", "f_Ex.raw", "f_Ey.raw", "f_Ez.raw")):
        one.save(files / "p.raw")
        assert (files / path).read_bytes() == (files / "p.raw").read_bytes()
    assert made.field[0].units == "kT/e/A"
    sliced = leyden.map(atoms, grid, field=True, engine=engine, slab=1)
    assert np.allclose(sliced.field[1].values, made.field[1].values, rtol=1e-3, atol=1e-3)
    assert leyden.map(atoms, grid, engine=engine).field is None


@pytest.mark.parametrize("ending", ["dx", "cube", "npy", "mrc.gz"])
def test_a_map_is_saved_with_its_field(tmp_path, files, atoms, grid, command, ending):
    command("map", files / "a.pqr", "-o", files / f"g.{ending}", "--field", *on_the_grid()[:-2], "--device", "host")
    made = leyden.map(atoms, grid, field=True, engine="host")
    made.save(tmp_path / f"g.{ending}")
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(path.name for path in files.glob("g*.*") if f".{ending}" in path.name)
    for map_, name in zip((made, *made.field), ("g", "g_Ex", "g_Ey", "g_Ez")):
        of_command, own = (leyden.Map.read(folder / f"{name}.{ending}") for folder in (files, tmp_path))
        assert own.units == of_command.units == map_.units and np.allclose(own.values, map_.values, rtol=1e-6, atol=1e-20)
        assert np.allclose(own.values, of_command.values, rtol=1e-4, atol=1e-4 * np.abs(own.values).max())
    made.values[0, 0, 0] = np.nan
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(leyden.InputError, match="not a number"):
        made.save(tmp_path / f"g.{ending}")
    assert not list(tmp_path.iterdir())


def test_titles_of_a_field(tmp_path, atoms, grid):
    made = leyden.map(atoms, grid, field=True, engine="host")
    made.field[1].save(tmp_path / "y.dx", "mine")
    text = (tmp_path / "y.dx").read_text()
    assert "# FIELD ALONG Y (kT/e/A)\n# \n# field along y, less the gradient of the potential, in kT/e/A\n# mine\n" in text
    made.save(tmp_path / "a.dx")
    assert "# POTENTIAL (kT/e)\n" in (tmp_path / "a.dx").read_text()
    assert "field: maps _Ex, _Ey, _Ez beside" in (tmp_path / "a.dx").read_text()


def test_oblique_grids_that_others_misread(tmp_path):
    oblique = leyden.Map.from_array(np.zeros((2, 2, 2)), leyden.Grid((0, 0, 0), [[1, 0, 0], [0.5, 1, 0], [0, 0, 1]],
                                                                     (2, 2, 2)))
    with pytest.warns(leyden.MapWarning, match="a.dx: the grid is oblique, and from OpenDX files GridDataFormats"):
        oblique.save(tmp_path / "a.dx")
    with pytest.warns(leyden.MapWarning, match="cclib would place .*write it as .mrc or .npy, or ask for an upright"):
        oblique.save(tmp_path / "a.cube")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oblique.save(tmp_path / "a.mrc")
        leyden.Map.from_array(np.zeros((2, 2, 2)), leyden.Grid((0, 0, 0), n=(2, 2, 2), spacing=1)).save(tmp_path / "b.dx")


def test_the_field_of_an_oblique_map(atoms, engine):
    oblique = leyden.Grid((-3, -2, -1), step=[[1, 0, 0], [0.5, 1, 0], [0, 0, 1]], n=(5, 4, 3))
    made, listed = leyden.map(atoms, oblique, field=True, engine=engine), \
        leyden.points(atoms, oblique.points(), field=True, engine=engine)
    for axis in range(3):
        assert np.allclose(made.field[axis].values.ravel(), listed.field[:, axis], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", ["mdh", "sdh", "zero"])
def test_boundaries(files, atoms, engine, command, method):
    command("boundary", files / "a.pqr", "-o", files / "b.raw", "--bcfl", method, "--dims", "17,17,33", "--glen",
            "32,32,64", "--gcent", "0,0,0", "--ion", "0.15,1,2", "--ion", "0.15,-1,2",
            "--device", "cpu", "--json", files / "b.json")
    found = leyden.boundary(atoms, leyden.Grid((-16, -16, -32), spacing=2, n=(17, 17, 33)), method=method,
                            ions=[(0.15, 1, 2), (0.15, -1, 2)], engine=engine,
                            plan=files / "b.json" if method == "mdh" else None)
    found.save(files / "p.raw")
    assert (files / "b.raw").read_bytes() == (files / "p.raw").read_bytes()
    assert found.kappa == pytest.approx(0.1273, rel=1e-3) and (found.report is None) == (method != "mdh")
    assert found.face("x+").shape == (33, 17) and np.shares_memory(found.face("z-"), found.values)
    with pytest.raises(leyden.UsageError):
        found.face("up")
    with pytest.warns(UserWarning, match="not neutral together"):
        leyden.boundary(atoms, [(30, 0, 0)], method=method, ions=[(0.1, 1, 2)], engine=engine)


def test_slices(made):
    plane = made.slice("x", at=-7.0123456789 + 0.75 * 3.2)
    assert np.array_equal(plane.values, made.values[:, :, 3]) and np.shares_memory(plane.values, made.values)
    assert plane.axes == ("y", "z") and plane.at == pytest.approx(made.grid.axis("x")[3])
    assert plane.extent == pytest.approx((-6.5, -6.5 + 18 * 0.75, -6.25, -6.25 + 22 * 0.75))
    assert np.array_equal(made.slice("y").values, made.values[:, 9, :])
    with pytest.raises(leyden.UsageError, match="out of range"):
        made.slice("z", at=100)


def test_headings(made, tmp_path):
    """They are the command's."""
    plane = made.slice("z", at=-4)
    assert plane.dielectric == 1 and plane.index == 3
    assert leyden._picture.heading(plane) == "potential in kT/e, dielectric 1, at z = −4 Å (plane 3)"
    made.save(tmp_path / "a.raw", comment="molecule: x.y.pqr, 60 atoms, ...\nunits: kT/e, dielectric 78.54, ...")
    read = leyden.Map.read(tmp_path / "a.raw").slice()
    assert (read.title, read.dielectric) == ("x.y", 78.54)
    made.save(tmp_path / "b.raw", comment="nothing")
    assert leyden.Map.read(tmp_path / "b.raw").slice().dielectric == 0


def test_names_of_molecules(atoms, tmp_path):
    """Of files, as the command says them; what has none is not called by its count of atoms."""
    atoms.write(tmp_path / "a.b.pqr")
    of_file = leyden.Atoms(tmp_path / "a.b.pqr")
    for given, line, title in ((of_file, "# molecule: a.b.pqr, 60 atoms, total charge ", "a.b"),
                               (pickle.loads(pickle.dumps(of_file)), "# molecule: a.b.pqr, 60 atoms, ", "a.b"),
                               (of_file[:7], "# atoms: 7, total charge ", ""), (atoms, "# atoms: 60, total charge ", "")):
        made = leyden.map(given, spacing=2, padding=3, engine="host")
        made.save(tmp_path / "a.dx")
        assert line in (tmp_path / "a.dx").read_text()
        assert made.slice().title == title == leyden.Map(tmp_path / "a.dx").slice().title


def test_options_of_pictures(made):
    pytest.importorskip("matplotlib").use("Agg")
    assert made.plot(limits=5).get_clim() == made.plot(limit=5).get_clim() == (-5, 5)
    image = made.plot(axis="y", range=(-3, 7), title="Barnase", alpha=0.5)
    assert image.get_clim() == made.slice().plot(limits=(-3, 7)).get_clim() == (-3, 7) and image.axes.get_xlabel() == "x (Å)"
    assert image.axes.get_title().startswith("Barnase\npotential") and image.axes.get_ylabel() == "z (Å)"
    assert np.allclose(image.cmap(image.norm(0.0))[:3], 0xf1 / 255, atol=0.02)  # white
    for options, says in (({"limt": 5}, "no option 'limt' .did you mean 'limit'.*range, title, transparent and imshow's"),
                          ({"size": 500}, "savefig"), ({"qqq": 1}, "no option 'qqq': it takes plane, axis, at"),
                          ({"limit": 5, "range": (1, 2)}, "limit and range exclude each other"),
                          ({"limits": (2, 1)}, "limits: 2 is not below 1"), ({"limit": -1}, "limit: -1 is not above 0"),
                          ({"range": 3}, "range: the values at both ends"), ({"axis": "q"}, "x, y or z")):
        with pytest.raises(leyden.UsageError, match=says):
            made.plot(**options)
    with pytest.raises(leyden.UsageError, match="no option 'colour'"):
        made.slice().plot(colour=5)


def test_transparent_pictures(made, tmp_path):
    """Whatever lies below shows but for the plane and its bar."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    alphas = []
    for is_clear in (False, True):
        made.plot(transparent=is_clear).figure.savefig(tmp_path / "a.png")
        alphas.append(matplotlib.image.imread(tmp_path / "a.png")[..., 3])
    assert np.all(alphas[0] == 1) and alphas[1][0, 0] == 0 and np.mean(alphas[1] == 1) > 0.2
    with pytest.raises(leyden.UsageError, match="transparent: True or False is needed"):
        made.plot(transparent="yes")


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_pictures_beside_each_other(made, layout):
    """Bars are as high as their axes, and nothing is upon the neighbour's."""
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, layout=layout)
    images = [made.slice().plot(ax, title="protein with a long name of its own") for ax in axes]
    figure.canvas.draw()
    for image in images:
        bar, own = image.colorbar.ax.get_window_extent(), image.axes.get_window_extent()
        ends = image.colorbar.extend
        assert bar.y0 >= own.y0 - 1 and bar.y1 <= own.y1 + 1 and bar.height > (0.85 if ends == "both" else 0.9) * own.height
    titles = [image.axes.title.get_window_extent() for image in images]
    assert titles[0].x1 < titles[1].x0 and titles[0].x0 > 0 and titles[1].x1 < figure.bbox.width
    assert images[0].colorbar.ax.get_tightbbox().x1 < images[1].axes.yaxis.get_tightbbox().x0 + 8  # of old matplotlibs
    plt.close(figure)


def test_limits_of_pictures(made, command, tmp_path):
    made.save(tmp_path / "a.raw")
    report = json.loads(command("slice", tmp_path / "a.raw", "-o", tmp_path / "a.png", "--json", "-"))
    assert report["range"][1] == pytest.approx(leyden._picture.usual_limit(made.slice().values))
    assert leyden._picture.usual_limit(np.zeros((2, 2))) == 1


@pytest.mark.extra
def test_pictures(made, command, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    image = made.plot(limit=5)
    image.figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000 and image.get_clim() == (-5, 5)
    assert image.axes.get_title().startswith("potential in kT/e, dielectric 1, at z = ")
    assert [image.axes.get_xlabel(), image.colorbar.ax.get_ylabel()] == ["x (Å)", "potential (kT/e)"]
    # The colour bar of the command's picture has each of our colours.
    made.save(tmp_path / "a.raw")
    command("slice", tmp_path / "a.raw", "-o", tmp_path / "a.png", "--limits", "5")
    drawn = np.unique(np.round(255 * matplotlib.image.imread(tmp_path / "a.png")[..., :3]).reshape(-1, 3), axis=0)
    for colour in image.cmap(np.linspace(0, 1, 65))[:, :3] * 255:
        assert np.abs(drawn - colour).max(axis=1).min() <= 3


def test_grids(made):
    pytest.importorskip("gridData")
    grid = made.to_gridData()
    assert np.array_equal(grid.grid, made.values.transpose(2, 1, 0)) and np.allclose(grid.origin, made.grid.origin)
    i, j, k = 3, 4, 5
    assert grid.interpolated(*made.grid.point(i, j, k)[:, None])[0] == pytest.approx(made.values[k, j, i], rel=1e-3)


def test_a_tolerance_that_is_missed(charges, grid, engine):
    """Floats of charges that nearly cancel, where nobody lets the library take doubles."""
    x, q, _ = charges
    near = leyden.Atoms.from_arrays(np.concatenate([x, x + 0.001]), np.concatenate([q, -q]))
    with pytest.warns(leyden.ToleranceWarning, match="and tol is 1e-06"):
        missed = leyden.map(near, grid, tol=1e-6, sum="float", engine=engine)
    assert missed.report["accuracy"]["relative_rms"] > 1e-6 and missed.report["sum"] == "float"
    assert leyden.map(near, grid, tol=1e-6, engine=engine).report["sum"] == "double"


def test_points_that_exclude_atoms(charges, atoms, engine):
    x, q, _ = charges
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    with pytest.warns(leyden.PointsWarning, match="60 of the points are within 0.01 A of charges"):
        leyden.points(atoms, x, engine=engine)
    residues = np.arange(len(q)) // 5
    for exclude, more, out in (("self", {}, np.eye(len(q), dtype=bool)),
                               (range(len(q)), {}, np.eye(len(q), dtype=bool)),
                               ([[i, 0] for i in range(len(q))], {}, np.eye(len(q), dtype=bool) |
                                (np.arange(len(q)) == 0)),
                               ("residue", {"residues": residues}, residues[:, None] == residues)):
        found = leyden.points(leyden.Atoms.from_arrays(x, q, **more), x, method="dcs", exclude=exclude, engine=engine)
        terms = np.where(out, 0, q / np.where(out, 1, np.maximum(distance, 0.05)))
        unit = leyden.points(leyden.Atoms.from_arrays([[0, 0, 0]], [1]), [[1, 0, 0]], engine=engine).values[0]
        assert np.allclose(found.values, unit * terms.sum(axis=1), rtol=0, atol=1e-5 * unit)
    for wrong in ([0], "all", "residue", [0.5] * 60):
        with pytest.raises(leyden.UsageError, match="exclude"):
            leyden.points(atoms, x, exclude=wrong, engine=engine)
    found, right = (leyden.points(atoms, x, method="dcs", exclude=[none, 1, [2, 3]] + [-1] * 57, engine=engine)
                    for none in (None, []))
    assert np.array_equal(found.values, right.values)
    with pytest.raises(leyden.InputError, match="point 0 excludes atom 60, both counted from 0"):
        leyden.points(atoms, x, exclude=[60] * 60, engine=engine)


def test_points_over_padding_and_box(atoms, engine):
    found = leyden.map(atoms, dims=(5, 6, 7), padding=3, engine=engine)
    ends = found.grid.points()[[0, -1]]
    assert found.grid.n == (5, 6, 7)
    assert np.allclose(ends[0], atoms.bounds[0] - 3) and np.allclose(ends[1], atoms.bounds[1] + 3)
    assert leyden.map(atoms, found, engine=engine).grid == found.grid
    box = leyden.map(atoms, dims=(4, 5, 8), cell=(40, 40, 40), method="cutoff", engine=engine).grid
    assert np.allclose(box.spacing, [10, 8, 5]) and np.allclose(box.origin, 0)
    assert np.allclose(leyden.map(atoms, dims=(2, 3, 4), spacing=1.25, engine=engine).grid.spacing, 1.25)
    with pytest.raises(leyden.UsageError, match="spacing"):
        leyden.map(atoms, dims=(2, 2, 2), spacing=1, padding=1, engine=engine)


@pytest.mark.parametrize("method", ["dcs", "cutoff", "msm", "auto"])
def test_oblique_grids(atoms, engine, method):
    """A triclinic cell is the grid itself; a map there is what a list of its points has."""
    made = leyden.map(atoms, dims=(8, 5, 4), cell=(40, 41, 42, 70, 80, 65), method="cutoff", engine=engine).grid
    assert made.n == (8, 5, 4) and not made.is_orthogonal and np.allclose(made.origin, 0)
    assert np.allclose(made.step[0], [5, 0, 0]) and np.allclose(made.spacing, [5, 8.2, 10.5])
    skewed = leyden.Grid((1, 2, 3), step=[[0.5, 0.6, 0], [0, 0.1, -0.8], [0.7, 0, 0.2]], n=(9, 10, 11))
    wanted = {"method": method, "tol": 1e-4} if method in ("msm", "auto") else {"method": method}
    found = leyden.map(atoms, skewed, engine=engine, **wanted)
    listed = leyden.points(atoms, skewed.points(), engine=engine, **wanted)
    assert found.grid == skewed and found.report["accuracy"]["relative_rms"] < 1e-4
    assert np.sqrt(np.mean((found.values.ravel() - listed.values) ** 2)) < 2e-4 * np.sqrt(np.mean(listed.values ** 2))


@pytest.mark.parametrize("of_points", [False, True])
def test_what_misses_is_computed_again(charges, grid, engine, monkeypatch, of_points):
    """First plans that are 100 times too loose for what the run is held to."""
    from leyden._options import RunOptions
    made_of = RunOptions.of

    def strict(*arguments):
        options = made_of(*arguments)
        options.c.tolerance, options.c.verify_least = 1e-4, 256
        return options

    x, q, _ = charges
    atoms = leyden.Atoms.from_arrays(x, q - q.mean())
    wanted = {"cell": (40, 40, 40), "method": "msm", "engine": engine}
    with warnings.catch_warnings(), monkeypatch.context() as patched:
        warnings.simplefilter("error", leyden.ToleranceWarning)
        patched.setattr(RunOptions, "of", strict)
        made = leyden.points(atoms, x[:50] + 1, tol=1e-2, **wanted) if of_points else \
            leyden.map(atoms, grid, tol=1e-2, **wanted)
    assert made.report["missed_rms"][0] > 1e-4 >= made.report["accuracy"]["relative_rms"]
    if of_points:
        return
    with pytest.warns(leyden.ToleranceWarning, match="and tol is 1e-06"):  # a window that does not reach it
        made = leyden.map(atoms, grid, tol=1e-6, window="nodal3", solver="multilevel", **wanted)
    assert made.report["missed_rms"] and made.report["accuracy"]["relative_rms"] > 1e-6


@pytest.mark.parametrize("arguments", [dict(spacing=0.3, tol=1e-4), dict(spacing=4, tol=1e-4), dict(spacing=1, tol=1e-2),
                                       dict(spacing=2, tol=1e-3, kappa=0.1), dict(dims=(40, 41, 42), padding=3)])
def test_what_is_chosen_as_by_the_command(files, atoms, engine, command, arguments):
    """The grid to the last bit, the method, the meshes and the sums."""
    words = [word for name, value in arguments.items() for word in
             ("--" + name, ",".join(map(str, value)) if name == "dims" else value)]
    command("map", files / "a.pqr", "-o", files / "chosen.raw", "--json", files / "chosen.json", "--device", "cpu", *words)
    report = json.loads((files / "chosen.json").read_text())
    made = leyden.map(atoms, engine=engine, **arguments)
    told = leyden.Map.read(files / "chosen.raw")
    assert made.grid == told.grid
    plans = [{name: value for name, value in plan.items() if name != "devices"}
             for plan in (made.report["plan"], report["plan"])]
    assert plans[0] == plans[1]
    assert np.allclose(made.values, told.values, rtol=0, atol=1e-5 * np.abs(told.values).max())


def test_former_names(atoms):
    where = dict(dims=(7, 7, 7), method="msm", tol=None, cutoff=6, window="bspline4")
    now = leyden.map(atoms, mesh_spacing=2, solver="fourier", **where)
    with pytest.warns(DeprecationWarning) as said:
        before = leyden.map(atoms, lattice_spacing=2, solver="fft", **where)
    assert [str(w.message) for w in said] == ["lattice_spacing is called mesh_spacing now",
                                              "solver 'fft' is called 'fourier' now"]
    assert np.array_equal(now.values, before.values) and said[0].filename == __file__
    with pytest.raises(TypeError, match="unexpected keyword argument 'grid_space'"):
        leyden.map(atoms, grid_space=2, **where)
    with pytest.warns(DeprecationWarning, match="leyden.Lattice is called leyden.Grid now"):
        assert leyden.Lattice is leyden.Grid
    with pytest.warns(DeprecationWarning, match="Map.lattice is called Map.grid now"):
        laid = now.lattice
    with pytest.warns(DeprecationWarning, match="lattice is called grid now"):
        assert leyden.map(atoms, lattice=laid, method="dcs").grid.n == (7, 7, 7)
    with pytest.raises(AttributeError, match="no attribute 'Latice'"):
        leyden.Latice  # pylint: disable=pointless-statement,no-member
