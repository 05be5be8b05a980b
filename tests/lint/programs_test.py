# SPDX-License-Identifier: BSD-3-Clause
"""Each program is its own main() in its own file, and links no file of another program; what all link is small. Prints
for each program its file, and the files that it links with their lines."""

import glob
import json
import os
import re
import shlex

from case import Case

# Libraries that programs share.
SHARED = ("common/",)
FOLDERS = ("overlap", "mpi_overhead", "msgrate", "pingpong", "syncbench", "halo", "linkmap", "noise", "collective", "checkup",
           "monitor")


def compilations():
    """Returns {object: (source, the set of words that compile it)} of all that the build compiles."""
    with open(os.path.join(Case.build, "compile_commands.json"), encoding="utf-8") as stream:
        commands = json.load(stream)
    found = {}
    for command in commands:
        words = shlex.split(command["command"])
        place = words.index("-o") + 1
        found[os.path.join(command["directory"], words[place])] = (
            os.path.relpath(command["file"], Case.source), frozenset(words[:place] + words[place + 1:]))
    return found


def sources_of_objects():
    """Returns {object: source} of all that the build compiles."""
    return {path: source for path, (source, _) in compilations().items()}


def programs(folders=FOLDERS):
    """Returns {program: the words of its link command}."""
    found = {}
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(Case.build, folder, "CMakeFiles", "*.dir", "link.txt"))):
            with open(path, encoding="utf-8") as stream:
                words = shlex.split(stream.read())
            if "-shared" not in words and "-o" in words:
                found[os.path.join(Case.build, folder, words[words.index("-o") + 1])] = words
    return found


def linked(program, words, objects):
    """Returns the sources of the objects and archives that a link command names."""
    paths = [os.path.normpath(os.path.join(os.path.dirname(program), word)) for word in words]
    sources = {objects[path] for path in paths if path.endswith(".o")}
    for folder, name in (os.path.split(path) for path in paths if path.endswith(".a")):
        members = os.path.join(folder, "CMakeFiles", name[len("lib"):-len(".a")] + ".dir", "")
        sources.update(source for path, source in objects.items() if path.startswith(members))
    return sorted(sources)


def text_of(source):
    with open(os.path.join(Case.source, source), encoding="utf-8") as stream:
        return stream.read()


def lines_of(sources):
    return sum(text_of(source).count("\n") for source in sources)


class Programs(Case):
    def test_what_all_link_is_small(self):
        members = os.path.join(Case.build, "common", "CMakeFiles", "benchcommon.dir", "")
        rooms = {os.path.dirname(source) for path, source in sources_of_objects().items() if path.startswith(members)}
        self.assertLessEqual({"common/clock", "common/stats", "common/memory", "common/result"}, rooms)
        files = [file for room in rooms for file in glob.glob(os.path.join(Case.source, room, "*.[ch]"))]
        print("libbenchcommon: {} files, {} lines".format(len(files), lines_of(files)))
        self.assertLessEqual(lines_of(files), 10260)

    def test_each_has_its_main_and_files(self):
        objects = sources_of_objects()
        for program, words in programs().items():
            with self.subTest(program=program):
                sources = linked(program, words, objects)
                mains = [source for source in sources if re.search(r"^int main\(", text_of(source), re.MULTILINE)]
                self.assertEqual(1, len(mains), mains)
                folder = os.path.dirname(mains[0]) + "/"
                own = [source for source in sources if source.startswith(folder)]
                self.assertEqual([], [source for source in sources if source not in own and
                                      not source.startswith(SHARED)], "files of another program")
                print("{:<27} {:<30} links {:>2} files, {:>5} lines; {:>2} of its own, {:>4} lines".format(
                    os.path.basename(program), mains[0], len(sources), lines_of(sources), len(own), lines_of(own)))

    def test_same_code_in_virtual_time(self):
        """All but the clock and the machine is compiled by the same commands, and in the same archives."""
        compiled, virtual = compilations(), {
            os.path.basename(program): (program, words) for program, words in programs(["tests/virtual"]).items()}
        if not virtual:
            self.skipTest("no virtual time in this build")

        def code_of(program, words):
            paths = [os.path.normpath(os.path.join(os.path.dirname(program), word)) for word in words]
            return ({compiled[path] for path in paths if path.endswith(".o")} |
                    {path for path in paths if path.endswith(".a")})

        for program, words in programs().items():
            name = os.path.basename(program)
            self.assertNotEqual(name in virtual, name.startswith("monitor_"), name)
            if name in virtual:
                own, again = code_of(program, words), code_of(*virtual[name])
                self.assertEqual(set(), own - again, name)
                self.assertEqual({f"tests/virtual/{file}.c" for file in ("machine", "memory", "source")},
                                 {source for source, _ in again - own}, name)
