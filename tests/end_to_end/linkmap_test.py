"""linkmap as its users run it, and on four made-up nodes whose links take known times
(slow_links.c): does it name what is slow?"""

import pytest

from mpi_run import number, read_tsv

PROGRAM = "linkmap/linkmap"
ONCE = ["--visits=1", "--samples=2"]


@pytest.mark.parametrize("option, values", [
    ("--per", ("host", "")), ("--sizes", ("", "-1", "3G", "8,,9")), ("--pairs", ("some",)),
    ("--alpha", ("0", "51", "x")), ("--threshold", ("0", "-5", "x")),
    ("--exclude", ("/no/such/folder/file", "/"))])
def test_wrong_values(refused, option, values):
    for value in values:
        refused(PROGRAM, f"{option}={value}", named=option)


def test_too_little(refused):
    refused(PROGRAM, ranks=1, named="at least 2 processes")
    refused(PROGRAM, "--per=node", named="--per")


def test_two_ranks(rows_of):
    """All say the same of the only link; from 4 KiB on each way by itself."""
    rows = rows_of(PROGRAM, "--sizes=8,4095,4K", "--pairs=all", *ONCE)
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


def test_data(start, built):
    done = start(PROGRAM, "--check", "--sizes=1,64K", *ONCE)
    assert done.returncode == 0, done.stdout
    done = start(PROGRAM, "--check", "--sizes=1,64K", *ONCE, CORRUPT=1,
                 LD_PRELOAD=built("tests/end_to_end/libslowlinks.so"))
    assert done.returncode == 1
    assert [row["status"] for row in read_tsv(done.stdout) if row["scope"] == "whole"] == ["FAIL"] * 2


# ---- four nodes ----------------------------------------------------------------------------------

LINK_US, EXTRA_US = 300, 600
SIZES = "8,4K"


def both_ways(*pairs):
    return [link for a, b in pairs for link in ((a, b), (b, a))]


@pytest.fixture
def found(start, built, tmp_path):
    """What a job says whose slow links these are: rows, the text, and whom its list excludes."""
    def run(*slow, options=(), extra_bytes=0):
        exclude = tmp_path / "exclude"
        done = start(PROGRAM, f"--sizes={SIZES}", "--visits=3", "--max-time=0.2", f"--exclude={exclude}", *options,
                     ranks=4, NODES="0123", LINK_US=LINK_US, EXTRA_US=EXTRA_US,
                     EXTRA_BYTES=extra_bytes,
                     SLOW_LINKS=",".join(f"{a}>{b}" for a, b in slow),
                     LD_PRELOAD=built("tests/end_to_end/libslowlinks.so"))
        assert done.returncode == 0, done.stdout + done.stderr
        return read_tsv(done.stdout), exclude.read_text().split()
    return run


def named(rows, size):
    """What isn't even: (a, b, verdict)."""
    return [(row["a"], row["b"], row["verdict"]) for row in rows
            if row["nbytes"] == size and row["scope"] != "whole" and row["verdict"] != "even"]


@pytest.mark.many
@pytest.mark.parametrize("slow, extra_bytes, small, large, excluded", [
    ([], 0, [], [], []),
    (both_ways((0, 2), (1, 2), (2, 3)), 0, [("host2", "NA", "slow")], [("host2", "NA", "slow")],
     ["host2"]),
    # What is slow one way is so for large messages only: of a round trip the way isn't known.
    ([(2, 0), (2, 1), (2, 3)], 4096, [], [("host2", "NA", "slow out")], ["host2"]),
    ([(0, 2), (1, 2), (3, 2)], 4096, [], [("host2", "NA", "slow in")], ["host2"]),
    (both_ways((1, 3)), 0, [("host1", "host3", "slow")], [("host1", "host3", "slow")], []),
    ([(3, 1)], 4096, [], [("host1", "host3", "slow in")], [])],
    ids=["none", "node", "sends", "receives", "pair", "one way"])
def test_four_nodes(found, slow, extra_bytes, small, large, excluded):
    for _ in range(2):
        rows, listed = found(*slow, extra_bytes=extra_bytes)
        said = named(rows, "8"), named(rows, "4096"), listed
        if said == (small, large, excluded):
            break
    assert said == (small, large, excluded)


@pytest.mark.many
def test_two_groups(found):
    for _ in range(2):
        rows, listed = found(*both_ways((0, 1), (0, 3), (2, 1), (2, 3)))
        groups = [row["group"] for row in rows if row["scope"] == "node"]
        whole = {row["verdict"] for row in rows if row["scope"] == "whole"}
        if (groups, whole) == (["0", "1"] * 4, {"two groups"}):
            break
    assert (groups, whole, listed) == (["0", "1"] * 4, {"two groups"}, [])
    assert not named(rows, "8")


@pytest.mark.many
def test_times(found):
    """Each link's time is what it is: one way with the answer's."""
    rows, _ = found(*both_ways((1, 3)), options=["--pairs=all"])
    pairs = [row for row in rows if row["scope"] == "pair" and row["nbytes"] == "8"]
    assert len(pairs) == 6
    for row in pairs:
        us = LINK_US + (EXTRA_US if (row["a"], row["b"]) == ("host1", "host3") else 0)
        # A sleep lasts 50 us longer, or more where others run.
        assert us <= number(row["time_us"]) <= 1.5 * us + 100
