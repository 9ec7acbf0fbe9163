#!/bin/bash
# Runs all tests, one program after the other: BUILD=... CC=... run.sh TESTPROGRAM...
# Prints a line for each, the whole output of one that fails, and last "N passed, M failed" or "N passed, M failed, K skipped": test
# cases of the programs, and 1 for each script. Exit code 1 when anything failed.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
export BUILD CC=${CC:-cc}
export RUSTICL_ENABLE=llvmpipe # a second vendor's driver
export LEYDEN_CACHE_DIR=${LEYDEN_CACHE_DIR:-$(realpath -m "$BUILD/cache-test")}
longest_s=900 preload=
skipped_code=77

# Drivers are not instrumented: the thread sanitizer would see races in them where their locks are.
# test_cuda starts hundreds of processes, which takes minutes there; what its threads share, test_schedule shares too.
with_drivers=" test_dcs test_mdh test_cli test_cuda "
case $(basename "$BUILD") in
asan)
    flavour="the address sanitizer"
    # The sanitizer looks for C++'s throw when a program starts; drivers written in C++ come later. Hence the library up front.
    preload=$($CC -print-file-name=libstdc++.so.6)
    options=detect_leaks=1:protect_shadow_gap=0:allocator_may_return_null=1:verify_asan_link_order=0
    options+=:handle_segv=2 # cmocka would catch it and say nothing
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

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

say() { printf '%-18s %s\n' "$1" "$2"; }

skip() {
    skipped=$((skipped + 1))
    say "$1" "skipped: $2"
}

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
}

run_program() {
    local name good bad left
    name=$(basename "$1")
    if [ "$(basename "$BUILD")" = tsan ] && [[ $with_drivers == *" $name "* ]]; then
        skip "$name" "loads drivers, or takes too long, under $flavour"
        return
    fi
    timed env ${preload:+LD_PRELOAD="$preload"} "$1"
    good=$(counted PASSED) bad=$(counted FAILED) left=$(counted SKIPPED)
    # A program that crashed, or that ran nothing, has failed as a whole.
    if [ $bad = 0 ] && { [ $code != 0 ] || [ $((good + left)) = 0 ]; }; then bad=1; fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
    if [ $bad != 0 ]; then
        show_failure "$name"
    else
        say "$name" "$good passed$([ $left = 0 ] || echo ", $left skipped"), $seconds s"
    fi
}

run_script() {
    local name=$1
    shift
    timed "$@"
    case $code in
    0)
        passed=$((passed + 1))
        say "$name" "passed, $seconds s"
        ;;
    "$skipped_code") skip "$name" "$(sed -n 's/^skipped: //p' "$log" | tail -n 1)" ;;
    *)
        failed=$((failed + 1))
        show_failure "$name"
        ;;
    esac
}

run_outer_script() {
    if [ -n "$flavour" ]; then
        skip "$1" "not under $flavour"
    else
        run_script "$@"
    fi
}

run_script check_layers bash tests/check_layers.sh --self-test
for program in "$@"; do
    run_program "$program"
done
if [ -x /usr/bin/python3 ]; then
    run_outer_script read_back /usr/bin/python3 tests/read_back.py
else
    skip read_back "python3 is not installed"
fi
run_outer_script test_install bash tests/test_install.sh
run_outer_script oclgrind bash tests/oclgrind.sh

printf '%d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
