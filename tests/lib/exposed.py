"""What of an operation of the model MPI is exposed under work: the truth of exposed_us and
gain_us of overlap_*. The formulas are those of tests/model/model.h; times in us."""

import typing

from mpi_run import number


class Transfer(typing.NamedTuple):
    """One request of an operation, as the model's report describes it."""

    duration: float     # D
    fraction: float     # f
    host: float         # h, of its post
    extra: float        # x, of the wait that ends it
    stage: float = 0.0  # of the autonomous part; 0: it is one stage

    def stages(self):
        """The first stage, and all others together."""
        autonomous = self.fraction * self.duration
        first = min(self.stage or autonomous, autonomous)
        return first, autonomous - first

    def host_part(self):
        return (1 - self.fraction) * self.duration


class Operation(typing.NamedTuple):
    """Transfers that are posted one after the other, and finished by one wait."""

    transfers: tuple
    test: float = 0.0     # c, what a test takes
    decides: float = 0.0  # MODEL_TEST_US, after which it decides
    flush: float = 0.0    # what comes after the wait

    def exposed(self, calls, work):
        """What passes beyond the work, with tests between its equal parts."""
        posted, ends, left = 0.0, [], []
        for transfer in self.transfers:
            first, others = transfer.stages()
            ends.append(posted + first)
            left.append(others)
            posted += transfer.host
        rest = (sum(transfer.host_part() for transfer in self.transfers) +
                max(transfer.extra for transfer in self.transfers) + self.flush)
        for k in range(1, calls + 1):
            decided = posted + k * work / (calls + 1) + (k - 1) * self.test + self.decides
            if all(end <= decided and more <= 1e-9 for end, more in zip(ends, left)):
                return posted + (k - 1) * self.test + self.decides + rest
            for i, transfer in enumerate(self.transfers):
                if ends[i] <= decided and left[i] > 1e-9:
                    step = min(transfer.stage, left[i])
                    ends[i], left[i] = decided + step, left[i] - step
        wait = posted + work + calls * self.test
        return max(max(wait, end) + more for end, more in zip(ends, left)) - work + rest

    def best_calls(self, work, most):
        """The number of tests with the least exposed time."""
        return min(range(most + 1), key=lambda calls: self.exposed(calls, work))


class Partitioned(typing.NamedTuple):
    """A message in parts, each marked ready after its part of the work."""

    start: float        # h of the start
    parts: int
    ready: float        # h of marking a part
    transfer: Transfer  # of a part; or of the whole, which starts with the last mark
    early: bool

    def exposed(self, calls, work):
        """What passes beyond the work. There are no tests."""
        assert calls == 0
        now, end, sent = self.start, 0.0, 0
        for part in range(self.parts):
            now += work / self.parts
            if self.early or part == self.parts - 1:
                end = now + self.transfer.fraction * self.transfer.duration
                sent += 1
            now += self.ready
        return max(now, end) + sent * self.transfer.host_part() + self.transfer.extra - work


def truth_of(truths, name):
    """The report's row of an operation."""
    return next(row for row in truths if row["operation"] == name)


def transfer_of(truth, stage=0.0):
    """The transfer of a row of the report."""
    return Transfer(number(truth["duration_us"]), number(truth["fraction"]),
                    number(truth["host_us"]), number(truth["extra_us"]), stage)


def operation_of(truths, names, decides=0.0, stage=0.0, flush=0.0):
    """The operation that has these rows of the report, in the order of its posts."""
    rows = [truth_of(truths, name) for name in names]
    test = number(rows[0]["test_us"])
    return Operation(tuple(transfer_of(row, stage) for row in rows),
                     0.0 if test != test else test, decides, flush)


def partitioned_of(truths, parts, early):
    """The message that was sent in so many parts."""
    whole, part = truth_of(truths, "psend_init"), truth_of(truths, "pready")
    return Partitioned(number(whole["host_us"]), parts, number(part["host_us"]),
                       transfer_of(part if early else whole), early)


def blocking_us(truths, names):
    """What the blocking call takes."""
    rows = [truth_of(truths, name) for name in names]
    return max(number(row["duration_us"]) + number(row["extra_us"]) for row in rows)


# What calls cost besides is at most this share of an operation.
OUTSIDE_MOST = 0.005


def outside_us(row, operation):
    """What calls cost a caller besides what the model says, which sees only what happens inside
    them: the way into a call and out of it, when other work has had the caches. As the reference
    of the same row, a start and a finish, shows it."""
    model_us = operation.exposed(0, 0.0)
    return min(abs(number(row["ref_us"]) - model_us), OUTSIDE_MOST * model_us)
