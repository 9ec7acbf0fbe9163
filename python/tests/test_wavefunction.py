"""Wavefunctions: arrays, values, archives, and objects and files of other programs."""
import os
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import leyden
import orbitals_judge as judge
from leyden import _wavefunction_files as files
from leyden.__main__ import main as program
from orbitals_judge import BOHR

POINTS = np.random.default_rng(8).uniform(-3, 3, (300, 3))  # bohr


@pytest.fixture(scope="module")
def arrays():
    return judge.of_norm_1(judge.some())


@pytest.fixture(scope="module")
def wavefunction(arrays):
    return leyden.Wavefunction.from_arrays(**arrays)


def same(found, expected, share=2e-6):
    """To float digits of the largest value."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max())


# ---- What it is ----------------------------------------------------------------------------------


def test_what_it_is(arrays, wavefunction):
    for name, array in wavefunction.arrays.items():
        np.testing.assert_array_equal(array, arrays[name])
    assert wavefunction.functions == np.shape(arrays["orbitals"])[1] and wavefunction.electrons == 7
    assert (wavefunction.alpha_electrons, wavefunction.beta_electrons) == (4, 3)
    assert (wavefunction.homo, wavefunction.lumo) == (4, 5) and wavefunction.find("homo-1..lumo,1") == [3, 4, 5, 1]
    assert wavefunction.find(["lumo", 2, np.int64(6)]) == [5, 2, 6]
    assert wavefunction.energies[wavefunction.homo - 1] == -0.25 and not wavefunction.spins.any()
    np.testing.assert_allclose(wavefunction.atoms.positions, arrays["positions_bohr"] * BOHR)
    np.testing.assert_allclose(wavefunction.norms(), 1, atol=1e-12)
    assert repr(wavefunction) == (f"<leyden.Wavefunction: 3 atoms, {wavefunction.functions} functions, 6 orbitals, 7 electrons, "
                                  "HOMO 4>")
    again = pickle.loads(pickle.dumps(wavefunction))
    assert all(np.array_equal(again.arrays[name], arrays[name]) for name in arrays)
    none = leyden.Wavefunction.from_arrays(**{**arrays, "occupations": np.full(6, 2)})
    assert none.homo == 6 and none.lumo is None
    for word in (True, 1.5, [], [None]):
        with pytest.raises(leyden.UsageError, match="names, \"homo\", or numbers from 1"):
            wavefunction.find(word)
    with pytest.raises(leyden.UsageError, match="there is no orbital of this number"):
        wavefunction.find(0)
    with pytest.raises(AttributeError, match="did you mean wavefunction.energies?"):
        wavefunction.mo_energy  # pylint: disable=pointless-statement
    with pytest.raises(leyden.UsageError, match="a file's name or an object of pyscf is needed, not dict"):
        leyden.Wavefunction(arrays)
    with pytest.raises(leyden.UsageError, match="not IOData; Wavefunction.from_iodata.. takes it"):
        leyden.Wavefunction(type("IOData", (), {})())


@pytest.mark.parametrize("change, words", [
    (dict(exponents=lambda a: a * (np.arange(len(a)) != 3)), "exponents: number 4 is 0"),
    (dict(orbitals=lambda a: np.where(np.arange(a.size).reshape(a.shape) == 7, np.nan, a)), "orbitals: number 8 is -?nan"),
    (dict(coefficients=lambda a: np.where(np.arange(len(a)) == 1, np.inf, a)), "coefficients: number 2 is inf"),
    (dict(shell_first_primitive=lambda a: np.where(np.arange(len(a)) == 2, a[1], a)), "shell 2 has no primitives"),
    (dict(shell_l=lambda a: a - 1), "shell 1: an angular momentum of -1|orbitals has the shape"),
    (dict(shell_atom=lambda a: a + 1), "at atom 3 of 3, counted from 0"),
    (dict(shell_pure=lambda a: a[1:]), "shell_l has the shape .11,. and shell_pure .10,."),
    (dict(orbitals=lambda a: a[:, 1:]), "orbitals has the shape .6, 90., not .6, 91.: .orbitals, functions."),
    (dict(numbers=lambda a: [1.5, 1, 1]), "numbers: whole numbers are needed"),
    (dict(occupations=lambda a: a + 1), "occupations: number 1 is 3"),
    (dict(spins=lambda a: a + 2), "orbital 1: a spin of 2"),
    (dict(orbitals=lambda a: 1.001 * a), "orbital . has a norm of 1.002, not 1: .*; any_norm=True goes on all the same"),
    (dict(shell_pure=lambda a: 1 - a), "orbital . has a norm of"),
])
def test_refusals(arrays, change, words):
    with pytest.raises(leyden.InputError, match=words):
        leyden.Wavefunction.from_arrays(**{name: change.get(name, lambda a: a)(array) for name, array in arrays.items()})


def test_natural_orbitals(arrays, wavefunction):
    """A matrix's density is that of its natural orbitals, which are orthonormal; of both spins together without one."""
    n = wavefunction.functions
    overlaps = wavefunction.overlaps()
    c = np.random.default_rng(5).normal(size=(4, n))
    c /= np.sqrt(np.einsum("ki,ij,kj->k", c, overlaps, c))[:, None]
    weights = np.array([0.9, 0.4, 0.3, -0.2])
    made = wavefunction.natural_orbitals((c.T * weights) @ c)
    occupations = made.occupations
    assert abs(occupations.sum() - 1.4) < 1e-9 and (np.diff(occupations) <= 0).all() and occupations[-1] < -0.05
    np.testing.assert_allclose(made.coefficients @ overlaps @ made.coefficients.T, np.eye(len(occupations)), atol=1e-9)
    phi = judge.functions(arrays, POINTS)
    expected = np.einsum("k,kp->p", weights, (c @ phi) ** 2)
    found = np.einsum("k,kp->p", occupations, (made.coefficients @ phi) ** 2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    own = wavefunction.natural_orbitals()
    np.testing.assert_allclose(np.einsum("k,kp->p", own.occupations, (own.coefficients @ phi) ** 2),
                               np.einsum("k,kp->p", wavefunction.occupations, (wavefunction.coefficients @ phi) ** 2), rtol=1e-9)
    assert abs(own.electrons - 7) < 1e-9 and not own.energies.any()
    with pytest.raises(leyden.InputError, match=r"density has the shape \(2, 2\), not"):
        wavefunction.natural_orbitals(np.eye(2))
    with pytest.raises(leyden.InputError, match="density is not symmetric"):
        wavefunction.natural_orbitals(np.triu(np.ones((n, n))))
    with pytest.raises(leyden.InputError, match="occupations"):
        wavefunction.natural_orbitals(100 * np.eye(n))


# ---- Values --------------------------------------------------------------------------------------


def test_at_points(arrays, wavefunction, engine):
    expected = judge.orbitals(arrays, POINTS)
    same(wavefunction.orbitals("1-6", points=POINTS * BOHR, engine=engine), expected)
    found = wavefunction.orbital("lumo", points=POINTS * BOHR, engine=engine, no_screening=True)
    same(found, expected[4])
    same(wavefunction.orbital(5, points=POINTS[7] * BOHR, engine=engine), expected[4, 7:8])
    rho, gradient, laplacian = wavefunction.density(points=POINTS * BOHR, gradient=True, laplacian=True, engine=engine)
    step = 1e-3
    around = {(axis, sign): judge.density(arrays, POINTS + sign * step * np.eye(3)[axis]) for axis in range(3) for sign in (1, -1)}
    here = judge.density(arrays, POINTS)
    same(rho, here)
    same(wavefunction.density(points=POINTS * BOHR, sum="double", engine=engine), here, 1e-10)
    same(gradient, np.transpose([(around[axis, 1] - around[axis, -1]) / (2 * step) for axis in range(3)]), 1e-5)
    same(laplacian, (sum(around.values()) - 6 * here) / step ** 2, 1e-4)
    weights = np.where(np.arange(6) == 3, 1.0, 0.0)
    same(wavefunction.density(points=POINTS * BOHR, spin=True, engine=engine), judge.density(arrays, POINTS, weights))
    dual = np.zeros(6)
    dual[[wavefunction.lumo - 1, wavefunction.homo - 1]] = 1, -1
    same(wavefunction.density(points=POINTS * BOHR, orbitals="LUMO,homo", occupations=[1, -1], engine=engine),
         judge.density(arrays, POINTS, dual))
    same(wavefunction.density(points=POINTS * BOHR, orbitals=[6, "lumo"], occupations=0.5, engine=engine),
         judge.density(arrays, POINTS, [0, 0, 0, 0, 0.5, 0.5]))
    same(wavefunction.density(points=POINTS * BOHR, orbitals=1, engine=engine), arrays["occupations"][0] * expected[0] ** 2)
    only = wavefunction.density(points=POINTS * BOHR, laplacian=True, engine=engine)
    assert only.gradient is None and np.array_equal(only.laplacian, laplacian)


def test_on_grids(arrays, wavefunction, engine, tmp_path):
    homo = wavefunction.orbital("homo", spacing=0.4, padding=1, engine=engine)
    assert homo.units == "bohr^-3/2" and np.allclose(homo.grid.spacing, 0.4) and homo.report["accuracy"]["points"] > 0
    assert homo.grid == leyden.Grid.around(wavefunction.atoms, 0.4, 1)
    at = homo.grid.points() / BOHR
    same(homo.values.ravel(), judge.orbitals(arrays, at)[3])
    several = wavefunction.orbitals(["lumo", "homo"], homo, engine=engine)
    np.testing.assert_array_equal(several[1].values, homo.values)
    oblique = leyden.Grid((-1, -1, -1), step=[[0.5, 0.1, 0], [0, 0.4, 0.2], [0.1, 0, 0.6]], n=(5, 6, 4))
    made = wavefunction.density(oblique, gradient=True, engine=engine)
    same(made.density.values.ravel(), judge.density(arrays, oblique.points() / BOHR))
    assert made.density.units == "bohr^-3" and len(made.gradient) == 3 and made.gradient[2].units == "bohr^-4"
    assert made.laplacian is None
    assert wavefunction.density(dims=(4, 5, 6), engine=engine).shape == (6, 5, 4)
    whole = wavefunction.density(spacing=0.3 * BOHR, engine=engine)
    assert whole.values.sum(dtype=float) * 0.3 ** 3 == pytest.approx(7, abs=1e-3)
    # The file has the nuclei, which are the wavefunction's, though nobody else holds it.
    lonely = leyden.Wavefunction.from_arrays(**arrays).orbital(1, dims=(4, 5, 6), engine=engine)
    lonely.save(tmp_path / "a.cube")
    lines = (tmp_path / "a.cube").read_text().splitlines()
    assert "ORBITAL 1 (bohr^-3/2)" in lines[0] and [line.split()[0] for line in lines[6:9]] == ["6", "1", "8"]
    np.testing.assert_allclose([[float(word) for word in line.split()[2:]] for line in lines[6:9]], arrays["positions_bohr"],
                               atol=1e-6)
    assert leyden.Map(tmp_path / "a.cube").shape == (6, 5, 4)
    made.density.save(tmp_path / "a.npy")
    homo.save(tmp_path / "a.dx")
    head = (tmp_path / "a.dx").read_text().split("object 1")[0]
    assert "method: sums of contracted Gaussians\n# atoms: 3\n# units: bohr^-3/2\n# device: " in head and "None" not in head


def test_by_host(wavefunction, engine):
    """Maps and points are the devices', in double precision; a method's variant is theirs alone."""
    grid = leyden.Grid((-1, -1, -1), spacing=0.7, n=(4, 5, 3))
    for of in (lambda **given: wavefunction.orbital("homo", **given), lambda **given: wavefunction.density(**given),
               lambda **given: wavefunction.potential(**given)):
        made = of(grid=grid, engine="host")
        same(made.values, of(grid=grid, engine=engine).values, 1e-5)
        assert made.report["host"] and made.report["accuracy"]["compared"] > 0 and made.report["devices"] == []
        same(of(points=grid.points(), engine="host"), made.values.ravel(), 1e-6)
    with pytest.raises(leyden.UsageError, match="a kernel's variant is for devices"):
        wavefunction.orbital("homo", grid, variant="tiled", engine="host")


def test_one_of_several_values(tmp_path):
    """Of a cube file with several values at each point one is read, by its number or its orbital's."""
    axes = "".join(f"2 {' '.join('1' if k == axis else '0' for k in range(3))}\n" for axis in range(3))
    values = np.arange(16).reshape(2, 2, 2, 2)
    (tmp_path / "a.cube").write_text(f"a\nb\n-1 0 0 0\n{axes}1 1 0 0 0\n2 21 7\n" + " ".join(map(str, values.flat)))
    for value, right in ((1, 0), ("2", 1), ("orbital_21", 0), ("orbital_7", 1)):
        assert (leyden.Map.read(tmp_path / "a.cube", value=value).values.T == values[..., right]).all()
    with pytest.raises(leyden.InputError, match="2 values at each point, orbital_21 orbital_7: which one"):
        leyden.Map.read(tmp_path / "a.cube")
    with pytest.raises(leyden.InputError, match="no value '3'"):
        leyden.Map.read(tmp_path / "a.cube", value=3)


@pytest.mark.skipif("LEYDEN_SOURCES" not in os.environ, reason="LEYDEN_SOURCES does not name the sources")
def test_potential(engine):
    """Against pyscf's integrals: x, y, z in bohr, V, and E."""
    data = Path(os.environ["LEYDEN_SOURCES"]) / "tests" / "data"
    wavefunction = leyden.Wavefunction(data / "esp_pure.npz", any_norm=True)
    table = np.loadtxt(data / "esp_pure.txt")
    at, right, slopes = table[:, :3] * BOHR, table[:, 3], table[:, 4:7]
    same(wavefunction.potential(points=at, engine=engine), right, 1e-5)
    made = wavefunction.potential(points=at, field=True, units="V", engine=engine)
    same(made.potential, right * 27.211386, 1e-5)
    same(made.field, slopes * 27.211386 / BOHR, 1e-5)
    grid = leyden.Grid((-1, 0, 1), spacing=0.5, n=(5, 4, 3))
    whole = wavefunction.potential(grid, field=True, units="kT/e", temperature=310, engine=engine)
    here = wavefunction.potential(points=grid.points(), units="kT/e", temperature=310, engine=engine)
    same(whole.potential.values.ravel(), here, 1e-5)
    assert whole.potential.units == "kT/e" and len(whole.field) == 3 and whole.field[0].shape == (3, 4, 5)
    with pytest.raises(leyden.UsageError, match="units"):
        wavefunction.potential(grid, units="eV", engine=engine)


@pytest.mark.parametrize("arguments, words", [
    (dict(grid=leyden.Grid((0, 0, 0), spacing=1, n=(2, 2, 2)), points=[[0, 0, 0]]), "grid and points exclude each other"),
    (dict(points=[[0, 0, 0]], spacing=1), "spacing is for the grid around the nuclei"),
    (dict(grid=leyden.Grid((0, 0, 0), spacing=1, n=(2, 2, 2)), dims=(2, 2, 2)), "dims is for the grid around"),
    (dict(occupations=1), "occupations are those of orbitals, which are missing"),
    (dict(orbitals="1-3", occupations=[1, 1]), r"occupations have the shape \(2,\), and there are 3 orbitals"),
    (dict(orbitals="hommo"), "'hommo': that is no name of an orbital"),
    (dict(spacing=0), "spacing: 0 is out of range"), (dict(grid="a.dx"), "grid: a leyden.Grid is needed")])
def test_wrong_usage(wavefunction, engine, arguments, words):
    with pytest.raises(leyden.UsageError, match=words):
        wavefunction.density(**{"engine": engine, **arguments})


def test_no_atoms(wavefunction):
    """Its nuclei alone would have another potential."""
    for refused in (leyden.Atoms, leyden.map, leyden.surface):
        with pytest.raises(leyden.UsageError, match=r"a wavefunction has electrons, too: wavefunction.potential"):
            refused(wavefunction)
    with pytest.raises(AttributeError, match=r"did you mean wavefunction.potential"):
        wavefunction.esp  # pylint: disable=pointless-statement


def test_one_and_several(wavefunction):
    with pytest.raises(leyden.UsageError, match="'homo,lumo' are 2 orbitals, and orbital.. computes one: orbitals..homo,lumo"):
        wavefunction.orbital("homo,lumo")
    with pytest.raises(TypeError, match="did you mean 'no_screening'"):
        wavefunction.orbital("homo", noscreening=True)


def test_archives(arrays, wavefunction, engine, command, tmp_path):
    wavefunction.save(tmp_path / "a.npz")
    again = leyden.Wavefunction(tmp_path / "a.npz")
    assert again.name == "a.npz" and all(np.array_equal(again.arrays[name], arrays[name]) for name in arrays)
    with np.load(tmp_path / "a.npz") as archive:
        assert archive["format"] == 1 and np.array_equal(archive["orbitals"], arrays["orbitals"])
    command("orbital", tmp_path / "a.npz", "--orbital", "homo", "-o", tmp_path / "a.npy", "--spacing", 0.4, "--device", "cpu")
    made = leyden.Map(tmp_path / "a.npy")
    same(made.values, wavefunction.orbital("homo", spacing=0.4, engine=engine).values)
    with pytest.raises(leyden.UsageError, match="ends in .npz"):
        wavefunction.save(tmp_path / "a.molden")
    double = leyden.Wavefunction.from_arrays(**{**arrays, "orbitals": 2 * arrays["orbitals"]}, any_norm=True)
    double.save(tmp_path / "b.npz")
    with pytest.raises(leyden.InputError, match="b.npz: orbital . has a norm of 4, not 1: .*; any_norm=True goes on"):
        leyden.Wavefunction(tmp_path / "b.npz")
    assert leyden.Wavefunction(tmp_path / "b.npz", any_norm=True).norms()[0] == pytest.approx(4)
    (tmp_path / "c.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:2000])
    with pytest.raises(leyden.InputError, match="c.npz: cut short"):
        leyden.Wavefunction(tmp_path / "c.npz")
    with pytest.raises(leyden.FileError, match="none.molden: No such file"):
        leyden.Wavefunction(tmp_path / "none.molden")


# ---- Files of other programs: what is done without their packages --------------------------------


def test_without_packages(tmp_path, monkeypatch, capsys):
    for module in ("iodata", "cclib", "cclib.io", "pyscf", "pyscf.lib", "pyscf.lib.chkfile"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.molden").write_text("[Molden Format]\n")
    (tmp_path / "a.log").write_text("Entering Gaussian System\n")
    (tmp_path / "a.chk").write_bytes(b"\x89HDF\r\n\x1a\n")
    for name, package in (("a.molden", "qc-iodata"), ("a.log", "cclib"), ("a.chk", "pyscf")):
        assert program(["convert", str(tmp_path / name), "-o", str(tmp_path / "a.npz")]) == 1
        assert capsys.readouterr().err.endswith(f": pip install {package}\n")
    assert program(["convert", str(tmp_path / "a.molden"), "-o", str(tmp_path / "a.npz"), "--frame", "1"]) == 1
    assert "--frame is for atoms" in capsys.readouterr().err
    assert program(["convert", str(tmp_path / "a.molden"), "-o", str(tmp_path / "a.pqr"), "--any-norm"]) == 1
    assert "--any-norm is for wavefunctions" in capsys.readouterr().err
    assert not (tmp_path / "a.npz").exists()


MOLDEN = """[Molden format]
[Atoms] AU
 H 1 1 0 0 0
 H 2 1 0 0 1.4
[5D]
[GTO]
  1 0
 sp   2 1.00
  0.5D+01  0.25D+00 0.1D+00
  0.5      1.0      0.5

  2 0
 d 1 1.00
  1.0 1.0
[MO]
 Occup= 2.0
 1 0.5D0
 4 -0.25
 Sym= A1
 Ene= -0.5
 Spin= Beta
 Occup= 0.0
 9 1.0
"""


def test_molden_text():
    """What the format allows and qc-iodata does not read."""
    text = files.molden_text(MOLDEN).splitlines()
    assert text[0] == "[Molden Format]" and text[text.index("s 2 1.00"):][:6] == \
        ["s 2 1.00", "0.5E+01 0.25E+00", "0.5 1.0", "p 2 1.00", "0.5E+01 0.1E+00", "0.5 0.5"]
    orbitals = text[text.index("[MO]") + 1:]
    assert orbitals[:3] == [" ene= 0.0", " spin= Alpha", " occup= 2.0"]
    assert orbitals[3:12] == [" 1 0.5E0", " 2 0.0", " 3 0.0", " 4 -0.25", *(f" {k} 0.0" for k in range(5, 10))]
    assert orbitals[12:16] == [" ene= -0.5", " spin= Beta", " sym= A1", " occup= 0.0"] and orbitals[-1] == " 9 1.0"
    with pytest.raises(leyden.InputError, match="9 coefficients, as of pure functions, .* put the lines .5D7F. and .9G."):
        files.molden_text(MOLDEN.replace("[5D]\n", ""))
    with pytest.raises(leyden.InputError, match=".Atoms. has no unit: put Angs or AU"):
        files.molden_text(MOLDEN.replace("AU", ""))
    with pytest.raises(leyden.InputError, match="'9 1.0 7' is neither"):
        files.molden_text(MOLDEN.replace("9 1.0", "9 1.0 7"))
    with pytest.raises(leyden.InputError, match="coefficient has the number 999999999, and the shells have 9 functions"):
        files.molden_text(MOLDEN.replace("9 1.0", "999999999 1.0"))
    with pytest.raises(leyden.InputError, match="'d 999999999 1.00' is to have 999999999 primitives, and the file ends behind 1"):
        files.molden_text(MOLDEN.replace(" d 1 ", " d 999999999 "))


def cclib_data(arrays, name_of, order_of, **more):
    """A ccData with an order of functions and their names."""
    gbasis, names, order = [[], [], []], [], []
    first = arrays["shell_first_primitive"]
    for s, (atom, l, pure) in enumerate(zip(arrays["shell_atom"], arrays["shell_l"], arrays["shell_pure"])):
        pairs = zip(arrays["exponents"][first[s]:first[s + 1]], arrays["coefficients"][first[s]:first[s + 1]])
        gbasis[atom].append(("SPDFGHI"[l], list(pairs)))
        own = files._functions(l, pure)
        new = order_of(l, own)
        names += [f"X{atom + 1}_{s + 1}{name_of(l, one)}" for one in new]
        order += [len(order) + own.index(one) for one in new]
    return types.SimpleNamespace(
        atomnos=arrays["numbers"], atomcoords=[np.zeros((3, 3)), arrays["positions_bohr"] * BOHR], gbasis=gbasis, aonames=names,
        mocoeffs=[arrays["orbitals"][:, order]], moenergies=[arrays["energies"] * 27.211386245988], **more)


def by_atom(arrays):
    """Of segments by atom, as outputs have them."""
    order = np.argsort(arrays["shell_atom"], kind="stable")
    kinds = np.stack([arrays["shell_l"], arrays["shell_pure"]], axis=1)[order]
    made = judge.some([tuple(kind) for kind in kinds])
    return judge.of_norm_1(files._normalised({**made, "shell_atom": np.sort(arrays["shell_atom"])}))


PURE = judge.some([(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (0, 0)])
CARTESIAN = judge.some([(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 0)])


def signed(l, name):
    """Gaussian's: D 0, D+1, D-1."""
    return "SPDFG"[l] + (name.upper() if l < 2 else {"c0": " 0"}.get(name) or ("+" if name[0] == "c" else "-") + name[1:])


def test_cclib():
    arrays = by_atom(PURE)
    backwards = lambda l, own: own[::-1] if l > 1 else own
    found = leyden.Wavefunction._made(files.of_cclib(cclib_data(arrays, signed, backwards, homos=[2])), False)
    for name in ("orbitals", "energies", "positions_bohr", "coefficients", "shell_pure"):
        np.testing.assert_allclose(found.arrays[name], arrays[name], rtol=1e-12, atol=1e-13)
    assert found.occupations.tolist() == [2, 2, 2, 0, 0, 0]
    assert files.of_cclib(cclib_data(arrays, signed, backwards, homos=[2, 1]))["occupations"].tolist() == [2, 2, 1, 0, 0, 0]
    both = cclib_data(arrays, signed, backwards, homos=[2, 1])
    both.mocoeffs, both.moenergies = both.mocoeffs * 2, both.moenergies * 2
    split = files.of_cclib(both)
    assert split["occupations"].tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0] and split["spins"].tolist() == [1] * 6 + [-1] * 6
    # GAMESS: XX YY ZZ XY XZ YZ; letters of f and g in any order.
    cartesian = by_atom(CARTESIAN)
    gamess = files.of_cclib(cclib_data(cartesian, lambda l, name: name.upper()[::-1] or "S",
                                       lambda l, own: sorted(own, key=lambda name: len(set(name))), homos=[0]))
    np.testing.assert_allclose(gamess["orbitals"], cartesian["orbitals"])
    # ORCA: z x y; dz2 dxz dyz dx2y2 dxy; f+3 and on with the other sign.
    names = {"c0": "dz2", "c1": "dxz", "s1": "dyz", "c2": "dx2y2", "s2": "dxy"}
    orca = files.of_cclib(cclib_data(arrays, lambda l, name: names[name] if l == 2 else signed(l, name).replace(" ", "").lower(),
                                     lambda l, own: own[::-1] if l == 1 else own, homos=[0], metadata={"package": "ORCA"}))
    signs = np.sign(orca["orbitals"] / arrays["orbitals"])
    assert np.all(signs == signs[0]) and (signs[0] < 0).sum() == 6
    with pytest.raises(leyden.InputError, match="does not say which function"):
        files.of_cclib(cclib_data(arrays, lambda l, name: "AO", backwards, homos=[0]))
    with pytest.raises(leyden.InputError, match="it has no aonames, homos: let the program print"):
        bad = cclib_data(arrays, signed, backwards)
        del bad.aonames
        files.of_cclib(bad)
