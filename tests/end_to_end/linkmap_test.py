"""linkmap as its users run it, and on four made-up nodes whose links take known times
(slow_links.c): does it name what is slow?"""

import re
import signal
import statistics

from case import Case, Near, each, in_full, many
from mpi_run import number, read_tsv

PROGRAM = "linkmap/linkmap"
ONCE = ["--visits=1", "--samples=2"]


class Linkmap(Case):
    @each("option, values", [
        ("--per", ("host", "")), ("--sizes", ("", "-1", "3G", "8,,9")), ("--pairs", ("some",)),
        ("--alpha", ("0", "51", "x")), ("--threshold", ("0", "-5", "x")),
        ("--exclude", ("file", ""))])
    def test_wrong_values(self, option, values):
        """With two ranks there is nothing to exclude."""
        for value in values:
            self.refused(PROGRAM, f"{option}={value}", named=option)

    def test_too_little(self):
        self.refused(PROGRAM, ranks=1, named="at least 2 processes")
        self.refused(PROGRAM, "--per=node", named="--per")

    def test_sizes_count_once(self):
        assert [row["nbytes"] for row in self.rows_of(PROGRAM, "--sizes=8,1:16,8", *ONCE)
                if row["scope"] == "whole"] == ["8", "1", "2", "4", "16"]

    def test_two_ranks(self):
        """All say the same of the only link; from 4 KiB on each way by itself."""
        rows = self.rows_of(PROGRAM, "--sizes=8,4095,4K", "--pairs=all", *ONCE)
        assert [(row["nbytes"], row["scope"]) for row in rows] == [
            (size, scope) for size in ("8", "4095", "4096") for scope in ("whole", "rank", "rank", "pair")]
        for row in rows:
            times = [row[name] for name in ("time_us", "out_mbs", "in_mbs")]
            known = [False, True, True] if row["nbytes"] == "4096" else [True, False, False]
            assert [text != "NA" and float(text) > 0 for text in times] == known
            assert row["verdict"] == "NA"
        pair = rows[-1]
        first, second = rows[-3:-1]
        assert (pair["a"], pair["b"]) == (first["a"], second["a"])
        assert (pair["out_mbs"], pair["in_mbs"]) == (first["out_mbs"], first["in_mbs"])
        assert (pair["out_mbs"], pair["in_mbs"]) == (second["in_mbs"], second["out_mbs"])

    def test_a_time_that_may_be_none(self):
        """Where the first visit was much slower than the other two, the interval of a time reaches down to
        0, and that of its bandwidth has no upper end."""
        done = self.start(PROGRAM, "--sizes=64K", "--visits=3", "--samples=3", "--max-time=20", LINK_US=1000,
                          EXTRA_US=50000, SLOW_LINKS="0>1,1>0", EXTRA_MESSAGES=4,
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 0, done.stdout + done.stderr
        for row in read_tsv(done.stdout):
            for way in ("out", "in"):
                assert 0 < number(row[f"{way}_lo_mbs"]) <= number(row[f"{way}_mbs"])
                assert row[f"{way}_hi_mbs"] == "NA"

    def test_data(self):
        done = self.start(PROGRAM, "--check", "--sizes=1,64K", *ONCE)
        assert done.returncode == 0, done.stdout
        done = self.start(PROGRAM, "--check", "--sizes=1,64K", *ONCE, CORRUPT="all",
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 1
        assert [row["status"] for row in read_tsv(done.stdout)] == ["FAIL"] * 6

    @many
    def test_whose_data_is_wrong(self):
        """What comes wrong one way is said of the link, of its nodes and of the whole, and of no other."""
        done = self.start(PROGRAM, "--check", "--sizes=8,64K", "--pairs=all", *ONCE, ranks=4, NODES="0123",
                          CORRUPT="2>1", LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 1
        failed = {(row["scope"], row["a"], row["b"]) for row in read_tsv(done.stdout) if row["status"] == "FAIL"}
        assert failed == {("whole", "NA", "NA"), ("node", "host1", "NA"), ("node", "host2", "NA"),
                          ("pair", "host1", "host2")}
        for size in (8, 65536):
            assert f"# warning: {size} bytes: wrong data over 1 link: host1 and host2\n" in done.stdout

    @many
    @each("nodes, variables, names", [
        # What Slurm calls the node where mpirun was started is on all of them.
        ("0123", {"SLURMD_NODENAME": "node1"}, ["host0", "host1", "host2", "host3"]),
        # Nodes that have a name in common.
        ("0011", {"ALONE": 1}, ["host0:0", "host0:1", "host1:2", "host1:3"])])
    def test_names(self, nodes, variables, names):
        done = self.start(PROGRAM, "--sizes=8", *ONCE, ranks=4, NODES=nodes, **variables,
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert [row["a"] for row in read_tsv(done.stdout) if row["scope"] == "node"] == names


# ---- a run that ends in the middle ---------------------------------------------------------------

class ARunThatEndsInTheMiddle(Case):
    def test_a_rank_that_dies(self):
        """What was written stays, and says how far the run came: with 20 ms a message, a visit of both
        sizes takes 0.84 s or longer, and a rank dies with a message that is sent after 6 s, seconds after
        the first note."""
        output = self.folder / "linkmap.tsv"
        done = self.start(PROGRAM, "--sizes=8,4K", "--visits=20", "--max-time=100", f"--output={output}",
                          SIGNAL=int(signal.SIGKILL), SIGNAL_AT=150, LINK_US=20000,
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode != 0
        text = output.read_text()
        assert "# end: " not in text
        assert text.startswith("# benchmark: linkmap\n")
        size, visit, rounds, of, both, medians = re.search(
            r"^# note: (\d+) bytes, visit (\d+), (\d+) of (\d+) rounds?, us a link( out/in)?: (.*)$",
            text, re.M).groups()
        assert (both is not None) == (size == "4096")
        assert size in ("8", "4096")
        assert 1 <= int(visit) <= 7
        assert (rounds, of) == ("1", "1")
        medians = [float(us) for named in medians.split(", ") for us in named.split()[1].split("/")]
        # Half a round trip, or a way and its answer.
        expected_us = 20000 if size == "8" else 40000
        assert len(medians) == (2 if size == "8" else 4)
        assert all(expected_us <= us < 1.5 * expected_us for us in medians)

    @many
    def test_a_signal_while_suspects_are_timed(self):
        """All rows are written, without verdicts of what was suspected, and nothing is excluded. Rank 1
        sends nine messages in the three rounds of the tournament, and later ones to be timed again."""
        exclude = self.folder / "exclude"
        exclude.write_text("of an earlier run\n")
        slow = ",".join(f"{a}>{b}" for a, b in both_ways((0, 1), (1, 2), (1, 3)))
        done = self.start(PROGRAM, "--sizes=8", "--visits=1", "--samples=2", f"--exclude={exclude}", ranks=4,
                          NODES="0123", LINK_US=5000, EXTRA_US=10000, SLOW_LINKS=slow,
                          SIGNAL=int(signal.SIGTERM), SIGNAL_AT=14,
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 1, done.stdout + done.stderr
        rows = read_tsv(done.stdout)
        assert [row["scope"] for row in rows] == ["whole"] + 4 * ["node"]
        verdicts = {row["a"]: row["verdict"] for row in rows}
        assert verdicts == {"NA": "NA", "host0": "even", "host1": "NA", "host2": "even", "host3": "even"}
        assert number(rows[2]["time_us"]) >= 15000
        assert "were not timed again" in done.stdout
        assert "# warning: 8 bytes: verdicts rest on 1 visit: " in done.stdout
        assert "# warning: interrupted by SIGTERM\n" in done.stdout
        assert not exclude.exists()


# ---- four nodes ----------------------------------------------------------------------------------

LINK_US, EXTRA_US = 300, 600

# Sleeps of four ranks on fewer processors take longer than they are meant to where others compute.
ATTEMPTS = 3
SIZES = "8,4K"


def both_ways(*pairs):
    return [link for a, b in pairs for link in ((a, b), (b, a))]


def named(rows, size):
    """What isn't even: (a, b, verdict), after what is said of all."""
    of_size = [row for row in rows if row["nbytes"] == size]
    assert {row["group"] for row in of_size} == {"NA"}
    return [row["verdict"] for row in of_size if row["scope"] == "whole"] + [
        (row["a"], row["b"], row["verdict"]) for row in of_size
        if row["scope"] != "whole" and row["verdict"] != "even"]


EVEN, OUT_OF_LINE = ["even"], "out of line"


class FourNodes(Case):
    def found(self, *slow, options=(), extra_bytes=0):
        """What a job says whose slow links these are: rows, the text, and whom its list excludes."""
        exclude = self.folder / "exclude"
        done = self.start(PROGRAM, f"--sizes={SIZES}", "--visits=3", "--max-time=0.2", f"--exclude={exclude}", *options,
                          ranks=4, NODES="0123", LINK_US=LINK_US, EXTRA_US=EXTRA_US,
                          EXTRA_BYTES=extra_bytes,
                          SLOW_LINKS=",".join(f"{a}>{b}" for a, b in slow),
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 0, done.stdout + done.stderr
        return read_tsv(done.stdout), exclude.read_text().strip()

    @many
    @each("slow, extra_bytes, small, large, excluded", [
        ([], 0, EVEN, EVEN, ""),
        (both_ways((0, 2), (1, 2), (2, 3)), 0, [OUT_OF_LINE, ("host2", "NA", "slow")],
         [OUT_OF_LINE, ("host2", "NA", "slow")], "host2"),
        # What is slow one way is so for large messages only: of a round trip the way isn't known.
        ([(2, 0), (2, 1), (2, 3)], 4096, EVEN, [OUT_OF_LINE, ("host2", "NA", "slow out")], "host2"),
        *in_full(([(0, 2), (1, 2), (3, 2)], 4096, EVEN, [OUT_OF_LINE, ("host2", "NA", "slow in")], "host2")),
        (both_ways((1, 3)), 0, [OUT_OF_LINE, ("host1", "host3", "slow")],
         [OUT_OF_LINE, ("host1", "host3", "slow")], ""),
        *in_full(([(3, 1)], 4096, EVEN, [OUT_OF_LINE, ("host1", "host3", "slow in")], ""))])
    def test_four_nodes(self, slow, extra_bytes, small, large, excluded):
        for _ in range(ATTEMPTS if slow else 1):
            rows, listed = self.found(*slow, extra_bytes=extra_bytes)
            said = named(rows, "8"), named(rows, "4096"), listed
            if said == (small, large, excluded):
                break
        assert said == (small, large, excluded)

    @many
    def test_two_groups(self):
        for _ in range(ATTEMPTS):
            rows, listed = self.found(*both_ways((0, 1), (0, 3), (2, 1), (2, 3)))
            groups = [row["group"] for row in rows if row["scope"] == "node"]
            whole = {row["verdict"] for row in rows if row["scope"] == "whole"}
            if (groups, whole) == (["0", "1"] * 4, {"two groups"}):
                break
        assert (groups, whole, listed) == (["0", "1"] * 4, {"two groups"}, "")
        assert {row["verdict"] for row in rows if row["scope"] == "node"} == {"even"}

    @many
    def test_times(self):
        """A link's time is half of both sleeps, and a slow one's as much longer as it is."""
        for _ in range(ATTEMPTS):
            rows, _ = self.found(*both_ways((1, 3)), options=["--pairs=all"])
            times = {(row["a"], row["b"]): number(row["time_us"]) for row in rows
                     if row["scope"] == "pair" and row["nbytes"] == "8"}
            slow_us = times.pop(("host1", "host3"))
            assert len(times) == 5
            assert min(times.values()) >= LINK_US
            more_us = slow_us - statistics.median(times.values())
            if more_us == Near(EXTRA_US, 0.25):
                break
        assert more_us == Near(EXTRA_US, 0.25)

    @many
    @each("nodes, hosts", [("0101", ["host0", "host1"]), ("0011", ["host0", "host1"]),
                           ("01201", ["host0", "host1", "host2"])])
    def test_ranks_that_take_no_part(self, nodes, hosts):
        """The lowest rank of each node does; the others wait."""
        done = self.start(PROGRAM, "--sizes=8,4K", "--check", "--pairs=all", *ONCE, ranks=len(nodes), NODES=nodes,
                          LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [row for row in read_tsv(done.stdout) if row["nbytes"] == "8"]
        assert [row["a"] for row in rows if row["scope"] == "node"] == hosts
        assert len([row for row in rows if row["scope"] == "pair"]) == len(hosts) * (len(hosts) - 1) / 2
        assert [int(row["slowest_rank"]) for row in rows if row["scope"] == "node"] == [
            nodes.index(host[-1]) for host in hosts]

    @many
    @each("nodes, slow, options, expected", [
        ("01234567", (2, 5), [], "host2,host5"), ("00112233", (4, 5), ["--per=rank"], "host2")])
    def test_the_list(self, nodes, slow, options, expected):
        """Each host once."""
        exclude = self.folder / "exclude"
        links = ",".join(f"{a}>{b},{b}>{a}" for a in slow for b in range(len(nodes)) if b != a)
        for _ in range(ATTEMPTS):
            done = self.start(PROGRAM, "--sizes=8", "--visits=3", "--samples=6", f"--exclude={exclude}", *options,
                              ranks=len(nodes), NODES=nodes, LINK_US=1000, EXTRA_US=3000, SLOW_LINKS=links,
                              LD_PRELOAD=self.built("tests/end_to_end/libslowlinks.so"))
            assert done.returncode == 0, done.stdout + done.stderr
            if exclude.read_text() == expected + "\n":
                break
        assert exclude.read_text() == expected + "\n"

    @many
    def test_the_list_can_be_written(self):
        for path in ("/no/such/folder/file", "/"):
            self.refused(PROGRAM, f"--exclude={path}", named="--exclude", ranks=4)
        both = self.folder / "both"
        self.refused(PROGRAM, f"--exclude={both}", f"--output={both}", named="--exclude", ranks=4)
        assert not both.exists()
