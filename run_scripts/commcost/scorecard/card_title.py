"""The scorecard's title: of which machine, how many launches, how long they took."""

from commcost.compare import best_setting
from commcost.result.tables import NEW
from commcost.suite.suite_folder import Folder
from commcost.words import counted, cut, is_number, listed

HOSTS = 3      # that the title names
LIBRARIES_SHOWN = 120  # letters


def title_of(tables):
    """Of which machine, how many launches, and how long they took."""
    def said(table, key):
        return table.metadata.get(key, [""])[0]

    ranks = [(float(said(table, "ranks")) if is_number(said(table, "ranks")) else 0) for table in tables.of(NEW)]
    most = tables.of(NEW)[ranks.index(max(ranks))]
    mixed = [table for table in tables.of(NEW) if tables.apart[table.kind]]
    hosts = listed([run.split(":")[0] for run in said(most, "hosts").split("; ")], HOSTS)
    device, launches = said(most, "mpi_device"), launches_of(tables)
    text = head_of(f"commcost on {hosts}" if hosts else "commcost", mixed or [most])
    text += f" ({device})" if device else ""
    seconds = sum(record[2] for record in Folder(tables.paths[NEW]).records())
    settings = len({row.keys.get(best_setting.SETTING) for kind in tables.kinds() for row in tables.rows(kind)} - {None})
    varied = f"{settings} settings × " if settings > 1 else ""
    return (f"{text}; {varied}{counted(launches, 'launch', 'launches')}" +
            (f", {seconds // 60} min {seconds % 60} s" if seconds else ""))


def head_of(label, tables):
    """A result's line in a picture's head: its name and where it is from, all where there are several."""
    def every(key):
        return list(dict.fromkeys(value for table in tables for value in table.metadata.get(key, ())[:1] if value))

    def counts(key, one, several):
        found = sorted(every(key), key=lambda text: (len(text), text))
        return f"{' or '.join(found)} {one if found == ['1'] else several}" if found else ""

    libraries = dict.fromkeys(library.replace(" Version:", "").split(",")[0].rstrip(" ")
                              for library in every("mpi_library"))
    ranks, nodes = counts("ranks", "process", "processes"), counts("nodes", "node", "nodes")
    text = f"{label}: {ranks}{f' on {nodes}' if nodes else ''}" if ranks else label
    return ", ".join([text, *filter(None, [cut(" or ".join(libraries), LIBRARIES_SHOWN)])])


def launches_of(tables):
    return max((len(row.launches) for kind in tables.kinds() for row in tables.rows(kind)), default=0)
