#!/bin/sh
# Is mpi_overhead's transfer time what the wire takes? 1 MiB at 1 Gbit/s, sent and
# received, against a raw TCP exchange of the same shape, one message one way, in
# the same testbed. The two are measured in turn, three times, and the medians
# must agree within 5 %.
# --job-rate RATE gives the wire another speed while the MPI job runs (the test of
# this test).

set -u

rate=1gbit
job_rate=$rate
if [ "${1:-}" = --job-rate ]; then
    job_rate=$2
    shift 2
fi
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: test_overhead.sh [--job-rate RATE] MPI_OVERHEAD TCP_EXCHANGE [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$1
exchange=$2
launcher=${3:-}
testbed=overhead-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

readonly BYTES=1048576
readonly RUNS=3

start_testbed "$rate"
folder_of_results=$(mktemp -d) || exit 1
trap '"$folder/testbed.sh" down -q "$testbed"; rm -r "$folder_of_results"' EXIT

run=0
while [ "$run" -lt "$RUNS" ]; do
    run=$((run + 1))
    echo "raw $(raw_us "$BYTES" 30 pingpong)" >>"$folder_of_results/times"
    set_rate "$job_rate"
    status=0
    "$folder/testbed.sh" run --in "$testbed" ${launcher:+--mpirun "$launcher"} -- \
        "$program" --both -m "$BYTES" --max-time=1 >"$folder_of_results/table" || status=$?
    [ "$status" -ne 77 ] || exit 77
    if [ "$status" -ne 0 ]; then
        echo "FAIL: the MPI job ended with status $status"
        exit 1
    fi
    set_rate "$rate"
    columns direction transfer_us <"$folder_of_results/table" >>"$folder_of_results/times"
done

raw=$(median raw "$RUNS" <"$folder_of_results/times")
allowed_pct=$(within_pct 5) || exit 1
failed=0
for direction in send recv; do
    awk -v allowed="$allowed_pct" -v direction="$direction" -v raw="${raw:-0}" \
        -v transfer="$(median "$direction" "$RUNS" <"$folder_of_results/times")" 'BEGIN {
        change = raw > 0 ? 100 * (transfer / raw - 1) : 100
        ok = change > -allowed && change < allowed
        printf "%s: %s: transfer_us %s, raw TCP %s us: %+.1f %%, should be within %.1f %%\n",
               (ok ? "ok" : "FAIL"), direction, transfer, raw, change, allowed
        exit !ok
    }' || failed=1
done
exit "$failed"
