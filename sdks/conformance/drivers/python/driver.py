"""Carries out the story's commands with the Python SDK: one JSON object per line in, one answer per line out."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Dict, List

from punctual import ApiError, Client, Fail, NoAnswer, Punctual, Task, Unreachable, WebhookError, verify

client = Client()
impatient = Client(retry_for=0)
pool = ThreadPoolExecutor(16)
apps: Dict[str, Punctual] = {}
stops: List[str] = []
heard: List[str] = []
gate = threading.Event()
later: "List[Future[Any]]" = []


def handler(name: str) -> Callable[[Task], Any]:
    """Does as the task's payload says."""

    def handle(task: Task) -> Any:
        order = task.payload
        kind = order["do"]
        if kind == "return":
            return order["value"]
        if kind == "name":
            return name
        if kind == "inputs":
            return order["inputs"]
        if kind == "fail":
            raise Fail(order["error"], permanent=order["permanent"])
        if kind == "throw":
            raise ValueError("thrown")
        if kind == "vote":
            if name not in order["votes"]:
                raise Fail("no opinion")
            return order["votes"][name]
        if kind == "sleep":
            threading.Event().wait(order["seconds"])
            return "slept"
        if kind == "gate":
            gate.wait(30)
            return "gate"
        if kind == "fail_twice":
            if task.attempt < 3:
                task.save_checkpoint(task.attempt)
                raise RuntimeError("not yet")
            return f"checkpoint {task.checkpoint}"
        if task.checkpoint is not None:
            return f"checkpoint {task.checkpoint}"
        task.progress(0.25, "waiting")
        stops.append(f"{task.id} {task.wait_stopped(30)}")
        task.save_checkpoint("so far")
        task.check()
        return "was not stopped"

    return handle


def start_worker(name: str, queues: List[str], concurrency: int, capabilities: List[str]) -> None:
    app = Punctual(name=name, capabilities=capabilities, grace=0.3)
    for queue in queues:
        app.task(queue, concurrency=concurrency)(handler(name))
    app.start()
    apps[name] = app


def stop_worker(name: str) -> None:
    apps[name].stop()
    apps[name].join(30)


def pushed(queue: str, id: str) -> str:
    try:
        return client.push(queue, 1, id=id).id
    except ApiError as error:
        return error.code


def push_together(queue: str, ids: List[str]) -> List[str]:
    together = [pool.submit(pushed, queue, id) for id in ids]
    return [it.result() for it in together]


def listen(queue: str, type: str) -> None:
    for event in Client().events(queue=queue, type=type):
        for id in event.data.get("ids") or [event.data.get("id")]:
            heard.append(f"{event.type} {id}")


def answer(do: str, it: Dict[str, Any]) -> Any:
    queue, id = it.get("queue", ""), it.get("id", "")
    options = it.get("options", {})
    commands: Dict[str, Callable[[], Any]] = {
        "put_queue": lambda: client.put_queue(queue, **it["settings"]),
        "get_queue": lambda: client.get_queue(queue),
        "pause_queue": lambda: client.pause_queue(queue),
        "resume_queue": lambda: client.resume_queue(queue),
        "push": lambda: vars(client.push(queue, it["payload"], **options)),
        "push_impatient": lambda: vars(impatient.push(queue, it["payload"])),
        "push_later": lambda: later.append(pool.submit(client.push, queue, it["payload"], **options)),
        "pushed_later": lambda: vars(later.pop().result(30)),
        "push_many": lambda: client.push_many(queue, it["tasks"]),
        "push_together": lambda: push_together(queue, it["ids"]),
        "push_numbers": lambda: len(client.push_many(queue, [
            {"id": f"{it['prefix']}{n}", "payload": {"do": "return", "value": n}} for n in range(it["count"])
        ])),
        "get_task": lambda: client.get_task(queue, id),
        "delete_task": lambda: client.delete_task(queue, id),
        "wait_for": lambda: client.wait_for(queue, id, 25),
        "take": lambda: client.take(queue, **options)["tasks"],
        "extend": lambda: client.extend(queue, id, token=it["token"], **options),
        "commit": lambda: client.commit(queue, id, token=it["token"], result=it["result"]),
        "fail": lambda: client.fail(queue, id, token=it["token"], **options),
        "retry_task": lambda: client.retry_task(queue, id, force=it.get("force", False)),
        "cancel_task": lambda: client.cancel_task(queue, id),
        "pause_task": lambda: client.pause_task(queue, id),
        "resume_task": lambda: client.resume_task(queue, id),
        "events_start": lambda: threading.Thread(target=listen, args=(queue, it["type"]), daemon=True).start(),
        "events_heard": lambda: heard,
        "worker_start": lambda: start_worker(it["name"], it["queues"], it["concurrency"], it.get("capabilities", [])),
        "worker_stop": lambda: stop_worker(it["name"]),
        "stops": lambda: stops,
        "open_gate": gate.set,
        "list_workers": lambda: [worker["name"] for worker in client.list_workers()["items"]],
        "create_flow": lambda: client.create_flow(**it["flow"]),
        "get_flow": lambda: client.get_flow(id),
        "create_plan": lambda: client.create_plan(**it["plan"]),
        "preview_plan": lambda: client.preview_plan(**it["rule"])["items"],
        "get_plan": lambda: client.get_plan(id),
        "plan_results": lambda: client.plan_results(id)["items"],
        "push_bundle": lambda: client.push_bundle(queue, it["key"], **it["bundle"]),
        "schedule_bundle": lambda: client.schedule_bundle(queue, wait="5s"),
        "get_bundle": lambda: client.get_bundle(queue, it["key"], random=it["random"]),
        "complete_bundle": lambda: client.complete_bundle(queue, it["key"], random=it["random"], number=it["number"]),
        "push_notice": lambda: client.push_notice(**it["notice"]),
        "get_notice": lambda: client.get_notice(id),
        "verify": lambda: verify(it["body"], it["headers"], it["secret"], now=float(it["now"])),
    }
    return commands[do]()


def main() -> None:
    for line in sys.stdin:
        command = json.loads(line)
        try:
            told: Dict[str, Any] = {"ok": answer(command.pop("do"), command)}
        except ApiError as error:
            told = {"error": {"kind": "api", "status": error.status, "code": error.code, "detail": error.detail}}
        except Unreachable as error:
            told = {"error": {"kind": "unreachable", "detail": str(error)}}
        except NoAnswer as error:
            told = {"error": {"kind": "no_answer", "detail": str(error)}}
        except WebhookError as error:
            told = {"error": {"kind": "webhook", "detail": str(error)}}
        except Exception as error:
            told = {"error": {"kind": "other", "detail": repr(error)}}
        print(json.dumps(told), flush=True)


main()
