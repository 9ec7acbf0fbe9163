#!/bin/sh
# Says what the build lacks, and which Debian packages have it. Exit code 1 when anything is
# missing.
#
# Use: CC=cc missing_packages.sh LIST [PURPOSE...], by default all that `make` builds.
list=$1
shift
[ $# -gt 0 ] || set -- build command
purposes=$*
CC=${CC:-cc}
missing= words=
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT

# has KIND:NAME
has() {
    name=${1#*:}
    case $1 in
    # shellcheck disable=SC2086 # CC may have options
    program:cc) set -- $CC && command -v "$1" >/dev/null ;;
    program:*) command -v "$name" >/dev/null ;;
    module:*) pkg-config --exists "$name" 2>/dev/null ;;
    header:*) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$name" | $CC -E -x c - >/dev/null 2>&1 ;;
    library:*) echo 'int main(void) { return 0; }' | $CC -x c - -o "$scratch" "-l$name" 2>/dev/null ;;
    esac
}

while read -r package purpose sign; do
    case " $purposes " in *" $purpose "*) ;; *) continue ;; esac
    has "$sign" && continue
    missing="$missing $package"
    words="$words
    $package (${sign%%:*} ${sign#*:})"
done <"$list"
[ -n "$missing" ] || exit 0
cat >&2 <<END
leyden cannot be built yet: these Debian packages, or what other systems call them, are missing:$words
As root, run
    apt-get update && apt-get install --no-install-recommends$missing
or \`make demo\` or \`make deps\`, which do that.
END
exit 1
