#!/bin/bash
# Every row of the matrix that can be had on this machine, one after the other; `make matrix` is
# this script. Each row's log is build/matrix/ROW.log, its results build/matrix/ROW.tsv, and the
# page of all of them docs/runs/matrix.md. Exit code 1 when anything failed. What cannot be had is a
# line that says so.
#
#   MATRIX_ROWS   which rows; unless set "pocl llvmpipe oclgrind intel cards power arm s390x"
#   MATRIX_PAGE   the page; unless set, docs/runs/matrix.md
#   BUILD         the build for the rows that need no other one
set -u
cd "$(dirname "$0")/../.." || exit 2
BUILD=${BUILD:-build}
MATRIX=${MATRIX:-$PWD/build/matrix}
mkdir -p "$MATRIX"
. tests/matrix/rows.sh
command=$(realpath "$BUILD/leyden")
export LEYDEN_CACHE_DIR=$MATRIX/cache
failed=0

# Each is leyden ARGUMENTS...: the command on the one driver of the row.
leyden_pocl() { env OCL_ICD_VENDORS=pocl.icd CUDA_VISIBLE_DEVICES=-1 "$command" "$@"; }
leyden_llvmpipe() { env OCL_ICD_VENDORS=rusticl.icd RUSTICL_ENABLE=llvmpipe CUDA_VISIBLE_DEVICES=-1 "$command" "$@"; }
leyden_oclgrind() { env CUDA_VISIBLE_DEVICES=-1 oclgrind "$command" "$@"; }
leyden_intel() { env $intel_words CUDA_VISIBLE_DEVICES=-1 "$command" "$@"; }
leyden_cards() {
    case $1 in
    map | check) "$command" "$@" --device cuda ;;
    *) "$command" "$@" ;;
    esac
}

# begin ROW: its log and its results begin anew.
begin() {
    MATRIX_LOG=$MATRIX/$1.log MATRIX_SUMMARY=$MATRIX/$1.tsv
    : >"$MATRIX_LOG"
    : >"$MATRIX_SUMMARY"
}

# Why a row cannot be had here; nothing when it can.
why_not() {
    case $1 in
    pocl) [ -e /etc/OpenCL/vendors/pocl.icd ] || echo "pocl-opencl-icd is not installed" ;;
    llvmpipe) [ -e /etc/OpenCL/vendors/rusticl.icd ] || echo "mesa-opencl-icd is not installed" ;;
    oclgrind) command -v oclgrind >/dev/null || echo "oclgrind is not installed" ;;
    intel) intel_words=$(bash tests/matrix/intel.sh "$MATRIX/intel" 2>"$MATRIX/intel.log") || tail -n 1 "$MATRIX/intel.log" ;;
    cards) "$command" devices --json | grep -q '"path": "cuda"' || echo "there is no card here" ;;
    power | arm | s390x) [ "$(id -u)" = 0 ] || echo "a root of another architecture takes root's rights" ;;
    esac
}

for row in ${MATRIX_ROWS:-pocl llvmpipe oclgrind intel cards power arm s390x}; do
    reason=$(why_not "$row")
    [ "$row" != intel ] || [ -n "$reason" ] || intel_words=$(bash tests/matrix/intel.sh "$MATRIX/intel")
    if [ -n "$reason" ]; then
        begin "$row"
        matrix_note "$row" - "all of it" skipped 0 "$reason"
        continue
    fi
    case $row in
    power) bash tests/matrix/architecture.sh ppc64el || failed=1 ;;
    arm) bash tests/matrix/architecture.sh arm64 || failed=1 ;;
    s390x) bash tests/matrix/architecture.sh s390x || failed=1 ;;
    oclgrind)
        begin "$row"
        MATRIX_METHODS="dcs cutoff" matrix_driver "$row" "$row" 12 3 leyden_oclgrind || failed=1
        ;;
    *)
        begin "$row"
        matrix_driver "$row" "$row" 3000 0.5 "leyden_$row" || failed=1
        ;;
    esac
done
bash tests/matrix/page.sh "$MATRIX" "${MATRIX_PAGE:-docs/runs/matrix.md}"
exit $failed
