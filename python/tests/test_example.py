"""The example of the documentation runs and says what is so."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import leyden

MOLECULE = "/usr/share/apbs/examples/misc/fas2.pqr"


@pytest.mark.extra
@pytest.mark.skipif(not os.path.exists(MOLECULE), reason="apbs-data is not installed")
def test_example(tmp_path):
    program = os.path.join(os.environ["LEYDEN_SOURCES"], "python", "examples", "protein.py")
    done = subprocess.run([sys.executable, program, MOLECULE, str(tmp_path)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    still = leyden.Map.read(tmp_path / "protein.dx")
    assert still.grid == leyden.Grid.around(leyden.Atoms.read(MOLECULE), 1.0, 8.0)
    if "MDAnalysis is not installed" in done.stdout:
        pytest.skip("MDAnalysis is not installed: the example ends before its trajectory")
    mean = leyden.Map.read(tmp_path / "mean.dx")
    off = np.sqrt(np.mean((mean.values - still.values) ** 2) / np.mean(still.values ** 2))
    assert 0.01 < off < 2 and float(re.search(r"([\d.]+) from the still", done.stdout).group(1)) == pytest.approx(
        off, abs=0.006)


@pytest.mark.extra
def test_membrane(tmp_path):
    """The made-up membrane's profile is the known one, within its standard error."""
    pytest.importorskip("MDAnalysis")
    pytest.importorskip("matplotlib")
    program = os.path.join(os.environ["LEYDEN_SOURCES"], "python", "examples", "membrane.py")
    done = subprocess.run([sys.executable, program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0.2 < float(re.search(r"off by ([\d.]+) standard errors", done.stdout).group(1)) < 2
    assert leyden.Map(tmp_path / "mean.mrc").shape == (90, 64, 64) and (tmp_path / "profile.png").exists()
