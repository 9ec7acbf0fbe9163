"""What tests share. LEYDEN_COMMAND names the command that the package is held against."""
import ctypes
import gc
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
def lattice():
    return leyden.Lattice(ORIGIN, spacing=SPACING, n=N)


def coulomb(charges, points, units="kT/e", r_min=0.05):
    """The sum in double precision, by NumPy."""
    volt = 1.602176634e-19 / (4e-10 * np.pi * 8.8541878128e-12)
    constant = volt / (1.380649e-23 * 298.15 / 1.602176634e-19) if units == "kT/e" else volt
    x, q, _ = charges
    distance = np.linalg.norm(points[:, None, :] - x[None, :, :], axis=2)
    return constant * (q / np.maximum(distance, r_min)).sum(axis=1)
