"""Exceptions, with their status; progress; engines."""
import os

import numpy as np
import pytest

import leyden


@pytest.mark.parametrize("arguments, words", [
    (dict(method="best"), "method: 'best' is none of auto, dcs, msm, cutoff"),
    (dict(units="mV"), "units"), (dict(sum="long"), "sum"), (dict(tol=0), "tol"), (dict(tol=1), "toleranc|tol"),
    (dict(cutoff=5), "cutoff is for methods 'cutoff' and 'msm'"), (dict(dielectric=0), "permittivity|dielectric"), (dict(periodic="x"), "cell"),
    (dict(method="dcs", kappa=1), "dcs"), (dict(method="cutoff", tol=1e-3), "tol is for"),
    (dict(method="cutoff", pair="yukawa"), "needs kappa"),
    (dict(method="cutoff", pair="coulomb", probe=(1, 1)), "probe"), (dict(method="cutoff", pair="q*foo"), "foo"),
    (dict(method="dcs", variant="fastest"), "fastest"), (dict(cell=(1, 2)), "cell"), (dict(verify=-1), "verify"),
    (dict(method="msm", tol=None, preset="best"), "preset: 'best' is none of papers"),
    (dict(method="msm", tol=1e-3, preset="papers"), "preset needs tol=None"),
    (dict(levels=2), "levels is for method 'msm'"),
    (dict(method="msm", tol=None, levels=2 ** 40), "levels"), (dict(method="msm", tol=None, levels=99), "levels"),
    (dict(method="msm", tol=None, solver="fourier", fft="best"), "best"),
    (dict(progress=3), "progress"), (dict(engine=1.5), "engine"), (dict(seed=-1), "seed"),
    (dict(seed=2 ** 64), "seed"), (dict(verify=2 ** 63), "verify"), (dict(verify=float("nan")), "verify"),
    (dict(method="cutoff", pair="lennard-jones", probe=(1,)), "probe"),
])
def test_wrong_usage(atoms, grid, engine, arguments, words):
    with pytest.raises(leyden.Error, match=words) as caught:
        leyden.map(atoms, grid, **{"engine": engine, **arguments})
    assert caught.value.status in ("LEY_ERROR_USAGE", "LEY_ERROR_INPUT") and caught.value.log is None


def test_memory(atoms, engine):
    with pytest.raises(leyden.OutOfMemoryError) as caught:
        leyden.map(atoms, leyden.Grid((0, 0, 0), spacing=1, n=(1 << 16, 1 << 16, 1 << 10)), engine=engine)
    assert caught.value.status == "LEY_ERROR_MEMORY" and isinstance(caught.value, MemoryError)


def test_devices_that_are_not_there():
    with pytest.raises(leyden.UsageError, match="no such card"):
        leyden.Engine("no such card")
    found = leyden.devices()
    assert any(device.device_class == "cpu" and device.unusable is None for device in found)


def test_a_kernel_that_does_not_build(atoms, grid, tmp_path):
    """The compiler's log comes with the exception."""
    import shutil
    import subprocess
    import sys
    shutil.copytree(os.path.join(os.environ["LEYDEN_SOURCES"], "cl"), tmp_path / "kernels")
    kernel = tmp_path / "kernels" / "dcs.cl"
    kernel.write_text("this is no C\n" + kernel.read_text(encoding="utf-8"), encoding="utf-8")
    program = ("import leyden\ntry:\n leyden.map(leyden.Atoms.from_arrays([[0, 0, 0]], [1]), method='dcs', "
               "engine=leyden.Engine('cpu'))\nexcept leyden.DeviceError as e:\n print(e.status, len(e.log), "
               "e.report['devices'][0]['status'])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, "LEYDEN_KERNEL_DIR": str(tmp_path / "kernels")})
    status, length, device = done.stdout.split()
    assert (status, device) == ("LEY_ERROR_DEVICE", "LEY_ERROR_DEVICE") and int(length) > 20, done.stderr


def test_closed_engines(atoms, grid):
    with leyden.Engine("cpu") as engine:
        assert engine.devices[0].device_class == "cpu" and "closed" not in repr(engine)
    engine.close()
    assert repr(engine).endswith("closed>")
    with pytest.raises(leyden.UsageError, match="closed"):
        leyden.map(atoms, grid, engine=engine)


def test_progress_is_told_in_this_thread(engine):
    import threading
    random = np.random.default_rng(1)
    atoms = leyden.Atoms.from_arrays(random.uniform(0, 60, (3000, 3)), random.normal(size=3000))
    told = []
    leyden.map(atoms, spacing=1, method="dcs", engine=engine, verify=0,
               progress=lambda p: told.append((threading.get_ident(), p)))
    assert told and all(thread == threading.get_ident() for thread, _ in told)
    assert told[-1][1].points_done == told[-1][1].points_total > 0


def test_progress_that_raises_cancels(engine):
    random = np.random.default_rng(1)
    atoms = leyden.Atoms.from_arrays(random.uniform(0, 60, (20000, 3)), random.normal(size=20000))

    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        leyden.map(atoms, spacing=0.4, method="dcs", engine=engine, progress=stop)
    assert leyden.map(atoms, spacing=10, method="dcs", engine=engine).report["accuracy"]["passed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_do_not_use_their_parents_engine(atoms, grid, engine):
    child = os.fork()
    if child == 0:
        try:
            leyden.map(atoms, grid, engine=engine)
            os._exit(1)
        except leyden.UsageError as error:
            os._exit(0 if "forked" in str(error) else 2)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_whatever_is_public_says_what_it_is():
    named = [(name, getattr(leyden, name)) for name in leyden.__all__]
    of_classes = [(f"{name}.{part}", getattr(value, "__func__", value))
                  for name, thing in named if isinstance(thing, type)
                  for part, value in vars(thing).items() if not part.startswith("_")
                  if isinstance(value, (property, classmethod, staticmethod)) or callable(value)]
    assert not [name for name, thing in named + of_classes if callable(thing) or isinstance(thing, property)
                if not thing.__doc__]
