# SPDX-License-Identifier: BSD-3-Clause
"""cost.sh --format=json: the account as JSON, by docs/cost.schema.json. Times are seconds of a mean rank,
unless named."""

from commcost.cost.monitor_report import EFFICIENCIES
from commcost.result import json_text


def span(value):
    return None if value is None else {"value": value.value, "low": value.low, "high": value.high}


def calls_of(calls):
    return {"operation": calls.function, "comm": calls.comm, "ranks": calls.ranks, "size_bytes": calls.size,
            "calls": calls.calls, "in_calls_s": calls.in_s, "in_waits_s": calls.wait_s}


def text_of(account, places):
    run, moved = account.run, places.moved_s()
    return json_text.text_of("cost.schema.json", {
        "run": {"command": run.metadata.get("command", [""])[0], "seconds": run.seconds, "ranks": run.ranks,
                "nodes": run.nodes},
        "efficiencies": {name: run.efficiencies.get(name) for name, _, _ in EFFICIENCIES},
        "spent": [{"what": spent.what, "seconds": span(spent.seconds), "note": spent.note} for spent in account.spent],
        "lines": [{"line": line.place, "operation": line.function, "in_calls_s": line.in_s / run.ranks,
                   "waited_s": None if line.waited_s is None else line.waited_s / run.ranks, "calls": line.calls,
                   "note": places.note_on(line)} for line in places.by_line],
        "waits": [dict(wait._asdict(), note=wait.note) for wait in places.waits],
        "saved_by_less_work_s": moved and moved[0], "moved_s": moved and moved[1],
        "savings": [{"change": saving.change, **calls_of(saving.calls), "saved_s": span(saving.seconds),
                     "what": saving.what, "facts": list(saving.facts),
                     "lines": [line.place for line in places.lines_of(saving.calls.function)],
                     "pairs": [{"rank": rank, "peer": peer, "seconds": seconds}
                               for rank, peer, seconds in places.pairs_of(saving.calls.function)]}
                    for saving in account.savings],
        "calls": [{**calls_of(line.calls), "machine_us": span(line.cost and line.cost.us),
                   "machine_s": span(line.own), "waited_s": span(line.waited), "unexplained_s": line.unexplained_s}
                  for line in account.lines],
        "uncovered": [{"operation": found.function, "in_calls_s": found.seconds, "text": found.text}
                      for found in account.uncovered],
        "remarks": [*account.remarks, *places.remarks]})
