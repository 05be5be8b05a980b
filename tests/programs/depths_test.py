# SPDX-License-Identifier: BSD-3-Clause
"""Depths in the monitor's report: the program depths opens known numbers of operations and objects at a time."""

import os
import re

from call_sites_test import HERE, CallSitesCase
from case import each

PROGRAM = os.path.join(HERE, "depths.c")


class Depths(CallSitesCase):
    def depths(self, *words, flags="depth"):
        """Returns the planted maximum and line of each depth by name, as printed, and the report's rows by name, with its
        CallSites."""
        program = self.compile("depths", PROGRAM, "-lpthread")
        output, rows, sites = self.monitored(program, *words, words=flags)
        planted = {name: (int(high), int(line)) for name, high, line in
                   re.findall(r"^([a-z ]+)\t([0-9]+)\t([0-9]+)$", output, re.MULTILINE)}
        return planted, {row["operation"]: row for row in rows if row["kind"] == "depth"}, sites

    @each("flags", ["site,depth", "depth,all", "depth"])
    def test_planted(self, flags):
        planted, rows, sites = self.depths(flags=flags)
        if not self.launcher.is_openmpi:  # MPICH counts no unexpected messages
            del planted["unexpected messages"]
        assert {name: int(row["high"]) for name, row in rows.items()} == {
            name: high for name, (high, _) in planted.items()}
        for name, (_, line) in planted.items():
            if line and "site" in flags:
                assert sites.text(rows[name]["site"]).startswith(f"depths.c:{line} "), name
                assert rows[name]["max_rank"] == "1"
            elif "site" not in flags:
                assert rows[name]["site"] == "NA"

    def test_threads(self):
        """Receives of four threads at a time."""
        planted, rows, _ = self.depths("threads")
        assert planted["open receives"] == (20, 0)
        assert rows["open receives"]["high"] == rows["open requests"]["high"] == "20"
        assert rows["open sends"]["high"] == "0"
