# What a row of the matrix runs: the project's own commands, one after the other, each with a line
# in the summary. For bash, to be sourced; MATRIX_LOG is the row's log, MATRIX_SUMMARY its summary:
# lines
# "ROW<TAB>DRIVER<TAB>WHAT<TAB>passed|failed|known|skipped<TAB>SECONDS<TAB>REMARK<TAB>DATE".

# matrix_note ROW DRIVER WHAT VERDICT SECONDS REMARK
matrix_note() {
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" "$(date -u +%F)" >>"$MATRIX_SUMMARY"
    printf '%-8s %-10s %-22s %-8s %5s s  %s\n' "$@"
}

# failed_checks OUTPUT: the names of the checks that failed; "known" behind those whose fault of the
# driver is known.
failed_checks() {
    awk '/^FAIL / {if (name != "") print name; name = $2} /^ +known: / && name != "" {print name " known"; name = ""} END {if (name != "") print name}' "$1"
}

# matrix_step ROW DRIVER WHAT COMMAND...: its output goes to the log. Exit code 77: skipped, and its
# last line says why. What it says of accuracy, or how many tests passed, is the remark.
matrix_step() {
    local row=$1 driver=$2 what=$3 start=$SECONDS code remark verdict output
    shift 3
    output=$(mktemp)
    echo "==== $row, $driver: $what: $(date -u +%FT%TZ): $*" >>"$MATRIX_LOG"
    "$@" </dev/null >"$output" 2>&1
    code=$?
    cat "$output" >>"$MATRIX_LOG"
    echo "==== exit code $code" >>"$MATRIX_LOG"
    case $code in
    0) verdict=passed ;;
    77) verdict=skipped ;;
    *) verdict=failed ;;
    esac
    # Of devices the name, platform and driver; of jobs variant and error; of tests their number.
    remark=$(sed -nE 's/^0  +(.*[^ ])  +([^ ].*[^ ])  +([^ ]+)  +(opencl|cuda).*/\1, \2 \3/p; s/^accuracy: (error at most [^ ]+).*/\1/p; s/.*(variant [^,]+),.*/\1/p; s/^([0-9]+ passed, .*)$/\1/p' "$output" | paste -sd ';' | sed 's/;/; /g')
    [ $verdict = passed ] || remark="exit code $code: $(grep -vE '^ *$' "$output" | tail -n 1 | cut -c 1-160)"
    local checks
    checks=$(failed_checks "$output")
    if [ $verdict = failed ] && [ $code = 5 ] && [ -n "$checks" ]; then
        remark="exit code 5: $(paste -sd ';' <<<"${checks// known/ (a known fault of the driver)}" | sed 's/;/; /g')"
        grep -qv ' known$' <<<"$checks" || verdict=known
    fi
    matrix_note "$row" "$driver" "$what" $verdict $((SECONDS - start)) "$remark"
    rm -f "$output"
    [ $verdict != failed ]
}

# matrix_driver ROW DRIVER ATOMS SPACING COMMAND...: the command on the one driver that the
# environment of COMMAND leaves: what it finds, a map by each method, or those of MATRIX_METHODS,
# with its verification, an orbital, a density and a potential of a wavefunction, or what
# MATRIX_WAVEFUNCTIONS has of these, and `leyden check --quick` where the command has it, unless
# MATRIX_NO_CHECK is set. The device is named, as the host would take small jobs. The potential is
# that of the wavefunction MATRIX_ESP, if it is set.
matrix_driver() {
    local row=$1 driver=$2 atoms=$3 spacing=$4 scratch failed=0 method options
    shift 4
    scratch=$(mktemp -d)
    matrix_step "$row" "$driver" "leyden devices" "$@" devices || failed=1
    if ! "$@" generate waterbox -o "$scratch/box.pqr" --atoms "$atoms" --seed 7 --quiet >>"$MATRIX_LOG" 2>&1; then
        matrix_note "$row" "$driver" "leyden generate" failed 0 "see the log"
        rm -rf "$scratch"
        return 1
    fi
    for method in ${MATRIX_METHODS-dcs cutoff msm}; do
        matrix_step "$row" "$driver" "map, $method" "$@" map "$scratch/box.pqr" -o "$scratch/$method.dx" --method $method --spacing "$spacing" --padding 3 || failed=1
    done
    cp tests/data/esp_pure.npz "$scratch/wavefunction.npz" # its orbitals are random
    for method in ${MATRIX_WAVEFUNCTIONS-orbital density esp}; do
        options=
        [ $method != orbital ] || options="--orbital homo"
        [ $method != esp ] || cp "${MATRIX_ESP:-tests/data/esp_pure.npz}" "$scratch/wavefunction.npz"
        # shellcheck disable=SC2086 # several words
        matrix_step "$row" "$driver" "leyden $method" "$@" $method "$scratch/wavefunction.npz" --device 0 $options -o "$scratch/$method.cube" --spacing "$spacing" --padding 2 --any-norm || failed=1
    done
    if [ -n "${MATRIX_NO_CHECK:-}" ]; then
        matrix_note "$row" "$driver" "leyden check --quick" skipped 0 "takes hours in this row"
    elif "$@" check --help >/dev/null 2>&1; then
        matrix_step "$row" "$driver" "leyden check --quick" "$@" check --quick || failed=1
    else
        matrix_note "$row" "$driver" "leyden check --quick" skipped 0 "this build has no such command"
    fi
    rm -rf "$scratch"
    return $failed
}
