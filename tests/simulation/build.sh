#!/bin/sh
# Builds the benchmarks for SimGrid's SMPI, with work that takes simulated time, and
# with functions of phases.c in front of those that say whose messages and memory are
# counted.
#
# usage: build.sh SOURCE BUILD_FOLDER SMPICC
set -eu

source=$1
build=$2
smpicc=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# What weak references alone have is asked for.
wrapped=,--undefined=syncbench_check
for function in bc_harness_barrier bc_harness_release bc_harness_bcast \
    bc_harness_reduce bc_harness_allreduce bc_harness_release_allreduce \
    bc_global_clock_update bc_job_describe bc_benchmark_main syncbench_check \
    smpi_shared_malloc_intercept smpi_shared_calloc_intercept \
    smpi_shared_realloc_intercept smpi_shared_free aligned_alloc \
    MPI_Barrier MPI_Comm_dup MPI_Comm_split MPI_Comm_split_type; do
    wrapped=$wrapped,--wrap=$function
done
cmake -S "$source" -B "$build" "-DMPI_C_COMPILER=$smpicc" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCOMMCOST_WERROR=ON \
    -DCOMMCOST_HWLOC=OFF -DBUILD_TESTING=OFF \
    "-DCOMMCOST_SIMULATED_SOURCE=$here/source.c;$here/phases.c" \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl$wrapped"
cmake --build "$build" -j 2
