#!/bin/sh
# How well is the clock known that two hosts share? Both hosts of the testbed are one
# machine, so the true offset and drift are 0, but the hosts' ranks compare their clocks
# over the wire. Whatever a message takes one way and the other, an offset can't be off by
# more than half the round trip; that both ways take the same, which is what the method
# counts on and the wire does, must make it ten times as good right after, and keep it
# within half the round trip for ten seconds.
set -u

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: test_clock.sh GLOBAL_CLOCK_ERROR [MPIRUN]" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$1
launcher=${2:-}

readonly TIMES=3
readonly SECONDS_EACH=1.9
readonly AHEAD=10

status=0
rows=$("$folder/testbed.sh" run -q ${launcher:+--mpirun "$launcher"} -- \
    "$program" "$TIMES" "$SECONDS_EACH" "$AHEAD") || status=$?
[ "$status" -ne 77 ] || exit 77
if [ "$status" -ne 0 ]; then
    echo "FAIL: global_clock_error ended with status $status"
    exit 1
fi
echo "$rows"

# The median of three by each column: after_us, later_us, bound_us.
middle() {
    echo "$rows" | awk -v column="$1" 'NR > 1 { print $column }' | sort -g |
        sed -n "$(((TIMES + 1) / 2))p"
}

awk -v after="$(middle 3)" -v later="$(middle 4)" -v bound="$(middle 6)" 'BEGIN {
    ok = bound > 0 && after != "" && after <= bound / 10 && later <= bound
    printf "%s: error %s us, 10 s later %s us; half a round trip is %s us\n",
           (ok ? "ok" : "FAIL"), after, later, bound
    exit !ok
}'
