# SPDX-License-Identifier: BSD-3-Clause
"""Protocol switches of pingpong: where the library's way changes, and latency and time per byte on either side."""

import launches
import virtual
from commcost.cost.call_ways import Way
from commcost.cost.machine_costs import OwnCosts
from commcost.cost.monitor_report import Layout
from commcost.result.tables import Tables

L_US, G_NS = 2.0, 0.1
MODEL = {"MODEL_LATENCY_US": L_US, "MODEL_PER_BYTE_NS": G_NS}
SHARE, BYTES = 0.01, 8  # the promised precision of a switch
# Fewer than in a run with defaults, for speed.
SAMPLES = {"quiet": "--samples=36", "cloud": "--samples=120"}


def jump(limit, share):
    """Returns a switch of MODEL_SWITCHES: its limit, and the additional time of larger messages, in us and in ns per
    further byte."""
    return limit, share * (L_US + G_NS * 1e-3 * limit), 0


def bend(limit, share):
    return limit, 0, share * G_NS


PLANTED = {
    "none": [], "5 % at 64": [jump(64, 0.05)], "4 times at 64": [jump(64, 3)], "30 % at 1K": [jump(1024, 0.3)],
    "5 % at 16K": [jump(16384, 0.05)], "5 % at 256K": [jump(262144, 0.05)], "4 times at 256K": [jump(262144, 3)],
    "half less at 8K": [jump(8192, -0.5)], "slope at 16K": [bend(16384, 1)], "slope at 100K": [bend(100000, 0.5)],
    "both at 32K": [(32768, 2, -0.05)], "two": [jump(512, 0.2), (65536, 4, 0.1)],
    "two near": [jump(1024, 0.1), jump(4096, 0.3)],
}


def first_behind(switch):
    """Returns the first size of the next piece."""
    limit, us, _ = switch
    return limit + BYTES if us else limit


def is_near(row, switch):
    at = first_behind(switch)
    return abs(row["from_bytes"] - at) <= max(BYTES, SHARE * at)


def model_of(planted):
    return dict(MODEL, MODEL_SWITCHES=",".join("{}:{:.6f}:{:.6f}".format(*switch) for switch in planted))


def run(planted, *options, **variables):
    return virtual.run("pingpong", "--protocols", *options, **model_of(planted), **variables)


class Protocols(virtual.Test):
    """Protocol switches, and the lines between them."""

    target = "1 %"

    def check_lines(self, rows, planted):
        """Checks latency, time per byte and jump of an operation's pieces. A put has the same latency added to each."""
        added_us = rows[0]["latency_us"] - L_US
        for number, row in enumerate(rows):
            what = "{operation} {place} {piece}".format(**row)
            latency_us = added_us + L_US + sum(us - ns * 1e-3 * limit for limit, us, ns in planted[:number])
            slope_ns = G_NS + sum(ns for _, _, ns in planted[:number])
            self.near(row["latency_us"], latency_us, 0.01 * L_US, what)
            self.near(row["byte_ns"], slope_ns, 0.01 * slope_ns, what)
            self.assertEqual(row["status"], "ok", what)
            if number > 0:
                limit, us, _ = planted[number - 1]
                self.near(row["jump_us"], us, 0.02 * us, what)
                self.near(row["from_bytes"], limit + BYTES, max(BYTES, SHARE * limit), what)
                self.assertEqual(rows[number - 1]["to_bytes"], row["from_bytes"] - BYTES, what)

    def test_lines(self):
        """Of each operation, within a node and across nodes."""
        planted = [jump(4096, 0.5), (65536, 3, 0.1)]
        operations = virtual.by_tier(plain=("isend",), run=("send", "ssend", "isend", "put"))
        (launch,) = run(planted, "--samples=12", "--operations=" + ",".join(operations), ranks=4, VIRTUAL_NODES=2)
        for operation in operations:
            for place in ("node", "net"):
                rows = [row for row in launch.rows if (row["operation"], row["place"]) == (operation, place)]
                self.assertEqual(len(rows), 3)
                self.check_lines(rows, planted)
                if operation != "put":
                    self.near(rows[0]["latency_us"], L_US + 0.1 * (operation == "isend"), 0.1, operation)

    def test_rates(self):
        """Switches are found and located, and no others, also while ranks are interrupted."""
        count = virtual.by_tier(plain=2, run=1, all=2, full=50)
        few = "none", "5 % at 16K"
        for condition, names in (("quiet", virtual.by_tier(plain=few, run=PLANTED)),
                                 ("cloud", virtual.by_tier(plain=(), run=few, full=PLANTED))):
            false, located, known = [], [], []
            for name in names:
                planted = PLANTED[name]
                found = [launch.rows[1:] for launch in run(
                    planted, "--operations=send", SAMPLES[condition], launches=count, **virtual.CONDITIONS[condition])]
                of_case = "{}, {}".format(condition, name)
                further = [len(rows) > len(planted) for rows in found]
                right = [len(rows) == len(planted) and all(map(is_near, rows, planted)) for rows in found]
                near = [any(is_near(row, switch) for switch in planted)
                        for rows in found for row in rows if row["status"] == "ok"]
                false, known = false + further, known + near
                self.rarely(sum(further), count, 0.01, of_case + ", launches with a further switch")
                self.mostly(sum(near), len(near), 0.98, of_case + ", switches of status ok that are located")
                if planted:
                    located += right
                    self.mostly(sum(right), count, 0.95, of_case)
            self.rarely(sum(false), len(false), 0.01, condition + ", launches with a further switch")
            self.mostly(sum(located), len(located), 0.95, condition + ", launches with all switches located")
            self.mostly(sum(known), len(known), 0.98, condition + ", switches of status ok that are located")


class Costs(virtual.Test):
    """Undisturbed costs of messages whose size lies between a switch and the next measured sizes."""

    target = "2 %"

    def test_costs(self):
        """By the overlap program's rows for 1 and 64 KiB, and the switches of pingpong. Without these the straight line
        is far off."""
        switch, folder = jump(16384, 3), launches.Folder(self)
        model, few, at = model_of([switch]), "--samples=12", "--sizes={}"
        for name in virtual.by_tier(plain=("isend",), run=("isend", "irecv", "sendrecv", "put")):
            with self.subTest(name):
                path, = folder.launches(name, "overlap_" + name, "--data-driven", few, at.format("1K,64K"), **model)
                operations = "--operations=put" if name == "put" else "--operations=send,isend"
                straight = OwnCosts(Tables([path]))
                folder.launches(name, "pingpong", "--protocols", few, operations, **model)
                costs = OwnCosts(Tables([path]))
                for size in (2048, 16384, 17408, 32768):
                    row, = virtual.run("overlap_" + name, "--data-driven", few, at.format(size), **model)[0].rows
                    for column in ("blocking_us", "ref_us"):
                        way, what = Way(name, column), "{} {} {}".format(name, column, size)
                        own = costs.cost(way, Layout(2, 1), size)
                        self.near(own.us.value, row[column], 0.02 * row[column], what)
                        if size == 16384:
                            wrong_us = straight.cost(way, Layout(2, 1), size).us.value
                            self.assertGreater(wrong_us, 1.3 * row[column], what)


if __name__ == "__main__":
    virtual.main()
