"""Processes that share the frames of a trajectory, by mpi4py under mpirun: the files of one process."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import leyden

MPIRUN = shutil.which("mpirun")
pytestmark = [pytest.mark.extra, pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")]
FRAMES = 61


@pytest.fixture(name="case", scope="module")
def _case(files, tmp_path_factory):
    """A topology and a trajectory in cells that breathe, particles of a force field, a map."""
    pytest.importorskip("mpi4py")
    folder = tmp_path_factory.mktemp("ranks")
    boxes = np.array([[20.0, 21, 22, 90, 90, 90]] * FRAMES)
    boxes[:, :3] *= 1 + 0.01 * np.sin(np.arange(FRAMES))[:, None]
    topology, trajectory = files("dcd", FRAMES, name="shared", boxes=boxes)
    random = np.random.default_rng(3)
    leyden.Particles.from_arrays(charges=random.uniform(-1, 1, 40), type=np.zeros(40, int), lennard_jones_a=[[9.0]],
                                 lennard_jones_b=[[3.0]]).save(folder / "particles.npz")
    leyden.Map(random.normal(size=(12, 12, 12)), leyden.Grid((0, 0, 0), spacing=2, n=(12, 12, 12))).save(folder / "map.mrc")
    return topology, trajectory, folder


def leyden_on(ranks, words, folder):
    several = [MPIRUN, "-n", str(ranks), *(["--oversubscribe"] if "Open" in subprocess.run(
        [MPIRUN, "--version"], capture_output=True, text=True, check=False).stdout else [])] if ranks > 1 else []
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "POCL_MAX_PTHREAD_COUNT": "1"}
    return subprocess.run([*several, sys.executable, "-m", "leyden", *map(str, words)], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False, env={**os.environ, **more})


def test_the_files_of_one_process(case):
    topology, trajectory, folder = case
    commands = {
        "average": (["average", topology, trajectory, "-o", "#mean.npy", "--deviation", "#deviation.npy", "--error", "#error.npy",
                     "--profile", "z", "--profile-csv", "#profile.csv", "--dims", "16,16,16", "--device", "cpu"],
                    ["mean.npy", "deviation.npy", "error.npy", "profile.csv"]),
        "mean": (["average", topology, trajectory, "-o", "#plain.npy", "--dims", "16,16,16", "--device", "cpu", "--start", "2", "--readers", "2"],
                 ["plain.npy"]),
        "energy": (["energy", "particles.npz", trajectory, "-o", "#energy.csv", "--coulomb", "pme", "--cutoff", "8", "--by", "atom", "--device", "cpu"],
                   ["energy.csv", "energy_atoms.csv"]),
        "fit-score": (["fit-score", "map.mrc", topology, trajectory, "-o", "#scores.csv", "--resolution", "6", "--weights", "mass", "--device", "host"],
                      ["scores.csv"]),
    }
    for name, (words, written) in commands.items():
        ranks = 3 if name == "average" else 2
        for count in 1, ranks:
            done = leyden_on(count, [word.replace("#", f"{count}-") for word in words], folder)
            assert done.returncode == 0, (name, count, done.stderr)
            assert ("" if count == 1 else f", by {count} ranks") in done.stdout and ("by 1 ranks" not in done.stdout), done.stdout
            assert done.stdout.count("trajectory:") == 1 and f" {FRAMES - 2 * (name == 'mean')} frames" in done.stdout, done.stdout
        for file in written:
            one, many = ((folder / f"{count}-{file}").read_bytes() for count in (1, ranks))
            assert one == many, (name, file)


def test_what_is_wrong_is_said_once(case):
    topology, trajectory, folder = case
    done = leyden_on(2, ["average", topology, trajectory, "-o", "wrong.npy", "--select", "name QQ"], folder)
    assert done.returncode == 1 and done.stderr.count("there is no such atom") == 1, done.stderr
    assert not (folder / "wrong.npy").exists()
