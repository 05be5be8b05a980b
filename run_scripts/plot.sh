#!/bin/sh
# Draws the results of the benchmarks with gnuplot. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost plot "$@"
