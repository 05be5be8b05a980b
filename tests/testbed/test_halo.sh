#!/bin/sh
# Does halo find what the wire takes? A box of 100 x 100 x 100 on each of two hosts
# at 1 Gbit/s, by each method. Two of its faces cross, 2 x 80,000 bytes each way, four go
# to the rank itself. Against two bare loops in the same testbed: raw TCP of what crosses,
# and a swap of the same box written out with MPI's messages, puts or gets. All are measured
# in turn, three times, and the quickest ones are compared.
#
# No method may be more than 5 % quicker than raw TCP. None may take more than 5 % more
# than the bare loop by its kind of call, to which comes what the method has more on one
# rank than that bare loop (packing), and what syncbench says of the second
# synchronisation of puts and gets, of which the bare loop has one.
# --job-rate RATE gives the wire another speed while the MPI job runs (the test of
# this test).

set -u

rate=1gbit
job_rate=$rate
if [ "${1:-}" = --job-rate ]; then
    job_rate=$2
    shift 2
fi
if [ $# -lt 4 ] || [ $# -gt 5 ]; then
    echo "usage: test_halo.sh [--job-rate RATE] HALO SYNCBENCH TCP_EXCHANGE BARE_HALO [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
halo=$1
syncbench=$2
exchange=$3
bare_halo=$4
launcher=${5:-}
testbed=halo-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

readonly SIDE=100
readonly BYTES=$((2 * 8 * SIDE * SIDE))
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
    job two 2 "$halo" --local="$SIDE" --max-time=0.3
    keep two two
    job sync 2 "$syncbench" --types="sync all,pairwise" --max-time=0.3
    columns sync sync_us <"$results/sync" | awk -F '\t' '
        { print ($1 == "pairwise" ? "sync-images" : "sync-all"), $2 }' >>"$results/times"
    set_rate "$rate"
    job bare 2 "$bare_halo" "$SIDE"
    columns kind swap_us <"$results/bare" | awk '{ print "bare-" $1, $2 }' >>"$results/times"
    job alone 1 "$bare_halo" "$SIDE"
    columns kind swap_us <"$results/alone" | awk '{ print "alone-" $1, $2 }' >>"$results/times"
    job one 1 "$halo" --local="$SIDE" --max-time=0.3
    keep one one
done

raw=$(quickest raw <"$results/times")
echo "sync-none 0" >>"$results/times"
allowed_pct=$(within_pct 5) || exit 1
failed=0
awk '/^two-/ { print substr($1, 5) }' "$results/times" | sort -u >"$results/rows"
while read -r row; do
    case $row in
    put-* | get-*) kind=${row%%-*} ;;
    *) kind=messages ;;
    esac
    awk -v row="$row" -v raw="${raw:-1}" -v two="$(quickest "two-$row" <"$results/times")" \
        -v one="$(quickest "one-$row" <"$results/times")" \
        -v sync="$(quickest "sync-${row##*-}" <"$results/times")" \
        -v bare="$(quickest "bare-$kind" <"$results/times")" \
        -v alone="$(quickest "alone-$kind" <"$results/times")" -v allowed="$allowed_pct" 'BEGIN {
        most = bare + (one > alone ? one - alone : 0) + sync
        ok = one > 0 && bare > 0 && alone > 0 && two > (1 - allowed / 100) * raw && two < (1 + allowed / 100) * most
        printf "%s: %s: latency_us %s, raw TCP %s us: %+.1f %%; bare loop %s us, with the rest ",
               (ok ? "ok" : "FAIL"), row, two, raw, 100 * (two / raw - 1), bare
        printf "%.0f us: %+.1f %%; should be within %.1f %%\n", most, 100 * (two / most - 1), allowed
        exit !ok
    }' || failed=1
done <"$results/rows"
[ "$(grep -c '^two-' "$results/times")" -eq $((8 * RUNS)) ] || { echo "FAIL: not 8 methods"; failed=1; }
exit "$failed"
