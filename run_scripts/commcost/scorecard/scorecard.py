"""The scorecard: what results say at one look, one fact a line.

It is one value, shown as text (quickstart.sh, report_text.sh --short), in Markdown and in HTML (report.py). What it
says is in cost_lines.py and gain_lines.py, a function for each question.
"""

import itertools
import re
import textwrap
import typing

from commcost.command import plain
from commcost.compare import bench_compare, best_setting
from commcost.result.intervals import LAUNCHES_ENOUGH
from commcost.result.row_labels import further
from commcost.result.tables import NEW
from commcost.scorecard.cost_lines import COSTS, slow_links, where_time_went
from commcost.scorecard.fact_lines import Line, Part
from commcost.scorecard.gain_lines import does_it_pay
from commcost.suite import benchmark_suite, launch_options
from commcost.suite.suite_folder import Folder
from commcost.system import script, to_paste
from commcost.words import UNSURE, counted, cut, grouped, is_number, listed

LOST_PCT = 10  # of the time, above which intervals may miss the truth
UNSTEADY = 2   # max over min of a row's launches, from which on the row counts as unsteady
HOSTS = 3      # that the title names
VARIANTS = 8   # of rows that differ in keys which no question knows
VALUE = 40     # letters of such a key
WIDTH = 100    # of a terminal
WHAT = 46      # of what a line is about; the rest stands below
LIBRARIES_SHOWN = 120  # letters
CELL = 26      # of the columns behind that, but the last
NO_BREAK = "\u00a0"


class Scorecard(typing.NamedTuple):
    """`title` says of which machine it is; `mind` what limits all that is said: texts, behind which a command may
    stand, on a line of its own."""

    title: str
    parts: list
    mind: list


def card_of(tables, best=(), changes=()):
    """The Scorecard of results. `best` has what varied settings make of rows (vary.Best): other questions would count
    each row once a setting; `changes` those from a base (compare.Change)."""
    lines = {"What changed": what_changed(changes), "Best setting": which_is_best(best)}
    if not best:
        variants = tables.variants()[:VARIANTS]
        lines.update({heading: (named(line, keys) for question in questions for keys, part in variants
                                for line in question(part)) for heading, questions in (
            ("What it costs", COSTS), ("Where the time went", (where_time_went,)),
            ("Which node or link is slow?", (slow_links,)), ("Does it pay?", (does_it_pay,)))})
    lost = disturbed(tables)
    parts = [Part(heading, [marked(line, lost) for line in several]) for heading, several in lines.items()]
    parts = [part for part in parts if part.lines]
    return Scorecard(title_of(tables), parts, list(limits_of(tables, parts, lost)))


def named(line, keys):
    """The line, with the further keys by which the rows that it rests on differ from others."""
    words = [key.label(cut(keys[key.column], VALUE)) for key in further(keys) if keys[key.column] != "NA"]
    return line._replace(what=", ".join([line.what, *(
        word for word in words if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", line.what))]))


def disturbed(tables):
    """The identities of rows that lost more than LOST_PCT by the median of launches: one interruption is much of a short
    row's time. What noise finds of that is its result."""
    return {row.identity for kind in tables.kinds() if kind != "noise" for row in tables.rows(kind)
            if (row.median("lost_pct") or 0) > LOST_PCT}


def marked(line, lost):
    """The line, with a note where half of its rows or more are disturbed."""
    if not line.rows or 2 * len(lost.intersection(line.rows)) < len(set(line.rows)):
        return line
    return line._replace(note="; ".join(filter(None, ["" if line.typical == UNSURE else line.note, "disturbed"])))


def title_of(tables):
    """Of which machine, how many launches, and how long they took."""
    def said(table, key):
        return table.metadata.get(key, [""])[0]

    ranks = [(float(said(table, "ranks")) if is_number(said(table, "ranks")) else 0) for table in tables.of(NEW)]
    most = tables.of(NEW)[ranks.index(max(ranks))]
    mixed = [table for table in tables.of(NEW) if tables.apart[table.kind]]
    hosts = listed([run.split(":")[0] for run in said(most, "hosts").split("; ")], HOSTS)
    device, launches = said(most, "mpi_device"), launches_of(tables)
    text = head_of(f"commcost on {hosts}" if hosts else "commcost", mixed or [most])
    text += f" ({device})" if device else ""
    seconds = sum(record[2] for record in Folder(tables.paths[NEW]).records())
    settings = len({row.keys.get(best_setting.SETTING) for kind in tables.kinds() for row in tables.rows(kind)} - {None})
    varied = f"{settings} settings × " if settings > 1 else ""
    return (f"{text}; {varied}{counted(launches, 'launch', 'launches')}" +
            (f", {seconds // 60} min {seconds % 60} s" if seconds else ""))


def head_of(label, tables):
    """A result's line in a picture's head: its name and where it is from, all where there are several."""
    def every(key):
        return list(dict.fromkeys(value for table in tables for value in table.metadata.get(key, ())[:1] if value))

    def counts(key, one, several):
        found = sorted(every(key), key=lambda text: (len(text), text))
        return f"{' or '.join(found)} {one if found == ['1'] else several}" if found else ""

    libraries = dict.fromkeys(library.replace(" Version:", "").split(",")[0].rstrip(" ")
                              for library in every("mpi_library"))
    ranks, nodes = counts("ranks", "process", "processes"), counts("nodes", "node", "nodes")
    text = f"{label}: {ranks}{f' on {nodes}' if nodes else ''}" if ranks else label
    return ", ".join([text, *filter(None, [cut(" or ".join(libraries), LIBRARIES_SHOWN)])])


def launches_of(tables):
    return max((len(row.launches) for kind in tables.kinds() for row in tables.rows(kind)), default=0)


def what_changed(changes):
    """How many rows have which verdict, and which of those that got slower or faster changed most."""
    for verdict in bench_compare.VERDICTS:
        several = [change for change in changes if change.verdict == verdict]
        sized = several if verdict in (bench_compare.SLOWER, bench_compare.FASTER) else []
        if several:
            yield of_rows(verdict.capitalize(), several, changes, most_of(
                [(change.change_pct or 0, change.points, change.series) for change in sized], "+"))


def which_is_best(best):
    """In how many rows which setting is best, or that none is."""
    found = grouped([row for row in best if row.sure], lambda row: row.name)
    for rows in sorted(found, key=lambda rows: (-len(rows), rows[0].name)):
        yield of_rows(rows[0].name, rows, best, most_of([(row.gain_pct or 0, row.points, row) for row in rows]))
    for reason, unsure in best_setting.unclear(best).items():
        yield of_rows(UNSURE.capitalize(), unsure, best, reason)


def of_rows(name, several, every, note):
    return Line(name, f"{len(several)} of {counted(len(every), 'row')}", note=note)


def most_of(sizes, sign=""):
    """The largest of changes: each its size, whether that is in points, and its row; "" of none."""
    size, points, row = max(sizes, key=lambda one: abs(one[0]), default=(None, None, None))
    return "" if row is None else (f"by {size:{sign}.3g} {'points' if points else '%'} at most: "
                                   f"{row.schema.benchmark} {row.quantity} ({named_keys(row)})")


def named_keys(row):
    """The keys of a row that say something: of what has a schema, or of a tables.Row."""
    pairs = row.keys.items() if isinstance(row.keys, dict) else zip(row.schema.keys, row.keys)
    return ", ".join(f"{name} {value}" for name, value in pairs if value not in ("NA", "none"))


def limits_of(tables, parts, lost):
    """Sentences about failed settings, wrong data, disturbances, and what would make answers clear."""
    yield from best_setting.failures(tables.paths[NEW])
    variants = tables.variants()
    if len(variants) > VARIANTS:
        yield (f"Rows differ in {listed(dict.fromkeys(key for keys, _ in variants for key in keys), HOSTS)}: "
               f"{VARIANTS} of {len(variants)} combinations are shown. report.sh shows all.")
    rows = [(kind, row) for kind in tables.kinds() for row in tables.rows(kind)]
    wrong = [row for _, row in rows if any(cells.get("status") == "FAIL" for cells in row.launches)]
    if wrong:
        yield (f"{counted(len(wrong), 'row has', 'rows have')} wrong data (status FAIL), first: "
               f"{wrong[0].identity.rpartition('-')[0]} ({named_keys(wrong[0])}). Try another version of the MPI library.")
    judged = sum(kind != "noise" for kind, _ in rows)
    if lost:
        yield (f"{len(lost)} of {counted(judged, 'row')} lost more than {LOST_PCT} % of the time to interruptions: "
               "measure them again on a quieter machine.")
    # Where a fifth of all rows differ, by their first quantity. How programs and interruptions differ is a result.
    values = [list(map(float, row.texts(quantity))) for kind, row in rows if kind not in ("noise", "mpirtmon")
              for quantity in tables.of(NEW, kind)[0].quantities[:1]]
    apart = [of_row for of_row in values if of_row and 0 < UNSTEADY * min(of_row) < max(of_row)]
    if 5 * len(apart) > len(values):
        yield (f"In {len(apart)} of {counted(len(values), 'row')} launches differ by more than {UNSTEADY} times: "
               "measure anew without other programs, or on a physical machine.")
    launches, path = launches_of(tables), tables.paths[NEW]
    is_unsure = any(line.typical == UNSURE for part in parts for line in part.lines)
    if 5 * len(lost) <= judged and is_unsure and launches < 2 * LAUNCHES_ENOUGH:
        runs = 2 * launches if launches >= LAUNCHES_ENOUGH else LAUNCHES_ENOUGH
        begun = launch_options.begun_with(path, benchmark_suite.KEPT)
        more = (to_paste(script(benchmark_suite.PROGRAM), f"--runs={runs}") if begun is None else
                launch_options.going_on(benchmark_suite.PROGRAM, path, begun, f"--runs={runs}"))
        yield f"More launches may decide what is not clear:\n{more}"


def text_of(card):
    """The scorecard as text of at most WIDTH characters a line."""
    lines = textwrap.wrap(card.title, WIDTH, subsequent_indent="  ")
    for part in card.parts:
        lines += ["", *lines_of(part)]
    lines += ["", "Mind"] if card.mind else []
    for text in card.mind:
        words, _, command = text.partition("\n")
        lines += textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
        lines += ["    " + command] if command else []  # whole, to be pasted
    return "\n".join(map(plain, lines)) + "\n"


def lines_of(part):
    """The heading, with what the columns hold where there are ranges; then the lines, in columns."""
    subjects = [textwrap.wrap("  " + line.what, 2 + WHAT, subsequent_indent="    ", break_on_hyphens=False)
                for line in part.lines]
    cells = [[max(subject, key=len), *(cut(cell, CELL) for cell in (line.since, line.typical, line.launches))]
             for subject, line in zip(subjects, part.lines)]
    head = [part.heading, "", "typical", "launches"]
    heads = [head] if any(line.launches for line in part.lines) else []
    widths = [max(map(len, column)) for column in zip(*heads, *cells)]
    lines = [aligned(head, widths) if heads else part.heading]
    for line, subject, row in zip(part.lines, subjects, cells):
        start = aligned([subject[0], *row[1:]], widths, is_more=True)
        remarks = textwrap.wrap(unbroken(line.remark), WIDTH - len(start), break_on_hyphens=False)
        starts = [start, *(more.ljust(len(start)) for more in subject[1:])]
        lines += [(before or len(start) * " ") + remark
                  for before, remark in itertools.zip_longest(starts, remarks, fillvalue="")]
    return [line.replace(NO_BREAK, " ").rstrip() for line in lines]


def unbroken(text):
    """The text, whose numbers keep their units."""
    return re.sub("(?<=[0-9]) ", NO_BREAK, text)


def aligned(cells, widths, is_more=False):
    """Cells in columns, of which empty ones have no place; padded to the end where more follows."""
    text = "".join(cell.ljust(width + 2) for cell, width in zip(cells, widths) if width)
    return text if is_more else text.rstrip()
