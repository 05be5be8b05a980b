# SPDX-License-Identifier: BSD-3-Clause
"""Differences between the metadata of two sides' results."""

from commcost.result import benchmarks, result_metadata
from commcost.result.result_metadata import is_of_the_system
from commcost.result.result_reader import PATH_SHOWN
from commcost.words import cut, listed

VALUE_SHOWN = 1000  # characters of metadata
NAMES_SHOWN = 4     # benchmarks


def differences(launches):
    """Returns sentences about metadata that differ between the sides' results of a benchmark: those that change the
    measurement, and all others. A difference common to several benchmarks is one sentence. Values that both sides have
    are not differences but keys of rows."""
    refused, named, same = [], [], {}  # same: the first sentence, followed by all benchmarks
    for (benchmark, key), values in launches.values_of.items():
        sides = set().union(*(one.sides for one in values.values()))
        two = sorted(values.values(), key=lambda one: one.sides == sides)[:2]
        is_alike = len(two) < 2 or len(sides) < 2 or two[0].sides == sides
        if is_alike or key in result_metadata.OF_A_LAUNCH | result_metadata.OF_THE_ROWS:
            continue
        two = sorted(two, key=lambda one: min(one.sides))
        own = tuple(one.parts - other.parts for one, other in (two, two[::-1]))
        same.setdefault((key, own), [difference(benchmark, key, own, *two)]).append(benchmark)
    # Facts are in the order of the check-up, the most important first.
    for (key, _), (sentence, _, *more) in sorted(same.items(), key=lambda one: not is_fact(one[0][0])):
        sentence += f" ({listed(more, NAMES_SHOWN)}, too)" if more else ""
        (named if is_of_the_system(key) or key in result_metadata.OF_THE_SAMPLING else refused).append(sentence)
    return refused, named


def difference(benchmark, key, own, *two):
    """Returns the sentence about two values. `own` are the parts of each that the other lacks."""
    paths, values = zip(*((f"{one.path:.{PATH_SHOWN}}", cut(one.value, VALUE_SHOWN)) for one in two))
    if key in ("ranks", "nodes", "ranks_per_node"):
        return f"{paths[0]} ran on {values[0]} {key}, {paths[1]} on {values[1]}"
    if max(len(one.parts) for one in two) > 1:
        return f"{benchmark}: {key} has " + ", ".join(
            f"{cut('; '.join(sorted(parts)), VALUE_SHOWN)} only in {path}" for parts, path in zip(own, paths) if parts)
    if is_fact(key):
        return f"{benchmark}: {key[len(result_metadata.FACT):]} is {values[0]} in {paths[0]}, {values[1]} in {paths[1]}"
    if is_of_the_system(key) and key != "timer" or benchmarks.is_foreign(benchmark):
        return f"{benchmark}: {key} is {values[0]} in {paths[0]}, {values[1]} in {paths[1]}"
    return "{} was measured with --{}={}, {} with --{}={}".format(paths[0], key, values[0], paths[1], key, values[1])


def is_fact(key):
    return key.startswith(result_metadata.FACT)
