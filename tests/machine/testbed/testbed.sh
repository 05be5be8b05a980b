#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A two-host testbed on one machine: two network namespaces, each one host of an
# MPI job, joined by a wire (a veth pair) whose speed a token bucket filter fixes.
#
# Everything of a testbed lies inside its two namespaces, the wire's ends
# included, so testbeds differ only in the namespaces' names: all of them use the
# same addresses (from 198.18.0.0/15, which RFC 2544 reserves for benchmarks) and
# interface name and still can't meet each other or the machine's own network.
#
# The bucket and the packet size decide whether the wire is one:
# - What the bucket holds leaves at once. It fills while ranks compute, so with
#   128 KiB a message that waits for the work to end still takes no time after it,
#   and a benchmark reads 90 % overlap where there is none. 16 KiB are 0.13 ms.
# - At 1 Gbit/s a packet of 1500 bytes takes 12 us, and the filter's timer
#   interrupts the sender for each: a send takes as long as the wire (the rank is
#   the bottleneck). 9000 bytes leave the processor to the ranks.

set -u

readonly SKIP=77
readonly INTERFACE=wire
readonly ADDRESS_1=198.18.0.1
readonly ADDRESS_2=198.18.0.2

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

usage() {
    cat <<END
usage: testbed.sh check
       testbed.sh run [-q] [--rate 1gbit] [--burst 16kb] [--mtu 9000]
                      [--ranks 2] [--mpirun MPIRUN] -- PROGRAM ARGUMENTS...
       testbed.sh run [-q] --in NAME [--ranks 2] [--mpirun MPIRUN] -- PROGRAM ARGUMENTS...
       testbed.sh up [-q] [--rate 1gbit] [--burst 16kb] [--mtu 9000] NAME
       testbed.sh exec NAME HOST COMMAND...
       testbed.sh down [-q] NAME

check  reports if a testbed can be made here.
run    runs PROGRAM as an MPI job over both hosts, half the ranks on each: in a
       testbed of its own, or with --in in the one that 'up NAME' made.
up     makes a testbed and leaves it; 'down NAME' ends what runs in it and removes it.
exec   becomes COMMAND on HOST, which is 1 ($ADDRESS_1) or 2 ($ADDRESS_2).

Commands that set up, start and remove are shown on stderr, with -q they are not.
Exit status: the program's; 2 wrong usage; $SKIP with one line on stderr where a
testbed can't be had.
END
}

wrong_usage() {
    echo "testbed.sh: $1" >&2
    exit 2
}

cannot_run() {
    echo "testbed.sh: cannot run here: $1" >&2
    exit "$SKIP"
}

quiet=no

show() {
    [ "$quiet" = yes ] || echo "+ $*" >&2
}

# Runs a command that making a testbed needs. Where it fails the machine doesn't
# allow testbeds, and the command's message is the reason.
must() {
    show "$@"
    if ! message=$("$@" 2>&1); then
        cannot_run "'$*': $(echo "$message" | head -n 1)"
    fi
}

namespace() {
    echo "commcost-$1-$2"
}

is_up() {
    [ -e "/run/netns/$(namespace "$1" 1)" ] || [ -e "/run/netns/$(namespace "$1" 2)" ]
}

require_tools() {
    [ "$(id -u)" = 0 ] || cannot_run "network namespaces need root"
    for tool in ip tc unshare hostname; do
        command -v "$tool" >/dev/null || cannot_run "there is no '$tool' command"
    done
}

# enter NAME HOST COMMAND...: becomes COMMAND on HOST. 'ip netns exec' rather
# than nsenter, because it also mounts the /sys of that network, where UCX looks
# for interfaces. The name keeps programs that print theirs from showing one host.
enter() {
    entered=$1
    case $2 in
    1 | "$ADDRESS_1") number=1 ;;
    2 | "$ADDRESS_2") number=2 ;;
    *) wrong_usage "there is no host '$2': use 1 ($ADDRESS_1) or 2 ($ADDRESS_2)" ;;
    esac
    shift 2
    # shellcheck disable=SC2016 # expanded by the inner shell
    exec ip netns exec "$(namespace "$entered" "$number")" \
        unshare --uts sh -c 'hostname "$0" && exec "$@"' "host$number" "$@"
}

# set_up NAME RATE BURST MTU. The caller has set a trap that tears down what a failure
# half way leaves.
set_up() {
    one=$(namespace "$1" 1)
    two=$(namespace "$1" 2)
    must ip netns add "$one"
    must ip netns add "$two"
    must ip link add "$INTERFACE" netns "$one" type veth peer name "$INTERFACE" netns "$two"
    must ip -n "$one" address add "$ADDRESS_1/30" dev "$INTERFACE"
    must ip -n "$two" address add "$ADDRESS_2/30" dev "$INTERFACE"
    for host in "$one" "$two"; do
        must ip -n "$host" link set lo up
        must ip -n "$host" link set "$INTERFACE" mtu "$4" up
        must tc -n "$host" qdisc add dev "$INTERFACE" root tbf rate "$2" burst "$3" latency 50ms
        must ip netns exec "$host" unshare --uts true
    done
    wait_for_carrier "$one"
    wait_for_carrier "$two"
}

# The kernel reports a carrier up to a second after the interface is up, and UCX
# doesn't use an interface without.
wait_for_carrier() {
    tries=60
    until ip -n "$1" link show dev "$INTERFACE" | grep -q 'state UP'; do
        [ "$tries" -gt 0 ] || cannot_run "the wire has no carrier in $1"
        sleep 0.05
        tries=$((tries - 1))
    done
}

processes_in() {
    for host in 1 2; do
        ip netns pids "$(namespace "$1" "$host")" 2>/dev/null
    done
}

# kill_all SIGNAL NAME. A process may end between listing and signal.
kill_all() {
    processes_in "$2" | while read -r process; do
        kill -s "$1" "$process" 2>/dev/null
    done
}

# tear_down NAME: also of a testbed that is there in part.
tear_down() {
    is_up "$1" || return 0
    kill_all TERM "$1"
    tries=20
    while [ -n "$(processes_in "$1")" ] && [ "$tries" -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    kill_all KILL "$1"
    for host in 1 2; do
        if [ -e "/run/netns/$(namespace "$1" "$host")" ]; then
            show ip netns delete "$(namespace "$1" "$host")"
            ip netns delete "$(namespace "$1" "$host")"
        fi
    done
}

# A second signal must not leave half a testbed behind.
tear_down_on_exit() {
    own=$1
    trap 'trap "" HUP INT TERM; tear_down "$own"' EXIT
    end_on_signals
}

end_on_signals() {
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# Debian's mpirun may be any MPI's, so the launcher is asked.
find_hydra() {
    if [ -n "$mpirun" ]; then
        set -- "$mpirun"
    else
        set -- mpirun.mpich mpiexec.hydra mpirun mpiexec
    fi
    for candidate; do
        if "$candidate" --version 2>/dev/null | grep -qi hydra; then
            mpirun=$candidate
            return
        fi
    done
    cannot_run "no MPICH launcher (hydra) among: $*"
}

# run_job NAME PROGRAM ARGUMENTS... mpirun runs on host 1, as on a cluster.
run_job() {
    name=$1
    shift
    set -- env "COMMCOST_TESTBED=$name" UCX_TLS=tcp,self "UCX_NET_DEVICES=$INTERFACE" \
        "$mpirun" -launcher ssh -launcher-exec "$folder/launch.sh" -localhost "$ADDRESS_1" \
        -hosts "$ADDRESS_1,$ADDRESS_2" -ppn $(((ranks + 1) / 2)) -np "$ranks" "$@"
    show "$folder/testbed.sh" exec "$name" 1 "$@"
    # In the background, since the shell acts on a signal only between foreground
    # commands; there it would lose its standard input, hence descriptor 3.
    exec 3<&0
    (enter "$name" 1 "$@") <&3 3<&- &
    wait $!
}

mode=${1:-}
case $mode in
check | run | up | exec | down) shift ;;
-h | --help) usage && exit 0 ;;
'') usage >&2 && exit 2 ;;
*) wrong_usage "'$mode' is no command: use check, run, up, exec or down (see --help)" ;;
esac

rate=1gbit
burst=16kb
mtu=9000
ranks=2
mpirun=
existing=
while [ "$mode" != exec ] && [ $# -gt 0 ]; do
    case $1 in
    --) shift && break ;;
    -h | --help) usage && exit 0 ;;
    -q) quiet=yes && shift && continue ;;
    --rate | --burst | --mtu | --ranks | --mpirun | --in) ;;
    -*) wrong_usage "'$1' is no option (see --help)" ;;
    *) break ;;
    esac
    [ $# -ge 2 ] || wrong_usage "$1 needs a value"
    case $1 in
    --rate) rate=$2 ;;
    --burst) burst=$2 ;;
    --mtu) mtu=$2 ;;
    --ranks) ranks=$2 ;;
    --mpirun) mpirun=$2 ;;
    --in) existing=$2 ;;
    esac
    shift 2
done
echo "$rate" | grep -Eq '^[1-9][0-9]*[kmg]?bit$' || wrong_usage "--rate '$rate': use a rate like 1gbit or 500mbit"
echo "$burst" | grep -Eq '^[1-9][0-9]*[km]?b$' || wrong_usage "--burst '$burst': use a size like 16kb"
echo "$mtu" | grep -Eq '^[1-9][0-9]{3,4}$' || wrong_usage "--mtu '$mtu': use a number of bytes like 9000"
echo "$ranks" | grep -Eq '^[1-9][0-9]{0,3}$' || wrong_usage "--ranks '$ranks': use a number from 1 to 9999"

# needs_name NAME: a name becomes part of a file name.
needs_name() {
    echo "$1" | grep -Eq '^[A-Za-z0-9_-]+$' || wrong_usage "name '$1': use letters, digits, - and _"
}

needs_testbed() {
    needs_name "$1"
    is_up "$1" || wrong_usage "there is no testbed '$1': make it with 'testbed.sh up $1'"
}

case $mode in
check)
    quiet=yes
    require_tools
    find_hydra
    tear_down_on_exit "check-$$"
    set_up "check-$$" "$rate" "$burst" "$mtu"
    ;;
run)
    [ $# -ge 1 ] || wrong_usage "run needs a program"
    require_tools
    find_hydra
    if [ -n "$existing" ]; then
        needs_testbed "$existing"
        end_on_signals
    else
        existing=run-$$
        # The process number is ours now, so what bears it was left by a killed run.
        tear_down "$existing"
        tear_down_on_exit "$existing"
        set_up "$existing" "$rate" "$burst" "$mtu"
    fi
    run_job "$existing" "$@"
    exit $?
    ;;
up)
    [ $# -eq 1 ] || wrong_usage "up needs one name"
    needs_name "$1"
    require_tools
    is_up "$1" && wrong_usage "testbed '$1' is up already: take another name or 'testbed.sh down $1'"
    tear_down_on_exit "$1"
    set_up "$1" "$rate" "$burst" "$mtu"
    trap - EXIT
    ;;
exec)
    [ $# -ge 3 ] || wrong_usage "exec needs a name, a host and a command"
    require_tools
    needs_testbed "$1"
    enter "$@"
    ;;
down)
    [ $# -eq 1 ] || wrong_usage "down needs one name"
    require_tools
    needs_testbed "$1"
    trap '' HUP INT TERM
    tear_down "$1"
    ;;
esac
