# SPDX-License-Identifier: BSD-3-Clause
"""Are README.md, the benchmarks' READMEs and docs/ true?

Pages     links, anchors, names of files, README.md's size, examples that need no other tools, the overlap suite's
          operations; needs no build
Options   each option that a table names exists, and each option of a program is named: --help
Columns   the same for the columns of results: the line "# columns:" and the header of a quick run
Commands  programs and options in the examples, and labels of tests

Tables count by their first header cell, "option" or "column": they are about all programs of
their page, or, as in "option of `msgrate_rma`", about those that the cell names.
"""

import fnmatch
import glob
import os
import re
from typing import NamedTuple

from case import Case, call, each
from mpi_run import WHOLE, ask_ctest, run_raw

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HELP_WORDS = 12
README_LINES, README_WIDTH = 125, 100  # two screens

# Whose options and columns a page has.
PAGES = {
    "overlap/README.md": ["overlap/overlap_*"],
    "mpi_overhead/README.md": ["mpi_overhead/mpi_overhead"],
    "msgrate/README.md": ["msgrate/msgrate", "msgrate/msgrate_rma"],
    "pingpong/README.md": ["pingpong/pingpong"],
    "syncbench/README.md": ["syncbench/syncbench"],
    "halo/README.md": ["halo/halo"],
    "linkmap/README.md": ["linkmap/linkmap"],
    "noise/README.md": ["noise/noise"],
    "collective/README.md": ["collective/collective"],
    "monitor/README.md": ["monitor/monitor_overhead"],
    "checkup/README.md": ["checkup/checkup"],
    "docs/compare.md": ["run_scripts/bench_compare"],
}
COMMON = "docs/common-options.md"  # of all of these but bench_compare
COMPARE = "run_scripts/bench_compare"
SCRIPTS = {"docs/suite.md": "run_suite.sh", "docs/devices.md": "device_matrix.sh", "docs/cost.md": "cost.sh",
           "docs/tune.md": "tune.sh", "checkup/README.md": "checkup.sh"}

# A quick run of each program: ranks and options.
QUICK = {
    "overlap/overlap_iallreduce": (2, ["--data-driven", "--max-num-elts=1", "--max-time=0.01"]),
    "overlap/overlap_ibarrier": (2, ["--max-time=0.01"]),
    "overlap/overlap_halo": (2, ["--local=2", "--methods=persistent", "--max-time=0.01"]),
    "overlap/overlap_partitioned": (2, ["--data-driven", "--min-num-elts=8", "--max-num-elts=8",
                                        "--max-time=0.01"]),
    "mpi_overhead/mpi_overhead": (2, ["--msgsize=8", "--max-time=0.01"]),
    "msgrate/msgrate": (2, ["-p", "1", "-m", "1", "-c", "0", "--max-time=0.01"]),
    "msgrate/msgrate_rma": (2, ["-p", "1", "-m", "1", "-c", "0", "--max-time=0.01"]),
    "pingpong/pingpong": (2, ["--patterns=MPI Send", "--max-ndata=1", "--max-time=0.01"]),
    "syncbench/syncbench": (2, ["--types=MPI barrier", "--max-time=0.01"]),
    "halo/halo": (2, ["--local=2", "--methods=persistent", "--max-time=0.01"]),
    "linkmap/linkmap": (2, ["--sizes=8", "--max-time=0.01"]),
    "noise/noise": (2, ["--samples=2000"]),
    "collective/collective": (2, ["--operations=bcast", "--sizes=8", "--max-time=0.01"]),
    "checkup/checkup": (2, ["--max-time=0.01"]),
    "monitor/monitor_overhead": (1, ["--max-time=0.01"]),
}


# ---- pages ---------------------------------------------------------------------------------------

def read(path):
    """The text of a file of the tree."""
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return stream.read()


def all_pages():
    """The paths of all *.md files, without builds and results."""
    found = []
    for folder, folders, files in os.walk(TOP):
        folders[:] = [name for name in folders
                      if not re.match(r"\.|build|results|__pycache__", name)]
        found += [os.path.relpath(os.path.join(folder, name), TOP)
                  for name in files if name.endswith(".md")]
    return sorted(found)


def split_fences(text):
    """The lines outside of code blocks, and the code blocks' text."""
    outside, inside, fence = [], [], None
    for line in text.splitlines():
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark.group(1)
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            outside.append(line)
        else:
            inside.append(line)
    assert fence is None, "a code block has no end"
    return outside, "\n".join(inside)


def code_spans(text):
    """The texts in backticks."""
    return re.findall(r"`([^`]+)`", text)


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    made = {}
    found = set()
    for line in split_fences(read(path))[0]:
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(name if name not in made else f"{name}-{made[name]}")
        made[name] = made.get(name, 0) + 1
    return found


def links(path):
    """The targets of a page's links and images."""
    text = re.sub(r"`[^`\n]*`", "", "\n".join(split_fences(read(path))[0]))
    return re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", text)


def tables(path):
    """A page's tables: the header's cells, and the rows' cells."""
    def cells_of(line):
        return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]

    found, header = [], None
    lines = split_fences(read(path))[0]
    for above, line in zip([""] + lines, lines):
        if not line.startswith("|"):
            header = None
        elif header is not None:
            found[-1][1].append(cells_of(line))
            assert len(cells_of(line)) == len(header), f"{path}: {line}"
        elif re.fullmatch(r"[-|: ]+", line) and above.startswith("|"):
            header = cells_of(above)
            found.append((header, []))
    return found


def tables_of(path, word):
    """The page's tables whose first header cell is this word: the names in backticks that follow it
    (none: all programs of the page), the header and the rows."""
    found = []
    for header, rows in tables(path):
        if re.match(rf"{word}\b", header[0]):
            names = code_spans(header[0])
            assert names or header[0] == word, f"{path}: '{header[0]}' names no program"
            found.append((names, header, rows))
    return found


class Pages(Case):
    def test_there(self):
        assert {"README.md", COMMON, *PAGES, *SCRIPTS} <= set(all_pages())

    def test_size(self):
        lines = read("README.md").splitlines()
        assert len(lines) <= README_LINES
        assert [line for line in lines if len(line) > README_WIDTH] == []

    def test_questions(self):
        """The table of questions is read at one look: at most 20 words a cell, and no name=value."""
        (_, rows), = (table for table in tables("README.md") if table[0][0] == "question")
        for cell in sum(rows, []):
            assert len(cell.split()) <= 20 and "=" not in cell, cell

    @each("path", [path for path in all_pages() if os.path.basename(path) == "README.md"])
    def test_plain_commands(self, path):
        """An example is read as the program writes it, without a tool that takes lines or columns out."""
        assert re.findall(r"^.*(?:\| *|\$ *)(?:grep|cut|column)\b.*$", split_fences(read(path))[1], re.M) == []

    @each("path", all_pages())
    def test_links(self, path):
        """Relative ones lead to files and headings of the tree."""
        for target in links(path):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            assert not target.startswith("/"), f"{target} isn't relative"
            name, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            assert not there.startswith(".."), f"{target} leaves the tree"
            assert os.path.exists(os.path.join(TOP, there)), f"no {there}"
            assert not anchor or anchor in anchors(there), target

    def test_reached(self):
        """Each page of docs/ and of a benchmark is linked from README.md."""
        linked = {target.partition("#")[0] for target in links("README.md")}
        assert {path for path in all_pages()
                if path in PAGES or os.path.dirname(path) == "docs"} <= linked

    @each("path", all_pages())
    def test_files(self, path):
        """Files of the tree that stand in backticks or in examples are there. A word in capitals
        stands for any name."""
        folders = "|".join(sorted(
            name for name in os.listdir(TOP) if os.path.isdir(os.path.join(TOP, name)) and
            re.match(r"[a-z_]+$", name) and not re.match("build|results", name)))
        outside, inside = split_fences(read(path))
        named = [span for span in code_spans("\n".join(outside))
                 if re.fullmatch(rf"({folders})/[\w./-]+", span)]
        named += re.findall(
            rf"(?<![\w/.=-])(?:\./)?((?:{folders})/[\w./-]+\.(?:sh|py|c|h))\b", inside)
        for name in named:
            words = re.sub(r"README\.md|CMakeLists\.txt", "", name)
            if not re.search(r"\b[A-Z]{2,}\b", words):
                assert os.path.exists(os.path.join(TOP, name)), f"no {name}"

    def test_operations(self):
        """The overlap suite's page lists what has a program there, in order within each row."""
        (_, rows), = (table for table in tables("overlap/README.md") if table[0][0] == "programs")
        listed = [code_spans(row[0]) for row in rows]
        names = [name[:-2].replace("overlap_", "") for name in os.listdir(os.path.join(TOP, "overlap"))
                 if name.endswith(".c") and
                 re.search(r"^int main\(",
                           read("overlap/" + name), re.M)]
        assert sorted(sum(listed, [])) == sorted(names)
        assert listed[0] == sorted(listed[0])


# ---- programs ------------------------------------------------------------------------------------

def programs_of(build, path):
    """The programs of the build that a page is about; at least one for each pattern."""
    found = []
    for pattern in PAGES[path]:
        if pattern == COMPARE:  # a script
            found.append(os.path.join(TOP, pattern))
            continue
        folder, name = os.path.split(pattern)
        there = [f"{folder}/{entry.name}" for entry in os.scandir(os.path.join(build, folder))
                 if fnmatch.fnmatchcase(entry.name, name) and entry.is_file() and
                 os.access(entry.path, os.X_OK)]
        assert there, f"the build has no {pattern}"
        found += sorted(there)
    return found


def is_about(names, program):
    """True if a table whose header names these is about a program."""
    return not names or any(fnmatch.fnmatchcase(os.path.basename(program), name) for name in names)


def help_text(case, program):
    """Returns the output of --help, without mpirun."""
    done = call([case.built(program), "--help"])
    assert done.returncode == 0, f"{program} --help: {done.stderr}"
    return done.stdout


class Option(NamedTuple):
    """An option in --help or in a table: its short name, words between which one chooses or None where it
    takes nothing, its variables."""

    short: str
    argument: list
    variables: list


def option_of(short, argument, variables=()):
    return Option(short, argument and sorted(argument.split("|")), list(variables))


def options_in_help(text):
    """The options of a program by long name. Each has a line with its names, and other lines
    further to the right."""
    found, last = {}, []
    for line in text.splitlines():
        named = re.match(r"  (?:-(.), |    )--(\S.*)$", line)
        variables = re.match(r" +environment: (.*)", line)
        if named:
            last = []
            for part in named.group(2).split(", --"):
                name, equals, argument = part.partition("=")
                found[name] = option_of(named.group(1) or "" if not last else "", argument if equals else None)
                last.append(name)
        elif variables:
            for name in last:
                found[name].variables.extend(variables.group(1).split())
    return found


def help_of_options(text):
    """Yields each option of a program or script with its text in --help: the words before the default and before a list
    of names."""
    for name, lines in re.findall(r"(?m)^ {2,6}(?:-\w, )?(--[a-z][\w-]*).*\n((?: {8,}\S.*\n)+)", text):
        words = " ".join(line.strip() for line in lines.splitlines() if not line.strip().startswith("environment:"))
        yield name, re.split(r"\(?\bdefault:|\(default\b|, by default\b|\bcommas: ", words)[0].split()


def options_in_cell(cell):
    """The options that a table's first cell names, a short name before its long one."""
    found, short = {}, ""
    for span in code_spans(cell):
        long_name = re.fullmatch(r"--([a-z0-9-]+)(?:=(.*))?", span)
        if re.fullmatch(r"-\w", span):
            short = span[1]
        elif long_name:
            found[long_name.group(1)] = option_of(short, long_name.group(2))
            short = ""
        else:
            raise AssertionError(f"'{span}' in the cell '{cell}' is no option")
    assert not short, f"-{short} in the cell '{cell}' has no long name"
    return found


def options_in_tables(path, program):
    """The options that a page documents for a program."""
    found = {}
    for names, header, rows in tables_of(path, "option"):
        for row in rows if is_about(names, program) else []:
            for name, option in options_in_cell(row[0]).items():
                assert name not in found, f"{path}: --{name} stands there twice"
                if "variable" in header:
                    option.variables.extend(code_spans(row[header.index("variable")]))
                found[name] = option
    return found


def assert_same(where, documented, there):
    """A page names these, each once."""
    assert len(documented) == len(set(documented)), f"{where} has one twice"
    assert sorted(set(there) - set(documented)) == [], f"{where} lacks these"
    assert sorted(set(documented) - set(there)) == [], f"{where} has these, which don't exist"


class Options(Case):
    @each("path", PAGES)
    def test_programs(self, path):
        """The same options, by the same short names, with the same arguments and variables."""
        for program in programs_of(self.build, path):
            documented = options_in_tables(path, program)
            if not program.endswith(COMPARE):
                common = options_in_tables(COMMON, program)
                assert set(documented) & set(common) == set(), "on both pages"
                documented.update(common)
            there = options_in_help(help_text(self, program))
            assert_same(f"{path} on {program}", documented, there)
            for name, option in there.items():
                assert documented[name] == option, f"{path}: {program} --{name}"

    def test_names(self):
        """The names that a list may have, as --help prints them, are on the program's page."""
        pages = set()
        for path in PAGES:
            spans = {span.lower() for span in code_spans("\n".join(split_fences(read(path))[0]))}
            # The same kinds of puts and gets stand there once.
            spans |= {span.replace("put", "get") for span in spans}
            text = " ".join(" ".join(help_text(self, program) for program in programs_of(self.build, path)).split())
            for names in re.findall(r", with commas: ((?:(?!, or all).)*), or all", text):
                pages.add(path)
                assert {name.lower() for name in names.split(", ")} <= spans, path
        assert {"overlap/README.md", "pingpong/README.md", "syncbench/README.md",
                "halo/README.md"} <= pages

    def test_short_help(self):
        """An option's help has at most HELP_WORDS words."""
        programs = {program for path in PAGES for program in programs_of(self.build, path)}
        texts = {program: help_text(self, program) for program in programs if not program.endswith(COMPARE)}
        for script in sorted(glob.glob(os.path.join(TOP, "run_scripts", "*.sh")) + [os.path.join(TOP, COMPARE)]):
            if os.path.basename(script) != "lib.sh":
                texts[script] = call(["sh", script, "--help"]).stdout
        long_ones = {f"{os.path.basename(program)} {name}: {' '.join(words)}" for program, text in texts.items()
                     for name, words in help_of_options(text) if len(words) > HELP_WORDS}
        assert long_ones == set(), "\n".join(sorted(long_ones))

    @each("path", SCRIPTS)
    def test_scripts(self, path):
        """By long name only."""
        done = call(["sh", os.path.join(TOP, "run_scripts", SCRIPTS[path]), "--help"])
        there = re.findall(r"^ {2,6}(?:-\w, )?--([a-z-]+)", done.stdout, re.M)
        assert done.returncode == 0, done.stderr
        assert sorted(options_in_tables(path, SCRIPTS[path])) == sorted(there)


class Commands(Case):
    def test_examples(self):
        """Programs that examples start are in the build, and have the options that they give
        them."""
        helps = {}
        for path in all_pages():
            for command in split_fences(read(path))[1].replace("\\\n", " ").splitlines():
                for match in re.finditer(r"(?<![\w/])build/((?:\w+/)+[\w.]+)([^|>#&]*)", command):
                    program, words = match.group(1), match.group(2)
                    self.built(program)
                    if os.path.splitext(program)[1]:
                        continue
                    if program not in helps:
                        helps[program] = {"help", *options_in_help(help_text(self, program))}
                    given = set(re.findall(r"(?<!\S)--([a-z-]+)", words))
                    assert given <= helps[program], f"{path}: {command}"

    def test_inline(self):
        """Long options in the text of a page exist: in a program, or in a script or tool that such
        pages speak of."""
        known = {"help", "all", "full", "condition"}  # the last three of tests/run.sh
        for path in PAGES:
            for program in programs_of(self.build, path):
                known |= set(options_in_help(help_text(self, program)))
        for folder, _, names in os.walk(os.path.join(TOP, "run_scripts")):
            for name in names:
                if name.endswith((".sh", ".py")):
                    known |= set(re.findall(r"--([a-z][a-z-]+)", read(os.path.join(folder, name))))
        # mpirun's, srun's, docker's; the second is for a flag that is switched off.
        known |= {"allow-run-as-root", "flag", "cpus", "export", "mpi"}
        for path in all_pages():
            for span in code_spans("\n".join(split_fences(read(path))[0])):
                named = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", span))
                assert named <= known, f"{path}: {span}"

    def test_labels(self):
        """The labels of the build's tests are in docs/developing.md."""
        labels = set(re.findall(r"^  (\w+)$", ask_ctest(self.build, "--print-labels"), re.M))
        assert "docs" in labels
        assert labels <= {span for _, _, rows in tables_of("docs/developing.md", "label")
                          for row in rows for span in code_spans(row[0])}


# ---- columns -------------------------------------------------------------------------------------

def header_of(text):
    return next(line for line in text.splitlines() if not line.startswith("#")).split("\t")


def columns_in_result(text):
    """A result's columns with their roles, by the line "# columns:", which must agree with the
    header."""
    line = re.search(r"^# columns: (.*)$", text, re.M).group(1)
    roles = [word.rsplit("=", 1) for word in line.split()]
    assert [name for name, _ in roles] == header_of(text)
    return dict(roles)


def columns_in_tables(path, program, its_own=True):
    """The columns that a page documents for a program. A table for all programs of the page is only
    about its own ones, not about what the monitor writes."""
    return [span for names, _, rows in tables_of(path, "column")
            if is_about(names, program) and (names or its_own)
            for row in rows for span in code_spans(row[0])]


class Columns(Case):
    def quick_run(self, program):
        """Returns the output of a quick run of a program."""
        ranks, options = QUICK[program]
        done = run_raw(self.launcher, ranks, [self.built(program), *options, *WHOLE])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def monitored(self, words, status=0):
        """Runs halo with the monitor preloaded and MPIRT_MONITOR set."""
        ranks, options = QUICK["halo/halo"]
        done = run_raw(self.launcher, ranks, [
            "env", f"LD_PRELOAD={self.built('monitor/libmpirtmon.so')}", f"MPIRT_MONITOR={words}",
            self.built("halo/halo"), *options])
        assert (done.returncode == 0) == (status == 0), done.stderr
        return done

    @each("path", [path for path in PAGES if COMPARE not in PAGES[path]])
    def test_programs(self, path):
        tried = [program for program in programs_of(self.build, path) if program in QUICK]
        assert tried
        for program in tried:
            assert_same(f"{path} on {program}", columns_in_tables(path, program),
                        columns_in_result(self.quick_run(program)))

    def test_compare(self):
        """The keys of what is compared stand between bench_compare's own columns."""
        path = next(path for path in PAGES if COMPARE in PAGES[path])
        result = self.quick_run("halo/halo")
        for side in ("base", "new"):
            (self.folder / side).mkdir()
            (self.folder / side / "halo.tsv").write_text(result, encoding="utf-8")
        done = call([os.path.join(TOP, COMPARE), "base", "new"], cwd=self.folder)
        assert done.returncode == 3, done.stderr
        keys = [name for name, role in columns_in_result(result).items() if role == "key"]
        assert_same(path, columns_in_tables(path, COMPARE),
                    [name for name in header_of(done.stdout) if name not in keys])

    def test_monitor_and_cost(self):
        report, results = self.folder / "report.tsv", self.folder / "halo.tsv"
        self.monitored(f"all,peers,output={report}")  # also the columns that only some words need
        results.write_text(self.quick_run("halo/halo"), encoding="utf-8")
        done = call(["sh", os.path.join(TOP, "run_scripts/cost.sh"), "--format=tsv", report, results])
        assert done.returncode == 0, done.stderr
        for path, program, text in (("monitor/README.md", "libmpirtmon", report.read_text(encoding="utf-8")),
                                    ("docs/cost.md", "cost.sh", done.stdout)):
            assert_same(path, columns_in_tables(path, program, its_own=False), columns_in_result(text))

    def test_words(self):
        """The words of MPIRT_MONITOR, as the error for a wrong one lists them."""
        done = self.monitored("no-such-word", status=2)
        listed = re.search(r"is no word of it: use (.*), with commas", done.stderr)
        assert listed, done.stderr
        documented = [span for _, _, rows in tables_of("monitor/README.md", "word")
                      for row in rows for span in code_spans(row[0])]
        assert sorted(documented) == sorted(re.split(", | or ", listed.group(1)))
