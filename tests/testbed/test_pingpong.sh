#!/bin/sh
# Does pingpong find what the wire takes? 4 MiB at 1 Gbit/s, by put, get and
# MPI Send, against a raw TCP ping-pong in the same testbed. The two are measured
# in turn, three times, and the quickest ones must agree within 5 %. Synchronisation is
# in pingpong's times: a few round trips of some 50 us, next to 34 ms.
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
    echo "usage: test_pingpong.sh [--job-rate RATE] PINGPONG TCP_EXCHANGE [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$1
exchange=$2
launcher=${3:-}
testbed=pingpong-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

readonly BYTES=4194304
readonly RUNS=3

start_testbed "$rate"
folder_of_results=$(mktemp -d) || exit 1
trap '"$folder/testbed.sh" down -q "$testbed"; rm -r "$folder_of_results"' EXIT

run=0
while [ "$run" -lt "$RUNS" ]; do
    run=$((run + 1))
    echo "raw $(raw_us "$BYTES" 6 pingpong)" >>"$folder_of_results/times"
    set_rate "$job_rate"
    status=0
    "$folder/testbed.sh" run --in "$testbed" ${launcher:+--mpirun "$launcher"} -- \
        "$program" --patterns="put,get,MPI Send" --max-ndata=$((BYTES / 8)) \
        --samples=4 --warmup=1 >"$folder_of_results/table" || status=$?
    [ "$status" -ne 77 ] || exit 77
    if [ "$status" -ne 0 ]; then
        echo "FAIL: the MPI job ended with status $status"
        exit 1
    fi
    set_rate "$rate"
    columns ndata sync pattern latency_us <"$folder_of_results/table" |
        awk -F '\t' -v ndata=$((BYTES / 8)) '
            $1 == ndata { gsub(" ", "-", $3); print $3 "-" $2, $4 }' \
            >>"$folder_of_results/times"
done

raw=$(quickest raw <"$folder_of_results/times")
allowed_pct=$(within_pct 5) || exit 1
failed=0
for row in put-all put-images get-all get-images MPI-Send-none; do
    awk -v allowed="$allowed_pct" -v row="$row" -v raw="${raw:-0}" \
        -v latency="$(quickest "$row" <"$folder_of_results/times")" 'BEGIN {
        change = raw > 0 ? 100 * (latency / raw - 1) : 100
        ok = change > -allowed && change < allowed
        printf "%s: %s: latency_us %s, raw TCP %s us: %+.1f %%, should be within %.1f %%\n",
               (ok ? "ok" : "FAIL"), row, latency, raw, change, allowed
        exit !ok
    }' || failed=1
done
exit "$failed"
