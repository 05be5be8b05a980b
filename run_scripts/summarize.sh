#!/bin/sh
# Puts all launches of all benchmarks into one table for spreadsheets. --help says how.
exec python3 "$(dirname -- "$0")/commcost" summarize "$@"
