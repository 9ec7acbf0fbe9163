"""The potential of a protein, and its average over a trajectory.

    python3 protein.py [MOLECULE.pqr] [FOLDER]

What is drawn and saved goes to FOLDER. The trajectory is made here, as the protein's own motion is
not at hand: its atoms shake by half an Angstrom. With a real one, `universe` is
MDAnalysis.Universe(topology, trajectory).
"""
# %% What it needs: the package; MDAnalysis for the trajectory, matplotlib for the picture.
import sys
from pathlib import Path

import numpy as np

import leyden

molecule = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/apbs/examples/misc/fas2.pqr"
folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")

# %% A protein: charges and radii come with a PQR file.
protein = leyden.Atoms(molecule)
print(protein)

# %% Its potential in water everywhere, kT/e, on a grid around it, 1 A from point to point.
grid = leyden.Grid.around(protein, spacing=1.0, padding=8.0)
potential = leyden.map(protein, grid, dielectric=78.54)
accuracy = potential.report["accuracy"]
print(f"{potential}, method {potential.report['method']}, off by {accuracy['relative_rms']:.1g}")
potential.save(folder / "protein.dx")

# %% Where it is strongest, beyond 3 A of every atom.
points = grid.points()
outside = np.array([np.linalg.norm(protein.positions - point, axis=1).min() > 3 for point in points])
values = np.where(outside, np.abs(potential.values.ravel()), 0)
for i in np.argsort(-values)[:3]:
    print(f"{potential.values.ravel()[i]:+.2f} kT/e at {points[i].round(1).tolist()}")

# %% The field along a line through its middle.
centre = protein.bounds.mean(axis=0)
line = centre + np.linspace(-40, 40, 81)[:, None] * [1, 0, 0]
on_line = leyden.points(protein, line, dielectric=78.54, field=True)
print(f"along x: {on_line.values.min():+.2f} to {on_line.values.max():+.2f} {on_line.units}, "
      f"strongest field {np.linalg.norm(on_line.field, axis=1).max():.2f} {on_line.units}/A")

# %% A picture of the plane through the middle.
try:
    import matplotlib

    matplotlib.use("Agg")
    potential.slice("z", at=centre[2]).plot().figure.savefig(folder / "protein.png", dpi=150)
    print("drawn: protein.png")
except ImportError:
    print("matplotlib is not installed: nothing is drawn")

# %% A time average: one map per frame, all on one grid and one engine.
try:
    import MDAnalysis
    from MDAnalysis.coordinates.memory import MemoryReader
except ImportError:
    print("MDAnalysis is not installed: no trajectory")
    sys.exit(0)

frames = 5
shaking = np.random.default_rng(1).normal(scale=0.5, size=(frames, len(protein), 3))
universe = MDAnalysis.Universe.empty(len(protein), trajectory=True)
universe.add_TopologyAttr("charges", protein.charges)
universe.add_TopologyAttr("radii", protein.radii)
universe.load_new(protein.positions + shaking, format=MemoryReader)

average = np.zeros(grid.shape)
with leyden.Plan(universe, grid, dielectric=78.54) as plan:
    for _ in universe.trajectory:
        average += plan.run(universe).values
average /= frames

mean = leyden.Map(average, grid, potential.units)
mean.save(folder / "mean.dx")
off = np.linalg.norm((mean - potential).values) / np.linalg.norm(potential.values)
print(f"average over {frames} frames: {mean}, {off:.2f} from the still protein's, root mean square")
