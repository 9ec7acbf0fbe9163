"""What tests share. LEYDEN_COMMAND names the command that the package is held against."""
import ctypes
import gc
import math
import os
import subprocess

import numpy as np
import pytest

import leyden

# Where a map is computed, by the command and here.
ORIGIN, SPACING, N = (-7.0123456789, -6.5, -6.25), 0.75, (17, 19, 23)


def pytest_configure(config):
    config.addinivalue_line("markers", "extra: takes longer, or needs packages that are heavy")


def pytest_sessionfinish(session):
    """Under the address sanitizer, where LEYDEN_LEAKS is set: nobody holds memory that nobody can free any more.

    That is asked while the interpreter is whole. When it ends, much that Python has looks lost, and
    what the package has lost would not stand out.
    """
    if not os.environ.get("LEYDEN_LEAKS"):
        return
    leyden._engine._close_default()
    gc.collect()
    if ctypes.CDLL(None).__lsan_do_recoverable_leak_check() != 0:
        session.exitstatus = 1


@pytest.fixture(scope="session")
def engine():
    with leyden.Engine("cpu") as opened:
        yield opened


@pytest.fixture(scope="session")
def command():
    """Runs the command; its output."""
    path = os.environ.get("LEYDEN_COMMAND")
    if path is None:
        pytest.skip("LEYDEN_COMMAND does not name the command")

    def run(*words):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def charges():
    """Positions, charges and radii, with few enough digits for PQR files."""
    random = np.random.default_rng(7)
    return (random.uniform(-4, 4, (60, 3)).round(3), random.uniform(-1, 1, 60).round(4),
            random.uniform(1, 2, 60).round(4))


@pytest.fixture(scope="session")
def atoms(charges):
    return leyden.Atoms.from_arrays(*charges)


@pytest.fixture(scope="session")
def grid():
    return leyden.Grid(ORIGIN, spacing=SPACING, n=N)


def coulomb(charges, points, units="kT/e", r_min=0.05):
    """The sum in double precision, by NumPy."""
    volt = 1.602176634e-19 / (4e-10 * np.pi * 8.8541878128e-12)
    constant = volt / (1.380649e-23 * 298.15 / 1.602176634e-19) if units == "kT/e" else volt
    x, q, _ = charges
    distance = np.linalg.norm(points[:, None, :] - x[None, :, :], axis=2)
    return constant * (q / np.maximum(distance, r_min)).sum(axis=1)


def ewald(x, q, vectors, points, alpha=0.3):
    """The sum over all images in double precision, tin-foil and with a neutralising background, kT/e, by NumPy."""
    dual = 2 * np.pi * np.linalg.inv(vectors).T
    volume = abs(np.linalg.det(vectors))
    reach = 6 / alpha  # erfc(6) is 2e-17, and so is exp(-36) of waves up to 12 alpha
    counts = [int(np.ceil(length * 12 * alpha / (2 * np.pi))) for length in np.linalg.norm(vectors, axis=1)]
    waves = np.array(np.meshgrid(*(np.arange(-n, n + 1) for n in counts))).reshape(3, -1).T @ dual
    k2 = (waves ** 2).sum(axis=1)
    waves, k2 = waves[k2 > 0], k2[k2 > 0]
    structure = np.exp(-1j * x @ waves.T).T @ q
    found = 4 * np.pi / volume * (np.exp(1j * points @ waves.T) @ (structure * np.exp(-k2 / (4 * alpha ** 2)) / k2)).real
    images = [int(np.ceil(reach * np.linalg.norm(row) / (2 * np.pi))) + 1 for row in dual]
    erfc = np.vectorize(math.erfc)
    for image in np.array(np.meshgrid(*(np.arange(-n, n + 1) for n in images))).reshape(3, -1).T @ vectors:
        r = np.maximum(np.linalg.norm(points[:, None] - (x + image)[None], axis=2), 0.05)
        near = r < reach
        if np.any(near):
            found += (q * np.where(near, erfc(alpha * np.where(near, r, 99)) / r, 0)).sum(axis=1)
    return coulomb((np.zeros((1, 3)), np.ones(1), None), np.array([[1.0, 0, 0]]))[0] * (
        found - np.pi * q.sum() / (alpha ** 2 * volume))


class Topology:
    """As much of MDAnalysis' Universe as Atoms look at: frames of positions and dimensions."""

    def __init__(self, charges, frames, **labels):
        self.atoms, self.charges, self.frames, self.labels = self, charges, frames, labels
        self.positions, self.dimensions = frames[0]
        self.indices = np.arange(len(charges))

    def __len__(self):
        return len(self.charges)

    def __getattr__(self, name):
        if "labels" in self.__dict__ and name in self.labels:
            return self.labels[name]
        raise AttributeError(name)

    @property
    def trajectory(self):
        return Trajectory(self)


class Trajectory:
    def __init__(self, of):
        self.of = of

    def __len__(self):
        return len(self.of.frames)

    def __getitem__(self, number):
        self.of.positions, self.of.dimensions = self.of.frames[number]
        return self.of

    def __iter__(self):
        for self.of.positions, self.of.dimensions in self.of.frames:
            yield self


BOX = np.array([20.0, 21, 22, 90, 90, 90])  # of walks


def of_memory(positions, boxes=BOX, charges=None):
    MDAnalysis = pytest.importorskip("MDAnalysis")
    from MDAnalysis.coordinates.memory import MemoryReader
    universe = MDAnalysis.Universe.empty(positions.shape[1], trajectory=True)
    if charges is not False:
        universe.add_TopologyAttr("charges", np.resize([1.0, -1.0], positions.shape[1]) if charges is None else charges)
    universe.load_new(np.array(positions, np.float32), format=MemoryReader, dimensions=boxes)
    return universe


def walk(frames=30, atoms=40, seed=0):
    return np.random.default_rng(seed).uniform(0, 20, (frames, atoms, 3)).astype(np.float32)


@pytest.fixture(name="files", scope="session")
def _files(tmp_path_factory):
    """A function that writes the same walk as a topology and a trajectory of a format: their names."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    folder = tmp_path_factory.mktemp("trajectories")

    def make(ending="dcd", frames=30, atoms=40, name="walk", boxes=BOX, seed=0):
        universe = of_memory(walk(frames, atoms, seed), boxes)
        for attribute, value in (("names", "O"), ("types", "O"), ("masses", 1.0), ("elements", "O")):
            universe.add_TopologyAttr(attribute, [value] * atoms)
        topology, trajectory = str(folder / f"top{atoms}.psf"), str(folder / f"{name}-{frames}-{atoms}.{ending}")
        if os.path.exists(trajectory):
            return topology, trajectory
        with open(topology, "w", encoding="utf-8") as file:  # no writer of MDAnalysis keeps charges without bonds
            file.write(f"PSF\n\n       1 !NTITLE\n REMARKS none\n\n{atoms:8d} !NATOM\n")
            for i, charge in enumerate(universe.atoms.charges):
                file.write(f"{i + 1:8d} W    1    WAT  O    OT   {charge:10.6f}       15.9994           0\n")
            file.write("\n")
        with MDAnalysis.Writer(trajectory, atoms) as writer:
            for _ in universe.trajectory:
                writer.write(universe)
        return topology, trajectory

    return make
