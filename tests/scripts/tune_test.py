# SPDX-License-Identifier: BSD-3-Clause
"""tune.sh with a collective that pretends, under a launcher that pretends: faults, interruptions, bad input, and what
it writes. Whether its files are right: tests/virtual/tune_test.py."""

import json
import os
import re
import signal
import subprocess
import unittest.mock
import xml.etree.ElementTree

import suite_test
from case import Case, call, each
from commands import command
from commcost.suite import launchers, processor_count
from commcost.tune import algorithm_race, library_tuning, mpi_libraries
from mpi_run import read, read_tsv
from pretended_suite import SCRIPTS, write_program
from processes import wait_for
from suite_test import SuiteCase

# Times in ns. `way1` gains 30 %, `way2` 2 %; others have faults. What an MPICH has in its file stands below the end. In
# processes of their own scripts know no algorithms but the library's: recursive_doubling is a way1, nb hangs.
PROGRAM = r"""#!/bin/sh
output= operations= sizes=0
for option in "$@"; do
    case $option in
    --output=*) output=${option#*=} ;;
    --operations=*) operations=${option#*=} ;;
    --sizes=*) sizes=${option#*=} ;;
    esac
done
name=$MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM$MY_VARIABLE
file=$MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE
status=ok
if [ -n "$file" ]; then
    case $FAULT in
    rejects) echo "unknown key in $file" >&2; kill -ABRT $$ ;;
    ignores) ;;
    *) ! grep -qE 'intra_(way1|recursive_doubling)' "$file" || name=way1 ;;
    esac
fi
echo "collective $$ ${name:-default} $sizes" >>"$STARTED"
time=100000
case $name in
way1 | recursive_doubling) time=70000 ;;
way2) time=98000 ;;
crash) kill -SEGV $$ ;;
hang | nb) exec sleep 1000 ;;
wrong) status=FAIL ;;
error) echo "Fatal error in PMPI_Allreduce: Other MPI error" >&2; exit 1 ;;
esac
[ "$name$FAULT" != defaultless ] || exit 3
exec >"$output"
echo "# benchmark: collective"
echo "# mpi_library: MPICH 4.0 (pretended)"
for variable in $(echo "$COMMCOST_VARIABLES" | tr -d =); do
    eval "[ -z \"\${$variable+x}\" ] || echo \"# mpi_variable: $variable=\$$variable\""
done
[ -z "$WARNING" ] || { echo "# warning: $WARNING"; echo "# warning: row 1 uses $$ rounds"; }
echo "# columns: operation=key size_bytes=key time_us=less status=info"
printf 'operation\tsize_bytes\ttime_us\tstatus\n'
rows=0
for operation in $(echo "$operations" | tr , ' '); do
    for size in $(echo "$sizes" | tr , ' '); do
        spent=$((time + $$ % 97 * 10 + rows))
        printf '%s\t%d\t%d.%03d\t%s\n' "$operation" "${size%K}" $((spent / 1000)) $((spent % 1000)) "$status"
        rows=$((rows + 1))
    done
done
[ "$status" = ok ] && code=0 || code=1
echo "# end: $rows rows, exit $code"
exit "$code"
"""
TREE = {f"collective={name}": {"comm_type=intra": {f"algorithm=MPIR_{name.capitalize()}_intra_usual": {}}}
        for name in ("bcast", "allreduce")}
NAMES = ("way1", "way2", "crash", "hang", "wrong", "error")
MPICH = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE\0" + json.dumps(TREE, separators=(",", ":")) + "\0"
# MPICH's program that prints variables: as 4.1 and newer, whose descriptions have lines.
MPIVARS = r"""#!/bin/sh
value=${MPIR_PARAM_ALLREDUCE_INTRA_ALGORITHM-${MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM-0}}
value=${MPICH_ALLREDUCE_INTRA_ALGORITHM-$value}
printf '\t%-32s=%s\tSCOPE\tMPI_INT\t%s\n' \
    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM "$value" 'Variable to select allreduce algorithm' \
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE "$MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE" 'Defines the location' \
    MPIR_CVAR_CTXID_EAGER_SIZE "${MPIR_CVAR_CTXID_EAGER_SIZE-2}" 'The' |
    sed 's/select allreduce algorithm/&\nauto - Internal\nNAMES/'
"""
VARIABLE = "--choices=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM="
SAFE = mpi_libraries.Mpich.SAFE
LAUNCHES = 12  # of each in a race and a proof of one size
EXPORT = "export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="


class TuneCase(SuiteCase):
    library = MPICH

    def setUp(self):
        super().setUp()
        self.make(self.library)
        self.offer(*NAMES)

    def make(self, library):
        """The program, and what it has of an MPI library."""
        write_program(self.suite.build / "collective/collective", PROGRAM + library)

    def offer(self, *names):
        """Sets the algorithms that the library has for allreduce, all of them safe."""
        write_program(self.suite.folder / "bin/mpivars", MPIVARS.replace("NAMES", "".join(
            f"{name:<12} - Force {name}\\n" for name in (*names, "recursive_doubling", "nb", "k_nb"))))
        self.replace(mpi_libraries.Mpich, "SAFE", {"allreduce": names})

    def line(self, *options):
        there = not any(option.startswith(("--output", "--resume")) for option in options)
        return ["sh", f"{SCRIPTS}/tune.sh", f"--build={self.suite.build}", "--launcher=mpirun", "--ranks=4",
                "--launches=12", *([f"--output={self.suite.results}"] if there else []), *options]

    def tune(self, *options, status=0, **variables):
        done = command("tune", *self.line(*options)[2:], environment={**self.suite.environment, **variables})
        assert done.returncode == status, done.stdout + done.stderr
        assert status != 2 or len(done.stderr.splitlines()) == 1, done.stderr
        return done

    def started(self):
        """The choices and sizes of all launches."""
        return [tuple(line.split()[2:]) for line in read(self.suite.environment["STARTED"]).splitlines()]

    def evidence(self):
        return {int(row["size_bytes"]): row for row in read_tsv(read(self.suite.results / "evidence.tsv"))}


class Levels(Case):
    @each("cut", ["", "A", "AA", "AB", "ABA", "ABCBA", "ABCDE"])
    @each("whole", "ABCDEF")
    def test_together(self, cut, whole):
        """Files that were proved when a budget ended the race, and the last one: the levels are ALPHA together."""
        levels = {}
        for place, file in enumerate(cut + whole):
            level = algorithm_race.level_of(file, cut[:place], place < len(cut))
            levels[file] = max(level, levels.get(file, 0))
        self.assertAlmostEqual(sum(levels.values()), algorithm_race.ALPHA)
        assert min(levels.values()) >= algorithm_race.ALPHA / 2 ** len(levels)
        assert algorithm_race.level_of(whole, [], False) == algorithm_race.ALPHA


class Mpich(TuneCase):
    def test_list(self):
        write_program(self.suite.folder / "bin/mpichversion", "#!/bin/sh\necho 'MPICH Version:    \t4.2.0rc1'\n")
        done = self.tune("--list")
        assert done.stdout.splitlines() == [
            f"# MPICH 4.2.0rc1 ({self.suite.build}/collective/collective)",
            "allreduce (MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM)", "    crash, error, hang, way1, way2, wrong",
            "# All of them: 21 to 132 launches, about 34 s to 4 min"], done.stdout
        assert not self.suite.results.exists()

    def test_list_is_narrow(self):
        self.offer(*(f"way_{number}" for number in range(20)))
        assert max(map(len, self.tune("--list").stdout.splitlines()[1:])) <= 100

    def test_list_without_parameters(self):
        """A file would have to have the parameters of an algorithm."""
        self.offer("k_reduce_scatter_allgather", "recexch", "reduce_scatter_allgather", "tree")
        self.replace(mpi_libraries.Mpich, "SAFE", SAFE)
        assert "    nb, recursive_doubling, reduce_scatter_allgather" in self.tune("--list").stdout.splitlines()

    def test_dry_run(self):
        """Prints how long it will take, as the run does."""
        done = self.tune(f"{VARIABLE}way1,way2", "--sizes=8,64", "--dry-run")
        head, *commands = [line for line in done.stdout.splitlines() if not line.startswith("# warning: ")]
        # 1 s and 0.1 s for each size: three settings, and two in the proof.
        assert head == "# 9 to 84 launches, about 11 s to 101 s; the first of each choice:", done.stdout
        assert len(commands) == 3 and "_ALGORITHM=way2" in commands[2], commands
        assert not self.suite.results.exists() and not os.path.exists(self.suite.environment["STARTED"])
        done = self.tune(f"{VARIABLE}way1,way2", "--sizes=8,64", "--budget=40", "--dry-run")
        assert "# 9 to 84 launches, about 11 s to 101 s, of which 40 s now; the first" in done.stdout, done.stdout
        done = self.tune(f"{VARIABLE}way1,way2", "--sizes=8,64", "--budget=1h")
        assert "This takes 9 to 84 launches, about 11 s to 101 s, of which 60 min now\n" in done.stderr, done.stderr
        assert re.search(r"launch 3 of at most 12: .* 2 choices left, at most [0-9]+ s\n", done.stderr), done.stderr

    def test_rule_and_faults(self):
        """The best choice is found, and choices that don't work are taken out and reported."""
        done = self.tune("--sizes=8,64", "--limit=1")
        rows = self.evidence()
        assert [(rows[size]["choice"], rows[size]["verdict"]) for size in (8, 64)] == [("way1", "holds")] * 2
        assert abs(float(rows[8]["gain_pct"]) - 30) < 1 and abs(float(rows[8]["found_pct"]) - 30) < 1
        tree = json.loads(read(self.suite.results / "rules.json"))["collective=allreduce"]["comm_type=intra"]
        usual = {"algorithm=MPIR_Allreduce_intra_usual": {}}
        assert tree == {"comm_size<=3": usual, "comm_size<=4": {
            "avg_msg_size<=7": usual, "avg_msg_size<=64": {
                "is_op_built_in=no": usual, "is_op_built_in=yes": {"algorithm=MPIR_Allreduce_intra_way1": {}}},
            "avg_msg_size=any": usual}, "comm_size=any": usual}, tree
        for text in ("crash, 4 ranks: crash", "hang, 4 ranks: hang", "wrong, 4 ranks: wrong data",
                     "error, 4 ranks: refused: Fatal error in PMPI_Allreduce", EXPORT, "8 to 64 bytes"):
            assert text in done.stdout, text + "\n" + done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 100 + len(str(self.suite.results))
        counts = {choice: [name for name, _ in self.started()].count(choice) for choice, _ in self.started()}
        # 6 of them are the proof's.
        assert counts == {"default": 18, "way1": 18, "way2": 3, "crash": 1, "hang": 1, "wrong": 1, "error": 1}, counts
        page = xml.etree.ElementTree.parse(self.suite.results / "tune.html")
        assert "way1" in "".join(page.getroot().itertext())
        self.suite.assert_nothing_left()

    def test_nothing_to_gain(self):
        done = self.tune(f"{VARIABLE}way2", "--sizes=8")
        assert "No rule: no choice is certain to save 5 %." in done.stdout
        assert not (self.suite.results / "rules.json").exists()
        assert self.evidence()[8]["reason"] == "no choice gains 5 %"
        assert len(self.started()) == 6
        assert re.search("^allreduce +-$", done.stdout, re.M), done.stdout

    def test_nothing_known(self):
        """If no choice works, the library's own isn't called as good."""
        done = self.tune(f"{VARIABLE}crash", "--sizes=8")
        assert re.search(r"^allreduce +\?$", done.stdout, re.M), done.stdout

    @each("fault, status, text", [
        ("ignores", 0, "way1: 30 %"), ("rejects", 1, "allreduce file, 4 ranks: crash")])
    def test_file_without_effect(self, fault, status, text):
        """A rule that doesn't hold is taken out; so is an older file."""
        self.suite.results = self.suite.folder / fault
        self.suite.of_suite("lock").parent.mkdir(parents=True)
        self.suite.of_suite("lock").touch()  # it was begun before
        (self.suite.results / "rules.json").write_text("old")
        done = self.tune(f"{VARIABLE}way1", "--sizes=8", status=status, FAULT=fault)
        assert text in done.stdout, done.stdout
        assert not (self.suite.results / "rules.json").exists()
        assert self.evidence()[8]["verdict"] == "taken out"

    def test_interrupted(self):
        """It is resumed, and decides as if it hadn't been interrupted."""
        options = (f"{VARIABLE}recursive_doubling,nb", "--sizes=8")
        self.replace(mpi_libraries.Mpich, "SAFE", {"allreduce": ("recursive_doubling", "nb")})
        with subprocess.Popen(self.line(*options), env=self.suite.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            assert wait_for(lambda: os.path.exists(self.suite.environment["STARTED"]) and
                            " nb " in read(self.suite.environment["STARTED"]))
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=30)[1]
        assert process.returncode == 1 and "without a file. To resume: " in said, said
        assert os.path.samefile(said.split("To resume: ")[1].split(" --")[0], f"{SCRIPTS}/tune.sh"), said
        assert not list(self.suite.results.glob("rules*"))
        before = self.started()
        resume = f"--resume={self.suite.results}"
        done = self.tune(resume, *options, "--ranks=2", status=2)
        assert "was begun with other options" in done.stderr
        assert f"{options[0]} is not taken" in self.tune(
            resume, status=2).stderr
        self.tune(resume, options[0], "--limit=10")
        assert self.evidence()[8]["verdict"] == "holds"
        assert len(self.started()) == 3 * LAUNCHES + 1 + before.count(("nb", "8"))
        # All is recorded.
        done = self.tune(resume, options[0], "--dry-run")
        assert f" ({3 * LAUNCHES + 1} launches made before); the first" in done.stdout, done.stdout
        done = self.tune(resume, *options)
        assert len(self.started()) == 3 * LAUNCHES + 1 + before.count(("nb", "8"))
        # Of earlier launches it reports the end alone.
        assert [line.split(" decided")[0] for line in done.stderr.splitlines() if " of at most " in line] == [
            "Race, launch 6 of at most 12: 1 of 1 case", "Proof, launch 12 of at most 24: 1 of 1 case"], done.stderr

    def test_budget(self):
        """Cases that aren't clear when it ends are left to the library."""
        done = self.tune(f"{VARIABLE}way1,hang", "--sizes=8", "--budget=5", status=1)
        assert "The budget ended before all decisions. To resume: " in done.stderr, done.stderr
        assert "the budget ended before a decision" in self.evidence()[8]["reason"]
        assert read(self.suite.results / "evidence.tsv").endswith("# end: 1 row, exit 1\n")
        assert not (self.suite.results / "rules.json").exists()

    use_small_fs, fill = suite_test.Disk.use_small_fs, suite_test.Disk.fill

    def test_full_disk(self):
        """The error names a file that couldn't be written; with space it continues."""
        self.use_small_fs()
        ballast = self.fill("ballast", 0)
        done = self.tune(f"{VARIABLE}way1", "--sizes=8", status=1)
        assert re.fullmatch(f"tune.sh: '{self.suite.results}/suite/[a-z.]+': No space left on device\n",
                            done.stderr.splitlines(keepends=True)[-1]), done.stderr
        ballast.unlink()
        self.tune(f"{VARIABLE}way1", "--sizes=8")
        assert self.evidence()[8]["verdict"] == "holds"
        self.suite.assert_nothing_left()

    @each("option, text", [
        ("--operations=allreduce,nonsense", "has no choice of nonsense"),
        ("--choices=MPIR_CVAR_NONSENSE=a", "has no choice of MPIR_CVAR_NONSENSE"),
        (f"{VARIABLE}nonsense", "has no value 'nonsense'"), ("--choices=A", "use VARIABLE=A,B,C"),
        ("--choices=A=,", "use VARIABLE=A,B,C"), ("--sizes=7", "use multiples of 8"),
        ("--sizes=1G", "exceed 2 GiB"),
        ("--ranks=1", "use numbers from 2"), ("--launches=5", "use 6 to 99"),
        ("--min-gain=0", "use a number from"),
        ("--budget=x", "use a time like"), ("--limit=0", "needs at least 1 s"), ("--max-time=0", "use seconds"),
        ("--resume=/no/such", "no folder '/no/such'")])
    def test_bad_input(self, option, text):
        done = self.tune(option, status=2)
        assert text in done.stderr, done.stderr
        assert not self.suite.results.exists()

    @each("prefix, name", [("MPIR_CVAR", "COLL_SELECTION_TUNING_JSON_FILE"), ("MPIR_CVAR", "ALLREDUCE_INTRA_ALGORITHM"),
                           ("MPICH", "ALLREDUCE_INTRA_ALGORITHM"), ("MPIR_PARAM", "ALLREDUCE_INTRA_ALGORITHM")])
    def test_variables_that_are_set(self, prefix, name):
        """By any name that the library knows."""
        done = self.tune("--dry-run", status=2, **{f"{prefix}_{name}": "1"})
        assert f"MPIR_CVAR_{name} is set (environment, as MPIR_CVAR_{name} or MPIR_PARAM_{name} or MPICH_{name}): " in (
            done.stderr), done.stderr

    def test_variables_that_only_ranks_have(self):
        """For example those of a launcher's own file."""
        write_program(self.suite.folder / "bin/mpirun", """#!/bin/sh
            [ "$1" != --version ] || { echo "HYDRA build details:"; exit; }
            while [ "${1#/}" = "$1" ]; do shift; done
            MPICH_ALLREDUCE_INTRA_ALGORITHM=1 exec "$@"
            """)
        assert "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM is set" in self.tune("--dry-run", status=2).stderr

    def test_library_that_cant_be_asked(self):
        write_program(self.suite.folder / "bin/mpirun", """#!/bin/sh
            [ "$1" != --version ] || echo "HYDRA build details:"
            """)
        done = self.tune("--dry-run", status=1)
        assert "mpivars reports no variables of the library in a launch: try mpirun -np " in done.stderr

    @each("library, tool", [(MPICH, "mpivars"), ("ompi_mpi_comm_world", "ompi_info")])
    def test_library_without_its_program(self, library, tool):
        """A variable of --choices isn't taken without a list of those that are safe."""
        self.make(library)
        (self.suite.folder / "bin/mpivars").chmod(0o644)
        done = self.tune("--choices=MY_VARIABLE=a", "--operations=bcast", status=1, PATH=f"{self.suite.folder}/bin")
        assert f"tune.sh: no {tool} of {self.suite.build}/collective/collective: add its folder to PATH" in done.stderr
        assert not self.suite.results.exists()

    def test_other_variables(self):
        """A variable that doesn't force a choice is named."""
        done = self.tune(f"{VARIABLE}way2", "--sizes=8", MPIR_CVAR_CTXID_EAGER_SIZE="3")
        assert "; with MPIR_CVAR_CTXID_EAGER_SIZE (environment" in re.sub(r"\s+", " ", done.stdout), done.stdout
        assert "# note: also set: MPIR_CVAR_CTXID_EAGER_SIZE (" in read(self.suite.results / "evidence.tsv")

    def test_settings_reach_the_ranks(self):
        """Launches that are all alike race for nothing."""
        done = self.tune(f"{VARIABLE}way1", "--sizes=8", "--launcher=srun --export=NONE", status=1)
        assert "its ranks had MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM unset, not way1: the launcher doesn't" in done.stderr
        assert not list(self.suite.results.glob("evidence*"))

    def test_warnings(self):
        """The warnings of launches' results are shown, and those that are known before a launch."""
        done = self.tune(f"{VARIABLE}way2", "--sizes=8", WARNING="oversubscribed: of it")
        text = "oversubscribed: of it (in 6 of 6 launches)"
        assert text in done.stdout and "row … uses … rounds (in 6 of 6 launches)" in done.stdout, done.stdout
        assert f"# warning: {text}\n" in read(self.suite.results / "evidence.tsv")
        assert text in read(self.suite.results / "tune.html")
        done = self.tune(f"{VARIABLE}way2", "--sizes=8", "--dry-run")
        assert f"# warning: {text}\n" in done.stdout, done.stdout
        self.suite.results = self.suite.folder / "others"
        for ranks, warns in ((2, processor_count.ranks_with_room() < 2), (1000, True)):
            done = self.tune(f"{VARIABLE}way2", "--sizes=8", "--dry-run", f"--ranks={ranks}")
            assert ("# warning: oversubscribed: " in done.stdout) == warns, done.stdout
        for option, job in (("--hosts=a,b", ""), ("--launcher=mpirun", "1"), ("--launcher=srun", "")):  # on other nodes
            done = self.tune(f"{VARIABLE}way2", "--sizes=8", "--dry-run", "--ranks=1000", option, SLURM_JOB_ID=job)
            assert "# warning: oversubscribed: " not in done.stdout, done.stdout


class Others(TuneCase):
    """Open MPI, and a library that isn't known."""

    library = ""

    @each("library", ["", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE\0{\"collective=bcast\": "])
    def test_no_variables(self, library):
        """Also of an MPICH whose tree isn't there as 4.0 has it."""
        self.make(library)
        for options, text in (((), "no known variables: use --choices='VARIABLE=A,B'"),
                              (("--choices=MY_VARIABLE=way1",), "add --operations=")):
            assert text in self.tune(*options, status=2).stderr

    def test_shell_file(self):
        done = self.tune("--choices=MY_VARIABLE=way1,way2", "--operations=bcast,reduce", "--sizes=8,16")
        text = read(self.suite.results / "rules.sh")
        assert [line for line in text.splitlines() if not line.startswith("#")] == ["export MY_VARIABLE='way1'"], text
        assert "# bcast, 4 ranks, 8 to 16 bytes: way1" in text
        assert "/rules.sh'" in done.stdout

    def test_openmpi(self):
        write_program(self.suite.folder / "bin/ompi_info", """#!/bin/sh
            echo "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:0:ignore"
            echo "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:chain"
            echo "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:4:split_binary_tree"
            echo "mca:coll:tuned:param:coll_tuned_bcast_algorithm:source:$SOURCE"
            echo "mca:coll:tuned:param:coll_tuned_bcast_algorithm_chain_fanout:value:4"
            name=coll_tuned_dynamic_rules_filename
            echo "mca:coll:tuned:param:$name:value:$OMPI_MCA_coll_tuned_dynamic_rules_filename"
            """)
        program = PROGRAM
        for mpich, openmpi in (("grep -qE 'intra_(way1|recursive_doubling)' \"$file\"", 'grep -q "^8 1 4 0" "$file"'),
                               ("way1 | ", "chain | way1 | "),
                               ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "OMPI_MCA_coll_tuned_dynamic_rules_filename"),
                               ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "OMPI_MCA_coll_tuned_bcast_algorithm")):
            program = program.replace(mpich, openmpi)
        write_program(self.suite.build / "collective/collective", program + "ompi_mpi_comm_world")
        assert "coll_tuned_bcast_algorithm is set (file (a:3)): unset it" in self.tune(
            "--dry-run", status=2, SOURCE="file (a:3)").stderr
        self.suite.environment["SOURCE"] = "default"
        assert "has no value 'split_binary_tree'" in self.tune(
            "--choices=OMPI_MCA_coll_tuned_bcast_algorithm=split_binary_tree", status=2).stderr
        done = self.tune("--sizes=8")
        text = read(self.suite.results / "rules.conf")
        numbers = [word for line in text.splitlines() for word in line.split("#")[0].split()]
        assert numbers == "1 7 3 0 1 0 0 0 0 4 3 0 0 0 0 8 1 4 0 9 0 0 0 5 1 0 0 0 0".split(), text
        assert "Open MPI has the name of the file (ompi_info)." in done.stdout, done.stdout
        assert "OMPI_MCA_coll_tuned_use_dynamic_rules=1" in done.stdout


class RealCase(Case):
    """With the real library."""

    def setUp(self):
        super().setUp()
        self.launcher_of_build = launchers.find("", self.build)
        self.program = self.built(library_tuning.BENCHMARK)
        self.library, _ = mpi_libraries.library_of(self.program, self.launcher_of_build)


class Rules(RealCase):
    def test_every_call(self):
        """No rule that can be written makes a right program wrong."""
        contests = self.library.contests()
        # MPICH polls: more ranks on two processors take minutes.
        most = 9 if self.full else 5 if self.library.name == "Open MPI" else 3
        for place in range(max(len(contest.choices) for contest in contests)):
            rules = [mpi_libraries.Rule(contest, contest.name, ranks, 8, 1 << 16, contest.choices[place])
                     for contest in contests for ranks in range(2, most + 1)
                     if place < len(contest.choices) and self.library.fits(contest.name, contest.choices[place], ranks)]
            path = self.folder / f"{place}{self.library.suffix}"
            path.write_text(self.library.file_text(rules, []))
            variables = self.library.file_variables(str(path), rules)
            launch = self.launcher_of_build.line(launchers.Job(most), launchers.Launch(most, 1, variables))
            done = call([*launch, self.built("tests/scripts/every_call")], env={**os.environ, **variables})
            assert done.returncode == 0, f"{sorted({rule.choice for rule in rules})}\n{done.stdout}{done.stderr}"


class Real(RealCase):
    def works(self, operation, ranks, size, variables):
        """True if a launch with these variables ends as it should."""
        launch = self.launcher_of_build.line(launchers.Job(ranks), launchers.Launch(ranks, 1, variables))
        done = call([*launch, self.program, "--start=barrier", "--check", f"--operations={operation}", f"--sizes={size}",
                     "--max-time=0.01"], env={**os.environ, **variables})
        return done.returncode == 0

    def contest(self, operation):
        return next(contest for contest in self.library.contests() if contest.name == operation)

    def test_rule_takes_effect(self):
        """A rule counts for its own sizes and ranks alone: one for 64 bytes of three ranks has an algorithm that can't
        be used there."""
        operation, choice = {"MPICH": ("allgather", "recursive_doubling"), "Open MPI": ("alltoall", "two_proc")}[
            self.library.name]
        rules = [mpi_libraries.Rule(self.contest(operation), operation, 3, 64, 64, choice)]
        path = self.folder / ("rules" + self.library.suffix)
        path.write_text(self.library.file_text(rules, ["a comment: 1 2 3"]))
        variables = self.library.file_variables(str(path), rules)
        found = {(ranks, size): self.works(operation, ranks, size, variables)
                 for ranks, size in ((2, 64), (3, 56), (3, 64), (3, 72), (4, 64))}
        assert found == {(2, 64): True, (3, 56): True, (3, 64): False, (3, 72): True, (4, 64): True}, found

    def test_changed_variables(self):
        """Wherever they are from."""
        (self.folder / ".openmpi").mkdir()
        (self.folder / ".openmpi/mca-params.conf").write_text("coll_tuned_allreduce_algorithm = 4\n")
        name, variables, source = {
            "MPICH": ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", {"MPICH_ALLREDUCE_INTRA_ALGORITHM": "smp"}, "environment"),
            "Open MPI": ("coll_tuned_allreduce_algorithm", {"HOME": str(self.folder)},
                         f"file ({self.folder}/.openmpi")}[self.library.name]
        line = self.launcher_of_build.line(launchers.Job(2), launchers.Launch(1, 1, {}))
        assert not any(re.fullmatch(self.library.FORCING, name) for name in self.library.changed_variables(line, []))
        with unittest.mock.patch.dict(os.environ, variables):
            found = self.library.changed_variables(line, [])
        assert re.fullmatch(self.library.FORCING, name) and found[name].startswith(source), found

    def test_choices_work(self):
        """No choice ends jobs since some call, such as one that the library makes inside, can't use it."""
        contest = self.contest("allreduce")
        assert [choice for choice in contest.choices
                if not self.works("allreduce", 2, "64K", self.library.variables(contest, choice))] == []
