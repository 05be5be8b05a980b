# SPDX-License-Identifier: BSD-3-Clause
"""Each command ends with a verdict or with one line that names the fault, whatever the file that it reads holds: good
results with bytes changed at random, and good files of all kinds with any of their fields replaced.

usage: COMMCOST_FUZZ=CASES[,SEED] case.py broken_results_test.py::Fields ...   (for more cases than a tier has)
"""

import argparse
import contextlib
import io
import os
import random
import re
import resource
import signal
import sys
import unittest.mock

from case import Case, each
from commcost import command
from commcost.compare import bench_compare
from commcost.cost import program_account, program_cost
from commcost.cost.time_places import TimePlaces
from commcost.report import picture_panels, plot, report_page
from commcost.result import summary_table, tables
from commcost.result.result_reader import ResultError
from commcost.scorecard import card_text, scorecard
from commcost.suite import launch_options, launchers, suite_folder, suite_options, suite_plan
from commcost.tune import tune, tune_outputs
from made_results import ALL, GAIN, gain_cells, gain_roles, tsv

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from cost_test import Made, sized, total  # noqa: E402
from foreign_test import OUTPUTS  # noqa: E402
from results_test import FULL, SHORT, SHORT_OVERLAP  # noqa: E402
from scorecard_test import JOB, NOISE, SOURCE  # noqa: E402

SEED = 3
CHANGED, CHANGED_FULL = 150, 5000


def changed(content, chance):
    """The bytes with some of them changed, left out, or taken from elsewhere; now and then cut off, or followed by
    their beginning."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(content))
        kind = chance.choices(range(6), (8, 8, 8, 8, 1, 1))[0]
        if kind == 0:
            content[place] = chance.randrange(256)
        elif kind == 1:
            content[place] = chance.choice(b"\t\n\r#NA0123456789.-e=:")
        elif kind == 2:
            del content[place:place + chance.randint(1, 40)]
        elif kind == 4:
            del content[place:]
        elif kind == 5:
            content += content[:place]
        else:
            other = chance.randrange(len(content))
            content[place:place] = content[other:other + chance.randint(1, 200)]
        if not content:
            return b""
    return bytes(content)


class BrokenResults(Case):
    def read_by_all(self, files):
        """Lets all commands read files, which are bytes; nothing else than a usage error may come of
        that, of one line."""
        for number, content in enumerate(files):
            folder = self.folder / ("base" if number == 0 else "new")
            folder.mkdir(exist_ok=True)
            (folder / f"{number}.tsv").write_bytes(content)
        paths = [str(self.folder / "new"), str(self.folder / "base")][:len(files)]
        if len(files) == 1:
            paths = [str(self.folder / "base")]
        for use in (lambda: bench_compare.main([paths[-1], paths[0]]),
                    lambda: summary_table.summarize(paths),
                    lambda: report_page.Report(paths, tables.Tables(paths)).page({}).as_html(),
                    lambda: card_text.text_of(scorecard.card_of(tables.Tables(paths)))):
            try:
                with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), \
                        contextlib.redirect_stderr(nowhere):
                    use()
            except (command.UsageError, ResultError) as error:
                assert "\n" not in command.plain(str(error))

    def test_changed_results(self):
        chance = random.Random(SEED)
        roles = {"_us": "less", "(%)": "more", "_per_s": "more"}
        for number in range(CHANGED_FULL if self.full else CHANGED):
            name = chance.choice(sorted(ALL))
            benchmark, columns, rows = ALL[name]
            said = " ".join(f"{column}={next((role for end, role in roles.items() if column.endswith(end)), 'key')}"
                            for column in columns)
            whole = (tsv(benchmark, columns, rows, metadata={"schema": 2, "columns": said}) +
                     f"# end: {len(rows)} rows, exit 0\n").encode()
            self.read_by_all([changed(whole, chance), whole][:1 + number % 2])

    @each("text", ["1e308", "-1e308", "5e-324", "1e-200", 5000 * "9", "1" + 400 * "0"])
    def test_numbers_that_nothing_measures(self, text):
        """Of any size, in any column of all rows but one: pages and pictures show the rest."""
        self.replace(plot, "draw", lambda picture, texts, *_: [
            (picture_panels.settings_text(one.settings), "") for one in texts.values()])
        for name, (benchmark, columns, rows) in sorted(ALL.items()):
            broken = [[text if isinstance(cell, (int, float)) else cell for cell in row] for row in rows[1:]]
            whole = tsv(benchmark, columns, rows).encode()
            self.read_by_all([tsv(benchmark, columns, rows[:1] + broken).encode(), whole])
            read = tables.Tables([str(self.folder / "base" / "0.tsv")])
            for group, kinds in plot.groups_of(read).items():
                plot.draw_group(read, group, kinds, plot.Drawing("", ("svg",)), lambda text: None)

    def test_changed_outputs(self):
        """Short results, and what other programs print."""
        chance = random.Random(SEED)
        for number in range(CHANGED_FULL if self.full else CHANGED // 2):
            others = chance.choice(sorted(text for text, *_ in OUTPUTS.values()))
            whole = (others if number % 3 else SHORT).encode()
            self.read_by_all([changed(whole, chance), whole])


# ---- fields --------------------------------------------------------------------------------------

CASES, CASES_FULL = 1200, 50000
CPU_S = 5            # of a case: a time of the processor, which other programs don't lengthen
MEMORY = 1 << 30     # that a case may allocate
# In place of a field: numbers at the ends of what there is, that stand for many, or aren't in ASCII; signs that mean
# something to a reader, to gnuplot, to Markdown, to a terminal, to a shell or to Python.
HOSTILE = [
    "", "0", "-0", "-1", "1", "2", "1e308", "-1e308", "1e-308", "5e-324", "1e100", "1e-100", "1e101", "-1e99", "1e5000",
    "9" * 18, "9" * 19, "9" * 400, "9" * 5000, "0." + "0" * 5000 + "1", "0-1/0", "0,3", "5-3", "0-99999999999",
    "0-999999", "0-1048575", "0-999999999/999999999", "n[1-9999999999]", "n[1-99999]: 0-9", "n[5-1]: 0-9", "n[1-2]: 0,3",
    "n[1-262144]: 0-1048575", "n: 0; n: 0", "n[0-1]: 0-1, each next -5", "n[0-9]: 0-3, each next +999999999", "1-",
    "NA", "nan", "inf", "-inf", "0x10", "1_000", "1,5", "+5", ".5", "5.", "1e", "²", "٣", "１２", "1:2", "8K", "1x2x3",
    "-1x-1x-1", "9" * 30 + "x1x1", "key", "less", "more", "info", "ok", "FAIL", "budget", "run", "setting", "status",
    "benchmark", "columns", "a=b", "=", "=cmd", "@x", "%", "%s", "{0}", "#", "# columns: a=key", "# end: 1 row, exit 0",
    "\t", "\n", "\r", "\n\n", "\0", "\x1b[2J", "\u2028", "\ufeff", "\udcff", "'", "\"", "`x`", "$(x)", "\\", "|",
    "<b>", "a" * 200, "a" * 5000, "[" * 200, "(" * 200, "a " * 300, "../../x", "/dev/zero", ";", "; ", ": ", "host: ",
    "MPI barrier", "MPI Send", "put", "iallreduce", "barrier", "allreduce", "data", "time", "source", "job", "total",
    "coll", "pttopt", "sizes", "MPI_Allreduce", "MPI_Isend", "9999999999 MPI_Send", "job size: 1", "4 ranks on 1 node"]
FIELD = re.compile(r"[^\s:=;,\[\]()<>/\"]+|[:=;,\[\]()<>/\"]")
CELL = re.compile(r"[^\t\n]+")


def replaced(text, chance):
    """The text with one to three changes: a field or a whole cell replaced, a line left out or doubled."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        kind = chance.randrange(12)
        if kind == 0:
            lines = text.split("\n")
            place = chance.randrange(len(lines))
            lines[place:place + 1] = chance.choice(([], 2 * [lines[place]]))
            text = "\n".join(lines)
            continue
        fields = list((CELL if kind < 4 else FIELD).finditer(text))
        if not fields:
            break
        field = chance.choice(fields)
        text = text[:field.start()] + chance.choice(HOSTILE) + text[field.end():]
    return text


def with_columns(name, launches=1):
    """Returns a result of ALL with all of its metadata, of several launches with a column `run`."""
    benchmark, columns, rows = ALL[name]
    if launches > 1:
        columns, rows = ["run", *columns], [
            [run, *(cell * (1 + run / 100) if isinstance(cell, float) else cell for cell in row)]
            for run in range(launches) for row in rows]
    roles = {"_us": "less", "(%)": "more", "_per_s": "more", "_mbs": "more", "_pct": "info", "status": "info"}
    said = " ".join(f"{column}={next((role for end, role in roles.items() if column.endswith(end)), 'key')}"
                    for column in columns)
    return whole(tsv(benchmark, columns, rows, metadata={
        "schema": 2, "hosts": "vm: 0-1", "mpi_device": "ch4:ucx", "ranks_per_node": 2, "threshold": "2 %",
        "processors": 2, "binding": "each rank: 0-1", "mpi_variable": "A=1", "columns": said}), len(rows))


def whole(text, rows):
    return f"{text}# end: {rows} row{'' if rows == 1 else 's'}, exit 0\n"


def noise_result():
    cells = [{**SOURCE, "host": "vm"}, JOB, {**SOURCE, "about": "x", "period_ms": "NA"},
             {"scope": "host", "host": "vm", "ranks": "0-1", "stopped_pct": 1.5, "status": "ok"},
             {"scope": "collective", "operation": "barrier", "grain_us": 0, "predicted_pct": 2.0, "slowdown_pct": 3.0}]
    keys = ("scope", "host", "ranks", "source", "about", "operation", "grain_us")
    said = " ".join(f"{name}={'key' if name in keys else 'less' if name != 'status' else 'info'}" for name in NOISE)
    return whole(tsv("noise", NOISE, [[row.get(name, "NA") for name in NOISE] for row in cells],
                     metadata={"schema": 2, "columns": said, "processors": 2, "ranks_per_node": 2}), len(cells))


# An evidence.tsv, which lies beside results.
EVIDENCE = whole(tsv("tune", [name for name, _ in tune_outputs.COLUMNS], [
    ["allreduce", 2, 8, "ring", "better", 6, "5.00", "4.00", "6.00", "5.10", "4.00", "6.00", "0.001", "holds"]],
    metadata={"columns": " ".join(f"{name}={role}" for name, role in tune_outputs.COLUMNS)}), 1)
SUMMARY = ("benchmark\tsync\tquantity\tunit\tmedian\tlo\thi\tmin\tmax\tlaunches\tstatus\n"
           "syncbench\tring\tsync_us\tus\t1.0\tNA\tNA\t1.0\t1.0\t1\tok\n")
# A suite's own files: by name their text, whose lines are read.
SUITE = {"options": "--runs=3\n--quick\n--vary=A=1,2\n--ranks=2\n--hosts=a,b\n--limit=1:30:00\n",
         "plan.tsv": "run\tname\tcommand\n1\tsyncbench@1\tenv A=1 mpirun syncbench\n2\tsyncbench@1\tenv A=1 x\n",
         "launches.tsv": "run\tname\tstart\tseconds\texit\tresult\n1\tsyncbench@1\t2026-01-02\t12\t0\tdone\n"
                         "2\tsyncbench@1\t2026-01-02\t12\t1\tfailed\n",
         "settings": "syncbench@1\tA=1\nsyncbench@2\tA=2\n"}
# Words of command lines and variables: what reads them, and a good value.
WORDS = {
    "duration": (launch_options.duration, "1:30:00"), "limit": (launch_options.limit, "90s"), "count": (launch_options.count, "6"),
    "sizes": (launch_options.list_of(launch_options.sizes(lambda size: True), "use sizes"), "8,64K,4M"),
    "ranks": (launch_options.list_of(tune.ranks_of, "use numbers"), "4,16"), "seconds": (tune.seconds_of, "0.1"),
    "what if": (program_account.parse_machine, "latency=-20%,bandwidth=x2"), "percent": (command.percent(0, 100), "5 %"),
    "program options": (suite_options.program_options, "halo: --local=10,50 --max-time=1.5"),
    "vary": (lambda text: suite_plan.settings_of([text]), "A=1,2"),
    "max time": (suite_plan.max_time, "--max-time=0.5 --max-time=1"),
    "threads": (lambda text: suite_plan.threads_of("msgrate_rma", text.split()), "-t 4 --threads=8"),
    "hosts": (lambda text: launchers.Job(4, None, text).nodes, "a,b,c")}


class Fields(Case):
    """Whatever stands in a field, readers answer or refuse with one line, in a few seconds and with little memory."""

    def setUp(self):
        super().setUp()
        limit = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm", encoding="ascii") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limit)
        self.addCleanup(signal.signal, signal.SIGVTALRM, signal.signal(signal.SIGVTALRM, self.too_long))
        self.addCleanup(signal.setitimer, signal.ITIMER_VIRTUAL, 0)
        self.replace(plot, "draw", self.draw)  # without gnuplot
        self.outcomes = {"answered": 0, "refused": 0}

    def too_long(self, *_):
        raise AssertionError(f"takes more than {CPU_S} s of the processor")

    def draw(self, picture, texts, heads, _):
        """Makes the settings that gnuplot would read."""
        for text in texts.values():
            picture_panels.settings_text({**text.settings, **{side: picture_panels.quoted(head) for side, head in heads.items()}})
        return [(picture.name, "")]

    def number_of_cases(self):
        cases, _, seed = os.environ.get("COMMCOST_FUZZ", "").partition(",")
        return int(cases or (CASES_FULL if self.full else CASES)), int(seed or SEED)

    def judge(self, what, use, inputs):
        """Lets `use` read: it answers, or refuses with one line."""
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                use()
            self.outcomes["answered"] += 1
        except (command.UsageError, command.Failure, argparse.ArgumentTypeError) as error:
            self.outcomes["refused"] += 1
            assert "\n" not in command.plain(str(error)) and str(error), (what, inputs)
        except SystemExit as end:
            self.outcomes["refused"] += 1
            assert end.code == command.EXIT_USAGE and said.getvalue().count("\n") == 1, (what, inputs, said.getvalue())
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}: {inputs!r:.20000}") from error
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))

    def read_results(self, text, good):
        """By all that reads results: the text as a new one, the good one as its base, as a launch beside it."""
        for path in ("new/runs/1/x.tsv", "new/x.tsv"):
            self.write(path, text)
        self.write("new/runs/2/x.tsv", good)
        self.write("base/x.tsv", good)
        new, base, launches = (str(self.folder / name) for name in ("new/x.tsv", "base/x.tsv", "new/runs"))

        def draw():
            read = tables.Tables([new, base])
            for group, kinds in plot.groups_of(read).items():
                plot.draw_group(read, group, kinds, plot.Drawing("", ("svg",)), lambda text: None)

        def merge():
            step = suite_plan.Step(1, "x", "x", "A=1", 0, "")
            suite_folder.verdict(new)
            try:
                suite_folder.merged([(step, new), (step._replace(run=2, setting="A=2"), base)])
            except ValueError as error:  # other columns, which the suite reports
                assert "other columns" in str(error), error

        for use in (
                lambda: bench_compare.main(["--force", base, new]), lambda: bench_compare.main(["--format=table", base, new]),
                lambda: summary_table.summarize([str(self.folder / "new")]),
                lambda: summary_table.summarize([new, base], ",", True),
                lambda: report_page.Report([new, base], tables.Tables([new, base])).page({}).as_html(),
                lambda: report_page.Report([launches], tables.Tables([launches])).page({}).as_markdown(),
                lambda: card_text.text_of(scorecard.card_of(tables.Tables([launches]))), draw, merge):
            yield use

    def read_report(self, text, results):
        """The cost of a program, of a report and results."""
        self.write("report.tsv", text)
        self.write("results/x.tsv", results)

        def cost():
            measured = tables.Tables([str(self.folder / "results")])
            account = program_account.Account(str(self.folder / "report.tsv"), measured, 1.0,
                                           program_account.parse_machine("latency=-20%,bandwidth=x2"))
            program_cost.table_of(account, [])
            program_cost.page_of(account, TimePlaces(account)).as_text()
            program_cost.page_of(account, TimePlaces(account)).as_html()
        yield cost

    def read_suite(self, name, text, good):
        """A suite's folder whose file has this text."""
        for one, content in {**SUITE, name: text}.items():
            self.write(f"suite/suite/{one}", content)
        self.write("suite/syncbench.tsv", good)
        path = str(self.folder / "suite")

        def resume():
            options = suite_options.read_options([f"--resume={path}", f"--build={self.folder}"])
            suite_plan.settings_of(options.vary)

        def show():
            read = tables.Tables([path])
            card_text.text_of(scorecard.card_of(read))
            report_page.Report([path], read).page({}).as_html()
        yield resume
        yield show

    def inputs(self):
        """Each kind of text: its name, a function of a text and a good one that returns what reads it, the good one."""
        (self.folder / "made").mkdir()
        made = Made(self.folder / "made")
        made.write_report(
            total(3.0, 2.0), sized("MPI_Allreduce", 1000, 8, 1.0, waited_s=0.1, waited_lo_s=0.1, waited_hi_s=0.2,
                                   last_calls=900, last_rank=1),
            sized("MPI_Isend", 1000, 64, 0.5), sized("MPI_Irecv", 1000, 64, 0.5),
            {**sized("MPI_Barrier", 10, 0, 1.0), "kind": "coll"}, {**total(1.0, "NA"), "rank": 0, "slowest_rank": "NA"},
            ranks=4, nodes=2, hosts="node[1-2]: 0-3")
        with open(made.report, encoding="utf-8") as stream:
            monitored = stream.read()
        costs = whole(tsv("overlap_iallreduce", GAIN, [
            [gain_cells(size, 10.0, 5.0)[column] for column in GAIN] for size in (8, 64)],
            metadata={"schema": 2, "columns": gain_roles(GAIN), "ranks": 2}), 2)
        for name in sorted(ALL):
            yield name, self.read_results, with_columns(name)
        for name in ("syncbench", "halo", "msgrate"):
            yield f"launches of {name}", self.read_results, with_columns(name, 6)
        for name, text in {"noise": noise_result(), "evidence": EVIDENCE, "summary": SUMMARY, "short": SHORT,
                           "full": FULL.format(2), "without metadata": tsv(None, *ALL["halo"][1:]), "short overlap": SHORT_OVERLAP.format(
                               "collective=iallreduce; model=data", "keys: size_bytes; "),
                           **{name: output[0] for name, output in OUTPUTS.items()}}.items():
            yield name, self.read_results, text
        yield "report", lambda text, good: self.read_report(text, costs), monitored
        yield "results of cost", lambda text, good: self.read_report(monitored, text), costs
        for name, text in SUITE.items():
            yield name, lambda text, good, name=name: self.read_suite(name, text, with_columns("syncbench")), text
        for name, (read, text) in WORDS.items():
            yield name, lambda text, good, read=read: [lambda: read(text)], text
        for name, text in {"SLURM_TASKS_PER_NODE": "4(x2),3", "SLURM_NTASKS": "11", "SLURM_JOB_NUM_NODES": "3",
                           "SLURM_CPUS_ON_NODE": "4"}.items():
            yield name, lambda text, good, name=name: [lambda: self.of_slurm(name, text)], text

    def of_slurm(self, name, text):
        text = text.encode("utf-8", "surrogateescape").replace(b"\0", b"").decode("utf-8", "surrogateescape")
        with unittest.mock.patch.dict(os.environ, {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "3", name: text}):
            launchers.default_ranks("", None)

    def test_fields(self):
        cases, seed = self.number_of_cases()
        chance = random.Random(seed)
        every = list(self.inputs())
        for number in range(cases):
            what, read, good = every[number % len(every)] if number < len(every) else chance.choice(every)
            text = replaced(good, chance)
            uses = list(read(text, good))
            for use in uses if number % 10 == 0 else [chance.choice(uses)]:
                self.judge(what, use, text)
        print(f"{cases} cases of seed {seed}: {self.outcomes}")
        # Most of the good files are so long that one field doesn't make them unreadable.
        assert min(self.outcomes.values()) > cases / 20, self.outcomes
