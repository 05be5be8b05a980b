# shellcheck shell=sh disable=SC2154 # the variables named below are the caller's
# Functions of run_suite.sh. POSIX sh; sourced after lib.sh. They read the variables that
# its options set: build, launcher_words, kind, ranks, ranks_per_node, hosts, bind,
# extra_options, runs and results.

# ---- words and times ---------------------------------------------------------

# quoted WORD...: the words as a line that the shell reads back as they were.
quoted() {
    quoted_line=
    for quoted_word in "$@"; do
        case $quoted_word in
        '' | *[!A-Za-z0-9_.,:=/+@%-]*)
            quoted_word=$(printf '%s\n' "$quoted_word" |
                sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/")
            ;;
        esac
        quoted_line="$quoted_line${quoted_line:+ }$quoted_word"
    done
    printf '%s\n' "$quoted_line"
}

# in_words SECONDS: for people.
in_words() {
    awk -v s="$1" 'BEGIN {
        s = int(s + 0.5)
        if (s < 120) printf "%d s", s
        else if (s < 7200) printf "%d min", (s + 30) / 60
        else printf "%.1f h", s / 3600
    }'
}

# seconds_of TIME: 90, 90s, 30m, 2h, 1:30:00 in seconds; fails for what is no time.
seconds_of() {
    printf '%s\n' "$1" | awk '
        /^[0-9]+s?$/ { seconds = $1 + 0; ok = 1 }
        /^[0-9]+m$/ { seconds = 60 * $1; ok = 1 }
        /^[0-9]+h$/ { seconds = 3600 * $1; ok = 1 }
        /^[0-9]+:[0-9][0-9]:[0-9][0-9]$/ {
            split($1, part, ":")
            seconds = 3600 * part[1] + 60 * part[2] + part[3]
            ok = 1
        }
        END {
            # The shell counts with it.
            if (NR != 1 || seconds > 1e9) ok = 0
            if (ok) printf "%d\n", seconds
            exit !ok
        }'
}

# is_count TEXT: a whole number from 1.
is_count() {
    case $1 in
    '' | *[!0-9]* | 0* | ???????*) return 1 ;;
    esac
}

# ---- the folder of a suite that somebody began ------------------------------------

# names_option OPTION WORD...: whether the option is among the words.
names_option() {
    wanted_option=$1
    shift
    for word in "$@"; do
        case $word in
        "$wanted_option" | "$wanted_option"=*) return 0 ;;
        esac
    done
    return 1
}

# is_within FOLDER PATH: whether the path leads to somewhere in the folder; of a file that
# is where its own folder is.
is_within() {
    within=$2
    [ -d "$within" ] || within=$(dirname -- "$within")
    within=$(cd "$(as_path "$within")" 2>/dev/null && pwd -P) || return 1
    case $within/ in
    "$(cd "$(as_path "$1")" && pwd -P)"/*) ;;
    *) return 1 ;;
    esac
}

# check_resumed FOLDER LINE: refuses a line of the folder's suite/options that is none of
# the options that run_suite.sh writes there, and what would run a program unasked that only
# the folder knows: results are passed around.
check_resumed() {
    case $2 in
    --options=*" --du"*)
        misused "--resume: the suite was begun with $(quoted "$2"): a file to write is not" \
            "taken from a results folder, give it again"
        ;;
    # A launcher, or its ssh, could take such a name for an option of its own.
    --hosts=-* | --hosts=*,-* | --hosts=*[!][A-Za-z0-9._,:-]*)
        misused "--resume: '$1/suite/options' has a line that names no hosts: '$2'"
        ;;
    --benchmarks=?* | --runs=?* | --quick | --options=?* | --limit=?* | --ranks=?* | \
        --ranks-per-node=?* | --hosts=?* | --bind=?*) ;;
    --launcher=*" "*)
        misused "--resume: the suite was begun with $(quoted "$2"): a launcher with words" \
            "is not taken from a results folder, give it again"
        ;;
    --launcher=*/* | --build=?*)
        ! is_within "$1" "${2#*=}" ||
            misused "--resume: the suite was begun with $(quoted "$2"): a program in the" \
                "results folder is not run unasked, give it again"
        ;;
    --launcher=?*) ;;
    *) misused "--resume: '$1/suite/options' has a line that is no option of a suite: '$2'" ;;
    esac
}

# shown_lines: the first differences of diff on stdin, for a terminal.
shown_lines() {
    sed -n '/^[<>]/p' | head -n 4 | LC_ALL=C tr '\000-\010\013-\037\177' '[?*]'
}

# ---- launchers ------------------------------------------------------------------

# launcher_kind COMMAND...: hydra, openmpi or srun; nothing for any other.
launcher_kind() {
    case $(basename -- "$1") in
    srun)
        echo srun
        return
        ;;
    esac
    case $("$1" --version 2>&1 </dev/null | head -n 20) in
    *HYDRA* | *"Intel(R) MPI"*) echo hydra ;;
    *"Open MPI"* | *OpenRTE* | *PRRTE*) echo openmpi ;;
    esac
}

# first_of COMMAND...: the first of the commands that is there.
first_of() {
    for candidate in "$@"; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# nodes_of RANKS: on how many nodes so many ranks run, as far as can be known.
nodes_of() {
    if [ -n "$hosts" ]; then
        printf '%s\n' "$hosts" | awk -F , '{ print NF }'
    elif [ -n "$ranks_per_node" ]; then
        echo $((($1 + ranks_per_node - 1) / ranks_per_node))
    elif [ -n "${SLURM_JOB_NUM_NODES:-}" ]; then
        echo "$SLURM_JOB_NUM_NODES"
    elif [ -r "${PBS_NODEFILE:-}" ]; then
        sort -u "$PBS_NODEFILE" | wc -l
    else
        echo 1
    fi
}

in_allocation() {
    [ -n "${SLURM_JOB_ID:-}${PBS_NODEFILE:-}${LSB_HOSTS:-}" ]
}

# replaced TEXT WHAT BY: the text with all of them replaced, whatever they hold.
replaced() {
    replaced_rest=$1
    replaced_text=
    while :; do
        case $replaced_rest in
        *"$2"*) ;;
        *) break ;;
        esac
        replaced_text=$replaced_text${replaced_rest%%"$2"*}$3
        replaced_rest=${replaced_rest#*"$2"}
    done
    printf '%s\n' "$replaced_text$replaced_rest"
}

# filled_words: the words of a launcher that is none of the three, with what stands for
# its {ranks} and so on; a word of which nothing is left is left out. Reads what
# launch_line has set.
filled_words() {
    set -f # words, not patterns
    # shellcheck disable=SC2086  # words
    set -- $launcher_words
    set +f
    filled_count=$#
    while [ "$filled_count" -gt 0 ]; do
        word=$(replaced "$1" "{ranks}" "$launch_ranks")
        word=$(replaced "$word" "{ranks_per_node}" "${per_node:-$launch_ranks}")
        word=$(replaced "$word" "{nodes}" "$nodes")
        word=$(replaced "$word" "{bind}" "$bind")
        word=$(replaced "$word" "{hosts}" "$hosts")
        shift
        [ -z "$word" ] || set -- "$@" "$word"
        filled_count=$((filled_count - 1))
    done
    quoted "$@"
}

# progresses_asynchronously: whether a variable asks an MPI library for threads of its own.
progresses_asynchronously() {
    for variable in "${MPIR_CVAR_ASYNC_PROGRESS:-}" "${MPICH_ASYNC_PROGRESS:-}" \
        "${I_MPI_ASYNC_PROGRESS:-}"; do
        case $variable in
        '' | 0 | no | off | false) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

# cores_a_rank SLOTS COMMAND: to how many cores a rank is bound by default, where a host has
# so many ranks: one for each thread that the program is told to have; 0: it isn't bound.
# A rank that moves between cores, or shares one, takes other times from launch to launch.
cores_a_rank() {
    wanted_cores=1
    case $2 in
    *msgrate_rma*) wanted_cores=$(printf '%s\n' "$2" |
        sed 's/.* \(-t \{0,1\}\|--threads[= ]\)\([0-9]\{1,5\}\).*/\2/; s/.*[^0-9].*/1/') ;;
    esac
    if [ -n "$bind" ] || progresses_asynchronously ||
        [ $(($1 * wanted_cores)) -gt "$(ranks_with_room)" ]; then
        wanted_cores=0
    fi
    echo "$wanted_cores"
}

# launch_line RANKS COMMAND: what stands before a program with its options to start it on so
# many ranks. Reads launcher_words, kind, ranks, ranks_per_node, hosts, bind.
launch_line() {
    launch_ranks=$1
    launch_command=$2
    per_node=$ranks_per_node
    nodes=$(nodes_of "$ranks")
    # Of few ranks one a node: it is the network that they are about.
    if [ "$launch_ranks" -lt "$ranks" ] && [ "$nodes" -gt 1 ]; then
        per_node=1
        [ "$nodes" -le "$launch_ranks" ] || nodes=$launch_ranks
    fi
    if [ -z "$kind" ]; then
        filled_words
        return
    fi
    set -f # words, not patterns
    # shellcheck disable=SC2086  # words
    set -- $launcher_words
    set +f
    # As many as a host gets ranks: without a number hydra deals the ranks out one by
    # one, and with Open MPI the first host would get them all.
    slots=${ranks_per_node:-$(((ranks + nodes - 1) / nodes))}
    own_cores=$(cores_a_rank "$slots" "$launch_command")
    case $kind in
    hydra)
        set -- "$@" -np "$launch_ranks"
        [ -z "$per_node$hosts" ] || set -- "$@" -ppn "${per_node:-$slots}"
        [ -z "$hosts" ] || set -- "$@" -hosts "$hosts"
        case $bind:$own_cores in
        none:* | :0) ;;
        :1) set -- "$@" -bind-to core ;;
        :*) set -- "$@" -bind-to "core:$own_cores" ;;
        *) set -- "$@" -bind-to "$bind" ;;
        esac
        ;;
    openmpi)
        [ "$(id -u)" -ne 0 ] || set -- "$@" --allow-run-as-root
        if [ -z "$hosts" ] && ! in_allocation; then
            set -- "$@" --oversubscribe
        fi
        set -- "$@" -np "$launch_ranks"
        [ -z "$per_node" ] || set -- "$@" --map-by "ppr:$per_node:node"
        [ -z "$hosts" ] || set -- "$@" --host "$(printf '%s\n' "$hosts" |
            sed "s/,/:$slots,/g; s/\$/:$slots/")"
        case $bind:$own_cores in
        none:* | :0) ;;
        :1) set -- "$@" --bind-to core ;;
        :*) set -- "$@" --map-by "slot:PE=$own_cores" --bind-to core ;;
        *) set -- "$@" --bind-to "$bind" ;;
        esac
        ;;
    srun)
        # By itself srun waits for the others when a rank was killed, for ever.
        case " $* " in
        *" -K"* | *" --kill-on-bad-exit"*) ;;
        *) set -- "$@" --kill-on-bad-exit=1 ;;
        esac
        set -- "$@" "--ntasks=$launch_ranks"
        [ -z "$per_node" ] ||
            set -- "$@" "--nodes=$nodes" "--ntasks-per-node=$per_node"
        # For few ranks the first of the hosts.
        [ -z "$hosts" ] || set -- "$@" "--nodelist=$(printf '%s\n' "$hosts" |
            cut -d , -f "1-$nodes")"
        case $bind in
        '' | none) ;;
        core | socket | thread) set -- "$@" "--cpu-bind=${bind}s" ;;
        *) set -- "$@" "--cpu-bind=$bind" ;;
        esac
        ;;
    esac
    quoted "$@"
}

# ---- the plan -------------------------------------------------------------------

# list_of_programs FILE QUICK: suite.list with its stars replaced; columns name, groups,
# ranks, seconds, program, options, separated by |.
list_of_programs() {
    awk -F '[ \t]*[|][ \t]*' -v quick="$2" '
        function entry(collective,  text) {
            text = $1 "|" $2 "|" $3 "|" (quick == "yes" ? $5 : $4) "|" $6 "|" \
                (quick == "yes" && $8 != "" ? $8 : $7)
            if (collective != "") gsub(/[*]/, collective, text)
            sub(/[ \t]*$/, "", text)
            print text
        }
        /^#/ || /^[ \t]*$/ { next }
        /^collectives:/ {
            count = split(substr($0, 13), collectives, " ")
            next
        }
        /[*]/ {
            for (i = 1; i <= count; i++)
                if ((" " $9 " ") !~ (" " collectives[i] " "))
                    entry(collectives[i])
            next
        }
        { entry("") }' "$1"
}

# chosen LIST: of list_of_programs on stdin, the lines of these names and groups. A
# name beats a group. Fails with those that there are none of on stderr.
chosen() {
    awk -F '|' -v wanted="$1" '
        BEGIN { count = split(wanted, names, ",") }
        { line[NR] = $0; name[NR] = $1; groups[NR] = $2 ",all"; is_name[$1] = 1 }
        END {
            for (row = 1; row <= NR; row++) {
                take = 0
                for (i = 1; i <= count; i++)
                    if (name[row] == names[i] || (!(names[i] in is_name) &&
                        index("," groups[row] ",", "," names[i] ","))) {
                        take = 1
                        found[i] = 1
                    }
                if (take) print line[row]
            }
            for (i = 1; i <= count; i++)
                if (!found[i]) {
                    printf "%s ", names[i] >"/dev/stderr"
                    failed = 1
                }
            exit failed || count == 0
        }'
}

# options_of NAME LIST_FILE: what --options says for it; extra_options has a line each.
options_of() {
    printf '%s' "$extra_options" | while IFS= read -r option_line; do
        if chosen "${option_line%%:*}" <"$2" | cut -d '|' -f 1 | grep -qx "$1"; then
            printf ' %s' "${option_line#*:}"
        fi
    done
}

# max_time OPTIONS: the seconds that a row may take: the last --max-time, or its default.
max_time() {
    printf '%s\n' "--max-time=1 $1" | sed 's/.*--max-time=//; s/[^0-9.].*//; s/^$/1/'
}

# time_left FIRST: seconds that the launches from number FIRST of the plan on will take,
# less those that have their result: what a launch of that program took last, else
# what suite.list says, times what others took for what it says of them.
time_left() {
    estimate "$1" ""
}

# time_of NAME: the same of one launch of a program. Both fail where the suite's folder is
# gone.
time_of() {
    estimate 0 "$1"
}

estimate() {
    awk -F '\t' -v first="$1" -v only="$2" '
        FILENAME == ARGV[1] { expected[$1] = $2; next }
        FILENAME == ARGV[2] {
            if ($6 == "done" || $6 == "wrong") {
                took[$2] = $4
                finished[$1, $2] = 1
            }
            next
        }
        FNR == 1 {
            for (name in took) {
                taken += took[name]
                promised += expected[name]
            }
            # Damped, since the first few launches say little.
            ratio = (taken + 5) / (promised + 5)
            next
        }
        FNR > first && !finished[$1, $2] {
            left += $2 in took ? took[$2] : ratio * expected[$2]
        }
        END {
            if (only != "") left = only in took ? took[only] : ratio * expected[only]
            # The shell counts with it, whatever the files say.
            if (!(left >= 0 && left < 1e9)) left = 0
            printf "%d\n", left + 0.5
        }' \
        "$results/suite/expected.tsv" "$results/suite/launches.tsv" \
        "$results/suite/plan.tsv" 2>/dev/null
}

# ---- results ----------------------------------------------------------------------

# verdict FILE: what became of a launch, by what it wrote. A result is complete if its
# last line says so (`# end: 12 rows, exit 0`), however the launcher ended: done; wrong
# (all rows are there, some FAIL); interrupted; failed, which it also has where each
# process was a job of its own.
verdict() {
    if [ ! -s "$1" ]; then
        echo failed
        return
    fi
    awk -F '\t' '
        { complete = 0 }
        /^# end: [0-9]+ rows?, exit [0-9]+$/ {
            split($0, word, " ")
            complete = word[3] == rows + 0
            status = word[6]
        }
        /^# warning: interrupted by / { interrupted = 1 }
        /^# warning: [0-9]+ processes were started, but each is a job/ { alone = 1 }
        /^#/ { next }
        !column {
            for (i = 1; i <= NF; i++) if ($i == "status") column = i
            if (!column) exit
            next
        }
        { rows++ }
        $column == "FAIL" { wrong = 1 }
        END {
            if (alone) print "failed"
            else if (interrupted) print "interrupted"
            else if (complete && status == 0) print "done"
            else if (complete && status == 1 && wrong) print "wrong"
            else print "failed"
        }' "$1"
}

# merge NAME: the launches of a program as one file: the metadata of the first, a
# first column `run`, and the rows of all. What later launches note or warn of and
# earlier ones didn't is kept with the number of the run; what is said of one row is kept
# of each. The last line is the end of all launches, with the greatest exit status.
merge() {
    merged=$results/$1.tsv
    merge_name=$1
    merge_run=1
    set --
    while [ "$merge_run" -le "$runs" ]; do
        launch=$results/runs/$merge_run/$merge_name.tsv
        [ ! -e "$launch" ] || set -- "$@" "$launch"
        merge_run=$((merge_run + 1))
    done
    [ $# -gt 0 ] || return 0
    awk -F '\t' '
        FNR == 1 {
            parts = split(FILENAME, part, "/")
            run = part[parts - 1]
            files++
            in_metadata = 1
        }
        /^# end: / {
            split($0, word, " ")
            ends++
            rows += word[3]
            if (word[6] > status + 0) status = word[6]
            next
        }
        /^#/ {
            remark = $0 ~ /^# (note|warning): /
            if ($0 ~ /^# (note|warning): row [0-9]+: /) delete seen[$0]
            if (files == 1) {
                if (in_metadata) sub(/^# columns: /, "&run=key ")
                print
            } else if (remark && !($0 in seen)) {
                text = $0
                sub(/^# (note|warning): /, "&run " run ": ", text)
                print text
            }
            if (remark) seen[$0] = 1
            next
        }
        in_metadata {
            in_metadata = 0
            if (files == 1) {
                header = $0
                print "run\t" $0
            } else if ($0 != header) {
                print FILENAME ": other columns than run 1" >"/dev/stderr"
                exit 1
            }
            next
        }
        { print run "\t" $0 }
        END {
            if (ends == files)
                printf "# end: %d row%s, exit %d\n", rows, (rows == 1 ? "" : "s"), status
        }' "$@" >"$merged.new" && mv "$merged.new" "$merged" && return
    rm -f "$merged.new"
    return 1
}

# ---- what it takes to run the suite again ---------------------------------------

# environment_of PATTERN: the variables whose names match, as commands that set
# them; not what may be a secret.
environment_of() {
    awk -v pattern="$1" -v quote="'" 'BEGIN {
        for (name in ENVIRON)
            if (name ~ pattern && name !~ /TOKEN|SECRET|PASS|JWT|_KEY/ &&
                name ~ /^[A-Za-z_][A-Za-z0-9_]*$/)
                names[++count] = name
        for (i = 2; i <= count; i++)
            for (j = i; j > 1 && names[j] < names[j - 1]; j--) {
                name = names[j]
                names[j] = names[j - 1]
                names[j - 1] = name
            }
        for (i = 1; i <= count; i++) {
            value = ENVIRON[names[i]]
            gsub(quote, quote "\\" quote quote, value)
            print "export " names[i] "=" quote value quote
        }
    }' </dev/null
}

# What tunes an MPI library or a benchmark; and what launchers and schedulers say.
# shellcheck disable=SC2034 # used by run_suite.sh
readonly TUNING='^(UCX|FI|MPIR_CVAR|OMPI_MCA|MPICH|PSM2|PSM3|I_MPI|MV2|PMIX_MCA|HYDRA|OPAL|UCC|HCOLL|OPENHPCA|OVERLAP|OMP)_'
# shellcheck disable=SC2034 # used by run_suite.sh
readonly SITE='^(SLURM|PBS|LSB|OMPI|PMI|PMIX|MPI|MODULE|LOADEDMODULES|LMOD|SPACK|CONDA|PATH$|LD_LIBRARY_PATH$|HOSTNAME$|USER$|LANG$|LC_)'

# of_cache VARIABLE: what the build found.
of_cache() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" 2>/dev/null || :
}

# versions PROGRAM...: of all that is measured with. The same as long as results may be
# put together.
versions() {
    sed -n 's/^#define COMMCOST_\([A-Z_]*\) "\(.*\)"$/\1: \2/p' \
        "$build/generated/build_info.h" 2>/dev/null || :
    compiler=$(of_cache CMAKE_C_COMPILER)
    [ -z "$compiler" ] || echo "C compiler: $("$compiler" --version | head -n 1)"
    wrapper=$(of_cache MPI_C_COMPILER)
    # By its path, whichever way CMake was told.
    [ -z "$wrapper" ] || echo "MPI compiler: $(command -v "$wrapper" || echo "$wrapper")"
    echo "launcher: $launcher_words"
    if [ -n "$kind" ]; then
        "${launcher_words%% *}" --version 2>&1 </dev/null | sed 's/^/  /'
    fi
    echo "programs (cksum):"
    (cd "$build" && cksum "$@")
}

# topology FOLDER: files about this node.
topology() {
    lscpu >"$1/lscpu.txt" 2>/dev/null || rm -f "$1/lscpu.txt"
    if command -v lstopo-no-graphics >/dev/null 2>&1; then
        lstopo-no-graphics --of console >"$1/lstopo.txt" 2>/dev/null
        lstopo-no-graphics --of xml >"$1/lstopo.xml" 2>/dev/null
    fi
    if command -v numactl >/dev/null 2>&1; then
        numactl -H >"$1/numactl.txt" 2>/dev/null
    fi
    return 0
}

# hosts_here: those of the job, else this one.
hosts_here() {
    if [ -n "$hosts" ]; then
        printf '%s\n' "$hosts" | tr , '\n'
    elif [ -n "${SLURM_JOB_NODELIST:-}" ]; then
        scontrol show hostnames "$SLURM_JOB_NODELIST" 2>/dev/null ||
            echo "$SLURM_JOB_NODELIST"
    elif [ -r "${PBS_NODEFILE:-}" ]; then
        cat "$PBS_NODEFILE"
    else
        uname -n
    fi
}
