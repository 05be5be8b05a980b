"""What limits the answers of a scorecard: failed settings, wrong data, disturbances, too few launches."""

from commcost.compare import best_setting
from commcost.result.intervals import LAUNCHES_ENOUGH
from commcost.result.row_labels import named_keys
from commcost.result.tables import NEW
from commcost.scorecard.card_title import HOSTS, launches_of
from commcost.suite import suite_options
from commcost.words import UNSURE, counted, listed

LOST_PCT = 10  # of the time, above which intervals may miss the truth
UNSTEADY = 2   # max over min of a row's launches, from which on the row counts as unsteady
VARIANTS = 8   # of rows that differ in keys which no question knows


def limits_of(tables, parts, lost):
    """Sentences about failed settings, wrong data, disturbances, and what would make answers clear."""
    yield from best_setting.failures(tables.paths[NEW])
    variants = tables.variants()
    if len(variants) > VARIANTS:
        yield (f"Rows differ in {listed(dict.fromkeys(key for keys, _ in variants for key in keys), HOSTS)}: "
               f"{VARIANTS} of {len(variants)} combinations are shown. report.sh shows all.")
    rows = [(kind, row) for kind in tables.kinds() for row in tables.rows(kind)]
    wrong = [row for _, row in rows if any(cells.get("status") == "FAIL" for cells in row.launches)]
    if wrong:
        yield (f"{counted(len(wrong), 'row has', 'rows have')} wrong data (status FAIL), first: "
               f"{wrong[0].identity.rpartition('-')[0]} ({named_keys(wrong[0])}). Try another version of the MPI library.")
    judged = sum(kind != "noise" for kind, _ in rows)
    if lost:
        yield (f"{len(lost)} of {counted(judged, 'row')} lost more than {LOST_PCT} % of the time to interruptions: "
               "measure them again on a quieter machine.")
    # Where a fifth of all rows differ, by their first quantity. How programs and interruptions differ is a result.
    values = [list(map(float, row.texts(quantity))) for kind, row in rows if kind not in ("noise", "mpirtmon")
              for quantity in tables.of(NEW, kind)[0].quantities[:1]]
    apart = [of_row for of_row in values if of_row and 0 < UNSTEADY * min(of_row) < max(of_row)]
    if 5 * len(apart) > len(values):
        yield (f"In {len(apart)} of {counted(len(values), 'row')} launches differ by more than {UNSTEADY} times: "
               "measure anew without other programs, or on a physical machine.")
    launches, path = launches_of(tables), tables.paths[NEW]
    is_unsure = any(line.typical == UNSURE for part in parts for line in part.lines)
    if 5 * len(lost) <= judged and is_unsure and launches < 2 * LAUNCHES_ENOUGH:
        runs = 2 * launches if launches >= LAUNCHES_ENOUGH else LAUNCHES_ENOUGH
        more = suite_options.resuming_with(path, f"--runs={runs}")
        yield f"More launches may decide what is not clear:\n{more}"
