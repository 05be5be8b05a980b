#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
# Checks MPI on the nodes of a Slurm job before the application starts. A job that MPI can't start is requeued and held.
#
#   COMMCOST=/opt/commcost sbatch check_before_job.sh ./application INPUT
#
# COMMCOST is the folder with run_scripts and build. With srun, ranks write to the job's folder, which must be visible
# on all nodes. The check-up takes about five seconds (--seconds=0: no remedies are tried).
set -u

if ! [ -x "${COMMCOST:?set it to the folder of commcost}/build/checkup/checkup" ]; then
    echo "no program $COMMCOST/build/checkup/checkup: set COMMCOST" >&2
    exit 2
fi
findings=checkup-${SLURM_JOB_ID:?use sbatch}.tsv
status=0
"$COMMCOST/run_scripts/checkup.sh" --seconds=0 --output="$findings" || status=$?
case $status in
0 | 1) ;; # 1: slow at most; the findings are in the job's output
3)
    echo "MPI doesn't start on $SLURM_JOB_NODELIST: requeued" >&2
    scontrol requeuehold "$SLURM_JOB_ID"
    exit 3
    ;;
*) echo "check-up: exit status $status" >&2 ;; # no reason to stop the application
esac
exec srun "$@"
