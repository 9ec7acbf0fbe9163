#!/bin/bash
# Builds the Python package's wheel, installs it into an environment of its own and runs its tests:
# those that are quick, or, as `test_python.sh extra`, those that take longer or need packages that
# are heavy. Needs BUILD. Under the address sanitizer (BUILD=.../asan) the package has that library
# in it, from level pairwise on. Exit code 77: a package is missing.
set -eu
BUILD=$(realpath -m "${BUILD:-build}") flavour=$(basename "${BUILD:-build}") marks=${1:-not extra}
python=/usr/bin/python3
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script

skip() { echo "skipped: $*"; exit 77; }
[ -x $python ] || skip "python3 is not installed"
for module in cffi numpy pytest setuptools wheel ensurepip pip; do
    $python -c "import $module" 2>/dev/null || skip "Python's module $module is not installed"
done
include=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$include/Python.h" ] || skip "python3-dev is not installed"
case $flavour in
asan) [ "${TEST_LEVEL:-quick}" != quick ] || skip "under the address sanitizer from level pairwise on" ;;
ubsan | tsan) skip "not under this sanitizer" ;;
esac

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
export LEYDEN_BUILD=$BUILD LEYDEN_SOURCES=$PWD LEYDEN_COMMAND=$BUILD/leyden
[ "$flavour" != asan ] || export LEYDEN_SANITIZE=${SANITIZE:--fsanitize=address,undefined}

$python -m venv --system-site-packages "$top/venv"
flock "$BUILD/complete" bash tests/build_python.sh "$top/venv/bin/python" "$top/wheel" >"$top/log" 2>&1 ||
    { cat "$top/log"; exit 1; }
"$top/venv/bin/python" -m pip install --quiet --no-deps "$top"/wheel/leyden-*.whl

choice=()
if [ "$flavour" = asan ]; then
    # Python keeps memory to its end: what leaks is for test_nothing_is_left_behind to see, without
    # a sanitizer. That and Ctrl-C are about amounts and times.
    export ASAN_OPTIONS=detect_leaks=0:protect_shadow_gap=0:allocator_may_return_null=1:handle_segv=2:use_sigaltstack=0
    choice=(-k 'not ctrl_c and not left_behind')
    LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libstdc++.so.6)"
    export LD_PRELOAD
fi
cd python
"$top/venv/bin/python" -m pytest -q -rs -m "$marks" "${choice[@]}" --durations=5 tests
