"""The documents' Python runs, page after page, and type checkers have nothing to say of it."""
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import leyden
import orbitals_judge
from conftest import Topology

SOURCES = Path(os.environ.get("LEYDEN_SOURCES", Path(__file__).parents[2]))
PAGES = [str(page.relative_to(SOURCES)) for page in (SOURCES / "README.md", SOURCES / "docs" / "python.md",
                                                     SOURCES / "docs" / "orbitals.md",
                                                     SOURCES / "docs" / "trajectories.md",
                                                     *sorted((SOURCES / "docs" / "tutorials").glob("*.md")))]
CHECKERS = {"mypy": ["--strict", "--ignore-missing-imports"], "pyright": ["--pythonpath", sys.executable]}
WRONG = ["leyden.map('a.pqr', dielectrc=2)", "leyden.map('a.pqr', method='mms')", "leyden.Atoms('a.pqr').chargs",
         "leyden.Map('a.dx').data", "leyden.map(3)", "leyden.map('a.pqr', units='kt')",
         "leyden.Wavefunction('a.npz').orbital('homo', noscreening=1)"]


def blocks(page):
    """The page's pieces of Python, in their order."""
    return re.findall(r"^```python\n(.*?)^```", (SOURCES / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_there_is_some():
    assert blocks("README.md") and len(blocks("docs/python.md")) > 1


@pytest.mark.extra
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_page(page, tmp_path, monkeypatch, charges):
    """In a folder with the molecules that it names, and an MDAnalysis that has one universe."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    x, q, r = charges
    for name in re.findall(r"\w+\.pqr", "".join(blocks(page))):
        leyden.Atoms(x, q, r).write(name)
    for name in re.findall(r"\w+\.npz", "".join(blocks(page))):
        leyden.Wavefunction.from_arrays(**orbitals_judge.of_norm_1(orbitals_judge.some())).save(name)
    for name in re.findall(r"\w+\.(?:psf|dcd|tpr|xtc)", "".join(blocks(page))):
        Path(name).touch()
    cell = np.array([20.0, 20, 20, 90, 90, 90])
    universe = Topology(q, [(x + shift, cell) for shift in (0, 0.1, 0.2)])
    universe.select_atoms = lambda words: universe
    monkeypatch.setitem(sys.modules, "MDAnalysis", types.SimpleNamespace(Universe=lambda *files: universe))
    scope = {"universe": universe}
    for block in blocks(page):
        if "import pyscf" in block:
            pytest.importorskip("pyscf")
        exec(compile(block, page, "exec"), scope)


@pytest.mark.extra
@pytest.mark.parametrize("checker", CHECKERS)
def test_types(checker, tmp_path):
    """Of each page as one program, and of the examples."""
    pytest.importorskip(checker)
    for page in [*PAGES, "docs/mmgbsa.md", "docs/series.md"]:  # of which other tests run the last two, with a trajectory
        text = "\n".join(blocks(page))
        head = "" if "universe =" in text else "import MDAnalysis\nuniverse = MDAnalysis.Universe()\n"
        (tmp_path / (re.sub(r"\W", "_", page) + ".py")).write_text(head + text, encoding="utf-8")
    for example in (SOURCES / "python" / "examples").glob("*.py"):
        (tmp_path / example.name).write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    # Not packages that are missing, but this one is looked for.
    (tmp_path / "pyrightconfig.json").write_text('{"reportMissingImports": "none", "reportMissingModuleSource": "none"}')

    def check(programs):
        return subprocess.run([sys.executable, "-m", checker, *CHECKERS[checker], *map(str, programs)], cwd=tmp_path,
                              capture_output=True, encoding="utf-8", check=False)

    done = check(sorted(tmp_path.glob("*.py")))
    if checker == "pyright" and not done.stdout:
        pytest.skip(f"pyright does not run: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "wrong.py").write_text("import leyden\n" + "\n".join(WRONG) + "\n", encoding="utf-8")
    found = check([tmp_path / "wrong.py"]).stdout
    assert all(f"wrong.py:{line + 2}:" in found for line in range(len(WRONG))), found
