#!/bin/sh
# Does overlap_iallreduce find the overlap that is there on a real wire, and none
# where there is none?
#
# eager:      the post hands all data to the kernel, which moves it while the rank
#             computes. Recursive doubling sends everything at once; the default
#             algorithm has a second step that waits for the rank.
# rendezvous: the post only announces the data, and nothing moves before the rank
#             is back in MPI. The wire's whole time stays exposed, but for what the
#             bucket gathers (16 KiB, 0.13 ms): under 4 % at 512 KiB.
#
# By rendezvous the time that work doesn't hide, ref_us less the overlap, must be more
# than 90 % of what TCP alone takes for the data. Against ref_us that would say less:
# in some launches the library stalls for 2 ms in some operations, and work really
# hides that.
#
# In the eager job a row must show more than 30 %, its interval more than 20 %,
# while the wire is the bottleneck: the rest is what the kernel takes of the processors
# for sending and receiving, which depends on the machine (seen: 50 to 75 % overlap on
# one, 35 to 50 % on another). --rate RATE makes the wire another than is
# checked for; --protocol rendezvous runs that in place of the eager job (the tests
# of this test).

set -u

rate=1gbit
threshold=inf
while [ $# -gt 2 ]; do
    case $1 in
    --rate) rate=$2 && shift 2 ;;
    --protocol) threshold=1k && shift 2 ;;
    *) break ;;
    esac
done
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: test_overlap.sh [--rate RATE] [--protocol rendezvous] OVERLAP_IALLREDUCE TCP_EXCHANGE [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$1
exchange=$2
launcher=${3:-}
testbed=overlap-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

# run_program RNDV_THRESHOLD LEAST MOST: the rows as they come.
run_program() {
    UCX_RNDV_THRESH=$1 MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=sched_recursive_doubling \
        "$folder/testbed.sh" run --in "$testbed" ${launcher:+--mpirun "$launcher"} -- \
        "$program" --data-driven "--min-num-elts=$2" "--max-num-elts=$3" --max-time=1
}

start_testbed "$rate"
folder_of_results=$(mktemp -d) || exit 1
trap '"$folder/testbed.sh" down -q "$testbed"; rm -r "$folder_of_results"' EXIT

status=0
run_program "$threshold" 4096 131072 >"$folder_of_results/eager" || status=$?
[ "$status" -ne 77 ] || exit 77
failed=0
if [ "$status" -ne 0 ]; then
    echo "FAIL: the eager job ended with status $status"
    failed=1
fi

echo "size_bytes	overlap_pct	overlap_lo_pct	ref_us	raw_us	ref/raw	ref/wire"
columns size_bytes overlap_pct overlap_lo_pct ref_us <"$folder_of_results/eager" |
    while IFS='	' read -r size overlap lo ref; do
        size=${size%.*}
        raw=$(raw_us "$size" "$((8388608 / size + 10))" </dev/null)
        # At 1 Gbit/s a byte takes 0.008 us, whatever the wire was set to.
        awk -v size="$size" -v overlap="$overlap" -v lo="$lo" -v ref="$ref" -v raw="${raw:-0}" 'BEGIN {
            printf "%d\t%s\t%s\t%s\t%s\t%.3f\t%.3f\n", size, overlap, lo, ref, raw,
                   (raw > 0 ? ref / raw : 0), ref / (size * 0.008)
        }'
    done | tee "$folder_of_results/rows"

if awk -F '\t' '$2 != "NA" && $3 != "NA" && $2 > 30 && $3 > 20 && $7 >= 0.8 { found = 1 }
                END { exit !found }' "$folder_of_results/rows"; then
    echo "ok: overlap above 30 %, its interval above 20 %, in a row that the wire limits"
else
    echo "FAIL: no row has overlap_pct above 30 and overlap_lo_pct above 20 and takes 0.8 of the wire's time"
    failed=1
fi

raw=$(awk -F '\t' '$1 == 524288 { print $5 }' "$folder_of_results/rows")
for launch in 1 2 3; do
    status=0
    run_program 1k 65536 65536 >"$folder_of_results/rendezvous" || status=$?
    columns overlap_pct ref_us <"$folder_of_results/rendezvous" >"$folder_of_results/row"
    IFS='	' read -r overlap ref <"$folder_of_results/row"
    if [ "$status" -ne 0 ] || [ "$(wc -l <"$folder_of_results/row")" -ne 1 ] ||
        [ "$overlap" = NA ]; then
        echo "FAIL: by rendezvous there should be a row with an overlap; status $status"
        failed=1
        break
    fi
    awk -v overlap="$overlap" -v ref="$ref" -v raw="$raw" \
        'BEGIN { print ref * (1 - overlap / 100) / raw }' >>"$folder_of_results/exposed"
    echo "by rendezvous, launch $launch: overlap $overlap %, ref_us $ref," \
        "exposed $(tail -n 1 "$folder_of_results/exposed") of TCP's time"
done
if [ "$failed" -eq 0 ]; then
    exposed=$(sort -g "$folder_of_results/exposed" | sed -n 2p)
    if awk -v exposed="$exposed" 'BEGIN { exit !(exposed > 0.9) }'; then
        echo "ok: by rendezvous (no progress without the rank) $exposed of TCP's time is exposed"
    else
        echo "FAIL: by rendezvous more than 0.9 of TCP's time should be exposed, not $exposed"
        failed=1
    fi
fi
exit "$failed"
