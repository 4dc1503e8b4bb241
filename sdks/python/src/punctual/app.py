"""A program's worker: handlers by decorator, `run` until a signal comes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import multiprocessing
import os
import re
import signal
import socket
import threading
import uuid
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence, TypeVar, Union

from . import _logs
from ._push import Pushed
from ._runners import LoopRunner, ProcessRunner, Runner, ThreadRunner
from ._worker import Handler, Worker
from .client import Client
from .client_async import AsyncClient
from .errors import PunctualError
from .task import Task

Function = TypeVar("Function", bound=Callable[[Task], Any])


@dataclass
class _Registered:
    function: Callable[[Task], Any]
    concurrency: int
    prefetch: int
    is_process: bool


class Punctual:
    """A worker and its client.

        app = Punctual()

        @app.task("mail")
        def send(task):
            return f"sent to {task.payload['to']}"

        app.run()
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        name: Optional[str] = None,
        capabilities: Sequence[str] = (),
        grace: float = 30.0,
        log_level: Optional[int] = logging.INFO,
    ) -> None:
        """`name` is the worker's own among those of its queues, made up if left out. After a stop, handlers have
        `grace` seconds. Records of `logging` from `log_level` on go to the task's log; None: they do not.
        """
        self._url, self._token = url, token
        self.name = name or _name()
        self._capabilities = list(capabilities)
        self._grace = grace
        self._log_level = log_level
        self._registered: Dict[str, _Registered] = {}
        self._client: Optional[Client] = None
        self._worker: Optional[Worker] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._ended: "Optional[concurrent.futures.Future[None]]" = None
        self._is_stopping = False

    @property
    def client(self) -> Client:
        """The client of the same server, for pushes and everything else."""
        if self._client is None:
            self._client = Client(self._url, self._token)
        return self._client

    def push(self, queue: str, payload: Any = None, **fields: Any) -> Pushed:
        """Pushes a task; see `Client.push`."""
        return self.client.push(queue, payload, **fields)

    def task(
        self, queue: str, *, concurrency: Optional[int] = None, processes: bool = False, prefetch: int = 0
    ) -> Callable[[Function], Function]:
        """Has a function carry out the tasks of a queue, whatever the queue's mode: pull, dispatch or vote.

        A plain function runs in threads (8 at a time if not said), an `async def` on an event loop (100), either in
        processes of their own with `processes` (one per processor). Up to `prefetch` further tasks are taken ahead.
        Its value is the task's result; an exception fails the task.
        """

        def register(function: Function) -> Function:
            usual = os.cpu_count() or 1 if processes else 100 if asyncio.iscoroutinefunction(function) else 8
            places = usual if concurrency is None else concurrency
            if places < 1 or prefetch < 0:
                raise PunctualError("concurrency is at least 1, prefetch at least 0")
            if queue in self._registered:
                raise PunctualError(f"queue {queue} has a handler already")
            self._registered[queue] = _Registered(function, places, prefetch, processes)
            return function

        return register

    def run(self) -> None:
        """Works until SIGINT or SIGTERM, then stops gracefully; a second signal gives tasks back at once.

        Raises what makes going on impossible, such as a token without the right. A server that is away is waited for.
        """
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            return  # A process of a handler imports the program anew: it must not become a worker itself.
        previous = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                previous[number] = signal.signal(number, lambda *_: self.stop(hurry=self._is_stopping))
        try:
            self.start()
            self.join()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    async def run_async(self) -> None:
        """Works until `stop` is called or this coroutine is cancelled; `async def` handlers run on this loop."""
        self._begin(asyncio.get_running_loop())
        assert self._ended is not None
        ended = asyncio.wrap_future(self._ended)
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            self.stop()
            await ended
            raise

    def start(self) -> None:
        """Begins to work in the background."""
        self._begin(None)

    def stop(self, *, hurry: bool = False) -> None:
        """Takes nothing more and lets handlers finish; with `hurry` they are told to stop at once."""
        self._is_stopping = True
        loop, worker = self._loop, self._worker
        if loop is None or worker is None:
            return
        try:
            loop.call_soon_threadsafe(worker.stopping.set)
            if hurry:
                loop.call_soon_threadsafe(worker.hurry.set)
        except RuntimeError:
            pass  # It has ended by itself.

    def join(self, timeout: Optional[float] = None) -> None:
        """Waits until it has ended; raises what ended it if that was no stop."""
        if self._ended is not None:
            self._ended.result(timeout)

    def __enter__(self) -> "Punctual":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.join()

    def _begin(self, handler_loop: Optional[asyncio.AbstractEventLoop]) -> None:
        if self._ended is not None and not self._ended.done():
            raise PunctualError("the worker runs already")
        if not self._registered:
            raise PunctualError("no handler: put @app.task(QUEUE) in front of a function")
        if self._log_level is not None:
            _logs.attach(self._log_level)
        self._is_stopping = False
        ended: "concurrent.futures.Future[None]" = concurrent.futures.Future()
        is_ready = threading.Event()
        self._ended = ended

        def work() -> None:
            try:
                asyncio.run(self._work(handler_loop, is_ready))
            except BaseException as error:
                ended.set_exception(error)
            else:
                ended.set_result(None)
            finally:
                is_ready.set()

        threading.Thread(target=work, name="punctual-worker", daemon=True).start()
        is_ready.wait()

    async def _work(self, handler_loop: Optional[asyncio.AbstractEventLoop], is_ready: threading.Event) -> None:
        own_loop: Optional[asyncio.AbstractEventLoop] = None
        handlers: List[Handler] = []
        try:
            for queue, it in self._registered.items():
                runner: Runner
                if it.is_process:
                    runner = ProcessRunner(it.function)
                elif asyncio.iscoroutinefunction(it.function):
                    if handler_loop is None:
                        handler_loop = own_loop = _loop_thread()
                    runner = LoopRunner(it.function, handler_loop)
                else:
                    runner = ThreadRunner(it.function, f"punctual-{queue}")
                handlers.append(Handler(queue, runner, it.concurrency, it.prefetch))
            client = AsyncClient(self._url, self._token, retry_for=0.0)
            worker = Worker(client, self.name, self._capabilities, self._grace, handlers)
            self._loop, self._worker = asyncio.get_running_loop(), worker
            if self._is_stopping:
                worker.stopping.set()
            is_ready.set()
            await worker.run()
        finally:
            self._worker = None
            for handler in handlers:
                handler.runner.close()
            if own_loop is not None:
                own_loop.call_soon_threadsafe(own_loop.stop)


def _loop_thread() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="punctual-handlers", daemon=True).start()
    return loop


def _name() -> str:
    """A name that no other worker has."""
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:80] or "worker"
    return f"{host}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


AnyHandler = Union[Callable[[Task], Any], Callable[[Task], Awaitable[Any]]]
