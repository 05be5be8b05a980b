#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints one table of all launches of all benchmarks, for spreadsheets. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost summarize "$@"
