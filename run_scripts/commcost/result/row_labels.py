"""Labels of rows: what tells them apart, in words."""

import typing

from commcost.words import is_number, size_text


class Key(typing.NamedTuple):
    """A column that tells lines, rows or panels of a picture apart; % in the text is its value, of
    a flush as programs take it. An optional one is left out of a label where it tells nothing apart."""

    column: str
    text: str = "%"
    optional: bool = False

    def label(self, value):
        """Of a row with this value."""
        is_size = self.column == "cache_size" and is_number(value)
        return self.text.replace("%", size_text(float(value)) if is_size else value, 1)


class Labels:
    """The labels that Keys make; optional ones take part where they differ among the rows
    whose other keys are the same."""

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
            value != "NA" and len(self._values[key.column, self._required(row)]) > 1)).replace('"', "'")


# Keys of any benchmark, with their texts.
_TEXTS = {"ranks": "% ranks", "memory": "% memory", "buffers": "% buffers"}


def further(names):
    """Keys of these names, for what else tells rows apart (Tables.further_keys)."""
    return tuple(Key(name, _TEXTS.get(name[len("job_"):] if name.startswith("job_") else name, f"{name} %"), True)
                 for name in names)


def named_keys(row):
    """The keys of a row that say something: of what has a schema, or of a tables.Row."""
    pairs = row.keys.items() if isinstance(row.keys, dict) else zip(row.schema.keys, row.keys)
    return ", ".join(f"{name} {value}" for name, value in pairs if value not in ("NA", "none"))
