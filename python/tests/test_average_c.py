"""docs/average.c: a trajectory that C reads by itself."""
import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import leyden
from conftest import Topology
from judge import vectors

SOURCES = Path(os.environ.get("LEYDEN_SOURCES", Path(__file__).parents[2]))
LIBRARY = Path(os.environ.get("LEYDEN_BUILD", SOURCES / "build")) / "libleyden.a"
BOX = [14.0, 12, 15, 80, 95, 70]


def matrix_of(box):
    """The symmetric matrix whose rows have these lengths and angles: the square root of their products."""
    v = vectors(np.array([box]))[0]
    values, columns = np.linalg.eigh(v @ v.T)
    return columns * np.sqrt(values) @ columns.T


def write_dcd(path, positions, boxes, kind):
    """As old programs write it, with "angles"; NAMD, with their "cosines"; CHARMM, with a "matrix"."""

    def record(content):
        return struct.pack("=i", len(content)) + content + struct.pack("=i", len(content))

    numbers = [len(positions), 0, 1, 0, 0, 0, 0, 0, 0]
    head = b"CORD" + struct.pack("=9i", *numbers) + struct.pack("=f", 1.0) + struct.pack("=10i", 1, *[0] * 8, 36 if kind == "matrix" else 24)
    with open(path, "wb") as file:
        file.write(record(head) + record(struct.pack("=i", 1) + b"REMARKS".ljust(80)) +
                   record(struct.pack("=i", positions.shape[1])))
        for x, (a, b, c, alpha, beta, gamma) in zip(positions, boxes):
            angles = np.cos(np.radians([gamma, beta, alpha])) if kind == "cosines" else [gamma, beta, alpha]
            cell = [a, angles[0], b, angles[1], angles[2], c]
            if kind == "matrix":
                cell = matrix_of([a, b, c, alpha, beta, gamma])[np.tril_indices(3)]
            file.write(record(struct.pack("=6d", *cell)))
            for column in x.T:
                file.write(record(column.astype("=f4").tobytes()))


@pytest.fixture(name="program", scope="module")
def _program(tmp_path_factory):
    compiler = os.environ.get("CC", "cc").split()[0]
    if not shutil.which(compiler) or not LIBRARY.exists():
        pytest.skip("there is no compiler, or no libleyden.a in LEYDEN_BUILD")
    made = tmp_path_factory.mktemp("c") / "average"
    flags = os.environ.get("LEYDEN_SANITIZE", "").split()
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags, f"-I{SOURCES / 'host'}", f"-I{SOURCES / 'platform'}",
                    str(SOURCES / "docs" / "average.c"), "-o", str(made), str(LIBRARY), "-lOpenCL", "-lcrypto", "-lz", "-lm",
                    "-ldl", "-lpthread"], check=True)
    return str(made)


@pytest.mark.parametrize("kind", ["angles", "cosines", "matrix"])
def test_it_is_what_python_makes(program, engine, tmp_path, kind):
    random = np.random.default_rng(8)
    boxes = np.array([BOX] * 4) * (1 + 0.01 * np.arange(4))[:, None] ** [1, 1, 1, 0, 0, 0]
    positions = random.uniform(0, 14, (4, 30, 3)).astype(np.float32)
    charges = random.uniform(-1, 1, 30).round(4)
    leyden.Atoms(positions[0], charges).write(tmp_path / "charges.pqr")
    cells, written = vectors(boxes), positions
    if kind == "matrix":  # the same atoms, turned with the cell
        cells = np.array([matrix_of(box) for box in boxes])
        written = (positions @ np.linalg.inv(vectors(boxes)) @ cells).astype(np.float32)
    write_dcd(tmp_path / "walk.dcd", written, boxes, kind)
    done = subprocess.run([program, "charges.pqr", "walk.dcd", "mean.dx"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 frames, relative RMS error ")
    found = leyden.Map(tmp_path / "mean.dx")
    right = leyden.average(Topology(charges, list(zip(positions, boxes))), engine=engine)
    assert found.grid.n == right.mean.grid.n == (14, 12, 15)
    assert np.allclose(found.grid.step * [[14], [12], [15]], cells.mean(axis=0), atol=1e-9)
    assert np.abs(found.values - right.mean.values).max() < 1e-5 * np.abs(right.mean.values).max()


def test_what_it_refuses(program, tmp_path):
    leyden.Atoms(np.zeros((2, 3)), [1, -1]).write(tmp_path / "two.pqr")
    write_dcd(tmp_path / "three.dcd", np.zeros((1, 3, 3)), [BOX], "angles")
    for words, code, says in ((["two.pqr", "three.dcd", "m.dx"], 2, "no DCD file with cells and the atoms of two.pqr"),
                              (["two.pqr"], 1, "average CHARGES.pqr TRAJECTORY.dcd MAP.dx"),
                              (["none.pqr", "three.dcd", "m.dx"], 2, "none.pqr")):
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code and says in done.stderr
    write_dcd(tmp_path / "two.dcd", np.random.default_rng(1).uniform(0, 9, (3, 2, 3)), [BOX] * 3, "cosines")
    whole = (tmp_path / "two.dcd").read_bytes()
    (tmp_path / "cut.dcd").write_bytes(whole[:-20])
    done = subprocess.run([program, "two.pqr", "cut.dcd", "m.dx"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("2 frames") and "ends within a frame" in done.stderr
