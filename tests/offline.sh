#!/bin/bash
# Compiles every kernel for cards that are not there, with every compiler that is: BUILD=...
# offline.sh. See docs/offline.md. Prints a table of registers and spills, a line `skipped: ...` for
# what could not be had, and how many kernels were compiled. Exit code 1, with the compiler's log,
# when a kernel does not compile, or one that AMD's cards run by default spills registers to memory.
# Needs $BUILD/tests/offline_specs and $BUILD/tests/offline_nvrtc.
# OFFLINE_NO_TOOLKIT=1: as if no CUDA toolkit were installed. OFFLINE_CLANG: another clang, and
# OFFLINE_NEW_CLANG for those of AMD's processors that it does not know, or not well.
# OFFLINE_FEW=1: each compiler has every kernel once, as its architectures share the list out, and
# each of these has every source; of specifications that differ in numbers only the rest is parsed.
# OFFLINE_COMPILERS: nvrtc or clang alone.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
specs=$BUILD/tests/offline_specs
nvrtc=$BUILD/tests/offline_nvrtc
top=$BUILD/offline
new_wheel=nvidia-cuda-nvrtc # where no toolkit is installed: the newest there is
old_wheel=nvidia-cuda-nvrtc-cu11==11.8.89
old_architectures="35 50 60 70"
amd_processors="tahiti gfx900 gfx90a gfx942 gfx1030 gfx1100 gfx1201" few_amd_processors="tahiti gfx942 gfx1100"
clang=${OFFLINE_CLANG:-$(command -v clang-15 || command -v clang)}
new_clang=${OFFLINE_NEW_CLANG:-$(command -v clang-19 || command -v clang-18 || command -v clang-17)}
libclc=/usr/lib/clc/amdgcn--amdhsa.bc
skipped=0
unset LEYDEN_NVRTC
has_toolkit() { [ -z "${OFFLINE_NO_TOOLKIT:-}" ]; }

skip() {
    echo "skipped: $*"
    skipped=$((skipped + 1))
}

# Lists hold lines "ARCHITECTURE KERNEL NAME OPTIONS..."; results hold lines "COMPILER ARCHITECTURE
# NAME REGISTERS SPILLED_BYTES", and of AMD's processors "... WAVES SCALARS": how many waves a SIMD
# unit holds, and scalars that spill to lanes of vector registers, which is not to memory.

# in_two LIST COMMAND...: runs the command with each half of the list as last argument, both at
# once; joins what they print.
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

# list CAPABILITY [few | all]: the kernels of an architecture.
list() { "$specs" cuda "$@" | sed "s/^/$1 /"; }

is_few() { [ -n "${OFFLINE_FEW:-}" ]; }

# one_of_each: of a list, the first line of each source.
one_of_each() { awk '!($2 in seen) {print} {seen[$2]}'; }

# shared PART PARTS: of a list, this part; in each part are a line of each source and as many
# neighbours as in the others.
shared() { awk -v part="$1" -v parts="$2" '{k = seen[$2]++} k == 0 || k % parts == part'; }

# rest KIND MORE [FEW]: lines of the longer list of a kind of device that the shorter one lacks.
rest() { "$specs" $1 $2 | grep -vxFf <("$specs" $1 ${3-}) | sed 's/^/parsed /'; }

# ---- NVRTC ---------------------------------------------------------------------------------------

nvrtc_half() { "$nvrtc" "$1" "$3" "$2" || echo "FAILED: NVRTC, exit code $?"; }

# with_nvrtc NAME LIBRARY LIST. NVRTC looks for its builtins by name alone.
with_nvrtc() {
    mkdir -p "$top/cubin-$1"
    LD_LIBRARY_PATH=$(dirname "$2")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} in_two "$3" nvrtc_half "$2" "$top/cubin-$1" | sed "/^[0-9]/s/^/$1 /" >>"$results"
}

installed_library() {
    local library
    has_toolkit || return
    for library in /usr/local/cuda/lib64/libnvrtc.so $(ldconfig -p | awk '/libnvrtc\.so/ {print $NF}'); do
        [ -e "$library" ] && echo "$library" && return
    done
}

# why LOG: pip's last line is that it found no such package; what kept it from looking it says
# before.
why() {
    local line
    line=$(grep -o -m 1 'connection broken by .*' "$1" | sed 's/<[^>]*>[:,] //')
    echo "${line:-$(tail -n 1 "$1")}"
}

# fetch_library REQUIREMENT DIRECTORY: NVRTC out of a wheel, which stays in the directory for the
# next time. Sets library; when that is empty, it has said why.
fetch_library() {
    local log=$2.log status
    library=$(ls "$2"/nvidia/*/lib/libnvrtc.so.* 2>/dev/null)
    [ -z "$library" ] || return
    command -v python3 >/dev/null || { skip "NVRTC ($1): python3 is not installed"; return; }
    rm -rf "$2" "$2.new"
    mkdir -p "$2.new"
    timeout 120 python3 -m pip --disable-pip-version-check download --quiet --retries 1 --no-deps --only-binary=:all: \
        --dest "$2.new" "$1" >"$log" 2>&1
    status=$?
    if [ $status != 0 ]; then
        [ $status != 124 ] || echo "more than 120 s" >>"$log"
        skip "NVRTC ($1): pip cannot download it: $(why "$log")"
        rm -rf "$2.new"
        return
    fi
    python3 -m zipfile -e "$2.new"/*.whl "$2.new" >>"$log" 2>&1 && rm "$2.new"/*.whl && mv "$2.new" "$2" # whole or not at all
    library=$(ls "$2"/nvidia/*/lib/libnvrtc.so.* 2>/dev/null)
    [ -n "$library" ] || skip "NVRTC ($1): no library in the wheel: $(tail -n 1 "$log")"
}

# share_new CAPABILITY...: the list shared out among the first one of each major number from 8.0 on,
# where one kernel has another text than before; each source for 7.5.
share_new() {
    local capability sharing=() i
    for capability; do
        case $capability in
        75) list 75 | one_of_each ;;
        *0) [ "$capability" -lt 80 ] || sharing+=("$capability") ;;
        esac
    done
    for i in "${!sharing[@]}"; do list "${sharing[i]}" | shared "$i" ${#sharing[@]}; done
}

new_nvrtc() {
    local library version capability architectures
    library=$(installed_library)
    if [ -z "$library" ]; then
        echo "no NVRTC is installed; PyPI has it"
        fetch_library $new_wheel "$top/nvrtc-new"
    fi
    [ -n "$library" ] || return
    read -r version architectures < <("$nvrtc" "$library")
    case $version in FAILED*) echo "$version $architectures" >>"$results"; return ;; esac
    if is_few; then
        share_new $architectures
    else
        for capability in $architectures; do
            case $capability in
            90) list "$capability" all ;;
            75 | 100 | 120) list "$capability" ;;
            *) list "$capability" few ;;
            esac
        done
    fi >"$top/new.list"
    with_nvrtc "nvrtc-$version" "$library" "$top/new.list"
}

old_nvrtc() {
    local library capability
    fetch_library $old_wheel "$top/nvrtc-11.8"
    [ -n "$library" ] || return
    for capability in $old_architectures; do
        case $(is_few && echo few)$capability in
        few35) list 35 few ;;
        few70) list 70 | one_of_each ;;
        few*) ;;
        50 | 60) list "$capability" few ;;
        *) list "$capability" ;;
        esac
    done >"$top/old.list"
    with_nvrtc nvrtc-11.8 "$library" "$top/old.list"
}

# ---- clang ---------------------------------------------------------------------------------------

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

# What an assembly text refers to and does not define: a linker would refuse it.
undefined() {
    awk -F: '/^[A-Za-z_.$][^ ]*:/ {defined[$1] = 1}
        {while (match($0, /[A-Za-z0-9_.$]+@(rel32|gotpcrel32)/)) {
            split(substr($0, RSTART, RLENGTH), part, "@"); used[part[1]] = 1; $0 = substr($0, RSTART + RLENGTH)}}
        END {for (name in used) if (!(name in defined)) print name}' "$1"
}

# parse COMPILER NAME COMMAND...: the compiler goes no further than to understand the kernel.
parse() { one "$1" parsed "${@:2}" -fsyntax-only && echo "$1 parsed $2 - -"; }

# The first of both that knows a processor; nothing where neither does. clang 15 knew gfx11 when it
# was new, and gives a kernel half of the 256 registers there are, so that some spill.
amd_clang() {
    local compiler old=$clang
    [[ $1 != gfx11* ]] || old=
    for compiler in "$old" "$new_clang"; do
        [ -z "$compiler" ] || ! "$compiler" -target amdgcn --print-supported-cpus 2>&1 | grep -qx "[[:space:]]*$1" || { echo "$compiler" && return; }
    done
}

# Registers are VGPRs.
amd_half() {
    local processor kernel name options out missing clang_cl
    while read -r processor kernel name options; do
        out=$top/amd-$processor-$name.s
        clang_cl=("${compiler_of[$processor]-$clang}" -x cl -cl-std=CL1.2 -O3 -target amdgcn--amdhsa -nogpulib -Xclang -finclude-default-header $options "$top/$kernel.cl")
        [ "$processor" != parsed ] || { parse clang-amdgcn "$name" "${clang_cl[@]}"; continue; }
        one clang-amdgcn "$processor" "$name" "${clang_cl[@]}" -mcpu="$processor" -Xclang -mlink-builtin-bitcode -Xclang "$libclc" -S \
            -o "$out" || continue
        missing=$(undefined "$out")
        if [ -n "$missing" ]; then
            echo "FAILED: $name for $processor needs" $missing
            continue
        fi
        awk -v who="clang-amdgcn $processor $name" '
            $1 == ".vgpr_count:" {v = $2}
            $1 == ".vgpr_spill_count:" {spills = 4 * $2} $1 == ".sgpr_spill_count:" {scalars = $2}
            $2 == "Occupancy:" {waves = $3}
            END {print who, v + 0, spills + 0, waves + 0, scalars + 0}' "$out"
    done <"$1"
}

# What AMD's cards run by default keeps its registers out of memory.
spills_in_defaults() {
    awk 'NR == FNR {usual[$2]; next}
        $1 == "clang-amdgcn" && $5 > 0 && $3 in usual {print "FAILED: " $3 " for " $2 " spills " $5 " bytes to memory, and is a default"}' \
        <("$specs" gpu few) "$results"
}

cpu_half() {
    local processor kernel name options clang_cl
    while read -r processor kernel name options; do
        # gnu89: every inline function is also there to be called, as a CPU's linker wants it.
        clang_cl=("$clang" -x cl -cl-std=CL1.2 -O2 -target x86_64 -march=skylake-avx512 -fgnu89-inline -Xclang -finclude-default-header
            $options "$top/$kernel.cl")
        [ "$processor" != parsed ] || { parse clang-x86 "$name" "${clang_cl[@]}"; continue; }
        one clang-x86 avx512 "$name" "${clang_cl[@]}" -S -o "$top/cpu-$name.s" || continue
        echo "clang-x86 avx512 $name - -"
    done <"$1"
}

# Kernels that pass numbers on, by the standard's sub-groups of 32 and by Intel's, for a device that
# takes SPIR: each specification that does so through local memory.
sub_groups() {
    "$specs" gpu | awk '/-DLEY_CLUSTER=/ && /-DLEY_FULL=0/ && sub(/-DLEY_SUB_GROUPS=0/, "-DLEY_SUB_GROUPS=@") {
        for (how = 2; how <= 3; how++) {line = $0; sub(/@/, how, line); print "spir64", line}}'
}

spir_half() {
    local processor kernel name options language
    while read -r processor kernel name options; do
        language="-cl-std=CL3.0"
        [[ $options != *-DLEY_SUB_GROUPS=3* ]] || language="-cl-std=CL1.2 -Dcl_intel_subgroups"
        one clang-spir64 all "$name" "$clang" -x cl $language -O2 -target spir64 -fgnu89-inline -cl-no-stdinc -Xclang -finclude-default-header \
            $options "$top/$kernel.cl" -S -emit-llvm -o /dev/null || continue
        echo "clang-spir64 all $name - -"
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
struct __align__(8) int2 { int x, y; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
F float4 make_float4(float x, float y, float z, float w) { float4 r = {x, y, z, w}; return r; }
F int min(int a, int b) { return a < b ? a : b; }
F int max(int a, int b) { return a > b ? a : b; }
F float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
F float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
F float fabsf(float a) { return __builtin_fabsf(a); }
F float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
F double fabs(double a) { return __builtin_fabs(a); }
F double floor(double a) { return __nvvm_floor_d(a); }
F double ceil(double a) { return __nvvm_ceil_d(a); }
F double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
F double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
F float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
F double rsqrt(double x) { return __nvvm_rsqrt_approx_d(x); }
F float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
F float exp2f(float x) { return __nvvm_ex2_approx_f(x); }
F double exp2(double x) { return __nvvm_ex2_approx_f((float)x); } /* a library's function: no instruction does it in double */
F double exp(double x) { return exp2(x * 1.44269504088896); }
F double pow(double x, double y) { return exp2(y * __nvvm_lg2_approx_f((float)x)); } /* the same */
F float rintf(float x) { return (float)__nvvm_f2i_rn(x); }
F float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
F double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
F float __expf(float x) { return __nvvm_ex2_approx_f(1.442695F * x); }
F float expf(float x) { return __expf(x); }
F float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
F float logf(float x) { return 0.693147181F * __nvvm_lg2_approx_f(x); }
F float log1pf(float x) { return logf(1 + x); }
F double log(double x) { return 0.693147180559945 * __nvvm_lg2_approx_f((float)x); } /* the same, as those below */
F double sin(double x) { return __nvvm_sin_approx_f((float)x); }
F double cos(double x) { return __nvvm_cos_approx_f((float)x); }
F double tanh(double x) { return 1 - 2 / (exp(2 * x) + 1); }
F double erf(double x) { return tanh(1.2 * x); }
F double erfc(double x) { return 1 - erf(x); }
F int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
F float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
F int __ffs(int x) { return __builtin_ffs(x); }
F int __popc(unsigned x) { return __builtin_popcount(x); }
F float __saturatef(float x) { float y; asm("cvt.sat.f32.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
F double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
F double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
F unsigned __ballot(int wants)
{
    unsigned votes;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.ballot.b32 %0, p;}" : "=r"(votes) : "r"(wants));
    return votes;
}
F unsigned atomicOr(unsigned *p, unsigned v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
F int atomicAdd(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
F unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
F long long __float2ll_rn(float x) { return __nvvm_f2ll_rn(x); }
F int atomicExch(int *p, int v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }
HEADER
}

# To PTX for 2.0, which no assembler at hand turns into machine code: one that is installed checks
# it, for a newer card. Loops that clang does not unroll tell nothing of NVIDIA's compiler.
fermi_half() {
    local capability kernel name options out clang_cuda
    while read -r capability kernel name options; do
        out=$top/fermi-$name.ptx
        clang_cuda=("$clang" -x cuda --cuda-gpu-arch=sm_20 --cuda-device-only --cuda-path="$top/none" -nocudainc -nocudalib
            -Wno-pass-failed -Xclang -target-feature -Xclang +ptx32 -include "$top/fermi.h" -O3 $options "$top/$kernel.cu")
        [ "$capability" != parsed ] || { parse clang-nvptx "$name" "${clang_cuda[@]}"; continue; }
        one clang-nvptx 20 "$name" "${clang_cuda[@]}" -S -o "$out" || continue
        if [ -n "$ptxas" ]; then
            one ptxas 20 "$name" "$ptxas" -arch=sm_75 -o "$out.cubin" "$out" || continue
        fi
        echo "clang-nvptx 20 $name - -"
    done <"$1"
}

with_clang() {
    local kernel processor processors=() reason part=0
    [ -n "$clang" ] || { skip "OpenCL for AMD and CPUs, PTX for Fermi: clang is not installed"; return; }
    for kernel in $("$specs" kernels); do
        "$specs" source "$kernel" cl >"$top/$kernel.cl" && "$specs" source "$kernel" cu >"$top/$kernel.cu" || exit 1
    done
    if [ ! -e "$libclc" ]; then
        skip "OpenCL for AMD: libclc is not installed ($libclc)"
    elif ! reason=$(echo '__kernel void none(void) {}' | "$clang" -x cl -target amdgcn--amdhsa -nogpulib -Xclang \
        -mlink-builtin-bitcode -Xclang "$libclc" -c -o /dev/null - 2>&1); then
        skip "OpenCL for AMD: $clang cannot read $libclc: $(head -n 1 <<<"$reason")"
    else
        declare -A compiler_of
        for processor in $(is_few && echo "$few_amd_processors" || echo "$amd_processors"); do
            compiler_of[$processor]=$(amd_clang "$processor")
            if [ -n "${compiler_of[$processor]}" ]; then
                processors+=("$processor")
            else
                skip "OpenCL for $processor: neither $clang nor ${new_clang:-a newer one} knows it well"
            fi
        done
        for processor in "${processors[@]}"; do
            case $processor in
            gfx90a) "$specs" gpu $(is_few || echo all) ;;
            gfx900 | gfx1201) "$specs" gpu few ;;
            *) "$specs" gpu ;;
            esac | sed "s/^/$processor /" | if is_few; then shared "$part" ${#processors[@]}; else cat; fi
            part=$((part + 1))
        done >"$top/amd.list"
        ! is_few || rest gpu all >>"$top/amd.list"
        in_two "$top/amd.list" amd_half >>"$results"
        spills_in_defaults >>"$results"
    fi
    "$specs" cpu $(is_few && echo few || echo all) | sed 's/^/avx512 /' >"$top/cpu.list"
    ! is_few || rest cpu all few >>"$top/cpu.list"
    in_two "$top/cpu.list" cpu_half >>"$results"
    sub_groups >"$top/spir.list"
    in_two "$top/spir.list" spir_half >>"$results"
    if "$clang" --print-targets 2>/dev/null | grep -q nvptx64; then
        ptxas=$(has_toolkit && { command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null; })
        [ -n "$ptxas" ] || skip "PTX for Fermi is not assembled: no ptxas is installed"
        write_fermi_header >"$top/fermi.h"
        list 20 $(is_few && echo few) >"$top/fermi.list"
        ! is_few || rest "cuda 20" "" few >>"$top/fermi.list"
        in_two "$top/fermi.list" fermi_half >>"$results"
    else
        skip "PTX for Fermi: $clang has no NVPTX back end"
    fi
}

# ---- The table -----------------------------------------------------------------------------------

table() {
    awk '
        NF >= 5 && $1 !~ /:$/ && ($1 ~ /^nvrtc-/ || $1 ~ /^clang-/) {
            key = $1 " " $2
            if (!(key in kernels)) order[++keys] = key
            kernels[key]++
            if ($4 == "-") { told[key] = "no"; next }
            if ($4 > most[key]) { most[key] = $4; name[key] = $3 }
            if (NF >= 7) {
                if (!(key in waves) || $6 < waves[key]) waves[key] = $6
                if ($7 > 0) lanes[key]++
            }
            if ($5 + 0 > 0) { spilling[key]++; spilled[key] = spilled[key] (spilled[key] == "" ? "" : ", ") $3 " " $5 " B" }
        }
        END {
            printf "| %-12s | %-7s | %7s | %-54s | %-5s | %s |\n|---|---|---|---|---|---|\n", "Compiler", "For", "Kernels", "Most registers", "Waves", "Spills"
            for (i = 1; i <= keys; i++) {
                k = order[i]
                split(k, part, " ")
                registers = told[k] == "no" ? "not told" : most[k] " (" name[k] ")"
                spills = told[k] == "no" ? "not told" : spilling[k] == 0 ? "none" : spilling[k] > 3 ? spilling[k] " kernels" : spilled[k]
                if (lanes[k] > 0) spills = spills "; scalars to lanes: " lanes[k] " kernels"
                printf "| %-12s | %-7s | %7d | %-54s | %-5s | %s |\n", part[1], part[2], kernels[k], registers, k in waves ? waves[k] : "-", spills
            }
        }' "$results"
}

mkdir -p "$top" || exit 2
top=$(realpath "$top")
results=$top/results
: >"$results"
rm -f "$top"/*.list
"$specs" gpu >/dev/null || exit 1 # it knows how to build each of the binary's kernels
[ "${OFFLINE_COMPILERS-}" = clang ] || { new_nvrtc; old_nvrtc; }
[ "${OFFLINE_COMPILERS-}" = nvrtc ] || with_clang
table
# Whoever shared the list out has lost none of it.
whole() {
    local list=$top/$1.list
    [ ! -e "$list" ] || comm -13 <(cut -d ' ' -f 3 "$list" | sort -u) <("$specs" $2 | cut -d ' ' -f 2 | sort -u) |
        sed "s/^/FAILED: for no architecture of $1.list: /" >>"$results"
}
whole new "cuda 90"
whole amd "gpu all"
whole cpu "cpu all"
whole fermi "cuda 20"
# One line per kernel of every list, or something was lost on the way.
wanted=$(cat /dev/null "$top"/*.list 2>/dev/null | wc -l)
got=$(grep -c -E '^(nvrtc|clang)-' "$results")
if grep -q '^FAILED' "$results" || [ "$wanted" != "$got" ]; then
    awk '/^(nvrtc|clang)-/ {next} {print}' "$results"
    echo "FAILED: $((wanted - got)) of $wanted kernels did not compile; $(grep -c '^FAILED.*is a default$' "$results") defaults spill to memory"
    exit 1
fi
echo "$got kernels compiled$([ $skipped = 0 ] || echo ", skipped: $skipped"), in $SECONDS s; $(grep -c '^WARNING' "$results") warnings"
grep -A 6 '^WARNING' "$results" | head -n 40
exit 0
