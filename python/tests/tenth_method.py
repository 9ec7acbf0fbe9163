"""The method of CONTRIBUTING.md in Python: tenth_method.py FOLDER.

An extension of the library and the method's object files is built in FOLDER, with the package beside
it. The method's table of parameters alone gives a function its keywords, with types, texts, checks
and the line for type checkers; its job is run by one of them.
"""
import importlib.util
import inspect
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LEYDEN_BUILD", ROOT / "build"))
EXERCISE = ROOT / "tests" / "tenth_method"


def build(folder):
    """The extension and the package in this folder."""
    objects = [BUILD / "tests" / "tenth_method" / name for name in ("method.o", "rows.o")]
    relative = os.path.relpath(BUILD, ROOT)
    subprocess.run(["make", "-s", "-C", str(ROOT), f"BUILD={relative}",
                    *(os.path.relpath(path, ROOT) for path in objects)], check=True)
    found = importlib.util.spec_from_file_location("build_extension", ROOT / "python" / "build_extension.py")
    library = importlib.util.module_from_spec(found)
    found.loader.exec_module(library)
    name, source, _, options = library.ffi._assigned_source
    options["extra_objects"] = [*(str(path) for path in objects), *options["extra_objects"]]
    options["include_dirs"] = [*options["include_dirs"], str(ROOT / "cl"), str(ROOT / "tests")]
    header = (EXERCISE / "method.h").read_text()
    own = cffi.FFI()
    for text in (library.declarations(), library.DEFINED, library.PROGRESS, library.RANKS,
                 *re.findall(r"^(?:typedef struct squares_options|ley_status job_create).*?;$(?!\s+bool)", header,
                             re.M | re.S)):
        own.cdef(text)
    own.set_source(name, source + '#include "tenth_method/method.h"\n', **options)
    own.compile(tmpdir=str(folder))
    shutil.copytree(ROOT / "python" / "src" / "leyden", folder / "leyden", dirs_exist_ok=True)
    for tree in ("cl", "kernels_cuda"):
        shutil.copytree(ROOT / tree, folder / "kernels" / tree)
    for name in ("squares.cl", "squares.h", "laws/squares.h"):
        shutil.copy(EXERCISE / name, folder / "kernels" / "cl" / name)
    os.environ["LEYDEN_KERNEL_DIR"] = str(folder / "kernels" / "cl")


def check():
    """What the package makes of the method's table."""
    # pylint: disable=import-outside-toplevel
    import numpy as np

    import leyden
    from leyden._c import ffi, lib
    from leyden._errors import Status
    from leyden._parameters import stub, take, with_parameters

    def squares(potential, engine, **given):
        """The sum of the squares of a map's values; with `mean` the root of their mean.

        {parameters}
        """
        options, sum_ = ffi.new("squares_options *"), ffi.new("double *")
        take(options, "squares_options", given, [])
        run, box = ffi.new("ley_run_options *"), ffi.new("ley_job **")
        lib.ley_run_options_default(run)
        with Status() as status:
            status.check(lib.job_create_squares(engine.pointer, potential._pointer, sum_, run, box, status.pointer))
            status.check(lib.ley_job_run(box[0], status.pointer))
        lib.ley_job_destroy(box[0])
        return math.sqrt(sum_[0] / potential.values.size) if options.has_mean else sum_[0]

    squares.__qualname__ = "squares"  # as of a function of the package
    squares = with_parameters("squares_options")(squares)
    mean = inspect.signature(squares).parameters["mean"]
    assert mean.kind == inspect.Parameter.KEYWORD_ONLY and mean.annotation == "Optional[bool]", mean
    assert "mean: say the root of their mean, too" in squares.__doc__
    assert "class SquaresKeywords(TypedDict, total=False):\n    mean: Optional[bool]" in stub([squares])
    values = np.random.default_rng(1).normal(size=(9, 7, 11)).astype(np.float32)
    potential = leyden.Map.from_array(values, leyden.Grid((0, 0, 0), spacing=1, n=(11, 7, 9)))
    right = (values.astype(np.float64) ** 2).sum()
    with leyden.Engine("cpu") as engine:
        assert abs(squares(potential, engine) - right) < 1e-6 * right
        assert abs(squares(potential, engine, mean=True) - math.sqrt(right / values.size)) < 1e-6
        try:
            squares(potential, engine, means=True)
        except TypeError as refusal:
            assert "squares() got an unexpected keyword argument 'means' (did you mean 'mean'?)" in str(refusal), refusal
        else:
            raise AssertionError("an unknown keyword is taken")
    print("the tenth method's keyword is there by its table alone")


if __name__ == "__main__":
    top = Path(sys.argv[1])
    build(top)
    sys.path.insert(0, str(top))
    check()
