"""Where handlers run: threads, an event loop, or processes. All answer on the worker's own loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _logs
from ._outcome import Outcome, crashed, done, failed, trace
from .task import Link, Task, current_task

Function = Callable[[Task], Any]
Answer = Callable[[Outcome], None]


class Runner:
    """Carries out tasks, at most so many at a time; `start` is only called while there is room."""

    def start(self, task: Task, link: Link, answer: Answer) -> None:
        raise NotImplementedError

    def cut_off(self, link: Link) -> None:
        """Ends a handler that does not stop, where that can be done."""

    def close(self) -> None:
        """Lets go of threads and processes."""


def carried_out(function: Function, task: Task, link: Link) -> Outcome:
    """Calls a plain handler."""
    mark = current_task.set(task)
    try:
        return done(function(task))
    except BaseException as error:
        for line in trace(error):
            link.log(line)
        return failed(error)
    finally:
        current_task.reset(mark)


class ThreadRunner(Runner):
    """Threads, started when they are first needed. They never keep the program from ending."""

    def __init__(self, function: Function, name: str) -> None:
        self._function = function
        self._name = name
        self._work: "queue.SimpleQueue[Optional[Tuple[Task, Link, Answer]]]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._threads = 0

    def start(self, task: Task, link: Link, answer: Answer) -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._threads += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._threads}", daemon=True).start()
        self._work.put((task, link, answer))

    def _run(self) -> None:
        while True:
            work = self._work.get()
            if work is None:
                return
            task, link, answer = work
            outcome = carried_out(self._function, task, link)
            with self._lock:
                self._idle += 1
            answer(outcome)

    def close(self) -> None:
        for _ in range(self._threads):
            self._work.put(None)


class LoopRunner(Runner):
    """Coroutines on an event loop that is not the worker's own: a handler that blocks it loses no hold."""

    def __init__(self, function: Function, loop: asyncio.AbstractEventLoop) -> None:
        self._function = function
        self._loop = loop
        self._running: "Dict[int, asyncio.Task[None]]" = {}

    def start(self, task: Task, link: Link, answer: Answer) -> None:
        def begin() -> None:
            self._running[id(link)] = self._loop.create_task(self._run(task, link, answer))

        self._loop.call_soon_threadsafe(begin)

    async def _run(self, task: Task, link: Link, answer: Answer) -> None:
        current_task.set(task)
        try:
            outcome = done(await self._function(task))
        except asyncio.CancelledError as error:
            outcome = failed(error)
            outcome.error = "the handler was cut off"
        except Exception as error:
            for line in trace(error):
                link.log(line)
            outcome = failed(error)
        finally:
            self._running.pop(id(link), None)
        answer(outcome)

    def cut_off(self, link: Link) -> None:
        def end() -> None:
            running = self._running.get(id(link))
            if running is not None:
                running.cancel()

        self._loop.call_soon_threadsafe(end)


class ProcessRunner(Runner):
    """Processes of their own, for handlers that keep a processor busy or that may crash."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._idle: List[_Child] = []
        self._busy: Dict[int, _Child] = {}

    def start(self, task: Task, link: Link, answer: Answer) -> None:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        threading.Thread(target=self._attend, args=(child, task, link, answer), daemon=True).start()

    def _attend(self, child: "Optional[_Child]", task: Task, link: Link, answer: Answer) -> None:
        child = child or _Child(self._context, self._function)
        with self._lock:
            self._busy[id(link)] = child
        outcome = child.carry_out(task, link)
        with self._lock:
            self._busy.pop(id(link), None)
            if child.is_alive():
                self._idle.append(child)
        answer(outcome)

    def cut_off(self, link: Link) -> None:
        with self._lock:
            child = self._busy.get(id(link))
        if child is not None:
            child.end()

    def close(self) -> None:
        with self._lock:
            children, self._idle = self._idle, []
        for child in children:
            child.end()


class _Child:
    """A process and the pipe to it."""

    def __init__(self, context: Any, function: Function) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_child_main, args=(theirs, function), daemon=True)
        self._process.start()
        theirs.close()
        self._sending = threading.Lock()
        self._link: Optional[Link] = None

    def is_alive(self) -> bool:
        return bool(self._process.is_alive())

    def end(self) -> None:
        self._process.terminate()

    def carry_out(self, task: Task, link: Link) -> Outcome:
        try:
            with self._sending:
                self._link = link
                self._pipe.send(("task", task.record))
            link.hear(lambda reason: self._tell(link, reason))
            while True:
                kind, value = self._pipe.recv()
                if kind == "report":
                    link.report(value)
                elif kind == "log":
                    link.log(value)
                elif kind == "done":
                    outcome: Outcome = value
                    return outcome
        except (EOFError, OSError):
            self._process.join(5)
            return crashed(self._process.exitcode)
        finally:
            with self._sending:
                self._link = None

    def _tell(self, link: Link, reason: str) -> None:
        with self._sending:
            if self._link is not link:
                return  # It has another task by now.
            try:
                self._pipe.send(("stop", reason))
            except OSError:
                pass  # It has ended; whoever waits for it hears so.


class _PipeLink(Link):
    """The child's end."""

    def __init__(self, pipe: Connection, lock: "threading.Lock") -> None:
        super().__init__()
        self._pipe = pipe
        self._sending = lock

    def report(self, what: Dict[str, Any]) -> None:
        with self._sending:
            self._pipe.send(("report", what))

    def log(self, line: str) -> None:
        with self._sending:
            self._pipe.send(("log", line))


def _child_main(pipe: Connection, function: Function) -> None:
    # Ctrl-C reaches every process of a terminal; the parent decides what becomes of handlers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _logs.attach(20)
    sending = threading.Lock()
    tasks: "queue.SimpleQueue[Optional[Tuple[Dict[str, Any], Link]]]" = queue.SimpleQueue()

    def listen() -> None:
        link: Link = _PipeLink(pipe, sending)
        while True:
            try:
                kind, value = pipe.recv()
            except (EOFError, OSError):
                tasks.put(None)
                link.tell("lost")
                return
            if kind == "task":
                link = _PipeLink(pipe, sending)
                tasks.put((value, link))
            else:
                link.tell(value)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        work = tasks.get()
        if work is None:
            return
        record, link = work
        task = Task(record, link)
        if asyncio.iscoroutinefunction(function):
            outcome = carried_out(lambda it: asyncio.run(function(it)), task, link)
        else:
            outcome = carried_out(function, task, link)
        with sending:
            pipe.send(("done", outcome))
