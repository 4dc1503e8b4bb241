"""The client against a real server."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, cast

import httpx
import pytest

from conftest import until
from punctual import ApiError, AsyncClient, Client, NoAnswer, Pushed, PunctualError, Unreachable
from punctual.testing import Server


class Counting(httpx.BaseTransport):
    """Counts requests and can lose answers."""

    def __init__(self) -> None:
        self.inner = httpx.HTTPTransport()
        self.requests: List[httpx.Request] = []
        self.answers_to_lose = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.inner.handle_request(request)
        if self.answers_to_lose:
            self.answers_to_lose -= 1
            answer.read()
            answer.close()
            raise httpx.ReadError("lost", request=request)
        return answer


def counted(server: Server) -> "tuple[Client, Counting]":
    transport = Counting()
    return Client(server.url, http=httpx.Client(transport=transport)), transport


def test_every_resource_is_read_and_written(punctual_server: Server) -> None:
    client = punctual_server.client
    assert client.put_queue("mail", hold="10s", tag="letters")["hold"] == 10
    assert client.put_queue("mail", tag=None)["tag"] is None
    assert [queue["name"] for queue in client.list_queues()["items"]].count("mail") == 1
    task = client.push_task("mail", payload={"to": "ada"}, id="m1", priority=3)
    assert (task["id"], task.get("state")) == ("m1", "ready")
    assert cast(Any, client.get_task("mail", "m1"))["priority"] == 3
    assert client.why("mail", "m1")["reason"] == "no_taker"
    assert client.push_bundle("mail", "key/1", task=1)["size"] == 1
    assert client.read_bundle("mail", "key/1")["tasks"] == [1]
    notice = client.push_notice(url="http://127.0.0.1:9/", data={"a": 1})
    assert client.get_notice(notice["id"])["url"] == "http://127.0.0.1:9/"
    plan = client.create_plan(station="mail", plan_type="hour", plan_value=1, plan_repet=2, plan_time=0)
    assert client.plan_occurrences(plan["plan_id"], n=1)["items"] == [plan.get("next_at")]
    flow = client.create_flow(steps=[{"name": "a", "queue": "mail"}, {"name": "b", "queue": "mail", "after": ["a"]}])
    assert [step["state"] for step in client.get_flow(flow["id"])["steps"]] == ["ready", "pending"]
    client.put_worker("w", queues=["mail"])
    assert client.get_worker("w")["state"] == "active"
    client.delete_worker("w")
    assert client.stats(queue="mail")["step"] > 0
    assert client.metrics().startswith("#")
    assert client.readyz()["ready"]


def test_pushes_of_threads_gather(punctual_server: Server) -> None:
    client, transport = counted(punctual_server)
    assert client.push("q", 0) == Pushed("q", client.list_tasks("q")["items"][0]["id"])
    transport.requests.clear()
    with ThreadPoolExecutor(32) as pool:
        pushed = list(pool.map(lambda n: client.push("q", n, id=f"t{n}").id, range(200)))
    assert pushed == [f"t{n}" for n in range(200)]
    assert len(transport.requests) < 100
    assert client.get_queue("q")["counts"]["ready"] == 201


def test_each_gathered_push_has_its_own_answer(punctual_server: Server) -> None:
    client, transport = counted(punctual_server)
    client.push("q", 1, id="taken")
    answers: List[Any] = []

    def push(id: str) -> None:
        try:
            answers.append(client.push("q", 1, id=id).id)
        except ApiError as error:
            answers.append((id, error.status, error.code))

    threads = [threading.Thread(target=push, args=(id,)) for id in ["a", "taken", "b", "b c", "d"] * 1]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == sorted(
        map(str, ["a", "b", "d", ("taken", 409, "duplicate"), ("b c", 422, "invalid")])
    )


def test_pushes_of_a_loop_gather(punctual_server: Server) -> None:
    async def story() -> None:
        async with AsyncClient(punctual_server.url) as client:
            pushed = await asyncio.gather(*(client.push("q", n, id=f"t{n}") for n in range(300)))
            assert [it.id for it in pushed] == [f"t{n}" for n in range(300)]
            with pytest.raises(ApiError) as refused:
                await client.push("q", 1, id="t0")
            assert refused.value.code == "duplicate"
            assert (await client.get_queue("q"))["counts"]["ready"] == 300

    asyncio.run(story())


def test_a_push_whose_answer_is_lost_pushes_once(punctual_server: Server) -> None:
    client, transport = counted(punctual_server)
    transport.answers_to_lose = 1
    client.push("q", 1)
    assert len(transport.requests) == 2
    assert client.get_queue("q")["counts"]["total"] == 1
    transport.answers_to_lose = 1
    client.delete_queue("q")
    transport.answers_to_lose = 1
    with pytest.raises(NoAnswer):
        client.move_clock(advance="1s")


def test_bad_input_is_told_at_once(punctual_client: Client) -> None:
    with pytest.raises(ApiError) as refused:
        punctual_client.put_queue("q", hold="soon")
    assert (refused.value.status, refused.value.code) == (422, "invalid")
    assert "hold" in refused.value.detail
    with pytest.raises(PunctualError, match="no name"):
        punctual_client.get_queue("..")
    with pytest.raises(ValueError):
        punctual_client.push("q", float("nan"))


def test_a_server_that_is_away_is_waited_for(durable_server: Server) -> None:
    client = Client(durable_server.url, retry_for=20)
    client.push("q", 1, id="before")
    durable_server.kill()
    with pytest.raises(Unreachable):
        Client(durable_server.url, retry_for=0).push("q", 1)
    pushing = ThreadPoolExecutor(1).submit(client.push, "q", 2, id="meanwhile")
    durable_server.restart()
    assert pushing.result(20).id == "meanwhile"
    assert {task["id"] for task in client.list_tasks("q")["items"]} == {"before", "meanwhile"}


def test_events_go_on_over_a_restart(durable_server: Server) -> None:
    client = durable_server.client
    heard: List[str] = []

    def listen() -> None:
        for event in Client(durable_server.url).events(queue="q", type="task.*"):
            heard.append(event.data.get("id", event.type))

    threading.Thread(target=listen, daemon=True).start()
    number = iter(range(10_000))
    until(lambda: client.push("q", 1, id=f"a{next(number)}") and heard)
    durable_server.kill()
    durable_server.restart()
    until(lambda: client.push("q", 1, id=f"b{next(number)}") and any(it.startswith("b") for it in heard))


def test_the_end_of_a_task_is_waited_for(punctual_client: Client) -> None:
    punctual_client.put_queue("q", keep={"cancelled": "1h"})
    punctual_client.push("q", 1, id="t")
    with pytest.raises(TimeoutError):
        punctual_client.wait_for("q", "t", timeout=0.05)
    punctual_client.cancel_task("q", "t")
    assert punctual_client.wait_for("q", "t")["state"] == "cancelled"
