"""The examples and those of the README run."""

from __future__ import annotations

import io
import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

from conftest import until
from punctual.testing import Server

ROOT = Path(__file__).resolve().parent.parent
KEEP: Any = {"done": "1h"}


def started(server: Server, *command: str) -> "subprocess.Popen[str]":
    env = {**os.environ, "PUNCTUAL_URL": server.url}
    return subprocess.Popen([sys.executable, *command], env=env, text=True, stdout=subprocess.PIPE)


@pytest.fixture
def ended() -> "Iterator[list[subprocess.Popen[str]]]":
    processes: "list[subprocess.Popen[str]]" = []
    yield processes
    for process in processes:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0, "a signal ends a worker gracefully"
        if process.stdout:
            process.stdout.close()


def test_worker(punctual_server: Server, ended: Any) -> None:
    client = punctual_server.client
    client.put_queue("mail", keep=KEEP)
    ended.append(started(punctual_server, str(ROOT / "examples/worker.py")))
    client.push("mail", {"to": "ada"}, id="m")
    assert client.wait_for("mail", "m")["result"] == "sent to ada"


def test_report(punctual_server: Server, ended: Any) -> None:
    client = punctual_server.client
    client.put_queue("report", keep=KEEP)
    ended.append(started(punctual_server, str(ROOT / "examples/report.py")))
    client.push("report", {"pages": 5}, id="r")
    assert client.wait_for("report", "r")["result"] == "5 pages"


def test_async_worker(punctual_server: Server, ended: Any) -> None:
    client = punctual_server.client
    client.put_queue("fetch", keep=KEEP)
    process = started(punctual_server, str(ROOT / "examples/async_worker.py"))
    try:
        until(lambda: client.get_queue("fetch")["counts"]["done"] == 20)
    finally:
        process.kill()
        process.wait()
        assert process.stdout and "pushed 20" in process.stdout.read()
        process.stdout.close()


def test_webhook() -> None:
    application = runpy.run_path(str(ROOT / "examples/webhook.py"))["application"]
    statuses = []
    environ = {"wsgi.input": io.BytesIO(b"{}"), "CONTENT_LENGTH": "2", "HTTP_WEBHOOK_ID": "a"}
    assert b"missing" in b"".join(application(environ, lambda status, _: statuses.append(status)))
    assert statuses == ["401 Unauthorized"]


def test_tests_of_programs() -> None:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", str(ROOT / "examples/test_shop.py")], timeout=120)
    assert done.returncode == 0


def test_the_readme(punctual_server: Server, ended: Any, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    worker, client_program = blocks[0], blocks[1]
    assert len(worker.strip().splitlines()) < 10
    (tmp_path / "worker.py").write_text(worker)
    (tmp_path / "program.py").write_text(client_program)
    punctual_server.client.put_queue("mail", keep=KEEP)
    ended.append(started(punctual_server, str(tmp_path / "worker.py")))
    program = started(punctual_server, str(tmp_path / "program.py"))
    printed, _ = program.communicate(timeout=60)
    assert program.returncode == 0
    assert printed.strip() == "done sent to ada"
