# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare's output for CI: JSON, JUnit XML, and the new side's values for services that record them over time."""

from xml.etree import ElementTree

from commcost.command import plain
from commcost.compare.change_table import CHANGE_COLUMNS, PROGRAM, cells_of, counts_of
from commcost.compare.row_changes import ADDED, BASE, FAILED, MISSING, NEW, UNSURE
from commcost.result import json_text, metric_formats
from commcost.result.benchmarks import unit_of
from commcost.result.rank_test import median_interval
from commcost.words import decimals, grouped, short

WITHOUT_REMARKS = ("junit", *metric_formats.FORMATS)
FORMATS = ("json", *WITHOUT_REMARKS)
NO_VALUES = {FAILED: "a new launch found wrong data", MISSING: "the new side has no values",
             ADDED: "the base has no values"}


def text_of(options, comparison, failing, status):
    """Returns the comparison in one of FORMATS. Rows with the verdicts `failing` are failures."""
    if options.format == "json":
        return json_of(options, comparison, status)
    if options.format == "junit":
        return junit_of(comparison.changes, failing)
    return metric_formats.FORMATS[options.format](list(metrics_of(comparison, options.confidence / 100)))


def json_of(options, comparison, status):
    """Returns the comparison as JSON, by docs/compare.schema.json."""
    def row_of(change):
        series, cells = change.series, cells_of(change)
        return {"benchmark": series.schema.benchmark,
                "keys": dict(zip(series.schema.keys, map(json_text.cell_of, series.keys))),
                "quantity": series.quantity, "unit": unit_of(series.quantity),
                **{name: json_text.cell_of(str(cells[name])) for name in CHANGE_COLUMNS}}
    return json_text.text_of("compare.schema.json", {
        "base": options.sides[BASE], "new": options.sides[NEW], "alpha_pct": options.alpha,
        "threshold_pct": options.threshold, "confidence_pct": options.confidence,
        "rows": list(map(row_of, comparison.changes)), "summary": counts_of(comparison.changes),
        "differences": [{name: getattr(one, name) for name in ("group", "name", "base", "new", "benchmarks")}
                        for one in comparison.differences],
        "remarks": [{"kind": kind, "text": text} for kind, text in comparison.remarks], "exit": status})


def junit_of(changes, failing):
    """Returns JUnit XML with a test case for each row. Rows that can't be judged are skipped."""
    top = ElementTree.Element("testsuites", name=PROGRAM)
    for several in grouped(changes, lambda change: change.series.schema.benchmark):
        benchmark = plain(several[0].series.schema.benchmark)
        suite = ElementTree.SubElement(top, "testsuite", name=benchmark)
        for change in several:
            name = metric_formats.row_name(change.series.quantity, keys_of(change.series))
            test = ElementTree.SubElement(suite, "testcase", classname=f"commcost.{benchmark}", name=name)
            if change.verdict in failing:
                ElementTree.SubElement(test, "failure", type=change.verdict, message=message_of(change))
            elif change.verdict in (UNSURE, MISSING, ADDED):
                ElementTree.SubElement(test, "skipped", message=message_of(change))
            cells = cells_of(change)
            ElementTree.SubElement(test, "system-out").text = "".join(
                f"{name}: {cells[name]}\n" for name in CHANGE_COLUMNS)
    counts = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for part in (*top, top):
        for count, name in counts.items():
            if part is not top or count != "skipped":  # Jenkins refuses it in testsuites
                part.set(count, str(len(list(part.iter(name)))))
    for part in top.iter():  # a line each
        part.text, part.tail = "\n" if len(part) else part.text, "\n"
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


def message_of(change):
    if change.verdict in NO_VALUES:
        return NO_VALUES[change.verdict]
    text = " ".join([change.verdict + ":", short(change.new), unit_of(change.series.quantity), "instead of",
                     short(change.base)])
    if change.change_pct is None:
        return text
    low, high = change.interval or (None, None)
    return (f"{text}, change {change.change_pct:+.1f} {'points' if change.points else '%'} "
            f"({decimals(low, 1)} to {decimals(high, 1)})")


def metrics_of(comparison, confidence):
    """Yields the Metrics of the new side."""
    for change in comparison.changes:
        series, cells = change.series, cells_of(change)
        interval = median_interval(comparison.launches.values(series, NEW).values, confidence)
        facts = ("base", "change_pct", "change_lo_pct", "change_hi_pct", "p_value", "verdict", "new_launches")
        yield metric_formats.Metric(series.schema.benchmark, keys_of(series), series.quantity, series.more, change.new,
                                    *(interval or (None, None)), {name: cells[name] for name in facts})


def keys_of(series):
    return metric_formats.without_na(series.schema.keys, series.keys)
