#!/bin/bash
# Installs into a directory of its own and uses what is there as a stranger would: pkg-config, shared and static library, header in C
# and C++, exported symbols; then uninstalls. Needs BUILD; CC and CXX as usual. Exit code 77: a tool is missing.
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
for file in bin/leyden include/leyden.h include/leyden_status.h lib/libleyden.a lib/libleyden.so lib/pkgconfig/leyden.pc; do
    [ -e "$root/usr/$file" ] || fail "not installed: $file"
done
"$root/usr/bin/leyden" --version | grep -q "^leyden $(sed -n 's/^#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)$" ||
    fail "the installed command does not say its version"

# The example in the header, completed.
cat > "$top/use.c" <<'C'
#include <leyden.h>

#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ley_engine *engine = NULL; ley_atoms *atoms = NULL; ley_lattice lattice; ley_map *map = NULL; ley_job *job = NULL;
    ley_error error = {0};
    ley_job_options options;
    ley_job_options_default(&options);
    if (argc < 2 || ley_engine_create(NULL, &engine, &error) || ley_atoms_read_pqr(argv[1], &atoms, &error) ||
        ley_lattice_around(atoms, 0.5, 3, &lattice, &error) || ley_map_create(&lattice, &map, &error) ||
        ley_job_create(engine, atoms, map, &options, &job, &error) || ley_job_run(job, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const double corner = ley_map_read_values(map)[0], expected = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15) / sqrt(27);
    printf("%s %lld points, corner %.6g, expected %.6g\n", LEY_VERSION, (long long)ley_lattice_points(&lattice), corner, expected);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    return fabs(corner / expected - 1) < 1e-5 ? 0 : 2;
}
C
echo 'ATOM 1 NA ION A 1 1.0 2.0 3.0 1.0 1.8' > "$top/ion.pqr"

export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root LEYDEN_CACHE_DIR=${LEYDEN_CACHE_DIR:-$top/cache}
warnings="-Wall -Wextra -Wpedantic -Werror"
# Words of pkg-config's answers are options.
# shellcheck disable=SC2046
$CC -std=c11 $warnings $(pkg-config --cflags leyden) "$top/use.c" -o "$top/use_shared" $(pkg-config --libs leyden) -lm ||
    fail "the example does not build with the shared library"
LD_LIBRARY_PATH=$root/usr/lib "$top/use_shared" "$top/ion.pqr" || fail "the example fails with the shared library"
LD_LIBRARY_PATH=$root/usr/lib ldd "$top/use_shared" | grep -q "$root/usr/lib/libleyden.so" ||
    fail "the example does not use the shared library"

# Only our library statically: the ICD loader opens drivers at run time.
# shellcheck disable=SC2046
$CC -std=c11 $warnings $(pkg-config --cflags leyden) "$top/use.c" -o "$top/use_static" \
    $(pkg-config --static --libs leyden | sed 's/-lleyden/-l:libleyden.a/') -lm ||
    fail "the example does not build with the static library"
"$top/use_static" "$top/ion.pqr" || fail "the example fails with the static library"
if ldd "$top/use_static" | grep -q libleyden; then fail "the static example uses the shared library"; fi

foreign=$(nm -D --defined-only "$root/usr/lib/libleyden.so" | awk '$2 != "A" && $3 !~ /^ley_/ {print $3}')
[ -z "$foreign" ] || fail "exported beside ley_*: $foreign"
nm -D --defined-only "$root/usr/lib/libleyden.so" | grep -q ' T ley_job_run' || fail "ley_job_run is not exported"

# What the header declares, the library has.
sed 's|/\*.*\*/||' host/leyden.h platform/leyden_status.h | grep -o '\bley_[a-z0-9_A-Z]*(' | tr -d '(' | sort -u > "$top/declared"
nm -D --defined-only "$root/usr/lib/libleyden.so" | awk '{print $3}' | sort -u > "$top/exported"
missing=$(comm -23 "$top/declared" "$top/exported")
[ -z "$missing" ] || fail "declared but not exported: $missing"

printf '#include <leyden.h>\n#include <leyden.h>\nint main(void) { return ley_status_exit_code(LEY_OK); }\n' > "$top/header.c"
cp "$top/header.c" "$top/header.cpp"
$CC -std=c11 -pedantic $warnings -I"$root/usr/include" -c "$top/header.c" -o "$top/header.o" || fail "the header is no C11"
if command -v "$CXX" >/dev/null; then
    $CXX -std=c++17 $warnings -I"$root/usr/include" -c "$top/header.cpp" -o "$top/header.o" || fail "the header is no C++17"
else
    echo "no C++ compiler: the header is not tried with one"
fi

make -s --no-print-directory BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr uninstall
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "left by uninstall: $left"
echo "installed, used and uninstalled"
