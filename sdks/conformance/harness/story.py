"""Plays the story with one language's driver and compares what happens with what the story says."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Optional

from proxy import Proxy
from schema import Document

STEP_TIMEOUT_S = 30.0
_READY = "punctual is ready on "


class Wrong(Exception):
    """The run differs from the story."""


class Server:
    """The real server, over a directory, so that it comes back after kill -9."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.port = free_port()
        self._process: Optional[asyncio.subprocess.Process] = None

    async def start(self) -> None:
        store = os.path.join(self._directory, "data")
        with open(os.path.join(self._directory, "log"), "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                os.environ["PUNCTUAL_BIN"], "serve", "--listen", f"127.0.0.1:{self.port}", "--store", store,
                "--dev", "--allow-private-targets",
                stdout=asyncio.subprocess.PIPE, stderr=log, cwd=self._directory,
            )
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode()
        if not line.startswith(_READY):
            raise Wrong(f"the server did not get ready: {Path(self._directory, 'log').read_text()[-1000:]}")

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None

    def ask(self, path: str, body: Optional[dict[str, Any]] = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=30) as answer:
            return json.load(answer)

    def listeners(self) -> int:
        """How many streams of events are open."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("punctual_event_listeners ")))


class Target:
    """Receives deliveries of the server, and keeps them for the driver to verify."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.port = 0
        self._server: Optional[asyncio.AbstractServer] = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1)[:1] + [line.split(": ", 1)[1]] for line in head[1:] if ": " in line)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.got.append({"path": head[0].split(" ")[1], "headers": headers, "body": body.decode()})
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nsuccess")
            await writer.drain()
        finally:
            writer.close()


class Driver:
    """A language's program: one JSON command per line in, one answer per line out."""

    def __init__(self, command: Path, url: str) -> None:
        self._command = command
        self._url = url
        self._process: Optional[asyncio.subprocess.Process] = None

    async def start(self) -> None:
        env = {**os.environ, "PUNCTUAL_URL": self._url}
        self._process = await asyncio.create_subprocess_exec(
            str(self._command), env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 26
        )

    async def ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process and self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        await self._process.stdin.drain()
        line = await asyncio.wait_for(self._process.stdout.readline(), STEP_TIMEOUT_S)
        if not line:
            raise Wrong("the driver has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def end(self) -> None:
        assert self._process and self._process.stdin
        self._process.stdin.close()
        try:
            code = await asyncio.wait_for(self._process.wait(), STEP_TIMEOUT_S)
        except asyncio.TimeoutError:
            self._process.kill()
            raise Wrong("the driver did not end with its input") from None
        if code:
            raise Wrong(f"the driver ended with {code}")

    def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()


class Story:
    """One run."""

    def __init__(self, steps: list[dict[str, Any]], command: Path, directory: str) -> None:
        self._steps = steps
        self._server = Server(directory)
        self._target = Target()
        self._command = command
        self._known: dict[str, Any] = {}

    async def play(self) -> int:
        await self._server.start()
        port = free_port()
        document = await asyncio.to_thread(self._server.ask, "/openapi.json")
        self._proxy = Proxy(Document(document), port, self._server.port)
        self._driver = Driver(self._command, f"http://127.0.0.1:{port}")
        await self._proxy.open()
        await self._target.open()
        self._known["target"] = f"http://127.0.0.1:{self._target.port}"
        await self._driver.start()
        try:
            for number, step in enumerate(self._steps, 1):
                name = f"step {number} ({step.get('why') or step.get('do')})"
                try:
                    await asyncio.wait_for(self._step(step), STEP_TIMEOUT_S * 2)
                except (Wrong, asyncio.TimeoutError, OSError) as error:
                    raise Wrong(f"{name}: {error or type(error).__name__}") from error
                if self._proxy.problems:
                    raise Wrong(f"{name}: not as /openapi.json says: {self._proxy.problems[0]}")
            await self._driver.end()
            return len(self._proxy.exchanges)
        finally:
            self._driver.kill()
            await self._proxy.close()
            await self._server.kill()

    async def _step(self, step: dict[str, Any]) -> None:
        until = time.monotonic() + STEP_TIMEOUT_S
        while True:
            try:
                answer = await self._done(step)
                if "expect" in step:
                    compare(self._filled(step["expect"]), answer)
                for name, pointer in step.get("save", {}).items():
                    self._known[name] = at(answer, pointer)
                return
            except Wrong:
                if not step.get("until") or time.monotonic() > until:
                    raise
                await asyncio.sleep(0.03)

    async def _done(self, step: dict[str, Any]) -> Any:
        """Carries out a step. Steps of the harness itself begin with a dot."""
        kind = step["do"]
        arguments = self._filled(step.get("with", {}))
        if kind == ".kill":
            await self._server.kill()
            await self._proxy.close()
        elif kind == ".start":
            await self._server.start()
            await self._proxy.open()
        elif kind == ".advance":
            await asyncio.to_thread(self._server.ask, "/v1/dev/clock", {"advance": arguments["by"]})
        elif kind == ".lose":
            self._proxy.lose = (arguments["method"], arguments["path"])
        elif kind == ".count":
            self._proxy.exchanges.clear()
        elif kind == ".requests":
            asked = (arguments["method"], arguments["path"])
            return sum((it.method, it.path) == asked for it in self._proxy.exchanges)
        elif kind == ".listeners":
            return await asyncio.to_thread(self._server.listeners)
        elif kind == ".deliveries":
            return [it for it in self._target.got if it["path"] == arguments["path"]]
        else:
            answer = await self._driver.ask({"do": kind, **arguments})
            if "error" in step:
                if "error" not in answer:
                    raise Wrong(f"an error was expected, not {str(answer)[:300]}")
                compare(step["error"], answer["error"])
                return None
            if "error" in answer:
                raise Wrong(f"{answer['error']}")
            return answer["ok"]
        return None

    def _filled(self, value: Any) -> Any:
        """Puts in what was saved: "$name"."""
        if isinstance(value, str) and value.startswith("$"):
            name, _, rest = value[1:].partition("/")
            return f"{self._known[name]}/{rest}" if rest else self._known[name]
        if isinstance(value, dict):
            return {key: self._filled(of) for key, of in value.items()}
        if isinstance(value, list):
            return [self._filled(of) for of in value]
        return value


def compare(expected: Any, found: Any, place: str = "") -> None:
    """Members that the story does not name may be anything. `#min`, `#max`, `#any`, `#has` say it otherwise."""
    if isinstance(expected, dict) and any(key.startswith("#") for key in expected):
        size = found if isinstance(found, (int, float)) else len(found) if found is not None else 0
        if "#min" in expected and not size >= expected["#min"]:
            raise Wrong(f"{place}: {str(found)[:300]} is below {expected['#min']}")
        if "#max" in expected and not size <= expected["#max"]:
            raise Wrong(f"{place}: {str(found)[:300]} is above {expected['#max']}")
        if "#has" in expected and expected["#has"] not in (found or ()):
            raise Wrong(f"{place}: {str(found)[:300]} has no {expected['#has']}")
        return
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            raise Wrong(f"{place}: {str(found)[:300]} is no object")
        for key, value in expected.items():
            if key not in found and value is not None:
                raise Wrong(f"{place}: {str(found)[:300]} has no {key}")
            compare(value, found.get(key), f"{place}/{key}")
    elif isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            raise Wrong(f"{place}: {str(found)[:300]} is not {expected}")
        for index, value in enumerate(expected):
            compare(value, found[index], f"{place}/{index}")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        raise Wrong(f"{place}: {str(found)[:300]} is not {expected}")


def at(value: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def free_port() -> int:
    """A port that no connection of another program takes while the server is down: they use those above."""
    for _ in range(200):
        port = random.randint(10_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Wrong("no free port between 10000 and 30000")


def main() -> None:
    story, command = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="punctual-sdks-") as directory:
        began = time.monotonic()
        try:
            requests = asyncio.run(Story(story["steps"], command, directory).play())
        except Wrong as wrong:
            print(f"FAILED {wrong}")
            sys.exit(1)
        print(f"ok, {len(story['steps'])} steps, {requests} requests, {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
