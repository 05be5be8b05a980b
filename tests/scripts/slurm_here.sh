#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm on this one machine, of plain processes that keep all they have in a folder:
# munged, slurmctld and slurmd, on ports of their own.
#
# usage: slurm_here.sh start FOLDER   with SLURM_CONF=FOLDER/slurm.conf, srun and
#                                     sbatch then work; exit 77 with a reason where not
#        slurm_here.sh stop FOLDER    ends the jobs and the daemons
set -u

if [ $# -ne 2 ] || { [ "$1" != start ] && [ "$1" != stop ]; }; then
    echo "usage: slurm_here.sh start|stop FOLDER" >&2
    exit 2
fi
folder=$2
munged=$folder/munge/munged.pid
PATH=$PATH:/usr/sbin:/sbin

cannot_run() {
    echo "slurm_here.sh: cannot run here: $1"
    stop
    exit 77
}

# A process that has ended may still be listed, where nobody asks after it.
is_at_work() {
    case $(sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null) in
    '' | Z*) return 1 ;;
    esac
}

# stop_one PIDFILE: ends that process and waits for its end.
stop_one() {
    [ -s "$1" ] || return 0
    process=$(cat "$1")
    kill "$process" 2>/dev/null || return 0
    tries=50
    while is_at_work "$process"; do
        [ "$tries" -gt 0 ] || {
            kill -KILL "$process"
            break
        }
        sleep 0.1
        tries=$((tries - 1))
    done
}

stop() {
    SLURM_CONF=$folder/slurm.conf
    export SLURM_CONF
    if [ -e "$folder/slurmctld.pid" ]; then
        timeout 5 scancel --user=root 2>/dev/null
        # Give jobs a moment to end alone.
        tries=20
        while [ -n "$(timeout 5 squeue -h 2>/dev/null)" ] && [ "$tries" -gt 0 ]; do
            sleep 0.1
            tries=$((tries - 1))
        done
    fi
    stop_one "$folder/slurmd.pid"
    stop_one "$folder/slurmctld.pid"
    stop_one "$munged"
    pkill_in_folder
}

# The step daemons outlive slurmd: those with this folder's configuration.
pkill_in_folder() {
    for environment in /proc/[0-9]*/environ; do
        process=${environment#/proc/}
        process=${process%/environ}
        [ "$process" != $$ ] || continue
        case $(cat "/proc/$process/comm" 2>/dev/null) in
        slurmstepd | slurm_script)
            if tr '\0' '\n' <"$environment" 2>/dev/null |
                grep -qx "SLURM_CONF=$folder/slurm.conf"; then
                kill -KILL "$process" 2>/dev/null
            fi
            ;;
        esac
    done
}

if [ "$1" = stop ]; then
    stop
    exit 0
fi

[ "$(id -u)" -eq 0 ] || cannot_run "slurmd needs root"
for tool in munged slurmctld slurmd srun sbatch; do
    command -v "$tool" >/dev/null || cannot_run "there is no '$tool'"
done

# munged wants every folder above its files to be its own or root's, and not to be
# writable for others except for a sticky /tmp.
mkdir -p "$folder/munge" "$folder/state" "$folder/spool"
chmod 755 "$folder" "$folder/munge"
# The socket must be there for everybody; all else is for the user that runs it.
(umask 077 && head -c 128 /dev/urandom >"$folder/munge/key")
munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$munged" --log-file="$folder/munge/log" \
    --seed-file="$folder/munge/seed" || cannot_run "munged: see $folder/munge/log"

host=$(uname -n)
cpus=$(getconf _NPROCESSORS_ONLN)
# Ports that are free now: two of them.
port=$((20000 + $$ % 20000))
cat >"$folder/slurm.conf" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=pmi2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=bf_interval=1,sched_interval=1
KillWait=3
InactiveLimit=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF
slurmctld -c || cannot_run "slurmctld: see $folder/slurmctld.log"
slurmd -c || cannot_run "slurmd: $(tail -n 1 "$folder/slurmd.log")"

tries=100
until [ "$(timeout 5 sinfo -h -o %t 2>/dev/null)" = idle ]; do
    if [ "$tries" -eq 0 ]; then
        cannot_run "the node is '$(timeout 5 sinfo -h -o '%t %E')': $(tail -n 2 "$folder/slurmd.log" "$folder/slurmctld.log")"
    fi
    sleep 0.1
    tries=$((tries - 1))
done
