# Shell functions that the project's scripts share. POSIX sh; sourced by scripts in folders of
# the source tree, whose top is then COMMCOST_TOP. Others set that before.
# shellcheck shell=sh

# cd goes where it is told to.
unset CDPATH
top=$(cd -- "$(dirname -- "$0")/.." && pwd) || top=
[ ! -r "$top/run_scripts/lib.sh" ] || COMMCOST_TOP=$top

# Prints a command, then runs it.
run() {
    echo "+ $*" >&2
    "$@"
}

# complain TEXT...: one line on stderr, whatever a user's value in it holds.
complain() {
    {
        printf '%s: %.500s' "$(basename "$0")" "$*" | LC_ALL=C tr '[:cntrl:]' '?'
        echo
    } >&2
}

# Ends the script with a message.
die() {
    complain "$@"
    exit 1
}

# Ends the script for wrong usage.
misused() {
    complain "$@"
    exit 2
}

# help_if_asked "$@": prints the comment at the script's top and ends it, where that is asked for.
help_if_asked() {
    case ${1:-} in
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    esac
}

# Installs those of the Debian packages given that are missing. On a system
# without apt-get it does nothing: what is missing will be named by the build.
install_missing() {
    command -v apt-get >/dev/null 2>&1 || return 0
    missing=
    for package in "$@"; do
        status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) || status=
        [ "$status" = "install ok installed" ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    [ -z "$as_root" ] || command -v sudo >/dev/null 2>&1 || die "need root to install:$missing"
    run $as_root apt-get update -q
    # shellcheck disable=SC2086  # a list of words
    run $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends $missing
}

# Configures and builds the source tree: build_tree FOLDER [CMAKE OPTION]... With the compiler wrapper $MPICC, else
# MPICH's by its own name (Debian's mpicc may be any MPI's), or whatever mpicc there is.
build_tree() {
    folder=$1
    shift
    mpicc=${MPICC:-mpicc.mpich}
    [ -n "${MPICC:-}" ] || command -v mpicc.mpich >/dev/null 2>&1 || mpicc=mpicc
    command -v "$mpicc" >/dev/null 2>&1 || die "no compiler wrapper $mpicc: install an MPI library, or set MPICC"
    # What CMake found out about another MPI doesn't hold for this one.
    if [ -e "$folder/mpicc" ] && [ "$(cat "$folder/mpicc")" != "$mpicc" ]; then
        run rm -rf "$folder"
    fi
    mkdir -p "$folder"
    echo "$mpicc" >"$folder/mpicc"
    run cmake -S "$COMMCOST_TOP" -B "$folder" "-DMPI_C_COMPILER=$mpicc" "$@" ||
        return 1
    run cmake --build "$folder" -j "$(getconf _NPROCESSORS_ONLN)"
}

# launch_words BUILD_FOLDER: the words that start a job of a sweep: $LAUNCH, else those of the suite
# (run_scripts/commcost/running/launchers.py).
launch_words() {
    words=${LAUNCH:-$(python3 "$COMMCOST_TOP/run_scripts/commcost" launcher "$1")} || exit 1
    command -v "${words%% *}" >/dev/null 2>&1 || die "LAUNCH: there is no ${words%% *}"
    echo "$words"
}

# passing_signals COMMAND...: runs it and passes on the signals that come, SIGINT as
# SIGTERM (what runs in the background has SIGINT ignored). Its exit status. signalled is
# then the name of the last one, or empty.
# shellcheck disable=SC2034 # signalled is for the caller
passing_signals() {
    signalled=
    "$@" &
    passed_to=$!
    trap 'signalled=INT; kill -TERM $passed_to' INT
    trap 'signalled=TERM; kill -TERM $passed_to' TERM
    trap 'signalled=USR1; kill -USR1 $passed_to' USR1
    while :; do
        passed_status=0
        wait "$passed_to" || passed_status=$?
        # A signal ends the wait, not the command.
        [ "$passed_status" -gt 128 ] || break
        kill -0 "$passed_to" 2>/dev/null || break
    done
    trap - INT TERM USR1
    return "$passed_status"
}
