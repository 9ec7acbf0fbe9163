#!/bin/sh
# Installs what is missing of the packages that a list names for some purposes; or, without the
# rights, says how to.
#
# Use: install_packages.sh LIST PURPOSE...
list=$1
shift
command -v dpkg-query >/dev/null || exit 0 # not Debian: the build will say what it lacks

missing=
while read -r package purpose _; do
    case $package in '' | '#'*) continue ;; esac
    case " $* " in *" $purpose "*) ;; *) continue ;; esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done <"$list"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "leyden needs packages that are not installed. As root, run:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive

# What apt says of itself, as one line: over and over on a terminal, else a line for each tenth.
show_progress() {
    last=
    while IFS=: read -r kind _ percent what; do
        case $kind in
        dlstatus) step=downloading ;;
        pmstatus) step=installing ;;
        *) continue ;;
        esac
        percent=${percent%%.*}
        if [ -t 1 ]; then
            printf '\r  %s %3d %%  %-48.48s' "$step" "$percent" "$what"
        elif [ "$step $((percent / 10))" != "$last" ]; then
            echo "  $step $percent %"
        fi
        last="$step $((percent / 10))"
    done
    [ ! -t 1 ] || [ -z "$last" ] || printf '\r%72s\r' ''
}

apt-get update -qq || exit
# Its exit code is behind the pipe.
status=$(mktemp)
trap 'rm -f "$status"' EXIT
# shellcheck disable=SC2086 # one word per package
{ apt-get install -y -qq --no-install-recommends -o APT::Status-Fd=3 $missing 3>&1 >/dev/null; echo $? >"$status"; } | show_progress
exit "$(cat "$status")"
