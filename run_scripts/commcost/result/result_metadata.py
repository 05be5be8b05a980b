# SPDX-License-Identifier: BSD-3-Clause
"""Metadata that may differ between sides of a comparison and among launches of the same rows. Any option not listed
here changes the measurement: results with different values are not compared, and it becomes a key of their rows.
"""

import typing

from commcost.command import plain
from commcost.words import cut

# Metadata of a launch, which may always differ (threshold is of overlap's verdicts, which are not compared).
OF_A_LAUNCH = set("""
    all_rows benchmark clock_cost_ns clock_resolution_ns columns command common_clock_error_ns computing_from_ns date
    debug dump-samples environment format global_clock global_clock_error_bound_us global_clock_error_growth_us_per_s
    global_clock_error_us hosts intervals job_id last_date late_us layout link-rate machine-readable metadata no-header
    nohdr output schema snapshot snapshot_s threshold verbose""".split())

# The measured system: machine, library, build, another program. A comparison may be about it, and reports differences.
OF_THE_SYSTEM = set("""
    binding buffer_placement calling_sequence clock commit compiler compiler_flags cores kernel mpi_abi mpi_built_with
    mpi_device mpi_library mpi_standard mpi_variable pages processor processors program thread_level timer
    version""".split())

# Prefix of keys of the check-up's facts, which belong to the system.
FACT = "fact."

# The quality of the measurement. A comparison reports differences.
OF_THE_SAMPLING = set("""
    confidence default-tdm-n-iters iterations max-samples max-tdm-iters max-time min-samples outer precision samples
    seed validation-steps visits warmup""".split())

# The choice of rows, or one of their keys. Rows of only one side are missing or added.
OF_THE_ROWS = set("""
    align arrangements both cache coarray-sync data-driven-execution dims form full local max-blocks max-ndata
    max-neighbours max-num-elts max-stride messages methods min-num-elts min-share msgsize no-blocking operations
    partitions patterns peers ppn recv size sizes sync test-calls threads transfer types""".split())

MAY_DIFFER = OF_A_LAUNCH | OF_THE_SAMPLING | OF_THE_ROWS
# Metadata of the system in which launches of a row may differ, with a warning: the programs may be the same.
WITH_A_WARNING = set("""
    calling_sequence clock commit compiler compiler_flags cores kernel mpi_abi mpi_built_with mpi_standard processors
    program version""".split())
FIRST = ("ranks", "nodes", "mpi_library", "memory")  # preferred keys to distinguish launches
CELL_MAX = 200  # characters


class Differing(typing.NamedTuple):
    """Keys of the metadata that distinguish launches with the same rows.

    names   names of new columns by key of the metadata; the fewest keys that distinguish all launches
    warned  numbers of two launches that differ, by other key
    """

    names: dict
    warned: dict


def is_of_the_system(key):
    return key in OF_THE_SYSTEM or key.startswith(FACT)


def value_of(metadata, key):
    """Returns the values of a key as one cell, or NA if there are none."""
    return cut(plain("; ".join(sorted(set(metadata.get(key, ()))))), CELL_MAX).strip() or "NA"


def differing(several, shared, taken):
    """Finds metadata that distinguish launches whose rows must stay separate; used by all readers of several results.
    `several` has side and metadata by launch number, `shared` sets of launch numbers with a common row, `taken` the
    columns of rows. Ignores keys that some launches lack, such as those of later versions, and keys with one value per
    side, which the comparison is about."""
    keys = dict.fromkeys([*FIRST, *(key for _, metadata in several.values() for key in metadata)])
    groups, names, warned = [group for group in shared if len(group) > 1], {}, {}
    for key in sorted(keys, key=only_warns) if groups else ():
        values, by_side = {number: value_of(metadata, key) for number, (_, metadata) in several.items()}, {}
        for number, (side, _) in several.items():
            by_side.setdefault(side, []).append(values[number])
        if key in MAY_DIFFER or not any(map(are_several, by_side.values())):
            continue
        differ = next((group for group in groups if are_several(map(values.get, group))), None)
        if differ and only_warns(key):
            first, *others = sorted(number for number in differ if values[number] != "NA")
            warned[key] = first, next(other for other in others if values[other] != values[first])
        elif differ:
            names[key] = key if key not in taken else f"job_{key}"
            groups = [frozenset(number for number in group if values[number] == value)
                      for group in groups for value in set(map(values.get, group))]
    return Differing(names, warned)


def only_warns(key):
    return key in WITH_A_WARNING or key.startswith(FACT)


def are_several(values):
    """True if there are different values, except NA."""
    return len({*values, "NA"}) > 2


def sentences(what, found, results):
    for key, two in found.warned.items():
        values = " and ".join(f"{value_of(result.metadata, key)} ({result.path:.{CELL_MAX}})"
                              for result in (results[number] for number in two))
        yield f"{what} was measured with {key} {values}: rows mix both"
