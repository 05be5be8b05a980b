# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
# To be sourced. Short runs that verify their data, of the programs in $build, by $mpirun.

run() {
    echo "+ $*"
    "$@"
}

# run_program RANKS PROGRAM OPTION... $before: words that are put before the program.
before=
run_program() {
    ranks=$1
    shift
    # shellcheck disable=SC2086  # words
    run $mpirun -np "$ranks" $before "$@" >/dev/null
}

# checked_overlap OPERATION OPTION...
checked_overlap() {
    program=$build/overlap/overlap_$1
    shift
    run_program 2 "$program" --check --visits=2 --max-time=0.02 --max-num-elts=4096 --verbose \
        --debug "$@"
}

checked_mpi_overhead() {
    run_program 2 "$build/mpi_overhead/mpi_overhead" --check --both \
        --msgsize=0,8,64K --visits=2 --max-time=0.05 --verbose
}

checked_msgrate() {
    run_program 2 "$build/msgrate/msgrate" -p 1 --check --size=0,8,1K --visits=2 --max-time=0.05
}

# checked_msgrate_rma OPTION...
checked_msgrate_rma() {
    run_program 2 "$build/msgrate/msgrate_rma" -p 1 --check --size=0,8,1K \
        --visits=2 --max-time=0.05 "$@"
}

checked_pingpong() {
    run_program 2 "$build/pingpong/pingpong" --check --max-ndata=64 --max-stride=4 \
        --max-time=0.02
}

checked_syncbench() {
    run_program 2 "$build/syncbench/syncbench" --check --visits=2 --max-time=0.05
}

# Not neighbor_alltoallw, of which MPICH makes wrong data here.
checked_halo() {
    run_program 2 "$build/halo/halo" --check --local=1,5x3x2,20 \
        --methods="put,get,isend/irecv types,isend/irecv packed,persistent,shared window" \
        --visits=2 --max-time=0.05
}

checked_linkmap() {
    run_program 2 "$build/linkmap/linkmap" --check --sizes=0,8,64K --pairs=all --visits=2 \
        --max-time=0.05
}

checked_noise() {
    run_program 2 "$build/noise/noise" --samples=20000 --grain=0,10 --per=rank --visits=2
}

# In place all but what has no such form, and of MPICH reduce with another root.
checked_collective() {
    run_program 2 "$build/collective/collective" --check --sizes=8,1K --types=all --root=rotate \
        --visits=2 --max-time=0.01
    run_program 2 "$build/collective/collective" --check --sizes=8,1K --in-place --op=max \
        --visits=2 --max-time=0.01
}

checked_monitor_overhead() {
    run_program 1 "$build/monitor/monitor_overhead" --max-time=0.02
}

# Of each benchmark but overlap_*.
checked_runs() {
    checked_mpi_overhead
    checked_msgrate
    checked_msgrate_rma -u put
    checked_msgrate_rma -u get
    checked_pingpong
    checked_syncbench
    checked_linkmap
    checked_noise
    checked_collective
    checked_monitor_overhead
    checked_halo
}

# Between pairs, and halo: not neighbor_alltoallw, as above.
checked_overlap_pairs() {
    for operation in isend irecv sendrecv; do
        checked_overlap $operation --form=all --test-calls=0,3
    done
    checked_overlap put --test-calls=auto
    checked_overlap get
    [ ! -x "$build/overlap/overlap_partitioned" ] || checked_overlap partitioned
    checked_overlap halo --local=1,5x3x2 --test-calls=2 \
        --methods="isend/irecv types,isend/irecv packed,persistent"
}

# checked_overlaps SOURCE: of each collective.
checked_overlaps() {
    for source_file in "$1"/overlap/i*.c; do
        collective=$(basename "$source_file" .c)
        case $collective in
        isend | irecv) ;;
        *) checked_overlap "$collective" --form=all --test-calls=0,3 ;;
        esac
    done
    checked_overlap_pairs
}
