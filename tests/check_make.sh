#!/bin/bash
# What make builds again: nothing when nothing has changed; what depends on it after a change of a
# source, a header, a kernel, the flags or the list of sources. And `make help` has a line for each
# target that README.md, docs and scripts name. In a copy of a few sources, so that it is soon done.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL SANITIZE CFLAGS BUILD # of a make that runs this script
cd "$(dirname "$0")/.."
sources=$PWD
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
fail() { echo "$*"; exit 1; }

# ---- Targets -------------------------------------------------------------------------------------

helped=" $(make help | awk '/^make / {for (i = 2; $i ~ /^[a-z][a-z0-9-]*$/; i++) printf "%s ", $i}')"
for target in all $(cat README.md CONTRIBUTING.md docs/*.md .ci/run | grep -oE '`make [a-z][a-z0-9-]*|^make [a-z][a-z0-9-]* +#' | sed 's/.*make //; s/ .*//' | sort -u); do
    [[ $helped == *" $target "* ]] || fail "make help has no line for $target"
done

# ---- What is built again -------------------------------------------------------------------------

mkdir -p "$top/platform" "$top/host/core" "$top/tests"
cp -r "$sources"/{Makefile,packages.txt,cl,kernels_cuda} "$top"
cp "$sources"/tests/missing_packages.sh "$top/tests"
cp "$sources"/platform/*.h "$sources"/platform/{embed,flatten,clock,machine,error}.c "$top/platform"
cp "$sources"/host/leyden*.h "$top/host"
cp "$sources"/host/core/{sizes.h,number.h,number.c,units.c,units.h,version.c} "$top/host/core"
cd "$top"
expected=
# build [VARIABLE=VALUE...]: what was compiled or made must be the words of $expected.
build() {
    make --no-print-directory -j2 build/libleyden.a "$@" >log 2>&1 || { cat log; fail "make failed"; }
    made=$(awk '$1 == "CC" || $1 == "AR" || $1 == "GEN" || $1 == "LINK" {print $2}' log | sort | tr '\n' ' ')
    [ -z "${expected+x}" ] || [ "$made" = "$expected" ] || fail "$*: made '$made', expected '$expected'"
}
unset expected
build
all=$made
[[ $all == *"build/libleyden.a"* && $all == *"platform/clock.c"* && $all == *"build/embedded.c"* ]] || fail "not all was built: $all"
expected=
build
sleep 1.1 # file systems' clocks
touch platform/clock.c
expected="build/libleyden.a platform/clock.c "
build
touch host/core/units.h
expected="build/libleyden.a host/core/units.c "
build
touch cl/dcs.cl
expected="build/embedded.c build/embedded.c build/libleyden.a "
build
expected=
build
# Other flags compile all of the library, and then nothing.
unset expected
build CFLAGS=-O1
for word in $all; do
    [[ $word == build/embed* || " $made" == *" $word "* ]] || fail "other flags: $word was not built again, but '$made'"
done
expected=
build CFLAGS=-O1
# A source that is no longer there leaves the library.
ar t build/libleyden.a | grep -q '^version.o$' || fail "version.o is not in the library"
rm host/core/version.c
unset expected
build CFLAGS=-O1
[[ $made == *"build/libleyden.a"* ]] || fail "a source was removed, and made was '$made'"
if ar t build/libleyden.a | grep -q '^version.o$'; then fail "version.o is still in the library"; fi
expected=
build CFLAGS=-O1
