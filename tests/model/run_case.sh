#!/bin/sh
# One test of the model MPI.
#
#   run_case.sh CASE BUILD_DIRECTORY MPIRUN [FLAG ...]
#
# Only the program itself gets the library: mpirun and what it starts on the way are no MPI programs.
set -u

case_name=$1
build=$2
shift 2
mpirun=$*

model=$build/libmodelmpi.so
front=$build/libmodelfront.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
report=$work/report.tsv

# full_only COMMAND...: run it where every case is to be tested
full_only() {
    [ "${COMMCOST_FULL_TESTS:-OFF}" != ON ] || "$@"
}

# job RANKS LIBRARIES [VARIABLE=VALUE ...] PROGRAM [ARGUMENT ...]
job() {
    ranks=$1
    libraries=$2
    shift 2
    echo "+ $mpirun -np $ranks env LD_PRELOAD=$libraries $*"
    # Open MPI's sometimes doesn't end after a program that ended in MPI_Init.
    # The launcher is several words, and its flags have no blanks.
    # shellcheck disable=SC2086
    timeout 20 $mpirun -np "$ranks" env LD_PRELOAD="$libraries" "$@"
}

# A timing on a shared machine gets a second chance.
timed_job() {
    job "$@" && return
    echo "once more:"
    job "$@"
}

# costs DURATION_US FRACTION POST_US WAIT_US [VARIABLE=VALUE ...]
costs() {
    settings="MODEL_DURATION_US=$1 MODEL_FRACTION=$2 MODEL_POST_US=$3 MODEL_WAIT_US=$4"
    shift 4
    # shellcheck disable=SC2086
    timed_job 2 "$model" $settings "$@" MODEL_REPORT="$report" "$build/model_cost_test" || exit 1
}

# p2p_costs LATENCY_US POST_US WAIT_US [VARIABLE=VALUE ...]
p2p_costs() {
    settings="MODEL_P2P=1 MODEL_LATENCY_US=$1 MODEL_POST_US=$2 MODEL_WAIT_US=$3"
    shift 3
    # shellcheck disable=SC2086
    timed_job 2 "$model" $settings "$@" MODEL_REPORT="$report" "$build/model_p2p_cost_test" || exit 1
}

# p2p_delivers "VARIABLE=VALUE ..." OUTCOME ...
p2p_delivers() {
    settings="MODEL_P2P=1 MODEL_LATENCY_US=200 MODEL_DURATION_US=200 $1"
    shift
    # shellcheck disable=SC2086
    job 2 "$model" $settings "$build/model_p2p_data_test" "$@" || exit 1
}

# barrier_costs BARRIER_US WAIT_US [VARIABLE=VALUE ...]
barrier_costs() {
    settings="MODEL_SYNC_COLL=1 MODEL_BARRIER_US=$1 MODEL_WAIT_US=$2"
    shift 2
    # shellcheck disable=SC2086
    timed_job 2 "$model" $settings "$@" MODEL_REPORT="$report" "$build/model_blocking_test" cost || exit 1
}

# progress_costs DURATION_US FRACTION [VARIABLE=VALUE ...]
progress_costs() {
    settings="MODEL_P2P=1 MODEL_RMA=1 MODEL_DURATION_US=$1 MODEL_LATENCY_US=$1 MODEL_FRACTION=$2"
    shift 2
    # shellcheck disable=SC2086
    timed_job 2 "$model" $settings "$@" MODEL_REPORT="$report" "$build/model_progress_test" || exit 1
}

# rma_costs LATENCY_US POST_US WAIT_US SYNC_US [VARIABLE=VALUE ...]
rma_costs() {
    settings="MODEL_RMA=1 MODEL_LATENCY_US=$1 MODEL_POST_US=$2 MODEL_WAIT_US=$3 MODEL_SYNC_US=$4"
    shift 4
    # shellcheck disable=SC2086
    timed_job 2 "$model" $settings "$@" MODEL_REPORT="$report" "$build/model_rma_test" cost || exit 1
}

# rma_delivers "VARIABLE=VALUE ..." OUTCOME ...
rma_delivers() {
    settings="MODEL_RMA=1 MODEL_LATENCY_US=20 MODEL_SYNC_US=5 $1"
    shift
    # shellcheck disable=SC2086
    job 2 "$model" $settings "$build/model_rma_test" "$@" || exit 1
}

# expect_refusal MESSAGE JOB ...: the job fails and says so
expect_refusal() {
    message=$1
    shift
    if job "$@" >"$work/output" 2>&1; then
        echo "FAIL not refused: $*"
        exit 1
    fi
    if ! grep -q "$message" "$work/output"; then
        cat "$work/output"
        echo "FAIL no message \"$message\""
        exit 1
    fi
    echo "ok   refused with \"$message\""
}

# passes_front EXPECTED LIBRARIES [VARIABLE=VALUE ...]: how many posts the second interposer sees
passes_front() {
    expected=$1
    libraries=$2
    shift 2
    timed_job 2 "$libraries" MODEL_DURATION_US=20 MODEL_REPORT="$report" "$@" "$build/model_cost_test" >"$work/output"
    if ! grep -q "^front: posts $expected " "$work/output"; then
        cat "$work/output"
        echo "FAIL the second interposer should have seen $expected posts"
        exit 1
    fi
    echo "ok   $(grep '^front:' "$work/output")"
}

case $case_name in
cost)
    costs 5 0 0 0
    costs 5 0.5 0.5 0
    costs 5 1 0 0.5
    costs 20 0 1 0.5
    costs 20 0.5 1 0.5
    costs 20 1 2 1
    costs 200 0.25 0 0
    costs 200 0.75 5 3
    costs 200 1 1 10
    ;;
late)
    costs 20 0.5 0.5 0.5 MODEL_LATE_SHARE=0.05 MODEL_LATE_US=200 MODEL_SEED=1
    costs 20 1 0 0 MODEL_LATE_SHARE=0.2 MODEL_LATE_US=200 MODEL_SEED=2
    ;;
bytes)
    costs 5 0.5 0.5 0 MODEL_PER_BYTE_NS=10
    costs 0 1 0 0.5 MODEL_PER_BYTE_NS=25
    costs 5 0.5 0.5 0 MODEL_PER_BYTE_NS=10 MODEL_SLOW_BYTES=512 MODEL_SLOW_SHARE=0.5
    ;;
blocking_data)
    for setting in "right MODEL_DATA=1" "one-wrong MODEL_CORRUPT=1" "untouched MODEL_DATA=0"; do
        # shellcheck disable=SC2086
        job 4 "$model" ${setting#* } MODEL_BLOCKING_US=20 MODEL_DURATION_US=20 "$build/model_data_test" ${setting%% *} ||
            exit 1
    done
    ;;
data)
    job 4 "$model" MODEL_DATA=1 MODEL_DURATION_US=20 MODEL_FRACTION=0.5 "$build/model_data_test" right || exit 1
    ;;
corrupt)
    job 4 "$model" MODEL_CORRUPT=1 MODEL_DURATION_US=20 MODEL_FRACTION=0.5 "$build/model_data_test" one-wrong || exit 1
    ;;
no_data)
    job 4 "$model" MODEL_DURATION_US=20 MODEL_FRACTION=0.5 "$build/model_data_test" untouched || exit 1
    ;;
requests)
    job 2 "$model" MODEL_DURATION_US=200 MODEL_FRACTION=0.5 "$build/model_request_test" || exit 1
    job 2 "$model" MODEL_DURATION_US=200 MODEL_FRACTION=0.5 MODEL_DATA=1 "$build/model_request_test" || exit 1
    expect_refusal "more than 8192 operations" 2 "$model" "$build/model_request_test" too-many
    expect_refusal "MPI_Request_free" 2 "$model" "$build/model_request_test" free
    ;;
refusals)
    for setting in MODEL_FRACTION=1.5 MODEL_DURATION_US=-1 MODEL_POST_US=1us MODEL_WAIT_US= MODEL_LATE_SHARE=nan \
        MODEL_DATA=2 MODEL_SEED=0.5 MODEL_SLOW_BYTES=-1 MODEL_SLOW_SHARE=-2 \
        MODEL_PROGRESS_SHARE=0 MODEL_PROGRESS_SHARE=1.5 MODEL_PROGRESS_US=0 MODEL_TEST_US=-1 MODEL_BLOCKING_US=x; do
        expect_refusal "$setting: must be" 2 "$model" "$setting" "$build/model_cost_test"
    done
    expect_refusal "MODEL_REPORT" 2 "$model" MODEL_REPORT=/nonexistent/report.tsv "$build/model_cost_test"
    ;;
stacking)
    passes_front 2000 "$front:$model"
    passes_front 0 "$model:$front"
    passes_front 2000 "$model:$front" MODEL_DATA=1
    ;;
p2p_cost)
    full_only p2p_costs 20 0 0
    full_only p2p_costs 10 1 0
    p2p_costs 50 5 4
    p2p_costs 20 2 0.5 MODEL_FRACTION=0.5
    p2p_costs 10 1 0 MODEL_FRACTION=0
    ;;
p2p_gap)
    full_only p2p_costs 20 0 0 MODEL_GAP_US=0.5
    p2p_costs 20 0.2 0.1 MODEL_GAP_US=1
    full_only p2p_costs 20 0 0 MODEL_GAP_US=5
    p2p_costs 20 2 0 MODEL_GAP_US=0.5
    ;;
p2p_bytes)
    p2p_costs 5 0.5 0.5 MODEL_PER_BYTE_NS=1
    p2p_costs 0 0 0 MODEL_PER_BYTE_NS=2.5 MODEL_FRACTION=0.5
    p2p_costs 5 0.5 0.5 MODEL_PER_BYTE_NS=1 MODEL_SLOW_BYTES=1024 MODEL_SLOW_SHARE=0.5
    ;;
p2p_late)
    p2p_costs 20 0.5 0.5 MODEL_LATE_SHARE=0.05 MODEL_LATE_US=200 MODEL_SEED=1
    ;;
p2p_data)
    p2p_delivers MODEL_DATA=0 untouched
    p2p_delivers MODEL_DATA=1 right
    p2p_delivers MODEL_CORRUPT=1 wrong 1
    p2p_delivers "MODEL_CORRUPT=1 MODEL_CORRUPT_EVERY=3" wrong 3
    p2p_delivers "MODEL_DATA=1 MODEL_COLL=0" right
    ;;
p2p_requests)
    expect_refusal "more than 8192 operations" 2 "$model" MODEL_P2P=1 "$build/model_p2p_data_test" too-many
    expect_refusal "MPI_Start of a request" 2 "$model" MODEL_P2P=1 "$build/model_p2p_data_test" start-twice
    expect_refusal "MODEL_CORRUPT_EVERY=0: must be" 2 "$model" MODEL_CORRUPT_EVERY=0 "$build/model_p2p_data_test" right
    ;;
barrier_cost)
    barrier_costs 2 0
    barrier_costs 5 0
    barrier_costs 20 0.5 MODEL_PER_BYTE_NS=20
    barrier_costs 0 0
    ;;
neighborhood_cost)
    for setting in "MODEL_DURATION_US=5" "MODEL_DURATION_US=2 MODEL_PER_BYTE_NS=50 MODEL_WAIT_US=0.5" \
        "MODEL_DURATION_US=20 MODEL_DATA=1"; do
        # shellcheck disable=SC2086
        timed_job 2 "$model" $setting MODEL_REPORT="$report" "$build/model_blocking_test" neighborhood || exit 1
    done
    ;;
blocking_cost)
    for setting in "MODEL_BLOCKING_US=20" "MODEL_BLOCKING_US=10 MODEL_PER_BYTE_NS=50 MODEL_WAIT_US=0.5 MODEL_BARRIER_US=3"; do
        for part in sisters neighborhood; do
            # shellcheck disable=SC2086
            timed_job 2 "$model" $setting MODEL_DURATION_US=5 MODEL_REPORT="$report" "$build/model_blocking_test" $part || exit 1
        done
    done
    p2p_costs 20 1 0.5 MODEL_BLOCKING_US=10
    p2p_costs 10 0.5 0 MODEL_BLOCKING_US=30 MODEL_FRACTION=0.5 MODEL_PER_BYTE_NS=1
    ;;
barrier_data)
    job 2 "$model" MODEL_SYNC_COLL=1 MODEL_BARRIER_US=20 "$build/model_blocking_test" data || exit 1
    job 2 "$model" MODEL_SYNC_COLL=1 MODEL_BARRIER_US=20 MODEL_CORRUPT=1 "$build/model_blocking_test" data || exit 1
    ;;
progress_cost)
    full_only progress_costs 100 1
    full_only progress_costs 100 1 MODEL_TEST_US=2
    progress_costs 100 1 MODEL_PROGRESS_SHARE=0.25 MODEL_TEST_US=1 MODEL_SYNC_US=3
    progress_costs 100 0.6 MODEL_PROGRESS_SHARE=0.1 MODEL_POST_US=1 MODEL_WAIT_US=0.5
    progress_costs 200 0.8 MODEL_PROGRESS_US=30 MODEL_TEST_US=5
    full_only progress_costs 20 1 MODEL_PROGRESS_SHARE=0.4 MODEL_TEST_US=0.5
    ;;
progress_data)
    staged="MODEL_PROGRESS_SHARE=0.2 MODEL_TEST_US=3"
    p2p_delivers "MODEL_DATA=1 $staged" right
    p2p_delivers "$staged" untouched
    # shellcheck disable=SC2086
    job 4 "$model" MODEL_DATA=1 $staged MODEL_DURATION_US=50 MODEL_FRACTION=0.5 "$build/model_data_test" right || exit 1
    # shellcheck disable=SC2086
    job 2 "$model" MODEL_DURATION_US=200 MODEL_FRACTION=0.5 $staged "$build/model_request_test" || exit 1
    ;;
partitioned_cost)
    if job 1 "" "$build/model_partitioned_test" 2>&1 | grep "has no partitioned"; then
        exit 0
    fi
    for setting in "MODEL_LATENCY_US=20 WORK_US=100" "MODEL_LATENCY_US=20 WORK_US=100 MODEL_EARLY_PARTITIONS=0" \
        "MODEL_LATENCY_US=5 MODEL_PER_BYTE_NS=200 WORK_US=40" \
        "MODEL_LATENCY_US=5 MODEL_PER_BYTE_NS=200 WORK_US=40 MODEL_EARLY_PARTITIONS=0 MODEL_FRACTION=0.5" \
        "MODEL_LATENCY_US=40 MODEL_POST_US=1 MODEL_WAIT_US=0.5 MODEL_FRACTION=0.25 WORK_US=10" \
        "MODEL_LATENCY_US=20 WORK_US=4 MODEL_GAP_US=5"; do
        # shellcheck disable=SC2086
        timed_job 2 "$model" MODEL_P2P=1 $setting MODEL_REPORT="$report" "$build/model_partitioned_test" cost || exit 1
    done
    ;;
partitioned_data)
    if job 1 "" "$build/model_partitioned_test" 2>&1 | grep "has no partitioned"; then
        exit 0
    fi
    for setting in "MODEL_DATA=0 untouched" "MODEL_DATA=1 right" "MODEL_CORRUPT=1 wrong 1" \
        "MODEL_DATA=1 MODEL_EARLY_PARTITIONS=0 MODEL_PROGRESS_SHARE=0.3 MODEL_TEST_US=2 right"; do
        outcome=$(printf '%s\n' "$setting" | sed 's/[A-Z_]*=[^ ]* *//g')
        # shellcheck disable=SC2086
        job 2 "$model" MODEL_P2P=1 MODEL_LATENCY_US=100 ${setting%"$outcome"} "$build/model_partitioned_test" $outcome ||
            exit 1
    done
    job 2 "$model" MODEL_P2P=1 MODEL_CORRUPT=1 MODEL_CORRUPT_EVERY=4 "$build/model_partitioned_test" wrong 4 || exit 1
    expect_refusal "request that isn't active" 2 "$model" MODEL_P2P=1 "$build/model_partitioned_test" idle
    expect_refusal "partition that is ready" 2 "$model" MODEL_P2P=1 "$build/model_partitioned_test" twice
    ;;
rma_cost)
    rma_costs 20 1 0 0
    rma_costs 20 0 0.5 2 MODEL_GAP_US=0.5
    rma_costs 10 0.2 0 5 MODEL_GAP_US=1 MODEL_PER_BYTE_NS=100
    rma_costs 20 2 1 1 MODEL_GAP_US=5
    rma_costs 10 1 0 0 MODEL_FRACTION=0.5
    ;;
rma_effect)
    timed_job 2 "$model" MODEL_RMA=1 MODEL_DATA=1 MODEL_LATENCY_US=20 MODEL_SYNC_US=20 "$build/model_rma_test" effect ||
        exit 1
    ;;
rma_contention)
    for setting in "MODEL_LATENCY_US=20 MODEL_SYNC_US=20" "MODEL_LATENCY_US=40 MODEL_SYNC_US=20 MODEL_WAIT_US=5" \
        "MODEL_LATENCY_US=20 MODEL_SYNC_US=30 MODEL_DATA=1"; do
        # shellcheck disable=SC2086
        timed_job 2 "$model" MODEL_RMA=1 $setting MODEL_REPORT="$report" "$build/model_rma_test" contend || exit 1
    done
    ;;
rma_data)
    rma_delivers MODEL_DATA=0 untouched
    rma_delivers MODEL_DATA=1 right
    rma_delivers MODEL_CORRUPT=1 wrong 1
    rma_delivers "MODEL_CORRUPT=1 MODEL_CORRUPT_EVERY=3" wrong 3
    ;;
*)
    echo "run_case.sh: unknown case $case_name" >&2
    exit 2
    ;;
esac
