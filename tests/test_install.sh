#!/bin/bash
# Installs into a directory of its own and uses what is there as a stranger would: pkg-config,
# shared and static library, header in C and C++, exported symbols; then uninstalls. Needs BUILD; CC
# and CXX as usual. Exit code 77: a tool is missing.
set -eu
BUILD=${BUILD:-build} CC=${CC:-cc} CXX=${CXX:-c++}
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script
for tool in pkg-config nm make; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
root=$top/root

fail() { echo "$*"; exit 1; }

make -s --no-print-directory BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr install
version=$(sed -n 's/^#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)
soname=libleyden.so.$(case $version in 0.*) echo "${version%.*}" ;; *) echo "${version%%.*}" ;; esac)
headers=$(sed -n 's/^#include "\(leyden.*\)".*/include\/\1/p' host/leyden.h)
# shellcheck disable=SC2086 # one word per header
for file in bin/leyden include/leyden.h include/leyden_long_range.h $headers lib/libleyden.a lib/libleyden.so lib/$soname lib/libleyden.so.$version lib/pkgconfig/leyden.pc lib/cmake/leyden/leydenConfig.cmake; do
    [ -e "$root/usr/$file" ] || fail "not installed: $file"
done
"$root/usr/bin/leyden" --version | grep -q "^leyden $version$" ||
    fail "the installed command does not say its version"

# The gallery goes elsewhere to work, and takes names from here: of its folder, and of a command
# that makes nothing but its file.
if [ -d /usr/share/apbs/examples ]; then
    printf '#!/bin/sh\nwhile [ "$#" -gt 0 ]; do [ "$1" != -o ] || : > "$2"; shift; done\n' > "$top/writes"
    chmod +x "$top/writes"
    (cd "$top" && LEYDEN=./writes bash "$OLDPWD/docs/gallery.sh" pictures) > "$top/said" 2>&1 ||
        fail "the gallery: $(tail -3 "$top/said")"
    [ "$(find "$top/pictures" -name '*.png' | wc -l)" = 7 ] || fail "the gallery has other pictures than seven"
fi

# Manual pages: one of each command, and nothing that the formatter complains of.
share=$root/usr/share
"$root/usr/bin/leyden" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' > "$top/commands"
[ "$(wc -l < "$top/commands")" -ge 10 ] || fail "leyden help names few commands: $(cat "$top/commands")"
for page in leyden $(sed 's/^/leyden-/' "$top/commands"); do
    [ -s "$share/man/man1/$page.1" ] || fail "no manual page $page"
    ! grep -n '%s' "$share/man/man1/$page.1" || fail "the manual page $page has a place that nothing was put into"
    command -v man >/dev/null || continue
    said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$share/man/man1/$page.1" 2>&1 >/dev/null)
    [ -z "$said" ] || fail "the manual page $page: $said"
done
command -v man >/dev/null || echo "man is not installed: nobody has formatted the manual pages"
# Each option of the help is in the page, with its letter.
while read -r command; do
    "$root/usr/bin/leyden" "$command" --help | sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' | while read -r option; do
        grep -q -- "\\\\-\\\\-$(printf %s "$option" | sed 's/-/\\\\-/g')\\\\fR" "$share/man/man1/leyden-$command.1" ||
            fail "the manual page of $command lacks --$option"
    done
done < "$top/commands"

# Completions: what the functions propose. complete_words WORD...: of a line that ends with the last
# of these.
completion=$share/bash-completion/completions/leyden
bash -n "$completion" || fail "the completion for bash is no script"
complete_words() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leyden; echo "${COMPREPLY[@]}"' - "$completion" "$@"
}
propose() {
    expected=$1; shift
    said=$(complete_words "$@")
    [ "$said" = "$expected" ] || fail "completion of '$*': '$said', not '$expected'"
}
propose map leyden ma
propose "--method" leyden map protein.pqr --metho
propose "msm" leyden map protein.pqr --method ms
propose "msm" leyden map --method = ms
propose "kT/e V kcal/mol/e kJ/mol/e" leyden map --units ""
propose "slice" leyden help sl
propose "" leyden map protein.pqr --spacing ""
propose "" leyden nothing --out
[ "$(complete_words leyden '' | wc -w)" = $(($(wc -l < "$top/commands") + 4)) ] || fail "not all commands are proposed"
if command -v zsh >/dev/null; then
    zsh -n "$share/zsh/site-functions/_leyden" || fail "the completion for zsh is no script"
else
    echo "zsh is not installed: its completion is not looked at"
fi

# The documents that help texts name.
while read -r command; do "$root/usr/bin/leyden" "$command" --help-all; done < "$top/commands" |
    grep -o 'docs/[a-z-]*\.[a-z]*' | sort -u > "$top/named"
[ -s "$top/named" ] || fail "no help text names a document"
while read -r name; do
    [ -s "$share/doc/leyden/${name#docs/}" ] || fail "a help text names $name, which is not installed"
done < "$top/named"

# What users read is there; it leads to nothing that is not, and has the words of links that would.
doc=$share/doc/leyden
for page in README surfaces python trajectories series mmgbsa ions tutorials/protein tutorials/membrane; do
    [ -s "$doc/$page.md" ] || fail "$page.md is not installed"
done
while read -r page; do
    while read -r name; do
        [ -e "$(dirname "$doc/$page")/$name" ] || fail "$page leads to $name, which is not installed"
    done < <(grep -o '](\(\.\./\)*[A-Za-z][A-Za-z0-9_/.-]*\.[a-z]*[)#]' "$doc/$page" | sed 's/^](//; s/[)#]$//')
done < <(cd "$doc" && find . -name '*.md')
grep -q '^functions of leyden_surface.h make surfaces\|^leyden_surface.h make surfaces' "$doc/surfaces.md" ||
    fail "surfaces.md has lost the words of a link: $(grep -n 'make surfaces' "$doc/surfaces.md")"
grep -q '](../surfaces.md' "$doc/tutorials/protein.md" || fail "the tutorial of a protein has lost a link"

# The example of the documentation, as it is installed.
example=$root/usr/share/doc/leyden/example.c
echo 'ATOM 1 NA ION A 1 1.0 2.0 3.0 1.0 1.8' > "$top/ion.pqr"
# run_example PROGRAM: one atom, 41 points along each axis; the first one lies sqrt(300) A off.
run_example() {
    rm -f "$top/ion.dx"
    "$1" "$top/ion.pqr" "$top/ion.dx" || return 1
    # 560.45923 kT/e A over the dielectric 78.54 and the distance
    awk '/ data follows$/ {getline; off = $1 / (560.45923 / 78.54 / sqrt(300)) - 1; found = off * off < 1e-10} END {exit !found}' \
        "$top/ion.dx" || { head -20 "$top/ion.dx"; return 1; }
    grep -q '^object 1 class gridpositions counts 41 41 41$' "$top/ion.dx"
}
[ "$(wc -l < "$example")" -le 25 ] || fail "the example is no longer one call"
for file in host/leyden.h README.md; do grep -q 'docs/example.c' $file || fail "$file does not name docs/example.c"; done

export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root LEYDEN_CACHE_DIR=${LEYDEN_CACHE_DIR:-$top/cache}
warnings="-Wall -Wextra -Wpedantic -Werror"
# Words of pkg-config's answers are options.
# shellcheck disable=SC2046
$CC -std=c11 $warnings $(pkg-config --cflags leyden) "$example" -o "$top/use_shared" $(pkg-config --libs leyden) ||
    fail "the example does not build with the shared library"
LD_LIBRARY_PATH=$root/usr/lib run_example "$top/use_shared" || fail "the example fails with the shared library"
LD_LIBRARY_PATH=$root/usr/lib ldd "$top/use_shared" | grep -q "$root/usr/lib/libleyden.so" ||
    fail "the example does not use the shared library"

# That of trajectories; python/tests/test_average_c.py looks at its values.
# shellcheck disable=SC2046
$CC -std=c11 $warnings $(pkg-config --cflags leyden) "$(dirname "$example")/average.c" -o "$top/average" \
    $(pkg-config --libs leyden) -lm || fail "the example of averages does not build"
LD_LIBRARY_PATH=$root/usr/lib "$top/average" 2>"$top/said" && fail "the example of averages takes no files"
grep -q 'average CHARGES.pqr TRAJECTORY.dcd MAP.dx' "$top/said" || fail "the example of averages does not say how it is called"

# Only our library statically: the ICD loader opens drivers at run time.
# shellcheck disable=SC2046
$CC -std=c11 $warnings $(pkg-config --cflags leyden) "$example" -o "$top/use_static" \
    $(pkg-config --static --libs leyden | sed 's/-lleyden/-l:libleyden.a/') ||
    fail "the example does not build with the static library"
run_example "$top/use_static" || fail "the example fails with the static library"
if ldd "$top/use_static" | grep -q libleyden; then fail "the static example uses the shared library"; fi

# The programs of the page for users of C print what it says.
mkdir "$top/page"
cp "$top/ion.pqr" "$top/page/molecule.pqr"
awk -v to="$top/page/" '
    /^```c$/ {inside = "c"; name = ""; next}
    /^```console$/ {inside = "console"; next}
    /^```$/ {inside = ""; next}
    inside == "c" && name == "" {name = $2 ~ /[.]c:$/ ? substr($2, 1, length($2) - 1) : "example.c"}
    inside == "c" {print > (to name)}
    inside == "console" && /^\$ / {count++; print substr($0, 3) > (to "commands"); next}
    inside == "console" {print > (to "expected." count)}' "$share/doc/leyden/c-api.md"
cmp "$top/page/example.c" "$example" || fail "c-api.md does not quote the example as it is"
for program in "$top"/page/*.c; do
    # shellcheck disable=SC2046
    $CC -std=c11 $warnings -pthread $(pkg-config --cflags leyden) "$program" -o "${program%.c}" $(pkg-config --libs leyden) ||
        fail "$(basename "$program") of c-api.md does not build"
done
count=0
while read -r command; do
    count=$((count + 1))
    (cd "$top/page" && LD_LIBRARY_PATH=$root/usr/lib timeout 120 sh -c "$command" > got) || fail "c-api.md: $command fails"
    diff "$top/page/expected.$count" "$top/page/got" || fail "c-api.md: $command prints something else"
done < "$top/page/commands"
[ "$count" = 7 ] || fail "c-api.md: $count programs were run"

foreign=$(nm -D --defined-only "$root/usr/lib/libleyden.so" | awk '$2 != "A" && $3 !~ /^ley_/ {print $3}')
[ -z "$foreign" ] || fail "exported beside ley_*: $foreign"
foreign=$(nm -g --defined-only "$root/usr/lib/libleyden.a" | awk 'NF == 3 && $3 !~ /^ley_/ {print $3}')
[ -z "$foreign" ] || fail "the static library shows beside ley_*: $foreign"
objdump -p "$root/usr/lib/libleyden.so" | grep -q "SONAME *$soname$" || fail "the shared library's name is not $soname"
nm -D --defined-only "$root/usr/lib/libleyden.so" | grep -q ' T ley_job_run' || fail "ley_job_run is not exported"

# What the header declares, the library has.
sed 's|/\*.*\*/||; /^typedef/d' host/leyden*.h platform/leyden_status.h | grep -o '\bley_[a-z0-9_A-Z]*(' | tr -d '(' | sort -u > "$top/declared"
nm -D --defined-only "$root/usr/lib/libleyden.so" | awk '{print $3}' | sort -u > "$top/exported"
missing=$(comm -23 "$top/declared" "$top/exported")
[ -z "$missing" ] || fail "declared but not exported: $missing"

printf '#include <leyden_long_range.h>\n#include <leyden.h>\nint main(void) { return ley_status_exit_code(LEY_OK); }\n' > "$top/header.c"
sed 's/{ return/{ ley_error error = {}; ley_error_clear(\&error); return/' "$top/header.c" > "$top/header.cpp" # as docs/c-api.md has it
$CC -std=c11 -pedantic $warnings -I"$root/usr/include" -c "$top/header.c" -o "$top/header.o" || fail "the header is no C11"
if command -v "$CXX" >/dev/null; then
    $CXX -std=c++17 $warnings -I"$root/usr/include" -c "$top/header.cpp" -o "$top/header.o" || fail "the header is no C++17"
else
    echo "no C++ compiler: the header is not tried with one"
fi

make -s --no-print-directory BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr uninstall
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "left by uninstall: $left"

# In place, in a folder that the loader does not know: the command, and what pkg-config says, work
# at once.
unset PKG_CONFIG_SYSROOT_DIR
own=$top/own machine=$($CC -dumpmachine)
printf '#!/bin/sh\necho called >> "%s/ldconfig"\n' "$top" > "$top/ldconfig.sh"
chmod +x "$top/ldconfig.sh"
make -s --no-print-directory BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr LDCONFIG="$top/ldconfig.sh" install
[ ! -e "$top/ldconfig" ] || fail "ldconfig is run for an installation elsewhere (DESTDIR)"
make -s --no-print-directory BUILD="$BUILD" PREFIX="$own" LIBDIR="$own/lib/$machine" LDCONFIG="$top/ldconfig.sh" install
[ "$(id -u)" != 0 ] || [ -e "$top/ldconfig" ] || fail "make install does not make the library known to the loader"
"$own/bin/leyden" --version >/dev/null || fail "the command does not run where it is installed"
export PKG_CONFIG_PATH=$own/lib/$machine/pkgconfig
# shellcheck disable=SC2046
$CC $(pkg-config --cflags leyden) "$own/share/doc/leyden/example.c" -o "$top/use_own" $(pkg-config --libs leyden) ||
    fail "the example does not build in $own"
env -u LD_LIBRARY_PATH "$top/use_own" "$top/ion.pqr" "$top/own.dx" >/dev/null || fail "the example does not run in $own"
# What c-api.md has of static libraries: without those of leyden at run time, and with none at all.
mkdir "$top/linked"
cp "$own/share/doc/leyden/example.c" "$top/linked/"
awk -v to="$top/linked/way" '/^## / {inside = 0} /^## Linking statically/ {inside = 1}
    /^```$/ {open = 0} open {print > (to count)} inside && /^```sh$/ {open = 1; count++}' "$own/share/doc/leyden/c-api.md"
if [ -e "$(${CC%% *} -print-file-name=libcrypto.a)" ]; then
    for way in 1 2; do
        sed -i "s|^cc |$CC |" "$top/linked/way$way"
        (cd "$top/linked" && rm -f example && sh -e "way$way") > "$top/said" 2>&1 || fail "static linking, way $way: $(tail -5 "$top/said")"
        env -u LD_LIBRARY_PATH "$top/linked/example" "$top/ion.pqr" "$top/linked/ion.dx" > "$top/said" 2>&1 ||
            fail "linked statically, way $way: $(cat "$top/said")"
        ldd "$top/linked/example" > "$top/needs" 2>&1 || true
        if grep -q 'libleyden\|libcrypto\|libz\.' "$top/needs"; then fail "static linking, way $way: $(cat "$top/needs")"; fi
    done
    grep -q 'not a dynamic executable\|statically linked' "$top/needs" || fail "-static leaves $(cat "$top/needs")"
else
    echo "there is no libcrypto.a: static linking is not tried"
fi
if command -v cmake >/dev/null; then
    mkdir -p "$top/project"
    cp "$own/share/doc/leyden/example.c" "$top/project/"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(example C)' "find_package(leyden ${version%.*} REQUIRED)" \
        'add_executable(shared example.c)' 'target_link_libraries(shared leyden::leyden)' \
        'add_executable(static example.c)' 'target_link_libraries(static leyden::static)' > "$top/project/CMakeLists.txt"
    cmake -S "$top/project" -B "$top/made" -DCMAKE_PREFIX_PATH="$own" -DCMAKE_C_COMPILER="${CC%% *}" > "$top/said" 2>&1 &&
        cmake --build "$top/made" >> "$top/said" 2>&1 || fail "CMake: $(tail -20 "$top/said")"
    for kind in shared static; do
        "$top/made/$kind" "$top/ion.pqr" "$top/$kind.dx" >/dev/null || fail "the example made by CMake, $kind, does not run"
    done
    sed -i "s/leyden ${version%.*} /leyden 99.0 /" "$top/project/CMakeLists.txt"
    if cmake -S "$top/project" -B "$top/other" -DCMAKE_PREFIX_PATH="$own" > "$top/said" 2>&1; then fail "CMake takes another version"; fi
else
    echo "cmake is not installed: find_package is not tried"
fi
cmp -s LICENSE "$own/share/doc/leyden/LICENSE" || fail "LICENSE is not installed"
if grep -q rpath "$root/usr/lib/pkgconfig/leyden.pc"; then fail "an rpath to a folder that the loader knows"; fi

# Without its packages the build says which ones are missing, and which command installs them.
if CC=no-such-compiler sh tests/missing_packages.sh packages.txt > "$top/said" 2>&1; then fail "no compiler is missed"; fi
grep -q '^    gcc (program cc)$' "$top/said" || fail "missing packages: $(cat "$top/said")"
grep -q 'apt-get install --no-install-recommends.* gcc' "$top/said" || fail "no command to install them: $(cat "$top/said")"
printf 'no-such-dev build header:no/such.h\nno-such-lib build library:no_such\nno-such-pc build module:no-such\nzlib1g-dev build header:zlib.h\nx test\n' > "$top/list"
if sh tests/missing_packages.sh "$top/list" > "$top/said" 2>&1; then fail "nothing is missed"; fi
grep -q 'recommends no-such-dev no-such-lib no-such-pc$' "$top/said" || fail "missing packages: $(cat "$top/said")"
sh tests/missing_packages.sh packages.txt || fail "packages are missed that are there"
if make -s --no-print-directory BUILD="$top/build" CC=no-such-compiler "$top/build/platform/error.o" > "$top/said" 2>&1; then
    fail "a build without a compiler succeeds"
fi
grep -q 'gcc (program cc)' "$top/said" || fail "make does not say what is missing: $(cat "$top/said")"
echo "installed, used and uninstalled"
