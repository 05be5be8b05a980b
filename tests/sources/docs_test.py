#!/usr/bin/env python3
"""Do README.md, the benchmarks' READMEs and docs/ say what is true?

Pages     links, anchors, names of files, README.md's length, collectives; needs no build
Options   each option that a table names exists, and each option of a program is named: --help
Columns   the same for the columns of results: the line "# columns:" and the header of a quick run
Commands  programs and options in the examples, and labels of tests

Tables count by their first header cell, "option" or "column": they are about all programs of
their page, or, as in "option of `msgrate_rma`", about those that the cell names.

usage: docs_test.py --build=FOLDER [CLASS]... [-- MPIRUN...]
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README_LINES = 200
BUILD, MPIRUN = None, []

# Whose options and columns a page has.
PAGES = {
    "overlap/README.md": ["overlap/overlap_*"],
    "mpi_overhead/README.md": ["mpi_overhead/mpi_overhead"],
    "msgrate/README.md": ["msgrate/msgrate", "msgrate/msgrate_rma"],
    "pingpong/README.md": ["pingpong/pingpong"],
    "syncbench/README.md": ["syncbench/syncbench"],
    "halo/README.md": ["halo/halo"],
    "monitor/README.md": ["monitor/monitor_overhead"],
    "docs/compare.md": ["run_scripts/bench_compare/bench_compare"],
}
COMMON = "docs/common-options.md"  # of all of these but bench_compare
COMPARE = "run_scripts/bench_compare/bench_compare"
SCRIPTS = {"docs/suite.md": "run_suite.sh"}

# A quick run of each program: ranks and options.
QUICK = {
    "overlap/overlap_iallreduce": (2, ["--data-driven", "--max-num-elts=1", "--max-time=0.01"]),
    "overlap/overlap_ibarrier": (2, ["--max-time=0.01"]),
    "mpi_overhead/mpi_overhead": (2, ["--msgsize=8", "--max-time=0.01"]),
    "msgrate/msgrate": (2, ["-p", "1", "-m", "1", "-c", "0", "--max-time=0.01"]),
    "msgrate/msgrate_rma": (2, ["-p", "1", "-m", "1", "-c", "0", "--max-time=0.01"]),
    "pingpong/pingpong": (2, ["--patterns=MPI Send", "--max-ndata=1", "--max-time=0.01"]),
    "syncbench/syncbench": (2, ["--types=MPI barrier", "--max-time=0.01"]),
    "halo/halo": (2, ["--local=2", "--methods=persistent", "--max-time=0.01"]),
    "monitor/monitor_overhead": (1, ["--max-time=0.01"]),
}
QUICK_HALO = QUICK["halo/halo"]


# ---- pages ---------------------------------------------------------------------------------------

def read(path):
    """The text of a file of the tree."""
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return stream.read()


def all_pages():
    """The paths of all *.md files, without builds and results."""
    found = []
    for folder, folders, files in os.walk(TOP):
        folders[:] = [name for name in folders if not re.match(r"\.|build|results|__pycache__", name)]
        found += [os.path.relpath(os.path.join(folder, name), TOP) for name in files if name.endswith(".md")]
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
    if fence is not None:
        raise AssertionError("a code block has no end")
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
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "").replace("*", "")
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
    found, header = [], None
    lines = split_fences(read(path))[0]
    for above, line in zip([""] + lines, lines):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not line.startswith("|"):
            header = None
        elif header is not None:
            if len(cells) != len(header):
                raise AssertionError(f"{path}: a row of {len(cells)} cells, not {len(header)}: {line}")
            found[-1][1].append(cells)
        elif re.fullmatch(r"[-|: ]+", line) and above.startswith("|"):
            header = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", above)[1:-1]]
            found.append((header, []))
    return found


def tables_of(path, word):
    """The page's tables whose first header cell is this word: the names in backticks that follow it
    (none: all programs of the page), the header and the rows."""
    found = []
    for header, rows in tables(path):
        if re.match(rf"{word}\b", header[0]):
            if header[0] != word and not code_spans(header[0]):
                raise AssertionError(f"{path}: '{header[0]}' names no program in backticks")
            found.append((code_spans(header[0]), header, rows))
    return found


class Pages(unittest.TestCase):

    def test_there(self):
        pages = all_pages()
        for path in ["README.md", COMMON, *PAGES, *SCRIPTS]:
            self.assertIn(path, pages)

    def test_length(self):
        self.assertLessEqual(len(read("README.md").splitlines()), README_LINES)

    def test_links(self):
        for path in all_pages():
            for target in links(path):
                with self.subTest(page=path, link=target):
                    if re.match(r"[a-z][a-z0-9+.-]*:", target):
                        continue
                    self.assertFalse(target.startswith("/"), "not relative")
                    name, _, anchor = target.partition("#")
                    there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                    self.assertFalse(there.startswith(".."), "leaves the tree")
                    self.assertTrue(os.path.exists(os.path.join(TOP, there)), f"no {there}")
                    if anchor:
                        self.assertIn(anchor, anchors(there))

    def test_reached(self):
        """Each page of docs/ and of a benchmark is linked from README.md."""
        linked = {target.partition("#")[0] for target in links("README.md")}
        for path in all_pages():
            if path in PAGES or os.path.dirname(path) == "docs":
                with self.subTest(page=path):
                    self.assertIn(path, linked)

    def test_files(self):
        """Files of the tree that stand in backticks or in examples are there. A word in capitals
        stands for any name."""
        folders = "|".join(sorted(name for name in os.listdir(TOP)
                                  if os.path.isdir(os.path.join(TOP, name)) and re.match(r"[a-z_]+$", name)
                                  and not re.match("build|results", name)))
        for path in all_pages():
            outside, inside = split_fences(read(path))
            named = [span for span in code_spans("\n".join(outside)) if re.fullmatch(rf"({folders})/[\w./-]+", span)]
            named += re.findall(rf"(?<![\w/.=-])(?:\./)?((?:{folders})/[\w./-]+\.(?:sh|py|c|h))\b", inside)
            for name in named:
                words = re.sub(r"README\.md|CMakeLists\.txt", "", name)
                if re.search(r"\b[A-Z]{2,}\b", words):
                    continue
                with self.subTest(page=path, file=name):
                    self.assertTrue(os.path.exists(os.path.join(TOP, name)), f"no {name}")

    def test_collectives(self):
        """The overlap suite's page lists what has a file there."""
        outside = "\n".join(split_fences(read("overlap/README.md"))[0])
        listed = code_spans(re.search(r"^The collectives: (.*?)\n\n", outside, re.S | re.M).group(1))
        there = sorted(name[:-2] for name in os.listdir(os.path.join(TOP, "overlap")) if name.endswith(".c"))
        self.assertEqual(listed, there)


# ---- programs ------------------------------------------------------------------------------------

def program_path(program):
    return os.path.join(BUILD, program)


def programs_of(patterns):
    """The programs of the build that have such names; at least one for each."""
    found = []
    for pattern in patterns:
        folder, name = os.path.split(pattern)
        there = sorted(entry for entry in os.listdir(program_path(folder))
                       if fnmatch.fnmatchcase(entry, name) and os.path.isfile(program_path(f"{folder}/{entry}"))
                       and os.access(program_path(f"{folder}/{entry}"), os.X_OK))
        if not there:
            raise AssertionError(f"the build has no {pattern}")
        found += [f"{folder}/{entry}" for entry in there]
    return found


def help_text(program):
    """What --help prints, without mpirun."""
    done = subprocess.run([program_path(program), "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=30, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{program} --help: exit status {done.returncode}: {done.stderr}")
    return done.stdout


class Option:
    """What --help, or a table, says of an option: its other names, what it takes, its variables."""

    def __init__(self, short="", argument=None):
        self.short = short
        self.argument = argument  # None: nothing
        self.variables = []

    def key(self):
        """Comparable; the order of words between which one chooses doesn't matter."""
        return self.short, self.argument and sorted(self.argument.split("|"))


def options_in_help(text):
    """The options of a program by long name. Each has a line with its names, and other lines further
    to the right."""
    found, last = {}, []
    for line in text.splitlines():
        named = re.match(r"  (?:-(.), |    )--(\S.*)$", line)
        variables = re.match(r" +environment: (.*)", line)
        if named:
            last = []
            for part in named.group(2).split(", --"):
                name, equals, argument = part.partition("=")
                found[name] = Option(named.group(1) or "" if not last else "", argument if equals else None)
                last.append(name)
        elif variables:
            for name in last:
                found[name].variables = variables.group(1).split()
    return found


def options_in_cell(cell):
    """The options that a table's first cell names, a short name before its long one."""
    found, short = {}, ""
    for span in code_spans(cell):
        long_name = re.fullmatch(r"--([a-z0-9-]+)(?:=(.*))?", span)
        if re.fullmatch(r"-\w", span):
            short = span[1]
        elif long_name:
            found[long_name.group(1)] = Option(short, long_name.group(2))
            short = ""
        else:
            raise AssertionError(f"'{span}' in the cell '{cell}' is no option")
    if short:
        raise AssertionError(f"-{short} in the cell '{cell}' has no long name")
    return found


def options_in_tables(path, program):
    """The options that a page documents for a program."""
    found = {}
    for names, header, rows in tables_of(path, "option"):
        if names and not any(fnmatch.fnmatchcase(os.path.basename(program), name) for name in names):
            continue
        for row in rows:
            for name, option in options_in_cell(row[0]).items():
                if name in found:
                    raise AssertionError(f"{path}: --{name} stands there twice")
                if "variable" in header:
                    option.variables = code_spans(row[header.index("variable")])
                found[name] = option
    return found


class Options(unittest.TestCase):

    def compare(self, where, documented, there):
        """The same options, by the same short names, with the same arguments and variables."""
        self.assertEqual(sorted(set(there) - set(documented)), [], f"{where} says nothing of these")
        self.assertEqual(sorted(set(documented) - set(there)), [], f"{where} has these, which don't exist")
        for name, option in there.items():
            self.assertEqual(documented[name].key(), option.key(), f"{where}: --{name}")
            self.assertEqual(documented[name].variables, option.variables, f"{where}: --{name}")

    def test_programs(self):
        for path, patterns in PAGES.items():
            for program in programs_of(patterns):
                with self.subTest(page=path, program=program):
                    documented = options_in_tables(path, program)
                    if program != COMPARE:
                        common = options_in_tables(COMMON, program)
                        self.assertEqual(set(documented) & set(common), set(), "on both pages")
                        documented.update(common)
                    self.compare(path, documented, options_in_help(help_text(program)))

    def test_names(self):
        """What a list of names may have, as --help prints it, is on the program's page."""
        pages = set()
        for path, patterns in PAGES.items():
            spans = {span.lower() for span in code_spans("\n".join(split_fences(read(path))[0]))}
            program = programs_of(patterns)[0]
            # The same kinds of puts and gets stand there once.
            spans |= {span.replace("put", "get") for span in spans}
            for names in re.findall(r", with commas: ([^;]*); or all\.", " ".join(help_text(program).split())):
                pages.add(path)
                for name in names.split(", "):
                    with self.subTest(page=path, name=name):
                        self.assertIn(name.lower(), spans)
        self.assertLessEqual({"pingpong/README.md", "syncbench/README.md", "halo/README.md"}, pages)

    def test_scripts(self):
        """By long name only."""
        for path, script in SCRIPTS.items():
            done = subprocess.run(["sh", os.path.join(TOP, "run_scripts", script), "--help"], capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, timeout=30, check=False)
            there = re.findall(r"^  (?:-\w, )?--([a-z-]+)", done.stdout, re.M)
            with self.subTest(page=path):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(options_in_tables(path, script)), sorted(there))


class Commands(unittest.TestCase):

    def test_examples(self):
        """Programs that examples start are in the build, and have the options that they give them."""
        helps = {}
        for path in all_pages():
            for command in split_fences(read(path))[1].replace("\\\n", " ").splitlines():
                for match in re.finditer(r"(?<![\w/])build/((?:\w+/)+[\w.]+)([^|>#&]*)", command):
                    program, words = match.group(1), match.group(2)
                    if not os.path.splitext(program)[1] and program not in helps:
                        helps[program] = options_in_help(help_text(program))
                    with self.subTest(page=path, command=command.strip()):
                        self.assertTrue(os.path.exists(program_path(program)))
                        for name in re.findall(r"(?<!\S)--([a-z-]+)", words if program in helps else ""):
                            self.assertTrue(name in helps[program] or name == "help", f"no --{name}")

    def test_inline(self):
        """Long options in the text of a page exist: in a program, or in a script or tool that such
        pages speak of."""
        known = {"help", "full"}  # the last one of tests/run.sh
        for patterns in PAGES.values():
            for program in programs_of(patterns):
                known |= set(options_in_help(help_text(program)))
        for script in os.listdir(os.path.join(TOP, "run_scripts")):
            if script.endswith(".sh"):
                known |= set(re.findall(r"--([a-z][a-z-]+)", read(f"run_scripts/{script}")))
        # mpirun's, srun's, docker's; the second is for a flag that is switched off.
        known |= {"allow-run-as-root", "flag", "cpus", "export"}
        for path in all_pages():
            for span in code_spans("\n".join(split_fences(read(path))[0])):
                for name in re.findall(r"(?<![\w-])--([a-z][a-z-]+)", span):
                    with self.subTest(page=path, span=span):
                        self.assertIn(name, known)

    def test_labels(self):
        """The labels of the build's tests are in docs/developing.md."""
        done = subprocess.run(["ctest", "--test-dir", BUILD, "--print-labels"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=True)
        labels = re.findall(r"^  (\w+)$", done.stdout, re.M)
        self.assertIn("docs", labels)
        documented = [span for _, _, rows in tables_of("docs/developing.md", "label")
                      for row in rows for span in code_spans(row[0])]
        self.assertEqual(sorted(set(labels) - set(documented)), [])


# ---- columns -------------------------------------------------------------------------------------

def run(ranks, words):
    """Runs a command under mpirun; its texts and exit status."""
    return subprocess.run([*MPIRUN, "-np", str(ranks), *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


def columns_in_result(text):
    """A result's columns with their roles, by the line "# columns:", which must agree with the
    header."""
    roles = [word.rsplit("=", 1) for word in re.search(r"^# columns: (.*)$", text, re.M).group(1).split()]
    header = next(line for line in text.splitlines() if not line.startswith("#"))
    if [name for name, _ in roles] != header.split("\t"):
        raise AssertionError(f"the line '# columns:' doesn't agree with the header: {header}")
    return dict(roles)


def columns_in_tables(path, program):
    """The columns that a page documents for a program."""
    found = []
    for names, _, rows in tables_of(path, "column"):
        if names and not any(fnmatch.fnmatchcase(os.path.basename(program), name) for name in names):
            continue
        # A table for all programs of the page isn't about what the monitor writes.
        if not names and program not in programs_of(PAGES[path]):
            continue
        found += [span for row in rows for span in code_spans(row[0])]
    return found


class Columns(unittest.TestCase):

    def setUp(self):
        self.assertTrue(MPIRUN, "no mpirun: use docs_test.py --build=FOLDER Columns -- MPIRUN...")

    def result(self, program, *options, ranks=None):
        quick_ranks, quick = QUICK[program]
        done = run(ranks or quick_ranks, [program_path(program), *quick, *options])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def same(self, path, documented, there):
        self.assertEqual(len(documented), len(set(documented)), f"{path} has a column twice")
        self.assertEqual(sorted(set(there) - set(documented)), [], f"{path} says nothing of these")
        self.assertEqual(sorted(set(documented) - set(there)), [], f"{path} has these, which don't exist")

    def test_programs(self):
        for path, patterns in PAGES.items():
            if COMPARE in patterns:
                continue
            tried = [program for program in programs_of(patterns) if program in QUICK]
            self.assertTrue(tried, path)
            for program in tried:
                with self.subTest(page=path, program=program):
                    self.same(path, columns_in_tables(path, program), columns_in_result(self.result(program)))

    def test_compare(self):
        """The keys of what is compared stand between bench_compare's own columns."""
        path = next(path for path, patterns in PAGES.items() if COMPARE in patterns)
        with tempfile.TemporaryDirectory() as folder:
            for side in ("base", "new"):
                os.mkdir(os.path.join(folder, side))
                result = self.result("halo/halo")
                with open(os.path.join(folder, side, "halo.tsv"), "w", encoding="utf-8") as stream:
                    stream.write(result)
            keys = [name for name, role in columns_in_result(result).items() if role == "key"]
            done = subprocess.run([program_path(COMPARE), "base", "new"], cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        header = next(line for line in done.stdout.splitlines() if not line.startswith("#")).split("\t")
        self.same(path, columns_in_tables(path, COMPARE), [name for name in header if name not in keys])

    def monitored(self, words):
        """Runs halo with the monitor preloaded and MPIRT_MONITOR set."""
        ranks, options = QUICK_HALO
        library = program_path("monitor/libmpirtmon.so")
        return run(ranks, ["env", f"LD_PRELOAD={library}", f"MPIRT_MONITOR={words}", program_path("halo/halo"),
                           *options])

    def test_monitor(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.tsv")
            done = self.monitored(f"all,output={report}")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(report, encoding="utf-8") as stream:
                there = columns_in_result(stream.read())
        self.same("monitor/README.md", columns_in_tables("monitor/README.md", "libmpirtmon"), there)

    def test_words(self):
        """The words of MPIRT_MONITOR, as the error for a wrong one lists them."""
        done = self.monitored("no-such-word")
        listed = re.search(r"is no word of it: use (.*), with commas", done.stderr)
        self.assertIsNotNone(listed, done.stderr)
        documented = [span for _, _, rows in tables_of("monitor/README.md", "word")
                      for row in rows for span in code_spans(row[0])]
        self.assertEqual(sorted(documented), sorted(re.split(", | or ", listed.group(1))))


def main():
    global BUILD
    arguments, mpirun = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, mpirun = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(TOP, "build"), help="the build's folder")
    parser.add_argument("classes", nargs="*", help="which tests; default: all")
    options = parser.parse_args(arguments)
    BUILD = os.path.abspath(options.build)
    MPIRUN.extend(mpirun)
    unittest.main(argv=[sys.argv[0], *options.classes], verbosity=2)


if __name__ == "__main__":
    main()
