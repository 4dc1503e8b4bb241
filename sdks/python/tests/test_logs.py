"""Log lines of handlers reach the server that takes them, and harm nobody where it does not."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import List

import httpx

from punctual._beats import LogLines
from punctual._job import Job
from punctual._logs import TaskLog
from punctual.client_async import AsyncClient
from punctual.task import Task, current_task

RECORD = {"queue": "q", "id": "t", "token": "x", "payload": 1, "attempt": 1}


def story(status: int) -> List[List[str]]:
    """The lines of each request that a server answers so."""
    sent: List[List[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/queues/q/tasks/t/log"
        body = json.loads(request.content)
        assert body["token"] == "x"
        sent.append(body["lines"])
        return httpx.Response(status, json={} if status == 200 else {"code": "not_found", "detail": ""})

    async def log() -> None:
        client = AsyncClient("http://server", retry_for=0, http=httpx.AsyncClient(transport=httpx.MockTransport(answer)))
        lines = LogLines(client)
        for _ in range(2):
            job = Job(dict(RECORD), asyncio.get_running_loop(), lambda: None)
            job.on_log = lines.wake
            current_task.set(Task(job.record, job))
            handler = TaskLog()
            logger = logging.Logger("shop")
            logger.addHandler(handler)
            logger.info("one %s", 1)
            logger.debug("not this")
            logger.warning("two")
            await asyncio.sleep(0)
            await lines.idle(5)

    asyncio.run(log())
    return sent


def test_lines_are_sent_together() -> None:
    assert story(200) == [["INFO shop: one 1", "WARNING shop: two"]] * 2


def test_a_server_without_logs_is_asked_once() -> None:
    assert story(404) == [["INFO shop: one 1", "WARNING shop: two"]]
