#!/bin/sh
# The one command of the README's shell blocks that begins with these words, without its comment:
# readme_commands.sh WORDS. Exit code 1: there is none, or more than one. Run at the root of the
# sources.
awk -v words="$1" '/^```/ {inside = $0 == "```sh"; next}
    inside && index($0, words) == 1 {sub(/ *#.*/, ""); found++; command = $0}
    END {if (found != 1) exit 1; print command}' README.md ||
    { echo "README.md no longer has one command that begins with: $1" >&2; exit 1; }
