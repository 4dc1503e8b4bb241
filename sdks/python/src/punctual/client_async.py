"""The client for programs that run on asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Dict, List, Optional, Sequence, Tuple, Union

import httpx

from . import types as t
from ._api_async import AsyncApi
from ._events import Event, Reader
from ._push import Answer, Pushed, answers, is_perhaps_one, item_of, only, portion, request
from ._wire import CONNECT_TIMEOUT_S, UNSET, Unset, encode, path, pause_s, problem, wire
from .client import _SILENCE_MAX_S
from .errors import ApiError, NoAnswer, PunctualError, Unreachable

_Waiting = Tuple[bytes, "asyncio.Future[Answer]"]


class AsyncClient(AsyncApi):
    """Every operation of the server, pushes that gather into batches by themselves, and the event stream."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        retry_for: float = 10.0,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        super().__init__(url, token, retry_for=retry_for, http=http)
        self._waiting: Dict[str, List[_Waiting]] = {}
        self._senders: Dict[str, "asyncio.Task[None]"] = {}

    async def push(
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
        """Pushes a task, durably. Pushes that come while a request is under way go together in the next one; each
        caller gets its own answer. `more` is sent as it is, for fields of newer servers.
        """
        fields = dict(more, id=id, due=due, delay=delay, priority=priority, hold=hold, max_attempts=max_attempts)
        fields.update(retry=retry, unique_for=unique_for, expires=expires, requires=requires)
        fields.update(http=http, callback=callback, tags=tags)
        told: "asyncio.Future[Answer]" = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(queue, []).append((item_of(payload, fields), told))
        if queue not in self._senders:
            self._senders[queue] = asyncio.ensure_future(self._send_waiting(queue))
        return only(await told)

    async def _send_waiting(self, queue: str) -> None:
        group: List[_Waiting] = []
        try:
            while self._waiting[queue]:
                waiting = self._waiting[queue]
                number = portion([item for item, _ in waiting])
                group, self._waiting[queue] = waiting[:number], waiting[number:]
                _tell(group, await self._sent(queue, [item for item, _ in group]))
        except BaseException:
            # The loop ends: nobody sends what waits.
            given_up = group + self._waiting[queue]
            _tell(given_up, [PunctualError("the push was broken off")] * len(given_up))
            raise
        finally:
            del self._waiting[queue], self._senders[queue]

    async def _sent(self, queue: str, items: List[bytes]) -> List[Answer]:
        try:
            return answers(queue, items, await self._bytes(request(queue, items)))
        except PunctualError as error:
            if not is_perhaps_one(error, items):
                return [error] * len(items)
            return [answer for item in items for answer in await self._sent(queue, [item])]

    async def push_many(self, queue: str, tasks: Sequence[t.NewTask]) -> List[t.Result]:
        """Pushes tasks, at most 1,000 in a request. Each answers for itself: look at `ok` and `code`."""
        items = [encode(task) for task in tasks]
        results: List[t.Result] = []
        while items:
            number = portion(items)
            call = wire("POST", path("/v1/queues/{queue}/tasks", queue), is_keyed=True)
            call.body = b'{"tasks":[' + b",".join(items[:number]) + b"]}"
            results += (await self._json(call))["results"]
            items = items[number:]
        return results

    async def wait_for(self, queue: str, id: str, timeout: float = 60.0) -> t.Task:
        """Waits until a task has ended, and reads it. TimeoutError if it has not by then."""
        until = time.monotonic() + timeout
        pause, can_wait = 0.02, True
        while True:
            left = max(until - time.monotonic(), 0.0)
            wait = {"wait": f"{min(left, 30.0):.3f}"} if can_wait else None
            try:
                task: t.Task = await self._json(wire("GET", path("/v1/queues/{queue}/tasks/{id}", queue, id), query=wait))
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
                await asyncio.sleep(min(pause, left))
                pause = min(pause * 2, 1.0)

    async def events(
        self,
        *,
        queue: Optional[str] = None,
        type: Optional[str] = None,
        last_event_id: Optional[str] = None,
    ) -> AsyncIterator[Event]:
        """Everything that happens, as it happens, without end. A stream that breaks off is opened again where it
        was; the event `stream.gap` says that some are missing. `queue` and `type` select, separated by commas.
        """
        reader = Reader(last_event_id)
        failures = 0
        while True:
            try:
                async for event in self._stream(reader, queue, type):
                    failures = 0
                    yield event
                error: PunctualError = NoAnswer("the stream ended")
            except (Unreachable, NoAnswer) as broken:
                error = broken
            reader.restart()
            await asyncio.sleep(pause_s(failures, error))
            failures += 1

    async def _stream(self, reader: Reader, queue: Optional[str], type: Optional[str]) -> AsyncIterator[Event]:
        call = wire("GET", "/v1/events", query={"queue": queue, "type": type})
        head = dict(self._head)
        if reader.last_id:
            head["last-event-id"] = reader.last_id
        timeout = httpx.Timeout(_SILENCE_MAX_S, connect=CONNECT_TIMEOUT_S)
        try:
            async with self._http.stream(
                "GET", self.url + call.path, params=tuple(call.query), headers=head, timeout=timeout
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise problem(answer.status_code, answer.content, answer.headers.get("retry-after"))
                async for line in answer.aiter_lines():
                    event = reader.line(line.rstrip("\r\n"))
                    if event is not None:
                        yield event
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error
        except httpx.TransportError as error:
            raise NoAnswer(f"the stream broke off: {error}") from error


def _tell(group: Sequence[_Waiting], told: Sequence[Answer]) -> None:
    for (_, waiting), answer in zip(group, told):
        if not waiting.done():
            waiting.set_result(answer)
