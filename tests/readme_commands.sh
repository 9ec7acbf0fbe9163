#!/bin/sh
# The commands of the README's first two shell blocks, without their comments, a line each: the
# clone and the demo; what a bare system needs, and the tests. Run at the root of the sources.
exec awk '/^```sh$/ {inside = 1; next} /^```$/ {if (inside && ++blocks == 2) exit; inside = 0} inside {sub(/ *#.*/, ""); print}' README.md
