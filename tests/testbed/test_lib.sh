# shellcheck shell=sh disable=SC2154 # the variables named below are the caller's
# What the tests on the testbed share: sourced with $folder, $exchange (the path
# of tcp_exchange) and $testbed (a name of one's own) set.

readonly PORT=5201
readonly SERVER_ADDRESS=198.18.0.2

# start_testbed RATE OPTIONS...: with tcp_exchange's server on host 2. Ends the
# test with the testbed's own reason where it can't be had.
start_testbed() {
    rate=$1
    shift
    "$folder/testbed.sh" up --rate "$rate" "$@" "$testbed" || exit $?
    trap '"$folder/testbed.sh" down -q "$testbed"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$folder/testbed.sh" exec "$testbed" 2 "$exchange" server "$PORT" &
}

stop_testbed() {
    trap - EXIT
    "$folder/testbed.sh" down -q "$testbed"
    wait
}

# raw_us BYTES REPETITIONS [PATTERN]: the time in which both hosts send and receive
# BYTES (both, the default), or in which they go one way (pingpong).
raw_us() {
    "$folder/testbed.sh" exec "$testbed" 1 "$exchange" \
        client "$SERVER_ADDRESS" "$PORT" "$1" "$2" "${3:-both}" |
        columns one_way_us
}

# columns NAME...: those columns of the table on stdin, without header.
columns() {
    awk -F '\t' -v names="$*" '
        /^#/ { next }
        !count {
            for (i = 1; i <= NF; i++) place[$i] = i
            count = split(names, wanted, " ")
            next
        }
        {
            for (i = 1; i <= count; i++)
                printf "%s%s", (wanted[i] in place ? $place[wanted[i]] : "NA"), (i < count ? "\t" : "\n")
        }'
}

# within_pct TARGET: the percentage within which values must agree: the target, or more on
# a machine that isn't quiet.
within_pct() {
    python3 "$folder/../lib/bounds.py" | awk -v target="$1" '{ print $1 * target }'
}
