#!/bin/bash
# Proves docs/architecture.md from the sources: who includes whom, also between folders of host/;
# that modules need each other without going round in circles; that headers declare what their own
# source defines; where the environment is read, where vendors are named, where OpenCL is spoken,
# how long a file is. Prints file:line of each violation; exit code 1 when there is one.
#
#     check_layers.sh [ROOT]       checks the sources in ROOT (default: its own)
#     check_layers.sh --self-test  plants one violation of each kind in a copy: each must be found
set -u
script=$(realpath "$0")
home=$(dirname "$(dirname "$script")")

rules='
BEGIN {
    split("cl kernels_cuda platform host tools tests", names, " ")
    for (i in names) floor[names[i]] = i
    # The folders of host/: one includes those on lower floors, and itself.
    split("core:1 source:2 target:2 expression:2 numerics:2 io:3 layout:3 law:3 apbs:4 surface:4 memory:5 engine:6 schedule:7 verify:8 plan:9 average:10 energy:11 fit:12 ions:10 bench:10 series:10 methods/X:11 methods:13 check:14", names, " ")
    for (i in names) { split(names[i], pair, ":"); folder_floor[pair[1]] = pair[2] }
    # The folders of host/long_range, and what stands beside them, which goes with estimate.
    split("mesh:1 fourier:2 multilevel:3 model:4 beside:5 estimate:5 bench:6", names, " ")
    for (i in names) { split(names[i], pair, ":"); part_floor[pair[1]] = pair[2] }
    for (i = 1; i < ARGC; i++) known[ARGV[i]] = 1
    most_lines = 1000
    c_library = " ctype errno fcntl float inttypes limits locale math poll pthread sched signal stdarg stdatomic stdbool" \
                " stddef stdint stdio stdlib string strings termios time unistd wchar dirent sys/file sys/ioctl sys/prctl sys/random sys/stat sys/types sys/wait "
    # Methods of the command, a row each.
    while ((getline row < "tools/registry.h") > 0)
        if (match(row, /^ *METHOD\([a-z0-9_]+\)/)) { gsub(/.*\(|\).*/, "", row); methods = methods (methods == "" ? "" : "|") row }
    # Words for people, not for the program: file, and what stands there.
    hint["platform/opencl/probe.c"] = "Debian: apt-get install pocl-opencl-icd"
}

function violation(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; wrong = 1 }

# The line without comments; string literals stay, a "//" in them is no comment.
function code_of(line,    result, i, c, two, quote) {
    if (!in_comment && line !~ /\/[\/*]/) return line
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1); two = substr(line, i, 2)
        if (in_comment) { if (two == "*/") { in_comment = 0; i++; result = result " " } }
        else if (quote != "") {
            result = result c
            if (c == "\\") result = result substr(line, ++i, 1)
            else if (c == quote) quote = ""
        }
        else if (two == "//") break
        else if (two == "/*") { in_comment = 1; i++ }
        else { if (c == "\"" || c == "\047") quote = c; result = result c }
    }
    return result
}

# The file that a quoted include names: beside the including file, or in one of the directories that
# -I names. Of a name with a star, which a kernel may include, the file itself.
function resolved(name,    path, i, places, count) {
    if (index(name, "*") && FILENAME ~ /\.cl$/) return FILENAME
    path = FILENAME; sub(/[^\/]*$/, "", path)
    count = split(path "|platform/|host/|cl/" (top == "tests" ? "|tests/|kernels_cuda/" : ""), places, "|")
    for (i = 1; i <= count; i++) {
        path = places[i] name
        while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
        if (path in known) return path
    }
    return ""
}

# Which folder of host/ a file is in; one in methods/ is "methods/X".
function host_folder(path,    count, parts) {
    count = split(path, parts, "/")
    return parts[2] == "long_range" ? "methods/X" : parts[2] != "methods" ? parts[2] : count > 3 ? "methods/X" : "methods"
}

# The method that a file is of, whatever folder of it that is in.
function method_of(path,    parts) {
    split(path, parts, "/")
    return parts[2] == "methods" ? parts[3] : parts[2]
}

# A module is a source with its header. The public header is one module of several files: leyden.h
# includes the others at its end, and each of them includes leyden.h first, so that a program may
# include any of them, and finds the whole interface in the one that it opens.
function module_of(path) {
    sub(/\.[a-z]+$/, "", path)
    return path ~ /^host\/leyden_/ ? "host/leyden" : path
}

function folder_of(path) { sub(/[^\/]*$/, "", path); return path }

# Notes that a module needs another one, and where it says so first.
function note_need(own, other, place) {
    if (own == other || (own, other) in need) return
    need[own, other] = place
    needed[own] = needed[own] " " other
}

# The names in a line of code: none of texts, of members and of comments.
function names_of(line, names) {
    line = code_of(line)
    gsub(/"([^"\\]|\\.)*"|(\.|->)[A-Za-z_0-9]+/, " ", line)
    gsub(/[^A-Za-z_0-9]+/, " ", line)
    return split(line, names, " ")
}

# The name that a line at top level defines for other files; "" where it is none.
function definition_of(line) {
    if (line !~ /^[A-Za-z]/ || line ~ /^(static|typedef|extern|struct|enum|union) /) return ""
    if (match(line, /[A-Za-z_0-9]+(\[[^\]]*\])* = /) || (line !~ /;[ \t]*$/ && match(line, /[A-Za-z_0-9]+\(/))) {
        line = substr(line, RSTART, RLENGTH)
        sub(/[^A-Za-z_0-9].*/, "", line)
        return line ~ /^[A-Z_0-9]+$/ ? "" : line # macros define nothing that others use
    }
    return ""
}

# A header without a source of its own declares what other files of its folder define: who uses a
# name needs the file that defines it.
function note_uses(    path, line, names, count, i, folder, number, name, declared, definer) {
    for (path in known)
        if (path ~ /^(platform|host|tools)\/.*\.h$/ && path !~ /^host\/leyden/ && !((module_of(path) ".c") in known)) {
            folder = folder_of(path); shares[folder] = 1; in_comment = 0
            while ((getline line < path) > 0) {
                count = names_of(line, names)
                for (i = 1; i <= count; i++) declared[folder names[i]] = 1
            }
            close(path)
        }
    for (path in known)
        if (path ~ /\.c$/ && (folder_of(path) in shares)) {
            folder = folder_of(path)
            while ((getline line < path) > 0)
                if ((name = definition_of(line)) != "" && (folder name) in declared) definer[folder name] = path
            close(path)
        }
    for (path in known)
        if (path ~ /\.c$/ && (folder_of(path) in shares)) {
            folder = folder_of(path); in_comment = 0
            for (number = 1; (getline line < path) > 0; number++) {
                count = names_of(line, names)
                for (i = 1; i <= count; i++)
                    if ((folder names[i]) in definer) note_need(module_of(path), module_of(definer[folder names[i]]), path ":" number)
            }
            close(path)
        }
}

# Goes where a module leads: back to one that it comes from is a circle.
function follow(module,    others, count, i, k, circle) {
    state[module] = "open"; way[++depth] = module
    count = split(needed[module], others, " ")
    for (i = 1; i <= count; i++)
        if (!(others[i] in state)) follow(others[i])
        else if (state[others[i]] == "open") {
            circle = others[i]
            for (k = depth; way[k] != others[i]; k--) circle = way[k] " -> " circle
            printf "%s: modules need each other in a circle: %s -> %s\n", need[module, others[i]], others[i], circle; wrong = 1
        }
    state[module] = "done"; depth--
}

function check_circles(    module) {
    note_uses()
    for (module in needed) if (!(module in state)) follow(module)
}

# Which part of host/long_range a file is of.
function part_of(path,    count, parts) {
    count = split(path, parts, "/")
    return count > 3 ? parts[3] : "beside"
}

function check_parts(target,    own, other) {
    own = part_of(FILENAME); other = part_of(target)
    if (!(own in part_floor)) violation("host/long_range/" own " has no floor")
    else if (own != other && part_floor[other] > part_floor[own])
        violation("host/long_range/" own " includes " target ", which is on a higher floor")
}

function check_folders(target,    own, other) {
    if (top != "host" || target !~ /^host\/.*\// || FILENAME !~ /^host\/.*\//) return
    own = host_folder(FILENAME); other = host_folder(target)
    if (!(own in folder_floor)) { violation("host/" own " has no floor"); return }
    if (FILENAME ~ /^host\/long_range\// && target ~ /^host\/long_range\//) check_parts(target)
    if (own == "methods/X" && other == "methods/X") {
        if (method_of(FILENAME) != method_of(target) && target !~ /\/(kernel|stages|point_stages)\.h$/)
            violation("a method includes " target ": of another one only kernel.h, stages.h and point_stages.h")
    }
    else if (own != other && folder_floor[other] >= folder_floor[own])
        violation("host/" own " includes " target ", which is on no lower floor")
}

function check_include(line,    name, target, place) {
    name = line; sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", name); sub(/[">].*/, "", name)
    if (line ~ /</) {
        if (name ~ /^CL\//) { if (FILENAME !~ /^(platform\/opencl|tests)\//) violation("<" name "> outside platform/opencl") }
        else if (top == "cl") violation("a kernel includes <" name ">")
        else if (top == "tools" && name !~ /^(cairo(-[a-z]+)?|jansson|tachyon)\.h$/) {
            place = name; sub(/\.h$/, "", place)
            if (index(c_library, " " place " ") == 0) violation("tools/ may not include <" name ">")
        }
        return
    }
    target = resolved(name)
    place = target; sub(/\/.*/, "", place)
    if (target != "" && top != "tests") note_need(module_of(FILENAME), module_of(target), FILENAME ":" FNR)
    if (target == "") violation("includes \"" name "\", which is nowhere")
    else if (floor[place] == floor[top]) check_folders(target)
    else if (floor[place] > floor[top]) violation(top "/ includes " target ", from a higher floor")
    else if (top == "tools" && place != "tools" && target != "host/leyden.h") violation("tools/ includes " target)
}

function check_vendors(code,    low) {
    if (FILENAME == "platform/quirks.c" || (FILENAME in hint && index(code, hint[FILENAME]))) return
    low = tolower(code)
    gsub(/intel_(reqd_sub_group_size|sub_group_shuffle)/, "", low) # words of OpenCL C
    if (low ~ /nvidia|pocl|llvmpipe|qualcomm/ || (" " low " ") ~ /[^a-z](amd|intel|mesa|apple)[^a-z]/)
        violation("a vendor is named outside platform/quirks.c")
}

# In tools/ a method is named by its own files alone: its row, its options, its part in the
# benchmark; but for "auto", which is a word of other options, too.
function check_methods(code) {
    if (FILENAME !~ /^tools\// || FILENAME ~ /^tools\/(method_.*|bench_.*|.*_options)\.c$/) return
    if (match(code, "\"(" methods ")\"") && code !~ /"auto"/) violation("a method, " substr(code, RSTART, RLENGTH) ", is named outside its own files")
}

# The library speaks to programs in C, in Python and on the command line: it names no option of the
# command. Those of other programs may be named.
function check_options(code) {
    if (top != "host" && top != "platform") return
    if (code ~ /"([^"\\]|\\.)*--[a-z]/ && code !~ /pdb2pqr|--gpu-architecture/) violation("the library names an option of the command")
}

FNR == 1 {
    in_comment = 0
    top = FILENAME; sub(/\/.*/, "", top)
    is_c = FILENAME ~ /\.(c|h|cl|cuh?)$/
}
FNR == most_lines + 1 { violation("the file is longer than " most_lines " lines") }
is_c {
    code = code_of($0)
    if (code ~ /^[ \t]*#[ \t]*include/) check_include(code)
    if (top == "tests") next
    check_vendors(code)
    check_methods(code)
    check_options(code)
    if (FILENAME != "platform/environment.c" && FILENAME != "tools/environment.c" && (" " code) ~ /[^A-Za-z0-9_](secure_)?getenv[^A-Za-z0-9_]/)
        violation("getenv outside environment.c")
    if (code ~ /str(case)?str[ \t]*\(.*message/ || code ~ /strn?(case)?cmp[ \t]*\(.*message/)
        violation("what happens next hangs on the text of a message")
    if (FILENAME !~ /^platform\/opencl\// &&
        ((" " code) ~ /[^A-Za-z0-9_]cl_(mem|event|kernel|program|context|command_queue|(device|platform)_(id|type|info)|bitfield|bool|u?(char|short|int|long)[0-9]*|(half|float|double)[0-9]*)([^A-Za-z0-9_]|$)/ ||
         (" " code) ~ /[^A-Za-z0-9_]cl(Get|Create|Enqueue|Build|Release|Retain|Set|Wait|Finish|Flush)[A-Za-z]*[ \t]*\(/))
        violation("OpenCL outside platform/opencl")
}
END { check_circles(); exit wrong }
'

# A header declares what its own source defines: every function that it declares at its top level.
# The public header declares those of all sources.
declarations='
function finish(    name) {
    gsub(/[ \t\n]+/, " ", statement)
    if (statement !~ /(^| )(typedef|static|extern|_Static_assert|return)( |\()/ && match(statement, /[A-Za-z_][A-Za-z0-9_]*\(/)) {
        name = substr(statement, RSTART, RLENGTH - 1)
        if (name !~ /^[A-Z0-9_]+$/ && !(name in defined)) { printf "%s:%d: declares %s(), which its own source does not define\n", FILENAME, FNR, name; wrong = 1 }
    }
    statement = ""
}
FNR == 1 { depth = 0; statement = ""; in_comment = 0 }
FILENAME ~ /\.c$/ { if ($0 ~ /^[A-Za-z]/ && $0 !~ /;[ \t]*$/ && match($0, /[A-Za-z_][A-Za-z0-9_]*\(/)) defined[substr($0, RSTART, RLENGTH - 1)] = 1; next }
{
    line = $0
    gsub(/\/\*[^*]*\*\//, "", line)
    if (in_comment) { if (line !~ /\*\//) next; sub(/.*\*\//, "", line); in_comment = 0 }
    if (line ~ /\/\*/) { sub(/\/\*.*/, "", line); in_comment = 1 }
    if (line ~ /^[ \t]*#/ || continued) { continued = line ~ /\\$/; next }
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "{") { depth++; statement = "" }
        else if (c == "}") { depth--; statement = "" }
        else if (depth == 0 && c == ";") finish()
        else if (depth == 0) statement = statement c
    }
    if (depth == 0) statement = statement " "
}
END { exit wrong }
'

check_headers() {
    local header source wrong=0
    for header in $(find host platform -name '*.h' ! -name 'leyden*.h' ! -name internal.h | sort); do
        source=${header%.h}.c
        [ -f "$source" ] || source=/dev/null
        awk "$declarations" "$source" "$header" || wrong=1
    done
    return $wrong
}

check_files() {
    find cl $(ls -d kernels_cuda 2>/dev/null) platform host tools tests \( -name '*.c' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name '*.cl' -o -name '*.sh' -o -name '*.py' \) |
        sort | xargs awk "$rules"
}

check() {
    local wrong=0
    cd "$1" || return 2
    check_headers || wrong=1
    check_files || wrong=1
    return $wrong
}

# new_copy: of all sources; its path.
new_copy() {
    local copy
    copy=$(mktemp -d)
    (cd "$home" && cp -r cl $(ls -d kernels_cuda 2>/dev/null) platform host tools tests "$copy")
    echo "$copy"
}

# plant FILE TEXT [LINE]: adds a last line to FILE in the copy; the check must name it, or LINE.
plant() {
    printf '%b\n' "$2" >> "$copy/$1"
    places+=("$1:${3:-$(wc -l < "$copy/$1")}:")
    texts+=("${2:0:80}")
}

# find_all: one check finds all that was planted.
find_all() {
    local found i
    found=$(check "$copy")
    for i in "${!places[@]}"; do
        if [[ $'\n'$found == *$'\n'"${places[i]}"* ]]; then
            planted=$((planted + 1))
        else
            echo "not found: ${places[i]} ${texts[i]}"
            missed=1
        fi
    done
}

# plant_circle FILE TEXT FILE TEXT: two last lines that together close a circle, in a copy of their
# own.
plant_circle() {
    local copy
    copy=$(new_copy)
    printf '%b\n' "$2" >> "$copy/$1"
    printf '%b\n' "$4" >> "$copy/$3"
    if (cd "$copy" && check_files) | grep -q "in a circle"; then
        planted=$((planted + 1))
    else
        echo "not found: the circle of $1 and $3"
        missed=1
    fi
    rm -rf "$copy"
}

self_test() {
    local copy places=() texts=()
    planted=0 missed=0
    check "$home" || return 1
    copy=$(new_copy)
    plant platform/clock.c '#include "leyden.h"'
    plant platform/opencl/probe.c '#include "../../host/schedule/job.h"'
    plant host/target/map.c '#include "../../tools/console.h"'
    plant cl/pair.h '#include "device.h"'
    plant cl/pair.h '#include <math.h>'
    plant tools/file.c '#include "device.h"'
    plant tools/file.c '#include "schedule/job.h"'
    plant tools/file.c '#include <openssl/evp.h>'
    plant host/target/map.c '#include "no_such_file.h"'
    plant host/target/map.c '#include <CL/cl.h>'
    plant host/target/map.c 'int nothing; /* a comment */ cl_mem buffer; // another'
    plant platform/device.c 'void f(void) { clFinish(0); }'
    plant host/schedule/job.c 'const char *home = getenv("HOME");'
    plant platform/quirks.h 'bool is_fast = strstr(name, "NVIDIA http://a/*b") != 0;'
    plant platform/dev_kernel.c 'bool is_tested = strstr(error->message, "self-test") != NULL;'
    plant host/schedule/job.c 'bool is_lost = strstr(error->message, "lost") != NULL;'
    plant tools/map.c 'bool is_known = strncmp(error.message, "unknown", 7) != 0;'
    plant tools/map.c 'static bool is_cutoff(const char *name) { return strcmp(name, "cutoff") == 0; }'
    plant tools/job_report.c 'static const char *const names[] = {"dcs", "msm"};'
    plant host/schedule/job.c 'static const char advice[] = "take fewer points, or --slab";'
    plant cl/dcs.cl '#ifdef LEY_AMD'
    plant tools/devices.c 'static bool on_pocl;'
    plant host/target/map.c '#include "io/text.h"'
    plant host/io/text.c '#include "schedule/job.h"'
    plant host/law/accuracy.c '#include "layout/padding.h"'
    plant host/numerics/window.c '#include "law/accuracy.h"'
    plant host/target/grid.c '#include "numerics/window.h"'
    plant host/schedule/job.c '#include "methods/dcs/kernel.h"'
    plant host/long_range/mesh/spread.c '#include "long_range/model/problem.h"'
    plant host/methods/dcs/kernel.c '#include "methods/mdh/pack.h"'
    plant host/target/map.h 'ley_status map_of_nowhere(const ley_map *map);'
    plant tests/support.c "$(printf '\\n%.0s' {1..1000})" 1001
    find_all
    rm -rf "$copy"
    plant_circle host/law/solvent.h '#include "target/boundary.h"' host/target/boundary.h '#include "law/solvent.h"'
    plant_circle platform/log.h '#include "quirks.h"' platform/quirks.c '#include "log.h"'
    plant_circle platform/cuda/internal.h '#include "architectures.h"' platform/cuda/architectures.h '#include "internal.h"'
    plant_circle platform/opencl/settle.c 'void *last(void) { return cl_probe; }' platform/opencl/probe.c 'bool is_settled(cl_dev *d) { return cl_settled(d); }'
    plant_circle host/check/kernels.c 'void *last(void) { return check_function; }' host/check/functions.c 'void *last(void) { return check_kernel; }'
    plant_circle tools/console.h '#include "options.h"' tools/options.c '#include "console.h"'
    plant_circle tools/bench_io.c 'void *last(void) { return bench_cutoff_A; }' tools/bench_cutoff.c 'void *last(void) { return bench_folder_of; }'
    echo "$planted planted violations found"
    return $missed
}

if [ "${1:-}" = --self-test ]; then
    self_test
else
    check "${1:-$home}"
fi
