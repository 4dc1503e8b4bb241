"""The worker: takes tasks or is given them, hands them to handlers, keeps their holds, settles them.

It runs on an event loop of its own, in a thread of its own, so that a handler that never yields keeps its hold
all the same.

    pull ──┐                          ┌── runner: threads, a loop, processes
           ├──▶ Worker.begin ─────────┤
    given ─┘                          └── Beats: extend, hear of cancel and pause
                Worker.finished ──▶ Settler: commits ride on the next take
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Deque, Dict, List, Optional, Sequence

from ._beats import Beats, LogLines
from ._job import Job, hold_of
from ._logs import logger
from ._outcome import Outcome
from ._runners import Runner
from ._settle import PAUSE_MAX_S, Item, Settler, call, encode_set, is_passing
from ._wire import path, pause_s
from .client_async import AsyncClient
from .errors import ApiError, PunctualError
from .task import CANCELLED, LOST, PAUSED, STOPPING, Task

# How long a take or a poll waits for something to do. Well below the silence after which a worker is lost.
WAIT_S = 15
# How long handlers have that were told to stop before they are cut off.
LAST_WORDS_S = 2.0
# A request that is older than this waits for something to do; a younger one may be about to be answered.
_ANSWER_S = 0.5
_TAKE_MAX = 1_000


@dataclass
class Handler:
    """The handler of a queue, with its places."""

    queue: str
    runner: Runner
    concurrency: int
    prefetch: int
    running: int = 0
    # Taken or assigned, and waiting for a place.
    backlog: Deque[Job] = field(default_factory=deque)

    def room(self) -> int:
        return self.concurrency + self.prefetch - self.running - len(self.backlog)


class Worker:
    """One run of a worker, from its start to its graceful end."""

    def __init__(
        self, client: AsyncClient, name: str, capabilities: Sequence[str], grace_s: float, handlers: List[Handler]
    ) -> None:
        self._client = client
        self._name = name
        self._capabilities = list(capabilities)
        self._grace_s = grace_s
        self._handlers = {handler.queue: handler for handler in handlers}
        self._jobs: Dict[str, Job] = {}
        # Tokens of the last tasks that are over.
        self._ended: Deque[str] = deque(maxlen=1_000)
        self._loop = asyncio.get_running_loop()
        self._beats = Beats(client, self._jobs)
        self._lines = LogLines(client)
        self._settlers = {queue: Settler(client, queue) for queue in self._handlers}
        self._changed = asyncio.Event()
        self.stopping = asyncio.Event()
        self.hurry = asyncio.Event()
        self._session = uuid.uuid4().hex

    async def run(self) -> None:
        """Works until `stopping` is set. An error means that it cannot go on; a server that is away is waited for."""
        beats = asyncio.ensure_future(self._beats.run())
        is_registered = False
        loops: "List[asyncio.Future[None]]" = []
        try:
            given = []
            for handler in self._handlers.values():
                mode = await self._mode_of(handler.queue)
                if mode in ("dispatch", "vote"):
                    given.append(handler)
                elif mode == "pull":
                    loops.append(asyncio.ensure_future(self._pull(handler)))
                elif mode is not None:
                    logger.warning("queue %s has mode %s: the server carries it out itself", handler.queue, mode)
            if given:
                is_registered = True
                loops.append(asyncio.ensure_future(self._be_given(given)))
            loops.append(asyncio.ensure_future(self._until_stopping()))
            await asyncio.gather(*loops)
            await self._finish()
            if is_registered:
                await self._quietly(self._client.delete_worker(self._name))
        except PunctualError:
            for running in loops:
                running.cancel()
            self.hurry.set()
            await self._finish()
            raise
        finally:
            beats.cancel()
            await self._client.aclose()

    async def _until_stopping(self) -> None:
        await self.stopping.wait()

    async def _mode_of(self, queue: str) -> Optional[str]:
        """Reads a queue's mode; makes the queue if it does not exist; None: stopped meanwhile."""
        failures = 0
        while not self.stopping.is_set():
            try:
                return (await self._client.get_queue(queue))["mode"]
            except ApiError as error:
                if error.code != "not_found" and not is_passing(error):
                    raise
                if error.code == "not_found":
                    await self._quietly(self._client.put_queue(queue))
                failures = await self._pause(failures, error)
            except PunctualError as error:
                failures = await self._pause(failures, error)
        return None

    async def _pause(self, failures: int, error: PunctualError) -> int:
        """Waits longer and longer while the server cannot be spoken to, but not beyond a stop."""
        if failures == 1:
            logger.warning("the server cannot be spoken to, it is tried again: %s", error)
        try:
            await asyncio.wait_for(self.stopping.wait(), pause_s(failures, error, PAUSE_MAX_S))
        except asyncio.TimeoutError:
            pass
        return failures + 1

    async def _quietly(self, work: Any) -> None:
        """Ignores errors of messages that the server can do without."""
        try:
            await work
        except PunctualError as error:
            logger.debug("not told: %s", error)

    # Tasks of pull queues.

    async def _pull(self, handler: Handler) -> None:
        settler = self._settlers[handler.queue]
        route = path("/v1/queues/{queue}/take", handler.queue)
        failures = 0
        while True:
            while handler.room() < 1 and not self.stopping.is_set():
                self._changed.clear()
                await self._either(self._changed)
            if self.stopping.is_set():
                return
            commits = settler.take_commits()
            take = encode_set(worker=self._name, n=min(handler.room(), _TAKE_MAX), wait=WAIT_S)
            if commits:
                take = take[:-1] + b',"commit":[' + b",".join(item for _, item in commits) + b"]}"
            try:
                told = await self._taken(call("POST", route, take, WAIT_S))
            except PunctualError as error:
                settler.put_back(commits)
                is_gone = isinstance(error, ApiError) and error.code == "not_found"
                if not is_passing(error) and not is_gone:
                    raise
                failures = await self._pause(failures, error)
                continue
            if told is None:
                settler.put_back(commits)
                return
            failures = 0
            settler.committed(commits, told.get("committed") or [])
            for record in told["tasks"]:
                self._accept(handler, record)

    async def _taken(self, take: Any) -> Optional[Dict[str, Any]]:
        """The answer of a take; None if a stop came first. The server releases what it could not hand over."""
        left_at = self._loop.time()
        asked = asyncio.ensure_future(self._client._json(take))
        stop = asyncio.ensure_future(self.stopping.wait())
        await asyncio.wait([asked, stop], return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not asked.done():
            await asyncio.wait([asked], timeout=max(left_at + _ANSWER_S - self._loop.time(), 0.0))
        if not asked.done():
            asked.cancel()
            await asyncio.wait([asked])
            return None
        told: Dict[str, Any] = asked.result()
        return told

    async def _either(self, event: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(self.stopping.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    # Tasks of dispatch and vote queues.

    async def _be_given(self, handlers: List[Handler]) -> None:
        served = {handler.queue: handler for handler in handlers}
        capacity = sum(handler.concurrency for handler in handlers)
        has_joined = False
        failures = 0
        while not self.stopping.is_set():
            try:
                if not has_joined:
                    await self._client.put_worker(
                        self._name,
                        queues=list(served),
                        capabilities=self._capabilities,
                        capacity=min(capacity, 10_000),
                        session=self._session,
                    )
                    has_joined = True
                route = path("/v1/workers/{worker}/poll", self._name)
                told = await self._taken(call("POST", route, encode_set(wait=WAIT_S, session=self._session), WAIT_S))
                failures = 0
                if told is not None:
                    self._hear(served, told)
            except PunctualError as error:
                code = error.code if isinstance(error, ApiError) else None
                if has_joined and code == "not_found":
                    has_joined = False  # It was silent for too long, or somebody has removed it.
                    continue
                if code == "stale_token":
                    # Another has joined under this name, and has what this one held.
                    for job in self._jobs.values():
                        if job.queue in served:
                            job.tell(LOST)
                if not is_passing(error):
                    raise
                failures = await self._pause(failures, error)
        if has_joined:
            await self._quietly(self._client.drain_worker(self._name))

    def _hear(self, served: Dict[str, Handler], told: Dict[str, Any]) -> None:
        for record in told["assignments"]:
            if record["queue"] in served:
                self._accept(served[record["queue"]], record)
        for reason, names in ((CANCELLED, told["cancel"]), (PAUSED, told["pause"])):
            for name in names:
                for job in list(self._jobs.values()):
                    if (job.queue, job.id) == (name["queue"], name["id"]):
                        job.tell(reason)

    # Every task.

    def _accept(self, handler: Handler, record: Dict[str, Any]) -> None:
        is_assigned = record["state"] == "assigned"
        if record["token"] in self._jobs or (is_assigned and record["token"] in self._ended):
            return  # An assignment repeats until it is confirmed, and in a poll that was under way then.
        job = Job(record, self._loop, self._beats.wake)
        job.on_log = self._lines.wake
        # Until it is confirmed nothing is held, and nothing is to be extended.
        job.is_beating = not is_assigned
        self._jobs[job.token] = job
        handler.backlog.append(job)
        self._fill(handler)
        self._beats.wake()

    def _fill(self, handler: Handler) -> None:
        while handler.backlog and handler.running < handler.concurrency and not self.stopping.is_set():
            job = handler.backlog.popleft()
            handler.running += 1
            if job.record["state"] == "assigned":
                asyncio.ensure_future(self._confirm(handler, job))
            else:
                self._start(handler, job)

    async def _confirm(self, handler: Handler, job: Job) -> None:
        """Confirms as late as possible: whoever cannot start does not confirm, and another is asked."""
        try:
            task: Any = await self._client.confirm(job.queue, job.id, token=job.token)
        except PunctualError as error:
            logger.warning("task %s of %s was not confirmed: %s", job.id, job.queue, error)
            self._jobs.pop(job.token, None)
            self._freed(handler)
            return
        # A vote reads without a hold of its own.
        known = {name: task[name] for name in ("taken_at", "hold_until", "state") if task.get(name)}
        job.record = {**job.record, **known}
        job.hold_s = hold_of(job.record)
        job.beat_s = min(job.beat_s, job.hold_s / 3)
        job.renew(self._loop.time())
        job.is_beating = True
        self._beats.wake()
        self._start(handler, job)

    def _start(self, handler: Handler, job: Job) -> None:
        job.is_running = True

        def answer(outcome: Outcome) -> None:
            self._loop.call_soon_threadsafe(self._finished, handler, job, outcome)

        handler.runner.start(Task(job.record, job), job, answer)

    def _finished(self, handler: Handler, job: Job, outcome: Outcome) -> None:
        if self._jobs.pop(job.token, None) is None:
            return  # It was given back meanwhile.
        job.is_running = job.is_beating = False
        self._ended.append(job.token)
        self._freed(handler)
        self._settlers[job.queue].add(job, outcome)

    def _freed(self, handler: Handler) -> None:
        handler.running -= 1
        self._fill(handler)
        self._changed.set()

    # The end.

    async def _finish(self) -> None:
        """Lets what is under way finish, gives back what does not in time."""
        for handler in self._handlers.values():
            for job in handler.backlog:
                if self._jobs.pop(job.token, None) is not None and job.is_beating:
                    self._settlers[job.queue].add(job, Outcome("released"))
            handler.backlog.clear()
        await self._empty(self._grace_s, self.hurry)
        for job in list(self._jobs.values()):
            job.tell(STOPPING)
        await self._empty(LAST_WORDS_S)
        for job in list(self._jobs.values()):
            self._handlers[job.queue].runner.cut_off(job)
        await self._empty(LAST_WORDS_S if self._jobs else 0)
        for job in list(self._jobs.values()):
            self._finished(self._handlers[job.queue], job, Outcome("failed", error="the handler did not stop"))
        settled = asyncio.gather(*(settler.idle() for settler in self._settlers.values()))
        try:
            await asyncio.wait_for(settled, self._grace_s + LAST_WORDS_S)
        except asyncio.TimeoutError:
            logger.warning("the outcomes of some tasks could not be told")
        await self._lines.idle(LAST_WORDS_S)

    async def _empty(self, timeout: float, unless: Optional[asyncio.Event] = None) -> None:
        """Waits until no handler runs, for so long at most."""
        until = self._loop.time() + timeout
        while self._jobs and not (unless and unless.is_set()):
            left = until - self._loop.time()
            if left <= 0:
                return
            self._changed.clear()
            waits = [asyncio.ensure_future(event.wait()) for event in ([self._changed, unless] if unless else [self._changed])]
            await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()


__all__ = ["Handler", "Item", "Worker"]
