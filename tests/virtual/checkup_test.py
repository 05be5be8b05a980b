"""The check-up's measurements on an ideal machine."""

import rules
import virtual

MODEL = rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=1)
MIB = 1 << 20


class Checkup(virtual.Test):
    target = "0.5 %"

    def test_messages(self):
        """Time of a message of 8 B and bandwidth at 1 MiB, one way, on 2 and 4 ranks of a node."""
        for ranks in (2, 4):
            (launch,) = virtual.run("checkup", "--visits=2", "--samples=6", ranks=ranks, **MODEL.variables())
            found = {row["fact"]: float(row["value"]) for row in launch.rows if row["unit"] in ("us", "MB/s")}
            for name, truth in (("node_latency", MODEL.half_round(8)),
                                ("node_bandwidth", 1 / (MODEL.half_round(MIB) * 1e-6))):
                self.near(found[name], truth, 0.005 * truth, f"{ranks} ranks: {name}")
