"""A task as its handler sees it, and what a handler may raise."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any, Callable, Dict, List, Optional

from ._wire import encode
from .errors import PunctualError

CANCELLED = "cancelled"
PAUSED = "paused"
LOST = "lost"
STOPPING = "stopping"

# The task whose handler runs in this thread or coroutine.
current_task: "contextvars.ContextVar[Optional[Task]]" = contextvars.ContextVar("punctual_task", default=None)


class Fail(PunctualError):
    """Raised by a handler: the task failed. `retry_in` replaces the queue's own wait; `permanent`: no retry."""

    def __init__(self, error: str, *, retry_in: Any = None, permanent: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.retry_in = retry_in
        self.permanent = permanent

    def __reduce__(self) -> Any:
        return (_fail, (self.error, self.retry_in, self.permanent))


def _fail(error: str, retry_in: Any, permanent: bool) -> Fail:
    return Fail(error, retry_in=retry_in, permanent=permanent)


class Release(PunctualError):
    """Raised by a handler: the task is given back, and this attempt does not count."""

    def __init__(self, delay: Any = None) -> None:
        super().__init__("given back")
        self.delay = delay


class Stopped(PunctualError):
    """Raised by `Task.check`: the handler should stop. `reason` is "cancelled", "paused", "lost" or "stopping"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Link:
    """The line between a handler and its worker. Threads may share it."""

    def __init__(self) -> None:
        self.reason: Optional[str] = None
        self.stopped = threading.Event()
        self._hearers: List[Callable[[str], None]] = []
        self._lock = threading.Lock()

    def report(self, what: Dict[str, Any]) -> None:
        """Takes `progress`, `message` or `checkpoint` (as JSON bytes)."""
        raise NotImplementedError

    def log(self, line: str) -> None:
        """Takes a line for the task's log."""
        raise NotImplementedError

    def tell(self, reason: str) -> None:
        """The first reason to stop counts, but for the loss of the hold, which ends all."""
        with self._lock:
            if self.reason == LOST or (self.reason is not None and reason != LOST):
                return
            self.reason = reason
            hearers = list(self._hearers)
            self.stopped.set()
        for hearer in hearers:
            hearer(reason)

    def hear(self, hearer: Callable[[str], None]) -> None:
        """Calls `hearer` with the reason once there is one."""
        with self._lock:
            self._hearers.append(hearer)
            reason = self.reason
        if reason is not None:
            hearer(reason)


class Task:
    """A task to carry out, and a line to the server while that lasts."""

    def __init__(self, record: Dict[str, Any], link: Link) -> None:
        self.record = record
        self.queue: str = record["queue"]
        self.id: str = record["id"]
        self.payload: Any = record["payload"]
        self.attempt: int = record["attempt"]
        # The checkpoint of an earlier attempt.
        self.checkpoint: Any = record.get("checkpoint")
        self._link = link

    def __repr__(self) -> str:
        return f"Task({self.queue!r}, {self.id!r}, attempt={self.attempt})"

    def progress(self, progress: float, message: Optional[str] = None) -> None:
        """Says how far it is, from 0 to 1, and a word on where. Sent at most once a second."""
        said: Dict[str, Any] = {"progress": min(max(float(progress), 0.0), 1.0)}
        if message is not None:
            said["message"] = message
        self._link.report(said)

    def save_checkpoint(self, checkpoint: Any) -> None:
        """Leaves what the next attempt needs to go on. It is sent within a second, or with the outcome."""
        encoded = encode(checkpoint)
        self.checkpoint = checkpoint
        self._link.report({"checkpoint": encoded})

    def log(self, line: str) -> None:
        """Adds a line to the task's log. The `logging` module does so by itself within a handler."""
        self._link.log(line)

    @property
    def stop_reason(self) -> Optional[str]:
        """Why the handler should stop: "cancelled", "paused", "lost" or "stopping"; None: it should not."""
        return self._link.reason

    def wait_stopped(self, timeout: Optional[float] = None) -> Optional[str]:
        """Sleeps, but no longer than until the handler should stop; answers why."""
        self._link.stopped.wait(timeout)
        return self._link.reason

    async def stopped(self) -> str:
        """Waits until the handler should stop, without blocking its event loop."""
        loop = asyncio.get_running_loop()
        told: "asyncio.Future[str]" = loop.create_future()

        def tell(reason: str) -> None:
            if not told.done():
                told.set_result(reason)

        def pass_on(reason: str) -> None:
            loop.call_soon_threadsafe(tell, reason)

        self._link.hear(pass_on)
        return await told

    def check(self) -> None:
        """Raises `Stopped` if the handler should stop; what it acknowledges then follows from the reason."""
        if self._link.reason is not None:
            raise Stopped(self._link.reason)
