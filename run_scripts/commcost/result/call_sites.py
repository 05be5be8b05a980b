# SPDX-License-Identifier: BSD-3-Clause
"""Source lines of the call sites in a monitor's report.

A call site is a module and an address in its file, "solver+0x11c2", or several nested ones, innermost first, "solver+0x11c2
< solver+0x13f0". Rows of kind `module` have the modules' paths. addr2line (binutils) finds the lines, in one call per
module. If a function is inlined, the line is the innermost one that isn't in the system's headers.
"""

import datetime
import os
import re
import typing

from commcost.system import command_output

PROGRAMS = ("addr2line", "llvm-addr2line")
SYSTEM_FOLDERS = ("/usr/include/", "/usr/lib/")
NESTED = " < "
NAME_AND_ADDRESS = re.compile(r"(.+)\+(0x[0-9a-f]+)")
FILE_AND_LINE = re.compile(r"(.+):([0-9]+)(?: \(discriminator [0-9]+\))?")


class Line(typing.NamedTuple):
    """A line of the program. The line is None if the module has only names of functions."""

    file: str
    line: typing.Optional[int]
    function: str  # "" if unknown

    def text(self, site):
        place = site if self.line is None else f"{os.path.basename(self.file)}:{self.line}"
        return f"{place} ({self.function})" if self.function else place


def _line_of(frames):
    """Returns the Line of an address from its pairs of function and place, innermost first, or None."""
    known = [(function, match) for function, match in
             ((function, FILE_AND_LINE.fullmatch(place)) for function, place in frames)
             if match is not None and match.group(1) != "??"]
    own = [pair for pair in known if not pair[1].group(1).startswith(SYSTEM_FOLDERS)] or known
    for function, match in own[:1]:
        return Line(match.group(1), int(match.group(2)), "" if function == "??" else function)
    return next((Line("", None, function) for function, _ in frames if function != "??"), None)


def lines_in(path, addresses):
    """Returns the Lines of these addresses (texts such as "0x11c2") in a module, for those that are known, and whether a
    program that finds them could be started."""
    for program in PROGRAMS:
        output = command_output(program, "-a", "-i", "-f", "-C", "-e", path, *addresses)
        if not output:
            continue
        frames, lines = {}, iter(output.splitlines())
        for line in lines:
            if line.startswith("0x"):
                of_address = frames.setdefault(int(line, 16), [])
            else:
                of_address.append((line, next(lines, "")))
        return {address: found for address in addresses
                for found in [_line_of(frames.get(int(address, 16), []))] if found is not None}
    return {}


def _is_newer(path, date):
    """True if a file changed after the report of this date (ISO 8601)."""
    try:
        written = datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except ValueError:
        return False
    return os.path.getmtime(path) > written + 1


class CallSites:
    """Source lines by call site.

    remarks     modules whose lines are unknown, and why, a line each
    """

    def __init__(self, rows, date):
        """`rows` are the report's, cells by column; `date` is that of its head."""
        paths, addresses = {}, {}
        for row in rows:
            if row["kind"] == "module":
                paths.setdefault(row["operation"], {})[row["site"]] = None
            for match in map(NAME_AND_ADDRESS.fullmatch, row.get("site", "NA").split(NESTED)):
                if match is not None and row["kind"] != "module":
                    addresses.setdefault(match.group(1), {})[match.group(2)] = None
        self._lines, self.remarks = {}, []
        for name, of_module in sorted(addresses.items()):
            found, reason = self._find(list(paths.get(name, {})), list(of_module), date)
            self._lines.update({f"{name}+{address}": line for address, line in found.items()})
            if reason:
                self.remarks.append(f"{name}: {reason}")

    @staticmethod
    def _find(paths, addresses, date):
        there = [path for path in paths if os.path.isfile(path)]
        if len(paths) > 1:
            return {}, "several modules have this name, so its lines are unknown"
        if not there:
            return {}, "its file isn't on this machine, so its lines are unknown"
        if _is_newer(there[0], date):
            return {}, "its file changed after the report, so its lines are unknown: run it again"
        found = lines_in(there[0], addresses)
        if not found:
            return found, "it is stripped, or addr2line (binutils) is missing, so its lines are unknown"
        if all(line.line is None for line in found.values()):
            return found, "it has no line numbers: compile it with -g"
        return found, ""

    def line(self, site):
        """Returns the innermost Line of a site, or None."""
        return self._lines.get(site.split(NESTED)[0])

    def text(self, site):
        """Returns a site as "file:line (function)", or unchanged if its line is unknown."""
        return NESTED.join(self._lines[part].text(part) if part in self._lines else part for part in site.split(NESTED))


def name_lines(rows, date):
    """Replaces the call sites in a report's rows (cells by column) by their lines. Of several sites of a function on a
    line, all but the first keep their address, too."""
    sites, first = CallSites(rows, date), {}
    for row in rows:
        if row.get("site", "NA") == "NA" or row["kind"] == "module":
            continue
        text = sites.text(row["site"])
        is_first = first.setdefault((row["kind"], row["operation"], text), row["site"]) == row["site"]
        row["site"] = text if is_first else f"{text} {row['site']}"
