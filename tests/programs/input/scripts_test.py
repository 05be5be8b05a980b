# SPDX-License-Identifier: BSD-3-Clause
"""Bad input for the scripts: hostile values of options, hostile names, and results that are
damaged. What they are given is taken as it is or refused in a line; never executed."""

import glob
import os
import re
import shlex
import shutil
import subprocess
import xml.dom.minidom
from pathlib import Path

from case import Case, each
from commands import command
from commcost.suite import launch_options
from made_results import ALL, METADATA, MadeResults, tsv
from mpi_run import read
from pretended_suite import SCRIPTS, SUITE, TOP, Suite, write_program

# Errors of a shell, awk, sed or gnuplot about input that it can't read.
COMPLAINTS = re.compile(r"syntax error|not found|Illegal number|unterminated|awk: |sed: |"
                        r"bad substitution|unexpected|Usage: (mkdir|cp|ls|rm)|invalid option|"
                        r"gnuplot could not|Traceback")


class Trap:
    """A file that is made if a shell evaluates one of these texts."""

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
        # Characters that a terminal would obey.
        assert not re.search("[^\t\n -~\x80-\uffff]|[\x7f-\x9f]", done.stdout + done.stderr), words


class TrappedSuite(Suite):
    """run_suite.sh in a folder in which nothing hostile may be executed."""

    def __init__(self, folder, trap):
        super().__init__(folder)
        self.trap = trap
        # Files that patterns could match.
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

    def call_suite(self, *words):
        """Returns status, output and errors of run_suite.sh, without a process of its own."""
        done = command("suite", *words, cwd=str(self.work), environment=self.environment)
        self.trap.judge(done, words)
        return done.returncode, done.stdout, done.stderr

    def call_script(self, name, *words, environment=None):
        return self.call("sh", os.path.join(SCRIPTS, name), *words, environment=environment)

    def refused(self, *words, environment=None):
        """Calls a script that must refuse this in a line."""
        status, output, said = self.call_script(*words, environment=environment)
        assert (status, output, len(said.splitlines())) == (2, "", 1), (words, said)


class SuiteCase(Case):
    """run_suite.sh, and nothing hostile may be executed."""

    def setUp(self):
        super().setUp()
        self.trap = Trap(self.folder / "trap")
        self.suite = TrappedSuite(self.folder, self.trap)


class Hostile(SuiteCase):
    """run_suite.sh and what starts it."""

    def words(self, *options):
        return ["run_suite.sh", f"--build={self.suite.build}", "--benchmarks=halo", "--runs=1", *options]

    OPTIONS = ("benchmarks", "runs", "options", "vary", "budget", "limit", "launcher", "ranks",
               "ranks-per-node", "hosts", "bind", "build", "resume", "output", "dry-run",
               "no-such-option")

    @each("option", OPTIONS)
    def test_values(self, option):
        """Of every option, in a dry run; without --full a sixth of the texts with each, all of them
        with two or three."""
        first = self.OPTIONS.index(option) % 6
        for value in self.trap.texts if self.full else self.trap.texts[first::6]:
            status, output, said = self.suite.call_suite(*self.words(
                "--launcher=orterun", "--dry-run", f"--{option}={value}")[1:])
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

    def test_lines_and_nothing(self):
        for option in ("--hosts=", "--hosts=a\nb", "--bind=\t", "--options=", "--output=",
                       "--budget=1\n2", ""):
            self.suite.refused(*self.words("--launcher=orterun", option))

    def test_launches(self):
        """With real launches, by a launcher that is named with its words and by one that is known;
        a launch's words are what they were."""
        value = self.trap.texts[2] + " b * -x"
        for launcher, shown in (("other -n {ranks} -H {hosts} -b {bind}", [value, value]),
                                ("orterun", [value + ":2", value])):
            output = f"-results of {launcher[:5]} $(id) *"
            status, _, said = self.suite.call_script(*self.words(
                f"--launcher={launcher}", f"--hosts={value}", f"--bind={value}", "--ranks=2",
                f"--output={output}", "--options=halo: --local=* $(x) `y`"))
            assert status == 0, said
            words = shlex.split(read(self.suite.work / output / "runs/1/halo.log").split("\n")[0][2:])
            assert [word for word in words
                    if value in word and ":" in word or word == value] == shown
            assert words[-5:-1] == [f"{self.suite.build}/halo/halo", "--local=*", "$(x)", "`y`"]

    def test_quickstart(self):
        """Only what it refuses: else it would build."""
        for words in (["-x"], ["a"], ["--resume=$(id)"], ["--output="], ["--ranks=2;id"]):
            self.suite.refused("quickstart.sh", *words, environment={"MPICC": "mpicc.of.nobody"})
        for ranks in ("2;id", "1", "9" * 30, "x\ny"):
            self.suite.refused("quickstart.sh", "--output=a", environment={"MPICC": "mpicc.of.nobody", "RANKS": ranks})

    def test_job_scripts(self):
        build = self.trap.folder / "build"
        build.symlink_to(self.suite.build)
        status, output, said = self.suite.call_script("jobs/pbs.sh", environment={
            "PBS_O_WORKDIR": str(self.suite.work), "PBS_JOBID": "$(touch x) *", "PBS_WALLTIME": "soon",
            "COMMCOST_TOP": TOP,
            "SUITE": f"--build={build} --launcher=orterun --benchmarks=* --dry-run"})
        assert "no benchmark '*'" in said
        assert (status, output) == (2, "")

    def test_slurm_in_a_path_with_blanks(self):
        """Slurm prints the job's command as the script's path and all of its words, with blanks between them."""
        top, words = self.suite.folder / "it's a top", [
            f"--build={self.suite.build}", "--benchmarks=halo", "--options=halo: --rows=1", "--ranks=2", "--dry-run"]
        top.mkdir()
        (top / "run_scripts").symlink_to(SCRIPTS)
        script = top / "run_scripts/jobs/slurm.sh"
        for command_line in (" ".join([str(script), *words]), str(script)):
            write_program(self.suite.folder / "bin/scontrol", f"""#!/bin/sh
echo 'JobId=7 JobName=a b UserId=me(0) Command='"{command_line}"' WorkDir=/a b StdErr=/a b/x Command'
""")
            status, output, said = self.suite.call("sh", str(script), *words, environment={
                "SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": "/"})
            assert status == 0 and "srun" in output, said

    SCRIPTS_IN_PYTHON = ("bench_compare", "call_sites.sh", "checkup.sh", "cost.sh", "device_matrix.sh",
                         "mpi_overhead_sweep.sh", "plot.sh", "report.sh", "report_text.sh", "run_suite.sh", "summarize.sh", "tune.sh")

    @each("name", (*SCRIPTS_IN_PYTHON, "quickstart.sh"))
    def test_without_python(self, name):
        """One line and exit status 1."""
        tools = self.suite.folder / "tools"
        tools.mkdir()
        for tool in ("basename", "dirname", "head", "sh", "tr", "uname"):
            (tools / tool).symlink_to(shutil.which(tool))
        status, output, said = self.suite.call(shutil.which("sh"), os.path.join(SCRIPTS, name), environment={
            "PATH": str(tools), "PROGRAM": shutil.which("true"), "MPICC": "mpicc"})
        assert (status, output, said) == (1, "", f"{name}: there is no python3: install it (Debian: python3)\n")

    def test_all_that_need_python(self):
        """The test before this one knows all scripts that start Python; others start these."""
        starting = {path.name for path in Path(SCRIPTS).iterdir()
                    if path.is_file() and re.search("(?m)^commcost |launch_words", read(path))}
        assert starting - {"lib.sh"} == set(self.SCRIPTS_IN_PYTHON)

    def test_sweep(self):
        program = self.suite.folder / "show"
        write_program(program, """#!/bin/sh
for word in "$@"; do printf '<%s>\\n' "$word"; done
""")
        status, output, said = self.suite.call_script(
            "mpi_overhead_sweep.sh", *self.trap.texts,
            environment={"PROGRAM": str(program), "LAUNCH": "env"})
        assert status == 0, said
        assert output.splitlines()[1:] == [f"<{value}>" for value in self.trap.texts]


class Resumed(SuiteCase):
    """A suite's folder that somebody passed on: nothing that it holds starts, ends, or is followed."""

    def setUp(self):
        """A suite with two launches as they are, to be resumed; `kept` is a copy."""
        super().setUp()
        self.begin("--options=halo: --rows=1")
        self.kept = self.suite.folder / "results kept"
        shutil.copytree(self.suite.results, self.kept)

    def begin(self, *options):
        shutil.rmtree(self.suite.results, ignore_errors=True)
        status, _, said = self.suite.call("sh", SUITE, f"--build={self.suite.build}",
                                          f"--output={self.suite.results}", "--benchmarks=halo,pingpong",
                                          "--runs=1", "--launcher=hydra", "--ranks=2", *options)
        assert status == 0, said

    def restore(self):
        """Restores the suite's folder, except for a launch."""
        shutil.rmtree(self.suite.results)
        shutil.copytree(self.kept, self.suite.results)
        os.remove(self.suite.results / "runs/1/halo.tsv")

    def resume(self, *options):
        """With the build that was not the default's given again."""
        return self.suite.call_suite(f"--resume={self.suite.results}", f"--build={self.suite.build}", *options)

    def words(self, run):
        """Returns halo's command line, except for the file of its result."""
        return shlex.split(read(f"{self.suite.results}/runs/{run}/halo.log").split("\n")[0][2:])[:-1]

    def test_legitimate_options(self):
        """With blanks, quotes and what a shell would evaluate: the words are what they were."""
        value = f"it's \"a\" $({self.trap.touch}) `id` * ; \\ b"
        self.begin(f"--options=halo: --rows=1 {value}", "--bind=core:1", "--limit=60",
                   f"--options=all: --word={value}")
        assert set(value.split()) < set(self.words(1))
        assert self.resume()[0] == 0
        shutil.rmtree(self.suite.results / "runs")
        assert self.resume()[0] == 0
        status, _, said = self.resume("--runs=2")
        assert status == 0, said
        assert self.words(2) == self.words(1)
        # And the last word on it is the caller's, also about the programs.
        other = self.suite.folder / "other build"
        other.symlink_to(self.suite.build)
        self.suite.of_suite("versions").unlink()
        status, output, said = self.resume("--dry-run", "--launcher=srun",
                                           f"--build={other}", "--runs=3")
        assert status == 0, said
        assert len(output.splitlines()) == 3
        assert "srun --kill-on-bad-exit=1" in output
        assert f"{other}/halo/halo" in output

    def test_what_is_given_again(self):
        """A program that neither the command line nor the build names is not run, with --dry-run neither;
        no other host and no file that only the folder names is used."""
        elsewhere = self.suite.folder / "elsewhere"
        for program in (self.kept / "suite/mpirun", self.kept / "programs/halo/halo",
                        elsewhere / "mpirun", elsewhere / "halo/halo"):
            write_program(program, f"#!/bin/sh\ntouch '{self.trap.file}'\necho HYDRA\n")
        sprung, build = self.trap.file, f"--build={self.suite.build}"
        for place, line in enumerate((
                     f"--launcher={self.suite.results}/suite/mpirun", f"--launcher={elsewhere}/mpirun",
                     "--launcher=../elsewhere/mpirun", "--launcher=orterun", "--launcher=env",
                     f"--launcher=sh -c touch${{IFS}}{sprung} {{ranks}}", f"--launcher=orterun {elsewhere}/mpirun",
                     f"--launcher=env {elsewhere}/mpirun {{ranks}}", f"--vary=PATH={elsewhere},/bin",
                     f"--vary=launcher:{elsewhere}/mpirun,hydra", f"--build={self.suite.results}/programs",
                     f"--build={elsewhere}", "--build=../elsewhere", "--build=.", "--hosts=a,b",
                     f"--hosts=a,-oProxyCommand={elsewhere}/mpirun", "--bind=-launcher-exec=x", "--bind=a b",
                     f"--options=halo: --rows=1 --dump-samples={sprung}", f"--options=halo: --du {sprung}",
                     f"--options=halo:--d={sprung}", f"--options=halo:\u00a0--dump-samples={sprung}",
                     f"--options=linkmap: --exclude={sprung}", f"--options=halo: : -np 1 touch {sprung}",
                     f"--output={elsewhere}", f"--resume={self.kept}", "--", "-v", "", "halo", "--hosts=\x1b]0;x")):
            self.restore()
            self.suite.of_suite("options").write_text(f"--benchmarks=halo,pingpong\n--runs=1\n{line}\n")
            options = [*([] if line.startswith("--build") else [build]), *["--dry-run"][:place % 2]]
            status, output, said = self.suite.call_suite(f"--resume={self.suite.results}", *options)
            assert (status, output, len(said.splitlines())) == (2, "", 1), (line, said)

    def test_options_that_name_files(self):
        """The suite knows all of them."""
        named = set()
        for path in [f"{TOP}/common/run/settings.c", *glob.glob(f"{TOP}/*/parameters.c")]:
            named.update(re.findall(r'\{"([a-z-]+)", BC_TEXT,[^}]*\.argument = "FILE"', read(path)))
        assert {f"--{name}" for name in named} == {"--output", *launch_options.FILE_OPTIONS}

    def test_how_to_go_on(self):
        """The message names the options that have to be given again."""
        shutil.rmtree(self.suite.results)
        given = [f"--build={self.suite.build}", "--launcher=other -n {ranks}", "--hosts=a,b"]
        status, _, said = self.suite.call("sh", SUITE, f"--output={self.suite.results}", "--benchmarks=halo",
                                          "--runs=1", "--ranks=2", "--options=halo: --fault=once", *given)
        assert status == 1, said
        again = shlex.split(said.splitlines()[-1].partition("run_suite.sh ")[2])
        assert again == [f"--resume={self.suite.results}", *given]
        for left in range(1, len(again)):
            status, _, said = self.suite.call("sh", SUITE, *again[:left], *again[left + 1:])
            assert (status, len(said.splitlines())) == (2, 1), said
        status, _, said = self.suite.call("sh", SUITE, *again)
        assert status == 0, said

    def test_processes(self):
        """Only a launch of this folder is ended, whatever a file of it holds."""
        def start(*words):
            started = subprocess.Popen(["sh", "-c", "sleep 60; :", *words], start_new_session=True)
            self.addCleanup(started.wait)
            self.addCleanup(started.kill)
            return started

        self.restore()
        own = start(f"--output={self.suite.results}/runs/1/halo.tsv.part")
        others = [start(f"--output={self.kept}/runs/1/halo.tsv.part"), start(f"{self.suite.results}/runs/1/halo.tsv"),
                  start(f"--output={self.suite.results}/runs/1/halo.tsv"), start()]
        for other in others:
            begun = read(f"/proc/{other.pid}/stat").rpartition(")")[2].split()[19]
            self.suite.of_suite("running").write_text(f"{os.uname().nodename} {other.pid} {begun}\n")
            status, _, said = self.resume()
            assert status == 0, said
        assert [process.poll() is None for process in [own, *others]] == [False, True, True, True, True]

    @each("name", ["suite", "suite/lock", "suite/launches.tsv", "suite/of_nobody", "runs", "runs/1", "runs/1/halo.tsv",
                   "runs/1/halo.tsv.part", "runs/1/halo.log", "halo.tsv", "summary.tsv"])
    def test_links(self, name):
        """Nothing is written, or waited for, where a name of the folder leads."""
        outsides = [self.suite.folder / "mine", self.suite.folder / "nothing", None]
        is_refused = name.startswith(("suite", "runs"))
        # Without --full one of them for each name that is refused.
        for outside in outsides[len(name) % 3:][:1] if is_refused and not self.full else outsides:
            self.restore()
            (self.suite.folder / "mine").write_text("mine")
            path = self.suite.results / name
            if path.is_dir():
                outside = self.suite.folder / "moved"
                shutil.rmtree(outside, ignore_errors=True)
                path.rename(outside)
            elif path.exists():
                path.unlink()
            if outside:
                path.symlink_to(outside)
            else:
                os.mkfifo(path)
            before = sorted(self.suite.folder.glob("moved/**/*"))
            status, _, said = self.resume()
            if is_refused:
                assert (status, said.count("remove it from the results folder")) == (1, 1), said
            else:
                assert status == 0 and path.is_symlink() is False, said
            assert read(self.suite.folder / "mine") == "mine"
            assert not (self.suite.folder / "nothing").exists()
            assert sorted(self.suite.folder.glob("moved/**/*")) == before

    def test_files_outside(self):
        """Names in the folder's files don't lead out of it."""
        outside = self.suite.folder / "outside.tsv"
        outside.write_text("mine")
        (self.suite.results / "runs/outside.tsv").write_text("a\tb\n1\t2\n")
        with open(self.suite.of_suite("settings"), "a", encoding="ascii") as file:
            file.write("../outside\t1\n")
        self.resume()
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


class ResultsCase(Case):
    """Hand-made results, and nothing hostile may be executed."""

    def setUp(self):
        super().setUp()
        self.trap = Trap(self.folder / "trap")
        self.results = TrappedResults(self.folder, self.trap)


def parse_page(text):
    return xml.dom.minidom.parseString(text.split("\n", 1)[1] if text.startswith("<!") else text)


class Names(ResultsCase):
    """Folders and files with names that shells, awk and commands could take for something else."""

    def test_contents(self):
        """Metadata, column names and cells that a shell, awk or gnuplot would evaluate."""
        touch = self.trap.touch
        for number, hostile in enumerate([
                f"`{touch}`", f"'.system('{touch}').'", f"\".system(\"{touch}\").\"", f"$({touch})",
                f"'; system '{touch}' #", f"\\'`{touch}`\\", f"@{touch}", f"';{touch};'",
                f"< {touch}", f"{touch}|", "%n%s%d", "\x1b]0;title\x07\u202e", "![x](http://a/b)",
                "[x]: http://a/b", "!\\[x\\](http://a/b)", "<img src='http://a/b'/>", "../../x"]):
            name = f"hostile {number}"
            for benchmark, (program, columns, rows) in ALL.items():
                cells = [[cell if NUMBER.fullmatch(str(cell)) or cell in ("time", "data", "NA")
                          else f"{hostile}{cell}{hostile}" for cell in row] for row in rows]
                self.results.write(name, benchmark, tsv(
                    program, columns, cells, remarks=[f"warning: {hostile}", f"note: {hostile}"],
                    metadata={key: hostile for key in METADATA}))
            for words in (["plot.sh", "--format=svg", name], ["report.sh", name, "--base=hostile 0"],
                          ["report_text.sh", name]):
                done = self.results.script(*words)
                self.trap.judge(done, words)
            # Pictures and links of the page's own at most; none, and no HTML, in Markdown.
            page = parse_page(read(self.results.folder / name / "report.html"))
            assert not page.getElementsByTagName("img")
            assert all(link.getAttribute("href").startswith("#") for link in page.getElementsByTagName("a"))
            assert not re.search(r"(?<!\\)(\\\\)*[][`<]", done.stdout), (hostile, done.stdout)

    def test_links(self):
        """A link in place of a page or picture is replaced, not followed."""
        made = ("report.html", "report.md", "pictures/halo.svg", "pictures/halo.png", "pictures/halo.halo.tsv",
                "pictures/halo.halo.set")
        folder = Path(self.results.add("links", "halo"))
        outside = self.folder / "mine"
        outside.write_text("mine")
        (folder / "pictures").mkdir()
        for name in made:
            (folder / name).symlink_to(outside)
        for words in (["report.sh"], ["report_text.sh", "--beside"], ["plot.sh", "--data"]):
            done = self.results.call(*words, folder)
            assert done.returncode == 0, done.stderr
        assert read(outside) == "mine"
        assert [name for name in made if (folder / name).is_symlink() or not (folder / name).is_file()] == []
        # The pictures' folder would be one with others' files. What the user names is followed.
        shutil.rmtree(folder / "pictures")
        (folder / "pictures").symlink_to(self.folder)
        assert "is a link, which is not followed" in self.results.call("plot.sh", folder).stderr
        named = self.folder / "named"
        named.symlink_to(outside)
        self.results.call("report.sh", f"--output={named}", folder)
        assert named.is_symlink() and read(outside).startswith("<!DOCTYPE")

    def test_links_out(self):
        """A results folder's links out of it aren't read, whatever they are called, which is reported; those that stay in
        it are."""
        outside = Path(self.results.add("outside", "halo", "syncbench", metadata={"processor": "a secret"}))
        sent = Path(self.results.add("sent", "pingpong"))
        (sent / "halo.tsv").symlink_to(outside / "halo.tsv")
        (sent / "again.tsv").symlink_to("pingpong.tsv")
        done = self.results.call("report_text.sh", sent)
        assert (done.returncode, "a secret" in done.stdout) == (0, False)
        assert "sent/halo.tsv: a link out of the folder, left out" in done.stderr
        assert "the same launch as" in done.stderr
        folders = {"runs": outside.parent / "all runs", "runs/1": outside, "a folder": outside,
                   "runs/1/syncbench.tsv": outside / "syncbench.tsv", "syncbench.tsv": outside / "syncbench.tsv"}
        (outside.parent / "all runs").mkdir()
        (outside / "halo.tsv").rename(outside.parent / "all runs/halo.tsv")
        shutil.copytree(outside, outside.parent / "all runs/1")
        for number, (name, leads_to) in enumerate(folders.items()):
            link = self.results.folder / f"sent {number}" / name
            link.parent.mkdir(parents=True)
            link.symlink_to(leads_to)
            for words in (["report_text.sh"], ["summarize.sh"]):
                done = self.results.call(*words, f"sent {number}")
                assert (done.returncode, done.stdout) == (2, ""), (words, name, done.stdout)
                assert "a link out of the folder, left out" in done.stderr, (words, name, done.stderr)

    def test_links_out_of_records(self):
        """Nor what a suite has recorded."""
        sent, records = Path(self.results.add("sent", "halo")), self.folder / "records"
        records.mkdir()
        (records / "launches.tsv").write_text("run\tname\tstart\tseconds\texit\tresult\n1\tsecret\tx\t1\t1\tfailed\n")
        (sent / "suite").symlink_to(records)
        done = self.results.call("report_text.sh", sent)
        assert (done.returncode, "secret" in done.stdout) == (0, False), done.stdout

    def test_waits_for_nothing(self):
        folder = Path(self.results.add("pipes", "halo"))
        (folder / "suite").mkdir()
        for name in ("suite/launches.tsv", "report.html", "other.tsv"):
            os.mkfifo(folder / name)
        done = self.results.call("report.sh", folder)
        assert done.returncode == 0 and (folder / "report.html").is_file(), done.stderr

    def test_names_of_pictures(self):
        """None leads out of the folder."""
        _, columns, rows = ALL["linkmap"]
        place = columns.index("nbytes")
        rows = [[*row[:place], "../../../outside", *row[place + 1:]] for row in rows]
        self.results.add("sizes", "linkmap", rows=rows)
        (self.results.folder / "sizes/pictures/linkmap_..").mkdir(parents=True)
        self.results.call("plot.sh", "--data", "sizes")
        assert sorted(os.listdir(self.results.folder)) == ["sizes"]
        assert sorted(os.listdir(self.results.folder / "sizes")) == ["linkmap.tsv", "pictures"]

    def test_spreadsheets(self):
        """No cell of a table that is made of results is a formula."""
        for number, benchmark in enumerate(("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)")):
            columns = [f"{benchmark[0]}key", f"{benchmark[0]}time_us", "status"]
            path = self.results.write(f"formulas {number}", "x", tsv(
                benchmark, columns, [[benchmark, -1.5, "ok"], [benchmark + "2", 2.5, benchmark]],
                metadata={"columns": f"{columns[0]}=key {columns[1]}=less status=info"}))
            for status, *words in ((0, "summarize.sh", path), (3, "bench_compare", path, path)):
                done = self.results.call(*words)
                assert done.returncode == status, done.stderr
                cells = [cell for line in done.stdout.splitlines() if not line.startswith("#")
                         for cell in line.split("\t")]
                assert len(cells) > 20 and [cell for cell in cells if cell.startswith(("=", "+", "-", "@")) and
                                            not NUMBER.fullmatch(cell)] == []

    @each("script", ["plot.sh", "report.sh"])
    def test_refused(self, script):
        for words in (["a\nb"], [""], ["--format=$(id)"], ["--output="], ["-\n"], ["a", "b", "c"],
                      ["x" * 20000]):
            done = self.results.call(script, *words)
            assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (
                words[0][:40], done.stderr)
            assert len(done.stderr) < 700


def same_file(path, folder):
    """Other names of a file: a path with a detour, a link, a hard link."""
    (folder / "link").symlink_to(path)
    os.link(path, folder / "hard link")
    return [path, f"{path.parent}/../{path.parent.name}/{path.name}", folder / "link", folder / "hard link"]


class Outputs(ResultsCase):
    """No output takes the place of a result that was read, or of a file in a folder that nobody began."""

    def call(self, *words):
        return command(*words, cwd=str(self.results.folder))

    def kept(self, words, results, output):
        """Such a call is refused, and nothing changes in the folder."""
        before = {path: (path.stat().st_ino, path.read_bytes()) for path in self.folder.rglob("*") if path.is_file()}
        done = self.call(*words, f"--output={output}", *results)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (words, output, done.stderr)
        assert "is an input" in done.stderr
        assert {path: (path.stat().st_ino, path.read_bytes()) for path in before} == before, (words, output)

    @each("words", [["compare"], ["summarize"], ["report"], ["report", "--base=a/halo.tsv"]])
    @each("is_folder", [False, True])
    def test_input(self, words, is_folder):
        """A file, or one of a folder; also that of a base."""
        columns = {"columns": " ".join(f"{name}=" + ("key" if name in ("method", "sync", "local") else "less" if
                                       name == "latency_us" else "info") for name in ALL["halo"][1])}
        a, b = (Path(self.results.add(name, "halo", metadata={**columns, "date": name})) for name in "ab")
        results = [a, b] if words == ["compare"] else [b]
        output = (a if len(words) > 1 else b) / "halo.tsv"
        (b / "others").mkdir()
        for path in same_file(output, self.folder):
            self.kept(words, [result if is_folder else result / "halo.tsv" for result in results], path)

    def test_input_of_plot(self):
        """Whose data may have a result's name."""
        folder = Path(self.results.add("a", "halo"))
        text = read(folder / "halo.tsv")
        (folder / "halo.tsv").rename(folder / "halo.halo.tsv")
        done = self.call("plot", "--data", "--format=svg", f"--output={folder}", folder)
        assert done.returncode == 2 and "is an input" in done.stderr, done.stderr
        assert read(folder / "halo.halo.tsv") == text

    @each("script", ["suite", "tune", "device_matrix"])
    @each("name", ["rules.json", "evidence.tsv", "mine.tsv", "tune.html", "matrix.html", "suite/versions", "runs/1/halo.tsv"])
    def test_folder_of_somebody(self, script, name):
        """A suite, a tuning and a matrix of devices leave a folder that they didn't begin as it is."""
        build, mine = self.folder / "build", self.folder / "mine" / name
        for program in ("halo/halo", "collective/collective", "pingpong/pingpong", "bin/mpirun"):
            write_program(build / program, "#!/bin/sh\necho HYDRA\n")
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
        more = ["--choices=A=b", "--operations=bcast"] if script == "tune" else []
        done = self.call(script, f"--build={build}", f"--launcher={build}/bin/mpirun", "--ranks=2",
                                 f"--output={self.folder}/mine", *more)
        assert done.returncode == 1, done.stderr
        assert f"/mine holds {name.split('/')[0]} of another program: use another folder" in done.stderr, done.stderr
        assert [path for path in (self.folder / "mine").rglob("*") if path.is_file()] == [mine]
        assert read(mine) == "mine"


NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
