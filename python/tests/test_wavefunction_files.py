"""Wavefunctions of pyscf, and files by qc-iodata and cclib, against pyscf's values and their own."""
import gzip
import math
from pathlib import Path

import numpy as np
import pytest

import leyden
import orbitals_judge as judge
from leyden.__main__ import main as program
from orbitals_judge import BOHR

pytestmark = pytest.mark.extra
POINTS = np.random.default_rng(8).uniform(-3, 3, (200, 3))  # bohr
WATER = "O 0 0 0.12; H 0 0.76 -0.48; H 0 -0.76 -0.48"


def same(found, expected, share=2e-6):
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max())


def molecule(**more):
    return pytest.importorskip("pyscf").M(**{"atom": WATER, "basis": "6-31g*", "verbose": 0, **more})


# ---- pyscf ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cart", [False, True])
def test_each_function_of_pyscf(cart, engine):
    """s to h, contracted, generally contracted and not, each function by itself."""
    primitives = [[0.9, 0.7, 0.2], [0.4, 0.5, 0.9]]
    basis = [[l, *primitives] for l in range(6)]
    mol = molecule(atom="C 0.1 0.2 -0.1; H 0.9 0 0.3", basis={"C": basis, "H": [[0, [0.6, 1]], [1, [0.5, 1]]]}, cart=cart, spin=1)
    overlaps = mol.intor("int1e_ovlp")
    c = np.diag(1 / np.sqrt(np.diag(overlaps)))
    made = leyden.Wavefunction.from_pyscf(mol, c, np.zeros(len(c)))
    np.testing.assert_allclose(made.norms(), 1, atol=1e-12)
    scaled = overlaps * np.outer(np.diag(c), np.diag(c))
    own = made.coefficients @ made.overlaps() @ made.coefficients.T
    np.testing.assert_allclose(own, scaled, atol=1e-12)
    expected = (mol.eval_gto("GTOval", POINTS) @ c).T
    found = made.orbitals(f"1-{len(c)}", points=POINTS * BOHR, engine=engine)
    assert len(found) == mol.nao
    for row, values in zip(found, expected):
        same(row, values)


def test_of_pyscf(engine, tmp_path):
    mf = molecule().RHF().run()
    made = leyden.Wavefunction(mf)
    assert made.electrons == 10 and (made.homo, made.lumo) == (5, 6) and made.numbers.tolist() == [8, 1, 1]
    np.testing.assert_array_equal(made.energies, mf.mo_energy)
    ao = mf.mol.eval_gto("GTOval", POINTS)
    same(made.orbital("homo", points=POINTS * BOHR, engine=engine), ao @ mf.mo_coeff[:, 4])
    numint = pytest.importorskip("pyscf.dft.numint")
    rho = numint.eval_rho(mf.mol, mf.mol.eval_gto("GTOval_sph_deriv1", POINTS), mf.make_rdm1(), xctype="GGA")
    found = made.density(points=POINTS * BOHR, gradient=True, engine=engine)
    same(found.density, rho[0])
    same(found.gradient, rho[1:4].T, 1e-5)
    np.testing.assert_allclose(made.norms(), 1, atol=1e-10)

    radical = molecule(atom="O 0 0 0; H 0 0 0.97", spin=1, cart=True)
    for method in (radical.UHF(), radical.ROHF()):
        method.run()
        made = leyden.Wavefunction(method)
        assert (made.alpha_electrons, made.beta_electrons) == (5, 4)
        alpha, beta = method.make_rdm1()
        ao = radical.eval_gto("GTOval", POINTS)
        same(made.density(points=POINTS * BOHR, spin=True, engine=engine), np.einsum("ij,jk,ik->i", ao, alpha - beta, ao))
        same(made.density(points=POINTS * BOHR, engine=engine), np.einsum("ij,jk,ik->i", ao, alpha + beta, ao))
    unrestricted = radical.UHF().run()
    split = leyden.Wavefunction(unrestricted)
    assert split.find("beta:homo") == [radical.nao + 4] and split.find("alpha:homo") == [5]
    assert set(split.spins) == {1, -1}

    heavy = molecule(atom="I 0 0 0; H 0 0 1.6", basis={"I": "lanl2dz", "H": "sto-3g"}, ecp={"I": "lanl2dz"})
    with_core = leyden.Wavefunction(heavy.RHF().run())
    assert with_core.charges.tolist() == [7, 1] and with_core.numbers.tolist() == [53, 1] and with_core.electrons == 8

    for source, words in ((molecule().RHF(), "there are no orbitals: run mf.kernel"), (3, "an object of pyscf is needed"),
                          (molecule().GHF().run(), "spinors")):
        with pytest.raises(leyden.UsageError, match=words):
            leyden.Wavefunction.from_pyscf(source)
    with pytest.raises(leyden.UsageError, match="there are no occupations"):
        leyden.Wavefunction.from_pyscf(mf.mol, mf.mo_coeff)
    with pytest.raises(leyden.UsageError, match="complex"):
        leyden.Wavefunction.from_pyscf(mf.mol, mf.mo_coeff * 1j, mf.mo_occ)

    mf.chkfile = str(tmp_path / "a.chk")
    mf.dump_chk({"e_tot": mf.e_tot, "mo_energy": mf.mo_energy, "mo_occ": mf.mo_occ, "mo_coeff": mf.mo_coeff})
    assert program(["convert", str(tmp_path / "a.chk"), "-o", str(tmp_path / "a.npz")]) == 0
    np.testing.assert_array_equal(leyden.Wavefunction(tmp_path / "a.npz").coefficients, leyden.Wavefunction(mf).coefficients)


# ---- Molden files, as the format says and as programs write them ---------------------------------

CARTESIAN = {2: "xx yy zz xy xz yz", 3: "xxx yyy zzz xyy xxy xxz xzz yzz yyz xyz",
             4: "xxxx yyyy zzzz xxxy xxxz xyyy yyyz xzzz yzzz xxyy xxzz yyzz xxyz xyyz xyzz"}


def norm(a, i, j, k):
    """Of x^i y^j z^k exp(-a r^2), 1 over the root of its square's integral."""
    return (2 * a / np.pi) ** 0.75 * math.sqrt((4 * a) ** (i + j + k) / (judge.odd(2 * i - 1) * judge.odd(2 * j - 1)
                                                                        * judge.odd(2 * k - 1)))


def molden(arrays, primitive=lambda l, pure, a: 1.0, function=lambda l, pure, name: 1.0):
    """A file's text; coefficients of primitives and of orbitals are multiplied by these."""
    def letters(l, place):
        return "".join(axis * n for axis, n in zip("xyz", judge.powers(l)[place]))

    lines = ["[Molden Format]", "[Atoms] AU"]
    for k, (number, place) in enumerate(zip(arrays["numbers"], arrays["positions_bohr"]), 1):
        lines.append(" ".join([{1: "H", 6: "C", 8: "O"}[int(number)], str(k), str(number), *(f"{x:.12f}" for x in place)]))
    pure_l = {l for l, pure in zip(arrays["shell_l"], arrays["shell_pure"]) if pure}
    lines += [tag for l, tag in ((2, "[5D10F]"), (3, "[7F]"), (4, "[9G]")) if l in pure_l] + ["[GTO]"]
    order, factors, start = [[] for _ in arrays["charges"]], [[] for _ in arrays["charges"]], 0
    blocks = [[f"{k} 0"] for k in range(1, len(arrays["charges"]) + 1)]
    first = arrays["shell_first_primitive"]
    for s, (atom, l, pure) in enumerate(zip(arrays["shell_atom"], arrays["shell_l"], arrays["shell_pure"])):
        blocks[atom].append(f"{'spdfg'[l]} {first[s + 1] - first[s]} 1.0")
        blocks[atom] += [f"{a:.14e} {d * primitive(l, pure, a):.14e}" for a, d in
                         zip(arrays["exponents"][first[s]:first[s + 1]], arrays["coefficients"][first[s]:first[s + 1]])]
        own = [letters(l, k) for k in range(len(judge.powers(l)))] if not pure else \
            ["c0"] + [f"{kind}{m}" for m in range(1, l + 1) for kind in "cs"]
        names = CARTESIAN[l].split() if l in CARTESIAN and not pure else own
        order[atom] += [start + own.index(name) for name in names]
        factors[atom] += [function(l, pure, name) for name in names]
        start += len(own)
    lines += [line for block in blocks for line in (*block, "")] + ["[MO]"]
    scale = np.concatenate(factors)
    for energy, occupation, row in zip(arrays["energies"], arrays["occupations"], arrays["orbitals"]):
        lines += [f" Ene= {energy:.8f}", " Spin= Alpha", f" Occup= {occupation:.6f}"]
        lines += [f"{k} {c:.14e}" for k, c in enumerate(row[np.concatenate(order)] * scale, 1)]
    return "\n".join(lines) + "\n"


def orca(l, pure, a):
    return norm(a, *{0: (0, 0, 0), 1: (1, 0, 0), 2: (1, 1, 0), 3: (1, 1, 1), 4: (2, 1, 1)}[l])


def cfour(l, pure, name):
    return 1.0 if l < 2 else 1 / math.sqrt(math.prod(judge.odd(2 * name.count(axis) - 1) for axis in "xyz"))


def psi4(l, pure, name):
    return 1.0 if l < 2 else math.sqrt(judge.odd(2 * l - 1) / math.prod(judge.odd(2 * name.count(axis) - 1) for axis in "xyz"))


PURE = [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (1, 0)]
CART = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 0)]
DIALECTS = {
    "ORCA": (PURE, dict(primitive=orca, function=lambda l, pure, name: -1.0 if name[-1:] in ("3", "4") else 1.0)),
    "PSI4 < 1.0": (PURE[:4] + PURE[5:], dict(primitive=lambda l, pure, a: orca(l, pure, a) / {2: 3, 3: 15}.get(l, 1) ** 0.5)),
    "Turbomole": (CART, dict(primitive=lambda l, pure, a: {2: 3, 3: 15, 4: 105}.get(l, 1) ** -0.5)),
    "CFOUR": (CART, dict(function=cfour)),
    "unnormalized contractions": (PURE, dict(primitive=lambda l, pure, a: 1.5 + l)),
    "PSI4 <= 1.3.2": (CART, dict(function=psi4)),
}


def normalised(kinds):
    """Contractions of norm 1, orbitals of norm 1."""
    made = judge.some(kinds)
    return judge.of_norm_1(leyden._wavefunction_files._normalised({**made, "shell_atom": np.sort(made["shell_atom"])}))


@pytest.mark.parametrize("kinds", [PURE, CART])
def test_molden(kinds, engine, tmp_path, recwarn):
    pytest.importorskip("iodata")
    arrays = normalised(kinds)
    (tmp_path / "good.molden").write_text(molden(arrays))
    made = leyden.Wavefunction(tmp_path / "good.molden")
    assert made.dialect == "" and made.name == "good.molden" and not recwarn.list
    for name in ("orbitals", "exponents", "coefficients", "positions_bohr", "occupations", "numbers"):
        np.testing.assert_allclose(made.arrays[name], arrays[name], atol=1e-10)
    same(made.orbitals("1-6", points=POINTS * BOHR, engine=engine), judge.orbitals(arrays, POINTS))
    (tmp_path / "packed.molden.gz").write_bytes(gzip.compress((tmp_path / "good.molden").read_bytes()))
    np.testing.assert_array_equal(leyden.Wavefunction(tmp_path / "packed.molden.gz").coefficients, made.coefficients)
    (tmp_path / "noname").write_text(molden(arrays).replace("\n", "\r\n").replace("e-01", "D-01"))
    np.testing.assert_array_equal(leyden.Wavefunction(tmp_path / "noname").coefficients, made.coefficients)


@pytest.mark.parametrize("kinds", [PURE, CART])
def test_overlaps(kinds, tmp_path):
    """The library's, by which qc-iodata tells dialects, are its own."""
    iodata = pytest.importorskip("iodata")
    module = pytest.importorskip("iodata.formats.molden")
    (tmp_path / "a.molden").write_text(molden(normalised(kinds)))
    data = iodata.load_one(str(tmp_path / "a.molden"))
    theirs = module.compute_overlap
    with leyden._wavefunction_files._overlaps_by(leyden._wavefunction._overlaps_of):
        assert module.compute_overlap is not theirs
        ours = module.compute_overlap(data.obasis, data.atcoords)
    assert module.compute_overlap is theirs
    np.testing.assert_allclose(ours, theirs(data.obasis, data.atcoords), atol=1e-10)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(dialect, engine, tmp_path, capsys):
    pytest.importorskip("iodata")
    kinds, changes = DIALECTS[dialect]
    arrays = normalised(kinds)
    (tmp_path / "bad.molden").write_text(molden(arrays, **changes))
    with pytest.warns(leyden.WavefunctionWarning, match=f"bad.molden: Corrected for .*{dialect}"):
        made = leyden.Wavefunction(tmp_path / "bad.molden")
    assert dialect in made.dialect
    same(made.orbitals("1-6", points=POINTS * BOHR, engine=engine), judge.orbitals(arrays, POINTS))
    assert program(["convert", str(tmp_path / "bad.molden"), "-o", str(tmp_path / "a.npz")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("dialect: Corrected for ") and f"{made.functions} functions, 6 orbitals, 7 electrons\n" in said


def test_refused_files(tmp_path, capsys):
    pytest.importorskip("iodata")
    text = molden(normalised(CART))
    lines = text.splitlines()
    coefficient = lines.index("[MO]") + 6
    exponent = next(k for k, line in enumerate(lines) if line.startswith("s ")) + 1

    def changed(k, line):
        return "\n".join(lines[:k] + [line] + lines[k + 1:]) + "\n"

    unknown = molden(normalised(CART), function=lambda l, pure, name: 1 + 0.3 * l)
    for name, content, words in (
            ("short", text[:-300], "orbital 6 has a norm of"), ("half", text[:text.index("[GTO]") + 60], "is the file whole"),
            ("head", "[Molden Format]\n", "is the file whole"), ("unknown", unknown, "no known dialect makes it 1: an FCHK"),
            ("slater", text.replace("[GTO]", "[STO]"), r"Slater's, \[STO\]; those that are computed are Gaussian"),
            ("orbitals", text[:text.index("[MO]")], r"it has no section \[MO\]; is the file whole"), ("nan", changed(coefficient, "3 nan"), "orbitals: number 3 is nan"),
            ("zero", changed(exponent, "0.0 1.0"), "exponents: number 1 is 0|is the file whole"),
            ("none", "\n".join(lines[:exponent - 1] + ["s 0 1.0"] + lines[exponent + 1:]) + "\n",
             "shell 1 has no primitives|is the file whole"),
            ("stars", changed(coefficient, "3 *********"), "could not convert")):
        (tmp_path / f"{name}.molden").write_text(content)
        with pytest.raises(leyden.InputError, match=words) as caught:
            leyden.Wavefunction(tmp_path / f"{name}.molden")
        assert f"{name}.molden: " in str(caught.value) and "\n" not in str(caught.value)
        assert program(["convert", str(tmp_path / f"{name}.molden"), "-o", str(tmp_path / "no.npz")]) == 2
        assert capsys.readouterr().err.startswith("leyden: ") and not (tmp_path / "no.npz").exists()
    assert program(["convert", str(tmp_path / "unknown.molden"), "-o", str(tmp_path / "u.npz"), "--any-norm"]) == 0
    (tmp_path / "bom").write_text(text, "utf-8-sig")
    assert leyden.Wavefunction(tmp_path / "bom").functions > 0
    (tmp_path / "steps.fchk").write_text("a\nFOpt\nNumber of atoms                            I                1\n")
    with pytest.raises(leyden.InputError, match="steps.fchk: this FCHK file has no basis or no orbitals: formchk"):
        leyden.Wavefunction(tmp_path / "steps.fchk")
    assert program(["convert", str(tmp_path / "unknown.molden"), "-o", str(tmp_path / "a.cube")]) == 1
    assert "unknown.molden is a wavefunction, which becomes .npz: python3 -m leyden convert" in capsys.readouterr().err
    (tmp_path / "e.xyz").write_text("1\n\nH 0 0 0\n")
    with pytest.raises((leyden.InputError, ImportError), match="cclib"):
        leyden.Wavefunction(tmp_path / "e.xyz")


@pytest.mark.parametrize("ending, share", [("fchk", 1e-5), ("wfn", 1e-5), ("wfx", 1e-5), ("mkl", 1e-4)])
def test_other_formats(ending, share, engine, tmp_path):
    """Files that qc-iodata writes of pyscf's orbitals."""
    iodata = pytest.importorskip("iodata")
    tools = pytest.importorskip("pyscf.tools.molden")
    mf = molecule(basis="cc-pvdz" if ending in ("fchk", "mkl") else "6-31g*", cart=ending in ("wfn", "wfx")).RHF().run()
    tools.from_scf(mf, str(tmp_path / "a.molden"))
    data = iodata.load_one(str(tmp_path / "a.molden"))
    iodata.dump_one(data, str(tmp_path / f"a.{ending}"), allow_changes=True)
    made = leyden.Wavefunction(tmp_path / f"a.{ending}")
    assert made.electrons == 10 and made.homo == 5
    expected = mf.mol.eval_gto("GTOval", POINTS) @ mf.mo_coeff[:, 4]
    same(np.abs(made.orbital("homo", points=POINTS * BOHR, engine=engine)), np.abs(expected), share)


PROGRAMS = {"nh3_molden_pure.molden": "", "nh3_molpro2012.molden": "", "nh3_orca.molden": "ORCA", "nh3_psi4.molden": "PSI4 < 1.0",
            "nh3_psi4_1.0.molden": "unnormalized contractions", "nh3_turbomole.molden": "Turbomole"}


def of_iodata(name):
    """One of the files by which qc-iodata is tested, and which its package has."""
    path = Path(pytest.importorskip("iodata").__file__).with_name("test") / "data" / name
    if not path.exists():
        pytest.skip("qc-iodata comes without its test's files")
    return path


@pytest.mark.filterwarnings("ignore::leyden.WavefunctionWarning")
def test_files_of_programs(engine):
    """One molecule by six programs: their densities agree as far as coordinates have digits."""
    made = {name: leyden.Wavefunction(of_iodata(name)) for name in PROGRAMS}
    assert all(dialect in made[name].dialect for name, dialect in PROGRAMS.items())
    values = [one.density(points=POINTS * BOHR, engine=engine) for one in made.values()]
    for one in values[1:]:
        same(one, values[0], 1e-4)
    # s to h, by three formats of one program; two of ORCA; radicals and pseudopotentials.
    for names in (("he_spdfgh_virtual.fchk", "he_spdfgh_virtual.wfn", "he_spdfgh_virtual_fchk_multiwfn3.7.mwfn"),
                  ("li2.mkl", "li2.molden.input")):
        first, *others = (leyden.Wavefunction(of_iodata(name)).orbitals("1-56", points=POINTS * BOHR, engine=engine)
                          for name in names)
        assert all(np.allclose(np.abs(other), np.abs(first), rtol=0, atol=2e-6 * np.abs(first).max()) for other in others)
    radical = leyden.Wavefunction(of_iodata("ch3_rohf_sto3g_g03.fchk"))
    assert (radical.alpha_electrons, radical.beta_electrons, set(radical.spins)) == (5, 4, {0})
    assert leyden.Wavefunction(of_iodata("ch3_hf_sto3g.fchk")).spins.sum() == 0
    core = leyden.Wavefunction(of_iodata("monosilicic_acid_hf_lan.fchk"))
    assert core.charges.sum() == 40 and core.numbers.sum() == 50
    assert leyden.Wavefunction(of_iodata("carbon_gs_pp_contracted.cp2k.out")).electrons == pytest.approx(4)


def test_density_matrices_of_files():
    """FCHK files have those of SCF, which are the orbitals' own, and of what comes behind it."""
    data = pytest.importorskip("iodata").load_one(str(of_iodata("2h-azirine-mp2.fchk")))
    scf, mp2 = (leyden.Wavefunction.from_iodata(data, density=name) for name in ("scf", "post_scf_ao"))
    own = leyden.Wavefunction.from_iodata(data)
    phi = judge.functions(own.arrays, POINTS)
    values = [one.occupations @ (one.coefficients @ phi) ** 2 for one in (own, scf, mp2)]
    same(values[1], values[0], 1e-6)
    assert abs(mp2.electrons - own.electrons) < 1e-5 and abs(values[2] - values[0]).max() > 1e-3
    assert ((mp2.occupations > 0.01) & (mp2.occupations < 1.99)).sum() > 2
    with pytest.raises(leyden.UsageError, match="'mp2' is none of its density matrices: 'scf'"):
        leyden.Wavefunction.from_iodata(data, density="mp2")


def test_convert_and_the_command(command, tmp_path, engine, capsys):
    """`leyden orbital` and `leyden density` of what was converted, without Python."""
    tools = pytest.importorskip("pyscf.tools.molden")
    pytest.importorskip("iodata")
    mf = molecule(cart=True).RHF().run()
    tools.from_scf(mf, str(tmp_path / "w.molden"))
    tools.from_mo(pytest.importorskip("pyscf").M(atom="H", basis="sto-3g", spin=1), str(tmp_path / "h.molden"), np.eye(1), occ=[1])
    assert program(["convert", str(tmp_path / "h.molden"), "-o", str(tmp_path / "h.npz")]) == 0
    assert capsys.readouterr().out.endswith("h.npz, 1 atom, 1 function, 1 orbital, 1 electron\n")
    assert program(["convert", str(tmp_path / "w.molden"), "-o", str(tmp_path / "w.npz")]) == 0
    command("orbital", tmp_path / "w.npz", "--orbital", "homo", "-o", tmp_path / "homo.npy", "--device", "cpu", "--spacing", 0.4)
    command("density", tmp_path / "w.npz", "-o", tmp_path / "rho.npy", "--device", "cpu", "--spacing", 0.4)
    homo, rho = leyden.Map(tmp_path / "homo.npy"), leyden.Map(tmp_path / "rho.npy")
    same(homo.values.ravel(), mf.mol.eval_gto("GTOval", homo.grid.points() / BOHR) @ mf.mo_coeff[:, 4])
    same(rho.values.ravel(), ((mf.mol.eval_gto("GTOval", rho.grid.points() / BOHR) @ mf.mo_coeff[:, :5]) ** 2).sum(axis=1) * 2)
