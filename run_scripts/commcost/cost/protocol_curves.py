# SPDX-License-Identifier: BSD-3-Clause
"""The time of a transfer by size, in straight pieces between protocol switches (pingpong --protocols)."""

import typing

from commcost.cost.call_ways import ELEMENT
from commcost.words import is_number

KIND = "protocols"
# Operations of pingpong that transfer as the overlap programs' operations do: by column for messages.
_SENDS = {"blocking_us": "send", "ref_us": "isend"}
_OPERATIONS = {"isend": _SENDS, "irecv": _SENDS, "sendrecv": _SENDS,
               "put": {"blocking_us": "put", "ref_us": "put"}}


class Piece(typing.NamedTuple):
    first: float       # bytes
    last: float
    latency_us: float
    byte_ns: float

    def us(self, size):
        return self.latency_us + self.byte_ns * 1e-3 * size


class Curves:
    """The pieces of all launches of a machine (tables.Tables), by operation and place."""

    def __init__(self, tables):
        self._launches = {}
        for row in tables.rows(KIND) if KIND in tables.kinds() else ():
            for run, cells in zip(row.runs, row.launches):
                texts = [cells[name] for name in ("from_bytes", "to_bytes", "latency_us", "byte_ns")]
                launches = self._launches.setdefault((row.keys["operation"], row.keys["place"]), {})
                if all(map(is_number, texts)):
                    launches.setdefault(run, []).append(Piece(*map(float, texts)))

    def parts(self, way, is_node, size, low, high):
        """Returns the parts of the cost of a size between two measured ones (parts_of), means over launches, or None if
        no launch has a curve."""
        operation = _OPERATIONS.get(way.operation, {}).get(way.column)
        found = [parts_of(pieces, low, size, high)
                 for pieces in self._launches.get((operation, "node" if is_node else "net"), {}).values()]
        found = [parts for parts in found if parts is not None]
        return [sum(column) / len(found) for column in zip(*found)] if found else None


def parts_of(pieces, low, size, high):
    """Returns the weights of the costs of both measured sizes in the cost of the size, and further us. A size costs as
    much as the measured one on its piece, and the difference of both on the piece. Between two switches it depends on
    both measured sizes."""
    sizes = (low, size, high)
    on = [next((piece for piece in pieces if piece.first <= one < piece.last + ELEMENT), None) for one in sizes]
    if None in on:
        return None
    share = (size - low) / (high - low)
    if on[0] != on[2] and on[1] in (on[0], on[2]):
        share = float(on[1] == on[2])
    low_us, us, high_us = (piece.us(one) for piece, one in zip(on, sizes))
    return 1 - share, share, us - (1 - share) * low_us - share * high_us
