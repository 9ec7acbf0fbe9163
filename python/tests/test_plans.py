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


def test_statistics(engine):
    atoms, xyz = _atoms()
    random = np.random.default_rng(5)
    kept = []
    with leyden.Plan(atoms, dims=(12, 10, 8), spacing=1.5, method="dcs", engine=engine, field=True,
                     keep=["variance", "minimum", "planes"]) as plan:
        with pytest.raises(leyden.UsageError, match="there was no run"):
            plan.statistics.minimum
        for _ in range(4):
            made = plan.run(xyz + random.normal(0, 0.3, xyz.shape))
            kept.append([each.values.astype(np.float64) for each in (made, *made.field)])
    values, statistics = np.array(kept), plan.statistics
    assert statistics.runs == 4
    for component in range(4):
        of = values[:, component]
        assert np.allclose(statistics.mean(component), of.mean(0), rtol=1e-12)
        assert np.allclose(statistics.variance(component), of.var(0, ddof=1), rtol=1e-10)
        for number, axis in enumerate("xyz"):
            others = tuple(k for k in range(4) if k != 3 - number)
            assert np.allclose(statistics.planes(axis, component), of.mean(others), rtol=1e-10, atol=1e-9)
    least = statistics.minimum
    assert least.value == values[:, 0].min() == values[least.run - 1, 0][least.index]
    with pytest.raises(leyden.UsageError, match="no such component"):
        statistics.mean(4)
    with pytest.raises(leyden.UsageError, match="axis: 'w'"):
        statistics.planes("w")
    statistics.reset()
    assert statistics.runs == 0


def test_what_is_not_kept(engine):
    atoms, xyz = _atoms()
    with leyden.Plan(atoms, spacing=2, method="dcs", engine=engine, keep="mean") as plan:
        plan.run(xyz)
        assert np.array_equal(plan.statistics.mean(), plan.map.values)
        for kind in (plan.statistics.variance, plan.statistics.planes, lambda: plan.statistics.minimum):
            with pytest.raises(leyden.UsageError, match="not kept"):
                kind()
    with leyden.Plan(atoms, spacing=2, method="dcs", engine=engine) as plan:
        assert plan.statistics is None


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
    ({"keep": ["mode"]}, "keep: 'mode' is none of 'mean', 'variance', 'minimum', 'planes'"),
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
