"""Lines about collectives that take longer than other calls that do their work (collective --guidelines)."""

from commcost.result.intervals import is_above
from commcost.scorecard import card_table
from commcost.scorecard.fact_lines import Line, range_text, size_text, value_text
from commcost.words import size_text as option_text

SLOWER_PCT = 5.0  # least excess that counts, as in collective
LINES = 5


def slow_collectives(tables):
    """Returns the Lines of operations with the worst size and alternative of each, the worst operations first."""
    worst = {}
    for row, slower in tables.measured("guidelines", "slower_pct"):
        operation = row.keys["operation"]
        if is_above(slower, SLOWER_PCT) and slower.value > worst.get(operation, (row, slower._replace(value=0)))[1].value:
            worst[operation] = row, slower
    lines = sorted(worst.items(), key=lambda one: -one[1][1].value)
    return [line_of(operation, *found) for operation, found in lines[:LINES]]


def line_of(operation, row, slower):
    times = [1 + float(text) / 100 for text in row.texts("slower_pct")]
    found = slower._replace(value=1 + slower.value / 100, low=1 + slower.low / 100, high=1 + slower.high / 100)
    size = row.size("size_bytes")
    return Line(f"MPI_{operation.capitalize()}, {size_text(size)}", value_text(found, card_table.TIMES_OF), "",
                range_text(found, times, card_table.TIMES_OF), card_table.OTHER_CALLS.format(row.keys["alternative"]),
                (row.identity,), card_table.TUNE.format(operation, option_text(size)))
