#!/bin/bash
# Makes the Debian package and tries it as a stranger would, in a bare Debian 12: lintian, the
# installation with what it depends on, a map by PoCL, the manual page, removal. As root; some
# minutes, most of them for the bare system and the driver. By hand, and at level full.
#
#     tests/test_deb.sh             BUILD as usual; exit code 77: a tool or a right is missing
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*"; exit 1; }
[ "$(id -u)" = 0 ] || skip "a bare system is made by root"
for tool in debootstrap dpkg-deb dpkg-shlibdeps lintian; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
# Mounts of the bare system end with this script.
if [ -z "${TEST_DEB_MOUNTS-}" ]; then
    TEST_DEB_MOUNTS=own exec unshare --mount --propagation private bash "$0" "$@"
fi

suite=bookworm
top=$(mktemp -d)
root=$top/root
clean() {
    umount -R "$root/proc" "$root/sys" "$root/dev" 2>/dev/null || true
    rm -rf --one-file-system "$top"
}
trap clean EXIT

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
BUILD=$BUILD bash packaging/deb.sh "$top" >/dev/null
BUILD=$BUILD bash packaging/deb.sh "$top/again" >/dev/null
[ "$(find "$top" -maxdepth 1 -name '*.deb' ! -name 'leyden-mpi_*' | wc -l)" = 3 ] || fail "other packages than three"
for package in "$top"/*.deb; do
    said=$(lintian --allow-root --fail-on error --tag-display-limit 0 "$package" 2>&1) || fail "lintian: $said"
    cmp -s "$package" "$top/again/$(basename "$package")" || fail "the same build makes another package"
done

# The command for several processes, as it is in its package.
if command -v mpirun >/dev/null && [ -n "$(find "$top" -maxdepth 1 -name 'leyden-mpi_*.deb')" ]; then
    dpkg-deb -x "$top"/leyden-mpi_*.deb "$top/mpi"
    "$BUILD/leyden" generate waterbox --atoms 3000 -o "$top/box.pqr" -q
    "$BUILD/leyden" map "$top/box.pqr" -o "$top/one.raw" --method cutoff --device cpu -q --json "$top/plan.json"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 "$top/mpi/usr/bin/leyden-mpi" map "$top/box.pqr" \
        -o "$top/two.raw" --method cutoff --device cpu -q --plan "$top/plan.json" --json "$top/two.json" || fail "leyden-mpi on two ranks"
    cmp "$top/one.raw" "$top/two.raw" || fail "leyden-mpi makes other bytes"
    grep -q '"count": 2' "$top/two.json" || fail "leyden-mpi has not two ranks"
fi

# shellcheck disable=SC2016 # apt's words
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 2>/dev/null | awk -v suite=$suite '$2 == suite {print $1; exit}')
debootstrap --variant=minbase --arch="$(dpkg --print-architecture)" $suite "$root" "${mirror:-http://deb.debian.org/debian}" >"$top/log" 2>&1 ||
    fail "debootstrap: $(tail -5 "$top/log")"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe" # it is thrown away
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
cp "$top"/*.deb docs/example.c "$root/tmp/"
inside() { chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update -qq >"$top/log" 2>&1 || fail "apt-get update: $(tail -5 "$top/log")"
inside sh -c 'apt-get install -y -qq /tmp/leyden_*.deb' >"$top/log" 2>&1 || fail "apt-get install: $(tail -20 "$top/log")"

inside leyden --version | grep -q "^leyden $(sed -n 's/^#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)$" || fail "the command does not say its version"
inside leyden devices || fail "no device, though the package recommends a driver"
inside leyden generate waterbox --atoms 3000 -o /tmp/box.pqr -q || fail "generate"
inside leyden map /tmp/box.pqr -o /tmp/box.raw --method msm --tol 1e-4 --json /tmp/box.json -q || fail "map: exit code $?"
inside leyden map /tmp/box.pqr -o /tmp/exact.raw --method dcs -q || fail "map by direct summation: exit code $?"
inside leyden compare /tmp/exact.raw /tmp/box.raw --tol 1e-4 || fail "compare: exit code $?"
inside leyden slice /tmp/box.raw -o /tmp/box.png --atoms /tmp/box.pqr -q || fail "slice: exit code $?"
[ -s "$root/usr/share/man/man1/leyden-map.1.gz" ] || fail "no manual page"
[ -s "$root/usr/share/bash-completion/completions/leyden" ] || fail "no completion"
inside sh -c '! ldd /usr/bin/leyden | grep -q "not found"' || fail "libraries are missing"
inside sh -c 'apt-get install -y -qq --no-install-recommends /tmp/libleyden*.deb gcc libc6-dev pkg-config' >"$top/log" 2>&1 || fail "apt-get install: $(tail -20 "$top/log")"
inside sh -c 'cc /tmp/example.c $(pkg-config --cflags --libs leyden) -o /tmp/example && /tmp/example /tmp/box.pqr /tmp/example.dx' || fail "a program with libleyden-dev"
inside sh -c 'apt-get purge -y -qq leyden "libleyden*"' >"$top/log" 2>&1 || fail "apt-get purge: $(tail -5 "$top/log")"
left=$(find "$root/usr" -name '*leyden*')
[ -z "$left" ] || fail "left by the package: $left"
echo "the package installs, works and goes"
