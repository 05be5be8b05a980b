# SPDX-License-Identifier: BSD-3-Clause
"""Warnings and notes of the programs, the suite and the check-up: Items of the page, and caveats."""

import os
import re

from commcost.command import plain
from commcost.result.row_labels import named_keys
from commcost.result.tables import BASE
from commcost.scorecard import card_table
from commcost.suite import suite_folder
from commcost.system import lines_of, script, shell_command
from commcost.words import counted, listed

NAMES_SHOWN = 12    # max results named by a warning


def warnings_of(tables):
    """Returns Items: launches without a result, warnings of the programs, and files left out."""
    failed = [item for path in tables.paths.values() for item in failed_launches(path)]
    return failed + causes(tables, "warning") + tables.left


def wrong_data(rows):
    """Yields the caveat about rows with wrong data."""
    wrong = [row for row in rows if any(cells.get("status") == "FAIL" for cells in row.launches)]
    if wrong:
        yield card_table.WRONG_DATA.format(counted(len(wrong), "result has", "results have"),
                                           wrong[0].identity.rpartition("-")[0], named_keys(wrong[0]))


def checkup_findings(path):
    """Yields the caveat about findings of quickstart.sh's check-up: the first finding and the command of all."""
    rows = [line.split("\t") for line in lines_of(os.path.join(path, "checkup.txt"))]
    found = [plain(row[3]) for row in rows if len(row) > 3 and row[2] in ("problem", "warning")]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield card_table.CHECKUP.format(found[0], more, shell_command(script("checkup.sh")))


def remarks_of(table, kind):
    """Returns the texts of a file's remarks of a kind, and the file's defects."""
    texts = [re.sub("^run [0-9]+: ", "", remark.text) for remark in table.remarks
             if remark.kind == kind and not is_wrong_for_users(remark)]
    if kind == "warning":
        texts += [f"{remark.text} (programs that use it get wrong data)" for remark in table.remarks
                  if is_wrong_for_users(remark)]
        texts += ["wrong data: rows with status FAIL" for row in table.rows if row.get("status") == "FAIL"]
        texts += ["the result was cut off (no # end: line): rows are missing, and the last one may be broken"
                  ] if table.is_cut_off else []
    return texts


def is_wrong_for_users(remark):
    """True for a note that times are right, but users' programs get wrong data."""
    return "mixes up opposite faces" in remark.text


def causes(tables, kind):
    """Returns Items with all remarks of a kind, merging those that differ only in numbers."""
    found = {}
    for table in tables.tables:
        name = table.name + (" (base)" if table.side == BASE else "")
        for text in remarks_of(table, kind):
            texts, results = found.setdefault(re.sub(r"[0-9]+(\.[0-9]+)?", "0", text), ({}, {}))
            texts[text] = max(map(float, re.findall(r"([0-9]+(?:\.[0-9]+)?) %", text)), default=0.0)
            results[name] = results.get(name, 0) + 1
    return [cause_of(*cause) for cause in found.values()]


def cause_of(texts, results):
    """Returns one Item for texts that differ only in numbers: shows the worst, and counts results. `texts` has the
    largest percentage of each text, `results` the number of texts per result."""
    total = sum(results.values())
    also = f" ({total} times, with different numbers)" if len(texts) > 1 else ""
    names = [name + (f" ({count} times)" if count > 1 and not also else "") for name, count in results.items()]
    return f"{max(texts, key=texts.get)}{also}\n{listed(names, NAMES_SHOWN + 1)}"


def failed_launches(path):
    """Returns Items about launches of a suite that have no result, one per program and setting."""
    failed, settings = {}, suite_folder.Folder(path).settings()
    for (run, name), result in suite_folder.Folder(path).last_results().items():
        if result == "failed":
            failed.setdefault(name, []).append(run)
    called = {name: f"{name} ({settings[name]})" if name in settings else name for name in failed}
    return [f"{called[name]}: {counted(len(runs), 'launch', 'launches')} failed and "
            f"{'is' if len(runs) == 1 else 'are'} missing here\nruns/{runs[0]}/{name}.log has the reason"
            for name, runs in failed.items()]
