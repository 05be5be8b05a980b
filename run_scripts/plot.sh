#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Draws the results of the benchmarks with gnuplot. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost plot "$@"
