#!/bin/sh
# Draws the results of the benchmarks with gnuplot. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost plot "$@"
