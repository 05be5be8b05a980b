# SPDX-License-Identifier: BSD-3-Clause
"""Differences between the metadata of two sides' results."""

import re
import typing

from commcost.result import benchmarks, result_metadata
from commcost.result.launches import Value
from commcost.result.result_metadata import is_of_the_system
from commcost.result.result_reader import PATH_SHOWN
from commcost.words import cut, listed

VALUE_SHOWN = 1000  # characters of metadata
NAMES_SHOWN = 4     # benchmarks
LINES_SHOWN = 4     # differences of a group
VARIABLES = "mpi_variable"
WITH_ALL = "thread_level"  # in full metadata only: a result that has it and no variables had none
SAMPLING = "sampling"

# Groups of differences, the likeliest reasons for another speed first: patterns of keys, and of variables of MPI
# libraries. The first group whose pattern fits has the difference.
_GROUPS = (
    ("library", "mpi_|program$", None),
    ("transport", "(interface|adapter)\\.|(ptrace_scope|seccomp_mode|shm_bytes|memlock_bytes|neighbour_memory)$",
     "_TLS|DEVICE|_BTL|_PML|_MTL|FABRIC|PROVIDER|NETMOD|_IF_|SHM|POSIX|CMA|XPMEM|PTL|_OFI"),
    ("switches", None, "THRESH|EAGER|RNDV|ZCOPY|BCOPY|LIMIT|_SCHEME"),
    ("algorithm", None, "ALGORITHM|TUNED|ADJUST|COLL|SELECTION"),
    ("binding", "(binding|cpu_quota|processors?|cores|thread_level)$|frequency\\.", "BIND|PIN|AFFINITY"),
    ("kernel", "(kernel|open_files)$", None),
    ("clock", "(clock|clock\\.source|timer)$", None),
    ("variables", None, ""),
    (SAMPLING, f"({'|'.join(sorted(result_metadata.OF_THE_SAMPLING))})$", None),
    ("build", "", None))


class Difference(typing.NamedTuple):
    """A difference that may explain a change. A variable that a side lacks has the value None."""

    group: str
    name: str
    base: typing.Optional[str]
    new: typing.Optional[str]
    is_variable: bool
    benchmarks: str  # names, or "" if all have it

    def __str__(self):
        if self.base is None or self.new is None:
            side, value = ("new", self.new) if self.base is None else ("base", self.base)
            text = f"{self.name}={value} only in {side}"
        else:
            name = "" if self.name.endswith(self.group) else f"{self.name} is "
            text = f"{name}{self.base} in base, {self.new} in new"
        return f"{self.group}: {text}" + (f" ({self.benchmarks})" if self.benchmarks else "")


def group_of(name, is_variable):
    """Returns the place of the group of a key, or of a variable."""
    return next(place for place, (_, *patterns) in enumerate(_GROUPS) if patterns[is_variable] is not None and
                (re.search if is_variable else re.match)(patterns[is_variable], name))


def differences(launches):
    """Returns sentences about metadata that change the measurement, and the Differences of all others, in the order of
    the groups. A difference common to several benchmarks is one. Values that both sides have are not differences but
    keys of rows."""
    every, refused, named = {benchmark for benchmark, _ in launches.values_of}, {}, {}
    for (benchmark, key), values in launches.values_of.items():
        sides = sides_of(values)
        full = sides_of(launches.values_of.get((benchmark, WITH_ALL), {}))
        if key == VARIABLES and len(sides) == 1 and len(full) == 2:
            values, sides = {**values, "": Value("", "", {0, 1} - sides, frozenset())}, {0, 1}
        two = sorted(values.values(), key=lambda one: one.sides == sides)[:2]
        is_alike = len(two) < 2 or len(sides) < 2 or two[0].sides == sides
        if is_alike or key in result_metadata.OF_A_LAUNCH | result_metadata.OF_THE_ROWS:
            continue
        two = sorted(two, key=lambda one: min(one.sides))
        own = tuple(one.parts - other.parts for one, other in (two, two[::-1]))
        if not (is_of_the_system(key) or key in result_metadata.OF_THE_SAMPLING):
            refused.setdefault((key, own), [difference(benchmark, key, own, *two)]).append(benchmark)
            continue
        for pair in variables_of(own) if key == VARIABLES else [(key, *("; ".join(sorted(parts)) for parts in own))]:
            named.setdefault((key == VARIABLES, *pair), []).append(benchmark)
    sentences = [sentence + (f" ({listed(more, NAMES_SHOWN)}, too)" if more else "")
                 for sentence, _, *more in refused.values()]
    found = []
    for (is_variable, name, base, new), several in named.items():
        name = name[len(result_metadata.FACT):] if name.startswith(result_metadata.FACT) else name
        found.append(Difference(
            _GROUPS[group_of(name, is_variable)][0], name, base, new, is_variable,
            "" if set(several) == every else listed(several, NAMES_SHOWN)))
    # Facts stay in the order of the check-up.
    return sentences, sorted(found, key=lambda one: group_of(one.name, one.is_variable))


def sides_of(values):
    return set().union(*(one.sides for one in values.values()))


def variables_of(own):
    """Yields each variable in which two sides differ, with its values, None if unset."""
    base, new = (dict(text.partition("=")[::2] for text in sorted(side)) for side in own)
    for name in dict.fromkeys([*base, *new]):
        yield name, base.get(name), new.get(name)


def remarks_of(found, is_full=False):
    """Returns texts about Differences, of each group the first ones unless `is_full`."""
    texts = []
    for group, *_ in _GROUPS:
        lines = [cut(str(one), VALUE_SHOWN) for one in found if one.group == group]
        shown = len(lines) if is_full or len(lines) <= LINES_SHOWN else LINES_SHOWN - 1
        texts += lines[:shown]
        texts += [f"{group}: {len(lines) - shown} more: -v lists all"] if lines[shown:] else []
    return texts


def difference(benchmark, key, own, *two):
    """Returns the sentence about two values. `own` are the parts of each that the other lacks."""
    paths, values = zip(*((f"{one.path:.{PATH_SHOWN}}", cut(one.value, VALUE_SHOWN)) for one in two))
    if key in ("ranks", "nodes", "ranks_per_node"):
        return f"{paths[0]} ran on {values[0]} {key}, {paths[1]} on {values[1]}"
    if max(len(one.parts) for one in two) > 1:
        return f"{benchmark}: {key} has " + ", ".join(
            f"{cut('; '.join(sorted(parts)), VALUE_SHOWN)} only in {path}" for parts, path in zip(own, paths) if parts)
    if benchmarks.is_foreign(benchmark):
        return f"{benchmark}: {key} is {values[0]} in {paths[0]}, {values[1]} in {paths[1]}"
    return "{} was measured with --{}={}, {} with --{}={}".format(paths[0], key, values[0], paths[1], key, values[1])
