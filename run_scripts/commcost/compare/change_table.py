# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare's tables: all columns for programs, or the main ones for a reader."""

from commcost.compare.row_changes import BASE, NEW, SIDES, VERDICTS
from commcost.compare.side_differences import remarks_of
from commcost.page import Column, Grid, Row
from commcost.result.launches import key_columns
from commcost.result.result_writer import Output
from commcost.words import decimals, grouped, short, six_digits

PROGRAM = "bench_compare"
FORMATS = ("tsv", "table")
CHANGE_COLUMNS = ("base", "new", "change_pct", "change_lo_pct", "change_hi_pct", "p_value", "verdict", "better",
                  "change_in", "p_uncorrected", "base_launches", "new_launches")


def columns_of(changes):
    keys = key_columns((change.series.schema for change in changes), ("benchmark", "quantity", *CHANGE_COLUMNS))
    return [(name, "key") for name in ("benchmark", *keys, "quantity")] + [(name, "info") for name in CHANGE_COLUMNS]


def p_text(value, digits=3):
    return "NA" if value is None else f"{value:.{digits}g}"


def cells_of(change):
    series = change.series
    low, high = change.interval or (None, None)
    return {**dict(zip(series.schema.keys, series.keys)), "benchmark": series.schema.benchmark,
            "quantity": series.quantity, "base": six_digits(change.base), "new": six_digits(change.new),
            "change_pct": decimals(change.change_pct, 2), "change_lo_pct": decimals(low, 2),
            "change_hi_pct": decimals(high, 2), "p_value": p_text(change.corrected_p), "verdict": change.verdict,
            "better": "more" if series.more else "less", "change_in": "points" if change.points else "percent",
            "p_uncorrected": p_text(change.p), "base_launches": change.launches[BASE],
            "new_launches": change.launches[NEW]}


def write_tables(output, comparison, options):
    """Writes a table for each benchmark: the keys that vary and the main columns, below the other keys. If the new side
    lacks a benchmark, writes a warning instead."""
    output.remark("p", "probability of such a difference without a change, corrected for all rows")
    output.remark("verdict", f"changed: p of at most {options.alpha / 100:g}, and a change of at least "
                  f"{options.threshold:g} %")
    for several in grouped(comparison.changes, lambda change: change.series.schema):
        schema = several[0].series.schema
        if schema.benchmark in comparison.missing:
            continue
        pairs = [dict(zip(schema.keys, change.series.keys), quantity=change.series.quantity) for change in several]
        varying = [name for name in pairs[0] if name == "quantity" or len({of_row[name] for of_row in pairs}) > 1]
        same = [f"{name} {value}" for name, value in pairs[0].items() if name not in varying and value != "NA"]
        output.remark(schema.benchmark, ", ".join(same) or "all rows")
        columns = [*map(Column, varying), *(Column(name, "", True) for name in ("base", "new", "change", "lo", "hi")),
                   Column("p", "", True), Column("verdict")]
        output.table(Grid(columns, [Row([
            *(of_row[name] for name in varying), *map(short_or_na, (change.base, change.new)),
            "NA" if change.change_pct is None else f"{change.change_pct:.1f} {'pts' if change.points else '%'}",
            *(decimals(end, 1) for end in change.interval or (None, None)), p_text(change.corrected_p, 2),
            change.verdict])
            for change, of_row in zip(several, pairs)]))


def short_or_na(value):
    return "NA" if value is None else short(value)


def launches_text(changes, side):
    """Returns the range of launches over rows that have any: "10" or "6 to 10"."""
    counts = {change.launches[side] for change in changes} - {0} or {0}
    return " to ".join(map(str, sorted({min(counts), max(counts)})))


def counts_of(changes):
    """Returns the number of rows of each verdict."""
    return {verdict: sum(change.verdict == verdict for change in changes) for verdict in VERDICTS}


def summary_text(changes):
    """Returns the number of rows of each verdict, and of launches."""
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts_of(changes).items())
    return f"{parts}; {' and '.join(launches_text(changes, side) for side in (BASE, NEW))} launches"


def remarks_on(comparison, is_verbose):
    """Returns all remarks, as pairs of a kind and a text."""
    return [*(("differs", text) for text in remarks_of(comparison.differences, is_verbose)), *comparison.remarks,
            ("summary", summary_text(comparison.changes))]


def text_of(options, words, comparison, status):
    output = Output(PROGRAM, options.no_header)
    metadata = [(SIDES[side], path) for side in (BASE, NEW) for path in options.sides[side]]
    metadata += [(name, f"{getattr(options, name):g}") for name in ("alpha", "threshold", "confidence")]
    is_table = options.format == "table"
    output.begin([] if is_table else columns_of(comparison.changes), [*metadata, ("format", options.format)], words)
    for text in remarks_of(comparison.differences, options.verbose):
        output.remark("differs", text)
    if is_table:
        write_tables(output, comparison, options)
    else:
        for change in comparison.changes:
            output.row(cells_of(change))
    for kind, text in comparison.remarks:
        output.remark(kind, text)
    output.remark("summary", summary_text(comparison.changes))
    return output.text(status)
