#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the benchmarks several times, one after the other, and merges the results. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost suite "$@"
