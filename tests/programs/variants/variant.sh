#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the project another way and runs the tests that this way is about.
#
# usage: variant.sh SOURCE BUILD_FOLDER plain, sanitizers|threads|openmpi[_full], openmpi_timed, arm64
#                   MPICC MPIRUN...
#   plain   as in the README: an ordinary build and its tests
#   openmpi_timed  tests of openmpi's build that time something
#   arm64   MPICC is a cross compiler
#   _full   all tests that make sense there; without it those that take long are
#           left out
set -eu

source=$1
folder=$2
variant=$3
build=$folder/$variant
mpicc=$4
shift 4
mpirun=$*
tier=all
case $variant in
*_full) tier=full ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/checked_runs.sh"

configure() {
    run cmake -S "$source" -B "$build" "-DMPI_C_COMPILER=$mpicc" \
        "-DCOMMCOST_TEST_TIER=$tier" -DCOMMCOST_WERROR=ON -DCOMMCOST_MAN=OFF "$@"
}

# Sanitizers place their memory where kernels that spread addresses widely may have put
# something else.
fixed_addresses=
setarch -R true 2>/dev/null && fixed_addresses="setarch -R"

build_targets() {
    run cmake --build "$build" -j 2 --target "$@"
}

# build_folders FOLDER...: all that is in them. Their Makefiles do that.
build_folders() {
    for name in "$@"; do
        run make -C "$build/$name" -j 2 --no-print-directory
    done
}

benchmarks="mpi_overhead msgrate msgrate_rma pingpong syncbench halo linkmap noise collective checkup monitor_overhead"

case $variant in
plain)
    run cmake -S "$source" -B "$build" "-DMPI_C_COMPILER=$mpicc"
    run cmake --build "$build" -j 2
    run ctest --test-dir "$build" -j 2 --output-on-failure
    ;;
sanitizers | sanitizers_full)
    # The unit tests, and one short checked run of every collective (six without _full). Memory
    # that the MPI library keeps until the end is not ours to free.
    configure -G 'Unix Makefiles' -DCOMMCOST_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
        "-DCMAKE_C_FLAGS_DEBUG=-O0 -g1"
    if [ "$variant" = sanitizers ]; then
        # shellcheck disable=SC2086  # words
        build_targets $benchmarks
        build_folders overlap tests/unit tests/monitor tests/programs/input
    else
        build_targets all
    fi
    LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"
    # With MPICH 4.0.2 a persistent MPI_Neighbor_alltoallw hangs, also by calls of PMPI_, where sanitizers fill what
    # malloc returns with 0xbe, their default; not where that is filled with zeros, or not at all. valgrind finds our
    # own uses of memory that nobody has set.
    ASAN_OPTIONS="detect_stack_use_after_return=1:max_malloc_fill_size=0"
    # The C library keeps no frame pointers: who called its vasprintf, which Open MPI's
    # plug-ins do, is found without them only.
    [ "$variant" = sanitizers ] || ASAN_OPTIONS="$ASAN_OPTIONS:fast_unwind_on_malloc=0"
    UBSAN_OPTIONS="print_stacktrace=1"
    # UCX patches functions of the C library when it is loaded; the search for leaks then crashes
    # in some programs, also in those that only refuse their options.
    UCX_MEM_EVENTS=no
    export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS UCX_MEM_EVENTS
    # Timings mean nothing here, and the work is compiled without sanitizers. What stays the same
    # with more ranks is tested with the most. Without _full the samples' memory is that of the short runs alone.
    without='unit_(work_.*|clock)$|monitor_.*_fortran'
    [ "$variant" != sanitizers ] ||
        without="$without|unit_(stats|finalize|gain|many_ranks|noise_sources|[a-z_]*_[1478]|monitor_.*_2)$|monitor_flight"
    run ctest --test-dir "$build" --no-tests=error -j 4 --output-on-failure -E "$without" \
        -R '^(unit_.*|monitor_(counts|flight|requests|threads|misuse).*|random_options)$'
    if [ "$variant" = sanitizers_full ]; then
        # The model and the monitor are preloaded here, so they come before the
        # sanitizers' library; the program has that, too.
        ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
        run ctest --test-dir "$build" --no-tests=error --output-on-failure \
            -R '^(contract_.*_real|(mpi_overhead|pingpong|syncbench)_real|monitor_(stencil|usage|launch))$'
    fi
    if [ "$variant" = sanitizers_full ]; then
        checked_overlaps "$source"
    else
        for collective in iallreduce ialltoallw ibarrier ineighbor_alltoall ireduce_scatter iscan; do
            checked_overlap "$collective"
        done
        checked_overlap_pairs
    fi
    checked_runs
    ;;
threads | threads_full)
    # ThreadSanitizer, for what has threads: the one-sided message rate's, and
    # the monitor in a program that has some. UCX patches functions of the C
    # library when it is loaded, which a program with ThreadSanitizer doesn't
    # survive: MPICH gets on without.
    UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none
    TSAN_OPTIONS="suppressions=$here/tsan.supp:detect_deadlocks=0:print_suppressions=0"
    export UCX_MEM_EVENTS UCX_MEM_MMAP_HOOK_MODE TSAN_OPTIONS
    level=-O0
    [ "$variant" = threads ] || level=-O1
    configure -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=$level -g" \
        -DCMAKE_C_FLAGS=-fsanitize=thread
    run cmake --build "$build" -j 2 --target msgrate_rma monitor_threads_test
    before=$fixed_addresses
    # shellcheck disable=SC2086  # words
    run $mpirun -np 2 $before "$build/tests/monitor/monitor_threads_test"
    checked_msgrate_rma -t 2 -u put -c 64K
    [ "$variant" != threads_full ] || checked_msgrate_rma -t 4 -u get -c 64K
    ;;
arm64)
    # The programs and unit tests for 64-bit Arm, by an emulator; the launcher is this system's.
    for tool in "$mpicc" qemu-aarch64; do
        command -v "$tool" >/dev/null 2>&1 || {
            echo "no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"
            exit 77
        }
    done
    sysroot=$folder/arm64_sysroot
    sh "$here/arm64/sysroot.sh" "$sysroot" || exit $?
    configure -G 'Unix Makefiles' "-DCMAKE_TOOLCHAIN_FILE=$here/arm64/toolchain.cmake" \
        "-DCOMMCOST_SYSROOT=$sysroot" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1
    build_targets syncbench noise overlap_iallreduce
    build_folders tests/unit
    # By the transports that UCX chooses, half of the programs that use windows hang in MPI_Finalize there.
    export UCX_TLS=posix,self
    # Left out are long simulations, in which nothing is the processor's, tests that want times as on a machine, and
    # those where ranks wait for each other by polling for long.
    run ctest --test-dir "$build" --no-tests=error -L unit -j 3 --output-on-failure \
        -E '^unit_(stats|gain|many_ranks|noise_sources|finalize|[a-z_]*_[3478]|work_.*_O[23])$'
    before="qemu-aarch64 -L $sysroot"
    run_program 2 "$build/syncbench/syncbench" --check --visits=2 --max-time=0.05 "--output=$build/syncbench.tsv"
    run_program 2 "$build/overlap/overlap_iallreduce" --check --data-driven --visits=1 --samples=5 \
        --min-num-elts=1 --max-num-elts=4096 "--output=$build/overlap_iallreduce.tsv"
    run python3 "$here/arm64/check_results.py" "$build"
    ;;
openmpi | openmpi_full)
    # What takes Open MPI's launcher minutes is for the full tests.
    if [ "$variant" = openmpi ]; then
        configure -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O1"
        # All programs, since a library with other types of handles and counts finds what depends on MPICH's; of the
        # tests what meets the library's own ways.
        # shellcheck disable=SC2086  # words
        build_targets $benchmarks test_job test_hosts test_harness test_rounds virtual_mpi_overhead lazysync halo_faulty_copy \
            solver every_call
        build_folders overlap tests/monitor
    else
        configure
        build_targets all
    fi
    if [ "$variant" = openmpi ]; then
        checked_msgrate_rma -u put
        checked_halo
    else
        checked_runs
    fi
    # Looking for networks takes a third of a second a launch, and ending a job
    # that failed one second or two.
    OMPI_MCA_pml=ob1 OMPI_MCA_odls_base_sigkill_timeout=0
    export OMPI_MCA_pml OMPI_MCA_odls_base_sigkill_timeout
    if [ "$variant" = openmpi ]; then
        run ctest --test-dir "$build" --no-tests=error -j 2 --output-on-failure \
            -E '^(unit_[a-z_]*_[178]|unit_(hosts|job)_4)$' -R '^(virtual_overhead|suite_(mpirun|tune_r[a-z]*)|(msgrate|syncbench|halo)_many|checkup_(transports|bridge)|monitor_(counts|flight|threads|misuse|fortran)|unit_(job|hosts|virtual_harness|virtual_sampling)_.*)$'
    else
        # All but what is the same with any library.
        run ctest --test-dir "$build" --no-tests=error --output-on-failure \
            -LE 'variants|lint' -E '^(simulation|install|plots|summary$|suite_(plan|results|resume|failures|budget|report)$)'
    fi
    ;;
openmpi_timed)
    export OMPI_MCA_pml=ob1 OMPI_MCA_odls_base_sigkill_timeout=0
    run ctest --test-dir "$folder/openmpi" --no-tests=error --output-on-failure -R '^this_machine_(solver|lammps|hpcc)'
    ;;
*)
    echo "variant.sh: no such variant: $variant" >&2
    exit 2
    ;;
esac
