#!/bin/sh
# Installs what is missing, builds commcost and measures this machine: how much
# work fits under every non-blocking collective, first at the size whose
# operation takes about a millisecond, then over all sizes; how much of the
# processor a message takes, over sizes; how many messages go in a second; and what
# a put, a get, a synchronisation, a halo swap and monitoring cost.
# Takes one to three minutes on two cores; leaves TSV files and a report in a
# results folder.
#
# usage: quickstart.sh [RESULTS_FOLDER]
#
# Interrupted, it leaves the files that are done; report_text.sh summarizes any
# such folder.
#
# Environment: MPICC (compiler wrapper), RANKS (default: the cores, 2 to 8).
set -eu

COMMCOST_TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"

case ${1:-} in
-*)
    echo "usage: quickstart.sh [RESULTS_FOLDER]" >&2
    exit 2
    ;;
esac
case ${RANKS:-2} in
*[!0-9]* | 0 | 1)
    echo "quickstart.sh: RANKS: '$RANKS' is not a number of at least 2" >&2
    exit 2
    ;;
esac

results=${1:-$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)}
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev libhwloc-dev
fi
build_tree "$build" >&2

launcher=$(build_launcher "$build")
flags=$(launcher_flags "$launcher")

ranks=${RANKS:-$(getconf _NPROCESSORS_ONLN)}
if [ -z "${RANKS:-}" ]; then
    [ "$ranks" -ge 2 ] || ranks=2
    [ "$ranks" -le 8 ] || ranks=8
fi

mkdir -p "$results"
results=$(cd "$results" && pwd)
echo "Measuring with $ranks ranks; results go to $results" >&2

programs=$(find "$build/overlap" -maxdepth 1 -type f -name 'overlap_*' \
    -perm -100 | sort)
# Every collective once, and once more over its sizes but for the barrier; the
# rates of two-sided and one-sided messages; transfers, synchronisation, halos; and
# the overhead of messages.
total=$(echo "$programs" | wc -l)
singles=$total
total=$((2 * total + 6))
start=$(date +%s)
done_count=0
failed=0

# measure NAME PROGRAM [OPTION]...: one launch, one file, one line of progress.
measure() {
    name=$1
    shift
    done_count=$((done_count + 1))
    elapsed=$(($(date +%s) - start))
    # A sweep takes about three times as long as a single size.
    if [ "$done_count" -le "$singles" ]; then
        did=$((done_count - 1))
    else
        did=$((singles + 3 * (done_count - 1 - singles)))
    fi
    left="?"
    [ "$did" -eq 0 ] ||
        left=$((elapsed * (singles + 3 * (total - singles) - did) / did))
    printf '[%2d/%d] %-36s %4d s so far, about %s s left\n' "$done_count" \
        "$total" "$name" "$elapsed" "$left" >&2
    # shellcheck disable=SC2086  # flags are words
    if ! "$launcher" $flags -np "$ranks" "$@" "--output=$results/$name.tsv" \
        </dev/null; then
        echo "$name failed" >&2
        failed=1
    fi
}

for program in $programs; do
    measure "$(basename "$program")" "$program"
done
for program in $programs; do
    case $program in
    */overlap_ibarrier) ;; # has no sizes
    *) measure "$(basename "$program")_sweep" "$program" --data-driven ;;
    esac
done
# As many peers as the ranks allow, up to the default.
peers=$((ranks - 1))
[ "$peers" -le 6 ] || peers=6
measure msgrate "$build/msgrate/msgrate" --peers="$peers" --cache=llc
measure msgrate_rma "$build/msgrate/msgrate_rma" --peers="$peers" --cache=llc
measure pingpong "$build/pingpong/pingpong" --patterns="put,get,MPI Send" \
    --arrangements=single
measure syncbench "$build/syncbench/syncbench"
measure halo "$build/halo/halo" --local=10,50,100
ranks=2
measure mpi_overhead "$build/mpi_overhead/mpi_overhead" --both --msgsize=0,2:4M
ranks=1
measure monitor_overhead "$build/monitor/monitor_overhead" --max-time=0.1

sh "$COMMCOST_TOP/run_scripts/report_text.sh" "$results" >"$results/report.md"
# The first part: the machine and one row a program.
sed '/^## The same over sizes/,$d' "$results/report.md"
echo "Done in $(($(date +%s) - start)) s. $results has report.md, with all sizes and" >&2
echo "the warnings, and one .tsv file a program." >&2
exit "$failed"
