#!/bin/sh
# Installs what is missing, builds commcost and measures this machine: how much
# work fits under every non-blocking collective, first at the size whose
# operation takes about a millisecond, then over all sizes. Takes about three
# minutes on two cores; leaves TSV files and a report in a results folder.
#
# usage: quickstart.sh [RESULTS_FOLDER]
#
# Environment: MPICC (compiler wrapper), RANKS (default: the cores, 2 to 8).
set -eu

COMMCOST_TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"

results=${1:-$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)}
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev libhwloc-dev
fi
build_tree "$build"

# The launcher that goes with the library, as the build found it.
launcher=$(sed -n 's/^COMMCOST_MPIRUN_PROGRAM:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=
case $("$launcher" --version 2>&1) in
*"Open MPI"* | *OpenRTE*) flags="--allow-run-as-root --oversubscribe" ;;
esac

ranks=${RANKS:-$(getconf _NPROCESSORS_ONLN)}
if [ -z "${RANKS:-}" ]; then
    [ "$ranks" -ge 2 ] || ranks=2
    [ "$ranks" -le 8 ] || ranks=8
fi

mkdir -p "$results"
echo "Measuring with $ranks ranks; results go to $results" >&2

programs=$(find "$build/overlap" -maxdepth 1 -type f -name 'overlap_*' \
    -perm -100 | sort)
total=$(echo "$programs" | wc -l)
total=$((2 * total))
start=$(date +%s)
done_count=0
failed=0

# measure NAME PROGRAM [OPTION]...: one launch, one file, one line of progress.
measure() {
    name=$1
    shift
    done_count=$((done_count + 1))
    elapsed=$(($(date +%s) - start))
    left="?"
    # Sweeps take longer than single sizes: the first half says little.
    if [ "$done_count" -gt $((total / 2 + 1)) ]; then
        since=$(($(date +%s) - half_time))
        left=$((since * (total - done_count + 1) / (done_count - 1 - total / 2)))
    fi
    printf '[%2d/%d] %-36s %4d s so far, %s s left\n' "$done_count" "$total" \
        "$name" "$elapsed" "$left" >&2
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
half_time=$(date +%s)
for program in $programs; do
    case $program in
    */overlap_ibarrier) done_count=$((done_count + 1)) ;; # has no sizes
    *) measure "$(basename "$program")_sweep" "$program" --data-driven ;;
    esac
done

sh "$COMMCOST_TOP/run_scripts/report_text.sh" "$results" >"$results/report.md"
echo >&2
cat "$results/report.md"
echo "Done in $(($(date +%s) - start)) s: $results/report.md and one .tsv file a program" >&2
exit "$failed"
