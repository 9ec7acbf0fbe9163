"""The mean potential of a membrane and its profile along z, with a picture.

    python3 membrane.py [FOLDER]
    python3 membrane.py FOLDER TOPOLOGY TRAJECTORY...

Without a trajectory one is made up: it is no simulation. Head groups are charges at random places in
layers, water is dipoles that point anywhere, and the cell breathes at random. Such a membrane has a
profile that is known by a formula, which is drawn beside the computed one.
"""
import sys
from pathlib import Path

import matplotlib
import MDAnalysis
import numpy as np
from MDAnalysis.coordinates.memory import MemoryReader

import leyden

matplotlib.use("Agg")

FRAMES, LIPIDS, WATERS, SIGMA = 200, 64, 2000, 2.83
CELL = np.array([64.0, 64.0, 90.0, 90.0, 90.0, 90.0])
# Of each lipid's groups: charge, distance from the membrane's middle and its standard deviation, A.
GROUPS = [(-1.0, 18.0, 1.8), (+1.0, 20.0, 2.5), (-0.9, 14.0, 2.2), (+0.9, 12.5, 2.5)]


def made_up() -> MDAnalysis.Universe:
    """Lipids of four charges in two leaflets, waters of three outside, in cells that breathe."""
    random = np.random.default_rng(2)
    scale = 1 + random.normal(0, 0.004, (FRAMES, 1, 3))
    parts, charges = [], []
    for charge, height, width in GROUPS:
        for side in -1, 1:
            x = random.uniform(0, 1, (FRAMES, LIPIDS, 3)) * CELL[:3]
            x[..., 2] = CELL[2] / 2 + side * random.normal(height, width, (FRAMES, LIPIDS))
            parts.append(x)
            charges += [charge] * LIPIDS
    oxygen = random.uniform(0, 1, (FRAMES, WATERS, 3)) * CELL[:3]
    oxygen[..., 2] = CELL[2] / 2 + 25 + random.uniform(0, CELL[2] - 50, (FRAMES, WATERS))
    first, second = random.normal(size=(2, FRAMES, WATERS, 3))
    first /= np.linalg.norm(first, axis=2, keepdims=True)
    second -= (first * second).sum(axis=2, keepdims=True) * first
    second /= np.linalg.norm(second, axis=2, keepdims=True)
    for side in -1, 1:
        parts.append(oxygen + 0.5859 * first + side * 0.7570 * second)
        charges += [0.417] * WATERS
    parts.append(oxygen)
    charges += [-0.834] * WATERS
    positions = np.concatenate(parts, axis=1) * scale
    universe = MDAnalysis.Universe.empty(positions.shape[1], trajectory=True)
    universe.add_TopologyAttr("charges", charges)
    boxes = np.tile(CELL, (FRAMES, 1))
    boxes[:, :3] *= scale[:, 0]
    universe.load_new(positions.astype(np.float32), format=MemoryReader, dimensions=boxes)
    return universe


def known(z: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """What the profile is in the mean: layers are Gaussians along z, waters negative points in shells of positive charge."""
    area, height = cell[0, 0] * cell[1, 1], cell[2, 2]
    k = 2 * np.pi / height * np.arange(1, 60)
    found = np.zeros_like(z)
    for charge, middle, width in GROUPS:
        wave = LIPIDS * charge * np.exp(-(width ** 2 + SIGMA ** 2) * k ** 2 / 2)
        for side in -1, 1:
            found += 2 / (area * height) * np.cos(np.outer(z - height / 2 - side * middle, k)) @ (wave / k ** 2)
    half, shell = CELL[2] / 2 - 25, np.hypot(0.5859, 0.7570)
    wave = WATERS * 0.834 * np.exp(-(SIGMA * k) ** 2 / 2) * np.sin(k * half) / (k * half) * (np.sin(k * shell) / (k * shell) - 1)
    found += 2 / (area * height) * np.cos(np.outer(z, k)) @ (wave / k ** 2)
    return 4 * np.pi * 557.0 * found  # kT/e A at 300 K


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = sys.argv[2:]
    universe = MDAnalysis.Universe(*files) if files else made_up()
    average = leyden.average(universe, smooth=SIGMA, profile="z", progress=True)
    print(average)
    average.mean.save(folder / "mean.mrc")
    profile = average.profiles["z"]
    profile.save(folder / "profile.csv")
    line = profile.plot(label=f"mean of {average.frames} frames, with its standard error")
    if not files:
        right = known(profile.distance, average.cell)
        line.axes.plot(profile.distance, right, "k--", linewidth=1, label="known mean")
        off = np.abs(profile.potential - right) / profile.potential_error
        print(f"from the known profile off by {np.sqrt(np.mean(off ** 2)):.2f} standard errors, root mean square")
        line.axes.set_title("A made-up membrane, no simulation", fontsize="medium")
    line.axes.legend(loc="upper center", frameon=False)
    line.axes.figure.savefig(folder / "profile.png", dpi=100)


if __name__ == "__main__":
    main()
