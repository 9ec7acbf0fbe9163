#!/bin/bash
# Another architecture without its machine: architecture.sh ppc64el|arm64|s390x, as root on Debian.
# `make power`, `make arm` and `make s390x` are this script; docs/testing.md says what they show.
#
# A Debian of that architecture, its root, is made once and kept in ROOTS (unless set:
# ~/.cache/leyden-roots). The tree is copied to ROOT/leyden and compiled with the compiler for that
# architecture that runs here; all programs then run in the root, under QEMU. Mounts are private to
# this script: none is left when it ends, however it does.
#
#   ROOTS            where roots are kept
#   MATRIX           where logs go; build/matrix unless set
#   MATRIX_TESTS     which test programs run; unless set, those of the host and of files, below
#   MATRIX_PARTS     of "tests drivers", which run; unless set, both
#   MATRIX_NATIVE=1  compiles in the root, with its own compiler, which takes twenty times as long
set -u
cd "$(dirname "$0")/../.." || exit 2
tree=$PWD
architecture=${1-}
case $architecture in
ppc64el) triple=powerpc64le-linux-gnu emulator=ppc64le row=power ;;
arm64) triple=aarch64-linux-gnu emulator=aarch64 row=arm ;;
s390x) triple=s390x-linux-gnu emulator=s390x row=s390x ;;
*) echo "Use: $0 ppc64el|arm64|s390x" >&2 && exit 2 ;;
esac
roots=${ROOTS:-${HOME:-/root}/.cache/leyden-roots}
root=$roots/$architecture
suite=bookworm
MATRIX=${MATRIX:-$tree/build/matrix}
MATRIX_LOG=$MATRIX/$row.log MATRIX_SUMMARY=$MATRIX/$row.tsv
parts=${MATRIX_PARTS:-tests drivers}
# What makes and reads files and numbers on the host; these are quick enough for an interpreter. Not
# test_costs, which knows how fast processors are, nor test_memory, as QEMU knows no `ulimit -v`.
# Those of `device_tests` need a device.
host_tests="test_host test_dx test_raw test_pqr test_points test_numerics test_expression test_expression_source test_coherence
    test_waterbox test_lattices test_short_range test_binning test_platform test_dialects test_planner
    test_mrc test_npy test_dxbin test_cube test_packer test_parallel test_pairwise test_outputs test_log test_drivers
    test_wavefunction test_orbital_tables"
device_tests="test_plan test_cli_generate test_cli_compare"

fail() { echo "$row: $*" >&2 && exit 1; }

[ "$(id -u)" = 0 ] || fail "a root of another architecture takes root's rights: run this as root"
command -v apt-get >/dev/null || fail "this is for Debian, whose packages of $architecture it takes"

# ---- What runs here ------------------------------------------------------------------------------

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

install_here() {
    local package missing=
    for package in debootstrap qemu-user-static binfmt-support "gcc-${triple//_/-}" "libc6-dev-$architecture-cross"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=" $package"
    done
    [ -n "$missing" ] || return 0
    echo "$row: installing$missing"
    # shellcheck disable=SC2086 # one word per package
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null || fail "cannot install$missing"
}

# Programs of that architecture are given to QEMU by the kernel.
register_emulator() {
    local formats=/proc/sys/fs/binfmt_misc
    [ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats || fail "the kernel has no binfmt_misc"
    [ -e $formats/qemu-$emulator ] || update-binfmts --enable "qemu-$emulator" || fail "cannot register QEMU for $emulator"
}

# ---- The root ------------------------------------------------------------------------------------

inside() {
    chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# Drivers count processors in /sys, and abort where it is not.
mount_all() {
    mount -t proc proc "$root/proc" && mount --bind /tmp "$root/tmp" && mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys" || fail "cannot mount /proc, /tmp, /dev and /sys in $root"
}

# The mirror that this machine's own packages come from.
mirror() {
    # shellcheck disable=SC2016 # apt's words
    apt-get indextargets --format '$(SITE) $(CODENAME)' 2>/dev/null | awk -v suite=$suite '$2 == suite {print $1; exit}'
}

make_root() {
    local from
    from=$(mirror)
    echo "$row: making $root of Debian $suite, some minutes"
    mkdir -p "$root" && debootstrap --variant=minbase --arch="$architecture" $suite "$root" "${from:-http://deb.debian.org/debian}" >>"$MATRIX_LOG" 2>&1 || fail "debootstrap: see $MATRIX_LOG"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe" # it can be made again
    touch "$root/.made"
}

# The packages of packages.txt that there are for it, but for those of scripts that hold files
# against other programs. What is missing is told.
install_inside() {
    local wanted have
    wanted=$(awk '$2 ~ /^(build|command|device|test)$/ && $1 !~ /^(apbs|python3)/ {print $1}' packages.txt)
    [ "$(cat "$root/.packages" 2>/dev/null)" != "$wanted" ] || return 0
    echo "$row: installing packages in $root, some minutes"
    inside dpkg --configure -a >>"$MATRIX_LOG" 2>&1 # what a run that was cut off left
    inside apt-get update -qq || fail "apt-get update in $root"
    # shellcheck disable=SC2086 # one word per package
    have=$(inside apt-cache policy $wanted | awk '/^[^ ]/ {sub(/:$/, ""); name = $1} $1 == "Candidate:" && $2 != "(none)" {print name}')
    # shellcheck disable=SC2086
    inside apt-get install -y -qq --no-install-recommends $have >>"$MATRIX_LOG" 2>&1 || fail "installing in $root: see $MATRIX_LOG"
    printf '%s\n' $wanted | grep -vxF "$have" >"$root/.lacking"
    printf '%s' "$wanted" >"$root/.packages"
}

# Links with absolute targets lead out of the root when a compiler follows them from here.
relative_links() {
    local link target
    find "$root"/usr/lib* -xdev -lname '/*' | while read -r link; do
        target=$root$(readlink "$link")
        [ ! -e "$target" ] || ln -sfn "$(realpath -s --relative-to="$(dirname "$link")" "$target")" "$link"
    done
}

# ---- The tree ------------------------------------------------------------------------------------

# Files that have changed, so that make compiles no others.
copy_tree() {
    local file
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [ -f "$file" ] || continue
        cmp -s "$file" "$root/leyden/$file" && continue
        mkdir -p "$root/leyden/$(dirname "$file")" && cp -p "$file" "$root/leyden/$file" && touch "$root/leyden/$file"
    done
}

# The compiler of here with the root's headers and libraries; what the build itself runs is compiled
# for here.
compile() {
    local targets=()
    for name in $tests; do targets+=("build/tests/$name"); done
    if [ -n "${MATRIX_NATIVE:-}" ]; then
        inside make -C /leyden -j"$(nproc)" all "${targets[@]}"
        return
    fi
    PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triple/pkgconfig:$root/usr/share/pkgconfig \
        make -C "$root/leyden" -j"$(nproc)" CC="${MATRIX_CCACHE:+$MATRIX_CCACHE }$triple-gcc --sysroot=$root" CC_FOR_BUILD=cc AR="$triple-ar" all "${targets[@]}"
}

# ---- What runs there -----------------------------------------------------------------------------

run_tests() {
    local programs=() driver=llvmpipe
    [ ! -e "$root/etc/OpenCL/vendors/pocl.icd" ] || driver=
    if ! leyden "${driver:-pocl}" devices >/dev/null 2>&1; then
        echo "no driver: left out are $device_tests"
        tests=$(printf '%s\n' $tests | grep -vxF "${device_tests// /$'\n'}")
    fi
    for name in $tests; do programs+=("build/tests/$name"); done
    inside env TEST_EMULATED=yes TEST_LIMIT_S=3600 TEST_SCRIPTS= LEYDEN_CACHE_DIR=/leyden/build/cache-test TEST_DRIVER=$driver bash -c 'cd /leyden && exec bash tests/run.sh "$@"' - "${programs[@]}"
}

# leyden DRIVER ARGUMENTS...: the command on that driver alone.
leyden() {
    local driver=$1 before=() wrapper=()
    shift
    case $driver in
    pocl) before=(OCL_ICD_VENDORS=pocl.icd) ;;
    llvmpipe) before=(OCL_ICD_VENDORS=rusticl.icd RUSTICL_ENABLE=llvmpipe) ;;
    oclgrind) wrapper=(oclgrind) ;;
    esac
    inside env LEYDEN_CACHE_DIR=/leyden/build/cache-map "${before[@]}" TMPDIR=/tmp "${wrapper[@]}" /leyden/build/leyden "$@"
}

has_driver() {
    case $1 in
    pocl) [ -e "$root/etc/OpenCL/vendors/pocl.icd" ] ;;
    llvmpipe) [ -e "$root/etc/OpenCL/vendors/rusticl.icd" ] ;;
    oclgrind) [ -e "$root/usr/bin/oclgrind" ] ;;
    esac
}

# ---- All of it -----------------------------------------------------------------------------------

mkdir -p "$MATRIX"
if [ -z "${MATRIX_PRIVATE:-}" ]; then
    : >"$MATRIX_LOG"
    : >"$MATRIX_SUMMARY"
    install_here
    exec env MATRIX_PRIVATE=1 nice -n 10 unshare --mount --propagation private bash "$0" "$@"
fi
# Four kernels of potentials in place of fourteen: an emulated compiler takes long for each of them.
export MATRIX_ESP=${MATRIX_ESP:-tests/corpus/npz/plain.npz}
. tests/matrix/rows.sh
register_emulator
[ -e "$root/.made" ] || make_root
mount_all
install_inside
relative_links
copy_tree
tests=
for name in ${MATRIX_TESTS-$host_tests $device_tests}; do [ -e "tests/$name.c" ] && tests+=" $name"; done
while read -r package; do
    case $package in
    pocl-opencl-icd | mesa-opencl-icd | oclgrind) matrix_note "$row" "$package" package skipped 0 "Debian $suite has none for $architecture" ;;
    esac
done <"$root/.lacking"
failed=0
matrix_step "$row" host "build by $([ -n "${MATRIX_NATIVE:-}" ] && echo "its own" || echo a cross) compiler" compile || exit 1
if [[ " $parts " == *" tests "* && -n $tests ]]; then
    matrix_step "$row" host "tests of the host" run_tests || failed=1
fi
for driver in pocl llvmpipe oclgrind; do
    [[ " $parts " == *" drivers "* ]] && has_driver $driver || continue
    atoms=300 spacing=1
    # An interpreter of kernels under an interpreter of programs takes hours for the rest.
    [ $driver != oclgrind ] || atoms=12 spacing=3 MATRIX_METHODS=dcs no_check=1
    MATRIX_NO_CHECK=${no_check:-} matrix_driver "$row" $driver $atoms $spacing leyden $driver || failed=1
done
echo "$row: log in $MATRIX_LOG, summary in $MATRIX_SUMMARY"
exit $failed
