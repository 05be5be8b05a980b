"""tune.sh: which of the MPI library's algorithms is best for each operation and size on this machine, by a race of
launches (race.py), as the file that the library itself reads (libraries.py), with proof that it pays.

The procedure follows from what its launches found alone, which are recorded: so an interrupted one continues where it
was, by doing all over without the launches that were made.
"""

import argparse
import os
import re
import textwrap
import typing
import zlib

from commcost import command
from commcost.command import Failure, UsageError, meant, say
from commcost.page import WIDTH, Column, Grid, Items, Mark, Page, Row, Section, Text, matrix_parts, readable
from commcost.result.result_writer import Output
from commcost.suite import launch_options, launchers, suite_plan
from commcost.suite.launch_options import count, duration, list_of, size_that
from commcost.system import now, quoted, remove, replace_file, to_paste
from commcost.tune import mpi_libraries, trial_launches
from commcost.tune.algorithm_race import DEFAULT, NO_GAIN, PROOFS, Race, level_of, looks_of
from commcost.tune.mpi_libraries import Rule
from commcost.words import bytes_text, counted, cut, in_words, listed, parsed_number, size_text

PROGRAM = "tune.sh"
BENCHMARK = "collective/collective"
FILE = "file"           # the choice whose launches use the file
PROOF_RUNS_FROM = 101   # in the folder
MESSAGE_MOST = 100      # letters of what a launch said that failed
SHARE_OF_RACE = 2 / 3   # of the budget; the rest is for the proof
START_S = 1.0           # of a launch, besides what it measures, as expected before the first one


# ---- what is measured ----------------------------------------------------------------------------

class Cell(typing.NamedTuple):
    """What a choice is made for."""

    contest: str
    operation: str
    ranks: int
    size: int  # in bytes; 0 of an operation without data


class Entry(typing.NamedTuple):
    """Cells that share their launches, and the variables of each choice."""

    name: str
    ranks: int
    cells: list
    settings: dict


class Left(Exception):
    """A signal or the budget ended the launches."""


class Tuning:
    """A tuning in its folder."""

    def __init__(self, options, library, contests):
        self.options, self.library, self.contests = options, library, contests
        self.trials = trial_launches.Trials(options.output, options.limit, options.budget, options.is_new)
        self.launcher = launchers.find(options.launcher, options.build)
        self.out, self.heads = {}, []  # out: by contest, ranks and choice why it was taken out
        self.also_set = []  # variables of the library that aren't at their default, but don't force a choice
        entries = [Entry(contest.name, ranks, [
            Cell(contest.name, operation, ranks, size) for operation in contest.operations
            for size in ([0] if operation == "barrier" else options.sizes)],
            {DEFAULT: {}, **{choice: library.variables(contest, choice) for choice in contest.choices
                             if library.fits(contest.operations[0], choice, ranks)}})
            for ranks in options.ranks for contest in contests]
        self.entries = [entry for entry in entries if len(entry.settings) > 1]

    def step(self, run, name, ranks, cells, variables):
        """A launch that measures these cells."""
        options = self.options
        sizes = sorted({cell.size for cell in cells} - {0})
        words = [*suite_plan.launch_words(self.launcher, self.job(ranks), ranks, 1, variables),
                 os.path.join(options.build, BENCHMARK), "--check", f"--max-time={options.max_time:g}",
                 "--operations=" + ",".join(dict.fromkeys(cell.operation for cell in cells)),
                 *(["--sizes=" + ",".join(map(size_text, sizes))] if sizes else [])]
        return suite_plan.Step(run, name, name, "", trial_launches.FIRST_S, quoted(words))

    def job(self, ranks):
        return launchers.Job(ranks, self.options.ranks_per_node, self.options.hosts, self.options.bind)

    def ask_library(self):
        """Asks the library in a launch, a rank on each node, for variables that aren't at their default. UsageError if
        one of them takes the choice from the library."""
        job = self.job(self.options.ranks[-1])
        line = self.launcher.line(job, launchers.Launch(min(job.nodes, job.ranks), 1, {}))
        for name, source in self.library.in_force(line, self.contests).items():
            if re.fullmatch(self.library.FORCING, name):
                raise UsageError(f"{name} is set ({source}): unset it, to measure the library's own choice")
            self.also_set.append(f"{name} ({source})")

    def warnings(self):
        """Warnings of launches that were made, else of those that will be."""
        if self.trials.folder.records():
            return self.trials.warnings()
        return list(filter(None, [launchers.crowding(self.job(self.options.ranks[-1]), self.launcher)]))

    def choices(self):
        """Those of each cell, besides the default."""
        return {cell: [choice for choice in entry.settings if choice != DEFAULT] for entry in self.entries
                for cell in entry.cells}

    def expected(self):
        """A sentence: how many launches it takes, and how long: where no choice can gain anything, and at most; how
        many were made before, and the budget."""
        options = self.options

        def launch_s(cells):
            return START_S + len(cells) * options.max_time

        once = sum(len(entry.settings) for entry in self.entries)
        once_s = sum(len(entry.settings) * launch_s(entry.cells) for entry in self.entries)
        proofs = {}
        for cell in self.choices():
            proofs.setdefault((cell.operation, cell.ranks), []).append(cell)
        proof_s = sum(2 * launch_s(cells) for cells in proofs.values())
        first, most = looks_of(options.launches)[0], options.launches
        ends = (in_words(first * once_s), in_words(most * (once_s + PROOFS * proof_s)))
        made, budget_s = len(self.trials.folder.last_results()), options.budget
        return (f"{first * once} to {most * (once + 2 * PROOFS * len(proofs))} launches, about {ends[0]} to {ends[1]}" +
                ("" if budget_s is None else f", of which {in_words(budget_s)} now") +
                (f" ({counted(made, 'launch', 'launches')} made before)" if made else ""))

    def steps(self):
        """The first launch of each choice."""
        return [self.step(1, f"{entry.name}-{entry.ranks}@{place}", entry.ranks, entry.cells, variables)
                for entry in self.entries for place, variables in enumerate(entry.settings.values())]

    def begin(self):
        """Makes the folder or takes it up. UsageError where it is of other options."""
        options = self.options
        steps = [*self.steps(), suite_plan.Step(0, "decide", "decide", "", 0,
                                          f"--min-gain={options.min_gain:g} --launches={options.launches}")]
        made = suite_plan.Plan(steps, {options.build: {BENCHMARK}}, [])
        there = self.trials.folder.read("plan.tsv").splitlines()
        if there and there != made.lines and not options.is_new:
            raise UsageError(f"{self.trials.folder.path:.200} was begun with other options, such as --ranks, --sizes "
                             "or --choices: give the same again, or use another folder")
        self.trials.begin(made, [self.launcher], options)

    def decide(self):
        """All of it: the Race, the one of the proof, and whether the budget ended the first. Left where a signal, or
        the budget of the proof, ended it."""
        race = Race(self.choices(), self.options.min_gain, self.options.launches)
        say(f"{counted(sum(map(len, race.running.values())), 'choice')} of {counted(len(self.contests), 'variable')} "
            f"race in {counted(len(race.running), 'case')} (operation, ranks, size): {self.trials.folder.path}")
        say(f"It takes {self.expected()}")
        is_cut = False
        if self.options.budget is not None:
            self.trials.budget_s = SHARE_OF_RACE * self.options.budget
        try:
            self.run(race, self.entries, 1)
        except Left:
            if self.trials.left_by != trial_launches.BUDGET:
                raise
            is_cut = True
            race.end("the budget ended before it was clear")
        self.trials.budget_s = self.options.budget
        self.of_all_sizes(race)
        return race, self.prove(race, is_cut), is_cut

    # ---- launches --------------------------------------------------------------------------------

    def run(self, race, entries, first_run, suffix=""):
        """Measures until all of the race is decided, choices in turn. Left where a signal or the budget ended it. Says
        nothing of rounds that were made before, but for the last one."""
        cases = counted(len(race.running), "case")
        for run in range(race.looks[-1] if race.running else 0):
            made = len(self.trials.names())
            for entry in entries:
                places = list(enumerate(entry.settings.items()))
                for place, (choice, variables) in places[run % len(places):] + places[:run % len(places)]:
                    cells = [cell for cell in entry.cells if race.runs(cell, choice)]
                    if cells:
                        name = f"{entry.name}-{entry.ranks}{suffix}@{place}"
                        step = self.step(first_run + run, name, entry.ranks, cells, variables)
                        self._measure(race, choice, cells, step)
            if run + 1 in race.looks:
                race.look(run + 1)
            if race.running and len(self.trials.names()) == made:
                continue
            left = (race.looks[-1] - run - 1) * sum(any(race.runs(cell, choice) for cell in entry.cells)
                                                    for entry in entries for choice in entry.settings)
            say(f"{'Proof' if suffix else 'Race'}, launch {run + 1} of at most {race.looks[-1]}: {len(race.decisions)} "
                f"of {cases} decided, {counted(sum(map(len, race.running.values())), 'choice')} left" +
                (f", at most {in_words(left * self.trials.usual_s)}" if left else ""))
            if not race.running:
                break

    def _measure(self, race, choice, cells, step):
        """Adds to the race what a launch found, or takes the choice out."""
        if self.trials.known(step) is None:
            if not self.trials.launch(step):
                raise Left
        outcome, values = self.trials.known(step)[1], {}
        rows, head, _ = self.trials.rows(step)
        self.heads = self.heads or head
        for row in rows:
            time_us = parsed_number(row.get("time_us", "NA"))
            if time_us is not None and time_us > 0:
                values[row.get("operation"), int(parsed_number(row.get("size_bytes", "0")) or 0)] = time_us
        for cell in cells:
            value = values.get((cell.operation, cell.size))
            if outcome == trial_launches.WORKS and value is not None:
                race.add(cell, choice, value)
                continue
            reason = "no time in the result" if outcome == trial_launches.WORKS else outcome
            message = "" if outcome in (trial_launches.WORKS, trial_launches.WRONG) else cut(self.trials.message(step), MESSAGE_MOST)
            if (cell.contest, cell.ranks, choice) not in self.out:
                say(f"{cell.contest} {choice}, {cell.ranks} ranks: {reason}")
                self.out[cell.contest, cell.ranks, choice] = ": ".join(filter(None, (reason, message)))
            what = "the library's own choice" if choice == DEFAULT else choice
            race.drop(cell, choice, f"{what}: {reason}")

    # ---- rules -----------------------------------------------------------------------------------

    def rules(self, chosen):
        """The Rules of choices by cell: neighbouring sizes with the same choice make one."""
        made = []
        for contest in self.contests:
            for operation in contest.operations:
                for ranks in self.options.ranks:
                    last = None
                    for size in [0] if operation == "barrier" else sorted(self.options.sizes):
                        choice = chosen.get(Cell(contest.name, operation, ranks, size))
                        if choice and choice == last:
                            made[-1] = made[-1]._replace(high=size)
                        elif choice:
                            made.append(Rule(contest, operation, ranks, size, size, choice))
                        last = choice
        return made

    def of_all_sizes(self, race):
        """For a library whose file can't choose by size: takes back what isn't the same for all cells of a contest."""
        for contest in self.contests if not self.library.chooses_by_size else []:
            cells = [cell for cell in race.decisions if cell.contest == contest.name]
            if len({race.decisions[cell].choice for cell in cells}) > 1:
                for cell in cells:
                    if race.decisions[cell].choice != DEFAULT:
                        race.decisions[cell] = race.decisions[cell]._replace(
                            choice=DEFAULT, reason="a variable can't choose by size, and sizes disagree")

    def prove(self, race, is_cut):
        """Launches with the file and without it, in turn, for all cells that have a rule: the Race of that."""
        chosen = {cell: decision.choice for cell, decision in race.decisions.items() if decision.choice != DEFAULT}
        rules = self.rules(chosen)
        text = self.library.file_text(rules, [])
        # Other rules are another file: what was measured with one says nothing of the other.
        suffix = f"-{zlib.crc32(text.encode()):08x}"
        earlier = re.findall("(-[0-9a-f]{8})@", " ".join(self.trials.names()))
        proof = Race({cell: [FILE] for cell in chosen}, self.options.min_gain, PROOFS * self.options.launches,
                     level_of(suffix, earlier, is_cut))
        if chosen:
            path = self.trials.folder.of_suite(f"candidate{self.library.suffix}")
            replace_file(path, text)
            settings = {DEFAULT: {}, FILE: self.library.file_variables(path, rules)}
            groups = {}
            for cell in chosen:
                groups.setdefault((cell.operation, cell.ranks), []).append(cell)
            self.run(proof, [Entry(operation, ranks, cells, settings) for (operation, ranks), cells in groups.items()],
                     PROOF_RUNS_FROM, suffix)
        return proof


# ---- what is written -----------------------------------------------------------------------------

def said_in(head, key):
    """A value of a result's head; "" without one."""
    return next((line[len(key) + 4:] for line in head if line.startswith(f"# {key}: ")), "")


def percents(gain):
    """A Gain with its interval."""
    if gain is None:
        return "NA"
    return f"{gain.value:.0f} %" + ("" if gain.low is None else f" ({gain.low:.0f} to {gain.high:.0f})")


def sizes_text(low, high):
    if not high:
        return "no data"
    return bytes_text(low) if low == high else f"{size_text(low)} to {bytes_text(high)}"


COLUMNS = (("operation", "key"), ("ranks", "key"), ("size_bytes", "key"), ("choice", "info"), ("reason", "info"),
           ("launches", "info"), ("gain_pct", "info"), ("gain_lo_pct", "info"), ("gain_hi_pct", "info"),
           ("found_pct", "info"), ("found_lo_pct", "info"), ("found_hi_pct", "info"), ("p_value", "info"),
           ("verdict", "info"))


def write_evidence(path, tuning, race, proof, words, status):
    """evidence.tsv: a row for each cell. `status`: of the exit."""
    table = Output("tune")
    table.begin(COLUMNS, [("mpi_library", said_in(tuning.heads, "mpi_library") or "NA"), ("host", os.uname().nodename),
                          ("choices", "; ".join(f"{contest.variable}={','.join(contest.choices)}"
                                                for contest in tuning.contests))], words)
    for cell, decision in sorted(race.decisions.items()):
        row = {"operation": cell.operation, "ranks": cell.ranks, "size_bytes": cell.size, "choice": decision.choice,
               "reason": decision.reason, "launches": decision.launches, "verdict": "default"}
        found = proof.decisions.get(cell)
        if found:
            row["verdict"] = "holds" if found.choice == FILE else "taken out"
            row["p_value"] = "NA" if found.p is None else f"{found.p:.3g}"
        for name, gain in (("gain", decision.gain), ("found", found.gain if found else None)):
            for column, value in zip(("pct", "lo_pct", "hi_pct"), gain or ()):
                row[f"{name}_{column}"] = "NA" if value is None else f"{value:.2f}"
        table.row(row)
    for (contest, ranks, choice), reason in tuning.out.items():
        table.remark("note", f"{contest} {choice}, {ranks} ranks: {reason}")
    for kind, texts in (("note", map("also set: {}".format, tuning.also_set)), ("warning", tuning.warnings())):
        for text in texts:
            table.remark(kind, text)
    replace_file(path, table.text(status))


def mark_of(decision, found):
    """The cell of the matrix."""
    if found is not None and found.choice == FILE:
        return Mark(f"{found.gain.value:.0f} %", "pays")
    if found is not None:
        return Mark("not held", "loses")
    return Mark("-", "even") if decision.reason.startswith(NO_GAIN) else Mark("?", "unclear")


LEGEND = ("Columns: bytes. A number: a rule, and by how much less time the operation takes with the file than with the "
          "library's own choice, found in fresh launches. -: no choice gains that much (--min-gain); ?: not known, see "
          "the reasons; not held: the rule was taken out, since fresh launches didn't confirm it.")


def matrix_of(race, proof, ranks, is_last):
    """The section of a number of ranks; the last one has the legend."""
    marks = {}
    for cell, decision in sorted(race.decisions.items()):
        if cell.ranks == ranks:
            marks.setdefault(cell.operation, {})[cell.size] = mark_of(decision, proof.decisions.get(cell))
    return Section(f"ranks_{ranks}", f"{ranks} ranks: gain with the file",
                   matrix_parts(marks, "operation", lambda size: size_text(size) if size else "no data",
                            LEGEND)[:None if is_last else 1])


def rules_of(tuning, race, proof, rules):
    """The rules in a table: what the race promised and what was found, of the size with the lowest gain."""
    columns = [Column("operation", "what"), Column("ranks", "", True), Column("sizes"), Column("choice"),
               Column("promised", "", True), Column("found", "", True)]
    rows = []
    for rule in rules:
        cells = [cell for cell in proof.decisions if (cell.contest, cell.operation, cell.ranks) == (
            rule.contest.name, rule.operation, rule.ranks) and rule.low <= cell.size <= rule.high]
        worst = min(cells, key=lambda cell: proof.decisions[cell].gain.value)
        rows.append(Row([rule.operation, str(rule.ranks), sizes_text(rule.low, rule.high), rule.choice,
                         percents(race.decisions[worst].gain), percents(proof.decisions[worst].gain)]))
    return [Grid(columns, rows, "rows") if rows else
            Text(f"No rule: nothing surely gains {tuning.options.min_gain:g} %.")]


def reasons_of(race, proof):
    """A sentence for each reason why the library's own choice stays, with the cells."""
    by_reason = {}
    for cell, decision in sorted(race.decisions.items()):
        found = proof.decisions.get(cell)
        if decision.choice == DEFAULT or found is not None and found.choice != FILE:
            reason = decision.reason if found is None else (
                f"{decision.choice} promised {percents(decision.gain)}, with the file {percents(found.gain)}"
                if found.gain else f"with the file: {found.reason.replace(FILE + ': ', '')}")
            by_reason.setdefault(reason, {}).setdefault((cell.operation, cell.ranks), []).append(cell.size)
    for reason, cells in by_reason.items():
        yield f"{reason}: " + listed(f"{operation} of {ranks} ranks" + (
            f" ({', '.join(map(size_text, sizes))})" if any(sizes) else "")
                                     for (operation, ranks), sizes in cells.items())


def page_of(tuning, race, proof, rules, path):
    """The Page; its text is what the terminal shows."""
    library = said_in(tuning.heads, "mpi_library") or tuning.library.name
    launches = f"{counted(len(tuning.trials.folder.records()), 'launch', 'launches')} on {os.uname().nodename}"
    out = [f"{contest} {choice}, {ranks} ranks: {reason}" for (contest, ranks, choice), reason in tuning.out.items()]
    variables = tuning.library.file_variables(path, rules)
    use = [f"In a shell:\n{line}" for line in (
        [f"export {name}={to_paste(value)}" for name, value in variables.items()]
        if tuning.library.chooses_by_size else [to_paste(".", path)])]
    stays, warnings = list(reasons_of(race, proof)), tuning.warnings()
    also_set = f"; with {listed(tuning.also_set)}" if tuning.also_set else ""
    sections = [Section("used", "What was used", [Text(f"{library}; {launches}{also_set}")])]
    sections += [Section("warnings", "Warnings of launches", [Items(warnings, "facts")])] if warnings else []
    sections += [matrix_of(race, proof, ranks, ranks == tuning.options.ranks[-1]) for ranks in tuning.options.ranks]
    sections.append(Section("rules", "Rules", rules_of(tuning, race, proof, rules)))
    if stays:
        sections.append(Section("stays", "Where the library's own choice stays, and why", [Items(stays, "facts")]))
    sections += [Section("out", "Choices taken out", [Items(out, "facts")])] if out else []
    if rules:
        sections.append(Section("use", "How to use it", [Items(use, "facts"), Text(tuning.library.said_of_file(path))]))
    return Page(f"{counted(len(rules), 'rule')} for {tuning.library.name}", sections,
                f"Evidence: {os.path.join(tuning.trials.folder.path, 'evidence.tsv')}")


def write_all(tuning, race, proof, words, status):
    """The library's file, or none where there is no rule, its evidence, the page; returns the page. `status`: of the
    exit."""
    held = {cell: race.decisions[cell].choice for cell, found in proof.decisions.items() if found.choice == FILE}
    rules, folder = tuning.rules(held), tuning.trials.folder.path
    path = os.path.join(folder, "rules" + tuning.library.suffix)
    comment = [f"{tuning.library.name}'s algorithms for {listed(map(str, tuning.options.ranks))} ranks on "
               f"{os.uname().nodename}", f"{said_in(tuning.heads, 'mpi_library')}", f"{now()}: {PROGRAM} "
               f"{quoted(words)}", "evidence.tsv has the evidence"]
    comment += [f"{rule.operation}, {rule.ranks} ranks, {sizes_text(rule.low, rule.high)}: {rule.choice}"
                for rule in rules]
    write_evidence(os.path.join(folder, "evidence.tsv"), tuning, race, proof, words, status)
    page = page_of(tuning, race, proof, rules, path)
    replace_file(os.path.join(folder, "tune.html"), page.as_html())
    if rules:
        replace_file(path, tuning.library.file_text(rules, list(map(command.plain, comment))))
    else:
        remove(path)
    return page


# ---- options -------------------------------------------------------------------------------------

def ranks_of(word):
    return int(word) if re.fullmatch("[1-9][0-9]{0,5}", word) and int(word) > 1 else None


def operation_of(word):
    return word if re.fullmatch("[a-z_]{1,40}", word) else None


def seconds_of(text):
    value = parsed_number(text)
    if value is None or not 0.001 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"'{text:.100}': use seconds, like 0.1")
    return value


def read_options(words):
    made = command.Parser(PROGRAM, f"{PROGRAM} [OPTION]...", """\
Finds which of the MPI library's algorithms is best for each collective
operation, size and number of ranks on this machine, and writes the file that
the library itself reads. Where the evidence doesn't suffice, the library's own
choice stays.

A few launches of each algorithm, in turn, then more of those that may be best
(a race); who wins by --min-gain gets a rule. Then the file is proved: fresh
launches with it and without it in turn, and a test corrected for being many; a
rule that they don't confirm is taken out.

FOLDER/rules.json (MPICH, Open MPI 6), rules.conf (Open MPI) or rules.sh (others) is
the file; evidence.tsv has what it rests on, tune.html shows it.

Exit status: 0 done, also where no rule was found; 1 it was not done, or failed;
2 wrong usage.""", allow_abbrev=False)
    add = made.add_argument_group("What to tune").add_argument
    add("--list", action="store_true", help="print what the library offers, and exit")
    add("--dry-run", action="store_true", help="print how long it will take and the first launch of each choice, and "
        "exit")
    add("--operations", metavar="LIST", default=[], type=list_of(operation_of, "use names like allreduce,bcast"),
        help="with commas (default: all that the library's file can choose)")
    add("--sizes", metavar="LIST", default=[8 << 3 * power for power in range(6)],
        type=list_of(size_that(lambda size: size % 8 == 0), "use multiples of 8 like 8,64K,1M"),
        help="bytes of a block, with commas (default: 8,64,512,4K,32K,256K)")
    add("--choices", metavar="'VARIABLE=A,B'", type=launch_options.text, action="append", default=[],
        help="values of a variable of the environment instead of all that the library offers; may be repeated. For "
        "a library that isn't known the only way to say them")
    add = made.add_argument_group("How sure").add_argument
    add("--min-gain", metavar="PERCENT", type=command.percent(0.1, 90), default=5.0,
        help="what a rule must gain over the library's own choice (default: 5)")
    add("--launches", metavar="N", type=count, default=24,
        help="of each choice, at most, and twice as many for the proof (default: 24)")
    add("--max-time", metavar="SECONDS", type=seconds_of, default=0.1, help="for a size in a launch (default: 0.1)")
    add("--budget", metavar="TIME", type=duration, help="time for this call (90, 30m, 2h, 1:30:00)")
    add("--limit", metavar="TIME", type=launch_options.limit, default=120,
        help="for each launch, which then counts as a hang (default: 2m)")
    launch_options.add_shared(made, "tune_DATE_TIME", "; --hosts, and --choices", metavar="LIST", default=[],
                         type=list_of(ranks_of, "use numbers from 2, like 4,16"),
                         help=f"with commas; {launch_options.RANKS_HELP}")
    options = launch_options.parsed(made, ("build", "operations", "sizes", "choices", "min_gain", "launches", "max_time",
                                      "limit", *launch_options.KEPT_PLACE), words)
    if not 6 <= options.launches < 100:
        raise UsageError(f"--launches: '{options.launches}': use 6 to 99: fewer prove nothing")
    launch_options.fill_in(options, "tune_")
    options.ranks = sorted(options.ranks or [launchers.default_ranks(options.hosts, options.ranks_per_node)])
    return options


def chosen_contests(options, library):
    """The Contests of the options. UsageError where there are none."""
    contests, asked = mpi_libraries.given_contests(library, options.choices, tuple(options.operations)), options.operations
    if contests and not any(contest.operations for contest in contests):
        raise UsageError("--choices: which operations is this variable for? add --operations=allreduce,bcast")
    offered = contests or library.contests()
    if not offered:
        raise UsageError(f"{library.name} has no variables that are known: name some with --choices='VARIABLE=A,B'")
    known = {operation for contest in offered for operation in contest.operations}
    for operation in asked:
        if operation not in known:
            raise UsageError(f"--operations: {library.name} offers no choice for {operation} that its file can make"
                             f"{meant(operation, known) or ': use some of ' + listed(sorted(known))}")
    if options.ranks[-1] * max(options.sizes) > mpi_libraries.SIZE_MOST:
        raise UsageError(f"--sizes: {size_text(max(options.sizes))} of {options.ranks[-1]} ranks are more than the "
                         "2 GiB that a library's rules can tell apart")
    return [contest for contest in offered if not asked or set(contest.operations) <= set(asked)]


def main(words):
    options = read_options(words)
    program = os.path.join(options.build, BENCHMARK)
    if not os.access(program, os.X_OK):
        raise Failure(f"no program {program}: build it first")
    library, path = mpi_libraries.library_of(program, launchers.find(options.launcher, options.build))
    contests = chosen_contests(options, library)
    tuning = Tuning(options, library, contests)
    if options.list:
        print("#", library.name, *filter(None, [library.version]), f"({path})")
        for contest in contests:
            print(f"{listed(contest.operations)} ({contest.variable})", *textwrap.wrap(
                ", ".join(contest.choices), WIDTH, initial_indent="    ", subsequent_indent="    ",
                break_on_hyphens=False), sep="\n")
        print(f"# All of them: {tuning.expected()}")
        return command.EXIT_DONE
    tuning.ask_library()
    if options.dry_run:
        steps = tuning.steps()
        print(*(f"# warning: {text}" for text in tuning.warnings()),
              f"# {tuning.expected()}; the first of each choice:", *(step.command for step in steps), sep="\n")
        return command.EXIT_DONE
    tuning.begin()
    for text in tuning.warnings():
        say(f"Warning: {text}")
    again = launch_options.going_on(PROGRAM, tuning.trials.folder.path, options.kept)
    try:
        race, proof, is_cut = tuning.decide()
    except Left:
        say(f"Ended by {tuning.trials.left_by}: no file was written. To resume: {again}")
        return command.EXIT_FAILED
    rejected = [choice for _, _, choice in tuning.out if choice == FILE]
    status = command.EXIT_FAILED if rejected or is_cut and not any(
        found.choice == FILE for found in proof.decisions.values()) else command.EXIT_DONE
    page = write_all(tuning, race, proof, words, status)
    print(readable(page.as_text()), end="", flush=True)
    if is_cut:
        say(f"The budget ended before all was clear. To resume: {again}")
    return status
