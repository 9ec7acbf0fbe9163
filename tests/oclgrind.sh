#!/bin/bash
# Every kernel under Oclgrind, which interprets it and watches: accesses out of bounds, data
# races, values never set, wrong API calls. Needs BUILD, with tests/test_lattice,
# tests/test_transfer, tests/test_epilogue, tests/test_solvers and tests/test_device_long in it;
# OCLGRIND_VARIANTS, OCLGRIND_MDH_VARIANTS, OCLGRIND_CUTOFF_VARIANTS, OCLGRIND_POINT_VARIANTS,
# OCLGRIND_LATTICE_VARIANTS, OCLGRIND_TRANSFERS, OCLGRIND_ORBITAL_VARIANTS and OCLGRIND_EPILOGUES
# narrow the choice; with OCLGRIND_PAIRS=1 each variant of mdh meets each sum, screening and kind of
# points once, and these meet each other. OCLGRIND_PARTS has some of the words direct, mdh, cutoff,
# tests and orbitals. Exit code 77: Oclgrind is not installed.
set -u
BUILD=${BUILD:-build}
command -v oclgrind >/dev/null || { echo "skipped: oclgrind is not installed"; exit 77; }
leyden=$(realpath "$BUILD/leyden")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
variants=${OCLGRIND_VARIANTS:-simple unroll4 unroll8 local local8 tiled8 tiled16 vector4 vector8 vector16}
mdh_variants=${OCLGRIND_MDH_VARIANTS-simple tiled8 tiled16 vector4 vector8 vector16}
cutoff_variants=${OCLGRIND_CUTOFF_VARIANTS-bins regions8 regions16 halves16 octants16 vector4 vector8 vector16}
point_variants=${OCLGRIND_POINT_VARIANTS-group64 vector4 vector8 vector16}
lattice_variants=${OCLGRIND_LATTICE_VARIANTS-basic optimised columns8 columns16 wide16 vector4 vector8 vector16}
transfers=${OCLGRIND_TRANSFERS-vectors groups points}
orbital_variants=${OCLGRIND_ORBITAL_VARIANTS-separable separable4 vector8 tiled}
epilogues=${OCLGRIND_EPILOGUES-regions8 halves16 octants16}
checks="--data-races --uninitialized --check-api"
export LEYDEN_CACHE_DIR=$top/cache

# 20 atoms, some of them on grid points: these take the path for distances below r_min.
awk 'BEGIN {
    srand(3)
    for (i = 1; i <= 20; i++) {
        x = i % 4 ? 9 * rand() : i % 9; y = i % 4 ? 4 * rand() : 2; z = i % 4 ? rand() : 0.5
        printf "ATOM %6d  C   MOL A %4d    %8.3f %8.3f %8.3f %8.4f  1.7000\n", i, i, x, y, z, 2 * rand() - 1
    }
}' > "$top/atoms.pqr"

# Points for mdh, far away.
awk 'BEGIN {for (i = 0; i < 29; i++) print i % 7 + 0.3, i % 5, -2 - 3.1 * i}' > "$top/points.xyz"

# Oclgrind 21.10 takes a buffer for never set, whatever kernels write, once clEnqueueFillBuffer has
# filled it, and what lies beyond the end of a smaller one that was released before. Here nothing is
# filled, and nothing released.
cat > "$top/keep.c" <<'SOURCE'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem b, const void *p, size_t n, size_t o, size_t s, cl_uint c, const cl_event *w, cl_event *e)
{
    (void)q, (void)b, (void)p, (void)n, (void)o, (void)s, (void)c, (void)w, (void)e;
    return CL_SUCCESS;
}
cl_int clReleaseMemObject(cl_mem b)
{
    (void)b;
    return CL_SUCCESS;
}
SOURCE
${CC:-cc} -shared -fPIC -o "$top/keep.so" "$top/keep.c" || exit 1

# watch LOG COMMAND...: runs it under Oclgrind; its exit code.
watch() {
    local log=$1
    shift
    : > "$log"
    timeout 120 oclgrind --log "$log" $checks sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$top/keep.so" "$@"
}

failed=0 passed=0
run_variant() {
    local name="$1, $2 sum" output code
    output=$(watch "$top/log" "$leyden" map "$top/atoms.pqr" -o "$top/map.dx" --dims 20,9,3 --origin 0,0,0 \
             --device oclgrind --verify 50 --quiet --variant "$1" --sum "$2" 2>&1)
    code=$?
    if [ $code = 3 ] && [[ $output == *"is for CPU devices"* ]]; then
        echo "$name: refused, as it is for CPU devices and Oclgrind's is none"
    elif [ $code != 0 ] || [ -s "$top/log" ]; then
        printf '%s: FAILED, exit code %s\n%s\n' "$name" "$code" "$output"
        head -40 "$top/log"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# run_mdh VARIANT SUM SCREENING POINTS: prints what is wrong.
run_mdh() {
    local name="mdh $1, $2 sum, screening $3, $4" own=$top/$1-$2-$3-$4 where ions keys output code
    local checks=$checks
    case $1-$4 in vector*-list) checks=${checks/--uninitialized/} ;; esac # with it Oclgrind 21.10 itself crashes
    case $3 in
    none) ions='' keys=LEY_SCREENING=0 ;;
    folded) ions='--ion 0.02,1,2 --ion 0.02,-1,2' keys=LEY_SCREENING=1 ;;
    wide) ions='--ion 30,1,2 --ion 30,-1,2' keys=LEY_SCREENING=2 ;;
    esac
    case $4 in
    faces) where='--dims 9,7,5 --glen 70,60,50' keys="$keys.*LEY_POINTS=0" ;;
    list) where="--points $top/points.xyz" keys="$keys.*LEY_POINTS=1" ;;
    esac
    output=$(watch "$own.log" "$leyden" boundary "$top/atoms.pqr" -o "$own.csv" $where $ions --device oclgrind --verify 50 --quiet \
             --json "$own.json" --variant "$1" --sum "$2" 2>&1)
    code=$?
    if [ $code != 0 ] || [ -s "$own.log" ]; then
        printf '%s: FAILED, exit code %s\n%s\n' "$name" "$code" "$output"
        head -40 "$own.log"
    elif ! grep -q "$keys" "$own.json"; then
        printf '%s: FAILED, another kernel ran:\n%s\n' "$name" "$(grep specification "$own.json")"
    fi
    rm -f "$own".*
}

# Among the atoms, on them and beyond them.
awk '{print $7, $8, $9; print $7 + 1.3, $8 - 0.4, $9 + 0.2}; NR == 7 {print 100, -50, 30}' "$top/atoms.pqr" > "$top/among.xyz"

# run_cutoff VARIANT PAIR SUM [points]: bins with room for few, so that atoms overflow; prints what
# is wrong.
run_cutoff() {
    local name="cutoff $1, $2, $3 sum${4:+, at points}" own=$top/$1-${2//\//:}-$3${4:-} output code
    local where='--dims 11,9,10 --origin 0,0,-2 --spacing 0.7 --binning host' written=$own.dx
    [ -z "${4:-}" ] || { where="--points $top/among.xyz"; written=$own.csv; }
    local checks=${checks/--uninitialized/} # with it Oclgrind 21.10 stops at LLVM's "freeze", and takes bins that the host wrote for never set
    output=$(watch "$own.log" "$leyden" map "$top/atoms.pqr" -o "$written" $where --method cutoff --cutoff 3 \
             --pair "$2" --r-min 1 --bin-depth 4 --bin-fill 2 --device oclgrind --verify 100 --quiet \
             --json "$own.json" --variant "$1" --sum "$3" 2>&1)
    code=$?
    if [ $code != 0 ] || [ -s "$own.log" ]; then
        printf '%s: FAILED, exit code %s\n%s\n' "$name" "$code" "$output"
        head -40 "$own.log"
    elif ! grep -q '"overflow": [1-9]' "$own.json"; then
        printf '%s: FAILED, nothing overflows\n' "$name"
    fi
    rm -f "$own".*
}

run_all_cutoff() {
    local variant pair sum result=$top/cutoff- count=0
    for variant in $cutoff_variants $(printf '%s/points ' $point_variants); do
        while read -r pair sum; do
            [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
            count=$((count + 1))
            case $variant in
            */points) run_cutoff "${variant%/points}" "$pair" "$sum" points > "$result$count" & ;;
            *) run_cutoff "$variant" "$pair" "$sum" > "$result$count" & ;;
            esac
        done <<<"$(printf '%s\n' 'taylor2 float' 'buckingham compensated' 'q*(1/r-r2/cutoff^3) float')"
    done
    wait
    for result in "$top"/cutoff-*; do
        [ -e "$result" ] || continue
        [ -s "$result" ] && failed=$((failed + 1)) || passed=$((passed + 1))
        cat "$result"
    done
}

# is_in_pairs TURN NUMBER: of the 18 combinations of a variant three, others for the next two; with
# three variants every pair of values occurs.
is_in_pairs() {
    local sum=$(($2 / 6)) screening=$(($2 / 2 % 3)) is_list=$(($2 % 2))
    [ $screening = $(((sum + $1) % 3)) ] && [ $is_list = $((sum == $1)) ]
}

# As many at once as there are cores: Oclgrind watches on one.
run_all_mdh() {
    local variant sum screening points result=$top/mdh- count=0 number=0 turn=-1
    for variant in $mdh_variants; do
        turn=$(((turn + 1) % 3))
        for sum in float compensated double; do
            for screening in none folded wide; do
                for points in faces list; do
                    number=$((number + 1))
                    [ -z "${OCLGRIND_PAIRS-}" ] || is_in_pairs $turn $(((number - 1) % 18)) || continue
                    [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
                    count=$((count + 1))
                    run_mdh "$variant" $sum $screening $points > "$result$count" &
                done
            done
        done
    done
    wait
    for result in "$top"/mdh-*; do
        [ -e "$result" ] || continue
        [ -s "$result" ] && failed=$((failed + 1)) || passed=$((passed + 1))
        cat "$result"
    done
}

# run_test PROGRAM VARIANT: a test's own problems; with --uninitialized Oclgrind 21.10 itself
# crashes.
run_test() {
    local own=$top/$1-$2.log checks=${checks/--uninitialized/} output code
    output=$(watch "$own" "$BUILD/tests/$1" oclgrind "$2" 2>&1)
    code=$?
    if [ $code != 0 ] || [ -s "$own" ]; then
        printf '%s %s: FAILED, exit code %s\n%s\n' "$1" "$2" "$code" "$output"
        head -40 "$own"
    fi
}

# run_all_of_test PROGRAM VARIANT...
run_all_of_test() {
    local program=$1 variant
    shift
    for variant; do
        [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
        run_test "$program" "$variant" > "$top/$program-result-$variant" &
    done
    wait
    for variant; do
        [ -s "$top/$program-result-$variant" ] && failed=$((failed + 1)) || passed=$((passed + 1))
        cat "$top/$program-result-$variant"
    done
}

# The judge in double precision, whose self-tests are `leyden check`'s.
run_judge() {
    local own=$top/judge output code
    output=$(watch "$own.log" "$leyden" check kernels/reference --device oclgrind 2>&1)
    code=$?
    if [ $code != 0 ] || [ -s "$own.log" ]; then
        printf 'kernels/reference: FAILED, exit code %s\n%s\n' "$code" "$output"
        head -40 "$own.log"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# Does the watch see anything at all? A kernel with an access out of bounds must be reported.
check_the_watch() {
    cp -r cl "$top/cl"
    sed -i 's/gm_sum\[at\] = p->sum\[k\];/gm_sum[at + (1 << 24)] = p->sum[k];/' "$top/cl/dcs.cl"
    cmp -s cl/dcs.cl "$top/cl/dcs.cl" && { echo "dcs.cl is not what it was: no fault planted"; return 1; }
    LEYDEN_KERNEL_DIR=$top/cl watch "$top/log" "$leyden" map "$top/atoms.pqr" -o "$top/map.dx" --dims 20,9,1 \
        --device oclgrind --quiet --variant simple >/dev/null 2>&1
    grep -q "Invalid write" "$top/log" && return 0
    echo "Oclgrind does not report a write out of bounds:"
    head -20 "$top/log"
    return 1
}

check_the_watch || failed=1
# Orbitals on a grid along the axes and on an oblique one; potentials. Oclgrind 21.10 does not know
# how values that are frozen were set, and takes buffers that were filled for never set.
run_wavefunction() {
    local code name="$*"
    : > "$top/log"
    timeout 120 oclgrind --log "$top/log" --data-races "$leyden" "$@" tests/corpus/npz/plain.npz --any-norm \
        -o "$top/orbital.npy" --device oclgrind --verify 50 --quiet
    code=$?
    if [ $code != 0 ] || [ -s "$top/log" ]; then
        printf '%s: FAILED, exit code %s\n' "$name" "$code"
        head -40 "$top/log"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

run_all_orbitals() {
    local variant
    for variant in $orbital_variants; do
        run_wavefunction orbital --orbital 1-2 --dims 13,9,3 --variant "$variant"
    done
    printf 'object 1 class gridpositions counts 5 4 3\norigin 0 0 0\ndelta 0.3 0 0\ndelta 0.1 0.3 0\ndelta 0 0.1 0.3\n' > "$top/oblique.dx"
    printf 'object 2 class gridconnections counts 5 4 3\nobject 3 class array type double rank 0 items 60 data follows\n' >> "$top/oblique.dx"
    yes '0 0 0' | head -20 >> "$top/oblique.dx"
    run_wavefunction orbital --orbital 1-2 --like "$top/oblique.dx"
    run_wavefunction density --gradient --variant matrix --dims 11,9,6
    run_wavefunction esp --dims 7,5,2
    run_wavefunction esp --field --dims 5,3,2
}

run_all_direct() {
    local variant sum
    for variant in $variants; do
        for sum in float compensated; do
            run_variant "$variant" $sum
        done
    done
    run_variant tiled8 double
    run_variant simple double
    run_judge
}

run_all_tests() {
    run_all_of_test test_lattice $lattice_variants
    run_all_of_test test_transfer $transfers
    run_all_of_test test_epilogue $epilogues
    run_all_of_test test_solvers influence
    run_all_of_test test_device_long kernels
}

for part in ${OCLGRIND_PARTS:-direct mdh cutoff tests orbitals}; do run_all_"$part"; done
echo "$passed kernels without an error, $failed with"
[ $failed = 0 ] && [ $passed -gt 0 ]
