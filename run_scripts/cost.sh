#!/bin/sh
# What communication costs a program, from its monitor's report and results. --help says how.
exec python3 "$(dirname -- "$0")/commcost" cost "$@"
