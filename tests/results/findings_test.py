"""What results say in sentences: each rule on results that were made by hand, where the sentence is
known, and where it must stay silent."""

import re

from case import Case, each
from commcost.reading import intervals, tables
from commcost.saying import findings
from made_results import (HALO, MONITOR, MPI_OVERHEAD, OVERLAP, PINGPONG, RATE, REPORT, REPORT_ROWS,
                          SYNC, tsv)


def said_of(rule, facts):
    return [finding.sentence for finding in rule(facts)]


def of_row(quantity, value, half_width, ends, **cells):
    """A row with a value and its interval."""
    return {quantity: value, ends[0]: value - half_width, ends[1]: value + half_width,
            "status": "ok", **cells}


class FindingsCase(Case):
    def facts(self, **results):
        """The Tables of results: facts(name=(benchmark, columns, launches)), each launch a list of rows
        as dictionaries. What a row lacks is NA."""
        for name, (benchmark, columns, launches) in results.items():
            rows = [[run, *(row.get(column, "NA") for column in columns)]
                    for run, launch in enumerate(launches, 1) for row in launch]
            (self.folder / f"{name}.tsv").write_text(tsv(benchmark, ["run", *columns], rows))
        return tables.Tables([str(self.folder)])


# ---- what is sure --------------------------------------------------------------------------------

class WhatIsSure(FindingsCase):
    @each("one, other, less", [
        ((10, 9, 11, 1), (15, 14, 16, 1), True),     # 5 apart, intervals 2 wide
        ((10, 9, 11, 1), (13.9, 13, 15, 1), False),  # less than twice the interval
        ((15, 14, 16, 1), (10, 9, 11, 1), False),
        ((10, None, None, 1), (99, 98, 100, 1), False),
        ((10, 10, 10, 1), (10.1, 10.1, 10.1, 1), False),  # of no width: 1 % counts
        ((10, 10, 10, 2), (10.3, 10.3, 10.3, 2), True),
        ((0, 0, 0, 1), (0, 0, 0, 1), False),
        ((10, 9, 11, 6), (12.5, 11.5, 13, 6), True),  # intervals over launches
        ((10, 9, 11.6, 6), (12.5, 11.5, 13, 6), False),
        ((10, 9, 11, 6), (12.5, 11.5, 13, 5), False)])  # of which one is of too few
    def test_less(self, one, other, less):
        assert intervals.is_less(intervals.Measured(*one), intervals.Measured(*other)) == less

    def test_range_of_few_launches(self):
        assert intervals.Measured(10, 9, 11, 1).told("us") == "10.0 us (9.00 to 11.0)"
        assert intervals.Measured(10, 9, 11, 2).told("us") == "10.0 us (9.00 to 11.0 in 2 launches)"
        assert intervals.Measured(10, 9, 11, 6).told("us") == "10.0 us (9.00 to 11.0)"

    def test_wrong_data_has_no_interval(self):
        """That of another launch."""
        launches = [swaps("10x10x10", 1, packed=99.0), swaps("10x10x10", 1, packed=10.0)]
        launches[0][0]["status"] = "FAIL"
        made = self.facts(halo=("halo", HALO, launches))
        (_, value), = made.measured("halo", "latency_us")
        assert value == intervals.Measured(10, 9, 11, 1)

    def test_above(self):
        assert intervals.is_above(intervals.Measured(60, 58, 62, 1), 50)
        assert not intervals.is_above(intervals.Measured(60, 54, 62, 1), 50)
        assert intervals.is_above(intervals.Measured(60, 51, 62, 7), 50)


# ---- overlap -------------------------------------------------------------------------------------

def overlaps(half_width, **collectives):
    """Rows of the time-driven overlap_*."""
    return [of_row("overlap_pct", value, half_width, ("overlap_lo_pct", "overlap_hi_pct"),
                   collective=name, model="time", elements=1024)
            for name, value in collectives.items()]


def sweep(**by_size):
    return [of_row("overlap_pct", value, 1, ("overlap_lo_pct", "overlap_hi_pct"),
                   collective="ibcast", model="data", elements=int(size[1:]) // 8,
                   size_bytes=int(size[1:])) for size, value in by_size.items()]


class Overlap(FindingsCase):
    def test_hidden_work(self):
        launch = overlaps(0.5, iallreduce=95.0, ibcast=60, igather=3, iscan=30)
        said = said_of(findings.hidden_work, self.facts(overlap=("overlap_iallreduce", OVERLAP, [launch])))
        assert said == [
            "In 2 of 4 collectives at the size that takes about a millisecond, at least 50 % of their "
            "time can be used for work: iallreduce 95.0 % (94.5 to 95.5) and ibcast 60.0 % (59.5 to "
            "60.5). One launch.",
            "In 1 of 4 collectives at the size that takes about a millisecond, starting them early "
            "gains less than 10 % of their time: igather 3.00 % (2.50 to 3.50). One launch."]

    def test_hidden_work_of_launches(self):
        launches = [overlaps(30, iallreduce=60 + run) for run in range(6)]
        said = said_of(findings.hidden_work, self.facts(overlap=("overlap_iallreduce", OVERLAP, launches)))
        assert len(said) == 1
        assert "iallreduce 62.5 % (60.0 to 65.0)." in said[0]
        assert "One launch" not in said[0]

    def test_overlap_that_can_not_be_told(self):
        launch = overlaps(40, iallreduce=40, ibcast=30)
        found = findings.hidden_work(self.facts(overlap=("overlap_iallreduce", OVERLAP, [launch])))
        assert [finding.text[:16] for finding in found] == ["It is not clear "]
        assert found[0].text == ("It is not clear whether work fits under iallreduce and ibcast, "
                                 "because the intervals are up to 80.0 points wide.")

    @each("values, said", [
        ({"s8": 80, "s1024": 20, "s65536": 70, "s1048576": 90},
         "At least half of their time can be used for work: ibcast from 64KiB on. One launch."),
        ({"s8": 80, "s1024": 20}, None),
        ({"s8": 80, "s1024": 50},
         "It is not clear from which size on half of their time can be used for work: ibcast, because "
         "at the largest size the launches don't tell. One launch."),
        ({"s8": 10, "s1024": 20},
         "Less than half of their time can be used for work at any size that was measured: ibcast. One "
         "launch.")])
    def test_sizes_that_hide(self, values, said):
        found = said_of(findings.sizes_that_hide,
                        self.facts(sweep=("overlap_ibcast", OVERLAP, [sweep(**values)])))
        assert found == ([said] if said else [])


# ---- messages ------------------------------------------------------------------------------------

def transfers(direction, **by_size):
    return [of_row("overhead", cost, 0.01, ("overhead_lo_us", "overhead_hi_us"), pair=0,
                   direction=direction, msgsize=int(size[1:]),
                   **{"avail(%)": free, "avail_lo_pct": free - 1, "avail_hi_pct": free + 1})
            for size, (cost, free) in by_size.items()]


def single(pattern, sync, half_width=0.05, **by_doubles):
    return [of_row("latency_us", value, half_width, ("latency_lo_us", "latency_hi_us"),
                   arrangement="single", pattern=pattern, sync=sync, count=1, blksize=1, stride=1,
                   ndata=int(count[1:])) for count, value in by_doubles.items()]


class Messages(FindingsCase):
    def test_message_cost(self):
        rows = (transfers("send", s0=(0.25, 10), s65536=(3, 95), s1048576=(4, 99)) +
                transfers("recv", s0=(0.5, 10), s1048576=(70, 20)))
        said = said_of(findings.message_cost, self.facts(mpi=("mpi_overhead", MPI_OVERHEAD, [rows])))
        assert said == [
            "Of the processor's time, sending a message takes 0.250 µs (0.240 to 0.260) for 0 bytes and "
            "4.00 µs (3.99 to 4.01) for 1MiB; from 64KiB on more than 90 % of the transfer's time is free for "
            "other work. One launch.",
            "Of the processor's time, receiving a message takes 0.500 µs (0.490 to 0.510) for 0 bytes "
            "and 70.0 µs (70.0 to 70.0) for 1MiB; of the largest transfer's time 20.0 % (19.0 to 21.0) is "
            "free for other work. One launch."]

    def test_put_against_send(self):
        rows = (single("put", "all", n1=3.0, n1024=9) + single("put", "images", n1=2.0, n1024=8) +
                single("MPI Send", "none", n1=1.0, n1024=8.05))
        said = said_of(findings.put_against_send, self.facts(pp=("pingpong", PINGPONG, [rows])))
        assert said == ["A put takes, with what its partner needs to know of it, of 8 bytes 2.00 times "
                        "as long as MPI_Send (2.00 µs (1.95 to 2.05) and 1.00 µs (0.950 to 1.05)) and "
                        "of 8KiB not clearly more or less than MPI_Send (8.00 µs (7.95 to 8.05) "
                        "and 8.05 µs (8.00 to 8.10)). One launch."]
        assert not findings.put_against_send(self.facts(pp=("pingpong", PINGPONG, [rows[:4]])))

    def test_message_rate(self):
        rows = [of_row("rate_per_s", rate, 1e4, ("rate_lo_per_s", "rate_hi_per_s"), pattern=pattern,
                       nbytes=size, job_size=2, npeers=peers, nmsgs=128, cache_size=1 << 20, ppn=1)
                for pattern, rate, size, peers in (
                    ("pre-post", 3e6, 8, 1), ("all-start", 2e6, 8, 1), ("pair-based", 2.99e6, 8, 1),
                    ("pre-post", 9e6, 4096, 1), ("pre-post", 5e6, 8, 6))]
        said = said_of(findings.message_rate, self.facts(rate=("msgrate", RATE, [rows])))
        assert said == ["After a flush of 1MiB of cache a process exchanges 3.00 (2.99 to 3.01) million "
                        "messages of 8 bytes a second at best (pre-post; pair-based may be as quick), "
                        "1.50 times as many as at worst (all-start). One launch."]
        for row in rows:
            row["cache_size"] = 0
        said = said_of(findings.message_rate, self.facts(rate=("msgrate", RATE, [rows])))
        assert said[0].startswith("With warm caches a process exchanges")


# ---- synchronisation, halo swaps, the monitor ----------------------------------------------------

NOISE = ("scope host ranks source about operation grain_us stops_per_s stop_us stopped_pct "
         "period_ms slowdown_pct predicted_pct status").split()


def noise(scope, **cells):
    return dict(dict.fromkeys(NOISE, "NA"), scope=scope, status="ok", **cells)


LINKS = ("scope a b nbytes time_us time_lo_us time_hi_us out_mbs in_mbs alone_pct verdict group "
         "status").split()


def link(scope, verdict, nbytes=8, a="NA", b="NA"):
    return dict(dict.fromkeys(LINKS, "NA"), scope=scope, a=a, b=b, nbytes=nbytes, time_us=2,
                verdict=verdict, status="ok")


def swaps(box, half_width, **methods):
    return [of_row("latency_us", value, half_width, ("latency_lo_us", "latency_hi_us"),
                   method=method, sync="none", dims="2x1x1", local=box, ndata=600)
            for method, value in methods.items()]


INSIDE = ("kind comm operation ranks members rank size_bytes in_calls_s waited_s waited_lo_s "
          "waited_hi_s last_rank").split()


def inside(kind, operation, in_calls_s, comm="NA", **cells):
    return {"kind": kind, "comm": comm, "operation": operation, "in_calls_s": in_calls_s, **cells}


class SynchronisationHaloSwapsTheMonitor(FindingsCase):
    def test_barrier_cost(self):
        rows = [of_row("sync_us", value, 0.1, ("sync_lo_us", "sync_hi_us"), sync=sync, ranks=4)
                for sync, value in (("MPI barrier", 1.5), ("ring", 1))]
        assert said_of(findings.barrier_cost, self.facts(sync=("syncbench", SYNC, [rows]))) == [
            "A barrier of 4 processes costs 1.50 µs (1.40 to 1.60). One launch."]
        assert not findings.barrier_cost(self.facts(sync=("syncbench", SYNC, [rows[1:]])))

    def test_noise(self):
        """Two clocks of the same ranks stay two."""
        rows = [noise("job", stopped_pct=1.5),
                noise("source", ranks="0-1", source="periodic", about="4ms:16us", stops_per_s=250,
                      stop_us=17, stopped_pct=0.4, period_ms=4),
                noise("source", ranks="0-1", source="periodic", about="10ms:16us", stops_per_s=100,
                      stop_us=20, stopped_pct=0.2, period_ms=10),
                noise("source", ranks="1", source="irregular", about="66us", stops_per_s=30,
                      stop_us=100, stopped_pct=0.3),
                noise("collective", operation="barrier", grain_us=0, predicted_pct=2),
                noise("collective", operation="allreduce", grain_us=100, predicted_pct=3,
                      slowdown_pct=4)]
        results = self.facts(noise=("noise", NOISE, [rows]))
        assert said_of(findings.what_stops_ranks, results) == [
            "Processes are interrupted for 1.50 % of the time: ranks 0-1 every 4.00 ms for 17.0 µs, rank 1 "
            "30.0 times a second more often than others for 100 µs and ranks 0-1 every 10.0 ms for "
            "20.0 µs. One launch."]
        assert said_of(findings.slowed_down, results) == [
            "These interruptions should slow down 100 µs of work and an allreduce by 3.00 %; measured: 4.00 %. One "
            "launch."]
        quiet = self.facts(noise=("noise", NOISE, [rows[:1]]))
        assert said_of(findings.what_stops_ranks, quiet) == [
            "Processes are interrupted for 1.50 % of the time; no source stands out. One launch."]
        assert not findings.slowed_down(quiet)

    @each("with_source, said", [
        (3, ": rank 1 30.0 times a second more often than others for 100 µs."),
        (2, "; no source stands out in half of the launches."), (0, "; no source stands out.")])
    def test_sources_of_some_launches(self, with_source, said):
        """What fewer than half of six launches name says little of the next one."""
        job = noise("job", stopped_pct=1.5)
        source = noise("source", ranks="1", source="irregular", about="66us", stops_per_s=30, stop_us=100,
                       stopped_pct=0.3)
        results = self.facts(noise=("noise", NOISE, [[job] + [source] * (launch < with_source)
                                                     for launch in range(6)]))
        text, = said_of(findings.what_stops_ranks, results)
        assert text.endswith(f"of the time{said}")

    def test_sources_that_launches_write_in_another_way(self):
        """Each launch misses some ranks, finds a length on either side of a power of two, and a period to
        its own digits; one has it in two rows. Other ranks' clock, and one of another period, are others."""
        launches = []
        for launch in range(6):
            rows = [noise("job", stopped_pct=1.5), noise("host", ranks="0-63", stopped_pct=1.5)]
            for period, length, ranks in ((4 + 0.001 * launch, 15.9 + 0.2 * launch,
                                           f"0-{20 + launch},{30 + launch}-63"),
                                          (9, 16, "0-1"), (4, 16, "25-26")):
                if period == 9 and launch > 1 or ranks == "25-26" and launch != 5:
                    continue
                rows.append(noise("source", ranks=ranks, source="periodic", stops_per_s=250,
                                  about=f"{period:.2g}ms:{8.19 if length < 16.4 else 16.4}us",
                                  stop_us=length, stopped_pct=0.4, period_ms=period))
            launches.append(rows)
        text, = said_of(findings.what_stops_ranks, self.facts(noise=("noise", NOISE, launches)))
        assert re.search(r"of the time: ranks 0-2\d,3\d-63 every 4\.00 ms for 16\.\d µs; these explain "
                         r"0\.3\d+ % of the time, the rest has no known source\.$", text), text

    @each("rows, said", [
        ([link("whole", "even"), link("node", "even", a="n1")],
         ["No node and no link is out of line. One launch."]),
        ([link("whole", "out of line"), link("node", "slow", a="n1"), link("node", "even", a="n2"),
          link("pair", "slow out", 1048576, "n2", "n3")],
         ["With 8 bytes n1 is slow and with 1MiB the way from n2 to n3 is slow. One launch."]),
        ([link("whole", "two groups"), link("node", "even", a="n1")],
         ["With 8 bytes links between two groups of nodes take another time than those within them. One "
          "launch."]),
        # Suspects that weren't timed again have no verdict, nor has the whole.
        ([link("whole", "NA"), link("node", "NA", a="n1"), link("node", "even", a="n2"),
          link("whole", "even", 1048576)],
         ["It is not clear which node or link is out of line, because not all that was suspected was "
          "timed again. One launch."]),
        # Too few nodes for a verdict.
        ([link("whole", "NA"), link("node", "NA", a="n1")], [])])
    def test_slow_links(self, rows, said):
        assert said_of(findings.slow_links, self.facts(links=("linkmap", LINKS, [rows]))) == said

    def test_links_that_some_launches_name(self):
        """A pair has a row in the launches that name it, and so few say nothing of the next one."""
        def launches(named, count):
            return [[link("whole", "out of line" if i < named else "even"), link("node", "even", a="n1")] +
                    ([link("pair", "slow", a="n2", b="n3")] if i < named else []) for i in range(count)]
        assert said_of(findings.slow_links, self.facts(links=("linkmap", LINKS, launches(1, 10)))) == [
            "It is not clear which node or link is out of line, because what launches name is another "
            "node or link each time."]
        said, = said_of(findings.slow_links, self.facts(links=("linkmap", LINKS, launches(5, 10))))
        assert said.startswith("With 8 bytes the link of n2 and n3 is slow.")

    def test_cheapest_halo(self):
        rows = (swaps("10x10x10", 0.1, persistent=4.0, packed=6.0) +
                swaps("50x50x50", 0.1, persistent=40.0, packed=60.0) +
                swaps("99x99x99", 9, persistent=80.0, packed=85.0))
        found = findings.cheapest_halo(self.facts(halo=("halo", HALO, [rows])))
        assert [finding.text for finding in found] == [
            "A halo is swapped quickest by persistent for 10x10x10 (4.00 µs (3.90 to 4.10)) and "
            "50x50x50 (40.0 µs (39.9 to 40.1)).",
            "It is not clear which is quicker in a halo swap: persistent or packed (box 99x99x99), "
            "because their intervals are as wide as what they differ by."]
        assert [finding.text.startswith("It is not clear ") for finding in found] == [False, True]

    def test_monitor_cost(self):
        """A call, not a row, which may be of several."""
        rows = [of_row("added_ns", value, 1, ("added_lo_ns", "added_hi_ns"), call=call, mode=mode)
                for call, mode, value in (("MPI_Send", "on", 40), ("MPI_Isend MPI_Wait", "on", 70),
                                          ("8 MPI_Irecv MPI_Waitall", "on", 99),
                                          ("MPI_Send", "off", 99))]
        assert said_of(findings.monitor_cost, self.facts(m=("monitor_overhead", MONITOR, [rows]))) == [
            "Monitoring adds at most 40.0 ns (39.0 to 41.0) to a call (MPI_Send). One launch."]

    def test_time_inside_mpi(self):
        waits = {"comm": "grid", "waited_s": 0.25, "waited_lo_s": 0.24, "waited_hi_s": 0.26,
                 "last_rank": 1}
        launch = [inside("pttopt", "MPI_Irecv", 0.5, "grid"), inside("pttopt", "MPI_Isend", 0.1, "grid"),
                  inside("coll", "MPI_Allreduce", 0.3, **waits), inside("calls", "other MPI", 0.9),
                  inside("calls", "MPI_Test", 0.05), inside("sizes", "MPI_Irecv", 0.5, "grid", size_bytes=8),
                  inside("total", "MPI", 1.85), inside("total", "MPI", 1.5, rank=0)]
        assert said_of(findings.time_inside_mpi, self.facts(m=("mpirtmon", INSIDE, [launch]))) == [
            "The program's processes together were inside MPI for 1.85 s: 0.900 s in other MPI, 0.500 s "
            "in MPI_Irecv on grid, 0.300 s in MPI_Allreduce on grid and 2 more. One launch.",
            "Processes waited for late ones most in MPI_Allreduce on grid, 0.250 s (0.240 to 0.260) "
            "together; rank 1 came last most often. One launch."]

    def test_time_inside_mpi_of_reports_without_it(self):
        launch = [dict(zip(REPORT, row)) for row in REPORT_ROWS]
        assert not said_of(findings.time_inside_mpi, self.facts(m=("mpirtmon", REPORT, [launch])))

    def test_monitored_time(self):
        launch = [dict(zip(REPORT, row)) for row in REPORT_ROWS]
        assert said_of(findings.monitored_time, self.facts(m=("mpirtmon", REPORT, [launch]))) == [
            "The program spent most time, from start to completion and over all processes, of its "
            "messages in MPI_Irecv on grid, 0.021 s and of its collectives in MPI_Allreduce on grid, "
            "0.0011 s. One launch."]
        others = [row for row in launch if row["kind"] in ("comm", "other")]
        assert not said_of(findings.monitored_time, self.facts(m=("mpirtmon", REPORT, [others])))


# ---- what matters for all ------------------------------------------------------------------------

class WhatMattersForAll(FindingsCase):
    def test_wrong_data_comes_first(self):
        rows = swaps("10x10x10", 0.1, persistent=4.0, packed=6.0)
        rows[1]["status"] = "FAIL"
        made = self.facts(halo=("halo", HALO, [rows]))
        found = [finding for rule in findings.RULES for finding in rule(made)]
        assert found[0].text.startswith("Wrong data came in 1 row:")
        assert not findings.cheapest_halo(made)
        rows[1]["status"] = "ok"
        assert not findings.wrong_data(self.facts(halo=("halo", HALO, [rows])))

    def test_lost_time(self):
        rows = swaps("10x10x10", 0.1, persistent=4.0, packed=6.0)
        for row, lost in zip(rows, (9.5, 23.0)):
            row["lost_pct"] = lost
        columns = [*HALO, "lost_pct"]
        assert said_of(findings.lost_time, self.facts(halo=("halo", columns, [rows]))) == [
            "In 1 row the system took more than 10 % of the time from the processes, most in halo "
            "(method packed, dims 2x1x1, local 10x10x10, ndata 600), 23.0 %: measure these again on a "
            "quieter machine. One launch."]
        # One stop in a short row of one launch of three says nothing.
        others = [[dict(row, lost_pct=1) for row in rows] for _ in range(2)]
        assert not findings.lost_time(self.facts(halo=("halo", columns, [rows, *others])))
        rows[1]["lost_pct"] = 9.9
        assert not findings.lost_time(self.facts(halo=("halo", columns, [rows])))

    def test_nothing_of_values_that_do_not_exist(self):
        rows = [{"method": "put", "local": "10x10x10", "dims": "2x1x1", "status": "budget"},
                {"method": "get", "local": "10x10x10", "dims": "2x1x1", "status": "budget"}]
        made = self.facts(halo=("halo", HALO, [rows]))
        assert not [finding for rule in findings.RULES for finding in rule(made)]

    def test_every_number_comes_with_an_interval(self):
        """In sentences of a launch that has intervals."""
        made = self.facts(overlap=("overlap_iallreduce", OVERLAP, [overlaps(0.5, iallreduce=95.0)]),
                          halo=("halo", HALO, [swaps("10x10x10", 0.1, persistent=4.0, packed=6.0)]))
        for rule in (findings.hidden_work, findings.cheapest_halo):
            for sentence in said_of(rule, made):
                assert re.search(r" \([0-9.]+ to [0-9.]+\)", sentence)
