#!/bin/bash
# The README's commands as a stranger types them, in a bare Debian 12 that has nothing but what
# debootstrap's minbase brings: what a bare system needs, the clone, the demo, the tests. Prints
# what came of each and how long it took, and writes that to RESULT. As root, from `make bare`;
# twenty minutes or more.
#
#     tests/bare.sh [RESULT]    default: docs/runs/bare.md; exit code 77: a tool or right is missing
set -eu
cd "$(dirname "$0")/.."
result=$(realpath -m "${1:-docs/runs/bare.md}")
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "a bare system is made by root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
# Mounts of the bare system end with this script.
if [ -z "${BARE_MOUNTS-}" ]; then
    BARE_MOUNTS=own exec unshare --mount --propagation private bash "$0" "$@"
fi
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script

top=$(mktemp -d)
root=$top/root
clean() {
    umount -R "$root/proc" "$root/sys" "$root/dev" "$root/mnt" 2>/dev/null || true
    rm -rf --one-file-system "$top"
}
trap clean EXIT

# shellcheck disable=SC2016 # apt's words
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 2>/dev/null | awk '$2 == "bookworm" {print $1; exit}')
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$top/log" 2>&1 ||
    { tail -5 "$top/log"; exit 1; }
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe" # it is thrown away
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
git clone -q --bare . "$root/srv/leyden.git"

bare=$(sh tests/readme_commands.sh apt-get)
demo=$(sh tests/readme_commands.sh "make demo")
test=$(sh tests/readme_commands.sh "make test")
clone="git clone -q /srv/leyden.git leyden"
lines=()
# step NAME COMMAND: in the bare system, in the clone once it is there.
step() {
    local start=$SECONDS
    echo "== $2"
    chroot "$root" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c "cd /root; [ ! -d leyden ] || cd leyden; $2" 2>&1 | tee "$top/step.log"
    local code=${PIPESTATUS[0]}
    lines+=("| \`$1\` | $((SECONDS - start)) | $([ "$code" = 0 ] && echo passed || echo "failed, exit code $code") | $(tail -n 1 "$top/step.log" | tr '|\r' '  ' | cut -c 1-80) |")
    [ "$code" = 0 ]
}
code=0
step "$bare" "$bare" && step "$(sh tests/readme_commands.sh "git clone")" "$clone" && step "$demo" "$demo" &&
    step "$test" "$test" || code=1

mkdir -p "$(dirname "$result")"
{
    echo "# The README's commands in a bare Debian 12"
    printf '\n`make bare`, leyden %s, %s, %s cores, Debian %s, %s\n\n' "$(git describe --always)" \
        "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(cat "$root/etc/debian_version")" "$(date -u +%F)"
    printf 'Seconds are of the clock, beside whatever else ran.\n\n'
    echo "| command | seconds | result | last line of its output |"
    echo "|---|---|---|---|"
    printf '%s\n' "${lines[@]}"
} >"$result"
cat "$result"
exit $code
