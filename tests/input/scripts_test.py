#!/usr/bin/env python3
"""Bad input for the scripts: hostile values of options, hostile names, and results that
are damaged. What they are given is taken as it is or refused in a line; never executed."""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
for name in ("../lib", "../plots", "../suite"):
    sys.path.insert(0, os.path.join(HERE, name))
import plots_test  # noqa: E402
import suite_test  # noqa: E402

SCRIPTS = os.path.join(HERE, "..", "..", "run_scripts")

# What a shell, awk, sed or gnuplot says of what it can't read.
COMPLAINTS = re.compile(r"syntax error|not found|Illegal number|unterminated|awk: |sed: |"
                        r"bad substitution|unexpected|Usage: (mkdir|cp|ls|rm)|invalid option|"
                        r"gnuplot could not|Traceback")


class Trap:
    """A file that is made if a shell evaluates one of these texts."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.file = os.path.join(self.folder, "sprung")

    def texts(self):
        touch = "touch " + self.file
        return [f"$({touch})", f"`{touch}`;{touch}&{touch}|{touch}",
                f"';{touch};'\"$({touch})\"", "*", "?[a-z]*", "-rf", "--", "-", "a b  c", "\\n\\c\\",
                "a&b/c|d", "9" * 40, "-1", "1:00", "{hosts}{ranks}", "%s%n", "\u00b5s",
                "x" * 20000]

    def is_sprung(self):
        """Whether it was, since it was last asked."""
        sprung = os.path.exists(self.file)
        if sprung:
            os.remove(self.file)
        return sprung


class Trapped(suite_test.Folders):
    """Folders in which nothing hostile may be executed."""

    def setUp(self):
        super().setUp()
        self.trap = Trap()
        self.addCleanup(shutil.rmtree, self.trap.folder)
        # What patterns could become.
        self.work = os.path.join(self.folder, "work")
        os.makedirs(self.work)
        for name in ("a", "b.tsv", "halo"):
            with open(os.path.join(self.work, name), "w", encoding="ascii"):
                pass

    def call(self, *words, environment=None):
        done = subprocess.run(words, cwd=self.work, env=dict(self.environment, **(environment or {})),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False)
        said = done.stderr.decode()
        self.assertFalse(self.trap.is_sprung(), f"executed: {words}")
        self.assertNotRegex(said, COMPLAINTS, words)
        return done.returncode, done.stdout.decode(), said


class Hostile(Trapped):
    """run_suite.sh and what starts it."""

    def suite_words(self, *options):
        return ["sh", suite_test.SUITE, f"--build={self.build}", "--benchmarks=halo", "--runs=1", *options]

    def test_values(self):
        """Of every option, in a dry run."""
        for option in ("benchmarks", "runs", "options", "budget", "limit", "launcher", "ranks", "ranks-per-node",
                       "hosts", "bind", "build", "resume", "output", "dry-run", "no-such-option"):
            for value in self.trap.texts():
                words = self.suite_words("--launcher=orterun", "--dry-run", f"--{option}={value}")
                with self.subTest(option=option, value=value[:40]):
                    status, output, said = self.call(*words)
                    self.assertIn(status, (0, 1, 2), said)
                    if status != 0:
                        self.assertEqual((output, len(said.splitlines())), ("", 1), said)
                        self.assertLess(len(said), 700)
                    elif option in ("hosts", "bind"):
                        self.assert_word(output, option, value)

    def assert_word(self, plan, option, value):
        """The value is one word of the launch, or in one."""
        command = shlex.split(plan.splitlines()[1].split("\t", 2)[2])
        if option == "bind":
            self.assertEqual(command[command.index("--bind-to") + 1], value)
        else:
            self.assertTrue(command[command.index("--host") + 1].startswith(value), command)

    def test_lines_and_nothing(self):
        for option in ("--hosts=", "--hosts=a\nb", "--bind=\t", "--options=", "--output=", "--budget=1\n2", ""):
            with self.subTest(option=option):
                status, output, said = self.call(*self.suite_words("--launcher=orterun", option))
                self.assertEqual((status, output, len(said.splitlines())), (2, "", 1), said)

    def test_launches(self):
        """With real launches, by a launcher that is named with its words and by one that is
        known; a launch's words are what they were."""
        value = self.trap.texts()[2] + " b * -x"
        for number, launcher in enumerate(["other -n {ranks} -H {hosts} -b {bind}", "orterun"]):
            output = f"-results {number} $(id) *"
            status, _, said = self.call(
                *self.suite_words(f"--launcher={launcher}", f"--hosts={value}", f"--bind={value}",
                                  "--ranks=2", f"--output={output}", "--options=halo: --local=* $(x) `y`"))
            self.assertEqual(status, 0, said)
            with open(os.path.join(self.work, output, "runs/1/halo.log"), encoding="utf-8") as log:
                words = shlex.split(log.readline()[2:])
            self.assertEqual([word for word in words if value in word and ":" in word or word == value],
                             [value + ":2", value] if number else [value, value])
            self.assertEqual(words[-5:-1], [os.path.join(self.build, "halo/halo"), "--local=*", "$(x)", "`y`"])

    def test_job_scripts(self):
        build = os.path.join(self.trap.folder, "build") # without a blank
        os.symlink(self.build, build)
        status, output, said = self.call(
            "sh", os.path.join(SCRIPTS, "jobs/pbs.sh"),
            environment={"PBS_O_WORKDIR": self.work, "PBS_JOBID": "$(touch x) *", "PBS_WALLTIME": "soon",
                         "COMMCOST_TOP": suite_test.TOP, "SUITE": f"--build={build} --launcher=orterun --benchmarks=* --dry-run"})
        self.assertIn("no *", said)
        self.assertEqual((status, output), (2, ""))

    def test_sweep(self):
        program = os.path.join(self.folder, "show")
        suite_test.write_program(program, "#!/bin/sh\nfor word in \"$@\"; do printf '<%s>\\n' \"$word\"; done\n")
        values = self.trap.texts()
        status, output, said = self.call("sh", os.path.join(SCRIPTS, "mpi_overhead_sweep.sh"), *values,
                                         environment={"PROGRAM": program, "LAUNCH": "env"})
        self.assertEqual(status, 0, said)
        self.assertEqual(output.splitlines()[1:], [f"<{value}>" for value in values])

    def test_quickstart(self):
        """Only what it refuses: else it would build."""
        for words, variables in ((["-x"], {}), (["a", "b"], {}), (["--help=$(id)"], {}), (["a"], {"RANKS": "2;id"}),
                                 (["a"], {"RANKS": "1"}), (["a"], {"RANKS": "9" * 30}), (["a"], {"RANKS": "x\ny"})):
            with self.subTest(words=words, variables=variables):
                status, output, said = self.call("sh", os.path.join(SCRIPTS, "quickstart.sh"), *words,
                                                 environment=variables)
                self.assertEqual((status, output, len(said.splitlines())), (2, "", 1), said)


class Resumed(Trapped):
    """A suite's folder that somebody passed on: nothing that it holds is executed."""

    CHOICE = ["--benchmarks=halo,pingpong", "--runs=1", "--launcher=orterun", "--ranks=2"]

    def setUp(self):
        super().setUp()
        # Two launches as they are, and what goes on with them.
        self.begin_suite("--options=halo: --rows=1")
        self.kept = self.results + " kept"
        shutil.copytree(self.results, self.kept)

    def begin_suite(self, *options):
        shutil.rmtree(self.results, ignore_errors=True)
        status, _, said = self.call("sh", suite_test.SUITE, f"--build={self.build}", f"--output={self.results}",
                                    *self.CHOICE, *options)
        self.assertEqual(status, 0, said)

    def resume(self, *options):
        return self.call("sh", suite_test.SUITE, f"--resume={self.results}", *options)

    def words(self, run):
        """What halo was started with, but for the file of its result."""
        with open(f"{self.results}/runs/{run}/halo.log", encoding="utf-8") as log:
            return shlex.split(log.readline()[2:])[:-1]

    def test_legitimate_options(self):
        """With blanks, quotes and what a shell would evaluate: the words are what they were."""
        value = f"it's \"a\" $(touch {self.trap.file}) `id` * ; \\ b"
        self.begin_suite(f"--options=halo: --rows=1 {value}", f"--bind={value}", "--limit=60",
                         f"--options=all: --word={value}")
        self.assertIn(value, self.words(1))
        self.assertEqual(self.resume()[0], 0)
        shutil.rmtree(self.results + "/runs")
        self.assertEqual(self.resume()[0], 0)
        status, _, said = self.resume("--runs=2")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.words(2), self.words(1))
        self.assertIn(value, self.words(2))
        # And the last word on it is the caller's, also about the programs.
        other = os.path.join(self.folder, "other build")
        os.symlink(self.build, other)
        os.remove(os.path.join(self.results, "suite/versions"))
        status, output, said = self.resume("--dry-run", "--launcher=srun", f"--build={other}", "--runs=1")
        self.assertEqual(status, 0, said)
        self.assertEqual(len(output.splitlines()), 3)
        self.assertIn("srun --kill-on-bad-exit=1", output)
        self.assertIn(os.path.join(other, "halo/halo"), output)

    def damaged(self, text):
        """A file's text with a hostile one in place of it, as a line of it, and in each of its cells or words."""
        was = text.rstrip("\n")
        for hostile in self.trap.texts()[:3]:
            yield hostile
            yield was + "\n" + hostile + "\n"
            yield was + " " + hostile + "\n"
            yield was + f"\n--options=halo: {hostile}\n--hosts={hostile}\n"
            yield re.sub(r"[^\t\n]+", lambda word, hostile=hostile: word.group() + hostile, text)
            yield re.sub(r"[^\t\n= ]+", lambda word, hostile=hostile: hostile, text)

    def test_every_file(self):
        files = sorted(os.listdir(self.kept + "/suite"))
        for name in ("options", "plan.tsv", "versions", "expected.tsv", "launches.tsv"):
            self.assertIn(name, files)
        # Of a launch that was killed.
        with open(self.kept + "/suite/running", "w", encoding="ascii") as file:
            file.write(f"{os.uname().nodename} 1 1\n")
        for name in ["running", *files]:
            with open(os.path.join(self.kept, "suite", name), encoding="utf-8") as file:
                was = file.read()
            # Only of these does anything become a part of commands or sums.
            read = name in ("options", "plan.tsv", "expected.tsv", "launches.tsv", "running", "versions")
            for text in self.damaged(was) if read else [next(self.damaged(was))]:
                with self.subTest(file=name, text=text[:300]):
                    shutil.rmtree(self.results)
                    shutil.copytree(self.kept, self.results)
                    with open(os.path.join(self.results, "suite", name), "w", encoding="utf-8") as file:
                        file.write(text)
                    os.remove(self.results + "/runs/1/halo.tsv")
                    for options in (["--dry-run"], [], ["--runs=2"])[:3 if name == "options" else 2]:
                        self.assertIn(self.resume(*options)[0], (0, 1, 2))

    def test_programs_of_the_folder(self):
        """What only the folder names is not run: a program in it, a command with words."""
        program = os.path.join(self.kept, "suite", "mpirun")
        suite_test.write_program(program, f"#!/bin/sh\ntouch '{self.trap.file}'\necho HYDRA\n")
        os.makedirs(self.kept + "/programs/halo")
        shutil.copy(program, self.kept + "/programs/halo/halo")
        shutil.copy(program, self.kept + "/programs/pingpong")
        link = os.path.join(self.folder, "link")
        os.symlink(self.results, link)
        build = f"--build={self.build}\n"
        for options in (f"{build}--launcher={self.results}/suite/mpirun\n",
                        f"{build}--launcher={link}/suite/mpirun\n",
                        f"{build}--launcher=../results/suite/mpirun",
                        f"{build}--launcher=sh -c touch${{IFS}}{self.trap.file} {{ranks}}\n",
                        f"{build}--launcher=orterun sh -c touch${{IFS}}{self.trap.file}\n",
                        f"{build}--launcher=env {self.results}/suite/mpirun {{ranks}}\n",
                        f"--launcher=orterun\n--build={self.results}/programs\n",
                        f"--launcher=orterun\n--build={link}/suite/../programs\n",
                        f"{build}--hosts=a,-oProxyCommand={self.results}/programs/pingpong\n",
                        f"{build}--hosts=-x\n", f"{build}--hosts=a b\n",
                        f"{build}--options=halo: --rows=1 --dump-samples={self.trap.file}\n",
                        f"{build}--options=halo: --du {self.trap.file}\n",
                        f"{build}--output={self.folder}/elsewhere\n", f"{build}--resume={self.kept}\n",
                        f"{build}--\n", f"{build}-v\n", f"{build}\n", f"{build}halo\n"):
            with self.subTest(options=options):
                shutil.rmtree(self.results)
                shutil.copytree(self.kept, self.results)
                with open(self.results + "/suite/options", "w", encoding="utf-8") as file:
                    file.write("--benchmarks=halo,pingpong\n--runs=2\n" + options)
                for call in (["--dry-run"], []):
                    status, output, said = self.resume(*call)
                    self.assertEqual((status, output, len(said.splitlines())), (2, "", 1), said)

    def test_launcher_with_words(self):
        """How to go on says what has to be given again."""
        shutil.rmtree(self.results)
        status, _, said = self.call("sh", suite_test.SUITE, f"--build={self.build}", f"--output={self.results}",
                                    "--benchmarks=halo", "--runs=1", "--launcher=other -n {ranks}",
                                    "--options=halo: --fault=once")
        self.assertEqual(status, 1, said)
        again = shlex.split(said.splitlines()[-1].partition("run_suite.sh ")[2])
        self.assertEqual(again, [f"--resume={self.results}", "--launcher=other -n {ranks}"])
        status, _, said = self.resume()
        self.assertEqual((status, len(said.splitlines())), (2, 1), said)
        status, _, said = self.call("sh", suite_test.SUITE, *again)
        self.assertEqual(status, 0, said)

    def test_files_outside(self):
        """Names in the folder's files don't lead out of it."""
        outside = os.path.join(self.folder, "outside.tsv")
        for path, text in ((outside, "mine"), (self.results + "/runs/outside.tsv", "a\tb\n1\t2\n")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        with open(self.results + "/suite/expected.tsv", "a", encoding="ascii") as file:
            file.write("../outside\t1\n")
        self.resume()
        with open(outside, encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")


class Names(plots_test.Scripts):
    """Folders and files with names that shells, awk and commands could take for something else."""

    def setUp(self):
        super().setUp()
        self.trap = Trap()
        self.addCleanup(shutil.rmtree, self.trap.folder)

    def run_script(self, script, *arguments):
        done = subprocess.run(["sh", os.path.join(SCRIPTS, script), *arguments], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        self.assertFalse(self.trap.is_sprung(), arguments)
        self.assertNotRegex(done.stderr, COMPLAINTS)
        return done

    def test_names(self):
        hostile = f"$(touch {self.trap.file.replace('/', '_')}) `id` 'q\" \\n *"
        for name in ("a=b", "-x", "--output=z", hostile):
            with self.subTest(name=name):
                for benchmark in ("syncbench", "halo"):
                    self.write(name, benchmark, plots_test.tsv(*plots_test.ALL[benchmark]))
                os.rename(os.path.join(self.folder, name, "halo.tsv"),
                          os.path.join(self.folder, name, "x=1.tsv"))
                arguments = ["--", name] if name.startswith("-") else [name]
                done = self.run_script("report.sh", *arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                page = os.path.join(self.folder, name, "report.html")
                with open(page, encoding="utf-8") as stream:
                    text = stream.read()
                xml.dom.minidom.parseString(text.split("\n", 1)[1] if text.startswith("<!") else text)
                self.assertIn('id="halo"', text)
                self.assertIn('id="syncbench"', text)
                done = self.run_script("report_text.sh", name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("| sync all |", done.stdout)

    def test_contents(self):
        """Metadata, column names and cells that a shell, awk or gnuplot would evaluate."""
        touch = "touch " + self.trap.file
        for number, hostile in enumerate([
                f"`{touch}`", f"'.system('{touch}').'", f"\".system(\"{touch}\").\"", f"$({touch})",
                f"'; system '{touch}' #", f"\\'`{touch}`\\", f"@{touch}", f"';{touch};'", f"< {touch}", f"{touch}|"]):
            name = f"hostile {number}"
            for benchmark, (program, columns, rows) in plots_test.ALL.items():
                cells = [[cell if NUMBER.fullmatch(str(cell)) or cell in ("time", "data", "NA") else f"{cell}{hostile}"
                          for cell in row] for row in rows]
                lines = plots_test.tsv(program, columns, cells, remarks=[f"warning: {hostile}", f"note: {hostile}"],
                                       metadata={key: hostile for key in plots_test.METADATA})
                self.write(name, benchmark, lines)
            for script, *words in (["plot.sh", "--format=svg", name], ["report.sh", name, "hostile 0"],
                                   ["report_text.sh", name]):
                with self.subTest(script=script, hostile=hostile):
                    self.assertEqual(self.run_script(script, *words).returncode, 0)

    def test_refused(self):
        for script in ("plot.sh", "report.sh"):
            for words in (["a\nb"], [""], ["--format=$(id)"], ["--output="], ["-\n"], ["a", "b", "c"],
                          ["x" * 20000]):
                with self.subTest(script=script, words=words[0][:40]):
                    done = self.run_script(script, *words)
                    self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1),
                                     done.stderr)
                    self.assertLess(len(done.stderr), 700)


# Of a sound result, a damaged one. Each takes its bytes and random numbers.
def cut(text, choose):
    return text[:choose.randrange(len(text))]


def cut_often(text, choose):
    """The end of a line, of many lines."""
    lines = text.split(b"\n")
    return b"\n".join(line[:choose.randrange(len(line) + 1)] if choose.random() < 0.4 else line for line in lines)


def flip(text, choose):
    damaged = bytearray(text)
    for _ in range(30):
        damaged[choose.randrange(len(damaged))] = choose.randrange(256)
    return bytes(damaged)


def without_a_column(text, choose):
    lines = text.split(b"\n")
    at = choose.randrange(3, 8)
    return b"\n".join(line if line.startswith(b"#") or b"\t" not in line
                      else b"\t".join(cell for i, cell in enumerate(line.split(b"\t")) if i != at) for line in lines)


def short_rows(text, choose):
    lines = text.split(b"\n")
    return b"\n".join(b"\t".join(line.split(b"\t")[:choose.randrange(1, 9)])
                      if not line.startswith(b"#") and i > 8 and b"\t" in line else line for i, line in enumerate(lines))


def odd_cells(text, choose):
    odd = [b"", b"NA", b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"0x10", b"1,5", b"9" * 400, b"-0", b"1e308",
           b"'\"<&>", b"$(id)", b"%s", b"\xff\xfe", b"\\n", b"-1", b"0"]
    lines = text.split(b"\n")
    return b"\n".join(b"\t".join(choose.choice(odd) if choose.random() < 0.25 else cell for cell in line.split(b"\t"))
                      if not line.startswith(b"#") and i > 8 else line for i, line in enumerate(lines))


DAMAGES = {
    "nothing": lambda text, choose: b"",
    "no rows": lambda text, choose: b"\n".join(text.split(b"\n")[:9]) + b"\n",
    "only metadata": lambda text, choose: b"\n".join(line for line in text.split(b"\n") if line.startswith(b"#")),
    "only rows": lambda text, choose: b"\n".join(line for line in text.split(b"\n") if not line.startswith(b"#")),
    "bytes": lambda text, choose: bytes(choose.randrange(256) for _ in range(3000)),
    "zeros": lambda text, choose: text.replace(b"\t", b"\t\0", 9),
    "cut": cut, "cut often": cut_often, "flip": flip, "without a column": without_a_column,
    "short rows": short_rows, "odd cells": odd_cells,
}

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Damaged(Names):
    """Results that are damaged: a page or a line; and no number that isn't in them."""

    count = 24
    seed = 1

    def test_names(self):
        """Not again."""

    test_refused = test_names

    def test_damaged(self):
        choose = random.Random(self.seed)
        for number in range(self.count):
            kind = list(DAMAGES)[number % len(DAMAGES)]
            benchmark = choose.choice(list(plots_test.ALL))
            with self.subTest(damage=kind, benchmark=benchmark, number=number):
                text = plots_test.tsv(*plots_test.ALL[benchmark]).encode()
                self.try_result(f"r{number}", benchmark, DAMAGES[kind](text, choose))

    def try_result(self, result, name, text):
        path = os.path.join(self.folder, result)
        os.makedirs(path)
        with open(os.path.join(path, name + ".tsv"), "wb") as stream:
            stream.write(text)
        known = {float(match) for cell in re.split(rb"[\t\n\r]", text)
                 for match in [cell.decode(errors="replace")] if NUMBER.fullmatch(match)}
        done = self.run_script("report.sh", result)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        page = os.path.join(path, "report.html")
        if done.returncode == 1 and not os.path.exists(page):
            self.assertIn("no results of benchmarks", done.stderr)
        else:
            self.judge_page(page, known)
        done = subprocess.run(["sh", os.path.join(SCRIPTS, "report_text.sh"), path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said)
        self.assertNotRegex(said, COMPLAINTS)

    def judge_page(self, page, known):
        with open(page, "rb") as stream:
            text = stream.read().decode()
        document = xml.dom.minidom.parseString(text.split("\n", 1)[1] if text.startswith("<!") else text)
        for table in document.getElementsByTagName("table"):
            if "rows" not in table.getAttribute("class"):
                continue
            for cell in table.getElementsByTagName("td"):
                shown = plots_test.text_of(cell)
                if NUMBER.fullmatch(shown) and "base" not in cell.getAttribute("class"):
                    self.assertTrue(float(shown) in known or self.is_of_several(document), f"{shown} is no cell")

    def is_of_several(self, document):
        """Whether rows of the same keys have been put together: then there are medians."""
        return "Values are medians" in plots_test.text_of(document.documentElement)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Damaged.count = int(sys.argv.pop())
    unittest.main()
