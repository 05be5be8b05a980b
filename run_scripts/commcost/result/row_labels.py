# SPDX-License-Identifier: BSD-3-Clause
"""Labels of rows."""

import typing

from commcost.words import is_number, size_text


PUT_ENDS = {"all": "barrier", "images": "notification"}  # by value of the key `sync`
# Labels of values that need a clearer text, by column and value.
_VALUES = {("pattern", "MPI Send"): "MPI_Send", ("test_calls", "0"): "no MPI_Test",
           **{("sync", sync): f"+ {end}" for sync, end in PUT_ENDS.items()}}


class Key(typing.NamedTuple):
    """A column that distinguishes lines, rows or panels of a picture. % in the text stands for its value. Optional keys
    are omitted if they distinguish nothing."""

    column: str
    text: str = "%"
    optional: bool = False

    def label(self, value):
        if (self.column, value) in _VALUES:
            return _VALUES[self.column, value]
        is_size = self.column == "cache_size" and is_number(value)
        return self.text.replace("%", size_text(float(value)) if is_size else value, 1)


class Labels:
    """Labels made of Keys. Optional keys are used if they differ among rows whose other keys are equal."""

    def __init__(self, keys, rows):
        self._keys, self._values = keys, {}
        for row in rows:
            for key in keys:
                self._values.setdefault((key.column, self._required(row)), set()).add(row.get(key.column, "NA"))

    def _required(self, row):
        return tuple(row.get(key.column, "NA") for key in self._keys if not key.optional)

    def of(self, row):
        parts = [(key, row.get(key.column, "NA")) for key in self._keys]
        return ", ".join(key.label(value) for key, value in parts if not key.optional or (
            value != "NA" and len(self._values[key.column, self._required(row)]) > 1)).replace(", + ", " + ").replace(
                '"', "'")


# Texts of keys that any benchmark may have.
_TEXTS = {"ranks": "% ranks", "memory": "% memory", "buffers": "% buffers", "align": "--align=%"}


def further(names):
    """Returns Keys for names from Tables.further_keys."""
    return tuple(Key(name, _TEXTS.get(name[len("job_"):] if name.startswith("job_") else name, f"{name} %"), True)
                 for name in names)


def named_keys(row):
    """Returns the keys of a Series or tables.Row that are not NA."""
    pairs = row.keys.items() if isinstance(row.keys, dict) else zip(row.schema.keys, row.keys)
    return ", ".join(f"{name} {value}" for name, value in pairs if value not in ("NA", "none"))
