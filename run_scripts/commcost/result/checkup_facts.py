# SPDX-License-Identifier: BSD-3-Clause
"""Facts of a job, as printed by `checkup` and `checkup --facts`."""

import re
import typing

from commcost.result.intervals import Measured
from commcost.result.result_reader import Result, ResultError
from commcost.words import is_number


class Rank(typing.NamedTuple):
    """The facts of a rank: values by name, in the program's order."""

    number: int
    values: dict

    def text(self, name, default=""):
        """Returns the first value of a fact."""
        return self.values.get(name, [default])[0]

    def number_of(self, name):
        """Returns the first value of a fact as a number, or None if there is none."""
        text = self.text(name)
        return float(text) if is_number(text) else None


class Facts(typing.NamedTuple):
    """The facts of all ranks seen, and the measurements."""

    ranks: list
    measured: dict  # by fact: (Measured, unit)

    @property
    def nodes(self):
        """Returns the ranks of each node, by its name. Several nodes of the library on a host that booted once are
        one."""
        found, hosts = {}, {}
        for rank in self.ranks:
            found.setdefault(rank.text("node") or rank.text("host"), []).append(rank)
        for name, (first, *_) in list(found.items()):
            boot = first.text("kernel.boot_id")
            own = hosts.setdefault((first.text("host"), boot), name) if boot else name
            if own != name:
                found[own] += found.pop(name)
        return found

    def named(self, pattern):
        """Yields (rank, match, value) of each fact whose name matches a pattern."""
        names = {name: re.fullmatch(pattern, name) for name in set().union(*(rank.values for rank in self.ranks))}
        for rank in self.ranks:
            for name in filter(names.get, rank.values):
                for value in rank.values[name]:
                    yield rank, names[name], value


def members(ranges):
    """Returns the numbers of a list such as 0-3,8; a stride as in 0-6/2."""
    found = set()
    for first, last, step in re.findall(r"(\d+)(?:-(\d+))?(?:/(\d+))?", ranges):
        found.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def facts_of_result(path):
    """Reads the Facts in a result. ResultError if it isn't a complete result."""
    ranks, measured = {}, {}
    with Result(path) as result:
        if not {"rank", "fact", "value", "unit", "value_lo", "value_hi"} <= set(result.header):
            raise ResultError(f"{path}: no result of checkup")
        for cells in result.rows():
            row = dict(zip(result.header, cells))
            of_row = members(row["rank"])
            if not of_row:
                raise ResultError(f"{path}: '{row['rank']:.20}' is no rank")
            if not is_measurement(row):
                for rank in of_row:
                    ranks.setdefault(rank, {}).setdefault(row["fact"], []).append(row["value"])
            elif is_number(row["value"]):
                ends = [float(row[end]) if is_number(row[end]) else None for end in ("value_lo", "value_hi")]
                measured[row["fact"]] = (Measured(float(row["value"]), *ends, 1), row["unit"])
        if result.end is None:
            raise ResultError(f"{path}: no end line")
    return Facts([Rank(number, ranks[number]) for number in sorted(ranks)], measured)


def is_measurement(row):
    return row["unit"] in ("us", "MB/s")


# Facts that may explain a change between two launches, those of checks first. Facts of an interface, adapter or
# frequency policy have its name in the middle. Other facts differ between any two jobs, or are in the metadata of
# programs.
EXPLAINING = tuple("""
    cpu_quota neighbour_memory seccomp_mode ptrace_scope shm_bytes memlock_bytes clock.source frequency.governor
    interface.rate interface.mtu interface.state adapter.rate adapter.state
    adapter.link_layer frequency.driver adapter.numa_node open_files""".split())


def shared_values(facts):
    """Returns (name, values of all ranks) of the facts that may explain a change between launches, in the order of
    EXPLAINING. Ignores interfaces without a device."""
    found = {}
    for rank in facts.ranks:
        for name, values in rank.values.items():
            group, last = name.partition(".")[0], name.rpartition(".")[2]
            family = group if group == last else f"{group}.{last}"
            kind = rank.text(name[:-len(last)] + "kind")
            is_virtual = group == "interface" and kind not in ("physical", "bond")
            if family not in EXPLAINING or is_virtual:
                continue
            # All processors share one line.
            shown = family if group == "frequency" else name
            found.setdefault((EXPLAINING.index(family), shown), {}).update(dict.fromkeys(values))
    return [(name, ", ".join(sorted(values))) for (_, name), values in sorted(found.items())]


def facts_of_texts(texts):
    """Reads the facts that processes printed with --facts, one text per rank, in rank order."""
    ranks = []
    for number, text in enumerate(texts):
        values = {}
        for line in text.splitlines():
            name, value = (line.split("\t") + ["", ""])[:2]
            values.setdefault(name, []).append(value)
        ranks.append(Rank(number, values))
    return Facts(ranks, {})
