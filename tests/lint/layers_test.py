"""common/ is in layers: a room includes headers of its own layer and of those below it, never upwards and in no circle."""

import glob
import os
import re

from case import Case

COMMON = os.path.join(Case.source, "common")
# Rooms, lowest layer first. libbenchcommon ends with measure. Above it are libraries that only some programs link.
LAYERS = [
    {"clock", "memory", "mpi", "stats", "work"},
    {"job", "result"},
    {"run"},
    {"measure", "sync_clock"},
    {"device"},
    {"coarray", "operations"},
    {"halo_swap"},
]
# Headers that the build writes.
GENERATED = {"build_info.h", "op_persistent.h"}


def included():
    """Returns what each room includes: {room: {header: file that includes it}}, without its own headers."""
    rooms = {}
    for path in glob.glob(f"{COMMON}/**/*.[ch]", recursive=True):
        room = os.path.relpath(os.path.dirname(path), COMMON)
        headers = rooms.setdefault(room, {})
        with open(path, encoding="utf-8") as stream:
            for header in re.findall(r'^#include "([^"]+)"', stream.read(), re.MULTILINE):
                if room_of(header) != room and header not in GENERATED:
                    headers[header] = os.path.relpath(path, Case.source)
    return rooms


def room_of(header):
    """Returns the room of a header; None if it is not in common/."""
    folder = os.path.dirname(header)
    return os.path.relpath(folder, "common") if folder.startswith("common/") else None


def layer_of(room):
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


class Layers(Case):
    def test_every_room_has_a_layer(self):
        self.assertEqual(set().union(*LAYERS), set(included()))

    def test_includes_go_downwards(self):
        for room, headers in included().items():
            for header, file in headers.items():
                with self.subTest(file=file, header=header):
                    self.assertIsNotNone(room_of(header), "a benchmark's header")
                    self.assertLessEqual(layer_of(room_of(header)), layer_of(room), "a higher layer")

    def test_no_circle(self):
        left = {room: {room_of(header) for header in headers} for room, headers in included().items()}
        while left:
            lowest = {room for room, below in left.items() if not below & set(left)}
            self.assertTrue(lowest, f"these include each other: {left}")
            left = {room: below for room, below in left.items() if room not in lowest}
