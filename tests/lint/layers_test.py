# SPDX-License-Identifier: BSD-3-Clause
"""common/ and monitor/ are in layers: a room includes headers of its own layer and of those below it, never upwards and
in no circle."""

import glob
import os
import re

from case import Case

COMMON = os.path.join(Case.source, "common")
# Rooms, lowest layer first. libbenchcommon ends with measure. Above it are libraries that only some programs link.
LAYERS = [
    {"clock", "memory", "mpi", "stats", "work"},
    {"job", "result"},
    {"sync_clock"},
    {"run"},
    {"measure"},
    {"device"},
    {"coarray", "expected", "operations"},
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


def in_circles(below):
    """Returns the part of {name: the set of names that it includes} that is in circles, or above one."""
    left = dict(below)
    while left:
        lowest = {name for name, names in left.items() if not names & set(left)}
        if not lowest:
            break
        left = {name: names for name, names in left.items() if name not in lowest}
    return left


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
        self.assertFalse(in_circles({room: {room_of(header) for header in headers}
                                     for room, headers in included().items()}))


# The rooms of monitor/, and the other rooms whose headers they include.
MONITOR = {
    "fortran": {"lib/count", "lib/wrap"},
    "lib": set(),
    "lib/count": {"lib"},
    "lib/report": {"lib", "lib/count"},
    "lib/wrap": {"lib", "lib/count", "lib/report"},
    "overhead": {"lib"},
}


class Monitor(Case):
    @staticmethod
    def files():
        """Returns {file without .c or .h: the set of files that it or its header includes}."""
        folder = os.path.join(Case.source, "monitor")
        files = {}
        for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True):
            with open(path, encoding="utf-8") as stream:
                headers = re.findall(r'^#include "monitor/([^"]+)\.h"', stream.read(), re.MULTILINE)
            name = os.path.relpath(path, folder)[:-len(".c")]
            files.setdefault(name, set()).update(set(headers) - {name})
        return files

    def test_rooms(self):
        files = self.files()
        self.assertEqual(set(MONITOR), {os.path.dirname(name) for name in files})
        for name, headers in files.items():
            room = os.path.dirname(name)
            with self.subTest(file=name):
                self.assertLessEqual({os.path.dirname(header) for header in headers}, MONITOR[room] | {room})

    def test_no_circle_of_files(self):
        self.assertFalse(in_circles(self.files()))
