"""A sentence about results."""

import typing

NAMES = 6           # that a sentence has


class Finding(typing.NamedTuple):
    """A sentence, and the rows (tables.Row) that it is about."""

    text: str
    rows: tuple = ()

    @property
    def sentence(self):
        """With "one launch" where there is no more than that."""
        return self.text + (" One launch." if self.is_from_one else "")

    @property
    def is_from_one(self):
        return bool(self.rows) and max(len(row.launches) for row in self.rows) == 1


def can_not_tell(what, why, rows):
    return Finding(f"It can't be told {what}, because {why}.", tuple(rows))
