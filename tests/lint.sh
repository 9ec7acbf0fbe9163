#!/bin/bash
# What a reader of sources would find, found by machines: CC=... FLAGS=... JOBS=... lint.sh, from
# `make lint`. Says every part's name, then what is wrong; goes on after a part that fails. Exit
# code 1 when one failed. TEST_TURN, the number of a commit: cppcheck, which takes most of the time,
# has every fourth source, others in the next commits.
set -u
cd "$(dirname "$0")/.." || exit 2
CC=${CC:-cc} FLAGS=${FLAGS:?} JOBS=${JOBS:-$(nproc)} failed=0

# part NAME COMMAND...
part() {
    local name=$1 began=$SECONDS
    shift
    if "$@"; then
        echo "lint: $name: passed, $((SECONDS - began)) s"
    else
        echo "lint: $name: FAILED"
        failed=1
    fi
}

# Another version would break lines elsewhere. The kernels are in two languages that it does not
# know.
format() {
    local program
    program=$(command -v clang-format-14) || { echo "there is no clang-format-14: make deps EXTRA=lint"; return 1; }
    find host platform tools tests docs -name '*.[ch]' -print0 | xargs -0 -P "$JOBS" -n 40 "$program" --dry-run -Werror
}

# Conversions that lose something, and casts that take away a const. Tests may: what they pretend is
# small. One source after the other is only parsed.
conversions() {
    # shellcheck disable=SC2016 # for the inner shell
    find host platform tools -name '*.c' ! -name ranks_mpi.c -print0 | FLAGS="$FLAGS -Werror -Wconversion -Wcast-qual" CC=$CC xargs -0 -P "$JOBS" -n 12 \
        sh -c 'code=0; for file; do $CC $FLAGS -fsyntax-only "$file" || code=1; done; exit $code' sh || return 1
    # shellcheck disable=SC2086 # words; casts are those of MPI's header
    ! command -v mpicc >/dev/null || mpicc $FLAGS -Werror -Wconversion -fsyntax-only platform/ranks_mpi.c
}

# tests/cppcheck.supp says what it takes for wrong and is not.
cppcheck_all() {
    command -v cppcheck >/dev/null || { echo "there is no cppcheck: make deps EXTRA=lint"; return 1; }
    find host platform tools -name '*.c' | LC_ALL=C sort | awk -v turn="${TEST_TURN-}" 'turn == "" || NR % 4 == turn % 4' |
        cppcheck -j "$JOBS" --quiet --error-exitcode=1 --enable=warning,portability,performance --std=c11 -D_GNU_SOURCE \
            -Iplatform -Ihost -Icl --suppressions-list=tests/cppcheck.supp --file-list=-
}

widths() {
    python3 tests/check_widths.py --self-test && python3 tests/check_widths.py
}

part "format" format
part "conversions and casts" conversions
part "cppcheck" cppcheck_all
part "widths of comments and prose" widths
part "tables of numerics" python3 host/numerics/derive_tables.py --check
exit $failed
