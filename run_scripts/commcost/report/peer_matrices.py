# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of a monitor's report with the flag `peers`: who sends how many bytes to whom, and who waits for whom.

Of many ranks, a cell is a block of neighbouring ranks. If a result of linkmap lies in the same folder, the bytes between
nodes are shown with the latency of their link.
"""

import collections
import re

from commcost.page import Mark, Text, matrix_parts
from commcost.result import rank_hosts
from commcost.result.tables import NEW
from commcost.words import parsed_number, short

BLOCKS = 16  # rows and columns of a matrix
UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1))
HOSTS = re.compile(r"([^:\[\]]*)(?:\[([0-9]{1,9})-([0-9]{1,9})\])?([^:\[\]]*): ")


def peer_rows(tables):
    """Returns the rows of pairs of ranks of the first report: way, rank, peer, bytes and seconds."""
    found = []
    for table in tables.of(NEW, "mpirtmon")[:1]:
        for row in table.rows:
            numbers = [parsed_number(row.get(name, "NA")) for name in ("rank", "peer", "bytes", "in_calls_s")]
            if row["kind"] == "peer" and None not in numbers:
                found.append((row["operation"], int(numbers[0]), int(numbers[1]), *numbers[2:]))
    return found


def sums_of(rows):
    """Returns bytes by sender and receiver, and seconds by the rank that waits and its peer."""
    sent, waited = collections.Counter(), collections.Counter()
    for way, rank, peer, volume, seconds in rows:
        if way in ("sends", "puts"):
            sent[rank, peer] += volume
        elif way == "gets":
            sent[peer, rank] += volume
        if way in ("receives", "gets"):
            waited[rank, peer] += seconds
    return sent, waited


def blocks_of(amounts, size):
    blocks = collections.Counter()
    for (row, column), amount in amounts.items():
        blocks[row // size, column // size] += amount
    return blocks


def unit_of(amounts):
    """Returns the name and the bytes of the unit in which the largest amount is at least 1."""
    most = max(amounts.values(), default=0)
    return next((name, factor) for name, factor in UNITS if most >= factor or factor == 1)


def block_matrix(amounts, size, heading, text_of, legend):
    def name(block):
        return str(block) if size == 1 else f"{block * size}–{block * size + size - 1}"

    found = collections.defaultdict(dict)
    for (row, column), amount in sorted(blocks_of(amounts, size).items()):
        found[f"rank {name(row)}"][column] = Mark(text_of(amount))
    return matrix_parts(found, heading, name, legend, most=BLOCKS)


def node_names(hosts):
    """Returns the name of each host of a text like "node1: 0-3; node[2-9]: 4-35"."""
    names = []
    for run in hosts.split("; "):
        before, first, last, after = HOSTS.match(run + ": ").groups()
        names += [before + after] if first is None else [f"{before}{i}{after}" for i in range(int(first), int(last) + 1)]
    return names


def link_matrix(tables, sent):
    """Returns the matrix of bytes between nodes and the latency of their links, or no part without both."""
    report, = tables.of(NEW, "mpirtmon")[:1]
    hosts = report.metadata.get("hosts", [""])[0]
    ranges = rank_hosts.hosts_of(hosts)
    times = {}
    for table in tables.of(NEW, "linkmap"):
        for row in table.rows:
            time_us = parsed_number(row.get("time_us", "NA"))
            if row.get("scope") == "pair" and time_us is not None:
                for pair in ((row["a"], row["b"]), (row["b"], row["a"])):
                    times[pair] = min(time_us, times.get(pair, time_us))
    names = node_names(hosts) if ranges else []
    if not times or len(names) != len(ranges or ()):
        return []
    node_of = {rank: name for name, parts in zip(names, ranges) for part in parts for rank in part}
    volumes = collections.Counter()
    for (source, target), amount in sent.items():
        if node_of.get(source) != node_of.get(target):
            volumes[node_of.get(source), node_of.get(target)] += amount
    found = collections.defaultdict(dict)
    unit, factor = unit_of(volumes)
    for (source, target), amount in sorted(volumes.items()):
        if (source, target) in times:
            found[source][names.index(target)] = Mark(f"{short(amount / factor)}, {short(times[source, target])} µs")
    return matrix_parts(found, f"{unit} from node / to", lambda place: names[place],
                        f"{unit} between nodes, and the latency of their link (linkmap).", most=BLOCKS)


def program_matrix(tables):
    rows = peer_rows(tables)
    if not rows:
        return []
    sent, waited = sums_of(rows)
    size = -(-(max(max(pair) for pair in [*sent, *waited]) + 1) // BLOCKS)
    unit, factor = unit_of(blocks_of(sent, size))
    return [*block_matrix(sent, size, f"{unit} from / to", lambda amount: short(amount / factor) if factor > 1 else f"{amount:.0f}",
                          f"Messages, puts and gets in {unit}, from the rank of a row to that of a column."),
            *block_matrix(waited, size, "waits (s) / for", short,
                          "Seconds that the rank of a row spent in receives and gets from that of a column."),
            *link_matrix(tables, sent),
            *([Text("A cell is the sum over a block of ranks.", small=True)] if size > 1 else [])]
