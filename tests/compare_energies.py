#!/usr/bin/python3
"""Does the law of energies (host/law/energy.h) agree with OpenMM's Reference platform, in double precision? Prints a table; exit code 1
where energies differ by more than 1e-7 of their absolute sums, or forces by more than 1e-6 of their root mean square; 77 without openmm.

    compare_energies.py [--build DIR] [WORD ...]    cases whose names have one of these words; none: all
    compare_energies.py --write                     makes tests/data/protein.npz and .npy, and prints OpenMM's values of them for
                                                    tests/test_energy_law.c

OpenMM's own force fields and structures make the systems: proteins, water, cells that are rectangular and oblique, every model of generalised
Born, with salt and without. Its constant is 138.935457644 kJ/mol nm in pairs, 138.935485 in custom forces of generalised Born; beta of GBn is
1.907992938 there and 1.90792938 in the paper, which is put right here; energies of Born pairs within a cutoff are less their value there.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import cffi
    import numpy as np
    import openmm as mm
    from openmm import app, unit
    from openmm.app.internal import customgbforces, lcpo
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
KJ, PAIRS, BORN = 4.184, 1389.3545764438198 / 4.184, 1389.35485 / 4.184
ENERGY, FORCE = 1e-7, 1e-6
TERMS = ("LENNARD_JONES", "LENNARD_JONES_14", "COULOMB", "COULOMB_14", "BORN", "SURFACE")
MD = unit.md_unit_system


# ---- The law -------------------------------------------------------------------------------------

def law(build, folder):
    """cffi's view of the headers, and tests/energy_law/shim.c as a library."""
    sys.path.insert(0, str(ROOT / "python"))
    from build_extension import declarations  # noqa: PLC0415
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    ffi.cdef("""ley_status shim_energy(const ley_particles_arrays *, const ley_energy_options *, const float *, const double *,
                                       ley_energy_results *, double *, ley_error *);
                void shim_default(ley_energy_options *, size_t *);""")
    library = Path(folder, "shim.so")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-fvisibility=hidden",
                    *(f"-I{ROOT / name}" for name in ("platform", "host", "cl")), "-o", library, ROOT / "tests/energy_law/shim.c",
                    Path(build, "libleyden.a"), *"-lOpenCL -lcrypto -lz -lm -ldl -pthread".split()], check=True)
    return ffi, ffi.dlopen(str(library), ffi.RTLD_NOW | ffi.RTLD_NODELETE)  # it has threads


class Law:
    def __init__(self, build, folder):
        self.ffi, self.lib = law(build, folder)

    def run(self, particles, options, x, cell=None):
        """Terms and forces in kcal/mol and A of a dict of arrays, a dict of options."""
        ffi, kept = self.ffi, []
        of, settings, sizes = ffi.new("ley_particles_arrays *"), ffi.new("ley_energy_options *"), ffi.new("size_t[3]")
        self.lib.shim_default(settings, sizes)
        assert list(sizes) == [ffi.sizeof(name) for name in ("ley_energy_options", "ley_particles_arrays", "ley_error")]

        def pointer(kind, array, dtype):
            kept.append(np.ascontiguousarray(array, dtype))
            return ffi.cast(kind, kept[-1].ctypes.data)

        for name, value in options.items():
            setattr(settings, name, getattr(self.lib, value) if isinstance(value, str) else value)
        of.size = ffi.sizeof("ley_particles_arrays")
        of.particles, of.types = len(particles["charges"]), len(particles["lennard_jones_a"])
        of.exclusions, of.pairs_14 = len(particles["exclusion"]), len(particles["pair_14"])
        for name, value in particles.items():
            kind = next(field.type for key, field in ffi.typeof("ley_particles_arrays").fields if key == name)
            setattr(of, name, pointer(kind, value, np.int32 if "int32" in kind.cname else np.float64))
        n = of.particles
        terms, by, force = np.zeros(len(TERMS)), np.zeros((len(TERMS), n)), np.zeros((n, 3))
        results, error = ffi.new("ley_energy_results *"), ffi.new("ley_error *")
        results.terms, results.by_particle = (ffi.cast("double *", array.ctypes.data) for array in (terms, by))
        status = self.lib.shim_energy(of, settings, pointer("float *", x, np.float32),
                                      ffi.NULL if cell is None else pointer("double *", cell, float), results,
                                      ffi.cast("double *", force.ctypes.data), error)
        if status != 0:
            raise RuntimeError(ffi.string(error.message).decode())
        assert np.allclose(by.sum(1), terms, rtol=1e-12, atol=1e-9 * abs(by).sum())
        return terms, force, abs(by).sum()


# ---- OpenMM --------------------------------------------------------------------------------------

def reaches_all(x, cell, cutoff):
    """Whether the Reference platform finds all pairs: in oblique cells it loses some, now and then."""
    force, counts = mm.CustomNonbondedForce("1"), []
    force.setNonbondedMethod(force.CutoffPeriodic)
    force.setCutoffDistance(cutoff / 10)
    for _ in x:
        force.addParticle([])
    for k in (-1, 0, 1):
        for l in (-1, 0, 1):
            for m in (-1, 0, 1):
                ways = x[:, None].astype(float) - x[None] + np.array((k, l, m)) @ cell
                counts.append((np.sqrt((ways ** 2).sum(2)) < cutoff).sum())
    return round(reference(force, len(x), x, cell)[0] * KJ) == (sum(counts) - len(x)) // 2


def reference(force, n, x, cell=None):
    """Energy and forces of one force."""
    system = mm.System()
    for _ in range(n):
        system.addParticle(1)
    if cell is not None:
        system.setDefaultPeriodicBoxVectors(*(cell / 10))
    system.addForce(mm.XmlSerializer.clone(force))
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(x.astype(np.float64) / 10)
    state = context.getState(getEnergy=True, getForces=True)
    return (state.getPotentialEnergy().value_in_unit_system(MD) / KJ,
            state.getForces(asNumpy=True).value_in_unit_system(MD) / KJ / 10)


def part_of(nonbonded, charges, lennard_jones):
    """The same force without charges, or without epsilon."""
    made = mm.XmlSerializer.clone(nonbonded)
    for i in range(made.getNumParticles()):
        q, sigma, epsilon = made.getParticleParameters(i)
        made.setParticleParameters(i, q * charges, sigma, epsilon * lennard_jones)
    for k in range(made.getNumExceptions()):
        i, j, q, sigma, epsilon = made.getExceptionParameters(k)
        made.setExceptionParameters(k, i, j, q * charges, sigma, epsilon * lennard_jones)
    return made


def without_14(nonbonded):
    made = mm.XmlSerializer.clone(nonbonded)
    for k in range(made.getNumExceptions()):
        i, j, _, sigma, _ = made.getExceptionParameters(k)
        made.setExceptionParameters(k, i, j, 0, sigma, 0)
    return made


def particles_of(nonbonded, pairs_14=()):
    """The arrays of a NonbondedForce, with a type for each pair of sigma and epsilon; pairs that are none of exclusions alone."""
    rows = [[v.value_in_unit_system(MD) for v in nonbonded.getParticleParameters(i)] for i in range(nonbonded.getNumParticles())]
    rows = np.array(rows) * (1, 10, 1 / KJ)
    types, kind = np.unique(rows[:, 1:], axis=0, return_inverse=True)
    sigma, epsilon = (types[:, None, 0] + types[None, :, 0]) / 2, np.sqrt(types[:, None, 1] * types[None, :, 1])
    exclusion, pair, values = [], [], []
    for k in range(nonbonded.getNumExceptions()):
        i, j, q, s, e = nonbonded.getExceptionParameters(k)
        q, s, e = (v.value_in_unit_system(MD) for v in (q, s, e))
        if q == 0 and e == 0 and frozenset((i, j)) not in pairs_14:
            exclusion.append((i, j))
        else:
            pair.append((i, j))
            values.append((q, 4 * e / KJ * (s * 10) ** 12, 4 * e / KJ * (s * 10) ** 6))
    values = np.array(values).reshape(-1, 3)
    return {"charges": rows[:, 0], "type": kind.reshape(-1), "lennard_jones_a": 4 * epsilon * sigma ** 12,
            "lennard_jones_b": 4 * epsilon * sigma ** 6, "exclusion": np.array(exclusion).reshape(-1, 2),
            "pair_14": np.array(pair).reshape(-1, 2), "pair_14_charges": values[:, 0], "pair_14_a": values[:, 1],
            "pair_14_b": values[:, 2]}


# ---- Systems -------------------------------------------------------------------------------------

DATA = Path(app.__file__).parent / "data"


def protein(field):
    model = app.Modeller(*(lambda p: (p.topology, p.positions))(app.PDBFile(str(DATA / "test.pdb"))))
    model.deleteWater()
    model.delete([r for r in model.topology.residues() if len(list(r.atoms())) < 5])
    return model, app.ForceField(field).createSystem(model.topology, nonbondedMethod=app.NoCutoff)


def positions_of(model):
    return (np.array(model.positions.value_in_unit(unit.angstrom))).astype(np.float32)


def nonbonded_of(system):
    return next(f for f in system.getForces() if isinstance(f, mm.NonbondedForce))


def protein_in_water():
    pdb = app.PDBFile(str(DATA / "test.pdb"))
    system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(pdb.topology, nonbondedMethod=app.CutoffPeriodic)
    return positions_of(pdb), system, np.array([v.value_in_unit(unit.angstrom) for v in system.getDefaultPeriodicBoxVectors()])


def charged_water():
    x, system, cell = water()
    force = nonbonded_of(system)
    for i in range(3):
        _, sigma, epsilon = force.getParticleParameters(30 * i)
        force.setParticleParameters(30 * i, 0.7 - i, sigma, epsilon)
    return x, system, cell


def water(name="tip3p", size=22.0, shape=None):
    """A box of water that fits its cell, rectangular or of these vectors."""
    field = app.ForceField(f"{name}.xml")
    model = app.Modeller(app.Topology(), [])
    vectors = np.array(shape if shape is not None else np.eye(3)) * size / 10
    model.topology.setPeriodicBoxVectors(vectors * unit.nanometer)
    model.addSolvent(field, model="tip4pew" if name == "tip4pew" else "tip3p", boxVectors=[mm.Vec3(*v) * unit.nanometer for v in vectors])
    return positions_of(model), field.createSystem(model.topology, nonbondedMethod=app.CutoffPeriodic), vectors * 10


DODECAHEDRON = [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.5 ** 0.5]]
OBLIQUE = [[1, 0, 0], [0.2, 0.95, 0], [-0.2, 0.3, 0.9]]


# ---- Cases ---------------------------------------------------------------------------------------

class Judge:
    def __init__(self, run, words):
        self.run, self.words, self.wrong, self.cases = run, words, 0, 0
        print("| case | particles | energy, kcal/mol | deviation | of forces |\n|---|--:|--:|--:|--:|")

    def wants(self, name):
        return not self.words or any(word in name for word in self.words)

    def compare(self, name, right, got, terms=TERMS):
        energy, force, absolute = got
        energy = sum(energy[TERMS.index(term)] for term in terms)
        by = abs(energy - right[0]) / absolute
        of_forces = np.sqrt(((force - right[1]) ** 2).mean() / (right[1] ** 2).mean()) if right[1] is not None else 0
        is_wrong = not (by < ENERGY and of_forces < FORCE)
        self.wrong, self.cases = self.wrong + is_wrong, self.cases + 1
        print(f"| {name} | {len(force)} | {energy:.6f} | {by:.1e} | {of_forces:.1e} |{' WRONG' if is_wrong else ''}", flush=True)


OFF = {"lennard_jones": "LEY_LENNARD_JONES_NONE", "coulomb": "LEY_COULOMB_NONE"}


def vacuum(judge):
    for field in ("amber14/protein.ff14SB.xml", "amber99sbildn.xml", "amber03.xml"):
        name = f"vacuum, {field}"
        if not judge.wants(name):
            continue
        model, system = protein(field)
        force, x = nonbonded_of(system), positions_of(model)
        of, n = particles_of(force), len(x)
        judge.compare(name, reference(force, n, x), judge.run(of, {"coulomb_constant": PAIRS}, x))
        for term, part in (("LENNARD_JONES", part_of(force, 0, 1)), ("COULOMB", part_of(force, 1, 0))):
            right = reference(without_14(part), n, x)
            options = {"coulomb_constant": PAIRS, **({"coulomb": OFF["coulomb"]} if term == "LENNARD_JONES" else {"lennard_jones": OFF["lennard_jones"]})}
            bare = {**of, "pair_14_charges": 0 * of["pair_14_charges"], "pair_14_a": 0 * of["pair_14_a"], "pair_14_b": 0 * of["pair_14_b"]}
            judge.compare(f"{name}: {term.lower()} without 1-4", right, judge.run(bare, options, x), (term,))


def charmm(judge):
    """Lennard-Jones energies from tables of pairs of types, with pairs 1-4 of their own."""
    if not judge.wants("charmm36.xml, vacuum"):
        return
    model, system = protein("charmm36.xml")
    x, charges = positions_of(model), nonbonded_of(system)
    pairs = next(f for f in system.getForces() if isinstance(f, mm.CustomNonbondedForce))
    bonds = next(f for f in system.getForces() if isinstance(f, mm.CustomBondForce))
    (types, _, a), (_, _, b) = (pairs.getTabulatedFunction(k).getFunctionParameters() for k in (0, 1))
    of = particles_of(charges, {frozenset(bonds.getBondParameters(k)[:2]) for k in range(bonds.getNumBonds())})
    rows = {frozenset(pair): k for k, pair in enumerate(of["pair_14"].tolist())}
    of.update(type=[int(pairs.getParticleParameters(i)[0]) for i in range(len(x))],
              lennard_jones_a=np.reshape(a, (types, types)) * 1e12 / KJ, lennard_jones_b=np.reshape(b, (types, types)) * 1e6 / KJ)
    for k in range(bonds.getNumBonds()):
        i, j, (sigma, epsilon) = bonds.getBondParameters(k)
        row, four = rows[frozenset((i, j))], 4 * epsilon / KJ
        of["pair_14_a"][row], of["pair_14_b"][row] = four * (10 * sigma) ** 12, four * (10 * sigma) ** 6
    parts = [reference(force, len(x), x) for force in (charges, pairs, bonds)]
    right = sum(e for e, _ in parts), sum(f for _, f in parts)
    judge.compare("charmm36.xml, vacuum", right, judge.run(of, {"coulomb_constant": PAIRS}, x))


GB = {"hct": (customgbforces.GBSAHCTForce, "LEY_BORN_HCT"), "obc1": (customgbforces.GBSAOBC1Force, "LEY_BORN_OBC1"),
      "obc2": (customgbforces.GBSAOBC2Force, "LEY_BORN_OBC2"), "gbn": (customgbforces.GBSAGBnForce, "LEY_BORN_GBN"),
      "gbn2": (customgbforces.GBSAGBn2Force, "LEY_BORN_GBN2")}


def born(judge):
    model, system = protein("amber14/protein.ff14SB.xml")
    x, n = positions_of(model), system.getNumParticles()
    of = particles_of(nonbonded_of(system))
    for name, (kind, option) in GB.items():
        for salt, eps_p, eps_s in ((0, 1, 78.5), (0.15, 1, 78.5), (0.3, 2, 40)):
            case = f"born {name}, {salt} M, {eps_p} in {eps_s}"
            if not judge.wants(case):
                continue
            arrays = {**of, **parameters(kind, model.topology)}
            force = born_force(name, arrays, solventDielectric=eps_s, soluteDielectric=eps_p, kappa=10 * kappa_of(salt, eps_s))
            options = {**OFF, "born": option, "coulomb_constant": BORN, "salt_M": salt, "solvent_dielectric": eps_s, "dielectric": eps_p}
            judge.compare(case, reference(force, n, x), judge.run(arrays, options, x), ("BORN",))
    case = "born obc2, GBSAOBCForce, 78.3"
    if judge.wants(case):
        arrays = {**of, **parameters(customgbforces.GBSAOBC2Force, model.topology)}
        force = mm.GBSAOBCForce()
        force.setSolventDielectric(78.3)
        force.setSurfaceAreaEnergy(0)
        for q, radius, screen in zip(of["charges"], arrays["born_radii"], arrays["born_screens"]):
            force.addParticle(q, radius / 10, screen)
        options = {**OFF, "born": "LEY_BORN_OBC2", "coulomb_constant": PAIRS, "solvent_dielectric": 78.3}
        judge.compare(case, reference(force, n, x), judge.run(arrays, options, x), ("BORN",))


def periodic(judge):
    """Cells of water, and a protein in water: reaction field, switches, the tail; Ewald's sum."""
    boxes = {"water": water, "oblique water": lambda: water(size=24.0, shape=OBLIQUE), "dodecahedron": lambda: water(size=26.0, shape=DODECAHEDRON),
             "tip4pew": lambda: water("tip4pew"), "charged": charged_water,
             "protein in water": protein_in_water}
    ways = {"cutoff 9 A": dict(cutoff=9.0), "reaction field of 78.3, 8 A": dict(cutoff=8.0, field=78.3),
            "switch from 7 to 9 A, tail": dict(cutoff=9.0, switch=7.0, tail=True), "ewald 9 A, tail": dict(cutoff=9.0, ewald=True, tail=True)}
    for box, make in boxes.items():
        if not any(judge.wants(f"{box}, {way}") for way in ways):
            continue
        x, system, cell = make()
        for way, w in ways.items():
            if len(x) < 3000 and not reaches_all(x, cell, w["cutoff"]):
                print(f"| {box}, {way} | {len(x)} | the Reference platform loses pairs | | |")
            elif judge.wants(f"{box}, {way}"):
                judge.compare(f"{box}, {way}", *within(judge, nonbonded_of(system), x, cell, **w))


def within(judge, of, x, cell, cutoff, field=0, switch=0, tail=False, ewald=False):
    force = mm.XmlSerializer.clone(of)
    is_oblique = abs(cell - np.diag(np.diag(cell))).max() > 0
    force.setNonbondedMethod((force.PME if is_oblique else force.Ewald) if ewald else force.CutoffPeriodic)
    if is_oblique:
        force.setPMEParameters(4.5, 128, 128, 128)
    force.setCutoffDistance(cutoff / 10)
    force.setReactionFieldDielectric(field or 1e12)
    force.setUseSwitchingFunction(switch > 0)
    force.setSwitchingDistance(switch / 10)
    force.setUseDispersionCorrection(tail)
    force.setEwaldErrorTolerance(1e-9)
    force.setExceptionsUsePeriodicBoundaryConditions(True)
    options = {"coulomb_constant": PAIRS, "cutoff_A": cutoff, "switch_A": switch, "tail_correction": tail, "reaction_dielectric": field,
               "lennard_jones": "LEY_LENNARD_JONES_SWITCHED" if switch else "LEY_LENNARD_JONES_PLAIN",
               "coulomb": "LEY_COULOMB_EWALD" if ewald else "LEY_COULOMB_REACTION_FIELD"}
    return reference(force, len(x), x, cell), judge.run(particles_of(of), options, x, cell)


def surface(judge):
    for periodic in (False, True):
        case = f"surface lcpo, {'periodic' if periodic else 'alone'}"
        if not judge.wants(case):
            continue
        model, system = protein("amber14/protein.ff14SB.xml")
        x, cell = positions_of(model), np.eye(3) * 40 if periodic else None
        of = {**particles_of(nonbonded_of(system)), **lcpo_of(model.topology)}
        right = reference(lcpo_force(of, 0.005, periodic), len(x), x, cell)
        options = {**OFF, "surface": "LEY_SURFACE_LCPO", "tension": 0.005}
        judge.compare(case, right, judge.run(of, options, x, cell), ("SURFACE",))


def parameters(kind, topology):
    """Of a generalised Born force: radii in A, screens, factors of tanh where it has those of particles."""
    rows = np.array(kind.getStandardParameters(topology))
    return {"born_radii": rows[:, 0] * 10, "born_screens": rows[:, 1], **({"born_factors": rows[:, 2:5]} if rows.shape[1] > 2 else {})}


def born_force(name, of, **options):
    kind = GB[name][0]
    force = kind(**options)
    for i, q in enumerate(of["charges"]):
        force.addParticle([q, of["born_radii"][i] / 10, of["born_screens"][i], *(of["born_factors"][i] if name == "gbn2" else ())])
    force.finalize()
    right_beta(force)
    return force


def lcpo_of(topology):
    rows = np.array([strip(row) for row in lcpo.getLCPOParamsTopology(topology)])
    return {"surface_radii": rows[:, 0] * 10, "lcpo_factors": rows[:, 1:] * (1, 1, 1, 0.01)}


def lcpo_force(of, tension, periodic=False):
    system = mm.System()
    rows = [(r / 10, *p[:3], p[3] * 100) for r, p in zip(of["surface_radii"], of["lcpo_factors"])]
    lcpo.addLCPOForce(system, rows, periodic, tension * KJ * 100, 0.14)
    return mm.XmlSerializer.clone(system.getForce(0))


def write():
    """A protein with radii and screens of OBC2, factors of GBn2, LCPO; and its energies, in kcal/mol, with OpenMM's constant."""
    model, system = protein("amber14/protein.ff14SB.xml")
    force, x, atoms = nonbonded_of(system), positions_of(model), list(model.topology.atoms())
    residues = list(model.topology.residues())
    of = {**particles_of(force), **parameters(GB["gbn2"][0], model.topology), **parameters(GB["obc2"][0], model.topology),
          **lcpo_of(model.topology)}
    named = {"elements": [atom.element.atomic_number for atom in atoms], "residue": [atom.residue.index for atom in atoms],
             "residue_numbers": [int(r.id) for r in residues], "residue_names": [r.name for r in residues],
             "chains": [r.chain.id for r in residues], "names": [atom.name for atom in atoms]}
    small = {name: np.asarray(value, np.int16) for name, value in {**of, **named}.items() if np.asarray(value).dtype.kind in "iu"}
    texts = {name: np.array(value, "S") for name, value in named.items() if isinstance(value[0], str)}
    np.savez(ROOT / "tests/data/protein.npz", format=np.int64(1), **{**of, **texts, **small})
    np.save(ROOT / "tests/data/protein.npy", x)
    parts = {}
    for name, part in (("LENNARD_JONES", part_of(force, 0, 1)), ("COULOMB", part_of(force, 1, 0))):
        whole, bare = reference(part, len(x), x), reference(without_14(part), len(x), x)
        parts[name], parts[name + "_14"] = bare, (whole[0] - bare[0], whole[1] - bare[1])
    for name, (_, option) in GB.items():
        for salt in (0, 0.15):
            e, f = reference(born_force(name, of, kappa=10 * kappa_of(salt, 78.5)), len(x), x)
            parts[f"{option}, {salt} M"] = e * PAIRS / BORN, f * PAIRS / BORN
    parts["LCPO"] = reference(lcpo_force(of, 0.005), len(x), x)
    for name, (e, f) in parts.items():
        print(f"{name}: {e:.9f}, {{{', '.join(f'{v:.9f}' for v in f[98])}}}, root mean square force {np.sqrt((f ** 2).mean()):.9f}")


def strip(row):
    return [v.value_in_unit_system(MD) if unit.is_quantity(v) else v for v in row]


def born_cutoff(judge):
    """OpenMM's pairs within a cutoff are less 1/c: what that makes of the energy is added here."""
    model, system = protein("amber14/protein.ff14SB.xml")
    x, of, cutoff = positions_of(model), particles_of(nonbonded_of(system)), 8.0
    for name, (kind, option) in GB.items():
        for cell in (None, np.array([[30.0, 0, 0], [4, 29, 0], [-7, 5, 31]])):
            case = f"born {name} within 8 A, {'alone' if cell is None else 'periodic'}"
            if not judge.wants(case):
                continue
            arrays = {**of, **parameters(kind, model.topology)}
            force = born_force(name, arrays, cutoff=cutoff / 10)
            force.setNonbondedMethod(force.CutoffNonPeriodic if cell is None else force.CutoffPeriodic)
            force.setCutoffDistance(cutoff / 10)
            e, f = reference(force, len(x), x, cell)
            options = {**OFF, "born": option, "coulomb_constant": BORN, "born_cutoff_A": cutoff}
            lacks = -BORN * (1 - 1 / 78.5) / cutoff * charges_within(of["charges"], x, cutoff, cell)
            judge.compare(case, (e + lacks, f), judge.run(arrays, options, x, cell), ("BORN",))


def charges_within(charges, x, cutoff, cell):
    """The sum of q q' over pairs within a cutoff."""
    total = 0
    for image in np.ndindex(3, 3, 3) if cell is not None else [(1, 1, 1)]:
        shift = 0 if cell is None else (np.array(image) - 1) @ cell
        r = np.sqrt(((x[:, None].astype(float) - x[None] + shift) ** 2).sum(2))
        total += (charges[:, None] * charges[None])[(r < cutoff) & (r > 0)].sum() / 2
    return total


def kappa_of(salt, eps):
    """APBS's constants, at 300 K."""
    return np.sqrt(8 * np.pi * 6.022045e23 * 4.803242384e-10 ** 2 * salt * 1e-16 / (1000 * eps * 1.380662e-16 * 300))


def right_beta(force):
    for k in range(force.getNumComputedValues()):
        name, text, kind = force.getComputedValueParameters(k)
        force.setComputedValueParameters(k, name, text.replace("1.907992938", "1.90792938"), kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    if given.write:
        return write()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Law(given.build, folder).run, given.words)
        for cases in (vacuum, charmm, born, born_cutoff, surface, periodic):
            cases(judge)
    print(f"{judge.cases} cases, {judge.wrong} wrong")
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
