#!/bin/bash
# Compiles every kernel for cards that are not there, with every compiler that is: BUILD=... offline.sh. See docs/offline.md.
# Prints a table of registers and spills. Exit code 1, with the compiler's log, when a kernel does not compile.
# Needs $BUILD/tests/offline_specs and $BUILD/tests/offline_nvrtc.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
specs=$BUILD/tests/offline_specs
nvrtc=$BUILD/tests/offline_nvrtc
top=$BUILD/offline
old_wheel=nvidia-cuda-nvrtc-cu11==11.8.89
old_architectures="35 50 60 70"
amd_processors="tahiti gfx900 gfx90a gfx1030"
clang=${OFFLINE_CLANG:-$(command -v clang-15 || command -v clang)}
libclc=/usr/lib/clc/amdgcn--amdhsa.bc
skipped=0
unset LEYDEN_NVRTC

skip() {
    echo "skipped: $*"
    skipped=$((skipped + 1))
}

# Lists hold lines "ARCHITECTURE KERNEL NAME OPTIONS..."; results hold lines "COMPILER ARCHITECTURE NAME REGISTERS SPILLED_BYTES".

# in_two LIST COMMAND...: runs the command with each half of the list as last argument, both at once; joins what they print.
in_two() {
    local list=$1 half
    shift
    split -n r/2 "$list" "$list.half-"
    for half in "$list".half-a?; do
        "$@" "$half" >"$half.out" 2>&1 &
    done
    wait
    cat "$list".half-a?.out
    rm -f "$list".half-*
}

# full CAPABILITY, few CAPABILITY: the list of an architecture; few has the default variants and what calibration runs.
full() { "$specs" cuda "$1" | sed "s/^/$1 /"; }
few() { full "$1" | grep -E ' (tiled8|tiled16|roots|multiply_adds)'; }

# ---- NVRTC -------------------------------------------------------------------------------------------------------------

nvrtc_half() { "$nvrtc" "$1" "$3" "$2" || echo "FAILED: NVRTC, exit code $?"; }

# with_nvrtc NAME LIBRARY LIST
with_nvrtc() {
    mkdir -p "$top/cubin-$1"
    in_two "$3" nvrtc_half "$2" "$top/cubin-$1" | sed "/^[0-9]/s/^/$1 /"
}

installed_nvrtc() {
    local library version capability
    for library in /usr/local/cuda/lib64/libnvrtc.so $(ldconfig -p | awk '/libnvrtc\.so/ {print $NF}'); do
        [ -e "$library" ] && break
        library=
    done
    [ -n "$library" ] || { skip "no NVRTC is installed"; return; }
    read -r version architectures < <("$nvrtc" "$library")
    for capability in $architectures; do
        case $capability in
        75 | 80 | 86 | 89 | 90 | 100 | 120) full "$capability" ;;
        *) few "$capability" ;;
        esac
    done >"$top/installed.list"
    with_nvrtc "nvrtc-$version" "$library" "$top/installed.list" >>"$results"
}

old_nvrtc() {
    local library capability directory=$top/nvrtc-11.8
    library=$directory/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2
    if [ ! -e "$library" ]; then
        command -v python3 >/dev/null || { skip "NVRTC 11.8: python3 is not installed"; return; }
        mkdir -p "$directory"
        if ! timeout 60 python3 -m pip download --quiet --retries 1 --no-deps --dest "$directory" $old_wheel >"$directory/log" 2>&1 ||
            ! python3 -m zipfile -e "$directory"/*.whl "$directory"; then
            skip "NVRTC 11.8: pip cannot download $old_wheel: $(tail -n 1 "$directory/log")"
            return
        fi
    fi
    for capability in $old_architectures; do full "$capability"; done >"$top/old.list"
    # NVRTC looks for its builtins by name alone.
    LD_LIBRARY_PATH=$(realpath "$(dirname "$library")") with_nvrtc nvrtc-11.8 "$(realpath "$library")" "$top/old.list" >>"$results"
}

# ---- clang -------------------------------------------------------------------------------------------------------------

# one COMPILER ARCHITECTURE NAME COMMAND...: runs the compiler; says what failed.
one() {
    local compiler=$1 architecture=$2 name=$3 log
    shift 3
    if ! log=$("$@" 2>&1); then
        printf 'FAILED: %s for %s by %s\n%s\n' "$name" "$architecture" "$compiler" "$log"
        return 1
    fi
    [ -z "$log" ] || printf 'WARNING: %s for %s by %s\n%s\n' "$name" "$architecture" "$compiler" "$log"
}

# Registers are VGPRs; a call left in the assembly is of a function that nobody defines.
amd_half() {
    local processor kernel name options out
    while read -r processor kernel name options; do
        out=$top/amd-$processor-$name.s
        one clang-amdgcn "$processor" "$name" "$clang" -x cl -cl-std=CL1.2 -O3 -target amdgcn--amdhsa -mcpu="$processor" -nogpulib \
            -Xclang -mlink-builtin-bitcode -Xclang "$libclc" -Xclang -finclude-default-header -S -o "$out" $options \
            "$top/$kernel.cl" || continue
        if grep -q '@rel32' "$out"; then
            printf 'FAILED: %s for %s calls %s\n' "$name" "$processor" "$(grep -m 1 '@rel32' "$out")"
            continue
        fi
        awk -v who="clang-amdgcn $processor $name" '
            $1 == ".vgpr_count:" {v = $2} $1 == ".sgpr_count:" {s = $2}
            $1 == ".vgpr_spill_count:" || $1 == ".sgpr_spill_count:" {spills += 4 * $2}
            $2 == "ScratchSize:" {scratch = $3}
            END {print who, v + 0, spills + 0, scratch + 0, s + 0}' "$out"
    done <"$1"
}

cpu_half() {
    local kernel name options
    while read -r _ kernel name options; do
        # gnu89: every inline function is also there to be called, as a CPU's linker wants it.
        one clang-x86 avx512 "$name" "$clang" -x cl -cl-std=CL1.2 -O2 -target x86_64 -march=skylake-avx512 -fgnu89-inline \
            -Xclang -finclude-default-header -S -o "$top/cpu-$name.s" $options "$top/$kernel.cl" || continue
        echo "clang-x86 avx512 $name - -"
    done <"$1"
}

# What the kernels need of CUDA C, in clang's terms: its own headers want a toolkit of the time.
write_fermi_header() {
    cat <<'HEADER'
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define F static __device__ __forceinline__
typedef __SIZE_TYPE__ size_t;
#include <__clang_cuda_builtin_vars.h>
struct __align__(16) int4 { int x, y, z, w; };
F int4 make_int4(int x, int y, int z, int w) { int4 r = {x, y, z, w}; return r; }
F int min(int a, int b) { return a < b ? a : b; }
F float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
F double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
F float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
F double rsqrt(double x) { return __nvvm_rsqrt_approx_d(x); }
F float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
F int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
F float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
F int __ffs(int x) { return __builtin_ffs(x); }
F unsigned atomicOr(unsigned *p, unsigned v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
HEADER
}

# To PTX for 2.0, which no assembler at hand turns into machine code: one that is installed checks it, for a newer card.
fermi_half() {
    local kernel name options out
    while read -r _ kernel name options; do
        out=$top/fermi-$name.ptx
        one clang-nvptx 20 "$name" "$clang" -x cuda --cuda-gpu-arch=sm_20 --cuda-device-only --cuda-path="$top/none" -nocudainc \
            -nocudalib -Xclang -target-feature -Xclang +ptx32 -include "$top/fermi.h" -O3 -S -o "$out" $options \
            "$top/$kernel.cu" || continue
        if [ -n "$ptxas" ]; then
            one ptxas 20 "$name" "$ptxas" -arch=sm_75 -o "$out.cubin" "$out" || continue
        fi
        echo "clang-nvptx 20 $name - -"
    done <"$1"
}

with_clang() {
    local kernel processor
    [ -n "$clang" ] || { skip "OpenCL for AMD, PTX for Fermi: clang is not installed"; return; }
    for kernel in dcs roots multiply_adds; do
        "$specs" source $kernel cl >"$top/$kernel.cl" && "$specs" source $kernel cu >"$top/$kernel.cu" || exit 1
    done
    if [ -e "$libclc" ]; then
        for processor in $amd_processors; do "$specs" gpu | sed "s/^/$processor /"; done >"$top/amd.list"
        in_two "$top/amd.list" amd_half >>"$results"
    else
        skip "OpenCL for AMD: libclc is not installed ($libclc)"
    fi
    "$specs" cpu | sed 's/^/avx512 /' >"$top/cpu.list"
    in_two "$top/cpu.list" cpu_half >>"$results"
    if "$clang" --print-targets 2>/dev/null | grep -q nvptx64; then
        ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
        write_fermi_header >"$top/fermi.h"
        full 20 >"$top/fermi.list"
        in_two "$top/fermi.list" fermi_half >>"$results"
    else
        skip "PTX for Fermi: $clang has no NVPTX back end"
    fi
}

# ---- The table ---------------------------------------------------------------------------------------------------------

table() {
    awk '
        NF >= 5 && $1 !~ /:$/ && ($1 ~ /^nvrtc-/ || $1 ~ /^clang-/) {
            key = $1 " " $2
            if (!(key in kernels)) order[++keys] = key
            kernels[key]++
            if ($4 == "-") { told[key] = "no"; next }
            if ($4 > most[key]) { most[key] = $4; name[key] = $3 }
            if ($5 + 0 > 0) { spilling[key]++; spilled[key] = spilled[key] (spilled[key] == "" ? "" : ", ") $3 " " $5 " B" }
        }
        END {
            printf "%-14s %-8s %8s  %-34s %s\n", "compiler", "for", "kernels", "most registers", "spills"
            for (i = 1; i <= keys; i++) {
                k = order[i]
                split(k, part, " ")
                registers = told[k] == "no" ? "not told" : most[k] " (" name[k] ")"
                spills = told[k] == "no" ? "not told" : spilling[k] == 0 ? "none" : spilling[k] > 3 ? spilling[k] " kernels" : spilled[k]
                printf "%-14s %-8s %8d  %-34s %s\n", part[1], part[2], kernels[k], registers, spills
            }
        }' "$results"
}

mkdir -p "$top" || exit 2
top=$(realpath "$top")
results=$top/results
: >"$results"
installed_nvrtc
old_nvrtc
with_clang
table
# A line a kernel of every list, or something was lost on the way.
wanted=$(cat /dev/null "$top"/*.list | wc -l)
got=$(grep -c -E '^(nvrtc|clang)-' "$results")
if grep -q '^FAILED' "$results" || [ "$wanted" != "$got" ]; then
    awk '/^(nvrtc|clang)-/ {next} {print}' "$results"
    echo "FAILED: $((wanted - got)) of $wanted kernels"
    exit 1
fi
echo "$got kernels compiled$([ $skipped = 0 ] || echo ", $skipped compilers skipped"), in $SECONDS s; $(grep -c '^WARNING' "$results") warnings"
grep -A 6 '^WARNING' "$results" | head -n 40
exit 0
