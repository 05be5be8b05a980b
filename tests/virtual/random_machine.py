# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose operations take times drawn at random, and results of launches on them: files as the programs write
them, without running a program, so that hundreds of machines take a minute.

Launches differ from the truth by the machine's spread, and a launch is late now and then.
"""

import functools
import os
import random

SIZES = (8, 1 << 10, 1 << 16, 1 << 20)
BOXES = {"10x10x10": 4800, "50x50x50": 120000}
METHODS = ("isend/irecv types", "isend/irecv packed", "put", "shared window")
PATTERNS = ("single direction", "pair-based", "pre-post", "all-start")
COLLECTIVES = ("iallreduce", "ialltoall", "ibcast", "isend", "irecv", "sendrecv", "put", "partitioned", "halo")
LATE = 0.02  # of values, by half
SLOWER = 3   # times, in a slow launch


class Machine:
    """`truths` has what is true of each row, by column: of its kind and its keys. Where ways are alike, each of several
    takes as long. In slow launches everything takes longer: with slow="alike", which every second launch is, by the same
    factor; with slow="rows", which fewer than half are as a rule, by a factor of each row, and the truth is that of the
    others."""

    def __init__(self, seed, launches=6, are_alike=False, slow=""):
        self.chance = random.Random(seed)
        share = self.chance.uniform(0, 0.5) if slow == "rows" else 0
        self.slow_runs = (set(range(1, launches + 1, 2)) if slow == "alike" else
                          {run for run in range(1, launches + 1) if self.chance.random() < share} if share else set())
        self.slow, self.slowness = slow, (1, 1)
        self.launches, self.are_alike = launches, are_alike
        self.spread = 10 ** self.chance.uniform(-3, -1)
        self.files, self.keys, self.truths, self.has_collective = {}, {}, {}, seed % 2 == 0
        for part in (self.pingpong, self.mpi_overhead, self.msgrate, self.others, self.halo, self.noise, self.linkmap):
            part()
        for collective in COLLECTIVES:
            self.overlap(collective)

    def write(self, folder):
        """All results, as a suite leaves them."""
        for (name, benchmark), rows in self.files.items():
            columns = list(dict.fromkeys(column for row in rows for column in row))
            roles = " ".join(f"{column}={'key' if column in self.keys[name] else 'info' if column == 'status' else 'less'}"
                             for column in columns)
            with open(os.path.join(folder, name + ".tsv"), "w", encoding="ascii") as stream:
                stream.write(f"# benchmark: {benchmark}\n# ranks: 2\n# columns: {roles}\n" + "\t".join(columns) + "\n")
                stream.writelines("\t".join(str(row.get(column, "NA")) for column in columns) + "\n" for row in rows)

    def truth_of(self, row):
        """By column what is true of a tables.Row."""
        return self.truths[key_of(row.identity.rpartition("-")[0], row.keys)]

    # ---- what is drawn -------------------------------------------------------------------------------

    def between(self, low, high):
        """A number that is as likely in each decade."""
        return low * (high / low) ** self.chance.random()

    def factor(self, low, high):
        """How many times as long one of several ways takes."""
        return 1 if self.are_alike else self.between(low, high)

    def near(self, value, second=False):
        """Returns the value that a launch finds for a time, the first or the second one of a row."""
        late = 1.5 if self.chance.random() < LATE else 1
        return self.slowness[second] * value * late * 2.718281828 ** (self.spread * self.chance.gauss(0, 1))

    def add(self, name, benchmark, keys, truth, find, kind=None, runs=None):
        """A row, of all launches or some; find() is what a launch finds, by column."""
        self.truths[key_of(kind or benchmark, keys)] = truth
        slower = [self.chance.uniform(1, SLOWER) for _ in range(2)] if self.slow == "rows" else [SLOWER, SLOWER]
        for run in runs or range(1, self.launches + 1):
            self.slowness = slower if run in self.slow_runs else (1, 1)
            self.keys.setdefault(name, {"run"}).update(keys)
            self.files.setdefault((name, benchmark), []).append({"run": run, **keys, **find(), "status": "ok"})

    def time(self, benchmark, keys, column, value):
        """A row that has a time."""
        self.add(benchmark, benchmark, keys, {column: value}, lambda: {column: self.near(value)})

    def pingpong(self):
        latency_us, byte_us = self.between(0.2, 20), self.between(1e-5, 1e-3)
        puts = {sync: (self.factor(0.5, 5), self.factor(0.5, 2)) for sync in ("all", "images")}
        for size in SIZES:
            for pattern, sync, first, share in [("MPI Send", "none", 1, 1)] + [("put", sync, *of)
                                                                              for sync, of in puts.items()]:
                time_us = first * latency_us + share * byte_us * size
                keys = {"arrangement": "single", "pattern": pattern, "sync": sync, "count": 1,
                        "blksize": size // 8, "stride": 1, "ndata": size // 8}

                def found(time_us=time_us, size=size):
                    now_us = self.near(time_us)
                    return {"latency_us": now_us, "bwidth_mbs": size / now_us * 1e6 / (1 << 20)}
                self.add("pingpong", "pingpong", keys, {"latency_us": time_us,
                                                        "bwidth_mbs": size / time_us * 1e6 / (1 << 20)}, found)

    def mpi_overhead(self):
        for direction in ("send", "recv"):
            overhead_us, share = self.between(0.01, 1), self.chance.choice((0, 0.02, 0.3, 1))
            for size in SIZES:
                transfer_us = 2 * overhead_us + size * 1e-4
                own_us = overhead_us + share * (transfer_us - overhead_us)

                def found(transfer_us=transfer_us, own_us=own_us):
                    # The difference of two loops.
                    now_us = own_us + self.near(transfer_us) - self.near(transfer_us)
                    return {"overhead": now_us, "avail(%)": 100 * (1 - now_us / transfer_us)}
                self.add("mpi_overhead", "mpi_overhead", {"direction": direction, "pair": 0, "msgsize": size},
                         {"overhead": own_us, "avail(%)": 100 * (1 - own_us / transfer_us)}, found)

    def msgrate(self):
        usual = self.between(1e5, 1e7)
        for pattern in PATTERNS:
            rate = self.factor(0.1, 10) * usual
            self.add("msgrate", "msgrate", {"pattern": pattern, "job_size": 2, "npeers": 1, "nmsgs": 128, "nbytes": 8,
                                            "cache_size": 1 << 24, "ppn": 1},
                     {"rate_per_s": rate}, lambda rate=rate: {"rate_per_s": rate / self.near(1)})

    def others(self):
        self.time("syncbench", {"sync": "MPI barrier", "ranks": 2}, "sync_us", self.between(0.3, 50))
        # Not in older results.
        for operation, size in (("barrier", 0), ("allreduce", 8), ("allreduce", 65536), ("bcast", 8)):
            if self.has_collective:
                self.time("collective", {"operation": operation, "type": "double", "op": "sum", "in_place": "no",
                                         "root": 0, "size_bytes": size}, "time_us", self.between(0.3, 50))
        for call in ("MPI_Send", "MPI_Isend MPI_Wait"):
            self.time("monitor_overhead", {"call": call, "mode": "on"}, "added_ns", self.between(10, 200))

    def halo(self):
        for box, size in BOXES.items():
            for method in METHODS:
                self.time("halo", {"method": method, "sync": "none", "dims": "2x1x1", "local": box,
                                   "ndata": size // 8}, "latency_us", self.factor(0.5, 2) * (5 + size * 1e-4))

    def noise(self):
        """A source of interruptions that nearly every launch finds, and one that passes."""
        self.time("noise", {"scope": "job"}, "stopped_pct", self.between(0.01, 10))
        every = range(1, self.launches + 1)
        for about, period_ms, runs in (("usual", 4, [run for run in every if self.chance.random() < 0.9]),
                                       ("passing", 7, [self.chance.choice(every)])):
            stop_us = self.between(1, 1000)
            self.add("noise", "noise", {"scope": "source", "ranks": "0-1", "source": "periodic", "about": about},
                     {"stop_us": stop_us, "is_usual": about == "usual"},
                     lambda stop_us=stop_us, period_ms=period_ms: {
                         "stop_us": self.near(stop_us), "stops_per_s": 1e3 / period_ms, "stopped_pct": 0.5,
                         "period_ms": self.chance.gauss(period_ms, 0.001)}, runs=runs)

    def linkmap(self):
        """Nodes, of which one may be slow, and another one is called so by a launch."""
        self.has_slow_node = self.chance.random() < 0.5
        slow = self.has_slow_node
        verdicts = {"whole": "out of line" if slow else "even", "n1": "slow" if slow else "even", "n2": "even"}
        for node, usual in verdicts.items():
            found = self.launches * [usual]
            if node != "whole":
                found[self.chance.randrange(self.launches)] = "even" if usual == "slow" else "slow"
            self.add("linkmap", "linkmap", {"scope": "whole" if node == "whole" else "node", "nbytes": 8,
                                            **({} if node == "whole" else {"a": node})},
                     {"verdict": usual}, lambda found=iter(found): {"time_us": 1, "verdict": next(found)})

    def overlap(self, collective):
        """With calls of MPI_Test and without, nonblocking and persistent."""
        ways = {"halo": [{"method": method, "local": box} for method in METHODS[:2] for box in BOXES],
                "partitioned": [{"partitions": 8}]}.get(collective, [{}])
        for way in ways:
            fraction, blocking = self.chance.choice((0, 0.05, 0.5, 1)), self.chance.choice((0.6, 1, 1, 1.5))
            post_us, start_us, byte_us = self.between(0.1, 1), self.between(0.5, 10), self.between(1e-5, 1e-3)
            helps, cheaper = self.factor(0.3, 1.2), self.factor(0.5, 1.1)
            for size in [BOXES[way["local"]]] if "local" in way else SIZES:
                duration_us = start_us + byte_us * size
                blocking_us = post_us + (1 - fraction if self.are_alike else blocking) * duration_us
                for form, calls in (("nonblocking", 0), ("nonblocking", 4), ("persistent", 0)):
                    share = (helps if calls else 1) * (1 - fraction)
                    exposed_us = post_us * (cheaper if form == "persistent" else 1) + share * duration_us
                    overlap_pct = 100 * max(0, (1 - share) * duration_us - post_us) / (duration_us + post_us)
                    keys = {"collective": collective, "form": form, "test_calls": calls, **way, "size_bytes": size}
                    self.add("overlap_{}_sweep".format(collective), "overlap_" + collective, keys,
                             {"blocking_us": blocking_us, "exposed_us": exposed_us, "overlap_pct": overlap_pct,
                              "gain_pct": 100 * (1 - exposed_us / blocking_us)},
                             functools.partial(self.overlapped, blocking_us, exposed_us, overlap_pct),
                             "overlap_{}_sweep".format(collective))

    def overlapped(self, blocking_us, exposed_us, overlap_pct):
        now_us, left_us = self.near(blocking_us), self.near(exposed_us, second=True)
        return {"model": "data", "elements": 1, "blocking_us": now_us, "exposed_us": left_us,
                "gain_pct": 100 * (1 - left_us / now_us),
                "overlap_pct": min(100, max(0, overlap_pct + 100 * (self.near(1) / self.slowness[0] - 1)))}


def key_of(kind, keys):
    return kind, frozenset((name, str(cell)) for name, cell in keys.items() if cell != "NA")
