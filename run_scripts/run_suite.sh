#!/bin/sh
# Runs the benchmarks, all or some, several times in turn, and puts the results
# together. --help says how.
exec python3 "$(dirname -- "$0")/commcost" suite "$@"
