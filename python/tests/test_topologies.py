"""Particles of topologies and Systems, against what OpenMM makes of the same files, and formulas."""
import copy
import functools
import os
import re

import numpy as np
import pytest

import leyden
from leyden.__main__ import main as program

pytestmark = pytest.mark.extra
try:
    import openmm as mm
    from openmm import app, unit
except ImportError:
    mm = app = unit = None
needs_openmm = pytest.mark.skipif(mm is None, reason="openmm is not installed: pip install openmm")
parmed = pytest.importorskip("parmed")
KJ, COULOMB = 4.184, 1389.35456  # kJ/mol; kJ/mol A / e^2
PAIR_FORCES = ("NonbondedForce", "CustomNonbondedForce")


# ---- What is compared ----------------------------------------------------------------------------


def energy_of(p, x):
    """Lennard-Jones and Coulomb energies of all pairs, kJ/mol, by their formulas; x in A."""
    i, j = np.triu_indices(len(p), 1)
    is_pair = np.ones((len(p),) * 2, bool)
    for pairs in (p.exclusion, p.pair_14):
        is_pair[pairs[:, 0], pairs[:, 1]] = is_pair[pairs[:, 1], pairs[:, 0]] = False
    i, j = i[is_pair[i, j]], j[is_pair[i, j]]
    r = np.linalg.norm(x[i] - x[j], axis=1)
    s, t = p.type[i], p.type[j]
    sizes = (p.lennard_jones_a[s, t] / r ** 12 - p.lennard_jones_b[s, t] / r ** 6).sum()
    charges = (p.charges[i] * p.charges[j] / r).sum()
    r = np.linalg.norm(x[p.pair_14[:, 0]] - x[p.pair_14[:, 1]], axis=1)
    return (sizes + (p.pair_14_a / r ** 12 - p.pair_14_b / r ** 6).sum()) * KJ, \
        (charges + (p.pair_14_charges / r).sum()) * COULOMB


def openmm_energy(system, x):
    """Of OpenMM's Reference platform, kJ/mol: of all forces that act between pairs."""
    system = copy.deepcopy(system)
    for force in system.getForces():
        is_pair = type(force).__name__ in PAIR_FORCES or \
            (type(force).__name__ == "CustomBondForce" and "^6" in force.getEnergyFunction())
        force.setForceGroup(1 if is_pair else 2)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(x / 10)
    return context.getState(getEnergy=True, groups={1}).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def plain_force(system):
    return next(force for force in system.getForces() if isinstance(force, mm.NonbondedForce))


def same_pairs(p, system, table=True):
    """Charges, exclusions, 1-4 pairs, and pairs' a and b, where a NonbondedForce has all of them."""
    force, n = plain_force(system), len(p)
    rows = [force.getParticleParameters(i) for i in range(n)]
    np.testing.assert_allclose(p.charges, [row[0]._value for row in rows], atol=1e-7)
    sigma = np.array([row[1].value_in_unit(unit.angstrom) for row in rows])
    epsilon = np.array([row[2].value_in_unit(unit.kilocalorie_per_mole) for row in rows])
    if table:
        six = ((sigma[:, None] + sigma) / 2) ** 6
        b = 4 * np.sqrt(epsilon[:, None] * epsilon) * six
        kind = np.ix_(p.type, p.type)
        np.testing.assert_allclose(p.lennard_jones_b[kind], b, rtol=2e-6, atol=1e-9)
        np.testing.assert_allclose(p.lennard_jones_a[kind], b * six, rtol=2e-6, atol=1e-9)
    exclusions, pairs = set(), {}
    for k in range(force.getNumExceptions()):
        i, j, qq, size, depth = force.getExceptionParameters(k)
        pair = (min(i, j), max(i, j))
        depth, size = depth.value_in_unit(unit.kilocalorie_per_mole), size.value_in_unit(unit.angstrom)
        if qq._value or depth:
            pairs[pair] = (qq._value, 4 * depth * size ** 12, 4 * depth * size ** 6)
        else:
            exclusions.add(pair)
    found = {(min(pair), max(pair)): row for pair, *row in
             zip(p.pair_14.tolist(), p.pair_14_charges, p.pair_14_a, p.pair_14_b)}
    assert {(min(pair), max(pair)) for pair in p.exclusion.tolist()} == exclusions
    assert set(found) == set(pairs)
    if pairs:
        np.testing.assert_allclose([found[pair] for pair in pairs], list(pairs.values()), rtol=2e-6, atol=1e-9)


def same_energies(p, system, x, share=2e-6):
    found = sum(energy_of(p, x))
    assert found == pytest.approx(openmm_energy(system, x), rel=share, abs=1e-3)


# ---- Systems of force fields ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def protein():
    """The peptide and protein residues of OpenMM's test.pdb: topology, and positions in A."""
    if mm is None:
        pytest.skip("openmm is not installed, which has the protein: pip install openmm")
    pdb = app.PDBFile(os.path.join(os.path.dirname(app.__file__), "data", "test.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.deleteWater()
    modeller.delete([residue for residue in modeller.topology.residues() if len(list(residue.atoms())) < 5])
    return modeller.topology, np.array(modeller.positions.value_in_unit(unit.angstrom))


@functools.lru_cache(maxsize=None)
def system_of(file, topology):
    try:
        return app.ForceField(file).createSystem(topology)
    except ValueError as error:  # of an older OpenMM
        return pytest.skip(f"{file}: {error}")


@pytest.mark.parametrize("file", ["amber14/protein.ff14SB.xml", "charmm36.xml"])
def test_force_fields(file, protein):
    topology, x = protein
    system = system_of(file, topology)
    p = leyden.Particles.from_openmm(system, topology)
    same_energies(p, system, x)
    if "charmm" not in file:
        same_pairs(p, system)
    assert p.names.tolist() == [atom.name for atom in topology.atoms()]
    assert p.residue_names.tolist() == [residue.name for residue in topology.residues()]
    assert p.elements.tolist() == [atom.element.atomic_number for atom in topology.atoms()]
    np.testing.assert_allclose(p.masses, [system.getParticleMass(i)._value for i in range(len(p))])
    bare = leyden.Particles.from_openmm(system)
    np.testing.assert_array_equal(bare.pair_14_a, p.pair_14_a)
    assert bare.names is None and bare.born_radii is None and bare.residue is None


@needs_openmm
@pytest.mark.parametrize("water", ["tip3p", "tip4pew", "tip5p"])
def test_water(water):
    """Virtual sites: charges without size, excluded from the molecule that they belong to."""
    pdb = app.PDBFile(os.path.join(os.path.dirname(app.__file__), "data", f"{water}.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete(list(modeller.topology.residues())[40:])
    system = app.ForceField(f"{water}.xml").createSystem(modeller.topology)
    p = leyden.Particles.from_openmm(system, modeller.topology)
    same_pairs(p, system)
    same_energies(p, system, np.array(modeller.positions.value_in_unit(unit.angstrom)))
    if water != "tip3p":
        is_site = p.elements == 0
        assert is_site.sum() in (40, 80) and (p.born_radii[is_site] == 0).all() and (p.surface_radii[is_site] == 0).all()


def test_born_force(protein):
    """A GBSAOBCForce has radii and screens, whatever is known of atoms."""
    topology, _ = protein
    system = app.ForceField("amber99sb.xml", "amber99_obc.xml").createSystem(topology)
    force = next(force for force in system.getForces() if isinstance(force, mm.GBSAOBCForce))
    rows = [force.getParticleParameters(i) for i in range(force.getNumParticles())]
    for given in (None, topology):
        p = leyden.Particles.from_openmm(system, given)
        np.testing.assert_allclose(p.born_radii, [row[1].value_in_unit(unit.angstrom) for row in rows])
        np.testing.assert_allclose(p.born_screens, [row[2] for row in rows])
    p = leyden.Particles.from_openmm(system, topology, gb="gbn2", radii="mbondi3")
    assert p.born_factors is not None and not np.allclose(p.born_screens, [row[2] for row in rows])


# ---- Files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def structure(protein):
    topology, x = protein
    return parmed.openmm.load_topology(topology, system_of("amber14/protein.ff14SB.xml", topology), x)


def test_prmtop(structure, protein, tmp_path):
    path = tmp_path / "a.prmtop"
    structure.save(str(path))
    p = leyden.Particles(path)
    system = app.AmberPrmtopFile(str(path)).createSystem()
    same_pairs(p, system)
    same_energies(p, system, protein[1])
    assert (p.type < 20).all() and len(p.lennard_jones_a) < 20
    parm = parmed.load_file(str(path))
    assert p.names.tolist() == [atom.name for atom in parm.atoms]
    assert p.residue.tolist() == [atom.residue.idx for atom in parm.atoms]


def test_gromacs(structure, protein, tmp_path):
    path = tmp_path / "a.top"
    structure.save(str(path))
    p = leyden.Particles(path)
    system = app.GromacsTopFile(str(path)).createSystem()
    same_energies(p, system, protein[1])
    same_energies(leyden.Particles(structure), system, protein[1], 1e-5)


def test_damaged(structure, tmp_path):
    path = tmp_path / "a.prmtop"
    structure.save(str(path))
    text = path.read_text()
    for name, content, what in (("a.prmtop", text[:len(text) // 3], "a.prmtop"), ("b.top", "[ defaults ]\n1 2\n", "b.top"),
                                ("c.xml", "<System/>", "c.xml"), ("d.xml", "hello", "d.xml"), ("e.top", "", "e.top")):
        (tmp_path / name).write_text(content)
        with pytest.raises(leyden.InputError, match=what):
            leyden.Particles(tmp_path / name)
    with pytest.raises(leyden.FileError, match="none.prmtop: No such file"):
        leyden.Particles(tmp_path / "none.prmtop")
    with pytest.raises(leyden.UsageError, match="only PSF files need files of parameters"):
        leyden.Particles.load(path, path)


def test_system_files(protein, tmp_path):
    topology, x = protein
    system = system_of("charmm36.xml", topology)
    path, atoms = tmp_path / "s.xml", tmp_path / "s.pdb"
    path.write_text(mm.XmlSerializer.serialize(system))
    with open(atoms, "w", encoding="utf-8") as file:
        app.PDBFile.writeFile(topology, x / 10 * unit.nanometer, file, keepIds=True)
    p, named = leyden.Particles(path), leyden.Particles.load(path, atoms, gb="gbn2")
    same_energies(p, system, x)
    assert p.names is None and named.names.tolist() == [atom.name for atom in topology.atoms()]
    assert named.born_factors.shape == (len(p), 3)
    path.write_text(mm.XmlSerializer.serialize(plain_force(system)))
    with pytest.raises(leyden.InputError, match="NonbondedForce of OpenMM, and a System is needed"):
        leyden.Particles(path)


# ---- Amber ---------------------------------------------------------------------------------------


@pytest.fixture
def parm(structure, tmp_path):
    structure.save(str(tmp_path / "p.prmtop"))
    return parmed.load_file(str(tmp_path / "p.prmtop"))


def written(parm, tmp_path):
    path = str(tmp_path / "q.prmtop")
    parm.write_parm(path)
    return path


def test_scales_of_dihedrals(parm, tmp_path):
    """Each dihedral's own, SCEE and SCNB; a scale of 0 leaves nothing."""
    for k, term in enumerate(parm.dihedral_types):
        term.scee, term.scnb = 1.2 + 0.1 * (k % 3), 2.0 - 0.3 * (k % 4)
    path = written(parm, tmp_path)
    before = leyden.Particles(path)
    same_pairs(before, app.AmberPrmtopFile(path).createSystem())
    np.testing.assert_array_equal(leyden.Particles(parm).pair_14_a, before.pair_14_a)
    for term in parm.dihedral_types:
        term.scee = term.scnb = 0
    after = leyden.Particles(parm)
    assert len(after.pair_14) == 0 and len(after.exclusion) == len(before.exclusion) + len(before.pair_14)


def test_nbfix_of_amber(parm, tmp_path, protein):
    """Terms off the diagonal that no rule makes."""
    index, types = parm.parm_data["NONBONDED_PARM_INDEX"], parm.ptr("ntypes")
    place = index[types * 1 + 2] - 1
    parm.parm_data["LENNARD_JONES_ACOEF"][place] *= 3
    parm.parm_data["LENNARD_JONES_BCOEF"][place] *= 2
    path = written(parm, tmp_path)
    p = leyden.Particles(path)
    same_energies(p, app.AmberPrmtopFile(path).createSystem(), protein[1])
    assert p.lennard_jones_a[1, 2] == p.lennard_jones_a[2, 1] == pytest.approx(parm.parm_data["LENNARD_JONES_ACOEF"][place])


def test_other_terms_of_amber(parm, tmp_path):
    path = written(parm, tmp_path)
    data, types = parm.parm_data, parm.ptr("ntypes")
    right = leyden.Particles(path)
    for name, count in (("HBOND_ACOEF", 1), ("HBOND_BCOEF", 1)):
        data[name] = [0.0] * count
    data["NONBONDED_PARM_INDEX"][types * 1 + 2] = data["NONBONDED_PARM_INDEX"][types * 2 + 1] = -1
    p = leyden.Particles.from_parmed(parm)
    assert p.lennard_jones_a[1, 2] == 0 and p.lennard_jones_a[1, 1] == right.lennard_jones_a[1, 1]
    data["HBOND_ACOEF"] = [7557.0]
    with pytest.raises(leyden.InputError, match="types 2 and 3 have a 10-12 hydrogen bond term.*since 1994 have none"):
        leyden.Particles.from_parmed(parm)
    data["HBOND_ACOEF"] = [0.0]
    parm.add_flag("LENNARD_JONES_CCOEF", "5E16.8", data=[0.0] * len(data["LENNARD_JONES_ACOEF"]))
    with pytest.raises(leyden.InputError, match="12-6-4 terms.*LENNARD_JONES_CCOEF"):
        leyden.Particles.from_parmed(parm)


# ---- Small molecules -----------------------------------------------------------------------------


def molecule(bonds, count, scee=1.2, scnb=2.0, **more):
    """Atoms of one type with all angles and all dihedrals of their bonds."""
    made, kind = parmed.Structure(), parmed.topologyobjects.AtomType("C", 1, 12.0, 6)
    kind.set_lj_params(0.1, 2.0, **more)
    for i in range(count):
        atom = parmed.Atom(name=f"C{i}", type="C", atomic_number=6, mass=12.0, charge=0.1 * (i + 1))
        atom.atom_type = kind
        made.add_atom(atom, "RES", 1, "A")
    around = {i: [j for pair in bonds for j in pair if i in pair and j != i] for i in range(count)}
    term = parmed.DihedralType(1.0, 2, 0.0, scee, scnb)
    for i, j in bonds:
        made.bonds.append(parmed.Bond(made.atoms[i], made.atoms[j]))
        for k in around[i]:
            for m in around[j]:
                if k not in (j, m) and m != i:
                    made.dihedrals.append(parmed.Dihedral(*(made.atoms[a] for a in (k, i, j, m)), type=term))
    return made


def listed(p):
    return [sorted(map(tuple, pairs.tolist())) for pairs in (p.exclusion, p.pair_14)]


def test_rings():
    """Each pair once, by the shortest way between its atoms."""
    six = [(i, (i + 1) % 6) for i in range(6)]
    exclusions, pairs = listed(leyden.Particles(molecule(six, 6)))
    assert pairs == [(0, 3), (1, 4), (2, 5)] and len(exclusions) == 12
    five = [(i, (i + 1) % 5) for i in range(5)]
    exclusions, pairs = listed(leyden.Particles(molecule(five, 5)))
    assert pairs == [] and len(exclusions) == 10
    four = [(i, (i + 1) % 4) for i in range(4)] + [(0, 4)]
    exclusions, pairs = listed(leyden.Particles(molecule(four, 5)))
    assert pairs == [(2, 4)] or (pairs == [] and len(exclusions) == 10)


def test_scales_and_sizes():
    p = leyden.Particles(molecule([(0, 1), (1, 2), (2, 3)], 4, 1.5, 3.0, eps14=0.04, rmin14=1.8))
    assert listed(p) == [[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], [(0, 3)]]
    assert p.pair_14_charges[0] == pytest.approx(0.1 * 0.4 / 1.5)
    assert p.pair_14_a[0] == pytest.approx(0.04 / 3 * 3.6 ** 12)
    assert p.pair_14_b[0] == pytest.approx(2 * 0.04 / 3 * 3.6 ** 6)
    assert p.lennard_jones_a[0, 0] == pytest.approx(0.1 * 4.0 ** 12)
    with pytest.raises(leyden.InputError, match="atoms 1 and 4, the ends of a dihedral, have no 1-4 scales"):
        leyden.Particles(molecule([(0, 1), (1, 2), (2, 3)], 4, 0.0, 0.0))


def test_sites_of_structures():
    """A site is bonded to its parent alone: it has its exclusions and its 1-4 pairs."""
    made = molecule([(0, 1), (1, 2), (2, 3), (3, 4)], 5)
    site = parmed.topologyobjects.ExtraPoint(name="EP", type="C", atomic_number=0, mass=0.0, charge=-0.3)
    site.atom_type = made.atoms[0].atom_type
    made.add_atom(site, "RES", 1, "A")
    made.bonds.append(parmed.Bond(made.atoms[0], site))
    p = leyden.Particles(made)
    exclusions, pairs = listed(p)
    assert pairs == [(0, 3), (1, 4), (3, 5)] and {(0, 5), (1, 5), (2, 5)} <= set(exclusions)
    assert (4, 5) not in exclusions
    assert p.pair_14_charges[p.pair_14.tolist().index([3, 5])] == pytest.approx(-0.3 * 0.4 / 1.2)


def test_sites_without_parents():
    made = molecule([(0, 1)], 2)
    made.add_atom(parmed.topologyobjects.ExtraPoint(name="M", type="C", atomic_number=0, charge=1.0), "RES", 1, "A")
    with pytest.raises(leyden.InputError, match="site 3, M of RES, is bonded to nothing and excluded from nothing"):
        leyden.Particles(made)


def test_unknown_structures():
    made = molecule([(0, 1)], 2)
    for atom in made.atoms:
        atom.atom_type = parmed.topologyobjects.UnassignedAtomType
    with pytest.raises(leyden.InputError, match="no atom has Lennard-Jones parameters: files of parameters are missing"):
        leyden.Particles(made)
    with pytest.raises(leyden.InputError, match="the structure has no atoms"):
        leyden.Particles(parmed.Structure())
    with pytest.raises(leyden.UsageError, match="a Structure of ParmEd is needed, not int"):
        leyden.Particles.from_parmed(3)
    with pytest.raises(leyden.UsageError, match="a System of OpenMM is needed, not int"):
        leyden.Particles.from_openmm(3)
    with pytest.raises(leyden.UsageError, match="a file's name or a Structure of ParmEd is needed, not int"):
        leyden.Particles(3)
    made = molecule([(0, 1)], 2)
    made.unknown_functional = True
    with pytest.raises(leyden.InputError, match="from_openmm"):
        leyden.Particles(made)


# ---- GROMACS -------------------------------------------------------------------------------------

TOP = """[ defaults ]
1 {rule} {generate} 0.5 0.8333
[ atomtypes ]
 CA  6 12.011 0.0 A 0.35 0.3
 CB  6 12.011 0.0 A 0.30 0.7
{more}
[ moleculetype ]
M {reach}
[ atoms ]
1 CA 1 RES A1 1 0.1 12.011
2 CB 1 RES A2 2 -0.2 12.011
3 CA 1 RES A3 3 0.3 12.011
4 CB 1 RES A4 4 -0.4 12.011
5 CA 1 RES A5 5 0.2 12.011
6 CA 1 RES A6 6 0.2 12.011
[ bonds ]
1 2 1 0.15 1000
2 3 1 0.15 1000
3 4 1 0.15 1000
4 5 1 0.15 1000
5 6 1 0.15 1000
[ dihedrals ]
1 2 3 4 1 0.0 1.0 3
2 3 4 5 1 0.0 1.0 3
3 4 5 6 1 0.0 1.0 3
[ pairs ]
{pairs}
[ exclusions ]
{exclusions}
[ system ]
x
[ molecules ]
M 2
"""


def top(tmp_path, **given):
    path = tmp_path / "m.top"
    fields = {"rule": 2, "generate": "yes", "more": "", "reach": 3, "pairs": "1 4 1\n2 5 1\n3 6 1", "exclusions": "1 6", **given}
    path.write_text(TOP.format(**fields))
    return path


@pytest.mark.parametrize("given", [
    {}, {"rule": 3}, {"more": "[ pairtypes ]\nCA CB 1 0.31 0.123"}, {"pairs": "1 4 1 0.29 0.4\n2 5 1\n3 6 1"},
    {"more": "[ nonbond_params ]\nCA CB 1 0.4 0.9"}, {"generate": "no", "pairs": "1 4 1\n2 5 1",
     "more": "[ pairtypes ]\nCA CB 1 0.31 0.123"}])
def test_top(given, tmp_path):
    """Fudges, rules, pairs of types and of their own, exclusions."""
    path = top(tmp_path, **given)
    p = leyden.Particles(path)
    x = 4 * np.array([[i, j, k] for i in range(2) for j in range(3) for k in range(2)]) + \
        np.random.default_rng(3).uniform(-0.5, 0.5, (12, 3))
    exclusions, _ = listed(p)
    assert (0, 5) in exclusions and (6, 11) in exclusions and (0, 6) not in exclusions
    if mm is not None:
        assert sum(energy_of(p, x)) == pytest.approx(openmm_energy(app.GromacsTopFile(str(path)).createSystem(), x), abs=1e-4)


@pytest.mark.parametrize("given", [{}, {"pairs": "1 4 1 0.001 1e-6\n2 5 1 0.002 2e-6\n3 6 1"},
                                   {"more": "[ pairtypes ]\nCA CB 1 0.001 1.5e-6"},
                                   {"more": "[ nonbond_params ]\nCA CB 1 0.003 4e-6"}])
def test_powers(given, tmp_path):
    """Combination rule 1: C6 and C12, kJ/mol nm^6 and nm^12, in place of sigma and epsilon; both are scaled in 1-4 pairs."""
    path = top(tmp_path, rule=1, **given)
    path.write_text(path.read_text().replace("A 0.35 0.3", "A 2.2e-3 2.6e-6").replace("A 0.30 0.7", "A 2.0e-3 1.6e-6"))
    p = leyden.Particles(path)
    x = 4 * np.array([[i, j, k] for i in range(2) for j in range(3) for k in range(2)]) + \
        np.random.default_rng(3).uniform(-0.5, 0.5, (12, 3))
    is_fixed = "nonbond" in given.get("more", "")
    six, twelve = (3e-3, 4e-6) if is_fixed else (np.sqrt(2.2e-3 * 2.0e-3), np.sqrt(2.6e-6 * 1.6e-6))
    s, t = p.type[0], p.type[1]
    assert p.lennard_jones_b[s, t] == p.lennard_jones_b[t, s] == pytest.approx(six * 1e6 / KJ)
    assert p.lennard_jones_a[s, t] == pytest.approx(twelve * 1e12 / KJ)
    if "pairtypes" not in given.get("more", ""):
        k = p.pair_14.tolist().index([0, 3])
        six, twelve = (0.001, 1e-6) if "pairs" in given else (0.5 * six, 0.5 * twelve)
        assert p.pair_14_b[k] == pytest.approx(six * 1e6 / KJ) and p.pair_14_a[k] == pytest.approx(twelve * 1e12 / KJ)
    if mm is not None and not is_fixed:  # of these OpenMM scales C12 alone
        assert sum(energy_of(p, x)) == pytest.approx(openmm_energy(app.GromacsTopFile(str(path)).createSystem(), x), abs=1e-4)


def test_pairs_that_are_missing(tmp_path):
    """Neighbours of three bonds without a line in [ pairs ] have no energy; lines of the same pair add up."""
    p, twice = (leyden.Particles(top(tmp_path, pairs=pairs)) for pairs in ("1 4 1\n2 5 1", "1 4 1\n2 5 1\n2 5 1 0.3 0.1"))
    assert listed(p)[1] == [(0, 3), (1, 4), (6, 9), (7, 10)] and (2, 5) in listed(p)[0]
    assert twice.pair_14_charges[1] == pytest.approx(2 * p.pair_14_charges[1])
    assert twice.pair_14_a[1] == pytest.approx(p.pair_14_a[1] + 4 * 0.1 / KJ * 3.0 ** 12)


WATER = """[ defaults ]
1 2 yes 0.5 0.8333
[ atomtypes ]
 OW 8 16.0 0.0 A 0.316435 0.680946
 HW 1 1.008 0.0 A 0.0 0.0
 MW 0 0.0 0.0 D 0.0 0.0
 NA 11 22.99 0.0 A 0.2 0.4
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 0.0 16.0
2 HW 1 SOL HW1 1 0.52422 1.008
3 HW 1 SOL HW2 1 0.52422 1.008
4 MW 1 SOL MW 1 -1.04844 0.0
[ settles ]
1 1 0.09572 0.15139
[ virtual_sites3 ]
4 1 2 3 1 0.106676721 0.106676721
[ exclusions ]
1 2 3 4
2 1 3 4
3 1 2 4
4 1 2 3
[ moleculetype ]
NA 1
[ atoms ]
1 NA 1 NA NA 1 1.0 22.99
[ system ]
x
[ molecules ]
SOL 2
NA 1
"""


def test_water_of_gromacs(tmp_path):
    """TIP4P/Ew with its site, and an ion, whose reaches of exclusions are 2 and 1."""
    path = tmp_path / "w.top"
    path.write_text(WATER)
    p = leyden.Particles(path)
    assert listed(p) == [sorted((i + k, j + k) for k in (0, 4) for i in range(4) for j in range(i + 1, 4)), []]
    assert p.elements.tolist() == [8, 1, 1, 0, 8, 1, 1, 0, 11] and p.residue.tolist() == [0] * 4 + [1] * 4 + [2]
    if mm is not None:
        same_energies(p, app.GromacsTopFile(str(path)).createSystem(), np.random.default_rng(6).uniform(0, 9, (9, 3)))


def test_refused_tops(tmp_path):
    with pytest.raises(leyden.InputError, match="atoms 1 and 5, which are no neighbours of three bonds or less"):
        leyden.Particles(top(tmp_path, pairs="1 5 1"))
    with pytest.raises(leyden.InputError, match="molecule M: exclusions of 2 bonds"):
        leyden.Particles(top(tmp_path, reach=2))
    for section, what in (("constraints ]\n1 2 1 0.1", "constraints ] of function 1"), ("pairs_nb ]\n1 5 1 0 0 0 0", "pairs_nb ] cannot"),
                          ("pairs ]\n1 4 2 0.5 0 0 0.3 0.1", "pairs ] of another function than 1")):
        with pytest.raises(leyden.InputError, match=what):
            leyden.Particles(top(tmp_path, exclusions=f"1 6\n[ {section}"))
    made = parmed.load_file(str(top(tmp_path)))
    with pytest.raises(leyden.InputError, match=r"molecule M has \[ exclusions \], which the Structure has lost"):
        leyden.Particles(made)


# ---- CHARMM --------------------------------------------------------------------------------------

RTF = """* x
*
36 1
MASS 1 CA 12.011 C
MASS 2 CB 12.011 C
"""
PRM = """* x
*
ATOMS
MASS 1 CA 12.011
MASS 2 CB 12.011

BONDS
CA CB 300.0 1.5
CA CA 300.0 1.5

ANGLES
CA CB CA 50.0 110.0
CB CA CB 50.0 110.0

DIHEDRALS
CA CB CA CB 0.2 3 0.0

NONBONDED nbxmod 5 atom cdiel shift vatom vdistance vswitch -
cutnb 14.0 ctofnb 12.0 ctonnb 10.0 eps 1.0 e14fac 1.0 wmin 1.5
CA 0.0 -0.11 2.0 0.0 -0.01 1.9
CB 0.0 -0.07 1.99
{more}
END
"""
PSF = """PSF

       1 !NTITLE
 REMARKS x

       5 !NATOM
       1 S    1    RES  A1   CA     0.100000       12.0110           0
       2 S    1    RES  A2   CB    -0.200000       12.0110           0
       3 S    1    RES  A3   CA     0.300000       12.0110           0
       4 S    1    RES  A4   CB    -0.400000       12.0110           0
       5 S    2    RES  A5   CA     0.200000       12.0110           0

       4 !NBOND: bonds
       1       2       2       3       3       4       4       5

       3 !NTHETA: angles
       1       2       3       2       3       4       3       4       5

       2 !NPHI: dihedrals
       1       2       3       4       2       3       4       5

       0 !NIMPHI: impropers


       0 !NDON: donors


       0 !NACC: acceptors


       0 !NNB

       0       0       0       0       0

       1       0 !NGRP
       0       0       0

"""


@pytest.mark.parametrize("more", ["", "NBFIX\nCA CB -0.2 3.5", "NBFIX\nCA CB -0.2 3.5 -0.05 3.3\nCB CB -0.3 3.1"])
def test_charmm(more, tmp_path):
    """1-4 sizes and depths of their own, and NBFIX, with its own 1-4 ones."""
    psf, prm, rtf = (tmp_path / name for name in ("m.psf", "m.prm", "m.rtf"))
    psf.write_text(PSF)
    prm.write_text(PRM.format(more=more))
    rtf.write_text(RTF)
    p = leyden.Particles.load(psf, rtf, prm)
    assert listed(p) == [[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)], [(0, 3), (1, 4)]]
    depth, size = (0.2, 3.5) if more else (np.sqrt(0.11 * 0.07), 3.99)
    s, t = p.type[0], p.type[1]
    assert p.lennard_jones_a[s, t] == pytest.approx(depth * size ** 12)
    assert p.lennard_jones_b[s, t] == pytest.approx(2 * depth * size ** 6)
    depth, size = (0.05, 3.3) if "0.05" in more else (0.2, 3.5) if more else (np.sqrt(0.01 * 0.07), 3.89)
    np.testing.assert_allclose(p.pair_14_a, depth * size ** 12)
    np.testing.assert_allclose(p.pair_14_b, 2 * depth * size ** 6)
    np.testing.assert_allclose(p.pair_14_charges, [0.1 * -0.4, -0.2 * 0.2])
    if "CB CB" in more:
        assert p.lennard_jones_a[t, t] == pytest.approx(0.3 * 3.1 ** 12)
    if mm is not None:
        system = app.CharmmPsfFile(str(psf)).createSystem(app.CharmmParameterSet(str(rtf), str(prm)))
        same_energies(p, system, np.random.default_rng(4).uniform(0, 10, (5, 3)))
    assert p.residue.tolist() == [0, 0, 0, 0, 1] and p.residue_numbers.tolist() == [1, 2]


def test_other_psfs(tmp_path):
    """Coulomb energies of 1-4 pairs are scaled by e14fac; explicit exclusions are refused."""
    psf, prm, rtf = (tmp_path / name for name in ("m.psf", "m.prm", "m.rtf"))
    psf.write_text(PSF)
    prm.write_text(PRM.format(more="").replace("e14fac 1.0", "e14fac 0.4"))
    rtf.write_text(RTF)
    p = leyden.Particles.load(psf, rtf, prm)
    np.testing.assert_allclose(p.pair_14_charges, [0.4 * 0.1 * -0.4, 0.4 * -0.2 * 0.2])
    np.testing.assert_allclose(p.pair_14_a, np.sqrt(0.01 * 0.07) * 3.89 ** 12)
    with pytest.raises(leyden.InputError, match="m.psf: .*type for CA, and there is none in m.prm: the file that has them"):
        prm.write_text(re.sub(r"^MASS.*\n", "", prm.read_text(), flags=re.MULTILINE))
        leyden.Particles.load(psf, prm)
    with pytest.raises(leyden.FileError, match="n.prm: No such file"):
        leyden.Particles.load(psf, rtf, tmp_path / "n.prm")
    with pytest.raises(leyden.UsageError, match="m.psf: parameters of a PSF are in files that end in .rtf"):
        leyden.Particles.load(psf, psf)
    psf.write_text(PSF.replace("0 !NNB\n\n", "1 !NNB\n       5\n\n"))
    with pytest.raises(leyden.InputError, match="exclusions beside those of bonds"):
        leyden.Particles.load(psf, rtf, prm)


def test_chamber(tmp_path):
    """CHARMM's force field in Amber's files, with the 1-4 table of its own."""
    psf, prm, rtf, path = (tmp_path / name for name in ("m.psf", "m.prm", "m.rtf", "m.prmtop"))
    psf.write_text(PSF)
    prm.write_text(PRM.format(more="NBFIX\nCA CB -0.2 3.5 -0.05 3.3"))
    rtf.write_text(RTF)
    structure = parmed.charmm.CharmmPsfFile(str(psf))
    structure.load_parameters(parmed.charmm.CharmmParameterSet(str(rtf), str(prm)))
    parmed.amber.ChamberParm.from_structure(structure).write_parm(str(path))
    p, q = leyden.Particles(path), leyden.Particles.load(psf, rtf, prm)
    assert listed(p) == listed(q)
    for name in ("pair_14_a", "pair_14_b", "pair_14_charges"):
        np.testing.assert_allclose(getattr(p, name), getattr(q, name), rtol=1e-6)
    x = np.random.default_rng(4).uniform(0, 10, (5, 3))
    assert sum(energy_of(p, x)) == pytest.approx(sum(energy_of(q, x)), rel=1e-6)


# ---- Expressions ---------------------------------------------------------------------------------


def two_kinds(expression, parameters=("size", "depth"), tables=None):
    """Six particles of three kinds, whose Lennard-Jones energies are a CustomNonbondedForce's."""
    system, plain, force = mm.System(), mm.NonbondedForce(), mm.CustomNonbondedForce(expression)
    for name in parameters:
        force.addPerParticleParameter(name)
    for name, table in (tables or {}).items():
        force.addTabulatedFunction(name, table)
    for i in range(6):
        system.addParticle(1)
        plain.addParticle(0.1 * i, 1.0, 0.0)
        force.addParticle([0.3 + 0.02 * (i % 3), 0.4 + 0.1 * (i % 3)][:len(parameters)] if "size" in parameters else [i % 3])
    plain.addException(0, 1, 0, 1, 0)
    force.addExclusion(0, 1)
    system.addForce(plain)
    system.addForce(force)
    return system


GRID = [1e-4, 2e-4, 3e-4, 2e-4, 5e-4, 4e-4, 3e-4, 4e-4, 6e-4]


@needs_openmm
@pytest.mark.parametrize("system", [
    lambda: two_kinds("4*e*((s/r)^12-(s/r)^6); s=sqrt(size1*size2); e=sqrt(depth1*depth2)"),
    lambda: two_kinds("e*(x^2-2*x); x=(s/r)^6; s=0.5*(size1+size2)*2^(1/6); e=(depth1*depth2)^0.5"),
    lambda: two_kinds("select(step(r-100), 0, A/r^12-1e-3*min(C, 99)/r^6); A=1e-6*size1*size2; C=max(depth1, depth2)"),
    lambda: two_kinds("a(kind1, kind2)/r^12 - b(kind1, kind2)/r^6", ("kind",), {
        "a": mm.Discrete2DFunction(3, 3, [x * 1e-3 for x in GRID]), "b": mm.Discrete2DFunction(3, 3, GRID)}),
    lambda: two_kinds("d(kind1)*d(kind2)/r^12", ("kind",), {"d": mm.Discrete1DFunction([1e-3, 2e-3, 3e-3])})])
def test_expressions(system):
    system = system()
    p = leyden.Particles.from_openmm(system)
    assert len(p.lennard_jones_a) == 3 and listed(p)[0] == [(0, 1)]
    same_energies(p, system, np.random.default_rng(5).uniform(0, 8, (6, 3)))


@needs_openmm
@pytest.mark.parametrize("expression, what", [
    ("depth1*depth2*exp(-r/size1)", "are not a/r\\^12 - b/r\\^6"), ("depth1*depth2/r", "are not a/r\\^12 - b/r\\^6"),
    ("size1*depth1/r^4", "are not"), ("lambda*size1/r^6", "is not understood"), ("whirl(size1)/r^6", "is not understood"),
    ("depth1*depth2*((0.3/r)^12-(0.3/r)^6)*step(0.4-r)", "are not")])
def test_refused_expressions(expression, what):
    system = two_kinds("size1/r^12")
    force = system.getForce(1)
    force.setEnergyFunction(expression)
    force.setName("odd one")
    with pytest.raises(leyden.InputError, match=f"CustomNonbondedForce 'odd one'.*{what}"):
        leyden.Particles.from_openmm(system)


@needs_openmm
def test_other_forces():
    def refused(change, what):
        system = two_kinds("size1*size2/r^12")
        change(system)
        with pytest.raises(leyden.InputError, match=what):
            leyden.Particles.from_openmm(system)

    def bond(expression, pair):
        force = mm.CustomBondForce(expression)
        force.addBond(*pair, [])
        return lambda system: system.addForce(force)

    refused(bond("1e-6/r^12", (2, 3)), "particles 3 and 4 have non-bonded energies beside its own")
    refused(bond("exp(-r)", (0, 1)), "CustomBondForce, 'exp.-r.': it acts between particles")
    refused(lambda system: system.addForce(mm.NonbondedForce()), "2 forces NonbondedForce")
    refused(lambda system: system.addForce(mm.CustomHbondForce("distance(a1, d1)")), "CustomHbondForce.*cannot be computed here")
    refused(lambda system: system.getForce(1).addInteractionGroup([0], [1]), "groups that interact")

    def offset(system):
        system.getForce(0).addGlobalParameter("x", 0)
        system.getForce(0).addParticleParameterOffset("x", 0, 1, 0, 0)

    refused(offset, "NonbondedForce: parameters that depend on others")
    system = two_kinds("size1*size2/r^12")
    for change in (bond("1e-6/r^12", (0, 1)), bond("3*(r-0.1)^2", (0, 1)), bond("5*(1-exp(-r))^2", (2, 3))):
        change(system)
    p = leyden.Particles.from_openmm(system)
    assert listed(p) == [[], [(0, 1)]] and p.pair_14_a[0] == pytest.approx(1e-6 / 4.184 * 1e12) and p.pair_14_b[0] == 0


# ---- Solvents ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gb", ["hct", "obc1", "obc2", "gbn", "gbn2"])
def test_born(gb, protein):
    """As OpenMM's own tables have them."""
    forces = pytest.importorskip("openmm.app.internal.customgbforces")
    topology, _ = protein
    system = system_of("amber14/protein.ff14SB.xml", topology)
    kind = {"hct": "GBSAHCTForce", "obc1": "GBSAOBC1Force", "obc2": "GBSAOBC2Force", "gbn": "GBSAGBnForce", "gbn2": "GBSAGBn2Force"}
    right = np.array(getattr(forces, kind[gb]).getStandardParameters(topology))
    p = leyden.Particles.from_openmm(system, topology, gb=gb)
    np.testing.assert_allclose(p.born_radii, 10 * right[:, 0])
    np.testing.assert_allclose(p.born_screens, right[:, 1])
    assert p.born_model == (gb if gb.startswith("gbn") else "obc2")
    if gb == "gbn2":
        np.testing.assert_allclose(p.born_factors, right[:, 2:])
    else:
        assert p.born_factors is None


@pytest.mark.parametrize("radii", ["bondi", "amber6", "mbondi", "mbondi2", "mbondi3"])
def test_radii(radii, parm):
    """As ParmEd's changeRadii sets them; which a prmtop then has."""
    tools = pytest.importorskip("parmed.tools")
    p = leyden.Particles.from_parmed(parm, radii=radii)
    tools.changeRadii(parm, radii).execute()
    right = [atom.solvent_radius for atom in parm.atoms]
    np.testing.assert_allclose(p.born_radii, right)
    np.testing.assert_allclose(leyden.Particles(parm).born_radii, right)
    np.testing.assert_allclose(leyden.Particles(parm).born_screens, [atom.screen for atom in parm.atoms])
    gbn = leyden.Particles.from_parmed(parm, gb="gbn")
    assert not np.allclose(gbn.born_screens, [atom.screen for atom in parm.atoms])


def test_nucleic_acids():
    made = molecule([(0, 1)], 2)
    for name, screen in (("DA5", 1.268902), ("RU", 1.268902), ("A", 1.268902), ("DAL", 1.058554), ("ALA", 1.058554)):
        made.residues[0].name = name
        p = leyden.Particles(made, gb="gbn2")
        assert p.born_screens[0] == screen and p.born_model == "gbn2"


def test_lcpo(protein):
    """As OpenMM's tables have it; hydrogen has no radius, carbon with four heavy neighbours has one but no surface."""
    lcpo = pytest.importorskip("openmm.app.internal.lcpo")
    topology, _ = protein
    p = leyden.Particles.from_openmm(system_of("amber14/protein.ff14SB.xml", topology), topology)
    rows = lcpo.getLCPOParamsTopology(topology)
    right = np.array([[row[0]._value, row[1], row[2], row[3], row[4]._value] for row in rows])
    assert right[:, 0].any()
    np.testing.assert_allclose(p.lcpo_factors, right[:, 1:])
    np.testing.assert_allclose(p.surface_radii, right[:, 0])
    bondi = leyden.Particles.from_openmm(system_of("amber14/protein.ff14SB.xml", topology), topology, surface_radii="bondi")
    assert bondi.lcpo_factors is None and set(bondi.surface_radii[bondi.elements == 7]) == {1.55}
    assert set(bondi.surface_radii[bondi.elements == 1]) == {1.2}
    five = leyden.Particles(molecule([(0, k) for k in range(1, 5)], 5))
    assert five.lcpo_factors[0].tolist() == [0, 0, 0, 0] and five.surface_radii[0] == 1.7


def test_elements_without_lcpo():
    made = molecule([(0, 1)], 3)
    made.atoms[1].atomic_number, made.atoms[2].atomic_number = 35, 11
    with pytest.warns(leyden.RadiiWarning, match="no constants of Br: 1 atoms, C1 of RES first"):
        p = leyden.Particles(made)
    assert not p.lcpo_factors[1:].any() and p.surface_radii.tolist() == [1.7, 0, 0]


def test_unknown_choices(parm):
    for given, what in (({"gb": "obc"}, "gb: 'obc' is none of hct, obc1"), ({"radii": "mbondi4"}, "radii: 'mbondi4' is none of auto"),
                        ({"surface_radii": "x"}, "surface_radii: 'x' is neither lcpo nor bondi")):
        with pytest.raises(leyden.UsageError, match=what):
            leyden.Particles.from_parmed(parm, **given)


# ---- The command, and parts ----------------------------------------------------------------------


def test_convert(structure, tmp_path, capsys):
    path, made = tmp_path / "a.prmtop", tmp_path / "a.npz"
    structure.save(str(path))
    assert program(["convert", str(path), "-o", str(made), "--gb", "gbn2", "--radii", "mbondi3"]) == 0
    assert "written: " in (said := capsys.readouterr().out) and "582 particles" in said and "1-4 pairs" in said
    p, q = leyden.Particles(made), leyden.Particles(path, gb="gbn2", radii="mbondi3")
    assert set(p.arrays) == set(q.arrays)
    for name, array in q.arrays.items():
        np.testing.assert_array_equal(p.arrays[name], array)
    for words, code, what in ((["--frame", "3"], 1, "--frame is not for particles"), (["--gb", "x"], 1, "gb: 'x' is none of")):
        assert program(["convert", str(path), "-o", str(made), *words]) == code
        assert what in capsys.readouterr().err
    assert program(["convert", str(path), "-o", str(tmp_path / "a.pqr"), "--parameters", "x"]) == 1
    assert "--parameters is for particles" in capsys.readouterr().err


def test_ligand(structure, protein):
    """A part has the energy of its own pairs, and groups' energies add up."""
    p, x = leyden.Particles(structure), protein[1]
    is_first = p.residue < 20
    first, second = p.subset(is_first), p.subset(np.flatnonzero(~is_first))
    assert len(first) + len(second) == len(p) and first.residue_names.tolist() == p.residue_names[:20].tolist()
    again = parmed.Structure.__getitem__(structure, is_first.nonzero()[0].tolist())
    assert len(leyden.Particles(again).pair_14) == len(first.pair_14)
    order = np.random.default_rng(2).permutation(len(p))
    assert sum(energy_of(p.subset(order), x[order])) == pytest.approx(sum(energy_of(p, x)), rel=1e-10)
