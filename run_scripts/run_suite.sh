#!/bin/sh
# Runs the benchmarks, all or some, several times in turn, and puts the results
# together. --help says how.
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"
. "$COMMCOST_TOP/run_scripts/suite_lib.sh"
list=$COMMCOST_TOP/run_scripts/suite.list

usage() {
    cat <<END
usage: run_suite.sh [OPTION]...

Runs every benchmark, or those chosen, as many times as --runs says, in turn: all of
them, then all again, each time with a new mpirun, since launches differ by more
than one launch shows. Says first how long that will take.

What to run
  --benchmarks=LIST     names and groups, with commas (default: all). Names:
                        overlap_COLLECTIVE, overlap_COLLECTIVE_sweep, msgrate,
                        msgrate_rma, pingpong, syncbench, halo, mpi_overhead,
                        monitor_overhead. Groups: overlap, rate, monitor, all
  --runs=N              launches of each (default: 5; with --quick 1). A
                        comparison of two versions wants 10
  --quick               shorter launches: all of it in 2 to 3 minutes
  --options='WHO: ...'  more options for a name, a group or all, for example
                        --options='halo: --local=10,50'; may be repeated
  --budget=TIME         time for this call (90, 30m, 2h, 1:30:00). A launch that
                        wouldn't end in it isn't started, one that doesn't is ended
                        and forgotten; no result has half its rows
  --limit=TIME          for each launch, after which it has failed (default: 10
                        minutes and 20 times what it should take)

Where to run
  --launcher=WHICH      hydra, openmpi, srun, or a command with words, like
                        'srun --mpi=pmi2'. One that is none of these three needs
                        {ranks}, and may have {ranks_per_node}, {nodes}, {hosts},
                        {bind}: 'aprun -n {ranks} -N {ranks_per_node}'. Default: srun in a
                        Slurm job, else the mpirun that goes with the build
  --ranks=N             default: Slurm's tasks, PBS's slots, all of the hosts, or
                        this machine's cores (2 to 8; hardware threads of one
                        core count once), or fewer where a control group's quota
                        gives less time
  --ranks-per-node=N
  --hosts=LIST          with commas
  --bind=TO             core, socket, none (as the launcher binds by itself), or what
                        the launcher takes. Default, but for srun and launchers with
                        words: a core for each thread of a rank, where there are as
                        many and the MPI library has no threads of its own
  --build=FOLDER        default: build

Where results go
  --output=FOLDER       default: results/DATE_TIME. A folder of the same suite that
                        was not finished is gone on with: what is there isn't
                        measured again, what was cut off is. More --runs than before
                        add to it; any other difference is refused
  --resume=FOLDER       the same, with the options that it was begun with. Of these, a
                        launcher that is a command with words, or a program in the
                        folder itself, is run only if it is given again
  --dry-run             print the commands and how long they will take
  -v, --verbose         print each command when it runs
  -h, --help

FOLDER/NAME.tsv has the rows of all launches, with a first column run;
FOLDER/runs/N/NAME.tsv what each one wrote, and NAME.log what it said besides;
FOLDER/suite/ what it takes to run the suite again: run_again.sh, plan.tsv, versions,
environment, topology, hosts, and launches.tsv with the time each took.

SIGINT and SIGTERM end the launch in hand, SIGUSR1 lets it end by itself; then
the suite ends, and the same command goes on with it.

Exit status: 0 done, or the budget is used up and there is a result of each; 1
a launch failed, found wrong data, or was not reached; 2 wrong usage.
END
}

# ---- options ---------------------------------------------------------------------

benchmarks=all
runs=
quick=no
extra_options=
budget=
limit_of_each=
launcher=
ranks=
ranks_per_node=
hosts=
bind=
build=
results=
dry_run=no
verbose=no

# needs_one_line OPTION VALUE: refuses what would break the lines of the plan.
needs_one_line() {
    case $2 in
    '') misused "$1 needs a value (--help says more)" ;;
    *"
"* | *"	"*) misused "$1: no tabs or line breaks" ;;
    esac
}

needs_count() {
    is_count "$2" || misused "$1: '$2': use a whole number from 1"
}

call=$(quoted "$@")

# The options of the folder to resume come first, so that those given beat them. They are
# text from somebody's folder, a line each: nothing evaluates them.
for argument in "$@"; do
    case $argument in
    --resume=*)
        resumed=$(cd "$(as_path "${argument#*=}")" 2>/dev/null && pwd) ||
            misused "--resume: no folder '${argument#*=}'"
        [ -r "$resumed/suite/options" ] ||
            misused "--resume: no suite was begun in '${argument#*=}'"
        given=$#
        while IFS= read -r line || [ -n "$line" ]; do
            case $line in
            --launcher=*) ! names_option --launcher "$@" || continue ;;
            --build=*) ! names_option --build "$@" || continue ;;
            --options=*" --du"*) ! names_option --options "$@" || continue ;;
            esac
            check_resumed "$resumed" "$line"
            set -- "$@" "$line"
        done <"$resumed/suite/options"
        while [ "$given" -gt 0 ]; do
            set -- "$@" "$1"
            shift
            given=$((given - 1))
        done
        break
        ;;
    esac
done

# The options that make the suite what it is: as words for a shell, and a line each.
kept=
kept_lines=
keep() {
    kept="$kept${kept:+ }$(quoted "$1")"
    kept_lines="$kept_lines$1
"
}
while [ $# -gt 0 ]; do
    case $1 in
    --benchmarks | --runs | --options | --budget | --limit | --launcher | \
        --ranks | --ranks-per-node | --hosts | --bind | --build | --output)
        [ $# -ge 2 ] || misused "$1 needs a value (--help says more)"
        option=$1
        value=$2
        shift
        ;;
    --*=*)
        option=${1%%=*}
        value=${1#*=}
        ;;
    *)
        option=$1
        value=-
        ;;
    esac
    shift
    needs_one_line "$option" "$value"
    case $option=$value in
    --quick=- | --dry-run=- | --verbose=-) ;;
    --quick=* | --dry-run=* | --verbose=*) misused "$option: takes no value" ;;
    --resume=-) misused "--resume needs a value: use --resume=FOLDER" ;;
    esac
    case $option in
    --benchmarks) benchmarks=$value ;;
    --runs)
        needs_count "$option" "$value"
        runs=$value
        ;;
    --quick) quick=yes ;;
    --options)
        case $value in
        *:*) ;;
        *) misused "--options: '$value': use 'NAME: --option ...'" ;;
        esac
        # Abbreviated, too; syncbench has an --outer.
        case " ${value#*:} " in
        # Without metadata a result doesn't say that it is complete.
        *" --outp"* | *" --o"[=\ ]* | *" --ou"[=\ ]* | *" --out"[=\ ]* | *" --no-h"* | \
            *" --no-m"* | *" --noh"* | *" --fo"* | *" --f"[=\ ]*)
            misused "--options: '$value': --output, --format, --no-header, --no-metadata and" \
                "--nohdr are the suite's own"
            ;;
        esac
        # The same by short options; -n is another one in other programs.
        case "${value%%:*} ${value#*:} " in
        mpi_overhead*" -n"* | msgrate*" -o"*)
            misused "--options: '$value': what leaves out the header is the suite's own"
            ;;
        esac
        extra_options="$extra_options$value
"
        ;;
    --budget)
        budget=$(seconds_of "$value") ||
            misused "--budget: '$value': use a time like 90, 30m, 2h or 1:30:00"
        ;;
    --limit)
        if ! limit_of_each=$(seconds_of "$value") || [ "$limit_of_each" -eq 0 ]; then
            misused "--limit: '$value': use a time like 90, 30m, 2h or 1:30:00"
        fi
        ;;
    --launcher) launcher=$value ;;
    --ranks)
        needs_count "$option" "$value"
        ranks=$value
        ;;
    --ranks-per-node)
        needs_count "$option" "$value"
        ranks_per_node=$value
        ;;
    --hosts) hosts=$value ;;
    --bind) bind=$value ;;
    --build)
        build=$(cd "$(as_path "$value")" 2>/dev/null && pwd) ||
            misused "--build: no folder '$value'"
        value=$build
        ;;
    --output) results=$(as_path "$value") ;;
    --resume) results=$resumed ;;
    --dry-run) dry_run=yes ;;
    -v | --verbose) verbose=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) misused "'$option' is no option (--help says more)" ;;
    esac
    case $option in
    # A budget is of one call.
    --output | --resume | --budget | --dry-run | -v | --verbose) ;;
    --quick) keep "$option" ;;
    *) keep "$option=$value" ;;
    esac
done

if [ -z "$runs" ]; then
    runs=5
    [ "$quick" = no ] || runs=1
fi
if [ -z "$build" ]; then
    build=$COMMCOST_TOP/build
    # As installed, in share/commcost.
    [ -d "$build" ] || build=$COMMCOST_TOP/../../libexec/commcost
    build=$(cd "$build" 2>/dev/null && pwd) ||
        die "no folder $COMMCOST_TOP/build: build first, or use --build=FOLDER"
fi

# ---- launcher and ranks ------------------------------------------------------------

built_launcher=$(build_launcher "$build")
case $launcher in
'')
    if [ -n "${SLURM_JOB_ID:-}" ] && command -v srun >/dev/null 2>&1; then
        launcher_words=srun
    else
        launcher_words=$built_launcher
    fi
    ;;
hydra | openmpi)
    names="mpirun.mpich mpiexec.hydra mpirun mpiexec"
    [ "$launcher" = hydra ] || names="mpirun.openmpi mpirun orterun"
    launcher_words=
    # shellcheck disable=SC2086  # words
    for candidate in "$built_launcher" $names; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        [ "$(launcher_kind "$candidate")" = "$launcher" ] || continue
        launcher_words=$candidate
        break
    done
    [ -n "$launcher_words" ] ||
        die "--launcher=$launcher: none found among $names: name it with --launcher=PATH"
    ;;
*) launcher_words=$launcher ;;
esac
first_word=${launcher_words%% *}
command -v "$first_word" >/dev/null 2>&1 ||
    die "no launcher '$first_word': use --launcher=PATH"
case $launcher_words in
*"{ranks}"*) kind= ;;
*)
    kind=$(launcher_kind "$first_word")
    [ -n "$kind" ] || misused "--launcher: '$first_word' is neither hydra's mpirun nor" \
        "Open MPI's nor srun: say where the number of ranks goes, like '$launcher_words -n {ranks}'"
    ;;
esac

if [ -z "$ranks" ]; then
    if [ -n "$hosts" ]; then
        ranks=$(($(printf '%s\n' "$hosts" | awk -F , '{ print NF }') * ${ranks_per_node:-1}))
    elif [ -n "${SLURM_JOB_NUM_NODES:-}" ] && [ -n "$ranks_per_node" ]; then
        ranks=$((SLURM_JOB_NUM_NODES * ranks_per_node))
    elif [ -n "${SLURM_NTASKS:-}" ]; then
        ranks=$SLURM_NTASKS
    elif [ -n "${SLURM_JOB_NUM_NODES:-}" ]; then
        ranks=${SLURM_CPUS_ON_NODE:-1}
        # Those are logical processors. On a node of the job its cores are known.
        if [ -n "${SLURMD_NODENAME:-}" ] && [ "$(ranks_with_room)" -lt "$ranks" ]; then
            ranks=$(ranks_with_room)
        fi
        ranks=$((SLURM_JOB_NUM_NODES * ranks))
    elif [ -r "${PBS_NODEFILE:-}" ]; then
        ranks=$(wc -l <"$PBS_NODEFILE")
    else
        ranks=$(ranks_with_room)
        [ "$ranks" -le 8 ] || ranks=8
    fi
    ranks=$((ranks))
    [ "$ranks" -ge 2 ] || ranks=2
fi
[ "$ranks" -ge 2 ] || misused "--ranks: the benchmarks need at least 2"
peers=$((ranks - 1))
[ "$peers" -le 6 ] || peers=6

# ---- the plan ------------------------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

list_of_programs "$list" "$quick" >"$work/list"
chosen "$benchmarks" <"$work/list" >"$work/chosen" 2>"$work/unknown" ||
    misused "--benchmarks: there is no $(cat "$work/unknown")(--dry-run shows all names)"

printf '%s' "$extra_options" | while IFS= read -r line; do
    chosen "${line%%:*}" <"$work/list" >/dev/null 2>&1 ||
        misused "--options: '$line': there is no ${line%%:*}"
done || exit 2

# One run's lines: name, seconds, command.
: >"$work/launches"
: >"$work/missing"
: >"$work/built"
while IFS='|' read -r name _ wanted_ranks seconds program options; do
    if [ ! -x "$build/$program" ]; then
        case ",$benchmarks," in
        *",$name,"*) die "$name: no program $build/$program: build it first" ;;
        esac
        echo "$name" >>"$work/missing"
        continue
    fi
    echo "$program" >>"$work/built"
    [ "$wanted_ranks" != all ] || wanted_ranks=$ranks
    extra=$(options_of "$name" "$work/list")
    seconds=$(awk -v seconds="$seconds" -v listed="$(max_time "$options")" \
        -v given="$(max_time "$options $extra")" \
        'BEGIN { print given == listed ? seconds : 0.5 + seconds * given / listed }')
    options=$(printf '%s\n' "$options $extra" | sed "s/{peers}/$peers/g")
    # shellcheck disable=SC2086  # words
    printf '%s\t%s\t%s %s\n' "$name" "$seconds" "$(launch_line "$wanted_ranks" "$program $options")" \
        "$(set -f; quoted "$build/$program" $options)" >>"$work/launches"
done <"$work/chosen"
[ -s "$work/launches" ] || die "none of the programs is in $build: build them first"
if [ -s "$work/missing" ]; then
    echo "Left out, since not built: $(tr '\n' ' ' <"$work/missing")" >&2
fi
awk -F '\t' -v OFS='\t' -v runs="$runs" '
    { name[NR] = $1; command[NR] = $3 }
    END {
        print "run", "name", "command"
        for (run = 1; run <= runs; run++)
            for (i = 1; i <= NR; i++) print run, name[i], command[i]
    }' "$work/launches" >"$work/plan.tsv"
cut -f1,2 "$work/launches" >"$work/expected.tsv"
count=$(wc -l <"$work/launches")
count=$((count))
total=$((count * runs))
expected=$(awk -F '\t' -v runs="$runs" '{ s += $2 } END { print s * runs }' \
    "$work/expected.tsv")
what="$total launches: $count programs, each launched $runs times, with $ranks ranks"
[ "$runs" -gt 1 ] || what="$total launches: one of each program, with $ranks ranks"

if [ "$dry_run" = yes ]; then
    echo "# $what; about $(in_words "$expected")"
    tail -n +2 "$work/plan.tsv"
    exit 0
fi

# ---- the folder --------------------------------------------------------------------

if [ -z "$results" ]; then
    # Installed, the tree is not the user's to write to.
    folder=$COMMCOST_TOP
    [ -e "$folder/CMakeLists.txt" ] || folder=$PWD
    results=$folder/results/$(date +%Y-%m-%d_%H%M%S)
fi
if [ ! -e "$results/suite/plan.tsv" ] && ls "$results"/*.tsv >/dev/null 2>&1; then
    die "$results holds results of something else: use another folder"
fi
# The command that goes on.
resuming() {
    again_with=
    case $launcher in
    *" "*) again_with=" --launcher=$(quoted "$launcher")" ;;
    esac
    printf '%s\n' "run_suite.sh --resume=$(quoted "$results")$again_with"
}

# What can't be written down isn't measured.
cannot_write() {
    die "cannot write in $results: no space is left, it was removed, or it isn't" \
        "yours. What is there is whole; to go on: $(resuming)"
}

mkdir -p "$results" 2>/dev/null ||
    die "cannot make the folder $results: use --output=FOLDER, where you may write"
mkdir -p "$results/suite" "$results/runs" || cannot_write
results=$(cd "$results" && pwd)
suite=$results/suite

# The lock is the open file's, so it ends with this process, whatever ends that. A
# file system without locks does without.
touch "$suite/lock" || cannot_write
exec 9>"$suite/lock"
if command -v flock >/dev/null 2>&1; then
    status=0
    # What a killed one was about to do may take a moment to end.
    flock -w 2 -E 75 9 2>/dev/null || status=$?
    [ "$status" -ne 75 ] || die "another run_suite.sh is at work in $results"
fi

# replace NAME: what comes from stdin becomes that file of the suite, whole or not at all.
replace() {
    cat >"$suite/$1.new" && mv "$suite/$1.new" "$suite/$1" && return
    rm -f "$suite/$1.new"
    return 1
}

# All that says what the suite is.
begin_suite() {
    printf 'run\tname\tstart\tseconds\texit\tresult\n' | replace launches.tsv &&
        replace versions <"$work/versions" &&
        replace expected.tsv <"$work/expected.tsv" &&
        environment_of "$TUNING" >"$suite/environment" &&
        environment_of "$SITE" >"$suite/environment_of_site" &&
        { uname -a; cat /etc/os-release 2>/dev/null || :; } >"$suite/system" &&
        hosts_here >"$suite/hosts" 9>&- &&
        topology "$suite" 9>&- &&
        # Last, since it says that all the others are there.
        replace plan.tsv <"$work/plan.tsv"
}

# shellcheck disable=SC2046  # words
versions $(sort -u "$work/built") >"$work/versions" 9>&-
if [ -e "$suite/plan.tsv" ]; then
    # More runs only add lines at the end.
    head -n "$(wc -l <"$suite/plan.tsv")" "$work/plan.tsv" |
        diff "$suite/plan.tsv" - >"$work/diff" || {
        shown_lines <"$work/diff" >&2
        die "$results was begun with another plan (< then, > now): use another" \
            "folder, or --resume=$results for its own options"
    }
    diff "$suite/versions" "$work/versions" >"$work/diff" || {
        shown_lines <"$work/diff" >&2
        die "$results was measured with other programs (< then, > now):" \
            "use another folder"
    }
    if [ "$(wc -l <"$suite/plan.tsv")" -ne "$(wc -l <"$work/plan.tsv")" ]; then
        replace plan.tsv <"$work/plan.tsv" || cannot_write
    fi
    # A full disk may have cut off the last record.
    if [ -n "$(tail -c 1 "$suite/launches.tsv")" ]; then
        sed '$d' "$suite/launches.tsv" | replace launches.tsv || cannot_write
    fi
else
    begin_suite || cannot_write
fi
# The same suite, with as many runs as it has by now.
replace run_again.sh <<END || cannot_write
#!/bin/sh
# Runs this suite again, into a folder that is its argument (default: a new one).
set -eu
case \${1:-} in
-*)
    echo "usage: run_again.sh [RESULTS_FOLDER]" >&2
    exit 2
    ;;
esac
. "\$(dirname "\$0")/environment"
exec sh $(quoted "$COMMCOST_TOP/run_scripts/run_suite.sh") \\
    $kept --build=$(quoted "$build") \${1:+"--output=\$1"}
END
chmod +x "$suite/run_again.sh"
printf '%s' "$kept_lines" | replace options || cannot_write
rm -f "$suite/complete"
echo "$(date +%Y-%m-%dT%H:%M:%S%z) host $(uname -n) process $$ job ${SLURM_JOB_ID:-${PBS_JOBID:-NA}}: run_suite.sh $call" \
    >>"$suite/calls" || cannot_write

# ---- launches -----------------------------------------------------------------------

# start_of PROCESS: when it started, in the kernel's ticks; with its number and the
# host it is one process and no other.
start_of() {
    sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}

# in_session PROCESS: the numbers of the processes, zombies left out, whose session this
# one began. Open MPI's ranks have process groups of their own, but the session stays.
in_session() {
    # cat goes on after a process that ends while it is read.
    cat /proc/[0-9]*/stat 2>/dev/null |
        sed -n "s/^\([0-9]*\) (.*) [^Z] [0-9]* [0-9]* $1 .*/\1/p"
}

# end_session PROCESS: waits until the session that this process began is empty, which a
# launcher may leave before its ranks do, and ends by force what is still there after 3 s.
end_session() {
    tries=50
    while left_over=$(in_session "$1") && [ -n "$left_over" ] && [ "$tries" -gt 0 ]; do
        if [ "$tries" -le 20 ]; then
            for process in $left_over; do
                kill -KILL "$process" 2>/dev/null || :
            done
        fi
        sleep 0.1
        tries=$((tries - 1))
    done
}

# end_group PROCESS: ends a launch with all that it started, within a few seconds.
end_group() {
    trap '' HUP INT TERM USR1
    kill -TERM "$1" 2>/dev/null || :
    (sleep 3; kill -KILL "-$1" || kill -KILL "$1") >/dev/null 2>&1 9>&- &
    killer=$!
    wait "$1" 2>/dev/null || :
    tries=50
    while [ -n "$(start_of "$1")" ] && [ "$tries" -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    # It ignores what this script ignores.
    { kill -KILL "$killer" && wait "$killer"; } 2>/dev/null || :
    kill -KILL "-$1" 2>/dev/null || :
    end_session "$1"
}

# A suite that was killed leaves its launch behind, which would disturb this one.
if [ -s "$suite/running" ]; then
    read -r host process start <"$suite/running" || :
    if [ "$host" = "$(uname -n)" ] && is_count "$process" && [ -n "$start" ] &&
        [ "$(start_of "$process")" = "$start" ]; then
        echo "Ending process $process, which an earlier run_suite.sh left" >&2
        end_group "$process"
    fi
fi
rm -f "$suite/running"

child=
signal= # that came
leave=  # now, or after the launch in hand
# shellcheck disable=SC2317  # called by traps
on_signal() {
    signal=$1
    leave=$2
}
trap 'on_signal SIGINT now' INT
trap 'on_signal SIGTERM now' TERM
trap 'on_signal SIGHUP now' HUP
trap 'on_signal SIGUSR1 soon' USR1

begin=$(date +%s)
elapsed() {
    echo $(($(date +%s) - begin))
}

# Becomes the launch, in a session of its own where that can be had, so that a Ctrl-C
# reaches it through this script alone and all of it can be ended.
detach=
command -v setsid >/dev/null 2>&1 && detach=setsid

# launch SECONDS COMMAND...: starts it in the background, its output to $log; it is
# ended after so long.
launch() {
    limit=$1
    shift
    if command -v timeout >/dev/null 2>&1; then
        set -- timeout -k 5 "$limit" "$@"
    fi
    # shellcheck disable=SC2016  # for the inner shell
    $detach sh -c 'running=$1; shift
        echo "$(uname -n) $$ $(sed "s/^.*) //" /proc/$$/stat 2>/dev/null |
            cut -d " " -f 20)" >"$running"
        exec "$@"' sh "$suite/running" "$@" </dev/null >>"$log" 2>&1 3<&- 9>&- &
    child=$!
}

# Waits for the launch; sets status. A signal to end now ends it.
await() {
    status=0
    while :; do
        if [ "$leave" = now ]; then
            end_group "$child"
            return
        fi
        status=0
        wait "$child" || status=$?
        # Where a signal interrupted the wait, the launch is still there.
        if [ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null; then
            continue
        fi
        # Ended by force, a launcher may leave ranks behind.
        [ "$status" -lt 124 ] || end_session "$child"
        return 0
    done
}

merge_all() {
    cut -f1 "$work/expected.tsv" | while read -r name; do
        merge "$name" && continue
        echo "Could not put together the launches of $name" >&2
        echo "$name" >>"$work/not_merged"
    done
}

echo "$what; results go to $results" >&2
left=$(time_left 1) || cannot_write
if [ -n "$(find "$results/runs" -name '*.tsv' | head -n 1)" ]; then
    echo "Some were measured before" >&2
fi
if [ -n "$budget" ] && [ "$budget" -lt "$left" ]; then
    echo "That would take about $(in_words "$left"); the budget is $(in_words "$budget")" >&2
else
    echo "This will take about $(in_words "$left")" >&2
fi

number=0
run_in_hand=
left_out=yes # until the plan's end
# This call's plan, which the folder's was found to be, too.
exec 3<"$work/plan.tsv"
read -r _ <&3
while IFS='	' read -r run name command <&3 || { left_out= && false; }; do
    number=$((number + 1))
    if [ "$run" != "$run_in_hand" ]; then
        [ -z "$run_in_hand" ] || merge_all
        run_in_hand=$run
        # Not a folder anew that was removed.
        [ -d "$suite" ] || cannot_write
        mkdir -p "$results/runs/$run" || cannot_write
    fi
    file=$results/runs/$run/$name.tsv
    part=$file.part
    log=${file%.tsv}.log
    [ ! -e "$file" ] || continue
    [ -z "$leave" ] || break

    # Both read the suite's folder, which somebody may just have removed.
    one=$(time_of "$name") || cannot_write
    left=$(time_left "$number") || cannot_write
    limit=${limit_of_each:-$((600 + 20 * one))}
    time_left_of_budget=
    if [ -n "$budget" ]; then
        time_left_of_budget=$((budget - $(elapsed)))
        if [ "$one" -ge "$time_left_of_budget" ]; then
            leave=budget
            break
        fi
        [ "$limit" -lt "$time_left_of_budget" ] || limit=$time_left_of_budget
    fi
    printf '[%*d/%d] run %d of %d: %-28s %6s so far, about %s left\n' \
        "${#total}" "$number" "$total" "$run" "$runs" "$name" \
        "$(in_words "$(elapsed)")" "$(in_words "$left")" >&2
    rm -f "$part" "$file.failed"
    line="$command $(quoted "--output=$part")"
    echo "+ $line" >"$log" || cannot_write
    [ "$verbose" = no ] || echo "+ $line" >&2
    launch_begin=$(date +%s)
    launch_date=$(date +%Y-%m-%dT%H:%M:%S%z)
    eval "launch '$limit' $line"
    await
    if [ "$leave" = now ]; then
        rm -f "$part" "$suite/running"
        break
    fi
    rm -f "$suite/running"
    seconds=$(($(date +%s) - launch_begin))
    result=$(verdict "$part") || result=failed
    if [ "$seconds" -ge "$limit" ] && [ "$result" != "done" ] && [ "$result" != wrong ]; then
        if [ "$limit" = "$time_left_of_budget" ]; then
            rm -f "$part"
            leave=budget
            break
        fi
        result=failed
        echo "$name took longer than $limit s (--limit)" >&2
    elif [ "$result" = "done" ] && [ "$status" -ne 0 ]; then
        # Such as MPI_Finalize that doesn't end.
        echo "$name: the result is complete and counts, but the launch then ended with" \
            "exit status $status after $seconds s: see $log" >&2
    fi
    if [ "$result" = interrupted ]; then
        # By somebody who told the programs but not this script.
        rm -f "$part"
        leave=soon
        signal="a signal to the program"
        break
    fi
    # Recorded before it counts as finished: what is killed in between is measured
    # and recorded once more, and the last record holds.
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$run" "$name" "$launch_date" "$seconds" \
        "$status" "$result" >>"$suite/launches.tsv" || cannot_write
    case $result in
    done) mv "$part" "$file" || cannot_write ;;
    wrong)
        mv "$part" "$file" || cannot_write
        echo "$name found wrong data: see the rows with FAIL in $file" >&2
        ;;
    failed)
        [ ! -e "$part" ] || mv "$part" "$file.failed"
        echo "$name failed with exit status $status; $log ends with:" >&2
        tail -n 12 "$log" | sed 's/^/    /' >&2
        ;;
    esac
done
exec 3<&-
trap '' HUP INT TERM USR1
[ -d "$suite" ] || cannot_write
: >"$work/not_merged"
merge_all

# ---- what came of it ------------------------------------------------------------------

# The last record of each launch holds.
awk -F '\t' '
    NR == FNR { if (FNR > 1) last[$1, $2] = $6; next }
    FNR > 1 {
        result = (($1, $2) in last) ? last[$1, $2] : "not reached"
        number[result]++
        names[result] = names[result] " " $2 " (run " $1 ")"
        if (result == "done" || result == "wrong") has[$2] = 1
        else has[$2] += 0
    }
    END {
        for (name in has) if (!has[name]) without++
        printf "%d %d %d %d %d\n", number["done"], number["wrong"],
            number["failed"], number["not reached"], without
        if (number["wrong"]) print "Wrong data:" names["wrong"]
        if (number["failed"]) print "Failed:" names["failed"]
    }' "$suite/launches.tsv" "$suite/plan.tsv" >"$work/summary"
read -r done_count wrong failed not_reached without <"$work/summary"
tail -n +2 "$work/summary" >&2
# A signal that came too late to leave anything out.
[ -n "$left_out" ] || leave=

again=$(resuming)
case $leave in
'')
    date +%Y-%m-%dT%H:%M:%S%z >"$suite/complete"
    echo "Done in $(in_words "$(elapsed)"): $((done_count + wrong)) of $total launches" \
        "have their result" >&2
    [ "$failed" -eq 0 ] || echo "To try again what failed: $again" >&2
    ;;
budget)
    echo "The budget is used up: $((done_count + wrong)) of $total launches have their" \
        "result, $not_reached are left. To go on: $again" >&2
    [ "$without" -eq 0 ] || echo "There is no result of $without programs yet" >&2
    ;;
*)
    echo "Ended by $signal: $((done_count + wrong)) of $total launches have their" \
        "result. To go on: $again" >&2
    exit 1
    ;;
esac
[ ! -s "$work/not_merged" ] && [ "$wrong" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$without" -eq 0 ]
