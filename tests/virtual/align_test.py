# SPDX-License-Identifier: BSD-3-Clause
"""Placements of buffers: operations whose time depends on addresses, and the scorecard of their launches."""

import os
import re
import statistics

import virtual
from launches import Folder
from commcost.result import tables
from commcost.scorecard import scorecard
from commcost.scorecard.card_table import PLACEMENTS
from commcost.suite.suite_plan import read_list

LAUNCHES = 6  # of a scorecard
CARDS = virtual.by_tier(plain=2, run=4, full=60)
# By entry of the essentials: the call, its time, and the share of operations with buffers apart, if each of a rank's
# buffers is at one of four places in 64 bytes: of the slower of two ranks, and of a message.
CALLS = {"collective_align": ("MPI_Allreduce", "time_us", 15 / 16), "pingpong_align": ("MPI_Send", "latency_us", 3 / 4)}
MODEL = {"MODEL_BLOCKING_US": 20, "MODEL_LAUNCH_SPREAD": 0.05}
SHARES = virtual.by_tier(plain=(0, 1), run=(0, 0.1, 0.3, 3))
# Rows with a list of placements, and those whose buffers are in windows.
PROGRAMS = {
    "pingpong": (("--patterns=put,MPISend", "--arrangements=single", "--sizes=8K"), 1, 2),
    "halo": (("--methods=put,isend/irecv packed,isend/irecv types", "--coarray-sync=all", "--local=4"), 2, 1),
    "collective": (("--operations=bcast,allgather", "--sizes=8"), 2, 0),
    "mpi_overhead": (("--both", "--msgsize=8"), 2, 0),
    "msgrate": (("--size=8", "--cache=0", "--peers=1"), 4, 0),
    "msgrate_rma": (("--size=8", "--cache=0", "--peers=1", "--sync=fence"), 2, 0),
    "overlap_iallreduce": (("--data-driven", "--sizes=8"), 1, 0),
}
SHORT = ("--samples=6", "--warmup=0", "--visits=2", "--check")


class Placements(virtual.Test):
    """Operations that take longer if the addresses of their buffers differ within 64 bytes."""

    target = "0.5 %; 10 % of what is planted with random addresses"

    def launched(self, name, **variables):
        """The folders of all scorecards' launches of an entry."""
        (entry,) = (entry for entry in read_list("essentials") if entry.name == name)
        return Folder(self).launches("all", os.path.basename(entry.program), *entry.options.split(),
                                     launches=CARDS * LAUNCHES, **MODEL, **variables)

    def lines_of(self, folders, number):
        """The lines about placements in a scorecard of its own launches."""
        made = os.path.join(os.path.dirname(folders[0]), "..", "card{}".format(number))
        os.mkdir(made)
        for folder in folders[number * LAUNCHES:(number + 1) * LAUNCHES]:
            os.rename(folder, os.path.join(made, os.path.basename(folder)))
        parts = scorecard.card_of(tables.Tables([made])).parts
        return [line for part in parts if part.heading == PLACEMENTS for line in part.lines]

    def compare(self, name, folders, share, what):
        """The times of all launches: with equal addresses, and with random ones."""
        _, column, apart = CALLS[name]
        ratios = {"page": [], "malloc": []}
        for folder in folders:
            rows = {row.keys["align"]: float(row.texts(column)[0]) for row in tables.Tables([folder]).rows(name)}
            for align, of_align in ratios.items():
                of_align.append(rows[align] / rows["64"] - 1)
        self.near(statistics.mean(ratios["page"]), 0, 0.005, what)
        self.near(statistics.mean(ratios["malloc"]), apart * share, 0.005 + 0.1 * share, what)

    def test_planted(self):
        for name, condition, share in ((name, condition, share) for name in CALLS for share in SHARES
                                       for condition in virtual.by_tier(plain=("quiet",), run=("quiet", "cloud"))):
            what = "{}, {}, {:g} %".format(name, condition, 100 * share)
            with self.subTest(what):
                folders = self.launched(name, MODEL_APART_SHARE=share, **virtual.CONDITIONS[condition])
                self.compare(name, folders, share, what)
                found = [self.lines_of(folders, number) for number in range(CARDS)]
                if share == 0:
                    self.rarely(sum(map(bool, found)), CARDS, 0.01, what)
                    continue
                self.mostly(sum(map(bool, found)), CARDS, 0.95, what)
                for line in (line for lines in found for line in lines):
                    self.assertEqual(line.label, "Align send and receive buffers alike: {}, 64 KiB".format(CALLS[name][0]))
                    best, usual = map(float, re.fullmatch("([0-9.]+) instead of ([0-9.]+) µs", line.value).groups())
                    self.assertLess(abs(usual / best - 1 - CALLS[name][2] * share), 0.05 + 0.5 * share, line.value)

    def test_rows(self):
        """Each placement has a row of its own; rows in windows have none. Data is right."""
        for program, (options, placed, in_windows) in PROGRAMS.items():
            with self.subTest(program):
                (launch,) = virtual.run(program, "--align=malloc,64+16,page,8+0,4K", *options, *SHORT, MODEL_DATA=1)
                found = [row["align"] for row in launch.rows]
                self.assertEqual([str(align) for align in found if align == align],
                                 placed * ["malloc", "64+16", "page", "8+0"])
                self.assertEqual(sum(align != align for align in found), in_windows)
                self.assertNotIn("FAIL", {row["status"] for row in launch.rows})

    def test_refused(self):
        for options, message in ((("--align=60",), "'60' is no placement"), (("--align=64+64",), "is no placement"),
                                 (("--align=64+4",), "is no placement"), (("--align=malloc,",), "'' is no placement"),
                                 (("-o", "--align=malloc,64"), "use one placement")):
            done = virtual.run_raw("msgrate", "--peers=1", *options, VIRTUAL_RANKS=2)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    virtual.main()
