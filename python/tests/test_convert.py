"""Topologies of others, by MDAnalysis and ParmEd."""
import gzip
import subprocess
import sys
import warnings

import numpy as np
import pytest

import leyden
from leyden.__main__ import main as program
from leyden._radii import element_of

NAMES, RESIDUES = ["N", "CA", "HA", "OW", "SG", "CA"], ["ALA", "ALA", "ALA", "SOL", "CYS", "CA"]
ELEMENTS = ["N", "C", "H", "O", "S", "Ca"]


@pytest.mark.parametrize("name, residue, element", [
    *zip(NAMES, RESIDUES, ELEMENTS), ("CLA", "CLA", "Cl"), ("SOD", "SOD", "Na"), ("ZN", "ZN2", "Zn"), ("1HB2", "", "H"),
    ("HG11", "VAL", "H"), ("CD1", "LEU", "C"), ("NA", "HEM", "N"), ("FE", "HEM", "Fe"), ("K", "K+", "K"), ("1", "", "")])
def test_elements_of_names(name, residue, element):
    assert element_of(name, residue) == element


IONS = """LAMMPS data file: NaCl pair, atom_style full

2 atoms
2 atom types

0.0 20.0 xlo xhi
0.0 20.0 ylo yhi
0.0 20.0 zlo zhi

Masses

1 22.98977
2 35.453

Atoms

1 1 1 1.0 5.0 5.0 5.0
2 1 2 -1.0 8.0 5.0 5.0
"""

LIGAND = """REMARK  Name = lig
ROOT
ATOM      1  C   LIG A   1       1.000   2.000   3.000  1.00  0.00     0.123 A
ATOM      2  OB  LIG A   1       2.000   2.000   3.000  1.00  0.00    -0.250 OA
ENDROOT
TORSDOF 0
"""


def run(*words):
    return subprocess.run([sys.executable, "-m", "leyden", *map(str, words)], capture_output=True, text=True, check=False)


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
    with pytest.warns(leyden.RadiiWarning, match="there are no radii: all are 0"):
        atoms = leyden.Atoms.from_mdanalysis(made)
    assert np.array_equal(atoms.q, charges) and np.array_equal(atoms.x, made.atoms.positions)
    assert atoms.r.tolist() == [0] * 6 and atoms.cell is None and atoms.residues.tolist() == list(range(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", leyden.RadiiWarning)
        assert leyden.Atoms.from_mdanalysis(made, radii="element").r.tolist() == [1.55, 1.70, 1.20, 1.52, 1.80, 2.31]
        assert leyden.Atoms.from_mdanalysis(made.atoms[:2], radii={"C": 2.0, "N": 1}).r.tolist() == [1, 2.0]
        assert leyden.Atoms.from_mdanalysis(made, radii=np.arange(6)).r.tolist() == list(range(6))
        made.add_TopologyAttr("radii", [1, 2, 3, 4, 5, 6])
        assert leyden.Atoms.from_mdanalysis(made).r.tolist() == [1, 2, 3, 4, 5, 6]
    water = universe(names=["OW", "HW1", "HW2", "MW", "LP1", "EP"], masses=[16, 1, 1, 0, 0, 0], charges=charges)
    assert leyden.Atoms.from_mdanalysis(water, radii="element").r.tolist() == [1.52, 1.2, 1.2, 0, 0, 0]
    with pytest.raises(leyden.InputError, match="no charges"):
        leyden.Atoms.from_mdanalysis(universe(names=NAMES))
    with pytest.raises(leyden.InputError, match="atom 1 with the name XX"):
        leyden.Atoms.from_mdanalysis(universe(names=["XX"] * 6, charges=charges), radii="element")


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
    with pytest.warns(leyden.RadiiWarning, match="there are no radii"):
        atoms = leyden.Atoms.from_parmed(made)
    assert np.array_equal(atoms.x, made.coordinates) and atoms.q[1] == -1 and np.all(atoms.r == 0) and atoms.cell is None
    made.box = [30, 31, 32, 90, 90, 90]
    atoms = leyden.Atoms.from_parmed(made, "element")
    assert np.all(atoms.r == 1.7) and np.array_equal(atoms.cell, np.diag([30, 31, 32]))
    for i, atom in enumerate(made.atoms):
        atom.solvent_radius = 1 + i
    assert leyden.Atoms.from_parmed(made).r.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.extra
def test_the_program(tmp_path, atoms):
    pytest.importorskip("MDAnalysis")
    atoms.write(tmp_path / "a.pqr")

    done = run("convert", tmp_path / "a.pqr", "-o", tmp_path / "b.atoms")
    assert done.returncode == 0 and "written: " in done.stdout and "radii: " not in done.stdout, done.stderr
    again = leyden.Atoms.read(tmp_path / "b.atoms")
    assert np.allclose(again.x, atoms.x, atol=1e-3) and np.allclose(again.r, atoms.r) and len(again) == 60
    # PQR files are read as everywhere, numbers that touch and refusals included.
    (tmp_path / "t.pqr").write_text("ATOM      1  BB  BEA A   1    -1000.500-1002.250-1003.125 -0.5000 1.0000\n")
    done = run("convert", tmp_path / "t.pqr", "-o", tmp_path / "b.atoms")
    assert done.returncode == 0, done.stderr
    assert leyden.Atoms.read(tmp_path / "b.atoms").x.tolist() == [[-1000.5, -1002.25, -1003.125]]
    (tmp_path / "t.pqr").write_text("ATOM 1 N MET A 1 1 2 3 -1.00001 1.5\nATOM 2 N MET A 1 1 2 9 1 1.5\n")
    assert "2 atoms, total charge +0.0000 e" in run("convert", tmp_path / "t.pqr", "-o", tmp_path / "b.atoms").stdout
    (tmp_path / "t.pqr").write_text("ATOM 1 N MET A 1 1 2 3 0 1.5\n")
    assert "charges: " in run("convert", tmp_path / "t.pqr", "-o", tmp_path / "b.atoms").stdout
    (tmp_path / "m.cif").write_text("data_X\nloop_\n_atom_site.group_PDB\n_atom_site.Cartn_x\nATOM 1.0\n")
    done = run("convert", tmp_path / "m.cif", "-o", tmp_path / "b.atoms")
    assert done.returncode == 2 and "this is an mmCIF file" in done.stderr and "Universe(" not in done.stderr
    (tmp_path / "m.mol2").write_text("@<TRIPOS>MOLECULE\nm\n 2 1 1\nSMALL\nUSER_CHARGES\n\n@<TRIPOS>ATOM\n"
                                     " 1 C1 0.0 0.0 0.0 C.3 1 MOL 0.25\n 2 O1 1.2 0.0 0.0 O.2 1 MOL -0.25\n"
                                     "@<TRIPOS>BOND\n 1 1 2 2\n")
    done = run("convert", tmp_path / "m.mol2", "-o", tmp_path / "m.pqr")
    assert done.returncode == 0 and done.stdout.count("radii: there are no radii: all are 0") == 1, done.stderr
    assert leyden.Atoms.read(tmp_path / "m.pqr").r.tolist() == [0, 0]
    for radii, expected in (("element", [1.70, 1.52]), ("C1=2,O=1.5", [2, 1.5]), ("1.25", [1.25, 1.25])):
        done = run("convert", tmp_path / "m.mol2", "-o", tmp_path / "m.pqr", "--radii", radii)
        assert done.returncode == 0 and "radii: " not in done.stdout, done.stderr
        assert leyden.Atoms.read(tmp_path / "m.pqr").r.tolist() == expected

    # Names of atoms and residues, by which waters are found.
    (tmp_path / "w.mol2").write_text("@<TRIPOS>MOLECULE\nw\n 5 3 2\nSMALL\nUSER_CHARGES\n\n@<TRIPOS>ATOM\n"
                                     " 1 C1 0.1 0.0 0.0 C.3 1 A 0.25\n 2 O1 1.2 0.0 0.0 O.2 1 A -0.25\n"
                                     " 3 OW 15.0 0.0 0.0 O.3 7 SOL -0.8\n 4 HW1 15.9 0.0 0.0 H 7 SOL 0.4\n"
                                     " 5 HW2 14.6 0.8 0.0 H 7 SOL 0.4\n@<TRIPOS>BOND\n 1 1 2 2\n 2 3 4 1\n 3 3 5 1\n")
    done = run("convert", tmp_path / "w.mol2", "-o", tmp_path / "w.pqr")
    lines = [line.split()[:5] for line in (tmp_path / "w.pqr").read_text().splitlines()]
    assert done.returncode == 0 and lines[0] == ["ATOM", "1", "C1", "A", "1"] and lines[3] == ["ATOM", "4", "HW1", "SOL", "7"]
    assert np.array_equal(leyden.Atoms.read(tmp_path / "w.pqr").x, np.float32([[0.1, 0, 0], [1.2, 0, 0], [15, 0, 0], [15.9, 0, 0],
                                                                                 [14.6, 0.8, 0]]))
    placed = leyden.ions(tmp_path / "w.pqr", [("NA", 1, 1)], replace_waters=True)
    assert placed.oxygens.tolist() == [2] and placed.removed.tolist() == [2, 3, 4]
    assert run("convert", tmp_path / "w.mol2", "-o", tmp_path / "w.pqr.gz").returncode == 0
    assert gzip.decompress((tmp_path / "w.pqr.gz").read_bytes()) == (tmp_path / "w.pqr").read_bytes()

    # LAMMPS: names there are none, types and a cell there are.
    (tmp_path / "ions.data").write_text(IONS)
    done = run("convert", tmp_path / "ions.data", "-o", tmp_path / "m.pqr", "--radii", "1=2.27,2=1.75")
    assert "cell: the file that is written has none: leyden map takes it by --periodic xyz --cell=20,20,20" in done.stdout
    ions = leyden.Atoms.read(tmp_path / "m.pqr")
    assert ions.x.tolist() == [[5, 5, 5], [8, 5, 5]] and ions.q.tolist() == [1, -1] and ions.r.tolist() == [2.27, 1.75]
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
    refused(2, "no atom has the name, the type or the element '3'", tmp_path / "ions.data", "--radii", "1=2,2=1.75,3=1")
    refused(2, "atom 2 with the type 2: none of these has a radius", tmp_path / "ions.data", "--radii", "1=2.27")
    assert run("convert", molecule).returncode == 1
    (tmp_path / "l.pdbqt").write_text(LIGAND)
    done = run("convert", tmp_path / "l.pdbqt", "--select", "name O*", "-o", tmp_path / "m.pqr", "--radii", "0")
    assert done.returncode == 0 and leyden.Atoms.read(tmp_path / "m.pqr").q.tolist() == [-0.25], done.stderr


def test_the_program_without_packages():
    done = subprocess.run([sys.executable, "-m", "leyden", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == f"leyden {leyden.__version__}\n"


def test_pdbqt(tmp_path, capsys):
    """Without any package: charges are those of columns 67 to 76, not occupancies."""
    (tmp_path / "l.pdbqt").write_text(LIGAND)
    done = run("convert", tmp_path / "l.pdbqt", "-o", tmp_path / "l.pqr")
    assert done.returncode == 0 and done.stdout.count("radii: there are no radii: all are 0") == 1, done.stderr
    assert "surfaces, boundaries and the pair functions" in done.stdout and "; --radii element gives those of" in done.stdout
    found = leyden.Atoms.read(tmp_path / "l.pqr")
    assert found.q.tolist() == [0.123, -0.25] and found.x.tolist() == [[1, 2, 3], [2, 2, 3]] and not np.any(found.r)
    (tmp_path / "radii").write_text("# of AutoDock's types\nA 2.0\nOA 1.6  # and OB\n")
    ligand, out = str(tmp_path / "l.pdbqt"), str(tmp_path / "l.pqr")
    for radii, expected in (("element", [1.7, 1.52]), ("A=1.8,OB=1.5", [1.8, 1.5]), (str(tmp_path / "radii"), [2, 1.6])):
        assert program(["convert", ligand, "-o", out, "--radii", radii]) == 0
        assert "radii: " not in capsys.readouterr().out
        assert leyden.Atoms.read(tmp_path / "l.pqr").r.tolist() == expected

    # Poses, each of which is a molecule; a name that says nothing.
    moved = LIGAND.replace("1.000   2.000", "1.500   2.000")
    (tmp_path / "poses").write_text(f"MODEL 1\n{LIGAND}ENDMDL\nMODEL 2\n{moved}ENDMDL\n")
    for words, x in ((), 1), (("--frame", "1"), 1.5):
        assert program(["convert", str(tmp_path / "poses"), "-o", out, *words]) == 0
        assert leyden.Atoms.read(tmp_path / "l.pqr").x.tolist() == [[x, 2, 3], [2, 2, 3]]

    (tmp_path / "w.pdbqt").write_text(LIGAND.replace("-0.250", "   x  "))
    (tmp_path / "three").write_text("1\n2\n3\n")
    (tmp_path / "mixed").write_text("1\nA 2\n")
    (tmp_path / "word").write_text("A x\n")
    capsys.readouterr()
    for code, said, words in (
            (2, "w.pdbqt:4: charge 'x', in columns 67 to 76, is not a number", [tmp_path / "w.pdbqt"]),
            (1, "poses has the frames 0 to 1", [tmp_path / "poses", "--frame", 2]),
            (2, "no atom has the name, the type or the element 'BB'", [ligand, "--radii", "A=1,OA=1,BB=2"]),
            (2, "atom 2 with the name OB and the type OA and the element O: none", [ligand, "--radii", "A=1"]),
            (1, "'A=1,OA' is no list of NAME=R", [ligand, "--radii", "A=1,OA"]),
            (2, "radii has the shape (3,), not (2,)", [ligand, "--radii", tmp_path / "three"]),
            (2, "mixed:2: 2 words", [ligand, "--radii", tmp_path / "mixed"]),
            (2, "word:1: 'x' is not a number", [ligand, "--radii", tmp_path / "word"]),
            (2, "none: No such file or directory", [ligand, "--radii", tmp_path / "none"])):
        assert program([str(word) for word in ("convert", *words, "-o", tmp_path / "n.pqr")]) == code
        text = capsys.readouterr().err
        assert text.startswith("leyden: ") and said in text, text
        assert not (tmp_path / "n.pqr").exists()


def test_topologies_beside(tmp_path, monkeypatch, capsys):
    """Coordinates alone, and a tpr file in the folder: of the same name, or of any of GROMACS's usual ones."""
    pytest.importorskip("MDAnalysis")
    monkeypatch.chdir(tmp_path)
    atom = "    1SOL     OW    1   0.126   1.624   1.679\n"
    for name in ("md.gro", "alone.gro"):
        (tmp_path / name).write_text(f"water\n    1\n{atom}   2.0 2.0 2.0\n")
    run = lambda name: (program(["convert", name, "-o", "new.pqr"]), capsys.readouterr().err)[1]
    assert "python3 -m leyden convert TOPOLOGY 'md.gro' -o NEW.pqr takes them from a topology: .tpr" in run("md.gro")
    for name, found in (("a topol.tpr", "'a topol.tpr'"), ("b.tpr", "b.tpr"), ("md.tpr", "md.tpr")):
        (tmp_path / name).write_bytes(b"")
        assert f"python3 -m leyden convert {found} 'md.gro' -o NEW.pqr takes them from a topology\n" in run("md.gro")
    assert "convert b.tpr 'alone.gro' -o" in run("alone.gro")
