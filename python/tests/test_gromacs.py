"""`gmx potential` (Debian: gromacs) on the frames of leyden.average(); skipped where it is not installed.

As a program this prints the table of docs/trajectories.md.
"""
import math
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import leyden

MDAnalysis = pytest.importorskip("MDAnalysis")
pytestmark = pytest.mark.extra

WATERS, FRAMES, BOX = 700, 20, (30.0, 30.0, 60.0)
SIGMA = 1.0
FINE, USUAL = 2399, 239  # slices: no position with two digits is where one ends

TOPOLOGY = f"""[ defaults ]
1 2 yes 0.5 0.5
[ atomtypes ]
OW 8 15.999 0 A 0.315 0.636
HW 1 1.008 0 A 0 0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 -0.834 15.999
2 HW 1 SOL HW1 1 0.417 1.008
3 HW 1 SOL HW2 1 0.417 1.008
[ system ]
polarised water
[ molecules ]
SOL {WATERS}
"""


def place_waters(random):
    """(3 WATERS, 3), A: dipoles point up in one half of the cell and down in the other one, more or less."""
    oxygen = random.uniform(0, 1, (WATERS, 3)) * BOX
    cosine = 0.5 * np.sin(2 * np.pi * oxygen[:, 2] / BOX[2]) + random.uniform(-0.5, 0.5, WATERS)
    turn = random.uniform(0, 2 * np.pi, WATERS)
    sine = np.sqrt(1 - cosine ** 2)
    along = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)
    across = np.stack([-np.sin(turn), np.cos(turn), np.zeros(WATERS)], axis=1)
    return np.stack([oxygen, oxygen + 0.5859 * along + 0.7572 * across, oxygen + 0.5859 * along - 0.7572 * across],
                    axis=1).reshape(-1, 3)


def make_frames(folder):
    """start.gro, run.xtc and, by grompp, run.tpr."""
    random = np.random.default_rng(5)
    universe = MDAnalysis.Universe.empty(3 * WATERS, n_residues=WATERS, atom_resindex=np.repeat(np.arange(WATERS), 3),
                                         trajectory=True)
    universe.add_TopologyAttr("names", ["OW", "HW1", "HW2"] * WATERS)
    universe.add_TopologyAttr("resnames", ["SOL"] * WATERS)
    universe.dimensions = [*BOX, 90, 90, 90]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with MDAnalysis.Writer(str(folder / "run.xtc"), 3 * WATERS) as writer:
            for _ in range(FRAMES):
                universe.atoms.positions = place_waters(random)
                writer.write(universe.atoms)
        universe.atoms.write(str(folder / "start.gro"))
    (folder / "run.top").write_text(TOPOLOGY, encoding="ascii")
    numbers = "\n".join(map(str, range(1, 3 * WATERS + 1)))
    (folder / "index.ndx").write_text(f"[ water ]\n{numbers}\n", encoding="ascii")
    (folder / "run.mdp").write_text("cutoff-scheme = Verlet\nnsteps = 0\n", encoding="ascii")
    gmx(folder, "grompp", "-f", "run.mdp", "-c", "start.gro", "-p", "run.top", "-o", "run.tpr", "-maxwarn", "20")


def gmx(folder, *words, stdin=""):
    done = subprocess.run(["gmx", "-quiet", "-nobackup", *words], cwd=folder, input=stdin, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def columns(path):
    """Of an .xvg file, (columns, rows)."""
    return np.array([line.split() for line in path.read_text(encoding="ascii").splitlines() if line[:1] not in "#@"], float).T


def off(values, right):
    """Relative to the root mean square."""
    return math.sqrt(np.mean((values - right) ** 2) / np.mean(right ** 2))


# ---- The definition of `gmx potential` -----------------------------------------------------------

ELEMENTARY, EPSILON_0 = 1.602176634e-19, 8.8541878128e-12


def integral(values, width):
    """By trapezoids, from the first slice's middle to that of each one."""
    return np.concatenate([[0], np.cumsum(width * (values[:-1] + values[1:]) / 2)])


def twice(charge):
    """V/A and V, of the charges in slices in e/A^3."""
    width = BOX[2] / len(charge)
    field = integral(charge, width) * ELEMENTARY / (EPSILON_0 * 1e-10)
    return field, -integral(field, width)


def from_first_slice(profile):
    """A profile at the slices' middles, with field and potential 0 at the first of them."""
    z, field, potential = (getattr(profile, name)[1::2] for name in ("distance", "field", "potential"))
    return field - field[0], potential - potential[0] + field[0] * (z - z[0])


def smoothed(charge):
    k = 2 * np.pi * np.fft.rfftfreq(len(charge), BOX[2] / len(charge))
    return np.fft.irfft(np.fft.rfft(charge) * np.exp(-(SIGMA * k) ** 2 / 2), len(charge))


class Slices:
    """What `gmx potential` finds with so many slices, and leyden in their middles."""

    def __init__(self, folder, universe, count):
        gmx(folder, "potential", "-f", "run.xtc", "-s", "run.tpr", "-n", "index.ndx", "-d", "Z", "-sl", str(count),
            "-o", "potential.xvg", "-oc", "charge.xvg", "-of", "field.xvg", stdin="0\n")
        self.universe, self.count = universe, count
        charge, field, self.potential = (columns(folder / f"{name}.xvg")[1] for name in ("charge", "field", "potential"))
        self.charge, self.field = charge / 1000, field / 10  # of nm to A
        average = leyden.average(universe, profile="z", boundary="one-side", smooth=SIGMA, tol=1e-5, dims=(30, 30, 2 * count),
                                 units="V", engine="cpu")
        self.leyden_field, self.leyden_potential = from_first_slice(average.profiles["z"])

    def counted(self):
        """Charges in slices, counted here, e/A^3."""
        count = np.zeros(self.count)
        for frame in self.universe.trajectory:
            z = frame.positions[:, 2].astype(float) % BOX[2]
            count += np.bincount((z / BOX[2] * self.count).astype(int), self.universe.atoms.charges, self.count)
        return count / (FRAMES * BOX[0] * BOX[1] * BOX[2] / self.count)

    def of_mdanalysis(self):
        """The charge density by LinearDensity, e/A^3."""
        from MDAnalysis.analysis.lineardensity import LinearDensity
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = LinearDensity(self.universe.atoms, binsize=BOX[2] / (self.count + 0.01)).run().results.z.charge_density
        return found * 0.602214076  # of e mol/cm^3


def universe_of(folder):
    make_frames(folder)
    return MDAnalysis.Universe(str(folder / "run.tpr"), str(folder / "run.xtc"))


@pytest.fixture(scope="module")
def fine(tmp_path_factory):
    if shutil.which("gmx") is None:
        pytest.skip("gmx is not installed")
    folder = tmp_path_factory.mktemp("gmx")
    return Slices(folder, universe_of(folder), FINE)


def test_its_slices_are_counted_charges(fine):
    assert off(fine.charge, fine.counted()) < 1e-5
    field, potential = twice(fine.charge)
    assert off(fine.field, field) < 1e-4 and off(fine.potential, potential) < 1e-4


def test_profile_is_its_integral_of_smoothed_charges(fine):
    field, potential = twice(smoothed(fine.charge))
    assert off(potential, fine.leyden_potential) < 2e-3 and off(field, fine.leyden_field) < 1e-2
    assert off(fine.potential, fine.leyden_potential) < 2e-2  # long waves are the same without smoothing


def main():
    print("| | slices of | highest less lowest potential, V | RMS difference from leyden's |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        universe = universe_of(folder)
        for count in USUAL, FINE:
            s = Slices(folder, universe, count)
            rows = [("`gmx potential`", s.potential), ("the same, of charges smoothed as leyden's", twice(smoothed(s.charge))[1]),
                    ("`LinearDensity`, integrated twice", twice(s.of_mdanalysis())[1]),
                    ("leyden, `boundary=\"one-side\"`", s.leyden_potential)]
            for what, potential in rows:
                print(f"| {what} | {BOX[2] / count:.3f} Å | {np.ptp(potential):.3f} | "
                      f"{100 * off(potential, s.leyden_potential):.2g} % |")


if __name__ == "__main__":
    sys.exit(main())
