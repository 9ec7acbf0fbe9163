"""Keyword arguments that come from the library's tables of parameters."""
import inspect
from pathlib import Path

import pytest

import leyden
from leyden._parameters import TABLES, stub

FUNCTIONS = (leyden.map, leyden.points, leyden.boundary, leyden.Plan.__init__, leyden.surface,
             leyden.average, leyden.series, leyden.energy, leyden.mmgbsa, leyden.ions, leyden.Wavefunction.orbital,
             leyden.density_map, leyden.fit_score)


def test_every_parameter_is_a_keyword():
    """Of the functions together, but for an ion, of which Python has a list."""
    taken = {name for function in FUNCTIONS for name in inspect.signature(function).parameters}
    assert {name for rows in TABLES.values() for name in rows} - taken == {"ion"}
    signature = inspect.signature(leyden.map)
    assert signature.parameters["dielectric"].default == 1 and signature.parameters["sum"].default == "float"
    assert signature.parameters["units"].annotation == "Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]"
    assert signature.parameters["mesh_spacing"].default is None


def test_each_is_explained():
    for function in (leyden.map, leyden.boundary, leyden.surface, leyden.energy, leyden.mmgbsa, leyden.ions,  # points() refers to map()
                     leyden.Wavefunction.orbital):
        for name, row in function.keywords.more.items():
            assert f"        {name}: {row.text.split()[0]}" in function.__doc__, name
        assert "{parameters}" not in function.__doc__
        assert all(len(line) <= 120 for line in function.__doc__.split("\n"))


def test_what_type_checkers_are_told():
    """python3 python/make_keywords.py writes the file anew."""
    kept = Path(leyden.__file__).with_name("_keywords.pyi").read_text(encoding="utf-8")
    assert kept == stub(FUNCTIONS)
    compile(kept, "_keywords.pyi", "exec")


@pytest.mark.parametrize("arguments, kind, words", [
    (dict(overflow="device"), TypeError, "overflow is gone: devices always sum the atoms that find their bin full"),
    (dict(dielectrc=2), TypeError, "unexpected keyword argument 'dielectrc' .did you mean 'dielectric'?"),
    (dict(tolerance=1e-4), TypeError, "unexpected keyword argument 'tolerance' .did you mean 'tol'?"),
    (dict(units="kt/e"), leyden.UsageError, "units: 'kt/e' is none of kT/e, V, kcal/mol/e, kJ/mol/e .did you mean 'kT/e'?"),
    (dict(dielectric=0), leyden.UsageError, "dielectric: 0 is out of range: it must be at least 0.001 and at most 1e.06"),
    (dict(dielectric="water"), leyden.UsageError, "dielectric: a number is needed, not 'water'"),
    (dict(verify=1.5), leyden.UsageError, "verify: a whole number is needed, not 1.5"),
    (dict(dims=(3, 3)), leyden.UsageError, "dims: 3 numbers are needed"),
    (dict(mesh_spacing=0, method="msm"), leyden.UsageError, "mesh_spacing: 0 is out of range: it must be above 0 and at most"),
    (dict(window="nodal3"), leyden.UsageError, "window is for method 'msm'"),
    (dict(binning="host", method="msm"), leyden.UsageError, "binning is for method 'cutoff'"),
])
def test_refusals(atoms, arguments, kind, words):
    with pytest.raises(kind, match=words):
        leyden.map(atoms, **arguments)


def test_words_of_the_release_before(atoms):
    where = {"spacing": 2, "padding": 1, "method": "dcs"}
    with pytest.warns(DeprecationWarning, match="slab_planes is called slab now"):
        leyden.map(atoms, slab_planes=1, **where)
    with pytest.warns(DeprecationWarning, match="n is called dims now"):
        assert leyden.map(atoms, n=(3, 4, 5), method="dcs").grid.n == (3, 4, 5)
    with pytest.raises(TypeError, match="slab twice"), pytest.warns(DeprecationWarning):
        leyden.map(atoms, slab=1, slab_planes=1, **where)


def test_the_grid_of_apbs(atoms):
    """Parameters of grids that only the command had."""
    grid = leyden.map(atoms, dims=(5, 6, 7), glen=(8, 10, 12), gcent=(1, 2, 3), method="dcs").grid
    assert grid.n == (5, 6, 7) and grid.spacing.tolist() == [2, 2, 2] and grid.origin.tolist() == [-3, -3, -3]
    assert leyden.map(atoms, dims=(3, 3, 3), spacing=2, gcent="mol", method="dcs").grid.spacing.tolist() == [2, 2, 2]
