"""A task under way, as the worker sees it."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Any, Callable, Dict, List, Optional

from ._outcome import Outcome
from .task import LOST, Link

# The least time between two heartbeats of one task, and the most.
BEAT_MIN_S = 0.05
BEAT_MAX_S = 10.0
# How often progress is reported at most.
REPORT_EVERY_S = 1.0
# A task whose hold is not told, such as a vote's, is held at least that long.
_HOLD_UNKNOWN_S = 10.0
# The most that the server takes in one call.
_LOG_BYTES_MAX = 60_000


class Job(Link):
    """One task on its way: its hold, what its handler reported and has not been sent, and why it should stop."""

    def __init__(self, record: Dict[str, Any], loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        super().__init__()
        self.record = record
        self.queue: str = record["queue"]
        self.id: str = record["id"]
        self.token: str = record["token"]
        self.hold_s = hold_of(record)
        self.beat_s = min(max(self.hold_s / 3, BEAT_MIN_S), BEAT_MAX_S)
        now = time.monotonic()
        self.held_until = now + self.hold_s
        self.next_beat = now + self.beat_s
        self.reported_at = now - REPORT_EVERY_S
        # Heartbeats end with the handler; settled when the server knows the outcome.
        self.is_running = False
        self.is_beating = False
        self.is_settled = False
        self._loop = loop
        self._wake = wake
        self._unsent: Dict[str, Any] = {}
        self._lines: List[str] = []
        self.on_log: Optional[Callable[["Job"], None]] = None

    def renew(self, sent_at: float) -> None:
        """Its hold was extended by a request that left at `sent_at`."""
        self.held_until = sent_at + self.hold_s
        self.next_beat = sent_at + self.beat_s

    def is_over(self, now: float) -> bool:
        return now >= self.held_until

    def due_at(self) -> float:
        """When the server should hear of it next."""
        if self._unsent:
            return min(self.next_beat, self.reported_at + REPORT_EVERY_S)
        return self.next_beat

    def report(self, what: Dict[str, Any]) -> None:
        with self._lock:
            self._unsent.update(what)
        self._loop.call_soon_threadsafe(self._wake)

    def log(self, line: str) -> None:
        with self._lock:
            self._lines.append(line[:8_000])
            is_first = len(self._lines) == 1
        if is_first and self.on_log is not None:
            self._loop.call_soon_threadsafe(self.on_log, self)

    def unsent(self) -> Dict[str, Any]:
        """Returns the reports since the last call."""
        with self._lock:
            what, self._unsent = self._unsent, {}
        return what

    def put_back(self, what: Dict[str, Any]) -> None:
        """A report that could not be sent; what was said since is newer."""
        with self._lock:
            self._unsent = {**what, **self._unsent}

    def has_lines(self) -> bool:
        return bool(self._lines)

    def lines(self) -> List[str]:
        """Lines for one call; the rest stays."""
        with self._lock:
            size = number = 0
            while number < len(self._lines) and (not number or size + len(self._lines[number].encode()) <= _LOG_BYTES_MAX):
                size += len(self._lines[number].encode())
                number += 1
            lines, self._lines = self._lines[:number], self._lines[number:]
            return lines

    def verdict(self, outcome: Outcome) -> str:
        """Decides what the server is told: done, failed, released, cancelled, paused; or nothing."""
        if self.reason == LOST:
            return "nothing"
        if outcome.kind == "failed" and self.reason is not None:
            return {"cancelled": "cancelled", "paused": "paused"}.get(self.reason, "released")
        return outcome.kind


def hold_of(record: Dict[str, Any]) -> float:
    """How long a task is held without a word."""
    if not record.get("taken_at") or not record.get("hold_until"):
        return _HOLD_UNKNOWN_S
    held = _time(record["hold_until"]) - _time(record["taken_at"])
    return max(held, BEAT_MIN_S)


def _time(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
