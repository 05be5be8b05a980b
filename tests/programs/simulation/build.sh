#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the benchmarks for SimGrid's SMPI, with work that takes simulated time.
#
# usage: build.sh SOURCE BUILD_FOLDER SMPICC
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cmake -S "$1" -B "$2" "-DMPI_C_COMPILER=$3" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCOMMCOST_WERROR=ON \
    -DBUILD_TESTING=OFF "-DCOMMCOST_SIMULATED_SOURCE=$here/source.c"
cmake --build "$2" -j 2
