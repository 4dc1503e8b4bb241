"""The client for programs that wait for each answer; threads may share one."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

import httpx

from . import types as t
from ._api import Api
from ._events import Event, Reader
from ._push import Answer, Pushed, answers, is_perhaps_one, item_of, only, portion, request
from ._wire import CONNECT_TIMEOUT_S, UNSET, Unset, encode, path, pause_s, problem, wire
from .errors import ApiError, NoAnswer, PunctualError, Unreachable

# The server says something at least every 15 seconds.
_SILENCE_MAX_S = 45.0


class Client(Api):
    """Every operation of the server, pushes that gather into batches by themselves, and the event stream."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        retry_for: float = 10.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        super().__init__(url, token, retry_for=retry_for, http=http)
        self._gatherers: Dict[str, _Gatherer] = {}
        self._lock = threading.Lock()

    def push(
        self,
        queue: str,
        payload: Any = None,
        *,
        id: Union[str, Unset] = UNSET,
        due: Union[t.When, Unset] = UNSET,
        delay: Union[t.Duration, Unset] = UNSET,
        priority: Union[int, Unset] = UNSET,
        hold: Union[t.Duration, Unset] = UNSET,
        max_attempts: Union[int, Unset] = UNSET,
        retry: Union[t.Retry, Unset] = UNSET,
        unique_for: Union[t.Duration, Unset] = UNSET,
        expires: Union[t.When, Unset] = UNSET,
        requires: Union[List[str], Unset] = UNSET,
        http: Union[t.Http, Unset] = UNSET,
        callback: Union[t.Callback, Unset] = UNSET,
        tags: Union[List[str], Unset] = UNSET,
        **more: Any,
    ) -> Pushed:
        """Pushes a task, durably. Pushes of other threads that come while a request is under way go together in
        the next one; each caller gets its own answer. `more` is sent as it is, for fields of newer servers.
        """
        fields = dict(more, id=id, due=due, delay=delay, priority=priority, hold=hold, max_attempts=max_attempts)
        fields.update(retry=retry, unique_for=unique_for, expires=expires, requires=requires)
        fields.update(http=http, callback=callback, tags=tags)
        with self._lock:
            gatherer = self._gatherers.setdefault(queue, _Gatherer(self, queue))
        return gatherer.push(item_of(payload, fields))

    def push_many(self, queue: str, tasks: Sequence[t.NewTask]) -> List[t.Result]:
        """Pushes tasks, at most 1,000 in a request. Each answers for itself: look at `ok` and `code`."""
        items = [encode(task) for task in tasks]
        results: List[t.Result] = []
        while items:
            number = portion(items)
            call = wire("POST", path("/v1/queues/{queue}/tasks", queue), is_keyed=True)
            call.body = b'{"tasks":[' + b",".join(items[:number]) + b"]}"
            results += self._json(call)["results"]
            items = items[number:]
        return results

    def wait_for(self, queue: str, id: str, timeout: float = 60.0) -> t.Task:
        """Waits until a task has ended, and reads it. TimeoutError if it has not by then."""
        until = time.monotonic() + timeout
        pause, can_wait = 0.02, True
        while True:
            left = max(until - time.monotonic(), 0.0)
            wait = {"wait": f"{min(left, 30.0):.3f}"} if can_wait else None
            try:
                task: t.Task = self._json(wire("GET", path("/v1/queues/{queue}/tasks/{id}", queue, id), query=wait))
            except ApiError as error:
                if error.status != 422 or not can_wait:
                    raise
                can_wait = False  # An older server: it is asked again and again.
                continue
            if task["state"] in ("done", "failed", "cancelled"):
                return task
            if left <= 0:
                raise TimeoutError(f"task {id} of {queue} is {task['state']} after {timeout} s")
            if not can_wait:
                time.sleep(min(pause, left))
                pause = min(pause * 2, 1.0)

    def events(
        self,
        *,
        queue: Optional[str] = None,
        type: Optional[str] = None,
        last_event_id: Optional[str] = None,
    ) -> Iterator[Event]:
        """Everything that happens, as it happens, without end. A stream that breaks off is opened again where it
        was; the event `stream.gap` says that some are missing. `queue` and `type` select, separated by commas.
        """
        reader = Reader(last_event_id)
        failures = 0
        while True:
            try:
                for event in self._stream(reader, queue, type):
                    failures = 0
                    yield event
                error: PunctualError = NoAnswer("the stream ended")
            except (Unreachable, NoAnswer) as broken:
                error = broken
            reader.restart()
            time.sleep(pause_s(failures, error))
            failures += 1

    def _stream(self, reader: Reader, queue: Optional[str], type: Optional[str]) -> Iterator[Event]:
        call = wire("GET", "/v1/events", query={"queue": queue, "type": type})
        head = dict(self._head)
        if reader.last_id:
            head["last-event-id"] = reader.last_id
        timeout = httpx.Timeout(_SILENCE_MAX_S, connect=CONNECT_TIMEOUT_S)
        try:
            with self._http.stream(
                "GET", self.url + call.path, params=tuple(call.query), headers=head, timeout=timeout
            ) as answer:
                if not answer.is_success:
                    answer.read()
                    raise problem(answer.status_code, answer.content, answer.headers.get("retry-after"))
                for line in answer.iter_lines():
                    event = reader.line(line.rstrip("\r\n"))
                    if event is not None:
                        yield event
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error
        except httpx.TransportError as error:
            raise NoAnswer(f"the stream broke off: {error}") from error


class _Waiting:
    """One caller's push. Its thread sleeps until there is an answer, or until it is its turn to send."""

    def __init__(self, item: bytes) -> None:
        self.item = item
        self.answer: Optional[Answer] = None
        self.woken = threading.Event()


class _Gatherer:
    """Pushes to one queue. At most one request is under way; one of the callers sends for all that wait."""

    def __init__(self, client: Client, queue: str) -> None:
        self._client = client
        self._queue = queue
        self._lock = threading.Lock()
        self._waiting: List[_Waiting] = []
        self._is_busy = False

    def push(self, item: bytes) -> Pushed:
        mine = _Waiting(item)
        with self._lock:
            self._waiting.append(mine)
            must_wait = self._is_busy
            self._is_busy = True
        if must_wait:
            mine.woken.wait()
        if mine.answer is None:
            self._send_for_all()
        return only(mine.answer)

    def _send_for_all(self) -> None:
        with self._lock:
            number = portion([it.item for it in self._waiting])
            group, self._waiting = self._waiting[:number], self._waiting[number:]
        try:
            told = self._sent([it.item for it in group])
        except BaseException as error:
            broken = error if isinstance(error, PunctualError) else PunctualError(f"the push was broken off: {error!r}")
            told = [broken] * len(group)
            if not isinstance(error, Exception):
                self._hand_on(group, told)
                raise
        self._hand_on(group, told)

    def _hand_on(self, group: List[_Waiting], told: List[Answer]) -> None:
        for it, answer in zip(group, told):
            it.answer = answer
            it.woken.set()
        with self._lock:
            self._is_busy = bool(self._waiting)
            if self._waiting:
                self._waiting[0].woken.set()

    def _sent(self, items: List[bytes]) -> List[Answer]:
        try:
            return answers(self._queue, items, self._client._bytes(request(self._queue, items)))
        except PunctualError as error:
            if not is_perhaps_one(error, items):
                return [error] * len(items)
            return [answer for item in items for answer in self._sent([item])]
