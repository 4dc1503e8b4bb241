"""Outcomes on their way to the server.

Commits ride on the next take. While a take is open, or there is none, they go in a batch: one request is under
way per queue, and all that comes meanwhile goes together in the next.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Dict, List, Optional, Tuple

from ._job import Job
from ._logs import logger
from ._outcome import Outcome
from ._push import BYTES_MAX, ITEMS_MAX
from ._wire import Wire, encode, path, pause_s, wire
from .client_async import AsyncClient
from .errors import ApiError, NoAnswer, PunctualError, Unreachable

PAUSE_MAX_S = 5.0
_VERBS = {"done": "commit", "failed": "fail", "released": "release"}
Item = Tuple[Job, bytes]


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, (Unreachable, NoAnswer)):
        return True
    return isinstance(error, ApiError) and (error.status == 429 or error.status >= 500)


def call(method: str, path_: str, body: bytes, wait_s: float = 0.0) -> Wire:
    """A request whose body is written already."""
    made = wire(method, path_)
    made.body, made.wait_s = body, wait_s
    return made


class Settler:
    """The outcomes of one queue's tasks."""

    def __init__(self, client: AsyncClient, queue: str) -> None:
        self._client = client
        self._queue = queue
        self._waiting: Dict[str, List[Item]] = {verb: [] for verb in _VERBS.values()}
        self._sending: Optional["asyncio.Task[None]"] = None
        # Acknowledgements have no batch: they go by themselves.
        self._alone: "set[asyncio.Task[None]]" = set()

    def add(self, job: Job, outcome: Outcome) -> None:
        """Takes over an outcome. The job is settled when the server has it, or refuses it for good."""
        verdict = job.verdict(outcome)
        left = job.unsent()
        checkpoint = left.get("checkpoint")
        if verdict == "nothing":
            logger.warning("task %s of %s: its hold was lost, the outcome is dropped", job.id, job.queue)
            job.is_settled = True
        elif verdict in ("cancelled", "paused"):
            self._start(self._acknowledge(job, verdict, outcome, checkpoint))
        elif verdict == "failed" and checkpoint is not None:
            self._start(self._fail_with_checkpoint(job, outcome, checkpoint))
        else:
            self._put(_VERBS[verdict], job, _item(job, verdict, outcome, checkpoint))

    def take_commits(self) -> List[Item]:
        """Hands over what a take carries. `put_back` returns what the server did not answer."""
        commits = self._waiting["commit"]
        number = _portion(commits)
        self._waiting["commit"] = commits[number:]
        return commits[:number]

    def put_back(self, items: List[Item]) -> None:
        self._waiting["commit"] = items + self._waiting["commit"]
        self._wake()

    def committed(self, items: List[Item], results: List[Dict[str, Any]]) -> None:
        self._answered("commit", items, results)

    async def idle(self) -> None:
        """Waits until nothing is on its way."""
        while self._sending is not None or self._alone:
            running = list(self._alone) + ([self._sending] if self._sending is not None else [])
            await asyncio.wait(running)

    def _put(self, verb: str, job: Job, item: bytes) -> None:
        self._waiting[verb].append((job, item))
        self._wake()

    def _wake(self) -> None:
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send())

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._alone.add(task)
        task.add_done_callback(self._alone.discard)

    async def _send(self) -> None:
        failures = 0
        try:
            # A take that has room now leaves first and carries the commits.
            await asyncio.sleep(0)
            while True:
                verb = next((verb for verb, items in self._waiting.items() if items), None)
                if verb is None:
                    return
                items = self._waiting[verb][: _portion(self._waiting[verb])]
                self._waiting[verb] = self._waiting[verb][len(items) :]
                body = b'{"tasks":[' + b",".join(item for _, item in items) + b"]}"
                try:
                    route = path("/v1/queues/{queue}/", self._queue) + verb
                    told = await self._client._json(call("POST", route, body))
                    self._answered(verb, items, told["results"])
                    failures = 0
                except PunctualError as error:
                    if not is_passing(error):
                        self._refused(items, error)
                        continue
                    self._waiting[verb] = self._still_held(items) + self._waiting[verb]
                    await asyncio.sleep(pause_s(failures, error, PAUSE_MAX_S))
                    failures += 1
        finally:
            self._sending = None

    def _still_held(self, items: List[Item]) -> List[Item]:
        """An outcome is sent as long as it may count: for the length of a hold after the last heartbeat."""
        now = time.monotonic()
        late = [item for item in items if now > item[0].held_until + item[0].hold_s]
        if late:
            self._refused(late, NoAnswer("the server was away for longer than the hold"))
        return [item for item in items if item not in late]

    def _answered(self, verb: str, items: List[Item], results: List[Dict[str, Any]]) -> None:
        for (job, item), result in zip(items, results):
            code = result.get("code")
            if result["ok"]:
                job.is_settled = True
            elif code == "unavailable":
                self._put(verb, job, item)
            elif verb == "commit" and code in ("too_large", "invalid"):
                # The server will never take this result: the task has failed.
                why = Outcome("failed", error=f"the result was refused: {result.get('detail')}", permanent=True)
                self._put("fail", job, _item(job, "failed", why, None))
            else:
                self._refused([(job, item)], ApiError(409, code or "invalid", result.get("detail") or ""))

    def _refused(self, items: List[Item], error: PunctualError) -> None:
        for job, _ in items:
            job.is_settled = True
            logger.warning("task %s of %s was not settled, another worker gets it: %s", job.id, job.queue, error)

    async def _acknowledge(self, job: Job, verb: str, outcome: Outcome, checkpoint: Optional[bytes]) -> None:
        body = _fields(token=job.token, error=None if outcome.is_stop else outcome.error or None)
        await self._alone_until_known(job, verb, _with(body, "checkpoint", checkpoint))

    async def _fail_with_checkpoint(self, job: Job, outcome: Outcome, checkpoint: bytes) -> None:
        extend = _with(_fields(token=job.token), "checkpoint", checkpoint)
        if await self._alone_until_known(job, "extend", extend):
            self._put("fail", job, _item(job, "failed", outcome, None))

    async def _alone_until_known(self, job: Job, verb: str, body: bytes) -> bool:
        route = path("/v1/queues/{queue}/tasks/{id}/", job.queue, job.id) + verb
        failures = 0
        while True:
            try:
                await self._client._json(call("POST", route, body))
                job.is_settled = job.is_settled or verb != "extend"
                return True
            except PunctualError as error:
                if not is_passing(error) or not self._still_held([(job, body)]):
                    if not job.is_settled:
                        self._refused([(job, body)], error)
                    return False
                await asyncio.sleep(pause_s(failures, error, PAUSE_MAX_S))
                failures += 1


def _item(job: Job, verdict: str, outcome: Outcome, checkpoint: Optional[bytes]) -> bytes:
    if verdict == "done":
        return _with(_fields(id=job.id, token=job.token), "result", outcome.result)
    if verdict == "released":
        return _with(_fields(id=job.id, token=job.token, delay=outcome.delay), "checkpoint", checkpoint)
    permanent = True if outcome.permanent else None
    return encode_set(id=job.id, token=job.token, error=outcome.error, retry_in=outcome.retry_in, permanent=permanent)


def encode_set(**values: Any) -> bytes:
    """An object of the values that are there."""
    return encode({name: value for name, value in values.items() if value is not None})


_fields = encode_set


def _with(body: bytes, name: str, value: Optional[bytes]) -> bytes:
    """Adds a member whose value is JSON already."""
    return body if value is None else body[:-1] + b',"' + name.encode() + b'":' + value + b"}"


def _portion(items: List[Item]) -> int:
    size = 0
    for index, (_, item) in enumerate(items[:ITEMS_MAX]):
        size += len(item)
        if index and size > BYTES_MAX:
            return index
    return min(len(items), ITEMS_MAX)
