#!/bin/bash
# leyden-mpi under mpirun, on as many ranks as fit no machine, with each MPI that is installed
# beside the other (leyden-openmpi, leyden-mpich): do 1, 2, 3 and 5 ranks make the bytes of one
# rank, of all that is dealt; do ranks survive slow and hanging devices of others; do all end soon
# when one fails, is killed or is asked to end, and leave no half file; do others go on from there
# with --resume; and what does a leyden without MPI say?
#
#     tests/test_mpi.sh             BUILD as usual; exit code 77: there is no MPI, or no PoCL
set -u
cd "$(dirname "$0")/.." || exit 2
sources=$PWD
BUILD=$(realpath "${BUILD:-build}")
skip() { echo "skipped: $*"; exit 77; }
[ -e /etc/OpenCL/vendors/pocl.icd ] || skip "PoCL is not installed"
mpis=''
for name in openmpi mpich; do
    [ -x "$BUILD/leyden-$name" ] && command -v "mpirun.$name" >/dev/null && mpis+=" $name"
done
[ -n "$mpis" ] || skip "no MPI is installed (libopenmpi-dev, libmpich-dev)"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset RUSTICL_ENABLE
export OCL_ICD_VENDORS=pocl.icd
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
failures=0
wrong() { echo "WRONG: $*"; failures=$((failures + 1)); }

# mpirun of $mpi, with these arguments.
run() {
    case $mpi in
    openmpi) timeout -k 5 120 mpirun.openmpi --oversubscribe --bind-to none "$@" ;;
    mpich) timeout -k 5 120 mpirun.mpich "$@" ;;
    esac
}

# Charges, points, and a wavefunction.
awk 'BEGIN {srand(7); for (i = 1; i <= 300; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i, 20 * rand(), 20 * rand(), 20 * rand(), rand() - 0.5, 1.5}' >molecule.pqr
awk 'BEGIN {srand(8); for (i = 0; i < 500; i++) print 24 * rand(), 24 * rand(), 24 * rand()}' >points.txt
sed 's/0.00/0.01/' molecule.pqr | awk '{print} END {print "ATOM    301  C   ALA A 301       1.000   2.000   3.000  0.5000 1.5000"}' >other.pqr
cp "$sources/tests/data/esp_pure.npz" water.npz
# Atoms that ranks read by parts: water, and two clusters with nothing between them.
"$BUILD/leyden" generate waterbox --atoms 3000 -o box.atoms -q
awk 'BEGIN {srand(9); for (i = 1; i <= 600; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i, 9 * rand(), 9 * rand(), (i % 2) * 150 + 9 * rand(), rand() - 0.5, 1.5}' >clusters.pqr
"$BUILD/leyden" convert clusters.pqr -o clusters.atoms -q

# Under sanitizers some cases on two ranks; what MPI itself does not free does not count.
sanitized() {
    local mpi=${mpis##* } output words
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:protect_shadow_gap=0
    while read -r output words; do
        # shellcheck disable=SC2086
        "$BUILD/leyden" $words --device cpu --quiet -o "one_$output" --json plan.json >said 2>&1 || wrong "one rank: $words: $(cat said)"
        # shellcheck disable=SC2086
        run -n 2 "$BUILD/leyden-$mpi" $words --device cpu --quiet --plan plan.json -o "many_$output" >said 2>&1 || wrong "$mpi: $words: $(cat said)"
        cmp -s "one_$output" "many_$output" || wrong "$mpi: $words: other bytes"
    done <<'CASES'
cutoff.mrc map molecule.pqr --method cutoff --spacing 1.5 --resume
far.raw map molecule.pqr --method msm --solver multilevel --spacing 1.5 --field
points.csv map molecule.pqr --method dcs --points points.txt
CASES
    [ $failures = 0 ] || exit 1
    echo "note: under sanitizers, with $mpi"
    exit 0
}
case $(basename "$BUILD") in asan | ubsan) sanitized ;; esac

# ---- The same bytes ------------------------------------------------------------------------------

# Output, and the rest of the command line; {} stands for the output's stem.
cases=(
    "dcs.dx map molecule.pqr --method dcs --spacing 1.5 --device cpu"
    "fields.raw map molecule.pqr --method dcs --spacing 1.5 --device cpu --field"
    "cutoff.npy map molecule.pqr --method cutoff --spacing 0.8 --device cpu"
    "pairs.mrc map molecule.pqr --method cutoff --pair coulomb --cutoff 8 --spacing 1 --device cpu"
    "msm.cube map molecule.pqr --method msm --spacing 1 --device cpu"
    "points.csv map molecule.pqr --method dcs --points points.txt --field --device cpu"
    "near.csv map molecule.pqr --method cutoff --points points.txt --device cpu"
    "far.npy map molecule.pqr --method msm --points points.txt --device cpu"
    "host.dx map molecule.pqr --method dcs --spacing 2 --device host"
    "hostpoints.csv map molecule.pqr --method dcs --points points.txt --device host"
    "auto.dx map molecule.pqr --tol 1e-4 --spacing 1.5 --device cpu"
    "thin.dx map molecule.pqr --method dcs --dims 40,40,3 --spacing 0.5 --device cpu"
    "cell.raw map molecule.pqr --method msm --cell 24,24,24 --periodic xyz --spacing 1.5 --device cpu"
    "mdh.dx boundary molecule.pqr --dims 33,33,33 --spacing 1 --device cpu"
    "orbital.cube orbital water.npz --any-norm --orbital 1 --spacing 0.4 --device cpu"
    "orbitals.csv orbital water.npz --any-norm --orbital 1-3 --points points.txt --device cpu"
    "potential.npy esp water.npz --any-norm --points points.txt --device host"
    "density.dx density water.npz --any-norm --spacing 0.4 --device cpu"
    "parts.raw map box.atoms --method cutoff --spacing 0.7 --device cpu --field"
    "cellparts.npy map box.atoms --method cutoff --cell 31,31,31 --periodic xyz --spacing 0.7 --binning device --device cpu"
    "fewplanes.mrc map box.atoms --method cutoff --dims 30,30,12 --spacing 1 --pair coulomb --sum compensated --device cpu"
    "clusters.dx map clusters.atoms --method cutoff --dims 10,10,170 --spacing 1 --device cpu"
    "farparts.raw map clusters.atoms --method msm --cutoff 6 --mesh-spacing 1.5 --dims 10,10,170 --spacing 1 --device cpu --field"
    "atoms.cube map box.atoms --method cutoff --dims 30,30,30 --spacing 1 --device cpu"
    "skewed.raw map box.atoms --method cutoff --cell 31,0,0,9,31,0,0,5,31 --periodic xyz --spacing 1.5 --device cpu"
)
for c in "${cases[@]}"; do
    read -r output words <<<"$c"
    # shellcheck disable=SC2086 # words
    "$BUILD/leyden" $words -o "one_$output" --json "plan_$output" --quiet >said 2>&1 || { wrong "one rank: $words: $(cat said)"; }
done
for mpi in $mpis; do
    # Each number of ranks with each case on one MPI; on the other one the cases in turn.
    for n in 1 2 3 5; do
        i=0
        for c in "${cases[@]}"; do
            i=$((i + 1))
            if [ "$n" = 1 ] && [ $i -gt 1 ]; then continue; fi
            if [ "${TEST_LEVEL:-quick}" = quick ] && [ $(((i + n + ${#mpi}) % 3)) != 0 ]; then continue; fi
            read -r output words <<<"$c"
            # shellcheck disable=SC2086
            if ! run -n "$n" "$BUILD/leyden-$mpi" $words --plan "plan_$output" -o "many_$output" --quiet >said 2>&1; then
                wrong "$n ranks of $mpi: $words: $(cat said)"
                continue
            fi
            stem=${output%.*}
            for one in "one_$stem"*; do
                [[ $one == "one_$stem."* || $one == "one_${stem}_E"* ]] || continue
                many=many_${one#one_}
                # A header beside the values names them.
                if [[ $one == *.json ]]; then sed -i 's/many_/one_/g' "$many"; fi
                cmp -s "$one" "$many" || wrong "$n ranks of $mpi make other bytes: $words ($one)"
            done
            rm -f many_*
        done
    done
done

# ---- Faults --------------------------------------------------------------------------------------

no_half_file() {
    local left
    left=$(find . -name "$1*" -o -name '.leyden-*')
    [ -z "$left" ] || { wrong "$mpi: $2 leaves $left"; rm -f $left; }
}

# mine NAME WORDS: processes of this name, started here with these words.
mine() {
    local p
    for p in $(pgrep -f -- "$2"); do
        # shellcheck disable=SC2053 # a pattern
        [[ $(cat "/proc/$p/comm" 2>/dev/null) == $1 ]] && [ "$(readlink "/proc/$p/cwd")" = "$scratch" ] && echo "$p"
    done
}

large="map molecule.pqr --method dcs --spacing 0.1 --device cpu --sum double"
faulty="env LD_PRELOAD=$BUILD/tests/faulty_opencl/faulty_opencl.so"
for mpi in $mpis; do
    leyden=$BUILD/leyden-$mpi

    # A rank whose kernels are slow does less than the other.
    small="map molecule.pqr --method dcs --spacing 0.25 --slab 2 --device cpu --quiet"
    # shellcheck disable=SC2086
    [ -e right.dx ] || "$BUILD/leyden" $small -o right.dx
    # shellcheck disable=SC2086
    run -n 1 "$leyden" $small -o many.dx --json report.json : \
        -n 1 $faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=200,ever=1 "$leyden" $small -o many.dx >said 2>&1 ||
        wrong "$mpi: a slow rank: $(cat said)"
    cmp -s right.dx many.dx || wrong "$mpi: a slow rank: other bytes"
    python3 -c "
import json
points = [d['points'] for d in json.load(open('report.json'))['devices']]
assert len(points) == 2 and points[1] < points[0] / 2, points" || wrong "$mpi: a slow rank does as much as the other"
    rm -f many.dx report.json

    # One whose driver hangs, or whose values are wrong, gives its slabs back. Rank 0 is slow enough
    # for it to take some.
    for fault in call=clEnqueueNDRangeKernel,at=6,fault=hang call=clEnqueueReadBuffer,at=6,fault=scale,ever=1; do
        # shellcheck disable=SC2086
        run -n 1 $faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=50,ever=1 "$leyden" $small -o many.dx --json report.json : \
            -n 1 $faulty FAULTY_OPENCL=$fault FAULTY_OPENCL_SAYS=struck "$leyden" $small -o many.dx >said 2>&1 ||
            wrong "$mpi: $fault: $(cat said)"
        [ -e struck ] || wrong "$mpi: $fault did not strike"
        cmp -s right.dx many.dx || wrong "$mpi: $fault: other bytes"
        if [[ $fault == *scale* ]]; then
            python3 -c "
import json
devices = json.load(open('report.json'))['devices']
assert [d['status'] for d in devices] == ['LEY_OK', 'LEY_ERROR_WRONG_RESULT'] and devices[1]['points'] == 0, devices" || wrong "$mpi: who was wrong?"
        fi
        rm -f many.dx report.json struck
    done

    # One that fails ends all, with its number and its message.
    start=$SECONDS
    run -n 1 "$leyden" map molecule.pqr --method dcs --device cpu -o failed.dx : \
        -n 1 "$leyden" map nothing.pqr --method dcs --device cpu -o failed.dx >said 2>&1 && wrong "$mpi: a rank without its file"
    grep -q 'rank 1: nothing.pqr' said || wrong "$mpi: who failed? $(cat said)"
    [ $((SECONDS - start)) -lt 10 ] || wrong "$mpi: a rank that fails ends the others after $((SECONDS - start)) s"
    no_half_file failed "a rank that fails"
    run -n 1 "$leyden" map molecule.pqr --method dcs --spacing 2 --device cpu -o failed.dx : \
        -n 1 "$leyden" map other.pqr --method dcs --spacing 2 --device cpu -o failed.dx >said 2>&1 && wrong "$mpi: two molecules on one map"
    grep -q 'ranks are to do the same job: .* start all of them by one command' said || wrong "$mpi: two molecules: $(cat said)"
    no_half_file failed "another molecule"

    # One that is killed, and all that are asked to end, while a map is written.
    for how in KILL TERM INT; do
        # shellcheck disable=SC2086
        run -n 2 "$leyden" $large -o killed.raw --quiet >said 2>&1 &
        for _ in $(seq 200); do
            [ -n "$(find . -name '.leyden-*' -size +100k)" ] && break
            sleep 0.1
        done
        start=$SECONDS
        if [ $how = KILL ]; then
            mine "leyden-$mpi" "$large" | tail -n 1 | xargs -r kill -KILL
        else
            mine "mpi*" "$large" | head -n 1 | xargs -r kill -$how
        fi
        wait $!
        [ $((SECONDS - start)) -lt 10 ] || wrong "$mpi: after $how they end in $((SECONDS - start)) s"
        [ ! -e killed.raw ] || wrong "$mpi: after $how there is a map"
        # MPICH kills the others of one that was killed without asking them to end.
        if [ $how = KILL ]; then rm -f .leyden-*; fi
        no_half_file killed "$how"
    done
done

# ---- No device -----------------------------------------------------------------------------------

# A rank that has no device leaves the slabs to the others, and says why; where rank 0 has none, all
# compute on their cores; and of several molecules such a rank does its own there.
ranks_without_devices() {
    local none="env OCL_ICD_VENDORS=/nonexistent" mpi=${mpis##* } words
    # shellcheck disable=SC2086
    $none "$BUILD/leyden" devices >/dev/null 2>&1 && return # there is a card
    "$BUILD/leyden" generate waterbox --atoms 105000 -o parts.atoms -q # a large input
    for words in "molecule.pqr --method msm --spacing 1" "parts.atoms --method cutoff --cutoff 6 --spacing 6"; do
        # shellcheck disable=SC2086
        "$BUILD/leyden" map $words --device cpu -q -o some_one.raw --json plan.json >said 2>&1 || wrong "one rank: $(cat said)"
        words="map $words --plan plan.json -o some.raw"
        # shellcheck disable=SC2086
        run -n 1 "$BUILD/leyden-$mpi" $words --json some.json : -n 1 $none "$BUILD/leyden-$mpi" $words : -n 1 "$BUILD/leyden-$mpi" $words >said 2>&1 || wrong "$mpi: a rank without a device: $(cat said)"
        grep -q 'rank 1 has computed nothing: there is no device' said || wrong "$mpi: a rank without a device: $(cat said)"
        cmp -s some_one.raw some.raw || wrong "$mpi: a rank without a device: other bytes of $words"
        python3 -c "
import json
devices = json.load(open('some.json'))['devices']
assert [d['status'] for d in devices] == ['LEY_OK', 'LEY_ERROR_NO_DEVICE', 'LEY_OK'] and devices[1]['points'] == 0, devices" || wrong "$mpi: who had no device?"
    done
    words="map molecule.pqr --method dcs --spacing 1 -q"
    # shellcheck disable=SC2086
    run -n 1 $none "$BUILD/leyden-$mpi" $words -o some.raw --json some.json : -n 1 "$BUILD/leyden-$mpi" $words -o some.raw >said 2>&1 || wrong "$mpi: rank 0 without a device: $(cat said)"
    grep -q '"host": "direct summation"' some.json || wrong "$mpi: rank 0 without a device: $(cat some.json)"
    words="map box.atoms --method cutoff --spacing 2 -v -o some.raw" # more than the host would do alone
    # shellcheck disable=SC2086
    run -n 1 $none "$BUILD/leyden-$mpi" $words : -n 1 "$BUILD/leyden-$mpi" $words >said 2>&1 || wrong "$mpi: rank 0 without a device: $(cat said)"
    grep -q 'rank 0 has no device.*: there is no device' said && grep -q 'leyden: rank 1: \[.*device 0' said && ! grep -q faster said || wrong "$mpi: rank 0 without a device says: $(cat said)"
    words="map molecule.pqr --method dcs --spacing 1 -q"
    cp molecule.pqr some2.pqr
    # shellcheck disable=SC2086
    $none "$BUILD/leyden" ${words/molecule/molecule.pqr some2} -o '{}.raw' >said 2>&1 || wrong "molecules without a device: $(cat said)"
    rm -f some* molecule.raw* parts.atoms
}
ranks_without_devices

# ---- Going on ------------------------------------------------------------------------------------

# planes_there [FROM]: planes in kept.mrc.checkpoint; what cannot be read has none.
planes_there() {
    python3 -c "
data = open('kept.mrc.checkpoint', 'rb').read()
sums = data[data.index(b'leyden: planes') + 80:]
print(sum(any(sums[8 * i:8 * i + 8]) for i in range(${1:-0}, 160)))" 2>/dev/null || echo 0
}

# With --resume a run goes on where others have left off, however many ranks had a part in it and
# were killed, and makes the bytes of one that never stopped.
going_on() {
    local small="map molecule.pqr --method dcs --dims 160,160,160 --spacing 0.25 --slab 2 --device cpu --quiet" mpi n=0 there child
    local slow="$faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=400,ever=1" # half a minute
    # shellcheck disable=SC2086
    "$BUILD/leyden" $small -o right.mrc --json right.json >said 2>&1 || wrong "going on: $(cat said)"
    small+=' --plan right.json' # of one device, however it is named
    for mpi in none $mpis; do
        there=$(planes_there)
        # shellcheck disable=SC2086
        case $mpi in
        none) $slow "$BUILD/leyden" $small -o kept.mrc --resume >said 2>&1 & ;;
        *) run -n 2 $slow "$BUILD/leyden-$mpi" ${small/cpu/pthread} -o kept.mrc --resume >said 2>&1 & ;;
        esac
        child=$!
        for _ in $(seq 100); do
            [ "$(planes_there)" -gt "$there" ] && break
            sleep 0.05
        done
        if [ "$mpi" = none ]; then kill -KILL $child; else mine "leyden-$mpi" "kept.mrc" | tail -n 1 | xargs -r kill -KILL; fi
        { wait $child; } 2>/dev/null # which says that it was killed
        [ "$(planes_there)" -gt "$there" ] || wrong "going on: $mpi leaves $(planes_there) planes, $there before: $(cat said)"
        [ ! -e kept.mrc ] || wrong "going on: $mpi, and there is a map"
    done
    # shellcheck disable=SC2086
    "$BUILD/leyden" ${small/molecule/other} -o kept.mrc --resume >said 2>&1 && wrong "going on with another molecule"
    grep -q "this run is of 'molecule: 301 atoms" said || wrong "going on with another molecule: $(cat said)"
    # shellcheck disable=SC2086
    "$BUILD/leyden" $small --r-min 1 -o kept.mrc --resume >said 2>&1 && wrong "going on with another option"
    grep -q -- "this run is of '--r-min: 1" said || wrong "going on with another option: $(cat said)"
    there=$(planes_there)
    mpi=${mpis##* } && n=2
    # shellcheck disable=SC2086
    run -n $n "$BUILD/leyden-$mpi" $small --verify 50 --seed 3 -o kept.mrc --resume --json kept.json >said 2>&1 || wrong "$mpi goes on: $(cat said)"
    cmp -s -i 1024 right.mrc kept.mrc || wrong "$mpi goes on, and makes other values" # headers say how far off
    grep -q "\"kept_points\": $((there * 160 * 160))," kept.json || wrong "$mpi goes on: $there planes were there, $(grep kept_points kept.json)"
    [ ! -e kept.mrc.checkpoint ] || wrong "$mpi goes on, and leaves what it went on from"
    # Without a plan devices are to be the same; and a file that is no checkpoint is left alone.
    small=${small% --plan*}
    # shellcheck disable=SC2086
    $slow "$BUILD/leyden" $small -o kept.mrc --resume >said 2>&1 &
    child=$!
    for _ in $(seq 100); do
        [ "$(planes_there)" -gt 0 ] && break
        sleep 0.05
    done
    kill -TERM $child
    wait $child
    # shellcheck disable=SC2086
    "$BUILD/leyden" ${small/cpu/pthread} -o kept.mrc --resume >said 2>&1 && wrong "going on with another device"
    grep -q 'this run is of .*pthread.*and the one that left it was of .*cpu.*: repeat its command to go on' said || wrong "going on with another device: $(cat said)"
    cp right.mrc kept.mrc.checkpoint
    # shellcheck disable=SC2086
    "$BUILD/leyden" $small -o kept.mrc --resume >said 2>&1 && wrong "going on from a map"
    grep -q 'kept.mrc.checkpoint: it is no checkpoint .* move it away' said && cmp -s right.mrc kept.mrc.checkpoint || wrong "going on from a map: $(cat said)"
    # By parts headers know planes of former runs, too, whoever's part they are in.
    small="map box.atoms --method cutoff --dims 24,24,160 --spacing 0.5 --slab 1 --verify 0 --device cpu --quiet"
    rm -f kept.*
    # shellcheck disable=SC2086
    "$BUILD/leyden" $small -o right.mrc >said 2>&1 || wrong "going on by parts: $(cat said)"
    # shellcheck disable=SC2086
    $faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=fail,at=16,ever=1 "$BUILD/leyden" $small -o kept.mrc --resume >said 2>&1
    [ "$(planes_there 80)" -gt 0 ] && [ ! -e kept.mrc ] || wrong "going on by parts: $(planes_there) planes are left: $(cat said)"
    # shellcheck disable=SC2086
    run -n 2 "$BUILD/leyden-$mpi" ${small/--quiet/} -o kept.mrc --resume >said 2>&1 || wrong "$mpi goes on by parts: $(cat said)"
    cmp -s right.mrc kept.mrc || wrong "$mpi goes on by parts, and makes other bytes"
    grep -q '^time: .*[0-9] values were there already' said || wrong "$mpi goes on by parts, and says: $(cat said)"
    # Of several molecules each rank keeps what is its own.
    small="map molecule.pqr box.atoms other.pqr --method cutoff --spacing 2 --verify 0 --device cpu --quiet"
    # shellcheck disable=SC2086
    "$BUILD/leyden" $small -o 'right_{}.mrc' >said 2>&1 || wrong "molecules that are kept: $(cat said)"
    # shellcheck disable=SC2086
    run -n 2 "$BUILD/leyden-$mpi" $small -o 'kept_{}.mrc' --resume >said 2>&1 || wrong "$mpi: molecules that are kept: $(cat said)"
    for there in molecule box other; do
        cmp -s right_$there.mrc kept_$there.mrc || wrong "$mpi: molecules that are kept: $there"
    done
    rm -f kept[._]* right[._]*
}
going_on

# Ranks that were started with different command lines end, and do not wait for each other.
for mpi in $mpis; do
    for other in "map molecule.pqr" "map box.atoms --resume" "map box.atoms --dielectric 4"; do
        # shellcheck disable=SC2086
        run -n 1 "$BUILD/leyden-$mpi" map box.atoms --method cutoff --device cpu -q -o differ.raw : \
            -n 1 "$BUILD/leyden-$mpi" $other --method cutoff --device cpu -q -o differ.raw >said 2>&1 &&
            wrong "$mpi: different commands: $other"
        grep -q "rank 0: ranks are to do the same job" said || wrong "$mpi: different commands: $other: $(cat said)"
    done
done

# ---- Molecules by parts --------------------------------------------------------------------------

# damage IN OUT NUMBER VALUE: another number in a file of atoms, whose checksum (XXH64) is right.
damage() {
    python3 - "$@" <<'END'
import struct
import sys
M, P = (1 << 64) - 1, [0, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]
def rotated(x, bits):
    return (x << bits | x >> 64 - bits) & M
def mixed(lane, word):
    return rotated(lane + word * P[2] & M, 31) * P[1] & M
def checksum(data):
    words, lane = struct.unpack('<%dQ' % (len(data) // 8), data), [P[1] + P[2] & M, P[2], 0, -P[1] & M]
    whole = len(words) // 4 * 4
    for i in range(whole):
        lane[i % 4] = mixed(lane[i % 4], words[i])
    h = sum(rotated(lane[k], (1, 7, 12, 18)[k]) for k in range(4)) & M
    for k in range(4):
        h = ((h ^ mixed(0, lane[k])) * P[1] + P[4]) & M
    h = h + len(data) & M
    for word in words[whole:]:
        h = (rotated(h ^ mixed(0, word), 27) * P[1] + P[4]) & M
    h = (h ^ h >> 33) * P[2] & M
    h = (h ^ h >> 29) * P[3] & M
    return h ^ h >> 32
data = bytearray(open(sys.argv[1], 'rb').read())
assert checksum(bytes(data[:-8])) == struct.unpack('<Q', data[-8:])[0]
struct.pack_into('<d', data, 24 + 8 * int(sys.argv[3]), float(sys.argv[4]))
struct.pack_into('<Q', data, len(data) - 8, checksum(bytes(data[:-8])))
open(sys.argv[2], 'wb').write(data)
END
}

# What is wrong with a file says the same as one rank, whichever rank has that atom; and where no
# rank has a device left all end.
parts_that_fail() {
    local name word mpi fault
    damage box.atoms number.atoms $((3 * 2900 + 1)) nan
    damage box.atoms charge.atoms $((3 * 3000 + 1500)) 1e9
    head -c 100000 box.atoms >short.atoms
    cp box.atoms altered.atoms
    printf x | dd of=altered.atoms bs=1 seek=90000 conv=notrunc 2>/dev/null
    for name in number charge short altered; do
        word="map $name.atoms --method cutoff --spacing 2 --device cpu -o failed.raw"
        # shellcheck disable=SC2086
        "$BUILD/leyden" $word >said_one 2>&1 && wrong "$name.atoms was read"
        for mpi in $mpis; do
            # shellcheck disable=SC2086
            run -n 3 "$BUILD/leyden-$mpi" $word >said 2>&1 && wrong "$mpi: $name.atoms was read"
            grep -qF "$(sed 's/^leyden: //' said_one)" said || wrong "$mpi: $name.atoms: $(cat said)"
            no_half_file failed "$name.atoms"
        done
    done
    word="map box.atoms --method cutoff --spacing 0.7 --device cpu -q -o failed.raw"
    # shellcheck disable=SC2086
    run -n 2 $faulty FAULTY_OPENCL=call=clEnqueueReadBuffer,fault=fail,ever=1 "$BUILD/leyden-$mpi" $word >said 2>&1 &&
        wrong "$mpi: parts without a device"
    grep -q 'clEnqueueReadBuffer' said || wrong "$mpi: parts without a device: $(cat said)"
    no_half_file failed "parts without a device"
}
parts_that_fail

# Planes of a rank that is slow, or whose only device fails, is wrong or hangs, others do, with its
# atoms. These are slow enough for it to begin with its own.
parts_of_others() {
    local fault others points mpi words="map box.atoms --method cutoff --spacing 0.25 --dims 20,20,200 --device cpu -q -o parts.raw"
    # shellcheck disable=SC2086
    "$BUILD/leyden" $words && mv parts.raw parts_right.raw
    for mpi in $mpis; do
        for fault in NDRangeKernel,fault=delay,delay_ms=100,ever=1 ReadBuffer,at=2,fault=fail,ever=1 ReadBuffer,fault=scale,ever=1 NDRangeKernel,at=4,fault=hang; do
            [[ $fault == *delay* ]] && others= || others="$faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=40,ever=1"
            # shellcheck disable=SC2086
            run -n 1 $others "$BUILD/leyden-$mpi" $words --json parts.json : -n 1 $faulty FAULTY_OPENCL=call=clEnqueue$fault "$BUILD/leyden-$mpi" $words : \
                -n 1 $others "$BUILD/leyden-$mpi" $words >said 2>&1 || wrong "$mpi: parts of another rank, $fault: $(cat said)"
            cmp -s parts_right.raw parts.raw || wrong "$mpi: parts of another rank, $fault: other bytes"
            points=$(python3 -c "import json; print(json.load(open('parts.json'))['devices'][1]['points'])")
            [ "$points" -lt $((400 * 64)) ] || wrong "$mpi: $fault: nobody helps, rank 1 has done $points points"
            [[ $fault == *delay* ]] || [ "$points" = 0 ] || wrong "$mpi: $fault: rank 1 has done $points points"
            rm -f parts.raw parts.json
        done
    done
}
parts_of_others

# Layers that those who help cannot do either others do, as long as a device is left: the only layer
# of rank 1, which ranks 0 and 2 may take and fail with; and all of rank 1, where of rank 0's two
# devices one does not return.
parts_of_many_faults() {
    local mpi=${mpis##* } words="map box.atoms --method cutoff --dims 16,16,32 --spacing 0.8 -q -o parts.raw" fails i
    fails="$faulty FAULTY_OPENCL=call=clEnqueueReadBuffer,fault=fail,ever=1"
    # shellcheck disable=SC2086
    "$BUILD/leyden" $words --device cpu && mv parts.raw parts_right.raw
    # shellcheck disable=SC2086
    for i in 1 2; do
        run -n 1 $fails,at=2 "$BUILD/leyden-$mpi" $words --device cpu : -n 1 $fails "$BUILD/leyden-$mpi" $words --device cpu : \
            -n 1 $fails,at=2 "$BUILD/leyden-$mpi" $words --device cpu : -n 1 "$BUILD/leyden-$mpi" $words --device cpu >said 2>&1 || wrong "$mpi: a layer that three ranks fail with: $(cat said)"
        cmp -s parts_right.raw parts.raw || wrong "$mpi: a layer that three ranks fail with: other bytes"
        rm -f parts.raw
    done
    [ "${TEST_LEVEL:-quick}" = quick ] && return
    words=${words/16,16,32 --spacing 0.8/20,20,160 --spacing 0.5}
    # shellcheck disable=SC2086
    "$BUILD/leyden" $words --device cpu && mv parts.raw parts_right.raw
    # shellcheck disable=SC2086
    run -n 1 env POCL_DEVICES="pthread basic" $faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,at=4,device=0,fault=hang FAULTY_OPENCL_SAYS=struck "$BUILD/leyden-$mpi" $words --device all : \
        -n 1 $fails "$BUILD/leyden-$mpi" $words --device all >said 2>&1 || wrong "$mpi: one of two devices hangs: $(cat said)"
    [ -e struck ] || wrong "$mpi: one of two devices does not hang"
    cmp -s parts_right.raw parts.raw || wrong "$mpi: one of two devices hangs: other bytes"
    rm -f parts.raw struck
}
parts_of_many_faults

# Ranks wait for one whose devices open late, which the report says by its name; and two files of
# one size are not one that is damaged.
parts_of_ranks_that_differ() {
    local word="map box.atoms --method cutoff --spacing 3 --device cpu -q -o late.raw" mpi=${mpis##* }
    # shellcheck disable=SC2086
    run -n 1 "$BUILD/leyden-$mpi" $word --json late.json : \
        -n 1 $faulty FAULTY_OPENCL=call=clCreateContext,fault=delay,delay_ms=700 "$BUILD/leyden-$mpi" $word >said 2>&1 || wrong "$mpi: a late rank: $(cat said)"
    python3 -c "
import json
seconds = json.load(open('late.json'))['seconds']
assert seconds['waiting'] > 0.2 and seconds['reading'] < seconds['waiting'], seconds" || wrong "$mpi: who was waited for?"
    "$BUILD/leyden" generate waterbox --atoms 3000 --seed 5 -o other.atoms -q
    # shellcheck disable=SC2086
    run -n 2 "$BUILD/leyden-$mpi" $word : -n 1 "$BUILD/leyden-$mpi" ${word/box/other} >said 2>&1 && wrong "$mpi: two files of one size"
    grep -q 'were given different files: .* rank 2 has 3000 (checksum .* a copy of it on each' said || wrong "$mpi: two files of one size: $(cat said)"
    rm -f late.*
}
parts_of_ranks_that_differ

# ---- Long-range sums -----------------------------------------------------------------------------

# Ranks spread charges and transform them together where that pays, as with many atoms on few nodes,
# and make the bytes of one; where one of them makes its part wrongly, or none, the others do all.
long_range() {
    local solver words n fault mpi together=0
    awk 'BEGIN {srand(9); for (i = 1; i <= 20000; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i % 9999, 40 * rand(), 40 * rand(), 40 * rand(), rand() - 0.5, 1.5}' >dense.pqr
    for solver in multilevel fourier; do
        words="map dense.pqr --method msm --solver $solver --dims 24,24,24 --spacing 2 --slab 1 --device cpu --quiet"
        # shellcheck disable=SC2086
        "$BUILD/leyden" $words -o mesh_one.raw --json mesh_one.json >said 2>&1 || wrong "dense: $(cat said)"
        for mpi in $mpis; do
            n=3
            [ "$mpi" = mpich ] && n=2
            # shellcheck disable=SC2086
            run -n $n "$BUILD/leyden-$mpi" $words --plan mesh_one.json -o mesh.raw --json mesh.json >said 2>&1 || wrong "$mpi: $solver together: $(cat said)"
            cmp -s mesh_one.raw mesh.raw || wrong "$mpi: $solver together makes other bytes"
            grep -q '"exchange_bytes": [1-9]' mesh.json && together=$((together + 1))
        done
    done
    # A busy machine's link may be too slow, or a rank too late, now and then.
    [ $together -gt 0 ] || wrong "ranks do not make a mesh together"
    for fault in call=clEnqueueReadBuffer,at=1,fault=scale,ever=1 call=clEnqueueReadBuffer,at=1,fault=fail; do
        # shellcheck disable=SC2086
        run -n 1 "$BUILD/leyden-$mpi" $words --plan mesh_one.json -o mesh.raw --json mesh.json : \
            -n 1 $faulty FAULTY_OPENCL=$fault FAULTY_OPENCL_SAYS=struck "$BUILD/leyden-$mpi" $words --plan mesh_one.json -o mesh.raw >said 2>&1 || wrong "$mpi: a mesh, $fault: $(cat said)"
        [ -e struck ] || wrong "$mpi: a mesh, $fault did not strike"
        cmp -s mesh_one.raw mesh.raw || wrong "$mpi: a mesh, $fault: other bytes"
        python3 -c "
import json
report = json.load(open('mesh.json'))
assert 'exchange_s' not in report['long_range']['report'], report['long_range']
assert [d['points'] for d in report['devices']] == [24 ** 3, 0], report['devices']" || wrong "$mpi: a mesh, $fault: who did what?"
        rm -f struck
    done
}
long_range

# ---- Long-range sums by parts --------------------------------------------------------------------

# A long box, of which each rank reads its own part: the same bytes as of one rank, verified, with
# as many levels of meshes of its own as the plan says or is predicted.
awk 'BEGIN {srand(11); for (i = 1; i <= 3000; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i, 12 * rand(), 12 * rand(), 600 * rand(), (i % 2) - 0.5, 1.5}' >long.pqr
"$BUILD/leyden" convert long.pqr -o long.atoms --quiet || wrong "long.atoms"
long_cases=(
    "--dims 12,12,310"
    "--dims 8,8,300 --cell 12,12,600 --periodic xyz --solver mixed --levels 3"
    "--dims 12,12,310 --solver fourier"
    "--dims 12,12,60 --origin 0,0,270" # of atoms that are far below and above
    "--dims 8,8,300 --cell 12,12,600 --periodic xyz --solver fourier --kappa 1e-2" # a large mean
)
# by_parts RANKS CASE LEVELS: levels that are local; -: as predicted, one or more.
by_parts() {
    local words="map long.atoms --method msm --cutoff 4 --mesh-spacing 1.25 --spacing 2 --device cpu --quiet ${long_cases[$2]}"
    # shellcheck disable=SC2086
    [ -e "long_$2.json" ] || "$BUILD/leyden" $words -o "long_$2.raw" --json "long_$2.json" >said 2>&1 || wrong "parts: $(cat said)"
    python3 -c "
import json, sys
plan = json.load(open('long_$2.json'))
if '$3' != '-':
    plan['plan']['local_levels'] = int('$3')
json.dump(plan, open('long_plan.json', 'w'))"
    # shellcheck disable=SC2086
    run -n "$1" "$BUILD/leyden-$mpi" $words --plan long_plan.json -o parts.raw --json parts.json >said 2>&1 || { wrong "$1 ranks of $mpi: parts, $words: $(cat said)"; return; }
    cmp -s "long_$2.raw" parts.raw || wrong "$1 ranks of $mpi make other bytes by parts: $words"
    [ "$1" = 1 ] || python3 -c "
import json
report = json.load(open('parts.json'))
mesh = report['long_range']['report']
assert report['accuracy']['passed'] and report['accuracy']['compared'] >= 50, report['accuracy']
one, parts = (r['seeded_accuracy']['max_error'] for r in (json.load(open('long_$2.json')), report))
assert abs(parts / one - 1) < 1e-3, (one, parts)
assert mesh['exchange_bytes'] > 0 and mesh['local_levels'] == (mesh['local_levels'] or 1 if '$3' == '-' else int('$3')), mesh" || wrong "$1 ranks of $mpi: the report of $words"
    rm -f parts.*
}
for mpi in $mpis; do
    if [ "$mpi" = "${mpis##* }" ]; then
        by_parts 2 0 2
        by_parts 5 1 -
        by_parts 3 3 -
        by_parts 2 4 0
    fi
    if [ "${TEST_LEVEL:-quick}" != quick ]; then
        by_parts 3 1 1
        by_parts 5 0 -
        by_parts 3 2 0
        by_parts 1 0 -
    fi
done

# A run that goes on where all planes of one rank are there, which the other one needs for meshes.
going_on_by_parts() {
    local words="map long.atoms --method msm --cutoff 4 --mesh-spacing 1.25 --spacing 2 --device cpu --quiet ${long_cases[0]} --plan long_0.json -o parts.raw --resume"
    local slow="$faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=150,ever=1" child
    # shellcheck disable=SC2086
    run -n 1 $slow "$BUILD/leyden-$mpi" $words : -n 1 "$BUILD/leyden-$mpi" $words >said 2>&1 &
    child=$!
    for _ in $(seq 200); do
        python3 -c "
data = open('parts.raw.checkpoint', 'rb').read()
sums = data[data.rindex(b'leyden: planes') + 80:]
there = [any(sums[8 * i:8 * i + 8]) for i in range(310)]
assert all(there[200:]) and not all(there)" 2>/dev/null && break
        sleep 0.05
    done
    mine "leyden-$mpi" parts.raw | xargs -r kill -KILL
    { wait $child; } 2>/dev/null
    [ -e parts.raw.checkpoint ] || wrong "$mpi: parts that go on: nothing is there"
    # shellcheck disable=SC2086
    run -n 2 "$BUILD/leyden-$mpi" $words >said 2>&1 || wrong "$mpi: parts that go on: $(cat said)"
    cmp -s long_0.raw parts.raw || wrong "$mpi: parts that go on: other bytes"
    rm -f parts.*
}
mpi=${mpis##* }
going_on_by_parts

# With a tolerance meshes are chosen by all ranks' shares, as one process does. tolerance_by_parts
# COMMAND RANKS WORDS: the tolerance is kept, and by its plan one rank makes the same bytes; MISSED:
# how many runs before missed it.
tolerance_by_parts() {
    local command=$1 n=$2 words="map long.atoms --tol 1e-3 --spacing 2 --device cpu --quiet $3" missed=$4
    # shellcheck disable=SC2086
    run -n "$n" "$BUILD/$command-$mpi" $words -o parts.raw --json parts.json >said 2>&1 || { wrong "$n ranks of $mpi: parts, $words: $(cat said)"; return; }
    # shellcheck disable=SC2086
    "$BUILD/leyden" $words --plan parts.json -o whole.raw --json whole.json >said 2>&1 || wrong "parts, whole: $words: $(cat said)"
    cmp -s whole.raw parts.raw || wrong "$n ranks of $mpi make other bytes by parts: $words"
    python3 -c "
import json
report, whole = json.load(open('parts.json')), json.load(open('whole.json'))
assert report['accuracy']['relative_rms'] <= 1e-3 and report['accuracy']['passed'], report['accuracy']
assert abs(report['accuracy']['relative_rms'] / whole['accuracy']['relative_rms'] - 1) < 1e-5 or report['accuracy']['points'] != whole['accuracy']['points'], (report['accuracy'], whole['accuracy'])
assert 'local_levels' in report['plan'] and len(report['missed_rms']) == $missed, (report['plan'], report['missed_rms'])" || wrong "$n ranks of $mpi: the report of $words"
    rm -f parts.* whole.*
}
mpi=${mpis##* }
tolerance_by_parts leyden 3 "--method msm --solver multilevel --dims 12,12,150 --origin 0,0,150" 0
tolerance_by_parts tests/loose_plans/leyden 2 "--method msm --math standard --dims 12,12,310" 1
if [ "${TEST_LEVEL:-quick}" != quick ]; then
    tolerance_by_parts leyden 2 "--method msm --dims 8,8,300 --cell 12,12,600 --periodic xyz" 0
    tolerance_by_parts leyden 5 "--method msm --dims 12,12,310" 0
fi

# Values that are right, and further off than usual: layers of ions in step with the mesh, which the
# method's own steps confirm, and heaps of charges between the same nodes. Rank 0 has all atoms for
# that, and judges as one process does.
awk 'BEGIN {for (i = 0; i < 2048; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i, 2 * (i % 16) + 0.5, 2 * (int(i / 16) % 16) + 0.5, 5 * int(i / 256) + 0.5, int(i / 256) % 2 ? -1 : 1, 1.5}' >layers.pqr
awk 'BEGIN {srand(3); for (i = 0; i < 3000; i++) {if (i % 300 == 0) {x = 24 * rand(); y = 24 * rand(); z = 60 * rand(); q = rand() < 0.5 ? -0.3 : 0.3}; printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i, i, x + 0.01 * rand(), y + 0.01 * rand(), z + 0.01 * rand(), q, 1.5}}' >heaps.pqr
second_opinion() {
    local words="map $1.atoms --method msm --verify 2000 --device cpu $2"
    "$BUILD/leyden" convert "$1.pqr" -o "$1.atoms" --quiet || wrong "$1.atoms"
    # shellcheck disable=SC2086
    "$BUILD/leyden" $words -o opinion.raw --json opinion.json --quiet >said 2>&1 || wrong "$1: $(cat said)"
    # shellcheck disable=SC2086
    run -n 2 "$BUILD/leyden-$mpi" $words --plan opinion.json -o parts.raw --json parts.json -v >said 2>&1 || wrong "$mpi: $1 by parts: $(cat said)"
    grep -q "$3" said || wrong "$mpi: $1 by parts: $(cat said)"
    python3 -c "
import json
one, parts = (json.load(open(name))['accuracy'] for name in ('opinion.json', 'parts.json'))
assert parts['passed'] and abs(parts['tolerance'] / one['tolerance'] - 1) < 1e-3, (one, parts)" || wrong "$mpi: $1 by parts is judged otherwise"
    cmp -s opinion.raw parts.raw || wrong "$mpi: $1 by parts: other bytes"
    rm -f parts.* opinion.*
}
second_opinion layers "--dims 10,10,12 --origin 4,4,7 --spacing 2.5" "by the method's own steps"
second_opinion heaps "--cutoff 6 --mesh-spacing 2 --dims 8,8,20 --spacing 3" "limit 0.2" # of others 0.014

# A rank that cannot make its charges, or not even its kernels, says so, and all end.
mpi=${mpis##* }
words="map long.atoms --method msm --cutoff 4 --mesh-spacing 1.25 --spacing 2 --device cpu --quiet ${long_cases[0]} -o parts.raw"
for call in clEnqueueReadBuffer clBuildProgram; do
    # shellcheck disable=SC2086
    run -n 1 "$BUILD/leyden-$mpi" $words : -n 1 $faulty FAULTY_OPENCL=call=$call,at=1,fault=fail,ever=1 "$BUILD/leyden-$mpi" $words >said 2>&1 && wrong "$mpi: parts without those of a rank"
    grep -q "rank 1.*$call" said || wrong "$mpi: why parts were not made: $(cat said)"
done
[ ! -e parts.raw ] || wrong "$mpi: a map of parts that were not made"
rm -f parts.* .leyden-*

# Where atoms, grid and ranks grow together, the memory of the largest rank does not: of a cutoff,
# with a tolerance, and with local levels, where the finest mesh is most of what one process has.
# Where each rank has all atoms it does.
memory_of_ranks() {
    local n words mpi=${mpis##* } numbers='2 2 5' # the first run builds kernels, which takes memory
    [ "$TEST_LEVEL" = full ] && numbers+=' 16'
    cat >measure.py <<'END'
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], close_fds=False)
with open(sys.argv[1], 'a') as kilobytes:
    kilobytes.write(f'{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n')
sys.exit(code)
END
    for n in $numbers; do
        awk -v n=$n 'BEGIN {srand(5); for (i = 1; i <= 100000 * n; i++) printf "ATOM  %5d  O   HOH  %4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", i % 99999, i % 9999, 40 * rand(), 40 * rand(), 625 * n * rand(), rand() - 0.5, 1.5}' >high.pqr
        awk -v n=$n 'BEGIN {srand(12); for (i = 1; i <= 2000 * n; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.2f %7.4f %6.4f\n", i, i % 9999, 120 * rand(), 120 * rand(), 200 * n * rand(), (i % 2) - 0.5, 1.5}' >wide.pqr
        "$BUILD/leyden" convert high.pqr -o high.atoms -q && "$BUILD/leyden" convert wide.pqr -o wide.atoms -q && ln -sf high.atoms tolerance.atoms
        for words in "high.atoms --method cutoff --dims 12,12,$((156 * n)) --spacing 4" "tolerance.atoms --method msm --tol 1e-4 --dims 12,12,$((156 * n)) --spacing 4" "high.pqr --method cutoff --dims 12,12,$((156 * n)) --spacing 4" "wide.atoms --method msm --solver multilevel --window nodal3 --splitting taylor2 --cutoff 2 --mesh-spacing 1 --dims 16,16,$((26 * n)) --spacing 8"; do
            rm -f "${words%% *}.$n"
            # shellcheck disable=SC2086
            POCL_MAX_PTHREAD_COUNT=1 run -n $n python3 measure.py "${words%% *}.$n" "$BUILD/leyden-$mpi" map $words --device cpu --quiet -o memory.raw --json memory.json >said 2>&1 || wrong "$n ranks of $mpi: $words: $(cat said)"
        done
        grep -q '"local_levels": [1-9]' memory.json || wrong "$n ranks of $mpi: a wide box has no local levels"
        rm -f memory.raw*
    done
    python3 -c "
for what in 'high.atoms', 'tolerance.atoms', 'wide.atoms', 'high.pqr':
    most = [max(int(line) for line in open(f'{what}.{n}')) for n in '$numbers'.split()[1:]]
    print('memory of the largest rank,', what, most, 'kB')
    assert (max(most) <= 1.2 * most[0]) == what.endswith('.atoms'), 'which grows, or is too little to tell'" || wrong "$mpi: the memory of the largest rank"
}
[ "${TEST_LEVEL:-quick}" = quick ] || memory_of_ranks

# ---- Different devices ---------------------------------------------------------------------------

# PoCL, slowed down so that llvmpipe gets something to do; the latter compiles for seconds.
if [ "${TEST_LEVEL:-quick}" != quick ] && [ -e /etc/OpenCL/vendors/rusticl.icd ]; then
    "$BUILD/leyden" map molecule.pqr --method dcs --spacing 0.2 --device cpu -o plain.raw --quiet
    for mpi in $mpis; do
        words="map molecule.pqr --method dcs --spacing 0.2 --slab 2 -o mixed.raw --quiet"
        # shellcheck disable=SC2086
        OCL_ICD_VENDORS='' RUSTICL_ENABLE=llvmpipe run \
            -n 1 $faulty FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=delay,delay_ms=300,ever=1 "$BUILD/leyden-$mpi" $words --device pthread --json mixed.json : \
            -n 1 "$BUILD/leyden-$mpi" $words --device llvmpipe >said 2>&1 || wrong "$mpi: different devices: $(cat said)"
        "$BUILD/leyden" compare plain.raw mixed.raw --tol 1e-5 >said 2>&1 || wrong "$mpi: different devices: $(cat said)"
        python3 -c "
import json
points = [d['points'] for d in json.load(open('mixed.json'))['devices']]
assert len(points) == 2 and min(points) > 0, points" || wrong "$mpi: one of two different devices does nothing"
    done
fi

# ---- What is not dealt, and no MPI --------------------------------------------------------------

for mpi in $mpis; do
    # Standard input has one reader.
    run -n 2 "$BUILD/leyden-$mpi" map - -o failed.dx <molecule.pqr >said 2>&1 && wrong "$mpi: standard input of two ranks"
    grep -q 'one reader, and there are 2 ranks: write it to a file, and name that' said || wrong "$mpi: standard input of two ranks: $(cat said)"
    run -n 2 "$BUILD/leyden-$mpi" --version >said 2>&1
    [ "$(grep -c '^leyden ' said)" = 1 ] || wrong "$mpi: --version of two ranks: $(cat said)"
    # Molecules are dealt: each is computed once, by some rank.
    for i in 1 2 3 4 5; do cp molecule.pqr "m$i.pqr"; done
    run -n 3 "$BUILD/leyden-$mpi" map m[1-5].pqr --method dcs --spacing 1.5 --device cpu -o '{}.dx' --json report.json >said 2>&1 || wrong "$mpi: molecules: $(cat said)"
    grep -q '^molecules: 5 of 5 written' said || wrong "$mpi: molecules: $(cat said)"
    for i in 1 2 3 4 5; do [ -e "m$i.dx" ] || wrong "$mpi: no map of molecule $i"; done
    python3 -c "
import json
report = json.load(open('report.json'))
assert report['written'] == 5 and [m['file'] for m in report['molecules']] == ['m%d.pqr' % i for i in range(1, 6)], report" || wrong "$mpi: the report of molecules"
    rm -f m[1-5].* report.json
    run -n 2 "$BUILD/leyden-$mpi" convert one_dcs.dx -o converted.raw >said 2>&1 || wrong "$mpi: convert: $(cat said)"
    [ -e converted.raw ] || wrong "$mpi: nothing was converted"
    run -n 3 "$BUILD/leyden" map molecule.pqr --method dcs --spacing 1.5 --device cpu -o without.dx --quiet >said 2>&1 || wrong "without MPI: $(cat said)"
    cmp -s one_dcs.dx without.dx || wrong "without MPI: other bytes"
    [ "$(grep -o 'built without MPI; to deal it to all ranks type: mpirun -n 3 leyden-mpi ' said | wc -l)" = 2 ] || wrong "without MPI: $(cat said)"
done

[ $failures = 0 ] || { echo "$failures wrong"; exit 1; }
echo "note: with$mpis"
