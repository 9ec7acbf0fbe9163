#!/bin/bash
# All that can be checked without a card: lint, every program at TEST_LEVEL=pairwise with all
# kernels under Oclgrind, the sanitizers, every kernel by every compiler, the fuzzers. MAKE=...
# check_all.sh, from `make check-all`. Goes on after a part that fails; ends with the last lines of
# those, a table of all, and exit code 1 when one failed. TEST_TURN, the number of a commit, after
# `make test`: what takes long is dealt out, so that four commits in a row have all of it, but for
# the pairs, in place of which there is what level quick leaves out.
set -u
cd "$(dirname "$0")/.." || exit 2
make=${MAKE:-make --no-print-directory -j$(nproc)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
table=() failed=0 start=$SECONDS

# part NAME COMMAND...
part() {
    local name=$1 began=$SECONDS code
    shift
    echo "== part $((${#table[@]} + 1)): $name"
    "$@" 2>&1 | tee "$scratch/part.log"
    code=${PIPESTATUS[0]}
    if [ "$code" != 0 ]; then
        failed=$((failed + 1))
        { printf '\n== the end of: %s\n' "$name" && tail -n 30 "$scratch/part.log"; } >>"$scratch/failures.log"
    fi
    table+=("$(printf '%-34s %5d s  %s' "$name" $((SECONDS - began)) "$([ "$code" = 0 ] && echo passed || echo "FAILED, exit code $code")")")
}

# The fuzzers run on one core, the compilers beside them on the other one.
offline_and_fuzzers() {
    local code=0
    $make build/tests/offline_specs build/tests/offline_nvrtc || return
    OFFLINE_FEW=${OFFLINE_FEW-1} $make offline >"$scratch/offline.log" 2>&1 &
    FUZZ_SECONDS=${FUZZ_SECONDS:-5} $make fuzz || code=1
    wait $! || code=1
    cat "$scratch/offline.log"
    return $code
}

$make deps EXTRA="extra lint" || exit 1
# What cannot be had, a package or a wheel, is a line in the log and no failure; a kernel that does
# not compile is one.
[ $((${TEST_TURN:-1} % 2)) = 0 ] || sh tests/install_packages.sh packages.txt offline || echo "skipped: packages for make offline cannot be installed"
part "lint" $make lint
if [ -n "${TEST_TURN-}" ]; then
    TEST_REST=yes part "what level quick leaves out" $make check TEST_LEVEL=quick
else
    part "the tests, in pairs" $make check TEST_LEVEL="${TEST_LEVEL:-pairwise}"
fi
case ${TEST_TURN:+$((TEST_TURN % 4))} in
1) export OFFLINE_COMPILERS=nvrtc ;;
3) export OFFLINE_COMPILERS=clang ;;
esac
if [ $((${TEST_TURN:-0} % 2)) = 0 ]; then part "address and undefined behaviour" $make sanitize; fi
if [ $((${TEST_TURN:-1} % 2)) = 1 ]; then
    part "threads" $make tsan
    part "other architectures, fuzzers" offline_and_fuzzers
fi
[ $failed = 0 ] || cat "$scratch/failures.log"
printf '\n'
printf '%s\n' "${table[@]}"
echo "in all $(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
[ $failed = 0 ]
