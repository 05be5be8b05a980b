#!/bin/sh
# Builds the project another way and runs the tests that this way is about.
#
# usage: variant.sh SOURCE BUILD_FOLDER sanitizers|openmpi[_full] MPICC MPIRUN...
#   _full   all tests that make sense there; without it those that take long are
#           left out, and each program makes a checked run
set -eu

source=$1
build=$2/$3
variant=$3
mpicc=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)

run() {
    echo "+ $*"
    "$@"
}

configure_and_build() {
    run cmake -S "$source" -B "$build" "-DMPI_C_COMPILER=$mpicc" \
        -DCOMMCOST_TESTS=ON -DCOMMCOST_WERROR=ON -DCOMMCOST_MAN=OFF "$@"
    run cmake --build "$build" -j 2
}

# checked_runs MPIRUN...: a short run of each benchmark that verifies its data.
checked_runs() {
    run "$@" -np 2 "$build/mpi_overhead/mpi_overhead" --check --both \
        --msgsize=0,8,64K --max-time=0.1 --no-header --verbose >/dev/null
    for program in msgrate "msgrate_rma -u put" "msgrate_rma -u get"; do
        # shellcheck disable=SC2086  # a program and its options
        run "$@" -np 2 "$build"/msgrate/$program -p 1 --check --size=0,8,1K \
            --max-time=0.1 --no-header >/dev/null
    done
    run "$@" -np 2 "$build/pingpong/pingpong" --check --max-ndata=64 \
        --max-stride=4 --max-time=0.02 --no-header >/dev/null
    run "$@" -np 2 "$build/syncbench/syncbench" --check --max-time=0.05 \
        --no-header >/dev/null
    run "$build/monitor/monitor_overhead" --max-time=0.02 --no-header >/dev/null
    # Not neighbor_alltoallw, of which MPICH makes wrong data here.
    run "$@" -np 2 "$build/halo/halo" --check --local=1,5x3x2,20 \
        --methods="put,get,isend/irecv types,isend/irecv packed,persistent,shared window" \
        --max-time=0.1 --no-header >/dev/null
}

case $variant in
sanitizers | sanitizers_full)
    # The unit tests, and one short checked run of every collective. Memory
    # that the MPI library keeps until the end is not ours to free.
    configure_and_build -DCOMMCOST_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
        "-DCMAKE_C_FLAGS_DEBUG=-O1 -g"
    LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"
    ASAN_OPTIONS="detect_stack_use_after_return=1"
    UBSAN_OPTIONS="print_stacktrace=1"
    export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
    # Timings say nothing here, and the work is compiled without sanitizers.
    without='unit_(work|clock)'
    [ "$variant" != sanitizers ] || without="$without|unit_stats|monitor_flight"
    run ctest --test-dir "$build" --output-on-failure -L 'unit|monitor' -E "$without"
    run ctest --test-dir "$build" --output-on-failure -R '^bench_compare$'
    for source_file in "$source"/overlap/i*.c; do
        program=$build/overlap/overlap_$(basename "$source_file" .c)
        run "$@" -np 2 "$program" --check --max-time=0.1 \
            --max-num-elts=4096 --no-header --verbose --debug >/dev/null
    done
    checked_runs "$@"
    ;;
openmpi | openmpi_full)
    # What takes Open MPI's launcher minutes is for the full tests.
    configure_and_build
    long=
    [ "$variant" = openmpi ] ||
        long='|overlap_(usage|defaults|data)|msgrate|halo|mpi_overhead|pingpong|syncbench|monitor_usage|global_clock_accuracy'
    run ctest --test-dir "$build" --output-on-failure --repeat until-pass:2 \
        -R "^(model_.*|overlap_contract|suite_mpirun|monitor_(counts|flight|threads|stencil|fortran)|unit_(sampling|job|quiet|batch|start_window|coarray|monitor).*$long)\$"
    checked_runs "$@"
    ;;
*)
    echo "variant.sh: no such variant: $variant" >&2
    exit 2
    ;;
esac
