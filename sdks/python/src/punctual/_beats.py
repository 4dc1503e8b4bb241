"""Heartbeats of all tasks under way, one batch per queue, and the lines of their logs."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Dict, Iterable, List, Optional

from ._job import Job
from ._logs import logger
from ._settle import _with, call, encode_set, is_passing
from ._wire import encode, path, pause_s
from .client_async import AsyncClient
from .errors import ApiError, PunctualError
from .task import CANCELLED, LOST, PAUSED

# Heartbeats that fall due within this share of their interval go along with those that are due.
_EARLY = 0.25
# Lines that come within that time go together.
GATHER_LINES_S = 0.2


class Beats:
    """Keeps holds, sends reports, and hears of cancel and pause."""

    def __init__(self, client: AsyncClient, jobs: "Dict[Any, Job]") -> None:
        self._client = client
        self._jobs = jobs
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There is something new to send, or another task."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            beating = [job for job in self._jobs.values() if job.is_beating]
            now = time.monotonic()
            due = [job for job in beating if job.due_at() <= now]
            if due:
                queues = {job.queue for job in due}
                await asyncio.gather(*(self._beat(queue, beating) for queue in queues))
                continue
            until = min((job.due_at() for job in beating), default=None)
            try:
                await asyncio.wait_for(self._woken.wait(), None if until is None else max(until - now, 0.0))
            except asyncio.TimeoutError:
                pass

    async def _beat(self, queue: str, beating: Iterable[Job]) -> None:
        now = time.monotonic()
        # Not more than the server takes in a batch; the rest is due at once.
        jobs = [job for job in beating if job.queue == queue and job.due_at() - job.beat_s * _EARLY <= now][:1_000]
        reports = [job.unsent() for job in jobs]
        items = [_item(job, report) for job, report in zip(jobs, reports)]
        body = b'{"tasks":[' + b",".join(items) + b"]}"
        for job, report in zip(jobs, reports):
            job.reported_at = now if report else job.reported_at
        try:
            told = await self._client._json(call("POST", path("/v1/queues/{queue}/extend", queue), body))
        except PunctualError as error:
            self._failed(jobs, reports, error)
            return
        for job, report, result in zip(jobs, reports, told["results"]):
            self._heard(job, report, result, now)

    def _failed(self, jobs: List[Job], reports: List[Dict[str, Any]], error: PunctualError) -> None:
        now = time.monotonic()
        for job, report in zip(jobs, reports):
            if not is_passing(error) or job.is_over(now):
                job.tell(LOST)
                job.is_beating = False
            else:
                job.put_back(report)
                job.reported_at = now
                job.next_beat = now + max(job.beat_s / 3, pause_s(0, error))

    def _heard(self, job: Job, report: Dict[str, Any], result: Dict[str, Any], sent_at: float) -> None:
        if result["ok"]:
            job.renew(sent_at)
            if result.get("cancel"):
                job.tell(CANCELLED)
            elif result.get("pause"):
                job.tell(PAUSED)
        elif result.get("code") in ("stale_token", "not_found", "wrong_state"):
            job.tell(LOST)
            job.is_beating = False
        elif report:
            # The report is at fault, a checkpoint over the limit perhaps: the hold is kept without it.
            logger.warning("task %s of %s: a report was refused: %s", job.id, job.queue, result.get("detail"))
            job.next_beat = time.monotonic()
        else:
            job.next_beat = sent_at + job.beat_s / 3


def _item(job: Job, report: Dict[str, Any]) -> bytes:
    named = {"id": job.id, "token": job.token, "progress": report.get("progress"), "message": report.get("message")}
    return _with(encode_set(**named), "checkpoint", report.get("checkpoint"))


class LogLines:
    """Sends log lines, at most once a second per task; they may be lost, tasks never wait for them."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._sending: "Dict[Job, asyncio.Task[None]]" = {}
        # None until the server has answered once.
        self._is_known: Optional[bool] = None

    def wake(self, job: Job) -> None:
        if self._is_known is False:
            job.lines()
        elif job not in self._sending:
            task = asyncio.ensure_future(self._send(job))
            self._sending[job] = task
            task.add_done_callback(lambda _: self._sent(job))

    def _sent(self, job: Job) -> None:
        self._sending.pop(job, None)
        if job.has_lines():
            self.wake(job)

    async def idle(self, timeout: float) -> None:
        if self._sending:
            await asyncio.wait(list(self._sending.values()), timeout=timeout)

    async def _send(self, job: Job) -> None:
        if job.is_running:
            await asyncio.sleep(GATHER_LINES_S)
        while True:
            lines = job.lines()
            if not lines:
                return
            route = path("/v1/queues/{queue}/tasks/{id}/log", job.queue, job.id)
            try:
                await self._client._none(call("POST", route, encode({"token": job.token, "lines": lines})))
                self._is_known = True
            except ApiError as error:
                if error.status in (404, 405) and not self._is_known:
                    self._is_known = False  # A server from before there were logs.
                return
            except PunctualError:
                return
