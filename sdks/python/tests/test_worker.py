"""Workers against a real server: every way to run handlers, every way a task can end."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import Any, Dict, List, Optional, cast

import pytest

from conftest import until
from punctual import ApiError, Client, Fail, Punctual, Release, Task
from punctual.testing import Server

KEEP: Any = {"done": "1h", "failed": "1h", "cancelled": "1h"}


def app_of(server: Server, **options: Any) -> Punctual:
    return Punctual(server.url, grace=options.pop("grace", 5.0), **options)


def state(client: Client, id: str, queue: str = "q") -> str:
    return client.get_task(queue, id)["state"]


def test_results_come_back_and_commits_gather(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP)
    client.push_many("q", [{"id": f"t{n}", "payload": n} for n in range(300)])
    app = app_of(punctual_server)

    @app.task("q", concurrency=16)
    def double(task: Task) -> Dict[str, int]:
        return {"twice": task.payload * 2}

    with app:
        until(lambda: client.get_queue("q")["counts"]["done"] == 300)
    assert cast(Any, client.get_task("q", "t7"))["result"] == {"twice": 14}
    text = client.metrics()
    calls = sum(
        float(line.rsplit(" ", 1)[1])
        for line in text.splitlines()
        if line.startswith("punctual_http_requests_total") and ("commit" in line or "take" in line)
    )
    assert calls < 300


def test_coroutines_run_side_by_side(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP)
    app = app_of(punctual_server)
    there: List[str] = []

    @app.task("q")
    async def meet(task: Task) -> str:
        there.append(task.id)
        while len(there) < 20:
            await asyncio.sleep(0.01)
        return "met"

    with app:
        client.push_many("q", [{"id": f"t{n}"} for n in range(20)])
        until(lambda: client.get_queue("q")["counts"]["done"] == 20)


def test_a_program_on_asyncio_keeps_its_loop(punctual_server: Server) -> None:
    punctual_server.client.put_queue("q", keep=KEEP)
    punctual_server.client.push("q", 1, id="t")

    async def program() -> None:
        app = app_of(punctual_server)
        mine = asyncio.get_running_loop()

        @app.task("q")
        async def on_loop(task: Task) -> bool:
            app.stop()
            return asyncio.get_running_loop() is mine

        await asyncio.wait_for(app.run_async(), 20)

    asyncio.run(program())
    assert cast(Any, punctual_server.client.get_task("q", "t"))["result"] is True


def in_process(task: Task) -> Any:
    import multiprocessing
    import os

    if task.payload == "crash":
        os._exit(7)
    if task.payload == "wait":
        task.save_checkpoint("half")
        task.wait_stopped(20)
        task.check()
    logging.getLogger("mine").info("in a process")
    return multiprocessing.parent_process() is not None


def test_processes_crash_alone(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP, max_attempts=1, hold="3s")
    app = app_of(punctual_server)
    app.task("q", concurrency=2, processes=True)(in_process)
    with app:
        for name in ("crash", "fine", "wait"):
            client.push("q", name, id=name)
        assert client.wait_for("q", "fine")["result"] is True
        failed = client.wait_for("q", "crash")
        assert (failed["state"], failed["error"]) == ("failed", "the process of the handler ended with exit code 7")
        until(lambda: cast(Any, client.get_task("q", "wait"))["checkpoint"] == "half")
        client.cancel_task("q", "wait")
        assert client.wait_for("q", "wait")["state"] == "cancelled"


def test_failures_are_retried_or_not(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP, max_attempts=3, retry={"intervals": [0.01]})
    app = app_of(punctual_server)

    @app.task("q")
    def handler(task: Task) -> Any:
        if task.payload == "again" and task.attempt < 3:
            task.save_checkpoint(task.attempt)
            raise ValueError("not yet")
        if task.payload == "never":
            raise Fail("no such address", permanent=True)
        if task.payload == "later":
            raise Fail("busy", retry_in="1h")
        if task.payload == "given back" and not seen:
            seen.append(1)
            raise Release()
        if task.payload == "no json":
            return object()
        if task.payload == "too large":
            return "x" * (1 << 20)
        return [task.attempt, task.checkpoint]

    seen: List[int] = []
    with app:
        for name in ("again", "never", "later", "given back", "no json", "too large"):
            client.push("q", name, id=name.replace(" ", "-"))
        assert client.wait_for("q", "again")["result"] == [3, 2]
        never = client.wait_for("q", "never")
        assert (never["error"], never["attempt"]) == ("no such address", 1)
        assert client.wait_for("q", "given-back")["result"] == [1, None]
        assert "no JSON" in str(client.wait_for("q", "no-json")["error"])
        assert "the result was refused" in str(client.wait_for("q", "too-large")["error"])
        assert state(client, "later") == "waiting"


def test_cancel_and_pause_reach_the_handler(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP, hold="1s")
    app = app_of(punctual_server)
    begun = threading.Semaphore(0)
    reasons: List[Optional[str]] = []

    @app.task("q")
    def patient(task: Task) -> str:
        if task.checkpoint is not None:
            return f"went on from {task.checkpoint}"
        begun.release()
        task.progress(0.5, "half way")
        reasons.append(task.wait_stopped(20))
        task.save_checkpoint("page 7")
        task.check()
        return "done"

    @app.task("a")
    async def patient_too(task: Task) -> None:
        begun.release()
        reasons.append(await task.stopped())
        task.check()

    client.put_queue("a", keep=KEEP, hold="1s")
    with app:
        client.push("q", 1, id="cancelled")
        begun.acquire()
        until(lambda: cast(Any, client.get_task("q", "cancelled"))["progress"] == 0.5)
        client.cancel_task("q", "cancelled")
        assert client.wait_for("q", "cancelled")["state"] == "cancelled"
        client.push("q", 1, id="paused")
        begun.acquire()
        client.pause_task("q", "paused")
        until(lambda: state(client, "paused") == "paused")
        client.resume_task("q", "paused")
        assert client.wait_for("q", "paused")["result"] == "went on from page 7"
        client.push("a", 1, id="x")
        begun.acquire()
        client.cancel_task("a", "x")
        assert client.wait_for("a", "x")["state"] == "cancelled"
    assert reasons == ["cancelled", "paused", "cancelled"]


def test_a_hold_outlives_its_length_and_a_lost_one_is_told(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP, hold="0.5s")
    app = app_of(punctual_server)
    told: List[Optional[str]] = []

    @app.task("q")
    def slow(task: Task) -> str:
        if task.payload == "lose" and task.attempt == 1:
            told.append(task.wait_stopped(20))
            return "nobody hears this"
        time.sleep(1.5)
        return "kept"

    with app:
        client.push("q", "keep", id="kept")
        kept = client.wait_for("q", "kept")
        assert (kept["result"], kept["attempt"]) == ("kept", 1)
        client.push("q", "lose", id="lost")
        until(lambda: state(client, "lost") == "running")
        client.retry_task("q", "lost", force=True)
        lost = client.wait_for("q", "lost")
        assert (lost["result"], lost["attempt"], told) == ("kept", 2, ["lost"])


def test_dispatch_and_votes(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("render", mode="dispatch", keep=KEEP)
    client.put_queue("quorum", mode="vote", keep=KEEP)
    apps = [app_of(punctual_server, name=name, capabilities=[name]) for name in ("ada", "bob")]

    for app in apps:

        @app.task("render")
        def render(task: Task) -> str:
            return str(task.record["worker"])

        @app.task("quorum")
        def vote(task: Task, name: str = app.name) -> str:
            if name == "bob":
                raise Fail("away")
            return "yes"

    with apps[0], apps[1]:
        until(lambda: len(client.list_workers()["items"]) == 2)
        client.push("render", 1, id="scene", requires=["bob"])
        assert client.wait_for("render", "scene")["worker"] == "bob"
        client.push("quorum", 1, id="merge")
        assert client.wait_for("quorum", "merge")["result"] == {"ada": "yes", "bob": None}
    assert client.list_workers()["items"] == []


def test_a_stop_lets_handlers_finish_and_gives_back_the_rest(punctual_server: Server) -> None:
    client = punctual_server.client
    client.put_queue("q", keep=KEEP, hold="1h")
    client.push_many("q", [{"id": f"t{n}", "payload": n} for n in range(6)])
    app = app_of(punctual_server, grace=0.5)
    go_on = threading.Event()

    @app.task("q", concurrency=2, prefetch=2)
    def handler(task: Task) -> str:
        go_on.wait(20)
        if task.payload == 0:
            return "finished"
        task.save_checkpoint("so far")
        task.wait_stopped(20)
        task.check()
        return "never"

    app.start()
    until(lambda: client.get_queue("q")["counts"]["running"] == 4)
    go_on.set()
    until(lambda: client.get_queue("q")["counts"]["done"] == 1)
    began = time.monotonic()
    app.stop()
    app.join(20)
    assert time.monotonic() - began < 5, "an open take keeps no stop waiting"
    counts = client.get_queue("q")["counts"]
    assert (counts["done"], counts["ready"], counts["running"]) == (1, 5, 0)
    given_back = [task for task in client.list_tasks("q", state="ready")["items"] if task["checkpoint"]]
    assert [task["attempt"] for task in given_back] in ([0], [0, 0])


def test_work_goes_on_over_a_kill(durable_server: Server) -> None:
    client = durable_server.client
    client.put_queue("q", keep=KEEP, hold="20s")
    app = app_of(durable_server)
    go_on = threading.Event()
    counted: List[str] = []

    @app.task("q", concurrency=4)
    def handler(task: Task) -> str:
        counted.append(task.id)
        go_on.wait(20)
        return "over the crash"

    with app:
        client.push_many("q", [{"id": f"t{n}"} for n in range(8)])
        until(lambda: len(counted) == 4)
        durable_server.kill()
        go_on.set()
        durable_server.restart()
        until(lambda: client.get_queue("q")["counts"]["done"] == 8)
    assert sorted(counted) == [f"t{n}" for n in range(8)], "each was carried out once"


def test_a_worker_without_the_right_ends(punctual_server: Server) -> None:
    app = app_of(punctual_server, name="no name")
    app.task("q")(lambda task: None)
    app.start()
    with pytest.raises(ApiError, match="worker"):
        app.join(20)
