# SPDX-License-Identifier: BSD-3-Clause
# Shell functions of the project's scripts, in POSIX sh. Sets COMMCOST_TOP to the top of the source tree for scripts in
# its folders; other scripts set it before.
# shellcheck shell=sh

# A closed stderr must not end the script.
true >&2 || exec 2>/dev/null

unset CDPATH # cd must not leave this tree
top=$(cd -- "$(dirname -- "$0")/.." && pwd) || top=
[ ! -r "$top/run_scripts/lib.sh" ] || COMMCOST_TOP=$top

# Prints a command, then runs it.
run() {
    echo "+ $*" >&2
    "$@"
}

# complain TEXT...: prints one line to stderr, without control characters.
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

# Ends the script with a message about wrong usage.
misused() {
    complain "$@"
    exit 2
}

need_python() {
    command -v python3 >/dev/null 2>&1 || die "there is no python3: install it (Debian: python3)"
}

# commcost COMMAND [OPTION]...: replaces the shell by a command of run_scripts/commcost, which is written in Python.
commcost() {
    need_python
    exec python3 "$COMMCOST_TOP/run_scripts/commcost" "$@"
}

# help_if_asked "$@": for --help, prints the comment below the script's licence line and ends the script.
help_if_asked() {
    case ${1:-} in
    -h | --help)
        sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    esac
}

# Installs those of the given Debian packages that are missing. Does nothing without apt-get: the build reports them.
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
    apt_get update -q
    # shellcheck disable=SC2086  # a list of words
    apt_get install -y -q --no-install-recommends $missing
}

# apt_get WORD...: runs apt-get as root. sudo drops variables, so proxy variables are passed as arguments. Their values,
# which may contain a password, are not printed.
apt_get() {
    echo "+ ${as_root:+$as_root }apt-get $*" >&2
    set -- apt-get "$@"
    for name in http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY; do
        eval "value=\${$name:-}"
        [ -z "$as_root" ] || [ -z "$value" ] || set -- "$name=$value" "$@"
    done
    $as_root env DEBIAN_FRONTEND=noninteractive "$@"
}

# ranks_met LAUNCHER [FOLDER]: starts two processes with the launcher and the library of $wrapper, and prints the
# numbers of ranks that they find, or nothing on failure. FOLDER is put before PATH.
ranks_met() (
    PATH=${2:+$2:}$PATH
    command -v "$1" >/dev/null 2>&1 || exit 0
    scratch=$(mktemp -d)
    cat >"$scratch/met.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("%d\n", ranks);
    return MPI_Finalize();
}
END
    # One word per line, possibly with blanks and *.
    set -f
    IFS='
'
    # shellcheck disable=SC2086  # a list of words
    words=$(commcost launcher --launcher="$1" "$scratch" 2>/dev/null) &&
        "$wrapper" -o "$scratch/met" "$scratch/met.c" >/dev/null 2>&1 &&
        timeout 60 $words "$scratch/met" </dev/null 2>/dev/null | sort -u
    rm -rf "$scratch"
)

# Sets wrapper to $MPICC, else mpicc.mpich (Debian's mpicc may belong to any library), else mpicc. The launcher of an
# MPICH built for PMIx, as in Ubuntu 24.04 (https://bugs.launchpad.net/bugs/2072338), starts each rank as a separate
# job. In this case sets launcher to one that supports PMIx, or else uses Open MPI.
choose_mpi() {
    mpicc=${MPICC:-mpicc.mpich}
    [ -n "${MPICC:-}" ] || command -v mpicc.mpich >/dev/null 2>&1 || mpicc=mpicc
    wrapper=$(command -v "$mpicc") || die "no compiler wrapper $mpicc: install an MPI library, or set MPICC"
    case $wrapper in /*) ;; *) wrapper=$PWD/$wrapper ;; esac
    launcher=
    # The user or Slurm chooses the launcher.
    [ -z "${LAUNCH:-}${SLURM_JOB_ID:-}" ] || return 0
    own=mpirun${wrapper##*mpicc}
    [ "$(ranks_met "$own" "$(dirname "$wrapper")")" = 1 ] || return 0
    for launcher in prterun mpirun.openmpi; do
        if [ "$(ranks_met $launcher)" = 2 ]; then
            complain "$own starts each rank as a job of its own: $launcher is used"
            launcher=$(command -v $launcher)
            return 0
        fi
    done
    launcher=
    [ -z "${MPICC:-}" ] || die "$own starts each rank as a job of its own: set MPICC to another library's wrapper"
    complain "$own starts each rank as a job of its own, and no other launcher starts its ranks: Open MPI is used"
    install_missing openmpi-bin libopenmpi-dev
    wrapper=$(command -v mpicc.openmpi) || die "no compiler wrapper mpicc.openmpi: install an MPI library, and set MPICC"
}

# Configures and builds the source tree: build_tree FOLDER [CMAKE OPTION]...
build_tree() {
    folder=$1
    shift
    choose_mpi
    # Recreates this function's own folder for a different MPI library. CMake refuses a user's folder.
    library="$wrapper $(readlink -f "$wrapper")"
    if [ -e "$folder/mpicc" ] && [ "$(cat "$folder/mpicc")" != "$library" ]; then
        run rm -rf "$folder"
    fi
    if [ ! -e "$folder" ]; then
        mkdir -p "$folder"
        echo "$library" >"$folder/mpicc"
    fi
    run cmake -S "$COMMCOST_TOP" -B "$folder" "-DMPI_C_COMPILER=$wrapper" \
        ${launcher:+"-DCOMMCOST_MPIRUN_PROGRAM=$launcher"} "$@" || return 1
    run cmake --build "$folder" -j "$(getconf _NPROCESSORS_ONLN)"
}

# launch_words BUILD_FOLDER: prints the words that start a sweep's job, one per line: those of $LAUNCH, else the suite's
# (run_scripts/commcost/suite/launchers.py).
launch_words() {
    # shellcheck disable=SC2086  # a list of words
    words=$(if [ -n "${LAUNCH:-}" ]; then printf '%s\n' $LAUNCH; else commcost launcher "$1"; fi) || exit 1
    first=$(echo "$words" | head -n 1)
    command -v "$first" >/dev/null 2>&1 || die "LAUNCH: there is no $first"
    echo "$words"
}

# passing_signals COMMAND...: runs a command and forwards signals, SIGINT as SIGTERM (background processes ignore
# SIGINT). Returns its exit status. Sets signalled to the name of the last signal, or to nothing.
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
        # A signal only interrupts `wait`.
        [ "$passed_status" -gt 128 ] || break
        kill -0 "$passed_to" 2>/dev/null || break
    done
    trap - INT TERM USR1
    return "$passed_status"
}
