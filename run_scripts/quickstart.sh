#!/bin/sh
# Installs missing packages, builds commcost, measures this machine, and prints the scorecard:
# latency, bandwidth, host overhead and message rate, the costs of a barrier, an allreduce, a
# broadcast and a halo exchange, the gain of non-blocking calls, and the time lost to
# interruptions.
#
# usage: quickstart.sh [--all] [--ranks=N] [--output=FOLDER | --resume=FOLDER]
#   --ranks=N        number of ranks (default: the cores, or the quota of the control group,
#                    2 to 8)
#   --output=FOLDER  folder of the results (default: results/DATE_TIME)
#   --resume=FOLDER  resume an interrupted run
#   --all            launch every program once, also all collectives, the monitor and the links
#
# Takes at most three minutes with the build on two cores: six launches of each program. The
# folder gets a .tsv file for each program, summary.tsv for spreadsheets, report.md and
# report.html. run_suite.sh has more ways to measure.
#
# Environment: MPICC (compiler wrapper), RANKS (as --ranks).
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

measured=
ranks=
where=--output
results=
for option in "$@"; do
    case $option in
    --all) measured=--quick ;;
    --ranks=*) ranks=${option#*=} ;;
    --output=?* | --resume=?*)
        where=${option%%=*}
        results=${option#*=}
        ;;
    *) misused "'$option': no such option: see --help" ;;
    esac
done
case $results in
"" | /*) ;;
*) results=$PWD/$results ;;
esac
if [ "$where" = --output ]; then
    # A resumed folder has its own.
    measured=${measured:---essentials}
    ranks=${ranks:-${RANKS:-}}
elif [ ! -s "$results/suite/options" ]; then
    misused "--resume: no suite in '$results': use --output"
fi
case ${ranks:-2} in
*[!0-9]* | 0* | 1 | ???????*) misused "--ranks, or RANKS: '$ranks' is not a number of 2 to 999999" ;;
esac
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev \
        gnuplot-nox python3
fi
build_tree "$build" -DBUILD_TESTING=OFF >"$build.log" || die "the build failed: see above, and $build.log"

# Each of two calls in the same second gets its own folder.
if [ -z "$results" ]; then
    mkdir -p "$COMMCOST_TOP/results"
    begun=$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)
    results=$begun
    number=1
    until mkdir "$results" 2>/dev/null; do
        [ -e "$results" ] || die "cannot make the folder $results: use --output=FOLDER"
        number=$((number + 1))
        results=$begun-$number
    done
fi

# The suite prints its duration and progress. A failed launch does not keep the other results from the report.
status=0
passing_signals commcost quickstart ${measured:+"$measured"} --build="$build" ${ranks:+"--ranks=$ranks"} \
    "$where=$results" || status=$?
if [ -n "$signalled" ]; then
    again=$(commcost paste ${MPICC:+env "MPICC=$MPICC"} "$COMMCOST_TOP/run_scripts/quickstart.sh" "--resume=$results")
    echo "quickstart.sh: SIG$signalled: to resume and make the report: $again" >&2
    exit "$status"
fi
set -- "$results"/*.tsv
[ -e "$1" ] || exit "$status"
program=$(commcost launcher "$build" "$build/halo/halo" --format=table) && echo "One program: $program"
exit "$status"
