# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard's head line: machine, MPI library, launches, date."""

import re

from commcost.compare import best_setting
from commcost.result.tables import NEW
from commcost.suite.suite_folder import Folder
from commcost.words import counted, cut, is_number, listed

HOSTS = 3      # max hosts in the title
LIBRARIES_SHOWN = 120  # characters


def title_of(tables):
    """Returns "commcost on HOST: RANKS on NODES, LIBRARY (TRANSPORT), LAUNCHES, DATE"."""
    every = tables.of(NEW)
    most = max(every, key=lambda table: float(first(table, "ranks")) if is_number(first(table, "ranks")) else 0)
    mixed = [table for table in every if tables.apart[table.kind]]
    hosts = listed([run.split(":")[0] for run in first(most, "hosts").split("; ")], HOSTS)
    device = first(most, "mpi_device")
    settings = {row.keys.get(best_setting.SETTING) for kind in tables.kinds() for row in tables.rows(kind)} - {None}
    varied = f"{len(settings)} settings × " if len(settings) > 1 else ""
    text = head_of(f"commcost on {hosts}" if hosts else "commcost", mixed or [most])
    text += f" ({device})" if device else ""
    launches = varied + counted(launches_of(tables), "launch", "launches")
    dates = [first(table, "last_date") or first(table, "date") for table in every]
    days = [date[:10] for date in dates if re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", date)]
    return ", ".join([text, launches, *sorted(days)[-1:]])


def first(table, key):
    """Returns the first value of a key of the metadata, or "" if there is none."""
    return table.metadata.get(key, [""])[0]


def head_of(label, tables):
    """Returns a result's line in a picture's head: its name, ranks, nodes and MPI libraries."""
    def every(key):
        return list(dict.fromkeys(value for table in tables for value in table.metadata.get(key, ())[:1] if value))

    def counts(key, noun):
        found = sorted(every(key), key=lambda text: (len(text), text))
        return f"{' or '.join(found)} {noun if found == ['1'] else noun + 's'}" if found else ""

    libraries = dict.fromkeys(library.replace(" Version:", "").split(",")[0].rstrip(" ")
                              for library in every("mpi_library"))
    ranks, nodes = counts("ranks", "rank"), counts("nodes", "node")
    text = f"{label}: {ranks}{f' on {nodes}' if nodes else ''}" if ranks else label
    return ", ".join([text, *filter(None, [cut(" or ".join(libraries), LIBRARIES_SHOWN)])])


def seconds_of(tables):
    """Returns the duration of the launches in a suite's folder, or 0 if it isn't recorded."""
    return sum(record[2] for record in Folder(tables.paths[NEW]).records())


def launches_of(tables):
    """Returns the number of launches."""
    return max((len(row.launches) for kind in tables.kinds() for row in tables.rows(kind)), default=0)
