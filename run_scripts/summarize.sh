#!/bin/sh
# Puts all launches of all benchmarks into one table for spreadsheets. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost summarize "$@"
