#!/bin/bash
# Does run.sh notice what it is there for? Programs of a line or two, good and bad, run under it.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
unset TEST_LEVEL TEST_TURN TEST_LIMIT_S TEST_SCRIPTS LEYDEN_CACHE_DIR POCL_CACHE_DIR MESA_SHADER_CACHE_DIR
failures=0

# program NAME TEXT: a test program of this shell text.
program() { printf '#!/bin/bash\n%s\n' "$2" >"$top/$1" && chmod +x "$top/$1"; }

# run NAME=VALUE... NAME...: runs these programs into $top/output; sets code.
run() {
    local settings=() programs=() word
    for word; do case $word in --list) programs+=("$word") ;; *=*) settings+=("$word") ;; *) programs+=("$top/$word") ;; esac; done
    env BUILD="$top/build" TEST_SCRIPTS= TEST_JOBS=2 "${settings[@]}" bash tests/run.sh "${programs[@]}" >"$top/output" 2>&1
    code=$?
}

# expect CODE PATTERN...: the last run's exit code, and lines that it must have printed.
expect() {
    local wanted=$1 pattern
    shift
    [ $code = "$wanted" ] || { echo "exit code $code in place of $wanted:" && cat "$top/output" && failures=$((failures + 1)); }
    for pattern; do
        grep -qE -- "$pattern" "$top/output" || { echo "not said: $pattern" && cat "$top/output" && failures=$((failures + 1)); }
    done
}

# in_order FIRST SECOND: lines of the last output.
in_order() {
    awk -v first="$1" -v second="$2" '$0 ~ first {f = NR} $0 ~ second && !s {s = NR} END {exit !(f && s && f < s)}' "$top/output" ||
        { echo "not in this order: $1, $2" && cat "$top/output" && failures=$((failures + 1)); }
}

program good 'echo "[  PASSED  ] 2 test(s)."'
program partly 'echo "[  PASSED  ] 1 test(s)."; echo "[  SKIPPED ] 3 test(s), listed below:"'
program bad 'echo "first the reason"; echo "[  ERROR   ] --- 1 != 2"; echo "[  FAILED  ] 2 test(s), listed below:"; exit 2'
program crash 'echo "[  PASSED  ] 1 test(s)."; kill -SEGV $$'
program silent 'exit 0'
program hang 'echo "so far so good"; sleep 1000'
program level 'echo "[  PASSED  ] 1 test(s)."; [ "$TEST_LEVEL" = "$WANTED" ]'
# Two that end only side by side.
program left "touch $top/left.is; until [ -e $top/right.is ]; do sleep 0.05; done; echo '[  PASSED  ] 1 test(s).'"
program right "touch $top/right.is; until [ -e $top/left.is ]; do sleep 0.05; done; echo '[  PASSED  ] 1 test(s).'"

run good partly
expect 0 '^2 programs and scripts, 2 at a time, level quick$' '^\[./2\] good +2 passed, [0-9.]+ s, [0-9.]+ s of processors$' \
    '^\[./2\] partly +1 passed, 3 skipped, ' '^3 passed, 0 failed, 3 skipped in [0-9]+ s$'
run good bad crash silent partly
expect 1 '^\[./5\] bad +FAILED, exit code 2, ' '^\[./5\] crash +FAILED, exit code 139, ' '^\[./5\] silent +FAILED, exit code 0, ' \
    '^    first the reason$' '^bad: FAILED, exit code 2; ' '^4 passed, 4 failed, 3 skipped in '
in_order '^\[5/5\]' '^---- bad: FAILED' # outputs stand at the end
run TEST_LIMIT_S=2 TEST_TICK_S=1 hang good
expect 1 '^\[2/2\] hang +FAILED, exit code 124, ' 'stopped after 2 s: it hangs' '^    after .*, 1 of 2 done; running: hang \([0-9]+ s\)$' \
    '^    so far so good$' '^2 passed, 1 failed in '
program busy 'i=0; while [ $((i += 1)) -lt 200000 ]; do :; done; echo "[  PASSED  ] 1 test(s)."'
run busy good
expect 0 '^\[./2\] busy .* s, [0-9]*\.*[1-9].* s of processors$' '^processor time of all programs and scripts: '
run TEST_LIMIT_S=600 TEST_JOBS=2 left right
expect 0 '^2 passed, 0 failed in '
[ -d "$top/build/cache-test" ] || { echo "no cache below BUILD" && failures=$((failures + 1)); }
run WANTED=quick level
expect 0
run TEST_LEVEL=pairwise WANTED=pairwise level
expect 0 'level pairwise$'
# Named as one that has levels, and as one that has none.
program test_dcs 'echo "[  PASSED  ] 1 test(s)."'
program test_host 'echo "[  PASSED  ] 1 test(s)."'
run TEST_AFTER=quick TEST_LEVEL=pairwise test_dcs test_host
expect 0 '^\[1/1\] test_dcs '
run TEST_AFTER=quick test_dcs test_host
expect 0 '^2 passed, '
# One that runs from level pairwise on.
program test_msm_attack 'echo "[  PASSED  ] 1 test(s)."'
run test_msm_attack test_host
expect 0 '^\[1/1\] test_host '
for after in '' quick; do
    run TEST_AFTER=$after TEST_LEVEL=pairwise test_msm_attack
    expect 0 '^\[1/1\] test_msm_attack '
done
run TEST_REST=yes test_msm_attack test_host
expect 0 '^\[1/1\] test_msm_attack '
# What takes long has its turn once in four numbers: programs, functions, solvers in pairs; under
# sanitizers, which every other commit has, once in two of these.
while read -r name function; do
    source=tests/${name%/pairs}.c
    [ "$name" != test_python ] || { source=python/tests/${function%%::*} && function=${function##*::}; }
    if [ -n "$function" ]; then grep -qwF -- "${function%%\[*}" "$source"; else [ -e "$source" ] || grep -qF "[$name]=" tests/run.sh; fi ||
        { echo "in_turn.txt: there is no $name $function" && failures=$((failures + 1)); }
done < <(grep '^[a-z]' tests/in_turn.txt)
tell='echo "[  PASSED  ] 1 test(s)."; echo "$TEST_LEAVE_OUT" >>'$top/told
for name in test_self_test test_solvers test_map_fields test_conformance; do program $name "$tell-$name"; done
for turn in 1000 1001 1002 1003; do
    run TEST_REST=yes TEST_TURN=$turn test_self_test test_solvers test_host
    run TEST_TURN=$turn test_map_fields test_host
    expect 0 '^2 passed'
done
mkdir -p "$top/turns/asan"
for turn in 1000 1002; do run BUILD="$top/turns/asan" TEST_TURN=$turn test_conformance; done
# left_out NAME TIMES: so often was each of a program's functions left out.
left_out() {
    [ "$(grep . "$top/told-$1" | sort | uniq -c)" = "$(awk -v name="$1" '$1 == name {print $2}' tests/in_turn.txt | sort | awk -v n="$2" '{printf "%7d %s\n", n, $1}')" ] ||
        { echo "left out of $1:" && cat "$top/told-$1" && failures=$((failures + 1)); }
}
left_out test_map_fields 3
left_out test_conformance 1
for name in test_self_test test_solvers; do
    [ "$(wc -l <"$top/told-$name")" = 1 ] || { echo "$name has not its turn once in four" && failures=$((failures + 1)); }
done
# The solvers of long-range sums are tried in pairs then; the second driver has its turn at level
# pairwise.
program test_solvers 'echo "[  PASSED  ] 1 test(s)."; [ "$TEST_LEVEL $RUSTICL_ENABLE" = "$WANTED" ]'
run WANTED='quick ' test_solvers
expect 0 '^1 passed, '
run TEST_REST=yes WANTED='pairwise ' test_solvers
expect 0 '^1 passed, '
run TEST_LEVEL=pairwise WANTED='pairwise llvmpipe' test_solvers
expect 0 '^1 passed, '
# At level quick one of these has the second driver; the other one has it later, for it opens each
# device.
program test_dcs 'echo "[  PASSED  ] 1 test(s)."; [ "$RUSTICL_ENABLE" = llvmpipe ]'
program test_lattice 'echo "[  PASSED  ] 1 test(s)."; [ "$RUSTICL_ENABLE" = "$WANTED" ]'
run WANTED= test_dcs test_lattice
expect 0 '^2 passed, '
run TEST_AFTER=quick TEST_LEVEL=pairwise WANTED=llvmpipe test_lattice
expect 0 '^1 passed, '
# Sanitizers begin with what drivers compiled before.
program test_warm 'echo "[  PASSED  ] 1 test(s)."; [ -e "$LEYDEN_CACHE_DIR/leyden/kernel" ] && [ -e "$POCL_CACHE_DIR/kernel" ]'
mkdir -p "$top/build/cache-test/leyden" "$top/build/cache-test/pocl"
touch "$top/build/cache-test/leyden/kernel" "$top/build/cache-test/pocl/kernel"
mkdir -p "$top/build/tsan" "$top/build/asan"
run BUILD="$top/build/tsan" test_warm
expect 0 '^1 passed, '
# Also where one of the caches is elsewhere, as in continuous integration.
run BUILD="$top/build/asan" LEYDEN_CACHE_DIR="$top/build/cache-test" test_warm
expect 0 '^1 passed, '
# Those that do not run under a sanitizer need not be built for it.
run BUILD="$top/build/tsan" --list test_warm test_dcs test_long_range test_msm_attack
[ "$(cat "$top/output")" = "$top/test_warm" ] || { echo "to be built for tsan: $(cat "$top/output")" && failures=$((failures + 1)); }
run TEST_LEVEL=thorough level
expect 2 '^TEST_LEVEL=thorough: it is quick, pairwise or full$'
run TEST_SCRIPTS=nonsense good
expect 2 '^TEST_SCRIPTS: there is no nonsense$'

# What took longest the last time comes first.
printf 'partly 40.2\ngood 3.0\nin_all 99.5\n' >"$top/build/test-seconds-quick"
run TEST_JOBS=1 good partly
expect 0 'the last run took 1 min 39 s$' '^\[1/2\] partly' '^\[2/2\] good'
printf 'good 40.2\npartly 3.0\nin_all 9\n' >"$top/build/test-seconds-quick"
run TEST_JOBS=1 partly good
expect 0 '^\[1/2\] good' '^\[2/2\] partly'

# Whoever ends it ends what it runs.
env BUILD="$top/build" TEST_SCRIPTS= bash tests/run.sh "$top/hang" >"$top/output" 2>&1 &
runner=$!
for _ in $(seq 400); do grep -q 'so far' "$top/build/test-logs/hang.log" 2>/dev/null && break || sleep 0.05; done
child=$(pgrep -f "^/bin/bash $top/hang$")
kill $runner
wait $runner
code=$?
expect 143
for _ in $(seq 200); do kill -0 "$child" 2>/dev/null || break; sleep 0.05; done
[ -n "$child" ] && ! kill -0 "$child" 2>/dev/null || { echo "left behind: process $child" && failures=$((failures + 1)); }

[ $failures = 0 ] && echo "run.sh notices what it should"
