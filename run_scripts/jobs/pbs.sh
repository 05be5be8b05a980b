#!/bin/sh
# The suite as a PBS job. qsub has no options for the script, so those of run_suite.sh are
# in the variable SUITE, with blanks between them (so --options=halo:--local=10 has none):
#
#   export SUITE="--benchmarks=overlap,halo --runs=10"
#   qsub -l select=16:ncpus=32:mpiprocs=32 -v SUITE run_scripts/jobs/pbs.sh
#
# The results go to results/pbs-JOB in the folder where it was submitted, or where SUITE has
# --output=FOLDER. When the job's time is up before the suite is done, submit it again
# with SUITE="--resume=FOLDER", and the options that the suite's last line adds. Submit it in
# the top folder of commcost, or set COMMCOST_TOP with -v.
#
#PBS -N commcost
#PBS -l select=2:ncpus=8:mpiprocs=8
#PBS -l place=scatter:excl
#PBS -l walltime=01:00:00
#PBS -r y
#PBS -j oe
set -eu

if [ -z "${PBS_O_WORKDIR:-}" ]; then
    . "$(dirname -- "$0")/../lib.sh"
    help_if_asked "$@"
    misused "this is no PBS job: submit it with qsub (--help says how)"
fi
COMMCOST_TOP=${COMMCOST_TOP:-$PBS_O_WORKDIR}
if [ ! -r "$COMMCOST_TOP/run_scripts/lib.sh" ]; then
    echo "commcost is not in $COMMCOST_TOP: submit this job there, or with" \
        "-v COMMCOST_TOP=FOLDER" >&2
    exit 2
fi
. "$COMMCOST_TOP/run_scripts/lib.sh"
cd "$PBS_O_WORKDIR"

# PBS sends SIGTERM when the time is up, and soon after that SIGKILL: the suite leaves
# out what wouldn't end a minute before, where PBS says how long the job may take.
budget=
if [ "${PBS_WALLTIME:-0}" -gt 120 ] 2>/dev/null; then
    budget=--budget=$((PBS_WALLTIME - 60))
fi
set -f # words, not patterns
# shellcheck disable=SC2086  # words
passing_signals sh "$COMMCOST_TOP/run_scripts/run_suite.sh" \
    --output="$PBS_O_WORKDIR/results/pbs-$PBS_JOBID" $budget ${SUITE:-}
