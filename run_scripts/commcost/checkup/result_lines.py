# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the check-up: findings, what became of their remedies, and checks without findings."""

import re
import time

from commcost.checkup import checks, experiments, networks
from commcost.checkup.findings import NO_TIME, OK, PROBLEM, SUSPICION, UNKNOWN, WARNING, Line, setting_of
from commcost.words import counted

QUANTITIES = {"allreduce_time": "allreduce", "node_bandwidth": "1 MiB within a node",
              "network_bandwidth": "1 MiB between nodes"}


def merged(found):
    """One finding for each sentence that findings of several hosts share."""
    def with_host(finding, name):
        return re.sub(rf"\b{re.escape(finding.scope)}\b", name, finding.found)
    groups = {}
    for finding in found:
        groups.setdefault(finding._replace(found=with_host(finding, "…"), scope=""), []).append(finding)
    for first, *others in groups.values():
        more = f"{first.scope} and {counted(len(others), 'more host')}"
        yield first if not others else first._replace(found=with_host(first, more), scope=more)


def found_by_checks(job):
    """The findings of all checks, the most serious first."""
    order = (PROBLEM, WARNING, SUSPICION, UNKNOWN)
    found = merged(finding for _, check in checks.CHECKS for finding in check(job))
    return sorted(found, key=lambda finding: order.index(finding.status))


def gain_text(gain):
    saved = [100 * (1 - 1 / ratio) for ratio in (gain.ratio, gain.low, gain.high)]
    what = QUANTITIES.get(gain.fact, gain.fact)
    if gain.ratio >= 2:
        places = 1 if gain.ratio < 10 else 0
        return f"{what} {gain.ratio:.{places}f} × faster ({gain.low:.{places}f}–{gain.high:.{places}f})"
    return f"{what} {saved[0]:.0f} % less time ({saved[1]:.0f}–{saved[2]:.0f})"


def try_remedies(jobs, found, deadline_s):
    """Tries each remedy that can be tried here. Returns {(finding's place, remedy's place): Gain, FAILED or None}."""
    places, facts, sure = {}, {}, set()  # by setting; settings for other findings than suspicions
    for place, finding in enumerate(found):
        for number, remedy in enumerate(finding.remedies):
            if finding.fact and not remedy.untried:
                setting = setting_of(remedy)
                places.setdefault(setting, []).append((place, number))
                facts.setdefault(setting, {})[finding.fact] = None
                if finding.status != SUSPICION:
                    sure.add(setting)
    gains = dict.fromkeys(places, 1.0)
    if len(gains) > 1 and time.monotonic() < deadline_s:
        gains = experiments.first_gains(jobs, gains, deadline_s)
    tried = {}
    for setting in sorted(places, key=lambda setting: (setting not in sure, -gains[setting])):
        outcome = (experiments.run(jobs, setting, facts[setting], deadline_s) if gains[setting] else
                   dict.fromkeys(facts[setting], experiments.FAILED))
        tried.update((at, outcome[found[at[0]].fact]) for at in places[setting])
    return tried


def lines_of(found, tried):
    """A Line for each finding. A suspicion is a finding only if a remedy gains, and unknown if there was no time."""
    places = list(tried)
    shown = {places[index] for index in experiments.shown([tried[place] for place in places])}
    lines = []
    for place, finding in enumerate(found):
        of_it = {number: tried[place, number] for number in range(len(finding.remedies)) if (place, number) in tried}
        best = next((number for number in of_it if (place, number) in shown), None)
        if best is not None:
            status = WARNING if finding.status == SUSPICION else finding.status
            lines.append(Line(finding.check, status, finding.found, finding.remedies[best].text,
                              gain_text(of_it[best]), of_it[best], finding.scope))
        elif finding.status != SUSPICION:
            lines.append(Line(finding.check, finding.status, finding.found,
                              *untried(next(iter(finding.remedies), None), of_it.get(0, "none")), scope=finding.scope))
        elif None in of_it.values() or not of_it:
            lines.append(Line(finding.check, UNKNOWN, finding.unsure or finding.found,
                              *untried(next(iter(finding.remedies), None), None), scope=finding.scope))
    return without_repeats(lines)


def without_repeats(lines):
    """The first Line of each check and sentence, those with a gain first."""
    kept = {}
    for line in sorted(lines, key=lambda line: line.gain is None):
        kept.setdefault((line.check, line.found), line)
    return [line for line in lines if kept[line.check, line.found] is line]


def untried(remedy, outcome):
    """The remedy and the reason why no gain stands behind it; nothing of a remedy that gains nothing."""
    if remedy is None:
        return "", ""
    if remedy.untried:
        return remedy.text, f"not tried: {remedy.untried}"
    return (remedy.text, NO_TIME) if outcome is None else ("", "")


def well_lines(job, lines):
    """A line for each check without findings: `ok`, or `unknown` without its facts."""
    named = {line.check for line in lines}
    for name, _ in checks.CHECKS:
        if name in named or (name == "Between nodes" and len(job.facts.nodes) < 2):
            continue
        if checks.lacks_facts(name, job):
            yield Line(name, UNKNOWN, checks.NEEDED[name][1])
        else:
            yield Line(name, OK, checks.ALL_WELL[name].format(ranks=len(job.facts.ranks)))
    if "network_bandwidth" in job.facts.measured and not networks.links(job) and "Between nodes" not in named:
        yield Line("Link rate", UNKNOWN, "no interface reports its rate")
