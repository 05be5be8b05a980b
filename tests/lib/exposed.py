"""What of an operation of the model MPI is exposed under work: the truth of exposed_us and
gain_us of overlap_*. The formula is that of tests/model/model.h; times in us."""

import typing

from mpi_run import number


class Operation(typing.NamedTuple):
    """An operation as the model's report describes it."""

    duration: float        # D
    fraction: float        # f
    host: float            # h
    extra: float           # x
    test: float = 0.0      # c, what a test takes
    decides: float = 0.0   # MODEL_TEST_US, after which it decides
    stage: float = 0.0     # of the autonomous part; 0: it is one stage

    def exposed(self, calls, work):
        """What passes beyond the work, with tests between its equal parts."""
        autonomous = self.fraction * self.duration
        stage = min(self.stage or autonomous, autonomous)
        end, left = stage, autonomous - stage
        rest = (1 - self.fraction) * self.duration + self.extra
        for k in range(1, calls + 1):
            decided = self.host + k * work / (calls + 1) + (k - 1) * self.test + self.decides
            if end > decided:
                continue
            if left <= 1e-9:
                return self.host + (k - 1) * self.test + self.decides + rest
            step = min(stage, left)
            end, left = decided + step, left - step
        wait = self.host + work + calls * self.test
        return self.host + calls * self.test + max(0.0, end - wait) + left + rest

    def best_calls(self, work, most):
        """The number of tests with the least exposed time."""
        return min(range(most + 1), key=lambda calls: self.exposed(calls, work))


def truth_of(truths, name):
    """The report's row of an operation."""
    return next(row for row in truths if row["operation"] == name)


def operation_of(truth, decides=0.0, stage=0.0):
    """The operation of a row of the report."""
    test = number(truth["test_us"])
    return Operation(number(truth["duration_us"]), number(truth["fraction"]),
                     number(truth["host_us"]), number(truth["extra_us"]),
                     0.0 if test != test else test, decides, stage)


def blocking_us(truths, *names):
    """What the blocking call takes."""
    rows = [truth_of(truths, name) for name in names]
    return max(number(row["duration_us"]) + number(row["extra_us"]) for row in rows)


# What calls cost besides is at most this share of an operation.
OUTSIDE_MOST = 0.005


def outside_us(row, operation):
    """What calls cost a caller besides what the model says, which sees only what happens inside
    them: the way into a call and out of it, when other work has had the caches. As the reference
    of the same row, a start and a finish, shows it."""
    model_us = operation.duration + operation.extra
    return min(abs(number(row["ref_us"]) - model_us), OUTSIDE_MOST * model_us)
