# SPDX-License-Identifier: BSD-3-Clause
"""The compiler flags of a build: a user's own optimisation level counts, and metadata tells the flags in use."""

import json
import os
import re
import subprocess

from case import Case, each


class Flags(Case):
    @each("flags, level", [("-O2 -g", "-O2"), ("-g", "-O3"), ("-Os", "-Os")])
    def test_cflags(self, flags, level):
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as stream:
            compiler, = re.findall("^MPI_C_COMPILER:[A-Z]+=(.*)$", stream.read(), re.MULTILINE)
        subprocess.run(["cmake", "-S", self.source, "-B", "b", f"-DMPI_C_COMPILER={compiler}", "-DBUILD_TESTING=OFF"],
                       cwd=str(self.folder), env=dict(os.environ, CFLAGS=flags), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, check=True)
        commands = json.loads((self.folder / "b/compile_commands.json").read_text(encoding="utf-8"))
        assert {tuple(re.findall(r"(?<= )-O\S*", command["command"])) for command in commands} == {(level,)}
        info = (self.folder / "b/generated/build_info.h").read_text(encoding="utf-8")
        said, = re.findall('COMPILER_FLAGS "(.*)"', info)
        assert re.findall(r"-O\S*", said) == [level], said
