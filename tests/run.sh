#!/bin/bash
# Runs the tests, several programs at a time: BUILD=... CC=... run.sh TESTPROGRAM...
# With --list before them it prints those of the programs that it would run, there or not.
#
#   TEST_LEVEL    quick (also when unset): what everybody waits for; pairwise: every value of each
#                 parameter with every value of each other one; full: whole products, for hours.
#                 support.c reads it for the programs.
#   TEST_AFTER    quick: that level has just run; at a higher one, only what has more cases there
#   TEST_DRIVER   llvmpipe: all programs may use it, where there is no PoCL
#   TEST_EMULATED any text: programs run under an emulator, whose memory counts as theirs
#   TEST_REST     yes: level quick has just run; now only what it leaves out, with its cases, and
#                 the solvers of long-range sums in pairs
#   TEST_TURN     a number, of a commit: of what takes long it has a part (tests/in_turn.txt), so
#                 that four numbers in a row have all of it
#   TEST_JOBS     how many programs at a time; when unset, one more than there are cores: some wait
#   TEST_LIMIT_S  after which a program counts as hanging
#   TEST_SCRIPTS  which of the scripts below run beside the programs; when unset, all
#   TEST_TICK_S   every so often it says what is still running; when unset, 20 s
#
# Says first what is to come, then a line for each program when it ends, at the end the output of
# those that failed, and last "N passed, M failed, K skipped in S": test cases of the programs, and
# 1 for each script. Exit code 1 when anything failed. Outputs stay in BUILD/test-logs.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
export BUILD CC=${CC:-cc} TEST_LEVEL=${TEST_LEVEL:-quick}
jobs_at_once=${TEST_JOBS:-$(($(nproc) + 1))} tick_s=${TEST_TICK_S:-20}
skipped_code=77

case $TEST_LEVEL in
quick) limit_s=${TEST_LIMIT_S:-600} ;;
pairwise) limit_s=${TEST_LIMIT_S:-1200} ;;
full) limit_s=${TEST_LIMIT_S:-14400} ;;
*) echo "TEST_LEVEL=$TEST_LEVEL: it is quick, pairwise or full" >&2 && exit 2 ;;
esac

# ---- Which programs ------------------------------------------------------------------------------

flavour=''
case $(basename "$BUILD") in
asan) flavour="the address sanitizer" ;;
ubsan) flavour="the sanitizer of undefined behaviour" ;;
tsan) flavour="the thread sanitizer" ;;
esac

# Drivers are not instrumented: the thread sanitizer would see races in them where their locks are.
# test_cuda starts hundreds of processes, which takes minutes there; what its threads share,
# test_schedule and test_hanging share too. Those that follow test_apbs have no threads of their own
# and take long. What is left needs the library and no command, which is not built there.
with_drivers=" test_chooser test_tenth_method test_energy test_energy_devices test_born test_pair_lists test_list_forms test_shared_lists test_reciprocal test_energy_law test_fit test_fit_devices test_average test_average_cards test_average_devices test_check test_check_faults test_conformance test_forecast test_host_jobs test_stored_maps test_self_test test_verification test_reference_kernel test_dcs test_bench_cutoff test_bench_frontier test_bench_lattice test_bench_msm test_lattice test_long_faults test_mdh test_cutoff test_cutoff_digits test_cutoff_maps test_oblique test_plan_runs test_device_binning test_device_spread test_device_long test_device_interface test_drivers test_cli test_cli_batch test_cli_boundary test_cli_compare test_cli_cutoff test_cli_field test_cli_files test_soak test_cli_late test_cli_maps test_cli_mistakes test_cli_outputs test_cli_plan test_cli_points test_cli_redo test_cli_slice test_plan test_point_exclusions test_map_fields test_point_fields test_point_pairs test_point_values test_cuda test_faults test_fft test_fft_devices test_transfer test_epilogue test_by_plane test_solvers test_msm test_msm_attack test_msm_budget test_msm_cancelling test_msm_devices test_msm_faults test_msm_plans test_msm_points test_msm_periodic test_cli_msm test_cli_msm_periodic test_apbs test_apbs_grids test_pqr test_bench_outputs test_bench_statistics test_cli_generate test_numerics test_pqr_writers test_dump test_waterbox test_planner test_cli_surface test_orbital test_esp test_cli_orbital test_bench_energy test_bench_frames test_ions test_ions_faults test_cli_ions test_parameters "
# These judge numbers and texts; what they call, other programs, the tests of the Python package or
# fuzzers call under sanitizers, too.
numbers=" test_average_devices test_born test_energy test_fit test_energy_law test_pair_lists test_list_forms test_reciprocal test_bench_energy test_bench_frames test_bench_lattice test_bench_outputs test_check_faults test_cli test_cli_batch test_cli_files test_cli_ions test_cli_maps test_cli_msm_periodic test_cli_orbital test_cli_outputs test_cli_plan test_cli_points test_cli_redo test_cli_slice test_cli_tolerance test_dialects test_epilogue test_esp test_ions test_ions_faults test_lattice test_long_faults test_long_range test_map_fields test_msm_attack test_msm_budget test_msm_costs test_msm_devices test_msm_faults test_msm_limits test_msm_points test_oblique test_orbital test_point_fields test_pqr test_soak test_verification "

# A second vendor's driver, which is slow and compiles each kernel once more; what it computes does
# not depend on how the host was compiled. At level quick these have it alone.
two_drivers=" test_conformance test_dcs test_mdh "
has_two_drivers() { [ -z "$flavour" ] && { [ "$TEST_LEVEL" != quick ] || [[ $two_drivers == *" $1 "* ]]; }; }
second_driver() { if has_two_drivers "$1" || [ "${TEST_DRIVER-}" = llvmpipe ]; then echo llvmpipe; fi; }

# From level pairwise on: attacks, which plant faults and try to get wrong sums past the judge; what
# proves that another test sees what it should; benchmarks; a second look at lists, maps, cells,
# tolerances and files. Those among them that are about memory and threads run under sanitizers,
# which are at level quick, too.
from_pairwise=" test_self_test test_epilogue test_cutoff_digits test_cutoff_maps test_mdh_lists test_bench_cutoff test_bench_msm test_bench_frontier test_tolerance_maps test_cli_field test_average_devices test_energy_devices test_fit_devices test_ions_faults test_bench_energy test_bench_frames"
from_pairwise+=" test_msm_periodic test_msm_attack test_msm_budget test_msm_cancelling test_msm_devices test_msm_faults oclgrind check_golden check_rates check_others python_extra sdist "
sanitized=" test_msm_cancelling test_msm_devices test_mdh_lists "

# Of these, what TEST_REST leaves to a whole `make check-all`: benchmarks, and packages of sources.
seldom=" sdist test_bench_cutoff test_bench_energy test_bench_frames test_bench_frontier test_bench_msm "

# Every choice of a long-range sum with every other one, in the double reference and on a driver,
# also with TEST_REST.
in_pairs=" test_long_range test_solvers "
level_of() { if [ "${TEST_REST-}" = yes ] && [[ $in_pairs == *" $1 "* ]]; then echo pairwise; else echo "$TEST_LEVEL"; fi; }

# Those that look at the product from outside: not under a sanitizer.
outer=" check_layers check_parameters check_make check_run oclgrind read_back read_formats golden tolerances check_golden check_rates check_others check_commands test_install python_extra sdist "

# has_levels NAME: whether level quick has fewer cases of it than this one, or fewer devices.
has_levels() {
    [[ "$from_pairwise golden " == *" $1 "* ]] || grep -qsE 'PAIRWISE\(|support_is_quick|support_get_level' "tests/$1.c" ||
        { [[ $two_drivers != *" $1 "* ]] && grep -qsE 'support_on_each_device|"all"' "tests/$1.c"; }
}
# What takes long has turns, four of them, as the lines of this list are dealt out. Of sanitizers
# each has every other commit, hence two turns at once: those whose kernels the tests without
# sanitizers have compiled, and others.
in_turn=tests/in_turn.txt
# without_turn NAME: those of its functions, or "all" for itself, that have another turn. What runs
# in pairs is NAME/pairs there.
without_turn() {
    [ -z "${TEST_TURN-}" ] || [ "$TEST_LEVEL" != quick ] || awk -v name="$1$([ "$(level_of "$1")" = quick ] || echo /pairs)" -v turn="$TEST_TURN" -v share="${flavour:+2}" '
        /^(#|$)/ {next}
        {turn_of = n++ % 4; is_here = share ? int(turn_of / 2) == int(turn % 4 / 2) : turn_of == turn % 4}
        $1 == name && !is_here {print (NF > 1 ? $2 : "all")}' $in_turn
}
has_turn() { [ "$(without_turn "$1")" != all ]; }
wanted() {
    if [ "$TEST_LEVEL" = quick ] && [ "${TEST_REST-}" = yes ]; then
        [[ $from_pairwise$in_pairs == *" $1 "* && $seldom != *" $1 "* ]] && has_turn "$1"
    elif [ "$TEST_LEVEL" = quick ]; then
        { [[ $from_pairwise != *" $1 "* ]] || { [ -n "$flavour" ] && [[ $sanitized == *" $1 "* ]]; }; } && has_turn "$1"
    else
        [ "${TEST_AFTER:-}" != quick ] || has_levels "$1"
    fi
}

# Why one does not run here; nothing when it does.
why_not() {
    if [ "$(basename "$BUILD")" = tsan ] && [[ $with_drivers == *" $1 "* ]]; then
        echo "loads drivers, or takes too long, under $flavour"
    elif [ -n "$flavour" ] && [[ $outer$numbers == *" $1 "* ]]; then
        echo "not under $flavour"
    fi
}

if [ "${1-}" = --list ]; then
    shift
    for program; do
        name=$(basename "$program")
        wanted "$name" && [ -z "$(why_not "$name")" ] && echo "$program"
    done
    exit 0
fi

# ---- Caches and logs -----------------------------------------------------------------------------

# What is compiled and measured stays below BUILD: the next run is faster, and the user's own caches
# are left alone.
cache=$(realpath -m "$BUILD/cache-test")
plain_cache=$(realpath -m "$BUILD/../cache-test")
export LEYDEN_CACHE_DIR=${LEYDEN_CACHE_DIR:-$cache} POCL_CACHE_DIR=${POCL_CACHE_DIR:-$cache/pocl}
export MESA_SHADER_CACHE_DIR=${MESA_SHADER_CACHE_DIR:-$cache/mesa}
# What drivers compile does not depend on how the host was compiled: it is taken over from the tests
# without sanitizers, of all caches that are here.
if [ -n "$flavour" ] && [ -d "$plain_cache" ] && [ ! -e "$cache" ]; then cp -r "$plain_cache" "$cache"; fi
mkdir -p "$POCL_CACHE_DIR" "$MESA_SHADER_CACHE_DIR"
logs=$BUILD/test-logs seconds_file=$BUILD/test-seconds-$TEST_LEVEL
rm -rf "$logs" && mkdir -p "$logs" || exit 2
scratch=$(mktemp -d)

# ---- Sanitizers ----------------------------------------------------------------------------------

preload=''
case $(basename "$BUILD") in
asan)
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} # both may be in
    # The sanitizer looks for C++'s throw when a program starts; drivers written in C++ come later.
    # Hence the library up front.
    preload=$($CC -print-file-name=libstdc++.so.6)
    options=detect_leaks=1:protect_shadow_gap=0:allocator_may_return_null=1:verify_asan_link_order=0
    options+=:handle_segv=2 # cmocka would catch it and say nothing
    options+=:use_sigaltstack=0 # compilers in drivers put a stack of their own in its place, in whatever thread calls them
    export ASAN_OPTIONS=${ASAN_OPTIONS:-$options}
    # Mesa's drivers leave memory behind: to see that it is theirs, the sanitizer reads all that
    # debuggers know, at the end of each command, which takes longer than the command.
    [ ! -e /etc/OpenCL/vendors/pocl.icd ] || export OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-pocl.icd}
    export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
    ;;
ubsan)
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    ;;
tsan)
    # A driver that is new is tried in a child process, where it starts threads of its own.
    export TSAN_OPTIONS=${TSAN_OPTIONS:-die_after_fork=0:atexit_sleep_ms=0}
    ;;
esac

if [ "$(basename "$BUILD")" = asan ]; then
    $CC -shared -fPIC -o "$scratch/keep.so" tests/keep_loaded/keep_loaded.c && preload+=:$scratch/keep.so
fi

# ---- What is to be run ---------------------------------------------------------------------------

# Seconds that programs take, roughly, where all kernels are compiled; those that are not here are
# short. What the last run took counts more.
declare -A expected_s=([python_extra]=120 [test_python]=120 [oclgrind]=100 [sdist]=90 [test_conformance]=60 [test_epilogue]=55 [test_map_fields]=55 [test_cli_points]=50
    [test_average]=35 [test_average_cards]=6 [test_ions]=30 [test_orbital]=28 [test_mpi]=40 [test_plan_runs]=26 [test_average_devices]=26 [test_verification]=26 [test_self_test]=31 [test_msm_devices]=33
    [test_cuda]=22 [test_check_faults]=28 [test_cli_tolerance]=32 [test_cli]=32 [test_cli_msm]=18 [test_memory]=17
    [test_bench_outputs]=30 [test_faults]=16 [test_schedule]=16 [test_solvers]=30 [test_msm]=15 [test_cli_batch]=13 [test_cli_boundary]=13
    [test_cli_maps]=13 [test_cli_msm_periodic]=13 [test_hanging]=13 [check_make]=25 [test_check]=12 [test_cli_cutoff]=12 [test_first_use]=12
    [test_msm_cancelling]=12 [test_mdh]=11 [test_point_fields]=11 [test_apbs_grids]=10 [test_cutoff]=10 [test_periodic]=10 [test_cli_files]=9
    [test_msm_attack]=8 [test_bench_lattice]=8 [test_dcs]=8 [test_mdh_lists]=8 [test_msm_plans]=8 [test_msm_points]=8 [test_tenth_method]=8)
if [ -r "$seconds_file" ]; then
    while read -r name taken_s; do expected_s[$name]=${taken_s%.*}; done <"$seconds_file"
fi

declare -A kind=() command=() code=() seconds=() processor_s=() started=() good=() bad=() left=()
names=()

# add KIND NAME COMMAND...: KIND is program or script.
add() {
    names+=("$2")
    kind[$2]=$1
    command[$2]=$(printf '%q ' "${@:3}")
}

# The kernels under Oclgrind, which interprets them; each turn has a part.
oclgrind='bash tests/oclgrind.sh'
[ -z "${TEST_TURN-}" ] || case $((TEST_TURN % 4)) in
0) export OCLGRIND_PARTS=direct ;;
1) export OCLGRIND_PARTS=mdh ;;
2) export OCLGRIND_PARTS=cutoff ;;
3) export OCLGRIND_PARTS='tests orbitals' ;;
esac
case $TEST_LEVEL in
quick) oclgrind="OCLGRIND_PAIRS=1 OCLGRIND_VARIANTS='unroll8 tiled16 vector8' OCLGRIND_MDH_VARIANTS='simple tiled16 vector8' OCLGRIND_CUTOFF_VARIANTS='regions8 vector4' OCLGRIND_POINT_VARIANTS=vector8 OCLGRIND_LATTICE_VARIANTS='columns16 vector8' OCLGRIND_EPILOGUES=halves16 $oclgrind" ;;
pairwise) oclgrind="OCLGRIND_PAIRS=1 OCLGRIND_VARIANTS='simple unroll8 local8 tiled16 vector8' OCLGRIND_MDH_VARIANTS='simple tiled16 vector8' OCLGRIND_CUTOFF_VARIANTS='regions8 halves16 vector4' OCLGRIND_POINT_VARIANTS='group64 vector8' OCLGRIND_LATTICE_VARIANTS='optimised columns16 vector8' OCLGRIND_EPILOGUES=halves16 $oclgrind" ;;
esac

with_python='[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not installed"; exit 77; }; exec /usr/bin/python3'
golden="$with_python tests/golden.py"
golden_check="$golden check --jobs 1"
# Slabs follow what the machine was measured to do, and some values follow slabs: with more cases
# than these, some would differ on a machine that others use, too.
case $TEST_LEVEL in
full) golden_check+=' --all' ;;
pairwise) golden_check+=' --every 40' ;;
*) golden_check+=' --every 60' ;;
esac
declare -A scripts=(
    [check_layers]='bash tests/check_layers.sh --self-test'
    [check_parameters]="$with_python tests/check_parameters.py --self-test $BUILD"
    [check_make]='bash tests/check_make.sh'
    [check_run]='bash tests/check_run.sh'
    [oclgrind]=$oclgrind
    [read_back]="$with_python tests/read_back.py"
    [read_formats]="$with_python tests/read_formats.py"
    [golden]=$golden_check
    [check_golden]="$golden --self-test"
    [check_rates]="$with_python tests/compare_rates.py --self-test"
    [check_others]="$with_python tests/compare_others.py --self-test"
    [compare_surfaces]="python3 tests/compare_surfaces.py $BUILD/leyden"
    [check_commands]="$with_python tests/compare_commands.py --self-test $BUILD/leyden"
    [tolerances]="python3 tests/tolerance_campaign.py $BUILD/leyden 2000"
    [test_install]='bash tests/test_install.sh'
    [test_mpi]='bash tests/test_mpi.sh'
    [test_deb]='bash tests/test_deb.sh'
    [test_python]='bash tests/test_python.sh'
    # That the sources are whole and the wheels work does not depend on how they are optimised.
    [sdist]='folder=$(mktemp -d); CFLAGS=-O0 bash packaging/sdist.sh /usr/bin/python3 "$folder"; code=$?; rm -rf "$folder"; exit $code'
    [python_extra]='bash tests/test_python.sh extra'
)
for program in "$@"; do
    name=$(basename "$program")
    wanted "$name" && add program "$name" env ${preload:+LD_PRELOAD="$preload"} TEST_LEVEL="$(level_of "$name")" TEST_LEAVE_OUT="$(without_turn "$name")" RUSTICL_ENABLE="$(second_driver "$name")" "$program"
done
every_script='check_layers check_parameters check_make check_run check_golden check_commands check_rates check_others oclgrind read_back read_formats golden test_install test_mpi test_python python_extra sdist'
if [ "$TEST_LEVEL" = full ]; then every_script+=' test_deb tolerances'; fi # a system of its own: minutes; 2,000 systems: hours
for name in ${TEST_SCRIPTS-$every_script}; do
    [ -n "${scripts[$name]-}" ] || { echo "TEST_SCRIPTS: there is no $name" >&2 && exit 2; }
    wanted "$name" && add script "$name" env TEST_LEAVE_OUT="$(without_turn "$name")" RUSTICL_ENABLE="$(second_driver "$name")" bash -c "${scripts[$name]}"
done

# Longest first, so that none of them is left alone at the end.
mapfile -t names < <(for name in "${names[@]}"; do echo "${expected_s[$name]:-1} $name"; done | sort -k1,1nr -s | cut -d ' ' -f 2)

# ---- Running -------------------------------------------------------------------------------------

# duration SECONDS: "45 s", "2 min 5 s".
duration() {
    local s=${1%.*}
    if [ "${s:-0}" -lt 60 ]; then echo "${s:-0} s"; else echo "$((s / 60)) min $((s % 60)) s"; fi
}

since() { awk "BEGIN {printf \"%.1f\", $EPOCHREALTIME - $1}"; }

ended=0
say() { printf '[%*d/%d] %-20s %s\n' ${#total} $ended "$total" "$1" "$2"; }

# counted WORD LOG: how many tests cmocka says it PASSED, FAILED or SKIPPED.
counted() {
    awk -v word="$1" '$1 == "[" && $2 == word && $5 ~ /^test\(s\)[.,]$/ {n += $4} END {print n + 0}' "$2"
}

count_program() {
    local log=$logs/$1.log
    good[$1]=$(counted PASSED "$log") bad[$1]=$(counted FAILED "$log") left[$1]=$(counted SKIPPED "$log")
    # A program that crashed, or that ran nothing, has failed as a whole.
    if [ "${bad[$1]}" = 0 ] && { [ "${code[$1]}" != 0 ] || [ $((good[$1] + left[$1])) = 0 ]; }; then bad[$1]=1; fi
}

count_script() {
    good[$1]=0 bad[$1]=0 left[$1]=0
    case ${code[$1]} in
    0) good[$1]=1 ;;
    "$skipped_code") left[$1]=1 ;;
    *) bad[$1]=1 ;;
    esac
}

# Of the clock, and of processors.
took() { echo "${seconds[$1]} s, ${processor_s[$1]} s of processors"; }

# judge NAME: what came of one that has ended.
judge() {
    local name=$1 log=$logs/$1.log
    ended=$((ended + 1))
    # 137: it did not end when asked to.
    if [ "${code[$name]}" = 124 ] || { [ "${code[$name]}" = 137 ] && [ "${seconds[$name]%.*}" -ge "$limit_s" ]; }; then
        echo "stopped after $limit_s s: it hangs, or this machine is much too busy (TEST_LIMIT_S)" >>"$log"
    fi
    "count_${kind[$name]}" "$name"
    if [ "${bad[$name]}" != 0 ]; then
        say "$name" "FAILED, exit code ${code[$name]}, $(took "$name")"
    elif [ "${kind[$name]}" = program ]; then
        say "$name" "${good[$name]} passed$([ "${left[$name]}" = 0 ] || echo ", ${left[$name]} skipped"), $(took "$name")"
    elif [ "${left[$name]}" = 1 ]; then
        say "$name" "skipped: $(sed -n 's/^skipped: //p' "$log" | tail -n 1)"
    else
        say "$name" "passed, $(took "$name")$(sed -n 's/^note: /; /p' "$log" | tr -d '\n')"
    fi
}

declare -A running=() # processes: their names

# guarded NAME: ends when its command does, or is ended, with its exit code; how it died stands in
# its output, and in SCRATCH/NAME.times how much processor time it took. Where the search for leaks
# itself crashed, as it does once in some hundred runs, it is run again.
guarded() {
    local status try
    for try in 1 2; do
        : >"$logs/$1.log"
        eval "timeout -k 10 $limit_s ${command[$1]} &"
        trap "kill $!; exit 143" TERM
        wait $!
        status=$?
        [ $status != 0 ] && grep -qs 'LeakSanitizer has encountered a fatal error' "$logs/$1.log" || break
    done
    times >"$scratch/$1.times"
    exit $status
}

# processor_time NAME: seconds of its processes, of users and of the system, all cores together.
processor_time() {
    awk '{for (i = 1; i <= 2; i++) {split($i, t, "[ms]"); s += 60 * t[1] + t[2]}} END {printf "%.1f", s}' \
        "$scratch/$1.times" 2>/dev/null || echo 0
}

begin() {
    local name=$1 reason
    reason=$(why_not "$name")
    if [ -n "$reason" ]; then
        good[$name]=0 bad[$name]=0 left[$name]=1 ended=$((ended + 1))
        say "$name" "skipped: $reason"
        return
    fi
    started[$name]=$EPOCHREALTIME
    guarded "$name" >>"$logs/$name.log" 2>&1 </dev/null &
    running[$!]=$name
}

tell_what_runs() {
    local pid name
    printf '    after %s, %d of %d done; running:' "$(duration "$(since "$start")")" $ended "$total"
    for pid in "${!running[@]}"; do
        name=${running[$pid]}
        printf ' %s (%s)' "$name" "$(duration "$(since "${started[$name]}")")"
    done
    echo
}

# finish PROCESS CODE
finish() {
    local name=${running[$1]}
    unset "running[$1]"
    code[$name]=$2 seconds[$name]=$(since "${started[$name]}") processor_s[$name]=$(processor_time "$name")
    judge "$name"
}

# await: until one ends, or it is time to say that all is well.
await() {
    local pid='' status
    wait -n -p pid
    status=$?
    if [ -n "$pid" ] && [ -n "${running[$pid]-}" ]; then
        finish "$pid" $status
        return
    fi
    # Bash may forget to tell of one that has ended.
    for pid in "${!running[@]}"; do
        kill -0 "$pid" 2>/dev/null && continue
        wait "$pid"
        finish "$pid" $?
    done
    kill -0 "$ticker" 2>/dev/null && return
    [ ${#running[@]} = 0 ] || tell_what_runs
    tick
}

tick() {
    sleep "$tick_s" &
    ticker=$!
}

leave() {
    [ ${#running[@]} = 0 ] || kill "${!running[@]}" 2>/dev/null
    kill "$ticker" 2>/dev/null
    rm -rf "$scratch"
}
ticker=''
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

total=${#names[@]} start=$EPOCHREALTIME
last=${expected_s[in_all]-}
echo "$total programs and scripts, $jobs_at_once at a time, level $TEST_LEVEL${last:+; the last run took $(duration "$last")}"
tick
for name in "${names[@]}"; do
    while [ ${#running[@]} -ge "$jobs_at_once" ]; do await; done
    begin "$name"
done
while [ ${#running[@]} -gt 0 ]; do await; done

# ---- What came of it -----------------------------------------------------------------------------

passed=0 failed=0 skipped=0 failures=()
for name in "${names[@]}"; do
    passed=$((passed + good[$name])) failed=$((failed + bad[$name])) skipped=$((skipped + left[$name]))
    [ "${bad[$name]}" = 0 ] || failures+=("$name")
done
for name in "${failures[@]}"; do
    printf '\n---- %s: FAILED, exit code %s\n' "$name" "${code[$name]}"
    sed 's/^/    /' "$logs/$name.log"
done
# Once more the first lines of what went wrong there, so that they stand where a long log ends.
for name in "${failures[@]}"; do
    printf '\n%s: FAILED, exit code %s; its output: %s\n' "$name" "${code[$name]}" "$logs/$name.log"
    grep -aE '\[ +(ERROR|LINE|FAILED) |(error|ERROR|Error|WARNING|FAILED):|Sanitizer|stopped after' "$logs/$name.log" | head -n 12 | cut -c 1-200 | sed 's/^/    /'
done
in_all=$(since "$start")
if [ $failed = 0 ]; then
    for name in "${!seconds[@]}"; do echo "$name ${seconds[$name]}"; done >"$seconds_file"
    echo "in_all $in_all" >>"$seconds_file"
fi
in_processors=$(printf '%s\n' "${processor_s[@]}" | awk '{s += $1} END {printf "%.0f", s}')
echo "processor time of all programs and scripts: $(duration "$in_processors")"
printf '%d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo " in $(duration "$in_all")"
[ $failed = 0 ]
