# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare --find-why with a program and launchers that pretend: the launches, what it prints, and how it ends.
Whether its answers are right: tests/virtual/why_test.py."""

import re
import shlex

from case import each
from commands import command
from commcost.compare import side_settings
from mpi_run import read
from pretended_suite import write_program
from suite_test import SuiteCase

# Times in ns: slow with UCX_TLS=tcp, or if the launcher doesn't bind; UCX_BAD=1 fails.
PROGRAM = r"""#!/bin/sh
for option in "$@"; do
    case $option in
    --output=*) output=${option#*=} ;;
    esac
done
echo "$*" >>"$STARTED"
sleep "${PAUSE-0}"
time=100000
[ "$UCX_TLS" != tcp ] || time=200000
[ "$UCX_BAD" != 1 ] || { echo "Fatal error in PMPI_Init: no such device" >&2; exit 1; }
[ -z "$SLOW_UNBOUND$BOUND" ] || [ -n "$BOUND" ] || time=150000
time=$((time + $$ % 97 * 10))
run=${output%/*}
[ -z "$VARYING" ] || [ $(((${run##*/} + UCX_A) % 2)) = 0 ] || time=900000
exec >"$output"
echo "# benchmark: pingpong"
for variable in $(echo "$COMMCOST_VARIABLES" | tr -d =); do
    eval "[ -z \"\${$variable+x}\" ] || echo \"# mpi_variable: $variable=\$$variable\""
done
echo "# columns: pattern=key ndata=key latency_us=less status=info"
printf 'pattern\tndata\tlatency_us\tstatus\n'
printf 'MPI Send\t8\t%d.%03d\tok\nMPI Send\t64\t%d.%02d\tok\n' $((time / 1000)) $((time % 1000)) $((7 + 2 * UCX_B)) \
    $(($$ % 7))
echo "# end: 2 rows, exit 0"
"""
LAUNCHER = """#!/bin/sh
case $1 in --version) echo "HYDRA build details:"; exit ;; esac
case " $* " in *" -bind-to core "*) BOUND=1; export BOUND ;; esac
while [ "${1#/}" = "$1" ]; do shift; done
exec "$@"
"""
COMMAND = "/old place/pingpong --patterns=put,MPI Send -n 5 --max-time=0.1 --output=x y.tsv --dump-samples=z --format=tsv"


class Why(SuiteCase):
    def setUp(self):
        super().setUp()
        write_program(self.suite.build / "pingpong/pingpong", PROGRAM)
        write_program(self.suite.folder / "bin/mpirun", LAUNCHER)

    def side(self, name, time_us, *metadata):
        """A folder of eight launches with these lines of metadata."""
        for run in range(8):
            text = "".join(f"# {line}\n" for line in (
                "benchmark: pingpong", "ranks: 3", "nodes: 1", f"command: {COMMAND}", *metadata,
                "columns: pattern=key ndata=key latency_us=less status=info"))
            rows = f"pattern\tndata\tlatency_us\tstatus\nMPI Send\t8\t{time_us + run / 10:.1f}\tok\nMPI Send\t64\t7.0\tok\n"
            path = self.suite.folder / name / f"{run}.tsv"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + rows + "# end: 2 rows, exit 0\n", encoding="utf-8")
        return self.suite.folder / name

    def run_why(self, base, new, *options, **variables):
        return command("compare", "--find-why", base, new, f"--build={self.suite.build}", "--launcher=mpirun",
                       f"--output={self.suite.results}", *options,
                       environment={**self.suite.environment, "LC_ALL": "C.UTF-8", **variables})

    def why(self, base, new, *options, status=0, **variables):
        """Returns stdout and stderr for sides with these metadata."""
        done = self.run_why(self.side("base", 100, *base), self.side("new", 200, *new), *options, **variables)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout, done.stderr

    def test_cause(self):
        """Launches have the recorded options and ranks, and the variables of both sides, and no others."""
        output, errors = self.why(["mpi_variable: UCX_A=1", "mpi_variable: FI_X=1", "kernel: 1"],
                                  ["mpi_variable: UCX_TLS=tcp", "mpi_variable: UCX_A=2", "mpi_variable: FI_X=1",
                                   "mpi_variable: UCX_FILE=/tmp/x", "mpi_variable: OMPI_MCA_plm_rsh_agent=x", "kernel: 2"],
                                  UCX_OTHER="1")
        assert re.fullmatch("pingpong, ndata 8, latency_us: 2.0 × slower because of UCX_TLS=tcp \\((99|100|101) % of the change\\)\n",
                            output), output
        first, row, *lines = errors.splitlines()[5:]
        assert row == "Row to explain: pingpong, ndata 8, latency_us: 2.0 × slower"
        assert re.fullmatch("2 settings of pingpong, at most 10 min: .*results", first), errors
        assert [line[:-1] for line in lines[:2]] == ["Launch 1: base: latency_us 10", "Launch 2: new: latency_us 20"]
        assert any(re.match("Launch 1?[0-9]: base with UCX_TLS=tcp: latency_us 20[01]", line) for line in lines)
        assert len(lines) == len(read(self.suite.environment["STARTED"]).splitlines())
        started = read(self.suite.environment["STARTED"]).splitlines()[0]
        assert started.startswith("-n 5 --max-time=0.1 --patterns=MPI Send --output="), started
        plan = [line.split("\t")[2] for line in read(self.suite.of_suite("plan.tsv")).splitlines()[1:]]
        base, new = map(shlex.split, plan)
        assert base[:6] == ["env", "-u", "UCX_OTHER", "-u", "UCX_TLS", "FI_X=1"] and "UCX_A=1" in base
        assert {"UCX_A=2", "UCX_TLS=tcp", "FI_X=1"} < set(new) and not any("UCX_FILE" in word for word in new)
        assert new[new.index("-np") + 1] == "3"

    def test_none(self):
        """Other differences, and variables that weren't tried; none at all."""
        output, _ = self.why(["mpi_variable: UCX_A=1", "mpi_library: MPICH 4"],
                             ["mpi_variable: UCX_A=2", "mpi_variable: UCX_FILE=/tmp/x", "mpi_library: MPICH 5"], status=1)
        assert re.sub("1.0[01]", "1.0", output) == (
            "pingpong, ndata 8, latency_us: 2.0 × slower, but not because of the settings that differ (with those of new: 1.0 ×)\n"
            "Look at:\n- library: MPICH 4 in base, MPICH 5 in new\n"
            "- UCX_FILE was not tried, since it names a file: use --also=UCX_FILE\n"), output
        output, _ = self.why([], ["mpi_library: MPICH 5"], "--output=other", status=1)
        assert output.endswith("measure both sides again, alternately.\n")

    def test_rows(self):
        """Each row has its cause. Other programs that changed are named."""
        base, new = self.side("base", 100), self.side("new", 200, "mpi_variable: UCX_B=1", "mpi_variable: UCX_TLS=tcp")
        for folder, time_us in ((base, "7.0"), (new, "9.0")):
            for run in range(8):
                path = folder / f"{run}.tsv"
                text = path.read_text(encoding="utf-8").replace("\t7.0", f"\t{time_us}{run}")
                path.write_text(text, encoding="utf-8")
                (folder / f"halo{run}.tsv").write_text(text.replace(": pingpong", ": halo").replace("200.", "120."),
                                                       encoding="utf-8")
        done = self.run_why(base, new)
        assert re.sub("(99|101) %", "100 %", done.stdout) == (
            "pingpong, ndata 8, latency_us: 2.0 × slower because of UCX_TLS=tcp (100 % of the change)\n"
            "pingpong, ndata 64, latency_us: 28 % slower because of UCX_B=1 (100 % of the change)\n"
            "Other programs changed, too (halo): use their files instead of folders\n"), done.stdout + done.stderr

    def test_not_clear(self):
        """Launches vary too much to exclude the settings."""
        output, _ = self.why(["mpi_variable: UCX_A=1"], ["mpi_variable: UCX_A=2"], VARYING="1", status=1)
        assert output == "pingpong, ndata 8, latency_us: 2.0 × slower. Not clear: launches vary too much\n", output

    def test_binding(self):
        output, _ = self.why(["binding: 0: 0; 1: 1; 2: 2"], ["binding: each rank: 0-2"], SLOW_UNBOUND="1", status=0)
        assert "1.5" not in output and "because of binding=none (50 % of the change)" in output

    def test_failing(self):
        output, _ = self.why([], ["mpi_variable: UCX_BAD=1"], status=1)
        assert output == ("pingpong, ndata 8, latency_us: 2.0 × slower. Launches fail: new: refused: "
                          "Fatal error in PMPI_Init: no such device\n"), output

    def test_resumed(self):
        """The time limit ends the search with what is suspected; launches that were made aren't repeated."""
        base, new = ([f"mpi_variable: UCX_{name}={side}" for name in "ABC"] for side in (1, 2))
        new.append("mpi_variable: UCX_TLS=tcp")
        output, errors = self.why(base, new, "--time-limit=4", status=1, PAUSE="0.3")
        assert output == ("The time limit ended the search. Still suspected: UCX_A=2, UCX_B=2, UCX_C=2 and "
                          "UCX_TLS=tcp\n"), output
        assert re.search("To resume: .*bench_compare --resume=.* --find-why .*base' .*new'\n$", errors), errors
        made = errors.count("Launch ")
        output, errors = self.why(base, new, f"--resume={self.suite.results}")
        assert "because of UCX_TLS=tcp" in output
        assert f"Launch {made + 1}: " in errors and f"Launch {made}: " not in errors

    def test_usage(self):
        for base, new, options, message in (
                ([], ["mpi_variable: UCX_A=1"], ["--build=/"], "/ has no program of pingpong: build it"),
                ([], [], ["--time-limit=0"], "--time-limit"),
                ([], ["mpi_variable: UCX_A=1"], ["--also=UCX_B"], "--also=UCX_B: neither side has this variable"),
                ([], ["check: yes"], [], "use results of the same options, ranks and nodes")):
            done = command("compare", "--find-why", self.side("base", 100, *base, "check: no"),
                           self.side("new", 200, *new), f"--build={self.suite.build}", *options,
                           environment=self.suite.environment)
            assert done.returncode in (1, 2) and message in done.stderr, done.stderr
        done = command("compare", "--find-why", self.side("base", 100), environment=self.suite.environment)
        assert done.returncode == 2 and "NEW" in done.stderr

    def test_variables_of_scripts(self):
        """Variables that a script names are tried. The launcher's are not."""
        settings = side_settings.settings_of({}, {"mpi_variable": ["OMP_NUM_THREADS=2", "HYDRA_TOPO_DEBUG=1"]})
        assert [str(one) for one in settings.differing] == ["OMP_NUM_THREADS=2"] and not settings.left_out

    @each("name, values, reason", [
        ("UCX_TLS", ("", "sm,tcp"), ""), ("OMPI_MCA_btl_tcp_if_include", ("", "10.0.0.0/24"), ""),
        ("LD_PRELOAD", ("", "x"), "is no variable of an MPI library"), ("HYDRA_LAUNCHER_EXEC", ("", "x"), "may start a program"),
        ("OMPI_MCA_plm_rsh_agent", ("", "x"), "may start a program"), ("UCX_MODULE_DIR", ("", "x"), "may start a program"),
        ("UCX_GDB_COMMAND", ("", "x"), "may start a program"),
        ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", ("", "/tmp/x"), "names a file")])
    def test_trust(self, name, values, reason):
        assert side_settings.reason_against(name, values) == reason
