"""What sentences about results are made of: the rows by kind, and Findings."""

import typing

from commcost import benchmarks
from commcost.evidence import measured
from commcost.tables import is_number, rows_by_key

NAMES = 6           # that a sentence has


class Finding(typing.NamedTuple):
    """A sentence, and the rows (tables.Row) that it is about."""

    text: str
    rows: tuple = ()
    is_told: bool = True  # False: what can't be told

    @property
    def sentence(self):
        """With "one launch" where there is no more than that."""
        return self.text + (" One launch." if self.is_from_one else "")

    @property
    def is_from_one(self):
        return bool(self.rows) and max(len(row.launches) for row in self.rows) == 1


class Facts:
    """The rows of results by kind."""

    def __init__(self, tables):
        self.tables = tables
        self._rows = {kind: rows_by_key(tables, kind) for kind in tables.kinds()}

    def kinds(self):
        return list(self._rows)

    def rows(self, kind, **keys):
        """The rows of a kind with these keys that the new result has."""
        return [row for row in self._rows.get(kind, []) if row.launches and
                all(row.keys.get(column) == value for column, value in keys.items())]

    def measured(self, kind, column, **keys):
        """Pairs of a row and what it measured in a column, where there is a value."""
        pairs = [(row, self.value(row, kind, column)) for row in self.rows(kind, **keys)]
        return [(row, value) for row, value in pairs if value is not None]

    @staticmethod
    def value(row, kind, column):
        """What a row of a kind measured in a column; None where there is no value."""
        quantity, = (quantity for quantity in benchmarks.entry_of(kind).quantities
                     if quantity.column == column)
        return measured(row, quantity)


def can_not_tell(what, why, rows):
    return Finding(f"It can't be told {what}, because {why}.", tuple(rows), False)


def size_of(row, column):
    text = row.keys.get(column, "NA")
    return float(text) if is_number(text) else 0.0
