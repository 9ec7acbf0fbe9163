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

WATERS, FRAMES, SLICES, BOX = 700, 20, 240, (30.0, 30.0, 60.0)
SIGMA = 1.0

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
    width = BOX[2] / SLICES
    field = integral(charge, width) * ELEMENTARY / (EPSILON_0 * 1e-10)
    return field, -integral(field, width)


def from_first_slice(profile):
    """A profile at the slices' middles, with field and potential 0 at the first of them."""
    z, field, potential = (getattr(profile, name)[1::2] for name in ("distance", "field", "potential"))
    return field - field[0], potential - potential[0] + field[0] * (z - z[0])


def smoothed(charge):
    k = 2 * np.pi * np.fft.rfftfreq(SLICES, BOX[2] / SLICES)
    return np.fft.irfft(np.fft.rfft(charge) * np.exp(-(SIGMA * k) ** 2 / 2), SLICES)


class Compared:
    """The same frames by all of them, as shares of a root mean square."""

    def __init__(self, folder):
        make_frames(folder)
        gmx(folder, "potential", "-f", "run.xtc", "-s", "run.tpr", "-d", "Z", "-sl", str(SLICES), "-o", "potential.xvg",
            "-oc", "charge.xvg", "-of", "field.xvg", stdin="0\n")
        self.universe = MDAnalysis.Universe(str(folder / "run.tpr"), str(folder / "run.xtc"))
        self.charge, self.field, self.potential = (columns(folder / f"{name}.xvg")[1]
                                                   for name in ("charge", "field", "potential"))
        self.charge, self.field = self.charge / 1000, self.field / 10  # of nm to A
        self.dims = (30, 30, 2 * SLICES)
        self.average = leyden.average(self.universe, profile="z", boundary="one-side", smooth=SIGMA, tol=1e-5,
                                      dims=self.dims, units="V", engine="cpu")

    def counted(self):
        """Charges in slices, counted here: (SLICES,), e/A^3."""
        count = np.zeros(SLICES)
        for frame in self.universe.trajectory:
            z = frame.positions[:, 2].astype(float) % BOX[2]
            count += np.bincount((z / BOX[2] * SLICES).astype(int) % SLICES, self.universe.atoms.charges, SLICES)
        return count / (FRAMES * BOX[0] * BOX[1] * BOX[2] / SLICES)

    def of_mdanalysis(self):
        """The charge density by LinearDensity, e/A^3."""
        from MDAnalysis.analysis.lineardensity import LinearDensity
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = LinearDensity(self.universe.atoms, binsize=BOX[2] / SLICES).run().results.z.charge_density
        return found / (1 / 0.602214076)  # of e mol/cm^3

    def of_pmepot(self):
        """Plane means of PMEPot's map and, at the same points, of the exact profile; V."""
        options = {"smooth": 2.0 ** 0.5 / 0.5, "dims": (30, 30, 60), "units": "V", "profile": "z", "engine": "cpu"}
        exact = leyden.average(self.universe, **options).profiles["z"].potential
        rough = leyden.average(self.universe, convention="pmepot", **options).profiles["z"].potential
        return rough, exact


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    if shutil.which("gmx") is None:
        pytest.skip("gmx is not installed")
    return Compared(tmp_path_factory.mktemp("gmx"))


def test_its_slices_are_counted_charges(compared):
    assert off(compared.charge, compared.counted()) < 1e-3
    field, potential = twice(compared.charge)
    assert off(compared.field, field) < 1e-4 and off(compared.potential, potential) < 1e-4


def test_profile_is_its_integral_of_smoothed_charges(compared):
    field, potential = from_first_slice(compared.average.profiles["z"])
    smooth_field, smooth_potential = twice(smoothed(compared.charge))
    assert off(smooth_potential, potential) < 2e-3 and off(smooth_field, field) < 1e-2
    assert off(compared.potential, potential) < 2e-2  # without smoothing, which long waves do not see


def main():
    with tempfile.TemporaryDirectory() as folder:
        c = Compared(Path(folder))
        potential = from_first_slice(c.average.profiles["z"])[1]
        mdanalysis = twice(c.of_mdanalysis())[1]
        rows = [("leyden, `boundary=\"one-side\"`", np.ptp(potential), 0.0),
                ("`gmx potential`", np.ptp(c.potential), off(c.potential, potential)),
                ("`gmx potential`, its charges smoothed by the same Gaussian", np.ptp(twice(smoothed(c.charge))[1]),
                 off(twice(smoothed(c.charge))[1], potential)),
                ("MDAnalysis's `LinearDensity`, integrated twice", np.ptp(mdanalysis), off(mdanalysis, potential))]
        print("| | highest less lowest potential, V | RMS difference from leyden's |\n|---|---|---|")
        for name, height, difference in rows:
            print(f"| {name} | {height:.4f} | {100 * difference:.2g} % |")


if __name__ == "__main__":
    sys.exit(main())
