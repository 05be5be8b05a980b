# SPDX-License-Identifier: BSD-3-Clause
"""The check-up's measurements on an ideal machine. Copies take no virtual time: this_machine_copy judges them."""

import rules
import virtual

MODEL = rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=1)
BLOCKING_US = 45
MIB = 1 << 20


class Checkup(virtual.Test):
    target = "0.5 %"

    def measured(self, ranks, nodes, **variables):
        """Returns each measurement but the copies', whose interval must hold it."""
        (launch,) = virtual.run("checkup", "--visits=2", "--samples=6", ranks=ranks, VIRTUAL_NODES=nodes, **variables)
        rows = [row for row in launch.rows if row["unit"] in ("us", "MB/s") and row["fact"] != "copy_bandwidth"]
        for row in rows:
            for end in ("value_lo", "value_hi"):
                self.near(float(row[end]), float(row["value"]), 0.001 * float(row["value"]), f"{row['fact']} {end}")
        return {row["fact"]: float(row["value"]) for row in rows}

    def test_messages(self):
        """Time of 8 B and bandwidth at 1 MiB, one way, within a node and between two."""
        truths = {"latency": MODEL.half_round(8), "bandwidth": 1 / (MODEL.half_round(MIB) * 1e-6)}
        for ranks, nodes, where in ((2, 1, ("node",)), (4, 1, ("node",)), (2, 2, ("network",)),
                                    (4, 2, ("node", "network"))):
            found = self.measured(ranks, nodes, **MODEL.variables())
            names = {f"{place}_{name}": truth for place in where for name, truth in truths.items()}
            self.assertEqual({*names, "allreduce_time"}, set(found))
            for name, truth in names.items():
                self.near(found[name], truth, 0.005 * truth, f"{ranks} ranks, {nodes} nodes: {name}")

    def test_allreduce(self):
        for ranks in (2, 4):
            found = self.measured(ranks, 1, MODEL_BLOCKING_US=BLOCKING_US, MODEL_WAIT_US=MODEL.wait)
            truth = BLOCKING_US + MODEL.wait
            self.near(found["allreduce_time"], truth, 0.005 * truth, f"{ranks} ranks: allreduce")


if __name__ == "__main__":
    virtual.main()
