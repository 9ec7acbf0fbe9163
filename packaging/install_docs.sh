#!/bin/sh
# Copies documents to a folder as they lie in docs/: install_docs.sh FOLDER docs/FILE... In pages,
# links to files that are not copied become their words.
set -eu
to=$1
shift
for file; do
    place=$to/${file#docs/}
    install -d "$(dirname "$place")"
    case $file in
    *.md) awk -v copied="$*" -v folder="$(dirname "$file")" '
        BEGIN {
            RS = "\001"
            ORS = ""
            count = split(copied, names, " ")
            for (i = 1; i <= count; i++) known[names[i]] = 1
        }
        function is_copied(target) {
            sub(/#.*/, "", target)
            target = folder "/" target
            while (sub(/[^\/]+\/\.\.\//, "", target)) {}
            return target in known
        }
        {
            rest = $0
            while (match(rest, /!?\[[^]]*\]\([^) ]*\)/)) {
                link = substr(rest, RSTART, RLENGTH)
                middle = index(link, "](")
                target = substr(link, middle + 2, length(link) - middle - 2)
                print substr(rest, 1, RSTART - 1)
                rest = substr(rest, RSTART + RLENGTH)
                if (target ~ /^(#|[a-z]+:)/ || is_copied(target)) print link
                else if (link !~ /^!/) print substr(link, 2, middle - 2)
            }
            print rest
        }' "$file" > "$place" ;;
    *) cp "$file" "$place" ;;
    esac
    chmod 644 "$place"
done
