#!/bin/bash
# Builds the Python package's wheel, installs it into an environment of its own and runs its tests:
# those that are quick, or, as `test_python.sh extra`, those that take longer or need packages that
# are heavy; TEST_PYPI=yes installs there those of them that only PyPI has. `test_python.sh asan`,
# and the quick ones where BUILD=.../asan, have the address sanitizer in library and extension, and
# end with a search for leaks, which must also find those of python/tests/planted_leak.py. Needs
# BUILD. Exit code 77: a package is missing.
set -eu
BUILD=$(realpath -m "${BUILD:-build}") marks='not extra'
[ "${1-}" != extra ] || marks=extra
python=/usr/bin/python3
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script

skip() { echo "skipped: $*"; exit 77; }
[ -x $python ] || skip "python3 is not installed"
for module in cffi numpy pytest setuptools wheel ensurepip pip; do
    $python -c "import $module" 2>/dev/null || skip "Python's module $module is not installed"
done
include=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$include/Python.h" ] || skip "python3-dev is not installed"
if [ "${1-}" = asan ] && [ "$(basename "$BUILD")" != asan ]; then
    make --no-print-directory BUILD="$(realpath --relative-to=. "$BUILD")" sanitized
    BUILD=$BUILD/asan
fi
flavour=$(basename "$BUILD")
case $flavour in
ubsan | tsan) skip "not under this sanitizer" ;;
esac

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
# What other tests have devices do wrong, so that they are measured again, does not change what is
# chosen from one test to the next here.
export LEYDEN_CACHE_DIR=$top/cache
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
export LEYDEN_BUILD=$BUILD LEYDEN_SOURCES=$PWD LEYDEN_COMMAND=$BUILD/leyden
export LEYDEN_KERNEL_DIR=$PWD/cl # what is tried there goes to devices, but for tests of what the host does
[ "$flavour" != asan ] || export LEYDEN_SANITIZE=${SANITIZE:--fsanitize=address,undefined -fno-sanitize-recover=all}

$python -m venv --system-site-packages "$top/venv"
flock python bash tests/build_python.sh "$top/venv/bin/python" "$top/wheel" >"$top/log" 2>&1 ||
    { cat "$top/log"; exit 1; }
"$top/venv/bin/python" -m pip install --quiet --no-deps "$top"/wheel/leyden-*.whl
if [ "$marks" = extra ] && [ "${TEST_PYPI-}" = yes ]; then
    env -u PIP_NO_INDEX timeout 300 "$top/venv/bin/python" -m pip install --quiet qc-iodata cclib pyscf openmm "numpy<2" ||
        echo "note: qc-iodata, cclib, pyscf or openmm cannot be installed"
fi

choice=()
if [ "$flavour" = asan ]; then
    # Leaks are looked for before the interpreter ends (conftest.py): afterwards much of its own
    # looks lost. With PYTHONMALLOC=malloc the search sees what Python's objects hold. Those tests
    # that are left out are about amounts of memory, times and many numbers; meshes meet the
    # command's bytes without sanitizers alone.
    left_out='ctrl_c or left_behind or test_shells or test_ions or point_charges or test_mean or fields_of_meshes'
    left_out+=' or does_not_depend or charges_that_cancel or recipe_for_trajectories or what_is_chosen'
    left_out+=' or test_topologies or correlation or page or test_by_host or (test_wavefunction and test_potential)'
    choice=(-k "not ($left_out or bytes_of_the_command and msm)")
    cat tests/lsan.supp tests/lsan_python.supp >"$top/lsan.supp"
    ${CC:-cc} -shared -fPIC -o "$top/keep.so" tests/keep_loaded/keep_loaded.c
    options=detect_leaks=1:leak_check_at_exit=0:malloc_context_size=2
    options+=:protect_shadow_gap=0:allocator_may_return_null=1:handle_segv=2:use_sigaltstack=0
    # The size of thread-local storage of libraries that are loaded later is guessed from the word
    # before it, wrongly at times; the search for leaks then reads where nothing is.
    options+=:intercept_tls_get_addr=0
    export ASAN_OPTIONS=$options LSAN_OPTIONS=suppressions=$top/lsan.supp:print_suppressions=0
    export UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc LEYDEN_LEAKS=yes
    LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libstdc++.so.6) $top/keep.so"
    export LD_PRELOAD
fi
# Tests that have another turn.
for test in ${TEST_LEAVE_OUT-}; do choice+=(--deselect "python/tests/$test"); done
cd python
"$top/venv/bin/python" -m pytest -q -rs -m "$marks" "${choice[@]}" --durations=5 tests
if [ "$flavour" != asan ]; then
    [ "$marks" = extra ] || mkdir "$top/tenth"
    [ "$marks" = extra ] || "$top/venv/bin/python" tests/tenth_method.py "$top/tenth"
    exit 0
fi

# Both kinds of planted leaks are found, and each makes the run fail.
for planted in "molecules ley_atoms_allocate" "progress pyley_progress_create"; do
    read -r name function <<<"$planted"
    if "$top/venv/bin/python" -m pytest -q -p no:cacheprovider -k "$name" tests/planted_leak.py >"$top/planted" 2>&1 ||
        ! grep -q '^1 passed' "$top/planted" || ! grep -q " in [_a-z]*$function " "$top/planted"; then
        cat "$top/planted"
        echo "the search for leaks does not find the planted one of $function()"
        exit 1
    fi
done
echo "planted leaks are found"
