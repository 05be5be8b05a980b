"""Which metadata of results may differ: in a comparison, and among launches whose rows are put together. An option that
isn't named here changes what is measured, so that results with different values of it aren't compared, and their rows
are told apart."""

import typing

from commcost.command import plain
from commcost.words import cut

# Metadata that belongs to a launch: it may always differ (threshold: of overlap's verdicts, which aren't compared).
OF_A_LAUNCH = set("""
    all_rows benchmark clock_cost_ns clock_resolution_ns columns command common_clock_error_ns computing_from_ns date
    debug dump-samples environment format global_clock global_clock_error_bound_us global_clock_error_growth_us_per_s
    global_clock_error_us hosts intervals job_id last_date late_us layout machine-readable metadata no-header nohdr
    output schema snapshot snapshot_s threshold verbose""".split())

# What was measured: a machine, a library, a build, another program (foreign_outputs.py). A comparison may be about it, so it is
# named where it differs.
OF_THE_SYSTEM = set("""
    binding buffer_placement calling_sequence clock commit compiler compiler_flags cores kernel mpi_abi mpi_built_with mpi_device
    mpi_library mpi_standard mpi_variable processor processors program thread_level timer version""".split())

# How well it was measured: named, too.
OF_THE_SAMPLING = set("""
    confidence default-tdm-n-iters iterations max-samples max-tdm-iters max-time min-samples outer precision samples
    seed validation-steps visits warmup""".split())

# Which rows there are, or what is a key of theirs: rows that only one side has are said to be missing or added.
OF_THE_ROWS = set("""
    arrangements both cache coarray-sync data-driven-execution dims form full local max-blocks max-ndata
    max-neighbours max-num-elts max-stride messages methods min-num-elts msgsize no-blocking operations
    partitions patterns peers ppn recv size sizes sync test-calls threads transfer types""".split())

MAY_DIFFER = OF_A_LAUNCH | OF_THE_SAMPLING | OF_THE_ROWS
# Of the system, what launches of one row may differ in with a warning: what is built and run may be the same.
WITH_A_WARNING = set("""
    calling_sequence clock commit compiler compiler_flags cores kernel mpi_abi mpi_built_with mpi_standard processors
    program version""".split())
FIRST = ("ranks", "nodes", "mpi_library", "memory")  # that tell launches apart
CELL_MAX = 200  # letters


class Differing(typing.NamedTuple):
    """Keys of the metadata that tell launches with the same rows apart.

    names   by key of the metadata, the fewest that tell all apart, what the column is called that rows get for it
    warned  by other key, the numbers of two launches that differ in it
    """

    names: dict
    warned: dict


def value_of(metadata, key):
    """The values of a key as one cell; NA where there is none."""
    return cut(plain("; ".join(sorted(set(metadata.get(key, ()))))), CELL_MAX).strip() or "NA"


def differing(several, shared, taken):
    """Tells launches apart whose rows must not be put together: the one check of all that reads several results.
    `several`: by number of a launch, its side and metadata; `shared`: sets of numbers of launches that have a row in
    common; `taken`: columns that rows have. A key that some launches lack, such as one of a later version, doesn't
    tell by that alone; nor one by which sides differ, each of which is of one value: comparisons are about that."""
    keys = dict.fromkeys([*FIRST, *(key for _, metadata in several.values() for key in metadata)])
    groups, names, warned = [group for group in shared if len(group) > 1], {}, {}
    for key in sorted(keys, key=lambda key: key in WITH_A_WARNING) if groups else ():
        values, by_side = {number: value_of(metadata, key) for number, (_, metadata) in several.items()}, {}
        for number, (side, _) in several.items():
            by_side.setdefault(side, []).append(values[number])
        if key in MAY_DIFFER or not any(map(are_several, by_side.values())):
            continue
        differ = next((group for group in groups if are_several(map(values.get, group))), None)
        if differ and key in WITH_A_WARNING:
            first, *others = sorted(number for number in differ if values[number] != "NA")
            warned[key] = first, next(other for other in others if values[other] != values[first])
        elif differ:
            names[key] = key if key not in taken else f"job_{key}"
            groups = [frozenset(number for number in group if values[number] == value)
                      for group in groups for value in set(map(values.get, group))]
    return Differing(names, warned)


def are_several(values):
    """True if values that are there differ."""
    return len({*values, "NA"}) > 2


def sentences(what, found, results):
    """A sentence for each key that Differing only warns of, about launches that are `what`."""
    for key, two in found.warned.items():
        said = " and ".join(f"{value_of(result.metadata, key)} ({result.path:.{CELL_MAX}})"
                            for result in (results[number] for number in two))
        yield f"{what} was measured with {key} {said}: rows are made of both"
