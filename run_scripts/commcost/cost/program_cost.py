"""cost.sh: what communication costs a program, and which changes would save time.

Joins a monitor's report of a program (monitor_report.py) with the results of benchmarks on the same
machine (machine_costs.py): what each kind of call took, its undisturbed cost, what was waiting, and
what could be saved (program_changes.py).
"""


from commcost import command
from commcost.cost import call_ways, program_changes
from commcost.cost.program_account import SHOWN_PCT, Account, Spent, share_of_mpi, what_if
from commcost.page import Column, Items, Page, Section, Text, grid_of, readable
from commcost.result.result_writer import Output
from commcost.result.tables import read_tables
from commcost.words import counted, cut, decimals, short

PROGRAM = "cost.sh"
MIN_SAVING_PCT = 1.0  # of the run, that a saving is worth telling
WHAT, NOTE, CHANGE, CALLS = 32, 29, 60, 34  # letters of a table's cells: a line has at most 100


PLAIN = (("form", "nonblocking"), ("test_calls", "0"))  # keys that go without saying


# ---- where the time went -------------------------------------------------------------------------

def ranged(span):
    """Low and high; "" where both are the same."""
    return "" if span.low == span.high else f"{short(span.low)} – {short(span.high)}"


def share(seconds, whole):
    return f"{short(100 * seconds / whole)} %"


def rows_text(rows):
    """The benchmarks' rows that something rests on, in words."""
    said = []
    for row in rows:
        program = row.identity.rpartition("-")[0].replace("_sweep", "")
        keys = " ".join(f"{name}={value}" for name, value in row.keys.items()
                        if value != "NA" and (name, value) not in PLAIN and program != f"overlap_{value}")
        said.append(f"{program} ({keys})" if keys else program)
    return "; ".join(dict.fromkeys(said)) or "the monitor's report alone"


COLUMNS = [(name, role) for role, names in (
    ("key", "kind change comm members ranks operation size_bytes"), ("info", "calls"),
    ("less", "in_calls_s"), ("info", "in_waits_s"), ("less", "machine_us"), ("info", "machine_lo_us machine_hi_us"),
    ("less", "machine_s waited_s"),
    ("info", "waited_lo_s waited_hi_s unexplained_s saved_s saved_lo_s saved_hi_s saved_pct rests_on text"))
           for name in names.split()]


def rows_of(account):
    """The rows of the table: the cells of each that aren't NA, by column."""
    for line in account.lines:
        yield {"kind": "cost", **of_calls(line.calls), **of_span("machine", "us", line.cost and line.cost.us, 3),
               "machine_s": decimals(line.own and line.own.value, 9), **of_span("waited", "s", line.waited, 9),
               "unexplained_s": decimals(line.unexplained_s, 9), "text": line.why or "NA",
               "rests_on": rows_text(line.cost.rows) if line.cost else "NA"}
    for saving in account.savings:
        yield {"kind": "saving", "change": saving.change, **of_calls(saving.calls),
               **of_span("saved", "s", saving.seconds, 9), "rests_on": rows_text(saving.rows),
               "saved_pct": decimals(100 * saving.seconds.value / account.run.seconds, 3),
               "text": " ".join([f"{saving.what}.", *saving.facts])}
    for said, in_s in account.uncovered:
        yield {"kind": "uncovered", "in_calls_s": decimals(in_s, 9), "text": said}


def of_calls(calls):
    return {"comm": calls.comm, "members": calls.members, "ranks": "NA" if calls.ranks is None else calls.ranks,
            "operation": calls.function, "size_bytes": decimals(calls.size, 0), "calls": decimals(calls.calls, 1),
            "in_calls_s": decimals(calls.in_s, 9), "in_waits_s": decimals(calls.wait_s, 9)}


def of_span(name, unit, span, digits):
    """The cells of a Span; none for None."""
    names = (f"{name}_{unit}", f"{name}_lo_{unit}", f"{name}_hi_{unit}")
    return {} if span is None else {name: decimals(end, digits) for name, end in zip(names, span)}


def table_of(account, words):
    """The table as a result, in one text."""
    run, output = account.run, Output(PROGRAM)
    output.begin(COLUMNS, [("ranks", run.ranks), ("run_s", f"{run.seconds:.9f}"),
                           ("inside_mpi_s", decimals(run.inside_s, 9)),
                           ("slowest_rank_s", decimals(run.slowest_s, 9))], words)
    for row in rows_of(account):
        output.row(row)
    for text in account.remarks:
        output.remark("warning", text)
    for spent in account.spent:
        note = f"; {spent.note}" if spent.note else ""
        output.remark("note", f"{spent.what}: {short(spent.seconds.value)} s, "
                      f"{share(spent.seconds.value, run.seconds)} of the run{note}")
    return output.text(command.EXIT_DONE)


def page_of(account):
    """The same as a Page: tables of a line each."""
    run = account.run
    on = "" if run.nodes is None else f" on {counted(run.nodes, 'node')}"
    how_to = [part for saving in account.savings for part in (Text(f"{saving.what}:"), *items(
        [*saving.facts, f"Rests on {rows_text(saving.rows)}."]))]
    missing_parts = [*items([f"{short(in_s)} s: {said}" for said, in_s in account.uncovered]), Text(
        "Run the commands in the build folder, with the program's binding; RESULTS is the results folder.", small=True)]
    parts = {
        "Where the time went": [seconds_grid(run, "time", account.spent, WHAT)],
        "What would save time": saving_parts(account),
        "How to do it": how_to,
        "Which calls": calls_parts(account),
        "What isn't measured": missing_parts if account.uncovered else [],
        "Mind": items(account.remarks)}
    sections = [Section(f"part{place}", heading, of) for place, (heading, of) in enumerate(parts.items(), 1) if of]
    return Page(
        f"What communication costs: {cut(run.metadata.get('command', [''])[0] or 'a program', 74)}",
        [Text(f"{short(run.seconds)} s, {counted(run.ranks, 'process', 'processes')}{on}."), *sections],
        "cost.sh --format=tsv has all of this as a table.", first_listed=3)


def items(texts):
    return [Items(texts, "short")] if texts else []


def saving_parts(account):
    if not account.savings:
        where = " in what the results cover" if account.uncovered else ""
        return [Text(f"Nothing{where} would save {account.min_saving_pct:g} % of the run or more for sure.")]
    changes = [Spent(saving.what, saving.seconds) for saving in account.savings]
    return [seconds_grid(account.run, "change", changes, CHANGE),
            Text("Two changes of the same calls don't add up.", small=True)]


def seconds_grid(run, heading, every, most):
    """A line for each Spent, the name cut to `most` letters."""
    return grid_of({
        Column(heading, "what"): [cut(spent.what, most) for spent in every],
        Column("s", "seconds", True): [short(spent.seconds.value) for spent in every],
        Column("range", "", True): [ranged(spent.seconds) for spent in every],
        Column("of the run", "share", True): [share(spent.seconds.value, run.seconds) for spent in every],
        Column("", "note"): [cut(spent.note, NOTE) for spent in every]}, "facts")


def calls_parts(account):
    """A line for each function and size; with the communicator if there are several."""
    lines = [line for line in account.lines if line.calls.in_s >= share_of_mpi(account.run, SHOWN_PCT)]
    comms = {line.calls.place for line in lines if line.calls.comm != "NA"}

    def name_of(calls):
        on = f" on {calls.comm}" if len(comms) > 1 and calls.comm != "NA" else ""
        return cut(calls.function + program_changes.of_size(calls) + on, CALLS)

    def seconds(values):
        return ["" if value is None else short(value) for value in values]

    return [grid_of({
        Column("calls", "operation"): [name_of(line.calls) for line in lines],
        Column("times", "calls", True): [round(line.calls.calls) for line in lines],
        Column("in MPI", "in_calls_s", True): seconds(line.calls.in_s for line in lines),
        Column("in waits", "in_waits_s", True): seconds(waits_of(line.calls) for line in lines),
        Column("each", "machine_us", True): seconds(line.cost and line.cost.us.value for line in lines),
        Column("undisturbed", "machine_s", True): seconds(line.own and line.own.value for line in lines),
        Column("waiting", "waited_s", True): seconds(line.waited and line.waited.value for line in lines),
        Column("other", "unexplained_s", True): seconds(line.unexplained_s for line in lines)}),
            Text(f"Without calls of less than {SHOWN_PCT:g} % of the time in MPI. Seconds of a process, mean of "
                 "those that made such calls. In waits: of the time in MPI, in calls that completed them. "
                 "Each: undisturbed µs of a call.", small=True)]


def waits_of(calls):
    """None of calls that another one doesn't complete."""
    return calls.wait_s if calls.wait_s or call_ways.is_started(calls.function) else None


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... REPORT RESULTS",
        """Says where the time of a program's communication went, and what would save time:
joins REPORT, which the monitor wrote of it (MPIRT_MONITOR=all,output=REPORT),
with RESULTS, a folder of benchmark results of the same machine (run_suite.sh).
Times are seconds of a process, averages over those that made such calls.""")
    made.add_argument("--format", choices=("text", "tsv", "html"), default="text",
                      help="for reading (default), a table, or a page")
    made.add_argument("--output", metavar="FILE", help="write to FILE, not stdout")
    made.add_argument("--min-saving", metavar="PERCENT", type=command.percent(0, 100), default=MIN_SAVING_PCT,
                      help=f"leave out what saves less of the run (default: {MIN_SAVING_PCT:g} %%)")
    made.add_argument("--what-if", metavar="CHANGES", type=what_if, help="what another machine would "
                      "save: latency=-20%%,bandwidth=x2")
    options = made.parse_with_results(words, 2, 2)
    report, results = options.paths
    account = Account(report, read_tables(PROGRAM, [results]), options.min_saving, options.what_if)
    if options.format == "tsv":
        text = table_of(account, words)
    elif options.format == "html":
        text = page_of(account).as_html()
    else:
        text = readable(page_of(account).as_text())
    command.write_to(options.output, text)
    return command.EXIT_DONE
