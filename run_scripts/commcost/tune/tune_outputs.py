# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of a tuning: the library's file, its evidence, and the page."""

import os

from commcost import command
from commcost.page import Row, Column, Grid, Items, Mark, Page, Section, Text, matrix_parts
from commcost.result.result_writer import Output
from commcost.system import now, quoted, remove, replace_file, shell_command
from commcost.tune.algorithm_race import DEFAULT, NO_GAIN
from commcost.tune.library_tuning import PROGRAM, FILE
from commcost.words import bytes_text, counted, listed, size_text


def head_value(head, key):
    """Returns a value of a result's head, or "" if there is none."""
    return next((line[len(key) + 4:] for line in head if line.startswith(f"# {key}: ")), "")


def percents(gain):
    if gain is None:
        return "NA"
    return f"{gain.value:.0f} %" + ("" if gain.low is None else f" ({gain.low:.0f} to {gain.high:.0f})")


def sizes_text(low, high):
    if not high:
        return "no data"
    return bytes_text(low) if low == high else f"{size_text(low)} to {bytes_text(high)}"


COLUMNS = (("operation", "key"), ("ranks", "key"), ("size_bytes", "key"), ("choice", "info"), ("reason", "info"),
           ("launches", "info"), ("gain_pct", "info"), ("gain_lo_pct", "info"), ("gain_hi_pct", "info"),
           ("found_pct", "info"), ("found_lo_pct", "info"), ("found_hi_pct", "info"), ("p_value", "info"),
           ("verdict", "info"))


def write_evidence(path, tuning, race, proof, words, status):
    """Writes evidence.tsv, with a row for each cell. `status` is the exit status."""
    table = Output("tune")
    choices = "; ".join(f"{contest.variable}={','.join(contest.choices)}" for contest in tuning.contests)
    table.begin(COLUMNS, [("mpi_library", head_value(tuning.heads, "mpi_library") or "NA"),
                          ("host", os.uname().nodename), ("choices", choices)], words)
    for cell, decision in sorted(race.decisions.items()):
        row = {"operation": cell.operation, "ranks": cell.ranks, "size_bytes": cell.size, "choice": decision.choice,
               "reason": decision.reason, "launches": decision.launches, "verdict": "default"}
        found = proof.decisions.get(cell)
        if found:
            row["verdict"] = "holds" if found.choice == FILE else "taken out"
            row["p_value"] = "NA" if found.p is None else f"{found.p:.3g}"
        for name, gain in (("gain", decision.gain), ("found", found.gain if found else None)):
            for column, value in zip(("pct", "lo_pct", "hi_pct"), gain or ()):
                row[f"{name}_{column}"] = "NA" if value is None else f"{value:.2f}"
        table.row(row)
    for (contest, ranks, choice), reason in tuning.out.items():
        table.remark("note", f"{contest} {choice}, {ranks} ranks: {reason}")
    for kind, texts in (("note", map("also set: {}".format, tuning.changed)), ("warning", tuning.warnings())):
        for text in texts:
            table.remark(kind, text)
    replace_file(path, table.text(status))


def mark_of(decision, found):
    if found is not None and found.choice == FILE:
        return Mark(f"{found.gain.value:.0f} %", "pays")
    if found is not None:
        return Mark("not proved", "loses")
    return Mark("-", "even") if decision.reason.startswith(NO_GAIN) else Mark("?", "unclear")


LEGEND = ("Columns: bytes. A number: a rule, and the time that it saves over the library's own choice in fresh "
          "launches. -: no choice gains --min-gain; ?: see the reasons; not proved: fresh launches disagree.")


def matrix_of(race, proof, ranks, is_last):
    """Returns the section of a number of ranks. The last one has the legend."""
    marks = {}
    for cell, decision in sorted(race.decisions.items()):
        if cell.ranks == ranks:
            marks.setdefault(cell.operation, {})[cell.size] = mark_of(decision, proof.decisions.get(cell))
    return Section(f"ranks_{ranks}", f"{ranks} ranks: time saved with the file",
                   matrix_parts(marks, "operation", lambda size: size_text(size) if size else "no data",
                            LEGEND)[:None if is_last else 1])


def rules_of(tuning, race, proof, rules):
    """Returns a table of the rules, with the gain in race and proof of the size that gains least."""
    columns = [Column("operation", "what"), Column("ranks", "", True), Column("sizes"), Column("choice"),
               Column("race", "", True), Column("proof", "", True)]
    rows = []
    for rule in rules:
        cells = [cell for cell in proof.decisions if (cell.contest, cell.operation, cell.ranks) == (
            rule.contest.name, rule.operation, rule.ranks) and rule.low <= cell.size <= rule.high]
        worst = min(cells, key=lambda cell: proof.decisions[cell].gain.value)
        rows.append(Row([rule.operation, str(rule.ranks), sizes_text(rule.low, rule.high), rule.choice,
                         percents(race.decisions[worst].gain), percents(proof.decisions[worst].gain)]))
    return [Grid(columns, rows, "rows") if rows else
            Text(f"No rule: no choice is certain to save {tuning.options.min_gain:g} %.")]


def reasons_of(race, proof):
    """Yields a sentence with the cells for each reason to keep the library's own choice."""
    by_reason = {}
    for cell, decision in sorted(race.decisions.items()):
        found = proof.decisions.get(cell)
        if decision.choice == DEFAULT or found is not None and found.choice != FILE:
            reason = decision.reason if found is None else (
                f"{decision.choice}: {percents(decision.gain)} in the race, {percents(found.gain)} in the proof"
                if found.gain else f"proof: {found.reason.replace(FILE + ': ', '')}")
            by_reason.setdefault(reason, {}).setdefault((cell.operation, cell.ranks), []).append(cell.size)
    for reason, cells in by_reason.items():
        yield f"{reason}: " + listed(f"{operation} of {ranks} ranks" + (
            f" ({', '.join(map(size_text, sizes))})" if any(sizes) else "")
                                     for (operation, ranks), sizes in cells.items())


def page_of(tuning, race, proof, rules, path):
    """Returns the Page; the terminal shows its text."""
    library = head_value(tuning.heads, "mpi_library") or tuning.library.name
    launches = f"{counted(len(tuning.trials.folder.records()), 'launch', 'launches')} on {os.uname().nodename}"
    out = [f"{contest} {choice}, {ranks} ranks: {reason}" for (contest, ranks, choice), reason in tuning.out.items()]
    variables = tuning.library.file_variables(path, rules)
    use = [f"In a shell:\n{line}" for line in (
        [f"export {name}={shell_command(value)}" for name, value in variables.items()]
        if tuning.library.chooses_by_size else [shell_command(".", path)])]
    stays, warnings = list(reasons_of(race, proof)), tuning.warnings()
    changed = f"; with {listed(tuning.changed)}" if tuning.changed else ""
    sections = [Section("used", "Setup", [Text(f"{library}; {launches}{changed}")])]
    sections += [Section("warnings", "Caveats", [Items(warnings, "facts")])] if warnings else []
    sections += [matrix_of(race, proof, ranks, ranks == tuning.options.ranks[-1]) for ranks in tuning.options.ranks]
    sections.append(Section("rules", "Rules", rules_of(tuning, race, proof, rules)))
    if stays:
        sections.append(Section("stays", "Cases without a rule", [Items(stays, "facts")]))
    sections += [Section("out", "Choices taken out", [Items(out, "facts")])] if out else []
    if rules:
        sections.append(Section("use", "Use", [Items(use, "facts"), Text(tuning.library.file_report(path))]))
    return Page(f"{counted(len(rules), 'rule')} for {tuning.library.name}", sections,
                f"Evidence: {os.path.join(tuning.trials.folder.path, 'evidence.tsv')}")


def write_all(tuning, race, proof, words, status):
    """Writes the library's file (if it has rules), its evidence and the page, and returns the page."""
    held = {cell: race.decisions[cell].choice for cell, found in proof.decisions.items() if found.choice == FILE}
    rules, folder = tuning.rules(held), tuning.trials.folder.path
    path = os.path.join(folder, "rules" + tuning.library.suffix)
    comment = [f"{tuning.library.name}'s algorithms for {listed(map(str, tuning.options.ranks))} ranks on "
               f"{os.uname().nodename}", f"{head_value(tuning.heads, 'mpi_library')}", f"{now()}: {PROGRAM} "
               f"{quoted(words)}", "evidence: evidence.tsv"]
    comment += [f"{rule.operation}, {rule.ranks} ranks, {sizes_text(rule.low, rule.high)}: {rule.choice}"
                for rule in rules]
    write_evidence(os.path.join(folder, "evidence.tsv"), tuning, race, proof, words, status)
    page = page_of(tuning, race, proof, rules, path)
    replace_file(os.path.join(folder, "tune.html"), page.as_html())
    if rules:
        replace_file(path, tuning.library.file_text(rules, list(map(command.plain, comment))))
    else:
        remove(path)
    return page
