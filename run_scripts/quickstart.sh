#!/bin/sh
# Installs what is missing, builds commcost and measures this machine: how much
# work fits under every non-blocking collective, first at the size whose
# operation takes about a millisecond, then over all sizes, and under messages and
# halo swaps; whether that pays against the blocking call; how much of the
# processor a message takes, over sizes; how many messages go in a second; what a
# put, a get, a synchronisation, a halo swap and monitoring cost; what interrupts processes,
# and which link is slow.
# Takes two to three minutes on two cores; leaves TSV files and a report in a
# results folder. The measuring is run_suite.sh's, which has more ways to do it.
#
# usage: quickstart.sh [RESULTS_FOLDER]
#
# Interrupted, it goes on where it was when it is called with the same folder.
#
# Environment: MPICC (compiler wrapper), RANKS (default: the cores, or what a control
# group's quota allows of them, 2 to 8).
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

case ${1:-} in
-*) misused "$1: no such option: use quickstart.sh [RESULTS_FOLDER]" ;;
esac
[ $# -le 1 ] || misused "$2: one results folder at most"
case ${RANKS:-2} in
*[!0-9]* | 0* | 1 | ???????*) misused "RANKS: '$RANKS' is not a number of 2 to 999999" ;;
esac

results=${1:-$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)}
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev \
        libhwloc-dev gnuplot-nox python3
fi
build_tree "$build" -DBUILD_TESTING=OFF >&2

# The suite says how long it will take, and how far it is. What it could measure is
# reported whatever failed.
status=0
passing_signals sh "$COMMCOST_TOP/run_scripts/run_suite.sh" --quick --build="$build" \
    ${RANKS:+"--ranks=$RANKS"} --output="$results" || status=$?
if [ -n "$signalled" ]; then
    echo "quickstart.sh: SIG$signalled: called again with $results it goes on, and makes" \
        "the report" >&2
    exit "$status"
fi
results=$(cd "$results" 2>/dev/null && pwd) || exit "$status"
set -- "$results"/*.tsv
[ -e "$1" ] || exit "$status"

sh "$COMMCOST_TOP/run_scripts/report_text.sh" --beside "$results"
sh "$COMMCOST_TOP/run_scripts/report_text.sh" --short "$results"
echo "$results has report.md and report.html, which say what of that is from where, summary.tsv" >&2
echo "for spreadsheets, and one .tsv file a program." >&2
launch=$(launch_words "$build")
echo "The programs are in $build; ${launch%% *} is the mpirun that starts them." >&2
sh "$COMMCOST_TOP/run_scripts/report.sh" "$results" || status=1
exit "$status"
