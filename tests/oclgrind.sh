#!/bin/bash
# Every kernel under Oclgrind, which interprets it and watches: accesses out of bounds, data races, values never set, wrong API
# calls. Needs BUILD; OCLGRIND_VARIANTS narrows the choice. Exit code 77: Oclgrind is not installed.
set -u
BUILD=${BUILD:-build}
command -v oclgrind >/dev/null || { echo "skipped: oclgrind is not installed"; exit 77; }
leyden=$(realpath "$BUILD/leyden")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
variants=${OCLGRIND_VARIANTS:-simple unroll4 unroll8 local local8 tiled8 tiled16 vector4 vector8 vector16}
checks="--data-races --uninitialized --check-api"
export LEYDEN_CACHE_DIR=$top/cache

# 20 atoms, some of them on lattice points: these take the path for distances below r_min.
awk 'BEGIN {
    srand(3)
    for (i = 1; i <= 20; i++) {
        x = i % 4 ? 9 * rand() : i % 9; y = i % 4 ? 4 * rand() : 2; z = i % 4 ? rand() : 0.5
        printf "ATOM %6d  C   MOL A %4d    %8.3f %8.3f %8.3f %8.4f  1.7000\n", i, i, x, y, z, 2 * rand() - 1
    }
}' > "$top/atoms.pqr"

# watch LOG COMMAND...: runs it under Oclgrind; its exit code.
watch() {
    local log=$1
    shift
    : > "$log"
    timeout 120 oclgrind --log "$log" $checks "$@"
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
for variant in $variants; do
    for sum in float compensated; do
        run_variant "$variant" $sum
    done
done
run_variant tiled8 double
run_variant simple double
echo "$passed kernels without an error, $failed with"
[ $failed = 0 ] && [ $passed -gt 0 ]
