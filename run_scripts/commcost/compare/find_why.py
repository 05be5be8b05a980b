# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare --find-why: launches the program that changed most clearly, alternately with settings of both sides, to
find the settings that cause the change (change_search).

The search depends only on recorded launches, so an interrupted one starts over without repeating them.
"""

import math

from commcost import command
from commcost.command import say
from commcost.compare import change_search, row_changes, why_launches
from commcost.compare.side_differences import remarks_of
from commcost.page import readable
from commcost.suite import launch_options
from commcost.words import bytes_text, counted, duration_text, listed, parsed_number

PROGRAM = "bench_compare"
EXPLAINED = 0.5   # share of a change from which causes explain it
WHOLE = 0.8       # share below which a change has further reasons
LIMITS = row_changes.Limits(0.01, 5.0, 0.95)


def read_options(words):
    made = command.Parser(f"{PROGRAM} --find-why", f"{PROGRAM} --find-why [OPTION]... BASE NEW", """\
Finds out why results changed. Launches the program that changed most clearly,
alternately with the variables and the binding of BASE and of NEW, halves the set
of those that differ, and names the ones that cause the change.

Exit status: 0 a cause was found; 1 none, or not decided; 2 wrong usage.""", allow_abbrev=False)
    made.add_argument("base", metavar="BASE", help="results to compare with")
    made.add_argument("new", metavar="NEW", help="results that changed")
    add = made.add_argument_group("The search").add_argument
    add("--time-limit", metavar="TIME", type=launch_options.limit, default=600,
        help="time for all launches of this call: 90, 30m or 2h (default: 10m)")
    add("--limit", metavar="TIME", type=launch_options.limit, default=120,
        help="time after which a launch counts as a hang (default: 2m)")
    add("--also", metavar="LIST", type=launch_options.list_of(lambda word: word or None, "use names of variables"),
        default=[], help="try these variables although they name a file or may start a program")
    launch_options.add_shared(made, "why_DATE_TIME", "as in the results", metavar="N", type=launch_options.count,
                              help="ranks (default: as in the results)")
    kept = ("build", "limit", "also", *launch_options.KEPT_PLACE)
    options = launch_options.parsed(made, kept, words)
    launch_options.fill_in(options, "why_")
    return options


def row_text(change, varying):
    """Returns the name of a row: the program or the operation, the keys that vary, and the quantity."""
    parts = [change.series.schema.benchmark]
    for key, value in zip(change.series.schema.keys, change.series.keys):
        if key in ("operation", "collective"):
            parts[0] = f"MPI_{value.capitalize()}"
        elif key in varying and value not in ("NA", "none"):
            number = parsed_number(value) if key in ("size_bytes", "msgsize") else None
            parts.append(f"{key} {value}" if number is None else bytes_text(number))
    return ", ".join([*parts, change.series.quantity])


def change_text(change):
    """Returns the size of a change, such as 2.1 × slower."""
    if not why_launches.is_ratio(change):
        return f"{abs(change.change_pct):.1f} points {'lower' if change.change_pct < 0 else 'higher'}"
    factor = math.exp(abs(why_launches.recorded(change)))
    return (f"{factor:.1f} ×" if factor >= 1.5 else f"{100 * (factor - 1):.0f} %") + f" {change.verdict}"


def causes_text(shares, settings):
    """Returns the causes of a change with their shares."""
    names = {place: str(settings[place]) for place in sorted(shares.own, key=shares.own.get, reverse=True)
             if shares.own[place] >= change_search.CAUSE}
    whole = f"{100 * shares.together:.0f} % of the change"
    alone = [shares.alone[place] for place in names]
    if len(names) > 1 and max(alone) < change_search.CAUSE:
        return f"{listed(names.values())}, only together ({whole})"
    if len(names) > 1 and min(alone) > (1 - change_search.CAUSE) * shares.together:
        return f"{' or '.join(names.values())}, each alone ({whole})"
    parts = [f"{name} ({100 * shares.own[place]:.0f} %{' of the change' * (number == 0)})"
             for number, (place, name) in enumerate(names.items())]
    return listed(parts) if parts else f"{listed(str(settings[place]) for place in shares.own)} ({whole})"


class Why:
    """The search, row by row, and its answer as lines."""

    def __init__(self, launches):
        self.launches, self.settings = launches, launches.settings.differing
        self.lines, self.is_partial, self.found = [], False, False
        self._search = None
        keys = [dict(zip(change.series.schema.keys, change.series.keys)) for change in launches.comparison.changes
                if change.series.schema.benchmark == launches.benchmark]
        self._varying = {name for name in keys[0] if len({of_row.get(name) for of_row in keys}) > 1}

    def explain(self):
        """Explains all rows. Raises why_launches.Left."""
        left = list(self.launches.targets)
        while left and not self.launches.failure:
            left = self._explain_some(left)

    def suspects(self):
        """Returns the names of settings that may cause the change of the last row."""
        return listed(str(self.settings[place]) for place in sorted(self._search.suspects()))

    def _explain_some(self, changes):
        """Searches for the causes of the first row. Returns the rows that these causes don't explain."""
        change, *others = changes
        is_ratio = why_launches.is_ratio(change)
        self._search = search = change_search.Search(
            lambda chosen, run: self.launches.measure(change, chosen, run), len(self.settings),
            why_launches.recorded(change), math.log if is_ratio else float, self._search.rounds if self._search else 0)
        name = f"{row_text(change, self._varying)}: {change_text(change)}"
        say(f"Row to explain: {name}")
        share = search.reproduce()
        if share is None:
            self.lines.append(f"{name}. Launches fail: {self.launches.failure}")
            return []
        if not change_search.is_cause(share) and share.interval.high >= EXPLAINED:
            self.lines.append(f"{name}. Not clear: launches vary too much")
            return others
        if not change_search.is_cause(share):
            now = f"{math.exp(search.total):.2f} ×" if is_ratio else f"{search.total:+.1f} points"
            self.lines.append(f"{name}, but not because of the settings that differ (with those of new: {now})")
            self.is_partial = True
            return others
        causes = search.causes()
        combinations, rounds, is_proved = search.proof(causes)
        if not is_proved:
            failure = self.launches.failure and f". Launches fail: {self.launches.failure}"
            self.lines.append(f"{name}. Not clear: perhaps because of {self.suspects()}{failure}")
            return others
        self.found, unexplained = True, []
        for one in changes:
            values = {chosen: [self.launches.value(one, chosen, run) for run in rounds] for chosen in combinations}
            if any(None in several for several in values.values()):
                continue
            unit = 100 if why_launches.is_ratio(one) else 1
            shares = change_search.shares_of(values, math.log if unit == 100 else float, causes,
                                             one.change_pct / unit, min(one.interval, key=abs) / unit)
            if one is not change and shares.together < EXPLAINED:
                unexplained.append(one)
                continue
            self.is_partial |= shares.together < WHOLE
            self.lines.append(f"{row_text(one, self._varying)}: {change_text(one)} because of "
                              f"{causes_text(shares, self.settings)}")
        return unexplained


def other_reasons(launches):
    """Returns lines about differences that no launch can have, and variables that weren't tried."""
    known = {*launches.settings.left_out, *(one.name for one in launches.settings.differing)}
    lines = [f"- {text}" for text in remarks_of([
        one for one in launches.comparison.differences if one.name not in known], True)]
    lines += [f"- {name} was not tried, since it {reason}: use --also={name}"
              for name, reason in launches.settings.left_out.items()]
    return ["Look at:", *lines] if lines else [
        "Nothing else in the metadata differs: measure both sides again, alternately."]


def main(words):
    options = read_options(words)
    comparison = row_changes.compare_sides(([options.base], [options.new]), LIMITS,
                                           hint=": use results of the same options, ranks and nodes")
    launches = why_launches.Launches(options, comparison)
    for text in remarks_of(comparison.differences, True):
        say(f"Differs: {text}")
    if not launches.settings.differing:
        print("\n".join(["No setting differs that a launch can have.", *other_reasons(launches)]))
        return command.EXIT_FAILED
    launches.begin(options)
    say(f"{counted(len(launches.settings.differing), 'setting')} of {launches.benchmark}, at most "
        f"{duration_text(options.time_limit)}: {launches.trials.folder.path}")
    why = Why(launches)
    try:
        why.explain()
    except why_launches.Left:
        left_by = launches.trials.left_by
        why.lines.append(f"{'The time limit' if left_by == 'budget' else left_by} ended the search. Still "
                         f"suspected: {why.suspects()}")
        again = launch_options.resume_command(PROGRAM, launches.trials.folder.path, options.kept, "--find-why",
                                              options.base, options.new)
        say(f"To resume: {again}")
    for text in launches.trials.warnings():
        say(f"Warning: {text}")
    lines = why.lines + (other_reasons(launches) if why.is_partial else [])
    others = dict.fromkeys(change.series.schema.benchmark for change in comparison.changes
                           if change.verdict in (row_changes.SLOWER, row_changes.FASTER))
    others.pop(launches.benchmark)
    lines += [f"Other programs changed, too ({listed(others)}): use their files instead of folders"] if others else []
    print(readable("".join(line + "\n" for line in lines)), end="")
    return command.EXIT_DONE if why.found else command.EXIT_FAILED
