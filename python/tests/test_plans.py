"""Plans that run again."""
import numpy as np
import pytest

import leyden


def _atoms(n=400, edge=16.0, seed=1):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, edge, (n, 3))
    return leyden.Atoms.from_arrays(xyz, np.where(np.arange(n) % 2, 0.6, -0.6)), xyz


@pytest.fixture(name="engine")
def _engine():
    with leyden.Engine("cpu") as engine:
        yield engine


def test_runs_are_maps(engine):
    atoms, xyz = _atoms()
    plan = leyden.Plan(atoms, dims=(20, 20, 20), method="msm", tol=1e-4, periodic=True, cell=(16, 16, 16), engine=engine)
    first = plan.run().values.copy()
    moved = (xyz + np.random.default_rng(2).normal(0, 0.4, xyz.shape)).astype(np.float32)  # as trajectories have them
    second = plan.run(moved).values.copy()
    right = leyden.map(leyden.Atoms.from_arrays(moved, atoms.q), dims=(20, 20, 20), method="msm", tol=1e-5,
                       periodic=True, cell=(16, 16, 16), engine=engine).values
    assert np.sqrt(((second - right) ** 2).sum() / (right ** 2).sum()) < 1.2e-4
    assert np.array_equal(plan.run(xyz).values, first)
    assert plan.report["method"] == "msm"
    totals = plan.totals()
    assert totals["runs"] == 3 and totals["prepared"] == 1 and totals["missed"] == 0


def test_a_cell_that_breathes(engine):
    atoms, xyz = _atoms()
    with leyden.Plan(atoms, dims=(20, 20, 20), method="msm", periodic=True, cell=(16, 16, 16), engine=engine) as plan:
        plan.run()
        values = plan.run(xyz * 1.05, cell=(16.8, 16.8, 16.8)).values
        assert np.allclose(np.diag(plan.map.grid.step), 16.8 / 20)
        right = leyden.map(leyden.Atoms.from_arrays(xyz * 1.05, atoms.q), plan.map.grid, method="msm", tol=1e-5,
                           periodic=True, cell=(16.8, 16.8, 16.8), engine=engine).values
        assert np.sqrt(((values - right) ** 2).sum() / (right ** 2).sum()) < 1.2e-4
        assert plan.totals()["prepared"] == 2


def test_charges_and_the_map_that_stays(engine):
    atoms, _ = _atoms()
    with leyden.Plan(atoms, spacing=1, padding=2, method="dcs", engine=engine) as plan:
        once = plan.run().values.copy()
        twice = plan.run(charges=2 * np.asarray(atoms.q)).values
        assert np.allclose(twice, 2 * once, rtol=1e-5, atol=1e-4)
    kept = plan.map
    assert np.allclose(kept.values, 2 * once, rtol=1e-5, atol=1e-4)
    with pytest.raises(leyden.UsageError, match="closed"):
        plan.run()


def test_an_engine_closes_its_plans():
    atoms, _ = _atoms()
    engine = leyden.Engine("cpu")
    plan = leyden.Plan(atoms, spacing=1, method="dcs", engine=engine)
    plan.run()
    engine.close()
    with pytest.raises(leyden.UsageError, match="closed"):
        plan.run()
    plan.close()


@pytest.mark.parametrize("arguments, says", [
    ({"metod": "dcs"}, r"Plan\(\) got an unexpected keyword argument 'metod' \(did you mean 'method'"),
    ({"method": "cutoff"}, "plans are of"),
    ({"field": True}, "unexpected keyword argument 'field'"),
    ({"grid": leyden.Grid((0, 0, 0), spacing=1, n=(2, 2, 2)), "spacing": 1}, "spacing is for plans without it"),
])
def test_refusals(engine, arguments, says):
    atoms, _ = _atoms()
    with pytest.raises((leyden.UsageError, TypeError), match=says):
        leyden.Plan(atoms, engine=engine, **arguments)


def test_wrong_positions(engine):
    atoms, xyz = _atoms()
    with leyden.Plan(atoms, spacing=1, method="dcs", engine=engine) as plan:
        with pytest.raises(leyden.InputError, match="positions has the shape"):
            plan.run(xyz[1:])
        wrong = xyz.copy()
        wrong[3, 2] = np.nan
        with pytest.raises(leyden.InputError, match="atom 4: z"):
            plan.run(wrong)
        assert np.isfinite(plan.run(xyz).values).all()
