"""leyden.density_map() and leyden.fit_score() against NumPy."""
import os
import subprocess
import sys

import numpy as np
import pytest

import leyden

RESOLUTION = 5.0
SIGMA = RESOLUTION / (np.pi * np.sqrt(2))


def some_frames(count=300, frames=5, seed=3):
    random = np.random.default_rng(seed)
    first = random.uniform(0, 22, (count, 3))
    return (first + random.normal(0, 1.0, (frames, count, 3)) * np.arange(frames)[:, None, None]).astype(np.float32)


def numpy_density(x, weights, grid):
    """ChimeraX's formula, atom by atom."""
    nx, ny, nz = grid.n
    axes = [grid.origin[d] + grid.spacing[d] * np.arange(n) for d, n in enumerate((nx, ny, nz))]
    rho = np.zeros((nz, ny, nx))
    for place, weight in zip(np.asarray(x, float), weights):
        e = [np.where(abs(axis - p) <= 5 * SIGMA, np.exp(-(axis - p) ** 2 / (2 * SIGMA ** 2)), 0) for axis, p in zip(axes, place)]
        rho += weight * (2 * np.pi * SIGMA ** 2) ** -1.5 * e[2][:, None, None] * e[1][:, None] * e[0]
    return rho


@pytest.fixture(name="problem")
def make_problem():
    x = some_frames()
    weights = np.tile([1, 6, 7, 8, 1], 60).astype(float)
    grid = leyden.Grid((-6, -6, -6), spacing=RESOLUTION / 3, n=(22, 21, 20))
    return x, weights, grid, numpy_density(x[0], weights, grid)


def atoms_of(x):
    return leyden.Atoms(x, np.ones(len(x)))


@pytest.mark.parametrize("engine", ["host", None])
def test_density_is_that_of_the_formula(problem, engine, tmp_path):
    x, weights, grid, right = problem
    found = leyden.density_map(atoms_of(x[0]), resolution=RESOLUTION, weights=weights, grid=grid, engine=engine)
    assert abs(found.values - right).max() < 1e-6 * right.max()
    wide = leyden.density_map(atoms_of(x[0]), resolution=RESOLUTION, weights=weights)
    assert wide.values.sum() * np.prod(wide.grid.spacing) == pytest.approx(weights.sum(), rel=1e-4)
    like = leyden.density_map(atoms_of(x[0]), resolution=RESOLUTION, weights=weights, like=found)
    assert like.grid.n == grid.n
    like.save(tmp_path / "a.mrc")
    assert b"DENSITY OF ATOMS" in (tmp_path / "a.mrc").read_bytes()[:400] and "density of 300 atoms" in like._repr_html_()
    assert np.array_equal(leyden.Map(tmp_path / "a.mrc").values, like.values)


def test_what_is_wrong_is_refused(problem):
    x, weights, grid, _ = problem
    with pytest.raises(leyden.InputError, match="finer than the grid"):
        leyden.density_map(atoms_of(x[0]), resolution=1, weights=weights, grid=grid)
    with pytest.raises(leyden.InputError, match="no name"):
        leyden.density_map(atoms_of(x[0]), resolution=RESOLUTION)
    with pytest.raises(leyden.UsageError, match="exclude each other"):
        leyden.density_map(atoms_of(x[0]), weights=weights, grid=grid, spacing=1)
    with pytest.raises(leyden.UsageError, match="form"):
        leyden.density_map(atoms_of(x[0]), weights=weights, form="neutron")


@pytest.mark.parametrize("form", ["xray", "electron"])
def test_form_factors_are_gemmis(problem, form, tmp_path):
    pytest.importorskip("gemmi")
    x, _, grid, right = problem
    lines = [f"ATOM {i + 1} {'HCNOH'[i % 5]} ALA A {i // 10 + 1} {a:.3f} {b:.3f} {c:.3f} 0.1 0" for i, (a, b, c) in enumerate(x[0])]
    (tmp_path / "a.pqr").write_text("\n".join(lines))
    made = leyden.density_map(str(tmp_path / "a.pqr"), resolution=RESOLUTION, grid=grid, form=form)
    assert np.corrcoef(made.values.ravel(), right.ravel())[0, 1] > 0.97 and form in made.header
    made.save(tmp_path / "a.mrc")
    assert b"DENSITY OF ATOMS" in (tmp_path / "a.mrc").read_bytes()[:400]
    with pytest.raises(leyden.InputError, match="finer than the grid"):
        leyden.density_map(str(tmp_path / "a.pqr"), resolution=1, grid=grid, form=form)


def universe_of(x):
    mda = pytest.importorskip("MDAnalysis")
    universe = mda.Universe.empty(x.shape[1], x.shape[1] // 10, atom_resindex=np.arange(x.shape[1]) // 10, trajectory=True)
    for name, values in (("elements", np.tile(["H", "C", "N", "O", "H"], x.shape[1] // 5)),
                         ("names", np.tile(["H", "C", "N", "O", "H"], x.shape[1] // 5)),
                         ("resids", np.arange(1, x.shape[1] // 10 + 1)), ("resnames", ["ALA"] * (x.shape[1] // 10))):
        universe.add_TopologyAttr(name, values)
    universe.load_new(x, order="fac")
    return universe


def test_whatever_has_atoms_has_a_density(problem, tmp_path):
    """Of a PQR file elements are those of the names; files and Structures that others read need no charges."""
    x, weights, grid, right = problem
    lines = [f"ATOM {i + 1} {'HCNOH'[i % 5]} ALA A {i // 10 + 1} {a:.3f} {b:.3f} {c:.3f} 0.1 1.5" for i, (a, b, c) in enumerate(x[0])]
    (tmp_path / "a.pqr").write_text("\n".join(lines))
    (tmp_path / "none.pqr").write_text("\n".join(lines).replace(" 1.5\n", " 0\n"))
    for engine in ("host", None):
        found = leyden.density_map(str(tmp_path / "a.pqr"), resolution=RESOLUTION, grid=grid, engine=engine)
        assert abs(found.values - right).max() < 1e-3 * right.max()
    universe = universe_of(x)
    assert leyden.Grid.around(universe, 1, 3).n == leyden.Grid.around(atoms_of(x[0]), 1, 3).n
    universe.atoms.write(str(tmp_path / "a.pdb"))
    found = leyden.density_map(tmp_path / "a.pdb", resolution=RESOLUTION, grid=grid)
    assert abs(found.values - right).max() < 1e-3 * right.max()
    done = subprocess.run([sys.executable, "-m", "leyden", "density-map", "a.pdb", "-o", "a.mrc", "--resolution", "5", "--spacing", "1"],
                          cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    assert leyden.fit_score(tmp_path / "a.mrc", universe, resolution=RESOLUTION, stop=1).pearson[0] == pytest.approx(1, abs=1e-4)
    structure = pytest.importorskip("parmed").load_file(str(tmp_path / "a.pdb"))
    again = leyden.density_map(structure, resolution=RESOLUTION, grid=grid)
    assert abs(again.values - found.values).max() < 1e-6 * right.max()
    assert leyden.fit_score(found, structure, resolution=RESOLUTION).pearson[0] == pytest.approx(1, abs=1e-6)
    of_radii = [leyden.density_map(of, resolution=RESOLUTION, grid=grid, convention="voltool").values
                for of in (leyden.Atoms(str(tmp_path / "none.pqr")), tmp_path / "a.pdb")]
    assert abs(of_radii[0] - of_radii[1]).max() < 1e-2 * of_radii[1].max()
    with pytest.raises(leyden.UsageError, match="weights: 'masses' is none of .*mean 'mass'"):
        leyden.density_map(universe, weights="masses")


def test_scores_are_those_of_numpy(problem):
    x, weights, grid, right = problem
    universe, values = universe_of(x), right.astype(np.float32)
    values[:3] = np.nan
    counts = np.isfinite(values)
    scores = leyden.fit_score(leyden.Map(values, grid), universe, resolution=RESOLUTION, threshold="mean+deviation",
                              by="residue", gradient=True)
    assert len(scores) == len(x) and scores.local.shape == (len(x), 30) and scores.best == 0
    for frame, places in enumerate(x):
        rho = numpy_density(places, weights, grid)[counts]
        of_map = values[counts]
        assert scores.pearson[frame] == pytest.approx(np.corrcoef(rho, of_map)[0, 1], abs=1e-5)
        assert scores.overlap[frame] == pytest.approx((rho * of_map).sum() / np.sqrt((rho ** 2).sum() * (of_map ** 2).sum()), abs=1e-5)
        high = rho >= rho.mean() + rho.std()
        assert scores.thresholded[frame] == pytest.approx(np.corrcoef(rho[high], of_map[high])[0, 1], abs=1e-4)
    moved, step, atom = x[2].astype(float), 0.01, int(np.argmax(abs(scores.gradient[2]).sum(axis=1)))
    sides = []
    for sign in (1, -1):
        at = moved.copy()
        at[atom, 1] += sign * step
        sides.append(np.corrcoef(numpy_density(at, weights, grid)[counts], values[counts])[0, 1])
    assert scores.gradient[2, atom, 1] == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=0.01)


def test_undefined_is_nan_and_zeros_are_refused(problem):
    x, _, grid, right = problem
    away = x.copy()
    away[1] += 1e4
    scores = leyden.fit_score(leyden.Map(right, grid), universe_of(away), resolution=RESOLUTION)
    assert np.isnan(scores.pearson[1]) and scores.report["undefined"] == 1 and scores.report["first"] == 2
    with pytest.raises(leyden.InputError, match="undefined"):
        leyden.fit_score(leyden.Map(np.zeros_like(right), grid), universe_of(x), resolution=RESOLUTION)


def test_a_run_goes_on_from_its_checkpoint(problem, tmp_path, monkeypatch):
    x, _, grid, right = problem
    right[:2] = np.nan
    universe = universe_of(x)
    universe.atoms.write(str(tmp_path / "a.pdb"))
    universe.atoms.write(str(tmp_path / "a.dcd"), frames="all")

    def run(**given):
        return leyden.fit_score(leyden.Map(right, grid), str(tmp_path / "a.pdb"), str(tmp_path / "a.dcd"), resolution=RESOLUTION,
                                threshold="mean+deviation", gradient=True, by="residue", **given)

    class Stop(Exception):
        pass

    whole, calls = run(), []
    with monkeypatch.context() as patch:
        ran = leyden._fitting._Fit.run

        def run_some(self, *words, **given):
            calls.append(words)
            if len(calls) > 2:
                raise Stop
            return ran(self, *words, **given)

        patch.setattr(leyden._fitting, "_RESULT_BYTES", 1)
        patch.setattr(leyden._fitting._Fit, "run", run_some)
        with pytest.raises(Stop):
            run(checkpoint=tmp_path / "c", checkpoint_s=0)
    again = run(checkpoint=tmp_path / "c")
    assert again.report["resumed_frames"] == 2 and len(again) == len(x)
    for name in ("pearson", "thresholded", "local", "gradient", "thresholds", "frames"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    right[2] = 0
    with pytest.raises(leyden.InputError, match="is of another run, whose map"):
        run(checkpoint=tmp_path / "c")


def test_command_writes_a_table(problem, tmp_path):
    x, _, grid, right = problem
    leyden.Map(right, grid).save(tmp_path / "map.mrc")
    universe = universe_of(x)
    universe.atoms.write(str(tmp_path / "a.pdb"))
    universe.atoms.write(str(tmp_path / "a.dcd"), frames="all")
    command = [sys.executable, "-m", "leyden", "fit-score", "map.mrc", "a.pdb", "a.dcd", "--resolution", "5", "-o", "s.csv", "--by",
               "residue", "--gradient", "g.npy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    table = np.genfromtxt(tmp_path / "s.csv", delimiter=",", names=True, skip_header=1)
    own = leyden.fit_score(leyden.Map(right, grid), universe, resolution=5)
    assert np.allclose(table["pearson"], own.pearson, atol=1e-5) and table.dtype.names[:3] == ("frame", "pearson", "overlap")
    assert np.load(tmp_path / "g.npy").shape == x.shape and (tmp_path / "s_residues.csv").exists()
    assert "which is frame 0" in done.stdout
