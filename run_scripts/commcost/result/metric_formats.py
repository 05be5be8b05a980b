# SPDX-License-Identifier: BSD-3-Clause
"""Values of rows in the formats of services that record them over time: github-action-benchmark (arrays for its tools
customSmallerIsBetter and customBiggerIsBetter), Bencher (Bencher Metric Format), and Prometheus (text exposition
format, for node_exporter's textfile collector). Numbers are those of the tables."""

import re
import typing

from commcost.command import plain
from commcost.result.benchmarks import unit_of
from commcost.result.json_text import as_json
from commcost.result.result_reader import ResultError
from commcost.words import six_digits

# By unit of a column: the base unit at the end of a gauge's name, and its size in the column's unit.
_BASE_UNITS = {"ns": ("_seconds", 1e9), "us": ("_seconds", 1e6), "s": ("_seconds", 1), "bytes": ("_bytes", 1),
               "%": ("_ratio", 100), "MB/s": ("_bytes_per_second", 2 ** -20), "1/s": ("_per_second", 1)}
_HELP = {"": "median over launches", "_lo": "lower end of the median's interval",
         "_hi": "upper end of the median's interval"}


class Metric(typing.NamedTuple):
    """A quantity of a row. The interval is that of the median over launches."""

    benchmark: str
    keys: dict     # values by name, without NA
    quantity: str
    more: bool     # more is better
    value: typing.Optional[float]  # None: no launch has a good value
    low: typing.Optional[float]
    high: typing.Optional[float]
    facts: dict    # further texts by name


def row_name(what, keys):
    """Returns a name that is the same in all results, unlike labels, which depend on other rows."""
    named = ", ".join(f"{name} {value}" for name, value in keys.items())
    return plain(f"{what}: {named}" if named else what).strip()


def without_na(names, values):
    return {name: value for name, value in zip(names, values) if value not in ("NA", "")}


def as_number(value):
    """Returns the number that the tables print."""
    return None if value is None else float(six_digits(value))


def put_once(table, name, value, row=""):
    if name in table:
        raise ResultError(f"two values are called '{row}{name}': use --format=json")
    table[name] = value


def github_text(metrics, more):
    entries = {}
    for metric in metrics:
        if metric.more == more and metric.value is not None:
            ends = {} if metric.low is None else {
                "range": f"{six_digits(metric.low)} to {six_digits(metric.high)}"}
            name = row_name(f"{metric.benchmark} {metric.quantity}", metric.keys)
            put_once(entries, name, {
                "name": name, "unit": unit_of(metric.quantity), "value": as_number(metric.value), **ends,
                "extra": "\n".join(f"{fact}: {value}" for fact, value in metric.facts.items())})
    if not entries:  # the action fails without any
        good, other = ("higher", "github-smaller") if more else ("lower", "github-bigger")
        raise ResultError(f"no quantity is better when {good}: use --format={other}")
    return as_json(list(entries.values()))


def bencher_text(metrics):
    rows = {}
    for metric in metrics:
        if metric.value is not None:
            ends = {} if metric.low is None else {
                "lower_value": as_number(metric.low), "upper_value": as_number(metric.high)}
            row = row_name(metric.benchmark, metric.keys)
            put_once(rows.setdefault(row, {}), plain(metric.quantity), {"value": as_number(metric.value), **ends},
                     f"{row}: ")
    return as_json(rows)


def prometheus_text(metrics):
    """Returns gauges commcost_QUANTITY_UNIT, commcost_QUANTITY_lo_UNIT and commcost_QUANTITY_hi_UNIT, whose labels are
    the benchmark and the keys."""
    gauges = {}  # by name and help: values by labels
    for metric in metrics:
        unit, size = _BASE_UNITS.get(unit_of(metric.quantity), ("", 1))
        stem = as_name(re.sub(r"_(ns|us|s|bytes|pct|mbs|per_s)$|\(%\)$", "", metric.quantity))
        labels = ",".join(f'{as_name(name)}="{escaped(value)}"'
                          for name, value in {"benchmark": metric.benchmark, **metric.keys}.items())
        for end, value in (("", metric.value), ("_lo", metric.low), ("_hi", metric.high)):
            if value is not None:
                gauge = gauges.setdefault((f"commcost_{stem}{end}{unit}", f"{stem}: {_HELP[end]}"), {})
                put_once(gauge, labels, f"{as_number(value) / size:.12g}")
        for name, text, value in (("launches", "launches with the row", metric.facts["launches"]),
                                  ("failed", "1 if a launch found wrong data", int(metric.facts["status"] == "FAIL"))):
            gauges.setdefault((f"commcost_{name}", text), {})[labels] = value
    return "".join(f"# HELP {name} {text}\n# TYPE {name} gauge\n" + "".join(
        f"{name}{{{labels}}} {value}\n" for labels, value in gauge.items()) for (name, text), gauge in gauges.items())


def as_name(text):
    """Returns the text as the name of a gauge or label."""
    return re.sub("[^a-zA-Z0-9_]|^(?=[0-9])", "_", text)


def escaped(text):
    return plain(text).replace("\\", r"\\").replace('"', r"\"")


# By value of --format.
FORMATS = {"github-smaller": lambda metrics: github_text(metrics, False),
           "github-bigger": lambda metrics: github_text(metrics, True), "bencher": bencher_text}
