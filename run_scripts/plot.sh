#!/bin/sh
# Draws the results of the benchmarks with gnuplot. --help: its options.
. "$(dirname -- "$0")/lib.sh"
commcost plot "$@"
