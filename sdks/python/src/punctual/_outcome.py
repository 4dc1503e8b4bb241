"""Outcomes of handlers, in a form that passes between processes."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any, List, Optional

from ._wire import encode
from .task import Fail, Release, Stopped

# The server takes 4 KiB.
_ERROR_BYTES_MAX = 4_000


@dataclass
class Outcome:
    """`kind` is "done", "failed" or "released"; a failure that a stop asked for acknowledges the stop."""

    kind: str
    result: bytes = b"null"
    error: str = ""
    retry_in: Any = None
    permanent: bool = False
    delay: Any = None
    # Set where the handler gave in to a stop of its own accord.
    is_stop: bool = False


def done(value: Any) -> Outcome:
    """Turns a handler's value into an outcome. A value that is no JSON will not be one in the next attempt either."""
    try:
        return Outcome("done", result=encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        return Outcome("failed", error=f"the result is no JSON: {error}", permanent=True)


def failed(error: BaseException) -> Outcome:
    """Turns a handler's error into an outcome."""
    if isinstance(error, Fail):
        return Outcome("failed", error=_cut(error.error), retry_in=error.retry_in, permanent=error.permanent)
    if isinstance(error, Release):
        return Outcome("released", delay=error.delay)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Outcome("failed", error=_cut(text), is_stop=isinstance(error, Stopped))


def trace(error: BaseException) -> List[str]:
    """The traceback for the task's log; nothing for what handlers raise on purpose."""
    if isinstance(error, (Fail, Release, Stopped)):
        return []
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return text.rstrip().split("\n")


def crashed(code: Optional[int]) -> Outcome:
    return Outcome("failed", error=f"the process of the handler ended with exit code {code}")


def _cut(text: str) -> str:
    return text.encode()[:_ERROR_BYTES_MAX].decode(errors="ignore")
