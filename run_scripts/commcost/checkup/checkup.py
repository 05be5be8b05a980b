"""checkup.sh: is anything wrong with how MPI runs here, what does it cost, and what to write?"""

import json
import os
import re
import shutil
import signal
import sys
import time
import typing

from commcost.checkup import checks, experiments, installations
from commcost.checkup.jobs import Jobs, Setting
from commcost.command import Failure, Parser, UsageError, complain, plain, write_to
from commcost.suite import launch_options, launchers
from commcost.system import shell_command
from commcost.words import counted

PROGRAM = "checkup.sh"
EXIT_WELL, EXIT_FOUND, EXIT_NO_START = 0, 1, 3
REMEDY_WIDTH = 27  # of output
LINE_ROOM = 71     # for a remedy and what became of it
COLUMNS = ("check", "scope", "status", "found", "expected", "cost_pct", "cost_lo_pct", "cost_hi_pct", "remedy")
QUANTITIES = {"allreduce_time": "allreduce", "node_bandwidth": "1 MiB within a node",
              "network_bandwidth": "1 MiB between nodes"}


class Line(typing.NamedTuple):
    """A line of the check-up: a finding, and what became of its remedy."""

    check: str
    status: str
    found: str
    remedy: str = ""
    tried: str = ""    # the gain, or the reason why there is none
    gain: typing.Any = None
    scope: str = "job"


def parser():
    made = Parser(PROGRAM, "checkup.sh [OPTION]...",
                  "Checks how MPI runs here: starts a job, reads its facts, measures messages, and tries remedies.")
    add = made.add_argument
    add("--launcher", metavar="WHICH", type=launch_options.launcher,
        help="hydra, openmpi, srun, or a command; default: the build's mpirun")
    add("--ranks", metavar="N", type=launch_options.count,
        help="ranks of the job; default: one per core, between 2 and 8")
    add("--ranks-per-node", metavar="N", type=launch_options.count, help="ranks on each node")
    add("--hosts", metavar="LIST", type=launch_options.text, help="hosts, with commas")
    add("--seconds", metavar="S", type=launch_options.duration, default=60, help="time for everything; default: 60")
    add("--limit", metavar="TIME", type=launch_options.limit, default=60,
        help="time after which a launch counts as a hang; default: 60")
    add("--build", metavar="FOLDER", type=launch_options.existing_folder, help="folder of the build; default: build")
    add("--output", metavar="FILE", help="file for the findings; default: checkup.tsv")
    add("--json", action="store_true", help="print findings as JSON")
    return made


# ---- start ---------------------------------------------------------------------------------------

def other_starters(jobs, built_with):
    """Launchers that may start the job if this one doesn't: srun with another PMI, the library's own, and others."""
    known = {os.path.realpath(shutil.which(jobs.launcher.words[0]) or "")}

    def is_new(command):
        path = shutil.which(command)
        is_unknown = path is not None and os.path.realpath(path) not in known
        known.add(os.path.realpath(path or ""))
        return is_unknown

    if jobs.launcher.name == "srun":
        words = [word for word in jobs.launcher.words if not word.startswith("--mpi=")]
        for name in ("pmi2", "pmix"):
            yield launchers.Srun([*words, f"--mpi={name}"])
    if built_with and is_new(built_with):
        yield launchers.find(built_with, "")
    for kind in launchers.KINDS.values():
        for command in getattr(kind, "commands", ()) if kind is not launchers.Srun else ():
            if is_new(command) and launchers.kind_of(command) is kind:
                yield kind([command])


def starts(outcome, asked):
    return outcome.facts is not None and len(outcome.facts.ranks) == asked


def message_of(outcome):
    """The line of a failed launch that tells most."""
    if outcome.status is None:
        return f"no end within {outcome.limit_s:.2g} s"
    lines = [re.sub(r"^(\[[^]]*\]\s*)+", "", line.strip()) for line in outcome.text.splitlines()
             if re.search("[A-Za-z]", line) and not re.search(r"\.c:\d+\)|BAD TERMINATION", line)]  # hydra's own
    signalled = re.search("EXIT STRING: (.+)", outcome.text)  # hydra
    if signalled:
        return f"a rank ended: {signalled.group(1).strip()}"
    code = re.search("EXIT CODE: ([0-9]+)", outcome.text)
    ended = [f"a rank ended: exit status {code.group(1)}"] if code else []
    errors = [line for line in lines if re.search("error|fail|denied|cannot|unable|job of its own|signal", line, re.I)]
    return (errors or ended or lines or [f"exit status {outcome.status}"])[0]


MAY_PREVENT_START = ("Within a node", "Between nodes", "Variables")  # checks whose remedies may start a job
HANGING = 20  # times as long as the first launch
HASTY_S = 20  # with less time for everything, launches are short
NO_TIME = "not tried: no time left"


def may_start(jobs, found, found_by_facts, built_with):
    """Yields the Line and the Setting of each remedy, then of each launcher, with which the job may start."""
    tried = set()
    for finding, remedy in ((finding, remedy) for finding in found_by_facts for remedy in finding.remedies):
        setting = setting_of(remedy)
        if finding.check in MAY_PREVENT_START and not remedy.untried and setting not in tried:
            tried.add(setting)
            why = finding.found.replace("slows messages", "prevents the start")
            yield Line(finding.check, checks.PROBLEM, why, remedy.text, scope=finding.scope), setting
    for launcher in other_starters(jobs, built_with):
        setting = Setting(launcher=launcher)
        yield Line("Start", checks.PROBLEM, found, shell_command(*jobs.line(setting))), setting


def singletons(job):
    """The sentence about ranks that don't know of each other: the launcher may be another library's."""
    library = installations.library_of(job.facts.ranks[0].text("mpi_library"))[0] if job.facts.ranks else ""
    launcher = job.installation.family
    is_others = library and launcher not in ("", installations.SLURM, library)
    cause = f": the launcher is of {launcher}, the library of {library}" if is_others else ""
    return f"each of {job.asked_ranks} ranks is a job of its own{cause}"


def start_lines(jobs, outcome, job, found_by_facts):
    """Lines about a job that doesn't start or end: the message, and a remedy or launcher with which it does."""
    facts, asked = job.facts, job.asked_ranks
    # With srun a rank doesn't see that it lacks others: the job ends well.
    started = len(outcome.facts.ranks) if outcome.facts else 0
    found = (f"{counted(started, 'rank')} started, {asked} asked" if started > 1 else
             singletons(job) if "job of its own" in outcome.text or outcome.status == 0 else
             f"no start: {message_of(outcome):.70}")
    built_with = facts.ranks[0].text("mpirun_built_with") if facts.ranks else ""
    left, start = [], Line("Start", checks.PROBLEM, found)
    for line, setting in may_start(jobs, found, found_by_facts, built_with):
        outcome = jobs.measure(setting, experiments.SHORT)
        if starts(outcome, asked):
            return [line._replace(tried=f"starts {counted(asked, 'rank')}"), start]
        if outcome.out_of_time:
            status = checks.PROBLEM if line.check == "Start" else checks.UNKNOWN
            left.append(line._replace(status=status, tried=NO_TIME))
            if line.check == "Start":
                break
    return [*left, start]


# ---- findings ------------------------------------------------------------------------------------

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
    order = (checks.PROBLEM, checks.WARNING, checks.SUSPICION, checks.UNKNOWN)
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
                if finding.status != checks.SUSPICION:
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


def setting_of(remedy):
    return Setting(remedy.unset, remedy.words, variables=remedy.variables)


def lines_of(found, tried):
    """A Line for each finding. A suspicion is a finding only if a remedy gains, and unknown if there was no time."""
    places = list(tried)
    shown = {places[index] for index in experiments.shown([tried[place] for place in places])}
    lines = []
    for place, finding in enumerate(found):
        of_it = {number: tried[place, number] for number in range(len(finding.remedies)) if (place, number) in tried}
        best = next((number for number in of_it if (place, number) in shown), None)
        if best is not None:
            status = checks.WARNING if finding.status == checks.SUSPICION else finding.status
            lines.append(Line(finding.check, status, finding.found, finding.remedies[best].text,
                              gain_text(of_it[best]), of_it[best], finding.scope))
        elif finding.status != checks.SUSPICION:
            lines.append(Line(finding.check, finding.status, finding.found,
                              *untried(next(iter(finding.remedies), None), of_it.get(0, "none")), scope=finding.scope))
        elif None in of_it.values() or not of_it:
            lines.append(Line(finding.check, checks.UNKNOWN, finding.unsure or finding.found,
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
            yield Line(name, checks.UNKNOWN, checks.NEEDED[name][1])
        else:
            yield Line(name, checks.OK, checks.ALL_WELL[name].format(ranks=len(job.facts.ranks)))
    if "network_bandwidth" in job.facts.measured and not checks.links(job) and "Between nodes" not in named:
        yield Line("Link rate", checks.UNKNOWN, "no interface reports its rate")


# ---- output --------------------------------------------------------------------------------------

def title(job, seconds):
    if not job.facts.ranks:
        return f"commcost check-up: none of {counted(job.asked_ranks, 'rank')} started, {seconds:.0f} s"
    hosts = sorted({rank.text("host") for rank in job.facts.ranks})
    found = re.match(r"([^,:0-9]*?)(?: Version:)?\s+v?([0-9][^ ,]*)", job.facts.ranks[0].text("mpi_library"))
    library = " ".join(found.groups()) if found else "MPI library unknown"
    used = f" ({job.transports})" if job.transports.names else ""
    return (f"commcost check-up: {counted(len(job.facts.ranks), 'rank')} on {counted(len(job.facts.nodes), 'node')} "
            f"({', '.join(hosts):.40}), {library}{used}, {seconds:.0f} s")


def printable(line):
    """The Line without control characters, which launchers' messages and variables may have."""
    return line._replace(**{name: plain(text) for name, text in line._asdict().items() if isinstance(text, str)})


def print_lines(lines):
    for line in map(printable, lines):
        print(f"  {line.status:<9} {line.check:<15} {line.found}")
        if line.remedy:
            # Up to 100 characters fit on a line.
            apart = " " if len(line.remedy) + len(line.tried) < LINE_ROOM else f"\n  {'':<25} "
            print(f"  {'':<9} {'try':<15} {line.remedy:<{REMEDY_WIDTH}}{apart}{line.tried}".rstrip())


def closing(lines, output):
    counts = [(sum(line.status == status for line in lines), status)
              for status in (checks.OK, checks.WARNING, checks.PROBLEM, checks.UNKNOWN)]
    return ", ".join(f"{count} {status}{'s' * (count != 1 and status in (checks.WARNING, checks.PROBLEM))}"
                     for count, status in counts if count) + f".   Findings: {output}"


def table_of(job, lines):
    rows = ["\t".join(COLUMNS)]
    for line in map(printable, lines):
        cost = [f"{100 * (ratio - 1):.1f}" for ratio in (line.gain.ratio, line.gain.low, line.gain.high)] \
            if line.gain else ["NA"] * 3
        expected = checks.ALL_WELL.get(line.check, "NA").format(ranks=job.asked_ranks)
        rows.append("\t".join([line.check, line.scope, line.status, line.found, expected, *cost, line.remedy or "NA"]))
    return "\n".join(rows) + "\n"


def json_of(job, lines):
    measured = {fact: {"value": value.value, "lo": value.low, "hi": value.high, "unit": unit}
                for fact, (value, unit) in job.facts.measured.items()}
    names = job.transports.names
    return json.dumps({"ranks": len(job.facts.ranks), "measured": measured, "transports": names, "findings": [
        {"check": line.check, "scope": line.scope, "status": line.status, "found": line.found, "remedy": line.remedy,
         "tried": line.tried, "gain": line.gain._asdict() if line.gain else None}
        for line in lines]}, indent=2, ensure_ascii=False)


def jobs_of(options, folder):
    """The Jobs that the options ask for. Failure without a build or a launcher."""
    build = options.build or launch_options.own_build()
    program = os.path.join(build, "checkup", "checkup")
    if not os.access(program, os.X_OK):
        raise Failure(f"no program '{program:.200}': run quickstart.sh first, or use --build=FOLDER")
    ranks = options.ranks or launchers.default_ranks(options.hosts, options.ranks_per_node)
    job = launchers.Job(ranks, options.ranks_per_node, options.hosts or "", "none")
    # Without experiments: the first launch, one for the transports or for facts without MPI, and others that may start.
    seconds = options.seconds or 4 * options.limit
    return Jobs(program, launchers.find(options.launcher or "", build), job, options.limit,
                time.monotonic() + seconds, folder)


def end_by_signal(number, _):
    """Raises SystemExit, so the launch ends and its files go."""
    sys.exit(128 + number)


def main(words):
    options = parser().parse_args(words)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_by_signal)
    output = options.output or "checkup.tsv"
    # Launches write there, since other nodes may not see /tmp of this one.
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder) or os.path.isdir(output):
        raise UsageError(f"--output: cannot write '{output:.200}': use another file")
    try:
        return check_up(options, jobs_of(options, folder if os.access(folder, os.W_OK) else None), output)
    except Failure as failure:
        complain(PROGRAM, failure)
        return EXIT_NO_START


def check_up(options, jobs, output):
    """Makes the check-up and prints its lines. Returns the exit status."""
    begin_s = time.monotonic()
    ranks, deadline_s = jobs.job.ranks, begin_s + options.seconds
    outcome = jobs.measure(options=experiments.SHORT if 0 < options.seconds < HASTY_S else ())
    is_started = starts(outcome, ranks)
    if not is_started and re.search("^checkup: --output", outcome.text, re.M):
        raise UsageError(f"--output: ranks can't write beside '{output:.200}': use a folder that all nodes see")
    if is_started:
        jobs.limit_s = min(jobs.limit_s, HANGING * (time.monotonic() - begin_s) + 10)
    facts = outcome.facts if is_started else jobs.facts_without_mpi()
    parent = facts.ranks[0].text("parent") if facts.ranks else ""
    judged = checks.Job(facts, ranks, jobs.launcher.name, dict(os.environ),
                        installation=installations.installation_of(parent))
    if is_started:
        judged = judged._replace(transports=jobs.transports(experiments.SHORT))
        found = found_by_checks(judged)
        lines = lines_of(found, try_remedies(jobs, found, deadline_s))
        lines = [*well_lines(judged, lines), *lines]
    else:
        found = found_by_checks(judged) if facts.ranks else []
        sure = [finding for finding in found if finding.status != checks.SUSPICION]
        lines = without_repeats([*start_lines(jobs, outcome, judged, found), *lines_of(sure, {})])
    lines.sort(key=lambda line: next((at for at, (name, _) in enumerate(checks.CHECKS) if name == line.check), 99))
    write_to(output, table_of(judged, lines))
    if options.json:
        print(json_of(judged, lines))
    else:
        print(title(judged, time.monotonic() - begin_s) + "\n")
        print_lines(lines)
        print(closing(lines, output))
    sys.stdout.flush()
    return EXIT_NO_START if not is_started else EXIT_FOUND if any(
        line.status in (checks.WARNING, checks.PROBLEM) for line in lines) else EXIT_WELL
