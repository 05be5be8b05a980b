"""Facts of a job: a model of what `checkup` and `checkup --facts` print."""

import re
import typing

from commcost.result.intervals import Measured
from commcost.result.result_reader import Result, ResultError
from commcost.words import is_number


class Rank(typing.NamedTuple):
    """The facts of a rank: the values of each name, in the order of the program."""

    number: int
    values: dict

    def text(self, name, default=""):
        """The first value of a fact."""
        return self.values.get(name, [default])[0]

    def number_of(self, name):
        """The first value of a fact as a number; None if there is none."""
        text = self.text(name)
        return float(text) if is_number(text) else None


class Facts(typing.NamedTuple):
    """The facts of all ranks that were seen, and the measurements."""

    ranks: list
    measured: dict  # fact: (Measured, unit)

    @property
    def nodes(self):
        """The ranks of each node, by the node's name."""
        found = {}
        for rank in self.ranks:
            found.setdefault(rank.text("node") or rank.text("host"), []).append(rank)
        return found

    def named(self, pattern):
        """Yields (rank, match, value) of each fact whose name matches a pattern."""
        for rank in self.ranks:
            for name, values in rank.values.items():
                found = re.fullmatch(pattern, name)
                if found:
                    for value in values:
                        yield rank, found, value


def facts_of_result(path):
    """Reads the Facts that the program wrote. ResultError if it is no whole result."""
    ranks, measured = {}, {}
    with Result(path) as result:
        for cells in result.rows():
            row = dict(zip(result.header, cells))
            if not is_measurement(row):
                ranks.setdefault(int(row["rank"]), {}).setdefault(row["fact"], []).append(row["value"])
            elif is_number(row["value"]):
                ends = [float(row[end]) if is_number(row[end]) else None for end in ("value_lo", "value_hi")]
                measured[row["fact"]] = (Measured(float(row["value"]), *ends, 1), row["unit"])
        if result.end is None:
            raise ResultError(f"{path}: no end line")
    return Facts([Rank(number, ranks[number]) for number in sorted(ranks)], measured)


def is_measurement(row):
    return row["unit"] in ("us", "MB/s")


# The facts that may explain a change between two launches: first those of checks. A fact of an interface, adapter or
# frequency policy has its name in between. Others differ between any two jobs, or are in the metadata of programs.
EXPLAINING = tuple("""
    cpu_quota neighbour_memory seccomp_mode ptrace_scope shm_bytes memlock_bytes clock.source frequency.governor
    interface.rate interface.mtu interface.state adapter.rate adapter.state
    adapter.link_layer frequency.driver adapter.numa_node open_files""".split())


def shared_values(facts):
    """Returns (name, values of all ranks) of the facts that may explain a change between launches, in the order of
    EXPLAINING. Of interfaces only those with a device."""
    found = {}
    for rank in facts.ranks:
        for name, values in rank.values.items():
            group, last = name.partition(".")[0], name.rpartition(".")[2]
            family = group if group == last else f"{group}.{last}"
            is_virtual = group == "interface" and rank.text(name[:-len(last)] + "kind") != "physical"
            if family not in EXPLAINING or is_virtual:
                continue
            # All processors in one line.
            shown = family if group == "frequency" else name
            found.setdefault((EXPLAINING.index(family), shown), {}).update(dict.fromkeys(values))
    return [(name, ", ".join(values)) for (_, name), values in sorted(found.items())]


def facts_of_texts(texts):
    """Reads the facts that processes printed with --facts, a text each; their order is their rank."""
    ranks = []
    for number, text in enumerate(texts):
        values = {}
        for line in text.splitlines():
            name, value = (line.split("\t") + ["", ""])[:2]
            values.setdefault(name, []).append(value)
        ranks.append(Rank(number, values))
    return Facts(ranks, {})
