# SPDX-License-Identifier: BSD-3-Clause
"""GPUs (common/device) on a model of their driver: costs, data, the choice of a device, the message if there is
none; and programs with buffers there, beside the staged counterpart."""

import math
import os
import signal
import statistics

import collective_test
import ptx
import rules
import virtual

COSTS = {"DEVICE_LAUNCH_US": 3, "DEVICE_KERNEL_US": 40, "DEVICE_SYNC_US": 6,
         "DEVICE_COPY_US": 9, "DEVICE_COPY_PER_BYTE_NS": 0.5}
# Time of the model MPI to reach a buffer on the device, and how long a copy takes.
REACH_US, REACH_BYTE_NS = 4, 0.25


def copy_us(size):
    return 9 + 0.5e-3 * size


def reach_us(size):
    return REACH_US + REACH_BYTE_NS * 1e-3 * size


class Base(virtual.Test):
    target = "0.5 %"

    def use(self, library):
        """Programs find the model of this library; it isn't in the digest, since it names a folder."""
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH", None)
        os.environ["LD_LIBRARY_PATH"] = os.path.join(virtual.BUILD, "tests/virtual/device_" + library)


class Devices(Base):
    def call(self, *arguments, **variables):
        return virtual.run_raw("device_calls", *arguments, VIRTUAL_RANKS=2, **dict(COSTS, **variables))

    def test_calls(self):
        for library, name in (("cuda", "CUDA"), ("amdhip64", "HIP")):
            with self.subTest(library=library):
                self.use(library)
                done = self.call(DEVICE_COUNT=2)
                self.assertEqual((done.returncode, done.stdout.splitlines()), (0, [
                    "rank 0: {} 13000, Model 0, 0000:01:00.0, 0 of 2".format(name),
                    "rank 1: {} 13000, Model 1, 0000:02:00.0, 1 of 2".format(name)]), done.stderr)

    def test_choice(self):
        self.use("cuda")
        self.assertIn("Model 1, 0000:02:00.0, 1 of 3", self.call("1", DEVICE_COUNT=3).stdout)
        self.assertEqual("there is no device 3: use 0 to 2", self.call("3", DEVICE_COUNT=3).stdout.splitlines()[0])

    def test_none(self):
        self.assertIn("there is no libcuda.so.1 and no libamdhip64.so", self.call().stdout)
        self.use("cuda")
        self.assertIn("the CUDA driver reports model (100)", self.call(DEVICE_COUNT=0).stdout)


class DeviceKernels(Base):
    """The kernels' text for NVIDIA's GPUs does what the model of a GPU does in their place."""

    VALUES = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    FROM, TO, PLACES, DIFFER = 8000, 16000, 24000, 32000

    def setUp(self):
        self.kernels = ptx.kernels(virtual.run_raw("device_calls", "text").stdout)

    def run_kernel(self, name, count, *arguments, places=(), other=(), **grid):
        """Returns the memory at TO, and behind it, afterwards."""
        memory = {self.DIFFER: 0}
        for start, values in ((self.FROM, self.VALUES), (self.PLACES, places), (self.TO, other or [0] * 11)):
            memory.update({start + 8 * i: value for i, value in enumerate(values)})
        addresses = [getattr(self, word.upper()) if isinstance(word, str) else word for word in arguments]
        self.kernels["commcost_" + name].run(memory, addresses, **grid)
        return [memory[self.TO + 8 * i] for i in range(count)], memory[self.DIFFER]

    def test_move(self):
        for groups, threads in ((1, 1), (3, 2), (2, 256)):
            moved, _ = self.run_kernel("move", 11, "to", "from", 10, groups=groups, threads=threads)
            self.assertEqual(moved, self.VALUES + [0])

    def test_compare(self):
        for differs, count, found in ((None, 10, 0), (9, 10, 1), (9, 9, 0), (0, 10, 1)):
            other = [value + (i == differs) for i, value in enumerate(self.VALUES)]
            _, differ = self.run_kernel("compare", 0, "from", "to", count, "differ", other=other, groups=2, threads=3)
            self.assertEqual(differ, found)

    def test_places(self):
        places = [7, 0, 3, 9]
        gathered, _ = self.run_kernel("gather", 5, "to", "from", "places", 4, places=places, groups=2, threads=1)
        self.assertEqual(gathered, [self.VALUES[i] for i in places] + [0])
        scattered, _ = self.run_kernel("scatter", 10, "to", "from", "places", 4, places=places, groups=1, threads=3)
        self.assertEqual([scattered[i] for i in places], self.VALUES[:4])
        self.assertEqual(sum(map(bool, scattered)), 4)

    def test_compute(self):
        """Each step takes the same statements, and a result that the driver can't do without is stored."""
        counts = [self.kernels["commcost_compute"].run({}, [self.TO, steps]) for steps in (0, 1, 2, 100)]
        self.assertEqual(counts[3] - counts[0], 100 * (counts[1] - counts[0]))
        memory = {}
        self.kernels["commcost_compute"].run(memory, [self.TO, 3])
        self.assertGreater(memory[self.TO], 1.0)

    def test_names(self):
        self.assertEqual(sorted(self.kernels), ["commcost_" + name for name in (
            "compare", "compute", "gather", "move", "scatter")])


class DeviceLinkmap(Base):
    def test_messages(self):
        """The library reaches the buffer at one end while the message is on its way, and again for the empty answer.
        memcpy in host memory is no reference."""
        self.use("cuda")
        found = {}
        for memory in ("host", "device", "host:device", "pinned"):
            found[memory] = virtual.run(
                "linkmap", "--sizes=64K", "--visits=2", "--check", "--memory=" + memory, MODEL_LATENCY_US=20,
                MODEL_DATA=1, MODEL_PER_BYTE_NS=1, MODEL_DEVICE_US=REACH_US, MODEL_DEVICE_PER_BYTE_NS=REACH_BYTE_NS,
                VIRTUAL_MEMCPY_BYTE_NS=0.125)[0].rows
        for memory, rows in found.items():
            more_us = reach_us(1 << 16) + reach_us(0) if "device" in memory else 0
            for row, host in zip(rows, found["host"]):
                self.assertEqual((row["status"], row.get("memory", "host")), ("ok", memory))
                self.near(1 / row["out_mbs"] * 62500, 1 / host["out_mbs"] * 62500 + more_us, 0.2, memory)
                self.assertEqual(math.isnan(row["expected_mbs"]), memory != "host")

    def test_wrong_data(self):
        self.use("cuda")
        rows = virtual.run("linkmap", "--sizes=64", "--visits=2", "--check", "--memory=device", expect=1, MODEL_DATA=1,
                           MODEL_DEVICE_STALE=1)[0].rows
        self.assertEqual({row["status"] for row in rows}, {"FAIL"})


class DevicePingPong(Base):
    """Messages, puts and gets between buffers on a model of a GPU, direct and staged, under an MPI library whose time
    to reach them is known."""

    MODEL = rules.Model(post=0.2, wait=0.3, latency=20, byte_ns=10, sync=0.5, barrier=2)
    OPTIONS = ("--samples=6", "--visits=2", "--max-ndata=64", "--patterns=MPI Send,put,get", "--coarray-sync=all")

    def run_with(self, *options, **variables):
        costs = dict(COSTS, MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, MODEL_DEVICE_PER_BYTE_NS=REACH_BYTE_NS)
        costs.update(variables)
        (launch,) = virtual.run("pingpong", *self.OPTIONS, *options, **dict(self.MODEL.variables(), **costs))
        return launch.rows

    def test_direct_and_staged(self):
        """The library reaches the buffer at one end while the message is on its way."""
        self.use("cuda")
        for check in ((), ("--check",)):
            for row in self.run_with("--memory=device", *check):
                size = 8 * int(row["ndata"])
                message = row["pattern"] == "MPI Send"
                host_us = self.MODEL.half_round(size) if message else self.MODEL.sync_all([size])
                staged_us = host_us + 2 * copy_us(size)
                if row["pattern"] == "get" and not check:  # is completed before the copy
                    staged_us += self.MODEL.sync + self.MODEL.wait
                what = "{} {} {}".format(row["pattern"], size, check)
                if not check or not message:  # alone, a message is sent before it is received
                    self.near(row["latency_us"], host_us + reach_us(size), 0.005 * host_us, what)
                    self.near(row["staged_us"], staged_us, 0.005 * staged_us, what + " staged")
                self.assertEqual(row["direct_verdict"], "pays")
                self.assertEqual(row["check"], "ok" if check else "off")

    def test_memories(self):
        """Only memory of the device takes the library longer; staged, each end copies if its buffer isn't in host
        memory."""
        self.use("amdhip64")
        for memory, copies in (("managed", 2), ("pinned", 0), ("device:host", 1), ("host:managed", 1)):
            with self.subTest(memory=memory):
                for row in self.run_with("--memory=" + memory, "--patterns=put"):
                    size = 8 * int(row["ndata"])
                    host_us = self.MODEL.sync_all([size])
                    direct_us = host_us + (reach_us(size) / 2 if "device" in memory else 0)
                    self.near(row["latency_us"], direct_us, 0.005 * host_us, memory)
                    self.near(row["staged_us"], host_us + copies * copy_us(size), 0.005 * host_us, memory)
                    self.assertEqual(row["memory"], memory)

    def test_new_buffers(self):
        """A buffer that the library sees for the first time takes it longer: at both ends of a message, one after the
        other, and at the rank that puts or gets. A window was seen when it was made. Staged, only pinned memory is seen,
        and that stays."""
        self.use("cuda")
        for memory in ("device", "host"):
            for buffers, register_us in (("new", 70), ("new", 0), ("reused", 70)):
                for row in self.run_with("--memory=" + memory, "--buffers=" + buffers, MODEL_REGISTER_US=register_us):
                    size = 8 * int(row["ndata"])
                    message = row["pattern"] == "MPI Send"
                    if message and (buffers, register_us) == ("new", 0):  # alone, it is sent before it is received
                        continue
                    host_us = self.MODEL.half_round(size) if message else self.MODEL.sync_all([size])
                    direct_us = host_us + (reach_us(size) if memory == "device" else 0)
                    if buffers == "new":
                        direct_us += register_us * (2 if message else 1)
                        self.assertEqual(row["buffers"], "new")
                    what = "{} {} {} {} {}".format(memory, buffers, register_us, row["pattern"], size)
                    self.near(row["latency_us"], direct_us, 0.005 * host_us, what)
                    if memory == "device" and row["pattern"] == "put":
                        staged_us = host_us + 2 * copy_us(size)
                        self.near(row["staged_us"], staged_us, 0.005 * staged_us, what)

    def test_wrong_data(self):
        """Data that arrives wrong, and data that arrives too late, in buffers of both kinds."""
        self.use("cuda")
        for fault in ("MODEL_CORRUPT", "MODEL_DEVICE_STALE"):
            for buffers in ("reused", "new"):
                with self.subTest(fault, buffers=buffers):
                    rows = virtual.run("pingpong", *self.OPTIONS, "--memory=device", "--check", "--buffers=" + buffers,
                                       expect=1, MODEL_DATA=1, **dict(COSTS, **{fault: 1}))[0].rows
                    self.assertEqual({row["status"] for row in rows}, {"FAIL"})

    def test_refused(self):
        for options, error in ((("--memory=gpu",), "--memory=gpu: no such memory: use host, pinned, device or managed"),
                               (("--memory=device:",), "--memory=device:: no such memory"),
                               (("--device=1",), "--device: all buffers lie in host memory: use --memory=device"),
                               (("--memory=device",), "no driver of a GPU"),
                               (("--memory=device", "--device=2"), "there is no device 2: use 0 to 1"),
                               (("--memory=device", "--align=64"), "the driver places buffers on a device"),
                               (("--memory=device", "--pages=huge"), "the driver places buffers on a device"),
                               (("--memory=device", "--max-ndata=2M"), "MiB on the GPU, and 9.5 are free: use a smaller")):
            with self.subTest(options=options):
                if len(options) > 1:
                    self.use("cuda")
                done = virtual.run_raw("pingpong", *options, DEVICE_COUNT=2, DEVICE_BYTES=1e7)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(error, done.stderr)


class DeviceRates(Base):
    """Messages of msgrate between buffers on a model of a GPU, direct and staged, and in memory that the library sees for
    the first time."""

    MODEL = rules.Model(post=0.2, wait=0.3, latency=20, byte_ns=10, barrier=2)
    COUNT, SIZE = 8, 64
    REGISTER_US = 70
    OPTIONS = ("-p", 1, "-m", COUNT, "-s", SIZE, "-c", 0, "--samples=6", "--visits=2")

    def rows(self, *options, expect=0, **variables):
        costs = dict(COSTS, MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, MODEL_DEVICE_PER_BYTE_NS=REACH_BYTE_NS,
                     MODEL_REGISTER_US=self.REGISTER_US)
        costs.update(variables)
        (launch,) = virtual.run("msgrate", *self.OPTIONS, *options, expect=expect,
                                **dict(self.MODEL.variables(), **costs))
        self.assertEqual(len(launch.rows), 4)
        return launch.rows

    def iteration_us(self, pattern, sent_us=0.0, received_us=0.0, register_us=0.0):
        """Of two ranks that send to each other, or of one that sends and one that receives. A buffer is reached, which
        takes the processor, when its send is posted, and when its receive is complete."""
        model, count = self.MODEL, self.COUNT
        ways = 1 if pattern == "single direction" else 2
        first_us = count * model.post if pattern in ("pair-based", "all-start") else 0
        post_us = model.post + sent_us
        arrived_us = first_us + max(count * post_us, (count - 1) * post_us + model.alone(self.SIZE))
        ahead_us = count * model.post if pattern == "pre-post" else 0
        return arrived_us + count * (ways * model.wait + received_us) + ahead_us + 2 * register_us

    def check(self, memory, copies, sent_us, received_us, *options, register_us=0.0):
        for row in self.rows("--memory=" + memory, *options):
            pattern = row["pattern"]
            what = "{} {} {}".format(pattern, memory, options)
            truth_us = self.iteration_us(pattern, sent_us, received_us, register_us)
            self.near(row["iter_us"], truth_us, 0.005 * truth_us, what)
            staged_us = self.iteration_us(pattern) + copies * copy_us(self.COUNT * self.SIZE)
            self.near(row["staged_us"], staged_us, 0.005 * staged_us, what + " staged")
            self.near(row["direct_gain_pct"], 100 * (1 - truth_us / staged_us), 0.5, what)
            messages = self.COUNT * (1 if pattern == "single direction" else 2)
            self.near(row["rate_per_s"], messages / truth_us * 1e6, 0.005 * messages / truth_us * 1e6, what)
            self.assertEqual((row["memory"], row["status"]), (memory, "ok"))

    def test_direct_and_staged(self):
        self.use("cuda")
        on_device = reach_us(self.SIZE)
        for check in ((), ("--check",)):
            self.check("device", 2, on_device, on_device, *check)
            self.check("pinned", 0, 0, 0, *check)
            self.check("device:host", 1, on_device, 0, *check)
            self.check("host:managed", 1, 0, 0, *check)

    def test_new_buffers(self):
        self.use("amdhip64")
        on_device = reach_us(self.SIZE)
        for check in ((), ("--check",)):
            self.check("device", 2, on_device, on_device, "--buffers=new", *check, register_us=self.REGISTER_US)
        for row in self.rows("--buffers=new", "--check", "--align=page"):  # no message crosses a page boundary
            truth_us = self.iteration_us(row["pattern"], register_us=self.REGISTER_US)
            self.near(row["iter_us"], truth_us, 0.005 * truth_us, row["pattern"] + " in host memory")
            self.assertEqual((row["buffers"], row["status"]), ("new", "ok"))

    def test_wrong_data(self):
        self.use("cuda")
        for fault in ("MODEL_CORRUPT", "MODEL_DEVICE_STALE"):
            for buffers in ("reused", "new"):
                with self.subTest(fault, buffers=buffers):
                    rows = self.rows("--memory=device", "--check", "--buffers=" + buffers, expect=1, **{fault: 1})
                    self.assertEqual({row["status"] for row in rows}, {"FAIL"})

    def test_refused(self):
        """Buffers that don't fit into the memory of the GPU."""
        self.use("cuda")
        done = virtual.run_raw("msgrate", "-p", 1, "-m", 8, "--memory=device", "-s", "1M", DEVICE_BYTES=1e7)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertIn("MiB on the GPU, and 9.5 are free: use a smaller --size", done.stderr)


class DeviceOverhead(Base):
    """mpi_overhead of messages between buffers on a model of a GPU, reused and new: what the library takes to reach and
    to register its own end is overhead."""

    POST_US, WAIT_US, LATENCY_US, SIZE = 1, 2, 30, 8

    def row_of(self, *options, expect=0, **variables):
        costs = dict(COSTS, MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, MODEL_POST_US=self.POST_US,
                     MODEL_WAIT_US=self.WAIT_US, MODEL_LATENCY_US=self.LATENCY_US, MODEL_REGISTER_US=10)
        costs.update(variables)
        (launch,) = virtual.run("mpi_overhead", "--max-time=0.5", *options, expect=expect, **costs)
        (row,) = launch.rows
        return row

    def check(self, memory, direction, own_us, *options, received_us=0.0, register_us=0.0):
        options = options + (("--recv",) if direction == "recv" else ())
        row = self.row_of("--memory=" + memory, *options)
        what = "{} {} {}".format(memory, direction, options)
        truth_us = self.POST_US + self.WAIT_US + own_us + register_us
        self.near(row["overhead"], truth_us, 0.005 * truth_us, what)
        transfer_us = self.LATENCY_US + self.WAIT_US + received_us + 2 * register_us
        self.near(row["transfer_us"], transfer_us, 0.005 * transfer_us, what + " transfer")
        self.assertEqual((row["memory"], row["status"]) if memory != "host" else row["status"],
                         (memory, "ok") if memory != "host" else "ok", what)
        return row

    def test_memories(self):
        """The receiver's time is part of the transfer; the sender reaches its buffer meanwhile."""
        self.use("cuda")
        for check in ((), ("--check",)):
            for direction in ("send", "recv"):
                self.check("device", direction, REACH_US, *check, received_us=REACH_US)
                self.check("device:host", direction, REACH_US if direction == "send" else 0, *check)
                self.check("pinned", direction, 0, *check)

    def test_new_buffers(self):
        """Each end is registered, one after the other."""
        self.use("cuda")
        for direction in ("send", "recv"):
            self.check("device", direction, REACH_US, "--buffers=new", received_us=REACH_US, register_us=10)
            row = self.check("host", direction, 0, "--buffers=new", register_us=10)
            self.assertEqual(row["buffers"], "new")
            # Short enough for several in a loop.
            (launch,) = virtual.run("mpi_overhead", "--max-time=0.5", "--buffers=new", *(["--recv"][:direction == "recv"]),
                                    MODEL_POST_US=0.05, MODEL_WAIT_US=0.05, MODEL_LATENCY_US=0.5, MODEL_BARRIER_US=0.1,
                                    MODEL_REGISTER_US=0.4)
            self.near(launch.rows[0]["overhead"], 0.5, 0.0025, direction)

    def test_wrong_data(self):
        self.use("cuda")
        for fault in ("MODEL_CORRUPT", "MODEL_DEVICE_STALE"):
            for direction in ("--recv", "--both"):
                with self.subTest(fault, direction=direction):
                    (launch,) = virtual.run("mpi_overhead", "--max-time=0.1", "--memory=device", "--check", direction,
                                            expect=1, **dict(COSTS, **{fault: 1}))
                    self.assertEqual({row["status"] for row in launch.rows}, {"FAIL"})

    def test_refused(self):
        """Buffers that don't fit into the memory of the GPU."""
        self.use("cuda")
        done = virtual.run_raw("mpi_overhead", "--memory=device", "-m", "4M", DEVICE_BYTES=1e7)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertIn("MiB on the GPU, and 9.5 are free: use a smaller --msgsize", done.stderr)


class DeviceOverlap(Base):
    """Collectives with buffers on a model of a GPU, direct and staged. The library reaches a buffer before it sends,
    and when all has arrived."""

    ELEMENTS = 16
    D_US = 50

    def row_of(self, program, *options, expect=0, **variables):
        costs = dict(COSTS, MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, MODEL_DEVICE_PER_BYTE_NS=REACH_BYTE_NS)
        costs.update(variables)
        (launch,) = virtual.run(program, "--data-driven", "--min-num-elts=16", "--max-num-elts=16", "--max-time=0.2",
                                *options, expect=expect, MODEL_DURATION_US=self.D_US, MODEL_BLOCKING_US=self.D_US,
                                **costs)
        (row,) = launch.rows
        return row

    def test_staged(self):
        self.use("cuda")
        size = 8 * self.ELEMENTS
        for program, sent, received in (("overlap_iallreduce", size, size), ("overlap_iallgather", size, 2 * size),
                                        ("overlap_ialltoall", 2 * size, 2 * size), ("overlap_iexscan", size, size)):
            for check in ((), ("--check",)):
                with self.subTest(program=program, check=check):
                    row = self.row_of(program, "--memory=device", *check)
                    staged_us = self.D_US + copy_us(sent) + copy_us(received)
                    self.near(row["staged_us"], staged_us, 0.005 * staged_us, program)
                    gain_pct = 100 * (1 - row["blocking_us"] / staged_us)
                    self.near(row["direct_gain_pct"], gain_pct, 0.5, program)
                    self.assertIn(row["status"], ("ok", "budget"))

    def test_memories(self):
        """Staged, only what lies on a device is copied."""
        self.use("cuda")
        size = 8 * self.ELEMENTS
        for memory, copies in (("pinned", 0), ("device:host", 1), ("host:managed", 1), ("managed:pinned", 1)):
            for check in ((), ("--check",)):
                with self.subTest(memory=memory, check=check):
                    row = self.row_of("overlap_iallreduce", "--memory=" + memory, *check)
                    staged_us = self.D_US + copies * copy_us(size)
                    self.near(row["staged_us"], staged_us, 0.005 * staged_us, memory)
                    self.assertIn(row["status"], ("ok", "budget"))
        wrong = self.row_of("overlap_iallreduce", "--memory=device:host", "--check", expect=1, MODEL_CORRUPT=1)
        self.assertEqual(wrong["status"], "FAIL")

    def test_direct(self):
        self.use("amdhip64")
        for reach, verdict in ((REACH_US, "pays"), (9.1, "even"), (20, "loses")):
            with self.subTest(reach=reach):
                row = self.row_of("overlap_iallreduce", "--memory=device", MODEL_DEVICE_US=reach)
                direct_us = self.D_US + 2 * (reach + REACH_BYTE_NS * 1e-3 * 8 * self.ELEMENTS)
                self.near(row["blocking_us"], direct_us, 0.005 * direct_us, verdict)
                self.assertEqual(row["direct_verdict"], verdict)

    def test_data(self):
        """Every operation brings the right data, in each kind of memory; the check finds what is wrong."""
        self.use("cuda")
        for program in virtual.by_tier(plain=("ialltoallw", "sendrecv"), run=(
                "iallgatherv", "ialltoallv", "ialltoallw", "ibcast", "igatherv", "iscatter", "ireduce_scatter", "iscan",
                "ineighbor_alltoall", "sendrecv", "irecv", "put", "get")):
            for memory in ("device", "managed:device"):
                with self.subTest(program=program, memory=memory):
                    options = ("overlap_" + program, "--memory=" + memory, "--check", "--max-time=0.05")
                    self.assertNotEqual(self.row_of(*options)["status"], "FAIL")
                    self.assertEqual(self.row_of(*options, expect=1, MODEL_CORRUPT=1)["status"], "FAIL")

    def test_new_buffers(self):
        """A buffer's first use takes the library longer: the sent and the received buffer, and the origin's
        end of a put or get. With reused buffers only the first operation does. What another rank sees before it sends
        is hidden under work."""
        self.use("cuda")
        register_us = 70
        for program, uses, exposed_uses in virtual.by_tier(plain=(("iallreduce", 2, 2),), run=(
                ("iallreduce", 2, 2), ("ialltoallw", 2, 2), ("igatherv", 2, 2), ("ineighbor_alltoall", 2, 2),
                ("sendrecv", 2, 2), ("ibcast", 2, 1), ("irecv", 2, 1), ("put", 1, 1), ("get", 1, 1))):
            for memory, options in (("device", ()), ("host", ("--align=page",))):  # no block crosses a page boundary
                with self.subTest(program=program, memory=memory):
                    reused, new = (self.row_of(
                        "overlap_" + program, "--memory=" + memory, "--buffers=" + buffers, "--check", *options,
                        MODEL_REGISTER_US=register_us) for buffers in ("reused", "new"))
                    self.assertEqual((reused.get("buffers"), new["buffers"]), (None, "new"))
                    self.assertNotIn("FAIL", (reused["status"], new["status"]))
                    for column, times in (("ref_us", uses), ("blocking_us", uses), ("exposed_us", exposed_uses)):
                        self.near(new[column] - reused[column], times * register_us, 0.005 * new[column], column)
                    if memory == "device" and program == "iallreduce":
                        self.near(new["staged_us"], reused["staged_us"], 0.005 * reused["staged_us"], "staged")

    def test_new_wrong_data(self):
        self.use("cuda")
        for fault in ("MODEL_CORRUPT", "MODEL_DEVICE_STALE"):
            row = self.row_of("overlap_iallreduce", "--memory=device", "--check", "--buffers=new", expect=1, **{fault: 1})
            self.assertEqual(row["status"], "FAIL", fault)

    def test_refused(self):
        for program, options, error in (
                ("ibarrier", "--memory=device", "has no buffers that can lie there: use host"),
                ("halo", "--memory=device", "has no buffers that can lie there: use host"),
                ("ibarrier", "--buffers=new", "--buffers=new: ibarrier has no buffers that can be new: use reused"),
                ("halo", "--buffers=new", "--buffers=new: halo has no buffers that can be new: use reused"),
                ("partitioned", "--buffers=new", "--buffers=new: the message's request keeps its buffer"),
                ("iallreduce", "--buffers=new --form=all", "--buffers=new: a persistent request keeps its buffers")):
            done = virtual.run_raw("overlap_" + program, *options.split())
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
            self.assertIn(error, done.stderr)


class DeviceCollective(Base):
    """Blocking collectives that go by messages between buffers on a model of a GPU, direct and staged, from the first
    start to the last end. The library reaches each block before it sends, and when all has arrived."""

    OPERATIONS = ("allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "reduce_scatter", "scan",
                  "scatter")
    RANKS, REGISTER_US = 3, 70

    def rows(self, *options, operations=OPERATIONS, expect=0, **variables):
        costs = dict(COSTS, MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, MODEL_DEVICE_PER_BYTE_NS=REACH_BYTE_NS,
                     MODEL_ALGORITHM="linear", **collective_test.MESSAGES)
        costs.update(variables)
        (launch,) = virtual.run("collective", "--operations=" + ",".join(operations), "--sizes=512",
                                *collective_test.FEW, *options, ranks=self.RANKS, expect=expect, **costs)
        self.assertEqual(len(launch.rows), len(operations))
        return launch.rows

    def blocks(self, operation, rank, in_place):
        """How many blocks a rank sends, and receives."""
        many, root = self.RANKS, rank == 0
        return {"allgather": (1, many), "alltoall": (many, many), "bcast": (root, not root), "gather": (1, many * root),
                "reduce": (1, root), "reduce_scatter": (many, 1),
                "scatter": (many * root, not root or not in_place)}.get(operation, (1, 1))

    # Time of blocks before or after the call.

    @staticmethod
    def none(*_):
        return 0

    @staticmethod
    def reach(blocks, size):
        return blocks * reach_us(size)

    @staticmethod
    def copy(blocks, size):
        return copy_us(blocks * size) if blocks else 0

    def truth(self, row, algorithm, before, after):
        """When the ranks are done."""
        size, in_place = row["size_bytes"], row["in_place"] == "yes"
        blocks = [self.blocks(row["operation"], rank, in_place) for rank in range(self.RANKS)]
        ends_us = collective_test.leaving_us(row["operation"], algorithm, self.RANKS, size,
                                             [before(sent, size) for sent, _ in blocks])
        return [end + after(received, size) for end, (_, received) in zip(ends_us, blocks)]

    def compare(self, row, algorithm, direct, staged, what):
        """`direct` and `staged` are what comes before and after the call."""
        what = "{} {}".format(what, row["operation"])
        direct_us, staged_us = (self.truth(row, algorithm, *around) for around in (direct, staged))
        for column, truth in (("time_us", max(direct_us)), ("own_us", statistics.mean(direct_us)),
                              ("skew_us", max(direct_us) - min(direct_us)), ("staged_us", max(staged_us))):
            self.near(row[column], truth, 0.005 * max(direct_us), "{} {}".format(what, column))
        self.near(row["direct_gain_pct"], 100 * (1 - max(direct_us) / max(staged_us)), 0.5, what + " gain")

    def test_direct_and_staged(self):
        for library, algorithm, options in virtual.by_tier(plain=(("cuda", "linear", ("--check",)),), run=(
                ("cuda", "linear", ("--check",)), ("amdhip64", "binomial", ()),
                ("cuda", "linear", ("--in-place", "--check")))):
            self.use(library)
            in_place = "--in-place" in options
            for row in self.rows("--memory=device", *options, MODEL_ALGORITHM=algorithm,
                                 operations=[name for name in self.OPERATIONS if name != "bcast" or not in_place]):
                self.compare(row, algorithm, (self.reach, self.reach), (self.copy, self.copy),
                             "{} {}".format(algorithm, options))
                self.assertEqual((row["memory"], row["status"]), ("device", "ok"))
                self.assertEqual(row["check"], "ok" if "--check" in options else "off")

    def test_barrier(self):
        """Started by a barrier the slowest rank's time counts."""
        self.use("cuda")
        for row in self.rows("--memory=device", "--start=barrier", operations=("allreduce", "gather")):
            for column, way in (("time_us", self.reach), ("staged_us", self.copy)):
                truth_us = max(self.truth(row, "linear", way, way))
                self.near(row[column], truth_us, 0.005 * truth_us, "barrier {} {}".format(row["operation"], column))

    def test_memories(self):
        """Only memory of the device takes the library longer; staged, what lies on a device is copied."""
        self.use("cuda")
        for memory, direct, staged in virtual.by_tier(plain=(), run=(
                ("pinned", (self.none, self.none), (self.none, self.none)),
                ("managed", (self.none, self.none), (self.copy, self.copy)),
                ("device:host", (self.reach, self.none), (self.copy, self.none)),
                ("host:device", (self.none, self.reach), (self.none, self.copy)))):
            for row in self.rows("--memory=" + memory, "--check", operations=("alltoall", "bcast", "gather")):
                self.compare(row, "linear", direct, staged, memory)
                self.assertEqual((row["memory"], row["check"]), (memory, "ok"))

    def test_new_buffers(self):
        """Memory that the library sees for the first time takes it longer. Staged, only pinned memory is seen, and that
        stays. Blocks that cross a page boundary would take it longer again."""
        self.use("cuda")
        for memory, reach, options in (("device", self.reach, ()), ("host", self.none, ("--align=page",))):
            def first_use(blocks, size, reach=reach):
                return reach(blocks, size) + (self.REGISTER_US if blocks else 0)

            for row in self.rows("--memory=" + memory, "--buffers=new", "--check", *options,
                                 MODEL_REGISTER_US=self.REGISTER_US):
                if memory == "device":
                    self.compare(row, "linear", (first_use, first_use), (self.copy, self.copy), "new")
                truth_us = max(self.truth(row, "linear", first_use, first_use))
                self.near(row["time_us"], truth_us, 0.005 * truth_us, "new {} {}".format(row["operation"], memory))
                self.assertEqual((row["buffers"], row["check"]), ("new", "ok"))

    def test_data(self):
        """Every operation brings the right data of any type, in each kind of memory, from any root; what comes too late
        or wrong is found."""
        self.use("amdhip64")
        for memory, options in virtual.by_tier(plain=(("device", ()),), run=(
                ("device", ()), ("managed:pinned", ("--buffers=new",)), ("device", ("--in-place",)))):
            (launch,) = virtual.run("collective", "--memory=" + memory, "--types=all", "--sizes=8,104", "--root=rotate",
                                    "--check", *collective_test.FEW, *options, ranks=self.RANKS, MODEL_DATA=1, **COSTS)
            self.assertEqual({row["check"] for row in launch.rows}, {"ok"}, memory)
            self.assertNotIn("barrier", {row["operation"] for row in launch.rows})
        for fault, operations in (("MODEL_DEVICE_STALE", self.OPERATIONS), ("MODEL_CORRUPT", ("neighbor_alltoall",))):
            rows = self.rows("--memory=device", "--check", operations=operations, expect=1, MODEL_ALGORITHM="",
                             **{fault: 1})
            self.assertEqual({row["status"] for row in rows}, {"FAIL"}, fault)

    def test_crash(self):
        self.use("cuda")
        done = virtual.run_raw("collective", "--operations=bcast", "--memory=device", MODEL_DEVICE_CRASH=1)
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)

    def test_driver(self):
        """It is loaded for --memory only."""
        self.use("cuda")
        for options, is_loaded in (((), False), (("--buffers=new",), False), (("--memory=device",), True)):
            done = virtual.run_raw("collective", "--operations=bcast", "--sizes=8", *collective_test.FEW, *options,
                                   LD_DEBUG="files")
            self.assertEqual((done.returncode, "libcuda" in done.stderr), (0, is_loaded), options)

    def test_refused(self):
        for options, error in (
                (("--memory=gpu",), "--memory=gpu: no such memory: use host, pinned, device or managed"),
                (("--device=1",), "--device: all buffers lie in host memory"),
                (("--memory=device",), "no driver of a GPU"),
                (("--memory=device:host", "--in-place"), "--memory=device:host: in place what is sent and received "
                 "lies in one buffer: use one kind"),
                (("--memory=device", "--operations=barrier"), "no barrier: it has no buffers: use another operation"),
                (("--buffers=new", "--operations=barrier"), "--operations=barrier: no barrier: it has no buffers"),
                (("--guidelines", "--operations=barrier"), "no other calls do the work of barrier: use another operation"),
                (("--buffers=old",), "--buffers"),
                (("--memory=device", "--device=2"), "there is no device 2: use 0 to 1"),
                (("--memory=device", "--operations=bcast", "--sizes=2M"), "MiB on the GPU, and 4.8 are free: use "
                 "smaller --sizes, or --memory=host")):
            with self.subTest(options=options):
                os.environ.pop("LD_LIBRARY_PATH", None)
                if len(options) > 1:
                    self.use("cuda")
                done = virtual.run_raw("collective", *options, DEVICE_COUNT=2, DEVICE_BYTES=5e6)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(error, done.stderr)


class DeviceHalo(Base):
    """Swaps of arrays on a model of a GPU. The library reaches a face before it sends, and when it has arrived; faces
    are packed by a kernel that has ended before. Each swap of a method beside the staged one."""

    MODEL = rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=10, sync=0.5, barrier=2, duration=20)
    KERNEL_BYTE_NS = 0.02
    BOX = (4, 6, 10)
    SIZES = [8 * size for size in (60, 60, 40, 40, 24, 24)]
    OPTIONS = ("--local=4x6x10", "--samples=6", "--visits=2")
    METHODS = ("put", "get", "isend/irecv types", "isend/irecv packed", "persistent", "neighbor_alltoallw")

    def kernel_us(self):
        return 40 + self.KERNEL_BYTE_NS * 1e-3 * sum(self.SIZES)

    def queue(self, durations):
        """When the host has started these on the device, one after the other, and when the last one ends."""
        now, free = 0.0, 0.0
        for duration in durations:
            now += 3
            free = max(now, free) + duration
        return now, free

    def packed_us(self, staged, reach=lambda size: 0):
        """Packed by a kernel, whose time hides that of posting the receives; then messages; then unpacked."""
        model, count = self.MODEL, len(self.SIZES)
        copies = [copy_us(sum(self.SIZES))] if staged else []
        now, end = self.queue([self.kernel_us()] + copies)
        ready = max(now + count * model.post, end) + 6
        posts = []
        now = ready
        for size in self.SIZES:
            posts.append(now)
            now += model.post + reach(size)
        now = max([now] + model.ends(posts, self.SIZES)) + 2 * (model.hosts(self.SIZES) + count * model.wait)
        now += sum(map(reach, self.SIZES))
        started, end = self.queue(copies + [self.kernel_us()])
        return now + max(started, end) + 6

    def direct_us(self, method, sync):
        sizes = self.SIZES
        return {"put": lambda: self.MODEL.sync_all() + self.MODEL.sync_all(sizes),
                "isend/irecv packed": lambda: self.packed_us(False),
                "neighbor_alltoallw": lambda: self.MODEL.duration + 10e-3 * sum(sizes) + self.MODEL.wait,
                }.get("put" if sync == "all" else method, lambda: self.MODEL.exchange(sizes))()

    def run_with(self, *options, expect=0, **variables):
        costs = dict(COSTS, MODEL_DATA=1, DEVICE_KERNEL_PER_BYTE_NS=self.KERNEL_BYTE_NS)
        costs.update(variables)
        (launch,) = virtual.run("halo", *self.OPTIONS, *options, expect=expect, **dict(self.MODEL.variables(), **costs))
        return launch.rows

    def test_methods(self):
        """All methods but the shared window, with the staged counterpart, whether data is checked or not."""
        for library, memory, check in virtual.by_tier(plain=(("cuda", "device", ()),), run=(
                ("cuda", "device", ()), ("cuda", "device", ("--check",)), ("amdhip64", "managed", ("--start=window",)))):
            self.use(library)
            rows = self.run_with("--memory=" + memory, "--coarray-sync=all", *check)
            for row in rows:
                what = "{} {} {}".format(row["method"], memory, check)
                direct_us, staged_us = self.direct_us(row["method"], row["sync"]), self.packed_us(True)
                self.near(row["latency_us"], direct_us, 0.005 * direct_us, what)
                self.near(row["staged_us"], staged_us, 0.005 * staged_us, what + " staged")
                gain_pct = 100 * (1 - direct_us / staged_us)
                self.near(row["direct_gain_pct"], gain_pct, 0.5, what + " gain")
                self.assertEqual((row["memory"], row["direct_verdict"]), (memory, "pays"))
                self.assertEqual(row["check"], "ok" if check == ("--check",) else "off")
            self.assertEqual([row["method"] for row in rows], list(self.METHODS))

    def test_reach(self):
        """The library's way to a buffer on the device counts, at both ends of each message; staged, it isn't used."""
        self.use("cuda")
        for reach, verdict in ((1, "pays"), (4, "loses")):
            (row,) = self.run_with("--memory=device", "--methods=isend/irecv packed", MODEL_DEVICE_US=reach)
            direct_us, staged_us = self.packed_us(False, lambda size: reach), self.packed_us(True)
            self.near(row["latency_us"], direct_us, 0.005 * direct_us, verdict)
            self.near(row["staged_us"], staged_us, 0.005 * staged_us, verdict + " staged")
            self.assertEqual(row["direct_verdict"], verdict)

    def test_memories(self):
        """In pinned memory the host packs, as in host memory; both kinds in one grid bring the right data."""
        self.use("cuda")
        (row,) = self.run_with("--memory=pinned", "--methods=isend/irecv packed", "--check")
        host_us = self.MODEL.exchange_packed(self.SIZES)
        self.near(row["latency_us"], host_us, 0.005 * host_us, "pinned")
        self.near(row["staged_us"], host_us, 0.005 * host_us, "pinned staged")
        self.assertEqual((row["direct_verdict"], row["check"]), ("even", "ok"))
        for memory in ("device:host", "managed:pinned"):
            rows = self.run_with("--memory=" + memory, "--methods=put,isend/irecv packed,persistent", "--check")
            self.assertEqual({row["check"] for row in rows}, {"ok"}, memory)

    def test_data(self):
        """Wrong and late data is found, for each method."""
        self.use("cuda")
        for fault in ({"MODEL_CORRUPT": 1}, {"MODEL_DEVICE_STALE": 1}):
            rows = self.run_with("--memory=device", "--check", expect=1, **fault)
            self.assertEqual({row["check"] for row in rows}, {"FAIL"}, fault)

    def test_refused(self):
        for options, error in (
                (("--memory=device", "--methods=shared window", "--local=10"),
                 "--methods: shared window: its arrays are in host memory that processes share: use another method"),
                (("--memory=gpu",), "--memory=gpu: no such memory"),
                (("--device=1",), "--device: all buffers lie in host memory"),
                (("--memory=device", "--local=50"), "buffers of its ranks need 6.1 MiB on the GPU, and 4.8 are free: use a "
                 "smaller --local"),
                (("--memory=device",), "no driver of a GPU")):
            with self.subTest(options=options):
                if len(options) > 1:
                    self.use("cuda")
                else:
                    os.environ.pop("LD_LIBRARY_PATH", None)
                done = virtual.run_raw("halo", *options, DEVICE_BYTES=5e6)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(error, done.stderr)


class DeviceWork(Base):
    """How much of a kernel on a model of a GPU hides under an operation, and what that gains. Starting and awaiting the
    kernel are no work; the processor is in MPI meanwhile, so that no operation needs calls to continue."""

    target = "0.1 point; 0.5 %"
    POST_US, WAIT_US, LAUNCH_US, SYNC_US, EMPTY_US = 0.5, 0.2, 3, 6, 2

    def row_of(self, program, *options, duration=50, expect=0, **variables):
        costs = dict(COSTS, DEVICE_KERNEL_US=self.EMPTY_US, MODEL_POST_US=self.POST_US, MODEL_WAIT_US=self.WAIT_US,
                     MODEL_DURATION_US=duration, MODEL_BLOCKING_US=duration, MODEL_DATA=1)
        costs.update(variables)
        (launch,) = virtual.run(program, "--work=device", "--data-driven", "--min-num-elts=16", "--max-num-elts=16",
                                "--max-time=0.5", *options, expect=expect, **costs)
        (row,) = launch.rows
        return row

    def truth(self, duration, fraction, launch, sync, posted=POST_US, waited=WAIT_US):
        """The reference, with an empty kernel; what the operation adds to a kernel; the blocking call and a kernel."""
        started = posted + launch
        finished = max(started, fraction * duration) + (1 - fraction) * duration + waited
        return (max(finished, started + self.EMPTY_US) + sync, started + sync, duration + self.WAIT_US + launch + sync)

    def check(self, row, truth, what):
        ref_us, exposed_us, blocking_us = truth
        for column, right in (("ref_us", ref_us), ("total_us", ref_us), ("exposed_us", exposed_us),
                              ("blocking_us", blocking_us), ("gain_us", blocking_us - exposed_us)):
            self.near(row[column], right, 0.005 * right, "{} {}".format(what, column))
        self.near(row["overlap_pct"], 100 * (1 - exposed_us / ref_us), 0.1, what + " overlap")
        # The fitting work is injected, except for the step of the search.
        self.assertLessEqual(row["work_us"], (ref_us - exposed_us) * 1.005 + 0.01, what)
        self.assertGreaterEqual(row["work_us"], (ref_us - exposed_us) * 0.97 - 0.05, what)

    def test_overlap(self):
        self.use("cuda")
        for duration, fraction, launch, sync in virtual.by_tier(plain=((200, 0, 3, 6),), run=(
                (200, 0, 3, 6), (200, 0.5, 3, 6), (200, 1, 3, 6), (20, 0, 3, 6), (20, 1, 0.5, 2), (5, 0, 3, 6),
                (5, 1, 3, 6), (200, 1, 12, 25)), full=tuple(
                    (duration, fraction, launch, sync) for duration in (200, 20, 5) for fraction in (0, 0.25, 0.5, 0.75, 1)
                    for launch, sync in ((3, 6), (0.5, 2), (12, 25)))):
            with self.subTest(duration=duration, fraction=fraction, launch=launch, sync=sync):
                row = self.row_of("overlap_iallreduce", duration=duration, MODEL_FRACTION=fraction,
                                  DEVICE_LAUNCH_US=launch, DEVICE_SYNC_US=sync)
                self.check(row, self.truth(duration, fraction, launch, sync), "D {} f {} launch {} wait {}".format(
                    duration, fraction, launch, sync))

    def test_operations(self):
        """The same for other operations, persistent ones, and another library."""
        self.use("amdhip64")
        truth = self.truth(50, 0, self.LAUNCH_US, self.SYNC_US)
        for program, options in virtual.by_tier(plain=(), run=(
                ("iallgather", ()), ("ialltoall", ("--form=persistent",)), ("ibarrier", ()),
                ("iallreduce", ("--start=window",)))):
            self.check(self.row_of("overlap_" + program, *options, MODEL_BARRIER_US=50), truth, program)

    def test_clocks(self):
        """The clock's cost isn't in the times of a kernel."""
        self.use("cuda")
        self.check(self.row_of("overlap_iallreduce", VIRTUAL_CLOCK_NS=100),
                   self.truth(50, 0, self.LAUNCH_US, self.SYNC_US), "a slow clock")

    def test_memory(self):
        """With buffers there, too: the library's way to them counts, and the staged counterpart has the same kernel."""
        self.use("cuda")
        reach = 2
        row = self.row_of("overlap_iallreduce", "--memory=device", "--check", MODEL_DEVICE_US=reach)
        staged_us = 50 + self.WAIT_US + 2 * copy_us(128) + self.LAUNCH_US + self.SYNC_US
        blocking_us = 50 + self.WAIT_US + 2 * reach + self.LAUNCH_US + self.SYNC_US
        self.near(row["staged_us"], staged_us, 0.005 * staged_us, "staged")
        self.near(row["blocking_us"], blocking_us, 0.005 * blocking_us, "blocking on the device")
        self.assertEqual((row["direct_verdict"], row["memory"]), ("pays", "device"))

    def test_refused(self):
        for program, options, error in (
                ("iallreduce", ("--test-calls=4",), "--test-calls: with --work=device the processor is in MPI's wait"),
                ("iallreduce", ("--test-calls=auto",), "--test-calls: with --work=device"),
                ("partitioned", (), "--work: parts of the processor's work mark parts of the message ready here"),
                ("iallreduce", (), "--work=device: rank 0: no driver of a GPU"),
                ("iallreduce", ("--memory=device",), "use another node, or --memory=host --work=host"),
                ("iallreduce", ("--device=2",), "--work=device: rank 0: there is no device 2: use 0 to 1")):
            with self.subTest(program=program, options=options):
                if "--device=2" in options:
                    self.use("cuda")
                done = virtual.run_raw("overlap_" + program, "--work=device", *options, DEVICE_COUNT=2)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(error, done.stderr)


if __name__ == "__main__":
    virtual.main()
