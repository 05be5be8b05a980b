# SPDX-License-Identifier: BSD-3-Clause
"""Rows of results that hold the cost of a call."""

import math
import os
import re
import typing

from commcost.cost.monitor_report import Layout
from commcost.result import benchmarks, result_metadata
from commcost.suite import launch_options, launchers
from commcost.suite.suite_plan import collectives
from commcost.system import shell_command
from commcost.words import listed

VALUES_SHOWN = 4
ELEMENT = 8  # bytes per element of the benchmarks; smaller messages cost the same


class Way(typing.NamedTuple):
    """Rows of the overlap programs: operation, column and form."""

    operation: str
    column: str
    form: str = "nonblocking"


BLOCKING = "blocking"  # the form of collective's rows, which take precedence over blocking_us of the overlap programs
# Rows of syncbench that measure blocking calls without data.
SYNCS = {"ibarrier": "MPI barrier", "fence": "fence", "iallreduce": "allreduce 0 bytes"}
SYNC = "sync_us"
# One more exchange of messages while others are in progress: msgrate's rate with warm caches.
GAP = Way("msgrate", "")
# Messages are measured between pairs of ranks, for any number of ranks.
PAIR_OPERATIONS = ("isend", "irecv", "sendrecv", "put", "get", GAP.operation)
_MESSAGES = {f"MPI_{name}": operation for operation, names in (
    ("isend", "Send Ssend Rsend Isend Issend Irsend Send_init Ssend_init Rsend_init"),
    ("irecv", "Recv Irecv Recv_init"), ("sendrecv", "Sendrecv"), ("put", "Put Rput"), ("get", "Get Rget"))
             for name in names.split()}


def is_started(function):
    """True if another call completes what the function starts."""
    return re.match("MPI_(I[a-z]|R(put|get)$|.*_init$)", function) is not None


def operation_of(function):
    """Returns the overlap programs' name of an MPI function (iallreduce for MPI_Allreduce), or None."""
    name = "i" + re.sub("^MPI_I?|_init$", "", function).lower()
    return _MESSAGES.get(function) or (name if name in collectives() else None)


def way_of(function):
    """Returns the Way of a call with its completion, or None if no benchmark measures it."""
    operation = operation_of(function)
    if function == "MPI_Win_fence":
        return Way("fence", "blocking_us")
    if operation is None:
        return None
    is_persistent = function.endswith("_init") and operation not in PAIR_OPERATIONS
    return Way(operation, "ref_us" if is_started(function) else "blocking_us",
               "persistent" if is_persistent else "nonblocking")


def is_sync(way, size):
    """True if syncbench measures a Way at this size."""
    return way.column == "blocking_us" and way.operation in SYNCS and size == 0


def sources_of(way, size):
    """Returns the Ways that hold the cost of a Way, the best first."""
    if way.column != "blocking_us":
        return (way,)
    return (Way(way.operation, "time_us", BLOCKING), *([Way(way.operation, SYNC)] if is_sync(way, size) else []), way)


def command_of(way, layout, sizes, results):
    """Returns the command that measures a Way at these sizes, with a separate file in the results folder."""
    largest = max(sizes)
    numbers = [max(1.0 if way == GAP else ELEMENT, size) for size in sizes]
    sizes = f"--sizes={1 << int(math.log2(min(numbers)))}:{1 << math.ceil(math.log2(max(numbers)))}"
    form = [] if way.form == "nonblocking" else [way.form]
    if way == GAP:
        program, options = "msgrate/msgrate", ["--peers=1", "--cache=0", sizes]
    elif is_sync(way, largest):
        program, options = "syncbench/syncbench", []
    elif way.operation == "ibarrier":
        program, options = "overlap/overlap_ibarrier", []
    else:
        program, options = f"overlap/overlap_{way.operation}", [sizes, *(f"--form={name}" for name in form)]
    name = "_".join([os.path.basename(program), str(layout.ranks), *form])
    where = f"on {layout.nodes} nodes: " if layout.ranks > 1 and (layout.nodes or 1) > 1 else ""
    build = launch_options.own_build()
    launcher, output = launchers.built_launcher(build), os.path.join(os.path.abspath(results), f"{name}.tsv")
    return where + shell_command(launcher, "-np", str(layout.ranks), os.path.join(build, program), *options,
                                 f"--output={output}")


def comparable_rows(tables, metadata):
    """Returns Tables with one row per call, and warnings. Of rows that differ in further keys except the layout, keeps
    those that agree with the report's metadata, otherwise those of the first value."""
    kept, warnings = {}, {}
    for kind in tables.kinds():
        for key in tables.further_keys(kind):
            name = tables.apart[kind].get(key, key)
            values = list(dict.fromkeys(row.keys[key] for row in tables.rows(kind)))
            usual = benchmarks.USUAL.get(key, (result_metadata.value_of(metadata, name),))
            if name in Layout._fields:
                continue
            if not set(values) & set(usual):
                usual = values[:1]
                if len(values) > 1:
                    warnings[f"results differ in {name} ({listed(values, VALUES_SHOWN)}), the report has none: "
                             f"uses {values[0]}"] = None
                elif key in benchmarks.USUAL:
                    warnings[f"{kind} was measured with {name} {values[0]} only"] = None
            kept.setdefault(kind, {})[key] = usual
    return tables.only([table._replace(rows=[
        cells for cells in table.rows
        if all(cells.get(key, "NA") in usual for key, usual in kept.get(table.kind, {}).items())])
        for table in tables.tables]), list(warnings)
