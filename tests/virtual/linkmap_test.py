# SPDX-License-Identifier: BSD-3-Clause
"""linkmap on nodes whose links take known times: these times, and what is slow or wrong by name."""

import math
import os
import signal

import virtual

LATENCY_US, BYTE_NS = 30, 1
LARGE = 65536
OPTIONS = ("--sizes=8,64K", "--visits=3", "--max-time=0.2")
EVEN, OUT = ["even"], "out of line"
SLOW = [OUT, ("virtual2", "", "slow")]

# (links, more us, more ns a byte, the verdicts of 8 bytes, of 64 KiB). What is slow one way is so
# for large messages only: of a round trip the way isn't known.
FAULTS = (
    ("", 0, 0, EVEN, EVEN),
    ("2>*,*>2", 20, 1, SLOW, SLOW),
    ("2>*", 0, 1, EVEN, [OUT, ("virtual2", "", "slow out")]),
    ("*>2", 0, 1, EVEN, [OUT, ("virtual2", "", "slow in")]),
    ("1>3,3>1", 20, 1, [OUT, ("virtual1", "virtual3", "slow")],
     [OUT, ("virtual1", "virtual3", "slow")]),
    ("3>1", 0, 1, EVEN, [OUT, ("virtual1", "virtual3", "slow in")]),
)


def name(cell):
    return "" if isinstance(cell, float) else cell


def named(rows, size):
    """Returns the rows that aren't even, after those of the whole."""
    of_size = [row for row in rows if row["nbytes"] == size]
    return [row["verdict"] for row in of_size if row["scope"] == "whole"] + [
        (name(row["a"]), name(row["b"]), row["verdict"]) for row in of_size
        if row["scope"] != "whole" and row["verdict"] != "even"]


class Linkmap(virtual.Test):
    target = "0.5 %"

    def run_job(self, *options, nodes=4, expect=0, **variables):
        """The rows of a job with a rank on each node."""
        variables = dict({"VIRTUAL_NODES": nodes, "MODEL_LATENCY_US": LATENCY_US,
                          "MODEL_PER_BYTE_NS": BYTE_NS}, **variables)
        return virtual.run("linkmap", *OPTIONS, *options, ranks=nodes, expect=expect,
                           **variables)[0].rows

    def check_times(self, rows, links, more_us, more_byte_ns):
        """Half of a round trip; each way alone, with the empty answer."""
        def one_way(size, a, b):
            slow = any(link in links.split(",") for link in (
                "{}>{}".format(a, b), "{}>*".format(a), "*>{}".format(b)))
            return (LATENCY_US + BYTE_NS * 1e-3 * size +
                    slow * (more_us + more_byte_ns * 1e-3 * size))
        for row in rows:
            if row["scope"] != "pair":
                continue
            a, b = int(row["a"][-1]), int(row["b"][-1])
            if row["nbytes"] == 8:
                truth = (one_way(8, a, b) + one_way(8, b, a)) / 2
                self.near(row["time_us"], truth, 0.005 * truth, "{} to {}".format(a, b))
                continue
            for column, (there, back) in (("out_mbs", (a, b)), ("in_mbs", (b, a))):
                truth = LARGE / 2 ** 20 / 1e-6 / (one_way(LARGE, there, back) +
                                                  one_way(0, back, there))
                self.near(row[column], truth, 0.005 * truth, "{}>{} {}".format(there, back, links))

    def test_faults(self):
        for links, more_us, more_byte_ns, small, large in FAULTS:
            with self.subTest(links=links):
                rows = self.run_job("--pairs=all", MODEL_SLOW_LINKS=links,
                                    MODEL_SLOW_LINK_US=more_us,
                                    MODEL_SLOW_LINK_PER_BYTE_NS=more_byte_ns)
                self.assertEqual((named(rows, 8), named(rows, LARGE)), (small, large))
                self.check_times(rows, links, more_us, more_byte_ns)

    def test_faults_under_disturbance(self):
        """Of more nodes, which are interrupted."""
        for links, more_us, more_byte_ns, small, large in FAULTS:
            with self.subTest(links=links):
                rows = self.run_job("--visits=6", nodes=8, MODEL_SLOW_LINKS=links, MODEL_SLOW_LINK_US=more_us,
                                    MODEL_SLOW_LINK_PER_BYTE_NS=more_byte_ns, **virtual.CONDITIONS["cloud"])
                self.assertEqual((named(rows, 8), named(rows, LARGE)), (small, large))

    def test_slow_for_a_while(self):
        """A node that is slow in all visits, but not when it is timed again, isn't named."""
        rows = self.run_job("--sizes=8", "--pairs=all", MODEL_SLOW_LINKS="2>*,*>2", MODEL_SLOW_LINK_US=20,
                            MODEL_SLOW_LINK_MESSAGES=100)
        self.near([row["time_us"] for row in rows if row["a"] == "virtual2"][0], LATENCY_US + 20, 0.3)
        self.assertEqual(named(rows, 8), EVEN)

    def test_two_groups(self):
        rows = self.run_job(MODEL_SLOW_LINKS="0>1,1>0,0>3,3>0,2>1,1>2,2>3,3>2",
                            MODEL_SLOW_LINK_US=200)
        self.assertEqual([row["group"] for row in rows if row["scope"] == "node"], [0, 1] * 4)
        self.assertEqual({row["verdict"] for row in rows if row["scope"] == "whole"},
                         {"two groups"})

    def test_same_addresses(self):
        """All points' buffers begin on pages, so addresses don't tell links apart."""
        usual, apart = (self.run_job(MODEL_APART_SHARE=share) for share in (0, 1))
        self.assertEqual([row["out_mbs"] for row in apart if row["nbytes"] == LARGE],
                         [row["out_mbs"] for row in usual if row["nbytes"] == LARGE])

    def test_expected_rate(self):
        """Within a node that of memcpy, between nodes that of the slower port; unknown for small messages, and where
        a port's rate is."""
        within = 8000
        for rates, options, between in (("1000,500", (), 62.5), ("1000,0", (), None),
                                        ("1000,500", ("--link-rate=4",), 500)):
            rows = self.run_job("--per=rank", "--pairs=all", *options, VIRTUAL_NODE_OF="0011", VIRTUAL_LINK_MBITS=rates,
                                VIRTUAL_MEMCPY_BYTE_NS=1e3 / within)
            for row in rows:
                truth = None
                if row["scope"] == "pair":
                    truth = within if row["a"].split(":")[0] == row["b"].split(":")[0] else between
                elif between:  # two of three links are between nodes
                    truth = between
                what = "{} {}: {} to {}".format(rates, options, row["a"], row["b"])
                if truth is None or row["nbytes"] == 8:
                    self.assertTrue(math.isnan(row["expected_mbs"]) and math.isnan(row["share_pct"]), what)
                    continue
                mbs = truth * 1e6 / 2 ** 20
                self.near(row["expected_mbs"], mbs, 0.005 * mbs, what)
                self.assertAlmostEqual(row["share_pct"], 100 * row["out_mbs"] / row["expected_mbs"], delta=0.06)

    def test_expected_rate_of_the_slower_way(self):
        rows = self.run_job(nodes=2, MODEL_SLOW_LINKS="0>1", MODEL_SLOW_LINK_PER_BYTE_NS=1,
                            VIRTUAL_LINK_MBITS="1000,1000")
        whole, first, second = (row for row in rows if row["nbytes"] == LARGE)
        self.assertLess(first["out_mbs"], first["in_mbs"])
        for row in (first, second):
            self.assertAlmostEqual(row["share_pct"], 100 * first["out_mbs"] / whole["expected_mbs"], delta=0.06)

    def test_links_below_a_share(self):
        """A link that the comparison with others misses; if most are below, one warning, and no rows."""
        fast, named = 8000, [("virtual1", "virtual3", "even")]  # all links but one reach 97 %, that one 14 %
        warning = "1048576 bytes: {} below {} % of the expected rate: run checkup.sh"
        for options, rate, rows_named, said in (
                ((), fast, named, warning.format("1 link", 20)), (("--min-share=10",), fast, [], None),
                (("--min-share=99",), fast, [], warning.format("most links are", 99)),
                ((), 10 * fast, [], warning.format("most links are", 20))):
            done = virtual.run_raw(
                "linkmap", "--sizes=64K,1M", "--threshold=1000", "--visits=3", "--columns=all", *options,
                VIRTUAL_RANKS=5, VIRTUAL_NODES=5, MODEL_LATENCY_US=LATENCY_US, MODEL_PER_BYTE_NS=BYTE_NS,
                MODEL_SLOW_LINKS="1>3", MODEL_SLOW_LINK_PER_BYTE_NS=6, VIRTUAL_LINK_MBITS=",".join(5 * [str(rate)]))
            rows = virtual.read_tsv(done.stdout)
            self.assertEqual([(name(row["a"]), name(row["b"]), row["verdict"]) for row in rows
                              if row["scope"] == "pair"], rows_named, options)
            found = [line for line in done.stdout.splitlines() if "of the expected rate" in line]
            self.assertEqual(len(found), said is not None)
            self.assertIn(said or "", "".join(found))

    def run_with_file(self, option, *options, **variables):
        """A job that writes a file, and its text."""
        path = os.path.join(virtual.BUILD, "tests/virtual", "linkmap_test.file")
        done = virtual.run_raw("linkmap", *OPTIONS, option + path, *options, **variables)
        if not os.path.exists(path):
            return done, None
        with open(path, encoding="ascii") as stream:
            text = stream.read()
        os.remove(path)
        return done, text

    def test_the_list(self):
        """Each host once."""
        for of, options, links, hosts in (
                ("01234567", (), "2>*,*>2,5>*,*>5", "virtual2,virtual5"),
                ("00112233", ("--per=rank",), "2>*,*>2", "virtual2")):
            done, text = self.run_with_file(
                "--exclude=", *options, VIRTUAL_RANKS=8, VIRTUAL_NODE_OF=of, MODEL_LATENCY_US=30,
                MODEL_SLOW_LINKS=links, MODEL_SLOW_LINK_US=90)
            self.assertEqual((done.returncode, text), (0, hosts + "\n"), of)

    def test_wrong_data(self):
        """The link, its nodes and the whole have the verdict, and no other row."""
        rows = self.run_job("--check", "--pairs=all", expect=1, MODEL_CORRUPT_LINKS="2>1")
        self.assertEqual({(row["scope"], name(row["a"]), name(row["b"])) for row in rows
                          if row["status"] == "FAIL"},
                         {("whole", "", ""), ("node", "virtual1", ""), ("node", "virtual2", ""),
                          ("pair", "virtual1", "virtual2")})
        rows = self.run_job("--check", nodes=2, expect=1, MODEL_CORRUPT=1)
        self.assertEqual({row["status"] for row in rows}, {"FAIL"})
        rows = self.run_job("--check")
        self.assertEqual({row["status"] for row in rows}, {"ok"})

    def test_a_time_that_may_be_none(self):
        """Where the first visit was much slower than the others, the interval of a time reaches
        down to 0, and that of its bandwidth has no upper end."""
        rows = self.run_job("--sizes=64K", "--samples=3", "--max-time=20", nodes=2,
                            MODEL_SLOW_LINKS="0>1,1>0", MODEL_SLOW_LINK_US=50000,
                            MODEL_SLOW_LINK_MESSAGES=4)
        for row in rows:
            for way in ("out", "in"):
                self.assertTrue(0 < row[way + "_lo_mbs"] <= row[way + "_mbs"], row)
                self.assertTrue(math.isnan(row[way + "_hi_mbs"]), row)

    def test_names(self):
        """Nodes that have a host's name in common; what Slurm calls the node where mpirun was
        started is on all of them."""
        for variables, names in (
                ({"SLURMD_NODENAME": "node1"}, ["virtual0", "virtual1", "virtual2", "virtual3"]),
                ({"VIRTUAL_HOST_OF": "0011"},
                 ["virtual0:0", "virtual0:1", "virtual1:2", "virtual1:3"])):
            rows = self.run_job("--sizes=8", **variables)
            self.assertEqual([row["a"] for row in rows if row["scope"] == "node"], names)

    def test_ranks_that_take_no_part(self):
        """The lowest rank of each node does; the others wait."""
        for of in ("0101", "0011", "01201"):
            rows = virtual.run("linkmap", "--sizes=8", "--check", "--pairs=all", "--visits=2",
                               ranks=len(of), VIRTUAL_NODE_OF=of)[0].rows
            nodes = sorted(set(of))
            self.assertEqual([(row["a"], row["slowest_rank"]) for row in rows
                              if row["scope"] == "node"],
                             [("virtual" + node, of.index(node)) for node in nodes])
            self.assertEqual(len([row for row in rows if row["scope"] == "pair"]),
                             len(nodes) * (len(nodes) - 1) / 2)

    def test_a_signal_while_suspects_are_timed(self):
        """All rows are written, without verdicts of what was suspected, and nothing is excluded."""
        done, text = self.run_with_file(
            "--exclude=", "--sizes=8", "--visits=1", "--samples=2", VIRTUAL_RANKS=4,
            VIRTUAL_NODES=4, MODEL_LATENCY_US=5000, MODEL_SLOW_LINK_US=10000,
            MODEL_SLOW_LINKS="1>*,*>1",
            VIRTUAL_SIGNAL="{}:1:500000".format(int(signal.SIGTERM)))
        rows = virtual.read_tsv(done.stdout)
        self.assertEqual((done.returncode, text), (1, None))
        self.assertEqual([name(row["verdict"]) for row in rows], ["", "even", "", "even", "even"])
        self.assertGreaterEqual(rows[2]["time_us"], 15000)
        for said in ("were not timed again", "# warning: interrupted by SIGTERM\n",
                     "# warning: 8 bytes: verdicts rest on 1 visit: "):
            self.assertIn(said, done.stdout)

    def test_a_rank_that_dies(self):
        """Rows that were written stay."""
        done, text = self.run_with_file(
            "--output=", "--visits=20", "--max-time=100", VIRTUAL_RANKS=2, MODEL_LATENCY_US=20000,
            VIRTUAL_SIGNAL="{}:1:6000000".format(int(signal.SIGKILL)))
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(text.startswith("# benchmark: linkmap\n"))
        self.assertNotIn("# end: ", text)


if __name__ == "__main__":
    virtual.main()
