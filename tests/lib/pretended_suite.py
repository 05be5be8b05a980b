# SPDX-License-Identifier: BSD-3-Clause
"""run_suite.sh with programs and launchers that only pretend, so that what they do is known and
soon done."""

import collections
import os
import subprocess

from commands import command
from mpi_run import read, read_tsv
from processes import is_alive, wait_for

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(TOP, "run_scripts")
SUITE = os.path.join(SCRIPTS, "run_suite.sh")

# A benchmark that pretends: a row every --pause seconds, --rows of them, each with a
# word that no other row has. --fault is the fault after the first row.
PROGRAM = r"""#!/bin/sh
output= rows=3 pause=0 fault=
for option in "$@"; do
    case $option in
    --output=*) output=${option#*=} ;;
    --rows=*) rows=${option#*=} ;;
    --pause=*) pause=${option#*=} ;;
    --fault=*) fault=${option#*=} ;;
    esac
done
echo "$(basename "$0") $$" >>"$STARTED"
exec >"$output"
word=$(basename "$0")-$$
echo "# benchmark: $(basename "$0")"
echo "# date: $(date +%s.%N)"
for variable in $(echo "$COMMCOST_VARIABLES" | tr -d =); do
    eval "[ -z \"\${$variable+x}\" ] || echo \"# mpi_variable: $variable=\$$variable\""
done
echo "# columns: key=key value=less word=info samples=info status=info"
printf 'key\tvalue\tword\tsamples\tstatus\n'
echo "# note: the same in all"
echo "# warning: of $$"
echo "# note: row 1: of it"
echo "# warning: row 1: of it"
trap 'echo "# warning: interrupted by SIGTERM"; exit 1' TERM
row=1
while [ "$row" -le "$rows" ]; do
    sleep "$pause"
    status=ok
    [ "$fault" != wrong ] && [ "$fault" != wrong_killed ] || status=FAIL
    printf '%d\t%d.5\t%s\t%s\t%s\n' "$row" "$row" "$word" 30 "$status"
    [ "$row" -gt 1 ] || case $fault in
        exit) echo "broken on purpose" >&2; exit 3 ;;
        once) [ -e "$STARTED.once" ] || { touch "$STARTED.once"; exit 3; } ;;
        killed | wrong_killed) kill -KILL $$ ;;
        signal) echo "# warning: interrupted by SIGUSR1"; exit 1 ;;
        status0) echo "# warning: interrupted by SIGUSR1"; exit 0 ;;
        nothing) rm "$output"; exit 0 ;;
    esac
    row=$((row + 1))
done
case $fault in
    end_killed) kill -KILL $$ ;;
    rows) rows=$((rows + 1)) ;;
esac
status=0
[ "$fault" != wrong ] || status=1
echo "# end: $rows rows, exit $status"
case $fault in
    finalize) trap 'exit 1' TERM; sleep 30 ;;
    finalize_killed) kill -KILL $$ ;;
esac
echo "ended $$" >>"$STARTED.ended"
exit "$status"
"""

# A launcher that pretends: shows what it was called with, then is the program. As srun's, its ranks get no variables
# where a site sets it and --export doesn't.
LAUNCHER = r"""#!/bin/sh
case $1 in
--version) echo "VERSION"; exit ;;
esac
export=$SLURM_EXPORT_ENV
while [ "${1#/}" = "$1" ]; do
    case $1 in
    --export=*) export=${1#*=} ;;
    esac
    shift
done
[ "$export" != NONE ] || exec env -i "PATH=$PATH" "STARTED=$STARTED" "$@"
exec "$@"
"""

PROGRAMS = ["overlap/overlap_ibarrier", "overlap/overlap_ibcast", "overlap/overlap_sendrecv",
            "overlap/overlap_halo", "msgrate/msgrate", "msgrate/msgrate_rma",
            "pingpong/pingpong", "syncbench/syncbench", "halo/halo", "mpi_overhead/mpi_overhead",
            "monitor/monitor_overhead"]


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def await_file(path):
    assert wait_for(lambda: os.path.exists(path), 60), f"no {path}"


class Suite:
    """A build folder of pretending programs, a folder for results, and run_suite.sh with them."""

    __test__ = False

    def __init__(self, folder):
        # With a blank, since users have these, too.
        self.folder = folder / "a folder"
        self.build = self.folder / "build"
        self.results = self.folder / "results"
        for program in PROGRAMS:
            write_program(self.build / program, PROGRAM)
        for name, version in (("mpirun", "HYDRA build details:"),
                              ("orterun", "mpirun (Open MPI) 4.1.4"),
                              ("srun", "slurm 22.05.8"), ("other", "1.0")):
            write_program(self.folder / "bin" / name, LAUNCHER.replace("VERSION", version))
        self.environment = {**{name: value for name, value in os.environ.items()
                               if not name.startswith(("SLURM_", "PBS_"))},
                            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                            "STARTED": f"{self.folder}/started"}

    def line(self, *options, launcher="orterun"):
        words = ["sh", SUITE, f"--build={self.build}", *([f"--launcher={launcher}"] if launcher else [])]
        if not any(word.startswith("--resume") for word in options):
            words.append(f"--output={self.results}")
        return words + list(options)

    def run(self, *options, launcher="orterun", status=0):
        _, _, *words = self.line(*options, launcher=launcher)
        done = command("suite", *words, environment=self.environment)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def begin(self, *options):
        return subprocess.Popen(self.line(*options), env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def plan(self, *options, launcher="orterun"):
        """The lines of a dry run: run, name, command."""
        lines = self.run("--dry-run", *options, launcher=launcher).stdout.splitlines()
        assert "about" in lines[0]
        return [line.split("\t") for line in lines[1:]]

    def launch(self, launcher, *options, name="halo"):
        """Returns the words before the program of that name in the plan."""
        for line in self.plan("--runs=1", *options, launcher=launcher):
            if line[1] == name:
                return line[2].split(" '")[0]
        return None

    def of_suite(self, name):
        return self.results / "suite" / name

    def launches(self, *columns):
        """These columns of the records of launches."""
        return [tuple(row[column] for column in columns)
                for row in read_tsv(read(self.of_suite("launches.tsv")))]

    def started(self):
        """How often each program was started."""
        return collections.Counter(line.split()[0]
                                   for line in read(self.environment["STARTED"]).splitlines())

    def files(self):
        """Of each finished launch's file what changes when it is written again."""
        return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, read(path))
                for path in (self.results / "runs").glob("**/*.tsv")}

    def assert_kept(self, before):
        """Fails if a file that files() found before has changed."""
        found = self.files()
        assert {path: found.get(path) for path in before} == before

    def merged(self, name):
        return read_tsv(read(self.results / (name + ".tsv")))

    def assert_rows(self, name, runs, rows=3):
        """Each run's rows once, in order, all of them from one launch."""
        found = self.merged(name)
        expected = [(str(run), str(row))
                    for run in range(1, runs + 1) for row in range(1, rows + 1)]
        assert [(row["run"], row["key"]) for row in found] == expected
        words = {(row["run"], row["word"]) for row in found}
        assert (len(words), len({word for _, word in words})) == (runs, runs)

    def assert_nothing_left(self):
        """No half results, nothing at work."""
        for _, _, names in os.walk(self.results):
            assert not [name for name in names if name.endswith((".part", ".new"))]
        for line in read(self.environment["STARTED"]).splitlines():
            assert not is_alive(int(line.split()[1])), line
