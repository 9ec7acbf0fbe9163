#!/bin/bash
# Runs all tests, TEST_JOBS programs at a time: BUILD=... CC=... TEST_JOBS=1 run.sh TESTPROGRAM...
# Prints a line for each, the whole output of one that fails, then once more the first lines of what went wrong there, so that they stand where a
# long log ends, and last "N passed, M failed" or "N passed, M failed, K skipped": test cases of the programs, and 1 for each script. Exit code 1
# when anything failed.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
export BUILD CC=${CC:-cc}
export LEYDEN_CACHE_DIR=${LEYDEN_CACHE_DIR:-$(realpath -m "$BUILD/cache-test")}
longest_s=900 preload=
skipped_code=77

# Drivers are not instrumented: the thread sanitizer would see races in them where their locks are.
# test_cuda starts hundreds of processes, which takes minutes there; what its threads share, test_schedule shares too. test_apbs and test_pqr
# have no threads and take minutes.
with_drivers=" test_self_test test_verification test_dcs test_bench_cutoff test_mdh test_cutoff test_cutoff_digits test_cutoff_maps test_device_binning test_cli test_cli_boundary test_cli_cutoff test_cli_outputs test_cuda test_faults test_apbs test_pqr "
case $(basename "$BUILD") in
asan)
    flavour="the address sanitizer"
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} # both may be in
    # The sanitizer looks for C++'s throw when a program starts; drivers written in C++ come later. Hence the library up front.
    preload=$($CC -print-file-name=libstdc++.so.6)
    options=detect_leaks=1:protect_shadow_gap=0:allocator_may_return_null=1:verify_asan_link_order=0
    options+=:handle_segv=2 # cmocka would catch it and say nothing
    options+=:use_sigaltstack=0 # compilers in drivers put a stack of their own in its place, in whatever thread calls them
    export ASAN_OPTIONS=${ASAN_OPTIONS:-$options}
    export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
    ;;
ubsan)
    flavour="the sanitizer of undefined behaviour"
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    ;;
tsan) flavour="the thread sanitizer" ;;
*) flavour="" ;;
esac

# A second vendor's driver, which is slow; what it computes does not depend on how the host was compiled.
[ -n "$flavour" ] || export RUSTICL_ENABLE=llvmpipe
[ -z "$flavour" ] || export TEST_QUICK=1 # fewer of what differs in numbers only, and of what other programs do

passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT

# Loaders of drivers unload what they keep memory of; in reports of leaks it would have no name, which tests/lsan.supp goes by. What
# the tests themselves load and unload lies elsewhere.
if [ "$(basename "$BUILD")" = asan ]; then
    cat >"$scratch/keep.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
int dlclose(void *handle)
{
    int (*own)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    struct link_map *map;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && strncmp(map->l_name, "/usr/", 5) != 0 ? own(handle) : 0;
}
SOURCE
    $CC -shared -fPIC -o "$scratch/keep.so" "$scratch/keep.c" && preload+=:$scratch/keep.so
fi

say() { printf '%-18s %s\n' "$1" "$2"; }

# counted WORD: how many tests cmocka says it PASSED, FAILED or SKIPPED.
counted() {
    awk -v word="$1" '$1 == "[" && $2 == word && $5 ~ /^test\(s\)[.,]$/ {n += $4} END {print n + 0}' "$log"
}

# timed COMMAND...: runs it into the log; sets code and seconds.
timed() {
    local start=$EPOCHREALTIME
    timeout -k 10 $longest_s "$@" >"$log" 2>&1 </dev/null
    code=$?
    seconds=$(awk "BEGIN {printf \"%.1f\", $EPOCHREALTIME - $start}")
    [ $code != 124 ] || echo "stopped after $longest_s s" >>"$log"
}

show_failure() {
    say "$1" "FAILED, exit code $code, $seconds s"
    sed 's/^/    /' "$log"
    {
        say "$1" "FAILED, exit code $code"
        grep -aE 'ERROR|FAILED|error|stopped after' "$log" | head -n 8 | cut -c 1-200 | sed 's/^/    /'
    } >"$scratch/$1.failure"
}

# What runs at the same time leaves what it counts in $scratch/NAME: passed, failed, skipped.
counts() { echo "$2 $3 $4" >"$scratch/$1.counts"; }

run_program() {
    local name=$1 good bad left
    if [ "$(basename "$BUILD")" = tsan ] && [[ $with_drivers == *" $name "* ]]; then
        counts "$name" 0 0 1
        say "$name" "skipped: loads drivers, or takes too long, under $flavour"
        return
    fi
    timed env ${preload:+LD_PRELOAD="$preload"} "$2"
    good=$(counted PASSED) bad=$(counted FAILED) left=$(counted SKIPPED)
    # A program that crashed, or that ran nothing, has failed as a whole.
    if [ "$bad" = 0 ] && { [ "$code" != 0 ] || [ $((good + left)) = 0 ]; }; then bad=1; fi
    counts "$name" "$good" "$bad" "$left"
    if [ "$bad" != 0 ]; then
        show_failure "$name"
    else
        say "$name" "$good passed$([ "$left" = 0 ] || echo ", $left skipped"), $seconds s"
    fi
}

run_script() {
    local name=$1
    shift
    timed "$@"
    case $code in
    0)
        counts "$name" 1 0 0
        say "$name" "passed, $seconds s"
        ;;
    "$skipped_code")
        counts "$name" 0 0 1
        say "$name" "skipped: $(sed -n 's/^skipped: //p' "$log" | tail -n 1)"
        ;;
    *)
        counts "$name" 0 1 0
        show_failure "$name"
        ;;
    esac
}

# Scripts that look at the product from outside: not under a sanitizer.
run_outer_script() {
    if [ -n "$flavour" ]; then
        counts "$1" 0 0 1
        say "$1" "skipped: not under $flavour"
    else
        run_script "$@"
    fi
}

# start FUNCTION NAME ARGUMENTS...: when one of TEST_JOBS places is free. What it says comes out in one piece.
names=()
start() {
    names+=("$2")
    while [ "$(jobs -rp | wc -l)" -ge "${TEST_JOBS:-1}" ]; do wait -n; done
    {
        log=$scratch/$2.log
        "$@" >"$scratch/$2.says"
        cat "$scratch/$2.says"
    } &
}

# The longest first, so that none of them is left alone at the end.
longest="test_faults test_schedule test_self_test test_cuda test_cli_boundary test_mdh test_cutoff test_apbs test_dcs"
programs=()
for name in $longest; do
    for program in "$@"; do [ "$(basename "$program")" != "$name" ] || programs+=("$program"); done
done
for program in "$@"; do [[ " $longest " == *" $(basename "$program") "* ]] || programs+=("$program"); done

start run_script check_layers bash tests/check_layers.sh --self-test
# The longest; `make oclgrind` runs all variants.
start run_outer_script oclgrind env OCLGRIND_MDH_VARIANTS="${OCLGRIND_MDH_VARIANTS-tiled8 vector4}" \
    OCLGRIND_CUTOFF_VARIANTS="${OCLGRIND_CUTOFF_VARIANTS-halves16 vector4}" bash tests/oclgrind.sh
for program in "${programs[@]}"; do
    start run_program "$(basename "$program")" "$program"
done
start run_outer_script read_back sh -c '[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not installed"; exit 77; }
    exec /usr/bin/python3 tests/read_back.py'
start run_outer_script test_install bash tests/test_install.sh
wait
for name in "${names[@]}"; do
    read -r good bad left <"$scratch/$name.counts" || { good=0 bad=1 left=0 && say "$name" "FAILED: it left no result"; }
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
done

cat "$scratch"/*.failure 2>/dev/null
printf '%d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
