#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the suite as a PBS job. The variable SUITE has the options of run_suite.sh, separated by
# blanks (so --options=halo:--local=10 has none):
#
#   export SUITE="--benchmarks=overlap,halo --runs=10"
#   qsub -l select=16:ncpus=32:mpiprocs=32 -v SUITE run_scripts/jobs/pbs.sh
#
# Submit it in the top folder of commcost, or set COMMCOST_TOP with -v. The results go to
# results/pbs-JOB in that folder, or to --output=FOLDER. If the job ends before the suite, submit
# it again with SUITE="--resume=FOLDER", and the options that the suite's last line adds.
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
    misused "this is no PBS job: submit it with qsub (see --help)"
fi
COMMCOST_TOP=${COMMCOST_TOP:-$PBS_O_WORKDIR}
if [ ! -r "$COMMCOST_TOP/run_scripts/lib.sh" ]; then
    echo "commcost is not in $COMMCOST_TOP: submit this job there, or with" \
        "-v COMMCOST_TOP=FOLDER" >&2
    exit 2
fi
. "$COMMCOST_TOP/run_scripts/lib.sh"
cd "$PBS_O_WORKDIR"

# PBS sends SIGTERM at the end of the job's time, SIGKILL soon after. If the time is known, the suite ends 60 s earlier.
budget=
if [ "${PBS_WALLTIME:-0}" -gt 120 ] 2>/dev/null; then
    budget=--budget=$((PBS_WALLTIME - 60))
fi
set -f # words, not patterns
# shellcheck disable=SC2086  # words
passing_signals sh "$COMMCOST_TOP/run_scripts/run_suite.sh" \
    --output="$PBS_O_WORKDIR/results/pbs-$PBS_JOBID" $budget ${SUITE:-}
