#!/bin/sh
# Does halo find what the wire takes? A box of 100 x 100 x 100 on each of two hosts
# at 1 Gbit/s, by each method, against raw TCP in the same testbed: both hosts send
# the two faces that cross, 160,000 bytes, while they receive as many. The two are
# measured in turn, three times, and the quickest ones must agree within 5 %.
#
# The other four faces go to the rank itself, and those that cross are copied at both
# ends. A library may do so while the wire is busy or not, so this time may come to raw
# TCP's: what the method takes on one rank, whose six faces all go to itself.
# Synchronisation is measured by syncbench and may come to it, too, before and after
# puts and gets.
# --job-rate RATE gives the wire another speed while the MPI job runs (the test of
# this test).

set -u

rate=1gbit
job_rate=$rate
if [ "${1:-}" = --job-rate ]; then
    job_rate=$2
    shift 2
fi
if [ $# -lt 3 ] || [ $# -gt 4 ]; then
    echo "usage: test_halo.sh [--job-rate RATE] HALO SYNCBENCH TCP_EXCHANGE [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
halo=$1
syncbench=$2
exchange=$3
launcher=${4:-}
testbed=halo-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

readonly BYTES=160000
readonly RUNS=3

start_testbed "$rate"
results=$(mktemp -d) || exit 1
trap '"$folder/testbed.sh" down -q "$testbed"; rm -r "$results"' EXIT

# job NAME RANKS PROGRAM ARGUMENT...: its table to $results/NAME. One rank runs on
# one host.
job() {
    name=$1
    ranks=$2
    shift 2
    status=0
    if [ "$ranks" = 1 ]; then
        "${launcher:-mpirun}" -np 1 "$@" >"$results/$name" || status=$?
    else
        "$folder/testbed.sh" run --in "$testbed" ${launcher:+--mpirun "$launcher"} -- \
            "$@" >"$results/$name" || status=$?
    fi
    [ "$status" -ne 77 ] || exit 77
    if [ "$status" -ne 0 ]; then
        echo "FAIL: $name ended with status $status"
        exit 1
    fi
}

# keep NAME KIND: its rows as 'KIND-method-sync latency'.
keep() {
    columns method sync latency_us <"$results/$1" | awk -F '\t' -v kind="$2" '
        { gsub(" ", "-", $1); print kind "-" $1 "-" $2, $3 }' >>"$results/times"
}

run=0
while [ "$run" -lt "$RUNS" ]; do
    run=$((run + 1))
    echo "raw $(raw_us "$BYTES" 40 both)" >>"$results/times"
    set_rate "$job_rate"
    job two 2 "$halo" --local=100 --max-time=0.3
    keep two two
    job sync 2 "$syncbench" --types="sync all,pairwise" --max-time=0.3
    columns sync sync_us <"$results/sync" | awk -F '\t' '
        { print ($1 == "pairwise" ? "sync-images" : "sync-all"), $2 }' >>"$results/times"
    set_rate "$rate"
    job one 1 "$halo" --local=100 --max-time=0.3
    keep one one
done

raw=$(quickest raw <"$results/times")
echo "sync-none 0" >>"$results/times"
failed=0
awk '/^two-/ { print substr($1, 5) }' "$results/times" | sort -u >"$results/rows"
while read -r row; do
    awk -v row="$row" -v raw="${raw:-1}" -v two="$(quickest "two-$row" <"$results/times")" \
        -v one="$(quickest "one-$row" <"$results/times")" \
        -v sync="$(quickest "sync-${row##*-}" <"$results/times")" 'BEGIN {
        most = raw + one + 2 * sync
        ok = one > 0 && two > 0.95 * raw && two < 1.05 * most
        printf "%s: %s: latency_us %s, raw TCP %s us: %+.1f %%; with copies and synchronisation %.0f us: ",
               (ok ? "ok" : "FAIL"), row, two, raw, 100 * (two / raw - 1), most
        printf "%+.1f %%; should be within 5 %%\n", 100 * (two / most - 1)
        exit !ok
    }' || failed=1
done <"$results/rows"
[ "$(grep -c '^two-' "$results/times")" -eq $((8 * RUNS)) ] || { echo "FAIL: not 8 methods"; failed=1; }
exit "$failed"
