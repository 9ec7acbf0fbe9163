"""leyden.energy(), leyden.mmgbsa() and their command: against sums written from their formulas, by NumPy, and what is known
without a sum."""
import argparse
import fcntl
import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import leyden
from leyden import _energy_command
from leyden._blocks import estimate
from leyden._command import as_options
from leyden._energy_frames import Part
from leyden._files import write_whole
from leyden._frames import Frames
from leyden._whole import Whole

mda = pytest.importorskip("MDAnalysis")
SOURCES = Path(os.environ.get("LEYDEN_SOURCES", Path(__file__).parents[2]))
AMBER = 332.05221729
SIDES = {"receptor": "not resname LIG", "ligand": "resname LIG"}
TRICLINIC = np.array([[31.0, 0, 0], [7.0, 29.0, 0], [-6.0, 5.0, 30.0]])


# ---- A complex -----------------------------------------------------------------------------------


def chain(random, count, start):
    """Atoms 1.5 A apart that do not meet again."""
    x = [np.array(start, float)]
    while len(x) < count:
        step = random.normal(size=3)
        near = x[-1] + 1.5 * step / np.linalg.norm(step)
        if all(np.linalg.norm(near - other) > 2.2 for other in x[:-1]):
            x.append(near)
    return np.array(x)


def some_complex(seed=0):
    """Members of an archive: a chain of six residues and a ligand of nine atoms beside it; and positions."""
    random = np.random.default_rng(seed)
    while True:
        receptor = chain(random, 36, (0, 0, 0))
        ligand = chain(random, 9, receptor.mean(axis=0) + (9, 0, 0))
        if 2.8 < np.linalg.norm(receptor[:, None] - ligand[None], axis=2).min() < 4:
            break
    bonded = [(i, i + k) for first, last in ((0, 36), (36, 45)) for i in range(first, last) for k in (1, 2, 3) if i + k < last]
    near, far = (np.array([pair for pair in bonded if (pair[1] - pair[0] == 3) == is_14], np.int32) for is_14 in (False, True))
    q = random.uniform(-0.5, 0.5, 45)
    q[:36] -= q[:36].mean()
    element = random.choice([1, 6, 7, 8], 45).astype(np.int32)
    kind = np.searchsorted([1, 6, 7, 8], element).astype(np.int32)
    sigma, epsilon = np.array([1.5, 3.4, 3.25, 3.0]), np.array([0.02, 0.11, 0.17, 0.2])
    well, size = np.sqrt(epsilon[:, None] * epsilon), (sigma[:, None] + sigma) / 2
    a, b = 4 * well * size ** 12, 4 * well * size ** 6
    first, second = far.T
    radii = np.array([1.2, 1.7, 1.55, 1.5])[kind]
    return {"format": np.array(1), "charges": q, "type": kind, "lennard_jones_a": a, "lennard_jones_b": b, "exclusion": near,
            "pair_14": far, "pair_14_charges": q[first] * q[second] / 1.2, "pair_14_a": a[kind[first], kind[second]] / 2,
            "pair_14_b": b[kind[first], kind[second]] / 2, "masses": np.ones(45), "elements": element, "born_radii": radii,
            "born_screens": np.array([0.85, 0.72, 0.79, 0.85])[kind], "surface_radii": radii,
            "residue": np.repeat(np.arange(7), [6] * 6 + [9]).astype(np.int32), "residue_numbers": np.arange(11, 18, dtype=np.int32),
            "residue_names": np.array(["ALA", "LYS", "GLU", "SER", "GLY", "LEU", "LIG"]),
            "names": np.array([f"C{i}" for i in range(45)])}, np.concatenate([receptor, ligand])


def solvated(arrays, x, waters=20):
    """The same with waters and a sodium ion far from it."""
    random, many = np.random.default_rng(5), 3 * waters + 1
    oxygen = random.uniform(14, 28, (waters, 1, 3))
    made = dict(arrays)
    made["charges"] = np.r_[arrays["charges"], np.tile([-0.8, 0.4, 0.4], waters), 1.0]
    made["type"] = np.r_[arrays["type"], np.tile([3, 0, 0], waters), 3].astype(np.int32)
    new = [(45 + 3 * i + j, 45 + 3 * i + k) for i in range(waters) for j, k in ((0, 1), (0, 2), (1, 2))]
    made["exclusion"] = np.r_[arrays["exclusion"], np.array(new, np.int32)]
    for name, value in (("masses", 1), ("elements", 8), ("born_radii", 1.5), ("born_screens", 0.8), ("surface_radii", 1.5)):
        made[name] = np.r_[arrays[name], np.full(many, value)].astype(arrays[name].dtype)
    made["names"] = np.r_[arrays["names"], np.tile(["O", "H1", "H2"], waters), ["Na+"]]
    made["residue"] = np.r_[arrays["residue"], 7 + np.arange(many) // 3].astype(np.int32)
    made["residue_names"] = np.r_[arrays["residue_names"], ["WAT"] * waters, ["Na+"]]
    made["residue_numbers"] = np.arange(11, 19 + waters, dtype=np.int32)
    water = (oxygen + np.array([[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]])).reshape(-1, 3)
    return made, np.concatenate([x, water, [[-12.0, -12, -12]]])


def save(path, arrays):
    np.savez(path, **arrays)
    return str(path)


def write_frames(path, frames, box=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of frames without a cell
        universe = mda.Universe.empty(len(frames[0]), trajectory=True)
        with mda.Writer(str(path), len(frames[0])) as writer:
            for frame in frames:
                universe.atoms.positions, universe.dimensions = frame, box
                writer.write(universe)
    return str(path)


def walk(x, count=24):
    """Frames that are correlated."""
    random, shift, frames = np.random.default_rng(1), np.zeros_like(x), []
    for _ in range(count):
        shift = 0.8 * shift + random.normal(size=x.shape) * 0.04
        frames.append((x + shift).astype(np.float32))
    return np.array(frames)


@pytest.fixture(name="system", scope="module")
def _system(tmp_path_factory):
    """Members, frames, and names of the archive and the trajectory."""
    folder = tmp_path_factory.mktemp("energy")
    arrays, x = some_complex()
    frames = walk(x)
    return arrays, frames, save(folder / "complex.npz", arrays), write_frames(folder / "run.dcd", frames)


def judge(arrays, x, index=None, constant=AMBER, gb=True, salt=0.0):
    """Terms (6,) of some of the particles, in double precision, by the formulas: OBC2, no cutoff."""
    x, count = x.astype(np.float64), len(arrays["charges"])
    index = np.arange(count) if index is None else np.asarray(index)
    q, kind = arrays["charges"], arrays["type"]
    distance = np.linalg.norm(x[:, None] - x[None], axis=2) + np.eye(count)
    counts = np.triu(np.ones((count, count), bool), 1)
    for i, j in (*arrays["exclusion"], *arrays["pair_14"]):
        counts[min(i, j), max(i, j)] = False
    inside = np.zeros(count, bool)
    inside[index] = True
    counts &= inside[:, None] & inside
    a, b = arrays["lennard_jones_a"][kind[:, None], kind], arrays["lennard_jones_b"][kind[:, None], kind]
    lj = (a / distance ** 12 - b / distance ** 6)[counts].sum()
    coulomb = constant * (q[:, None] * q / distance)[counts].sum()
    i, j = arrays["pair_14"][inside[arrays["pair_14"]].all(axis=1)].T
    own, r = inside[arrays["pair_14"]].all(axis=1), distance[i, j]
    lj_14 = (arrays["pair_14_a"][own] / r ** 12 - arrays["pair_14_b"][own] / r ** 6).sum()
    coulomb_14 = constant * (arrays["pair_14_charges"][own] / r).sum()
    born = born_energy(q[index], arrays["born_radii"][index], arrays["born_screens"][index], distance[np.ix_(index, index)],
                       constant, salt) if gb else 0
    return np.array([lj, lj_14, coulomb, coulomb_14, born, 0])


def born_energy(q, radii, screens, d, constant, salt, solvent=78.5):
    rho = radii - 0.09
    s, off = screens * rho, ~np.eye(len(q), dtype=bool)
    lower, upper = np.maximum(rho[:, None], np.abs(d - s)), d + s
    terms = 1 / lower - 1 / upper + (d - s ** 2 / d) / 4 * (1 / upper ** 2 - 1 / lower ** 2) + np.log(lower / upper) / (2 * d) + \
        np.where(rho[:, None] < s - d, 2 * (1 / rho[:, None] - 1 / lower), 0)
    psi = rho * np.where(off & (rho[:, None] < upper), terms, 0).sum(axis=1) / 2
    radius = 1 / (1 / rho - np.tanh(psi - 0.8 * psi ** 2 + 4.85 * psi ** 3) / radii)
    both, r2 = radius[:, None] * radius, np.where(off, d ** 2, 0)
    f = np.sqrt(r2 + both * np.exp(-r2 / (4 * both)))
    kappa = np.sqrt(8 * np.pi * constant * 6.02214076e-4 * salt / (solvent * 0.0019872042586 * 300))
    return -constant / 2 * ((1 - np.exp(-kappa * f) / solvent) * q[:, None] * q / f).sum()


# ---- Statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [0, 0.5, 0.9])
def test_errors_of_a_series_with_a_known_correlation(memory):
    """x_t = c x_(t-1) + noise: the variance of the mean is (1 + c) / ((1 - c) T), and so is that of many such series."""
    random, length, many = np.random.default_rng(2), 4000, 200
    x = np.empty((length, many))
    x[0] = random.normal(size=many)
    for t in range(1, length):
        x[t] = memory * x[t - 1] + np.sqrt(1 - memory ** 2) * random.normal(size=many)
    found, known = estimate(x), (1 + memory) / (1 - memory)
    assert np.all(found.is_settled)
    assert found.error.mean() == pytest.approx(np.sqrt(known / length), rel=0.1)
    assert found.correlation.mean() == pytest.approx(known, rel=0.15)
    assert np.sqrt((found.mean ** 2).mean()) == pytest.approx(found.error.mean(), rel=0.15)
    assert estimate(x[:, 3]).error == pytest.approx(found.error[3])


def test_short_series():
    assert np.isnan(estimate(np.array([3.0])).error) and estimate(np.array([3.0])).mean == 3
    same = estimate(np.full(50, 2.5))
    assert same.error == 0 and same.deviation == 0 and same.is_settled
    slow = estimate(np.arange(10.0))  # longer blocks would be needed
    assert not slow.is_settled and slow.error > np.arange(10.0).std(ddof=1) / np.sqrt(10)


# ---- Whole molecules -----------------------------------------------------------------------------


def test_molecules_are_made_whole():
    """Wrapped frames are the frames again but for a shift of all; three molecules, atoms in any order."""
    random = np.random.default_rng(3)
    x = np.concatenate([chain(random, 60, (0, 0, 0)), chain(random, 40, (4, 4, 4)), [[2.0, -2, 2]]])
    order = random.permutation(len(x))
    place = np.argsort(order)
    pairs = place[np.array([(i, i + k) for first, last in ((0, 60), (60, 100)) for i in range(first, last) for k in (1, 2)
                            if i + k < last])]
    frames = x[order][None] + random.uniform(-40, 40, (30, 1, 3)) + random.normal(size=(30, len(x), 3)) * 0.1
    fractions = frames @ np.linalg.inv(TRICLINIC)
    wrapped = ((fractions - np.floor(fractions)) @ TRICLINIC).astype(np.float32)
    cells = np.repeat(TRICLINIC[None], len(frames), axis=0)
    maker, made = Whole(len(x), pairs, wrapped[0], TRICLINIC), wrapped.copy()
    changed = maker.apply(made, cells)
    assert changed == np.count_nonzero(np.abs(made - wrapped).max(axis=(1, 2)) > 1) > 20
    between = [values - values.mean(axis=1, keepdims=True) for values in (made.astype(float), frames)]
    assert np.abs(between[0] - between[1]).max() < 1e-4
    again = made.copy()
    assert maker.apply(again, cells) == 0 and np.array_equal(again, made)


# ---- Energies ------------------------------------------------------------------------------------


def close(found, right, scale=None):
    """To what floats give: relative to the sum of the sizes of the terms."""
    scale = np.abs(right).sum(axis=-1, keepdims=True) if scale is None else scale
    return np.abs(found - right).max() <= 1e-5 * np.max(scale)


@pytest.mark.parametrize("options", [{}, {"gb": "obc2"}, {"gb": "obc2", "salt": 0.15, "constant": "openmm"}])
def test_terms(engine, system, options):
    arrays, frames, archive, _ = system
    energy = leyden.Energy(leyden.Particles.load(archive), engine, by_particle=True, **options)
    found = energy.run(frames[:5])
    constant = 332.06371 if options.get("constant") == "openmm" else AMBER
    right = np.array([judge(arrays, frame, None, constant, "gb" in options, options.get("salt", 0)) for frame in frames[:5]])
    assert close(found.terms, right)
    assert np.array_equal(found.total, found.terms.sum(axis=1)) and np.array_equal(found.lj_14, found.terms[:, 1])
    assert close(found.by.sum(axis=2), found.terms)
    assert np.array_equal(energy.run(frames[2]).terms[0], found.terms[2])  # alone or among others
    assert energy.report["frames"] == 6


def test_engines_close_their_energies(system):
    with leyden.Engine("cpu") as engine:
        energy = leyden.Energy(leyden.Particles.load(system[2]), engine)
        energy.run(system[1][0])
    with pytest.raises(leyden.UsageError, match="closed"):
        energy.run(system[1][0])
    energy.close()


def test_groups(engine, system):
    """Energies between a chain and a ligand: twice their element, which is what the complex has beyond the two."""
    arrays, frames, archive, _ = system
    sides = np.arange(36), np.arange(36, 45)
    found = leyden.Energy(leyden.Particles.load(archive), engine, groups=sides).run(frames[:3])
    apart = [[judge(arrays, frame, side, gb=False) for side in sides] for frame in frames[:3]]
    whole = [judge(arrays, frame, gb=False) for frame in frames[:3]]
    for f in range(3):
        assert close(2 * found.matrix[f, :, 0, 1], whole[f] - apart[f][0] - apart[f][1], np.abs(whole[f]).sum())
        assert close(found.matrix[f, :, 1, 1], apart[f][1], np.abs(whole[f]).sum())
    assert close(found.matrix.sum(axis=(2, 3)), found.terms)


def test_a_trajectory(engine, system, tmp_path):
    arrays, frames, archive, trajectory = system
    made = leyden.energy(archive, trajectory, gb="obc2", by="residue", engine=engine, start=3, step=4)
    assert made.frames.tolist() == list(range(3, 24, 4)) and made.labels[1:] == ["LYS 12", "GLU 13", "SER 14", "GLY 15", "LEU 16", "LIG 17"]
    assert close(made.terms, np.array([judge(arrays, frames[k]) for k in made.frames]))
    assert made.by.shape == (6, 6, 7) and close(made.by.sum(axis=2), made.terms)
    matrix = leyden.energy(archive, trajectory, gb="obc2", matrix=True, engine=engine, start=3, step=4).matrix
    assert np.abs(matrix.sum(axis=2) - made.by.mean(axis=0)).max() < 1e-5 * np.abs(made.by).max()
    arrays_again = leyden.energy(leyden.Particles.load(archive), frames[3::4], gb="obc2", engine=engine)
    assert np.array_equal(arrays_again.terms, made.terms)
    made.save(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    head = [line for line in lines if not line.startswith("#")][0]
    assert head == "frame,lj,lj_14,coulomb,coulomb_14,gb,sa,total" and "gb obc2" in lines[1]
    table = np.loadtxt(tmp_path / "a.csv", delimiter=",", comments="#", skiprows=len(lines) - len(made))
    assert table[:, 0].tolist() == made.frames.tolist() and np.allclose(table[:, 7], made.total, rtol=1e-8)
    made.save(tmp_path / "a.npz")
    assert np.array_equal(np.load(tmp_path / "a.npz")["by"], made.by)
    assert "6 frames" in repr(made)


def test_solvent(engine, system, tmp_path):
    """It is left out, or counted as solute, or in a cell; the energies without it are the solute's."""
    arrays, frames, archive, _ = system
    more, x = solvated(arrays, frames[0].astype(float))
    water, run = save(tmp_path / "water.npz", more), write_frames(tmp_path / "water.dcd", [x, x], [50.0, 50, 50, 90, 90, 90])
    with pytest.raises(leyden.InputError, match="solvent, 20 WAT, 1 Na.*strip=True leaves it out"):
        leyden.energy(water, run, gb="obc2", engine=engine)
    with pytest.raises(leyden.InputError, match="coulomb='pme' or a cutoff"):
        leyden.energy(water, run, engine=engine)
    dry = leyden.energy(water, run, gb="obc2", strip=True, engine=engine)
    assert close(dry.terms[0], judge(arrays, frames[0])) and dry.report["strip"] == "20 WAT, 1 Na+"
    wet = leyden.energy(water, run, gb="obc2", strip=False, whole=False, engine=engine)
    assert close(wet.terms[0], judge(more, x.astype(np.float32)))
    some = leyden.energy(water, run, strip="resname WAT Na+ LIG", engine=engine)
    assert close(some.terms[0], judge(arrays, frames[0], np.arange(36), gb=False))
    with pytest.raises(leyden.UsageError, match="no atom is left"):
        leyden.energy(water, run, strip="all", engine=engine)
    bound = leyden.mmgbsa(water, run, **SIDES, strip=True, surface=None, engine=engine)
    assert np.array_equal(bound.delta.terms, leyden.mmgbsa(archive, x[None, :45], **SIDES, surface=None,
                                                           engine=engine).delta.terms[[0, 0]])


@pytest.mark.parametrize("cell", [[19.0, 18.5, 18.2, 90, 90, 90], [21.0, 20.5, 20, 80, 85, 78]])
def test_cells(engine, system, tmp_path, cell):
    """With a cutoff, nearest images in the frames' cells, wherever atoms are; open space is asked for, or has no cells."""
    arrays, frames, archive, _ = system
    vectors = mda.lib.mdamath.triclinic_vectors(np.array(cell, np.float32), dtype=np.float64)
    run = write_frames(tmp_path / "cell.dcd", [frame + 9 * k for k, frame in enumerate(frames[:3])], cell)
    made = leyden.energy(archive, run, cutoff=9, coulomb="reaction-field", engine=engine)
    steps = np.array(list(np.ndindex(3, 3, 3))) - 1.0
    counts = np.triu(np.ones((45, 45), bool), 1)
    for i, j in (*arrays["exclusion"], *arrays["pair_14"]):
        counts[i, j] = False
    q, kind = arrays["charges"], arrays["type"]
    a, b = arrays["lennard_jones_a"][kind[:, None], kind], arrays["lennard_jones_b"][kind[:, None], kind]
    for f in range(3):
        x = (frames[f] + np.float32(9 * f)).astype(np.float64)
        ways = x[:, None] - x[None]
        ways = ways - np.round(ways @ np.linalg.inv(vectors)) @ vectors
        r = np.linalg.norm(ways[:, :, None] + steps @ vectors, axis=3).min(axis=2) + np.eye(45)
        near = counts & (r < 9)
        assert made.lj[f] == pytest.approx((a / r ** 12 - b / r ** 6)[near].sum(), rel=2e-4)
        right = AMBER * (q[:, None] * q * (1 / r + r ** 2 / (2 * 9 ** 3) - 3 / (2 * 9)))[near].sum()
        assert made.coulomb[f] == pytest.approx(right, rel=2e-4)
    away = leyden.energy(archive, run, cutoff=9, coulomb="reaction-field", periodic=False, whole=False,
                         engine=engine)
    given = leyden.energy(archive, frames[:3], cutoff=9, coulomb="reaction-field", engine=engine)
    assert np.allclose(away.terms, given.terms, rtol=1e-4) and not np.allclose(away.coulomb, made.coulomb, rtol=1e-3)
    again = leyden.energy(archive, frames[:3], cutoff=9, coulomb="reaction-field", cell=cell, periodic=True, engine=engine)
    assert np.allclose(again.terms, made.terms, rtol=1e-4)


def test_frames_that_a_cell_has_broken(engine, system, tmp_path):
    """Of the same energies, and it is said; in a cell they stay as they are."""
    arrays, frames, archive, _ = system
    box = [40.0, 40, 40, 90, 90, 90]
    moved = [frame + (7 * k, -5 * k, 3 * k) for k, frame in enumerate(frames[:8])]
    broken = write_frames(tmp_path / "broken.dcd", [np.mod(frame, 40) for frame in moved], box)
    made = leyden.mmgbsa(archive, broken, **SIDES, surface=None, engine=engine)
    whole = leyden.mmgbsa(archive, frames[:8], **SIDES, surface=None, engine=engine)
    assert np.abs(made.delta.terms - whole.delta.terms).max() < 2e-3  # positions of floats near 40 A
    assert made.report["made_whole"] > 4 and whole.report["made_whole"] == 0
    assert any("were made whole" in line for line in made.report["comment"])
    with pytest.raises(leyden.UsageError, match="open space"):
        leyden.energy(archive, broken, coulomb="pme", cutoff=9, gb="obc2", engine=engine)
    with pytest.raises(leyden.InputError, match="the frames have none"):
        leyden.energy(archive, frames, coulomb="pme", cutoff=9, engine=engine)
    left = leyden.energy(archive, broken, gb="obc2", whole=False, engine=engine)
    assert np.abs(left.total - made.complex.total).max() > 1


# ---- MM/GBSA -------------------------------------------------------------------------------------


@pytest.fixture(name="binding", scope="module")
def _binding(engine, system):
    return leyden.mmgbsa(system[2], system[3], **SIDES, surface=None, by="residue", matrix=True, engine=engine)


def test_binding(binding, system):
    arrays, frames = system[:2]
    right = {name: np.array([judge(arrays, frame, index) for frame in frames])
             for name, index in (("complex", None), ("receptor", range(36)), ("ligand", range(36, 45)))}
    for name, terms in right.items():
        assert close(getattr(binding, name).terms, terms)
    delta = right["complex"] - right["receptor"] - right["ligand"]
    scale = np.abs(right["complex"]).sum(axis=1)
    assert close(binding.delta.terms, delta, scale)
    assert np.abs(binding.delta.terms[:, [1, 3]]).max() < 1e-5 * scale.max()  # pairs 1-4 cancel
    assert close(binding.delta.by.sum(axis=2), delta, scale)
    assert np.abs(binding.delta.matrix.sum(axis=2) - binding.delta.by.mean(axis=0)).max() < 1e-5 * scale.max()
    assert binding.is_ligand.tolist() == [False] * 6 + [True] and "24 frames" in repr(binding)
    # Between receptor and ligand no Coulomb energy but their pairs'.
    x, q = frames.astype(float), arrays["charges"]
    r = np.linalg.norm(x[:, :36, None] - x[:, None, 36:], axis=3)
    interaction = (AMBER * q[:36, None] * q[36:] / r).sum(axis=(1, 2)).mean()
    assert 2 * binding.delta.matrix[2, :6, 6].sum() == pytest.approx(interaction, abs=1e-5 * scale.max())


def test_sides_in_any_order(engine, system, binding):
    """The ligand first, in words or as atoms; each atom's share."""
    universe = mda.Universe.empty(45, trajectory=True)
    universe.load_new(system[1], order="fac")
    turned = leyden.mmgbsa(system[2], universe, receptor=universe.atoms[36:], ligand=universe.atoms[:36], surface=None,
                           by="atom", engine=engine)
    scale = np.abs(binding.complex.terms).sum(axis=1).max()
    assert close(turned.delta.terms, binding.delta.terms, scale) and turned.delta.by.shape == (24, 6, 45)
    assert turned.is_ligand.tolist() == [True] * 36 + [False] * 9 and turned.delta.labels[44] == "LIG 17 C44"
    shares = np.add.reduceat(turned.delta.by, np.arange(0, 42, 6), axis=2)
    assert close(shares, binding.delta.by, scale)


def test_tables(binding, tmp_path):
    binding.save_table(tmp_path / "t.dat")
    text = (tmp_path / "t.dat").read_text()
    sections = re.split(r"^(Complex|Receptor|Ligand|Differences .*):$", text, flags=re.MULTILINE)
    assert sections[1::2] == ["Complex", "Receptor", "Ligand", "Differences (Complex - Receptor - Ligand)"]
    rows = [dict((line[:20].strip(), [float(word) for word in line[20:].split()]) for line in section.splitlines()
                 if re.match(r".{20} *-?\d+\.\d{4} +\d+\.\d{4} +\d+\.\d{4}$", line)) for section in sections[2::2]]
    assert list(rows[0]) == ["VDWAALS", "EEL", "1-4 VDW", "1-4 EEL", "EGB", "ESURF", "G gas", "G solv", "TOTAL"]
    assert list(rows[3]) == ["VDWAALS", "EEL", "EGB", "ESURF", "DELTA G gas", "DELTA G solv", "DELTA TOTAL"]
    s, total = estimate(binding.delta.total), rows[3]["DELTA TOTAL"]
    assert np.allclose(total, [s.mean, s.deviation, s.error], atol=6e-5)
    assert rows[3]["DELTA G gas"][0] == pytest.approx(binding.delta.terms[:, :4].sum(axis=1).mean(), abs=6e-5)
    assert rows[0]["TOTAL"][0] == pytest.approx(sum(rows[0][name][0] for name in ("G gas", "G solv")), abs=2e-4)
    assert "24 complex frames" in text and f"correlated over {s.correlation:.3g}" in text
    binding.save_decomposition(tmp_path / "r.csv")
    lines = [line.split(",") for line in (tmp_path / "r.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0][:3] == ["residue", "part", "lj"] and lines[7][:2] == ["LIG 17", "ligand"]
    assert sum(float(line[8]) for line in lines[1:]) == pytest.approx(binding.delta.total.mean(), abs=1e-4)
    binding.save_matrix(tmp_path / "m.csv")
    lines = [line.split(",") for line in (tmp_path / "m.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0][1:] == [line[0] for line in lines[1:]] == binding.delta.labels
    assert np.allclose(np.array(lines)[1:, 1:].astype(float), binding.delta.matrix.sum(axis=0), rtol=1e-7, atol=1e-12)


def test_picture(binding):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.figure import Figure
    figure = binding.plot(Figure())
    assert len(figure.axes) == 3 and "kcal/mol" in figure.axes[0].get_title()
    heights = [bar.get_height() for bar in figure.axes[1].patches]
    assert heights == pytest.approx(binding.delta.statistics().mean[[0, 2, 4, 5, 6]].tolist())


@pytest.mark.parametrize("receptor, ligand, words", [
    ("resname XXX", "resname LIG", "receptor 'resname XXX': there is no such atom"),
    ("not resname LIG", "resname ((", r"ligand 'resname \(\('"),
    ("all", "resname LIG", r"overlap in 9 atoms, 1 LIG: .*receptor=\"\(all\) and not \(resname LIG\)\""),
    ("resname ALA LYS GLU SER", "resname LIG", 'in neither receptor nor ligand, 1 GLY, 1 LEU: .*strip="resname GLY LEU"'),
    ("resid 11-13", "resid 14-17", "receptor and ligand are bonded")])
def test_sides_that_are_refused(engine, system, receptor, ligand, words):
    with pytest.raises(leyden.UsageError, match=words):
        leyden.mmgbsa(system[2], system[3], receptor=receptor, ligand=ligand, surface=None, engine=engine)


@pytest.mark.parametrize("options, kind, words", [
    ({"gb": "obc3"}, leyden.UsageError, "gb: 'obc3' is none of"), ({"igb": 5}, TypeError, "did you mean gb='obc2'"),
    ({"gb": 5}, leyden.UsageError, "did you mean 'obc2'"), ({"gb": "OBC2"}, leyden.UsageError, "did you mean 'obc2'"),
    ({"by": "chain"}, leyden.UsageError, "by: 'chain'"), ({"by": "atom", "matrix": True}, leyden.UsageError, "pairs of residues"),
    ({"groups": "protein"}, leyden.UsageError, "a list of selections"), ({"lj": "switched"}, leyden.UsageError, "cutoff"),
    ({"groups": ["all"], "matrix": True}, leyden.UsageError, "exclude each other"), ({"salt": "much"}, leyden.UsageError, "salt"),
    ({"salt": 150}, leyden.UsageError, "salt: 150 is out of range: .*at most 7 mol/l .did you mean 0.15, which is 150 mmol/l"),
    ({"groups": ["resid 3"]}, leyden.UsageError, "groups 'resid 3': there is no such atom; there are resid 11-17; resname ALA, GLU"),
    ({"groups": ["resid 11-13", "resid 13-15"]}, leyden.UsageError, "'resid 11-13' and 'resid 13-15' overlap in 6 atoms"),
    ({"groups": ["all"], "coulomb": "pme", "cutoff": 9, "cell": (40, 40, 40)}, leyden.UsageError, "coulomb='reaction-field' has"),
    ({"tail_correction": "yes"}, leyden.UsageError, "tail_correction: True or False"), ({"select": "all"}, TypeError, "strip="),
    ({"start": 10 ** 30}, leyden.UsageError, "leave no frame of 24"), ({"start": 0.5}, leyden.UsageError, "whole numbers"),
    ({"parameters": [__file__]}, leyden.UsageError, "only PSF files"), ({"groups": [[0, 1]]}, leyden.UsageError, "groups: words of"),
    ({"constant": "gromacs"}, leyden.UsageError, "constant"), ({"verify_every": -1}, leyden.UsageError, "verify_every"),
    ({"surface": "lcpo"}, leyden.InputError, "surface='numerical'"), ({"stop": 0}, leyden.UsageError, "leave no frame")])
def test_options_that_are_refused(engine, system, options, kind, words):
    with pytest.raises(kind, match=words):
        leyden.energy(system[2], system[3], engine=engine, **options)


def test_screens_of_another_model(engine, system):
    particles = leyden.Particles.load(system[2])
    assert particles.born_model == "obc2"
    with pytest.raises(leyden.InputError, match="screens are those of obc2: .*gb='gbn'"):
        leyden.Energy(particles, engine, gb="gbn")
    leyden.Energy(particles, engine, gb="hct").close()


def test_frames_that_are_refused(engine, system, tmp_path):
    _, frames, archive, _ = system
    short = write_frames(tmp_path / "short.dcd", frames[:2, :40])
    with pytest.raises(leyden.InputError, match=r"complex.npz has 45 atoms, and .*short.dcd has 40"):
        leyden.energy(archive, short, engine=engine)
    broken = frames[:6].copy()
    broken[4, 7, 1] = np.nan
    bad = write_frames(tmp_path / "bad.dcd", broken)
    with pytest.raises(leyden.InputError, match=r"bad.dcd: frame 4 .*atom 7 .*not a number"):
        leyden.energy(archive, bad, engine=engine)
    made = leyden.energy(archive, bad, skip_bad=True, engine=engine)
    assert made.frames.tolist() == [0, 1, 2, 3, 5] and made.report["skipped"] == 1
    with pytest.raises(leyden.FileError, match="nothing.npz"):
        leyden.energy(tmp_path / "nothing.npz", bad, engine=engine)
    with pytest.raises(leyden.InputError, match="md.tpr: energies need a topology with its force field: GROMACS' topol.top"):
        leyden.energy("md.tpr", bad, engine=engine)
    with pytest.raises(leyden.UsageError, match="a trajectory is needed"):
        leyden.energy(archive, engine=engine)
    with pytest.raises(leyden.InputError, match="45 particles"):
        leyden.Energy(leyden.Particles.load(archive), engine).run(frames[:, :40])


@pytest.mark.parametrize("cells, right", [
    ((40, 41, 42, 90, 90, 90), np.diag([40, 41, 42])), ((40, 41, 42), np.diag([40, 41, 42])), (TRICLINIC, TRICLINIC),
    ([(40, 41, 42, 90, 90, 90), (40, 41, 42, 90, 90, 90)], np.diag([40, 41, 42])), ([TRICLINIC] * 2, TRICLINIC)])
def test_forms_of_cells(engine, system, cells, right):
    """As ts.dimensions has them, too: of all frames, or of each."""
    with leyden.Energy(leyden.Particles.load(system[2]), engine, cutoff=9, coulomb="reaction-field") as energy:
        made = energy.run(system[1][:2] + np.float32(30), cells)
        assert np.array_equal(made.terms, energy.run(system[1][:2] + np.float32(30), np.array([right, right], float)).terms)


@pytest.mark.parametrize("positions, cells, words", [
    (np.zeros((2, 45)), None, r"shape \(1, 2, 45\)"), ("x y z", None, "positions: numbers are needed"),
    (None, (1, 2), r"cell has the shape \(2,\)"), (None, (40, 40, 0), "lengths are above 0"),
    (None, np.diag([40.0, 40, 0]), "vector c has no length"), (None, np.array([[40.0, 0, 0], [0, 40, 0], [40, 40, 0]]), "in a plane"), (None, np.ones((5, 3, 3)), r"cells has the shape \(5, 3, 3\)"),
    (None, ["a", "b", "c"], "cells: numbers are needed"), (np.full((1, 45, 3), np.nan), None, r"positions\[0\]: particle 1"),
    (np.zeros((0, 45, 3)), None, "no frame")])
def test_arrays_that_are_refused(engine, system, positions, cells, words):
    with leyden.Energy(leyden.Particles.load(system[2]), engine) as energy:
        energy.run(system[1][:3])
        with pytest.raises(leyden.Error, match=words):
            energy.run(system[1][:2] if positions is None else positions, cells)


def test_one_atom(engine):
    particles = leyden.Particles.from_arrays(charges=[1.0], sigma=[3.0], epsilon=[0.1], born_radii=[1.5], born_screens=[0.8])
    made = leyden.energy(particles, np.zeros((2, 1, 3)), gb="obc2", engine=engine)
    assert made.gb == pytest.approx(-AMBER / 2 * (1 - 1 / 78.5) / 1.5 * np.ones(2), rel=0.1) and np.all(made.terms[:, :4] == 0)


def test_a_device_that_fails(system, tmp_path):
    """One sentence says which, why, and who did the rest, in Python and in the command; energies are right."""
    kernels = Path(shutil.copytree(SOURCES / "cl", tmp_path / "cl"))
    broken = kernels / "pair_terms.h"
    broken.write_text(broken.read_text(encoding="utf-8") + "\n#error planted\n", encoding="utf-8")
    code = "import sys, leyden; e = leyden.energy(*sys.argv[1:], engine='cpu'); print(e.report['parts'][0]['failed'], e.total[0])"
    where = {**os.environ, "LEYDEN_KERNEL_DIR": str(kernels), "LEYDEN_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code, *system[2:]], env=where, capture_output=True, text=True, check=False)
    failed, total = done.stdout.split()
    assert failed == "1" and float(total) == pytest.approx(judge(system[0], system[1][0], gb=False).sum(), rel=1e-5)
    words = r"DeviceWarning: .*: the host computed 24 of 24 frames"
    assert len(re.findall(words, done.stderr)) == 1, done.stderr
    done = run(*system[2:], "-o", tmp_path / "e.csv", "--device", "cpu", env=where)
    assert done.returncode == 0 and re.search(r"leyden: warning: .*the host computed 24 of 24 frames", done.stderr)
    assert "the host computed" in (tmp_path / "e.csv").read_text()


# ---- Resuming ------------------------------------------------------------------------------------


def test_interrupted_and_resumed(engine, system, tmp_path):
    """The same bytes, without the frames that are there; another run's checkpoint is refused."""
    archive, trajectory, kept = *system[2:], tmp_path / "kept"
    options = {**SIDES, "surface": None, "by": "residue", "matrix": True, "engine": engine, "checkpoint": kept, "checkpoint_s": 0}
    many = write_frames(tmp_path / "many.dcd", np.concatenate([system[1]] * 30))

    def stop(progress):
        if progress.frames_done >= 256:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        leyden.mmgbsa(archive, many, **options, progress=stop, readers=1)
    done = stopped.value.frames[0]
    assert 256 <= done < 720 == stopped.value.frames[1] and kept.exists()
    resumed = leyden.mmgbsa(archive, many, **options)
    assert resumed.report["resumed_frames"] == done and resumed.report["parts"][0]["frames"] == 720 - done
    whole = leyden.mmgbsa(archive, many, **{**options, "checkpoint": None})
    for made, name in ((resumed, "a"), (whole, "b")):
        made.save(tmp_path / f"{name}.csv")
        made.save_matrix(tmp_path / f"{name}m.csv")
        made.save_table(tmp_path / f"{name}.dat")
    for one, other in (("a.csv", "b.csv"), ("am.csv", "bm.csv"), ("a.dat", "b.dat")):
        assert (tmp_path / one).read_bytes() == (tmp_path / other).read_bytes()
    again = leyden.mmgbsa(archive, many, **options)  # all frames are there
    assert again.report["parts"][0]["frames"] == 0 and np.array_equal(again.delta.terms, whole.delta.terms)
    with pytest.raises(leyden.InputError, match="another run, whose .*trajectory"):
        leyden.mmgbsa(archive, trajectory, **options)
    with pytest.raises(leyden.InputError, match="another run, whose options"):
        leyden.mmgbsa(archive, many, **options, salt=0.1)
    (tmp_path / "others").mkdir()  # of the same names and sizes
    turned = write_frames(tmp_path / "others" / "many.dcd", np.concatenate([system[1][::-1]] * 30))
    with pytest.raises(leyden.InputError, match="another run, whose digest of positions"):
        leyden.mmgbsa(archive, turned, **options)
    wider = save(tmp_path / "others" / "complex.npz", {**system[0], "born_radii": 1.01 * system[0]["born_radii"]})
    with pytest.raises(leyden.InputError, match="another run, whose digest of particles"):
        leyden.mmgbsa(wider, many, **options)
    kept.write_bytes(b"nothing")
    with pytest.raises(leyden.InputError, match="no checkpoint, or damaged"):
        leyden.mmgbsa(archive, many, **options)


def test_interrupted_within_a_block(engine, system, tmp_path, monkeypatch):
    """After a few frames, and between the parts of one: what was done is there, whole."""
    archive, trajectory, kept = *system[2:], tmp_path / "kept"
    options = {**SIDES, "surface": None, "matrix": True, "engine": engine, "checkpoint": kept}
    whole, calls, run_part = leyden.mmgbsa(archive, trajectory, **{**options, "checkpoint": None}), [], Part.run

    def stop(part, *arguments):
        calls.append(part.name)
        if len(calls) == 8:  # the receptor's third piece
            raise KeyboardInterrupt
        return run_part(part, *arguments)

    monkeypatch.setattr(Part, "run", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        leyden.mmgbsa(archive, trajectory, **options)
    assert 2 <= stopped.value.frames[0] < 24 and kept.exists()
    monkeypatch.undo()
    resumed = leyden.mmgbsa(archive, trajectory, **options)
    assert resumed.report["resumed_frames"] == stopped.value.frames[0]
    assert np.array_equal(resumed.delta.terms, whole.delta.terms) and np.array_equal(resumed.delta.matrix, whole.delta.matrix)


def test_what_a_killed_process_left(tmp_path):
    """Goes when the file is written; what another one is writing stays."""
    name = str(tmp_path / "a.csv")
    Path(f"{name}.part-1").write_bytes(b"half")
    with open(f"{name}.part-2", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(name, b"whole")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.csv.part-2"]
    assert Path(name).read_bytes() == b"whole"


# ---- The command ---------------------------------------------------------------------------------


def run(*words, **options):
    return subprocess.run([sys.executable, "-m", "leyden", "energy", *map(str, words)], capture_output=True, text=True,
                          check=False, **options)


def test_the_command(system, tmp_path):
    arrays, frames, archive, trajectory = system
    out = tmp_path / "e.csv"
    done = run(archive, trajectory, "-o", out, "--mmgbsa", *SIDES.values(), "--surface", "none", "--by", "residue", "--matrix",
               "--table", tmp_path / "t.dat", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.csv", "e_matrix.csv", "e_residues.csv", "t.dat"]
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    assert len(lines) == 25 and names[0] == "frame" and names[7] == "complex_total" and names[-1] == "delta_total"
    row = dict(zip(names, map(float, lines[3].split(","))))
    assert row["complex_gb"] == pytest.approx(judge(arrays, frames[2])[4], rel=1e-5)
    assert "errors:" in done.stdout and "written: " in done.stdout and "24 frames" in done.stdout
    done = run(archive, trajectory, "-o", out, "--groups", *SIDES.values(), "--device", "cpu", "--stop", 2, "-q")
    assert done.returncode == 0 and done.stdout == "" and "total_1_2" in out.read_text()
    done = run(archive, trajectory, "-o", out, "--groups", *SIDES.values(), "--device", "cpu", "--stop", 2)
    names, *rows = [line.split(",") for line in out.read_text().splitlines() if not line.startswith("#")]
    mean = np.mean([float(row[names.index("coulomb_1_2")]) for row in rows])
    assert f"  {'coulomb_1_2':<14} {mean:>10.4f}\n" in done.stdout, done.stdout


def test_keywords_and_options():
    """Python and the command have the same; --resume is that a checkpoint is there."""
    parser = argparse.ArgumentParser()
    _energy_command.add_to(parser.add_subparsers())
    help_text = parser._subparsers._group_actions[0].choices["energy"].format_help()
    called = {"strip": "leave-out", "engine": "device", "checkpoint": "resume", "whole": "no-whole", "receptor": "mmgbsa",
              "ligand": "mmgbsa", "progress": "quiet"}
    own = [set(inspect.signature(function).parameters) for function in (leyden.energy, leyden.mmgbsa)]
    assert own[0] ^ own[1] == {"groups", "periodic", "receptor", "ligand"}
    for name in (own[0] | own[1]) - {"topology", "trajectories", "checkpoint_s"}:
        assert re.search(rf"--{called.get(name, name.replace('_', '-'))}\b", help_text), name
    assert "--salt M" in help_text and "(default: amber)" in help_text and "`" not in help_text.replace("`leyden map`", "")


def test_results_have_what_the_command_writes(binding, system, engine, tmp_path):
    """By the same names, of both kinds; and tables for notebooks."""
    made = leyden.energy(*system[2:], by="atom", engine=engine, stop=2)
    for result in (binding, made):
        for save, name in (("save", "e.csv"), ("to_csv", "f.csv"), ("save_decomposition", "d.csv"), ("save_picture", "p.svg")):
            getattr(result, save)(tmp_path / name)
            assert (tmp_path / name).stat().st_size > 100
        assert (tmp_path / "e.csv").read_bytes() == (tmp_path / "f.csv").read_bytes()
        text = result._repr_html_()
        assert f"<td>{getattr(result, 'delta', result).total.mean():.4f}" in text and "<table>" in text and "data:image/png" in text
    assert all(f"<th>{name}</th>" in binding._repr_html_() for name in ("complex", "receptor", "ligand", "delta", "gb", "total"))
    with pytest.raises(leyden.UsageError, match=".png, .svg or .pdf"):
        made.save_picture(tmp_path / "p.gif")
    with pytest.raises(leyden.UsageError, match="matrix=True"):
        made.save_matrix(tmp_path / "m.csv")


def test_a_psf(tmp_path):
    """Its parameters are words of the command, and a keyword."""
    pytest.importorskip("parmed")
    from test_topologies import PRM, PSF, RTF
    for name, text in (("m.psf", PSF), ("m.prm", PRM.format(more="")), ("m.rtf", RTF)):
        (tmp_path / name).write_text(text)
    x = write_frames(tmp_path / "m.dcd", np.random.default_rng(1).uniform(0, 9, (2, 5, 3)))
    done = run("m.psf", "m.dcd", "--parameters", "m.prm", "m.rtf", "-o", "m.csv", "--device", "cpu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = leyden.energy(tmp_path / "m.psf", x, parameters=[tmp_path / "m.prm", tmp_path / "m.rtf"], engine="cpu")
    rows = [line.split(",") for line in (tmp_path / "m.csv").read_text().splitlines() if not line.startswith("#")]
    assert np.allclose([float(row[-1]) for row in rows[1:]], made.total, rtol=1e-8) and np.all(made.coulomb != 0)
    done = run("m.psf", "m.dcd", "-o", "m.csv", cwd=tmp_path)
    assert done.returncode == 2 and "--parameters" in done.stderr
    done = run("m.psf", "--parameters", "m.prm", "m.dcd", "-o", "m.csv", cwd=tmp_path)
    assert done.returncode == 1 and "they stand behind TRAJECTORY" in done.stderr


@pytest.mark.parametrize("said, typed", [
    ("gb_taper needs gb_cutoff", "--gb-taper needs --gb-cutoff"), ("strip: no atom is left", "--leave-out: no atom is left"),
    ("groups 'resname X': there is no such atom", "--groups 'resname X': there is no such atom"),
    ("gb='gbn2': leyden.Particles.load(topology, gb='gbn2') has them",
     "--gb gbn2: python3 -m leyden convert TOPOLOGY -o NEW.npz --gb gbn2 has them"),
    ("engine: 'host' is none: engine=None takes one", "--device: 'host' is none: the default takes one")])
def test_messages_name_options(said, typed):
    assert as_options(said) == typed


def test_what_head_closes_is_no_error(system, tmp_path):
    words = [sys.executable, "-m", "leyden", "energy", *system[2:], "-o", "e.csv", "--device", "cpu"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 128 + signal.SIGPIPE and said == "" and (tmp_path / "e.csv").exists()


def test_nothing_is_left_to_read(system, tmp_path):
    """As of a run that was ended behind its last frame, and goes on."""
    frames = Frames(mda.Universe(write_frames(tmp_path / "start.gro", system[1][:1]), system[3]), readers=1, cell=(60, 60, 60),
                    needs_charges=False)
    assert not list(frames.blocks(len(frames)))


def test_files_in_the_wrong_places(system, tmp_path):
    """A trajectory as the topology, a structure that would count as a frame, a word that is no sub-command, atoms for positions."""
    start = write_frames(tmp_path / "start.gro", system[1][:1])
    with pytest.raises(leyden.UsageError, match="the topology comes first"):
        leyden.energy(system[3], system[2])
    with pytest.raises(leyden.UsageError, match="topology: .* not Universe"):
        leyden.energy(mda.Universe(start))
    with pytest.raises(leyden.UsageError, match="start.gro is one structure, which would count as a frame"):
        leyden.energy(system[2], start, system[3])
    with leyden.Energy(leyden.Particles.load(system[2])) as energy, pytest.raises(leyden.UsageError, match=".positions of atoms"):
        energy.run(mda.Universe(start).atoms)
    done = subprocess.run([sys.executable, "-m", "leyden", "mmgbsa"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "type energy TOPOLOGY TRAJECTORY --mmgbsa RECEPTOR LIGAND" in done.stderr


@pytest.mark.parametrize("words, code, said", [
    (["-o", "e.dat"], 1, "ends in .csv"), (["-o", "e.csv", "--table", "t.dat"], 1, "--mmgbsa RECEPTOR LIGAND"),
    (["-o", "nowhere/e.csv"], 2, "no such folder"), (["-o", "e.csv", "--coulomb", "pme"], 2, "--cell a,b,c"),
    (["-o", "e.csv", "--mmgbsa", "all", "resname LIG"], 1, '--mmgbsa "(all) and not (resname LIG)"'),
    (["-o", "e.csv", "--mmgbsa", *SIDES.values()], 2, "--surface numerical"),
    (["-o", "e.csv", "--mmgbsa", "not resname LIG ALA", "resname LIG"], 1, '--leave-out "resname ALA"'),
    (["-o", "e.csv", "--gb", "obc3"], 1, "invalid choice"), (["-o", "e.csv", "--leave-out", "all"], 1, "no atom is left"),
    (["-o", "e.csv", "--picture", "p.xyz"], 1, ".png, .svg or .pdf"),
    (["-o", "e.csv", "--gb", "5"], 1, "type obc2, which is igb=5"), (["-o", "e.csv", "--gb", "OBC2"], 1, "did you mean 'obc2'?"),
    (["-o", "e.csv", "--saltcon", "0.15"], 1, "saltcon is --salt, 0.5329 of saltcon"),
    (["-o", "e.csv", "igb=5"], 1, "igb is --gb"), (["-o", "e.csv", "--by", "residues"], 1, "did you mean 'residue'?"),
    (["-o", "e.csv", "--mmgbsa", ":1-3,5", "all"], 1, "did you mean 'resid 1-3 5'?"),
    (["-o", "e.csv", "--groups", "all", "LIG"], 1, "did you mean 'resname LIG'?"),
    (["-o", "e.csv", "--groups", "chain A"], 1, "did you mean 'segid A'?"),
    (["-o", "e.csv", "--coulomb", "pme", "--cell", "60,60,60"], 1, "--cutoff is needed"),
    (["-o", "e.csv", "--salt", "150"], 1, "--salt: 150.0 is out of range"),
    (["-o", "e.csv", "--groups", "resid 999", "resname LIG"], 1, "groups 'resid 999': there is no such atom; there are resid 11-17"),
    (["-o", "e.csv", "--groups", "all", "--coulomb", "pme", "--cutoff", "9", "--cell", "60,60,60"], 1,
     "--groups: --coulomb pme, Ewald's sum, is not made of pairs"),
    (["-o", "e.csv", "--constant", "gromacs"], 1, "--constant: a number, or one of amber, charmm, namd, openmm, is needed")])
def test_mistakes(system, tmp_path, words, code, said):
    done = run(*system[2:], *words, "--device", "cpu", cwd=tmp_path)
    assert done.returncode == code and said in done.stderr and not (tmp_path / "e.csv").exists(), done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_command(system, tmp_path, number):
    """It leaves no half file; where it was told to end, its checkpoint, with which the result has the same bytes."""
    many, out = write_frames(tmp_path / "many.dcd", np.concatenate([system[1]] * 200)), tmp_path / "e.csv"
    words = [system[2], many, "-o", out, "--mmgbsa", *SIDES.values(), "--surface", "none", "--readers", 1, "-q", "--device", "cpu"]
    kept, started = tmp_path / "e.csv.checkpoint", time.monotonic()
    assert run(*words).returncode == 0
    whole, took_s = out.read_bytes(), time.monotonic() - started
    out.unlink()
    for share in (0.6, 0.8, 0.5):
        process = subprocess.Popen([sys.executable, "-m", "leyden", "energy", *map(str, words)], stderr=subprocess.PIPE, text=True)
        time.sleep(share * took_s)
        process.send_signal(number)
        said = process.communicate()[1]
        assert not out.exists() or out.read_bytes() == whole
        assert not list(tmp_path.glob("*.part-*"))
        if number == signal.SIGKILL or kept.exists():
            break
        out.unlink(missing_ok=True)
    if number == signal.SIGTERM and kept.exists():
        assert process.returncode == 128 + number and "--resume goes on from it" in said
        refused = run(*words)
        assert refused.returncode == 1 and "--resume goes on from it" in refused.stderr
        done = run(*words, "--resume")
        assert done.returncode == 0 and not kept.exists() and out.read_bytes() == whole, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_kernels_are_built(system, tmp_path, number):
    """Nobody waits for a compiler, and nothing is left."""
    cache = tmp_path / "cache"
    where = {**os.environ, "LEYDEN_CACHE_DIR": str(cache), "POCL_CACHE_DIR": str(tmp_path / "pocl")}
    words = [*system[2:], "-o", "e.csv", "--mmgbsa", *SIDES.values(), "--surface", "none", "--device", "cpu"]
    process = subprocess.Popen([sys.executable, "-m", "leyden", "energy", *words], stderr=subprocess.PIPE, text=True, env=where,
                               cwd=tmp_path)
    while process.poll() is None and not (cache.exists() and any(cache.iterdir())):
        time.sleep(0.02)
    started = time.monotonic()
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == 128 + number and "leyden: interrupted: no frame was done" in said, said
    assert time.monotonic() - started < 5 and sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == []


# ---- A protein with a dipeptide, beside OpenMM ---------------------------------------------------


@pytest.fixture(name="amber", scope="module")
def _amber(tmp_path_factory):
    """Files of a protein of OpenMM's package and a copy of its last two residues, LIG, beside it: a folder with
    complex.prmtop, receptor.prmtop, ligand.prmtop, and run.nc of 12 frames in a cell, with positions (F, N, 3)."""
    openmm, parmed = pytest.importorskip("openmm"), pytest.importorskip("parmed")
    from openmm import app, unit
    folder, reference = tmp_path_factory.mktemp("amber"), openmm.Platform.getPlatformByName("Reference")
    pdb = app.PDBFile(os.path.join(os.path.dirname(app.__file__), "data", "test.pdb"))
    whole = app.Modeller(pdb.topology, pdb.positions)
    whole.deleteWater()
    whole.delete([residue for residue in whole.topology.residues() if len(list(residue.atoms())) < 5])
    field = app.ForceField("amber99sb.xml")
    ligand = app.Modeller(whole.topology, whole.positions)
    ligand.delete(list(ligand.topology.residues())[:-2])
    ligand.delete([atom for atom in ligand.topology.atoms() if atom.element is app.element.hydrogen])
    ligand.addHydrogens(field, platform=reference)
    x, y = (np.array(one.positions.value_in_unit(unit.angstrom)) for one in (whole, ligand))
    random, found = np.random.default_rng(4), []
    for _ in range(60):  # where it lies deepest
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        for reach in np.arange(2, 40, 0.5):
            moved = y - y.mean(axis=0) + x.mean(axis=0) + reach * way
            if np.linalg.norm(x[:, None] - moved, axis=2).min() > 2.3:
                found.append((reach, moved.tolist()))
                break
    place = min(found)[1]
    whole.add(ligand.topology, place * unit.angstrom)
    structure = parmed.openmm.load_topology(whole.topology, field.createSystem(whole.topology), whole.positions)
    for residue in structure.residues[-2:]:
        residue.name = "LIG"
    count = len(x)
    for name, part in (("complex", structure), ("receptor", structure[:count]), ("ligand", structure[count:])):
        parm = parmed.amber.AmberParm.from_structure(part)
        parmed.tools.changeRadii(parm, "mbondi2").execute()
        parm.save(str(folder / f"{name}.prmtop"))
    z = np.concatenate([x, place])
    frames = []
    for _ in range(12):
        frame = z + random.normal(size=z.shape) * 0.02
        frame[count:] += random.normal(size=3) * 0.1
        frames.append(frame)
    write_frames(folder / "run.nc", np.mod(np.array(frames) - z.mean(axis=0), 60), [60.0, 60, 60, 90, 90, 90])
    return folder, np.array(frames, np.float32), count


@pytest.mark.extra
@pytest.mark.parametrize("gb, theirs", [("obc2", "OBC2"), ("hct", "HCT"), ("obc1", "OBC1"), ("gbn", "GBn"), ("gbn2", "GBn2")])
def test_openmm_agrees(engine, amber, gb, theirs):
    """Of complex, receptor and ligand, each by OpenMM's own reading of its own file; the frames were broken by the cell."""
    import openmm
    from openmm import app, unit
    folder, frames, count = amber
    made = leyden.mmgbsa(folder / "complex.prmtop", folder / "run.nc", **SIDES, gb=gb, surface=None, constant="openmm",
                         solvent_dielectric=78.5, engine=engine, stop=3)
    assert made.report["made_whole"] > 0
    right = {}
    for name, part in (("complex", slice(None)), ("receptor", slice(0, count)), ("ligand", slice(count, None))):
        prmtop = app.AmberPrmtopFile(str(folder / f"{name}.prmtop"))
        system = prmtop.createSystem(nonbondedMethod=app.NoCutoff, implicitSolvent=getattr(app, theirs), soluteDielectric=1.0,
                                     solventDielectric=78.5, gbsaModel=None)
        for force in system.getForces():
            kind = type(force).__name__
            force.setForceGroup(1 if kind == "NonbondedForce" else 2 if "GB" in kind else 3)
        context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
        rows = []
        for frame in frames[:3]:
            context.setPositions(frame[part].astype(float) / 10)
            rows.append([context.getState(getEnergy=True, groups={group}).getPotentialEnergy().value_in_unit(
                unit.kilocalorie_per_mole) for group in (1, 2)])
        right[name] = np.array(rows)
        found = getattr(made, name).terms
        assert np.allclose(found[:, :4].sum(axis=1), right[name][:, 0], rtol=2e-5, atol=0.02)
        assert np.allclose(found[:, 4], right[name][:, 1], rtol=2e-5, atol=0.02)
    delta = right["complex"] - right["receptor"] - right["ligand"]
    assert np.abs(made.delta.total - delta.sum(axis=1)).max() < 0.05
    assert np.abs(delta).max() > 1


@pytest.mark.extra
def test_page(amber, tmp_path, monkeypatch):
    """The commands and the Python of docs/mmgbsa.md, one after the other."""
    pytest.importorskip("matplotlib").use("Agg")
    for name in ("complex.prmtop", "run.nc"):
        (tmp_path / name).symlink_to(amber[0] / name)
    monkeypatch.chdir(tmp_path)
    text = (SOURCES / "docs" / "mmgbsa.md").read_text(encoding="utf-8")
    commands = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
                for line in block.replace("\\\n", " ").splitlines() if line.startswith("python3 -m leyden ")]
    blocks, scope = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE), {}
    assert len(commands) >= 3 and len(blocks) >= 2
    for line in commands:
        done = subprocess.run(line.replace("python3", sys.executable, 1), shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 0, line + done.stderr
    for block in blocks:
        exec(compile(block, "docs/mmgbsa.md", "exec"), scope)
