#!/bin/sh
# Draws the results of the benchmarks with gnuplot. --help says how.
exec python3 "$(dirname -- "$0")/commcost" plot "$@"
