#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# For whoever has a GPU: builds, tries which operations MPI can do with buffers there, and holds the programs' times
# against bare loops of the driver's calls and of MPI_Send. Takes at most eight minutes. The last lines report what passed,
# failed and was not judged.
#
# usage: run.sh [BUILD]     BUILD: a folder with built programs (default: builds in build)
#
# Two processes on one node, both on the first GPU. Exit status: 0 passed; 1 failed; 77 not judged, as without a GPU.
#
# Environment: MPICC (compiler wrapper; it has to be of an MPI library that was built for GPUs), LAUNCH (words that start
# two processes), LAUNCHER (the same for device_matrix.sh, with {ranks}), RESULTS (a folder for the matrix; default:
# results/device_DATE_TIME), SIZES (in bytes, powers of two; default: "65536 4194304"), STEPS (of kernels; default:
# "10000 100000").
set -eu

COMMCOST_TOP=$(cd -- "$(dirname -- "$0")/../../.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"
help_if_asked "$@"

SKIPPED=77
export MPICC="${MPICC:-mpicc}"
sizes=${SIZES:-65536 4194304}
steps=${STEPS:-10000 100000}
results=${RESULTS:-$COMMCOST_TOP/results/device_$(date +%Y-%m-%d_%H%M%S)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

build=${1:-$COMMCOST_TOP/build}
bare=$build/device_bare
if [ ! -x "$bare" ]; then
    bare=$work/device_bare
    "$MPICC" -std=c11 -D_GNU_SOURCE -O2 -I"$COMMCOST_TOP" "$COMMCOST_TOP/tests/programs/device/bare.c" \
        "$COMMCOST_TOP/common/device/driver.c" -o "$bare" -ldl
fi
reason=$("$bare") || { echo "not judged: $reason" && exit "$SKIPPED"; }
[ -n "${1:-}" ] || build_tree "$build" -DBUILD_TESTING=OFF >&2
launch=$(launch_words "$build")

passed=0 failed=0 unjudged=0

# judged NAME VERDICT REASON: prints a verdict and counts it.
judged() {
    echo "$2: $1${3:+: $3}"
    case $2 in
    passed) passed=$((passed + 1)) ;;
    failed) failed=$((failed + 1)) ;;
    *) unjudged=$((unjudged + 1)) ;;
    esac
}

# pingpong_times MEMORY COLUMN: of messages with such buffers, as pingpong has them: a size and a time on a line.
pingpong_times() {
    for size in $sizes; do
        # shellcheck disable=SC2086  # words
        $launch "$build/pingpong/pingpong" --memory="$1" --device=0 --patterns=MPISend --arrangements=single \
            --min-ndata=$((size / 8)) --max-ndata=$((size / 8)) --max-time=1 --columns="$2" --no-header 2>>"$work/log" |
            sed "s/^/$size /"
    done
}

# kernel_times: of the kernels of --work=device, from the time of an empty one and of a step.
kernel_times() {
    # shellcheck disable=SC2086  # words
    $launch "$build/overlap/overlap_iallreduce" --work=device --device=0 --data-driven --max-num-elts=1 --samples=6 \
        --visits=1 --metadata=full 2>>"$work/log" |
        sed -n 's/.*work: a kernel of \([0-9.]*\) us and \([0-9.]*\) ns a step.*/\1 \2/p' |
        awk -v all="$steps" '{ for (i = split(all, of); i > 0; i--) printf "%d %.3f\n", of[i], $1 + of[i] * $2 / 1000 }'
}

# bare_times NAME VALUE...
bare_times() {
    $launch "$bare" "$@" 2>>"$work/log"
}

# of_size FILE SIZE: the time there.
of_size() {
    awk -v size="$2" '$1 == size { print $2 }' "$1"
}

# agrees SIZE UNIT: whether the two times of a size are the same within 10 % or 1 us; adds them to the text.
agrees() {
    ours=$(of_size "$work/ours" "$1") loop=$(of_size "$work/bare" "$1")
    text="$text${text:+; }$1 $2 $ours us, bare loop $loop us"
    awk "BEGIN { difference = $ours - $loop; exit !(difference * difference <= (0.1 * $loop + 1) ^ 2) }"
}

# compare NAME TIMES UNIT SIZES: whether what TIMES prints is what the bare loop of NAME takes, in one of three tries,
# since others may disturb.
compare() {
    verdict='' tries=0
    while [ "$verdict" != passed ] && [ "$tries" -lt 3 ]; do
        verdict=passed tries=$((tries + 1)) text=''
        # shellcheck disable=SC2086  # words
        if ! bare_times "$1" $4 >"$work/bare" || ! "$2" >"$work/ours" || [ ! -s "$work/ours" ]; then
            judged "$1" "not judged" "a launch failed: $(tail -n 1 "$work/log")"
            return
        fi
        for size in $4; do
            agrees "$size" "$3" || verdict=failed
        done
    done
    judged "$1" "$verdict" "$text"
}

message_times() {
    pingpong_times device:host latency_us
}

# The time of staging beyond the message itself.
copy_times() {
    pingpong_times device:host staged_us >"$work/staged" && pingpong_times pinned:host latency_us >"$work/host" &&
        paste -d ' ' "$work/staged" "$work/host" | awk '{ printf "%d %.3f\n", $1, $2 - $4 }'
}

if sh "$COMMCOST_TOP/run_scripts/device_matrix.sh" --build="$build" ${LAUNCHER:+"--launcher=$LAUNCHER"} \
    --programs=MPI_Send,MPI_Put,MPI_Allreduce,MPI_Iallreduce,MPI_Bcast,MPI_Alltoall --limit=20 \
    --sizes="8,$(echo "$sizes" | tr ' ' ,)" --output="$results"; then
    judged matrix passed
else
    judged matrix failed
fi
compare copy copy_times bytes "$sizes"
compare message message_times bytes "$sizes"
compare kernel kernel_times steps "$steps"

echo "$passed passed, $failed failed, $unjudged not judged"
[ "$failed" -eq 0 ] || exit 1
