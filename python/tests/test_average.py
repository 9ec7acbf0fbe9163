"""leyden.average(): against explicit sums over wave vectors (judge.py)."""
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import judge
import leyden
from conftest import BOX as WALK_BOX, Topology, ewald
from judge import vectors
from leyden._average import _Checkpoint

BOX = np.array([20.0, 18, 24, 90, 90, 90])
OBLIQUE = np.array([20.0, 19, 22, 70, 100, 65])
DIMS = (12, 10, 16)


def walk(frames=6, atoms=50, box=BOX, seed=1, scale=None):
    """Frames of charges that walk in cells that breathe, by `scale`; positions, boxes, charges."""
    random = np.random.default_rng(seed)
    boxes = np.array([box] * frames, np.float64)
    if scale is not None:
        boxes[:, :3] *= 1 + scale * np.sin(np.arange(frames))[:, None] * [1, 0.5, -0.7]
    s = random.uniform(0, 1, (atoms, 3)) + np.cumsum(random.normal(0, 0.02, (frames, atoms, 3)), axis=0)
    charges = random.uniform(-1, 1, atoms).round(3)
    charges[-1] -= charges.sum()
    return np.einsum("fas,fsx->fax", s, vectors(boxes)).astype(np.float32), boxes, charges


def like(x, boxes, charges):
    return Topology(charges, list(zip(x, boxes)))


def right(x, boxes, charges, sigma=2.83, origin=(0, 0, 0)):
    """(frames, nz, ny, nx), kT/e."""
    return np.array([judge.on_grid(xt, charges, cell, DIMS, sigma, origin) for xt, cell in zip(x, vectors(boxes))])


def all_points():
    k, j, i = np.indices(DIMS[::-1]).reshape(3, -1)
    return np.stack([i, j, k], axis=1) / np.array(DIMS)


def test_the_judges_agree():
    x, _, charges = walk(frames=1, box=OBLIQUE)
    fractions, cell = all_points()[::97], vectors(OBLIQUE)[0]
    for sigma in 1.2, 2.83:
        one = judge.smoothed(x[0], charges, cell, fractions, sigma)
        two = judge.on_grid(x[0], charges, cell, DIMS, sigma).ravel()[::97]
        assert np.abs(one - two).max() < 1e-9 * np.abs(one).max()
    # Short-range terms that are left out: points and charges far from each other have none.
    charges = np.array([1.0, -1])
    one = judge.smoothed([[1, 1, 1], [1, 9, 1]], charges, np.eye(3) * 20, [[0.5, 0.5, 0.6]], 1.0)
    assert one == pytest.approx(ewald(np.array([[1.0, 1, 1], [1, 9, 1]]), charges, np.eye(3) * 20, np.array(
        [[10.0, 10, 12]])) * 298.15 / 300, rel=1e-6)


def off(values, exact):
    """Relative to the root mean square."""
    values, exact = np.ravel(values), np.ravel(exact)
    return math.sqrt(np.mean((values - exact) ** 2) / np.mean(exact ** 2))


def same(one, other):
    """To the bit, without pages of numbers where they are not."""
    return bool(np.array_equal(one, other))


# ---- What it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize("box", [BOX, OBLIQUE], ids=["box", "oblique"])
@pytest.mark.parametrize("sigma, tol", [(2.83, 1e-4), (1.2, 1e-5)])
def test_mean(engine, box, sigma, tol):
    x, boxes, charges = walk(box=box)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, smooth=sigma, tol=tol, engine=engine)
    assert off(made.mean, right(x, boxes, charges, sigma).mean(axis=0)) < tol
    assert made.frames == 6 and made.skipped == 0 and made.units == "kT/e" and made.deviation is None
    assert np.allclose(made.cell, vectors(box)[0]) and np.allclose(made.mean.grid.step * np.array(DIMS)[:, None], made.cell)
    assert made.mean.shape == DIMS[::-1] and 0 < made.report["relative_rms"] < tol
    assert made.report["checked_frames"] >= 1 and made.report["cell_difference"] is None


def test_origin_units_medium_and_parts(engine):
    x, boxes, charges = walk()
    universe = like(x, boxes, charges)
    made = leyden.average(universe, dims=DIMS, origin=(0.25, 0, 0.5), units="V", dielectric=2, start=1, stop=6, step=2,
                          engine=engine)
    exact = right(x[1::2], boxes[1::2], charges, origin=(0.25, 0, 0.5)).mean(axis=0)
    assert off(made.mean, exact * judge.VOLT / judge.constant() / 2) < 1e-4
    assert made.frames == 3 and made.units == "V"
    assert np.allclose(made.mean.grid.origin, [5, 0, 12])
    warm = leyden.average(universe, dims=DIMS, temperature=600, epsilon=2, start=1, step=2, device=engine)
    cold = leyden.average(universe, dims=DIMS, start=1, step=2, engine=engine)
    assert off(4 * warm.mean.values, cold.mean.values) < 1e-6
    assert leyden.average(universe, spacing=2.1, engine=engine).mean.grid.n == (10, 9, 11)
    assert np.allclose(made.mean.interpolate(np.array([[5.0, 0, 12], [25, 18, 36]])), made.mean.values[0, 0, 0])


def test_a_charge_on_a_line(engine):
    """It goes once through the cell along x by equal steps, which leave the waves across x alone."""
    n, cell = 16, np.diag(BOX[:3])
    x = np.zeros((n, 1, 3))
    x[:, 0] = [7, 5, 3]
    x[:, 0, 0] += np.arange(n) * BOX[0] / n
    made = leyden.average(like(x.astype(np.float32), [BOX] * n, np.ones(1)), dims=DIMS, engine=engine, blocks=4)
    values = made.mean.values.astype(float)
    assert np.ptp(values, axis=2).max() < 1e-4 * np.sqrt(np.mean(values ** 2)) * 10
    dual, exact = 2 * np.pi / BOX[1:3], np.zeros((16, 10))
    z, y = np.arange(16) * BOX[2] / 16, np.arange(10) * BOX[1] / 10
    for ky, kz in (np.stack(np.meshgrid(np.arange(-20, 21), np.arange(-20, 21)), -1).reshape(-1, 2) * dual):
        k2 = ky * ky + kz * kz
        if k2 > 0:
            exact += 4 * np.pi / np.linalg.det(cell) * math.exp(-2.83 ** 2 * k2 / 2) / k2 * np.cos(
                ky * (y[None] - 5) + kz * (z[:, None] - 3))
    assert off(values.mean(axis=2), judge.constant() * exact) < 1e-4
    assert made.error is not None


def test_cells_that_change(engine):
    x, boxes, charges = walk(frames=8, scale=0.03)
    exact = right(x, boxes, charges).mean(axis=0)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, exact_cells=True, engine=engine)
    assert off(made.mean, exact) < 1e-4 and made.report["cell_difference"] is None
    assert np.allclose(made.cell, vectors(boxes).mean(axis=0))
    made = leyden.average(like(x, boxes, charges), dims=DIMS, engine=engine)
    s = np.einsum("fax,fxs->fas", x, np.linalg.inv(vectors(boxes)))
    mean_cell = vectors(boxes).mean(axis=0)
    fractional = np.mean([judge.on_grid(st @ mean_cell, charges, mean_cell, DIMS, 2.83) for st in s], axis=0)
    assert off(made.mean, fractional) < 1e-4
    difference = off(fractional, exact)
    assert 1e-3 < difference and difference / 5 < made.report["cell_difference"] < difference * 5
    assert "exact cells differ by" in made.mean.header


def test_deviation_and_error(engine):
    x, boxes, charges = walk(frames=13, scale=0.02)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, deviation=True, blocks=4, engine=engine)
    exact = right(x, boxes, charges)
    assert off(made.mean, exact.mean(axis=0)) < 1e-4
    assert off(made.deviation.values, exact.std(axis=0, ddof=1)) < 1e-3
    blocks = exact[:12].reshape(4, 3, *exact.shape[1:]).mean(axis=1)
    assert made.report["blocks"] == 4 and made.report["block_frames"] == 3
    assert off(made.error.values, blocks.std(axis=0, ddof=1) / 2) < 1e-3
    assert "standard deviation" in made.deviation.header and "4 blocks" in made.error.header
    alone = leyden.average(like(x[:1], boxes[:1], charges), dims=DIMS, deviation=True, engine=engine)
    assert alone.frames == 1 and alone.deviation is None and alone.error is None
    assert off(alone.mean.values, exact[0]) < 1e-4


def test_one_run_and_many(engine):
    x, boxes, charges = walk(frames=5)
    together = leyden.average(like(x, boxes, charges), dims=DIMS, engine=engine).mean.values
    each = [leyden.average(like(x[k:k + 1], boxes[k:k + 1], charges), dims=DIMS, engine=engine).mean.values for k in range(5)]
    assert off(together, np.mean(each, axis=0, dtype=float)) < 2e-6
    assert same(leyden.average(like(x[::-1], boxes, charges), dims=DIMS, engine=engine).mean.values, together)


def test_pmepot(engine):
    """At PMEPot's own nodes: the first one is (K - 1)/(2K) of the vectors before the cell's centre, which is at 0."""
    x, boxes, charges = walk(frames=3, scale=0.03)
    dims = (20, 18, 24)
    made = leyden.average(like(x, boxes, charges), dims=dims, convention="pmepot", engine=engine)
    cell, first = vectors(boxes)[0], made.mean.grid.origin
    assert np.allclose(first, -(np.array(dims) - 1) / (2 * np.array(dims)) @ cell, atol=1e-9)
    exact = np.mean([judge.pmepot(xt - first, charges, cell, dims, 2.83) for xt in x], axis=0).transpose(2, 1, 0)
    better = np.mean([judge.pmepot(xt - first, charges, cell, dims, 2.83, 1) for xt in x], axis=0).transpose(2, 1, 0)
    assert off(made.mean, exact) < 1e-5 < 1e-3 < off(made.mean.values, better)
    assert np.allclose(made.cell, cell) and "convention pmepot" in made.mean.header


def test_point_charges(engine):
    """By the whole pipeline."""
    x, boxes, charges = walk(frames=2, atoms=20)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, smooth=0, tol=1e-3, engine=engine)
    points = all_points() @ vectors(BOX)[0]
    exact = np.mean([ewald(xt.astype(float), charges, vectors(BOX)[0], points) for xt in x], axis=0) * 298.15 / 300
    assert off(made.mean, exact) < 1e-3


# ---- Profiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("box", [BOX, OBLIQUE], ids=["box", "oblique"])
def test_profile(engine, box):
    x, boxes, charges = walk(box=box)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, profile=["x", "z"], blocks=3, engine=engine)
    assert list(made.profiles) == ["x", "z"]
    for axis, word in ((0, "x"), (2, "z")):
        found, cell = made.profiles[word], vectors(box)[0]
        n = DIMS[axis]
        height = np.linalg.det(cell) / np.linalg.norm(np.cross(cell[(axis + 1) % 3], cell[(axis + 2) % 3]))
        assert np.allclose(found.distance, np.arange(n) / n * height)
        each = np.array([judge.profile(xt, charges, cell, axis, found.distance, 2.83) for xt in x])
        for quantity, exact in zip(("charge", "field", "potential"), each.mean(axis=0)):
            assert off(getattr(found, quantity), exact) < 1e-4, quantity
        planes = made.mean.values.mean(axis=tuple(m for m in range(3) if m != 2 - axis), dtype=float)
        assert np.abs(planes - found.potential).max() < 1e-4 * np.sqrt(np.mean(made.mean.values ** 2))
        of_blocks = each.reshape(3, 2, 3, n).mean(axis=1).std(axis=0, ddof=1) / np.sqrt(3)
        assert off(found.potential_error, of_blocks[2]) < 1e-3 and off(found.charge_error, of_blocks[0]) < 1e-3


@pytest.mark.parametrize("boundary", ["symmetric", "one-side"])
def test_boundaries(engine, boundary):
    x, boxes, charges = walk()
    charges = charges + 0.01  # a charge of the whole, whose background is uniform
    made = leyden.average(like(x, boxes, charges), dims=DIMS, profile="z", boundary=boundary, engine=engine)
    found, n = made.profiles["z"], DIMS[2]
    rho, field, potential = np.mean([judge.profile(xt, charges, vectors(BOX)[0], 2, found.distance, 2.83) for xt in x], axis=0)
    if boundary == "symmetric":
        mirror = -np.arange(n) % n
        rho, field, potential = (rho + rho[mirror]) / 2, (field - field[mirror]) / 2, (potential + potential[mirror]) / 2
    else:
        z, start = found.distance, field[0]
        uniform = 4 * np.pi * judge.constant() * charges.sum() / np.prod(BOX[:3])
        potential = potential - potential[0] + start * z - uniform * z ** 2 / 2
        field = field - start + uniform * z
        assert found.field[0] == found.potential[0] == 0
    assert off(found.charge, rho) < 1e-4 and off(found.field, field) < 1e-4 and off(found.potential, potential) < 1e-4


def test_a_profile_as_a_table(engine, tmp_path):
    made = leyden.average(like(*walk()), dims=DIMS, profile="z", engine=engine)
    made.profiles["z"].save(tmp_path / "z.csv")
    lines = (tmp_path / "z.csv").read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert any("profile along z, boundary tin-foil" in line for line in head) and any("frames: 6" in line for line in head)
    assert lines[len(head)].split(",")[:4] == ["distance_A", "charge_e_A3", "field", "potential"]
    table = np.array([line.split(",") for line in lines[len(head) + 1:]], float)
    assert np.allclose(table[:, 3], made.profiles["z"].potential) and table.shape == (16, 7)
    with pytest.raises(leyden.FileError, match="No such file"):
        made.profiles["z"].save(tmp_path / "none" / "z.csv")


@pytest.mark.extra
def test_pictures(engine):
    pytest.importorskip("matplotlib").use("Agg")
    profile = leyden.average(like(*walk()), dims=DIMS, profile="z", engine=engine).profiles["z"]
    line = profile.plot(color="k")
    assert same(line.get_ydata(), profile.potential) and "kT/e" in line.axes.get_ylabel()
    assert profile.plot(line.axes, "charge") .axes is line.axes
    with pytest.raises(leyden.UsageError, match="quantity: 'Potential' is none of potential, field, charge .did you mean"):
        profile.plot(quantity="Potential")
    with pytest.raises(leyden.UsageError, match="ax: matplotlib's axes"):
        profile.plot("z")


# ---- Results and refusals ------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["dx", "mrc", "npy", "raw", "cube", "dx.gz"])
def test_files(engine, tmp_path, ending):
    made = leyden.average(like(*walk()), dims=DIMS, engine=engine)
    made.save(tmp_path / f"mean.{ending}")
    again = leyden.Map(tmp_path / f"mean.{ending}")
    assert off(again.values, made.mean.values) < 1e-5 and np.allclose(again.grid.step, made.mean.grid.step, atol=1e-4)
    if ending in ("dx", "cube"):
        text = (tmp_path / f"mean.{ending}").read_text()
        assert "average, mean over frames" in text
    if ending == "dx":
        for words in ("frames: 6", "mean cell: a (20, 0, 0)", "sigma 2.83 A", "convention exact", "relative RMS"):
            assert words in text, words
    if ending == "raw":
        assert json.loads((tmp_path / "mean.raw.json").read_text())["facts"]["frames"] == 6


def test_what_is_shown(engine):
    made = leyden.average(like(*walk()), dims=DIMS, profile="z", engine=engine)
    assert repr(made) == "<leyden.Average: 6 frames, 12 x 10 x 16 points, kT/e, error, profile along z>"
    assert repr(made.profiles["z"]) == "<leyden.Profile: 16 planes along z, kT/e, tin-foil>"
    assert "mean cell" in made._repr_html_() and "20.0, 18.0, 24.0" in made._repr_html_()
    json.dumps(made.report, allow_nan=False)
    with pytest.raises(AttributeError, match="did you mean average.mean.values"):
        made.values
    with pytest.raises(AttributeError, match=r"did you mean leyden.average\("):
        leyden.pmepot


@pytest.mark.parametrize("arguments, kind, says", [
    (dict(dims=(4, 4, 4), spacing=1), leyden.UsageError, "dims and spacing exclude each other"),
    (dict(convention="pme"), leyden.UsageError, "convention: 'pme' is none of exact, pmepot .did you mean 'pmepot'"),
    (dict(boundary="tinfoil"), leyden.UsageError, "boundary: 'tinfoil' is none of tin-foil, symmetric, one-side .did you mean"),
    (dict(profile="z", smooth=0), leyden.UsageError, "profile: it is of smoothed charges, and smooth is 0"),
    (dict(convention="pmepot", deviation=True), leyden.UsageError, "pmepot has the first frame's cell for all"),
    (dict(convention="pmepot", origin=(0, 0, 0)), leyden.UsageError, "origin is for convention 'exact'"),
    (dict(profile="w"), leyden.UsageError, "an axis is x, y or z, not 'w'"),
    (dict(blocks=-1), leyden.UsageError, "blocks: a whole number"), (dict(blocks=2.5), leyden.UsageError, "blocks: "),
    (dict(smooth=-1), leyden.UsageError, "smooth"), (dict(tol=1), leyden.UsageError, "tol"),
    (dict(smooth="wide"), leyden.UsageError, "smooth: a number is needed, not 'wide'"),
    (dict(temperature=0), leyden.UsageError, "temperature: 0 is out of range"),
    (dict(dielectric=0), leyden.UsageError, "dielectric: 0 is out of range"),
    (dict(engine="host"), leyden.UsageError, "engine: averages are computed by devices"),
    (dict(progress=3), leyden.UsageError, "progress is None, True or a callable"),
    (dict(ewaldfactor=0.25), TypeError, r"unexpected keyword argument 'ewaldfactor' .did you mean smooth=2.83"),
    (dict(sel="all"), TypeError, r"did you mean select="), (dict(padding=3), TypeError, "maps of averages are over the cell"),
    (dict(method="msm"), TypeError, "leyden.Plan has methods"), (dict(origin=(1, 2)), leyden.InputError, "origin has the shape"),
])
def test_refusals(engine, arguments, kind, says):
    with pytest.raises(kind, match=says):
        leyden.average(like(*walk(frames=2)), **{"engine": engine, **arguments})


def test_charges_that_are_none(engine):
    x, boxes, charges = walk(frames=2)
    with pytest.raises(leyden.InputError, match="zero|charge"):
        leyden.average(like(x, boxes, 0 * charges), engine=engine)
    with pytest.raises(leyden.InputError, match="frame 1 .*position of atom 3"):
        x[1, 3] = np.nan
        leyden.average(like(x, boxes, charges), engine=engine)
    made = leyden.average(like(x, boxes, charges), dims=DIMS, engine=engine, skip_bad=True)
    assert made.frames == 1 and made.skipped == 1 and made.report["first_skipped"][0]["number"] == 1
    assert "1 left out" in repr(made) and "1 left out" in made.mean.header


# ---- Interruptions -------------------------------------------------------------------------------


def long_walk():
    return walk(frames=700, atoms=30)


def test_interrupted_and_resumed(engine, tmp_path):
    x, boxes, charges = long_walk()
    x[5, 0] = np.nan
    options = dict(dims=DIMS, engine=engine, skip_bad=True, profile="z", cell=BOX[:3], verify_every=0)
    whole = leyden.average(like(x, boxes, charges), **options)
    told = []

    def stop(progress):
        told.append(progress)
        if progress.frames_done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        leyden.average(like(x, boxes, charges), checkpoint=tmp_path / "sums", progress=stop, **options)
    part = raised.value.average
    assert 200 <= part.frames < 699 and part.skipped == 1 and told[-1].frames_total == 700 and told[-1].frames_per_s > 0
    again = leyden.average(like(x[:part.frames + 1], boxes, charges), **options)
    assert off(part.mean.values, again.mean.values) < 1e-6
    resumed = leyden.average(like(x, boxes, charges), checkpoint=tmp_path / "sums", **options)
    assert resumed.frames == 699 and resumed.skipped == 1
    assert same(resumed.mean.values, whole.mean.values) and same(resumed.error.values, whole.error.values)
    assert same(resumed.profiles["z"].potential, whole.profiles["z"].potential)
    at_once = leyden.average(like(x, boxes, charges), checkpoint=tmp_path / "sums", **options)
    assert same(at_once.mean.values, whole.mean.values) and at_once.frames == 699


def test_checkpoints_of_other_runs(engine, tmp_path):
    x, boxes, charges = walk(frames=6)
    options = dict(dims=DIMS, engine=engine, checkpoint=tmp_path / "sums")
    leyden.average(like(x, boxes, charges), **options)
    with pytest.raises(leyden.InputError, match="sums is of another run, whose first frame is 0, and not 1: delete it"):
        leyden.average(like(x, boxes, charges), start=1, **options)
    with pytest.raises(leyden.InputError):
        leyden.average(like(x, boxes, charges), smooth=2, **options)
    with pytest.raises(leyden.InputError):
        leyden.average(like(x, boxes, charges[::-1]), **options)
    (tmp_path / "sums.frames").write_text("{")
    with pytest.raises(leyden.InputError, match="sums.frames is damaged"):
        leyden.average(like(x, boxes, charges), **options)
    (tmp_path / "sums.frames").unlink()
    with pytest.raises(leyden.FileError, match="it says of which frames .*sums is"):
        leyden.average(like(x, boxes, charges), **options)
    (tmp_path / "sums").unlink()
    assert leyden.average(like(x, boxes, charges), **options).frames == 6


def test_other_jobs_of_the_engine_wait(engine, atoms):
    made, threads = [], []

    def begin(progress):
        if not threads:
            threads.append(threading.Thread(target=lambda: made.append(leyden.map(atoms, spacing=2, padding=2, method="dcs",
                                                                                  engine=engine))))
            threads[0].start()
        assert not made

    x, boxes, charges = long_walk()
    assert leyden.average(like(x, boxes, charges), dims=DIMS, engine=engine, progress=begin).frames == 700
    threads[0].join(timeout=60)
    assert len(made) == 1


class Sums:
    """As much of a run as a checkpoint looks at."""

    def __init__(self, path, count):
        self.path, self.count, self.is_killed = path, count, False

    def save(self, _):
        if self.is_killed:
            raise KeyboardInterrupt
        self.path.touch()

    def load(self, _):
        pass

    def frames(self):
        return self.count


def test_a_checkpoint_between_its_two_files(tmp_path):
    """The sums are those of before where the second file was not written any more."""
    kept, sums = _Checkpoint(tmp_path / "sums", {"step": 1}, 60), Sums(tmp_path / "sums", 10)
    kept.save(sums, 10, 11)
    sums.is_killed = True
    with pytest.raises(KeyboardInterrupt):
        kept.save(sums, 20, 22)
    assert _Checkpoint(tmp_path / "sums", {"step": 1}, 60).resume(sums) == (10, 11)
    assert _Checkpoint(tmp_path / "sums", {"step": 1}, 60).resume(Sums(tmp_path / "sums", 20)) == (20, 22)
    with pytest.raises(leyden.InputError, match="whose 15 frames .*sums.frames does not know"):
        _Checkpoint(tmp_path / "sums", {"step": 1}, 60).resume(Sums(tmp_path / "sums", 15))


def test_a_frame_that_ends_a_run_keeps_the_checkpoint(engine, tmp_path):
    x, boxes, charges = long_walk()
    x[650, 0] = np.nan
    options = dict(dims=DIMS, engine=engine, checkpoint=tmp_path / "sums")
    with pytest.raises(leyden.InputError, match="frame 650 "):
        leyden.average(like(x, boxes, charges), **options)
    marks = json.loads((tmp_path / "sums.frames").read_text())["marks"]
    assert marks[-1][0] == marks[-1][1] > 0
    assert leyden.average(like(x, boxes, charges), skip_bad=True, **options).frames == 699


# ---- With MDAnalysis -----------------------------------------------------------------------------


def data(*names):
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    pytest.importorskip("MDAnalysis")
    found = [getattr(files, name) for name in names]
    return [str(name) for name in found]


@pytest.mark.extra
@pytest.mark.parametrize("names, options", [
    (("PSF", "DCD"), dict(cell=(60, 60, 60), stop=3)), (("TPR", "XTC"), dict(stop=1)), (("TPR", "TRR"), dict(start=3, stop=4)),
    (("PRM_NCBOX", "TRJ_NCBOX"), {}), (("PSF_TRICLINIC", "DCD_TRICLINIC"), {}),
    (("TPR_xvf", "H5MD_xvf"), dict(stop=1))], ids=lambda value: value[1] if isinstance(value, tuple) else "")
def test_real_trajectories(engine, names, options):
    if "H5MD_xvf" in names:
        pytest.importorskip("h5py")
    topology, trajectory = data(*names)
    made = leyden.average(topology, trajectory, dims=DIMS, engine=engine, exact_cells=True, **options)
    import MDAnalysis
    from MDAnalysis.lib.mdamath import triclinic_vectors
    universe = MDAnalysis.Universe(topology, trajectory)
    exact = []
    for ts in universe.trajectory[options.get("start"):options.get("stop")]:
        cell = np.diag(options["cell"]).astype(float) if "cell" in options else triclinic_vectors(ts.dimensions, dtype=np.float64)
        if "DCD_TRICLINIC" in names:  # CHARMM's own vectors, which MDAnalysis turns
            universe.trajectory._file.seek(ts.frame)
            xx, xy, yy, xz, yz, zz = universe.trajectory._file.read().unitcell
            cell = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        exact.append(judge.on_grid(ts.positions, universe.atoms.charges, cell, DIMS, 2.83))
    assert made.frames == len(exact) and off(made.mean.values, np.mean(exact, axis=0)) < 1e-4


@pytest.mark.extra
def test_a_gro_file_has_no_charges(engine):
    with pytest.raises(leyden.InputError, match="no charges: they come with one of a simulation program, as .psf, .prmtop, .tpr"):
        leyden.average(*data("GRO", "XTC"), engine=engine)


@pytest.mark.extra
def test_readers_and_selections(engine, files):
    import MDAnalysis
    topology, trajectory = files("xtc", 300)
    one, two = (leyden.average(topology, trajectory, select="index 2:17 30", dims=DIMS, engine=engine, readers=readers)
                for readers in (1, 2))
    assert two.report["readers"] == 2 and same(one.mean.values, two.mean.values) and same(one.error.values, two.error.values)
    group = MDAnalysis.Universe(topology, trajectory).select_atoms("index 2:17 30")
    three = leyden.average(group, dims=DIMS, engine=engine)
    assert same(one.mean.values, three.mean.values) and three.report["atoms"] == 17
    exact = right([ts.positions[group.indices] for ts in group.universe.trajectory], np.tile(WALK_BOX, (300, 1)), group.charges)
    assert off(one.mean, exact.mean(axis=0)) < 1e-4


PROGRAM = """
import sys, leyden
def tell(progress):
    print(progress.frames_done, flush=True)
leyden.average(*sys.argv[1:3], dims=(16, 16, 16), checkpoint=sys.argv[3], checkpoint_s=0, progress=tell, engine="cpu")
"""


@pytest.mark.extra
def test_killed_and_resumed(engine, files, tmp_path):
    topology, trajectory = files("dcd", 4000)
    sums = tmp_path / "sums"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, topology, trajectory, str(sums)], stdout=subprocess.PIPE) as running:
        assert int(running.stdout.readline()) < 4000
        while not sums.exists():
            time.sleep(0.001)
        running.send_signal(signal.SIGKILL)
        running.wait()
    marks = json.loads((tmp_path / "sums.frames").read_text())["marks"]
    assert 0 < marks[-1][0] < 4000
    options = dict(dims=(16, 16, 16), engine=engine)
    resumed = leyden.average(topology, trajectory, checkpoint=sums, **options)
    whole = leyden.average(topology, trajectory, **options)
    assert resumed.frames == whole.frames == 4000 and same(resumed.mean.values, whole.mean.values)
    assert same(resumed.error.values, whole.error.values)


def run(*words, **more):
    return subprocess.run([sys.executable, "-m", "leyden", "average", *map(str, words)], capture_output=True, text=True,
                          check=False, **more)


@pytest.mark.extra
def test_the_command(files, tmp_path):
    topology, trajectory = files("dcd", 30)
    done = run(topology, trajectory, "-o", tmp_path / "mean.mrc", "--dims", "8,8,8", "--deviation", tmp_path / "deviation.npy",
               "--error", tmp_path / "error.npy", "--profile", "z,x", "--profile-csv", tmp_path / "p.csv", "--device", "cpu",
               "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["trajectory", "grid", "method", "time", "written"]
    assert lines[0].endswith("30 frames, 40 atoms, total charge +0.0000 e") and "8 x 8 x 8 = 512 points" in lines[1]
    assert "sigma 2.83 A" in lines[2] and "relative RMS error" in lines[2] and "frames/s, on " in lines[3]
    for name in ("mean.mrc", "deviation.npy", "error.npy", "p_z.csv", "p_x.csv", "r.json"):
        assert name in lines[4] and (tmp_path / name).exists(), name
    assert json.loads((tmp_path / "r.json").read_text())["frames"] == 30
    made = leyden.average(topology, trajectory, dims=(8, 8, 8), deviation=True, engine="cpu")
    assert off(leyden.Map(tmp_path / "mean.mrc").values, made.mean.values) < 1e-6
    assert off(np.load(tmp_path / "deviation.npy"), made.deviation.values) < 1e-6
    for resumed in "on ", "s, 30 frames from":  # of nothing, and of all
        done = run(topology, trajectory, "-o", "a.mrc", "--dims", "8,8,8", "--device", "cpu", "--checkpoint", "sums", cwd=tmp_path)
        time = done.stdout.splitlines()[3]
        assert done.returncode == 0 and resumed in time and ("frames/s, on " in time) == (resumed == "on "), done.stdout
    done = run(topology, trajectory, "-o", "a.dx", "--dims", "8,8,8", "--device", "cpu", "--cell", "20,20,20,60,60,90", cwd=tmp_path)
    assert "mean cell 20 x 20 x 20 A, angles 60, 60, 90 degrees" in done.stdout
    assert "leyden: warning: a.dx: the grid is oblique" in done.stderr and "padding" not in done.stderr
    done = run(topology, trajectory, "-o", tmp_path / "quiet.mrc", "--dims", "8,8,8", "--device", "cpu", "-q")
    assert done.returncode == 0 and not done.stdout and not done.stderr
    with pytest.importorskip("matplotlib").rc_context():
        done = run(topology, trajectory, "--profile", "z", "--profile-picture", tmp_path / "p.png", "-v", "--device", "cpu")
    assert done.returncode == 0 and (tmp_path / "p.png").stat().st_size > 5000 and "mean cell: a (20, 0, 0)" in done.stdout


@pytest.mark.extra
@pytest.mark.parametrize("code, says, words", [
    (1, "nothing is to be written: -o mean.dx", []), (1, "no map is written in a form with this ending", ["-o", "mean.txt"]),
    (1, "--profile goes with a file", ["-o", "mean.dx", "--profile", "z"]),
    (1, "--dims: '8,8' is no list of 3 numbers", ["-o", "mean.dx", "--dims", "8,8"]),
    (1, "select 'name QQ': there is no such atom", ["-o", "mean.dx", "--select", "name QQ"]),
    (1, "not allowed with argument", ["-o", "mean.dx", "--one-side", "--symmetric"]),
    (2, "there is no such folder", ["-o", "/nonexistent/mean.dx"]), (1, "leave no frame", ["-o", "mean.dx", "--start", "30"]),
    (1, "--error needs at least two blocks", ["-o", "mean.mrc", "--error", "e.mrc", "--blocks", "0"]),
    (1, "'TOPOLOGY': TOPOLOGY is read as well: another name is needed", ["-o", "mean.dx", "--json", "TOPOLOGY"]),
    (1, "TRAJECTORY is read as well", ["--profile", "z", "--profile-csv", "TRAJECTORY"]),
    (1, "TRAJECTORY is read as well", ["-o", "mean.dx", "--checkpoint", "TRAJECTORY"]),
    (1, "'./mean.dx': mean.dx is written twice", ["-o", "mean.dx", "--deviation", "./mean.dx"]),
    (1, "is written twice", ["-o", "mean.dx", "--checkpoint", "c", "--json", "c.frames"]),
    (2, ".: Is a directory", ["-o", "mean.dx", "--json", "."]),
])
def test_mistakes(files, tmp_path, code, says, words):
    topology, trajectory = files("dcd", 30)
    names = topology, trajectory
    before = [Path(name).read_bytes() for name in names]
    given = {"TOPOLOGY": topology, "TRAJECTORY": trajectory}
    for word, name in given.items():
        says = says.replace(word, name)
    done = run(topology, trajectory, *(given.get(word, word) for word in words), cwd=tmp_path)
    assert before == [Path(name).read_bytes() for name in names]
    assert done.returncode == code and says in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 or "usage" in done.stderr
    assert not os.listdir(tmp_path)


@pytest.mark.extra
def test_frames_without_a_cell(files, tmp_path):
    """The command names options, not Python's arguments."""
    done = run(*files("dcd", 10, name="open", boxes=None), "-o", "mean.dx", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--cell a,b,c" in done.stderr and "--skip-bad" in done.stderr
    assert "=" not in done.stderr.split("(counted from 0)")[1]


# The command, which says when it has begun.
SPEAKING = """
import sys
import leyden._average_command as command
from leyden.__main__ import main
average = command.average
command.average = lambda *files, **options: average(*files, **{**options, "progress": lambda _: print("began", flush=True)})
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.extra
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command(files, tmp_path, number, code):
    """It writes the mean so far."""
    topology, trajectory = files("dcd", 4000)
    words = [topology, *[trajectory] * 20, "-o", "mean.mrc", "--spacing", "0.5", "--checkpoint", "sums", "--device", "cpu",
             "--deviation", "deviation.mrc"]
    with subprocess.Popen([sys.executable, "-c", SPEAKING, "average", *words], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "began\n"
        running.send_signal(number)
        out, err = running.communicate(timeout=100)
    assert running.returncode == code, err
    assert "interrupted after " in err and " of 80000 frames" in err and "frames, 40 atoms" in out
    assert all((tmp_path / name).exists() for name in ("mean.mrc", "deviation.mrc", "sums", "sums.frames"))
