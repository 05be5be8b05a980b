"""Bad input for the scripts: hostile values of options, hostile names, and results that are
damaged. What they are given is taken as it is or refused in a line; never executed."""

import os
import random
import re
import shlex
import shutil
import subprocess
import xml.dom.minidom

import pytest

from made_results import ALL, METADATA, MadeResults, text_of, tsv
from mpi_run import read
from pretended_suite import SCRIPTS, SUITE, TOP, Suite, write_program

# What a shell, awk, sed or gnuplot says of what it can't read.
COMPLAINTS = re.compile(r"syntax error|not found|Illegal number|unterminated|awk: |sed: |"
                        r"bad substitution|unexpected|Usage: (mkdir|cp|ls|rm)|invalid option|"
                        r"gnuplot could not|Traceback")


class Trap:
    """A file that is made if a shell evaluates one of these texts."""

    __test__ = False

    def __init__(self, folder):
        folder.mkdir()  # without a blank
        self.folder = folder
        self.file = folder / "sprung"
        self.touch = touch = f"touch {self.file}"
        self.texts = [
            f"$({touch})", f"`{touch}`;{touch}&{touch}|{touch}", f"';{touch};'\"$({touch})\"", "*",
            "?[a-z]*", "-rf", "--", "-", "a b  c", "\\n\\c\\", "a&b/c|d", "9" * 40, "-1", "1:00",
            "{hosts}{ranks}", "%s%n", "\u00b5s", "x" * 20000]

    def judge(self, done, words):
        """Nothing was executed since this was last asked, and no tool complains."""
        sprung = self.file.exists()
        if sprung:
            self.file.unlink()
        assert not sprung, f"executed: {words}"
        assert not COMPLAINTS.search(done.stderr), words


@pytest.fixture
def trap(tmp_path):
    """Hostile texts, and whether one was executed."""
    return Trap(tmp_path / "trap")


class TrappedSuite(Suite):
    """run_suite.sh in a folder in which nothing hostile may be executed."""

    def __init__(self, folder, trap):
        super().__init__(folder)
        self.trap = trap
        # What patterns could become.
        self.work = self.folder / "work"
        self.work.mkdir()
        for name in ("a", "b.tsv", "halo"):
            (self.work / name).touch()

    def call(self, *words, environment=None):
        """Status, output, errors."""
        done = subprocess.run(words, cwd=self.work, env={**self.environment, **(environment or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              check=False, encoding="utf-8")
        self.trap.judge(done, words)
        return done.returncode, done.stdout, done.stderr

    def call_script(self, name, *words, environment=None):
        return self.call("sh", os.path.join(SCRIPTS, name), *words, environment=environment)

    def refused(self, *words, environment=None):
        """A script that must refuse this in a line."""
        status, output, said = self.call_script(*words, environment=environment)
        assert (status, output, len(said.splitlines())) == (2, "", 1), (words, said)


@pytest.fixture
def suite(tmp_path, trap):
    """run_suite.sh, and nothing hostile may be executed."""
    return TrappedSuite(tmp_path, trap)


class Hostile:
    """run_suite.sh and what starts it."""

    def words(self, suite, *options):
        return ["run_suite.sh", f"--build={suite.build}", "--benchmarks=halo", "--runs=1", *options]

    OPTIONS = ("benchmarks", "runs", "options", "vary", "budget", "limit", "launcher", "ranks",
               "ranks-per-node", "hosts", "bind", "build", "resume", "output", "dry-run",
               "no-such-option")

    @pytest.mark.parametrize("option", OPTIONS)
    def test_values(self, suite, trap, full, option):
        """Of every option, in a dry run; without --full a sixth of the texts with each, all of them
        with two or three."""
        first = self.OPTIONS.index(option) % 6
        for value in trap.texts if full else trap.texts[first::6]:
            status, output, said = suite.call_script(*self.words(
                suite, "--launcher=orterun", "--dry-run", f"--{option}={value}"))
            assert status in (0, 1, 2), said
            if status != 0:
                assert (output, len(said.splitlines())) == ("", 1), said
                assert len(said) < 700
            elif option in ("hosts", "bind"):
                # The value is one word of the launch, or in one.
                command = shlex.split(output.splitlines()[1].split("\t", 2)[2])
                if option == "bind":
                    assert command[command.index("--bind-to") + 1] == value
                else:
                    assert command[command.index("--host") + 1].startswith(value), command

    def test_lines_and_nothing(self, suite):
        for option in ("--hosts=", "--hosts=a\nb", "--bind=\t", "--options=", "--output=",
                       "--budget=1\n2", ""):
            suite.refused(*self.words(suite, "--launcher=orterun", option))

    def test_launches(self, suite, trap):
        """With real launches, by a launcher that is named with its words and by one that is known;
        a launch's words are what they were."""
        value = trap.texts[2] + " b * -x"
        for launcher, shown in (("other -n {ranks} -H {hosts} -b {bind}", [value, value]),
                                ("orterun", [value + ":2", value])):
            output = f"-results of {launcher[:5]} $(id) *"
            status, _, said = suite.call_script(*self.words(
                suite, f"--launcher={launcher}", f"--hosts={value}", f"--bind={value}", "--ranks=2",
                f"--output={output}", "--options=halo: --local=* $(x) `y`"))
            assert status == 0, said
            words = shlex.split(read(suite.work / output / "runs/1/halo.log").split("\n")[0][2:])
            assert [word for word in words
                    if value in word and ":" in word or word == value] == shown
            assert words[-5:-1] == [f"{suite.build}/halo/halo", "--local=*", "$(x)", "`y`"]

    def test_job_scripts(self, suite, trap):
        build = trap.folder / "build"
        build.symlink_to(suite.build)
        status, output, said = suite.call_script("jobs/pbs.sh", environment={
            "PBS_O_WORKDIR": str(suite.work), "PBS_JOBID": "$(touch x) *", "PBS_WALLTIME": "soon",
            "COMMCOST_TOP": TOP,
            "SUITE": f"--build={build} --launcher=orterun --benchmarks=* --dry-run"})
        assert "no *" in said
        assert (status, output) == (2, "")

    def test_sweep(self, suite, trap):
        program = suite.folder / "show"
        write_program(program, """#!/bin/sh
for word in "$@"; do printf '<%s>\\n' "$word"; done
""")
        status, output, said = suite.call_script(
            "mpi_overhead_sweep.sh", *trap.texts,
            environment={"PROGRAM": str(program), "LAUNCH": "env"})
        assert status == 0, said
        assert output.splitlines()[1:] == [f"<{value}>" for value in trap.texts]

    def test_quickstart(self, suite):
        """Only what it refuses: else it would build."""
        for words in (["-x"], ["a", "b"], ["--help=$(id)"]):
            suite.refused("quickstart.sh", *words)
        for ranks in ("2;id", "1", "9" * 30, "x\ny"):
            suite.refused("quickstart.sh", "a", environment={"RANKS": ranks})


class Resumed:
    """A suite's folder that somebody passed on: nothing that it holds is executed."""

    @pytest.fixture
    def suite(self, tmp_path, trap):
        """A suite with two launches as they are, and what goes on with them; `kept` is a copy."""
        suite = TrappedSuite(tmp_path, trap)
        self.begin(suite, "--options=halo: --rows=1")
        suite.kept = suite.folder / "results kept"
        shutil.copytree(suite.results, suite.kept)
        return suite

    def begin(self, suite, *options):
        shutil.rmtree(suite.results, ignore_errors=True)
        status, _, said = suite.call("sh", SUITE, f"--build={suite.build}",
                                     f"--output={suite.results}", "--benchmarks=halo,pingpong",
                                     "--runs=1", "--launcher=orterun", "--ranks=2", *options)
        assert status == 0, said

    def restore(self, suite, name, text):
        """The suite's folder as it was, but for a file with this text."""
        shutil.rmtree(suite.results)
        shutil.copytree(suite.kept, suite.results)
        (suite.results / "suite" / name).write_text(text, encoding="utf-8")

    def resume(self, suite, *options):
        return suite.call("sh", SUITE, f"--resume={suite.results}", *options)

    def words(self, suite, run):
        """What halo was started with, but for the file of its result."""
        return shlex.split(read(f"{suite.results}/runs/{run}/halo.log").split("\n")[0][2:])[:-1]

    def test_legitimate_options(self, suite, trap):
        """With blanks, quotes and what a shell would evaluate: the words are what they were."""
        value = f"it's \"a\" $({trap.touch}) `id` * ; \\ b"
        self.begin(suite, f"--options=halo: --rows=1 {value}", f"--bind={value}", "--limit=60",
                   f"--options=all: --word={value}")
        assert value in self.words(suite, 1)
        assert self.resume(suite)[0] == 0
        shutil.rmtree(suite.results / "runs")
        assert self.resume(suite)[0] == 0
        status, _, said = self.resume(suite, "--runs=2")
        assert status == 0, said
        assert self.words(suite, 2) == self.words(suite, 1)
        assert value in self.words(suite, 2)
        # And the last word on it is the caller's, also about the programs.
        other = suite.folder / "other build"
        other.symlink_to(suite.build)
        suite.of_suite("versions").unlink()
        status, output, said = self.resume(suite, "--dry-run", "--launcher=srun",
                                           f"--build={other}", "--runs=3")
        assert status == 0, said
        assert len(output.splitlines()) == 3
        assert "srun --kill-on-bad-exit=1" in output
        assert f"{other}/halo/halo" in output

    @staticmethod
    def damaged(trap, text):
        """A file's text with a hostile one in place of it, as a line of it, and in each of its
        cells or words."""
        was = text.rstrip("\n")
        for hostile in trap.texts[:3]:
            yield hostile
            yield was + "\n" + hostile + "\n"
            yield was + " " + hostile + "\n"
            yield was + f"\n--options=halo: {hostile}\n--hosts={hostile}\n"
            yield re.sub(r"[^\t\n]+", lambda word, hostile=hostile: word.group() + hostile, text)
            yield re.sub(r"[^\t\n= ]+", lambda word, hostile=hostile: hostile, text)

    def test_every_file(self, suite, trap, full):
        files = sorted(os.listdir(suite.kept / "suite"))
        # Only of these does anything become a part of commands or sums.
        used = {"options", "plan.tsv", "expected.tsv", "launches.tsv", "versions"}
        assert used <= set(files)
        # Of a launch that was killed.
        (suite.kept / "suite/running").write_text(f"{os.uname().nodename} 1 1\n")
        for place, name in enumerate(["running", *files]):
            was = read(suite.kept / "suite" / name)
            # Without --full each seventh, from another one on for each file: each text and each place of it.
            texts = list(self.damaged(trap, was))[slice(None) if full else slice(place % 6, None, 7)]
            for text in texts if name in used | {"running"} else texts[:1]:
                self.restore(suite, name, text)
                os.remove(suite.results / "runs/1/halo.tsv")
                for options in (["--dry-run"], [], ["--runs=2"])[:3 if name == "options" else 2]:
                    status, _, said = self.resume(suite, *options)
                    assert status in (0, 1, 2), (name, text[:300], said)

    def test_programs_of_the_folder(self, suite, trap, full):
        """What only the folder names is not run: a program in it, a command with words."""
        for name in ("suite/mpirun", "programs/halo/halo", "programs/pingpong"):
            write_program(suite.kept / name, f"#!/bin/sh\ntouch '{trap.file}'\necho HYDRA\n")
        link = suite.folder / "link"
        link.symlink_to(suite.results)
        build, touch = f"--build={suite.build}\n", f"touch${{IFS}}{trap.file}"
        for options in (f"{build}--launcher={suite.results}/suite/mpirun\n",
                        f"{build}--launcher={link}/suite/mpirun\n",
                        f"{build}--launcher=../results/suite/mpirun",
                        f"{build}--launcher=sh -c {touch} {{ranks}}\n",
                        f"{build}--launcher=orterun sh -c {touch}\n",
                        f"{build}--launcher=env {suite.results}/suite/mpirun {{ranks}}\n",
                        f"--launcher=orterun\n--build={suite.results}/programs\n",
                        f"--launcher=orterun\n--build={link}/suite/../programs\n",
                        f"{build}--hosts=a,-oProxyCommand={suite.results}/programs/pingpong\n",
                        f"{build}--hosts=-x\n", f"{build}--hosts=a b\n",
                        f"{build}--options=halo: --rows=1 --dump-samples={trap.file}\n",
                        f"{build}--options=halo: --du {trap.file}\n",
                        f"{build}--options=halo:--dump-samples={trap.file}\n",
                        f"{build}--options=halo: --d={trap.file}\n",
                        f"{build}--options=halo:\u00a0--dump-samples={trap.file}\n",
                        f"{build}--output={suite.folder}/elsewhere\n",
                        f"{build}--resume={suite.kept}\n", f"{build}--\n", f"{build}-v\n",
                        f"{build}\n", f"{build}halo\n"):
            self.restore(suite, "options", "--benchmarks=halo,pingpong\n--runs=2\n" + options)
            for call in ([], ["--dry-run"])[:2 if full else 1]:
                status, output, said = self.resume(suite, *call)
                assert (status, output, len(said.splitlines())) == (2, "", 1), (options, said)

    def test_launcher_with_words(self, suite):
        """How to go on says what has to be given again."""
        shutil.rmtree(suite.results)
        status, _, said = suite.call("sh", SUITE, f"--build={suite.build}",
                                     f"--output={suite.results}", "--benchmarks=halo", "--runs=1",
                                     "--launcher=other -n {ranks}", "--options=halo: --fault=once")
        assert status == 1, said
        again = shlex.split(said.splitlines()[-1].partition("run_suite.sh ")[2])
        assert again == [f"--resume={suite.results}", "--launcher=other -n {ranks}"]
        status, _, said = self.resume(suite)
        assert (status, len(said.splitlines())) == (2, 1), said
        status, _, said = suite.call("sh", SUITE, *again)
        assert status == 0, said

    def test_files_outside(self, suite):
        """Names in the folder's files don't lead out of it."""
        outside = suite.folder / "outside.tsv"
        outside.write_text("mine")
        (suite.results / "runs/outside.tsv").write_text("a\tb\n1\t2\n")
        with open(suite.of_suite("expected.tsv"), "a", encoding="ascii") as file:
            file.write("../outside\t1\n")
        self.resume(suite)
        assert read(outside) == "mine"


class TrappedResults(MadeResults):
    """Hand-made results and the scripts that read them, with a trap for what they execute."""

    def __init__(self, folder, trap):
        super().__init__(folder)
        self.trap = trap

    def call(self, *words):
        done = self.start(*words)
        self.trap.judge(done, words)
        return done


@pytest.fixture
def results(tmp_path, trap):
    """Hand-made results, and nothing hostile may be executed."""
    return TrappedResults(tmp_path, trap)


def parse_page(text):
    return xml.dom.minidom.parseString(text.split("\n", 1)[1] if text.startswith("<!") else text)


class Names:
    """Folders and files with names that shells, awk and commands could take for something else."""

    def test_names(self, results, trap):
        hostile = f"$(touch {str(trap.file).replace('/', '_')}) `id` 'q\" \\n *"
        for name in ("a=b", "-x", "--output=z", hostile):
            results.add(name, "syncbench", "halo")
            folder = results.folder / name
            (folder / "halo.tsv").rename(folder / "x=1.tsv")
            done = results.call("report.sh", *(["--"] if name.startswith("-") else []), name)
            assert done.returncode == 0, done.stderr
            text = read(folder / "report.html")
            parse_page(text)
            assert 'id="halo"' in text
            assert 'id="syncbench"' in text
            done = results.call("report_text.sh", "--", name)
            assert done.returncode == 0, done.stderr
            assert "| sync all |" in done.stdout

    def test_contents(self, results, trap):
        """Metadata, column names and cells that a shell, awk or gnuplot would evaluate."""
        touch = trap.touch
        for number, hostile in enumerate([
                f"`{touch}`", f"'.system('{touch}').'", f"\".system(\"{touch}\").\"", f"$({touch})",
                f"'; system '{touch}' #", f"\\'`{touch}`\\", f"@{touch}", f"';{touch};'",
                f"< {touch}", f"{touch}|"]):
            name = f"hostile {number}"
            for benchmark, (program, columns, rows) in ALL.items():
                cells = [[cell if NUMBER.fullmatch(str(cell)) or cell in ("time", "data", "NA")
                          else f"{cell}{hostile}" for cell in row] for row in rows]
                results.write(name, benchmark, tsv(
                    program, columns, cells, remarks=[f"warning: {hostile}", f"note: {hostile}"],
                    metadata={key: hostile for key in METADATA}))
            for words in (["plot.sh", "--format=svg", name], ["report.sh", name, "hostile 0"],
                          ["report_text.sh", name]):
                done = results.call(*words)
                assert done.returncode == 0, (words, hostile, done.stderr)

    @pytest.mark.parametrize("script", ["plot.sh", "report.sh"])
    def test_refused(self, results, script):
        for words in (["a\nb"], [""], ["--format=$(id)"], ["--output="], ["-\n"], ["a", "b", "c"],
                      ["x" * 20000]):
            done = results.call(script, *words)
            assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (
                words[0][:40], done.stderr)
            assert len(done.stderr) < 700


# Of a sound result, a damaged one. Each takes its bytes and random numbers. What other damage does is in
# tests/results/broken_results_test.py.
def cut_often(text, choose):
    """The end of a line, of many lines."""
    return b"\n".join(line[:choose.randrange(len(line) + 1)] if choose.random() < 0.4 else line
                      for line in text.split(b"\n"))


def flip(text, choose):
    damaged = bytearray(text)
    for _ in range(30):
        damaged[choose.randrange(len(damaged))] = choose.randrange(256)
    return bytes(damaged)


def odd_cells(text, choose):
    odd = [b"", b"NA", b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"0x10", b"1,5", b"9" * 400,
           b"-0", b"1e308", b"'\"<&>", b"$(id)", b"%s", b"\xff\xfe", b"\\n", b"-1", b"0"]
    return b"\n".join(line if number < 9 or line.startswith(b"#") else b"\t".join(
        choose.choice(odd) if choose.random() < 0.25 else cell for cell in line.split(b"\t"))
        for number, line in enumerate(text.split(b"\n")))


DAMAGES = [cut_often, flip, odd_cells, lambda text, choose: b"",
           lambda text, choose: text.replace(b"\t", b"\t\0", 9)]

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def judge_page(page, known):
    """Each number of its tables is one of these, or a median of rows of the same keys."""
    document = parse_page(page.read_bytes().decode())
    has_medians = "Values are medians" in text_of(document.documentElement)
    for table in document.getElementsByTagName("table"):
        if "rows" not in table.getAttribute("class"):
            continue
        for cell in table.getElementsByTagName("td"):
            shown = text_of(cell)
            if NUMBER.fullmatch(shown) and "base" not in cell.getAttribute("class"):
                assert float(shown) in known or has_medians, f"{shown} is no cell"


class Damaged:
    """Results that are damaged: a page or a line; and no number that isn't in them."""

    def test_damaged(self, results, full):
        choose = random.Random(1)
        for number in range(240 if full else 12):
            kind = number % len(DAMAGES)
            benchmark = choose.choice(list(ALL))
            text = DAMAGES[kind](tsv(*ALL[benchmark]).encode(), choose)
            path = results.folder / f"r{number}"
            path.mkdir()
            (path / (benchmark + ".tsv")).write_bytes(text)
            known = {float(match) for cell in re.split(rb"[\t\n\r]", text)
                     for match in [cell.decode(errors="replace")] if NUMBER.fullmatch(match)}
            done = results.call("report.sh", path.name)
            page = path / "report.html"
            assert done.returncode == (0 if page.exists() else 2), (kind, benchmark, done.stderr)
            if page.exists():
                judge_page(page, known)
            else:
                assert "no results of benchmarks" in done.stderr, (kind, benchmark)
            text = results.call("report_text.sh", path)
            assert text.returncode == done.returncode, (kind, benchmark, text.stderr)
