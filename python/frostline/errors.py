# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions.

Each has an id that never changes its meaning, a cause that says what happened in
this case, and a fix. Those that the coordinator sends have its ids (FL-2001, see
docs/reference/errors.md) and mirror its gRPC status; those of this package begin
with PY. Nothing is changed where one is raised."""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Optional


class Error(Exception):
    """Anything that Frostline refuses or cannot do. `id`, `cause`, `fix`, and
    `field` where one is to blame."""

    id = "PY-1000"
    code = "UNKNOWN"  # name of the gRPC status

    def __init__(self, cause: str, fix: str = "", *, id: str = "",
                 reason: str = "", field: str = "",
                 retry_after: Optional[float] = None) -> None:
        self.id = id or type(self).id
        self.cause, self.fix, self.reason, self.field = cause, fix, reason, field
        self.retry_after = retry_after  # seconds, where it may work later
        super().__init__(cause)

    def __str__(self) -> str:
        where = f" (field {self.field})" if self.field else ""
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"error[{self.id}]: {self.cause}{where}{fix}"

    def __reduce__(self):  # so that it crosses a process pool whole
        return (_again, (type(self), self.cause, self.fix, self.__dict__))


def _again(kind, cause, fix, values):
    error = kind(cause, fix)
    error.__dict__.update(values)
    return error


# One for each status that the coordinator answers with.
class InvalidArgument(Error, ValueError):
    """The request is wrong; sent again it is wrong again."""
    code = "INVALID_ARGUMENT"


class NotFound(Error, LookupError):
    """There is no such study, trial or worker."""
    code = "NOT_FOUND"


class AlreadyExists(Error):
    """There is one already, and it is another."""
    code = "ALREADY_EXISTS"


class FailedPrecondition(Error):
    """Not in this state: the study has ended, there are too few trials."""
    code = "FAILED_PRECONDITION"


class OutOfRange(Error):
    """There is no more of it: the space is exhausted, history is gone."""
    code = "OUT_OF_RANGE"


class Aborted(Error):
    """Somebody else was faster."""
    code = "ABORTED"


class PermissionDenied(Error):
    """The coordinator knows who calls, and that it may not."""
    code = "PERMISSION_DENIED"


class Unauthenticated(Error):
    """The coordinator does not know who calls: the token is wrong or missing."""
    code = "UNAUTHENTICATED"


class ResourceExhausted(Error):
    """Too much at once, or a disk is full."""
    code = "RESOURCE_EXHAUSTED"


class Unimplemented(Error):
    """The coordinator does not have this: it is older or newer than the caller."""
    code = "UNIMPLEMENTED"


class Unavailable(Error, ConnectionError):
    """The coordinator does not answer. Nothing is known to be lost."""
    code = "UNAVAILABLE"


class DeadlineExceeded(Error, TimeoutError):
    """No answer in time."""
    code = "DEADLINE_EXCEEDED"


class Internal(Error):
    """A defect of the coordinator, or its data are damaged."""
    code = "INTERNAL"


# Those of this package.
class LeaseLost(FailedPrecondition):
    """The trial is no longer this process's: another attempt may run it."""
    id = "FL-2031"


class WrongProcess(Error, RuntimeError):
    """A forked child used a trial of its parent, or cannot call at all."""
    id = "PY-1001"


class TrialEnded(Error, RuntimeError):
    """A trial was used after it had got its outcome."""
    id = "PY-1002"


class UnknownName(Error, KeyError):
    """A parameter, module or template that there is not."""
    id = "PY-1003"

    __str__ = Error.__str__  # KeyError quotes its text


class NoMetric(Error, ValueError):
    """A trial ended well and an objective was never reported."""
    id = "PY-1004"


class ProgramMissing(Error, FileNotFoundError):
    """A program of Frostline is not on this machine."""
    id = "PY-1005"


class LayerError(Error, ValueError):
    """Modules of the study and weights of the model do not fit each other."""
    id = "PY-1006"


class AuditFailed(Error, AssertionError):
    """A module that should have moved did not, or a frozen one did."""
    id = "PY-1007"


class BadFile(Error, ValueError):
    """A configuration or metrics file that cannot be read."""
    id = "PY-1008"


class BadProtocol(Error, RuntimeError):
    """What the agent says cannot be understood."""
    id = "PY-1009"


class PackageMissing(Error, ImportError):
    """A package that this call needs is not installed."""
    id = "PY-1010"


def for_status(code: str) -> type:
    """The class that mirrors a gRPC status."""
    for kind in Error.__subclasses__():
        if kind.code == code:
            return kind
    return Internal if code in ("DATA_LOSS", "UNKNOWN") else Error


def as_exit_code(main: Callable[..., int]) -> Callable[..., int]:
    """For the `main` of a console script: what is refused is said on standard error and
    is exit code 1, and Ctrl-C ends it well."""
    @functools.wraps(main)
    def run(*arguments: Any) -> int:
        try:
            return main(*arguments)
        except Error as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 0
    return run
