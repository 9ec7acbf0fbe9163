"""Topologies of others, by MDAnalysis and ParmEd."""
import subprocess
import sys
import warnings

import numpy as np
import pytest

import leyden
from leyden._radii import element_of

NAMES, RESIDUES = ["N", "CA", "HA", "OW", "SG", "CA"], ["ALA", "ALA", "ALA", "SOL", "CYS", "CA"]
ELEMENTS = ["N", "C", "H", "O", "S", "Ca"]


@pytest.mark.parametrize("name, residue, element", [
    *zip(NAMES, RESIDUES, ELEMENTS), ("CLA", "CLA", "Cl"), ("SOD", "SOD", "Na"), ("ZN", "ZN2", "Zn"), ("1HB2", "", "H"),
    ("HG11", "VAL", "H"), ("CD1", "LEU", "C"), ("NA", "HEM", "N"), ("FE", "HEM", "Fe"), ("K", "K+", "K"), ("1", "", "")])
def test_elements_of_names(name, residue, element):
    assert element_of(name, residue) == element


def universe(**attributes):
    MDAnalysis = pytest.importorskip("MDAnalysis")
    made = MDAnalysis.Universe.empty(6, n_residues=6, atom_resindex=range(6), trajectory=True)
    for name, values in attributes.items():
        made.add_TopologyAttr(name, values)
    made.atoms.positions = np.arange(18, dtype=np.float32).reshape(6, 3)
    return made


@pytest.mark.extra
def test_mdanalysis():
    charges = [0.5, -0.25, 0.125, -0.5, 0.25, 2]
    made = universe(names=NAMES, resnames=RESIDUES, charges=charges)
    with pytest.warns(leyden.RadiiWarning, match="which 6 of 6 atoms have by their names"):
        atoms = leyden.Atoms.from_mdanalysis(made)
    assert np.array_equal(atoms.q, charges) and np.array_equal(atoms.x, made.atoms.positions)
    assert atoms.r.tolist() == [1.55, 1.70, 1.20, 1.52, 1.80, 2.31]
    with warnings.catch_warnings():
        warnings.simplefilter("error", leyden.RadiiWarning)
        assert leyden.Atoms.from_mdanalysis(made.atoms[:2], radii={"C": 2.0}).r.tolist() == [1.55, 2.0]
        assert leyden.Atoms.from_mdanalysis(made, radii=np.arange(6)).r.tolist() == list(range(6))
        made.add_TopologyAttr("radii", [1, 2, 3, 4, 5, 6])
        assert leyden.Atoms.from_mdanalysis(made).r.tolist() == [1, 2, 3, 4, 5, 6]
    water = universe(names=["OW", "HW1", "HW2", "MW", "LP1", "EP"], masses=[16, 1, 1, 0, 0, 0], charges=charges)
    with pytest.warns(leyden.RadiiWarning, match="which 3 of 6 atoms have by their names, and of 3 sites without mass"):
        assert leyden.Atoms.from_mdanalysis(water).r.tolist() == [1.52, 1.2, 1.2, 0, 0, 0]
    with pytest.raises(leyden.InputError, match="no charges"):
        leyden.Atoms.from_mdanalysis(universe(names=NAMES))
    with pytest.raises(leyden.InputError, match="atom 1, XX: no radius is known"):
        leyden.Atoms.from_mdanalysis(universe(names=["XX"] * 6, charges=charges))


def structure():
    parmed = pytest.importorskip("parmed")
    made = parmed.Structure()
    for name, residue, charge in zip(NAMES, RESIDUES, (1, -1, 0.5, -0.5, 0.25, -0.25)):
        made.add_atom(parmed.Atom(name=name, charge=charge, atomic_number=6), residue, 1)
    return made


@pytest.mark.extra
def test_parmed():
    made = structure()
    with pytest.raises(leyden.InputError, match="no coordinates"):
        leyden.Atoms.from_parmed(made)
    made.coordinates = np.arange(18, dtype=float).reshape(6, 3)
    with pytest.warns(leyden.RadiiWarning, match="by element"):
        atoms = leyden.Atoms.from_parmed(made)
    assert np.array_equal(atoms.x, made.coordinates) and atoms.q[1] == -1 and np.all(atoms.r == 1.7)
    for i, atom in enumerate(made.atoms):
        atom.solvent_radius = 1 + i
    assert leyden.Atoms.from_parmed(made).r.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.extra
def test_the_program(tmp_path, atoms):
    pytest.importorskip("MDAnalysis")
    atoms.write(tmp_path / "a.pqr")

    def run(*words):
        return subprocess.run([sys.executable, "-m", "leyden", *map(str, words)], capture_output=True, text=True,
                              check=False)

    done = run("convert", tmp_path / "a.pqr", "-o", tmp_path / "b.atoms")
    assert done.returncode == 0 and "written: " in done.stdout and "radii: " not in done.stdout, done.stderr
    again = leyden.Atoms.read(tmp_path / "b.atoms")
    assert np.allclose(again.x, atoms.x, atol=1e-3) and np.allclose(again.r, atoms.r) and len(again) == 60
    (tmp_path / "m.mol2").write_text("@<TRIPOS>MOLECULE\nm\n 2 1 1\nSMALL\nUSER_CHARGES\n\n@<TRIPOS>ATOM\n"
                                     " 1 C1 0.0 0.0 0.0 C.3 1 MOL 0.25\n 2 O1 1.2 0.0 0.0 O.2 1 MOL -0.25\n"
                                     "@<TRIPOS>BOND\n 1 1 2 2\n")
    done = run("convert", tmp_path / "m.mol2", "-o", tmp_path / "m.pqr")
    assert done.returncode == 0 and "radii: the topology has no radii" in done.stdout, done.stderr
    assert leyden.Atoms.read(tmp_path / "m.pqr").r.tolist() == [1.70, 1.52]
    assert run("convert", tmp_path / "m.mol2", "-o", tmp_path / "m.xyz").returncode == 1

    # Amber's radii of any frame.
    import parmed
    amber = structure()
    amber.coordinates = np.zeros((6, 3))
    for i, atom in enumerate(amber.atoms):
        atom.solvent_radius, atom.mass, atom.type = 1 + i / 8, 12, "C"
        atom.atom_type = parmed.AtomType("C", None, 12, 6)
        atom.atom_type.set_lj_params(0.1, 1.7)
    parmed.amber.AmberParm.from_structure(amber).write_parm(str(tmp_path / "a.prmtop"))
    (tmp_path / "a.mdcrd").write_text("two frames\n" + "".join(
        "".join(f"{frame + i / 8:8.3f}" + "\n" * (i in (9, 17)) for i in range(18)) for frame in (0, 100)))
    for words, x in ((), 0), (("--frame", 1), 100):
        done = run("convert", tmp_path / "a.prmtop", tmp_path / "a.mdcrd", "-o", tmp_path / "f.atoms", *words)
        assert done.returncode == 0 and "radii: " not in done.stdout, done.stderr + done.stdout
        again = leyden.Atoms.read(tmp_path / "f.atoms")
        assert again.r.tolist() == [1 + i / 8 for i in range(6)] and again.x[0, 0] == x

    def refused(code, said, *words):
        done = run("convert", *words, "-o", tmp_path / "n.pqr")
        last = done.stderr.splitlines()[-1]  # a broken .dcd makes MDAnalysis's own code print before
        assert done.returncode == code and last.startswith("leyden: ") and said in last, (said, done.stderr)
        assert "Traceback" not in done.stderr, done.stderr

    (tmp_path / "broken.prmtop").write_text("no topology")
    (tmp_path / "no.dcd").write_text("no trajectory")
    molecule = tmp_path / "m.mol2"
    refused(2, "none.mol2: No such file or directory", tmp_path / "none.mol2")
    refused(2, "none.dcd: No such file or directory", molecule, tmp_path / "none.dcd")
    refused(2, "no.dcd: ", molecule, tmp_path / "no.dcd")
    refused(2, "broken.prmtop: ", tmp_path / "broken.prmtop")
    refused(1, "m.mol2 has the frames 0 to 0", molecule, "--frame", "9")
    refused(1, "--select 'foo bar': ", molecule, "--select", "foo bar")
    refused(1, "--select 'name X': there is no such atom", molecule, "--select", "name X")
    assert run("convert", molecule).returncode == 1


def test_the_program_without_packages():
    done = subprocess.run([sys.executable, "-m", "leyden", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == f"leyden {leyden.__version__}\n"
